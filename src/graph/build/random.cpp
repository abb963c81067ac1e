// Keys, bits and the draws that Nx.Random has too, with its bits.
//
// The counters of n words are 0 .. n - 1, cut in two halves; word i and word i + half come from one block. An
// odd n has a half of (n + 1) / 2 and a zero at the end.
#include "graph/build/random.hpp"

#include <bit>
#include <cmath>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"

namespace adit::random {

using graph::constant_integer;
using graph::fail;
using graph::Op;
using graph::Which;

void expect_key(std::string_view op, const Tensor& key) {
  graph::expect_tensor(op, "key", key);
  if (key.dtype() != DType::u32 || key.shape() != Shape{2})
    fail(op, "key", fmt::format("expected u32 [2], got {} {}", name_of(key.dtype()), to_string(key.shape())));
}

Tensor word_of(const Tensor& key, int word) { return reshape(slice(key, {word}, {1}), {}); }

namespace {

Tensor word(int64_t number) { return constant_integer(DType::u32, number); }

// Both words of the block of a pair of counters.
std::pair<Tensor, Tensor> threefry(const Tensor& key, const Tensor& first, const Tensor& second) {
  const std::vector<Tensor> operands{broadcast_to(word_of(key, 0), first.shape()),
                                     broadcast_to(word_of(key, 1), first.shape()), first, second};
  return {graph::make(Op::threefry, operands, Which{0}), graph::make(Op::threefry, operands, Which{1})};
}

Tensor words(const Tensor& key, const Shape& shape) {
  const int64_t count = element_count(shape), half = (count + 1) / 2;
  const Tensor i = iota({count}, DType::u32);
  const Tensor is_first = less(i, word(half)), first = select(is_first, i, subtract(i, word(half)));
  Tensor second = add(first, word(half));
  if (count % 2 == 1) second = select(equal(second, word(count)), zeros_like(second), second);
  const auto [a, b] = threefry(key, first, second);
  return reshape(select(is_first, a, b), shape);
}

// 64 bits: the first word of a pair is the upper one.
Tensor wide_words(const Tensor& key, const Shape& shape) {
  const int64_t count = element_count(shape);
  const Tensor i = iota({count}, DType::u32);
  const auto [high, low] = threefry(key, i, add(i, word(count)));
  const Tensor bits = bitwise_or(left_shift(as_type(high, DType::u64), constant_integer(DType::u64, 32)),
                                 as_type(low, DType::u64));
  return reshape(bits, shape);
}

struct FloatFormat {
  DType bits;
  int fraction;
  int64_t one;                       // the bits of 1
  double above_minus_one, smallest;  // next to -1 as Nx takes it; the smallest normal number
};
FloatFormat format_of(DType type) {
  switch (type) {
    case DType::f64: return {DType::u64, 52, 0x3ff0000000000000, -1 + 0x1p-53, 0x1p-1022};
    case DType::f16: return {DType::u16, 10, 0x3c00, -1 + 0x1p-11, 0x1p-14};
    // Nx takes the neighbour in f16, which is -1 again in bf16.
    case DType::bf16: return {DType::u16, 7, 0x3f80, -1, 0x1p-126};
    default: return {DType::u32, 23, 0x3f800000, -1 + 0x1p-24, 0x1p-126};
  }
}

void expect_float(std::string_view op, DType type, bool or_complex) {
  if (!is_float(type) && !(or_complex && is_complex(type)))
    fail(op, "type",
         fmt::format("expected a float{}, got {}", or_complex ? " or complex" : "", name_of(type)));
}

// Complex numbers are drawn as pairs along a last axis.
template <class F>
Tensor float_or_complex(const Shape& shape, DType type, F f) {
  if (!is_complex(type)) return f(shape, type);
  Shape pairs = shape;
  pairs.push_back(2);
  const Tensor parts = f(pairs, real_of(type));
  const auto part = [&](int64_t which) {
    Dims starts = Dims::filled(pairs.size(), 0);
    starts[pairs.size() - 1] = which;
    Dims lengths = pairs;
    lengths[pairs.size() - 1] = 1;
    return reshape(slice(parts, starts, lengths), shape);
  };
  return complex(part(0), part(1));
}

Tensor scalar(double number, DType type) { return full({}, number, type); }

Tensor uniform_real(const Tensor& key, const Shape& shape, DType type, double low, double high) {
  const FloatFormat format = format_of(type);
  const auto shift = static_cast<int64_t>(size_of(type)) * 8 - format.fraction;
  const Tensor random = bits(key, shape, format.bits);
  const Tensor mantissa = right_shift(random, constant_integer(format.bits, shift));
  const Tensor in_one_to_two = bitcast(bitwise_or(mantissa, constant_integer(format.bits, format.one)), type);
  const Tensor unit = subtract(in_one_to_two, graph::constant(type, 1));
  if (low == 0 && high == 1) return unit;
  const Tensor from = scalar(low, type), to = scalar(high, type);
  return maximum(add(multiply(unit, subtract(to, from)), from), from);
}

}  // namespace

Tensor key(uint64_t seed) {
  const auto part = [](uint64_t bits) { return full_integer({1}, static_cast<int64_t>(bits), DType::u32); };
  return concatenate({part(seed >> 32), part(seed & 0xffffffffu)});
}

Tensor split(const Tensor& key, int64_t parts) {
  expect_key("split", key);
  if (parts < 0 || parts >= int64_t{1} << 30)  // the counters have 32 bits
    fail("split", "parts", fmt::format("expected at least 0 and fewer than 2^30, got {}", parts));
  return words(key, {parts, 2});
}

Tensor row(const Tensor& keys, int64_t number) {
  graph::expect_tensor("row", "keys", keys);
  if (keys.rank() != 2 || keys.dim(1) != 2 || number < 0 || number >= keys.dim(0))
    fail("row", "number",
         fmt::format("expected one of keys [parts, 2], got {} of {}", number, to_string(keys.shape())));
  return reshape(slice(keys, {number, 0}, {1, 2}), {2});
}

Tensor fold_in(const Tensor& key, uint64_t data) {
  return fold_in(key, full_integer({}, static_cast<int64_t>(data), DType::u64));
}

Tensor fold_in(const Tensor& key, const Tensor& data) {
  expect_key("fold_in", key);
  graph::expect_tensor("fold_in", "data", data);
  if (!is_integer(data.dtype()))
    fail("fold_in", "data", fmt::format("expected integers, got {}", name_of(data.dtype())));
  const Tensor wide = as_type(data, DType::u64);
  const Tensor high = as_type(right_shift(wide, constant_integer(DType::u64, 32)), DType::u32);
  const Tensor low = as_type(bitwise_and(wide, constant_integer(DType::u64, 0xffffffff)), DType::u32);
  const auto [a, b] = threefry(key, high, low);
  return stack({a, b}, -1);
}

Tensor bits(const Tensor& key, const Shape& shape, DType type) {
  expect_key("bits", key);
  graph::expect_shape("bits", shape);
  if (!is_unsigned(type)) fail("bits", "type", fmt::format("expected u8 to u64, got {}", name_of(type)));
  if (element_count(shape) >= int64_t{1} << 31)
    fail("bits", "shape", fmt::format("expected fewer than 2^31 elements, got {}", to_string(shape)));
  return type == DType::u64 ? wide_words(key, shape) : as_type(words(key, shape), type);
}

Tensor uniform(const Tensor& key, const Shape& shape, double low, double high, DType type) {
  expect_key("uniform", key);
  expect_float("uniform", type, true);
  return float_or_complex(
      shape, type, [&](const Shape& all, DType real) { return uniform_real(key, all, real, low, high); });
}

Tensor normal(const Tensor& key, const Shape& shape, double mean, double deviation, DType type) {
  expect_key("normal", key);
  expect_float("normal", type, true);
  return float_or_complex(shape, type, [&](const Shape& all, DType real) {
    const Tensor u = uniform_real(key, all, real, format_of(real).above_minus_one, 1);
    const Tensor z = multiply(scalar(std::sqrt(2.0), real), erf_inv(u));
    if (mean == 0 && deviation == 1) return z;
    return add(multiply(scalar(deviation, real), z), scalar(mean, real));
  });
}

// Two draws of the type's bits, of which the first is worth 2^bits: less bias than one.
Tensor randint(const Tensor& key, const Shape& shape, int64_t low, int64_t high, DType type) {
  expect_key("randint", key);
  graph::expect_shape("randint", shape);
  if (!is_integer(type)) fail("randint", "type", fmt::format("expected an integer, got {}", name_of(type)));
  if (low >= high) fail("randint", "high", fmt::format("expected above low, {}, got {}", low, high));
  const uint32_t width = size_of(type) * 8;
  const auto unsigned_type = static_cast<DType>(std::countr_zero(size_of(type)));
  const uint64_t mask = width == 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const uint64_t span = (static_cast<uint64_t>(high) - static_cast<uint64_t>(low)) & mask;
  if (span == 0)
    fail("randint", "high",
         fmt::format("expected a span that {} holds, got {} to {}", name_of(type), low, high));
  const uint64_t root = (uint64_t{1} << (width / 2)) % span, multiplier = root * root % span;

  const int64_t count = element_count(shape);
  const Tensor random = bits(key, {2, count}, unsigned_type);
  const auto half = [&](int64_t which) {
    return as_type(reshape(slice(random, {which, 0}, {1, count}), shape), DType::u64);
  };
  const auto number = [](uint64_t value) {
    return full_integer({}, static_cast<int64_t>(value), DType::u64);
  };
  const Tensor all = number(span);
  const Tensor upper = multiply(remainder(half(0), all), number(multiplier));
  const Tensor offset = remainder(add(upper, remainder(half(1), all)), all);
  return as_type(add(offset, number(static_cast<uint64_t>(low))), type);
}

Tensor gumbel(const Tensor& key, const Shape& shape, DType type) {
  expect_key("gumbel", key);
  expect_float("gumbel", type, false);
  return negate(log(negate(log(uniform_real(key, shape, type, format_of(type).smallest, 1)))));
}

}  // namespace adit::random
