// What networks are made of, beside ops.hpp. Halves (f16, bf16) are computed in f32; integers become f32.
#pragma once

#include <optional>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

// (x - mean) / sqrt(variance + epsilon) over `axes`. `scale` and `shift`, where there are any, have the
// extents of those axes, in order.
Tensor layer_norm(const Tensor& x, const Tensor& scale = {}, const Tensor& shift = {},
                  const Axes& axes = {-1}, double epsilon = 1e-5);
// x / sqrt(mean(x * x) + epsilon) over `axes`; as layer_norm otherwise.
Tensor rms_norm(const Tensor& x, const Tensor& scale = {}, const Tensor& shift = {}, const Axes& axes = {-1},
                double epsilon = 1e-5);

struct AttentionOptions {
  // Broadcasts with the scores [..., queries, keys]. Integers say who takes part: a key counts where it is
  // not 0. Floats are added to the scores.
  Tensor mask{};
  bool causal = false;            // query i sees the keys 0 to i
  std::optional<double> scale{};  // of the scores; none: 1 / sqrt(depth)
  // By one kernel that keeps no scores in memory, where a GPU has it; only without a mask. None: in f32, and
  // in halves where the scores are many.
  std::optional<bool> fused{};
};
// softmax(scale * queries keys^T + mask) values, of queries [..., heads, n, depth], keys [..., heads, m,
// depth] and values [..., heads, m, width]. Leading axes broadcast; where queries have a multiple of the
// heads of keys and values, consecutive ones share a head of those. A query that sees no key gives zeros.
Tensor attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionOptions& options = {});

}  // namespace adit
#pragma GCC visibility pop
