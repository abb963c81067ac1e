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
// `lets_go`: a choice by what is apart may be linear on one side and apart on the other.
class Dependence {
 public:
  Dependence(const graph::Subgraph& step, size_t carries, std::span<const size_t> of, bool lets_go = false);
  Bearing operator()(const graph::Node& node);

 private:
  Bearing found(const graph::Node& node) const;
  std::map<const graph::Node*, Bearing> known_;
  bool lets_go_ = false;
};

// slopes . x + offset; what is not there is 0. Where `holds` is false the line lets go of x: that may be NaN
// or infinite, and 0 times it is not 0. Empty: it never does.
using Number = std::optional<kernel::Value>;
struct Line {
  std::vector<Number> slopes;
  Number offset;
  std::vector<Number> holds;
};

Number added(const Number& a, const Number& b);
Number multiplied(const Number& a, const Number& b);

// The next of those carries, which are linear; `read` gives single numbers that do not depend on them, `one`
// is 1.
std::vector<Line> lines_of(const graph::Subgraph& step, size_t carries, std::span<const size_t> of,
                           kernel::Value one, const std::function<kernel::Value(const graph::Node&)>& read,
                           bool lets_go = false);

}  // namespace adit::sampling
