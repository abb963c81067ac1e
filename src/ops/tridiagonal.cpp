#include "ops/tridiagonal.hpp"

#include <algorithm>
#include <functional>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
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
      : s_(teams), type_(plan.type), n_(teams.n), k_("tridiagonal", Team::many(teams.lanes())) {
    x_ = k_.buffer("x", type_, Access::read);
    scale_ = k_.buffer("scale", type_, Access::read);
    if (waits()) words_ = k_.buffer("words", Type::u64, Access::read_write);
    if (s_.stored()) rows_ = k_.buffer("rows", type_, Access::read_write);
    reflections_ = k_.buffer("reflections", type_, Access::write);
    taus_ = k_.buffer("tau", type_, Access::write);
    diagonal_ = k_.buffer("diagonal", type_, Access::write);
    beside_ = k_.buffer("beside", type_, Access::write);
    for (Array* each : {&v_, &w_, &column_}) *each = k_.shared(type_, padded());
    if (!waits()) product_ = k_.shared(type_, n_), next_ = k_.shared(type_, n_);
    dots_ = k_.shared(type_, s_.subgroups);
    squares_ = k_.shared(type_, s_.subgroups);
    told_ = k_.shared(type_, 2);
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
  Value given(Value row, Value column) {
    const Value last = word(n_ - 1), i = min(max(row, column), last), j = min(row, column);
    const Value x = x_[(matrix_ * n_ + wide(i)) * n_ + wide(min(j, last))];
    return select(row < n_ && column < n_ && scaled_by_ != 0, x / scaled_by_, x.like(0));
  }

  void load() {
    for (uint32_t q = 0; q < s_.each; ++q)
      for (uint32_t c = 0; c < s_.chunks; ++c) {
        std::vector<Value> some;
        for (uint32_t e = 0; e < s_.wide; ++e)
          some.push_back(given(row_of(q), (inside_ + c * s_.subgroup) * s_.wide + e));
        if (q >= s_.kept) {
          rows_.store(stored_at(q, c), packed(some, 0));
          continue;
        }
        for (const Value& x : some) a_.push_back(k_.variable(x));
      }
  }
  // Of a row that is kept.
  const Variable& a(uint32_t q, uint32_t c, uint32_t e) { return a_[(q * s_.chunks + c) * s_.wide + e]; }
  // Where a lane's numbers of one that is not are, by `wide` at a time.
  Value stored_at(uint32_t q, uint32_t c) {
    const Value subgroup = (matrix_ * s_.teams + wide(mine_)) * s_.subgroups + wide(number_);
    return (subgroup * s_.stored() + (q - s_.kept)) * (s_.chunks * s_.subgroup) + wide(inside_) +
           uint64_t{c} * s_.subgroup;
  }
  std::vector<Value> numbers_of(uint32_t q, uint32_t c) {
    std::vector<Value> all;
    const Value stored =
        q < s_.kept ? Value() : rows_.load_vector(stored_at(q, c), static_cast<int>(s_.wide));
    for (uint32_t e = 0; e < s_.wide; ++e)
      all.push_back(q < s_.kept ? a(q, c, e).get() : stored[static_cast<int>(e)]);
    return all;
  }

  // The first column, before any reflection.
  void begin() {
    std::vector<Value> x;
    for (uint32_t i = 0; i < held(); ++i) x.push_back(given(place_of(i), word(0)));
    for (uint32_t i = 0; i < held(); ++i) own_.push_back(k_.variable(type_, 0.0));
    const std::vector<Value> none(held(), real(0));
    put_vectors(none, none, x, word(0));
  }

  // The vectors of a step: v and w of the reflection that is still to be applied, and column `at` of what it
  // leaves, whose numbers from the one after the diagonal on are the next reflection's.
  void put_vectors(const std::vector<Value>& v, const std::vector<Value>& w, const std::vector<Value>& x,
                   Value at) {
    Value square = real(0);
    std::vector<Value> below;
    for (uint32_t i = 0; i < held(); ++i) {
      const Value place = place_of(i);
      below.push_back(select(place > at, x[i], real(0)));
      own_[i] = below[i];
      const Value counts = select(place > at + 1, x[i], real(0));
      square = fma(counts, counts, square);
    }
    tell_one(at, x,
             [&](Value found) { k_.if_(mine_ == 0, [&] { diagonal_[matrix_ * n_ + wide(at)] = found; }); });
    tell_one(at + 1, x, [&](Value found) { told_[word(corner_told)] = found; });
    for (uint32_t g = 0; g < groups(); ++g) {
      const Value index = lane_ + g * s_.lanes();
      k_.if_(index < padded() / s_.wide, [&] {
        v_.store(index, packed(v, g));
        w_.store(index, packed(w, g));
        column_.store(index, packed(below, g));
      });
    }
    const Value sum = k_.subgroup_reduce(Reduction::add, square);
    k_.if_(inside_ == 0, [&] { squares_[number_] = sum; });
  }
  // Number `at` of a vector, by the lane that has it.
  void tell_one(Value at, const std::vector<Value>& all, const std::function<void(Value)>& f) {
    for (uint32_t g = 0; g < groups(); ++g)
      k_.if_(at / s_.wide == lane_ + g * s_.lanes(), [&] {
        Value found = all[g * s_.wide];
        for (uint32_t e = 1; e < s_.wide; ++e) found = select(at % s_.wide == e, all[g * s_.wide + e], found);
        f(found);
      });
  }
  Value packed(const std::vector<Value>& all, uint32_t g) {
    const size_t first = size_t{g} * s_.wide;
    if (s_.wide == 2) return k_.pack({all[first], all[first + 1]});
    return k_.pack({all[first], all[first + 1], all[first + 2], all[first + 3]});
  }

  void step(Value j) {
    turn_and_multiply(j);
    reflect();
    std::vector<Value> v, p, next;
    for (uint32_t i = 0; i < held(); ++i) {
      const Value place = place_of(i), x = own_[i].get() * inverse_length_;
      v.push_back(select(place == j + 1, real(1), select(place > j + 1, x, real(0))));
    }
    store_reflection(j, v);
    hear(j, p, next);
    Value dot = real(0);
    for (uint32_t i = 0; i < held(); ++i) dot = fma(p[i], v[i], dot);
    tell_one(j + 1, p, [&](Value found) { told_[word(dot_told)] = found; });
    const Value here = k_.subgroup_reduce(Reduction::add, dot);
    k_.if_(inside_ == 0, [&] { dots_[number_] = here; });
    k_.barrier();
    const Value half = tau_ * tau_ * sum_of(dots_) * -0.5;
    const Value corner = fma(tau_, told_[word(dot_told)].get(), half);
    std::vector<Value> w;
    for (uint32_t i = 0; i < held(); ++i) {
      w.push_back(fma(half, v[i], tau_ * p[i]));
      next[i] = fma(-v[i], corner, next[i] - w[i]);
    }
    put_vectors(v, w, next, j + 1);
    k_.barrier();
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
    std::vector<Variable> sums, seen;
    std::vector<Value> v_row, w_row;
    for (uint32_t q = 0; q < s_.each; ++q) {
      sums.push_back(k_.variable(type_, 0.0));
      seen.push_back(k_.variable(type_, 0.0));
      const Value row = min(row_of(q), word(n_ - 1));
      v_row.push_back(v_[row].get());
      w_row.push_back(w_[row].get());
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
        const Value sum = k_.subgroup_reduce(Reduction::add, sums[q].get());
        const Value next = k_.subgroup_shuffle(seen[q].get(), owner), row = row_of(q);
        k_.if_(inside_ == 0 && row > j && row < n_, [&] { tell(j, row, sum, next); });
      }
    });
  }
  void chunk(uint32_t c, const std::vector<Value>& v_row, const std::vector<Value>& w_row,
             const std::vector<Variable>& sums) {
    const int vector = static_cast<int>(s_.wide);
    const bool is_whole = (c + 1) * s_.chunk() <= padded();
    const Value place = inside_ + c * s_.subgroup, last = word(padded() / s_.wide - 1);
    const Value index = is_whole ? place : min(place, last);
    const Value v = v_.load_vector(index, vector), w = w_.load_vector(index, vector),
                x = column_.load_vector(index, vector);
    for (uint32_t q = 0; q < s_.each; ++q) {
      std::vector<Value> turned = numbers_of(q, c);
      Value sum = sums[q].get();
      for (uint32_t e = 0; e < s_.wide; ++e) {
        const int at = static_cast<int>(e);
        turned[e] = fma(-v_row[q], w[at], fma(-w_row[q], v[at], turned[e]));
        // Columns beyond the matrix's last are as that is, and count for nothing.
        const Value by = is_whole ? x[at] : select(place <= last, x[at], real(0));
        sum = fma(turned[e], by, sum);
        if (q < s_.kept) a(q, c, e) = turned[e];
      }
      if (q >= s_.kept) rows_.store(stored_at(q, c), packed(turned, 0));
      sums[q] = sum;
    }
  }
  // Column j + 1, where it is in this chunk.
  void look(Value j, uint32_t c, const std::vector<Variable>& seen) {
    k_.if_((j + 1) / s_.chunk() == c, [&] {
      const Value which = (j + 1) % s_.wide;
      for (uint32_t q = 0; q < s_.each; ++q) {
        const std::vector<Value> all = numbers_of(q, c);
        Value found = all[0];
        for (uint32_t e = 1; e < s_.wide; ++e) found = select(which == e, all[e], found);
        seen[q] = found;
      }
    });
  }

  // Of a row: its number of the product and that of the next column, as one number that is complex.
  ToldNumbers told() { return {k_, type_, true, words_}; }
  // Lanes side by side wait for words side by side, though each has some rows that follow each other: 256
  // columns took an H200 603 us so, 635 in the order of the rows.
  Value word_at(Value j, Value row) {
    const Value place = row % s_.wide * (padded() / s_.wide) + row / s_.wide;
    return (matrix_ * n_ + wide(j)) * padded() + wide(place) + 1;
  }
  void tell(Value j, Value row, Value product, Value next) {
    if (waits()) {
      told().tell(word_at(j, row), {product, next});
    } else {
      product_[row] = product;
      next_[row] = next;
    }
  }
  // The products with v of this lane's places, and the next column.
  void hear(Value j, std::vector<Value>& p, std::vector<Value>& next) {
    std::vector<Variable> products, nexts;
    for (uint32_t i = 0; i < held(); ++i) {
      products.push_back(k_.variable(type_, 0.0));
      nexts.push_back(k_.variable(type_, 0.0));
    }
    if (!waits()) k_.barrier();
    for (uint32_t g = 0; g < groups(); ++g) {
      const Value first = place_of(g * s_.wide);
      k_.if_(first + (s_.wide - 1) > j && first < n_, [&] {
        // Where a group is not all there, its lane waits for another in it, and does not use it.
        std::vector<Value> places;
        for (uint32_t e = 0; e < s_.wide; ++e) places.push_back(min(max(first + e, j + 1), word(n_ - 1)));
        if (waits()) {
          std::vector<Value> at;
          for (const Value& place : places) at.push_back(word_at(j, place));
          const std::vector<Number> found = told().wait_for(at);
          for (uint32_t e = 0; e < s_.wide; ++e) {
            products[g * s_.wide + e] = found[e].re;
            nexts[g * s_.wide + e] = found[e].im;
          }
        } else {
          for (uint32_t e = 0; e < s_.wide; ++e) {
            products[g * s_.wide + e] = product_[places[e]].get();
            nexts[g * s_.wide + e] = next_[places[e]].get();
          }
        }
      });
    }
    for (uint32_t i = 0; i < held(); ++i) {
      const Value counts = place_of(i) > j && place_of(i) < n_;
      const Value sum = fma(-beta_, nexts[i].get(), products[i].get()) * inverse_length_;
      p.push_back(select(counts, sum, real(0)));
      next.push_back(select(counts, nexts[i].get(), real(0)));
    }
  }

  // Of the column as it is: what it becomes, beta, and tau. What is nothing beside the matrix is taken for
  // zero, so that the squares of no reflection vanish.
  void reflect() {
    const double nothing = type_ == Type::f32 ? 1e-30 : 1e-280;
    const Value below = sum_of(squares_), corner = told_[word(corner_told)];
    const Value is_none = !(below > nothing);
    const Value length = sqrt(fma(corner, corner, below));
    const Value beta = select(corner < 0, length, -length);
    inverse_length_ = select(is_none, real(0), 1 / (corner - beta));
    tau_ = select(is_none, real(0), (beta - corner) / beta);
    beta_ = select(is_none, corner, beta);
  }

  void store_reflection(Value j, const std::vector<Value>& v) {
    k_.if_(j % s_.teams == mine_, [&] {
      // Rows of all panels before panel p, whose own first row is width * p + 1.
      const Value p = j / width, start = p * width + 1;
      const Value first = panel_first(p), column = j % width;
      for (uint32_t i = 0; i < held(); ++i) {
        const Value place = place_of(i);
        k_.if_(place >= start && place < n_, [&] {
          const Value row = matrix_ * panel_rows(n_) + wide(first + (place - start));
          reflections_[row * width + wide(column)] = v[i];
        });
      }
      k_.if_(lane_ == 0, [&] {
        taus_[matrix_ * n_ + wide(j)] = tau_;
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
  uint32_t n_;
  Builder k_;
  Array x_, scale_, words_, rows_, reflections_, taus_, diagonal_, beside_;
  Array v_, w_, column_, product_, next_, dots_, squares_, told_;
  Value number_, inside_, lane_, matrix_, mine_, scaled_by_, beta_, tau_, inverse_length_;
  std::vector<Variable> a_, own_;
};

}  // namespace

Teams teams_for(const FactorPlan& plan, const Limits& limits) {
  Teams made;
  made.n = plan.n;
  if (!plan.by_hand || plan.complex || !has_hands(limits) || !limits.float64 || !limits.int64) return made;
  made.subgroup = limits.subgroup_size;
  made.subgroups = subgroups_of_team;
  made.wide = 16 / static_cast<uint32_t>(size_of(plan.type));
  made.chunks = (plan.n + made.chunk() - 1) / made.chunk();
  const bool may_wait = plan.may_wait && limits.int64_atomics;
  const uint32_t most = may_wait ? std::max(1U, limits.sure_teams) : 1;
  const auto share = static_cast<uint32_t>(most / std::min<uint64_t>(plan.batch, most));
  const uint32_t numbers = made.chunks * made.wide * (made.wide == 2 ? 2 : 1);  // registers of a row
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
  if (shared * size_of(plan.type) <= limits.shared_bytes) made.teams = teams;
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
  return teams.teams == 1 ? 0
                          : 2 + plan.batch * plan.n * ((plan.n + teams.wide - 1) / teams.wide * teams.wide) *
                                    ToldNumbers::words(plan.type, true);
}

Program reduce(const FactorPlan& plan, const Teams& teams) { return Reduce(plan, teams).build(); }

Program triangles(const FactorPlan& plan) {
  Builder k("tridiagonal_triangles", Team::many(256));
  const Array reflections = k.buffer("reflections", plan.type, Access::read_write),
              taus = k.buffer("tau", plan.type, Access::read), to = k.buffer("t", plan.type, Access::write);
  const Value n = k.scalar("n", Type::u32), most = (n - 1 + (width - 1)) / width;
  const auto word = [&](uint32_t number) { return k.constant(Type::u32, number); };
  const Value team = k.team(Type::u64), count = convert(most, Type::u64), matrix = team / count,
              p = convert(team % count, Type::u32);
  const Value all_rows = convert(most * (most + 1) / 2 * width, Type::u64);
  const Value first = matrix * all_rows + convert((p * most - p * (p - 1) / 2) * width, Type::u64);
  const Value rows = (most - p) * width;
  constexpr uint32_t stride = width + 1, at_a_time = 32;
  const Array t = k.shared(plan.type, width * stride), products = k.shared(plan.type, width * stride),
              some = k.shared(plan.type, at_a_time * width);
  // Products of all reflections with each other.
  k.each(word(width * width),
         [&](Value i) { products[i / width * stride + i % width] = k.constant(plan.type, 0); });
  k.for_(word(0), rows, word(at_a_time), [&](Value begin) {
    k.each(word(at_a_time * width), [&](Value i) {
      const Value row = begin + i / width, column = i % width;
      const Value at = (first + convert(row, Type::u64)) * width + convert(column, Type::u64);
      const Value is_there = p * width + 1 + row < n && p * width + column < n - 1;
      const Value x = reflections[at];
      some[i] = select(is_there, x, x.like(0));
      k.if_(!is_there, [&] { reflections[at] = x.like(0); });
    });
    k.each(word(width * width), [&](Value i) {
      const Value a = i / width, b = i % width;
      const Variable sum = k.variable(products[a * stride + b].get());
      k.for_(word(0), word(at_a_time), word(8), [&](Value r) {
        for (uint32_t u = 0; u < 8; ++u)
          sum = fma(some[(r + u) * width + a].get(), some[(r + u) * width + b].get(), sum.get());
      });
      products[a * stride + b] = sum.get();
    });
  });
  const auto tau = [&](Value j) {
    const Value place = p * width + j,
                x = taus[matrix * convert(n, Type::u64) + convert(min(place, n - 2), Type::u64)];
    return select(place < n - 1, x, x.like(0));
  };
  // Column j: -tau t (v^T v_j) above the diagonal.
  k.for_(word(width), [&](Value j) {
    k.each(word(width), [&](Value i) {
      const Value by = tau(j);
      const Variable sum = k.variable(plan.type, 0.0);
      k.for_(i, j, word(1),
             [&](Value m) { sum = fma(t[i * stride + m].get(), products[m * stride + j].get(), sum.get()); });
      t[i * stride + j] = select(i < j, -by * sum.get(), select(i == j, by, by.like(0)));
    });
  });
  k.each(word(width * width), [&](Value i) {
    to[team * (width * width) + convert(i, Type::u64)] = t[i / width * stride + i % width].get();
  });
  return k.finish();
}

}  // namespace adit::ops::tridiagonal
