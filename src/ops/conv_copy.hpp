// Lines from one place to another on a CPU. Those of convolutions are short: what a call or a loop for the
// rest of a line costs is more than what they have to do.
#pragma once

#include <cstdint>

namespace adit::ops {

// to[l * to_row + i] = from[l * from_row + (i - begin) * step] where begin <= i < end; 0 for all other
// i < count.
template <class T>
struct CopyLines {
  const T* from = nullptr;
  int64_t from_row = 0;
  T* to = nullptr;
  int64_t to_row = 0, lines = 1, begin = 0, end = 0, count = 0, step = 1;
};

// to[l * to_row + 2 * i + j] = from[j][l * from_row + i], up to `count` elements of a line.
template <class T>
struct JoinLines {
  const T* from[2] = {};
  int64_t from_row = 0;
  T* to = nullptr;
  int64_t to_row = 0, lines = 1, count = 0;
};

template <class T>
struct LineKernels {
  void (*copy)(const CopyLines<T>&) = nullptr;
  void (*join)(const JoinLines<T>&) = nullptr;
};

// Those of the processor that this runs on; of float and double.
template <class T>
const LineKernels<T>& line_kernels();

}  // namespace adit::ops
