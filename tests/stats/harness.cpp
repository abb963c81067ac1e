#include "stats/harness.hpp"

#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>

#include <adit/transform.hpp>

#include "graph/retype.hpp"

namespace adit::test {

namespace {

using Json = nlohmann::json;
using Function = std::function<Tensor(const std::vector<Tensor>&)>;

double number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const auto word = json.get<std::string>();
  const double infinite = std::numeric_limits<double>::infinity();
  return word == "inf" ? infinite : word == "-inf" ? -infinite : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> list_in(const Json& set, const char* name) {
  std::vector<double> list;
  if (set.contains(name))
    for (const Json& entry : set.at(name)) list.push_back(number_in(entry));
  return list;
}

ParameterSet set_in(const Json& json) {
  ParameterSet set;
  set.parameters = list_in(json, "parameters");
  set.points = list_in(json, "points");
  set.log_density = list_in(json, "log_density");
  set.log_cdf = list_in(json, "log_cdf");
  set.log_survival = list_in(json, "log_survival");
  set.mean = number_in(json.at("mean"));
  set.variance = number_in(json.at("variance"));
  set.kurtosis = number_in(json.at("kurtosis"));
  set.cdf_points = list_in(json, "cdf_points");
  set.cdf = list_in(json, "cdf");
  return set;
}

std::vector<DistributionCase> read_cases() {
  std::ifstream file(ADIT_DISTRIBUTION_CASES);
  std::vector<DistributionCase> cases;
  for (const Json& json : Json::parse(file)) {
    DistributionCase c{.name = json.at("name"),
                       .tolerance = json.at("tolerance"),
                       .single = json.at("single"),
                       .moments = json.at("moments"),
                       .tensors = json.at("tensors"),
                       .draws = json.at("draws"),
                       .sets = {}};
    for (const Json& set : json.at("sets")) c.sets.push_back(set_in(set));
    cases.push_back(std::move(c));
  }
  return cases;
}

// One derivative by differences: of the steps, the one whose halving changes it least.
struct Slope {
  double value = 0, error = std::numeric_limits<double>::infinity();
  double bend = 0;  // how far the slopes of the two sides differ at the smallest step
};

void improve(Slope& best, double value, double half, double noise) {
  const double error = std::abs(value - half) + noise;
  // Both steps leave errors of h^2 and h^2 / 4: their combination leaves h^4.
  if (error < best.error) best = {half + (half - value) / 3, error, best.bend};
}

std::vector<Slope> slopes_of(const Function& f, const std::vector<Tensor>& x, int argument) {
  const Tensor& moving = x[static_cast<size_t>(argument)];
  const auto at = moving.to_vector<double>(), value = f(x).to_vector<double>();
  std::vector<Slope> best(at.size());
  const auto step_of = [&](size_t i, double relative) {
    return relative * (at[i] == 0 ? 1 : std::abs(at[i]));
  };
  // What f changes by, for a step to one side.
  const auto change = [&](double relative) {
    std::vector<double> there = at;
    for (size_t i = 0; i < at.size(); ++i) there[i] += step_of(i, relative);
    std::vector<Tensor> moved = x;
    moved[static_cast<size_t>(argument)] = tensor(there, moving.shape());
    auto changes = f(moved).to_vector<double>();
    for (size_t i = 0; i < at.size(); ++i) changes[i] -= value[i];
    return changes;
  };
  const auto difference = [&](double relative) {
    const auto up = change(relative), down = change(-relative);
    std::vector<double> slope(at.size());
    for (size_t i = 0; i < at.size(); ++i) {
      slope[i] = (up[i] - down[i]) / (2 * step_of(i, relative));
      best[i].bend = std::abs(up[i] + down[i]) / step_of(i, relative);
    }
    return slope;
  };
  for (const double relative : {0x1p-8, 0x1p-12, 0x1p-16, 0x1p-20, 0x1p-24}) {
    const auto whole = difference(relative), half = difference(relative / 2);
    for (size_t i = 0; i < at.size(); ++i)
      improve(best[i], whole[i], half[i], 1e-15 * (1 + std::abs(value[i])) / step_of(i, relative));
  }
  return best;
}

}  // namespace

const std::vector<DistributionCase>& distribution_cases() {
  static const std::vector<DistributionCase> cases = read_cases();
  return cases;
}

const std::vector<Row>& distribution_rows() {
  static const std::vector<Row> rows = continuous_rows();
  return rows;
}

const Row& row_named(const std::string& name) {
  for (const Row& row : distribution_rows())
    if (row.name == name) return row;
  throw Error(ErrorKind::not_found, "[rows] name: expected a distribution with a row, got " + name);
}

Parameters as_numbers(const ParameterSet& set) {
  return Parameters(set.parameters.begin(), set.parameters.end());
}

std::vector<Tensor> as_batch(const DistributionCase& c) {
  std::vector<Tensor> tensors;
  for (size_t p = 0; p < c.sets[0].parameters.size(); ++p) {
    std::vector<double> values;
    for (const ParameterSet& set : c.sets) values.push_back(set.parameters[p]);
    tensors.push_back(tensor(values));
  }
  return tensors;
}

std::vector<Tensor> as_full(const DistributionCase& c) {
  const Shape shape = {static_cast<int64_t>(c.sets[0].points.size()), static_cast<int64_t>(c.sets.size())};
  std::vector<Tensor> tensors = as_batch(c);
  for (Tensor& t : tensors) t = tensor(broadcast_to(t, shape).to_vector<double>(), shape);
  return tensors;
}

Parameters as_parameters(const std::vector<Tensor>& tensors) {
  return Parameters(tensors.begin(), tensors.end());
}

Tensor table_of(const DistributionCase& c, std::vector<double> ParameterSet::*list) {
  const size_t points = (c.sets[0].*list).size();
  std::vector<double> values;
  for (size_t i = 0; i < points; ++i)
    for (const ParameterSet& set : c.sets) values.push_back((set.*list).at(i));
  return tensor(values, {static_cast<int64_t>(points), static_cast<int64_t>(c.sets.size())});
}

const std::vector<Checked>& checked_functions() {
  static const std::vector<Checked> functions = {
      {"log_density", &Distribution::log_density, &ParameterSet::log_density},
      {"log_cdf", &Distribution::log_cdf, &ParameterSet::log_cdf},
      {"log_survival", &Distribution::log_survival, &ParameterSet::log_survival}};
  return functions;
}

void expect_close(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                  const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
    EXPECT_LE(std::abs(got[i] - wanted[i]), tolerance * (1 + std::abs(wanted[i])))
        << what << " at " << i << ": " << got[i] << ", expected " << wanted[i];
    EXPECT_TRUE(std::isfinite(wanted[i]))
        << what << " at " << i << ": " << got[i] << ", expected " << wanted[i];
  }
}

void check_gradient(const Function& f, const std::vector<Tensor>& x, int argument, const std::string& what) {
  const auto slope = value_and_grad_of([&](const Tensors& at) { return Tensors{sum(f(at))}; }, x, {argument});
  const auto got = slope.grads[0].to_vector<double>(), value = f(x).to_vector<double>();
  const auto at = x[static_cast<size_t>(argument)].to_vector<double>();
  const auto wanted = slopes_of(f, x, argument);
  size_t finite = 0, measured = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const bool is_far = !std::isfinite(x[0].to_vector<double>()[i]) || !std::isfinite(at[i]);
    if (!std::isfinite(value[i]) || is_far) {
      // Outside, a slope says nothing, but it must not spoil a sum.
      EXPECT_TRUE(is_far || !std::isnan(got[i])) << what << " at " << i << " (" << at[i] << ")";
      continue;
    }
    ++finite;
    const double size = 1 + std::abs(wanted[i].value);
    // At a corner the sides differ by more than the mean of their slopes.
    const bool is_corner = wanted[i].bend > 1e-4 && wanted[i].bend > 1.5 * std::abs(wanted[i].value);
    if (!(wanted[i].error < 1e-2 * size) || is_corner) continue;
    ++measured;
    EXPECT_LE(std::abs(got[i] - wanted[i].value), 1e-6 * size + 4 * wanted[i].error)
        << what << " at " << i << " (" << at[i] << "): " << got[i] << ", expected " << wanted[i].value;
  }
  EXPECT_GE(measured, finite / 2) << what << ": differences measured too few of " << finite;
}

std::vector<double> in_single(const Function& f, const std::vector<Tensor>& x) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : x) inputs.push_back(graph::placeholder(DType::f64, t.shape()));
  const Tensor root = f(inputs);
  const graph::Retyped narrow = graph::retype(std::span(&root, 1), DType::f32);
  std::vector<Tensor> from, to;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto found = narrow.placeholders.find(&graph::node_of(inputs[i]));
    if (found == narrow.placeholders.end()) continue;  // the result does not depend on it
    from.push_back(found->second);
    to.push_back(as_type(x[i], DType::f32));
  }
  const Tensor result = graph::substitute(narrow.roots, from, to)[0];
  EXPECT_EQ(result.dtype(), DType::f32);
  const auto values = result.to_vector<float>();
  return std::vector<double>(values.begin(), values.end());
}

void check_draws(const std::vector<double>& draws, const ParameterSet& set, const std::string& what) {
  const auto n = static_cast<double>(draws.size());
  for (size_t i = 0; i < set.cdf.size(); ++i) {
    double below = 0;
    for (const double x : draws) below += x <= set.cdf_points[i];
    const double p = set.cdf[i], error = std::sqrt(p * (1 - p) / n);
    EXPECT_LE(std::abs(below / n - p), 5 * error + 1e-9) << what << ": P(X <= " << set.cdf_points[i] << ")";
  }
  double mean = 0, variance = 0;
  for (const double x : draws) mean += x / n;
  for (const double x : draws) variance += (x - mean) * (x - mean) / (n - 1);
  if (!std::isfinite(set.variance)) return;
  EXPECT_LE(std::abs(mean - set.mean), 5 * std::sqrt(set.variance / n)) << what << ": mean";
  // The fourth moment says how far a variance may be off; that of a heavy tail is no guide.
  if (!(set.kurtosis < 20)) return;
  EXPECT_LE(std::abs(variance / set.variance - 1), 5 * std::sqrt((set.kurtosis + 2) / n))
      << what << ": variance";
}

}  // namespace adit::test
