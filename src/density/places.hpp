// Numbers that say where to read or to write, and how far they may go.
#pragma once

#include "graph/node.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

// Whether operand 1 of a node says where to read or to write; the type of such numbers does not matter.
bool has_places(const graph::Node& node);
// The extents of the axes that the places' columns (the last axis) count, or the one extent.
Dims extents_of_places(const graph::Node& node);

// Some that the data alone decide.
struct Places {
  Tensor source;  // a graph of the data
  Dims extents;
};
// Those inside of loops, of all rounds.
std::vector<Places> places_in_loops(const std::vector<Tensor>& roots, const std::vector<Tensor>& variables);

}  // namespace adit::sampling
