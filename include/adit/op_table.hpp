// The operations of the engine, as `adit ops` and docs/ops.md tell them.
#pragma once

#include <string_view>
#include <vector>

#pragma GCC visibility push(default)
namespace adit {

struct OpDescription {
  std::string_view name, kind;  // kind: "elementwise", "view", "reduction", ...
  int operands = 0;             // -1: any number
  std::string_view types;       // what it accepts and gives
  double bound_ulp = 0;         // how far from the exact result; 0: exact or correctly rounded
  std::string_view bound_note;  // where the bound is of another kind
  bool differentiable = false;
  std::string_view doc;  // one sentence
};
std::vector<OpDescription> op_table();

}  // namespace adit
#pragma GCC visibility pop
