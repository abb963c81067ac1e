// A name for what a density computes, data apart.
#pragma once

#include <string>

#include "density/density.hpp"

namespace adit::sampling {

std::string digest_of(const Density& density);

}  // namespace adit::sampling
