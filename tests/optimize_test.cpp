// The highest points of densities that are known, Laplace's approximation,
// points and generated quantities.
#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include <adit/error.hpp>
#include <adit/optimize.hpp>
#include <adit/sample.hpp>
#include <adit/stan.hpp>

namespace adit {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was refused";
}

double value_of(const Optimum& optimum, const std::string& name, size_t element = 0) {
  for (const DrawsVariable& variable : optimum.variables)
    if (variable.name == name) return variable.values.at(element);
  ADD_FAILURE() << "no " << name;
  return NAN;
}

// y ~ normal(mu, sigma): its mean, and the root of the mean square.
Model normal_model() {
  Model model("normal");
  const Tensor mu = model.parameter("mu", constraint::real());
  const Tensor sigma = model.parameter("sigma", constraint::positive());
  model.observe("y", normal(mu, sigma), tensor(std::vector<double>{1, 2, 4, 9}));
  return model;
}

// To the last digits, beyond what the defaults ask for.
OptimizeOptions sharp(bool jacobian = false) {
  OptimizeOptions options;
  options.jacobian = jacobian;
  options.tol_rel_grad = options.tol_rel_obj = options.tol_obj = 0;
  options.device = "cpu";
  return options;
}

const std::vector<OptimizeAlgorithm> algorithms{OptimizeAlgorithm::lbfgs, OptimizeAlgorithm::bfgs,
                                                OptimizeAlgorithm::newton};

TEST(Optimize, the_mean_and_the_spread_of_a_normal) {
  for (const OptimizeAlgorithm algorithm : algorithms)
    for (const uint64_t seed : {1, 2, 3}) {
      OptimizeOptions options = sharp();
      options.algorithm = algorithm;
      options.seed = seed;
      Optimum found = optimize(normal_model(), options);
      EXPECT_TRUE(found.converged) << found.why;
      EXPECT_NEAR(value_of(found, "mu"), 4, 1e-6);
      EXPECT_NEAR(value_of(found, "sigma"), std::sqrt(9.5), 1e-6);
      EXPECT_NEAR(found.log_density, -2 * (std::log(2 * M_PI * 9.5) + 1), 1e-12);
      found = optimize(normal_model(), {.algorithm = algorithm, .seed = seed});
      EXPECT_TRUE(found.converged) << found.why;
      EXPECT_NEAR(value_of(found, "mu"), 4, 1e-3);
      EXPECT_NEAR(found.log_density, -2 * (std::log(2 * M_PI * 9.5) + 1), 1e-7);
    }
}

// With the Jacobian the density of log sigma has its maximum where n - 1 takes
// the place of n.
TEST(Optimize, jacobians_count_where_they_are_asked_for) {
  const Optimum found = optimize(normal_model(), sharp(true));
  EXPECT_TRUE(found.converged) << found.why;
  EXPECT_NEAR(value_of(found, "sigma"), std::sqrt(38.0 / 3), 1e-5);
  EXPECT_NEAR(found.log_density, -2 * std::log(2 * M_PI * 38 / 3) - 1.5 + 0.5 * std::log(38.0 / 3), 1e-9);
}

TEST(Optimize, bounds_on_both_sides) {
  // 7 of 10: with beta(2, 2) the mode of p is 8/12; that of logit p with its
  // Jacobian is 9/14.
  Model model("coin");
  const Tensor p = model.sample("p", beta(2, 2));
  model.observe("heads", binomial(10, p), tensor(7.0));
  EXPECT_NEAR(value_of(optimize(model, sharp()), "p"), 8.0 / 12, 1e-8);
  EXPECT_NEAR(value_of(optimize(model, sharp(true)), "p"), 9.0 / 14, 1e-8);
}

// Rosenbrock's valley, written as terms.
TEST(Optimize, a_bent_valley) {
  Model model("valley");
  const Tensor x = model.parameter("x", constraint::real());
  const Tensor y = model.parameter("y", constraint::real());
  model.add_log_density("walls", -(square(1.0 - x) + 100.0 * square(y - square(x))));
  for (const OptimizeAlgorithm algorithm : algorithms) {
    OptimizeOptions options;
    options.algorithm = algorithm;
    options.init = {{"x", {-1.2}}, {"y", {1}}};
    options.trace = true;
    const Optimum found = optimize(model, options);
    EXPECT_TRUE(found.converged) << found.why;
    EXPECT_NEAR(value_of(found, "x"), 1, 1e-4);
    EXPECT_NEAR(value_of(found, "y"), 1, 1e-4);
    ASSERT_EQ(found.trace.size(), 2 * found.steps.size());
    EXPECT_EQ(found.trace[0], -1.2);
    EXPECT_EQ(std::ssize(found.steps), found.iterations + 1);
    for (size_t i = 1; i < found.steps.size(); ++i)
      EXPECT_GE(found.steps[i].log_density, found.steps[i - 1].log_density);
  }
}

struct Logistic {
  static constexpr size_t rows = 60, columns = 3;
  std::vector<double> x, y;
  Logistic() {
    std::mt19937_64 random(5);
    std::normal_distribution<double> normal;
    std::uniform_real_distribution<double> uniform;
    for (size_t i = 0; i < rows; ++i) {
      double eta = 0.3;
      for (size_t j = 0; j < columns; ++j) {
        x.push_back(j == 0 ? 1 : normal(random));
        eta += x.back() * (j == 1 ? 1.0 : -0.5);
      }
      y.push_back(uniform(random) < 1 / (1 + std::exp(-eta)) ? 1 : 0);
    }
  }
  // By Newton's method, in three unknowns.
  std::vector<double> solve() const {
    std::vector<double> beta(columns);
    for (int round = 0; round < 50; ++round) {
      double g[3] = {}, h[3][3] = {};
      for (size_t i = 0; i < rows; ++i) {
        double eta = 0;
        for (size_t j = 0; j < columns; ++j) eta += x[i * columns + j] * beta[j];
        const double p = 1 / (1 + std::exp(-eta));
        for (size_t j = 0; j < columns; ++j) {
          g[j] += (y[i] - p) * x[i * columns + j];
          for (size_t k = 0; k < columns; ++k)
            h[j][k] += p * (1 - p) * x[i * columns + j] * x[i * columns + k];
        }
      }
      for (size_t k = 0; k < columns; ++k)  // elimination
        for (size_t r = k + 1; r < columns; ++r) {
          const double f = h[r][k] / h[k][k];
          for (size_t c = k; c < columns; ++c) h[r][c] -= f * h[k][c];
          g[r] -= f * g[k];
        }
      for (size_t k = columns; k-- > 0;) {
        for (size_t c = k + 1; c < columns; ++c) g[k] -= h[k][c] * g[c];
        g[k] /= h[k][k];
        beta[k] += g[k];
      }
    }
    return beta;
  }
};

TEST(Optimize, logistic_regression_as_newton_solves_it) {
  const Logistic data;
  Model model("logistic");
  const Tensor beta = model.parameter("beta", constraint::real(), {3});
  model.observe("y", bernoulli_logit(matmul(tensor(data.x, {60, 3}), beta)), tensor(data.y));
  const std::vector<double> wanted = data.solve();
  for (const OptimizeAlgorithm algorithm : algorithms) {
    OptimizeOptions options = sharp();
    options.algorithm = algorithm;
    const Optimum found = optimize(model, options);
    EXPECT_TRUE(found.converged) << found.why;
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(value_of(found, "beta", i), wanted[i], 1e-7);
  }
}

TEST(Optimize, no_maximum_is_said) {
  Model line("line");
  line.add_log_density("slope", 2.0 * line.parameter("mu", constraint::real()));
  Optimum found = optimize(line);
  EXPECT_FALSE(found.converged);
  EXPECT_TRUE(found.unbounded);
  EXPECT_NE(found.why.find("grows without end as mu does"), std::string::npos) << found.why;

  // One point, whose spread may shrink to nothing.
  Model spike("spike");
  const Tensor mu = spike.parameter("mu", constraint::real());
  const Tensor sigma = spike.parameter("sigma", constraint::positive());
  spike.observe("y", normal(mu, sigma), tensor(std::vector<double>{3.0}));
  for (const OptimizeAlgorithm algorithm : algorithms) {
    OptimizeOptions options;
    options.algorithm = algorithm;
    found = optimize(spike, options);
    EXPECT_FALSE(found.converged) << found.why << " " << found.point[1];
    EXPECT_NE(found.why.find("sigma"), std::string::npos) << found.why;
  }
}

TEST(Optimize, the_most_iterations) {
  OptimizeOptions options;
  options.iterations = 2;
  const Optimum found = optimize(normal_model(), options);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.iterations, 2);
  EXPECT_EQ(found.why, "the most iterations were made (2)");
}

TEST(Optimize, bad_arguments_are_named) {
  const auto with = [](const std::function<void(OptimizeOptions&)>& set) {
    OptimizeOptions options;
    set(options);
    return refusal([&] { optimize(normal_model(), options); });
  };
  EXPECT_EQ(with([](auto& o) { o.iterations = 0; }), "[optimize] iterations: expected at least 1, got 0");
  EXPECT_EQ(with([](auto& o) { o.history_size = 0; }), "[optimize] history_size: expected at least 1, got 0");
  EXPECT_EQ(with([](auto& o) { o.tol_grad = -1; }),
            "[optimize] tol_grad: expected a number of at least 0, got -1");
  EXPECT_EQ(with([](auto& o) { o.init_alpha = 0; }),
            "[optimize] init_alpha: expected a number above 0, got 0");
  EXPECT_EQ(with([](auto& o) { o.init_radius = NAN; }),
            "[optimize] init_radius: expected a number of at least 0, got nan");
  EXPECT_EQ(with([](auto& o) {
              o.init = {{"nu", {1}}};
            }),
            "[optimize] init: expected variables among mu, sigma, got \"nu\"");
  EXPECT_EQ(with([](auto& o) {
              o.init = {{"mu", {1, 2}}};
            }),
            "[optimize] init: expected 1 numbers for mu, 1 of shape [], got 2");
  const std::string outside = with([](auto& o) { o.init = {{"sigma", {-1}}}; });
  EXPECT_TRUE(outside.starts_with("[optimize] init: expected ")) << outside;
  EXPECT_NE(outside.find("for sigma, got -1"), std::string::npos) << outside;
  EXPECT_NE(with([](auto& o) {
              o.init = {{"sigma", {0}}};
            }).find("sigma, not on the bound, got 0"),
            std::string::npos);
  EXPECT_NE(with([](auto& o) {
              o.init = {{"mu", {NAN}}};
            }).find("finite numbers for mu, got nan"),
            std::string::npos);
  EXPECT_NE(refusal([] { optimize(Model("empty")); }).find("expected at least one parameter"),
            std::string::npos);
  Model nowhere("nowhere");
  nowhere.add_log_density("gap", log(-exp(nowhere.parameter("x", constraint::real()))));
  const std::string odd = refusal([&] { optimize(nowhere); });
  EXPECT_NE(odd.find("expected a start with a finite log density, got none in "
                     "100 attempts: gap is "),
            std::string::npos)
      << odd;
}

// Mean m, covariance from an average of x_i and a difference.
TEST(Laplace, a_gaussian_is_met_exactly) {
  Model model("gaussian");
  const Tensor a = model.sample("a", normal(1, 2));
  model.sample("b", normal(a * 3.0, 0.5));
  const Optimum mode = optimize(model, sharp(true));
  const Laplace found = laplace_draws(model, mode, {.draws = 4000, .seed = 7});
  const double wanted[] = {0.25 + 36, -12, -12, 4};  // of the negative log density
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(found.hessian[i], wanted[i], 1e-7);
  ASSERT_EQ(found.log_q.size(), 4000u);
  const double constant = found.draws.stats.lp[0] - found.log_q[0];
  EXPECT_NEAR(constant, mode.log_density, 1e-6);
  for (size_t i = 0; i < 4000; ++i) EXPECT_NEAR(found.draws.stats.lp[i] - found.log_q[i], constant, 1e-6);
  double mean = 0, square = 0;
  for (const double x : found.draws.variable("b").values) {
    mean += x / 4000;
    square += x * x / 4000;
  }
  EXPECT_NEAR(mean, 3, 6 * std::sqrt(36.25 / 4000));
  EXPECT_NEAR(square - mean * mean, 36.25, 6 * 36.25 * std::sqrt(2.0 / 4000));
  const Laplace again = laplace_draws(model, mode, {.draws = 4000, .seed = 7});
  EXPECT_EQ(again.draws.variable("a").values, found.draws.variable("a").values);
}

TEST(Laplace, needs_a_mode) {
  Model saddle("saddle");
  const Tensor x = saddle.parameter("x", constraint::real()), y = saddle.parameter("y", constraint::real());
  saddle.add_log_density("saddle", square(y) - square(x));
  const Optimum at = optimum_at(saddle, {0, 0}, true);
  const std::string odd = refusal([&] { laplace_draws(saddle, at); });
  EXPECT_NE(odd.find("[laplace] mode: expected a point where the log density "
                     "is curved downwards"),
            std::string::npos);
  EXPECT_NE(odd.find("along y"), std::string::npos) << odd;
  EXPECT_NE(refusal([&] { laplace_draws(saddle, at, {.draws = 0}); }).find("[laplace] draws"),
            std::string::npos);
  EXPECT_NE(refusal([&] { laplace_draws(saddle, Optimum{}); }).find("[laplace] mode: expected a point of 2"),
            std::string::npos);
}

TEST(Points, log_densities_and_gradients_in_closed_form) {
  const Model model = normal_model();
  std::vector<double> points;
  for (int i = 0; i < 150; ++i) points.insert(points.end(), {i * 0.1 - 3, i * 0.01 - 0.5});
  for (const bool jacobian : {true, false}) {
    const LogDensities found = log_densities(model, points, jacobian);
    ASSERT_EQ(found.values.size(), 150u);
    for (size_t i = 0; i < 150; ++i) {
      const double mu = points[2 * i], u = points[2 * i + 1], precision = std::exp(-2 * u);
      double squares = 0, sum = 0;
      for (const double y : {1, 2, 4, 9}) {
        squares += (y - mu) * (y - mu);
        sum += y - mu;
      }
      const double value = -2 * std::log(2 * M_PI) - 4 * u - squares * precision / 2 + (jacobian ? u : 0);
      EXPECT_NEAR(found.values[i], value, 1e-11 * std::abs(value));
      EXPECT_NEAR(found.gradients[2 * i], sum * precision, 1e-10 * (1 + std::abs(sum * precision)));
      EXPECT_NEAR(found.gradients[2 * i + 1], squares * precision - 4 + (jacobian ? 1 : 0),
                  1e-10 * (1 + squares * precision));
    }
  }
  EXPECT_NE(refusal([&] {
              log_densities(model, {1, 2, 3});
            }).find("expected rows of 2 numbers"),
            std::string::npos);
}

TEST(Points, there_and_back) {
  Model model("kinds");
  const Tensor low = model.parameter("low", constraint::real());
  model.parameter("above", constraint::lower(low));
  model.parameter("between", constraint::interval(low, low + 2.0), {3});
  model.parameter("shares", constraint::simplex(), {4});
  model.parameter("steps", constraint::ordered(), {2, 3});
  model.parameter("spread", constraint::cov_matrix(), {2, 2});
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> points;
  for (int64_t i = 0; i < 10 * model.size(); ++i) points.push_back(normal(random));
  NamedValues values;
  for (const DrawsVariable& variable : constrain(model, points)) values[variable.name] = variable.values;
  const std::vector<double> back = unconstrain(model, values, 10);
  ASSERT_EQ(back.size(), points.size());
  for (size_t i = 0; i < back.size(); ++i) EXPECT_NEAR(back[i], points[i], 1e-9);

  const auto changed = [&](const std::string& name, std::vector<double> first) {
    NamedValues other = values;
    std::copy(first.begin(), first.end(), other[name].begin());
    return refusal([&] { unconstrain(model, other, 10); });
  };
  EXPECT_NE(changed("shares", {0.5, 0.5, 0.5, 0.5}).find("for shares, got 0.5, 0.5, 0.5, 0.5 in row 1"),
            std::string::npos);
  EXPECT_NE(changed("steps", {3, 2, 1}).find("for steps"), std::string::npos);
  EXPECT_NE(changed("spread", {1, 2, 2, 1}).find("for spread"), std::string::npos);
  EXPECT_NE(changed("above", {values["low"][0] - 1}).find("for above"), std::string::npos);
  EXPECT_NE(changed("between", {values["low"][0] + 3}).find("for between"), std::string::npos);
  values.erase("steps");
  EXPECT_EQ(refusal([&] { unconstrain(model, values, 10); }),
            "[unconstrain] values: expected values of steps, got none");
}

TEST(Generate, quantities_of_draws_that_were_made_earlier) {
  const std::string before =
      "data { int N; vector[N] y; } parameters { real "
      "mu; real<lower=0> sigma; simplex[3] p; } "
      "model { y ~ normal(mu, sigma); mu ~ normal(0, "
      "5); sigma ~ normal(0, 3); } ";
  const std::string data = R"({"N": 3, "y": [1, 2, 4]})";
  const Model plain = StanProgram::from_text("plain", before).bind_json(data).model;
  const Model more =
      StanProgram::from_text("more", before +
                                         "generated quantities { real twice = 2 * mu; vector[3] q = p * "
                                         "sigma; real seen = normal_rng(mu, sigma); }")
          .bind_json(data)
          .model;
  SampleOptions options{.chains = 2, .warmup = 200, .draws = 100};
  options.device = "cpu";
  Draws draws = sample(plain, options);
  const Draws whole = sample(more, options);
  const Draws found = generate_quantities(more, draws, options.seed);
  ASSERT_EQ(found.variables.size(), 6u);
  EXPECT_EQ(found.variable("mu").values, draws.variable("mu").values);
  EXPECT_EQ(found.stats.lp, draws.stats.lp);
  for (size_t i = 0; i < 200; ++i) {
    EXPECT_DOUBLE_EQ(found.variable("twice").values[i], 2 * draws.variable("mu").values[i]);
    for (size_t k = 0; k < 3; ++k)
      EXPECT_NEAR(found.variable("q").values[3 * i + k],
                  draws.variable("sigma").values[i] * draws.variable("p").values[3 * i + k], 1e-12);
  }
  // As the run itself would have made them.
  ASSERT_EQ(whole.variable("mu").values, draws.variable("mu").values);
  for (size_t i = 0; i < 200; ++i)
    EXPECT_NEAR(found.variable("seen").values[i], whole.variable("seen").values[i], 1e-9);

  // Values as a file with few digits has them, one of them on its bound.
  for (DrawsVariable& variable : draws.variables)
    for (double& x : variable.values) x = std::stof(std::to_string(x));
  draws.variables[1].values[0] = 0;
  const Model no_draw =
      StanProgram::from_text("no_draw", before + "generated quantities { vector[3] q = p * sigma; }")
          .bind_json(data)
          .model;
  EXPECT_EQ(generate_quantities(no_draw, draws).variable("q").values[0], 0);
  const std::string no_scale = refusal([&] { generate_quantities(more, draws); });
  EXPECT_NE(
      no_scale.find("normal_rng: argument 2: expected above 0 and finite, got 0 (in draw 1 of chain 1)"),
      std::string::npos)
      << no_scale;

  draws.variables[1].values[103] = -1;
  const std::string outside = refusal([&] { generate_quantities(more, draws); });
  EXPECT_NE(outside.find("for sigma, got -1 in draw 4 of chain 2"), std::string::npos) << outside;
  draws.variables[1].values[103] = 1;
  draws.variables[1].name = "tau";
  EXPECT_EQ(refusal([&] { generate_quantities(more, draws); }),
            "[generate] draws: expected the parameter sigma of more, got none "
            "in the draws");
  draws.variables[1].name = "sigma";
  draws.variables[2].shape = {1, 3};
  EXPECT_NE(refusal([&] {
              generate_quantities(more, draws);
            }).find("expected p of shape [3], got one of shape [1, 3]"),
            std::string::npos);
}

// Programs with loops, a Cholesky factor and an ODE: the mode has no gradient,
// and Laplace goes through.
TEST(Optimize, stan_programs_have_modes) {
  const std::string program =
      "data { int T; vector[T] y; } parameters { real a; real<lower=-1, "
      "upper=1> b; real<lower=0> s; } model { "
      "a ~ normal(0, 1); s ~ exponential(1); for (t in 2:T) y[t] ~ normal(a + "
      "b * y[t - 1], s); }";
  const Model model = StanProgram::from_text("ar", program)
                          .bind_json(R"({"T": 6, "y": [0.1, 0.5, 0.2, 0.9, 0.3, 0.4]})")
                          .model;
  const Optimum mode = optimize(model, {.jacobian = true});
  EXPECT_TRUE(mode.converged) << mode.why;
  for (const double slope : mode.gradient) EXPECT_NEAR(slope, 0, 1e-3);
  EXPECT_EQ(laplace_draws(model, mode, {.draws = 10}).draws.variables.size(), 3u);
}

}  // namespace
}  // namespace adit
