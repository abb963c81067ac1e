// Parameters of distributions outside of their domains: as numbers, as tensors, as data, at start points and
// in a run. Each is told by name, and none has a finite density.
#include <cmath>
#include <cstdio>
#include <limits>

#include <adit/control.hpp>
#include <adit/diagnostics.hpp>
#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "model_densities.hpp"

namespace adit::test {
namespace {

using Given = adit::Parameter;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// A distribution by one of its parameters, the others good ones; what is outside; and an observation.
struct Case {
  std::string distribution, parameter;
  std::function<Distribution(Given)> make;
  std::vector<double> outside;
  std::vector<double> seen{1};
  std::string expected = "a positive number";
  std::string refused_by{};  // "[normal] sigma" where a part of it refuses known ones; else the case's own
};

std::vector<Case> cases() {
  const std::vector<double> low{-0.3, -1.7, -20.5, 0};
  const std::vector<double> shares{-0.25, 1.25};
  return {
      {"normal", "sigma", [](Given p) { return normal(0, p); }, low},
      {"half_normal", "sigma", [](Given p) { return half_normal(p); }, low},
      {"lognormal", "sigma", [](Given p) { return lognormal(0, p); }, low},
      {"student_t", "nu", [](Given p) { return student_t(p, 0, 1); }, low},
      {"student_t", "sigma", [](Given p) { return student_t(3, 0, p); }, low},
      {"cauchy", "scale", [](Given p) { return cauchy(0, p); }, low},
      {"half_cauchy", "scale", [](Given p) { return half_cauchy(p); }, low},
      {"exponential", "rate", [](Given p) { return exponential(p); }, low},
      {"gamma", "shape", [](Given p) { return gamma(p, 2); }, low},
      {"gamma", "rate", [](Given p) { return gamma(2, p); }, low},
      {"inv_gamma", "shape", [](Given p) { return inv_gamma(p, 2); }, low},
      {"inv_gamma", "scale", [](Given p) { return inv_gamma(2, p); }, low},
      {"beta", "a", [](Given p) { return beta(p, 2); }, low, {0.5}},
      {"beta", "b", [](Given p) { return beta(2, p); }, low, {0.5}},
      {"laplace", "scale", [](Given p) { return laplace(0, p); }, low},
      {"logistic", "scale", [](Given p) { return logistic(0, p); }, low},
      {"weibull", "shape", [](Given p) { return weibull(p, 2); }, low},
      {"weibull", "scale", [](Given p) { return weibull(2, p); }, low},
      {"truncated_normal", "sigma", [](Given p) { return truncated_normal(0, p, -1, 3); }, low},
      {"uniform", "high - low", [](Given p) { return uniform(1, p); }, {0.5, -3}},
      {"bernoulli", "p", [](Given p) { return bernoulli(p); }, shares, {1, 0}, "a number from 0 to 1"},
      {"bernoulli", "p", [](Given p) { return bernoulli(p); }, {1.25}, {1}, "a number from 0 to 1"},
      {"bernoulli", "p", [](Given p) { return bernoulli(p); }, {-0.25}, {0}, "a number from 0 to 1"},
      {"binomial", "p", [](Given p) { return binomial(3, p); }, {1.25}, {3}, "a number from 0 to 1"},
      {"binomial", "p", [](Given p) { return binomial(3, p); }, {-0.25}, {0}, "a number from 0 to 1"},
      {"poisson", "rate", [](Given p) { return poisson(p); }, {-0.5, -3}, {0}, "a number of at least 0"},
      {"poisson", "rate", [](Given p) { return poisson(p); }, {-0.5, -3}, {2}, "a number of at least 0"},
      {"neg_binomial_2", "mean", [](Given p) { return neg_binomial_2(p, 2); }, low, {2}},
      {"neg_binomial_2", "dispersion", [](Given p) { return neg_binomial_2(5, p); }, low, {2}},
      {"gaussian_random_walk", "sigma", [](Given p) { return gaussian_random_walk(p, 1); }, low},
      {"dirichlet",
       "concentration",
       [](Given p) {
         return dirichlet(stack({p.tensor(), full({}, 2.0, DType::f64)}));
       },
       low,
       {0.25, 0.75}},
      {"lkj_corr_cholesky", "shape", [](Given p) { return lkj_corr_cholesky(1, p); }, {-0.25, -1.5}},
      {"multi_normal_cholesky",
       "factor",
       [](Given p) {
         return multi_normal_cholesky(zeros({1}, DType::f64), reshape(p.tensor(), {1, 1}));
       },
       low,
       {1},
       "a positive diagonal"},
      {"multi_normal",
       "covariance",
       [](Given p) {
         return multi_normal(zeros({1}, DType::f64), reshape(p.tensor(), {1, 1}));
       },
       low,
       {1},
       "a positive definite matrix"},
      {"mixture",
       "sigma of component 1",
       [](Given p) {
         return mixture(tensor({0.5, 0.5}), {normal(0, 1), normal(0, p)});
       },
       low,
       {1},
       "a positive number",
       "[normal] sigma"},
      {"mixture",
       "weights",
       [](Given p) {
         const Tensor w = p.tensor();
         return mixture(stack({w, 1 - w}), {normal(0, 1), normal(0, 2)});
       },
       {-0.5},
       {1},
       "a number of at least 0"},
      {"censored",
       "sigma",
       [](Given p) { return censored(normal(0, p), -2, 2); },
       low,
       {1},
       "a positive number",
       "[normal] sigma"},
  };
}

double good(const Case& it) { return it.distribution == "uniform" ? 1.75 : 0.75; }

Tensor seen(const Case& it) {
  const Distribution some = it.make(good(it));
  return some.event.empty() ? tensor(it.seen) : tensor(it.seen, some.event);
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Numbers and tensors in memory, of any type that holds them.
TEST(Outside, KnownParametersAreRefusedByName) {
  for (const Case& it : cases())
    for (const double bad : it.outside) {
      const std::string own = "[" + it.distribution + "] " + it.parameter;
      const std::string start = (it.refused_by.empty() ? own : it.refused_by) + ": expected " + it.expected;
      const std::string words = it.distribution + " " + std::to_string(bad);
      EXPECT_EQ(message_of([&] { it.make(tensor(bad)); }).rfind(start, 0), 0u) << words;
      EXPECT_EQ(message_of([&] { it.make(tensor(static_cast<float>(bad))); }).rfind(start, 0), 0u) << words;
      EXPECT_EQ(message_of([&] { it.make(tensor(bad / 2) * 2.0); }).rfind(start, 0), 0u) << words;
      EXPECT_NE(message_of([&] { it.make(bad); }), "") << words;
      EXPECT_NE(message_of([&] { it.make(tensor(nan)); }), "") << words;
    }
}

TEST(Outside, TheElementIsNamed) {
  const auto expect = [](const std::function<void()>& call, const std::string& message) {
    EXPECT_EQ(message_of(call), message);
  };
  expect([] { gamma(tensor({1.0, -1.0}), 1); }, "[gamma] shape: expected a positive number, got -1 at [1]");
  expect([] { gamma(tensor(-1.0), 1); }, "[gamma] shape: expected a positive number, got -1");
  expect(
      [] {
        gamma(tensor<int>({{1, 2}, {3, 0}}), 1);
      },
      "[gamma] shape: expected a positive number, got 0 at [1, 1]");
  expect([] { normal(tensor({0.0, infinity}), 1); }, "[normal] mu: expected a finite number, got inf at [1]");
  expect([] { normal(0, broadcast_to(tensor(-2.0), {3})); },
         "[normal] sigma: expected a positive number, got -2");
  expect(
      [] {
        bernoulli(tensor({0.5f, 1.5f}));
      },
      "[bernoulli] p: expected a number from 0 to 1, got 1.5 at [1]");
  expect(
      [] {
        binomial(tensor({3.0, 2.5}), 0.5);
      },
      "[binomial] count: expected a whole number of at least 0, got 2.5 at [1]");
}

// A conversion is looked through only where it keeps the number: -0.5 as a whole number is 0.
TEST(Outside, ConversionsCount) {
  EXPECT_EQ(message_of([] { poisson(as_type(tensor({-0.5, 3.0}), DType::i32)); }), "");
}

// What is not known is left alone: arguments of functions that are traced.
TEST(Outside, TracedParametersPass) {
  const auto density = [](Tensor s) { return sum(normal(0, s).log_density(tensor({1.0}))); };
  EXPECT_TRUE(std::isnan(jit(density)(tensor(-1.0)).item<double>()));
  EXPECT_TRUE(std::isfinite(grad(density)(tensor(2.0)).item<double>()));
  EXPECT_EQ(vmap(density)(tensor({1.0, 2.0})).shape(), Shape{2});
}

// A parameter that follows from a variable: the density is never finite outside of the domain.
TEST(Outside, NoDensityOutside) {
  for (const Case& it : cases()) {
    Model model;
    const Tensor p = model.parameter("p", constraint::real());
    model.observe("y", it.make(p), seen(it));
    for (const double bad : it.outside) {
      const double lp = model.log_density(tensor({bad})).item<double>();
      EXPECT_FALSE(std::isfinite(lp) || lp == infinity)
          << it.distribution << " " << it.parameter << " " << bad << ": " << lp;
    }
    EXPECT_TRUE(std::isfinite(model.log_density(tensor({good(it)})).item<double>())) << it.distribution;
  }
}

TEST(Outside, DataAreChecked) {
  Model model;
  const Tensor mu = model.sample("mu", normal(0, 1));
  const Tensor error = model.data("error", tensor({1.0, 2.0}));
  model.observe("y", normal(mu, error - 0.5), tensor({1.0, 2.0}));
  EXPECT_EQ(message_of([&] {
              model.set_data("error", tensor({1.0, 0.25}));
            }),
            "[observe y] sigma of normal: expected a positive number, got -0.25 at [1]");
  EXPECT_EQ(message_of([&] {
              model.observe("z", normal(mu, error - 1.5), tensor({1.0, 2.0}));
            }),
            "[observe z] sigma of normal: expected a positive number, got -0.5 at [0]");
  EXPECT_EQ(message_of([&] { model.sample("a", gamma(error - 2.0, 1)); }),
            "[sample a] shape of gamma: expected a positive number, got -1 at [0]");
  EXPECT_EQ(message_of([&] { model.sample("b", normal(0, error - 2.0), {}, Form::non_centred); }),
            "[sample b] sigma of normal: expected a positive number, got -1 at [0]");
  EXPECT_TRUE(std::isfinite(model.log_density(tensor({0.5})).item<double>()));  // the old data are there
  EXPECT_EQ(model.size(), 1);
}

// Every start has a scale below 0: the error says whose.
TEST(Outside, StartsThatFailNameTheParameter) {
  Model model("low");
  const Tensor s = model.sample("s", normal(0, 1));
  model.observe("y", normal(0, s - 10.0), tensor({1.0, 2.0}));
  const std::string message =
      message_of([&] { sample(model, {.chains = 1, .warmup = 10, .draws = 10, .device = "cpu"}); });
  EXPECT_NE(message.find("y is NaN (sigma of normal: expected a positive number, got -"), std::string::npos)
      << message;
}

Model crossing() {
  Model model("crossing");
  const Tensor mu = model.sample("mu", normal(0, 1)), s = model.sample("s", normal(0, 1));
  model.observe("y", normal(mu, s), tensor({0.1, -0.2, 0.05}));
  return model;
}

// A scale that wanders below 0 during a run: the warnings tell which, and how often.
TEST(Outside, ARunTellsWhatLeftItsDomain) {
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    const Draws draws =
        sample(crossing(), {.chains = 4, .warmup = 200, .draws = 200, .device = "cpu", .metric = metric});
    ASSERT_GT(draws.divergences(), 0u);
    ASSERT_EQ(draws.notes.size(), 1u);
    const std::string start = "[observe y] sigma of normal: expected a positive number, got -";
    EXPECT_EQ(draws.notes[0].rfind(start, 0), 0u) << draws.notes[0];
    EXPECT_NE(draws.notes[0].find("divergent transitions that were looked at"), std::string::npos);
    bool told = false;
    for (const std::string& warning : warnings(draws, summary(draws)))
      told = told || warning == draws.notes[0];
    EXPECT_TRUE(told);
  }
}

// A density that is smooth up to the edge: what diverges there went over it. Walked again both ways, nearly
// every transition is found.
TEST(Outside, NearlyAllOfThemAreFound) {
  Model model("edge");
  model.observe("k", poisson(model.sample("rate", normal(0.5, 1))), tensor({0.0}));
  const Draws draws = sample(model, {.chains = 4, .warmup = 200, .draws = 200, .device = "cpu"});
  ASSERT_EQ(draws.notes.size(), 1u);
  const size_t counts = draws.notes[0].find("So it was in ");
  ASSERT_NE(counts, std::string::npos);
  int found = 0, looked_at = 0;
  ASSERT_EQ(std::sscanf(draws.notes[0].c_str() + counts, "So it was in %d of %d", &found, &looked_at), 2);
  EXPECT_GE(4 * found, 3 * looked_at) << draws.notes[0];
}

// x is halved until it is small, and never where `a` is beyond the limit.
Model endless(double limit) {
  Model model("endless");
  const Tensor a = model.sample("a", normal(0, 1));
  const Tensors last =
      while_loop([](const Tensors& s) { return s[0] > 0.01; },
                 [&](const Tensors& s) -> Tensors { return {select(a < limit, s[0] * 0.5, s[0])}; },
                 {full({}, 1.0, DType::f64)});
  model.observe("y", normal(last[0] + a, 1.0), full({}, 0.6, DType::f64));
  return model;
}

// A loop that does not end is a divergence that is counted and told, wherever the density is computed.
TEST(Outside, LoopsWithoutAnEndAreTold) {
  for (const std::string layout : {"lane", "team", "device"}) {
    const Draws draws =
        sample(endless(1), {.chains = 2, .warmup = 100, .draws = 100, .device = "cpu", .layout = layout});
    EXPECT_GT(draws.divergences(), 0u) << layout;
    ASSERT_EQ(draws.notes.size(), 1u) << layout;
    EXPECT_EQ(draws.notes[0].rfind("[observe y] a while_loop went on after 1024 rounds. ", 0), 0u)
        << draws.notes[0];
  }
  const Model never = endless(-100);
  EXPECT_TRUE(std::isnan(never.log_density(tensor({0.5})).item<double>()));
  const std::string message =
      message_of([&] { sample(never, {.chains = 1, .warmup = 10, .draws = 10, .device = "cpu"}); });
  EXPECT_NE(message.find("y is NaN (a while_loop went on after 1024 rounds)"), std::string::npos) << message;
}

// A correlation that wanders beyond 1: the matrix has no factor there.
TEST(Outside, MatricesWithoutAFactorAreTold) {
  Model model("beyond");
  const Tensor r = model.sample("r", normal(0, 1));
  const Tensor one = full({}, 1.0, DType::f64);
  const Tensor matrix = reshape(stack({one, r, r, one}, 0), {2, 2});
  const Tensor factor = cholesky(matrix);
  model.add_log_density("fit", -sum(square(factor)) + r * 0.5);
  const Draws draws = sample(model, {.chains = 4, .warmup = 200, .draws = 200, .device = "cpu"});
  ASSERT_GT(draws.divergences(), 0u);
  ASSERT_EQ(draws.notes.size(), 1u);
  EXPECT_EQ(draws.notes[0].rfind("[fit] a matrix of 2 x 2 is not positive definite. ", 0), 0u)
      << draws.notes[0];
}

// A place inside of a loop that the data decide is looked at before anything runs, as outside of loops.
TEST(Outside, PlacesInsideOfLoopsAreChecked) {
  Model model("loop");
  const Tensor effect = model.sample("effect", normal(0, 1), {4});
  const Tensor groups = model.data("groups", tensor(std::vector<int64_t>{0, 3, 2, 1, 3, 0}, {3, 2}));
  const Step walked = scan(
      [&](const Tensors& carry, const Tensors& rows) -> Step {
        const Step inner = scan(
            [&](const Tensors& level, const Tensors& group) -> Step {
              return {{level[0] * 0.5 + take(effect, group[0] + 0)}, {}};
            },
            {carry[0]}, {rows[0]});
        return {{inner.carry[0]}, {}};
      },
      {full({}, 0.0, DType::f64)}, {groups});
  model.observe("y", normal(walked.carry[0], 1.0), full({}, 0.6, DType::f64));
  const SampleOptions options{.chains = 1, .warmup = 20, .draws = 20, .device = "cpu"};
  EXPECT_EQ(message_of([&] { sample(model, options); }), "");
  model.set_data("groups", tensor(std::vector<int64_t>{0, 3, 2, 1, 4, 0}, {3, 2}));
  EXPECT_NE(message_of([&] { sample(model, options); }).find("expected places from 0 to 3, got 4 at place 4"),
            std::string::npos)
      << message_of([&] { sample(model, options); });
}

// Divergences with another cause are not blamed on parameters.
TEST(Outside, AFunnelIsNotBlamed) {
  Model model("funnel");
  const Tensor v = model.sample("v", normal(0, 3));
  model.sample("x", normal(0, exp(v * 0.5)), {9});
  const Draws draws = sample(model, {.chains = 4, .warmup = 200, .draws = 300, .device = "cpu"});
  EXPECT_TRUE(draws.notes.empty());
}

// Many data sets: each has its own notes. The density is smooth up to the edge, so what diverges there went
// over it; two hundred events keep the rate far from it.
TEST(Outside, NotesGoWithTheDataSet) {
  Model model("edge");
  model.observe("k", poisson(model.sample("rate", normal(0.5, 1))), tensor({0.0}));
  const auto draws = sample_many(model, {{"k", tensor({{0.0}, {200.0}})}},
                                 {.chains = 4, .warmup = 200, .draws = 200, .device = "cpu"});
  ASSERT_EQ(draws.size(), 2u);
  EXPECT_GT(draws[0].divergences(), 0u);
  EXPECT_EQ(draws[0].notes.size(), 1u);
  EXPECT_EQ(draws[1].divergences(), 0u);
  EXPECT_TRUE(draws[1].notes.empty());
}

}  // namespace
}  // namespace adit::test
