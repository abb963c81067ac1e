// What the driver does not tell about f32: whether fma rounds once, and whether subnormal numbers survive.
#include <bit>
#include <cmath>

#include <adit/kernel/builder.hpp>

#include "device/vulkan/device.hpp"
#include "support/cache.hpp"
#include "support/log.hpp"

namespace adit::vulkan {
namespace {

using namespace kernel;

// out = fma(x0, x1, x2), x3 * x4, x5 - x6
Program arithmetic_probe() {
  Builder k("adit_probe_arithmetic", Team::one());
  const Array x = k.buffer("x", Type::f32, Access::read);
  const Array out = k.buffer("out", Type::f32, Access::write);
  k.if_(k.team() == 0, [&] {
    out[0] = fma(x[0], x[1], x[2]);
    out[1] = x[3].get() * x[4].get();
    out[2] = x[5].get() - x[6].get();
  });
  return k.finish();
}

}  // namespace

void VulkanDevice::probe_arithmetic() {
  const std::string key = "arithmetic-" + core_->physical().driver_key();
  if (const auto known = cache::load("profiles", key); known && known->size() == 2) {
    limits_.fused_fma = (*known)[0] != std::byte{0};
    limits_.keeps_denormals = (*known)[1] != std::byte{0} && !core_->physical().target.comparisons_flush;
    return;
  }
  spirv::Target target = core_->physical().target;
  target.fused_fma = true;
  probes_ = std::make_unique<Kernels>(*this, pipelines_, target);
  const auto kernel = probes_->get(arithmetic_probe());
  const float a = 1.0f + 0x1p-12f, product = a * a;  // a * a needs 25 bits, so the product is rounded
  const float smallest = 0x1p-126f;
  const float x[] = {a, a, -product, smallest, 0.5f, 1.5f * smallest, smallest};
  float out[3] = {};
  const Buffer in_buffer = allocate(sizeof x), out_buffer = allocate(sizeof out);
  write(in_buffer, x, sizeof x);
  run(*kernel, 1, {in_buffer, out_buffer});
  read(out_buffer, out, sizeof out);
  limits_.fused_fma = out[0] == std::fma(a, a, -product);
  limits_.keeps_denormals =
      out[1] == 0.5f * smallest && out[2] == 0.5f * smallest && !target.comparisons_flush;
  log_debug("vulkan: {}: fma {}, subnormal f32 {}", info_.id,
            limits_.fused_fma ? "rounds once" : "rounds twice", limits_.keeps_denormals ? "kept" : "flushed");
  const std::byte found[] = {std::byte{limits_.fused_fma}, std::byte{limits_.keeps_denormals}};
  cache::save("profiles", key, found);
}

}  // namespace adit::vulkan
