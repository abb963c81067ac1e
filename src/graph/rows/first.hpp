// Rules of rows whose result is like their first operand.
#pragma once

#include "graph/row.hpp"

namespace adit::graph {

inline DType type_of_first(std::string_view, const std::vector<Tensor>& operands, const Attributes&) {
  return operands[0].dtype();
}
inline Shape shape_of_first(std::string_view, const std::vector<Tensor>& operands, const Attributes&) {
  return operands[0].shape();
}

}  // namespace adit::graph
