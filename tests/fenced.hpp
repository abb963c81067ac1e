// The interpreter on memory that ends at a fence: who reads or writes past the end of a buffer dies at once.
#pragma once

#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "devices.hpp"

namespace adit::test {

// Bytes whose last one lies before a page that nobody may touch.
class Fenced {
 public:
  explicit Fenced(const std::vector<std::byte>& bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    room_ = (bytes.size() + page - 1) / page * page + page;
    void* const made = ::mmap(nullptr, room_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (made == MAP_FAILED) throw Error(ErrorKind::out_of_memory, "[fenced] no memory");
    start_ = static_cast<std::byte*>(made);
    std::byte* const fence = start_ + room_ - page;
    ::mprotect(fence, page, PROT_NONE);
    data_ = fence - bytes.size();
    if (!bytes.empty()) std::memcpy(data_, bytes.data(), bytes.size());
  }
  ~Fenced() { ::munmap(start_, room_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte *start_ = nullptr, *data_ = nullptr;
  size_t room_ = 0;
};

// Of programs whose parameters are all buffers; the last buffer as it is afterwards.
inline std::vector<std::byte> run_fenced(const Program& program, uint64_t teams,
                                         const std::vector<Input>& inputs) {
  std::vector<std::unique_ptr<Fenced>> buffers;
  std::vector<std::byte> block(program.argument_bytes());
  std::memcpy(block.data(), &teams, 8);
  for (size_t k = 0; k < inputs.size(); ++k) {
    buffers.push_back(std::make_unique<Fenced>(inputs[k].bytes));
    const auto address = reinterpret_cast<uint64_t>(buffers.back()->data());
    std::memcpy(block.data() + program.parameters[k].offset, &address, 8);
  }
  Interpreter(program, block.data()).run(teams);
  const size_t size = inputs.back().bytes.size();
  return {buffers.back()->data(), buffers.back()->data() + size};
}

}  // namespace adit::test
