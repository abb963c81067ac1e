// A place in a tensor, as a kernel computes it: coordinates along the axes, or one row-major number; each is
// made from the other when it is asked for, so that code which walks memory in order never divides.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include <adit/kernel/builder.hpp>
#include <adit/shape.hpp>

namespace adit::graph {

class Index {
 public:
  Index() = default;
  Index(kernel::Builder& builder, Shape shape, kernel::Value linear);
  Index(kernel::Builder& builder, Shape shape, std::vector<kernel::Value> coordinates, kernel::Type type);
  // Both are known.
  Index(kernel::Builder& builder, Shape shape, kernel::Value linear, std::vector<kernel::Value> coordinates);

  const Shape& shape() const { return state_->shape; }
  kernel::Type type() const { return state_->type; }
  kernel::Value linear() const;
  kernel::Value coordinate(int axis) const;
  kernel::Value number(int64_t value) const;  // a constant of the index type
  kernel::Builder& builder() const { return *state_->builder; }
  // The same row-major number in another shape: a reshape costs nothing.
  Index reshaped(const Shape& shape) const;
  // Another place in a tensor of `shape`, from coordinates.
  Index at(const Shape& shape, std::vector<kernel::Value> coordinates) const;
  bool has_linear() const { return state_->has_linear; }
  const void* identity() const { return state_.get(); }

 private:
  std::optional<std::vector<kernel::Value>> squeezed_coordinates(const Shape& to) const;
  struct State {
    kernel::Builder* builder = nullptr;
    Shape shape;
    kernel::Type type = kernel::Type::u32;
    kernel::Value linear_value;
    bool has_linear = false;
    std::vector<std::optional<kernel::Value>> coordinates;
  };
  std::shared_ptr<State> state_;
};

}  // namespace adit::graph
