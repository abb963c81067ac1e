// Attention without scores in memory: softmax(queries keys^T) values, a tile of keys at a time.
//
// A team has a block of queries. For each tile of keys it computes scores in registers, keeps the largest one
// and the sum of powers so far for every query, and adds the values, weighted; what it has added before is
// scaled down whenever a larger score appears. Sums are of f32.
#pragma once

#include <cstdint>
#include <optional>

#include <adit/device.hpp>
#include <adit/kernel/program.hpp>

namespace adit::ops {

// Queries [batch, groups, queries, depth], keys [batch, keys, depth], values [batch, keys, width].
struct AttentionShape {
  kernel::Type type = kernel::Type::f32;  // f32, f16 or bf16
  uint64_t batch = 1, groups = 1, queries = 1, keys = 1;
  uint32_t depth = 1, width = 1;
  bool causal = false;  // query i sees the keys 0 to i
};

struct AttentionTiling {
  uint32_t block = 128;     // queries of a team, a multiple of 32
  uint32_t tile = 64;       // keys at a time, 4 or 8 a lane
  uint32_t rows = 8;        // queries of a lane: 4 or 8
  uint32_t across = 8;      // lanes that share a row: 8 or 16
  uint32_t chunk = 32;      // steps of the depth that shared memory has at a time, a multiple of 8
  uint32_t portion = 64;    // keys whose values it has at a time, a divisor of the tile
  bool shuffles = true;     // lanes of a row are in one subgroup; else they meet in shared memory
  bool interleaved = true;  // lanes two apart share a column: a GPU then serves more of them at once
  bool fused = true;        // multiply and add in one instruction
};

// The largest tiles that fit the device; none where there are none, or it lacks something.
std::optional<AttentionTiling> attention_tiling(const AttentionShape& shape, const Limits& limits);

uint64_t attention_teams(const AttentionShape& shape, const AttentionTiling& tiling);
// Parameters: queries, keys, values, result.
kernel::Program attention_program(const AttentionShape& shape, const AttentionTiling& tiling);

}  // namespace adit::ops
