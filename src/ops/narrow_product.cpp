#include "ops/narrow_product.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "support/threads.hpp"

#if defined(__clang__)
#define ADIT_UNROLLED _Pragma("unroll")
#else
#define ADIT_UNROLLED _Pragma("GCC unroll 16")
#endif

namespace adit::ops {

namespace narrow {
namespace {

// Rows of c by columns of one block: c[i][j] for i < rows and j < columns, of whole vectors of b, whose rows
// are b_row apart and filled up with anything beyond `columns`.
template <class T>
struct Rows {
  const T* a = nullptr;
  int64_t a_row = 0, a_term = 0;  // from a row of a to the next, and from a term
  const T* b = nullptr;
  int64_t b_row = 0;
  T* c = nullptr;
  int64_t c_row = 0;
  const T* c_end = nullptr;  // nothing is written from here on
  int64_t rows = 0, columns = 0, terms = 0;
};

// Rows times a vector: c[i] is the sum of a[i][p] * b[p], where both lie without gaps.
template <class T>
struct Dots {
  const T *a = nullptr, *b = nullptr;
  int64_t a_row = 0, rows = 0, terms = 0;
  T* c = nullptr;
  int64_t c_row = 0;
};

template <class T, int bytes>
struct Vectors {
  using Type [[gnu::vector_size(bytes)]] = T;
  static constexpr int width = bytes / static_cast<int>(sizeof(T));
};

// The sums of J rows and V vectors stay in registers. A vector that reaches beyond the end of its row is
// written whole where the next row is written later.
template <class T, int bytes, int J, int V>
[[gnu::always_inline]] inline void some_rows(const Rows<T>& r, int64_t row) {
  using Vector = typename Vectors<T, bytes>::Type;
  constexpr int width = Vectors<T, bytes>::width;
  Vector sums[J][V] = {};
  const T* a = r.a + row * r.a_row;
  const T* b = r.b;
  for (int64_t p = 0; p < r.terms; ++p, a += r.a_term, b += r.b_row) {
    Vector x[V];
    ADIT_UNROLLED
    for (int v = 0; v < V; ++v) std::memcpy(&x[v], b + v * width, bytes);
    ADIT_UNROLLED
    for (int j = 0; j < J; ++j) ADIT_UNROLLED
    for (int v = 0; v < V; ++v) sums[j][v] += x[v] * a[j * r.a_row];
  }
  T* c = r.c + row * r.c_row;
  const bool has_room = c + (J - 1) * r.c_row + V * width <= r.c_end;
  ADIT_UNROLLED
  for (int j = 0; j < J; ++j, c += r.c_row) ADIT_UNROLLED
  for (int v = 0; v < V; ++v) {
    const int64_t left = r.columns - v * width;
    if (has_room || left >= width)
      std::memcpy(c + v * width, &sums[j][v], bytes);
    else if (left > 0)
      std::memcpy(c + v * width, &sums[j][v], static_cast<size_t>(left) * sizeof(T));
  }
}

template <class T, int bytes, int J, int V>
[[gnu::always_inline]] inline void all_rows(const Rows<T>& r) {
  int64_t row = 0;
  for (; row + J <= r.rows; row += J) some_rows<T, bytes, J, V>(r, row);
  for (; row < r.rows; ++row) some_rows<T, bytes, 1, V>(r, row);
}

template <int half, class Vector, size_t... i>
[[gnu::always_inline]] inline void fold(Vector& v, std::index_sequence<i...> lanes) {
  if constexpr (half > 0) {
    v += __builtin_shufflevector(v, v, (i ^ static_cast<size_t>(half))...);
    fold<half / 2>(v, lanes);
  }
}

template <class T, int bytes, int J>
[[gnu::always_inline]] inline void some_dots(const Dots<T>& d, int64_t row) {
  using Vector = typename Vectors<T, bytes>::Type;
  constexpr int width = Vectors<T, bytes>::width;
  Vector sums[J] = {};
  const T* a = d.a + row * d.a_row;
  int64_t p = 0;
  for (; p + width <= d.terms; p += width) {
    Vector x, y;
    std::memcpy(&x, d.b + p, bytes);
    ADIT_UNROLLED
    for (int j = 0; j < J; ++j) {
      std::memcpy(&y, a + j * d.a_row + p, bytes);
      sums[j] += x * y;
    }
  }
  ADIT_UNROLLED
  for (int j = 0; j < J; ++j) {
    fold<width / 2>(sums[j], std::make_index_sequence<width>());
    T sum = sums[j][0];
    for (int64_t q = p; q < d.terms; ++q) sum += a[j * d.a_row + q] * d.b[q];
    d.c[(row + j) * d.c_row] = sum;
  }
}

template <class T, int bytes>
[[gnu::always_inline]] inline void all_dots(const Dots<T>& d) {
  int64_t row = 0;
  for (; row + 8 <= d.rows; row += 8) some_dots<T, bytes, 8>(d, row);
  for (; row < d.rows; ++row) some_dots<T, bytes, 1>(d, row);
}

template <class T>
struct Kernels {
  static constexpr int most_vectors = 4;
  int64_t width = 1;
  void (*rows[most_vectors + 1])(const Rows<T>&) = {};  // by vectors of a block
  void (*dots)(const Dots<T>&) = nullptr;
};

// Sums of rows by vectors: 16 to 24 of them with 32 registers, 8 to 12 with 16.
#define ADIT_KERNELS(NAME, TARGET, BYTES, J1, J2, J3, J4)                                \
  struct NAME {                                                                          \
    template <class T, int J, int V>                                                     \
    TARGET static void rows(const Rows<T>& r) {                                          \
      all_rows<T, BYTES, J, V>(r);                                                       \
    }                                                                                    \
    template <class T>                                                                   \
    TARGET static void dots(const Dots<T>& d) {                                          \
      all_dots<T, BYTES>(d);                                                             \
    }                                                                                    \
    template <class T>                                                                   \
    static Kernels<T> all() {                                                            \
      return {BYTES / static_cast<int64_t>(sizeof(T)),                                   \
              {nullptr, rows<T, J1, 1>, rows<T, J2, 2>, rows<T, J3, 3>, rows<T, J4, 4>}, \
              dots<T>};                                                                  \
    }                                                                                    \
  };

#if defined(__x86_64__)
ADIT_KERNELS(Avx512, [[gnu::target("avx512f")]], 64, 8, 8, 6, 4)
ADIT_KERNELS(Avx2, [[gnu::target("avx2,fma")]], 32, 8, 4, 3, 2)
ADIT_KERNELS(Plain, , 16, 8, 4, 3, 2)
#else
ADIT_KERNELS(Plain, , 16, 8, 8, 6, 5)
#endif
#undef ADIT_KERNELS

template <class T>
const Kernels<T>& kernels() {
  static const Kernels<T> best = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Avx512::all<T>();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Avx2::all<T>();
#endif
    return Plain::all<T>();
  }();
  return best;
}

// One product, or the rows of one from `first` on.
template <class T>
class Multiplier {
 public:
  Multiplier(const NarrowProduct& p, const T* a, const T* b, T* c) : p_(p), a_(a), b_(b), c_(c) {}

  void run(int64_t first, int64_t end) {
    const bool is_vector = p_.n == 1 && !p_.transpose_a;
    if (is_vector) return kernels<T>().dots({a_ + first * p_.k, b_, p_.k, end - first, p_.k, c_ + first, 1});
    // A row times columns that lie without gaps: the columns are the rows.
    if (p_.m == 1 && p_.transpose_b) return kernels<T>().dots({b_, a_, p_.k, p_.n, p_.k, c_, 1});
    const int64_t block = Kernels<T>::most_vectors * kernels<T>().width;
    for (int64_t column = 0; column < p_.n; column += block)
      part(first, end, column, std::min(block, p_.n - column));
  }

 private:
  void part(int64_t first, int64_t end, int64_t column, int64_t columns) {
    const int64_t width = kernels<T>().width, vectors = (columns + width - 1) / width;
    Rows<T> rows;
    rows.a_row = p_.transpose_a ? 1 : p_.k, rows.a_term = p_.transpose_a ? p_.m : 1;
    rows.a = a_ + first * rows.a_row;
    rows.b = b_ + column, rows.b_row = p_.n;
    std::array<T, 1024> few;
    std::vector<T> many;
    if (p_.transpose_b || columns % width != 0) {
      T* own = few.data();
      if (p_.k * vectors * width > static_cast<int64_t>(few.size())) {
        many.resize(static_cast<size_t>(p_.k * vectors * width));
        own = many.data();
      }
      pack(own, vectors * width, column, columns);
      rows.b = own, rows.b_row = vectors * width;
    }
    rows.c = c_ + first * p_.n + column, rows.c_row = p_.n;
    // Where there is one block, a vector may reach into the next row.
    rows.c_end = columns == p_.n ? c_ + end * p_.n : nullptr;
    rows.rows = end - first, rows.columns = columns, rows.terms = p_.k;
    kernels<T>().rows[vectors](rows);
  }

  void pack(T* to, int64_t row, int64_t column, int64_t columns) const {
    for (int64_t p = 0; p < p_.k; ++p, to += row) {
      if (p_.transpose_b)
        for (int64_t j = 0; j < columns; ++j) to[j] = b_[(column + j) * p_.k + p];
      else
        std::memcpy(to, b_ + p * p_.n + column, static_cast<size_t>(columns) * sizeof(T));
      std::fill(to + columns, to + row, T(0));
    }
  }

  const NarrowProduct& p_;
  const T* a_;
  const T* b_;
  T* c_;
};

template <class T>
void multiply(const NarrowProduct& p, const T* a, const T* b, T* c) {
  constexpr int64_t worth_sharing = 1 << 18, of_a_chunk = 1 << 16;  // multiplications
  // The columns of a are the rows of the other way round.
  if (p.n == 1 && p.transpose_a) return multiply<T>({p.batch, 1, p.m, p.k}, b, a, c);
  const int64_t each = p.m * p.n * p.k;
  const auto one = [&](int64_t i, int64_t first, int64_t end) {
    Multiplier<T>(p, a + i * p.m * p.k, b + i * p.k * p.n, c + i * p.m * p.n).run(first, end);
  };
  if (each * p.batch < worth_sharing) {
    for (int64_t i = 0; i < p.batch; ++i) one(i, 0, p.m);
    return;
  }
  const bool by_rows = p.batch == 1 && p.m > 1;
  const int64_t count = by_rows ? p.m : p.batch, unit = by_rows ? p.n * p.k : each;
  const int64_t chunk = std::max<int64_t>({1, of_a_chunk / unit, count / (thread_count() * 4)});
  parallel(thread_count(), static_cast<uint64_t>(count), static_cast<uint64_t>((chunk + 15) / 16 * 16),
           [&](uint64_t begin, uint64_t end) {
             if (by_rows) return one(0, static_cast<int64_t>(begin), static_cast<int64_t>(end));
             for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) one(i, 0, p.m);
           });
}

}  // namespace
}  // namespace narrow

bool is_narrow(DType type, const NarrowProduct& p) {
  if (type != DType::f32 && type != DType::f64) return false;
  // A library packs both operands into blocks, which pays where each of them is used often.
  constexpr int64_t few = 16;
  const int64_t small = type == DType::f32 ? 1 << 21 : 1 << 19;
  return p.n <= few || p.k <= few || p.m <= 2 || p.m * p.n * p.k <= small;
}

void multiply_narrow(DType type, const NarrowProduct& p, const void* a, const void* b, void* c) {
  if (type == DType::f32)
    narrow::multiply(p, static_cast<const float*>(a), static_cast<const float*>(b), static_cast<float*>(c));
  else
    narrow::multiply(p, static_cast<const double*>(a), static_cast<const double*>(b),
                     static_cast<double*>(c));
}

}  // namespace adit::ops
