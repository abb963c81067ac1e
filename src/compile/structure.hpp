// What a graph looks like, without its data: the key under which executables are found.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/node.hpp"

namespace adit::compile {

using Key = std::array<uint64_t, 2>;

struct Structure {
  std::vector<Tensor> nodes;    // topological
  std::vector<Tensor> inputs;   // tensors in memory and placeholders, oldest first
  std::vector<Tensor> numbers;  // scalars that the caller gave
  Key key{};
};

// Under the graph lock. `device_words` tells devices apart.
Structure describe(std::span<const Tensor> roots, uint64_t device_word);

}  // namespace adit::compile
