// LU with row exchanges on a GPU, where no row moves: a list tells which row exchanges would have brought to
// each place.
//
// 1. step: a launch a panel of columns. It factors the panel, and brings what lies right of it up to date
//    with the panel before (lu_step.cpp). Of large matrices only up to the end of a wide panel;
// 2. upper: rows of u right of the wide panel (lu_upper.cpp);
// 3. a matrix product subtracts l u from the rows that are left, as the list tells them.
// 4. gather: rows of l, and of u inside of the panels, go where they belong.
#include <algorithm>
#include <map>
#include <optional>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/lu_step.hpp"
#include "ops/matrix_update.hpp"

namespace adit::ops {

using namespace kernel;

namespace lu_rows {
namespace {

enum Tensors : uint8_t { matrix, factors, permutation, sign, work, list, other_list };

uint64_t bytes_of(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }
// Small subgroups are a software device's, which compiles long programs for minutes.
bool is_software(const Limits& limits) { return limits.subgroup_size < 16; }

// An invocation a number: row i up to the end of its panel, for some rows whose panels are equally wide.
Program gather(const FactorPlan& plan) {
  Builder k("lu_gather", Team::one());
  const Array from = k.buffer("work", plan.type, Access::read),
              order = k.buffer("permutation", Type::i32, Access::read),
              to = k.buffer("factors", plan.type, Access::write);
  const Value first = k.scalar("first", Type::u32), end = k.scalar("end", Type::u32),
              columns = k.scalar("columns", Type::u32), n = k.scalar("n", Type::u32);
  const Value place = k.team(Type::u64), wide_n = convert(n, Type::u64);
  const Value line = place / wide_n, column = convert(place % wide_n, Type::u32);
  const Value rows = convert(end - first, Type::u64), which = line / rows;
  const Value row = first + convert(line % rows, Type::u32);
  k.if_(column < (row / columns + 1) * columns, [&] {
    const Value in_batch = which * wide_n, to_row = in_batch + convert(row, Type::u64);
    const Value from_row = in_batch + convert(order[to_row].get(), Type::u64), at = convert(column, Type::u64);
    store_number(to, to_row * wide_n + at, load_number(from, from_row * wide_n + at, plan.complex),
                 plan.complex);
  });
  return k.finish();
}

// The widest panel of so many rows that a team's registers hold. The narrowest may spill.
StepSizes step_sizes(const FactorPlan& plan, const Limits& limits, uint32_t rows, uint32_t most_columns) {
  constexpr uint32_t most_lanes = 512, room = 64, narrow_room = 128;  // words of four bytes a lane
  const uint32_t count = NumberVectors(plan.type, plan.complex).count(), subgroup = limits.subgroup_size;
  const auto words = static_cast<uint32_t>(bytes_of(plan) / 4);
  const uint32_t most = std::min({most_lanes, limits.max_lanes, subgroup * subgroup}) / subgroup * subgroup;
  StepSizes sizes;
  sizes.subgroup = subgroup;
  sizes.lanes = std::min(most, (plan.n + subgroup - 1) / subgroup * subgroup);
  sizes.each = (rows + sizes.lanes - 1) / sizes.lanes;
  sizes.tile = is_software(limits) ? 16 : sizes.lanes >= 256 ? 64 : 32;
  const uint32_t narrowest = std::max(count, 2U), multiple = std::max(count, 4U);
  for (const uint32_t widest : {64U, 32U, 16U, 8U, 4U, 2U}) {
    if (widest < narrowest || widest > most_columns) continue;
    if (widest == 64 && plan.n > widest) continue;  // pays only where it is the whole matrix
    if (is_software(limits) && widest > 8 && plan.n > 16) continue;
    sizes.columns = std::min(widest, (plan.n + multiple - 1) / multiple * multiple);
    sizes.alone = plan.n <= sizes.columns;
    const bool has_room = sizes.columns * sizes.each * words <= (widest == narrowest ? narrow_room : room);
    if (has_room && step_shared_bytes(plan, sizes) <= limits.shared_bytes) return sizes;
  }
  return {};
}

StepSizes step_sizes(const FactorPlan& plan, const Limits& limits, uint32_t rows) {
  return step_sizes(plan, limits, rows, 64);
}

UpperSizes upper_sizes(const FactorPlan& plan, const Limits& limits) {
  if (is_software(limits)) return {16, 16};
  return bytes_of(plan) <= 4 ? UpperSizes{64, 32} : bytes_of(plan) <= 8 ? UpperSizes{32, 32} : UpperSizes{16, 32};
}

UpdatePlan update_plan(const FactorPlan& plan) {
  UpdatePlan update{plan.type, plan.complex};
  update.listed = true;
  update.by_vectors = plan.n % NumberVectors(plan.type, plan.complex).count() == 0;
  return update;
}

// Columns of a wide panel: all of a matrix that is not large.
uint32_t wide_panel(const FactorPlan& plan, const Limits& limits) {
  const uint32_t columns = is_software(limits) ? 32 : getenv("LU_W") ? atoi(getenv("LU_W")) : 128, large = is_software(limits) ? 48 : getenv("LU_N") ? atoi(getenv("LU_N")) : 1025;
  return plan.n >= large && Updates::has(update_plan(plan), limits) ? columns : plan.n;
}

class Schedule {
 public:
  Schedule(const FactorPlan& plan, const Limits& limits)
      : plan_(plan), limits_(limits), batch_(static_cast<uint32_t>(plan.batch)), wide_(wide_panel(plan, limits)) {
    const uint64_t rows = plan.batch * plan.n;
    made_.scratch = {{rows * plan.n * bytes_of(plan)}, {4 * rows}, {4 * rows}};
    if (wide_ >= plan.n) return;
    updates_.emplace(made_, update_plan(plan), limits);
    upper_ = add(upper_program(plan, upper_sizes(plan, limits)));
  }

  Factor run() {
    for (uint32_t first = 0; first < plan_.n; first += wide_) {
      const uint32_t end = std::min(plan_.n, first + wide_);
      const uint32_t columns = steps(first, end);
      if (same_.columns != columns) append_gather(first), same_ = {first, columns};
      if (end < plan_.n) append_rest(first, end);
    }
    append_gather(plan_.n);
    return std::move(made_);
  }

 private:
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }

  // Panels of one width; fewer rows a lane as rows get fewer. Yields the width.
  uint32_t steps(uint32_t first, uint32_t end) {
    const uint32_t columns = step_sizes(plan_, limits_, plan_.n - first).columns;
    for (uint32_t start = first; start < end; start += columns) {
      const StepSizes sizes = step_sizes(plan_, limits_, plan_.n - start, columns);
      auto [found, is_new] = step_programs_.try_emplace({columns, sizes.each});
      if (is_new) found->second = add(step_program(plan_, sizes));
      const uint64_t tiles = start == first ? 0 : step_tiles(sizes, plan_.n, start, end);
      const uint8_t from = start <= columns ? matrix : work;  // until a launch has changed it, x itself
      made_.passes.push_back({found->second,
                              plan_.batch * (1 + tiles),
                              {from, work, factors, permutation, sign, list_, next_},
                              {start, first, end, plan_.n, batch_}});
      std::swap(list_, next_);
    }
    return columns;
  }

  void append_rest(uint32_t first, uint32_t end) {
    const uint32_t across = upper_sizes(plan_, limits_).columns;
    const uint8_t from = first == 0 ? matrix : work;
    made_.passes.push_back({upper_,
                            plan_.batch * ((plan_.n - end + across - 1) / across),
                            {from, work, factors, permutation},
                            {first, end, plan_.n}});
    const UpdateMatrix all{plan_.n, plan_.n};
    updates_->append(made_, {all, all, all}, {end, plan_.n, end, plan_.n, first, end}, plan_.batch,
                     {work, factors, from, work, list_});
  }

  // Rows up to `end` of the panels that were equally wide. Nobody changes them any more.
  void append_gather(uint32_t end) {
    gathers_.push_back({same_.first, end, same_.columns});
    if (end < plan_.n) return;
    const uint32_t program = add(gather(plan_));
    for (const auto& [from, to, columns] : gathers_)
      if (from < to)
        made_.passes.push_back({program,
                                plan_.batch * (to - from) * plan_.n,
                                {work, permutation, factors},
                                {from, to, columns, plan_.n}});
  }

  struct Same {
    uint32_t first = 0, columns = 0;
  };
  struct Gathered {
    uint32_t first, end, columns;
  };
  const FactorPlan& plan_;
  const Limits& limits_;
  uint32_t batch_, wide_, upper_ = 0;
  Factor made_;
  std::optional<Updates> updates_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> step_programs_;
  uint8_t list_ = list, next_ = other_list;
  Same same_;
  std::vector<Gathered> gathers_;
};

}  // namespace
}  // namespace lu_rows

bool has_lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  if (!has_hands(limits) || plan.n == 0) return false;
  return lu_rows::step_sizes(plan, limits, plan.n).columns > 0;
}

Factor lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  using namespace lu_rows;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const StepSizes sizes = step_sizes(plan, limits, plan.n);
  if (!sizes.alone) return Schedule(plan, limits).run();
  made.programs = {step_program(plan, sizes)};
  made.scratch = {{4}, {4}, {4}};
  made.passes.push_back({0,
                         plan.batch,
                         {matrix, work, factors, permutation, sign, list, other_list},
                         {0, 0, plan.n, plan.n, static_cast<uint32_t>(plan.batch)}});
  return made;
}

}  // namespace adit::ops
