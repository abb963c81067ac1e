// Sorting on a GPU, along an axis, stable.
//
// Rows that fit into shared memory are sorted there, a team a row or several, by a network of comparisons.
// Longer ones go by digits of their keys, the lowest first: tiles count their digits, running sums say where
// each tile's share of a digit begins, and tiles move their elements there, in order inside of the tile first
// so that neighbours go to neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/device.hpp>
#include <adit/dtype.hpp>
#include <adit/kernel/program.hpp>

namespace adit::ops {

struct SortPlan {
  DType type{};
  uint64_t outer = 1, length = 0, inner = 1;  // rows of `length` elements that are `inner` apart
  bool descending = false;
  bool wants_values = true, wants_places = false;
};

struct SortPass {
  uint32_t program = 0;
  uint64_t teams = 0;
  std::vector<uint8_t> buffers;  // 0: x, 1: values, 2: places (i64), from 3 on: scratch
  std::vector<uint32_t> numbers{};
};
struct Sort {
  std::vector<kernel::Program> programs;
  std::vector<SortPass> passes;
  std::vector<uint64_t> scratch;  // bytes
};

Sort sort(const SortPlan& plan, const Limits& limits);

}  // namespace adit::ops
