#include "kernel/unit_interval.hpp"

#include <numbers>
#include <vector>

#include <adit/kernel/math.hpp>

#include "kernel/math/f32/internal.hpp"

namespace adit::kernel {

Value log_of_unit(Value x) {
  if (x.type() == Type::f64) return log(x);
  constexpr int32_t sqrt_half_bits = 0x3f3504f3;
  const Value above = bitcast(x, Type::i32) - sqrt_half_bits;
  const Value fraction = bitcast((above & 0x7fffff) + sqrt_half_bits, Type::f32) - 1;
  return fma(convert(above >> 23, Type::f32), std::numbers::ln2, fraction + f32::log_tail(fraction));
}

// The nearest quarter turn is taken off; the rest, at most an eighth of a turn, goes through the series. No
// argument needs more care than that here.
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

}  // namespace adit::kernel
