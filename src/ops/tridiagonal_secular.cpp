#include "ops/tridiagonal_secular.hpp"

namespace adit::ops::tridiagonal {

using namespace kernel;

Secular::Secular(Builder& k, Type type, Value count, uint32_t group, uint32_t subgroup, Value mine,
                 Value inside, std::function<Value(Value)> at)
    : k_(k),
      enough_(type == Type::f32 ? 0x1p-42 : 0x1p-50),
      group_(group),
      subgroup_(subgroup),
      count_(count),
      mine_(mine),
      inside_(inside),
      at_(std::move(at)) {}

void Secular::all(const std::function<void(Value)>& f) const { k_.for_(inside_, count_, word(group_), f); }

Value Secular::over_group(Reduction op, Value x) const {
  if (group_ == subgroup_) return k_.subgroup_reduce(op, x);
  for (uint32_t mask = 1; mask < group_; mask *= 2) {
    const Value other = k_.subgroup_shuffle_xor(x, word(mask));
    x = op == Reduction::add ? x + other : op == Reduction::mul ? x * other : max(x, other);
  }
  return x;
}

Secular::Root Secular::root() {
  const Value then = after[at_(mine_)], own = poles[at_(mine_)], next = poles[at_(then)];
  is_last_ = mine_ == then;
  takes_part_ = weights[at_(mine_)].get() != 0;
  const Variable total = k_.variable(Type::f64, 0.0);
  all([&](Value i) {
    const Value z = weights[at_(i)];
    total = fma(z, z, total.get());
  });
  const Value whole = sum(total.get()) * (1 + 0x1p-48);
  const Value half = select(is_last_, whole, next - own) * 0.5;
  origin_ = own;
  measure(half);
  const Value is_left = is_last_ || value_ >= 0;
  origin_ = select(is_left, own, next);
  sign_ = select(is_left, real(1), real(-1));
  left_ = own - origin_, right_ = next - origin_;
  const Value distance = search(select(is_last_, whole, half), half) * sign_;
  const Value found = select(takes_part_, distance, real(0));
  const Value near_to = select(is_left || !takes_part_, mine_, then);
  return {near_to, found, select(takes_part_, origin_, own) + found};
}

// Sums at an offset from the origin, of poles up to the root's own and after it, and their derivatives.
void Secular::measure(Value offset) {
  const Variable below = k_.variable(Type::f64, 0.0), below_slope = k_.variable(Type::f64, 0.0),
                 above = k_.variable(Type::f64, 0.0), above_slope = k_.variable(Type::f64, 0.0);
  all([&](Value i) {
    const Value z = weights[at_(i)], distance = (poles[at_(i)].get() - origin_) - offset;
    const Value inverse = 1 / select(z == 0, real(1), distance);
    const Value term = z * z * inverse, slope = term * inverse, is_below = i <= mine_;
    below = below.get() + select(is_below, term, real(0));
    below_slope = below_slope.get() + select(is_below, slope, real(0));
    above = above.get() + select(is_below, real(0), term);
    above_slope = above_slope.get() + select(is_below, real(0), slope);
  });
  const Value low = sum(below.get()), high = sum(above.get());
  low_slope_ = sum(below_slope.get()), high_slope_ = sum(above_slope.get());
  value_ = 1 + (low + high);
  noise_ = (1 + (abs(high) + abs(low))) * enough_;
}

// The distance from the origin, between 0 and `most`. Between two poles the sum is nearly c + s / (left - x)
// + t / (right - x); where the root of that lies outside of what is known, what is known is halved, by the
// bits of the numbers. All groups of a subgroup go on until the last has found its own.
Value Secular::search(Value most, Value measured) {
  constexpr uint32_t quick = 16, most_steps = 90;
  const Value near_to = select(is_last_, measured, measured * sign_);
  const Value first = (near_to + correction(near_to)) * sign_;
  const Variable low = k_.variable(Type::f64, 0.0), high = k_.variable(most);
  const Variable now = k_.variable(select(first > 0 && first < most, first, most));
  const Variable steps = k_.variable(select(takes_part_, word(0), word(most_steps)));
  const auto bits = [](Value x) { return bitcast(x, Type::u64); };
  k_.while_([&] { return k_.subgroup_any(steps.get() < most_steps); },
            [&] {
              const Value at = now.get(), offset = at * sign_, is_over = steps.get() >= most_steps;
              measure(offset);
              const Value is_beyond = select(sign_ > 0, value_, -value_) > 0;
              low = select(is_beyond || is_over, low.get(), at);
              high = select(is_beyond && !is_over, at, high.get());
              const Value is_close = bits(high.get()) - bits(low.get()) <= 1;
              const Value is_found = !(abs(value_) > noise_) || is_close || is_over;
              const Value wanted = (offset + correction(offset)) * sign_;
              const Value inside = wanted > low.get() && wanted < high.get() && steps.get() < quick;
              const Value middle = bitcast((bits(low.get()) + bits(high.get())) >> 1, Type::f64);
              now = select(is_found, at, select(inside, wanted, middle));
              steps = select(is_found, word(most_steps), steps.get() + 1);
            });
  return now.get();
}

Value Secular::correction(Value offset) const {
  const Value a = left_ - offset, b = right_ - offset;
  // The last root has no pole after it.
  const Value c = value_ - a * low_slope_, alone = a + a * a * low_slope_ / c;
  const Value rest = c - b * high_slope_;
  const Value linear = (a + b) * value_ - a * b * (low_slope_ + high_slope_), constant = a * b * value_;
  const Value under = max(fma(linear, linear, -4 * (constant * rest)), real(0)), root = sqrt_device(under);
  const Value between = select(linear > 0, 2 * constant / (linear + root), (linear - root) / (2 * rest));
  return select(is_last_, alone, between);
}

Value Secular::exact() const {
  const Value own = poles[at_(mine_)];
  const Variable product = k_.variable(Type::f64, 1.0);
  all([&](Value j) {
    const Value root = (poles[at_(near[at_(j)].get())].get() - own) + offsets[at_(j)].get();
    const Value takes_part = weights[at_(j)].get() != 0, is_own = j == mine_;
    const Value ratio = root / select(is_own || !takes_part, real(1), poles[at_(j)].get() - own);
    product = product.get() * select(takes_part, ratio, real(1));
  });
  const Value length = sqrt(abs(over_group(Reduction::mul, product.get()))), z = weights[at_(mine_)];
  return select(z == 0, z, select(z < 0, -length, length));
}

Secular::Vector Secular::vector() const {
  const Value from = poles[at_(near[at_(mine_)].get())], offset = offsets[at_(mine_)];
  const Value takes_part = exacts[at_(mine_)].get() != 0;
  const auto part = [this, from, offset, takes_part](Value i) {
    const Value z = exacts[at_(i)], counts = takes_part && z != 0;
    const Value quotient = z / select(counts, (poles[at_(i)].get() - from) - offset, real(1));
    return select(counts, quotient, select(i == mine_ && !takes_part, real(1), real(0)));
  };
  const Variable squares = k_.variable(Type::f64, 0.0);
  all([&](Value i) {
    const Value x = part(i);
    squares = fma(x, x, squares.get());
  });
  return {1 / sqrt(sum(squares.get())), part};
}

}  // namespace adit::ops::tridiagonal
