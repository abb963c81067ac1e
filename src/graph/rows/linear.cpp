// Factorisations with several results, and solutions of systems: lu, qr, eigh, svd, eig, solve.
//
// Gradients here are such that dL = Re(sum(g dx)), without a conjugate, as everywhere; the formulas below are
// for dL = Re(tr(G^H dX)), so cotangents are conjugated on the way in and gradients on the way out.
#include "graph/op.hpp"
#include "graph/rows/matrices.hpp"

namespace adit::graph {

namespace linear {
namespace {

using namespace matrices;
using Operands = std::vector<Tensor>;

// Cotangents of real numbers beside complex matrices.
Tensor as_type_of(const Tensor& x, const Tensor& like) { return as_type(x, like.dtype()); }

Tensor left_solve(const Tensor& triangle, const Tensor& b, bool lower, bool transpose) {
  return triangular_solve(triangle, b, {.lower = lower, .left_side = true, .transpose = transpose});
}
Tensor right_solve(const Tensor& triangle, const Tensor& b, bool lower, bool transpose) {
  return triangular_solve(triangle, b, {.lower = lower, .left_side = false, .transpose = transpose});
}

Tensor batch(const Node& node, const Operands& operands, int64_t) {
  return node_of(make_several(node.op, operands, node.attributes)[0]).operands[0];
}

// --- solve -------------------------------------------------------------------------------------------------
DType solve_type(std::string_view op, const Operands& x, const Attributes&) {
  expect_square(op, x[0]);
  if (x[1].dtype() != x[0].dtype())
    fail(op, "b",
         fmt::format("expected {}, the type of a, got {}", name_of(x[0].dtype()), name_of(x[1].dtype())));
  return x[0].dtype();
}

Shape solve_shape(std::string_view op, const Operands& x, const Attributes&) {
  const Tensor &a = x[0], &b = x[1];
  if (b.rank() != a.rank() || !(without_matrix(a.shape()) == without_matrix(b.shape())) ||
      b.dim(-2) != a.dim(-1))
    fail(op, "b",
         fmt::format("expected matrices that fit a's shape {}, got shape {}", to_string(a.shape()),
                     to_string(b.shape())));
  return b.shape();
}

// a x = b: the gradient of b solves with a's transpose; that of a is -(grad b) x^T.
Operands solve_vjp(const Tensor& x, const Operands& operands, const Tensor& g) {
  const Tensor grad_b = make(Op::solve, {swapped(operands[0]), g});
  return {negate(product(grad_b, swapped(x))), grad_b};
}

Tensor solve_batch(const Node& node, const Operands& operands, int64_t) {
  return make(Op::solve, operands, node.attributes);
}

// --- lu ----------------------------------------------------------------------------------------------------
std::vector<Slot> lu_results(std::string_view op, const Operands& x, const Attributes&) {
  expect_square(op, x[0]);
  const Shape& shape = x[0].shape();
  return {{x[0].dtype(), shape},
          {DType::i32, with_vector(shape, x[0].dim(-1))},
          {DType::i32, without_matrix(shape)}};
}

Tensor with_ones(const Tensor& packed) {  // l of the packed factors
  const Tensor strict = lower_part(packed, 1);
  return select(on_diagonal(packed.shape()), ones_like(packed), strict);
}

// Row i of x goes to row permutation[i]: sorting the permutation tells who comes where.
Tensor rows_to(const Tensor& x, const Tensor& permutation) {
  const int last = permutation.rank() - 1;
  const Tensor from = make_several(Op::sort, {permutation}, SortAttributes{last, false})[1];
  return take_along_axis(x, broadcast_to(expand_dims(from, -1), x.shape()), x.rank() - 2);
}

// x = p l u. With W = tril_strict(l^H L') + triu(U' u^H): the gradient is p l^-H W u^-H.
Operands lu_vjp(const Operands& results, const Operands&, const Operands& g) {
  if (!g[0]) return {Tensor()};
  const Tensor l = with_ones(results[0]), u = upper_part(results[0]), cotangent = conjugated(g[0]);
  const Tensor w = lower_part(product(adjoint(l), lower_part(cotangent, 1)), 1) +
                   upper_part(product(upper_part(cotangent), adjoint(u)));
  const Tensor left = left_solve(conjugated(l), w, true, true);
  const Tensor both = right_solve(conjugated(u), left, false, true);
  return {conjugated(rows_to(both, results[1]))};
}

// --- qr ----------------------------------------------------------------------------------------------------
std::vector<Slot> qr_results(std::string_view op, const Operands& x, const Attributes& attributes) {
  expect_matrices(op, x[0]);
  const int64_t m = x[0].dim(-2), n = x[0].dim(-1);
  const int64_t columns = std::get<FactorAttributes>(attributes).full ? m : std::min(m, n);
  return {{x[0].dtype(), with_matrix(x[0].shape(), m, columns)},
          {x[0].dtype(), with_matrix(x[0].shape(), columns, n)}};
}

Tensor columns_of(const Tensor& x, int64_t first, int64_t count) {
  Dims starts(x.shape()), lengths(x.shape());
  for (int axis = 0; axis < x.rank(); ++axis) starts[axis] = 0;
  starts[x.rank() - 1] = first;
  lengths[x.rank() - 1] = count;
  return slice(x, starts, lengths);
}

// Of a matrix that is not wider than high, with cotangents conjugated and both given.
Tensor tall_qr_gradient(const Tensor& q, const Tensor& r, const Tensor& q_bar, const Tensor& r_bar) {
  const Tensor m = product(r, adjoint(r_bar)) - product(adjoint(q_bar), q);
  const Tensor strict = lower_part(m, 1);
  const Tensor real_part = is_complex(m.dtype()) ? as_type_of(real(m), m) : m;
  const Tensor symmetric = select(on_diagonal(m.shape()), real_part, strict + adjoint(strict));
  return right_solve(conjugated(r), q_bar + product(q, symmetric), false, true);
}

// A wide matrix [x | y] has r = [u | v] and y = q v: the gradient of y is q v', and q gets y v'^H more.
Operands qr_vjp(const Operands& results, const Operands& operands, const Operands& g) {
  const Tensor &q = results[0], &r = results[1], &x = operands[0];
  const int64_t m = x.dim(-2), n = x.dim(-1);
  if (q.dim(-1) > n)
    fail("grad", "qr", "has no derivative where q has more columns than x; ask for the reduced form");
  const Tensor q_bar = g[0] ? conjugated(g[0]) : zeros_like(q),
               r_bar = g[1] ? conjugated(g[1]) : zeros_like(r);
  if (m >= n) return {conjugated(tall_qr_gradient(q, r, q_bar, upper_part(r_bar)))};
  const Tensor v_bar = columns_of(r_bar, m, n - m), y = columns_of(x, m, n - m);
  const Tensor left = tall_qr_gradient(q, columns_of(r, 0, m), q_bar + product(y, adjoint(v_bar)),
                                       upper_part(columns_of(r_bar, 0, m)));
  return {conjugated(concatenate({left, product(q, v_bar)}, x.rank() - 1))};
}

// --- eigh --------------------------------------------------------------------------------------------------
std::vector<Slot> eigh_results(std::string_view op, const Operands& x, const Attributes&) {
  expect_square(op, x[0]);
  return {{real_of(x[0].dtype()), with_vector(x[0].shape(), x[0].dim(-1))}, {x[0].dtype(), x[0].shape()}};
}

// 1 / (d_j - d_i), and 0 where they are equal: of equal ones no vectors are told apart, and a function that
// does not tell them apart has no gradient there.
Tensor gaps(const Tensor& d) {
  const Tensor difference = expand_dims(d, -2) - expand_dims(d, -1);
  const Tensor same = difference == constant(d.dtype(), 0);
  return select(same, zeros_like(difference), 1.0 / select(same, ones_like(difference), difference));
}

// As of a Hermitian matrix of which the lower triangle alone is read: an entry below the diagonal is two.
Tensor of_lower_triangle(const Tensor& s) {
  const Tensor both = lower_part(s + adjoint(s));
  const Tensor half = both * constant(s.dtype(), 0.5);
  return select(on_diagonal(s.shape()), half, both);
}

Operands eigh_vjp(const Operands& results, const Operands&, const Operands& g) {
  const Tensor &w = results[0], &v = results[1];
  Tensor middle;
  if (g[1]) {
    const Tensor projected = product(adjoint(v), conjugated(g[1]));
    middle = projected * as_type_of(gaps(w), projected);
  }
  if (g[0]) {
    const Tensor values = broadcast_to(expand_dims(as_type_of(g[0], v), -1), v.shape());
    const Tensor on = select(on_diagonal(v.shape()), values, zeros_like(values));
    middle = middle ? middle + on : on;
  }
  if (!middle) return {Tensor()};
  return {conjugated(of_lower_triangle(product(product(v, middle), adjoint(v))))};
}

// --- svd ---------------------------------------------------------------------------------------------------
std::vector<Slot> svd_results(std::string_view op, const Operands& x, const Attributes& attributes) {
  expect_matrices(op, x[0]);
  const bool full = std::get<FactorAttributes>(attributes).full;
  const int64_t m = x[0].dim(-2), n = x[0].dim(-1), k = std::min(m, n);
  const Shape& shape = x[0].shape();
  return {{x[0].dtype(), with_matrix(shape, m, full ? m : k)},
          {real_of(x[0].dtype()), with_vector(shape, k)},
          {x[0].dtype(), with_matrix(shape, full ? n : k, n)}};
}

Tensor safe_inverse(const Tensor& s) {
  const Tensor zero = s == constant(s.dtype(), 0);
  return select(zero, zeros_like(s), 1.0 / select(zero, ones_like(s), s));
}

// What the cotangent of one side's vectors gives between singular vectors: F * (V^H V') and its adjoint.
Tensor turned(const Tensor& vectors, const Tensor& cotangent, const Tensor& gap) {
  const Tensor part = product(adjoint(vectors), cotangent) * gap;
  return part + adjoint(part);
}

Operands svd_vjp(const Operands& results, const Operands& operands, const Operands& g) {
  const Tensor &u = results[0], &s = results[1], &x = operands[0];
  const int64_t m = x.dim(-2), n = x.dim(-1);
  if ((g[0] && u.dim(-1) > n) || (g[2] && results[2].dim(-2) > m))
    fail("grad", "svd", "has no derivative of square factors of a matrix that is not; ask for the thin form");
  const int64_t k = std::min(m, n);
  const Tensor left = columns_of(u, 0, k), v = columns_of(adjoint(results[2]), 0, k);
  const Tensor scale = as_type_of(s, x), inverse = as_type_of(safe_inverse(s), x);
  const Tensor gap = as_type_of(gaps(s * s), x);
  const Shape square = with_matrix(x.shape(), k, k);
  Tensor middle = zeros(square, x.dtype());
  if (g[1])
    middle = select(on_diagonal(square), broadcast_to(expand_dims(as_type_of(g[1], x), -1), square), middle);
  Tensor beside;  // what lies outside of the spaces of u and v
  if (g[0]) {
    const Tensor u_bar = conjugated(g[0]);
    middle = middle + times_columns(turned(left, u_bar, gap), scale);
    const Tensor out = u_bar - product(left, product(adjoint(left), u_bar));
    if (m > k) beside = product(times_columns(out, inverse), adjoint(v));
  }
  if (g[2]) {
    const Tensor v_bar = adjoint(conjugated(g[2]));
    middle = middle + times_rows(turned(v, v_bar, gap), scale);
    const Tensor out = v_bar - product(v, product(adjoint(v), v_bar));
    if (n > k) {
      const Tensor more = product(times_columns(left, inverse), adjoint(out));
      beside = beside ? beside + more : more;
    }
    if (is_complex(x.dtype())) {  // the phase that u and v share
      const Tensor phase = product(adjoint(v), v_bar);
      const Tensor on = select(on_diagonal(square), phase, zeros_like(phase));
      middle = middle + times_rows((adjoint(on) - on) * constant(x.dtype(), 0.5), inverse);
    }
  }
  const Tensor inside = product(product(left, middle), adjoint(v));
  return {conjugated(beside ? inside + beside : inside)};
}

// --- eig ---------------------------------------------------------------------------------------------------
std::vector<Slot> eig_results(std::string_view op, const Operands& x, const Attributes&) {
  expect_square(op, x[0]);
  const DType type = complex_of(x[0].dtype());
  return {{type, with_vector(x[0].shape(), x[0].dim(-1))}, {type, x[0].shape()}};
}

// V^-H (diag(w') + (V^H V' - V^H V Re(diag(V^H V'))) / conj(w_j - w_i)) V^H; vectors have norm 1.
Operands eig_vjp(const Operands& results, const Operands& operands, const Operands& g) {
  const Tensor &w = results[0], &v = results[1];
  Tensor middle = zeros_like(v);
  if (g[1]) {
    const Tensor projected = product(adjoint(v), conjugated(g[1]));
    const Tensor along = as_type_of(real(diagonal(projected)), v);
    middle = (projected - times_columns(product(adjoint(v), v), along)) * conjugated(gaps(w));
  }
  const Tensor values = g[0] ? conjugated(g[0]) : zeros_like(w);
  middle = select(on_diagonal(v.shape()), broadcast_to(expand_dims(values, -1), v.shape()), middle);
  const Tensor gradient = conjugated(make(Op::solve, {adjoint(v), product(middle, adjoint(v))}));
  return {is_complex(operands[0].dtype()) ? gradient : real(gradient)};
}

Row several(Op op, std::string_view name, ResultsRule results, SeveralVjp vjp, std::string_view bound,
            std::string_view doc) {
  Row row{.op = op,
          .name = name,
          .kind = Kind::kernel,
          .arity = 1,
          .types = "float, complex",
          .batch = batch,
          .bound = {0, bound},
          .cost = 100,
          .doc = doc};
  row.results = results;
  row.several_vjp = vjp;
  return row;
}

}  // namespace
}  // namespace linear

std::vector<Row> linear_rows() {
  using namespace linear;
  return {
      {.op = Op::solve,
       .name = "solve",
       .kind = Kind::kernel,
       .arity = 2,
       .types = "float, complex; both of one type",
       .type = solve_type,
       .shape = solve_shape,
       .vjp = solve_vjp,
       .batch = solve_batch,
       .bound = {0, "backward stable in practice: x solves a system within 4 n units of |l| |u|"},
       .cost = 100,
       .doc = "x with a x = b, by LU with row exchanges; infinities and NaN where a is singular."},
      several(Op::lu, "lu", lu_results, lu_vjp, "l u is the permuted x within 4 n units of |l| |u|",
              "Factors of square matrices, l below the diagonal of u, the rows' permutation, and its sign."),
      several(
          Op::qr, "qr", qr_results, qr_vjp, "q r is x, and q^H q is 1, within 8 n units of |x|",
          "q with orthonormal columns and r upper triangular with q r = x, by Householder's reflections."),
      several(
          Op::eigh, "eigh", eigh_results, eigh_vjp, "v w v^H is x, and v^H v is 1, within 8 n units of |x|",
          "Eigenvalues, ascending, and eigenvectors of the Hermitian matrix of the lower triangle. Between "
          "equal eigenvalues the gradient is 0."),
      several(Op::svd, "svd", svd_results, svd_vjp, "u s v^H is x within 8 n units of |x|",
              "u, the singular values, descending, and v^H. Between equal values the gradient is 0."),
      several(
          Op::eig, "eig", eig_results, eig_vjp, "as LAPACK's geev",
          "Complex eigenvalues and eigenvectors of square matrices. It runs on the host: a GPU's matrices "
          "travel there and back."),
  };
}

}  // namespace adit::graph
