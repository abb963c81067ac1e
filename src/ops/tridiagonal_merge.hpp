// Eigenvalues and vectors of a symmetric tridiagonal matrix by division (Cuppen): cut into leaves, whose
// eigenvectors are found by rotations; then two neighbours at a time are one, d + z z^T in their
// eigenvectors, whose eigenvalues are the roots of 1 + sum z_i^2 / (d_i - x), one between each two d. They
// are found by their distance from the nearer of the two, to all digits of that; the z whose roots these are
// exactly (Gu and Eisenstat) give vectors that are orthonormal, and a matrix product makes them vectors of
// both.
//
// A z that is nothing leaves its d and vector as they are. Of those that take part, d that are close to each
// other are not taken out, as usual: they are moved apart, and few are that close.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops::tridiagonal {

// Leaves of `leaf` numbers, 2^levels of them; the last ones may be filled up with numbers above all
// eigenvalues.
struct Division {
  uint32_t leaf = 0, levels = 0;
  uint32_t size() const { return leaf << levels; }
};
Division division_of(uint32_t n);
uint64_t shared_bytes_of(const Division& division);  // of a team at most

// Passes after those of `made`, an operation with `own` tensors: eigenvalues, f64, ascending, and the vectors
// in columns, both of [size] and followed by what fills up. `diagonal` and `beside` [n], which is not kept.
struct Solved {
  uint8_t values = 0, vectors = 0;
};
Solved add_division(Factor& made, uint8_t own, const FactorPlan& plan, uint8_t diagonal, uint8_t beside,
                    const Limits& limits);

}  // namespace adit::ops::tridiagonal
