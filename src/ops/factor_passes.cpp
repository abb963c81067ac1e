#include "ops/factor_passes.hpp"

#include <algorithm>

namespace adit::ops {

void append(Factor& made, size_t own, const Factor& inner, const std::vector<uint8_t>& tensors) {
  made.loop_trips = std::max(made.loop_trips, inner.loop_trips);
  const size_t first_scratch = own + made.scratch.size();
  made.scratch.insert(made.scratch.end(), inner.scratch.begin(), inner.scratch.end());
  const auto first = static_cast<uint32_t>(made.programs.size());
  made.programs.insert(made.programs.end(), inner.programs.begin(), inner.programs.end());
  for (FactorPass pass : inner.passes) {
    pass.program += first;
    for (uint8_t& buffer : pass.buffers)
      buffer = buffer < tensors.size() ? tensors[buffer]
                                       : static_cast<uint8_t>(first_scratch + buffer - tensors.size());
    made.passes.push_back(pass);
  }
}

}  // namespace adit::ops
