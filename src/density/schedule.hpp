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
//
// A region is a graph that is computed at once: the density, or a function inside of control flow. Loops and
// choices are passes of their own, and hold the schedules of their functions.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "density/density.hpp"
#include "graph/bounded_loops.hpp"

namespace adit::sampling {

using graph::Node;

inline constexpr int64_t small = 32;
// Totals that a CPU's registers hold in one loop, beside what they are made of.
inline constexpr int64_t few_totals = 6;

enum class ItemKind : uint8_t {
  totals,    // a reduction of few results over many elements
  store,     // the elements of a tensor, into the chain's memory
  output,    // the elements of a long result of the region
  scatter,   // updates added to a tensor in the chain's memory, one after the other (a chain in a lane)
  own_sums,  // updates, each lane's added to sums of its own (a GPU's team); then segments
  sorted,    // updates, into the chain's memory, those of a target side by side (a GPU's team); then segments
  segments,  // sums of updates, a target by all lanes (a CPU's team) or by some (a GPU's)
  by_rows,   // a matrix times a vector, rows of the matrix one after the other (a CPU's team)
  by_columns,  // the same with the matrix transposed: each row is added to all results
  factor,      // a factorisation or a triangular system in the chain's memory
  place,       // updates at places that no list tells, or that replace: one after the other, by one lane
  control      // a loop or a choice
};

struct Item {
  ItemKind kind{};
  const Node* node = nullptr;
  int64_t count = 0;  // steps of its loop
  size_t result = 0;  // output: which of the region
  int level = 0;
  bool is_wide = false;   // more totals than few_totals, on a CPU: in loops of few
  bool is_lower = false;  // of a square matrix, the lower triangle alone
  bool is_kept = false;   // stored for later passes alone: others of its own pass compute it
};

struct Pass {
  int64_t count = 0;
  int64_t totals_a_loop = 0;  // 0: all of them in one loop
  // Passes over the same rows, each of which reads of the ones before what they made of that row, go together
  // over so many rows at a time, so that a matrix which several read comes from memory once: a product by
  // rows, a pass over its results and the product by columns; or a pass and the loops of many totals after
  // it. 0: they do not.
  int64_t tile = 0;
  bool is_lower = false;        // over the lower triangle of a square matrix of `count` elements
  const Node* limit = nullptr;  // a leaf: the loop ends there, before `count` (counted_rows.hpp)
  size_t tiled = 0;             // how many passes, this one included
  double cost = 0;              // of a step, in operations, at most: what steps share is counted again
  std::vector<Item> items;
};

struct Control;

// The team of a GPU that a schedule is made for.
struct TeamShape {
  int64_t lanes = 0;             // 0: not known
  int64_t subgroup = 1;          // lanes that can hand each other numbers; 1: they cannot
  int64_t near = 0;              // numbers of memory near its lanes for what the density keeps
  int64_t short_result = small;  // longer results are shared out; all lanes compute all of the others
  bool all_near = false;         // all of the chain's memory lies near the lanes
  bool spreads = false;          // one pass over many rows is spread over the device
};

struct Schedule {
  bool by_team = false, on_cpu = false;
  TeamShape team;
  int64_t short_result = small;  // longer results of the region are output items
  int64_t written = small;       // longer tensors are not written out element by element
  int64_t spread_pass = -1;      // the pass whose rows are spread over the device; -1: there is none
  std::vector<Pass> passes;
  std::unordered_map<const Node*, int64_t> stored;  // where in the chain's memory
  // Of those, what only passes read that go together over tiles: the rows of one tile lie there.
  std::unordered_set<const Node*> of_a_tile;
  std::unordered_map<const Node*, std::shared_ptr<Control>> controls;
  std::unordered_map<const Node*, int64_t> sorted;  // the same for updates
  std::unordered_set<const Node*> own_sums;         // those of them that lanes add to sums of their own
  int64_t scratch = 0;                              // numbers of the chain's memory: of it
  int64_t near = 0;                                 // places below this lie near the team's lanes
  // Updates that the caller makes where their carry lies; who reads what they make looks through them.
  std::unordered_set<const Node*> in_place;
  // Reductions and updates of this kind are fixed after their pass.
  std::unordered_map<const Node*, ItemKind> kinds;
  int64_t work = 0;    // elements that are computed, roughly: how long a gradient takes
  int64_t serial = 0;  // those of them that come one after the other, in loops
  int64_t steps = 0;   // and of these, those of rounds that are too short to be shared out
};

// Updates that change a carry where it lies.
struct Updates {
  std::vector<const Node*> chain;  // newest first
  std::vector<const Node*> made;   // these, and reshapes between them
  int64_t count = 0;               // numbers that they write
  // Numbers that lead back from the carry of `size` numbers to the one before.
  int64_t kept(int64_t size) const { return count == 0 ? size : 2 * count; }
};

// Where control flow keeps what it carries, in the chain's memory; -1: in registers, up to `small` numbers.
struct Control {
  std::vector<Schedule> functions;
  int64_t scratch = 0;                                // of the functions
  std::vector<int64_t> states, next;                  // of what rounds carry: in this round, and in the next
  std::vector<Updates> in_place;                      // that make the next from this one
  std::vector<int64_t> changes;                       // many of them: their targets, then their values
  std::vector<int64_t> results;                       // of the node: stacked outputs, long ones of choices
  std::vector<std::pair<const Node*, size_t>> items;  // the nodes that pick results, and which
  // while_vjp: the states before each round; of what is changed where it lies, the targets and what was
  // there.
  int64_t history = -1;
  int64_t history_size = 0;  // numbers of a round
};

// What a schedule is made for.
struct Region {
  std::vector<Tensor> inputs;  // placeholders whose values are not known beforehand
  std::vector<Tensor> results;
  DType type{};
  bool by_team = false, on_cpu = false;
  TeamShape team{};
  int64_t short_result = small, written = small;
  std::unordered_set<const Node*> in_place{};  // results that the caller writes, and what leads to them
  std::unordered_map<int64_t, const Node*> limits{};  // of passes by their counts
};
Region region_of(const Density& density, bool by_team, bool on_cpu, const TeamShape& team = {});

// Throws `unsupported` where the graph has an operation that kernels of the sampler do not have.
Schedule make_schedule(const Region& region);
inline Schedule make_schedule(const Density& density, bool by_team, bool on_cpu, const TeamShape& team = {}) {
  return make_schedule(region_of(density, by_team, on_cpu, team));
}

// Multiplications of products with a matrix of the data, which all chains read: the larger ones.
int64_t shared_products(const Density& density);

// Operations of small tensors, of more than short_rows numbers, which a chain that is alone in its lane
// computes one by one.
double written_operations(const Density& density);

// Whether a kernel of the sampler may hold the density. What has more operations, a recurrence of ten
// thousand steps that was written out, say, would take minutes to compile as one piece of code; the engine of
// tensors cuts it into kernels that are compiled apart, and of equal ones one.
bool fits_a_kernel(const Density& density);
inline constexpr double most_kernel_operations = 200000;

// One line a pass and an item.
std::string to_text(const Schedule& schedule);

// Elements of a last axis from which a CPU's lanes count it rather than all of a pass.
inline constexpr int64_t shortest_row = 16;

// Bytes of a matrix that a CPU reads twice while they lie in its first cache, of 32 KiB or more.
inline constexpr int64_t tile_bytes = 24576;

// Lines of a matrix that a CPU multiplies by a vector side by side: their sums wait less, and share what they
// read of the vector.
int64_t lines_together(const Node& product);
// Numbers of matrices that a CPU's team reads line by line: once for all chains that go together. None where
// operands are more than read: loops of several chains would be long, and their sums have other parts than
// those of one.
int64_t numbers_in_lines(const Schedule& schedule);
inline constexpr int64_t most_lines = 4;         // of one chain, and of one that goes
inline constexpr int64_t most_lines_apart = 16;  // apart from those that it shares a team with
inline constexpr int64_t few_rows = 8;           // a tile of those of which few lines go together

// Numbers, of eight bytes, of a CPU's cache line.
inline constexpr int64_t line_numbers = 8;

// Rows from which a pass may be spread over a device; the totals that come of it, which are as many registers
// of a lane; and the columns of a matrix that the lane of a row multiplies by itself.
inline constexpr int64_t many_rows = 4096;
inline constexpr int64_t most_spread_totals = 96;
inline constexpr int64_t most_spread_length = 512;

// Loops that `totals` take, `most` or fewer in each.
inline int64_t loops_of(int64_t totals, int64_t most) { return (totals + most - 1) / most; }
// Elements that one result is made of, of a reduction or a product.
int64_t length_of(const Node& node);
bool reduces(const Node& node);
// Operations of a reduction or of updates that are written out where they are read.
inline constexpr int64_t few_operations = 64;
// Where small tensors take more operations than this, a team has passes over those of more than so many rows.
inline constexpr double most_written_on_cpu = 2000, most_written_on_gpu = 500;
inline constexpr int64_t short_rows = 8;
// The work of a schedule that a CPU's team does by blocks of rows and columns.
int64_t work_by_blocks(const Schedule& schedule);
// Updates that each element of their result looks through.
bool are_few_updates(const Node& node);
// A factorisation, its gradient, or a triangular system; and the multiplications of one.
bool is_factor(const Node& node);
int64_t factor_work(const Node& node);

}  // namespace adit::sampling
