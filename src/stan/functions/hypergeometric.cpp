// Hypergeometric functions: the sum of prod (a)_k / prod (b)_k z^k / k! over k, term by term until they no
// longer count, where it converges; else NaN.
#include <array>

#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr int terms_a_round = 16;  // of 1023 rounds that a density keeps

// a [..., p], b [..., q], z [...]; all lead with the same lanes.
Tensor series_of(const Tensor& a, const Tensor& b, const Tensor& z) {
  const auto next_term = [&](const Tensor& term, const Tensor& k) {
    Tensor factor = z / (k + real(1));
    if (a.dim(-1) > 0) factor = factor * product(a + k, {-1});
    if (b.dim(-1) > 0) factor = factor / product(b + k, {-1});
    return term * factor;
  };
  const Tensor one = ones_like(z);
  const Tensors done = while_loop(
      [&](const Tensors& s) {
        // A term of nothing ends it; so does what is no number.
        const Tensor counts = abs(s[1]) > abs(s[0]) * real(0x1p-56);
        return both(z.rank() > 0 ? any(counts) : counts, s[2] < real(1023 * terms_a_round));
      },
      [&](const Tensors& s) -> Tensors {
        Tensor total = s[0], term = s[1];
        for (int i = 0; i < terms_a_round; ++i) {
          term = next_term(term, s[2] + real(i));
          total = total + term;
        }
        return {total, term, s[2] + real(terms_a_round)};
      },
      {one, one, real(0)});
  // Of terms that were still growing, or too many, there is no sum.
  const Tensor last = abs(stop_gradient(done[1])), total = abs(stop_gradient(done[0]));
  return select(last <= total * real(1e-12), done[0], not_a_number());
}

Tensor with_axis(const Tensor& x) { return expand_dims(x, -1); }

// For z < 0 with Pfaff's (1 - z)^-a F(a, c - b; c; z / (z - 1)): there terms of one sign are few. At 1
// Gauss's sum.
Tensor gauss_function(const Tensor& a, const Tensor& b, const Tensor& c, const Tensor& z) {
  const Tensor is_turned = z < real(0), is_end = both(z == real(1), c > a + b);
  const Tensor inside = select(is_end, real(0), z),
               at = select(is_turned, inside / (inside - real(1)), inside);
  const Tensor other = select(is_turned, c - b, b);
  const Tensor lower = concatenate({with_axis(a), with_axis(other)}, -1);
  // Numbers of terms that are known: whatever z is.
  const auto ends = [](const Tensor& x) { return both(x <= real(0), x == floor(x)); };
  const Tensor is_short = both(logical_not(is_turned), logical_or(ends(a), ends(b)));
  const Tensor is_convergent = logical_or(abs(stop_gradient(at)) < real(1), is_short);
  const Tensor sum_of = series_of(lower, with_axis(c), select(is_convergent, at, real(0)));
  const Tensor front = select(is_turned, pow(real(1) - select(is_turned, z, real(0)), -a), real(1));
  const Tensor over = select(is_end, c, real(3)), first = select(is_end, a, real(1)),
               second = select(is_end, b, real(1));
  const auto gamma_of = [](const Tensor& x) { return sign_of_gamma(x) * exp(lgamma(x)); };
  const Tensor at_end =
      gamma_of(over) * gamma_of(over - first - second) / (gamma_of(over - first) * gamma_of(over - second));
  return select(is_end, at_end, select(is_convergent, front * sum_of, not_a_number()));
}

Tensor lifted_real(const Arguments& a, size_t i) { return finished(a, part(a, i)); }

Tensor hypergeometric_1f0(const Arguments& a) {
  const Tensor z = lifted_real(a, 1), is_inside = z < real(1);
  const Tensor value = exp(-lifted_real(a, 0) * log1p(-select(is_inside, z, real(0))));
  return select(is_inside, value, not_a_number());
}
Tensor hypergeometric_2f1(const Arguments& a) {
  return gauss_function(lifted_real(a, 0), lifted_real(a, 1), lifted_real(a, 2), lifted_real(a, 3));
}
Tensor hypergeometric_pfq(const Arguments& a) {
  const Tensor upper = lifted_real(a, 0), lower = lifted_real(a, 1), z = lifted_real(a, 2);
  const int64_t p = upper.dim(-1), q = lower.dim(-1);
  // More above than below: it ends where one of them is a whole number below 0, else nowhere but at 0.
  const Tensor is_inside = p == q + 1 ? abs(z) < real(1) : p > q + 1 ? z == real(0) : is_finite(z);
  const Tensor ends =
      p > 0 ? reduce_max(as_type(both(upper <= real(0), upper == floor(upper)), DType::f64), {-1}) > real(0)
            : logical_not(is_inside);
  const Tensor has_sum = logical_or(is_inside, ends);
  return select(has_sum, series_of(upper, lower, select(has_sum, z, real(0))), not_a_number());
}

constexpr std::array hypergeometric_table{
    GeneralFunction{"hypergeometric_1F0", hypergeometric_1f0},
    GeneralFunction{"hypergeometric_2F1", hypergeometric_2f1},
    GeneralFunction{"hypergeometric_3F2", hypergeometric_pfq},
    GeneralFunction{"hypergeometric_pFq", hypergeometric_pfq},
};

}  // namespace

std::span<const GeneralFunction> hypergeometric_functions() { return hypergeometric_table; }

}  // namespace adit::stan
