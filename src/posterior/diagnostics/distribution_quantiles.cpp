#include "posterior/diagnostics/distribution_quantiles.hpp"

#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <numbers>

namespace adit::diagnostics {
namespace {

namespace policies = boost::math::policies;
// In f64 alone, so that every machine gives the same digits; what cannot be had is NaN or infinite.
using Plain =
    policies::policy<policies::promote_double<false>, policies::domain_error<policies::ignore_error>,
                     policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>,
                     policies::evaluation_error<policies::ignore_error>>;

}  // namespace

double normal_quantile(double p) { return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Plain()); }

double beta_quantile(double p, double a, double b) { return boost::math::ibeta_inv(a, b, p, Plain()); }

}  // namespace adit::diagnostics
