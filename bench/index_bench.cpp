// Times ways to gather and to add 4M f32 at random places: index_bench DEVICE [n=4194304] [word...]
// Only lines whose names contain a word; one JSON object a line. "us" is the least of some queues of calls.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <functional>
#include <random>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "ops/gather.hpp"
#include "ops/scatter_places.hpp"

namespace adit::bench {
namespace {

using namespace kernel;
using ops::BucketTuning;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Bench {
  std::shared_ptr<Device> device;
  std::vector<std::string> words;
  uint32_t n = 1u << 22;
  std::vector<float> values;
  std::vector<int32_t> places;
  Buffer x, indices, output;

  bool wanted(const std::string& name) const {
    return words.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
             return name.find(word) != std::string::npos;
           });
  }

  Buffer upload(const void* data, uint64_t bytes) const {
    const Buffer buffer = device->allocate(bytes);
    device->write(buffer, data, bytes);
    return buffer;
  }

  void prepare() {
    std::mt19937_64 random(7);
    std::normal_distribution<float> normal;
    for (uint32_t i = 0; i < n; ++i) values.push_back(normal(random));
    for (uint32_t i = 0; i < n; ++i) places.push_back(static_cast<int32_t>(random() % n));
    x = upload(values.data(), uint64_t{n} * 4);
    indices = upload(places.data(), uint64_t{n} * 4);
    output = device->allocate(uint64_t{n} * 4);
  }

  // `call` queues the work once.
  void time(const std::string& name, const std::string& note, const std::function<void()>& call) const {
    for (int i = 0; i < 3; ++i) call();
    device->wait();
    double start = now();
    for (int i = 0; i < 10; ++i) call();
    device->wait();
    const int repeats = std::clamp(static_cast<int>(0.02 / ((now() - start) / 10)), 3, 400);
    std::vector<double> times;
    for (int round = 0; round < 5; ++round) {
      start = now();
      for (int i = 0; i < repeats; ++i) call();
      device->wait();
      times.push_back((now() - start) / repeats * 1e6);
    }
    std::sort(times.begin(), times.end());
    fmt::print("{{\"work\": \"{}\", \"us\": {:.1f}, \"most\": {:.1f}{}}}\n", name, times.front(),
               times.back(), note);
    std::fflush(stdout);
  }

  // Refusals of a device are lines like others.
  void attempt(const std::string& name, const std::function<void()>& work) const {
    if (!wanted(name)) return;
    try {
      work();
    } catch (const std::exception& error) {
      fmt::print("{{\"work\": \"{}\", \"refused\": \"{}\"}}\n", name, error.what());
    }
  }
};

// --- gather ---

Value place_in(Value index, uint32_t n) { return convert(min(max(index, 0), index.like(n - 1)), Type::u32); }

// `each` elements an invocation, side by side.
Program gather_vectors(uint32_t n, uint32_t lanes, int each) {
  Builder k("gather_vectors", Team::one(lanes));
  const Array out = k.buffer("out", Type::f32, Access::write), x = k.buffer("x", Type::f32, Access::read);
  const Array indices = k.buffer("indices", Type::i32, Access::read);
  const Value team = k.team();
  if (each == 1) {
    out[team] = x[place_in(indices[team], n)].get();
    return k.finish();
  }
  std::vector<Value> found;
  const int width = std::min(each, 4);
  for (int v = 0; v < each / width; ++v) {
    const Value four = indices.load_vector(team * (each / width) + v, width);
    for (int j = 0; j < width; ++j) found.push_back(place_in(four[j], n));
  }
  for (Value& place : found) place = x[place];
  for (int v = 0; v < each / width; ++v) {
    const auto at = [&](int j) { return found[static_cast<size_t>(v * width + j)]; };
    out.store(team * (each / width) + v,
              width == 2 ? k.pack({at(0), at(1)}) : k.pack({at(0), at(1), at(2), at(3)}));
  }
  return k.finish();
}

// `each` elements a lane, a team's width apart.
Program gather_strides(uint32_t n, uint32_t lanes, uint32_t each) {
  Builder k("gather_strides", Team::many(lanes));
  const Array out = k.buffer("out", Type::f32, Access::write), x = k.buffer("x", Type::f32, Access::read);
  const Array indices = k.buffer("indices", Type::i32, Access::read);
  const Value first = k.team() * (lanes * each) + k.lane();
  std::vector<Value> found;
  for (uint32_t j = 0; j < each; ++j) found.push_back(indices[first + j * lanes]);
  for (Value& index : found) index = x[place_in(index, n)];
  for (uint32_t j = 0; j < each; ++j) out[first + j * lanes] = found[j];
  return k.finish();
}

void gathers(const Bench& bench) {
  Device& device = *bench.device;
  const auto run = [&](const std::string& name, const Program& program, uint64_t teams, const Buffer& out,
                       const Buffer& x, const Buffer& indices, const std::vector<int32_t>& places) {
    const auto kernel = device.compile(program);
    device.fill(out, 0xffffffff);
    device.run(*kernel, teams, {out, x, indices});
    std::vector<float> got(bench.n);
    device.read(out, got.data(), got.size() * 4);
    bool right = true;
    for (uint32_t i = 0; i < bench.n; ++i) right &= got[i] == bench.values[static_cast<size_t>(places[i])];
    bench.time(name, fmt::format(", \"right\": {}", right), [&] {
      device.run(*kernel, teams, {out, x, indices});
    });
  };
  for (const uint32_t lanes : {64u, 128u, 256u, 512u, 1024u})
    for (const int each : {1, 2, 4, 8}) {
      const std::string name = fmt::format("gather_vectors_{}x{}", lanes, each);
      bench.attempt(name, [&] {
        run(name, gather_vectors(bench.n, lanes, each), bench.n / static_cast<uint32_t>(each), bench.output,
            bench.x, bench.indices, bench.places);
      });
    }
  for (const uint32_t lanes : {128u, 256u, 512u, 1024u})
    for (const uint32_t each : {2u, 4u, 8u, 16u, 32u}) {
      const std::string name = fmt::format("gather_strides_{}x{}", lanes, each);
      bench.attempt(name, [&] {
        run(name, gather_strides(bench.n, lanes, each), bench.n / (lanes * each), bench.output, bench.x,
            bench.indices, bench.places);
      });
    }
  // Where the time goes: places in order, near each other, in few pages; and tensors in one large block.
  for (const uint32_t window : {1u, 1u << 10, 1u << 14, 1u << 17, 1u << 19, 1u << 20, 1u << 21, 1u << 22}) {
    const std::string name = fmt::format("gather_window_{}", window);
    bench.attempt(name, [&] {
      std::vector<int32_t> places(bench.n);
      std::mt19937 random(3);
      for (uint32_t i = 0; i < bench.n; ++i)
        places[i] = static_cast<int32_t>(i / window * window + random() % window);
      const Buffer near = bench.upload(places.data(), uint64_t{bench.n} * 4);
      run(name, gather_vectors(bench.n, 256, 1), bench.n, bench.output, bench.x, near, places);
      // Random over the first `window` elements only.
      for (uint32_t i = 0; i < bench.n; ++i) places[i] = static_cast<int32_t>(random() % window);
      const Buffer few = bench.upload(places.data(), uint64_t{bench.n} * 4);
      run(name + "_first", gather_vectors(bench.n, 256, 1), bench.n, bench.output, bench.x, few, places);
    });
  }
  // As many pages as ever, but few lines of the cache: tells one's limits from the other's.
  for (const uint32_t step : {8u, 64u, 1024u, 16384u}) {
    const std::string name = fmt::format("gather_spread_{}", step);
    bench.attempt(name, [&] {
      std::vector<int32_t> places(bench.n);
      std::mt19937 random(3);
      for (int32_t& place : places) place = static_cast<int32_t>(random() % (bench.n / step) * step);
      const Buffer spread = bench.upload(places.data(), uint64_t{bench.n} * 4);
      run(name, gather_vectors(bench.n, 256, 1), bench.n, bench.output, bench.x, spread, places);
    });
  }
  ops::GatherPlan plan;
  plan.table = plan.count = bench.n;
  const auto phased = [&](const std::string& name, const ops::GatherTuning& tuning) {
    bench.attempt(name, [&] {
      const ops::PhasedGather made = ops::phased_gather(plan, tuning);
      run(name, made.program, made.teams, bench.output, bench.x, bench.indices, bench.places);
    });
  };
  if (const auto chosen = ops::choose_phases(plan, device.limits()))
    phased(fmt::format("gather_chosen_{}x{}_{}", chosen->lanes, chosen->each, chosen->phases), *chosen);
  for (const uint32_t phases : {2u, 4u, 8u, 16u})
    for (const auto& [lanes, each] : {std::pair{512u, 4u}, {512u, 8u}, {512u, 16u}, {1024u, 16u}})
      phased(fmt::format("gather_phases_{}x{}_{}", lanes, each, phases), {lanes, each, phases});
  bench.attempt("gather_one_block", [&] {
    const uint64_t bytes = uint64_t{bench.n} * 4;
    const Buffer block = device.allocate(uint64_t{1} << 30);
    const Buffer out = block.slice(0, bytes), x = block.slice(bytes, bytes),
                 indices = block.slice(2 * bytes, bytes);
    device.write(x, bench.values.data(), bytes);
    device.write(indices, bench.places.data(), bytes);
    run("gather_one_block", gather_vectors(bench.n, 256, 1), bench.n, out, x, indices, bench.places);
    run("gather_one_block_4", gather_vectors(bench.n, 256, 4), bench.n / 4, out, x, indices, bench.places);
  });
}

// --- scatter ---

// One atomic for each update, as a measure of what the device can do.
Program plain_atomics(uint32_t n, Type type) {
  Builder k("plain_atomics", Team::one(256));
  const Array out = k.buffer("out", type, Access::read_write), x = k.buffer("x", Type::f32, Access::read);
  const Array indices = k.buffer("indices", Type::i32, Access::read);
  const Value team = k.team(), term = x[team];
  out.atomic_add(place_in(indices[team], n),
                 type == Type::f32 ? term : convert(bitcast(term, Type::u32), type));
  return k.finish();
}

// Sums in f64, and what an f32 sum rounded once may differ by.
bool is_right(const Bench& bench, const std::vector<float>& got) {
  std::vector<double> want(bench.n), size(bench.n);
  for (uint32_t i = 0; i < bench.n; ++i) {
    want[static_cast<size_t>(bench.places[i])] += bench.values[i];
    size[static_cast<size_t>(bench.places[i])] += std::abs(bench.values[i]);
  }
  for (uint32_t i = 0; i < bench.n; ++i)
    if (!(std::abs(got[i] - want[i]) <= std::abs(want[i]) * 0x1.01p-24 + size[i] * 0x1p-36)) return false;
  return true;
}

struct Sequence {
  std::vector<std::shared_ptr<const Kernel>> kernels;
  std::vector<std::vector<Argument>> arguments;
  std::vector<Buffer> fills;
  const ops::Scatter& work;

  Sequence(const Bench& bench, const ops::Scatter& scatter) : work(scatter) {
    Device& device = *bench.device;
    std::vector<Buffer> buffers{bench.output, bench.indices, bench.x};
    if (!work.writes_all) fills.push_back(bench.output);
    for (const ops::Scratch& scratch : work.scratch) {
      buffers.push_back(device.allocate(scratch.bytes));
      if (scratch.zeroed) fills.push_back(buffers.back());
    }
    for (const ops::ScatterPass& pass : work.passes) {
      kernels.push_back(device.compile(pass.program));
      auto& list = arguments.emplace_back();
      for (const uint8_t number : pass.arguments) list.emplace_back(buffers[number]);
    }
  }
  // The fills and the first `passes` kernels.
  void run(Device& device, size_t passes) const {
    for (const Buffer& buffer : fills) device.fill(buffer, 0);
    for (size_t i = 0; i < std::min(passes, kernels.size()); ++i)
      device.run(*kernels[i], work.passes[i].teams, arguments[i]);
  }
};

void scatter(const Bench& bench, const std::string& name, const ops::Scatter& work, bool in_parts) {
  Device& device = *bench.device;
  const Sequence sequence(bench, work);
  device.fill(bench.output, work.writes_all ? 0xffffffff : 0);
  sequence.run(device, 99);
  std::vector<float> first(bench.n), second(bench.n);
  device.read(bench.output, first.data(), first.size() * 4);
  sequence.run(device, 99);
  device.read(bench.output, second.data(), second.size() * 4);
  const std::string note =
      fmt::format(", \"right\": {}, \"repeats\": {}", is_right(bench, first), first == second);
  bench.time(name, note, [&] { sequence.run(device, 99); });
  if (in_parts)
    for (size_t passes = 0; passes < work.passes.size(); ++passes)
      bench.time(fmt::format("{} first {} passes", name, passes), "", [&] { sequence.run(device, passes); });
}

void scatters(const Bench& bench) {
  Device& device = *bench.device;
  for (const Type type : {Type::f32, Type::u32, Type::u64}) {
    const std::string name = fmt::format("scatter_plain_atomics_{}", name_of(type));
    bench.attempt(name, [&] {
      const Buffer out = device.allocate(uint64_t{bench.n} * 8);
      device.fill(out, 0);
      const auto kernel = device.compile(plain_atomics(bench.n, type));
      bench.time(name, "", [&] { device.run(*kernel, bench.n, {out, bench.x, bench.indices}); });
    });
  }
  ops::ScatterPlan plan;
  plan.index_type = Type::i32;
  plan.updates = bench.n;
  plan.indexed = {{bench.n, 1}};
  plan.from_zero = true;
  const ops::ScatterTarget target = ops::scatter_target(device);
  bench.attempt("scatter_atomics", [&] {
    scatter(bench, "scatter_atomics", ops::scatter(plan, target, ops::ScatterMethod::atomics), true);
  });
  const ops::Places places(plan);
  const auto buckets = [&](const std::string& name, const BucketTuning& tuning, bool in_parts = false) {
    bench.attempt(name, [&] { scatter(bench, name, ops::add_by_buckets(places, target, tuning), in_parts); });
  };
  buckets("scatter_buckets", {}, true);
  for (const uint32_t lanes : {256u, 512u, 1024u})
    for (const uint32_t each : {4u, 8u, 16u, 32u}) {
      BucketTuning t;
      t.count_lanes = lanes, t.count_each = each;
      buckets(fmt::format("scatter_count_{}x{}", lanes, each), t);
    }
  for (const uint32_t lanes : {256u, 512u, 1024u})
    for (const uint32_t each : {8u, 16u}) {
      BucketTuning t;
      t.sort_lanes = lanes, t.sort_each = each;
      buckets(fmt::format("scatter_sort_{}x{}", lanes, each), t);
    }
  for (const bool words64 : {true, false})
    for (const auto& [lanes, each] :
         {std::pair{256u, 17u}, {512u, 1u}, {512u, 5u}, {512u, 9u}, {1024u, 5u}}) {
      BucketTuning t;
      t.sum_lanes = lanes, t.sum_each = each, t.words64 = words64;
      buckets(fmt::format("scatter_sum_{}_{}x{}", words64 ? "u64" : "u32", lanes, each), t);
    }
}

}  // namespace
}  // namespace adit::bench

int main(int argc, char** argv) {
  using namespace adit::bench;
  try {
    Bench bench;
    bench.device = adit::Device::open(argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; ++i)
      if (std::sscanf(argv[i], "n=%u", &bench.n) != 1) bench.words.emplace_back(argv[i]);
    bench.prepare();
    gathers(bench);
    scatters(bench);
  } catch (const std::exception& error) {
    fmt::print(stderr, "index_bench: {}\n", error.what());
    return 1;
  }
}
