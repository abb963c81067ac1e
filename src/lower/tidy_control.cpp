#include "lower/tidy_control.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/control.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"
#include "lower/reduction.hpp"
#include "lower/simplify.hpp"

namespace adit::lower {

using graph::ControlAttributes;
using graph::Node;
using graph::Op;
using graph::Subgraph;

namespace {

using Flags = std::vector<bool>;

bool is_control(const Tensor& x) {
  const Node& node = graph::node_of(x);
  return graph::row_of(node.op).kind == graph::Kind::control && node.op != Op::item && !node.computed;
}

template <class T>
std::vector<T> chosen(const std::vector<T>& list, const Flags& flags) {
  std::vector<T> found;
  for (size_t i = 0; i < list.size(); ++i)
    if (flags[i]) found.push_back(list[i]);
  return found;
}

// Which parameters some results of a function depend on.
Flags reached(const Subgraph& function, const Flags& results) {
  std::unordered_set<const Node*> found;
  for (const Tensor& x : graph::reachable(chosen(function.results, results), true))
    found.insert(&graph::node_of(x));
  Flags flags;
  for (const Tensor& x : function.parameters) flags.push_back(found.contains(&graph::node_of(x)));
  return flags;
}

// What of a control node is needed: its operands, and the results of its functions.
struct Need {
  Flags operands;
  std::vector<Flags> results;  // of each function
  bool all() const {
    const auto full = [](const Flags& flags) {
      return std::all_of(flags.begin(), flags.end(), std::identity());
    };
    return full(operands) && std::all_of(results.begin(), results.end(), full);
  }
};

// Parameters of a function are the node's operands from `first` on.
void mark(Flags& operands, size_t first, const Flags& parameters) {
  for (size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i]) operands[first + i] = true;
}

// What is carried is needed where a later round needs it.
Need need_of(const Node& node, const ControlAttributes& about, const Flags& used) {
  const auto n = static_cast<size_t>(about.carries), m = static_cast<size_t>(about.sequences);
  Need need{Flags(node.operands.size(), false), {}};
  for (const auto& function : about.functions) need.results.emplace_back(function->results.size(), false);
  const auto settle = [&](const auto& round) {
    for (Flags before; before != need.operands;) {
      before = need.operands;
      round();
    }
  };
  switch (node.op) {
    case Op::cond:
      need.operands[0] = true;
      for (size_t f = 0; f < 2; ++f) {
        need.results[f] = used;
        mark(need.operands, 1, reached(*about.functions[f], used));
      }
      break;
    case Op::scan:
      need.results[0] = used;
      settle([&] {
        for (size_t i = 0; i < n; ++i) need.results[0][i] = need.results[0][i] || need.operands[i];
        mark(need.operands, 0, reached(*about.functions[0], need.results[0]));
      });
      for (size_t i = 0; i < n; ++i) need.operands[i] = need.results[0][i];
      break;
    default: {  // while_loop, while_vjp: parameters are (state, captured); backward's (state, carry,
                // captured)
      const bool is_back = node.op == Op::while_vjp;
      const size_t carries = is_back ? m : 0;
      const auto mark_round = [&](size_t f) {
        Flags parameters = reached(*about.functions[f], need.results[f]);
        parameters.insert(parameters.begin() + static_cast<int64_t>(n), carries, false);
        mark(need.operands, 0, parameters);
      };
      need.results[0] = {true};
      if (!is_back)
        for (size_t i = 0; i < n; ++i) need.operands[i] = used[i];
      settle([&] {
        if (is_back) {
          for (size_t i = 0; i < m; ++i) need.results[2][i] = used[i] || need.operands[n + i];
          mark(need.operands, 0, reached(*about.functions[2], need.results[2]));
          for (size_t i = 0; i < m; ++i) need.operands[n + i] = need.operands[n + i] || used[i];
        }
        mark_round(0);
        for (size_t i = 0; i < n; ++i) need.results[1][i] = need.operands[i];
        mark_round(1);
      });
    }
  }
  return need;
}

// Operands that the parameters of a function stand for.
Flags parameters_of(const Node& node, const ControlAttributes& about, size_t function,
                    const Flags& operands) {
  Flags flags = operands;
  if (node.op == Op::cond) flags.erase(flags.begin());
  if (node.op == Op::while_vjp && function < 2)
    flags.erase(flags.begin() + about.carries, flags.begin() + about.carries + about.sequences);
  return flags;
}

int count_of(const Flags& flags, int first, int count) {
  return static_cast<int>(std::count(flags.begin() + first, flags.begin() + first + count, true));
}

// The node with what is needed alone, and its results in place of the old ones (empty: nobody needs it).
Tensors rebuilt(const Node& node, const ControlAttributes& about, const Need& need, const Flags& results) {
  auto changed = std::make_shared<ControlAttributes>(about);
  for (size_t f = 0; f < about.functions.size(); ++f) {
    auto function = std::make_shared<Subgraph>();
    function->parameters =
        chosen(about.functions[f]->parameters, parameters_of(node, about, f, need.operands));
    function->results = chosen(about.functions[f]->results, need.results[f]);
    changed->functions[f] = std::move(function);
  }
  if (node.op != Op::cond) {
    changed->carries = count_of(need.operands, 0, about.carries);
    changed->sequences = count_of(need.operands, about.carries, about.sequences);
  }
  changed->types = chosen(about.types, results);
  changed->shapes = chosen(about.shapes, results);
  const std::shared_ptr<const ControlAttributes> shared = std::move(changed);
  const Tensor fresh = graph::make_node(node.op, shared->types[0], shared->shapes[0],
                                        chosen(node.operands, need.operands), shared);
  Tensors items(results.size());
  int next = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]) continue;
    items[i] = graph::make_node(Op::item, about.types[i], about.shapes[i], {fresh}, graph::Which{next});
    ++next;
  }
  return items;
}

// Carries that every round hands on as they are: their results are the initial values, and functions capture
// those.
Tensors with_captured_carries(const Node& node, const ControlAttributes& about) {
  if (node.op != Op::scan) return {};
  const auto n = static_cast<size_t>(about.carries);
  const Subgraph& step = *about.functions[0];
  Flags moves(n);
  for (size_t i = 0; i < n; ++i)
    moves[i] = &graph::node_of(step.results[i]) != &graph::node_of(step.parameters[i]);
  if (std::all_of(moves.begin(), moves.end(), std::identity())) return {};
  if (std::none_of(moves.begin(), moves.end(), std::identity()) && step.results.size() == n)
    return graph::part(node.operands, 0, n);
  auto changed = std::make_shared<ControlAttributes>(about);
  auto function = std::make_shared<Subgraph>();
  Tensors operands;
  changed->types.clear();
  changed->shapes.clear();
  for (const bool first : {true, false}) {  // those that move come first, the others last
    for (size_t i = 0; i < n; ++i)
      if (moves[i] == first) {
        operands.push_back(node.operands[i]);
        function->parameters.push_back(step.parameters[i]);
      }
    for (size_t i = n; first && i < node.operands.size(); ++i) {
      operands.push_back(node.operands[i]);
      function->parameters.push_back(step.parameters[i]);
    }
  }
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (i < n && !moves[i]) continue;
    function->results.push_back(step.results[i]);
    changed->types.push_back(about.types[i]);
    changed->shapes.push_back(about.shapes[i]);
  }
  changed->carries = count_of(moves, 0, about.carries);
  changed->functions[0] = std::move(function);
  const std::shared_ptr<const ControlAttributes> shared = std::move(changed);
  const Tensor fresh =
      graph::make_node(node.op, shared->types[0], shared->shapes[0], std::move(operands), shared);
  Tensors items;
  int next = 0;
  for (size_t i = 0; i < step.results.size(); ++i) {
    if (i < n && !moves[i]) {
      items.push_back(node.operands[i]);
      continue;
    }
    items.push_back(graph::make_node(Op::item, about.types[i], about.shapes[i], {fresh}, graph::Which{next}));
    ++next;
  }
  return items;
}

// The next value of a carry as a chain of updates of it: carry + what is added at places need not make a
// tensor of zeros. None where it is something else.
class Chain {
 public:
  explicit Chain(const Tensor& carry) : carry_(&graph::node_of(carry)) {}

  Tensor of(const Tensor& x) {  // NOLINT(misc-no-recursion): as deep as a chain is long
    const Node& node = graph::node_of(x);
    if (&node == carry_) return x;
    if (node.computed || ++visited_ > most) return {};
    if (node.op == Op::add) return sum(x);
    if (node.op != Op::reshape && node.op != Op::indexed_add && node.op != Op::indexed_put) return {};
    const Tensor before = of(node.operands[0]);
    if (!before || &graph::node_of(before) == &graph::node_of(node.operands[0])) return before ? x : Tensor();
    Tensors operands = node.operands;
    operands[0] = before;
    return graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes);
  }

 private:
  static constexpr int most = 4096;  // of sums that are read twice there are many

  // Of the terms one is made of the carry, the others are updates of zeros.
  Tensor sum(const Tensor& x) {  // NOLINT(misc-no-recursion)
    Tensor total;
    std::vector<Tensor> open{x}, updates;
    while (!open.empty()) {
      const Tensor term = open.back();
      const Node& node = graph::node_of(term);
      open.pop_back();
      if (node.op == Op::add && !node.computed) {
        open.push_back(node.operands[1]);
        open.push_back(node.operands[0]);
      } else if (is_zero(term)) {
        continue;
      } else if (is_update_of_zeros(term)) {
        updates.push_back(term);
      } else if (total) {
        return {};
      } else if (total = of(term); !total) {
        return {};
      }
      if (++visited_ > most) return {};
    }
    for (const Tensor& update : updates) total = total ? with(update, total) : Tensor();
    return total;
  }
  static const Node& without_reshapes(const Tensor& x) {
    const Node* node = &graph::node_of(x);
    while (node->op == Op::reshape && !node->computed) node = &graph::node_of(node->operands[0]);
    return *node;
  }
  static bool is_zero(const Tensor& x) {
    const graph::Literal* literal = graph::constant_value(x);
    return literal && literal->real == 0 && is_float(x.dtype());
  }
  static bool is_update_of_zeros(const Tensor& x) {
    const Node& node = without_reshapes(x);
    return node.op == Op::indexed_add && !node.computed && starts_from_zero(node);
  }
  static Tensor with(const Tensor& update, const Tensor& total) {
    const Node& node = without_reshapes(update);
    const Tensor sum =
        graph::make_node(Op::indexed_add, node.type, node.shape,
                         {reshape(total, node.shape), node.operands[1], node.operands[2]}, node.attributes);
    return reshape(sum, total.shape());
  }

  const Node* carry_;
  int visited_ = 0;
};

// Results of a function with such chains in place of sums, also of those that are read on the way.
Tensors with_chains(const Tensors& results, const Tensors& carries) {
  if (carries.empty()) return results;
  std::unordered_map<const Node*, Tensor> now;
  const auto chain_of = [&](const Tensor& x) -> Tensor {
    if (graph::node_of(x).op != Op::add || x.rank() == 0) return {};
    for (const Tensor& carry : carries)
      if (carry.size() == x.size() && carry.dtype() == x.dtype())
        if (const Tensor chain = Chain(carry).of(x)) return chain;
    return {};
  };
  for (const Tensor& x : graph::reachable(results, false)) {
    const Node& node = graph::node_of(x);
    Tensors operands = node.operands;
    bool is_changed = false;
    for (Tensor& operand : operands) {
      if (node.computed) break;
      const Tensor& other = now.at(&graph::node_of(operand));
      is_changed = is_changed || &graph::node_of(other) != &graph::node_of(operand);
      operand = other;
    }
    const Tensor again =
        is_changed ? graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes)
                   : x;
    const Tensor chain = chain_of(again);
    now[&node] = chain ? chain : again;
  }
  Tensors found;
  for (const Tensor& result : results) found.push_back(now.at(&graph::node_of(result)));
  return found;
}

// Parameters of a function whose next values are its first results: the first, and how many.
std::pair<size_t, size_t> carries_of(const Node& node, const ControlAttributes& about, size_t function) {
  const auto states = static_cast<size_t>(about.carries), others = static_cast<size_t>(about.sequences);
  if (node.op == Op::scan) return {0, states};
  if (node.op == Op::cond || function == 0) return {0, 0};
  return function == 1 ? std::pair{size_t{0}, states} : std::pair{states, others};
}

// Functions of a control node, tidied inside; null where they are tidy already.
std::shared_ptr<const ControlAttributes> with_tidy_functions(const Node& node) {
  const auto& about = *node.as<std::shared_ptr<const ControlAttributes>>();
  auto changed = std::make_shared<ControlAttributes>(about);
  for (size_t which = 0; which < about.functions.size(); ++which) {
    auto tidied = std::make_shared<Subgraph>(*about.functions[which]);
    tidied->results = simplify(tidy_control(tidied->results));
    const auto [first, count] = carries_of(node, about, which);
    tidied->results = with_chains(tidied->results, graph::part(tidied->parameters, first, count));
    changed->functions[which] = std::move(tidied);
  }
  return changed;
}

// Replaces the results of one control node by other tensors.
std::vector<Tensor> replace(std::span<const Tensor> roots, const Tensor& control, const Tensors& results) {
  Tensors from, to;
  for (const Tensor& x : graph::reachable(roots, false)) {
    const Node& node = graph::node_of(x);
    if (node.op != Op::item || &graph::node_of(node.operands[0]) != &graph::node_of(control)) continue;
    from.push_back(x);
    to.push_back(results[static_cast<size_t>(node.as<graph::Which>().number)]);
  }
  return graph::substitute(roots, from, to);
}

// What stands in place of a control node's results, made of its operands as they are; none where nobody needs
// one.
Tensors tidied(const Tensor& control, const Flags& used) {
  const Node& node = graph::node_of(control);
  const auto about = with_tidy_functions(node);
  const Tensor again = graph::make_node(node.op, node.type, node.shape, node.operands, about);
  Tensors results = with_captured_carries(graph::node_of(again), *about);
  if (results.empty()) {
    const Need need = need_of(node, *about, used);
    // Results that are made but that nobody reads: carries that others need.
    Flags made = used;
    for (size_t i = 0; i < made.size(); ++i) {
      if (node.op == Op::scan) made[i] = need.results[0][i];
      if (node.op == Op::while_loop) made[i] = need.results[1][i];
      if (node.op == Op::while_vjp) made[i] = need.results[2][i];
    }
    return rebuilt(graph::node_of(again), *about, need, made);
  }
  // A smaller loop, which may have become smaller still.
  Tensor smaller;
  Flags used_there;
  const auto is_new = [&](const Tensor& x) {
    const Node& of = graph::node_of(x);
    return of.op == Op::item && of.number > graph::node_of(again).number;
  };
  for (size_t i = 0; i < results.size(); ++i) {
    if (!is_new(results[i])) continue;
    if (!smaller) {
      smaller = graph::node_of(results[i]).operands[0];
      used_there.assign(graph::about(smaller).types.size(), false);
    }
    if (used[i]) used_there[static_cast<size_t>(graph::node_of(results[i]).as<graph::Which>().number)] = true;
  }
  const bool is_needed = std::any_of(used_there.begin(), used_there.end(), std::identity());
  const Tensors inner = is_needed ? tidied(smaller, used_there) : Tensors(used_there.size());
  for (Tensor& result : results)
    if (is_new(result)) result = inner[static_cast<size_t>(graph::node_of(result).as<graph::Which>().number)];
  return results;
}

// All control nodes of a graph in one walk from the newest to the oldest (who reads may need less then), and
// one back that puts the graph together again.
class Tidier {
 public:
  explicit Tidier(std::span<const Tensor> roots) : roots_(roots), nodes_(graph::reachable(roots, false)) {
    for (const Tensor& root : roots) live_.insert(&graph::node_of(root));
    for (auto x = nodes_.rbegin(); x != nodes_.rend(); ++x)
      if (live_.contains(&graph::node_of(*x))) look_at(*x);
  }

  std::vector<Tensor> result() {
    if (results_.empty()) return {roots_.begin(), roots_.end()};
    for (const Tensor& x : nodes_)
      if (live_.contains(&graph::node_of(x)) && !is_control(x)) now_[&graph::node_of(x)] = fresh(x);
    std::vector<Tensor> found;
    for (const Tensor& root : roots_) found.push_back(now_.at(&graph::node_of(root)));
    return found;
  }

 private:
  static bool is_result(const Node& node) {
    return node.op == Op::item && !node.computed && is_control(node.operands[0]);
  }

  void look_at(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.computed) return;
    if (!is_control(x)) {
      if (is_result(node)) {
        Flags& used = used_[&graph::node_of(node.operands[0])];
        used.resize(graph::about(node.operands[0]).types.size(), false);
        used[static_cast<size_t>(node.as<graph::Which>().number)] = true;
      }
      for (const Tensor& operand : node.operands) live_.insert(&graph::node_of(operand));
      return;
    }
    const Flags& used = used_.at(&node);
    const Tensors& results = results_[&node] = tidied(x, used);
    for (size_t i = 0; i < results.size(); ++i) {
      if (!used[i]) continue;
      const Node& of = graph::node_of(results[i]);
      if (!is_new_item(node, of)) {
        live_.insert(&of);
        continue;
      }
      for (const Tensor& operand : graph::node_of(of.operands[0]).operands)
        live_.insert(&graph::node_of(operand));
    }
  }

  // Whether a result of a control node is one of the node that was made in its place.
  static bool is_new_item(const Node& control, const Node& result) {
    return result.op == Op::item && result.number > control.number;
  }

  Tensor with_fresh_operands(const Tensor& x) {
    const Node& node = graph::node_of(x);
    bool changed = false;
    std::vector<Tensor> operands;
    for (const Tensor& operand : node.operands) {
      operands.push_back(now_.at(&graph::node_of(operand)));
      changed = changed || graph::pointer_of(operands.back()) != graph::pointer_of(operand);
    }
    return changed ? graph::make_node(node.op, node.type, node.shape, std::move(operands), node.attributes)
                   : x;
  }

  Tensor fresh(const Tensor& x) {
    const Node& node = graph::node_of(x);
    if (node.computed) return x;
    if (!is_result(node)) return with_fresh_operands(x);
    const Node& control = graph::node_of(node.operands[0]);
    const Tensor& result = results_.at(&control)[static_cast<size_t>(node.as<graph::Which>().number)];
    const Node& of = graph::node_of(result);
    if (!is_new_item(control, of)) return now_.at(&of);
    const Node* made = &graph::node_of(of.operands[0]);
    if (!now_.contains(made)) now_[made] = with_fresh_operands(of.operands[0]);
    return graph::make_node(Op::item, of.type, of.shape, {now_.at(made)}, of.attributes);
  }

  std::span<const Tensor> roots_;
  std::vector<Tensor> nodes_;  // operands before who reads them
  std::unordered_set<const Node*> live_;
  std::unordered_map<const Node*, Flags> used_;       // results of control nodes
  std::unordered_map<const Node*, Tensors> results_;  // what stands in their place
  std::unordered_map<const Node*, Tensor> now_;
};

bool has_control(const Subgraph& function) {
  const std::vector<Tensor> nodes = graph::reachable(function.results, false);
  return std::any_of(nodes.begin(), nodes.end(), is_control);
}

}  // namespace

std::vector<Tensor> tidy_control(std::span<const Tensor> roots) { return Tidier(roots).result(); }

std::vector<Tensor> spread_maps(std::span<const Tensor> roots) {
  std::vector<Tensor> now(roots.begin(), roots.end());
  for (bool changed = true; changed;) {
    changed = false;
    for (const Tensor& x : graph::reachable(now, false)) {
      if (!is_control(x) || graph::node_of(x).op != Op::scan) continue;
      const ControlAttributes& about = graph::about(x);
      const Subgraph& step = *about.functions[0];
      if (about.carries > 0 || has_control(step)) continue;
      graph::Lanes lanes;
      for (size_t i = 0; i < graph::node_of(x).operands.size(); ++i)
        lanes.push_back({graph::node_of(x).operands[i], i < static_cast<size_t>(about.sequences)});
      Tensors results;
      for (const graph::Lane& lane : graph::batch_graph(step.results, step.parameters, lanes, about.length))
        results.push_back(graph::with_batch(lane, about.length));
      now = replace(now, x, results);
      changed = true;
      break;
    }
  }
  return now;
}

}  // namespace adit::lower
