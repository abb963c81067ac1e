#include "compile/split_dot.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

#include "compile/serial.hpp"
#include "graph/op.hpp"

namespace adit::compile {

using graph::Op;
using kernel::Reduction;
using kernel::Type;

namespace {

// A load that waits for the one before takes an H200 about 40 ns, a barrier of a team about 50: parts of
// fewer terms are not worth one.
constexpr int64_t least_terms = 8, most_parts = 32, least_for_team = 32;
constexpr int loads_at_once = 8;
// Lanes side by side read a row together, since a load takes the longer the more lines of memory it meets: so
// rows may have more parts than there are lanes for.
constexpr int64_t elements_a_lane = 4;

int64_t parts_wanted(const Node& dot) {
  const int64_t parts = std::min(most_parts, contracted_count(dot) / least_terms);
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(1, parts))));
}

int64_t count_of(const Group& group) { return element_count(group.roots[0]->shape); }

// The products that are read at the loop's element, and nowhere else.
std::vector<const Node*> dots_at_element(const Group& group, const Partition& partition) {
  std::map<uint64_t, const Node*> found;
  std::set<const Node*> elsewhere;
  if (group.form != Group::Form::loop) return {};
  for_each_inside(group, partition, [&](const Node& node, Reading reading) {
    if (node.op != Op::dot || element_count(node.shape) != count_of(group)) return;
    if (reading == Reading::whole)
      found[node.number] = &node;
    else
      elsewhere.insert(&node);
  });
  std::vector<const Node*> dots;
  for (const auto& [number, node] : found)
    if (!elsewhere.contains(node)) dots.push_back(node);
  return dots;
}

// Whether the terms of an element follow each other in the larger operand.
bool terms_lie_together(const Node& dot) {
  const auto& a = dot.as<graph::DotAttributes>();
  const bool first = element_count(dot.operands[0].shape()) >= element_count(dot.operands[1].shape());
  const Axes& axes = first ? a.contract_a : a.contract_b;
  const int rank = dot.operands[first ? 0 : 1].rank();
  return !axes.empty() && axes.contains(rank - 1);
}

void store_scalar(const kernel::Array& room, Value at, const Scalar& value) {
  if (value.is_complex)
    room.store(at, at.builder().pack({value.re, value.im}));
  else
    room[at] = value.re;
}
Scalar load_scalar(const kernel::Array& room, Value at, bool is_pair) {
  if (!is_pair) return {room[at], {}, false};
  const Value both = room.load_vector(at, 2);
  return graph::pair(both[0], both[1]);
}

bool reads_memory(const Node& dot, const Partition& partition) {
  return std::ranges::all_of(dot.operands, [&](const Tensor& operand) {
    const Node* node = &graph::node_of(operand);
    while (!partition.in_memory.contains(node) && (node->op == Op::reshape || node->op == Op::dynamic_slice))
      node = &graph::node_of(node->operands[0]);
    return partition.in_memory.contains(node);
  });
}

}  // namespace

int64_t lanes_for_dots(const Group& group, const Partition& partition) {
  int64_t lanes = 1;
  for (const Node* dot : dots_at_element(group, partition))
    lanes =
        std::max(lanes, count_of(group) == 1 ? contracted_count(*dot) : count_of(group) * parts_wanted(*dot));
  return lanes;
}

double dot_waits(const Group& group, const Partition& partition, const Target& target) {
  constexpr double most_lanes = 512, gpu_term = 400, gpu_line = 41, cpu_term = 6;  // in additions
  double waits = 0;
  const auto count = static_cast<double>(count_of(group));
  for (const Node* dot : dots_at_element(group, partition)) {
    const auto terms = static_cast<double>(contracted_count(*dot));
    if (!target.gpu) {
      waits += cpu_term * count * terms;
      continue;
    }
    const bool together = terms_lie_together(*dot);
    const double room = most_lanes * (together ? elements_a_lane : 1);
    const double parts = std::min(static_cast<double>(parts_wanted(*dot)), std::max(1.0, room / count));
    const double wait = gpu_term * std::ceil(count * parts / most_lanes) * terms / parts;
    waits += std::max(wait, together ? gpu_line * count * terms / parts : 0);
  }
  return waits;
}

std::optional<kernel::Array> DotRooms::room(DType type, size_t which) {
  const Type scalar = compute_type(type);
  const std::tuple key{scalar, is_complex(type), which};
  if (const auto it = rooms_.find(key); it != rooms_.end()) return it->second;
  const uint32_t count = lanes_ * static_cast<uint32_t>(elements_a_lane) * (is_complex(type) ? 2 : 1);
  const uint64_t bytes = uint64_t{count} * kernel::size_of(scalar);
  if (bytes_ + bytes > target_.limits.shared_bytes / 8 * 3) return {};
  bytes_ += bytes;
  return rooms_[key] = k_.shared(scalar, count);
}

SplitDots::SplitDots(const Group& group, const Partition& partition, DotRooms& rooms)
    : count_(count_of(group)) {
  for (const Node* node : dots_at_element(group, partition)) {
    Dot dot{node, parts_wanted(*node), terms_lie_together(*node), 1, {}};
    if (count_ == 1) {
      if (contracted_count(*node) >= least_for_team) dots_.push_back(dot);
      continue;
    }
    // A CPU's team is one thread.
    if (!rooms.target().gpu || contracted_count(*node) < least_terms) continue;
    const int64_t most = rooms.lanes() * (dot.together ? elements_a_lane : 1);
    while (dot.parts > 1 && dot.parts * count_ > most) dot.parts /= 2;
    if (dot.parts > 1) {
      if (const auto room = rooms.room(node->type, dots_.size()))
        dot.room = *room;
      else
        dot.parts = 1;
    }
    if (reads_memory(*node, partition)) dot.unrolled = loads_at_once;
    dots_.push_back(dot);
  }
}

void SplitDots::write_parts(Writer& writer) {
  kernel::Builder& k = writer.builder();
  for (const Dot& dot : dots_) {
    if (dot.parts == 1) continue;
    k.each(k.constant(Type::u32, count_ * dot.parts), [&](Value lane) {
      const Writer::Scope scope(writer);
      const Value other = k.constant(Type::u32, dot.together ? dot.parts : count_);
      const Value element = dot.together ? lane / other : lane % other;
      const Value part = dot.together ? lane % other : lane / other;
      const Index at(k, dot.node->shape, convert(element, writer.index_type()));
      store_scalar(dot.room, lane, part_of(writer, dot, at, convert(part, writer.index_type())));
    });
  }
}

Scalar SplitDots::part_of(Writer& writer, const Dot& dot, const Index& at, Value first) {
  kernel::Builder& k = writer.builder();
  const bool is_pair = is_complex(dot.node->type);
  const Value zero = k.constant(compute_type(dot.node->type), 0);
  const kernel::Variable re = k.variable(zero), im = k.variable(zero);
  // Terms `step` to `step + count - 1` of this part.
  const auto add = [&](Value step, int64_t count) {
    const Writer::Scope scope(writer);
    Scalar sum{re.get(), is_pair ? im.get() : Value(), is_pair};
    for (int64_t i = 0; i < count; ++i)
      sum = lower::dot_term(writer, *dot.node, at,
                            (step + writer.number(i)) * writer.number(dot.parts) + first, sum);
    re = sum.re;
    if (is_pair) im = sum.im;
  };
  const int64_t terms = contracted_count(*dot.node), steps = terms / dot.parts;
  const int64_t blocks = steps / dot.unrolled, rest = steps % dot.unrolled, tail = terms % dot.parts;
  if (blocks > 0)
    k.for_(writer.number(blocks), [&](Value b) { add(b * writer.number(dot.unrolled), dot.unrolled); });
  if (rest > 0) add(writer.number(blocks * dot.unrolled), rest);
  if (tail > 0) k.if_(first < writer.number(tail), [&] { add(writer.number(steps), 1); });
  return {re.get(), is_pair ? im.get() : Value(), is_pair};
}

void SplitDots::fix_sums(Writer& writer, Value i) {
  kernel::Builder& k = writer.builder();
  for (const Dot& dot : dots_) {
    Scalar sum;
    if (dot.parts == 1) {
      const Index at(k, dot.node->shape, convert(i, writer.index_type()));
      sum = part_of(writer, dot, at, writer.number(0));
    }
    for (int64_t part = 0; dot.parts > 1 && part < dot.parts; ++part) {
      const Value at = dot.together ? i * k.constant(Type::u32, dot.parts) + k.constant(Type::u32, part)
                                    : i + k.constant(Type::u32, part * count_);
      const Scalar one = load_scalar(dot.room, at, is_complex(dot.node->type));
      if (part == 0)
        sum = one;
      else
        sum = one.is_complex ? graph::pair(sum.re + one.re, sum.im + one.im)
                             : Scalar{sum.re + one.re, {}, false};
    }
    writer.fix(*dot.node, lower::rounded(sum, dot.node->type));
  }
}

void SplitDots::fix_whole(Writer& writer) {
  kernel::Builder& k = writer.builder();
  for (const Dot& dot : dots_) {
    const bool is_pair = is_complex(dot.node->type);
    const Index at(k, dot.node->shape, writer.number(0));
    const Value zero = k.constant(compute_type(dot.node->type), 0);
    const std::vector<Value> totals =
        k.reduce(k.constant(Type::u32, contracted_count(*dot.node)),
                 std::vector<Reduction>(is_pair ? 2 : 1, Reduction::add), [&](Value r) {
                   const Writer::Scope scope(writer);
                   const Scalar term = lower::dot_term(writer, *dot.node, at, convert(r, writer.index_type()),
                                                       {zero, is_pair ? zero : Value(), is_pair});
                   return is_pair ? std::vector<Value>{term.re, term.im} : std::vector<Value>{term.re};
                 });
    const Scalar total = is_pair ? graph::pair(totals[0], totals[1]) : Scalar{totals[0], {}, false};
    writer.fix(*dot.node, lower::rounded(total, dot.node->type));
  }
}

}  // namespace adit::compile
