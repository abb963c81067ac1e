#include <cmath>

#include <adit/kernel/math.hpp>

#include "density/factor.hpp"
#include "nuts/machine.hpp"

namespace adit::sampling {

// A transition and a trial of the search begin alike; the code is there once.
void Machine::begin_with_momentum() {
  const Value searches = is_phase(Phase::search);
  const auto code = [&](Purpose purpose) { return index(static_cast<int64_t>(purpose)); };
  draw_momentum(select(searches, code(Purpose::search), code(Purpose::momentum)),
                select(searches, word(word_attempt).get(), index(0)));
  if (layout_.dense()) chain_.sync();
  move_origin();
  real(real_h0) = kinetic() - real(real_lp).get();
}

// p ~ N(0, M). Diagonal: p_i = n_i / sqrt(M^-1_ii). Dense: M^-1 = L L^T, so that L^T p = n.
void Machine::draw_momentum(Value purpose, Value trial) {
  const Value iteration = word(word_iteration).get();
  const Vector drawn = passing();
  const auto width = static_cast<int64_t>(random_->normals_a_call()), calls = (n_ + width - 1) / width;
  const auto draw = [&](Value i) {
    const auto normals = random_->normals(purpose, iteration, trial, i);
    for (int64_t j = 0; j < width; ++j) drawn.set(i * width + j, normals[static_cast<size_t>(j)]);
  };
  // A loop even where there are few calls: code that is short runs faster on a GPU than calls side by side.
  if (chain_.by_team())
    k_.each(index(calls), draw);
  else
    k_.for_(index(calls), draw);
  if (!layout_.dense()) {
    chain_.each(n_, [&](Value i) { p_.set(i, drawn.get(i) * (1 / sqrt_device(minv_.get(i)))); });
    return;
  }
  copy(drawn, p_);
  chain_.sync();
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

void Machine::factorise() {
  const Vector metric = at(layout_.inverse_metric);
  write_cholesky(
      chain_, n_, [&](Value i) { return metric.get(i); }, at(layout_.factor));
}

}  // namespace adit::sampling
