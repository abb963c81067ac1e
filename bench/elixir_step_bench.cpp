// What bench/elixir/*.exs measures, by the C++ API: the yardstick for calls that come from Elixir. One JSON
// object a line, {"work", "us"}: the median of a call that is waited for.
//   elixir_step_bench [DEVICE]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <adit/adit.hpp>

namespace adit::bench {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Tensor normal(const Shape& shape, float scale = 1) {
  static std::mt19937_64 generator(7);
  std::normal_distribution<float> distribution(0, scale);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (float& value : values) value = distribution(generator);
  return tensor(values, shape).eval();
}

// The median over batches of calls, each call waited for by itself.
void time(const std::string& work, const std::function<void()>& call) {
  for (int i = 0; i < 20; ++i) call();
  double start = now();
  call();
  const double one = now() - start;
  const int batch = std::clamp(static_cast<int>(0.02 / std::max(one, 1e-7)), 1, 2000);
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    start = now();
    for (int k = 0; k < batch; ++k) call();
    times.push_back((now() - start) / batch);
  }
  std::sort(times.begin(), times.end());
  std::printf("{\"work\": \"%s\", \"us\": %.3f}\n", work.c_str(), times[times.size() / 2] * 1e6);
  std::fflush(stdout);
}

void eager() {
  const Tensor a = normal({16}), b = normal({16});
  time("eager add 16", [&] { (void)(a + b).eval(); });
  const Tensor m = normal({64, 64});
  time("eager sum 64x64", [&] { (void)sum(m).eval(); });
}

void compiled() {
  const Tensor a = normal({16});
  const Jit one([](const Tensors& x) { return Tensors{exp(x[0])}; });
  time("jit 1 argument", [&] { (void)one({a}); });
  const Jit six([](const Tensors& x) { return Tensors{exp(x[0]), x[1] + x[2], x[3] + x[4] + x[5]}; });
  time("jit 6 arguments", [&] { (void)six({a, a, a, a, a, a}); });
}

// 784-128-10: relu, softmax, cross entropy, stochastic gradient descent.
Tensor loss(const Tensors& p, const Tensor& x, const Tensor& y) {
  const Tensor hidden = maximum(matmul(x, p[0]) + p[1], 0.0f);
  const Tensor logits = matmul(hidden, p[2]) + p[3];
  const Tensor shifted = logits - reduce_max(logits, {1}, true);
  const Tensor log_softmax = shifted - log(sum(exp(shifted), {1}, true));
  return negate(mean(sum(y * log_softmax, {1})));
}

void step(int64_t batch) {
  const Jit compiled([](const Tensors& all) {
    const Tensors parameters(all.begin(), all.begin() + 4);
    const Tensor x = all[4], y = all[5];
    const auto [value, grads] =
        value_and_grad_of([&](const Tensors& p) { return Tensors{loss(p, x, y)}; }, parameters, {0, 1, 2, 3});
    Tensors results;
    for (size_t i = 0; i < 4; ++i) results.push_back(parameters[i] - grads[i] * 0.01f);
    results.push_back(value);
    return results;
  });
  Tensors state = {normal({784, 128}, 0.05f), normal({128}, 0.01f), normal({128, 10}, 0.1f),
                   normal({10}, 0.01f),       normal({batch, 784}), normal({batch, 10})};
  time("mlp step, batch " + std::to_string(batch), [&] {
    Tensors results = compiled(state);
    std::copy(results.begin(), results.begin() + 4, state.begin());
    default_device()->wait();
  });
}

}  // namespace
}  // namespace adit::bench

int main(int count, char** arguments) {
  try {
    adit::set_default_device(adit::Device::open(count > 1 ? arguments[1] : ""));
    adit::bench::eager();
    adit::bench::compiled();
    for (const int64_t batch : {32, 64, 128}) adit::bench::step(batch);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
