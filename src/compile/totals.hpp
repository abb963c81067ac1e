// Partial results of reductions, in memory between two kernels.
#pragma once

#include <vector>

#include "compile/rows.hpp"
#include "lower/reduction.hpp"

namespace adit::compile {

struct Totals {
  Totals() = default;
  // Of the first level, `count` of each.
  Totals(const RowPlan& plan, Workshop& shop, int64_t count);
  // What changes nothing when it is combined with total `which`.
  Value none(kernel::Builder& k, size_t which) const {
    return k.constant_bits(types[which], kernel::identity_of(reductions[which], types[which]));
  }

  std::vector<kernel::Reduction> reductions;
  std::vector<kernel::Type> types;
  std::vector<const Node*> memory;  // one tensor an accumulator
};

}  // namespace adit::compile
