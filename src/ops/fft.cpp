#include "ops/fft.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include <adit/error.hpp>

#include "ops/fft_pass.hpp"

namespace adit::ops {

namespace fft_plan {
namespace {

// Of a stage. On a CPU longer ones are no faster, and LLVM takes far longer over them.
constexpr uint64_t most_radix = 16, most_radix_of_lanes = 8;

// Numbers of a column that a CPU's lanes hold between stages without leaving the caches. Where lanes read
// rows that lie a multiple of pages apart, the rows' lines push each other out: shorter columns are then
// faster, though they take a pass more (timed on two x86-64 cores: 7 ms instead of 20 for 4096 rows of 1024).
constexpr uint64_t longest_of_lanes = 1024, longest_of_pages = 256, page_bytes = 4096;
constexpr uint64_t shortest_to_cut = 64;  // for the sake of having more columns than one

// Primes that a kernel must know are never too long; others were taken apart before.
bool fits(uint64_t factor, uint64_t most) {
  if (factor <= most) return true;
  for (uint64_t d = 2; d * d <= factor; ++d)
    if (factor % d == 0) return false;
  return factor <= fft_largest_prime_of_lanes;
}

// The factor that is nearest to the even share, such that `parts` factors up to `most` are enough.
std::vector<uint64_t> cut(uint64_t n, size_t parts, uint64_t most) {
  if (parts == 1) return fits(n, most) ? std::vector{n} : std::vector<uint64_t>{};
  std::vector<uint64_t> factors;
  for (uint64_t d = 1; d <= std::min(n, std::max(most, fft_largest_prime_of_lanes)); ++d)
    if (n % d == 0 && fits(d, most)) factors.push_back(d);
  const double share = std::log(static_cast<double>(n)) / static_cast<double>(parts);
  const auto distance = [&](uint64_t d) { return std::abs(std::log(static_cast<double>(d)) - share); };
  std::sort(factors.begin(), factors.end(), [&](uint64_t a, uint64_t b) {
    return distance(a) != distance(b) ? distance(a) < distance(b) : a > b;
  });
  for (const uint64_t d : factors) {
    std::vector<uint64_t> rest = cut(n / d, parts - 1, most);
    if (rest.empty()) continue;
    rest.insert(rest.begin(), d);
    return rest;
  }
  return {};
}

std::vector<uint64_t> cut_into_fewest(uint64_t n, uint64_t most, size_t fewest = 1) {
  for (size_t parts = fewest;; ++parts)
    if (auto factors = cut(n, parts, most); !factors.empty()) return factors;
}

std::vector<uint64_t> lengths_of(const FftPlan& plan) {
  const uint64_t part_bytes = plan.type == kernel::Type::f64 ? 8 : 4;
  if (plan.by_teams) {
    // Passes across rows need some columns beside each other.
    const uint64_t most = std::min(fft_longest_row, fft_longest_in(plan.shared_bytes / part_bytes));
    if (plan.length <= most) return {plan.length};
    return cut_into_fewest(plan.length, std::min(most, fft_tile / fft_neighbours));
  }
  const bool has_lanes = plan.outer * plan.inner >= plan.lanes || plan.length < shortest_to_cut;
  const bool in_pages = plan.inner < plan.lanes && plan.length * 2 * part_bytes % page_bytes == 0;
  return cut_into_fewest(plan.length, in_pages ? longest_of_pages : longest_of_lanes, has_lanes ? 1 : 2);
}

// Lanes of a team that have a row each would read far apart: from `shortest_in_one` on, rows have two stages,
// so that some lanes read beside each other.
constexpr uint64_t shortest_in_one = 9;

std::vector<uint32_t> radices_of(uint64_t n, bool by_teams) {
  std::vector<uint64_t> factors = cut_into_fewest(n, by_teams ? most_radix : most_radix_of_lanes);
  if (by_teams && factors.size() == 1 && n >= shortest_in_one) factors = cut(n, 2, most_radix);
  std::erase(factors, uint64_t{1});
  if (factors.empty()) factors.push_back(1);
  std::vector<uint32_t> radices;
  for (const uint64_t radix : factors) radices.push_back(static_cast<uint32_t>(radix));
  std::sort(radices.begin(), radices.end(), std::greater<>());
  return radices;
}

// Axes whose columns follow each other at one distance become one.
void add(std::vector<FftAxis>& columns, const FftAxis& axis) {
  if (axis.extent == 1) return;
  if (!columns.empty()) {
    FftAxis& last = columns.back();
    const bool goes_on = axis.in == last.in * last.extent && axis.out == last.out * last.extent &&
                         axis.turn == last.turn * last.extent;
    if (goes_on) {
      last.extent *= axis.extent;
      return;
    }
  }
  columns.push_back(axis);
}

// With the lengths n_0 n_1 ...: x[o, j_0, j_1, ..., i] becomes [o, k_0, j_1, ..., i], and so on; the last
// pass writes [o, ..., k_1, k_0, i].
FftPass pass_of(const FftPlan& plan, const std::vector<uint64_t>& lengths, size_t number) {
  FftPass pass;
  const bool is_last = number + 1 == lengths.size();
  pass.type = plan.type;
  pass.fused = plan.fused;
  pass.swap_in = plan.inverse && number == 0;
  pass.swap_out = plan.inverse && is_last;
  if (pass.swap_out) pass.scale = 1 / static_cast<double>(plan.length);
  pass.length = lengths[number];
  pass.numbers = plan.outer * plan.length * plan.inner;
  pass.radices = radices_of(pass.length, plan.by_teams);
  uint64_t before = 1, after = 1;
  for (size_t i = 0; i < number; ++i) before *= lengths[i];
  for (size_t i = number + 1; i < lengths.size(); ++i) after *= lengths[i];
  const uint64_t own = after * plan.inner;  // numbers from one element of the column to the next
  pass.in = own;
  pass.out = is_last ? before * plan.inner : own;
  add(pass.columns, {plan.inner, 1, 1, 0});
  if (is_last) {
    // k_0 is the fastest of them in the result, and the slowest in what is read.
    uint64_t in = plan.length * plan.inner, out = plan.inner;
    for (size_t i = 0; i < number; ++i) {
      in /= lengths[i];
      add(pass.columns, {lengths[i], in, out, 0});
      out *= lengths[i];
    }
  } else {
    pass.turns = pass.length * after;
    add(pass.columns, {after, plan.inner, plan.inner, 1});
    add(pass.columns, {before, pass.length * own, pass.length * own, 0});
  }
  add(pass.columns, {plan.outer, plan.length * plan.inner, plan.length * plan.inner, 0});
  if (pass.columns.empty()) pass.columns.push_back({1, 1, 1, 0});
  return pass;
}

// --- Lengths with large primes -----------------------------------------------------------------------------
uint64_t longest_of(const FftPlan& plan) {
  return std::min(fft_longest_row, fft_longest_in(plan.shared_bytes / kernel::size_of(plan.type)));
}
// Of a convolution: few odd factors, so that lanes have as much to do as each other.
uint64_t convolved_length(uint64_t n) {
  uint64_t best = std::bit_ceil(2 * n - 1);
  for (const uint64_t odd : {3, 5, 7, 9, 15})
    for (uint64_t length = 16 * odd; length < best; length *= 2)
      if (length >= 2 * n - 1) best = length;
  return best;
}

Fft by_chirp(const FftPlan& plan) {
  FftPass pass;
  pass.type = plan.type;
  pass.fused = plan.fused;
  pass.length = convolved_length(plan.length);
  pass.chirp = plan.length;
  pass.radices = radices_of(pass.length, true);
  FftPass kernel = pass;
  kernel.of_chirp = true;
  kernel.numbers = pass.length;
  kernel.scale = 1 / static_cast<double>(pass.length);
  kernel.columns.push_back({1, 1, 1, 0});
  pass.numbers = plan.outer * plan.length * plan.inner;
  pass.in = pass.out = plan.inner;
  pass.swap_in = pass.swap_out = plan.inverse;
  if (plan.inverse) pass.scale = 1 / static_cast<double>(plan.length);
  add(pass.columns, {plan.inner, 1, 1, 0});
  add(pass.columns, {plan.outer, plan.length * plan.inner, plan.length * plan.inner, 0});
  if (pass.columns.empty()) pass.columns.push_back({1, 1, 1, 0});
  Fft made;
  made.scratch = pass.length;
  made.launches.push_back(fft_in_teams(kernel, plan.lanes, plan.shared_bytes));
  made.launches.back().to = 2;
  made.launches.push_back(fft_in_teams(pass, plan.lanes, plan.shared_bytes));
  made.launches.back().with = 2;
  return made;
}

}  // namespace
}  // namespace fft_plan

namespace fft_plan {
bool is_smooth(const FftPlan& plan) {
  return fft_is_smooth(plan.length, plan.by_teams ? fft_largest_prime : fft_largest_prime_of_lanes);
}
}  // namespace fft_plan

bool has_fft(const FftPlan& plan) {
  if (fft_plan::is_smooth(plan) || plan.outer * plan.length * plan.inner == 0) return true;
  return plan.by_teams && fft_plan::convolved_length(plan.length) <= fft_plan::longest_of(plan);
}

uint64_t FftPass::column_count() const {
  uint64_t count = 1;
  for (const FftAxis& axis : columns) count *= axis.extent;
  return count;
}

bool fft_is_smooth(uint64_t length, uint64_t largest_prime) {
  if (length == 0) return false;
  for (uint64_t factor = 2; factor <= largest_prime; ++factor)
    while (length % factor == 0) length /= factor;
  return length == 1;
}

Fft fft(const FftPlan& plan) {
  Fft made;
  if (plan.outer * plan.length * plan.inner == 0) return made;
  if (!has_fft(plan)) throw Error(ErrorKind::internal, "[fft] length: expected no large prime factor");
  if (!fft_plan::is_smooth(plan)) return fft_plan::by_chirp(plan);
  const std::vector<uint64_t> lengths = fft_plan::lengths_of(plan);
  if (lengths.size() > 1) made.scratch = plan.outer * plan.length * plan.inner;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const FftPass pass = fft_plan::pass_of(plan, lengths, i);
    FftLaunch launch =
        plan.by_teams ? fft_in_teams(pass, plan.lanes, plan.shared_bytes) : fft_in_columns(pass, plan.lanes);
    // The last pass writes the result; those before it go to and fro.
    const auto target = [&](size_t pass_number) {
      return static_cast<uint8_t>((lengths.size() - 1 - pass_number) % 2 ? 2 : 1);
    };
    launch.to = target(i);
    launch.from = i == 0 ? uint8_t{0} : target(i - 1);
    made.launches.push_back(std::move(launch));
  }
  return made;
}

}  // namespace adit::ops
