// --metric: auto, diag, dense or unit.
#pragma once

#include <optional>
#include <string>

#include <adit/model.hpp>
#include <adit/sample.hpp>

namespace adit::cli {

// None: auto. `where` is for the message: "[sample] --metric".
std::optional<Metric> metric_named(const std::string& where, const std::string& word);

// What auto is. Correlations cost a diagonal metric many leapfrogs, which a dense one saves; but it takes
// time with the square of the numbers, and draws of the warm-up to be known. On a GPU, where each chain has
// its own, it is diag.
Metric automatic_metric(const Model& model, int64_t warmup, const Device& device);

}  // namespace adit::cli
