#include "nuts/layout.hpp"

namespace adit::sampling {

namespace {

// Where a density has much memory, that and the chain's begin where a CPU's cache lines of 64 bytes do.
int64_t rounded_up(int64_t numbers, int64_t scratch) {
  const int64_t line = scratch >= 64 ? 8 : 4;
  return (numbers + line - 1) / line * line;
}

}  // namespace

Layout make_layout(int64_t size, Metric metric, int max_depth, int64_t scratch, int64_t near) {
  Layout layout;
  layout.size = size;
  layout.metric = metric;
  layout.max_depth = max_depth;
  layout.scratch_size = scratch - near;
  layout.near = near;
  int64_t end = real_count;
  const auto take = [&](int64_t count) {
    const int64_t at = end;
    end += count;
    return at;
  };
  const bool dense = layout.dense();
  if (!dense) layout.inverse_metric = take(size);
  layout.current = take(3 * size + (dense ? size : 0));  // dense: the sharp momentum too
  layout.growing = take((dense ? 3 : 2) * size);
  layout.proposal = take(2 * size);
  layout.other = take((dense ? 4 : 3) * size);
  layout.inner = take((dense ? 2 : 1) * size);
  layout.sample = take(2 * size);
  layout.rho = take(size);
  layout.single = take((dense ? 2 : 1) * size + 3);  // drawn momenta, which pass here, come in fours
  layout.slot = (dense ? 5 : 3) * size;
  layout.stack = take(layout.slots() * layout.slot);
  if (dense) layout.inverse_metric = take(size * size);
  layout.factor = take(dense ? size * size : 0);
  layout.mean = take(size);
  layout.squares = take(dense ? size * size : size);
  if (layout.scratch_size > 0) end = rounded_up(end, layout.scratch_size);
  layout.scratch = take(layout.scratch_size);
  layout.count = rounded_up(end, layout.scratch_size);
  return layout;
}

}  // namespace adit::sampling
