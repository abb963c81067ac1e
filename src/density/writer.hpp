// Writes a log density and its gradient into a kernel, for one chain.
#pragma once

#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "density/chain.hpp"
#include "density/schedule.hpp"
#include "graph/row.hpp"

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
};
struct Segments {
  std::vector<Segment> reals, places;
  int64_t reals_count = 0, places_count = 0;
};

class DensityWriter final : public graph::Reader {
 public:
  DensityWriter(Chain& chain, const Density& density, const Schedule& schedule);
  // Before any block of the kernel is opened. `set`: the number of the chain's data set, where there are
  // several (the two buffers hold one after the other); an empty Value: there is one.
  void declare(Value set);

  // The log density at q, its gradient to g. `scratch` is memory of the chain.
  Value write(const Vector& q, const Vector& g, const Vector& scratch);

  const Segments& segments() const { return segments_; }

  Scalar read(const Tensor& operand, const Index& at) override { return read(graph::node_of(operand), at); }
  Builder& builder() override { return chain_.builder(); }

 private:
  Scalar read(const Node& node, const Index& at);
  Scalar evaluate(const Node& node, const Index& at);
  Scalar evaluate_known(const Node& node, const Index& at, Value linear);
  Scalar variable(const Node& node, Value linear);
  static Scalar pick(const std::vector<Value>& elements, Value linear);
  Scalar reduction(const Node& node, const Index& at);
  Scalar updates(const Node& node, const Index& at);
  Scalar load_leaf(const Node& node, const Index& at);
  Scalar literal(const Node& node);
  Value segment(Segment::Kind kind, const Node& leaf, const Node* updates, int64_t count, Value place);

  void read_ahead();
  void set_by_lanes(const std::vector<std::pair<int64_t, Value>>& elements);
  // One result of a reduction, or of updates.
  struct Total {
    const Node* node = nullptr;
    int64_t element = 0;
  };
  void prepare(const Pass& pass);
  void write_pass(const Pass& pass);
  void write_loop(const Pass& pass, const std::vector<Total>& totals);
  void write_factor(const Node& node);
  std::vector<Value> contributions(const Total& total, Value i);
  void store_elements(const Item& item, Value i);
  Value target_of(const Node& node, const Index& update);
  Value sorted_place(const Node& node, Value update);

  Index place(const Shape& shape, Value linear) { return Index(builder(), shape, linear); }
  bool is_variable(const Node& node) const { return offsets_.contains(&node); }
  bool is_stored(const Node& node) const {
    return schedule_.stored.contains(&node) && ready_.contains(&node);
  }

  class Scope {
   public:
    explicit Scope(DensityWriter& writer) : writer_(writer) { writer_.memo_.emplace_back(); }
    ~Scope() { writer_.memo_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    DensityWriter& writer_;
  };

  Chain& chain_;
  const Density& density_;
  const Schedule& schedule_;
  std::unordered_set<const Node*> varying_;
  std::unordered_map<const Node*, int64_t> offsets_;  // of the variables
  std::unordered_set<const Node*> leaves_;
  Segments segments_;
  Array reals_, places_;
  Value reals_base_, places_base_;
  std::unordered_map<const Node*, std::vector<Value>> ahead_;  // leaves that are read already
  // While a density is written
  Vector q_, g_, scratch_;
  std::unordered_map<const Node*, std::vector<Value>> totals_;
  std::unordered_set<const Node*> ready_;  // items of passes that are written
  std::vector<std::map<std::pair<const Node*, kernel::Id>, Scalar>> memo_;
  Value step_;  // of the pass that is written; where there is one
  int64_t step_count_ = 0;
};

}  // namespace adit::sampling
