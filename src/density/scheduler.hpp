// Makes schedules: what is an item (schedule.cpp), in which pass it is computed (levels.cpp), and where it
// lies (schedule_memory.cpp).
#pragma once

#include <optional>
#include <tuple>

#include "density/schedule.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

inline int64_t count_of(const Node& node) { return element_count(node.shape); }
// Numbers of a chain's memory of this type that one of the node's takes.
inline int64_t places_of(const Node& node, DType type) {
  return node.type == DType::f64 && type == DType::f32 ? 2 : 1;
}

// Memory that something wants, from one pass to another, and where it wants to be told its place.
struct Want {
  int64_t* place = nullptr;
  int64_t count = 0;
  size_t from = 0, until = 0;
  int64_t touches = 0;  // of a number, roughly
  const int64_t* over =
      nullptr;  // the place of what may end here: each of its elements is read before it is written
};

class Scheduler {
 public:
  explicit Scheduler(const Region& region);
  Schedule make();

 private:
  // --- What is an item ---
  void classify();
  void classify_reduction(const Node& node);
  bool is_written_out(const Node& node);
  bool are_totals(const Node& node) const;
  bool is_soon_by_results(const Node& node);
  bool costs_written(const Node& table, double least) const;
  void keep_table(const Node& node, const Tensor& operand, double least);
  // A CPU reads a matrix line by line, as it lies: across lines it would wait for memory at every step.
  std::optional<ItemKind> product_by_lines(const Node& node) const;
  void add_product(const Node& node, ItemKind kind);
  static bool is_variable_like(const Node& node) { return node.operands.empty(); }
  // What all of the loops of a wide item read is computed before them.
  void keep_operands(const Node& node);
  void classify_updates(const Node& node);
  void prepare_segments(const Node& node);
  bool is_sorted(const Node& node) const { return sorted_.contains(&node); }
  static bool is_before_segments(ItemKind kind) {
    return kind == ItemKind::sorted || kind == ItemKind::own_sums;
  }
  void classify_factor(const Node& node);
  // What the functions read again and again is computed before. A team's lanes all go through the loop, and
  // would each compute what the loop reads once.
  void classify_control(const Node& node);
  void cut_nests();
  void add_output(const Node& node, size_t result);
  void keep(const Node& node);
  // Nodes of items come and go by these: costs follow.
  bool know(const Node& node);  // false where it was known
  void forget(const Node& node);
  void add(const Item& item);
  // A pass of its own.
  static bool is_alone(const Item& item);

  // --- lower_part.cpp ---
  void find_lower();
  bool is_zero_above(const Node& node) const;
  bool is_sum_below(const Node& node) const;
  bool reads_below(const Node& user, const Node& matrix) const;

  // --- Levels ---
  // Items of one are computed in one loop.
  using PassKey = std::tuple<int, bool, bool, int64_t>;
  static PassKey pass_of(const Item& item, int level, int64_t count) {
    return {level, item.is_wide, item.is_lower, count};
  }
  // Whether element i is made of the operands' elements i.
  static bool is_elementwise(const Node& node);
  // The items that an item needs, through what is computed where it is read. What is kept and read at the
  // item's own step alone is none of them: both may be in one pass.
  // `all`: it is, where both are in passes of their own.
  std::vector<size_t> needs(const Item& item, bool all = false) const;
  // Updates that whoever reads them adds to what they update.
  static bool is_read_with_its_base(const Item& item);
  void arrange();
  // Nodes that are items, or need one: the others are not looked through for each item again.
  void find_reaching();

  // --- What is worth keeping ---
  double cost_of(const Node& node);
  std::optional<double> cost_at_once(const Node& node) const;
  double step_cost(const Pass& pass);
  int64_t find_spread_pass(const Schedule& schedule) const;
  // How often an element of each node is computed in a pass: the evaluations of its users, with those that
  // are shared counted once.
  void count_reads(const std::vector<const Item*>& items, std::unordered_map<const Node*, double>& total);
  bool keep_costly();
  bool forget_unread();

  // --- Tiles ---
  void find_tiles(Schedule& schedule) const;
  bool is_tiled_with(const Pass& wide, const Pass& first) const;
  std::unordered_set<const Node*> read_apart(const Pass& pass) const;

  // --- Memory ---
  // A tensor has its place from the pass that writes it to the last one that reads it.
  void place_memory(Schedule& schedule);
  int64_t touches_of(const Node& node) const;
  void place_all(const std::vector<Want>& wants, Schedule& schedule) const;
  // Items that the short results of the region, which are read after all passes, are made of.
  std::vector<size_t> read_at_the_end() const;
  Control& controlled(Schedule& schedule, const Node& node);
  // Results of control flow that lie in memory.
  void find_results(Schedule& schedule);

  const Region& region_;
  const bool by_team_, on_cpu_;
  const bool by_gpu_team_;
  std::unordered_set<const Node*> varying_;
  std::vector<const Node*> nodes_;  // that depend on a variable, operands first
  std::unordered_map<const Node*, std::vector<const Node*>> users_;
  // Square matrices that are zero above the diagonal; and those, and sums over them, which nobody reads
  // there.
  std::unordered_set<const Node*> zero_above_, lower_;
  std::vector<Item> items_;
  std::unordered_set<const Node*> known_;  // of items, outputs apart
  std::unordered_map<const Node*, size_t> index_;
  std::unordered_set<const Node*> reaches_;
  std::unordered_map<const Node*, size_t> sorted_;  // the items of updates before their segments
  std::unordered_map<const Node*, double> costs_;
};

}  // namespace adit::sampling
