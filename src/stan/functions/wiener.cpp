// The time at which a Wiener process with drift delta, which starts at beta alpha, first reaches alpha before
// 0, behind a delay tau.
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "stan/functions/formulas.hpp"
#include "stan/functions/passage.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr double wiener_early = 0.3;  // in units of alpha^2: from here on the series of late times
constexpr int64_t early_terms = 2, late_terms = 6;  // what is left out: 1e-16 there, less elsewhere

// The log density of the time t without drift to the lower one of two bounds at distance 1, from w.
// Early: (2 pi t^3)^-1/2 times the sum of (w + 2k) exp(-(w + 2k)^2 / (2t)) over k; late: pi times that of
// k sin(k pi w) exp(-k^2 pi^2 t / 2) over k > 0 (Navarro and Fuss 2009).
Tensor log_passage(const Tensor& t, const Tensor& w) {
  constexpr double pi = std::numbers::pi;
  const Tensor is_early = t < real(wiener_early);
  const Tensor early = expand_dims(guarded(is_early, t, 0.25), -1);
  const Tensor late = expand_dims(select(is_early, real(1), t), -1), from = expand_dims(w, -1);
  const Tensor k = iota({2 * early_terms + 1}, DType::f64) - real(early_terms);
  // Less the exponent of k = 0: (w + 2k)^2 - w^2 = 4 k (k + w).
  const Tensor sum_early = sum((from + real(2) * k) * exp(real(-2) * k * (k + from) / early), {-1});
  const Tensor first = squeeze(early, {-1});
  const Tensor by_early =
      log(sum_early) - real(0.5) * square(w) / first - real(1.5) * log(first) - real(0.5 * std::log(2 * pi));
  const Tensor n = iota({late_terms}, DType::f64) + real(1);
  const Tensor sum_late =
      sum(n * sin(real(pi) * n * from) * exp(real(-0.5 * pi * pi) * (square(n) - real(1)) * late), {-1});
  const Tensor by_late = log(sum_late) - real(0.5 * pi * pi) * squeeze(late, {-1}) + real(std::log(pi));
  return select(is_early, by_early, by_late);
}

// Of a time since the delay, with a drift that varies by a normal distribution of deviation `spread`.
Tensor log_first_passage(const Tensor& t, const Tensor& alpha, const Tensor& beta, const Tensor& delta,
                         const Tensor& spread) {
  const Tensor w = real(1) - beta, away = alpha * w;
  const Tensor shared = real(1) + square(spread) * t;
  const Tensor drift =
      (square(spread * away) + real(2) * away * delta - square(delta) * t) / (real(2) * shared);
  return log_passage(t / square(alpha), w) - real(2) * log(alpha) + drift - real(0.5) * log(shared);
}

Tensor wiener_by_spread(const Tensor& y, const Tensor* p, const Tensor& spread) {
  const Tensor &alpha = p[0], &tau = p[1], &beta = p[2], &delta = p[3];
  const Tensor domain = both(both(is_positive(alpha), tau >= real(0)),
                             both(both(is_positive(beta), beta < real(1)), spread >= real(0)));
  const Tensor inside = both(domain, y > tau), t = select(inside, y - tau, real(1));
  const Tensor value =
      log_first_passage(t, guarded(domain, alpha, 1), guarded(domain, beta, 0.5), delta, spread);
  return select(inside, value, minus_infinity()) + domain_term(domain);
}
Tensor wiener_log_density(const Tensor& y, const Tensor* p) { return wiener_by_spread(y, p, real(0)); }
Tensor wiener_drift_log_density(const Tensor& y, const Tensor* p) { return wiener_by_spread(y, p, p[4]); }

// All pairs of a start and a time, along one axis.
struct PassageGrid {
  std::vector<double> starts, times, log_weights;
};
PassageGrid passage_grid(int starts, int times) {
  const PassageRule of_starts = legendre_rule(starts), of_times = legendre_rule(times);
  PassageGrid grid;
  for (size_t i = 0; i < of_starts.places.size(); ++i)
    for (size_t j = 0; j < of_times.places.size(); ++j) {
      grid.starts.push_back(of_starts.places[i] - 0.5);
      grid.times.push_back(of_times.places[j]);
      grid.log_weights.push_back(std::log(of_starts.weights[i] * of_times.weights[j]));
    }
  return grid;
}

// Start and delay vary too, evenly: by `width` around beta, and by `wait` from tau on. The mean over both is
// that of 12 starts and 24 times, whose roots lie by the rule: the density begins steeply at 0. Errors are
// 1e-8 where starts keep off the bounds, 1e-3 where they come near them.
Tensor wiener_full_log_density(const Tensor& y, const Tensor* p) {
  static const PassageGrid grid = passage_grid(12, 24);
  const Tensor &alpha = p[0], &tau = p[1], &beta = p[2], &delta = p[3], &spread = p[4];
  const Tensor &width = p[5], &wait = p[6];
  const Tensor half = real(0.5) * width;
  const Tensor in_bounds = both(both(width >= real(0), beta - half > real(0)), beta + half < real(1));
  const Tensor domain = both(both(both(is_positive(alpha), tau >= real(0)), in_bounds),
                             both(spread >= real(0), wait >= real(0)));
  const Tensor inside = both(domain, y > tau);
  const auto along = [](const Tensor& x) { return expand_dims(x, -1); };
  const Tensor start =
      along(guarded(domain, beta, 0.5)) + along(guarded(domain, width, 0)) * tensor(grid.starts);
  const Tensor last = select(inside, y - tau, real(1)), rest = last - guarded(domain, wait, 0);
  const Tensor is_cut = rest <= real(0);  // delays that take longer than y do not count
  const Tensor high = sqrt(last), low = select(is_cut, real(0), sqrt(select(is_cut, real(1), rest)));
  const Tensor share = select(is_cut, last / select(is_cut, wait, real(1)), real(1));
  const Tensor root = along(low) + along(high - low) * tensor(grid.times);
  const Tensor weight = tensor(grid.log_weights) + log(root) + along(log(real(2) * share / (high + low)));
  const Tensor each = log_first_passage(square(root), along(guarded(domain, alpha, 1)), start, along(delta),
                                        along(guarded(domain, spread, 0)));
  return select(inside, logsumexp(each + weight, {-1}), minus_infinity()) + domain_term(domain);
}

constexpr std::array wiener_table{
    UnivariateDensity{"wiener", false, 4, wiener_log_density, wiener_log_cdf, wiener_log_ccdf, nullptr},
    UnivariateDensity{"wiener", false, 5, wiener_drift_log_density, nullptr, nullptr, nullptr},
    UnivariateDensity{"wiener", false, 7, wiener_full_log_density, wiener_full_log_cdf, wiener_full_log_ccdf,
                      nullptr},
};

}  // namespace

std::span<const UnivariateDensity> passage_densities() { return wiener_table; }

}  // namespace adit::stan
