// Updates (indexed_add, indexed_put) of which each element has at most one.
#pragma once

#include <optional>

#include "graph/op.hpp"

namespace adit::graph {

// Which one: the only update; or the one whose number is the element's coordinate along an axis of the
// result, which the updates count.
struct LoneUpdate {
  int axis = -1;  // -1: there is one update
};
std::optional<LoneUpdate> lone_update(const Node& updates);

}  // namespace adit::graph
