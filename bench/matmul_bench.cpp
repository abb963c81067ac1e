// Times every candidate tiling of a matrix product on a device, and checks some of its results.
//
//   matmul_bench vulkan:0 [f32,f64 1024,4096,1024x784x512nt [tiling ...]]
//
// Without types and sizes: large products of every type, and those of a small network's training step.
// A size is N or MxNxK, with a pair of letters for stored transposes (nn, tn, nt, tt), and an h at the end
// for results of the operands' type. "turns_us": two results in turn, so that calls may overlap. Without
// tilings all candidates of the type are tried; "chosen" is what choose_tiling() picks. One line of JSON a
// result.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <random>
#include <sstream>
#include <thread>

#include "ops/matmul.hpp"

namespace adit::bench {
namespace {

using kernel::size_of;
using kernel::Type;
using ops::MatmulMethod;
using ops::MatmulShape;
using ops::MatmulTiling;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Small multiples of 1/64: exact in every type, and their products too.
double value_at(uint64_t index, uint64_t seed) {
  uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (static_cast<double>(x >> 57) - 63.5) / 64;
}

Buffer make_operand(Device& device, Type type, uint64_t count, uint64_t seed) {
  std::vector<std::byte> bytes(count * size_of(type));
  const auto fill = [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i) {
      const uint64_t bits = kernel::bits_of_number(type, value_at(i, seed));
      std::memcpy(&bytes[i * size_of(type)], &bits, size_of(type));
    }
  };
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> all;
  for (unsigned t = 0; t < threads; ++t)
    all.emplace_back(fill, count * t / threads, count * (t + 1) / threads);
  for (std::thread& one : all) one.join();
  const Buffer buffer = device.allocate(bytes.size());
  device.write(buffer, bytes.data(), bytes.size());
  return buffer;
}

double number_of(Type type, const std::byte* at) {
  if (type == Type::f64) {
    double d;
    std::memcpy(&d, at, 8);
    return d;
  }
  if (size_of(type) == 2) {
    uint16_t h;
    std::memcpy(&h, at, 2);
    if (type == Type::bf16) return std::bit_cast<float>(static_cast<uint32_t>(h) << 16);
    const double size =
        (h >> 10 & 31) ? std::ldexp((h & 1023) + 1024, (h >> 10 & 31) - 25) : std::ldexp(h & 1023, -24);
    return h >> 15 ? -size : size;
  }
  float f;
  std::memcpy(&f, at, 4);
  return f;
}

struct Work {
  MatmulShape shape;
  std::string name;
  Buffer a, b, c, other;  // the results of every second call go to another place in the second timing
};

// Largest error of sampled results over the sum of the products' magnitudes.
double max_error(Device& device, const Work& work) {
  const MatmulShape& s = work.shape;
  std::mt19937 random(3);
  double worst = 0;
  std::vector<std::byte> line(uint64_t{s.n} * size_of(s.result));
  for (int sample = 0; sample < 24; ++sample) {
    const uint32_t i = sample == 0 ? s.m - 1 : static_cast<uint32_t>(random() % s.m);
    device.read(work.c, line.data(), line.size(), uint64_t{i} * line.size());
    for (int column = 0; column < 12; ++column) {
      const uint32_t j = column == 0 ? s.n - 1 : static_cast<uint32_t>(random() % s.n);
      double sum = 0, magnitude = 0;
      for (uint64_t k = 0; k < s.k; ++k) {
        const double product = value_at(s.transpose_a ? k * s.m + i : uint64_t{i} * s.k + k, 1) *
                               value_at(s.transpose_b ? uint64_t{j} * s.k + k : k * s.n + j, 2);
        sum += product;
        magnitude += std::fabs(product);
      }
      const double error = std::fabs(number_of(s.result, &line[j * size_of(s.result)]) - sum) / magnitude;
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
  }
  return worst;
}

// A tiling that was compiled and gave its first results.
struct Candidate {
  std::string text;
  MatmulTiling tiling;
  std::shared_ptr<const Kernel> first, second;
  Buffer workspace;
  double compile_ms = 0, error = 0, once = 0;  // seconds of one call, about
  std::vector<double> times, turns;            // microseconds a call, by round

  void call(Device& device, const Work& work) const { call(device, work, work.c); }
  void call(Device& device, const Work& work, const Buffer& to) const {
    device.run(*first, matmul_teams(work.shape, tiling), {work.a, work.b, second ? workspace : to});
    if (second) device.run(*second, matmul_sum_teams(work.shape), {workspace, to});
  }
};

double time_calls(Device& device, const Work& work, const Candidate& candidate, int calls,
                  bool turns = false) {
  const double start = now();
  for (int i = 0; i < calls; ++i) candidate.call(device, work, turns && i % 2 == 1 ? work.other : work.c);
  device.wait();
  return (now() - start) / calls;
}

std::optional<Candidate> prepare(Device& device, const Work& work, MatmulTiling tiling,
                                 const std::string& label) {
  tiling.subgroup = device.limits().subgroup_size;
  tiling.fused = device.limits().fused_fma;
  tiling.matrix.operand = work.shape.type;
  Candidate made;
  made.text = label + to_text(tiling), made.tiling = tiling;
  try {
    const double start = now();
    made.first = device.compile(matmul_program(work.shape, tiling));
    if (const uint64_t room = ops::matmul_workspace_bytes(work.shape, tiling); room > 0) {
      made.second = device.compile(matmul_sum_program(work.shape, tiling));
      made.workspace = device.allocate(room);
    }
    made.compile_ms = (now() - start) * 1e3;
    device.fill(work.c, 0xffffffff);
    time_calls(device, work, made, 1);
    made.error = max_error(device, work);
    made.once = std::max(time_calls(device, work, made, 1), 1e-6);
    return made;
  } catch (const Error& e) {
    fmt::print("{{\"work\": \"{}\", \"tiling\": \"{}\", \"refused\": \"{}\"}}\n", work.name, made.text,
               e.what());
    return std::nullopt;
  }
}

// In rounds over all candidates, with the device kept busy, so that a slow moment or a low clock does not
// fall on one of them. The least time counts; "spread" is the largest over it.
void measure(Device& device, const Work& work, std::vector<Candidate>& all) {
  constexpr int rounds = 4;
  constexpr double queue_seconds = 0.008, warm_seconds = 0.03;
  if (all.empty()) return;
  const auto calls = [](const Candidate& one, double seconds) {
    return std::clamp(static_cast<int>(seconds / one.once), 1, 400);
  };
  // Again, now that the clock is up.
  time_calls(device, work, all.front(), calls(all.front(), warm_seconds));
  for (Candidate& one : all) one.once = std::max(time_calls(device, work, one, 2), 1e-6);
  for (int round = 0; round < rounds; ++round) {
    time_calls(device, work, all.front(), calls(all.front(), warm_seconds));
    for (Candidate& one : all) {
      one.times.push_back(time_calls(device, work, one, calls(one, queue_seconds)) * 1e6);
      one.turns.push_back(time_calls(device, work, one, calls(one, queue_seconds), true) * 1e6);
    }
  }
  for (const Candidate& one : all) {
    const auto [least, most] = std::minmax_element(one.times.begin(), one.times.end());
    const double flops = 2.0 * work.shape.m * work.shape.n * work.shape.k;
    fmt::print(
        "{{\"work\": \"{}\", \"tiling\": \"{}\", \"us\": {:.1f}, \"turns_us\": {:.1f}, \"tflops\": {:.2f}, "
        "\"spread\": {:.2f}, "
        "\"max_error\": {:.2g}, \"right\": {}, \"compile_ms\": {:.0f}}}\n",
        work.name, one.text, *least, *std::min_element(one.turns.begin(), one.turns.end()),
        flops / *least / 1e6, *most / *least, one.error,
        one.error < (size_of(work.shape.result) == 2 ? 1e-3 : 1e-5), one.compile_ms);
  }
  std::fflush(stdout);
}

using Texts = std::vector<std::string>;

// Reading ahead (a) or not, tiles put early (e), padded tiles (p4) and turned ones (p0), tall parts.
Texts large_f32() {
  return {"tiled:128x128x16:8x8:s1:p4:g8:k1:z8",   "tiled:128x128x16:8x8:s1:p0:g8:k1:z8a",
          "tiled:128x128x16:8x8:s2:p4:g8:k1:z8ae", "tiled:128x128x8:8x8:s2:p4:g8:k1:z8ae",
          "tiled:128x128x32:8x8:s1:p4:g8:k1:z8a",  "tiled:128x128x16:16x8:s1:p0:g8:k1:z8a",
          "tiled:256x128x16:16x8:s1:p0:g8:k1:z8a", "tiled:128x64x16:8x8:s1:p0:g8:k1:z8a"};
}

// A lane's 8x8 sums are 128 registers, so a processor holds 8 subgroups: in one team, two or four.
Texts large_f64() {
  return {"tiled:128x128x16:8x8:s1:p0:g8:k1:z8a", "tiled:128x128x8:8x8:s2:p0:g8:k1:z8e",
          "tiled:128x128x8:8x8:s2:p0:g8:k1:z8ae", "tiled:128x64x16:8x8:s1:p0:g8:k1:z8a",
          "tiled:64x64x16:8x8:s1:p0:g8:k1:z8a",   "tiled:128x128x16:8x4:s1:p0:g8:k1:z8",
          "tiled:64x128x16:4x8:s1:p0:g8:k1:z8a",  "tiled:128x64x16:8x4:s1:p0:g8:k1:z8a"};
}

// The part of a subgroup decides what is read from shared memory, that of a team what is read from the
// caches, the depth and the stages how often all wait. Compilers sink reads to where they are used: only what
// waits in registers for a step (e) is surely under way early.
Texts large_half() {
  const auto named = [](const char* text) { return fmt::format("matrices:128x{}:k1:f16x16x16", text); };
  return {named("128x64:64x64:s1:p8:g4"),          named("128x64:64x64:s1:p8:g4") + "l",
          named("128x64:64x64:s1:p8:g4") + "el",   named("128x32:64x64:s2:p8:g4") + "el",
          named("128x32:64x64:s2:p8:g4") + "ael",  named("256x32:64x64:s1:p8:g4") + "ael",
          named("256x32:64x64:s1:p8:g16") + "ael", named("256x16:64x64:s2:p8:g4") + "ael",
          named("256x16:64x64:s2:p8:g16") + "ael"};
}

Texts with_splits(std::initializer_list<const char*> tilings, std::initializer_list<int> splits) {
  Texts all;
  for (const char* tiling : tilings)
    for (const int count : splits) all.push_back(fmt::format(fmt::runtime(tiling), count));
  return all;
}

// Products that fill few teams.
Texts small(Type type) {
  if (type == Type::f64)
    return {"tiled:64x64x16:8x8:s2:p0:g8:k1:z8",  "tiled:64x64x16:8x8:s1:p0:g8:k1:z8",
            "tiled:64x64x8:8x8:s2:p0:g8:k1:z8ae", "tiled:64x64x16:8x4:s1:p0:g8:k1:z8",
            "tiled:64x64x16:8x4:s1:p0:g8:k1:z8a", "tiled:64x64x32:8x4:s1:p0:g8:k1:z8"};
  if (type != Type::f32)
    return with_splits({"matrices:128x64x64:64x32:s1:p8:g16:k{}:f16x16x16el",
                        "matrices:64x64x64:32x32:s2:p8:g16:k{}:f16x16x16el",
                        "matrices:64x64x64:32x32:s2:p8:g16:k{}:f16x16x16"},
                       {1});
  Texts all = with_splits({"tiled:64x64x32:8x4:s1:p0:g8:k{}:z8"}, {1, 2, 4});
  for (const char* text : {"tiled:64x64x32:8x4:s1:p0:g8:k1:z8a", "tiled:64x64x16:8x4:s2:p0:g8:k1:z8e",
                           "tiled:64x64x16:4x4:s2:p0:g8:k1:z8e", "tiled:128x64x16:8x8:s1:p0:g8:k1:z8a"})
    all.push_back(text);
  return all;
}

// Few rows or columns: many steps of k at once, since each costs the way to memory and back.
Texts thin() {
  return with_splits({"tiled:16x16x64:2x2:s2:p0:g8:k{}:z8", "tiled:16x16x64:2x2:s2:p4:g8:k{}:z8",
                      "tiled:32x16x32:4x2:s2:p0:g8:k{}:z8"},
                     {1, 4, 8});
}

Texts candidates(const MatmulShape& shape) {
  if (std::min(shape.m, shape.n) <= 1) return {};
  if (std::min(shape.m, shape.n) <= 32 && shape.type != Type::f16 && shape.type != Type::bf16) return thin();
  if (uint64_t{shape.m} * shape.n < 2048u * 1024u) return small(shape.type);
  if (shape.type == Type::f64) return large_f64();
  return shape.type == Type::f32 ? large_f32() : large_half();
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

Type type_from(const std::string& name) {
  for (const Type t : {Type::f16, Type::bf16, Type::f32, Type::f64})
    if (name_of(t) == name) return t;
  throw Error(ErrorKind::bad_argument, "[matmul_bench] type: expected f16, bf16, f32 or f64, got " + name);
}

Work make_work(Device& device, Type type, const std::string& size) {
  Work work;
  MatmulShape& s = work.shape;
  s.type = type;
  s.result = type == Type::f64 ? Type::f64 : Type::f32;
  char letters[3] = "nn";
  if (size.back() == 'h') s.result = type;
  if (std::sscanf(size.c_str(), "%ux%ux%u%2[nt]", &s.m, &s.n, &s.k, letters) < 3) {
    if (std::sscanf(size.c_str(), "%u%2[nt]", &s.m, letters) < 1)
      throw Error(ErrorKind::bad_argument, "[matmul_bench] size: expected N or MxNxK, got " + size);
    s.n = s.k = s.m;
  }
  s.transpose_a = letters[0] == 't', s.transpose_b = letters[1] == 't';
  work.name = fmt::format("matmul_{}_{}", name_of(type), size);
  work.a = make_operand(device, type, uint64_t{s.m} * s.k, 1);
  work.b = make_operand(device, type, uint64_t{s.k} * s.n, 2);
  work.c = device.allocate((uint64_t{s.m} * s.n * size_of(s.result) + 3) / 4 * 4);
  work.other = device.allocate(work.c.bytes());
  return work;
}

void describe(const Device& device) {
  const Limits& limits = device.limits();
  fmt::print(
      "{{\"device\": \"{}\", \"driver\": \"{}\", \"subgroup\": {}, \"shared_bytes\": {}, \"fused_fma\": {}, "
      "\"matrices\": [",
      device.info().name, device.info().driver, limits.subgroup_size, limits.shared_bytes, limits.fused_fma);
  for (size_t i = 0; i < limits.cooperative_matrices.size(); ++i) {
    const kernel::MatrixShape& shape = limits.cooperative_matrices[i];
    fmt::print("{}\"{}x{}x{} {} {}\"", i ? ", " : "", shape.m, shape.n, shape.k, name_of(shape.operand),
               name_of(shape.accumulator));
  }
  fmt::print("]}}\n");
}

void run_one(Device& device, Type type, const std::string& size, Texts tilings) {
  const Work work = make_work(device, type, size);
  if (tilings.empty()) {
    tilings = candidates(work.shape);
    tilings.insert(tilings.begin(), "chosen");
  }
  std::vector<Candidate> all;
  for (const std::string& text : tilings) {
    const bool chosen = text == "chosen";
    const MatmulTiling tiling =
        chosen ? choose_tiling(work.shape, device.limits()) : ops::tiling_from_text(text);
    if (auto made = prepare(device, work, tiling, chosen ? "chosen " : "")) all.push_back(*made);
  }
  measure(device, work, all);
}

void run(const std::vector<std::string>& arguments) {
  if (arguments.empty() || arguments.size() == 2)
    throw Error(ErrorKind::bad_argument, "[matmul_bench] expected: device [types sizes [tiling ...]]");
  const auto device = Device::open(arguments[0]);
  describe(*device);
  if (arguments.size() == 1) {
    for (const auto& [type, sizes] : {std::pair(Type::f16, "4096"), std::pair(Type::bf16, "8192"),
                                      std::pair(Type::f64, "4096,1024"), std::pair(Type::f32, "4096,1024"),
                                      std::pair(Type::f32,
                                                "1024x512x784,1024x512x512,784x512x1024tn,512x512x1024tn,"
                                                "1024x512x512nt,1024x10x512,512x10x1024tn,1024x512x10nt")})
      for (const std::string& size : split(sizes)) run_one(*device, type, size, {});
    return;
  }
  for (const std::string& type : split(arguments[1]))
    for (const std::string& size : split(arguments[2]))
      run_one(*device, type_from(type), size, {arguments.begin() + 3, arguments.end()});
}

}  // namespace
}  // namespace adit::bench

int main(int count, char** arguments) {
  try {
    adit::bench::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    fmt::print(stderr, "matmul_bench: {}\n", error.what());
    return 1;
  }
}
