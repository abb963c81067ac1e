// In which order a chain computes its log density: passes over observations and other long axes, with as much
// as can be in each.
//
// - Small tensors (up to `small` elements) are computed element by element where they are read, in registers.
// - Elementwise work and index maps are computed where they are read, in a pass.
// - A pass is a loop over `count`: totals of reductions, and elements that are put into the chain's memory.
// One pass
//   over the observations serves the value and the gradient.
// - On a CPU a reduction to more results than registers hold is a pass of its own: loops of few totals over
//   what was stored before.
#pragma once

#include <unordered_map>
#include <vector>

#include "density/density.hpp"

namespace adit::sampling {

using graph::Node;

inline constexpr int64_t small = 32;
// Totals that a CPU's registers hold in one loop, beside what they are made of.
inline constexpr int64_t few_totals = 6;

enum class ItemKind : uint8_t {
  totals,   // a reduction of few results over many elements
  store,    // the elements of a tensor, into the chain's memory
  output,   // the elements of a long variable's gradient
  scatter,  // updates added to a tensor in the chain's memory, one after the other (a chain in a lane)
  sorted,   // updates, into the chain's memory, those of a target side by side (a team): readers sum
  factor    // a factorisation or a triangular system in the chain's memory
};

struct Item {
  ItemKind kind{};
  const Node* node = nullptr;
  int64_t count = 0;    // steps of its loop
  size_t variable = 0;  // output: whose gradient
  int level = 0;
  bool is_wide = false;  // more totals than few_totals, on a CPU: in loops of few
  bool is_kept = false;  // stored for later passes alone: others of its own pass compute it
};

struct Pass {
  int64_t count = 0;
  int64_t totals_a_loop = 0;  // 0: all of them in one loop
  std::vector<Item> items;
};

struct Schedule {
  bool by_team = false, on_cpu = false;
  std::vector<Pass> passes;
  std::unordered_map<const Node*, int64_t> stored;  // where in the chain's memory
  std::unordered_map<const Node*, int64_t> sorted;  // the same for updates
  int64_t scratch = 0;                              // numbers of the chain's memory
  // Reductions and updates of this kind are fixed after their pass.
  std::unordered_map<const Node*, ItemKind> kinds;
  int64_t work = 0;  // elements that are computed, roughly: how long a gradient takes
};

// Throws `unsupported` where the graph has an operation that kernels of the sampler do not have.
Schedule make_schedule(const Density& density, bool by_team, bool on_cpu);

// Loops that `totals` take, `most` or fewer in each.
inline int64_t loops_of(int64_t totals, int64_t most) { return (totals + most - 1) / most; }
// Elements that one result is made of, of a reduction or a product.
int64_t length_of(const Node& node);
bool reduces(const Node& node);

}  // namespace adit::sampling
