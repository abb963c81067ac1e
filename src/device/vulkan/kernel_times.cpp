#include "device/vulkan/kernel_times.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace adit::vulkan {
namespace {

constexpr uint32_t most_stamps = 256;  // more than a batch has commands

bool times_wanted() {
  const char* value = std::getenv("ADIT_TIMES");
  return value && *value && std::string_view(value) != "0";
}

}  // namespace

std::unique_ptr<KernelTimes> KernelTimes::if_wanted(std::shared_ptr<Core> core) {
  const bool has_clock = core->physical().properties.limits.timestampComputeAndGraphics == VK_TRUE;
  if (!times_wanted() || !has_clock) return nullptr;
  return std::unique_ptr<KernelTimes>(new KernelTimes(std::move(core)));
}

void KernelTimes::print() const {
  std::vector<std::pair<std::string, Total>> rows(totals_.begin(), totals_.end());
  std::sort(rows.begin(), rows.end(),
            [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  fmt::print(stderr, "{:>12} {:>9} {:>10}  kernel on {}\n", "total ms", "runs", "us a run",
             core_->physical().info.id);
  for (const auto& [name, total] : rows)
    fmt::print(stderr, "{:12.3f} {:9} {:10.2f}  {}\n", total.seconds * 1e3, total.count,
               total.seconds * 1e6 / static_cast<double>(total.count), name);
}

KernelTimes::Stamps KernelTimes::make() const {
  VkQueryPoolCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = most_stamps;
  Stamps stamps;
  check(core_->calls.create_query_pool(core_->handle(), &info, nullptr, &stamps.pool), "vkCreateQueryPool");
  return stamps;
}

void KernelTimes::destroy(const Stamps& stamps) const {
  core_->calls.destroy_query_pool(core_->handle(), stamps.pool, nullptr);
}

void KernelTimes::begin(VkCommandBuffer commands, Stamps& stamps) const {
  stamps.names.clear();
  core_->calls.cmd_reset_query_pool(commands, stamps.pool, 0, most_stamps);
  core_->calls.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps.pool, 0);
}

void KernelTimes::after(VkCommandBuffer commands, Stamps& stamps, const std::string& name) const {
  const auto place = static_cast<uint32_t>(stamps.names.size() + 1);
  if (place >= most_stamps) return;
  stamps.names.push_back(name);
  core_->calls.cmd_write_timestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, stamps.pool, place);
}

void KernelTimes::collect(const Stamps& stamps) {
  std::vector<uint64_t> ticks(stamps.names.size() + 1);
  const size_t bytes = ticks.size() * sizeof(uint64_t);
  if (core_->calls.get_query_pool_results(core_->handle(), stamps.pool, 0,
                                          static_cast<uint32_t>(ticks.size()), bytes, ticks.data(),
                                          sizeof(uint64_t), VK_QUERY_RESULT_64_BIT) != VK_SUCCESS)
    return;
  const double tick = core_->physical().properties.limits.timestampPeriod * 1e-9;
  for (size_t i = 0; i < stamps.names.size(); ++i) {
    Total& total = totals_[stamps.names[i]];
    ++total.count;
    if (ticks[i + 1] > ticks[i]) total.seconds += static_cast<double>(ticks[i + 1] - ticks[i]) * tick;
  }
}

}  // namespace adit::vulkan
