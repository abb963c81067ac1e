#include "compile/team_loops.hpp"

#include "lower/reduction.hpp"

namespace adit::compile {

using kernel::Builder;
using kernel::Reduction;
using kernel::Type;
using kernel::Value;

namespace {

// Of the piece that begins there.
Value steps_from(Value first, int64_t count, int64_t most) {
  return convert(min(first.like(most), first.like(count) - first), Type::u32);
}

}  // namespace

void team_each(Builder& k, Type index_type, int64_t count, const std::function<void(Value)>& body,
               int64_t most_steps) {
  if (count <= most_steps)
    return k.each(k.constant(Type::u32, count), [&](Value i) { body(convert(i, index_type)); });
  const Value zero = k.constant(index_type, 0);
  k.for_(zero, zero.like(count), zero.like(most_steps), [&](Value first) {
    k.each(steps_from(first, count, most_steps), [&](Value i) { body(first + convert(i, index_type)); });
  });
}

std::vector<Value> team_reduce(Builder& k, Type index_type, int64_t count,
                               const std::vector<Reduction>& reductions, const std::vector<Type>& types,
                               const std::function<std::vector<Value>(Value)>& body, int64_t most_steps) {
  if (count <= most_steps)
    return k.reduce(k.constant(Type::u32, count), reductions,
                    [&](Value i) { return body(convert(i, index_type)); });
  const int64_t pieces = (count + most_steps - 1) / most_steps;
  return lower::loop_totals(k, k.constant(index_type, pieces), reductions, types, [&](Value piece) {
    const Value first = piece * piece.like(most_steps);
    return k.reduce(steps_from(first, count, most_steps), reductions,
                    [&](Value i) { return body(first + convert(i, index_type)); });
  });
}

}  // namespace adit::compile
