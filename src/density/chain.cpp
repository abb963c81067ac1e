#include "density/chain.hpp"

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

std::vector<Value> Chain::sums(int64_t n, size_t count, const std::function<std::vector<Value>(Value)>& f,
                               const std::function<void(Value)>& after) {
  if (by_team_) {
    const auto totals = k_.reduce(index(n), std::vector(count, kernel::Reduction::add), f);
    if (after) each(n, after);
    return totals;
  }
  std::vector<Value> results;
  if (n <= written_out_) {
    // Odd and even terms apart: half the wait for one addition after the other.
    std::vector<Value> halves[2];
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<Value> parts = f(index(i));
      std::vector<Value>& sums = halves[i % 2];
      if (sums.empty())
        sums = parts;
      else
        for (size_t t = 0; t < count; ++t) sums[t] = sums[t] + parts[t];
      if (after) after(index(i));
    }
    if (n == 0) halves[0].assign(count, number(0));
    for (size_t t = 0; t < count; ++t) results.push_back(n < 2 ? halves[0][t] : halves[0][t] + halves[1][t]);
    return results;
  }
  std::vector<Variable> cells;
  for (size_t t = 0; t < count; ++t) cells.push_back(k_.variable(number(0)));
  k_.for_(index(n), [&](Value i) {
    const std::vector<Value> parts = f(i);
    for (size_t t = 0; t < count; ++t) cells[t] = cells[t].get() + parts[t];
    if (after) after(i);
  });
  for (const Variable& cell : cells) results.push_back(cell.get());
  return results;
}

void Chain::climb(Value first, int64_t end, const std::function<Value(Value)>& goes,
                  const std::function<void(Value)>& f, const std::function<void(Value)>& rest) {
  if (!in_vectors_) {
    const Variable step = k_.variable(first);
    k_.while_([&] { return goes(step.get()); },
              [&] {
                f(step.get());
                step = step.get() + 1;
              });
    return rest(step.get());
  }
  const Variable climbs = k_.variable(k_.constant(Type::boolean, true));
  k_.for_(first, index(end), index(1), [&](Value step) {
    k_.if_(climbs.get(), [&] {
      k_.if_(
          goes(step), [&] { f(step); },
          [&] {
            rest(step);
            climbs = k_.constant(Type::boolean, false);
          });
    });
  });
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

Vector Vector::from(Value offset) const {
  Vector rest = *this;
  rest.base_ = base_ + offset;
  return rest;
}

Vector Vector::wide(int64_t count) const {
  Vector same = *this;
  same.halves_ = count;
  return same;
}

Value Vector::get(Value i) const {
  if (halves_ > 0) {
    const auto half = [&](Value at) { return convert(bitcast(Value(array_[at]), Type::u32), Type::u64); };
    const Value low = half(base_ + i), high = half(base_ + i + i.like(halves_));
    return bitcast((high << high.like(32)) | low, Type::f64);
  }
  if (!in_registers()) return array_[base_ + i];
  const auto place = kernel::constant_bits_of(i);
  if (!place) throw Error(ErrorKind::internal, "[sample] registers: expected a place that is known");
  return cells_.at(*place).get();
}

void Vector::set(Value i, Value value) const {
  if (halves_ > 0) {
    const Value bits = bitcast(value, Type::u64);
    const auto half = [&](Value word) { return bitcast(convert(word, Type::u32), Type::f32); };
    array_[base_ + i] = half(bits);
    array_[base_ + i + i.like(halves_)] = half(bits >> bits.like(32));
    return;
  }
  if (!in_registers()) {
    array_[base_ + i] = value;
    return;
  }
  const auto place = kernel::constant_bits_of(i);
  if (!place) throw Error(ErrorKind::internal, "[sample] registers: expected a place that is known");
  cells_.at(*place) = value;
}

}  // namespace adit::sampling
