// How the next state of a loop follows from this one, where that is linear: x' = A x + b, with A and b of the
// step alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "graph/node.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

enum class Bearing : uint8_t { apart, linear, other };  // how a number depends on the state

// What a function makes of some of its carries. Of the others it is said that all is `other`.
class Dependence {
 public:
  Dependence(const graph::Subgraph& step, size_t carries, std::span<const size_t> of);
  Bearing operator()(const graph::Node& node);

 private:
  Bearing found(const graph::Node& node);
  std::map<const graph::Node*, Bearing> known_;
};

// slopes . x + offset; what is not there is 0.
using Number = std::optional<kernel::Value>;
struct Line {
  std::vector<Number> slopes;
  Number offset;
};

Number added(const Number& a, const Number& b);
Number multiplied(const Number& a, const Number& b);

// The next of those carries, which are linear; `read` gives single numbers that do not depend on them, `one`
// is 1.
std::vector<Line> lines_of(const graph::Subgraph& step, size_t carries, std::span<const size_t> of,
                           kernel::Value one, const std::function<kernel::Value(const graph::Node&)>& read);

}  // namespace adit::sampling
