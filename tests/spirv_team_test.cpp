// The SPIR-V code generator: memory, control flow, teams, atomics and subgroups. Every module passes
// spirv-val.
#include "spirv_module.hpp"

namespace adit::test {
namespace {

TEST(SpirvTeam, BuffersOfEveryTypeAndWidth) {
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

TEST(SpirvTeam, PrivateAndSharedMemoryOfEveryType) {
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

TEST(SpirvTeam, ControlFlow) {
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

TEST(SpirvTeam, TeamReductions) {
  for (const Type type :
       {Type::i8, Type::i16, Type::i32, Type::u32, Type::i64, Type::u64, Type::f16, Type::f32, Type::f64})
    for (const uint32_t lanes : {1u, 5u, 64u, 96u, 256u}) {
      expect_valid(reductions(type, lanes), everything());
      expect_valid(reductions(type, lanes), plain());
      for (const uint32_t size : {4u, 32u, 64u}) {
        Target whole = everything();
        whole.subgroup_size = whole.smallest_subgroup = size;
        expect_valid(reductions(type, lanes), whole);
      }
    }
}

// How many barriers a kernel of 64 lanes has.
int barriers(const std::function<void(Builder&, Array, Array, Value)>& body, const Target& target = plain()) {
  Builder k("barriers", Team::many(64));
  const auto out = k.buffer("out", Type::f32, Access::read_write);
  const auto tile = k.shared(Type::f32, 64);
  body(k, out, tile, k.scalar("n", Type::u32));
  const Program program = k.finish();
  expect_valid(program, target);
  return count(emit(program, target), spv::Op::OpControlBarrier);
}

void fill(Builder& k, Array to, Value n) {
  k.each(n, [&](Value i) { to[i] = convert(i, Type::f32); });
}

// What another lane wrote, to where the counter says.
void mirrored(Builder& k, Array from, Array to, Value n) {
  k.each(n, [&](Value i) { to[i] = Value(from[63u - i]); });
}

TEST(SpirvTeam, BarriersStandWhereMemoryIsShared) {
  // The same lane writes each element twice.
  EXPECT_EQ(
      barriers([&](Builder& k, Array, Array tile, Value n) { fill(k, tile, n), fill(k, tile, n); }, plain()),
      0);
  // Another lane reads it, or writes what was read.
  EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile,
                         Value n) { fill(k, tile, n), mirrored(k, tile, out, n); },
                     plain()),
            1);
  EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile,
                         Value n) { fill(k, tile, n), mirrored(k, tile, out, n), fill(k, tile, n); },
                     plain()),
            2);
  // Other offsets are other lanes.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array, Array tile, Value n) {
                  fill(k, tile, n);
                  k.each(n, [&](Value i) { tile[i + 1u] = Value(tile[i + 1u]) + 1; });
                },
                plain()),
            1);
  // Loops over other arrays need not wait.
  EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) { fill(k, tile, n), fill(k, out, n); },
                     plain()),
            0);
  // A load at team level must see the loop's writes, and be over before the next loop writes.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array out, Array tile, Value n) {
                  fill(k, tile, n);
                  const Value first = tile[0];
                  fill(k, tile, n);
                  k.once([&] { out[0] = first; });
                },
                plain()),
            2);
  // The same where the load stands behind the loop's own writes, in the round before; and in a condition.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array, Array tile, Value n) {
                  const Variable sum = k.variable(Type::f32, 0);
                  k.for_(n, [&](Value) {
                    fill(k, tile, n);
                    k.if_(n < 5u, [&] { sum = sum.get() + Value(tile[0]); });
                  });
                },
                plain()),
            2);
  // An offset that a round computes is another one in the next: the writes of two rounds may meet.
  EXPECT_EQ(barriers(
                [&](Builder& k, Array, Array tile, Value n) {
                  k.for_(n, [&](Value round) {
                    k.each(n, [&](Value i) { tile[round + i] = 1; });
                    k.each(n, [&](Value i) { tile[round + i] = Value(tile[round + i]) + 1; });
                  });
                },
                plain()),
            1);
  // `once` is always the first lane's.
  const auto twice = [](Builder& k, Array to) {
    k.once([&] { to[0] = 1; });
    k.once([&] { to[1] = Value(to[0]); });
  };
  EXPECT_EQ(barriers([&](Builder& k, Array out, Array, Value) { twice(k, out); }, plain()), 0);
  EXPECT_EQ(barriers(
                [&](Builder& k, Array out, Array, Value n) {
                  twice(k, out);
                  k.each(n, [&](Value i) { out[i] = Value(out[i]) + 1; });
                },
                plain()),
            1);
  // Two reductions take turns with their scratch memory; those by halves, of 64 lanes, wait 1 + 6 + 1 times.
  const auto two = [&](Builder& k, Array out, Array tile, Value n) {
    fill(k, tile, n);
    const Value a = k.reduce(n, Reduction::add, [&](Value i) { return Value(tile[i]); });
    const Value b = k.reduce(n, Reduction::add, [&](Value i) { return Value(tile[63u - i]) * a; });
    k.once([&] { out[0] = b; });
  };
  EXPECT_EQ(barriers(two, plain()), 8 + 8);
  EXPECT_EQ(barriers(two, everything()), 1 + 1);
  // In a team that is one subgroup a reduction has no barrier, and those of shared memory are the subgroup's.
  Target whole = everything();
  whole.subgroup_size = 64;
  EXPECT_EQ(barriers(two, whole), 1);
  whole.subgroup_size = 32;
  EXPECT_EQ(barriers(two, whole), 1 + 1);
}

// Each way through a choice counts: what it touches, what it waits for, and what it leaves open.
TEST(SpirvTeam, BarriersAfterChoices) {
  for (const bool in_else : {false, true}) {
    const auto branch = [&](Builder& k, Value n, const std::function<void()>& body) {
      const std::function<void()> nothing = [] {};
      k.if_(n < 5u, in_else ? nothing : body, in_else ? body : nothing);
    };
    // A branch writes; what follows reads.
    EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
                branch(k, n, [&] { fill(k, tile, n); });
                mirrored(k, tile, out, n);
              }),
              1)
        << in_else;
    // A branch reads what stands before it.
    EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
                fill(k, tile, n);
                branch(k, n, [&] { mirrored(k, tile, out, n); });
              }),
              1)
        << in_else;
    // The barrier of one branch is none for the other.
    EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
                fill(k, tile, n);
                branch(k, n, [&] { mirrored(k, tile, out, n); });
                mirrored(k, tile, out, n);
              }),
              2)
        << in_else;
    // A branch without loops, of the whole team: its read is over before the next loop writes.
    EXPECT_EQ(barriers([&](Builder& k, Array, Array tile, Value n) {
                const Variable sum = k.variable(Type::f32, 0);
                branch(k, n, [&] { sum = sum.get() + Value(tile[0]); });
                fill(k, tile, n);
              }),
              1)
        << in_else;
    // A branch inside of a loop over the lanes.
    EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
                k.each(n, [&](Value i) { branch(k, i, [&] { tile[i] = 1; }); });
                mirrored(k, tile, out, n);
              }),
              1)
        << in_else;
    // A branch that leaves a write for the next round's beginning.
    EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
                k.for_(n, [&](Value) {
                  mirrored(k, tile, out, n);
                  branch(k, n, [&] { fill(k, tile, n); });
                });
              }),
              2)
        << in_else;
  }
  // Both branches write, other arrays.
  EXPECT_EQ(barriers([&](Builder& k, Array out, Array tile, Value n) {
              k.if_(
                  n < 5u, [&] { fill(k, out, n); }, [&] { fill(k, tile, n); });
              mirrored(k, tile, out, n);
            }),
            1);
  // The condition of a loop reads what its body wrote, and the body waits for the reads.
  EXPECT_EQ(barriers([&](Builder& k, Array, Array tile, Value n) {
              k.while_([&] { return Value(tile[0]) < 5; }, [&] { fill(k, tile, n); });
            }),
            2);
}

// Where other teams wait for what a team wrote, every loop ends with a barrier: a fence is one lane's.
TEST(SpirvTeam, LoopsEndWithABarrierWhereThereAreFences) {
  Builder k("fenced", Team::many(64));
  const Array data = k.buffer("data", Type::f32, Access::write),
              flag = k.buffer("flag", Type::u32, Access::read_write);
  k.each(k.constant(Type::u32, 64), [&](Value i) { data[i] = 1; });
  k.once([&] {
    k.fence();
    flag.atomic_add(k.constant(Type::u32, 0), k.constant(Type::u32, 1));
  });
  Target target = everything();
  target.vulkan_memory_model = true;
  const Program program = k.finish();
  expect_valid(program, target);
  EXPECT_EQ(count(emit(program, target), spv::Op::OpControlBarrier), 2);
}

TEST(SpirvTeam, LanesByHand) {
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

// A barrier names buffers where one may have been written before it, and only there: drivers wait for them.
TEST(SpirvTeam, BarriersNameBuffersThatWereWritten) {
  enum class Store { after, before, later_in_the_loop };
  const auto semantics = [](Store where, Access access) {
    Builder k("barrier", Team::many(64));
    const auto out = k.buffer("out", Type::f32, access);
    const auto tile = k.shared(Type::f32, 64);
    const Value lane = k.lane(), number = convert(lane, Type::f32);
    if (where == Store::before) out[lane] = number;
    k.for_(k.scalar("n", Type::u32), [&](Value) {
      tile[lane] = number;
      k.barrier();
      if (where == Store::later_in_the_loop) out[lane] = number;
    });
    out[lane] = Value(tile[63u - lane]);
    const Program program = k.finish();
    expect_valid(program, plain());
    const Words words = emit(program, plain());
    uint32_t constant = 0, found = 0;
    for_each_instruction(words, [&](spv::Op op, const uint32_t* x) {
      if (op == spv::Op::OpControlBarrier) constant = x[2];
    });
    for_each_instruction(words, [&](spv::Op op, const uint32_t* x) {
      if (op == spv::Op::OpConstant && x[1] == constant) found = x[2];
    });
    return found;
  };
  const auto buffers = static_cast<uint32_t>(spv::MemorySemanticsMask::UniformMemory);
  const auto shared = static_cast<uint32_t>(spv::MemorySemanticsMask::WorkgroupMemory);
  EXPECT_EQ(semantics(Store::after, Access::write) & (buffers | shared), shared);
  EXPECT_EQ(semantics(Store::before, Access::write) & (buffers | shared), buffers | shared);
  EXPECT_EQ(semantics(Store::later_in_the_loop, Access::write) & (buffers | shared), buffers | shared);
  EXPECT_EQ(semantics(Store::after, Access::read_write) & (buffers | shared), buffers | shared);
}

TEST(SpirvTeam, Atomics) {
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

TEST(SpirvTeam, Subgroups) {
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
    io[i] = convert(k.subgroup_ballot(a < 3), type);
    io[i] = k.subgroup_shuffle(a, k.subgroup_size() - k.subgroup_lane() - 1u);
    io[i] = k.subgroup_shuffle_xor(a, i.like(1));
    k.if_(k.subgroup_any(a < 3) && k.subgroup_all(a < 5), [&] { io[i] = a; });
    expect_valid(k.finish(), everything());
  }
}

TEST(SpirvTeam, FencesUseVulkansMemoryModel) {
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

// A cell of a small integer or a bool takes four bytes of shared memory.
TEST(SpirvTeam, SharedMemoryIsCountedInCells) {
  for (const Type type : {Type::boolean, Type::i8, Type::u16, Type::bf16}) {
    const auto with = [&](uint32_t length) {
      Builder k("cells", Team::many(32));
      const auto io = k.buffer("io", type, Access::read_write);
      const auto tile = k.shared(type, length);
      k.each(k.constant(Type::u32, 32), [&](Value i) { tile[i] = io[i]; });
      k.each(k.constant(Type::u32, 32), [&](Value i) { io[i] = Value(tile[31u - i]); });
      return k.finish();
    };
    Target target = plain();
    target.shared_bytes = 4096;
    expect_valid(with(1024), target);
    expect_unsupported(with(1025), target, "4100 bytes of shared memory");
  }
}

TEST(SpirvTeam, UnsupportedIsNamed) {
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

}  // namespace
}  // namespace adit::test
