#include "graph/trace.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

Slot slot_of(const Tensor& x) { return {x.dtype(), x.shape()}; }

std::vector<Slot> slots_of(const Tensors& list) {
  std::vector<Slot> slots;
  for (const Tensor& x : list) slots.push_back(slot_of(x));
  return slots;
}

std::string describe(const Slot& slot) {
  return fmt::format("{} {}", name_of(slot.type), to_string(slot.shape));
}

void expect_call(std::string_view op, std::string_view name, const Function& f, const Tensors& arguments) {
  if (!f) fail(op, name, "expected a function, got none");
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!arguments[i]) fail(op, fmt::format("argument {}", i), "expected a tensor, got none");
}

Tensors call(std::string_view op, std::string_view name, const Function& f, const Tensors& arguments) {
  expect_call(op, name, f, arguments);
  const Tracing tracing;
  Tensors results = f(arguments);
  for (const Tensor& x : results)
    if (!x) fail(op, name, "expected tensors as results, got an empty one");
  return results;
}

Trace trace(std::string_view op, std::string_view name, const Function& f, const std::vector<Slot>& slots) {
  Trace traced;
  traced.first = number_of_now();
  for (const Slot& slot : slots) traced.parameters.push_back(placeholder(slot.type, slot.shape));
  traced.results = call(op, name, f, traced.parameters);
  return traced;
}

Tensors instantiate(const Subgraph& f, const Tensors& arguments) {
  return substitute(f.results, f.parameters, arguments);
}

namespace {

// The node with other operands, or itself where they are the same.
Tensor with_operands(const Tensor& x, const std::unordered_map<const Node*, Tensor>& now) {
  const Node& node = node_of(x);
  bool changed = false;
  std::vector<Tensor> operands;
  for (const Tensor& operand : node.operands) {
    operands.push_back(now.at(&node_of(operand)));
    changed = changed || pointer_of(operands.back()) != pointer_of(operand);
  }
  return changed ? make_node(node.op, node.type, node.shape, std::move(operands), node.attributes) : x;
}

}  // namespace

// What takes a node's place may be younger than who reads it: the order is by need, not by age.
Tensors substitute_throughout(const Tensors& roots, const Tensors& from, const Tensors& to) {
  const std::lock_guard lock(graph_lock());
  std::unordered_map<const Node*, Tensor> places, now;
  for (size_t i = 0; i < from.size(); ++i) places[&node_of(from[i])] = to[i];
  std::unordered_set<const Node*> waits;
  std::vector<Tensor> open(roots.begin(), roots.end());
  while (!open.empty()) {
    const Tensor x = open.back();
    const auto place = places.find(&node_of(x));
    if (!now.contains(&node_of(x)) && waits.insert(&node_of(x)).second) {
      if (place != places.end())
        open.push_back(place->second);
      else
        for (const Tensor& operand : node_of(x).operands)
          if (!now.contains(&node_of(operand))) open.push_back(operand);
      continue;
    }
    open.pop_back();
    if (!now.contains(&node_of(x)))
      now[&node_of(x)] = place != places.end() ? now.at(&node_of(place->second)) : with_operands(x, now);
  }
  std::vector<Tensor> results;
  for (const Tensor& root : roots) results.push_back(now.at(&node_of(root)));
  return results;
}

bool Dependents::contains(const Tensor& x) const {
  return std::binary_search(sorted.begin(), sorted.end(), &node_of(x));
}

Dependents dependents(const Tensors& results, const Tensors& inputs) {
  std::unordered_set<const Node*> known;
  uint64_t oldest = std::numeric_limits<uint64_t>::max();
  for (const Tensor& x : inputs) {
    known.insert(&node_of(x));
    oldest = std::min(oldest, node_of(x).number);
  }
  Dependents found;
  const std::lock_guard lock(graph_lock());
  // A node that is older than every input cannot depend on one.
  const auto stop = [&](const Tensor& x) {
    return node_of(x).number <= oldest || known.contains(&node_of(x));
  };
  for (const Tensor& x : reachable(results, true, stop)) {
    const Tensors& operands = node_of(x).operands;
    if (known.contains(&node_of(x))) continue;
    const bool depends = std::any_of(operands.begin(), operands.end(),
                                     [&](const Tensor& t) { return known.contains(&node_of(t)); });
    if (!depends) continue;
    known.insert(&node_of(x));
    found.steps.push_back({x, operands});
  }
  found.sorted.assign(known.begin(), known.end());
  std::sort(found.sorted.begin(), found.sorted.end());
  return found;
}

namespace {

// Where a node of a traced function belongs.
enum class Scope : uint8_t { constant, outside, inside };

// Sorts the nodes of the traced functions into what depends on parameters and what does not.
class Sorter {
 public:
  Sorter(const std::vector<Trace>& traces, Invariant invariant) : invariant_(invariant) {
    for (const Trace& t : traces) {
      first_ = std::min(first_, t.first);
      for (const Tensor& x : t.parameters) scopes_[&node_of(x)] = Scope::inside;
    }
  }

  // The outermost nodes that the functions use and that are neither constant nor theirs.
  Tensors captured(const Tensors& results) {
    const std::lock_guard lock(graph_lock());
    Tensors found;
    std::unordered_set<const Node*> seen;
    const auto note = [&](const Tensor& x) {
      if (scopes_.at(&node_of(x)) == Scope::outside && seen.insert(&node_of(x)).second) found.push_back(x);
    };
    const auto old = [&](const Tensor& x) { return node_of(x).number < first_; };
    for (const Tensor& x : reachable(results, false, old)) {
      const Node& node = node_of(x);
      if (!scopes_.contains(&node)) scopes_[&node] = scope_of(x);
      if (scopes_.at(&node) != Scope::inside || node.computed || old(x)) continue;
      for (const Tensor& operand : node.operands) note(operand);
    }
    for (const Tensor& x : results) note(x);
    return found;
  }

 private:
  Scope scope_of(const Tensor& x) const {
    const Node& node = node_of(x);
    if (node.op == Op::constant || node.op == Op::iota || constant_value(x)) return Scope::constant;
    if (node.number < first_ || node.computed || node.operands.empty()) return Scope::outside;
    bool constant = true, outside = true;
    for (const Tensor& operand : node.operands) {
      const Scope scope = scopes_.at(&node_of(operand));
      constant = constant && scope == Scope::constant;
      outside = outside && scope != Scope::inside;
    }
    if (constant) return Scope::constant;
    return outside && invariant_ == Invariant::outside ? Scope::outside : Scope::inside;
  }

  Invariant invariant_;
  uint64_t first_ = std::numeric_limits<uint64_t>::max();
  std::unordered_map<const Node*, Scope> scopes_;
};

// A broadcast is captured as what it broadcasts, and done again inside.
Tensor base_of(const Tensor& x) {
  Tensor base = x;
  while (node_of(base).op == Op::broadcast && !node_of(base).computed)
    base = Tensor(node_of(base).operands[0]);
  return base;
}

Tensor rebuilt(const Tensor& x, const Tensor& base, const Tensor& parameter) {
  Tensors chain;  // the outermost first
  for (Tensor next = x; pointer_of(next) != pointer_of(base); next = Tensor(node_of(next).operands[0]))
    chain.push_back(next);
  Tensor made = parameter;
  for (auto next = chain.rbegin(); next != chain.rend(); ++next)
    made = make_node(Op::broadcast, next->dtype(), next->shape(), {made}, node_of(*next).attributes);
  return made;
}

}  // namespace

void add_own_constants(std::span<const Tensor> roots, Tensors& from, Tensors& to) {
  std::unordered_set<const Node*> known;
  for (const Tensor& x : from) known.insert(&node_of(x));
  for (const Tensor& x :
       reachable(roots, false, [&](const Tensor& t) { return known.contains(&node_of(t)); })) {
    const Node& node = node_of(x);
    if ((node.op != Op::constant && node.op != Op::iota) || known.contains(&node)) continue;
    from.push_back(x);
    to.push_back(make_node(node.op, node.type, node.shape, {}, node.attributes));
  }
}

Closed close(const std::vector<Trace>& traces, Invariant invariant) {
  Tensors roots;
  for (const Trace& t : traces) roots.insert(roots.end(), t.results.begin(), t.results.end());
  const std::lock_guard lock(graph_lock());
  const Tensors used = Sorter(traces, invariant).captured(roots);
  Closed closed;
  std::unordered_map<const Node*, size_t> places;
  std::vector<std::pair<Tensor, size_t>> bases;
  for (const Tensor& x : used) {
    const Tensor base = base_of(x);
    const auto [at, fresh] = places.emplace(&node_of(base), closed.captured.size());
    if (fresh) closed.captured.push_back(base);
    bases.emplace_back(base, at->second);
  }
  for (const Trace& t : traces) {
    auto f = std::make_shared<Subgraph>();
    Tensors parameters, to;
    for (const Tensor& x : closed.captured) parameters.push_back(placeholder(x.dtype(), x.shape()));
    for (size_t i = 0; i < used.size(); ++i)
      to.push_back(rebuilt(used[i], bases[i].first, parameters[bases[i].second]));
    Tensors from = used;
    add_own_constants(t.results, from, to);
    f->results = substitute(t.results, from, to);
    f->parameters = t.parameters;
    f->parameters.insert(f->parameters.end(), parameters.begin(), parameters.end());
    closed.functions.push_back(std::move(f));
  }
  return closed;
}

}  // namespace adit::graph

namespace adit {

void detail::expect_function(const char* op, bool is_there) {
  if (!is_there) graph::fail(op, "f", "expected a function, got none");
}

void detail::check_arguments(const char* op, size_t expected, size_t got) {
  if (got < expected)
    graph::fail(op, fmt::format("argument {}", got),
                fmt::format("expected a tensor, since the function takes {}, got none", expected));
  if (got > expected)
    graph::fail(op, fmt::format("argument {}", expected),
                fmt::format("expected none, since the function takes {}, got {} in all", expected, got));
}

}  // namespace adit
