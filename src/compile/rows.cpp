#include "compile/rows.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "compile/columns.hpp"
#include "compile/row_writer.hpp"
#include "compile/team_loops.hpp"

namespace adit::compile {

using kernel::Builder;
using kernel::Type;

namespace {

// The team's size is known only after the writer has looked at the group, which needs a builder of its own.
struct TeamSize {
  uint32_t lanes = 1, rows = 1;  // the latter: of all of its subgroups
  uint32_t together = 1;         // of a subgroup
};
TeamSize team_size_for(const Group& group, const RowPlan& plan, Workshop& shop) {
  Builder unused("lanes", kernel::Team::many(32));
  Arguments arguments(unused);
  const RowWriter rows(group, plan, shop, true, true, unused, arguments);
  return {rows.team_lanes(), rows.rows_of_a_team() * rows.rows_of_a_subgroup(), rows.rows_of_a_subgroup()};
}

Launch row_kernel(const Group& group, const RowPlan& plan, Workshop& shop, bool by_team) {
  const TeamSize size = by_team ? team_size_for(group, plan, shop) : TeamSize{};
  Builder k(kernel_name(group, shop.partition, by_team ? "rows" : "columns"),
            by_team ? kernel::Team::many(size.lanes) : kernel::Team::one(128));
  Arguments arguments(k);
  std::vector<std::unique_ptr<RowWriter>> rows;
  for (uint32_t i = 0; i < size.together; ++i)
    rows.push_back(std::make_unique<RowWriter>(group, plan, shop, by_team, true, k, arguments));
  for (const auto& row : rows) row->declare();
  if (by_team)
    for (const auto& row : rows) row->set_may_keep();
  const Value team = k.team(rows[0]->index_type());
  if (size.rows > 1)
    RowWriter::write_by_subgroups(rows, team);
  else
    rows[0]->write(team);
  return {k.finish(), static_cast<uint64_t>((plan.count + size.rows - 1) / size.rows), arguments.bindings()};
}

Launch sliced_kernel(const Group& group, const RowPlan& plan, Workshop& shop, const Slices& slices) {
  Builder k(kernel_name(group, shop.partition, "slices"), kernel::Team::many(slices.lanes));
  Arguments arguments(k);
  RowWriter rows(group, plan, shop, false, false, k, arguments);
  rows.declare();
  rows.write(k.team(rows.index_type()), slices);
  const int64_t teams = (plan.count + slices.columns - 1) / slices.columns;
  return {k.finish(), static_cast<uint64_t>(teams), arguments.bindings()};
}

Launch column_kernel(const Group& group, const RowPlan& plan, Workshop& shop, int64_t block) {
  Builder k(kernel_name(group, shop.partition, "columns"), kernel::Team::many(64));
  Arguments arguments(k);
  RowWriter rows(group, plan, shop, false, false, k, arguments);
  rows.declare();
  rows.set_may_keep();
  Writer& writer = rows.writer();
  const int64_t blocks = (plan.columns->inner + block - 1) / block;
  const Value team = k.team(rows.index_type()), outer = team / writer.number(blocks);
  const Value first = team % writer.number(blocks) * writer.number(block);
  const Value count = min(writer.number(block), writer.number(plan.columns->inner) - first);
  k.each(convert(count, Type::u32), [&](Value i) {
    const Writer::Scope scope(writer);
    rows.write_column(outer, first + convert(i, rows.index_type()));
  });
  return {k.finish(), static_cast<uint64_t>(plan.columns->outer * blocks), arguments.bindings()};
}

// As many columns as still give each multiprocessor two teams, for whose lanes a column has elements enough;
// none where a lane a column fills the device anyway: 512 lanes a multiprocessor hide what memory takes.
Slices slices_for(const RowPlan& plan, const Target& target) {
  const Limits& limits = target.limits;
  size_t totals = 0;
  for (const auto& level : plan.levels)
    for (const Node* node : level) totals += reductions_of(*node).size();
  const bool is_worthwhile = plan.length >= 64 && plan.count < int64_t{512} * limits.multiprocessors;
  const uint64_t room = std::min(512U, limits.max_lanes) * sizeof(double) * totals;
  if (!target.gpu || !limits.lanes_by_hand || !is_worthwhile || room > limits.shared_bytes) return {};
  const auto wanted = static_cast<uint64_t>(std::max<int64_t>(1, plan.count / (2 * limits.multiprocessors)));
  const auto columns = static_cast<uint32_t>(std::clamp<uint64_t>(std::bit_floor(wanted), 4, 32));
  const auto lanes = std::bit_floor(static_cast<uint64_t>(plan.length * columns / 4));
  return {columns, static_cast<uint32_t>(std::clamp<uint64_t>(lanes, 64, std::min(512U, limits.max_lanes)))};
}

// Parts into which each row is cut, so that the whole device has work.
int64_t parts_for(const RowPlan& plan, const Target& target, bool by_team) {
  if (!plan.whole_roots.empty() || plan.levels.size() != 1) return 1;
  const int64_t n = plan.length;
  if (!target.gpu) {
    // Lines of an outer axis are always walked in parts: as they lie in memory.
    if (n * plan.count < 65536 || (by_team && plan.count >= 64) || (!by_team && n < 128)) return 1;
    if (by_team) return std::max(std::clamp<int64_t>(64 / plan.count, 1, n / 4096 + 1), n >> 30);
    return std::clamp<int64_t>(n / 64, 1, 64);
  }
  if (by_team) {
    if (plan.count >= 512 || n < 16384) return 1;
    return std::clamp<int64_t>(4096 / plan.count, 1, (n + 8191) / 8192);
  }
  if (plan.count >= 131072 || n < 64) return 1;
  return std::clamp<int64_t>(262144 / plan.count, 1, n / 16);
}

bool goes_by_team(const Group& group, const RowPlan& plan) {
  return plan.length >= 32 && (group.axes.contains(group.full.size() - 1) || plan.consecutive);
}

}  // namespace

RowsInside::RowsInside(const Group& group, Workshop& shop, Builder& k, Arguments& arguments, bool may_widen)
    : plan_(plan_rows(group, shop.partition)) {
  // Many short rows: a lane each. Few long ones: the team goes through them together.
  // On an H200 a lane adds about 8 elements in the time in which a team adds up its lanes' sums.
  by_team_ = plan_.count == 1 || (goes_by_team(group, plan_) && plan_.count < 64 &&
                                  (!shop.target.gpu || plan_.count * 8 <= plan_.length));
  rows_ = std::make_shared<RowWriter>(group, plan_, shop, by_team_, false, k, arguments, may_widen);
  builder_ = &k;
}
Writer& RowsInside::writer() { return rows_->writer(); }
void RowsInside::write(const std::function<bool(const Node&, const Scalar&)>& keep) {
  RowWriter& rows = *rows_;
  Builder& k = *builder_;
  if (keep && by_team_ && plan_.count == 1) {
    rows.set_keep(keep);
    rows.write(k.constant(rows.index_type(), 0));
  } else if (by_team_) {
    k.for_(k.constant(rows.index_type(), plan_.count), [&](Value row) { rows.write(row); });
  } else {
    team_each(k, rows.index_type(), plan_.count, [&](Value row) { rows.write(row); });
  }
}

std::vector<Launch> rows_launches(const Group& group, Workshop& shop) {
  const RowPlan plan = plan_rows(group, shop.partition);
  if (plan.count == 0) return {};
  const bool by_team = goes_by_team(group, plan) || RowWriter::share_subgroups(plan, shop.target);
  if (const auto lines = lines_for(plan, shop.target)) return line_launches(group, plan, shop, *lines);
  if (const int64_t block = columns_of_a_team(plan, shop.target)) {
    std::vector<Launch> launches;
    launches.push_back(column_kernel(group, plan, shop, block));
    return launches;
  }
  RowCut cut{parts_for(plan, shop.target, by_team), by_team, {}};
  if (cut.parts > 1 && !by_team) cut.tiles = tiles_for(group, plan, shop.target);
  if (cut.tiles.columns > 0) cut.parts = cut.tiles.parts;
  if (cut.parts > 1) return split_rows(group, plan, shop, cut);
  const Slices slices = by_team ? Slices{} : slices_for(plan, shop.target);
  std::vector<Launch> launches;
  launches.push_back(slices.columns > 0 ? sliced_kernel(group, plan, shop, slices)
                                        : row_kernel(group, plan, shop, by_team));
  return launches;
}

}  // namespace adit::compile
