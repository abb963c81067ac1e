// Constrained values as points of the unconstrained scale.
#pragma once

#include <adit/optimize.hpp>

#include "stats/model_state.hpp"

namespace adit::optimizing {

struct Unconstraining {
  std::string where;  // errors begin with it: "[optimize] init"
  // Infinite numbers are taken where they stand for a value on the bound: files round.
  bool may_touch_bounds = false;
  // Names the row of a value, of many: "draw 3 of chain 2".
  std::function<std::string(int64_t row)> row_name{};
};

// Names and counts of numbers: values[name] has `count` times the variable's. `complete`: none may be
// missing.
void expect_values(const stats::ModelState& model, const NamedValues& values, int64_t count, bool complete,
                   const std::string& where);

// Puts values into points [count, size]; variables without any keep what is there, and may bound others.
void put_values(const stats::ModelState& model, const NamedValues& values, const Unconstraining& how,
                const std::shared_ptr<Device>& device, std::vector<double>& points);

}  // namespace adit::optimizing
