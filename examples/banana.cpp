// A sampler written in the kernel language: Hamiltonian Monte Carlo on a banana-shaped density, one chain a
// team.
//
//   banana                    on the chosen device
//   banana --device cpu       on that one
//   banana --everywhere       on every device of this machine that can be used
//
// The density: x ~ normal(0, 1), y ~ normal(x^2, 1/2). So x has mean 0 and sd 1, y has mean 1 and sd 1.5.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <string>
#include <vector>

#include <adit/device.hpp>
#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

namespace {

using namespace adit;
using namespace adit::kernel;

constexpr uint32_t chains = 1024, draws_a_dispatch = 100, dispatches = 10, leapfrogs = 16;
constexpr uint32_t columns = 64, rows = 20;
constexpr float left = -3.2f, right = 3.2f, bottom = -1.5f, top = 7.5f;
constexpr double pi = 3.14159265358979323846;

// A random number of 24 bits in (0, 1), made of its place alone: any split of the work draws the same ones.
Value uniform(Value chain, Value draw, uint32_t use) {
  Value h = chain * 0x9e3779b9u + draw * 0x85ebca6bu + (use * 0xc2b2ae35u + 0x27d4eb2fu);
  for (const uint32_t factor : {0x7feb352du, 0x846ca68bu}) h = (h ^ (h >> 16)) * factor;
  h = h ^ (h >> 15);
  return (convert(h >> 8, Type::f32) + 0.5f) * 0x1p-24f;
}

struct Pair {
  Value x, y;
};

// Two normal numbers from two uniform ones (Box and Muller).
Pair normals(Value chain, Value draw, uint32_t use) {
  const Value radius = sqrt(-2.0f * log(uniform(chain, draw, use)));
  const Value angle = uniform(chain, draw, use + 1) * static_cast<float>(2 * pi);
  return {radius * cos(angle), radius * sin(angle)};
}

Value energy(Pair at, Pair momentum) {
  const Value off = at.y - at.x * at.x;
  return 0.5f * at.x * at.x + 2.0f * off * off + 0.5f * (momentum.x * momentum.x + momentum.y * momentum.y);
}

// The gradient of the potential: what pushes the momentum down.
Pair gradient(Pair at) {
  const Value off = 4.0f * (at.y - at.x * at.x);
  return {at.x - 2.0f * at.x * off, off};
}

// Each chain draws `draws_a_dispatch` times and leaves its state in a buffer for the next dispatch.
Program sampler() {
  Builder k("banana", Team::one());
  const Array state = k.buffer("state", Type::f32, Access::read_write);  // x, y of a chain
  const Array moments =
      k.buffer("moments", Type::f32, Access::read_write);  // sums of x, y, x^2, y^2 of a chain
  const Array image = k.buffer("image", Type::u32, Access::read_write);
  const Value first = k.scalar("first_draw", Type::u32), chain = k.team();
  const float step = 0.12f;

  const Variable x = k.variable(state[chain * 2]), y = k.variable(state[chain * 2 + 1]);
  std::vector<Variable> sums;
  for (uint32_t i = 0; i < 4; ++i) sums.push_back(k.variable(moments[chain * 4 + i]));
  k.for_(first, first + draws_a_dispatch, first.like(1), [&](Value draw) {
    const Pair start{x, y}, push = normals(chain, draw, 0);
    const Variable qx = k.variable(start.x), qy = k.variable(start.y), px = k.variable(push.x),
                   py = k.variable(push.y);
    const auto kick = [&](float size) {
      const Pair g = gradient({qx, qy});
      px = px.get() - size * g.x;
      py = py.get() - size * g.y;
    };
    kick(step / 2);
    k.for_(k.constant(Type::u32, leapfrogs - 1), [&](Value) {
      qx = qx.get() + step * px.get();
      qy = qy.get() + step * py.get();
      kick(step);
    });
    qx = qx.get() + step * px.get();
    qy = qy.get() + step * py.get();
    kick(step / 2);
    const Value accept = exp(energy(start, push) - energy({qx, qy}, {px, py}));
    k.if_(uniform(chain, draw, 2) < accept, [&] {
      x = qx.get();
      y = qy.get();
    });

    const Value values[] = {x, y, x.get() * x.get(), y.get() * y.get()};
    for (uint32_t i = 0; i < 4; ++i) sums[i] = sums[i].get() + values[i];
    const Value column = floor((x.get() - left) * (columns / (right - left)));
    const Value row = floor((top - y.get()) * (rows / (top - bottom)));
    const auto inside = [](Value v, uint32_t n) { return v >= 0.0f && v < static_cast<float>(n); };
    k.if_(inside(column, columns) && inside(row, rows), [&] {
      image.atomic_add(convert(row, Type::u32) * columns + convert(column, Type::u32),
                       k.constant(Type::u32, 1));
    });
  });
  state[chain * 2] = x.get();
  state[chain * 2 + 1] = y.get();
  for (uint32_t i = 0; i < 4; ++i) moments[chain * 4 + i] = sums[i].get();
  return k.finish();
}

struct Result {
  double mean_x, mean_y, sd_x, sd_y, seconds;
  std::vector<uint32_t> image;
};

Result sample_on(Device& device) {
  const auto kernel = device.compile(sampler());
  const Buffer state = device.allocate(chains * 2 * 4), moments = device.allocate(chains * 4 * 4);
  const Buffer image = device.allocate(columns * rows * 4);
  device.fill(state, 0);
  const auto run = [&](uint32_t dispatch) {
    device.run(*kernel, chains, {state, moments, image, dispatch * draws_a_dispatch});
  };
  run(0);  // warm-up: forgets where the chains began
  device.fill(moments, 0);
  device.fill(image, 0);
  device.wait();

  const auto start = std::chrono::steady_clock::now();
  for (uint32_t dispatch = 1; dispatch <= dispatches; ++dispatch) run(dispatch);
  std::vector<float> sums(chains * 4);
  device.read(moments, sums.data(), sums.size() * 4);
  Result result{};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.image.resize(columns * rows);
  device.read(image, result.image.data(), result.image.size() * 4);

  double mean[4] = {};
  for (size_t i = 0; i < sums.size(); ++i)
    mean[i % 4] += static_cast<double>(sums[i]) / (double{chains} * dispatches * draws_a_dispatch);
  result.mean_x = mean[0];
  result.mean_y = mean[1];
  result.sd_x = std::sqrt(mean[2] - mean[0] * mean[0]);
  result.sd_y = std::sqrt(mean[3] - mean[1] * mean[1]);
  return result;
}

void plot(const std::vector<uint32_t>& image) {
  const std::string shades = " .:-=+*#%@";
  const double most = *std::max_element(image.begin(), image.end());
  for (uint32_t row = 0; row < rows; ++row) {
    std::string line;
    for (uint32_t column = 0; column < columns; ++column) {
      const double part = std::sqrt(image[row * columns + column] / std::max(most, 1.0));
      line += shades[static_cast<size_t>(std::ceil(part * 9))];
    }
    fmt::print("  {}\n", line);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  std::vector<std::string> ids{""};
  if (words.size() == 1 && words[0] == "--everywhere") {
    const auto usable = [](const DeviceInfo& info) { return !info.reason.starts_with("cannot be used"); };
    ids.clear();
    for (const DeviceInfo& info : Device::list())
      if (usable(info)) ids.push_back(info.id);
    if (ids.empty()) ids = {""};  // the error says why
  } else if (words.size() == 2 && words[0] == "--device") {
    ids = {words[1]};
  } else if (!words.empty()) {
    fmt::print(stderr, "usage: banana [--device ID | --everywhere]\n");
    return 2;
  }
  fmt::print("\n{} chains of {} draws from a banana (exact: x 0 +- 1, y 1 +- 1.5)\n", chains,
             dispatches * draws_a_dispatch);
  std::vector<uint32_t> image;
  for (const std::string& id : ids) {
    const auto device = Device::open(id);
    const Result result = sample_on(*device);
    const double steps = double{chains} * dispatches * draws_a_dispatch * leapfrogs;
    fmt::print(
        "  {:<9} x {:6.3f} +- {:5.3f}   y {:6.3f} +- {:5.3f}   {:7.1f} ms, {:6.1f} M gradients/s   {}\n",
        device->info().id, result.mean_x, result.sd_x, result.mean_y, result.sd_y, result.seconds * 1e3,
        steps / result.seconds / 1e6, device->info().name);
    image = result.image;
  }
  fmt::print("\n");
  plot(image);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "banana: {}\n", error.what());
  return 1;
}
