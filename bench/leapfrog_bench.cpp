// Leapfrogs a second of eight schools on every device that is named (or on the chosen one), and a check
// against C++.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <random>

#include <adit/device.hpp>

#include "leapfrog.hpp"

namespace adit::bench {
namespace {

constexpr int parameters = 10;
constexpr float step_size = 0.05f;

// The same steps in double precision.
std::vector<double> reference(const float* start, const float* momentum, uint32_t steps) {
  constexpr double effect[8] = {28, 8, -3, 7, -1, 1, 18, 12}, error[8] = {15, 10, 16, 11, 9, 11, 10, 18};
  std::vector<double> q(parameters), p(parameters), g(parameters);
  double density = 0;
  const auto gradient = [&] {
    const double tau = std::exp(q[1]), square = tau * tau / 25;
    density = -q[0] * q[0] / 50 + q[1] - std::log1p(square);
    g[0] = -q[0] / 25;
    g[1] = 1 - 2 * square / (1 + square);
    for (int i = 0; i < 8; ++i) {
      const double residual = (effect[i] - q[0] - tau * q[2 + i]) / error[i], pull = residual / error[i];
      density -= 0.5 * (q[2 + i] * q[2 + i] + residual * residual);
      g[0] += pull;
      g[1] += pull * q[2 + i] * tau;
      g[2 + i] = pull * tau - q[2 + i];
    }
  };
  for (int i = 0; i < parameters; ++i) q[i] = start[i] * 0.5, p[i] = momentum[i];
  gradient();
  for (uint32_t s = 0; s < steps; ++s) {
    for (int i = 0; i < parameters; ++i) p[i] += 0.5 * step_size * g[i], q[i] += step_size * p[i];
    gradient();
    for (int i = 0; i < parameters; ++i) p[i] += 0.5 * step_size * g[i];
  }
  for (double& v : q) v += density;
  return q;
}

struct Chains {
  std::vector<float> start, momentum;
  explicit Chains(uint32_t chains) : start(chains * parameters), momentum(chains * parameters) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float& v : start) v = normal(random);
    for (float& v : momentum) v = normal(random);
  }
};

// The largest difference from the double-precision steps after 20 of them.
double worst_error(Device& device, const Kernel& kernel, const Chains& chains, const Buffer& start,
                   const Buffer& momentum, const Buffer& end) {
  const uint32_t count = static_cast<uint32_t>(chains.start.size()) / parameters;
  device.run(kernel, count, {start, momentum, end, uint32_t{20}, step_size});
  std::vector<float> got(chains.start.size());
  device.read(end, got.data(), got.size() * 4);
  double worst = 0;
  for (uint32_t c = 0; c < std::min(count, 64u); ++c) {
    const std::vector<double> want =
        reference(&chains.start[c * parameters], &chains.momentum[c * parameters], 20);
    for (int i = 0; i < parameters; ++i)
      worst = std::max(worst, std::fabs(got[c * parameters + i] - want[i]) / (1 + std::fabs(want[i])));
  }
  return worst;
}

void measure(Device& device, uint32_t count, uint32_t workgroup) {
  const bool gpu = device.info().kind != DeviceKind::cpu && device.info().kind != DeviceKind::software;
  const uint32_t steps = gpu ? 5000 : 1000;
  const auto kernel = device.compile(leapfrog_program(workgroup));
  const Chains chains(count);
  const uint64_t bytes = chains.start.size() * 4;
  const Buffer start = device.allocate(bytes), momentum = device.allocate(bytes),
               end = device.allocate(bytes);
  device.write(start, chains.start.data(), bytes);
  device.write(momentum, chains.momentum.data(), bytes);
  const double error = worst_error(device, *kernel, chains, start, momentum, end);
  // A GPU needs a while of work before its clock is up.
  const auto warm = std::chrono::steady_clock::now();
  while (gpu && std::chrono::steady_clock::now() - warm < std::chrono::milliseconds(300)) {
    device.run(*kernel, count, {start, momentum, end, steps, step_size});
    device.wait();
  }
  std::vector<double> times;
  for (int repeat = 0; repeat < 15; ++repeat) {
    const auto begin = std::chrono::steady_clock::now();
    device.run(*kernel, count, {start, momentum, end, steps, step_size});
    device.wait();
    times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(times.begin(), times.end());
  fmt::print("{:10} {:8} chains, {:3} a workgroup: {:10.1f} M leapfrogs/s  (error {:.1e})\n",
             device.info().id, count, workgroup,
             static_cast<double>(count) * steps / times[times.size() / 2] / 1e6, error);
  if (!(error < 1e-4))
    throw Error(ErrorKind::internal, "[leapfrog] the chains went elsewhere than in double precision");
}

}  // namespace
}  // namespace adit::bench

int main(int count, char** arguments) {
  using namespace adit;
  try {
    std::vector<std::string> ids(arguments + 1, arguments + count);
    if (ids.empty()) ids.push_back("");
    for (const std::string& id : ids) {
      const auto device = Device::open(id);
      const bool gpu = device->info().kind != DeviceKind::cpu && device->info().kind != DeviceKind::software;
      for (uint32_t chains :
           gpu ? std::vector<uint32_t>{32, 1024, 16384, 131072} : std::vector<uint32_t>{1024})
        for (uint32_t workgroup : gpu ? std::vector<uint32_t>{32, 64} : std::vector<uint32_t>{32})
          bench::measure(*device, chains, workgroup);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "leapfrog_bench: {}\n", error.what());
    return 1;
  }
}
