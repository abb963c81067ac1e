// How long the code of an element of a node is, which says how long a kernel takes to compile.
#pragma once

#include "graph/node.hpp"

namespace adit::lower {

// In instructions of the kernel language, without its operands.
double code_length(const graph::Node& node);
inline constexpr double of_a_load = 2;  // with the way to its place

}  // namespace adit::lower
