// Vulkan's functions, found at run time: the program starts on a host that has no Vulkan.
#pragma once

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <string>
#include <vulkan/vulkan.h>

namespace adit::vulkan {

struct Loader {
  std::string name;     // of the library that was opened
  std::string problem;  // why there is none
  PFN_vkGetInstanceProcAddr get_instance_proc_addr = nullptr;
  PFN_vkEnumerateInstanceVersion enumerate_instance_version = nullptr;
  PFN_vkEnumerateInstanceLayerProperties enumerate_instance_layer_properties = nullptr;
  PFN_vkEnumerateInstanceExtensionProperties enumerate_instance_extension_properties = nullptr;
  PFN_vkCreateInstance create_instance = nullptr;
};

// Opened at the first call and never closed: drivers do not like to be unloaded.
const Loader& loader();

struct InstanceCalls {
  PFN_vkDestroyInstance destroy_instance;
  PFN_vkEnumeratePhysicalDevices enumerate_physical_devices;
  PFN_vkGetPhysicalDeviceProperties get_properties;
  PFN_vkGetPhysicalDeviceProperties2 get_properties2;
  PFN_vkGetPhysicalDeviceFeatures2 get_features2;
  PFN_vkGetPhysicalDeviceMemoryProperties get_memory_properties;
  PFN_vkGetPhysicalDeviceQueueFamilyProperties get_queue_family_properties;
  PFN_vkEnumerateDeviceExtensionProperties enumerate_device_extension_properties;
  PFN_vkCreateDevice create_device;
  PFN_vkGetDeviceProcAddr get_device_proc_addr;
  PFN_vkCreateDebugUtilsMessengerEXT create_debug_utils_messenger;  // null without the extension
};
InstanceCalls load_instance_calls(VkInstance instance);

struct DeviceCalls {
  PFN_vkDestroyDevice destroy_device;
  PFN_vkGetDeviceQueue get_device_queue;
  PFN_vkDeviceWaitIdle device_wait_idle;
  PFN_vkQueueSubmit queue_submit;
  // Memory
  PFN_vkAllocateMemory allocate_memory;
  PFN_vkFreeMemory free_memory;
  PFN_vkMapMemory map_memory;
  PFN_vkCreateBuffer create_buffer;
  PFN_vkDestroyBuffer destroy_buffer;
  PFN_vkGetBufferMemoryRequirements get_buffer_memory_requirements;
  PFN_vkBindBufferMemory bind_buffer_memory;
  PFN_vkGetBufferDeviceAddress get_buffer_device_address;
  // Pipelines
  PFN_vkCreateShaderModule create_shader_module;
  PFN_vkDestroyShaderModule destroy_shader_module;
  PFN_vkCreatePipelineLayout create_pipeline_layout;
  PFN_vkDestroyPipelineLayout destroy_pipeline_layout;
  PFN_vkCreateComputePipelines create_compute_pipelines;
  PFN_vkDestroyPipeline destroy_pipeline;
  PFN_vkCreatePipelineCache create_pipeline_cache;
  PFN_vkDestroyPipelineCache destroy_pipeline_cache;
  PFN_vkGetPipelineCacheData get_pipeline_cache_data;
  PFN_vkMergePipelineCaches merge_pipeline_caches;
  // Commands
  PFN_vkCreateCommandPool create_command_pool;
  PFN_vkDestroyCommandPool destroy_command_pool;
  PFN_vkResetCommandPool reset_command_pool;
  PFN_vkAllocateCommandBuffers allocate_command_buffers;
  PFN_vkBeginCommandBuffer begin_command_buffer;
  PFN_vkEndCommandBuffer end_command_buffer;
  PFN_vkCmdBindPipeline cmd_bind_pipeline;
  PFN_vkCmdPushConstants cmd_push_constants;
  PFN_vkCmdDispatch cmd_dispatch;
  PFN_vkCmdPipelineBarrier cmd_pipeline_barrier;
  PFN_vkCmdCopyBuffer cmd_copy_buffer;
  PFN_vkCmdFillBuffer cmd_fill_buffer;
  // Stamps of time
  PFN_vkCreateQueryPool create_query_pool;
  PFN_vkDestroyQueryPool destroy_query_pool;
  PFN_vkGetQueryPoolResults get_query_pool_results;
  PFN_vkCmdResetQueryPool cmd_reset_query_pool;
  PFN_vkCmdWriteTimestamp cmd_write_timestamp;
  // Semaphores
  PFN_vkCreateSemaphore create_semaphore;
  PFN_vkDestroySemaphore destroy_semaphore;
  PFN_vkGetSemaphoreCounterValue get_semaphore_counter_value;
  PFN_vkWaitSemaphores wait_semaphores;
};
DeviceCalls load_device_calls(const InstanceCalls& instance, VkDevice device);

// "VK_ERROR_DEVICE_LOST"; unknown results by number.
std::string result_name(VkResult result);

// Throws the Error that fits the result; `what` is the Vulkan function.
void check(VkResult result, const char* what);

}  // namespace adit::vulkan
