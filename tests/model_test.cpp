// Models: log densities against closed forms, forms, plates, data, both precisions; what a statement refuses,
// and that it then leaves nothing behind.
#include <cmath>
#include <limits>

#include <adit/model.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/retype.hpp"
#include "model_densities.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// A model whose data lie elsewhere than the point.
TEST(Model, PointOnAnotherDevice) {
  if (device_ids().size() < 2) GTEST_SKIP() << "one device";
  const auto before = default_device();
  set_default_device(Device::open(device_ids()[0]));
  Model model;
  const Tensor captured = tensor({1.0, 2.0, 3.0});
  const Tensor x = model.sample("x", normal(captured, 1));
  model.observe("y", normal(x, 2), tensor({4.0, 5.0, 6.0}));
  const Tensor u = tensor(Numbers{1, 1, 1}, {3}, Device::open(device_ids()[1]));
  const double want = normal_lp(1, 1, 1) + normal_lp(1, 2, 1) + normal_lp(1, 3, 1) + normal_lp(4, 1, 2) +
                      normal_lp(5, 1, 2) + normal_lp(6, 1, 2);
  EXPECT_NEAR(model.log_density(u).item<double>(), want, 1e-13);
  set_default_device(before);
}

// --- Terms are counted once ------------------------------------------------------------------------------
// Variables of distinct sizes and scales, several observed: an exchange or a repeated sum would show.
TEST(Model, EveryVariableOnItsOwnScale) {
  Model model;
  const Tensor a = model.sample("a", normal(tensor({1.0, 2.0, 3.0}), tensor({0.5, 1.5, 2.5})));
  const Tensor b = model.sample("b", exponential(tensor({0.3, 0.7})), {4, 2});
  const Tensor c = model.sample("c", normal(-1, 3));
  model.observe("y", normal(c, tensor({1.0, 2.0, 4.0, 8.0, 16.0})), tensor({1.0, -2.0, 3.0, -4.0, 5.0}));
  model.observe("w", normal(a, 0.25), tensor({{1.0, 2.0, 3.0}, {1.5, 2.5, 3.5}}));
  model.observe("v", normal(tensor({0.0, 1.0}), b), full({4, 2}, 0.5, DType::f64));
  ASSERT_EQ(model.size(), 3 + 8 + 1);
  const auto& variables = stats::state_of(model).variables;
  EXPECT_EQ(variables[1].offset, 3);
  EXPECT_EQ(variables[2].offset, 11);
  const Numbers u = random_point(model.size(), 9);
  double want =
      normal_lp(u[0], 1, 0.5) + normal_lp(u[1], 2, 1.5) + normal_lp(u[2], 3, 2.5) + normal_lp(u[11], -1, 3);
  for (size_t i = 0; i < 8; ++i) want += exponential_lp(std::exp(u[3 + i]), i % 2 ? 0.7 : 0.3) + u[3 + i];
  const Numbers y{1, -2, 3, -4, 5}, sigma{1, 2, 4, 8, 16}, w{1, 2, 3, 1.5, 2.5, 3.5};
  for (size_t i = 0; i < 5; ++i) want += normal_lp(y[i], u[11], sigma[i]);
  for (size_t i = 0; i < 6; ++i) want += normal_lp(w[i], u[i % 3], 0.25);
  for (size_t i = 0; i < 8; ++i) want += normal_lp(0.5, static_cast<double>(i % 2), std::exp(u[3 + i]));
  EXPECT_NEAR(density_at(model, u), want, 1e-12 * std::abs(want));
  EXPECT_EQ(to_string(stats::state_of(model).observations[1].shape), "[2, 3]");
  EXPECT_EQ(to_string(stats::state_of(model).observations[2].shape), "[4, 2]");
  const auto slope = grad([&](Tensor x) { return model.log_density(x); })(tensor(u)).to_vector<double>();
  for (size_t i = 0; i < u.size(); ++i) {
    Numbers up = u, down = u;
    up[i] += 1e-6;
    down[i] -= 1e-6;
    EXPECT_NEAR(slope[i], (density_at(model, up) - density_at(model, down)) / 2e-6,
                1e-5 * (1 + std::abs(slope[i])));
  }
}

TEST(Model, FlatPriorsAndTerms) {
  Model model;
  const Tensor x = model.parameter("x", constraint::ordered(), {2, 3});
  const Tensor high = model.parameter("high", constraint::positive());
  const Tensor below = model.sample("below", uniform(0, high));  // a bound that is sampled
  model.add_log_density("ridge", -square(x));
  model.add_log_density("link", below * high);
  const Numbers u = random_point(model.size(), 3);
  ASSERT_EQ(u.size(), 8u);
  double want = u[6] + u[1] + u[2] + u[4] + u[5];
  for (const size_t row : {0u, 3u}) {
    const double first = u[row], second = first + std::exp(u[row + 1]), third = second + std::exp(u[row + 2]);
    want -= first * first + second * second + third * third;
  }
  const double top = std::exp(u[6]), s = 1 / (1 + std::exp(-u[7]));
  want += -std::log(top) + std::log(top) + std::log(s) + std::log(1 - s) + top * s * top;
  EXPECT_NEAR(density_at(model, u), want, 1e-12 * (1 + std::abs(want)));
}

TEST(Model, SimplexVariable) {
  Model model;
  const Tensor p = model.sample("p", dirichlet(tensor({2.0, 3.0, 4.0})));
  model.observe("k", categorical(p), tensor<int64_t>({0, 2, 2, 1}));
  ASSERT_EQ(model.size(), 2);
  const Numbers u{0.3, -0.8};
  const double w1 = u[0] / std::sqrt(2.0), w2 = u[1] / std::sqrt(6.0);
  const Numbers z{w1 + w2, w2 - w1, -2 * w2};
  const double whole = std::exp(z[0]) + std::exp(z[1]) + std::exp(z[2]);
  const auto lx = [&](size_t i) { return z[i] - std::log(whole); };
  const double prior = std::lgamma(9.0) - std::lgamma(2.0) - std::lgamma(3.0) - std::lgamma(4.0) + lx(0) +
                       2 * lx(1) + 3 * lx(2);
  const double jacobian = std::log(3.0) / 2 + lx(0) + lx(1) + lx(2);
  const double want = prior + jacobian + lx(0) + 2 * lx(2) + lx(1);
  EXPECT_NEAR(density_at(model, u), want, 1e-12 * std::abs(want));
}

// --- Forms, plates, names --------------------------------------------------------------------------------
TEST(Model, NonCentredForm) {
  Model model;
  const Plate group = model.plate("group", 3);
  const Tensor mu = model.sample("mu", normal(0, 5)), tau = model.sample("tau", half_cauchy(5));
  const Tensor theta = model.sample("theta", normal(mu, tau), {group}, Form::non_centred);
  const Tensor beta = model.sample("beta", normal(tensor({1.0, 2.0}), 4), {}, Form::non_centred);
  model.observe("y", normal(theta, tensor({1.0, 2.0, 3.0})), tensor({3.0, 1.0, 2.0}));
  const auto& state = stats::state_of(model);
  EXPECT_EQ(state.variables[2].name, "theta_raw");
  EXPECT_EQ(state.variables[3].name, "beta_raw");
  EXPECT_EQ(to_string(state.variables[3].shape), "[2]");
  EXPECT_EQ(state.deterministics[0].name, "theta");
  EXPECT_EQ(state.deterministics[0].dims, std::vector<std::string>{"group"});
  const Numbers u = random_point(model.size(), 6);
  const double m = u[0], t = std::exp(u[1]);
  double want = normal_lp(m, 0, 5) + half_cauchy_lp(t, 5) + u[1];
  for (size_t i = 2; i < 7; ++i) want += normal_lp(u[i], 0, 1);
  want += normal_lp(3, m + t * u[2], 1) + normal_lp(1, m + t * u[3], 2) + normal_lp(2, m + t * u[4], 3);
  EXPECT_NEAR(density_at(model, u), want, 1e-12 * std::abs(want));
  const Tensors values = stats::at_point(state, {theta, beta}, tensor(u));
  EXPECT_NEAR(values[0].to_vector<double>()[2], m + t * u[4], 1e-14);
  EXPECT_NEAR(values[1].to_vector<double>()[1], 2 + 4 * u[6], 1e-14);
}

TEST(Model, PlatesAndShapes) {
  Model model("m");
  EXPECT_EQ(model.name(), "m");
  const Plate row = model.plate("row", 2, {"a", "b"}), column = model.plate("column", 3);
  const Tensor x = model.sample("x", normal(0, 1), {row, column});
  const Tensor y = model.sample("y", normal(x, 1));                                  // the batch is the shape
  const Tensor z = model.sample("z", normal(tensor({0.0, 1.0, 2.0}), 1), {row, 3});  // among the extents
  const Tensor w = model.sample("w", normal(tensor({0.0, 1.0, 2.0}), 1), {5});       // not among them
  model.sample("p", dirichlet(tensor({1.0, 1.0, 1.0, 1.0})), {row});
  model.deterministic("d", sum(x, {1}));
  model.deterministic("e", sum(x), {column});
  const auto& v = stats::state_of(model).variables;
  using Dims = std::vector<std::string>;
  EXPECT_EQ(v[0].dims, (Dims{"row", "column"}));
  EXPECT_EQ(v[1].dims, (Dims{"row", "column"}));
  EXPECT_EQ(v[2].dims, (Dims{"row", ""}));
  EXPECT_EQ(to_string(v[2].shape), "[2, 3]");
  EXPECT_EQ(to_string(v[3].shape), "[5, 3]");
  EXPECT_EQ(to_string(v[4].shape), "[2, 4]");
  EXPECT_EQ(v[4].size, 6);
  EXPECT_EQ(v[4].dims, (Dims{"row", ""}));
  EXPECT_EQ(stats::state_of(model).deterministics[0].dims, (Dims{"row"}));
  EXPECT_EQ(to_string(stats::state_of(model).deterministics[1].shape), "[3]");
  EXPECT_EQ(stats::state_of(model).plates.at("row").coordinates[1], "b");
  EXPECT_EQ(model.plate("named", {"c", "d", "e"}).size, 3);
  EXPECT_EQ(stats::state_of(model).plates.at("named").coordinates[2], "e");
  EXPECT_EQ(model.size(), 6 + 6 + 6 + 15 + 6);
}

// Of what was declared without them, as a Stan program does.
TEST(Model, AxesAreNamedLater) {
  Model model("late");
  const Plate row = model.plate("row", 2, {"a", "b"});
  const Tensor x = model.parameter("x", constraint::positive(), {2, 3});
  model.deterministic("twice", 2.0 * x);
  model.name_axes("x", {row, 3});
  model.name_axes("twice", {row, 3});
  const stats::ModelState& state = stats::state_of(model);
  EXPECT_EQ(state.variables[0].dims, (std::vector<std::string>{"row", ""}));
  EXPECT_EQ(state.deterministics[0].dims, (std::vector<std::string>{"row", ""}));
  const auto refused = [&](const std::string& name, const std::vector<Extent>& extents) {
    try {
      model.name_axes(name, extents);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refused("x", {row}), "[name_axes x] extents: expected those of x, [2, 3], got [2]");
  EXPECT_EQ(
      refused("y", {row}),
      "[name_axes y] name: expected a variable, a deterministic value or an observation, got none of them");
}

// --- Data ------------------------------------------------------------------------------------------------
TEST(Model, SetData) {
  Model model;
  const Tensor sigma = model.data("sigma", tensor({1.0f, 2.0f, 3.0f}));
  const Tensor place = model.data("place", tensor<int32_t>({1, 0, 1}));
  EXPECT_EQ(sigma.dtype(), DType::f64);
  EXPECT_EQ(place.dtype(), DType::i32);
  const Tensor mu = model.sample("mu", normal(0, 1), {2});
  const Tensor seen = model.data("seen", tensor({1.0, 2.0, 3.0}));
  model.observe("seen", normal(take(mu, place), sigma), seen);  // data may be observed under its name
  model.observe("count", poisson(exp(sum(mu))), tensor<int64_t>({3, 0, 2}));
  const Numbers u{0.5, -0.25};
  const auto want = [&](const Numbers& y, const Numbers& s, const std::vector<size_t>& at,
                        const Numbers& counts) {
    double lp = normal_lp(u[0], 0, 1) + normal_lp(u[1], 0, 1);
    for (size_t i = 0; i < 3; ++i) lp += normal_lp(y[i], u[at[i]], s[i]);
    for (const double k : counts) lp += k * (u[0] + u[1]) - std::exp(u[0] + u[1]) - std::lgamma(k + 1);
    return lp;
  };
  EXPECT_NEAR(density_at(model, u), want({1, 2, 3}, {1, 2, 3}, {1, 0, 1}, {3, 0, 2}), 1e-12);
  model.set_data("sigma", tensor({4.0, 5.0, 6.0}));
  model.set_data("place", tensor<int32_t>({0, 0, 1}));
  model.set_data("seen", tensor<int64_t>({7, 8, 9}));
  model.set_data("count", tensor({1.0, 1.0, 4.0}));
  const double changed = want({7, 8, 9}, {4, 5, 6}, {0, 0, 1}, {1, 1, 4});
  EXPECT_NEAR(density_at(model, u), changed, 1e-12 * std::abs(changed));
  // What is refused changes nothing.
  EXPECT_THROW(model.set_data("count", tensor({1.0, -1.0, 4.0})), Error);
  EXPECT_THROW(model.set_data("seen", tensor({1.0, nan, 4.0})), Error);
  EXPECT_NEAR(density_at(model, u), changed, 1e-12 * std::abs(changed));
}

void expect_error(const std::function<void()>& f, const std::string& message) {
  try {
    f();
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Model, DataErrors) {
  Model model;
  const Tensor n = model.data("n", tensor({5.0, 5.0}));
  model.data("place", tensor<int64_t>({1, 0}));
  const Tensor p = model.sample("p", beta(1, 1));
  model.observe("k", binomial(n, p), tensor({3.0, 4.0}));
  expect_error(
      [&] {
        model.set_data("n", tensor({5.0, 3.0}));
      },
      "[observe k] value: expected a whole number from 0 to its bound, got 4 at [1]");
  expect_error(
      [&] {
        model.set_data("n", tensor({5.0, 3.0, 4.0}));
      },
      "[set_data n] value: expected shape [2], got [3]");
  expect_error(
      [&] {
        model.set_data("place", tensor({5.0, 3.0}));
      },
      "[set_data place] value: expected i64, got f64");
  expect_error([&] { model.set_data("q", n); }, "[set_data q] name: expected one of n, place, k, got \"q\"");
  expect_error([&] { model.data("m", p); },
               "[data m] value: expected known numbers, got what follows from the model's p");
  expect_error([&] { model.data("m", Tensor()); }, "[data m] value: expected a tensor, got none");
}

// --- Where shapes meet -----------------------------------------------------------------------------------
// The likelihood broadcasts to the value; a value that would be repeated is refused, with both shapes.
TEST(Model, ObservationsAreCountedOnce) {
  Model model;
  const Tensor b = model.sample("b", normal(0, 10));
  const Tensor x = tensor({1.0, 2.0, 3.0, 4.0, 5.0}), y = tensor({2.1, 3.9, 6.2, 7.8, 9.9});
  const auto refuse = [&](const Distribution& d, const Shape& shape, const std::string& expected) {
    expect_error([&] { model.observe("y", d, zeros(shape, DType::f64)); },
                 "[observe y] value: expected shape " + expected + ", got " + to_string(shape));
  };
  refuse(normal(b * x, 1), {5, 1}, "[5]");
  refuse(normal(b * x, 1), {}, "[5]");
  refuse(normal(b * x, 1), {1}, "[5]");
  refuse(normal(b * x, 1), {3, 1}, "[5]");
  refuse(normal(b * x, 1), {5, 4}, "[5]");
  refuse(normal(b * reshape(x, {5, 1}), 1), {5}, "[5, 1]");
  refuse(normal(b * reshape(x, {1, 5}), 1), {5}, "[1, 5]");
  refuse(poisson_log(b * x), {5, 1}, "[5]");
  refuse(bernoulli_logit(b * x), {5, 1}, "[5]");
  refuse(student_t(3, b * x, 1), {5, 1}, "[5]");
  refuse(mixture(tensor({0.5, 0.5}), {normal(b * x, 1), normal(0, 9)}), {5, 1}, "[5]");
  refuse(censored(normal(b * x, 1), -9, 9), {5, 1}, "[5]");
  refuse(categorical_logit(reshape(b * x, {5, 1})), {5, 1}, "[5]");
  const Tensor mean = reshape(b * x, {5, 1}) * tensor({1.0, 1.0});
  refuse(multi_normal_cholesky(mean, eye(2, 2, DType::f64)), {2}, "[5, 2]");
  refuse(multi_normal_cholesky(mean, eye(2, 2, DType::f64)), {5, 1, 2}, "[5, 2]");
  refuse(multi_normal_cholesky(mean, eye(2, 2, DType::f64)), {5, 1}, "[5, 2]");
  // A term of its own is held to the same.
  EXPECT_THROW(model.add_log_density("z", normal(b * x, 1).log_density(reshape(y, {5, 1}))), Error);
  // What is refused leaves nothing; what fits counts each value once.
  EXPECT_TRUE(stats::state_of(model).observations.empty());
  model.observe("y", normal(b * x, 1), y);
  model.observe("row", normal(b * x, 1), reshape(y, {1, 5}));
  model.observe("grid", normal(b, 1), reshape(y, {5, 1}));
  model.observe("rows", normal(b * x, tensor({{1.0}, {2.0}}) * ones({5}, DType::f64)), stack({y, y}));
  double want = normal_lp(0.7, 0, 10);
  const Numbers at{1, 2, 3, 4, 5}, seen{2.1, 3.9, 6.2, 7.8, 9.9};
  for (size_t i = 0; i < 5; ++i)
    want += 3 * normal_lp(seen[i], 0.7 * at[i], 1) + normal_lp(seen[i], 0.7 * at[i], 2) +
            normal_lp(seen[i], 0.7, 1);
  EXPECT_NEAR(density_at(model, {0.7}), want, 1e-10 * std::abs(want));
}

// Extents hold the batch of the prior or lead it; what meets it only in part is neither.
TEST(Model, ExtentsThatMeetThePriorInPart) {
  Model model;
  const Tensor m = model.sample("m", normal(0, 1), {5});
  const auto refuse = [&](const Distribution& prior, const std::vector<Extent>& extents,
                          const std::string& batch, const std::string& got) {
    expect_error([&] { model.sample("x", prior, extents); },
                 "[sample x] extents: expected those of the parameters of normal, " + batch +
                     ", or other ones, which lead them, got " + got);
  };
  refuse(normal(reshape(m, {5, 1}), 1), {5}, "[5, 1]", "[5]");
  refuse(normal(stack({m, m}), 1), {5}, "[2, 5]", "[5]");
  refuse(normal(reshape(m, {5, 1}), 1), {1, 3}, "[5, 1]", "[1, 3]");
  EXPECT_EQ(model.sample("a", normal(m, 1), {5}).shape(), Shape({5}));
  EXPECT_EQ(model.sample("b", normal(m, 1), {3}).shape(), Shape({3, 5}));
  EXPECT_EQ(model.sample("c", normal(reshape(m, {5, 1}), 1), {5, 2}).shape(), Shape({5, 2}));
  EXPECT_EQ(model.sample("d", normal(0, 1), {1}).shape(), Shape({1}));
  EXPECT_EQ(model.sample("e", normal(m, 1), {1}).shape(), Shape({1, 5}));
  expect_error(
      [&] {
        model.parameter("x", constraint::lower(reshape(m, {5, 1})), {5});
      },
      "[lower] bound: expected a shape that broadcasts to [5], got [5, 1]");
}

// --- Errors ----------------------------------------------------------------------------------------------
TEST(Model, ObservationsThatCannotBe) {
  Model model;
  const Tensor mu = model.sample("mu", normal(0, 1), {8});
  const Tensor rate = model.sample("rate", exponential(1));
  const int64_t size = model.size();
  const auto observe = [&](const Distribution& d, const Tensor& y, const std::string& message) {
    expect_error([&] { model.observe("y", d, y); }, message);
  };
  observe(normal(mu, 1), tensor(Numbers(7, 0.0)), "[observe y] value: expected shape [8], got [7]");
  observe(dirichlet(tensor({1.0, 1.0, 1.0})), tensor({0.5, 0.5}),
          "[observe y] value: expected shape [3], got [2]");
  observe(poisson(rate), tensor<int64_t>({4, 0, -3}),
          "[observe y] value: expected a whole number of at least 0, got -3 at [2]");
  observe(poisson(rate), tensor({1.0, 0.5}),
          "[observe y] value: expected a whole number of at least 0, got 0.5 at [1]");
  observe(poisson(rate), tensor(-1.0), "[observe y] value: expected a whole number of at least 0, got -1");
  observe(normal(rate, 1), tensor({{1.0, 2.0}, {3.0, nan}}),
          "[observe y] value: expected finite numbers, got nan at [1, 1]");
  observe(normal(rate, 1), tensor({1.0, -infinity}),
          "[observe y] value: expected finite numbers, got -inf at [1]");
  observe(dirichlet(tensor({1.0, 1.0})), tensor({{0.5, 0.5}, {0.5, 0.75}}),
          "[observe y] value: expected numbers of at least 0 that sum to 1, got [0.5, 0.75] at [1]");
  observe(normal(0, 1), mu, "[observe y] value: expected data, got what follows from mu");
  observe(normal(0, 1), Tensor(), "[observe y] value: expected a tensor, got none");
  observe(normal(0, 1), tensor({std::complex<double>(1, 2)}),
          "[observe y] value: expected real numbers, got c128");
  // A density of the wrong shape: summed too early, or broadcast by mistake.
  observe(custom("early", [](const Tensor& x) { return sum(x); }), tensor({1.0, 2.0}),
          "[observe y] early: expected a log density of shape [2], one number an event, got []");
  observe(custom("wide", [&](const Tensor& x) { return x - mu; }), tensor(1.0),
          "[observe y] wide: expected a log density of shape [], one number an event, got [8]");
  // Nothing of these stayed.
  EXPECT_EQ(model.size(), size);
  EXPECT_TRUE(stats::state_of(model).data.empty());
  EXPECT_TRUE(stats::state_of(model).observations.empty());
  EXPECT_EQ(stats::state_of(model).terms.size(), 3u);
  model.observe("y", normal(mu, 1), tensor(Numbers(8, 0.0)));
}

TEST(Model, NamesAndVariablesThatCannotBe) {
  Model model, other;
  const Tensor mu = model.sample("mu", normal(0, 1));
  const std::string rule =
      "expected letters, digits and underscores, a letter first and no \"__\" at the end, got ";
  for (const std::string name : {"", "1x", "a b", "lp__", "_x", "é", "x.1"})
    expect_error([&] { model.sample(name, normal(0, 1)); },
                 "[sample " + name + "] name: " + rule + "\"" + name + "\"");
  expect_error([&] { model.sample("mu", normal(0, 1)); },
               "[sample mu] name: expected a new name, got \"mu\", which a variable has");
  expect_error([&] { model.observe("mu", normal(0, 1), tensor(1.0)); },
               "[observe mu] name: expected a new name, got \"mu\", which a variable has");
  model.plate("g", 3);
  expect_error([&] { model.deterministic("g", mu); },
               "[deterministic g] name: expected a new name, got \"g\", which a plate has");
  model.data("s", tensor(1.0));
  expect_error([&] { model.observe("s", normal(0, 1), tensor(1.0)); },
               "[observe s] name: expected a new name, got \"s\", which data has");
  expect_error([&] { model.plate("h", 0); }, "[plate h] size: expected at least 1, got 0");
  expect_error([&] { model.plate("h", std::vector<std::string>()); },
               "[plate h] size: expected at least 1, got 0");
  expect_error([&] { model.plate("h", 2, {"a"}); }, "[plate h] coordinates: expected 2 or none, got 1");
  expect_error([&] { model.sample("x", normal(0, 1), {0}); },
               "[sample x] extents: expected numbers of at least 1, got 0");
  expect_error(
      [&] {
        model.sample("x", normal(0, 1), {Plate{"far", 3, {}}});
      },
      "[sample x] extents: expected plates of this model, got \"far\" of 3");
  expect_error([&] { model.sample("x", poisson(2)); },
               "[sample x] prior: expected a continuous distribution, got poisson");
  expect_error(
      [&] { model.parameter("x", constraint::integer(0)); },
      "[parameter x] prior: expected a continuous one, got one of whole numbers, which cannot be sampled");
  expect_error(
      [&] { model.sample("x", half_cauchy(1), {}, Form::non_centred); },
      "[sample x] form: expected a distribution with a location and a scale for the non-centred form, got "
      "half_cauchy");
  expect_error(
      [&] {
        model.deterministic("x", tensor({1.0, 2.0}), {3});
      },
      "[deterministic x] value: expected shape [3] (or one that broadcasts), got [2]");
  expect_error([&] { other.sample("x", normal(mu, 1)); },
               "[sample x] prior: expected tensors of this model, got one of another model or function");
  expect_error(
      [&] { other.add_log_density("x", mu); },
      "[add_log_density x] term: expected tensors of this model, got one of another model or function");
  EXPECT_EQ(other.size(), 0);
  EXPECT_EQ(model.size(), 1);
  EXPECT_EQ(stats::state_of(model).terms.size(), 1u);
  other.sample("x", normal(0, 1));  // the name is still free
  expect_error(
      [&] {
        model.log_density(tensor({1.0, 2.0}));
      },
      "[model] u: expected f32 or f64 [1], got f64 [2]");
  expect_error([&] { model.log_density(tensor<int64_t>({1})); },
               "[model] u: expected f32 or f64 [1], got i64 [1]");
  expect_error([&] { model.log_density(Tensor()); }, "[log_density] u: expected a point, got none");
}

// Supports with bounds that are sampled are not known yet.
TEST(Model, SupportOfParameters) {
  Model model;
  const Tensor high = model.sample("high", exponential(1));
  model.observe("y", uniform(0, high), tensor({0.5, 0.7}));
  const double u = 0.4, h = std::exp(u);
  EXPECT_NEAR(density_at(model, {u}), -h + u - 2 * u, 1e-13);
}

// --- Precision -------------------------------------------------------------------------------------------
TEST(Retype, TurnsEveryDoubleIntoFloat) {
  const Tensor x = graph::placeholder(DType::f64, {3}), k = graph::placeholder(DType::i64, {3});
  const Tensor captured = tensor({1.0, 2.0, 3.0}), narrow = tensor({1.0f, 2.0f, 3.0f});
  const Tensor y = sum(x * captured + 0.5 * as_type(narrow, DType::f64) + as_type(k, DType::f64)) +
                   sum(iota({3}, DType::f64)) + graph::constant(DType::f64, 0.1);
  const Tensors roots{y, k + 1};
  const graph::Retyped changed = graph::retype(roots, DType::f32);
  for (const Tensor& node : graph::reachable(changed.roots, false))
    if (node.dtype() == DType::f64) {
      EXPECT_TRUE(node.is_evaluated());  // what is in memory is converted
    }
  EXPECT_EQ(changed.roots[0].dtype(), DType::f32);
  EXPECT_EQ(graph::pointer_of(changed.roots[1]), graph::pointer_of(roots[1]));  // integers alone stay
  EXPECT_EQ(graph::pointer_of(changed.placeholders.at(&graph::node_of(k))), graph::pointer_of(k));
  const Tensor fresh = changed.placeholders.at(&graph::node_of(x));
  EXPECT_EQ(fresh.dtype(), DType::f32);
  const Tensors from{fresh, k}, to{tensor({1.0f, 2.0f, 3.0f}), tensor<int64_t>({1, 2, 3})};
  EXPECT_NEAR(graph::substitute(changed.roots, from, to)[0].item<float>(), 14 + 3 + 6 + 3 + 0.1, 1e-5);
  const graph::Retyped same = graph::retype(roots, DType::f64);
  EXPECT_EQ(graph::pointer_of(same.roots[0]), graph::pointer_of(y));
  EXPECT_EQ(graph::pointer_of(same.placeholders.at(&graph::node_of(x))), graph::pointer_of(x));
  EXPECT_THROW(graph::retype(roots, DType::i32), Error);
}

TEST(Retype, FunctionsInsideOfGraphs) {
  const Tensor x = graph::placeholder(DType::f64, {3});
  const Tensor largest =
      reduce(x, graph::constant(DType::f64, 0), {}, [](Tensor a, Tensor b) { return a + b * b; });
  const Step running = scan(
      [](const Tensors& carry, const Tensors& slices) {
        const Tensor next = carry[0] * 0.5 + slices[0];
        return Step{{next}, {next}};
      },
      {graph::constant(DType::f64, 1)}, {x});
  const Tensors roots{largest, running.outputs[0]};
  const graph::Retyped changed = graph::retype(roots, DType::f32);
  const Tensors from{changed.placeholders.at(&graph::node_of(x))}, to{tensor({1.0f, 2.0f, 3.0f})};
  const Tensors values = graph::substitute(changed.roots, from, to);
  EXPECT_EQ(values[0].item<float>(), 14);
  EXPECT_EQ(values[1].to_vector<float>(), (std::vector<float>{1.5f, 2.75f, 4.375f}));
}

}  // namespace
}  // namespace adit::test
