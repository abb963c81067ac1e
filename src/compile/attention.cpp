// Attention by one kernel, on a GPU.
#include "ops/attention.hpp"

#include "compile/kernels.hpp"
#include "graph/attention.hpp"
#include "graph/op.hpp"

namespace adit::compile {

namespace attention_steps {

ops::AttentionShape shape_of(const Node& node) {
  const Shape &queries = node.operands[0].shape(), &values = node.operands[2].shape();
  ops::AttentionShape shape;
  shape.type = storage_type(node.type);
  shape.batch = static_cast<uint64_t>(queries[0]);
  shape.groups = static_cast<uint64_t>(queries[1]);
  shape.queries = static_cast<uint64_t>(queries[2]);
  shape.depth = static_cast<uint32_t>(std::min<int64_t>(queries[3], UINT32_MAX));
  shape.keys = static_cast<uint64_t>(values[1]);
  shape.width = static_cast<uint32_t>(std::min<int64_t>(values[2], UINT32_MAX));
  shape.causal = (node.as<graph::Which>().number & graph::attention_is_causal) != 0;
  return shape;
}

// Products fill a device that would have few teams with blocks of queries, and are faster where rows are long
// and all keys are seen, unless their scores are too many for its memory: 64 x 1024 x 1024 of 128 took 1262
// us on an H200 by the kernel, 928 us by products.
bool is_worth_a_kernel(const ops::AttentionShape& shape, uint64_t teams, const Target& target) {
  constexpr uint64_t many_bytes = uint64_t{1} << 30, teams_each = 2, long_row = 96;
  const uint64_t scores = shape.batch * shape.groups * shape.queries * shape.keys;
  if (scores > many_bytes / size_of(shape.type)) return true;
  const bool is_long = shape.depth > long_row && shape.width > long_row && shape.type == kernel::Type::f32;
  return teams >= teams_each * target.limits.multiprocessors && (shape.causal || !is_long);
}

}  // namespace attention_steps

bool has_attention_kernel(const Node& node, const Target& target) {
  if (!target.gpu || element_count(node.shape) == 0 || node.operands[1].size() == 0) return false;
  const ops::AttentionShape shape = attention_steps::shape_of(node);
  const auto tiling = ops::attention_tiling(shape, target.limits);
  if (!tiling) return false;
  const bool asked_for = (node.as<graph::Which>().number & graph::attention_is_asked_for) != 0;
  return asked_for || attention_steps::is_worth_a_kernel(shape, ops::attention_teams(shape, *tiling), target);
}

std::vector<Work> attention_work(const Node& node, Device& device) {
  const ops::AttentionShape shape = attention_steps::shape_of(node);
  const ops::AttentionTiling tiling = *ops::attention_tiling(shape, device.limits());
  std::vector<Work> list;
  list.push_back(kernel_on(ops::attention_program(shape, tiling), ops::attention_teams(shape, tiling),
                           {&graph::node_of(node.operands[0]), &graph::node_of(node.operands[1]),
                            &graph::node_of(node.operands[2]), &node},
                           device));
  const auto scores =
      static_cast<double>(shape.batch * shape.groups * shape.queries) * static_cast<double>(shape.keys);
  list[0].operations = 2 * scores * (shape.depth + shape.width) / (shape.causal ? 2 : 1);
  return list;
}

}  // namespace adit::compile
