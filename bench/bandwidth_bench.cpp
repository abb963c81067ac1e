// The cpu device beside plain C++ on the same threads: a sum of 16M f32, and an addition of 16M.
// The two sides take turns, so that whatever else the machine does falls on both.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <numeric>
#include <thread>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::bench {
namespace {

using namespace kernel;
constexpr uint32_t count = 16u << 20, pieces = 1024;

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

// As fast as this machine reads: whole vectors, sixteen sums side by side.
typedef float Four __attribute__((vector_size(16)));
float plain_sum(const float* x, size_t n) {
  Four sums[16] = {};
  for (size_t i = 0; i < n; i += 64)
    for (int k = 0; k < 16; ++k) {
      Four four;
      __builtin_memcpy(&four, x + i + k * 4, sizeof four);
      sums[k] += four;
    }
  float total = 0;
  for (const Four& s : sums) total += s[0] + s[1] + s[2] + s[3];
  return total;
}

void on_all_threads(unsigned threads, const std::function<void(size_t begin, size_t end)>& work) {
  std::vector<std::thread> others;
  const size_t share = count / threads;
  for (unsigned t = 1; t < threads; ++t)
    others.emplace_back([&, t] { work(t * share, t + 1 == threads ? count : (t + 1) * share); });
  work(0, share);
  for (std::thread& other : others) other.join();
}

Program partial_sums() {
  Builder k("partial_sums", Team::many(256));
  const Array x = k.buffer("x", Type::f32, Access::read),
              partial = k.buffer("partial", Type::f32, Access::write);
  const Value chunk = k.scalar("chunk", Type::u32), team = k.team();
  const Value sum = k.reduce(chunk, Reduction::add, [&](Value i) -> Value { return x[team * chunk + i]; });
  k.once([&] { partial[team] = sum; });
  return k.finish();
}

Program addition() {
  Builder k("addition", Team::one());
  const Array a = k.buffer("a", Type::f32, Access::read), b = k.buffer("b", Type::f32, Access::read),
              c = k.buffer("c", Type::f32, Access::write);
  const Value i = k.team();
  c[i] = Value(a[i]) + Value(b[i]);
  return k.finish();
}

void run() {
  const auto device = Device::open("cpu");
  const unsigned threads = std::max(1u, std::thread::hardware_concurrency());
  const Buffer a = device->allocate(count * 4), b = device->allocate(count * 4),
               c = device->allocate(count * 4), partial = device->allocate(pieces * 4),
               total = device->allocate(4);
  device->fill(a, 0x3f800000);
  device->fill(b, 0x3f800000);
  device->fill(c, 0);
  const auto sum_kernel = device->compile(partial_sums()), add_kernel = device->compile(addition());
  const auto* host_a = reinterpret_cast<const float*>(a.address());
  const auto* host_b = reinterpret_cast<const float*>(b.address());
  auto* host_c = reinterpret_cast<float*>(c.address());
  std::vector<double> ours, plain, our_add, plain_add;
  for (int repeat = 0; repeat < 41; ++repeat) {
    ours.push_back(seconds([&] {
      device->run(*sum_kernel, pieces, {a, partial, count / pieces});
      device->run(*sum_kernel, 1, {partial, total, pieces});
    }));
    std::vector<float> sums(threads);
    plain.push_back(seconds([&] {
      on_all_threads(threads, [&](size_t begin, size_t end) {
        sums[begin / (count / threads)] = plain_sum(host_a + begin, end - begin);
      });
    }));
    float result = 0;
    device->read(total, &result, 4);
    if (result != static_cast<float>(count) || std::accumulate(sums.begin(), sums.end(), 0.0f) != result)
      throw Error(ErrorKind::internal, "[bandwidth] a sum is wrong");
    our_add.push_back(seconds([&] { device->run(*add_kernel, count, {a, b, c}); }));
    plain_add.push_back(seconds([&] {
      on_all_threads(threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i) host_c[i] = host_a[i] + host_b[i];
      });
    }));
  }
  const double bytes = 4.0 * count;
  fmt::print("sum of 16M f32: adit {:.1f} GB/s, plain C++ {:.1f} GB/s, ratio {:.2f}\n",
             bytes / median(ours) / 1e9, bytes / median(plain) / 1e9, median(plain) / median(ours));
  fmt::print("add of 16M f32: adit {:.1f} GB/s, plain C++ {:.1f} GB/s, ratio {:.2f}\n",
             3 * bytes / median(our_add) / 1e9, 3 * bytes / median(plain_add) / 1e9,
             median(plain_add) / median(our_add));
}

}  // namespace
}  // namespace adit::bench

int main() {
  try {
    adit::bench::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "bandwidth_bench: {}\n", error.what());
    return 1;
  }
}
