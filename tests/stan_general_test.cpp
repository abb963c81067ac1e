// Stan's functions of containers on the cpu device: results against NumPy and SciPy, lanes against the lanes
// one by one, derivatives against differences, draws against moments.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <string>

#include <adit/random.hpp>
#include <adit/transform.hpp>

#include "seeds.hpp"
#include "stan/functions/table.hpp"
#include "stan_general_cases.hpp"

namespace adit::stan {
namespace {

using cases::Case;
using cases::Value;

const GeneralFunction& function(const std::string& name) {
  for (const GeneralFunction& each : general_functions())
    if (each.name == name) return each;
  ADD_FAILURE() << name << " is not there";
  return general_functions()[0];
}

Tensor tensor_of(const Value& value, const std::vector<double>& numbers, int64_t lanes = 0) {
  Shape shape(value.shape);
  if (lanes > 0) shape.insert(0, lanes);
  const Tensor made = tensor(numbers, shape);
  return value.type.is_integer() ? as_type(made, DType::i64) : made;
}
Arguments arguments_of(const Case& of) {
  Arguments arguments;
  for (const Value& value : of.arguments) {
    arguments.tensors.push_back(tensor_of(value, value.numbers));
    arguments.types.push_back(value.type);
    arguments.in_lanes.push_back(false);
  }
  return arguments;
}
std::vector<double> numbers_of(const Tensor& x) { return as_type(x, DType::f64).to_vector<double>(); }

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  double size = 1e-300;
  for (const double x : want)
    if (std::isfinite(x)) size = std::max(size, std::fabs(x));
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(got[i] == want[i] || std::fabs(got[i] - want[i]) <= tolerance * size)
        << what << "[" << i << "]: " << got[i] << ", not " << want[i];
}

class StanGeneral : public testing::Test {
 protected:
  static void SetUpTestSuite() { set_default_device(Device::open("cpu")); }
};

TEST_F(StanGeneral, Values) {
  for (const Case& each : cases::all()) {
    const Tensor result = function(each.name).compute(arguments_of(each));
    expect_near(numbers_of(result), each.result, 1e-11, each.name);
  }
}

constexpr int64_t lanes = 3;
// What a lane makes of an argument.
std::vector<double> in_lane(const Value& value, int64_t lane) {
  std::vector<double> numbers = value.numbers;
  if (!value.type.is_integer())
    for (double& x : numbers) x *= 1 + 0.01 * static_cast<double>(lane);
  return numbers;
}

// Every argument alone in lanes, and all of them.
TEST_F(StanGeneral, Lanes) {
  for (const Case& each : cases::all()) {
    const std::string name = each.name;
    if (!test::is_its_turn(std::hash<std::string>()(name), 6)) continue;
    const size_t count = each.arguments.size();
    for (size_t which = 0; which <= (count > 1 ? count : 0); ++which) {
      const bool is_sparse = name == "csr_matrix_times_vector" || name == "csr_to_dense_matrix";
      if ((is_sparse && (which == 3 || which == 4 || which == count)) || name.starts_with("csr_extract"))
        continue;
      const auto is_in = [&](size_t i) { return which == count || which == i || count == 1; };
      Arguments together = arguments_of(each);
      together.lanes = lanes;
      std::vector<double> want;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        Arguments alone = arguments_of(each);
        for (size_t i = 0; i < count; ++i)
          if (is_in(i)) alone.tensors[i] = tensor_of(each.arguments[i], in_lane(each.arguments[i], lane));
        for (const double x : numbers_of(function(name).compute(alone))) want.push_back(x);
      }
      for (size_t i = 0; i < count; ++i) {
        if (!is_in(i)) continue;
        std::vector<double> all;
        for (int64_t lane = 0; lane < lanes; ++lane)
          for (const double x : in_lane(each.arguments[i], lane)) all.push_back(x);
        together.tensors[i] = tensor_of(each.arguments[i], all, lanes);
        together.in_lanes[i] = true;
      }
      const Tensor result = function(name).compute(together);
      ASSERT_GE(result.rank(), 1) << name;
      EXPECT_EQ(result.dim(0), lanes) << name;
      expect_near(numbers_of(result), want, 1e-11,
                  name + " with argument " + std::to_string(which) + " in lanes");
    }
  }
}

// Along one direction for each argument; results are weighted so that none counts twice.
Tensor weighted(const Tensor& x) {
  const Tensor weight = cos(1.3 * iota(x.shape(), DType::f64) + 0.4);
  return sum(x * weight);
}
TEST_F(StanGeneral, Derivatives) {
  for (const Case& each : cases::all()) {
    const std::string name = each.name;
    if (!test::is_its_turn(std::hash<std::string>()(name), 6)) continue;
    // Ends, where differences say nothing.
    if (each.result.size() == 1 && (each.result[0] == 0 || !std::isfinite(each.result[0]))) continue;
    if (name.starts_with("sort_indices") || name == "rank" || name.starts_with("csr_extract") ||
        each.arguments[0].numbers[0] == -cases::inf)
      continue;
    const Arguments base = arguments_of(each);
    Tensors inputs;
    std::vector<size_t> which;
    for (size_t i = 0; i < base.size(); ++i)
      if (!base.types[i].is_integer()) {
        inputs.push_back(base.at(i));
        which.push_back(i);
      }
    if (inputs.empty()) continue;
    const auto value = [&](const Tensors& x) -> Tensor {
      Arguments arguments = base;
      for (size_t k = 0; k < x.size(); ++k) arguments.tensors[which[k]] = x[k];
      return weighted(function(name).compute(arguments));
    };
    const Tensors gradients = value_and_grad(value)(inputs).grads;
    for (size_t k = 0; k < inputs.size(); ++k) {
      std::vector<double> direction(static_cast<size_t>(inputs[k].size()));
      for (size_t i = 0; i < direction.size(); ++i)
        direction[i] = std::sin(2.1 * static_cast<double>(i) + 0.8);
      const Tensor along = tensor(direction, inputs[k].shape());
      constexpr double weights[] = {45, -9, 1}, step = 1e-3;
      double slope = 0, size = 0;
      for (int j = 1; j <= 3; ++j)
        for (const int side : {1, -1}) {
          Tensors moved = inputs;
          moved[k] = moved[k] + along * (side * j * step);
          const double at = value(moved).item<double>();
          size = std::max(size, std::fabs(at));
          slope += side * weights[j - 1] * at / (60 * step);
        }
      const double got = sum(gradients[k] * along).item<double>();
      EXPECT_LE(std::fabs(got - slope), 1e-8 * std::max({std::fabs(slope), size, 1e-6}))
          << name << ", argument " << which[k] << ": " << got << ", not " << slope;
    }
  }
}

// --- Larger ones, and ends
// -------------------------------------------------------------------------------------
Arguments arguments_of(const std::vector<std::pair<Type, Tensor>>& list) {
  Arguments arguments;
  for (const auto& [type, x] : list) {
    arguments.types.push_back(type);
    arguments.tensors.push_back(x);
    arguments.in_lanes.push_back(false);
  }
  return arguments;
}
double largest(const Tensor& x) { return reduce_max(abs(x)).item<double>(); }
Tensor some_matrix(int64_t size) { return random::normal(random::key(3), {size, size}, 0, 1, DType::f64); }

TEST_F(StanGeneral, LargerMatrices) {
  for (const int64_t size : {1, 2, 7, 50}) {
    const Tensor a = some_matrix(size), unit = eye(size, size, DType::f64);
    const Tensor inverse = function("inverse").compute(arguments_of({{cases::mat, a}}));
    EXPECT_LE(largest(matmul(a, inverse) - unit), 1e-11) << size;
    const Tensor even = a + transpose(a);
    const Tensor values = function("eigenvalues_sym").compute(arguments_of({{cases::mat, even}}));
    const Tensor vectors = function("eigenvectors_sym").compute(arguments_of({{cases::mat, even}}));
    EXPECT_LE(largest(matmul(even, vectors) - vectors * values), 1e-11) << size;
    EXPECT_LE(largest(matmul(transpose(vectors), vectors) - unit), 1e-12) << size;
    const auto list = values.to_vector<double>();
    EXPECT_TRUE(std::is_sorted(list.begin(), list.end())) << size;
    const Tensor twice = function("determinant").compute(arguments_of({{cases::mat, matmul(a, a)}}));
    const double once = function("determinant").compute(arguments_of({{cases::mat, a}})).item<double>();
    EXPECT_NEAR(twice.item<double>() / (once * once), 1, 1e-9) << size;
  }
}

// Columns are theirs up to a sign: products are not.
TEST_F(StanGeneral, FactorsGiveTheMatrix) {
  for (const auto& [rows, columns] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {4, 4}, {7, 3}, {3, 8}, {30, 12}}) {
    const Tensor a = random::normal(random::key(5), {rows, columns}, 0, 1, DType::f64);
    const auto of = [&](const char* name) { return function(name).compute(arguments_of({{cases::mat, a}})); };
    const auto unit = [](int64_t n) { return eye(n, n, DType::f64); };
    const Tensor u = of("svd_U"), v = of("svd_V"), s = of("singular_values");
    EXPECT_LE(largest(matmul(u * s, transpose(v)) - a), 1e-12) << rows;
    EXPECT_LE(largest(matmul(transpose(u), u) - unit(u.dim(1))), 1e-12) << rows;
    EXPECT_LE(largest(matmul(transpose(v), v) - unit(v.dim(1))), 1e-12) << rows;
    const Tensor q = of("qr_Q"), r = of("qr_R"), inverse = of("generalized_inverse");
    EXPECT_EQ(q.shape(), (Shape{rows, rows}));
    EXPECT_EQ(r.shape(), (Shape{rows, columns}));
    EXPECT_LE(largest(matmul(q, r) - a), 1e-12) << rows;
    EXPECT_LE(largest(matmul(transpose(q), q) - unit(rows)), 1e-12) << rows;
    EXPECT_LE(largest(matmul(matmul(a, inverse), a) - a), 1e-11) << rows;
    EXPECT_LE(largest(matmul(matmul(inverse, a), inverse) - inverse), 1e-11) << rows;
  }
  // Of less than full rank.
  const Tensor a = tensor({{1.0, 2.0, 0.5}, {2.0, 4.0, 1.0}, {0.0, 1.0, 3.0}, {1.0, 3.0, 3.5}});
  const Tensor inverse = function("generalized_inverse").compute(arguments_of({{cases::mat, a}}));
  EXPECT_LE(largest(matmul(matmul(a, inverse), a) - a), 1e-12);
  EXPECT_LE(largest(matmul(matmul(inverse, a), inverse) - inverse), 1e-12);
}

TEST_F(StanGeneral, SingularVectorsHaveDerivatives) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{3, 3}, {5, 2}, {2, 4}}) {
    const Tensor a = random::normal(random::key(6), {rows, columns}, 0, 1, DType::f64),
                 along = random::normal(random::key(7), {rows, columns}, 0, 1, DType::f64);
    const auto value = [](const Tensor& x) -> Tensor {
      const auto of = [&](const char* name) {
        return function(name).compute(arguments_of({{cases::mat, x}}));
      };
      return weighted(square(of("svd_U"))) + weighted(square(of("svd_V"))) + weighted(square(of("qr_Q")));
    };
    const double got = sum(grad(value)(a) * along).item<double>();
    const auto at = [&](double step) { return value(a + along * step).item<double>(); };
    EXPECT_NEAR(got, (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4,
                1e-8 * std::max(1.0, std::fabs(got)));
  }
}

TEST_F(StanGeneral, HypergeometricEnds) {
  const auto of = [](double a, double b, double c, double z) {
    return function("hypergeometric_2F1")
        .compute(arguments_of({{cases::real, tensor(a)},
                               {cases::real, tensor(b)},
                               {cases::real, tensor(c)},
                               {cases::real, tensor(z)}}))
        .item<double>();
  };
  EXPECT_NEAR(of(0.3, 0.4, 2, 1), 1.1054192265872007, 1e-12);
  EXPECT_EQ(of(0.3, 0.4, 2, 0), 1);
  EXPECT_TRUE(std::isnan(of(0.3, 0.4, 2, 1.5)));
  EXPECT_TRUE(std::isnan(of(1.3, 1.4, 2, 1)));
}

TEST_F(StanGeneral, EigenvectorsHaveDerivatives) {
  const Tensor a = some_matrix(4), even = a + transpose(a),
               along = some_matrix(4) + transpose(some_matrix(4));
  const auto value = [](const Tensor& x) -> Tensor {
    return weighted(square(function("eigenvectors_sym").compute(arguments_of({{cases::mat, x}}))));
  };
  const double got = sum(grad(value)(even) * along).item<double>();
  const auto at = [&](double step) { return value(even + along * step).item<double>(); };
  EXPECT_NEAR(got, (8 * (at(1e-4) - at(-1e-4)) - (at(2e-4) - at(-2e-4))) / 12e-4,
              1e-8 * std::max(1.0, std::fabs(got)));
}

TEST_F(StanGeneral, Ends) {
  const Tensor none = zeros({0}, DType::f64), singular = tensor({{1.0, 2.0}, {2.0, 4.0}});
  const auto of = [&](const char* name, const Tensor& x, const Type& type) {
    return function(name).compute(arguments_of({{type, x}})).item<double>();
  };
  EXPECT_EQ(of("sum", none, cases::vec), 0);
  EXPECT_EQ(of("prod", none, cases::vec), 1);
  EXPECT_EQ(of("max", none, cases::vec), -cases::inf);
  EXPECT_EQ(of("min", none, cases::vec), cases::inf);
  EXPECT_EQ(of("log_sum_exp", none, cases::vec), -cases::inf);
  EXPECT_EQ(of("determinant", singular, cases::mat), 0);
  EXPECT_EQ(of("log_determinant", singular, cases::mat), -cases::inf);
  EXPECT_TRUE(
      std::isnan(sum(function("inverse").compute(arguments_of({{cases::mat, singular}}))).item<double>()));
  EXPECT_TRUE(std::isnan(of("log_determinant_spd", -singular, cases::mat)));
  const Tensor low = tensor({-cases::inf, -cases::inf});
  EXPECT_EQ(of("log_sum_exp", low, cases::vec), -cases::inf);
  // Derivatives where a root is 0.
  const Tensor zero = zeros({3}, DType::f64);
  for (const char* name : {"norm2", "sd"}) {
    const auto f = [&](const Tensor& x) -> Tensor {
      return function(name).compute(arguments_of({{cases::vec, x}}));
    };
    EXPECT_EQ(largest(grad(f)(zero)), 0) << name;
  }
  // Many classes are looked up.
  const Tensor logits = sin(arange(100, DType::f64)), y = tensor({int64_t{1}, int64_t{100}, int64_t{57}});
  const auto mass =
      function("categorical_logit_lpmf").compute(arguments_of({{cases::ints, y}, {cases::vec, logits}}));
  const auto list = log_softmax(logits).to_vector<double>();
  EXPECT_NEAR(mass.item<double>(), list[0] + list[99] + list[56], 1e-12);
  const Tensor bad = tensor({int64_t{0}, int64_t{2}});
  EXPECT_EQ(function("categorical_logit_lpmf")
                .compute(arguments_of({{cases::ints, bad}, {cases::vec, logits}}))
                .item<double>(),
            -cases::inf);
}

// --- Draws, in lanes: each lane is one draw
// -----------------------------------------------------------------------
constexpr int64_t draws = 4000;
Tensor drawn(const char* name, std::vector<std::pair<Type, Tensor>> list, size_t in_lanes) {
  Shape shape = list[in_lanes].second.shape();
  shape.insert(0, draws);
  list[in_lanes].second = broadcast_to(list[in_lanes].second, shape);
  Arguments arguments = arguments_of(list);
  arguments.lanes = draws;
  arguments.in_lanes[in_lanes] = true;
  arguments.key = random::key(11);
  return as_type(function(name).compute(arguments), DType::f64);
}
void expect_mean(const Tensor& x, const std::vector<double>& want, double deviation, const char* what) {
  const auto got = mean(x, {0}).to_vector<double>();
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 5 * deviation / std::sqrt(1.0 * draws)) << what << i;
}

TEST_F(StanGeneral, Draws) {
  const Tensor mu = tensor({1.0, -2.0}), cov = tensor({{2.0, 0.6}, {0.6, 1.0}}), factor = cholesky(cov);
  const Tensor precision = function("inverse").compute(arguments_of({{cases::mat, cov}}));
  const auto products = [&](const Tensor& x) { return expand_dims(x - mu, -1) * expand_dims(x - mu, -2); };
  const std::vector<double> covariance{2, 0.6, 0.6, 1};
  const std::vector<std::pair<const char*, Tensor>> normals{
      {"multi_normal_rng", cov}, {"multi_normal_cholesky_rng", factor}, {"multi_normal_prec_rng", precision}};
  for (const auto& [name, matrix] : normals)
    for (const size_t lane : {0, 1}) {
      const Tensor x = drawn(name, {{cases::vec, mu}, {cases::mat, matrix}}, lane);
      expect_mean(x, {1, -2}, 1.5, name);
      expect_mean(products(x), covariance, 3, name);
    }
  const Tensor t =
      drawn("multi_student_t_rng", {{cases::real, tensor(9.0)}, {cases::vec, mu}, {cases::mat, cov}}, 1);
  expect_mean(products(t), {2 * 9.0 / 7, 0.6 * 9 / 7, 0.6 * 9 / 7, 9.0 / 7}, 5, "multi_student_t_rng");
  const Tensor a = tensor({1.0, 0.5, 2.5}), theta = tensor({0.2, 0.3, 0.5});
  expect_mean(drawn("dirichlet_rng", {{cases::vec, a}}, 0), {0.25, 0.125, 0.625}, 0.25, "dirichlet_rng");
  const Tensor n = full_integer({}, 10);
  const Tensor counts = drawn("multinomial_rng", {{cases::vec, theta}, {cases::integer, n}}, 0);
  EXPECT_EQ(largest(sum(counts, {-1}) - 10.0), 0);
  expect_mean(counts, {2, 3, 5}, 1.6, "multinomial_rng");
  expect_mean(drawn("multinomial_logit_rng", {{cases::vec, log(theta)}, {cases::integer, n}}, 1), {2, 3, 5},
              1.6, "multinomial_logit_rng");
  expect_mean(drawn("dirichlet_multinomial_rng", {{cases::vec, a}, {cases::integer, n}}, 0),
              {2.5, 1.25, 6.25}, 3, "dirichlet_multinomial_rng");
  const double moment = 0.2 + 0.6 + 1.5;
  expect_mean(drawn("categorical_rng", {{cases::vec, theta}}, 0), {moment}, 0.8, "categorical_rng");
  expect_mean(drawn("categorical_logit_rng", {{cases::vec, log(theta)}}, 0), {moment}, 0.8,
              "categorical_logit_rng");
  const Tensor cuts = tensor({-1.0, 1.0});
  expect_mean(drawn("ordered_logistic_rng", {{cases::real, tensor(0.0)}, {cases::vec, cuts}}, 0), {2}, 0.8,
              "ordered_logistic_rng");
  expect_mean(drawn("ordered_probit_rng", {{cases::real, tensor(0.0)}, {cases::vec, cuts}}, 1), {2}, 0.8,
              "ordered_probit_rng");
  // Of an LKJ matrix an entry squared has the mean 1 / (2 b + 1), b = eta + (K - 2) / 2.
  const Tensor r =
      drawn("lkj_corr_rng", {{cases::integer, full_integer({}, 3)}, {cases::real, tensor(2.0)}}, 1);
  expect_mean(square(r), {1, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1, 1.0 / 6, 1.0 / 6, 1.0 / 6, 1}, 0.25,
              "lkj_corr_rng");
  // Nothing in lanes but the draws themselves: each has its own.
  Arguments alone = arguments_of({{cases::vec, theta}});
  alone.lanes = draws;
  alone.key = random::key(5);
  expect_mean(as_type(function("categorical_rng").compute(alone), DType::f64), {moment}, 0.8,
              "categorical_rng alone");
  const Tensor omega = zeros({3, 2}, DType::f64),
               moves = tensor({{0.5, 0.5, 0.0}, {0.1, 0.2, 0.7}, {0.0, 0.0, 1.0}});
  const Tensor states =
      drawn("hmm_latent_rng", {{cases::mat, omega}, {cases::mat, moves}, {cases::vec, theta}}, 0);
  expect_mean(states, {moment, 0.2 * 1.5 + 0.3 * 2.6 + 0.5 * 3}, 0.8, "hmm_latent_rng");
  const std::vector<std::pair<Type, Tensor>> scale{{cases::real, tensor(6.0)}, {cases::mat, cov}};
  const std::vector<std::pair<Type, Tensor>> by_factor{{cases::real, tensor(6.0)}, {cases::mat, factor}};
  const auto whole = [](const Tensor& l) { return matmul(l, transpose(l, {0, 2, 1})); };
  expect_mean(whole(drawn("wishart_cholesky_rng", by_factor, 1)), {12, 3.6, 3.6, 6}, 8,
              "wishart_cholesky_rng");
  expect_mean(whole(drawn("inv_wishart_cholesky_rng", by_factor, 0)), {2.0 / 3, 0.2, 0.2, 1.0 / 3}, 1,
              "inv_wishart_cholesky_rng");
  expect_mean(drawn("wishart_rng", scale, 0), {12, 3.6, 3.6, 6}, 8, "wishart_rng");
  expect_mean(drawn("inv_wishart_rng", scale, 1), {2.0 / 3, 0.2, 0.2, 1.0 / 3}, 1, "inv_wishart_rng");
}

}  // namespace
}  // namespace adit::stan
