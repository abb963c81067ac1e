// Every instruction and type, on every device, against the interpreter. Memory, control flow and teams:
// semantics_team_test.
#include <adit/kernel/builder.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

class Semantics : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Semantics, testing::ValuesIn(device_ids()), test_name);

// Values at the edges of a type, and some between; those that are or make subnormal f32 only where the device
// keeps them.
template <class T>
std::vector<T> edge_values(const Device& device) {
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    std::vector<T> v{0,
                     T(-0.0),
                     1,
                     -1,
                     T(0.5),
                     T(-0.5),
                     T(1.5),
                     T(2.5),
                     T(-2.5),
                     T(3.25),
                     T(1e10),
                     T(-1e10),
                     T(255.5),
                     T(-129),
                     T(65536.75),
                     L::max(),
                     L::lowest(),
                     T(1e-30),
                     L::infinity(),
                     -L::infinity(),
                     L::quiet_NaN(),
                     T(4294967296.0),
                     T(2147483648.0),
                     T(-2147483649.0),
                     T(9.3e18),
                     T(1.9e19)};
    if (sizeof(T) == 8 || device.limits().keeps_denormals)
      v.insert(v.end(), {L::min(), L::denorm_min(), -L::min() / 2, L::min() / 3});
    return v;
  } else {
    (void)device;
    using L = std::numeric_limits<T>;
    std::vector<T> v{0,
                     1,
                     2,
                     3,
                     5,
                     7,
                     10,
                     31,
                     64,
                     100,
                     L::max(),
                     static_cast<T>(L::max() - 1),
                     L::min(),
                     static_cast<T>(L::max() / 2),
                     static_cast<T>(L::max() / 3),
                     static_cast<T>(-1),
                     static_cast<T>(-2),
                     static_cast<T>(-7)};
    return v;
  }
}

// All pairs of edge values, as two buffers.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs(const Device& device) {
  std::vector<T> a, b;
  for (T x : edge_values<T>(device))
    for (T y : edge_values<T>(device)) {
      a.push_back(x);
      b.push_back(y);
    }
  return {a, b};
}

template <class T>
void binary(Device& device, const char* name, Type result, const std::function<Value(Value, Value)>& f,
            double tolerance = 0, double tiny = 0) {
  constexpr Type type = type_of<T>();
  Builder k(std::string(name) + "_" + std::string(name_of(type)), Team::one());
  const Array x = k.buffer("x", type, Access::read), y = k.buffer("y", type, Access::read),
              z = k.buffer("z", result, Access::write);
  const Value i = k.team();
  z[i] = f(x[i], y[i]);
  const auto [a, b] = pairs<T>(device);
  check_program(
      device, k.finish(), a.size(),
      {Input::buffer(a), Input::buffer(b), Input::buffer(std::vector<uint8_t>(a.size() * size_of(result)))},
      tolerance, tiny);
}

template <class T>
void integer_operations(Device& device) {
  constexpr Type t = type_of<T>();
  binary<T>(device, "add", t, [](Value a, Value b) { return a + b; });
  binary<T>(device, "sub", t, [](Value a, Value b) { return a - b; });
  binary<T>(device, "mul", t, [](Value a, Value b) { return a * b; });
  binary<T>(device, "div", t, [](Value a, Value b) { return a / b; });
  binary<T>(device, "div_constant", t, [](Value a, Value) { return a / 7; });
  binary<T>(device, "rem", t, [](Value a, Value b) { return a % b; });
  binary<T>(device, "neg", t, [](Value a, Value) { return -a; });
  binary<T>(device, "abs", t, [](Value a, Value) { return abs(a); });
  binary<T>(device, "min", t, [](Value a, Value b) { return min(a, b); });
  binary<T>(device, "and", t, [](Value a, Value b) { return a & b; });
  binary<T>(device, "or", t, [](Value a, Value b) { return a | b; });
  binary<T>(device, "xor", t, [](Value a, Value b) { return a ^ ~b; });
  binary<T>(device, "shift_left", t, [](Value a, Value b) { return a << b; });
  binary<T>(device, "shift_right", t, [](Value a, Value b) { return a >> b; });
  binary<T>(device, "bits", t,
            [](Value a, Value b) { return count_ones(a) + leading_zeros(b) * 2 + trailing_zeros(a) * 3; });
  binary<T>(device, "less", Type::boolean, [](Value a, Value b) { return a < b; });
  binary<T>(device, "less_equal", Type::boolean, [](Value a, Value b) { return a <= b; });
  binary<T>(device, "equal", Type::boolean, [](Value a, Value b) { return (a == b) ^ (a != b) ^ (a > b); });
}

TEST_P(Semantics, IntegersOf8Bits) {
  integer_operations<int8_t>(on());
  integer_operations<uint8_t>(on());
}
TEST_P(Semantics, IntegersOf16Bits) {
  integer_operations<int16_t>(on());
  integer_operations<uint16_t>(on());
}
TEST_P(Semantics, IntegersOf32Bits) {
  integer_operations<int32_t>(on());
  integer_operations<uint32_t>(on());
}
TEST_P(Semantics, IntegersOf64Bits) {
  integer_operations<int64_t>(on());
  integer_operations<uint64_t>(on());
}

// Small integers that were computed hold no more than their bits, whatever a register has beside them.
TEST_P(Semantics, SmallIntegersStaySmall) {
  binary<uint8_t>(on(), "inverted", Type::u8,
                  [](Value a, Value b) { return count_ones(~(a & b)) + leading_zeros(~a); });
  binary<uint8_t>(on(), "widened", Type::u32,
                  [](Value a, Value b) { return convert(~(a ^ b) * 3, Type::u32); });
  binary<int8_t>(on(), "widened", Type::i64,
                 [](Value a, Value b) { return convert(a * b - 100, Type::i64); });
  binary<uint16_t>(on(), "widened", Type::f32, [](Value a, Value b) { return convert(~(a + b), Type::f32); });
  binary<int16_t>(on(), "widened", Type::i32,
                  [](Value a, Value b) { return convert((a << b) + 1, Type::i32) >> 3; });
  binary<uint8_t>(on(), "halved", Type::u8, [](Value a, Value b) { return ((a + b) >> 1) / 3; });
}

TEST_P(Semantics, UpperHalfOfAProduct) {
  binary<uint32_t>(on(), "mul_high", Type::u32, [](Value a, Value b) { return mul_high(a, b); });
  binary<uint64_t>(on(), "mul_high", Type::u64, [](Value a, Value b) { return mul_high(a, b); });
}

template <class T>
void float_operations(Device& device) {
  constexpr Type t = type_of<T>();
  binary<T>(device, "add", t, [](Value a, Value b) { return a + b; });
  binary<T>(device, "sub", t, [](Value a, Value b) { return a - b; });
  binary<T>(device, "mul", t, [](Value a, Value b) { return a * b; });
  // Composed of exact pieces, an f64 fma is off by the least subnormal where a piece underflows.
  binary<T>(
      device, "fma", t, [](Value a, Value b) { return fma(a, b, a * 0.1); }, 0,
      device.limits().fused_fma || t == Type::f32 ? 0 : 1e-300);
  binary<T>(device, "neg", t, [](Value a, Value b) { return select(a < b, -a, abs(b)); });
  binary<T>(device, "floor", t, [](Value a, Value) { return floor(a); });
  binary<T>(device, "ceil", t, [](Value a, Value) { return ceil(a); });
  binary<T>(device, "trunc", t, [](Value a, Value) { return trunc(a); });
  binary<T>(device, "round_even", t, [](Value a, Value) { return round_even(a); });
  binary<T>(device, "min", t, [](Value a, Value b) { return min(a, b); });
  binary<T>(device, "max", t, [](Value a, Value b) { return max(a, b); });
  binary<T>(device, "is_nan", Type::boolean, [](Value a, Value b) { return is_nan(a + b); });
  binary<T>(device, "less", Type::boolean, [](Value a, Value b) { return a < b; });
  binary<T>(device, "less_equal", Type::boolean, [](Value a, Value b) { return a <= b; });
  binary<T>(device, "equal", Type::boolean, [](Value a, Value b) { return a == b; });
  binary<T>(device, "not_equal", Type::boolean, [](Value a, Value b) { return a != b; });
  // The device's own division and root: a few ULP, checked where no subnormal comes in.
  const double few = std::is_same_v<T, float> ? 4e-7 : 1e-15;
  binary<T>(
      device, "div", t,
      [](Value a, Value b) { return select(abs(a) < 1e20 && abs(b) < 1e5 && abs(b) > 1e-15, a / b, a); },
      few);
  binary<T>(
      device, "sqrt", t, [](Value a, Value) { return select(a > 1e-30 && a < 1e30, sqrt_device(a), a); },
      few);
}

TEST_P(Semantics, FloatsOf32Bits) { float_operations<float>(on()); }
TEST_P(Semantics, FloatsOf64Bits) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64 here";
  float_operations<double>(on());
}

template <class From>
void conversions(Device& device) {
  for (Type to : {Type::boolean, Type::i8, Type::i16, Type::i32, Type::i64, Type::u8, Type::u16, Type::u32,
                  Type::u64, Type::f32, Type::f64}) {
    constexpr Type from = type_of<From>();
    if (to == Type::f64 && !device.limits().float64) continue;
    Builder k("convert_" + std::string(name_of(from)) + "_" + std::string(name_of(to)), Team::one());
    const Array x = k.buffer("x", from, Access::read), z = k.buffer("z", to, Access::write);
    const Value i = k.team();
    z[i] = convert(x[i], to);
    const auto a = edge_values<From>(device);
    check_program(device, k.finish(), a.size(),
                  {Input::buffer(a), Input::buffer(std::vector<uint8_t>(a.size() * size_of(to)))});
  }
}

TEST_P(Semantics, Conversions) {
  conversions<int8_t>(on());
  conversions<uint8_t>(on());
  conversions<int16_t>(on());
  conversions<uint16_t>(on());
  conversions<int32_t>(on());
  conversions<uint32_t>(on());
  conversions<int64_t>(on());
  conversions<uint64_t>(on());
  conversions<float>(on());
  if (on().limits().float64) conversions<double>(on());
}

// Halves and bfloats against a rounding done in C++ with 64-bit integers.
TEST_P(Semantics, SmallFloats) {
  std::vector<float> x;
  for (uint32_t e = 0; e < 256; ++e)
    for (uint32_t m : {0u, 1u, 0xfffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu, 0x8000u, 0x8001u,
                       0x17fff0u, 0x180000u, 0x7fffffu}) {
      x.push_back(std::bit_cast<float>(e << 23 | m));
      x.push_back(-x.back());
    }
  for (Type small : {Type::f16, Type::bf16}) {
    Builder k("narrow_" + std::string(name_of(small)), Team::one());
    const Array in = k.buffer("x", Type::f32, Access::read), out = k.buffer("z", small, Access::write),
                back = k.buffer("b", Type::f32, Access::write);
    const Value i = k.team();
    const Value narrow = convert(in[i], small);
    out[i] = narrow;
    back[i] = convert(narrow, Type::f32);
    const auto got =
        run_on(on(), k.finish(), x.size(),
               {Input::buffer(x), Input::buffer(std::vector<uint16_t>(x.size())), Input::buffer(x)});
    int wrong = 0;
    for (size_t j = 0; j < x.size(); ++j) {
      uint16_t bits;
      float wide;
      std::memcpy(&bits, &got[1][j * 2], 2);
      std::memcpy(&wide, &got[2][j * 4], 4);
      const uint16_t want = static_cast<uint16_t>(bits_of_number(small, x[j]));
      const int fraction = small == Type::f16 ? 10 : 7, exponent = 15 - fraction;
      const int biased = bits >> fraction & ((1 << exponent) - 1), bias = (1 << (exponent - 1)) - 1;
      const bool nan = biased == (1 << exponent) - 1 && (bits & ((1 << fraction) - 1));
      const double meaning = nan                             ? NAN
                             : biased == (1 << exponent) - 1 ? INFINITY
                             : biased == 0 ? std::ldexp(bits & ((1 << fraction) - 1), 1 - bias - fraction)
                                           : std::ldexp((bits & ((1 << fraction) - 1)) + (1 << fraction),
                                                        biased - bias - fraction);
      const double sign = bits >> 15 ? -1 : 1;
      if (std::isnan(x[j]) ? !nan || !std::isnan(wide)
                           : bits != want || wide != static_cast<float>(sign * meaning)) {
        // A device that flushes subnormals may do so here too.
        if (!on().limits().keeps_denormals && std::fabs(x[j]) < 1.2e-38) continue;
        if (wrong++ < 5)
          ADD_FAILURE() << name_of(small) << " of " << x[j] << ": " << bits << " (" << wide << "), expected "
                        << want;
      }
    }
  }
}

// All halves from memory, one by one and in vectors, loaded in a loop.
TEST_P(Semantics, HalvesFromMemory) {
  if (!on().limits().storage16) GTEST_SKIP() << "no 16-bit values in memory";
  std::vector<uint16_t> all(65536);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  for (const int width : {1, 2, 4}) {
    Builder k("halves", Team::one());
    const Array in = k.buffer("x", Type::f16, Access::read), out = k.buffer("z", Type::f32, Access::write);
    const Value first = k.team() * 16u;
    k.for_(first, first + 16, first.like(width), [&](Value i) {
      const Value loaded = width == 1 ? in.load(i) : in.load_vector(i / static_cast<uint32_t>(width), width);
      for (int j = 0; j < width; ++j) out[i + j] = convert(width == 1 ? loaded : loaded[j], Type::f32);
    });
    const auto got = run_on(on(), k.finish(), all.size() / 16,
                            {Input::buffer(all), Input::buffer(std::vector<float>(all.size()))});
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      float wide;
      std::memcpy(&wide, &got[1][i * 4], 4);
      const auto exponent = static_cast<int>(i >> 10 & 31), fraction = static_cast<int>(i & 1023);
      const double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                               : exponent == 0 ? std::ldexp(fraction, -24)
                                               : std::ldexp(fraction + 1024, exponent - 25);
      const double want = i >> 15 ? -magnitude : magnitude;
      if (std::isnan(want) ? std::isnan(wide) : want == static_cast<double>(wide)) continue;
      if (wrong++ < 5) ADD_FAILURE() << "half " << i << " is " << wide << ", expected " << want;
    }
  }
}

// base + lane that passes the end of 32 bits inside a vector, then made wider.
TEST_P(Semantics, SumsThatWrap) {
  if (!on().limits().int64) GTEST_SKIP() << "no i64 here";
  Builder k("wraps", Team::one());
  const Array a = k.buffer("a", Type::i64, Access::write), b = k.buffer("b", Type::i64, Access::write);
  const Value i = k.team();
  a[i] = convert(convert(i, Type::i32) + 2147483603, Type::i64);
  b[i] = convert(i - 21, Type::i64) + convert(convert(i - 13, Type::i32), Type::i64);
  const Input out = Input::buffer(std::vector<int64_t>(100));
  check_program(on(), k.finish(), 100, {out, out});
}

}  // namespace
}  // namespace adit::test
