// Where random tests begin: at the number in ADIT_TEST_SEED, or at 1. Each prints its own, and the variable
// repeats it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace adit::test {

// From 0 to 2^31 - 1, so that it has room in any type of a seed.
inline uint64_t first_seed() {
  const char* text = std::getenv("ADIT_TEST_SEED");
  const uint64_t seed = text && *text ? std::strtoull(text, nullptr, 0) & 0x7fffffff : 1;
  std::printf("ADIT_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::fflush(stdout);  // before a program ends the process
  return seed;
}

}  // namespace adit::test
