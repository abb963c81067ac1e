#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <stdexcept>

#include <adit/op_table.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::graph {

namespace {

std::vector<Row> join_rows() {
  std::vector<Row> rows(static_cast<size_t>(Op::op_count));
  for (const auto& group :
       {leaf_rows(), unary_rows(), binary_rows(), view_rows(), index_rows(), reduction_rows(), product_rows(),
        linear_rows(), cumulative_rows(), sort_rows(), fft_rows(), window_rows(), control_rows()})
    for (const Row& row : group) {
      Row& place = rows[static_cast<size_t>(row.op)];
      if (!place.name.empty())
        throw Error(ErrorKind::internal, fmt::format("[table] {}: expected one row, got two", row.name));
      place = row;
    }
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].name.empty())
      throw Error(ErrorKind::internal, fmt::format("[table] operation {}: expected a row, got none", i));
  return rows;
}

}  // namespace

std::span<const Row> table() {
  static const std::vector<Row>& rows = *new std::vector<Row>(join_rows());
  return rows;
}

const Row& row_of(Op op) { return table()[static_cast<size_t>(op)]; }

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 6> names = {"leaf",      "elementwise", "view",
                                                     "reduction", "kernel",      "control"};
  return names[static_cast<size_t>(kind)];
}

void fail(std::string_view op, std::string_view argument, const std::string& message) {
  throw Error(ErrorKind::bad_argument, fmt::format("[{}] {}: {}", op, argument, message));
}

int normal_axis(std::string_view op, int64_t axis, int rank) {
  if (axis < -rank || axis >= rank)
    fail(op, "axis", fmt::format("expected -{} to {} for rank {}, got {}", rank, rank - 1, rank, axis));
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Axes normal_axes(std::string_view op, const Axes& axes, int rank) {
  Axes normal;
  for (const int64_t axis : axes) {
    const int one = normal_axis(op, axis, rank);
    if (normal.contains(one))
      fail(op, "axes", fmt::format("expected distinct axes, got {}", to_string(axes)));
    normal.push_back(one);
  }
  std::sort(normal.begin(), normal.end());
  return normal;
}

}  // namespace adit::graph

namespace adit {

std::vector<OpDescription> op_table() {
  std::vector<OpDescription> all;
  for (const graph::Row& row : graph::table())
    all.push_back({row.name, graph::name_of(row.kind), row.arity, row.types, row.bound.ulp, row.bound.note,
                   row.vjp != nullptr || row.jvp != nullptr || row.several_vjp != nullptr, row.doc});
  return all;
}

}  // namespace adit
