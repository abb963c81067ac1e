// Reads and writes of variables, and what loops that are run together must know of them.
#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

bool is_prefix(const Spots& spots) {
  return std::all_of(spots.begin(), spots.end(), [](const Spot& s) { return s.kind == Spot::Kind::single; });
}

std::vector<double> counted(int64_t count) {
  std::vector<double> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  return numbers;
}

}  // namespace

Tracked* Evaluator::tracked(int slot, int home) {
  for (auto loop = together_.rbegin(); loop != together_.rend(); ++loop) {
    if ((*loop)->frame != frame_ || (*loop)->level <= home) continue;
    const auto found = (*loop)->variables.find(slot);
    if (found != (*loop)->variables.end()) return &found->second;
  }
  return nullptr;
}

std::vector<bool> Evaluator::running(int level) const {
  std::vector<bool> holds(static_cast<size_t>(level ? levels_.at(level).total : 1), true);
  for (const Mask& mask : masks_) {
    if (!mask.own.is_known() || mask.own.level > level) continue;
    const Value by_lane = levels_.lifted(mask.own, level);
    for (size_t i = 0; i < holds.size(); ++i) holds[i] = holds[i] && by_lane.known->numbers[i] != 0;
  }
  return holds;
}

// A touch that happens now. What lanes touch that do not run here is no matter.
Touch Evaluator::counted_only(Touch touch) {
  touch.when = ++now_;
  if (masks_.empty()) return touch;
  const std::vector<bool> holds = running(touch.level);
  for (size_t i = 0; i < touch.blocks.size(); ++i)
    if (!holds[i / static_cast<size_t>(touch.each)]) touch.blocks[i] = -1;
  return touch;
}

// A variable with a window is its rows, one by one.
Evaluator::Storage Evaluator::storage_of(Stored& variable, const Spots& spots) {
  Window& window = variable.window;
  if (window.level == 0) return {&variable.value, variable.home, spots};
  if (window.is_turned) {  // the last index comes first
    if (static_cast<int>(spots.size()) < variable.value.shape.size())
      throw NotTogether{"a recurrence that reads all that it wrote"};
    Spots turned{spots.back()};
    turned.insert(turned.end(), spots.begin(), spots.end() - 1);
    return storage_of_rows(variable, turned);
  }
  return storage_of_rows(variable, spots);
}

// By indices of which the first ones name a row.
Evaluator::Storage Evaluator::storage_of_rows(Stored& variable, const Spots& spots) {
  Window& window = variable.window;
  const auto prefix = static_cast<size_t>(window.prefix);
  Value row = known_integer(0);
  for (size_t i = 0; i < prefix; ++i) {
    if (spots.size() <= i || spots[i].kind != Spot::Kind::single || !spots[i].numbers.is_known())
      throw NotTogether{"a recurrence that reads all that it wrote"};
    const Value extent =
        known_integer(variable.value.shape[static_cast<int>(i)]);  // of no matter for the first
    row = operate(Operator::add, operate(Operator::multiply, row, extent, {}), spots[i].numbers, {});
  }
  const int level = std::max(window.level, row.level);
  row = levels_.lifted(row, level);
  const std::vector<int64_t> round = levels_.ancestors(level, window.level);
  const std::vector<bool> holds = running(level);
  const Spots rest(spots.begin() + window.prefix, spots.end());
  std::optional<double> lag;
  for (size_t i = 0; i < round.size(); ++i) {
    if (!holds[i]) continue;
    const double own =
        (window.written[static_cast<size_t>(round[i])] - row.known->numbers[i]) / window.stride;
    if (lag && own != *lag && window.extent == 0)
      throw NotTogether{"a recurrence that looks back by different steps"};
    if (window.extent > 0 && own != 0) return history_storage(window, row, rest);
    lag = own;
  }
  const double back = lag.value_or(0);
  if (back < 0 || back >= static_cast<double>(window.rows.size()))
    throw NotTogether{"a recurrence that reads what it has not written yet"};
  return {&window.rows[static_cast<size_t>(back)], window.level, rest, back > 0};
}

std::optional<Touch> Evaluator::touch_of(const Storage& storage, int level) {
  for (const Spot& spot : storage.rest)
    if (spot.kind != Spot::Kind::all && (!spot.numbers.is_known() || spot.numbers.level > level)) return {};
  const Value& value = *storage.value;
  Touch touch{.level = level};
  const bool prefix = is_prefix(storage.rest);
  Shape shape;
  const int axes = prefix ? static_cast<int>(storage.rest.size()) : value.shape.size();
  for (int i = 0; i < axes; ++i) shape.push_back(value.shape[i]);
  const Value numbers = known_value(scalar_type(Base::integer), shape, counted(element_count(shape)));
  Value found = storage.rest.empty() ? known_integer(0) : known_at(numbers, storage.rest, numbers.type);
  found = levels_.lifted(found, level);
  touch.block = element_count(shape) ? value.size() / element_count(shape) : 0;
  touch.each = found.size();
  touch.blocks.assign(found.known->numbers.begin(), found.known->numbers.end());
  return touch;
}

// Rounds without a lane for one around them have -1.
Touch Evaluator::around(const Touch& touch) const {
  const LoopLevel& level = levels_.at(touch.level);
  const int64_t before = levels_.at(touch.level - 1).total;
  Touch out{.level = touch.level - 1, .block = touch.block, .when = touch.when};
  if (level.is_regular) {
    out.each = touch.each * level.count;
    out.blocks = touch.blocks;
    return out;
  }
  std::vector<int64_t> counts(static_cast<size_t>(before));
  for (const int64_t lane : level.parent) ++counts[static_cast<size_t>(lane)];
  const int64_t most = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  out.each = touch.each * most;
  out.blocks.assign(static_cast<size_t>(before * out.each), -1);
  std::fill(counts.begin(), counts.end(), 0);
  for (size_t i = 0; i < level.parent.size(); ++i) {
    const auto lane = static_cast<size_t>(level.parent[i]);
    const int64_t to = static_cast<int64_t>(lane) * out.each + counts[lane]++ * touch.each;
    std::copy_n(touch.blocks.begin() + static_cast<int64_t>(i) * touch.each, touch.each,
                out.blocks.begin() + to);
  }
  return out;
}

// Where only some of the lanes run, what is known is known of those: what others have may make no sense here.
Value Evaluator::in_part(const Value& value) const {
  if (!value.is_known() || value.level == 0) return value;
  int part = levels_.top();
  while (part > value.level && levels_.at(part).is_regular) --part;
  return levels_.lifted(value, part);
}

const Value& Evaluator::mask() {
  for (size_t i = 0; i < masks_.size(); ++i)
    if (!masks_[i].joined)
      masks_[i].joined =
          i == 0 ? masks_[i].own : operate(Operator::logical_and, *masks_[i - 1].joined, masks_[i].own, {});
  return *masks_.back().joined;
}

// Under a condition on parameters: a branch that is not taken has no say in derivatives, which may be none
// there (that of log(x) at x < 0). The value stays; what comes back is cut off.
Value Evaluator::guarded(const Value& value) {
  constexpr int64_t most = 64;  // numbers; each becomes one a lane
  const bool has_slope = value.kind == Value::Kind::traced && !value.type.is_integer();
  if (masks_.empty() || !has_slope || value.size() > most) return value;
  const Value operands[] = {mask(), value};
  return elementwise(value.type, operands, {}, nullptr,
                     [](const Tensor* x) { return select(x[0] != 0.0, x[1], stop_gradient(x[1])); });
}

Value Evaluator::read_variable(Stored& variable, int slot, const Spots* spots, const Type& type,
                               const Place& place) {
  note_own(variable, slot, spots ? *spots : Spots(), false);
  const Storage storage = storage_of(variable, spots ? *spots : Spots());
  Tracked* loop = storage.is_past ? nullptr : tracked(slot, storage.home);
  const auto found = [&] {
    const Value& from = *storage.value;
    Value part = storage.rest.empty() ? from : at(from, storage.rest, type, place);
    // An element of an array of simplexes is one.
    if (static_cast<int>(storage.rest.size()) <= from.type.array) part.promise = from.promise;
    const char promise = part.promise;
    part = guarded(in_part(part));
    part.promise = promise;
    return part;
  };
  const bool is_nowhere = spots && storage.value->size() == 0 && !storage.value->is_nothing();
  if (!loop || is_nowhere) return found();
  if (loop->mode == Tracked::Mode::sum || (loop->mode == Tracked::Mode::whole && !loop->assigned))
    loop->carries = true;
  if (loop->mode != Tracked::Mode::elements) return found();
  const std::optional<Touch> touch = touch_of(storage, levels_.top());
  if (!touch) {
    loop->carries = true;
    return found();
  }
  if (const Value* own = own_write(*loop, *touch)) return promoted(*own, type);
  loop->reads.push_back(counted_only(*touch));
  make_room(storage, *loop, *touch);
  return found();
}

void Evaluator::write_variable(Stored& variable, int slot, const Spots& spots, const Value& value,
                               const Place& place) {
  note_own(variable, slot, spots, true);
  const Storage storage = storage_of(variable, spots);
  expect_size(*storage.value, storage.rest, value, place);
  // What has no elements has no place to write to: the place was told.
  if (!spots.empty() && storage.value->size() == 0 && storage.value->kind == Value::Kind::known &&
      !storage.value->is_nothing())
    return;
  Tracked* loop = tracked(slot, storage.home);
  if (!loop) return write_at_once(storage, value, place);
  if (loop->mode == Tracked::Mode::whole) {
    const int level = together_.back()->level;
    if (levels_.top() == level) {
      loop->assigned = true;
      *storage.value = promoted(value, storage.value->type);
    } else {
      loop->carries = loop->carries || !loop->assigned;
      write_at_once({storage.value, level, {}}, value, place);
    }
    return;
  }
  const std::optional<Touch> touch = touch_of(storage, levels_.top());
  if (!touch || loop->mode == Tracked::Mode::sum) {
    loop->carries = true;
    return;
  }
  put_off(*loop, slot, storage, *touch, value);
}

// A number or a row of what is known, where nobody else holds it: a loop that fills a matrix takes time in
// proportion to its elements.
bool Evaluator::write_in_place(const Storage& storage, const Value& part) {
  Value& value = *storage.value;
  if (storage.rest.empty() || !is_prefix(storage.rest) || !value.is_known() || value.level > 0 ||
      !part.is_known() || part.level > 0)
    return false;
  int64_t place = 0, blocks = 1;
  for (size_t i = 0; i < storage.rest.size(); ++i) {
    const Value& number = storage.rest[i].numbers;
    if (!number.is_known() || number.level > 0) return false;
    const int64_t extent = value.shape[static_cast<int>(i)];
    place = place * extent + static_cast<int64_t>(number.known->numbers[0]);
    blocks *= extent;
  }
  if (value.known.use_count() > 1) value.known = std::make_shared<Known>(value.known->numbers);
  Known& own = const_cast<Known&>(*value.known);
  own.as_real = own.as_integer = {};
  std::copy(part.known->numbers.begin(), part.known->numbers.end(),
            own.numbers.begin() + place * (value.size() / blocks));
  return true;
}

// In lanes of the variable's own, or in a part of them.
void Evaluator::write_at_once(const Storage& storage, const Value& value, const Place& place) {
  const bool in_part = levels_.top() > storage.home;
  if (!in_part && write_in_place(storage, value)) return;
  if (!in_part) {
    // Only the piece that changes is made anew: a list of thousands is written to one by one.
    Value* piece = storage.value;
    auto spot = storage.rest.begin();
    for (; spot != storage.rest.end() && piece->kind == Value::Kind::pieces && piece->size() > 0 &&
           spot->is_one();
         ++spot)
      piece = &piece->pieces[static_cast<size_t>(spot->numbers.known->numbers[0])];
    *piece = with(*piece, Spots(spot, storage.rest.end()), value, place);
    return;
  }
  if (storage.value->is_nothing()) *storage.value = unset_like(value);
  if (value.type.base == Base::tuple) {  // as a whole: a part of it is a write of another kind
    for (size_t i = 0; i < value.pieces.size(); ++i)
      write_at_once({&storage.value->pieces.at(i), storage.home, {}}, value.pieces[i], place);
    return;
  }
  const std::optional<Touch> touch = touch_of(storage, levels_.top());
  if (!touch) throw NotTogether{"a place that follows from parameters, in some of the rounds"};
  *storage.value = placed(whole(*storage.value), storage.home, *touch, whole(value), false);
}

void Evaluator::add_to_variable(Stored& variable, int slot, const Spots& spots, const Value& value,
                                const Place& place) {
  const Storage storage = storage_of(variable, spots);
  Tracked* loop = tracked(slot, storage.home);
  if (!loop || loop->mode != Tracked::Mode::sum) {
    Type type = variable.value.type;
    Value old = read_variable(variable, slot, spots.empty() ? nullptr : &spots, type, place);
    if (!spots.empty()) old.type = value.type;
    write_variable(variable, slot, spots, operate(Operator::add, old, value, place), place);
    return;
  }
  Value addend = value;
  if (!masks_.empty()) addend = chosen(mask(), addend, known_real(0));
  addend = at_lanes(addend, levels_.top());
  const int level = together_.back()->level;
  bool deeper = false;
  for (const Spot& spot : spots)
    deeper = deeper || (spot.kind != Spot::Kind::all && spot.numbers.level > level);
  if (!deeper) {
    loop->addends.push_back({sum_of_lanes(addend, level), spots});
    return;
  }
  // Some of the rounds, each at a place of its own: their total.
  const std::optional<Touch> touch = touch_of(storage, levels_.top());
  if (!touch) throw NotTogether{"sums at places that follow from parameters"};
  const Value zero = known_value(storage.value->type, storage.value->shape,
                                 std::vector<double>(static_cast<size_t>(storage.value->size())));
  loop->addends.push_back(
      {placed(zero, storage.home, *touch, addend, true), {}, true, {counted_only(*touch)}});
}

bool Evaluator::has_empty_lanes(int level) const {
  if (levels_.at(level).is_regular) return false;
  std::vector<bool> has(static_cast<size_t>(levels_.at(level - 1).total));
  for (const int64_t lane : levels_.at(level).parent) has[static_cast<size_t>(lane)] = true;
  return std::find(has.begin(), has.end(), false) != has.end();
}

// The value of each last round; where there is none, the one before the loop.
Value Evaluator::last_of_lanes(const Value& value, const Value& before, int level) {
  if (value.level < level && levels_.at(level).is_regular) return whole(value);
  const Value all = at_lanes(value, level);
  const int around = level - 1;
  const std::vector<int64_t> parent = levels_.ancestors(level, around);
  std::vector<int64_t> last(static_cast<size_t>(levels_.at(around).total), -1);
  for (size_t i = 0; i < parent.size(); ++i) last[static_cast<size_t>(parent[i])] = static_cast<int64_t>(i);
  if (std::find(last.begin(), last.end(), -1) != last.end()) {
    std::vector<double> has;
    for (int64_t& lane : last) has.push_back(lane >= 0), lane = std::max<int64_t>(lane, 0);
    const Value condition = known_value(scalar_type(Base::integer), {}, std::move(has), around);
    return merged(condition, of_lanes(all, last, level), before);
  }
  return of_lanes(all, last, level);
}

// The values that some lanes of the level have, one for each lane of the level around it.
Value Evaluator::of_lanes(const Value& all, std::vector<int64_t> last, int level) {
  const int around = level - 1;
  if (all.is_known()) {
    std::vector<double> numbers;
    for (const int64_t lane : last)
      numbers.insert(numbers.end(), all.known->numbers.begin() + lane * all.size(),
                     all.known->numbers.begin() + (lane + 1) * all.size());
    return known_value(all.type, all.shape, std::move(numbers), around);
  }
  Shape shape = all.shape;
  const int64_t lanes = levels_.lanes(around, all.inside);
  if (lanes > 0) shape.insert(0, lanes);
  if (!levels_.regular_between(around, level) && all.inside > 0)
    throw NotTogether{"rounds of different numbers"};
  if (all.inside > 0) {
    const int64_t count = levels_.at(level).count;
    last.clear();
    for (int64_t i = 0; i < std::max<int64_t>(1, lanes); ++i) last.push_back(i * count + count - 1);
  }
  return traced_value(all.type, all.shape, reshape(take(all.tensor, adit::tensor(last), 0), shape), around,
                      all.inside);
}

// What loops remember of the level's lanes is told in lanes of the level around it.
void Evaluator::leave_level() {
  const int level = levels_.top();
  for (Together* loop : together_) {
    for (auto& [slot, variable] : loop->variables) {
      if (std::any_of(variable.pending.begin(), variable.pending.end(),
                      [&](const Pending& one) { return one.touch.level == level; }))
        flush(storage_of((*loop->frame)[static_cast<size_t>(slot)], {}), variable);
      std::vector<std::vector<Touch>*> lists{&variable.reads, &variable.writes};
      for (Tracked::Addend& addend : variable.addends) lists.push_back(&addend.touches);
      for (auto* list : lists)
        for (Touch& touch : *list)
          if (touch.level == level) touch = around(touch);
    }
  }
  levels_.pop();
}

}  // namespace adit::stan
