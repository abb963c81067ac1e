// Writes the work of one row: by a team, by a lane of each slice, or by an invocation that walks it by
// itself.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "compile/kept_row.hpp"
#include "compile/rows.hpp"
#include "compile/serial.hpp"

namespace adit::compile {

// Few rows whose elements lie apart: a team takes some that lie side by side, so that what its lanes read
// does too, and each of them is cut into slices, a lane each. No columns: not so.
struct Slices {
  uint32_t columns = 0, lanes = 0;
  int64_t count() const { return columns == 0 ? 0 : lanes / columns; }
};

class RowWriter {
  using Builder = kernel::Builder;
  using Reduction = kernel::Reduction;
  using Type = kernel::Type;

 public:
  RowWriter(const Group& group, const RowPlan& plan, Workshop& shop, bool by_team, bool may_hold, Builder& k,
            Arguments& arguments, bool may_widen = true)
      : group_(group),
        plan_(plan),
        shop_(shop),
        by_team_(by_team),
        may_hold_(may_hold),
        may_widen_(may_widen),
        k_(k),
        writer_(k, arguments, shop.partition, group, index_type_for(group, shop.partition)) {}

  void declare() { declare_arguments(writer_, group_, shop_.partition); }
  Type index_type() const { return writer_.index_type(); }
  Writer& writer() { return writer_; }
  using Keep = std::function<bool(const Node&, const Scalar&)>;
  // A CPU may keep what is dear to compute while it goes through a row again.
  void set_may_keep() { may_keep_ = true; }
  // From now on what it takes is not stored.
  void set_keep(Keep keep) { keep_ = std::move(keep); }

  // The rows of a team that shares columns.
  void write(Value team, const Slices& slices);

  // The rows of a team whose subgroups have as many as there are writers: each reads all of its rows before
  // it waits for one of them, so that more is on its way from memory.
  static void write_by_subgroups(std::span<const std::unique_ptr<RowWriter>> rows, Value team);

  // A column of an outer place, where the lanes of a CPU's team take them side by side.
  void write_column(Value outer, Value inner);

  void write(Value row_number);

  uint32_t team_lanes() const { return holds() ? held_lanes() * rows_of_a_team() : lanes(); }

  // Rows of a subgroup, where it has few elements of each.
  uint32_t rows_of_a_subgroup() const;

  // Many short rows that are written whole share subgroups: each lane has an access of one of them, so that
  // what they read and write lies side by side.
  static bool share_subgroups(const RowPlan& plan, const Target& target);

  // Where a subgroup holds a row, a team of several has a row for each: teams of one leave half of a
  // multiprocessor idle, which has room for so many teams and no more.
  uint32_t rows_of_a_team() const;

 private:
  using Level = std::vector<const Node*>;
  Value number(int64_t value) const { return k_.constant(index_type(), value); }
  void begin(Value row_number);
  void prepare(const Level& level);
  void finish();
  // Beyond the last row its work is done again, and not stored.
  Value limited(Value row_number);
  void begin_if_there_is(Value row_number) { begin(limited(row_number)); }
  void store_if(const std::optional<Value>& condition, const std::function<void()>& store);
  // The reductions of this level and of later ones are not known yet.
  std::vector<const Node*> later_reductions(const Level& level) const;
  Index place(Value r);
  std::vector<Index> places(Value step);
  static std::vector<Reduction> all_reductions(const Level& level);
  void add_contributions(const Level& level, const std::vector<Reduction>& reductions, const Index& at,
                         std::vector<Value>& sums, const std::optional<Value>& inside = std::nullopt);
  void reduce_level(const Level& level);
  // Several elements of a column at once, where little is done with each: else one addition would wait for
  // the one before.
  std::vector<Value> column_totals(int pass, const std::vector<Reduction>& reductions,
                                   const std::vector<Type>& types);
  void walk(const std::function<void(const std::vector<Index>&)>& body);
  // How a lane of a team goes through a long row: several accesses a round, as far apart as there are rounds,
  // so that more is on its way from memory. The last ones of some lanes have no element.
  struct Steps {
    int64_t rounds = 0, at_once = 1, all = 0;
  };
  Steps steps_of_a_lane() const;
  std::pair<Value, std::optional<Value>> step_of(const Steps& steps, Value first, int64_t which);
  // What is stored at the places of one access: all is computed before anything is stored, so that more is on
  // its way from memory, and what a lane alone has of a row leaves it at once.
  struct Made {
    std::optional<Value> inside;
    std::vector<Index> places;
    std::optional<Value> vector;
    std::vector<std::vector<Scalar>> values;  // of each root
  };
  Made made_at(std::vector<Index> places, std::optional<Value> inside);
  void store_all(const std::vector<Made>& all);
  void store_several(const Steps& steps);
  void store_short();
  void store_row_roots();
  void store_whole_roots(const std::vector<Index>& places);

  // --- row_shape.cpp
  uint32_t lanes() const;
  uint32_t rows_side_by_side() const;  // in a subgroup
  // A short row that a lane of a GPU has for itself, in a kernel of its own.
  bool is_short() const { return shop_.target.gpu && !by_team_ && may_hold_ && plan_.length <= most_short; }
  // Elements of one access: 16 bytes where a row's elements lie together, or half of that.
  int width() const;
  // Whether accesses of half the width would keep twice as many lanes of a subgroup busy.
  bool leaves_half_idle(int width) const;
  // Where a row is gone through more than once, its lanes keep their elements: each is read and computed
  // once.
  static constexpr int64_t most_held = 8;     // accesses of a lane
  static constexpr int64_t most_short = 16;   // elements of a row that one lane has
  static constexpr int64_t many_held = 4096;  // rows
  uint32_t held_lanes() const;
  bool holds() const;

  // --- row_held.cpp
  struct Held {
    std::optional<Value> inside;  // none: all lanes have an element
    std::vector<Index> places;
    Value vector;
    std::vector<Value> lanes;
  };
  void hold_places();
  void use(const Held& held) {
    if (held.places.size() > 1) writer_.set_vector(held.vector, held.lanes);
  }
  // What a lane's own elements add up to, and then those of all lanes.
  std::vector<Value> held_sums(const Level& level);
  std::vector<Value> joined(const Level& level, std::vector<Value> sums);
  // The lanes' parts joined: within subgroups, then over the subgroups through shared memory.
  Value over_lanes(Reduction reduction, Value part);

  // --- row_powers.cpp
  // The largest x of a row, and the sum of exp(x - shift), whose shift follows from it: both in one pass over
  // a row that is too long to be held. A lane's sum is below its own largest so far, and the row's in the
  // end.
  struct Powers {
    const Node *x = nullptr, *largest = nullptr, *shift = nullptr;
  };
  std::optional<Powers> powers() const;
  void reduce_powers(const Powers& powers);

  // --- row_slices.cpp
  // Goes through a lane's slice; the last step of some has no element.
  int64_t slice_steps() const { return (plan_.length + slices_.count() - 1) / slices_.count(); }
  std::pair<Index, std::optional<Value>> place_of_slice(Value step);
  std::vector<Value> slice_totals(const Level& level, const std::vector<Reduction>& reductions,
                                  const std::vector<Type>& types);
  // The slices' parts joined: each lane of a column adds them up, in the same order.
  Value over_slices(Reduction reduction, Value part);

  const Group& group_;
  const RowPlan& plan_;
  Workshop& shop_;
  const bool by_team_, may_hold_, may_widen_;
  Builder& k_;
  Writer writer_;
  Value row_number_;
  Index row_;
  Value lane_;
  std::vector<Held> held_;
  Slices slices_;
  Value slice_;  // this lane's
  std::optional<Value> outer_, inner_;
  bool may_keep_ = false;
  KeptRow kept_;
  std::optional<Value> there_is_;  // a row of this number, where a team has several
  Keep keep_;
};

}  // namespace adit::compile
