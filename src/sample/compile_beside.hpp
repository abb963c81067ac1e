// A kernel that is compiled while the caller does something else.
#pragma once

#include <future>
#include <memory>

#include <adit/device.hpp>

namespace adit::sampling {

// Drivers and LLVM take most of the time to the first draw, for one kernel on one thread: those of a run are
// compiled at the same time, beside the transformation of the data. get() throws what compiling threw.
inline std::future<std::shared_ptr<const Kernel>> compile_beside(const std::shared_ptr<Device>& device,
                                                                 const kernel::Program& program) {
  return std::async(std::launch::async, [device, &program] { return device->compile(program); });
}

}  // namespace adit::sampling
