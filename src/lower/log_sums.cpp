#include "lower/log_sums.hpp"

#include <algorithm>
#include <cmath>

namespace adit::lower {

using graph::Op;

Repeated repeated(const Tensor& x) {
  if (!is_a(x, Op::broadcast)) return {x, Axes::counted(x.rank())};
  return {operand_of(x, 0), graph::node_of(x).as<graph::AxisList>().axes};
}

Axes reduced_axes(const Repeated& x, const Axes& reduced) {
  Axes own;
  for (int axis = 0; axis < x.base.rank(); ++axis)
    if (reduced.contains(x.axes[axis])) own.push_back(axis);
  return own;
}

bool is_outside(const Repeated& x, const Axes& reduced) {
  const Axes own = reduced_axes(x, reduced);
  return std::all_of(own.begin(), own.end(), [&](int64_t axis) { return x.base.shape()[int(axis)] == 1; });
}

Tensor past_reshapes(Tensor x) {
  while (is_a(x, Op::reshape)) x = operand_of(x, 0);
  return x;
}

namespace {

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

// What is below a logarithm, past a choice of 1, or of a 0 without derivatives, where it is 0.
Tensor past_choice(const Tensor& logarithm) {
  const Tensor x = operand_of(logarithm, 0);
  for (const double instead : {1, 0}) {
    Tensor compared;
    const Tensor sum = unless_equal(x, 0, instead, compared);
    if (compared && is_same(compared, sum)) return sum;
  }
  return x;
}

std::optional<Tensor> sum_below(const Tensor& logarithm) {
  const Tensor found = past_reshapes(past_choice(logarithm));
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
  if (!is_a(difference, Op::subtract)) return std::nullopt;
  LogSum found{.root = {}, .exponents = operand_of(difference, 0)};
  found.axes = graph::node_of(*sum).as<graph::ReduceAttributes>().axes;
  for (int axis = 0; axis < difference.rank(); ++axis)
    found.kept.push_back(found.axes.contains(axis) ? 1 : difference.shape()[axis]);
  const Repeated taken = repeated(operand_of(difference, 1));
  if (!is_outside(taken, found.axes) || !is_same(past_reshapes(taken.base), shift)) return std::nullopt;
  return found;
}

constexpr size_t most_terms = 4096;  // that are looked at: of sums that are read twice there are many

// Terms of a sum, exp(exponent - shift) each, with one shift: their exponents.
std::vector<Tensor> exponents_below(const Tensor& total, const Tensor& shift) {
  std::vector<Tensor> open{total}, exponents;
  while (!open.empty()) {
    const Tensor x = open.back();
    open.pop_back();
    if (is_a(x, Op::add)) {
      open.insert(open.end(), {operand_of(x, 1), operand_of(x, 0)});
      continue;
    }
    if (!is_a(x, Op::exp) || !is_a(operand_of(x, 0), Op::subtract)) return {};
    const Tensor difference = operand_of(x, 0);
    if (!is_same(operand_of(difference, 1), shift)) return {};
    exponents.push_back(operand_of(difference, 0));
    if (exponents.size() > most_terms) return {};
  }
  return exponents;
}

// larger + log1p(exp(smaller - larger)), below a choice where the larger one is infinite.
std::vector<Tensor> pair_below(const Tensor& larger, const Tensor& rest) {
  if (!is_a(larger, Op::select) || !is_a(operand_of(larger, 0), Op::greater) || !is_a(rest, Op::log1p) ||
      !is_a(operand_of(rest, 0), Op::exp))
    return {};
  const Tensor a = operand_of(larger, 1), b = operand_of(larger, 2), above = operand_of(larger, 0);
  if (!is_same(operand_of(above, 0), a) || !is_same(operand_of(above, 1), b)) return {};
  Tensor gap = operand_of(operand_of(rest, 0), 0);
  if (is_a(gap, Op::select) && is_a(operand_of(gap, 0), Op::is_infinity) && is_number(operand_of(gap, 1), 0))
    gap = operand_of(gap, 2);
  if (!is_a(gap, Op::subtract) || !is_same(operand_of(gap, 1), larger)) return {};
  const Tensor smaller = operand_of(gap, 0);
  const bool is_pair = is_a(smaller, Op::select) && is_same(operand_of(smaller, 0), above) &&
                       is_same(operand_of(smaller, 1), b) && is_same(operand_of(smaller, 2), a);
  return is_pair ? std::vector<Tensor>{a, b} : std::vector<Tensor>{};
}

}  // namespace

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

// Equal nodes are one node (the choices of a pair are made twice).
std::vector<Tensor> written_log_sum(const Tensor& x) {
  if (!is_a(x, Op::add)) return {};
  for (const size_t side : {0, 1}) {
    const Tensor shift = operand_of(x, side), rest = operand_of(x, 1 - side);
    if (std::vector<Tensor> pair = pair_below(shift, rest); !pair.empty()) return pair;
    if (!is_a(rest, Op::log)) continue;
    std::vector<Tensor> exponents = exponents_below(past_choice(rest), shift);
    if (exponents.size() > 1) return exponents;
  }
  return {};
}

}  // namespace adit::lower
