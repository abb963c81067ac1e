// A public operation by its name, with its attributes in JSON: for cases in files and for other languages.
//
//   call("sum", {x}, {{"axes", {0, 2}}, {"keep_axes", true}})
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include <adit/ops.hpp>

namespace adit::ops {

using Json = nlohmann::json;
using Caller = Tensor (*)(const std::vector<Tensor>& operands, const Json& attributes);

std::map<std::string, Caller, std::less<>> window_callers();
// Every operation there is, by the name of its function in ops.hpp.
const std::map<std::string, Caller, std::less<>>& callers();

// Of these, what stands in einsum.hpp and network.hpp.
std::map<std::string, Caller, std::less<>> composite_callers();

// Throws not_found for a name that is none, bad_argument for missing operands.
Tensor call(std::string_view op, const std::vector<Tensor>& operands,
            const Json& attributes = Json::object());

}  // namespace adit::ops
