// Lowered programs against the plain interpreter of stan/: log density and gradient at random points.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

#include <adit/transform.hpp>

#include "stan/check.hpp"
#include "stan/evaluator.hpp"
#include "stan/interpreter.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "stan/signature.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> program_paths() {
  std::vector<std::string> paths;
  for (const char* folder : {ADIT_STAN_PROGRAMS, ADIT_STAN_EXAMPLES})
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".stan") paths.push_back(entry.path().string());
  if (const char* more = std::getenv("ADIT_STAN_PROGRAMS_TOO"))
    for (const auto& entry : fs::directory_iterator(more))
      if (entry.path().extension() == ".stan") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

struct Ready {
  Program program;
  std::string data;
};

Ready ready(const std::string& path) {
  Parsed parsed = parse(path, text_of(path));
  std::vector<Message> messages = std::move(parsed.messages);
  for (Message& message : check(parsed.program)) messages.push_back(std::move(message));
  for (const Message& message : messages)
    EXPECT_EQ(message.kind, Message::Kind::warning) << to_text(parsed.program.sources, message);
  const std::string data = text_of(path.substr(0, path.size() - 5) + ".json");
  return {std::move(parsed.program), data.empty() ? "{}" : data};
}

// Solvers of differential equations go by different steps; all else is exact arithmetic.
double bound_for(const Ready& one) {
  const std::string& text = one.program.sources[0].text;
  return text.find("ode_") == std::string::npos ? 1e-9 : 1e-4;
}

double difference(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double off = std::abs(a - b) / std::max(1.0, std::abs(b));
  return std::isfinite(off) ? off : HUGE_VAL;
}

class StanModel : public testing::TestWithParam<std::string> {
 protected:
  // ADIT_STAN_DEVICE=vulkan:0 tries all programs there; lavapipe would take hours.
  static void SetUpTestSuite() {
    const char* device = std::getenv("ADIT_STAN_DEVICE");
    set_default_device(Device::open(device ? device : "cpu"));
  }
};

TEST_P(StanModel, ValueAndGradientAreTheInterpreters) {
  const Ready one = ready(GetParam());
  if (HasFailure()) return;
  const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
  const reference::Interpreter interpreter(one.program, nlohmann::json::parse(one.data),
                                           reference::MatrixOrder::rows);
  ASSERT_EQ(lowered.model.size(), interpreter.size());
  const auto f = [&](const Tensor& u) { return lowered.model.log_density(u); };
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.5);
  const double bound = bound_for(one);
  for (int point = 0; point < 3; ++point) {
    std::vector<double> u(static_cast<size_t>(lowered.model.size()));
    for (double& x : u) x = normal(random);
    const double expected = interpreter.log_density(u);
    EXPECT_LE(difference(f(tensor(u)).item<double>(), expected), bound) << expected;
    if (!std::isfinite(expected)) continue;
    const std::vector<double> found = grad(f)(tensor(u)).to_vector<double>(),
                              slopes = interpreter.gradient(u);
    double largest = 1;
    for (const double slope : slopes) largest = std::max(largest, std::abs(slope));
    for (size_t i = 0; i < slopes.size(); ++i)
      EXPECT_LE(std::abs(found[i] - slopes[i]) / largest, bound) << i << ": " << found[i] << " " << slopes[i];
  }
}

// Transformed parameters and generated quantities without random numbers.
TEST_P(StanModel, OutputsAreTheInterpreters) {
  const Ready one = ready(GetParam());
  if (HasFailure()) return;
  const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
  const reference::Interpreter interpreter(one.program, nlohmann::json::parse(one.data),
                                           reference::MatrixOrder::rows);
  const stats::ModelState& state = stats::state_of(lowered.model);
  std::map<std::string, Tensor> graphs;
  for (const auto& variable : state.deterministics) graphs[variable.name] = variable.value;
  for (const auto& variable : state.generated) graphs[variable.name] = variable.value;
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 0.5);
  std::vector<double> u(static_cast<size_t>(lowered.model.size()));
  for (double& x : u) x = normal(random);
  std::vector<reference::Output> outputs;
  try {
    outputs = interpreter.outputs(u);
  } catch (const reference::Rejected&) {
    return;
  }
  const stats::PointInput key{state.generated_key, tensor(std::vector<uint32_t>{1, 2}, {1, 2}), true};
  for (const reference::Output& output : outputs) {
    if (output.block == BlockKind::parameters || output.values.empty()) continue;
    std::string name = output.name;
    if (!graphs.contains(name)) continue;  // members of tuples have other names
    const Tensor at =
        stats::at_points(state, {graphs[name]}, tensor(u, {1, lowered.model.size()}), {key}, 1)[0];
    const std::vector<double> found = as_type(at, DType::f64).to_vector<double>();
    ASSERT_EQ(found.size(), output.values.size()) << name;
    for (size_t i = 0; i < found.size(); ++i)
      EXPECT_LE(difference(found[i], output.values[i]), bound_for(one))
          << name << " " << i << ": " << found[i] << " " << output.values[i];
  }
}

// Sums over the past, parts of different sizes, columns, equations by patient: loops of the kernel, whose
// time to compile does not grow with their rounds.
TEST(StanLoops, AreNotWrittenOut) {
  for (const char* name :
       {"past_sums", "ragged_parts", "ragged_folds", "exposures_by_country", "state_columns",
        "forward_columns", "patients", "columns", "row_by_row", "cumulated_effects", "symmetric_fill",
        "branch_writes", "drawn_slices", "tables_by_levels", "state_tables", "blocks_of_covariance"}) {
    const Ready one = ready(std::string(ADIT_STAN_PROGRAMS) + "/" + name + ".stan");
    const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
    EXPECT_TRUE(lowered.notes.empty()) << name << ": " << lowered.notes[0];
  }
}

// Scratch paper and parts of different sizes: each loop goes through its rounds at once, in one way.
TEST(StanLoops, RoundsGoTogether) {
  const struct {
    const char *name, *line;
  } wanted[] = {
      {"scratch_multistate", "line 26: 12 rounds together"},
      {"scratch_multistate", "line 28: a loop of 5 steps that carries gam (1 row back)"},
      {"scratch_branches", "line 16: 11 rounds together"},
      {"ragged_function", "line 43: 10 rounds together"},
      {"ragged_function", "line 5: 47 rounds together, of different counts in 10 rounds around it"}};
  for (const auto& [name, line] : wanted) {
    const Ready one = ready(std::string(ADIT_STAN_PROGRAMS) + "/" + name + ".stan");
    const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
    EXPECT_TRUE(lowered.notes.empty()) << name << ": " << lowered.notes[0];
    const auto is_line = [&](const std::string& told) { return told.starts_with(line); };
    EXPECT_TRUE(std::any_of(lowered.lowering.begin(), lowered.lowering.end(), is_line))
        << name << ": " << line << "\n"
        << testing::PrintToString(lowered.lowering);
  }
}

// A row without something behind it would be refused only when a program is run.
TEST(StanFunctions, EveryRowOfTheTableIsComputed) {
  for (const Signature& row : signatures()) EXPECT_TRUE(Evaluator::computes(row.name)) << row.name;
}

INSTANTIATE_TEST_SUITE_P(Programs, StanModel, testing::ValuesIn(program_paths()), [](const auto& one) {
  std::string name = fs::path(one.param).stem().string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return (one.param.starts_with(ADIT_STAN_EXAMPLES) ? "Example_" : "") + name;
});

}  // namespace
}  // namespace adit::stan
