#include <cstring>
#include <deque>
#include <fmt/format.h>
#include <sstream>

#include "stan/signature_rows.hpp"

namespace adit::stan {

namespace {

constexpr const char* density_all = "lpdf lcdf lccdf cdf rng";
constexpr const char* mass_all = "lpmf lcdf lccdf cdf rng";
constexpr const char* two_reals = "reals, reals";
constexpr const char* three_reals = "reals, reals, reals";
constexpr const char* four_reals = "reals, reals, reals, reals";

constexpr Family families_continuous[] = {
    {"beta", "reals", two_reals, density_all, "beta distribution with two counts"},
    {"beta_proportion", "reals", two_reals, "lpdf lcdf lccdf rng",
     "beta distribution with mean and precision"},
    {"cauchy", "reals", two_reals, density_all, "Cauchy distribution with location and scale"},
    {"double_exponential", "reals", two_reals, density_all, "Laplace distribution with location and scale"},
    {"exp_mod_normal", "reals", three_reals, density_all,
     "sum of a normal (location, scale) and an exponential (rate) number"},
    {"gumbel", "reals", two_reals, density_all, "Gumbel distribution with location and scale"},
    {"logistic", "reals", two_reals, density_all, "logistic distribution with location and scale"},
    {"normal", "reals", two_reals, density_all, "normal distribution with location and scale"},
    {"skew_double_exponential", "reals", three_reals, density_all,
     "skewed Laplace distribution with location, scale and skewness"},
    {"skew_normal", "reals", three_reals, density_all,
     "skewed normal distribution with location, scale and shape"},
    {"std_normal", "reals", "", density_all, "standard normal distribution"},
    {"student_t", "reals", three_reals, density_all,
     "Student's t distribution with degrees, location and scale"},
    {"uniform", "reals", two_reals, density_all, "uniform distribution between two bounds"},
    {"von_mises", "reals", two_reals, density_all,
     "von Mises distribution with location and concentration, counted from -pi"},
};

constexpr Family families_positive[] = {
    {"chi_square", "reals", "reals", density_all, "chi-square distribution with degrees of freedom"},
    {"exponential", "reals", "reals", density_all, "exponential distribution with a rate"},
    {"frechet", "reals", two_reals, density_all, "Frechet distribution with shape and scale"},
    {"gamma", "reals", two_reals, density_all, "gamma distribution with shape and rate"},
    {"inv_chi_square", "reals", "reals", density_all,
     "inverse chi-square distribution with degrees of freedom"},
    {"inv_gamma", "reals", two_reals, density_all, "inverse gamma distribution with shape and scale"},
    {"loglogistic", "reals", two_reals, "lpdf cdf rng", "log-logistic distribution with scale and shape"},
    {"lognormal", "reals", two_reals, density_all, "log-normal distribution with log location and scale"},
    {"pareto", "reals", two_reals, density_all, "Pareto distribution with minimum and shape"},
    {"pareto_type_2", "reals", three_reals, density_all, "Lomax distribution with location, scale and shape"},
    {"rayleigh", "reals", "reals", density_all, "Rayleigh distribution with a scale"},
    {"scaled_inv_chi_square", "reals", two_reals, density_all,
     "scaled inverse chi-square distribution with degrees of freedom and scale"},
    {"weibull", "reals", two_reals, density_all, "Weibull distribution with shape and scale"},
    {"wiener", "reals", four_reals, "lpdf",
     "time to the upper bound of a Wiener process with distance of the bounds, delay, start and drift"},
    {"wiener", "reals", "reals, reals, reals, reals, reals", "lpdf",
     "same where the drift varies, with its standard deviation besides"},
    {"wiener", "reals", "reals, reals, reals, reals, reals, reals, reals", "lpdf",
     "same where start and delay vary too, with the width of both besides"},
    {"wiener", "reals", "reals, reals, reals, reals, reals, real", "lpdf",
     "same where the drift varies; the precision of derivatives that comes last changes nothing"},
    {"wiener", "reals", "reals, reals, reals, reals, reals, reals, reals, real", "lpdf",
     "same where all vary; the precision of derivatives that comes last changes nothing"},
};

constexpr const char* passage_of_four = "real (reals, reals, reals, reals, reals)";
constexpr const char* passage_of_seven = "real (reals, reals, reals, reals, reals, reals, reals, reals)";
constexpr const char* passage_of_four_precise = "real (reals, reals, reals, reals, reals, real)";
constexpr const char* passage_of_seven_precise =
    "real (reals, reals, reals, reals, reals, reals, reals, reals, real)";

constexpr Signature table_passages[] = {
    {"wiener_lccdf_unnorm", passage_of_four,
     "log P(X > x) of reaching the upper bound, which may never happen, by the parameters of wiener_lpdf."},
    {"wiener_lccdf_unnorm", passage_of_four_precise, "The same; the last number changes nothing."},
    {"wiener_lccdf_unnorm", passage_of_seven,
     "The same where drift, start and delay vary; errors some 1e-6."},
    {"wiener_lccdf_unnorm", passage_of_seven_precise, "The same; the last number changes nothing."},
    {"wiener_lcdf_unnorm", passage_of_four,
     "log P(X <= x) of reaching the upper bound, by the parameters of wiener_lpdf."},
    {"wiener_lcdf_unnorm", passage_of_four_precise, "The same; the last number changes nothing."},
    {"wiener_lcdf_unnorm", passage_of_seven, "The same where drift, start and delay vary; errors some 1e-6."},
    {"wiener_lcdf_unnorm", passage_of_seven_precise, "The same; the last number changes nothing."},
};

constexpr Family families_discrete[] = {
    {"bernoulli", "ints", "reals", mass_all, "Bernoulli distribution with a probability"},
    {"bernoulli_logit", "ints", "reals", "lpmf rng", "Bernoulli distribution with log odds"},
    {"beta_binomial", "ints", "ints, reals, reals", mass_all,
     "beta-binomial distribution with size and two counts"},
    {"beta_neg_binomial", "ints", three_reals, mass_all, "beta negative binomial distribution"},
    {"binomial", "ints", "ints, reals", mass_all, "binomial distribution with size and probability"},
    {"binomial_logit", "ints", "ints, reals", "lpmf", "binomial distribution with size and log odds"},
    {"discrete_range", "ints", "ints, ints", mass_all, "uniform distribution of integers between two bounds"},
    {"hypergeometric", "int", "int, int, int", "lpmf rng",
     "hypergeometric distribution with draws and two sizes"},
    {"neg_binomial", "ints", two_reals, mass_all,
     "negative binomial distribution with shape and inverse scale"},
    {"neg_binomial_2", "ints", two_reals, mass_all, "negative binomial distribution with mean and precision"},
    {"neg_binomial_2_log", "ints", two_reals, "lpmf rng",
     "negative binomial distribution with log mean and precision"},
    {"poisson", "ints", "reals", mass_all, "Poisson distribution with a rate"},
    {"poisson_log", "ints", "reals", "lpmf rng", "Poisson distribution with a log rate"},
    {"yule_simon", "ints", "reals", mass_all, "Yule-Simon distribution with a shape"},
};

std::string family_doc(const Family& family, const std::string& suffix) {
  if (suffix == "lpdf") return fmt::format("The log density of the {}.", family.doc);
  if (suffix == "lpmf") return fmt::format("The log probability of the {}.", family.doc);
  if (suffix == "lcdf") return fmt::format("log P(X <= x) of the {}.", family.doc);
  if (suffix == "lccdf") return fmt::format("log P(X > x) of the {}.", family.doc);
  if (suffix == "cdf") return fmt::format("P(X <= x) of the {}.", family.doc);
  return fmt::format("Draws from the {}.", family.doc);
}

std::string family_text(const Family& family, const std::string& suffix) {
  const bool is_discrete = std::strstr(family.suffixes, "lpmf");
  if (suffix != "rng")
    return *family.parameters ? fmt::format("real ({} | {})", family.outcome, family.parameters)
                              : fmt::format("real ({})", family.outcome);
  return fmt::format("{} of rng ({})", is_discrete ? "ints" : "reals", family.parameters);
}

}  // namespace

std::span<const Family> continuous_families() { return families_continuous; }
std::span<const Family> positive_families() { return families_positive; }
std::span<const Signature> passage_rows() { return table_passages; }
std::span<const Family> discrete_families() { return families_discrete; }

namespace {

// Rows point into it; topics() makes them under its own lock.
const char* kept_text(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

struct TransformFamily {
  const char *name, *free, *sizes, *constrained;  // words; sizes: what the way there takes besides
  const char* doc;
};
constexpr TransformFamily families_transforms[] = {
    {"cholesky_factor_corr", "vector", ", int", "matrix", "the factor of a correlation matrix"},
    {"cholesky_factor_cov", "vector", ", int, int", "matrix", "the factor of a covariance matrix"},
    {"corr_matrix", "vector", ", int", "matrix", "a correlation matrix"},
    {"cov_matrix", "vector", ", int", "matrix", "a covariance matrix"},
    {"lower_bound", "numbers", ", numbers", "elementwise", "numbers above a bound"},
    {"lower_upper_bound", "numbers", ", numbers, numbers", "elementwise", "numbers between two bounds"},
    {"offset_multiplier", "numbers", ", numbers, numbers", "elementwise", "numbers moved and scaled"},
    {"ordered", "vector", "", "vector", "numbers that rise"},
    {"positive_ordered", "vector", "", "vector", "numbers that rise from above 0"},
    {"simplex", "vector", "", "vector", "positive numbers whose sum is 1"},
    {"stochastic_column", "matrix", "", "matrix", "a matrix whose columns are simplexes"},
    {"stochastic_row", "matrix", "", "matrix", "a matrix whose rows are simplexes"},
    {"sum_to_zero", "vector", "", "vector", "numbers whose sum is 0"},
    {"sum_to_zero", "matrix", "", "matrix", "a matrix whose rows and columns sum to 0"},
    {"unit_vector", "vector", "", "vector", "numbers whose squares sum to 1"},
    {"upper_bound", "numbers", ", numbers", "elementwise", "numbers below a bound"},
};

void add_transform(std::vector<Signature>& rows, const TransformFamily& one, const char* axes) {
  const bool is_elementwise = std::strcmp(one.free, "numbers") == 0;
  const std::string there = fmt::format("{}{} ({}{}{})", one.constrained, axes, one.free, axes, one.sizes);
  const std::string back =
      is_elementwise ? there : fmt::format("{}{} ({}{})", one.free, axes, one.constrained, axes);
  rows.push_back({kept_text(fmt::format("{}_constrain", one.name)), kept_text(there),
                  kept_text(fmt::format("Free numbers as {}.", one.doc))});
  rows.push_back({kept_text(fmt::format("{}_jacobian", one.name)), kept_text(there),
                  kept_text("The same, with the log Jacobian added to the target.")});
  rows.push_back({kept_text(fmt::format("{}_unconstrain", one.name)), kept_text(back),
                  kept_text(fmt::format("The free numbers of {}.", one.doc))});
}

}  // namespace

std::vector<Signature> transform_rows() {
  std::vector<Signature> rows;
  for (const TransformFamily& one : families_transforms) {
    add_transform(rows, one, "");
    if (std::strcmp(one.free, "numbers") != 0) add_transform(rows, one, "[]");
  }
  return rows;
}

std::vector<Signature> rows_of(std::span<const Family> families) {
  std::vector<Signature> rows;
  for (const Family& family : families) {
    std::istringstream suffixes(family.suffixes);
    for (std::string suffix; suffixes >> suffix;)
      rows.push_back({kept_text(fmt::format("{}_{}", family.name, suffix)),
                      kept_text(family_text(family, suffix)), kept_text(family_doc(family, suffix))});
  }
  return rows;
}

}  // namespace adit::stan
