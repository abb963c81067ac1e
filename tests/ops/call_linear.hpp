// Calls of linear algebra and of sorting from JSON. Where a factorisation is not unique, "result" says what
// of it is compared: values, or the product that must give the matrix back.
#pragma once

#include <map>
#include <string>

#include "ops/call.hpp"

namespace adit::ops {

std::map<std::string, Caller, std::less<>> linear_callers();

}  // namespace adit::ops
