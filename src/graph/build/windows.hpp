// What the builders of windows and of convolutions share.
#pragma once

#include <string_view>
#include <vector>

#include <adit/ops.hpp>

#include "graph/attributes.hpp"

namespace adit::graph {

// One number of at least 1 for each of `count` axes.
void expect_one_axis_each(std::string_view op, std::string_view argument, const Dims& given, int count);

// Where windows lie along axes of these extents; none given: 1, no padding. Throws where an axis has no room
// for a window, which `names` calls by its argument.
WindowAttributes window_plan(std::string_view op, const Dims& extents, const Dims& window,
                             const Dims& strides, const std::vector<Padding>& padding, bool same,
                             const Dims& dilations, const Dims& spread, std::string_view names);

}  // namespace adit::graph
