// Value and gradient of the widened mixture in f32, through the tensor API.
//   widened_bench [DEVICE [explain]]
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <random>
#include <string>
#include <vector>

#include "widened.hpp"

namespace adit::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Tensor observations(int64_t count) {
  std::mt19937 source(42);
  std::normal_distribution<float> normal(0, 0.012f);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = normal(source);
  return tensor(values).eval();
}

void measure(int64_t d, int64_t n, bool rows, bool explains) {
  const Jit compiled([rows](const Tensors& x) {
    const Function density = [rows](const Tensors& a) {
      return Tensors{widened_log_density(a[0], a[1], rows)};
    };
    const ValueAndGrad result = value_and_grad_of(density, x, {0});
    return Tensors{result.value, result.grads[0]};
  });
  const Tensors x{full({d}, -4.0, DType::f32).eval(), observations(n)};
  if (explains) fmt::print("{}\n", compiled.explain(x));
  Tensors kept;
  float value = 0;
  const auto seconds_of = [&] {  // with the value read
    const double start = now();
    kept = compiled(x);
    value = kept[0].item<float>();
    return now() - start;
  };
  const double first = seconds_of();
  for (int i = 0; i < 2; ++i) seconds_of();
  std::vector<double> times(static_cast<size_t>(std::clamp(0.3 / seconds_of(), 5.0, 500.0)));
  for (double& time : times) time = seconds_of();
  std::sort(times.begin(), times.end());
  const double start = now();
  for (size_t i = 0; i < times.size(); ++i) kept = compiled(x);
  default_device()->wait();
  const double queued = (now() - start) / static_cast<double>(times.size());
  fmt::print("{:>5} {:>6} {:>9} {:<8} {:>11.1f} {:>11.1f} {:>10.1f} {:>14.3f}\n", d, n, d * n,
             rows ? "rows" : "columns", times[times.size() / 2] * 1e6, queued * 1e6, first * 1e3, value);
  std::fflush(stdout);
}

}  // namespace
}  // namespace adit::bench

int main(int argc, char** argv) {
  using namespace adit::bench;
  try {
    if (argc > 1) adit::set_default_device(adit::Device::open(argv[1]));
    const bool explains = argc > 2 && std::string(argv[2]) == "explain";
    fmt::print("{:>5} {:>6} {:>9} {:<8} {:>11} {:>11} {:>10} {:>14}\n", "d", "n", "elements", "form",
               "waited, us", "queued, us", "first, ms", "value");
    for (const auto& [d, n] : {std::pair<int64_t, int64_t>{8, 60}, {8, 6000}, {256, 6000}, {1024, 6000}})
      for (const bool rows : {true, false}) measure(d, n, rows, explains);
  } catch (const std::exception& error) {
    fmt::print(stderr, "widened_bench: {}\n", error.what());
    return 1;
  }
}
