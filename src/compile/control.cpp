// Control flow: loops of small rounds are kernels; else the host conducts, the functions are executables,
// and their results are copied to the items.
#include <algorithm>
#include <cstring>

#include <adit/ops.hpp>

#include "compile/compile.hpp"
#include "compile/kernels.hpp"
#include "compile/loop_kernel.hpp"
#include "graph/op.hpp"
#include "graph/trace.hpp"

namespace adit::compile {

using graph::ControlAttributes;
using graph::Literal;
using graph::Op;

namespace {

using Buffers = std::vector<Buffer>;

// A function inside a graph, compiled. Its own numbers are part of it.
struct Part {
  std::shared_ptr<const Executable> executable;
  std::vector<Literal> numbers;  // the first is the round, where the function is a step of a scan

  Buffers run(Run& run, const Buffers& inputs, int64_t round = 0) const {
    if (numbers.empty()) return executable->run(run.device(), inputs, numbers);
    std::vector<Literal> given = numbers;
    given[0].integer = round;
    return executable->run(run.device(), inputs, given);
  }
};

Part prepare(Device& device, std::span<const Tensor> results, std::span<const Tensor> parameters,
             const Tensor& round = {}) {
  Part part;
  std::vector<Tensor> numbers;
  if (round) {
    numbers.push_back(round);
    part.numbers.push_back(graph::node_of(round).as<Literal>());
  }
  part.executable = compile(device, results, parameters, numbers);
  return part;
}

Part prepare(Device& device, const graph::Subgraph& function) {
  return prepare(device, function.results, function.parameters);
}

// Where the items of a control node lie; results that nobody picked have none.
struct Items {
  std::vector<const Node*> nodes;
};

Items items_of(const Node& node, const Workshop& shop) {
  Items items;
  items.nodes = picked_results(node, shop);
  return items;
}

struct Ends {
  std::vector<Location> operands;
  std::vector<std::pair<size_t, Location>> items;  // number of the result, and its memory
  Buffers inputs(Run& run) const {
    Buffers list;
    for (const Location& place : operands) list.push_back(run.buffer(place));
    return list;
  }
  void deliver(Run& run, const Buffers& results) const {
    for (const auto& [which, place] : items)
      if (place.bytes) run.device().copy(results[which], run.buffer(place), place.bytes);
  }
};

bool is_true(Run& run, const Buffer& predicate) {
  uint8_t value = 0;
  run.device().read(predicate, &value, 1);
  return value != 0;
}

Buffers slice_of(const Buffers& all, size_t first, size_t count) {
  return {all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(first + count)};
}
Buffers joined(Buffers a, const Buffers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

using Conduct = std::function<void(Run&, const Ends&)>;

std::vector<Work> conducted(const Node& node, const Workshop& shop, Conduct conduct) {
  Work work;
  work.name = graph::name_of(node.op);
  const Items items = items_of(node, shop);
  for (const Tensor& operand : node.operands) work.touches.push_back(&graph::node_of(operand));
  for (const Node* item : items.nodes)
    if (item) work.touches.push_back(item);
  work.conduct = [&node, items, conduct = std::move(conduct)](const LocationOf& location_of) {
    Ends ends;
    for (const Tensor& operand : node.operands) ends.operands.push_back(location_of(graph::node_of(operand)));
    for (size_t i = 0; i < items.nodes.size(); ++i)
      if (items.nodes[i]) {
        Location place = location_of(*items.nodes[i]);
        place.bytes =
            static_cast<uint64_t>(element_count(items.nodes[i]->shape)) * size_of(items.nodes[i]->type);
        ends.items.emplace_back(i, place);
      }
    return HostStep{[ends, conduct](Run& run) { conduct(run, ends); }};
  };
  std::vector<Work> list;
  list.push_back(std::move(work));
  return list;
}

std::vector<Work> cond_work(const Node& node, const Workshop& shop, Device& device) {
  const auto& a = *node.as<std::shared_ptr<const ControlAttributes>>();
  const Part on_true = prepare(device, *a.functions[0]), on_false = prepare(device, *a.functions[1]);
  return conducted(node, shop, [on_true, on_false](Run& run, const Ends& ends) {
    const Buffers inputs = ends.inputs(run);
    const Buffers rest = slice_of(inputs, 1, inputs.size() - 1);
    ends.deliver(run, (is_true(run, inputs[0]) ? on_true : on_false).run(run, rest));
  });
}

// A loop's rounds on a device that would have to be waited for: some are queued ahead, each from the state of
// the one before, with the condition before it; then all conditions are read at once. What ran beyond the end
// is forgotten: functions change nothing but their results. A loop inside of the body might not end there, so
// bodies with control flow go round by round, as all do on a CPU, where nothing is waited for.
class Rounds {
 public:
  Rounds(Device& device, const graph::Subgraph& condition, const graph::Subgraph& body) {
    std::vector<Tensor> results = graph::instantiate(condition, body.parameters);
    results.insert(results.end(), body.results.begin(), body.results.end());
    for (const Tensor& x : body.results) state_bytes_ += x.bytes();
    if (device.info().kind == DeviceKind::cpu || holds_loops(results)) {
      condition_ = prepare(device, condition);
      body_ = prepare(device, body);
      return;
    }
    most_ = std::clamp<uint64_t>(most_bytes / std::max<uint64_t>(1, state_bytes_), 1, most_rounds);
    both_ = prepare(device, results, body.parameters);
  }

  // The last state; `before` gets those before each round, where it is asked for.
  Buffers run(Run& run, Buffers state, const Buffers& captured,
              std::vector<Buffers>* before = nullptr) const {
    if (most_ == 0) {
      while (is_true(run, condition_.run(run, joined(state, captured))[0])) {
        if (before) before->push_back(state);
        state = body_.run(run, joined(state, captured));
      }
      return state;
    }
    for (uint64_t count = 2;; count = std::min(2 * count, most_)) {
      std::vector<Buffers> states{state};
      const Buffer flags = run.device().allocate(count * flag_step);
      for (uint64_t i = 0; i < count; ++i) {
        Buffers found = both_.run(run, joined(states.back(), captured));
        run.device().copy(found[0], flags.slice(i * flag_step, 1), 1);
        states.emplace_back(found.begin() + 1, found.end());
      }
      std::vector<uint8_t> values(count * flag_step);
      run.device().read(flags, values.data(), values.size());
      for (uint64_t i = 0; i < count; ++i) {
        if (!values[i * flag_step]) return states[i];
        if (before) before->push_back(states[i]);
      }
      state = states.back();
    }
  }

 private:
  // Rounds ahead double up to this: what one too many costs, against what a wait costs. From an H200.
  static constexpr uint64_t most_rounds = 64, most_bytes = uint64_t{1} << 28, flag_step = 4;

  static bool holds_loops(const std::vector<Tensor>& results) {
    for (const Tensor& x : graph::reachable(results, true))
      if (graph::row_of(graph::node_of(x).op).kind == graph::Kind::control) return true;
    return false;
  }

  Part condition_, body_, both_;
  uint64_t state_bytes_ = 0, most_ = 0;  // 0: round by round
};

// --- Loops that are kernels --------------------------------------------------------------------------------

KernelStep step_of(const Work& work, const LocationOf& location_of, int64_t begin, int64_t count) {
  KernelStep step{work.kernel, work.teams, {}};
  for (size_t i = 0; i < work.bindings.size(); ++i) {
    const Binding& binding = work.bindings[i];
    if (binding.kind == Binding::Kind::tensor)
      step.arguments.emplace_back(location_of(*binding.node));
    else
      step.arguments.emplace_back(
          ConstantSource{static_cast<uint64_t>(i == LoopKernel::begin ? begin : count), binding.type});
  }
  return step;
}

// Launches until the condition does not hold; the host reads whether it does once a launch.
Work launched_while(LoopKernel loop, Device& device) {
  const auto inside = std::make_shared<const Work>(compiled_work(std::move(loop.launch), device));
  Work work;
  work.name = inside->name;
  work.touches = inside->touches;
  work.conduct = [inside, flag = loop.flag, rounds = loop.most_rounds](const LocationOf& location_of) {
    const Step first{inside->name, step_of(*inside, location_of, 0, rounds)};
    const Step again{inside->name, step_of(*inside, location_of, 1, rounds)};
    Location place = location_of(*flag);
    place.bytes = sizeof(uint32_t);
    return HostStep{[first, again, place](Run& run) {
      uint32_t holds = 1;
      for (const Step* step = &first; holds; step = &again) {
        run.perform(*step);
        run.device().read(run.buffer(place), &holds, sizeof holds);
      }
    }};
  };
  return work;
}

// A launch after the other, as many as the rounds take.
std::vector<Work> launched_for(LoopKernel loop, int64_t length, Device& device) {
  constexpr int64_t most_steps = 32;  // of an executable; more launches are the host's to repeat
  const int64_t rounds = loop.most_rounds;
  std::vector<Work> list;
  if (length <= rounds * most_steps) {
    for (int64_t begin = 0; begin < length; begin += rounds) {
      Launch launch = loop.launch;
      launch.bindings[LoopKernel::begin].value = static_cast<uint64_t>(begin);
      launch.bindings[LoopKernel::count].value = static_cast<uint64_t>(std::min(rounds, length - begin));
      list.push_back(work_of(std::move(launch), device));
    }
    return list;
  }
  const auto inside = std::make_shared<const Work>(compiled_work(std::move(loop.launch), device));
  Work work;
  work.name = inside->name;
  work.touches = inside->touches;
  work.conduct = [inside, rounds, length](const LocationOf& location_of) {
    std::vector<Step> steps;
    for (int64_t begin = 0; begin < length; begin += rounds)
      steps.push_back({inside->name, step_of(*inside, location_of, begin, std::min(rounds, length - begin))});
    return HostStep{[steps](Run& run) {
      for (const Step& step : steps) run.perform(step);
    }};
  };
  list.push_back(std::move(work));
  return list;
}

LoopEnds loop_ends(const Node& node, const std::vector<Tensor>& parameters, size_t carries, Workshop& shop) {
  LoopEnds ends;
  const std::vector<const Node*> items = picked_results(node, shop);
  for (size_t i = 0; i < items.size(); ++i) (i < carries ? ends.last : ends.outputs).push_back(items[i]);
  for (size_t i = 0; i < parameters.size(); ++i)
    if (i < carries)
      ends.initial.push_back(&graph::node_of(node.operands[i]));
    else
      ends.given[&graph::node_of(parameters[i])] = &graph::node_of(node.operands[i]);
  return ends;
}

std::vector<Tensor> first_of(const std::vector<Tensor>& list, size_t count) {
  return {list.begin(), list.begin() + static_cast<long>(count)};
}

std::optional<LoopKernel> while_kernel(const Node& node, const ControlAttributes& a, Workshop& shop) {
  const graph::Subgraph& body = *a.functions[1];
  const auto carries = static_cast<size_t>(a.carries);
  Round round;
  round.state = first_of(body.parameters, carries);
  round.next = body.results;
  round.condition = graph::instantiate(*a.functions[0], body.parameters)[0];
  return loop_kernel(round, loop_ends(node, body.parameters, carries, shop), 0, false, "while", shop);
}

std::vector<Work> while_work(const Node& node, Workshop& shop, Device& device) {
  const auto& a = *node.as<std::shared_ptr<const ControlAttributes>>();
  if (auto loop = while_kernel(node, a, shop)) {
    std::vector<Work> list;
    list.push_back(launched_while(std::move(*loop), device));
    return list;
  }
  const Rounds rounds(device, *a.functions[0], *a.functions[1]);
  const auto carries = static_cast<size_t>(a.carries);
  return conducted(node, shop, [=](Run& run, const Ends& ends) {
    const Buffers inputs = ends.inputs(run);
    const Buffers captured = slice_of(inputs, carries, inputs.size() - carries);
    ends.deliver(run, rounds.run(run, slice_of(inputs, 0, carries), captured));
  });
}

std::vector<Work> while_vjp_work(const Node& node, const Workshop& shop, Device& device) {
  const auto& a = *node.as<std::shared_ptr<const ControlAttributes>>();
  const Rounds rounds(device, *a.functions[0], *a.functions[1]);
  const Part backward = prepare(device, *a.functions[2]);
  const auto carries = static_cast<size_t>(a.carries), sequences = static_cast<size_t>(a.sequences);
  return conducted(node, shop, [=](Run& run, const Ends& ends) {
    const Buffers inputs = ends.inputs(run);
    Buffers carry = slice_of(inputs, carries, sequences);
    const Buffers captured = slice_of(inputs, carries + sequences, inputs.size() - carries - sequences);
    std::vector<Buffers> states;
    rounds.run(run, slice_of(inputs, 0, carries), captured, &states);
    for (auto before = states.rbegin(); before != states.rend(); ++before)
      carry = backward.run(run, joined(joined(*before, carry), captured));
    ends.deliver(run, carry);
  });
}

// A step reads its slice of the whole sequence by the number of the round, so nothing is copied on the way
// in.
struct ScanStep {
  std::vector<Tensor> parameters, results;
  Tensor round = graph::make_node(Op::number, DType::i64, {}, {}, Literal{});
};

ScanStep scan_step(const Node& node, const ControlAttributes& a) {
  const graph::Subgraph& step = *a.functions[0];
  const auto carries = static_cast<size_t>(a.carries), sequences = static_cast<size_t>(a.sequences);
  ScanStep made;
  made.parameters = step.parameters;
  std::vector<Tensor> slices, cuts;
  for (size_t i = carries; i < carries + sequences; ++i) {
    const Tensor& slice = step.parameters[i];
    const Tensor whole = graph::placeholder(slice.dtype(), node.operands[i].shape());
    std::vector<Tensor> starts(static_cast<size_t>(whole.rank()), graph::constant_integer(DType::i64, 0));
    starts[0] = made.round;
    Dims lengths = whole.shape();
    lengths[0] = 1;
    slices.push_back(slice);
    cuts.push_back(reshape(dynamic_slice(whole, starts, lengths), slice.shape()));
    made.parameters[i] = whole;
  }
  made.results = graph::substitute(step.results, slices, cuts);
  return made;
}

std::optional<LoopKernel> scan_kernel(const Node& node, const ControlAttributes& a, const ScanStep& step,
                                      Workshop& shop) {
  const auto carries = static_cast<size_t>(a.carries);
  Round round;
  round.state = first_of(step.parameters, carries);
  round.next = first_of(step.results, carries);
  round.outputs = {step.results.begin() + static_cast<long>(carries), step.results.end()};
  round.number = step.round;
  return loop_kernel(round, loop_ends(node, step.parameters, carries, shop), a.length, a.reverse, "scan",
                     shop);
}

std::vector<Work> scan_work(const Node& node, Workshop& shop, Device& device) {
  const auto& a = *node.as<std::shared_ptr<const ControlAttributes>>();
  const auto carries = static_cast<size_t>(a.carries);
  const ScanStep step = scan_step(node, a);
  if (auto loop = scan_kernel(node, a, step, shop)) return launched_for(std::move(*loop), a.length, device);
  const auto& [parameters, results, round] = step;
  const Part part = prepare(device, results, parameters, round);
  std::vector<uint64_t> piece_bytes;
  for (size_t i = carries; i < results.size(); ++i) piece_bytes.push_back(results[i].bytes());
  const int64_t length = a.length;
  const bool reverse = a.reverse;
  return conducted(node, shop, [=](Run& run, const Ends& ends) {
    const Buffers inputs = ends.inputs(run);
    Buffers carry = slice_of(inputs, 0, carries);
    const Buffers rest = slice_of(inputs, carries, inputs.size() - carries);
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = reverse ? length - 1 - i : i;
      const Buffers now = part.run(run, joined(carry, rest), at);
      for (const auto& [which, place] : ends.items) {
        if (which < carries || piece_bytes[which - carries] == 0) continue;
        const uint64_t bytes = piece_bytes[which - carries];
        run.device().copy(now[which], run.buffer(place).slice(static_cast<uint64_t>(at) * bytes, bytes),
                          bytes);
      }
      carry = slice_of(now, 0, carries);
    }
    for (const auto& [which, place] : ends.items)
      if (which < carries && place.bytes) run.device().copy(carry[which], run.buffer(place), place.bytes);
  });
}

}  // namespace

std::vector<Work> control_work(const Node& node, Workshop& shop, Device& device) {
  switch (node.op) {
    case Op::cond: return cond_work(node, shop, device);
    case Op::while_loop: return while_work(node, shop, device);
    case Op::while_vjp: return while_vjp_work(node, shop, device);
    case Op::scan: return scan_work(node, shop, device);
    default:
      throw Error(ErrorKind::internal, "[compile] " + std::string(graph::name_of(node.op)) + ": no kernel");
  }
}

}  // namespace adit::compile
