#include "sample/loop_memory.hpp"

#include <algorithm>

namespace adit::sampling {

int64_t loop_numbers(DType type, int64_t chains, const Device& device) {
  constexpr int64_t most_places = int64_t{1} << 31;  // of all chains' states: kernels count with 32 bits
  constexpr uint64_t share = 4;                      // a part of the memory
  uint64_t bytes = device.limits().max_buffer_bytes;
  if (const uint64_t all = device.info().memory_bytes) bytes = std::min(bytes, all);
  const int64_t numbers = std::min(static_cast<int64_t>(bytes / size_of(type)), most_places);
  return std::max<int64_t>(1, numbers / static_cast<int64_t>(share) / std::max<int64_t>(1, chains));
}

Density density_for(const stats::ModelState& model, NumberTypes numbers, int64_t chains, const Device& device,
                    const Forced& forced) {
  return make_density(
      model, numbers,
      forced.loop_numbers > 0 ? forced.loop_numbers : loop_numbers(numbers.type, chains, device),
      device.info().kind == DeviceKind::cpu);
}

}  // namespace adit::sampling
