// Whether values are as their declarations say: of data, transformed data and transformed parameters.
#include <functional>

#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

Bounds bounds_of(Machine& machine, const Transform& transform) {
  const bool is_affine = transform.kind == Transform::Kind::offset ||
                         transform.kind == Transform::Kind::multiplier ||
                         transform.kind == Transform::Kind::offset_multiplier;
  Bounds bounds{real(is_affine ? 0 : -infinity), real(is_affine ? 1 : infinity)};
  if (transform.first) bounds.first = machine.evaluate(*transform.first);
  if (transform.second) bounds.second = machine.evaluate(*transform.second);
  return bounds;
}

namespace {

bool check_near(double a, double b) { return std::fabs(a - b) <= 1e-8; }

bool check_sums(const Numbers& x, double wanted) {
  double sum = 0;
  for (const Number& v : x) sum += v.value;
  return check_near(sum, wanted);
}

std::string check_vector(Transform::Kind kind, const Value& value) {
  const Numbers& x = value.numbers;
  double squares = 0;
  bool ascends = true, is_positive = true;
  for (size_t i = 0; i < x.size(); ++i) {
    squares += x[i].value * x[i].value;
    is_positive &= x[i].value >= 0;
    if (i > 0) ascends &= x[i].value > x[i - 1].value;
  }
  if (kind == Transform::Kind::simplex && !(is_positive && check_sums(x, 1))) return "is no simplex";
  if (kind == Transform::Kind::ordered && !ascends) return "is not ordered";
  if (kind == Transform::Kind::positive_ordered && !(ascends && is_positive))
    return "is not ordered and positive";
  if (kind == Transform::Kind::unit_vector && !check_near(squares, 1)) return "is no unit vector";
  if (kind == Transform::Kind::sum_to_zero_vector && !check_sums(x, 0)) return "does not sum to zero";
  return "";
}

std::string check_matrix(Transform::Kind kind, const Value& x) {
  const bool is_factor =
      kind == Transform::Kind::cholesky_factor_corr || kind == Transform::Kind::cholesky_factor_cov;
  const bool is_symmetric = kind == Transform::Kind::corr_matrix || kind == Transform::Kind::cov_matrix;
  for (int64_t i = 0; i < x.rows && (is_factor || is_symmetric); ++i)
    for (int64_t j = i + 1; j < x.columns; ++j) {
      if (is_factor && x.at(i, j).value != 0) return "is no lower triangle";
      if (is_symmetric && !check_near(x.at(i, j).value, x.at(j, i).value)) return "is not symmetric";
    }
  for (int64_t i = 0; i < std::min(x.rows, x.columns); ++i) {
    if (is_factor && !(x.at(i, i).value > 0)) return "has a diagonal that is not above 0";
    if (kind == Transform::Kind::corr_matrix && !check_near(x.at(i, i).value, 1))
      return "has a diagonal other than 1";
  }
  if (is_symmetric) {
    try {
      cholesky(x);
    } catch (const Rejected&) {
      return "is not positive definite";
    }
  }
  return "";
}

std::string check_parts(Machine& machine, const SizedType& type, const Value& value, const Bounds& bounds) {
  if (value.array > 0 || value.base == Base::tuple) {
    for (size_t i = 0; i < value.parts.size(); ++i) {
      const bool is_tuple = value.array == 0;
      const std::string words = is_tuple ? check_parts(machine, type.members[i], value.parts[i],
                                                       bounds_of(machine, type.members[i].transform))
                                         : check_parts(machine, type, value.parts[i], bounds.array_part(i));
      if (!words.empty()) return words;
    }
    return "";
  }
  const Transform::Kind kind = type.transform.kind;
  if (kind == Transform::Kind::lower || kind == Transform::Kind::upper ||
      kind == Transform::Kind::lower_upper) {
    const Numbers numbers = flat(value);
    for (size_t i = 0; i < numbers.size(); ++i) {
      const Bounds at = value.is_scalar() ? bounds : bounds.element(i);
      if (!(numbers[i] >= at.first.number())) return "lies below its bound";
      if (!(numbers[i] <= at.second.number())) return "lies above its bound";
    }
  }
  return value.base == Base::matrix ? check_matrix(kind, value) : check_vector(kind, value);
}

}  // namespace

std::string broken_constraint(Machine& machine, const SizedType& type, const Value& value) {
  return check_parts(machine, type, value, bounds_of(machine, type.transform));
}

}  // namespace adit::stan::reference
