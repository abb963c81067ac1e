#include "sample/settle.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <future>
#include <thread>

#include "density/digest.hpp"
#include "sample/candidates.hpp"
#include "sample/layout_text.hpp"
#include "sample/loop_memory.hpp"
#include "sample/options.hpp"
#include "sample/trial.hpp"
#include "source_stamp.hpp"
#include "support/cache.hpp"
#include "support/log.hpp"
#include "support/threads.hpp"

namespace adit::sampling {

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* folder = "layouts";  // of the cache
constexpr size_t most_timed = 4;
// Estimates that differ by more than this are believed: they are off by up to a factor of two or so
// (bench/layouts_bench).
constexpr double close = 3;
// Seconds: of a trial, and from the beginning until which another kernel is waited for. A first draw with
// empty caches comes within 1.5.
constexpr double trial_seconds = 0.006, longest_wait = 1.0;
// The engine of tensors compiles several kernels, and nothing of it ahead: not begun after so long.
constexpr double latest_engine = 0.5;
// Instructions of a kernel that is compiled by then (some 80 us each on a Neoverse-V1, 300 by the driver of
// an H200): a longer one would only keep the process from ending.
constexpr size_t longest_ahead = 10000, longest_ahead_of_gpu = 4000;
constexpr int turns = 3;          // that a trial goes by
constexpr double clearly = 1.03;  // faster than the one before: else the estimate stands

// All that decides between layouts, or that the text of one depends on.
std::string key_of(const stats::ModelState& model, NumberTypes numbers, const SampleOptions& options,
                   int64_t sets, const Device& device) {
  const DeviceInfo& info = device.info();
  return fmt::format("{} {} {} chains {} sets {} metric {} depth {} adapt {}\n{}\n{}\n{}\n{}", source_stamp,
                     digest_of(density_for(model, numbers, options.chains * sets, device)),
                     name_of(numbers.type, numbers.wide), options.chains, sets,
                     static_cast<int>(options.metric), options.max_depth, static_cast<int>(options.adapt),
                     info.name, info.driver, info.id, device.limits().processors);
}

std::string load(const std::string& key) {
  const auto payload = cache::load(folder, key);
  if (!payload) return "";
  return {reinterpret_cast<const char*>(payload->data()), payload->size()};
}

// Of a layout that a trial could take; a kernel's compilation begins at once, beside the caller's own.
struct Contender {
  Choice choice;
  Forced forced;
  std::future<void> compiled;
  std::unique_ptr<Run> run;
  std::string layout;
  double pace = 0;
};

// Nobody waits for it but those who wish to: a thread that comes too late leaves its kernel in the cache.
std::future<void> compile_ahead(kernel::Program program, std::shared_ptr<Device> device) {
  auto done = std::make_shared<std::promise<void>>();
  std::future<void> result = done->get_future();
  std::thread([done, program = std::move(program), device = std::move(device)]() mutable {
    try {
      device->compile(program);
    } catch (const Error&) {  // its trial will meet it
    }
    device.reset();
    done->set_value();
  }).detach();
  return result;
}

Clock::time_point after(Clock::time_point begin, double seconds) {
  return begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

uint32_t rounds_of_a_dispatch(const Candidate& candidate) {
  return static_cast<uint32_t>(std::clamp(trial_seconds / turns * 1e6 / candidate.microseconds, 32.0, 256.0));
}

class Settling {
 public:
  Settling(const stats::ModelState& model, const SampleOptions& options, const std::vector<DataSet>& sets,
           const std::shared_ptr<Device>& device, Clock::time_point begin)
      : model_(model),
        options_(options),
        sets_(sets),
        device_(device),
        deadline_(after(begin, longest_wait)),
        latest_engine_(after(begin, latest_engine)),
        chains_(options.chains * std::ssize(sets)) {}

  // All of them in turns, there and back: a device that waited for the compiler wakes up meanwhile (a GPU's
  // clock for 0.2 s), and the last one would look fastest each time.
  std::string fastest(const std::vector<Candidate>& close_ones) {
    std::vector<Contender> contenders = contenders_of(close_ones);
    for (Contender& each : contenders)
      if (&each == &contenders[0] || is_ready(each)) open(each, &each == &contenders[0]);
    for (int turn = 0; turn < turns; ++turn)
      for (size_t i = 0; i < contenders.size(); ++i)
        go_on(contenders[turn % 2 == 0 ? i : contenders.size() - 1 - i]);
    const Contender* best = &contenders[0];
    for (const Contender& each : contenders) {
      if (each.run) log_debug("[sample] layout {}: {:.4g} leapfrogs a second", each.layout, each.pace);
      if (each.pace > clearly * best->pace) best = &each;
    }
    return best->layout;
  }

 private:
  // Teams of a GPU also with half and twice as many lanes, which no estimate tells apart.
  std::vector<Contender> contenders_of(const std::vector<Candidate>& close_ones) {
    std::vector<Contender> all;
    const Density density =
        density_for(model_, {close_ones[0].choice.type, close_ones[0].choice.wide}, chains_, *device_);
    for (const Candidate& each : close_ones) {
      const uint32_t lanes = add(density, each, 0, all);
      const bool is_team = each.choice.by_team && !each.choice.outside && !each.choice.on_cpu;
      if (!is_team || &each != &close_ones[0]) continue;
      for (const uint32_t other : {lanes * 2, lanes / 2})
        if (other >= 32 && other <= std::min(256u, device_->limits().max_lanes))
          add(density, each, other, all);
    }
    return all;
  }

  // The lanes of it.
  uint32_t add(const Density& density, const Candidate& candidate, uint32_t lanes,
               std::vector<Contender>& all) {
    const Choice& choice = candidate.choice;
    if (choice.outside && choice.on_cpu && !all.empty()) return 0;  // a CPU's never was the fastest
    // No more at once than there are threads to compile them.
    if (all.size() >= std::clamp<size_t>(thread_count(), 2, most_timed)) return 0;
    Forced forced;
    forced.lanes = lanes;
    forced.budget = rounds_of_a_dispatch(candidate);
    auto [schedule, shape] =
        plan_kernel(density, options_, chains_, std::ssize(sets_), choice, *device_, forced);
    std::future<void> compiled;
    if (!choice.outside && !all.empty()) {
      kernel::Program program =
          make_nuts_kernel(density, schedule, options_.metric, options_.max_depth, shape).program;
      const size_t longest = choice.on_cpu ? longest_ahead : longest_ahead_of_gpu;
      if (program.instructions.size() > longest) return shape.lanes;
      compiled = compile_ahead(std::move(program), device_);
    }
    all.push_back(Contender{choice, forced, std::move(compiled), nullptr, {}});
    return shape.lanes;
  }

  bool is_ready(const Contender& each) const {
    if (!each.compiled.valid()) return Clock::now() < latest_engine_;
    return each.compiled.wait_until(deadline_) == std::future_status::ready;
  }

  // What does not run here is out, unless it is the one that would run anyway.
  void open(Contender& each, bool must_run) {
    try {
      each.run = std::make_unique<Run>(model_, options_, each.choice, sets_, device_, each.forced);
      prepare_start(*each.run, model_, options_);
      each.layout = each.run->layout();
    } catch (const Error& error) {
      if (must_run) throw;
      log_debug("[sample] a layout is left out: {}", error.what());
      each.run.reset();
    }
  }

  void go_on(Contender& each) {
    if (!each.run || (each.pace > 0 && Clock::now() > deadline_)) return;
    const int64_t last = options_.warmup + options_.draws * options_.thin;
    const int64_t limit = std::min(last, each.run->saved_from() + each.run->ring() * options_.thin);
    each.pace = std::max(each.pace, pace_of(*each.run, limit, trial_seconds / turns, *device_));
  }

  const stats::ModelState& model_;
  const SampleOptions& options_;
  const std::vector<DataSet>& sets_;
  std::shared_ptr<Device> device_;
  Clock::time_point deadline_, latest_engine_;
  int64_t chains_;
};

// Several runs of these chains at once are no trouble.
bool has_room(const stats::ModelState& model, int64_t chains, const Device& device) {
  constexpr uint64_t numbers = 64;  // of a chain, for each of its position: the tree's stack, most of all
  return static_cast<uint64_t>(chains) * static_cast<uint64_t>(model.size) * numbers * 8 * most_timed <=
         device.info().memory_bytes / 4;
}

bool can_keep() { return cache::directory() && !cache::unusable(); }

}  // namespace

std::string kept_layout(const stats::ModelState& model, const SampleOptions& options, int64_t sets,
                        const Device& device) {
  if (!can_keep()) return "";
  return load(key_of(model, numbers_of(model, options, device), options, sets, device));
}

std::string settled_layout(const stats::ModelState& model, const SampleOptions& options,
                           const std::vector<DataSet>& sets, const std::shared_ptr<Device>& device,
                           Clock::time_point begin) {
  // A software device takes seconds to compile what it runs for milliseconds.
  if (!can_keep() || device->info().kind == DeviceKind::software) return "";
  const NumberTypes numbers = numbers_of(model, options, *device);
  const std::string key = key_of(model, numbers, options, std::ssize(sets), *device);
  if (const std::string kept = load(key); !kept.empty()) return kept;
  const int64_t chains = options.chains * std::ssize(sets);
  std::vector<Candidate> all = candidates(model, numbers, chains, *device);
  if (is_short(all[0], options) || !has_room(model, chains, *device)) return "";
  const double most = close * std::max(all[0].microseconds, least_microseconds);
  std::erase_if(all, [&](const Candidate& each) { return each.microseconds > most; });
  const bool has_widths = all[0].choice.by_team && !all[0].choice.outside && !all[0].choice.on_cpu;
  if (all.size() < 2 && !has_widths) return "";
  const std::string best = Settling(model, options, sets, device, begin).fastest(all);
  // Of two processes that timed it at once, the first one's is kept, and is what both take.
  if (const std::string kept = load(key); !kept.empty()) return kept;
  cache::save(folder, key, std::as_bytes(std::span(best)));
  return best;
}

}  // namespace adit::sampling
