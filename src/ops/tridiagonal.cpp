#include "ops/tridiagonal.hpp"

#include <algorithm>
#include <functional>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/number_vectors.hpp"
#include "ops/waiting.hpp"

namespace adit::ops::tridiagonal {

using namespace kernel;

namespace {

constexpr uint32_t subgroups_of_team = 8;
// Every team reads what all others tell: on an H200 1,024 columns took 4.5 ms with 128 teams, 3.6 with 64
// and 3.2 with 43; 256 columns 0.67 with 32 and 0.69 with 16.
constexpr uint32_t most_useful_teams = 40;
// Of a lane, of 32 bits: half of what a lane of 256 may have on the cards that were measured.
constexpr uint32_t most_registers = 128;

class Reduce {
 public:
  Reduce(const FactorPlan& plan, const Teams& teams)
      : s_(teams),
        type_(plan.type),
        complex_(plan.complex),
        n_(teams.n),
        vectors_(plan.type, plan.complex),
        k_("tridiagonal", Team::many(teams.lanes())) {
    x_ = k_.buffer("x", type_, Access::read);
    scale_ = k_.buffer("scale", type_, Access::read);
    if (waits()) words_ = k_.buffer("words", Type::u64, Access::read_write);
    if (s_.stored()) rows_ = k_.buffer("rows", type_, Access::read_write);
    reflections_ = k_.buffer("reflections", type_, Access::write);
    taus_ = k_.buffer("tau", type_, Access::write);
    diagonal_ = k_.buffer("diagonal", type_, Access::write);
    beside_ = k_.buffer("beside", type_, Access::write);
    for (Array* each : {&v_, &w_, &column_}) *each = k_.shared(type_, padded() * parts());
    if (!waits()) product_ = k_.shared(type_, n_ * parts()), next_ = k_.shared(type_, n_ * parts());
    dots_ = k_.shared(type_, s_.subgroups);
    squares_ = k_.shared(type_, s_.subgroups);
    told_ = k_.shared(type_, 2 * parts());
    number_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    lane_ = number_ * s_.subgroup + inside_;
  }

  Program build() {
    take_place();
    load();
    begin();
    k_.barrier();
    k_.for_(word(n_ - 1), [&](Value j) { step(j); });
    return k_.finish();
  }

 private:
  static constexpr uint32_t dot_told = 0, corner_told = 1;

  bool waits() const { return s_.teams > 1; }
  uint32_t padded() const { return (n_ + s_.wide - 1) / s_.wide * s_.wide; }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value real(double number) { return k_.constant(type_, number); }
  uint32_t parts() const { return complex_ ? 2 : 1; }
  Number none() { return {real(0), real(0)}; }
  Number one() { return {real(1), real(0)}; }
  NumberSum variable(Number x) { return {k_, x, complex_}; }
  Number get(const Array& from, Value at) { return load_number(from, at, complex_); }
  void put(const Array& to, Value at, Number x) { store_number(to, at, x, complex_); }
  Number turned(Number x) { return conjugated(x, complex_); }
  Number or_none(Value condition, Number x) { return chosen(condition, x, none(), complex_); }
  Number less_product(Number f, Number g, Number x) { return plus_product(opposite(f), g, x, complex_); }
  static Value wide(Value x) { return convert(x, Type::u64); }
  Value row_of(uint32_t q) { return (number_ + q * s_.subgroups) * s_.teams + mine_; }
  uint32_t groups() const {  // of `wide` numbers of a vector that are a lane's
    return (n_ + s_.wide * s_.lanes() - 1) / (s_.wide * s_.lanes());
  }
  uint32_t held() const { return groups() * s_.wide; }
  Value place_of(uint32_t i) { return (lane_ + i / s_.wide * s_.lanes()) * s_.wide + i % s_.wide; }

  // Teams take tickets, so that those that share a matrix run at the same time.
  void take_place() {
    if (!waits()) {
      matrix_ = k_.team(Type::u64);
      mine_ = word(0);
    } else {
      const Array ticket = k_.shared(Type::u32, 1);
      const Value mine = take_told_ticket(k_, words_, k_.constant(Type::u64, 0), ticket, lane_);
      matrix_ = wide(mine / s_.teams);
      mine_ = mine % s_.teams;
    }
    const Value by = scale_[matrix_];
    // Not its inverse, which is infinite for the smallest numbers.
    scaled_by_ = select(is_nan(by), by.like(0), by);
  }
  // Of the lower triangle, whose diagonal is real.
  Number given(Value row, Value column) {
    const Value last = word(n_ - 1), i = min(max(row, column), last), j = min(row, column);
    const Number x = get(x_, (matrix_ * n_ + wide(i)) * n_ + wide(min(j, last)));
    Number scaled{x.re / scaled_by_, x.im};
    if (complex_) {
      const Value im = x.im / scaled_by_;
      scaled.im = select(row < column, -im, select(row == column, im.like(0), im));
    }
    return or_none(row < n_ && column < n_ && scaled_by_ != 0, scaled);
  }

  void load() {
    for (uint32_t q = 0; q < s_.each; ++q)
      for (uint32_t c = 0; c < s_.chunks; ++c) {
        std::vector<Number> some;
        for (uint32_t e = 0; e < s_.wide; ++e)
          some.push_back(given(row_of(q), (inside_ + c * s_.subgroup) * s_.wide + e));
        if (q >= s_.kept) {
          vectors_.store(rows_, stored_at(q, c), some);
          continue;
        }
        for (const Number& x : some) a_.push_back(variable(x));
      }
  }
  // Of a row that is kept.
  const NumberSum& a(uint32_t q, uint32_t c, uint32_t e) { return a_[(q * s_.chunks + c) * s_.wide + e]; }
  // Where a lane's numbers of one that is not are, by `wide` at a time.
  Value stored_at(uint32_t q, uint32_t c) {
    const Value subgroup = (matrix_ * s_.teams + wide(mine_)) * s_.subgroups + wide(number_);
    return (subgroup * s_.stored() + (q - s_.kept)) * (s_.chunks * s_.subgroup) + wide(inside_) +
           uint64_t{c} * s_.subgroup;
  }
  std::vector<Number> numbers_of(uint32_t q, uint32_t c) {
    if (q >= s_.kept) return vectors_.load(rows_, stored_at(q, c));
    std::vector<Number> all;
    for (uint32_t e = 0; e < s_.wide; ++e) all.push_back(a(q, c, e).get());
    return all;
  }

  // The first column, before any reflection.
  void begin() {
    std::vector<Number> x;
    for (uint32_t i = 0; i < held(); ++i) x.push_back(given(place_of(i), word(0)));
    for (uint32_t i = 0; i < held(); ++i) own_.push_back(variable(none()));
    const std::vector<Number> nothing(held(), none());
    put_vectors(nothing, nothing, x, word(0));
  }

  // The vectors of a step: v and w of the reflection that is still to be applied, and column `at` of what it
  // leaves, whose numbers from the one after the diagonal on are the next reflection's.
  void put_vectors(const std::vector<Number>& v, const std::vector<Number>& w, const std::vector<Number>& x,
                   Value at) {
    Value square = real(0);
    std::vector<Number> below;
    for (uint32_t i = 0; i < held(); ++i) {
      const Value place = place_of(i);
      below.push_back(or_none(place > at, x[i]));
      own_[i].set(below[i]);
      square = plus_square(or_none(place > at + 1, x[i]), square);
    }
    tell_one(at, x, [&](Number found) {
      k_.if_(mine_ == 0, [&] { diagonal_[matrix_ * n_ + wide(at)] = found.re; });
    });
    tell_one(at + 1, x, [&](Number found) { put(told_, word(corner_told), found); });
    for (uint32_t g = 0; g < groups(); ++g) {
      const Value index = lane_ + g * s_.lanes();
      k_.if_(index < padded() / s_.wide, [&] {
        vectors_.store(v_, index, some_of(v, g));
        vectors_.store(w_, index, some_of(w, g));
        vectors_.store(column_, index, some_of(below, g));
      });
    }
    const Value sum = k_.subgroup_reduce(Reduction::add, square);
    k_.if_(inside_ == 0, [&] { squares_[number_] = sum; });
  }
  Value plus_square(Number x, Value sum) {
    const Value more = fma(x.re, x.re, sum);
    return complex_ ? fma(x.im, x.im, more) : more;
  }
  // Number `at` of a vector, by the lane that has it.
  void tell_one(Value at, const std::vector<Number>& all, const std::function<void(Number)>& f) {
    for (uint32_t g = 0; g < groups(); ++g)
      k_.if_(at / s_.wide == lane_ + g * s_.lanes(), [&] {
        Number found = all[g * s_.wide];
        for (uint32_t e = 1; e < s_.wide; ++e)
          found = chosen(at % s_.wide == e, all[g * s_.wide + e], found, complex_);
        f(found);
      });
  }
  std::vector<Number> some_of(const std::vector<Number>& all, uint32_t g) const {
    const auto first = all.begin() + g * s_.wide;
    return {first, first + s_.wide};
  }

  void step(Value j) {
    turn_and_multiply(j);
    reflect();
    std::vector<Number> v, p, next;
    for (uint32_t i = 0; i < held(); ++i) {
      const Value place = place_of(i);
      const Number x = product_of(own_[i].get(), inverse_length_, complex_);
      v.push_back(chosen(place == j + 1, one(), or_none(place > j + 1, x), complex_));
    }
    store_reflection(j, v);
    hear(j, p, next);
    // Of complex numbers real too: v^H a v.
    Value dot = real(0);
    for (uint32_t i = 0; i < held(); ++i) {
      dot = fma(p[i].re, v[i].re, dot);
      if (complex_) dot = fma(p[i].im, v[i].im, dot);
    }
    tell_one(j + 1, p, [&](Number found) { put(told_, word(dot_told), found); });
    const Value here = k_.subgroup_reduce(Reduction::add, dot);
    k_.if_(inside_ == 0, [&] { dots_[number_] = here; });
    k_.barrier();
    const Value half = size_of_tau() * sum_of(dots_) * -0.5;
    const Number first = product_of(tau_, get(told_, word(dot_told)), complex_),
                 corner{complex_ ? first.re + half : fma(tau_.re, get(told_, word(dot_told)).re, half),
                        first.im};
    std::vector<Number> w;
    for (uint32_t i = 0; i < held(); ++i) {
      const Number along = product_of(tau_, p[i], complex_);
      w.push_back({fma(half, v[i].re, along.re), complex_ ? fma(half, v[i].im, along.im) : along.im});
      const Number left = ops::sum_of(next[i], opposite(w[i]), complex_);
      next[i] = less_product(v[i], turned(corner), left);
    }
    put_vectors(v, w, next, j + 1);
    k_.barrier();
  }
  Value size_of_tau() {
    const Value square = tau_.re * tau_.re;
    return complex_ ? fma(tau_.im, tau_.im, square) : square;
  }
  Value sum_of(const Array& parts) {
    std::vector<Value> all;
    for (uint32_t s = 0; s < s_.subgroups; ++s) all.push_back(parts[word(s)].get());
    for (size_t count = all.size(); count > 1; count = (count + 1) / 2)
      for (size_t i = 0; i < count / 2; ++i) all[i] = all[i] + all[count - 1 - i];
    return all[0];
  }

  // The reflection before is applied to this team's rows, and they are multiplied by the column.
  void turn_and_multiply(Value j) {
    std::vector<NumberSum> sums, seen;
    std::vector<Number> v_row, w_row;
    for (uint32_t q = 0; q < s_.each; ++q) {
      sums.push_back(variable(none()));
      seen.push_back(variable(none()));
      const Value row = min(row_of(q), word(n_ - 1));
      v_row.push_back(get(v_, row));
      w_row.push_back(get(w_, row));
    }
    k_.if_(row_of(s_.each - 1) > j, [&] {
      // Chunks whose columns are done are left out, some at a time: a branch for each would part their loads.
      constexpr uint32_t together = 4;
      for (uint32_t c = 0; c < s_.chunks; c += together) {
        const uint32_t end = std::min(c + together, s_.chunks);
        k_.if_(j + 1 < end * s_.chunk(), [&] {
          for (uint32_t i = c; i < end; ++i) chunk(i, v_row, w_row, sums);
          for (uint32_t i = c; i < end; ++i) look(j, i, seen);
        });
      }
      const Value owner = (j + 1) / s_.wide % s_.subgroup;
      for (uint32_t q = 0; q < s_.each; ++q) {
        const Number mine = sums[q].get(), there = seen[q].get();
        const Number sum = of_parts(mine, [&](Value x) { return k_.subgroup_reduce(Reduction::add, x); });
        const Number next = of_parts(there, [&](Value x) { return k_.subgroup_shuffle(x, owner); });
        const Value row = row_of(q);
        k_.if_(inside_ == 0 && row > j && row < n_, [&] { tell(j, row, sum, next); });
      }
    });
  }
  Number of_parts(Number x, const std::function<Value(Value)>& f) {
    const Value re = f(x.re);
    return {re, complex_ ? f(x.im) : re};
  }
  void chunk(uint32_t c, const std::vector<Number>& v_row, const std::vector<Number>& w_row,
             const std::vector<NumberSum>& sums) {
    const bool is_whole = (c + 1) * s_.chunk() <= padded();
    const Value place = inside_ + c * s_.subgroup, last = word(padded() / s_.wide - 1);
    const Value index = is_whole ? place : min(place, last);
    const std::vector<Number> v = vectors_.load(v_, index), w = vectors_.load(w_, index),
                              x = vectors_.load(column_, index);
    for (uint32_t q = 0; q < s_.each; ++q) {
      std::vector<Number> now = numbers_of(q, c);
      Number sum = sums[q].get();
      for (uint32_t e = 0; e < s_.wide; ++e) {
        now[e] = less_product(v_row[q], turned(w[e]), less_product(w_row[q], turned(v[e]), now[e]));
        // Columns beyond the matrix's last are as that is, and count for nothing.
        const Number by = is_whole ? x[e] : or_none(place <= last, x[e]);
        sum = plus_product(now[e], by, sum, complex_);
        if (q < s_.kept) a(q, c, e).set(now[e]);
      }
      if (q >= s_.kept) vectors_.store(rows_, stored_at(q, c), now);
      sums[q].set(sum);
    }
  }
  // Column j + 1, where it is in this chunk.
  void look(Value j, uint32_t c, const std::vector<NumberSum>& seen) {
    k_.if_((j + 1) / s_.chunk() == c, [&] {
      const Value which = (j + 1) % s_.wide;
      for (uint32_t q = 0; q < s_.each; ++q) {
        const std::vector<Number> all = numbers_of(q, c);
        Number found = all[0];
        for (uint32_t e = 1; e < s_.wide; ++e) found = chosen(which == e, all[e], found, complex_);
        seen[q].set(found);
      }
    });
  }

  // Of a row: its number of the product and that of the next column; real ones as one number that is complex.
  ToldNumbers told() { return {k_, type_, true, words_}; }
  // Lanes side by side wait for words side by side, though each has some rows that follow each other: 256
  // columns took an H200 603 us so, 635 in the order of the rows.
  Value word_at(Value j, Value row, uint32_t which = 0) {
    const Value place = row % s_.wide * (padded() / s_.wide) + row / s_.wide;
    return ((matrix_ * n_ + wide(j)) * parts() + which) * padded() + wide(place) + 1;
  }
  void tell(Value j, Value row, Number product, Number next) {
    if (!waits()) {
      put(product_, row, product);
      put(next_, row, next);
    } else if (complex_) {
      told().tell(word_at(j, row), product);
      told().tell(word_at(j, row, 1), next);
    } else {
      told().tell(word_at(j, row), {product.re, next.re});
    }
  }
  // What was told of some rows: products, then numbers of the next column.
  std::vector<Number> heard(Value j, const std::vector<Value>& rows) {
    std::vector<Number> all;
    if (!waits()) {
      for (const Array* from : {&product_, &next_})
        for (const Value& row : rows) all.push_back(get(*from, row));
      return all;
    }
    std::vector<Value> at;
    for (uint32_t which = 0; which < parts(); ++which)
      for (const Value& row : rows) at.push_back(word_at(j, row, which));
    all = told().wait_for(at);
    if (complex_) return all;
    for (size_t e = 0; e < rows.size(); ++e) all.push_back({all[e].im, all[e].im});
    return all;
  }
  // The products with v of this lane's places, and the next column.
  void hear(Value j, std::vector<Number>& p, std::vector<Number>& next) {
    std::vector<NumberSum> products, nexts;
    for (uint32_t i = 0; i < held(); ++i) {
      products.push_back(variable(none()));
      nexts.push_back(variable(none()));
    }
    if (!waits()) k_.barrier();
    for (uint32_t g = 0; g < groups(); ++g) {
      const Value first = place_of(g * s_.wide);
      k_.if_(first + (s_.wide - 1) > j && first < n_, [&] {
        // Where a group is not all there, its lane waits for another in it, and does not use it.
        std::vector<Value> places;
        for (uint32_t e = 0; e < s_.wide; ++e) places.push_back(min(max(first + e, j + 1), word(n_ - 1)));
        const std::vector<Number> found = heard(j, places);
        for (uint32_t e = 0; e < s_.wide; ++e) {
          products[g * s_.wide + e].set(found[e]);
          nexts[g * s_.wide + e].set(found[s_.wide + e]);
        }
      });
    }
    for (uint32_t i = 0; i < held(); ++i) {
      const Value counts = place_of(i) > j && place_of(i) < n_;
      const Number beside = nexts[i].get(), product = products[i].get();
      const Number rest{fma(-beta_, beside.re, product.re),
                        complex_ ? fma(-beta_, beside.im, product.im) : product.im};
      p.push_back(or_none(counts, product_of(rest, inverse_length_, complex_)));
      next.push_back(or_none(counts, beside));
    }
  }

  // Of the column as it is: what it becomes, beta, and tau. What is nothing beside the matrix is taken for
  // zero, so that the squares of no reflection vanish.
  void reflect() {
    const double nothing = type_ == Type::f32 ? 1e-30 : 1e-280;
    const Value below = sum_of(squares_);
    const Number corner = get(told_, word(corner_told));
    const Value beyond = complex_ ? fma(corner.im, corner.im, below) : below, is_none = !(beyond > nothing);
    const Value length = sqrt(fma(corner.re, corner.re, beyond));
    const Value beta = select(corner.re < 0, length, -length), distance = corner.re - beta;
    if (complex_) {
      const Value size = fma(distance, distance, corner.im * corner.im);
      inverse_length_ = or_none(!is_none, {distance / size, -corner.im / size});
      tau_ = or_none(!is_none, {(beta - corner.re) / beta, -corner.im / beta});
    } else {
      inverse_length_ = or_none(!is_none, {1 / distance, distance});
      tau_ = or_none(!is_none, {(beta - corner.re) / beta, beta});
    }
    beta_ = select(is_none, corner.re, beta);
  }

  void store_reflection(Value j, const std::vector<Number>& v) {
    k_.if_(j % s_.teams == mine_, [&] {
      // Rows of all panels before panel p, whose own first row is width * p + 1.
      const Value p = j / width, start = p * width + 1;
      const Value first = panel_first(p), column = j % width;
      for (uint32_t i = 0; i < held(); ++i) {
        const Value place = place_of(i);
        k_.if_(place >= start && place < n_, [&] {
          const Value row = matrix_ * panel_rows(n_) + wide(first + (place - start));
          put(reflections_, row * width + wide(column), v[i]);
        });
      }
      k_.if_(lane_ == 0, [&] {
        put(taus_, matrix_ * n_ + wide(j), tau_);
        beside_[matrix_ * n_ + wide(j)] = beta_;
      });
    });
  }
  // Panel p has ceil((n - 1 - width p) / width) times width rows.
  Value panel_first(Value p) {
    const uint32_t most = (n_ - 1 + width - 1) / width;
    // The sum of most - i for i < p.
    return (p * most - p * (p - 1) / 2) * width;
  }

  const Teams& s_;
  Type type_;
  bool complex_;
  uint32_t n_;
  NumberVectors vectors_;
  Builder k_;
  Array x_, scale_, words_, rows_, reflections_, taus_, diagonal_, beside_;
  Array v_, w_, column_, product_, next_, dots_, squares_, told_;
  Value number_, inside_, lane_, matrix_, mine_, scaled_by_, beta_;
  Number tau_, inverse_length_;
  std::vector<NumberSum> a_, own_;
};

}  // namespace

Teams teams_for(const FactorPlan& plan, const Limits& limits) {
  Teams made;
  made.n = plan.n;
  if (!plan.by_hand || !has_hands(limits) || !limits.float64 || !limits.int64) return made;
  made.subgroup = limits.subgroup_size;
  made.subgroups = subgroups_of_team;
  made.wide = NumberVectors(plan.type, plan.complex).count();
  made.chunks = (plan.n + made.chunk() - 1) / made.chunk();
  const bool may_wait = plan.may_wait && limits.int64_atomics;
  const uint32_t most = may_wait ? std::max(1U, limits.sure_teams) : 1;
  const auto share = static_cast<uint32_t>(most / std::min<uint64_t>(plan.batch, most));
  const uint32_t parts = plan.complex ? 2 : 1;
  const auto numbers =
      static_cast<uint32_t>(made.chunks * made.wide * parts * size_of(plan.type) / 4);  // registers of a row
  const uint32_t rows_each = std::max(1U, most_registers / numbers);
  // As few as hold it, as many as there are for each; more than one only where a row is no work for a
  // subgroup. Of long rows a subgroup has two at least: on an H200 the kernel of f64 with one row of four
  // chunks gives wrong numbers, nobody knows why; with two, or of three or five chunks, it does not.
  const uint32_t least_rows = made.chunks >= 4 ? 2 : 1, of_team = subgroups_of_team * least_rows;
  const uint32_t needed = (plan.n + subgroups_of_team * rows_each - 1) / (subgroups_of_team * rows_each);
  const uint32_t useful = plan.n <= 64 ? 1 : (plan.n + of_team - 1) / of_team;
  const uint32_t teams = std::min(most, std::max(needed, std::min({useful, share, most_useful_teams})));
  made.each = (plan.n + teams * made.subgroups - 1) / (teams * made.subgroups);
  made.kept = std::min(made.each, rows_each);
  // One team alone would have too many rows in memory.
  if (made.stored() > (teams == 1 ? 0U : 2U) || made.lanes() > limits.max_lanes) return made;
  const uint64_t shared = (uint64_t{plan.n} + made.wide) * 3 + (teams == 1 ? 2 * plan.n : 0) + 64;
  if (shared * parts * size_of(plan.type) <= limits.shared_bytes) made.teams = teams;
  return made;
}

uint32_t panel_rows(uint32_t n) {
  uint32_t rows = 0;
  for (const Panel& panel : panels_of(n)) rows += panel.rows;
  return rows;
}

std::vector<Panel> panels_of(uint32_t n) {
  std::vector<Panel> made;
  uint32_t first = 0;
  for (uint32_t start = 1; start < n; start += width) {
    const uint32_t rows = (n - start + width - 1) / width * width;
    made.push_back({start, rows, first});
    first += rows;
  }
  return made;
}

uint64_t words_of(const FactorPlan& plan, const Teams& teams) {
  if (teams.teams == 1) return 0;
  const uint64_t places = (plan.n + teams.wide - 1) / teams.wide * teams.wide;
  return 2 + plan.batch * plan.n * places * ToldNumbers::words(plan.type, true) * (plan.complex ? 2 : 1);
}

Program reduce(const FactorPlan& plan, const Teams& teams) { return Reduce(plan, teams).build(); }

Program triangles(const FactorPlan& plan) {
  Builder k("tridiagonal_triangles", Team::many(256));
  const bool complex = plan.complex;
  const uint32_t parts = complex ? 2 : 1;
  const Array reflections = k.buffer("reflections", plan.type, Access::read_write),
              taus = k.buffer("tau", plan.type, Access::read), to = k.buffer("t", plan.type, Access::write);
  const Value n = k.scalar("n", Type::u32), most = (n - 1 + (width - 1)) / width;
  const auto word = [&](uint32_t number) { return k.constant(Type::u32, number); };
  const auto get = [&](const Array& from, Value at) { return load_number(from, at, complex); };
  const auto put = [&](const Array& array, Value at, Number x) { store_number(array, at, x, complex); };
  const Value zero = k.constant(plan.type, 0);
  const Number none{zero, zero};
  const Value team = k.team(Type::u64), count = convert(most, Type::u64), matrix = team / count,
              p = convert(team % count, Type::u32);
  const Value all_rows = convert(most * (most + 1) / 2 * width, Type::u64);
  const Value first = matrix * all_rows + convert((p * most - p * (p - 1) / 2) * width, Type::u64);
  const Value rows = (most - p) * width;
  constexpr uint32_t stride = width + 1;
  const uint32_t at_a_time = complex ? 16 : 32;
  const Array products = k.shared(plan.type, width * stride * parts),
              some = k.shared(plan.type, at_a_time * width * parts);
  // Products of all reflections with each other. Those of a reflection with the ones before it are needed,
  // above the diagonal; t comes to lie below it, its columns in rows.
  const auto t_at = [&](Value i, Value j) { return j * stride + i; };
  k.each(word(width * width), [&](Value i) { put(products, i / width * stride + i % width, none); });
  k.for_(word(0), rows, word(at_a_time), [&](Value begin) {
    k.each(word(at_a_time * width), [&](Value i) {
      const Value row = begin + i / width, column = i % width;
      const Value at = (first + convert(row, Type::u64)) * width + convert(column, Type::u64);
      const Value is_there = p * width + 1 + row < n && p * width + column < n - 1;
      put(some, i, chosen(is_there, get(reflections, at), none, complex));
      k.if_(!is_there, [&] { put(reflections, at, none); });
    });
    k.each(word(width * width), [&](Value i) {
      const Value a = i / width, b = i % width;
      const NumberSum sum(k, get(products, a * stride + b), complex);
      k.for_(word(0), word(at_a_time), word(8), [&](Value r) {
        for (uint32_t u = 0; u < 8; ++u)
          sum.set(plus_product(conjugated(get(some, (r + u) * width + a), complex),
                               get(some, (r + u) * width + b), sum.get(), complex));
      });
      put(products, a * stride + b, sum.get());
    });
  });
  const auto tau = [&](Value j) {
    const Value place = p * width + j;
    const Number x = get(taus, matrix * convert(n, Type::u64) + convert(min(place, n - 2), Type::u64));
    return chosen(place < n - 1, x, none, complex);
  };
  // Column j: -tau t (v^H v_j) above the diagonal.
  k.for_(word(width), [&](Value j) {
    k.each(word(width), [&](Value i) {
      const Number by = tau(j);
      const NumberSum sum(k, none, complex);
      k.for_(i, j, word(1), [&](Value m) {
        sum.set(plus_product(get(products, t_at(i, m)), get(products, m * stride + j), sum.get(), complex));
      });
      const Number above = product_of(opposite(by), sum.get(), complex);
      k.if_(i <= j, [&] { put(products, t_at(i, j), chosen(i < j, above, by, complex)); });
    });
  });
  k.each(word(width * width), [&](Value i) {
    const Value row = i / width, column = i % width;
    const Number x = get(products, t_at(row, max(row, column)));
    put(to, team * (width * width) + convert(i, Type::u64), chosen(row <= column, x, none, complex));
  });
  return k.finish();
}

}  // namespace adit::ops::tridiagonal
