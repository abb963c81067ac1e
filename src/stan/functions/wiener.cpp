// The time at which a Wiener process with drift delta, which starts at beta alpha, first reaches alpha before
// 0, behind a delay tau.
#include <array>
#include <cmath>
#include <numbers>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr double wiener_early = 0.5;  // in units of alpha^2: from here on the series of late times
constexpr int64_t early_terms = 4, late_terms = 8;

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

// With a drift that varies by a normal distribution of deviation `spread`.
Tensor wiener_log(const Tensor& y, const Tensor& alpha, const Tensor& tau, const Tensor& beta,
                  const Tensor& delta, const Tensor& spread) {
  const Tensor domain = both(both(is_positive(alpha), tau >= real(0)),
                             both(both(is_positive(beta), beta < real(1)), spread >= real(0)));
  const Tensor inside = both(domain, y > tau);
  const Tensor wide = guarded(domain, alpha, 1), t = select(inside, y - tau, real(1));
  const Tensor w = guarded(domain, real(1) - beta, 0.5), away = wide * w;
  const Tensor shared = real(1) + square(spread) * t;
  const Tensor drift =
      (square(spread * away) + real(2) * away * delta - square(delta) * t) / (real(2) * shared);
  const Tensor value =
      log_passage(t / square(wide), w) - real(2) * log(wide) + drift - real(0.5) * log(shared);
  return select(inside, value, minus_infinity()) + domain_term(domain);
}
Tensor wiener_log_density(const Tensor& y, const Tensor* p) {
  return wiener_log(y, p[0], p[1], p[2], p[3], real(0));
}

constexpr std::array wiener_table{
    UnivariateDensity{"wiener", false, 4, wiener_log_density, nullptr, nullptr, nullptr},
};

Tensor wiener_with_spread(const Arguments& a) {
  const auto lifted = [&](size_t i) { return finished(a, part(a, i)); };
  return wiener_log(lifted(0), lifted(1), lifted(2), lifted(3), lifted(4), lifted(5));
}
constexpr std::array wiener_general_table{GeneralFunction{"wiener_lpdf", wiener_with_spread}};

}  // namespace

std::span<const UnivariateDensity> passage_densities() { return wiener_table; }
std::span<const GeneralFunction> passage_functions() { return wiener_general_table; }

}  // namespace adit::stan
