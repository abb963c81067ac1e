// A schedule in words, for tests that pin it and for people who wonder where the time goes.
#include <fmt/format.h>

#include "density/control_plan.hpp"
#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::sampling {

namespace {

std::string_view name_of(ItemKind kind) {
  switch (kind) {
    case ItemKind::totals: return "totals";
    case ItemKind::store: return "store";
    case ItemKind::output: return "output";
    case ItemKind::scatter: return "scatter";
    case ItemKind::own_sums: return "own sums";
    case ItemKind::sorted: return "sorted";
    case ItemKind::segments: return "segments";
    case ItemKind::by_rows: return "by rows";
    case ItemKind::by_columns: return "by columns";
    case ItemKind::factor: return "factor";
    case ItemKind::place: return "place";
    case ItemKind::control: return "control";
  }
  return "?";
}

void append(const Schedule& schedule, const std::string& indent, std::string& text) {
  for (const Pass& pass : schedule.passes) {
    text += fmt::format("{}pass of {}{}{}, cost {:.0f}\n", indent, pass.limit ? "up to " : "", pass.count,
                        pass.is_lower ? ", lower triangle" : "", pass.cost);
    for (const Item& item : pass.items) {
      text += fmt::format("{}  {} {} {}{}\n", indent, name_of(item.kind), graph::name_of(item.node->op),
                          to_string(item.node->shape), item.is_wide ? " wide" : "");
      const auto control = schedule.controls.find(item.node);
      if (item.kind != ItemKind::control || control == schedule.controls.end()) continue;
      for (const Schedule& function : control->second->functions) {
        text += indent + "    function\n";
        append(function, indent + "      ", text);
      }
    }
  }
}

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::string text = fmt::format("scratch {}, near {}, work {}, of it serial {}\n", schedule.scratch,
                                 schedule.near, schedule.work, schedule.serial);
  append(schedule, "", text);
  return text;
}

}  // namespace adit::sampling
