// Where the lanes of a team wait for each other.
//
// What a loop over the lanes (each, reduce) or a `once` touched stays open until somebody touches the same
// array in a way that could be overtaken: one of the two writes, and it may be another lane. There, and only
// there, stands a barrier. Element i of a loop is the same lane's in every loop, so that loops which touch an
// array at the same offset from their counters do not wait for each other; nor does `once`, which is always
// the first lane's, for another one; nor those that touch different parts of an array, as far as the bounds
// of their indices tell.
//
// In programs that handle lanes by hand what stands between the loops is the programmer's to order: it waits
// for the loops, and they for it, but for a reduction that only reads.
#pragma once

#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include <adit/kernel/program.hpp>

namespace adit::spirv {

enum class Wait : uint8_t { none, shared, all };  // for nobody; what is in shared memory; buffers too

class BarrierPlan {
 public:
  // `reductions_wait`: a reduction holds a barrier of its own.
  BarrierPlan(const kernel::Program& program, bool reductions_wait);

  // Of a barrier before or after an instruction at team level.
  Wait before(kernel::Id id) const { return before_[id]; }
  Wait after(kernel::Id id) const { return after_[id]; }
  // True where a reduction's own barrier is one for buffers too.
  bool carries_buffers(kernel::Id reduce) const { return carries_[reduce]; }

 private:
  struct Range {
    int64_t least = 0, most = 0;
    auto operator<=>(const Range&) const = default;
  };
  static constexpr int64_t no_bound = int64_t{1} << 40;
  static constexpr Range anywhere{-no_bound, no_bound};
  static Range sum(Range a, Range b);
  // Which lane touches an element.
  struct Toucher {
    enum class Kind : uint8_t { any, first_lane, counted } kind{};
    bool lasts = true;       // the base is the same in every round of the loops around
    uint64_t base = 0;       // what is the same for all lanes in the index, but for numbers; a hash of it
    int64_t offset = 0;      // counted: base + offset + the loop's counter
    Range range = anywhere;  // of the index without the base
    auto operator<=>(const Toucher&) const = default;
  };
  struct Touch {
    kernel::Id object = kernel::no_id;
    bool writes = false, by_hand = false;
    Toucher by;
    auto operator<=>(const Touch&) const = default;
  };
  using Touches = std::set<Touch>;
  // The same in all lanes, wherever it is computed; a hash of it.
  struct Uniform {
    uint64_t hash = 0;
    bool lasts = true;
  };

  void visit_block(uint32_t block, Touches& open);
  void visit(kernel::Id id, Touches& open);
  void visit_loop(std::initializer_list<uint32_t> blocks, Touches& open);
  // A barrier before `id` where what it touches could overtake what is open, or be overtaken.
  void meet(kernel::Id id, const Touches& coming, Touches& open);
  bool conflict(const Touch& open, const Touch& coming, bool reduces) const;
  void close(Touches& open, Wait wait) const;

  const Touches& touches_of(kernel::Id id) const;
  void collect(uint32_t block, kernel::Id owner, Touches& found) const;
  void add_access(kernel::Id id, kernel::Id owner, Touches& found) const;
  Toucher toucher_of(const kernel::Instruction& access, kernel::Id owner) const;
  std::optional<Uniform> uniform(kernel::Id id) const;
  std::optional<Uniform> find_uniform(kernel::Id id) const;
  Range range_of(kernel::Id id) const;
  std::vector<kernel::Id> bounds_read(kernel::Id id) const;
  Range find_range(kernel::Id id) const;
  Range range_of_choice(const kernel::Instruction& select) const;

  bool is_team_loop(kernel::Op op) const;
  bool look_at(uint32_t block, kernel::Id owner, bool in_lanes);
  bool is_buffer(kernel::Id object) const { return program_[object].op == kernel::Op::buffer; }

  const kernel::Program& program_;
  const bool by_hand_, reductions_wait_, has_fences_;
  std::vector<Wait> before_, after_;
  std::vector<bool> carries_;
  std::vector<bool> in_lanes_;                        // the instructions of each, reduce and once
  std::unordered_map<kernel::Id, kernel::Id> loops_;  // by their counters
  std::vector<bool> holds_loops_;
  mutable std::unordered_map<kernel::Id, Touches> touches_;
  mutable std::unordered_map<kernel::Id, std::optional<Uniform>> uniforms_;
  mutable std::unordered_map<kernel::Id, Range> ranges_;
};

}  // namespace adit::spirv
