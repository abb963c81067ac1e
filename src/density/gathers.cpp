// Places that were found to lie inside when the data were bound, and are read without clamps.
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

}  // namespace adit::sampling
