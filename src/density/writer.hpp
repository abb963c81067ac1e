// Writes a log density and its gradient into a kernel, for one chain.
#pragma once

#include <list>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "density/chain.hpp"
#include "density/control_plan.hpp"
#include "density/schedule.hpp"
#include "graph/row.hpp"
#include "lower/element_writer.hpp"

namespace adit::sampling {

using graph::Index;
using graph::Scalar;

// A piece of the two buffers that kernels read: numbers of the sampler's precision, and whole numbers (i32).
struct Segment {
  enum class Kind : uint8_t {
    values,   // a leaf, row-major
    columns,  // a leaf with its first axis last: lanes that count observations then read side by side
    order,    // of updates: the numbers of those of each target, one target after the other
    starts,   // of updates: where those of a target begin in `order`; one more for the end
    ranks     // of updates: where each one stands in `order`
  } kind{};
  const Node* leaf = nullptr;
  const Node* updates = nullptr;  // order, starts, ranks: the indexed_add
  int64_t offset = 0, count = 0;
  bool is_wide = false;  // numbers of f64 as sums of two of f32: all first parts, then all second ones
};
struct Segments {
  std::vector<Segment> reals, places;
  int64_t reals_count = 0, places_count = 0;
};

// The rows of one pass, spread over several teams: each leaves its share of the totals, and one that comes
// later adds them up and does the rest.
struct RowShare {
  Array shares;  // [totals, teams] of the chain
  Value base;    // where the chain's begin
  Value team;    // of the chain's; none: this is the one that does the rest
  int64_t teams = 1;
};

// A parameter of a function inside of control flow, while the function is written.
struct Binding {
  std::vector<Value> elements;   // in registers; or
  std::optional<Vector> memory;  // in the chain's memory; or
  const Node* outer = nullptr;   // the elements of a node outside of the function:
  Value slice;                   // of this slice along axis 0, or all
};

// Steps of a loop that are written at once (scan_ahead.cpp).
inline constexpr int64_t steps_ahead = 4;

// Positions up to this size may lie in registers, of at most `most`: the gradient of a variable that is long
// for the schedule is written in a loop, at places that a kernel's registers do not have.
int64_t most_in_registers(const Density& density, const Schedule& schedule, int64_t most);

class DensityWriter final : public lower::ElementWriter {
 public:
  DensityWriter(Chain& chain, const Density& density, const Schedule& schedule);
  // Before any block of the kernel is opened. `set`: the number of the chain's data set, where there are
  // several (the two buffers hold one after the other); an empty Value: there is one.
  void declare(Value set);

  // The log density at q, its gradient to g. `scratch` is memory of the chain, `near` that of it which the
  // schedule wants near a team's lanes.
  Value write(const Vector& q, const Vector& g, const Vector& scratch, const Vector& near = {});

  // The same of several chains, with a writer each: they go through the data together, so that products with
  // its matrices read them once. On a CPU's team; the first writer has declared what all of them use.
  struct Point {
    Vector q, g, scratch;
  };
  static std::vector<Value> write_together(const std::vector<DensityWriter*>& writers,
                                           const std::vector<Point>& points);
  // One of `together` chains alone, to the same bits.
  Value write_apart(const Point& point, int64_t together);
  void declare_beside(const DensityWriter& first);

  // The same by the schedule's spread pass.
  void write_share(const Vector& q, const Vector& scratch, const RowShare& share);
  Value write_rest(const Vector& q, const Vector& g, const Vector& scratch, const RowShare& share);
  int64_t shares_of_a_team() const;  // numbers

  const Segments& segments() const { return *segments_; }

  Builder& builder() override { return chain_.builder(); }
  Value number(int64_t value) override { return chain_.index(value); }

 private:
  // Of chains that go together; the first stands for what they share.
  using Writers = std::span<DensityWriter* const>;
  struct Scopes {
    explicit Scopes(Writers writers) {
      for (DensityWriter* writer : writers) each.emplace_back(*writer);
    }
    std::list<Scope> each;
  };

  Value linear_of(const Node& node, const Index& at);
  uint64_t place_of(const Node& node, const Index& at) override { return linear_of(node, at).id(); }
  std::optional<Scalar> known(const Node& node, const Index& at) override;
  Scalar result(const Node& node, std::span<const Scalar> operands) override;
  Scalar other(const Node& node, const Index& at) override;
  bool are_inside(const Node& gather) const override;  // gathers.cpp
  Scalar variable(const Node& node, Value linear);
  static Scalar pick(const std::vector<Value>& elements, Value linear);
  bool is_computed_there(const Node& table);
  bool is_in_registers(const Node& node) const;
  bool is_plain(const Node& table);
  bool is_followed(const Node& node) const;
  bool is_short(const Node& reduction, int64_t count) const;
  Scalar reduction(const Node& node, const Index& at);
  struct Run {  // of updates that go to one element
    Value begin, end;
    std::function<Value(Value)> update;  // by its place among all
  };
  Run run_of(const Node& node, const Index& at);
  Scalar updates(const Node& node, const Index& at);
  Scalar few_updates(const Node& node, const Index& at);
  Scalar through_update(const Node& node, const Index& at);
  Scalar load_leaf(const Node& node, const Index& at);
  Value segment(Segment::Kind kind, const Node& leaf, const Node* updates, int64_t count, Value place);

  // --- control.cpp: loops and choices
  // What rounds carry: in registers, or in the chain's memory.
  struct State {
    int64_t count = 0;
    std::vector<Variable> cells;
    std::optional<Vector> memory, next;  // of this round, and where the next round's is made
    const Updates* in_place = nullptr;   // that make the next from this one
    std::optional<Vector> changes;       // many of them
    std::vector<Value> values() const;
  };
  using States = std::vector<State>;
  using Elements = std::vector<std::vector<Value>>;  // of results, empty where they lie in memory
  struct Change {                                    // of one number of a state that is changed where it lies
    Value target, value;
    bool adds = false;
  };
  void write_control(const Node& node);
  States write_scan(const Node& node, const Control& control);
  bool goes_by_parts(const Node& node, const Control& control) const;  // scan_parts.cpp
  void write_parts(const Node& node, const Control& control, const States& states);
  std::optional<size_t> carry_ahead(const Node& node, const Control& control) const;  // scan_ahead.cpp
  void take_steps(const Node& node, const Control& control, const States& states, size_t carry, Value begin);
  bool goes_by_chunks(const Node& node, const Control& control) const;  // scan_chunks.cpp
  void write_chunks(const Node& node, const Control& control, const States& states);
  States write_cond(const Node& node, const Control& control);
  States write_while(const Node& node, const Control& control);
  void go_back(const Node& node, const Control& control, const States& states, const States& carries,
               Value rounds);
  State open_state(const Tensor& initial, const Control& control, size_t which);
  void within(const graph::Subgraph& function, const Control& control, size_t which, std::vector<Vector> to,
              const std::function<void()>& use);
  void call(const graph::Subgraph& function, const Control& control, size_t which, std::vector<Vector> to,
            const std::function<void(const Elements&)>& use);
  void compute_side_by_side(const graph::Subgraph& function);
  void bind(const graph::Subgraph& function, size_t first, const States& states);
  void bind_captured(const graph::Subgraph& function, size_t count, const Node& node);
  void advance(const States& states, const Elements& next, const std::optional<Vector>& history = {});
  void keep_history(const States& states, const Vector& to);
  void keep_change(const std::optional<Vector>& kept, const State& state, Value update, Value target);
  void restore(const State& state, const Vector& kept);
  std::vector<Change> changes_of(const State& state);
  void note_changes(const State& state);
  void make_changes(const State& state, const std::vector<Change>& changes,
                    const std::optional<Vector>& kept);
  Scalar parameter(const Node& node, const Binding& binding, const Index& at, Value linear);
  std::vector<Value> elements_of(const Tensor& x);
  Value memory_number(Value value);  // as the chain's memory holds it
  Value stored_number(const Node& node, Value value) { return is_wide(node) ? value : memory_number(value); }
  Value number_of(const Node& node, Value stored);  // and back
  Vector memory(int64_t place) const { return memory_at(base_ + place); }
  Vector memory_at(int64_t place) const {
    return place < schedule_.near ? near_.from(place) : scratch_.from(place - schedule_.near);
  }
  // Where a node lies there. Numbers of f64 among those of f32 take two places each.
  bool is_wide(const Node& node) const { return node.type == DType::f64 && chain_.real() == Type::f32; }
  Vector memory_of(const Node& node) const {
    const Vector memory = memory_at(stored_.at(&node));
    return is_wide(node) ? memory.wide(element_count(node.shape)) : memory;
  }
  // A stored tensor as it is read and written by its rows: of one that a tile has, those of this tile.
  Vector rows_of(const Node& node) const {
    const Vector memory = memory_of(node);
    return of_a_tile_.contains(&node) ? memory.from(first_of_tile_) : memory;
  }
  void each(int64_t count, const std::function<void(Value)>& body);

  // Passes of a region; its long results go to `to`. What it computes is known until `leave`.
  struct Place {
    int64_t base = 0;
    std::vector<Vector> to;
  };
  void settle(const Pass& pass);
  Place enter(const Schedule& schedule, int64_t base, std::vector<Vector> to);
  Place open(const Schedule& schedule, int64_t base, std::vector<Vector> to);
  static void write_passes(Writers writers, const Schedule& schedule);
  void write_alone(const Schedule& schedule, size_t pass);
  Place begin(const Vector& q, const Vector& g, const Vector& scratch, const Vector& near);
  Value end(Place outside);
  void leave(const Schedule& schedule, Place outer);

  void read_ahead();
  void set_by_lanes(const std::vector<std::pair<int64_t, Value>>& elements);
  // One result of a reduction, or of updates.
  struct Total {
    const Node* node = nullptr;
    int64_t element = 0;
  };
  // --- log_products.cpp: logarithms that are summed are one logarithm of a product.
  // Terms of a total whose logarithms are added, and those whose logarithms are taken away.
  struct LogTerms {
    std::vector<const Node*> terms[2];
  };
  struct Loop;
  void find_logs(const Pass& pass, const std::vector<Total>& totals, Loop& loop);
  static std::unordered_set<const Node*> plain_terms(const Tensor& value);
  LogTerms log_terms(const Node& total) const;
  void begin_factors(const std::vector<LogTerms>& logs);
  std::optional<Value> without_logarithm(const Node& node, Value x);
  Value exponent_of(const Node& node, Value u);
  std::vector<Value> products_of(const LogTerms& logs) const;
  void normalise(const Loop& loop, const std::vector<Variable>& totals);
  std::vector<Value> write_blocks(int64_t count, const Loop& loop);
  void prepare(const Pass& pass);
  void read_before(std::span<const Node* const> results);
  void write_pass(const Pass& pass);
  void write_loop(const Pass& pass, const std::vector<Total>& totals);
  Value limit_of(const Pass& pass);
  int64_t row_length(const Pass& pass) const;
  struct Loop {
    std::vector<kernel::Reduction> reductions;
    std::vector<Type> types;
    std::function<std::vector<Value>(Value)> body;  // of a step; it stores what it stores,
    // or hands out what would store it.
    std::function<std::vector<Value>(Value, std::vector<std::function<void()>>&)> parts;
    std::vector<LogTerms> logs;    // of the totals, one for each
    std::vector<size_t> products;  // which of the reductions are products of their factors
    int64_t most_steps = 0;        // that a product may have; 0: there is none
  };
  std::vector<Value> shared_totals(const Pass& pass, const Loop& loop);
  int64_t steps_together(const Pass& pass) const;
  static Loop together(Builder& k, const Loop& loop, int64_t count, int64_t steps, int64_t lanes);
  static std::vector<Total> totals_of(const Pass& pass);
  Loop loop_of(const Pass& pass, const std::vector<Total>& totals);
  void finish(const Loop& loop, const std::vector<Total>& totals, const std::vector<Value>& results);
  std::vector<Value> write_rows(int64_t rows, int64_t length, const Loop& loop);
  std::vector<Value> write_lower(int64_t length, const Loop& loop);
  std::vector<Variable> open_totals(const Loop& loop);
  void add_totals(const Loop& loop, const std::vector<Variable>& totals, Value count,
                  const std::function<std::vector<Value>(Value)>& body);
  // --- product.cpp
  Value zeros_before(const Node& product, Value line, int64_t count);
  static void add_rows(Writers writers, const Node& node, Value begin, Value count);
  void clear_columns(const Node& node);
  static void add_lines(Writers writers, const Node& node, Value first, int64_t together);
  static void add_columns(Writers writers, const Node& node, Value begin, Value count);
  static void write_product_by_rows(Writers writers, const Node& node);
  static void write_product_by_columns(Writers writers, const Node& node);
  void write_factor(const Node& node);
  void write_places(const Node& node);
  // --- tiles.cpp
  static void write_tiles(Writers writers, const Pass& product, const Pass& between, const Pass& back);
  void write_tiles(const Pass& first, const Pass& wide);
  void write_segments(const Node& node);
  void write_segments_by_parts(const Node& node, int64_t width);
  int64_t segment_lanes(const Node& node) const;
  Value total_of(const Node& node, const Index& at, Value sum);
  std::vector<Value> contributions(const Total& total, Value i);
  std::function<void()> element_store(const Item& item, Value i);
  Value target_of(const Node& node, const Index& update);
  Value sorted_place(const Node& node, Value update);

  Index place(const Shape& shape, Value linear) { return Index(builder(), shape, linear); }
  bool is_variable(const Node& node) const { return offsets_.contains(&node); }
  bool is_stored(const Node& node) const { return stored_.contains(&node) && ready_.contains(&node); }

  Chain& chain_;
  const Density& density_;
  const Schedule& schedule_;
  std::unordered_map<const Node*, int64_t> offsets_;  // of the variables
  // Operations of a short sum that is written out element by element; longer ones are loops, since a compiler
  // takes 0.05 ms for each. A guess.
  static constexpr double most_written = 600;
  std::unordered_set<const Node*> leaves_;
  std::unordered_map<const Node*, Dims> extents_;   // of leaves that tell places
  std::unordered_map<const Node*, int64_t> upper_;  // leaves of zeros where row > column + this number
  std::unordered_set<const Node*> sharp_;           // whose last bits a step may show
  std::shared_ptr<Segments> segments_ = std::make_shared<Segments>();
  Array reals_, places_;
  Value reals_base_, places_base_;
  std::unordered_map<const Node*, std::vector<Value>> ahead_;  // leaves that are read already
  // While a density is written
  Vector q_, g_, scratch_, near_;
  std::optional<RowShare> share_;
  // Of the region that is written and those around it.
  std::unordered_map<const Node*, int64_t> stored_, sorted_;
  std::unordered_set<const Node*> in_place_;
  std::unordered_set<const Node*> of_a_tile_;
  std::unordered_map<const Node*, ItemKind> kinds_;
  std::unordered_map<const Node*, const Control*> controls_;
  std::unordered_map<const Node*, Binding> bindings_;
  int64_t base_ = 0;        // of the region's memory
  std::vector<Vector> to_;  // where its long results go
  std::unordered_map<const Node*, std::vector<Value>> totals_;
  std::unordered_set<const Node*> ready_;               // items of passes that are written
  std::unordered_map<const Node*, int> readers_;        // of nodes, roots too
  std::unordered_set<const Node*> plain_;               // terms of the value, as they are
  std::unordered_map<const Node*, bool> plain_tables_;  // what is_plain() said, until more is known
  // While a step is written: terms whose logarithms are taken after the loop, what they take exponentials of,
  // and the factors so far.
  std::unordered_set<const Node*> bent_, bent_at_;
  std::unordered_map<const Node*, Value> factors_;
  Value step_;  // of the pass that is written; where there is one
  int64_t step_count_ = 0;
  int64_t more_lines_ = 1;  // at a time, by this factor
  Value first_of_tile_;     // where row 0 would lie, beside the rows of the tile that is written
};

}  // namespace adit::sampling
