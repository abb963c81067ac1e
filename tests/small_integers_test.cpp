// Integers of 8 and 16 bits, and the bits of 16-bit floats, on every device against the interpreter: code
// generators keep them in wider registers, and what lies beside their own bits there must never show.
#include <fmt/format.h>

#include <adit/kernel/builder.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

constexpr Type small_types[] = {Type::i8, Type::u8, Type::i16, Type::u16};

class SmallIntegers : public OnDevice {
 protected:
  void SetUp() override {
    if (!on().limits().storage8 || !on().limits().storage16) GTEST_SKIP() << "no small types in memory here";
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, SmallIntegers, testing::ValuesIn(device_ids()), test_name);

// Numbers 0 to n - 1 times an odd step, cut to the type: all of them where n is large enough.
Input numbers(Type type, uint32_t n, uint32_t step = 1) {
  Input input;
  input.bytes.resize(n * size_of(type));
  for (uint32_t j = 0; j < n; ++j) {
    const uint32_t number = j * step;
    std::memcpy(&input.bytes[j * size_of(type)], &number, size_of(type));
  }
  return input;
}

Input room(Type type, uint32_t n) { return numbers(type, n, 0); }

// Every value of the type, each through chains whose middle leaves the range.
TEST_P(SmallIntegers, ChainsOverEveryValue) {
  for (const Type type : small_types) {
    Builder k("chains_" + std::string(name_of(type)), Team::one());
    const Array x = k.buffer("x", type, Access::read), y = k.buffer("y", type, Access::read),
                z = k.buffer("z", type, Access::write), wide = k.buffer("wide", Type::i32, Access::write);
    const Value i = k.team(), a = x[i], b = y[i];
    const std::vector<Value> results{count_ones(~a),
                                     leading_zeros(a + b),
                                     trailing_zeros(a << 3),
                                     (a * b) / (b - a),
                                     (a - b) % 7,
                                     (a + b) >> 2,
                                     (a >> b) | count_ones(a),
                                     abs(a - 1),
                                     -a / -1,
                                     select(a + b < a, ~b, a ^ b),
                                     min(a * 3, b << 1),
                                     max(-a, ~b)};
    for (uint32_t r = 0; r < results.size(); ++r) {
      z[i * 12u + r] = results[r];
      wide[i * 12u + r] = convert(results[r], Type::i32);
    }
    const uint32_t n = size_of(type) == 1 ? 256 : 4096, step = size_of(type) == 1 ? 1 : 16;
    check_program(
        on(), k.finish(), n,
        {numbers(type, n, step), numbers(type, n, 197), room(type, n * 12), room(Type::i32, n * 12)});
  }
}

TEST_P(SmallIntegers, ConvertIntoEachOther) {
  for (const Type from : small_types) {
    Builder k("into_" + std::string(name_of(from)), Team::one());
    const Array x = k.buffer("x", from, Access::read);
    std::vector<Input> inputs{numbers(from, 512, 129)};
    const Value i = k.team(), a = Value(x[i]) * 3;
    for (const Type to : {Type::i8, Type::u8, Type::i16, Type::u16, Type::i32, Type::u32, Type::f32}) {
      const Array z = k.buffer(std::string(name_of(to)), to, Access::write);
      z[i] = convert(a, to);
      inputs.push_back(room(to, 512));
    }
    check_program(on(), k.finish(), 512, inputs);
  }
}

// Compared as wider ones, with constants: a driver's optimiser may get there what it gets right alone.
TEST_P(SmallIntegers, WidenedBesideConstants) {
  for (const Type from : {Type::i8, Type::i16, Type::i32, Type::u8, Type::u16, Type::u32})
    for (const Type to : {Type::i32, Type::i64, Type::u32, Type::u64}) {
      if (size_of(to) == 8 && !on().limits().int64) continue;
      Builder k(fmt::format("widened_{}_{}", name_of(from), name_of(to)), Team::one());
      const Array x = k.buffer("x", from, Access::read), z = k.buffer("z", to, Access::write);
      const Value i = k.team(), a = convert(x[i], to);
      uint32_t count = 0;
      const auto note = [&](const Value& result) { z[i * 15u + count++] = result; };
      for (const int number : {0, 3, 100}) {
        const Value c = a.like(number);
        note(select(a < c, a.like(1), a.like(0)));
        note(select(c < a, a.like(1), a.like(0)));
        note(select(a == c, a.like(1), a.like(0)));
        note(max(a, c));
        note(min(a, c));
      }
      check_program(on(), k.finish(), 512, {numbers(from, 512, 0x1010101), room(to, 512 * 15)});
    }
}

TEST_P(SmallIntegers, FromFloatsAndWideIntegers) {
  Builder k("from_wide", Team::one());
  const Array x = k.buffer("x", Type::i32, Access::read);
  std::vector<Input> inputs{numbers(Type::i32, 999, 2654435761u)};
  const Value i = k.team(), a = x[i], real = convert(a >> (a & 31), Type::f32) / 4;
  for (const Type to : small_types) {
    const Array z = k.buffer(std::string(name_of(to)), to, Access::write);
    z[i * 2u] = convert(a, to);
    z[i * 2u + 1u] = convert(real, to);
    inputs.push_back(room(to, 999 * 2));
  }
  check_program(on(), k.finish(), 999, inputs);
}

// Lanes part, loop each as often as it likes, and meet again.
TEST_P(SmallIntegers, VariablesInDivergentFlow) {
  for (const Type type : small_types) {
    Builder k("divergent_" + std::string(name_of(type)), Team::one(32));
    const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
    const Value i = k.team(), a = x[i];
    const Variable cell = k.variable(a);
    const Array cells = k.array(type, 4);
    for (uint32_t j = 0; j < 4; ++j) cells[j] = a + j;
    k.for_(i & 7u, [&](Value j) {
      k.if_((i + j) % 3 == 0u, [&] { cell = count_ones(~cell.get()) - 9; },
            [&] { cell = (cell.get() >> 1) | (cell.get() << 3); });
      cells[j & 3u] = cell.get() * Value(cells[i & 3u]) + 77;
    });
    z[i] = cell.get() ^ (Value(cells[0]) + Value(cells[1])) ^ (Value(cells[2]) - Value(cells[3]));
    check_program(on(), k.finish(), 500, {numbers(type, 500, 131), room(type, 500)});
  }
}

TEST_P(SmallIntegers, ArgumentsAndConstants) {
  for (const Type type : small_types) {
    Builder k("arguments_" + std::string(name_of(type)), Team::one());
    const Value a = k.scalar("a", type), b = k.scalar("b", type), i = k.team();
    const Array z = k.buffer("z", type, Access::write), flags = k.buffer("f", Type::boolean, Access::write);
    z[i] = (a + convert(i, type)) * -3 + b;
    flags[i] = (a - 100 < b) && (b != -2);
    const auto number = [&](int of) {
      return type == Type::i8    ? Argument(static_cast<int8_t>(of))
             : type == Type::u8  ? Argument(static_cast<uint8_t>(of))
             : type == Type::i16 ? Argument(static_cast<int16_t>(of))
                                 : Argument(static_cast<uint16_t>(of));
    };
    check_program(
        on(), k.finish(), 70,
        {Input::number(number(-7)), Input::number(number(130)), room(type, 70), room(Type::boolean, 70)});
  }
}

TEST_P(SmallIntegers, Vectors) {
  for (const Type type : small_types)
    for (const int width : {2, 4}) {
      Builder k("vectors", Team::one());
      const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
      const Value i = k.team(), v = x.load_vector(i, width);
      const Value sum = v[0] + v[1], low = min(v[0], v[width - 1]) / 2;
      z.store(i, width == 2 ? k.pack({~sum, low}) : k.pack({sum >> 1, low, -v[2], count_ones(v[3])}));
      const uint32_t n = 100 * static_cast<uint32_t>(width);
      check_program(on(), k.finish(), 100, {numbers(type, n, 12347), room(type, n)});
    }
}

TEST_P(SmallIntegers, SharedMemoryAndReductions) {
  for (const Type type : small_types)
    for (const uint32_t lanes : {8u, 32u, 50u}) {
      Builder k("team_" + std::string(name_of(type)), Team::many(lanes));
      const Array x = k.buffer("x", type, Access::read), z = k.buffer("z", type, Access::write);
      const Array tile = k.shared(type, 100);
      const Value n = k.constant(Type::u32, 100);
      k.each(n, [&](Value i) { tile[i] = Value(x[i]) * 5 + 1; });
      const std::vector<Reduction> ops{Reduction::add,    Reduction::mul,     Reduction::min,
                                       Reduction::max,    Reduction::bit_and, Reduction::bit_or,
                                       Reduction::bit_xor};
      const auto results = k.reduce(n, ops, [&](Value i) {
        const Value a = tile[99u - i];
        return std::vector<Value>{a, a | 1, a, a, a | 3, a, a};
      });
      k.once([&] {
        for (uint32_t r = 0; r < results.size(); ++r) z[r] = results[r] >> 1;
      });
      check_program(on(), k.finish(), 1, {numbers(type, 100, 8231), room(type, 7)});
    }
}

// Every pattern of 16 bits as it is, through halves and bfloats.
TEST_P(SmallIntegers, BitsOfHalves) {
  for (const Type real : {Type::f16, Type::bf16}) {
    if (real == Type::f16 && !on().limits().float16) continue;
    for (const Type bits : {Type::i16, Type::u16}) {
      Builder k("bits_of_" + std::string(name_of(real)), Team::one());
      const Array x = k.buffer("x", bits, Access::read), y = k.buffer("y", real, Access::read),
                  there = k.buffer("there", real, Access::write), z = k.buffer("z", bits, Access::write),
                  wide = k.buffer("wide", Type::i32, Access::write);
      const Value i = k.team();
      there[i] = bitcast(Value(x[i]) + 1, real);
      z[i] = bitcast(y[i], bits) + 1;
      wide[i] = convert(bitcast(bitcast(Value(x[i]) * 3, real), bits), Type::i32);
      const uint32_t n = 65536;
      check_program(on(), k.finish(), n,
                    {numbers(bits, n), numbers(bits, n), room(bits, n), room(bits, n), room(Type::i32, n)});
    }
  }
}

}  // namespace
}  // namespace adit::test
