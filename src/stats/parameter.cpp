#include <adit/constraint.hpp>

#include "graph/row.hpp"

namespace adit {

Parameter::Parameter(double number) : tensor_(full({}, number, DType::f64)) {}

Parameter::Parameter(const Tensor& tensor) : tensor_(tensor) {
  if (!tensor_) graph::fail("parameter", "tensor", "expected a tensor, got none");
  if (is_complex(tensor_.dtype()))
    graph::fail("parameter", "tensor", "expected real numbers, got " + std::string(name_of(tensor_.dtype())));
  tensor_ = as_type(tensor_, DType::f64);
}

}  // namespace adit
