// Runs graphs: finds or makes the executable and hangs the results onto the nodes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compile/executable.hpp"
#include "compile/structure.hpp"
#include "graph/node.hpp"

namespace adit {

// The executable of this structure, if it was made.
std::shared_ptr<const compile::Executable> known_executable(const compile::Key& key);

// All that compiling needs of a graph: a copy of its nodes, whose leaves are placeholders. Other threads may
// evaluate the graph itself meanwhile.
class Recipe {
 public:
  Recipe(std::shared_ptr<Device> device, std::span<const Tensor> roots, const compile::Structure& structure);
  // From disk or anew; it is known from then on.
  std::shared_ptr<const compile::Executable> make() const;

 private:
  std::shared_ptr<Device> device_;
  compile::Key key_;
  std::string stored_;  // its name on disk; empty: too small to be worth it
  std::vector<Tensor> roots_, inputs_, numbers_;
};

uint64_t device_word(const Device& device);
// The device of a graph: the one its leaves live on, or the default.
std::shared_ptr<Device> device_of(std::span<const Tensor> roots);
std::vector<graph::Literal> number_values(std::span<const Tensor> numbers);
// eval() where it takes microseconds: what it needs is compiled, ran within `most_seconds` the last time, and
// no other thread is in its way. Otherwise nothing happens.
bool eval_quickly(std::span<const Tensor> tensors, double most_seconds);
// Gives a node its memory, where it has none; under the graph lock unless nobody else knows it. Gives the
// operands that it lets go of outside of tracing, for the caller to drop without the lock.
std::vector<Tensor> set_storage(const Tensor& x, const std::shared_ptr<Device>& device, const Buffer& buffer);

}  // namespace adit
