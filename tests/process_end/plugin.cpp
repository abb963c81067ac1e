// A library with the engine inside of it, as a program would load it that has plugins.
#include <cmath>
#include <string>

#include <adit/adit.hpp>

// 42, by a sum on the device.
extern "C" __attribute__((visibility("default"))) int plugin_work(const char* device) {
  adit::set_default_device(adit::Device::open(device));
  const adit::Tensor x = adit::tensor(std::vector<float>(1000, 0.042f));
  return static_cast<int>(std::lround(adit::sum(x).item<float>()));
}
