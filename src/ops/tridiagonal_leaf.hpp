// A leaf of the division in tridiagonal_merge.hpp: the same from single numbers on, by one team in shared
// memory.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops::tridiagonal {

constexpr uint32_t most_leaf = 32;
// By a bound of the norm: how far d are moved apart, and which z, times the length of all, are taken for
// zero. All is made with 64 bits, whatever the matrix has: with 32 nobody sees that d were moved.
inline double least_gap(kernel::Type type) { return type == kernel::Type::f32 ? 0x1p-44 : 0x1p-50; }
constexpr double nothing = 0x1p-53;

// A team a leaf of `leaf` numbers of those of a matrix, `size` with what it is filled up with. Buffers:
// diagonal, beside, values (f64, ascending), vectors in columns [leaf, leaf], bounds (of the norm, f64, a
// matrix each). Numbers: n, leaf, size.
kernel::Program solve_leaf(kernel::Type type, const Limits& limits);

}  // namespace adit::ops::tridiagonal
