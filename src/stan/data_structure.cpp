#include "stan/data_structure.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <span>

namespace adit::stan {
namespace {

constexpr double data_tolerance = 1e-8;  // Stan's own

// One vector or matrix of an array of them.
struct DataBlock {
  const std::string& name;
  const Shape& shape;  // of the whole
  int own_axes = 1;
  int64_t first = 0;  // its first element in the whole
  std::span<const double> numbers;
  bool is_computed = false;  // rounding is in proportion to numbers

  int64_t rows() const { return shape[shape.size() - own_axes]; }
  int64_t columns() const { return shape.back(); }
  double at(int64_t row, int64_t column) const {
    return numbers[static_cast<size_t>(row * columns() + column)];
  }
  double slack(int64_t row, int64_t column) const {
    return data_tolerance * (is_computed ? std::max(1.0, std::fabs(at(row, column))) : 1);
  }
  // Of a vector, or a line of a matrix.
  double element(int64_t start, int64_t stride, int64_t i) const {
    return numbers[static_cast<size_t>(start + stride * i)];
  }
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const {
    const Shape outer(std::span(shape.begin(), static_cast<size_t>(shape.size() - own_axes)));
    refuse_data(name + index_in_words(outer, first / std::ssize(numbers)), expected, found);
  }
  [[noreturn]] void refuse_element(int64_t element, const std::string& expected, double found) const {
    refuse_data(name + index_in_words(shape, first + element), expected, fmt::format("{}", found));
  }
};

// Elements of a vector or a line of a matrix.
struct DataLine {
  int64_t start = 0, stride = 1, size = 0;
};

template <class Term>
double line_sum(const DataBlock& block, const DataLine& line, Term term) {
  double sum = 0;
  for (int64_t i = 0; i < line.size; ++i) sum += term(block.element(line.start, line.stride, i));
  return sum;
}
double same_number(double x) { return x; }
double squared_number(double x) { return x * x; }

// Comparisons are written so that NaN fails.
void check_line_sum(const DataBlock& block, double sum, double wanted, const char* what) {
  if (!(std::fabs(sum - wanted) <= data_tolerance)) block.refuse(what, fmt::format("{} instead", sum));
}

void check_simplex_line(const DataBlock& block, const DataLine& line, const char* what) {
  for (int64_t i = 0; i < line.size; ++i)
    if (const double x = block.element(line.start, line.stride, i); !(x >= 0))
      block.refuse_element(line.start + line.stride * i, "at least 0, as an element of a simplex", x);
  check_line_sum(block, line_sum(block, line, same_number), 1, what);
}

void check_ordered(const DataBlock& block, bool is_positive) {
  const auto& numbers = block.numbers;
  if (is_positive && !(numbers[0] >= 0)) block.refuse_element(0, "at least 0", numbers[0]);
  for (size_t i = 1; i < numbers.size(); ++i)
    if (!(numbers[i] > numbers[i - 1]))
      block.refuse_element(static_cast<int64_t>(i),
                           fmt::format("more than {}, the element before it", numbers[i - 1]), numbers[i]);
  if (std::isnan(numbers[0])) block.refuse_element(0, "a number", numbers[0]);
}

DataLine row_line(const DataBlock& block, int64_t row) { return {row * block.columns(), 1, block.columns()}; }
DataLine column_line(const DataBlock& block, int64_t column) {
  return {column, block.columns(), block.rows()};
}

void check_sum_to_zero_matrix(const DataBlock& block) {
  for (int64_t i = 0; i < block.rows(); ++i)
    check_line_sum(block, line_sum(block, row_line(block, i), same_number), 0,
                   "a matrix whose rows each add up to 0");
  for (int64_t j = 0; j < block.columns(); ++j)
    check_line_sum(block, line_sum(block, column_line(block, j), same_number), 0,
                   "a matrix whose columns each add up to 0");
}

void check_square(const DataBlock& block) {
  if (block.rows() != block.columns())
    block.refuse("a square matrix", fmt::format("one of shape ({}, {})", block.rows(), block.columns()));
}

void check_cholesky_factor(const DataBlock& block) {
  if (block.rows() < block.columns())
    block.refuse("a matrix with no more columns than rows",
                 fmt::format("one of shape ({}, {})", block.rows(), block.columns()));
  for (int64_t i = 0; i < block.rows(); ++i) {
    for (int64_t j = i + 1; j < block.columns(); ++j)
      if (block.at(i, j) != 0)  // true of NaN
        block.refuse_element(i * block.columns() + j, "0 above the diagonal of a Cholesky factor",
                             block.at(i, j));
    if (i < block.columns() && !(block.at(i, i) > 0))
      block.refuse_element(i * block.columns() + i, "more than 0 on the diagonal of a Cholesky factor",
                           block.at(i, i));
  }
}

void check_cholesky_factor_corr(const DataBlock& block) {
  check_square(block);
  check_cholesky_factor(block);
  for (int64_t i = 0; i < block.rows(); ++i)
    check_line_sum(block, line_sum(block, row_line(block, i), squared_number), 1,
                   "a matrix whose rows each have squares that add up to 1");
}

void check_symmetric(const DataBlock& block) {
  check_square(block);
  for (int64_t i = 0; i < block.rows(); ++i)
    for (int64_t j = 0; j < i; ++j)
      if (!(std::fabs(block.at(i, j) - block.at(j, i)) <= block.slack(i, j)))
        block.refuse_element(i * block.columns() + j,
                             fmt::format("{} as on the other side of the diagonal", block.at(j, i)),
                             block.at(i, j));
}

// By a Cholesky factor of the lower half, with `more` on the diagonal.
bool has_factor(const DataBlock& block, double more) {
  const auto n = static_cast<size_t>(block.rows());
  std::vector<double> factor(block.numbers.begin(), block.numbers.end());
  for (size_t i = 0; i < n; ++i) factor[i * n + i] += more;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double rest = factor[i * n + j];
      for (size_t k = 0; k < j; ++k) rest -= factor[i * n + k] * factor[j * n + k];
      if (j < i) {
        factor[i * n + j] = rest / factor[j * n + j];
      } else {
        if (!(rest > 0) || !std::isfinite(rest)) return false;
        factor[i * n + i] = std::sqrt(rest);
      }
    }
  }
  return true;
}

bool is_positive_definite(const DataBlock& block) {
  if (block.rows() == 1) return block.numbers[0] > data_tolerance && std::isfinite(block.numbers[0]);
  return has_factor(block, 0);
}

bool is_semidefinite(const DataBlock& block) {
  double most = 1;
  for (int64_t i = 0; i < block.rows(); ++i) most = std::max(most, std::fabs(block.at(i, i)));
  return has_factor(block, data_tolerance * most);
}

void check_covariance(const DataBlock& block, bool is_correlation) {
  check_symmetric(block);
  if (is_correlation)
    for (int64_t i = 0; i < block.rows(); ++i)
      if (!(std::fabs(block.at(i, i) - 1) <= data_tolerance))
        block.refuse_element(i * block.columns() + i, "1 on the diagonal of a correlation matrix",
                             block.at(i, i));
  if (!is_positive_definite(block)) block.refuse("a matrix that is positive definite", "one that is not");
}

void check_block(const DataBlock& block, Transform::Kind kind) {
  using Kind = Transform::Kind;
  const DataLine whole{0, 1, std::ssize(block.numbers)};
  switch (kind) {
    case Kind::ordered: return check_ordered(block, false);
    case Kind::positive_ordered: return check_ordered(block, true);
    case Kind::simplex: return check_simplex_line(block, whole, "a simplex, whose elements add up to 1");
    case Kind::unit_vector:
      return check_line_sum(block, line_sum(block, whole, squared_number), 1,
                            "a unit vector, whose squares add up to 1");
    case Kind::sum_to_zero_vector:
      return check_line_sum(block, line_sum(block, whole, same_number), 0,
                            "a vector whose elements add up to 0");
    case Kind::sum_to_zero_matrix: return check_sum_to_zero_matrix(block);
    case Kind::cholesky_factor_corr: return check_cholesky_factor_corr(block);
    case Kind::cholesky_factor_cov: return check_cholesky_factor(block);
    case Kind::corr_matrix: return check_covariance(block, true);
    case Kind::cov_matrix: return check_covariance(block, false);
    case Kind::column_stochastic_matrix:
      for (int64_t j = 0; j < block.columns(); ++j)
        check_simplex_line(block, column_line(block, j), "a matrix whose columns each add up to 1");
      return;
    case Kind::row_stochastic_matrix:
      for (int64_t i = 0; i < block.rows(); ++i)
        check_simplex_line(block, row_line(block, i), "a matrix whose rows each add up to 1");
      return;
    case Kind::none:
    case Kind::lower:
    case Kind::upper:
    case Kind::lower_upper:
    case Kind::offset:
    case Kind::multiplier:
    case Kind::offset_multiplier: return;
  }
}

bool is_of_elements(Transform::Kind kind) { return kind <= Transform::Kind::offset_multiplier; }
bool is_of_vectors(Transform::Kind kind) { return kind <= Transform::Kind::sum_to_zero_vector; }

// A simplex and a unit vector have at least one element, though the file has none to show.
void check_not_empty(const std::string& name, const Wanted& wanted) {
  using Kind = Transform::Kind;
  const bool needs_one = wanted.transform == Kind::simplex || wanted.transform == Kind::unit_vector;
  const Shape& shape = wanted.shape;
  const bool has_blocks = std::none_of(shape.begin(), shape.end() - 1, [](int64_t n) { return n == 0; });
  if (needs_one && has_blocks && shape.back() == 0)
    refuse_data(name, "vectors of at least one element", "none");
}

template <class Check>
void check_blocks(DataBlock block, const std::vector<double>& all, Check check) {
  const int64_t size = block.own_axes == 2 ? block.rows() * block.columns() : block.rows();
  const std::span<const double> numbers(all);
  for (; block.first < std::ssize(all); block.first += size) {
    block.numbers = numbers.subspan(static_cast<size_t>(block.first), static_cast<size_t>(size));
    check(block);
  }
}

}  // namespace

void check_symmetry(const std::string& name, const DataValue& value) {
  if (value.numbers.empty()) return;
  check_blocks({name, value.shape, 2, 0, {}, true}, value.numbers, check_symmetric);
}

void check_semidefinite(const std::string& name, const DataValue& value) {
  if (value.numbers.empty()) return;
  check_blocks({name, value.shape, 2, 0, {}, true}, value.numbers, [](const DataBlock& block) {
    check_symmetric(block);
    if (!is_semidefinite(block)) block.refuse("a matrix that is positive semidefinite", "one that is not");
  });
}

void check_triangle(const std::string& name, const DataValue& value) {
  if (value.numbers.empty()) return;
  check_blocks({name, value.shape, 2, 0, {}, true}, value.numbers, [](const DataBlock& block) {
    for (int64_t i = 0; i < block.rows(); ++i)
      for (int64_t j = i + 1; j < block.columns(); ++j)
        if (block.at(i, j) != 0)  // true of NaN
          block.refuse_element(i * block.columns() + j, "0 above the diagonal of a lower triangular matrix",
                               block.at(i, j));
  });
}

void check_structure(const std::string& name, const DataValue& value, const Wanted& wanted) {
  if (is_of_elements(wanted.transform) || wanted.shape.empty()) return;
  check_not_empty(name, wanted);
  if (value.numbers.empty()) return;
  DataBlock block{name, wanted.shape, is_of_vectors(wanted.transform) ? 1 : 2, 0, {}};
  if (wanted.shape.size() < block.own_axes) return;
  block.is_computed = wanted.is_computed;
  check_blocks(block, value.numbers, [&](const DataBlock& one) { check_block(one, wanted.transform); });
}

}  // namespace adit::stan
