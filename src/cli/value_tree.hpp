// JSON with values of a model's variables by name, as CmdStan writes them.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <adit/shape.hpp>

namespace adit::cli {

using ValueTree = nlohmann::json;

// JSON with "-0" as "-0.0": its reader would take it for an integer, which has no sign.
std::string with_signed_zeros(const std::string& json);

// Names come once. What is wrong is told to `refuse`, with its line, which throws.
ValueTree value_tree(const std::string& text, const std::function<void(const std::string& what)>& refuse);

// Variables by the names that the model has for them: a tuple {"1": .., "2": ..} called t is t:1 and t:2, and
// part 2 of the first of a list of tuples called b is b.1:2.
ValueTree without_tuples(const ValueTree& object);

// Lists of lists with the extents of the shape, in row-major order; one number may stand in a list of its
// own. False where the value has another shape.
bool take_numbers(const ValueTree& value, const Shape& shape, std::vector<double>& to);

// As JSON, short enough for a line.
std::string brief(const ValueTree& value);

}  // namespace adit::cli
