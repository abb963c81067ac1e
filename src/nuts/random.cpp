#include "nuts/random.hpp"

#include <cmath>
#include <numbers>
#include <vector>

#include <adit/kernel/math.hpp>

#include "kernel/random_bits.hpp"
#include "kernel/unit_interval.hpp"

namespace adit::sampling {

namespace {

// The trials of a search share an iteration: they are told apart in the upper half of the place.
constexpr uint32_t trial_shift = 20;

}  // namespace

std::array<Value, 4> Stream::bits(Purpose purpose, Value iteration, Value place) const {
  return bits(chain_.index(static_cast<int64_t>(purpose)), iteration, place);
}

std::array<Value, 4> Stream::bits(Value purpose, Value iteration, Value place) const {
  return kernel::philox(seed_, {place, iteration, purpose, number_});
}

Value Stream::uniform(const std::array<Value, 4>& bits, int which) const {
  if (chain_.real() == Type::f32)
    return convert(bits[static_cast<size_t>(which)] >> 8, Type::f32) * chain_.number(0x1p-24);
  const auto at = static_cast<size_t>(2 * which);
  const Value high = convert(bits[at] >> 5, Type::f64), low = convert(bits[at + 1] >> 6, Type::f64);
  return fma(high, high.like(0x1p26), low) * chain_.number(0x1p-53);
}

// Box and Muller's pairs: the first takes the cosine, the second the sine.
std::vector<Value> Stream::normals(Value purpose, Value iteration, Value trial, Value i) const {
  const auto four = bits(purpose, iteration, (trial << trial_shift) + i);
  std::vector<Value> normals;
  for (int pair = 0; pair < static_cast<int>(normals_a_call() / 2); ++pair) {
    const Value radius = sqrt_device(log_of_unit(1 - uniform(four, 2 * pair)) * -2);
    const auto [cosine, sine] = unit_circle(uniform(four, 2 * pair + 1));
    normals.push_back(radius * cosine);
    normals.push_back(radius * sine);
  }
  return normals;
}

std::array<uint32_t, 4> HostStream::bits(Purpose purpose, uint32_t iteration, uint32_t place) const {
  std::array<uint32_t, 4> count{place, iteration, static_cast<uint32_t>(purpose), chain};
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = uint64_t{0xD2511F53u} * count[0], second = uint64_t{0xCD9E8D57u} * count[2];
    count = {static_cast<uint32_t>(second >> 32) ^ count[1] ^ k0, static_cast<uint32_t>(second),
             static_cast<uint32_t>(first >> 32) ^ count[3] ^ k1, static_cast<uint32_t>(first)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return count;
}

double HostStream::uniform(const std::array<uint32_t, 4>& bits, int which) const {
  if (!wide) return (bits[static_cast<size_t>(which)] >> 8) * 0x1p-24;
  const auto at = static_cast<size_t>(2 * which);
  return ((bits[at] >> 5) * 0x1p26 + (bits[at + 1] >> 6)) * 0x1p-53;
}

double HostStream::normal(Purpose purpose, uint32_t iteration, uint32_t trial, uint32_t i) const {
  const uint32_t width = normals_a_call(wide ? Type::f64 : Type::f32);
  const auto four = bits(purpose, iteration, (trial << trial_shift) + i / width);
  const int pair = static_cast<int>(i % width / 2);
  const double radius = std::sqrt(-2 * std::log(1 - uniform(four, 2 * pair)));
  const double angle = uniform(four, 2 * pair + 1) * (2 * std::numbers::pi);
  return radius * (i % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace adit::sampling
