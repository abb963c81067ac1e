// How fast a device computes, begins kernels and reads memory: what the sampler's choice of layouts goes by.
#include <fmt/format.h>

#include <adit/kernel/builder.hpp>
#include <adit/kernel/math.hpp>

#include "device/doctor/probes.hpp"
#include "support/stopwatch.hpp"

namespace adit::doctor {
namespace {

using namespace kernel;

// Steps such as a density's elements: an exponential, a division, some products, each after the one before.
Program steps() {
  Builder k("doctor_steps", Team::one());
  const Array out = k.buffer("out", Type::f32, Access::write);
  const Value trips = k.scalar("trips", Type::u32);
  const Variable x = k.variable(Type::f32, 0.25f);
  k.for_(trips, [&](Value) {
    const Value e = exp(-x.get() * x.get());
    x = e / (1.0f + e) + 0.25f * x.get();
  });
  out[k.team()] = x.get();
  return k.finish();
}

Program increments() {
  Builder k("doctor_increment", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read_write);
  x[k.team()] = x[k.team()].get() + 1.0f;
  return k.finish();
}

// With a subgroup on each processor: of two lengths, so that the launch does not count.
double step_ns(Device& device) {
  const uint64_t lanes = uint64_t{device.limits().processors} * device.limits().subgroup_size;
  const auto kernel = device.compile(steps());
  const Buffer out = device.allocate(lanes * 4);
  const auto seconds = [&](uint32_t trips) {
    return median_seconds(
        [&] {
          device.run(*kernel, lanes, {out, trips});
          device.wait();
        },
        5, 0.02);
  };
  constexpr uint32_t few = 500, many = 8500;
  return std::max(1e-3, (seconds(many) - seconds(few)) * 1e9 / (many - few));
}

double launch_us(Device& device) {
  constexpr int count = 500;
  const auto kernel = device.compile(increments());
  const Buffer x = device.allocate(64 * 4);
  device.fill(x, 0);
  return median_seconds(
             [&] {
               for (int i = 0; i < count; ++i) device.run(*kernel, 64, {x});
               device.wait();
             },
             5, 0.02) *
         1e6 / count;
}

// Each element is read and written.
double memory_gbs(Device& device) {
  constexpr uint64_t count = uint64_t{16} << 20;
  const auto kernel = device.compile(increments());
  const Buffer x = device.allocate(count * 4);
  device.fill(x, 0);
  const double seconds = median_seconds(
      [&] {
        for (int i = 0; i < 4; ++i) device.run(*kernel, count, {x});
        device.wait();
      },
      3, 0.02);
  return 4.0 * 8 * count / seconds / 1e9;
}

}  // namespace

Finding probe_pace(Device& device, Profile& profile) {
  profile.step_ns = step_ns(device);
  profile.launch_us = launch_us(device);
  profile.memory_gbs = memory_gbs(device);
  device.trim();
  return {.probe = "pace",
          .claimed = "-",
          .measured = fmt::format("{:.3g} ns a step, {:.3g} us a launch, {:.3g} GB/s", *profile.step_ns,
                                  *profile.launch_us, *profile.memory_gbs),
          .note = "layouts of the sampler are chosen by it"};
}

}  // namespace adit::doctor
