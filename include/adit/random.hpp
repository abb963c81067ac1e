// Random numbers as graphs: a key goes in, numbers come out, and the same key gives the same numbers on every
// device.
//
//   Tensor key = random::key(42);
//   Tensor keys = random::split(key);               // two new keys
//   Tensor z = random::normal(random::row(keys, 0), {1000});
//
// A key is u32[2] and is used once; split or fold_in make more of it. Keys, bits, uniform and randint have
// the bits of Nx.Random's functions that end in `_split`; normal and gumbel follow them to the error of
// erf_inv and log. An Nx function without `_split` splits first: it is draw(key, f), whose key is the one to
// go on with.
#pragma once

#include <utility>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit::random {

Tensor key(uint64_t seed);
Tensor split(const Tensor& key, int64_t parts = 2);     // [parts, 2]
Tensor row(const Tensor& keys, int64_t number);         // one key of [parts, 2]
Tensor fold_in(const Tensor& key, uint64_t data);       // a key for a number: a chain, a step, a layer
Tensor fold_in(const Tensor& key, const Tensor& data);  // of integers: keys [data's shape, 2]

struct Draw {
  Tensor value, key;
};
// The value from the second of two new keys, and the first to go on with, as Nx does.
template <class F>
Draw draw(const Tensor& key, F f) {
  const Tensor keys = split(key);
  return {f(row(keys, 1)), row(keys, 0)};
}

// All bits random: u8, u16, u32 or u64.
Tensor bits(const Tensor& key, const Shape& shape, DType type = DType::u32);
// From [low, high): a float, or a complex number with both parts from there.
Tensor uniform(const Tensor& key, const Shape& shape, double low = 0, double high = 1,
               DType type = DType::f32);
Tensor normal(const Tensor& key, const Shape& shape, double mean = 0, double deviation = 1,
              DType type = DType::f32);
// Whole numbers from [low, high). The bias is below (high - low) / 2^bits of the type, as in Nx and JAX.
Tensor randint(const Tensor& key, const Shape& shape, int64_t low, int64_t high, DType type = DType::i32);
Tensor gumbel(const Tensor& key, const Shape& shape, DType type = DType::f32);
Tensor exponential(const Tensor& key, const Shape& shape, double rate = 1, DType type = DType::f32);
// 1 with probability p, else 0, as u8; p broadcasts to the shape.
Tensor bernoulli(const Tensor& key, const Tensor& p, const Shape& shape);
Tensor bernoulli(const Tensor& key, double p, const Shape& shape);
// Shape alpha > 0, scale 1; alpha is a float and broadcasts to the shape. Marsaglia and Tsang's method with
// ten proposals: each is taken with probability above 0.95, so that none is with one below 1e-13; such a draw
// becomes the middle of the distribution.
Tensor gamma(const Tensor& key, const Tensor& alpha, const Shape& shape);
// Places along `axis`, each with probability proportional to exp(logits).
Tensor categorical(const Tensor& key, const Tensor& logits, int axis = -1);
// The numbers 0 .. n - 1 in random order, i64. Up to 4,096 of them: the ranks of random numbers of 64 bits.
// Beyond: a Feistel network of ten rounds of threefry, a bijection of the numbers below a power of two,
// walked until it arrives below n; not every order can come up, but none is preferred in a way that could be
// seen.
Tensor permutation(const Tensor& key, int64_t n);
// The slices of x along an axis in random order.
Tensor permutation(const Tensor& key, const Tensor& x, int axis = 0);

// Our own streams: the u32 at a place depends on seed, counter, word (0 to 3) and the place's row-major
// number alone, not on the shape. Philox 4x32 with 10 rounds.
Tensor stream(uint64_t seed, uint64_t counter, const Shape& shape, int word = 0);

}  // namespace adit::random
#pragma GCC visibility pop
