// Constants that a vector multiply-add adds, as in every step of a polynomial. An instruction that overwrites
// its addend needs a copy of a constant that lies in a register, and constants that do not fit into registers
// are made anew in every round of a loop. Read from a table they are both, at the cost of a load, of which
// there are enough: a kernel of a logistic likelihood on Neoverse V1 takes a tenth less.
#include <algorithm>

#include "native/compile.hpp"
#include "native/emitter.hpp"

namespace adit::native {

void Emitter::find_addends() {
  if (!host().fma_overwrites_addend) return;
  for (const Instruction& it : program_.instructions) {
    if (it.op != Op::fma || it.width != 1 || (it.type != Type::f64 && it.type != Type::f32)) continue;
    const Instruction& addend = program_[it.operand[2]];
    if (addend.op == Op::constant) addends_.try_emplace({it.type, addend.constant}, addends_.size());
  }
  if (addends_.empty()) return;
  // Each in all lanes of the widest vectors.
  const unsigned lanes = 2 * lanes_;
  addend_row_ = lanes * sizeof(uint64_t);
  std::vector<Ref> rows(addends_.size());
  const TypeRef word = LLVMInt64TypeInContext(context_), row = LLVMArrayType(word, lanes);
  for (const auto& [known, number] : addends_) {
    const uint64_t bits = known.first == Type::f64 ? known.second : (known.second & 0xffffffff) * 0x100000001;
    std::vector<Ref> copies(lanes, i64(bits));
    rows[number] = LLVMConstArray(word, copies.data(), lanes);
  }
  addend_table_ = LLVMAddGlobal(module_, LLVMArrayType(row, static_cast<unsigned>(rows.size())), "addends");
  LLVMSetInitializer(addend_table_, LLVMConstArray(row, rows.data(), static_cast<unsigned>(rows.size())));
  LLVMSetLinkage(addend_table_, LLVMPrivateLinkage);
  LLVMSetGlobalConstant(addend_table_, 1);
  LLVMSetAlignment(addend_table_, 64);
}

// In each round of a loop the table is one that LLVM does not know: it would make constants of what it reads,
// and keep them in registers.
LLVMValueRef Emitter::unknown_table() {
  if (!addend_table_ || !in_lanes_) return nullptr;
  TypeRef pointer = LLVMPointerTypeInContext(context_, 0);
  const TypeRef type = LLVMFunctionType(pointer, &pointer, 1, 0);
  char nothing[] = "", same[] = "=r,0";
  const Ref hide = LLVMGetInlineAsm(type, nothing, 0, same, 4, 1, 0, LLVMInlineAsmDialectATT, 0);
  Ref table = addend_table_;
  return LLVMBuildCall2(builder_, type, hide, &table, 1, "");
}

void Emitter::count_addends(uint32_t number, std::map<size_t, size_t>& counts) const {
  for (const Id id : program_.blocks[number]) {
    const Instruction& it = program_[id];
    if (it.op == Op::fma && shapes_.of[id] == Shape::varying && program_[it.operand[2]].op == Op::constant)
      if (const auto at = addends_.find({it.type, program_[it.operand[2]].constant}); at != addends_.end())
        ++counts[at->second];
    if (it.op != Op::if_) continue;
    for (const uint32_t inner : it.block)
      if (inner != no_id) count_addends(inner, counts);
  }
}

// Where a block of a loop adds a constant several times, as in three exponentials, each time is a load of its
// own: one number that all of them copy would take an instruction of the vector unit for each, and such a
// copy before a multiply-add halves its rate (Neoverse V1).
std::vector<LLVMValueRef> Emitter::tables_for(uint32_t number) {
  constexpr size_t most = 4;
  std::vector<Ref> tables;
  if (!table_here_ || !in_lanes_) return tables;
  std::map<size_t, size_t> counts;
  count_addends(number, counts);
  size_t times = 1;
  for (const auto& [constant, count] : counts) times = std::max(times, std::min(count, most));
  while (tables.size() + 1 < times) tables.push_back(unknown_table());
  return tables;
}

LLVMValueRef Emitter::addend(const Instruction& it, Ref otherwise) {
  if (!table_here_ || LLVMGetTypeKind(LLVMTypeOf(otherwise)) != LLVMVectorTypeKind) return otherwise;
  const Instruction& known = program_[it.operand[2]];
  if (known.op != Op::constant) return otherwise;
  const auto at = addends_.find({it.type, known.constant});
  if (at == addends_.end()) return otherwise;
  Ref offset = i64(at->second * addend_row_);
  const size_t turn = addends_read_[at->second]++ % (more_tables_.size() + 1);
  const Ref table = turn == 0 ? table_here_ : more_tables_[turn - 1];
  const Ref place = LLVMBuildGEP2(builder_, LLVMInt8TypeInContext(context_), table, &offset, 1, "");
  const Ref value = LLVMBuildLoad2(builder_, LLVMTypeOf(otherwise), place, "");
  LLVMSetAlignment(value, 16);
  return value;
}

}  // namespace adit::native
