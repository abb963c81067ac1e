// What a graph looks like, without its data: the key under which executables are found.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::compile {

using Key = std::array<uint64_t, 2>;

// A graph as it was when it was described: other threads may compute nodes of it meanwhile, which changes
// nothing here.
struct Structure {
  struct Place {
    Tensor node;
    bool computed = false;       // a tensor in memory, whatever it was made of
    uint32_t first_operand = 0;  // in `operands`
    uint32_t operand_count = 0;
  };
  std::vector<Place> places;       // topological
  std::vector<uint32_t> operands;  // numbers of places
  std::vector<Tensor> inputs;      // tensors in memory and placeholders, oldest first
  std::vector<Tensor> numbers;     // scalars that the caller gave
  Key key{};
};

// `device_word` tells devices apart. Needs no lock.
Structure describe(std::span<const Tensor> roots, uint64_t device_word);

}  // namespace adit::compile
