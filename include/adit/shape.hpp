// A short list of numbers, held in place: shapes, axes, starts, strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace adit {

inline constexpr int max_rank = 12;

class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<int64_t> numbers) : Dims(std::span(numbers.begin(), numbers.size())) {}
  Dims(const std::vector<int64_t>& numbers) : Dims(std::span(numbers)) {}
  explicit Dims(std::span<const int64_t> numbers);  // throws where there are more than max_rank
  static Dims filled(int count, int64_t number);
  static Dims counted(int count);  // 0, 1, 2, ...

  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](int i) const { return numbers_[static_cast<size_t>(i)]; }
  int64_t& operator[](int i) { return numbers_[static_cast<size_t>(i)]; }
  int64_t back() const { return numbers_[static_cast<size_t>(size_ - 1)]; }
  const int64_t* begin() const { return numbers_.data(); }
  const int64_t* end() const { return numbers_.data() + size_; }
  int64_t* begin() { return numbers_.data(); }
  int64_t* end() { return numbers_.data() + size_; }
  void push_back(int64_t number);
  void insert(int at, int64_t number);
  void erase(int at);
  bool contains(int64_t number) const { return std::find(begin(), end(), number) != end(); }
  bool operator==(const Dims& other) const { return std::equal(begin(), end(), other.begin(), other.end()); }

 private:
  std::array<int64_t, max_rank> numbers_{};
  int size_ = 0;
};

using Shape = Dims;
using Axes = Dims;

// Elements of a tensor of this shape; 1 for a scalar's {}.
int64_t element_count(const Shape& shape);
std::string to_string(const Dims& dims);  // "[2, 3]"
// Row-major strides in elements.
Dims strides_of(const Shape& shape);

}  // namespace adit
#pragma GCC visibility pop
