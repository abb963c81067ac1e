# Only the headers: the loader is opened at run time.
find_path(VulkanHeaders_INCLUDE_DIR vulkan/vulkan.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(VulkanHeaders REQUIRED_VARS VulkanHeaders_INCLUDE_DIR)
if(VulkanHeaders_FOUND AND NOT TARGET VulkanHeaders::VulkanHeaders)
  add_library(VulkanHeaders::VulkanHeaders INTERFACE IMPORTED)
  set_target_properties(VulkanHeaders::VulkanHeaders PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${VulkanHeaders_INCLUDE_DIR}")
endif()
