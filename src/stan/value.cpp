#include "stan/value.hpp"

#include <cmath>

namespace adit::stan {

Value known_value(Type type, Shape shape, std::vector<double> numbers, int level) {
  Value value;
  value.type = std::move(type);
  value.shape = shape;
  value.known = std::make_shared<Known>(std::move(numbers));
  value.level = level;
  return value;
}

Value known_real(double number) { return known_value(scalar_type(Base::real), {}, {number}); }
Value known_integer(int64_t number) {
  return known_value(scalar_type(Base::integer), {}, {static_cast<double>(number)});
}

Value unset_like(const Value& form) {
  if (form.type.base == Base::tuple) {
    Value unset = form;
    for (Value& piece : unset.pieces) piece = unset_like(piece);
    return unset;
  }
  return known_value(form.type, form.shape,
                     std::vector<double>(static_cast<size_t>(form.size()), std::nan("")));
}

Value traced_value(Type type, Shape shape, Tensor tensor, int level, int inside) {
  Value value;
  value.kind = Value::Kind::traced;
  value.type = std::move(type);
  value.shape = shape;
  value.tensor = std::move(tensor);
  value.level = level;
  value.inside = inside;
  return value;
}

Type type_of_element(const Type& type) {
  Type element = type;
  if (type.array > 0)
    element.array -= 1;
  else if (type.base == Base::matrix)
    element.base = Base::row_vector;
  else
    element.base = Base::real;
  return element;
}

Shape without_first(const Shape& shape) {
  Shape rest = shape;
  rest.erase(0);
  return rest;
}

}  // namespace adit::stan
