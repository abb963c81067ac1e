// Recurrences that look back to any row that they wrote: sums over all of the past. The rows that a lane
// touches go from step to step, those of each lane around the recurrence behind each other, and each step
// puts its own among them. They are no more than that: what other lanes write stays out of it.
#include <algorithm>
#include <cmath>

#include "stan/carried.hpp"

namespace adit::stan {

// Whether every step writes one row, and all rows of a lane are equally far apart.
bool Evaluator::history_of(const Tracked& tracked, Carried& carried) const {
  const Value& value = (*frame_)[static_cast<size_t>(carried.slot)].value;
  const int level = levels_.top();
  const int64_t row_count = carried.row_count(value);
  if (row_count == 0 || levels_.innermost_scan(level - 1) > 0) return false;
  const int64_t row_size = value.size() / row_count;
  if (!written_rows(tracked, carried)) return false;
  if (std::find(carried.writes.begin(), carried.writes.end(), false) != carried.writes.end()) return false;
  const std::vector<int64_t> around = levels_.ancestors(level, level - 1);
  const auto lanes = static_cast<size_t>(level > 1 ? levels_.at(level - 1).total : 1);
  std::vector<double> first(lanes, static_cast<double>(row_count)), last(lanes, 0);
  carried.apart = std::abs(carried.stride);
  // Of all that are touched, written or read; false where one lies across rows or between them.
  const auto each = [&](const auto& on) {
    for (size_t i = 0; i < carried.written.size(); ++i)
      if (!on(static_cast<size_t>(around[i]), carried.written[i])) return false;
    for (const Touch& touch : tracked.reads) {
      if (touch.level != level) return false;
      for (size_t i = 0; i < touch.blocks.size(); ++i) {
        if (touch.blocks[i] < 0) continue;
        const int64_t from = touch.blocks[i] * touch.block / row_size;
        if (from != ((touch.blocks[i] + 1) * touch.block - 1) / row_size) return false;
        if (!on(static_cast<size_t>(around[i / static_cast<size_t>(touch.each)]), static_cast<double>(from)))
          return false;
      }
    }
    return true;
  };
  if (!each([&](size_t lane, double row) {
        first[lane] = std::min(first[lane], row), last[lane] = std::max(last[lane], row);
        return true;
      }))
    return false;
  if (!each([&](size_t lane, double row) { return std::fmod(row - first[lane], carried.apart) == 0; }))
    return false;
  for (size_t lane = 0; lane < lanes; ++lane)
    carried.extent =
        std::max(carried.extent, static_cast<int64_t>((last[lane] - first[lane]) / carried.apart) + 1);
  carried.first = std::move(first);
  carried.by_rows = carried.has_history = true;
  return true;
}

// What the rows are before the first step: [rows of all lanes around, elements].
Tensor Evaluator::first_history(const Value& value, const Carried& carried, const Place& place) {
  const int outside = levels_.top() - 1;
  int64_t row_count = 1;
  for (int axis = 0; axis < carried.prefix; ++axis) row_count *= value.shape[axis];
  const int64_t row_size = value.size() / row_count;
  std::vector<double> rows;
  for (const double first : carried.first)
    for (int64_t i = 0; i < carried.extent; ++i)
      rows.push_back(
          std::min(first + static_cast<double>(i) * carried.apart, static_cast<double>(row_count - 1)));
  const Type list = array_of(scalar_type(Base::real), 2);
  const Value numbers =
      known_value(array_of(scalar_type(Base::integer)), {carried.extent}, std::move(rows), outside);
  const Value found =
      at(flattened(value, list, {row_count, row_size}), {{Spot::Kind::many, numbers}}, list, place);
  bool in_lanes = false;
  const Tensor tensor = tensor_at(found, outside, 0, in_lanes);
  const int64_t lanes = std::ssize(carried.first);
  Shape by_lane{carried.extent, row_size};
  if (levels_.lanes(outside, 0) > 0) by_lane.insert(0, lanes);
  return reshape(broadcast_to(tensor, by_lane), {lanes * carried.extent, row_size});
}

void Evaluator::begin_history(Window& window, const Carried& carried, const Tensor& carry) {
  const Value& row = window.rows[0];
  window.first = carried.first, window.extent = carried.extent, window.apart = carried.apart;
  Shape shape = row.shape;
  shape.insert(0, carry.shape()[0]);
  window.history = traced_value(array_of(row.type), shape, reshape(carry, shape), 0, window.level);
  std::vector<double> places;
  const std::vector<int64_t> around = levels_.ancestors(window.level, window.level - 1);
  for (size_t i = 0; i < around.size(); ++i) {
    const auto lane = static_cast<size_t>(around[i]);
    places.push_back(static_cast<double>(around[i] * window.extent) +
                     (window.written[i] - window.first[lane]) / window.apart);
  }
  window.position = known_value(scalar_type(Base::integer), {}, std::move(places), window.level);
}

// With this step's rows among them: [rows of all lanes around, elements].
Value Evaluator::history_with_row(const Window& window) {
  const int level = window.level;
  const int64_t lanes = std::max<int64_t>(1, levels_.lanes(level, level));
  const int64_t size = window.rows[0].size(), rows = window.history.shape[0];
  bool in_lanes = false;
  const Tensor places = as_type(tensor_at(window.position, level, level, in_lanes), DType::i64);
  Tensor row = tensor_at(window.rows[0], level, level, in_lanes);
  Shape by_lane = window.rows[0].shape;
  if (levels_.lanes(level, level) > 0) by_lane.insert(0, lanes);
  row = reshape(broadcast_to(row, by_lane), {lanes, size});
  Value changed = window.history;
  changed.tensor = indexed_put(reshape(changed.tensor, {rows, size}), reshape(places, {lanes, 1}), row);
  return changed;
}

// Where the rows with these numbers lie, which are not all this step's own.
Evaluator::Storage Evaluator::history_storage(Window& window, const Value& row, const Spots& rest) {
  const int level = row.level;
  const std::vector<int64_t> lane = levels_.ancestors(level, window.level - 1),
                             step = levels_.ancestors(level, window.level);
  const std::vector<bool> holds = running(level);
  std::vector<double> places;
  bool has_own = false;
  for (size_t i = 0; i < lane.size(); ++i) {
    const auto around = static_cast<size_t>(lane[i]);
    const double place = (row.known->numbers[i] - window.first[around]) / window.apart;
    const bool is_inside =
        place >= 0 && place < static_cast<double>(window.extent) && place == std::floor(place);
    if (!is_inside && holds[i]) throw NotTogether{"a recurrence that reads what it has not written yet"};
    has_own = has_own || (holds[i] && row.known->numbers[i] == window.written[static_cast<size_t>(step[i])]);
    places.push_back(static_cast<double>(lane[i] * window.extent) + (is_inside ? place : 0));
  }
  if (has_own) {
    const Shape shape = window.history.shape;
    const Value changed = history_with_row(window);
    window.history =
        traced_value(window.history.type, shape, reshape(changed.tensor, shape), 0, window.level);
  }
  Spots spots{{Spot::Kind::single, known_value(scalar_type(Base::integer), {}, std::move(places), level)}};
  spots.insert(spots.end(), rest.begin(), rest.end());
  return {&window.history, window.level, std::move(spots), true};
}

}  // namespace adit::stan
