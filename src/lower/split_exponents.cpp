#include "lower/split_exponents.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <adit/control.hpp>
#include <adit/ops.hpp>

#include "graph/control.hpp"
#include "graph/op.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;
using graph::Subgraph;

namespace {

// Longer sums are products of matrices and vectors, which are not written out.
constexpr int64_t most_elements = 64;
// Exponents of v beyond which it is not split, and sums within which no term that matters was lost.
struct Range {
  double most_exponent, least_sum, most_sum;
};
Range range_of(DType type) { return type == DType::f32 ? Range{80, 1e-30, 1e30} : Range{600, 1e-250, 1e250}; }

Tensor operand_of(const Tensor& x, size_t i) { return graph::node_of(x).operands[i]; }
bool is_a(const Tensor& x, Op op) { return graph::node_of(x).op == op && !graph::node_of(x).computed; }

// What is repeated along some axes, and where its own axes are.
struct Repeated {
  Tensor base;
  Axes axes;
  Tensor spread(const Tensor& like_base, const Shape& shape) const {
    return broadcast_in(like_base, shape, axes);
  }
};

Repeated repeated(const Tensor& x) {
  if (!is_a(x, Op::broadcast)) return {x, Axes::counted(x.rank())};
  return {operand_of(x, 0), graph::node_of(x).as<graph::AxisList>().axes};
}

// Its axes that are summed over.
Axes reduced_axes(const Repeated& x, const Axes& reduced) {
  Axes own;
  for (int axis = 0; axis < x.base.rank(); ++axis)
    if (reduced.contains(x.axes[axis])) own.push_back(axis);
  return own;
}

// Whether it is the same all along the axes that are summed over.
bool is_outside(const Repeated& x, const Axes& reduced) {
  const Axes own = reduced_axes(x, reduced);
  return std::all_of(own.begin(), own.end(), [&](int64_t axis) { return x.base.shape()[int(axis)] == 1; });
}

// shift + log(sum(exp(exponents - shift))), whatever the shift: mostly the largest exponent.
struct LogSum {
  Tensor root;  // all of it
  Tensor exponents;
  Axes axes{};   // that are summed over
  Shape kept{};  // of the exponents, with extent 1 along those
};

Tensor past_reshapes(Tensor x) {
  while (is_a(x, Op::reshape)) x = operand_of(x, 0);
  return x;
}

bool is_same(const Tensor& a, const Tensor& b) { return graph::pointer_of(a) == graph::pointer_of(b); }

bool is_number(const Tensor& x, double value) {
  const graph::Literal* known = graph::constant_value(x);
  return known && known->real == value;
}

// What is chosen unless `chosen` equals `when`; the choice itself where it is none of those.
Tensor unless_equal(const Tensor& x, double when, double instead, Tensor& chosen) {
  if (!is_a(x, Op::select) || !is_a(operand_of(x, 0), Op::equal) || !is_number(operand_of(x, 1), instead) ||
      !is_number(operand_of(operand_of(x, 0), 1), when))
    return x;
  chosen = operand_of(operand_of(x, 0), 0);
  return operand_of(x, 2);
}

// The sum below a logarithm, past a choice of 1 where it is 0.
std::optional<Tensor> sum_below(const Tensor& logarithm) {
  Tensor compared;
  const Tensor x = operand_of(logarithm, 0), sum = unless_equal(x, 0, 1, compared);
  if (compared && !is_same(compared, sum)) return std::nullopt;
  const Tensor found = past_reshapes(sum);
  if (!is_a(found, Op::sum)) return std::nullopt;
  return found;
}

bool is_largest_of(Tensor x, const LogSum& sum) {
  x = past_reshapes(x);
  if (is_a(x, Op::stop_gradient)) x = past_reshapes(operand_of(x, 0));
  return is_a(x, Op::reduce_max) && is_same(operand_of(x, 0), sum.exponents) &&
         graph::node_of(x).as<graph::ReduceAttributes>().axes == sum.axes;
}

// A sum of `shift` and a logarithm.
std::optional<LogSum> log_sum_of(const Tensor& shift, const Tensor& logarithm) {
  if (!is_a(logarithm, Op::log)) return std::nullopt;
  const std::optional<Tensor> sum = sum_below(logarithm);
  if (!sum || !is_a(operand_of(*sum, 0), Op::exp)) return std::nullopt;
  const Tensor difference = operand_of(operand_of(*sum, 0), 0);
  if (!is_a(difference, Op::subtract) || difference.size() > most_elements) return std::nullopt;
  LogSum found{.root = {}, .exponents = operand_of(difference, 0)};
  found.axes = graph::node_of(*sum).as<graph::ReduceAttributes>().axes;
  for (int axis = 0; axis < difference.rank(); ++axis)
    found.kept.push_back(found.axes.contains(axis) ? 1 : difference.shape()[axis]);
  const Repeated taken = repeated(operand_of(difference, 1));
  if (!is_outside(taken, found.axes) || !is_same(past_reshapes(taken.base), shift)) return std::nullopt;
  return found;
}

// Also below a choice of -infinity where all exponents are.
std::optional<LogSum> log_sum(const Tensor& x) {
  Tensor compared;
  const Tensor sum = unless_equal(x, -INFINITY, -INFINITY, compared);
  if (!is_a(sum, Op::add)) return std::nullopt;
  for (const size_t side : {0, 1}) {
    std::optional<LogSum> found =
        log_sum_of(past_reshapes(operand_of(sum, side)), past_reshapes(operand_of(sum, 1 - side)));
    if (!found || (compared && !is_largest_of(compared, *found))) continue;
    found->root = x;
    return found;
  }
  return std::nullopt;
}

// What exponents are the sum of: `changing` from step to step; `fixed`; `outside`: changing too, but the same
// all along the sum, in the shape of the results.
struct Parts {
  Tensor changing, fixed, outside;
  Tensors bases{};  // that they are all made of
};

void add_to(Tensor& sum, const Tensor& term) { sum = sum ? sum + term : term; }

std::optional<Parts> parts_of(const LogSum& of, const graph::Dependents& changing) {
  Tensors open{of.exponents};
  Parts parts;
  while (!open.empty()) {
    const Tensor x = open.back();
    open.pop_back();
    const Repeated term = repeated(x);
    const bool is_sum = changing.contains(x) && !is_outside(term, of.axes) && is_a(x, Op::add);
    if (is_sum) {
      open.insert(open.end(), {operand_of(x, 1), operand_of(x, 0)});
      continue;
    }
    parts.bases.push_back(term.base);
    if (!changing.contains(x))
      add_to(parts.fixed, x);
    else if (is_outside(term, of.axes))
      add_to(parts.outside, term.spread(term.base, of.kept));
    else
      add_to(parts.changing, x);
  }
  if (!parts.changing || !parts.fixed) return std::nullopt;
  return parts;
}

// The sum by its parts.
Tensor split(const LogSum& of, const Parts& parts, const Range& range) {
  const auto number = [&](double x) { return graph::constant(of.exponents.dtype(), x); };
  const Shape& shape = of.exponents.shape();
  const Repeated u = repeated(parts.changing), v = repeated(parts.fixed);
  const Tensor top = stop_gradient(reduce_max(u.base, reduced_axes(u, of.axes), true));
  const Tensor middle = select(is_infinity(top), number(0), top);
  const Tensor powers = u.spread(exp(u.base - middle), shape);
  const Tensor factors = v.spread(exp(minimum(v.base, number(range.most_exponent))), shape);
  const Tensor total = sum(powers * factors, of.axes, true);
  const Tensor is_safe =
      logical_and(greater(total, number(range.least_sum)), less(total, number(range.most_sum)));
  // The derivative of a sum that is not taken is 0, not 0 / 0.
  Tensor quick = log(select(is_safe, total, number(1))) + u.spread(middle, of.kept);
  if (parts.outside) quick = quick + parts.outside;
  quick = reshape(quick, of.root.shape());
  const Tensor too_large = sum(select(greater(v.base, number(range.most_exponent)), number(1), number(0)));
  const Tensor is_lost = logical_or(any(logical_not(is_safe)), greater(too_large, number(0)));
  const auto as_written = [&](const Tensors&) -> Tensors {
    Tensors names;
    for (const Tensor& base : parts.bases) names.push_back(graph::alias(base));
    return graph::substitute(Tensors{of.root}, parts.bases, names);
  };
  const auto as_parts = [&](const Tensors&) -> Tensors { return {quick}; };
  return cond(is_lost, as_written, as_parts, {})[0];
}

// Those of a step, none inside of another.
std::vector<std::pair<LogSum, Parts>> sums_of(const Tensors& results, const Tensors& parameters) {
  const graph::Dependents changing = graph::dependents(results, parameters);
  std::vector<std::pair<LogSum, Parts>> found;
  for (const graph::Visit& visit : changing.steps) {
    const std::optional<LogSum> sum = log_sum(visit.node);
    if (!sum) continue;
    std::optional<Parts> parts = parts_of(*sum, changing);
    if (!parts) continue;
    // One that chooses -infinity comes after what it chooses from, and takes its place.
    std::erase_if(found, [&](const auto& other) { return is_same(other.first.exponents, sum->exponents); });
    found.emplace_back(*sum, std::move(*parts));
  }
  return found;
}

// The results of a scan whose steps are split; none where nothing is.
Tensors split_scan(const Tensor& x, const Range& range) {
  const graph::ControlAttributes& about = graph::about(x);
  const auto carries = static_cast<size_t>(about.carries), sequences = static_cast<size_t>(about.sequences);
  const Subgraph& step = *about.functions[0];
  if (sums_of(step.results, graph::part(step.parameters, 0, carries + sequences)).empty()) return {};
  const Tensors& operands = graph::node_of(x).operands;
  const Tensors captured = graph::after(operands, carries + sequences);
  const auto split_step = [&](const Tensors& carry, const Tensors& slices) -> Step {
    const Tensors changing = graph::joined(carry, slices);
    const Tensors plain = graph::instantiate(step, graph::joined(changing, captured));
    Tensors from, to;
    for (const auto& [sum, parts] : sums_of(plain, changing)) {
      from.push_back(sum.root);
      to.push_back(split(sum, parts, range));
    }
    const Tensors results = graph::substitute_throughout(plain, from, to);
    return {graph::part(results, 0, carries), graph::after(results, carries)};
  };
  const Step made = scan(split_step, graph::part(operands, 0, carries),
                         graph::part(operands, carries, sequences), about.length, about.reverse);
  return graph::joined(made.carry, made.outputs);
}

}  // namespace

std::vector<Tensor> split_exponents(std::span<const Tensor> roots, DType type) {
  const Tensors before(roots.begin(), roots.end());
  std::map<const Node*, Tensors> results;  // of each scan, in its new form
  Tensors from, to;
  for (const Tensor& x : graph::reachable(before, true)) {
    if (is_a(x, Op::scan)) results[&graph::node_of(x)] = split_scan(x, range_of(type));
    if (!is_a(x, Op::item)) continue;
    const auto at = results.find(&graph::node_of(operand_of(x, 0)));
    if (at == results.end() || at->second.empty()) continue;
    from.push_back(x);
    to.push_back(at->second[static_cast<size_t>(graph::node_of(x).as<graph::Which>().number)]);
  }
  return from.empty() ? before : graph::substitute_throughout(before, from, to);
}

}  // namespace adit::lower
