// An elementwise operation is written out once, and counted.
#include "lower/code_length.hpp"

#include <algorithm>
#include <map>
#include <mutex>

#include <adit/kernel/builder.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"

namespace adit::lower {

using graph::Kind;
using graph::Op;
using graph::Scalar;
using kernel::Type;

namespace {

// Where an element of a view lies is a division or two, a clamp or a choice.
constexpr double of_a_view = 10;
// A number that becomes whole is kept in range by choices, and LLVM (19, x86-64) splits a block at each of
// them: 200 in one block took 6 s.
constexpr double of_a_rounding = 20;

bool is_code(const kernel::Instruction& it) {
  return it.op != kernel::Op::constant && it.op != kernel::Op::buffer && it.op != kernel::Op::argument;
}

int64_t instructions_of(const kernel::Program& program) {
  return std::count_if(program.instructions.begin(), program.instructions.end(), is_code);
}

// The kernel that computes one element of the node, its operands being arguments; without the operation: one
// that only stores the first of them.
kernel::Program element(const graph::Row& row, const Node& node, bool with_operation) {
  kernel::Builder k("length", kernel::Team::one());
  const auto argument = [&](Type type, int i) { return k.scalar("x" + std::to_string(i), type); };
  std::vector<Scalar> operands;
  for (const Tensor& operand : node.operands) {
    const Type type = compute_type(operand.dtype());
    const int at = static_cast<int>(operands.size()) * 2;
    const kernel::Value re = argument(type, at);
    operands.push_back(is_complex(operand.dtype()) ? graph::pair(re, argument(type, at + 1))
                                                   : Scalar{re, {}, false});
  }
  const Scalar result = with_operation ? row.scalar(operands, node) : operands[0];
  const kernel::Array out = k.buffer("out", result.re.type(), kernel::Access::write);
  out[k.team()] = result.re;
  if (result.is_complex) out[k.team() + k.constant(Type::u32, 1)] = result.im;
  return k.finish();
}

double written_out(const graph::Row& row, const Node& node) {
  static std::mutex mutex;
  static auto& known = *new std::map<std::vector<int>, double>;
  std::vector<int> key{static_cast<int>(node.op), static_cast<int>(node.type)};
  for (const Tensor& operand : node.operands) key.push_back(static_cast<int>(operand.dtype()));
  const std::lock_guard lock(mutex);
  const auto [it, is_new] = known.try_emplace(std::move(key), 1.0);
  if (is_new)
    it->second = std::max(1.0, static_cast<double>(instructions_of(element(row, node, true)) -
                                                   instructions_of(element(row, node, false))));
  return it->second;
}

}  // namespace

double code_length(const Node& node) {
  const graph::Row& row = graph::row_of(node.op);
  if (node.computed) return 0;  // its operands may be gone
  if (node.op == Op::as_type && is_integer(node.type) && is_float(node.operands[0].dtype()))
    return of_a_rounding;
  if (node.op == Op::constant || node.op == Op::number || node.op == Op::alias) return 0;
  if (row.scalar && !node.operands.empty()) return written_out(row, node);
  const bool repeats_one = node.op == Op::broadcast && node.operands[0].size() == 1;
  if (repeats_one) return 0;
  return row.kind == Kind::view ? of_a_view : of_a_load;
}

}  // namespace adit::lower
