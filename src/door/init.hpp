// Where chains start, as text: JSON of values by variable, or a list of such objects, one a chain.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <adit/model.hpp>

namespace adit::door {

using Starts = std::vector<std::map<std::string, std::vector<double>>>;

Starts starts_of(const char* operation, const std::string& text, const Model& model);

}  // namespace adit::door
