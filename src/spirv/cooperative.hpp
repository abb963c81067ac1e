// Numbers of SPV_KHR_cooperative_matrix and SPV_KHR_bfloat16, which packaged SPIR-V headers may be too old to
// have.
#pragma once

#include <spirv/unified1/spirv.hpp11>

namespace adit::spirv::cooperative {

inline constexpr const char* extension = "SPV_KHR_cooperative_matrix";
inline constexpr const char* bfloat16_extension = "SPV_KHR_bfloat16";

inline constexpr auto capability = static_cast<spv::Capability>(6022);
inline constexpr auto bfloat16_type = static_cast<spv::Capability>(5116);
inline constexpr auto bfloat16_matrix = static_cast<spv::Capability>(5118);
inline constexpr uint32_t bfloat16_encoding = 0;  // the operand of OpTypeFloat after its width

inline constexpr auto type_matrix = static_cast<spv::Op>(4456);
inline constexpr auto load = static_cast<spv::Op>(4457);
inline constexpr auto store = static_cast<spv::Op>(4458);
inline constexpr auto multiply_add = static_cast<spv::Op>(4459);

// kernel::MatrixRole and kernel::MatrixLayout number uses and layouts as the extension does.
inline constexpr uint32_t signed_a = 1, signed_b = 2, signed_c = 4, signed_result = 8;

}  // namespace adit::spirv::cooperative
