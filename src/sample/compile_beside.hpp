// A kernel that is compiled while the caller does something else.
#pragma once

#include <future>
#include <memory>
#include <system_error>

#include <adit/device.hpp>

namespace adit::sampling {

// Drivers and LLVM take most of the time to the first draw, for one kernel on one thread: those of a run are
// compiled at the same time, beside the transformation of the data. get() throws what compiling threw, and
// compiles where the system has no more threads. The program must outlive the future.
inline std::future<std::shared_ptr<const Kernel>> compile_beside(const std::shared_ptr<Device>& device,
                                                                 const kernel::Program& program) {
  const auto compile = [device, &program] { return device->compile(program); };
  try {
    return std::async(std::launch::async, compile);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, compile);
  }
}

}  // namespace adit::sampling
