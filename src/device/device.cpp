// What every device does alike: checks of arguments, and the argument block.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>

#include <adit/device.hpp>

#include "device/memory.hpp"

namespace adit {

using kernel::name_of;
using kernel::Parameter;
using kernel::Type;

std::string_view name_of(DeviceKind kind) {
  static constexpr std::string_view names[] = {"discrete", "integrated", "virtual", "software", "cpu"};
  return names[static_cast<int>(kind)];
}

Buffer Buffer::slice(uint64_t offset, uint64_t bytes) const {
  if (offset > bytes_ || bytes > bytes_ - offset)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[slice] range: expected within {} bytes, got {} from {} on", bytes_, bytes, offset));
  return {memory_, offset_ + offset, bytes};
}

uint64_t Buffer::address() const { return memory_ ? memory_->address() + offset_ : 0; }

namespace {

uint64_t next_opening() {
  static std::atomic<uint64_t> openings{0};
  return ++openings;
}

// Whoever asks for its team's number in 32 bits sees that many. A GPU's grid of two dimensions may have up to
// 2^26 invocations too many, whose 32-bit numbers must not wrap either.
uint64_t most_teams(const kernel::Program& program, const Device& maker) {
  constexpr uint64_t in_32_bits = (uint64_t{1} << 32) - (uint64_t{1} << 27);
  const bool is_cpu = maker.info().kind == DeviceKind::cpu;
  const bool in_64_bits = std::ranges::none_of(program.instructions, [](const kernel::Instruction& it) {
    return it.op == kernel::Op::team && it.type != Type::u64;
  });
  return is_cpu && in_64_bits ? uint64_t{1} << 62 : in_32_bits;
}

}  // namespace

Device::Device() : opening_(next_opening()) {}

Kernel::Kernel(const kernel::Program& program, const Device& maker)
    : name_(program.name),
      parameters_(program.parameters),
      opening_(maker.opening_),
      device_(maker.info().id),
      argument_bytes_(program.argument_bytes()),
      most_teams_(most_teams(program, maker)) {}

namespace {

void check_buffer(const Device* device, std::string_view operation, std::string_view name,
                  const Buffer& buffer) {
  if (!buffer)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] {}: expected a buffer, got an empty handle", operation, name));
  if (buffer.memory()->device() != device)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] {}: expected a buffer of {}, got one of another device", operation, name,
                            device->info().id));
}

void check_range(std::string_view operation, const Buffer& buffer, uint64_t bytes, uint64_t offset) {
  if (offset > buffer.bytes() || bytes > buffer.bytes() - offset)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[{}] range: expected within {} bytes, got {} from {} on", operation,
                            buffer.bytes(), bytes, offset));
}

// A half has no C++ number: its 16 bits are passed.
bool fits(Type wanted, Type got) {
  return wanted == got || (got == Type::u16 && (wanted == Type::f16 || wanted == Type::bf16));
}

}  // namespace

Buffer Device::allocate(uint64_t bytes) {
  if (bytes > limits_.max_buffer_bytes)
    throw Error(ErrorKind::out_of_memory,
                fmt::format("[allocate] bytes: expected at most {}, the largest buffer of {}, got {}",
                            limits_.max_buffer_bytes, info_.id, bytes));
  return {do_allocate(bytes), 0, bytes};
}

std::shared_ptr<const Kernel> Device::compile(const kernel::Program& program) {
  kernel::verify(program);
  return do_compile(program);
}

void Device::run(const Kernel& kernel, uint64_t teams, std::span<const Argument> arguments) {
  if (kernel.opening_ != opening_)
    throw Error(
        ErrorKind::bad_argument,
        fmt::format("[{}] kernel: expected one that {} compiled, got one of {}", kernel.name(), info_.id,
                    kernel.device_ == info_.id ? "an earlier opening of it" : kernel.device_));
  const auto& parameters = kernel.parameters();
  if (arguments.size() != parameters.size())
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] arguments: expected {}, got {}", kernel.name(),
                                                     parameters.size(), arguments.size()));
  if (teams > kernel.most_teams_)
    throw Error(ErrorKind::bad_argument, fmt::format("[{}] teams: expected at most {}, got {}", kernel.name(),
                                                     kernel.most_teams_, teams));
  constexpr size_t on_stack = 512;
  std::byte small[on_stack];
  std::vector<std::byte> large;
  std::byte* block = small;
  if (kernel.argument_bytes_ > on_stack) {
    large.resize(kernel.argument_bytes_);
    block = large.data();
  }
  std::memset(block, 0, kernel.argument_bytes_);
  std::memcpy(block, &teams, sizeof teams);
  for (size_t k = 0; k < parameters.size(); ++k) {
    const Parameter& p = parameters[k];
    const Argument& a = arguments[k];
    if (p.is_buffer != a.is_buffer() || (!p.is_buffer && !fits(p.type, a.type())))
      throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}: expected {}, got {}", kernel.name(), p.name,
                                                       p.is_buffer ? "a buffer" : name_of(p.type),
                                                       a.is_buffer() ? "a buffer" : name_of(a.type())));
    if (p.is_buffer) check_buffer(this, kernel.name(), p.name, a.buffer());
    const uint64_t bits = p.is_buffer ? a.buffer().address() : a.bits();
    std::memcpy(block + p.offset, &bits, p.is_buffer ? 8 : kernel::size_of(p.type));
  }
  if (teams > 0) do_run(kernel, teams, {block, kernel.argument_bytes_}, arguments);
}

void Device::write(const Buffer& buffer, const void* data, uint64_t bytes, uint64_t offset) {
  check_buffer(this, "write", "buffer", buffer);
  check_range("write", buffer, bytes, offset);
  if (bytes > 0) do_write(buffer, data, bytes, offset);
}

void Device::read(const Buffer& buffer, void* data, uint64_t bytes, uint64_t offset) {
  check_buffer(this, "read", "buffer", buffer);
  check_range("read", buffer, bytes, offset);
  if (bytes > 0) do_read(buffer, data, bytes, offset);
}

void Device::copy(const Buffer& from, const Buffer& to, uint64_t bytes) {
  check_buffer(this, "copy", "from", from);
  check_buffer(this, "copy", "to", to);
  check_range("copy", from, bytes, 0);
  check_range("copy", to, bytes, 0);
  if (from.memory() == to.memory() && from.offset() < to.offset() + bytes &&
      to.offset() < from.offset() + bytes)
    throw Error(ErrorKind::bad_argument, "[copy] ranges: expected two that do not overlap");
  if (bytes > 0) do_copy(from, to, bytes);
}

void Device::fill(const Buffer& buffer, uint32_t pattern) {
  check_buffer(this, "fill", "buffer", buffer);
  if (buffer.bytes() % 4 != 0 || buffer.offset() % 4 != 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[fill] buffer: expected whole 32-bit words, got {} bytes", buffer.bytes()));
  if (buffer.bytes() > 0) do_fill(buffer, pattern);
}

void Device::flush() { do_flush(); }
void Device::wait() { do_wait(); }
void Device::trim() { do_trim(); }

}  // namespace adit
