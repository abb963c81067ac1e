// Cases of distributions and what is checked of each.
#pragma once

#include <string>
#include <vector>

#include "stats/rows.hpp"

namespace adit::test {

// One set of parameters, and what SciPy and mpmath say about it. Empty lists were not asked for.
struct ParameterSet {
  std::vector<double> parameters, points, log_density, log_cdf, log_survival;
  double mean = 0, variance = 0, kurtosis = 0;
  std::vector<double> cdf_points, cdf;
};
struct DistributionCase {
  std::string name;
  double tolerance = 0, single = 0;  // of f64 and f32, relative to 1 + |value|
  double moments = 0;                // of mean and variance, relative
  bool tensors = true, draws = true;
  std::vector<ParameterSet> sets;
};

const std::vector<DistributionCase>& distribution_cases();
const std::vector<Row>& distribution_rows();
const Row& row_named(const std::string& name);

// Parameters as numbers, as tensors [sets], and repeated to [points, sets].
Parameters as_numbers(const ParameterSet& set);
std::vector<Tensor> as_batch(const DistributionCase& c);
std::vector<Tensor> as_full(const DistributionCase& c);
Parameters as_parameters(const std::vector<Tensor>& tensors);
// A list of each set as [points, sets].
Tensor table_of(const DistributionCase& c, std::vector<double> ParameterSet::*list);

// A function of a distribution and the list it should give.
struct Checked {
  const char* name;
  std::function<Tensor(const Tensor&)> Distribution::*function;
  std::vector<double> ParameterSet::*list;
};
const std::vector<Checked>& checked_functions();

// |got - wanted| <= tolerance (1 + |wanted|); infinities and NaN must be the same.
void expect_close(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                  const std::string& what);
// The derivative of each number of f(x) by the number at its place in x[argument], against differences.
void check_gradient(const std::function<Tensor(const std::vector<Tensor>&)>& f, const std::vector<Tensor>& x,
                    int argument, const std::string& what);
// f of f64 tensors, computed in f32.
std::vector<double> in_single(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                              const std::vector<Tensor>& x);
// Draws against the cdf at points, the mean and the variance, to five standard errors.
void check_draws(const std::vector<double>& draws, const ParameterSet& set, const std::string& what);

}  // namespace adit::test
