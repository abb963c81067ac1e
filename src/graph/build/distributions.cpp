// Distributions and orders made of the basic draws, and streams of our own.
#include <bit>

#include <adit/control.hpp>

#include "graph/build/arguments.hpp"
#include "graph/build/random.hpp"
#include "graph/op.hpp"

namespace adit::random {

using graph::constant_integer;
using graph::fail;

namespace {

Tensor constant_like(const Tensor& x, double number) { return graph::constant(x.dtype(), number); }

void expect_floats(std::string_view op, std::string_view argument, const Tensor& x) {
  graph::expect_tensor(op, argument, x);
  if (!is_float(x.dtype())) fail(op, argument, fmt::format("expected a float, got {}", name_of(x.dtype())));
}

}  // namespace

Tensor exponential(const Tensor& key, const Shape& shape, double rate, DType type) {
  expect_key("exponential", key);
  if (!is_float(type)) fail("exponential", "type", fmt::format("expected a float, got {}", name_of(type)));
  if (!(rate > 0)) fail("exponential", "rate", fmt::format("expected above 0, got {}", rate));
  const Tensor x = negate(log1p(negate(uniform(key, shape, 0, 1, type))));
  return rate == 1 ? x : divide(x, full({}, rate, type));
}

Tensor bernoulli(const Tensor& key, const Tensor& p, const Shape& shape) {
  expect_key("bernoulli", key);
  expect_floats("bernoulli", "p", p);
  return less(uniform(key, shape, 0, 1, p.dtype()), broadcast_to(p, shape));
}

Tensor bernoulli(const Tensor& key, double p, const Shape& shape) {
  return bernoulli(key, full({}, p, DType::f32), shape);
}

// With d = alpha - 1/3 and c = 1 / sqrt(9 d), d v for v = (1 + c x)^3, x normal, is taken where
// log u < x^2 / 2 + d (1 - v + log v). Below alpha = 1: a draw for alpha + 1, times u^(1 / alpha).
Tensor gamma(const Tensor& key, const Tensor& alpha, const Shape& shape) {
  expect_key("gamma", key);
  expect_floats("gamma", "alpha", alpha);
  constexpr int64_t proposals = 10;
  const Tensor keys = split(key, 3), given = broadcast_to(alpha, shape);
  const DType type = alpha.dtype();
  Shape all = shape;
  all.insert(0, proposals);

  const Tensor is_small = less(given, constant_like(given, 1));
  const Tensor d =
      add(given, select(is_small, constant_like(given, 2.0 / 3), constant_like(given, -1.0 / 3)));
  const Tensor c = rsqrt(multiply(d, constant_like(d, 9)));
  const Tensor x = normal(row(keys, 0), all, 0, 1, type), u = uniform(row(keys, 1), all, 0, 1, type);
  const Tensor root = add(multiply(x, c), constant_like(x, 1)), v = multiply(square(root), root);
  const Tensor log_v = log(select(greater(v, constant_like(v, 0)), v, constant_like(v, 1)));
  const Tensor bound = add(multiply(square(x), constant_like(x, 0.5)),
                           multiply(d, add(subtract(constant_like(v, 1), v), log_v)));
  const Tensor is_taken = logical_and(greater(v, constant_like(v, 0)), less(log(u), bound));

  const Tensor first = argmax(is_taken, 0, true);
  const auto chosen = [&](const Tensor& of) { return reshape(take_along_axis(of, first, 0), shape); };
  const Tensor draw = select(chosen(is_taken), multiply(d, chosen(v)), d);
  // 1 - u, which is never 0
  const Tensor lift = subtract(constant_like(d, 1), uniform(row(keys, 2), shape, 0, 1, type));
  return select(is_small, multiply(draw, exp(divide(log(lift), given))), draw);
}

Tensor categorical(const Tensor& key, const Tensor& logits, int axis) {
  expect_key("categorical", key);
  expect_floats("categorical", "logits", logits);
  return argmax(add(logits, gumbel(key, logits.shape(), logits.dtype())), axis);
}

namespace {

// How many others are less, ties by place: ranks of random numbers are a random order.
Tensor ranked(const Tensor& key, int64_t n) {
  const Tensor random = bits(key, {n}, DType::u64);
  const Tensor across = broadcast_to(reshape(random, {n, 1}), {n, n}), down = broadcast_to(random, {n, n});
  const Tensor earlier = less(iota({n, n}, DType::i32, 1), iota({n, n}, DType::i32, 0));
  const Tensor below = logical_or(less(down, across), logical_and(equal(down, across), earlier));
  return as_type(sum(as_type(below, DType::i32), {1}), DType::i64);
}

// One walk through the network: the upper and the lower bits of x, changed by turns.
Tensor feistel(const Tensor& key, const Tensor& x, int upper_bits, int lower_bits) {
  constexpr int rounds = 10;
  const auto word = [](uint64_t number) {
    return constant_integer(DType::u32, static_cast<int64_t>(number));
  };
  const auto mask = [&](int bits) { return word((uint64_t{1} << bits) - 1); };
  Tensor upper = right_shift(x, word(static_cast<uint64_t>(lower_bits)));
  Tensor lower = bitwise_and(x, mask(lower_bits));
  for (uint64_t round = 0; round < rounds; ++round) {
    Tensor& changed = round % 2 ? lower : upper;
    const Tensor& other = round % 2 ? upper : lower;
    const Tensor mixed =
        graph::make(graph::Op::threefry,
                    {broadcast_to(word_of(key, 0), x.shape()), broadcast_to(word_of(key, 1), x.shape()),
                     other, broadcast_to(word(round), x.shape())},
                    graph::Which{0});
    changed = bitwise_xor(changed, bitwise_and(mixed, mask(round % 2 ? lower_bits : upper_bits)));
  }
  return bitwise_or(left_shift(upper, word(static_cast<uint64_t>(lower_bits))), lower);
}

Tensor walked(const Tensor& key, int64_t n) {
  const auto width = static_cast<int>(std::bit_width(static_cast<uint64_t>(n - 1)));
  const int lower = width / 2;
  const Tensor end = constant_integer(DType::u32, n);
  const auto outside = [&](const Tensor& x) { return greater_equal(x, end); };
  const Tensors result = while_loop(
      [&](const Tensors& x) { return any(outside(x[0])); },
      [&](const Tensors& x) {
        return Tensors{select(outside(x[0]), feistel(x[1], x[0], width - lower, lower), x[0]), x[1]};
      },
      {feistel(key, iota({n}, DType::u32), width - lower, lower), key});
  return as_type(result[0], DType::i64);
}

}  // namespace

Tensor permutation(const Tensor& key, int64_t n) {
  expect_key("permutation", key);
  constexpr int64_t most_ranked = 4096;
  if (n < 0 || n > int64_t{1} << 31) fail("permutation", "n", fmt::format("expected 0 to 2^31, got {}", n));
  return n <= most_ranked ? ranked(key, n) : walked(key, n);
}

Tensor permutation(const Tensor& key, const Tensor& x, int axis) {
  graph::expect_tensor("permutation", "x", x);
  const int along = graph::normal_axis("permutation", axis, x.rank());
  return take(x, permutation(key, x.dim(along)), along);
}

Tensor stream(uint64_t seed, uint64_t counter, const Shape& shape, int word) {
  graph::expect_shape("stream", shape);
  const int64_t count = element_count(shape);
  const auto half = [&](uint64_t number) {
    return full_integer({count}, static_cast<int64_t>(number & 0xffffffffu), DType::u32);
  };
  const Tensor place = iota({count}, DType::u64);
  const Tensor high = as_type(right_shift(place, constant_integer(DType::u64, 32)), DType::u32);
  const Tensor random = graph::make(
      graph::Op::philox,
      {half(seed), half(seed >> 32), as_type(place, DType::u32), high, half(counter), half(counter >> 32)},
      graph::Which{word});
  return reshape(random, shape);
}

}  // namespace adit::random
