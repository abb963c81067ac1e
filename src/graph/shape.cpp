#include <fmt/format.h>
#include <fmt/ranges.h>
#include <numeric>

#include <adit/error.hpp>
#include <adit/shape.hpp>

namespace adit {

namespace {
[[noreturn]] void too_long(size_t count) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[shape] rank: expected at most {}, got {}", max_rank, count));
}
}  // namespace

Dims::Dims(std::span<const int64_t> numbers) {
  if (numbers.size() > max_rank) too_long(numbers.size());
  std::copy(numbers.begin(), numbers.end(), numbers_.begin());
  size_ = static_cast<int>(numbers.size());
}

Dims Dims::filled(int count, int64_t number) {
  if (count > max_rank) too_long(static_cast<size_t>(count));
  Dims dims;
  dims.size_ = count;
  std::fill(dims.begin(), dims.end(), number);
  return dims;
}

Dims Dims::counted(int count) {
  Dims dims = filled(count, 0);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

void Dims::push_back(int64_t number) {
  if (size_ == max_rank) too_long(max_rank + 1);
  numbers_[static_cast<size_t>(size_++)] = number;
}

void Dims::insert(int at, int64_t number) {
  push_back(number);
  std::rotate(begin() + at, end() - 1, end());
}

void Dims::erase(int at) {
  std::copy(begin() + at + 1, end(), begin() + at);
  --size_;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (const int64_t extent : shape)
    if (extent == 0) return 0;
  // With elements of 16 bytes their size in bytes, too, is a number of 63 bits.
  constexpr int64_t most = int64_t{1} << 59;
  for (const int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > most)
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("[shape] extents: expected at most 2^59 elements, whose size 63 bits hold, got {}",
                      to_string(shape)));
  return count;
}

std::string to_string(const Dims& dims) {
  return fmt::format("[{}]", fmt::join(dims.begin(), dims.end(), ", "));
}

Dims strides_of(const Shape& shape) {
  Dims strides = Dims::filled(shape.size(), 1);
  // A shape without elements may have any extents beside its 0, and strides that nobody reads.
  for (int axis = shape.size() - 2; axis >= 0; --axis)
    if (__builtin_mul_overflow(strides[axis + 1], shape[axis + 1], &strides[axis])) strides[axis] = 0;
  return strides;
}

}  // namespace adit
