// Systems of equations and LU at sizes around those of panels and tiles, against the equations themselves:
// what is left over is small beside the numbers that it is the sum of, whatever the condition.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <random>

#include <adit/adit.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

using Wide = std::complex<double>;

class Systems : public OnDevice {
 protected:
  void SetUp() override { set_default_device(on().shared_from_this()); }
};
INSTANTIATE_TEST_SUITE_P(Devices, Systems, testing::ValuesIn(device_ids()), test_name);

template <class T>
T random_number(std::mt19937& random) {
  std::normal_distribution<double> normal;
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(normal(random));
  } else {
    const auto re = static_cast<typename T::value_type>(normal(random));
    return {re, static_cast<typename T::value_type>(normal(random))};
  }
}

template <class T>
std::vector<T> random_numbers(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) numbers.push_back(random_number<T>(random));
  return numbers;
}

template <class T>
double unit() {
  return std::numeric_limits<decltype(std::abs(T()))>::epsilon();
}

// A sum that should be nothing, and the sizes of what it is made of.
struct Leftover {
  Wide sum = 0;
  double size = 0;
  void add(Wide x) { sum += x, size += std::abs(x); }
  double share() const { return size > 0 ? std::abs(sum) / size : 0; }
};

template <class T>
double worst_of_triangular(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& x, int n,
                           int columns, const TriangularOptions& o) {
  double worst = 0;
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < columns; ++c) {
      Leftover left;
      left.add(-Wide(b[o.left_side ? r * columns + c : c * n + r]));
      for (int p = 0; p < n; ++p) {
        int i = o.left_side ? r : p, j = o.left_side ? p : r;
        if (o.transpose) std::swap(i, j);
        if (o.lower ? j <= i : i <= j)
          left.add(Wide(a[i * n + j]) * Wide(x[o.left_side ? p * columns + c : c * n + p]));
      }
      worst = std::max(worst, std::isnan(left.share()) ? INFINITY : left.share());
    }
  return worst;
}

// `small`: what the diagonal is at least, beside normal numbers elsewhere.
template <class T>
std::vector<T> triangle(int n, bool lower, double small) {
  using Real = decltype(std::abs(T()));
  std::vector<T> a = random_numbers<T>(int64_t{n} * n, static_cast<uint32_t>(n));
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      T& x = a[i * n + j];
      if (i == j)
        x = static_cast<Real>(small) * x + x / std::abs(x) * static_cast<Real>(small);
      else
        x *= static_cast<Real>(1 / std::sqrt(n));
      if (lower ? j > i : j < i) x = static_cast<Real>(NAN);  // not to be read
    }
  return a;
}

TEST_P(Systems, TriangularInEveryDirection) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  const int n = 37, columns = 5;
  const bool is_software = on().info().kind == DeviceKind::software;
  for (int way = 0; way < 8; ++way)
    for (const double small : {1.0, 0.02}) {
      if (!is_in_share(static_cast<uint64_t>(way), is_software ? 4 : 2)) continue;
      TriangularOptions options;
      options.lower = way & 1, options.left_side = way & 2, options.transpose = way & 4;
      const auto a = triangle<float>(n, options.lower, small), b = random_numbers<float>(n * columns, 3);
      const Shape shape = options.left_side ? Shape{n, columns} : Shape{columns, n};
      const auto x = triangular_solve(tensor(a, {n, n}), tensor(b, shape), options).to_vector<float>();
      EXPECT_LE(worst_of_triangular(a, b, x, n, columns, options), 10 * unit<float>())
          << "way " << way << " diagonal " << small;
    }
}

TEST_P(Systems, TriangularOfEverySize) {
  for (const int n : {31, 32, 33, 63, 64, 65, 130})
    for (const int columns : {1, 16, 65}) {
      if (!is_its_turn(static_cast<uint64_t>(n * 100 + columns), 3)) continue;
      const auto a = triangle<float>(n, true, 1), b = random_numbers<float>(n * columns, 3);
      const auto x = triangular_solve(tensor(a, {n, n}), tensor(b, {n, columns})).to_vector<float>();
      EXPECT_LE(worst_of_triangular(a, b, x, n, columns, {}), 10 * unit<float>()) << n << " " << columns;
    }
}

template <class T>
void check_few_columns(int n, int columns, int way, double small) {
  TriangularOptions options;
  options.lower = way & 1, options.left_side = way & 2, options.transpose = way & 4;
  const auto a = triangle<T>(n, options.lower, small), b = random_numbers<T>(n * columns, 3);
  const Shape shape = options.left_side ? Shape{n, columns} : Shape{columns, n};
  const auto x = triangular_solve(tensor(a, {n, n}), tensor(b, shape), options).template to_vector<T>();
  EXPECT_LE(worst_of_triangular(a, b, x, n, columns, options), 10 * unit<T>())
      << n << " x " << columns << " way " << way << " diagonal " << small;
}

// Where teams wait for each other, these do.
TEST_P(Systems, TriangularOfFewColumns) {
  const uint64_t of = on().info().kind == DeviceKind::software ? 12 : 4;
  check_few_columns<float>(70, 1, 0, 1);  // with every seed
  for (uint32_t way = 0; way < 8; ++way) {
    if (!is_its_turn(way, of)) continue;
    for (const double small : {1.0, 0.02}) check_few_columns<float>(70, 1, way, small);
    check_few_columns<float>(131, 3, way, 1);
    check_few_columns<float>(70, 7, way, 1);
  }
  for (const uint32_t n : {31, 32, 33, 63, 64, 65, 200})
    if (is_its_turn(n, of)) check_few_columns<double>(n, 2, 3, 1);
  for (uint32_t way = 0; way < 8; ++way)
    if (is_its_turn(100 + way, of)) check_few_columns<std::complex<float>>(90, 1 + way % 6, way, 1);
  for (const uint32_t n : {33, 64, 65, 170})
    if (is_its_turn(1000 + n, of)) check_few_columns<std::complex<double>>(n, 1, 3, 1);
}

// A zero on the diagonal, and a number near the end of the range.
TEST_P(Systems, TriangularOfSmallDiagonals) {
  const int n = 40;
  std::vector<float> a = triangle<float>(n, true, 1), b(n, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) a[i * n + j] = 0;
  a[20 * n + 20] = 0;
  a[10 * n + 10] = 0x1p-120F, b[10] = 0x1p-120F;
  const auto x = triangular_solve(tensor(a, {n, n}), tensor(b, {n, 1})).to_vector<float>();
  for (int i = 0; i < n; ++i) {
    if (i == 20) {
      EXPECT_TRUE(std::isinf(x[i])) << x[i];
    } else if (i < 20) {
      EXPECT_NEAR(x[i] * (a[i * n + i] / b[i]), 1, 1e-6) << i;
    }
  }
}

// 1 where the exchanges that make the permutation are even, -1 where odd, 0 where it is none.
int sign_of(const int32_t* order, int n) {
  std::vector<bool> seen(n);
  int cycles = 0;
  for (int i = 0; i < n; ++i) {
    if (order[i] < 0 || order[i] >= n) return 0;
    if (!seen[i]) ++cycles;
    for (int j = i; !seen[j]; j = order[j]) {
      seen[j] = true;
      if (order[j] < 0 || order[j] >= n) return 0;
    }
  }
  std::vector<bool> taken(n);
  for (int i = 0; i < n; ++i) taken[order[i]] = true;
  if (std::count(taken.begin(), taken.end(), true) != n) return 0;
  return (n - cycles) % 2 ? -1 : 1;
}

// Checks p x = l u, of large ones in every so manieth column, the pivots and the sign.
template <class T>
void check_lu(const std::vector<T>& x, const LuFactors& made, int batch, int n, int apart = 1) {
  const auto packed = made.packed.to_vector<T>();
  const auto order = made.permutation.to_vector<int32_t>(), sign = made.sign.to_vector<int32_t>();
  const double largest = std::is_floating_point_v<T> ? 1 : std::sqrt(2.0);
  double worst = 0, most = 0;
  for (int m = 0; m < batch; ++m) {
    const T* const f = packed.data() + int64_t{m} * n * n;
    const int32_t* const from = order.data() + int64_t{m} * n;
    ASSERT_EQ(sign[m], sign_of(from, n)) << n;
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        const double l = std::abs(f[i * n + j]);
        most = std::max(most, std::isnan(l) ? INFINITY : l);
      }
      for (int j = i % apart; j < n; j += apart) {
        Leftover left;
        left.add(-Wide(x[(int64_t{m} * n + from[i]) * n + j]));
        for (int p = 0; p <= std::min(i, j); ++p)
          left.add((p == i ? 1.0 : Wide(f[i * n + p])) * Wide(f[p * n + j]));
        worst = std::max(worst, std::isnan(left.share()) ? INFINITY : left.share());
      }
    }
  }
  EXPECT_LE(most, largest * (1 + 4 * unit<T>())) << n << " x " << batch;
  EXPECT_LE(worst, 10 * unit<T>()) << n << " x " << batch;
}

// As LAPACK: of pivots that are as large as each other the first row is taken.
TEST_P(Systems, TheFirstOfEqualPivots) {
  for (const int n : {2, 5, 20, 70, 130}) {
    std::vector<float> x = random_numbers<float>(n * n, static_cast<uint32_t>(n));
    for (int i = 0; i < n; ++i) x[static_cast<size_t>(i * n)] = i % 3 ? 4.0f : -4.0f;
    EXPECT_EQ(lu_factor(tensor(x, {n, n})).permutation.to_vector<int32_t>()[0], 0) << n;
  }
}

TEST_P(Systems, FactorsOfEverySize) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  for (const int n : {1, 2, 7, 8, 9, 16, 17, 33, 65, 100, 130}) {
    const int batch = n < 20 ? 3 : 1;
    const Shape shape{batch, n, n};
    const auto x = random_numbers<float>(element_count(shape), static_cast<uint32_t>(n));
    check_lu(x, lu_factor(tensor(x, shape)), batch, n);
  }
  for (const int n : {5, 18}) {
    const auto d = random_numbers<double>(2 * n * n, 5);
    check_lu(d, lu_factor(tensor(d, {2, n, n})), 2, n);
    const auto c = random_numbers<std::complex<float>>(2 * n * n, 5);
    check_lu(c, lu_factor(tensor(c, {2, n, n})), 2, n);
  }
}

// Rows of a panel that several teams share, where the device is fast enough.
TEST_P(Systems, FactorsOfLargeMatrices) {
  if (on().info().kind == DeviceKind::software) GTEST_SKIP() << "takes too long here";
  uint64_t number = 0;
  const auto check = [&](auto like, int batch, int n) {
    using T = decltype(like);
    if (!is_in_share(number++, 3)) return;
    const Shape shape{batch, n, n};
    auto x = random_numbers<T>(element_count(shape), static_cast<uint32_t>(n));
    check_lu(x, lu_factor(tensor(x, shape)), batch, n, 211);
    for (size_t i = 0; i < x.size(); ++i) x[i] = i % n == 3 ? T(0) : T(static_cast<float>(i * i % 7) - 3);
    check_lu(x, lu_factor(tensor(x, shape)), batch, n, 211);
  };
  for (const int n : {513, 1024, 1531}) check(float(), 1, n), check(double(), 1, n);
  check(float(), 3, 777), check(double(), 3, 1030);
  check(std::complex<float>(), 1, 1102), check(std::complex<double>(), 1, 1029);
}

// Columns of equal numbers, of zeros and of numbers of every size.
TEST_P(Systems, FactorsOfHostileMatrices) {
  for (const int n : {8, 33}) {
    std::mt19937 random(7);
    std::vector<float> few(static_cast<size_t>(n) * n), singular = random_numbers<float>(n * n, 5),
                                                        uneven = singular;
    for (float& v : few) v = static_cast<float>(static_cast<int>(random() % 3) - 1);
    for (int i = 0; i < n; ++i) {
      singular[i * n + n / 2] = 0;
      for (int j = 0; j < n; ++j) uneven[i * n + j] *= std::pow(10.0F, static_cast<float>(-i % 9));
    }
    for (const auto& x : {few, singular, uneven}) check_lu(x, lu_factor(tensor(x, {1, n, n})), 1, n);
  }
}

// b b^H, whose upper triangle nobody may read; `graded`: numbers of every size; all of them by `size`.
template <class T>
std::vector<T> definite(int batch, int n, bool graded, double size = 1) {
  using Real = decltype(std::abs(T()));
  const auto b = random_numbers<T>(int64_t{batch} * n * n, static_cast<uint32_t>(n));
  std::vector<T> x(b.size());
  for (int m = 0; m < batch; ++m)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        Wide sum = i == j ? n : 0;
        for (int p = 0; p < n; ++p)
          sum += Wide(b[(int64_t{m} * n + i) * n + p]) * std::conj(Wide(b[(int64_t{m} * n + j) * n + p]));
        if (graded) sum *= std::pow(10.0, -i % 9 - j % 9);
        sum *= size;
        T& at = x[(int64_t{m} * n + i) * n + j];
        if constexpr (std::is_floating_point_v<T>)
          at = static_cast<T>(sum.real());
        else
          at = {static_cast<Real>(sum.real()), static_cast<Real>(sum.imag())};
        if (j > i) at = static_cast<Real>(NAN);
      }
  return x;
}

template <class T>
void check_definite(int batch, int n, bool graded = false, double size = 1) {
  const auto x = definite<T>(batch, n, graded, size);
  const auto l = cholesky(tensor(x, {batch, n, n})).template to_vector<T>();
  double worst = 0;
  for (int m = 0; m < batch; ++m)
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        const T *const row = l.data() + (int64_t{m} * n + i) * n, *const other = row + (j - i) * n;
        if (j > i) {
          ASSERT_EQ(row[j], T(0)) << n << " at " << i << " " << j;
          continue;
        }
        Leftover left;
        left.add(-Wide(x[(int64_t{m} * n + i) * n + j]));
        for (int p = 0; p <= j; ++p) left.add(Wide(row[p]) * std::conj(Wide(other[p])));
        worst = std::max(worst, std::isnan(left.share()) ? INFINITY : left.share());
      }
  EXPECT_LE(worst, 10 * unit<T>()) << n << " x " << batch;
}

TEST_P(Systems, DefiniteOfEverySize) {
  const Device& on = device(GetParam());
  for (const uint32_t n : {1, 16, 17, 33, 70})
    if (is_tried(on, n, 4)) check_definite<float>(n < 40 ? 3 : 1, n);
  if (is_tried(on, "f64", 4)) check_definite<double>(2, 50);
  if (is_tried(on, "c64", 4)) check_definite<std::complex<float>>(2, 33);
  if (is_tried(on, "c128", 4)) check_definite<std::complex<double>>(1, 18);
  check_definite<float>(1, 33, true);
  if (is_tried(on, "graded f64", 4)) check_definite<double>(2, 50, true);
  for (const double size : {0x1p-990, 0x1p-101, 0x1p101, 0x1p1000})
    if (is_tried(on, size > 1 ? "large" : "small", 4)) check_definite<double>(2, 50, false, size);
}

// What comes before the first pivot that is not positive is a factor, all after it NaN; neighbours are not
// harmed.
TEST_P(Systems, DefiniteUpToARow) {
  for (const int n : {17, 33})
    for (const int bad : {0, 7, n - 1}) {
      auto x = definite<float>(3, n, false);
      x[(n + bad) * n + bad] = -1;
      const auto l = cholesky(tensor(x, {3, n, n})).to_vector<float>();
      for (int m = 0; m < 3; ++m)
        for (int i = 0; i < n; ++i)
          for (int j = 0; j <= i; ++j) {
            const bool is_wrong = m == 1 && i >= bad && j >= bad;
            EXPECT_EQ(std::isnan(l[(m * n + i) * n + j]), is_wrong)
                << n << " " << bad << " " << i << " " << j;
          }
    }
}

// q r = x column by column, q's columns are orthonormal, and r is zero below its diagonal.
void check_complex_qr(int batch, int m, int n, bool complete, bool graded) {
  using T = std::complex<float>;
  auto x = random_numbers<T>(int64_t{batch} * m * n, static_cast<uint32_t>(m));
  if (graded)
    for (size_t i = 0; i < x.size(); ++i)
      x[i] *= i % n == 1 ? 0.0F : std::pow(10.0F, static_cast<float>(-static_cast<int>(i % n) % 9));
  const Qr made = qr(tensor(x, {batch, m, n}), complete);
  const auto q = made.q.to_vector<T>(), r = made.r.to_vector<T>();
  const int k = complete ? m : std::min(m, n);
  const double most = (8 + 2 * std::sqrt(std::min(m, n))) * unit<T>();
  for (int b = 0; b < batch; ++b) {
    const T *const own_q = q.data() + b * m * k, *const own_r = r.data() + b * k * n;
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k; ++j) {
        Wide sum = i == j ? -1 : 0;
        for (int p = 0; p < m; ++p) sum += std::conj(Wide(own_q[p * k + i])) * Wide(own_q[p * k + j]);
        ASSERT_LE(std::abs(sum), most) << m << " x " << n << " at " << i << " " << j;
      }
    for (int j = 0; j < n; ++j) {
      double length = 0, error = 0;
      for (int i = 0; i < m; ++i) {
        Wide sum = -Wide(x[(b * m + i) * n + j]);
        length += std::norm(sum);
        for (int p = 0; p < k; ++p) sum += Wide(own_q[i * k + p]) * Wide(own_r[p * n + j]);
        error += std::norm(sum);
      }
      EXPECT_LE(std::sqrt(error), most * std::sqrt(length)) << m << " x " << n << " column " << j;
      for (int i = j + 1; i < k; ++i) ASSERT_EQ(own_r[i * n + j], T(0));
    }
  }
}

TEST_P(Systems, ReflectionsOfComplexMatrices) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  check_complex_qr(2, 33, 70, false, false);
  check_complex_qr(2, 40, 3, true, false);
  check_complex_qr(1, 97, 65, false, false);
  check_complex_qr(1, 40, 40, false, true);
}

// a v = v w and v^H v = 1, where a's lower triangle is all that may be read, and of its diagonal the real
// part.
template <class T>
void check_hermitian(std::vector<T> x, int batch, int n) {
  using Real = typename T::value_type;
  for (int m = 0; m < batch; ++m)
    for (int i = 0; i < n; ++i)
      for (int j = i + 1; j < n; ++j) x[(int64_t{m} * n + i) * n + j] = {NAN, NAN};
  const Eigh made = eigh(tensor(x, {batch, n, n}));
  const auto values = made.values.to_vector<Real>();
  const auto vectors = made.vectors.to_vector<T>();
  double apart = 0, leftover = 0, largest = 0;
  for (const Real w : values) largest = std::max(largest, double(std::abs(w)));
  const auto worse = [](double before, Wide now) {
    return std::isnan(std::abs(now)) ? INFINITY : std::max(before, std::abs(now));
  };
  for (int m = 0; m < batch; ++m) {
    const T* const v = vectors.data() + int64_t{m} * n * n;
    const auto a = [&](int i, int j) {
      const Wide lower(x[(int64_t{m} * n + std::max(i, j)) * n + std::min(i, j)]);
      return i < j ? std::conj(lower) : i == j ? Wide(lower.real()) : lower;
    };
    for (int c = 0; c < n; c += n < 64 ? 1 : 7) {
      EXPECT_LE(values[m * n + std::max(c - 1, 0)], values[m * n + c]);
      for (int i = 0; i < n; ++i) {
        Wide left = -Wide(v[i * n + c]) * double(values[m * n + c]), dot = i == c ? -1 : 0;
        for (int p = 0; p < n; ++p) left += a(i, p) * Wide(v[p * n + c]);
        for (int p = 0; p < n; ++p) dot += std::conj(Wide(v[p * n + i])) * Wide(v[p * n + c]);
        leftover = worse(leftover, left), apart = worse(apart, dot);
      }
    }
  }
  EXPECT_LE(leftover, 40 * unit<T>() * std::max(largest, 1e-300)) << n << " x " << batch;
  EXPECT_LE(apart, 40 * unit<T>()) << n << " x " << batch;
}

TEST_P(Systems, HermitianOfEverySize) {
  const bool is_software = on().info().kind == DeviceKind::software;
  const auto check = [](auto like, int batch, int n) {
    using T = decltype(like);
    check_hermitian(random_numbers<T>(int64_t{batch} * n * n, static_cast<uint32_t>(n)), batch, n);
  };
  check(std::complex<float>(), 2, 5), check(std::complex<double>(), 1, 9);
  if (is_software && !std::getenv("ADIT_BY_HAND")) return;  // there are but rotations
  check(std::complex<float>(), 1, 33);
  if (is_software) return;  // which takes long to compile
  for (const int n : {64, 65, 130, 257, 300}) check(std::complex<float>(), 1, n);
  for (const int n : {33, 70, 129, 200, 256, 261}) check(std::complex<double>(), 1, n);
  check(std::complex<float>(), 5, 97), check(std::complex<double>(), 3, 50);
}

// Equal values, what is tridiagonal already, and next to it nothing but imaginary numbers.
TEST_P(Systems, HermitianOfHardMatrices) {
  const int n = on().info().kind == DeviceKind::software ? 9 : 70;
  std::vector<std::complex<float>> zeros(n * n), one = zeros, beside = zeros, few = zeros;
  const auto u = random_numbers<std::complex<float>>(2 * n, 3);
  for (int i = 0; i < n; ++i) {
    one[i * n + i] = 1;
    beside[i * n + i] = static_cast<float>(i % 3);
    if (i > 0) beside[i * n + i - 1] = {0, 1};
    for (int j = 0; j <= i; ++j) few[i * n + j] = u[i] * std::conj(u[j]) + u[n + i] * std::conj(u[n + j]);
  }
  for (const auto& x : {zeros, one, beside, few}) check_hermitian(x, 1, n);
  auto with_nan = one;
  with_nan[n + 0] = {0, NAN};
  for (const float w : eigh_values(tensor(with_nan, {n, n})).to_vector<float>()) EXPECT_TRUE(std::isnan(w));
}

// u s v^H = a, and both have orthonormal columns.
void check_singular(int batch, int m, int n) {
  using T = std::complex<float>;
  const auto x = random_numbers<T>(int64_t{batch} * m * n, static_cast<uint32_t>(n));
  const Svd made = svd(tensor(x, {batch, m, n}));
  const auto u = made.u.to_vector<T>(), v = made.v_h.to_vector<T>();
  const auto s = made.s.to_vector<float>();
  const int k = std::min(m, n);
  double leftover = 0, apart = 0;
  const auto worse = [](double before, Wide now) {
    return std::isnan(std::abs(now)) ? INFINITY : std::max(before, std::abs(now));
  };
  for (int b = 0; b < batch; ++b) {
    const T *const left = u.data() + int64_t{b} * m * k, *const right = v.data() + int64_t{b} * k * n;
    for (int i = 0; i < m; ++i)
      for (int j = i % 3; j < n; j += 3) {
        Wide sum = -Wide(x[(int64_t{b} * m + i) * n + j]);
        for (int p = 0; p < k; ++p)
          sum += Wide(left[i * k + p]) * double(s[b * k + p]) * Wide(right[p * n + j]);
        leftover = worse(leftover, sum / double(s[b * k]));
      }
    for (int i = 0; i < k; ++i)
      for (int j = i; j < k; j += 5) {
        Wide first = i == j ? -1 : 0, second = first;
        for (int p = 0; p < m; ++p) first += std::conj(Wide(left[p * k + i])) * Wide(left[p * k + j]);
        for (int p = 0; p < n; ++p) second += Wide(right[i * n + p]) * std::conj(Wide(right[j * n + p]));
        apart = worse(worse(apart, first), second);
      }
  }
  EXPECT_LE(leftover, 20 * unit<T>()) << m << " x " << n;
  EXPECT_LE(apart, 60 * unit<T>()) << m << " x " << n;
}

TEST_P(Systems, SingularValuesOfComplexMatrices) {
  check_singular(3, 6, 4);
  check_singular(1, 5, 9);
  if (on().info().kind == DeviceKind::software) return;
  check_singular(1, 150, 130), check_singular(1, 140, 201), check_singular(2, 300, 77);
}

TEST_P(Systems, SolutionsOfEverySize) {
  for (const int n : {3, 16, 33, 65, 130})
    for (const int columns : {1, 18}) {
      if (!is_its_turn(static_cast<uint64_t>(n * 100 + columns), 2)) continue;
      const auto a = random_numbers<float>(n * n, 11), b = random_numbers<float>(n * columns, 12);
      const auto x = solve(tensor(a, {n, n}), tensor(b, {n, columns})).to_vector<float>();
      for (int c = 0; c < columns; ++c) {
        Leftover most;  // beside the largest: exchanges keep rows together, not numbers
        for (int r = 0; r < n; ++r) {
          Leftover left;
          left.add(-Wide(b[r * columns + c]));
          for (int p = 0; p < n; ++p) left.add(Wide(a[r * n + p]) * Wide(x[p * columns + c]));
          if (std::abs(left.sum) >= std::abs(most.sum)) most.sum = left.sum;
          most.size = std::max(most.size, left.size);
        }
        EXPECT_LE(most.share(), 40 * unit<float>()) << n << " " << c;
      }
    }
}

}  // namespace
}  // namespace adit::test
