// Variables that serve the rounds of a loop as scratch paper: declared before it, used nowhere but in it.
#pragma once

#include <map>
#include <set>

#include "stan/syntax.hpp"

namespace adit::stan {

// Of each loop: the variables from outside of it of which elements are written, and that nothing but the loop
// uses. Whether a round ever reads what an earlier one wrote is not known from the syntax.
using Workspaces = std::map<const Statement*, std::set<int>>;
Workspaces workspaces_of(const Program& program);

}  // namespace adit::stan
