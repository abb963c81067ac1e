#include "stan/levels.hpp"

namespace adit::stan {

void Levels::push_regular(int64_t count, bool is_scan) {
  LoopLevel level{.is_scan = is_scan, .count = count, .parent = {}};
  level.total = list_.back().total * count;
  list_.push_back(std::move(level));
}

void Levels::push_ragged(std::vector<int64_t> parent) {
  // Lanes that differ from step to step of a recurrence would be a tensor of no fixed shape.
  for (int i = 1; i <= top(); ++i)
    if (at(i).is_scan) throw NotTogether{"rounds that differ between the steps of a recurrence"};
  LoopLevel level{.count = 0, .is_regular = false, .parent = std::move(parent)};
  level.total = static_cast<int64_t>(level.parent.size());
  list_.push_back(std::move(level));
}

int64_t Levels::lanes(int level, int inside) const {
  int64_t lanes = 1;
  bool has = false;
  for (int i = 1; i <= level; ++i) {
    if (at(i).is_scan && i <= inside) continue;
    has = true;
    lanes = at(i).is_regular ? lanes * at(i).count : at(i).total;
  }
  return has ? lanes : 0;
}

int Levels::innermost_scan(int level) const {
  for (int i = level; i > 0; --i)
    if (at(i).is_scan) return i;
  return 0;
}

int64_t Levels::ancestor(int to, int from, int64_t lane) const {
  for (int level = to; level > from; --level)
    lane = at(level).is_regular ? lane / at(level).count : at(level).parent[static_cast<size_t>(lane)];
  return lane;
}

std::vector<int64_t> Levels::ancestors(int to, int from) const {
  std::vector<int64_t> lane(static_cast<size_t>(at(to).total));
  for (size_t i = 0; i < lane.size(); ++i) lane[i] = ancestor(to, from, static_cast<int64_t>(i));
  return lane;
}

bool Levels::regular_between(int from, int to) const {
  for (int i = from + 1; i <= to; ++i)
    if (!at(i).is_regular) return false;
  return true;
}

int64_t Levels::in_first_step(int64_t lane, int level, int inside) const {
  int64_t stride = 1, first = lane, rest = lane;
  for (int i = level; i > 0; --i) {
    if (!at(i).is_regular) break;  // none is inside of a recurrence
    if (at(i).is_scan && i <= inside) first -= rest % at(i).count * stride;
    rest /= at(i).count;
    stride *= at(i).count;
  }
  return first;
}

int64_t Levels::step_of(int64_t lane, int level) const {
  int64_t step = 0, stride = 1;
  for (int i = level; i > 0; --i) {
    if (at(i).is_scan) step += lane % at(i).count * stride, stride *= at(i).count;
    lane = ancestor(i, i - 1, lane);
  }
  return step;
}

std::vector<int64_t> Levels::in_step(int level, int inside) const {
  std::vector<int64_t> lanes;
  for (int64_t lane = 0; lane < at(level).total; ++lane)
    if (in_first_step(lane, level, inside) == lane) lanes.push_back(lane);
  return lanes;
}

Value Levels::lifted(const Value& known, int level) const {
  if (known.level == level) return known;
  const auto size = static_cast<size_t>(known.size());
  const auto& from = known.known->numbers;
  std::vector<double> numbers(static_cast<size_t>(at(level).total) * size);
  const std::vector<int64_t> lane = ancestors(level, known.level);
  for (size_t i = 0; i < lane.size(); ++i)
    std::copy_n(from.begin() + lane[i] * static_cast<int64_t>(size), size,
                numbers.begin() + static_cast<int64_t>(i * size));
  return known_value(known.type, known.shape, std::move(numbers), level);
}

Tensor Levels::lifted(const Tensor& tensor, int from, int level, int inside) const {
  const int64_t before = lanes(from, inside), after = lanes(level, inside);
  if (from == level || after == 0) return tensor;
  Shape shape = tensor.shape();
  if (regular_between(from, level)) {
    if (before == 0) {
      shape.insert(0, after);
      return broadcast_to(tensor, shape);
    }
    if (before == after) return tensor;
    Shape wide = shape, narrow = shape;
    narrow.insert(1, 1);
    wide.insert(1, after / before);
    shape[0] = after;
    return reshape(broadcast_to(reshape(tensor, narrow), wide), shape);
  }
  if (before == 0) {
    shape.insert(0, after);
    return broadcast_to(tensor, shape);
  }
  return take(tensor, adit::tensor(ancestors(level, from)), 0);
}

}  // namespace adit::stan
