// What the plots are made of: the elements of the variables, and numbers drawn from their draws.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <adit/diagnostics.hpp>

#include "posterior/report/svg.hpp"

namespace adit::report {

// One number of the posterior.
struct Element {
  size_t variable = 0;  // in Draws::variables
  int64_t index = 0;    // within it
  const SummaryRow* row = nullptr;
  bool varies = false;  // has two different drawable values
  double badness = 0;   // 1 where R-hat or ESS come to the limit; more is worse
  const std::string& name() const { return row->shown(); }
};

struct Material {
  const Draws* draws = nullptr;
  Summary summary;
  std::vector<Element> elements;   // in the order of the summary
  std::vector<int64_t> divergent;  // places (chain * draws + draw)
  bool many_chains() const;        // too many for a colour each
};

Material collect(const Draws& draws);

// Elements that get plots of their own, in order. `worst`: there for diagnostics beyond the limits.
struct Selection {
  std::vector<const Element*> elements;
  std::vector<bool> worst;
  size_t varying = 0;  // how many there were to choose from
};
Selection select(const Material& material, size_t most);

// An element's draws, and what most plots need of them.
struct Series {
  std::vector<double> values;  // chain after chain
  std::vector<double> sorted;  // drawable ones of all chains; evenly thinned where there are very many
  int64_t chains = 0, length = 0;
  std::span<const double> chain(int64_t c) const {
    return std::span(values).subspan(static_cast<size_t>(c * length), static_cast<size_t>(length));
  }
};
Series series(const Material& material, const Element& element);

double sorted_quantile(std::span<const double> sorted, double p);
// All values, unless a few of them lie so far out that nothing would be seen: then most of them.
Range display_range(std::span<const double> sorted);
// `count` of 0 .. size - 1, evenly spaced.
std::vector<int64_t> evenly(int64_t size, int64_t count);
// Whether all are whole numbers, and few different ones.
bool is_discrete(std::span<const double> sorted);

struct Histogram {
  Range range;
  std::vector<double> density;  // by bin; integrates to the share of values within the range
  double bin_width() const { return range.width() / static_cast<double>(density.size()); }
};
Histogram histogram(std::span<const double> sorted, const Range& range, size_t bins);
// Bins by Freedman and Diaconis, or one a whole number.
Histogram histogram(std::span<const double> sorted);
// A smoothed density on an even grid over the range.
std::vector<double> smooth_density(std::span<const double> sorted, const Range& range, size_t points);

}  // namespace adit::report
