// Does what one team publishes reach another team in order? The classic test of message passing: a writer
// stores its words and then raises a flag; a reader that sees the flag must see the words.
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include <adit/kernel/builder.hpp>

#include "device/doctor/probes.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;

constexpr uint32_t all_teams = 64, message_words = 8;
constexpr uint32_t line_words = 32;    // words between two, so that each has a 128-byte line of its own
constexpr uint32_t messages = 100;     // of a pair of teams in one dispatch
constexpr uint32_t most_spins = 3000;  // of a team in all; far below any device's loop limit
constexpr uint32_t enough = 10000;     // messages, to believe that order holds
constexpr double long_enough = 0.5, most_seconds = 3;

enum Counter : uint32_t { tickets, stale_messages, seen_messages, abandoned, sink, counters };

// Teams take tickets: an even one writes, the odd one after it reads, and they go on in step. So both have
// begun when one waits, whatever order the device starts teams in; and a partner that does not run is given
// up after a while.
Program message_passing() {
  Builder k("doctor_messages", Team::many(32));
  const Array data = k.buffer("data", Type::u32, Access::read_write);
  const Array flag =
      k.buffer("flag", Type::u32, Access::read_write);  // of pair i: message 64 i, answer 64 i + 32
  const Array count = k.buffer("count", Type::u32, Access::read_write);
  const Value first = k.scalar("first_message", Type::u32),
              first_ticket = k.scalar("first_ticket", Type::u32);
  const auto number = [&](uint32_t value) { return first.like(value); };

  k.once([&] {
    const Value ticket = count.atomic_add(number(tickets), number(1)) - first_ticket;
    const Value pair = ticket >> 1, message_at = pair * (2 * line_words), answer_at = message_at + line_words;
    const auto cell = [&](uint32_t word) { return data[(pair * message_words + word) * line_words]; };
    const Variable message = k.variable(first), seen = k.variable(Type::u32, 0),
                   spins = k.variable(Type::u32, 0);
    const Variable stale = k.variable(Type::u32, 0), early = k.variable(Type::u32, 0);
    const Value last = first + messages;

    // Waits until the flag shows the message; false when this team has waited long enough in its life.
    const auto wait_for = [&](Value at) {
      seen = flag.atomic_or(at, number(0));
      k.while_([&] { return seen.get() != message.get() && spins.get() < most_spins; },
               [&] {
                 seen = flag.atomic_or(at, number(0));
                 spins = spins.get() + 1;
               });
      return seen.get() == message.get();
    };
    const auto give_up = [&] {
      count.atomic_add(number(abandoned), number(1));
      message = last;
    };
    const auto write = [&] {
      for (uint32_t word = 0; word < message_words; ++word) cell(word) = message.get();
      k.fence();
      flag.atomic_exchange(message_at, message);
      k.if_(
          wait_for(answer_at), [&] { message = message.get() + 1; }, give_up);
    };
    const auto read = [&] {
      // An early look pulls old lines into this core's cache; a later one must not be served from them.
      for (uint32_t word = 0; word < message_words; ++word) early = early.get() + cell(word).get();
      const auto look = [&] {
        k.fence();
        Value old = number(0);
        for (uint32_t word = message_words; word-- > 0;)
          old = old | select(cell(word).get() == message.get(), number(0), number(1));
        stale = stale.get() + old;
        // The first message may come from a team that has long ended; from the second on both are at work.
        count.atomic_add(number(seen_messages), select(message.get() == first, number(0), number(1)));
        k.fence();
        flag.atomic_exchange(answer_at, message);
        message = message.get() + 1;
      };
      k.if_(wait_for(message_at), look, give_up);
    };
    const auto more = [&] { return message.get() < last; };
    k.if_((ticket & 1) == 0, [&] { k.while_(more, write); }, [&] { k.while_(more, read); });
    count.atomic_add(number(stale_messages), stale);
    count.atomic_add(number(sink), early);
  });
  return k.finish();
}

// As many runs as it takes to see enough messages, but for so long at least.
std::vector<uint32_t> pass_messages(Device& device, double least_seconds, uint32_t& runs) {
  const auto kernel = device.compile(message_passing());
  const Buffer data = device.allocate(uint64_t{all_teams / 2} * message_words * line_words * 4);
  const Buffer flag = device.allocate(all_teams * line_words * 4), count = device.allocate(counters * 4);
  for (const Buffer& buffer : {data, flag, count}) device.fill(buffer, 0);

  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::vector<uint32_t> counts(counters);
  // On a busy machine the two of a pair seldom run at the same time; then it takes longer.
  while (elapsed() < least_seconds || (counts[seen_messages] < enough && elapsed() < most_seconds)) {
    device.run(*kernel, all_teams, {data, flag, count, runs * messages + 1, runs * all_teams});
    counts = read_all<uint32_t>(device, count, counters);
    ++runs;
  }
  return counts;
}

// Nothing where too few messages arrived to tell, as on a device that others keep busy.
std::optional<bool> is_in_order(const std::vector<uint32_t>& counts, uint32_t runs) {
  if (counts[tickets] != runs * all_teams || counts[stale_messages] > 0) return false;
  if (counts[seen_messages] < enough) return std::nullopt;
  return true;
}

}  // namespace

Finding probe_memory_model(Device& device, Profile& profile) {
  uint32_t runs = 0;
  const std::vector<uint32_t> counts = pass_messages(device, long_enough, runs);
  const uint32_t stale = counts[stale_messages], seen = counts[seen_messages];
  Finding finding{.probe = "order between teams",
                  .claimed = "-",
                  .measured = fmt::format("{} of {} messages stale", stale, seen)};
  profile.ordered_between_teams = is_in_order(counts, runs);
  if (counts[tickets] != runs * all_teams) {
    finding.verdict = Verdict::broken;
    finding.note = "atomic counters between teams do not add up";
  } else if (stale > 0) {
    finding.verdict = Verdict::broken;
    finding.note = "no kernel may wait for another team's words";
  } else if (seen < enough) {
    finding.verdict = Verdict::limited;
    finding.note = "too few messages to tell; taken as not ordered";
  }
  return finding;
}

bool are_teams_ordered(Device& device) {
  const DeviceInfo& info = device.info();
  if (info.kind == DeviceKind::cpu || info.kind == DeviceKind::software)
    return device.limits().ordered_between_teams;
  static std::mutex& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, bool>;
  const std::lock_guard lock(mutex);
  const auto [found, is_new] = known.try_emplace(info.id, false);
  if (!is_new) return found->second;
  Profile profile = load_profile(info).value_or(Profile{});
  if (!profile.ordered_between_teams) {
    uint32_t runs = 0;
    std::vector<uint32_t> counts;
    try {
      counts = pass_messages(device, 0, runs);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      return false;  // a device that has no fences between teams
    }
    profile.ordered_between_teams = is_in_order(counts, runs);
    // What is not known is asked for again by the next process.
    if (profile.ordered_between_teams) save_profile(info, profile);
  }
  return found->second = profile.ordered_between_teams.value_or(false);
}

}  // namespace adit::doctor
