#include "exhaustive.hpp"

#include <atomic>
#include <bit>
#include <boost/math/special_functions/digamma.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <boost/math/special_functions/trigamma.hpp>
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

namespace adit::test {
namespace {

namespace policies = boost::math::policies;
using Quiet =
    policies::policy<policies::domain_error<policies::ignore_error>,
                     policies::pole_error<policies::ignore_error>,
                     policies::overflow_error<policies::ignore_error>, policies::promote_double<false>>;

double digamma(double x) {
  if (x == 0) return -1 / x;
  if (x < 0 && (std::floor(x) == x || std::isinf(x))) return NAN;
  return std::isnan(x) || std::isinf(x) ? x : boost::math::digamma(x, Quiet());
}

double trigamma(double x) {
  if (x <= 0 && std::floor(x) == x) return std::isinf(x) ? NAN : INFINITY;
  return std::isnan(x) ? x : std::isinf(x) ? 0 : boost::math::trigamma(x, Quiet());
}

double erf_inv(double x) {
  if (!(std::abs(x) <= 1)) return NAN;
  if (x == 0) return x;  // Boost drops the sign
  return std::abs(x) == 1 ? x * INFINITY : boost::math::erf_inv(x, Quiet());
}

double softplus(double x) { return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x))); }

const std::map<std::string, Reference>& references() {
  static const std::map<std::string, Reference> table{
      {"exp", [](double x) { return std::exp(x); }},
      {"exp2", [](double x) { return std::exp2(x); }},
      {"expm1", [](double x) { return std::expm1(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"log1p", [](double x) { return std::log1p(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"cbrt", [](double x) { return std::cbrt(x); }},
      {"pow_integer_7", [](double x) { return std::pow(x, 7); }},
      {"pow_integer_minus_3", [](double x) { return std::pow(x, -3); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"acos", [](double x) { return std::acos(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"erfc", [](double x) { return std::erfc(x); }},
      {"erf_inv", erf_inv},
      {"lgamma", [](double x) { return std::lgamma(x); }},
      {"digamma", digamma},
      {"trigamma", trigamma},
      {"sigmoid", [](double x) { return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)); }},
      {"softplus", softplus},
      {"log_sigmoid", [](double x) { return -softplus(-x); }},
      {"sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : x; }},
      {"round", [](double x) { return std::round(x); }},
      {"round_even", [](double x) { return std::nearbyint(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
  };
  return table;
}

// 2^n for n in the range of normal doubles.
double power_of_two(int n) { return std::bit_cast<double>(static_cast<uint64_t>(n + 1023) << 52); }
int exponent_of(double x) { return static_cast<int>(std::bit_cast<uint64_t>(x) >> 52 & 0x7ff) - 1023; }

// As error_in_ulp of math_measure.hpp, in double arithmetic.
double error(float got, double want, double term) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got) ? 0 : INFINITY;
  bool signs_agree = std::signbit(got) == std::signbit(want);
  if (std::isinf(want)) return std::isinf(got) && signs_agree ? 0 : INFINITY;
  if (want == 0 && got == 0) return signs_agree ? 0 : INFINITY;
  double found = std::isinf(got) ? std::copysign(0x1p128, got) : double{got};
  double clamped = std::abs(want) > 0x1p128 ? std::copysign(0x1p128, want) : want;
  int exponent = std::min(std::max({exponent_of(clamped), exponent_of(term), -126}), 127);
  return std::abs(found - clamped) * power_of_two(23 - exponent);
}

// Compares results for the inputs whose bits start at `first`.
void compare(const MathFunction& function, Reference reference, uint32_t first, const float* results,
             size_t count, Exhausted& worst) {
  for (size_t i = 0; i < count; ++i) {
    float x = std::bit_cast<float>(first + static_cast<uint32_t>(i)), got = results[i];
    double want = reference(x);
    float nearest = static_cast<float>(want);
    if (std::bit_cast<uint32_t>(nearest) == std::bit_cast<uint32_t>(got)) {
      if (worst.ulp >= 0.5) continue;
    } else if (!(std::isnan(got) && std::isnan(want))) {
      ++worst.misrounded;
    }
    double ulp = error(got, want, 0);
    if (ulp > worst.ulp && function.term) ulp = error(got, want, function.term(x));
    if (ulp > worst.ulp) {
      worst.ulp = ulp;
      worst.x = x;
    }
  }
}

kernel::Program program_of(const MathFunction& function) {
  kernel::Builder k("exhaust_" + function.name, kernel::Team::one());
  auto z = k.buffer("z", kernel::Type::f32, kernel::Access::write);
  kernel::Value first = k.scalar("first", kernel::Type::u32), i = k.team();
  kernel::Value x = bitcast(first + i, kernel::Type::f32);
  z[i] = function.build(x, x);
  return k.finish();
}

}  // namespace

Reference double_reference(const std::string& function) {
  auto found = references().find(function);
  return found == references().end() ? nullptr : found->second;
}

Exhausted exhaust(Device& device, const MathFunction& function) {
  constexpr uint64_t chunk = 1 << 24, slice = 1 << 16;
  auto compiled = device.compile(program_of(function));
  Reference reference = double_reference(function.name);
  Buffer z = device.allocate(chunk * sizeof(float));
  std::vector<float> results(chunk);
  std::vector<Exhausted> found(std::max(1u, std::thread::hardware_concurrency()));
  for (uint64_t first = 0; first < uint64_t{1} << 32; first += chunk) {
    device.run(*compiled, chunk, {z, static_cast<uint32_t>(first)});
    device.read(z, results.data(), chunk * sizeof(float));
    std::atomic<uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (Exhausted& mine : found)
      threads.emplace_back([&] {
        for (uint64_t at; (at = next.fetch_add(slice)) < chunk;)
          compare(function, reference, static_cast<uint32_t>(first + at), results.data() + at, slice, mine);
      });
  }
  Exhausted worst{.function = function.name,
                  .device = device.info().kind == DeviceKind::cpu ? "cpu" : device.info().name};
  for (const Exhausted& part : found) {
    worst.misrounded += part.misrounded;
    if (part.ulp > worst.ulp) {
      worst.ulp = part.ulp;
      worst.x = part.x;
    }
  }
  return worst;
}

std::vector<Exhausted> read_record(const std::string& path) {
  std::vector<Exhausted> rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Exhausted row;
    uint32_t bits = 0;
    std::getline(fields, row.function, '\t');
    std::getline(fields, row.device, '\t');
    if (fields >> row.ulp >> std::hex >> bits >> std::dec >> row.misrounded) {
      row.x = std::bit_cast<float>(bits);
      rows.push_back(row);
    }
  }
  return rows;
}

void write_record(const std::string& path, const std::vector<Exhausted>& rows) {
  std::ofstream file(path);
  for (const MathFunction& function : math_functions())
    for (const Exhausted& row : rows)
      if (row.function == function.name)
        file << fmt::format("{}\t{}\t{:.4f}\t{:08x}\t{}\n", row.function, row.device, row.ulp,
                            std::bit_cast<uint32_t>(row.x), row.misrounded);
  if (!file.flush()) throw Error(ErrorKind::io, "[numerics] record: cannot write " + path);
}

}  // namespace adit::test
