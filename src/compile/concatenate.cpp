// A concatenation by parts: each is written where it belongs. What lies in memory, and will lie together
// in the result, is copied; other parts are computed into their places, several small ones by one kernel.
// Where a part begins is an argument, so that parts that are made alike share a kernel.
#include <map>

#include "compile/kernels.hpp"
#include "compile/team_loops.hpp"

namespace adit::compile {

using kernel::Builder;
using kernel::Type;

namespace {

class Joiner {
 public:
  Joiner(const Group& group, Workshop& shop, Device& device)
      : node_(*group.roots[0]),
        shop_(shop),
        device_(device),
        index_type_(index_type_for(group, shop.partition)) {
    const int axis = node_.as<graph::OneAxis>().axis;
    for (int i = 0; i < axis; ++i) outer_ *= node_.shape[i];
    row_ = outer_ == 0 ? 0 : element_count(node_.shape) / outer_;
  }

  std::vector<Work> run() {
    int64_t begin = 0;
    for (const Tensor& operand : node_.operands) {
      const Part part{&graph::node_of(operand), begin, operand.size()};
      if (part.count == 0) continue;
      begin += part.count / outer_;
      if (in_memory(memory_of(*part.node)) && outer_ == 1)
        copies_.push_back(copy_of(part));
      else
        add(part);
    }
    flush();
    for (Work& copy : copies_) work_.push_back(std::move(copy));
    return std::move(work_);
  }

 private:
  struct Part {
    const Node* node = nullptr;
    int64_t begin = 0;  // within a row of the result
    int64_t count = 0;  // of elements
  };
  static constexpr int64_t small = 4096;  // elements that one team writes
  static constexpr size_t most_parts = 16;

  bool in_memory(const Node& node) const { return shop_.partition.in_memory.contains(&node); }

  Work copy_of(const Part& part) const {
    const uint64_t size = size_of(node_.type), bytes = static_cast<uint64_t>(part.count) * size;
    const uint64_t offset = static_cast<uint64_t>(part.begin) * size;
    Work work = copy_work(*part.node, node_);
    work.written = bytes;
    work.conduct = [to = &node_, from = part.node, offset, bytes](const LocationOf& location_of) {
      Location place = location_of(*to);
      place.offset += offset;
      place.bytes = bytes;
      return CopyStep{location_of(*from), place, bytes};
    };
    return work;
  }

  // Parts are gathered until they are enough for a kernel.
  void add(const Part& part) {
    double code = 0;
    for_each_inside(group_of({part}), shop_.partition,
                    [&](const Node& node, Reading) { code += code_length(node); });
    if (parts_.size() == most_parts || code_ + code > most_code || part.count > small) flush();
    parts_.push_back(part);
    code_ += code;
    if (part.count > small) flush();
  }

  // What is computed for these parts.
  Group group_of(const std::vector<Part>& parts) const {
    Group group;
    for (const Part& part : parts)
      if (!in_memory(*part.node)) group.roots.push_back(part.node);
    return group;
  }

  void flush() {
    if (parts_.empty()) return;
    const Group group = group_of(parts_);
    const bool alone = parts_[0].count > small, by_rows = outer_ != 1 && !shop_.target.gpu;
    Builder k(kernel_name(group, shop_.partition, "parts"),
              alone && !by_rows ? kernel::Team::one(256) : kernel::Team::many(64));
    Arguments arguments(k);
    Writer writer(k, arguments, shop_.partition, group, index_type_);
    declare(writer, group);
    std::vector<Value> begins;
    for (const Part& part : parts_)
      begins.push_back(arguments.constant(index_type_, static_cast<uint64_t>(part.begin)));
    if (by_rows) {
      for (size_t i = 0; i < parts_.size(); ++i) {
        const auto row = [&](Value number) { write_row(writer, parts_[i], begins[i], number); };
        alone ? row(k.team(index_type_)) : k.for_(writer.number(outer_), row);
      }
    } else if (alone) {
      write(writer, parts_[0], begins[0], k.team(index_type_));
    } else {
      for (size_t i = 0; i < parts_.size(); ++i)
        team_each(k, index_type_, parts_[i].count, [&](Value place) {
          const Writer::Scope scope(writer);
          write(writer, parts_[i], begins[i], place);
        });
    }
    const int64_t teams = !alone ? 1 : by_rows ? outer_ : parts_[0].count;
    Work work = work_of({k.finish(), static_cast<uint64_t>(teams), arguments.bindings()}, device_);
    for (const Part& part : parts_) work.written += static_cast<uint64_t>(part.count) * size_of(node_.type);
    work_.push_back(std::move(work));
    parts_.clear();
    code_ = 0;
  }

  void declare(Writer& writer, const Group& group) const {
    std::map<uint64_t, const Node*> reads;  // by age: what is made alike gives the same kernel
    for_each_read(group, shop_.partition, [&](const Node& node, Reading) { reads[node.number] = &node; });
    for (const Part& part : parts_)
      if (in_memory(*part.node)) reads[part.node->number] = part.node;
    writer.arguments().tensor(node_, kernel::Access::write);
    for (const auto& [number, node] : reads) {
      if (shop_.partition.arguments.contains(node))
        writer.arguments().number(*node);
      else
        writer.arguments().tensor(*node, kernel::Access::read);
    }
  }

  // Element `place` of a part, in row-major order.
  void write(Writer& writer, const Part& part, Value begin, Value place) const {
    const Scalar value = writer.read(*part.node, Index(writer.builder(), part.node->shape, place));
    Value to = begin + place;
    if (outer_ != 1) {
      const Value length = writer.number(part.count / outer_);
      to = place / length * writer.number(row_) + (begin + place % length);
    }
    writer.store(node_, Index(writer.builder(), node_.shape, to), value);
  }

  // On a CPU the elements of a row stay consecutive.
  void write_row(Writer& writer, const Part& part, Value begin, Value row) const {
    Builder& k = writer.builder();
    const int64_t length = part.count / outer_;
    team_each(k, index_type_, length, [&](Value place) {
      const Writer::Scope scope(writer);
      const Value from = row * writer.number(length) + place;
      const Scalar value = writer.read(*part.node, Index(k, part.node->shape, from));
      writer.store(node_, Index(k, node_.shape, row * writer.number(row_) + (begin + place)), value);
    });
  }

  const Node& node_;
  Workshop& shop_;
  Device& device_;
  const Type index_type_;
  int64_t outer_ = 1, row_ = 0;  // rows of the result, and the elements of one
  std::vector<Part> parts_;      // of the kernel at hand
  double code_ = 0;
  std::vector<Work> work_, copies_;
};

}  // namespace

std::vector<Work> concatenate_work(const Group& group, Workshop& shop, Device& device) {
  return element_count(group.roots[0]->shape) == 0 ? std::vector<Work>() : Joiner(group, shop, device).run();
}

}  // namespace adit::compile
