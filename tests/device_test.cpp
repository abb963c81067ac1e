// What every device promises alike: arguments are checked, memory comes back, threads do not disturb each
// other.
#include <atomic>
#include <cerrno>
#include <sys/mman.h>
#include <thread>

#include <adit/kernel/builder.hpp>

#include "device/cpu/cpu.hpp"
#include "device/memory.hpp"
#include "device/vulkan/vulkan.hpp"
#include "devices.hpp"
#include "native/compile.hpp"

namespace adit::test {
namespace {

class Devices : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Devices, testing::ValuesIn(device_ids()), test_name);

Program scale_program() {
  Builder k("scale", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read), y = k.buffer("y", Type::f32, Access::write);
  const Value factor = k.scalar("factor", Type::f32), i = k.team();
  y[i] = Value(x[i]) * factor;
  return k.finish();
}

Program increment_program() {
  Builder k("increment", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read_write);
  const Value i = k.team();
  x[i] = Value(x[i]) + 1;
  return k.finish();
}

void expect_error(ErrorKind kind, const std::string& words, const std::function<void()>& f) {
  try {
    f();
    ADD_FAILURE() << "no error; expected \"" << words << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST_P(Devices, ArgumentsAreCheckedBeforeAnythingRuns) {
  Device& d = on();
  const auto kernel = d.compile(scale_program());
  const Buffer x = d.allocate(64), y = d.allocate(64);
  const uint64_t before = d.statistics().kernels_run;
  using enum ErrorKind;
  expect_error(bad_argument, "[scale] arguments: expected 3, got 2", [&] { d.run(*kernel, 16, {x, y}); });
  expect_error(bad_argument, "[scale] factor: expected f32, got f64", [&] {
    d.run(*kernel, 16, {x, y, 2.0});
  });
  expect_error(bad_argument, "[scale] factor: expected f32, got a buffer", [&] {
    d.run(*kernel, 16, {x, y, x});
  });
  expect_error(bad_argument, "[scale] y: expected a buffer, got u32", [&] {
    d.run(*kernel, 16, {x, 3u, 2.0f});
  });
  expect_error(bad_argument, "[scale] x: expected a buffer, got an empty handle", [&] {
    d.run(*kernel, 16, {Buffer(), y, 2.0f});
  });
  expect_error(bad_argument, "[scale] teams: expected at most", [&] {
    d.run(*kernel, uint64_t{1} << 33, {x, y, 2.0f});
  });
  float number = 0;
  expect_error(bad_argument, "[read] range: expected within 64 bytes, got 4 from 61 on",
               [&] { d.read(x, &number, 4, 61); });
  expect_error(bad_argument, "[write] range", [&] { d.write(x, &number, 65); });
  expect_error(bad_argument, "[copy] ranges: expected two that do not overlap",
               [&] { d.copy(x, x.slice(4, 60), 60); });
  expect_error(bad_argument, "[slice] range", [&] { (void)x.slice(60, 8); });
  expect_error(bad_argument, "[fill] buffer: expected whole 32-bit words", [&] { d.fill(x.slice(0, 6), 0); });
  EXPECT_EQ(d.statistics().kernels_run, before) << "something ran";
}

// Memory of a device that is none of those at hand: there may be only one.
struct ForeignMemory : Memory {
  ForeignMemory() : Memory(reinterpret_cast<const Device*>(this), 4096, 64) {}
};

TEST_P(Devices, BuffersOfAnotherDeviceAreRefused) {
  Device& d = on();
  const auto kernel = d.compile(scale_program());
  const uint64_t before = d.statistics().kernels_run;
  std::vector<Buffer> foreign{Buffer(std::make_shared<ForeignMemory>(), 0, 64)};
  for (const std::string& other : device_ids())
    if (other != GetParam()) foreign.push_back(device(other).allocate(64));
  float number = 0;
  for (const Buffer& theirs : foreign) {
    const Buffer own = d.allocate(64);
    const auto refused = [&](const std::function<void()>& f) {
      expect_error(ErrorKind::bad_argument, "got one of another device", f);
    };
    refused([&] { d.copy(theirs, own, 16); });
    refused([&] { d.copy(own, theirs, 16); });
    refused([&] { d.read(theirs, &number, 4); });
    refused([&] { d.write(theirs, &number, 4); });
    refused([&] { d.fill(theirs, 0); });
    refused([&] { d.run(*kernel, 16, {theirs, own, 2.0f}); });
    refused([&] { d.run(*kernel, 16, {own, theirs, 2.0f}); });
  }
  EXPECT_EQ(d.statistics().kernels_run, before) << "something ran";
}

TEST_P(Devices, AKernelIsCompiledOnceAndCounted) {
  Device& d = on();
  const auto first = d.compile(scale_program());
  const Statistics before = d.statistics();
  EXPECT_EQ(d.compile(scale_program()), first);
  const Buffer x = d.allocate(64), y = d.allocate(64);
  d.run(*first, 16, {x, y, 2.0f});
  d.run(*first, 0, {x, y, 2.0f});  // nothing to do
  d.wait();
  const Statistics after = d.statistics();
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.kernels_loaded, before.kernels_loaded);
  EXPECT_EQ(after.kernels_run, before.kernels_run + 1);
}

TEST_P(Devices, BadProgramsAreRefused) {
  Program broken = scale_program();
  broken.instructions[3].type = Type::f64;
  EXPECT_THROW(on().compile(broken), Error);
  Builder k("greedy", Team::many(64));
  const Array shared = k.shared(Type::f64, 1 << 20);
  k.once([&] { shared[0u] = 1; });
  const Program greedy = k.finish();
  if (on().limits().float64)
    expect_error(ErrorKind::unsupported, "shared memory", [&] { on().compile(greedy); });
  if (!on().limits().lanes_by_hand) {
    Builder lanes("by_hand", Team::many(64));
    lanes.barrier();
    const Program program = lanes.finish();
    expect_error(ErrorKind::unsupported, "by hand", [&] { on().compile(program); });
  }
}

TEST_P(Devices, MemoryThatIsFreedIsUsedAgain) {
  Device& d = on();
  { const Buffer warm = d.allocate(1 << 20); }
  const Statistics before = d.statistics();
  for (int k = 0; k < 10000; ++k) {
    const Buffer b = d.allocate(1 << 20);
    ASSERT_TRUE(b);
  }
  const Statistics after = d.statistics();
  EXPECT_EQ(after.bytes_held, before.bytes_held);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.allocations, before.allocations + 10000);
}

TEST_P(Devices, OutOfMemoryIsAnErrorAndNothingElseBreaks) {
  Device& d = on();
  const Statistics before = d.statistics();
  expect_error(ErrorKind::out_of_memory, "[allocate]", [&] { (void)d.allocate(uint64_t{1} << 60); });
  std::vector<Buffer> hoard;
  // Whole buffers of the largest size until the device has no more; on a CPU pages are not touched, so
  // nothing is lost.
  try {
    for (int k = 0; k < 4096; ++k)
      hoard.push_back(d.allocate(std::min<uint64_t>(d.limits().max_buffer_bytes, d.info().memory_bytes / 2)));
    ADD_FAILURE() << "never ran out";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory);
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos) << error.what();
  }
  hoard.clear();
  d.trim();
  EXPECT_EQ(d.statistics().bytes_in_use, before.bytes_in_use);
  const auto kernel = d.compile(increment_program());
  const Buffer x = d.allocate(64);
  d.fill(x, 41);
  d.run(*kernel, 16, {x});
  uint32_t got = 0;
  d.read(x, &got, 4);
  EXPECT_EQ(got, 42u);
}

TEST_P(Devices, AHundredThreadsAtOnce) {
  Device& d = on();
  const auto kernel = d.compile(increment_program());
  const uint64_t in_use = d.statistics().bytes_in_use;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 100; ++t)
    threads.emplace_back([&, t] {
      for (uint32_t round = 0; round < 5; ++round) {
        const Buffer x = d.allocate(256 * 4);
        d.fill(x, t * 1000);
        for (int k = 0; k < 10; ++k) d.run(*kernel, 256, {x});
        std::vector<uint32_t> got(256);
        d.read(x, got.data(), got.size() * 4);
        for (uint32_t v : got) wrong += v != t * 1000 + 10;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  d.wait();
  EXPECT_EQ(d.statistics().bytes_in_use, in_use);
}

TEST_P(Devices, BuffersMayBeDroppedElsewhere) {
  Device& d = on();
  const auto kernel = d.compile(increment_program());
  const uint64_t in_use = d.statistics().bytes_in_use;
  for (int round = 0; round < 50; ++round) {
    Buffer x = d.allocate(4096);
    d.fill(x, 0);
    for (int k = 0; k < 4; ++k) d.run(*kernel, 1024, {x});
    std::thread([moved = std::move(x)] {}).join();  // the work may still be queued
  }
  d.wait();
  EXPECT_EQ(d.statistics().bytes_in_use, in_use);
}

// Devices of their own: whoever ran before may hold those that are shared.
std::shared_ptr<Device> another(const std::string& id) {
  return id == "cpu" ? cpu::open() : vulkan::open(static_cast<uint32_t>(std::stoul(id.substr(7))));
}

TEST(Registry, AKernelRunsOnTheDeviceThatMadeIt) {
  for (const std::string& id : device_ids()) {
    const auto mine = another(id);
    const Buffer x = mine->allocate(64), y = mine->allocate(64);
    for (const std::string& other : device_ids()) {
      const auto theirs = another(other);
      const auto kernel = theirs->compile(scale_program());
      const std::string got = other == id ? "an earlier opening of it" : other;
      expect_error(ErrorKind::bad_argument,
                   "[scale] kernel: expected one that " + id + " compiled, got one of " + got, [&] {
                     mine->run(*kernel, 16, {x, y, 2.0f});
                   });
      expect_error(ErrorKind::bad_argument, "[scale] kernel: expected", [&] { mine->run(*kernel, 0, {}); });
    }
    EXPECT_EQ(mine->statistics().kernels_run, 0u) << id;
  }
}

// --- Compiled kernels ---

Program add_program(uint32_t number) {
  Builder k("add_" + std::to_string(number), Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read), y = k.buffer("y", Type::u32, Access::write);
  const Value i = k.team();
  y[i] = Value(x[i]) * 3 + number;
  return k.finish();
}

// Many programs, each forgotten as soon as it is queued: what nobody has is let go of, but not before it ran.
TEST(Registry, KernelsThatNobodyNeedsAreLetGoOf) {
  ::setenv("ADIT_CODE_MEMORY", "1", 1);
  for (const std::string& id : device_ids()) {
    const auto device = another(id);
    constexpr uint32_t count = 16, elements = 16;
    const std::vector<uint32_t> numbers(elements, 5);
    const Buffer x = device->allocate(4 * elements);
    device->write(x, numbers.data(), 4 * elements);
    std::vector<Buffer> results;
    std::weak_ptr<const Kernel> first;
    for (uint32_t i = 0; i < count; ++i) {
      const auto kernel = device->compile(add_program(i));
      if (i == 0) first = kernel;
      EXPECT_GT(kernel->bytes(), 10'000u);
      results.push_back(device->allocate(4 * elements));
      device->run(*kernel, elements, {x, results.back()});
    }
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t found[elements] = {};
      device->read(results[i], found, sizeof found);
      for (const uint32_t number : found) EXPECT_EQ(number, 15 + i) << id;
    }
    const Statistics now = device->statistics();
    EXPECT_LE(now.kernel_bytes, uint64_t{1} << 20) << id;
    EXPECT_LT(now.kernels_held, count) << id;
    EXPECT_GT(now.kernels_held, 0u) << id;
    EXPECT_TRUE(first.expired()) << id;
    // One that somebody has stays the same, whatever came meanwhile.
    const auto kept = device->compile(add_program(1000));
    for (uint32_t i = 0; i < count; ++i) device->compile(add_program(2000 + i));
    EXPECT_EQ(device->compile(add_program(1000)), kept) << id;
    uint32_t found[elements] = {};
    device->run(*kept, elements, {x, results[0]});
    device->read(results[0], found, sizeof found);
    EXPECT_EQ(found[0], 1015u);
  }
  ::unsetenv("ADIT_CODE_MEMORY");
}

TEST(Registry, TheBoundOnCodeIsChecked) {
  ::setenv("ADIT_CODE_MEMORY", "lots", 1);
  for (const std::string& id : device_ids())
    expect_error(ErrorKind::bad_argument, "ADIT_CODE_MEMORY: expected MiB", [&] { another(id); });
  ::unsetenv("ADIT_CODE_MEMORY");
}

TEST(Registry, MemoryThatRestsGoesBackToTheSystem) {
  std::vector<std::shared_ptr<Device>> devices;  // which rest at the same time
  for (const std::string& id : device_ids()) {
    const auto device = devices.emplace_back(another(id));
    device->fill(device->allocate(uint64_t{100} << 20), 1);
    device->wait();
    EXPECT_GE(device->statistics().bytes_held, uint64_t{100} << 20) << id;
  }
  for (const auto& device : devices) {
    const std::string id = device->info().id;
    for (int i = 0; i < 300 && device->statistics().bytes_held > 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(device->statistics().bytes_held, 0u) << id;
  }
}

TEST(Registry, ABufferMayOutliveItsDevice) {
  for (const std::string& id : device_ids()) {
    Buffer survivor;
    std::weak_ptr<Device> device;
    {
      const auto opened = another(id);
      device = opened;
      survivor = opened->allocate(1024);
      opened->fill(survivor, 0x5a5a5a5a);
      opened->wait();
    }
    EXPECT_TRUE(device.expired()) << id << ": the buffer holds its device";
    EXPECT_EQ(survivor.bytes(), 1024u);
    if (id != "cpu") continue;  // the host sees that memory
    const auto* words = reinterpret_cast<const uint32_t*>(survivor.address());
    for (int i = 0; i < 256; ++i) ASSERT_EQ(words[i], 0x5a5a5a5au);
    void* const page = reinterpret_cast<void*>(survivor.address() & ~uint64_t{0xffff});
    EXPECT_EQ(::msync(page, 4096, MS_ASYNC), 0);
    survivor = {};
    EXPECT_TRUE(::msync(page, 4096, MS_ASYNC) != 0 && errno == ENOMEM) << "its memory was not given back";
  }
}

TEST_P(Devices, WorkOfOneThreadKeepsItsOrder) {
  Device& d = on();
  const auto kernel = d.compile(increment_program());
  const Buffer a = d.allocate(4096), b = d.allocate(4096);
  for (uint32_t round = 0; round < 20; ++round) {
    d.fill(a, round);
    d.run(*kernel, 1024, {a});
    d.copy(a, b, 4096);
    d.run(*kernel, 1024, {b});
    d.fill(a, 7);
    std::vector<uint32_t> got(1024);
    d.read(b, got.data(), 4096);
    for (uint32_t v : got) ASSERT_EQ(v, round + 2);
  }
}

TEST_P(Devices, SlicesAddressTheirPart) {
  Device& d = on();
  const auto kernel = d.compile(increment_program());
  const Buffer whole = d.allocate(4096);
  d.fill(whole, 0);
  d.run(*kernel, 16, {whole.slice(256, 64)});
  std::vector<uint32_t> got(1024);
  d.read(whole, got.data(), 4096);
  for (uint32_t i = 0; i < 1024; ++i) ASSERT_EQ(got[i], i >= 64 && i < 80 ? 1u : 0u) << i;
}

TEST_P(Devices, ManyArgumentsGoThroughMemory) {
  Builder k("many_arguments", Team::one());
  std::vector<Array> buffers;
  for (int b = 0; b < 20; ++b)
    buffers.push_back(k.buffer("b" + std::to_string(b), Type::u32, Access::read_write));
  const Value byte = k.scalar("byte", Type::u8), wide = k.scalar("wide", Type::f32), i = k.team();
  for (int b = 0; b < 20; ++b)
    buffers[b][i] = Value(buffers[b][i]) + convert(byte, Type::u32) + convert_in_range(wide, Type::u32) * b;
  const Program program = k.finish();
  std::vector<Input> inputs;
  for (uint32_t b = 0; b < 20; ++b) inputs.push_back(Input::buffer(std::vector<uint32_t>(33, b)));
  inputs.push_back(Input::number(uint8_t{200}));
  inputs.push_back(Input::number(3.0f));
  check_program(on(), program, 33, inputs);
}

// A kernel so long that a CPU may have code for whole vectors alone: what is left of a dispatch is done too,
// and nothing beyond it.
TEST_P(Devices, LongKernelsRunAnyNumberOfTeams) {
  constexpr uint32_t steps = 600, room = 80;
  Builder k("long", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read_write);
  const Value i = k.team();
  Value state = x[i];
  for (uint32_t s = 0; s < steps; ++s) state = state * 1664525u + (s + 1);
  x[i] = state;
  const Program program = k.finish();
  ASSERT_GT(program.instructions.size(), 1000u);
  Device& d = on();
  const auto kernel = d.compile(program);
  const Buffer buffer = d.allocate(4 * room);
  for (const uint32_t teams : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 15u, 16u, 33u, 65u, 67u}) {
    std::vector<uint32_t> values(room), got(room);
    for (uint32_t t = 0; t < room; ++t) values[t] = 77 * t + teams;
    d.write(buffer, values.data(), 4 * room);
    d.run(*kernel, teams, {buffer});
    d.read(buffer, got.data(), 4 * room);
    for (uint32_t t = 0; t < room; ++t) {
      for (uint32_t s = 0; t < teams && s < steps; ++s) values[t] = values[t] * 1664525u + (s + 1);
      ASSERT_EQ(got[t], values[t]) << "team " << t << " of " << teams;
    }
  }
}

TEST(Registry, AnUnknownDeviceIsAnErrorThatListsWhatExists) {
  for (const char* name : {"gpu", "vulkan:77", "CPU", " "})
    expect_error(ErrorKind::not_found, "cpu (", [&] { Device::open(name); });
  setenv("ADIT_DEVICE", "nonsense", 1);
  expect_error(ErrorKind::not_found, "\"nonsense\" (from ADIT_DEVICE)", [] { Device::open(); });
  for (const DeviceInfo& d : Device::list()) EXPECT_FALSE(d.chosen);
  for (const std::string& id : device_ids()) {
    setenv("ADIT_DEVICE", id.c_str(), 1);
    EXPECT_EQ(Device::open()->info().id, id);
  }
  unsetenv("ADIT_DEVICE");
}

TEST(Registry, SoftwareVulkanIsNeverChosen) {
  int chosen = 0;
  for (const DeviceInfo& d : Device::list()) {
    EXPECT_FALSE(d.kind == DeviceKind::software && d.chosen);
    EXPECT_FALSE(d.reason.empty()) << d.id;
    chosen += d.chosen;
  }
  EXPECT_TRUE(chosen == 1 || (chosen == 0 && !native::available())) << chosen;
}

TEST(Registry, OneDeviceAProcess) {
  for (const std::string& id : device_ids()) EXPECT_EQ(Device::open(id), Device::open(id));
}

}  // namespace
}  // namespace adit::test
