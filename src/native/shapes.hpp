// Which values the SIMD lanes share. Scalars stay scalars and neighbours become vector loads.
#pragma once

#include <cstdint>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::native {

enum class Shape : uint8_t {
  uniform,  // the same in every lane: kept as one scalar
  linear,   // lane l has base + l: kept as the base
  varying   // a vector
};

struct Shapes {
  std::vector<Shape> of;          // by Id; of a variable: of what it holds
  std::vector<uint8_t> may_wrap;  // a linear value that could pass the end of its 32 bits inside a vector
  std::vector<uint8_t> per_lane;  // of a private array or variable: declared where lanes run
};

Shapes find_shapes(const kernel::Program& program);

}  // namespace adit::native
