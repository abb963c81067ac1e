// Order: sorting, and what follows from it. NaN is larger than any number, -0 equals 0, equal elements keep
// their order: places show it. Where only values are asked for, each -0 stands on the side of the negative
// numbers; NumPy's sort() leaves open where, too.
#pragma once

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

enum class Direction : uint8_t { ascending, descending };

struct Sorted {
  Tensor values, places;  // places: i64, where each element stood along the axis
};
Sorted sort_with_places(const Tensor& x, int axis = -1, Direction direction = Direction::ascending);
Tensor sort(const Tensor& x, int axis = -1, Direction direction = Direction::ascending);
Tensor argsort(const Tensor& x, int axis = -1, Direction direction = Direction::ascending);
// The k largest along the last axis, descending; NaN first.
Sorted top_k(const Tensor& x, int64_t k);
// The middle one, or the mean of the middle two, along an axis; NaN where there is one.
Tensor median(const Tensor& x, int axis = -1, bool keep_axis = false);

// The distinct elements of x, ascending, where `count` places are filled up with the last one; and how many
// there are. Shapes are known before values, so the caller slices.
struct Unique {
  Tensor values;   // as many as x has
  Tensor inverse;  // i64, of x's shape: where each element is among the values
  Tensor counts;   // i64: how often each is there; 0 beyond the last
  Tensor size;     // i64, a scalar
};
Unique unique(const Tensor& x);

}  // namespace adit
#pragma GCC visibility pop
