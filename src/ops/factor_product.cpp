#include "ops/factor_product.hpp"

namespace adit::ops {

void append_product(Factor& made, size_t own, MatmulShape of, const Limits& limits,
                    std::vector<uint8_t> tensors, const MatmulHooks& hooks) {
  of.a_stride = uint64_t{of.m} * of.k;
  of.b_stride = uint64_t{of.n} * of.k;
  const MatmulTiling tiling = choose_tiling(of, limits);
  const auto add = [&](kernel::Program program, uint64_t teams, std::vector<uint8_t> buffers) {
    made.programs.push_back(std::move(program));
    made.passes.push_back({static_cast<uint32_t>(made.programs.size() - 1), teams, std::move(buffers)});
  };
  if (tiling.split_k == 1) {
    add(matmul_program(of, tiling, hooks), matmul_teams(of, tiling), std::move(tensors));
    return;
  }
  made.scratch.push_back({matmul_workspace_bytes(of, tiling)});
  const auto parts = static_cast<uint8_t>(own + made.scratch.size() - 1);
  add(matmul_program(of, tiling), matmul_teams(of, tiling), {tensors[0], tensors[1], parts});
  tensors.erase(tensors.begin());
  tensors[0] = parts;
  add(matmul_sum_program(of, tiling, hooks), matmul_sum_teams(of), std::move(tensors));
}

}  // namespace adit::ops
