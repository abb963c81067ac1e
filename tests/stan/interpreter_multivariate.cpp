// Densities of vectors and matrices, and of categories.
#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"

namespace adit::stan::reference {

namespace {

using V = const Values&;

// The vectors of an argument: itself, or the elements of an array.
Values multivariate_rows(const Value& x) { return x.array > 0 ? x.parts : Values{x}; }
const Value& multivariate_row(const Values& rows, size_t i) {
  return rows.size() == 1 ? rows[0] : rows.at(i);
}
bool multivariate_is_empty(const Value& x) { return x.array > 0 && x.parts.empty(); }

Value multivariate_difference(const Value& x, const Value& y) {
  const Numbers a = flat(x), b = flat(y);
  expect(a.size() == b.size(), "sizes of a multivariate density differ");
  Numbers result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(a[i] - b[i]);
  return vector(result);
}

Number log_diagonal(const Value& l) {
  Number sum = 0;
  for (int64_t i = 0; i < l.rows; ++i) sum += log(l.at(i, i));
  return sum;
}

// |L^-1 d|^2
Number multivariate_squares(const Value& l, const Value& d) {
  Number sum = 0;
  for (const Number& x : lower_solve(l, d).numbers) sum += square(x);
  return sum;
}

// With the factor of the covariance; no degrees: normal.
Number elliptical(const Value& y, const Value& mean, const Value& l, const Number* degrees) {
  if (multivariate_is_empty(y) || multivariate_is_empty(mean)) return 0;
  const Values ys = multivariate_rows(y), means = multivariate_rows(mean);
  const auto size = static_cast<double>(l.rows);
  Number sum = 0;
  for (size_t i = 0; i < std::max(ys.size(), means.size()); ++i) {
    const Number squares =
        multivariate_squares(l, multivariate_difference(multivariate_row(ys, i), multivariate_row(means, i)));
    if (degrees)
      sum += lgamma(0.5 * (*degrees + size)) - lgamma(0.5 * *degrees) - 0.5 * size * log(*degrees * pi) -
             log_diagonal(l) - 0.5 * (*degrees + size) * log1p(squares / *degrees);
    else
      sum += -size * half_log_two_pi - log_diagonal(l) - 0.5 * squares;
  }
  return sum;
}

Number dirichlet_one(const Numbers& x, const Numbers& a) {
  expect(x.size() == a.size(), "sizes of dirichlet differ");
  Number whole = 0, sum = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    whole += a[i];
    sum += x_log_y(a[i] - 1, x[i]) - lgamma(a[i]);
  }
  return sum + lgamma(whole);
}

Number dirichlet_density(V a) {
  if (multivariate_is_empty(a[0]) || multivariate_is_empty(a[1])) return 0;
  const Values xs = multivariate_rows(a[0]), as = multivariate_rows(a[1]);
  Number sum = 0;
  for (size_t i = 0; i < std::max(xs.size(), as.size()); ++i)
    sum += dirichlet_one(flat(multivariate_row(xs, i)), flat(multivariate_row(as, i)));
  return sum;
}

Number multinomial_mass(const Numbers& n, const Numbers& log_p) {
  expect(n.size() == log_p.size(), "sizes of multinomial differ");
  Number whole = 0, sum = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    whole += n[i];
    sum += (n[i].value == 0 ? Number(0) : n[i] * log_p[i]) - lgamma(n[i] + 1);
  }
  return sum + lgamma(whole + 1);
}

Number dirichlet_multinomial_mass(V a) {
  const Numbers n = flat(a[0]), alpha = flat(a[1]);
  Number whole = 0, total = 0, sum = 0;
  for (size_t i = 0; i < n.size(); ++i) {
    whole += n[i];
    total += alpha[i];
    sum += lgamma(n[i] + alpha[i]) - lgamma(alpha[i]) - lgamma(n[i] + 1);
  }
  return sum + lgamma(whole + 1) + lgamma(total) - lgamma(whole + total);
}

// The logarithm of the integral of det(R)^(eta - 1) over correlation matrices.
Number lkj_log_integral(int64_t size, const Number& eta) {
  Number sum = 0;
  const auto n = static_cast<double>(size);
  for (int64_t k = 1; k < size; ++k) {
    const auto d = static_cast<double>(k);
    sum += 0.5 * d * std::log(pi) + lgamma(eta + 0.5 * (n - 1 - d)) - lgamma(eta + 0.5 * (n - 1));
  }
  return sum;
}

Number lkj_factor_density(V a) {
  const Value& l = a[0];
  const Number eta = a[1].number();
  Number sum = -lkj_log_integral(l.rows, eta);
  for (int64_t k = 1; k < l.rows; ++k)
    sum += (static_cast<double>(l.rows - k - 1) + 2 * eta - 2) * log(l.at(k, k));
  return sum;
}

Number log_multi_gamma(int64_t size, const Number& x) {
  Number sum = 0.25 * static_cast<double>(size * (size - 1)) * std::log(pi);
  for (int64_t k = 0; k < size; ++k) sum += lgamma(x - 0.5 * static_cast<double>(k));
  return sum;
}

Number multivariate_trace(const Value& x) {
  Number sum = 0;
  for (int64_t i = 0; i < x.rows; ++i) sum += x.at(i, i);
  return sum;
}

Number wishart_density(const Value& w, const Number& degrees, const Value& s, bool is_inverse) {
  const auto size = static_cast<double>(w.rows);
  const Number constant = -0.5 * degrees * size * std::log(2.0) - log_multi_gamma(w.rows, 0.5 * degrees);
  const Number log_w = log_abs_determinant(w), log_s = log_abs_determinant(s);
  if (is_inverse)
    return constant + 0.5 * degrees * log_s - 0.5 * (degrees + size + 1) * log_w -
           0.5 * multivariate_trace(solve(w, s));
  return constant - 0.5 * degrees * log_s + 0.5 * (degrees - size - 1) * log_w -
         0.5 * multivariate_trace(solve(s, w));
}

// Of the factor: the density of the product and the volume from one to the other.
Number wishart_factor_density(V a, bool is_inverse) {
  const Value &l = a[0], w = product(l, transposed(l)), s = product(a[2], transposed(a[2]));
  Number sum = wishart_density(w, a[1].number(), s, is_inverse);
  for (int64_t k = 0; k < l.rows; ++k)
    sum += std::log(2.0) + static_cast<double>(l.rows - k) * log(l.at(k, k));
  return sum;
}

Number process_density(const Value& y, const Value& l, const Value& weights) {
  Number sum = 0;
  const auto size = static_cast<double>(y.columns);
  for (int64_t i = 0; i < y.rows; ++i) {
    Numbers row;
    for (int64_t j = 0; j < y.columns; ++j) row.push_back(y.at(i, j));
    const Number w = weights.numbers.at(static_cast<size_t>(i));
    sum += -size * half_log_two_pi - log_diagonal(l) + 0.5 * size * log(w) -
           0.5 * w * multivariate_squares(l, vector(row));
  }
  return sum;
}

Number categorical_mass(const Value& y, const Numbers& log_p) {
  Number sum = 0;
  for (const int64_t k : flat_integers(y)) {
    expect(k >= 1 && k <= static_cast<int64_t>(log_p.size()), "a category is outside");
    sum += log_p[static_cast<size_t>(k - 1)];
  }
  return sum;
}

Numbers multivariate_logs(const Numbers& p) {
  Numbers result;
  for (const Number& x : p) result.push_back(log(x));
  return result;
}
Numbers multivariate_log_softmax(const Numbers& x) {
  Numbers result;
  const Number whole = log_sum_exp(x);
  for (const Number& v : x) result.push_back(v - whole);
  return result;
}

// log(F(eta - c_{k-1}) - F(eta - c_k)) with log F and log(1 - F).
Number ordered_mass(V a, Number (*log_below)(const Number&)) {
  const std::vector<int64_t> ys = flat_integers(a[0]);
  const Numbers etas = flat(a[1]);
  Number sum = 0;
  for (size_t i = 0; i < ys.size(); ++i) {
    const Number eta = etas.size() == 1 ? etas[0] : etas.at(i);
    const Numbers cuts = flat(a[2].array > 0 ? a[2].parts.at(i) : a[2]);
    const auto k = static_cast<size_t>(ys[i]), last = cuts.size() + 1;
    expect(k >= 1 && k <= last, "an ordered category is outside");
    if (k == 1)
      sum += log_below(cuts[0] - eta);
    else if (k == last)
      sum += log_below(eta - cuts[last - 2]);
    else {
      // P(below c_k) - P(below c_{k-1}), in the tail that is smaller.
      const Number high = cuts[k - 1] - eta, low = cuts[k - 2] - eta;
      sum += low.value > 0 ? log_diff_exp(log_below(-low), log_below(-high))
                           : log_diff_exp(log_below(high), log_below(low));
    }
  }
  return sum;
}

}  // namespace

const BuiltinTable& multivariate_densities() {
  static const BuiltinTable table{
      {"multi_normal", [](V a) { return real(elliptical(a[0], a[1], cholesky(a[2]), nullptr)); }},
      {"multi_normal_cholesky", [](V a) { return real(elliptical(a[0], a[1], a[2], nullptr)); }},
      {"multi_normal_prec",
       [](V a) { return real(elliptical(a[0], a[1], cholesky(inverse(a[2])), nullptr)); }},
      {"multi_student_t",
       [](V a) {
         const Number degrees = a[1].number();
         return real(elliptical(a[0], a[2], cholesky(a[3]), &degrees));
       }},
      {"multi_student_t_cholesky",
       [](V a) {
         const Number degrees = a[1].number();
         return real(elliptical(a[0], a[2], a[3], &degrees));
       }},
      {"multi_gp", [](V a) { return real(process_density(a[0], cholesky(a[1]), a[2])); }},
      {"multi_gp_cholesky", [](V a) { return real(process_density(a[0], a[1], a[2])); }},
      {"dirichlet", [](V a) { return real(dirichlet_density(a)); }},
      {"multinomial", [](V a) { return real(multinomial_mass(flat(a[0]), multivariate_logs(flat(a[1])))); }},
      {"multinomial_logit",
       [](V a) { return real(multinomial_mass(flat(a[0]), multivariate_log_softmax(flat(a[1])))); }},
      {"dirichlet_multinomial", [](V a) { return real(dirichlet_multinomial_mass(a)); }},
      {"lkj_corr",
       [](V a) {
         const Number eta = a[1].number();
         return real((eta - 1) * 2 * log_diagonal(cholesky(a[0])) - lkj_log_integral(a[0].rows, eta));
       }},
      {"lkj_corr_cholesky", [](V a) { return real(lkj_factor_density(a)); }},
      {"wishart", [](V a) { return real(wishart_density(a[0], a[1].number(), a[2], false)); }},
      {"inv_wishart", [](V a) { return real(wishart_density(a[0], a[1].number(), a[2], true)); }},
      {"wishart_cholesky", [](V a) { return real(wishart_factor_density(a, false)); }},
      {"inv_wishart_cholesky", [](V a) { return real(wishart_factor_density(a, true)); }},
      {"categorical", [](V a) { return real(categorical_mass(a[0], multivariate_logs(flat(a[1])))); }},
      {"categorical_logit",
       [](V a) { return real(categorical_mass(a[0], multivariate_log_softmax(flat(a[1])))); }},
      {"ordered_logistic", [](V a) { return real(ordered_mass(a, log_inv_logit)); }},
      {"ordered_probit", [](V a) { return real(ordered_mass(a, log_phi)); }},
  };
  return table;
}

namespace {

// alpha + x beta for each outcome; x may be one row for all.
Numbers regression_predictors(size_t outcomes, const Value& x, const Value& alpha, const Value& beta) {
  const size_t rows = x.base == Base::row_vector ? outcomes : static_cast<size_t>(x.rows);
  const Numbers line = flat(product(as_matrix(x), vector(flat(beta)))), starts = flat(alpha);
  Numbers result;
  for (size_t i = 0; i < rows; ++i)
    result.push_back((line.size() == 1 ? line[0] : line.at(i)) +
                     (starts.size() == 1 ? starts[0] : starts.at(i)));
  return result;
}

// A density of numbers over outcomes and predictors; `first` stands before the predictor, `last` behind it.
Value regression(const char* name, const Value& y, const Value* first, const Numbers& predictors,
                 const Value* last) {
  const Univariate& density = *univariate(name);
  const Numbers ys = flat(y);
  Number sum = 0;
  const auto pick = [](const Numbers& x, size_t i) { return x.size() == 1 ? x[0] : x.at(i); };
  for (size_t i = 0; i < predictors.size(); ++i) {
    Numbers point{pick(ys, i)};
    if (first) point.push_back(pick(flat(*first), i));
    point.push_back(predictors[i]);
    if (last) point.push_back(pick(flat(*last), i));
    sum += density.log_density(point.data());
  }
  return real(sum);
}

Numbers regression_line(V a, size_t x) {
  return regression_predictors(flat(a[0]).size(), a[x], a[x + 1], a[x + 2]);
}

Value regression_categorical(V a) {
  const std::vector<int64_t> ys = flat_integers(a[0]);
  const Value x = as_matrix(a[1]), line = product(x, a[3]);
  Number sum = 0;
  const size_t rows = std::max(ys.size(), static_cast<size_t>(x.rows));
  for (size_t i = 0; i < rows; ++i) {
    Numbers logits;
    for (int64_t k = 0; k < line.columns; ++k)
      logits.push_back(line.at(x.rows == 1 ? 0 : static_cast<int64_t>(i), k) +
                       a[2].numbers[static_cast<size_t>(k)]);
    sum += categorical_mass(integer(ys.size() == 1 ? ys[0] : ys.at(i)), multivariate_log_softmax(logits));
  }
  return real(sum);
}

Value regression_ordered(V a) {
  const Numbers line = regression_predictors(flat(a[0]).size(), a[1], real(0), a[2]);
  Value y = a[0];
  if (y.is_scalar() && line.size() > 1) y = integers(std::vector<int64_t>(line.size(), y.integer));
  return real(ordered_mass({y, vector(line), a[3]}, log_inv_logit));
}

}  // namespace

const BuiltinTable& regression_densities() {
  static const BuiltinTable table{
      {"normal_id_glm",
       [](V a) { return regression("normal", a[0], nullptr, regression_line(a, 1), &a[4]); }},
      {"bernoulli_logit_glm",
       [](V a) { return regression("bernoulli_logit", a[0], nullptr, regression_line(a, 1), nullptr); }},
      {"poisson_log_glm",
       [](V a) { return regression("poisson_log", a[0], nullptr, regression_line(a, 1), nullptr); }},
      {"neg_binomial_2_log_glm",
       [](V a) { return regression("neg_binomial_2_log", a[0], nullptr, regression_line(a, 1), &a[4]); }},
      {"binomial_logit_glm",
       [](V a) { return regression("binomial_logit", a[0], &a[1], regression_line(a, 2), nullptr); }},
      {"categorical_logit_glm", regression_categorical},
      {"ordered_logistic_glm", regression_ordered},
  };
  return table;
}

}  // namespace adit::stan::reference
