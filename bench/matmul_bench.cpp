// Times every candidate tiling of a matrix product on a device, and checks some of its results.
//
//   matmul_bench vulkan:0 f32,f64 1024,4096,1024x784x512nt [tiling ...]
//
// A size is N or MxNxK, with a pair of letters for stored transposes (nn, tn, nt, tt). Without tilings all
// candidates of the type are tried; "chosen" is what choose_tiling() picks. One line of JSON a result.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
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
  float f;
  std::memcpy(&f, at, 4);
  return f;
}

struct Work {
  MatmulShape shape;
  std::string name;
  Buffer a, b, c;
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

// Microseconds a call in a queue of calls: the median of some queues.
double time_calls(Device& device, const std::function<void()>& call) {
  call();
  device.wait();
  double start = now();
  call();
  device.wait();
  const double once = std::max(now() - start, 1e-6);
  const int calls = std::clamp(static_cast<int>(0.02 / once), 1, 100), queues = once > 0.02 ? 3 : 5;
  std::vector<double> times;
  for (int queue = 0; queue < queues; ++queue) {
    start = now();
    for (int i = 0; i < calls; ++i) call();
    device.wait();
    times.push_back((now() - start) / calls);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] * 1e6;
}

void try_tiling(Device& device, Work& work, MatmulTiling tiling, const std::string& label) {
  tiling.subgroup = device.limits().subgroup_size;
  tiling.fused = device.limits().fused_fma;
  tiling.matrix.operand = work.shape.type;
  const std::string text = label + to_text(tiling);
  try {
    const double start = now();
    const auto first = device.compile(matmul_program(work.shape, tiling));
    const uint64_t room = ops::matmul_workspace_bytes(work.shape, tiling);
    const auto second =
        room > 0 ? device.compile(matmul_sum_program(work.shape, tiling)) : std::shared_ptr<const Kernel>();
    const double compile = now() - start;
    const Buffer workspace = room > 0 ? device.allocate(room) : Buffer();
    device.fill(work.c, 0xffffffff);
    const auto call = [&] {
      device.run(*first, matmul_teams(work.shape, tiling), {work.a, work.b, room > 0 ? workspace : work.c});
      if (room > 0) device.run(*second, matmul_sum_teams(work.shape), {workspace, work.c});
    };
    const double us = time_calls(device, call), error = max_error(device, work);
    const double flops = 2.0 * work.shape.m * work.shape.n * work.shape.k;
    fmt::print(
        "{{\"work\": \"{}\", \"tiling\": \"{}\", \"us\": {:.1f}, \"tflops\": {:.2f}, \"max_error\": {:.2g}, "
        "\"right\": {}, \"compile_ms\": {:.0f}}}\n",
        work.name, text, us, flops / us / 1e6, error, error < 1e-5, compile * 1e3);
  } catch (const Error& e) {
    fmt::print("{{\"work\": \"{}\", \"tiling\": \"{}\", \"refused\": \"{}\"}}\n", work.name, text, e.what());
  }
  std::fflush(stdout);
}

const char* const tilings_f32[] = {
    "tiled:128x128x16:8x8:s2:p4:g8:k1:w8",  "tiled:128x128x16:8x8:s1:p4:g8:k1:w8",
    "tiled:128x128x8:8x8:s2:p4:g8:k1:w8",   "tiled:128x128x16:8x8:s2:p4:g8:k1:w4",
    "tiled:128x128x16:8x8:s2:p4:g8:k1:w16", "tiled:128x128x16:8x8:s2:p0:g8:k1:w8",
    "tiled:128x128x16:8x16:s2:p4:g8:k1:w8", "tiled:128x128x16:16x8:s2:p4:g8:k1:w8",
    "tiled:256x128x8:8x16:s2:p4:g8:k1:w8",  "tiled:256x128x16:16x8:s1:p4:g8:k1:w8",
    "tiled:128x256x8:8x16:s2:p4:g8:k1:w8",  "tiled:128x64x16:8x8:s2:p4:g8:k1:w8",
    "tiled:64x64x16:8x8:s2:p4:g8:k1:w8",    "tiled:64x64x16:4x4:s2:p4:g8:k1:w8",
    "tiled:128x128x32:8x8:s1:p4:g8:k1:w8",  "tiled:128x128x16:8x8:s2:p4:g1:k1:w8"};
const char* const tilings_f64[] = {"tiled:64x64x16:4x4:s2:p4:g8:k1:w8",  "tiled:64x64x8:4x4:s2:p4:g8:k1:w8",
                                   "tiled:64x64x16:8x4:s2:p4:g8:k1:w8",  "tiled:128x64x8:8x4:s2:p4:g8:k1:w8",
                                   "tiled:128x64x8:8x8:s2:p4:g8:k1:w8",  "tiled:64x64x8:8x8:s2:p4:g8:k1:w8",
                                   "tiled:128x128x8:8x8:s2:p4:g8:k1:w8", "tiled:128x128x8:8x8:s1:p4:g8:k1:w8",
                                   "tiled:64x64x16:4x4:s1:p4:g8:k1:w8",  "tiled:128x64x8:8x4:s2:p4:g8:k1:w4"};
const char* const tilings_half[] = {
    "matrices:128x128x32:64x64:s2:p8:g8:k1:f16x16x16",  "matrices:128x128x32:64x32:s2:p8:g8:k1:f16x16x16",
    "matrices:128x128x32:32x64:s2:p8:g8:k1:f16x16x16",  "matrices:128x128x32:64x64:s1:p8:g8:k1:f16x16x16",
    "matrices:256x128x32:64x64:s1:p8:g8:k1:f16x16x16",  "matrices:128x256x32:64x64:s1:p8:g8:k1:f16x16x16",
    "matrices:256x128x16:64x64:s2:p8:g8:k1:f16x16x16",  "matrices:128x128x64:64x64:s1:p8:g8:k1:f16x16x16",
    "matrices:128x128x64:64x32:s1:p8:g8:k1:f16x16x16",  "matrices:128x128x32:64x64:s2:p0:g8:k1:f16x16x16",
    "matrices:256x128x32:64x32:s1:p8:g8:k1:f16x16x16",  "matrices:128x64x32:64x32:s2:p8:g8:k1:f16x16x16",
    "matrices:64x64x32:32x32:s2:p8:g8:k1:f16x16x16",    "matrices:128x128x32:64x64:s2:p8:g8:k1:f16x8x16",
    "matrices:256x128x32:128x64:s1:p8:g8:k1:f16x16x16", "matrices:128x128x32:64x64:s2:p8:g1:k1:f16x16x16"};

std::vector<std::string> candidates(Type type) {
  const auto list = [](const auto& all) { return std::vector<std::string>(std::begin(all), std::end(all)); };
  if (type == Type::f64) return list(tilings_f64);
  return type == Type::f32 ? list(tilings_f32) : list(tilings_half);
}

// Smaller tiles and splits, for products that fill few teams.
std::vector<std::string> small_candidates(Type type) {
  std::vector<std::string> all;
  for (const int splits : {1, 2, 4, 8}) {
    if (type == Type::f32 || type == Type::f64) {
      const char* const pad_and_order = "s2:p4:g8";
      for (const char* tile : {"64x64x16:4x4", "64x64x16:8x4", "32x32x16:2x4", "128x64x16:8x8"})
        all.push_back(fmt::format("tiled:{}:{}:k{}:w8", tile, pad_and_order, splits));
      if (type == Type::f32) all.push_back(fmt::format("tiled:128x128x16:8x8:s2:p4:g8:k{}:w8", splits));
      all.push_back(fmt::format("tiled:32x32x32:4x2:s2:p4:g8:k{}:w8", splits));
    } else {
      for (const char* tile : {"64x64x32:32x32", "128x64x32:64x32", "64x64x64:32x32", "32x64x64:16x32"})
        all.push_back(fmt::format("matrices:{}:s2:p8:g8:k{}:f16x16x16", tile, splits));
    }
  }
  return all;
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

void run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3)
    throw Error(ErrorKind::bad_argument, "[matmul_bench] expected: device types sizes [tiling ...]");
  const auto device = Device::open(arguments[0]);
  describe(*device);
  for (const std::string& type_name : split(arguments[1]))
    for (const std::string& size : split(arguments[2])) {
      const Type type = type_from(type_name);
      Work work = make_work(*device, type, size);
      std::vector<std::string> tilings(arguments.begin() + 3, arguments.end());
      const bool is_small = uint64_t{work.shape.m} * work.shape.n < 2048u * 1024u;
      if (tilings.empty()) tilings = is_small ? small_candidates(type) : candidates(type);
      if (arguments.size() == 3) tilings.push_back("chosen");
      for (const std::string& text : tilings) {
        const bool chosen = text == "chosen";
        const MatmulTiling tiling =
            chosen ? choose_tiling(work.shape, device->limits()) : ops::tiling_from_text(text);
        try_tiling(*device, work, tiling, chosen ? "chosen " : "");
      }
    }
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
