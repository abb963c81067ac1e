// Complex numbers against the C++ library in a wider type: values by the length of the error, and the sides
// of the branch cuts by the signs of zeros.
#include <cmath>
#include <random>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "one_row.hpp"

namespace adit::test {
namespace {

class Complex : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Complex, testing::ValuesIn(device_ids()), test_name);

template <class T>
using Wide = std::complex<std::conditional_t<std::is_same_v<T, float>, double, long double>>;

template <class T>
std::vector<std::complex<T>> points() {
  std::vector<std::complex<T>> list;
  const T parts[] = {T(-20.5), T(-3),  T(-1.25), T(-1), T(-0.6),  T(-1e-4), T(-0.0), T(0),
                     T(1e-4),  T(0.3), T(0.999), T(1),  T(1.001), T(2),     T(7.5),  T(30)};
  for (const T x : parts)
    for (const T y : parts) list.emplace_back(x, y);
  return list;
}

// |got - expected| in units of the last place at the length of what is expected.
template <class T>
double distance(std::complex<T> got, Wide<T> expected) {
  if (std::isnan(expected.real()) || std::isnan(expected.imag())) return 0;
  if (std::isinf(expected.real()) || std::isinf(expected.imag()))
    return std::isinf(got.real()) || std::isinf(got.imag()) ? 0 : INFINITY;
  const auto gap = std::abs(Wide<T>(got) - expected), size = std::abs(expected);
  const double unit = std::numeric_limits<T>::epsilon();
  return static_cast<double>(gap) / (unit * std::max(static_cast<double>(size), 1e-30));
}

template <class T>
struct Function {
  const char* name;
  Unary op;
  Wide<T> (*expected)(Wide<T>);
};

template <class T>
std::vector<Function<T>> functions() {
  using W = Wide<T>;
  using R = typename W::value_type;
  return {{"exp", exp, [](W z) { return std::exp(z); }},
          {"exp2", exp2, [](W z) { return std::exp(z * std::log(R(2))); }},
          {"expm1", expm1,
           [](W z) {
             const R half = std::sin(z.imag() / 2);
             return W(std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half,
                      std::exp(z.real()) * std::sin(z.imag()));
           }},
          {"log", log, [](W z) { return std::log(z); }},
          {"log2", log2, [](W z) { return std::log(z) / std::log(R(2)); }},
          {"log10", log10, [](W z) { return std::log(z) / std::log(R(10)); }},
          {"log1p", log1p, [](W z) { return std::log(W(1 + z.real(), z.imag())); }},
          {"sqrt", sqrt, [](W z) { return std::sqrt(z); }},
          {"rsqrt", rsqrt, [](W z) { return z == W(0) ? W(NAN) : W(1) / std::sqrt(z); }},
          {"sigmoid", sigmoid, [](W z) { return W(1) / (W(1) + std::exp(-z)); }},
          {"sin", sin, [](W z) { return std::sin(z); }},
          {"cos", cos, [](W z) { return std::cos(z); }},
          {"tan", tan, [](W z) { return std::tan(z); }},
          {"sinh", sinh, [](W z) { return std::sinh(z); }},
          {"cosh", cosh, [](W z) { return std::cosh(z); }},
          {"tanh", tanh, [](W z) { return std::tanh(z); }},
          {"asin", asin, [](W z) { return std::asin(z); }},
          {"acos", acos, [](W z) { return std::acos(z); }},
          {"atan", atan, [](W z) { return std::atan(z); }},
          {"asinh", asinh, [](W z) { return std::asinh(z); }},
          {"acosh", acosh, [](W z) { return std::acosh(z); }},
          {"atanh", atanh, [](W z) { return std::atanh(z); }},
          {"sign", sign, [](W z) { return z == W(0) ? W(0) : z / std::abs(z); }},
          {"conjugate", conjugate, [](W z) { return std::conj(z); }},
          {"negate", negate, [](W z) { return -z; }}};
}

template <class T>
void check_functions(Device& device) {
  const auto z = points<T>();
  for (const Function<T>& f : functions<T>()) {
    const auto got = apply<std::complex<T>>(device, f.op, z);
    double worst = 0;
    for (size_t i = 0; i < z.size(); ++i) {
      const Wide<T> expected = f.expected(Wide<T>(z[i]));
      const double error = distance(got[i], expected);
      worst = std::max(worst, error);
      EXPECT_LE(error, 8) << f.name << z[i] << " is " << got[i] << ", expected " << expected;
    }
    if (std::getenv("ADIT_TEST_SHOW")) printf("%s %s %.2f\n", f.name, device.info().id.c_str(), worst);
  }
}

TEST_P(Complex, FunctionsInC64) { check_functions<float>(on()); }
TEST_P(Complex, FunctionsInC128) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64 here";
  if (std::numeric_limits<long double>::digits <= 53) GTEST_SKIP() << "no wider type to compare with";
  check_functions<double>(on());
}

template <class T>
void check_arithmetic(Device& device) {
  std::vector<std::complex<T>> a, b;
  const auto all = points<T>();
  for (size_t i = 0; i < all.size(); i += 3)
    for (size_t j = 0; j < all.size(); j += 5) a.push_back(all[i]), b.push_back(all[j]);
  const auto check = [&](const char* name, Binary op, Wide<T> (*expected)(Wide<T>, Wide<T>), auto bound) {
    const auto got = apply<std::complex<T>>(device, op, a, b);
    for (size_t i = 0; i < a.size(); ++i) {
      const Wide<T> x(a[i]), y(b[i]);
      EXPECT_LE(distance(got[i], expected(x, y)), bound(x, y)) << name << a[i] << b[i] << " is " << got[i];
    }
  };
  const auto three = [](Wide<T>, Wide<T>) { return 3.0; };
  const auto eight = [](Wide<T>, Wide<T>) { return 8.0; };
  check(
      "add", add, [](Wide<T> x, Wide<T> y) { return x + y; }, three);
  check(
      "subtract", subtract, [](Wide<T> x, Wide<T> y) { return x - y; }, three);
  check(
      "multiply", multiply, [](Wide<T> x, Wide<T> y) { return x * y; }, three);
  check(
      "divide", divide, [](Wide<T> x, Wide<T> y) { return y == Wide<T>(0) ? Wide<T>(NAN) : x / y; }, eight);
  check(
      "pow", pow,
      [](Wide<T> x, Wide<T> y) {
        const Wide<T> result = x == Wide<T>(0) ? Wide<T>(NAN) : std::pow(x, y);
        const auto size = std::abs(result);  // far ends of the range have tests of their own
        return size < 1e-30 || size > 1e30 ? Wide<T>(NAN) : result;
      },
      [](Wide<T> x, Wide<T> y) { return 8.0 * (1 + static_cast<double>(std::abs(y * std::log(x)))); });
}

TEST_P(Complex, ArithmeticInC64) { check_arithmetic<float>(on()); }
TEST_P(Complex, ArithmeticInC128) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64 here";
  if (std::numeric_limits<long double>::digits <= 53) GTEST_SKIP() << "no wider type to compare with";
  check_arithmetic<double>(on());
}

// The sign of a zero picks the side of the cut.
// Products, each factor as it is or transposed: a transposed one is not conjugated.
template <class T>
void check_products(const std::shared_ptr<Device>& on) {
  using C = std::complex<T>;
  std::mt19937 random(4);
  std::uniform_real_distribution<T> uniform(-1, 1);
  for (const int64_t size : {3, 40}) {
    const int64_t m = size, n = size + 2, k = size + 5;
    std::vector<C> a(static_cast<size_t>(m * k)), b(static_cast<size_t>(k * n));
    for (C& z : a) z = {uniform(random), uniform(random)};
    for (C& z : b) z = {uniform(random), uniform(random)};
    for (const bool turns_a : {false, true})
      for (const bool turns_b : {false, true}) {
        const Tensor x = tensor(a, turns_a ? Shape{k, m} : Shape{m, k}, on);
        const Tensor y = tensor(b, turns_b ? Shape{n, k} : Shape{k, n}, on);
        const auto got =
            matmul(turns_a ? transpose(x) : x, turns_b ? transpose(y) : y).template to_vector<C>();
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            C sum = 0;
            for (int64_t l = 0; l < k; ++l)
              sum += a[static_cast<size_t>(turns_a ? l * m + i : i * k + l)] *
                     b[static_cast<size_t>(turns_b ? j * k + l : l * n + j)];
            ASSERT_LT(std::abs(got[static_cast<size_t>(i * n + j)] - sum),
                      8 * std::numeric_limits<T>::epsilon() * static_cast<T>(k))
                << turns_a << turns_b << " " << size;
          }
      }
  }
}
TEST_P(Complex, ProductsOfTransposedMatrices) {
  const auto open = Device::open(GetParam());
  check_products<float>(open);
  if (on().limits().float64) check_products<double>(open);
}

TEST_P(Complex, BranchCuts) {
  using C = std::complex<float>;
  const std::vector<C> z{{-2, 0.0f}, {-2, -0.0f}, {2, 0.0f},  {2, -0.0f},
                         {0.0f, 2},  {-0.0f, 2},  {0.0f, -2}, {-0.0f, -2}};
  for (const auto& f : functions<float>()) {
    const auto got = apply<C>(on(), f.op, z);
    for (size_t i = 0; i < z.size(); ++i) {
      const Wide<float> want = f.expected(Wide<float>(z[i]));
      EXPECT_LE(distance(got[i], want), 8) << f.name << z[i] << " is " << got[i] << ", expected " << want;
    }
  }
  const auto roots = apply<C>(on(), sqrt, z);
  EXPECT_GT(roots[0].imag(), 1);
  EXPECT_LT(roots[1].imag(), -1);
}

TEST_P(Complex, LargeAndSmallNumbersDivideAndHaveRoots) {
  using C = std::complex<float>;
  const std::vector<C> a{{1e30f, 1e30f}, {1e-30f, 2e-30f}, {3e37f, 4e37f}},
      b{{2e30f, 1e30f}, {1e-30f, 1e-30f}, {1, 1}};
  const auto quotients = apply<C>(on(), divide, a, b), roots = apply<C>(on(), sqrt, a);
  const auto lengths = apply<float>(on(), abs, a);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(distance(quotients[i], Wide<float>(a[i]) / Wide<float>(b[i])), 8)
        << a[i] << b[i] << quotients[i];
    EXPECT_LE(distance(roots[i], std::sqrt(Wide<float>(a[i]))), 8) << a[i] << roots[i];
    EXPECT_NEAR(lengths[i] / std::abs(Wide<float>(a[i])), 1, 3e-7);
  }
}

TEST_P(Complex, ZerosInfinitiesAndNan) {
  using C = std::complex<float>;
  const float inf = INFINITY;
  const auto powers =
      apply<C>(on(), pow, std::vector<C>{{0, 0}, {0, 0}, {3, 4}}, std::vector<C>{{2, 1}, {0, 0}, {0, 0}});
  EXPECT_EQ(powers, (std::vector<C>{{0, 0}, {1, 0}, {1, 0}}));
  const auto exponentials = apply<C>(on(), exp, std::vector<C>{{inf, 0}, {-inf, inf}, {100, 1e-20f}});
  EXPECT_EQ(exponentials[0], C(inf, 0));
  EXPECT_EQ(exponentials[1], C(0, 0));
  EXPECT_NEAR(exponentials[2].imag() / (std::exp(100.0) * 1e-20), 1, 1e-5);
  const auto roots = apply<C>(on(), sqrt, std::vector<C>{{inf, 1}, {-inf, -1}, {NAN, inf}, {0, 0}});
  EXPECT_EQ(roots[0], C(inf, 0));
  EXPECT_EQ(roots[1], C(0, -inf));
  EXPECT_EQ(roots[2], C(inf, inf));
  EXPECT_EQ(roots[3], C(0, 0));
  const std::vector<C> z{{1, 0}, {1, 2}, {0, 2}, {NAN, 1}};
  EXPECT_EQ(apply<uint8_t>(on(), equal, z, {{1, 0}, {1, 3}, {1, 2}, {NAN, 1}}),
            (std::vector<uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(apply<uint8_t>(on(), is_nan, z), (std::vector<uint8_t>{0, 0, 0, 1}));
}

// --- Derivatives: with L = Re(sum of g f(z)) a gradient is dL/dx - i dL/dy, for z = x + iy
// --------------------------

using C = std::complex<double>;

// L for every element by itself.
std::vector<double> potential(const Tensor& y, const std::vector<C>& g) {
  std::vector<double> values;
  const auto f = as_type(y, DType::c128).to_vector<C>();
  for (size_t i = 0; i < g.size(); ++i) values.push_back((g[i] * f[i]).real());
  return values;
}

struct Case {
  graph::Op op;
  std::vector<std::vector<C>> operands;
  std::vector<C> g;
  DType type;  // of the operands

  Tensor operand(size_t which, C shift = 0) const {
    std::vector<C> z = operands[which];
    for (C& number : z) number += shift;
    return as_type(tensor(std::span<const C>(z), {static_cast<int64_t>(z.size())}, Device::open("cpu")),
                   type);
  }
  Tensor result(size_t moved, C shift) const {
    std::vector<Tensor> x;
    for (size_t k = 0; k < operands.size(); ++k) x.push_back(operand(k, k == moved ? shift : C(0)));
    return graph::make(op, x);
  }
  std::vector<double> slope(size_t which, C direction) const {
    const double step = 1e-6;
    std::vector<double> above = potential(result(which, direction * step), g);
    const std::vector<double> below = potential(result(which, -direction * step), g);
    for (size_t i = 0; i < above.size(); ++i) above[i] = (above[i] - below[i]) / (2 * step);
    return above;
  }
  void check() const {
    std::vector<Tensor> x;
    for (size_t k = 0; k < operands.size(); ++k) x.push_back(operand(k));
    const Tensor y = graph::make(op, x);
    const Tensor gradient = as_type(
        tensor(std::span<const C>(g), {static_cast<int64_t>(g.size())}, Device::open("cpu")), y.dtype());
    const auto got = graph::row_of(op).vjp(y, x, gradient);
    for (size_t k = 0; k < x.size(); ++k) {
      const auto values = as_type(got[k], DType::c128).to_vector<C>();
      const auto along_x = slope(k, 1), along_y = slope(k, is_complex(type) ? C(0, 1) : C(0));
      for (size_t i = 0; i < g.size(); ++i) {
        const C want(along_x[i], is_complex(type) ? -along_y[i] : 0);
        EXPECT_LE(std::abs(values[i] - want), 1e-6 * (1 + std::abs(want)))
            << name_of(op) << " operand " << k << " at " << operands[k][i] << ": " << values[i]
            << ", expected " << want;
      }
    }
  }
};

TEST(ComplexDerivatives, FollowTheConvention) {
  using graph::Op;
  bool has_cpu = false;
  for (const std::string& id : device_ids()) has_cpu |= id == "cpu";
  if (!has_cpu) GTEST_SKIP() << "no cpu device";
  const std::vector<C> z{{0.7, 0.4}, {-0.3, 1.2}, {-1.6, -0.8}, {2.1, -0.2}},
      w{{1.1, -0.6}, {0.4, 0.9}, {2, 0.3}, {-0.5, -1}};
  const std::vector<C> g{{1, 0}, {0, 1}, {0.5, -2}, {-1.5, 0.25}}, real_g{{1, 0}, {-2, 0}, {0.5, 0}, {3, 0}};
  for (const Op op :
       {Op::negate, Op::exp,   Op::exp2,  Op::expm1, Op::log,     Op::log2, Op::log10,    Op::log1p, Op::sqrt,
        Op::rsqrt,  Op::sin,   Op::cos,   Op::tan,   Op::asin,    Op::acos, Op::atan,     Op::sinh,  Op::cosh,
        Op::tanh,   Op::asinh, Op::acosh, Op::atanh, Op::sigmoid, Op::sign, Op::conjugate})
    Case{op, {z}, g, DType::c128}.check();
  for (const Op op : {Op::abs, Op::real, Op::imag}) Case{op, {z}, real_g, DType::c128}.check();
  for (const Op op : {Op::add, Op::subtract, Op::multiply, Op::divide, Op::pow})
    Case{op, {z, w}, g, DType::c128}.check();
  Case{Op::complex, {z, w}, g, DType::f64}.check();
}

}  // namespace
}  // namespace adit::test
