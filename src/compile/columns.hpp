// Reductions of an axis that is not the last, on a CPU: the elements of a result lie apart, and those of
// neighbouring results together. A space of any rank is [outer, lines, inner] then, and the lines are joined.
#pragma once

#include "compile/rows.hpp"

namespace adit::compile {

// Lines are walked as they lie in memory, with a sum for each column in the cache. Short ones count as one:
// `together` lines are a long one, of which each element has a sum, and those of a column are joined at the
// end.
struct LinePlan {
  int64_t together = 1;
  int64_t parts = 1;  // of the lines of an outer place; a team each
};

// None where the columns are better walked one by one: few lines, or several levels.
std::optional<LinePlan> lines_for(const RowPlan& plan, const Target& target);
std::vector<Launch> line_launches(const Group& group, const RowPlan& plan, Workshop& shop,
                                  const LinePlan& lines);

// How many columns of an outer place a team takes that walks each from end to end; 0: not so.
int64_t columns_of_a_team(const RowPlan& plan, const Target& target);

}  // namespace adit::compile
