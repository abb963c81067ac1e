// Sums, means and products of containers, and functions along one axis.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

using Reduction = Tensor (*)(const Tensor& x, const Axes& axes);

// Over all own axes. Integers stay integers; a number is its own sum.
Tensor reduced(const Arguments& a, const Part& p, Reduction f) {
  return finished(a, {p.axes() == 0 ? p.x : f(p.x, own_axes(p)), p.in_lanes});
}
int64_t own_count(const Part& p) {
  int64_t count = 1;
  for (int i = 1; i <= p.axes(); ++i) count *= p.x.dim(-i);
  return count;
}

Tensor reduce_sum(const Arguments& a) {
  return reduced(a, whole_part(a, 0), [](const Tensor& x, const Axes& axes) { return sum(x, axes); });
}
Tensor reduce_prod(const Arguments& a) {
  return reduced(a, whole_part(a, 0), [](const Tensor& x, const Axes& axes) { return product(x, axes); });
}
Tensor reduce_mean(const Arguments& a) {
  return reduced(a, part(a, 0), [](const Tensor& x, const Axes& axes) { return mean(x, axes); });
}
Part variance_part(const Arguments& a) {
  const Part p = part(a, 0);
  if (own_count(p) > 1) return {variance(p.x, own_axes(p), false, 1), p.in_lanes};
  return {p.axes() == 0 ? p.x - p.x : sum(p.x - p.x, own_axes(p)), p.in_lanes};
}
Tensor reduce_variance(const Arguments& a) { return finished(a, variance_part(a)); }
Tensor reduce_sd(const Arguments& a) {
  const Part v = variance_part(a);
  return finished(a, {root_from_zero(v.x), v.in_lanes});
}

// One container, or two numbers. Of nothing: the far end.
Tensor extreme(const Arguments& a, bool largest) {
  const Part p = whole_part(a, 0);
  if (a.size() == 2)
    return finished(a, elementwise(p, whole_part(a, 1), [&](const Tensor& x, const Tensor& y) {
                      return largest ? maximum(x, y) : minimum(x, y);
                    }));
  if (own_count(p) == 0) {
    const Tensor end = largest ? minus_infinity() : infinity();
    return finished(a, {p.in_lanes ? broadcast_to(end, {a.lanes}) : end, p.in_lanes});
  }
  if (largest) return reduced(a, p, [](const Tensor& x, const Axes& axes) { return reduce_max(x, axes); });
  return reduced(a, p, [](const Tensor& x, const Axes& axes) { return reduce_min(x, axes); });
}
Tensor reduce_largest(const Arguments& a) { return extreme(a, true); }
Tensor reduce_smallest(const Arguments& a) { return extreme(a, false); }

// Sharp where all are -infinity or one is infinite.
Tensor log_sum_exp_along(const Tensor& x, const Axes& axes) {
  const Tensor most = stop_gradient(reduce_max(x, axes, true)),
               shift = select(is_finite(most), most, real(0));
  return log_of_powers(sum(exp(x - shift), axes)) + squeeze(shift, axes);
}
Tensor reduce_log_sum_exp(const Arguments& a) {
  const Part p = part(a, 0);
  if (a.size() == 2) return finished(a, elementwise(p, part(a, 1), log_sum_exp_of_two));
  if (own_count(p) == 0) {
    const Tensor end = minus_infinity();
    return finished(a, {p.in_lanes ? broadcast_to(end, {a.lanes}) : end, p.in_lanes});
  }
  return reduced(a, p, log_sum_exp_along);
}

Tensor reduce_norm1(const Arguments& a) {
  return reduced(a, part(a, 0), [](const Tensor& x, const Axes& axes) { return sum(abs(x), axes); });
}
Part squared_sum(const Part& p) {
  return {p.axes() == 0 ? square(p.x) : sum(square(p.x), own_axes(p)), p.in_lanes};
}
Tensor reduce_norm2(const Arguments& a) {
  const Part squares = squared_sum(part(a, 0));
  return finished(a, {root_from_zero(squares.x), squares.in_lanes});
}
Tensor reduce_dot_self(const Arguments& a) { return finished(a, squared_sum(part(a, 0))); }

Tensor reduce_dot_product(const Arguments& a) {
  const Part x = part(a, 0), y = part(a, 1);
  if (x.in_lanes != y.in_lanes) {
    const Part &many = x.in_lanes ? x : y, &one = x.in_lanes ? y : x;
    return dot(many.x, {1}, {}, one.x, {0}, {});
  }
  return finished(a, {sum(x.x * y.x, {-1}), x.in_lanes});
}
Part difference_squared(const Arguments& a) {
  const Part d = elementwise(part(a, 0), part(a, 1), [](const Tensor& x, const Tensor& y) { return x - y; });
  return squared_sum(d);
}
Tensor reduce_squared_distance(const Arguments& a) { return finished(a, difference_squared(a)); }
Tensor reduce_distance(const Arguments& a) {
  const Part squares = difference_squared(a);
  return finished(a, {root_from_zero(squares.x), squares.in_lanes});
}

// Of two matrices, or of two vectors as matrices of one column (row).
Tensor dots_along(const Arguments& a, size_t second, int axis) {
  const Part x = part(a, 0), y = part(a, second);
  const Part products = elementwise(x, y, [](const Tensor& p, const Tensor& q) { return p * q; });
  if (products.axes() == 2) return finished(a, {sum(products.x, {axis}), products.in_lanes});
  const bool is_column = a.types[0].base == Base::vector;
  if (is_column == (axis == -1)) return finished(a, products);  // one product each
  return finished(a, {sum(products.x, {-1}, true), products.in_lanes});
}
Tensor reduce_rows_dot_product(const Arguments& a) { return dots_along(a, 1, -1); }
Tensor reduce_columns_dot_product(const Arguments& a) { return dots_along(a, 1, -2); }
Tensor reduce_rows_dot_self(const Arguments& a) { return dots_along(a, 0, -1); }
Tensor reduce_columns_dot_self(const Arguments& a) { return dots_along(a, 0, -2); }

// Sums of neighbours 1, 2, 4, ... apart.
Tensor reduce_cumulative_sum(const Arguments& a) {
  const Part p = whole_part(a, 0);
  const int64_t count = p.x.dim(-1);
  Tensor sums = p.x;
  for (int64_t step = 1; step < count; step *= 2) {
    std::vector<Padding> padding(static_cast<size_t>(sums.rank()));
    padding.back() = {step, -step, 0};
    sums = sums + pad(sums, full({}, 0, sums.dtype()), padding);
  }
  return finished(a, {sums, p.in_lanes});
}

// Along the last axis; an array of vectors has one each.
Tensor reduce_softmax(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {softmax(p.x), p.in_lanes});
}
Tensor reduce_log_softmax(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {log_softmax(p.x), p.in_lanes});
}

// log_mix(theta, a, b) of numbers; log_mix(theta, lp) of a simplex with the components' log densities, or
// with an array of such vectors, whose mixtures are summed.
Tensor reduce_log_mix(const Arguments& a) {
  const Part theta = part(a, 0), lp = part(a, 1);
  if (a.size() == 3)
    return finished(a,
                    elementwise(theta, lp, part(a, 2), [](const Tensor& t, const Tensor& x, const Tensor& y) {
                      return log_sum_exp_of_two(stats::log_from_zero(t) + x, stats::log1m_to_one(t) + y);
                    }));
  const Part terms = elementwise({stats::log_from_zero(theta.x), theta.in_lanes}, lp,
                                 [](const Tensor& t, const Tensor& x) { return t + x; });
  return total(a, {log_sum_exp_along(terms.x, {-1}), terms.in_lanes});
}

constexpr std::array reduction_table{
    GeneralFunction{"columns_dot_product", reduce_columns_dot_product},
    GeneralFunction{"columns_dot_self", reduce_columns_dot_self},
    GeneralFunction{"cumulative_sum", reduce_cumulative_sum},
    GeneralFunction{"distance", reduce_distance},
    GeneralFunction{"dot_product", reduce_dot_product},
    GeneralFunction{"dot_self", reduce_dot_self},
    GeneralFunction{"log_mix", reduce_log_mix},
    GeneralFunction{"log_softmax", reduce_log_softmax},
    GeneralFunction{"log_sum_exp", reduce_log_sum_exp},
    GeneralFunction{"max", reduce_largest},
    GeneralFunction{"mean", reduce_mean},
    GeneralFunction{"min", reduce_smallest},
    GeneralFunction{"norm1", reduce_norm1},
    GeneralFunction{"norm2", reduce_norm2},
    GeneralFunction{"prod", reduce_prod},
    GeneralFunction{"rows_dot_product", reduce_rows_dot_product},
    GeneralFunction{"rows_dot_self", reduce_rows_dot_self},
    GeneralFunction{"sd", reduce_sd},
    GeneralFunction{"softmax", reduce_softmax},
    GeneralFunction{"squared_distance", reduce_squared_distance},
    GeneralFunction{"sum", reduce_sum},
    GeneralFunction{"variance", reduce_variance},
};

}  // namespace

std::span<const GeneralFunction> reduction_functions() { return reduction_table; }

}  // namespace adit::stan
