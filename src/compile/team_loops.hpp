// Loops of a team over any number of steps.
#pragma once

#include <functional>
#include <vector>

#include <adit/kernel/builder.hpp>

namespace adit::compile {

// A team's own loops count to 2^31; one of more steps is a loop over pieces. `body` gets the step in
// `index_type`, which must hold `count`.
constexpr int64_t most_team_steps = int64_t{1} << 30;
void team_each(kernel::Builder& k, kernel::Type index_type, int64_t count,
               const std::function<void(kernel::Value)>& body, int64_t most_steps = most_team_steps);
std::vector<kernel::Value> team_reduce(kernel::Builder& k, kernel::Type index_type, int64_t count,
                                       const std::vector<kernel::Reduction>& reductions,
                                       const std::vector<kernel::Type>& types,
                                       const std::function<std::vector<kernel::Value>(kernel::Value)>& body,
                                       int64_t most_steps = most_team_steps);

}  // namespace adit::compile
