// svd of f32 by the eigenvectors v of a^T a, which is made with 64 bits: what squaring takes of 53 bits
// leaves more than
// 24. The columns of a v, longest first, are orthogonal but for what is nothing beside the matrix, so u is q
// of their QR factorisation: orthonormal whatever the singular values are.
#pragma once

#include "ops/jacobi.hpp"

namespace adit::ops {

// Tensors as of svd_by_rotations.
bool has_svd_gram(const FactorPlan& plan, const Limits& limits);
Factor svd_gram(const FactorPlan& plan, SvdWanted wanted, const Limits& limits);

}  // namespace adit::ops
