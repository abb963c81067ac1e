// Factors a block that a team holds in registers, one exchange of sums, and so one barrier, a column: the
// products of a column with itself and with all others are summed at once, and the reflection is made of them
// afterwards. Columns are scaled by powers of two, so that squares neither overflow nor vanish.
#include <algorithm>
#include <vector>

#include "kernel/float_bits.hpp"
#include "ops/factor_writer.hpp"
#include "ops/qr_level.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_panels {
namespace {

// Lanes of a team, and words of a lane for its part of the block: half of what it has. A panel of c64 took an
// H200 51 us, and 58 with 512 lanes of 64 words, which add up the sums of twice as many subgroups. Small
// subgroups are a software device's, which compiles long programs for minutes.
struct Room {
  uint32_t lanes, words;
};
Room room_of(uint32_t subgroup) { return subgroup < 16 ? Room{512, 64} : Room{256, 128}; }

// Sums of subgroups and the diagonal's row, each twice; products, t's and r's diagonals; weights of q.
uint64_t shared_bytes(const QrTeam& team) {
  return uint64_t{team.width} * (2 * team.subgroups + 2 + 2 * team.width + 2) * size_of(team.type) *
         team.parts();
}

class Panel {
 public:
  Panel(const QrTeam& team, bool whole)
      : team_(team),
        type_(team.type),
        complex_(team.complex),
        whole_(whole),
        k_(whole ? "qr_whole" : "qr_panel", Team::many(team.lanes())) {
    from_ = k_.buffer("from", type_, Access::read);
    if (whole_) {
      q_ = k_.buffer("q", type_, Access::write);
      r_ = k_.buffer("r", type_, Access::write);
    } else {
      to_ = k_.buffer("to", type_, Access::write);
      v_ = k_.buffer("v", type_, Access::write);
      t_ = k_.buffer("t", type_, Access::write);
    }
    rows_ = QrRows(k_, team.width);
    if (whole_) q_columns_ = k_.scalar("q_columns", Type::u32);
    const Value which = k_.team(Type::u64), blocks = convert(rows_.blocks, Type::u64);
    rows_.choose(which / blocks, convert(which % blocks, Type::u32));
    number_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    g_ = inside_ % team.groups;
    h_ = inside_ / team.groups;
    const uint32_t parts = team.parts();
    partial_ = k_.shared(type_, 2 * team.subgroups * team.width * parts);
    top_ = k_.shared(type_, 2 * team.width * parts);
    products_ = k_.shared(type_, team.width * team.width * parts);
    taus_ = k_.shared(type_, team.width * parts);
    diagonal_ = k_.shared(type_, team.width);
    if (whole_) weights_ = k_.shared(type_, team.width * team.width * parts);
  }

  Program build() {
    count_ = min(rows_.columns - rows_.start, word(team_.width));
    turn_.emplace_back(k_.variable(Type::u32, 0));
    load();
    if (whole_) clear();
    scale();
    for (uint32_t i = 0; i < team_.each; ++i) {
      const Value before = word(i * team_.groups);
      k_.for_(min(max(count_, before) - before, word(team_.groups)), [&](Value g) { column(i, g); });
    }
    k_.barrier();
    if (whole_) {
      store_whole();
    } else {
      store_t();
      store();
    }
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value zero() { return k_.constant(type_, 0); }
  Number none() { return {zero(), zero()}; }
  Number get(const Array& from, Value at) { return load_number(from, at, complex_); }
  void put(const Array& to, Value at, Number x) { store_number(to, at, x, complex_); }
  Number turned(Number x) { return conjugated(x, complex_); }
  NumberSum variable(Number x) { return {k_, x, complex_}; }
  Number shuffled(Number x, Value from) {
    const Value re = k_.subgroup_shuffle(x.re, from);
    return {re, complex_ ? k_.subgroup_shuffle(x.im, from) : re};
  }
  Value size_of_parts(Number x) { return complex_ ? max(abs(x.re), abs(x.im)) : abs(x.re); }
  Value square(Number x, Value more) {
    const Value sum = fma(x.re, x.re, more);
    return complex_ ? fma(x.im, x.im, sum) : sum;
  }
  // Row r of this lane and its column i.
  const NumberSum& number(uint32_t r, uint32_t i) const { return numbers_[r * team_.each + i]; }
  Value row(uint32_t r) { return word(r * team_.step()) + number_ * team_.across + h_; }
  Value column_of(uint32_t i) { return word(i * team_.groups) + g_; }
  // Whether some lane's row r is one of the first `width`, which hold the diagonal.
  bool is_top(uint32_t r) const { return r * team_.step() < team_.width; }
  Value exists(uint32_t r) { return row(r) < rows_.rows && rows_.of(row(r)) < rows_.m; }

  void load() {
    for (uint32_t r = 0; r < team_.rows; ++r) {
      const Value inside = exists(r), safe = min(rows_.of(row(r)), rows_.m - 1);
      for (uint32_t i = 0; i < team_.each; ++i) {
        const Value column = rows_.start + column_of(i);
        const Number x = get(from_, rows_.place(safe, min(column, rows_.columns - 1)));
        numbers_.push_back(variable(chosen(inside && column < rows_.columns, x, none(), complex_)));
      }
    }
  }

  // Of one number or two for each of a lane's columns: over the rows of the subgroup. Halves of them are
  // handed over until a lane has one or every lane has all.
  void down_the_subgroup(std::vector<Value>& mine, Reduction op) {
    const auto both = [&](Value a, Value b) { return op == Reduction::add ? a + b : max(a, b); };
    first_ = word(0);
    for (uint32_t mask = team_.groups; mask < team_.subgroup; mask *= 2) {
      const auto half = mine.size() / 2;
      const Value upper = (inside_ & mask) != 0;
      std::vector<Value> next;
      for (size_t i = 0; i < std::max<size_t>(half, 1); ++i) {
        const Value keep = half ? select(upper, mine[half + i], mine[i]) : mine[i];
        const Value send = half ? select(upper, mine[i], mine[half + i]) : mine[i];
        next.push_back(both(keep, k_.subgroup_shuffle_xor(send, word(mask))));
      }
      if (half) first_ = first_ + select(upper, word(static_cast<uint32_t>(half)), word(0));
      mine = std::move(next);
    }
  }

  // Over all rows of the block, for each of this lane's columns. One barrier, before which `publish` may
  // store what others read after it, in the half of an array that turn() tells.
  std::vector<Value> exchange(std::vector<Value> mine, Reduction op, const std::function<void()>& publish) {
    const auto count = static_cast<uint32_t>(mine.size()), slots = count * team_.groups;
    down_the_subgroup(mine, op);
    const Value half = turn_[0].get() * (team_.subgroups * team_.width * team_.parts());
    for (uint32_t i = 0; i < mine.size(); ++i)
      partial_[half + number_ * slots + (first_ + i) * team_.groups + g_] = mine[i];
    publish();
    k_.barrier();
    // A lane sums a column or some; then it asks those that have its own.
    std::vector<Value> sums;
    for (uint32_t first = 0; first < slots; first += team_.subgroup) {
      const Value at = half + first + inside_ % slots;
      Value sum = partial_[at];
      for (uint32_t s = 1; s < team_.subgroups; ++s) {
        const Value other = partial_[at + s * slots];
        sum = op == Reduction::add ? sum + other : max(sum, other);
      }
      sums.push_back(sum);
    }
    std::vector<Value> all;
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t first = i * team_.groups;
      const Value& sum = sums[first / team_.subgroup];
      all.push_back(
          team_.groups == team_.subgroup ? sum : k_.subgroup_shuffle(sum, word(first % team_.subgroup) + g_));
    }
    return all;
  }
  Value turn() { return turn_[0].get(); }
  void take_turns() { turn_[0] = turn_[0].get() ^ 1; }

  void scale() {
    std::vector<Value> largest;
    for (uint32_t i = 0; i < team_.each; ++i) {
      Value most = zero();
      for (uint32_t r = 0; r < team_.rows; ++r) most = max(most, size_of_parts(number(r, i).get()));
      largest.push_back(most);
    }
    largest = exchange(largest, Reduction::max, [] {});
    take_turns();
    // Not so far that the scale, or what goes back, were no ordinary number.
    const int bound = exponent_bias(type_) - 27;
    for (uint32_t i = 0; i < team_.each; ++i) {
      const Value exponent = split(largest[i]).exponent;
      const Value safe = select(
          largest[i] > 0, max(min(exponent, exponent.like(bound)), exponent.like(-bound)), exponent.like(0));
      const Value factor = power_of_two(-safe);
      back_.push_back(power_of_two(safe));
      for (uint32_t r = 0; r < team_.rows; ++r)
        number(r, i).set(times_real(number(r, i).get(), factor, complex_));
      inverses_.push_back(variable(none()));
    }
  }

  // Column c = i * groups + owner. What stands below its diagonal stays as it is, and is v once it is
  // multiplied with the inverse that is noted.
  void column(uint32_t i, Value owner) {
    const Value c = word(i * team_.groups) + owner, is_own = g_ == owner;
    // Only of a column that the ones before leave next to nothing of.
    const double step = type_ == Type::f32 ? 0x1p60 : 0x1p500;
    const double tiny = type_ == Type::f32 ? 0x1p-90 : 0x1p-900;
    const Variable boost = k_.variable(type_, 1.0), again = k_.variable(Type::u32, 1);
    std::vector<NumberSum> x, sums, tops;
    for (uint32_t r = 0; r < team_.rows; ++r) x.push_back(variable(none()));
    for (uint32_t j = 0; j < team_.each; ++j) {
      sums.push_back(variable(none()));
      tops.push_back(variable(none()));
    }
    const Variable below = k_.variable(type_, 0.0);
    const NumberSum alpha = variable(none());
    k_.while_([&] { return again.get() != 0; },
              [&] {
                for (uint32_t r = 0; r < team_.rows; ++r) {
                  const Number here = shuffled(number(r, i).get(), h_ * team_.groups + owner);
                  x[r].set(is_top(r) ? chosen(row(r) > c, here, none(), complex_) : here);
                }
                const std::vector<Number> found = summed(products(x), [&] { publish(c); });
                for (uint32_t j = 0; j < team_.each; ++j) {
                  sums[j].set(found[j]);
                  tops[j].set(get(top_, turn() * team_.width + column_of(j)));
                }
                below = k_.subgroup_shuffle(found[i].re, owner);
                alpha.set(get(top_, turn() * team_.width + c));
                take_turns();
                const Value size = square(alpha.get(), below.get());
                again = select(size < tiny && boost.get() < step * step, word(1), word(0));
                k_.if_(again.get() != 0, [&] {
                  boost = boost.get() * step;
                  for (uint32_t r = 0; r < team_.rows; ++r) {
                    const Number now = number(r, i).get();
                    number(r, i).set(chosen(is_own && row(r) >= c,
                                            times_real(now, now.re.like(step), complex_), now, complex_));
                  }
                });
              });
    reflect(i, c, is_own, x, sums, tops, alpha.get(), below.get(), boost.get());
  }

  // x^H with each of this lane's columns.
  std::vector<Number> products(const std::vector<NumberSum>& x) {
    std::vector<Number> all;
    for (uint32_t j = 0; j < team_.each; ++j) {
      Number sum = product_of(turned(x[0].get()), number(0, j).get(), complex_);
      for (uint32_t r = 1; r < team_.rows; ++r)
        sum = plus_product(turned(x[r].get()), number(r, j).get(), sum, complex_);
      all.push_back(sum);
    }
    return all;
  }
  std::vector<Number> summed(const std::vector<Number>& mine, const std::function<void()>& also) {
    std::vector<Value> parts;
    for (const Number& x : mine) {
      parts.push_back(x.re);
      if (complex_) parts.push_back(x.im);
    }
    parts = exchange(parts, Reduction::add, also);
    std::vector<Number> all;
    for (size_t i = 0; i < parts.size(); i += team_.parts())
      all.push_back({parts[i], parts[i + team_.parts() - 1]});
    return all;
  }

  // The row of the diagonal, for all.
  void publish(Value c) {
    for (uint32_t r = 0; r < team_.rows && is_top(r); ++r)
      k_.if_(row(r) == c, [&] {
        for (uint32_t j = 0; j < team_.each; ++j)
          put(top_, turn() * team_.width + column_of(j), number(r, j).get());
      });
  }

  // As LAPACK's: what comes out is real. v is the column's by the inverse of `distance`.
  void reflect(uint32_t i, Value c, Value is_own, const std::vector<NumberSum>& x,
               const std::vector<NumberSum>& sums, const std::vector<NumberSum>& tops, Number alpha,
               Value below, Value boost) {
    const Value is_done = complex_ ? below == 0 && alpha.im == 0 : below == 0;
    const Value norm = sqrt_device(square(alpha, below));
    const Value beta = select(is_done, alpha.re, select(alpha.re < 0, norm, -norm));
    const Value divisor = select(is_done, beta.like(1), beta);
    const Number tau = chosen(is_done, none(), {(beta - alpha.re) / divisor, -alpha.im / divisor}, complex_);
    const Number distance = {select(is_done, beta.like(1), alpha.re - beta), alpha.im};
    const Number inverse = inverse_of(distance);
    std::vector<Number> along, factors;
    for (uint32_t j = 0; j < team_.each; ++j)
      along.push_back(plus_product(sums[j].get(), turned(inverse), tops[j].get(), complex_));
    for (uint32_t j = i; j < team_.each; ++j) {
      const Number weight = product_of(turned(tau), along[j], complex_);
      const Number factor = opposite(product_of(weight, inverse, complex_));
      factors.push_back(j == i ? chosen(column_of(j) > c, factor, none(), complex_) : factor);
    }
    for (uint32_t r = 0; r < team_.rows; ++r) {
      const Number v = is_top(r) ? chosen(row(r) == c, distance, x[r].get(), complex_) : x[r].get();
      for (uint32_t j = i; j < team_.each; ++j)
        number(r, j).set(plus_product(factors[j - i], v, number(r, j).get(), complex_));
    }
    k_.if_(number_ == 0 && h_ == 0, [&] {
      for (uint32_t j = 0; j <= i; ++j)
        put(products_, c * team_.width + column_of(j), product_of(along[j], inverses_[j].get(), complex_));
      k_.if_(is_own, [&] {
        put(taus_, c, tau);
        diagonal_[c] = beta / boost * back_[i];
      });
    });
    inverses_[i].set(chosen(is_own, inverse, inverses_[i].get(), complex_));
  }
  // Columns are scaled: squares of what is not zero neither overflow nor vanish.
  Number inverse_of(Number x) {
    if (!complex_) return {x.re.like(1) / x.re, x.im};
    const Value size = square(x, zero());
    return {x.re / size, -x.im / size};
  }

  // A lane a row: t[c] = -tau[c] (t's columns before c times v^H v's column c).
  void store_t() {
    const Value lane = number_ * team_.subgroup + inside_;
    k_.if_(lane < team_.width, [&] {
      const Value to =
          rows_.t_number() * uint64_t{team_.width * team_.width} + convert(lane * team_.width, Type::u64);
      std::vector<Number> own;
      for (uint32_t c = 0; c < team_.width; ++c) {
        std::vector<Number> sums(4, none());
        for (uint32_t j = 0; j < c; ++j)
          sums[j % 4] =
              plus_product(own[j], turned(get(products_, word(c * team_.width + j))), sums[j % 4], complex_);
        const Number tau = get(taus_, word(c)), before = product_of(opposite(tau), total(sums), complex_);
        own.push_back(chosen(word(c) < count_ && lane <= c, chosen(lane == c, tau, before, complex_), none(),
                             complex_));
        put(t_, to + uint64_t{c}, own[c]);
      }
    });
  }

  Number total(const std::vector<Number>& four) {
    return sum_of(sum_of(four[0], four[1], complex_), sum_of(four[2], four[3], complex_), complex_);
  }

  Number reflection(uint32_t r, uint32_t j) {
    const Value column = column_of(j);
    const Number below = product_of(number(r, j).get(), inverses_[j].get(), complex_);
    if (!is_top(r)) return below;
    const Value one = select(row(r) == column, zero().like(1), zero());
    return chosen(row(r) > column, below, {one, zero()}, complex_);
  }
  Number r_of(uint32_t r, uint32_t j) {
    const Value column = column_of(j);
    const Number value = times_real(number(r, j).get(), back_[j], complex_);
    const Value diagonal = select(row(r) == column, diagonal_[min(row(r), column)].get(), zero());
    return chosen(row(r) < column, value, {diagonal, zero()}, complex_);
  }

  void store() {
    for (uint32_t r = 0; r < team_.rows; ++r) {
      const Value inside = exists(r), first = (rows_.v_row() + convert(row(r), Type::u64)) * team_.width;
      k_.if_(row(r) < rows_.rows, [&] {
        for (uint32_t j = 0; j < team_.each; ++j) {
          const Number v = chosen(inside, reflection(r, j), none(), complex_);
          put(v_, first + convert(column_of(j), Type::u64), v);
        }
      });
      if (is_top(r)) store_r(r, inside);
    }
  }

  void store_r(uint32_t r, Value inside) {
    k_.if_(inside && row(r) < team_.width, [&] {
      for (uint32_t j = 0; j < team_.each; ++j) {
        const Value column = column_of(j);
        const Number value = r_of(r, j);
        k_.if_(column < count_,
               [&] { put(to_, rows_.place(rows_.of(row(r)), rows_.start + column), value); });
      }
    });
  }

  // Products and t's diagonal of columns that there are not.
  void clear() {
    const Value lane = number_ * team_.subgroup + inside_;
    const uint32_t size = team_.width * team_.width;
    for (uint32_t first = 0; first < size; first += team_.lanes())
      k_.if_(lane + first < size, [&] { put(products_, lane + first, none()); });
    k_.if_(lane < team_.width, [&] { put(taus_, lane, none()); });
  }

  // r, and q = 1 - v w, where w = t v^H of the first rows, as many as q has columns.
  void store_whole() {
    const Value matrix = rows_.matrix();
    for (uint32_t r = 0; r < team_.rows && is_top(r); ++r)
      for (uint32_t j = 0; j < team_.each; ++j) {
        const Number value = r_of(r, j);
        k_.if_(row(r) < min(q_columns_, word(team_.width)) && column_of(j) < rows_.columns,
               [&] { put(r_, place(matrix, q_columns_, row(r), rows_.columns, column_of(j)), value); });
      }
    for (uint32_t r = 0; r < team_.rows; ++r)
      for (uint32_t j = 0; j < team_.each; ++j) {
        number(r, j).set(reflection(r, j));
        if (is_top(r))
          k_.if_(row(r) < team_.width,
                 [&] { put(weights_, column_of(j) * team_.width + row(r), turned(number(r, j).get())); });
      }
    k_.barrier();
    weigh();
    k_.barrier();
    // Some rows at a time, so that q takes few registers beside v.
    const uint32_t words = team_.each * team_.parts() * static_cast<uint32_t>(size_of(type_)) / 4;
    const uint32_t together = std::clamp(room_of(team_.subgroup).words / 2 / words, 1U, team_.rows);
    for (uint32_t first = 0; first < team_.rows; first += together) store_q(matrix, first, together);
  }
  Value place(Value matrix, Value rows, Value row, Value columns, Value column) {
    const auto wide = [](Value x) { return convert(x, Type::u64); };
    return (matrix * wide(rows) + wide(row)) * wide(columns) + wide(column);
  }

  // A lane a column of w, from the last row up: t's inverse has the products beside its diagonal.
  void weigh() {
    const Value lane = number_ * team_.subgroup + inside_;
    const uint32_t width = team_.width;
    k_.if_(lane < width, [&] {
      std::vector<Number> own(width, none());
      for (uint32_t p = width; p-- > 0;) {
        std::vector<Number> sums(4, none());
        for (uint32_t c = p + 1; c < width; ++c)
          sums[c % 4] =
              plus_product(own[c], turned(get(products_, word(c * width + p))), sums[c % 4], complex_);
        const Value at = lane + p * width;
        const Number left = sum_of(get(weights_, at), opposite(total(sums)), complex_);
        own[p] = product_of(get(taus_, word(p)), left, complex_);
        put(weights_, at, own[p]);
      }
    });
  }

  void store_q(Value matrix, uint32_t first, uint32_t together) {
    std::vector<NumberSum> q;
    for (uint32_t r = first; r < first + together; ++r)
      for (uint32_t j = 0; j < team_.each; ++j)
        q.push_back(variable({select(row(r) == column_of(j), k_.constant(type_, 1), zero()), zero()}));
    for (uint32_t i = 0; i < team_.each; ++i)
      k_.for_(word(team_.groups), [&](Value owner) {
        const Value from = (word(i * team_.groups) + owner) * team_.width;
        std::vector<Number> w;
        for (uint32_t j = 0; j < team_.each; ++j) w.push_back(get(weights_, from + column_of(j)));
        for (uint32_t r = 0; r < together; ++r) {
          const Number v = shuffled(number(first + r, i).get(), h_ * team_.groups + owner);
          for (uint32_t j = 0; j < team_.each; ++j) q[r * team_.each + j].subtract(v, w[j]);
        }
      });
    for (uint32_t r = 0; r < together; ++r)
      for (uint32_t j = 0; j < team_.each; ++j)
        k_.if_(row(first + r) < rows_.m && column_of(j) < q_columns_, [&] {
          put(q_, place(matrix, rows_.m, row(first + r), q_columns_, column_of(j)),
              q[r * team_.each + j].get());
        });
  }

  const QrTeam team_;
  Type type_;
  bool complex_, whole_;
  Builder k_;
  Array from_, to_, v_, t_, q_, r_, partial_, top_, products_, taus_, diagonal_, weights_;
  QrRows rows_;
  Value number_, inside_, g_, h_, count_, first_, q_columns_;
  std::vector<Variable> turn_;
  std::vector<NumberSum> numbers_, inverses_;
  std::vector<Value> back_;
};

}  // namespace
}  // namespace qr_panels

uint32_t qr_width(const FactorPlan& plan) {
  const uint32_t most = plan.complex && plan.type == Type::f64 ? 16 : 32;  // that registers hold
  return std::min(most, plan.n <= 8 ? 8U : plan.n <= 16 ? 16U : 32U);
}

QrTeam qr_team(const FactorPlan& plan, uint32_t width, uint32_t rows, const Limits& limits) {
  using namespace qr_panels;
  QrTeam team;
  team.type = plan.type;
  team.complex = plan.complex;
  team.width = width;
  team.subgroup = limits.subgroup_size;
  team.groups = std::min({8U, team.subgroup, width});
  team.across = team.subgroup / team.groups;
  team.each = width / team.groups;
  const uint32_t words = static_cast<uint32_t>(size_of(plan.type)) / 4 * team.parts();
  const Room room = room_of(team.subgroup);
  const uint32_t most = std::min(room.lanes, limits.max_lanes) / team.subgroup;
  // A lane for each column, since t has one a row. Fewer rows of a lane only where the fewest subgroups have
  // them all.
  const uint32_t fewest = (width + team.subgroup - 1) / team.subgroup;
  for (team.rows = 2; team.rows * team.each * words <= room.words; team.rows *= 2)
    for (team.subgroups = fewest; team.subgroups <= (team.rows < 8 ? fewest : most); team.subgroups *= 2)
      if (team.capacity() >= std::max(rows, width) && shared_bytes(team) <= limits.shared_bytes) return team;
  team.rows = 0;
  return team;
}

Program qr_panel(const QrTeam& team) { return qr_panels::Panel(team, false).build(); }
Program qr_whole(const QrTeam& team) { return qr_panels::Panel(team, true).build(); }

}  // namespace adit::ops
