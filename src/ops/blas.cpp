#include "ops/blas.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <mutex>

#include <adit/error.hpp>
#include <adit/system.hpp>

#include "support/process_end.hpp"

#if ADIT_BLAS
#include <cblas.h>
#endif

namespace adit::ops {

#if ADIT_BLAS

bool has_blas() { return true; }

void multiply(DType type, bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const void* a,
              const void* b, void* c) {
  const int64_t largest = std::max({m, n, k});
  if (largest > std::numeric_limits<int>::max())
    throw Error(ErrorKind::bad_argument, fmt::format("[dot] extent: expected at most {} on a CPU, got {}",
                                                     std::numeric_limits<int>::max(), largest));
  const auto order = CblasRowMajor;
  const auto ta = transpose_a ? CblasTrans : CblasNoTrans, tb = transpose_b ? CblasTrans : CblasNoTrans;
  const int im = static_cast<int>(m), in = static_cast<int>(n), ik = static_cast<int>(k);
  const int lda = std::max(1, transpose_a ? im : ik), ldb = std::max(1, transpose_b ? ik : in),
            ldc = std::max(1, in);
  const process_end::Visit visit;  // BLAS has threads of its own, which it ends with the process
  visit.expect();
  const std::complex<double> one = 1, zero = 0;
  const std::complex<float> one_f = 1, zero_f = 0;
  switch (type) {
    case DType::f32:
      cblas_sgemm(order, ta, tb, im, in, ik, 1, static_cast<const float*>(a), lda,
                  static_cast<const float*>(b), ldb, 0, static_cast<float*>(c), ldc);
      return;
    case DType::f64:
      cblas_dgemm(order, ta, tb, im, in, ik, 1, static_cast<const double*>(a), lda,
                  static_cast<const double*>(b), ldb, 0, static_cast<double*>(c), ldc);
      return;
    case DType::c64: cblas_cgemm(order, ta, tb, im, in, ik, &one_f, a, lda, b, ldb, &zero_f, c, ldc); return;
    case DType::c128: cblas_zgemm(order, ta, tb, im, in, ik, &one, a, lda, b, ldb, &zero, c, ldc); return;
    default: throw Error(ErrorKind::internal, "[dot] type: expected one that BLAS has");
  }
}

void multiply_part(DType type, const ProductPart& p, const void* a, const void* b, void* c) {
  const auto order = CblasRowMajor;
  const auto none = CblasNoTrans;
  const auto tb = p.transpose_b ? CblasTrans : CblasNoTrans;
  const int m = static_cast<int>(p.m), n = static_cast<int>(p.n), k = static_cast<int>(p.k),
            lda = static_cast<int>(p.a_row), ldb = static_cast<int>(p.b_row);
  const std::complex<double> one = 1, beta = p.adds ? 1 : 0;
  const std::complex<float> one_f = 1, beta_f = p.adds ? 1 : 0;
  switch (type) {
    case DType::f32:
      cblas_sgemm(order, none, tb, m, n, k, 1, static_cast<const float*>(a), lda,
                  static_cast<const float*>(b), ldb, p.adds ? 1 : 0, static_cast<float*>(c), n);
      return;
    case DType::f64:
      cblas_dgemm(order, none, tb, m, n, k, 1, static_cast<const double*>(a), lda,
                  static_cast<const double*>(b), ldb, p.adds ? 1 : 0, static_cast<double*>(c), n);
      return;
    case DType::c64: cblas_cgemm(order, none, tb, m, n, k, &one_f, a, lda, b, ldb, &beta_f, c, n); return;
    case DType::c128: cblas_zgemm(order, none, tb, m, n, k, &one, a, lda, b, ldb, &beta, c, n); return;
    default: throw Error(ErrorKind::internal, "[conv] type: expected one that BLAS has");
  }
}

#else

bool has_blas() { return false; }
void multiply(DType, bool, bool, int64_t, int64_t, int64_t, const void*, const void*, void*) {
  throw Error(ErrorKind::unsupported, "[dot] BLAS: this build has none");
}
void multiply_part(DType, const ProductPart&, const void*, const void*, void*) {
  throw Error(ErrorKind::unsupported, "[conv] BLAS: this build has none");
}

#endif

namespace serial_products {

// The library's number of threads belongs to the process: the first to come takes it down, the last puts it
// back.
struct Count {
  std::mutex mutex;
  int users = 0, before = 0;
};
Count& count() {
  static Count& one = *new Count;
  return one;
}

}  // namespace serial_products

#if ADIT_BLAS && defined(OPENBLAS_VERSION)

SerialProducts::SerialProducts() {
  serial_products::Count& count = serial_products::count();
  const std::lock_guard lock(count.mutex);
  if (count.users++ > 0) return;
  count.before = openblas_get_num_threads();
  openblas_set_num_threads(1);
}
SerialProducts::~SerialProducts() {
  serial_products::Count& count = serial_products::count();
  const std::lock_guard lock(count.mutex);
  if (--count.users == 0) openblas_set_num_threads(count.before);
}

#else

SerialProducts::SerialProducts() = default;
SerialProducts::~SerialProducts() = default;

#endif

}  // namespace adit::ops

namespace adit {

std::string blas_name() {
#if ADIT_BLAS && defined(OPENBLAS_VERSION)
  // The library that runs, not the header: "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::string config = openblas_get_config();
  const size_t name_end = std::min(config.find(' '), config.size());
  return fmt::format("{} ({})", config.substr(0, config.find(' ', name_end + 1)), openblas_get_corename());
#elif ADIT_BLAS
  return "CBLAS";
#else
  return {};
#endif
}

}  // namespace adit
