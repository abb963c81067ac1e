// Which parts of a density are computed in f64 where a chain's numbers are f32.
//
// Positions, momenta and gradients in f32 harm nobody: a gradient that is a little off still moves points
// back and forth along the same way and keeps volumes, and what is drawn is decided by energies. Those are
// what must be right, and a log density in f32 is wrong for two reasons: sums of many rows are large, and
// their last bits are what energies differ by; and factors of nearly singular matrices have no digits left.
#pragma once

#include <span>
#include <unordered_set>

#include "graph/node.hpp"

namespace adit::sampling {

enum class Wide : uint8_t {
  nothing,
  totals,  // what the value adds up of many rows, from there to the value itself
  value    // all of the value but for rows that are many; the gradient beside it stays f32
};

// A chain's numbers, and what of its density is wider than they are.
struct NumberTypes {
  NumberTypes(DType of, Wide parts = Wide::nothing) : type(of), wide(parts) {}
  DType type;  // f32 or f64
  Wide wide;   // of f32
};

// The nodes of a value's graph in f64 that stay so while the others become f32; `variables` are none of
// them.
std::unordered_set<const graph::Node*> wide_nodes(const Tensor& value, std::span<const Tensor> variables,
                                                  Wide wide);

// Whether more of a density is f64 in `wide` than in `narrow`, both as chains in f32 compute it, and all that
// counts may be: loops and choices stay f32.
bool is_wider(const Tensor& wide, const Tensor& narrow);

}  // namespace adit::sampling
