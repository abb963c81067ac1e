// Runs a math function on devices over a dense sample and finds its largest error in ULP.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <adit/device.hpp>

#include "math_functions.hpp"

namespace adit::test {

// The special values, the neighbours of the function's points, then draws from its range and from all floats.
template <class T>
struct Samples {
  std::vector<T> x, y;
};
template <class T>
Samples<T> samples_of(const MathFunction& function, size_t count);

// |got - exact| in ULP of the exact result. Infinity where one is NaN and the other not, where an infinity is
// wrong, or a zero has the wrong sign. An overflow counts as 2^(largest exponent + 1).
template <class T>
double error_in_ulp(T got, const Real& exact, double term = 0);

kernel::Program math_program(const MathFunction& function, kernel::Type type);

struct Measurement {
  std::string device;
  size_t count = 0;
  double ulp = -1;  // the largest
  double x = 0, y = 0, got = 0;
  std::string exact;
};
// A software GPU gets few samples: it is slow.
template <class T>
std::vector<Measurement> measure(const MathFunction& function,
                                 std::span<const std::shared_ptr<Device>> devices, size_t count,
                                 size_t count_on_software);

// Those that ADIT_TEST_DEVICES names (separated by commas), else all that can be used.
std::vector<std::shared_ptr<Device>> test_devices();

}  // namespace adit::test
