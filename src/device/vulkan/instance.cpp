#include "device/vulkan/instance.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <string_view>

#include "device/vulkan/vulkan.hpp"
#include "support/log.hpp"

namespace adit::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";
std::atomic<uint64_t> message_count{0};

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT type,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  // The loader's own remarks about drivers it could not open are of another type.
  if (type & VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT) {
    message_count.fetch_add(1, std::memory_order_relaxed);
    log_info("vulkan: validation: {}", data->pMessage);
  }
  return VK_FALSE;
}

bool validation_wanted() {
  const char* value = std::getenv("ADIT_VALIDATION");
  return value && *value && std::string_view(value) != "0";
}

bool has_validation_layer() {
  if (!loader().problem.empty()) return false;
  uint32_t count = 0;
  loader().enumerate_instance_layer_properties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  loader().enumerate_instance_layer_properties(&count, layers.data());
  for (const VkLayerProperties& layer : layers)
    if (std::strcmp(layer.layerName, validation_layer) == 0) return true;
  return false;
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info{};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  return info;
}

VkResult create_instance(Instance& made) {
  VkApplicationInfo application{};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pEngineName = "adit";
  application.apiVersion = VK_API_VERSION_1_2;
  VkInstanceCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  const char* extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
  const VkValidationFeatureEnableEXT wanted[] = {VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
  VkValidationFeaturesEXT features{};
  features.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = wanted;
  if (made.validation) {
    info.pNext = &features;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &validation_layer;
    info.enabledExtensionCount = 2;
    info.ppEnabledExtensionNames = extensions;
  }
  return loader().create_instance(&info, nullptr, &made.handle);
}

Instance make_instance() {
  Instance made;
  made.problem = loader().problem;
  if (!made.problem.empty()) return made;
  loader().enumerate_instance_version(&made.version);
  if (made.version < VK_API_VERSION_1_2) {
    made.problem = fmt::format("the Vulkan loader {} is of version 1.{}; 1.2 is needed", loader().name,
                               VK_API_VERSION_MINOR(made.version));
    return made;
  }
  made.validation = validation_wanted();
  if (made.validation && !has_validation_layer()) {
    made.problem = fmt::format("ADIT_VALIDATION is set, but the layer {} is not installed", validation_layer);
    return made;
  }
  const VkResult result = create_instance(made);
  if (result != VK_SUCCESS) {
    made.handle = VK_NULL_HANDLE;
    made.problem = result == VK_ERROR_INCOMPATIBLE_DRIVER
                       ? "the Vulkan loader found no driver"
                       : fmt::format("vkCreateInstance failed: {}", result_name(result));
    return made;
  }
  made.calls = load_instance_calls(made.handle);
  if (made.validation && made.calls.create_debug_utils_messenger) {
    const VkDebugUtilsMessengerCreateInfoEXT info = messenger_info();
    VkDebugUtilsMessengerEXT messenger = VK_NULL_HANDLE;
    made.calls.create_debug_utils_messenger(made.handle, &info, nullptr, &messenger);
  }
  return made;
}

}  // namespace

const Instance& instance() {
  static const Instance* const made = new Instance(make_instance());
  return *made;
}

bool validation_available() { return has_validation_layer(); }
uint64_t validation_messages() { return message_count.load(std::memory_order_relaxed); }

std::string loader_state() {
  const Instance& here = instance();
  if (!here.problem.empty()) return here.problem;
  return fmt::format("Vulkan {}.{}.{} ({}{})", VK_API_VERSION_MAJOR(here.version),
                     VK_API_VERSION_MINOR(here.version), VK_API_VERSION_PATCH(here.version), loader().name,
                     here.validation ? ", validation on" : "");
}

}  // namespace adit::vulkan
