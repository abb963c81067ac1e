// A choice between a tensor and the same with updates.
#pragma once

#include <adit/tensor.hpp>

namespace adit::stan {

// select(condition, yes, no), which goes with `yes`. Where `yes` is `no` with few elements put at places, it
// is a choice of what is put there: of long tensors nothing else is computed, and loops change them where
// they lie.
Tensor chosen_elements(const Tensor& condition, const Tensor& yes, const Tensor& no);

}  // namespace adit::stan
