// Memory, control flow and teams, on every device, against the interpreter.
#include <random>

#include <adit/kernel/builder.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

class TeamSemantics : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, TeamSemantics, testing::ValuesIn(device_ids()), test_name);

TEST_P(TeamSemantics, VectorAccess) {
  for (int width : {2, 4}) {
    Builder k("vectors", Team::one());
    const Array x = k.buffer("x", Type::f32, Access::read), z = k.buffer("z", Type::f32, Access::read_write);
    const Value i = k.team();
    const Value v = x.load_vector(i, width);
    if (width == 2)
      z.store(i, k.pack({v[1], v[0] * 2}));
    else
      z.store(i, k.pack({v[3], v[2] * 2, v[1] * 3, v[0]}));
    // And one at a place that is not a neighbour's.
    k.if_(i % 3 == 0, [&] {
      const Value w = z.load_vector(i, width);
      z[i * width] = w[0] + w[1];
    });
    std::vector<float> a(103 * width);
    for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<float>(j);
    check_program(on(), k.finish(), 103, {Input::buffer(a), Input::buffer(std::vector<float>(a.size()))});
  }
}

TEST_P(TeamSemantics, Atomics) {
  Builder k("atomics", Team::one());
  const Array u = k.buffer("u", Type::u32, Access::read_write),
              s = k.buffer("s", Type::i32, Access::read_write),
              f = k.buffer("f", Type::f32, Access::read_write);
  const Value i = k.team(), one = k.constant(Type::u32, 1), at = i % 3;
  u.atomic_add(at, one);
  u.atomic_max(at + 3, i);
  u.atomic_min(at + 6, i * 7 + 2);
  u.atomic_or(at + 9, one << (i & 31));
  u.atomic_and(at + 12, ~(one << (i & 15)));
  u.atomic_xor(at + 15, i);
  s.atomic_min(at, convert(i, Type::i32) - 50);
  s.atomic_max(at + 3, convert(i, Type::i32) - 500);
  k.if_(i % 5 == 1, [&] { s.atomic_add(at + 6, convert(i, Type::i32)); });
  f.atomic_add(at, convert(i, Type::f32));
  f.atomic_max(at + 3, convert(i, Type::f32));
  f.atomic_min(at + 6, -convert(i, Type::f32));
  // Each ticket is drawn once: the old values are a permutation.
  const Value ticket = u.atomic_add(k.constant(Type::u32, 20), one);
  u[ticket + 32] = 1;
  // The first to come takes it.
  u.atomic_compare_exchange(k.constant(Type::u32, 21), k.constant(Type::u32, 0), one);
  std::vector<uint32_t> words(32 + 1000);
  for (int j = 6; j < 9; ++j) words[j] = ~0u;
  for (int j = 12; j < 15; ++j) words[j] = ~0u;
  check_program(
      on(), k.finish(), 1000,
      {Input::buffer(words), Input::buffer(std::vector<int32_t>(9)), Input::buffer(std::vector<float>(9))});
}

TEST_P(TeamSemantics, DivergentLoopsAndArrays) {
  Builder k("divergent", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read), z = k.buffer("z", Type::u32, Access::write);
  const Value i = k.team();
  const Array digits = k.array(Type::u32, 12);
  const Variable rest = k.variable(x[i]), count = k.variable(Type::u32, 0), sum = k.variable(Type::u32, 0);
  k.while_([&] { return Value(rest) != 0; },
           [&] {
             digits[count] = Value(rest) % 10;
             rest = Value(rest) / 10;
             count = Value(count) + 1;
           });
  k.for_(count, [&](Value j) {
    const Value digit = digits[j];
    k.if_(
        digit % 2 == 0, [&] { sum = Value(sum) * 3 + digit; },
        [&] { k.for_(digit, [&](Value d) { k.if_(d != 4, [&] { sum = Value(sum) + d; }); }); });
  });
  k.if_(
      i > 2, [&] { z[i] = Value(sum) + x[i - 3]; }, [&] { z[i] = sum; });
  std::mt19937 random(7);
  std::vector<uint32_t> a(517);
  for (auto& v : a) v = static_cast<uint32_t>(random() >> (random() % 32));
  check_program(on(), k.finish(), a.size(), {Input::buffer(a), Input::buffer(a)});
}

// Lanes whose loops begin, end or step at numbers of their own, one of the three at a time.
TEST_P(TeamSemantics, LoopsWhoseBoundsVary) {
  for (int which = 0; which < 3; ++which) {
    Builder k("bounds_vary", Team::one());
    const Array x = k.buffer("x", Type::u32, Access::read), z = k.buffer("z", Type::u32, Access::write);
    const Value i = k.team(), own = x[i], n = k.scalar("n", Type::u32);
    const Variable sum = k.variable(Type::u32, 0), trips = k.variable(Type::u32, 0);
    k.for_(which == 0 ? own : n.like(1), which == 1 ? own : n, which == 2 ? own : n.like(1), [&](Value j) {
      sum = Value(sum) * 3 + j;
      trips = Value(trips) + 1;
    });
    z[i] = Value(sum) * 64 + Value(trips);
    std::vector<uint32_t> a(133);
    for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<uint32_t>(1 + j * 7 % 11);
    check_program(on(), k.finish(), a.size(),
                  {Input::buffer(a), Input::buffer(a), Input::number(uint32_t{12})});
  }
}

// What a condition does counts for the lanes that still ask.
TEST_P(TeamSemantics, ConditionsOfLanesThatLeft) {
  Builder k("left", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read), z = k.buffer("z", Type::u32, Access::write);
  const Value i = k.team();
  const Variable rest = k.variable(x[i]), asked = k.variable(Type::u32, 0), rounds = k.variable(Type::u32, 0);
  k.while_(
      [&] {
        asked = Value(asked) + 1;
        return Value(rest) != 0;
      },
      [&] {
        rest = Value(rest) - 1;
        rounds = Value(rounds) + 1;
      });
  z[i] = Value(asked) * 100 + Value(rounds);
  std::vector<uint32_t> a(77);
  for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<uint32_t>(j * 5 % 13);
  check_program(on(), k.finish(), a.size(), {Input::buffer(a), Input::buffer(a)});
}

// A number that wraps between two lanes, made wider afterwards.
TEST_P(TeamSemantics, NumbersThatWrapBetweenLanes) {
  if (!on().limits().int64) GTEST_SKIP() << "no i64 here";
  Builder k("wraps", Team::one());
  const Array z = k.buffer("z", Type::u64, Access::write), w = k.buffer("w", Type::i64, Access::write);
  const Value i = k.team(), n = k.scalar("n", Type::u32);
  z[i] = convert(i + n, Type::u64);
  w[i] = convert(convert(i, Type::i32) + convert(n, Type::i32), Type::i64) + convert(n - i, Type::i64);
  const Program program = k.finish();
  for (const uint32_t from : {0xfffffffbu, 0x7ffffffbu})
    check_program(on(), program, 24,
                  {Input::buffer(std::vector<uint64_t>(24)), Input::buffer(std::vector<int64_t>(24)),
                   Input::number(from)});
}

TEST_P(TeamSemantics, UniformLoopsAndBooleans) {
  Builder k("uniform", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read),
              b = k.buffer("b", Type::boolean, Access::read_write),
              z = k.buffer("z", Type::f32, Access::write);
  const Value i = k.team(), n = k.scalar("n", Type::u32), m = k.scalar("m", Type::i32);
  const Variable sum = k.variable(Type::f32, 0), flag = k.variable(b[i]);
  const Array flags = k.array(Type::boolean, 4);
  flags[0] = flag;
  k.for_(k.constant(Type::i32, -3), m, k.constant(Type::i32, 2),
         [&](Value j) { sum = Value(sum) + convert(j, Type::f32) * x[i]; });
  k.for_(n, [&](Value j) { sum = Value(sum) + x[j]; });
  k.if_(n > 3, [&] { flag = !Value(flag); });
  flags[1] = flag;
  b[i] = Value(flags[0]) || (Value(flags[1]) && i % 2 == 0);
  z[i] = sum;
  std::vector<float> a(100);
  std::vector<uint8_t> bools(100);
  for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<float>(j) * 0.25f, bools[j] = j % 3 == 0;
  check_program(on(), k.finish(), 100,
                {Input::buffer(a), Input::buffer(bools), Input::buffer(a), Input::number(uint32_t{5}),
                 Input::number(int32_t{6})});
}

TEST_P(TeamSemantics, TeamLoops) {
  for (uint32_t n : {0u, 1u, 3u, 64u, 255u, 256u, 257u, 1000u}) {
    Builder k("team", Team::many(64));
    const Array x = k.buffer("x", Type::f32, Access::read), z = k.buffer("z", Type::f32, Access::write),
                r = k.buffer("r", Type::f32, Access::write);
    const Value count = k.scalar("n", Type::u32), team = k.team(), base = team * count;
    const Array shared = k.shared(Type::f32, 1024);
    const Variable round = k.variable(Type::u32, 0);
    k.each(count, [&](Value i) { shared[i] = Value(x[base + i]) + convert(team, Type::f32); });
    k.while_([&] { return Value(round) < 3; },
             [&] {
               // What one loop writes the next may read, from any lane.
               const Value first =
                   select(count > 0, Value(shared[0u]), count.builder().constant(Type::f32, 0));
               k.each(count, [&](Value i) {
                 const Value mirrored = shared[count - 1 - i];
                 z[base + i] = mirrored * 2 + first;
               });
               k.each(count, [&](Value i) { shared[i] = Value(shared[i]) + 1; });
               round = Value(round) + 1;
             });
    const auto results = k.reduce(count, {Reduction::add, Reduction::max, Reduction::min}, [&](Value i) {
      const Value v = shared[i];
      return std::vector{v, v, -v};
    });
    const Value odd =
        k.reduce(count, Reduction::bit_xor, [&](Value i) { return convert_in_range(shared[i], Type::u32); });
    k.once([&] {
      for (uint32_t j = 0; j < 3; ++j) r[team * 4 + j] = results[j];
      r[team * 4 + 3] = convert(odd, Type::f32);
    });
    std::vector<float> a(n * 5);
    for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<float>((j * 37) % 101);
    check_program(
        on(), k.finish(), 5,
        {Input::buffer(a), Input::buffer(a), Input::buffer(std::vector<float>(20)), Input::number(n)});
  }
}

// Vectors of shared memory beside scalars of it and vectors of another width.
TEST_P(TeamSemantics, SharedVectors) {
  for (const Type type : {Type::f32, Type::u32, Type::i16})
    for (const int width : {2, 4}) {
      Builder k("shared_vectors", Team::many(8));
      const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
      const Array whole = k.shared(type, 64), odd = k.shared(type, 67), counted = k.shared(Type::u32, 16);
      const Value n = k.constant(Type::u32, 64u / static_cast<uint32_t>(width));
      k.each(n, [&](Value i) {
        whole.store(i, x.load_vector(i, width));
        odd.store(i, x.load_vector(n - 1 - i, width));
      });
      k.each(n.like(16), [&](Value i) { counted[i] = 0u; });
      k.each(n.like(8), [&](Value i) {
        counted.atomic_add(i * 2, counted.load_vector(i, 2)[1] + i);
        whole.store(i, Value(whole[i]) + 1);
      });
      k.each(n.like(32), [&](Value i) {
        z.store(i, whole.load_vector(i, 2));
        z.store(i + 32, odd.load_vector(i, 2));
      });
      k.each(n.like(16), [&](Value i) { z[i + 128] = convert(Value(counted[i]), type); });
      std::vector<std::byte> data(64 * size_of(type));
      for (uint32_t i = 0; i < 64; ++i) {
        const uint64_t bits = bits_of_number(type, i * 3 + 1);
        std::memcpy(&data[i * size_of(type)], &bits, size_of(type));
      }
      check_program(on(), k.finish(), 1,
                    {Input::buffer(data), Input::buffer(std::vector<uint8_t>(144 * size_of(type)))});
    }
}

TEST_P(TeamSemantics, Subgroups) {
  if (!on().limits().subgroup_arithmetic) GTEST_SKIP() << "needs a GPU with subgroup arithmetic";
  Builder k("subgroups", Team::one(64));
  const Array z = k.buffer("z", Type::u32, Access::write);
  const Value i = k.team(), lane = k.subgroup_lane(), n = k.constant(Type::u32, 640);
  z[i] = k.subgroup_size();
  z[i + n] = lane;
  z[i + n * 2] = k.subgroup_reduce(Reduction::add, i + 1);
  z[i + n * 3] = k.subgroup_inclusive(Reduction::add, i + 1);
  z[i + n * 4] = k.subgroup_exclusive(Reduction::max, i + 1);
  z[i + n * 5] =
      convert(k.subgroup_any(i % 16 == 5), Type::u32) + 2 * convert(k.subgroup_all(i < 320), Type::u32);
  z[i + n * 6] = k.subgroup_first(i);
  z[i + n * 7] = on().limits().subgroup_shuffle ? k.subgroup_shuffle_xor(i, k.constant(Type::u32, 1)) : i ^ 1;
  k.if_(
      i % 2 == 1, [&] { z[i + n * 8] = k.subgroup_reduce(Reduction::add, i); }, [&] { z[i + n * 8] = 0; });
  const bool ballots = on().limits().subgroup_ballot;
  z[i + n * 9] = ballots ? k.subgroup_ballot(i % 3 == 1) : i.like(0);
  z[i + n * 10] = ballots ? k.subgroup_ballot(i % 3 == 1, 1) : i.like(0);
  const auto got = run_on(on(), k.finish(), 640, {Input::buffer(std::vector<uint32_t>(640 * 11))});
  const auto at = [&](uint32_t row, uint32_t j) {
    uint32_t v;
    std::memcpy(&v, &got[0][(row * 640 + j) * 4], 4);
    return v;
  };
  const uint32_t size = at(0, 0);
  ASSERT_GE(size, 1u);
  ASSERT_EQ(size & (size - 1), 0u);
  for (uint32_t j = 0; j < 640; ++j) {
    ASSERT_EQ(at(0, j), size);
    const uint32_t lane_number = at(1, j), first = j - lane_number;
    ASSERT_EQ(lane_number, j % size);
    uint32_t sum = 0, running = 0, before = 0, odd = 0;
    bool any = false, all = true;
    for (uint32_t l = first; l < first + size; ++l) {
      sum += l + 1;
      if (l <= j) running += l + 1;
      if (l < j) before = l + 1;
      any |= l % 16 == 5;
      all &= l < 320;
      if (l % 2 == 1) odd += l;
    }
    ASSERT_EQ(at(2, j), sum);
    ASSERT_EQ(at(3, j), running);
    ASSERT_EQ(at(4, j), before);
    ASSERT_EQ(at(5, j), uint32_t{any} + 2 * uint32_t{all});
    ASSERT_EQ(at(6, j), first);
    ASSERT_EQ(at(7, j), size > 1 ? j ^ 1 : j);
    ASSERT_EQ(at(8, j), j % 2 == 1 ? odd : 0);
    for (uint32_t word = 0; word < 2 && ballots; ++word) {
      uint32_t bits = 0;
      for (uint32_t b = 0; b < 32 && word * 32 + b < size; ++b)
        bits |= uint32_t{(first + word * 32 + b) % 3 == 1} << b;
      ASSERT_EQ(at(9 + word, j), bits);
    }
  }
}

// Lanes that are not there have no voice: the odd ones are elsewhere.
TEST_P(TeamSemantics, SubgroupsOfTheLanesThatAreThere) {
  const Limits& limits = on().limits();
  if (!limits.subgroup_arithmetic || !limits.subgroup_vote) GTEST_SKIP() << "needs a GPU with subgroup votes";
  Builder k("there", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read), z = k.buffer("z", Type::u32, Access::write);
  const Value i = k.team(), number = x[i], odd = number & 1u;
  k.if_(
      odd == 0u,
      [&] {
        const Value any = select(k.subgroup_any(odd == 1u), i.like(1), i.like(0));
        const Value all = select(k.subgroup_all(odd == 0u), i.like(2), i.like(0));
        z[i] = any + all + 4u * k.subgroup_reduce(Reduction::bit_or, odd);
      },
      [&] { z[i] = 77; });
  std::vector<uint32_t> a(128), want(128);
  for (uint32_t j = 0; j < a.size(); ++j) a[j] = j * 5 / 3, want[j] = a[j] % 2 == 0 ? 2 : 77;
  const auto got = run_on(on(), k.finish(), a.size(), {Input::buffer(a), Input::buffer(a)});
  std::vector<uint32_t> values(a.size());
  std::memcpy(values.data(), got[1].data(), got[1].size());
  EXPECT_EQ(values, want);
}

TEST_P(TeamSemantics, VectorsOfSmallElements) {
  if (!on().limits().storage8 || !on().limits().storage16) GTEST_SKIP() << "no small types in memory here";
  for (Type type : {Type::boolean, Type::u8, Type::u16})
    for (int width : {2, 4}) {
      Builder k("small_vectors", Team::one());
      const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
      const Value i = k.team(), v = x.load_vector(i, width), w = x.load_vector(i * 7 % 50, width);
      z.store(i, width == 2 ? k.pack({v[1], w[0]}) : k.pack({v[3], w[0], v[2], w[1]}));
      std::vector<uint8_t> bytes(50 * 4 * 2);
      for (size_t j = 0; j < bytes.size(); ++j)
        bytes[j] = static_cast<uint8_t>(type == Type::boolean ? j % 3 == 0 : j * 37);
      check_program(on(), k.finish(), 50,
                    {Input::buffer(bytes), Input::buffer(std::vector<uint8_t>(bytes.size()))});
    }
}

// Teams whose last subgroup is not full, and a loop inside the body.
TEST_P(TeamSemantics, ReductionsOverOddTeams) {
  for (uint32_t lanes : {1u, 3u, 17u, 33u, 100u})
    for (uint32_t n : {0u, 1u, 17u, 200u}) {
      Builder k("odd_team", Team::many(lanes));
      const Array x = k.buffer("x", Type::u32, Access::read), z = k.buffer("z", Type::u32, Access::write);
      const Value count = k.scalar("n", Type::u32), team = k.team();
      const auto results = k.reduce(count, {Reduction::add, Reduction::max}, [&](Value i) {
        const Variable rest = k.variable(Value(x[i]) + team), steps = k.variable(Type::u32, 0);
        k.while_([&] { return Value(rest) > 3; },
                 [&] {
                   rest = Value(rest) / 3;
                   steps = Value(steps) + 1;
                 });
        return std::vector<Value>{steps, Value(x[i]) ^ Value(rest)};
      });
      k.once([&] {
        z[team * 2] = results[0];
        z[team * 2 + 1] = results[1];
      });
      std::vector<uint32_t> a(n + 1);
      for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<uint32_t>(j * 2654435761u) >> 8;
      check_program(on(), k.finish(), 3,
                    {Input::buffer(a), Input::buffer(std::vector<uint32_t>(6)), Input::number(n)});
    }
}

// The team's number is one for all lanes, wherever it is asked for.
TEST_P(TeamSemantics, TeamNumberInsideOfALoop) {
  Builder k("number_inside", Team::many(16));
  const Array out = k.buffer("out", Type::u32, Access::write);
  k.each(k.constant(Type::u32, 37), [&](Value i) { out[k.team() * 37u + i] = i + k.team() * 100u; });
  check_program(on(), k.finish(), 3, {Input::buffer(std::vector<uint32_t>(111))});
}

// Loops that are known to be long, with a body that is: a CPU widens them.
TEST_P(TeamSemantics, LongReductions) {
  for (const uint32_t n : {64u, 71u, 1003u}) {
    Builder k("long_reduction", Team::many(32));
    const Array x = k.buffer("x", Type::f32, Access::read), z = k.buffer("z", Type::f32, Access::write);
    const Array w = k.buffer("w", Type::u32, Access::write);
    const Value team = k.team(), count = k.constant(Type::u32, n);
    const auto results = k.reduce(count, {Reduction::add, Reduction::add, Reduction::max}, [&](Value i) {
      const Value v = x[i];
      const Array kept = k.array(Type::u32, 3);
      const Variable mixed = k.variable(i + team);
      for (uint32_t round = 0; round < 20; ++round) {
        mixed = Value(mixed) * 2654435761u + (Value(mixed) >> 7);
        kept[convert(Value(mixed) % 3, Type::u32)] = Value(mixed);
        if (round == 10) k.if_(Value(mixed) % 2 == 0, [&] { mixed = Value(mixed) ^ i; });
      }
      for (uint32_t j = 0; j < 3; ++j) kept[j] = Value(mixed) + j;
      w[team * n + i] = Value(kept[Value(mixed) % 3]);
      return std::vector<Value>{v * (v + 1), Value(mixed), Value(mixed) ^ 0x55u};
    });
    k.once([&] {
      z[team * 3] = results[0];
      for (uint32_t j = 1; j < 3; ++j) z[team * 3 + j] = convert(results[j] >> 8, Type::f32);
    });
    std::vector<float> a(n);
    for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<float>((j * 37) % 101);
    check_program(on(), k.finish(), 3,
                  {Input::buffer(a), Input::buffer(std::vector<float>(9)),
                   Input::buffer(std::vector<uint32_t>(3 * n))});
  }
}

// The first row has numbers, the second a NaN, the third a NaN with a sign beside infinities.
TEST_P(TeamSemantics, LargestAndSmallestKeepNaN) {
  const auto check = [&](auto one, Type type, uint32_t lanes, uint32_t n) {
    using T = decltype(one);
    if (type == Type::f64 && !on().limits().float64) return;
    Builder k("keeps_nan", Team::many(lanes));
    const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
    const Value count = k.constant(Type::u32, n), team = k.team();
    const auto told = [](Value v) { return select(is_nan(v), v.like(1234), v); };
    const auto results =
        k.reduce(count, {Reduction::max_or_nan, Reduction::min_or_nan}, [&](Value i) -> std::vector<Value> {
          const Value v = x[team * n + i];
          return {v, v};
        });
    const Value first = team * (n + 2u);
    k.once([&] { z[first] = told(results[0]), z[first + 1u] = told(results[1]); });
    k.each(count, [&](Value i) {  // beside a neighbour
      const Value v = x[team * n + i], other = x[team * n + (i + 1u) % n];
      z[first + 2u + i] = told(max_or_nan(v, other)) - told(min_or_nan(other, v)) * v.like(2);
    });
    std::vector<T> a(3 * n);
    for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<T>((j * 37) % 101) - 50;
    a[n + n / 2] = std::numeric_limits<T>::quiet_NaN();
    a[2 * n] = std::numeric_limits<T>::infinity(), a[3 * n - 1] = -std::numeric_limits<T>::quiet_NaN();
    check_program(on(), k.finish(), 3, {Input::buffer(a), Input::buffer(std::vector<T>(3 * (n + 2)))});
  };
  for (const uint32_t lanes : {1u, 32u, 100u})
    for (const uint32_t n : {1u, 17u, 300u}) {
      check(0.f, Type::f32, lanes, n);
      check(0.0, Type::f64, lanes, n);
    }
}

TEST_P(TeamSemantics, SubgroupsKeepNaN) {
  if (!on().limits().subgroup_arithmetic) GTEST_SKIP() << "needs a GPU with subgroup arithmetic";
  Builder k("subgroups_keep_nan", Team::one(64));
  const Array x = k.buffer("x", Type::f32, Access::read), z = k.buffer("z", Type::f32, Access::write);
  const Value i = k.team(), most = k.subgroup_reduce(Reduction::max_or_nan, x[i]),
              least = k.subgroup_reduce(Reduction::min_or_nan, x[i]),
              nans = k.subgroup_reduce(Reduction::bit_or, convert(is_nan(x[i]), Type::u32));
  // As many NaN as there should be: where the subgroup has one both results are.
  z[i] = convert(convert(is_nan(most), Type::u32) + convert(is_nan(least), Type::u32) - nans * 2u, Type::f32);
  std::vector<float> a(1024);
  for (size_t j = 0; j < a.size(); ++j) a[j] = static_cast<float>((j * 37) % 101) - 50;
  a[133] = std::numeric_limits<float>::quiet_NaN(), a[700] = -a[133];
  const auto got =
      run_on(on(), k.finish(), 1024, {Input::buffer(a), Input::buffer(std::vector<float>(1024))});
  for (size_t j = 0; j < a.size(); ++j) {
    float told;
    std::memcpy(&told, &got[1][j * 4], 4);
    EXPECT_EQ(told, 0) << j;
  }
}

// Which invocations form a subgroup depends on their numbers alone, not on how a device shares work out.
TEST_P(TeamSemantics, SubgroupsStayTogether) {
  if (!on().limits().subgroup_arithmetic) GTEST_SKIP() << "needs a GPU with subgroup arithmetic";
  Builder k("together", Team::one(64));
  const Array z = k.buffer("z", Type::u32, Access::write);
  const Value i = k.team();
  const Variable sum = k.variable(Type::u32, 0);
  k.for_(k.constant(Type::u32, 300), [&](Value j) { sum = Value(sum) ^ (j * i); });
  z[i] = k.subgroup_size() * 1024 + k.subgroup_lane() + (Value(sum) & 0);
  const Program program = k.finish();
  for (uint32_t n : {5u, 40u, 64u, 1000u, 5000u, 40u}) {
    const auto got = run_on(on(), program, n, {Input::buffer(std::vector<uint32_t>(n))});
    for (uint32_t j = 0; j < n; ++j) {
      uint32_t both;
      std::memcpy(&both, &got[0][j * 4], 4);
      ASSERT_EQ(both % 1024, j % (both / 1024)) << j << " of " << n;
    }
  }
}

TEST_P(TeamSemantics, HugePrivateArraysAreRefused) {
  Builder k("huge", Team::one());
  const Array z = k.buffer("z", Type::u32, Access::write), a = k.array(Type::u32, 1 << 24);
  const Value i = k.team();
  a[i] = i;
  z[i] = a[i];
  const Program program = k.finish();
  EXPECT_THROW(on().compile(program), Error);
}

TEST_P(TeamSemantics, OddTeamCounts) {
  for (uint32_t n : {0u, 1u, 2u, 7u, 255u, 256u, 257u, 70000u}) {
    Builder k("counts", Team::one(256));
    const Array z = k.buffer("z", Type::u32, Access::read_write);
    const Value i = k.team();
    z[i] = Value(z[i]) + i * 3 + 1;
    check_program(on(), k.finish(), n, {Input::buffer(std::vector<uint32_t>(n + 300))});
  }
}

}  // namespace
}  // namespace adit::test
