// adit ops: the rows of the op table.
#include <fmt/format.h>

#include <adit/op_table.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/table.hpp"

namespace adit::cli {
namespace {

Json row_of(const OpDescription& op) {
  return {{"name", op.name},
          {"kind", op.kind},
          {"operands", op.operands < 0 ? Json("any") : Json(op.operands)},
          {"types", op.types},
          {"bound_ulp", op.bound_ulp},
          {"bound_note", op.bound_note},
          {"differentiable", op.differentiable},
          {"doc", op.doc}};
}

}  // namespace

int ops(bool json) {
  const std::vector<OpDescription> all = op_table();
  if (json) {
    Json array = Json::array();
    for (const OpDescription& op : all) array.push_back(row_of(op));
    print_json(array);
    return 0;
  }
  std::vector<std::vector<std::string>> rows{{"op", "kind", "types", "what it gives"}};
  for (const OpDescription& op : all)
    rows.push_back({std::string(op.name), std::string(op.kind), std::string(op.types), std::string(op.doc)});
  write_out(table(rows));
  return 0;
}

}  // namespace adit::cli
