// The numbers of all chains as the host holds them: of the sampler's precision, read and written as doubles.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include <adit/dtype.hpp>

namespace adit::sampling {

class ChainNumbers {
 public:
  ChainNumbers(std::span<std::byte> bytes, int64_t numbers_a_chain, DType type)
      : bytes_(bytes), stride_(numbers_a_chain), type_(type) {}

  double get(int64_t chain, int64_t at) const {
    return type_ == DType::f64 ? read<double>(place(chain, at)) : read<float>(place(chain, at));
  }
  void set(int64_t chain, int64_t at, double value) {
    type_ == DType::f64 ? write(place(chain, at), value) : write(place(chain, at), static_cast<float>(value));
  }
  std::vector<double> get(int64_t chain, int64_t at, int64_t count) const {
    std::vector<double> numbers(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] = get(chain, at + i);
    return numbers;
  }
  void put(int64_t chain, int64_t at, std::span<const double> numbers) {
    for (size_t i = 0; i < numbers.size(); ++i) set(chain, at + static_cast<int64_t>(i), numbers[i]);
  }
  void clear(int64_t chain, int64_t at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) set(chain, at + i, 0);
  }

 private:
  std::byte* place(int64_t chain, int64_t at) const {
    return &bytes_[static_cast<size_t>(chain * stride_ + at) * size_of(type_)];
  }
  template <class T>
  static double read(const std::byte* from) {
    T number;
    std::memcpy(&number, from, sizeof number);
    return static_cast<double>(number);
  }
  template <class T>
  static void write(std::byte* to, T number) {
    std::memcpy(to, &number, sizeof number);
  }

  std::span<std::byte> bytes_;
  int64_t stride_;
  DType type_;
};

}  // namespace adit::sampling
