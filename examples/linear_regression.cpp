// Linear regression in two ways that must agree: gradient descent, and the normal equations.
//
//   linear_regression            on the chosen device
//   linear_regression cpu        on that one
#include <fmt/format.h>
#include <iostream>
#include <stdexcept>

#include <adit/adit.hpp>

namespace {

using namespace adit;

constexpr int64_t rows = 500, columns = 3;
constexpr int steps = 200;

struct Data {
  Tensor x, y;
};

// y = x . [2, -1, 0.5] + 3 + noise; the last column of x is 1, so that its weight is the constant term.
Data make_data(const Tensor& key) {
  const Tensor keys = random::split(key);
  const Tensor x = concatenate({random::normal(random::row(keys, 0), {rows, columns}), ones({rows, 1})}, 1);
  const Tensor truth = tensor({2.0f, -1.0f, 0.5f, 3.0f});
  return {x, matmul(x, truth) + random::normal(random::row(keys, 1), {rows}, 0, 0.1)};
}

Tensor mean_square_error(const Tensor& w, const Tensor& x, const Tensor& y) {
  return mean(square(matmul(x, w) - y));
}

// The minimum is where (x' x) w = x' y; x' x is positive definite, so Cholesky's factor solves it.
Tensor normal_equations(const Tensor& x, const Tensor& y) {
  const Tensor factor = cholesky(matmul(transpose(x), x));
  const Tensor right = matmul(transpose(x), y);
  return triangular_solve(factor, triangular_solve(factor, right), {.transpose = true});
}

void run() {
  const Data data = make_data(random::key(1));
  eval({data.x, data.y});

  // One step downhill. jit compiles it at the first call; the others run the same kernels again.
  const auto step = jit([](Tensor w, Tensor x, Tensor y) {
    const auto [loss, grads] = value_and_grad(mean_square_error)(w, x, y);
    return Tensors{w - 0.1 * grads[0], loss};
  });

  Tensor w = zeros({columns + 1});
  for (int i = 0; i < steps; ++i) {
    const Tensors now = step(w, data.x, data.y);
    w = now[0];
    if (i % 40 == 0) fmt::print("step {:3}: mean square error {:.6f}\n", i, now[1].item<float>());
  }

  const Tensor exact = normal_equations(data.x, data.y);
  std::cout << "by descent:          " << w << "\nby normal equations: " << exact << "\n";
  const float distance = reduce_max(abs(w - exact)).item<float>();
  fmt::print("largest difference:  {:.1e} on {}\n", distance, default_device()->info().id);
  if (!(distance < 1e-5f)) throw std::runtime_error("the two do not agree");
}

}  // namespace

int main(int argc, char** argv) try {
  adit::set_default_device(adit::Device::open(argc > 1 ? argv[1] : ""));
  run();
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "linear_regression: {}\n", error.what());
  return 1;
}
