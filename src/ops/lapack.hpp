// Factorisations on the CPU, by the LAPACK that comes with the build's BLAS. Matrices are row major, one
// after the other; batches of small ones are shared by the threads of the process.
//
// f32, f64, c64, c128. Where a matrix has numbers that are not finite, or the iteration fails, its results
// are NaN. A result whose address is null is not wanted.
#pragma once

#include <cstdint>

#include <adit/dtype.hpp>

namespace adit::ops::lapack {

bool is_there();

// l of x = l l^H, of the lower triangle; NaN from the first pivot on that is not positive.
void cholesky(DType type, int64_t batch, int64_t n, const void* x, void* l);
// Row permutation[i] of x is row i of l u, which are packed: l has ones on its diagonal. `parity`: 1 or -1.
void lu(DType type, int64_t batch, int64_t n, const void* x, void* packed, int32_t* permutation,
        int32_t* parity);
// q has `columns` columns: min(m, n), or m.
void qr(DType type, int64_t batch, int64_t m, int64_t n, int64_t columns, const void* x, void* q, void* r);
// Eigenvalues ascending, eigenvectors in columns; of the lower triangle.
void eigh(DType type, int64_t batch, int64_t n, const void* x, void* values, void* vectors);
// Singular values descending; u and v_h square where `full`.
void svd(DType type, int64_t batch, int64_t m, int64_t n, bool full, const void* x, void* u, void* values,
         void* v_h);
// Complex eigenvalues and eigenvectors, in columns of norm 1, of any square matrix.
void eig(DType type, int64_t batch, int64_t n, const void* x, void* values, void* vectors);

}  // namespace adit::ops::lapack
