// Some numbers of each of many chains, brought together on the device before the host reads them.
#pragma once

#include <memory>

#include <adit/device.hpp>
#include <adit/dtype.hpp>

#include "support/raw_bytes.hpp"

namespace adit::sampling {

// Numbers `offset` to `offset + count` of `chains` chains from `first` on, each of `stride` numbers.
struct Gathered {
  int64_t first = 0, chains = 0, stride = 0, offset = 0, count = 0;
};
RawBytes gathered(const std::shared_ptr<Device>& device, const Buffer& state, DType type,
                  const Gathered& what);

}  // namespace adit::sampling
