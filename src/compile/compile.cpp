#include "compile/compile.hpp"

#include <algorithm>
#include <unordered_map>

#include "compile/kernels.hpp"
#include "compile/launch.hpp"
#include "compile/made.hpp"
#include "graph/fourier.hpp"
#include "graph/op.hpp"
#include "lower/argument.hpp"
#include "lower/memory_plan.hpp"
#include "lower/simplify.hpp"

namespace adit::compile {

using graph::Op;

namespace {

uint64_t bytes_of(const Node& node) {
  return static_cast<uint64_t>(element_count(node.shape)) * size_of(node.type);
}

class Compiler {
 public:
  Compiler(Device& device, std::span<const Tensor> roots, std::span<const Tensor> inputs,
           std::span<const Tensor> numbers)
      : device_(device) {
    target_.limits = device.limits();
    target_.gpu = device.info().kind != DeviceKind::cpu;
    roots_ = simplified(roots, target_);
    for (size_t i = 0; i < inputs.size(); ++i)
      input_index_[&graph::node_of(inputs[i])] = static_cast<uint32_t>(i);
    for (size_t i = 0; i < numbers.size(); ++i)
      number_index_[&graph::node_of(numbers[i])] = static_cast<uint32_t>(i);
  }

  std::shared_ptr<const Executable> make(const Watcher& watcher, std::vector<kernel::Program>* programs) {
    const CodeMeter code;
    collect();
    std::unordered_set<const Node*> arguments;
    for (const auto& [node, index] : number_index_) arguments.insert(node);
    const Partition parts = partition(nodes_, inputs_, outputs_, arguments, target_);
    Workshop shop{parts, target_, nodes_, {}};
    std::vector<Work> work;
    std::vector<std::vector<const Group*>> groups;  // one list a piece of work
    for (size_t i = 0; i < parts.groups.size();) {
      std::vector<const Group*> together = small_run(parts.groups, i, shop);
      if (together.size() > 1) {
        work.push_back(work_of(one_team_launch(together, shop), device_));
      } else {
        together.assign(1, &parts.groups[i]);
        append_work(parts.groups[i], shop, work);
      }
      i += together.size();
      groups.resize(work.size(), together);
    }
    std::vector<Work*> all;
    for (Work& item : work) all.push_back(&item);
    compile_all(all);
    auto executable = std::make_shared<Executable>();
    place_outputs(*executable);
    const MemoryPlan plan = plan_memory(work, groups, parts, *executable);
    if (watcher) watcher({nodes_, inputs_, outputs_, parts, shop.scratch, work, groups, plan});
    for (Work& item : work) {
      if (programs) programs->push_back(std::move(item.program));
      executable->steps_.push_back(finish(std::move(item)));
    }
    executable->code_bytes_ = code.bytes();
    return executable;
  }

 private:
  void collect() {
    kept_ = graph::reachable(roots_, false);
    for (const Tensor& x : kept_) {
      nodes_.push_back(&graph::node_of(x));
      if (graph::node_of(x).computed || graph::node_of(x).op == Op::input) inputs_.insert(&graph::node_of(x));
    }
    for (const Tensor& root : roots_) outputs_.insert(&memory_of(graph::node_of(root)));
  }

  // Small groups that follow each other are one kernel.
  static std::vector<const Group*> small_run(const std::vector<Group>& groups, size_t first,
                                             const Workshop& shop) {
    // A kernel of more takes long to compile, and drivers have refused some.
    constexpr size_t most_groups = 24;
    std::vector<const Group*> run;
    double code = 0;
    for (size_t i = first; i < groups.size() && run.size() < most_groups && is_small(groups[i], shop); ++i) {
      for_each_inside(groups[i], shop.partition,
                      [&](const Node& node, Reading) { code += code_length(node); });
      if (code > most_code) break;
      run.push_back(&groups[i]);
    }
    return run;
  }

  void append_work(const Group& group, Workshop& shop, std::vector<Work>& work) {
    if (group.roots.empty()) return;
    if (group.form == Group::Form::kernel) {
      for (Work& item : kernel_work(group, shop, device_)) work.push_back(std::move(item));
      return;
    }
    auto launches = group.form == Group::Form::rows ? rows_launches(group, shop) : loop_launches(group, shop);
    for (Launch& launch : launches) work.push_back(work_of(std::move(launch), device_));
  }

  void place_outputs(Executable& executable) {
    for (const Tensor& root : roots_) {
      const Node& base = memory_of(graph::node_of(root));
      Executable::Output output;
      if (const auto it = input_index_.find(&base); it != input_index_.end()) {
        output.is_input = true;
        output.place = {Location::In::input, it->second, 0, bytes_of(base)};
      } else {
        auto [entry, fresh] = output_places_.try_emplace(&base);
        if (fresh) {
          entry->second = {Location::In::output, static_cast<uint32_t>(executable.output_bytes_.size()), 0,
                           bytes_of(base)};
          executable.output_bytes_.push_back(padded(bytes_of(base)));
        }
        output.place = entry->second;
      }
      executable.outputs_.push_back(output);
    }
  }

  // Tensors that are neither inputs nor outputs live in one arena, each from its first use to its last.
  MemoryPlan plan_memory(const std::vector<Work>& work, const std::vector<std::vector<const Group*>>& groups,
                         const Partition& parts, Executable& executable) {
    MemoryPlan plan;
    for (size_t step = 0; step < work.size(); ++step)
      for (const Node* node : work[step].touches) {
        const Node& base = memory_of(*node);
        if (!input_index_.contains(&base) && !output_places_.contains(&base))
          plan.use(&base, padded(bytes_of(base)), step);
      }
    for (size_t step = 0; step < work.size(); ++step)
      if (groups[step].size() == 1 && groups[step][0]->form == Group::Form::loop)
        reuse_operands(plan, *groups[step][0], parts, step);
    executable.arena_bytes_ = plan.arrange();
    for (const auto& [key, offset] : plan.offsets()) {
      const auto* node = static_cast<const Node*>(key);
      arena_[node] = {Location::In::arena, 0, offset, padded(bytes_of(*node))};
    }
    return plan;
  }

  // A loop may write a result where it read an operand, element by element. A number that it puts into memory
  // is both.
  static void reuse_operands(MemoryPlan& plan, const Group& group, const Partition& parts, size_t step) {
    std::unordered_map<const Node*, bool> in_order;
    for_each_read(group, parts, [&](const Node& node, Reading reading) {
      const auto it = in_order.try_emplace(&memory_of(node), true).first;
      it->second = it->second && reading == Reading::whole;
    });
    for (const Node* root : group.roots)
      for (const auto& [node, whole] : in_order)
        if (whole && !group.contains(*node) && size_of(node->type) == size_of(root->type))
          plan.take_over(root, node, step);
  }

  Location place_of(const Node& node) const {
    const Node& base = memory_of(node);
    if (const auto it = input_index_.find(&base); it != input_index_.end())
      return {Location::In::input, it->second, 0, bytes_of(base)};
    if (const auto it = output_places_.find(&base); it != output_places_.end()) return it->second;
    return arena_.at(&base);
  }

  Step finish(Work item) {
    Step step;
    step.name = item.name;
    if (item.conduct) {
      step.work = item.conduct([&](const Node& node) { return place_of(node); });
      return step;
    }
    KernelStep kernel{item.kernel, item.teams, {}};
    for (const Binding& binding : item.bindings) {
      if (binding.kind == Binding::Kind::tensor)
        kernel.arguments.emplace_back(place_of(*binding.node));
      else if (binding.kind == Binding::Kind::constant)
        kernel.arguments.emplace_back(ConstantSource{binding.value, binding.type});
      else
        kernel.arguments.emplace_back(NumberSource{number_index_.at(binding.node),
                                                   binding.kind == Binding::Kind::number_imag,
                                                   compute_type(binding.node->type)});
    }
    step.work = std::move(kernel);
    return step;
  }

  Device& device_;
  std::vector<Tensor> roots_, kept_;
  Target target_;
  std::vector<const Node*> nodes_;
  std::unordered_set<const Node*> inputs_, outputs_;
  std::unordered_map<const Node*, uint32_t> input_index_, number_index_;
  std::unordered_map<const Node*, Location> output_places_, arena_;
};

}  // namespace

std::vector<Tensor> simplified(std::span<const Tensor> roots, const Target& target) {
  return simplify(roots, [&](const Node& node, const std::vector<Tensor>& operands) {
    if (node.op == Op::conv) return conv_on(node, operands, target);
    if (graph::is_fourier(node.op)) return fft_on(node, operands, target);
    if (node.op == Op::attention && has_attention_kernel(node, target)) return Tensor();
    const bool is_argument = node.op == Op::argmax || node.op == Op::argmin;
    if (is_argument && !target.gpu && !target.in_round)
      if (Tensor found = lower::argument_by_blocks(node, operands[0])) return found;
    return lowered(node, operands);
  });
}

std::shared_ptr<const Executable> compile(Device& device, std::span<const Tensor> roots,
                                          std::span<const Tensor> inputs, std::span<const Tensor> numbers,
                                          const Watcher& watcher, std::vector<kernel::Program>* programs) {
  return Compiler(device, roots, inputs, numbers).make(watcher, programs);
}

}  // namespace adit::compile
