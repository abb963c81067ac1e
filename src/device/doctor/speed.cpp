#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>

#include <adit/doctor.hpp>
#include <adit/kernel/builder.hpp>

#include "device/doctor/child.hpp"
#include "device/doctor/probes.hpp"
#include "native/compile.hpp"
#include "spirv/emit.hpp"
#include "support/stopwatch.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// c = a + b, `width` elements an invocation.
Program addition(int width) {
  Builder k(fmt::format("bench_add{}", width), Team::one(256));
  const Array a = k.buffer("a", Type::f32, Access::read), b = k.buffer("b", Type::f32, Access::read);
  const Array c = k.buffer("c", Type::f32, Access::write);
  const Value i = k.team();
  if (width == 1) {
    c[i] = a[i].get() + b[i].get();
  } else {
    const Value x = a.load_vector(i, width), y = b.load_vector(i, width);
    c.store(i, k.pack({x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]}));
  }
  return k.finish();
}

Program increment() {
  Builder k("bench_increment", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read_write);
  const Value i = k.team();
  x[i] = x[i].get() + 1.0f;
  return k.finish();
}

// partial[team] = the sum of the team's `chunk` elements
Program partial_sums() {
  Builder k("bench_sum", Team::many(256));
  const Array x = k.buffer("x", Type::f32, Access::read),
              partial = k.buffer("partial", Type::f32, Access::write);
  const Value chunk = k.scalar("chunk", Type::u32), team = k.team();
  const Value sum = k.reduce(chunk, Reduction::add, [&](Value i) -> Value { return x[team * chunk + i]; });
  k.once([&] { partial[team] = sum; });
  return k.finish();
}

class Stopwatch {
 public:
  Stopwatch(Device& device, std::vector<Measurement>& results) : device_(device), results_(results) {}

  void launches() {
    const auto kernel = device_.compile(increment());
    const Buffer x = device_.allocate(64 * 4);
    device_.fill(x, 0);
    const double one = median_seconds([&] {
      device_.run(*kernel, 64, {x});
      device_.wait();
    });
    add("launch", "one small kernel, submitted and waited for", one * 1e6, "us");
    const double batch = median_seconds([&] {
      for (int i = 0; i < 1000; ++i) device_.run(*kernel, 64, {x});
      device_.wait();
    });
    add("dependent", "each of 1,000 dependent small kernels", batch * 1e3, "us");
  }

  void small_additions() {
    const Addition work(device_, 1024);
    const double batch = median_seconds([&] {
      for (int i = 0; i < 1000; ++i) work.run();
      device_.wait();
    });
    add("add_1024", "add of 1,024 f32, each of 1,000", batch * 1e3, "us");
  }

  void addition_of(const std::string& key, const std::string& name, uint64_t count) {
    if (!has_room(count * 12)) return;
    const Addition work(device_, count);
    const int in_queue =
        device_.info().kind == DeviceKind::cpu || device_.info().kind == DeviceKind::software ? 1 : 20;
    const double seconds = median_seconds([&] {
      for (int i = 0; i < in_queue; ++i) work.run();
      device_.wait();
    });
    add(key, name, static_cast<double>(count) * 12 * in_queue / seconds / 1e9, "GB/s");
  }

  void sum_of_16m() {
    const uint32_t count = 16u << 20, teams = 1024;
    if (!has_room(uint64_t{count} * 4)) return;
    const auto kernel = device_.compile(partial_sums());
    const Buffer x = device_.allocate(uint64_t{count} * 4), partial = device_.allocate(teams * 4);
    const Buffer total = device_.allocate(4);
    device_.fill(x, 0x3f800000);
    const double seconds = median_seconds([&] {
      device_.run(*kernel, teams, {x, partial, count / teams});
      device_.run(*kernel, 1, {partial, total, teams});
      device_.wait();
    });
    const float sum = read_all<float>(device_, total, 1)[0];
    if (sum != static_cast<float>(count))
      throw Error(ErrorKind::internal, fmt::format("[bench] sum: expected {}, got {}", count, sum));
    add("sum_16m", "sum of 16M f32", static_cast<double>(count) * 4 / seconds / 1e9, "GB/s");
  }

  void compile_times() {
    add("describe", "describe an elementwise kernel", median_seconds([] { addition(1); }) * 1e3, "ms");
    const Program program = addition(1);
    spirv::Target target;
    target.max_lanes = program.team.lanes;
    add("spirv", "description to SPIR-V", median_seconds([&] { spirv::emit(program, target); }) * 1e3, "ms");
    if (native::available())
      add("object", "description to machine code",
          median_seconds([&] { native::emit_object(program); }) * 1e3, "ms");
  }

  void first_results(const std::string& program) {
    const auto child_ms = [&](const char* probe) {
      const ChildResult child = run_child(program, {"probe", probe, "--device", device_.info().id}, 120);
      const size_t word = child.output.find("ms ");
      return child.exit_status == 0 && word != std::string::npos
                 ? std::strtod(child.output.c_str() + word + 3, nullptr)
                 : 0.0;
    };
    if (program.empty()) return;
    const double cold = child_ms("first-result-cold");
    child_ms("first-result");  // fills the caches
    const double warm = child_ms("first-result");
    if (cold > 0) add("first_result_cold", "open to first result, no caches", cold, "ms");
    if (warm > 0) add("first_result_warm", "open to first result, warm caches", warm, "ms");
  }

 private:
  // One addition of a size, ready to be queued.
  class Addition {
   public:
    Addition(Device& device, uint64_t count)
        : device_(device),
          width_(device.info().kind == DeviceKind::cpu ? 1 : 4),
          kernel_(device.compile(addition(width_))) {
      for (Buffer& buffer : buffers_) {
        buffer = device.allocate(count * 4);
        device.fill(buffer, 0x3f800000);
      }
      teams_ = count / static_cast<uint64_t>(width_);
    }
    void run() const { device_.run(*kernel_, teams_, {buffers_[0], buffers_[1], buffers_[2]}); }

   private:
    Device& device_;
    int width_;
    std::shared_ptr<const Kernel> kernel_;
    Buffer buffers_[3];
    uint64_t teams_ = 0;
  };

  bool has_room(uint64_t bytes) const { return bytes <= device_.info().memory_bytes / 4; }
  void add(const std::string& key, const std::string& name, double value, const std::string& unit) {
    results_.push_back({key, name, value, unit});
  }

  Device& device_;
  std::vector<Measurement>& results_;
};

}  // namespace

std::vector<Measurement> measure_speed(Device& device, const std::string& program) {
  std::vector<Measurement> results;
  Stopwatch stopwatch(device, results);
  stopwatch.launches();
  stopwatch.small_additions();
  stopwatch.addition_of("add_16m", "add of 16M f32", 16u << 20);
  // A software device would need seconds for each.
  if (device.info().kind != DeviceKind::software)
    stopwatch.addition_of("add_64m", "add of 64M f32", 64u << 20);
  stopwatch.sum_of_16m();
  stopwatch.compile_times();
  stopwatch.first_results(program);
  device.trim();
  return results;
}

int measure_first_result(const std::string& device_id) {
  const auto start = Clock::now();
  const auto device = Device::open(device_id);
  const auto kernel = device->compile(addition(1));
  const std::vector<float> ones(1024, 1.0f);
  const Buffer out = device->allocate(ones.size() * 4);
  device->run(*kernel, ones.size(), {upload(*device, ones), upload(*device, ones), out});
  const bool right = read_all<float>(*device, out, ones.size()) == std::vector<float>(ones.size(), 2.0f);
  fmt::print("ms {:.3f}\n", seconds_since(start) * 1e3);
  return right ? 0 : 1;
}

}  // namespace adit::doctor
