// A kernel program as machine code of this host, by LLVM.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::native {

// Teams [begin, end) of a dispatch. `arguments` is the argument block.
using Function = void (*)(const std::byte* arguments, uint64_t begin, uint64_t end);

struct Host {
  std::string triple, cpu, features;  // features: what the OS reports, not what the CPU's name promises
  uint32_t vector_bits = 128;
  bool many_registers = false;         // 32 vector registers rather than 16
  bool masks_memory = false;           // loads and stores of some lanes of a vector are one instruction
  bool fma_overwrites_addend = false;  // else any of its operands
  bool bounds_pass_nan = false;        // its minimum and maximum of a NaN and a number are the NaN
};

bool available();         // false where the build has no LLVM
std::string generator();  // "LLVM 19.1.7", or why there is none
const Host& host();
// SIMD lanes that a program's invocations run in.
uint32_t lanes_of(const kernel::Program& program);
// Whether its code is for whole vectors alone: what a dispatch has left over is for a kernel of one lane.
bool rest_is_apart(const kernel::Program& program);

// A compiled function and the memory its code lives in.
class Code {
 public:
  virtual ~Code() = default;
  Function function() const { return function_; }
  uint64_t bytes() const { return bytes_; }  // of memory, with what LLVM keeps beside it, about

 protected:
  Function function_ = nullptr;
  uint64_t bytes_ = 0;
};

// An object file with one function, and the same made callable.
std::vector<std::byte> emit_object(const kernel::Program& program);
std::shared_ptr<const Code> load_object(const kernel::Program& program, const std::vector<std::byte>& object);
// LLVM's own listing after optimisation, for whoever debugs.
std::string emit_listing(const kernel::Program& program);

// Everything of the host and the generator that changes the object, for a cache key.
std::string host_key();

}  // namespace adit::native
