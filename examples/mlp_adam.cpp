// A network learns which of three spirals a point belongs to, by Adam written with tensor operations.
//
//   mlp_adam                     on the chosen device
//   mlp_adam cpu                 on that one
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

#include <adit/adit.hpp>

namespace {

using namespace adit;

constexpr int64_t classes = 3, points = 60, hidden = 24;  // points of a class
constexpr int steps = 150;
constexpr double rate = 0.02, keep_mean = 0.9, keep_square = 0.999, epsilon = 1e-8;

struct Data {
  Tensor points, labels;
};

// Arm c starts at the angle 2 pi c / 3 and winds half a turn while its radius goes from 0 to 1.
Data make_spirals(const Tensor& key) {
  const Tensor along = linspace(0.05, 1, points);
  const Tensor arm = as_type(iota({classes, points}, DType::i32, 0), DType::f32);
  const Tensor noise = random::normal(key, {classes, points}, 0, 0.08);
  const Tensor angle = arm * (2 * 3.14159265 / classes) + along * 3.14159265 + noise;
  const Tensor both = stack({along * cos(angle), along * sin(angle)}, 2);
  return {reshape(both, {classes * points, 2}), reshape(iota({classes, points}, DType::i32, 0), {-1})};
}

// Weights and offsets of three layers.
Tensors make_network(const Tensor& key) {
  const int64_t widths[] = {2, hidden, hidden, classes};
  Tensors parameters;
  for (int layer = 0; layer < 3; ++layer) {
    const int64_t in = widths[layer], out = widths[layer + 1];
    const double deviation = std::sqrt(2.0 / static_cast<double>(in));
    parameters.push_back(random::normal(random::fold_in(key, layer), {in, out}, 0, deviation));
    parameters.push_back(zeros({out}));
  }
  return parameters;
}

Tensor logits(const Tensors& p, const Tensor& x) {
  const Tensor first = relu(matmul(x, p[0]) + p[1]);
  const Tensor second = relu(matmul(first, p[2]) + p[3]);
  return matmul(second, p[4]) + p[5];
}

Tensor cross_entropy(const Tensors& p, const Data& data) {
  const Tensor chosen = take_along_axis(log_softmax(logits(p, data.points)), expand_dims(data.labels, 1), 1);
  return -mean(chosen);
}

Tensor accuracy(const Tensors& p, const Data& data) {
  return mean(as_type(argmax(logits(p, data.points), 1) == data.labels, DType::f32));
}

// state: the parameters, the running means of gradients and of their squares, the count of steps so far. The
// count is a tensor, since a number of C++ would stay as it is when jit calls the function.
Tensors adam_step(const Tensors& state, const Data& data) {
  const size_t count = (state.size() - 1) / 3;
  const Tensors parameters(state.begin(), state.begin() + static_cast<long>(count));
  const Tensor step = state.back() + 1;
  const auto [loss, grads] =
      value_and_grad([&](const Tensors& p) { return cross_entropy(p, data); })(parameters);

  Tensors next(state.size());
  for (size_t i = 0; i < count; ++i) {
    const Tensor mean = keep_mean * state[count + i] + (1 - keep_mean) * grads[i];
    const Tensor mean_square = keep_square * state[2 * count + i] + (1 - keep_square) * square(grads[i]);
    // Both means start at 0 and are short of the truth by what they kept of it.
    const Tensor direction = mean / (1 - pow(keep_mean, step));
    const Tensor size = sqrt(mean_square / (1 - pow(keep_square, step)));
    next[i] = parameters[i] - rate * direction / (size + epsilon);
    next[count + i] = mean;
    next[2 * count + i] = mean_square;
  }
  next.back() = step;
  next.push_back(loss);
  return next;
}

void run() {
  const Tensor key = random::key(7);
  const Data data = make_spirals(random::fold_in(key, 100));
  eval({data.points, data.labels});

  Tensors state = make_network(key);
  const Tensors start = state;
  for (int moment = 0; moment < 2; ++moment)
    for (const Tensor& p : start) state.push_back(zeros_like(p));
  state.push_back(zeros({}));

  const auto step = jit([&](const Tensors& now) { return adam_step(now, data); });
  for (int i = 0; i < steps; ++i) {
    state = step(state);
    const Tensor loss = state.back();
    state.pop_back();
    if (i % 30 == 0 || i == steps - 1) fmt::print("step {:3}: loss {:.5f}\n", i, loss.item<float>());
  }
  const float right = accuracy(state, data).item<float>();
  fmt::print("{:.1f}% of {} points right on {}\n", 100 * right, classes * points,
             default_device()->info().id);
  if (!(right > 0.95f)) throw std::runtime_error("the network did not learn");
}

}  // namespace

int main(int argc, char** argv) try {
  adit::set_default_device(adit::Device::open(argc > 1 ? argv[1] : ""));
  run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "mlp_adam: {}\n", error.what());
  return 1;
}
