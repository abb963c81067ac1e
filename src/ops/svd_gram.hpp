// svd of f32 and c64 by the eigenvectors v of a^H a, which is made with 64 bits: what squaring takes of 53
// bits leaves more than 24. The columns of a v, longest first, are orthogonal but for what is nothing beside
// the matrix, so u is q of their QR factorisation: orthonormal whatever the singular values are.
//
// A square is known to some units of 2^-53 of the largest: a singular value to about 2^-53 (s_1 / s)^2 of its
// own size, one of a millionth to three digits, and one that is less than 2^-26 of the largest not at all,
// which is still less than a unit of 32 bits beside the matrix.
#pragma once

#include "ops/jacobi.hpp"

namespace adit::ops {

// Tensors as of svd_by_rotations.
bool has_svd_gram(const FactorPlan& plan, const Limits& limits);
Factor svd_gram(const FactorPlan& plan, SvdWanted wanted, const Limits& limits);

}  // namespace adit::ops
