// Eigenvalues and eigenvectors of symmetric matrices by Jacobi's rotations, n / 2 disjoint ones at a time,
// and the exponential of a matrix.
#include <array>
#include <cmath>
#include <deque>
#include <memory>

#include <adit/control.hpp>

#include "graph/node.hpp"
#include "stan/functions/eigen.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

constexpr int64_t eigen_sweeps = 14;

struct Eigen {
  Tensor values, vectors;  // [..., n] ascending, [..., n, n] in columns; without derivatives
};

// With whom a row is paired in a round, as in a round-robin tournament: places add up to twice the round,
// and of an even number the last one plays with the one that would play with itself.
Tensor partners(const Tensor& round, int64_t size) {
  const bool is_even = size % 2 == 0;
  const Tensor count = full_integer({}, is_even ? size - 1 : size), place = iota({size}, DType::i64);
  const Tensor sum = round + round + count - place;
  const Tensor plain = remainder(sum, count);
  if (!is_even) return plain;
  const Tensor last = full_integer({}, size - 1);
  return select(place == last, round, select(place == round, last, plain));
}

// One round: a rotation for every pair (i, j), with t = tan of its angle, that makes a_ij zero.
Tensors rotated(const Tensors& carry, const Tensor& round, int64_t size) {
  const Tensor place = iota({size}, DType::i64), partner = partners(round, size);
  const Tensor is_partner = expand_dims(partner, -1) == place;  // [i, j]
  const Tensor& a = carry[0];
  const auto at_partner = [&](const Tensor& x) {  // of a vector
    return sum(select(is_partner, expand_dims(x, -2), real(0)), {-1});
  };
  const Tensor own = diagonal_of(a), other = at_partner(own);
  const Tensor between = sum(select(is_partner, a, real(0)), {-1});
  const Tensor is_still = logical_or(between == real(0), partner == place);
  const Tensor ratio = (other - own) / (real(2) * select(is_still, real(1), between));
  const Tensor size_of_tan = reciprocal(abs(ratio) + hypot(ratio, real(1)));
  const Tensor is_first = place < partner;  // of two equal ones the sides have to differ
  const Tensor is_up = logical_or(is_positive(ratio), both(ratio == real(0), is_first));
  const Tensor t = select(is_still, real(0), select(is_up, size_of_tan, -size_of_tan));
  const Tensor c = rsqrt(real(1) + square(t)), s = t * c;
  const Tensor turn = diagonal_matrix(c) + select(both(is_partner, expand_dims(partner != place, -1)),
                                                  expand_dims(s, -1), real(0));
  const Tensor back = transposed({turn, false}).x;
  return {matmul(matmul(back, a), turn), matmul(carry[1], turn)};
}

Eigen computed_eigen(const Tensor& matrices) {
  const int64_t size = matrices.dim(-1), rounds = size % 2 == 0 ? size - 1 : size;
  const Tensor known = stop_gradient(matrices);
  const Tensor even = real(0.5) * (known + transposed({known, false}).x);
  const Tensor unit = broadcast_to(eye(size, size, DType::f64), even.shape());
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    return {rotated(carry, remainder(number[0], full_integer({}, rounds)), size), {}};
  };
  const Tensors done = size < 2 ? Tensors{even, unit}
                                : scan(step, {even, unit}, {iota({rounds * eigen_sweeps}, DType::i64)}).carry;
  // In ascending order: the place of a value is how many come before it.
  const Tensor values = diagonal_of(done[0]);
  const Tensor mine = expand_dims(values, -1), others = expand_dims(values, -2);
  const Tensor is_before =
      logical_or(others < mine, both(others == mine, column_numbers(size) < row_numbers(size)));
  const Tensor rank = sum(select(is_before, real(1), real(0)), {-1});
  const Tensor goes =
      select(expand_dims(rank, -1) == iota({size}, DType::f64), real(1), real(0));  // [from, to]
  const Tensor sorted = sum(goes * mine, {-2});
  return {stop_gradient(sorted), stop_gradient(matmul(done[1], goes))};
}

// eigenvalues_sym and eigenvectors_sym of one matrix are one decomposition: the latest ones are remembered
// for as long as their graphs live.
Eigen eigen_of(const Tensor& matrices) {
  struct Known {
    std::weak_ptr<graph::Node> of, values, vectors;
  };
  constexpr size_t most_known = 8;
  thread_local std::deque<Known> all;
  for (const Known& known : all) {
    const auto values = known.values.lock(), vectors = known.vectors.lock();
    if (values && vectors && known.of.lock() == graph::pointer_of(matrices))
      return {graph::Inside::tensor(values), graph::Inside::tensor(vectors)};
  }
  const Eigen made = computed_eigen(matrices);
  all.push_front(
      {graph::pointer_of(matrices), graph::pointer_of(made.values), graph::pointer_of(made.vectors)});
  if (all.size() > most_known) all.pop_back();
  return made;
}

// v' (a - a) v, which is zero: its derivatives are those of a in the basis of the eigenvectors.
Tensor change_in_basis(const Tensor& a, const Tensor& v) {
  const Tensor even = real(0.5) * (a + transposed({a, false}).x);
  return matmul(transposed({v, false}).x, matmul(even - stop_gradient(even), v));
}
}  // namespace

Tensor symmetric_eigenvalues(const Tensor& matrices) {
  const Eigen e = eigen_of(matrices);
  return e.values + diagonal_of(change_in_basis(matrices, e.vectors));
}

// dv_i = sum of v_j (v_j' da v_i) / (l_i - l_j).
Tensor symmetric_eigenvectors(const Tensor& matrices) {
  const Eigen e = eigen_of(matrices);
  const Tensor gap = expand_dims(e.values, -2) - expand_dims(e.values, -1);  // [j, i]
  const Tensor weight = select(gap == real(0), real(0), reciprocal(select(gap == real(0), real(1), gap)));
  return e.vectors + matmul(e.vectors, weight * change_in_basis(matrices, e.vectors));
}

namespace {

Tensor eigen_values(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {symmetric_eigenvalues(p.x), p.in_lanes});
}
Tensor eigen_vectors(const Arguments& a) {
  const Part p = part(a, 0);
  return finished(a, {symmetric_eigenvectors(p.x), p.in_lanes});
}

// --- matrix_exp
// ---------------------------------------------------------------------------------------------- Taylor's
// series to x^16 of x = a / 2^s, whose norm is below 1/2, squared s times; s is at most 40.
Part exponential_of(const Part& p) {
  constexpr int64_t most = 40;
  const int64_t size = p.x.dim(-1);
  if (size == 0) return p;
  const Tensor norm = stop_gradient(reduce_max(sum(abs(p.x), {-1}), {-1}));
  const Tensor squarings =
      clip(ceil(log2(maximum(norm, real(1e-30))) + real(1)), real(0), real(static_cast<double>(most)));
  const auto as_matrix = [](const Tensor& x) { return expand_dims(expand_dims(x, -1), -1); };
  const Tensor x = p.x * as_matrix(exp2(-squarings)), unit = eye(size, size, DType::f64);
  Tensor sum_of = broadcast_to(unit, x.shape());
  for (int n = 16; n >= 1; --n) sum_of = unit + matmul(x, sum_of) * real(1.0 / n);
  const auto step = [&](const Tensors& carry, const Tensors& number) -> Step {
    const Tensor is_open = as_matrix(number[0] < squarings);
    return {{select(is_open, matmul(carry[0], carry[0]), carry[0])}, {}};
  };
  return {scan(step, {sum_of}, {iota({most}, DType::f64)}).carry[0], p.in_lanes};
}
Tensor matrix_exponential(const Arguments& a) { return finished(a, exponential_of(part(a, 0))); }
Tensor matrix_exponential_times(const Arguments& a) {
  return finished(a, times(exponential_of(part(a, 0)), part(a, 1)));
}
Tensor scaled_matrix_exponential_times(const Arguments& a) {
  const Part scaled =
      elementwise(part(a, 1), part(a, 0), [](const Tensor& x, const Tensor& t) { return x * t; });
  return finished(a, times(exponential_of(scaled), part(a, 2)));
}

constexpr std::array eigen_table{
    GeneralFunction{"eigenvalues_sym", eigen_values},
    GeneralFunction{"eigenvectors_sym", eigen_vectors},
    GeneralFunction{"matrix_exp", matrix_exponential},
    GeneralFunction{"matrix_exp_multiply", matrix_exponential_times},
    GeneralFunction{"scale_matrix_exp_multiply", scaled_matrix_exponential_times},
};

}  // namespace

std::span<const GeneralFunction> eigen_functions() { return eigen_table; }

}  // namespace adit::stan
