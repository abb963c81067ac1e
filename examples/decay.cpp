// The kernel of the README: every element shrinks by exp(-rate x).
#include <fmt/format.h>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

using namespace adit;
using namespace adit::kernel;

int main() try {
  Builder k("decay", Team::one());  // one invocation a team
  Array x = k.buffer("x", Type::f32, Access::read_write);
  Value rate = k.scalar("rate", Type::f32), i = k.team();
  x[i] = x[i] * exp(-rate * x[i]);  // C++ operators write instructions

  auto device = Device::open();  // the best GPU, else the CPU; or ADIT_DEVICE
  auto kernel = device->compile(k.finish());
  std::vector<float> values(1000, 2.0f);
  Buffer buffer = device->allocate(4000);
  device->write(buffer, values.data(), 4000);
  device->run(*kernel, 1000, {buffer, 0.5f});  // queued; 1,000 teams
  device->read(buffer, values.data(), 4000);   // waits
  fmt::print("{}: {} (2 / e is 0.735759)\n", device->info().id, values[999]);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "decay: {}\n", error.what());
  return 1;
}
