#include "ops/fft_host_lengths.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "ops/fft_host_pass.hpp"

namespace adit::ops::fft_host {

std::vector<uint64_t> radices_of(uint64_t n) {
  std::vector<uint64_t> radices;
  uint64_t twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  for (; twos > 4 || twos == 3; twos -= 3) radices.push_back(8);
  for (; twos >= 2; twos -= 2) radices.push_back(4);
  if (twos) radices.push_back(2);
  if (host_fft_kernels().bytes == 16)  // whose stages of 9 are written out
    for (; n % 9 == 0; n /= 9) radices.push_back(9);
  for (uint64_t p = 3; n > 1; p += 2)
    for (; n % p == 0; n /= p) radices.push_back(p);
  std::sort(radices.begin(), radices.end(), std::greater<>());
  return radices;
}

bool is_smooth_for_host(uint64_t n) {
  for (uint64_t p = 2; p <= most_host_radix; ++p)
    while (n % p == 0) n /= p;
  return n == 1;
}

namespace {

// About what a vector of numbers costs in all stages, in nanoseconds of an x86-64 core with AVX-512: stages
// of few operations wait for memory, those of primes multiply.
double stages_cost(uint64_t n) {
  double cost = 0;
  for (const uint64_t radix : radices_of(n)) {
    const auto r = static_cast<double>(radix);
    cost += radix <= 9 ? 0.7 + 0.1 * r : 1 + 0.15 * r;
  }
  // A stage of eight reads numbers 16 KiB apart then, which share a set of a cache with four ways (vectors of
  // 16 bytes, measured on a Neoverse V1: 6.8 ns a number, and 5.4 in two passes).
  if (n == 4096 && host_fft_kernels().bytes == 16) cost *= 1.8;
  return cost;
}

bool is_prime(uint64_t n) {
  for (uint64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return false;
  return n > 1;
}

}  // namespace

uint64_t chirp_length(uint64_t n) {
  uint64_t best = 0;
  double least = 0;
  for (const uint64_t odd : {1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45})
    for (uint64_t length = odd; length < 8 * n; length *= 2) {
      if (length < 2 * n - 1) continue;
      const double cost = static_cast<double>(length) * stages_cost(length);
      if (!best || cost < least) best = length, least = cost;
      break;
    }
  return best;
}

Column column_of(uint64_t n) {
  Column found;
  if (n > longest_column) return found;
  if (is_smooth_for_host(n)) found = {true, Column::Way::stages, n, stages_cost(n)};
  if (found.fits && found.cost < 8) return found;  // less than any convolution
  const auto consider = [&](Column::Way way, uint64_t length) {
    const double longer = static_cast<double>(length) / static_cast<double>(n);
    const double ends = way == Column::Way::chirp ? 2 * turn_cost : 3 * turn_cost;
    const double cost = longer * (2 * stages_cost(length) + turn_cost) + ends;
    if (!found.fits || cost < found.cost) found = {true, way, length, cost};
  };
  if (n > 2 && is_smooth_for_host(n - 1) && is_prime(n)) consider(Column::Way::order, n - 1);
  if (const uint64_t padded = chirp_length(n); padded <= longest_column) consider(Column::Way::chirp, padded);
  return found;
}

std::vector<uint32_t> powers_of_root(uint64_t prime) {
  for (uint64_t root = 2;; ++root) {
    std::vector<uint32_t> powers{1};
    for (uint64_t power = root; power != 1; power = power * root % prime)
      powers.push_back(static_cast<uint32_t>(power));
    if (powers.size() == prime - 1) return powers;
  }
}

namespace {

double passes_cost(const std::vector<uint64_t>& lengths, uint64_t inner, uint64_t lanes) {
  uint64_t n = inner;
  for (const uint64_t length : lengths) n *= length;
  double cost = 0;
  for (const uint64_t length : lengths)
    cost += static_cast<double>(up(n / length, lanes) * length) *
            (column_of(length).cost + pass_cost + turn_cost);
  return cost;
}

// Two passes; their blocks should be full.
Cut cut_in_two(uint64_t n, uint64_t inner, uint64_t lanes) {
  Cut best;
  for (uint64_t d = 2; d * d <= n && d <= longest_column; ++d) {
    if (n % d != 0 || !column_of(d).fits || !column_of(n / d).fits) continue;
    for (const auto& [a, b] : {std::pair{d, n / d}, std::pair{n / d, d}}) {
      const double cost = passes_cost({a, b}, inner, lanes);
      if (best.lengths.empty() || cost <= best.cost) best = {{a, b}, cost};
    }
  }
  return best;
}

}  // namespace

Cut cut_for_host(uint64_t n, uint64_t inner, uint64_t lanes) {
  if (Cut two = cut_in_two(n, inner, lanes); !two.lengths.empty()) return two;
  if (!is_smooth_for_host(n) || n <= longest_column) return {};
  // The largest factor that leaves a column short, and the rest.
  uint64_t factor = 1;
  for (uint64_t d = 2; d <= longest_column / 4; ++d)
    if (n % d == 0) factor = d;
  Cut rest = cut_for_host(n / factor, inner * factor, lanes);
  rest.lengths.insert(rest.lengths.begin(), factor);
  rest.cost = passes_cost(rest.lengths, inner, lanes);
  return rest;
}

}  // namespace adit::ops::fft_host
