#include "ops/matmul.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "ops/matmul_parts.hpp"

namespace adit::ops {

using kernel::is_float;
using kernel::is_integer;
using kernel::is_signed_integer;
using kernel::Program;
using kernel::size_of;

void reject_matmul(const std::string& what) { throw Error(ErrorKind::bad_argument, "[matmul] " + what); }

kernel::Type accumulator_type(const MatmulShape& shape) {
  if (shape.type == Type::f64) return Type::f64;
  if (is_float(shape.type)) return Type::f32;
  if (size_of(shape.result) >= 4) return shape.result;
  return is_signed_integer(shape.result) ? Type::i32 : Type::u32;
}

namespace {

void check_tiling(const MatmulShape& s, const MatmulTiling& t) {
  const bool numbers =
      (is_float(s.type) && is_float(s.result)) || (is_integer(s.type) && is_integer(s.result));
  if (!numbers)
    reject_matmul(fmt::format("type: expected floats into floats or integers into integers, got {} into {}",
                              name_of(s.type), name_of(s.result)));
  if (s.m == 0 || s.n == 0 || s.k == 0 || s.batch == 0)
    reject_matmul(fmt::format("shape: expected at least 1 in every extent, got {} x {} x {} and {} of them",
                              s.m, s.n, s.k, s.batch));
  if (t.block_m == 0 || t.block_n == 0 || t.block_k == 0 || t.stages < 1 || t.stages > 2 || t.split_k == 0 ||
      t.subgroup == 0 || t.across == 0)
    reject_matmul("tiling: expected blocks, one or two stages, and at least one split");
  if (t.early && t.stages != 2 && t.method != MatmulMethod::matrices)
    reject_matmul("tiling: expected two stages where tiles are put early");
  if (matmul_teams(s, t) > ~uint32_t{0})
    reject_matmul(fmt::format("shape: expected fewer than 2^32 teams, got {}", matmul_teams(s, t)));
  if (s.a_pitch > 0 && (!s.transpose_a || s.a_pitch < s.m || t.method != MatmulMethod::tiled))
    reject_matmul("shape: expected rows apart of a transposed matrix alone, for tiles");
  const Grid grid(s, t);
  if (ceil_div(grid.tiles_k, grid.tiles_k_each) != t.split_k)
    reject_matmul(fmt::format("tiling: expected work for every split, got {} splits of {} tiles", t.split_k,
                              grid.tiles_k));
}

}  // namespace

Program matmul_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check_tiling(shape, tiling);
  if (shape.mapped && (tiling.method != MatmulMethod::tiled || !hooks.column))
    reject_matmul("tiling: expected tiles and a map where b is no matrix");
  switch (tiling.method) {
    case MatmulMethod::matrices: return matrices_program(shape, tiling, hooks);
    case MatmulMethod::vector: return vector_program(shape, tiling, hooks);
    default: return tiled_program(shape, tiling, hooks);
  }
}

uint64_t matmul_teams(const MatmulShape& shape, const MatmulTiling& tiling) {
  const Grid grid(shape, tiling);
  return uint64_t{grid.tiles_m} * grid.tiles_n * shape.batch * tiling.split_k;
}

uint64_t matmul_workspace_bytes(const MatmulShape& shape, const MatmulTiling& tiling) {
  if (tiling.split_k == 1) return 0;
  return uint64_t{shape.m} * shape.n * shape.batch * tiling.split_k * size_of(accumulator_type(shape));
}

// Several at a time are on their way from memory; many are not written out one by one.
Value sum_of_splits(Builder& k, const Array& from, Value at, uint64_t apart, uint32_t splits) {
  constexpr uint32_t together = 16;
  const auto with = [&](Value sum, Value first, uint32_t count) {
    std::vector<Value> parts;
    for (uint32_t i = 0; i < count; ++i) parts.push_back(from.load(first + i * apart));
    for (const Value& part : parts) sum = sum + part;
    return sum;
  };
  const uint32_t rest = splits % together == 0 ? together : splits % together;
  const Value first = with(from.load(at), at + apart, rest - 1);
  if (splits <= together) return first;
  const kernel::Variable sum = k.variable(first);
  k.for_(at.like(0), at.like((splits - rest) / together), at.like(1), [&](Value number) {
    sum = with(sum.get(), at + (number * (together * apart) + rest * apart), together);
  });
  return sum.get();
}

// One invocation a result: few, and all of them read side by side.
Program matmul_sum_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check_tiling(shape, tiling);
  Builder k(fmt::format("matmul_sum_{}", tiling.split_k), kernel::Team::one(128));
  const Array from = k.buffer("workspace", accumulator_type(shape), kernel::Access::read),
              to = k.buffer("c", shape.result, kernel::Access::write);
  if (hooks.declare) hooks.declare(k);
  if (hooks.declare_condition) hooks.declare_condition(k);
  const uint64_t plane = uint64_t{shape.m} * shape.n, all = plane * shape.batch;
  const bool is_wide = all * tiling.split_k >= uint64_t{1} << 31;
  const Value at = k.team(is_wide ? Type::u64 : Type::u32);
  const auto narrow = [](Value v) { return convert(v, Type::u32); };
  const Value batch = narrow(shape.batch == 1 ? at.like(0) : at / plane),
              within = shape.batch == 1 ? at : at % plane;
  under_condition(k, hooks, batch, [&] {
    const Value sum = sum_of_splits(k, from, at, all, tiling.split_k);
    const Value row = narrow(within / shape.n), column = narrow(within % shape.n);
    const Value result = finish_sum(k, hooks, shape.result, sum, batch, row, column);
    to.store(hooks.place ? hooks.place(k, batch, row, column) : at, result);
  });
  return k.finish();
}

uint64_t matmul_sum_teams(const MatmulShape& shape) { return uint64_t{shape.m} * shape.n * shape.batch; }

namespace {
constexpr const char* method_names[] = {"tiled", "matrices", "vector"};
}  // namespace

std::string to_text(const MatmulTiling& t) {
  std::string text =
      fmt::format("{}:{}x{}x{}:{}x{}:s{}:p{}:g{}:k{}", method_names[static_cast<int>(t.method)], t.block_m,
                  t.block_n, t.block_k, t.part_m, t.part_n, t.stages, t.pad, t.group, t.split_k);
  if (t.method == MatmulMethod::matrices)
    text += fmt::format(":f{}x{}x{}", t.matrix.m, t.matrix.n, t.matrix.k);
  else
    text += fmt::format(":{}{}", t.interleaved ? 'z' : 'w', t.across);
  return text + (t.ahead ? "a" : "") + (t.early ? "e" : "") + (t.linear ? "l" : "");
}

namespace {

// What follows the numbers that all methods have; false where it is not understood.
bool read_rest(const char* text, MatmulTiling& t) {
  int read = 0;
  char layout = 'z';
  if (t.method == MatmulMethod::matrices) {
    if (std::sscanf(text, ":f%ux%ux%u%n", &t.matrix.m, &t.matrix.n, &t.matrix.k, &read) != 3) return false;
  } else if (std::sscanf(text, ":%c%u%n", &layout, &t.across, &read) != 2) {
    return false;
  }
  t.interleaved = layout == 'z';
  const auto has = [&](char letter) { return text[read] == letter && ++read; };
  t.ahead = has('a'), t.early = has('e'), t.linear = has('l');
  return (layout == 'z' || layout == 'w') && text[read] == 0;
}

}  // namespace

MatmulTiling tiling_from_text(const std::string& text) {
  MatmulTiling t;
  char name[16] = "";
  int read = 0;
  const int found =
      std::sscanf(text.c_str(), "%15[a-z]:%ux%ux%u:%ux%u:s%u:p%u:g%u:k%u%n", name, &t.block_m, &t.block_n,
                  &t.block_k, &t.part_m, &t.part_n, &t.stages, &t.pad, &t.group, &t.split_k, &read);
  const auto method = std::find(std::begin(method_names), std::end(method_names), std::string(name));
  t.method = static_cast<MatmulMethod>(method - std::begin(method_names));
  if (found != 10 || method == std::end(method_names) || !read_rest(text.c_str() + read, t))
    reject_matmul(fmt::format(
        "tiling: expected \"tiled:128x128x16:8x8:s2:p4:g8:k1:z8\" or the like, got \"{}\"", text));
  return t;
}

}  // namespace adit::ops
