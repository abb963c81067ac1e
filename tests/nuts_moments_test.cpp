// Means and variances that are known in closed form, within four standard errors, pooled over seeds; and that
// the same gate turns down a sampler whose tree is wrong.
#include <fmt/format.h>

#include "devices.hpp"
#include "sampling/drive.hpp"
#include "sampling/moments.hpp"
#include "sampling/reference_nuts.hpp"

namespace adit::test {
namespace {

struct Known {
  std::string name;
  int64_t element;  // among the unconstrained numbers
  bool positive;    // the variable is exp of that number
  double mean, variance;
};

// The columns of a run, for several seeds.
std::vector<Pool> pooled(const Model& model, SampleOptions options, int seeds,
                         const std::string& device = "cpu") {
  std::vector<Pool> pools(static_cast<size_t>(model.size()));
  for (int s = 0; s < seeds; ++s) {
    options.seed = static_cast<uint64_t>(101 + s);
    const Outcome outcome = run_model(model, options, device);
    for (int64_t i = 0; i < model.size(); ++i)
      pools[static_cast<size_t>(i)].add(outcome.column(i), outcome.chains);
  }
  return pools;
}

void expect_moments(const std::string& name, const Pool& pool, double mean, double variance) {
  const double errors = errors_of_moments(pool, mean, variance);
  EXPECT_LT(errors, most_errors) << name << ": mean " << mean_of(pool) << " (" << mean << "), variance "
                                 << mean_of(pool.map([&](double v) { return (v - mean) * (v - mean); }))
                                 << " (" << variance << ")";
}

void expect_known(const std::vector<Pool>& pools, const std::vector<Known>& known) {
  for (const Known& k : known) {
    const Pool& raw = pools[static_cast<size_t>(k.element)];
    expect_moments(k.name, k.positive ? raw.map([](double u) { return std::exp(u); }) : raw, k.mean,
                   k.variance);
  }
}

SampleOptions options_for(int64_t chains, int64_t draws) {
  SampleOptions options;
  options.chains = chains;
  options.warmup = 200;
  options.draws = draws;
  options.precision = Precision::f64;
  return options;
}

// Normals, a half-normal and exponentials, each on its own scale and of its own size.
Model shapes() {
  Model model("shapes");
  model.sample("a", normal(3, 0.2));
  model.sample("b", half_normal(2.5));
  model.sample("c", exponential(tensor({0.5, 2.0, 8.0})));
  model.sample("d", normal(tensor({-7.0, 40.0}), tensor({1.0, 30.0})));
  return model;
}

std::vector<Known> shapes_known() {
  const double share = 2 / std::numbers::pi;
  return {{"a", 0, false, 3, 0.04},
          {"b", 1, true, 2.5 * std::sqrt(share), 6.25 * (1 - share)},
          {"c[1]", 2, true, 2, 4},
          {"c[2]", 3, true, 0.5, 0.25},
          {"c[3]", 4, true, 0.125, 1 / 64.0},
          {"d[1]", 5, false, -7, 1},
          {"d[2]", 6, false, 40, 900}};
}

TEST(Moments, Shapes) { expect_known(pooled(shapes(), options_for(64, 500), 3), shapes_known()); }

TEST(Moments, ShapesWithOtherMetricsAndPlacements) {
  SampleOptions options = options_for(32, 400);
  options.metric = Metric::dense;
  expect_known(pooled(shapes(), options, 1), shapes_known());
  options.metric = Metric::diagonal;
  options.placement = Placement::team;
  expect_known(pooled(shapes(), options, 1), shapes_known());
  options.placement = Placement::lane;
  options.precision = Precision::f32;
  expect_known(pooled(shapes(), options, 1), shapes_known());
}

// A hundred variables with covariance H D H: H the reflection at v, D from 1 to 10^4. Every coordinate, and
// every principal component, has its variance.
TEST(Moments, CorrelatedGaussianWithDenseMetric) {
  constexpr size_t n = 100;
  std::vector<double> v(n), deviation(n), inverse(n);
  double length = 0;
  for (size_t i = 0; i < n; ++i) {
    v[i] = 1 + 0.5 * std::sin(3.0 * static_cast<double>(i));
    length += v[i] * v[i];
    deviation[i] = std::pow(100, static_cast<double>(i) / (n - 1));
    inverse[i] = 1 / deviation[i];
  }
  for (double& number : v) number /= std::sqrt(length);
  Model model("correlated");
  const Tensor x = model.parameter("x", constraint::real(), {100});
  const Tensor axis = model.data("axis", tensor(v)), scales = model.data("scales", tensor(inverse));
  const Tensor z = (x - axis * sum(axis * x) * 2.0) * scales;
  model.add_log_density("normal", z * z * -0.5);
  SampleOptions options = options_for(4, 500);
  // One long window: the covariance of 25 draws would have no full rank.
  options.warmup = 300;
  options.init_buffer = 20;
  options.window = 240;
  options.term_buffer = 40;
  options.metric = Metric::dense;
  options.seed = 7;
  const Outcome outcome = run_model(model, options);

  std::vector<Pool> components(n, Pool{{}, outcome.chains});
  for (int64_t c = 0; c < outcome.chains; ++c)
    for (int64_t r = 0; r < outcome.count; ++r) {
      const double* q = outcome.row(c, r).q;
      double along = 0;
      for (size_t i = 0; i < n; ++i) along += v[i] * q[i];
      for (size_t i = 0; i < n; ++i) components[i].values.push_back(q[i] - 2 * along * v[i]);
    }
  double turned = 0;  // v^T D v
  for (size_t i = 0; i < n; ++i) turned += v[i] * v[i] * deviation[i] * deviation[i];
  for (size_t i = 0; i < n; ++i) {
    const double d = deviation[i] * deviation[i];
    expect_moments(fmt::format("component {}", i), components[i], 0, d);
    const double own = d - 4 * v[i] * v[i] * d + 4 * v[i] * v[i] * turned;
    expect_moments(fmt::format("x[{}]", i), {outcome.column(static_cast<int64_t>(i)), outcome.chains}, 0,
                   own);
  }
}

// x has no useful variance of its own (90, with a tail that no sample shows): its logarithm has.
TEST(Moments, NonCentredFunnel) {
  Model model("funnel");
  const Tensor y = model.sample("y", normal(0, 3));
  model.sample("x", normal(0, exp(y / 2)), {9}, Form::non_centred);
  const auto pools = pooled(model, options_for(64, 500), 3);
  ASSERT_EQ(pools.size(), 10u);
  expect_moments("y", pools[0], 0, 9);
  const double euler = 0.57721566490153286;
  const double log_mean = -(euler + std::log(2.0)) / 2;  // of log |z|, z standard normal
  const double log_variance = std::numbers::pi * std::numbers::pi / 8;
  for (size_t i = 1; i < 10; ++i) {
    expect_moments(fmt::format("x_raw[{}]", i), pools[i], 0, 1);
    Pool logs = pools[i];
    for (size_t r = 0; r < logs.values.size(); ++r)
      logs.values[r] = pools[0].values[r] / 2 + std::log(std::abs(pools[i].values[r]));
    expect_moments(fmt::format("log |x[{}]|", i), logs, log_mean, 9.0 / 4 + log_variance);
  }
}

TEST(Moments, Mixtures) {
  Model model("mixtures");
  std::vector<Known> known;
  const auto add = [&](const char* name, double share, double mu, double sigma, double mu2, double sigma2) {
    model.sample(name, mixture(tensor({share, 1 - share}), {normal(mu, sigma), normal(mu2, sigma2)}));
    const double mean = share * mu + (1 - share) * mu2;
    const double square = share * (sigma * sigma + mu * mu) + (1 - share) * (sigma2 * sigma2 + mu2 * mu2);
    known.push_back({name, model.size() - 1, false, mean, square - mean * mean});
  };
  add("a", 0.3, -1.5, 0.5, 1, 1);
  add("b", 0.6, 10, 4, 0, 3);
  expect_known(pooled(model, options_for(64, 1000), 3), known);
}

// --- The gate itself ---------------------------------------------------------------------------------------

// Chains of the recursion for N(0, 1), as a run of the kernel would leave them.
Pool reference_chains(Flaw flaw, double step) {
  Pool pool;
  const DensityAt<1> density = [](const Place<1>& q, Place<1>& g) {
    g[0] = -q[0];
    return -q[0] * q[0] / 2;
  };
  for (uint32_t c = 0; c < 64; ++c) {
    ReferenceNuts<1> nuts(density, ReferenceMetric<1>({1}), {77, c, true}, 10, flaw);
    Place<1> q{0.1};
    std::vector<double> values;
    for (uint32_t t = 0; t < 600; ++t) {
      q = nuts.transition(q, step, t).q;
      if (t >= 100) values.push_back(q[0]);
    }
    pool.add(values, 1);
  }
  return pool;
}

// A doubling that turned or diverged must not give the next point. The predecessor's sampler merged it: the
// variance of N(0, 1) came out as 1.38, and its tests passed.
TEST(Moments, GateTurnsDownMergedInvalidDoublings) {
  const double step = 1.05;
  EXPECT_LT(errors_of_moments(reference_chains(Flaw::none, step), 0, 1), most_errors);
  const Pool wrong = reference_chains(Flaw::merges_invalid, step);
  const double variance = mean_of(wrong.map([](double v) { return v * v; }));
  EXPECT_NEAR(variance, 1.38, 0.1);
  EXPECT_GT(errors_of_moments(wrong, 0, 1), 5 * most_errors);
  fmt::print("variance of N(0, 1) with invalid doublings merged: {:.3f}\n", variance);
}

class MomentsOn : public OnDevice {};

TEST_P(MomentsOn, SinglePrecision) {
  // The CPU has ShapesWithOtherMetricsAndPlacements; software devices, which are slow, nuts_tree_test.
  if (on().info().kind == DeviceKind::cpu || on().info().kind == DeviceKind::software)
    GTEST_SKIP() << "needs a GPU";
  SampleOptions options = options_for(64, 200);
  options.precision = Precision::f32;
  expect_known(pooled(shapes(), options, 1, GetParam()), shapes_known());
}

INSTANTIATE_TEST_SUITE_P(Devices, MomentsOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
