// How long 32 leapfrog steps of a model take in one dispatch, for several sizes of a team. The second column
// shares the cost of submission among 64 dispatches.
//
//   leapfrog_chain_bench [device] [model] [points] [lanes...]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>

#include <adit/ops.hpp>
#include <adit/sample.hpp>

#include "cli/models/models.hpp"

namespace {

using namespace adit;
using Clock = std::chrono::steady_clock;

// Microseconds of one of `calls` calls, the median of many tries.
double microseconds(const LeapfrogKernel& kernel, const Tensor& q, const Tensor& p, Device& device,
                    int calls) {
  std::vector<double> times;
  for (int i = 0; i < 30; ++i) {
    device.wait();
    const auto begin = Clock::now();
    for (int c = 0; c < calls; ++c) kernel(q, p, 0.01, 32);
    device.wait();
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count() * 1e6 / calls);
  }
  std::nth_element(times.begin(), times.begin() + 15, times.end());
  return times[15];
}

void measure(const std::string& id, const std::string& name, int64_t points,
             const std::vector<uint32_t>& sizes) {
  const Model model = example_model(name);
  const auto device = Device::open(id);
  const Tensor q = to_device(full({points, model.size()}, 0.1, DType::f32), device).eval();
  const Tensor p = to_device(full({points, model.size()}, 0.2, DType::f32), device).eval();
  fmt::print("{} on {}, {} points, 32 steps, us\n{:>12} {:>10} {:>10}\n", name, device->info().name, points,
             "lanes", "alone", "of 64");
  const auto row = [&](const std::string& label, const LeapfrogOptions& options) {
    const LeapfrogKernel kernel(model, options);
    fmt::print("{:>12} {:10.1f} {:10.1f}\n", label, microseconds(kernel, q, p, *device, 1),
               microseconds(kernel, q, p, *device, 64));
  };
  row("automatic", {.type = DType::f32, .device = id});
  for (const uint32_t lanes : sizes)
    row(std::to_string(lanes),
        {.type = DType::f32, .device = id, .placement = Placement::team, .lanes = lanes});
}

}  // namespace

int main(int count, char** words) {
  try {
    std::vector<uint32_t> sizes;
    for (int i = 4; i < count; ++i)
      sizes.push_back(static_cast<uint32_t>(std::strtoul(words[i], nullptr, 10)));
    if (sizes.empty()) sizes = {32, 64, 128, 256};
    measure(count > 1 ? words[1] : "", count > 2 ? words[2] : "regime",
            count > 3 ? std::strtoll(words[3], nullptr, 10) : 1, sizes);
  } catch (const Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
