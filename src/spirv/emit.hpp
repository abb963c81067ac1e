// A kernel program as SPIR-V words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::spirv {

// What the code may use. Each true member is a feature that the device was opened with.
struct Target {
  bool float16 = false, float64 = false;
  bool int64 = false;
  bool storage8 = false, storage16 = false;
  // False where the driver's integer division and 64-bit products fail: they are composed of smaller pieces
  // then. Mesa's software device is such a one on a CPU whose name promises vector instructions that it does
  // not have.
  bool native_integers = true;
  // False where a signed integer that was widened to 64 bits is compared with constants wrongly: it is
  // widened by shifts then. Mesa's software device is such a one (22.3: neither -1 < 0 nor 3 < 100 is true).
  bool signed_widening = true;
  // True where comparisons take subnormal f32 operands for zero although the driver claims to keep them; with
  // a constant zero they are then made of the bits. NVIDIA's driver is such a one.
  bool comparisons_flush = false;
  bool fused_fma = true;  // where false, fma is composed of exact pieces
  bool denorm_preserve32 = false, denorm_preserve64 = false, denorm_preserve16 = false;
  bool signed_zero_inf_nan32 = false, signed_zero_inf_nan64 = false, signed_zero_inf_nan16 = false;
  bool rounding_rte16 = false;
  bool subgroup_arithmetic = false, subgroup_shuffle = false, subgroup_vote = false, subgroup_ballot = false;
  bool int64_atomics = false;
  bool float_atomics = false;                 // f32 add on buffers, VK_EXT_shader_atomic_float
  bool vulkan_memory_model = false;           // with device scope
  std::vector<kernel::MatrixShape> matrices;  // products of a subgroup's matrices
  bool bfloat16_matrices = false;             // VK_KHR_shader_bfloat16
  uint32_t smallest_subgroup = 4;             // lanes; sizes the scratch memory of reductions
  // Lanes of every subgroup, all of them there, in a team that is a multiple of it; 0 where that is not
  // known. Whoever makes the pipeline sees to it.
  uint32_t subgroup_size = 0;
  uint32_t max_lanes = 128, shared_bytes = 16384;
};

// True where the push constants are the argument block itself, false where they are the 64-bit address of
// one. A block that fits saves the kernel a trip to memory before it can start: 0.2 us of 2.6 between
// dependent kernels.
bool arguments_inline(const kernel::Program& program);

// True where a program's teams are whole subgroups of target.subgroup_size lanes.
bool fills_subgroups(const kernel::Program& program, const Target& target);

// A compute shader "main" of SPIR-V 1.5 for Vulkan 1.2. Workgroups are counted x first, then y; those past
// the number of teams do nothing. Throws Error(unsupported) naming the first thing that the program needs and
// the target lacks.
std::vector<uint32_t> emit(const kernel::Program& program, const Target& target);

// Everything of the target that changes the words, for a cache key.
std::string target_key(const Target& target);

}  // namespace adit::spirv
