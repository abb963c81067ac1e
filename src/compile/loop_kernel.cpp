#include "compile/loop_kernel.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <map>

#include "compile/piece.hpp"
#include "lower/trips.hpp"

namespace adit::compile {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Type;
using kernel::Variable;

namespace {

// A launch is held to this long by an estimate that slow devices stay below too: drivers end kernels after
// about two seconds.
constexpr double launch_nanoseconds = 5e7;
constexpr double piece_nanoseconds = 1000, addition_nanoseconds = 0.25;

int64_t scalars_of(const Node& node) { return element_count(node.shape) * (is_complex(node.type) ? 2 : 1); }

uint32_t lanes_for(const RoundPlan& plan, const Limits& limits) {
  const auto wanted = std::bit_ceil(static_cast<uint64_t>(plan.largest));
  return static_cast<uint32_t>(std::min<uint64_t>(std::clamp<uint64_t>(wanted, 32, 512), limits.max_lanes));
}

std::string name_for(const std::string& name, const RoundPlan& plan) {
  if (plan.order.empty()) return name;
  return kernel_name(*plan.order.back(), plan.parts,
                     fmt::format("{}_of_{}", name, plan.order.size()).c_str());
}

class LoopWriter {
 public:
  LoopWriter(const std::string& name, const RoundPlan& plan, const Tensor& number, const LoopEnds& ends,
             const Node* flag, Workshop& inside, Workshop& outside)
      : plan_(plan),
        number_(number ? &graph::node_of(number) : nullptr),
        ends_(ends),
        flag_(flag),
        inside_(inside),
        outside_(outside),
        k_(name_for(name, plan), kernel::Team::many(lanes_for(plan, inside.target.limits))),
        arguments_(k_),
        rooms_(k_, lanes_for(plan, inside.target.limits), inside.target) {}

  Launch write(int64_t length, bool reverse) {
    declare();
    load_state();
    if (plan_.condition)
      write_while();
    else
      write_for(length, reverse);
    store_state();
    Launch launch{k_.finish(), 1, arguments_.bindings()};
    for (Binding& binding : launch.bindings)
      if (const auto it = ends_.given.find(binding.node); it != ends_.given.end()) binding.node = it->second;
    return launch;
  }

 private:
  // --- Where tensors lie
  // ------------------------------------------------------------------------------------

  // Numbers are in registers of all lanes.
  static bool is_number(const Node& node) { return element_count(node.shape) == 1; }
  bool is_held(const Node& node) const { return now_.contains(&node); }

  void declare() {
    begin_ = arguments_.constant(Type::u32, 0);
    count_ = arguments_.constant(Type::u32, 0);
    for (size_t i = 0; i < plan_.state.size(); ++i) {
      if (element_count(plan_.state[i]->shape) == 0) continue;
      arguments_.tensor(*ends_.initial[i], Access::read);
      arguments_.tensor(*ends_.last[i], Access::read_write);
    }
    for (const Node* output : ends_.outputs)
      if (output && element_count(output->shape) > 0) arguments_.tensor(*output, Access::write);
    if (flag_) arguments_.tensor(*flag_, Access::write);
    give_homes();
    declare_given();
    for (const Group* group : plan_.order)
      pieces_.emplace_back(*group, inside_, k_, arguments_, rooms_, false);
  }

  void give_homes() {
    for (const Node* state : plan_.state)
      if (!is_number(*state)) give_home(*state);
    for (const Group* group : plan_.order)
      for (const Node* root : group->roots) {
        if (is_number(*root)) {
          numbers_.insert(root);
          continue;
        }
        if (!plan_.parts.stored.contains(root)) continue;
        if (const auto it = plan_.in_place.find(root); it != plan_.in_place.end())
          arguments_.bind(*root, arguments_.tensor(*it->second, Access::read_write));
        else
          give_home(*root);
      }
    for (const Node* state : plan_.state)
      if (is_number(*state)) {
        numbers_.insert(state);
        const Value zero = k_.constant(compute_type(state->type), 0);
        variables_.emplace(state, std::pair(k_.variable(zero), k_.variable(zero)));
      }
  }

  // In shared memory while there is some, else in a tensor of the executable's own.
  void give_home(const Node& node) {
    const int64_t count = scalars_of(node);
    if (count == 0) return;
    const Type type = storage_type(node.type);
    const uint64_t bytes = static_cast<uint64_t>(count) * std::max(4u, kernel::size_of(type));
    const Limits& limits = inside_.target.limits;
    const uint64_t most = inside_.target.gpu ? limits.shared_bytes / 2 : limits.shared_bytes / 4;
    // Without arithmetic of halves they lie in buffers alone.
    const bool may_share = type != Type::f16 || limits.float16;
    if (may_share && shared_bytes_ + bytes <= most) {
      shared_bytes_ += bytes;
      arguments_.bind(node, k_.shared(type, static_cast<uint32_t>(count)));
    } else {
      arguments_.bind(node,
                      arguments_.tensor(outside_.make_scratch(node.type, node.shape), Access::read_write));
    }
  }

  void declare_given() {
    std::map<uint64_t, const Node*> given;
    const auto look = [&](const Node& node, Reading = {}) {
      if (ends_.given.contains(&node) && element_count(node.shape) > 0) given[node.number] = &node;
    };
    for (const Group* group : plan_.order) for_each_read(*group, plan_.parts, look);
    for (const Node* node : plan_.next) look(*node);
    for (const Node* node : plan_.outputs) look(*node);
    if (plan_.condition) look(*plan_.condition);
    for (const auto& [number, node] : given) arguments_.tensor(*node, Access::read);
  }

  Array array_of(const Node& node) { return arguments_.tensor(node, Access::read); }

  // --- Before and after the rounds
  // --------------------------------------------------------------------------

  void load_state() {
    k_.if_(
        begin_ == 0, [&] { load_state_from(ends_.initial); }, [&] { load_state_from(ends_.last); });
  }

  void load_state_from(const std::vector<const Node*>& from) {
    for (size_t i = 0; i < plan_.state.size(); ++i) {
      const Node& state = *plan_.state[i];
      if (element_count(state.shape) == 0) continue;
      const Array source = array_of(*from[i]);
      if (is_number(state))
        assign(state, load_element(source, state.type, k_.constant(Type::u32, 0)));
      else
        k_.each(k_.constant(Type::u32, element_count(state.shape)), [&](Value at) {
          store_element(array_of(state), state.type, at, load_element(source, state.type, at));
        });
    }
  }

  void store_state() {
    for (size_t i = 0; i < plan_.state.size(); ++i) {
      const Node& state = *plan_.state[i];
      if (element_count(state.shape) == 0) continue;
      const Array target = array_of(*ends_.last[i]);
      if (is_number(state)) {
        const Scalar value = value_of_variable(state);
        k_.once([&] { store_element(target, state.type, k_.constant(Type::u32, 0), value); });
      } else {
        k_.each(k_.constant(Type::u32, element_count(state.shape)), [&](Value at) {
          store_element(target, state.type, at, load_element(array_of(state), state.type, at));
        });
      }
    }
  }

  void assign(const Node& state, const Scalar& value) {
    const auto& [re, im] = variables_.at(&state);
    re = value.re;
    if (value.is_complex) im = value.im;
  }
  Scalar value_of_variable(const Node& state) {
    const auto& [re, im] = variables_.at(&state);
    return is_complex(state.type) ? graph::pair(re.get(), im.get()) : Scalar{re.get(), {}, false};
  }

  // --- The rounds
  // -------------------------------------------------------------------------------------------

  void write_while() {
    const Variable running = k_.variable(k_.constant(Type::boolean, true));
    const Variable holds = k_.variable(k_.constant(Type::boolean, true));
    const Variable rounds = k_.variable(k_.constant(Type::u32, 0));
    k_.while_([&] { return running.get(); },
              [&] {
                begin_round();
                write_pieces(0, plan_.before);
                const Value condition = number_at(*plan_.condition).re;
                holds = condition != 0;
                k_.if_(
                    holds.get() && rounds.get() < count_,
                    [&] {
                      write_pieces(plan_.before, pieces_.size());
                      advance({});
                      rounds = rounds.get() + 1;
                    },
                    [&] { running = k_.constant(Type::boolean, false); });
              });
    const Value flag = select(holds.get(), k_.constant(Type::u32, 1), k_.constant(Type::u32, 0));
    k_.once([&] { array_of(*flag_)[0u] = flag; });
  }

  void write_for(int64_t length, bool reverse) {
    k_.for_(count_, [&](Value i) {
      const Value made = begin_ + i;
      const Value place = reverse ? made.like(std::max<int64_t>(length, 1) - 1) - made : made;
      begin_round();
      if (number_) now_[number_] = {convert(place, Type::i64), {}, false};
      write_pieces(0, pieces_.size());
      advance(place);
    });
  }

  void begin_round() {
    for (const Node* state : plan_.state)
      if (is_number(*state)) now_[state] = value_of_variable(*state);
  }

  void write_pieces(size_t first, size_t end) {
    const Keep keep = [&](const Node& node, const Scalar& value) {
      if (!numbers_.contains(&node)) return false;
      now_[&node] = as_stored(node.type, value);
      return true;
    };
    for (size_t i = first; i < end; ++i) {
      Writer& writer = pieces_[i].writer();
      for_each_read(pieces_[i].group(), plan_.parts, [&](const Node& node, Reading) {
        if (const auto it = now_.find(&node); it != now_.end()) writer.fix(node, it->second);
      });
      pieces_[i].write(keep);
    }
  }

  // As memory would give it back.
  static Scalar as_stored(DType type, const Scalar& value) {
    if (value.is_complex) return value;
    return {convert(convert(value.re, storage_type(type)), compute_type(type)), {}, false};
  }

  Scalar number_at(const Node& node) {
    if (const auto it = now_.find(&node); it != now_.end()) return it->second;
    return load_element(array_of(node), node.type, k_.constant(Type::u32, 0));
  }

  struct Copy {
    const Node* from = nullptr;
    Array to;
    Value offset;  // of the element that element 0 goes to, where it is not 0
    bool has_offset = false;
  };

  // The new state takes the place of the old one, and the outputs go to theirs.
  void advance(Value place) {
    std::vector<std::pair<const Node*, Scalar>> values;
    std::map<int64_t, std::vector<Copy>> copies;  // by count
    for (size_t i = 0; i < plan_.state.size(); ++i) {
      const Node &state = *plan_.state[i], &next = *plan_.next[i];
      if (&state == &next || element_count(state.shape) == 0) continue;
      if (is_number(state))
        values.emplace_back(&state, number_at(next));
      else if (const auto it = plan_.in_place.find(&next); it == plan_.in_place.end() || it->second != &state)
        copies[element_count(state.shape)].push_back({&next, array_of(state), {}, false});
    }
    for (size_t i = 0; i < plan_.outputs.size(); ++i)
      if (ends_.outputs[i] && element_count(plan_.outputs[i]->shape) > 0)
        keep_output(*plan_.outputs[i], *ends_.outputs[i], place, copies);
    for (const auto& [state, value] : values) assign(*state, value);
    for (const auto& [count, list] : copies) copy(count, list);
  }

  void keep_output(const Node& from, const Node& to, Value place,
                   std::map<int64_t, std::vector<Copy>>& copies) {
    const Type index_type = scalars_of(to) >= (int64_t{1} << 31) - 64 ? Type::u64 : Type::u32;
    const int64_t count = element_count(from.shape);
    const Value offset = convert(place, index_type) * k_.constant(index_type, count);
    if (!is_number(from)) {
      copies[count].push_back({&from, array_of(to), offset, true});
      return;
    }
    const Scalar value = number_at(from);
    k_.once([&] { store_element(array_of(to), from.type, offset, value); });
  }

  // All are read before one is written: states may change places.
  void copy(int64_t count, const std::vector<Copy>& list) {
    k_.each(k_.constant(Type::u32, count), [&](Value at) {
      std::vector<Scalar> values;
      for (const Copy& one : list) values.push_back(load_element(array_of(*one.from), one.from->type, at));
      for (size_t i = 0; i < list.size(); ++i) {
        const Value to = list[i].has_offset ? list[i].offset + convert(at, list[i].offset.type()) : at;
        store_element(list[i].to, list[i].from->type, to, values[i]);
      }
    });
  }

  const RoundPlan& plan_;
  const Node* number_;
  const LoopEnds& ends_;
  const Node* flag_;
  Workshop &inside_, &outside_;
  Builder k_;
  Arguments arguments_;
  DotRooms rooms_;
  Value begin_, count_;
  uint64_t shared_bytes_ = 0;
  std::vector<Piece> pieces_;
  std::unordered_set<const Node*> numbers_;      // single elements, which all lanes know
  std::unordered_map<const Node*, Scalar> now_;  // their values in the round that is being written
  std::unordered_map<const Node*, std::pair<Variable, Variable>> variables_;  // states that are numbers
};

// 0 where a device would not even make one.
int64_t rounds_at_once(const kernel::Program& program, const RoundPlan& plan, const Limits& limits) {
  const double round =
      piece_nanoseconds * static_cast<double>(plan.order.size() + 1) + addition_nanoseconds * plan.work;
  const auto by_time = std::max<int64_t>(1, static_cast<int64_t>(launch_nanoseconds / round));
  if (limits.max_loop_trips == 0) return by_time;
  const int64_t trips = lower::loop_trips(program, 1);
  return std::min(by_time,
                  static_cast<int64_t>(limits.max_loop_trips * 8 / 10) / std::max<int64_t>(1, trips));
}

}  // namespace

std::optional<LoopKernel> loop_kernel(const Round& round, const LoopEnds& ends, int64_t length, bool reverse,
                                      const std::string& name, Workshop& shop) {
  if (length >= int64_t{1} << 31) return {};
  const std::optional<RoundPlan> plan = plan_round(round, shop.target);
  if (!plan) return {};
  LoopEnds all = ends;
  for (size_t i = 0; i < all.last.size(); ++i)
    if (!all.last[i]) all.last[i] = &shop.make_scratch(plan->state[i]->type, plan->state[i]->shape);
  LoopKernel made;
  if (round.condition) made.flag = &shop.make_scratch(DType::u32, {});
  Workshop inside{plan->parts, shop.target, plan->nodes, {}};
  made.launch = LoopWriter(name, *plan, round.number, all, made.flag, inside, shop).write(length, reverse);
  made.most_rounds = rounds_at_once(made.launch.program, *plan, shop.target.limits);
  if (made.most_rounds == 0) return {};
  return made;
}

}  // namespace adit::compile
