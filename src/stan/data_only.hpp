// What of some statements follows from data alone, by the syntax and what is known before them.
#pragma once

#include <functional>
#include <set>

#include "stan/syntax.hpp"

namespace adit::stan {

// Of the variables that the statement declares or writes, those of which every value does. `is_known` tells
// of a variable before the statement whether it is.
std::set<int> data_only_slots(const Statement& statement, const std::function<bool(int)>& is_known);

// Those variables and all that they are computed from.
std::set<int> with_sources(const Statement& statement, std::set<int> slots);

// The statement with the parts alone that write those variables; none: it writes none of them.
StatementPtr part_that_writes(const Statement& statement, const std::set<int>& slots);

}  // namespace adit::stan
