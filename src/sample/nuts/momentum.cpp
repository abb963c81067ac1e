#include <cmath>

#include <adit/kernel/math.hpp>

#include "sample/nuts/machine.hpp"

namespace adit::sampling {

// p ~ N(0, M). Diagonal: p_i = n_i / sqrt(M^-1_ii). Dense: M^-1 = L L^T, so that L^T p = n.
void Machine::draw_momentum(Purpose purpose, Value iteration, Value trial) {
  // A loop, however few there are: written out, these would be most of the kernel.
  const Vector drawn = at(layout_.current + n_);
  const Value pairs = index((n_ + 1) / 2);
  const auto draw = [&](Value i) {
    const auto two = random_->normals(purpose, iteration, trial, i);
    drawn.set(i * 2, two[0]);
    k_.if_(i * 2 + 1 < index(n_), [&] { drawn.set(i * 2 + 1, two[1]); });
  };
  if (chain_.by_team())
    k_.each(pairs, draw);
  else
    k_.for_(pairs, draw);
  if (!layout_.dense()) {
    chain_.each(n_, [&](Value i) { p_.set(i, drawn.get(i) * kernel::rsqrt(minv_.get(i))); });
    return;
  }
  if (p_.in_registers()) copy(drawn, p_);
  const Vector factor = at(layout_.factor);
  // From the last row up; each row is finished, then taken out of those above it.
  k_.for_(index(n_), [&](Value step) {
    const Value row = index(n_ - 1) - step;
    const Value found = p_.get(row) / factor.get(row * n_ + row);
    chain_.once([&] { p_.set(row, found); });
    const auto take_out = [&](Value i) {
      k_.if_(i < row, [&] { p_.set(i, p_.get(i) - factor.get(row * n_ + i) * found); });
    };
    if (chain_.by_team())
      k_.each(index(n_), take_out);
    else
      k_.for_(row, take_out);
  });
}

Value Machine::kinetic() {
  if (!layout_.dense())
    return chain_.sum(n_, [&](Value i) {
      const Value p = p_.get(i);
      return p * p * minv_.get(i);
    }) * 0.5;
  const Vector metric = at(layout_.inverse_metric);
  chain_.each(n_, [&](Value i) {
    const Variable sum = k_.variable(number(0));
    k_.for_(index(n_), [&](Value j) { sum = fma(metric.get(i * n_ + j), p_.get(j), sum.get()); });
    sharp_.set(i, sum.get());
  });
  return chain_.sum(n_, [&](Value i) { return p_.get(i) * sharp_.get(i); }) * 0.5;
}

// The Cholesky factor of the inverse metric, column by column.
void Machine::factorise() {
  const Vector metric = at(layout_.inverse_metric), factor = at(layout_.factor);
  k_.for_(index(n_), [&](Value j) {
    const auto row = [&](Value i) {
      const auto rest = [&](Value a) {
        const Variable sum = k_.variable(metric.get(a * n_ + j));
        k_.for_(j, [&](Value c) { sum = sum.get() - factor.get(a * n_ + c) * factor.get(j * n_ + c); });
        return sum.get();
      };
      const Value pivot = kernel::sqrt(rest(j));
      const Value below = rest(i) / pivot;
      factor.set(i * n_ + j, select(i == j, pivot, select(i > j, below, below.like(0))));
    };
    if (chain_.by_team())
      k_.each(index(n_), row);
    else
      k_.for_(index(n_), row);
  });
}

}  // namespace adit::sampling
