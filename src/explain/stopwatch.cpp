// Times: each step of an executable, and what the device can do at best.
#include "support/stopwatch.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <mutex>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/matrix.hpp>

#include "explain/explain.hpp"

namespace adit::compile {

using kernel::Type;
using kernel::Value;

namespace {

// --- The device at its best -------------------------------------------------------------------------------

bool is_slow(const Device& device) { return device.info().kind == DeviceKind::software; }

// c = a + b, four elements an invocation on a GPU.
kernel::Program addition(bool gpu) {
  kernel::Builder k("explain_add", kernel::Team::one(256));
  const kernel::Array a = k.buffer("a", Type::f32, kernel::Access::read),
                      b = k.buffer("b", Type::f32, kernel::Access::read);
  const kernel::Array c = k.buffer("c", Type::f32, kernel::Access::write);
  const Value i = k.team();
  if (gpu) {
    const Value x = a.load_vector(i, 4), y = b.load_vector(i, 4);
    c.store(i, k.pack({x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3]}));
  } else {
    c[i] = a[i].get() + b[i].get();
  }
  return k.finish();
}

// partial[team] = the sum of the team's `chunk` elements
kernel::Program partial_sums() {
  kernel::Builder k("explain_sum", kernel::Team::many(256));
  const kernel::Array x = k.buffer("x", Type::f32, kernel::Access::read),
                      partial = k.buffer("partial", Type::f32, kernel::Access::write);
  const Value chunk = k.scalar("chunk", Type::u32), team = k.team();
  const Value sum =
      k.reduce(chunk, kernel::Reduction::add, [&](Value i) -> Value { return x[team * chunk + i]; });
  k.once([&] { partial[team] = sum; });
  return k.finish();
}

// `chains` independent chains of multiply-adds an invocation.
kernel::Program multiply_adds(Type type, int chains, int trips) {
  kernel::Builder k("explain_fma", kernel::Team::one(256));
  const kernel::Array out = k.buffer("out", type, kernel::Access::write);
  const Value i = k.team(), seed = convert(i, type);
  const Value factor = k.constant(type, 0.999), term = k.constant(type, 0.001);
  std::vector<kernel::Variable> sums;
  for (int c = 0; c < chains; ++c)
    sums.push_back(k.variable(seed + k.constant(type, static_cast<double>(c))));
  k.for_(k.constant(Type::u32, trips), [&](Value) {
    for (int round = 0; round < 4; ++round)
      for (const kernel::Variable& sum : sums) sum = fma(sum.get(), factor, term);
  });
  Value total = sums[0].get();
  for (size_t c = 1; c < sums.size(); ++c) total = total + sums[c].get();
  out[i] = total;
  return k.finish();
}

// The same with products of matrices; a team is four subgroups.
kernel::Program matrix_products(const kernel::MatrixShape& shape, uint32_t lanes, int chains, int trips) {
  using kernel::MatrixRole;
  kernel::Builder k("explain_matrices", kernel::Team::many(lanes));
  const kernel::Array out = k.buffer("out", shape.accumulator, kernel::Access::write);
  const auto filled = [&](Type type, double value, uint32_t rows, uint32_t columns, MatrixRole role) {
    return matrix_fill(k.constant(type, value), rows, columns, role);
  };
  const kernel::Matrix a = filled(shape.operand, 0.5, shape.m, shape.k, MatrixRole::a),
                       b = filled(shape.operand, 0.5, shape.k, shape.n, MatrixRole::b);
  std::vector<kernel::MatrixVariable> sums;
  for (int c = 0; c < chains; ++c)
    sums.emplace_back(filled(shape.accumulator, c, shape.m, shape.n, MatrixRole::accumulator));
  k.for_(k.constant(Type::u32, trips), [&](Value) {
    for (const kernel::MatrixVariable& sum : sums) sum = multiply_add(a, b, sum.get());
  });
  const Value place =
      (k.team() * k.constant(Type::u32, 4) + k.subgroup_number()) * k.constant(Type::u32, chains);
  for (int c = 0; c < chains; ++c)
    matrix_store(out, (place + k.constant(Type::u32, c)) * k.constant(Type::u32, shape.m * shape.n),
                 k.constant(Type::u32, shape.n), sums[static_cast<size_t>(c)].get());
  return k.finish();
}

class Measurer {
 public:
  explicit Measurer(Device& device) : device_(device), gpu_(device.info().kind != DeviceKind::cpu) {}

  Peaks run() {
    Peaks peaks;
    peaks.bytes = bandwidth();
    peaks.f32 = arithmetic(Type::f32);
    if (device_.limits().float64) peaks.f64 = arithmetic(Type::f64);
    for (const kernel::MatrixShape& shape : device_.limits().cooperative_matrices)
      if (shape.accumulator == Type::f32 && peaks.matrices == 0) peaks.matrices = products(shape);
    return peaks;
  }

 private:
  // The best of some runs: others on the machine can only make it slower. Several are in the queue, so that
  // the way to the device does not count.
  double rate(double amount, int in_queue, const std::function<void()>& work) {
    const auto batch = [&] {
      for (int i = 0; i < in_queue; ++i) work();
      device_.wait();
    };
    batch();
    double best = seconds_of(batch), spent = best;
    for (int round = 1; round < 3 || (spent < 0.03 && round < 100); ++round) {
      const double seconds = seconds_of(batch);
      best = std::min(best, seconds), spent += seconds;
    }
    return amount * in_queue / best;
  }
  int in_queue() const { return gpu_ && !is_slow(device_) ? 20 : 1; }

  // The better of reading alone, and reading and writing: a CPU reads what it writes before it does.
  double bandwidth() {
    const uint64_t count = is_slow(device_) ? 1u << 17 : 1u << 24;
    Buffer buffers[3];
    for (Buffer& buffer : buffers) {
      buffer = device_.allocate(count * 4);
      device_.fill(buffer, 0x3f800000);
    }
    const auto kernel = device_.compile(addition(gpu_));
    const double adding = rate(static_cast<double>(count) * 12, in_queue(), [&] {
      device_.run(*kernel, gpu_ ? count / 4 : count, {buffers[0], buffers[1], buffers[2]});
    });
    const uint32_t teams = is_slow(device_) ? 64 : 1024, chunk = static_cast<uint32_t>(count / teams);
    const auto summing = device_.compile(partial_sums());
    const double reading = rate(static_cast<double>(count) * 4, in_queue(), [&] {
      device_.run(*summing, teams, {buffers[0], buffers[2], chunk});
    });
    return std::max(adding, reading);
  }

  double arithmetic(Type type) {
    const int chains = 8, trips = is_slow(device_) ? 16 : 64;
    const uint64_t count = is_slow(device_) ? 1u << 10 : gpu_ ? 1u << 20 : 1u << 14;
    const auto kernel = device_.compile(multiply_adds(type, chains, trips));
    const Buffer out = device_.allocate(count * kernel::size_of(type));
    return rate(8.0 * chains * trips * static_cast<double>(count), in_queue(),
                [&] { device_.run(*kernel, count, {out}); });
  }

  double products(const kernel::MatrixShape& shape) {
    constexpr int chains = 4, trips = 256;
    constexpr uint64_t teams = 4096;
    const uint32_t lanes = 4 * device_.limits().subgroup_size;
    const auto kernel = device_.compile(matrix_products(shape, lanes, chains, trips));
    const Buffer out = device_.allocate(teams * 4 * chains * shape.m * shape.n * 4);
    return rate(2.0 * shape.m * shape.n * shape.k * chains * trips * 4 * teams, 4,
                [&] { device_.run(*kernel, teams, {out}); });
  }

  Device& device_;
  bool gpu_;
};

// --- The steps --------------------------------------------------------------------------------------------

bool overlap(const Location& a, const Location& b) {
  if (a.in != b.in) return false;
  if (a.in != Location::In::arena) return a.index == b.index;
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

// Whether a step gives the same when it is done again: a sum in place, or a list that grows, does not.
bool repeats(const Step& step) {
  const auto* work = std::get_if<KernelStep>(&step.work);
  if (!work) return true;
  const auto& parameters = work->kernel->parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].is_buffer || parameters[i].access == kernel::Access::read) continue;
    if (parameters[i].access == kernel::Access::read_write) return false;
    for (size_t k = 0; k < parameters.size(); ++k)
      if (k != i && parameters[k].is_buffer &&
          overlap(std::get<Location>(work->arguments[i]), std::get<Location>(work->arguments[k])))
        return false;
  }
  return true;
}

kernel::Program nothing() {
  kernel::Builder k("explain_nothing", kernel::Team::one());
  const kernel::Array x = k.buffer("x", Type::f32, kernel::Access::write);
  const Value i = k.team();
  x[i] = k.constant(Type::f32, 0.0);
  return k.finish();
}

class Stopwatch {
 public:
  Stopwatch(Device& device, const Executable& executable, std::span<const Buffer> inputs,
            std::span<const graph::Literal> numbers)
      : device_(device),
        executable_(executable),
        outputs_(executable.allocate_outputs(device)),
        arena_(executable.allocate_arena(device)),
        run_(device, inputs, numbers, outputs_, arena_) {}

  Times time() {
    Times times;
    until(executable_.steps().size());  // what waits for its first use is ready now
    device_.wait();
    for (size_t i = 0; i < executable_.steps().size(); ++i)
      times.steps.push_back(repeats(executable_.steps()[i]) ? queued(i) : after_the_others(i));
    std::vector<double> whole;
    for (int round = 0; round < rounds; ++round)
      whole.push_back(seconds_of([&] {
        until(executable_.steps().size());
        device_.wait();
      }));
    times.whole = median_of(whole);
    return times;
  }

 private:
  static constexpr int rounds = 5;

  void until(size_t end) {
    for (size_t i = 0; i < end; ++i) run_.perform(executable_.steps()[i]);
  }

  // Many of the same in the queue: the way to the device and back counts once.
  double queued(size_t i) {
    const auto batch = [&](int count) {
      return seconds_of([&] {
        for (int k = 0; k < count; ++k) run_.perform(executable_.steps()[i]);
        device_.wait();
      });
    };
    until(i);  // a step that was timed before may have left anything
    device_.wait();
    const double once = batch(1);
    const int count = static_cast<int>(std::clamp(2e-3 / std::max(once, 1e-7), 1.0, 200.0));
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) times.push_back(batch(count) / count);
    return median_of(times);
  }

  // All before it, then the step alone, less the way to the device and back.
  double after_the_others(size_t i) {
    const auto kernel = device_.compile(nothing());
    const Buffer place = device_.allocate(256);
    const double empty = median_seconds(
        [&] {
          device_.run(*kernel, 1, {place});
          device_.wait();
        },
        rounds, 1e-3);
    std::vector<double> times;
    for (int round = 0; round < rounds; ++round) {
      until(i);
      device_.wait();
      times.push_back(seconds_of([&] {
        run_.perform(executable_.steps()[i]);
        device_.wait();
      }));
    }
    return std::max(0.0, median_of(times) - empty);
  }

  Device& device_;
  const Executable& executable_;
  const std::vector<Buffer> outputs_;
  const Buffer arena_;
  Run run_;
};

}  // namespace

double Peaks::of(const Cost& cost, bool by_matrices) const {
  if (by_matrices) return matrices;
  return cost.type == DType::f64 ? f64 : f32;
}

const Peaks& peaks_of(Device& device) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, Peaks>;
  const std::lock_guard lock(mutex);
  const std::string key = device.info().id + " " + device.info().name + " " + device.info().driver;
  const auto it = known.find(key);
  return it != known.end() ? it->second : known.emplace(key, Measurer(device).run()).first->second;
}

Times measure(Device& device, const Executable& executable, std::span<const Buffer> inputs,
              std::span<const graph::Literal> numbers) {
  return Stopwatch(device, executable, inputs, numbers).time();
}

}  // namespace adit::compile
