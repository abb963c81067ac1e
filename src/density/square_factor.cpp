// The triangular factor of the data of a sum of squares, by Householder's reflections: as exact as the sum
// over all rows is, also where columns are almost dependent on each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <adit/ops.hpp>

#include "density/square_sums.hpp"

namespace adit::sampling {

namespace {

// Rows that are reflected together with the triangle of those before them: what stays near a core.
constexpr size_t rows_at_a_time = 512;

// Columns one after the other.
struct Columns {
  size_t rows = 0, count = 0;
  std::vector<double> numbers;
  double* column(size_t j) { return numbers.data() + j * rows; }
};

// A part's numbers: one a row and column, or one for all of them.
std::vector<double> numbers_of(const Tensor& value) {
  return value ? as_type(value, DType::f64).to_vector<double>() : std::vector<double>{1.0};
}

// Eight sums side by side: one alone waits for each of its additions.
double inner_product(const double* a, const double* b, size_t begin, size_t end) {
  std::array<double, 8> sums{};
  size_t i = begin;
  for (; i + sums.size() <= end; i += sums.size())
    for (size_t s = 0; s < sums.size(); ++s) sums[s] += a[i + s] * b[i + s];
  for (; i < end; ++i) sums[0] += a[i] * b[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Reflects column j onto its first j + 1 rows, and those behind it along.
void reflect(Columns& all, size_t j) {
  double* own = all.column(j);
  // NaN is larger than all, and makes NaN of what it meets.
  double largest = 0;
  for (size_t i = j; i < all.rows; ++i)
    if (!std::isnan(largest) && !(std::fabs(own[i]) <= largest)) largest = std::fabs(own[i]);
  if (largest == 0) return;
  // In numbers about 1, whose squares are in range.
  for (size_t i = j; i < all.rows; ++i) own[i] /= largest;
  const double length = std::copysign(std::sqrt(inner_product(own, own, j, all.rows)), own[j]);
  own[j] += length;  // own is the reflection's direction now, own . own / 2 = length own[j]
  for (size_t k = j + 1; k < all.count; ++k) {
    double* other = all.column(k);
    const double by = inner_product(own, other, j, all.rows) / length / own[j];
    for (size_t i = j; i < all.rows; ++i) other[i] -= by * own[i];
  }
  own[j] = -length * largest;
  for (size_t i = j + 1; i < all.rows; ++i) own[i] = 0;
}

Tensor placed(Columns& all, size_t first, const ColumnGroup& group) {
  const auto width = static_cast<size_t>(group.width);
  std::vector<double> numbers(all.count * width);
  for (size_t i = 0; i < all.count; ++i)
    for (size_t j = 0; j < width; ++j) numbers[i * width + j] = all.column(first + j)[i];
  return tensor(numbers, group.factor.shape());
}

}  // namespace

std::vector<Tensor> factors_of(const SquareSum& sum, std::span<const Tensor> values) {
  const auto rows = static_cast<size_t>(sum.rows), count = static_cast<size_t>(sum.columns);
  std::vector<std::vector<double>> numbers;
  for (const Tensor& value : values) numbers.push_back(numbers_of(value));
  Columns all{count + rows_at_a_time, count, {}};
  all.numbers.assign(all.rows * all.count, 0);
  // The triangle so far stands above the next rows.
  for (size_t begin = 0; begin < rows; begin += rows_at_a_time) {
    const size_t some = std::min(rows_at_a_time, rows - begin);
    size_t first = 0, next = 0;
    for (const ColumnGroup& group : sum.groups) {
      const auto width = static_cast<size_t>(group.width);
      for (const DataPart& part : group.parts) {
        const std::vector<double>& given = numbers[next++];
        for (size_t j = 0; j < width; ++j)
          for (size_t i = 0; i < some; ++i)
            all.column(first + j)[count + i] +=
                part.sign * (given.size() == 1 ? given[0] : given[(begin + i) * width + j]);
      }
      first += width;
    }
    for (size_t j = 0; j < count; ++j) reflect(all, j);
  }
  std::vector<Tensor> factors;
  size_t first = 0;
  for (const ColumnGroup& group : sum.groups) {
    factors.push_back(placed(all, first, group));
    first += static_cast<size_t>(group.width);
  }
  return factors;
}

}  // namespace adit::sampling
