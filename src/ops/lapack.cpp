#include "ops/lapack.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include <adit/error.hpp>

#include "support/process_end.hpp"
#include "support/threads.hpp"

#if ADIT_LAPACK

using c64 = std::complex<float>;
using c128 = std::complex<double>;

// Fortran's routines, for which Debian has no header beside the BLAS: names, then pointers to everything.
#define ADIT_ROUTINES(letter, T, R)                                           \
  void letter##potrf_(const char*, const int*, T*, const int*, int*, size_t); \
  void letter##getrf_(const int*, const int*, T*, const int*, int*, int*);    \
  void letter##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);
extern "C" {
ADIT_ROUTINES(s, float, float)
ADIT_ROUTINES(d, double, double)
ADIT_ROUTINES(c, c64, float)
ADIT_ROUTINES(z, c128, double)
#define ADIT_REAL(letter, T)                                                                               \
  void letter##orgqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*); \
  void letter##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*,      \
                      const int*, int*, size_t, size_t);                                                   \
  void letter##gesdd_(const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*,         \
                      const int*, T*, const int*, int*, int*, size_t);                                     \
  void letter##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,     \
                     const int*, T*, const int*, int*, size_t, size_t);
ADIT_REAL(s, float)
ADIT_REAL(d, double)
#define ADIT_COMPLEX(letter, T, R)                                                                         \
  void letter##ungqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*); \
  void letter##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*,        \
                      const int*, int*, const int*, int*, size_t, size_t);                                 \
  void letter##gesdd_(const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*,         \
                      const int*, T*, const int*, R*, int*, int*, size_t);                                 \
  void letter##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*,         \
                     const int*, T*, const int*, R*, int*, size_t, size_t);
ADIT_COMPLEX(c, c64, float)
ADIT_COMPLEX(z, c128, double)
}
#undef ADIT_ROUTINES
#undef ADIT_REAL
#undef ADIT_COMPLEX

#endif

namespace adit::ops::lapack {

#if ADIT_LAPACK

namespace {

template <class T>
struct RealOf {
  using type = T;
};
template <class R>
struct RealOf<std::complex<R>> {
  using type = R;
};
template <class T>
using Real = typename RealOf<T>::type;
template <class T>
constexpr bool is_pair = !std::is_same_v<T, Real<T>>;
template <class T>
using Pair = std::complex<Real<T>>;

template <class T>
T nan_of() {
  return T(std::numeric_limits<Real<T>>::quiet_NaN());
}

// One routine for each type.
#define ADIT_CHOOSE(name, ...)                  \
  if constexpr (std::is_same_v<T, float>)       \
    s##name(__VA_ARGS__);                       \
  else if constexpr (std::is_same_v<T, double>) \
    d##name(__VA_ARGS__);                       \
  else if constexpr (std::is_same_v<T, c64>)    \
    c##name(__VA_ARGS__);                       \
  else                                          \
    z##name(__VA_ARGS__)
#define ADIT_CHOOSE_REAL(name, ...)       \
  if constexpr (std::is_same_v<T, float>) \
    s##name(__VA_ARGS__);                 \
  else                                    \
    d##name(__VA_ARGS__)
#define ADIT_CHOOSE_COMPLEX(name, ...)  \
  if constexpr (std::is_same_v<T, c64>) \
    c##name(__VA_ARGS__);               \
  else                                  \
    z##name(__VA_ARGS__)

int as_int(int64_t extent) {
  if (extent > std::numeric_limits<int>::max() / 2)
    throw Error(ErrorKind::bad_argument, "[lapack] extent: expected at most 2^30");
  return static_cast<int>(extent);
}

// Threads of its own pay where LAPACK's do not: many small matrices.
template <class F>
void for_each_matrix(int64_t batch, int64_t n, const F& f) {
  constexpr int64_t small = 96;
  const auto some = [&](uint64_t begin, uint64_t end) {
    const process_end::Visit visit;  // it has threads of its own, which it ends with the process
    visit.expect();
    for (uint64_t i = begin; i < end; ++i) f(static_cast<int64_t>(i));
  };
  const auto count = static_cast<uint64_t>(batch);
  if (n > small || batch < 2) return some(0, count);
  const uint64_t chunk =
      std::max<uint64_t>(1, std::min<uint64_t>(count / 64, 4096 / static_cast<uint64_t>(n)));
  parallel(thread_count(), count, chunk, some);
}

// The rows of a matrix as columns: [rows, columns] row major to column major, and back with them exchanged.
template <class T>
void turn(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t block = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += block)
    for (int64_t c0 = 0; c0 < columns; c0 += block)
      for (int64_t r = r0; r < std::min(rows, r0 + block); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + block); ++c) to[c * rows + r] = from[r * columns + c];
}

template <class T>
bool is_finite(const T* x, int64_t count) {
  return std::all_of(x, x + count, [](const T& v) { return std::isfinite(std::abs(v)); });
}

template <class T>
void fill_nan(T* x, int64_t count) {
  if (x) std::fill(x, x + count, nan_of<T>());
}

// LAPACK counts its workspace in 32 bits, and its own answer may have wrapped around: `least` is what its
// manual asks for.
void expect_room(const char* function, int64_t least) {
  if (least > std::numeric_limits<int>::max())
    throw Error(ErrorKind::unsupported,
                fmt::format("[{}] x: expected a matrix whose workspace LAPACK can count, at most {} numbers, "
                            "got one that takes {}",
                            function, std::numeric_limits<int>::max(), least));
}

// A float's answer may have been rounded down.
template <class T>
int work_size(const char* function, const T& answer) {
  using Real = decltype(std::real(answer));
  const double size = std::ceil(static_cast<double>(std::real(answer)) *
                                (1 + static_cast<double>(std::numeric_limits<Real>::epsilon())));
  expect_room(function, static_cast<int64_t>(std::min(size, 9e18)));
  return std::max(1, static_cast<int>(size));
}

template <class T>
void one_cholesky(int64_t rows, const T* x, T* l) {
  const int n = as_int(rows);
  int info = 0;
  // The lower triangle by rows is the upper one by columns, conjugated: u^H u = conj(x), and l = u^T.
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < rows; ++j) l[i * rows + j] = j <= i ? x[i * rows + j] : T(0);
  ADIT_CHOOSE(potrf_, "U", &n, l, &n, &info, 1);
  for (int64_t i = info > 0 ? info - 1 : rows; i < rows; ++i)
    for (int64_t j = 0; j <= i; ++j)
      if (j >= info - 1) l[i * rows + j] = nan_of<T>();
}

template <class T>
void one_lu(int64_t rows, const T* x, T* packed, int32_t* permutation, int32_t* parity) {
  const int n = as_int(rows);
  std::vector<T> a(static_cast<size_t>(rows * rows));
  std::vector<int> pivots(static_cast<size_t>(rows));
  int info = 0;
  turn(x, rows, rows, a.data());
  ADIT_CHOOSE(getrf_, &n, &n, a.data(), &n, pivots.data(), &info);
  turn(a.data(), rows, rows, packed);
  std::vector<int32_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), 0);
  int32_t sign = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const auto other = static_cast<size_t>(pivots[i] - 1);
    if (other == i) continue;
    std::swap(order[i], order[other]);
    sign = -sign;
  }
  if (permutation) std::copy(order.begin(), order.end(), permutation);
  if (parity) *parity = sign;
}

template <class T>
void one_qr(int64_t rows, int64_t columns, int64_t wanted, const T* x, T* q, T* r) {
  const int m = as_int(rows), n = as_int(columns), k = std::min(m, n), wide = as_int(wanted);
  std::vector<T> a(static_cast<size_t>(rows * std::max(columns, wanted))), tau(static_cast<size_t>(k));
  turn(x, rows, columns, a.data());
  int info = 0, size = -1;
  T answer{};
  ADIT_CHOOSE(geqrf_, &m, &n, a.data(), &m, tau.data(), &answer, &size, &info);
  std::vector<T> work(static_cast<size_t>(size = work_size("qr", answer)));
  ADIT_CHOOSE(geqrf_, &m, &n, a.data(), &m, tau.data(), work.data(), &size, &info);
  if (r)
    for (int64_t i = 0; i < wanted; ++i)
      for (int64_t j = 0; j < columns; ++j)
        r[i * columns + j] = i <= j ? a[static_cast<size_t>(j * rows + i)] : T(0);
  if (!q) return;
  size = -1;
  if constexpr (is_pair<T>) {
    ADIT_CHOOSE_COMPLEX(ungqr_, &m, &wide, &k, a.data(), &m, tau.data(), &answer, &size, &info);
  } else {
    ADIT_CHOOSE_REAL(orgqr_, &m, &wide, &k, a.data(), &m, tau.data(), &answer, &size, &info);
  }
  work.resize(static_cast<size_t>(size = work_size("qr", answer)));
  if constexpr (is_pair<T>) {
    ADIT_CHOOSE_COMPLEX(ungqr_, &m, &wide, &k, a.data(), &m, tau.data(), work.data(), &size, &info);
  } else {
    ADIT_CHOOSE_REAL(orgqr_, &m, &wide, &k, a.data(), &m, tau.data(), work.data(), &size, &info);
  }
  turn(a.data(), wanted, rows, q);
}

template <class T>
void one_eigh(int64_t rows, const T* x, Real<T>* values, T* vectors) {
  const int n = as_int(rows);
  const char* job = vectors ? "V" : "N";
  if (vectors) expect_room("eigh", 1 + 6 * rows + 2 * rows * rows);
  std::vector<T> a(static_cast<size_t>(rows * rows));
  std::vector<Real<T>> w(static_cast<size_t>(rows));
  turn(x, rows, rows, a.data());
  int info = 0, size = -1, real_size = -1, whole_size = -1, whole_answer = 0;
  T answer{};
  Real<T> real_answer{};
  std::vector<T> work(1);
  std::vector<Real<T>> real_work(1);
  std::vector<int> whole_work(1);
  for (const bool is_question : {true, false}) {
    T* space = is_question ? &answer : work.data();
    int* whole = is_question ? &whole_answer : whole_work.data();
    if constexpr (is_pair<T>) {
      Real<T>* real = is_question ? &real_answer : real_work.data();
      ADIT_CHOOSE_COMPLEX(heevd_, job, "L", &n, a.data(), &n, w.data(), space, &size, real, &real_size, whole,
                          &whole_size, &info, 1, 1);
    } else {
      ADIT_CHOOSE_REAL(syevd_, job, "L", &n, a.data(), &n, w.data(), space, &size, whole, &whole_size, &info,
                       1, 1);
    }
    if (!is_question) break;
    work.resize(static_cast<size_t>(size = work_size("eigh", answer)));
    real_work.resize(static_cast<size_t>(real_size = work_size("eigh", real_answer)));
    whole_work.resize(static_cast<size_t>(whole_size = std::max(1, whole_answer)));
  }
  if (info != 0) {
    fill_nan(w.data(), rows);
    fill_nan(a.data(), rows * rows);
  }
  if (values) std::copy(w.begin(), w.end(), values);
  if (vectors) turn(a.data(), rows, rows, vectors);
}

template <class T>
void one_svd(int64_t rows, int64_t columns, bool full, const T* x, T* u, Real<T>* values, T* v_h) {
  const int m = as_int(rows), n = as_int(columns), k = std::min(m, n);
  const bool vectors = u || v_h;
  const int64_t wide = full ? rows : k, high = full ? columns : k;
  const int64_t least = std::min(rows, columns), most = std::max(rows, columns);
  expect_room("svd", vectors ? 4 * least * least + 7 * least : 7 * least + most);
  std::vector<T> a(static_cast<size_t>(rows * columns));
  std::vector<T> left(vectors ? static_cast<size_t>(rows * wide) : 1);
  std::vector<T> right(vectors ? static_cast<size_t>(high * columns) : 1);
  std::vector<Real<T>> s(static_cast<size_t>(k));
  turn(x, rows, columns, a.data());
  const char* job = !vectors ? "N" : full ? "A" : "S";
  const int right_rows = static_cast<int>(std::max<int64_t>(1, vectors ? high : 1));
  std::vector<int> whole(static_cast<size_t>(8 * k));
  // What LAPACK's manual asks for, rounded up over its versions.
  const auto small = static_cast<size_t>(k), large = static_cast<size_t>(std::max(m, n));
  std::vector<Real<T>> real_work(is_pair<T> ? small * std::max(5 * small + 7, 2 * large + 2 * small + 1) : 1);
  int info = 0, size = -1;
  T answer{};
  std::vector<T> work(1);
  for (const bool is_question : {true, false}) {
    T* space = is_question ? &answer : work.data();
    if constexpr (is_pair<T>) {
      ADIT_CHOOSE_COMPLEX(gesdd_, job, &m, &n, a.data(), &m, s.data(), left.data(), &m, right.data(),
                          &right_rows, space, &size, real_work.data(), whole.data(), &info, 1);
    } else {
      ADIT_CHOOSE_REAL(gesdd_, job, &m, &n, a.data(), &m, s.data(), left.data(), &m, right.data(),
                       &right_rows, space, &size, whole.data(), &info, 1);
    }
    if (is_question) work.resize(static_cast<size_t>(size = work_size("svd", answer)));
  }
  if (info != 0) {
    fill_nan(s.data(), k);
    fill_nan(left.data(), static_cast<int64_t>(left.size()));
    fill_nan(right.data(), static_cast<int64_t>(right.size()));
  }
  if (values) std::copy(s.begin(), s.end(), values);
  if (u) turn(left.data(), wide, rows, u);
  if (v_h) turn(right.data(), columns, high, v_h);
}

// A real matrix has its complex eigenvalues in pairs, whose vectors are x + iy and x - iy.
template <class T>
void one_eig(int64_t rows, const T* x, Pair<T>* values, Pair<T>* vectors) {
  const int n = as_int(rows);
  const auto count = static_cast<size_t>(rows);
  std::vector<T> a(count * count), v(vectors ? count * count : 1);
  turn(x, rows, rows, a.data());
  const char* job = vectors ? "V" : "N";
  std::vector<Pair<T>> w(count), columns(count * count);
  std::vector<Real<T>> real(count), imaginary(count), real_work(2 * count);
  const int v_rows = vectors ? n : 1, one = 1;
  int info = 0, size = -1;
  T answer{}, none{};
  std::vector<T> work(1);
  for (const bool is_question : {true, false}) {
    T* space = is_question ? &answer : work.data();
    if constexpr (is_pair<T>) {
      ADIT_CHOOSE_COMPLEX(geev_, "N", job, &n, a.data(), &n, w.data(), &none, &one, v.data(), &v_rows, space,
                          &size, real_work.data(), &info, 1, 1);
    } else {
      ADIT_CHOOSE_REAL(geev_, "N", job, &n, a.data(), &n, real.data(), imaginary.data(), &none, &one,
                       v.data(), &v_rows, space, &size, &info, 1, 1);
    }
    if (is_question) work.resize(static_cast<size_t>(size = work_size("eig", answer)));
  }
  if constexpr (is_pair<T>) {
    if (vectors) columns = v;
  } else {
    for (size_t j = 0; j < count; ++j) w[j] = {real[j], imaginary[j]};
    for (size_t j = 0; vectors && j < count; ++j)
      for (size_t i = 0; i < count; ++i) {
        const bool is_second = imaginary[j] < 0;
        const T first = v[(is_second ? j - 1 : j) * count + i];
        const T second = imaginary[j] == 0 ? T(0) : v[(is_second ? j : j + 1) * count + i];
        columns[j * count + i] = {first, is_second ? -second : second};
      }
  }
  if (info != 0) {
    fill_nan(w.data(), rows);
    fill_nan(columns.data(), rows * rows);
  }
  if (values) std::copy(w.begin(), w.end(), values);
  if (vectors) turn(columns.data(), rows, rows, vectors);
}

template <class F>
void by_type(DType type, const F& f) {
  switch (type) {
    case DType::f32: return f(float{});
    case DType::f64: return f(double{});
    case DType::c64: return f(c64{});
    case DType::c128: return f(c128{});
    default: throw Error(ErrorKind::internal, "[lapack] type: expected one that LAPACK has");
  }
}

template <class T>
T* part(void* all, int64_t number, int64_t each) {
  return all ? static_cast<T*>(all) + number * each : nullptr;
}

}  // namespace

bool is_there() { return true; }

void cholesky(DType type, int64_t batch, int64_t n, const void* x, void* l) {
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](int64_t i) {
      one_cholesky(n, static_cast<const T*>(x) + i * n * n, part<T>(l, i, n * n));
    });
  });
}

void lu(DType type, int64_t batch, int64_t n, const void* x, void* packed, int32_t* permutation,
        int32_t* parity) {
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](int64_t i) {
      one_lu(n, static_cast<const T*>(x) + i * n * n, part<T>(packed, i, n * n),
             part<int32_t>(permutation, i, n), part<int32_t>(parity, i, 1));
    });
  });
}

void qr(DType type, int64_t batch, int64_t m, int64_t n, int64_t columns, const void* x, void* q, void* r) {
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, std::max(m, n), [&](int64_t i) {
      one_qr(m, n, columns, static_cast<const T*>(x) + i * m * n, part<T>(q, i, m * columns),
             part<T>(r, i, columns * n));
    });
  });
}

void eigh(DType type, int64_t batch, int64_t n, const void* x, void* values, void* vectors) {
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](int64_t i) {
      const T* matrix = static_cast<const T*>(x) + i * n * n;
      auto* w = part<Real<T>>(values, i, n);
      T* v = part<T>(vectors, i, n * n);
      bool finite = true;
      for (int64_t row = 0; row < n; ++row) finite = finite && is_finite(matrix + row * n, row + 1);
      if (finite) return one_eigh(n, matrix, w, v);
      fill_nan(w, n);
      fill_nan(v, n * n);
    });
  });
}

void svd(DType type, int64_t batch, int64_t m, int64_t n, bool full, const void* x, void* u, void* values,
         void* v_h) {
  const int64_t k = std::min(m, n), wide = full ? m : k, high = full ? n : k;
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, std::max(m, n), [&](int64_t i) {
      const T* matrix = static_cast<const T*>(x) + i * m * n;
      T *left = part<T>(u, i, m * wide), *right = part<T>(v_h, i, high * n);
      auto* s = part<Real<T>>(values, i, k);
      if (is_finite(matrix, m * n)) return one_svd(m, n, full, matrix, left, s, right);
      fill_nan(s, k);
      fill_nan(left, m * wide);
      fill_nan(right, high * n);
    });
  });
}

void eig(DType type, int64_t batch, int64_t n, const void* x, void* values, void* vectors) {
  by_type(type, [&]<class T>(T) {
    for_each_matrix(batch, n, [&](int64_t i) {
      const T* matrix = static_cast<const T*>(x) + i * n * n;
      auto *w = part<Pair<T>>(values, i, n), *v = part<Pair<T>>(vectors, i, n * n);
      if (is_finite(matrix, n * n)) return one_eig(n, matrix, w, v);
      fill_nan(w, n);
      fill_nan(v, n * n);
    });
  });
}

#else

namespace {
[[noreturn]] void none() {
  throw Error(ErrorKind::unsupported, "[lapack] library: expected one beside the BLAS, this build has none");
}
}  // namespace

bool is_there() { return false; }
void cholesky(DType, int64_t, int64_t, const void*, void*) { none(); }
void lu(DType, int64_t, int64_t, const void*, void*, int32_t*, int32_t*) { none(); }
void qr(DType, int64_t, int64_t, int64_t, int64_t, const void*, void*, void*) { none(); }
void eigh(DType, int64_t, int64_t, const void*, void*, void*) { none(); }
void svd(DType, int64_t, int64_t, int64_t, bool, const void*, void*, void*, void*) { none(); }
void eig(DType, int64_t, int64_t, const void*, void*, void*) { none(); }

#endif

}  // namespace adit::ops::lapack
