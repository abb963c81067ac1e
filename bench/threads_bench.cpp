// Threads that evaluate small graphs of their own on the cpu device: how much more several do than one.
//
//   threads_bench [most threads]
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include <adit/adit.hpp>

namespace {

using namespace adit;

enum class Way { eval, jit };

// Evaluations a second of all threads together.
double rate(int threads, int64_t size, Way way) {
  std::atomic<int64_t> done{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> list;
  for (int i = 0; i < threads; ++i)
    list.emplace_back([&] {
      const Tensor x = full({size}, 0.5).eval(), y = full({size}, 0.25).eval();
      const auto graph = [](const Tensor& a, const Tensor& b) { return sum(exp(a) * b + a); };
      const auto compiled = jit([&](Tensor a, Tensor b) { return graph(a, b); });
      int64_t count = 0;
      for (; !stop; ++count) (way == Way::jit ? compiled(x, y) : graph(x, y)).item<float>();
      done += count;
    });
  const auto start = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  stop = true;
  for (std::thread& thread : list) thread.join();
  return static_cast<double>(done) /
         std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int count, char** words) {
  const int most = count > 1 ? std::atoi(words[1]) : static_cast<int>(std::thread::hardware_concurrency());
  set_default_device(Device::open("cpu"));
  for (const int64_t size : {16, 256, 4096})
    for (const Way way : {Way::eval, Way::jit}) {
      rate(1, size, way);  // compiles
      const double one = rate(1, size, way);
      std::printf("%-4s of %4lld: one thread %7.2f us", way == Way::eval ? "eval" : "jit",
                  static_cast<long long>(size), 1e6 / one);
      for (int threads = 2; threads <= most; threads *= 2)
        std::printf(", %d threads %.2f times", threads, rate(threads, size, way) / one);
      std::printf("\n");
    }
  return 0;
}
