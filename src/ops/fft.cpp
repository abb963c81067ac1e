#include "ops/fft.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "ops/fft_pass.hpp"
#include "ops/fft_prime.hpp"

namespace adit::ops {

namespace fft_plan {
namespace {

// Of a stage; and of one that saves a fourth, in f32, where a lane has registers for it.
constexpr uint64_t most_radix = 16, longest_radix = 32;
// What a lane has registers for, in f32 and f64; and those of which kernels are short.
constexpr uint64_t longest_prime = 73, longest_wide_prime = 43, longest_short_prime = 31;
constexpr uint64_t many_numbers = 1 << 19;

// Primes that a kernel must know are never too long.
bool fits(uint64_t factor, uint64_t most) {
  if (factor <= most) return true;
  for (uint64_t d = 2; d * d <= factor; ++d)
    if (factor % d == 0) return false;
  return factor <= longest_prime;
}

// The factor that is nearest to the even share, such that `parts` factors up to `most` are enough.
std::vector<uint64_t> cut(uint64_t n, size_t parts, uint64_t most) {
  if (parts == 1) return fits(n, most) ? std::vector{n} : std::vector<uint64_t>{};
  std::vector<uint64_t> factors;
  for (uint64_t d = 1; d <= std::min(n, std::max(most, longest_prime)); ++d)
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

// Columns need some others beside them: along axis 0 5000 x 1000 numbers took 132 us on an H200 in one pass
// of single columns, 53 us in two.
uint64_t longest_of(const FftPlan& plan) {
  const uint64_t longest = plan.inner == 1 ? fft_longest_row : fft_tile / fft_neighbours;
  return std::min(longest, fft_longest_in(plan.shared_bytes / kernel::size_of(plan.type)));
}

std::vector<uint64_t> lengths_of(const FftPlan& plan, size_t fewest = 1) {
  const uint64_t most = longest_of(plan);
  if (plan.length <= most && fewest == 1) return {plan.length};
  // Passes across rows need some columns beside each other.
  return cut_into_fewest(plan.length, std::min(most, fft_tile / fft_neighbours), fewest);
}

// Lanes of a team that have a row each would read far apart: from `shortest_in_one` on, rows have two stages,
// so that some lanes read beside each other. Shorter ones, and primes, go through shared memory before and
// after, which are stages of one number.
constexpr uint64_t shortest_in_one = 9;

std::vector<uint32_t> radices_of(uint64_t n, bool in_rows, kernel::Type type) {
  constexpr size_t few_stages = 3;
  std::vector<uint64_t> factors = cut_into_fewest(n, most_radix);
  if (factors.size() > few_stages && type == kernel::Type::f32)
    if (const auto larger = cut(n, few_stages, longest_radix); !larger.empty()) factors = larger;
  if (factors.size() == 1 && n >= shortest_in_one) factors = cut(n, 2, most_radix);
  std::erase(factors, uint64_t{1});
  if (factors.empty()) factors.push_back(1);
  std::vector<uint32_t> radices;
  if (in_rows && factors.size() == 1 && n > 2) return {1, static_cast<uint32_t>(n), 1};
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
                         axis.turn == last.turn * last.extent && axis.place == last.place * last.extent;
    if (goes_on) {
      last.extent *= axis.extent;
      return;
    }
  }
  columns.push_back(axis);
}

// Numbers from one transform to the next, in both buffers.
struct RowLengths {
  uint64_t in = 0, out = 0;
};

// With the lengths n_0 n_1 ...: x[o, j_0, j_1, ..., i] becomes [o, k_0, j_1, ..., i], and so on; the last
// pass writes [o, ..., k_1, k_0, i].
// Where `prime` is told, the last pass is of that length (fft_prime.hpp).
FftPass pass_of(const FftPlan& plan, const std::vector<uint64_t>& lengths, size_t number,
                const RowLengths& rows, uint64_t prime = 0) {
  FftPass pass;
  const bool is_last = number + 1 == lengths.size();
  pass.type = plan.type;
  pass.fused = plan.fused;
  pass.swap_in = plan.inverse && number == 0;
  pass.swap_out = plan.inverse && is_last;
  if (pass.swap_out) pass.scale = 1 / static_cast<double>(plan.length);
  pass.length = lengths[number];
  pass.numbers = plan.outer * std::max({plan.length, rows.in, rows.out}) * plan.inner;
  if (prime > 0 && is_last) {
    pass.prime = prime;
    pass.length = prime - 1;
  }
  pass.radices = radices_of(pass.length, plan.inner == 1 && lengths.size() == 1, plan.type);
  uint64_t before = 1, after = 1;
  for (size_t i = 0; i < number; ++i) before *= lengths[i];
  for (size_t i = number + 1; i < lengths.size(); ++i) after *= lengths[i];
  const uint64_t own = after * plan.inner;  // numbers from one element of the column to the next
  pass.in = own;
  pass.out = is_last ? before * plan.inner : own;
  add(pass.columns, {plan.inner, 1, 1, 0, 0});
  if (is_last) {
    // k_0 is the fastest of them in the result, and the slowest in what is read.
    uint64_t in = plan.length * plan.inner, out = plan.inner;
    for (size_t i = 0; i < number; ++i) {
      in /= lengths[i];
      add(pass.columns, {lengths[i], in, out, 0, out / plan.inner});
      out *= lengths[i];
    }
    pass.place_along = before;
  } else {
    pass.turns = pass.length * after;
    add(pass.columns, {after, plan.inner, plan.inner, 1, 1});
    add(pass.columns, {before, pass.length * own, pass.length * own, 0, 0});
    pass.place_along = after;
  }
  add(pass.columns, {plan.outer, rows.in * plan.inner, rows.out * plan.inner, 0, 0});
  if (pass.columns.empty()) pass.columns.push_back({1, 1, 1, 0, 0});
  return pass;
}

// --- Lengths with large primes -----------------------------------------------------------------------------
// Of a convolution: few odd factors, so that lanes have as much to do as each other.
uint64_t convolved_length(uint64_t n) {
  uint64_t best = std::bit_ceil(2 * n - 1);
  for (const uint64_t odd : {3, 5, 7, 9, 15})
    for (uint64_t length = 16 * odd; length < best; length *= 2)
      if (length >= 2 * n - 1) best = length;
  return best;
}

// The transform of what the columns of a pass are convolved with.
FftLaunch transform_for(const FftPlan& plan, const FftPass& pass, uint64_t numbers) {
  FftPass kernel;
  kernel.type = pass.type;
  kernel.fused = pass.fused;
  kernel.length = pass.length;
  kernel.radices = pass.radices;
  kernel.chirp = pass.chirp;
  kernel.prime = pass.prime;
  kernel.of_chirp = true;
  kernel.numbers = numbers;
  kernel.scale = 1 / static_cast<double>(pass.length);
  kernel.columns.push_back({1, 1, 1, 0, 0});
  return fft_in_teams(kernel, plan.lanes, plan.shared_bytes);
}

// In one kernel, after another one that transforms what it is convolved with: `pass` tells what that is.
Fft convolved_in_teams(const FftPlan& plan, FftPass pass, uint64_t transform_numbers) {
  pass.type = plan.type;
  pass.fused = plan.fused;
  pass.radices = radices_of(pass.length, false, plan.type);
  pass.numbers = plan.outer * plan.length * plan.inner;
  pass.in = pass.out = plan.inner;
  pass.swap_in = pass.swap_out = plan.inverse;
  if (plan.inverse) pass.scale = 1 / static_cast<double>(plan.length);
  add(pass.columns, {plan.inner, 1, 1, 0, 0});
  add(pass.columns, {plan.outer, plan.length * plan.inner, plan.length * plan.inner, 0, 0});
  if (pass.columns.empty()) pass.columns.push_back({1, 1, 1, 0, 0});
  Fft made;
  made.scratch = {transform_numbers};
  made.launches.push_back(transform_for(plan, pass, transform_numbers));
  made.launches.back().to = 2;
  made.launches.push_back(fft_in_teams(pass, plan.lanes, plan.shared_bytes));
  made.launches.back().with = 2;
  return made;
}

Fft by_chirp(const FftPlan& plan) {
  FftPass pass;
  pass.length = convolved_length(plan.length);
  pass.chirp = plan.length;
  return convolved_in_teams(plan, pass, pass.length);
}

// Exponents follow the transform, two in the place of a number.
uint64_t numbers_for_prime(uint64_t p) { return p - 1 + p / 2; }

Fft by_prime(const FftPlan& plan) {
  FftPass pass;
  pass.length = plan.length - 1;
  pass.prime = plan.length;
  return convolved_in_teams(plan, pass, numbers_for_prime(plan.length));
}

// Of the number below a prime, whose kernel has a transform there and one back.
uint64_t longest_convolved_prime(const FftPlan& plan) { return plan.short_kernels ? 7 : longest_short_prime; }

bool fits_a_team(const FftPlan& plan) {
  const uint64_t room = fft_longest_in(plan.shared_bytes / kernel::size_of(plan.type));
  return convolved_length(plan.length) <= std::min(fft_longest_convolved, room);
}

// A prime takes transforms of half the length that a chirp takes, where the number below it is made of small
// factors. On an H200, us by chirp and this way: 5000 rows of 701 68, 54; 1000 of 2053 56, 43; but 1000 of
// 4093 120, 151, and 300 of 7681 104, 116.
bool goes_by_prime(const FftPlan& plan) {
  constexpr uint64_t longest = 3072;
  const uint64_t room = fft_longest_in(plan.shared_bytes / kernel::size_of(plan.type));
  return plan.length <= std::min(longest, room) && is_prime(plan.length) &&
         fft_is_smooth(plan.length - 1, longest_convolved_prime(plan));
}

// The lengths of passes whose last one is the largest prime, and those before it are made of small factors;
// none where there is no such prime.
std::vector<uint64_t> lengths_around_prime(const FftPlan& plan) {
  const uint64_t most = std::min(longest_of(plan), fft_tile / fft_neighbours);
  uint64_t prime = 1, rest = plan.length;
  for (uint64_t d = 2; d * d <= rest; ++d)
    for (; rest % d == 0; rest /= d) prime = d;
  prime = std::max(prime, rest);
  const uint64_t others = plan.length / prime;
  if (others == 1 || prime > most || !fft_is_smooth(others, longest_short_prime) ||
      !fft_is_smooth(prime - 1, longest_convolved_prime(plan)))
    return {};
  std::vector<uint64_t> lengths = cut_into_fewest(others, most);
  lengths.push_back(prime);
  return lengths;
}

Fft around_prime(const FftPlan& plan, const std::vector<uint64_t>& lengths) {
  enum : uint8_t { given, result, between, transform };
  Fft made;
  made.scratch = {plan.outer * plan.length * plan.inner, numbers_for_prime(lengths.back())};
  const auto target = [&](size_t pass) { return (lengths.size() - 1 - pass) % 2 ? between : result; };
  for (size_t i = 0; i < lengths.size(); ++i) {
    const FftPass pass = pass_of(plan, lengths, i, {plan.length, plan.length}, lengths.back());
    const bool is_last = i + 1 == lengths.size();
    if (is_last) {
      made.launches.push_back(transform_for(plan, pass, made.scratch[1]));
      made.launches.back().to = transform;
    }
    FftLaunch launch = fft_in_teams(pass, plan.lanes, plan.shared_bytes);
    launch.from = i == 0 ? given : target(i - 1);
    launch.to = target(i);
    if (is_last) launch.with = transform;
    made.launches.push_back(std::move(launch));
  }
  return made;
}

// --- The same in several passes ----------------------------------------------------------------------------
enum Buffer : uint8_t { given, result, there, back, transform, chirp };

class Convolution {
 public:
  explicit Convolution(const FftPlan& plan) : plan_(plan) {
    whole_ = plan;
    whole_.inverse = false;
    whole_.length = smooth_from(2 * plan.length - 1);
    lengths_ = lengths_of(whole_, 2);
    const uint64_t numbers = plan.outer * whole_.length * plan.inner;
    made_.scratch = {numbers, numbers, whole_.length, plan.length};
  }

  Fft take() {
    FftLaunch start = fft_chirp(plan_.type, plan_.length, plan_.fused);
    start.to = chirp;
    made_.launches.push_back(std::move(start));
    of_chirp();
    of_numbers();
    return std::move(made_);
  }

 private:
  void of_chirp() {
    FftPlan one = whole_;
    one.outer = one.inner = 1;
    for (size_t i = 0; i < lengths_.size(); ++i) {
      FftPass pass = pass_of(one, lengths_, i, {whole_.length, whole_.length});
      pass.some = plan_.length, pass.all = whole_.length;
      if (i == 0) pass.in_meets = FftPass::Meets::chirp_itself;
      if (i + 1 == lengths_.size()) pass.scale = 1 / static_cast<double>(whole_.length);
      add_pass(pass, i == 0 ? chirp : target_of(i - 1, transform), target_of(i, transform),
               i == 0 ? chirp : given);
    }
  }

  // There, a product, and back by the same transform with parts that have changed places.
  void of_numbers() {
    const uint64_t n = plan_.length, m = whole_.length;
    for (const bool is_back : {false, true})
      for (size_t i = 0; i < lengths_.size(); ++i) {
        const bool is_last = i + 1 == lengths_.size();
        FftPass pass = pass_of(whole_, lengths_, i, {!is_back && i == 0 ? n : m, is_back && is_last ? n : m});
        pass.some = n, pass.all = m;
        Buffer with = given;
        if (!is_back && i == 0) {
          pass.in_meets = FftPass::Meets::chirp;
          pass.swap_in = plan_.inverse;
          with = chirp;
        }
        if (!is_back && is_last) {
          pass.out_meets = FftPass::Meets::transform;
          with = transform;
        }
        if (is_back && is_last) {
          pass.out_meets = FftPass::Meets::chirp;
          pass.swap_out = plan_.inverse;
          if (plan_.inverse) pass.scale = 1 / static_cast<double>(n);
          with = chirp;
        }
        if (is_back)
          add_pass(pass, i % 2 ? there : back, is_last ? result : i % 2 ? back : there, with);
        else
          add_pass(pass, i == 0 ? given : target_of(i - 1, back), target_of(i, back), with);
      }
  }

  // The last pass writes where its results belong; those before it go to and fro.
  Buffer target_of(size_t pass, Buffer last) const {
    const size_t rest = lengths_.size() - 1 - pass;
    return rest == 0 ? last : rest % 2 ? there : back;
  }

  void add_pass(const FftPass& pass, Buffer from, Buffer to, Buffer with) {
    FftLaunch launch = fft_in_teams(pass, plan_.lanes, plan_.shared_bytes);
    launch.from = from, launch.to = to, launch.with = with;
    made_.launches.push_back(std::move(launch));
  }

  // The next length that passes take.
  static uint64_t smooth_from(uint64_t least) {
    uint64_t best = std::bit_ceil(least);
    for (const uint64_t odd : {3, 5, 7, 9, 11, 13, 15, 21, 25, 27, 35, 45})
      for (uint64_t length = 64 * odd; length < best; length *= 2)
        if (length >= least) best = length;
    return best;
  }

  const FftPlan& plan_;
  FftPlan whole_;  // that the convolution takes
  std::vector<uint64_t> lengths_;
  Fft made_;
};

}  // namespace
}  // namespace fft_plan

uint64_t FftPass::column_count() const {
  uint64_t count = 1;
  for (const FftAxis& axis : columns) count *= axis.extent;
  return count;
}

uint64_t fft_largest_prime(const FftPlan& plan) {
  if (plan.outer * plan.length * plan.inner < fft_plan::many_numbers) return fft_plan::longest_short_prime;
  return plan.type == kernel::Type::f64 ? fft_plan::longest_wide_prime : fft_plan::longest_prime;
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
  if (!fft_is_smooth(plan.length, fft_largest_prime(plan))) {
    if (fft_plan::goes_by_prime(plan)) return fft_plan::by_prime(plan);
    if (const auto lengths = fft_plan::lengths_around_prime(plan); !lengths.empty())
      return fft_plan::around_prime(plan, lengths);
    return fft_plan::fits_a_team(plan) ? fft_plan::by_chirp(plan) : fft_plan::Convolution(plan).take();
  }
  const std::vector<uint64_t> lengths = fft_plan::lengths_of(plan);
  if (lengths.size() > 1) made.scratch = {plan.outer * plan.length * plan.inner};
  for (size_t i = 0; i < lengths.size(); ++i) {
    const FftPass pass = fft_plan::pass_of(plan, lengths, i, {plan.length, plan.length});
    FftLaunch launch = fft_in_teams(pass, plan.lanes, plan.shared_bytes);
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

Fft fft_of_real(const FftPlan& plan) {
  constexpr uint64_t shortest_joined = 4;  // that goes through shared memory
  if (plan.outer * plan.length != 0 && fft_is_smooth(plan.length, fft_largest_prime(plan)) &&
      plan.length >= shortest_joined) {
    const std::vector<uint64_t> lengths = fft_plan::lengths_of(plan);
    const uint64_t half = plan.length;
    if (lengths.size() == 1) {
      FftPass pass = fft_plan::pass_of(plan, lengths, 0,
                                       {plan.inverse ? half + 1 : half, plan.inverse ? half : half + 1});
      pass.halves = plan.inverse ? FftPass::Halves::split : FftPass::Halves::join;
      Fft made;
      made.launches.push_back(fft_in_teams(pass, plan.lanes, plan.shared_bytes));
      return made;
    }
  }
  Fft made = fft(plan);
  if (made.launches.empty()) return made;
  // The halves lie in scratch: where a forward transform writes, or an inverse one reads.
  const auto halves = static_cast<uint8_t>(2 + made.scratch.size());
  made.scratch.push_back(plan.outer * plan.length);
  for (FftLaunch& launch : made.launches) {
    if (!plan.inverse && launch.to == 1) launch.to = halves;
    if (plan.inverse && launch.reads && launch.from == 0) launch.from = halves;
  }
  FftLaunch other = fft_halves(plan.type, plan.outer, 2 * plan.length, plan.inverse, plan.fused);
  other.from = plan.inverse ? 0 : halves;
  other.to = plan.inverse ? halves : 1;
  made.launches.insert(plan.inverse ? made.launches.begin() : made.launches.end(), std::move(other));
  return made;
}

}  // namespace adit::ops
