// The cases that reference.py wrote: inputs and independent results.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <adit/tensor.hpp>

#include "ops/call.hpp"

namespace adit::test {

struct Stored {
  DType type{};
  Shape shape;
  std::vector<std::byte> bytes;
};

struct Expected {
  DType type{};
  Shape shape;
  std::vector<std::byte> bytes;          // exact bits, or
  std::vector<double> high, low, slack;  // parts in high + low; slack: one an element
  double ulp = -1;                       // negative: the row's bound
  bool zero_signs = true;
};

// An entry of the index; its bytes are read when they are asked for.
class Case {
 public:
  Case(const std::string& folder, ops::Json entry) : folder_(&folder), entry_(std::move(entry)) {}
  std::string op() const { return entry_.at("op").get<std::string>(); }
  std::string group() const { return entry_.at("group").get<std::string>(); }
  const ops::Json& attributes() const { return entry_.at("attributes"); }
  bool everywhere() const { return entry_.value("everywhere", false); }
  std::vector<Stored> inputs() const;
  std::vector<DType> input_types() const;
  Expected expected() const;
  std::string describe() const;  // "sum(f32[3, 5]) {"axes":[0]}"

 private:
  std::vector<std::byte> read(uint64_t at, uint64_t bytes) const;
  std::vector<double> read_doubles(uint64_t at, uint64_t count) const;
  const std::string* folder_;
  ops::Json entry_;
};

// All of them; read once.
const std::vector<Case>& all_cases();

}  // namespace adit::test
