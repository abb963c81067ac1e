// Constraints: values against formulas written here once more, log Jacobians against the determinant of
// finite differences, round trips, what counts as inside, shapes that cannot be.
#include <cmath>
#include <random>

#include <adit/constraint.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "stats/by_columns.hpp"

namespace adit::test {
namespace {

using Numbers = std::vector<double>;
using Map = std::function<Numbers(const Numbers&)>;

// The logarithm of |det| by elimination with row exchanges.
double log_determinant(std::vector<Numbers> a) {
  double total = 0;
  for (size_t k = 0; k < a.size(); ++k) {
    size_t best = k;
    for (size_t i = k; i < a.size(); ++i)
      if (std::abs(a[i][k]) > std::abs(a[best][k])) best = i;
    std::swap(a[k], a[best]);
    total += std::log(std::abs(a[k][k]));
    for (size_t i = k + 1; i < a.size(); ++i) {
      const double factor = a[i][k] / a[k][k];
      for (size_t j = k; j < a.size(); ++j) a[i][j] -= factor * a[k][j];
    }
  }
  return total;
}

// A constraint beside formulas of its own: x of one event, and the places of x that are free.
struct Case {
  std::string name;
  Constraint constraint;
  Shape x;
  size_t size = 0;  // unconstrained numbers
  Map formula;
  std::vector<size_t> free;
};

std::vector<size_t> all_of(size_t count) {
  std::vector<size_t> places(count);
  for (size_t i = 0; i < count; ++i) places[i] = i;
  return places;
}
std::vector<size_t> below(size_t k, bool diagonal) {
  std::vector<size_t> places;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < i + (diagonal ? 1 : 0); ++j) places.push_back(i * k + j);
  return places;
}

Numbers each(const Numbers& u, const std::function<double(double, size_t)>& f) {
  Numbers x;
  for (size_t i = 0; i < u.size(); ++i) x.push_back(f(u[i], i));
  return x;
}

Numbers ordered_formula(const Numbers& u, bool positive) {
  Numbers x{positive ? std::exp(u[0]) : u[0]};
  for (size_t k = 1; k < u.size(); ++k) x.push_back(x.back() + std::exp(u[k]));
  return x;
}

// By the definition: z_i = sum over j >= i of w_j, less (i - 1) w_{i-1}, with w_j = u_j / sqrt(j (j + 1)).
Numbers simplex_formula(const Numbers& u) {
  const auto w = [&](size_t j) { return u[j - 1] / std::sqrt(static_cast<double>(j * (j + 1))); };
  Numbers x;
  for (size_t i = 1; i <= u.size() + 1; ++i) {
    double z = i > 1 ? -static_cast<double>(i - 1) * w(i - 1) : 0;
    for (size_t j = i; j <= u.size(); ++j) z += w(j);
    x.push_back(std::exp(z));
  }
  double whole = 0;
  for (const double v : x) whole += v;
  for (double& v : x) v /= whole;
  return x;
}

// Row by row with what is left of the length of a row.
Numbers factor_formula(const Numbers& u, size_t k, bool by_columns) {
  Numbers l(k * k, 0.0);
  size_t next = 0;
  std::vector<Numbers> z(k, Numbers(k, 0.0));
  if (by_columns) {
    for (size_t j = 0; j < k; ++j)
      for (size_t i = j + 1; i < k; ++i) z[i][j] = std::tanh(u[next++]);
  } else {
    for (size_t i = 1; i < k; ++i)
      for (size_t j = 0; j < i; ++j) z[i][j] = std::tanh(u[next++]);
  }
  for (size_t i = 0; i < k; ++i) {
    double used = 0;
    for (size_t j = 0; j < i; ++j) {
      l[i * k + j] = z[i][j] * std::sqrt(1 - used);
      used += l[i * k + j] * l[i * k + j];
    }
    l[i * k + i] = std::sqrt(1 - used);
  }
  return l;
}

Numbers times_transpose(const Numbers& l, size_t k) {
  Numbers x(k * k, 0.0);
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j < k; ++j)
      for (size_t m = 0; m < k; ++m) x[i * k + j] += l[i * k + m] * l[j * k + m];
  return x;
}

Numbers covariance_formula(const Numbers& u, size_t k) {
  Numbers l(k * k, 0.0);
  size_t next = 0;
  for (size_t i = 0; i < k; ++i)
    for (size_t j = 0; j <= i; ++j) {
      const double v = u[next++];
      l[i * k + j] = i == j ? std::exp(v) : v;
    }
  return times_transpose(l, k);
}

double logistic(double u) { return 1 / (1 + std::exp(-u)); }

std::vector<Case> cases() {
  using namespace constraint;
  const Tensor low = tensor({-1.0, 0.5, 3.0}), high = tensor({-0.5, 2.0, 7.0});
  const Numbers l{-1.0, 0.5, 3.0}, h{-0.5, 2.0, 7.0};
  return {
      {"real", real(), {3}, 3, [](const Numbers& u) { return u; }, all_of(3)},
      {"positive",
       positive(),
       {3},
       3,
       [](const Numbers& u) { return each(u, [](double v, size_t) { return std::exp(v); }); },
       all_of(3)},
      {"lower",
       lower(low),
       {3},
       3,
       [l](const Numbers& u) { return each(u, [&](double v, size_t i) { return l[i] + std::exp(v); }); },
       all_of(3)},
      {"lower_number",
       lower(2.5),
       {3},
       3,
       [](const Numbers& u) { return each(u, [](double v, size_t) { return 2.5 + std::exp(v); }); },
       all_of(3)},
      {"upper",
       upper(high),
       {3},
       3,
       [h](const Numbers& u) { return each(u, [&](double v, size_t i) { return h[i] - std::exp(v); }); },
       all_of(3)},
      {"interval",
       interval(low, high),
       {3},
       3,
       [l, h](const Numbers& u) {
         return each(u, [&](double v, size_t i) { return l[i] + (h[i] - l[i]) * logistic(v); });
       },
       all_of(3)},
      {"interval_number",
       interval(-2, low + 5.0),
       {3},
       3,
       [l](const Numbers& u) {
         return each(u, [&](double v, size_t i) { return -2 + (l[i] + 7) * logistic(v); });
       },
       all_of(3)},
      {"unit",
       unit(),
       {3},
       3,
       [](const Numbers& u) { return each(u, [](double v, size_t) { return logistic(v); }); },
       all_of(3)},
      {"offset_multiplier",
       offset_multiplier(low, 2.5),
       {3},
       3,
       [l](const Numbers& u) { return each(u, [&](double v, size_t i) { return l[i] + 2.5 * v; }); },
       all_of(3)},
      {"ordered", ordered(), {4}, 4, [](const Numbers& u) { return ordered_formula(u, false); }, all_of(4)},
      {"ordered_one", ordered(), {1}, 1, [](const Numbers& u) { return u; }, all_of(1)},
      {"positive_ordered",
       positive_ordered(),
       {4},
       4,
       [](const Numbers& u) { return ordered_formula(u, true); },
       all_of(4)},
      {"simplex", simplex(), {4}, 3, simplex_formula, all_of(3)},
      {"simplex_two", simplex(), {2}, 1, simplex_formula, all_of(1)},
      {"simplex_large", simplex(), {9}, 8, simplex_formula, all_of(8)},
      {"cholesky_factor_corr",
       cholesky_factor_corr(),
       {4, 4},
       6,
       [](const Numbers& u) { return factor_formula(u, 4, false); },
       below(4, false)},
      {"cholesky_factor_corr_two",
       cholesky_factor_corr(),
       {2, 2},
       1,
       [](const Numbers& u) { return factor_formula(u, 2, false); },
       below(2, false)},
      {"corr_matrix",
       corr_matrix(),
       {4, 4},
       6,
       [](const Numbers& u) { return times_transpose(factor_formula(u, 4, true), 4); },
       below(4, false)},
      {"cov_matrix",
       cov_matrix(),
       {3, 3},
       6,
       [](const Numbers& u) { return covariance_formula(u, 3); },
       below(3, true)},
      {"by_columns",
       stats::by_columns(lower(tensor({-1.0, 0.5, 3.0}))),
       {2, 3},
       6,
       [l](const Numbers& u) {
         Numbers x;
         for (size_t i = 0; i < 6; ++i) x.push_back(l[i % 3] + std::exp(u[i % 3 * 2 + i / 3]));
         return x;
       },
       all_of(6)},
  };
}

Numbers random_point(size_t count, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> number(-1.5, 1.5);
  Numbers u(count);
  for (double& v : u) v = number(generator);
  return u;
}

double determinant_at(const Case& c, const Numbers& u) {
  const double step = 1e-5;
  std::vector<Numbers> jacobian(c.free.size(), Numbers(u.size()));
  for (size_t j = 0; j < u.size(); ++j) {
    Numbers up = u, down = u;
    up[j] += step;
    down[j] -= step;
    const Numbers a = c.formula(up), b = c.formula(down);
    for (size_t i = 0; i < c.free.size(); ++i) jacobian[i][j] = (a[c.free[i]] - b[c.free[i]]) / (2 * step);
  }
  return log_determinant(jacobian);
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], tolerance * (1 + std::abs(want[i]))) << what << " at " << i;
}

class OnEvery : public OnDevice {
 protected:
  // A software device compiles slowly: it sees one case of each kind.
  std::vector<Case> chosen() {
    std::vector<Case> all = cases();
    if (on().info().kind == DeviceKind::software)
      std::erase_if(all, [](const Case& c) {
        return c.name != "interval" && c.name != "ordered" && c.name != "simplex" &&
               c.name != "cholesky_factor_corr" && c.name != "cov_matrix";
      });
    return all;
  }
  void SetUp() override {
    on();
    set_default_device(Device::open(GetParam()));
  }
};

TEST_P(OnEvery, ValuesJacobiansAndRoundTrips) {
  for (const Case& c : chosen()) {
    SCOPED_TRACE(c.name);
    const Shape free = c.constraint.unconstrained_shape(c.x);
    EXPECT_EQ(element_count(free), static_cast<int64_t>(c.size));
    const Numbers point = random_point(c.size, 7);
    const Tensor u = tensor(point, free);
    const Constrained made = c.constraint.constrain(u, c.x);
    EXPECT_EQ(to_string(made.value.shape()), to_string(c.x));
    EXPECT_TRUE(made.log_jacobian.shape().empty());
    expect_near(made.value.to_vector<double>(), c.formula(point), 1e-13, "value");
    EXPECT_NEAR(made.log_jacobian.item<double>(), determinant_at(c, point), 1e-7);
    expect_near(c.constraint.unconstrain(made.value).to_vector<double>(), point, 1e-11, "round trip");
    EXPECT_TRUE(all(c.constraint.contains(made.value)).item<bool>());
  }
}

// Two events beside one another: values of each, and the sum of the Jacobians.
TEST_P(OnEvery, Batches) {
  for (const Case& c : chosen()) {
    SCOPED_TRACE(c.name);
    Shape x = c.x;
    x.insert(0, 2);
    const Shape free = c.constraint.unconstrained_shape(x);
    ASSERT_EQ(element_count(free), 2 * static_cast<int64_t>(c.size));
    const Numbers a = random_point(c.size, 1), b = random_point(c.size, 2);
    Numbers both = a, want = c.formula(a);
    both.insert(both.end(), b.begin(), b.end());
    const Numbers second = c.formula(b);
    want.insert(want.end(), second.begin(), second.end());
    const Constrained made = c.constraint.constrain(tensor(both, free), x);
    expect_near(made.value.to_vector<double>(), want, 1e-13, "value");
    EXPECT_NEAR(made.log_jacobian.item<double>(), determinant_at(c, a) + determinant_at(c, b), 2e-7);
    expect_near(c.constraint.unconstrain(made.value).to_vector<double>(), both, 1e-11, "round trip");
    const Tensor inside = c.constraint.contains(made.value);
    EXPECT_EQ(to_string(inside.shape()),
              c.constraint.event_rank ? "[2]" : to_string(x));  // one number an event
    EXPECT_TRUE(all(inside).item<bool>());
  }
}

// What samplers do with them: gradients, at ordinary and at far points.
TEST_P(OnEvery, Gradients) {
  for (const Case& c : chosen()) {
    SCOPED_TRACE(c.name);
    const Shape free = c.constraint.unconstrained_shape(c.x);
    const Numbers weights = random_point(static_cast<size_t>(element_count(c.x)), 3);
    const Tensor weight = tensor(weights, c.x);
    const auto f = [&](Tensor u) {
      const Constrained made = c.constraint.constrain(u, c.x);
      return sum(made.value * weight) + made.log_jacobian;
    };
    const Numbers point = random_point(c.size, 5);
    const Numbers slope = grad(f)(tensor(point, free)).to_vector<double>();
    const double step = 1e-5;
    for (size_t i = 0; i < point.size(); ++i) {
      Numbers up = point, down = point;
      up[i] += step;
      down[i] -= step;
      const double difference =
          (f(tensor(up, free)).item<double>() - f(tensor(down, free)).item<double>()) / (2 * step);
      EXPECT_NEAR(slope[i], difference, 1e-7 * (1 + std::abs(difference)));
    }
    for (const double far : {-30.0, 30.0}) {
      const Tensor there = full(free, far, DType::f64);
      EXPECT_TRUE(std::isfinite(c.constraint.constrain(there, c.x).log_jacobian.item<double>())) << far;
      for (const double v : grad(f)(there).to_vector<double>()) EXPECT_TRUE(std::isfinite(v)) << far;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Constraint, OnEvery, testing::ValuesIn(device_ids()), test_name);

Numbers inside(const Constraint& c, const Tensor& x) {
  const auto mask = c.contains(x).to_vector<uint8_t>();
  return {mask.begin(), mask.end()};
}

TEST(Constraint, Contains) {
  using namespace constraint;
  const double nan = std::nan(""), inf = INFINITY;
  EXPECT_EQ(inside(real(), tensor({0.0, nan, inf, -inf, 1e300})), (Numbers{1, 0, 0, 0, 1}));
  EXPECT_EQ(inside(lower(2.0), tensor({1.9, 2.0, 3.0, nan, inf})), (Numbers{0, 1, 1, 0, 0}));
  EXPECT_EQ(inside(upper(2.0), tensor({1.9, 2.0, 3.0, nan, -inf})), (Numbers{1, 1, 0, 0, 0}));
  EXPECT_EQ(inside(unit(), tensor({-0.1, 0.0, 0.5, 1.0, 1.1, nan})), (Numbers{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(inside(integer(0), tensor({-1.0, 0.0, 2.0, 2.5, nan, inf})), (Numbers{0, 1, 1, 0, 0, 0}));
  EXPECT_EQ(inside(integer(1), tensor<int64_t>({0, 1, 5})), (Numbers{0, 1, 1}));
  EXPECT_EQ(inside(integer(0, tensor({3.0, 1.0})), tensor({2.0, 2.0})), (Numbers{1, 0}));
  EXPECT_EQ(inside(ordered(), tensor({{1.0, 2.0, 3.0}, {1.0, 1.0, 3.0}, {3.0, 2.0, 1.0}})),
            (Numbers{1, 0, 0}));
  EXPECT_EQ(inside(positive_ordered(), tensor({{1.0, 2.0}, {-1.0, 1.0}, {0.0, 1.0}})), (Numbers{1, 0, 0}));
  EXPECT_EQ(inside(simplex(), tensor({{0.25, 0.75}, {0.3, 0.6}, {-0.5, 1.5}, {0.0, 1.0}})),
            (Numbers{1, 0, 0, 1}));
  const auto matrix = [](double a, double b, double c, double d) { return tensor({{a, b}, {c, d}}); };
  EXPECT_EQ(inside(cholesky_factor_corr(), matrix(1, 0, 0.6, 0.8)), (Numbers{1}));
  EXPECT_EQ(inside(cholesky_factor_corr(), matrix(1, 0.1, 0.6, 0.8)), (Numbers{0}));
  EXPECT_EQ(inside(cholesky_factor_corr(), matrix(1, 0, 0.6, 0.9)), (Numbers{0}));
  EXPECT_EQ(inside(cholesky_factor_corr(), matrix(1, 0, 0.6, -0.8)), (Numbers{0}));
  EXPECT_EQ(inside(corr_matrix(), matrix(1, 0.5, 0.5, 1)), (Numbers{1}));
  EXPECT_EQ(inside(corr_matrix(), matrix(1, 0.5, 0.4, 1)), (Numbers{0}));
  EXPECT_EQ(inside(corr_matrix(), matrix(1, 1.5, 1.5, 1)), (Numbers{0}));
  EXPECT_EQ(inside(corr_matrix(), matrix(2, 0.5, 0.5, 1)), (Numbers{0}));
  EXPECT_EQ(inside(cov_matrix(), matrix(2, 0.5, 0.5, 1)), (Numbers{1}));
  EXPECT_EQ(inside(cov_matrix(), matrix(1, 2, 2, 1)), (Numbers{0}));
}

// Bounds that are no bounds.
TEST(Constraint, InfiniteBounds) {
  EXPECT_EQ(constraint::lower(-INFINITY).name, "real");
  EXPECT_EQ(constraint::upper(INFINITY).name, "real");
  EXPECT_EQ(constraint::interval(-INFINITY, INFINITY).name, "real");
  EXPECT_EQ(constraint::interval(1, INFINITY).name, "lower");
  EXPECT_EQ(constraint::interval(-INFINITY, 1).name, "upper");
}

TEST(Constraint, SmallestSizes) {
  const Constraint simplex = constraint::simplex(), factor = constraint::cholesky_factor_corr();
  EXPECT_EQ(to_string(simplex.unconstrained_shape({1})), "[0]");
  EXPECT_EQ(simplex.constrain(zeros({0}, DType::f64), {1}).value.to_vector<double>(), Numbers{1});
  EXPECT_EQ(to_string(factor.unconstrained_shape({1, 1})), "[0]");
  const Constrained one = factor.constrain(zeros({0}, DType::f64), {1, 1});
  EXPECT_EQ(one.value.to_vector<double>(), Numbers{1});
  EXPECT_EQ(one.log_jacobian.item<double>(), 0);
}

void expect_error(const std::function<void()>& f, const std::string& message) {
  try {
    f();
    ADD_FAILURE() << "expected: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), message);
  }
}

TEST(Constraint, Errors) {
  using namespace constraint;
  expect_error([] { simplex().unconstrained_shape({}); },
               "[simplex] shape: expected a last axis of at least 1, got []");
  expect_error(
      [] {
        ordered().unconstrained_shape({2, 0});
      },
      "[ordered] shape: expected a last axis of at least 1, got [2, 0]");
  expect_error(
      [] {
        cov_matrix().unconstrained_shape({2, 3});
      },
      "[cov_matrix] shape: expected [..., K, K] with K of at least 1, got [2, 3]");
  expect_error([] { corr_matrix().unconstrained_shape({3}); },
               "[corr_matrix] shape: expected [..., K, K] with K of at least 1, got [3]");
  expect_error(
      [] {
        lower(tensor({1.0, 2.0})).unconstrained_shape({3});
      },
      "[lower] bound: expected a shape that broadcasts to [3], got [2]");
  expect_error(
      [] {
        interval(0, tensor({1.0, 2.0})).unconstrained_shape({});
      },
      "[interval] high: expected a shape that broadcasts to [], got [2]");
  expect_error([] { interval(2, 1); }, "[interval] high: expected a number above 2, got 1");
  expect_error([] { interval(2, std::nan("")); }, "[interval] high: expected a number above 2, got nan");
  expect_error([] { lower(std::nan("")); }, "[lower] bound: expected a number, got nan");
  expect_error([] { offset_multiplier(0, 0); },
               "[offset_multiplier] multiplier: expected a number above 0, got 0");
  expect_error([] { integer(0).unconstrained_shape({}); },
               "[integer] constraint: expected a continuous one, got whole numbers, which cannot be sampled");
}

TEST(Constraint, Words) {
  EXPECT_EQ(constraint::positive().expected, "a number of at least 0");
  EXPECT_EQ(constraint::interval(-1, 2.5).expected, "a number from -1 to 2.5");
  EXPECT_EQ(constraint::integer(0).expected, "a whole number of at least 0");
  EXPECT_EQ(constraint::integer(0, tensor({2.0})).expected, "a whole number from 0 to its bound");
}

}  // namespace
}  // namespace adit::test
