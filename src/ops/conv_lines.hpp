// Lines of x as a convolution on a CPU reads them, and room for threads that do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <vector>

#include "ops/conv.hpp"

namespace adit::ops::conv_lines {

// A place along an axis of x, or -1.
inline int64_t place_on(const ConvAxis& axis, int64_t at) {
  if (at < 0 || at > axis.last()) return -1;
  if (axis.spread == 1) return at;
  return at % axis.spread == 0 ? at / axis.spread : -1;
}

// Lines are short: a call to copy one, or to fill what lies beside it, costs as much as the work. The
// compiler would make calls of plain loops.
inline void no_call() { asm volatile("" ::: "memory"); }

template <class T>
void put_zeros(T* to, int64_t count) {
  if (count > 64) {
    std::fill(to, to + count, T{});
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    to[i] = T{};
    no_call();
  }
}

template <class T>
void copy_run(T* to, const T* from, int64_t count) {
  constexpr int64_t some = 32 / sizeof(T), few = 256;
  if (count > few) {
    std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    return;
  }
  int64_t i = 0;
  for (; i + some <= count; i += some) std::memcpy(to + i, from + i, 32);
  if (i == count) return;
  if (count >= some) {
    std::memcpy(to + count - some, from + count - some, 32);
    return;
  }
  for (; i < count; ++i) {
    to[i] = from[i];
    no_call();
  }
}

template <class T>
void copy_every_second(T* to, const T* from, int64_t count) {
  int64_t i = 0;
  if constexpr (sizeof(T) == 4) {
    using Four [[gnu::vector_size(16)]] = T;
    for (; i + 4 < count; i += 4) {  // not up to the end: what is read lies before the next element
      Four low, high;
      std::memcpy(&low, from + 2 * i, 16);
      std::memcpy(&high, from + 2 * i + 4, 16);
      const Four even = __builtin_shufflevector(low, high, 0, 2, 4, 6);
      std::memcpy(to + i, &even, 16);
    }
  }
  for (; i < count; ++i) to[i] = from[2 * i];
}

// The elements of x's lines that make a row: `count` of them, `step` apart from `first` on; what lies outside
// of the line is zero.
struct Line {
  const ConvAxis& axis;
  int64_t first, step, count, begin, end;  // the last two: of what lies inside
  Line(const ConvAxis& along, int64_t from, int64_t by, int64_t number)
      : axis(along), first(from), step(by), count(number) {
    begin = std::clamp<int64_t>(first >= 0 ? 0 : (-first + step - 1) / step, 0, count);
    end = first > axis.last() ? begin : std::clamp<int64_t>((axis.last() - first) / step + 1, begin, count);
  }

  template <class T>
  void gather(const T* from, T* to) const {
    if (axis.spread != 1) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = place_on(axis, first + i * step);
        to[i] = place < 0 ? T{} : from[place];
      }
      return;
    }
    put_zeros(to, begin);
    if (step == 1)
      copy_run(to + begin, from + first + begin, end - begin);
    else if (step == 2)
      copy_every_second(to + begin, from + first + 2 * begin, end - begin);
    else
      for (int64_t i = begin; i < end; ++i) to[i] = from[first + i * step];
    put_zeros(to + end, count - end);
  }
};

// Room for one block at a time on each thread.
class Rooms {
 public:
  explicit Rooms(int64_t count) {
    for (int64_t room = 0; room < count; ++room) free_.push_back(room);
  }
  int64_t take() {
    const std::lock_guard lock(mutex_);
    const int64_t room = free_.back();
    free_.pop_back();
    return room;
  }
  void give_back(int64_t room) {
    const std::lock_guard lock(mutex_);
    free_.push_back(room);
  }

 private:
  std::mutex mutex_;
  std::vector<int64_t> free_;
};

}  // namespace adit::ops::conv_lines
