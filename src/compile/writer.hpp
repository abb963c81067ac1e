// Writes the elements of tensors into a kernel: elementwise work and index maps are computed where they are
// read, tensors in memory are loaded, small reductions become loops.
#pragma once

#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "compile/partition.hpp"
#include "graph/index.hpp"
#include "graph/row.hpp"
#include "lower/element_writer.hpp"

namespace adit::compile {

using graph::Index;
using graph::Scalar;
using kernel::Value;

// What an argument of a kernel stands for.
struct Binding {
  enum class Kind : uint8_t { tensor, number_real, number_imag, constant } kind = Kind::tensor;
  const Node* node = nullptr;
  bool written = false;
  uint64_t value = 0;  // constant
  kernel::Type type{};
};

// An element of a tensor in memory; halves and bytes are computed in wider types.
Scalar load_element(const kernel::Array& array, DType type, Value at);
void store_element(const kernel::Array& array, DType type, Value at, const Scalar& value);

// The parameters of one kernel. A tensor is one of them, however many pieces of the kernel use it.
class Arguments {
 public:
  explicit Arguments(kernel::Builder& builder) : builder_(builder) {}
  // Before any block of the kernel is opened.
  kernel::Array tensor(const Node& node, kernel::Access access);
  // From now on the tensor lies in memory of the kernel's own.
  void bind(const Node& node, const kernel::Array& array) { arrays_[&node] = array; }
  Scalar number(const Node& node);
  // A whole number that is the same at each run, but not in each kernel that is written alike.
  Value constant(kernel::Type type, uint64_t value);
  const std::vector<Binding>& bindings() const { return bindings_; }

 private:
  kernel::Builder& builder_;
  std::vector<Binding> bindings_;
  std::unordered_map<const Node*, kernel::Array> arrays_;
  std::unordered_map<const Node*, Scalar> numbers_;
};

class Writer final : public lower::ElementWriter {
 public:
  // What the partition has in memory is loaded, except what the group itself makes.
  Writer(kernel::Builder& builder, Arguments& arguments, const Partition& partition, const Group& group,
         kernel::Type index_type)
      : builder_(builder),
        arguments_(arguments),
        partition_(partition),
        group_(group),
        index_type_(index_type) {
    builder.set_rounds_exactly(partition.rounds_exactly);
  }

  kernel::Builder& builder() override { return builder_; }
  Value number(int64_t value) override { return builder_.constant(index_type_, value); }
  void store(const Node& node, const Index& at, const Scalar& value);
  // Elements 4v to 4v + 3 of every root, loaded and stored as vectors where their places are consecutive.
  void store_vector(const Node& node, Value vector, std::span<const Scalar> values);
  // From now on place `lane` of a vector access is this linear number.
  void set_vector(Value vector, std::vector<Value> lanes);
  void clear_vector();
  // The place of a vector's lane in a tensor of `shape`; the same object each time, so that work is shared.
  Index lane_index(int lane, const Shape& shape);

  // A value that stands for a node wherever it is read: the result of a reduction in this kernel.
  void fix(const Node& node, const Scalar& value);
  bool is_fixed(const Node& node) const { return fixed_.contains(&node); }
  // Nodes that are not known yet; what needs one cannot be read.
  void forbid(const std::vector<const Node*>& nodes) { forbidden_ = {nodes.begin(), nodes.end()}; }
  bool can_read(const Node& node) const;
  Value vector() const { return vector_; }

  kernel::Type index_type() const { return index_type_; }
  Arguments& arguments() { return arguments_; }

 private:
  bool in_memory(const Node& node) const {
    return partition_.in_memory.contains(&node) && !group_.contains(node);
  }
  std::optional<Scalar> fixed(const Node& node) override;
  uint64_t place_of(const Node& node, const Index& at) override;
  std::optional<Scalar> known(const Node& node, const Index& at) override;
  Scalar result(const Node& node, std::span<const Scalar> operands) override;
  Scalar other(const Node& node, const Index& at) override;
  Scalar load(const Node& node, const Index& at);

  kernel::Builder& builder_;
  Arguments& arguments_;
  const Partition& partition_;
  const Group& group_;
  kernel::Type index_type_;
  std::unordered_map<const Node*, Scalar> fixed_;
  std::unordered_set<const Node*> forbidden_;
  // The vector access in force
  Value vector_;
  std::vector<Value> lanes_;
  std::unordered_map<const Node*, Value> vector_loads_;
  std::vector<Index> lane_places_;
};

}  // namespace adit::compile
