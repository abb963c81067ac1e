// Parameters from unconstrained numbers, with the logarithm of the volume's change.
#include <functional>

#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

Number Stream::take() {
  expect(next < numbers.size(), "too few unconstrained numbers");
  return numbers[next++];
}

namespace {

using Kind = Transform::Kind;

// The orthonormal basis of what sums to zero: element i of z = V u, by two running sums from the end.
Numbers constrain_zero_sum(const Numbers& u) {
  const size_t size = u.size() + 1;
  Numbers z(size);
  Number sum = 0;
  for (size_t j = size - 1; j > 0; --j) {
    const auto n = static_cast<double>(j);
    const Number w = u[j - 1] / std::sqrt(n * (n + 1));
    z[j] = sum - n * w;
    sum += w;
  }
  z[0] = sum;
  return z;
}

Numbers constrain_simplex(const Numbers& u, Number& jacobian) {
  const Numbers z = constrain_zero_sum(u);
  const Number whole = log_sum_exp(z);
  const auto size = static_cast<double>(z.size());
  Numbers x;
  for (const Number& v : z) x.push_back(exp(v - whole));
  jacobian += 0.5 * std::log(size) - size * whole;
  return x;
}

Number constrain_number(Kind kind, const Number& u, const Number& first, const Number& second,
                        Number& jacobian) {
  const bool no_low = first.value == -infinity, no_high = second.value == infinity;
  if (kind == Kind::lower_upper && no_low) kind = Kind::upper;
  if (kind == Kind::lower_upper && no_high) kind = Kind::lower;
  switch (kind) {
    case Kind::lower:
      if (no_low) return u;
      jacobian += u;
      return first + exp(u);
    case Kind::upper:
      if (no_high) return u;
      jacobian += u;
      return second - exp(u);
    case Kind::lower_upper:
      if (!(first < second)) throw Rejected("a lower bound is not below the upper one");
      jacobian += log(second - first) + log_inv_logit(u) + log1m_inv_logit(u);
      return first + (second - first) * inv_logit(u);
    case Kind::offset:
    case Kind::multiplier:
    case Kind::offset_multiplier:
      if (!(second > 0)) throw Rejected("a multiplier is not above 0");
      jacobian += log(second);
      return first + second * u;
    default: return u;
  }
}

Numbers constrain_vector(Kind kind, int64_t size, Stream& stream, Number& jacobian) {
  const bool is_less = kind == Kind::simplex || kind == Kind::sum_to_zero_vector;
  Numbers u;
  for (int64_t i = is_less ? 1 : 0; i < size; ++i) u.push_back(stream.take());
  if (kind == Kind::simplex) return constrain_simplex(u, jacobian);
  if (kind == Kind::sum_to_zero_vector) return constrain_zero_sum(u);
  if (kind == Kind::unit_vector) {
    Number squares = 0;
    for (const Number& x : u) squares += square(x);
    for (Number& x : u) x = x / sqrt(squares);
    jacobian -= 0.5 * squares;
    return u;
  }
  for (size_t i = 0; i < u.size(); ++i) {
    if (i == 0 && kind == Kind::ordered) continue;
    jacobian += u[i];
    u[i] = (i == 0 ? Number(0) : u[i - 1]) + exp(u[i]);
  }
  return u;
}

// Rows of length 1 from partial correlations z = tanh(y), element after element.
Value constrain_correlation_factor(const Value& y, Number& jacobian) {
  Value l = matrix(y.rows, y.rows);
  for (int64_t i = 0; i < y.rows; ++i) {
    Number left = 1;
    for (int64_t j = 0; j < i; ++j) {
      const Number z = tanh(y.at(i, j));
      // d tanh = 1 - z^2 = 4 e^{2y} / (1 + e^{2y})^2, and the element is z times the root of what is left.
      const Number log_slope = 2 * (std::log(2.0) + y.at(i, j) - log1p_exp(2 * y.at(i, j)));
      jacobian += log_slope + 0.5 * log(left);
      l.at(i, j) = z * sqrt(left);
      left *= exp(log_slope);
    }
    l.at(i, i) = sqrt(left);
  }
  return l;
}

Value constrain_correlation(Kind kind, int64_t size, Stream& stream, Number& jacobian) {
  Value y = matrix(size, size);
  if (kind == Kind::cholesky_factor_corr) {
    for (int64_t i = 0; i < size; ++i)
      for (int64_t j = 0; j < i; ++j) y.at(i, j) = stream.take();
    return constrain_correlation_factor(y, jacobian);
  }
  for (int64_t j = 0; j < size; ++j)
    for (int64_t i = j + 1; i < size; ++i) y.at(i, j) = stream.take();
  const Value l = constrain_correlation_factor(y, jacobian);
  // From factor to matrix: each column j counts the diagonal element as often as rows follow below it.
  for (int64_t j = 0; j < size; ++j) jacobian += static_cast<double>(size - 1 - j) * log(l.at(j, j));
  return product(l, transposed(l));
}

Value constrain_covariance(Kind kind, int64_t rows, int64_t columns, Stream& stream, Number& jacobian) {
  Value l = matrix(rows, columns);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j <= std::min(i, columns - 1); ++j) {
      const Number u = stream.take();
      l.at(i, j) = i == j ? exp(u) : u;
      if (i != j) continue;
      jacobian += u;
      if (kind == Kind::cov_matrix) jacobian += std::log(2.0) + static_cast<double>(rows - i) * u;
    }
  return kind == Kind::cov_matrix ? product(l, transposed(l)) : l;
}

Value constrain_stochastic(Kind kind, int64_t rows, int64_t columns, Stream& stream, Number& jacobian) {
  const bool by_columns = kind == Kind::column_stochastic_matrix;
  Value u = by_columns ? matrix(rows - 1, columns) : matrix(rows, columns - 1),
        result = matrix(rows, columns);
  for (Number& x : u.numbers) x = stream.take();
  for (int64_t k = 0; k < (by_columns ? columns : rows); ++k) {
    Numbers line;
    for (int64_t i = 0; i < (by_columns ? rows : columns) - 1; ++i)
      line.push_back(by_columns ? u.at(i, k) : u.at(k, i));
    const Numbers x = constrain_simplex(line, jacobian);
    for (size_t i = 0; i < x.size(); ++i)
      (by_columns ? result.at(static_cast<int64_t>(i), k) : result.at(k, static_cast<int64_t>(i))) = x[i];
  }
  return result;
}

// Along an axis of a matrix, from the end: each place has its own number and loses what later ones spread
// before them; the last place balances all.
Numbers constrain_zero_line(const Numbers& u) {
  Numbers x(u.size() + 1);
  Number later = 0, all = 0;
  for (size_t i = u.size(); i-- > 0;) {
    const auto n = static_cast<double>(i);
    const Number share = u[i] * (1 / std::sqrt((n + 1) * (n + 2)));
    x[i] = share * (n + 1) - later;
    later += share;
    all += x[i];
  }
  x[u.size()] = Number(0) - all;
  return x;
}

Value constrain_zero_matrix(int64_t rows, int64_t columns, Stream& stream) {
  Value u = matrix(rows - 1, columns - 1), half = matrix(rows, columns - 1), result = matrix(rows, columns);
  for (Number& x : u.numbers) x = stream.take();
  for (int64_t j = 0; j < u.columns; ++j) {
    Numbers line;
    for (int64_t i = 0; i < u.rows; ++i) line.push_back(u.at(i, j));
    line = constrain_zero_line(line);
    for (int64_t i = 0; i < rows; ++i) half.at(i, j) = line[static_cast<size_t>(i)];
  }
  for (int64_t i = 0; i < rows; ++i) {
    Numbers line;
    for (int64_t j = 0; j < half.columns; ++j) line.push_back(half.at(i, j));
    line = constrain_zero_line(line);
    for (int64_t j = 0; j < columns; ++j) result.at(i, j) = line[static_cast<size_t>(j)];
  }
  return result;
}

bool constrain_is_elementwise(Kind kind) { return kind <= Kind::offset_multiplier; }

Value constrain_element(const SizedType& type, const Value& form, const Bounds& bounds, Stream& stream,
                        Number& jacobian) {
  const Kind kind = type.transform.kind;
  if (constrain_is_elementwise(kind)) {
    Value result = form;
    const auto one = [&](size_t i) {
      const Bounds at = form.is_scalar() ? bounds : bounds.element(i);
      return constrain_number(kind, stream.take(), at.first.number(), at.second.number(), jacobian);
    };
    if (form.is_scalar()) return real(one(0));
    for (size_t i = 0; i < result.numbers.size(); ++i) result.numbers[i] = one(i);
    return result;
  }
  switch (kind) {
    case Kind::cholesky_factor_corr:
    case Kind::corr_matrix: return constrain_correlation(kind, form.rows, stream, jacobian);
    case Kind::cholesky_factor_cov:
    case Kind::cov_matrix: return constrain_covariance(kind, form.rows, form.columns, stream, jacobian);
    case Kind::column_stochastic_matrix:
    case Kind::row_stochastic_matrix:
      return constrain_stochastic(kind, form.rows, form.columns, stream, jacobian);
    case Kind::sum_to_zero_matrix: return constrain_zero_matrix(form.rows, form.columns, stream);
    default: return vector(constrain_vector(kind, form.rows, stream, jacobian));
  }
}

Value constrain_parts(Machine& machine, const SizedType& type, const Value& form, const Bounds& bounds,
                      Stream& stream, Number& jacobian) {
  Value result = form;
  if (form.array > 0) {
    for (size_t i = 0; i < form.parts.size(); ++i)
      result.parts[i] = constrain_parts(machine, type, form.parts[i], bounds.array_part(i), stream, jacobian);
    return result;
  }
  if (form.base != Base::tuple) return constrain_element(type, form, bounds, stream, jacobian);
  for (size_t i = 0; i < form.parts.size(); ++i)
    result.parts[i] = constrain_parts(machine, type.members[i], form.parts[i],
                                      bounds_of(machine, type.members[i].transform), stream, jacobian);
  return result;
}

}  // namespace

Value constrained(Machine& machine, const SizedType& type, Stream& stream, Number& jacobian) {
  return constrain_parts(machine, type, machine.fresh(type), bounds_of(machine, type.transform), stream,
                         jacobian);
}

namespace {

int64_t constrain_count(const SizedType& type, const Value& form) {
  if (form.array > 0) {
    int64_t sum = 0;
    for (const Value& part : form.parts) sum += constrain_count(type, part);
    return sum;
  }
  if (form.base == Base::tuple) {
    int64_t sum = 0;
    for (size_t i = 0; i < form.parts.size(); ++i) sum += constrain_count(type.members[i], form.parts[i]);
    return sum;
  }
  const int64_t n = form.rows, m = form.columns;
  switch (type.transform.kind) {
    case Kind::simplex:
    case Kind::sum_to_zero_vector: return n - 1;
    case Kind::cholesky_factor_corr:
    case Kind::corr_matrix: return n * (n - 1) / 2;
    case Kind::cov_matrix: return n * (n + 1) / 2;
    case Kind::cholesky_factor_cov: return m * (m + 1) / 2 + (n - m) * m;
    case Kind::column_stochastic_matrix: return (n - 1) * m;
    case Kind::row_stochastic_matrix: return n * (m - 1);
    case Kind::sum_to_zero_matrix: return (n - 1) * (m - 1);
    default: return form.is_scalar() ? 1 : form.count();
  }
}

}  // namespace

int64_t unconstrained_size(Machine& machine, const SizedType& type) {
  return constrain_count(type, machine.fresh(type));
}

}  // namespace adit::stan::reference
