#include "stan/functions/table.hpp"

namespace adit::stan {

Tensor Arguments::lifted(size_t i) const {
  const Tensor& x = tensors[i];
  if (!any_lanes() || in_lanes[i]) return x;
  Shape shape = x.shape();
  shape.insert(0, lanes);
  return broadcast_to(x, shape);
}

Tensor Arguments::real(size_t i) const {
  return tensors[i].dtype() == DType::f64 ? tensors[i] : as_type(tensors[i], DType::f64);
}

}  // namespace adit::stan
