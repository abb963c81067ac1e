#include "compile/kernels.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <unordered_map>

#include <adit/error.hpp>

#include "graph/op.hpp"
#include "graph/trace.hpp"
#include "support/log.hpp"
#include "support/threads.hpp"

namespace adit::compile {

using graph::Op;

std::vector<const Node*> picked_results(const Node& node, const Workshop& shop) {
  std::vector<const Node*> items(graph::results_of(node).size());
  for (const Node* other : shop.nodes)
    if (other->op == Op::item && !other->computed && &graph::node_of(other->operands[0]) == &node)
      items[static_cast<size_t>(other->as<graph::Which>().number)] = other;
  return items;
}

Work work_of(Launch launch, Device& device) {
  Work work;
  work.name = launch.program.name;
  work.device = &device;
  work.program = std::move(launch.program);
  work.teams = launch.teams;
  for (const Binding& binding : launch.bindings)
    if (binding.kind == Binding::Kind::tensor) work.touches.push_back(binding.node);
  work.bindings = std::move(launch.bindings);
  return work;
}

namespace {
thread_local uint64_t code_bytes = 0;  // compiled for this thread
}

CodeMeter::CodeMeter() : before_(code_bytes) {}
uint64_t CodeMeter::bytes() const { return code_bytes - before_; }

void compile_all(const std::vector<Work*>& list) {
  // Equal programs once: threads that wait for one of them would compile none of the others.
  std::unordered_map<std::string, size_t> places;
  std::vector<std::vector<Work*>> equal;
  for (Work* work : list) {
    if (!work->device || work->kernel) continue;
    const size_t place = places.try_emplace(kernel::content_hash(work->program), equal.size()).first->second;
    if (place == equal.size()) equal.emplace_back();
    equal[place].push_back(work);
  }
  parallel(static_cast<unsigned>(std::min<uint64_t>(thread_count(), equal.size())), equal.size(), 1,
           [&](uint64_t begin, uint64_t end) {
             for (uint64_t i = begin; i < end; ++i) {
               const auto made = equal[i][0]->device->compile(equal[i][0]->program);
               for (Work* work : equal[i]) work->kernel = made;
             }
           });
  for (const std::vector<Work*>& list_of_one : equal) code_bytes += list_of_one[0]->kernel->bytes();
}

Work compiled_work(Launch launch, Device& device) {
  Work work = work_of(std::move(launch), device);
  compile_all({&work});
  return work;
}

Work kernel_on(const kernel::Program& program, uint64_t teams, std::initializer_list<const Node*> tensors,
               Device& device) {
  Launch launch{program, teams, {}};
  for (const Node* node : tensors) launch.bindings.push_back({Binding::Kind::tensor, node});
  return work_of(std::move(launch), device);
}

namespace {

std::vector<std::optional<Location>> places_of(const std::vector<const Node*>& tensors,
                                               const LocationOf& location_of) {
  std::vector<std::optional<Location>> places;
  for (const Node* node : tensors) {
    places.emplace_back();
    if (!node) continue;
    places.back() = location_of(*node);
    places.back()->bytes = static_cast<uint64_t>(element_count(node->shape)) * size_of(node->type);
  }
  return places;
}

Work work_on(std::string name, const std::vector<const Node*>& tensors) {
  Work work;
  work.name = std::move(name);
  for (const Node* node : tensors)
    if (node) work.touches.push_back(node);
  return work;
}

}  // namespace

Work host_work(std::string name, const std::vector<const Node*>& tensors, OnHost f) {
  Work work = work_on(std::move(name), tensors);
  work.conduct = [tensors, f = std::move(f)](const LocationOf& location_of) {
    return HostStep{[places = places_of(tensors, location_of), f](Run& run) {
      std::vector<std::byte*> addresses;
      for (const auto& place : places)
        addresses.push_back(place ? reinterpret_cast<std::byte*>(run.buffer(*place).address()) : nullptr);
      f(addresses);
    }};
  };
  return work;
}

Work travelling_work(std::string name, const std::vector<const Node*>& tensors, size_t given, OnHost f) {
  Work work = work_on(std::move(name), tensors);
  work.conduct = [tensors, given, f = std::move(f)](const LocationOf& location_of) {
    return HostStep{[places = places_of(tensors, location_of), given, f](Run& run) {
      std::vector<std::vector<std::byte>> memory(places.size());
      std::vector<std::byte*> addresses(places.size());
      for (size_t i = 0; i < places.size(); ++i) {
        if (!places[i]) continue;
        memory[i].resize(places[i]->bytes);
        addresses[i] = memory[i].data();
        if (i < given) run.device().read(run.buffer(*places[i]), addresses[i], places[i]->bytes);
      }
      f(addresses);
      for (size_t i = given; i < places.size(); ++i)
        if (places[i]) run.device().write(run.buffer(*places[i]), addresses[i], places[i]->bytes);
    }};
  };
  return work;
}

namespace {

std::vector<Step> steps_of(const std::vector<Work>& list, const LocationOf& location_of) {
  std::vector<Step> steps;
  for (const Work& one : list) {
    KernelStep step{one.kernel, one.teams, {}};
    for (const Binding& binding : one.bindings)
      if (binding.kind == Binding::Kind::tensor)
        step.arguments.emplace_back(location_of(*binding.node));
      else
        step.arguments.emplace_back(ConstantSource{binding.value, binding.type});
    steps.push_back({one.name, std::move(step)});
  }
  return steps;
}

constexpr size_t most_stages = 2;

// What the host reads of a flag.
struct Found {
  float worst = 0;
  uint32_t extra = 0, phase = 0, times = 0;
  std::array<uint32_t, most_stages> steps{};
};

class RepeatedSteps {
 public:
  struct Part {
    std::vector<Step> steps;
    std::vector<uint32_t> ends;
    // Launches of as many steps as a run needed, and one more.
    size_t wanted(uint32_t needed) const {
      return needed == 0 || needed >= ends.size() ? steps.size() : ends[needed];
    }
  };
  std::string name;
  std::vector<Part> before;
  std::vector<Step> again, then, extra;
  Location flag;
  uint32_t most = 0;
  float enough = 0;
  struct Memory {                                            // of the last run
    std::atomic<uint32_t> times = 0;                         // that passes were repeated
    std::array<std::atomic<uint32_t>, most_stages> steps{};  // 0: not known
    std::atomic<uint32_t> without = 0;                       // runs that shall leave out all stages
  };
  std::shared_ptr<Memory> memory;

  void operator()(Run& run) const {
    if (sweep(run).extra) perform(run, extra);
  }

 private:
  static void perform(Run& run, const std::vector<Step>& steps) {
    for (const Step& step : steps) run.perform(step);
  }
  Found look(Run& run, uint32_t times) const {
    Found found;
    run.device().read(run.buffer(flag), &found, flag.bytes);
    log_debug("{}: {} and {} steps, {} times, {:.3g} is left, {} is enough", name, found.steps[0],
              found.steps[1], times, found.worst, enough);
    return found;
  }

  // As many steps of each stage as the last run needed. True where some of the last were left out.
  bool perform_before(Run& run) const {
    size_t stage = 0;
    bool left_out = false;
    for (const Part& part : before) {
      const bool is_stage = !part.ends.empty();
      const size_t wanted = is_stage ? part.wanted(needed(stage)) : part.steps.size();
      for (size_t i = 0; i < wanted; ++i) run.perform(part.steps[i]);
      if (is_stage) left_out = wanted < part.steps.size(), ++stage;
    }
    return left_out;
  }
  // What perform_before left of the last stage, and what follows it.
  void perform_rest(Run& run) const {
    size_t stages = 0, last = 0;
    for (size_t i = 0; i < before.size(); ++i)
      if (!before[i].ends.empty()) ++stages, last = i;
    const Part& part = before[last];
    for (size_t i = part.wanted(needed(stages - 1)); i < part.steps.size(); ++i) run.perform(part.steps[i]);
    for (size_t i = last + 1; i < before.size(); ++i) perform(run, before[i].steps);
  }
  uint32_t needed(size_t stage) const { return memory->steps[stage].load(std::memory_order_relaxed); }

  // A look costs more than a time that does nothing, so there should be one: after what the last run took.
  // What follows is queued before it, and again if there was more to do.
  Found sweep(Run& run) const {
    constexpr uint32_t forgotten_after = 15;  // matrices may become kinder
    const uint32_t without = memory->without.load(std::memory_order_relaxed);
    const bool has_rest = without == 0 && perform_before(run);
    const uint32_t ahead =
        without == 0 && !before.empty() ? 0 : memory->times.load(std::memory_order_relaxed);
    Found found;
    bool is_first = true, may_rest = has_rest;
    for (uint32_t times = 0; times < most;) {
      const uint32_t more = is_first ? std::min(ahead, most) : 2;
      is_first = false;
      for (uint32_t i = 0; i < more; ++i) perform(run, again);
      times += more;
      perform(run, then);
      found = look(run, times);
      if (!(found.worst > enough)) break;
      if (may_rest && times == 0) perform_rest(run), is_first = true;
      may_rest = false;
    }
    memory->times.store(found.times, std::memory_order_relaxed);
    if (before.empty()) return found;
    memory->without.store(without > 0       ? without - 1
                          : found.times > 0 ? forgotten_after
                                            : 0,
                          std::memory_order_relaxed);
    if (without == 0)
      for (size_t i = 0; i < most_stages; ++i)
        memory->steps[i].store(found.steps[i], std::memory_order_relaxed);
    return found;
  }
};

}  // namespace

Work repeated_work(std::string name, Repeated repeated, Device& device) {
  Work work;
  work.name = name;
  work.touches.push_back(repeated.flag);
  std::vector<std::vector<Launch>*> lists{&repeated.again, &repeated.then, &repeated.extra};
  for (Repeated::Part& part : repeated.before) lists.push_back(&part.launches);
  const auto made = std::make_shared<std::vector<std::vector<Work>>>(lists.size());
  for (size_t i = 0; i < made->size(); ++i)
    for (Launch& launch : *lists[i]) {
      const Work& one = (*made)[i].emplace_back(work_of(std::move(launch), device));
      work.touches.insert(work.touches.end(), one.touches.begin(), one.touches.end());
    }
  for (std::vector<Launch>* list : lists) list->clear();
  std::vector<Work*> all;
  for (std::vector<Work>& list : *made)
    for (Work& one : list) all.push_back(&one);
  compile_all(all);
  work.conduct = [name, made, repeated](const LocationOf& location_of) {
    RepeatedSteps steps;
    steps.name = name;
    steps.again = steps_of((*made)[0], location_of);
    steps.then = steps_of((*made)[1], location_of);
    steps.extra = steps_of((*made)[2], location_of);
    for (size_t i = 0; i < repeated.before.size(); ++i)
      steps.before.push_back({steps_of((*made)[i + 3], location_of), repeated.before[i].ends});
    steps.flag = location_of(*repeated.flag);
    steps.flag.bytes = repeated.before.empty() ? offsetof(Found, steps) : sizeof(Found);
    steps.most = repeated.most;
    steps.enough = repeated.enough;
    steps.memory = std::make_shared<RepeatedSteps::Memory>();
    steps.memory->times = repeated.likely;
    return HostStep{steps};
  };
  return work;
}

void expect_trips(std::string_view op, uint64_t trips, const Device& device) {
  const uint64_t most = device.limits().max_loop_trips;
  if (most != 0 && trips > most)
    throw Error(ErrorKind::unsupported, "[" + std::string(op) +
                                            "] a: expected a size whose loops take at most " +
                                            std::to_string(most) + " trips on " + device.info().id +
                                            ", got " + std::to_string(trips));
}

Work copy_work(const Node& from, const Node& to) {
  Work work;
  work.name = "copy";
  work.touches = {&from, &to};
  work.conduct = [&from, &to](const LocationOf& location_of) {
    const uint64_t bytes = static_cast<uint64_t>(element_count(to.shape)) * size_of(to.type);
    return CopyStep{location_of(from), location_of(to), bytes};
  };
  return work;
}

Work zero_work(const Node& node) {
  Work work;
  work.name = "fill";
  work.touches = {&node};
  work.conduct = [&node](const LocationOf& location_of) { return FillStep{location_of(node)}; };
  return work;
}

std::vector<Work> kernel_work(const Group& group, Workshop& shop, Device& device) {
  const Node& node = *group.roots[0];  // the oldest: what an epilogue computes comes after it
  switch (node.op) {
    case Op::dot: return dot_work(group, shop, device);
    case Op::concatenate: return concatenate_work(group, shop, device);
    case Op::indexed_add:
    case Op::indexed_put: return scatter_work(node, shop, device);
    case Op::cholesky: return cholesky_work(node, shop, device);
    case Op::triangular_solve: return triangular_work(node, shop, device);
    case Op::cumulative_sum:
    case Op::cumulative_product:
    case Op::cumulative_min:
    case Op::cumulative_max: return cumulative_work(node, shop, device);
    case Op::solve:
    case Op::lu:
    case Op::qr:
    case Op::eigh:
    case Op::svd:
    case Op::eig: return linear_work(node, shop, device);
    case Op::sort: return sort_work(node, shop, device);
    case Op::fft:
    case Op::ifft:
    case Op::rfft:
    case Op::irfft: return fft_work(node, shop, device);
    case Op::conv: return conv_work(node, shop, device);
    case Op::attention: return attention_work(node, device);
    case Op::item: return {};  // its control node writes it
    default: return control_work(node, shop, device);
  }
}

}  // namespace adit::compile
