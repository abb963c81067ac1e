// eigh and svd of jacobi.hpp by the kernels of jacobi_blocks.hpp.
//
// - eigh: the matrix itself is turned from both sides, and the identity from one.
// - svd: what is turned is the product of the columns with each other. That product is exact only where
// columns
//   are long, so after each sweep the columns themselves are multiplied by what turned it, and it is made
//   anew: as accurate as rotations of the columns are, at the price of matrix products.
#pragma once

#include "ops/jacobi.hpp"

namespace adit::ops {

bool has_jacobi_by_blocks(const FactorPlan& plan, const Limits& limits);
Factor eigh_by_blocks(const FactorPlan& plan, const Limits& limits);
Factor svd_by_blocks(const FactorPlan& plan, SvdWanted wanted, const Limits& limits);

}  // namespace adit::ops
