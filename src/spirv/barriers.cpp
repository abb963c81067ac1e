#include "spirv/barriers.hpp"

#include <algorithm>

#include "kernel/rules.hpp"
#include "support/answers.hpp"
#include "support/hash.hpp"

namespace adit::spirv {

using kernel::Id;
using kernel::Instruction;
using KernelOp = kernel::Op;

namespace {

bool has(const kernel::Program& program, KernelOp op) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [&](const Instruction& it) { return it.op == op; });
}

}  // namespace

BarrierPlan::BarrierPlan(const kernel::Program& program, bool reductions_wait)
    : program_(program),
      by_hand_(uses_lanes(program)),
      reductions_wait_(reductions_wait),
      has_fences_(has(program, KernelOp::fence)),
      before_(program.instructions.size()),
      after_(program.instructions.size()),
      carries_(program.instructions.size()),
      in_lanes_(program.instructions.size()),
      holds_loops_(program.instructions.size()) {
  if (program.team.kind != kernel::TeamKind::many || program.team.lanes == 1) return;
  look_at(0, kernel::no_id, false);
  Touches open;
  visit_block(0, open);
}

bool BarrierPlan::is_team_loop(KernelOp op) const {
  return op == KernelOp::each || op == KernelOp::reduce || op == KernelOp::once;
}

// True where the block holds a loop of the team, or a barrier.
bool BarrierPlan::look_at(uint32_t block, Id owner, bool in_lanes) {
  bool found = false;
  for (const Id id : program_.blocks[block]) {
    const Instruction& it = program_[id];
    const bool is_loop = is_team_loop(it.op);
    in_lanes_[id] = in_lanes;
    if (it.op == KernelOp::index) loops_[id] = owner;
    for (const uint32_t inner : it.block)
      if (inner != kernel::no_id && look_at(inner, id, in_lanes || is_loop)) holds_loops_[id] = true;
    found = found || is_loop || it.op == KernelOp::barrier || holds_loops_[id];
  }
  return found;
}

// --- In the order of the program ---------------------------------------------------------------------------

void BarrierPlan::visit_block(uint32_t block, Touches& open) {
  for (const Id id : program_.blocks[block]) visit(id, open);
}

void BarrierPlan::visit(Id id, Touches& open) {
  const Instruction& it = program_[id];
  if (it.op == KernelOp::barrier) return open.clear();
  // What holds no loop of the team is one piece: the lanes may part in it, and no barrier can stand inside.
  if (!holds_loops_[id]) {
    const Touches& coming = touches_of(id);
    meet(id, coming, open);
    open.insert(coming.begin(), coming.end());
    if (it.op == KernelOp::reduce && reductions_wait_) {
      const bool is_needed = std::any_of(open.begin(), open.end(), [&](const Touch& touch) {
        if (!touch.writes || !is_buffer(touch.object)) return false;
        const kernel::Parameter& buffer = program_.parameters[program_[touch.object].constant];
        return buffer.access == kernel::Access::read_write || touch.by.kind != Toucher::Kind::first_lane;
      });
      // A barrier that stands anyway ends what could meet with others later.
      carries_[id] = carries_[id] || is_needed || has_fences_;
      close(open, carries_[id] ? Wait::all : Wait::shared);
    } else if (has_fences_ && is_team_loop(it.op)) {
      after_[id] = Wait::all;  // other teams may wait for what any array holds
      open.clear();
    }
    return;
  }
  switch (it.op) {
    case KernelOp::if_: {
      Touches otherwise = open;
      visit_block(it.block[0], open);
      if (it.block[1] != kernel::no_id) visit_block(it.block[1], otherwise);
      open.insert(otherwise.begin(), otherwise.end());
      return;
    }
    case KernelOp::for_: return visit_loop({it.block[0]}, open);
    default: return visit_loop({it.block[0], it.block[1]}, open);
  }
}

// A round may begin with what the round before left open; offsets that it computed are of no use then.
void BarrierPlan::visit_loop(std::initializer_list<uint32_t> blocks, Touches& open) {
  for (size_t known = ~size_t{0}; known != open.size();) {
    known = open.size();
    Touches round = open;
    for (const uint32_t block : blocks) {
      visit_block(block, round);
      for (Touch touch : round) {
        if (!touch.by.lasts)
          touch.by = {touch.by.kind == Toucher::Kind::first_lane ? Toucher::Kind::first_lane
                                                                 : Toucher::Kind::any};
        open.insert(touch);
      }
    }
  }
}

bool BarrierPlan::conflict(const Touch& open, const Touch& coming, bool reduces) const {
  if (open.object != coming.object || (!open.writes && !coming.writes)) return false;
  if (open.by_hand && (coming.by_hand || (reduces && !coming.writes))) return false;
  const Toucher &a = open.by, &b = coming.by;
  const bool apart = a.range.most < b.range.least || b.range.most < a.range.least;
  if (a.base == b.base && apart) return false;
  if (a.kind != b.kind || a.kind == Toucher::Kind::any) return true;
  return a.kind == Toucher::Kind::counted && (a.base != b.base || a.offset != b.offset);
}

void BarrierPlan::meet(Id id, const Touches& coming, Touches& open) {
  Wait wait = before_[id];
  for (const Touch& one : open)
    for (const Touch& other : coming)
      if (conflict(one, other, program_[id].op == KernelOp::reduce))
        wait = std::max(wait, one.writes && is_buffer(one.object) ? Wait::all : Wait::shared);
  before_[id] = wait;
  close(open, wait);
}

// A barrier ends all reads before it. What was written to buffers is seen after one that names them.
void BarrierPlan::close(Touches& open, Wait wait) const {
  if (wait == Wait::none) return;
  std::erase_if(open, [&](const Touch& touch) {
    return wait == Wait::all || !touch.writes || !is_buffer(touch.object);
  });
}

// --- What is touched ---------------------------------------------------------------------------------------

const BarrierPlan::Touches& BarrierPlan::touches_of(Id id) const {
  const auto [at, is_new] = touches_.try_emplace(id);
  Touches& found = at->second;
  if (!is_new) return found;
  const Instruction& it = program_[id];
  const Id owner = is_team_loop(it.op) ? id : kernel::no_id;
  add_access(id, owner, found);
  for (const uint32_t block : it.block)
    if (block != kernel::no_id) collect(block, owner, found);
  return found;
}

void BarrierPlan::collect(uint32_t block, Id owner, Touches& found) const {
  for (const Id id : program_.blocks[block]) {
    add_access(id, owner, found);
    for (const uint32_t inner : program_[id].block)
      if (inner != kernel::no_id) collect(inner, owner, found);
  }
}

// Buffers that the kernel only reads are nobody's concern.
void BarrierPlan::add_access(Id id, Id owner, Touches& found) const {
  const Instruction& it = program_[id];
  const bool is_matrix = it.op == KernelOp::matrix_load || it.op == KernelOp::matrix_store;
  if (!is_matrix && (it.op < KernelOp::load || it.op > KernelOp::atomic_compare_exchange)) return;
  const Instruction& object = program_[it.operand[0]];
  const bool is_shared = object.op == KernelOp::shared;
  if (!is_shared &&
      (object.op != KernelOp::buffer || program_.parameters[object.constant].access == kernel::Access::read))
    return;
  Touch touch;
  touch.object = it.operand[0];
  touch.writes = it.op != KernelOp::load && it.op != KernelOp::matrix_load;
  touch.by_hand = owner == kernel::no_id;
  touch.by = toucher_of(it, owner);
  found.insert(touch);
}

// The index as a sum: the counter of the loop, what is the same for all lanes, numbers, and the rest.
BarrierPlan::Toucher BarrierPlan::toucher_of(const Instruction& access, Id owner) const {
  Toucher toucher;
  const bool is_loop = owner != kernel::no_id && program_[owner].op != KernelOp::once;
  if (owner != kernel::no_id && !is_loop) toucher.kind = Toucher::Kind::first_lane;
  if (access.op != KernelOp::load && access.op != KernelOp::store) return toucher;
  const Id counter = is_loop ? program_.blocks[program_[owner].block[0]][0] : kernel::no_id;
  int counters = 0, others = 0;
  Range range;
  std::vector<uint64_t> terms;
  std::vector<Id> open{access.operand[1]};
  while (!open.empty()) {
    const Id id = open.back();
    open.pop_back();
    const Instruction& it = program_[id];
    if (it.op == KernelOp::add) {
      open.insert(open.end(), {it.operand[0], it.operand[1]});
      continue;
    }
    if (const auto term = uniform(id); term && it.op != KernelOp::constant) {
      toucher.lasts = toucher.lasts && term->lasts;
      terms.push_back(term->hash);
      continue;
    }
    if (it.op == KernelOp::constant) toucher.offset += range_of(id).least;
    counters += id == counter;
    others += id != counter && it.op != KernelOp::constant;
    range = sum(range, range_of(id));
  }
  std::sort(terms.begin(), terms.end());
  toucher.base = hash64(access.width, 0);
  for (const uint64_t term : terms) toucher.base = hash64(term, toucher.base);
  if (access.width == 1) toucher.range = range;
  if (counters == 1 && others == 0) toucher.kind = Toucher::Kind::counted;
  return toucher;
}

std::optional<BarrierPlan::Uniform> BarrierPlan::uniform(Id id) const {
  answer(
      id, uniforms_,
      [&](Id of, const auto& want) {
        const Instruction& it = program_[of];
        for (int k = 0; k < it.operand_count && kernel::is_pure(it.op); ++k) want(it.operand[k]);
      },
      [&](Id of) { return find_uniform(of); });
  return uniforms_.at(id);
}

std::optional<BarrierPlan::Uniform> BarrierPlan::find_uniform(Id id) const {
  const Instruction& it = program_[id];
  if (it.op == KernelOp::lane) return {};
  if (!kernel::is_pure(it.op)) {
    if (in_lanes_[id] || by_hand_) return {};
    return Uniform{hash64(id, 1), false};
  }
  Uniform all{
      hash64(it.constant, hash64(static_cast<uint64_t>(it.type), hash64(static_cast<uint64_t>(it.op), 2)))};
  for (int k = 0; k < it.operand_count; ++k) {
    const auto& operand = uniforms_.at(it.operand[k]);
    if (!operand) return {};
    all.hash = hash64(operand->hash, all.hash);
    all.lasts = all.lasts && operand->lasts;
  }
  return all;
}

// --- Bounds ------------------------------------------------------------------------------------------------

BarrierPlan::Range BarrierPlan::sum(Range a, Range b) {
  Range range{a.least + b.least, a.most + b.most};
  if (a.least <= -no_bound || b.least <= -no_bound) range.least = -no_bound;
  if (a.most >= no_bound || b.most >= no_bound) range.most = no_bound;
  return range;
}

BarrierPlan::Range BarrierPlan::range_of(Id id) const {
  answer(
      id, ranges_,
      [&](Id of, const auto& want) {
        for (const Id other : bounds_read(of)) want(other);
      },
      [&](Id of) {
        const Range found = find_range(of);
        return Range{std::max(found.least, -no_bound), std::min(found.most, no_bound)};
      });
  return ranges_.at(id);
}

// Whose bounds those of an instruction follow from.
std::vector<Id> BarrierPlan::bounds_read(Id id) const {
  const Instruction& it = program_[id];
  if (!kernel::is_integer(it.type) || kernel::size_of(it.type) < 4) return {};
  switch (it.op) {
    case KernelOp::index: {
      const Instruction& loop = program_[loops_.at(id)];
      if (is_team_loop(loop.op)) return {loop.operand[0]};
      return {loop.operand[0], loop.operand[1]};
    }
    case KernelOp::add: return {it.operand[0], it.operand[1]};
    case KernelOp::convert: return {it.operand[0]};
    case KernelOp::select: return {it.operand[1], it.operand[2]};
    default: return {};
  }
}

BarrierPlan::Range BarrierPlan::find_range(Id id) const {
  const Instruction& it = program_[id];
  if (!kernel::is_integer(it.type) || kernel::size_of(it.type) < 4) return anywhere;
  switch (it.op) {
    case KernelOp::constant: {
      // Steps back are written as numbers that wrap.
      const auto number = static_cast<int64_t>(it.constant);
      const bool wraps = kernel::size_of(it.type) == 4 && number >= int64_t{1} << 31;
      const int64_t meant = wraps ? number - (int64_t{1} << 32) : number;
      return {meant, meant};
    }
    case KernelOp::lane: return {0, program_.team.lanes - 1};
    case KernelOp::index: {
      const Instruction& loop = program_[loops_.at(id)];
      if (is_team_loop(loop.op)) return {0, ranges_.at(loop.operand[0]).most - 1};
      return {ranges_.at(loop.operand[0]).least, ranges_.at(loop.operand[1]).most - 1};
    }
    case KernelOp::add: return sum(ranges_.at(it.operand[0]), ranges_.at(it.operand[1]));
    case KernelOp::convert: {
      const Range from = ranges_.at(it.operand[0]);
      return from.least >= 0 && from.most < int64_t{1} << 31 ? from : anywhere;
    }
    case KernelOp::select: return range_of_choice(it);
    default: return anywhere;
  }
}

// min(a, b) and max(a, b) are written as a < b ? a : b and a < b ? b : a.
BarrierPlan::Range BarrierPlan::range_of_choice(const Instruction& select) const {
  Range yes = ranges_.at(select.operand[1]), no = ranges_.at(select.operand[2]);
  if (!kernel::is_signed_integer(select.type)) {
    if (yes.least < 0) yes = {0, no_bound};
    if (no.least < 0) no = {0, no_bound};
  }
  Range range{std::min(yes.least, no.least), std::max(yes.most, no.most)};
  const Instruction& test = program_[select.operand[0]];
  if (test.op != KernelOp::less) return range;
  if (test.operand[0] == select.operand[1] && test.operand[1] == select.operand[2])
    range.most = std::min(yes.most, no.most);
  if (test.operand[0] == select.operand[2] && test.operand[1] == select.operand[1])
    range.least = std::max(yes.least, no.least);
  return range;
}

}  // namespace adit::spirv
