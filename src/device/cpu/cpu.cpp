#include "device/cpu/cpu.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <mutex>
#include <optional>
#include <sys/mman.h>
#include <unistd.h>

#include "device/kernel_cache.hpp"
#include "device/memory.hpp"
#include "device/pool.hpp"
#include "native/compile.hpp"
#include "support/cache.hpp"
#include "support/estimate.hpp"
#include "support/hash.hpp"
#include "support/log.hpp"
#include "support/machine.hpp"
#include "support/near.hpp"
#include "support/process_end.hpp"
#include "support/thread_slot.hpp"
#include "support/threads.hpp"

namespace adit::cpu {

namespace {

std::string processor_name() {
#if defined(__x86_64__)
  const std::string machine = "x86-64";
#elif defined(__aarch64__)
  const std::string machine = "aarch64";
#else
  const std::string machine = "CPU";
#endif
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return machine;
}

// Blocks straight from the system, never more than this process may have: an overcommitted page would end the
// process.
class SystemBlocks final : public BlockSource {
 public:
  std::optional<Block> obtain(uint64_t bytes) override {
    if (held_ + bytes > machine::memory_bytes()) return std::nullopt;
    void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) return std::nullopt;
#if defined(MADV_HUGEPAGE)
    madvise(place, bytes, MADV_HUGEPAGE);
#endif
    held_ += bytes;
    return Block{reinterpret_cast<uint64_t>(place), bytes, static_cast<std::byte*>(place), nullptr};
  }
  void release(const Block& block) override {
    munmap(block.host, block.bytes);
    held_ -= block.bytes;
  }

#if defined(MADV_DONTNEED)
  // Whole pages of it; huge ones may stay in part.
  bool empty(const Block& block, uint64_t offset, uint64_t bytes) override {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
    return begin < end && madvise(block.host + begin, end - begin, MADV_DONTNEED) == 0;
  }
  bool empties() const override { return true; }
#endif

 private:
  uint64_t held_ = 0;  // one thread at a time is here
};

class CpuMemory final : public Memory {
 public:
  CpuMemory(const Device* device, std::shared_ptr<Pool> pool, Pool::Chunk* chunk)
      : Memory(device, chunk->address, chunk->bytes), pool_(std::move(pool)), chunk_(chunk) {}
  ~CpuMemory() override { pool_->release(chunk_); }

 private:
  std::shared_ptr<Pool> pool_;  // buffers may outlive the device
  Pool::Chunk* chunk_;
};

class CpuKernel final : public Kernel {
 public:
  CpuKernel(const kernel::Program& program, const Device& maker, std::shared_ptr<const native::Code> code)
      : Kernel(program, maker),
        together_(program.team.kind == kernel::TeamKind::one ? native::lanes_of(program) : 1),
        takes_any_time_(std::ranges::any_of(
            program.blocks[0], [&](kernel::Id id) { return program[id].op == kernel::Op::while_; })),
        code_(std::move(code)) {
    bytes_ = code_->bytes() + sizeof(CpuKernel);
    if (!native::rest_is_apart(program)) return;
    single_lane_ = program;
    single_lane_->team = kernel::Team::one(1);
  }
  // Teams that run in the lanes of one vector. A chunk holds whole vectors: half of one takes as long, and
  // which teams form a subgroup must not depend on how the work was shared out.
  uint64_t together() const { return together_; }
  // Its outermost loop ends when it will: what one run took says nothing of the next, nor a team of another.
  bool takes_any_time() const { return takes_any_time_; }

  // Before teams are run: the code for those that fill no vector, where it is apart.
  template <class Compile>
  void prepare(uint64_t teams, const Compile& compile) const {
    if (single_lane_ && teams % together_ != 0)
      std::call_once(rest_once_,
                     [&] { rest_ = std::static_pointer_cast<const CpuKernel>(compile(*single_lane_)); });
  }
  void run(const std::byte* arguments, uint64_t from, uint64_t to) const {
    const uint64_t left = single_lane_ ? (to - from) % together_ : 0;
    code_->function()(arguments, from, to - left);
    if (left > 0) rest_->run(arguments, to - left, to);
  }

  // Nanoseconds a team takes on one thread, as last measured; 0 before the first run.
  mutable std::atomic<double> team_time{0};

 private:
  uint64_t together_;
  bool takes_any_time_;
  std::shared_ptr<const native::Code> code_;
  std::optional<kernel::Program> single_lane_;  // where the rest of a dispatch is for a kernel of its own
  mutable std::once_flag rest_once_;
  mutable std::shared_ptr<const CpuKernel> rest_;
};

// Private arrays lie on the thread's stack, those of all lanes that run together.
void check_private_arrays(const kernel::Program& program) {
  constexpr uint64_t most = 1 << 20;
  uint64_t bytes = 0;
  for (const kernel::Instruction& it : program.instructions)
    if (it.op == kernel::Op::array) bytes += it.constant * kernel::size_of(it.type);
  if (bytes * native::lanes_of(program) > most)
    throw Error(ErrorKind::unsupported,
                fmt::format("[kernel {}] needs {} bytes of private arrays, the cpu device has {}",
                            program.name, bytes, most / native::lanes_of(program)));
}

std::byte* host(const Buffer& buffer) { return reinterpret_cast<std::byte*>(buffer.address()); }

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(const std::function<void(Limits&)>& adjust)
      : pool_(std::make_shared<Pool>(std::make_unique<SystemBlocks>())), threads_(thread_count()) {
    info_ = describe();
    limits_.max_buffer_bytes = machine::memory_bytes();
    limits_.max_lanes = 1024;
    limits_.shared_bytes = 256 * 1024;  // on the stack of the thread that runs the team
    limits_.processors = threads_;
    limits_.subgroup_size =
        native::host().vector_bits / 32 * (native::host().many_registers ? 2 : 1);  // half with f64
    limits_.float16 = limits_.float64 = limits_.int8 = limits_.int16 = limits_.int64 = true;
    limits_.storage8 = limits_.storage16 = limits_.fused_fma = limits_.keeps_denormals = true;
    limits_.subgroup_arithmetic = limits_.subgroup_shuffle = limits_.subgroup_vote = limits_.subgroup_ballot =
        true;
    limits_.int64_atomics = limits_.float_atomics = limits_.unified_memory = true;
    if (adjust) adjust(limits_);
  }

  Statistics statistics() const override {
    const PoolStatistics p = pool_->statistics();
    const KernelCache::Held kernels = kernels_.held();
    const uint64_t run = kernels_run_.sum();
    return {run,
            run,
            0,
            kernels_compiled_,
            kernels_loaded_,
            p.allocations,
            p.blocks,
            p.bytes_in_use,
            p.bytes_held,
            p.bytes_peak,
            kernels.kernels,
            kernels.bytes};
  }

 protected:
  std::shared_ptr<Memory> do_allocate(uint64_t bytes) override {
    return std::make_shared<CpuMemory>(this, near(pool_), pool_->allocate(bytes));
  }

  std::shared_ptr<const Kernel> do_compile(const kernel::Program& program) override;
  std::shared_ptr<const Kernel> make(const kernel::Program& program, const std::string& key);
  void do_run(const Kernel& kernel, uint64_t teams, std::span<const std::byte> block,
              std::span<const Argument>) override;

  void do_write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset) override {
    std::memcpy(host(buffer) + offset, data, bytes);
  }
  void do_read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset) override {
    std::memcpy(data, host(buffer) + offset, bytes);
  }
  void do_copy(const Buffer& from, const Buffer& to, uint64_t bytes) override {
    std::memcpy(host(to), host(from), bytes);
  }
  void do_fill(const Buffer& buffer, uint32_t pattern) override {
    auto* words = reinterpret_cast<uint32_t*>(host(buffer));
    std::fill(words, words + buffer.bytes() / 4, pattern);
  }
  // A kernel has run when run() returns: nothing is ever queued.
  void do_flush() override {}
  void do_wait() override {}
  void do_trim() override { pool_->trim(); }

 private:
  std::shared_ptr<Pool> pool_;
  const unsigned threads_;
  KernelCache kernels_;
  ThreadCount kernels_run_;
  std::atomic<uint64_t> kernels_compiled_{0}, kernels_loaded_{0};
};

std::shared_ptr<const Kernel> CpuDevice::do_compile(const kernel::Program& program) {
  const process_end::Visit visit;
  visit.expect();
  if (program.shared_bytes() > limits_.shared_bytes)
    throw Error(ErrorKind::unsupported,
                fmt::format("[kernel {}] needs {} bytes of shared memory, the cpu device has {}",
                            program.name, program.shared_bytes(), limits_.shared_bytes));
  check_private_arrays(program);
  const std::string key = kernel::content_hash(program);
  return kernels_.get(key, [&] { return make(program, key); });
}

std::shared_ptr<const Kernel> CpuDevice::make(const kernel::Program& program, const std::string& key) {
  static const std::string& host_hash = *new std::string(hex_hash(native::host_key()));
  const std::string file = key + "-" + host_hash;
  std::shared_ptr<const native::Code> code;
  if (const auto object = cache::load("objects", file)) {
    try {
      code = native::load_object(program, *object);
      ++kernels_loaded_;
    } catch (const Error& error) {
      log_debug("cache: object {} does not load ({}); made anew", file, error.what());
    }
  }
  if (!code) {
    const std::vector<std::byte> object = native::emit_object(program);
    code = native::load_object(program, object);
    ++kernels_compiled_;
    cache::save("objects", file, object);
  }
  process_end::renew();
  return std::make_shared<CpuKernel>(program, *this, std::move(code));
}

// Small work stays on the caller's thread: waking another costs more than it saves.
void CpuDevice::do_run(const Kernel& base, uint64_t teams, std::span<const std::byte> block,
                       std::span<const Argument>) {
  using Clock = std::chrono::steady_clock;
  constexpr double worth_sharing = 30e3, chunk_time = 20e3;  // nanoseconds
  const auto& kernel = static_cast<const CpuKernel&>(base);
  kernel.prepare(teams, [&](const kernel::Program& program) { return do_compile(program); });
  kernels_run_.add();
  const uint64_t granule = 64;  // teams of a chunk, so that no vector is cut and cache lines are not shared
  uint64_t begin = 0;
  double team_time = kernel.team_time.load(std::memory_order_relaxed);
  const auto measure = [&](uint64_t to) {
    const auto start = Clock::now();
    kernel.run(block.data(), begin, to);
    const double elapsed = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    note(kernel.team_time, elapsed / static_cast<double>(to - begin));
    return elapsed / static_cast<double>(to - begin);
  };
  if (threads_ == 1) return kernel.run(block.data(), 0, teams);
  if (kernel.takes_any_time() && teams > kernel.together()) {
    const uint64_t vectors = std::max<uint64_t>(1, teams / (kernel.together() * threads_ * 64));
    return parallel(threads_, teams, vectors * kernel.together(),
                    [&](uint64_t from, uint64_t to) { kernel.run(block.data(), from, to); });
  }
  if (team_time == 0) {  // a first piece tells how long a team takes
    const uint64_t piece = std::min<uint64_t>(teams, teams <= granule ? kernel.together() : granule);
    team_time = measure(piece);
    begin = piece;
    if (begin == teams) return;
  }
  const uint64_t left = teams - begin;
  if (team_time * static_cast<double>(left) < worth_sharing) {
    measure(teams);
    return;
  }
  const uint64_t fair = left / (threads_ * 4), timely = static_cast<uint64_t>(chunk_time / team_time);
  uint64_t chunk = std::max<uint64_t>({fair, timely, 1});
  if (left >= granule * threads_) chunk = (chunk + granule - 1) / granule * granule;
  chunk = std::min(chunk, std::max<uint64_t>(1, (left + threads_ - 1) / threads_));
  chunk = (chunk + kernel.together() - 1) / kernel.together() * kernel.together();
  const uint64_t shift = begin;
  parallel(threads_, left, chunk,
           [&](uint64_t from, uint64_t to) { kernel.run(block.data(), shift + from, shift + to); });
}

}  // namespace

DeviceInfo describe() {
  DeviceInfo info;
  info.id = "cpu";
  info.kind = DeviceKind::cpu;
  info.name = fmt::format("{}, {} threads", processor_name(), machine::processors());
  info.driver = native::generator();
  info.memory_bytes = machine::memory_bytes();
  if (!native::available()) info.reason = "this build has no LLVM, which makes its code";
  return info;
}

std::shared_ptr<Device> open(const std::function<void(Limits&)>& adjust) {
  auto device = std::make_shared<CpuDevice>(adjust);
  process_end::keep(device);
  return device;
}

}  // namespace adit::cpu
