// Warm-up as Stan does it: dual averaging of the step size, a metric estimated in windows that double, and a
// search for a step size at the start and after each new metric.
#include <cmath>

#include <adit/kernel/math.hpp>

#include "nuts/machine.hpp"

namespace adit::sampling {

namespace {

constexpr double log_target = -0.22314355131420976;  // log 0.8

}  // namespace

// --- The search: double or halve until the acceptance of one step crosses 0.8
// -------------------------------

void Machine::begin_search() {
  copy(sample_q_, q_);
  copy(sample_g_, g_);
}

void Machine::end_search() {
  const Value change = real(real_h0).get() - now_h().get();
  const Value above = change > number(log_target), below = change < number(log_target);
  const Value direction = word(word_search_direction).get();
  word(word_attempt) = word(word_attempt).get() + 1;
  const Value first = direction == index(0);
  const Value goes_on = (direction == index(1) && above) || (direction == index(2) && below);
  k_.if_(first, [&] { word(word_search_direction) = select(above, index(1), index(2)); });
  k_.if_(goes_on, [&] {
    const Value step = real(real_step).get() * select(direction == index(1), number(2), number(0.5));
    real(real_step) = step;
    k_.if_(!(step <= number(1e7)), [&] { fail(Failure::improper); });
    k_.if_(step == number(0), [&] { fail(Failure::no_step); });
  });
  k_.if_(!first && !goes_on, [&] {
    // At the start the average aims at ten times the caller's step size, as Stan does; later at ten times
    // this one.
    k_.if_(word(word_iteration).get() > index(0),
           [&] { real(real_mu) = kernel::log(real(real_step).get() * 10); });
    restart_averaging();
    set_phase(Phase::transition);
  });
}

void Machine::restart_averaging() {
  word(word_counter) = index(0);
  real(real_s_bar) = number(0);
  real(real_x_bar) = number(0);
}

// --- After a transition of warm-up
// --------------------------------------------------------------------------

void Machine::adapt(Value accept_stat) {
  k_.if_(adapts(0), [&] { learn_step(accept_stat); });
  if (layout_.metric != Metric::unit) k_.if_(adapts(1), [&] { collect(); });
  const Value last = word(word_iteration).get() + 1 == warmup_;
  k_.if_(last && adapts(0), [&] { real(real_step) = kernel::exp(real(real_x_bar).get()); });
}

void Machine::learn_step(Value accept_stat) {
  const Value count = word(word_counter).get() + 1;
  word(word_counter) = count;
  const Value c = convert(count, chain_.real());
  const Value eta = 1 / (c + t0_);
  const Value s_bar = fma(1 - eta, real(real_s_bar).get(), eta * (delta_ - min(accept_stat, number(1))));
  const Value x = real(real_mu).get() - s_bar * kernel::sqrt(c) / gamma_;
  const Value weight = kernel::exp(-kappa_ * kernel::log(c));
  real(real_s_bar) = s_bar;
  real(real_x_bar) = fma(1 - weight, real(real_x_bar).get(), weight * x);
  real(real_step) = kernel::exp(x);
}

// Draws between the buffers enter the estimate; at the end of a window it becomes the metric.
void Machine::collect() {
  const Value iteration = word(word_iteration).get();
  const Value inside =
      iteration >= init_buffer_ && iteration + term_buffer_ < warmup_ && iteration + 1 != warmup_;
  k_.if_(inside, [&] {
    const Value count = word(word_collected).get() + 1;
    word(word_collected) = count;
    const Value weight = 1 / convert(count, chain_.real());
    const Vector sample = sample_q_, mean = at(layout_.mean), squares = at(layout_.squares);
    if (layout_.dense()) {
      chain_.sync();
      // Both factors from the old mean: the covariance grows by (n - 1) / n of their product.
      const Value shrink = convert(count - 1, chain_.real()) * weight;
      const auto row = [&](Value i) {
        const Value a = (sample.get(i) - mean.get(i)) * shrink;
        k_.for_(index(n_), [&](Value j) {
          const Value place = i * n_ + j;
          squares.set(place, fma(a, sample.get(j) - mean.get(j), squares.get(place)));
        });
      };
      if (chain_.by_team())
        k_.each(index(n_), row);
      else
        k_.for_(index(n_), row);
      chain_.sync();
      chain_.each(n_, [&](Value i) { mean.set(i, fma(sample.get(i) - mean.get(i), weight, mean.get(i))); });
    } else {
      chain_.each(n_, [&](Value i) {
        const Value q = sample.get(i), old = mean.get(i), change = q - old, now = fma(change, weight, old);
        mean.set(i, now);
        squares.set(i, fma(q - now, change, squares.get(i)));
      });
    }
  });
  k_.if_(inside && iteration == word(word_window_end).get(), [&] {
    // The next window is twice as long, and takes what is left where not two of it fit.
    const Value size = word(word_window_size).get() * 2, last = warmup_ - term_buffer_ - 1;
    word(word_window_size) = size;
    const Value next = iteration + size;
    const Value stretched = select(next + size * 2 >= warmup_ - term_buffer_, last, next);
    word(word_window_end) = select(next == last, last, stretched);
    update_metric();
    word(word_collected) = index(0);
    word(word_attempt) = index(0);
    word(word_search_direction) = index(0);
    k_.if_(adapts(0) && !is_phase(Phase::failed), [&] { set_phase(Phase::search); });
  });
}

void Machine::update_metric() {
  const Value count = convert(word(word_collected).get(), chain_.real());
  // One draw has no variance: the metric stays what it was, and shrinks.
  const Value is_one = count == number(1), weight = count / (count + 5);
  const Value scale = weight / select(is_one, number(1), count - 1), floor = 1e-3 * 5 / (count + 5);
  const Vector squares = at(layout_.squares), mean = at(layout_.mean);
  const int64_t numbers = layout_.dense() ? n_ * n_ : n_;
  const Vector metric = layout_.dense() ? at(layout_.inverse_metric) : minv_;
  const auto entry = [&](Value i) {
    Value added = floor;
    if (layout_.dense()) added = select(i / n_ == i % n_, floor, floor.like(0));
    metric.set(i, fma(select(is_one, metric.get(i), squares.get(i)), select(is_one, weight, scale), added));
    squares.set(i, number(0));
  };
  chain_.each(numbers, entry);
  chain_.each(n_, [&](Value i) { mean.set(i, number(0)); });
  const Value total = chain_.sum(numbers, [&](Value i) { return metric.get(i); });
  if (layout_.dense()) {
    chain_.sync();
    factorise();
  }
  k_.if_(!((total - total) == number(0)), [&] { fail(Failure::bad_metric); });
}

}  // namespace adit::sampling
