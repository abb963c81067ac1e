// Reductions, running results, sorting, and what is made of them.
#include <fmt/format.h>

#include <adit/einsum.hpp>
#include <adit/ops.hpp>
#include <adit/sort.hpp>

#include "door/call.hpp"

namespace adit::door {

namespace {

using Reduced = Tensor (*)(const Tensor&, const Axes&, bool);
Operation reduced(const char* name, Reduced f) {
  return {{name, "x", "axes=[], keep_axes=0"}, 1, 1, [f](const Call& c) -> Tensors {
            return {f(c[0], c.dims("axes", {}), c.flag("keep_axes", false))};
          }};
}

using Extreme = Tensor (*)(const Tensor&, std::optional<int>, bool, TieBreak);
Operation extreme(const char* name, Extreme f) {
  return {{name, "x", "axis, keep_axis=0, tie_break=low"}, 1, 1, [f](const Call& c) -> Tensors {
            std::optional<int> axis;
            if (c.has("axis")) axis = c.axis("axis", 0);
            const std::string tie = c.text("tie_break", "low");
            if (tie != "low" && tie != "high")
              fail(c.name(), "tie_break", fmt::format("expected low or high, got {}", tie));
            return {f(c[0], axis, c.flag("keep_axis", false), tie == "low" ? TieBreak::low : TieBreak::high)};
          }};
}

using Running = Tensor (*)(const Tensor&, int, bool);
Operation running(const char* name, Running f) {
  return {{name, "x", "axis=0, reverse=0"}, 1, 1, [f](const Call& c) -> Tensors {
            return {f(c[0], c.axis("axis", 0), c.flag("reverse", false))};
          }};
}

using OfAxes = Tensor (*)(const Tensor&, const Axes&);
Operation along(const char* name, OfAxes f) {
  return {{name, "x", "axes=[-1]"}, 1, 1, [f](const Call& c) -> Tensors {
            return {f(c[0], c.dims("axes", {-1}))};
          }};
}

Direction direction_of(const Call& c) {
  const std::string word = c.text("direction", "ascending");
  if (word != "ascending" && word != "descending")
    fail(c.name(), "direction", fmt::format("expected ascending or descending, got {}", word));
  return word == "ascending" ? Direction::ascending : Direction::descending;
}
using Ordered = Tensor (*)(const Tensor&, int, Direction);
Operation ordered(const char* name, Ordered f) {
  return {{name, "x", "axis=-1, direction=ascending"}, 1, 1, [f](const Call& c) -> Tensors {
            return {f(c[0], c.axis("axis", -1), direction_of(c))};
          }};
}

Distance distance_of(const Call& c) {
  static constexpr std::pair<std::string_view, Distance> known[] = {{"euclidean", Distance::euclidean},
                                                                    {"squared", Distance::squared},
                                                                    {"manhattan", Distance::manhattan},
                                                                    {"chebyshev", Distance::chebyshev}};
  const std::string word = c.text("distance", "euclidean");
  for (const auto& [name, distance] : known)
    if (word == name) return distance;
  fail(c.name(), "distance",
       fmt::format("expected euclidean, squared, manhattan or chebyshev, got {}", word));
}

Side side_of(const Call& c) {
  const std::string word = c.text("side", "left");
  if (word != "left" && word != "right")
    fail(c.name(), "side", fmt::format("expected left or right, got {}", word));
  return word == "left" ? Side::left : Side::right;
}

}  // namespace

std::vector<Operation> reduction_operations() {
  return {
      reduced("sum", sum),
      reduced("product", product),
      reduced("reduce_max", reduce_max),
      reduced("reduce_min", reduce_min),
      reduced("all", all),
      reduced("any", any),
      reduced("mean", mean),
      reduced("logsumexp", logsumexp),
      {{"variance", "x", "axes=[], keep_axes=0, ddof=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {variance(c[0], c.dims("axes", {}), c.flag("keep_axes", false), c.small("ddof", 0))};
       }},
      along("softmax", softmax),
      along("log_softmax", log_softmax),
      extreme("argmax", argmax),
      extreme("argmin", argmin),
      running("cumulative_sum", cumulative_sum),
      running("cumulative_product", cumulative_product),
      running("cumulative_min", cumulative_min),
      running("cumulative_max", cumulative_max),
      ordered("sort", sort),
      ordered("argsort", argsort),
      {{"sort_with_places", "x", "axis=-1, direction=ascending"},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Sorted sorted = sort_with_places(c[0], c.axis("axis", -1), direction_of(c));
         return {sorted.values, sorted.places};
       }},
      {{"top_k", "x", "k"},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Sorted sorted = top_k(c[0], c.integer("k"));
         return {sorted.values, sorted.places};
       }},
      {{"median", "x", "axis=-1, keep_axis=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {median(c[0], c.axis("axis", -1), c.flag("keep_axis", false))};
       }},
      {{"unique", "x", ""},
       1,
       1,
       [](const Call& c) -> Tensors {
         const Unique found = unique(c[0]);
         return {found.values, found.inverse, found.counts, found.size};
       }},
      {{"searchsorted", "sorted, values", "side=left"},
       2,
       2,
       [](const Call& c) -> Tensors { return {searchsorted(c[0], c[1], side_of(c))}; }},
      {{"bincount", "x, weights", "length"},
       1,
       2,
       [](const Call& c) -> Tensors { return {bincount(c[0], c.integer("length"), c.optional(1))}; }},
      {{"histogram", "x, edges, weights", "density=0"},
       2,
       3,
       [](const Call& c) -> Tensors {
         return {histogram(c[0], c[1], c.optional(2), c.flag("density", false))};
       }},
      {{"histogram_edges", "", "bins, low, high, type=f32"},
       0,
       0,
       [](const Call& c) -> Tensors {
         return {
             histogram_edges(c.integer("bins"), c.real("low"), c.real("high"), c.dtype("type", DType::f32))};
       }},
      {{"interpolate", "x, places, values", "left, right"},
       3,
       3,
       [](const Call& c) -> Tensors {
         InterpolateOptions options;
         if (c.has("left")) options.left = c.real("left");
         if (c.has("right")) options.right = c.real("right");
         return {interpolate(c[0], c[1], c[2], options)};
       }},
      {{"resize_linear", "x", "axes, lengths, align_ends=0"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {resize_linear(c[0], c.dims("axes"), c.dims("lengths"), c.flag("align_ends", false))};
       }},
      {{"cdist", "a, b", "distance=euclidean"},
       2,
       2,
       [](const Call& c) -> Tensors { return {cdist(c[0], c[1], distance_of(c))}; }},
      {{"covariance", "x, weights, frequencies", "variables_in_rows=1, ddof=1"},
       1,
       3,
       [](const Call& c) -> Tensors {
         CovarianceOptions options;
         options.variables_in_rows = c.flag("variables_in_rows", true);
         options.ddof = c.small("ddof", 1);
         options.weights = c.optional(1);
         options.frequencies = c.optional(2);
         return {covariance(c[0], options)};
       }},
      {{"corrcoef", "x", "variables_in_rows=1"},
       1,
       1,
       [](const Call& c) -> Tensors { return {corrcoef(c[0], c.flag("variables_in_rows", true))}; }},
  };
}

}  // namespace adit::door
