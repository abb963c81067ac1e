#include "lower/scaled_states.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
#include <set>

#include <adit/control.hpp>
#include <adit/ops.hpp>

#include "graph/control.hpp"
#include "graph/derive.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/boxes.hpp"
#include "lower/linear_states.hpp"
#include "lower/log_sums.hpp"

namespace adit::lower {

using graph::Node;
using graph::Op;
using graph::Subgraph;

namespace {

// Numbers beside larger ones near 1. Nothing is lost of a factor or a state that is 0 or no less than
// `faint`: products of three of them are numbers still. What is less may be lost wherever each next state is
// no less than `mixed` before its own factor: whatever a faint state would add there is less than its last
// bit.
constexpr double faint = 1e-50, log_faint = -115, mixed = 1e-30;
constexpr double least = 1e-290;  // of a last state that is not 0
constexpr int64_t fewest_steps = 4;
constexpr size_t most_nodes = 2000;  // of a step
constexpr int64_t most_columns = 8;  // that are computed each by itself

// 2^-n for numbers from 2^n to 2^(n + 1).
Tensor inverse_scale(const Tensor& x) {
  const auto bits = [](uint64_t word) {
    return graph::constant_integer(DType::u64, static_cast<int64_t>(word));
  };
  const Tensor exponent = bitwise_and(bitcast(stop_gradient(x), DType::u64), bits(0x7ff0000000000000));
  return bitcast(subtract(bits(0x7fe0000000000000), exponent), DType::f64);
}

// Logarithms of powers of two.
Tensor log_of_scale(const Tensor& x) {
  const auto bits = [](uint64_t word) {
    return graph::constant_integer(DType::u64, static_cast<int64_t>(word));
  };
  constexpr double whole = 0x1p52;  // to which a whole number is added in its last bits
  const Tensor exponent = right_shift(bitcast(x, DType::u64), bits(52));
  const Tensor raised = bitcast(bitwise_or(exponent, bits(std::bit_cast<uint64_t>(whole))), DType::f64);
  return (raised - number(whole + 1023)) * number(std::numbers::ln2);
}

// The logarithm of a last state, NaN where that is.
Tensor log_or_none(const Tensor& p) {
  const Tensor is_none = less_equal(p, number(least));
  return select(is_none, number(-INFINITY), log(select(is_none, number(1), p)));
}

Tensor count_where(const Tensor& holds) { return sum(select(holds, number(1), number(0))); }

// Each slice of a sequence along axis 0, where all are the same.
Tensor same_slice(const Tensor& x) {
  if (!is_a(x, Op::broadcast)) return {};
  Axes axes;
  for (const int64_t axis : graph::node_of(x).as<graph::AxisList>().axes) {
    if (axis == 0) return {};
    axes.push_back(axis - 1);
  }
  Shape shape = x.shape();
  shape.erase(0);
  return broadcast_in(operand_of(x, 0), shape, axes);
}

// The same once more, made of the inputs anew.
Tensors under_new_names(const Tensors& roots, const Tensors& inputs) {
  Tensors names;
  for (const Tensor& input : inputs) names.push_back(graph::alias(input));
  return graph::substitute(roots, inputs, names);
}

// One scan in its new form.
class ScaledScan {
 public:
  ScaledScan(const Tensor& scan, const std::set<int>& used)
      : about_(graph::about(scan)), operands_(graph::node_of(scan).operands) {
    const auto n = static_cast<size_t>(about_.carries), m = static_cast<size_t>(about_.sequences);
    const Subgraph& step = *about_.functions[0];
    if (about_.length < fewest_steps || graph::reachable(step.results, true).size() > most_nodes) return;
    step_ = step;
    carries_ = graph::part(step_.parameters, 0, n);
    take_operands(m);
    if (has_control()) return;
    find_states();
    if (!states_.empty() && !(is_closed(used) && are_together())) states_.clear();
    if (states_.empty()) return;
    find_lanes();
    if (!write()) states_.clear();
  }

  bool is_scaled() const { return !states_.empty(); }
  bool is_state(int result) const { return states_.contains(static_cast<size_t>(result)); }
  // A result that has nothing to do with the states.
  Tensor other(int result) const { return results_[static_cast<size_t>(result)]; }
  // The logarithms of a last state.
  Tensor last(size_t state) const {
    const Tensor& p = results_[state];
    return log_or_none(p) + spread(scales_, p.shape());
  }
  Axes summed_axes() const { return state_axes(carries_[states_.begin()->first]); }
  bool is_summed_by(const LogSum& by) const { return states_.size() == 1 && by.axes == summed_axes(); }
  Tensor last_sum() const {
    return log_or_none(sum(results_[states_.begin()->first], summed_axes())) + scales_;
  }
  // Whether something that matters may be lost: a scalar. `all`: of single last states too. Factors are
  // looked at where that decides it alone, from `inputs` on, so that nothing is kept for it.
  Tensor is_lost(bool all, const Tensors& inputs) const {
    const auto looks = [&](const Tensors&) -> Tensors {
      const Tensor faints = under_new_names({faint_}, inputs)[0];
      return {select(logical_or(less(least_state_, number(faint)), greater(faints, number(0))), number(1),
                     number(0))};
    };
    const auto no = [](const Tensors&) -> Tensors { return {number(0)}; };
    const Tensor unmixed = all ? less(number(0), number(1)) : less(least_sum_, number(mixed));
    return greater(cond(unmixed, looks, no, {})[0], number(0));
  }

 private:
  // Sequences that are the same in all steps are captured, and what comes twice comes once.
  void take_operands(size_t sequences) {
    const size_t n = carries_.size();
    const Tensors names = interned(operands_);
    Tensors captured, twice, once;
    std::map<const Node*, Tensor> seen[2];
    for (size_t i = n; i < operands_.size(); ++i) {
      const bool is_sequence = i < n + sequences;
      Tensor& first = seen[is_sequence ? 0 : 1][&graph::node_of(names[i])];
      if (first) {
        twice.push_back(step_.parameters[i]);
        once.push_back(first);
        continue;
      }
      first = step_.parameters[i];
      const Tensor same = is_sequence ? same_slice(operands_[i]) : operands_[i];
      (same ? captured : slices_).push_back(first);
      (same ? captured_ : sequences_).push_back(same ? same : operands_[i]);
    }
    step_.parameters = graph::joined(carries_, slices_, captured);
    step_.results = interned(graph::substitute(step_.results, twice, once));
  }
  bool has_control() const {
    const Tensors nodes = graph::reachable(step_.results, true);
    return std::any_of(nodes.begin(), nodes.end(), [](const Tensor& x) {
      return graph::row_of(graph::node_of(x).op).kind == graph::Kind::control;
    });
  }

  void find_states() {
    std::set<size_t> open;
    for (size_t i = 0; i < carries_.size(); ++i)
      if (carries_[i].dtype() == DType::f64) open.insert(i);
    for (bool settled = false; !settled && !open.empty();) {
      Tensors states;
      for (const size_t i : open) states.push_back(carries_[i]);
      LinearStates linear(step_, states, carries_);
      states_.clear();
      for (const size_t i : open)
        if (const std::optional<Scaled> next = linear(step_.results[i]); next && next->sums)
          states_[i] = *next;
      settled = states_.size() == open.size();
      open.clear();
      for (const auto& [i, next] : states_) open.insert(i);
      exponents_ = linear.exponents;
    }
  }

  // Whether nobody else reads the states: of results that are used, and of other carries.
  bool is_closed(const std::set<int>& used) const {
    Tensors states, others;
    for (const auto& [i, next] : states_) states.push_back(carries_[i]);
    for (size_t i = 0; i < step_.results.size(); ++i)
      if (!states_.contains(i) && (i < carries_.size() || used.contains(static_cast<int>(i))))
        others.push_back(step_.results[i]);
    const graph::Dependents reading = graph::dependents(others, states);
    return std::none_of(others.begin(), others.end(), [&](const Tensor& x) { return reading.contains(x); });
  }

  // Whether carried states lead to each other: those that never meet go ever further apart, and with one
  // scale for both the loop would mostly run as it was written too.
  bool are_together() const {
    std::set<size_t> met{states_.begin()->first};
    for (size_t before = 0; before != met.size();) {
      before = met.size();
      for (const auto& [i, next] : states_) {
        std::set<size_t> group{i};
        for (const Tensor& x : graph::reachable(Tensors{step_.results[i]}, true))
          for (const auto& [j, unused] : states_)
            if (is_same(x, carries_[j])) group.insert(j);
        if (std::any_of(group.begin(), group.end(), [&](size_t j) { return met.contains(j); }))
          met.insert(group.begin(), group.end());
      }
    }
    return met.size() == states_.size();
  }

  // Lanes have scales of their own; states that are mixed have one.
  void find_lanes() {
    const Shape& first = carries_[states_.begin()->first].shape();
    has_lanes_ = !first.empty();
    for (const auto& [i, next] : states_)
      has_lanes_ =
          has_lanes_ && next.has_lanes && !carries_[i].shape().empty() && carries_[i].shape()[0] == first[0];
  }

  Axes state_axes(const Tensor& x) const {
    Axes axes;
    for (int axis = has_lanes_ ? 1 : 0; axis < x.rank(); ++axis) axes.push_back(axis);
    return axes;
  }
  // A number of each lane for all of its states.
  Tensor spread(const Tensor& x, const Shape& shape) const {
    return has_lanes_ ? broadcast_in(x, shape, {0}) : broadcast_to(x, shape);
  }
  // The one number of each lane that reductions and joins of a list come to.
  template <class Reduce, class Join>
  Tensor folded(const Tensors& list, Reduce reduce, Join join) const {
    Tensor all;
    for (const Tensor& x : list) {
      const Tensor own = state_axes(x).empty() ? x : reduce(x, state_axes(x));
      all = all ? join(all, own) : own;
    }
    return all;
  }
  Tensor largest(const Tensors& list) const {
    return folded(
        list, [](const Tensor& x, const Axes& axes) { return reduce_max(x, axes); },
        [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  }
  Tensor smallest(const Tensors& list) const {
    return folded(
        list, [](const Tensor& x, const Axes& axes) { return reduce_min(x, axes); },
        [](const Tensor& a, const Tensor& b) { return minimum(a, b); });
  }

  // Tensors of the step that are apart from all carries: those of all steps, or one that is the same in all.
  struct Apart {
    Tensor part;
    Tensor same;
    Tensor stacked;
    Tensors columns{};  // its elements, where those are few
  };
  std::vector<Apart> hoisted(const Tensors& parts) {
    const size_t n = carries_.size();
    graph::Lanes lanes;
    for (const Tensor& x : sequences_) lanes.push_back({x, true});
    for (const Tensor& x : captured_) lanes.push_back({x, false});
    const graph::Lanes all =
        graph::batch_graph(parts, graph::after(step_.parameters, n), lanes, about_.length);
    std::vector<Apart> made;
    for (size_t i = 0; i < parts.size(); ++i) {
      made.push_back({parts[i], {}, {}});
      if (!all[i].batched)
        made.back().same = all[i].value;
      else
        made.back().stacked = all[i].value;
      if (all[i].batched && parts[i].size() > 1 && parts[i].size() <= most_columns)
        made.back().columns = columns_of(all[i].value);
    }
    return made;
  }
  Tensors columns_of(const Tensor& x) {
    Tensors columns;
    Dims place = Dims::filled(x.rank(), 0);
    Shape column = Shape::filled(x.rank(), 1);
    column[0] = x.shape()[0];
    for (int64_t i = 0; i < x.size() / column[0]; ++i) {
      int64_t rest = i;
      for (int axis = x.rank() - 1; axis > 0; --axis) {
        place[axis] = rest % x.shape()[axis];
        rest /= x.shape()[axis];
      }
      columns.push_back(reshape(boxes_(x, place, column), {column[0]}));
    }
    return columns;
  }
  static Tensor sum_of_steps(const Apart& x, int64_t steps) {
    return x.same ? x.same * number(static_cast<double>(steps)) : sum(x.stacked, {0});
  }

  static Tensor faint_among(const std::vector<Exponent>& exponents) {
    Tensor total = number(0);
    for (const Exponent& x : exponents)
      total = total +
              count_where(logical_and(less(x.gap, number(log_faint)), greater(x.whole, number(-INFINITY))));
    return total;
  }
  // The largest of them, and e to what they are less. Few are taken one by one, so that all steps' are loops
  // over steps without choices between states.
  Tensors factors_of(const Tensors& whole) {
    int64_t count = 0;
    for (const Tensor& x : whole) count += x.size();
    Tensors parts{Tensor()};
    if (has_lanes_ || count > most_columns) {
      parts[0] = finite_or_zero(stop_gradient(largest(whole)));
      for (const Tensor& x : whole) parts.push_back(power_below(x, spread(parts[0], x.shape()), exponents_));
      return parts;
    }
    std::vector<Tensors> elements;
    Tensor top;
    for (const Tensor& x : whole) {
      elements.push_back(columns_of(expand_dims(x, 0)));
      for (Tensor& element : elements.back()) {
        element = reshape(element, {});
        top = top ? maximum(top, element) : element;
      }
    }
    parts[0] = finite_or_zero(stop_gradient(top));
    for (size_t i = 0; i < whole.size(); ++i) {
      for (Tensor& x : elements[i]) x = reshape(power_below(x, parts[0], exponents_), {1});
      parts.push_back(reshape(concatenate(elements[i]), whole[i].shape()));
    }
    return parts;
  }

  // False where factors of sums are another long list in each step: they would be as many exponentials.
  bool write() {
    // Factors of the next states, with one scale for all that belong together.
    Tensors whole, powers, sums;
    for (const auto& [i, next] : states_) {
      whole.push_back(total_of(next.addends, carries_[i].shape()));
      powers.push_back(next.power);
      sums.push_back(next.sums);
    }
    Tensors parts = factors_of(whole);
    parts.push_back(faint_among(exponents_));
    const size_t faints = parts.size() - 1;
    add_factors(powers, parts);
    const std::vector<Apart> apart = hoisted(parts);
    for (size_t i = faints + 1; i < apart.size(); ++i)
      if (apart[i].stacked && apart[i].part.size() > most_columns && !has_lanes_) return false;

    // The first states.
    std::vector<Exponent> first_exponents;
    Tensors first = graph::part(operands_, 0, carries_.size()), begun;
    for (const auto& [i, next] : states_) begun.push_back(first[i] = boxes_.of_slice(first[i]));
    const Tensor first_top = finite_or_zero(stop_gradient(largest(begun)));
    for (const auto& [i, next] : states_)
      first[i] = power_below(first[i], spread(first_top, first[i].shape()), first_exponents);
    const Shape& scale_shape = first_top.shape();
    const size_t n = carries_.size(), m = slices_.size();
    first.insert(first.end(), {broadcast_to(number(1), scale_shape), broadcast_to(number(1), scale_shape),
                               broadcast_to(number(1), scale_shape)});
    Tensors xs = sequences_;
    for (const Apart& x : apart) {
      if (x.stacked && x.columns.empty()) xs.push_back(x.stacked);
      xs.insert(xs.end(), x.columns.begin(), x.columns.end());
    }

    const auto step = [&](const Tensors& carry, const Tensors& slices) -> Step {
      Tensors from = graph::joined(step_.parameters, parts);
      Tensors to = graph::joined(graph::part(carry, 0, n), graph::part(slices, 0, m), captured_);
      size_t next = m;
      for (const Apart& x : apart) {
        Tensors elements;
        for (size_t i = 0; i < x.columns.size(); ++i) elements.push_back(reshape(slices[next++], {1}));
        if (!elements.empty())
          to.push_back(reshape(concatenate(elements), x.part.shape()));
        else
          to.push_back(x.same ? x.same : slices[next++]);
      }
      const size_t count = states_.size();
      const Tensors made = graph::substitute(graph::joined(powers, sums, step_.results), from, to);
      return next_step(graph::part(made, 0, count), graph::part(made, count, count),
                       graph::after(made, 2 * count), graph::part(to, step_.parameters.size() + 1, count),
                       graph::after(carry, n));
    };
    const Step done = scan(step, first, xs, about_.length, about_.reverse);
    results_ = graph::joined(graph::part(done.carry, 0, n), done.outputs);
    scales_ = first_top + sum_of_steps(apart[0], about_.length) - sum(log_of_scale(done.outputs.back()), {0});
    least_sum_ = reduce_min(done.carry[n + 1]);
    least_state_ = reduce_min(done.carry[n + 2]);
    faint_ = faint_among(first_exponents) + sum_of_steps(apart[faints], about_.length);
    return true;
  }

  // Largest parts of the powers that are apart from all carries.
  void add_factors(const Tensors& powers, Tensors& parts) const {
    const graph::Dependents changing = graph::dependents(powers, carries_);
    std::set<const Node*> seen;
    for (const graph::Visit& visit : changing.steps)
      for (const Tensor& operand : visit.operands) {
        Tensor base = operand;
        while (is_a(base, Op::broadcast) || is_a(base, Op::reshape)) base = operand_of(base, 0);
        const bool is_leaf = graph::node_of(base).operands.empty();
        if (changing.contains(base) || is_leaf || base.dtype() != DType::f64 ||
            !seen.insert(&graph::node_of(base)).second)
          continue;
        parts.push_back(base);
      }
  }

  // carry: the scale of this step, the least sum and the least state so far.
  Step next_step(const Tensors& powers, const Tensors& sums, const Tensors& plain, const Tensors& factors,
                 const Tensors& carry) const {
    const size_t n = carries_.size();
    Tensors next = graph::part(plain, 0, n), outputs = graph::after(plain, n), states, lows;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (depends_on_states(n + i)) outputs[i] = zeros(outputs[i].shape(), outputs[i].dtype());
    size_t at = 0;
    for (const auto& [i, unused] : states_) {
      const Tensor p = powers[at] * (factors[at] * spread(carry[0], powers[at].shape()));
      ++at;
      // A state that cannot be has no derivative, however large that of reaching it would be.
      const Tensor can_be = not_equal(p, number(0));
      next[i] = select(can_be, p, number(0));
      states.push_back(next[i]);
      lows.push_back(stop_gradient(select(can_be, p, number(INFINITY))));
    }
    const Tensor scale = inverse_scale(largest(states));
    next.push_back(scale);
    Tensors stopped;
    for (const Tensor& x : sums) stopped.push_back(stop_gradient(x));
    next.push_back(minimum(carry[1], smallest(stopped) * carry[0]));
    next.push_back(minimum(carry[2], smallest(lows) * scale));
    outputs.push_back(carry[0]);
    return {next, outputs};
  }

  bool depends_on_states(size_t result) const {
    Tensors states;
    for (const auto& [i, next] : states_) states.push_back(carries_[i]);
    const Tensors alone{step_.results[result]};
    return graph::dependents(alone, states).contains(alone[0]);
  }

  const graph::ControlAttributes& about_;
  Tensors operands_;
  Subgraph step_;
  Tensors carries_, slices_;      // parameters of the step
  Tensors sequences_, captured_;  // what the others stand for
  std::map<size_t, Scaled> states_;
  std::vector<Exponent> exponents_;
  bool has_lanes_ = false;
  Boxes boxes_;
  Tensors results_;
  Tensor scales_, least_sum_, least_state_, faint_;
};

// Where a slice along axis 0 is one of a joined part, that part and the place in it.
std::pair<Tensor, int64_t> part_at(Tensor x, int64_t at) {
  while (is_a(x, Op::concatenate) && graph::node_of(x).as<graph::OneAxis>().axis == 0) {
    for (const Tensor& part : graph::node_of(x).operands) {
      x = part;
      if (at < part.dim(0)) break;
      at -= part.dim(0);
    }
  }
  return {x, at};
}

// The place of a row that a node is.
std::optional<int64_t> single_row(const Tensor& x) {
  if (!is_a(x, Op::slice) || x.rank() == 0 || x.shape()[0] != 1) return std::nullopt;
  Shape whole = operand_of(x, 0).shape();
  whole[0] = 1;
  if (!(whole == x.shape())) return std::nullopt;
  return graph::node_of(x).as<graph::SliceAttributes>().starts[0];
}

class Rewriting {
 public:
  Rewriting(std::span<const Tensor> roots, std::span<const Tensor> inputs)
      : roots_(roots.begin(), roots.end()), inputs_(inputs.begin(), inputs.end()) {}

  Tensors result() {
    take_last_rows();
    const Tensors nodes = graph::reachable(roots_, true);
    std::map<const Node*, std::vector<Tensor>> items;
    Tensors scans;
    for (const Tensor& x : nodes) {
      if (is_a(x, Op::scan)) scans.push_back(x);
      if (is_a(x, Op::item) && is_a(operand_of(x, 0), Op::scan))
        items[&graph::node_of(operand_of(x, 0))].push_back(x);
    }
    for (const Tensor& scan : scans) rewrite(scan, items[&graph::node_of(scan)], nodes);
    return from_.empty() ? roots_ : graph::substitute_throughout(roots_, from_, to_);
  }

 private:
  static int number_of(const Tensor& item) { return graph::node_of(item).as<graph::Which>().number; }

  // The last row of stacked states is the last state.
  void take_last_rows() {
    Tensors from, to;
    for (const Tensor& x : graph::reachable(roots_, true)) {
      const std::optional<int64_t> row = single_row(x);
      if (!row) continue;
      const auto [item, at] = part_at(operand_of(x, 0), *row);
      if (!is_a(item, Op::item) || !is_a(operand_of(item, 0), Op::scan)) continue;
      const Tensor scan = operand_of(item, 0);
      const graph::ControlAttributes& about = graph::about(scan);
      if (number_of(item) < about.carries || at != (about.reverse ? 0 : about.length - 1)) continue;
      const Tensors results = interned(about.functions[0]->results);
      const Tensor output = past_reshapes(results[static_cast<size_t>(number_of(item))]);
      for (int i = 0; i < about.carries; ++i) {
        const Tensor& next = results[static_cast<size_t>(i)];
        if (!is_same(past_reshapes(next), output)) continue;
        from.push_back(x);
        to.push_back(reshape(graph::make_node(Op::item, next.dtype(), next.shape(), {scan}, graph::Which{i}),
                             x.shape()));
        break;
      }
    }
    if (!from.empty()) roots_ = graph::substitute_throughout(roots_, from, to);
  }

  void rewrite(const Tensor& scan, const Tensors& items, const Tensors& nodes) {
    std::set<int> used;
    for (const Tensor& item : items) used.insert(number_of(item));
    if (items.empty()) return;
    const ScaledScan scaled(scan, used);
    if (!scaled.is_scaled()) return;
    Tensors slow, quick;  // what reads the states
    for (const Tensor& x : nodes) {
      const std::optional<LogSum> sum = log_sum(x);
      if (!sum || !is_state_of(scan, past_reshapes(sum->exponents), scaled)) continue;
      if (!is_same(sum->exponents, past_reshapes(sum->exponents)) || !scaled.is_summed_by(*sum)) continue;
      std::erase_if(slow, [&](const Tensor& other) {
        const std::optional<LogSum> inner = log_sum(other);
        return inner && is_same(inner->exponents, sum->exponents);
      });
      slow.push_back(x);
    }
    for (const Tensor& x : slow) quick.push_back(reshape(scaled.last_sum(), x.shape()));
    const bool reads_all = reads_states(scan, slow, scaled);
    if (reads_all)
      for (const Tensor& item : items) {
        if (!scaled.is_state(number_of(item))) continue;
        slow.push_back(item);
        quick.push_back(scaled.last(static_cast<size_t>(number_of(item))));
      }
    for (const Tensor& item : items) {
      if (scaled.is_state(number_of(item))) continue;
      from_.push_back(item);
      to_.push_back(scaled.other(number_of(item)));
    }
    const Tensor lost = scaled.is_lost(reads_all, inputs_);
    const auto as_written = [&](const Tensors&) { return under_new_names(slow, inputs_); };
    const auto nothing = [&](const Tensors&) -> Tensors {
      Tensors none;
      for (const Tensor& x : slow) none.push_back(zeros(x.shape(), DType::f64));
      return none;
    };
    const Tensors again = cond(lost, as_written, nothing, {});
    for (size_t i = 0; i < slow.size(); ++i) {
      from_.push_back(slow[i]);
      to_.push_back(select(broadcast_to(lost, slow[i].shape()), again[i], quick[i]));
    }
  }

  static bool is_state_of(const Tensor& scan, const Tensor& x, const ScaledScan& scaled) {
    return is_a(x, Op::item) && is_same(operand_of(x, 0), scan) && scaled.is_state(number_of(x));
  }

  // Whether states are read beside by those that take their place.
  bool reads_states(const Tensor& scan, const Tensors& replaced, const ScaledScan& scaled) const {
    const auto is_replaced = [&](const Tensor& x) {
      return std::any_of(replaced.begin(), replaced.end(),
                         [&](const Tensor& other) { return is_same(other, x); });
    };
    for (const Tensor& x : graph::reachable(roots_, true, is_replaced))
      if (!is_replaced(x) && is_state_of(scan, x, scaled)) return true;
    return false;
  }

  Tensors roots_, inputs_;
  Tensors from_, to_;
};

}  // namespace

std::vector<Tensor> scaled_states(std::span<const Tensor> roots, std::span<const Tensor> inputs) {
  return Rewriting(roots, inputs).result();
}

}  // namespace adit::lower
