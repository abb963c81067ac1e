// Transforms of a prime number p of numbers as a convolution of p - 1 of them, as Rader found: with a number
// g whose powers are all places from 1 to p - 1, result g^-m is x_0 and the sum over q of x at g^q times
// exp(-2 pi i g^(q - m) / p).
#pragma once

#include <cstdint>

#include <adit/kernel/builder.hpp>

namespace adit::ops {

bool is_prime(uint64_t n);
// The least g whose powers are all numbers from 1 to p - 1 modulo the prime p.
uint64_t primitive_root(uint64_t p);
uint64_t power_of(uint64_t base, uint64_t exponent, uint64_t p);  // modulo p, p < 2^32
// The same in a kernel, of an exponent below 2^bits, p < 2^16.
kernel::Value power_of(uint64_t base, kernel::Value exponent, uint32_t bits, uint64_t p);

}  // namespace adit::ops
