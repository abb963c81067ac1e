#include <adit/draws.hpp>

namespace adit {

std::string element_name(const std::string& name, const Shape& shape, int64_t element) {
  if (shape.size() == 0) return name;
  std::string places;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    places = std::to_string(element % shape[axis] + 1) + (places.empty() ? "" : ",") + places;
    element /= shape[axis];
  }
  return name + "[" + places + "]";
}

}  // namespace adit
