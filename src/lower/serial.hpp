// Reductions and products as the work of one invocation, where they are read.
#pragma once

#include <vector>

#include "lower/element_writer.hpp"

namespace adit::lower {

// What a reduction, a product or added updates accumulate: numbers of these types, combined so.
std::vector<kernel::Reduction> total_reductions(const graph::Node& node);
std::vector<kernel::Type> total_types(const graph::Node& node);
// What element r adds to the result at a place.
std::vector<kernel::Value> element_contributions(graph::Reader& reader, const graph::Node& node,
                                                 const graph::Index& at, kernel::Value r);
// The totals of the result at a place, by a loop.
std::vector<kernel::Value> looped_totals(ElementWriter& writer, const graph::Node& node,
                                         const graph::Index& at);

// The result from its totals, in the type that is computed with.
kernel::Value finished_total(const graph::Node& node, const std::vector<kernel::Value>& totals);

// Step r of a product's contraction, added to a sum.
graph::Scalar dot_term(graph::Reader& reader, const graph::Node& node, const graph::Index& at,
                       kernel::Value r, const graph::Scalar& sum);
// One element of a product, each term added as it is made: up to `written_out` terms are written out, more
// are a loop with so many `sums` side by side, since one waits for itself.
graph::Scalar serial_dot(ElementWriter& writer, const graph::Node& node, const graph::Index& at,
                         int64_t written_out, int64_t sums);

}  // namespace adit::lower
