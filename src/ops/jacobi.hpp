// Singular values and eigenvalues by one-sided rotations (Hestenes): pairs of columns are turned until all
// are orthogonal; their lengths are the singular values. Every step is a rotation, so errors stay at
// rounding.
//
// - svd of x: the columns of x (of x^H where x is wide) are turned, and the identity beside them gives v. In
// the
//   end a QR factorisation of the turned columns, longest first, gives u: orthonormal also where values are
//   0.
// - eigh of a: a + c is positive definite with c above the norm of a, so its left and right singular vectors
//   are the eigenvectors, its values are theirs plus c, and nothing is to be accumulated.
//
// A pass is one sweep over all pairs. Those after convergence find a flag and do nothing, so that nobody has
// to look at it on the way.
#pragma once

#include "ops/factor_passes.hpp"

namespace adit::ops {

// Tensors 0: x [n, n], read; 1: eigenvalues, ascending; 2: eigenvectors in columns.
Factor eigh_by_rotations(const FactorPlan& plan, const Limits& limits);

struct SvdWanted {
  bool vectors = true;
  bool full = false;
};
// Tensors 0: x [m, n], read; 1: u; 2: singular values, descending; 3: v^H. Without vectors 1 and 3 are not
// used.
Factor svd_by_rotations(const FactorPlan& plan, SvdWanted wanted, const Limits& limits);

}  // namespace adit::ops
