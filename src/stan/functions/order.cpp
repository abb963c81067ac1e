// Sorting along the last axis: the place of a number is how many come before it, equal ones in their order.
// All pairs are compared, which is n^2 work.
#include <array>

#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"
#include "stats/whole_number.hpp"

namespace adit::stan {

namespace {

// [..., from, to]: whether a number goes to a place.
Tensor goes_to(const Tensor& x, bool descending) {
  const int64_t size = x.dim(-1);
  const Tensor mine = expand_dims(x, -1), others = expand_dims(x, -2);
  const Tensor is_ahead = descending ? others > mine : others < mine;
  const Tensor comes_first = column_numbers(size) < row_numbers(size);
  const Tensor is_before = logical_or(is_ahead, both(others == mine, comes_first));
  const Tensor place = sum(as_type(is_before, DType::i64), {-1});
  return expand_dims(place, -1) == iota({size}, DType::i64);
}
Tensor sorted(const Arguments& a, bool descending) {
  const Part p = whole_part(a, 0);
  if (p.x.dim(-1) < 2) return finished(a, p);
  const Tensor nothing = full({}, 0, p.x.dtype());
  const Tensor placed = select(goes_to(p.x, descending), expand_dims(p.x, -1), nothing);
  return finished(a, {sum(placed, {-2}), p.in_lanes});
}
// Numbers of places from 1 on.
Tensor sorted_numbers(const Arguments& a, bool descending) {
  const Part p = whole_part(a, 0);
  const Tensor number = expand_dims(iota({p.x.dim(-1)}, DType::i64), -1) + full_integer({}, 1);
  return finished(a, {sum(select(goes_to(p.x, descending), number, full_integer({}, 0)), {-2}), p.in_lanes});
}
Tensor sort_asc(const Arguments& a) { return sorted(a, false); }
Tensor sort_desc(const Arguments& a) { return sorted(a, true); }
Tensor sort_indices_asc(const Arguments& a) { return sorted_numbers(a, false); }
Tensor sort_indices_desc(const Arguments& a) { return sorted_numbers(a, true); }

// How many are less than the one at a place.
Tensor rank_of_one(const Arguments& a) {
  const Part p = whole_part(a, 0), of = whole_part(a, 1);
  const Tensor is_it = iota({p.x.dim(-1)}, DType::i64) == expand_dims(of.x - full_integer({}, 1), -1);
  const Tensor one = sum(select(is_it, p.x, full({}, 0, p.x.dtype())), {-1}, true);
  return finished(a, {sum(as_type(p.x < one, DType::i64), {-1}), p.in_lanes || of.in_lanes});
}

// R's seventh type: between the two elements around p (n - 1). p has the axes of the result.
Tensor quantile(const Arguments& a) {
  const Tensor x = sorted(a, false), p = clip(a.lifted(1), 0.0, 1.0);
  const bool has_list = a.types[1].rank() > 0;
  const Tensor rows = has_list ? expand_dims(x, -2) : x;
  const double last = static_cast<double>(x.dim(-1) - 1);
  const Tensor place = p * real(last), low = floor(place), high = minimum(low + real(1), real(last));
  const Tensor below = stats::at_class(rows, low), above = stats::at_class(rows, high);
  return below + (place - low) * (above - below);
}

constexpr std::array order_table{
    GeneralFunction{"quantile", quantile},
    GeneralFunction{"rank", rank_of_one},
    GeneralFunction{"sort_asc", sort_asc},
    GeneralFunction{"sort_desc", sort_desc},
    GeneralFunction{"sort_indices_asc", sort_indices_asc},
    GeneralFunction{"sort_indices_desc", sort_indices_desc},
};

}  // namespace

std::span<const GeneralFunction> order_functions() { return order_table; }

}  // namespace adit::stan
