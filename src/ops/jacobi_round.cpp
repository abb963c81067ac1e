// A round of jacobi_blocks.hpp: teams that turn the pairs of the next one, and teams that multiply.
#include "ops/jacobi_blocks.hpp"

namespace adit::ops::jacobi_blocks {

using namespace kernel;

Value Round::meeting_number() const { return select(number == 0, number, number - 1); }

Value Round::place_of(Value row, Value column) const {
  const uint64_t size = blocks.size();
  return (which * size + convert(row, Type::u64)) * size + convert(column, Type::u64);
}

Program turn_round(const Blocks& blocks, bool is_last) {
  Builder k(is_last ? "jacobi_last_round" : "jacobi_round", Team::many(blocks.lanes()));
  const auto buffer = [&](const char* name, Access access) { return k.buffer(name, blocks.type, access); };
  const uint32_t tile = blocks.both() * (blocks.both() + 4), pairs = is_last ? 0 : blocks.pairs();
  Round round{.blocks = blocks, .k = k};
  round.from = buffer("from", Access::read_write);
  round.to = buffer("to", Access::read_write);
  round.turns = buffer("turns", Access::read);
  round.next_turns = buffer("next_turns", Access::write);
  round.cross = buffer("cross", Access::read);
  round.next_cross = buffer("next_cross", Access::write);
  round.vectors = buffer("vectors", Access::read_write);
  round.limits = buffer("limits", Access::read);
  const Array state = k.buffer("state", Type::u32, Access::read);
  round.number = k.scalar("round", Type::u32);
  round.left = k.shared(blocks.type, tile);
  round.right = k.shared(blocks.type, tile);
  if (!is_last) round.angles = k.shared(blocks.type, 4 * blocks.block);
  round.lane = k.lane();
  const Value team = k.team(Type::u64), all = team.like(round_teams(blocks, is_last));
  round.which = team / all;
  const Value number = convert(team % all, Type::u32);
  k.if_(goes_on(k, state), [&] {
    if (is_last)
      multiply_tile(round, number);
    else  // those that take longest begin first
      k.if_(
          number < pairs, [&] { turn_pair(round, number); }, [&] { multiply_tile(round, number - pairs); });
  });
  return k.finish();
}

uint64_t round_teams(const Blocks& blocks, bool is_last) {
  return tiles_of(blocks) + (is_last ? 0 : blocks.pairs());
}

}  // namespace adit::ops::jacobi_blocks
