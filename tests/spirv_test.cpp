// The SPIR-V code generator: every module passes spirv-val, asks for no more than it needs, and what a target
// lacks is named. Types and arithmetic; spirv_team_test.cpp has memory, control flow and teams.
#include <chrono>
#include <cmath>

#include <adit/kernel/math.hpp>

#include "spirv_module.hpp"

namespace adit::test {
namespace {

TEST(Spirv, FirstKernelIsValid) {
  expect_valid(axpy(), everything());
  expect_valid(axpy(), plain());
  expect_valid(axpy(), Target());
}

// The gate itself: a module that lost its last instruction, or a capability, does not pass.
TEST(Spirv, ValidatorRejectsBrokenModules) {
  Words words = emit(axpy(), everything());
  Words cut(words.begin(), words.end() - 1);
  EXPECT_NE(complaints(cut), "");
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    if ((words[at] & 0xffff) == static_cast<uint32_t>(spv::Op::OpCapability) &&
        words[at + 1] == static_cast<uint32_t>(Capability::PhysicalStorageBufferAddresses))
      words[at + 1] = static_cast<uint32_t>(Capability::Int16);
  EXPECT_NE(complaints(words), "");
}

Program integer_program(Type type) {
  Builder k("integers", Team::one());
  const auto x = k.buffer("x", type, Access::read_write);
  const auto flags = k.buffer("flags", Type::boolean, Access::read_write);
  const Value i = k.team(), a = x[i], b = x[i + 1u], zero = a.like(0);
  std::vector<Value> values{a + b,
                            a - b,
                            a * b,
                            a / b,
                            a % b,
                            -a,
                            abs(a),
                            a & b,
                            a | b,
                            a ^ b,
                            ~a,
                            a << b,
                            a >> b,
                            a << 1,
                            a >> 1,
                            a / 3,
                            a % 3,
                            a / zero,
                            count_ones(a),
                            leading_zeros(a),
                            trailing_zeros(a),
                            select(a < b, a, b),
                            min(a, b),
                            max(a, b)};
  if (type == Type::u32 || type == Type::u64) values.push_back(mul_high(a, b));
  if (is_signed_integer(type)) {
    values.push_back(a / -1);
    values.push_back(a % -1);
  }
  for (uint32_t n = 0; n < values.size(); ++n) x[i + n] = values[n];
  const std::vector<Value> tests{a == b, a != b, a < b, a <= b};
  for (uint32_t n = 0; n < tests.size(); ++n) flags[i + n] = tests[n];
  return k.finish();
}

TEST(Spirv, IntegerArithmetic) {
  Target composed = plain();
  composed.native_integers = false;
  for (const Type type : integers) {
    const Program program = integer_program(type);
    expect_valid(program, plain());
    expect_valid(program, composed);
    // Composed means that none of the device's own divisions is left.
    for (const spv::Op op : {spv::Op::OpSDiv, spv::Op::OpUDiv, spv::Op::OpSRem, spv::Op::OpUMod})
      EXPECT_EQ(count(emit(program, composed), op), 0);
  }
}

// Results and constants of 8- and 16-bit integer types that are neither loaded nor made for a store.
int narrow_results(const Words& words) {
  std::set<uint32_t> narrow;
  int found = 0;
  bool in_function = false;
  for_each_instruction(words, [&](spv::Op op, const uint32_t* x) {
    in_function |= op == spv::Op::OpFunction;
    if (op == spv::Op::OpTypeInt && x[1] < 32) narrow.insert(x[0]);
    if (op == spv::Op::OpTypeVector && narrow.count(x[1])) narrow.insert(x[0]);
    const bool moves = op == spv::Op::OpLoad || op == spv::Op::OpUConvert;
    found += (in_function || op == spv::Op::OpConstant) && !moves && narrow.count(x[0]);
  });
  return found;
}

TEST(Spirv, SmallIntegersComputeIn32Bits) {
  for (const Type type : {Type::i8, Type::u8, Type::i16, Type::u16}) {
    const Words words = emit(integer_program(type), plain());
    EXPECT_EQ(narrow_results(words), 0) << name_of(type);
    // Every sum, difference, product and so on is cut to its bits.
    const auto cut = is_signed_integer(type) ? spv::Op::OpShiftRightArithmetic : spv::Op::OpBitwiseAnd;
    EXPECT_GE(count(words, cut), 10) << name_of(type);
  }
}

TEST(Spirv, FloatArithmetic) {
  for (const Target& target : {everything(), plain()})
    for (const Type type : floats) {
      Builder k("floats", Team::one());
      const auto x = k.buffer("x", type, Access::read_write);
      const auto flags = k.buffer("flags", Type::boolean, Access::read_write);
      const Value i = k.team(), a = x[i], b = x[i + 1u];
      const std::vector<Value> values{a + b,
                                      a - b,
                                      a * b,
                                      a / b,
                                      -a,
                                      abs(a),
                                      fma(a, b, a),
                                      sqrt_device(a),
                                      floor(a),
                                      ceil(a),
                                      trunc(a),
                                      round_even(a),
                                      select(a < b, a, b),
                                      min(a, b),
                                      max(a, b),
                                      a * 1.5f};
      for (uint32_t n = 0; n < values.size(); ++n) x[i + n] = values[n];
      const std::vector<Value> tests{a == b, a != b, a < b, a <= b, is_nan(a)};
      for (uint32_t n = 0; n < tests.size(); ++n) flags[i + n] = tests[n];
      expect_valid(k.finish(), target);
    }
}

TEST(Spirv, BooleanArithmetic) {
  Builder k("bools", Team::one());
  const auto x = k.buffer("x", Type::boolean, Access::read_write);
  const Value i = k.team(), a = x[i], b = k.scalar("b", Type::boolean), c = k.constant(Type::boolean, 1);
  x[i] = (a && b) || (!a ^ c);
  x[i + 1u] = select(a == b, a != c, b);
  x.store(i, k.pack({a, b}));
  x.store(i, k.pack({a, b, c, x.load_vector(i, 4)[3]}));
  x[i] = x.load_vector(i, 2)[1];
  expect_valid(k.finish(), plain());
}

TEST(Spirv, ConversionsBetweenAllTypes) {
  for (const Type from : all_types) {
    Builder k("conversions", Team::one());
    const auto x = k.buffer("x", from, Access::read);
    const Value i = k.team();
    for (const Type to : all_types) {
      const auto out = k.buffer(std::string(name_of(to)), to, Access::write);
      out[i] = convert(x[i], to);
      if (is_integer(to)) out[i + 1u] = convert_in_range(x[i], to);
    }
    const Program program = k.finish();
    expect_valid(program, everything());
    expect_valid(program, plain());
  }
}

TEST(Spirv, Bitcasts) {
  for (const Type from : all_types)
    for (const Type to : all_types) {
      if (size_of(from) != size_of(to) || from == Type::boolean || to == Type::boolean || from == to)
        continue;
      expect_valid(elementwise(
                       from, [&](Value a, Value) { return bitcast(a, to); }, to),
                   plain());
    }
}

// A small type that is only loaded, converted and stored asks for storage alone.
TEST(Spirv, SmallTypesInMemoryOnly) {
  const std::set<Capability> wanted{Capability::Shader, Capability::PhysicalStorageBufferAddresses,
                                    Capability::StorageBuffer8BitAccess,
                                    Capability::StorageBuffer16BitAccess};
  for (const Type type : {Type::i8, Type::u8, Type::boolean, Type::i16, Type::u16, Type::f16, Type::bf16}) {
    Builder k("small", Team::one());
    const auto in = k.buffer("in", type, Access::read);
    const auto out = k.buffer("out", type, Access::write);
    const auto word = k.buffer("word", Type::i32, Access::write);
    const auto real = k.buffer("real", Type::f32, Access::read_write);
    const Value a = k.scalar("a", type), i = k.team();
    out[i] = in[i];
    out[i] = a;
    out[i] = 1;
    if (is_float(type)) {
      for (const double number : {0.0, -0.0, 1e-7, -65504.0, 1e-5, HUGE_VAL})
        out[i] = k.constant(type, number);
    }
    word[i] = convert(in[i], Type::i32);
    real[i] = convert(in[i], Type::f32);
    out[i] = convert(real[i], type);
    const Value four = in.load_vector(i, 4);
    real[i] = convert(four[3], Type::f32);
    out.store(i, k.pack({convert(real[i], type), four[0]}));
    out.store(i, four);
    const Program program = k.finish();
    expect_valid(program, storage_only());
    for (const Capability found : capabilities(emit(program, storage_only())))
      EXPECT_TRUE(wanted.count(found)) << name_of(type) << " " << static_cast<uint32_t>(found);
  }
}

TEST(Spirv, FmaWithoutFloat64) {
  Target target = storage_only();
  target.fused_fma = false;
  target.float16 = true;
  for (const Type type : {Type::f32, Type::f16}) {
    const Program program = elementwise(
        type, [](Value a, Value b) { return fma(a, b, a); }, type);
    expect_valid(program, target);
    EXPECT_EQ(capabilities(emit(program, target)).count(Capability::Float64), 0u);
  }
}

TEST(Spirv, MathFunctions) {
  for (const Type type : {Type::f32, Type::f64})
    for (const Target& target : {everything(), plain()})
      for (Value (*f)(Value) : {static_cast<Value (*)(Value)>(exp), static_cast<Value (*)(Value)>(log),
                                static_cast<Value (*)(Value)>(sin), static_cast<Value (*)(Value)>(lgamma)})
        expect_valid(elementwise(
                         type, [&](Value a, Value) { return f(a); }, type),
                     target);
}

TEST(Spirv, ComparisonsWithZeroByTheBits) {
  Target target = everything();
  target.comparisons_flush = true;
  for (const bool left : {false, true})
    expect_valid(elementwise(
                     Type::f32,
                     [&](Value a, Value b) {
                       const Value zero = a.like(0), x = left ? zero : a, y = left ? b : zero;
                       return select((x < y) ^ (x <= y) ^ (x == y) ^ (x != y), a, b);
                     },
                     Type::f32),
                 target);
}

// An elementwise kernel of f32 asks for nothing but the baseline and the float controls that the target has.
TEST(Spirv, CapabilitiesAreMinimal) {
  const std::set<Capability> base{Capability::Shader, Capability::PhysicalStorageBufferAddresses};
  EXPECT_EQ(capabilities(emit(axpy(), Target())), base);
  std::set<Capability> controls = base;
  controls.insert({Capability::DenormPreserve, Capability::SignedZeroInfNanPreserve});
  EXPECT_EQ(capabilities(emit(axpy(), everything())), controls);
  const auto of = [&](Type type) {
    return capabilities(emit(elementwise(
                                 type, [](Value a, Value b) { return a + b; }, type),
                             plain()));
  };
  const auto with = [&](std::set<Capability> more) {
    more.insert(base.begin(), base.end());
    return more;
  };
  EXPECT_EQ(of(Type::u32), base);
  EXPECT_EQ(of(Type::u64), with({Capability::Int64}));
  EXPECT_EQ(of(Type::f64), with({Capability::Float64}));
  EXPECT_EQ(of(Type::u8), with({Capability::StorageBuffer8BitAccess}));
  EXPECT_EQ(of(Type::f16), with({Capability::Float16, Capability::StorageBuffer16BitAccess}));
  EXPECT_EQ(of(Type::i16), with({Capability::StorageBuffer16BitAccess}));
}

TEST(Spirv, ArithmeticIsNeverContracted) {
  const Program program = elementwise(
      Type::f32, [](Value a, Value b) { return (a * b + a - b) / a; }, Type::f32);
  int decorated = 0;
  for_each_instruction(emit(program, everything()), [&](spv::Op op, const uint32_t* x) {
    decorated += op == spv::Op::OpDecorate && x[1] == static_cast<uint32_t>(spv::Decoration::NoContraction);
  });
  EXPECT_EQ(decorated, 4);
}

TEST(Spirv, UnsupportedTypesAreNamed) {
  const auto add = [](Value a, Value b) { return a + b; };
  const Target target = storage_only();
  expect_unsupported(elementwise(Type::f64, add, Type::f64), target, "64-bit floats");
  expect_unsupported(elementwise(Type::i64, add, Type::i64), target, "64-bit integers");
  expect_unsupported(elementwise(Type::f16, add, Type::f16), target, "16-bit float arithmetic");
  expect_unsupported(elementwise(
                         Type::u8, [](Value a, Value) { return a; }, Type::u8),
                     Target(), "8-bit values");
  expect_unsupported(elementwise(
                         Type::f16, [](Value a, Value) { return a; }, Type::f16),
                     Target(), "16-bit values");
}

TEST(Spirv, TargetKeyTellsTargetsApart) {
  const std::string base = adit::spirv::target_key(Target());
  Target other;
  other.fused_fma = false;
  EXPECT_NE(adit::spirv::target_key(other), base);
  other = Target();
  other.shared_bytes = 32768;
  EXPECT_NE(adit::spirv::target_key(other), base);
}

// From kernel to words in at most a millisecond; the best of a few, since the machine may be busy.
TEST(Spirv, ElementwiseKernelTakesUnderAMillisecond) {
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const Words words = emit(axpy(), everything());
    ASSERT_FALSE(words.empty());
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  EXPECT_LT(best, 1e-3);
  RecordProperty("microseconds", std::to_string(best * 1e6));
}

}  // namespace
}  // namespace adit::test
