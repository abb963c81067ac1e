// Any thread may build, evaluate and drop tensors; long histories; a steady state that keeps nothing.
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <pthread.h>
#include <thread>

#include <adit/adit.hpp>

#include "device/cpu/cpu.hpp"
#include "device/vulkan/vulkan.hpp"
#include "devices.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/executables.hpp"

namespace adit::test {
namespace {

class ThreadsOn : public OnDevice {
 protected:
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
  }
  // Results of `work` on every thread; what one throws is a failure.
  static void on_threads(int count, const std::function<void(int)>& work) {
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t)
      threads.emplace_back([&, t] {
        ++ready;
        while (ready < count) std::this_thread::yield();  // all at once
        try {
          work(t);
        } catch (const std::exception& error) {
          ADD_FAILURE() << "thread " << t << ": " << error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  bool is_software() const { return device_->info().kind == DeviceKind::software; }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ThreadsOn, testing::ValuesIn(device_ids()), test_name);

constexpr int crowd = 8;

std::vector<float> counted(size_t count, float scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 23) * scale;
  return values;
}

TEST_P(ThreadsOn, TensorsThatAllShareAreBuiltUponEvaluatedAndDropped) {
  const Tensor base = tensor(counted(300, 0.5f));
  const int rounds = is_software() ? 10 : 60;
  for (int round = 0; round < rounds; ++round) {
    // Lazy, and everyone's: whoever comes first computes it.
    Tensor shared = base * 2.0f + static_cast<float>(round);
    Tensor constant = broadcast_to(full({}, 3.0f), {300});
    on_threads(crowd, [&](int t) {
      Tensor mine = shared * static_cast<float>(t) + constant;
      if (t % 2) mine.eval();
      const Tensor last = mine - shared;
      const auto values = last.to_vector<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        const float s = static_cast<float>(i % 23) * 0.5f * 2.0f + static_cast<float>(round);
        ASSERT_EQ(values[i], s * static_cast<float>(t) + 3.0f - s) << "thread " << t << " element " << i;
      }
      EXPECT_EQ(last.device(), device_);
    });
  }
}

TEST_P(ThreadsOn, OneTensorIsComputedOnceHoweverManyThreadsAskForIt) {
  const Tensor x = tensor(counted(1000, 0.25f));
  sum(sin(x) * 1.5f).eval();  // compiled
  device_->wait();
  for (int round = 0; round < 20; ++round) {
    const uint64_t before = device_->statistics().kernels_run;
    const Tensor y = sum(sin(x) * (1.5f + static_cast<float>(round)));
    std::vector<float> seen(crowd);
    on_threads(crowd, [&](int t) { seen[static_cast<size_t>(t)] = y.item<float>(); });
    for (const float value : seen) EXPECT_EQ(value, seen[0]);
    const uint64_t all = device_->statistics().kernels_run - before;
    const Tensor alone = sum(sin(x) * 2.5f);
    alone.item<float>();
    EXPECT_EQ(all, device_->statistics().kernels_run - before - all);
  }
}

TEST_P(ThreadsOn, ACompiledFunctionIsCalledFromManyThreads) {
  std::atomic<int> traced{0};
  const auto f = jit([&](Tensor x, Tensor y) {
    ++traced;
    return exp(x) * y + sum(x);
  });
  const int rounds = is_software() ? 4 : 30;
  on_threads(crowd, [&](int t) {
    for (int round = 0; round < rounds; ++round) {
      const auto size = static_cast<size_t>(10 + round % 3);
      const float scale = 0.01f * static_cast<float>(t + 1);
      const Tensor x = tensor(counted(size, scale)), y = tensor(counted(size, 2.0f));
      const auto values = f(x, y).to_vector<float>();
      double sum_of_x = 0;
      for (size_t i = 0; i < size; ++i) sum_of_x += static_cast<double>(i % 23) * scale;
      for (size_t i = 0; i < size; ++i) {
        const double wanted =
            std::exp(static_cast<double>(i) * scale) * static_cast<double>(i) * 2.0 + sum_of_x;
        ASSERT_NEAR(values[i], wanted, 1e-4 * (1 + wanted)) << "thread " << t;
      }
    }
  });
  EXPECT_EQ(traced, 3);  // once a shape, not once a thread
}

TEST_P(ThreadsOn, TransformationsRunWhileOthersEvaluateWhatTheyCapture) {
  const Tensor base = tensor(counted(64, 0.1f));
  const int rounds = is_software() ? 5 : 30;
  for (int round = 0; round < rounds; ++round) {
    const Tensor captured = base * static_cast<float>(round + 1);
    on_threads(4, [&](int t) {
      if (t % 2) {
        captured.eval();
        return;
      }
      const auto slope = grad([&](Tensor x) { return sum(x * x * captured); });
      const auto values = slope(base).to_vector<float>();
      for (size_t i = 0; i < values.size(); ++i) {
        const double b = static_cast<double>(i % 23) * 0.1;
        ASSERT_NEAR(values[i], 2 * b * b * (round + 1), 1e-3 * (1 + b * b * (round + 1)));
      }
      const Tensor largest = reduce(base, full({}, 0.0f), {},
                                    [&](Tensor a, Tensor b) { return maximum(a, b) + 0.0f * sum(captured); });
      ASSERT_NEAR(largest.item<float>(), 2.2f, 1e-5);
    });
  }
}

TEST_P(ThreadsOn, ScansAndBranchesFromManyThreads) {
  const int rounds = is_software() ? 2 : 8;
  on_threads(4, [&](int t) {
    for (int round = 0; round < rounds; ++round) {
      const Tensor xs = tensor(counted(5, static_cast<float>(t + 1)));
      const auto [carry, ys] = scan(
          [](const Tensors& c, const Tensors& x) {
            const Tensor next = c[0] + x[0];
            return Step{{next}, {next * 2.0f}};
          },
          {full({}, 0.0f)}, {xs});
      ASSERT_EQ(carry[0].item<float>(), 10.0f * static_cast<float>(t + 1));
      ASSERT_EQ(ys[0].to_vector<float>().back(), 20.0f * static_cast<float>(t + 1));
    }
  });
}

// --- Computing at once -------------------------------------------------------------------------------------

// A loop that goes on until someone writes to `flag`, and the thread that computes it.
class EndlessLoop {
 public:
  explicit EndlessLoop(const std::shared_ptr<Device>& device) : device_(device) {
    const uint64_t before = device_->statistics().kernels_run;
    flag_.eval();
    rounds_ = while_loop([this](const Tensors& x) { return x[0] >= flag_; },
                         [](const Tensors& x) { return Tensors{x[0] + 1.0f}; }, {full({}, 0.0f)})[0];
    thread_ = std::thread([this] { count_ = rounds_.item<float>(); });
    while (device_->statistics().kernels_run < before + 20) std::this_thread::yield();  // it is inside
  }
  ~EndlessLoop() { stop(); }
  const Tensor& rounds() const { return rounds_; }
  float stop() {
    const float beyond = std::numeric_limits<float>::infinity();
    device_->write(flag_.buffer(), &beyond, sizeof beyond);
    if (thread_.joinable()) thread_.join();
    return count_;
  }

 private:
  std::shared_ptr<Device> device_;
  Tensor flag_ = tensor(0.0f), rounds_;
  float count_ = 0;
  std::thread thread_;
};

// While one thread is inside of a loop that only ends when this one says so, this one describes, compiles,
// computes and reads. Where threads wait for each other the loop is stopped after a minute, and the test
// fails.
TEST_P(ThreadsOn, OneComputesWhileAnotherIsInsideOfALoop) {
  EndlessLoop loop(device_);
  std::atomic<bool> finished{false};
  std::vector<float> values;
  std::thread other([&] {
    const Tensor x = tensor(counted(100, 0.5f));
    for (int i = 0; i < 5; ++i) {
      const Tensor y = slice(x * static_cast<float>(i) + exp(x * 0.0f), {i}, {10});
      values.push_back(sum(y).item<float>());
    }
    const auto f = jit([](Tensor a) { return a * a; });
    values.push_back(sum(f(x)).item<float>());
    const auto inner = while_loop([](const Tensors& s) { return s[0] < 5.0f; },
                                  [](const Tensors& s) { return Tensors{s[0] + 1.0f}; }, {full({}, 0.0f)});
    values.push_back(inner[0].item<float>());
    finished = true;
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!finished && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(finished) << "it waits for the loop of another thread";
  EXPECT_FALSE(loop.rounds().is_evaluated());
  EXPECT_GT(loop.stop(), 0.0f);
  other.join();
  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[0], 10.0f);
  EXPECT_EQ(values[1], 10.0f + 0.5f * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10));
  EXPECT_EQ(values[6], 5.0f);
}

// What is underway is not computed a second time: whoever needs it waits, and everyone sees the same.
TEST_P(ThreadsOn, WhoNeedsWhatIsUnderwayWaitsForIt) {
  EndlessLoop loop(device_);
  std::atomic<int> started{0};
  std::vector<float> seen(4);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < seen.size(); ++t)
    threads.emplace_back([&, t] {
      ++started;
      seen[t] =
          t % 2 ? loop.rounds().item<float>() : (loop.rounds() * 2.0f + static_cast<float>(t)).item<float>();
    });
  while (started < 4) std::this_thread::yield();
  const float rounds = loop.stop();
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(rounds, 0.0f);
  EXPECT_EQ(seen, (std::vector<float>{rounds * 2, rounds, rounds * 2 + 2, rounds}));
}

// A run that fails is over: those that waited for it try themselves, and fail with the same words.
TEST_P(ThreadsOn, AFailureIsEveryonesAndHoldsNobodyUp) {
  const Tensor huge = iota({int64_t{1} << 44}, DType::f32) * 2.0f;
  std::atomic<int> failed{0};
  for (int round = 0; round < 3; ++round)
    on_threads(crowd, [&](int) {
      try {
        huge.eval();
      } catch (const Error& error) {
        failed += error.kind() == ErrorKind::out_of_memory;
      }
    });
  EXPECT_EQ(failed, 3 * crowd);
  EXPECT_FALSE(huge.is_evaluated());
  EXPECT_EQ(sum(tensor({1.0f, 2.0f})).item<float>(), 3.0f);
}

// --- Long histories ---------------------------------------------------------------------------------------

// The thread has a small stack. What the chain began with goes too, and so does its memory.
void drop_on_a_small_stack(Tensor x) {
  pthread_attr_t small;
  ASSERT_EQ(pthread_attr_init(&small), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&small, size_t{128} << 10), 0);
  pthread_t thread{};
  const auto drop = [](void* tensor) -> void* {
    *static_cast<Tensor*>(tensor) = Tensor();
    return tensor;
  };
  ASSERT_EQ(pthread_create(&thread, &small, drop, &x), 0);
  void* dropped = nullptr;
  ASSERT_EQ(pthread_join(thread, &dropped), 0);
  EXPECT_EQ(dropped, &x);
}

TEST_P(ThreadsOn, AMillionOperationsAreDroppedWithoutRecursion) {
  device_->wait();
  const uint64_t before = device_->statistics().bytes_in_use;
  Tensor x = tensor({1.0f, 2.0f}), y = tensor({1.0f});
  const std::weak_ptr<graph::Node> first_x = graph::pointer_of(x), first_y = graph::pointer_of(y);
  EXPECT_GT(device_->statistics().bytes_in_use, before);
  for (int i = 0; i < 1'000'000; ++i) x = x + 1.0f;
  for (int i = 0; i < 300'000; ++i) y = y + y;  // through both operands
  EXPECT_FALSE(first_x.expired() || first_y.expired());
  drop_on_a_small_stack(std::move(x));
  drop_on_a_small_stack(std::move(y));
  EXPECT_TRUE(first_x.expired());
  EXPECT_TRUE(first_y.expired());
  EXPECT_EQ(device_->statistics().bytes_in_use, before);
}

TEST_P(ThreadsOn, AMillionOperationsAreEvaluatedInPieces) {
  const int total = is_software() ? 20'000 : 1'000'000, piece = 200;
  Tensor x = tensor({0.0f, 1.0f});
  for (int i = 1; i <= total; ++i) {
    x = x + 1.0f;
    if (i % piece == 0) x.eval();
  }
  EXPECT_EQ(x.to_vector<float>(),
            (std::vector<float>{static_cast<float>(total), static_cast<float>(total) + 1}));
}

TEST_P(ThreadsOn, ALongHistoryIsEvaluatedAtOnce) {
  Tensor x = tensor({0.0f, 1.0f});
  for (int i = 0; i < 5000; ++i) x = x + 1.0f;
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{5000, 5001}));
}

// --- What stays behind
// --------------------------------------------------------------------------------------

struct Network {
  Tensors weights, means, squares;
  Tensor x, y;
};

Network network() {
  Network n;
  for (const Shape& shape : {Shape{4, 32}, Shape{32}, Shape{32, 1}, Shape{1}}) {
    const auto count = static_cast<size_t>(element_count(shape));
    n.weights.push_back(tensor(counted(count, 0.01f), shape));
    n.means.push_back(tensor(std::vector<float>(count, 0), shape));
    n.squares.push_back(tensor(std::vector<float>(count, 0), shape));
  }
  n.x = tensor(counted(64, 0.1f), {16, 4});
  n.y = tensor(counted(16, 0.3f), {16, 1});
  return n;
}

float train(Network& n) {
  const auto loss = [&](const Tensors& w) {
    return Tensors{mean(square(dot(tanh(dot(n.x, w[0]) + w[1]), w[2]) + w[3] - n.y))};
  };
  const auto result = value_and_grad_of(loss, n.weights, {0, 1, 2, 3});
  for (size_t i = 0; i < n.weights.size(); ++i) {
    const Tensor& g = result.grads[i];
    n.means[i] = 0.9f * n.means[i] + 0.1f * g;
    n.squares[i] = 0.999f * n.squares[i] + 0.001f * square(g);
    n.weights[i] = n.weights[i] - 0.01f * n.means[i] / (sqrt(n.squares[i]) + 1e-8f);
  }
  Tensors all = n.weights;
  all.insert(all.end(), n.means.begin(), n.means.end());
  all.insert(all.end(), n.squares.begin(), n.squares.end());
  all.push_back(result.value);
  eval(all);
  return result.value.item<float>();
}

TEST_P(ThreadsOn, ATrainingLoopSettlesAndLeavesNothingBehind) {
  device_->wait();
  const uint64_t at_start = device_->statistics().bytes_in_use;
  {
    Network n = network();
    const float first = train(n);
    for (int i = 0; i < 4; ++i) train(n);
    device_->wait();
    const Statistics settled = device_->statistics();
    const size_t known = executables().size();
    float last = 0;
    for (int i = 0; i < (is_software() ? 10 : 200); ++i) last = train(n);
    device_->wait();
    const Statistics after = device_->statistics();
    EXPECT_LT(last, first);
    EXPECT_EQ(after.kernels_compiled, settled.kernels_compiled);
    EXPECT_EQ(after.kernels_loaded, settled.kernels_loaded);
    EXPECT_EQ(after.blocks, settled.blocks);
    EXPECT_EQ(after.bytes_in_use, settled.bytes_in_use);
    EXPECT_EQ(executables().size(), known);
  }
  device_->wait();
  EXPECT_EQ(device_->statistics().bytes_in_use, at_start);
}

TEST_P(ThreadsOn, WhatThreadsDroppedIsGivenBack) {
  device_->wait();
  const uint64_t at_start = device_->statistics().bytes_in_use;
  on_threads(crowd, [&](int t) {
    Tensor x = tensor(counted(5000, 0.1f));
    for (int i = 0; i < (is_software() ? 3 : 20); ++i) {
      x = x * 0.5f + static_cast<float>(t);
      x.eval();
    }
  });
  device_->wait();
  EXPECT_EQ(device_->statistics().bytes_in_use, at_start);
}

// --- How many executables are kept
// --------------------------------------------------------------------------

compile::Key key(uint64_t number) { return {number, ~number}; }

TEST(Executables, TheOneUsedLongestAgoGoesFirst) {
  Executables list(3);
  const auto some = std::make_shared<const compile::Executable>();
  for (const uint64_t i : {1, 2, 3}) list.insert(key(i), some);
  EXPECT_TRUE(list.find(key(1)));  // used: now 2 is the oldest
  list.insert(key(4), some);
  EXPECT_EQ(list.size(), 3u);
  EXPECT_FALSE(list.find(key(2)));
  for (const uint64_t i : {1, 3, 4}) EXPECT_TRUE(list.find(key(i))) << i;
  list.insert(key(4), some);  // again: no second place
  EXPECT_EQ(list.size(), 3u);
  for (uint64_t i = 10; i < 1000; ++i) list.insert(key(i), some);
  EXPECT_EQ(list.size(), 3u);
  list.set_most(1);
  EXPECT_EQ(list.size(), 1u);
  EXPECT_TRUE(list.find(key(999)));
}

TEST_P(ThreadsOn, ManyStructuresKeepWithinTheBound) {
  const size_t most = executables().most();
  EXPECT_GT(most, size_t{1} << 20);
  const size_t bound = 500'000;
  executables().set_most(bound);
  const Tensor x = tensor(counted(40, 1.0f));
  for (int round = 0; round < 2; ++round)
    for (int64_t n = 1; n <= 10; ++n) {
      const Tensor y = sum(slice(x, {0}, {n}) + 1.0f);
      EXPECT_EQ(y.item<float>(), static_cast<float>(n * (n - 1) / 2 + n));
      EXPECT_LE(executables().weight(), bound);
      EXPECT_GT(executables().size(), 0u);
    }
  executables().set_most(most);
}

// Endless new shapes: what was compiled for them comes back, and those that are left are still right.
TEST_P(ThreadsOn, NewShapesDoNotFillMemory) {
  ::setenv("ADIT_CODE_MEMORY", "1", 1);
  const size_t most = executables().most();
  executables().set_most(size_t{1} << 20);
  const std::string id = GetParam();
  const std::shared_ptr<Device> own =
      id == "cpu" ? cpu::open() : vulkan::open(static_cast<uint32_t>(std::stoul(id.substr(7))));
  set_default_device(own);
  {
    const auto f = jit([](const Tensor& x) { return sum(x * 3.0f) + 1.0f; });
    constexpr int64_t count = 50;
    for (int round = 0; round < 2; ++round)
      for (int64_t n = round == 0 ? 1 : count - 3; n <= count; ++n) {
        const Tensor x = full(Shape{40 + n}, 2.0, DType::f32);
        const auto elements = static_cast<float>(40 + n);
        EXPECT_EQ(f(x).item<float>(), 6 * elements + 1);
        EXPECT_EQ((reduce_max(x * elements) - sum(x)).item<float>(), 0);
      }
    const Statistics now = own->statistics();
    EXPECT_GT(now.kernels_compiled + now.kernels_loaded, static_cast<uint64_t>(2 * count));
    EXPECT_GT(now.kernels_held, 0u);
    // A cache each for the device's kernels, the executables and the traces of f, which may share none.
    EXPECT_LE(now.kernel_bytes, uint64_t{4} << 20);
    EXPECT_LT(now.kernels_held, static_cast<uint64_t>(count));
  }
  set_default_device(device_);
  executables().set_most(most);
  ::unsetenv("ADIT_CODE_MEMORY");
}

// --- Compiled functions on several threads ---

TEST_P(ThreadsOn, AKnownShapeWaitsForNobodysTrace) {
  std::atomic<bool> is_inside{false}, may_go_on{false}, gave_up{false};
  const auto f = jit([&](const Tensor& x) {
    if (x.shape()[0] == 11) {
      is_inside = true;
      for (int i = 0; i < 5000 && !may_go_on; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      gave_up = !may_go_on;
    }
    return sum(x);
  });
  const Tensor known = full(Shape{10}, 2.0, DType::f32), unknown = full(Shape{11}, 2.0, DType::f32);
  EXPECT_EQ(f(known).item<float>(), 20);
  float other = 0;
  std::thread thread([&] { other = f(unknown).item<float>(); });
  while (!is_inside) std::this_thread::yield();
  EXPECT_EQ(f(known).item<float>(), 20);
  may_go_on = true;
  thread.join();
  EXPECT_FALSE(gave_up) << "it waited";
  EXPECT_EQ(other, 22);
}

TEST_P(ThreadsOn, ANewShapeIsTracedOnce) {
  std::atomic<int> calls{0};
  const auto f = jit([&](const Tensor& x) {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return sum(x) * 2.0f;
  });
  const Tensor x = tensor(counted(12, 1.0f));
  x.eval();
  on_threads(crowd, [&](int) { EXPECT_EQ(f(x).item<float>(), 132); });
  EXPECT_EQ(calls, 1);
}

TEST_P(ThreadsOn, AFunctionThatThrowsIsTriedAgain) {
  std::atomic<int> calls{0}, thrown{0};
  const auto f = jit([&](const Tensor& x) {
    if (++calls <= 2) throw Error(ErrorKind::bad_argument, "not yet");
    return sum(x);
  });
  const Tensor x = tensor(counted(4, 1.0f));
  x.eval();
  on_threads(8, [&](int) {
    try {
      EXPECT_EQ(f(x).item<float>(), 6);
    } catch (const Error&) {
      ++thrown;
    }
  });
  EXPECT_EQ(thrown, 2);
  EXPECT_EQ(f(x).item<float>(), 6);
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace adit::test
