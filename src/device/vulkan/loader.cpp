#include "device/vulkan/loader.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>

#include <adit/error.hpp>

namespace adit::vulkan {
namespace {

template <class Function>
void bind(Function& function, PFN_vkVoidFunction address) {
  function = reinterpret_cast<Function>(address);
}

Loader open_loader() {
  Loader loader;
  const char* named = std::getenv("ADIT_VULKAN_LOADER");
  const char* const usual[] = {"libvulkan.so.1", "libvulkan.so"};
  void* library = nullptr;
  for (const char* name : usual) {
    loader.name = named && *named ? named : name;
    library = dlopen(loader.name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library || (named && *named)) break;
  }
  if (!library) {
    const char* why = dlerror();
    loader.problem = fmt::format("no Vulkan loader: {}", why ? why : "libvulkan was not found");
    return loader;
  }
  loader.get_instance_proc_addr =
      reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
  if (!loader.get_instance_proc_addr) {
    loader.problem = fmt::format("no Vulkan loader: {} lacks vkGetInstanceProcAddr", loader.name);
    return loader;
  }
  auto global = [&](auto& function, const char* name) {
    bind(function, loader.get_instance_proc_addr(nullptr, name));
  };
  global(loader.enumerate_instance_version, "vkEnumerateInstanceVersion");
  global(loader.enumerate_instance_layer_properties, "vkEnumerateInstanceLayerProperties");
  global(loader.enumerate_instance_extension_properties, "vkEnumerateInstanceExtensionProperties");
  global(loader.create_instance, "vkCreateInstance");
  if (!loader.enumerate_instance_version)
    loader.problem = fmt::format("the Vulkan loader {} is of version 1.0; 1.2 is needed", loader.name);
  return loader;
}

}  // namespace

const Loader& loader() {
  static const Loader* const opened = new Loader(open_loader());
  return *opened;
}

InstanceCalls load_instance_calls(VkInstance instance) {
  InstanceCalls calls{};
  auto get = [&](auto& function, const char* name) {
    bind(function, loader().get_instance_proc_addr(instance, name));
  };
  get(calls.destroy_instance, "vkDestroyInstance");
  get(calls.enumerate_physical_devices, "vkEnumeratePhysicalDevices");
  get(calls.get_properties, "vkGetPhysicalDeviceProperties");
  get(calls.get_properties2, "vkGetPhysicalDeviceProperties2");
  get(calls.get_features2, "vkGetPhysicalDeviceFeatures2");
  get(calls.get_memory_properties, "vkGetPhysicalDeviceMemoryProperties");
  get(calls.get_queue_family_properties, "vkGetPhysicalDeviceQueueFamilyProperties");
  get(calls.enumerate_device_extension_properties, "vkEnumerateDeviceExtensionProperties");
  get(calls.create_device, "vkCreateDevice");
  get(calls.get_device_proc_addr, "vkGetDeviceProcAddr");
  get(calls.create_debug_utils_messenger, "vkCreateDebugUtilsMessengerEXT");
  return calls;
}

DeviceCalls load_device_calls(const InstanceCalls& instance, VkDevice device) {
  DeviceCalls calls{};
  auto get = [&](auto& function, const char* name) {
    bind(function, instance.get_device_proc_addr(device, name));
    if (!function)
      throw Error(ErrorKind::unsupported, fmt::format("[open] device: its driver lacks {}", name));
  };
  get(calls.destroy_device, "vkDestroyDevice");
  get(calls.get_device_queue, "vkGetDeviceQueue");
  get(calls.device_wait_idle, "vkDeviceWaitIdle");
  get(calls.queue_submit, "vkQueueSubmit");
  get(calls.allocate_memory, "vkAllocateMemory");
  get(calls.free_memory, "vkFreeMemory");
  get(calls.map_memory, "vkMapMemory");
  get(calls.create_buffer, "vkCreateBuffer");
  get(calls.destroy_buffer, "vkDestroyBuffer");
  get(calls.get_buffer_memory_requirements, "vkGetBufferMemoryRequirements");
  get(calls.bind_buffer_memory, "vkBindBufferMemory");
  get(calls.get_buffer_device_address, "vkGetBufferDeviceAddress");
  get(calls.create_shader_module, "vkCreateShaderModule");
  get(calls.destroy_shader_module, "vkDestroyShaderModule");
  get(calls.create_pipeline_layout, "vkCreatePipelineLayout");
  get(calls.destroy_pipeline_layout, "vkDestroyPipelineLayout");
  get(calls.create_compute_pipelines, "vkCreateComputePipelines");
  get(calls.destroy_pipeline, "vkDestroyPipeline");
  get(calls.create_pipeline_cache, "vkCreatePipelineCache");
  get(calls.destroy_pipeline_cache, "vkDestroyPipelineCache");
  get(calls.get_pipeline_cache_data, "vkGetPipelineCacheData");
  get(calls.merge_pipeline_caches, "vkMergePipelineCaches");
  get(calls.create_command_pool, "vkCreateCommandPool");
  get(calls.destroy_command_pool, "vkDestroyCommandPool");
  get(calls.reset_command_pool, "vkResetCommandPool");
  get(calls.allocate_command_buffers, "vkAllocateCommandBuffers");
  get(calls.begin_command_buffer, "vkBeginCommandBuffer");
  get(calls.end_command_buffer, "vkEndCommandBuffer");
  get(calls.cmd_bind_pipeline, "vkCmdBindPipeline");
  get(calls.cmd_push_constants, "vkCmdPushConstants");
  get(calls.cmd_dispatch, "vkCmdDispatch");
  get(calls.cmd_pipeline_barrier, "vkCmdPipelineBarrier");
  get(calls.cmd_copy_buffer, "vkCmdCopyBuffer");
  get(calls.cmd_fill_buffer, "vkCmdFillBuffer");
  get(calls.create_query_pool, "vkCreateQueryPool");
  get(calls.destroy_query_pool, "vkDestroyQueryPool");
  get(calls.get_query_pool_results, "vkGetQueryPoolResults");
  get(calls.cmd_reset_query_pool, "vkCmdResetQueryPool");
  get(calls.cmd_write_timestamp, "vkCmdWriteTimestamp");
  get(calls.create_semaphore, "vkCreateSemaphore");
  get(calls.destroy_semaphore, "vkDestroySemaphore");
  get(calls.get_semaphore_counter_value, "vkGetSemaphoreCounterValue");
  get(calls.wait_semaphores, "vkWaitSemaphores");
  return calls;
}

std::string result_name(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY: return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY: return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED: return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST: return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_LAYER_NOT_PRESENT: return "VK_ERROR_LAYER_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT: return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_FEATURE_NOT_PRESENT: return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_INCOMPATIBLE_DRIVER: return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_TOO_MANY_OBJECTS: return "VK_ERROR_TOO_MANY_OBJECTS";
    default: return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

void check(VkResult result, const char* what) {
  if (result == VK_SUCCESS) return;
  ErrorKind kind = ErrorKind::internal;
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY)
    kind = ErrorKind::out_of_memory;
  if (result == VK_ERROR_DEVICE_LOST) kind = ErrorKind::device_lost;
  if (result == VK_ERROR_FEATURE_NOT_PRESENT || result == VK_ERROR_EXTENSION_NOT_PRESENT)
    kind = ErrorKind::unsupported;
  throw Error(kind, fmt::format("[{}] result: expected success, got {}", what, result_name(result)));
}

}  // namespace adit::vulkan
