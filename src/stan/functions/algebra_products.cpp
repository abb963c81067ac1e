// Products of matrices, quadratic forms, diagonals.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor product_crossprod(const Arguments& a) {
  const Part x = part(a, 0);
  return finished(a, times(transposed(x), x));
}
Tensor product_tcrossprod(const Arguments& a) {
  const Part x = part(a, 0);
  return finished(a, times(x, transposed(x)));
}
Tensor product_lower_self(const Arguments& a) {
  const Part x = part(a, 0), low{lower_triangle(x.x), x.in_lanes};
  return finished(a, times(low, transposed(low)));
}

// b' a b of a matrix b, or of a vector: a number.
Part form_of(const Part& a, const Part& b) {
  if (b.axes() == 2) return times(transposed(b), times(a, b));
  const Part inner =
      elementwise(b, times_vector(a, b), [](const Tensor& x, const Tensor& y) { return x * y; });
  return {sum(inner.x, {-1}), inner.in_lanes};
}
Part trace_of(const Part& p) { return {sum(diagonal_of(p.x), {-1}), p.in_lanes}; }
Tensor product_quad_form(const Arguments& a) { return finished(a, form_of(part(a, 0), part(a, 1))); }
Tensor product_quad_form_sym(const Arguments& a) {
  const Part form = form_of(part(a, 0), part(a, 1));
  if (form.axes() == 0) return finished(a, form);
  return finished(a, {real(0.5) * (form.x + transposed(form).x), form.in_lanes});
}
Tensor product_trace_quad_form(const Arguments& a) {
  const Part form = form_of(part(a, 0), part(a, 1));
  return finished(a, form.axes() == 0 ? form : trace_of(form));
}
// trace(d b' a b)
Tensor product_trace_gen_quad_form(const Arguments& a) {
  return finished(a, trace_of(times(part(a, 0), form_of(part(a, 1), part(a, 2)))));
}
Tensor product_trace(const Arguments& a) { return finished(a, trace_of(part(a, 0))); }

// trace(a b): the sum of the products of a and b'.
Tensor product_trace_dot(const Arguments& a) {
  return total(a, elementwise(part(a, 0), transposed(part(a, 1)),
                              [](const Tensor& p, const Tensor& q) { return p * q; }));
}

Part scaled(const Part& x, const Part& by) {
  return elementwise(x, by, [](const Tensor& p, const Tensor& q) { return p * q; });
}
Tensor product_diag_pre(const Arguments& a) { return finished(a, scaled(part(a, 1), as_column(part(a, 0)))); }
Tensor product_diag_post(const Arguments& a) { return finished(a, scaled(part(a, 0), as_row(part(a, 1)))); }
Tensor product_quad_form_diag(const Arguments& a) {
  const Part v = part(a, 1);
  return finished(a, scaled(scaled(part(a, 0), as_column(v)), as_row(v)));
}
// A vector or one number on the diagonal.
Tensor product_add_diag(const Arguments& a) {
  const Part m = part(a, 0), v = part(a, 1);
  const Tensor row = iota({m.x.dim(-2), m.x.dim(-1)}, DType::i32, 0);
  const Tensor column = iota({m.x.dim(-2), m.x.dim(-1)}, DType::i32, 1);
  const Part along = v.axes() == 0 ? widened(v, 2) : m.x.dim(-2) <= m.x.dim(-1) ? as_column(v) : as_row(v);
  return finished(a, elementwise(m, along, [&](const Tensor& x, const Tensor& d) {
                    return x + select(row == column, d, real(0));
                  }));
}
Tensor product_diag_matrix(const Arguments& a) {
  const Part v = part(a, 0);
  return finished(a, {diagonal_matrix(v.x), v.in_lanes});
}
Tensor product_diagonal(const Arguments& a) {
  const Part m = part(a, 0);
  return finished(a, {diagonal_of(m.x), m.in_lanes});
}

constexpr std::array product_table{
    GeneralFunction{"add_diag", product_add_diag},
    GeneralFunction{"crossprod", product_crossprod},
    GeneralFunction{"diag_matrix", product_diag_matrix},
    GeneralFunction{"diag_post_multiply", product_diag_post},
    GeneralFunction{"diag_pre_multiply", product_diag_pre},
    GeneralFunction{"diagonal", product_diagonal},
    GeneralFunction{"multiply_lower_tri_self_transpose", product_lower_self},
    GeneralFunction{"quad_form", product_quad_form},
    GeneralFunction{"quad_form_diag", product_quad_form_diag},
    GeneralFunction{"quad_form_sym", product_quad_form_sym},
    GeneralFunction{"tcrossprod", product_tcrossprod},
    GeneralFunction{"trace", product_trace},
    GeneralFunction{"trace_dot", product_trace_dot},
    GeneralFunction{"trace_gen_quad_form", product_trace_gen_quad_form},
    GeneralFunction{"trace_quad_form", product_trace_quad_form},
};

}  // namespace

std::span<const GeneralFunction> product_functions() { return product_table; }

}  // namespace adit::stan
