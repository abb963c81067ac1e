// Loops whose rounds need earlier ones: a scan. What a step does not need of the step before is computed for
// all rounds at once outside of it, and what it gives is used for all rounds at once after it.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graph/node.hpp"
#include "stan/carried.hpp"
#include "stan/snapshot.hpp"

namespace adit::stan {

namespace {

constexpr int most_lags = 16;

// Of what the last index leaves.
Type type_of_column(const Type& type) {
  if (type.base == Base::matrix) return array_of(scalar_type(Base::vector), type.array);
  if (type.base == Base::vector || type.base == Base::row_vector)
    return array_of(scalar_type(Base::real), type.array);
  return type_of_element(type);
}

}  // namespace

// The row of each lane of a touch; -1 where it has none. False: more than one.
bool Evaluator::rows_of(const Touch& touch, const Carried& carried, std::vector<double>& rows) const {
  const int level = levels_.top();
  const Value& value = (*frame_)[static_cast<size_t>(carried.slot)].value;
  const int64_t row_size = carried.row_size(value), row_count = carried.row_count(value);
  if (touch.level != level || row_size == 0 || (carried.is_turned && touch.block != 1)) return false;
  const auto row_of = [&](int64_t element) {
    return carried.is_turned ? element % row_count : element / row_size;
  };
  rows.assign(static_cast<size_t>(levels_.at(level).total), -1);
  for (size_t i = 0; i < touch.blocks.size(); ++i) {
    if (touch.blocks[i] < 0) continue;
    const int64_t first = row_of(touch.blocks[i] * touch.block);
    const int64_t last = row_of((touch.blocks[i] + 1) * touch.block - 1);
    double& row = rows[i / static_cast<size_t>(touch.each)];
    if (first != last || (row >= 0 && row != static_cast<double>(first))) return false;
    row = static_cast<double>(first);
  }
  return true;
}

// Rows of the steps that write none, as if they did; false where those that do are not equally far apart.
bool Evaluator::complete_rows(Carried& carried) const {
  const auto count = static_cast<size_t>(levels_.at(levels_.top()).count);
  std::vector<double>& rows = carried.written;
  for (const double row : rows) carried.writes.push_back(row >= 0);
  std::optional<double> stride;
  for (size_t first = 0; first < rows.size(); first += count) {
    size_t last = count;  // of this lane's steps that write
    for (size_t i = 0; i < count; ++i) {
      if (rows[first + i] < 0) continue;
      if (last < count) {
        const double own = (rows[first + i] - rows[first + last]) / static_cast<double>(i - last);
        if (own == 0 || own != std::floor(own) || (stride && own != *stride)) return false;
        stride = own;
      }
      last = i;
    }
  }
  carried.stride = stride.value_or(1);
  for (size_t first = 0; first < rows.size(); first += count) {
    size_t known = 0;
    while (known < count && rows[first + known] < 0) ++known;
    const double row = known < count ? rows[first + known] : 0;
    for (size_t i = 0; i < count; ++i)
      rows[first + i] = row + carried.stride * (static_cast<double>(i) - static_cast<double>(known % count));
  }
  return true;
}

// Whether each step writes one row, as far from the one before as that from its own.
bool Evaluator::written_rows(const Tracked& tracked, Carried& carried) const {
  std::vector<double> rows;
  for (const Touch& touch : tracked.writes) {
    if (!rows_of(touch, carried, rows)) return false;
    if (carried.written.empty()) carried.written = rows;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (carried.written[i] < 0) carried.written[i] = rows[i];
      if (rows[i] >= 0 && rows[i] != carried.written[i]) return false;
    }
  }
  return !carried.written.empty() && complete_rows(carried);
}

// Whether each step writes one row, as far from the one before as that from its own, and reads rows at fixed
// distances from it.
bool Evaluator::window_of(const Tracked& tracked, Carried& carried) const {
  if (!written_rows(tracked, carried)) return false;
  std::vector<double> rows;
  for (const Touch& touch : tracked.reads) {
    if (!rows_of(touch, carried, rows)) return false;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i] < 0) continue;
      const double lag = (carried.written[i] - rows[i]) / carried.stride;
      if (lag < 0 || lag > most_lags || lag != std::floor(lag)) return false;
      carried.lags = std::max(carried.lags, static_cast<int>(lag));
    }
  }
  carried.by_rows = true;
  return true;
}

// Of short rows first: a row that several lanes around share cannot be a window of each.
bool Evaluator::find_window(const Tracked& tracked, Carried& carried) const {
  const Value& value = (*frame_)[static_cast<size_t>(carried.slot)].value;
  if (tracked.mode != Tracked::Mode::elements || tracked.writes.empty() ||
      (tracked.carries && !tracked.by_row))
    return false;
  if (value.kind == Value::Kind::tuple || value.type.base == Base::tuple) return false;
  const auto finds = [&](auto find, Carried form) {
    if (!(this->*find)(tracked, form)) return false;
    carried = std::move(form);
    return true;
  };
  const int axes = value.shape.size();
  for (int prefix = axes; prefix > 0; --prefix)
    if (finds(&Evaluator::window_of, {.slot = carried.slot, .prefix = prefix})) return true;
  if (axes > 1 && finds(&Evaluator::window_of, {.slot = carried.slot, .is_turned = true})) return true;
  for (int prefix = axes; prefix > 0; --prefix)
    if (finds(&Evaluator::history_of, {.slot = carried.slot, .prefix = prefix})) return true;
  return false;
}

// What the last index leaves: a column of a matrix.
Value Evaluator::column_at(const Value& value, const Value& number, const Place& place) {
  Spots spots(static_cast<size_t>(value.shape.size() - 1));
  spots.push_back({Spot::Kind::single, number});
  return at(value, spots, type_of_column(value.type), place);
}

// A row by its number: the value with its first axes as one.
Value Evaluator::row_at(const Value& value, const Carried& carried, const Value& number, const Place& place) {
  if (carried.is_turned) return column_at(value, number, place);
  Shape shape;
  int64_t rows = 1;
  Type type = value.type;
  for (int axis = 0; axis < value.shape.size(); ++axis) {
    if (axis < carried.prefix)
      rows *= value.shape[axis], type = type_of_element(type);
    else
      shape.push_back(value.shape[axis]);
  }
  shape.insert(0, rows);
  return at(flattened(value, array_of(type), shape), {{Spot::Kind::single, number}}, type, place);
}

namespace {

// A value's row for each lane around, or its whole, as a tensor with all lanes that the carry has.
Tensor carry_tensor(const Tensor& tensor, int64_t lanes, const Shape& own) {
  Shape shape = own;
  if (lanes > 0) shape.insert(0, lanes);
  return tensor.shape() == shape ? tensor : broadcast_to(tensor, shape);
}

}  // namespace

void Evaluator::by_steps(const Rounds& rounds, const std::map<int, Tracked>& carries) {
  const Snapshot outside = snapshot();
  for (const bool with_windows : {true, false}) {
    std::map<int, Tracked> all = carries;
    try {
      // A step may turn out to carry more than the rounds did.
      for (int attempt = 0; attempt < 8; ++attempt) {
        if (by_steps_with(rounds, all, with_windows)) return;
        restore(outside);
      }
      throw NotTogether{"a recurrence of many variables"};
    } catch (const NotTogether&) {
      if (!with_windows) throw;
      restore(outside);
    }
  }
}

std::vector<Evaluator::Carried> Evaluator::begin_carries(const Rounds& rounds, Together& loop,
                                                         const std::map<int, Tracked>& carries,
                                                         bool with_windows, std::vector<Tensor>& initial) {
  const int level = loop.level, inside = levels_.innermost_scan(level - 1);
  const int64_t lanes = levels_.lanes(level, level);
  std::vector<Carried> carried;
  for (const auto& [slot, tracked] : carries) {
    Carried one{.slot = slot};
    if (!with_windows || !find_window(tracked, one)) one = Carried{.slot = slot};
    one.reads = tracked.reads;
    const Value value = whole((*frame_)[static_cast<size_t>(slot)].value);
    if (value.is_nothing()) throw NotTogether{"a result that has no size yet"};
    const auto add = [&](const Value& part) {
      bool in_lanes = false;
      initial.push_back(carry_tensor(tensor_at(part, level - 1, inside, in_lanes), lanes, part.shape));
    };
    // A loop around this one hears that the value was read.
    if (Tracked* outer = this->tracked(slot, (*frame_)[static_cast<size_t>(slot)].home);
        outer && !one.by_rows)
      outer->carries = outer->carries || !(outer->mode == Tracked::Mode::whole && outer->assigned);
    if (!one.by_rows) add(value);
    if (one.has_history) initial.push_back(first_history(value, one, rounds.statement->place));
    const double row_count = one.by_rows ? static_cast<double>(one.row_count(value)) : 1;
    for (int lag = 1; lag <= one.lags; ++lag) {
      // The row before the first one that is written, in each lane around.
      std::vector<double> rows;
      const auto count = static_cast<size_t>(rounds.count);
      for (size_t i = 0; i < one.written.size(); i += count)
        rows.push_back(std::clamp(one.written[i] - lag * one.stride, 0.0, row_count - 1));
      const int around_level = level - 1;
      const Value number = around_level > 0 ? known_value(scalar_type(Base::integer), {}, rows, around_level)
                                            : known_integer(static_cast<int64_t>(rows[0]));
      add(row_at(value, one, number, rounds.statement->place));
    }
    carried.push_back(std::move(one));
    loop.variables.erase(slot);
  }
  return carried;
}

std::string Evaluator::steps_text(const Rounds& rounds, const std::vector<Carried>& carried) {
  std::string names;
  for (const Carried& one : carried) {
    if (one.by_rows && !one.has_history && one.lags == 0) continue;  // it is written, and never read back
    names += (names.empty() ? "" : ", ") + name_of_written(*rounds.statement, one.slot);
    if (one.has_history)
      names += fmt::format(" ({} rows)", one.extent);
    else if (one.by_rows)
      names += fmt::format(" ({} row{} back)", one.lags, one.lags > 1 ? "s" : "");
  }
  return fmt::format("a loop of {} steps{}{}", rounds.count, names.empty() ? "" : " that carries ", names);
}

// False where a step carries more than `carries`, to which that is added then.
bool Evaluator::by_steps_with(const Rounds& rounds, std::map<int, Tracked>& carries, bool with_windows) {
  push_level(rounds, true);
  const int level = levels_.top(), inside = levels_.innermost_scan(level - 1);
  Together loop{.frame = frame_, .level = level, .masks = masks_.size(), .is_scan = true};
  track(loop, *rounds.statement);
  const Frame before = *frame_;
  Tensors initial;
  const std::vector<Carried> carried = begin_carries(rounds, loop, carries, with_windows, initial);
  set_counters(rounds, loop);
  together_.push_back(&loop);
  begin_own(rounds, loop);
  const Snapshot start = snapshot();
  // Once with placeholders, to learn what a step reads of each round and what it gives.
  Tensors placeholders;
  for (const Tensor& tensor : initial) placeholders.push_back(graph::placeholder(DType::f64, tensor.shape()));
  step(rounds, loop, carried, placeholders);
  bool more = false;
  for (const auto& [slot, tracked] : loop.variables)
    if (needs_others(tracked, slot, level)) more = carries.emplace(slot, tracked).second || more;
  if (more) return false;
  const std::vector<Tensor> sequences = loop.sequences;
  const bool has_any = !initial.empty();
  if (!has_any) initial.push_back(full({}, 0.0, DType::f64));  // a scan wants something to carry
  const Step result = scan(
      [&](const Tensors& carry, const Tensors& slices) {
        restore(start);
        loop.slices = slices;
        loop.sequences = sequences;
        Tensors next = step(rounds, loop, carried, carry);
        if (!has_any) next = carry;
        return Step{std::move(next), loop.outputs};
      },
      initial, sequences, rounds.count);
  // From here on the rounds are lanes.
  size_t t = 0;
  for (const Carried& one : carried) {
    Stored& variable = (*frame_)[static_cast<size_t>(one.slot)];
    variable = before[static_cast<size_t>(one.slot)];
    if (!one.by_rows) {
      // The last step's value is that of all rounds.
      Tracked& last = loop.variables[one.slot];
      last.mode = Tracked::Mode::whole;
      last.assigned = true;
      variable.value =
          traced_value(variable.value.type, variable.value.shape, result.carry[t], level - 1, inside);
    }
    t += one.tensors();
  }
  take_outputs(loop, carried, result.outputs);
  loop_notes.tell(*rounds.statement, steps_text(rounds, carried));
  finish(loop, before);
  return true;
}

std::vector<Tensor> Evaluator::step(const Rounds& rounds, Together& loop, const std::vector<Carried>& carried,
                                    const std::vector<Tensor>& carry) {
  const int level = loop.level;
  loop.next_sequence = 0;
  loop.outputs.clear(), loop.output_terms.clear();
  size_t t = 0;
  for (const Carried& one : carried) {
    Stored& variable = (*frame_)[static_cast<size_t>(one.slot)];
    const Value value = variable.value;
    if (!one.by_rows) {
      variable.value = traced_value(value.type, value.shape, carry[t++], level, level);
      variable.home = level;
      continue;
    }
    Window& window = variable.window;
    window = {level, one.prefix, one.is_turned, one.written, one.stride, {}};
    std::vector<double> rows = one.written;
    for (double& row : rows) row = std::clamp(row, 0.0, static_cast<double>(one.row_count(value) - 1));
    const Value number = known_value(scalar_type(Base::integer), {}, std::move(rows), level);
    const Value row = row_at(value, one, number, rounds.statement->place);
    window.rows.push_back(row);
    if (one.has_history) begin_history(window, one, carry[t++]);
    for (int lag = 1; lag <= one.lags; ++lag)
      window.rows.push_back(traced_value(row.type, row.shape, carry[t++], level, level));
  }
  set_loop_variable(rounds, index_by_lane(rounds));
  around_.push_back({rounds.statement, frame_});
  run_rounds(rounds);
  around_.pop_back();
  std::vector<Tensor> next;
  const int64_t lanes = levels_.lanes(level, level);
  const auto give = [&](const Value& value) {
    bool in_lanes = false;
    next.push_back(carry_tensor(tensor_at(value, level, level, in_lanes), lanes, value.shape));
  };
  for (const Carried& one : carried) {
    Stored& variable = (*frame_)[static_cast<size_t>(one.slot)];
    if (!one.by_rows) give(variable.value);
    if (one.has_history) next.push_back(history_with_row(variable.window).tensor);
    for (int lag = 0; lag < one.lags; ++lag) give(variable.window.rows[static_cast<size_t>(lag)]);
  }
  collect_outputs(loop, carried);
  return next;
}

// What is needed of every step, behind the terms.
void Evaluator::collect_outputs(Together& loop, const std::vector<Carried>& carried) {
  const int level = loop.level;
  const int64_t lanes = levels_.lanes(level, level);
  const auto give = [&](const Value& value) {
    bool in_lanes = false;
    loop.outputs.push_back(carry_tensor(tensor_at(value, level, level, in_lanes), lanes, value.shape));
  };
  for (const Carried& one : carried)
    if (one.by_rows) give((*frame_)[static_cast<size_t>(one.slot)].window.rows[0]);
  for (auto& [slot, tracked] : loop.variables) {
    const Value& value = (*frame_)[static_cast<size_t>(slot)].value;
    if (tracked.mode == Tracked::Mode::whole && tracked.assigned && value.inside >= level) give(value);
    for (const Pending& one : tracked.pending)
      if (one.written.inside >= level) give(one.written);
    for (const Tracked::Addend& addend : tracked.addends)
      if (addend.value.inside >= level) give(addend.value);
  }
}

void Evaluator::take_outputs(Together& loop, const std::vector<Carried>& carried,
                             const std::vector<Tensor>& outputs) {
  const int level = loop.level, inside = levels_.innermost_scan(level - 1);
  const int64_t outer = levels_.lanes(level - 1, inside);
  size_t next = 0;
  // [rounds, lanes around, own] to lanes of the recurrence's level.
  const auto by_lane = [&](const Type& type, const Shape& own) {
    Tensor stacked = outputs[next++];
    if (outer > 0) {
      Axes order{1, 0};
      for (int i = 2; i < stacked.rank(); ++i) order.push_back(i);
      Shape shape = own;
      shape.insert(0, levels_.lanes(level, inside));
      stacked = reshape(transpose(stacked, order), shape);
    }
    return traced_value(type, own, stacked, level, inside);
  };
  const std::vector<Mask> masks = std::exchange(masks_, {});
  std::vector<Value> found_terms;
  for (size_t i = 0; i < loop.output_terms.size(); ++i)
    found_terms.push_back(by_lane(scalar_type(Base::real), {}));
  for (const Carried& one : carried) {
    if (!one.by_rows) continue;
    const Value& value = (*frame_)[static_cast<size_t>(one.slot)].value;
    Type type = value.type;
    Shape own = value.shape;
    for (int axis = 0; !one.is_turned && axis < one.prefix; ++axis)
      type = type_of_element(type), own = without_first(own);
    if (one.is_turned) type = type_of_column(type), own.erase(own.size() - 1);
    Tracked& tracked = loop.variables[one.slot];
    tracked.mode = Tracked::Mode::elements;
    // A column is its elements, which lie apart.
    const int64_t size = one.row_size(value), each = one.is_turned ? size : 1;
    Touch rows{.level = level, .each = each, .block = size / each, .blocks = {}, .when = ++now_};
    for (size_t i = 0; i < one.written.size(); ++i)
      for (int64_t k = 0; k < each; ++k)
        rows.blocks.push_back(one.writes[i] ? k * one.row_count(value) + static_cast<int64_t>(one.written[i])
                                            : -1);
    tracked.writes.push_back(rows);
    tracked.pending.push_back({.touch = std::move(rows), .written = by_lane(type, own)});
    tracked.reads = one.reads;  // as loops around this one see them: step by step, some of what steps wrote
    for (Touch& touch : tracked.reads) touch.when = 0;
  }
  for (auto& [slot, tracked] : loop.variables) {
    const auto is_slot = [slot = slot](const Carried& one) { return one.slot == slot; };
    if (std::any_of(carried.begin(), carried.end(), is_slot)) continue;
    Value& value = (*frame_)[static_cast<size_t>(slot)].value;
    if (tracked.mode == Tracked::Mode::whole && tracked.assigned && value.inside >= level)
      value = by_lane(value.type, value.shape);
    for (Pending& one : tracked.pending) {
      if (one.written.inside >= level) one.written = by_lane(one.written.type, one.written.shape);
      one.branches.clear();
    }
    for (Tracked::Addend& addend : tracked.addends)
      if (addend.value.inside >= level) addend.value = by_lane(addend.value.type, addend.value.shape);
  }
  for (size_t i = 0; i < found_terms.size(); ++i) {
    const Value& term = found_terms[i];
    if (const auto& of = loop.output_terms[i].parameter_of) {
      of->parameters->push_back(term.tensor);
      continue;
    }
    if (const Term& of = loop.output_terms[i]; of.rejects) {
      Rejection r{.place = of.place,
                  .text = of.text,
                  .holds = operate(Operator::equal, term, known_real(0), of.place),
                  .uses = {}};
      if (of.tells) r.number = found_terms[++i];
      reject_where(std::move(r));
      continue;
    }
    if (inside == 0) {
      terms.push_back(loop.output_terms[i]);
      terms.back().value = term.tensor;
      continue;
    }
    Together* step = together_of(inside);
    step->outputs.push_back(sum_of_lanes(term, inside).tensor);
    step->output_terms.push_back(loop.output_terms[i]);
    step->output_terms.back().uses.clear();
  }
  masks_ = masks;
}

}  // namespace adit::stan
