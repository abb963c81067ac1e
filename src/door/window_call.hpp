// The attributes of windows.
#pragma once

#include <fmt/format.h>

#include <adit/windows.hpp>

#include "door/call.hpp"

namespace adit::door {

inline std::vector<Padding> window_padding(const Call& c) {
  const Dims low = c.dims("low", {}), high = c.dims("high", {});
  if (low.size() != high.size())
    fail(c.name(), "high", fmt::format("expected {} numbers, as of low, got {}", low.size(), high.size()));
  std::vector<Padding> padding;
  for (int i = 0; i < low.size(); ++i) padding.push_back({low[i], high[i], 0});
  return padding;
}

inline WindowOptions window_options(const Call& c) {
  return {c.dims("strides", {}), window_padding(c), c.dims("dilations", {}), c.flag("same", false)};
}

}  // namespace adit::door
