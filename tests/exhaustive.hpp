// One f32 function of one number on all 2^32 inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <adit/device.hpp>

#include "math_functions.hpp"

namespace adit::test {

struct Exhausted {
  std::string function, device;
  double ulp = 0;           // the largest error
  float x = 0;              // where it is
  uint64_t misrounded = 0;  // results that are not the float nearest to the reference
};

// The C library's double function, or one as good; null where there is none.
using Reference = double (*)(double);
Reference double_reference(const std::string& function);

Exhausted exhaust(Device& device, const MathFunction& function);

// A small file of results, one function and device a line, in the order of the table of functions.
std::vector<Exhausted> read_record(const std::string& path);
void write_record(const std::string& path, const std::vector<Exhausted>& rows);

}  // namespace adit::test
