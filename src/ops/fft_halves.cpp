// Transforms of real numbers on a GPU: the butterfly that joins the transforms of even and odd places, which
// are the parts of half as many complex numbers (fft_host.hpp), and the way back.
#include "ops/fft_numbers.hpp"
#include "ops/fft_pass.hpp"

namespace adit::ops {

using namespace kernel;

HalfPair fft_half_pair(Complex a, Complex b, Value k, uint64_t n, bool back) {
  const Complex mirrored{b.re, -b.im}, sum = a + mirrored, difference = a - mirrored;
  const Complex turn = turned(k, n, a.re.type(), n / 4);
  const Complex by{turn.im * 0.5, turn.re * (back ? 0.5 : -0.5)};
  const Complex even{sum.re * 0.5, sum.im * 0.5}, odd = difference * by;
  return {even + odd, {even.re - odd.re, odd.im - even.im}};
}

FftLaunch fft_halves(Type type, uint64_t rows, uint64_t n, bool back, bool fused) {
  constexpr uint32_t lanes = 128;
  const uint64_t half = n / 2, pairs = half / 2 + 1, all = rows * pairs;
  const auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  const Type index_type = rows * (n + 2) >= uint64_t{1} << 30 ? Type::u64 : Type::u32;
  Builder k(back ? "fft_split" : "fft_join", Team::many(lanes));
  const Loose loose(k, fused);
  const Array from = k.buffer("x", type, Access::read), to = k.buffer("result", type, Access::write);
  const Value at = k.team(index_type) * number(lanes) + convert(k.lane(), index_type);
  k.if_(at < number(all), [&] {
    const Value row = at / number(pairs), place = at % number(pairs);
    const Value other = place.like(number(half)) - place, is_end = place == 0;
    const Value in = row * number(back ? half + 1 : half), out = row * number(back ? half : half + 1);
    Complex a = opened(from.load_vector(in + place, 2), false);
    Complex b = opened(from.load_vector(in + (back ? other : select(is_end, place, other)), 2), false);
    if (back) {  // of the ends only real parts count
      const Value zero = a.im.like(0);
      a.im = select(is_end, zero, a.im), b.im = select(is_end, zero, b.im);
    }
    const HalfPair made = fft_half_pair(a, b, place, n, back);
    to.store(out + place, packed(made.low));
    const auto store_high = [&] { to.store(out + other, packed(made.high)); };
    back ? k.if_(place != 0, store_high) : store_high();
  });
  return {k.finish(), (all + lanes - 1) / lanes};
}

}  // namespace adit::ops
