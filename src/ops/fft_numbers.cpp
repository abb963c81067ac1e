#include "ops/fft_numbers.hpp"

#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <span>
#include <utility>

#include "kernel/eighth_turn.hpp"

namespace adit::ops {

using namespace kernel;

Complex operator+(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
Complex operator-(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
// Loose arithmetic fuses no difference of products by itself, as equal ones must leave nothing; here they
// may.
Complex operator*(Complex a, Complex b) {
  if (a.re.builder().is_loose()) return {fma(-a.im, b.im, a.re * b.re), fma(a.im, b.re, a.re * b.im)};
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

Complex opened(Value pair, bool swap) { return {pair[swap ? 1 : 0], pair[swap ? 0 : 1]}; }
Complex closed(Complex x, bool swap, double scale) {
  if (swap) std::swap(x.re, x.im);
  return scale == 1 ? x : Complex{x.re * scale, x.im * scale};
}
Value packed(Complex x) { return x.re.builder().pack({x.re, x.im}); }

namespace small {
namespace {

using Numbers = std::vector<Complex>;

Complex times_minus_i(Complex x) { return {x.im, -x.re}; }

// exp(-2 pi i part / whole) x; eighths of a turn need no full product.
Complex turned_by(Complex x, size_t part, size_t whole) {
  part %= whole;
  if (8 * part % whole == 0) {
    size_t eighth = 8 * part / whole;
    if (eighth >= 4) x = {-x.re, -x.im};
    eighth %= 4;
    if (eighth >= 2) x = times_minus_i(x);
    if (eighth % 2 == 0) return x;
    const double half_root = std::numbers::sqrt2 / 2;
    return {(x.re + x.im) * half_root, (x.im - x.re) * half_root};
  }
  const double angle = -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole);
  return x * Complex{x.re.like(std::cos(angle)), x.re.like(std::sin(angle))};
}

Numbers two(const Numbers& x) { return {x[0] + x[1], x[0] - x[1]}; }

Numbers four(const Numbers& x) {
  const Complex a = x[0] + x[2], b = x[0] - x[2], c = x[1] + x[3], d = times_minus_i(x[1] - x[3]);
  return {a + c, b + d, a - c, b - d};
}

// Pairs x_j, x_(n-j) meet cosines by their sum and sines by their difference.
Numbers odd(const Numbers& x) {
  const size_t n = x.size();
  Numbers sums, differences, result(n);
  result[0] = x[0];
  for (size_t j = 1; j <= n / 2; ++j) {
    sums.push_back(x[j] + x[n - j]);
    differences.push_back(x[j] - x[n - j]);
    result[0] = result[0] + sums.back();
  }
  for (size_t k = 1; k <= n / 2; ++k) {
    Complex even = x[0], turn{};
    for (size_t j = 1; j <= n / 2; ++j) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(j * k % n) / static_cast<double>(n);
      const Value c = x[0].re.like(std::cos(angle)), s = x[0].re.like(std::sin(angle));
      const Complex sum = sums[j - 1], difference = differences[j - 1];
      even = {sum.re * c + even.re, sum.im * c + even.im};
      if (j == 1)
        turn = {difference.re * s, difference.im * s};
      else
        turn = {difference.re * s + turn.re, difference.im * s + turn.im};
    }
    result[k] = even + times_minus_i(turn);
    result[n - k] = even - times_minus_i(turn);
  }
  return result;
}

Numbers transform(const Numbers& x);

// The least number whose powers are all others below the prime n.
size_t generator_of(size_t n) {
  for (size_t g = 2;; ++g) {
    size_t power = g, order = 1;
    for (; power != 1; power = power * g % n) ++order;
    if (order == n - 1) return g;
  }
}

// The transform of exp(-2 pi i g^-m / n) over m, divided by its length.
std::vector<std::complex<double>> of_roots(size_t n, size_t g) {
  const size_t length = n - 1;
  std::vector<size_t> powers{1};
  while (powers.size() < length) powers.push_back(powers.back() * g % n);
  const auto turn = [](size_t part, size_t whole) {
    return std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole));
  };
  std::vector<std::complex<double>> result(length);
  for (size_t k = 0; k < length; ++k)
    for (size_t m = 0; m < length; ++m)
      result[k] += turn(powers[(length - m) % length], n) * turn(k * m % length, length);
  for (auto& each : result) each /= static_cast<double>(length);
  return result;
}

// Rader's way: in the order of powers of g the sums of a prime n are a circular convolution of n - 1 numbers,
// which needs hardly more registers than the numbers themselves have.
Numbers by_powers(const Numbers& x) {
  const size_t n = x.size(), g = generator_of(n);
  const std::vector<std::complex<double>> roots = of_roots(n, g);
  Numbers turned, result(n);
  std::vector<size_t> powers{1};
  while (powers.size() < n - 1) powers.push_back(powers.back() * g % n);
  for (const size_t power : powers) turned.push_back(x[power]);
  turned = transform(turned);
  result[0] = x[0] + turned[0];
  for (size_t k = 0; k < n - 1; ++k) {
    Complex c = turned[k] * Complex{x[0].re.like(roots[k].real()), x[0].re.like(roots[k].imag())};
    if (k == 0) c = c + x[0];
    turned[k] = {c.im, c.re};  // and back: parts that have changed places
  }
  turned = transform(turned);
  for (size_t k = 0; k < n - 1; ++k) result[powers[(n - 1 - k) % (n - 1)]] = {turned[k].im, turned[k].re};
  return result;
}

// Sums of longer primes, and what they are of, would not lie in registers at the same time.
constexpr size_t longest_odd = 31;

size_t first_factor(size_t n) {
  for (const size_t factor : std::initializer_list<size_t>{4, 2, 3, 5, 7, 11, 13})
    if (n % factor == 0) return factor;
  return n;
}

Numbers transform(const Numbers& x) {
  const size_t n = x.size(), a = first_factor(n), b = n / a;
  if (n == 1) return x;
  if (n == 2) return two(x);
  if (n == 4) return four(x);
  if (b == 1) return n > longest_odd ? by_powers(x) : odd(x);
  Numbers result(n);
  std::vector<Numbers> inner(b);
  for (size_t j = 0; j < b; ++j) {
    for (size_t i = 0; i < a; ++i) inner[j].push_back(x[i * b + j]);
    inner[j] = transform(inner[j]);
  }
  for (size_t k = 0; k < a; ++k) {
    Numbers outer;
    for (size_t j = 0; j < b; ++j) outer.push_back(turned_by(inner[j][k], j * k, n));
    outer = transform(outer);
    for (size_t i = 0; i < b; ++i) result[k + a * i] = outer[i];
  }
  return result;
}

Value polynomial(Value z, std::span<const double> coefficients) {
  Value sum = z.like(coefficients.back());
  for (size_t i = coefficients.size() - 1; i-- > 0;) sum = sum * z + coefficients[i];
  return sum;
}

}  // namespace
}  // namespace small

std::vector<Complex> small_fft(const std::vector<Complex>& x) { return small::transform(x); }

namespace small {
namespace {

// The nearest whole number of quarter turns. A power of two divides by a shift; others by a product, whose
// error does not matter here.
Value nearest_quarter(Value place, uint64_t turns, Type type) {
  const auto count = static_cast<int64_t>(turns);
  if (std::has_single_bit(turns)) return (place * 8 + count) >> static_cast<int64_t>(std::bit_width(turns));
  return convert_in_range(round_even(convert(place, type) * (4 / static_cast<double>(turns))), place.type());
}

// (cos x, sin x) of an eighth of a turn to both sides.
Complex near_zero(Value x) {
  const bool is_short = x.type() == Type::f32;
  const Value z = x * x;
  const Value odd =
      polynomial(z, is_short ? std::span<const double>(eighth_turn::sine_f32) : eighth_turn::sine_f64);
  const Value even =
      polynomial(z, is_short ? std::span<const double>(eighth_turn::cosine_f32) : eighth_turn::cosine_f64);
  return {z * z * even + (z * -0.5 + 1), x * z * odd + x};
}

}  // namespace
}  // namespace small

// The nearest quarter turn is taken off in whole numbers, so the rest is exact however many turns there are.
Complex turned(Value step, uint64_t turns, Type type, uint64_t most) {
  const Value place = convert(step, turns >= uint64_t{1} << 28 ? Type::i64 : Type::i32);
  const double quarter_turn = std::numbers::pi / 2 / static_cast<double>(turns);
  if (most <= turns / 8) {
    const Complex w = small::near_zero(convert(place, type) * (4 * quarter_turn));
    return {w.re, -w.im};
  }
  const Value quarter = small::nearest_quarter(place, turns, type);
  const Value rest = place * 4 - quarter * static_cast<int64_t>(turns);
  const Complex w = small::near_zero(convert(rest, type) * quarter_turn);
  const Value is_odd = (quarter & 1) != 0;
  const Value re = select(is_odd, w.im, w.re), im = select(is_odd, w.re, w.im);
  return {select(((quarter + 1) & 2) != 0, -re, re), select((quarter & 2) != 0, im, -im)};
}

// Every fourth is computed by itself, and the others are products: errors of angles do not pile up.
std::vector<Complex> turned_by_steps(Value step, uint64_t turns, size_t count, Type type, uint64_t most) {
  const Value zero = step.builder().constant(type, 0);
  std::vector<Complex> list{{zero + 1, zero}};
  for (size_t i = 1; i < count; ++i) {
    if (i == 1 || i % 4 == 0)
      list.push_back(turned(step * static_cast<int64_t>(i), turns, type, i * most));
    else if (i < 4)
      list.push_back(list[i - 1] * list[1]);
    else
      list.push_back(list[i - i % 4] * list[i % 4]);
  }
  return list;
}

}  // namespace adit::ops
