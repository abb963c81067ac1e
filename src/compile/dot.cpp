// Large matrix products: BLAS on a CPU, tiled kernels on a GPU.
#include <algorithm>

#include "compile/kernels.hpp"
#include "compile/product_form.hpp"
#include "ops/blas.hpp"
#include "ops/matmul.hpp"

namespace adit::compile {

namespace {

std::vector<Work> blas_work(const Node& node, const ProductForm& form) {
  Work work;
  work.name = "blas_product";
  const Node &a = node.operands[0].node(), &b = node.operands[1].node();
  work.touches = {&a, &b, &node};
  work.operations = 2.0 * static_cast<double>(form.batch * form.m * form.n) * static_cast<double>(form.k);
  work.conduct = [&node, &a, &b, form](const LocationOf& location_of) {
    const Location from_a = location_of(a), from_b = location_of(b), to = location_of(node);
    const DType type = node.type;
    return [=](Run& run) {
      const auto* left = reinterpret_cast<const std::byte*>(run.buffer(from_a).address());
      const auto* right = reinterpret_cast<const std::byte*>(run.buffer(from_b).address());
      auto* result = reinterpret_cast<std::byte*>(run.buffer(to).address());
      const int64_t size = size_of(type);
      for (int64_t i = 0; i < form.batch; ++i)
        ops::multiply(type, form.transpose_a, form.transpose_b, form.m, form.n, form.k, left + i * form.m * form.k * size,
                      right + i * form.k * form.n * size, result + i * form.m * form.n * size);
    };
  };
  std::vector<Work> list;
  list.push_back(std::move(work));
  return list;
}

std::vector<Work> gpu_work(const Node& node, const ProductForm& form, Workshop& shop, Device& device) {
  const Node &a = node.operands[0].node(), &b = node.operands[1].node();
  ops::MatmulShape shape;
  shape.type = shape.result = storage_type(node.type);
  shape.m = static_cast<uint32_t>(form.m);
  shape.n = static_cast<uint32_t>(form.n);
  shape.k = static_cast<uint32_t>(form.k);
  shape.batch = static_cast<uint32_t>(form.batch);
  shape.transpose_a = form.transpose_a;
  shape.transpose_b = form.transpose_b;
  shape.a_stride = static_cast<uint64_t>(form.m * form.k);
  shape.b_stride = static_cast<uint64_t>(form.k * form.n);
  const ops::MatmulTiling tiling = ops::choose_tiling(shape, device.limits());
  const kernel::Program program = ops::matmul_program(shape, tiling);
  std::vector<Work> list;
  if (tiling.split_k == 1) {
    list.push_back(kernel_on(program, ops::matmul_teams(shape, tiling), {&a, &b, &node}, device));
  } else {
    const auto words = static_cast<int64_t>(ops::matmul_workspace_bytes(shape, tiling) / 4);
    const Node& parts = shop.make_scratch(DType::u32, {words});
    list.push_back(kernel_on(program, ops::matmul_teams(shape, tiling), {&a, &b, &parts}, device));
    list.push_back(kernel_on(ops::matmul_sum_program(shape, tiling), ops::matmul_sum_teams(shape), {&parts, &node}, device));
  }
  for (Work& work : list)
    work.operations = 2.0 * static_cast<double>(form.batch * form.m * form.n) * static_cast<double>(form.k);
  return list;
}

}  // namespace

std::vector<Work> dot_work(const Node& node, Workshop& shop, Device& device) {
  const auto form = product_form(node);
  if (!form) throw Error(ErrorKind::internal, "[dot] axes: expected them in the order of a product");
  if (form->batch == 0 || form->m == 0 || form->n == 0) return {};
  return shop.target.gpu ? gpu_work(node, *form, shop, device) : blas_work(node, *form);
}

}  // namespace adit::compile
