// Random team programs on every device against the interpreter: loops over the lanes that read what other
// lanes wrote, in every order. A barrier that is missing shows.
#include <random>

#include <adit/kernel/builder.hpp>

#include "devices.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

class TeamFuzz : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TeamFuzz, testing::ValuesIn(device_ids()), test_name);

constexpr uint32_t length = 128;  // of an array, in two halves
constexpr uint64_t teams = 3;

class Writer {
 public:
  Writer(uint64_t seed, uint32_t lanes)
      : random_(seed), k_("team_fuzz_" + std::to_string(seed), Team::many(lanes)), sum_(start()) {}

  Program write() {
    for (const Array& array : arrays_) fill(array);
    statements(7, 0);
    choice(0);
    k_.once([&] { out_[k_.team()] = sum_.get(); });
    k_.each(number(length), [&](Value i) {
      Value all = i;
      for (const Array& array : arrays_) all = all * 31u + Value(array[place(array, i)]);
      out_[number(teams) + k_.team() * length + i] = all;
    });
    return k_.finish();
  }

 private:
  Variable start() {
    const Array state = k_.buffer("state", Type::u32, Access::read_write);
    out_ = k_.buffer("out", Type::u32, Access::write);
    arrays_ = {state, k_.shared(Type::u32, length), k_.shared(Type::u32, length)};
    base_ = k_.team() * length;
    return k_.variable(Type::u32, 1);
  }

  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  Value number(uint64_t n) { return k_.constant(Type::u32, n); }
  // A team's part of the buffer.
  Value place(const Array& array, Value i) { return array.id() == arrays_[0].id() ? base_ + i : i; }
  const Array& any() { return arrays_[pick(3)]; }
  // To be read: often what was written last, before which a barrier may be missing.
  const Array& recent() { return pick(2) ? arrays_[last_] : any(); }

  // Where the steps i < n of a loop write, each somewhere else: in one half of an array.
  std::function<Value(Value)> pattern(uint32_t n) {
    const uint32_t first = pick(2) * 64, by = pick(64);
    switch (pick(7)) {
      case 0:
      case 1: return [=](Value i) { return i + first; };
      case 2: return [=](Value i) { return first + (n - 1) - i; };
      case 3: return [=](Value i) { return first + ((i + by) & 63u); };
      case 4: {
        const Value turned = sum_.get() & 63u;  // known to the team alone
        return [=](Value i) { return first + ((i + turned) & 63u); };
      }
      default: {
        const Value moved = sum_.get() & (n <= 32 ? 31u : 0u);
        return [=](Value i) { return first + moved + i; };
      }
    }
  }
  // Anything, of an array that the loop does not write.
  Value read(const Array& array, Value i) {
    switch (pick(4)) {
      case 0: return array[place(array, i)];
      case 1: return array[place(array, (length - 1) - i)];
      case 2: return array[place(array, (i * 5u + pick(length)) & (length - 1))];
      default: return array[place(array, number(pick(length)))];
    }
  }

  void fill(const Array& array) {
    k_.each(number(length), [&](Value i) { array[place(array, i)] = i * 7u + pick(100); });
  }

  // A loop that reads, turned around, what was written last.
  void follow() {
    const Array &from = arrays_[last_], &to = arrays_[(last_ + 1 + pick(2)) % arrays_.size()];
    k_.each(number(length),
            [&](Value i) { to[place(to, i)] = i * 3u + Value(from[place(from, (length - 1) - i)]); });
    last_ = static_cast<size_t>(&to - arrays_.data());
  }

  void choice(int depth) {
    k_.if_((sum_.get() & (1u << pick(3))) == 0u, [&] { statements(2, depth + 1); },
           [&] { statements(2, depth + 1); });
    follow();
  }

  void loop(bool reduces) {
    const uint32_t n = 1 + pick(64);
    const Array &from = recent(), &to = any();
    const auto where = pattern(n);
    const bool writes = pick(reduces ? 2 : 8) > 0, reads_own = pick(2) == 0, is_partial = pick(3) == 0;
    const auto body = [&](Value i) {
      Value value = i + 1u;
      if (from.id() != to.id() || !writes) value = value * 3u + read(from, i);
      const Value at = place(to, where(i));
      if (writes && reads_own) value = value * 5u + Value(to[at]);
      const auto store = [&] { to[at] = value; };
      if (writes && is_partial)
        k_.if_((i & 3u) != 1u, store);
      else if (writes)
        store();
      return value;
    };
    if (reduces)
      sum_ = sum_.get() * 17u + k_.reduce(number(n), pick(2) ? Reduction::add : Reduction::bit_xor, body);
    else
      k_.each(number(n), body);
    if (writes) last_ = static_cast<size_t>(&to - arrays_.data());
  }

  void statement(int depth) {
    switch (pick(depth < 2 ? 11 : 6)) {
      case 0:
      case 1: return loop(false);
      case 2: return loop(true);
      case 3: {
        const Array &to = any(), &from = any();
        const Value at = number(pick(length)), other = number(pick(length));
        return k_.once([&] { to[place(to, at)] = Value(from[place(from, other)]) + 9u; });
      }
      case 4: {
        const Array& from = recent();
        sum_ = sum_.get() * 13u + Value(from[place(from, number(pick(length)))]);
        return;
      }
      case 5: {
        const Array& from = any();
        return k_.if_((sum_.get() & 1u) == 0u,
                      [&] { sum_ = sum_.get() + Value(from[place(from, sum_.get() & (length - 1))]); });
      }
      case 9:  // rounds with nothing but a loop that moves
        return k_.for_(number(3), [&](Value) {
          sum_ = sum_.get() * 13u + 5u;
          loop(false);
        });
      case 6: return k_.for_(number(1 + pick(3)), [&](Value) { statements(3, depth + 1); });
      case 7:
      case 10: return choice(depth);
      default: {
        const Variable trips = k_.variable(sum_.get() & 3u);
        return k_.while_(
            [&] {
              const Array& from = any();
              sum_ = sum_.get() * 3u + Value(from[place(from, number(pick(length)))]);
              return trips.get() != 0u;
            },
            [&] {
              trips = trips.get() - 1u;
              statements(2, depth + 1);
            });
      }
    }
  }
  void statements(int n, int depth) {
    for (int j = 0; j < n; ++j) statement(depth);
  }

  std::mt19937_64 random_;
  Builder k_;
  std::vector<Array> arrays_;
  size_t last_ = 0;  // the array that was written last
  Array out_;
  Value base_;
  Variable sum_;
};

TEST_P(TeamFuzz, RandomPrograms) {
  each_seed(20, [&](uint64_t seed) {
    constexpr uint32_t sizes[] = {4, 8, 16, 32, 64, 12, 96};
    uint32_t lanes = sizes[seed % std::size(sizes)];
    // Mesa's software device loses a subgroup that is not full, the last or the only one, behind a loop with
    // barriers.
    const uint32_t whole = on().limits().subgroup_size;
    if (on().info().kind == DeviceKind::software) lanes = (lanes + whole - 1) / whole * whole;
    Writer writer(seed, lanes);
    const Program program = writer.write();
    const std::vector<uint32_t> state(teams * length, 5), out(teams + teams * length);
    check_program(on(), program, teams, {Input::buffer(state), Input::buffer(out)});
  });
}

}  // namespace
}  // namespace adit::test
