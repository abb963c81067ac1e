// Reductions and products as sums of contributions, for the sampler's kernels.
#pragma once

#include <functional>
#include <vector>

#include "graph/row.hpp"

namespace adit::sampling {

std::vector<kernel::Reduction> total_reductions(const graph::Node& node);
std::vector<kernel::Type> total_types(const graph::Node& node);
// What element r adds to the result at a place.
std::vector<kernel::Value> element_contributions(graph::Reader& reader, const graph::Node& node,
                                                 const graph::Index& at, kernel::Value r);
// One element of a product for a CPU: each term is added as it is made. Up to `written_out` terms are written
// out; more are a loop, whose body `in_scope` runs.
kernel::Value fused_dot(graph::Reader& reader, const graph::Node& node, const graph::Index& at,
                        int64_t written_out,
                        const std::function<void(const std::function<void()>&)>& in_scope);
kernel::Value finished_total(const graph::Node& node, const std::vector<kernel::Value>& totals);

}  // namespace adit::sampling
