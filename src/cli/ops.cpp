// adit ops: the rows of the op table.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"
#include "graph/row.hpp"

namespace adit::cli {
namespace {

bool is_differentiable(const graph::Row& row) { return row.vjp != nullptr || row.jvp != nullptr; }

Json to_json(const graph::Row& row) {
  return {{"name", row.name},
          {"kind", graph::name_of(row.kind)},
          {"operands", row.arity < 0 ? Json("any") : Json(row.arity)},
          {"types", row.types},
          {"bound_ulp", row.bound.ulp},
          {"bound_note", row.bound.note},
          {"differentiable", is_differentiable(row)},
          {"doc", row.doc}};
}

}  // namespace

int ops(bool json) {
  if (json) {
    Json array = Json::array();
    for (const graph::Row& row : graph::table()) array.push_back(to_json(row));
    fmt::print("{}\n", array.dump(2));
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"op", "kind", "types", "what it gives"}};
  for (const graph::Row& row : graph::table())
    rows.push_back({std::string(row.name), std::string(graph::name_of(row.kind)), std::string(row.types),
                    std::string(row.doc)});
  fmt::print("{}", table(rows));
  return 0;
}

}  // namespace adit::cli
