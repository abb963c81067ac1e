// The maps of constrained declarations as functions: to where a variable may lie, back, and the logarithm of
// the Jacobian, of which `name_jacobian` adds the sum to the target (Evaluator::with_jacobian).
#include <array>

#include <adit/transform.hpp>

#include "stan/constraints.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

using Kind = Transform::Kind;

bool is_one_longer(Kind kind) { return kind == Kind::simplex || kind == Kind::sum_to_zero_vector; }
bool takes_sizes(Kind kind) {
  return kind == Kind::cholesky_factor_corr || kind == Kind::cholesky_factor_cov ||
         kind == Kind::corr_matrix || kind == Kind::cov_matrix;
}

// A map of some arguments: the numbers that it takes, and the shape of what it makes of them.
struct TransformCall {
  Constraint constraint;
  Part from;
  Shape to;
};

Kind kind_at(const Arguments& a, Kind kind) {
  const bool is_matrix = a.types[0].base == Base::matrix;
  return kind == Kind::sum_to_zero_vector && is_matrix ? Kind::sum_to_zero_matrix : kind;
}

TransformCall transform_call(const Arguments& a, Kind given) {
  const Kind kind = kind_at(a, given);
  TransformCall call{constraint_of(kind, Tensor(), Tensor()), part(a, 0), {}};
  Tensor& u = call.from.x;
  call.to = u.shape();
  if (takes_sizes(kind)) {
    const int64_t rows = size_argument(a, 1), columns = a.size() > 2 ? size_argument(a, 2) : rows;
    call.to[call.to.size() - 1] = rows;
    call.to.push_back(columns);
  } else if (kind == Kind::sum_to_zero_matrix) {
    call.to[call.to.size() - 1] += 1;
    call.to[call.to.size() - 2] += 1;
  } else if (kind == Kind::column_stochastic_matrix) {
    call.to[call.to.size() - 2] += 1;
    u = transposed(call.from).x;  // that constraint takes them column by column
  } else if (is_one_longer(kind) || kind == Kind::row_stochastic_matrix) {
    call.to[call.to.size() - 1] += 1;
  }
  const Shape wanted = call.constraint.unconstrained_shape(call.to);
  if (wanted.back() != u.dim(-1))
    throw Error(ErrorKind::bad_argument, "sizes");  // Evaluator::general tells them
  return call;
}

template <Kind kind>
Tensor transform_constrain(const Arguments& a) {
  const TransformCall call = transform_call(a, kind);
  return finished(a, {call.constraint.constrain(call.from.x, call.to).value, call.from.in_lanes});
}

// Lane by lane.
template <Kind kind>
Tensor transform_log_determinant(const Arguments& a) {
  const TransformCall call = transform_call(a, kind);
  Shape own = call.to;
  if (call.from.in_lanes) own.erase(0);
  const adit::Function one = [&](const Tensors& u) {
    return Tensors{call.constraint.constrain(u[0], own).log_jacobian};
  };
  const Tensor log = call.from.in_lanes ? vmap_of(one, {call.from.x}, {0})[0] : one({call.from.x})[0];
  return finished(a, {log, call.from.in_lanes});
}

template <Kind given>
Tensor transform_unconstrain(const Arguments& a) {
  const Kind kind = kind_at(a, given);
  const Part x = part(a, 0);
  const Part u{constraint_of(kind, Tensor(), Tensor()).unconstrain(x.x), x.in_lanes};
  return finished(a, kind == Kind::column_stochastic_matrix ? transposed(u) : u);
}

constexpr std::array transform_table{
    GeneralFunction{"cholesky_factor_corr_constrain", transform_constrain<Kind::cholesky_factor_corr>},
    GeneralFunction{"cholesky_factor_corr_log_determinant",
                    transform_log_determinant<Kind::cholesky_factor_corr>},
    GeneralFunction{"cholesky_factor_corr_unconstrain", transform_unconstrain<Kind::cholesky_factor_corr>},
    GeneralFunction{"cholesky_factor_cov_constrain", transform_constrain<Kind::cholesky_factor_cov>},
    GeneralFunction{"cholesky_factor_cov_log_determinant",
                    transform_log_determinant<Kind::cholesky_factor_cov>},
    GeneralFunction{"cholesky_factor_cov_unconstrain", transform_unconstrain<Kind::cholesky_factor_cov>},
    GeneralFunction{"corr_matrix_constrain", transform_constrain<Kind::corr_matrix>},
    GeneralFunction{"corr_matrix_log_determinant", transform_log_determinant<Kind::corr_matrix>},
    GeneralFunction{"corr_matrix_unconstrain", transform_unconstrain<Kind::corr_matrix>},
    GeneralFunction{"cov_matrix_constrain", transform_constrain<Kind::cov_matrix>},
    GeneralFunction{"cov_matrix_log_determinant", transform_log_determinant<Kind::cov_matrix>},
    GeneralFunction{"cov_matrix_unconstrain", transform_unconstrain<Kind::cov_matrix>},
    GeneralFunction{"ordered_constrain", transform_constrain<Kind::ordered>},
    GeneralFunction{"ordered_log_determinant", transform_log_determinant<Kind::ordered>},
    GeneralFunction{"ordered_unconstrain", transform_unconstrain<Kind::ordered>},
    GeneralFunction{"positive_ordered_constrain", transform_constrain<Kind::positive_ordered>},
    GeneralFunction{"positive_ordered_log_determinant", transform_log_determinant<Kind::positive_ordered>},
    GeneralFunction{"positive_ordered_unconstrain", transform_unconstrain<Kind::positive_ordered>},
    GeneralFunction{"simplex_constrain", transform_constrain<Kind::simplex>},
    GeneralFunction{"simplex_log_determinant", transform_log_determinant<Kind::simplex>},
    GeneralFunction{"simplex_unconstrain", transform_unconstrain<Kind::simplex>},
    GeneralFunction{"stochastic_column_constrain", transform_constrain<Kind::column_stochastic_matrix>},
    GeneralFunction{"stochastic_column_log_determinant",
                    transform_log_determinant<Kind::column_stochastic_matrix>},
    GeneralFunction{"stochastic_column_unconstrain", transform_unconstrain<Kind::column_stochastic_matrix>},
    GeneralFunction{"stochastic_row_constrain", transform_constrain<Kind::row_stochastic_matrix>},
    GeneralFunction{"stochastic_row_log_determinant", transform_log_determinant<Kind::row_stochastic_matrix>},
    GeneralFunction{"stochastic_row_unconstrain", transform_unconstrain<Kind::row_stochastic_matrix>},
    GeneralFunction{"sum_to_zero_constrain", transform_constrain<Kind::sum_to_zero_vector>},
    GeneralFunction{"sum_to_zero_log_determinant", transform_log_determinant<Kind::sum_to_zero_vector>},
    GeneralFunction{"sum_to_zero_unconstrain", transform_unconstrain<Kind::sum_to_zero_vector>},
    GeneralFunction{"unit_vector_constrain", transform_constrain<Kind::unit_vector>},
    GeneralFunction{"unit_vector_log_determinant", transform_log_determinant<Kind::unit_vector>},
    GeneralFunction{"unit_vector_unconstrain", transform_unconstrain<Kind::unit_vector>},
};

}  // namespace

std::span<const GeneralFunction> transform_functions() { return transform_table; }

// --- Bounds, element by element. An infinite one is none.
// ----------------------------------------------------

Tensor lower_bound_constrain(const Tensor& u, const Tensor& low) {
  const Tensor is_bound = low > minus_infinity();
  return select(is_bound, guarded(is_bound, low, 0) + exp(guarded(is_bound, u, 0)), u);
}
Tensor lower_bound_log_determinant(const Tensor& u, const Tensor& low) {
  return select(low > minus_infinity(), u, real(0));
}
Tensor lower_bound_unconstrain(const Tensor& x, const Tensor& low) {
  const Tensor is_bound = low > minus_infinity();
  return select(is_bound, log(guarded(is_bound, x, 1) - guarded(is_bound, low, 0)), x);
}
Tensor upper_bound_constrain(const Tensor& u, const Tensor& high) {
  const Tensor is_bound = high < infinity();
  return select(is_bound, guarded(is_bound, high, 0) - exp(guarded(is_bound, u, 0)), u);
}
Tensor upper_bound_log_determinant(const Tensor& u, const Tensor& high) {
  return select(high < infinity(), u, real(0));
}
Tensor upper_bound_unconstrain(const Tensor& x, const Tensor& high) {
  const Tensor is_bound = high < infinity();
  return select(is_bound, log(guarded(is_bound, high, 1) - guarded(is_bound, x, 0)), x);
}

namespace {

// What two bounds make where both are there, and what one of them makes elsewhere.
Tensor by_bounds(const Tensor& low, const Tensor& high, const Tensor& of_both, const Tensor& of_low,
                 const Tensor& of_high) {
  return select(high < infinity(), select(low > minus_infinity(), of_both, of_high), of_low);
}
// The width of the interval, and its lower end; 1 and 0 where there is none.
Tensor width_of(const Tensor& low, const Tensor& high, Tensor& from) {
  const Tensor are_both = both(low > minus_infinity(), high < infinity());
  from = guarded(are_both, low, 0);
  return guarded(are_both, high, 1) - from;
}

}  // namespace

Tensor lower_upper_bound_constrain(const Tensor& u, const Tensor& low, const Tensor& high) {
  Tensor from;
  const Tensor width = width_of(low, high, from);
  return by_bounds(low, high, from + width * sigmoid(u), lower_bound_constrain(u, low),
                   upper_bound_constrain(u, high));
}
Tensor lower_upper_bound_log_determinant(const Tensor& u, const Tensor& low, const Tensor& high) {
  Tensor from;
  const Tensor width = width_of(low, high, from);
  return by_bounds(low, high, log(width) + u - real(2) * softplus(u), lower_bound_log_determinant(u, low),
                   upper_bound_log_determinant(u, high));
}
Tensor lower_upper_bound_unconstrain(const Tensor& x, const Tensor& low, const Tensor& high) {
  Tensor from;
  const Tensor width = width_of(low, high, from);
  const Tensor are_both = both(low > minus_infinity(), high < infinity());
  const Tensor inside = guarded(are_both, x, 0.5);
  return by_bounds(low, high, log(inside - from) - log(from + width - inside),
                   lower_bound_unconstrain(x, low), upper_bound_unconstrain(x, high));
}
Tensor offset_multiplier_constrain(const Tensor& u, const Tensor& offset, const Tensor& scale) {
  return offset + scale * u;
}
// As many as there are numbers.
Tensor offset_multiplier_log_determinant(const Tensor& u, const Tensor& offset, const Tensor& scale) {
  return log(scale) + real(0) * (u + offset);
}
Tensor offset_multiplier_unconstrain(const Tensor& x, const Tensor& offset, const Tensor& scale) {
  return (x - offset) / scale;
}

}  // namespace adit::stan
