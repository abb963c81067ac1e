// The CPU as a device: machine code from LLVM on a pool of threads.
#pragma once

#include <functional>
#include <memory>

#include <adit/device.hpp>

namespace adit::cpu {

// `reason` says why it cannot be used, where the build has no code generator.
DeviceInfo describe();
std::shared_ptr<Device> open(const std::function<void(Limits&)>& adjust = {});

}  // namespace adit::cpu
