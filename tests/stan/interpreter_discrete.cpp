// Densities of integers, and what all densities of numbers share. Distribution functions of integers are
// sums.
#include <algorithm>

#include "interpreter_builtin.hpp"

namespace adit::stan::reference {

namespace {

using P = const Number*;

Number poisson_log_mass(const Number& n, const Number& log_rate, const Number& rate) {
  if (n.value < 0) return -infinity;
  return (n.value == 0 ? Number(0) : n * log_rate) - rate - lgamma(n + 1);
}

Number binomial_log_mass(const Number& n, const Number& size, const Number& log_yes, const Number& log_no) {
  if (n.value < 0 || n.value > size.value) return -infinity;
  const Number rest = size - n;
  return lchoose(size, n) + (n.value == 0 ? Number(0) : n * log_yes) +
         (rest.value == 0 ? Number(0) : rest * log_no);
}

// By mean (its logarithm) and precision. n log(m / (m + phi)) + phi log(phi / (m + phi)), from differences of
// logs.
Number negative_binomial_log_mass(const Number& n, const Number& log_mean, const Number& precision) {
  if (n.value < 0) return -infinity;
  const Number difference = log_mean - log(precision);  // log(m / phi)
  return lgamma(n + precision) - lgamma(n + 1) - lgamma(precision) +
         (n.value == 0 ? Number(0) : n * log_inv_logit(difference)) + precision * log1m_inv_logit(difference);
}

Number beta_binomial_log_mass(P x) {
  if (x[0].value < 0 || x[0] > x[1]) return -infinity;
  return lchoose(x[1], x[0]) + lbeta(x[0] + x[2], x[1] - x[0] + x[3]) - lbeta(x[2], x[3]);
}

}  // namespace

void add_discrete(std::unordered_map<std::string, Univariate>& table) {
  table["bernoulli"] = {1, true, [](P x) { return binomial_log_mass(x[0], 1, log(x[1]), log1m(x[1])); },
                        nullptr, nullptr};
  table["bernoulli_logit"] = {
      1, true, [](P x) { return binomial_log_mass(x[0], 1, log_inv_logit(x[1]), log1m_inv_logit(x[1])); },
      nullptr, nullptr};
  table["binomial"] = {2, true, [](P x) { return binomial_log_mass(x[0], x[1], log(x[2]), log1m(x[2])); },
                       nullptr, nullptr};
  table["binomial_logit"] = {
      2, true, [](P x) { return binomial_log_mass(x[0], x[1], log_inv_logit(x[2]), log1m_inv_logit(x[2])); },
      nullptr, nullptr};
  table["beta_binomial"] = {3, true, beta_binomial_log_mass, nullptr, nullptr};
  table["beta_neg_binomial"] = {3, true,
                                [](P x) {
                                  if (x[0].value < 0) return Number(-infinity);
                                  return lgamma(x[0] + x[1]) - lgamma(x[0] + 1) - lgamma(x[1]) +
                                         lbeta(x[3] + x[0], x[2] + x[1]) - lbeta(x[2], x[3]);
                                },
                                nullptr, nullptr};
  table["poisson"] = {1, true, [](P x) { return poisson_log_mass(x[0], log(x[1]), x[1]); }, nullptr, nullptr};
  table["poisson_log"] = {1, true, [](P x) { return poisson_log_mass(x[0], x[1], exp(x[1])); }, nullptr,
                          nullptr};
  table["neg_binomial"] = {2, true,
                           [](P x) { return negative_binomial_log_mass(x[0], log(x[1]) - log(x[2]), x[1]); },
                           nullptr, nullptr};
  table["neg_binomial_2"] = {2, true, [](P x) { return negative_binomial_log_mass(x[0], log(x[1]), x[2]); },
                             nullptr, nullptr};
  table["neg_binomial_2_log"] = {2, true, [](P x) { return negative_binomial_log_mass(x[0], x[1], x[2]); },
                                 nullptr, nullptr};
  table["discrete_range"] = {
      2, true, [](P x) { return x[0] < x[1] || x[0] > x[2] ? Number(-infinity) : -log(x[2] - x[1] + 1); },
      nullptr, nullptr};
  table["hypergeometric"] = {3, true,
                             [](P x) {
                               if (x[0].value < 0 || x[0] > x[2] || x[0] > x[1] || x[1] - x[0] > x[3])
                                 return Number(-infinity);
                               return lchoose(x[2], x[0]) + lchoose(x[3], x[1] - x[0]) -
                                      lchoose(x[2] + x[3], x[1]);
                             },
                             nullptr, nullptr};
  table["yule_simon"] = {1, true,
                         [](P x) {
                           if (x[0].value < 1) return Number(-infinity);
                           return log(x[1]) + lbeta(x[0], x[1] + 1);
                         },
                         nullptr, nullptr};
}

const Univariate* univariate(const std::string& name) {
  static const auto table = [] {
    std::unordered_map<std::string, Univariate> all;
    add_continuous(all);
    add_more_continuous(all);
    add_discrete(all);
    return all;
  }();
  const auto at = table.find(name);
  return at == table.end() ? nullptr : &at->second;
}

namespace {

// log P(from <= X <= to) as a sum; a `to` without end stops where nothing more comes.
Number discrete_log_sum(const Univariate& density, P x, double from, double to) {
  Numbers point(x, x + density.parameters + 1), terms;
  double largest = -infinity;
  for (double n = from; n <= to && terms.size() < 200'000; n += 1) {
    point[0] = n;
    const Number term = density.log_density(point.data());
    terms.push_back(term);
    largest = std::max(largest, term.value);
    const bool falls = terms.size() > 1 && term.value < terms[terms.size() - 2].value;
    if (std::isinf(to) && (falls || largest == -infinity) && term.value < largest - 80 && terms.size() > 50)
      break;
  }
  return terms.empty() ? Number(-infinity) : log_sum_exp(terms);
}

double discrete_least(const Univariate& density, P x) {
  return &density == univariate("discrete_range") ? std::min(x[1].value, x[0].value) : 0;
}

}  // namespace

Number log_cdf(const Univariate& density, P x) {
  if (!density.is_discrete) {
    expect(density.log_cdf != nullptr, "this distribution function is not known to the interpreter");
    return density.log_cdf(x);
  }
  return discrete_log_sum(density, x, discrete_least(density, x), std::floor(x[0].value));
}

Number log_ccdf(const Univariate& density, P x) {
  if (!density.is_discrete) {
    expect(density.log_ccdf != nullptr, "this distribution function is not known to the interpreter");
    return density.log_ccdf(x);
  }
  const Number below = log_cdf(density, x);
  // Tails like a power would take too long to add up.
  const bool is_heavy = &density == univariate("yule_simon") || &density == univariate("beta_neg_binomial");
  if (below.value < -0.5 || is_heavy) return log1m_exp(below);
  return discrete_log_sum(density, x, std::floor(x[0].value) + 1, infinity);
}

Number log_between(const Univariate& density, P low, P high, P parameters) {
  Numbers at{0};
  at.insert(at.end(), parameters, parameters + density.parameters);
  if (density.is_discrete && low && high)
    return discrete_log_sum(density, at.data(), std::ceil(low->value), std::floor(high->value));
  if (density.is_discrete && low) {
    at[0] = std::ceil(low->value) - 1;
    return log_ccdf(density, at.data());
  }
  const auto below = [&](const Number& x) { return at[0] = x, log_cdf(density, at.data()); };
  const auto above = [&](const Number& x) { return at[0] = x, log_ccdf(density, at.data()); };
  if (low && high) {
    // The difference on the side where the smaller tail is.
    const Number from = below(*low);
    return from.value > -0.7 ? log_diff_exp(above(*low), above(*high)) : log_diff_exp(below(*high), from);
  }
  return low ? above(*low) : below(*high);
}

}  // namespace adit::stan::reference
