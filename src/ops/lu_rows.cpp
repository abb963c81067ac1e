// LU with row exchanges on a GPU, where no row moves: a list tells which row exchanges would have brought to
// each place.
//
// 1. panel: some columns are factored, by a team or by some that tell each other (lu_panel.cpp);
// 2. rest: what lies right of them is brought up to date (lu_rest.cpp), of large matrices up to the end of a
//    wide panel, and then
// 3. upper: rows of u right of the wide panel (lu_upper.cpp),
// 4. a matrix product, which subtracts l u from the rows that are left, as the list tells them.
// 5. gather: rows of l, and of u inside of the panels, go where they belong.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/lu_kernels.hpp"
#include "ops/lu_told.hpp"
#include "ops/matrix_update.hpp"

namespace adit::ops {

using namespace kernel;

namespace lu_rows {
namespace {

enum Tensors : uint8_t { matrix, factors, permutation, sign, work, list, other_list, words };

uint64_t bytes_of(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }
// Small subgroups are a software device's, which compiles long programs for minutes.
bool is_software(const Limits& limits) { return limits.subgroup_size < 16; }

// Numbers that an invocation of `gather` takes, side by side.
uint32_t gathered(const FactorPlan& plan) {
  const uint32_t count = NumberVectors(plan.type, plan.complex).count();
  return plan.n % count == 0 ? count : 1;
}

// Row i up to the end of its panel, for some rows whose panels are equally wide.
Program gather(const FactorPlan& plan) {
  Builder k("lu_gather", Team::one());
  const Array from = k.buffer("work", plan.type, Access::read),
              order = k.buffer("permutation", Type::i32, Access::read),
              to = k.buffer("factors", plan.type, Access::write);
  const Value first = k.scalar("first", Type::u32), end = k.scalar("end", Type::u32),
              columns = k.scalar("columns", Type::u32), n = k.scalar("n", Type::u32);
  const uint32_t count = gathered(plan);
  const Value place = k.team(Type::u64), across = convert(n / count, Type::u64);
  const Value line = place / across, vector = place % across;
  const Value rows = convert(end - first, Type::u64), in_batch = line / rows * convert(n, Type::u64);
  const Value row = first + convert(line % rows, Type::u32);
  k.if_(convert(vector, Type::u32) * count < (row / columns + 1) * columns, [&] {
    const Value to_row = in_batch + convert(row, Type::u64);
    const Value from_row = in_batch + convert(order[to_row].get(), Type::u64);
    const Value source = from_row * across + vector, target = to_row * across + vector;
    const NumberVectors vectors(plan.type, plan.complex);
    if (count > 1)
      vectors.store(to, target, vectors.load(from, source));
    else
      store_number(to, target, load_number(from, source, plan.complex), plan.complex);
  });
  return k.finish();
}

RestSizes rest_sizes(const Limits& limits, uint32_t columns) {
  return {columns, is_software(limits) ? 16U : 64U};
}

// Teams that share so many rows of each matrix, a lane a row, if there may be so many: all of them run at the
// same time, and a subgroup compares what they tell.
uint32_t teams_of(const FactorPlan& plan, const Limits& limits, uint32_t lanes, uint32_t rows) {
  if (!plan.may_wait || !limits.int64 || !limits.int64_atomics) return 1;
  const uint64_t most = std::min(limits.subgroup_size, limits.sure_teams);
  const uint64_t share = most / std::clamp<uint64_t>(plan.batch, 1, most);
  return static_cast<uint32_t>(std::min<uint64_t>(share, (rows + lanes - 1) / lanes));
}

// The widest panel of so many rows that the registers of so many lanes hold, at most so wide. The narrowest
// may spill.
PanelSizes widest_panel(const FactorPlan& plan, const Limits& limits, PanelSizes sizes,
                        uint32_t most_columns) {
  constexpr uint32_t room = 64, narrow_room = 128;  // words of four bytes a lane
  const uint32_t count = NumberVectors(plan.type, plan.complex).count();
  const auto words = static_cast<uint32_t>(bytes_of(plan) / 4);
  const uint32_t narrowest = std::max(count, 2U), multiple = std::max(count, 4U);
  for (const uint32_t widest : {64U, 32U, 16U, 8U, 4U, 2U}) {
    if (widest < narrowest || widest > most_columns) continue;
    if (widest == 64 && plan.n > widest) continue;  // pays only where it is the whole matrix
    if (is_software(limits) && widest > 8 && plan.n > 16) continue;
    sizes.columns = std::min(widest, (plan.n + multiple - 1) / multiple * multiple);
    sizes.alone = plan.n <= sizes.columns;
    const bool has_room = sizes.columns * sizes.each * words <= (widest == narrowest ? narrow_room : room);
    const RestSizes rest = rest_sizes(limits, sizes.columns);
    // A team tells a row in words of eight bytes and two more, a lane each.
    const bool can_tell = sizes.most_teams == 1 || sizes.columns * words / 2 + 2 <= sizes.lanes;
    if (has_room && can_tell && panel_shared_bytes(plan, sizes) <= limits.shared_bytes &&
        rest.lanes() <= limits.max_lanes &&
        (sizes.alone || rest_shared_bytes(plan, rest) <= limits.shared_bytes))
      return sizes;
  }
  return {};
}

// One team while its lanes have two rows of f32 each at most, or one of wider numbers, then several, if their
// panels are wider: us on an H200, f32 of 1000 rows 1,010 with one and 1,080 with several; f64 of 1024 1,850
// and 1,720, c64 of 901 2,600 and 2,370, c128 of 700 2,770 and 2,120. Several have 256 lanes: the registers
// of 512 do not hold all that a lane needs beside its row, so few rows of wide numbers have no more either
// (c64 of 600 1,100 and 1,020). `columns`: none, or how wide the panels before it are.
PanelSizes panel_sizes(const FactorPlan& plan, const Limits& limits, uint32_t rows, uint32_t columns = 0) {
  const bool is_wide = bytes_of(plan) > 4;
  const uint32_t lanes_of_many = 256, lanes_alone = is_wide && rows <= lanes_of_many ? lanes_of_many : 512,
                 few_rows = is_wide ? 1 : 2;
  const uint32_t subgroup = limits.subgroup_size;
  const auto sizes_with = [&](uint32_t most_lanes, bool are_many) {
    PanelSizes sizes;
    const uint32_t most = std::min({most_lanes, limits.max_lanes, subgroup * subgroup}) / subgroup * subgroup;
    sizes.subgroup = subgroup;
    sizes.lanes = std::min(most, (plan.n + subgroup - 1) / subgroup * subgroup);
    if (are_many) {
      sizes.teams = teams_of(plan, limits, sizes.lanes, rows);
      sizes.most_teams = teams_of(plan, limits, sizes.lanes, plan.n);
    }
    sizes.each = (rows + sizes.teams * sizes.lanes - 1) / (sizes.teams * sizes.lanes);
    return widest_panel(plan, limits, sizes, columns > 0 ? columns : 64);
  };
  const PanelSizes one = sizes_with(lanes_alone, false), many = sizes_with(lanes_of_many, true);
  const bool one_does = one.each <= few_rows && one.columns >= std::max(columns, 1U);
  return many.columns > one.columns && !one_does ? many : one;
}

UpperSizes upper_sizes(const FactorPlan& plan, const Limits& limits) {
  if (is_software(limits)) return {16, 16};
  return bytes_of(plan) <= 4   ? UpperSizes{64, 32}
         : bytes_of(plan) <= 8 ? UpperSizes{32, 32}
                               : UpperSizes{16, 32};
}

UpdatePlan update_plan(const FactorPlan& plan) { return update_of(plan, &UpdatePlan::listed); }

// Columns of a wide panel: all of a matrix that is not large. 4096 took 11.4 ms with 256 on an H200, 11.5
// with 128.
uint32_t wide_panel(const FactorPlan& plan, const Limits& limits) {
  const uint32_t columns = is_software(limits) ? 32 : 256, large = is_software(limits) ? 48 : 1025;
  return plan.n >= large && Updates::has(update_plan(plan), limits) ? columns : plan.n;
}

class Schedule {
 public:
  Schedule(const FactorPlan& plan, const Limits& limits)
      : plan_(plan), limits_(limits), wide_(wide_panel(plan, limits)) {
    const uint64_t rows = plan.batch * plan.n;
    made_.scratch = {{rows * plan.n * bytes_of(plan)}, {4 * rows}, {4 * rows}};
    if (wide_ >= plan.n) return;
    updates_.emplace(made_, update_plan(plan), limits);
    upper_ = add(upper_program(plan, upper_sizes(plan, limits)));
  }

  Factor run() {
    for (uint32_t first = 0; first < plan_.n; first += wide_) {
      const uint32_t end = std::min(plan_.n, first + wide_);
      const uint32_t columns = panels(first, end);
      if (same_.columns != columns) append_gather(first), same_ = {first, columns};
      if (end < plan_.n) append_rest(first, end);
    }
    append_gather(plan_.n);
    if (words_ > 0) {
      const uint64_t pairs = (words_ + 1) / 2;
      made_.scratch.push_back({16 * pairs});
      made_.passes.insert(made_.passes.begin(), {add(clear_words()), pairs, {words}});
    }
    return std::move(made_);
  }

 private:
  uint32_t add(Program program) {
    made_.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made_.programs.size() - 1);
  }

  // Panels of one width; fewer rows a lane as rows get fewer. Yields the width.
  uint32_t panels(uint32_t first, uint32_t end) {
    const uint32_t columns = panel_sizes(plan_, limits_, plan_.n - first).columns;
    const RestSizes rest = rest_sizes(limits_, columns);
    for (uint32_t start = first; start < end; start += columns) {
      const PanelSizes sizes = panel_sizes(plan_, limits_, plan_.n - start, columns);
      if (sizes.columns != columns) throw std::logic_error("[lu] panels of one width are expected");
      const uint8_t from = start == 0 ? matrix : work;
      append_panel(sizes, from, start);
      const uint32_t right = start + columns;
      if (right >= end) continue;
      made_.passes.push_back({once({columns, 0, 0, 0}, [&] { return rest_program(plan_, rest); }),
                              plan_.batch * rest_teams(rest, plan_.n, right, end),
                              {from, work, factors, permutation, list_},
                              {start, end, plan_.n}});
    }
    return columns;
  }
  void append_panel(const PanelSizes& sizes, uint8_t from, uint32_t start) {
    FactorPass pass{once({sizes.columns, sizes.lanes, sizes.each, sizes.most_teams},
                         [&] { return panel_program(plan_, sizes); }),
                    plan_.batch * sizes.teams,
                    {from, work, permutation, sign, list_, next_},
                    {start, plan_.n}};
    if (sizes.most_teams > 1) {
      pass.buffers.push_back(words);
      pass.numbers.insert(pass.numbers.end(), {static_cast<uint32_t>(words_), sizes.teams});
      words_ += 1 + plan_.batch * ToldRows::words(plan_, sizes);
    }
    made_.passes.push_back(std::move(pass));
    std::swap(list_, next_);
  }
  // A program is made once for each panel's width, lanes, rows of a lane, or none, and room for teams.
  using Key = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;
  uint32_t once(const Key& sizes, const std::function<Program()>& make) {
    const auto [found, is_new] = programs_.try_emplace(sizes);
    if (is_new) found->second = add(make());
    return found->second;
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
                                plan_.batch * (to - from) * (plan_.n / gathered(plan_)),
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
  uint32_t wide_, upper_ = 0;
  uint64_t words_ = 0;  // of all panels so far
  Factor made_;
  std::optional<Updates> updates_;
  std::map<Key, uint32_t> programs_;
  uint8_t list_ = list, next_ = other_list;
  Same same_;
  std::vector<Gathered> gathers_;
};

}  // namespace
}  // namespace lu_rows

bool has_lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  if (!has_hands(limits) || plan.n == 0) return false;
  return lu_rows::panel_sizes(plan, limits, plan.n).columns > 0;
}

Factor lu_by_rows(const FactorPlan& plan, const Limits& limits) {
  using namespace lu_rows;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const PanelSizes sizes = panel_sizes(plan, limits, plan.n);
  if (!sizes.alone) return Schedule(plan, limits).run();
  made.programs = {panel_program(plan, sizes)};
  made.scratch = {{4}, {4}, {4}};
  made.passes.push_back({0, plan.batch, {matrix, factors, permutation, sign, list, other_list}, {0, plan.n}});
  return made;
}

}  // namespace adit::ops
