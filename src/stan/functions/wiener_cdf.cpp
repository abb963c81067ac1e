// The chance that a Wiener process reaches the upper bound until a time, and after it (Blurton, Kesselmeier
// and Gondan 2012). Times are in units of alpha^2, drifts of 1 / alpha.
#include <cmath>
#include <numbers>

#include "stan/functions/passage.hpp"

namespace adit::stan {

namespace {

constexpr double half_turn = std::numbers::pi;
constexpr double early_until = 0.3, late_from = 0.05;
constexpr int64_t early_reflections = 7, late_waves = 16;  // what is left out: 1e-16 there, less elsewhere

Tensor along_terms(const Tensor& x) { return expand_dims(x, -1); }
Tensor kept_above_0(const Tensor& x) { return maximum(x, real(1e-300)); }

struct Passage {
  Tensor time, start, drift;
};

// (1 - e^(-2 v w)) / (1 - e^(-2 v)), for small v by its powers.
Tensor log_chance_of_bound(const Passage& x) {
  const Tensor c = real(2) * x.drift, is_small = abs(c) < real(1e-3), w = x.start;
  const Tensor few = select(is_small, c, real(0)), many = abs(select(is_small, real(1), c));
  const Tensor by_powers =
      log(w) + real(0.5) * few * (real(1) - w) + square(few) * (square(w) - real(1)) / real(24);
  const Tensor from_below = select(c < real(0), many * (real(1) - w), real(0));
  const Tensor exact = stats::log1m_exp(-many * w) - stats::log1m_exp(-many) - from_below;
  return select(is_small, by_powers, exact);
}

// After a late time: 2 pi e^(v (1 - w) - v^2 t / 2) times the sum over k of
// k sin(k pi (1 - w)) / (v^2 + k^2 pi^2) e^(-k^2 pi^2 t / 2).
Tensor log_later(const Passage& x) {
  const Tensor is_late = x.time >= real(late_from), t = select(is_late, x.time, real(1));
  const Tensor k = iota({late_waves}, DType::f64) + real(1), away = real(1) - x.start;
  const Tensor waves = k * sin(real(half_turn) * k * along_terms(away)) /
                       (square(along_terms(x.drift)) + real(half_turn * half_turn) * square(k)) *
                       exp(real(-0.5 * half_turn * half_turn) * (square(k) - real(1)) * along_terms(t));
  return log(kept_above_0(sum(waves, {-1}))) + real(std::log(2 * half_turn)) + x.drift * away -
         real(0.5) * (square(x.drift) + real(half_turn * half_turn)) * t;
}

// Until an early time: of reflections at distances r = 1 - w, 1 + w, 3 - w ... with signs + - + ..., each
// e^(v (1 - w + r)) Q((r + v t) / sqrt(t)) + e^(v (1 - w - r)) Q((r - v t) / sqrt(t)).
Tensor log_until(const Passage& x) {
  const Tensor is_early = x.time < real(early_until);
  const Tensor t = along_terms(select(is_early, x.time, real(0.1))), v = along_terms(x.drift);
  const Tensor away = along_terms(real(1) - x.start), k = iota({early_reflections}, DType::f64);
  const Tensor is_odd = remainder(k, real(2)), root = sqrt(t);
  const Tensor r = k + select(is_odd == real(1), real(1) - away, away);
  const Tensor up = v * (away + r) + stats::log_normal_cdf(-(r + v * t) / root);
  const Tensor down = v * (away - r) + stats::log_normal_cdf(-(r - v * t) / root);
  const Tensor top = stop_gradient(reduce_max(maximum(up, down), {-1}, true));
  const Tensor signs = real(1) - real(2) * is_odd;
  const Tensor total = sum(signs * (exp(up - top) + exp(down - top)), {-1});
  return log(kept_above_0(total)) + squeeze(top, {-1});
}

Tensor log_reached(const Passage& x) {
  const Tensor is_early = x.time < real(early_until), all = log_chance_of_bound(x);
  const Tensor late = log_diff_exp(all, select(is_early, all - real(1), log_later(x)));
  return select(is_early, log_until(x), late);
}

// Of early times by what is left of the chance, unless that is little.
Tensor log_not_yet(const Passage& x) {
  const Tensor all = log_chance_of_bound(x), until = log_until(x);
  const Tensor is_little = stop_gradient(until - all) > real(std::log(0.99));
  const Tensor by_waves = logical_or(x.time >= real(early_until), both(x.time >= real(late_from), is_little));
  const Tensor rest = log_diff_exp(all, select(by_waves, all - real(1), until));
  return select(by_waves, log_later(x), rest);
}

struct WienerDomain {
  Tensor holds, is_inside;
};
WienerDomain domain_of_four(const Tensor& y, const Tensor* p) {
  const Tensor holds =
      both(both(is_positive(p[0]), p[1] >= real(0)), both(is_positive(p[2]), p[2] < real(1)));
  return {holds, both(holds, y > p[1])};
}

template <class F>
Tensor of_four(const Tensor& y, const Tensor* p, F log_chance) {
  const WienerDomain domain = domain_of_four(y, p);
  const Tensor alpha = guarded(domain.holds, p[0], 1);
  const Tensor time = select(domain.is_inside, y - p[1], real(1)) / square(alpha);
  const Tensor value = log_chance({time, guarded(domain.holds, p[2], 0.5), p[3] * alpha});
  return select(domain.is_inside, value, minus_infinity()) + domain_term(domain.holds);
}

// All triples of a drift, a start and a delay, along one axis.
struct TripleGrid {
  std::vector<double> drifts, starts, delays, log_weights;
};
TripleGrid triple_grid(int drifts, int starts, int delays) {
  const PassageRule of_drifts = normal_rule(drifts, 0.5), of_starts = legendre_rule(starts),
                    of_delays = legendre_rule(delays);
  TripleGrid grid;
  for (size_t i = 0; i < of_drifts.places.size(); ++i)
    for (size_t j = 0; j < of_starts.places.size(); ++j)
      for (size_t k = 0; k < of_delays.places.size(); ++k) {
        grid.drifts.push_back(of_drifts.places[i]);
        grid.starts.push_back(of_starts.places[j] - 0.5);
        grid.delays.push_back(of_delays.places[k]);
        grid.log_weights.push_back(
            std::log(of_drifts.weights[i] * of_starts.weights[j] * of_delays.weights[k]));
      }
  return grid;
}

// The mean over drifts, starts and delays. Delays that take longer than y leave no time; the others are
// `share` of all.
Tensor of_seven(const Tensor& y, const Tensor* p, bool is_later) {
  static const TripleGrid grid = triple_grid(27, 6, 12);
  const Tensor half = real(0.5) * p[5];
  const Tensor in_bounds = both(both(p[5] >= real(0), p[2] - half > real(0)), p[2] + half < real(1));
  const Tensor varies = both(both(p[4] >= real(0), p[6] >= real(0)), in_bounds);
  const WienerDomain four = domain_of_four(y, p);
  const Tensor holds = both(four.holds, varies), is_inside = both(holds, y > p[1]);
  const Tensor alpha = along_terms(guarded(holds, p[0], 1)), wait = guarded(holds, p[6], 0);
  const Tensor last = select(is_inside, y - p[1], real(1)), is_cut = wait > last;
  const Tensor share = select(is_cut, last / select(is_cut, wait, real(1)), real(1));
  const Tensor waits = select(is_cut, last, wait);
  const Tensor time = along_terms(last) - along_terms(waits) * tensor(grid.delays);
  const Tensor start =
      along_terms(guarded(holds, p[2], 0.5)) + along_terms(guarded(holds, p[5], 0)) * tensor(grid.starts);
  const Tensor drift = along_terms(p[3]) + along_terms(guarded(holds, p[4], 0)) * tensor(grid.drifts);
  const Passage x{time / square(alpha), start, drift * alpha};
  const Tensor weights = tensor(grid.log_weights);
  Tensor value = logsumexp((is_later ? log_not_yet(x) : log_reached(x)) + weights, {-1}) + log(share);
  if (is_later) {  // who waits longer may still come
    const Tensor waiting =
        log(select(is_cut, real(1) - share, real(1))) + logsumexp(log_chance_of_bound(x) + weights, {-1});
    value = select(is_cut, log_sum_exp_of_two(value, waiting), value);
  }
  return select(is_inside, value, minus_infinity()) + domain_term(holds);
}

}  // namespace

Tensor wiener_log_cdf(const Tensor& y, const Tensor* p) { return of_four(y, p, log_reached); }
Tensor wiener_log_ccdf(const Tensor& y, const Tensor* p) { return of_four(y, p, log_not_yet); }
Tensor wiener_full_log_cdf(const Tensor& y, const Tensor* p) { return of_seven(y, p, false); }
Tensor wiener_full_log_ccdf(const Tensor& y, const Tensor* p) { return of_seven(y, p, true); }

}  // namespace adit::stan
