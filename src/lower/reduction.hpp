// How reductions combine: which numbers are accumulated for an element, and how the result comes from them.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <adit/kernel/builder.hpp>

#include "graph/index.hpp"
#include "graph/row.hpp"

namespace adit::lower {

using graph::Index;
using graph::Node;
using graph::Scalar;
using kernel::Value;

// False: only a loop in order can do it (complex products, functions of the user).
bool combines_in_any_order(const Node& node);
std::vector<kernel::Reduction> reductions_of(const Node& node);
std::vector<kernel::Type> accumulator_types(const Node& node);
// The numbers that an element contributes.
std::vector<Value> contributions(const Node& node, const Scalar& element);
// The result in the type that is computed with; its reader rounds it to the node's.
Scalar total_of(const Node& node, const std::vector<Value>& totals);

// Elements that one result is made of, in row-major order of the reduced axes.
int64_t reduced_count(const Node& node);
// Where element `r` of the result at `at` lies in the operand.
Index operand_index(const Node& node, const Index& at, Value r);
// The same for any tensor of `shape`: `at` counts the other axes, r the named ones.
Index place_in(
    const Shape& shape, const Axes& axes, const Index& at, Value r,
    std::optional<Value> linear = std::nullopt);  // the same as one number, where the caller has it
// True where the axes come last: element r of row o is element o * count + r.
bool last_axes(const Shape& shape, const Axes& axes);
Value combine(kernel::Reduction reduction, Value a, Value b);

// The totals of `body` over `steps`, by a loop of one invocation.
std::vector<Value> loop_totals(kernel::Builder& k, Value steps,
                               const std::vector<kernel::Reduction>& reductions,
                               const std::vector<kernel::Type>& types,
                               const std::function<std::vector<Value>(Value)>& body);

int64_t contracted_count(const Node& node);
// Where step r of the contraction lies in operand 0 or 1 of a dot, for the result at `at`.
Index dot_operand(const Node& node, int which, const Index& at, Value r);

// An update of a tensor of zeros: its kernel fills memory instead of reading them.
bool starts_from_zero(const Node& node);

}  // namespace adit::lower
