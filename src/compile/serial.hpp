// Reductions of tensors as loops of one invocation, where they are read.
#pragma once

#include "compile/writer.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"

namespace adit::compile {

constexpr int64_t unroll_limit = 8;  // elements that are written out

// From now on the reductions of a level stand for their totals, which come one after the other.
void fix_totals(Writer& writer, const std::vector<const Node*>& level, const std::vector<Value>& totals);

Scalar serial_reduce(Writer& writer, const Node& node, const Index& at);

}  // namespace adit::compile
