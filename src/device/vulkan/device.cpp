#include "device/vulkan/device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>

#include "support/log.hpp"
#include "support/near.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {
namespace {

// Larger writes go through staging memory in the caller's thread; smaller ones ride along with the commands.
constexpr uint64_t small_write = uint64_t{64} << 10;

std::shared_ptr<Pool> make_pool(const std::shared_ptr<Core>& core, Dispatcher& dispatcher, uint64_t largest) {
  auto source = std::make_unique<RegionSource>(core);
  // Only while the device is open: it closes its pool.
  source->on_settle = [&dispatcher] { dispatcher.settle(); };
  source->on_is_done = [&dispatcher](uint64_t stamp) { return dispatcher.is_done(stamp); };
  PoolOptions options;
  options.largest_request = largest;
  options.largest_block =
      std::min(options.largest_block, std::max(core->physical().info.memory_bytes / 16, options.first_block));
  return std::make_shared<Pool>(std::move(source), options);
}

// What kernels may use: what the driver offers and the limits, corrected, still grant.
spirv::Target target_for(const Physical& physical, const Limits& limits) {
  spirv::Target target = physical.target;
  target.float16 = limits.float16;
  target.float64 = limits.float64;
  target.int64 = limits.int64;
  target.storage8 = limits.storage8;
  target.storage16 = limits.storage16;
  target.fused_fma = limits.fused_fma;
  target.subgroup_arithmetic = limits.subgroup_arithmetic;
  target.subgroup_shuffle = limits.subgroup_shuffle;
  target.subgroup_vote = limits.subgroup_vote;
  // Where subgroups were measured to be other than the driver says, nothing builds on their size.
  if (target.subgroup_size != limits.subgroup_size) target.subgroup_size = 0;
  target.int64_atomics = limits.int64_atomics;
  target.float_atomics = limits.float_atomics;
  target.max_lanes = limits.max_lanes;
  target.shared_bytes = limits.shared_bytes;
  target.matrices = limits.cooperative_matrices;
  return target;
}

const VulkanMemory& memory_of(const Buffer& buffer) {
  return static_cast<const VulkanMemory&>(*buffer.memory());
}

Use use_of(const Buffer& buffer, uint64_t bytes, uint64_t offset, bool write) {
  const uint64_t begin = buffer.address() + offset;
  return {{begin, begin + bytes, write}, &memory_of(buffer).chunk()};
}

uint64_t offset_in_block(const Buffer& buffer) {
  return memory_of(buffer).chunk().offset() + buffer.offset();
}

}  // namespace

VulkanDevice::VulkanDevice(const Physical& physical, const std::function<void(Limits&)>& adjust)
    : core_(std::make_shared<Core>(physical)),
      pipelines_(std::make_shared<Pipelines>(core_)),
      uploads_(core_, dispatcher_, RegionUse::upload, 4, uint64_t{8} << 20),
      small_downloads_(core_, dispatcher_, RegionUse::download, 64, uint64_t{64} << 10),
      downloads_(core_, dispatcher_, RegionUse::download, 4, uint64_t{8} << 20),
      dispatcher_(core_) {
  info_ = physical.info;
  limits_ = physical.limits;
  pool_ = make_pool(core_, dispatcher_, limits_.max_buffer_bytes);
  dispatcher_.on_idle = [this] { save_pipelines(); };
  probe_arithmetic();
  if (adjust) adjust(limits_);
  kernels_ = std::make_unique<Kernels>(*this, pipelines_, target_for(physical, limits_));
}

VulkanDevice::~VulkanDevice() {
  const process_end::Visit visit;
  dispatcher_.finish();
  pool_->close();
}

void VulkanDevice::save_pipelines() noexcept {
  try {
    pipelines_->save();
  } catch (const std::exception& problem) {
    log_debug("vulkan: {}", problem.what());  // the next process compiles again
  }
}

std::shared_ptr<Memory> VulkanDevice::do_allocate(uint64_t bytes) {
  const process_end::Visit visit;
  visit.expect();
  dispatcher_.check_alive();
  Pool::Chunk* chunk = pool_->allocate(bytes);
  try {
    return std::make_shared<VulkanMemory>(this, near(pool_), chunk);
  } catch (...) {
    pool_->release(chunk);
    throw;
  }
}

std::shared_ptr<const Kernel> VulkanDevice::do_compile(const kernel::Program& program) {
  const process_end::Visit visit;
  visit.expect();
  dispatcher_.check_alive();
  auto kernel = kernels_->get(program);
  dispatcher_.want_idle();
  dispatcher_.expect_new_kernels();
  kernels_are_new_ = true;
  return kernel;
}

void VulkanDevice::do_run(const Kernel& kernel, uint64_t teams, std::span<const std::byte> block,
                          std::span<const Argument> arguments) {
  const auto* made = static_cast<const VulkanKernel*>(&kernel);
  const uint64_t lanes = made->team().lanes;
  const uint64_t groups = made->team().kind == kernel::TeamKind::many ? teams : (teams + lanes - 1) / lanes;
  // More groups than a row may have go into several; the generated code skips what is too much.
  const uint64_t most = core_->physical().properties.limits.maxComputeWorkGroupCount[0];
  const uint64_t rows = (groups + most - 1) / most;
  if (rows > core_->physical().properties.limits.maxComputeWorkGroupCount[1])
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] teams: more than {} can run at once, got {}",
                                                     kernel.name(), info_.id, teams));
  const uint64_t width = (groups + rows - 1) / rows;
  std::array<Use, 24> few;
  std::vector<Use> many(arguments.size() > few.size() ? arguments.size() : 0);
  Use* const uses = many.empty() ? few.data() : many.data();
  size_t count = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].is_buffer()) continue;
    const Buffer& buffer = arguments[i].buffer();
    uses[count++] = use_of(buffer, buffer.bytes(), 0, kernel.parameters()[i].access != kernel::Access::read);
  }
  dispatcher_.run(made->pipeline(), static_cast<uint32_t>(width), static_cast<uint32_t>(rows), block,
                  {uses, count});
}

void VulkanDevice::do_write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset) {
  const auto* from = static_cast<const std::byte*>(data);
  if (core_->unified()) {
    const Pool::Chunk& chunk = memory_of(buffer).chunk();
    dispatcher_.wait(chunk.stamp.load(std::memory_order_relaxed));
    std::memcpy(chunk.host() + buffer.offset() + offset, from, bytes);
  } else if (bytes <= small_write) {
    const Use use = use_of(buffer, bytes, offset, true);
    dispatcher_.write(buffer_of(*use.chunk), offset_in_block(buffer) + offset, {from, bytes}, {&use, 1});
  } else {
    write_staged(buffer, from, bytes, offset);
  }
}

// While the device copies one piece, this thread fills the next.
void VulkanDevice::write_staged(const Buffer& buffer, const std::byte* data, uint64_t bytes,
                                uint64_t offset) {
  for (uint64_t done = 0; done < bytes; done += uploads_.piece_bytes()) {
    const uint64_t part = std::min(uploads_.piece_bytes(), bytes - done);
    Staging::Loan piece = uploads_.borrow();
    std::memcpy(piece.host(), data + done, part);
    const Use use = use_of(buffer, part, offset + done, true);
    const CopyRegion region{piece.buffer(), buffer_of(*use.chunk), piece.offset(),
                            offset_in_block(buffer) + offset + done, part};
    piece.used_by(dispatcher_.copy(region, {&use, 1}));
    dispatcher_.flush();
  }
}

void VulkanDevice::do_read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset) {
  auto* to = static_cast<std::byte*>(data);
  if (core_->unified()) {
    const Pool::Chunk& chunk = memory_of(buffer).chunk();
    dispatcher_.wait(chunk.stamp.load(std::memory_order_relaxed));
    std::memcpy(to, chunk.host() + buffer.offset() + offset, bytes);
  } else {
    read_staged(buffer, to, bytes, offset);
  }
  note_result();
}

void VulkanDevice::note_result() {
  if (kernels_are_new_.load(std::memory_order_relaxed) && kernels_are_new_.exchange(false))
    process_end::renew();
}

// Up to two pieces are under way: one that the device fills, one that this thread empties.
void VulkanDevice::read_staged(const Buffer& buffer, std::byte* data, uint64_t bytes, uint64_t offset) {
  Staging& staging = bytes <= small_downloads_.piece_bytes() ? small_downloads_ : downloads_;
  struct Part {
    Staging::Loan piece;
    uint64_t start, bytes;
  };
  std::deque<Part> parts;
  uint64_t asked = 0;
  auto ask = [&](Staging::Loan piece) {
    const uint64_t part = std::min(staging.piece_bytes(), bytes - asked);
    const Use use = use_of(buffer, part, offset + asked, false);
    const CopyRegion region{buffer_of(*use.chunk), piece.buffer(), offset_in_block(buffer) + offset + asked,
                            piece.offset(),        part,           true};
    piece.used_by(dispatcher_.copy(region, {&use, 1}));
    dispatcher_.flush();
    parts.push_back({std::move(piece), asked, part});
    asked += part;
  };
  while (asked < bytes || !parts.empty()) {
    if (asked < bytes && parts.empty()) ask(staging.borrow());
    if (asked < bytes && parts.size() < 2)
      if (std::optional<Staging::Loan> second = staging.try_borrow()) ask(std::move(*second));
    const Part& part = parts.front();
    dispatcher_.wait(part.piece.last());
    std::memcpy(data + part.start, part.piece.host(), part.bytes);
    parts.pop_front();
  }
}

void VulkanDevice::do_copy(const Buffer& from, const Buffer& to, uint64_t bytes) {
  const Use uses[] = {use_of(from, bytes, 0, false), use_of(to, bytes, 0, true)};
  dispatcher_.copy({buffer_of(*uses[0].chunk), buffer_of(*uses[1].chunk), offset_in_block(from),
                    offset_in_block(to), bytes},
                   uses);
}

void VulkanDevice::do_fill(const Buffer& buffer, uint32_t pattern) {
  const Use use = use_of(buffer, buffer.bytes(), 0, true);
  dispatcher_.fill({buffer_of(*use.chunk), offset_in_block(buffer), buffer.bytes(), pattern}, {&use, 1});
}

void VulkanDevice::do_flush() { dispatcher_.flush(); }
void VulkanDevice::do_wait() {
  dispatcher_.wait(dispatcher_.last());
  note_result();
}
void VulkanDevice::do_trim() {
  const process_end::Visit visit;
  visit.expect();
  dispatcher_.check_alive();
  pool_->trim();
}

Statistics VulkanDevice::statistics() const {
  const PoolStatistics pool = pool_->statistics();
  Statistics now;
  now.kernels_run = dispatcher_.counters().kernels_run;
  now.batches = dispatcher_.counters().batches;
  now.barriers = dispatcher_.counters().barriers;
  now.kernels_compiled = kernels_->compiled();
  now.kernels_loaded = kernels_->loaded();
  now.allocations = pool.allocations;
  now.blocks = pool.blocks;
  now.bytes_in_use = pool.bytes_in_use;
  now.bytes_held = pool.bytes_held;
  now.bytes_peak = pool.bytes_peak;
  const KernelCache::Held kernels = kernels_->cache().held();
  now.kernels_held = kernels.kernels;
  now.kernel_bytes = kernels.bytes;
  return now;
}

}  // namespace adit::vulkan
