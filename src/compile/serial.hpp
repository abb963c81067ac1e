// Reductions and products as loops of one invocation, where they are read.
#pragma once

#include "compile/writer.hpp"
#include "lower/reduction.hpp"

namespace adit::compile {

// From now on the reductions of a level stand for their totals, which come one after the other.
void fix_totals(Writer& writer, const std::vector<const Node*>& level, const std::vector<Value>& totals);

void serial_reduce(Writer& writer, const Node& node, const Index& at, Scalar& result);
// Step r of a dot's contraction, added to a sum.
Scalar dot_term(Writer& writer, const Node& node, const Index& at, Value r, const Scalar& sum);
// One element of a dot, by a loop over the contracted axes.
Scalar serial_dot(Writer& writer, const Node& node, const Index& at);

}  // namespace adit::compile
