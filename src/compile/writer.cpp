#include "compile/writer.hpp"

#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Kind;
using graph::Op;
using kernel::Type;

void Writer::fix(const Node& node, const Scalar& value) { fixed_[&node] = value; }

std::optional<Scalar> Writer::fixed(const Node& node) {
  if (const auto found = fixed_.find(&node); found != fixed_.end()) return found->second;
  if (node.op != Op::number) return std::nullopt;
  return partition_.arguments.contains(&node) ? arguments_.number(node) : lower::literal(builder_, node);
}

uint64_t Writer::place_of(const Node&, const Index& at) { return reinterpret_cast<uintptr_t>(at.identity()); }

std::optional<Scalar> Writer::known(const Node& node, const Index& at) {
  if (!in_memory(node)) return std::nullopt;
  return load(node, at);
}

bool Writer::can_read(const Node& node) const {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> open{&node};
  while (!open.empty()) {
    const Node* next = open.back();
    open.pop_back();
    if (forbidden_.contains(next)) return false;
    if (fixed_.contains(next) || in_memory(*next) || !seen.insert(next).second) continue;
    for (const Tensor& operand : next->operands) open.push_back(&graph::node_of(operand));
  }
  return true;
}

Scalar Writer::result(const Node& node, std::span<const Scalar> operands) {
  return lower::rounded(graph::row_of(node.op).scalar(operands, node), node.type);
}

Scalar Writer::other(const Node& node, const Index& at) {
  const graph::Row& row = graph::row_of(node.op);
  if (row.kind == Kind::reduction) return serial_reduce(*this, node, at);
  if (node.op == Op::dot) return lower::serial_dot(*this, node, at, unroll_limit, 1);
  throw Error(ErrorKind::internal, "[compile] " + std::string(row.name) + ": expected its value in memory");
}

Scalar Arguments::number(const Node& node) {
  if (const auto known = numbers_.find(&node); known != numbers_.end()) return known->second;
  const Type type = compute_type(node.type);
  const std::string name = "n" + std::to_string(bindings_.size());
  Scalar value{builder_.scalar(name, type), {}, false};
  bindings_.push_back({Binding::Kind::number_real, &node});
  if (is_complex(node.type)) {
    value = graph::pair(value.re, builder_.scalar(name + "i", type));
    bindings_.push_back({Binding::Kind::number_imag, &node});
  }
  return numbers_[&node] = value;
}

Value Arguments::constant(Type type, uint64_t value) {
  const std::string name = "c" + std::to_string(bindings_.size());
  bindings_.push_back({Binding::Kind::constant, nullptr, false, value, type});
  return builder_.scalar(name, type);
}

kernel::Array Arguments::tensor(const Node& node, kernel::Access access) {
  if (const auto known = arrays_.find(&node); known != arrays_.end()) return known->second;
  const std::string name = (access == kernel::Access::read ? "in" : "out") + std::to_string(bindings_.size());
  bindings_.push_back({Binding::Kind::tensor, &node, access != kernel::Access::read});
  return arrays_[&node] = builder_.buffer(name, storage_type(node.type), access);
}

Scalar load_element(const kernel::Array& array, DType type, Value at) {
  if (!is_complex(type)) return {kernel::convert(array[at], compute_type(type)), {}, false};
  const Value both = array.load_vector(at, 2);
  return graph::pair(both[0], both[1]);
}

void store_element(const kernel::Array& array, DType type, Value at, const Scalar& value) {
  if (is_complex(type))
    array.store(at, at.builder().pack({value.re, value.im}));
  else
    array[at] = kernel::convert(value.re, storage_type(type));
}

void Writer::set_vector(Value vector, std::vector<Value> lanes) {
  vector_ = vector;
  lanes_ = std::move(lanes);
  vector_loads_.clear();
}
Index Writer::lane_index(int lane, const Shape& shape) {
  const Value linear = lanes_[static_cast<size_t>(lane)];
  for (const Index& known : lane_places_)
    if (known.shape() == shape && known.linear().id() == linear.id()) return known;
  return lane_places_.emplace_back(builder_, shape, linear);
}
void Writer::clear_vector() {
  lanes_.clear();
  vector_loads_.clear();
}

Scalar Writer::load(const Node& node, const Index& at) {
  const kernel::Array array = arguments_.tensor(node, kernel::Access::read);
  if (is_complex(node.type)) return load_element(array, node.type, at.linear());
  Value value;
  bool consecutive = false;
  if (!lanes_.empty() && at.has_linear() && element_count(node.shape) > 1)
    for (size_t lane = 0; lane < lanes_.size() && !consecutive; ++lane)
      if (at.linear().id() == lanes_[lane].id()) {
        auto [entry, fresh] = vector_loads_.try_emplace(&node);
        if (fresh) entry->second = array.load_vector(vector_, static_cast<int>(lanes_.size()));
        value = entry->second[static_cast<int>(lane)];
        consecutive = true;
      }
  if (!consecutive) value = array[at.linear()];
  return {kernel::convert(value, compute_type(node.type)), {}, false};
}

void Writer::store(const Node& node, const Index& at, const Scalar& value) {
  store_element(arguments_.tensor(node, kernel::Access::write), node.type, at.linear(), value);
}

void Writer::store_vector(const Node& node, Value vector, std::span<const Scalar> values) {
  std::vector<Value> parts;
  for (const Scalar& value : values) parts.push_back(kernel::convert(value.re, storage_type(node.type)));
  const Value packed = parts.size() == 2 ? builder_.pack({parts[0], parts[1]})
                                         : builder_.pack({parts[0], parts[1], parts[2], parts[3]});
  arguments_.tensor(node, kernel::Access::write).store(vector, packed);
}

}  // namespace adit::compile
