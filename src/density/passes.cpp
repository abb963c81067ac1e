// Passes of a density: loops over observations and other long axes.
#include <algorithm>
#include <numbers>

#include <adit/kernel/math.hpp>

#include "density/factor.hpp"
#include "density/writer.hpp"
#include "graph/op.hpp"
#include "kernel/fold.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"

namespace adit::sampling {

using graph::Op;

void DensityWriter::prepare(const Pass& pass) {
  std::vector<const Node*> results;
  for (const Item& item : pass.items)
    if (item.kind != ItemKind::output || !(totals_.contains(item.node) || is_stored(*item.node)))
      results.push_back(item.node);
  read_before(results);
}

// What is the same in all steps of a loop that computes these is computed before it: inside, it would be once
// more for each loop that reads it, and loops that lie in each other double that every time.
void DensityWriter::read_before(std::span<const Node* const> results) {
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> open;
  const auto follow = [&](const Node& node) {
    for (const Tensor& operand : node.operands)
      if (seen.insert(&graph::node_of(operand)).second) open.push_back(&graph::node_of(operand));
  };
  for (const Node* result : results) follow(*result);
  while (!open.empty()) {
    const Node& node = *open.back();
    open.pop_back();
    const int64_t count = element_count(node.shape);
    const bool in_memory = leaves_.contains(&node) || is_stored(node);
    if (count <= (in_memory ? 1 : schedule_.written) && node.op != Op::iota && node.op != Op::constant &&
        node.op != Op::broadcast) {
      for (int64_t i = 0; i < count; ++i) read(node, place(node.shape, chain_.index(i)));
      continue;
    }
    if (!in_memory && !totals_.contains(&node) && !sorted_.contains(&node)) follow(node);
  }
}

void DensityWriter::write_pass(const Pass& pass) {
  Builder& k = builder();
  if (pass.items[0].kind == ItemKind::factor) return write_factor(*pass.items[0].node);
  if (pass.items[0].kind == ItemKind::place) return write_places(*pass.items[0].node);
  // Updates that were put side by side are not computed again.
  if (pass.items[0].kind != ItemKind::segments || !sorted_.contains(pass.items[0].node)) prepare(pass);
  if (pass.items[0].kind == ItemKind::segments) return write_segments(*pass.items[0].node);
  if (pass.items[0].kind == ItemKind::control) return write_control(*pass.items[0].node);
  for (const Item& item : pass.items) {
    const int64_t count = element_count(item.node->shape);
    if (item.kind == ItemKind::scatter) {
      const Vector target = memory_at(stored_.at(item.node));
      k.for_(chain_.index(count), [&](Value i) { target.set(i, chain_.number(0)); });
    } else if (item.kind == ItemKind::own_sums) {
      const Vector target = memory_at(sorted_.at(item.node));
      k.each(chain_.index(count * schedule_.team.lanes), [&](Value i) { target.set(i, chain_.number(0)); });
    }
  }
  const std::vector<Total> totals = totals_of(pass);
  if (pass.totals_a_loop == 0) return write_loop(pass, totals);
  // Loops of about the same number.
  const int64_t count = std::ssize(totals), loops = loops_of(count, pass.totals_a_loop);
  for (int64_t loop = 0; loop < loops; ++loop)
    write_loop(pass, {totals.begin() + loop * count / loops, totals.begin() + (loop + 1) * count / loops});
}

std::vector<DensityWriter::Total> DensityWriter::totals_of(const Pass& pass) {
  std::vector<Total> totals;
  for (const Item& item : pass.items)
    if (item.kind == ItemKind::totals)
      for (int64_t j = 0; j < element_count(item.node->shape); ++j) totals.push_back({item.node, j});
  return totals;
}

void DensityWriter::write_loop(const Pass& pass, const std::vector<Total>& totals) {
  Builder& k = builder();
  Loop loop = loop_of(pass, totals);
  std::vector<Value> results;
  if (share_ && &pass == &schedule_.passes[static_cast<size_t>(schedule_.spread_pass)])
    return finish(loop, totals, shared_totals(pass, loop));
  Value count = pass.limit ? limit_of(pass) : chain_.index(pass.count);
  if (const int64_t steps = steps_together(pass); steps > 1) {
    const int64_t lanes = schedule_.team.lanes;
    loop = together(k, loop, pass.count, steps, lanes);
    count = chain_.index((pass.count + steps * lanes - 1) / (steps * lanes) * lanes);
  }
  if (const int64_t length = row_length(pass); length > 0) {
    results = pass.is_lower ? write_lower(length, loop) : write_rows(pass.count / length, length, loop);
  } else if (loop.most_steps > 0 && pass.count > loop.most_steps) {
    results = write_blocks(pass.count, loop);
  } else if (loop.reductions.empty()) {
    if (chain_.by_team())
      k.each(count, loop.body);
    else
      k.for_(count, loop.body);
  } else {
    results = chain_.by_team() ? k.reduce(count, loop.reductions, loop.body)
                               : lower::loop_totals(k, count, loop.reductions, loop.types, loop.body);
  }
  finish(loop, totals, results);
}

// How many rows a pass goes over, as data tell.
Value DensityWriter::limit_of(const Pass& pass) {
  const Value limit = segment(Segment::Kind::values, *pass.limit, nullptr, 1, chain_.index(0));
  return convert(limit, chain_.index(0).type());
}

// A team's share of the totals of many rows; or, for who does the rest, all of them.
std::vector<Value> DensityWriter::shared_totals(const Pass& pass, const Loop& loop) {
  Builder& k = builder();
  const int64_t teams = share_->teams, rows = (pass.count + teams - 1) / teams;
  std::vector<Vector> shares;  // of all teams
  int64_t end = 0;
  for (const Type type : loop.types) {
    const Vector here(share_->shares, share_->base + chain_.index(end));
    const bool wide = type != chain_.real();
    shares.push_back(wide ? here.wide(teams) : here);
    end += wide ? 2 * teams : teams;
  }
  if (share_->team.type() == Type::none)
    return k.reduce(chain_.index(teams), loop.reductions, [&](Value team) {
      std::vector<Value> parts;
      for (size_t t = 0; t < loop.types.size(); ++t) parts.push_back(shares[t].get(team));
      return parts;
    });
  const Value first = share_->team * rows;
  const std::vector<Value> results = k.reduce(chain_.index(rows), loop.reductions, [&](Value i) {
    const Value row = first + i, exists = row < row.like(pass.count);
    std::vector<std::function<void()>> stores;  // none
    std::vector<Value> parts = loop.parts(min(row, row.like(std::max<int64_t>(pass.count, 1) - 1)), stores);
    for (size_t t = 0; t < parts.size(); ++t)
      parts[t] =
          select(exists, parts[t],
                 k.constant_bits(loop.types[t], kernel::identity_of(loop.reductions[t], loop.types[t])));
    return parts;
  });
  k.once([&] {
    for (size_t t = 0; t < results.size(); ++t) shares[t].set(share_->team, results[t]);
  });
  return results;
}

int64_t DensityWriter::shares_of_a_team() const {
  int64_t count = 0;
  for (const Item& item : schedule_.passes[static_cast<size_t>(schedule_.spread_pass)].items)
    count += element_count(item.node->shape) * std::ssize(lower::total_reductions(*item.node)) *
             (is_wide(*item.node) ? 2 : 1);
  return count;
}

void DensityWriter::write_share(const Vector& q, const Vector& scratch, const RowShare& share) {
  q_ = q;
  scratch_ = scratch;
  share_ = share;
  forget();
  enter(schedule_, 0, std::vector<Vector>(density_.variables.size() + 1));
}

Value DensityWriter::write_rest(const Vector& q, const Vector& g, const Vector& scratch,
                                const RowShare& share) {
  share_ = share;
  return write(q, g, scratch);
}

// What a pass does in one step, and how the steps' numbers become totals.
DensityWriter::Loop DensityWriter::loop_of(const Pass& pass, const std::vector<Total>& totals) {
  Loop loop;
  find_logs(pass, totals, loop);
  for (size_t t = 0; t < totals.size(); ++t) {
    const auto of_one = lower::total_reductions(*totals[t].node);
    loop.reductions.insert(loop.reductions.end(), of_one.begin(), of_one.end());
    const auto kinds = lower::total_types(*totals[t].node);
    loop.types.insert(loop.types.end(), kinds.begin(), kinds.end());
    for (const auto& terms : loop.logs[t].terms) {
      if (terms.empty()) continue;
      loop.products.push_back(loop.types.size());
      loop.reductions.push_back(kernel::Reduction::mul);
      loop.types.push_back(Type::f64);
    }
  }
  loop.parts = [this, &pass, &totals, logs = loop.logs](Value i, std::vector<std::function<void()>>& stores) {
    const Scope scope(*this);
    begin_factors(logs);
    step_ = i;
    step_count_ = pass.count;
    std::vector<Value> parts;
    size_t t = 0;
    for (const Item& item : pass.items) {
      if (item.kind != ItemKind::totals) stores.push_back(element_store(item, i));
      for (; t < totals.size() && totals[t].node == item.node; ++t) {
        for (const Value part : contributions(totals[t], i)) parts.push_back(part);
        for (const Value part : products_of(logs[t])) parts.push_back(part);
      }
    }
    step_ = Value();
    begin_factors({});
    return parts;
  };
  loop.body = [parts = loop.parts](Value i) {
    std::vector<std::function<void()>> stores;
    std::vector<Value> result = parts(i, stores);
    for (const auto& store : stores) store();
    return result;
  };
  return loop;
}

// Steps that a lane of a GPU takes at once: it waits for memory, and for one operation after the other, and
// several steps wait together. What is long anyway is not made longer.
int64_t DensityWriter::steps_together(const Pass& pass) const {
  const int64_t lanes = schedule_.team.lanes;
  if (!chain_.by_team() || schedule_.on_cpu || lanes == 0 || pass.limit) return 1;
  int64_t steps = pass.cost <= 64 ? 4 : pass.cost <= 160 ? 2 : 1;
  while (steps > 1 && pass.count < 2 * steps * lanes) steps /= 2;
  return steps;
}

// `steps` steps of a lane at once, a team apart as those of a team's loop are; what they store comes after
// what they read. Of the last ones some do not exist.
DensityWriter::Loop DensityWriter::together(Builder& k, const Loop& loop, int64_t count, int64_t steps,
                                            int64_t lanes) {
  Loop joined = loop;
  const bool all_exist = count % (steps * lanes) == 0;
  joined.body = [=, &k, parts_of = loop.parts](Value i) {
    std::vector<std::function<void()>> stores;
    std::vector<Value> totals;
    const Value first = i + i / lanes * (lanes * (steps - 1));
    for (int64_t s = 0; s < steps; ++s) {
      const Value step = first + s * lanes, exists = step < step.like(count);
      const size_t before = stores.size();
      const std::vector<Value> parts =
          parts_of(all_exist ? step : min(step, step.like(std::max<int64_t>(count, 1) - 1)), stores);
      for (size_t t = 0; t < parts.size(); ++t) {
        const Value part =
            all_exist ? parts[t]
                      : select(exists, parts[t],
                               k.constant_bits(loop.types[t],
                                               kernel::identity_of(loop.reductions[t], loop.types[t])));
        if (s == 0)
          totals.push_back(part);
        else
          totals[t] = lower::combine(loop.reductions[t], totals[t], part);
      }
      for (size_t j = before; !all_exist && j < stores.size(); ++j)
        stores[j] = [&k, exists, store = stores[j]] { k.if_(exists, store); };
    }
    for (const auto& store : stores) store();
    return totals;
  };
  return joined;
}

// Behind the results of the loop's reductions may stand the exponents of its products.
void DensityWriter::finish(const Loop& loop, const std::vector<Total>& totals,
                           const std::vector<Value>& results) {
  auto next = results.begin();
  auto exponent = results.begin() + std::ssize(loop.types);
  for (size_t t = 0; t < totals.size(); ++t) {
    const Node& node = *totals[t].node;
    const auto width = static_cast<long>(lower::total_reductions(node).size());
    Value total = lower::finished_total(node, {next, next + width});
    next += width;
    for (const int sign : {0, 1}) {
      if (loop.logs[t].terms[sign].empty()) continue;
      Value logarithm = log(*next++);
      if (exponent != results.end()) logarithm = logarithm + *exponent++ * std::numbers::ln2;
      total = sign == 0 ? total + logarithm : total - logarithm;
    }
    totals_[totals[t].node].push_back(total);
  }
  plain_tables_.clear();
}

// The last axis of what a pass computes, where a CPU's lanes count it: they then read side by side, and no
// place is divided into coordinates. 0: they count all of the pass.
int64_t DensityWriter::row_length(const Pass& pass) const {
  if (!chain_.by_team() || !schedule_.on_cpu) return 0;
  for (const Item& item : pass.items) {
    const Shape& shape = item.kind == ItemKind::totals || item.kind == ItemKind::sorted
                             ? item.node->operands[item.kind == ItemKind::totals ? 0 : 2].shape()
                             : item.node->shape;
    if (shape.size() < 2 || element_count(shape) != pass.count) continue;
    const int64_t length = shape[shape.size() - 1];
    if (length >= shortest_row && length < pass.count) return length;
  }
  return 0;
}

std::vector<Value> DensityWriter::write_rows(int64_t rows, int64_t length, const Loop& loop) {
  Builder& k = builder();
  const std::vector<Variable> totals = open_totals(loop);
  k.for_(chain_.index(rows), [&](Value row) {
    add_totals(loop, totals, chain_.index(length),
               [&](Value column) { return loop.body(k.joined(row, length, column)); });
  });
  std::vector<Value> results;
  for (const Variable& total : totals) results.push_back(total.get());
  return results;
}

// The lower triangle of a square matrix. Rows end with whole vectors, where that adds nothing to the totals.
std::vector<Value> DensityWriter::write_lower(int64_t length, const Loop& loop) {
  constexpr int64_t whole = 4;
  Builder& k = builder();
  const std::vector<Variable> totals = open_totals(loop);
  k.for_(chain_.index(length), [&](Value row) {
    const Value count = min((row / whole + 1) * whole, chain_.index(length));
    add_totals(loop, totals, count, [&](Value column) {
      std::vector<Value> parts = loop.body(k.joined(row, length, column));
      for (Value& part : parts) part = select(column <= row, part, part.like(0));
      return parts;
    });
  });
  std::vector<Value> results;
  for (const Variable& total : totals) results.push_back(total.get());
  return results;
}

// Totals of several loops of a team.
std::vector<Variable> DensityWriter::open_totals(const Loop& loop) {
  Builder& k = builder();
  std::vector<Variable> totals;
  for (size_t i = 0; i < loop.types.size(); ++i)
    totals.push_back(
        k.variable(k.constant_bits(loop.types[i], kernel::identity_of(loop.reductions[i], loop.types[i]))));
  for (size_t i = 0; i < loop.products.size(); ++i) totals.push_back(k.variable(k.constant(Type::f64, 0.0)));
  return totals;
}

void DensityWriter::add_totals(const Loop& loop, const std::vector<Variable>& totals, Value count,
                               const std::function<std::vector<Value>(Value)>& body) {
  if (loop.reductions.empty()) return builder().each(count, body);
  const std::vector<Value> parts = builder().reduce(count, loop.reductions, body);
  for (size_t i = 0; i < parts.size(); ++i)
    totals[i] = lower::combine(loop.reductions[i], totals[i].get(), parts[i]);
  normalise(loop, totals);
}

std::vector<Value> DensityWriter::contributions(const Total& total, Value i) {
  const Node& node = *total.node;
  const Value j = chain_.index(total.element);
  if (node.op != Op::indexed_add) return lower::element_contributions(*this, node, place(node.shape, j), i);
  // Few targets: a mask for each.
  const Index update = place(node.operands[2].shape(), i);
  const Value value = read(graph::node_of(node.operands[2]), update).re;
  return {select(target_of(node, update) == j, value, value.like(0))};
}

// Computes an element of an item now; what is handed out stores it.
std::function<void()> DensityWriter::element_store(const Item& item, Value i) {
  const Node& node = *item.node;
  const auto updated = [&] {
    return read(graph::node_of(node.operands[2]), place(node.operands[2].shape(), i)).re;
  };
  const auto to = [](const Vector& memory, Value at, Value value) { return [=] { memory.set(at, value); }; };
  const auto added = [](const Vector& memory, Value at, Value value) {
    return [=] { memory.set(at, memory.get(at) + value); };
  };
  switch (item.kind) {
    case ItemKind::output: {
      if (share_ && share_->team.type() != Type::none) return [] {};  // who does the rest writes results
      const bool is_known = stored_.contains(&node) || totals_.contains(&node) || node.operands.empty();
      const Index at = place(node.shape, i);
      return to(to_[item.result], i, memory_number(is_known ? read(node, at).re : compute(node, at).re));
    }
    case ItemKind::store:
      return to(rows_of(node), i, stored_number(node, compute(node, place(node.shape, i)).re));
    case ItemKind::own_sums: {
      // A team's loop gives a lane the steps of its own number and those that are a team apart.
      const Value target = target_of(node, place(node.operands[2].shape(), i));
      return added(memory_at(sorted_.at(&node)), target * schedule_.team.lanes + i % schedule_.team.lanes,
                   updated());
    }
    case ItemKind::sorted: return to(memory_at(sorted_.at(&node)), sorted_place(node, i), updated());
    case ItemKind::scatter:
      return added(memory_at(stored_.at(&node)), target_of(node, place(node.operands[2].shape(), i)),
                   updated());
    default: return [] {};
  }
}

void DensityWriter::write_factor(const Node& node) {
  const Vector to = memory_of(node);
  const auto operand = [&](size_t which) {
    return [&, which](Value i) {
      const Tensor& x = node.operands[which];
      return read(graph::node_of(x), place(x.shape(), i)).re;
    };
  };
  const Scope outside(*this);
  const InScope scope = [&](const auto& body) {
    const Scope inner(*this);
    body();
  };
  if (node.op == Op::cholesky)
    write_cholesky(chain_, node, operand(0), to, schedule_.on_cpu, scope);
  else if (node.op == Op::cholesky_vjp)
    write_cholesky_vjp(chain_, node, operand(0), operand(1), to, scope);
  else
    write_triangular(chain_, node, operand(0), operand(1), to, schedule_.on_cpu, scope);
}

}  // namespace adit::sampling
