#include <cmath>

#include "posterior/diagnostics/chains.hpp"
#include "posterior/diagnostics/normal_scores.hpp"

namespace adit::diagnostics {
namespace {

// a[0] + a[1] x + ... + a[7] x^7.
double polynomial(const double (&a)[8], double x) {
  double value = a[7];
  for (int i = 6; i >= 0; --i) value = value * x + a[i];
  return value;
}

constexpr double centre_over[8] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                                   1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                                   3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double centre_under[8] = {1.0,
                                    4.2313330701600911252e1,
                                    6.8718700749205790830e2,
                                    5.3941960214247511077e3,
                                    2.1213794301586595867e4,
                                    3.9307895800092710610e4,
                                    2.8729085735721942674e4,
                                    5.2264952788528545610e3};
constexpr double middle_over[8] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                   5.76949722146069140550e0,  3.64784832476320460504e0,
                                   1.27045825245236838258e0,  2.41780725177450611770e-1,
                                   2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double middle_under[8] = {1.0,
                                    2.05319162663775882187e0,
                                    1.67638483018380384940e0,
                                    6.89767334985100004550e-1,
                                    1.48103976427480074590e-1,
                                    1.51986665636164571966e-2,
                                    5.47593808499534494600e-4,
                                    1.05075007164441684324e-9};
constexpr double far_over[8] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                1.78482653991729133580e0,  2.96560571828504891230e-1,
                                2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                2.71155556874348757815e-5, 2.01033439929228813265e-7};
constexpr double far_under[8] = {1.0,
                                 5.99832206555887937690e-1,
                                 1.36929880922735805310e-1,
                                 1.48753612908506148525e-2,
                                 7.86869131145613259100e-4,
                                 1.84631831751005468180e-5,
                                 1.42151175831644588870e-7,
                                 2.04426310338993978564e-15};

}  // namespace

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::fabs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(centre_over, r) / polynomial(centre_under, r);
  }
  const double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  const double size = r <= 5 ? polynomial(middle_over, r - 1.6) / polynomial(middle_under, r - 1.6)
                             : polynomial(far_over, r - 5) / polynomial(far_under, r - 5);
  return q < 0 ? -size : size;
}

NormalScores::NormalScores(int64_t count) : scores_(static_cast<size_t>(count)) {
  for (int64_t i = 0; i < (count + 1) / 2; ++i) {
    const double score = 2 * i + 1 == count ? 0 : of_rank(static_cast<double>(i + 1));
    scores_[i] = score;
    scores_[count - 1 - i] = -score;
  }
}

double NormalScores::of_rank(double rank) const {
  return normal_quantile((rank - 0.375) / (static_cast<double>(count()) + 0.25));
}

double NormalScores::of(int64_t first, int64_t last) const {
  if ((first + last) % 2 == 0) return scores_[(first + last) / 2];
  return of_rank(0.5 * static_cast<double>(first + last) + 1);
}

void assign_scores(const Ordered& sorted, const NormalScores& table, std::vector<double>& scores) {
  const auto count = static_cast<int64_t>(sorted.values.size());
  for (int64_t first = 0; first < count;) {
    int64_t last = first;
    while (last + 1 < count && sorted.values[last + 1] == sorted.values[first]) ++last;
    const double score = table.of(first, last);
    for (; first <= last; ++first) scores[sorted.places[first]] = score;
  }
}

}  // namespace adit::diagnostics
