// Distributions by a simplex or by concentrations along the last axis: Dirichlet and multinomial ones.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor along_last(const Tensor& x) { return sum(x, {-1}); }

// --- dirichlet(x | a)
// --------------------------------------------------------------------------------------------
Tensor dirichlet_lpdf(const Arguments& a) {
  return total(a, elementwise(part(a, 0), part(a, 1), [](const Tensor& x, const Tensor& c) {
                 const Tensor inside = x >= real(0), safe = guarded(inside, x, 1);
                 const Tensor is_flat_edge = both(c == real(1), safe == real(0));
                 const Tensor powers = (c - real(1)) * log(select(is_flat_edge, real(1), safe));
                 // Sums of the parameters alone stay of their own size.
                 const Tensor own = domain_term(is_positive(c)) - lgamma(c);
                 const Tensor norm = lgamma(along_last(c)) + along_last(own);
                 return expand_dims(along_last(powers + support_term(inside)) + norm, -1);
               }));
}
Tensor log_dirichlet_draw(const Tensor& key, const Tensor& c) {
  const Tensor keys = random::split(key);
  const Tensor larger = stats::draw_gamma(random::row(keys, 0), c + real(1), c.shape());
  return log(larger) + log(stats::draw_open_uniform(random::row(keys, 1), c.shape())) / c;
}
Tensor dirichlet_rng(const Arguments& a) { return softmax(log_dirichlet_draw(a.key, drawing_part(a, 0).x)); }

// --- multinomial(n | theta)
// ---------------------------------------------------------------------------------------- log of the number
// of orders, and 0 where all counts are there.
Tensor log_orders(const Tensor& n) {
  const Tensor inside = n >= real(0), safe = guarded(inside, n, 0);
  return lgamma(along_last(safe) + real(1)) - along_last(lgamma(safe + real(1))) +
         along_last(support_term(inside));
}
Part multinomial_terms(const Part& n, const Part& log_theta) {
  return elementwise(n, log_theta, [](const Tensor& count, const Tensor& l) {
    return expand_dims(log_orders(count) + along_last(stats::times_log(count, l)), -1);
  });
}
Tensor multinomial_lpmf(const Arguments& a) {
  const Part theta = part(a, 1);
  const Tensor inside = both(theta.x >= real(0), theta.x <= real(1));
  return total(a, multinomial_terms(part(a, 0),
                                    {stats::log_from_zero(theta.x) + domain_term(inside), theta.in_lanes}));
}
Tensor multinomial_logit_lpmf(const Arguments& a) {
  const Part logits = part(a, 1);
  return total(a, multinomial_terms(part(a, 0), {log_softmax(logits.x), logits.in_lanes}));
}
// One class after the other: a binomial number of those that are left, by its share of the rest.
Tensor multinomial_draw(const Tensor& key, const Tensor& theta, const Tensor& count) {
  const int64_t classes = theta.dim(-1);
  const Tensor keys = random::split(key, classes + 1);
  const Shape shape = stats::leading(theta, 1);
  const auto at = [&](int64_t i) {
    Dims begin = Dims::filled(theta.rank(), 0), length = theta.shape();
    begin[theta.rank() - 1] = i;
    length[theta.rank() - 1] = 1;
    return squeeze(slice(theta, begin, length), {-1});
  };
  Tensor left = broadcast_to(count, shape), rest = along_last(theta);
  std::vector<Tensor> counts;
  for (int64_t i = 0; i + 1 < classes; ++i) {
    const Tensor share = clip(at(i) / select(is_positive(rest), rest, real(1)), real(0), real(1));
    const Tensor drawn = stats::draw_binomial(random::row(keys, i), left, share, shape);
    counts.push_back(drawn);
    left = left - drawn;
    rest = rest - at(i);
  }
  counts.push_back(left);
  return as_type(stack(counts, -1), DType::i64);
}
Tensor multinomial_rng(const Arguments& a) {
  return multinomial_draw(a.key, drawing_part(a, 0).x, drawing_part(a, 1).x);
}
Tensor multinomial_logit_rng(const Arguments& a) {
  return multinomial_draw(a.key, softmax(drawing_part(a, 0).x), drawing_part(a, 1).x);
}

// --- dirichlet_multinomial(n | a)
// --------------------------------------------------------------------------------------
Tensor dirichlet_multinomial_lpmf(const Arguments& a) {
  return total(a, elementwise(part(a, 0), part(a, 1), [](const Tensor& n, const Tensor& c) {
                 const Tensor domain = is_positive(c), shape = guarded(domain, c, 1);
                 const Tensor count = maximum(n, real(0));
                 const Tensor each = log_rising(shape, count) + domain_term(domain);
                 return expand_dims(
                     log_orders(n) + along_last(each) - log_rising(along_last(shape), along_last(count)), -1);
               }));
}
Tensor dirichlet_multinomial_rng(const Arguments& a) {
  const Tensor keys = random::split(a.key);
  const Tensor theta = softmax(log_dirichlet_draw(random::row(keys, 0), drawing_part(a, 0).x));
  return multinomial_draw(random::row(keys, 1), theta, drawing_part(a, 1).x);
}

constexpr std::array simplex_table{
    GeneralFunction{"dirichlet_lpdf", dirichlet_lpdf},
    GeneralFunction{"dirichlet_multinomial_lpmf", dirichlet_multinomial_lpmf},
    GeneralFunction{"dirichlet_multinomial_rng", dirichlet_multinomial_rng},
    GeneralFunction{"dirichlet_rng", dirichlet_rng},
    GeneralFunction{"multinomial_logit_lpmf", multinomial_logit_lpmf},
    GeneralFunction{"multinomial_logit_rng", multinomial_logit_rng},
    GeneralFunction{"multinomial_lpmf", multinomial_lpmf},
    GeneralFunction{"multinomial_rng", multinomial_rng},
};

}  // namespace

std::span<const GeneralFunction> simplex_functions() { return simplex_table; }

}  // namespace adit::stan
