// Values of different loops beside each other.
#include <algorithm>

#include "graph/node.hpp"
#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

Shape with_lanes(int64_t lanes, const Shape& own) {
  Shape shape = own;
  if (lanes > 0) shape.insert(0, lanes);
  return shape;
}

}  // namespace

Tensor Evaluator::leaf(const Value& known, int level) {
  const Known& data = *known.known;
  const int64_t lanes = level > 0 ? levels_.at(level).total : 0;
  if (data.numbers.size() == 1) return full(with_lanes(lanes, known.shape), data.numbers[0], DType::f64);
  // In its own shape: kernels lay a matrix of data out by what they read it for, a reshaped list as it is.
  const Shape shape = with_lanes(lanes, known.shape);
  if (!data.as_real) data.as_real = adit::tensor(data.numbers, shape);
  return data.as_real.shape() == shape ? data.as_real : reshape(data.as_real, shape);
}

Tensor Evaluator::slice_of(Together& step, const Tensor& stacked) {
  const size_t number = step.next_sequence++;
  const Shape own = without_first(stacked.shape());
  if (number < step.slices.size()) {
    // The second run asks for what the first one asked for; a way to run a loop that was given up in the
    // first is given up again, whatever it finds here.
    const Tensor& slice = step.slices[number];
    return slice.shape() == own ? slice : graph::placeholder(stacked.dtype(), own);
  }
  step.sequences.push_back(stacked);
  step.slices.push_back(graph::placeholder(stacked.dtype(), own));
  return step.slices.back();
}

// Into the steps of the recurrences up to `inside`: of what has a lane for each of their rounds, the round's
// own.
Value Evaluator::entered(const Value& value, int inside) {
  Value now = value;
  for (int s = value.inside + 1; s <= inside; ++s) {
    if (!levels_.at(s).is_scan) continue;
    const int around = now.inside;
    now.inside = s;
    if (now.level < s) continue;
    const int64_t rounds = levels_.at(s).count, all = levels_.lanes(now.level, around);
    const int64_t outer = std::max<int64_t>(1, levels_.lanes(s - 1, around));
    const int64_t inner = all / (outer * rounds);
    Shape apart = now.shape;
    apart.insert(0, inner), apart.insert(0, rounds), apart.insert(0, outer);
    Axes axes{1, 0};
    for (int i = 2; i < apart.size(); ++i) axes.push_back(i);
    Shape stacked = with_lanes(levels_.lanes(now.level, s), now.shape);
    stacked.insert(0, rounds);
    Tensor by_round = reshape(now.tensor, apart);
    if (outer > 1) by_round = transpose(by_round, axes);
    by_round = reshape(by_round, stacked);
    const auto step = std::find_if(together_.begin(), together_.end(),
                                   [&](const Together* t) { return t->is_scan && t->level == s; });
    if (step == together_.end()) throw NotTogether{"a recurrence inside of another one's lanes"};
    now.tensor = slice_of(**step, by_round);
  }
  return now;
}

Tensor Evaluator::tensor_at(const Value& value, int level, int inside, bool& in_lanes) {
  Value now = whole(value);
  if (now.is_known()) {
    const Tensor tensor = leaf(now, now.level);
    now = traced_value(now.type, now.shape, tensor, now.level, 0);
  }
  now = entered(now, inside);
  in_lanes = levels_.lanes(now.level, inside) > 0;
  if (!in_lanes || now.level == level) return now.tensor;
  return levels_.lifted(now.tensor, now.level, level, inside);
}

Evaluator::Met Evaluator::meet(std::span<const Value> values) {
  Met met;
  for (const Value& value : values) {
    met.level = std::max(met.level, value.level);
    met.inside = std::max(met.inside, value.inside);
    if (value.kind == Value::Kind::pieces)
      for (const Value& piece : value.pieces) {
        met.level = std::max(met.level, piece.level);
        met.inside = std::max(met.inside, piece.inside);
      }
  }
  for (const Value& value : values) {
    bool in_lanes = false;
    met.tensors.push_back(tensor_at(value, met.level, met.inside, in_lanes));
    met.in_lanes.push_back(in_lanes);
    if (in_lanes) met.lanes = levels_.lanes(met.level, met.inside);
  }
  return met;
}

// With a lane for each lane of the level, also where all are the same.
Value Evaluator::at_lanes(const Value& value, int level) {
  const Value now = whole(value);
  if (now.level == level) return now;
  if (now.is_known()) return levels_.lifted(now, level);
  return traced_value(now.type, now.shape, levels_.lifted(now.tensor, now.level, level, now.inside), level,
                      now.inside);
}

// Added up over the rounds of the loops inside of `level`.
Value Evaluator::sum_of_lanes(const Value& value, int level) {
  if (value.level <= level) return value;
  if (value.is_known()) {
    const auto size = static_cast<size_t>(value.size());
    std::vector<double> sums(static_cast<size_t>(level ? levels_.at(level).total : 1) * size);
    const std::vector<int64_t> lane = levels_.ancestors(value.level, level);
    for (size_t i = 0; i < lane.size(); ++i)
      for (size_t k = 0; k < size; ++k)
        sums[static_cast<size_t>(lane[i]) * size + k] += value.known->numbers[i * size + k];
    return known_value(value.type, value.shape, std::move(sums), level);
  }
  const int64_t from = levels_.lanes(value.level, value.inside), to = levels_.lanes(level, value.inside);
  Tensor total = value.tensor;
  if (from == 0 || from == to) {
    // One round is all there is in this step.
  } else if (to == 0) {
    total = sum(total, {0});
  } else if (levels_.regular_between(level, value.level)) {
    Shape apart = value.shape;
    apart.insert(0, from / to), apart.insert(0, to);
    total = sum(reshape(total, apart), {1});
  } else {
    const Tensor places = adit::tensor(levels_.ancestors(value.level, level), {from, 1});
    total = indexed_add(zeros(with_lanes(to, value.shape), DType::f64), places, total);
  }
  return traced_value(value.type, value.shape, total, level, value.inside);
}

Tensor Evaluator::real_tensor(const Value& value) {
  bool in_lanes = false;
  return tensor_at(value, 0, 0, in_lanes);
}

}  // namespace adit::stan
