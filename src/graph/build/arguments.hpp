// Checks that builders share.
#pragma once

#include <fmt/format.h>

#include "graph/row.hpp"

namespace adit::graph {

inline void expect_tensor(std::string_view op, std::string_view argument, const Tensor& x) {
  if (!x) fail(op, argument, "expected a tensor, got none");
}

inline void expect_integers(std::string_view op, std::string_view argument, const Tensor& x) {
  expect_tensor(op, argument, x);
  if (!is_integer(x.dtype()))
    fail(op, argument, fmt::format("expected integers, got {}", name_of(x.dtype())));
}

// One number for each axis.
inline void expect_count(std::string_view op, std::string_view argument, int count, int got) {
  if (count != got) fail(op, argument, fmt::format("expected {} numbers, one an axis, got {}", count, got));
}

inline void expect_shape(std::string_view op, const Shape& shape) {
  for (const int64_t extent : shape)
    if (extent < 0)
      fail(op, "shape", fmt::format("expected extents of at least 0, got {}", to_string(shape)));
}

}  // namespace adit::graph
