#include "kernel/random_bits.hpp"

namespace adit::kernel {

std::array<Value, 2> threefry(std::array<Value, 2> key, std::array<Value, 2> count) {
  constexpr int turns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::array<Value, 3> keys = {key[0], key[1], key[0] ^ key[1] ^ 0x1BD11BDAu};
  Value a = count[0] + keys[0], b = count[1] + keys[1];
  for (uint32_t block = 0; block < 5; ++block) {
    for (const int turn : turns[block % 2]) {
      a = a + b;
      b = (b << turn | b >> (32 - turn)) ^ a;
    }
    a = a + keys[(block + 1) % 3];
    b = b + keys[(block + 2) % 3] + (block + 1);
  }
  return {a, b};
}

std::array<Value, 4> philox(std::array<Value, 2> key, std::array<Value, 4> count) {
  Value k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; ++round) {
    const Value first = k0.like(0xD2511F53u), second = k0.like(0xCD9E8D57u);
    const Value high0 = mul_high(first, count[0]), low0 = first * count[0];
    const Value high1 = mul_high(second, count[2]), low1 = second * count[2];
    count = {high1 ^ count[1] ^ k0, low1, high0 ^ count[3] ^ k1, low0};
    k0 = k0 + 0x9E3779B9u;
    k1 = k1 + 0xBB67AE85u;
  }
  return count;
}

}  // namespace adit::kernel
