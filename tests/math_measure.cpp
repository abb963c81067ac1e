#include "math_measure.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

namespace adit::test {

using kernel::Type;
using kernel::Value;

namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values{0,      Limits::denorm_min(),    Limits::min() - Limits::denorm_min(),
                        1,      Limits::min(),           Limits::max(),
                        T(2),   Limits::infinity(),      T(3),
                        T(0.5), Limits::epsilon(),       T(1) / Limits::epsilon(),
                        T(1.5), std::sqrt(Limits::min())};
  for (size_t i = 0, n = values.size(); i < n; ++i) values.push_back(-values[i]);
  values.push_back(Limits::quiet_NaN());
  return values;
}

template <class T>
class Source {
 public:
  explicit Source(const MathFunction& function) : function_(function), random_(20240229) {}

  // All bit patterns alike, but a NaN without a sign: MPFR's have none.
  T any() {
    T x = std::bit_cast<T>(static_cast<Bits<T>>(random_()));
    return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
  }
  T between(double low, double high) { return static_cast<T>(low + (high - low) * unit_(random_)); }
  // All magnitudes from 2^-30 to 2^30 alike.
  T spread() { return static_cast<T>(std::exp2(between(-30, 30)) * (random_() & 1 ? 1 : -1)); }
  // A point of interest and a step away from it, of any size up to 1/4.
  T near_point() {
    if (function_.points.empty()) return spread();
    double point = function_.points[random_() % function_.points.size()];
    double distance = std::ldexp(unit_(random_) - 0.5, -static_cast<int>(random_() % 30));
    return static_cast<T>(random_() & 1 ? point + distance : point * (1 + distance));
  }
  T first() {
    switch (random_() % 4) {
      case 0: return any();
      case 1: return between(function_.low, function_.high);
      case 2: return spread();
      default: return near_point();
    }
  }
  T second(T x) {
    if (function_.second == Second::none) return 0;
    if (function_.second == Second::integer) return static_cast<T>(static_cast<int>(random_() % 81) - 40);
    if (function_.second == Second::power && random_() % 2) {
      // So that x^y stays in the range of the type.
      double size = std::numeric_limits<T>::max_exponent * M_LN2 / std::abs(std::log(std::abs(double{x})));
      return static_cast<T>(between(-1.1, 1.1) * std::min(size, 1e6));
    }
    return random_() % 4 ? first() : static_cast<T>(x * between(-4, 4));
  }

 private:
  const MathFunction& function_;
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> unit_{0, 1};
};

template <class T>
void add_neighbours(std::vector<T>& values, double point) {
  T up = static_cast<T>(point), down = up;
  values.push_back(up);
  for (int i = 0; i < 3; ++i) {
    up = std::nextafter(up, std::numeric_limits<T>::infinity());
    down = std::nextafter(down, -std::numeric_limits<T>::infinity());
    values.insert(values.end(), {up, down, -up});
  }
}

}  // namespace

template <class T>
Samples<T> samples_of(const MathFunction& function, size_t count) {
  Samples<T> samples;
  Source<T> source(function);
  std::vector<T> special = special_values<T>(), firsts = special;
  for (double point : function.points) add_neighbours(firsts, point);
  for (T x : firsts) {
    samples.x.push_back(x);
    samples.y.push_back(source.second(x));
  }
  std::vector<T> seconds;
  if (function.second == Second::integer) seconds = {-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 127, 1001};
  if (function.second == Second::any || function.second == Second::power) seconds = special;
  for (T x : special)
    for (T y : seconds) {
      samples.x.push_back(x);
      samples.y.push_back(y);
    }
  while (samples.x.size() < count) {
    T x = source.first();
    samples.x.push_back(x);
    samples.y.push_back(source.second(x));
  }
  return samples;
}

template <class T>
double error_in_ulp(T got, const Real& exact, double term) {
  using Limits = std::numeric_limits<T>;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  if (mpfr_nan_p(exact) || std::isnan(got)) return mpfr_nan_p(exact) && std::isnan(got) ? 0 : wrong;
  if (mpfr_inf_p(exact)) return std::isinf(got) && std::signbit(got) == !!mpfr_signbit(exact) ? 0 : wrong;
  if (mpfr_zero_p(exact) && got == 0) return std::signbit(got) == !!mpfr_signbit(exact) ? 0 : wrong;
  Real want, error, overflow(1);
  mpfr_mul_2si(overflow, overflow, Limits::max_exponent, MPFR_RNDN);
  mpfr_set(want, exact, MPFR_RNDN);
  if (mpfr_cmpabs(want, overflow) > 0) mpfr_copysign(want, overflow, want, MPFR_RNDN);
  if (std::isinf(got))
    mpfr_setsign(error, overflow, std::signbit(got), MPFR_RNDN);
  else
    mpfr_set_d(error, got, MPFR_RNDN);
  mpfr_sub(error, error, want, MPFR_RNDN);
  long exponent =
      mpfr_zero_p(want) ? Limits::min_exponent : std::min<long>(mpfr_get_exp(want), Limits::max_exponent);
  if (term != 0) exponent = std::max<long>(exponent, std::ilogb(term) + 1);
  long unit = std::max<long>(exponent, Limits::min_exponent) - Limits::digits;
  mpfr_mul_2si(error, error, -unit, MPFR_RNDN);
  return std::abs(mpfr_get_d(error, MPFR_RNDN));
}

kernel::Program math_program(const MathFunction& function, Type type) {
  kernel::Builder k("math_" + function.name + "_" + std::string(name_of(type)), kernel::Team::one());
  auto x = k.buffer("x", type, kernel::Access::read), y = k.buffer("y", type, kernel::Access::read);
  auto z = k.buffer("z", type, kernel::Access::write);
  Value i = k.team();
  z[i] = function.build(x[i], y[i]);
  return k.finish();
}

namespace {

template <class T>
std::vector<T> evaluate(Device& device, const MathFunction& function, const Samples<T>& samples,
                        size_t count) {
  auto compiled = device.compile(math_program(function, kernel::type_of<T>()));
  uint64_t bytes = count * sizeof(T);
  Buffer x = device.allocate(bytes), y = device.allocate(bytes), z = device.allocate(bytes);
  device.write(x, samples.x.data(), bytes);
  device.write(y, samples.y.data(), bytes);
  device.run(*compiled, count, {x, y, z});
  std::vector<T> result(count);
  device.read(z, result.data(), bytes);
  return result;
}

template <class T>
bool is_subnormal(T x) {
  return x != 0 && std::abs(x) < std::numeric_limits<T>::min();
}

std::string text_of(const Real& number) {
  char text[64];
  mpfr_snprintf(text, sizeof text, "%.20Rg", static_cast<mpfr_srcptr>(number));
  return text;
}

}  // namespace

template <class T>
std::vector<Measurement> measure(const MathFunction& function,
                                 std::span<const std::shared_ptr<Device>> devices, size_t count,
                                 size_t count_on_software) {
  Samples<T> samples = samples_of<T>(function, count);
  std::vector<Measurement> found;
  std::vector<std::vector<T>> results;
  size_t largest = 0;
  for (const auto& device : devices) {
    bool slow = device->info().kind == DeviceKind::software;
    size_t size = slow ? std::min(count_on_software, samples.x.size()) : samples.x.size();
    results.push_back(evaluate(*device, function, samples, size));
    Measurement& entry = found.emplace_back();
    entry.device = device->info().id;
    entry.count = size;
    largest = std::max(largest, size);
  }
  Real exact;
  for (size_t i = 0; i < largest; ++i) {
    T x = samples.x[i], y = samples.y[i];
    Real exact_x(x), exact_y(y);
    function.exact(exact, exact_x, exact_y);
    double term = function.term ? function.term(x) : 0;
    for (size_t d = 0; d < devices.size(); ++d) {
      if (i >= results[d].size()) continue;
      T got = results[d][i];
      // A device that flushes subnormal numbers may take them, and yield them, as 0.
      bool flushes = sizeof(T) == 4 && !devices[d]->limits().keeps_denormals;
      if (flushes && (is_subnormal(x) || is_subnormal(y))) continue;
      if (flushes && got == 0 && mpfr_cmpabs(exact, Real(std::numeric_limits<T>::min())) < 0) continue;
      // There too, what a result of less than 2^-100 is put together from may have been flushed on the way.
      if (flushes && mpfr_cmpabs(exact, Real(0x1p-100)) < 0 && std::fabs(got) < T{0x1p-100}) continue;
      const bool drops = sizeof(T) == 8 && function.is_loose;
      if (drops && (std::abs(double{x}) < 0x1p-1021 || (got == 0 && mpfr_cmpabs(exact, Real(0x1p-1021)) < 0)))
        continue;
      double ulp = error_in_ulp(got, exact, term);
      if (ulp > found[d].ulp)
        found[d] = {found[d].device, found[d].count, ulp, double{x}, double{y}, double{got}, text_of(exact)};
    }
  }
  return found;
}

std::vector<std::shared_ptr<Device>> test_devices() {
  std::vector<std::shared_ptr<Device>> devices;
  if (const char* names = std::getenv("ADIT_TEST_DEVICES")) {
    std::stringstream list(names);
    for (std::string id; std::getline(list, id, ',');) devices.push_back(Device::open(id));
  } else {
    for (const DeviceInfo& info : Device::list())
      if (info.reason.rfind("cannot be used", 0) != 0) devices.push_back(Device::open(info.id));
  }
  return devices;
}

template Samples<float> samples_of(const MathFunction&, size_t);
template Samples<double> samples_of(const MathFunction&, size_t);
template double error_in_ulp(float, const Real&, double);
template double error_in_ulp(double, const Real&, double);
template std::vector<Measurement> measure<float>(const MathFunction&,
                                                 std::span<const std::shared_ptr<Device>>, size_t, size_t);
template std::vector<Measurement> measure<double>(const MathFunction&,
                                                  std::span<const std::shared_ptr<Device>>, size_t, size_t);

}  // namespace adit::test
