// Reductions and products as sums of contributions, for the sampler's kernels.
#pragma once

#include <vector>

#include "graph/row.hpp"

namespace adit::sampling {

std::vector<kernel::Reduction> total_reductions(const graph::Node& node);
std::vector<kernel::Type> total_types(const graph::Node& node);
// What element r adds to the result at a place.
std::vector<kernel::Value> element_contributions(graph::Reader& reader, const graph::Node& node,
                                                 const graph::Index& at, kernel::Value r);
kernel::Value finished_total(const graph::Node& node, const std::vector<kernel::Value>& totals);

}  // namespace adit::sampling
