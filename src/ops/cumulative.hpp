// Running sums, products, smallest and largest elements along an axis, from either end.
//
// Columns are cut into blocks: totals of blocks, running totals of those (cut again where they are many),
// then each block from where the one before it ended. Every column is read twice and written once. Halves add
// up in f32. The order of additions follows from the plan alone, so results repeat.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::ops {

enum class CumulativeKind : uint8_t { sum, product, min, max };

struct CumulativePlan {
  CumulativeKind kind{};
  kernel::Type type = kernel::Type::f32;  // of elements, or of the parts of complex numbers
  bool complex = false;                   // sums and products
  bool reverse = false;                   // from the end
  uint64_t outer = 1, length = 1, inner = 1;
  // How it goes; none of them: an invocation a block.
  bool in_tiles = false;  // teams go along rows (inner is 1), as a GPU reads them best; not complex numbers
  uint32_t subgroup = 0;  // of so many lanes, which have short rows together; 0: not so
  bool in_rows = false;   // neighbouring columns go on together, as a CPU reads them best; not halves
  bool alone = false;     // a thread goes through a block by itself, where lanes would read far apart
  uint64_t invocations = 1;         // that fill the device
  uint64_t shortest = 32;           // blocks that are worth an invocation
  uint64_t longest = ~uint64_t{0};  // that a loop may be
};

std::string kernel_name(CumulativeKind kind, const char* what);  // "cumulative_sum_totals"

// Buffers of a pass by number: 0 is x, 1 the result, 2 + i the totals of level i.
struct CumulativePass {
  kernel::Program program;
  uint64_t teams = 0;
  std::vector<uint8_t> arguments;
};

struct Cumulative {
  std::vector<uint64_t> totals;  // numbers of each level, in the type that accumulates
  kernel::Type total_type{};
  std::vector<CumulativePass> passes;
};

Cumulative cumulative(const CumulativePlan& plan);

}  // namespace adit::ops
