// Whether the sampler chooses well: the pace of the layout that it takes beside those of others that it
// could.
//
//   layouts_bench [--device ID] [--precision f64|f32|auto] [--chains N,N...] [--model NAME]... [--random A:B]
//                 [--layouts TEXT,TEXT...] [--seconds S] [--threads N] [--clock wall|processor] [--settle 1]
//
// For each model and number of chains a line of JSON: the paces by layout in leapfrogs a second, the one that
// is chosen, and by how much the best is faster. Models are those of bench/models and random ones of the
// fuzzer, seeds A to B. All kernels are compiled first, by so many threads; then one run goes at a time.
// --settle 1: the choice is a long run's, which times what is close (with an empty ADIT_CACHE). Where others
// use a CPU too, ADIT_THREADS=1 and processor time say more.
#include <algorithm>
#include <atomic>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <thread>

#include <adit/adit.hpp>
#include <adit/sample_plan.hpp>

#include "../tests/sampling/random_model.hpp"
#include "models/models.hpp"
#include "sample/layout_text.hpp"
#include "sample/settle.hpp"
#include "sample/trial.hpp"

namespace {

using namespace adit;
using namespace adit::sampling;

struct Wish {
  std::string device;
  Precision precision = Precision::automatic;
  std::vector<std::string> models, layouts;
  std::vector<int64_t> chains{1, 4, 64, 1024};
  uint64_t first_random = 1, last_random = 0;
  double seconds = 0.01;
  size_t threads = 2;
  double (*now)() = wall_seconds;
  bool settles = false;
};

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

Wish parse(int count, char** words) {
  Wish wish;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string word = words[i], value = words[i + 1];
    if (word == "--device")
      wish.device = value;
    else if (word == "--precision")
      wish.precision = value == "f64"   ? Precision::f64
                       : value == "f32" ? Precision::f32
                                        : Precision::automatic;
    else if (word == "--model")
      wish.models.push_back(value);
    else if (word == "--layouts")
      wish.layouts = parts_of(value);
    else if (word == "--seconds")
      wish.seconds = std::stod(value);
    else if (word == "--settle")
      wish.settles = value == "1";
    else if (word == "--clock")
      wish.now = value == "wall" ? wall_seconds : processor_seconds;
    else if (word == "--threads")
      wish.threads = std::stoul(value);
    else if (word == "--random") {
      wish.first_random = std::stoul(value);
      wish.last_random = std::stoul(value.substr(value.find(':') + 1));
    } else if (word == "--chains") {
      wish.chains.clear();
      for (const std::string& part : parts_of(value)) wish.chains.push_back(std::stol(part));
    } else
      throw std::runtime_error(fmt::format("{}: unknown", word));
  }
  return wish;
}

// One run to be timed.
struct Trial {
  size_t model = 0;
  int64_t chains = 0;
  std::string asked, told, error;
  double pace = 0, compile = 0, settled = 0;
};

SampleOptions options_of(const Wish& wish, const Trial& trial) {
  SampleOptions options;
  options.chains = trial.chains;
  options.precision = wish.precision;
  options.max_depth = 6;
  options.warmup = options.draws = 1000;
  options.layout = trial.asked;
  return options;
}

// Lets `use` have the run of a trial; what it throws is noted.
template <class Use>
void with_run(const Wish& wish, const Model& model, Trial& trial, const std::shared_ptr<Device>& device,
              Use use) {
  try {
    SampleOptions options = options_of(wish, trial);
    const LayoutWish layout = layout_wish(options.layout);
    check_layout(layout, options.layout, *device);
    if (layout.placement != Placement::automatic) options.placement = layout.placement;
    const stats::ModelState& state = stats::state_of(model);
    const auto begin = std::chrono::steady_clock::now();
    const Choice choice = choose(state, options, options.chains, *device);
    Run run(state, options, choice, {DataSet{}}, device, layout.forced);
    trial.compile = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    trial.told = run.layout();
    use(run);
  } catch (const Error& error) {
    trial.error = error.what();
  }
}

// What a schedule counts.
std::string work_of(const Model& model, bool by_team, bool on_cpu) try {
  const Density density = make_density(stats::state_of(model), DType::f64);
  const Schedule schedule = make_schedule(density, by_team, on_cpu);
  double operations = 0;
  for (const Pass& pass : schedule.passes) operations += pass.cost * static_cast<double>(pass.count);
  return fmt::format(
      "{{\"work\": {}, \"serial\": {}, \"operations\": {:.0f}, \"passes\": {}, \"scratch\": {}}}",
      schedule.work, schedule.serial, operations, schedule.passes.size(), schedule.scratch);
} catch (const Error&) {
  return "null";
}

std::string text_of(const std::vector<Trial>& trials, const Model& model, const std::string& name,
                    int64_t chains, bool on_cpu) {
  const Trial& chosen = trials[0].pace > trials.back().pace ? trials[0] : trials.back();
  std::string paces;
  const Trial* best = &chosen;
  for (const Trial& each : trials) {
    if (each.pace > best->pace) best = &each;
    if (each.error.empty())
      paces += fmt::format("{}\"{}\": {:.0f}", paces.empty() ? "" : ", ", each.told, each.pace);
  }
  return fmt::format(
      "{{\"model\": \"{}\", \"chains\": {}, \"chosen\": \"{}\", \"pace\": {:.0f}, \"best\": \"{}\", "
      "\"ratio\": {:.2f}, \"compile\": {:.2f}, \"settle\": {:.3f}, \"size\": {}, \"lane\": {}, \"team\": {}, "
      "\"paces\": {{{}}}}}",
      name, chains, chosen.told, chosen.pace, best->told, best->pace / std::max(1.0, chosen.pace),
      chosen.compile, chosen.settled, model.size(), work_of(model, false, on_cpu),
      work_of(model, true, on_cpu), paces);
}

std::vector<std::pair<std::string, std::function<Model()>>> models_of(const Wish& wish) {
  std::vector<std::pair<std::string, std::function<Model()>>> models;
  for (const bench::BenchModel& each : bench::all_models())
    if (std::count(wish.models.begin(), wish.models.end(), each.name) ||
        (wish.models.empty() && wish.last_random == 0))
      models.emplace_back(each.name, [each] { return each.model(each.data()); });
  for (uint64_t seed = wish.first_random; seed <= wish.last_random; ++seed)
    models.emplace_back(fmt::format("random {}", seed), [seed] { return test::RandomModel(seed).make(); });
  return models;
}

void compile_all(const Wish& wish, const std::vector<std::pair<std::string, std::function<Model()>>>& models,
                 std::vector<Trial>& trials, const std::shared_ptr<Device>& device) {
  std::atomic<size_t> next = 0;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wish.threads; ++t)
    threads.emplace_back([&] {
      for (size_t i = next++; i < trials.size(); i = next++) {
        const Model model = models[trials[i].model].second();
        with_run(wish, model, trials[i], device, [](Run&) {});
      }
    });
  for (std::thread& each : threads) each.join();
}

void settle(const Wish& wish, const Model& model, Trial& trial, const std::shared_ptr<Device>& device) {
  const auto begin = std::chrono::steady_clock::now();
  trial.asked = settled_layout(stats::state_of(model), options_of(wish, trial), {DataSet{}}, device, begin);
  trial.settled = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void measure(const Wish& wish) {
  const auto models = models_of(wish);
  const std::shared_ptr<Device> device = Device::open(wish.device);
  std::vector<std::string> layouts{""};
  layouts.insert(layouts.end(), wish.layouts.begin(), wish.layouts.end());
  std::vector<Trial> trials;
  for (size_t m = 0; m < models.size(); ++m)
    for (const int64_t chains : wish.chains)
      for (const std::string& layout : layouts)
        trials.push_back({.model = m, .chains = chains, .asked = layout, .told = {}, .error = {}, .pace = 0});
  if (wish.threads > 0) compile_all(wish, models, trials, device);
  for (size_t i = 0; i < trials.size(); i += layouts.size()) {
    std::vector<Trial> group(trials.begin() + static_cast<int64_t>(i),
                             trials.begin() + static_cast<int64_t>(i + layouts.size()));
    const auto& [name, make] = models[group[0].model];
    const Model model = make();
    if (wish.settles) settle(wish, model, group[0], device);
    group.push_back(group[0]);  // once more: a device that compiled for long has to wake up
    for (Trial& each : group)
      if (each.error.empty())
        with_run(wish, model, each, device,
                 [&](Run& run) { each.pace = pace_of(run, 1000, wish.seconds, wish.now); });
    fmt::print("{}\n", text_of(group, model, name, group[0].chains, device->info().kind == DeviceKind::cpu));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** words) try {
  measure(parse(count, words));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "layouts_bench: {}\n", error.what());
  return 1;
}
