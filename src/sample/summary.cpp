#include "sample/summary.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "nuts/layout.hpp"

namespace adit::sampling {

using kernel::Access;
using kernel::Reduction;
using kernel::Type;
using kernel::Value;

namespace {

constexpr int64_t summarised_at_once = 1024;
constexpr uint32_t summary_lanes = 128;

// Numbers of a part. Sums are of halves of numbers, of 16 bits each: a team's do not overflow.
enum Part : uint32_t { part_slowest, part_longest, part_failed, part_going, part_sums, sums = 4 };
constexpr uint32_t part_count = part_sums + 2 * sums;
constexpr Word summed[sums] = {word_iteration, word_leapfrogs, word_divergences, word_warmup_divergences};

kernel::Program summary_program() {
  kernel::Builder k("summary", kernel::Team::many(summary_lanes));
  const auto words = k.buffer("words", Type::u32, Access::read),
             rounds = k.buffer("rounds", Type::u32, Access::read_write),
             parts = k.buffer("parts", Type::u32, Access::write);
  const Value chains = k.scalar("chains", Type::u32), limit = k.scalar("limit", Type::u32);
  const Value first = k.team() * summarised_at_once;
  std::vector<Reduction> reductions(part_count, Reduction::add);
  reductions[part_slowest] = Reduction::min;
  reductions[part_longest] = Reduction::max;
  const auto totals = k.reduce(first.like(summarised_at_once), reductions, [&](Value i) {
    const Value at = first + i, exists = at < chains, chain = min(at, chains - 1);
    const auto word = [&](Word which) {
      return words[chain * int64_t{word_count} + static_cast<int64_t>(which)];
    };
    const auto or_nothing = [&](Value value) { return select(exists, value, value.like(0)); };
    const auto count = [&](Value condition) {
      return or_nothing(select(condition, chain.like(1), chain.like(0)));
    };
    const Value done = word(word_rounds), before = rounds[chain], iteration = word(word_iteration);
    std::vector<Value> result(part_count);
    result[part_slowest] = select(exists, iteration, iteration.like(0xffffffff));
    result[part_longest] = or_nothing(done - before);
    result[part_failed] = count(word(word_phase) == chain.like(static_cast<int64_t>(Phase::failed)));
    result[part_going] = count(iteration < limit);
    for (uint32_t s = 0; s < sums; ++s) {
      const Value number = word(summed[s]);
      result[part_sums + 2 * s] = or_nothing(number & 0xffff);
      result[part_sums + 2 * s + 1] = or_nothing(number >> number.like(16));
    }
    k.if_(exists, [&] { rounds[chain] = done; });
    return result;
  });
  k.once([&] {
    for (uint32_t p = 0; p < part_count; ++p) parts[k.team() * int64_t{part_count} + p] = totals[p];
  });
  return k.finish();
}

}  // namespace

Summariser::Summariser(std::shared_ptr<Device> device, int64_t chains)
    : device_(std::move(device)),
      chains_(chains),
      teams_(static_cast<uint64_t>((chains + summarised_at_once - 1) / summarised_at_once)),
      kernel_(device_->compile(summary_program())),
      rounds_(device_->allocate(static_cast<uint64_t>(chains) * 4)),
      parts_(device_->allocate(teams_ * part_count * 4)) {
  const std::vector<uint32_t> none(static_cast<size_t>(chains), 0);
  device_->write(rounds_, none.data(), none.size() * 4);
}

Summary Summariser::summarise(const Buffer& words, int64_t limit) {
  const auto last = static_cast<uint32_t>(std::min<int64_t>(limit, std::numeric_limits<uint32_t>::max()));
  device_->run(*kernel_, teams_, {words, rounds_, parts_, static_cast<uint32_t>(chains_), last});
  std::vector<uint32_t> parts(teams_ * part_count);
  device_->read(parts_, parts.data(), parts.size() * 4);
  Summary summary;
  summary.slowest = std::numeric_limits<int64_t>::max();
  uint64_t* const all[sums] = {&summary.transitions, &summary.leapfrogs, &summary.divergences,
                               &summary.warmup_divergences};
  for (size_t first = 0; first < parts.size(); first += part_count) {
    summary.slowest = std::min<int64_t>(summary.slowest, parts[first + part_slowest]);
    summary.longest_run = std::max(summary.longest_run, parts[first + part_longest]);
    summary.failed += parts[first + part_failed];
    summary.going += parts[first + part_going];
    for (size_t s = 0; s < sums; ++s)
      *all[s] += parts[first + part_sums + 2 * s] + (uint64_t{parts[first + part_sums + 2 * s + 1]} << 16);
  }
  return summary;
}

}  // namespace adit::sampling
