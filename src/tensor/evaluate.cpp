#include "tensor/evaluate.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <unordered_map>
#include <unordered_set>

#include "compile/compile.hpp"
#include "compile/stored.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "support/code_memory.hpp"
#include "support/near.hpp"
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

SpinLock& executables_mutex() {
  static SpinLock lock;
  return lock;
}

Executables& executables() {
  static Executables& known = *new Executables(code_memory());
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

namespace {

// A device that was closed and opened again has other kernels: each opening has a word of its own.
uint64_t word_of(const Device& device) {
  static std::mutex mutex;
  static auto& words = *new std::map<std::weak_ptr<const Device>, uint64_t, std::owner_less<>>;
  const std::lock_guard lock(mutex);
  return words.try_emplace(device.weak_from_this(), words.size() + 1).first->second;
}

}  // namespace

uint64_t device_word(const Device& device) {
  // The last one that this thread asked of. While that is alive no other device has its address.
  struct Last {
    const Device* device = nullptr;
    std::weak_ptr<const Device> alive;
    uint64_t word = 0;
  };
  thread_local Last last;
  if (last.device == &device && !last.alive.expired()) return last.word;
  last = {&device, device.weak_from_this(), word_of(device)};
  return last.word;
}

std::shared_ptr<Device> device_of(std::span<const Tensor> roots) {
  const std::shared_ptr<Device>* device = nullptr;
  for (const Tensor& root : roots) {
    const auto& mine = graph::home_of(graph::node_of(root));
    if (!mine || (device && mine == *device)) continue;
    if (device)
      graph::fail("eval", "tensors",
                  fmt::format("expected tensors of one device, got {} and {}", (*device)->info().id,
                              mine->info().id));
    device = &mine;
  }
  return near(device ? *device : default_device());
}

std::vector<graph::Literal> number_values(std::span<const Tensor> numbers) {
  std::vector<graph::Literal> values;
  for (const Tensor& x : numbers) values.push_back(graph::node_of(x).as<graph::Literal>());
  return values;
}

namespace {

// What a thread ran lately, as copies whose counts are its own. They are those of an era: something was let
// go of or made again since, and each is looked up anew.
struct Lately {
  SpinLock lock;
  uint64_t era = 0;
  Executables known{64};
};
PerThread<Lately>& lately() {
  static auto& all = *new PerThread<Lately>;
  return all;
}

}  // namespace

std::shared_ptr<const compile::Executable> known_executable(const compile::Key& key) {
  Lately& mine = lately().mine();
  {
    const std::lock_guard lock(mine.lock);
    if (mine.era == executables().losses())
      if (const auto* known = mine.known.find(key)) return *known;
  }
  std::shared_ptr<const compile::Executable> found;
  uint64_t era = 0;
  {
    const std::lock_guard lock(executables_mutex());
    era = executables().losses();
    const auto* known = executables().find(key);
    if (!known) return nullptr;
    found = *known;
  }
  const std::lock_guard lock(mine.lock);
  if (mine.era != era) mine.known.clear();
  mine.era = era;
  auto copy = std::shared_ptr<const compile::Executable>(found.get(), [found](const auto*) {});
  mine.known.insert(key, copy);
  return copy;
}

Recipe::Recipe(std::shared_ptr<Device> device, std::span<const Tensor> roots,
               const compile::Structure& structure)
    : device_(std::move(device)), key_(structure.key) {
  if (structure.places.size() >= compile::least_stored_nodes)
    // The key on disk leaves out which opening of the device it is.
    stored_ = compile::stored_name(*device_, compile::describe(roots, 0).key);
  std::unordered_map<const Node*, Tensor> copies;
  std::vector<Tensor> list;
  for (const compile::Structure::Place& place : structure.places) {
    const Node& node = graph::node_of(place.node);
    const bool leaf = place.computed || node.op == Op::input;
    std::vector<Tensor> operands;
    for (uint32_t i = 0; !leaf && i < place.operand_count; ++i)
      operands.push_back(list[structure.operands[place.first_operand + i]]);
    list.push_back(
        leaf ? graph::placeholder(node.type, node.shape)
             : graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes));
    if (leaf) graph::node_of(list.back()).device = graph::home_of(node);
    copies[&node] = list.back();
  }
  for (const Tensor& x : roots) roots_.push_back(copies.at(&graph::node_of(x)));
  for (const Tensor& x : structure.inputs) inputs_.push_back(copies.at(&graph::node_of(x)));
  for (const Tensor& x : structure.numbers) numbers_.push_back(copies.at(&graph::node_of(x)));
}

std::shared_ptr<const compile::Executable> Recipe::make() const {
  const process_end::Visit visit;
  visit.expect();
  auto made =
      stored_.empty() ? nullptr : compile::load_stored(*device_, stored_, inputs_.size(), numbers_.size());
  if (!made) {
    std::vector<kernel::Program> programs;
    made = compile::compile(*device_, roots_, inputs_, numbers_, {}, stored_.empty() ? nullptr : &programs);
    if (!stored_.empty()) compile::save_stored(stored_, *made, programs, inputs_.size(), numbers_.size());
  }
  const uint64_t bytes = made->bytes();
  std::vector<std::shared_ptr<const compile::Executable>> gone;  // ends without the lock
  const std::lock_guard lock(executables_mutex());
  executables().insert(key_, made, bytes, gone);
  return made;
}

std::vector<Tensor> set_storage(const Tensor& x, const std::shared_ptr<Device>& device,
                                const Buffer& buffer) {
  Node& node = graph::node_of(x);
  auto storage = std::make_shared<const graph::Storage>(graph::Storage{device, buffer});
  std::vector<Tensor> operands;
  const graph::NodeLock lock(node);
  if (node.computed) return operands;
  node.storage = std::move(storage);
  node.computed = true;  // from now on other threads look at the storage
  if (!graph::Tracing::active()) operands.swap(node.operands);
  return operands;
}

namespace {

// What threads that wait for others look at. Whose nodes nobody waits for has nothing to do with it.
struct Underway {
  std::mutex mutex;
  std::set<compile::Key> keys;  // of structures that some thread compiles
  std::condition_variable news;
  uint64_t finished = 0;        // how often news came
  std::atomic<int> waiting{0};  // threads that want news
};
Underway& underway() {
  static Underway& value = *new Underway;
  return value;
}

// Whether a device is open for these: opening one takes its time.
bool has_device(std::span<const Tensor> roots) {
  for (const Tensor& root : roots)
    if (graph::home_of(graph::node_of(root))) return true;
  const std::lock_guard lock(defaults().mutex);
  return defaults().device && !defaults().device->lost();
}

// All that a run needs of the graph. While it lives its roots are underway.
class Task {
 public:
  // Nothing when a node of the graph is underway elsewhere, or its structure is being compiled: nobody does
  // twice what one is doing. Nothing as well where its last run took longer than `most_seconds`, or there was
  // none.
  static std::unique_ptr<Task> of(std::vector<Tensor> roots,
                                  double most_seconds = std::numeric_limits<double>::infinity()) {
    const bool quickly = most_seconds < std::numeric_limits<double>::infinity();
    if (quickly && !has_device(roots)) return nullptr;
    auto task = std::unique_ptr<Task>(new Task);
    task->device_ = device_of(roots);
    const compile::Structure structure = compile::describe(roots, device_word(*task->device_));
    task->executable_ = known_executable(structure.key);
    if (quickly && (!task->executable_ || task->executable_->expected_seconds() > most_seconds))
      return nullptr;
    for (const Tensor& x : structure.inputs) {
      if (!graph::node_of(x).computed)
        graph::fail("eval", "tensor",
                    "expected a value, got a placeholder of a function that is being traced");
      task->inputs_.push_back(graph::node_of(x).storage->buffer);
    }
    task->numbers_ = number_values(structure.numbers);
    if (!task->begin(roots, structure)) return nullptr;
    if (task->compiles_) task->recipe_.emplace(task->device_, roots, structure);
    return task;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  // Either a thread that waits sees that the nodes are free, or this one sees that it waits.
  ~Task() {
    if (roots_.empty()) return;  // it never began
    for (const Tensor& root : roots_) graph::node_of(root).underway = false;
    Underway& all = underway();
    if (!compiles_ && all.waiting == 0) return;
    const std::lock_guard lock(all.mutex);
    if (compiles_) all.keys.erase(key_);
    ++all.finished;
    all.news.notify_all();
  }

  void prepare() {
    if (recipe_) executable_ = recipe_->make();
  }
  // Others describe, compile and compute meanwhile.
  void run() {
    prepare();
    const std::vector<Buffer> results = executable_->run(*device_, inputs_, numbers_);
    std::vector<std::vector<Tensor>> let_go;  // a long chain may hang on them: outside of the lock
    const std::shared_lock lock(graph::graph_lock());
    for (size_t i = 0; i < results.size(); ++i) let_go.push_back(set_storage(roots_[i], device_, results[i]));
  }

 private:
  Task() = default;

  // Whether what was described still is to be done, and nobody does it.
  bool begin(const std::vector<Tensor>& roots, const compile::Structure& structure) {
    // Who sees that another thread is at it claims nothing: letting go of it would wake those who wait,
    // itself among them.
    if (is_underway(structure)) return false;
    roots_.reserve(roots.size());
    for (const Tensor& root : roots) {
      if (graph::node_of(root).underway.exchange(true)) return false;
      roots_.push_back(root);
    }
    size_t underway = 0;  // of the graph's nodes: no more than these roots
    for (const auto& place : structure.places) {
      if (place.computed) continue;
      const Node& node = graph::node_of(place.node);
      if (node.computed) return false;
      underway += node.underway ? 1 : 0;
    }
    return underway == roots.size() && (executable_ || begin_to_compile(structure.key));
  }

  bool is_underway(const compile::Structure& structure) const {
    for (const auto& place : structure.places)
      if (!place.computed && graph::node_of(place.node).underway) return true;
    if (executable_) return false;
    const std::lock_guard lock(underway().mutex);
    return underway().keys.contains(structure.key);
  }

  bool begin_to_compile(const compile::Key& key) {
    Underway& all = underway();
    const std::lock_guard lock(all.mutex);
    executable_ = known_executable(key);  // another thread may have made it meanwhile
    if (executable_) return true;
    compiles_ = all.keys.insert(key).second;
    key_ = key;
    return compiles_;
  }

  std::vector<Tensor> roots_;
  compile::Key key_{};
  bool compiles_ = false;
  std::shared_ptr<Device> device_;
  std::optional<Recipe> recipe_;
  std::shared_ptr<const compile::Executable> executable_;
  std::vector<Buffer> inputs_;
  std::vector<graph::Literal> numbers_;
};

// Each once.
std::vector<Tensor> not_computed(std::span<const Tensor> tensors) {
  std::vector<Tensor> roots;
  for (const Tensor& x : tensors) {
    if (!x) graph::fail("eval", "tensor", "expected a tensor, got none");
    if (!graph::node_of(x).computed) roots.push_back(x);
  }
  if (roots.size() < 2) return roots;
  std::unordered_set<const Node*> seen;
  std::erase_if(roots, [&](const Tensor& x) { return !seen.insert(&graph::node_of(x)).second; });
  return roots;
}

}  // namespace

namespace {

// What there is to do for these: nothing where all is computed. No task: another thread is at something that
// they need, or it would take longer than `most_seconds`.
struct Wanted {
  bool is_done = false;
  std::unique_ptr<Task> task{};
};
Wanted wanted(std::span<const Tensor> tensors,
              double most_seconds = std::numeric_limits<double>::infinity()) {
  const process_end::Visit visit;
  visit.expect();
  std::vector<Tensor> roots = not_computed(tensors);
  if (roots.empty()) return {.is_done = true};
  return {.task = Task::of(std::move(roots), most_seconds)};
}

// False: not now.
bool try_eval(std::span<const Tensor> tensors,
              double most_seconds = std::numeric_limits<double>::infinity()) {
  const Wanted what = wanted(tensors, most_seconds);
  if (what.task) what.task->run();
  return what.is_done || what.task;
}

// While one lives, this thread hears when others finish.
struct Waiting {
  Waiting() { ++underway().waiting; }
  ~Waiting() { --underway().waiting; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
};

}  // namespace

void eval(std::span<const Tensor> tensors) {
  if (try_eval(tensors)) return;
  const Waiting waiting;
  for (;;) {
    uint64_t seen = 0;
    {
      const std::lock_guard lock(underway().mutex);
      seen = underway().finished;
    }
    if (try_eval(tensors)) return;
    std::unique_lock lock(underway().mutex);
    underway().news.wait(lock, [&] { return underway().finished != seen; });
  }
}

bool eval_quickly(std::span<const Tensor> tensors, double most_seconds) {
  return try_eval(tensors, most_seconds);
}

void prepare(std::span<const Tensor> tensors) {
  if (const Wanted what = wanted(tensors); what.task) what.task->prepare();
}

}  // namespace adit
