// Distributions of whole numbers, classes, vectors and matrices, and mixtures, on every device against SciPy,
// mpmath and quadrature (tests/stats/discrete_cases.py): densities, gradients, draws, moments, errors.
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include <adit/adit.hpp>

#include "devices.hpp"
#include "graph/node.hpp"
#include "graph/op.hpp"
#include "graph/retype.hpp"

namespace adit {
namespace {

using Json = nlohmann::json;

struct Array {
  Shape shape;
  std::vector<double> values;
  Tensor on_device() const { return tensor(values, shape); }
};

Array array_of(const Json& json) {
  Array array{Shape(json.at("shape").get<std::vector<int64_t>>()), {}};
  for (const Json& value : json.at("values"))
    array.values.push_back(value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>());
  return array;
}

struct Case {
  std::string name;
  std::vector<Array> parameters;
  Array x, log_density, mean, variance;
  std::vector<int> fixed;
  bool continuous = false, gradient = false, draws = false;
  int64_t size = 0;
  double tolerance = 0, single = 0;
};

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::ifstream file(ADIT_DISCRETE_CASES);
    std::vector<Case> read;
    for (const Json& json : Json::parse(file)) {
      Case made{json.at("name"), {}, {}, {}, {}, {}, json.at("fixed")};
      for (const Json& parameter : json.at("parameters")) made.parameters.push_back(array_of(parameter));
      made.x = array_of(json.at("x"));
      made.log_density = array_of(json.at("log_density"));
      made.mean = array_of(json.at("mean"));
      made.variance = array_of(json.at("variance"));
      made.continuous = json.at("continuous");
      made.gradient = json.at("gradient");
      made.draws = json.at("draws");
      made.size = json.at("size");
      made.tolerance = json.at("tolerance");
      made.single = json.at("single");
      read.push_back(std::move(made));
    }
    return read;
  }();
  return cases;
}

// Along an axis, without it.
Tensor part(const Tensor& x, int64_t number, int axis) {
  return squeeze(take(x, full_integer({1}, number), axis), {axis});
}

Distribution mixture_of(const Tensors& p, const std::string& of) {
  std::vector<Distribution> components;
  for (int64_t i = 0; i < p[0].dim(-1); ++i) {
    if (of == "normal")
      components.push_back(normal(part(p[1], i, -1), part(p[2], i, -1)));
    else if (of == "poisson")
      components.push_back(poisson(part(p[1], i, -1)));
    else
      components.push_back(multi_normal(part(p[1], i, 0), part(p[2], i, 0)));
  }
  return mixture(p[0], components);
}

Distribution make(const Case& of, const Tensors& p) {
  const std::string& name = of.name;
  if (name == "bernoulli") return bernoulli(p[0]);
  if (name == "bernoulli_logit") return bernoulli_logit(p[0]);
  if (name == "binomial") return binomial(p[0], p[1]);
  if (name == "binomial_logit") return binomial_logit(p[0], p[1]);
  if (name == "poisson") return poisson(p[0]);
  if (name == "poisson_log") return poisson_log(p[0]);
  if (name == "neg_binomial_2") return neg_binomial_2(p[0], p[1]);
  if (name == "categorical") return categorical(p[0]);
  if (name == "categorical_logit") return categorical_logit(p[0]);
  if (name == "dirichlet") return dirichlet(p[0]);
  if (name == "multi_normal") return multi_normal(p[0], p[1]);
  if (name == "multi_normal_cholesky") return multi_normal_cholesky(p[0], p[1]);
  if (name == "lkj_corr_cholesky") return lkj_corr_cholesky(of.size, p[0]);
  if (name == "gaussian_random_walk") return gaussian_random_walk(p[0], of.size);
  return mixture_of(p, name.substr(std::string("mixture_").size()));
}

Tensors parameters_of(const Case& of) {
  Tensors parameters;
  for (const Array& parameter : of.parameters) parameters.push_back(parameter.on_device());
  return parameters;
}

void expect_near(const Tensor& got, const Array& expected, double tolerance, const char* what) {
  ASSERT_EQ(got.shape(), expected.shape) << what;
  ASSERT_EQ(got.dtype(), DType::f64) << what;
  const auto values = got.to_vector<double>();
  for (size_t i = 0; i < values.size(); ++i) {
    const double want = expected.values[i];
    if (std::isinf(want))
      EXPECT_EQ(values[i], want) << what << " at " << i;
    else
      EXPECT_NEAR(values[i], want, tolerance * std::max(1.0, std::abs(want))) << what << " at " << i;
  }
}

class Discrete : public test::OnDevice {
 protected:
  void SetUp() override { set_default_device(Device::open(GetParam())); }
  void TearDown() override { set_default_device(nullptr); }
  bool is_software() { return on().info().kind == DeviceKind::software; }
};

TEST_P(Discrete, DensitiesAndMoments) {
  ASSERT_GT(all_cases().size(), 40u);
  int number = 0;
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name + " " + std::to_string(number++));
    if (is_software() && number % 5 != 0) continue;
    const Distribution d = make(of, parameters_of(of));
    expect_near(d.log_density(of.x.on_device()), of.log_density, of.tolerance, "log density");
    expect_near(d.mean(), of.mean, of.tolerance, "mean");
    expect_near(d.variance(), of.variance, 10 * of.tolerance, "variance");
    Shape whole = d.batch;
    for (const int64_t extent : d.event) whole.push_back(extent);
    EXPECT_EQ(whole, of.mean.shape);
    EXPECT_EQ(d.support.discrete, !of.continuous);
  }
}

// As samplers on GPUs compute: no formula loses more than f32 has to.
TEST_P(Discrete, DensitiesInSingle) {
  int number = 0;
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name + " " + std::to_string(number++));
    if (is_software() && number % 5 != 2) continue;
    const Tensor density = make(of, parameters_of(of)).log_density(of.x.on_device());
    const Tensor narrow = graph::retype(std::span(&density, 1), DType::f32).roots[0];
    ASSERT_EQ(narrow.dtype(), DType::f32);
    expect_near(as_type(narrow, DType::f64), of.log_density, of.single, "log density in f32");
  }
}

// The density where it is finite, of parameters and then x.
Tensor total_density(const Case& of, const Tensors& arguments) {
  std::vector<uint8_t> is_finite;
  for (const double value : of.log_density.values) is_finite.push_back(std::isfinite(value));
  const Tensors parameters(arguments.begin(), arguments.end() - 1);
  const Tensor density = make(of, parameters).log_density(arguments.back());
  return sum(select(tensor(is_finite, of.log_density.shape), density, zeros_like(density)));
}

// By five points around each number.
void expect_gradient(const Case& of, const Jit& density, Tensors arguments, size_t which,
                     const Tensor& gradient) {
  const std::vector<double> got = gradient.to_vector<double>();
  const Array& at = which < of.parameters.size() ? of.parameters[which] : of.x;
  const Tensor original = arguments[which];
  for (size_t i = 0; i < got.size(); ++i) {
    const double step = 1e-4 * (at.values[i] == 0 ? 1 : std::abs(at.values[i]));
    const auto moved = [&](double by) {
      std::vector<double> values = at.values;
      values[i] += by * step;
      arguments[which] = tensor(values, at.shape);
      return density(arguments)[0].item<double>();
    };
    const double near = moved(1) - moved(-1), far = moved(2) - moved(-2), middle = moved(0);
    const double expected = (8 * near - far) / (12 * step);
    const double tolerance = 2e-6 * (1 + std::abs(expected)) + 1e-14 * std::abs(middle) / step;
    EXPECT_NEAR(got[i], expected, tolerance) << "argument " << which << " at " << i;
  }
}

TEST_P(Discrete, Gradients) {
  if (is_software()) GTEST_SKIP() << "derivatives are graphs of operations that are tested there";
  int number = 0, checked = 0;
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name + " " + std::to_string(number++));
    if (!of.gradient) continue;
    ++checked;
    const Function density = [&](const Tensors& arguments) { return Tensors{total_density(of, arguments)}; };
    Tensors arguments = parameters_of(of);
    arguments.push_back(of.x.on_device());
    std::vector<int> wanted;
    for (int i = 0; i < static_cast<int>(arguments.size()); ++i) {
      const bool is_x = i + 1 == static_cast<int>(arguments.size());
      if (std::find(of.fixed.begin(), of.fixed.end(), i) == of.fixed.end() && (!is_x || of.continuous))
        wanted.push_back(i);
    }
    const ValueAndGrad both = value_and_grad_of(density, arguments, wanted);
    const Jit compiled(density);
    for (size_t i = 0; i < wanted.size(); ++i)
      expect_gradient(of, compiled, arguments, static_cast<size_t>(wanted[i]), both.grads[i]);
  }
  EXPECT_GT(checked, 20);
}

// On the edges the mathematics is finite, and so are the derivatives.
TEST_P(Discrete, GradientsAtEdges) {
  const auto slope = [](const auto& density, const Tensor& at) {
    return grad([&](Tensor p) { return sum(density(p)); })(at).template to_vector<double>();
  };
  const Tensor zero = tensor({0.0, 0.0}), one = tensor({1.0, 1.0});
  EXPECT_EQ(slope([&](const Tensor& p) { return bernoulli(p).log_density(zero); }, zero),
            (std::vector<double>{-1, -1}));
  EXPECT_EQ(slope([&](const Tensor& p) { return bernoulli(p).log_density(one); }, one),
            (std::vector<double>{1, 1}));
  EXPECT_EQ(slope([&](const Tensor& p) { return binomial(3, p).log_density(3 * one); }, one),
            (std::vector<double>{3, 3}));
  EXPECT_EQ(slope([&](const Tensor& r) { return poisson(r).log_density(zero); }, zero),
            (std::vector<double>{-1, -1}));
  EXPECT_EQ(
      slope([&](const Tensor& l) { return bernoulli_logit(l).log_density(one); }, tensor({-1e300, 1e300})),
      (std::vector<double>{1, 0}));
  EXPECT_EQ(slope([&](const Tensor& x) { return dirichlet(ones({2})).log_density(x); }, tensor({0.0, 1.0})),
            (std::vector<double>{0, 0}));
  EXPECT_EQ(slope([&](const Tensor& p) { return categorical(p).log_density(one); }, tensor({0.0, 1.0})),
            (std::vector<double>{0, 2}));
  // Observations far from every component.
  const auto far = slope(
      [&](const Tensor& mu) {
        return mixture(tensor({0.5, 0.5}), {normal(mu, 1), normal(1, 1)}).log_density(tensor({-1e5, 1e5}));
      },
      tensor(0.0));
  EXPECT_NEAR(far[0], -1e5, 1e-3);
}

struct Moments {
  std::vector<double> mean, variance, fourth;
};
// Over the first axis.
Moments moments_of(const Tensor& x) {
  const Tensor m = mean(x, {0}), v = mean(square(x - m), {0}), f = mean(square(square(x - m)), {0});
  return {m.to_vector<double>(), v.to_vector<double>(), f.to_vector<double>()};
}

TEST_P(Discrete, DrawsHaveTheMoments) {
  const int64_t count = is_software() ? 500 : 8000;
  uint64_t number = 0;
  int checked = 0;
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name + " " + std::to_string(number++));
    if (!of.draws || (is_software() && checked > 2) || !test::is_its_turn(number, 6)) continue;
    ++checked;
    const Distribution d = make(of, parameters_of(of));
    Shape shape = of.mean.shape;
    shape.insert(0, count);
    const Tensor x = d.draw(random::key(100 + number), shape);
    ASSERT_EQ(x.shape(), shape);
    ASSERT_EQ(x.dtype(), DType::f64);
    EXPECT_TRUE(all(d.support.contains(x)).item<bool>());
    const Moments got = moments_of(x);
    const auto n = static_cast<double>(count);
    for (size_t i = 0; i < got.mean.size(); ++i) {
      const double mean = of.mean.values[i], variance = of.variance.values[i];
      EXPECT_NEAR(got.mean[i], mean, 5 * std::sqrt(variance / n) + 1e-12) << "mean at " << i;
      const double spread = std::sqrt(std::max(0.0, got.fourth[i] - got.variance[i] * got.variance[i]) / n);
      // Rare values: what happened less than ten times in expectation says nothing about the spread.
      if (variance * n > 10 || of.continuous) {
        EXPECT_NEAR(got.variance[i], variance, 5 * spread + 10 * variance / n + 1e-12) << "variance at " << i;
      }
    }
  }
  if (test::all_have_turns()) {
    EXPECT_GT(checked, is_software() ? 2 : 20);
  }
}

// Each number comes up as often as its mass says.
TEST_P(Discrete, DrawsHaveTheMasses) {
  const int64_t count = is_software() ? 1000 : 50000;
  std::vector<Distribution> list{
      poisson(0.3),         poisson(3.7),          poisson(60.5),
      binomial(9, 0.2),     binomial(40, 0.85),    binomial_logit(300, -2.0),
      neg_binomial_2(5, 2), bernoulli(0.3),        neg_binomial_2(2, 0.4),
      poisson_log(1.0),     bernoulli_logit(-1.5), categorical(tensor({0.1, 0.0, 0.6, 0.3}))};
  list.push_back(mixture(tensor({0.3, 0.7}), {poisson(1), poisson(20)}));
  if (is_software()) list.erase(list.begin() + 2, list.end());
  uint64_t seed = 0;
  for (const Distribution& d : list) {
    SCOPED_TRACE(d.name + " " + std::to_string(seed));
    const auto x = d.draw(random::key(seed++), {count}).to_vector<double>();
    std::vector<double> seen(400, 0);
    for (const double value : x) {
      ASSERT_TRUE(value >= 0 && value < 400 && std::floor(value) == value) << value;
      ++seen[static_cast<size_t>(value)];
    }
    const auto mass = exp(d.log_density(iota({400}, DType::f64))).to_vector<double>();
    double total = 0;
    for (size_t k = 0; k < 400; ++k) {
      total += mass[k];
      const double expected = mass[k] * static_cast<double>(count);
      EXPECT_NEAR(seen[k], expected, 5 * std::sqrt(expected) + 3) << k;
    }
    EXPECT_NEAR(total, 1, 1e-9);
  }
}

TEST_P(Discrete, DrawsOfVectorsAreTiedTogether) {
  if (is_software()) GTEST_SKIP() << "many draws, for which it is slow";
  const int64_t count = 40000;
  // Correlations of the walk: cov(x_s, x_t) = sigma^2 min(s, t).
  const Tensor walk = gaussian_random_walk(0.5, 4).draw(random::key(1), {count, 4});
  const auto covariance = (dot(transpose(walk), walk) / static_cast<double>(count)).to_vector<double>();
  for (int64_t s = 0; s < 4; ++s)
    for (int64_t t = 0; t < 4; ++t)
      EXPECT_NEAR(covariance[static_cast<size_t>(s * 4 + t)], 0.25 * static_cast<double>(std::min(s, t) + 1),
                  0.03);
  const Tensor c = tensor({{2.0, -1.0, 0.3}, {-1.0, 1.5, 0.2}, {0.3, 0.2, 0.7}});
  const Tensor z = multi_normal(tensor({1.0, 2.0, 3.0}), c).draw(random::key(2), {count, 3});
  const Tensor centred = z - tensor({1.0, 2.0, 3.0});
  const auto error = (dot(transpose(centred), centred) / static_cast<double>(count) - c).to_vector<double>();
  for (const double e : error) EXPECT_NEAR(e, 0, 0.06);
  // Every correlation of a matrix has the same law, with variance 1 / (2 eta + K - 1).
  const Tensor l = lkj_corr_cholesky(4, 1.5).draw(random::key(3), {count, 4, 4});
  const Tensor r = matmul(l, transpose(l, {0, 2, 1}));
  const Moments moments = moments_of(r);
  for (size_t i = 0; i < 16; ++i) {
    const bool is_diagonal = i % 5 == 0;
    EXPECT_NEAR(moments.mean[i], is_diagonal ? 1 : 0, 0.012);
    EXPECT_NEAR(moments.variance[i], is_diagonal ? 0 : 1.0 / 6, 0.006);
  }
}

// Bad numbers in tensors give NaN and end.
TEST_P(Discrete, DrawsOfNothing) {
  // What is known to lie outside is refused; inside of a function nothing is known.
  const auto draw = jit([](const Tensor& rate) { return poisson(rate).draw(random::key(1), {3}); });
  const auto x = draw(tensor({std::nan(""), 2.0, -1.0})).to_vector<double>();
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_GE(x[1], 0);
  EXPECT_EQ(poisson(3).draw(random::key(1), {0}).size(), 0);
  EXPECT_EQ(binomial(0, 0.5).draw(random::key(1), {2}).to_vector<double>(), (std::vector<double>{0, 0}));
}

TEST_P(Discrete, WalkHasAStandardForm) {
  const Distribution walk = gaussian_random_walk(tensor({2.0, 3.0}), 5);
  const Tensor z = tensor(std::vector<double>{1, -1, 0.5, 2, 3, 0.1, 0.2, -0.4, 1, 0}, {2, 5});
  const Tensor x = walk.location + walk.scale * z;
  const auto direct = walk.log_density(x).to_vector<double>();
  const auto standard = walk.standard().log_density(z).to_vector<double>();
  EXPECT_NEAR(direct[0], standard[0] - 5 * std::log(2.0), 1e-12);
  EXPECT_NEAR(direct[1], standard[1] - 5 * std::log(3.0), 1e-12);
}

TEST_P(Discrete, MixtureOfTails) {
  const Distribution d = mixture(tensor({0.4, 0.6}), {normal(0, 1), normal(3, 2)});
  const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  ASSERT_TRUE(d.log_cdf && d.log_survival);
  EXPECT_NEAR(d.log_cdf(tensor(1.0)).item<double>(), std::log(0.4 * phi(1) + 0.6 * phi(-1)), 1e-12);
  EXPECT_NEAR(d.log_survival(tensor(1.0)).item<double>(), std::log(0.4 * phi(-1) + 0.6 * phi(1)), 1e-12);
}

// Densities go into kernels that know no control flow, no draws, and for few classes no scatter.
TEST_P(Discrete, DensitiesAreFriendly) {
  using graph::Op;
  for (const Case& of : all_cases()) {
    SCOPED_TRACE(of.name);
    const graph::Tracing tracing;
    Tensors arguments = parameters_of(of);
    arguments.push_back(of.x.on_device());
    const auto gradient =
        value_and_grad_of([&](const Tensors& a) { return Tensors{total_density(of, a)}; }, arguments, {0});
    const bool has_few_classes = of.parameters[0].shape.empty() || of.parameters[0].shape.back() <= 64;
    for (const Tensor& node : graph::reachable(gradient.grads, true)) {
      const Op op = graph::node_of(node).op;
      EXPECT_FALSE(op == Op::while_loop || op == Op::cond || op == Op::scan || op == Op::threefry);
      EXPECT_FALSE(has_few_classes && op == Op::indexed_add);
    }
  }
}

void expect_error(const std::string& message, const std::function<void()>& call) {
  try {
    call();
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(DiscreteErrors, Parameters) {
  const double nan = std::nan("");
  expect_error("[bernoulli] p: expected a number from 0 to 1, got 1.5", [] { bernoulli(1.5); });
  expect_error("[bernoulli] p: expected", [] { bernoulli(-0.1); });
  expect_error("[bernoulli] p: expected", [&] { bernoulli(nan); });
  expect_error("[bernoulli_logit] logit: expected", [&] { bernoulli_logit(nan); });
  expect_error("[binomial] count: expected a whole number of at least 0, got -3", [] { binomial(-3, 0.5); });
  expect_error("[binomial] count: expected", [] { binomial(2.5, 0.5); });
  expect_error("[binomial] p: expected", [] { binomial(2, 2); });
  expect_error("[binomial_logit] count: expected", [] { binomial_logit(-1, 0); });
  expect_error("[poisson] rate: expected a number of at least 0, got -1", [] { poisson(-1); });
  expect_error("[poisson_log] log_rate: expected", [&] { poisson_log(nan); });
  expect_error("[neg_binomial_2] mean: expected a positive number, got -2", [] { neg_binomial_2(-2, 1); });
  expect_error("[neg_binomial_2] dispersion: expected", [] { neg_binomial_2(2, 0); });
  expect_error("[lkj_corr_cholesky] shape: expected a positive", [] { lkj_corr_cholesky(3, -1); });
  expect_error("[lkj_corr_cholesky] size: expected", [] { lkj_corr_cholesky(0, 1); });
  expect_error("[gaussian_random_walk] sigma: expected", [] { gaussian_random_walk(0, 3); });
  expect_error("[gaussian_random_walk] steps: expected", [] { gaussian_random_walk(1, 0); });
}

TEST(DiscreteErrors, Shapes) {
  const auto zero = [](const Shape& shape) { return zeros(shape, DType::f64); };
  expect_error("[categorical] p: expected numbers along a last axis, got shape []",
               [&] { categorical(zero({})); });
  expect_error("[categorical_logit] logits: expected", [&] { categorical_logit(zero({2, 0})); });
  expect_error("[dirichlet] concentration: expected", [&] { dirichlet(zero({})); });
  expect_error("[dirichlet] concentration: expected a positive number, got 0", [&] { dirichlet(zero({3})); });
  expect_error("[multi_normal] covariance: expected square matrices, got shape [3, 2]", [&] {
    multi_normal(zero({3}), zero({3, 2}));
  });
  expect_error("[multi_normal] covariance: expected [3, 3]", [&] { multi_normal(zero({3}), zero({2, 2})); });
  expect_error("[multi_normal_cholesky] factor: expected",
               [&] { multi_normal_cholesky(zero({3}), zero({3})); });
  expect_error("[multi_normal_cholesky] mean: expected", [&] {
    multi_normal_cholesky(zero({}), zero({3, 3}));
  });
  expect_error("[poisson] shape: expected one that ends with [2], got [3]",
               [&] { poisson(zero({2})).draw(random::key(1), {3}); });
  expect_error("[mixture] components: expected at least one", [&] { mixture(zero({2}), {}); });
  expect_error("[mixture] weights: expected 2", [&] { mixture(zero({3}), {normal(0, 1), normal(1, 1)}); });
  expect_error("[mixture] components: expected one support", [&] {
    mixture(zero({2}), {normal(0, 1), half_normal(1)});
  });
  expect_error("[mixture] components: expected events of one shape", [&] {
    mixture(zero({2}), {normal(0, 1), gaussian_random_walk(1, 3)});
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Discrete, testing::ValuesIn(test::device_ids()), test::test_name);

}  // namespace
}  // namespace adit
