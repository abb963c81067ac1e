// The Vulkan device: every usable one, once with its memory mapped (where it can be) and once with staging.
#include "device/vulkan/vulkan.hpp"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <random>
#include <stdlib.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>

#include "device/vulkan/hazards.hpp"
#include "device/vulkan/pipelines.hpp"
#include "support/cache.hpp"

namespace adit {
namespace {

using namespace kernel;

// The validation layer itself leaks, so the two are not checked in one build.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool leaks_are_checked = true;
#else
constexpr bool leaks_are_checked = false;
#endif

// Before anything touches Vulkan: a cache of our own, and validation where it is installed.
struct Surroundings {
  std::string folder;
  Surroundings() {
    if (!getenv("ADIT_TEST_CHILD")) {
      std::string name = (std::filesystem::temp_directory_path() / "adit-vulkan-test-XXXXXX").string();
      if (mkdtemp(name.data())) folder = name;
      setenv("ADIT_CACHE", folder.c_str(), 1);
    }
    if (!leaks_are_checked && !getenv("ADIT_VALIDATION") && vulkan::validation_available())
      setenv("ADIT_VALIDATION", "1", 1);
  }
  ~Surroundings() {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }
} surroundings;

struct Where {
  uint32_t index;
  bool staged;
};

std::vector<Where> everywhere() {
  std::vector<Where> all;
  const std::vector<DeviceInfo> infos = vulkan::list();
  for (uint32_t i = 0; i < infos.size(); ++i) {
    if (!infos[i].reason.empty()) continue;
    const bool may_map = infos[i].kind == DeviceKind::integrated || infos[i].kind == DeviceKind::software;
    if (may_map) all.push_back({i, false});
    all.push_back({i, true});
  }
  return all;
}

std::shared_ptr<Device> open(const Where& where) {
  return vulkan::open(where.index, [&](Limits& limits) { limits.unified_memory &= !where.staged; });
}

// y[i] = 3 x[i] + 1
Program step_program(const std::string& name = "step") {
  Builder k(name, Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read);
  const Array y = k.buffer("y", Type::u32, Access::write);
  const Value i = k.team();
  y[i] = x[i].get() * 3 + 1;
  return k.finish();
}

// x[i] += y[i]
Program add_program() {
  Builder k("add", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read_write);
  const Array y = k.buffer("y", Type::u32, Access::read);
  const Value i = k.team();
  x[i] = x[i].get() + y[i].get();
  return k.finish();
}

// x[i] = 3 x[i] + c
Program in_place_program() {
  Builder k("in_place", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read_write);
  const Value c = k.scalar("c", Type::u32), i = k.team();
  x[i] = x[i].get() * 3 + c;
  return k.finish();
}

class VulkanTest : public testing::TestWithParam<Where> {
 protected:
  std::shared_ptr<Device> device = open(GetParam());
  void SetUp() override {
    if (!GetParam().staged && !device->limits().unified_memory) GTEST_SKIP() << "its memory cannot be mapped";
  }
  void TearDown() override {
    device.reset();
    EXPECT_EQ(vulkan::validation_messages(), 0u) << "run with ADIT_LOG=info to read them";
  }
  Buffer upload(const std::vector<uint32_t>& values) {
    Buffer buffer = device->allocate(values.size() * 4);
    device->write(buffer, values.data(), values.size() * 4);
    return buffer;
  }
  std::vector<uint32_t> download(const Buffer& buffer) {
    std::vector<uint32_t> values(buffer.bytes() / 4);
    device->read(buffer, values.data(), buffer.bytes());
    return values;
  }
};

std::vector<uint32_t> counting(size_t n, uint32_t from = 0) {
  std::vector<uint32_t> values(n);
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST_P(VulkanTest, RunsAKernelAndCountsIt) {
  const auto kernel = device->compile(step_program());
  const Statistics before = device->statistics();
  for (size_t n : {1u, 63u, 64u, 65u, 1000u}) {
    const Buffer x = upload(counting(n)), y = device->allocate(n * 4);
    device->run(*kernel, n, {x, y});
    const auto result = download(y);
    for (size_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 3 * i + 1) << n;
  }
  EXPECT_EQ(device->statistics().kernels_run, before.kernels_run + 5);
  EXPECT_GE(device->statistics().batches, before.batches + 5);
}

TEST_P(VulkanTest, NoTeamsRunNothing) {
  const auto kernel = device->compile(step_program());
  const Buffer x = upload({7}), y = upload({9});
  const uint64_t before = device->statistics().kernels_run;
  device->run(*kernel, 0, {x, y});
  EXPECT_EQ(download(y)[0], 9u);
  EXPECT_EQ(device->statistics().kernels_run, before);
}

// More groups than one row of a dispatch may have on some devices: 65,535.
TEST_P(VulkanTest, ManyGroupsFoldIntoRows) {
  Builder k("fold", Team::one(1));
  const Array out = k.buffer("out", Type::u8, Access::write);
  const Value i = k.team();
  out[i] = convert(i % 251, Type::u8);
  const auto kernel = device->compile(k.finish());
  const uint64_t n = 65'535 * 2 + 17, spare = 300'000 - n;
  const Buffer buffer = device->allocate(300'000);
  device->fill(buffer, 0xffffffff);
  device->run(*kernel, n, {buffer});
  std::vector<uint8_t> out_bytes(n + spare);
  device->read(buffer, out_bytes.data(), out_bytes.size());
  for (uint64_t j = 0; j < n; ++j) ASSERT_EQ(out_bytes[j], j % 251) << j;
  for (uint64_t j = n; j < n + spare; ++j) ASSERT_EQ(out_bytes[j], 255) << j;
}

TEST_P(VulkanTest, DependentKernelsRunInOrder) {
  const auto in_place = device->compile(in_place_program());
  auto expected = counting(300);
  const Buffer x = upload(expected);
  for (uint32_t step = 0; step < 1000; ++step) {
    device->run(*in_place, expected.size(), {x, step});
    for (uint32_t& value : expected) value = value * 3 + step;
  }
  EXPECT_EQ(download(x), expected);
}

TEST_P(VulkanTest, KernelsCopiesFillsAndWritesRunInOrder) {
  const auto step = device->compile(step_program());
  const auto add = device->compile(add_program());
  const size_t n = 5000;
  std::mt19937 random(3);
  std::vector<std::vector<uint32_t>> host(4, counting(n));
  std::vector<Buffer> buffers;
  for (const auto& values : host) buffers.push_back(upload(values));
  for (int i = 0; i < 400; ++i) {
    const size_t a = random() % 4, b = (a + 1 + random() % 3) % 4, part = random() % (n - 1) + 1;
    switch (random() % 5) {
      case 0:
        device->run(*step, part, {buffers[a], buffers[b]});
        for (size_t j = 0; j < part; ++j) host[b][j] = host[a][j] * 3 + 1;
        break;
      case 1:
        device->run(*add, part, {buffers[a], buffers[b]});
        for (size_t j = 0; j < part; ++j) host[a][j] += host[b][j];
        break;
      case 2:
        device->copy(buffers[a].slice((n - part) * 4, part * 4), buffers[b], part * 4);
        std::copy_n(host[a].begin() + (n - part), part, host[b].begin());
        break;
      case 3:
        device->fill(buffers[a].slice(4, part * 4), static_cast<uint32_t>(i));
        std::fill_n(host[a].begin() + 1, part, i);
        break;
      case 4: {
        const auto fresh = counting(part, static_cast<uint32_t>(random()));
        device->write(buffers[a], fresh.data(), part * 4);
        std::copy(fresh.begin(), fresh.end(), host[a].begin());
        break;
      }
    }
  }
  for (int i = 0; i < 4; ++i) EXPECT_EQ(download(buffers[i]), host[i]) << i;
}

// What is dropped inside a batch is used again in it, and still each kernel sees its own.
TEST_P(VulkanTest, DroppedMemoryIsUsedAgainAtOnce) {
  const auto step = device->compile(step_program());
  const auto add = device->compile(add_program());
  const size_t n = 1000;
  std::vector<uint32_t> expected(n, 0);
  const Buffer sum = upload(expected), x = upload(counting(n));
  device->wait();
  const uint64_t held = device->statistics().bytes_held;
  for (int i = 0; i < 500; ++i) {
    const Buffer temporary = device->allocate(n * 4);
    device->run(*step, n, {x, temporary});
    device->run(*add, n, {sum, temporary});
    device->run(*add, n, {x, temporary});
  }
  auto host_x = counting(n);
  for (int i = 0; i < 500; ++i)
    for (size_t j = 0; j < n; ++j) {
      const uint32_t t = host_x[j] * 3 + 1;
      expected[j] += t;
      host_x[j] += t;
    }
  EXPECT_EQ(download(sum), expected);
  EXPECT_EQ(device->statistics().bytes_held, held);
}

// Who queues faster than the device works waits, so that minutes of work that nobody can take back do not
// pile up.
TEST_P(VulkanTest, WhatIsQueuedIsBounded) {
  Builder k("slow", Team::one());
  const Array x = k.buffer("x", Type::u32, Access::read_write);
  const Value i = k.team();
  const Variable y = k.variable(x[i].get());
  k.for_(k.constant(Type::u32, 2000), [&](Value) { y = y.get() * 1664525u + 1013904223u; });
  x[i] = y.get();
  const auto slow = device->compile(k.finish());
  constexpr uint32_t most = 1 << 24;
  const Buffer place = device->allocate(uint64_t{4} * most);
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  const auto once = [&](uint32_t n) {
    const auto start = Clock::now();
    device->run(*slow, n, {place});
    device->wait();
    return seconds(start);
  };
  uint32_t n = 1000;
  while (n < most / 2 && std::min(once(n), once(n)) < 2e-3) n *= 2;
  constexpr int runs = 2000;
  const auto start = Clock::now();
  for (int run = 0; run < runs; ++run) device->run(*slow, n, {place});
  const double queueing = seconds(start);
  device->wait();
  const double all = seconds(start);
  EXPECT_GT(queueing, 0.5 * all) << "of " << all << " s";
}

TEST_P(VulkanTest, IndependentKernelsGetNoBarrier) {
  const auto step = device->compile(step_program());
  const Buffer x = upload(counting(100));
  std::vector<Buffer> results;
  for (int i = 0; i < 20; ++i) results.push_back(device->allocate(400));
  device->wait();
  const uint64_t before = device->statistics().barriers;
  for (const Buffer& y : results) device->run(*step, 100, {x, y});
  device->wait();
  EXPECT_EQ(device->statistics().barriers, before);
  for (const Buffer& y : results) EXPECT_EQ(download(y)[99], 298u);
}

TEST_P(VulkanTest, ManyCommandsShareABatch) {
  const auto in_place = device->compile(in_place_program());
  const Buffer x = upload(counting(64));
  device->wait();
  const Statistics before = device->statistics();
  for (uint32_t i = 0; i < 5000; ++i) device->run(*in_place, 64, {x, i});
  device->wait();
  const Statistics after = device->statistics();
  EXPECT_EQ(after.kernels_run - before.kernels_run, 5000u);
  EXPECT_LT(after.batches - before.batches, 1000u);
  // Each kernel needs the one before: a barrier, or the start of a batch.
  EXPECT_GE(after.barriers - before.barriers + after.batches - before.batches, 5000u);
}

TEST_P(VulkanTest, TransfersOfAllSizes) {
  std::mt19937 random(1);
  for (uint64_t bytes : {uint64_t{1}, uint64_t{3}, uint64_t{255}, uint64_t{4096}, (uint64_t{64} << 10) - 1,
                         (uint64_t{64} << 10) + 1, (uint64_t{8} << 20) + 5, uint64_t{37} << 20}) {
    std::vector<uint8_t> data(bytes + 13), back(bytes + 13);
    for (auto& byte : data) byte = static_cast<uint8_t>(random());
    const Buffer buffer = device->allocate(bytes + 13);
    device->write(buffer, data.data(), bytes + 13);
    device->write(buffer, data.data(), bytes, 13);  // at an odd place
    device->read(buffer, back.data(), bytes, 13);
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + static_cast<ptrdiff_t>(bytes), data.begin()))
        << bytes;
    device->read(buffer, back.data(), 13);
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 13, data.begin())) << bytes;
  }
}

TEST_P(VulkanTest, AHundredThreadsSubmit) {
  const Buffer shared = upload(counting(256));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const Kernel>> kernels(100);
  for (uint32_t t = 0; t < 100; ++t)
    threads.emplace_back([&, t] {
      kernels[t] = device->compile(add_program());
      const auto in_place = device->compile(in_place_program());
      std::vector<uint32_t> expected(256, t), result(256);
      Buffer x = device->allocate(1024);
      device->write(x, expected.data(), 1024);
      for (uint32_t i = 0; i < 30; ++i) {
        device->run(*kernels[t], 256, {x, shared});
        device->run(*in_place, 256, {x, i});
        for (uint32_t j = 0; j < 256; ++j) expected[j] = (expected[j] + j) * 3 + i;
        if (i % 10 == t % 10) {
          device->read(x, result.data(), 1024);
          wrong += result != expected;
        }
      }
      device->read(x, result.data(), 1024);
      wrong += result != expected;
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (const auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);  // equal programs, one kernel
}

TEST_P(VulkanTest, BuffersDropFromOtherThreads) {
  const auto in_place = device->compile(in_place_program());
  device->wait();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    std::vector<Buffer> mine;
    for (int i = 0; i < 50; ++i) {
      mine.push_back(device->allocate(uint64_t{1} << (8 + i % 10)));
      device->run(*in_place, 64, {mine.back(), 1u});
    }
    threads.emplace_back([mine = std::move(mine)]() mutable { mine.clear(); });
  }
  for (auto& thread : threads) thread.join();
  device->wait();
  EXPECT_LT(device->statistics().bytes_in_use, 4096u);  // nothing but what the device itself uses
}

TEST_P(VulkanTest, TenThousandAllocationsHoldNothingMore) {
  device->fill(device->allocate(1 << 20), 1);
  device->wait();
  const Statistics before = device->statistics();
  for (int i = 0; i < 10'000; ++i) {
    const Buffer buffer = device->allocate(1 << 20);
    if (i % 100 == 0) device->fill(buffer.slice(0, 4), 1);
  }
  device->wait();
  const Statistics after = device->statistics();
  EXPECT_EQ(after.bytes_held, before.bytes_held);
  EXPECT_EQ(after.blocks, before.blocks);
  EXPECT_EQ(after.bytes_in_use, before.bytes_in_use);
  device->trim();
  EXPECT_LT(device->statistics().bytes_held, before.bytes_held);
}

TEST_P(VulkanTest, OutOfMemoryIsAnErrorAndTheRestGoesOn) {
  const auto step = device->compile(step_program());
  const Buffer x = upload(counting(100)), y = device->allocate(400);
  std::vector<Buffer> all;
  const uint64_t piece =
      std::min<uint64_t>(device->limits().max_buffer_bytes, device->info().memory_bytes / 4);
  try {
    for (int i = 0; i < 1000; ++i) all.push_back(device->allocate(piece));
    FAIL() << "there is no end of memory";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::out_of_memory) << error.what();
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos) << error.what();
  }
  device->run(*step, 100, {x, y});
  EXPECT_EQ(download(y)[99], 298u);
  all.clear();
  EXPECT_NO_THROW(all.push_back(device->allocate(piece)));
  all.clear();
  device->trim();
  EXPECT_THROW(device->allocate(~uint64_t{0}), Error);
}

TEST_P(VulkanTest, ALostDeviceTellsEveryCallerAndOpensAgain) {
  const auto kernel = device->compile(in_place_program());
  Buffer x = upload(counting(64));
  device->run(*kernel, 64, {x, 1u});
  device->wait();
  vulkan::lose_next_submission(*device);
  std::atomic<int> told{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 10; ++t)
    threads.emplace_back([&] {
      try {
        device->run(*kernel, 64, {x, 2u});
        device->wait();
      } catch (const Error& error) {
        const bool names_it = std::string(error.what()).find("in_place") != std::string::npos;
        told += error.kind() == ErrorKind::device_lost && names_it;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(told, 10);
  EXPECT_TRUE(device->lost());
  uint32_t value = 0;
  EXPECT_THROW(device->read(x, &value, 4), Error);
  EXPECT_THROW(device->write(x, &value, 4), Error);
  EXPECT_THROW(device->wait(), Error);
  EXPECT_THROW(device->allocate(4), Error);
  EXPECT_THROW(device->run(*kernel, 64, {x, 2u}), Error);
  device = open(GetParam());  // x and the kernel are still of the lost one
  EXPECT_THROW(device->read(x, &value, 4), Error);
  x = upload({5});
  device->run(*device->compile(in_place_program()), 1, {x, 1u});
  EXPECT_EQ(download(x)[0], 16u);
}

TEST_P(VulkanTest, AnotherDevicesKernelIsRefused) {
  const auto other = open(GetParam());
  const auto kernel = other->compile(in_place_program());
  const Buffer x = upload({1}), foreign = other->allocate(4);
  EXPECT_THROW(device->run(*kernel, 1, {x, 1u}), Error);
  EXPECT_THROW(device->run(*device->compile(in_place_program()), 1, {foreign, 1u}), Error);
}

TEST_P(VulkanTest, BuffersAndKernelsOutliveTheDevice) {
  auto kernel = device->compile(in_place_program());
  Buffer x = upload(counting(1000));
  for (int i = 0; i < 100; ++i) device->run(*kernel, 1000, {x, 1u});
  device.reset();
  EXPECT_EQ(kernel->name(), "in_place");
  kernel.reset();
  x = {};
}

TEST_P(VulkanTest, KernelsComeFromDiskTheSecondTime) {
  const std::string name = GetParam().staged ? "disk_staged" : "disk_mapped";
  device->compile(step_program(name));
  EXPECT_EQ(device->statistics().kernels_compiled, 1u);
  device->compile(step_program(name));
  EXPECT_EQ(device->statistics().kernels_compiled, 1u);
  EXPECT_EQ(device->statistics().kernels_loaded, 0u);
  device = open(GetParam());
  const auto kernel = device->compile(step_program(name));
  EXPECT_EQ(device->statistics().kernels_compiled, 0u);
  EXPECT_EQ(device->statistics().kernels_loaded, 1u);
  const Buffer x = upload({4}), y = device->allocate(4);
  device->run(*kernel, 1, {x, y});
  EXPECT_EQ(download(y)[0], 13u);
}

// Every file of the cache is damaged: the next device works and writes them again.
TEST_P(VulkanTest, ADamagedCacheIsMadeAnew) {
  device->compile(step_program("damaged"));
  device.reset();
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(*cache::directory())) {
    if (!entry.is_regular_file()) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
    file.put('\x5a');
    ++files;
  }
  EXPECT_GE(files, 2);
  device = open(GetParam());
  const auto kernel = device->compile(step_program("damaged"));
  EXPECT_EQ(device->statistics().kernels_compiled, 1u);
  const Buffer x = upload({4}), y = device->allocate(4);
  device->run(*kernel, 1, {x, y});
  EXPECT_EQ(download(y)[0], 13u);
}

// For Processes below: what one of several processes on one cache does. It exits with the device open and
// busy.
std::shared_ptr<Device> held_to_the_end;
Buffer held_buffer;
TEST_P(VulkanTest, DISABLED_ChildOfProcesses) {
  for (int i = 0; i < 10; ++i) {
    const auto kernel = device->compile(step_program("shared_" + std::to_string(i)));
    const Buffer x = upload({static_cast<uint32_t>(i)}), y = device->allocate(4);
    device->run(*kernel, 1, {x, y});
    ASSERT_EQ(download(y)[0], 3u * i + 1);
    held_buffer = y;
    device->run(*kernel, 1, {x, y});
  }
  held_to_the_end = device;
}

TEST_P(VulkanTest, Processes) {
  const std::string self = testing::internal::GetArgvs()[0];
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string filter = "--gtest_filter=*DISABLED_ChildOfProcesses" + name.substr(name.find('/'));
  std::vector<pid_t> children;
  for (int i = 0; i < 3; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      setenv("ADIT_TEST_CHILD", "1", 1);
      setenv("ASAN_OPTIONS", "detect_leaks=0",
             1);  // what an open device holds at exit, the system takes back
      if (!freopen("/dev/null", "w", stdout)) _exit(3);
      execl(self.c_str(), self.c_str(), filter.c_str(), "--gtest_also_run_disabled_tests", nullptr);
      _exit(4);
    }
    children.push_back(pid);
  }
  for (const pid_t pid : children) {
    int status = -1;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  device->compile(step_program("shared_0"));
  EXPECT_EQ(device->statistics().kernels_loaded, 1u);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(VulkanTest);
INSTANTIATE_TEST_SUITE_P(Devices, VulkanTest, testing::ValuesIn(everywhere()), [](const auto& where) {
  return "vulkan" + std::to_string(where.param.index) + (where.param.staged ? "_staged" : "_mapped");
});

TEST(VulkanList, DevicesHaveNamesAndDrivers) {
  EXPECT_FALSE(vulkan::loader_state().empty());
  for (const DeviceInfo& info : vulkan::list()) {
    EXPECT_EQ(info.id.substr(0, 7), "vulkan:");
    EXPECT_FALSE(info.name.empty());
    if (info.reason.empty()) {
      EXPECT_FALSE(info.driver.empty());
      EXPECT_GT(info.memory_bytes, 0u);
    }
  }
  EXPECT_THROW(vulkan::open(1000), Error);
}

// What another driver, another card or nobody wrote is not handed to this driver.
TEST(Pipelines, OnlyThisDriversCacheFits) {
  VkPhysicalDeviceProperties properties{};
  properties.vendorID = 0x10de;
  properties.deviceID = 0x2335;
  for (uint32_t k = 0; k < VK_UUID_SIZE; ++k) properties.pipelineCacheUUID[k] = static_cast<uint8_t>(k);
  VkPipelineCacheHeaderVersionOne header{
      sizeof header, VK_PIPELINE_CACHE_HEADER_VERSION_ONE, 0x10de, 0x2335, {}};
  std::memcpy(header.pipelineCacheUUID, properties.pipelineCacheUUID, VK_UUID_SIZE);
  const auto fits = [&](auto change) {
    VkPipelineCacheHeaderVersionOne changed = header;
    change(changed);
    return vulkan::fits_driver(std::as_bytes(std::span(&changed, 1)), properties);
  };
  EXPECT_TRUE(fits([](auto&) {}));
  EXPECT_FALSE(fits([](auto& h) { h.pipelineCacheUUID[15] ^= 1; }));
  EXPECT_FALSE(fits([](auto& h) { h.vendorID = 0x1002; }));
  EXPECT_FALSE(fits([](auto& h) { h.deviceID = 1; }));
  EXPECT_FALSE(fits([](auto& h) { h.headerSize = 8; }));
  EXPECT_FALSE(vulkan::fits_driver({}, properties));
}

TEST(Hazards, BarriersOnlyWhereRangesOverlap) {
  vulkan::Hazards hazards;
  auto enter = [&](std::vector<vulkan::Touch> touches) { return hazards.enter(touches); };
  EXPECT_FALSE(enter({{0, 100, false}, {100, 200, true}}));
  EXPECT_FALSE(enter({{0, 100, false}, {200, 300, true}}));  // reads share
  EXPECT_FALSE(enter({{50, 100, false}}));
  EXPECT_TRUE(enter({{150, 160, false}}));  // read after write
  EXPECT_FALSE(enter({{100, 150, true}}));  // the write before the barrier is no longer pending
  EXPECT_TRUE(enter({{155, 156, true}}));   // write after read
  EXPECT_TRUE(enter({{0, 1000, true}}));    // write after write
  EXPECT_FALSE(enter({{1000, 1001, true}}));
  hazards.clear();
  EXPECT_FALSE(enter({{0, 1000, true}}));
}

TEST(Hazards, TooManyRangesGetABarrier) {
  vulkan::Hazards hazards;
  int barriers = 0;
  for (uint64_t i = 0; i < 200; ++i) {
    const vulkan::Touch touch{i * 10, i * 10 + 10, true};
    barriers += hazards.enter({&touch, 1});
  }
  EXPECT_EQ(barriers, 3);
}

}  // namespace
}  // namespace adit
