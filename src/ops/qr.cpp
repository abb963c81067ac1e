// QR by Householder's reflections, a team a matrix: 1 - tau v v^H with v[0] = 1, signs as LAPACK's. Lanes are
// columns, so that neighbours read neighbours.
#include <algorithm>

#include "ops/factor_passes.hpp"
#include "ops/factor_writer.hpp"
#include "ops/qr_hands.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_kernels {
namespace {

enum Tensors : uint8_t { given, q_factor, r_factor, work, taus };

class Reflect {
 public:
  Reflect(const FactorPlan& plan, uint32_t columns)
      : m_(plan.m),
        n_(plan.n),
        columns_(columns),
        complex_(plan.complex),
        k_("qr", Team::many(lanes_for(plan))) {
    const Array x = k_.buffer("x", plan.type, Access::read),
                q = k_.buffer("q", plan.type, Access::read_write),
                r = k_.buffer("r", plan.type, Access::write),
                h = k_.buffer("work", plan.type, Access::read_write);
    taus_ = k_.buffer("taus", plan.type, Access::read_write);
    const Value team = k_.team(Type::u64);
    x_ = {x, team * (uint64_t{m_} * n_), n_, complex_};
    h_ = {h, team * (uint64_t{m_} * n_), n_, complex_};
    q_ = {q, team * (uint64_t{m_} * columns_), columns_, complex_};
    r_ = {r, team * (uint64_t{columns_} * n_), n_, complex_};
    first_tau_ = team * uint64_t{count()};
  }
  static uint32_t lanes_for(const FactorPlan& plan) {
    const uint32_t wide = std::max(plan.m, plan.n);
    return wide <= 32 ? 32 : wide <= 64 ? 64 : std::min(plan.lanes, wide <= 128 ? 128U : 256U);
  }

  Program build() {
    k_.for_(word(m_), [&](Value row) {
      k_.each(word(n_), [&](Value column) { h_.put(row, column, x_.get(row, column)); });
    });
    k_.for_(word(count()), [&](Value c) { reflect(c); });
    k_.for_(word(columns_), [&](Value row) {
      k_.each(word(n_), [&](Value column) {
        const Number value = h_.get(min(row, word(m_ - 1)), column);
        const Value below = row > column;
        r_.put(row, column,
               {select(below, value.re.like(0), value.re), select(below, value.im.like(0), value.im)});
      });
    });
    k_.for_(word(m_), [&](Value row) {
      k_.each(word(columns_), [&](Value column) {
        const Value one = select(row == column, k_.constant(taus_.type(), 1), k_.constant(taus_.type(), 0));
        q_.put(row, column, {one, one.like(0)});
      });
    });
    k_.for_(word(count()), [&](Value i) {
      const Value c = word(count() - 1) - i;
      apply(q_, c, c, word(columns_), tau_at(c));
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  uint32_t count() const { return std::min(m_, n_); }
  Value tau_place(Value c) { return first_tau_ + convert(c, Type::u64); }
  Number tau_at(Value c) { return load_number(taus_, tau_place(c), complex_); }

  void reflect(Value c) {
    const Value rows = word(m_) - c;
    const Value largest = k_.reduce(rows, Reduction::max, [&](Value r) {
      const Number x = h_.get(c + r, c);
      return complex_ ? max(abs(x.re), abs(x.im)) : abs(x.re);
    });
    const Value safe = select(largest > 0, largest, largest.like(1));
    const Value below = k_.reduce(rows - 1, Reduction::add, [&](Value r) {
      const Number x = h_.get(c + 1 + r, c);
      const Value re = x.re / safe;
      if (!complex_) return re * re;
      const Value im = x.im / safe;
      return fma(re, re, im * im);
    });
    const Number alpha = h_.get(c, c);
    const Value re = alpha.re / safe, im = complex_ ? alpha.im / safe : alpha.re.like(0);
    const Value norm = sqrt(fma(re, re, fma(im, im, below))) * safe;
    const Value is_done = below == 0 && im == 0;
    const Value beta = select(is_done, alpha.re, select(alpha.re < 0, norm, -norm));
    const Number distance = {alpha.re - beta, alpha.im};
    k_.each(rows - 1, [&](Value r) {
      const Number v = quotient_of(h_.get(c + 1 + r, c), distance, complex_);
      const Number none = zero_like(v);
      h_.put(c + 1 + r, c, {select(is_done, none.re, v.re), select(is_done, none.im, v.im)});
    });
    const Value divisor = select(is_done, beta.like(1), beta);
    const Number tau = {select(is_done, beta.like(0), (beta - alpha.re) / divisor),
                        complex_ ? select(is_done, beta.like(0), -alpha.im / divisor) : beta};
    k_.once([&] {
      store_number(taus_, tau_place(c), tau, complex_);
      h_.put(c, c, {beta, beta.like(0)});
    });
    apply(h_, c, c + 1, word(n_), conjugated(tau, complex_));
  }

  // Columns from `first` to `last` of `to`, reflected with v of column c: x -= v (tau (v^H x)).
  void apply(const MatrixView& to, Value c, Value first, Value last, Number tau) {
    k_.each(last - first, [&](Value lane) {
      const Value column = first + lane;
      const NumberSum sum(k_, minus(to.get(c, column)), complex_);
      k_.for_(c + 1, word(m_), word(1),
              [&](Value row) { sum.subtract(conjugated(h_.get(row, c), complex_), to.get(row, column)); });
      const Number along = minus(sum.get());
      const Number w = complex_ ? Number{fma(tau.re, along.re, -(tau.im * along.im)),
                                         fma(tau.re, along.im, tau.im * along.re)}
                                : Number{tau.re * along.re, along.im};
      const Number top = to.get(c, column);
      to.put(c, column, {top.re - w.re, complex_ ? top.im - w.im : top.im});
      k_.for_(c + 1, word(m_), word(1), [&](Value row) {
        const NumberSum less(k_, to.get(row, column), complex_);
        less.subtract(h_.get(row, c), w);
        to.put(row, column, less.get());
      });
    });
  }
  Number minus(Number x) const { return {-x.re, complex_ ? -x.im : x.im}; }

  uint32_t m_, n_, columns_;
  bool complex_;
  Builder k_;
  Array taus_;
  Value first_tau_;
  MatrixView x_, h_, q_, r_;
};

uint64_t trips(const FactorPlan& plan, uint32_t columns) {
  const uint64_t lanes = Reflect::lanes_for(plan), k = std::min(plan.m, plan.n);
  const uint64_t across = (std::max(plan.n, columns) + lanes - 1) / lanes,
                 down = (plan.m + lanes - 1) / lanes;
  return (2 * plan.m + columns) * (1 + across) + k * (4 + 3 * down) + 2 * k * across * (plan.m + 1) * 2;
}

}  // namespace
}  // namespace qr_kernels

Factor qr(const FactorPlan& plan, uint32_t columns, const Limits& limits) {
  using namespace qr_kernels;
  if (has_qr_by_hand(plan, limits)) return qr_by_hand(plan, columns, limits);
  Factor made;
  if (plan.m == 0 || plan.n == 0 || plan.batch == 0) return made;
  const uint64_t number = size_of(plan.type) * (plan.complex ? 2 : 1);
  made.loop_trips = trips(plan, columns);
  made.scratch = {{plan.batch * plan.m * plan.n * number}, {plan.batch * std::min(plan.m, plan.n) * number}};
  made.programs.push_back(Reflect(plan, columns).build());
  made.passes.push_back({0, plan.batch, {given, q_factor, r_factor, work, taus}});
  return made;
}

}  // namespace adit::ops
