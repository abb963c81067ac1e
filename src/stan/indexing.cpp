// Reading and replacing parts of values.
#include <cmath>
#include <fmt/format.h>

#include "stan/evaluator.hpp"
#include "stan/row_choice.hpp"

namespace adit::stan {

namespace {

constexpr int64_t most_pieces = 4096;

Shape shape_at(const Value& value, const Spots& spots) {
  Shape shape;
  for (int axis = 0; axis < value.shape.size(); ++axis) {
    const bool named = axis < static_cast<int>(spots.size());
    if (!named || spots[static_cast<size_t>(axis)].kind == Spot::Kind::all)
      shape.push_back(value.shape[axis]);
    else if (spots[static_cast<size_t>(axis)].kind == Spot::Kind::many)
      shape.push_back(spots[static_cast<size_t>(axis)].numbers.shape[0]);
  }
  return shape;
}

// Places that all lanes have in common are those of one.
Spots without_equal_lanes(Spots spots) {
  for (Spot& spot : spots) {
    Value& numbers = spot.numbers;
    if (spot.kind == Spot::Kind::all || !numbers.is_known() || numbers.level == 0) continue;
    const std::vector<double>& all = numbers.known->numbers;
    const auto size = numbers.size();
    if (all.empty() || !std::equal(all.begin() + size, all.end(), all.begin())) continue;
    numbers = known_value(numbers.type, numbers.shape, std::vector<double>(all.begin(), all.begin() + size));
  }
  return spots;
}

bool counts_from(const std::vector<double>& numbers, size_t& first) {
  if (numbers.empty()) return false;
  first = static_cast<size_t>(numbers[0]);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != numbers[0] + static_cast<double>(i)) return false;
  return true;
}

Tensor index_tensor(const std::vector<double>& numbers, const Shape& shape) {
  std::vector<int64_t> whole_numbers(numbers.begin(), numbers.end());
  return adit::tensor(whole_numbers, shape);
}

// Elements first .. first + count - 1 along an axis.
Tensor cut(const Tensor& x, int axis, int64_t first, int64_t count) {
  if (first == 0 && count == x.shape()[axis]) return x;
  Dims starts = Dims::filled(x.rank(), 0), lengths = x.shape();
  starts[axis] = first, lengths[axis] = count;
  return slice(x, starts, lengths);
}

Tensor taken(const Tensor& x, int axis, const std::vector<double>& numbers) {
  size_t first = 0;
  if (counts_from(numbers, first)) return cut(x, axis, static_cast<int64_t>(first), std::ssize(numbers));
  if (axis == 0)
    if (const Tensor rows = chosen_rows(x, numbers)) return rows;
  return take(x, index_tensor(numbers, {std::ssize(numbers)}), axis);
}

}  // namespace

Spot Evaluator::spot_of(const Index& index, int64_t extent, const Place& place) {
  using Kind = Index::Kind;
  Spot spot;
  if (index.kind == Kind::all) return spot;
  if (index.kind == Kind::single) {
    const Value numbers = whole(evaluate(*index.low));
    spot.kind = numbers.type.array > 0 ? Spot::Kind::many : Spot::Kind::single;
    spot.numbers = places_of(numbers, extent, place);
    return spot;
  }
  const bool has_low = index.kind == Kind::from || index.kind == Kind::between;
  const bool has_high = index.kind == Kind::to || index.kind == Kind::between;
  Value low = has_low ? evaluate(*index.low) : known_integer(1);
  Value high = has_high ? evaluate(*index.high) : known_integer(extent);
  if (!low.is_known() || !high.is_known())
    throw DrawnSize{
        {place, "expected bounds of a range that follow from data alone, got ones of parameters"}};
  const int level = std::max(low.level, high.level);
  low = levels_.lifted(low, level), high = levels_.lifted(high, level);
  const auto count_at = [&](size_t lane) {
    return std::max<int64_t>(0,
                             static_cast<int64_t>(high.known->numbers[lane] - low.known->numbers[lane]) + 1);
  };
  const int64_t count = low.known->numbers.empty() ? 0 : count_at(0);
  for (size_t lane = 0; lane < low.known->numbers.size(); ++lane) {
    if (count_at(lane) == count) continue;
    std::vector<double> counts;
    const Value lows = levels_.lifted(low, levels_.top()), highs = levels_.lifted(high, levels_.top());
    for (size_t i = 0; i < lows.known->numbers.size(); ++i)
      counts.push_back(std::max(0.0, highs.known->numbers[i] - lows.known->numbers[i] + 1));
    throw Differs{levels_.top(), std::move(counts)};
  }
  const bool is_sure =
      count == 0 || (expect_places(low, extent, place, "") && expect_places(high, extent, place, ""));
  const double last = static_cast<double>(std::max<int64_t>(extent - 1, 0));
  std::vector<double> numbers;
  for (const double first : low.known->numbers)
    for (int64_t i = 0; i < count; ++i) {
      const double number = first - 1 + static_cast<double>(i);
      numbers.push_back(is_sure ? number : std::clamp(std::isnan(number) ? 0 : number, 0.0, last));
    }
  spot.kind = Spot::Kind::many;
  spot.numbers = known_value(array_of(scalar_type(Base::integer)), {count}, std::move(numbers), level);
  return spot;
}

Spots Evaluator::spots_of(const std::vector<Index>& indices, const Value& value, const Place& place) {
  Spots spots;
  for (size_t i = 0; i < indices.size(); ++i) {
    const int64_t extent = static_cast<int>(i) < value.shape.size() ? value.shape[static_cast<int>(i)] : 0;
    spots.push_back(spot_of(indices[i], extent, indices[i].place.end ? indices[i].place : place));
  }
  return spots;
}

Value Evaluator::at(const Value& value, const Spots& spots, const Type& type, const Place& place) {
  if (spots.empty()) return value;
  bool known = true;
  for (const Spot& spot : spots) known = known && (spot.kind == Spot::Kind::all || spot.numbers.is_known());
  if (value.kind == Value::Kind::pieces && spots[0].is_one()) {
    const Value& piece = value.pieces[static_cast<size_t>(spots[0].numbers.known->numbers[0])];
    return at(piece, Spots(spots.begin() + 1, spots.end()), type, place);
  }
  if (value.kind == Value::Kind::tuple || value.type.base == Base::tuple)
    return tuple_at(value, spots, type, place);
  const Value from = whole(value);
  if (from.size() == 0 && element_count(shape_at(from, spots)) > 0)  // a place outside of nothing was told
    return unset_like(known_value(type, shape_at(from, spots), {}));
  return known && from.is_known() ? known_at(from, spots, type) : traced_at(from, spots, type, place);
}

Value Evaluator::known_at(const Value& value, const Spots& spots, const Type& type) {
  int level = value.level;
  for (const Spot& spot : spots)
    if (spot.kind != Spot::Kind::all) level = std::max(level, spot.numbers.level);
  const Shape shape = shape_at(value, spots);
  const auto lanes = static_cast<size_t>(level ? levels_.at(level).total : 1);
  const size_t size = static_cast<size_t>(element_count(shape));
  const std::vector<double>& from = value.known->numbers;
  // One element a round, in order, of all that there are: the same numbers.
  if (spots.size() == 1 && spots[0].kind == Spot::Kind::single && value.level == 0 &&
      lanes * size == from.size() && level > 0) {
    size_t first = 0;
    const Value places = levels_.lifted(spots[0].numbers, level);
    if (counts_from(places.known->numbers, first) && first == 0) {
      Value same = value;
      same.type = type, same.shape = shape, same.level = level;
      return same;
    }
  }
  std::vector<Value> places;
  for (const Spot& spot : spots)
    places.push_back(spot.kind == Spot::Kind::all ? Value{} : levels_.lifted(spot.numbers, level));
  const std::vector<int64_t> home =
      value.level ? levels_.ancestors(level, value.level) : std::vector<int64_t>();
  const Dims strides = strides_of(value.shape);
  std::vector<double> numbers(lanes * size);
  std::vector<int64_t> offsets, wider;
  for (size_t lane = 0; lane < lanes; ++lane) {
    offsets.assign(1, home.empty() ? 0 : home[lane] * value.size());
    for (int axis = 0; axis < value.shape.size(); ++axis) {
      const bool named = axis < static_cast<int>(spots.size());
      const Spot* spot = named ? &spots[static_cast<size_t>(axis)] : nullptr;
      const bool all = !spot || spot->kind == Spot::Kind::all;
      const int64_t count = all                              ? value.shape[axis]
                            : spot->kind == Spot::Kind::many ? spot->numbers.shape[0]
                                                             : 1;
      wider.clear();
      for (const int64_t offset : offsets)
        for (int64_t i = 0; i < count; ++i) {
          const double place =
              all ? static_cast<double>(i)
                  : places[static_cast<size_t>(axis)]
                        .known->numbers[lane * static_cast<size_t>(count) + static_cast<size_t>(i)];
          wider.push_back(offset + static_cast<int64_t>(place) * strides[axis]);
        }
      offsets.swap(wider);
    }
    for (size_t i = 0; i < size; ++i) numbers[lane * size + i] = from[static_cast<size_t>(offsets[i])];
  }
  return known_value(type, shape, std::move(numbers), level);
}

Value Evaluator::traced_at(const Value& value, const Spots& all_spots, const Type& type, const Place& place) {
  const Spots spots = without_equal_lanes(all_spots);
  const Shape shape = shape_at(value, spots);
  Value now = value;
  if (now.is_known()) now = traced_value(now.type, now.shape, leaf(now, now.level), now.level, 0);
  // What is the same in all lanes is cut out first.
  const int lead = levels_.lanes(now.level, now.inside) > 0 ? 1 : 0;
  Spots rest;
  for (size_t i = 0; i < spots.size(); ++i) {
    const int axis = static_cast<int>(rest.size());
    const Spot& spot = spots[i];
    if (!spot.is_uniform() || spot.kind == Spot::Kind::all) {
      rest.push_back(spot);
      continue;
    }
    const std::vector<double>& numbers = spot.numbers.known->numbers;
    now.tensor = taken(now.tensor, axis + lead, numbers);
    if (spot.kind == Spot::Kind::single) {
      now.tensor = squeeze(now.tensor, {axis + lead});
      now.shape.erase(axis);
    } else {
      now.shape[axis] = std::ssize(numbers);
      rest.push_back(Spot{});
    }
  }
  // The others become one number each of a block: their axes go to the front.
  Axes front, back;
  Spots named;                  // of the front
  std::vector<bool> is_listed;  // of the axes that stay: whether a list names it
  int64_t blocks = 1;
  for (int axis = 0; axis < now.shape.size(); ++axis) {
    const Spot* spot = axis < static_cast<int>(rest.size()) ? &rest[static_cast<size_t>(axis)] : nullptr;
    if (!spot || spot->kind == Spot::Kind::all) {
      back.push_back(axis);
      is_listed.push_back(false);
      continue;
    }
    if (spot->kind == Spot::Kind::many) is_listed.push_back(true);
    front.push_back(axis);
    named.push_back(*spot);
    blocks *= now.shape[axis];
  }
  if (front.empty()) return traced_value(type, shape, now.tensor, now.level, now.inside);
  Value table_of_front = now;
  table_of_front.shape = {};
  for (const int64_t axis : front) table_of_front.shape.push_back(now.shape[static_cast<int>(axis)]);
  Value flat = flat_places(table_of_front, named, named.size(), place);
  if (!flat.is_known()) flat.tensor = clip(flat.tensor, 0.0, static_cast<double>(blocks - 1));
  Axes order;
  Shape block;
  if (lead) order.push_back(0);
  for (const int64_t axis : front) order.push_back(axis + lead);
  for (const int64_t axis : back)
    order.push_back(axis + lead), block.push_back(now.shape[static_cast<int>(axis)]);
  bool sorted = true;
  for (int i = 0; i < order.size(); ++i) sorted = sorted && order[i] == i;
  Tensor table = sorted ? now.tensor : transpose(now.tensor, order);
  Shape table_shape = block;
  table_shape.insert(0, blocks);
  if (lead) table_shape.insert(0, now.tensor.shape()[0]);
  const Value source =
      traced_value(array_of(scalar_type(Base::real)), lead ? without_first(table_shape) : table_shape,
                   reshape(table, table_shape), now.level, now.inside);
  Value found = gathered(source, flat);
  // Axes of lists go back between the others, where they stood.
  const int at = levels_.lanes(found.level, found.inside) > 0 ? 1 : 0;
  const auto lists = static_cast<int>(std::count(is_listed.begin(), is_listed.end(), true));
  Axes back_order;
  Shape apart;
  if (at) back_order.push_back(0), apart.push_back(found.tensor.shape()[0]);
  for (const bool listed : {true, false})
    for (int i = 0; i < shape.size(); ++i)
      if (is_listed[static_cast<size_t>(i)] == listed) apart.push_back(shape[i]);
  for (int i = 0, list = 0, other = 0; i < shape.size(); ++i)
    back_order.push_back(at + (is_listed[static_cast<size_t>(i)] ? list++ : lists + other++));
  if (!(found.tensor.shape() == apart)) found.tensor = reshape(found.tensor, apart);
  if (!std::is_sorted(back_order.begin(), back_order.end()))
    found.tensor = transpose(found.tensor, back_order);
  return traced_value(type, shape, found.tensor, found.level, found.inside);
}

// Blocks of a table [blocks, ...] by their numbers (one, or a list).
Value Evaluator::gathered(const Value& table, const Value& numbers) {
  const int64_t blocks = table.shape[0];
  if (numbers.is_known() && table.level == 0 && table.inside == 0) {
    const auto lanes = numbers.level ? levels_.at(numbers.level).total : 0;
    Tensor found = taken(table.tensor, 0, numbers.known->numbers);
    Shape shape = without_first(table.shape);
    for (int i = numbers.shape.size() - 1; i >= 0; --i) shape.insert(0, numbers.shape[i]);
    const Shape own = shape;
    if (lanes > 0) shape.insert(0, lanes);
    return traced_value(table.type, own, reshape(found, shape), numbers.level, 0);
  }
  const Value operands[] = {table, numbers};
  const Met met = meet(operands);
  Tensor index = as_type(met.tensors[1], DType::i64), from = met.tensors[0];
  if (met.in_lanes[0]) {
    // A lane's blocks follow those of the lane before.
    Shape flat_shape = from.shape();
    flat_shape.erase(0);
    flat_shape[0] *= met.lanes;
    from = reshape(from, flat_shape);
    Shape lane_shape{met.lanes};
    for (int i = 0; i < numbers.shape.size(); ++i) lane_shape.push_back(1);
    index = reshape(iota({met.lanes}, DType::i64) * blocks, lane_shape) + index;
  }
  Shape own = without_first(table.shape);
  for (int i = numbers.shape.size() - 1; i >= 0; --i) own.insert(0, numbers.shape[i]);
  return traced_value(table.type, own, take(from, index, 0), met.level, met.inside);
}

void Evaluator::expect_size(const Value& value, const Spots& spots, const Value& part, const Place& place) {
  const Shape shape = spots.empty() ? value.shape : shape_at(value, spots);
  if (part.kind == Value::Kind::tuple || value.is_nothing() || shape == part.shape) return;
  fail(place,
       fmt::format("expected a right-hand side of size {}, got {}", to_string(shape), to_string(part.shape)));
}

// The value with a part of it replaced, where places are the same in all lanes.
Value Evaluator::with(const Value& value, const Spots& spots, const Value& part, const Place& place) {
  if (spots.empty()) return promoted(part, value.type);
  if (value.size() == 0 && value.kind != Value::Kind::tuple) return value;  // nothing is there to replace
  const Spots rest(spots.begin() + 1, spots.end());
  const bool one = spots[0].is_one();
  if (value.kind == Value::Kind::pieces && one) {
    Value changed = value;
    Value& piece = changed.pieces[static_cast<size_t>(spots[0].numbers.known->numbers[0])];
    piece = with(piece, rest, part, place);
    return changed;
  }
  if (value.kind == Value::Kind::pieces && value.type.base == Base::tuple && spots[0].is_uniform())
    return with_tuples(value, spots, part, place);
  if (value.type.base == Base::tuple) return with_members(value, spots, part, place);
  const Value from = whole(value), to = whole(part);
  if (one && !(from.is_known() && to.is_known()) && from.shape[0] <= most_pieces) {
    Value pieces = from;
    pieces.kind = Value::Kind::pieces, pieces.promise = '.';
    pieces.tensor = {}, pieces.known = nullptr, pieces.level = 0, pieces.inside = 0;
    const Type element = type_of_element(from.type);
    for (int64_t i = 0; i < from.shape[0]; ++i) {
      const Spots row{{Spot::Kind::single, known_integer(i)}};
      pieces.pieces.push_back(at(from, row, element, place));
    }
    return with(pieces, spots, part, place);
  }
  Value base = from;
  Storage here{&base, std::max(from.level, to.level), spots};
  for (const Spot& spot : spots)
    if (spot.kind != Spot::Kind::all) here.home = std::max(here.home, spot.numbers.level);
  const std::optional<Touch> touch = touch_of(here, here.home);
  if (!touch) return traced_with(from, spots, to, place);
  const bool all_single = std::all_of(spots.begin(), spots.end(),
                                      [](const Spot& spot) { return spot.kind == Spot::Kind::single; });
  if (all_single && !same_in_steps(*touch, std::max(from.inside, to.inside)))
    return traced_with(from, spots, to, place);
  return placed(from, here.home, *touch, to, false);
}

// Several of an array of tuples, each by one of `part`.
Value Evaluator::with_tuples(const Value& value, const Spots& spots, const Value& part, const Place& place) {
  const Spots rest(spots.begin() + 1, spots.end());
  const bool all = spots[0].kind == Spot::Kind::all;
  const size_t count = all ? value.pieces.size() : spots[0].numbers.known->numbers.size();
  Value changed = value;
  for (size_t i = 0; i < count; ++i) {
    Value& piece = changed.pieces[all ? i : static_cast<size_t>(spots[0].numbers.known->numbers[i])];
    const Spots here{{Spot::Kind::single, known_integer(static_cast<int64_t>(i))}};
    piece = with(piece, rest, at(part, here, type_of_element(part.type), place), place);
  }
  return changed;
}

// Numbers of the places that the first `axes` indices name: one, or a list of all.
Value Evaluator::flat_places(const Value& value, const Spots& spots, size_t axes, const Place& place) {
  const Type list = array_of(scalar_type(Base::integer));
  const auto repeated = [&](const Value& numbers, int64_t each, int64_t times) {
    std::vector<double> order;
    for (int64_t t = 0; t < times; ++t)
      for (int64_t i = 0; i < numbers.shape[0]; ++i)
        order.insert(order.end(), static_cast<size_t>(each), static_cast<double>(i));
    const auto count = std::ssize(order);
    return at(numbers, {{Spot::Kind::many, known_value(list, {count}, std::move(order))}}, list, place);
  };
  Value flat = known_integer(0);
  for (size_t i = 0; i < axes; ++i) {
    const int64_t extent = value.shape[static_cast<int>(i)];
    flat = operate(Operator::multiply, flat, known_integer(extent), place);
    Value next = spots[i].numbers;
    if (spots[i].kind == Spot::Kind::all) {
      std::vector<double> all(static_cast<size_t>(extent));
      for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<double>(k);
      next = known_value(list, {extent}, std::move(all));
    }
    if (flat.shape.size() > 0 && next.shape.size() > 0) {
      const int64_t before = flat.shape[0], own = next.shape[0];
      flat = repeated(flat, own, 1), next = repeated(next, 1, before);
    }
    flat = operate(Operator::add, flat, next, place);
  }
  return flat;
}

// Where a place follows from parameters.
Value Evaluator::traced_with(const Value& value, const Spots& spots, const Value& part, const Place& place) {
  size_t named = spots.size();  // what follows the last index that names something goes as a block
  while (named > 0 && spots[named - 1].kind == Spot::Kind::all) --named;
  Value flat = flat_places(value, spots, named, place);
  int64_t blocks = 1;
  for (size_t i = 0; i < named; ++i) blocks *= value.shape[static_cast<int>(i)];
  if (!flat.is_known()) flat.tensor = clip(flat.tensor, 0.0, static_cast<double>(blocks - 1));
  const int64_t block = value.size() / std::max<int64_t>(1, blocks), each = flat.size();
  const Value operands[] = {value, flat, part};
  const Met met = meet(operands);
  const int64_t lanes = std::max<int64_t>(1, met.lanes);
  Shape full_shape = value.shape, part_shape = part.shape;
  if (met.lanes > 0) full_shape.insert(0, lanes), part_shape.insert(0, lanes);
  const Tensor table = reshape(broadcast_to(met.tensors[0], full_shape), {lanes, blocks, block});
  const Tensor updates = reshape(broadcast_to(met.tensors[2], part_shape), {lanes * each, block});
  const Tensor by_lane = reshape(as_type(met.tensors[1], DType::i64), {met.in_lanes[1] ? lanes : 1, each});
  const Tensor places = reshape(broadcast_to(by_lane, {lanes, each}), {lanes * each, 1});
  const Tensor numbers = iota({lanes, 1}, DType::i64, 0);
  const Tensor of_lanes =
      each == 1 ? numbers : reshape(broadcast_to(numbers, {lanes, each}), {lanes * each, 1});
  const Tensor changed = indexed_put(table, concatenate({of_lanes, places}, 1), updates, {0, 1});
  return traced_value(value.type, value.shape, reshape(changed, full_shape), met.level, met.inside);
}

}  // namespace adit::stan
