// Draws of parts of a run's chains as those of one run.
#pragma once

#include <span>

#include <adit/draws.hpp>

namespace adit::door {

Draws join(std::span<const Draws* const> parts);

}  // namespace adit::door
