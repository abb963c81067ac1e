// Eigenvectors of symmetric matrices by matrix products, for jacobi_by_blocks.cpp: all pairs of columns are
// turned at the same time. For devices on which eigh_tridiagonal.hpp has no way: without f64, or whose teams
// may not wait for each other; and for matrices that are larger than it takes.
//
// Of the vectors so far, v, two products are made, s = v^T a v and r = v^T v. Every pair of columns has an
// angle by them, as a rotation would have it: w, antisymmetric. The next vectors are v (1 + alpha w + (1 - r)
// / 2). The last part keeps them orthonormal: it is a step of Newton and Schulz, and takes away what alpha w
// alone leaves, a square of it. Where vectors are not orthonormal yet, s is no measure of what is left to
// turn: r times the mean of the two eigenvalues is taken off (as Ogita and Aishima do in refining). Near the
// end this doubles the digits each time; before, two or three steps do what a sweep of rotations does.
//
// alpha keeps alpha w below a norm of about 1. That norm is not known, but how it was in the step before: r
// then is 1 + (alpha w)^T (alpha w), and the sums of squares of r - 1 and of w tell it.
//
// Most steps are made with 16 bits where there are cooperative matrices, the last ones with 32. Where this
// comes to no end (spectra that fall off by many orders, clusters), rotations do it from the start.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops::jacobi_products {

bool has_products(const FactorPlan& plan, uint32_t size, const Limits& limits);

// The tensors of jacobi_by_blocks.cpp: the matrix, scaled, [size, size]; what is too small to be turned; the
// state of jacobi_blocks.hpp.
struct Given {
  uint8_t matrix = 0, limit = 0, state = 0;
};
struct Found {
  uint8_t vectors[2] = {0, 0}, lengths = 0, control = 0;
  uint32_t step = 0;  // whose control is the last
};
// Passes that find all eigenvectors or leave the state as it is; `own` tensors come before the scratch of
// `made`.
Found add(Factor& made, uint8_t own, const FactorPlan& plan, uint32_t size, const Given& given,
          const Limits& limits);

// What was found, or what rotations left where they were needed. Buffers: matrix, lengths of products, state,
// lengths.
kernel::Program chosen_lengths(const FactorPlan& plan, uint32_t size);
// Buffers: vectors in rows as rotations left them, Found::vectors, Found::control, ranks, scale, state, to:
// in columns, in order. A team a row.
kernel::Program chosen_vectors(const FactorPlan& plan, uint32_t size, const Found& found);

}  // namespace adit::ops::jacobi_products
