// Tensors, a gradient, a model and its posterior, through the installed headers alone.
#include <cmath>
#include <cstdio>

#include <adit/adit.hpp>

int main() try {
  using namespace adit;
  set_default_device(Device::open("cpu"));
  const auto f = [](const Tensor& x) { return sum(sin(x) * x); };
  const double slope = grad(f)(tensor({1.0, 2.0})).to_vector<double>()[1];
  const double expected = std::sin(2.0) + 2 * std::cos(2.0);

  Model model("coin");
  const Tensor p = model.sample("p", beta(1, 1));
  model.observe("y", bernoulli(p), tensor({1.0, 1.0, 1.0, 0.0}));
  SampleOptions options;
  options.device = "cpu";
  options.seed = 1;
  const Draws draws = sample(model, options);
  const double mean = summary(draws).parameters.at(0).mean;
  std::printf("slope %.6f, expected %.6f; mean of p %.3f, expected 0.667\n", slope, expected, mean);
  bool refused = false;
  try {
    tensor({1.0, 2.0}) + tensor({1.0, 2.0, 3.0});
  } catch (const Error&) {  // the type is one and the same on both sides of a shared library
    refused = true;
  }
  return std::abs(slope - expected) < 1e-12 && std::abs(mean - 2.0 / 3) < 0.05 && refused ? 0 : 1;
} catch (const std::exception& problem) {
  std::printf("%s\n", problem.what());
  return 1;
}
