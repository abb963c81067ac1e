// Simulation-based calibration (Talts and others 2018): parameters from the prior, data from the model, draws
// from the posterior; the rank of the truth among the draws is uniform if everything is right, Jacobians,
// likelihoods and data of many sets among it.
#include <fmt/format.h>
#include <random>

#include "devices.hpp"
#include "sampling/drive.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using Generator = std::mt19937_64;
using Numbers = std::vector<double>;

double normal_of(Generator& g, double mu, double sigma) { return std::normal_distribution(mu, sigma)(g); }
double gamma_of(Generator& g, double shape, double rate) {
  return std::gamma_distribution(shape, 1 / rate)(g);
}

struct Case {
  Model model;
  std::vector<std::string> names;  // of what is ranked
  // One truth, in the order of the names, and the data that follow from it.
  std::function<Numbers(Generator&, sampling::DataSet&)> draw;
  // The same numbers at an unconstrained point.
  std::function<Numbers(const double* q)> values;
  int64_t data_sets = 1024;
};

constexpr int64_t draws = 63, bins = 16;
// Of chi-square with 15 degrees of freedom: one number in a million is above, since each commit has other
// data.
constexpr double threshold = 56.5;

// Chi-square of the ranks' histogram, for each number that is ranked.
std::map<std::string, double> calibrate(const Case& it) {
  const int64_t data_sets = it.data_sets;
  const uint64_t seed = first_seed();
  Generator generator(seed);
  std::vector<sampling::DataSet> sets;
  std::vector<Numbers> truths;
  for (int64_t s = 0; s < data_sets; ++s) truths.push_back(it.draw(generator, sets.emplace_back()));
  SampleOptions options;
  options.chains = 1;  // a data set
  options.warmup = 150;
  options.draws = draws;
  options.thin = 4;
  options.seed = seed;
  options.precision = Precision::f64;
  const Outcome outcome = run_model(it.model, options, "cpu", sets);
  EXPECT_EQ(outcome.chains, data_sets);
  std::vector<std::array<int64_t, bins>> counts(it.names.size());
  for (int64_t s = 0; s < data_sets; ++s) {
    std::vector<int64_t> rank(it.names.size());
    for (int64_t r = 0; r < outcome.count; ++r) {
      const Numbers values = it.values(outcome.row(s, r).q);
      for (size_t i = 0; i < values.size(); ++i) rank[i] += values[i] < truths[static_cast<size_t>(s)][i];
    }
    for (size_t i = 0; i < rank.size(); ++i) ++counts[i][static_cast<size_t>(rank[i] * bins / (draws + 1))];
  }
  std::map<std::string, double> result;
  const double expected = static_cast<double>(data_sets) / bins;
  for (size_t i = 0; i < it.names.size(); ++i) {
    double& square = result[it.names[i]];
    for (const int64_t count : counts[i])
      square += (static_cast<double>(count) - expected) * (static_cast<double>(count) - expected) / expected;
  }
  return result;
}

void expect_calibrated(const Case& it) {
  for (const auto& [name, square] : calibrate(it)) {
    EXPECT_LT(square, threshold) << name;
    fmt::print("{:10} chi-square {:.1f}\n", name, square);
  }
}

// mu ~ normal(1, 2), sigma ~ half_normal(1.5), four numbers y.
Case normal_case(const Constraint& of_sigma) {
  Case it{Model("normal"), {"mu", "sigma"}, {}, {}};
  const Distribution half = half_normal(1.5);
  const Tensor mu = it.model.sample("mu", normal(1, 2));
  const Tensor sigma = it.model.sample("sigma", custom("half", half.log_density, of_sigma));
  it.model.observe("y", normal(mu, sigma), zeros({4}, DType::f64));
  it.draw = [](Generator& g, sampling::DataSet& data) {
    const double m = normal_of(g, 1, 2), s = std::abs(normal_of(g, 0, 1.5));
    Numbers y(4);
    for (double& v : y) v = normal_of(g, m, s);
    data["y"] = tensor(y);
    return Numbers{m, s};
  };
  it.values = [](const double* q) { return Numbers{q[0], std::exp(q[1])}; };
  return it;
}

TEST(Calibration, NormalMeanAndDeviation) { expect_calibrated(normal_case(constraint::lower(0))); }

// The same map to positive numbers, without its Jacobian: the gate must see it.
TEST(Calibration, MissingJacobianIsRejected) {
  Constraint wrong = constraint::lower(0);
  wrong.constrain = [inner = wrong.constrain](const Tensor& u, const Shape& x) {
    return Constrained{inner(u, x).value, zeros({}, DType::f64)};
  };
  const auto squares = calibrate(normal_case(wrong));
  EXPECT_GT(squares.at("sigma"), 2 * threshold);
  fmt::print("sigma without its Jacobian: chi-square {:.1f}\n", squares.at("sigma"));
}

TEST(Calibration, EightSchoolsNonCentred) {
  const Numbers errors{15, 10, 16, 11, 9, 11, 10, 18};
  Case it{Model("schools"), {"mu", "tau", "theta[1]", "theta[5]", "theta[8]"}, {}, {}};
  const Tensor mu = it.model.sample("mu", normal(0, 5)), tau = it.model.sample("tau", half_normal(10));
  const Tensor theta = it.model.sample("theta", normal(mu, tau), {8}, Form::non_centred);
  it.model.observe("y", normal(theta, it.model.data("sigma", tensor(errors))), zeros({8}, DType::f64));
  it.draw = [=](Generator& g, sampling::DataSet& data) {
    const double m = normal_of(g, 0, 5), t = std::abs(normal_of(g, 0, 10));
    Numbers effects(8), y(8);
    for (size_t j = 0; j < 8; ++j) {
      effects[j] = normal_of(g, m, t);
      y[j] = normal_of(g, effects[j], errors[j]);
    }
    data["y"] = tensor(y);
    return Numbers{m, t, effects[0], effects[4], effects[7]};
  };
  it.values = [](const double* q) {
    const double t = std::exp(q[1]);
    return Numbers{q[0], t, q[0] + t * q[2], q[0] + t * q[6], q[0] + t * q[9]};
  };
  expect_calibrated(it);
}

TEST(Calibration, LogisticRegression) {
  constexpr size_t rows = 30;
  Numbers x(rows * 2);
  Generator fixed(3);
  for (size_t i = 0; i < rows; ++i) {
    x[2 * i] = normal_of(fixed, 0, 1);
    x[2 * i + 1] = normal_of(fixed, 0.5, 3);
  }
  Case it{Model("logistic"), {"alpha", "beta[1]", "beta[2]"}, {}, {}};
  const Tensor alpha = it.model.sample("alpha", normal(0.3, 1.5));
  const Tensor beta = it.model.sample("beta", normal(tensor({0.0, -0.2}), tensor({1.0, 0.4})));
  it.model.observe("y", bernoulli_logit(alpha + dot(it.model.data("X", tensor(x, {30, 2})), beta)),
                   zeros({30}, DType::f64));
  it.draw = [=](Generator& g, sampling::DataSet& data) {
    const Numbers truth{normal_of(g, 0.3, 1.5), normal_of(g, 0, 1), normal_of(g, -0.2, 0.4)};
    Numbers y(rows);
    for (size_t i = 0; i < rows; ++i) {
      const double logit = truth[0] + x[2 * i] * truth[1] + x[2 * i + 1] * truth[2];
      y[i] = std::uniform_real_distribution<double>()(g) < 1 / (1 + std::exp(-logit)) ? 1 : 0;
    }
    data["y"] = tensor(y);
    return truth;
  };
  it.values = [](const double* q) { return Numbers{q[0], q[1], q[2]}; };
  it.data_sets = 160;  // it takes longest
  expect_calibrated(it);
}

TEST(Calibration, PoissonWithGammaPrior) {
  Case it{Model("poisson"), {"rate[1]", "rate[2]"}, {}, {}};
  const Tensor rate = it.model.sample("rate", gamma(tensor({3.0, 1.2}), tensor({0.5, 4.0})));
  it.model.observe("y", poisson(rate), zeros({5, 2}, DType::f64));
  it.draw = [](Generator& g, sampling::DataSet& data) {
    const Numbers truth{gamma_of(g, 3, 0.5), gamma_of(g, 1.2, 4)};
    Numbers y(10);
    for (size_t i = 0; i < 10; ++i) y[i] = std::poisson_distribution<int>(truth[i % 2])(g);
    data["y"] = tensor(y, {5, 2});
    return truth;
  };
  it.values = [](const double* q) { return Numbers{std::exp(q[0]), std::exp(q[1])}; };
  expect_calibrated(it);
}

TEST(Calibration, SimplexWithDirichletPrior) {
  const Numbers weights{2, 0.8, 3.5};
  Case it{Model("classes"), {"p[1]", "p[2]", "p[3]"}, {}, {}};
  const Tensor p = it.model.sample("p", dirichlet(tensor(weights)));
  it.model.observe("y", categorical(p), zeros({12}, DType::f64));
  it.draw = [=](Generator& g, sampling::DataSet& data) {
    Numbers truth(3), y(12);
    double whole = 0;
    for (size_t i = 0; i < 3; ++i) whole += truth[i] = gamma_of(g, weights[i], 1);
    for (double& v : truth) v /= whole;
    std::discrete_distribution<int> classes(truth.begin(), truth.end());
    for (double& v : y) v = classes(g);
    data["y"] = tensor(y);
    return truth;
  };
  // The softmax of the inverse isometric log ratio.
  it.values = [](const double* q) {
    const double a = q[0] / std::sqrt(2.0), b = q[1] / std::sqrt(6.0);
    const Numbers e{std::exp(a + b), std::exp(b - a), std::exp(-2 * b)};
    const double whole = e[0] + e[1] + e[2];
    return Numbers{e[0] / whole, e[1] / whole, e[2] / whole};
  };
  expect_calibrated(it);
}

// Three cut points, normal before they are put in order.
TEST(Calibration, Ordered) {
  Case it{Model("ordered"), {"c[1]", "c[2]", "c[3]"}, {}, {}};
  const Distribution one = normal(2, 3);
  const auto prior = [=](const Tensor& x) { return sum(one.log_density(x), {-1}); };
  const Tensor c = it.model.sample("c", custom("cuts", prior, constraint::ordered(), {3}));
  it.model.observe("y", normal(c, tensor({0.5, 2.0, 1.0})), zeros({2, 3}, DType::f64));
  it.draw = [](Generator& g, sampling::DataSet& data) {
    Numbers truth{normal_of(g, 2, 3), normal_of(g, 2, 3), normal_of(g, 2, 3)}, y;
    std::sort(truth.begin(), truth.end());
    for (int row = 0; row < 2; ++row) {
      y.push_back(normal_of(g, truth[0], 0.5));
      y.push_back(normal_of(g, truth[1], 2));
      y.push_back(normal_of(g, truth[2], 1));
    }
    data["y"] = tensor(y, {2, 3});
    return truth;
  };
  it.values = [](const double* q) {
    const double second = q[0] + std::exp(q[1]);
    return Numbers{q[0], second, second + std::exp(q[2])};
  };
  expect_calibrated(it);
}

}  // namespace
}  // namespace adit::test
