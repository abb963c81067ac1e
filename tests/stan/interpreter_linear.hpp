// Linear algebra of the plain interpreter, by the textbook: loops over numbers with derivatives.
#pragma once

#include "interpreter_value.hpp"

namespace adit::stan::reference {

Value transposed(const Value& x);
Value product(const Value& a, const Value& b);  // any two of scalars, vectors, row vectors and matrices
Value as_matrix(const Value& x);                // a vector or row vector as a matrix of one column or row
Value dense_vector(const Value& matrix);        // a matrix of one column as a vector

Value cholesky(const Value& a);
Value lower_solve(const Value& l, const Value& b);           // L x = b
Value upper_of_lower_solve(const Value& l, const Value& b);  // L' x = b
Value solve(const Value& a, const Value& b);                 // A x = b, with pivots
Value inverse(const Value& a);
Number log_abs_determinant(const Value& a);
Number determinant(const Value& a);
Value identity(int64_t size);

struct Factored {
  Value q, r;
};
Factored thin_qr(const Value& a);  // with a positive diagonal of r
struct Eigen {
  Value values, vectors;  // ascending; the first component that is not small of each vector as it comes
};
Eigen symmetric_eigen(const Value& a);
Value matrix_exponential(const Value& a);

}  // namespace adit::stan::reference
