// Values while a program is lowered. What follows from data alone is known: numbers on the host. What follows
// from parameters is traced: a tensor of the model's graph.
//
// A loop over data runs all its rounds at once (levels.hpp). A value that differs from round to round leads
// with an axis of lanes, one a round; `level` says of which loop.
#pragma once

#include <memory>
#include <vector>

#include <adit/ops.hpp>

#include "stan/type.hpp"

namespace adit::stan {

// Numbers of data, and the tensor made of them once a graph reads them.
struct Known {
  explicit Known(std::vector<double> values) : numbers(std::move(values)) {}
  std::vector<double> numbers;  // lanes, then elements, row-major
  mutable Tensor as_real, as_integer;
};

struct Value {
  enum class Kind : uint8_t { known, traced, pieces, tuple };
  Kind kind = Kind::known;
  Type type;
  Shape shape;  // of its own axes: those of arrays, then those of vectors and matrices
  std::shared_ptr<const Known> known;
  Tensor tensor;              // f64, integers too
  std::vector<Value> pieces;  // along the first axis, while they are written one by one; or a tuple's members
  int level = 0;              // 0: the same in all lanes
  int inside = 0;             // the recurrence in whose step the tensor lives; 0: none
  char promise = '.';         // what it is by its declaration or its function: a letter of domains.hpp

  bool is_known() const { return kind == Kind::known; }
  bool is_nothing() const { return kind == Kind::known && !known; }  // no value yet, of no size
  int64_t size() const { return element_count(shape); }
};

Value known_value(Type type, Shape shape, std::vector<double> numbers, int level = 0);
Value known_real(double number);
Value known_integer(int64_t number);
Value unset_like(const Value& form);  // NaN, of that type and size
Value traced_value(Type type, Shape shape, Tensor tensor, int level = 0, int inside = 0);

// "vector of size [3]"
std::string sizes_text(const Value& value);
// The type of what one index leaves.
Type type_of_element(const Type& type);
// What a matrix's first axis leaves is a row; of arrays and vectors the axes go one by one.
Shape without_first(const Shape& shape);

}  // namespace adit::stan
