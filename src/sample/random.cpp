#include "sample/random.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <adit/kernel/math.hpp>

#include "graph/rows/random.hpp"
#include "kernel/math/f32/internal.hpp"

namespace adit::sampling {

namespace {

// The trials of a search share an iteration: they are told apart in the upper half of the place.
constexpr uint32_t trial_shift = 20;

}  // namespace

std::array<Value, 4> Stream::bits(Purpose purpose, Value iteration, Value place) const {
  return bits(chain_.index(static_cast<int64_t>(purpose)), iteration, place);
}

std::array<Value, 4> Stream::bits(Value purpose, Value iteration, Value place) const {
  return graph::philox(seed_, {place, iteration, purpose, number_});
}

Value Stream::uniform(const std::array<Value, 4>& bits, int which) const {
  if (chain_.real() == Type::f32)
    return convert(bits[static_cast<size_t>(which)] >> 8, Type::f32) * chain_.number(0x1p-24);
  const auto at = static_cast<size_t>(2 * which);
  const Value high = convert(bits[at] >> 5, Type::f64), low = convert(bits[at + 1] >> 6, Type::f64);
  return fma(high, high.like(0x1p26), low) * chain_.number(0x1p-53);
}

namespace {

// log x for x in [2^-24, 1], where nothing is special.
Value log_of_unit(Value x) {
  if (x.type() == Type::f64) return kernel::log(x);
  constexpr int32_t sqrt_half_bits = 0x3f3504f3;
  const Value above = bitcast(x, Type::i32) - sqrt_half_bits;
  const Value fraction = bitcast((above & 0x7fffff) + sqrt_half_bits, Type::f32) - 1;
  return fma(convert(above >> 23, Type::f32), std::numbers::ln2, fraction + kernel::f32::log_tail(fraction));
}

// cos(2 pi u) and sin(2 pi u) for u in [0, 1): the nearest quarter turn is taken off, and the rest, at most
// an eighth of a turn, goes through the series. No argument needs more care than that here.
std::array<Value, 2> unit_circle(Value u) {
  const bool wide = u.type() == Type::f64;
  const Value quarters = floor(fma(u, 4.0, 0.5)), x = fma(u, 4.0, -quarters) * (std::numbers::pi / 2);
  const Value square = x * x;
  const auto series = [&](int first,
                          int terms) {  // of (-1)^k x^(2 k + first) / (2 k + first)!, without x^first
    double factor = 1;
    std::vector<double> coefficients;
    for (int k = 0; k < terms; ++k) {
      coefficients.push_back(k % 2 ? -factor : factor);
      factor /= (2.0 * k + first + 1) * (2.0 * k + first + 2);
    }
    Value sum = square.like(coefficients.back());
    for (int k = terms - 2; k >= 0; --k)
      sum = fma(sum, square, square.like(coefficients[static_cast<size_t>(k)]));
    return sum;
  };
  const Value cosine = series(0, wide ? 10 : 6), sine = series(1, wide ? 9 : 5) * x;
  const Value turn = convert_in_range(quarters, Type::u32);
  const Value is_odd = (turn & 1) != turn.like(0);
  const Value c = select(is_odd, sine, cosine), s = select(is_odd, cosine, sine);
  // Quarter turns 1 and 2 turn the cosine's sign, 2 and 3 the sine's.
  const Value first = ((turn + 1) & 2) != turn.like(0), second = (turn & 2) != turn.like(0);
  return {select(first, -c, c), select(second, -s, s)};
}

}  // namespace

// Box and Muller's pairs: the first takes the cosine, the second the sine.
std::vector<Value> Stream::normals(Value purpose, Value iteration, Value trial, Value i) const {
  const auto four = bits(purpose, iteration, (trial << trial_shift) + i);
  std::vector<Value> normals;
  for (int pair = 0; pair < static_cast<int>(normals_a_call() / 2); ++pair) {
    const Value radius = sqrt_device(log_of_unit(1 - uniform(four, 2 * pair)) * -2);
    const auto [cosine, sine] = unit_circle(uniform(four, 2 * pair + 1));
    normals.push_back(radius * cosine);
    normals.push_back(radius * sine);
  }
  return normals;
}

std::array<uint32_t, 4> HostStream::bits(Purpose purpose, uint32_t iteration, uint32_t place) const {
  std::array<uint32_t, 4> count{place, iteration, static_cast<uint32_t>(purpose), chain};
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * count[0], second = uint64_t{0xCD9E8D57u} * count[2];
    count = {static_cast<uint32_t>(second >> 32) ^ count[1] ^ k0, static_cast<uint32_t>(second),
             static_cast<uint32_t>(first >> 32) ^ count[3] ^ k1, static_cast<uint32_t>(first)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return count;
}

double HostStream::uniform(const std::array<uint32_t, 4>& bits, int which) const {
  if (!wide) return (bits[static_cast<size_t>(which)] >> 8) * 0x1p-24;
  const auto at = static_cast<size_t>(2 * which);
  return ((bits[at] >> 5) * 0x1p26 + (bits[at + 1] >> 6)) * 0x1p-53;
}

double HostStream::normal(Purpose purpose, uint32_t iteration, uint32_t trial, uint32_t i) const {
  const uint32_t width = normals_a_call(wide ? Type::f64 : Type::f32);
  const auto four = bits(purpose, iteration, (trial << trial_shift) + i / width);
  const int pair = static_cast<int>(i % width / 2);
  const double radius = std::sqrt(-2 * std::log(1 - uniform(four, 2 * pair)));
  const double angle = uniform(four, 2 * pair + 1) * (2 * std::numbers::pi);
  return radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace adit::sampling
