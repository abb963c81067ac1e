#include "spirv/emit.hpp"

#include <fmt/format.h>

#include "source_stamp.hpp"
#include "spirv/generator.hpp"

namespace adit::spirv {

std::vector<uint32_t> emit(const kernel::Program& program, const Target& target) {
  return Generator(program, target).run();
}

bool arguments_inline(const kernel::Program& program) {
  // Every Vulkan driver has 128 bytes; small types there would need features of their own.
  constexpr uint32_t push_constant_bytes = 128;
  if (program.argument_bytes() > push_constant_bytes) return false;
  for (const kernel::Parameter& p : program.parameters)
    if (!p.is_buffer && kernel::size_of(p.type) < 4) return false;
  return true;
}

bool fills_subgroups(const kernel::Program& program, const Target& target) {
  return program.team.kind == kernel::TeamKind::many && target.subgroup_size > 0 &&
         program.team.lanes % target.subgroup_size == 0;
}

std::string target_key(const Target& t) {
  std::string key = fmt::format("spirv-{}-", source_stamp);
  for (const bool feature : {t.float16,
                             t.float64,
                             t.int64,
                             t.storage8,
                             t.storage16,
                             t.native_integers,
                             t.signed_widening,
                             t.comparisons_flush,
                             t.fused_fma,
                             t.denorm_preserve32,
                             t.denorm_preserve64,
                             t.denorm_preserve16,
                             t.signed_zero_inf_nan32,
                             t.signed_zero_inf_nan64,
                             t.signed_zero_inf_nan16,
                             t.rounding_rte16,
                             t.subgroup_arithmetic,
                             t.subgroup_shuffle,
                             t.subgroup_vote,
                             t.subgroup_ballot,
                             t.int64_atomics,
                             t.float_atomics,
                             t.vulkan_memory_model,
                             t.bfloat16_matrices})
    key += feature ? '1' : '0';
  key = fmt::format("{}-{}-{}-{}-{}", key, t.smallest_subgroup, t.subgroup_size, t.max_lanes, t.shared_bytes);
  for (const kernel::MatrixShape& shape : t.matrices)
    key += fmt::format("-{}x{}x{}{}{}", shape.m, shape.n, shape.k, name_of(shape.operand),
                       name_of(shape.accumulator));
  return key;
}

}  // namespace adit::spirv
