// Reductions and what is made of them, on every device: values beside plain loops, empty axes, special
// values, derivatives where they are delicate. op_test holds them against NumPy.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "../bench/widened.hpp"
#include "devices.hpp"

namespace adit::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan_number = std::numeric_limits<float>::quiet_NaN();

std::vector<float> numbers(int64_t count) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> spread(0.5f, 1.5f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = spread(random);
  return values;
}

template <class F>
void expect_error(const F& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "expected an error with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

void expect_near(const Tensor& got, const std::vector<double>& want, double tolerance = 1e-5) {
  const std::vector<double> values = as_type(got, DType::f64).to_vector<double>();
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    if (std::isnan(want[i]) ? std::isnan(values[i]) : values[i] == want[i]) continue;
    EXPECT_LE(std::abs(values[i] - want[i]), tolerance * std::max(1.0, std::abs(want[i]))) << "element " << i;
  }
}

class Reductions : public OnDevice {
 protected:
  void SetUp() override { set_default_device(on().shared_from_this()); }
  void TearDown() override { set_default_device(nullptr); }
};
INSTANTIATE_TEST_SUITE_P(All, Reductions, testing::ValuesIn(device_ids()), test_name);

TEST_P(Reductions, SumsOfManySizes) {
  for (const int64_t n : {0, 1, 2, 255, 256, 257, 1000}) {
    const std::vector<float> values = numbers(3 * n);
    const Tensor x = tensor(values, {3, n}), turned = tensor(values, {n, 3});
    std::vector<double> rows(3, 0), columns(3, 0), largest(3, -infinity), smallest(3, infinity);
    for (int64_t i = 0; i < 3 * n; ++i) {
      const double value = values[static_cast<size_t>(i)];
      const auto row = static_cast<size_t>(i / n), column = static_cast<size_t>(i % 3);
      rows[row] += value;
      columns[column] += value;
      largest[row] = std::max(largest[row], value);
      smallest[column] = std::min(smallest[column], value);
    }
    expect_near(sum(x, {1}), rows);
    expect_near(sum(turned, {0}), columns);
    expect_near(sum(x), {rows[0] + rows[1] + rows[2]});
    EXPECT_EQ(sum(x, {-1}, true).shape(), (Shape{3, 1}));
    expect_near(all(x, {1}), {1, 1, 1});
    expect_near(any(x, {1}), std::vector<double>(3, n > 0));
    if (n == 0) {
      expect_near(product(x, {1}), {1, 1, 1});
      expect_near(logsumexp(x, {1}), {-infinity, -infinity, -infinity});
      expect_near(mean(x, {1}), {nan_number, nan_number, nan_number});
      EXPECT_EQ(sum(x, {0}).to_vector<float>().size(), 0u);
      expect_error([&] { (void)reduce_max(x, {1}); }, "[reduce_max] x: expected elements along axis 1");
      expect_error([&] { (void)reduce_min(x, {1}); }, "[reduce_min] x: expected elements along axis 1");
      expect_error([&] { (void)argmax(x, 1); }, "[argmax] x: expected elements along axis 1");
      expect_error([&] { (void)argmin(x); }, "[argmin] x: expected elements along axis 0");
      continue;
    }
    expect_near(reduce_max(x, {1}), largest, 0);
    expect_near(reduce_min(turned, {0}), smallest, 0);
  }
}

TEST_P(Reductions, TypesOfIntegersWiden) {
  const Tensor bytes = full_integer({300}, 200, DType::u8), shorts = full_integer({300}, -200, DType::i16);
  EXPECT_EQ(sum(bytes).dtype(), DType::u32);
  EXPECT_EQ(sum(bytes).item<uint32_t>(), 60000u);
  EXPECT_EQ(sum(shorts).item<int32_t>(), -60000);
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(sum(tensor({large, large + 1, 2 * large})).item<int64_t>(), 4 * large + 1);
  EXPECT_EQ(product(full_integer({5}, 7, DType::i8)).item<int32_t>(), 16807);
  EXPECT_EQ(reduce_max(shorts).item<int16_t>(), -200);
  EXPECT_EQ(mean(shorts).dtype(), DType::f32);
  EXPECT_EQ(mean(shorts).item<float>(), -200.0f);
  EXPECT_EQ(all(shorts).dtype(), DType::u8);
  EXPECT_EQ(sum(full({3}, {1, 2}, DType::c64)).item<std::complex<float>>(), std::complex<float>(3, 6));
  expect_error(
      [&] {
        (void)reduce_max(full({3}, {1, 2}, DType::c64));
      },
      "[reduce_max] x: expected real numbers");
}

TEST_P(Reductions, SpecialValues) {
  for (const int64_t n : {4, 300}) {
    std::vector<float> values(static_cast<size_t>(n), 1.0f);
    values[1] = nan_number;
    values[3] = infinity;
    const Tensor x = tensor(values);
    EXPECT_TRUE(std::isnan(reduce_max(x).item<float>()));
    EXPECT_TRUE(std::isnan(reduce_min(x).item<float>()));
    EXPECT_EQ(argmax(x).item<int32_t>(), 1);
    EXPECT_EQ(argmin(x).item<int32_t>(), 1);
    values[1] = -infinity;
    EXPECT_EQ(reduce_max(tensor(values)).item<float>(), infinity);
    EXPECT_EQ(reduce_min(tensor(values)).item<float>(), -infinity);
  }
}

TEST_P(Reductions, PlacesOfTies) {
  const Tensor x = tensor({{3, 1, 3, 0, 0}, {2, 2, 2, 2, 2}});
  expect_near(argmax(x, 1), {0, 0});
  expect_near(argmax(x, 1, false, TieBreak::high), {2, 4});
  expect_near(argmin(x, 1), {3, 0});
  expect_near(argmin(x, -1, false, TieBreak::high), {4, 4});
  expect_near(argmax(x, 0), {0, 1, 0, 1, 1});
  expect_near(argmax(x), {0});
  EXPECT_EQ(argmax(x, 1, true).shape(), (Shape{2, 1}));
  EXPECT_EQ(argmax(x).dtype(), DType::i32);
}

// The first place, or the last one, of the largest or the smallest; of NaN where there is one.
template <class T>
int64_t place_in_row(const T* row, int64_t n, bool wants_max, bool takes_last) {
  int64_t place = takes_last ? n - 1 : 0;
  for (int64_t step = 1; step < n; ++step) {
    const int64_t i = takes_last ? n - 1 - step : step;
    const bool is_kept = row[place] != row[place];  // NaN
    if (!is_kept && (row[i] != row[i] || (wants_max ? row[i] > row[place] : row[i] < row[place]))) place = i;
  }
  return place;
}

template <class T>
void check_rows(const std::vector<T>& values, int64_t rows, int64_t n) {
  const Tensor x = tensor(values, {rows, n});
  for (const bool wants_max : {true, false})
    for (const bool takes_last : {false, true}) {
      const TieBreak tie = takes_last ? TieBreak::high : TieBreak::low;
      const Tensor found = wants_max ? argmax(x, 1, false, tie) : argmin(x, 1, false, tie);
      const Tensor extreme = wants_max ? reduce_max(x, {1}) : reduce_min(x, {1});
      std::vector<double> places, extremes;
      for (int64_t row = 0; row < rows; ++row) {
        const T* own = values.data() + row * n;
        places.push_back(static_cast<double>(place_in_row(own, n, wants_max, takes_last)));
        extremes.push_back(static_cast<double>(own[static_cast<int64_t>(places.back())]));
      }
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(n) + (wants_max ? " max" : " min") +
                   (takes_last ? " last" : ""));
      expect_near(found, places, 0);
      expect_near(extreme, extremes, 0);
      expect_near(wants_max ? reduce_max(transpose(x), {0}) : reduce_min(transpose(x), {0}), extremes, 0);
    }
}

// Long rows go in two levels on a CPU.
TEST_P(Reductions, PlacesInLongRows) {
  if (!has_turn(2)) GTEST_SKIP() << other_turn;
  if (on().info().kind == DeviceKind::software) GTEST_SKIP() << "slow there, and as others are";
  std::mt19937 random(3);
  for (const int64_t n : {511, 512, 513, 1000, 4097, 20000, 70001})
    for (const int spread : {2, 100000}) {
      const int64_t rows = 3;
      std::vector<double> x(static_cast<size_t>(rows * n));
      for (double& each : x)
        each = static_cast<double>(random() % static_cast<uint32_t>(spread)) - spread / 2;
      std::vector<uint8_t> bytes(x.begin(), x.end());
      std::vector<int16_t> shorts(x.begin(), x.end());
      check_rows(bytes, rows, n);
      check_rows(shorts, rows, n);
      check_rows(std::vector<int64_t>(x.begin(), x.end()), rows, n);
      x[random() % x.size()] = nan_number, x[random() % x.size()] = -nan_number;
      x[random() % x.size()] = infinity, x[random() % x.size()] = -infinity;
      x[x.size() - 1] = x[0];  // at the ends of what is cut
      check_rows(x, rows, n);
      check_rows(std::vector<float>(x.begin(), x.end()), rows, n);
    }
}

TEST_P(Reductions, MeanAndVariance) {
  // A large offset: the difference of squares would lose everything.
  std::vector<float> values = numbers(256);
  double mean_of = 0, spread = 0;
  for (float& value : values) mean_of += (value = 4096 + std::round(value * 64) / 64);
  mean_of /= 256;
  for (const float value : values) spread += (value - mean_of) * (value - mean_of);
  expect_near(mean(tensor(values)), {mean_of}, 2e-7);
  expect_near(variance(tensor(values)), {spread / 256}, 1e-4);
  expect_near(variance(tensor(values), {}, false, 1), {spread / 255}, 1e-4);
  // The sum is beyond the largest half.
  EXPECT_EQ(as_type(mean(full({1000}, 1000, DType::f16)), DType::f32).item<float>(), 1000.0f);
}

TEST_P(Reductions, LogsumexpAndSoftmax) {
  const Tensor x = tensor({{1.0f, 2.0f, 3.0f}, {1000.0f, 1000.0f, -1000.0f}, {-infinity, 0.0f, -infinity}});
  const double e = std::exp(1.0), total = e + e * e + e * e * e;
  expect_near(logsumexp(x, {1}), {std::log(total), 1000 + std::log(2.0), 0});
  const Tensor p = softmax(x);
  expect_near(p, {e / total, e * e / total, e * e * e / total, 0.5, 0.5, 0, 0, 1, 0});
  expect_near(exp(log_softmax(x)), as_type(p, DType::f64).to_vector<double>());
  expect_near(grad([](Tensor t) { return sum(logsumexp(t, {1})); })(x),
              as_type(p, DType::f64).to_vector<double>());

  const Tensor low = full({3}, -infinity);
  EXPECT_EQ(logsumexp(low).item<float>(), -infinity);
  expect_near(grad([](Tensor t) { return logsumexp(t); })(low), {0, 0, 0});
  expect_near(softmax(low), {0, 0, 0});
  expect_near(grad([](Tensor t) { return sum(softmax(t)); })(low), {0, 0, 0});
}

TEST_P(Reductions, DerivativeOfProductWithZeros) {
  const auto slope = grad([](Tensor t) { return product(t); });
  expect_near(slope(tensor({2.0f, 3.0f, 4.0f})), {12, 8, 6});
  expect_near(slope(tensor({2.0f, 0.0f, 4.0f})), {0, 8, 0});
  expect_near(slope(tensor({0.0f, 0.0f, 4.0f})), {0, 0, 0});
  // The second derivative where two are zero is what is left of the product.
  const auto second = grad([&](Tensor t) { return sum(slice(slope(t), {0}, {1})); });
  expect_near(second(tensor({0.0f, 0.0f, 4.0f})), {0, 4, 0});
  // More than one block of 16, and an axis in the middle.
  std::vector<float> values = numbers(2 * 40 * 2);
  values[5] = 0;
  const Tensor x = tensor(values, {2, 40, 2});
  std::vector<double> want(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    want[i] = 1;
    for (size_t j = 0; j < values.size(); ++j)
      if (j != i && j / 80 == i / 80 && j % 2 == i % 2) want[i] *= values[j];
  }
  expect_near(grad([](Tensor t) { return sum(product(t, {1})); })(x), want, 1e-5);
}

TEST_P(Reductions, TiesShareTheGradient) {
  const auto slope = grad([](Tensor t) { return sum(reduce_max(t, {1})); });
  expect_near(slope(tensor({{1.0f, 3.0f, 3.0f, 0.0f}, {5.0f, 1.0f, 2.0f, 4.0f}})),
              {0, 0.5, 0.5, 0, 1, 0, 0, 0});
}

// Elementwise choices too: at a tie each operand has half of it.
TEST_P(Reductions, TiesOfChoicesShareTheGradient) {
  const Tensor a = tensor({1.0f, 2.0f, 3.0f, -0.0f}), b = tensor({2.0f, 2.0f, 1.0f, 0.0f});
  const auto slopes = [&](auto f) { return grad(f, std::vector<int>{0, 1})(a, b); };
  const Tensors up = slopes([](Tensor x, Tensor y) { return sum(maximum(x, y)); });
  expect_near(up[0], {0, 0.5, 1, 0.5});
  expect_near(up[1], {1, 0.5, 0, 0.5});
  const Tensors down = slopes([](Tensor x, Tensor y) { return sum(minimum(x, y)); });
  expect_near(down[0], {1, 0.5, 0, 0.5});
  expect_near(down[1], {0, 0.5, 1, 0.5});
  // One operand twice, and chains of choices, whose shares sum to the whole.
  expect_near(grad([](Tensor x) { return sum(maximum(x, x)); })(a), {1, 1, 1, 1});
  const auto chain = [](Tensor x, Tensor y) { return sum(maximum(maximum(x, y), y)); };
  const Tensors shares = slopes(chain);
  expect_near(shares[0] + shares[1], {1, 1, 1, 1});
  // Along tangents as along gradients.
  const auto forward =
      jvp([](Tensor x, Tensor y) { return maximum(x, y); }, {a, b}, {ones_like(a), zeros_like(b)});
  expect_near(forward.second[0], {0, 0.5, 1, 0.5});
  expect_near(grad([](Tensor x) { return sum(abs(x)); })(tensor({-2.0f, 0.0f, 3.0f})), {-1, 0, 1});
}

// Two reductions of one tensor that differ in their functions alone are two.
TEST_P(Reductions, FunctionsOfTheCallerStayApart) {
  const auto both = [](const Tensor& x) {
    const Tensor one = full({}, 1);
    return stack({reduce(x, one, {0}, [](Tensor a, Tensor b) { return a + b; }),
                  reduce(x, one, {0}, [](Tensor a, Tensor b) { return a * b; })});
  };
  const Tensor x = tensor({2.0f, 3.0f, 4.0f, 5.0f});
  expect_near(both(x), {15, 120});
  expect_near(jit(both)(x), {15, 120});
}

TEST_P(Reductions, FunctionsOfTheCaller) {
  const Tensor x = tensor({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  const auto digits = [](Tensor a, Tensor b) { return a * 10.0f + b; };
  expect_near(reduce(x, full({}, 0), {1}, digits), {123, 456});
  expect_near(reduce(x, full({}, 9), {0}, digits), {914, 925, 936});
  expect_near(reduce(x, full({}, 0), {}, digits), {123456});
  EXPECT_EQ(reduce(x, full({}, 0), {1}, digits, true).shape(), (Shape{2, 1}));
  expect_near(reduce(zeros({2, 0}), full({}, 7), {1}, digits), {7, 7});
  // What it captures may change from call to call, and with a batch.
  const auto scaled = [](const Tensor& v, const Tensor& scale) {
    return reduce(v, scale, {0}, [&](Tensor a, Tensor b) { return a * scale + b; });
  };
  expect_near(scaled(tensor({1.0f, 2.0f, 3.0f}), full({}, 2)), {27});
  expect_near(vmap(scaled)(x, tensor({10.0f, 2.0f})), {10123, 48});
  expect_near(jit(scaled)(tensor({1.0f, 2.0f}), tensor(std::vector{3.0f}, {})), {32});
  // ((s s + 1) s + 2) by s: 3 s^2 + 1 at s = 3
  const auto cubic = [&](const Tensor& scale) { return scaled(tensor({1.0f, 2.0f}), scale); };
  expect_near(grad(cubic)(tensor(std::vector{3.0f}, {})), {28});
  const auto of_elements = [&](const Tensor& v) { return sum(reduce(v, full({}, 1), {0}, digits)); };
  expect_near(grad(of_elements)(x), {10, 10, 10, 1, 1, 1});
  expect_error([&] { (void)reduce(x, full({}, 0), {1}, [](Tensor a, Tensor) { return expand_dims(a, 0); }); },
               "[reduce] combine: expected a scalar");
}

// The densities of bench/widened_bench, beside SciPy.
TEST_P(Reductions, WidenedMixture) {
  struct Case {
    int64_t d, n;
    double value, first, middle, last;  // elements 0, d / 2 and d - 1 of the gradient
  };
  const Case cases[] = {
      {8, 60, 171.24009446453024, 1.8840317079401236, -5.19537678624057, -4.103608958187394},
      {40, 600, 1738.3038386570606, 1.8743545392573293, -11.078478352727014, -6.883659194271458}};
  for (const Case& one : cases)
    for (const bool rows : {true, false}) {
      std::vector<float> y, q;
      for (int64_t i = 0; i < one.n; ++i)
        y.push_back(static_cast<float>(0.03 * (static_cast<double>(37 * i % 61) / 61 - 0.5)));
      for (int64_t k = 0; k < one.d; ++k)
        q.push_back(static_cast<float>(-5 + 2 * static_cast<double>(k) / static_cast<double>(one.d)));
      const Function density = [rows](const Tensors& x) {
        return Tensors{bench::widened_log_density(x[0], x[1], rows)};
      };
      const ValueAndGrad result = value_and_grad_of(density, {tensor(q), tensor(y)}, {0});
      expect_near(result.value, {one.value});
      const std::vector<float> slope = result.grads[0].to_vector<float>();
      EXPECT_NEAR(slope.front(), one.first, 2e-3);
      EXPECT_NEAR(slope[static_cast<size_t>(one.d / 2)], one.middle, 2e-3);
      EXPECT_NEAR(slope.back(), one.last, 2e-3);
    }
}

TEST_P(Reductions, Batches) {
  const Tensor x = tensor(numbers(3 * 4 * 5), {3, 4, 5});
  const auto check = [&](const std::function<Tensor(Tensor)>& f) {
    Tensors loop;
    for (int64_t i = 0; i < 3; ++i)
      loop.push_back(as_type(f(reshape(slice(x, {i, 0, 0}, {1, 4, 5}), {4, 5})), DType::f64));
    expect_near(vmap(f)(x), stack(loop).to_vector<double>(), 1e-6);
  };
  check([](Tensor t) { return sum(t, {1}); });
  check([](Tensor t) { return product(t); });
  check([](Tensor t) { return reduce_min(t, {0}, true); });
  check([](Tensor t) { return argmax(t, 1); });
  check([](Tensor t) { return argmin(t); });
  check([](Tensor t) { return all(t > 0.6f, {1}); });
  check([](Tensor t) { return softmax(t); });
}

// A GPU's lanes hold the elements of rows that are gone through twice; some hold one less.
TEST_P(Reductions, RowsOfAnyLengthAreHeld) {
  uint64_t number = 0;
  for (const int64_t length : {1, 2, 3, 7, 10, 12, 16, 17, 31, 33, 63, 65, 127, 130, 257, 300, 1021, 2052}) {
    if (!is_in_share(number++, 3)) continue;
    const std::vector<float> x = numbers(3 * length);
    std::vector<double> want, centred;
    for (int64_t row = 0; row < 3; ++row) {
      const auto at = [&](int64_t i) { return double{x[static_cast<size_t>(row * length + i)]}; };
      double total = 0, sum_of_all = 0, least = at(0);
      for (int64_t i = 0; i < length; ++i)
        total += std::exp(at(i)), sum_of_all += at(i), least = std::min(least, at(i));
      for (int64_t i = 0; i < length; ++i) {
        want.push_back(std::exp(at(i)) / total);
        centred.push_back((at(i) - sum_of_all / static_cast<double>(length)) * least);
      }
    }
    const Tensor t = tensor(x, {3, length});
    expect_near(softmax(t), want, 1e-6);
    expect_near((t - mean(t, {1}, true)) * reduce_min(t, {1}, true), centred, 1e-5);
  }
}

// What is gone through twice along the middle one of three axes: softmax, and a row's largest beside its
// spread.
void expect_middle_axis(int64_t outer, int64_t length, int64_t inner) {
  const std::vector<float> x = numbers(outer * length * inner);
  std::vector<double> want(x.size()), spread;
  std::vector<int32_t> places;
  for (int64_t row = 0; row < outer * inner; ++row) {
    const auto place = [&](int64_t i) {
      return static_cast<size_t>((row / inner * length + i) * inner + row % inner);
    };
    double total = 0, all = 0, squares = 0;
    int64_t largest = 0;
    for (int64_t i = 0; i < length; ++i) {
      total += std::exp(double{x[place(i)]}), all += x[place(i)];
      if (x[place(i)] > x[place(largest)]) largest = i;
    }
    for (int64_t i = 0; i < length; ++i) {
      want[place(i)] = std::exp(double{x[place(i)]}) / total;
      const double off = x[place(i)] - all / static_cast<double>(length);
      squares += off * off;
    }
    spread.push_back(squares / static_cast<double>(length));
    places.push_back(static_cast<int32_t>(largest));
  }
  const Tensor t = tensor(x, {outer, length, inner});
  SCOPED_TRACE(testing::Message() << outer << " x " << length << " x " << inner);
  expect_near(softmax(t, {1}), want, 1e-6);
  expect_near(variance(t, {1}), spread, 1e-5);
  EXPECT_EQ(argmax(t, 1).to_vector<int32_t>(), places);
}

// Few columns: a GPU's team shares some of them between its lanes, of which the last have no column or one
// step less.
TEST_P(Reductions, FewColumnsAreCutIntoSlices) {
  for (const int64_t length : {63, 64, 129, 1031})
    for (const int64_t inner : {3, 17}) expect_middle_axis(2, length, inner);
  expect_middle_axis(1, 70, 600);
}

// Thousands of rows: where a subgroup holds one, a team has several, the last team fewer.
TEST_P(Reductions, ManyRowsThatSubgroupsHold) {
  uint64_t number = 0;
  for (const int64_t length : {32, 101, 256})
    if (is_in_share(number++, 3)) expect_middle_axis(1030, length, 1);
  for (const int64_t length : {36, 64, 137})
    if (is_in_share(number++, 3)) expect_middle_axis(16387, length, 1);
}

// The gradient of softmax by rows, weights g: each row's s (g - sum of s g).
void expect_softmax_gradient(int64_t rows, int64_t length) {
  const std::vector<float> x = numbers(rows * length), g = numbers(rows * length + 3);
  std::vector<double> wanted;
  for (int64_t row = 0; row < rows; ++row) {
    const auto at = [&](const std::vector<float>& of, int64_t i) {
      return double{of[static_cast<size_t>(row * length + i)]};
    };
    double total = 0, dot = 0;
    for (int64_t i = 0; i < length; ++i) total += std::exp(at(x, i));
    for (int64_t i = 0; i < length; ++i) dot += std::exp(at(x, i)) / total * at(g, i);
    for (int64_t i = 0; i < length; ++i) wanted.push_back(std::exp(at(x, i)) / total * (at(g, i) - dot));
  }
  const Tensor weights = tensor(std::vector<float>(g.begin(), g.end() - 3), {rows, length});
  SCOPED_TRACE(testing::Message() << rows << " x " << length);
  expect_near(grad([&](Tensor t) { return sum(softmax(t) * weights); })(tensor(x, {rows, length})), wanted,
              1e-6);
}

// Many short rows, of which a subgroup has several side by side, some lanes without an element, the last
// subgroup with fewer rows.
TEST_P(Reductions, ManyRowsThatShareSubgroups) {
  const bool is_slow = default_device()->info().kind == DeviceKind::software;
  const std::vector<int64_t> all{5, 7, 8, 10, 14, 16, 20, 31, 48, 63, 64}, some{7, 16};
  uint64_t number = 0;
  for (const int64_t length : is_slow ? some : all) {
    if (!is_in_share(number++, is_slow ? 2 : 4)) continue;
    expect_middle_axis(4099, length, 1);
    expect_softmax_gradient(4101, length);
  }
  for (const int64_t length : {4, 7, 10, 16, 64}) {
    if ((is_slow && length > 8) || !is_in_share(number++, is_slow ? 2 : 4)) continue;
    expect_middle_axis(16391, length, 1);
    expect_softmax_gradient(16389, length);
  }
}

// Rows that are too long to be held, whose largest element and sum of powers are found together: far from
// zero, rising and falling, with elements that are infinite.
TEST_P(Reductions, LongRowsOfPowers) {
  for (const int64_t length : {4999, 17000}) {
    const int64_t rows = 5;
    const auto place = [&](int64_t row, int64_t i) { return static_cast<size_t>(row * length + i); };
    std::vector<float> x = numbers(rows * length);
    for (int64_t i = 0; i < length; ++i) {
      x[place(0, i)] = 20 * x[place(0, i)] - 500;
      x[place(1, i)] = static_cast<float>(i) / 20;
      x[place(2, i)] = 300 - static_cast<float>(i) / 20;
      if (i % 3 == 0 || i < 2000) x[place(3, i)] = -infinity;
      x[place(4, i)] = -infinity;
    }
    std::vector<double> wanted(x.size()), logarithms;
    for (int64_t row = 0; row < rows; ++row) {
      double top = -infinity, sum = 0;
      for (int64_t i = 0; i < length; ++i) top = std::max<double>(top, x[place(row, i)]);
      for (int64_t i = 0; i < length && row < 4; ++i) sum += std::exp(x[place(row, i)] - top);
      for (int64_t i = 0; i < length && row < 4; ++i)
        wanted[place(row, i)] = std::exp(x[place(row, i)] - top) / sum;
      logarithms.push_back(row < 4 ? top + std::log(sum) : -infinity);
    }
    const Tensor given = tensor(x, {rows, length});
    const std::vector<float> got = softmax(given).to_vector<float>();
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(got[i], wanted[i], 1e-37 + 2e-5 * wanted[i]) << length << " at " << i;
    expect_near(logsumexp(given, {1}), logarithms, 1e-6);
    x[place(0, 7)] = infinity;
    const std::vector<float> with = softmax(tensor(x, {rows, length})).to_vector<float>();
    for (int64_t i = 0; i < length; ++i) EXPECT_EQ(with[place(0, i)] == 0, i != 7) << length << " at " << i;
    EXPECT_EQ(with[place(2, 5)], got[place(2, 5)]);
    x[place(0, 7)] = nan_number;
    const std::vector<float> without = softmax(tensor(x, {rows, length})).to_vector<float>();
    for (int64_t i = 0; i < length; ++i) EXPECT_TRUE(std::isnan(without[place(0, i)])) << length << " " << i;
    EXPECT_EQ(without[place(2, 5)], got[place(2, 5)]);
  }
}

// Rows that lanes read several accesses of at once, the last of which some lanes do not have; the gradient
// goes through them once more.
TEST_P(Reductions, LongRowsSeveralAtOnce) {
  for (const int64_t length : {9001, 16390, 20000}) {
    expect_middle_axis(2, length, 1);
    const std::vector<float> x = numbers(length), g = numbers(2 * length);
    double total = 0, dot = 0;
    const auto power = [&](int64_t i) { return std::exp(double{x[static_cast<size_t>(i)]}); };
    for (int64_t i = 0; i < length; ++i) total += power(i);
    for (int64_t i = 0; i < length; ++i) dot += power(i) / total * g[static_cast<size_t>(length + i)];
    std::vector<double> wanted;
    for (int64_t i = 0; i < length; ++i)
      wanted.push_back(power(i) / total * (g[static_cast<size_t>(length + i)] - dot) *
                       static_cast<double>(length));
    const Tensor weights = tensor(std::vector<float>(g.begin() + length, g.end()), {1, length});
    const Tensor got =
        grad([&](Tensor t) { return sum(softmax(t) * weights); })(tensor(x, {1, length})) * double(length);
    expect_near(got, wanted, 2e-5);
  }
}

// The largest of rows that are cut into parts, some of them again, with a rest and without; equal numbers,
// infinite ones and those that are none, against a stable sort; the gradient is at their places.
TEST_P(Reductions, LargestOfLongRows) {
  if (!has_turn_on(device(GetParam()), 4)) GTEST_SKIP() << other_turn;
  using Pairs = std::vector<std::pair<int64_t, int64_t>>;
  const bool is_slow = default_device()->info().kind == DeviceKind::software;
  const Pairs all{{4096, 3}, {5003, 16}, {70001, 9}, {35000, 128}};
  for (const auto& [length, k] : is_slow ? Pairs{{4103, 3}} : all) {
    const int64_t rows = 2;
    std::vector<float> x = numbers(rows * length);
    for (float& each : x) each = std::round(each * 100);
    for (const int64_t i : {length - 1, length / 2}) x[static_cast<size_t>(i)] = nan_number;
    x[static_cast<size_t>(length + 4)] = infinity;
    std::vector<int64_t> places;
    std::vector<float> values, slopes(x.size()), weights = numbers(rows * k);
    for (int64_t row = 0; row < rows; ++row) {
      const auto at = [&](int64_t i) { return x[static_cast<size_t>(row * length + i)]; };
      std::vector<int64_t> order(static_cast<size_t>(length));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return at(b) < at(a) || (std::isnan(at(a)) && !std::isnan(at(b)));
      });
      for (size_t i = 0; i < static_cast<size_t>(k); ++i) {
        places.push_back(order[i]), values.push_back(at(order[i]));
        slopes[static_cast<size_t>(row * length + order[i])] = weights[static_cast<size_t>(row * k) + i];
      }
    }
    const Tensor given = tensor(x, {rows, length}), g = tensor(weights, {rows, k});
    const Sorted found = top_k(given, k);
    EXPECT_EQ(found.places.to_vector<int64_t>(), places) << length << " " << k;
    const std::vector<float> got = found.values.to_vector<float>();
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_TRUE(got[i] == values[i] || (std::isnan(got[i]) && std::isnan(values[i]))) << length << " " << i;
    const auto loss = [&](Tensor t) { return sum(top_k(t, k).values * g); };
    EXPECT_EQ(grad(loss)(given).to_vector<float>(), slopes) << length << " " << k;
  }
  Shape most = Shape::filled(12, 1);
  most[11] = 5000;
  EXPECT_EQ(top_k(iota(most, DType::f32, 11), 2).values.to_vector<float>(), (std::vector<float>{4999, 4998}));
}

// Sums and largest elements over some axes of whole numbers, beside loops.
void expect_over_axes(const Shape& shape, const Axes& axes) {
  const int64_t count = element_count(shape);
  std::mt19937 random(11);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 2001) - 1000;
  int64_t results = 1;
  for (int axis = 0; axis < shape.size(); ++axis)
    if (!axes.contains(axis)) results *= shape[axis];
  std::vector<double> sums(static_cast<size_t>(results)),
      largest(static_cast<size_t>(results), -std::numeric_limits<double>::infinity());
  for (int64_t i = 0; i < count; ++i) {
    int64_t left = i, place = 0, stride = 1;
    for (int axis = shape.size() - 1; axis >= 0; --axis) {
      if (!axes.contains(axis)) place += left % shape[axis] * stride, stride *= shape[axis];
      left /= shape[axis];
    }
    const double value = values[static_cast<size_t>(i)];
    sums[static_cast<size_t>(place)] += value;
    largest[static_cast<size_t>(place)] = std::max(largest[static_cast<size_t>(place)], value);
  }
  const Tensor x = tensor(values, shape);
  SCOPED_TRACE(to_string(shape));
  expect_near(sum(x, axes), sums, 0);
  expect_near(reduce_max(x, axes), largest, 0);
}

// Few rows are cut into parts: rows that lie together, in several pieces, and beside each other, few and
// many; parts that come out even and do not.
TEST_P(Reductions, PartsOfRowsOfAnyLayout) {
  expect_over_axes({3, 70001}, {1});
  expect_over_axes({4, 3, 4100}, {0, 2});
  expect_over_axes({3, 2, 77, 79}, {0, 2, 3});
  expect_over_axes({5, 3, 64, 60}, {0, 2, 3});
  expect_over_axes({20003, 3}, {0});
  expect_over_axes({7, 3001, 5}, {1});
  expect_over_axes({1031, 77}, {0});
  expect_over_axes({2, 999, 130}, {1});
  expect_over_axes({40, 3, 50, 7}, {0, 2});
}

}  // namespace
}  // namespace adit::test
