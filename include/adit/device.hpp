// A device: memory, compiled kernels, and a queue that runs them.
//
// Any thread may call any function. Work that one thread submits runs in the order of submission; `read` and
// `wait` block until it is done. Errors of earlier work reach the caller at the next call that waits.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <adit/error.hpp>
#include <adit/kernel/program.hpp>

#pragma GCC visibility push(default)
namespace adit {

enum class DeviceKind { discrete, integrated, virtual_machine, software, cpu };
std::string_view name_of(DeviceKind kind);  // "discrete", "integrated", "virtual", "software", "cpu"

struct DeviceInfo {
  std::string id;    // "cpu", "vulkan:0"
  std::string name;  // as the driver or the system tells it
  DeviceKind kind{};
  std::string driver;  // driver and version, or the code generator
  uint64_t memory_bytes = 0;
  bool chosen = false;  // by Device::open("") in this process's environment
  std::string reason;   // why it is, or is not, chosen
};

// What a device can do. The driver tells some, the doctor measures the others; see docs/devices.md.
struct Limits {
  uint64_t max_loop_trips = 0;  // back-edges one invocation may take; 0: no limit known
  uint64_t max_buffer_bytes = 0;
  uint32_t max_lanes = 1;      // of a team
  uint32_t shared_bytes = 0;   // of a team
  uint32_t subgroup_size = 1;  // on a CPU: SIMD lanes of f32
  uint32_t processors = 1;     // subgroups that compute at the same time: what the driver tells, or a guess
  // Multiprocessors, each with memory that its teams share between them: what is known of the maker's, or a
  // guess.
  uint32_t multiprocessors = 1;
  uint32_t multiprocessor_shared_bytes = 0;
  uint32_t sure_teams = 1;  // of any size that surely run at the same time: no guess
  bool float16 = false;     // arithmetic; storage is storage16
  bool float64 = false;
  bool int8 = false, int16 = false, int64 = false;  // int8 and int16 may be done in 32 bits
  bool storage8 = false, storage16 = false;
  bool fused_fma = false;        // the device's own; where false the code generator makes it exact
  bool keeps_denormals = false;  // f32
  bool subgroup_arithmetic = false, subgroup_shuffle = false, subgroup_vote = false, subgroup_ballot = false;
  bool fixed_subgroups = false;  // of subgroup_size lanes in every team of a multiple of it
  bool int64_atomics = false, float_atomics = false;
  bool lanes_by_hand = false;          // kernels that use lanes, barriers and subgroups of a team directly
  bool ordered_between_teams = false;  // release/acquire between teams was seen to work
  bool unified_memory = false;         // the host sees the device's memory
  std::vector<kernel::MatrixShape> cooperative_matrices;  // products of a subgroup's matrices
};

class Device;
class Memory;  // one allocation, owned by the device's pool

// A shared handle to a range of device memory; the last handle gives it back, from any thread.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<Memory> memory, uint64_t offset, uint64_t bytes)
      : memory_(std::move(memory)), offset_(offset), bytes_(bytes) {}
  uint64_t bytes() const { return bytes_; }
  uint64_t offset() const { return offset_; }
  const std::shared_ptr<Memory>& memory() const { return memory_; }
  explicit operator bool() const { return memory_ != nullptr; }
  // The same memory from `offset` on.
  Buffer slice(uint64_t offset, uint64_t bytes) const;
  uint64_t address() const;  // as kernels see it

 private:
  std::shared_ptr<Memory> memory_;
  uint64_t offset_ = 0, bytes_ = 0;
};

// What a kernel is called with: buffers and numbers, in the order of its parameters.
class Argument {
 public:
  Argument(const Buffer& buffer) : buffer_(buffer) {}
  template <class T>
  requires std::is_arithmetic_v<T> Argument(T number) : type_(kernel::type_of<T>()) {
    static_assert(sizeof(T) <= 8);
    __builtin_memcpy(&bits_, &number, sizeof(T));
  }
  bool is_buffer() const { return type_ == kernel::Type::none; }
  const Buffer& buffer() const { return buffer_; }
  kernel::Type type() const { return type_; }
  uint64_t bits() const { return bits_; }

 private:
  Buffer buffer_;
  kernel::Type type_ = kernel::Type::none;
  uint64_t bits_ = 0;
};

// A program made ready for one device.
class Kernel {
 public:
  virtual ~Kernel() = default;
  const std::string& name() const { return name_; }
  const std::vector<kernel::Parameter>& parameters() const { return parameters_; }
  uint64_t bytes() const { return bytes_; }  // of memory that it takes, about

 protected:
  Kernel(const kernel::Program& program, const Device& maker);
  std::string name_;
  std::vector<kernel::Parameter> parameters_;
  uint64_t bytes_ = 0;

 private:
  friend class Device;
  uint64_t opening_ = 0;  // of the device that made it
  std::string device_;
  uint32_t argument_bytes_ = 0;
  uint64_t most_teams_ = 0;
};

// Counters since the device was opened; they prove where work ran and that the steady state allocates
// nothing.
struct Statistics {
  uint64_t kernels_run = 0;  // dispatches
  uint64_t batches = 0;      // submissions to the queue
  uint64_t barriers = 0;
  uint64_t kernels_compiled = 0;  // code generated, not found in a cache
  uint64_t kernels_loaded = 0;    // found in the cache on disk
  uint64_t allocations = 0;       // asked of the pool
  uint64_t blocks = 0;            // asked of the system
  uint64_t bytes_in_use = 0;      // by buffers that live
  uint64_t bytes_held = 0;        // from the system, in use or free in the pool
  uint64_t bytes_peak = 0;        // most in use
  uint64_t kernels_held = 0;      // compiled ones that somebody has, or the device for later
  uint64_t kernel_bytes = 0;      // that they take, about
};

class Device : public std::enable_shared_from_this<Device> {
 public:
  virtual ~Device() = default;

  // Every device of this machine, the chosen one marked. Never fails: without Vulkan there is still "cpu".
  static std::vector<DeviceInfo> list();
  // By id ("cpu", "vulkan:0", "vulkan" for the first of them) or, with "", by ADIT_DEVICE or the best there
  // is: discrete, integrated, then cpu. One Device a process and id: a second open shares it.
  static std::shared_ptr<Device> open(const std::string& id = "");

  const DeviceInfo& info() const { return info_; }
  const Limits& limits() const { return limits_; }

  Buffer allocate(uint64_t bytes);
  // From memory, from disk, or made now. Throws `unsupported` naming what the device lacks. The device keeps
  // those that were used last (ADIT_CODE_MEMORY); others go with their last handle.
  std::shared_ptr<const Kernel> compile(const kernel::Program& program);
  // Queues `teams` teams of a kernel that this device compiled.
  void run(const Kernel& kernel, uint64_t teams, std::span<const Argument> arguments);
  void run(const Kernel& kernel, uint64_t teams, std::initializer_list<Argument> arguments) {
    run(kernel, teams, std::span<const Argument>(arguments.begin(), arguments.size()));
  }
  void write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset = 0);
  void read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset = 0);
  void copy(const Buffer& from, const Buffer& to, uint64_t bytes);
  void fill(const Buffer& buffer, uint32_t pattern);  // whole 32-bit words
  void flush();                                       // what is queued starts now
  void wait();                                        // until everything queued is done
  void trim();                                        // gives the pool's free memory back to the system
  virtual Statistics statistics() const = 0;
  // True after the device hung or vanished: every call throws `device_lost`. Open it again; what lay in its
  // memory is gone.
  virtual bool lost() const { return false; }

 protected:
  Device();
  virtual std::shared_ptr<Memory> do_allocate(uint64_t bytes) = 0;
  virtual std::shared_ptr<const Kernel> do_compile(const kernel::Program& program) = 0;
  // `block` is the argument block, laid out; `arguments` keep the buffers alive and tell the ranges used.
  virtual void do_run(const Kernel& kernel, uint64_t teams, std::span<const std::byte> block,
                      std::span<const Argument> arguments) = 0;
  virtual void do_write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset) = 0;
  virtual void do_read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset) = 0;
  virtual void do_copy(const Buffer& from, const Buffer& to, uint64_t bytes) = 0;
  virtual void do_fill(const Buffer& buffer, uint32_t pattern) = 0;
  virtual void do_flush() = 0;
  virtual void do_wait() = 0;
  virtual void do_trim() = 0;

  DeviceInfo info_;
  Limits limits_;

 private:
  friend class Kernel;
  const uint64_t opening_;  // a device that is closed and opened again is another one
};

}  // namespace adit
#pragma GCC visibility pop
