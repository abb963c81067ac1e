// Reading at places that were found to lie inside when the data were bound: no clamps.
#include <algorithm>

#include "density/writer.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

bool DensityWriter::are_inside(const Node& gather) const {
  const auto leaf = extents_.find(&graph::node_of(gather.operands[1]));
  if (leaf == extents_.end()) return false;
  const Axes& axes = gather.as<graph::AxisList>().axes;
  const Shape& shape = gather.operands[0].shape();
  if (leaf->second.size() != static_cast<int>(axes.size())) return false;
  for (int i = 0; i < leaf->second.size(); ++i)
    if (leaf->second[i] > shape[static_cast<int>(axes[i])]) return false;
  return true;
}

Scalar DensityWriter::read_inside(const Node& gather, const Index& at) {
  const Tensor &x = gather.operands[0], &indices = gather.operands[1];
  const Axes& axes = gather.as<graph::AxisList>().axes;
  const int leading = indices.rank() - 1;
  std::vector<Value> where, places;
  for (int axis = 0; axis < leading; ++axis) where.push_back(at.coordinate(axis));
  where.push_back(at.number(0));
  int rest = leading, column = 0;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!axes.contains(axis)) {
      places.push_back(at.coordinate(rest++));
      continue;
    }
    where.back() = at.number(column++);
    places.push_back(convert(read(graph::node_of(indices), at.at(indices.shape(), where)).re, at.type()));
  }
  return read(graph::node_of(x), at.at(x.shape(), std::move(places)));
}

}  // namespace adit::sampling
