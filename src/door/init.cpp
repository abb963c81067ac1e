#include "door/init.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <adit/text.hpp>

#include "door/handles.hpp"
#include "support/json.hpp"

namespace adit::door {

namespace {

using Tree = nlohmann::json;

// Lists of lists in row-major order, with the extents of the shape.
bool take_numbers(const Tree& value, const Shape& shape, int axis, std::vector<double>& to) {
  if (axis == shape.size()) {
    if (!value.is_number()) return false;
    to.push_back(value.get<double>());
    return true;
  }
  if (!value.is_array() || static_cast<int64_t>(value.size()) != shape[axis]) return false;
  return std::all_of(value.begin(), value.end(),
                     [&](const Tree& part) { return take_numbers(part, shape, axis + 1, to); });
}

std::map<std::string, std::vector<double>> start_of(const char* operation, const Tree& object,
                                                    const std::vector<Model::Variable>& variables) {
  if (!object.is_object()) fail(operation, "init", "expected an object of values by variable");
  std::map<std::string, std::vector<double>> start;
  for (const auto& item : object.items()) {
    const std::string& name = item.key();
    const Tree& value = item.value();
    const auto known =
        std::find_if(variables.begin(), variables.end(), [&](const auto& it) { return it.name == name; });
    if (known == variables.end())
      fail(operation, "init", fmt::format("expected a variable of the model, got {}", printable(name)));
    if (!take_numbers(value, known->shape, 0, start[name]))
      fail(operation, "init", fmt::format("expected {} of shape {}", name, to_string(known->shape)));
  }
  return start;
}

}  // namespace

Starts starts_of(const char* operation, const std::string& text, const Model& model) {
  if (text.empty()) return {};
  const Tree document = parse_json(text);
  if (document.is_discarded()) fail(operation, "init", "expected JSON");
  if (!document.is_array()) return {start_of(operation, document, model.variables())};
  Starts all;
  for (const Tree& object : document) all.push_back(start_of(operation, object, model.variables()));
  if (all.empty()) fail(operation, "init", "expected values, got an empty list");
  return all;
}

}  // namespace adit::door
