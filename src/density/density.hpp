// A model's log density made ready for kernels: graphs for its value and its gradient at a point, in the
// sampler's precision, and the leaves that they read besides the point.
#pragma once

#include <string>
#include <vector>

#include <adit/device.hpp>

#include "density/counted_rows.hpp"
#include "density/places.hpp"
#include "density/square_sums.hpp"
#include "density/wide.hpp"
#include "graph/node.hpp"
#include "lower/loop_blocks.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

// A tensor that kernels read. Its value follows from the model's data and numbers alone, and is computed when
// a run begins.
struct DensityLeaf {
  Tensor node;    // a placeholder of the density's graph, in the sampler's precision (or integers)
  Tensor source;  // f64 (or integers), a graph of the model's data
  // Where it tells places: the extents of the axes that its columns (the last axis) count, or the one extent.
  Dims extents{};
};

struct DensityVariable {
  std::string name;
  Tensor node;      // a placeholder: unconstrained numbers
  Tensor gradient;  // of the value, of the node's shape
  int64_t offset = 0, size = 0;
};

struct Density {
  DType type{};      // of a chain's numbers: f32 or f64
  int64_t size = 0;  // unconstrained numbers
  std::vector<DensityVariable> variables;
  Tensor value;  // a scalar, up to `constant`; f64 where it is wide
  std::vector<DensityLeaf> leaves;
  std::vector<SquareSum> square_sums;              // whose factors the leaves' sources hold as placeholders
  std::vector<CountedRows> counted;                // the same of rows that differ; their counts are leaves
  std::vector<Places> loop_places;                 // in f64 and integers, of the model's data
  Tensor constant;                                 // f64, a graph of the data: what no variable enters
  int64_t loop_numbers = lower::any_loop_numbers;  // where loops go by blocks: what made them do so
};

// Loops whose gradients would keep more than `loop_numbers` go by blocks (lower/loop_blocks.hpp). On a CPU
// the gradient of a factorisation stays whole (factor_vjp.cpp); others compute what it is made of.
Density make_density(const stats::ModelState& model, NumberTypes numbers,
                     int64_t loop_numbers = lower::any_loop_numbers, bool on_cpu = false);

}  // namespace adit::sampling
