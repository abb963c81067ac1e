// cholesky and triangular_solve as kernels, on every device, against plain loops in long double.
#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "devices.hpp"
#include "fenced.hpp"
#include "ops/cholesky.hpp"
#include "ops/triangular.hpp"

namespace adit::test {
namespace {

using namespace adit::ops;

class Factors : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Factors, testing::ValuesIn(device_ids()), test_name);

template <class T>
std::vector<T> bytes_as(const std::vector<std::byte>& bytes, size_t count) {
  std::vector<T> values(count);
  if (count) std::memcpy(values.data(), bytes.data(), count * sizeof(T));
  return values;
}

template <class T>
std::vector<T> positive_matrices(uint32_t n, uint64_t batch, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<T> x(batch * n * n);
  for (uint64_t m = 0; m < batch; ++m) {
    std::vector<double> g(n * n);
    for (double& v : g) v = normal(random);
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j < n; ++j) {
        double sum = i == j ? 1 : 0;
        for (uint32_t p = 0; p < n; ++p) sum += g[i * n + p] * g[j * n + p] / n;
        // What stands above the diagonal must not be read.
        x[(m * n + i) * n + j] = static_cast<T>(j > i ? NAN : sum);
      }
  }
  return x;
}

template <class T>
std::vector<T> run_cholesky(Device& device, const std::vector<T>& x, uint32_t n, uint64_t batch) {
  const Cholesky work = cholesky({type_of<T>(), n, batch});
  if (work.teams == 0) return {};
  const auto results = run_on(device, work.program, work.teams,
                              {Input::buffer(x), Input::buffer(std::vector<T>(x.size(), T(77)))});
  return bytes_as<T>(results[1], x.size());
}

template <class T>
void check_cholesky(Device& device, uint32_t n, uint64_t batch) {
  const std::vector<T> x = positive_matrices<T>(n, batch, n + 1), l = run_cholesky(device, x, n, batch);
  const double unit = std::numeric_limits<T>::epsilon();
  int shown = 0;
  for (uint64_t m = 0; m < batch && shown < 5; ++m) {
    std::vector<long double> want(n * n);
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j <= i; ++j) {
        long double sum = x[(m * n + i) * n + j];
        for (uint32_t p = 0; p < j; ++p) sum -= want[i * n + p] * want[j * n + p];
        want[i * n + j] = i == j ? std::sqrt(sum) : sum / want[j * n + j];
      }
    for (uint32_t e = 0; e < n * n && shown < 5; ++e) {
      const double got = l[m * n * n + e], wanted = static_cast<double>(want[e]);
      if (!(std::fabs(got - wanted) <= (8 + n) * unit * 2) && ++shown)
        ADD_FAILURE() << "n " << n << " matrix " << m << " [" << e / n << "][" << e % n << "] is " << got
                      << ", expected " << wanted;
    }
  }
  const auto again = run_cholesky(device, x, n, batch);
  EXPECT_TRUE(l.empty() || std::memcmp(l.data(), again.data(), l.size() * sizeof(T)) == 0);
}

TEST_P(Factors, CholeskyOfEverySize) {
  uint64_t number = 0;
  for (const uint32_t n : {0, 1, 2, 3, 8, 9, 16, 17, 64, 65, 130})
    if (is_in_share(number++, 2)) check_cholesky<float>(on(), n, n < 20 ? 7 : 2);
  for (const uint32_t n : {2, 17, 65}) check_cholesky<double>(on(), n, 2);
}

TEST_P(Factors, CholeskyOfComplexMatrices) {
  using Complex = std::complex<float>;
  for (const uint32_t n : {1u, 3u, 20u, 40u}) {
    std::mt19937 random(n);
    std::normal_distribution<float> normal;
    std::vector<Complex> g(n * n), x(n * n);
    for (Complex& v : g) v = {normal(random), normal(random)};
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j <= i; ++j) {
        for (uint32_t p = 0; p < n; ++p)
          x[i * n + j] += g[i * n + p] * std::conj(g[j * n + p]) / static_cast<float>(n);
        if (i == j) x[i * n + j] = x[i * n + j].real() + 1;
      }
    const Cholesky work = cholesky({Type::f32, n, 1, true});
    const auto results = run_on(on(), work.program, work.teams, {Input::buffer(x), Input::buffer(g)});
    const auto l = bytes_as<Complex>(results[1], n * n);
    for (uint32_t i = 0; i < n; ++i)
      for (uint32_t j = 0; j < n; ++j) {
        if (j > i) {
          EXPECT_EQ(l[i * n + j], Complex(0));
          continue;
        }
        std::complex<double> sum = 0;
        for (uint32_t p = 0; p < n; ++p)
          sum += std::complex<double>(l[i * n + p]) * std::conj(std::complex<double>(l[j * n + p]));
        EXPECT_NEAR(std::abs(sum - std::complex<double>(x[i * n + j])), 0, 4e-6) << n << " " << i << " " << j;
      }
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(l[i * n + i].imag(), 0);
      EXPECT_GT(l[i * n + i].real(), 0);
    }
  }
}

TEST_P(Factors, CholeskyOfManySmallMatrices) { check_cholesky<float>(on(), 3, 300); }

TEST_P(Factors, CholeskyOfWhatIsNotPositiveIsNotANumberFromThereOn) {
  for (const uint32_t n : {3u, 40u}) {
    for (const uint32_t bad : {0u, 20u % n, n - 1}) {
      for (const float pivot : {0.0f, -1.0f, NAN}) {
        std::vector<float> x(n * n);
        for (uint32_t i = 0; i < n; ++i) x[i * n + i] = i == bad ? pivot : 4.0f;
        const auto l = run_cholesky(on(), x, n, 1);
        for (uint32_t i = 0; i < n; ++i)
          for (uint32_t j = 0; j <= i; ++j)
            if (i < bad) {
              EXPECT_EQ(l[i * n + j], i == j ? 2.0f : 0.0f) << n << " " << i << " " << j;
            } else if (j >= bad) {
              EXPECT_TRUE(std::isnan(l[i * n + j])) << n << " " << bad << " " << i << " " << j;
            }
        EXPECT_EQ(n > 1 ? l[1] : 0, 0.0f) << "above the diagonal";
      }
    }
  }
}

TEST_P(Factors, BadTypesAreRefused) {
  EXPECT_THROW(cholesky({Type::i32, 3, 1}), Error);
  TriangularPlan plan;
  plan.type = Type::f16;
  plan.n = 2;
  EXPECT_THROW(triangular_solve(plan), Error);
}

template <class T>
struct Parts {
  static constexpr int count = 1;
  using Real = T;
};
template <class T>
struct Parts<std::complex<T>> {
  static constexpr int count = 2;
  using Real = T;
};

template <class T>
T random_number(std::mt19937& random) {
  std::normal_distribution<double> normal;
  using Real = typename Parts<T>::Real;
  if constexpr (Parts<T>::count == 2) {
    const auto re = static_cast<Real>(normal(random));
    return {re, static_cast<Real>(normal(random))};
  } else {
    return static_cast<Real>(normal(random));
  }
}

// Solves by the plan's words alone: forms the full matrix, then checks that it times x is b.
template <class T>
void check_triangular(Device& device, TriangularPlan plan, TriangularMethod method) {
  using Real = typename Parts<T>::Real;
  plan.type = type_of<Real>();
  plan.complex = Parts<T>::count == 2;
  const uint32_t n = plan.n, m = plan.columns;
  std::mt19937 random(n * 31 + m);
  std::vector<T> a(plan.batch * n * n), b(plan.batch * n * m);
  for (size_t e = 0; e < a.size(); ++e) {
    const size_t i = e / n % n, j = e % n;
    a[e] = random_number<T>(random) * static_cast<Real>(0.5);
    if (i == j) a[e] += static_cast<Real>(a[e] == std::abs(a[e]) ? 3 : -3);
    if (plan.lower ? j > i : j < i) a[e] = static_cast<Real>(NAN);  // not to be read
    if (i != j) a[e] *= static_cast<Real>(2.0 / n);
  }
  for (T& v : b) v = random_number<T>(random);
  const Triangular work = triangular_solve(plan, method);
  if (n == 0 || m == 0) {
    EXPECT_EQ(work.teams, 0u);
    return;
  }
  const auto results = run_on(device, work.program, work.teams, {Input::buffer(a), Input::buffer(b)});
  const auto x = bytes_as<T>(results[1], b.size());

  const auto element = [&](uint64_t batch, uint32_t i, uint32_t j) {
    if (plan.transpose) std::swap(i, j);
    const bool outside = plan.lower ? j > i : j < i;
    return outside ? T(0) : a[(batch * n + i) * n + j];
  };
  int shown = 0;
  for (uint64_t s = 0; s < plan.batch; ++s)
    for (uint32_t r = 0; r < n; ++r)
      for (uint32_t c = 0; c < m && shown < 5; ++c) {
        std::complex<long double> sum = 0;
        for (uint32_t p = 0; p < n; ++p) {
          const std::complex<long double> f = plan.left_side ? element(s, r, p) : element(s, p, r);
          sum += f * std::complex<long double>(x[s * n * m + (plan.left_side ? p * m + c : c * n + p)]);
        }
        const std::complex<long double> want = b[s * n * m + (plan.left_side ? r * m + c : c * n + r)];
        if (!(std::abs(sum - want) <=
              40 * std::numeric_limits<Real>::epsilon() * static_cast<Real>(1 + n / 8)) &&
            ++shown)
          ADD_FAILURE() << "n " << n << " columns " << m << " lower " << plan.lower << " left "
                        << plan.left_side << " transpose " << plan.transpose << " method "
                        << static_cast<int>(method) << ": row " << r << " column " << c << " gives "
                        << std::abs(sum) << ", expected " << std::abs(want);
      }
  EXPECT_EQ(run_on(device, work.program, work.teams, {Input::buffer(a), Input::buffer(b)})[1], results[1]);
}

using enum TriangularMethod;

TEST_P(Factors, TriangularInEveryDirection) {
  uint64_t number = 0;
  for (const TriangularMethod method : {alone, columns, rows})
    for (int way = 0; way < 8; ++way) {
      TriangularPlan plan;
      plan.n = 17;
      plan.columns = 5;
      plan.batch = 2;
      plan.lower = way & 1;
      plan.left_side = way & 2;
      plan.transpose = way & 4;
      if (!is_in_share(number++, 3)) continue;
      check_triangular<float>(on(), plan, method);
      if (way % 3 == 0) check_triangular<std::complex<float>>(on(), plan, method);
    }
}

TEST_P(Factors, TriangularOfEverySize) {
  uint64_t number = 0;
  for (const TriangularMethod method : {alone, columns, rows})
    for (const uint32_t n : {0, 1, 3, 8, 17, 65, 130})
      for (const uint32_t m : {0, 1, 65}) {
        TriangularPlan plan;
        plan.n = n;
        plan.columns = m;
        plan.batch = n < 20 ? 3 : 1;
        if ((method == alone && n * m > 1000) || !is_in_share(number++, 3)) continue;
        check_triangular<double>(on(), plan, method);
      }
}

// The last block of rows is rarely a whole one: nothing past the matrices is touched, and the results stay.
TEST(FactorBounds, NothingPastTheEndIsTouched) {
  for (const uint32_t n : {1u, 5u, 9u, 17u, 37u})
    for (const uint64_t batch : {1u, 2u}) {
      const std::vector<double> x = positive_matrices<double>(n, batch, n);
      const Cholesky work = cholesky({Type::f64, n, batch});
      const std::vector<Input> inputs{Input::buffer(x), Input::buffer(std::vector<double>(x.size(), 77))};
      const auto l = bytes_as<double>(run_fenced(work.program, work.teams, inputs), x.size());
      EXPECT_NEAR(l[0] * l[0], x[0], 1e-12) << n;
      EXPECT_TRUE(std::isfinite(l.back())) << n;
      for (const TriangularMethod method : {alone, columns, rows})
        for (const bool lower : {false, true}) {
          TriangularPlan plan;
          plan.type = Type::f64, plan.n = n, plan.columns = 3, plan.batch = batch, plan.lower = lower;
          std::vector<double> a(x.size()), b(batch * n * 3, 1.0);
          for (size_t i = 0; i < a.size(); ++i) a[i] = i % (n + 1) == 0 ? 2 : 0.1;
          for (uint64_t m = 0; m < batch; ++m)
            for (uint32_t i = 0; i < n; ++i) a[(m * n + i) * n + i] = 2;
          const Triangular solve = triangular_solve(plan, method);
          const auto solved = bytes_as<double>(
              run_fenced(solve.program, solve.teams, {Input::buffer(a), Input::buffer(b)}), b.size());
          for (const double v : solved) ASSERT_TRUE(std::isfinite(v)) << n;
        }
    }
}

TEST_P(Factors, AZeroOnTheDiagonalDivides) {
  TriangularPlan plan;
  plan.n = 2;
  const Triangular work = triangular_solve(plan);
  const auto x = bytes_as<float>(
      run_on(on(), work.program, work.teams,
             {Input::buffer(std::vector<float>{0, 9, 1, 1}), Input::buffer(std::vector<float>{1, 2})})[1],
      2);
  EXPECT_EQ(x[0], INFINITY);
  EXPECT_EQ(x[1], -INFINITY);
}

}  // namespace
}  // namespace adit::test
