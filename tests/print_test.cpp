// Texts of tensors. What is expected is NumPy 1.24's own output for the same arrays, but for the name and the
// type.
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <sstream>

#include <adit/tensor.hpp>

#include "devices.hpp"
#include "io/half.hpp"
#include "io/print_layout.hpp"

namespace adit::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(),
                 nan = std::numeric_limits<double>::quiet_NaN();

std::vector<double> counted(int count, int modulus = 1 << 30) {
  std::vector<double> values;
  for (int i = 0; i < count; i++) values.push_back(i % modulus);
  return values;
}

uint16_t nearest_half(double value) {
  uint16_t best = 0;
  for (int bits = 0; bits < 0x7c00; bits++)
    if (std::abs(half_value(static_cast<uint16_t>(bits)) - value) < std::abs(half_value(best) - value))
      best = static_cast<uint16_t>(bits);
  return best;
}

template <class T>
void append(std::vector<std::byte>& to, T value) {
  const auto* first = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), first, first + sizeof value);
}

// Numbers as elements; a complex element takes two.
std::vector<std::byte> elements(DType type, const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  for (const double value : values) switch (real_of(type)) {
      case DType::u8: append(bytes, static_cast<uint8_t>(value)); break;
      case DType::i8: append(bytes, static_cast<int8_t>(value)); break;
      case DType::i32: append(bytes, static_cast<int32_t>(value)); break;
      case DType::i64: append(bytes, static_cast<int64_t>(value)); break;
      case DType::f16: append(bytes, nearest_half(value)); break;
      case DType::f32: append(bytes, static_cast<float>(value)); break;
      default: append(bytes, value);
    }
  return bytes;
}

struct Case {
  std::string name;
  DType type;
  Shape shape;
  std::vector<double> values;
  std::string text;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"Scalar", DType::f32, {}, {1.5}, "tensor(1.5, f32)"},
      {"ScalarInteger", DType::u8, {}, {7}, "tensor(7, u8)"},
      {"Vector", DType::f32, {3}, {1, 2.5, -3}, "tensor([ 1. ,  2.5, -3. ], f32)"},
      {"Matrix",
       DType::f32,
       {2, 2},
       {1, 2, 3, 4},
       "tensor([[1., 2.],\n"
       "        [3., 4.]], f32)"},
      {"Integers",
       DType::i32,
       {2, 3},
       {1, -20, 300, 4, 5, 6},
       "tensor([[  1, -20, 300],\n"
       "        [  4,   5,   6]], i32)"},
      {"LargeIntegers",
       DType::i64,
       {2},
       {-9007199254740992, 1},
       "tensor([-9007199254740992,                 1], i64)"},
      {"Booleans", DType::u8, {4}, {1, 0, 0, 1}, "tensor([1, 0, 0, 1], u8)"},
      {"OneElement", DType::f64, {1, 1, 1}, {0.1}, "tensor([[[0.1]]], f64)"},
      {"ShortestF32", DType::f32, {2}, {0.1, 0.3333333333333333}, "tensor([0.1       , 0.33333334], f32)"},
      {"ShortestF16",
       DType::f16,
       {3},
       {0.1, 0.3333333333333333, 1.5},
       "tensor([0.1   , 0.3333, 1.5   ], f16)"},
      {"EightDigits",
       DType::f64,
       {2},
       {0.3333333333333333, 0.6666666666666666},
       "tensor([0.33333333, 0.66666667], f64)"},
      {"TieToEven", DType::f64, {1}, {0.001953125}, "tensor([0.00195312], f64)"},
      {"RatioOfThousand", DType::f64, {2}, {1, 1000}, "tensor([   1., 1000.], f64)"},
      {"RatioAboveThousand", DType::f64, {2}, {1, 1001}, "tensor([1.000e+00, 1.001e+03], f64)"},
      {"Small", DType::f64, {2}, {1e-05, 1}, "tensor([1.e-05, 1.e+00], f64)"},
      {"Large", DType::f64, {2}, {100000000.0, 25000000.0}, "tensor([1.0e+08, 2.5e+07], f64)"},
      {"LongExponents", DType::f64, {2}, {1e-300, 1.5}, "tensor([1.0e-300, 1.5e+000], f64)"},
      {"DigitsBeyondShortest",
       DType::f32,
       {2},
       {0.1, 123456.79},
       "tensor([1.0000000e-01, 1.2345679e+05], f32)"},
      {"WholeF32", DType::f32, {2}, {99999992, 99999904}, "tensor([99999992., 99999904.], f32)"},
      {"NegativeZero", DType::f32, {2}, {-0.0, 0}, "tensor([-0.,  0.], f32)"},
      {"NotFinite", DType::f32, {4}, {1, nan, inf, -inf}, "tensor([  1.,  nan,  inf, -inf], f32)"},
      {"OnlyNan", DType::f64, {2}, {nan, nan}, "tensor([nan, nan], f64)"},
      {"InfWide", DType::f64, {2}, {inf, 10000000000.0}, "tensor([   inf, 1.e+10], f64)"},
      {"Complex", DType::c64, {2}, {1, 2, -3.25, -0.5}, "tensor([ 1.  +2.j , -3.25-0.5j], c64)"},
      {"ComplexNotFinite", DType::c128, {2}, {nan, -inf, 1, 2.5}, "tensor([nan-infj,  1.+2.5j], c128)"},
      {"ComplexScientific",
       DType::c128,
       {2},
       {1e-09, 1, 1, 10000000000.0},
       "tensor([1.e-09+1.e+00j, 1.e+00+1.e+10j], c128)"},
      {"Empty", DType::f32, {0}, {}, "tensor([], f32)"},
      {"EmptyMatrix", DType::f32, {0, 3}, {}, "tensor([], shape=[0, 3], f32)"},
      {"Cube",
       DType::i8,
       {2, 2, 2},
       {0, 1, 2, 3, 4, 5, 6, 7},
       "tensor([[[0, 1],\n"
       "         [2, 3]],\n"
       "\n"
       "        [[4, 5],\n"
       "         [6, 7]]], i8)"},
      {"WrappedLine",
       DType::f64,
       {14},
       {1.0, 1.125, 1.25, 1.375, 1.5, 1.625, 1.75, 1.875, 2.0, 2.125, 2.25, 2.375, 2.5, 2.625},
       "tensor([1.   , 1.125, 1.25 , 1.375, 1.5  , 1.625, 1.75 , 1.875, 2.   ,\n"
       "        2.125, 2.25 , 2.375, 2.5  , 2.625], f64)"},
      {"LineThatIsFull",
       DType::i32,
       {1, 14},
       {100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113},
       "tensor([[100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112,\n"
       "         113]], i32)"},
      {"TypeOnItsOwnLine",
       DType::i64,
       {12},
       {110000, 110000, 110000, 110000, 110000, 110000, 110000, 110000, 110000, 110000, 110000, 1},
       "tensor([110000, 110000, 110000, 110000, 110000, 110000, 110000, 110000,\n"
       "        110000, 110000, 110000,      1], i64)"},
      {"Summary",
       DType::i32,
       {1001},
       counted(1001),
       "tensor([   0,    1,    2, ...,  998,  999, 1000], i32)"},
      {"NoSummary",
       DType::u8,
       {2, 3},
       {1, 1, 1, 1, 1, 1},
       "tensor([[1, 1, 1],\n"
       "        [1, 1, 1]], u8)"},
      {"SummaryOfRows",
       DType::f32,
       {200, 8},
       counted(1600, 7),
       "tensor([[0., 1., 2., ..., 5., 6., 0.],\n"
       "        [1., 2., 3., ..., 6., 0., 1.],\n"
       "        [2., 3., 4., ..., 0., 1., 2.],\n"
       "        ...,\n"
       "        [1., 2., 3., ..., 6., 0., 1.],\n"
       "        [2., 3., 4., ..., 0., 1., 2.],\n"
       "        [3., 4., 5., ..., 1., 2., 3.]], f32)"},
  };
  return list;
}

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class Printed : public testing::TestWithParam<Case> {};

TEST_P(Printed, AsNumPy) {
  const Case& c = GetParam();
  EXPECT_EQ(print({c.type, c.shape, elements(c.type, c.values)}), c.text);
}

INSTANTIATE_TEST_SUITE_P(Print, Printed, testing::ValuesIn(cases()), name_of_case);

std::string bfloat(uint16_t bits) { return print({DType::bf16, {}, std::as_bytes(std::span(&bits, 1))}); }

TEST(Print, FewestDigitsOfBfloat) {
  EXPECT_EQ(bfloat(0x3dcd), "tensor(0.1, bf16)");
  EXPECT_EQ(bfloat(0x3f80), "tensor(1., bf16)");
  EXPECT_EQ(bfloat(0x7f7f), "tensor(3.39e+38, bf16)");
  EXPECT_EQ(bfloat(0x0001), "tensor(9.e-41, bf16)");
  EXPECT_EQ(bfloat(0x461c), "tensor(9984., bf16)");  // 1e4 would do, but whole numbers are whole
}

TEST(Print, AllUnsignedAndWideIntegers) {
  const uint16_t a = 65535;
  const uint32_t b = 4294967295;
  const uint64_t c = 18446744073709551615u;
  const int16_t d = -32768;
  EXPECT_EQ(print({DType::u16, {}, std::as_bytes(std::span(&a, 1))}), "tensor(65535, u16)");
  EXPECT_EQ(print({DType::u32, {}, std::as_bytes(std::span(&b, 1))}), "tensor(4294967295, u32)");
  EXPECT_EQ(print({DType::u64, {}, std::as_bytes(std::span(&c, 1))}), "tensor(18446744073709551615, u64)");
  EXPECT_EQ(print({DType::i16, {}, std::as_bytes(std::span(&d, 1))}), "tensor(-32768, i16)");
}

TEST(Print, NoTensor) { EXPECT_EQ(Tensor().to_string(), "tensor()"); }

class TensorText : public testing::TestWithParam<std::string> {};

TEST_P(TensorText, IsThatOfItsValue) {
  const Tensor x = tensor(std::vector<float>{1, 2, 3, 4}, {2, 2}, Device::open(GetParam()));
  EXPECT_EQ(x.to_string(), "tensor([[1., 2.],\n        [3., 4.]], f32)");
  std::ostringstream out;
  out << x;
  EXPECT_EQ(out.str(), x.to_string());
}

INSTANTIATE_TEST_SUITE_P(Devices, TensorText, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
