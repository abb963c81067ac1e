// Shapes that fall off: reductions of axes that are not the last, of few columns, few lines and in the
// middle, and narrow products of every form; random shapes on every device beside plain loops in f64.
#include <cmath>
#include <limits>
#include <random>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

class Columns : public OnDevice {
 protected:
  void SetUp() override { set_default_device(on().shared_from_this()); }
  void TearDown() override { set_default_device(nullptr); }
  bool is_cpu() { return on().info().kind == DeviceKind::cpu; }
};
INSTANTIATE_TEST_SUITE_P(Devices, Columns, testing::ValuesIn(device_ids()), test_name);

std::mt19937 generator(11);

int64_t extent(int64_t most) {
  std::uniform_real_distribution<double> spread(0, std::log2(static_cast<double>(most)));
  return static_cast<int64_t>(std::exp2(spread(generator)));
}

std::vector<double> numbers(int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<double> values(static_cast<size_t>(count));
  for (double& value : values) value = normal(generator);
  return values;
}

Tensor given(const std::vector<double>& values, const Shape& shape, DType type) {
  return as_type(tensor(values, shape), type).eval();
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  const std::vector<double> values = as_type(got, DType::f64).to_vector<double>();
  ASSERT_EQ(values.size(), want.size()) << what;
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i])) {
      ASSERT_TRUE(std::isnan(values[i])) << what << " at " << i;
    } else {
      ASSERT_NEAR(values[i], want[i], tolerance * (1 + std::abs(want[i]))) << what << " at " << i;
    }
  }
}

// [outer, lines, inner] with the lines joined.
struct Space {
  int64_t outer, lines, inner;
  template <class F>
  std::vector<double> each(const std::vector<double>& x, const F& f) const {
    std::vector<double> results;
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        std::vector<double> column;
        for (int64_t l = 0; l < lines; ++l)
          column.push_back(x[static_cast<size_t>((o * lines + l) * inner + i)]);
        results.push_back(f(column));
      }
    return results;
  }
};

double sum_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += value;
  return sum;
}
double largest_of(const std::vector<double>& x) {
  double largest = -std::numeric_limits<double>::infinity();
  for (const double value : x)
    if (std::isnan(value) || value > largest) largest = std::isnan(largest) ? largest : value;
  return largest;
}

TEST_P(Columns, reductions) {
  const int rounds = is_cpu() ? 24 : 4;
  for (int round = 0; round < rounds; ++round) {
    const int64_t most = is_cpu() ? 40000 : 2000;
    Space s{round % 3 == 0 ? extent(20) : 1, extent(most), 1};
    s.inner = extent(std::max<int64_t>(2, most * 4 / s.lines / s.outer));
    const DType type = round % 4 == 3 ? DType::f64 : DType::f32;
    std::vector<double> x = numbers(s.outer * s.lines * s.inner);
    const Shape shape{s.outer, s.lines, s.inner};
    const std::string what =
        "[" + std::to_string(s.outer) + ", " + std::to_string(s.lines) + ", " + std::to_string(s.inner) + "]";
    expect_near(sum(given(x, shape, type), {1}), s.each(x, sum_of), 1e-4, "sum " + what);
    expect_near(sum(reshape(given(x, shape, type), {s.outer, s.lines, 1, s.inner}), {1, 2}),
                s.each(x, sum_of), 1e-4, "sum of two axes " + what);
    x[x.size() / 3] = std::numeric_limits<double>::quiet_NaN();
    x[x.size() / 2] = -std::numeric_limits<double>::quiet_NaN();
    expect_near(reduce_max(given(x, shape, type), {1}), s.each(x, largest_of), 0, "max " + what);
  }
}

// What a row keeps between its passes, in columns and in rows of every length.
TEST_P(Columns, softmax) {
  for (int round = 0; round < (is_cpu() ? 12 : 2); ++round) {
    const Space s{round % 2 ? extent(5) : 1, extent(round % 3 ? 100 : 5000), round % 4 == 3 ? 1 : extent(40)};
    const std::vector<double> x = numbers(s.outer * s.lines * s.inner);
    const Shape shape{s.outer, s.lines, s.inner};
    const Tensor got = softmax(given(x, shape, DType::f32), {1});
    std::vector<double> want(x.size());
    for (int64_t o = 0; o < s.outer; ++o)
      for (int64_t i = 0; i < s.inner; ++i) {
        double all = 0;
        const auto at = [&](int64_t l) { return static_cast<size_t>((o * s.lines + l) * s.inner + i); };
        for (int64_t l = 0; l < s.lines; ++l) all += std::exp(x[at(l)]);
        for (int64_t l = 0; l < s.lines; ++l) want[at(l)] = std::exp(x[at(l)]) / all;
      }
    expect_near(got, want, 1e-5, "softmax of " + std::to_string(s.lines));
  }
}

TEST_P(Columns, products) {
  const int rounds = is_cpu() ? 120 : 6;
  for (int round = 0; round < rounds; ++round) {
    const int64_t batch = round % 3 == 0 ? extent(9) : 1, m = extent(90), n = extent(round % 2 ? 90 : 20),
                  k = extent(90);
    const bool ta = round % 4 > 1, tb = round % 8 > 3;
    const DType type = round % 5 == 4 ? DType::f64 : DType::f32;
    const std::vector<double> a = numbers(batch * m * k), b = numbers(batch * k * n);
    const Tensor x = given(a, ta ? Shape{batch, k, m} : Shape{batch, m, k}, type),
                 y = given(b, tb ? Shape{batch, n, k} : Shape{batch, k, n}, type);
    const Tensor got = matmul(ta ? transpose(x, {0, 2, 1}) : x, tb ? transpose(y, {0, 2, 1}) : y);
    std::vector<double> want;
    for (int64_t p = 0; p < batch; ++p)
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          double total = 0;
          for (int64_t q = 0; q < k; ++q)
            total += a[static_cast<size_t>(p * m * k + (ta ? q * m + i : i * k + q))] *
                     b[static_cast<size_t>(p * k * n + (tb ? j * k + q : q * n + j))];
          want.push_back(total);
        }
    expect_near(got, want, type == DType::f64 ? 1e-12 : 2e-5,
                std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n));
  }
}

// A CPU's own division and root are exact; others' are mended.
TEST_P(Columns, quotients_round_once) {
  const std::vector<double> x = numbers(2000), y = numbers(2000);
  std::vector<float> a(x.begin(), x.end()), b(y.begin(), y.end());
  const std::vector<float> q = (tensor(a, {2000}) / tensor(b, {2000})).to_vector<float>(),
                           r = sqrt(abs(tensor(a, {2000}))).to_vector<float>();
  if (!is_cpu()) return;
  for (size_t i = 0; i < q.size(); ++i) {
    EXPECT_EQ(q[i], a[i] / b[i]);
    EXPECT_EQ(r[i], std::sqrt(std::abs(a[i])));
  }
}

}  // namespace
}  // namespace adit::test
