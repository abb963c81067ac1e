// Types, constants, and the passage between scalars, linear values and vectors.
#include "native/emitter.hpp"

namespace adit::native {

LLVMTypeRef Emitter::scalar_type(Type type) const {
  switch (type) {
    case Type::boolean: return LLVMInt1TypeInContext(context_);
    case Type::f16: return LLVMHalfTypeInContext(context_);
    case Type::f32: return LLVMFloatTypeInContext(context_);
    case Type::f64: return LLVMDoubleTypeInContext(context_);
    case Type::none: return LLVMVoidTypeInContext(context_);
    default: return LLVMIntTypeInContext(context_, bits_of(type));  // a bf16 is only carried: 16 bits
  }
}

LLVMTypeRef Emitter::memory_type(Type type) const {
  return type == Type::boolean ? LLVMInt8TypeInContext(context_) : scalar_type(type);
}

LLVMValueRef Emitter::constant(Type type, uint64_t bits) {
  const TypeRef register_type = scalar_type(type);
  if (!is_float(type) || type == Type::bf16) return integer(register_type, bits);
  const TypeRef same_size = LLVMIntTypeInContext(context_, bits_of(type));
  return LLVMConstBitCast(integer(same_size, bits), register_type);
}

LLVMValueRef Emitter::splat(Ref scalar) {
  const TypeRef type = LLVMTypeOf(scalar);
  if (LLVMIsConstant(scalar)) {
    std::vector<Ref> copies(lanes_, scalar);
    return LLVMConstVector(copies.data(), lanes_);
  }
  const Ref one = LLVMBuildInsertElement(builder_, LLVMGetPoison(vector_of(type)), scalar, i32(0), "");
  return LLVMBuildShuffleVector(builder_, one, LLVMGetPoison(vector_of(type)),
                                LLVMConstNull(vector_of(LLVMInt32TypeInContext(context_))), "");
}

LLVMValueRef Emitter::iota(TypeRef integer_type) const {
  std::vector<Ref> numbers;
  for (unsigned l = 0; l < lanes_; ++l) numbers.push_back(integer(integer_type, l));
  return LLVMConstVector(numbers.data(), lanes_);
}

LLVMValueRef Emitter::as_vector(const Lowered& value, int part) {
  const Ref v = value.part[part];
  switch (value.shape) {
    case Shape::varying: return v;
    case Shape::uniform: return splat(v);
    case Shape::linear: return LLVMBuildAdd(builder_, splat(v), iota(LLVMTypeOf(v)), "");
  }
  return nullptr;
}

LLVMValueRef Emitter::value_as(Id id, bool vector, int part) {
  return vector ? as_vector(lowered_[id], part) : lowered_[id].part[part];
}

LLVMValueRef Emitter::intrinsic(const char* name, std::initializer_list<TypeRef> overloads,
                                std::initializer_list<Ref> arguments) {
  std::vector<TypeRef> types(overloads);
  std::vector<Ref> values(arguments);
  const unsigned number = LLVMLookupIntrinsicID(name, std::char_traits<char>::length(name));
  const Ref declaration = LLVMGetIntrinsicDeclaration(module_, number, types.data(), types.size());
  const TypeRef type = LLVMIntrinsicGetType(context_, number, types.data(), types.size());
  return LLVMBuildCall2(builder_, type, declaration, values.data(), static_cast<unsigned>(values.size()), "");
}

LLVMValueRef Emitter::any(Ref mask) { return intrinsic("llvm.vector.reduce.or", {LLVMTypeOf(mask)}, {mask}); }
LLVMValueRef Emitter::all(Ref mask) {
  return intrinsic("llvm.vector.reduce.and", {LLVMTypeOf(mask)}, {mask});
}

LLVMValueRef Emitter::full_mask() const {
  return LLVMConstAllOnes(vector_of(LLVMInt1TypeInContext(context_)));
}

LLVMValueRef Emitter::lane_of(Ref vector, unsigned lane) {
  return LLVMBuildExtractElement(builder_, vector, i32(lane), "");
}

LLVMValueRef Emitter::alloca_at_entry(TypeRef type, const char* name) {
  const LLVMBasicBlockRef here = LLVMGetInsertBlock(builder_);
  const Ref first = LLVMGetFirstInstruction(entry_);
  if (first)
    LLVMPositionBuilderBefore(builder_, first);
  else
    enter(entry_);
  const Ref cell = LLVMBuildAlloca(builder_, type, name);
  enter(here);
  return cell;
}

LLVMBasicBlockRef Emitter::new_block(const char* name) {
  return LLVMAppendBasicBlockInContext(context_, function_, name);
}

Lowered& Emitter::set(Id id, Ref value, Shape shape) {
  lowered_[id] = Lowered{{value}, shape};
  return lowered_[id];
}

}  // namespace adit::native
