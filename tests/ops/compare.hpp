// A device's result beside the expected one.
#pragma once

#include <string>
#include <vector>

#include "ops/cases.hpp"

namespace adit::test {

struct Rules {
  double ulp = 0;               // the row's bound; 0: correctly rounded
  bool keeps_denormals = true;  // f32 on this device
};

// An empty text where all is well; else the first few differences.
std::string compare(const Expected& expected, const Tensor& got, const std::vector<Stored>& inputs,
                    const Rules& rules);

}  // namespace adit::test
