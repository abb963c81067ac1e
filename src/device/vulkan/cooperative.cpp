#include "device/vulkan/cooperative.hpp"

#include <algorithm>

namespace adit::vulkan {

using kernel::MatrixShape;
using kernel::Type;

namespace {

// VkComponentTypeKHR; none for what the kernel language does not have.
Type type_of_component(int32_t component) {
  constexpr int32_t bfloat16 = 1000141000;
  constexpr Type known[] = {Type::f16, Type::f32, Type::f64, Type::i8,  Type::i16, Type::i32,
                            Type::i64, Type::u8,  Type::u16, Type::u32, Type::u64};
  if (component == bfloat16) return Type::bf16;
  return component >= 0 && component < static_cast<int32_t>(std::size(known)) ? known[component] : Type::none;
}

bool stages_include_compute(const Physical& device) {
  cooperative::StageProperties stages;
  VkPhysicalDeviceProperties2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  all.pNext = &stages;
  instance().calls.get_properties2(device.handle, &all);
  return stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT;
}

std::vector<cooperative::MatrixProperties> properties_of(const Physical& device) {
  const auto get = reinterpret_cast<cooperative::GetMatrixProperties>(loader().get_instance_proc_addr(
      instance().handle, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  uint32_t count = 0;
  if (!get || get(device.handle, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<cooperative::MatrixProperties> all(count);
  const VkResult result = get(device.handle, &count, all.data());
  all.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? count : 0);
  return all;
}

}  // namespace

void read_matrices(Physical& device, bool has_matrices, bool has_bfloat16) {
  constexpr int32_t subgroup_scope = 3;
  if (!has_matrices) return;
  cooperative::Bfloat16Features bfloat16;
  cooperative::MatrixFeatures matrices;
  if (has_bfloat16) matrices.pNext = &bfloat16;
  VkPhysicalDeviceFeatures2 all{};
  all.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  all.pNext = &matrices;
  instance().calls.get_features2(device.handle, &all);
  if (!matrices.cooperativeMatrix || !stages_include_compute(device)) return;
  device.target.bfloat16_matrices = bfloat16.shaderBFloat16Type && bfloat16.shaderBFloat16CooperativeMatrix;
  std::vector<MatrixShape>& shapes = device.limits.cooperative_matrices;
  for (const cooperative::MatrixProperties& told : properties_of(device)) {
    const MatrixShape shape{told.MSize, told.NSize, told.KSize, type_of_component(told.AType),
                            type_of_component(told.CType)};
    const bool plain = told.scope == subgroup_scope && told.AType == told.BType &&
                       told.CType == told.ResultType && !told.saturatingAccumulation &&
                       shape.operand != Type::none && shape.accumulator != Type::none;
    // Small integers live in 32-bit registers and cells, where the driver would not look for a matrix of
    // them.
    const bool usable =
        kernel::is_float(shape.operand) && (shape.operand != Type::bf16 || device.target.bfloat16_matrices);
    if (plain && usable && std::find(shapes.begin(), shapes.end(), shape) == shapes.end())
      shapes.push_back(shape);
  }
}

MatrixChain::MatrixChain(const Physical& device, void* next)
    : first_(next),
      has_matrices_(!device.limits.cooperative_matrices.empty()),
      has_bfloat16_(has_matrices_ && device.target.bfloat16_matrices) {
  if (has_matrices_) {
    matrices_.cooperativeMatrix = VK_TRUE;
    matrices_.pNext = first_;
    first_ = &matrices_;
  }
  if (has_bfloat16_) {
    bfloat16_.shaderBFloat16Type = bfloat16_.shaderBFloat16CooperativeMatrix = VK_TRUE;
    bfloat16_.pNext = first_;
    first_ = &bfloat16_;
  }
}

std::vector<const char*> MatrixChain::extensions() const {
  std::vector<const char*> names;
  if (has_matrices_) names.push_back(cooperative::matrix_extension);
  if (has_bfloat16_) names.push_back(cooperative::bfloat16_extension);
  return names;
}

}  // namespace adit::vulkan
