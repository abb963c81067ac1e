#include "stan/roots.hpp"

#include <adit/control.hpp>

#include "stan/functions/formulas.hpp"
#include "stan/functions/inverse.hpp"
#include "stan/slopes.hpp"

namespace adit::stan {

namespace {

using Equations = std::function<Tensor(const Tensor& y)>;

constexpr double first_damping = 1e-3, least_damping = 1e-15, most_damping = 1e12;
// Steps below these shares of y end the search: the errors that the next ones leave are their squares.
constexpr double small_step = 1e-9, no_step = 1e-14;

struct Search {
  Tensor y, f, damping, is_open, steps;
  Tensors list() const { return {y, f, damping, is_open, steps}; }
  static Search of(const Tensors& s) { return {s[0], s[1], s[2], s[3], s[4]}; }
};

Tensor root_row(const Tensor& of_lane) { return expand_dims(of_lane, -1); }
Tensor size_of(const Tensor& f) { return sum(square(f), {-1}); }
Tensor root_product(const Tensor& matrix, const Tensor& y) { return sum(matrix * expand_dims(y, -2), {-1}); }

// -(J' J + damping diag(J' J))^-1 J' f
Tensor damped_step(const Tensor& slopes, const Tensor& f, const Tensor& damping) {
  const int64_t n = f.dim(-1);
  Axes axes;
  for (int i = 0; i < slopes.rank() - 2; ++i) axes.push_back(i);
  axes.push_back(slopes.rank() - 1), axes.push_back(slopes.rank() - 2);
  const Tensor turned = transpose(slopes, axes), square_of = matmul(turned, slopes);
  const Tensor sizes = sum(square(slopes), {-2});  // of columns
  const Tensor scale = maximum(sizes, reduce_max(sizes, {-1}, true) * real(1e-12)) + real(1e-300);
  const Tensor diagonal = expand_dims(root_row(damping) * scale, -1) * identity_of(n);
  return -root_product(leading_inverse(square_of + diagonal), root_product(turned, f));
}

Search next_step(const Search& s, const Equations& f) {
  const Tensor move = damped_step(slopes_of(f, s.y), s.f, s.damping);
  const Tensor trial = s.y + move, there = f(trial);
  const Tensor before = size_of(s.f), is_better = size_of(there) < before;
  const auto all_below = [&](double share) {
    const Tensor allowed = real(share) * (abs(s.y) + real(share));
    return reduce_max(abs(move) / allowed, {-1}) <= real(1);
  };
  const Tensor ends = logical_or(both(is_better, all_below(small_step)),
                                 logical_or(both(logical_not(is_better), all_below(no_step)),
                                            logical_or(before == real(0), s.damping > real(most_damping))));
  const Tensor goes = s.is_open > real(0), takes = root_row(both(goes, is_better));
  const Tensor less = maximum(s.damping * real(0.1), real(least_damping)),
               more = maximum(s.damping * real(10), real(1e-9));
  return {select(takes, trial, s.y), select(takes, there, s.f),
          select(goes, select(is_better, less, more), s.damping),
          select(ends, zeros_like(s.is_open), s.is_open), s.steps + real(1)};
}

}  // namespace

Tensor root_of(const Equations& f, const Tensor& guess, const RootOptions& options) {
  const Tensor start = stop_gradient(guess), first = f(start);
  const Tensor one = ones_like(sum(start, {-1}));
  const Search begin{start, first, one * real(first_damping), one, real(0)};
  const Tensors found = while_loop(
      [&](const Tensors& list) {
        const Search s = Search::of(list);
        const Tensor is_open = s.is_open > real(0);
        return both(is_open.rank() > 0 ? any(is_open) : is_open, s.steps < real(options.most_steps));
      },
      [&](const Tensors& list) { return next_step(Search::of(list), f).list(); }, begin.list());
  const Tensor y = stop_gradient(found[0]);
  const Tensor inverse = inverse_of(stop_gradient(slopes_of(f, y)));
  const Tensor root = y - root_product(inverse, f(y));
  // A step that leads away is none, but for its derivatives.
  const Tensor size = size_of(stop_gradient(f(stop_gradient(root)))), here = size_of(stop_gradient(f(y)));
  const Tensor is_worse = root_row(here < size);
  const Tensor mended = select(is_worse, y + (root - stop_gradient(root)), root);
  const Tensor is_found = minimum(size, here) <= real(options.tolerance * options.tolerance);
  return select(root_row(is_found), mended, not_a_number());
}

}  // namespace adit::stan
