#include "ops/call_linear.hpp"

#include <adit/linalg.hpp>
#include <adit/sort.hpp>

namespace adit::ops {

namespace {

using Operands = std::vector<Tensor>;

const Tensor& at(const Operands& x, size_t i) {
  if (i >= x.size()) throw Error(ErrorKind::bad_argument, "[call] operands: expected more");
  return x[i];
}
template <Tensor (*f)(const Tensor&)>
Tensor of_one(const Operands& x, const Json&) {
  return f(at(x, 0));
}
template <Tensor (*f)(const Tensor&, const Tensor&)>
Tensor of_two(const Operands& x, const Json&) {
  return f(at(x, 0), at(x, 1));
}
std::string result_of(const Json& a) { return a.value("result", "product"); }
std::optional<double> tolerance(const Json& a) {
  return a.contains("tolerance") ? std::optional(a.at("tolerance").get<double>()) : std::nullopt;
}
Tensor adjoint(const Tensor& x) {
  Axes order = Dims::counted(x.rank());
  std::swap(order[x.rank() - 1], order[x.rank() - 2]);
  const Tensor turned = transpose(x, order);
  return is_complex(x.dtype()) ? conjugate(turned) : turned;
}
Tensor scaled(const Tensor& vectors, const Tensor& values) {
  return vectors * as_type(expand_dims(values, -2), vectors.dtype());
}

Tensor call_lu(const Operands& x, const Json& a) {
  const std::string what = result_of(a);
  if (what == "packed") return lu_factor(at(x, 0)).packed;
  if (what == "permutation") return lu_factor(at(x, 0)).permutation;
  if (what == "sign") return lu_factor(at(x, 0)).sign;
  const Plu parts = lu(at(x, 0));
  return matmul(parts.p, matmul(parts.l, parts.u));
}
Tensor call_qr(const Operands& x, const Json& a) {
  const Qr parts = qr(at(x, 0), a.value("complete", false));
  const std::string what = result_of(a);
  return what == "q" ? parts.q : what == "r" ? parts.r : matmul(parts.q, parts.r);
}
Tensor call_eigh(const Operands& x, const Json& a) {
  if (result_of(a) == "values") return eigh_values(at(x, 0));
  const Eigh parts = eigh(at(x, 0));
  if (result_of(a) == "unit") return matmul(adjoint(parts.vectors), parts.vectors);
  return matmul(scaled(parts.vectors, parts.values), adjoint(parts.vectors));
}
Tensor call_svd(const Operands& x, const Json& a) {
  if (result_of(a) == "values") return singular_values(at(x, 0));
  const bool full = a.value("full", false);
  const Svd parts = svd(at(x, 0), full);
  if (result_of(a) == "u") return matmul(adjoint(parts.u), parts.u);
  if (result_of(a) == "v") return matmul(parts.v_h, adjoint(parts.v_h));
  const int64_t k = parts.s.dim(-1);
  Dims starts(parts.u.shape()), left(parts.u.shape()), right(parts.v_h.shape());
  for (int64_t& start : starts) start = 0;
  left[parts.u.rank() - 1] = right[parts.v_h.rank() - 2] = k;
  return matmul(scaled(slice(parts.u, starts, left), parts.s), slice(parts.v_h, starts, right));
}
Tensor call_eig(const Operands& x, const Json& a) {
  if (result_of(a) == "values") return sort(real(eigenvalues(at(x, 0))));
  const Eig parts = eig(at(x, 0));
  return matmul(scaled(parts.vectors, parts.values), inverse(parts.vectors));
}
Tensor call_pseudo_inverse(const Operands& x, const Json& a) {
  return pseudo_inverse(at(x, 0), tolerance(a));
}
Tensor call_least_squares(const Operands& x, const Json& a) {
  return least_squares(at(x, 0), at(x, 1), tolerance(a));
}
Tensor call_sign_and_log(const Operands& x, const Json& a) {
  const SignAndLog parts = sign_and_log_determinant(at(x, 0));
  return result_of(a) == "sign" ? parts.sign : parts.log;
}
Tensor call_matrix_rank(const Operands& x, const Json& a) { return matrix_rank(at(x, 0), tolerance(a)); }
Tensor call_matrix_norm(const Operands& x, const Json& a) {
  return matrix_norm(at(x, 0), static_cast<MatrixNorm>(a.value("kind", 0)));
}
Tensor call_norm(const Operands& x, const Json& a) {
  const Dims axes = a.contains("axes") ? Dims(a.at("axes").get<std::vector<int64_t>>()) : Dims();
  const double p =
      a.contains("p") && a.at("p").is_string() ? std::stod(a.at("p").get<std::string>()) : a.value("p", 2.0);
  return norm(at(x, 0), p, axes, a.value("keep_axes", false));
}
Tensor call_matrix_power(const Operands& x, const Json& a) {
  return matrix_power(at(x, 0), a.value("exponent", int64_t{2}));
}

Direction direction(const Json& a) {
  return a.value("descending", false) ? Direction::descending : Direction::ascending;
}
Tensor call_sort(const Operands& x, const Json& a) {
  if (a.value("both", false)) return sort_with_places(at(x, 0), a.value("axis", -1), direction(a)).values;
  return sort(at(x, 0), a.value("axis", -1), direction(a));
}
Tensor call_argsort(const Operands& x, const Json& a) {
  return argsort(at(x, 0), a.value("axis", -1), direction(a));
}
Tensor call_top_k(const Operands& x, const Json& a) {
  const Sorted found = top_k(at(x, 0), a.value("k", int64_t{1}));
  return result_of(a) == "places" ? found.places : found.values;
}
Tensor call_median(const Operands& x, const Json& a) {
  return median(at(x, 0), a.value("axis", -1), a.value("keep_axis", false));
}
Tensor call_unique(const Operands& x, const Json& a) {
  const Unique found = unique(at(x, 0));
  const std::string what = result_of(a);
  return what == "inverse"  ? found.inverse
         : what == "counts" ? found.counts
         : what == "size"   ? found.size
                            : found.values;
}

}  // namespace

std::map<std::string, Caller, std::less<>> linear_callers() {
  return {{"lu", call_lu},
          {"qr", call_qr},
          {"eigh", call_eigh},
          {"svd", call_svd},
          {"eig", call_eig},
          {"solve", of_two<solve>},
          {"inverse", of_one<inverse>},
          {"pseudo_inverse", call_pseudo_inverse},
          {"least_squares", call_least_squares},
          {"determinant", of_one<determinant>},
          {"sign_and_log_determinant", call_sign_and_log},
          {"trace", of_one<trace>},
          {"diagonal", of_one<diagonal>},
          {"matrix_rank", call_matrix_rank},
          {"matrix_norm", call_matrix_norm},
          {"norm", call_norm},
          {"matrix_power", call_matrix_power},
          {"matrix_exponential", of_one<matrix_exponential>},
          {"sort", call_sort},
          {"argsort", call_argsort},
          {"top_k", call_top_k},
          {"median", call_median},
          {"unique", call_unique}};
}

}  // namespace adit::ops
