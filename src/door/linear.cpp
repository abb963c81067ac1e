// Products, factorisations, systems and transforms.
#include <fmt/format.h>

#include <adit/einsum.hpp>
#include <adit/fft.hpp>
#include <adit/linalg.hpp>
#include <adit/network.hpp>
#include <adit/ops.hpp>

#include "door/call.hpp"

namespace adit::door {

namespace {

Tensors dot_of(const Call& c) {
  const bool any = c.has("contract_a") || c.has("contract_b") || c.has("batch_a") || c.has("batch_b");
  if (!any) return {dot(c[0], c[1])};
  return {dot(c[0], c.dims("contract_a"), c.dims("batch_a", {}), c[1], c.dims("contract_b"),
              c.dims("batch_b", {}))};
}

std::optional<double> tolerance_of(const Call& c) {
  if (!c.has("tolerance")) return std::nullopt;
  return c.real("tolerance", 0);
}

using Transform = Tensor (*)(const Tensor&, int, std::optional<int64_t>);
Operation transform(const char* name, Transform f) {
  return {{name, "x", "axis=-1, length"}, 1, 1, [f](const Call& c) -> Tensors {
            std::optional<int64_t> length;
            if (c.has("length")) length = c.integer("length");
            return {f(c[0], c.axis("axis", -1), length)};
          }};
}
using Transforms = Tensor (*)(const Tensor&, const Axes&, const Dims&);
Operation transforms(const char* name, Transforms f, const Axes& axes) {
  return {{name, "x", "axes, lengths=[]"}, 1, 1, [f, axes](const Call& c) -> Tensors {
            return {f(c[0], c.dims("axes", axes), c.dims("lengths", {}))};
          }};
}

MatrixNorm norm_named(const Call& c) {
  constexpr std::pair<const char*, MatrixNorm> names[] = {{"frobenius", MatrixNorm::frobenius},
                                                          {"nuclear", MatrixNorm::nuclear},
                                                          {"spectral", MatrixNorm::spectral},
                                                          {"least", MatrixNorm::least},
                                                          {"one", MatrixNorm::one},
                                                          {"infinity", MatrixNorm::infinity},
                                                          {"least_one", MatrixNorm::least_one},
                                                          {"least_infinity", MatrixNorm::least_infinity}};
  const std::string word = c.text("kind", "frobenius");
  std::string all;
  for (const auto& [name, norm] : names) {
    if (word == name) return norm;
    all += fmt::format("{}{}", all.empty() ? "" : ", ", name);
  }
  fail(c.name(), "kind", fmt::format("expected one of {}, got {}", all, word));
}

Tensors attention_of(const Call& c) {
  AttentionOptions options;
  options.mask = c.optional(3);
  options.causal = c.flag("causal", false);
  if (c.has("scale")) options.scale = c.real("scale", 1);
  return {attention(c[0], c[1], c[2], options)};
}

using Normed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Axes&, double);
Operation normed(const char* name, Normed f) {
  return {{name, "x, scale, shift", "axes=[-1], epsilon=1e-5"}, 1, 3, [f](const Call& c) -> Tensors {
            return {f(c[0], c.optional(1), c.optional(2), c.dims("axes", {-1}), c.real("epsilon", 1e-5))};
          }};
}

std::vector<Operation> factorisations() {
  return {
      unary("cholesky", cholesky),
      {{"lu", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Plu f = lu(c[0]);
         return {f.p, f.l, f.u};
       }},
      {{"lu_factor", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const LuFactors f = lu_factor(c[0]);
         return {f.packed, f.permutation, f.sign};
       }},
      {{"qr", "x", "complete=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Qr f = qr(c[0], c.flag("complete", false));
         return {f.q, f.r};
       }},
      {{"eigh", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Eigh f = eigh(c[0]);
         return {f.values, f.vectors};
       }},
      {{"eig", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Eig f = eig(c[0]);
         return {f.values, f.vectors};
       }},
      {{"svd", "x", "full=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Svd f = svd(c[0], c.flag("full", false));
         return {f.u, f.s, f.v_h};
       }},
      unary("eigh_values", eigh_values),
      unary("eigenvalues", eigenvalues),
      unary("singular_values", singular_values),
  };
}

std::vector<Operation> matrices() {
  return {
      {{"triangular_solve", "a, b", "lower=1, left_side=1, transpose=0"},
       2,
       2,
       [](const Call& c) -> Tensors {
         return {triangular_solve(
             c[0], c[1], {c.flag("lower", true), c.flag("left_side", true), c.flag("transpose", false)})};
       }},
      binary("solve", solve),
      unary("inverse", inverse),
      unary("determinant", determinant),
      unary("trace", trace),
      unary("diagonal", diagonal),
      unary("matrix_exponential", matrix_exponential),
      {{"sign_and_log_determinant", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const SignAndLog f = sign_and_log_determinant(c[0]);
         return {f.sign, f.log};
       }},
      {{"pseudo_inverse", "x", "tolerance"},
       1,
       1,
       [](const Call& c) -> Tensors { return {pseudo_inverse(c[0], tolerance_of(c))}; }},
      {{"least_squares", "a, b", "tolerance"},
       2,
       2,
       [](const Call& c) -> Tensors { return {least_squares(c[0], c[1], tolerance_of(c))}; }},
      {{"matrix_rank", "x", "tolerance"},
       1,
       1,
       [](const Call& c) -> Tensors { return {matrix_rank(c[0], tolerance_of(c))}; }},
      {{"matrix_norm", "x", "kind=frobenius"},
       1,
       1,
       [](const Call& c) -> Tensors { return {matrix_norm(c[0], norm_named(c))}; }},
      {{"norm", "x", "p=2, axes=[], keep_axes=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {norm(c[0], c.real("p", 2), c.dims("axes", {}), c.flag("keep_axes", false))};
       }},
      {{"matrix_power", "x", "exponent"},
       1,
       1,
       [](const Call& c) -> Tensors { return {matrix_power(c[0], c.integer("exponent"))}; }},
  };
}

}  // namespace

std::vector<Operation> linear_operations() {
  std::vector<Operation> all = {
      {{"dot", "a, b", "contract_a, batch_a=[], contract_b, batch_b=[]"}, 2, 2, dot_of},
      binary("matmul", matmul),
      binary("outer", outer),
      binary("kron", kron),
      {{"tensordot", "a, b", "axes_a, axes_b"},
       2,
       2,
       [](const Call& c) -> Tensors { return {tensordot(c[0], c[1], c.dims("axes_a"), c.dims("axes_b"))}; }},
      {{"einsum", "operands...", "subscripts"},
       1,
       -1,
       [](const Call& c) -> Tensors { return {einsum(c.text("subscripts", ""), c.tensors())}; }},
      transform("fft", fft),
      transform("ifft", ifft),
      transform("rfft", rfft),
      transform("irfft", irfft),
      transforms("fft2", fft2, {-2, -1}),
      transforms("ifft2", ifft2, {-2, -1}),
      transforms("fftn", fftn, {}),
      transforms("ifftn", ifftn, {}),
      normed("layer_norm", layer_norm),
      normed("rms_norm", rms_norm),
      {{"attention", "queries, keys, values, mask", "causal=0, scale"}, 3, 4, attention_of},
  };
  for (const auto& part : {factorisations(), matrices()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace adit::door
