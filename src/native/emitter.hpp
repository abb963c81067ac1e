// Writes one kernel program as an LLVM function: explicit SPMD on SIMD.
//
// - A uniform value is a scalar; a linear one is the scalar of lane 0; a varying one is a vector of W lanes.
// - mask_ tells the active lanes where control diverged; null means all of them, and costs nothing.
// - live_ tells the lanes that exist at all, in the last vector of a dispatch. Lanes beyond it may compute
// what they
//   like: only memory and loops that wait for lanes look at it.
// - Variables are allocas that LLVM promotes; a store under a mask is a blend.
// - Memory under a mask: inactive lanes are pointed at a scratch cell, so no lane branches.
#pragma once

#include <array>
#include <functional>
#include <llvm-c/Core.h>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <adit/kernel/program.hpp>

#include "native/shapes.hpp"

namespace adit::native {

using namespace kernel;

// What an instruction became; parts beyond the first only for 2- and 4-vectors.
struct Lowered {
  std::array<LLVMValueRef, 4> part{};
  Shape shape = Shape::uniform;
};

class Emitter {
 public:
  Emitter(LLVMContextRef context, LLVMModuleRef module, const Program& program, unsigned lanes);
  ~Emitter();
  void run();

 private:
  using Ref = LLVMValueRef;
  using TypeRef = LLVMTypeRef;

  // types.cpp: types, constants, shapes of values
  TypeRef scalar_type(Type type) const;  // in registers; bool is i1
  TypeRef memory_type(Type type) const;  // in memory; bool is i8
  TypeRef vector_of(TypeRef type) const { return LLVMVectorType(type, lanes_); }
  Ref integer(TypeRef type, uint64_t value) const { return LLVMConstInt(type, value, 0); }
  Ref i64(uint64_t value) const { return integer(LLVMInt64TypeInContext(context_), value); }
  Ref i32(uint64_t value) const { return integer(LLVMInt32TypeInContext(context_), value); }
  Ref splat(Ref scalar);
  Ref iota(TypeRef integer_type) const;
  Ref as_vector(const Lowered& value, int part = 0);
  Ref value_as(Id id, bool vector, int part = 0);
  Ref intrinsic(const char* name, std::initializer_list<TypeRef> overloads,
                std::initializer_list<Ref> arguments);
  Ref any(Ref mask);
  Ref all(Ref mask);
  Ref full_mask() const;
  Ref effective() const { return mask_ ? mask_ : live_; }  // null for all lanes
  Ref active() const { return effective() ? effective() : full_mask(); }
  Ref lane_of(Ref vector, unsigned lane);
  Ref alloca_at_entry(TypeRef type, const char* name);
  LLVMBasicBlockRef new_block(const char* name);
  void enter(LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(builder_, block); }

  // arithmetic.cpp
  void arithmetic(Id id, const Instruction& it);
  Ref compute(const Instruction& it, Ref a, Ref b, Ref c, TypeRef type, Type operand_type);
  Ref bound(const Instruction& it, Ref limit, Ref x, TypeRef type);
  Ref divide_integers(const Instruction& it, Ref a, Ref b, TypeRef type);
  Ref compare(Op op, Type type, Ref a, Ref b);
  static bool is_single(Ref a);  // a row of one lane
  Ref element_of(Ref row);
  Ref single(Ref a);
  Ref conversion(const Instruction& it, Type from, Ref a, TypeRef type);
  Ref beside_zeros(Ref words, TypeRef type);
  Ref combine(Reduction op, Type type, Ref a, Ref b);
  std::optional<Id> asked_for_nan(const Instruction& it) const;
  Ref choice_that_keeps_nan(const Instruction& it, Ref second);
  Ref constant(Type type, uint64_t bits);

  // addends.cpp
  void find_addends();
  Ref unknown_table();
  std::vector<Ref> tables_for(uint32_t number);
  void count_addends(uint32_t number, std::map<size_t, size_t>& counts) const;
  Ref addend(const Instruction& it, Ref otherwise);

  // memory.cpp
  TypeRef array_type(Id id) const;
  void declare(Id id, const Instruction& it);
  void load(Id id, const Instruction& it);
  void store(const Instruction& it);
  void atomic(Id id, const Instruction& it);
  Ref base_of(Id object);
  Ref index_as_i64(Ref index, Type type, bool vector);
  Ref element(Ref base, Type type, Ref index);
  Ref from_memory(Ref value, Type type);
  Ref to_memory(Ref value, Type type);
  Ref plain_load(Ref pointer, TypeRef type, Type element);
  void plain_store(Ref pointer, Ref value, Type element);
  Ref gather(Ref base, Type type, Ref indices, Ref mask);
  bool lanes_know(Id id) const;
  Ref number_of_lane(Id id, unsigned lane);
  Ref gather_by_lanes(Ref base, Type type, Id index);
  void scatter(Ref base, Type type, Ref indices, Ref value, Ref mask);
  Ref linear_condition(const Instruction& it);
  bool goes_under_mask(const Instruction& it, Type type) const;
  void lane_array_access(Id id, const Instruction& it);
  Ref atomic_once(const Instruction& it, Ref pointer, Ref value, Ref expected);

  // control.cpp
  void block(uint32_t number);
  void instruction(Id id);
  void if_(const Instruction& it);
  void for_(const Instruction& it);
  void while_(const Instruction& it);
  void masked_branch(Ref mask, uint32_t number);
  bool is_brief(uint32_t number) const;
  // Runs `body` with `index` from begin while index < end.
  void scalar_loop(Ref begin, Ref end, Ref step, bool is_signed, const std::function<void(Ref)>& body);

  // team.cpp
  std::vector<Id> large_arrays() const;
  void enter_with(const std::vector<Id>& arrays, TypeRef type, TypeRef entry_type);
  void program_body();
  using LaneBody = std::function<void(Ref base, unsigned copy)>;
  void lanes_over(Ref begin, Ref end, unsigned unroll, const LaneBody& body, bool rest_at_once);
  bool takes_twice_the_lanes(const Instruction& it, size_t longer_than) const;
  void each(const Instruction& it);
  void reduce(Id id, const Instruction& it);
  Ref accumulated(const Instruction& yield, Ref before);
  Ref horizontal(Reduction op, Type type, Ref vector);
  void loop_block(uint32_t number, Ref index, Shape shape);

  // subgroup.cpp
  void subgroup(Id id, const Instruction& it);
  Ref ballot(Ref votes, uint64_t word);
  Ref scan(Reduction op, Type type, Ref vector, bool inclusive);

  Lowered& set(Id id, Ref value, Shape shape);

  LLVMContextRef context_;
  LLVMModuleRef module_;
  LLVMBuilderRef builder_;
  const Program& program_;
  unsigned lanes_;  // 1 while the rest of a loop is written, twice as many in a long one
  Shapes shapes_;
  std::vector<Lowered> lowered_;                     // by Id; of a memory object: its address
  std::unordered_map<Id, std::vector<Id>> reduced_;  // the results of each reduce
  std::vector<Ref> declared_under_;                  // by Id, of a variable: the mask then
  Ref function_ = nullptr;
  LLVMBasicBlockRef entry_ = nullptr;  // holds the allocas and the loaded arguments
  Ref mask_ = nullptr, live_ = nullptr;
  bool in_lanes_ = false;
  std::map<std::pair<Type, uint64_t>, size_t> addends_;  // constants by their rows in the table
  uint64_t addend_row_ = 0;                              // bytes
  Ref addend_table_ = nullptr, table_here_ = nullptr;    // as it is, and as the loop around knows it
  std::vector<Ref> more_tables_;           // the same once more, for constants that are read again
  std::map<size_t, size_t> addends_read_;  // how often in the block of a loop
  Ref team_ = nullptr;                     // i64
  Ref scratch_ = nullptr;                  // where inactive lanes read and write
  std::vector<Ref> accumulators_;          // of the reduce being written: one a yield
  Ref condition_ = nullptr;                // what the while condition just yielded
  size_t yields_ = 0;
};

// The name of the one function in a kernel's object file.
inline constexpr const char* entry_name = "adit_kernel";

}  // namespace adit::native
