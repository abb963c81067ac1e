// Decompositions, pseudo-inverses, hypergeometric series and state-space models of the plain interpreter.
#include <cmath>

#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"

namespace adit::stan::reference {

namespace {

using V = const Values&;

Value tuple_value(Values parts) {
  Value tuple;
  tuple.base = Base::tuple;
  tuple.parts = std::move(parts);
  return tuple;
}

// Of full rank: v and the squares of the values are those of X'X, and u = X v / s.
struct Singular {
  Value u, s, v;
};
Singular singular(const Value& x) {
  if (x.rows < x.columns) {
    const Singular turned = singular(transposed(x));
    return {turned.v, turned.s, turned.u};
  }
  const Eigen eigen = symmetric_eigen(product(transposed(x), x));
  const int64_t count = x.columns;
  Value v = matrix(count, count);
  Numbers values;
  for (int64_t j = 0; j < count; ++j) {
    const int64_t from = count - 1 - j;
    values.push_back(sqrt(eigen.values.numbers[static_cast<size_t>(from)]));
    for (int64_t i = 0; i < count; ++i) v.at(i, j) = eigen.vectors.at(i, from);
  }
  Value u = product(x, v);
  for (int64_t j = 0; j < count; ++j)
    for (int64_t i = 0; i < x.rows; ++i) u.at(i, j) = u.at(i, j) / values[static_cast<size_t>(j)];
  return {u, vector(values), v};
}

Value pseudo_inverse(const Value& x) {
  if (x.rows < x.columns) return transposed(pseudo_inverse(transposed(x)));
  return product(inverse(product(transposed(x), x)), transposed(x));
}

// The whole series, as far as terms count.
Number hypergeometric(const Numbers& a, const Numbers& b, const Number& z) {
  Number term = 1, total = 1;
  for (int k = 0; k < 100000 && std::fabs(term.value) > 1e-20 * std::fabs(total.value); ++k) {
    for (const Number& x : a) term = term * (x + k);
    for (const Number& x : b) term = term / (x + k);
    term = term * z / (k + 1);
    total += term;
  }
  return total;
}

// y [r, T] | F [n, r], G, V (or its diagonal), W, m0, C0: the filter as in textbooks.
Value state_space(V a) {
  const Value &y = a[0], &f = a[1], &g = a[2], &w = a[4];
  Value v = a[3];
  if (v.is(Base::vector)) {
    v = matrix(y.rows, y.rows);
    for (int64_t i = 0; i < y.rows; ++i) v.at(i, i) = a[3].numbers[static_cast<size_t>(i)];
  }
  const auto add = [](const Value& p, const Value& q, double sign) {
    return zip(p, q, [&](const Number& s, const Number& t) { return s + sign * t; });
  };
  Value mean = a[5], spread = a[6];
  Number total = 0;
  for (int64_t t = 0; t < y.columns; ++t) {
    Numbers seen;
    for (int64_t i = 0; i < y.rows; ++i) seen.push_back(y.at(i, t));
    mean = product(g, mean);
    spread = add(product(product(g, spread), transposed(g)), w, 1);
    const Value variance = add(product(product(transposed(f), spread), f), v, 1);
    const Value error = add(vector(seen), product(transposed(f), mean), -1);
    const Value precision = inverse(variance);
    total += -0.5 * product(transposed(error), product(precision, error)).number() -
             0.5 * log_abs_determinant(variance) - static_cast<double>(y.rows) * half_log_two_pi;
    const Value gain = product(product(spread, f), precision);
    mean = add(mean, product(gain, error), 1);
    spread = add(spread, product(product(gain, variance), transposed(gain)), -1);
  }
  return real(total);
}

}  // namespace

const BuiltinTable& decomposition_functions() {
  static const BuiltinTable table{
      {"svd",
       [](V a) {
         const Singular s = singular(a[0]);
         return tuple_value({s.u, s.s, s.v});
       }},
      {"svd_U", [](V a) { return singular(a[0]).u; }},
      {"svd_V", [](V a) { return singular(a[0]).v; }},
      {"qr_thin",
       [](V a) {
         const Factored factored = thin_qr(a[0]);
         return tuple_value({factored.q, factored.r});
       }},
      {"qr",
       [](V a) {  // of square ones
         const Factored factored = thin_qr(a[0]);
         return tuple_value({factored.q, factored.r});
       }},
      {"eigendecompose_sym",
       [](V a) {
         const Eigen eigen = symmetric_eigen(a[0]);
         return tuple_value({eigen.vectors, eigen.values});
       }},
      {"generalized_inverse", [](V a) { return pseudo_inverse(a[0]); }},
      {"trace_dot",
       [](V a) {
         const Value all = product(a[0], a[1]);
         Number sum = 0;
         for (int64_t i = 0; i < all.rows; ++i) sum += all.at(i, i);
         return real(sum);
       }},
      {"hypergeometric_1F0", [](V a) { return real(pow(1 - a[1].number(), -a[0].number())); }},
      {"hypergeometric_2F1",
       [](V a) {
         return real(hypergeometric({a[0].number(), a[1].number()}, {a[2].number()}, a[3].number()));
       }},
      {"hypergeometric_3F2", [](V a) { return real(hypergeometric(flat(a[0]), flat(a[1]), a[2].number())); }},
      {"hypergeometric_pFq", [](V a) { return real(hypergeometric(flat(a[0]), flat(a[1]), a[2].number())); }},
      {"gaussian_dlm_obs_lpdf", state_space},
  };
  return table;
}

}  // namespace adit::stan::reference
