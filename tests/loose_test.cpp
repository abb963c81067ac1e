// Loose arithmetic: what it writes instead, that numbers stay the same but for their last bits, and that the
// math library keeps its own bounds inside of it. And that what nothing reads leaves a kernel.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

#include <adit/kernel/math.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

using namespace kernel;

// y = f(a, b, c), elementwise.
Program program_of(Type type, bool is_loose, const std::function<Value(Value, Value, Value)>& f) {
  Builder k("loose", Team::one());
  const Array a = k.buffer("a", type, Access::read), b = k.buffer("b", type, Access::read),
              c = k.buffer("c", type, Access::read), y = k.buffer("y", type, Access::write);
  const Value i = k.team();
  const Value x0 = a[i], x1 = b[i], x2 = c[i];
  const Loose loose(k, is_loose);
  y[i] = f(x0, x1, x2);
  return k.finish();
}

// Instructions of a kind among those that a function writes.
size_t count_of(Op op, const std::function<Value(Value, Value, Value)>& f, bool is_loose = true) {
  const Program program = program_of(Type::f32, is_loose, f);
  size_t count = 0;
  for (const Instruction& it : program.instructions) count += it.op == op && it.type == Type::f32;
  return count;
}

TEST(Loose, SumsOfProductsAreFused) {
  const auto sum = [](Value a, Value b, Value c) { return a * b + c; };
  EXPECT_EQ(count_of(Op::fma, sum), 1u);
  EXPECT_EQ(count_of(Op::mul, sum), 0u);  // the product has no reader left
  EXPECT_EQ(count_of(Op::fma, sum, false), 0u);
  EXPECT_EQ(count_of(Op::mul, sum, false), 1u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value c) { return c - a * b; }), 1u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value c) { return a * b - c; }), 1u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value c) { return a * b + b * c; }), 1u);
}

TEST(Loose, ConstantsAreJoined) {
  const auto twice = [](Value a, Value, Value) { return a * -0.5 + a * -0.5; };
  EXPECT_EQ(count_of(Op::neg, twice), 1u);
  EXPECT_EQ(count_of(Op::mul, twice) + count_of(Op::add, twice) + count_of(Op::fma, twice), 0u);
  const auto nothing = [](Value a, Value, Value) { return (a - 0.0 + 0.0) * 1.0; };
  EXPECT_EQ(count_of(Op::sub, nothing) + count_of(Op::add, nothing) + count_of(Op::mul, nothing), 0u);
  EXPECT_EQ(count_of(Op::mul, [](Value a, Value, Value) { return 2.0 * (a * 3.0); }), 1u);
  EXPECT_EQ(count_of(Op::neg, [](Value a, Value, Value) { return -(-a); }), 0u);
  // exp(-|x|) serves both signs of a product.
  const auto both = [](Value a, Value b, Value) {
    return kernel::sigmoid(a * b) + kernel::softplus(-(a * b));
  };
  const auto once = [](Value a, Value b, Value) { return kernel::sigmoid(a * b) + kernel::softplus(a * b); };
  const auto length = [](const std::function<Value(Value, Value, Value)>& f) {
    return program_of(Type::f64, true, f).instructions.size();
  };
  EXPECT_LE(length(both), length(once) + 4);
}

// x * 1e30 * 1e30 may be small.
TEST(Loose, JoinedConstantsStayInRange) {
  EXPECT_EQ(count_of(Op::mul, [](Value a, Value, Value) { return (a * 1e30) * 1e30; }), 2u);
  EXPECT_EQ(count_of(Op::mul, [](Value a, Value, Value) { return (a * 1e-30) * 1e-30; }), 2u);
}

// Equal products leave nothing: sqrt(a a - b b) is 0 where a is b.
TEST(Loose, DifferencesOfProductsAreRoundedAlike) {
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value) { return a * a - b * b; }), 0u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value) { return a * b + -(b * a); }), 0u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value) { return -(a * b) + b * a; }), 0u);
  EXPECT_EQ(count_of(Op::fma, [](Value a, Value b, Value c) { return -(a * b) + -(b * c); }), 1u);  // add up
}

// x - x is how kernels ask whether x is finite; fused with a product it would be its rounding error.
TEST(Loose, DifferenceFromItselfStays) {
  EXPECT_EQ(count_of(Op::sub,
                     [](Value a, Value b, Value) {
                       const Value x = a * b;
                       return x - x;
                     }),
            1u);
}

TEST(Loose, MathFunctionsAreTheSameInF32) {
  const auto functions = [](Value a, Value b, Value c) {
    return max(max(kernel::exp(a), kernel::log1p(b)), max(kernel::lgamma(c), kernel::pow_integer(a, 7)));
  };
  EXPECT_EQ(count_of(Op::mul, functions, false), count_of(Op::mul, functions, true));
  EXPECT_EQ(count_of(Op::fma, functions, false), count_of(Op::fma, functions, true));
}

// A logistic likelihood and its derivative.
TEST(Loose, LogarithmAndLogisticShareADivisionInF64) {
  const auto both = [](Value a, Value, Value) { return kernel::log_sigmoid(a) + kernel::sigmoid(-a); };
  const auto divisions = [&](bool is_loose) {
    size_t count = 0;
    for (const Instruction& it : program_of(Type::f64, is_loose, both).instructions)
      count += it.op == Op::div;
    return count;
  };
  EXPECT_EQ(divisions(true), 1u);
  EXPECT_EQ(divisions(false), 2u);
}

// A function of math.hpp inside of another one has its loose form too, though the arithmetic is plain there.
TEST(Loose, FunctionsInsideOfFunctionsAreLoose) {
  const auto length = [](bool is_loose) {
    return program_of(Type::f64, is_loose, [](Value a, Value, Value) { return kernel::erfc(a); })
        .instructions.size();
  };
  EXPECT_LT(length(true), length(false));
}

// min and max with a constant may be other instructions than those with two numbers.
TEST(Bounds, PassNaNAndKeepZeros) {
  for (const std::string& id : device_ids()) {
    const auto device = Device::open(id);
    if (!device->limits().float64) continue;
    const double inf = INFINITY;
    const std::vector<double> x{NAN, -inf, inf, -0.0, 0.0, 1.5, 3, -3, 2, -1};
    const auto f = [](Value a, Value, Value) { return min(max(a, -1.0), 2.0); };
    const auto turned = [](Value a, Value, Value) { return max(a.like(-1), a); };  // a NaN counts as nothing
    for (const bool other : {false, true}) {
      const auto compiled = device->compile(
          program_of(Type::f64, false, other ? std::function<Value(Value, Value, Value)>(turned) : f));
      const uint64_t bytes = x.size() * sizeof(double);
      const Buffer a = device->allocate(bytes), y = device->allocate(bytes);
      device->write(a, x.data(), bytes);
      device->run(*compiled, x.size(), {a, a, a, y});
      std::vector<double> got(x.size());
      device->read(y, got.data(), bytes);
      for (size_t i = 0; i < x.size(); ++i) {
        const double bounded = other ? (x[i] > -1 ? x[i] : -1) : std::min(std::max(x[i], -1.0), 2.0);
        EXPECT_EQ(std::isnan(got[i]), std::isnan(bounded)) << x[i];
        if (!std::isnan(bounded)) {
          EXPECT_EQ(got[i], bounded) << x[i];
          EXPECT_EQ(std::signbit(got[i]), std::signbit(bounded)) << x[i];
        }
      }
    }
  }
}

TEST(Loose, UnreadInstructionsAreDropped) {
  Builder k("unread", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read_write);
  const Value i = k.team(), v = x[i];
  const Value unread = kernel::exp(v * 3.0) + 1.0;
  (void)unread;
  const Variable total = k.variable(v);
  k.for_(k.constant(Type::u32, 4), [&](Value j) {
    const Value lost = x[i + j] * 2.0;
    (void)lost;
    total = total.get() + v;
  });
  x[i] = total.get();
  const Program program = k.finish();
  size_t products = 0, loads = 0;
  for (const Instruction& it : program.instructions) {
    products += it.op == Op::mul;
    loads += it.op == Op::load;
  }
  EXPECT_EQ(products, 0u);
  EXPECT_EQ(loads, 3u);  // v, and the variable twice
  std::vector<float> numbers{1, 2, 3, 4};
  const auto results = run_on(device("cpu"), program, 4, {Input::buffer(numbers)});
  std::memcpy(numbers.data(), results[0].data(), sizeof(float) * numbers.size());
  EXPECT_EQ(numbers, (std::vector<float>{5, 10, 15, 20}));
}

class LooseOn : public testing::TestWithParam<std::string> {};

template <class T>
void expect_close_numbers(Device& on, Type type) {
  const auto f = [](Value a, Value b, Value c) {
    const Value r = (a - b * c) * 0.25, z = divide(r, 1 + c * c);
    return z * z * -0.5 + z * -0.5 + z * -0.5 - (a * b - 3.0) * c;
  };
  constexpr size_t n = 257;
  std::mt19937_64 source(7);
  std::uniform_real_distribution<double> uniform(-3, 3);
  std::vector<T> x[3], want(n);
  for (auto& list : x)
    for (size_t i = 0; i < n; ++i) list.push_back(static_cast<T>(uniform(source)));
  const auto results =
      run_on(on, program_of(type, true, f), n,
             {Input::buffer(x[0]), Input::buffer(x[1]), Input::buffer(x[2]), Input::buffer(want)});
  std::vector<T> got(n);
  std::memcpy(got.data(), results[3].data(), n * sizeof(T));
  for (size_t i = 0; i < n; ++i) {
    const double a = x[0][i], b = x[1][i], c = x[2][i], z = (a - b * c) * 0.25 / (1 + c * c);
    const double right = -0.5 * z * z - z - (a * b - 3) * c;
    EXPECT_NEAR(got[i], right, 64 * std::numeric_limits<T>::epsilon()) << i;
  }
}

TEST_P(LooseOn, NumbersStay) {
  Device& on = device(GetParam());
  expect_close_numbers<float>(on, Type::f32);
  if (on.limits().float64) expect_close_numbers<double>(on, Type::f64);
}

INSTANTIATE_TEST_SUITE_P(Devices, LooseOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
