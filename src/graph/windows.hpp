// Windows over a tensor: what builders, rows and lowering share.
#pragma once

#include "graph/node.hpp"

namespace adit::graph {

using SharedWindows = std::shared_ptr<const WindowAttributes>;

inline const WindowAttributes& windows_of(const Node& node) { return *node.as<SharedWindows>(); }

// The index map: [axes of the results, lengths of the windows]. Not for an x without elements.
Tensor make_windows(const Tensor& x, const Tensor& value, const WindowAttributes& attributes);
// For each element of a tensor of shape x, the sum of what g has where windows show it; g is of a view's
// shape.
Tensor collected(const Tensor& g, const WindowAttributes& attributes, const Shape& x);
// A convolution of x [batch, channels, spatial...] with w [filters, channels of a group, spatial...].
Tensor make_conv(const Tensor& x, const Tensor& w, const WindowAttributes& attributes);
// The same as a dot over windows.
Tensor conv_by_windows(const Tensor& x, const Tensor& w, const WindowAttributes& attributes);

}  // namespace adit::graph
