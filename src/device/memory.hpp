// One allocation of a device, given back to its pool when the last Buffer goes.
#pragma once

#include <cstdint>

namespace adit {

class Device;

class Memory {
 public:
  virtual ~Memory() = default;
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  uint64_t address() const { return address_; }
  uint64_t bytes() const { return bytes_; }
  const Device* device() const { return device_; }  // only compared, never followed

 protected:
  Memory(const Device* device, uint64_t address, uint64_t bytes)
      : device_(device), address_(address), bytes_(bytes) {}
  const Device* device_;
  uint64_t address_, bytes_;
};

}  // namespace adit
