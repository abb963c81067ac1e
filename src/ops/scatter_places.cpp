#include "ops/scatter_places.hpp"

#include <fmt/format.h>
#include <limits>

#include <adit/error.hpp>

#include "ops/halves.hpp"

namespace adit::ops {

using namespace kernel;

namespace {

// Axes of extent 1 are dropped, and an axis whose steps continue those of the next one joins it.
std::vector<ScatterAxis> merged(const std::vector<ScatterAxis>& axes) {
  std::vector<ScatterAxis> result;
  for (const ScatterAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!result.empty() && result.back().stride == axis.extent * axis.stride)
      result.back() = {result.back().extent * axis.extent, axis.stride};
    else
      result.push_back(axis);
  }
  return result;
}

}  // namespace

Value clamped(Value coordinate, uint64_t extent, Type to) {
  const Type type = coordinate.type();
  const uint64_t last = extent - 1;
  if (size_of(type) == 8) {
    if (is_signed_integer(type)) coordinate = max(coordinate, 0);
    return convert(min(coordinate, coordinate.like(last)), to);
  }
  // In 32 bits any coordinate fits; an axis may be longer.
  const Value word = convert(coordinate, is_signed_integer(type) ? Type::i32 : Type::u32);
  const uint64_t most = std::numeric_limits<int32_t>::max();
  if (is_signed_integer(type)) return convert(min(max(word, 0), word.like(std::min(last, most))), to);
  return convert(min(word, word.like(std::min<uint64_t>(last, ~uint32_t{0}))), to);
}

Places::Places(const ScatterPlan& plan)
    : kind(plan.kind),
      type(plan.type),
      index_type(plan.index_type),
      memory_type(plan.kind == ScatterKind::put || plan.type == Type::f16 ? unsigned_like(plan.type)
                                                                          : plan.type),
      updates(plan.updates),
      indexed(plan.indexed),
      from_zero(plan.from_zero) {
  std::vector<ScatterAxis> slice = plan.slice;
  if (plan.complex) {
    for (ScatterAxis& axis : indexed) axis.stride *= 2;
    for (ScatterAxis& axis : slice) axis.stride *= 2;
    slice.push_back({2, 1});
  }
  for (const ScatterAxis& axis : indexed) bases *= axis.extent;
  for (const ScatterAxis& axis : slice) slice_size *= axis.extent;
  base_axes = merged(indexed);
  slice_axes = merged(slice);
  constexpr uint64_t small = uint64_t{1} << 31;
  wide = bases * slice_size >= small || updates * slice_size >= small || updates * indexed.size() >= small;
  if (updates >= small)
    throw Error(ErrorKind::unsupported,
                fmt::format("[scatter] updates: expected fewer than {}, got {}", small, updates));
  if (!is_integer(index_type))
    throw Error(ErrorKind::bad_argument,
                fmt::format("[scatter] indices: expected integers, got {}", kernel::name_of(index_type)));
}

Value Places::base_at(Value coordinate) const {
  return clamped(coordinate, indexed[0].extent, number_type());
}

Value Places::base_of(const Array& indices, Value update) const {
  const auto count = static_cast<uint64_t>(indexed.size());
  Value base = update.like(0);
  for (uint64_t c = 0; c < count; ++c) {
    const Value at = update * count + c;
    base = base * indexed[c].extent + clamped(indices[at], indexed[c].extent, number_type());
  }
  return base;
}

Value Places::offset_of(Value number, const std::vector<ScatterAxis>& axes) {
  Value offset = number.like(0), rest = number;
  for (size_t a = axes.size(); a-- > 0;) {
    const Value coordinate = a == 0 ? rest : rest % axes[a].extent;
    if (a > 0) rest = rest / axes[a].extent;
    offset = offset + coordinate * axes[a].stride;
  }
  return offset;
}

Value Places::row_offset(Value row, Value element) const {
  return slice_size == 1 ? row : row * slice_size + element;
}

Places::Split Places::split(Value team) const {
  if (slice_size == 1) return {team, team.like(0)};
  return {team / slice_size, team % slice_size};
}

Value Places::as_term(Value element) const {
  if (type == Type::f16) return half_to_float(element);
  return type == Type::bf16 ? convert(element, Type::f32) : element;
}

Value Places::as_element(Value term) const {
  return type == Type::f16 ? float_to_half(term) : convert(term, type);
}

}  // namespace adit::ops
