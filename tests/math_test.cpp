// The math library against MPFR on every device, within the bounds of the table in math_functions.cpp.
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

#include "math_measure.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

// One function in six has all of its samples, the others the first of them.
constexpr size_t all_samples = 25000, few_samples = 4000, samples_on_software = 2500;

template <class T>
void check_family(const std::string& family) {
  constexpr kernel::Type type = kernel::type_of<T>();
  std::vector<std::shared_ptr<Device>> devices = test_devices();
  if (type == kernel::Type::f64) std::erase_if(devices, [](const auto& d) { return !d->limits().float64; });
  if (devices.empty()) GTEST_SKIP() << "no device computes in " << name_of(type);
  for (const MathFunction& function : math_functions()) {
    if (function.family != family) continue;
    const size_t count = is_its_turn(std::hash<std::string>()(function.name), 6) ? all_samples : few_samples;
    for (const Measurement& worst : measure<T>(function, devices, count, samples_on_software)) {
      EXPECT_LE(worst.ulp, function.bound(type))
          << function.name << " in " << name_of(type) << " on " << worst.device << " at x = " << std::hexfloat
          << worst.x << ", y = " << worst.y << ": got " << worst.got << ", expected " << worst.exact;
      EXPECT_GE(worst.ulp, 0) << function.name << ": nothing was compared on " << worst.device;
    }
  }
}

class MathFamily : public testing::TestWithParam<std::string> {};

TEST_P(MathFamily, HoldsItsBoundsInF32) { check_family<float>(GetParam()); }
TEST_P(MathFamily, HoldsItsBoundsInF64) { check_family<double>(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Math, MathFamily,
                         testing::Values("exponentials", "powers", "trigonometric", "hyperbolic", "special",
                                         "rounding", "loose"),
                         [](const auto& family) { return family.param; });

TEST(MathMeasure, CountsUlps) {
  EXPECT_EQ(error_in_ulp(1.0f, Real(1)), 0);
  EXPECT_EQ(error_in_ulp(1.0f + 0x1p-23f, Real(1)), 1);
  EXPECT_EQ(error_in_ulp(2.0 - 0x1p-51, Real(2)), 1);
  EXPECT_EQ(error_in_ulp(0x1p-149f, Real(0x1p-148)), 1);
  EXPECT_EQ(error_in_ulp(0.0f, Real(0x1p-150)), 0.5);
  EXPECT_EQ(error_in_ulp(std::numeric_limits<float>::infinity(), Real(0x1.fffffep127)), 1);
  EXPECT_EQ(error_in_ulp(std::numeric_limits<float>::max(), Real(0x1p200)), 1);
}

TEST(MathMeasure, SeesWrongSpecialValues) {
  Real nan, infinity;
  mpfr_set_nan(nan);
  mpfr_set_inf(infinity, 1);
  EXPECT_TRUE(std::isinf(error_in_ulp(0.0, nan)));
  EXPECT_TRUE(std::isinf(error_in_ulp(NAN, Real(1))));
  EXPECT_TRUE(std::isinf(error_in_ulp(-0.0f, Real(0.0))));
  EXPECT_TRUE(std::isinf(error_in_ulp(-std::numeric_limits<double>::infinity(), infinity)));
  EXPECT_TRUE(std::isinf(error_in_ulp(std::numeric_limits<double>::max(), infinity)));
  EXPECT_EQ(error_in_ulp(std::numeric_limits<double>::infinity(), infinity), 0);
}

// A zero of the reference must not hide an error.
TEST(MathMeasure, SeesErrorsNearZeros) { EXPECT_GT(error_in_ulp(1e-9f, Real(0.0)), 1e6); }

TEST(Math, RefusesIntegers) {
  kernel::Builder k("integers", kernel::Team::one());
  EXPECT_THROW(kernel::exp(k.team()), Error);
  EXPECT_THROW(kernel::pow(k.constant(kernel::Type::f32, 1), k.constant(kernel::Type::f64, 1)), Error);
}

}  // namespace
}  // namespace adit::test
