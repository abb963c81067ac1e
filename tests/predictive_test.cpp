// Posterior predictive draws, pointwise log likelihoods and draws of the prior, beside closed forms.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <adit/adit.hpp>
#include <adit/diagnostics.hpp>
#include <adit/ops.hpp>

#include "cli/models/models.hpp"
#include "devices.hpp"

using namespace adit;
using adit::test::device_ids;
using adit::test::OnDevice;
using adit::test::test_name;

namespace {

const std::vector<double> seen{1.2, -0.4, 2.2, 0.7, 1.9, 0.3};
constexpr double noise = 1.5, prior_sd = 2;

// mu ~ normal(0, 2), y_i ~ normal(mu, 1.5): the posterior is normal, and so is a new y.
Model conjugate() {
  Model model("conjugate");
  const Plate each = model.plate("each", std::ssize(seen), {"a", "b", "c", "d", "e", "f"});
  const Tensor mu = model.sample("mu", normal(0, prior_sd));
  model.observe("y", normal(mu, noise), tensor(seen));
  return model;
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments closed_posterior() {
  const double precision = 1 / (prior_sd * prior_sd) + static_cast<double>(seen.size()) / (noise * noise);
  const double sum = std::accumulate(seen.begin(), seen.end(), 0.0);
  return {sum / (noise * noise) / precision, 1 / precision};
}

Moments moments(const std::vector<double>& x) {
  Moments m;
  for (const double v : x) m.mean += v / static_cast<double>(x.size());
  for (const double v : x) m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(x.size() - 1);
  return m;
}

double quantile_of(std::vector<double> x, double at) {
  std::sort(x.begin(), x.end());
  return x[static_cast<size_t>(at * static_cast<double>(x.size() - 1))];
}

void expect_error(const std::function<void()>& f, const std::string& begin) {
  try {
    f();
    ADD_FAILURE() << "expected an error: " << begin;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind(begin, 0), 0u) << error.what();
  }
}

class Predictive : public OnDevice {
 protected:
  Draws sampled(const Model& model, uint64_t seed = 3, int64_t draws = 500, int64_t chains = 4) {
    SampleOptions options;
    options.device = GetParam();
    options.chains = chains;
    options.warmup = 300;
    options.draws = draws;
    options.seed = seed;
    options.log_likelihood = options.posterior_predictive = true;
    return sample(model, options);
  }
};

}  // namespace

TEST_P(Predictive, ConjugateNormal) {
  const Draws draws = sampled(conjugate());
  ASSERT_EQ(draws.posterior_predictive.size(), 1u);
  const DrawsVariable& y = draws.posterior_predictive[0];
  EXPECT_EQ(y.name, "y");
  EXPECT_EQ(y.shape, (Shape{6}));
  EXPECT_EQ(y.dims, std::vector<std::string>{"each"});
  const Moments mu = closed_posterior();
  const double variance = mu.variance + noise * noise;
  for (int64_t i = 0; i < y.size(); ++i) {
    const auto values = element_draws(draws, y, i);
    const Moments got = moments(values);
    const ChainsView chains{values, draws.chains};
    EXPECT_NEAR(got.mean, mu.mean, 4 * mcse_mean(chains));
    EXPECT_NEAR(std::sqrt(got.variance), std::sqrt(variance), 4 * mcse_sd(chains));
  }
  // Neither the elements nor the draws repeat each other.
  EXPECT_NE(y.values[0], y.values[1]);
  EXPECT_NE(y.values[0], y.values[6]);
}

TEST_P(Predictive, LogLikelihoodIsTheClosedForm) {
  const Draws draws = sampled(conjugate());
  ASSERT_EQ(draws.log_likelihood.size(), 1u);
  const DrawsVariable& lp = draws.log_likelihood[0];
  const auto& mu = draws.variable("mu").values;
  EXPECT_EQ(lp.shape, (Shape{6}));
  ASSERT_EQ(lp.values.size(), mu.size() * seen.size());
  for (size_t r = 0; r < mu.size(); ++r)
    for (size_t i = 0; i < seen.size(); ++i) {
      const double z = (seen[i] - mu[r]) / noise;
      const double want = -0.5 * z * z - std::log(noise) - 0.5 * std::log(2 * std::numbers::pi);
      ASSERT_NEAR(lp.values[r * seen.size() + i], want, 1e-12 * std::max(1.0, std::fabs(want)));
    }
  const Loo loo = psis_loo(draws, lp);
  EXPECT_TRUE(std::isfinite(loo.elpd));
  // Leaving one out costs a little: the sum over the posterior mean's densities is larger.
  EXPECT_LT(loo.elpd, -6);
  EXPECT_GT(loo.elpd, -15);
  ASSERT_EQ(draws.observed.size(), 1u);
  EXPECT_EQ(draws.observed[0].values, seen);
}

TEST_P(Predictive, VariesWithTheSeedAlone) {
  const Model model = conjugate();
  const auto of = [&](uint64_t seed, int64_t draws) {
    return sampled(model, seed, draws, 2).posterior_predictive[0].values;
  };
  const auto once = of(5, 50);
  EXPECT_EQ(once, of(5, 50));
  EXPECT_NE(once, of(6, 50));
}

// Whole numbers, and parameters of several shapes.
TEST_P(Predictive, Counts) {
  Model model("counts");
  const Tensor rate = model.sample("rate", gamma(3, 1), {2});
  model.observe("k", poisson(rate), tensor({{2.0, 4.0}, {1.0, 5.0}, {3.0, 6.0}}));
  const Draws draws = sampled(model, 2, 400, 2);
  const DrawsVariable& k = draws.posterior_predictive[0];
  EXPECT_EQ(k.shape, (Shape{3, 2}));
  for (const double v : k.values) ASSERT_TRUE(v >= 0 && v == std::trunc(v)) << v;
  // The posterior of a rate is gamma(3 + sum, 1 + 3): a new count has its mean.
  for (int64_t i = 0; i < 6; ++i) {
    const double want = (3 + (i % 2 ? 15.0 : 6.0)) / 4;
    EXPECT_NEAR(moments(element_draws(draws, k, i)).mean, want, 0.5) << i;
  }
}

TEST_P(Predictive, PriorOfEightSchools) {
  const Model model = example_model("eight_schools_centered");
  const int64_t n = 20000;
  const Draws draws = sample_prior(model, n, 4, GetParam());
  const auto root = std::sqrt(static_cast<double>(n));
  const auto& mu = draws.variable("mu").values;
  const auto& tau = draws.variable("tau").values;
  const Moments m = moments(mu);
  EXPECT_NEAR(m.mean, 0, 4 * 5 / root);
  EXPECT_NEAR(std::sqrt(m.variance), 5, 4 * 5 / root);
  // The median of a half Cauchy is its scale, where its density is 1 / (5 pi).
  EXPECT_NEAR(quantile_of(tau, 0.5), 5, 4 * 0.5 * 5 * std::numbers::pi / root);
  EXPECT_GT(*std::min_element(tau.begin(), tau.end()), 0);

  // theta given mu and tau is normal, and y given theta.
  const DrawsVariable &theta = draws.variable("theta"), &y = draws.posterior_predictive.at(0);
  const std::vector<double> sigma{15, 10, 16, 11, 9, 11, 10, 18};
  std::vector<double> z, e;
  for (size_t r = 0; r < mu.size(); ++r)
    for (size_t i = 0; i < 8; ++i) {
      z.push_back((theta.values[r * 8 + i] - mu[r]) / tau[r]);
      e.push_back((y.values[r * 8 + i] - theta.values[r * 8 + i]) / sigma[i]);
    }
  for (const auto& standard : {z, e}) {
    EXPECT_NEAR(moments(standard).mean, 0, 4 / root / std::sqrt(8));
    EXPECT_NEAR(moments(standard).variance, 1, 4 * std::sqrt(2.0) / root / std::sqrt(8));
  }
  EXPECT_EQ(draws.coordinates.at("school").front(), "A");
  EXPECT_EQ(draws.observed.at(0).values.front(), 28);
}

TEST_P(Predictive, PriorRepeatsAndVaries) {
  const Model model = example_model("eight_schools_noncentered");
  const auto of = [&](int64_t n, uint64_t seed) {
    return sample_prior(model, n, seed, GetParam()).variable("theta").values;
  };
  const auto once = of(100, 1);
  EXPECT_EQ(once, of(100, 1));
  EXPECT_NE(once, of(100, 2));
  // More draws begin with the same ones.
  const auto longer = of(150, 1);
  EXPECT_TRUE(std::equal(once.begin(), once.end(), longer.begin()));
}

// Constrained variables, deterministic ones and views of them.
TEST_P(Predictive, PriorOfConstrainedVariables) {
  Model model("constrained");
  const Tensor weights = model.sample("weights", dirichlet(tensor({2.0, 3.0, 5.0})));
  const Tensor scale = model.sample("scale", lognormal(0, 0.5), {2, 2});
  const Tensor low = model.sample("low", uniform(reshape(scale, {4}) * -1, 0));
  model.deterministic("turned", reshape(transpose(scale), {4}) + sum(weights));
  model.observe("y", normal(low, reshape(scale, {4})), zeros({4}, DType::f64));
  const Draws draws = sample_prior(model, 2000, 9, GetParam());
  const auto &w = draws.variable("weights").values, &s = draws.variable("scale").values,
             &l = draws.variable("low").values, &t = draws.variable("turned").values;
  std::vector<double> first;
  for (size_t r = 0; r < 2000; ++r) {
    first.push_back(w[3 * r]);
    ASSERT_NEAR(w[3 * r] + w[3 * r + 1] + w[3 * r + 2], 1, 1e-12);
    for (size_t i = 0; i < 4; ++i) {
      ASSERT_LE(l[4 * r + i], 0);
      ASSERT_GE(l[4 * r + i], -s[4 * r + i]);
      ASSERT_NEAR(t[4 * r + i], s[4 * r + (i % 2) * 2 + i / 2] + 1, 1e-12);
    }
  }
  EXPECT_NEAR(moments(first).mean, 0.2, 4 * std::sqrt(0.2 * 0.8 / 11 / 2000));
}

// What is computed beside them changes no draws: loops, and kernels that wait for each other through a third.
TEST_P(Predictive, DrawsDoNotDependOnTheirNeighbours) {
  const auto drawn = [&](int others) {
    const auto key = [](uint64_t name, const Tensor& n) {
      return random::fold_in(random::fold_in(random::key(9), name), n);
    };
    const auto f = [&](const Tensors& x) -> Tensors {
      Tensors all{gamma(tensor({2.0, 3.0, 5.0}), 1).draw(key(0, x[0]), {3})};
      for (int k = 1; k <= others; ++k)
        all.push_back(lognormal(0, 0.5).draw(key(static_cast<uint64_t>(k), x[0]), {4}));
      return all;
    };
    const Tensors all = vmap(f)(Tensors{iota({4}, DType::u64)});
    eval(all);
    return all[0].to_vector<double>();
  };
  const std::vector<double> alone = drawn(0);
  for (int others = 1; others <= 6; ++others) EXPECT_EQ(drawn(others), alone) << others;
}

// More numbers than are computed at once: blocks join without a seam.
TEST(PredictiveBlocks, JoinInOrder) {
  const Model model = family_model("normal", 200);
  const int64_t n = 30001;
  const auto all = sample_prior(model, n, 1, "cpu").variables.at(0).values;
  ASSERT_EQ(std::ssize(all), n * 200);
  const auto few = sample_prior(model, 300, 1, "cpu").variables.at(0).values;
  EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  // No row comes twice.
  std::vector<double> firsts;
  for (size_t r = 0; r < all.size(); r += 200) firsts.push_back(all[r]);
  std::sort(firsts.begin(), firsts.end());
  EXPECT_EQ(std::adjacent_find(firsts.begin(), firsts.end()), firsts.end());
}

TEST(PredictiveExamples, CanBeDrawnFrom) {
  for (const std::string& name : example_names()) {
    const Draws draws = sample_prior(example_model(name), 20, 1, "cpu");
    EXPECT_FALSE(draws.variables.empty()) << name;
    EXPECT_EQ(draws.posterior_predictive.empty(), name == "funnel") << name;  // which observes nothing
    for (const auto* list : {&draws.variables, &draws.posterior_predictive})
      for (const DrawsVariable& variable : *list) {
        EXPECT_EQ(std::ssize(variable.values), 20 * variable.size()) << name << " " << variable.name;
        for (const double x : variable.values) ASSERT_TRUE(std::isfinite(x)) << name << " " << variable.name;
      }
  }
  for (const char* name : {"regime", "radon"}) {
    SampleOptions options;
    options.device = "cpu";
    options.chains = 2;
    options.warmup = 20;
    options.draws = 10;
    options.log_likelihood = options.posterior_predictive = true;
    const Draws draws = sample(example_model(name), options);
    for (const auto* list : {&draws.log_likelihood, &draws.posterior_predictive}) {
      ASSERT_EQ(list->size(), 1u);
      EXPECT_EQ(list->at(0).size(), std::ssize(draws.observed.at(0).values));
      for (const double x : list->at(0).values) ASSERT_TRUE(std::isfinite(x)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Predictive, testing::ValuesIn(device_ids()), test_name);

TEST(PredictiveErrors, NameWhatCannotBeDrawn) {
  const auto flat = [](const Tensor& x) { return -0.5 * x * x; };
  Model model("no_prior");
  const Tensor mu = model.parameter("mu", constraint::real());
  model.observe("y", custom("mine", flat), tensor({1.0}));
  expect_error([&] { sample_prior(model, 10); },
               "[sample_prior] mu: expected a prior that can be drawn from, got a flat one");
  SampleOptions options;
  options.posterior_predictive = true;
  options.device = "no such device";  // told before one is opened
  expect_error([&] { sample(model, options); },
               "[sample] posterior_predictive: expected a likelihood of y that can be drawn from, got mine");

  Model term("term");
  const Tensor x = term.sample("x", normal(0, 1));
  expect_error([&] { sample_prior(term, 0); }, "[sample_prior] draws: expected");
  options.log_likelihood = true;
  expect_error([&] { sample(term, options); }, "[sample] log_likelihood: expected a model with observations");
  term.add_log_density("pull", -0.5 * x * x);
  expect_error([&] { sample_prior(term, 10); },
               "[sample_prior] pull: expected priors and observations alone");
}
