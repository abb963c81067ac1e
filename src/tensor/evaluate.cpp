#include "tensor/evaluate.hpp"

#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <unordered_set>

#include "compile/compile.hpp"
#include "compile/stored.hpp"
#include "graph/row.hpp"
#include "support/process_end.hpp"
#include "tensor/executables.hpp"

namespace adit {

using graph::Node;
using graph::Op;

namespace {

struct Defaults {
  std::mutex mutex;
  std::shared_ptr<Device> device;
};
Defaults& defaults() {
  static Defaults& value = *new Defaults;
  return value;
}

}  // namespace

Executables& executables() {
  static Executables& known = *new Executables(4096);
  return known;
}

std::shared_ptr<Device> default_device() {
  const process_end::Visit visit;
  visit.expect();
  const std::lock_guard lock(defaults().mutex);
  std::shared_ptr<Device>& device = defaults().device;
  if (!device)
    device = Device::open("");
  else if (device->lost())
    device = Device::open(device->info().id);
  return device;
}

void set_default_device(std::shared_ptr<Device> device) {
  const std::lock_guard lock(defaults().mutex);
  defaults().device = std::move(device);
}

// A device that was closed and opened again has other kernels: each opening has a word of its own.
uint64_t device_word(const Device& device) {
  static std::mutex mutex;
  static auto& words = *new std::map<std::weak_ptr<const Device>, uint64_t, std::owner_less<>>;
  const std::lock_guard lock(mutex);
  return words.try_emplace(device.weak_from_this(), words.size() + 1).first->second;
}

std::shared_ptr<Device> device_of(std::span<const Tensor> roots) {
  std::shared_ptr<Device> device;
  for (const Tensor& root : roots) {
    const auto& mine = graph::home_of(graph::node_of(root));
    if (!mine || mine == device) continue;
    if (device)
      graph::fail(
          "eval", "tensors",
          fmt::format("expected tensors of one device, got {} and {}", device->info().id, mine->info().id));
    device = mine;
  }
  return device ? device : default_device();
}

std::vector<graph::Literal> number_values(std::span<const Tensor> numbers) {
  std::vector<graph::Literal> values;
  for (const Tensor& x : numbers) values.push_back(graph::node_of(x).as<graph::Literal>());
  return values;
}

std::shared_ptr<const compile::Executable> find_executable(const std::shared_ptr<Device>& device,
                                                           std::span<const Tensor> roots,
                                                           const compile::Structure& structure) {
  if (const auto* known = executables().find(structure.key)) return *known;
  // The key on disk leaves out which opening of the device it is.
  const bool stores = structure.nodes.size() >= compile::least_stored_nodes;
  const size_t inputs = structure.inputs.size(), numbers = structure.numbers.size();
  const std::string name = stores ? compile::stored_name(*device, compile::describe(roots, 0).key) : "";
  auto made = stores ? compile::load_stored(*device, name, inputs, numbers) : nullptr;
  if (!made) {
    std::vector<kernel::Program> programs;
    made = compile::compile(*device, roots, structure.inputs, structure.numbers, {},
                            stores ? &programs : nullptr);
    if (stores) compile::save_stored(name, *made, programs, inputs, numbers);
  }
  executables().insert(structure.key, made);
  return made;
}

void set_storage(const Tensor& x, const std::shared_ptr<Device>& device, const Buffer& buffer) {
  Node& node = graph::node_of(x);
  node.storage = std::make_shared<const graph::Storage>(graph::Storage{device, buffer});
  node.computed = true;  // from now on other threads look at the storage
  if (!graph::Tracing::active()) node.operands.clear();
}

namespace {

// Nodes that some thread is computing, under the graph lock.
struct Underway {
  std::unordered_set<const Node*> nodes;
  std::condition_variable_any news;
  uint64_t finished = 0;  // how often news came
};
Underway& underway() {
  static Underway& value = *new Underway;
  return value;
}

// All that a run needs of the graph. While it lives its roots are underway.
class Task {
 public:
  // Nothing when a node of the graph is underway elsewhere: nobody computes twice what one is computing.
  static std::unique_ptr<Task> of(std::vector<Tensor> roots) {
    const std::shared_ptr<Device> device = device_of(roots);
    const compile::Structure structure = compile::describe(roots, device_word(*device));
    const auto& busy = underway().nodes;
    if (!busy.empty() && std::ranges::any_of(structure.nodes, [&](const Tensor& x) {
          return !graph::node_of(x).computed && busy.contains(&graph::node_of(x));
        }))
      return nullptr;
    std::vector<Buffer> inputs;
    for (const Tensor& x : structure.inputs) {
      if (!graph::node_of(x).computed)
        graph::fail("eval", "tensor",
                    "expected a value, got a placeholder of a function that is being traced");
      inputs.push_back(graph::node_of(x).storage->buffer);
    }
    auto executable = find_executable(device, roots, structure);
    return std::unique_ptr<Task>(new Task(std::move(roots), device, std::move(executable), std::move(inputs),
                                          number_values(structure.numbers)));
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    const std::lock_guard lock(graph::graph_lock());
    for (const Tensor& root : roots_) underway().nodes.erase(&graph::node_of(root));
    ++underway().finished;
    underway().news.notify_all();
  }

  // Without the lock: others describe, compile and compute meanwhile.
  void run() const {
    const std::vector<Buffer> results = executable_->run(*device_, inputs_, numbers_);
    const std::lock_guard lock(graph::graph_lock());
    for (size_t i = 0; i < roots_.size(); ++i)
      if (!graph::node_of(roots_[i]).computed) set_storage(roots_[i], device_, results[i]);
  }

 private:
  Task(std::vector<Tensor> roots, std::shared_ptr<Device> device,
       std::shared_ptr<const compile::Executable> executable, std::vector<Buffer> inputs,
       std::vector<graph::Literal> numbers)
      : roots_(std::move(roots)),
        device_(std::move(device)),
        executable_(std::move(executable)),
        inputs_(std::move(inputs)),
        numbers_(std::move(numbers)) {
    for (const Tensor& root : roots_) underway().nodes.insert(&graph::node_of(root));
  }

  std::vector<Tensor> roots_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const compile::Executable> executable_;
  std::vector<Buffer> inputs_;
  std::vector<graph::Literal> numbers_;
};

std::vector<Tensor> not_computed(std::span<const Tensor> tensors) {
  std::vector<Tensor> roots;
  for (const Tensor& x : tensors) {
    if (!x) graph::fail("eval", "tensor", "expected a tensor, got none");
    if (!graph::node_of(x).computed) roots.push_back(x);
  }
  return roots;
}

}  // namespace

void eval(std::span<const Tensor> tensors) {
  for (;;) {
    std::unique_ptr<const Task> task;
    uint64_t seen = 0;
    {
      const process_end::Visit visit;  // before the lock: no thread is stopped with it in hand
      visit.expect();
      const std::lock_guard lock(graph::graph_lock());
      std::vector<Tensor> roots = not_computed(tensors);
      if (roots.empty()) return;
      seen = underway().finished;
      task = Task::of(std::move(roots));
    }
    if (task) return task->run();
    std::unique_lock lock(graph::graph_lock());
    underway().news.wait(lock, [&] { return underway().finished != seen; });
  }
}

}  // namespace adit
