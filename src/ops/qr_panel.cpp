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

constexpr uint32_t most_lanes = 512;     // so that each has 128 registers
constexpr uint32_t register_words = 64;  // of a lane, for its part of the block

// Sums of subgroups and the diagonal's row, each twice; products, t's and r's diagonals; weights of q.
uint64_t shared_bytes(Type type, const QrTeam& team) {
  return uint64_t{team.width} * (2 * team.subgroups + 2 + 2 * team.width + 2) * size_of(type);
}

class Panel {
 public:
  Panel(Type type, const QrTeam& team, bool whole)
      : team_(team),
        type_(type),
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
    partial_ = k_.shared(type_, 2 * team.subgroups * team.width);
    top_ = k_.shared(type_, 2 * team.width);
    products_ = k_.shared(type_, team.width * team.width);
    taus_ = k_.shared(type_, team.width);
    diagonal_ = k_.shared(type_, team.width);
    if (whole_) weights_ = k_.shared(type_, team.width * team.width);
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
  // Row r of this lane and its column i.
  const Variable& number(uint32_t r, uint32_t i) const { return numbers_[r * team_.each + i]; }
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
        const Value x = from_[rows_.place(safe, min(column, rows_.columns - 1))];
        numbers_.push_back(k_.variable(select(inside && column < rows_.columns, x, x.like(0))));
      }
    }
  }

  // Of one number for each of a lane's columns: over the rows of the subgroup. Halves of the columns are
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
    down_the_subgroup(mine, op);
    const Value half = turn_[0].get() * (team_.subgroups * team_.width);
    for (uint32_t i = 0; i < mine.size(); ++i)
      partial_[half + number_ * team_.width + (first_ + i) * team_.groups + g_] = mine[i];
    publish();
    k_.barrier();
    // A lane sums a column or some; then it asks those that have its own.
    std::vector<Value> sums;
    for (uint32_t first = 0; first < team_.width; first += team_.subgroup) {
      const Value at = half + first + inside_ % team_.width;
      Value sum = partial_[at];
      for (uint32_t s = 1; s < team_.subgroups; ++s) {
        const Value other = partial_[at + s * team_.width];
        sum = op == Reduction::add ? sum + other : max(sum, other);
      }
      sums.push_back(sum);
    }
    std::vector<Value> all;
    for (uint32_t i = 0; i < team_.each; ++i) {
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
      for (uint32_t r = 0; r < team_.rows; ++r) most = max(most, abs(number(r, i).get()));
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
      for (uint32_t r = 0; r < team_.rows; ++r) number(r, i) = number(r, i).get() * factor;
      inverses_.push_back(k_.variable(type_, 0.0));
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
    std::vector<Variable> x, sums, tops;
    for (uint32_t r = 0; r < team_.rows; ++r) x.push_back(k_.variable(type_, 0.0));
    for (uint32_t j = 0; j < team_.each; ++j) {
      sums.push_back(k_.variable(type_, 0.0));
      tops.push_back(k_.variable(type_, 0.0));
    }
    const Variable below = k_.variable(type_, 0.0), alpha = k_.variable(type_, 0.0);
    k_.while_([&] { return again.get() != 0; },
              [&] {
                for (uint32_t r = 0; r < team_.rows; ++r) {
                  const Value here = k_.subgroup_shuffle(number(r, i).get(), h_ * team_.groups + owner);
                  x[r] = is_top(r) ? select(row(r) > c, here, zero()) : here;
                }
                const std::vector<Value> found = exchange(products(x), Reduction::add, [&] { publish(c); });
                for (uint32_t j = 0; j < team_.each; ++j) {
                  sums[j] = found[j];
                  tops[j] = top_[turn() * team_.width + column_of(j)].get();
                }
                below = k_.subgroup_shuffle(found[i], owner);
                alpha = top_[turn() * team_.width + c].get();
                take_turns();
                const Value size = fma(alpha.get(), alpha.get(), below.get());
                again = select(size < tiny && boost.get() < step * step, word(1), word(0));
                k_.if_(again.get() != 0, [&] {
                  boost = boost.get() * step;
                  for (uint32_t r = 0; r < team_.rows; ++r)
                    number(r, i) =
                        select(is_own && row(r) >= c, number(r, i).get() * step, number(r, i).get());
                });
              });
    reflect(i, c, is_own, x, sums, tops, alpha.get(), below.get(), boost.get());
  }

  std::vector<Value> products(const std::vector<Variable>& x) {
    std::vector<Value> all;
    for (uint32_t j = 0; j < team_.each; ++j) {
      Value sum = x[0].get() * number(0, j).get();
      for (uint32_t r = 1; r < team_.rows; ++r) sum = fma(x[r].get(), number(r, j).get(), sum);
      all.push_back(sum);
    }
    return all;
  }

  // The row of the diagonal, for all.
  void publish(Value c) {
    for (uint32_t r = 0; r < team_.rows && is_top(r); ++r)
      k_.if_(row(r) == c, [&] {
        for (uint32_t j = 0; j < team_.each; ++j)
          top_[turn() * team_.width + column_of(j)] = number(r, j).get();
      });
  }

  void reflect(uint32_t i, Value c, Value is_own, const std::vector<Variable>& x,
               const std::vector<Variable>& sums, const std::vector<Variable>& tops, Value alpha, Value below,
               Value boost) {
    const Value is_done = below == 0;
    const Value norm = sqrt_device(fma(alpha, alpha, below));
    const Value beta = select(is_done, alpha, select(alpha < 0, norm, -norm));
    const Value tau = select(is_done, zero(), (beta - alpha) / select(is_done, beta.like(1), beta));
    const Value distance = select(is_done, alpha.like(1), alpha - beta),
                inverse = distance.like(1) / distance;
    std::vector<Value> along, factors;
    for (uint32_t j = 0; j < team_.each; ++j) along.push_back(fma(sums[j].get(), inverse, tops[j].get()));
    for (uint32_t j = i; j < team_.each; ++j) {
      const Value factor = -(tau * along[j] * inverse);
      factors.push_back(j == i ? select(column_of(j) > c, factor, zero()) : factor);
    }
    for (uint32_t r = 0; r < team_.rows; ++r) {
      const Value v = is_top(r) ? select(row(r) == c, distance, x[r].get()) : x[r].get();
      for (uint32_t j = i; j < team_.each; ++j) number(r, j) = fma(factors[j - i], v, number(r, j).get());
    }
    k_.if_(number_ == 0 && h_ == 0, [&] {
      for (uint32_t j = 0; j <= i; ++j)
        products_[c * team_.width + column_of(j)] = along[j] * inverses_[j].get();
      k_.if_(is_own, [&] {
        taus_[c] = tau;
        diagonal_[c] = beta / boost * back_[i];
      });
    });
    inverses_[i] = select(is_own, inverse, inverses_[i].get());
  }

  // A lane a row: t[c] = -tau[c] (t's columns before c times v^T v's column c).
  void store_t() {
    const Value lane = number_ * team_.subgroup + inside_;
    k_.if_(lane < team_.width, [&] {
      const Value to =
          rows_.t_number() * uint64_t{team_.width * team_.width} + convert(lane * team_.width, Type::u64);
      std::vector<Value> own;
      for (uint32_t c = 0; c < team_.width; ++c) {
        std::vector<Value> sums(4, zero());
        for (uint32_t j = 0; j < c; ++j)
          sums[j % 4] = fma(own[j], products_[word(c * team_.width + j)].get(), sums[j % 4]);
        const Value sum = (sums[0] + sums[1]) + (sums[2] + sums[3]), tau = taus_[word(c)];
        own.push_back(
            select(word(c) < count_, select(lane == c, tau, select(lane < c, -tau * sum, zero())), zero()));
        t_[to + uint64_t{c}] = own[c];
      }
    });
  }

  Value reflection(uint32_t r, uint32_t j) {
    const Value column = column_of(j), below = number(r, j).get() * inverses_[j].get();
    if (!is_top(r)) return below;
    return select(row(r) > column, below, select(row(r) == column, below.like(1), below.like(0)));
  }
  Value r_of(uint32_t r, uint32_t j) {
    const Value column = column_of(j), value = number(r, j).get() * back_[j];
    return select(row(r) < column, value,
                  select(row(r) == column, diagonal_[min(row(r), column)].get(), value.like(0)));
  }

  void store() {
    for (uint32_t r = 0; r < team_.rows; ++r) {
      const Value inside = exists(r), first = (rows_.v_row() + convert(row(r), Type::u64)) * team_.width;
      k_.if_(row(r) < rows_.rows, [&] {
        for (uint32_t j = 0; j < team_.each; ++j) {
          const Value v = reflection(r, j);
          v_[first + convert(column_of(j), Type::u64)] = select(inside, v, v.like(0));
        }
      });
      if (is_top(r)) store_r(r, inside);
    }
  }

  void store_r(uint32_t r, Value inside) {
    k_.if_(inside && row(r) < team_.width, [&] {
      for (uint32_t j = 0; j < team_.each; ++j) {
        const Value column = column_of(j), value = r_of(r, j);
        k_.if_(column < count_, [&] { to_[rows_.place(rows_.of(row(r)), rows_.start + column)] = value; });
      }
    });
  }

  // Products and t's diagonal of columns that there are not.
  void clear() {
    const Value lane = number_ * team_.subgroup + inside_;
    const uint32_t size = team_.width * team_.width;
    for (uint32_t first = 0; first < size; first += team_.lanes())
      k_.if_(lane + first < size, [&] { products_[lane + first] = zero(); });
    k_.if_(lane < team_.width, [&] { taus_[lane] = zero(); });
  }

  // r, and q = 1 - v w, where w = t v^T of the first rows, as many as q has columns.
  void store_whole() {
    const Value matrix = rows_.matrix();
    for (uint32_t r = 0; r < team_.rows && is_top(r); ++r)
      for (uint32_t j = 0; j < team_.each; ++j) {
        const Value value = r_of(r, j);
        k_.if_(row(r) < min(q_columns_, word(team_.width)) && column_of(j) < rows_.columns,
               [&] { r_[place(matrix, q_columns_, row(r), rows_.columns, column_of(j))] = value; });
      }
    for (uint32_t r = 0; r < team_.rows; ++r)
      for (uint32_t j = 0; j < team_.each; ++j) {
        number(r, j) = reflection(r, j);
        if (is_top(r))
          k_.if_(row(r) < team_.width,
                 [&] { weights_[column_of(j) * team_.width + row(r)] = number(r, j).get(); });
      }
    k_.barrier();
    weigh();
    k_.barrier();
    // Some rows at a time, so that q takes few registers beside v.
    const uint32_t words = team_.each * static_cast<uint32_t>(size_of(type_)) / 4;
    const uint32_t together = std::clamp(register_words / 2 / words, 1U, team_.rows);
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
      std::vector<Value> own(width, zero());
      for (uint32_t p = width; p-- > 0;) {
        std::vector<Value> sums(4, zero());
        for (uint32_t c = p + 1; c < width; ++c)
          sums[c % 4] = fma(own[c], products_[word(c * width + p)].get(), sums[c % 4]);
        const Value sum = (sums[0] + sums[1]) + (sums[2] + sums[3]), at = lane + p * width;
        own[p] = taus_[word(p)].get() * (weights_[at].get() - sum);
        weights_[at] = own[p];
      }
    });
  }

  void store_q(Value matrix, uint32_t first, uint32_t together) {
    std::vector<Variable> q;
    for (uint32_t r = first; r < first + together; ++r)
      for (uint32_t j = 0; j < team_.each; ++j)
        q.push_back(k_.variable(select(row(r) == column_of(j), k_.constant(type_, 1), zero())));
    for (uint32_t i = 0; i < team_.each; ++i)
      k_.for_(word(team_.groups), [&](Value owner) {
        const Value from = (word(i * team_.groups) + owner) * team_.width;
        std::vector<Value> w;
        for (uint32_t j = 0; j < team_.each; ++j) w.push_back(weights_[from + column_of(j)].get());
        for (uint32_t r = 0; r < together; ++r) {
          const Value v = k_.subgroup_shuffle(number(first + r, i).get(), h_ * team_.groups + owner);
          for (uint32_t j = 0; j < team_.each; ++j)
            q[r * team_.each + j] = fma(-v, w[j], q[r * team_.each + j].get());
        }
      });
    for (uint32_t r = 0; r < together; ++r)
      for (uint32_t j = 0; j < team_.each; ++j)
        k_.if_(row(first + r) < rows_.m && column_of(j) < q_columns_, [&] {
          q_[place(matrix, rows_.m, row(first + r), q_columns_, column_of(j))] = q[r * team_.each + j].get();
        });
  }

  const QrTeam team_;
  Type type_;
  bool whole_;
  Builder k_;
  Array from_, to_, v_, t_, q_, r_, partial_, top_, products_, taus_, diagonal_, weights_;
  QrRows rows_;
  Value number_, inside_, g_, h_, count_, first_, q_columns_;
  std::vector<Variable> turn_, numbers_, inverses_;
  std::vector<Value> back_;
};

}  // namespace
}  // namespace qr_panels

uint32_t qr_width(uint32_t n) { return n <= 8 ? 8 : n <= 16 ? 16 : 32; }

QrTeam qr_team(Type type, uint32_t width, uint32_t rows, const Limits& limits) {
  using namespace qr_panels;
  QrTeam team;
  team.width = width;
  team.subgroup = limits.subgroup_size;
  team.groups = std::min({8U, team.subgroup, width});
  team.across = team.subgroup / team.groups;
  team.each = width / team.groups;
  const uint32_t words = static_cast<uint32_t>(size_of(type)) / 4;
  const uint32_t most = std::min(most_lanes, limits.max_lanes) / team.subgroup;
  // Fewer rows of a lane only where one subgroup has them all.
  for (team.rows = 2; team.rows * team.each * words <= register_words; team.rows *= 2)
    for (team.subgroups = 1; team.subgroups <= (team.rows < 8 ? 1 : most); team.subgroups *= 2)
      if (team.capacity() >= std::max(rows, width) && shared_bytes(type, team) <= limits.shared_bytes)
        return team;
  team.rows = 0;
  return team;
}

Program qr_panel(Type type, const QrTeam& team) { return qr_panels::Panel(type, team, false).build(); }
Program qr_whole(Type type, const QrTeam& team) { return qr_panels::Panel(type, team, true).build(); }

}  // namespace adit::ops
