// The checks of a run, one after the other: what was found, and what to do about it.
#pragma once

#include <string>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::diagnostics {

struct Check {
  std::string subject;  // "Divergences"
  std::string finding;  // one line
  std::string warning;  // empty where all is well
};

// Thresholds: R-hat above, E-BFMI below, and effective sizes below 100 a chain, but no more than 400 in all:
// four chains' worth is enough for stable estimates, however many chains there are.
inline constexpr double largest_r_hat = 1.01, least_e_bfmi = 0.3, least_size_a_chain = 100, least_size = 400;

std::vector<Check> run_checks(const Draws& draws, const Summary& summary);

// Chains that sit elsewhere than most, or never moved.
Check check_outliers(const Draws& draws);

// "a, b, c and 4 more"
std::string list_some(const std::vector<std::string>& names, size_t most = 5);

}  // namespace adit::diagnostics
