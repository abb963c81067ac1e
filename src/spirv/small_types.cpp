// Which of the 8- and 16-bit types a kernel computes with.
#include "spirv/code.hpp"

namespace adit::spirv {

using kernel::Instruction;
using kernel::Op;
using kernel::size_of;

namespace {

// Both are 16 bits without a meaning in a register.
bool same_bits(Type a, Type b) { return (a == Type::f16) == (b == Type::f16); }

// Moves a value between memory and a register, or changes its width: nothing that is arithmetic.
bool only_moves(const kernel::Program& program, const Instruction& it) {
  switch (it.op) {
    case Op::constant:
    case Op::argument:
    case Op::buffer:
    case Op::convert:
    case Op::convert_in_range:
    case Op::pack:
    case Op::extract: return true;
    case Op::load:
    case Op::store: return program[it.operand[0]].op == Op::buffer;
    case Op::bitcast: return same_bits(program[it.operand[0]].type, it.type);
    default: return false;
  }
}

void note(SmallTypes& found, Type type) {
  if (type == Type::boolean || type == Type::none) return;
  if (type == Type::f16)
    found.float16 = true;
  else if (size_of(type) == 2)
    found.int16 = true;
  else if (size_of(type) == 1)
    found.int8 = true;
}

}  // namespace

SmallTypes computed_small_types(const kernel::Program& program) {
  SmallTypes found;
  for (const Instruction& it : program.instructions) {
    if (only_moves(program, it)) continue;
    note(found, it.type);
    for (int k = 0; k < it.operand_count; ++k) {
      // A buffer as an atomic's operand is not a value; the atomic's own type speaks for it.
      if (program[it.operand[k]].op != Op::buffer) note(found, program[it.operand[k]].type);
    }
  }
  return found;
}

}  // namespace adit::spirv
