#include "ops/fft_prime.hpp"

namespace adit::ops {

bool is_prime(uint64_t n) {
  for (uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return n > 1;
}

uint64_t power_of(uint64_t base, uint64_t exponent, uint64_t p) {
  uint64_t power = 1 % p;
  for (base %= p; exponent > 0; exponent /= 2, base = base * base % p)
    if (exponent % 2) power = power * base % p;
  return power;
}

uint64_t primitive_root(uint64_t p) {
  const auto reaches_all = [&](uint64_t g) {
    uint64_t rest = p - 1;
    for (uint64_t d = 2; rest > 1; ++d) {
      if (rest % d != 0) continue;
      if (power_of(g, (p - 1) / d, p) == 1) return false;
      while (rest % d == 0) rest /= d;
    }
    return true;
  };
  uint64_t g = 1;
  while (!reaches_all(g)) ++g;
  return g;
}

kernel::Value power_of(uint64_t base, kernel::Value exponent, uint32_t bits, uint64_t p) {
  kernel::Value power = exponent.like(1);
  for (uint32_t bit = 0; bit < bits; ++bit) {
    const auto factor = static_cast<int64_t>(power_of(base, uint64_t{1} << bit, p));
    power = select((exponent >> bit & 1) == 1, power * factor % static_cast<int64_t>(p), power);
  }
  return power;
}

}  // namespace adit::ops
