#include <adit/draws.hpp>

#include "posterior/element_labels.hpp"

namespace adit {

namespace {

// Plates without labels are counted from 0 in files, as xarray counts.
bool only_counts(const std::vector<std::string>& labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (labels[i] != std::to_string(i)) return false;
  return true;
}

template <class Word>  // of an axis, and a place along it
std::string named(const std::string& name, const Shape& shape, int64_t element, Word word) {
  if (shape.size() == 0) return name;
  std::string places;
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    places = word(axis, element % shape[axis]) + (places.empty() ? "" : ",") + places;
    element /= shape[axis];
  }
  return name + "[" + places + "]";
}

}  // namespace

std::string element_name(const std::string& name, const Shape& shape, int64_t element) {
  return named(name, shape, element, [](int, int64_t place) { return std::to_string(place + 1); });
}

ElementLabels::ElementLabels(const Draws& draws, const DrawsVariable& variable) : variable_(variable) {
  labels_.resize(static_cast<size_t>(variable.shape.size()));
  for (size_t axis = 0; axis < std::min(labels_.size(), variable.dims.size()); ++axis) {
    const auto at = draws.coordinates.find(variable.dims[axis]);
    if (at == draws.coordinates.end() || only_counts(at->second)) continue;
    if (std::ssize(at->second) == variable.shape[static_cast<int>(axis)])
      labels_[axis] = &at->second, any_ = true;
  }
}

std::string ElementLabels::of(int64_t element) const {
  return named(variable_.name, variable_.shape, element, [&](int axis, int64_t place) {
    const auto* labels = labels_[static_cast<size_t>(axis)];
    return labels ? (*labels)[static_cast<size_t>(place)] : std::to_string(place + 1);
  });
}

std::string element_label(const Draws& draws, const DrawsVariable& variable, int64_t element) {
  return ElementLabels(draws, variable).of(element);
}

}  // namespace adit
