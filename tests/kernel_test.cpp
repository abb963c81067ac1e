// The kernel language itself: what the builder writes, what the verifier rejects, what the dump shows.
#include <cmath>
#include <gtest/gtest.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "interpreter.hpp"

namespace adit::kernel {
namespace {

// The message of the Error that f throws.
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    return error.what();
  }
  return "no error";
}
void expect_error(const std::function<void()>& f, const std::string& words) {
  const std::string message = error_of(f);
  EXPECT_NE(message.find(words), std::string::npos)
      << "expected \"" << words << "\", got \"" << message << "\"";
}

Program axpy() {
  Builder k("axpy", Team::one(128));
  const Array x = k.buffer("x", Type::f32, Access::read), y = k.buffer("y", Type::f32, Access::read_write);
  const Value a = k.scalar("a", Type::f32), i = k.team();
  const Value from = x[i], to = y[i];
  y[i] = fma(a, from, to);
  return k.finish();
}

TEST(Kernel, DumpIsReadable) {
  EXPECT_EQ(dump(axpy()),
            "kernel axpy (team of one, workgroup 128)\n"
            "  buffer x : f32 read\n"
            "  buffer y : f32 read_write\n"
            "  scalar a : f32\n"
            "  %0: f32 = buffer x\n"
            "  %1: f32 = buffer y\n"
            "  %2: f32 = argument a\n"
            "  %3: u32 = team\n"
            "  %4: f32 = load %0, %3\n"
            "  %5: f32 = load %1, %3\n"
            "  %6: f32 = fma %2, %4, %5\n"
            "  store %1, %3, %6\n");
}

TEST(Kernel, ArgumentsAreAlignedNaturally) {
  Builder k("layout", Team::one());
  k.scalar("a", Type::u8);
  k.scalar("b", Type::f64);
  k.scalar("c", Type::u16);
  k.buffer("d", Type::f32, Access::read);
  k.scalar("e", Type::f32);
  const Program p = k.finish();
  const uint32_t offsets[] = {8, 16, 24, 32, 40};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(p.parameters[i].offset, offsets[i]);
  EXPECT_EQ(p.argument_bytes(), 48u);
}

TEST(Kernel, EqualInstructionsAreShared) {
  Builder k("shared", Team::one());
  const Value i = k.team();
  EXPECT_EQ((i + 1).id(), (i + 1).id());
  EXPECT_NE((i + 1).id(), (i + 2).id());
  Id inner = no_id;
  k.if_(i < 3, [&] { inner = (i * 5).id(); });
  EXPECT_NE((i * 5).id(), inner) << "a value of an inner block is not visible outside";
}

TEST(Kernel, HashTellsProgramsApart) {
  EXPECT_EQ(content_hash(axpy()), content_hash(axpy()));
  Program p = axpy();
  p.instructions.back().op = Op::atomic_add;
  EXPECT_NE(content_hash(p), content_hash(axpy()));
  p = axpy();
  p.team.lanes = 64;
  EXPECT_NE(content_hash(p), content_hash(axpy()));
  p = axpy();
  p.parameters[0].access = Access::read_write;
  EXPECT_NE(content_hash(p), content_hash(axpy()));
}

TEST(Kernel, NumbersBecomeTheBitsOfTheirType) {
  EXPECT_EQ(bits_of_number(Type::f16, 0), 0u);
  EXPECT_EQ(bits_of_number(Type::f16, 1), 0x3c00u);
  EXPECT_EQ(bits_of_number(Type::f16, -2), 0xc000u);
  EXPECT_EQ(bits_of_number(Type::f16, 65504), 0x7bffu);
  EXPECT_EQ(bits_of_number(Type::f16, 65519.9), 0x7bffu);
  EXPECT_EQ(bits_of_number(Type::f16, 65520), 0x7c00u);
  EXPECT_EQ(bits_of_number(Type::f16, 0x1p-24), 1u);
  EXPECT_EQ(bits_of_number(Type::f16, 0x1p-25), 0u) << "a tie goes to even";
  EXPECT_EQ(bits_of_number(Type::f16, 0x1.8p-24), 2u);
  EXPECT_EQ(bits_of_number(Type::bf16, 1), 0x3f80u);
  EXPECT_EQ(bits_of_number(Type::bf16, 3.140625), 0x4049u);
  EXPECT_EQ(bits_of_number(Type::f32, INFINITY), 0x7f800000u);
  EXPECT_EQ(bits_of_number(Type::i8, -1) & 0xff, 0xffu);
}

TEST(Kernel, ConstantsAreConvertedAtOnce) {
  Builder k("constants", Team::one());
  const auto bits = [&](Value v) {
    EXPECT_EQ(k.program()[v.id()].op, Op::constant);
    return k.program()[v.id()].constant;
  };
  EXPECT_EQ(bits(convert(k.constant(Type::i64, -46), Type::u8)), 0xd2u);
  EXPECT_EQ(bits(convert(k.constant(Type::i8, -46), Type::u64)), 0xffffffffffffffd2u);
  EXPECT_EQ(bits(convert(k.constant(Type::i16, -1), Type::u32)), 0xffffffffu);
  EXPECT_EQ(bits(convert(k.constant(Type::u8, 200), Type::i32)), 200u);
  EXPECT_EQ(bits(convert(k.constant(Type::i64, 5), Type::i8)), 5u);
}

TEST(Kernel, ConstantsThatDoNotFitAreRefused) {
  Builder k("constants", Team::one());
  const auto refused = [&](Type type, auto number, const std::string& words) {
    try {
      k.constant(type, number);
      ADD_FAILURE() << name_of(type) << " took " << number;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused(Type::u32, int64_t{1} << 32, "expected a number of u32, got 4294967296");
  refused(Type::u32, (uint64_t{1} << 32) + 16, "4294967312");
  refused(Type::u32, -(int64_t{1} << 31) - 1, "-2147483649");
  refused(Type::i32, int64_t{1} << 31, "2147483648");
  refused(Type::i32, -(int64_t{1} << 31) - 1, "-2147483649");
  refused(Type::i64, uint64_t{1} << 63, "9223372036854775808");
  refused(Type::u8, 256, "256");
  refused(Type::i8, -129, "-129");
  refused(Type::u32, 4294967296.0, "4294967296");
  refused(Type::u8, -1.0, "-1");
  refused(Type::i32, std::nan(""), "nan");
  refused(Type::i64, 0x1p63, "9.22");
  EXPECT_THROW(k.constant_bits(Type::u16, 0x10000), Error);
  EXPECT_THROW(k.constant(Type::u8, 1).like(300), Error);

  const auto bits = [&](Value v) { return k.program()[v.id()].constant; };
  EXPECT_EQ(bits(k.constant(Type::u32, ~uint32_t{0})), 0xffffffffu);
  EXPECT_EQ(bits(k.constant(Type::i32, std::numeric_limits<int32_t>::min())), 0x80000000u);
  EXPECT_EQ(bits(k.constant(Type::i64, std::numeric_limits<int64_t>::min())), uint64_t{1} << 63);
  EXPECT_EQ(bits(k.constant(Type::u64, ~uint64_t{0})), ~uint64_t{0});
  EXPECT_EQ(bits(k.constant(Type::u32, -1)), 0xffffffffu);  // wraps, as in C++
  EXPECT_EQ(bits(k.constant(Type::u8, -3)), 0xfdu);
  EXPECT_EQ(bits(k.constant(Type::i8, -128.0)), 0x80u);
  EXPECT_EQ(bits(k.constant(Type::u8, 255.9)), 0xffu);
  EXPECT_EQ(bits(k.constant(Type::f32, int64_t{1} << 40)), 0x53800000u);
  // What wraps around while the kernel is written still does.
  EXPECT_EQ(bits(k.constant(Type::u8, 200) + k.constant(Type::u8, 100)), 44u);
}

TEST(Kernel, CountsOfTeamLoopsAreBounded) {
  Builder k("rows", Team::many(64));
  const auto out = k.buffer("out", Type::u8, Access::write);
  k.each(k.constant(Type::u32, uint64_t{1} << 31), [&](Value i) { out[i] = 1; });
  EXPECT_THROW(k.each(k.constant(Type::u32, (uint64_t{1} << 31) + 1), [&](Value i) { out[i] = 1; }), Error);
}

TEST(Kernel, TypesAreChecked) {
  Builder k("types", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read), w = k.buffer("w", Type::f32, Access::write);
  const Value i = k.team(), f = x[i], half = k.constant(Type::f16, 1), brain = k.constant(Type::bf16, 1);
  expect_error([&] { i + f; }, "[kernel types] add: expected operands of one type, got u32 and f32");
  expect_error([&] { f % f; }, "rem: expected integers, got f32");
  expect_error([&] { f& f; }, "expected integers or bools");
  expect_error([&] { brain + brain; }, "convert a bf16 to f32 first");
  expect_error([&] { select(i, f, f); }, "select: expected a bool, got u32");
  expect_error([&] { select(i < 1, f, half); }, "select: expected branches of one type");
  expect_error([&] { !i; }, "expected bools, got u32");
  expect_error([&] { bitcast(f, Type::f64); }, "expected types of one size");
  expect_error([&] { x.load(f); }, "expected an index of 32 or 64 bits, got f32");
  expect_error([&] { x[i] = f; }, "x: expected a buffer that may be written, got one declared read");
  expect_error([&] { w.load(i); }, "w: expected a buffer that may be read, got one declared write");
  expect_error([&] { w[i] = half; }, "expected f32, the element type, got f16");
  expect_error([&] { w.atomic_and(i, f); }, "expected a type of 32 or 64 bits");
  expect_error([&] { k.if_(f, [] {}); }, "if: expected a bool, got f32");
  expect_error([&] { k.array(Type::f32, 0); }, "length: expected 1 to");
  expect_error([&] { x.load_vector(i, 4) + f; }, "take its parts");
  expect_error([&] { x.load_vector(i, 4)[5]; }, "expected a part of a vector");
  expect_error([&] { mul_high(f, f); }, "u32 or u64");
  expect_error([&] { k.subgroup_shuffle(f, f); }, "expected a u32 lane");
}

TEST(Kernel, TeamRulesAreChecked) {
  const auto build = [](Team team, const std::function<void(Builder&)>& body) {
    return [=] {
      Builder k("rules", team);
      body(k);
      k.finish();
    };
  };
  expect_error(build(Team::one(), [](Builder& k) { k.each(k.constant(Type::u32, 3), [](Value) {}); }),
               "expected a program of Team::many");
  expect_error(build(Team::one(), [](Builder& k) { k.shared(Type::f32, 3); }), "has nobody to share with");
  expect_error(build(Team::one(), [](Builder& k) { k.barrier(); }), "team level");
  expect_error(build(Team::many(8),
                     [](Builder& k) {
                       const Value n = k.constant(Type::u32, 3);
                       k.each(n, [&](Value) { k.each(n, [](Value) {}); });
                     }),
               "cannot stand inside");
  expect_error(build(Team::many(8), [](Builder& k) { k.shared(Type::f32, 3)[0u] = 1; }),
               "memory is written inside each or once");
  expect_error(build(Team::many(8),
                     [](Builder& k) {
                       const Variable v = k.variable(Type::f32, 0);
                       k.each(k.constant(Type::u32, 3), [&](Value) { v = 1; });
                     }),
               "the lanes would differ");
  expect_error(build(Team::many(0), [](Builder&) {}), "lanes: expected 1 to 1024, got 0");
  expect_error(build(Team::many(2000), [](Builder&) {}), "lanes: expected 1 to 1024, got 2000");
  EXPECT_EQ(error_of(build(Team::many(8),
                           [](Builder& k) {
                             const Array s = k.shared(Type::f32, 8);
                             s[k.lane()] = 1;  // by hand: allowed, for GPUs
                             k.barrier();
                           })),
            "no error");
}

TEST(Kernel, StructureIsChecked) {
  // A value that leaves its block.
  expect_error(
      [] {
        Builder k("escape", Team::one());
        const Array z = k.buffer("z", Type::u32, Access::write);
        const Value i = k.team();
        Value inside;
        k.if_(i < 3, [&] { inside = i * 7; });
        z[i] = inside + 1;
        k.finish();
      },
      "is not visible here");
  Program p = axpy();
  p.blocks[0].push_back(p.blocks[0].back());
  expect_error([&] { verify(p); }, "stands twice");
  p = axpy();
  std::swap(p.blocks[0][4], p.blocks[0][6]);
  expect_error([&] { verify(p); }, "is not visible here");
  p = axpy();
  p.instructions[6].type = Type::f64;
  expect_error([&] { verify(p); }, "expected operands of one type");
  p = axpy();
  p.instructions[6].operand[0] = 1000;
  expect_error([&] { verify(p); }, "is not visible here");
  p = axpy();
  p.name.clear();
  expect_error([&] { verify(p); }, "name");
  p = axpy();
  p.blocks.clear();
  expect_error([&] { verify(p); }, "no body");
  // A while whose condition yields nothing.
  Builder k("loop", Team::one());
  k.while_([&] { return k.team() < 3; }, [] {});
  p = k.finish();
  p.blocks[1].pop_back();
  expect_error([&] { verify(p); }, "ends in a yield");
}

TEST(Kernel, HandMadeNonsenseIsRejected) {
  const auto broken = [](const std::function<void(Program&)>& change, const std::string& words) {
    Program p = axpy();
    change(p);
    content_hash(p);
    dump(p);
    expect_error([&] { verify(p); }, words);
  };
  broken([](Program& p) { p.instructions[6].operand_count = 200; }, "at most 4 operands");
  broken([](Program& p) { p.instructions[6].op = static_cast<Op>(250); }, "no such instruction");
  broken([](Program& p) { p.instructions[3].type = static_cast<Type>(77); }, "no such type");
  broken([](Program& p) { p.instructions[4].width = 3; }, "width: expected 1, 2 or 4, got 3");
  broken([](Program& p) { p.instructions[6].width = 2; }, "width: expected 1, got 2");
  broken([](Program& p) { p.instructions[7].operand[2] = 0; }, "got a memory object");
  broken([](Program& p) { p.instructions[6].block[0] = 0; }, "a block too many");
  broken([](Program& p) { p.blocks[0].pop_back(); }, "stands in no block");
  broken([](Program& p) { p.parameters[2].offset = 1u << 31; }, "a free place in the argument block");
  broken([](Program& p) { p.parameters[1].offset = p.parameters[0].offset; }, "a free place");
  Builder k("loop", Team::many(8));
  const Value n = k.constant(Type::u32, 3);
  k.reduce(n, Reduction::add, [](Value i) { return i; });
  const Program loop = k.finish();
  Program p = loop;
  p.blocks[1].clear();
  expect_error([&] { verify(p); }, "expected an index first");
  p = loop;
  p.instructions[2].type = Type::i64;
  expect_error([&] { verify(p); }, "the type that its loop counts in");
  p = loop;
  p.instructions[4].constant = 1;
  expect_error([&] { verify(p); }, "yields no such result");
  p = loop;
  p.instructions[0].constant = uint64_t{1} << 40;
  expect_error([&] { verify(p); }, "expected the bits of a u32, got more");
}

TEST(Kernel, ReductionsAndDepthAreChecked) {
  const auto reduce = [](Type type, Reduction op) {
    Builder k("reduce", Team::many(8));
    k.reduce(k.constant(Type::u32, 3), op, [&](Value) { return k.constant(type, 1); });
    k.finish();
  };
  expect_error([&] { reduce(Type::boolean, Reduction::add); }, "expected a number, got bool");
  expect_error([&] { reduce(Type::bf16, Reduction::max); }, "expected a number, got bf16");
  expect_error([&] { reduce(Type::f32, Reduction::bit_or); }, "expected an integer");
  // 64 blocks in each other, the program's own among them.
  const auto nested = [](int blocks) {
    Builder k("deep", Team::one());
    const std::function<void(int)> nest = [&](int depth) {
      if (depth > 0) k.if_(k.team() < 3, [&] { nest(depth - 1); });
    };
    nest(blocks - 1);
    k.finish();
  };
  EXPECT_NO_THROW(nested(64));
  expect_error([&] { nested(65); }, "blocks in each other");
  expect_error([&] { nested(1000); }, "blocks in each other");
}

// What the builder computes of constants, and leaves out beside 0 and 1, is what the instructions compute.
TEST(Kernel, FoldedConstantsAreWhatTheInstructionsGive) {
  using Binary = Value (*)(Value, Value);
  const Binary functions[] = {
      [](Value a, Value b) { return a + b; },
      [](Value a, Value b) { return a - b; },
      [](Value a, Value b) { return a * b; },
      [](Value a, Value b) { return a / b; },
      [](Value a, Value b) { return a % b; },
      [](Value a, Value b) { return a & b; },
      [](Value a, Value b) { return a | b; },
      [](Value a, Value b) { return a ^ b; },
      [](Value a, Value b) { return convert(a == b, a.type()); },
      [](Value a, Value b) { return convert(a != b, a.type()); },
      [](Value a, Value b) { return convert(a < b, a.type()); },
      [](Value a, Value b) { return convert(a <= b, a.type()); },
      [](Value a, Value b) { return convert(a > b, a.type()); },
      [](Value a, Value b) { return convert(a >= b, a.type()); },
  };
  for (const Type type :
       {Type::i8, Type::u8, Type::i16, Type::u16, Type::i32, Type::u32, Type::i64, Type::u64}) {
    const uint32_t bits = bits_of(type), bytes = size_of(type);
    const uint64_t ones = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
    const uint64_t numbers[] = {0, 1, 2, 7, ones, ones - 1, ones >> 1, (ones >> 1) + 1};  // both ends, too
    Builder k("folded", Team::one());
    const Array in = k.buffer("in", type, Access::read), out = k.buffer("out", type, Access::write);
    uint32_t count = 0;
    for (const Binary f : functions)
      for (uint32_t i = 0; i < std::size(numbers); ++i)
        for (uint32_t j = 0; j < std::size(numbers); ++j) {
          const Value a = k.constant_bits(type, numbers[i]), b = k.constant_bits(type, numbers[j]);
          const Value x = in[i], y = in[j];
          for (const Value result : {f(x, y), f(a, b), f(a, y), f(x, b)}) out[count++] = result;
        }
    const Program program = k.finish();
    std::vector<std::byte> from(std::size(numbers) * bytes), to(count * bytes);
    for (size_t i = 0; i < std::size(numbers); ++i) std::memcpy(&from[i * bytes], &numbers[i], bytes);
    std::vector<std::byte> block(program.argument_bytes());
    const uint64_t teams = 1, addresses[] = {reinterpret_cast<uint64_t>(from.data()),
                                             reinterpret_cast<uint64_t>(to.data())};
    std::memcpy(block.data(), &teams, 8);
    for (size_t p = 0; p < 2; ++p) std::memcpy(&block[program.parameters[p].offset], &addresses[p], 8);
    test::Interpreter(program, block.data()).run(teams);
    for (uint32_t at = 0; at < count; ++at)
      ASSERT_EQ(std::memcmp(&to[at * bytes], &to[at / 4 * 4 * bytes], bytes), 0)
          << name_of(type) << ": function " << at / 4 / 64 << " of number " << at / 4 / 8 % 8
          << " and number " << at / 4 % 8
          << (at % 4 == 1   ? ", both"
              : at % 4 == 2 ? ", the first"
                            : ", the second")
          << " constant";
  }
}

}  // namespace
}  // namespace adit::kernel
