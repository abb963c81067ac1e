// The text of a tensor's value.
#pragma once

#include <string>

#include "io/host_array.hpp"

namespace adit {

std::string print(const HostView& array);

}  // namespace adit
