// A training loop whose losses another program checks step by step: 4 inputs, 32 tanh units, 1 output, mean
// square error, plain gradient descent. training_step.py does the same with NumPy from the same start.
//
//   training_step [device] [f32|f64] [run.npz]
//
// With a file it keeps the data, the first parameters and every loss: python3 training_step.py run.npz
#include <cmath>
#include <fmt/format.h>
#include <string>

#include <adit/adit.hpp>
#include <adit/io.hpp>

namespace {

using namespace adit;

constexpr int64_t batch = 16, inputs = 4, hidden = 32;
constexpr int steps = 100;
constexpr double rate = 0.01;

// Uniform within sqrt(6 / (in + out)): the layers keep the size of what passes through them (Glorot).
Tensor make_weights(const Tensor& key, int64_t in, int64_t out, DType type) {
  const double limit = std::sqrt(6.0 / static_cast<double>(in + out));
  return random::uniform(key, {in, out}, -limit, limit, type);
}

TensorMap make_start(DType type) {
  const Tensor keys = random::split(random::key(42), 4);
  const Tensor x = random::normal(random::row(keys, 0), {batch, inputs}, 0, 1, type);
  const Tensor truth = as_type(tensor({{2.0}, {-1.0}, {0.5}, {3.0}}), type);
  const Tensor noise = random::normal(random::row(keys, 1), {batch, 1}, 0, 0.1, type);
  return {{"x", x},
          {"y", matmul(x, truth) + noise},
          {"w1", make_weights(random::row(keys, 2), inputs, hidden, type)},
          {"b1", zeros({hidden}, type)},
          {"w2", make_weights(random::row(keys, 3), hidden, 1, type)},
          {"b2", zeros({1}, type)}};
}

Tensor loss_of(const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2, const Tensor& x,
               const Tensor& y) {
  const Tensor layer = tanh(matmul(x, w1) + b1);
  return mean(square(matmul(layer, w2) + b2 - y));
}

void run(DType type, const std::string& file) {
  TensorMap kept = make_start(type);
  const auto step = jit([](Tensor w1, Tensor b1, Tensor w2, Tensor b2, Tensor x, Tensor y) {
    const auto [loss, grads] = value_and_grad(loss_of, {0, 1, 2, 3})(w1, b1, w2, b2, x, y);
    return Tensors{w1 - rate * grads[0], b1 - rate * grads[1], w2 - rate * grads[2], b2 - rate * grads[3],
                   loss};
  });

  Tensors p{kept["w1"], kept["b1"], kept["w2"], kept["b2"]}, losses;
  for (int i = 0; i < steps; ++i) {
    p = step(p[0], p[1], p[2], p[3], kept["x"], kept["y"]);
    losses.push_back(p[4]);
  }
  kept["losses"] = stack(losses);
  const auto values = as_type(kept["losses"], DType::f64).to_vector<double>();
  for (int i = 0; i < steps; i += 20)
    fmt::print("step {:3}: loss {:.8f}\n", i, values[static_cast<size_t>(i)]);
  fmt::print("step {:3}: loss {:.8f}, {:.0f} times smaller, in {} on {}\n", steps - 1, values.back(),
             values.front() / values.back(), name_of(type), default_device()->info().id);
  if (!file.empty()) save_npz(file, kept);
}

}  // namespace

int main(int argc, char** argv) try {
  adit::set_default_device(adit::Device::open(argc > 1 ? argv[1] : ""));
  const adit::DType type = adit::dtype_named(argc > 2 ? argv[2] : "f32");
  run(type, argc > 3 ? argv[3] : "");
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "training_step: {}\n", error.what());
  return 1;
}
