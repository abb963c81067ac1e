#include "lower/split_exponents.hpp"

#include <map>
#include <optional>

#include <adit/control.hpp>
#include <adit/ops.hpp>

#include "graph/control.hpp"
#include "graph/op.hpp"
#include "lower/log_sums.hpp"

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

// What exponents are the sum of: `changing` from step to step; `fixed`; `outside`: changing too, but the same
// all along the sum, in the shape of the results.
struct Parts {
  Tensor changing, fixed, outside;
  Tensors bases{};  // that they are all made of
};

void add_to(Tensor& sum, const Tensor& term) { sum = sum ? sum + term : term; }

constexpr size_t most_parts = 4096;  // that are looked at: of sums that are read twice there are many

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
    if (parts.bases.size() > most_parts) return std::nullopt;
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
    if (!sum || sum->exponents.size() > most_elements) continue;
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
