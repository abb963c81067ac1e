// Sums of products on a CPU, held in registers: what convolutions by the host are made of. Written once as
// vectors of the compiler's, and compiled for each kind of processor that the library may meet.
#pragma once

#include <array>
#include <cstdint>

namespace adit::ops {

// sums[j][i] (+)= the sum over steps s of vectors[vector_at[s] + i] * scalars[scalar_at[s] + j], for whole
// vectors of i; rows of sums are `row` apart.
template <class T>
struct ConvTile {
  const T* vectors = nullptr;
  const int32_t* vector_at = nullptr;
  const T* scalars = nullptr;
  const int32_t* scalar_at = nullptr;
  int64_t steps = 0;
  T* sums = nullptr;
  int64_t row = 0;
  bool adds = false;
};

// sums[j][k] += the sum over i < count of with[j][i] * from[i + offsets[k]], for some j and k; rows of `with`
// and of sums are with_row and row apart, and count is of whole vectors.
template <class T>
struct ConvDots {
  const T *with = nullptr, *from = nullptr;
  int64_t with_row = 0;
  const int32_t* offsets = nullptr;
  int64_t count = 0;
  T* sums = nullptr;
  int64_t row = 0;
};

// to[c * to_row + r] = from[r * from_row + c]
template <class T>
struct Turn {
  const T* from = nullptr;
  int64_t from_row = 0;
  T* to = nullptr;
  int64_t to_row = 0, rows = 0, columns = 0;
};

template <class T>
struct ConvKernels {
  static constexpr int kinds = 4;                                         // of tiles: 1, 2, 4 and 8 vectors
  static constexpr int most_scalars = 14, most_rows = 4, most_dots = 10;  // of any processor
  int64_t width = 1;                                                      // elements of a vector
  std::array<int, kinds> most{};                                          // scalars beside 1, 2, 4, 8 vectors
  void (*tile[kinds][most_scalars + 1])(const ConvTile<T>&) = {};         // by kind and scalars
  std::array<int, most_rows + 1> dots_beside{};  // how many k beside 1, 2, ... j; 0: there is no such kernel
  void (*dots[most_rows + 1][most_dots + 1])(const ConvDots<T>&) = {};
  void (*turn)(const Turn<T>&) = nullptr;
};

// Those of the processor that this runs on; of float and double.
template <class T>
const ConvKernels<T>& conv_kernels();

}  // namespace adit::ops
