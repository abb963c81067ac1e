// The row of attention.
#pragma once

#include "graph/row.hpp"

namespace adit::graph {

// What the `Which` of an attention tells, bit by bit: query i sees the keys 0 to i; by one kernel, however
// few the scores are.
constexpr int attention_is_causal = 1, attention_is_asked_for = 2;

Row attention_row();

}  // namespace adit::graph
