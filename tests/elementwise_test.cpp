// Edges of the elementwise rows: integers at the ends of their types, NaN, conversions, random bits, and what
// the builders make of types and shapes. Values in general are op_table_test's.
#include <bit>
#include <cmath>
#include <limits>

#include <adit/ops.hpp>

#include "graph/op.hpp"
#include "one_row.hpp"

namespace adit::test {
namespace {

using graph::constant;
using graph::make;
using graph::Op;
using graph::placeholder;
using graph::Which;

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

class Elementwise : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Elementwise, testing::ValuesIn(device_ids()), test_name);

// --- Integers
// ------------------------------------------------------------------------------------------------

template <class T>
struct Grid {
  std::vector<T> a, b;
};
template <class T>
Grid<T> all_pairs() {
  using L = std::numeric_limits<T>;
  const int width = 8 * sizeof(T);
  std::vector<T> ends{L::min(), static_cast<T>(L::min() + 1), L::max(), static_cast<T>(L::max() - 1)};
  for (const int number : {-9, -3, -2, -1, 0, 1, 2, 3, 5, 10, width - 1, width, width + 1, 100})
    ends.push_back(static_cast<T>(number));
  Grid<T> grid;
  for (const T a : ends)
    for (const T b : ends) grid.a.push_back(a), grid.b.push_back(b);
  return grid;
}

// Wrapping arithmetic is done in u64 and cut.
template <class T>
T cut(uint64_t bits) {
  return static_cast<T>(bits);
}
template <class T>
T power(T a, T n) {
  if (n < 0) return a == 1 ? T{1} : std::is_signed_v<T> && a == T(-1) ? (n % 2 == 0 ? T{1} : T(-1)) : T{0};
  uint64_t result = 1, base = static_cast<uint64_t>(a);
  for (auto rest = static_cast<uint64_t>(n); rest != 0; rest >>= 1, base *= base)
    if (rest & 1) result *= base;
  return cut<T>(result);
}
template <class T>
T quotient_of(T a, T b) {
  if (b == 0) return 0;
  if (std::is_signed_v<T> && b == T(-1)) return cut<T>(-static_cast<uint64_t>(a));
  return static_cast<T>(a / b);
}
template <class T>
T remainder_of(T a, T b) {
  return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T{0} : static_cast<T>(a % b);
}
template <class T>
T shifted(T a, T b, bool left) {
  const bool far = b < 0 || static_cast<uint64_t>(b) >= 8 * sizeof(T);
  if (left) return far ? T{0} : cut<T>(static_cast<uint64_t>(a) << b);
  return far ? (a < 0 ? T(-1) : T{0}) : static_cast<T>(a >> b);
}

template <class T>
void check_integers(Device& device) {
  if (!has_type(device, dtype_of<T>())) return;
  const Grid<T> grid = all_pairs<T>();
  const auto two = [&](Binary op, const char* name, T (*expected)(T, T)) {
    const std::vector<T> got = apply<T>(device, op, grid.a, grid.b);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected(grid.a[i], grid.b[i]))
          << name << "(" << +grid.a[i] << ", " << +grid.b[i] << ") in " << name_of(dtype_of<T>());
  };
  const auto one = [&](Unary op, const char* name, T (*expected)(T)) {
    const std::vector<T> got = apply<T>(device, op, grid.a);
    for (size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], expected(grid.a[i]))
          << name << "(" << +grid.a[i] << ") in " << name_of(dtype_of<T>());
  };
  using Bits = std::make_unsigned_t<T>;
  two(quotient, "quotient", quotient_of<T>);
  two(remainder, "remainder", remainder_of<T>);
  two(pow, "pow", power<T>);
  two(left_shift, "left_shift", [](T a, T b) { return shifted(a, b, true); });
  two(right_shift, "right_shift", [](T a, T b) { return shifted(a, b, false); });
  two(add, "add", [](T a, T b) { return cut<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); });
  two(multiply, "multiply",
      [](T a, T b) { return cut<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); });
  two(minimum, "minimum", [](T a, T b) { return std::min(a, b); });
  two(maximum, "maximum", [](T a, T b) { return std::max(a, b); });
  one(negate, "negate", [](T a) { return cut<T>(-static_cast<uint64_t>(a)); });
  one(sign, "sign", [](T a) { return static_cast<T>(a < 0 ? -1 : a > 0); });
  one(bitwise_not, "bitwise_not", [](T a) { return cut<T>(~static_cast<uint64_t>(a)); });
  one(count_leading_zeros, "clz", [](T a) { return static_cast<T>(std::countl_zero(static_cast<Bits>(a))); });
  one(population_count, "popcount", [](T a) { return static_cast<T>(std::popcount(static_cast<Bits>(a))); });
  if (std::is_signed_v<T>) one(abs, "abs", [](T a) { return a < 0 ? cut<T>(-static_cast<uint64_t>(a)) : a; });
}

TEST_P(Elementwise, IntegersAtTheEndsOfTheirTypes) {
  check_integers<uint8_t>(on());
  check_integers<uint16_t>(on());
  check_integers<uint32_t>(on());
  check_integers<uint64_t>(on());
  check_integers<int8_t>(on());
  check_integers<int16_t>(on());
  check_integers<int32_t>(on());
  check_integers<int64_t>(on());
}

// --- Floats at their edges
// -------------------------------------------------------------------------------------

void expect_floats(const std::vector<float>& got, const std::vector<float>& want) {
  for (size_t i = 0; i < want.size(); ++i)
    if (!(std::isnan(got[i]) && std::isnan(want[i]))) {
      EXPECT_EQ(got[i], want[i]) << "at " << i;
    }
}

TEST_P(Elementwise, NanArrives) {
  const std::vector<float> a{nan, 1, nan, 1, -inf}, b{1, nan, nan, 2, inf};
  expect_floats(apply<float>(on(), minimum, a, b), {nan, nan, nan, 1, -inf});
  expect_floats(apply<float>(on(), maximum, a, b), {nan, nan, nan, 2, inf});
  EXPECT_EQ(apply<uint8_t>(on(), equal, a, a), (std::vector<uint8_t>{0, 1, 0, 1, 1}));
  EXPECT_EQ(apply<uint8_t>(on(), not_equal, a, a), (std::vector<uint8_t>{1, 0, 1, 0, 0}));
  EXPECT_EQ(apply<uint8_t>(on(), less_equal, a, b), (std::vector<uint8_t>{0, 0, 0, 1, 1}));
  EXPECT_EQ(apply<uint8_t>(on(), is_nan, a), (std::vector<uint8_t>{1, 0, 1, 0, 0}));
  EXPECT_EQ(apply<uint8_t>(on(), is_infinity, a), (std::vector<uint8_t>{0, 0, 0, 0, 1}));
  EXPECT_EQ(apply<uint8_t>(on(), logical_not, std::vector<float>{nan, 0, -0.0f, 1}),
            (std::vector<uint8_t>{0, 1, 1, 0}));
  expect_floats(apply<float>(on(), sign, std::vector<float>{nan, -3, 0, inf}), {nan, -1, 0, 1});
  expect_floats(apply<float>(on(), round, std::vector<float>{-2.5f, -0.5f, 0.5f, 1.5f, 2.4f}),
                {-3, -1, 1, 2, 2});
  expect_floats(
      apply<float>(on(), remainder, std::vector<float>{-7, 7, 5.5f, 1}, std::vector<float>{3, -3, 2, 0}),
      {-1, 1, 1.5f, nan});
}

TEST_P(Elementwise, ClipAndSelect) {
  const Tensor x = placeholder(DType::f32, {}), p = placeholder(DType::i32, {});
  expect_floats(apply<float>(on(), clip(x, x, x), 5, std::vector<float>{-5, 0.5f, 7, nan, 3},
                             std::vector<float>{0, 0, 0, 0, 4}, std::vector<float>{1, 1, 1, 1, 2}),
                {0, 0.5f, 1, nan, 2});
  expect_floats(apply<float>(on(), select(p, x, x), 3, std::vector<int32_t>{0, 256, -1},
                             std::vector<float>{1, 2, 3}, std::vector<float>{4, 5, 6}),
                {4, 2, 3});
  const Tensor z = placeholder(DType::c64, {});
  const std::vector<uint8_t> both = apply<uint8_t>(
      on(), logical_and(z, p), 3, std::vector<float>{0, 0, 0, 1, 2, 0}, std::vector<int32_t>{1, 1, 0});
  EXPECT_EQ(both, (std::vector<uint8_t>{0, 1, 0}));
}

// --- Conversions
// -----------------------------------------------------------------------------------------------

template <class R, class T>
std::vector<R> cast(Device& device, DType from, DType to, const std::vector<T>& x) {
  return apply<R>(device, as_type(placeholder(from, {}), to), x.size() / (is_complex(from) ? 2 : 1), x);
}

TEST_P(Elementwise, FloatsToIntegersHoldAtTheEnds) {
  const std::vector<float> x{-1.9f, 1.9f, nan, inf, -inf, 300, -200, 1e30f};
  if (has_type(on(), DType::u8)) {
    EXPECT_EQ(cast<uint8_t>(on(), DType::f32, DType::u8, x),
              (std::vector<uint8_t>{0, 1, 0, 255, 0, 255, 0, 255}));
    EXPECT_EQ(cast<int8_t>(on(), DType::f32, DType::i8, x),
              (std::vector<int8_t>{-1, 1, 0, 127, -128, 127, -128, 127}));
  }
  EXPECT_EQ(cast<int32_t>(on(), DType::f32, DType::i32, x),
            (std::vector<int32_t>{-1, 1, 0, INT32_MAX, INT32_MIN, 300, -200, INT32_MAX}));
  if (has_type(on(), DType::u64)) {
    EXPECT_EQ(cast<uint64_t>(on(), DType::f32, DType::u64, x),
              (std::vector<uint64_t>{0, 1, 0, UINT64_MAX, 0, 300, 0, UINT64_MAX}));
  }
}

TEST_P(Elementwise, IntegersWrapAndComplexNumbersLeaveTheirRealPart) {
  if (has_type(on(), DType::u8)) {
    EXPECT_EQ(cast<uint8_t>(on(), DType::i32, DType::u8, std::vector<int32_t>{-1, 256, 511, 128}),
              (std::vector<uint8_t>{255, 0, 255, 128}));
  }
  EXPECT_EQ(cast<int32_t>(on(), DType::c64, DType::i32, std::vector<float>{1.5f, 9, -7, 3}),
            (std::vector<int32_t>{1, -7}));
  const Tensor z = as_type(placeholder(DType::i32, {}), DType::c64);
  EXPECT_EQ(apply<std::complex<float>>(on(), z, 1, std::vector<int32_t>{-3}),
            (std::vector<std::complex<float>>{{-3, 0}}));
}

// 1 + 2^-11 + 2^-40 lies above the middle of two halves; through f32 it would fall on it and go to even.
TEST_P(Elementwise, DoublesRoundOnceToHalves) {
  if (!on().limits().float64 || !on().limits().storage16)
    GTEST_SKIP() << "no f64 or no 16-bit values in memory";
  const std::vector<double> x{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, -1 - 0x1p-11 - 0x1p-40,
                              1 + 0x1p-8 + 0x1p-40,  1e300,       -0.0};
  EXPECT_EQ(cast<uint16_t>(on(), DType::f64, DType::f16, x),
            (std::vector<uint16_t>{0x3c01, 0x3c00, 0xbc01, 0x3c04, 0x7c00, 0x8000}));
  EXPECT_EQ(cast<uint16_t>(on(), DType::f64, DType::bf16, x),
            (std::vector<uint16_t>{0x3f80, 0x3f80, 0xbf80, 0x3f81, 0x7f80, 0x8000}));
}

TEST_P(Elementwise, BitsOfHalves) {
  if (!on().limits().storage16) GTEST_SKIP() << "no 16-bit values in memory";
  const std::vector<uint16_t> bits{0x3c00, 0x8000, 0x0001, 0x83ff,
                                   0x0400, 0x7bff, 0xfc00};  // no NaN: a device may change its payload
  for (const DType half : {DType::f16, DType::bf16}) {
    const Tensor to = bitcast(placeholder(DType::i16, {}), half);
    EXPECT_EQ(apply<uint16_t>(on(), to, bits.size(), bits), bits) << name_of(half);
    if (half == DType::f16 && !on().limits().float16) continue;  // Mesa's software driver dies of reading one
    const Tensor from = bitcast(placeholder(half, {}), DType::u16);
    EXPECT_EQ(apply<uint16_t>(on(), from, bits.size(), bits), bits) << name_of(half);
  }
  EXPECT_EQ(
      apply<uint32_t>(on(), bitcast(placeholder(DType::f32, {}), DType::u32), 1, std::vector<float>{-2}),
      (std::vector<uint32_t>{0xc0000000}));
}

// --- Random bits: the known answers that were published with the functions
// -----------------------------------------

using Words = std::vector<uint32_t>;
constexpr uint32_t ones = 0xffffffff;

TEST_P(Elementwise, ThreefryGivesItsKnownAnswers) {
  const Words key0{0, ones, 0x13198a2e}, key1{0, ones, 0x03707344}, count0{0, ones, 0x243f6a88},
      count1{0, ones, 0x85a308d3};
  const Words expected[] = {{0x6b200159, 0x1cb996fc, 0xc4923a9c}, {0x99ba4efe, 0xbb002be7, 0x483df7a0}};
  const Tensor x = placeholder(DType::u32, {});
  for (int word = 0; word < 2; ++word)
    EXPECT_EQ(
        apply<uint32_t>(on(), make(Op::threefry, {x, x, x, x}, Which{word}), 3, key0, key1, count0, count1),
        expected[word]);
}

TEST_P(Elementwise, PhiloxGivesItsKnownAnswers) {
  const Words key0{0, ones, 0xa4093822}, key1{0, ones, 0x299f31d0}, c0{0, ones, 0x243f6a88},
      c1{0, ones, 0x85a308d3}, c2{0, ones, 0x13198a2e}, c3{0, ones, 0x03707344};
  const Words expected[] = {{0x6627e8d5, 0x408f276d, 0xd16cfe09},
                            {0xe169c58d, 0x41c83b0e, 0x94fdcceb},
                            {0xbc57ac4c, 0xa20bc7c6, 0x5001e420},
                            {0x9b00dbd8, 0x6d5451fd, 0x24126ea1}};
  const Tensor x = placeholder(DType::u32, {});
  for (int word = 0; word < 4; ++word)
    EXPECT_EQ(apply<uint32_t>(on(), make(Op::philox, {x, x, x, x, x, x}, Which{word}), 3, key0, key1, c0, c1,
                              c2, c3),
              expected[word]);
}

// --- Builders
// ----------------------------------------------------------------------------------------------------

Tensor of(DType type, const Shape& shape = {}) { return placeholder(type, shape); }

TEST(ElementwiseBuilders, TypesPromoteAsInNx) {
  EXPECT_EQ(add(of(DType::u8), of(DType::i8)).dtype(), DType::i16);
  EXPECT_EQ(add(of(DType::u64), of(DType::i8)).dtype(), DType::i64);
  EXPECT_EQ(add(of(DType::i64), of(DType::f16)).dtype(), DType::f16);
  EXPECT_EQ(multiply(of(DType::f64), of(DType::c64)).dtype(), DType::c128);
  EXPECT_EQ(divide(of(DType::i64), of(DType::u8)).dtype(), DType::f32);
  EXPECT_EQ(divide(of(DType::i64), of(DType::bf16)).dtype(), DType::bf16);
  EXPECT_EQ(pow(of(DType::i8), of(DType::i8)).dtype(), DType::i8);
  EXPECT_EQ(exp(of(DType::i32)).dtype(), DType::f32);
  EXPECT_EQ(abs(of(DType::c128)).dtype(), DType::f64);
  EXPECT_EQ(less(of(DType::f64), of(DType::i8)).dtype(), DType::u8);
  EXPECT_EQ(conjugate(of(DType::f64)).dtype(), DType::c128);
  EXPECT_EQ(real(of(DType::i8)).dtype(), DType::f32);
  EXPECT_EQ(imag(of(DType::f64, {2})).shape(), Shape({2}));
  EXPECT_EQ(phase(of(DType::c64)).dtype(), DType::f32);
  EXPECT_EQ(adit::complex(of(DType::f16), of(DType::i64)).dtype(), DType::c64);
  EXPECT_EQ(select(of(DType::f32), of(DType::u8), of(DType::i64)).dtype(), DType::i64);
  EXPECT_EQ(clip(of(DType::i32), 0, 5).dtype(), DType::i32);
  EXPECT_EQ(clip(of(DType::i32), 0.5, 5).dtype(), DType::f32);
  EXPECT_EQ((of(DType::f16) + 1.5).dtype(), DType::f16);
  EXPECT_EQ((of(DType::i32) * 1.5).dtype(), DType::f32);
  EXPECT_EQ((of(DType::u8) - 1).dtype(), DType::u8);
}

TEST(ElementwiseBuilders, ShapesBroadcast) {
  EXPECT_EQ(add(of(DType::f32, {3, 1}), of(DType::f32, {4})).shape(), Shape({3, 4}));
  EXPECT_EQ(add(of(DType::f32), of(DType::f32, {0, 2})).shape(), Shape({0, 2}));
  EXPECT_EQ(select(of(DType::u8, {2, 1}), of(DType::f32), of(DType::f32, {3})).shape(), Shape({2, 3}));
  EXPECT_EQ(clip(of(DType::f32, {2, 3}), of(DType::f32), of(DType::f32, {3})).shape(), Shape({2, 3}));
}

TEST(ElementwiseBuilders, WhatChangesNothingAddsNoNode) {
  const Tensor x = of(DType::f32), i = of(DType::u8);
  EXPECT_EQ(graph::pointer_of(as_type(x, DType::f32)), graph::pointer_of(x));
  EXPECT_EQ(graph::pointer_of(floor(i)), graph::pointer_of(i));
  EXPECT_EQ(graph::pointer_of(abs(i)), graph::pointer_of(i));
  EXPECT_EQ(graph::pointer_of(real(x)), graph::pointer_of(x));
  EXPECT_EQ(graph::pointer_of(pow(x, 1)), graph::pointer_of(x));
  EXPECT_EQ(graph::node_of(pow(x, 2)).op, Op::multiply);
  EXPECT_EQ(graph::node_of(pow(x, 2.5)).op, Op::pow);
}

void expect_error(const std::function<void()>& call, const std::string& message) {
  try {
    call();
    ADD_FAILURE() << "expected an error: " << message;
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), message);
  }
}

TEST(ElementwiseBuilders, ErrorsNameTheOperand) {
  expect_error([] { add(of(DType::f32, {3}), of(DType::f32, {4})); },
               "[add] b: expected a shape that broadcasts with [3], got [4]");
  expect_error([] { add(Tensor(), of(DType::f32)); }, "[add] a: expected a tensor, got none");
  expect_error([] { less(of(DType::c64), of(DType::c64)); },
               "[less] a: expected an integer or float type, got c64");
  expect_error([] { quotient(of(DType::f32), of(DType::i32)); },
               "[quotient] a: expected an integer type, got f32");
  expect_error([] { erf(of(DType::c64)); }, "[erf] x: expected a float type, got c64");
  expect_error([] { bitcast(of(DType::f32), DType::u16); },
               "[bitcast] type: expected a type as wide as f32, got u16");
  expect_error([] { bitcast(of(DType::c64), DType::u64); },
               "[bitcast] x: expected an integer or float type, got c64");
  expect_error([] { adit::complex(of(DType::f32), of(DType::c64)); },
               "[complex] imag: expected an integer or float type, got c64");
  expect_error([] { clip(of(DType::c64), 0, 1); }, "[clip] x: expected an integer or float type, got c64");
  expect_error([] { select(of(DType::u8, {2}), of(DType::f32), of(DType::f32, {3})); },
               "[select] on_false: expected a shape that broadcasts with [2], got [3]");
  const Tensor word = of(DType::u32);
  expect_error(
      [&] {
        make(Op::threefry, {word, word, word, word}, Which{2});
      },
      "[threefry] word: expected 0 to 1, got 2");
}

// A gradient has its operand's type and shape, for every type that the row takes.
TEST(ElementwiseRows, GradientsFitTheirOperands) {
  int checked = 0;
  for (const graph::Row& row : graph::table()) {
    if (row.kind != graph::Kind::elementwise || !row.vjp) continue;
    for (int t = 0; t < dtype_count; ++t) {
      const auto type = static_cast<DType>(t);
      std::vector<Tensor> operands(static_cast<size_t>(row.arity), of(type, {2, 3}));
      graph::Attributes attributes;
      if (row.op == Op::as_type) attributes = Which{static_cast<int>(DType::c64)};
      if (row.op == Op::bitcast || row.op == Op::threefry || row.op == Op::philox) continue;
      Tensor result;
      try {
        result = make(row.op, operands, attributes);
      } catch (const Error&) {
        continue;  // a type that the row refuses
      }
      const std::vector<Tensor> gradients = row.vjp(result, operands, of(result.dtype(), {2, 3}));
      ASSERT_EQ(gradients.size(), operands.size()) << row.name;
      for (const Tensor& g : gradients) {
        if (!g) continue;
        EXPECT_EQ(g.dtype(), type) << row.name << " of " << name_of(type);
        EXPECT_EQ(g.shape(), Shape({2, 3})) << row.name;
        ++checked;
      }
    }
  }
  EXPECT_GT(checked, 200);
}

TEST(ElementwiseRows, EveryOneIsWhole) {
  for (int op = static_cast<int>(Op::negate); op <= static_cast<int>(Op::philox); ++op) {
    const graph::Row& row = graph::row_of(static_cast<Op>(op));
    EXPECT_EQ(static_cast<int>(row.op), op);
    EXPECT_EQ(row.kind, graph::Kind::elementwise) << row.name;
    EXPECT_TRUE(row.type && row.shape && row.scalar && row.cost > 0) << row.name;
    EXPECT_FALSE(row.types.empty() || row.doc.empty()) << row.name;
    EXPECT_TRUE(row.vjp || row.op == Op::trigamma) << row.name;
  }
}

}  // namespace
}  // namespace adit::test
