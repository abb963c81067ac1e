// Speed of the sampler on the models that people write (bench/models).
//
//   models_bench [--model NAME]... [--chains N] [--warmup N] [--draws N] [--seed N] [--device ID]
//                [--precision f64|mixed|f32|auto] [--placement auto|lane|team|device] [--layout TEXT]
//                [--max-depth N] [--json]
//   models_bench --list              the names
//   models_bench --data FOLDER       writes NAME.json, which the twins read: models_rstan.R,
//   models_numpyro.py
//   models_bench --check FOLDER      writes NAME.check.json: log densities and gradients at three points
//
// Leapfrogs are those of all chains, warm-up included. The effective sample size is the smallest bulk one of
// all variables on the constrained scale; past 64 chains it is that of the first 64, scaled. ADIT_CACHE= in
// the environment turns the cache of kernels off, and the time to the first draw is that of a new model.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <vector>

#include <adit/diagnostics.hpp>
#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "models/models.hpp"

namespace {

using namespace adit;
using namespace adit::bench;
using Clock = std::chrono::steady_clock;

double since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }  // of all threads

struct Wish {
  std::vector<std::string> models;
  SampleOptions options;
  std::string data_folder, check_folder;
  bool json = false, list = false;
};

Precision precision_of(const std::string& word) {
  if (word == "auto") return Precision::automatic;
  if (word == "f32") return Precision::f32;
  if (word == "f64") return Precision::f64;
  if (word == "mixed") return Precision::mixed;
  throw std::runtime_error(fmt::format("--precision: expected f64, mixed, f32 or auto, got {}", word));
}

Placement placement_of(const std::string& word) {
  if (word == "auto") return Placement::automatic;
  if (word == "lane") return Placement::lane;
  if (word == "team") return Placement::team;
  if (word == "device") return Placement::device;
  throw std::runtime_error(fmt::format("--placement: expected auto, lane, team or device, got {}", word));
}

Wish parse(int count, char** words) {
  Wish wish;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--json" || word == "--list") {
      (word == "--json" ? wish.json : wish.list) = true;
      continue;
    }
    if (i + 1 == count) throw std::runtime_error(fmt::format("{}: unknown, or without its value", word));
    const std::string value = words[++i];
    if (word == "--model")
      wish.models.push_back(value);
    else if (word == "--chains")
      wish.options.chains = std::stol(value);
    else if (word == "--warmup")
      wish.options.warmup = std::stol(value);
    else if (word == "--draws")
      wish.options.draws = std::stol(value);
    else if (word == "--seed")
      wish.options.seed = std::stoul(value);
    else if (word == "--device")
      wish.options.device = value;
    else if (word == "--precision")
      wish.options.precision = precision_of(value);
    else if (word == "--placement")
      wish.options.placement = placement_of(value);
    else if (word == "--layout")
      wish.options.layout = value;
    else if (word == "--max-depth")
      wish.options.max_depth = static_cast<int>(std::stol(value));
    else if (word == "--data")
      wish.data_folder = value;
    else if (word == "--check")
      wish.check_folder = value;
    else
      throw std::runtime_error(fmt::format("{}: unknown", word));
  }
  return wish;
}

struct Quality {
  double ess = INFINITY, r_hat = 0;
};

// Elements that never change, such as the upper half of a Cholesky factor, have no effective size.
Quality quality_of(const Draws& draws) {
  const int64_t used = std::min<int64_t>(draws.chains, 64);
  Quality quality;
  for (const DrawsVariable& variable : draws.variables)
    for (int64_t i = 0; i < variable.size(); ++i) {
      std::vector<double> column = element_draws(draws, variable, i);
      column.resize(static_cast<size_t>(used * draws.draws));
      const auto [least, most] = std::minmax_element(column.begin(), column.end());
      if (*least == *most) continue;
      quality.ess = std::min(quality.ess, ess_bulk({column, used}));
      quality.r_hat = std::max(quality.r_hat, r_hat({column, used}));
    }
  quality.ess *= static_cast<double>(draws.chains) / static_cast<double>(used);
  return quality;
}

void measure(const BenchModel& each, const Wish& wish) {
  const Data data = each.data();
  const auto begin = Clock::now();
  const Model model = each.model(data);
  const double built = since(begin);
  // Processor time of warm-up and draws: should_stop is first asked when all is compiled. On a machine that
  // others use too it says more than the clock on the wall.
  SampleOptions options = wish.options;
  double before = -1, after = 0;
  options.should_stop = [&] {
    if (before < 0) before = processor_seconds();
    return false;
  };
  options.on_progress = [&](const Progress&) { after = processor_seconds(); };
  const Draws draws = sample(model, options);
  const Seconds& spent = draws.seconds;
  const Quality quality = quality_of(draws);
  const double first = built + spent.open + spent.compile, both = spent.warmup + spent.sampling;
  const double pace = static_cast<double>(draws.leapfrogs) / both;
  if (wish.json) {
    fmt::print(R"({{"engine": "adit", "model": "{}", "rows": {}, "size": {}, "factorises": {}, )", each.name,
               each.rows, model.size(), each.has_factorisation);
    fmt::print(R"("device": "{}", "precision": "{}", "chains": {}, "warmup": {}, "draws": {}, )",
               draws.device, draws.precision, draws.chains, draws.warmup, draws.draws);
    fmt::print(R"("first_draw_s": {:.3f}, "warmup_s": {:.4f}, "sampling_s": {:.4f}, "processor_s": {:.3f}, )",
               first, spent.warmup, spent.sampling, after - before);
    fmt::print(R"("leapfrogs": {}, "leapfrogs_per_s": {:.1f}, "ess": {:.1f}, "ess_per_s": {:.3f}, )",
               draws.leapfrogs, pace, quality.ess, quality.ess / both);
    fmt::print(R"("ess_per_s_sampling": {:.3f}, "r_hat": {:.4f}, "divergences": {}, "layout": "{}", )",
               quality.ess / spent.sampling, quality.r_hat, draws.divergences(), draws.layout);
    fmt::print(R"("energy_error": {:.3g}}})", draws.energy_error);
    fmt::print("\n");
  } else {
    fmt::print("{:<22} {:>7.2f} {:>8.2f} {:>8.2f} {:>11.0f} {:>8.0f} {:>9.1f} {:>9.1f} {:>6.3f} {:>5}\n",
               each.name, first, spent.warmup, spent.sampling, pace, quality.ess, quality.ess / both,
               quality.ess / spent.sampling, quality.r_hat, draws.divergences());
  }
}

void print_refusal(const BenchModel& each, const std::string& reason, bool json) {
  if (!json) {
    fmt::print("{:<22} {}\n", each.name, reason);
    return;
  }
  std::string quoted;
  for (const char c : reason) quoted += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  fmt::print("{{\"engine\": \"adit\", \"model\": \"{}\", \"refused\": \"{}\"}}\n", each.name, quoted);
}

// --- Log densities for the twins ---

std::string list_of(const std::vector<double>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

double furthest(const std::vector<double>& a, const std::vector<double>& b) {
  double most = 0, scale = 1;
  for (const double each : a) scale = std::max(scale, std::abs(each));
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most / scale;
}

// The same two of the sampler's kernel, which must agree: how far they are apart.
std::string kernel_words(const Model& model, const std::vector<double>& u, double density,
                         const std::vector<double>& gradient, const std::string& device) try {
  const Tensor still = zeros({model.size()}, DType::f64);
  const LeapfrogChain chain = leapfrog_chain(model, tensor(u), still, 1e-300, 1, {}, device);
  const double by_kernel = reshape(chain.log_densities, {}).item<double>();
  return fmt::format("{:.1e}, gradient {:.1e}",
                     std::abs(by_kernel - density) / std::max(1.0, std::abs(density)),
                     furthest(gradient, flatten(chain.gradients).to_vector<double>()));
} catch (const Error& error) {
  return error.what();
}

void check(const BenchModel& each, const Wish& wish) {
  const Model model = each.model(each.data());
  const auto density = [&](Tensor u) { return model.log_density(u); };
  std::string text;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    Source source(seed);
    std::vector<double> u;
    for (int64_t i = 0; i < model.size(); ++i) u.push_back(rounded(source.uniform() * 2 - 1));
    const double value = density(tensor(u)).item<double>();
    const std::vector<double> slope = grad(density)(tensor(u)).to_vector<double>();
    text += fmt::format("{}{{\"point\": {}, \"log_density\": {}, \"gradient\": {}}}", seed > 1 ? ",\n" : "[",
                        list_of(u), value, list_of(slope));
    if (seed == 1)
      fmt::print("{:<22} kernel off by {}\n", each.name,
                 kernel_words(model, u, value, slope, wish.options.device));
  }
  const std::string path = wish.check_folder + "/" + each.name + ".check.json";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be written", path));
  fmt::print(file, "{}]\n", text);
  std::fclose(file);
}

void handle(const BenchModel& each, const Wish& wish) {
  if (wish.list)
    fmt::print("{}\n", each.name);
  else if (!wish.data_folder.empty())
    each.data().write(wish.data_folder + "/" + each.name + ".json");
  else if (!wish.check_folder.empty())
    check(each, wish);
  else
    try {
      measure(each, wish);
    } catch (const Error& error) {
      print_refusal(each, error.what(), wish.json);
    }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) try {
  const Wish wish = parse(count, words);
  const std::vector<BenchModel> all = all_models();
  for (const std::string& name : wish.models)
    if (std::none_of(all.begin(), all.end(), [&](const BenchModel& each) { return each.name == name; }))
      throw std::runtime_error(fmt::format("--model: expected a name of --list, got {}", name));
  const bool is_table = !wish.json && !wish.list && wish.data_folder.empty() && wish.check_folder.empty();
  if (is_table)
    fmt::print("{:<22} {:>7} {:>8} {:>8} {:>11} {:>8} {:>9} {:>9} {:>6} {:>5}\n", "model", "first s",
               "warmup s", "draws s", "leapfrogs/s", "min ESS", "ESS/s", "ESS/s dr.", "R_hat", "div.");
  for (const BenchModel& each : all)
    if (wish.models.empty() || std::count(wish.models.begin(), wish.models.end(), each.name))
      handle(each, wish);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "models_bench: {}\n", error.what());
  return 1;
}
