// Lowered programs against the plain interpreter of stan/: log density and gradient at random points.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>

#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "seeds.hpp"
#include "stan/check.hpp"
#include "stan/evaluator.hpp"
#include "stan/interpreter.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "stan/signature.hpp"
#include "stan_order_values.hpp"
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

// Beside the largest slope.
void compare_slopes(const Ready& one, const std::vector<double>& found, const std::vector<double>& slopes,
                    const char* way) {
  ASSERT_EQ(found.size(), slopes.size());
  double largest = 1;
  for (const double slope : slopes) largest = std::max(largest, std::abs(slope));
  for (size_t i = 0; i < slopes.size(); ++i)
    EXPECT_LE(std::abs(found[i] - slopes[i]) / largest, bound_for(one))
        << way << " " << i << ": " << found[i] << " " << slopes[i];
}

// A random point where the program does not reject; none among fifty: nothing.
std::vector<double> point_of(const reference::Interpreter& interpreter) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(0, 0.5);
  std::vector<double> u(static_cast<size_t>(interpreter.size()));
  for (int k = 0; k < 50; ++k) {
    for (double& x : u) x = normal(random);
    if (std::isfinite(interpreter.log_density(u))) return u;
  }
  return {};
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
  const reference::Interpreter interpreter(one.program, nlohmann::json::parse(one.data));
  ASSERT_EQ(lowered.model.size(), interpreter.size());
  // The values of every program; gradients, whose kernels take most of the time, in one commit of three.
  const auto f = [&](const Tensor& u) { return lowered.model.log_density(u); };
  const bool has_slopes = test::is_its_turn(std::hash<std::string>()(fs::path(GetParam()).stem()) + 1, 5);
  std::mt19937 random(7);
  std::normal_distribution<double> normal(0, 0.5);
  const double bound = bound_for(one);
  int looked = 0;  // where the density is finite
  for (int point = 0; point < 3 || (looked == 0 && point < 50); ++point) {
    std::vector<double> u(static_cast<size_t>(lowered.model.size()));
    for (double& x : u) x = normal(random);
    const double expected = interpreter.log_density(u);
    EXPECT_LE(difference(f(tensor(u)).item<double>(), expected), bound) << expected;
    if (!std::isfinite(expected)) continue;
    if (has_slopes)
      compare_slopes(one, grad(f)(tensor(u)).to_vector<double>(), interpreter.gradient(u), "tensors");
    ++looked;
  }
  EXPECT_GT(looked, 0);
}

// A leapfrog step of no length: the density where it begins, in the kernel that a run would take.
TEST_P(StanModel, KernelsAreTheInterpreters) {
  if (fs::path(GetParam()).stem() == "tables_by_levels")
    GTEST_SKIP() << "its kernel has 200,000 instructions, which LLVM takes minutes to combine";
  const std::string name = fs::path(GetParam()).stem();
  const bool is_slow = name == "drawn_slices" || name == "past_sums";  // LLVM takes a minute
  if (!test::is_its_turn(std::hash<std::string>()(name), is_slow ? 40 : 12)) GTEST_SKIP() << test::other_turn;
  const Ready one = ready(GetParam());
  if (HasFailure()) return;
  const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
  const reference::Interpreter interpreter(one.program, nlohmann::json::parse(one.data));
  const std::vector<double> u = point_of(interpreter);
  ASSERT_FALSE(u.empty()) << "rejected everywhere";
  const std::string device = default_device()->info().id;
  const Tensor q = tensor(std::span<const double>(u), {lowered.model.size()});
  const LeapfrogKernel kernel(lowered.model, {.type = DType::f64, .device = device});
  const LeapfrogChain chain = kernel(q, q, 0.0, 1);
  EXPECT_LE(difference(chain.log_densities.to_vector<double>()[0], interpreter.log_density(u)),
            bound_for(one));
  compare_slopes(one, chain.gradients.to_vector<double>(), interpreter.gradient(u), "kernel");
}

// Parameters, transformed parameters and generated quantities without random numbers.
TEST_P(StanModel, OutputsAreTheInterpreters) {
  const Ready one = ready(GetParam());
  if (HasFailure()) return;
  const Lowered lowered = lower(one.program, data_from_json(one.data, "data"));
  const reference::Interpreter interpreter(one.program, nlohmann::json::parse(one.data));
  const stats::ModelState& state = stats::state_of(lowered.model);
  std::map<std::string, Tensor> graphs;
  for (const auto& variable : state.variables) graphs[variable.name] = variable.value;
  for (const auto& variable : state.deterministics) graphs[variable.name] = variable.value;
  for (const auto& variable : state.generated) graphs[variable.name] = variable.value;
  const std::vector<double> u = point_of(interpreter);
  ASSERT_FALSE(u.empty()) << "rejected everywhere";
  const stats::PointInput key{state.generated_key, tensor(std::vector<uint32_t>{1, 2}, {1, 2}), true};
  size_t looked = 0;
  for (const reference::Output& output : interpreter.outputs(u)) {
    const std::string& name = output.name;
    if (output.values.empty()) continue;
    ASSERT_TRUE(graphs.contains(name)) << name;
    const Tensor at =
        stats::at_points(state, {graphs[name]}, tensor(u, {1, lowered.model.size()}), {key}, 1)[0];
    const std::vector<double> found = as_type(at, DType::f64).to_vector<double>();
    ASSERT_EQ(found.size(), output.values.size()) << name;
    for (size_t i = 0; i < found.size(); ++i, ++looked)
      EXPECT_LE(difference(found[i], output.values[i]), bound_for(one))
          << name << " " << i << ": " << found[i] << " " << output.values[i];
  }
  EXPECT_GE(looked, u.size());
}

// Sums over the past, parts of different sizes, columns, equations by patient: loops of the kernel, whose
// time to compile does not grow with their rounds.
TEST(StanLoops, AreNotWrittenOut) {
  for (const char* name :
       {"past_sums", "ragged_parts", "ragged_folds", "exposures_by_country", "state_columns",
        "forward_columns", "patients", "columns", "row_by_row", "cumulated_effects", "symmetric_fill",
        "branch_writes", "drawn_slices", "tables_by_levels", "state_tables", "blocks_of_covariance"}) {
    const Ready one = ready(fmt::format("{}/{}.stan", ADIT_STAN_PROGRAMS, name));
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

// Points on the unconstrained scale are Stan's: files of them, of starts and of metrics go from one to the
// other.
TEST(StanOrder, UnconstrainedNumbersStandAsInStan) {
  Parsed parsed = parse("m.stan", order_program);
  check(parsed.program);
  const Lowered lowered = lower(parsed.program, {});
  std::vector<double> u(static_cast<size_t>(lowered.model.size()));
  for (size_t i = 0; i < u.size(); ++i) u[i] = 0.8 * std::sin(1.7 * static_cast<double>(i + 1));
  const stats::ModelState& state = stats::state_of(lowered.model);
  ASSERT_EQ(state.variables.size(), order_values.size());
  for (size_t k = 0; k < order_values.size(); ++k) {
    const auto& [name, expected] = order_values[k];
    ASSERT_EQ(state.variables[k].name, name);
    const auto found = stats::at_point(state, {state.variables[k].value}, tensor(u))[0].to_vector<double>();
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-8) << name << " " << i;
    // And back.
    const Tensor x = tensor(found, state.variables[k].shape);
    const auto back = state.variables[k].constraint.unconstrain(x).to_vector<double>();
    if (name == "p") continue;  // of a unit vector the length is lost
    for (size_t i = 0; i < back.size(); ++i)
      EXPECT_NEAR(back[i], u[static_cast<size_t>(state.variables[k].offset) + i], 1e-9) << name << " " << i;
  }
}

// Maps as functions do what constrained declarations do: the same density of the same free numbers.
TEST(StanTransforms, AsFunctionsTheyAreThoseOfDeclarations) {
  const auto density_of = [](const std::string& text, std::vector<double>& u) {
    Parsed parsed = parse("m.stan", text);
    for (const Message& message : check(parsed.program))
      if (message.kind != Message::Kind::warning) ADD_FAILURE() << text << message.text;
    const Model model = lower(parsed.program, {}).model;
    u.resize(static_cast<size_t>(model.size()));
    for (size_t i = 0; i < u.size(); ++i) u[i] = 0.7 * std::sin(1.3 * static_cast<double>(i + 1));
    const auto slope = grad([&](const Tensor& x) { return model.log_density(x); });
    std::vector<double> found = slope(tensor(u)).to_vector<double>();
    found.push_back(model.log_density(tensor(u)).item<double>());
    return found;
  };
  struct Case {
    const char *declared, *free, *call, *back;
  };
  const Case cases[] = {
      {"simplex[3]", "vector[2]", "simplex_jacobian(u)", "simplex_unconstrain(x)"},
      {"array[2] simplex[3]", "array[2] vector[2]", "simplex_jacobian(u)", "simplex_unconstrain(x)"},
      {"ordered[3]", "vector[3]", "ordered_jacobian(u)", "ordered_unconstrain(x)"},
      {"positive_ordered[3]", "vector[3]", "positive_ordered_jacobian(u)", "positive_ordered_unconstrain(x)"},
      {"sum_to_zero_vector[3]", "vector[2]", "sum_to_zero_jacobian(u)", "sum_to_zero_unconstrain(x)"},
      {"sum_to_zero_matrix[3, 4]", "matrix[2, 3]", "sum_to_zero_jacobian(u)", "sum_to_zero_unconstrain(x)"},
      {"unit_vector[3]", "vector[3]", "unit_vector_jacobian(u)", ""},
      {"cholesky_factor_corr[3]", "vector[3]", "cholesky_factor_corr_jacobian(u, 3)",
       "cholesky_factor_corr_unconstrain(x)"},
      {"cholesky_factor_cov[3, 2]", "vector[5]", "cholesky_factor_cov_jacobian(u, 3, 2)",
       "cholesky_factor_cov_unconstrain(x)"},
      {"corr_matrix[3]", "vector[3]", "corr_matrix_jacobian(u, 3)", "corr_matrix_unconstrain(x)"},
      {"cov_matrix[2]", "vector[3]", "cov_matrix_jacobian(u, 2)", "cov_matrix_unconstrain(x)"},
      {"column_stochastic_matrix[3, 2]", "matrix[2, 2]", "stochastic_column_jacobian(u)",
       "stochastic_column_unconstrain(x)"},
      {"row_stochastic_matrix[2, 3]", "matrix[2, 2]", "stochastic_row_jacobian(u)",
       "stochastic_row_unconstrain(x)"},
      {"vector<lower=0.5>[3]", "vector[3]", "lower_bound_jacobian(u, 0.5)",
       "lower_bound_unconstrain(x, 0.5)"},
      {"matrix<upper=2>[2, 3]", "matrix[2, 3]", "upper_bound_jacobian(u, 2)",
       "upper_bound_unconstrain(x, 2)"},
      {"real<lower=-1, upper=2>", "real", "lower_upper_bound_jacobian(u, -1, 2)",
       "lower_upper_bound_unconstrain(x, -1, 2)"},
      {"vector<offset=1, multiplier=3>[2]", "vector[2]", "offset_multiplier_jacobian(u, 1, 3)",
       "offset_multiplier_unconstrain(x, 1, 3)"},
      {"vector[2]", "vector[2]", "lower_bound_jacobian(u, negative_infinity())", ""},
  };
  for (const Case& one : cases) {
    const std::string type = one.declared;
    const bool is_scalar = type.starts_with("real"), is_array = type.starts_with("array");
    const std::string use = is_scalar  ? " model { target += 1.7 * x; }"
                            : is_array ? " model { target += 1.7 * x[1][2] - x[2][1]; }"
                                       : " model { vector[num_elements(x)] y = to_vector(x); for (n in 1 : "
                                         "num_elements(x)) target += sqrt(n) * y[n] ^ 2; }";
    std::vector<double> u, same;
    const auto declared = density_of("parameters { " + type + " x; }" + use, u);
    const std::string shape = type.find('<') == std::string::npos
                                  ? std::string(one.declared)
                                  : type.substr(0, type.find('<')) + type.substr(type.find('>') + 1);
    const auto called =
        density_of("parameters { " + std::string(one.free) + " u; } transformed parameters { " + shape +
                       " x = " + one.call + "; }" + use,
                   same);
    ASSERT_EQ(declared.size(), called.size()) << type;
    for (size_t i = 0; i < declared.size(); ++i)
      EXPECT_NEAR(declared[i], called[i], 1e-10) << type << " " << i;
    if (!*one.back) continue;
    Parsed parsed =
        parse("m.stan", "parameters { " + std::string(one.free) + " u; } transformed parameters { " + shape +
                            " x = " + one.call + "; " + one.free + " v = " + one.back + "; }");
    check(parsed.program);
    const Model model = lower(parsed.program, {}).model;
    const stats::ModelState& state = stats::state_of(model);
    const auto given = stats::at_point(state, {state.variables[0].value}, tensor(u))[0].to_vector<double>();
    const auto found =
        stats::at_point(state, {state.deterministics[1].value}, tensor(u))[0].to_vector<double>();
    ASSERT_EQ(given.size(), found.size()) << type;
    for (size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(given[i], found[i], 1e-10) << type << " " << i;
  }
}

Model model_of(const std::string& text) {
  Parsed parsed = parse("m.stan", text);
  EXPECT_FALSE(parsed.failed());
  for (const Message& message : check(parsed.program))
    EXPECT_EQ(message.kind, Message::Kind::warning) << message.text;
  return lower(parsed.program, {}).model;
}

TEST(StanTransforms, AddTheirJacobiansInLoopsOnParameters) {
  const Model model = model_of(
      "functions { void add_lp(real u) { target += 10 * u; } }\n"
      "parameters { vector[3] u; }\n"
      "transformed parameters { vector[3] x; { int i = 1;\n"
      "  while (i <= 3 && u[1] < 10) { x[i] = lower_bound_jacobian(u[i], 0); add_lp(u[i]); i += 1; } } }");
  const std::vector<double> u{0.3, -0.7, 1.1};
  EXPECT_NEAR(model.log_density(tensor(u)).item<double>(), 11 * 0.7, 1e-12);
  // A search without Jacobians leaves out those alone.
  std::map<bool, double> totals;
  const stats::ModelState& state = stats::state_of(model);
  for (const stats::ModelTerm& term : state.terms)
    totals[term.name.ends_with(" (jacobian)")] +=
        stats::at_point(state, {term.total}, tensor(u))[0].item<double>();
  EXPECT_NEAR(totals[true], 0.7, 1e-12);
  EXPECT_NEAR(totals[false], 7, 1e-12);
}

TEST(StanLoops, OneThatWritesNothingAndNeverEndsHasNoDensity) {
  const Model model =
      model_of("parameters { real u; } model { u ~ std_normal(); while (u > 1) { real x = u; } }");
  EXPECT_TRUE(std::isfinite(model.log_density(tensor(std::vector<double>{0.5})).item<double>()));
  EXPECT_FALSE(std::isfinite(model.log_density(tensor(std::vector<double>{1.5})).item<double>()));
}

// As many elements each, where numbers of them follow from parameters.
TEST(StanFunctions, ListsOfDrawnSizesMeet) {
  for (const char* sum : {"dot_product(x[1:k], x[2:m])", "sum(x[1:k] .* exp(x[2:m]))",
                          "normal_lpdf(x[1:k] | x[2:m], 1)", "dot_product(x[1:k], x[3:4])"}) {
    const Model model = model_of(
        "parameters { vector[5] x; } model { int k = x[1] > 0 ? 2 : 3; int m = x[2] > 0 ? 3 : 4;\n"
        "target += " +
        std::string(sum) + "; }");
    const auto is_dense = [&](double first, double second) {
      const std::vector<double> x{first, second, 0.2, 0.3, 0.4};
      return std::isfinite(model.log_density(tensor(x)).item<double>());
    };
    EXPECT_TRUE(is_dense(1, 1)) << sum;
    EXPECT_FALSE(is_dense(-1, 1)) << sum;
    EXPECT_EQ(is_dense(1, -1), sum == std::string("dot_product(x[1:k], x[3:4])")) << sum;
  }
}

// Values and slopes by mpmath. The last number of six and of nine is a precision, which changes nothing.
TEST(StanFunctions, ChancesOfPassages) {
  const auto expect = [](const std::string& call, double value, double slope) {
    Parsed parsed = parse("m.stan", "parameters { real v; } model { target += " + call + "; }");
    EXPECT_FALSE(parsed.failed());
    EXPECT_TRUE(check(parsed.program).empty()) << call;
    const Model model = lower(parsed.program, {}).model;
    const auto density = [&](const Tensor& x) { return model.log_density(x); };
    const Tensor u = tensor(std::vector<double>{0.7});
    EXPECT_NEAR(density(u).item<double>(), value, 1e-11) << call;
    EXPECT_NEAR(grad(density)(u).to_vector<double>()[0], slope, 1e-10) << call;
  };
  const double until = -0.7880187794742293, later = -1.2516584178632905;
  expect("wiener_lcdf_unnorm(0.8, 1.5, 0.3, 0.5, v)", until, 0.562403484209467);
  expect("wiener_lcdf_unnorm(0.8, 1.5, 0.3, 0.5, v, 1e-4)", until, 0.562403484209467);
  expect("wiener_lccdf_unnorm(0.8, 1.5, 0.3, 0.5, v)", later, 0.112894020977892);
  expect("wiener_lccdf_unnorm([0.8, 0.8]', [1.5, 1.5]', [0.3, 0.3]', [0.5, 0.5]', [v, v]')", 2 * later,
         2 * 0.112894020977892);
  expect("wiener_lcdf_unnorm(0.8, 1.5, 0.3, 0.5, v, 0, 0, 0)", until, 0.562403484209467);
  expect("wiener_lccdf_unnorm(0.8, 1.5, 0.3, 0.5, v, 0, 0, 0, 1e-8)", later, 0.112894020977892);
  expect("wiener_lpdf(0.8 | 1.5, 0.3, 0.5, v, 0, 1e-8) - wiener_lpdf(0.8 | 1.5, 0.3, 0.5, v, 0)", 0, 0);
}

// Values and slopes by R: qt, and dlnorm with the closed form of the LKJ density of two.
TEST(StanFunctions, QuantilesOfStudentAndCovariancesOfLkj) {
  const auto found = [](const std::string& text, const std::vector<double>& u) {
    Parsed parsed = parse("m.stan", text);
    EXPECT_FALSE(parsed.failed());
    check(parsed.program);
    const Model model = lower(parsed.program, {}).model;
    const auto density = [&](const Tensor& x) { return model.log_density(x); };
    std::vector<double> all{density(tensor(u)).item<double>()};
    for (const double slope : grad(density)(tensor(u)).to_vector<double>()) all.push_back(slope);
    return all;
  };
  const auto expect = [&](const std::string& text, const std::vector<double>& u,
                          const std::vector<double>& wanted) {
    const std::vector<double> got = found(text, u);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6 * (1 + std::abs(wanted[i])));
  };
  const std::string student =
      "parameters { real p; real<lower=0> nu; } model { target += student_t_qf(inv_logit(p), nu, 1, 2); }";
  expect(student, {0.3, 1}, {2.4123484763, 1.3803955, 0.96241049});
  expect(student, {-0.01, 0.5}, {1.48551672449, 1.4483441, 1.0019323});
  expect(student, {3, 2}, {6.82987943829, 1.2699092, 0.44397293});
  expect(student, {-8, 0.7}, {-73.9213462978, 37.57955, 226.27888});
  expect(student, {1.0986, 1.5}, {3.96622489699, 1.3551135, 0.87508461});
  const std::string covariance =
      "parameters { real p; } model { target += lkj_cov_lpdf([[1.2, p], [p, 0.8]] | [0, 0.1]', [1, 2]', "
      "1.5); }";
  expect(covariance, {0.3}, {-3.0211664622, -0.344827586});
  expect(covariance, {-0.5}, {-3.122780583, 0.704225352});
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
