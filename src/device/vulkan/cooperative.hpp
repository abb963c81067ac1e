// VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, which packaged Vulkan headers may be too old to have:
// their structures, what a device tells of them, and how it is opened with them.
#pragma once

#include <vector>

#include "device/vulkan/instance.hpp"

namespace adit::vulkan {

namespace cooperative {

inline constexpr const char* matrix_extension = "VK_KHR_cooperative_matrix";
inline constexpr const char* bfloat16_extension = "VK_KHR_shader_bfloat16";

struct MatrixFeatures {
  VkStructureType sType = static_cast<VkStructureType>(1000506000);
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE;
  VkBool32 cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

struct Bfloat16Features {
  VkStructureType sType = static_cast<VkStructureType>(1000141000);
  void* pNext = nullptr;
  VkBool32 shaderBFloat16Type = VK_FALSE;
  VkBool32 shaderBFloat16DotProduct = VK_FALSE;
  VkBool32 shaderBFloat16CooperativeMatrix = VK_FALSE;
};

struct MatrixProperties {
  VkStructureType sType = static_cast<VkStructureType>(1000506001);
  void* pNext = nullptr;
  uint32_t MSize = 0, NSize = 0, KSize = 0;
  int32_t AType = 0, BType = 0, CType = 0, ResultType = 0;
  VkBool32 saturatingAccumulation = VK_FALSE;
  int32_t scope = 0;
};

struct StageProperties {
  VkStructureType sType = static_cast<VkStructureType>(1000506002);
  void* pNext = nullptr;
  VkShaderStageFlags cooperativeMatrixSupportedStages = 0;
};

using GetMatrixProperties = VkResult(VKAPI_PTR*)(VkPhysicalDevice, uint32_t*, MatrixProperties*);

}  // namespace cooperative

// Fills in limits.cooperative_matrices and target.bfloat16_matrices from the driver; both stay empty without
// the extensions.
void read_matrices(Physical& device, bool has_matrices, bool has_bfloat16);

// The features that a device with matrices is opened with, ready to be put in front of a chain.
class MatrixChain {
 public:
  MatrixChain(const Physical& device, void* next);
  void* first() { return first_; }
  std::vector<const char*> extensions() const;

 private:
  cooperative::MatrixFeatures matrices_;
  cooperative::Bfloat16Features bfloat16_;
  void* first_ = nullptr;
  bool has_matrices_ = false, has_bfloat16_ = false;
};

}  // namespace adit::vulkan
