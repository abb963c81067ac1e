// Matrix products on every device that runs kernels written for lanes, against plain loops in double.
#include "ops/matmul.hpp"

#include <random>

#include "devices.hpp"

namespace adit::test {
namespace {

using ops::MatmulHooks;
using ops::MatmulMethod;
using ops::MatmulShape;
using ops::MatmulTiling;

// A number of a type from its bits, and the bits of one.
double number(Type type, uint64_t bits) {
  if (type == Type::f64) return std::bit_cast<double>(bits);
  if (type == Type::f32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  if (type == Type::bf16) return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  if (type == Type::f16) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double fraction = static_cast<double>(bits & 1023) / 1024;
    const double magnitude =
        exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
    return bits >> 15 ? -magnitude : magnitude;
  }
  const int unused = 64 - static_cast<int>(bits_of(type));
  return is_signed_integer(type) ? static_cast<double>(static_cast<int64_t>(bits << unused) >> unused)
                                 : static_cast<double>(bits);
}

struct Numbers {
  Type type;
  std::vector<std::byte> bytes;
  std::vector<double> values;
};

Numbers random_numbers(Type type, size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  Numbers made{type, std::vector<std::byte>(count * size_of(type)), std::vector<double>(count)};
  for (size_t i = 0; i < count; ++i) {
    const double wanted = is_float(type) ? std::uniform_real_distribution<double>(-1, 1)(random)
                                         : std::uniform_int_distribution<int>(-9, 9)(random);
    const uint64_t bits = bits_of_number(type, wanted);
    std::memcpy(&made.bytes[i * size_of(type)], &bits, size_of(type));
    made.values[i] = number(type, bits_of(type) == 64 ? bits : bits & ((uint64_t{1} << bits_of(type)) - 1));
  }
  return made;
}

struct Problem {
  MatmulShape shape;
  Numbers a, b;
};

Problem problem(MatmulShape shape, uint32_t seed = 1) {
  const auto count = [&](uint64_t one, uint64_t stride) { return one + stride * (shape.batch - 1); };
  const uint64_t a = uint64_t{std::max(shape.m, shape.a_pitch)} * shape.k, b = uint64_t{shape.k} * shape.n;
  return {shape, random_numbers(shape.type, count(a, shape.a_stride), seed),
          random_numbers(shape.type, count(b, shape.b_stride), seed + 1)};
}

using Finish = std::function<double(double sum, uint32_t batch, uint32_t row, uint32_t column)>;

void expect_product(const Problem& p, const std::vector<std::byte>& c, const Finish& finish,
                    const std::string& what) {
  const MatmulShape& s = p.shape;
  // Sums round k times; half formats round the result as well.
  const double unit = s.type == Type::f64 ? 0x1p-53 : is_float(s.type) ? 0x1p-24 : 0;
  const double last = s.result == Type::f16 ? 0x1p-11 : s.result == Type::bf16 ? 0x1p-8 : unit;
  int shown = 0;
  for (uint32_t batch = 0; batch < s.batch; ++batch)
    for (uint32_t i = 0; i < s.m; ++i)
      for (uint32_t j = 0; j < s.n; ++j) {
        double sum = 0, magnitude = 0;
        for (uint32_t step = 0; step < s.k; ++step) {
          const uint64_t pitch = std::max(s.m, s.a_pitch);
          const double x =
              p.a.values[batch * s.a_stride + (s.transpose_a ? step * pitch + i : uint64_t{i} * s.k + step)];
          const double y = p.b.values[batch * s.b_stride +
                                      (s.transpose_b ? uint64_t{j} * s.k + step : uint64_t{step} * s.n + j)];
          sum += x * y;
          magnitude += std::fabs(x * y);
        }
        const double want = finish ? finish(sum, batch, i, j) : sum;
        uint64_t bits = 0;
        const size_t at = (uint64_t{batch} * s.m + i) * s.n + j;
        std::memcpy(&bits, &c[at * size_of(s.result)], size_of(s.result));
        const double got = number(s.result, bits);
        const double allowed = (s.k + 2) * unit * magnitude + 2 * last * std::fabs(want) + unit;
        if (std::isfinite(got) && std::fabs(got - want) <= allowed) continue;
        if (++shown <= 3)
          ADD_FAILURE() << what << ": c[" << batch << ", " << i << ", " << j << "] is " << got
                        << ", expected " << want;
      }
  if (shown > 0) ADD_FAILURE() << what << ": " << shown << " elements differ";
}

Buffer upload(Device& device, const std::vector<std::byte>& bytes) {
  const Buffer buffer = device.allocate(bytes.size());
  device.write(buffer, bytes.data(), bytes.size());
  return buffer;
}

// Runs both kernels where k is split; `extra` are the arguments of the hooks.
void check_product(Device& device, const Problem& p, const MatmulTiling& tiling,
                   const MatmulHooks& hooks = {}, const std::vector<Argument>& extra = {},
                   const Finish& finish = {}) {
  const Buffer a = upload(device, p.a.bytes), b = upload(device, p.b.bytes);
  const uint64_t results = uint64_t{p.shape.m} * p.shape.n * p.shape.batch;
  std::vector<std::byte> c(results * size_of(p.shape.result), std::byte{0xff});
  const Buffer out = upload(device, c);
  const uint64_t room = ops::matmul_workspace_bytes(p.shape, tiling);
  const Buffer workspace = room > 0 ? device.allocate(room) : Buffer();
  std::vector<Argument> arguments{a, b, room > 0 ? workspace : out};
  if (room == 0) arguments.insert(arguments.end(), extra.begin(), extra.end());
  device.run(*device.compile(matmul_program(p.shape, tiling, hooks)), matmul_teams(p.shape, tiling),
             arguments);
  if (room > 0) {
    std::vector<Argument> more{workspace, out};
    more.insert(more.end(), extra.begin(), extra.end());
    device.run(*device.compile(matmul_sum_program(p.shape, tiling, hooks)), matmul_sum_teams(p.shape), more);
  }
  device.read(out, c.data(), c.size());
  const MatmulShape& s = p.shape;
  expect_product(p, c, finish,
                 std::to_string(s.m) + "x" + std::to_string(s.n) + "x" + std::to_string(s.k) +
                     (s.transpose_a ? " t" : " n") + (s.transpose_b ? "t " : "n ") + to_text(tiling));
}

MatmulTiling small_tiling() {
  MatmulTiling t;
  t.block_m = t.block_n = 16, t.block_k = 8, t.part_m = t.part_n = 4, t.across = 4;
  t.fused = false;  // a device without it would compose each from pieces
  return t;
}

class Matmul : public OnDevice {
 protected:
  void SetUp() override {
    if (!on().limits().lanes_by_hand) GTEST_SKIP() << "needs a GPU: kernels written for lanes";
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, Matmul, testing::ValuesIn(device_ids()), test_name);

TEST_P(Matmul, OddExtents) {
  constexpr uint32_t extents[] = {1, 2, 3, 5, 17, 33, 64, 65, 129};
  std::mt19937 random(7);
  const auto any = [&] { return extents[random() % std::size(extents)]; };
  for (int trial = 0; trial < 24; ++trial) {
    MatmulShape s;
    s.m = any(), s.n = any(), s.k = any();
    s.transpose_a = trial & 1, s.transpose_b = trial & 2;
    check_product(on(), problem(s), small_tiling());
  }
}

TEST_P(Matmul, WholeTilesInEveryForm) {
  for (int form = 0; form < 16; ++form) {
    MatmulShape s;
    s.m = 32, s.n = 64, s.k = 24;
    s.transpose_a = form & 1, s.transpose_b = form & 2;
    MatmulTiling t = small_tiling();
    t.stages = form & 4 ? 1 : 2;
    t.early = t.stages == 2 && form & 8;
    if (form & 8) t.part_m = 8, t.part_n = 2, t.group = 1;
    check_product(on(), problem(s), t);
  }
}

// Tiles that are wide enough to be turned on their way to shared memory.
TEST_P(Matmul, TurnedTiles) {
  for (int form = 0; form < 16; ++form) {
    MatmulShape s;
    s.m = 64, s.n = 40, s.k = 40;
    s.transpose_a = form & 1, s.transpose_b = form & 2;
    if (on().limits().float64 && form % 3 == 0) s.type = s.result = Type::f64;
    MatmulTiling t = small_tiling();
    t.block_m = 32, t.block_n = form & 4 ? 32 : 64, t.block_k = form & 4 ? 16 : 8;
    t.pad = 0, t.stages = form & 1 ? 1 : 2, t.ahead = form & 8, t.interleaved = form & 4;
    t.early = t.stages == 2 && form & 2;
    check_product(on(), problem(s), t);
  }
}

// Tiles whose vectors do not divide evenly among the lanes, of any depth; rows that lie apart.
TEST_P(Matmul, UnevenTiles) {
  for (int form = 0; form < 16; ++form) {
    MatmulShape s;
    s.m = 45, s.n = 50, s.k = 41, s.batch = 2;
    s.transpose_a = form & 1, s.transpose_b = form & 2;
    if (s.transpose_a && form & 4) s.a_pitch = 48;
    s.a_stride = uint64_t{std::max(s.m, s.a_pitch)} * s.k, s.b_stride = uint64_t{s.n} * s.k;
    MatmulTiling t = small_tiling();
    t.block_m = form & 4 ? 24 : 32, t.block_n = form & 8 ? 24 : 48, t.block_k = form & 8 ? 7 : 13;
    t.stages = form & 4 ? 1 : 2, t.ahead = form & 2, t.linear = on().limits().int64 && form & 8;
    check_product(on(), problem(s), t);
  }
}

TEST_P(Matmul, Types) {
  for (const auto& [type, result] :
       {std::pair(Type::f64, Type::f64), std::pair(Type::f16, Type::f16), std::pair(Type::f16, Type::f32),
        std::pair(Type::bf16, Type::bf16), std::pair(Type::bf16, Type::f32), std::pair(Type::i32, Type::i32),
        std::pair(Type::u8, Type::u32), std::pair(Type::i8, Type::i32)}) {
    if (type == Type::f64 && !on().limits().float64) continue;
    if (type == Type::f16 && !on().limits().storage16) continue;
    for (const uint32_t n : {32u, 19u}) {
      MatmulShape s;
      s.type = type, s.result = result;
      s.m = 20, s.n = n, s.k = 28;
      s.transpose_b = n == 19;
      check_product(on(), problem(s), small_tiling());
    }
  }
}

TEST_P(Matmul, Batches) {
  MatmulShape s;
  s.m = 17, s.n = 20, s.k = 12, s.batch = 3;
  s.a_stride = 17 * 12, s.b_stride = 12 * 20;
  check_product(on(), problem(s), small_tiling());
  s.b_stride = 0;  // one b for all
  check_product(on(), problem(s), small_tiling());
  s.a_stride = 0, s.b_stride = 12 * 20 + 1;  // vectors would not be aligned
  check_product(on(), problem(s), small_tiling());
}

// The last split has fewer tiles than the others, whether or not the last tile is a whole one.
TEST_P(Matmul, SplitSums) {
  for (const auto& [k, splits] : {std::pair(70u, 2u), std::pair(70u, 3u), std::pair(70u, 5u),
                                  std::pair(40u, 2u), std::pair(40u, 3u), std::pair(104u, 5u)}) {
    MatmulShape s;
    s.m = 18, s.n = 33, s.k = k, s.batch = 2;
    s.a_stride = s.m * s.k, s.b_stride = s.n * s.k;
    MatmulTiling t = small_tiling();
    t.split_k = splits;
    check_product(on(), problem(s), t);
    s.transpose_a = s.transpose_b = true;
    check_product(on(), problem(s), t);
  }
}

TEST_P(Matmul, Epilogue) {
  for (const uint32_t splits : {1u, 2u}) {
    MatmulShape s;
    s.m = 17, s.n = 20, s.k = 32, s.batch = 2;
    s.a_stride = s.m * s.k, s.b_stride = s.n * s.k;
    MatmulTiling t = small_tiling();
    t.split_k = splits;
    Array bias;
    Value scale;
    MatmulHooks hooks;
    hooks.declare = [&](Builder& k) {
      bias = k.buffer("bias", Type::f32, Access::read);
      scale = k.scalar("scale", Type::f32);
    };
    hooks.epilogue = [&](Builder&, Value sum, Value batch, Value row, Value column) {
      return max((sum + bias.load(column)) * scale + convert(row + batch * 100, Type::f32), 0);
    };
    const Numbers added = random_numbers(Type::f32, s.n, 5);
    check_product(on(), problem(s), t, hooks, {upload(on(), added.bytes), 0.5f},
                  [&](double sum, uint32_t batch, uint32_t row, uint32_t column) {
                    return std::max((sum + added.values[column]) * 0.5 + row + batch * 100, 0.0);
                  });
  }
}

TEST_P(Matmul, ChosenTilings) {
  for (const auto& [m, n, k] :
       {std::array{130u, 40u, 20u}, std::array{10u, 10u, 300u}, std::array{64u, 64u, 64u}}) {
    MatmulShape s;
    s.m = m, s.n = n, s.k = k;
    check_product(on(), problem(s), choose_tiling(s, on().limits()));
  }
  MatmulShape s;
  s.m = 40, s.n = 33, s.k = 50, s.transpose_a = true;
  for (const Type type : {Type::f16, Type::bf16, Type::f64}) {
    if ((type == Type::f64 && !on().limits().float64) || !on().limits().storage16) continue;
    s.type = s.result = type;
    check_product(on(), problem(s), choose_tiling(s, on().limits()));
  }
}

// These are team loops, which every device runs.
class MatmulByVector : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, MatmulByVector, testing::ValuesIn(device_ids()), test_name);

TEST_P(MatmulByVector, RowsAndColumns) {
  for (int form = 0; form < 8; ++form)
    for (const uint32_t rows : {1u, 3u, 64u, 130u})
      for (const uint32_t k : {1u, 33u, 300u}) {
        if ((rows + k + static_cast<uint32_t>(form)) % 3 != 0) continue;  // some of each
        MatmulShape s;
        s.m = form & 4 ? rows : 1, s.n = form & 4 ? 1 : rows, s.k = k;
        s.transpose_a = form & 1, s.transpose_b = form & 2;
        MatmulTiling t = choose_tiling(s, on().limits());
        EXPECT_EQ(t.method, MatmulMethod::vector);
        t.across = 16;
        check_product(on(), problem(s), t);
      }
}

TEST_P(MatmulByVector, BatchesAndSplits) {
  for (const bool across : {false, true}) {
    MatmulShape s;
    s.m = 12, s.n = 1, s.k = 600, s.batch = 2, s.transpose_a = across;
    s.a_stride = s.m * s.k, s.b_stride = s.k;
    MatmulTiling t = choose_tiling(s, on().limits());
    t.across = 16, t.split_k = 3;
    check_product(on(), problem(s), t);
  }
}

TEST(MatmulArguments, AreChecked) {
  MatmulShape s;
  MatmulTiling t = small_tiling();
  const auto refused = [&](const char* word) {
    try {
      matmul_program(s, t);
      ADD_FAILURE() << "accepted: " << word;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::bad_argument);
      EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
  };
  s.k = 0;
  refused("shape");
  s.k = 4, s.result = Type::i32;
  refused("type");
  s.result = Type::f32, t.split_k = 2;
  refused("split");
  t = small_tiling(), t.part_m = 3;
  refused("parts");
  t = small_tiling(), t.method = MatmulMethod::matrices;
  refused("f16 or bf16");
  EXPECT_THROW(ops::tiling_from_text("tiled:1x2"), Error);
  EXPECT_THROW(ops::tiling_from_text(to_text(small_tiling()) + "b"), Error);
  t = small_tiling(), t.stages = 1, t.early = true;
  refused("early");
  t = small_tiling(), t.interleaved = false, t.ahead = t.early = t.linear = true;
  EXPECT_EQ(to_text(ops::tiling_from_text(to_text(t))), to_text(t));
  EXPECT_NE(to_text(t), to_text(small_tiling()));
}

// Buffers that may begin anywhere are read and written no wider than they are aligned.
TEST(MatmulArguments, AlignmentBoundsTheAccesses) {
  for (const uint32_t alignment : {4u, 8u, 16u}) {
    MatmulShape s;
    s.m = s.n = s.k = 64, s.alignment = alignment;
    uint32_t widest = 0;
    const Program program = matmul_program(s, small_tiling());
    for (const kernel::Instruction& it : program.instructions) {
      const bool loads = it.op == kernel::Op::load, stores = it.op == kernel::Op::store;
      if ((!loads && !stores) || program[it.operand[0]].op != kernel::Op::buffer) continue;
      const uint32_t width = loads ? it.width : program[it.operand[2]].width;
      widest = std::max(widest, width * 4);
    }
    EXPECT_EQ(widest, alignment);
  }
}

// Devices without cooperative matrices say so.
TEST_P(Matmul, MatricesAreRefusedWhereThereAreNone) {
  if (!on().limits().cooperative_matrices.empty()) GTEST_SKIP() << "this device has them";
  MatmulShape s;
  s.type = Type::f16, s.m = s.n = 64, s.k = 32;
  MatmulTiling t;
  t.method = MatmulMethod::matrices;
  t.block_k = 32, t.part_m = t.part_n = 32, t.pad = 8;
  try {
    on().compile(matmul_program(s, t));
    ADD_FAILURE() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(e.what()).find("cooperative matrices"), std::string::npos) << e.what();
  }
}

TEST_P(Matmul, ByMatrices) {
  const Limits& limits = on().limits();
  if (limits.cooperative_matrices.empty()) GTEST_SKIP() << "needs a GPU with cooperative matrices";
  bool tried = false;
  for (const Type type : {Type::f16, Type::bf16})
    for (const auto& matrix : limits.cooperative_matrices) {
      if (matrix != kernel::MatrixShape{16, 16, 16, type, Type::f32}) continue;
      tried = true;
      for (int form = 0; form < 8; ++form) {
        MatmulShape s;
        s.type = type, s.result = form & 4 ? type : Type::f32;
        s.transpose_a = form & 1, s.transpose_b = form & 2;
        MatmulTiling t;
        t.method = MatmulMethod::matrices;
        t.block_k = 32, t.part_m = t.part_n = 32, t.pad = 8, t.matrix = matrix;
        t.subgroup = limits.subgroup_size;
        t.ahead = form & 2, t.stages = form & 1 ? 1 : 2, t.early = form & 4;
        t.linear = (form & 1) == (form >> 2 & 1);
        s.m = 128, s.n = 64, s.k = 96;
        check_product(on(), problem(s), t);
        s.m = 72, s.n = 40, s.k = 40;
        check_product(on(), problem(s), t);
        s.m = 65, s.n = 33, s.k = 17, s.batch = 2, s.a_stride = s.m * s.k;
        check_product(on(), problem(s), t);
        t.split_k = 2;
        for (const uint32_t k : {100u, 96u}) {  // a last tile that is cut, a last split that is shorter
          s.k = k, s.a_stride = s.m * s.k;
          check_product(on(), problem(s), t);
        }
      }
    }
  if (!tried) GTEST_SKIP() << "needs a GPU with cooperative matrices of 16 x 16 x 16";
}

}  // namespace
}  // namespace adit::test
