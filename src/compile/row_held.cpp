// Rows whose lanes keep their elements: each is read and computed once, however often the row is gone
// through.
#include "compile/row_writer.hpp"

namespace adit::compile {

using kernel::Reduction;
using kernel::Type;

void RowWriter::write_by_subgroups(std::span<const std::unique_ptr<RowWriter>> rows, Value team) {
  const RowWriter& any = *rows[0];
  const uint32_t beside = any.rows_side_by_side(), subgroups = any.rows_of_a_team() / beside;
  const Value first = (team * any.number(subgroups) + convert(any.k_.subgroup_number(), any.index_type())) *
                      any.number(static_cast<int64_t>(rows.size() * beside));
  for (size_t i = 0; i < rows.size(); ++i) {
    Value row = first + any.number(static_cast<int64_t>(i * beside));
    if (beside > 1)
      row = row + convert(any.k_.subgroup_lane(), any.index_type()) / any.number(any.held_lanes());
    rows[i]->begin_if_there_is(row);
  }
  for (const auto& level : any.plan_.levels) {
    std::vector<std::vector<Value>> sums;
    for (const auto& row : rows) {
      row->prepare(level);
      sums.push_back(row->held_sums(level));
    }
    for (size_t i = 0; i < rows.size(); ++i)
      fix_totals(rows[i]->writer_, level, rows[i]->joined(level, std::move(sums[i])));
  }
  for (const auto& row : rows) row->finish();
}

void RowWriter::hold_places() {
  const int64_t steps = plan_.length / width();
  lane_ = is_short() ? writer_.number(0)
                     : convert(there_is_ ? k_.subgroup_lane() : k_.lane(), writer_.index_type());
  if (rows_side_by_side() > 1) lane_ = lane_ % writer_.number(held_lanes());
  for (int64_t step = 0; step < steps; step += held_lanes()) {
    Held& held = held_.emplace_back();
    Value own = lane_ + writer_.number(step);
    if (step + held_lanes() > steps) {
      held.inside = own < own.like(steps);
      own = min(own, own.like(steps - 1));
    }
    held.places = places(own);
    held.vector = writer_.vector();
    for (const Index& at : held.places)
      if (at.has_linear()) held.lanes.push_back(at.linear());
  }
}

Value RowWriter::over_lanes(Reduction reduction, Value part) {
  const Type type = part.type();
  if (kernel::size_of(type) < 4) {  // subgroups have words
    const Type word = kernel::is_float(type)            ? Type::f32
                      : kernel::is_signed_integer(type) ? Type::i32
                                                        : Type::u32;
    return convert(over_lanes(reduction, convert(part, word)), type);
  }
  if (rows_side_by_side() > 1) {
    for (uint32_t distance = 1; distance < held_lanes(); distance *= 2)
      part = combine(reduction, part, k_.subgroup_shuffle_xor(part, k_.constant(Type::u32, distance)));
    return part;
  }
  const Value mine = k_.subgroup_reduce(reduction, part);
  if (there_is_) return mine;
  const kernel::Array cells = k_.shared(type, 128);
  k_.if_(k_.subgroup_lane() == k_.subgroup_lane().like(0), [&] { cells[k_.subgroup_number()] = mine; });
  k_.barrier();
  const kernel::Variable total = k_.variable(k_.constant_bits(type, kernel::identity_of(reduction, type)));
  const Value count = k_.constant(Type::u32, team_lanes()) / convert(k_.subgroup_size(), Type::u32);
  k_.for_(count, [&](Value i) { total = combine(reduction, total.get(), cells[i]); });
  return total.get();
}

std::vector<Value> RowWriter::held_sums(const Level& level) {
  const std::vector<Reduction> reductions = all_reductions(level);
  std::vector<Value> sums;
  for (const Held& held : held_) {
    use(held);
    for (const Index& at : held.places) add_contributions(level, reductions, at, sums, held.inside);
    writer_.clear_vector();
  }
  return sums;
}

std::vector<Value> RowWriter::joined(const Level& level, std::vector<Value> sums) {
  const std::vector<Reduction> reductions = all_reductions(level);
  for (size_t i = 0; i < sums.size() && by_team_; ++i) sums[i] = over_lanes(reductions[i], sums[i]);
  return sums;
}

}  // namespace adit::compile
