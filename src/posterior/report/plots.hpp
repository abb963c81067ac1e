// The plots, each a <figure> with its caption.
#pragma once

#include "posterior/report/material.hpp"

namespace adit::report {

// A figure: words above an image. The caption is HTML.
std::string figure(const std::string& caption, const std::string& svg, const std::string& style = "");
// "c0" .. "c7".
std::string chain_class(int64_t chain);

// Of one element.
std::string trace_plot(const Material& material, const std::string& name, const Series& series);
std::string rank_plot(const Material& material, const std::string& name, const Series& series);
std::string density_plot(const Material& material, const std::string& name, const Series& series);
std::string autocorrelation_plot(const Material& material, const std::string& name, const Series& series);

// Sections; empty where there is nothing to show.
std::string summary_table(const Material& material);
std::string forest_plots(const Material& material);
std::string pair_plots(const Material& material);
std::string sampler_plots(const Material& material);
std::string predictive_plots(const Material& material);

// What goes into the pair plot: at most `most` elements, the ones that are most telling first.
std::vector<const Element*> telling_elements(const Material& material, size_t most);

}  // namespace adit::report
