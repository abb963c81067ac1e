// The row of attention.
#pragma once

#include "graph/row.hpp"

namespace adit::graph {

Row attention_row();

}  // namespace adit::graph
