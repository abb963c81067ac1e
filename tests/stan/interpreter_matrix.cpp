// Functions of matrices.
#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

namespace {

using V = const Values&;

Value matrix_lower(const Value& x) {
  Value result = x;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = i + 1; j < x.columns; ++j) result.at(i, j) = 0;
  return result;
}

Value matrix_of_diagonal(const Value& d) {
  Value result = matrix(d.count(), d.count());
  for (int64_t i = 0; i < d.count(); ++i) result.at(i, i) = d.numbers[static_cast<size_t>(i)];
  return result;
}

Value matrix_diagonal(const Value& x) {
  Numbers result;
  for (int64_t i = 0; i < std::min(x.rows, x.columns); ++i) result.push_back(x.at(i, i));
  return vector(result);
}

Number matrix_trace(const Value& x) {
  Number sum = 0;
  for (const Number& v : matrix_diagonal(x).numbers) sum += v;
  return sum;
}

// B' A B; of a vector a number.
Value matrix_quadratic(const Value& a, const Value& b) { return product(transposed(b), product(a, b)); }

Value matrix_add_diagonal(V a) {
  Value result = a[0];
  for (int64_t i = 0; i < std::min(result.rows, result.columns); ++i)
    result.at(i, i) += a[1].is_scalar() ? a[1].number() : a[1].numbers.at(static_cast<size_t>(i));
  return result;
}

// b A^-1 = (A'^-1 b')'
Value matrix_right_solve(const Value& b, const Value& a) {
  return transposed(solve(transposed(a), transposed(b)));
}

Value matrix_symmetrized(const Value& x) {
  Value result = x;
  for (int64_t i = 0; i < x.rows; ++i)
    for (int64_t j = i + 1; j < x.columns; ++j) result.at(i, j) = x.at(j, i);
  return result;
}

Value matrix_power_of(V a) {
  Value result = identity(a[0].rows);
  for (int64_t i = 0; i < a[1].whole(); ++i) result = product(result, a[0]);
  return result;
}

// The roots of the eigenvalues of the smaller of X'X and XX', falling.
Value matrix_singular_values(const Value& x) {
  const Value square = x.rows >= x.columns ? product(transposed(x), x) : product(x, transposed(x));
  Numbers result;
  for (const Number& v : symmetric_eigen(square).values.numbers) result.insert(result.begin(), sqrt(v));
  return vector(result);
}

// Compressed rows: values w, columns v, starts u, all counted from 1.
Value matrix_sparse_product(V a) {
  const Numbers w = flat(a[2]), b = flat(a[5]);
  const std::vector<int64_t> v = flat_integers(a[3]), u = flat_integers(a[4]);
  Numbers result(static_cast<size_t>(a[0].whole()));
  for (size_t i = 0; i < result.size(); ++i)
    for (auto k = static_cast<size_t>(u.at(i) - 1); k < static_cast<size_t>(u.at(i + 1) - 1); ++k)
      result[i] += w.at(k) * b.at(static_cast<size_t>(v.at(k) - 1));
  return vector(result);
}

// log omega [states, times], transitions [from, to], first states.
Number matrix_hmm(V a) {
  const Value &omega = a[0], &gamma = a[1];
  Numbers alpha;
  for (int64_t k = 0; k < omega.rows; ++k)
    alpha.push_back(log(a[2].numbers[static_cast<size_t>(k)]) + omega.at(k, 0));
  for (int64_t t = 1; t < omega.columns; ++t) {
    Numbers next;
    for (int64_t k = 0; k < omega.rows; ++k) {
      Numbers terms;
      for (int64_t from = 0; from < omega.rows; ++from)
        terms.push_back(alpha[static_cast<size_t>(from)] + log(gamma.at(from, k)));
      next.push_back(log_sum_exp(terms) + omega.at(k, t));
    }
    alpha = next;
  }
  return log_sum_exp(alpha);
}

}  // namespace

const BuiltinTable& matrix_functions() {
  static const BuiltinTable table{
      {"add", [](V a) { return apply(Operator::add, a[0], a[1]); }},
      {"subtract", [](V a) { return apply(Operator::subtract, a[0], a[1]); }},
      {"multiply", [](V a) { return apply(Operator::multiply, a[0], a[1]); }},
      {"divide", [](V a) { return apply(Operator::divide, a[0], a[1]); }},
      {"elt_multiply", [](V a) { return apply(Operator::element_multiply, a[0], a[1]); }},
      {"elt_divide", [](V a) { return apply(Operator::element_divide, a[0], a[1]); }},
      {"transpose", [](V a) { return transposed(a[0]); }},
      {"diag_matrix", [](V a) { return matrix_of_diagonal(a[0]); }},
      {"diagonal", [](V a) { return matrix_diagonal(a[0]); }},
      {"diag_pre_multiply", [](V a) { return product(matrix_of_diagonal(a[0]), a[1]); }},
      {"diag_post_multiply", [](V a) { return product(a[0], matrix_of_diagonal(a[1])); }},
      {"add_diag", matrix_add_diagonal},
      {"trace", [](V a) { return real(matrix_trace(a[0])); }},
      {"quad_form", [](V a) { return matrix_quadratic(a[0], a[1]); }},
      {"quad_form_sym", [](V a) { return matrix_quadratic(a[0], a[1]); }},
      {"quad_form_diag", [](V a) { return matrix_quadratic(a[0], matrix_of_diagonal(a[1])); }},
      {"trace_quad_form", [](V a) { return real(matrix_trace(matrix_quadratic(a[0], as_matrix(a[1])))); }},
      {"trace_gen_quad_form",
       [](V a) { return real(matrix_trace(product(a[0], matrix_quadratic(a[1], a[2])))); }},
      {"determinant", [](V a) { return real(determinant(a[0])); }},
      {"log_determinant", [](V a) { return real(log_abs_determinant(a[0])); }},
      {"log_determinant_spd", [](V a) { return real(log_abs_determinant(a[0])); }},
      {"inverse", [](V a) { return inverse(a[0]); }},
      {"inverse_spd", [](V a) { return inverse(a[0]); }},
      {"cholesky_decompose", [](V a) { return cholesky(a[0]); }},
      {"chol2inv", [](V a) { return inverse(product(matrix_lower(a[0]), transposed(matrix_lower(a[0])))); }},
      {"mdivide_left", [](V a) { return solve(a[0], a[1]); }},
      {"mdivide_left_spd", [](V a) { return solve(a[0], a[1]); }},
      {"mdivide_left_tri_low", [](V a) { return lower_solve(a[0], a[1]); }},
      {"mdivide_right", [](V a) { return matrix_right_solve(a[0], a[1]); }},
      {"mdivide_right_spd", [](V a) { return matrix_right_solve(a[0], a[1]); }},
      {"mdivide_right_tri_low", [](V a) { return matrix_right_solve(a[0], matrix_lower(a[1])); }},
      {"multiply_lower_tri_self_transpose",
       [](V a) { return product(matrix_lower(a[0]), transposed(matrix_lower(a[0]))); }},
      {"tcrossprod", [](V a) { return product(a[0], transposed(a[0])); }},
      {"crossprod", [](V a) { return product(transposed(a[0]), a[0]); }},
      {"qr_thin_Q", [](V a) { return thin_qr(a[0]).q; }},
      {"qr_thin_R", [](V a) { return thin_qr(a[0]).r; }},
      {"eigenvalues_sym", [](V a) { return symmetric_eigen(a[0]).values; }},
      {"eigenvectors_sym", [](V a) { return symmetric_eigen(a[0]).vectors; }},
      {"singular_values", [](V a) { return matrix_singular_values(a[0]); }},
      {"matrix_exp", [](V a) { return matrix_exponential(a[0]); }},
      {"matrix_exp_multiply", [](V a) { return product(matrix_exponential(a[0]), a[1]); }},
      {"scale_matrix_exp_multiply",
       [](V a) {
         Value scaled = a[1];
         for (Number& x : scaled.numbers) x = a[0].number() * x;
         return product(matrix_exponential(scaled), a[2]);
       }},
      {"matrix_power", matrix_power_of},
      {"symmetrize_from_lower_tri", [](V a) { return matrix_symmetrized(a[0]); }},
      {"csr_matrix_times_vector", matrix_sparse_product},
      {"hmm_marginal", [](V a) { return real(matrix_hmm(a)); }},
  };
  return table;
}

namespace {

// Squared distance of two points, each axis over its length.
Number covariance_square(const Value& x, const Value& y, const Numbers& lengths) {
  const Numbers a = flat(x), b = flat(y);
  Number sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += square((a[i] - b[i]) / (lengths.size() == 1 ? lengths[0] : lengths.at(i)));
  return sum;
}

using Kernel = Number (*)(const Number& squared_distance);

// Points, perhaps other points, the height, and one length or one for each axis.
Value covariance(V a, Kernel kernel) {
  const Value &x = a[0], &y = a.size() == 4 ? a[1] : a[0];
  const Number height = a[a.size() - 2].number();
  const Numbers lengths = flat(a.back());
  Value result = matrix(x.count(), y.count());
  for (int64_t i = 0; i < x.count(); ++i)
    for (int64_t j = 0; j < y.count(); ++j)
      result.at(i, j) = square(height) * kernel(covariance_square(x.parts[static_cast<size_t>(i)],
                                                                  y.parts[static_cast<size_t>(j)], lengths));
  return result;
}

Number covariance_root(const Number& squared) { return squared.value == 0 ? Number(0) : sqrt(squared); }

Value covariance_periodic(V a) {
  const Value &x = a[0], &y = a.size() == 5 ? a[1] : a[0];
  const Number height = a[a.size() - 3].number(), length = a[a.size() - 2].number(),
               period = a.back().number();
  Value result = matrix(x.count(), y.count());
  for (int64_t i = 0; i < x.count(); ++i)
    for (int64_t j = 0; j < y.count(); ++j) {
      const Number distance = covariance_root(
          covariance_square(x.parts[static_cast<size_t>(i)], y.parts[static_cast<size_t>(j)], {1}));
      result.at(i, j) = square(height) * exp(-2 * square(sin(pi * distance / period) / length));
    }
  return result;
}

Value covariance_dot(V a) {
  const Value &x = a[0], &y = a.size() == 3 ? a[1] : a[0];
  Value result = matrix(x.count(), y.count());
  for (int64_t i = 0; i < x.count(); ++i)
    for (int64_t j = 0; j < y.count(); ++j) {
      const Numbers p = flat(x.parts[static_cast<size_t>(i)]), q = flat(y.parts[static_cast<size_t>(j)]);
      result.at(i, j) = square(a.back().number());
      for (size_t k = 0; k < p.size(); ++k) result.at(i, j) += p[k] * q.at(k);
    }
  return result;
}

Value covariance_exp_quad(V a) {
  return covariance(a, [](const Number& s) { return exp(-0.5 * s); });
}

}  // namespace

const BuiltinTable& covariance_functions() {
  static const BuiltinTable table{
      {"gp_exp_quad_cov", covariance_exp_quad},
      {"cov_exp_quad", covariance_exp_quad},
      {"gp_exponential_cov",
       [](V a) { return covariance(a, [](const Number& s) { return exp(-covariance_root(s)); }); }},
      {"gp_matern32_cov",
       [](V a) {
         return covariance(a, [](const Number& s) {
           const Number d = std::sqrt(3.0) * covariance_root(s);
           return (1 + d) * exp(-d);
         });
       }},
      {"gp_matern52_cov",
       [](V a) {
         return covariance(a, [](const Number& s) {
           const Number d = std::sqrt(5.0) * covariance_root(s);
           return (1 + d + square(d) / 3) * exp(-d);
         });
       }},
      {"gp_periodic_cov", covariance_periodic},
      {"gp_dot_prod_cov", covariance_dot},
  };
  return table;
}

}  // namespace adit::stan::reference
