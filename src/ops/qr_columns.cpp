#include "ops/qr_columns.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "ops/factor_writer.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_columned {
namespace {

enum Tensors : uint8_t { given, q_factor, r_factor, work, columns_of_panel, reflections, triangles };

constexpr uint32_t width = 32;                     // columns of a panel
constexpr uint32_t tile = 16;                      // columns of a team that applies reflections
constexpr uint32_t own_rows = 4, own_columns = 2;  // of a lane there: reflections, columns
constexpr uint32_t apply_lanes = 256, apply_parts = apply_lanes * own_rows * own_columns / (width * tile);

// Of a panel's team.
uint32_t lanes_for(const FactorPlan& plan, const Limits& limits) {
  return plan.m > 256 && limits.max_lanes >= 1024 ? 1024 : 512;
}

uint64_t bytes_of(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }
Value wide(Value x) { return convert(x, Type::u64); }
Number times(Number f, Number g) { return {fma(f.re, g.re, -(f.im * g.im)), fma(f.re, g.im, f.im * g.re)}; }
Number minus(Number x) { return {-x.re, -x.im}; }

// Factors the columns from `start` on. They lie in scratch one after the other meanwhile; v goes to
// `reflections` by rows, with its ones and zeros, t to `triangles`, and r's rows to where they belong.
class Panel {
 public:
  Panel(const FactorPlan& plan, uint32_t lanes)
      : type_(plan.type), lanes_(lanes), parts_(lanes / width), k_("qr_columns", Team::many(lanes)) {
    h_ = k_.buffer("work", type_, Access::read_write);
    a_ = k_.buffer("columns", type_, Access::read_write);
    v_ = k_.buffer("v", type_, Access::write);
    t_ = k_.buffer("t", type_, Access::read_write);
    m_ = k_.scalar("m", Type::u32);
    n_ = k_.scalar("n", Type::u32);
    start_ = k_.scalar("start", Type::u32);
    panel_ = k_.scalar("panels", Type::u32);  // before this one, of all matrices: q needs v again
    partial_ = k_.shared(type_, 2 * lanes);
    products_ = k_.shared(type_, 2 * width * width);
    taus_ = k_.shared(type_, 2 * width);
    team_ = k_.team(Type::u64);
  }

  Program build() {
    rows_ = m_ - start_;
    count_ = min(min(n_ - start_, rows_), word(width));
    // Columns that there are not are zeros, and stay so.
    k_.each(rows_ * width, [&](Value e) {
      const Value row = e / width, column = e % width;
      const Number x = load_number(h_, place(row, min(start_ + column, n_ - 1)), true);
      const Value inside = start_ + column < n_;
      put(row, column, {select(inside, x.re, x.re.like(0)), select(inside, x.im, x.im.like(0))});
    });
    k_.each(word(width), [&](Value c) { store_number(taus_, c, {zero(), zero()}, true); });
    k_.for_(count_, [&](Value c) { reflect(c); });
    store();
    make_t();
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value zero() { return k_.constant(type_, 0); }
  Value place(Value row, Value column) {
    return (team_ * wide(m_) + wide(start_ + row)) * wide(n_) + wide(column);
  }
  Value at(Value row, Value column) { return (team_ * width + wide(column)) * wide(m_) + wide(row); }
  Number get(Value row, Value column) { return load_number(a_, at(row, column), true); }
  void put(Value row, Value column, Number x) { store_number(a_, at(row, column), x, true); }

  // As LAPACK's: v[0] = 1, and what comes out is real.
  void reflect(Value c) {
    const Value rows = rows_ - c;
    const Value largest = k_.reduce(rows, Reduction::max, [&](Value r) {
      const Number x = get(c + r, c);
      return max(abs(x.re), abs(x.im));
    });
    const Value safe = select(largest > 0, largest, largest.like(1));
    const Value below = k_.reduce(rows - 1, Reduction::add, [&](Value r) {
      const Number x = get(c + 1 + r, c);
      const Value re = x.re / safe, im = x.im / safe;
      return fma(re, re, im * im);
    });
    const Number alpha = get(c, c);
    const Value re = alpha.re / safe, im = alpha.im / safe;
    const Value norm = sqrt(fma(re, re, fma(im, im, below))) * safe;
    const Value is_done = below == 0 && im == 0;
    const Value beta = select(is_done, alpha.re, select(alpha.re < 0, norm, -norm));
    // Both beside the largest, so that neither the inverse nor its products leave the range.
    const Number inverse = quotient_of({beta.like(1), zero()}, {(alpha.re - beta) / safe, im}, true);
    k_.each(rows - 1, [&](Value r) {
      const Number x = get(c + 1 + r, c), v = times({x.re / safe, x.im / safe}, inverse);
      put(c + 1 + r, c, {select(is_done, zero(), v.re), select(is_done, zero(), v.im)});
    });
    const Value divisor = select(is_done, beta.like(1), beta);
    const Number tau = {select(is_done, zero(), (beta - alpha.re) / divisor),
                        select(is_done, zero(), -alpha.im / divisor)};
    k_.once([&] {
      store_number(taus_, c, tau, true);
      put(c, c, {beta, zero()});
    });
    apply(c, conjugated(tau, true));
  }

  // f(rows) for a lane's part of the rows below c, some at a time.
  void each_row(Value c, Value part, const std::function<void(const std::vector<Value>&)>& f) {
    constexpr uint32_t together = 4;
    k_.for_(c + 1 + part, rows_, word(parts_ * together), [&](Value first) {
      std::vector<Value> rows;
      for (uint32_t i = 0; i < together; ++i) rows.push_back(first + i * parts_);
      f(rows);
    });
  }

  // Products of v with all columns, in parts of the rows; those before are v's themselves, and t needs them.
  void apply(Value c, Number tau) {
    k_.each(word(lanes_), [&](Value e) {
      const Value part = e % parts_, column = e / parts_;
      const NumberSum sum(k_, {zero(), zero()}, true);
      each_row(c, part, [&](const std::vector<Value>& rows) {
        std::vector<Number> v, x;
        for (const Value& row : rows) {
          const Value safe = min(row, rows_ - 1);
          v.push_back(get(safe, c)), x.push_back(get(safe, column));
        }
        for (size_t i = 0; i < rows.size(); ++i) {
          const Value inside = rows[i] < rows_;
          sum.subtract({select(inside, v[i].re, zero()), select(inside, -v[i].im, zero())}, x[i]);
        }
      });
      store_number(partial_, e, minus(sum.get()), true);
    });
    k_.each(word(width), [&](Value column) {
      const Number top = get(c, column);
      Value re = top.re, im = top.im;
      for (uint32_t p = 0; p < parts_; ++p) {
        const Number some = load_number(partial_, column * parts_ + p, true);
        re = re + some.re, im = im + some.im;
      }
      store_number(products_, c * width + column, {re, im}, true);
    });
    // Of a wide matrix the last panel has columns without reflections.
    const Value end = min(n_ - start_, word(width));
    k_.each(word(lanes_), [&](Value e) {
      const Value part = e % parts_, column = e / parts_;
      const Number w = times(tau, load_number(products_, c * width + column, true));
      k_.if_(column > c && column < end, [&] {
        k_.if_(part == 0, [&] {
          const Number top = get(c, column);
          put(c, column, {top.re - w.re, top.im - w.im});
        });
        each_row(c, part, [&](const std::vector<Value>& rows) {
          std::vector<NumberSum> less;
          for (const Value& row : rows) {
            const Value safe = min(row, rows_ - 1);
            const Number v = get(safe, c);
            less.emplace_back(k_, get(safe, column), true);
            less.back().subtract(v, w);
          }
          for (size_t i = 0; i < rows.size(); ++i)
            k_.if_(rows[i] < rows_, [&] { put(rows[i], column, less[i].get()); });
        });
      });
    });
  }

  void store() {
    k_.each(rows_ * width, [&](Value e) {
      const Value row = e / width, column = e % width;
      const Number x = get(row, column);
      k_.if_(row <= column && start_ + column < n_,
             [&] { store_number(h_, place(row, start_ + column), x, true); });
      const Value is_below = row > column && column < count_, is_one = row == column && column < count_;
      store_number(
          v_, ((wide(panel_) + team_) * wide(m_) + wide(start_ + row)) * width + wide(column),
          {select(is_below, x.re, select(is_one, x.re.like(1), zero())), select(is_below, x.im, zero())},
          true);
    });
  }
  // A lane a row: t[c] = -tau[c] (t's columns before c times v^H v's column c).
  void make_t() {
    const Value first = (wide(panel_) + team_) * (width * width);
    k_.each(word(width), [&](Value row) {
      k_.for_(word(width), [&](Value c) {
        const NumberSum sum(k_, {zero(), zero()}, true);
        k_.for_(min(row, c), c, word(1), [&](Value j) {
          const Number product = conjugated(load_number(products_, c * width + j, true), true);
          sum.subtract(load_number(t_, first + wide(row * width + j), true), product);
        });
        const Number tau = load_number(taus_, c, true), before = times(tau, sum.get());
        const Value is_diagonal = row == c && c < count_, is_above = row < c && c < count_;
        store_number(t_, first + wide(row * width + c),
                     {select(is_diagonal, tau.re, select(is_above, before.re, zero())),
                      select(is_diagonal, tau.im, select(is_above, before.im, zero()))},
                     true);
      });
    });
  }

  Type type_;
  uint32_t lanes_, parts_;
  Builder k_;
  Array h_, a_, v_, t_, partial_, products_, taus_;
  Value m_, n_, start_, panel_, team_, rows_, count_;
};

// Columns from `first` on become (1 - v t v^H) x, or with t^H: a team has some columns, from row `start` on.
class Apply {
 public:
  Apply(const FactorPlan& plan, bool turned)
      : turned_(turned),
        vectors_(plan.type, true),
        k_(turned ? "qr_columns_apply" : "qr_columns_form", Team::many(apply_lanes)),
        lane_(k_.lane()) {
    x_ = k_.buffer("x", plan.type, Access::read_write);
    v_ = k_.buffer("v", plan.type, Access::read);
    t_ = k_.buffer("t", plan.type, Access::read);
    m_ = k_.scalar("m", Type::u32);
    columns_ = k_.scalar("columns", Type::u32);
    start_ = k_.scalar("start", Type::u32);
    panel_ = k_.scalar("panels", Type::u32);
    const Value first = k_.scalar("first", Type::u32), tiles = k_.scalar("tiles", Type::u32);
    const Value team = k_.team();
    matrix_ = wide(team / tiles);
    column_ = first + team % tiles * tile;
    sums_ = k_.shared(plan.type, 2 * apply_parts * width * tile);
    weights_ = k_.shared(plan.type, 2 * width * tile);
    zero_ = k_.constant(plan.type, 0);
  }

  Program build() {
    multiply();
    k_.barrier();
    weigh();
    k_.barrier();
    subtract();
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value place(Value row, Value column) {
    return (matrix_ * wide(m_) + wide(row)) * wide(columns_) + wide(min(column, columns_ - 1));
  }
  // Numbers of v's row, from one that a vector begins with on.
  std::vector<Number> v_of(Value row, Value from, uint32_t many) {
    const uint32_t count = vectors_.count();
    const Value at = ((wide(panel_) + matrix_) * wide(m_) + wide(row)) * width + wide(from);
    std::vector<Number> all;
    for (uint32_t v = 0; v < many / count; ++v)
      for (const Number& x : vectors_.load(v_, at / count + uint64_t{v})) all.push_back(x);
    return all;
  }

  // v^H x, parts of the rows apart.
  void multiply() {
    const uint32_t across = tile / own_columns, down = width / own_rows;
    const Value column = lane_ % across * own_columns, own = lane_ / across % down * own_rows,
                part = lane_ / (across * down);
    std::vector<NumberSum> sums;
    for (uint32_t i = 0; i < own_rows * own_columns; ++i) sums.emplace_back(k_, Number{zero_, zero_}, true);
    k_.for_(start_ + part, m_, word(apply_parts), [&](Value row) {
      const std::vector<Number> v = v_of(row, own, own_rows);
      for (uint32_t c = 0; c < own_columns; ++c) {
        const Number x = load_number(x_, place(row, column_ + column + c), true);
        for (uint32_t i = 0; i < own_rows; ++i) sums[i * own_columns + c].subtract(conjugated(v[i], true), x);
      }
    });
    for (uint32_t i = 0; i < own_rows; ++i)
      for (uint32_t c = 0; c < own_columns; ++c)
        store_number(sums_, (part * width + own + i) * tile + (column + c), sums[i * own_columns + c].get(),
                     true);
  }

  // t (or t^H) times that, whose sign is turned: what is to be added is v times it.
  void weigh() {
    const uint32_t rounds = width * tile / apply_lanes;
    for (uint32_t e = 0; e < rounds; ++e) {
      const Value at = lane_ + e * apply_lanes;
      Number all = load_number(sums_, at, true);
      for (uint32_t p = 1; p < apply_parts; ++p) {
        const Number some = load_number(sums_, at + p * (width * tile), true);
        all = {all.re + some.re, all.im + some.im};
      }
      store_number(sums_, at, all, true);
    }
    k_.barrier();
    const Value first = (wide(panel_) + matrix_) * (width * width);
    for (uint32_t e = 0; e < rounds; ++e) {
      const Value at = lane_ + e * apply_lanes, row = at / tile, column = at % tile;
      const NumberSum sum(k_, {zero_, zero_}, true);
      k_.for_(turned_ ? word(0) : row, turned_ ? row + 1 : word(width), word(1), [&](Value j) {
        const Number t = load_number(t_, first + wide(turned_ ? j * width + row : row * width + j), true);
        sum.subtract(conjugated(t, turned_), load_number(sums_, j * tile + column, true));
      });
      store_number(weights_, at, sum.get(), true);
    }
  }

  void subtract() {
    constexpr uint32_t together = 4;
    const uint32_t across = tile / own_columns, down = apply_lanes / across, count = vectors_.count();
    const Value column = lane_ % across * own_columns;
    k_.for_(start_ + lane_ / across, m_, word(down * together), [&](Value row) {
      std::vector<NumberSum> sums;
      for (uint32_t r = 0; r < together; ++r)
        for (uint32_t c = 0; c < own_columns; ++c) {
          const Value safe = min(row + r * down, m_ - 1);
          sums.emplace_back(k_, load_number(x_, place(safe, column_ + column + c), true), true);
        }
      k_.for_(word(0), word(width), word(count), [&](Value i) {
        std::vector<Number> w;
        for (uint32_t p = 0; p < count; ++p)
          for (uint32_t c = 0; c < own_columns; ++c)
            w.push_back(load_number(weights_, (i + p) * tile + (column + c), true));
        for (uint32_t r = 0; r < together; ++r) {
          const std::vector<Number> v = v_of(min(row + r * down, m_ - 1), i, count);
          for (uint32_t p = 0; p < count; ++p)
            for (uint32_t c = 0; c < own_columns; ++c)
              sums[r * own_columns + c].subtract(v[p], w[p * own_columns + c]);
        }
      });
      for (uint32_t r = 0; r < together; ++r)
        for (uint32_t c = 0; c < own_columns; ++c)
          k_.if_(row + r * down < m_ && column_ + column + c < columns_, [&] {
            store_number(x_, place(row + r * down, column_ + column + c), sums[r * own_columns + c].get(),
                         true);
          });
    });
  }

  bool turned_;
  NumberVectors vectors_;
  Builder k_;
  Value lane_, m_, columns_, start_, panel_, matrix_, column_, zero_;
  Array x_, v_, t_, sums_, weights_;
};

// An invocation an element: r is the upper part of the work.
Program upper(const FactorPlan& plan) {
  Builder k("qr_columns_upper", Team::one());
  const Array h = k.buffer("work", plan.type, Access::read), to = k.buffer("r", plan.type, Access::write);
  const Value m = wide(k.scalar("m", Type::u32)), n = wide(k.scalar("n", Type::u32)),
              columns = wide(k.scalar("columns", Type::u32));
  const Value at = k.team(Type::u64), column = at % n, row = at / n % columns, matrix = at / n / columns;
  const Number x = load_number(h, (matrix * m + min(row, m - uint64_t{1})) * n + column, true);
  const Value zero = x.re.like(0);
  store_number(to, at, {select(row > column, zero, x.re), select(row > column, zero, x.im)}, true);
  return k.finish();
}

Program copy(const FactorPlan& plan) {
  Builder k("qr_columns_copy", Team::one());
  const Array from = k.buffer("x", plan.type, Access::read), to = k.buffer("work", plan.type, Access::write);
  const Value at = k.team(Type::u64);
  store_number(to, at, load_number(from, at, true), true);
  return k.finish();
}

Program identity(const FactorPlan& plan) {
  Builder k("qr_columns_identity", Team::one());
  const Array to = k.buffer("q", plan.type, Access::write);
  const Value m = wide(k.scalar("m", Type::u32)), columns = wide(k.scalar("columns", Type::u32));
  const Value at = k.team(Type::u64), zero = k.constant(plan.type, 0);
  const Value is_one = at % columns == at / columns % m;
  store_number(to, at, {select(is_one, zero.like(1), zero), zero}, true);
  return k.finish();
}

}  // namespace
}  // namespace qr_columned

bool has_qr_by_columns(const FactorPlan& plan, const Limits& limits) {
  using namespace qr_columned;
  constexpr uint32_t few = 32;  // rows and columns that a team has at once
  const uint32_t lanes = lanes_for(plan, limits);
  const uint64_t numbers = std::max(lanes + width * width + width, (apply_parts + 1) * width * tile);
  return plan.by_hand && plan.complex && limits.lanes_by_hand && std::max(plan.m, plan.n) > few &&
         limits.max_lanes >= lanes && numbers * bytes_of(plan) <= limits.shared_bytes;
}

Factor qr_by_columns(const FactorPlan& plan, uint32_t columns, const Limits& limits) {
  using namespace qr_columned;
  Factor made;
  const uint32_t panels = (std::min(plan.m, plan.n) + width - 1) / width;
  const uint64_t all = plan.batch * plan.m, number = bytes_of(plan);
  made.scratch = {{all * plan.n * number},
                  {all * width * number},
                  {panels * all * width * number},
                  {panels * plan.batch * width * width * number}};
  made.programs = {copy(plan),
                   Panel(plan, lanes_for(plan, limits)).build(),
                   Apply(plan, true).build(),
                   upper(plan),
                   identity(plan),
                   Apply(plan, false).build()};
  const auto apply = [&](uint32_t program, uint8_t to, uint32_t in_row, uint32_t panel, uint32_t first) {
    const uint32_t tiles = (in_row - first + tile - 1) / tile;
    const auto batch = static_cast<uint32_t>(plan.batch);
    made.passes.push_back({program,
                           plan.batch * tiles,
                           {to, reflections, triangles},
                           {plan.m, in_row, panel * width, panel * batch, first, tiles}});
  };
  made.passes.push_back({0, all * plan.n, {given, work}});
  for (uint32_t panel = 0; panel < panels; ++panel) {
    made.passes.push_back({1,
                           plan.batch,
                           {work, columns_of_panel, reflections, triangles},
                           {plan.m, plan.n, panel * width, panel * static_cast<uint32_t>(plan.batch)}});
    if ((panel + 1) * width < plan.n) apply(2, work, plan.n, panel, (panel + 1) * width);
  }
  made.passes.push_back({3, plan.batch * columns * plan.n, {work, r_factor}, {plan.m, plan.n, columns}});
  made.passes.push_back({4, all * columns, {q_factor}, {plan.m, columns}});
  // From the last panel to the first: columns before a panel are those of the identity still.
  for (uint32_t panel = panels; panel-- > 0;) apply(5, q_factor, columns, panel, panel * width);
  return made;
}

}  // namespace adit::ops
