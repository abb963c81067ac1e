#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "stan/checker.hpp"

namespace adit::stan {

std::optional<Type> indexed_type(Type type, const std::vector<bool>& is_multiple) {
  if (static_cast<int>(is_multiple.size()) > type.rank()) return std::nullopt;
  int kept = 0;  // axes of arrays that stay
  size_t next = 0;
  for (; next < is_multiple.size() && type.array > 0; ++next) {
    --type.array;
    kept += is_multiple[next] ? 1 : 0;
  }
  const size_t inner = is_multiple.size() - next;
  const auto single = [&](size_t i) { return !is_multiple[next + i]; };
  if (inner > 0 && type.base == Base::matrix) {
    const bool row = single(0), column = inner > 1 && single(1);
    type.base = row ? (column ? Base::real : Base::row_vector) : (column ? Base::vector : Base::matrix);
  } else if (inner > 0 && single(0)) {
    type.base = Base::real;
  }
  type.array += kept;
  return type;
}

std::optional<Type> element_type(const Type& type) {
  if (type.array > 0) {
    Type element = type;
    --element.array;
    return element;
  }
  const bool holds = type.base == Base::vector || type.base == Base::row_vector || type.base == Base::matrix;
  return holds ? std::optional(scalar_type(Base::real)) : std::nullopt;
}

std::vector<bool> Checker::check_indices(std::vector<Index>& indices, Level& level, bool& failed) {
  std::vector<bool> is_multiple;
  for (Index& index : indices) {
    const bool is_single = index.kind == Index::Kind::single;
    bool multiple = !is_single;
    for (Expression* bound : {index.low.get(), index.high.get()}) {
      if (!bound) continue;
      level = std::max(level, check_expression(*bound));
      if (is_unknown(bound->type)) {
        failed = true;
      } else if (is_single && bound->type == Type{Base::integer, 1, {}}) {
        multiple = true;
      } else if (!bound->type.is(Base::integer)) {
        failed = true;
        error(bound->place, fmt::format("An index must be of type int{}; found {}.",
                                        is_single ? ", array[] int or a range" : " at both ends of a range",
                                        to_text(bound->type)));
      }
    }
    is_multiple.push_back(multiple);
  }
  return is_multiple;
}

Level Checker::check_index(Expression& value, Level level) {
  const Expression& whole = *value.parts[0];
  bool failed = is_unknown(whole.type);
  // What stands between the brackets is read in full even where only the shape of the whole is asked for.
  const bool in_shape = std::exchange(in_shape_, false);
  const std::vector<bool> is_multiple = check_indices(value.indices, level, failed);
  in_shape_ = in_shape;
  value.type = unknown_type();
  if (failed) return level;
  if (const auto type = indexed_type(whole.type, is_multiple)) {
    value.type = *type;
  } else if (whole.type.rank() == 0) {
    error(value.place, fmt::format("A value of type {} has no elements to index.", to_text(whole.type)));
  } else {
    error(value.place,
          fmt::format("Too many indices: {} has {} {}, but {} were given.", to_text(whole.type),
                      whole.type.rank(), whole.type.rank() == 1 ? "axis" : "axes", is_multiple.size()));
  }
  return level;
}

}  // namespace adit::stan
