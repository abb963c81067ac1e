// Diagnostics of draws (Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021), summaries and warnings.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <adit/draws.hpp>

#pragma GCC visibility push(default)
namespace adit {

// Draws of one number: `chains` runs of equal length, one after the other.
struct ChainsView {
  std::span<const double> values;
  int64_t chains = 1;
  int64_t length() const { return chains ? static_cast<int64_t>(values.size()) / chains : 0; }
};

double r_hat(ChainsView x);        // rank-normalised, split, the larger of bulk and folded
double r_hat_plain(ChainsView x);  // split, not rank-normalised
double nested_r_hat(ChainsView x, int64_t superchains);  // chains of a superchain follow each other
double ess_bulk(ChainsView x);
double ess_tail(ChainsView x);
double ess_mean(ChainsView x);
double ess_quantile(ChainsView x, double p);
double mcse_mean(ChainsView x);
double mcse_sd(ChainsView x);
double mcse_quantile(ChainsView x, double p);
double quantile(std::span<const double> values, double p);         // type 7, as R and NumPy
double median_absolute_deviation(std::span<const double> values);  // times 1.4826, as stansummary's MAD
// At the lags 0 to `lags`, fewer where there are fewer values.
std::vector<double> autocorrelation(std::span<const double> values, int64_t lags);
std::vector<double> e_bfmi(const Draws& draws);  // one a chain
// The shortest interval that holds a share of the draws.
std::pair<double, double> highest_density_interval(std::span<const double> values, double share);

// One row of a summary.
struct SummaryRow {
  std::string name;  // "theta[1]"
  double mean = 0, mcse = 0, sd = 0, mad = 0, q5 = 0, q50 = 0, q95 = 0, ess_bulk = 0, ess_tail = 0, r_hat = 0;
  std::string label{};  // "theta[north]" where its plate has labels, else empty
  const std::string& shown() const { return label.empty() ? name : label; }
};
SummaryRow summarise(const std::string& name, ChainsView x);
struct Summary {
  std::vector<SummaryRow> stats;       // lp__ and the sampler's own columns
  std::vector<SummaryRow> parameters;  // every element of every variable
};
Summary summary(const Draws& draws);
// The table in stansummary's columns, with its header. Means and quantiles have more digits where fewer would
// hide how far apart they are.
std::string format_summary(const Draws& draws, const Summary& summary, int significant = 2);

// What is wrong with a run, in plain words with what to do; empty where nothing was found.
std::vector<std::string> warnings(const Draws& draws, const Summary& summary);
// The report of `diagnose`: every check, and the warnings.
std::string diagnose(const Draws& draws, const Summary& summary);

// --- Predictive accuracy
// ------------------------------------------------------------------------------------
struct Loo {
  double elpd = 0, p_loo = 0, se = 0, looic = 0;
  std::vector<double> pointwise, pareto_k;
  double k_threshold = 0.7;
  int64_t bad = 0;  // observations above it
};
// log_likelihood: one variable's, of all its observations.
Loo psis_loo(const Draws& draws, const DrawsVariable& log_likelihood);
struct Waic {
  double elpd = 0, p_waic = 0, se = 0, waic = 0;
  std::vector<double> pointwise;
};
Waic waic(const Draws& draws, const DrawsVariable& log_likelihood);

// The report: one HTML file with everything in it.
void write_report(const Draws& draws, const std::string& path);

}  // namespace adit
#pragma GCC visibility pop
