// The SPIR-V code generator: every module passes spirv-val, asks for no more than it needs, and what a target
// lacks is named.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <spirv/unified1/spirv.hpp11>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "spirv/emit.hpp"

namespace {

using namespace adit::kernel;
using adit::Error;
using adit::ErrorKind;
using adit::spirv::emit;
using adit::spirv::Target;
using spv::Capability;
using Words = std::vector<uint32_t>;

constexpr Type integers[] = {Type::i8, Type::i16, Type::i32, Type::i64,
                             Type::u8, Type::u16, Type::u32, Type::u64};
constexpr Type floats[] = {Type::f16, Type::f32, Type::f64};
constexpr Type all_types[] = {Type::boolean, Type::i8,  Type::i16, Type::i32, Type::i64, Type::u8,  Type::u16,
                              Type::u32,     Type::u64, Type::f16, Type::f32, Type::f64, Type::bf16};

Target everything() {
  Target t;
  t.float16 = t.float64 = t.int8 = t.int16 = t.int64 = t.storage8 = t.storage16 = true;
  t.denorm_preserve16 = t.denorm_preserve32 = t.denorm_preserve64 = true;
  t.signed_zero_inf_nan16 = t.signed_zero_inf_nan32 = t.signed_zero_inf_nan64 = true;
  t.rounding_rte16 = true;
  t.subgroup_arithmetic = t.subgroup_shuffle = t.subgroup_vote = t.subgroup_ballot = true;
  t.int64_atomics = t.float_atomics = true;
  t.max_lanes = 1024;
  t.shared_bytes = 49152;
  return t;
}

// Types but no other comfort: no fma, no float controls, no subgroups, no float atomics.
Target plain() {
  Target t;
  t.float16 = t.float64 = t.int8 = t.int16 = t.int64 = t.storage8 = t.storage16 = true;
  t.fused_fma = false;
  t.int64_atomics = true;
  t.max_lanes = 1024;
  t.shared_bytes = 49152;
  return t;
}

// Small types may lie in memory and no more; no 64-bit types.
Target storage_only() {
  Target t;
  t.storage8 = t.storage16 = true;
  return t;
}

// What spirv-val has to say; empty when it is content.
std::string complaints(const Words& words) {
  const auto path =
      std::filesystem::temp_directory_path() / ("adit_spirv_" + std::to_string(getpid()) + ".spv");
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(words.size() * 4));
  const std::string command = "spirv-val --target-env vulkan1.2 '" + path.string() + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "cannot run spirv-val";
  std::string text;
  char part[512];
  while (fgets(part, sizeof part, pipe) != nullptr) text += part;
  const int status = pclose(pipe);
  std::filesystem::remove(path);
  return status != 0 && text.empty() ? "spirv-val failed" : text;
}

void expect_valid(const Program& program, const Target& target) {
  const std::string text = complaints(emit(program, target));
  EXPECT_EQ(text, "") << dump(program);
}

// Calls f(op, operands after the first word) for each instruction.
template <class F>
void for_each_instruction(const Words& words, F f) {
  for (size_t at = 5; at < words.size(); at += words[at] >> 16)
    f(static_cast<spv::Op>(words[at] & 0xffff), &words[at + 1]);
}

std::set<Capability> capabilities(const Words& words) {
  std::set<Capability> found;
  for_each_instruction(words, [&](spv::Op op, const uint32_t* x) {
    if (op == spv::Op::OpCapability) found.insert(static_cast<Capability>(x[0]));
  });
  return found;
}

int count(const Words& words, spv::Op wanted) {
  int found = 0;
  for_each_instruction(words, [&](spv::Op op, const uint32_t*) { found += op == wanted; });
  return found;
}

void expect_unsupported(const Program& program, const Target& target, const std::string& what) {
  try {
    emit(program, target);
    ADD_FAILURE() << "expected an error about " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("[kernel " + program.name + "]"), std::string::npos)
        << error.what();
  }
}

Program axpy() {
  Builder k("axpy", Team::one());
  const auto x = k.buffer("x", Type::f32, Access::read);
  const auto y = k.buffer("y", Type::f32, Access::read_write);
  const Value a = k.scalar("a", Type::f32), i = k.team();
  y[i] = fma(a, x[i], y[i]);
  return k.finish();
}

Program elementwise(Type type, const std::function<Value(Value, Value)>& f, Type result) {
  Builder k("elementwise", Team::one());
  const auto x = k.buffer("x", type, Access::read);
  const auto y = k.buffer("y", type, Access::read);
  const auto out = k.buffer("out", result, Access::write);
  const Value i = k.team();
  out[i] = f(x[i], y[i]);
  return k.finish();
}

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

TEST(Spirv, IntegerArithmetic) {
  Target composed = plain();
  composed.native_integers = false;
  for (const Type type : integers) {
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
    const Program program = k.finish();
    expect_valid(program, plain());
    expect_valid(program, composed);
    // Composed means that none of the device's own divisions is left.
    for (const spv::Op op : {spv::Op::OpSDiv, spv::Op::OpUDiv, spv::Op::OpSRem, spv::Op::OpUMod})
      EXPECT_EQ(count(emit(program, composed), op), 0);
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

TEST(Spirv, BuffersOfEveryTypeAndWidth) {
  for (const Type type : all_types) {
    Builder k("copy", Team::many(32));
    const auto in = k.buffer("in", type, Access::read);
    const auto out = k.buffer("out", type, Access::read_write);
    const Value wide = k.team(Type::u64), signed_index = convert(k.team(), Type::i32);
    k.each(k.constant(Type::u32, 100), [&](Value i) {
      out[i] = in[wide];
      out[signed_index] = in[3];
      out.store(i, in.load_vector(i, 2));
      out.store(convert(i, Type::u64), in.load_vector(i, 4));
      out.store(i, out.load_vector(i, 4));
    });
    expect_valid(k.finish(), plain());
  }
}

TEST(Spirv, PrivateAndSharedMemoryOfEveryType) {
  for (const Type type : all_types) {
    Builder k("memory", Team::many(32));
    const auto io = k.buffer("io", type, Access::read_write);
    const auto tile = k.shared(type, 64);
    const auto bits = k.array(type, 7);
    const Variable cell = k.variable(k.constant(type, 1));
    k.each(k.constant(Type::u32, 64), [&](Value i) {
      const Variable inner = k.variable(Value(io[i]));
      tile[i] = inner;
      inner = io[i + 1u];
      io[i] = inner;
      io[i + 2u] = Value(cell);
    });
    bits[2] = tile[3];
    cell = Value(bits[k.team() % 7]);
    k.once([&] { io[0] = Value(cell); });
    expect_valid(k.finish(), plain());
  }
}

TEST(Spirv, ControlFlow) {
  Builder k("control", Team::one(32));
  const auto io = k.buffer("io", Type::i32, Access::read_write);
  const Value n = k.scalar("n", Type::i32), i = k.team();
  const Variable total = k.variable(Type::i32, 0);
  k.for_(n, [&](Value j) {
    k.if_(
        j < 3, [&] { total = total.get() + j; },
        [&] { k.for_(j, n, j.like(2), [&](Value m) { k.if_(m == 5, [&] { total = total.get() - m; }); }); });
  });
  k.while_(
      [&] {
        const Variable flag = k.variable(Type::boolean, 0);
        k.if_(total.get() < 100, [&] { flag = Value(io[i]) < n; });
        return flag.get();
      },
      [&] {
        total = total.get() + 7;
        k.while_([&] { return total.get() % 3 == 0; }, [&] { total = total.get() + 1; });
      });
  k.if_(
      total.get() == 3, [] {}, [] {});
  k.for_(convert(n, Type::u64), [&](Value j) { io[j] = total.get(); });
  io[i] = total.get();
  const Program program = k.finish();
  expect_valid(program, plain());
  EXPECT_EQ(count(emit(program, plain()), spv::Op::OpLoopMerge), 5);
}

Program reductions(Type type, uint32_t lanes) {
  Builder k("reductions", Team::many(lanes));
  const auto in = k.buffer("in", type, Access::read);
  const auto out = k.buffer("out", type, Access::write);
  const Value n = k.scalar("n", Type::u32);
  std::vector<Reduction> ops{Reduction::add, Reduction::mul, Reduction::min, Reduction::max};
  if (is_integer(type))
    for (const Reduction op : {Reduction::bit_and, Reduction::bit_or, Reduction::bit_xor}) ops.push_back(op);
  const auto results = k.reduce(n, ops, [&](Value i) { return std::vector<Value>(ops.size(), in[i]); });
  const Value again = k.reduce(n, Reduction::add, [&](Value i) { return Value(in[i]) - results[0]; });
  k.once([&] {
    for (uint32_t r = 0; r < results.size(); ++r) out[r] = results[r];
    out[20] = again;
  });
  return k.finish();
}

TEST(Spirv, TeamReductions) {
  for (const Type type :
       {Type::i8, Type::i16, Type::i32, Type::u32, Type::i64, Type::u64, Type::f16, Type::f32, Type::f64})
    for (const uint32_t lanes : {1u, 5u, 64u, 256u}) {
      expect_valid(reductions(type, lanes), everything());
      expect_valid(reductions(type, lanes), plain());
    }
}

TEST(Spirv, BarriersStandWhereMemoryIsShared) {
  const auto barriers = [](const std::function<void(Builder&, Array, Array, Value)>& body,
                           const Target& target) {
    Builder k("barriers", Team::many(64));
    const auto out = k.buffer("out", Type::f32, Access::read_write);
    const auto tile = k.shared(Type::f32, 64);
    body(k, out, tile, k.scalar("n", Type::u32));
    const Program program = k.finish();
    expect_valid(program, target);
    return count(emit(program, target), spv::Op::OpControlBarrier);
  };
  const auto fill = [](Builder& k, Array to, Value n) {
    k.each(n, [&](Value i) { to[i] = convert(i, Type::f32); });
  };
  // One after each loop and no more.
  EXPECT_EQ(
      barriers([&](Builder& k, Array, Array tile, Value n) { fill(k, tile, n), fill(k, tile, n); }, plain()),
      2);
  // A load at team level must be over before the next loop writes.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array out, Array tile, Value n) {
                  fill(k, tile, n);
                  const Value first = tile[0];
                  fill(k, tile, n);
                  k.once([&] { out[0] = first; });
                },
                plain()),
            4);
  // The same where the load stands behind the loop's own writes, in the round before.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array, Array tile, Value n) {
                  const Variable sum = k.variable(Type::f32, 0);
                  k.for_(n, [&](Value) {
                    fill(k, tile, n);
                    sum = sum.get() + Value(tile[0]);
                  });
                },
                plain()),
            2);
  // Two reductions: scratch memory is read before it is written again. 64 lanes: 1 + 6 levels, twice, and 1.
  const auto two = [&](Builder& k, Array out, Array, Value n) {
    const Value a = k.reduce(n, Reduction::add, [&](Value i) { return convert(i, Type::f32); });
    const Value b = k.reduce(n, Reduction::add, [&](Value i) { return convert(i, Type::f32) * a; });
    k.once([&] { out[0] = b; });
  };
  EXPECT_EQ(barriers(two, plain()), 7 + 1 + 7 + 1);
  EXPECT_EQ(barriers(two, everything()), 1 + 1 + 1 + 1);
}

TEST(Spirv, LanesByHand) {
  Builder k("by_hand", Team::many(128));
  const auto io = k.buffer("io", Type::f32, Access::read_write);
  const auto tile = k.shared(Type::f32, 128);
  const Value lane = k.lane(), i = k.team() * 128u + lane;
  tile[lane] = io[i];
  k.barrier();
  k.if_(lane < 64u, [&] { io[i] = Value(tile[lane]) + Value(tile[lane + 64u]); });
  const Program program = k.finish();
  expect_valid(program, plain());
  EXPECT_EQ(count(emit(program, plain()), spv::Op::OpControlBarrier), 1);
}

TEST(Spirv, Atomics) {
  for (const Type type : {Type::i32, Type::u32, Type::i64, Type::u64, Type::f32, Type::f64})
    for (const Target& target : {everything(), plain()}) {
      Builder k("atomics", Team::many(64));
      const auto global = k.buffer("global", type, Access::read_write);
      const auto local = k.shared(type, 8);
      k.each(k.constant(Type::u32, 100), [&](Value i) {
        const Value v = convert(i, type);
        for (const Array& at : {global, local}) {
          at[i] = at.atomic_add(i, v);
          at[i] = at.atomic_min(i, v);
          at[i] = at.atomic_max(i, v);
          if (is_float(type)) continue;
          at[i] = at.atomic_and(i, v);
          at[i] = at.atomic_or(i, v);
          at[i] = at.atomic_xor(i, v);
          at[i] = at.atomic_exchange(i, v);
          at[i] = at.atomic_compare_exchange(i, v, v + 1);
        }
      });
      const Program program = k.finish();
      expect_valid(program, target);
      const bool native = type == Type::f32 && target.float_atomics;
      EXPECT_EQ(count(emit(program, target), spv::Op::OpAtomicFAddEXT), native ? 1 : 0);
    }
}

TEST(Spirv, Subgroups) {
  for (const Type type : {Type::i32, Type::u32, Type::f32, Type::f64, Type::u64}) {
    Builder k("subgroups", Team::many(64));
    const auto io = k.buffer("io", type, Access::read_write);
    const Value i = k.lane(), a = io[i];
    uint32_t n = 0;
    for (const Reduction r : {Reduction::add, Reduction::mul, Reduction::min, Reduction::max,
                              Reduction::bit_and, Reduction::bit_or, Reduction::bit_xor}) {
      if (is_float(type) && r >= Reduction::bit_and) continue;
      io[i + n++] = k.subgroup_reduce(r, a);
      io[i + n++] = k.subgroup_inclusive(r, a);
      io[i + n++] = k.subgroup_exclusive(r, a);
    }
    io[i] = k.subgroup_first(a);
    io[i] = k.subgroup_shuffle(a, k.subgroup_size() - k.subgroup_lane() - 1u);
    io[i] = k.subgroup_shuffle_xor(a, i.like(1));
    k.if_(k.subgroup_any(a < 3) && k.subgroup_all(a < 5), [&] { io[i] = a; });
    expect_valid(k.finish(), everything());
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

TEST(Spirv, FencesUseVulkansMemoryModel) {
  Builder k("fences", Team::many(64));
  const Array data = k.buffer("data", Type::f32, Access::read_write),
              flag = k.buffer("flag", Type::u32, Access::read_write);
  const Array shared = k.shared(Type::f32, 64);
  k.each(k.constant(Type::u32, 64), [&](Value i) {
    shared[i] = data[i];
    k.fence();
    flag.atomic_add(i, i);
    data[i] = Value(shared[i]) + 1;
  });
  const Program program = k.finish();
  Target target = everything();
  target.vulkan_memory_model = true;
  expect_valid(program, target);
  EXPECT_TRUE(capabilities(emit(program, target)).count(Capability::VulkanMemoryModel));
  target.vulkan_memory_model = false;
  EXPECT_THROW(emit(program, target), Error);
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
  EXPECT_EQ(of(Type::u8), with({Capability::Int8, Capability::StorageBuffer8BitAccess}));
  EXPECT_EQ(of(Type::f16), with({Capability::Float16, Capability::StorageBuffer16BitAccess}));
  EXPECT_EQ(of(Type::i16), with({Capability::Int16, Capability::StorageBuffer16BitAccess}));
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

TEST(Spirv, UnsupportedIsNamed) {
  const auto add = [](Value a, Value b) { return a + b; };
  const Target target = storage_only();
  expect_unsupported(elementwise(Type::f64, add, Type::f64), target, "64-bit floats");
  expect_unsupported(elementwise(Type::i64, add, Type::i64), target, "64-bit integers");
  expect_unsupported(elementwise(Type::u8, add, Type::u8), target, "8-bit integer arithmetic");
  expect_unsupported(elementwise(Type::i16, add, Type::i16), target, "16-bit integer arithmetic");
  expect_unsupported(elementwise(Type::f16, add, Type::f16), target, "16-bit float arithmetic");
  expect_unsupported(elementwise(
                         Type::u8, [](Value a, Value) { return a; }, Type::u8),
                     Target(), "8-bit values");
  expect_unsupported(elementwise(
                         Type::f16, [](Value a, Value) { return a; }, Type::f16),
                     Target(), "16-bit values");
  expect_unsupported(reductions(Type::f32, 256), Target(), "256 lanes");
  Target tight = plain();
  tight.shared_bytes = 1000;
  expect_unsupported(reductions(Type::f32, 256), tight, "bytes of shared memory");
  const auto team = [](const std::function<void(Builder&, Array, Value)>& body, Type type) {
    Builder k("team", Team::many(64));
    const auto io = k.buffer("io", type, Access::read_write);
    k.each(k.constant(Type::u32, 64), [&](Value i) { body(k, io, i); });
    return k.finish();
  };
  const Program vote =
      team([](Builder& k, Array io, Value i) { io[i] = k.subgroup_any(io[i]); }, Type::boolean);
  const Program sum = team(
      [](Builder& k, Array io, Value i) { io[i] = k.subgroup_reduce(Reduction::add, io[i]); }, Type::f32);
  const Program first =
      team([](Builder& k, Array io, Value i) { io[i] = k.subgroup_first(io[i]); }, Type::f32);
  const Program shuffle =
      team([](Builder& k, Array io, Value i) { io[i] = k.subgroup_shuffle(io[i], i); }, Type::f32);
  expect_unsupported(vote, plain(), "subgroup votes");
  expect_unsupported(sum, plain(), "subgroup arithmetic");
  expect_unsupported(first, plain(), "subgroup broadcasts");
  expect_unsupported(shuffle, plain(), "subgroup shuffles");
  Target no_atomics = plain();
  no_atomics.int64_atomics = false;
  for (const Type type : {Type::u64, Type::f64})
    expect_unsupported(team([](Builder&, Array io, Value i) { io.atomic_add(i, io[i]); }, type), no_atomics,
                       "64-bit atomics");
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
