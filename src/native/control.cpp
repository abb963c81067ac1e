// Blocks, conditions and loops. Where the lanes agree control is real; where they differ it is a mask.
#include "native/emitter.hpp"

namespace adit::native {

void Emitter::block(uint32_t number) {
  for (Id id : program_.blocks[number]) instruction(id);
}

void Emitter::instruction(Id id) {
  const Instruction& it = program_[id];
  switch (it.op) {
    case Op::constant: set(id, constant(it.type, it.constant), Shape::uniform); return;
    case Op::argument:
    case Op::buffer:
    case Op::index: return;  // set when the function, the loop began
    case Op::team: {
      const Ref number =
          it.type == Type::u64 ? team_ : LLVMBuildTrunc(builder_, team_, scalar_type(it.type), "");
      set(id, number, shapes_.of[id]);
      return;
    }
    case Op::variable:
    case Op::array:
    case Op::shared: return declare(id, it);
    case Op::load: return load(id, it);
    case Op::store: return store(it);
    case Op::if_: return if_(it);
    case Op::for_: return for_(it);
    case Op::while_: return while_(it);
    case Op::each: return each(it);
    case Op::reduce: return reduce(id, it);
    case Op::once: return block(it.block[0]);
    case Op::reduced: return;  // set by the reduce
    case Op::fence: LLVMBuildFence(builder_, LLVMAtomicOrderingAcquireRelease, 0, ""); return;
    case Op::yield: {
      if (accumulators_.empty()) {
        condition_ = lowered_[it.operand[0]].part[0];
        return;
      }
      const Ref cell = accumulators_[yields_++];
      const Ref before =
          LLVMBuildLoad2(builder_, vector_of(scalar_type(program_[it.operand[0]].type)), cell, "");
      Ref after = accumulated(it, before);
      if (effective()) after = LLVMBuildSelect(builder_, effective(), after, before, "");
      LLVMBuildStore(builder_, after, cell);
      return;
    }
    default:
      if (is_atomic(it.op)) return atomic(id, it);
      if (it.op >= Op::subgroup_size) return subgroup(id, it);
      return arithmetic(id, it);
  }
}

// A little arithmetic on variables: done sooner than it is asked whether a lane wants it. (LLVM would come to
// the same end by itself, but selects vectors by the answer then, which costs some fifty instructions.)
bool Emitter::is_brief(uint32_t number) const {
  constexpr int most = 8;
  int count = 0;
  for (const Id id : program_.blocks[number]) {
    const Instruction& it = program_[id];
    if (it.op == Op::constant) continue;
    const bool moves = it.op == Op::load || it.op == Op::store;
    const bool computes = it.op >= Op::add && it.op <= Op::bitcast;
    if (!computes && !(moves && program_[it.operand[0]].op == Op::variable)) return false;
    if (++count > most) return false;
  }
  return true;
}

// Runs the block for the lanes of the mask, or skips it where there are none.
void Emitter::masked_branch(Ref mask, uint32_t number) {
  const bool asks = !is_brief(number);
  const auto work = asks ? new_block("some") : nullptr, next = asks ? new_block("next") : nullptr;
  if (asks) {
    LLVMBuildCondBr(builder_, any(mask), work, next);
    enter(work);
  }
  const Ref outer = mask_;
  mask_ = mask;
  block(number);
  mask_ = outer;
  if (!asks) return;
  LLVMBuildBr(builder_, next);
  enter(next);
}

void Emitter::if_(const Instruction& it) {
  const Lowered condition = lowered_[it.operand[0]];
  const bool has_else = it.block[1] != no_id;
  if (condition.shape == Shape::uniform) {
    const auto then = new_block("then"), otherwise = has_else ? new_block("else") : nullptr,
               next = new_block("next");
    LLVMBuildCondBr(builder_, condition.part[0], then, has_else ? otherwise : next);
    enter(then);
    block(it.block[0]);
    LLVMBuildBr(builder_, next);
    if (has_else) {
      enter(otherwise);
      block(it.block[1]);
      LLVMBuildBr(builder_, next);
    }
    enter(next);
    return;
  }
  const Ref lanes = condition.part[0], around = effective();
  masked_branch(around ? LLVMBuildAnd(builder_, around, lanes, "") : lanes, it.block[0]);
  if (!has_else) return;
  const Ref others = LLVMBuildNot(builder_, lanes, "");
  masked_branch(around ? LLVMBuildAnd(builder_, around, others, "") : others, it.block[1]);
}

void Emitter::scalar_loop(Ref begin, Ref end, Ref step, bool is_signed,
                          const std::function<void(Ref)>& body) {
  const auto before = LLVMGetInsertBlock(builder_), head = new_block("head"), inside = new_block("body"),
             next = new_block("next");
  LLVMBuildBr(builder_, head);
  enter(head);
  const Ref index = LLVMBuildPhi(builder_, LLVMTypeOf(begin), "i");
  LLVMBuildCondBr(builder_, LLVMBuildICmp(builder_, is_signed ? LLVMIntSLT : LLVMIntULT, index, end, ""),
                  inside, next);
  enter(inside);
  const Ref outer_table = std::exchange(table_here_, unknown_table());
  body(index);
  table_here_ = outer_table;
  Ref values[] = {begin, LLVMBuildAdd(builder_, index, step, "")};
  LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(builder_)};
  LLVMBuildBr(builder_, head);
  LLVMAddIncoming(index, values, blocks, 2);
  enter(next);
}

void Emitter::loop_block(uint32_t number, Ref index, Shape shape) {
  set(program_.blocks[number][0], index, shape);
  const auto outer = std::exchange(more_tables_, tables_for(number));
  const auto read = std::exchange(addends_read_, {});
  block(number);
  addends_read_ = read;
  more_tables_ = outer;
}

void Emitter::for_(const Instruction& it) {
  const Id index_id = program_.blocks[it.block[0]][0];
  const Type type = program_[index_id].type;
  if (shapes_.of[index_id] == Shape::uniform) {
    scalar_loop(lowered_[it.operand[0]].part[0], lowered_[it.operand[1]].part[0],
                lowered_[it.operand[2]].part[0], is_signed_integer(type),
                [&](Ref index) { loop_block(it.block[0], index, Shape::uniform); });
    return;
  }
  // The lanes count for themselves; each leaves when its own counter reaches its own end.
  const Ref outer = mask_, end = value_as(it.operand[1], true), step = value_as(it.operand[2], true);
  const Ref counter = alloca_at_entry(vector_of(scalar_type(type)), "counter");
  const Ref running = alloca_at_entry(LLVMTypeOf(full_mask()), "running");
  LLVMBuildStore(builder_, value_as(it.operand[0], true), counter);
  LLVMBuildStore(builder_, active(), running);
  const auto head = new_block("head"), inside = new_block("body"), next = new_block("next");
  LLVMBuildBr(builder_, head);
  enter(head);
  const Ref index = LLVMBuildLoad2(builder_, LLVMTypeOf(end), counter, "");
  const Ref mask = LLVMBuildAnd(builder_, LLVMBuildLoad2(builder_, LLVMTypeOf(full_mask()), running, ""),
                                compare(Op::less, type, index, end), "");
  LLVMBuildStore(builder_, mask, running);
  LLVMBuildCondBr(builder_, any(mask), inside, next);
  enter(inside);
  mask_ = mask;
  loop_block(it.block[0], index, Shape::varying);
  LLVMBuildStore(builder_, LLVMBuildAdd(builder_, index, step, ""), counter);
  LLVMBuildBr(builder_, head);
  mask_ = outer;
  enter(next);
}

void Emitter::while_(const Instruction& it) {
  const auto head = new_block("head"), inside = new_block("body"), next = new_block("next");
  const Id yielded = program_[program_.blocks[it.block[0]].back()].operand[0];
  const std::vector<Ref> outer_accumulators = std::exchange(accumulators_, {});
  if (shapes_.of[yielded] == Shape::uniform) {
    LLVMBuildBr(builder_, head);
    enter(head);
    block(it.block[0]);
    LLVMBuildCondBr(builder_, condition_, inside, next);
    enter(inside);
    accumulators_ = outer_accumulators;
    block(it.block[1]);
    LLVMBuildBr(builder_, head);
    enter(next);
    return;
  }
  const Ref outer = mask_;
  const TypeRef mask_type = LLVMTypeOf(full_mask());
  const Ref running = alloca_at_entry(mask_type, "running");
  LLVMBuildStore(builder_, active(), running);
  LLVMBuildBr(builder_, head);
  enter(head);
  mask_ = LLVMBuildLoad2(builder_, mask_type, running, "");
  block(it.block[0]);
  const Ref mask = LLVMBuildAnd(builder_, mask_, condition_, "");
  LLVMBuildStore(builder_, mask, running);
  LLVMBuildCondBr(builder_, any(mask), inside, next);
  enter(inside);
  mask_ = mask;
  accumulators_ = outer_accumulators;
  block(it.block[1]);
  LLVMBuildBr(builder_, head);
  mask_ = outer;
  enter(next);
}

}  // namespace adit::native
