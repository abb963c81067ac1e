// Arguments that cannot work throw bad_argument with the operation's name, before a device does anything.
#include <limits>
#include <set>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/row.hpp"
#include "ops/call.hpp"

namespace adit::test {
namespace {

using ops::Json;

struct Wrong {
  std::string op;
  std::vector<Tensor> operands;
  Json attributes = Json::object();
};

Tensor of(DType type, const Shape& shape) { return zeros(shape, type); }
Tensor f(const Shape& shape) { return of(DType::f32, shape); }
Tensor i(const Shape& shape) { return of(DType::i32, shape); }

void add_elementwise(std::vector<Wrong>& list) {
  for (const graph::Row& row : graph::table()) {
    if (row.kind != graph::Kind::elementwise || row.arity < 2) continue;
    const std::string op(row.name);
    const DType type = row.name == "threefry" || row.name == "philox" ? DType::u32 : DType::f32;
    std::vector<Tensor> operands(static_cast<size_t>(row.arity), of(type, {2, 3}));
    operands.back() = of(type, {2, 4});  // does not broadcast
    list.push_back({op, operands});
  }
  for (const char* op : {"bitwise_not", "count_leading_zeros", "population_count"})
    list.push_back({op, {f({2})}});
  for (const char* op : {"bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "quotient"})
    list.push_back({op, {f({2}), f({2})}});
  for (const char* op : {"floor", "ceil", "round", "trunc", "erf", "erfc", "erfcx", "erf_inv", "lgamma",
                         "digamma", "trigamma", "cbrt", "softplus", "log_sigmoid"})
    list.push_back({op, {of(DType::c64, {2})}});
  for (const char* op : {"less", "less_equal", "greater", "greater_equal", "minimum", "maximum", "atan2",
                         "hypot", "remainder", "complex"})
    list.push_back({op, {of(DType::c64, {2}), of(DType::c64, {2})}});
  list.push_back({"bitcast", {f({2})}, {{"type", "f64"}}});
  list.push_back({"bitcast", {f({2})}, {{"type", "c64"}}});
  list.push_back({"clip", {of(DType::c64, {2}), of(DType::c64, {}), of(DType::c64, {})}});
}

void add_shapes(std::vector<Wrong>& list) {
  list.push_back({"reshape", {f({2, 3})}, {{"shape", {4, 2}}}});
  list.push_back({"reshape", {f({2, 3})}, {{"shape", {-1, -1}}}});
  list.push_back({"reshape", {f({2, 3})}, {{"shape", {-1, 4}}}});
  list.push_back({"reshape", {f({2, 3})}, {{"shape", {-2, -3}}}});
  list.push_back({"squeeze", {f({2, 1})}, {{"axes", {0}}}});
  list.push_back({"squeeze", {f({2, 1})}, {{"axes", {2}}}});
  list.push_back({"expand_dims", {f({2, 1})}, {{"axis", 4}}});
  list.push_back({"transpose", {f({2, 3})}, {{"axes", {0, 0}}}});
  list.push_back({"transpose", {f({2, 3})}, {{"axes", {0}}}});
  list.push_back({"transpose", {f({2, 3})}, {{"axes", {0, 2}}}});
  list.push_back({"broadcast_to", {f({2, 3})}, {{"shape", {2, 4}}}});
  list.push_back({"broadcast_to", {f({2, 3})}, {{"shape", {3}}}});
  list.push_back({"broadcast_in", {f({2, 3})}, {{"shape", {2, 3, 4}}, {"axes", {0, 0}}}});
  list.push_back({"broadcast_in", {f({2, 3})}, {{"shape", {2, 3, 4}}, {"axes", {0, 2}}}});
  list.push_back({"slice", {f({4})}, {{"starts", {2}}, {"lengths", {3}}}});
  list.push_back({"slice", {f({4})}, {{"starts", {-1}}, {"lengths", {2}}}});
  list.push_back({"slice", {f({4})}, {{"starts", {0, 0}}, {"lengths", {2}}}});
  list.push_back({"slice", {f({4})}, {{"starts", {0}}, {"lengths", {2}}, {"strides", {0}}}});
  list.push_back({"dynamic_slice", {f({4}), i({})}, {{"lengths", {5}}}});
  list.push_back({"dynamic_slice", {f({4}), f({})}, {{"lengths", {2}}}});
  list.push_back({"dynamic_slice", {f({4}), i({2})}, {{"lengths", {2}}}});
  list.push_back({"dynamic_slice", {f({4})}, {{"lengths", {2}}}});
  list.push_back({"put_slice", {f({4}), f({5})}, {{"starts", {0}}}});
  list.push_back({"put_slice", {f({4}), f({2, 2})}, {{"starts", {0}}}});
  list.push_back({"pad", {f({4}), f({2})}, {{"low", {1}}}});
  list.push_back({"pad", {f({4}), f({})}, {{"low", {1, 1}}}});
  list.push_back({"pad", {f({4}), f({})}, {{"low", {-3}}, {"high", {-3}}}});
  list.push_back({"pad", {f({4}), f({})}, {{"low", {0}}, {"high", {0}}, {"interior", {-1}}}});
  list.push_back({"concatenate", {f({2, 3}), f({2, 4})}, {{"axis", 0}}});
  list.push_back({"concatenate", {f({2, 3}), f({2})}, {{"axis", 0}}});
  list.push_back({"concatenate", {f({2, 3})}, {{"axis", 2}}});
  list.push_back({"concatenate", {}, {{"axis", 0}}});
  list.push_back({"stack", {f({2, 3}), f({2, 4})}, {{"axis", 0}}});
  list.push_back({"stack", {}, {{"axis", 0}}});
  list.push_back({"reverse", {f({2, 3})}, {{"axes", {2}}}});
  list.push_back({"reverse", {f({2, 3})}, {{"axes", {1, 1}}}});
  list.push_back({"tile", {f({2, 3})}, {{"repeats", {-1, 2}}}});
  list.push_back({"full", {}, {{"shape", {-2}}, {"number", 1}}});
  list.push_back({"iota", {}, {{"shape", {2}}, {"axis", 1}}});
  list.push_back({"eye", {}, {{"rows", -2}}});
}

void add_indexing(std::vector<Wrong>& list) {
  list.push_back({"take", {f({4}), f({2})}, {{"axis", 0}}});
  list.push_back({"take", {f({4}), i({2})}, {{"axis", 1}}});
  list.push_back({"take_along_axis", {f({4, 3}), i({4})}, {{"axis", 1}}});
  list.push_back({"take_along_axis", {f({4, 3}), i({5, 3})}, {{"axis", 1}}});
  list.push_back({"take_along_axis", {f({4, 3}), f({4, 3})}, {{"axis", 1}}});
  list.push_back({"gather", {f({4, 3}), i({2, 3})}});
  list.push_back({"gather", {f({4, 3}), f({2, 2})}});
  list.push_back({"gather", {f({4, 3}), i({})}});
  list.push_back({"gather", {f({4, 3}), i({2, 2})}, {{"axes", {0, 0}}}});
  for (const char* op : {"indexed_add", "indexed_put"}) {
    list.push_back({op, {f({4, 3}), i({2, 1}), f({2, 4})}, {{"axes", {0}}}});
    list.push_back({op, {f({4, 3}), i({2, 1}), f({3, 3})}, {{"axes", {0}}}});
    list.push_back({op, {f({4, 3}), f({2, 1}), f({2, 3})}, {{"axes", {0}}}});
    list.push_back({op, {f({4, 3}), i({2, 1}), f({2, 3})}, {{"axes", {5}}}});
  }
}

void add_windows(std::vector<Wrong>& list) {
  for (const char* op : {"window_sum", "window_product", "window_max", "window_min", "window_mean"}) {
    list.push_back({op, {f({4, 5})}, {{"window", {2}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 0}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 6}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 3}}, {"dilations", {1, 3}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"strides", {0, 1}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"strides", {1}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"dilations", {1, -1}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"padding", {{1, 1}}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"padding", {{-2, -1}, {0, 0}}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"padding", {{0, 0, 1}, {0, 0, 0}}}}});
    list.push_back({op, {f({4, 5})}, {{"window", {2, 2}}, {"padding", {{0, 0}, {0, 0}}}, {"same", true}}});
    list.push_back({op, {f({0})}, {{"window", {2}}}});
    list.push_back({op, {f({9})}, {{"window", {int64_t{1} << 50}}}});
  }
  list.push_back({"window_max", {of(DType::c64, {3})}, {{"window", {2}}}});
  list.push_back({"window_min", {of(DType::c64, {3})}, {{"window", {2}}}});
  list.push_back({"windows", {f({3}), f({1})}, {{"window", {2}}}});
  list.push_back({"windows", {f({3}), f({})}, {{"window", {4}}}});
  list.push_back({"windows", {f({1, 1, 1, 1, 1, 1, 1}), f({})}, {{"window", {1, 1, 1, 1, 1, 1, 1}}}});
  list.push_back({"window_reduce", {f({3}), f({2})}, {{"window", {2}}}});
  list.push_back({"window_reduce", {f({3}), f({})}, {{"window", {2, 2}}}});
  for (const char* op : {"window_scatter_max", "window_scatter_min"}) {
    list.push_back({op, {f({3}), f({3}), f({})}, {{"window", {2}}}});
    list.push_back({op, {f({3}), f({2}), f({1})}, {{"window", {2}}}});
    list.push_back({op, {of(DType::c64, {3}), f({2}), f({})}, {{"window", {2}}}});
  }
  for (const char* op : {"max_pool", "average_pool"}) {
    list.push_back({op, {f({3, 4})}, {{"window", {2}}}});
    list.push_back({op, {f({3, 4, 5})}, {{"window", {2, 2}}}});
    list.push_back({op, {f({3, 4, 5})}, {{"window", {2}}, {"strides", {2, 2}}}});
    list.push_back({op, {f({3, 4, 5})}, {{"window", {2}}, {"padding", {{0, 0}, {0, 0}}}}});
  }
  list.push_back({"conv", {f({2, 3}), f({2, 3})}});
  list.push_back({"conv", {f({1, 1, 2, 2, 2, 2}), f({1, 1, 1, 1, 1, 1})}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3, 3})}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 2, 3})}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 9})}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 0})}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"kernel_dilation", {4}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"kernel_dilation", {0}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"input_dilation", {-1}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"strides", {1, 1}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"padding", {{1, 1}, {1, 1}}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"feature_groups", 3}}});
  list.push_back({"conv", {f({2, 4, 8}), f({3, 2, 3})}, {{"feature_groups", 2}}});
  list.push_back({"conv", {f({2, 4, 8}), f({4, 2, 3})}, {{"feature_groups", 0}}});
  list.push_back({"conv", {f({2, 4, 8}), f({4, 2, 3})}, {{"feature_groups", 2}, {"batch_groups", 2}}});
  list.push_back({"conv", {f({3, 4, 8}), f({4, 4, 3})}, {{"batch_groups", 2}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"input_permutation", {0, 1}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"kernel_permutation", {0, 1, 1}}}});
  list.push_back({"conv", {f({2, 3, 8}), f({4, 3, 3})}, {{"output_permutation", {0, 1, 3}}}});
}

void add_reductions(std::vector<Wrong>& list) {
  for (const char* op :
       {"sum", "product", "reduce_max", "reduce_min", "all", "any", "mean", "logsumexp", "variance"}) {
    list.push_back({op, {f({2, 3})}, {{"axes", {2}}}});
    list.push_back({op, {f({2, 3})}, {{"axes", {-3}}}});
    list.push_back({op, {f({2, 3})}, {{"axes", {1, -1}}}});
  }
  for (const char* op : {"reduce_max", "reduce_min"}) {
    list.push_back({op, {f({0, 3})}, {{"axes", {0}}}});
    list.push_back({op, {of(DType::c64, {3})}});
  }
  for (const char* op : {"argmax", "argmin"}) {
    list.push_back({op, {f({2, 3})}, {{"axis", 2}}});
    list.push_back({op, {f({0})}});
    list.push_back({op, {of(DType::c64, {3})}});
  }
  list.push_back({"reduce", {f({2, 3}), f({2})}, {{"axes", {0}}, {"combine", "add"}}});
  list.push_back({"reduce", {f({2, 3}), f({})}, {{"axes", {4}}, {"combine", "add"}}});
  list.push_back({"dot", {f({2, 3}), f({4, 2})}});
  list.push_back({"dot", {f({2, 3}), f({3, 2})}, {{"contract_a", {1}}, {"contract_b", {1}}}});
  list.push_back({"dot", {f({2, 3}), f({3, 2})}, {{"contract_a", {1}}, {"contract_b", {0, 1}}}});
  list.push_back({"dot", {f({2, 3}), f({3, 2})}, {{"contract_a", {2}}, {"contract_b", {0}}}});
  list.push_back({"dot",
                  {f({2, 3}), f({2, 3})},
                  {{"contract_a", {0}}, {"batch_a", {0}}, {"contract_b", {0}}, {"batch_b", {0}}}});
  list.push_back({"matmul", {f({2, 3}), f({2, 3})}});
  for (const char* op : {"cumulative_sum", "cumulative_product", "cumulative_min", "cumulative_max"}) {
    list.push_back({op, {f({2, 3})}, {{"axis", 2}}});
    list.push_back({op, {f({2, 3})}, {{"axis", -3}}});
    list.push_back({op, {f({})}, {{"axis", 0}}});
  }
  list.push_back({"cumulative_min", {of(DType::c64, {3})}});
  list.push_back({"cumulative_max", {of(DType::c64, {3})}});
  for (const char* op : {"lu", "eigh", "eig", "inverse", "determinant", "sign_and_log_determinant",
                         "matrix_power", "matrix_exponential"}) {
    list.push_back({op, {f({2, 3})}});
    list.push_back({op, {f({3})}});
  }
  for (const char* op : {"qr", "svd", "pseudo_inverse", "matrix_norm", "matrix_rank", "trace", "diagonal"})
    list.push_back({op, {f({3})}});
  list.push_back({"pseudo_inverse", {f({3, 2})}, {{"tolerance", -1.0}}});
  list.push_back({"matrix_norm", {f({0, 2})}, {{"kind", 2}}});
  list.push_back({"solve", {f({3, 2}), f({3})}});
  list.push_back({"solve", {f({3, 3}), f({2})}});
  list.push_back({"solve", {f({2, 3, 3}), f({4, 3, 1})}});
  list.push_back({"least_squares", {f({3, 2}), f({2, 2})}});
  list.push_back({"norm", {f({3})}, {{"axes", {1}}}});
  list.push_back({"norm", {f({3})}, {{"p", "nan"}}});
  for (const char* op : {"sort", "argsort"}) {
    list.push_back({op, {f({2, 3})}, {{"axis", 2}}});
    list.push_back({op, {of(DType::c64, {3})}});
  }
  list.push_back({"top_k", {f({3})}, {{"k", 4}}});
  list.push_back({"top_k", {f({3})}, {{"k", -1}}});
  list.push_back({"top_k", {f({})}});
  list.push_back({"median", {f({0})}});
  list.push_back({"unique", {of(DType::c64, {3})}});
  for (const char* op : {"fft", "ifft", "rfft", "irfft"}) {
    list.push_back({op, {f({2, 3})}, {{"axis", 2}}});
    list.push_back({op, {f({2, 3})}, {{"axis", -3}}});
    list.push_back({op, {f({})}});
    list.push_back({op, {f({2, 3})}, {{"length", 0}}});
    list.push_back({op, {f({2, 3})}, {{"length", -4}}});
    list.push_back({op, {f({2, 3})}, {{"length", std::numeric_limits<int64_t>::max()}}});
    list.push_back({op, {f({2, 3})}, {{"length", 4294967291}}});  // a prime
    list.push_back({op, {f({3, 0})}});
  }
  list.push_back({"rfft", {of(DType::c64, {3})}});
  list.push_back({"irfft", {f({1})}});
  for (const char* op : {"fft2", "ifft2"}) {
    list.push_back({op, {f({3})}});
    list.push_back({op, {f({2, 3, 4})}, {{"axes", {0, 1, 2}}}});
  }
  for (const char* op : {"fft2", "ifft2", "fftn", "ifftn"}) {
    list.push_back({op, {f({2, 3})}, {{"axes", {0, 2}}}});
    list.push_back({op, {f({2, 3})}, {{"axes", {1, -1}}}});
    list.push_back({op, {f({2, 3})}, {{"lengths", {1, 2, 3}}}});
    list.push_back({op, {f({2, 3})}, {{"lengths", {0, 2}}}});
    list.push_back({op, {f({2, 0})}});
  }
  list.push_back({"cholesky", {f({2, 3})}});
  list.push_back({"cholesky", {f({3})}});
  list.push_back({"triangular_solve", {f({2, 3}), f({2, 3})}});
  list.push_back({"triangular_solve", {f({3, 3}), f({2, 3})}});
}

void add_networks(std::vector<Wrong>& list) {
  for (const char* op : {"layer_norm", "rms_norm"}) {
    list.push_back({op, {f({})}});
    list.push_back({op, {f({2, 3})}, {{"axes", {2}}}});
    list.push_back({op, {f({2, 3})}, {{"axes", {1, 1}}}});
    list.push_back({op, {f({2, 3}), f({2})}});
    list.push_back({op, {f({2, 3}), f({3}), f({2, 3})}});
    list.push_back({op, {of(DType::c64, {2, 3})}});
    list.push_back({op, {f({2, 3}), of(DType::c64, {3})}});
    list.push_back({op, {f({2, 3})}, {{"epsilon", -1.0}}});
  }
  list.push_back({"attention", {f({3}), f({4, 3}), f({4, 3})}});
  list.push_back({"attention", {f({2, 3}), f({4, 2}), f({4, 3})}});
  list.push_back({"attention", {f({2, 3}), f({4, 3}), f({5, 3})}});
  list.push_back({"attention", {f({5, 2, 3}), f({2, 4, 3}), f({2, 4, 3})}});
  list.push_back({"attention", {f({4, 2, 3}), f({2, 4, 3}), f({3, 4, 3})}});
  list.push_back({"attention", {f({2, 4, 2, 3}), f({3, 4, 4, 3}), f({2, 4, 4, 3})}});
  list.push_back({"attention", {of(DType::c64, {2, 3}), f({4, 3}), f({4, 3})}});
  list.push_back({"attention", {f({2, 3}), f({4, 3}), f({4, 3}), f({3, 4})}});
  list.push_back({"attention", {f({2, 3}), f({4, 3}), f({4, 3}), f({5, 2, 4})}});
  list.push_back({"attention", {f({2, 3}), f({4, 3}), f({4, 3}), of(DType::c64, {2, 4})}});
  list.push_back({"attention", {f({2, 3}), f({4, 3}), f({4, 3}), f({2, 4})}, {{"fused", true}}});
}

void add_einsums(std::vector<Wrong>& list) {
  const auto einsum = [&](const char* subscripts, std::vector<Tensor> operands) {
    list.push_back({"einsum", std::move(operands), {{"subscripts", subscripts}}});
  };
  einsum("ij", {f({2})});
  einsum("i", {f({2, 3})});
  einsum("ij,jk", {f({2, 3})});
  einsum("ij", {f({2, 3}), f({3})});
  einsum("ij,jk->ik", {f({2, 3}), f({4, 3})});
  einsum("ii", {f({2, 3})});
  einsum("ii", {f({1, 3})});
  einsum("ij->ijk", {f({2, 3})});
  einsum("ij->ii", {f({2, 3})});
  einsum("i%", {f({2, 3})});
  einsum("i..", {f({2, 3})});
  einsum("...i...", {f({2, 3})});
  einsum("...i->i", {f({2, 3})});
  einsum("...,...", {f({2, 3}), f({4})});
  einsum("ij->ji->ij", {f({2, 3})});
  einsum("abcdefg,hijklmn->abcdefghijklmn", {f(Shape::filled(7, 1)), f(Shape::filled(7, 1))});
  einsum("", {});
  list.push_back({"kron", {f(Shape::filled(7, 1)), f({2})}});
  list.push_back({"tensordot", {f({2, 3}), f({3, 2})}});
  list.push_back({"tensordot", {f({2, 3}), f({3, 2})}, {{"count", 3}}});
  list.push_back({"tensordot", {f({2, 3}), f({3, 2})}, {{"axes_a", {1}}, {"axes_b", {0, 1}}}});
  list.push_back({"tensordot", {f({3, 3}), f({3, 3})}, {{"axes_a", {1, 1}}, {"axes_b", {0, 1}}}});
  list.push_back({"tensordot", {f({2, 3}), f({3, 2})}, {{"axes_a", {2}}, {"axes_b", {0}}}});
}

void add_tables(std::vector<Wrong>& list) {
  list.push_back({"covariance", {f({})}});
  list.push_back({"covariance", {f({2, 3}), f({3})}, {{"frequencies", true}}});
  list.push_back({"covariance", {f({2, 3}), i({2})}, {{"frequencies", true}}});
  list.push_back({"covariance", {f({2, 3}), f({2})}, {{"weights", true}}});
  list.push_back({"covariance", {f({2, 3}), of(DType::c64, {3})}, {{"weights", true}}});
  list.push_back({"corrcoef", {f({})}});
  list.push_back({"cdist", {f({3}), f({2, 3})}});
  list.push_back({"cdist", {f({2, 3}), f({2, 4})}});
  list.push_back({"cdist", {f({2, 2, 3}), f({3, 2, 3})}});
  list.push_back({"cdist", {of(DType::c64, {2, 3}), f({2, 3})}});
  list.push_back({"searchsorted", {f({}), f({3})}});
  list.push_back({"searchsorted", {f({2, 3}), f({3, 3})}});
  list.push_back({"searchsorted", {f({2, 3}), f({})}});
  list.push_back({"searchsorted", {of(DType::c64, {3}), f({3})}});
  list.push_back({"bincount", {f({3})}, {{"length", 2}}});
  list.push_back({"bincount", {i({3})}, {{"length", -1}}});
  list.push_back({"bincount", {i({3}), f({2})}, {{"length", 2}}});
  list.push_back({"histogram", {f({3}), f({1})}});
  list.push_back({"histogram", {f({3}), f({2, 2})}});
  list.push_back({"histogram", {f({3}), f({2}), f({2})}});
  list.push_back({"histogram", {of(DType::c64, {3}), f({2})}});
  list.push_back({"histogram", {f({3})}, {{"bins", 0}, {"low", 0.0}, {"high", 1.0}}});
  list.push_back({"histogram", {f({3})}, {{"bins", 2}, {"low", 2.0}, {"high", 1.0}}});
  list.push_back({"histogram_edges", {}, {{"bins", 2}, {"low", 0.0}, {"high", 1.0}, {"type", "i32"}}});
  list.push_back({"interpolate", {f({3}), f({0}), f({0})}});
  list.push_back({"interpolate", {f({3}), f({2}), f({3})}});
  list.push_back({"interpolate", {f({3}), f({2, 2}), f({2, 2})}});
  list.push_back({"interpolate", {of(DType::c64, {3}), f({2}), f({2})}});
  list.push_back({"resize_linear", {f({3})}, {{"axes", {1}}, {"lengths", {2}}}});
  list.push_back({"resize_linear", {f({3})}, {{"axes", {0}}, {"lengths", {2, 2}}}});
  list.push_back({"resize_linear", {f({3})}, {{"axes", {0}}, {"lengths", {-2}}}});
  list.push_back({"resize_linear", {f({0})}, {{"axes", {0}}, {"lengths", {2}}}});
}

std::vector<Wrong> wrong_of_their_own() {
  std::vector<Wrong> list;
  add_elementwise(list);
  add_shapes(list);
  add_indexing(list);
  add_reductions(list);
  add_windows(list);
  add_networks(list);
  add_einsums(list);
  add_tables(list);
  return list;
}

// Six operands that are none, of every operation besides.
std::vector<Wrong> all_wrong() {
  std::vector<Wrong> list = wrong_of_their_own();
  for (const auto& [op, caller] : ops::callers())
    list.push_back({op, std::vector<Tensor>(6), Json::object()});
  return list;
}

// Composites may fail in the operation that they are made of.
bool names_it(const std::string& message, const std::string& op) {
  static const std::map<std::string, std::set<std::string>> parts{{"mean", {"sum"}},
                                                                  {"norm", {"sum"}},
                                                                  {"argsort", {"sort"}},
                                                                  {"unique", {"sort"}},
                                                                  {"variance", {"mean", "sum"}},
                                                                  {"logsumexp", {"reduce_max", "sum"}},
                                                                  {"stack", {"concatenate"}},
                                                                  {"matmul", {"dot"}},
                                                                  {"outer", {"dot"}},
                                                                  {"take", {"gather"}},
                                                                  {"softmax", {"reduce_max"}},
                                                                  {"log_softmax", {"reduce_max"}},
                                                                  {"broadcast_to", {"broadcast"}},
                                                                  {"broadcast_in", {"broadcast"}},
                                                                  {"phase", {"imag"}},
                                                                  {"square", {"multiply"}}};
  if (message.starts_with("[" + op + "] ")) return true;
  const auto found = parts.find(op);
  if (found == parts.end()) return false;
  return std::any_of(found->second.begin(), found->second.end(),
                     [&](const std::string& part) { return message.starts_with("[" + part + "] "); });
}

class ErrorOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, ErrorOn, testing::ValuesIn(device_ids()), test_name);

TEST_P(ErrorOn, WrongArgumentsAreToldBeforeAnyWork) {
  const auto device = Device::open(GetParam());
  set_default_device(device);
  const Statistics before = device->statistics();
  std::set<std::string> covered;
  for (const Wrong& wrong : all_wrong()) {
    std::string shown = wrong.op + " " + wrong.attributes.dump();
    for (const Tensor& x : wrong.operands)
      if (x) shown += " " + std::string(name_of(x.dtype())) + to_string(x.shape());
    try {
      ops::call(wrong.op, wrong.operands, wrong.attributes);
      // Makers of tensors take no operands: nothing is wrong with the six empty ones.
      if (wrong.operands.size() != 6 || wrong.operands[0]) ADD_FAILURE() << shown << ": nothing was thrown";
    } catch (const Error& error) {
      covered.insert(wrong.op);
      EXPECT_EQ(error.kind(), ErrorKind::bad_argument) << shown << ": " << error.what();
      EXPECT_TRUE(names_it(error.what(), wrong.op)) << shown << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find("expected"), std::string::npos) << error.what();
    } catch (const nlohmann::json::exception&) {  // an attribute that call() needs
    }
  }
  const Statistics after = device->statistics();
  EXPECT_EQ(after.kernels_run, before.kernels_run);
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_GT(covered.size(), 80u);
}

// Rows that take any one tensor, whatever it holds; and those that hold functions (trace_test).
const std::set<std::string_view> take_anything{
    "negate",      "abs",         "sign",         "exp",   "exp2",      "expm1",        "log",   "log2",
    "log10",       "log1p",       "sqrt",         "rsqrt", "sin",       "cos",          "tan",   "asin",
    "acos",        "atan",        "sinh",         "cosh",  "tanh",      "asinh",        "acosh", "atanh",
    "sigmoid",     "is_nan",      "as_type",      "real",  "imag",      "conjugate",    "input", "number",
    "alias",       "constant",    "while_loop",   "cond",  "while_vjp", "cholesky_vjp", "scan",  "item",
    "is_infinity", "logical_not", "stop_gradient"};
// Rows that functions of another name make.
const std::map<std::string_view, std::string_view> made_by{{"broadcast", "broadcast_to"}};

TEST(OpErrors, EveryRowHasAWrongCall) {
  set_default_device(Device::open("cpu"));
  std::set<std::string> covered;
  for (const Wrong& wrong : wrong_of_their_own()) covered.insert(wrong.op);
  for (const graph::Row& row : graph::table()) {
    const auto made = made_by.find(row.name);
    const std::string name(made == made_by.end() ? row.name : made->second);
    if (take_anything.contains(row.name))
      EXPECT_FALSE(covered.contains(name)) << name << " has a wrong call: it need not be excused";
    else
      EXPECT_TRUE(covered.contains(name))
          << row.name << " has no call that must throw: tests/op_error_test.cpp, add_...()";
  }
}

TEST(OpErrors, TensorsOfTwoDevices) {
  const std::vector<std::string> ids = device_ids();
  if (ids.size() < 2) GTEST_SKIP() << "one device";
  const std::vector<float> one{1};
  const Tensor a = tensor(one, {1}, Device::open(ids[0])), b = tensor(one, {1}, Device::open(ids[1]));
  try {
    add(a, b);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_TRUE(std::string(error.what()).starts_with("[add] ")) << error.what();
  }
  EXPECT_EQ(add(to_device(a, Device::open(ids[1])), b).item<float>(), 2);
}

}  // namespace
}  // namespace adit::test
