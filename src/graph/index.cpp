#include "graph/index.hpp"

namespace adit::graph {

using kernel::Value;

Index::Index(kernel::Builder& builder, Shape shape, Value linear) : state_(std::make_shared<State>()) {
  state_->builder = &builder;
  state_->type = linear.type();
  state_->linear_value = linear;
  state_->has_linear = true;
  state_->coordinates.resize(static_cast<size_t>(shape.size()));
  state_->shape = shape;
}

Index::Index(kernel::Builder& builder, Shape shape, std::vector<Value> coordinates, kernel::Type type)
    : state_(std::make_shared<State>()) {
  state_->builder = &builder;
  state_->type = type;
  state_->shape = shape;
  state_->coordinates.assign(coordinates.begin(), coordinates.end());
}

Index::Index(kernel::Builder& builder, Shape shape, Value linear, std::vector<Value> coordinates)
    : Index(builder, shape, linear) {
  state_->coordinates.assign(coordinates.begin(), coordinates.end());
}

Value Index::number(int64_t value) const { return builder().constant(type(), value); }

// Made anew at each call while the value is needed in different blocks of the kernel: an instruction is
// visible only in its block, and the code generators find equal instructions by themselves.
Value Index::linear() const {
  if (state_->has_linear) return state_->linear_value;
  Value sum = number(0);
  bool first = true;
  const Dims strides = strides_of(shape());
  for (int axis = 0; axis < shape().size(); ++axis) {
    if (shape()[axis] == 1) continue;
    const Value term = strides[axis] == 1 ? coordinate(axis) : coordinate(axis) * number(strides[axis]);
    sum = first ? term : sum + term;
    first = false;
  }
  return sum;
}

Value Index::coordinate(int axis) const {
  const auto& known = state_->coordinates[static_cast<size_t>(axis)];
  if (known) return *known;
  if (shape()[axis] == 1) return number(0);
  const int64_t stride = strides_of(shape())[axis];
  Value rest = linear();
  if (stride != 1) rest = rest / number(stride);
  // The outermost axis that counts needs no remainder: the number is in range.
  bool outermost = true;
  for (int outer = 0; outer < axis; ++outer) outermost = outermost && shape()[outer] == 1;
  return outermost ? rest : rest % number(shape()[axis]);
}

// Where axes become one, and those of extent 1 come and go: the coordinates in their new places.
std::optional<std::vector<Value>> Index::squeezed_coordinates(const Shape& to) const {
  std::vector<Value> coordinates;
  int from = 0;
  for (int axis = 0; axis < to.size(); ++axis) {
    Value merged = number(0);
    for (int64_t extent = 1; extent != to[axis]; ++from) {
      if (from == shape().size() || extent > to[axis]) return std::nullopt;
      if (shape()[from] == 1) continue;
      if (!state_->coordinates[static_cast<size_t>(from)]) return std::nullopt;
      merged = extent == 1 ? coordinate(from) : merged * number(shape()[from]) + coordinate(from);
      extent *= shape()[from];
    }
    coordinates.push_back(merged);
  }
  for (; from < shape().size(); ++from)
    if (shape()[from] != 1) return std::nullopt;
  return coordinates;
}

Index Index::reshaped(const Shape& to) const {
  if (to == shape()) return *this;
  if (auto coordinates = squeezed_coordinates(to))
    return state_->has_linear ? Index(builder(), to, state_->linear_value, std::move(*coordinates))
                              : at(to, std::move(*coordinates));
  return Index(builder(), to, linear());
}

Index Index::at(const Shape& to, std::vector<Value> coordinates) const {
  return Index(builder(), to, std::move(coordinates), type());
}

}  // namespace adit::graph
