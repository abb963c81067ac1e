#include "sample/chain.hpp"

#include <adit/error.hpp>

#include "kernel/fold.hpp"

namespace adit::sampling {

void Chain::each(int64_t n, const std::function<void(Value)>& f) {
  if (lanes_ > 0) {
    k_.for_(k_.lane(), index(n), index(lanes_), f);
  } else if (by_team_) {
    k_.each(index(n), f);
  } else if (n <= written_out_) {
    for (int64_t i = 0; i < n; ++i) f(index(i));
  } else {
    k_.for_(index(n), f);
  }
}

namespace {

// As a tree: the lanes wait for the longest row of dependent operations.
Value tree_sum(std::vector<Value> terms) {
  while (terms.size() > 1) {
    std::vector<Value> next;
    for (size_t i = 0; i + 1 < terms.size(); i += 2) next.push_back(terms[i] + terms[i + 1]);
    if (terms.size() % 2) next.push_back(terms.back());
    terms = std::move(next);
  }
  return terms[0];
}

}  // namespace

std::vector<Value> Chain::sums(int64_t n, size_t count, const std::function<std::vector<Value>(Value)>& f) {
  if (by_team_) return k_.reduce(index(n), std::vector(count, kernel::Reduction::add), f);
  std::vector<Value> results;
  if (n <= written_out_) {
    std::vector<std::vector<Value>> terms(count);
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<Value> parts = f(index(i));
      for (size_t t = 0; t < count; ++t) terms[t].push_back(parts[t]);
    }
    for (auto& list : terms) results.push_back(list.empty() ? number(0) : tree_sum(std::move(list)));
    return results;
  }
  std::vector<Variable> cells;
  for (size_t t = 0; t < count; ++t) cells.push_back(k_.variable(number(0)));
  k_.for_(index(n), [&](Value i) {
    const std::vector<Value> parts = f(i);
    for (size_t t = 0; t < count; ++t) cells[t] = cells[t].get() + parts[t];
  });
  for (const Variable& cell : cells) results.push_back(cell.get());
  return results;
}

void Chain::sync() {
  if (lanes_ > 0) k_.barrier();
}

void Chain::once(const std::function<void()>& f) {
  if (by_team_)
    k_.once(f);
  else
    f();
}

Value Vector::get(Value i) const {
  if (!in_registers()) return array_[base_ + i];
  const auto place = kernel::constant_bits_of(i);
  if (!place) throw Error(ErrorKind::internal, "[sample] registers: expected a place that is known");
  return cells_.at(*place).get();
}

void Vector::set(Value i, Value value) const {
  if (!in_registers()) {
    array_[base_ + i] = value;
    return;
  }
  const auto place = kernel::constant_bits_of(i);
  if (!place) throw Error(ErrorKind::internal, "[sample] registers: expected a place that is known");
  cells_.at(*place) = value;
}

}  // namespace adit::sampling
