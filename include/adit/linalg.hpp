// Linear algebra: factorisations, systems, norms and functions of matrices. The last two axes are matrices,
// those before are batches. Floats and complex numbers; integers become f32, f16 and bf16 are computed in
// f32.
//
// A matrix that has no answer gives NaN or infinities there, never an error: its neighbours in the batch are
// not harmed.
#pragma once

#include <optional>

#include <adit/ops.hpp>

#pragma GCC visibility push(default)
namespace adit {

// --- Factorisations --------------------------------------------------------------------------------------
struct LuFactors {
  Tensor packed;       // u on and above the diagonal; below it l, whose diagonal is ones
  Tensor permutation;  // i32: row i of l u is row permutation[i] of x
  Tensor sign;         // i32, a number a matrix: 1 or -1, the permutation's
};
LuFactors lu_factor(const Tensor& x);
struct Plu {
  Tensor p, l, u;  // p l u = x
};
Plu lu(const Tensor& x);

struct Qr {
  Tensor q, r;
};
// q [m, k], r [k, n] with k = min(m, n); complete: k = m. The gradient is of the reduced form.
Qr qr(const Tensor& x, bool complete = false);

struct Eigh {
  Tensor values, vectors;  // ascending; in columns
};
// Of the lower triangle alone.
Eigh eigh(const Tensor& x);
Tensor eigh_values(const Tensor& x);

struct Svd {
  Tensor u, s, v_h;  // s descends
};
// u [m, k], v_h [k, n] with k = min(m, n); full: square ones. The gradients of u and v_h are of the thin
// form.
Svd svd(const Tensor& x, bool full = false);
Tensor singular_values(const Tensor& x);

struct Eig {
  Tensor values, vectors;  // complex, in no order; in columns of norm 1
};
// Runs on the host: matrices of a GPU travel there and back.
Eig eig(const Tensor& x);
Tensor eigenvalues(const Tensor& x);

// --- Systems ---------------------------------------------------------------------------------------------
// x with a x = b; b of matrices, or of vectors where its shape is a's without the last axis.
Tensor solve(const Tensor& a, const Tensor& b);
Tensor inverse(const Tensor& x);
// Moore and Penrose's inverse; singular values up to `tolerance` times the largest count as zero (default:
// the longer side times the type's epsilon).
Tensor pseudo_inverse(const Tensor& x, std::optional<double> tolerance = {});
// The shortest x that makes |a x - b| smallest.
Tensor least_squares(const Tensor& a, const Tensor& b, std::optional<double> tolerance = {});

// --- Numbers of matrices ---------------------------------------------------------------------------------
Tensor determinant(const Tensor& x);
struct SignAndLog {
  Tensor sign, log;  // the sign (a phase of complex matrices) and log |determinant|
};
SignAndLog sign_and_log_determinant(const Tensor& x);
Tensor trace(const Tensor& x);
Tensor diagonal(const Tensor& x);                                           // [.., min(m, n)]
Tensor matrix_rank(const Tensor& x, std::optional<double> tolerance = {});  // i64

enum class MatrixNorm : uint8_t {
  frobenius,
  nuclear,    // the sum of the singular values
  spectral,   // the largest of them
  least,      // the smallest of them
  one,        // the largest sum of absolute values of a column
  infinity,   // ... of a row
  least_one,  // the smallest such sums
  least_infinity
};
Tensor matrix_norm(const Tensor& x, MatrixNorm kind = MatrixNorm::frobenius);
// (sum |x|^p)^(1/p) over the axes (all where none is named); p = infinity, -infinity and 0 are limits.
Tensor norm(const Tensor& x, double p = 2, const Axes& axes = {}, bool keep_axes = false);

// --- Functions of matrices -------------------------------------------------------------------------------
Tensor matrix_power(const Tensor& x, int64_t exponent);  // negative ones of the inverse
// Scaling and squaring with Pade's approximation of order 13; NaN where the 1-norm is above 2^16 5.4.
Tensor matrix_exponential(const Tensor& x);

}  // namespace adit
#pragma GCC visibility pop
