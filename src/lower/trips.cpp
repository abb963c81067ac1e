#include "lower/trips.hpp"

namespace adit::lower {

namespace {

// `by_rounds`: loops of this block go by the rounds of the dispatch, of which one is asked for: the
// outermost, and the one over leaves that stands right in it.
int64_t trips_of(const kernel::Program& program, uint32_t number, int64_t depth, bool by_rounds) {
  using kernel::Op;
  int64_t trips = 0;
  const auto known = [&](kernel::Id id, int64_t otherwise) {
    return program[id].op == Op::constant ? static_cast<int64_t>(program[id].constant) : otherwise;
  };
  for (const kernel::Id id : program.blocks[number]) {
    const kernel::Instruction& it = program[id];
    int64_t inner = 0;
    for (const uint32_t block : it.block)
      if (block != kernel::no_id)
        inner += trips_of(program, block, depth, number == 0 && it.op == Op::while_);
    const int64_t lanes = program.team.kind == kernel::TeamKind::many ? program.team.lanes : 1;
    switch (it.op) {
      case Op::if_:
      case Op::once: trips += inner; break;
      case Op::while_: trips += (by_rounds ? 1 : depth) * (1 + inner); break;
      case Op::for_: trips += (number == 0 ? 1 : known(it.operand[1], 64)) * (1 + inner); break;
      case Op::each:
      case Op::reduce: trips += (number == 0 ? 1 : known(it.operand[0], 64) / lanes + 1) * (1 + inner); break;
      default: break;
    }
  }
  return trips;
}

}  // namespace

int64_t loop_trips(const kernel::Program& program, int64_t depth) {
  return trips_of(program, 0, depth, true);
}

}  // namespace adit::lower
