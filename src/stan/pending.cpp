// What rounds write at places of a variable from outside of them. A write waits until somebody reads there or
// the loop ends, and all that wait by then are put into their places at once, in their order.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>
#include <unordered_set>

#include "stan/evaluator.hpp"
#include "stan/placing.hpp"

namespace adit::stan {

// How many of the conditions at hand stand around all loops that keep an eye on the variable: those hold, or
// not, for all that the loops do.
size_t Evaluator::masks_around(int slot, int home) const {
  for (const Together* loop : together_) {
    const auto found = loop->frame == frame_ ? loop->variables.find(slot) : loop->variables.end();
    if (found != loop->variables.end() && loop->level > home && found->second.mode == Tracked::Mode::elements)
      return loop->masks;
  }
  return masks_.size();
}

// Conditions first .. last - 1 as one.
Value Evaluator::masks_from(size_t first, size_t last) {
  if (first == 0 && last == masks_.size()) return mask();
  Value joined = masks_[first].own;
  for (size_t i = first + 1; i < last; ++i)
    joined = operate(Operator::logical_and, joined, masks_[i].own, {});
  return joined;
}

// What the branch at hand wrote at the same places just now; none: somebody else did, or nobody.
const Value* Evaluator::own_write(const Tracked& loop, const Touch& touch) const {
  if (loop.pending.empty() || !loop.pending.back().touch.is_same_as(touch)) return nullptr;
  const Pending& last = loop.pending.back();
  if (last.branches.empty() || masks_.empty()) return &last.written;
  const Pending::Branch& branch = last.branches.back();
  const Mask& mask = masks_.back();
  const bool is_here = branch.choice == mask.choice && branch.is_otherwise == mask.is_otherwise &&
                       branch.depth == masks_.size();
  return is_here ? &branch.own : &last.written;
}

namespace {

// Elements that a touch names, of all lanes that the variable has.
void each_element(const Levels& levels, const Touch& touch, int home, int64_t size,
                  const std::function<void(int64_t)>& on) {
  const std::vector<int64_t> homes = levels.ancestors(touch.level, home);
  for (size_t i = 0; i < touch.blocks.size(); ++i) {
    if (touch.blocks[i] < 0) continue;
    const int64_t first = homes[i / static_cast<size_t>(touch.each)] * size + touch.blocks[i] * touch.block;
    for (int64_t e = first; e < first + touch.block; ++e) on(e);
  }
}

}  // namespace

// Whether the touch names an element of which a write waits.
bool Evaluator::meets(const Tracked& loop, const Touch& touch, int home, int64_t size) const {
  std::unordered_set<int64_t> waiting;
  for (const Pending& one : loop.pending)
    each_element(levels_, one.touch, home, size, [&](int64_t e) { waiting.insert(e); });
  bool found = false;
  each_element(levels_, touch, home, size, [&](int64_t e) { found = found || waiting.contains(e); });
  return found;
}

// Before a read: what waits goes into the variable's value. What a step of a recurrence gives cannot; it
// stays where the read does not ask for it.
void Evaluator::make_room(const Storage& storage, Tracked& loop, const Touch& touch) {
  const bool can_go = std::all_of(loop.pending.begin(), loop.pending.end(),
                                  [&](const Pending& one) { return one.written.inside <= storage.home; });
  if (can_go || meets(loop, touch, storage.home, storage.value->size())) flush(storage, loop);
}

// What is there already at the places of a write, in its form.
Value Evaluator::value_there(Tracked& loop, const Storage& storage, const Touch& touch, const Value& form) {
  if (!loop.pending.empty() && loop.pending.back().touch.is_same_as(touch))
    return loop.pending.back().written;
  make_room(storage, loop, touch);
  return at_touch(whole(*storage.value), touch, form);
}

// A write that waits. Under conditions that do not hold everywhere it is one of what is there already, where
// they do not hold; of what the other branch of the choice wrote, where that wrote to the same places.
void Evaluator::put_off(Tracked& loop, int slot, const Storage& storage, const Touch& touch,
                        const Value& value) {
  Pending now{.touch = touch, .written = whole(value)};
  const size_t around = masks_around(slot, storage.home);
  size_t depth = masks_.size();
  std::vector<Pending::Branch>& branches = now.branches;
  const bool is_again = !loop.pending.empty() && loop.pending.back().touch.is_same_as(touch);
  if (is_again && depth > around) branches = loop.pending.back().branches;
  const auto is_over = [&](const Pending::Branch& one) {
    return one.depth > depth || masks_[one.depth - 1].choice != one.choice;
  };
  while (!branches.empty() && is_over(branches.back())) branches.pop_back();
  std::optional<Pending::Branch> before;
  while (depth > around && !branches.empty() && branches.back().depth == depth) {
    before = std::move(branches.back());
    branches.pop_back();
    if (before->is_otherwise == masks_[depth - 1].is_otherwise) break;
    now.written = merged(masks_[depth - 1].own, now.written, before->own);
    --depth;
  }
  if (depth > around) {
    Pending::Branch own{.choice = masks_[depth - 1].choice,
                        .is_otherwise = masks_[depth - 1].is_otherwise,
                        .depth = depth,
                        .own = now.written};
    if (before) {
      own.before = before->before, own.read = before->read;
    } else {
      own.before = value_there(loop, storage, touch, now.written);
      own.read = ++now_;
      loop.reads.push_back(touch);
      loop.reads.back().when = own.read;
    }
    for (size_t i = around; i < depth; ++i)
      if (masks_[i].own.is_known()) expect_own_places(touch, storage.home, masks_[i].own, true);
    now.written = merged(masks_from(around, depth), now.written, own.before);
    branches.push_back(std::move(own));
  } else if (before) {  // all of it is new after all
    for (Touch& read : loop.reads)
      if (read.when == before->read) std::fill(read.blocks.begin(), read.blocks.end(), -1);
  }
  loop.writes.push_back(counted_only(touch));
  now.touch.when = loop.writes.back().when;
  if (!loop.pending.empty() && loop.pending.back().touch.is_same_as(touch))
    loop.pending.back() = std::move(now);
  else
    loop.pending.push_back(std::move(now));
}

// What waits goes into the variable's value.
void Evaluator::flush(const Storage& storage, Tracked& loop) {
  if (loop.pending.empty()) return;
  const std::vector<Pending> writes = std::exchange(loop.pending, {});
  for (const Pending& one : writes)
    if (one.written.inside > storage.home) {  // what a step gives is there only after the last one
      loop.carries = loop.by_row = true;
      return;
    }
  *storage.value = all_placed(whole(*storage.value), storage.home, writes);
}

namespace {

Value placed_known(const Levels& levels, const Value& whole, int home, const Touch& touch, const Value& part,
                   bool adds) {
  const Value to = levels.lifted(whole, home), from = levels.lifted(part, touch.level);
  std::vector<double> numbers = to.known->numbers;
  const std::vector<int64_t> homes = levels.ancestors(touch.level, home);
  size_t next = 0;
  for (size_t lane = 0; lane < homes.size(); ++lane)
    for (int64_t k = 0; k < touch.each; ++k) {
      const int64_t number = touch.blocks[lane * static_cast<size_t>(touch.each) + static_cast<size_t>(k)];
      for (int64_t e = 0; e < touch.block; ++e, ++next) {
        if (number < 0) continue;
        double& at = numbers[static_cast<size_t>(homes[lane] * whole.size() + number * touch.block + e)];
        at = (adds ? at : 0) + from.known->numbers[next];
      }
    }
  return known_value(whole.type, whole.shape, std::move(numbers), home);
}

}  // namespace

bool Evaluator::same_in_steps(const Touch& touch, int inside) const {
  const auto each = static_cast<size_t>(touch.each);
  for (int64_t lane = 0; inside > 0 && lane < levels_.at(touch.level).total; ++lane) {
    const int64_t first = levels_.in_first_step(lane, touch.level, inside);
    for (size_t k = 0; first != lane && k < each; ++k)
      if (touch.blocks[static_cast<size_t>(lane) * each + k] !=
          touch.blocks[static_cast<size_t>(first) * each + k])
        return false;
  }
  return true;
}

// The rows that a write puts into its variable's table of rows of `block` elements, and where.
Evaluator::Rows Evaluator::rows_to_place(const Value& whole, int home, const Touch& touch, const Value& part,
                                         int64_t block, int inside) {
  const std::vector<int64_t> lanes = levels_.in_step(touch.level, inside),
                             homes = levels_.in_step(home, inside);
  std::vector<int64_t> position(static_cast<size_t>(levels_.at(home).total), 0);
  for (size_t i = 0; i < homes.size(); ++i) position[static_cast<size_t>(homes[i])] = static_cast<int64_t>(i);
  const auto each = static_cast<size_t>(touch.each);
  if (!same_in_steps(touch, inside))
    throw NotTogether{"places that differ from step to step of a recurrence"};
  const int64_t blocks = block ? whole.size() / block : 0, times = block ? touch.block / block : 0;
  const std::vector<int64_t> home_of = levels_.ancestors(touch.level, home);
  std::vector<int64_t> places, kept;  // what goes nowhere is left out
  int64_t row = 0;
  for (const int64_t lane : lanes)
    for (size_t k = 0; k < each; ++k) {
      const int64_t number = touch.blocks[static_cast<size_t>(lane) * each + k];
      const int64_t of = position[static_cast<size_t>(home_of[static_cast<size_t>(lane)])];
      for (int64_t t = 0; t < times; ++t, ++row)
        if (number >= 0) places.push_back(of * blocks + number * times + t), kept.push_back(row);
    }
  bool in_lanes = false;
  Tensor rows = tensor_at(part, touch.level, inside, in_lanes);
  Shape row_shape = part.shape;
  if (levels_.lanes(touch.level, inside) > 0) row_shape.insert(0, std::ssize(lanes));
  if (!(rows.shape() == row_shape)) rows = broadcast_to(rows, row_shape);
  rows = reshape(rows, {row, block});
  if (std::ssize(kept) < row && !kept.empty()) rows = take(rows, adit::tensor(kept), 0);
  return {rows, std::move(places)};
}

Value Evaluator::placed(const Value& whole, int home, const Touch& touch, const Value& part, bool adds) {
  if (whole.is_known() && part.is_known()) return placed_known(levels_, whole, home, touch, part, adds);
  const int inside = std::max(whole.inside, part.inside);
  const auto [rows, places] = rows_to_place(whole, home, touch, part, touch.block, inside);
  if (places.empty()) return at_lanes(whole, home);
  const auto [table, shape] = table_of(whole, home, touch.block, inside);
  if (adds && std::ssize(places) == table.dim(0) && std::is_sorted(places.begin(), places.end()) &&
      std::adjacent_find(places.begin(), places.end()) == places.end())  // each row in its turn
    return traced_value(whole.type, whole.shape, reshape(table + rows, shape), home, inside);
  const Tensor changed = adds ? indexed_add(table, adit::tensor(places, {std::ssize(places), 1}), rows)
                              : rows_placed(table, rows, places);
  return traced_value(whole.type, whole.shape, reshape(changed, shape), home, inside);
}

// A value's rows of `block` elements, those of all lanes behind each other; and its shape with lanes.
std::pair<Tensor, Shape> Evaluator::table_of(const Value& whole, int home, int64_t block, int inside) {
  bool in_lanes = false;
  Tensor table = tensor_at(whole, home, inside, in_lanes);
  const int64_t lanes = std::ssize(levels_.in_step(home, inside));
  Shape shape = whole.shape;
  if (levels_.lanes(home, inside) > 0) shape.insert(0, lanes);
  if (!(table.shape() == shape)) table = broadcast_to(table, shape);
  return {reshape(table, {lanes * (block ? whole.size() / block : 0), block}), shape};
}

// Few writes go into the value one after the other, which may be cuts of it; of many, all rows are put behind
// each other, and each element of the value is taken from there.
Value Evaluator::all_placed(const Value& whole_value, int home, std::span<const Pending> writes) {
  constexpr size_t few = 3;
  Value value = whole_value;
  const bool are_many = writes.size() > few;
  // Known numbers first, where nothing that is traced is behind them: they are data then.
  std::vector<const Pending*> traced;
  std::unordered_set<int64_t> taken;
  for (const Pending& one : writes) {
    bool is_free = value.is_known() && one.written.is_known();
    if (is_free && !taken.empty())
      each_element(levels_, one.touch, home, value.size(),
                   [&](int64_t e) { is_free = is_free && !taken.contains(e); });
    if (is_free || !are_many) {
      value = placed(value, home, one.touch, one.written, false);
      continue;
    }
    traced.push_back(&one);
    each_element(levels_, one.touch, home, value.size(), [&](int64_t e) { taken.insert(e); });
  }
  if (traced.size() <= few) {
    for (const Pending* one : traced) value = placed(value, home, one->touch, one->written, false);
    return value;
  }
  int inside = value.inside;
  int64_t block = 0;
  for (const Pending* one : traced) {
    inside = std::max(inside, one->written.inside);
    block = std::gcd(block, one->touch.block);
  }
  std::vector<Tensor> parts;
  std::vector<int64_t> places;
  for (const Pending* one : traced) {
    Rows rows = rows_to_place(value, home, one->touch, one->written, block, inside);
    if (rows.places.empty()) continue;
    parts.push_back(rows.rows);
    places.insert(places.end(), rows.places.begin(), rows.places.end());
  }
  if (parts.empty()) return at_lanes(value, home);
  const auto [table, shape] = table_of(value, home, block, inside);
  const Tensor changed = rows_placed(table, concatenate(parts, 0), places);
  return traced_value(value.type, value.shape, reshape(changed, shape), home, inside);
}

// Lanes in which a condition does not hold (`holds`: does) write what is there already. That must not be what
// another lane writes at the same time: an index that makes no sense there may point anywhere.
void Evaluator::expect_own_places(const Touch& touch, int home, const Value& condition, bool holds) const {
  const Value by_lane = levels_.lifted(condition, touch.level);
  std::map<std::array<int64_t, 3>, bool> written;  // step, lane of the variable, place
  const auto place_of = [&](size_t i) {
    const auto lane = static_cast<int64_t>(i) / touch.each;
    return std::array{levels_.step_of(lane, touch.level), levels_.ancestor(touch.level, home, lane),
                      touch.blocks[i]};
  };
  const auto writes = [&](size_t i) {
    return (by_lane.known->numbers[i / static_cast<size_t>(touch.each)] != 0) == holds;
  };
  for (size_t i = 0; i < touch.blocks.size(); ++i)
    if (writes(i)) written[place_of(i)] = true;
  for (size_t i = 0; i < touch.blocks.size(); ++i)
    if (!writes(i) && touch.blocks[i] >= 0 && written.contains(place_of(i)))
      throw NotTogether{"a place that some rounds write and others would keep"};
}

// What is there already at the places of a write, in its form.
Value Evaluator::at_touch(const Value& value, const Touch& touch, const Value& form) {
  const int64_t blocks = touch.block ? value.size() / touch.block : 0;
  const Type row = array_of(scalar_type(Base::real)), table = array_of(row);
  std::vector<double> numbers(touch.blocks.begin(), touch.blocks.end());
  for (double& number : numbers) number = std::max(number, 0.0);
  const Value places =
      known_value(array_of(scalar_type(Base::integer)), {touch.each}, std::move(numbers), touch.level);
  const Value found =
      at(flattened(value, table, {blocks, touch.block}), {{Spot::Kind::many, places}}, table, {});
  return flattened(found, form.type, form.shape);
}

}  // namespace adit::stan
