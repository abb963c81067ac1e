// Loads and stores: scalar where the lanes agree, vector where they are neighbours, lane by lane otherwise.
#include "native/compile.hpp"
#include "native/emitter.hpp"

namespace adit::native {

namespace {

constexpr unsigned line_bytes = 64;  // of a cache

}  // namespace

LLVMTypeRef Emitter::array_type(Id id) const {
  const TypeRef one = memory_type(program_[id].type);
  return LLVMArrayType(shapes_.per_lane[id] ? vector_of(one) : one,
                       static_cast<unsigned>(program_[id].constant));
}

void Emitter::declare(Id id, const Instruction& it) {
  const std::string name(name_of(it.op));
  switch (it.op) {
    case Op::variable: {
      const TypeRef scalar = scalar_type(it.type);
      set(id, alloca_at_entry(shapes_.of[id] == Shape::varying ? vector_of(scalar) : scalar, name.c_str()),
          Shape::uniform);
      declared_under_[id] = mask_;
      return;
    }
    case Op::array: {
      // A body that is written several times uses one array again: the stack is small.
      if (lowered_[id].part[0]) return;
      set(id, alloca_at_entry(array_type(id), name.c_str()), Shape::uniform);
      return;
    }
    default: {  // shared memory is the thread's own: one thread runs the whole team
      const Ref cell = alloca_at_entry(
          LLVMArrayType(memory_type(it.type), static_cast<unsigned>(it.constant)), name.c_str());
      LLVMSetAlignment(cell, line_bytes);  // a vector that crosses a line takes two accesses
      set(id, cell, Shape::uniform);
    }
  }
}

LLVMValueRef Emitter::index_as_i64(Ref index, Type type, bool vector) {
  const TypeRef wide =
      vector ? vector_of(LLVMInt64TypeInContext(context_)) : LLVMInt64TypeInContext(context_);
  if (bits_of(type) == 64) return index;
  return is_unsigned(type) ? LLVMBuildZExt(builder_, index, wide, "")
                           : LLVMBuildSExt(builder_, index, wide, "");
}

LLVMValueRef Emitter::element(Ref base, Type type, Ref index) {
  return LLVMBuildGEP2(builder_, memory_type(type), base, &index, 1, "");
}

LLVMValueRef Emitter::from_memory(Ref value, Type type) {
  return type == Type::boolean
             ? LLVMBuildICmp(builder_, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "")
             : value;
}

LLVMValueRef Emitter::to_memory(Ref value, Type type) {
  if (type != Type::boolean) return value;
  const bool vector = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMVectorTypeKind;
  const TypeRef byte = LLVMInt8TypeInContext(context_);
  return LLVMBuildZExt(builder_, value, vector ? vector_of(byte) : byte, "");
}

// Buffers promise no more than the alignment of an element.
LLVMValueRef Emitter::plain_load(Ref pointer, TypeRef type, Type element_type) {
  const Ref value = LLVMBuildLoad2(builder_, type, pointer, "");
  LLVMSetAlignment(value, size_of(element_type));
  return from_memory(value, element_type);
}

void Emitter::plain_store(Ref pointer, Ref value, Type element_type) {
  LLVMSetAlignment(LLVMBuildStore(builder_, to_memory(value, element_type), pointer), size_of(element_type));
}

LLVMValueRef Emitter::gather(Ref base, Type type, Ref indices, Ref mask) {
  Ref result = LLVMGetPoison(vector_of(memory_type(type)));
  for (unsigned l = 0; l < lanes_; ++l) {
    Ref pointer = element(base, type, lane_of(indices, l));
    if (mask) pointer = LLVMBuildSelect(builder_, lane_of(mask, l), pointer, scratch_, "");
    const Ref value = LLVMBuildLoad2(builder_, memory_type(type), pointer, "");
    LLVMSetAlignment(value, size_of(type));
    result = LLVMBuildInsertElement(builder_, result, value, i32(l), "");
  }
  return from_memory(result, type);
}

// Whether a number of the lanes is one of memory that nobody writes, side by side, plus what is the same for
// all of them: each lane's is then read by itself. To take it out of a vector is dearer than to read it.
bool Emitter::lanes_know(Id id) const {
  const Instruction& it = program_[id];
  if (lowered_[id].shape == Shape::uniform) return true;
  if (it.op == Op::convert && is_integer(it.type) && is_integer(program_[it.operand[0]].type) &&
      bits_of(it.type) == bits_of(program_[it.operand[0]].type))
    return lanes_know(it.operand[0]);
  if (it.op == Op::add && is_integer(it.type)) return lanes_know(it.operand[0]) && lanes_know(it.operand[1]);
  if (it.op != Op::load || it.width != 1 || !is_integer(it.type)) return false;
  const Instruction& object = program_[it.operand[0]];
  return object.op == Op::buffer && program_.parameters[object.constant].access == Access::read &&
         lowered_[it.operand[1]].shape == Shape::linear;
}

LLVMValueRef Emitter::number_of_lane(Id id, unsigned lane) {
  const Instruction& it = program_[id];
  if (lowered_[id].shape == Shape::uniform) return lowered_[id].part[0];
  if (it.op == Op::convert) return number_of_lane(it.operand[0], lane);
  if (it.op == Op::add)
    return LLVMBuildAdd(builder_, number_of_lane(it.operand[0], lane), number_of_lane(it.operand[1], lane),
                        "");
  const Id index = it.operand[1];
  const Ref first = index_as_i64(lowered_[index].part[0], program_[index].type, false);
  const Ref place = LLVMBuildAdd(builder_, first, i64(lane), "");
  return plain_load(element(lowered_[it.operand[0]].part[0], it.type, place), memory_type(it.type), it.type);
}

LLVMValueRef Emitter::gather_by_lanes(Ref base, Type type, Id index) {
  Ref result = LLVMGetPoison(vector_of(memory_type(type)));
  for (unsigned l = 0; l < lanes_; ++l) {
    const Ref place = index_as_i64(number_of_lane(index, l), program_[index].type, false);
    const Ref value = LLVMBuildLoad2(builder_, memory_type(type), element(base, type, place), "");
    LLVMSetAlignment(value, size_of(type));
    result = LLVMBuildInsertElement(builder_, result, value, i32(l), "");
  }
  return from_memory(result, type);
}

// In the order of the lanes, so that the last one wins where they meet.
void Emitter::scatter(Ref base, Type type, Ref indices, Ref value, Ref mask) {
  const Ref stored = to_memory(value, type);
  for (unsigned l = 0; l < lanes_; ++l) {
    Ref pointer = element(base, type, lane_of(indices, l));
    if (mask) pointer = LLVMBuildSelect(builder_, lane_of(mask, l), pointer, scratch_, "");
    LLVMSetAlignment(LLVMBuildStore(builder_, lane_of(stored, l), pointer), size_of(type));
  }
}

// When a linear index may be used as one vector access: null for always, else a condition at run time.
LLVMValueRef Emitter::linear_condition(const Instruction& it) {
  Ref condition = effective() ? all(effective()) : nullptr;
  // Where the first lane is active its place is one of the buffer's, and the next ones lie behind it: only
  // places of lanes that control has switched off may lie before the first and wrap.
  if (mask_ && shapes_.may_wrap[it.operand[1]] && program_[it.operand[1]].type == Type::u32) {
    const Ref base = lowered_[it.operand[1]].part[0];
    const Ref last = LLVMBuildAdd(builder_, base, integer(LLVMTypeOf(base), lanes_ - 1), "");
    const Ref straight = LLVMBuildICmp(builder_, LLVMIntULE, base, last, "");
    condition = condition ? LLVMBuildAnd(builder_, condition, straight, "") : straight;
  }
  return condition;
}

// Where the end of a loop is all that switches lanes off, and the CPU loads and stores some lanes of a vector
// by itself: one instruction instead of two ways to do it.
bool Emitter::goes_under_mask(const Instruction& it, Type type) const {
  return !mask_ && live_ && it.width == 1 && bits_of(type) >= 32 && host().vector_bits >= 256;
}

void Emitter::load(Id id, const Instruction& it) {
  const Instruction& object = program_[it.operand[0]];
  const Ref base = lowered_[it.operand[0]].part[0];
  if (object.op == Op::variable) {
    const TypeRef scalar = scalar_type(it.type);
    const bool vector = shapes_.of[it.operand[0]] == Shape::varying;
    set(id, LLVMBuildLoad2(builder_, vector ? vector_of(scalar) : scalar, base, ""),
        shapes_.of[it.operand[0]]);
    return;
  }
  if (object.op == Op::array && shapes_.per_lane[it.operand[0]]) return lane_array_access(id, it);

  const Id index_id = it.operand[1];
  const Type index_type = program_[index_id].type;
  const Shape shape = lowered_[index_id].shape;
  const Ref width = i64(it.width);
  const auto part_index = [&](Ref index, unsigned k, bool vector) {
    if (it.width == 1) return index;
    const Ref scaled = LLVMBuildMul(builder_, index, vector ? splat(width) : width, "");
    return LLVMBuildAdd(builder_, scaled, vector ? splat(i64(k)) : i64(k), "");
  };
  Lowered result{{}, shape == Shape::uniform ? Shape::uniform : Shape::varying};
  if (shape == Shape::uniform) {
    const Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    for (unsigned k = 0; k < it.width; ++k)
      result.part[k] =
          plain_load(element(base, it.type, part_index(index, k, false)), memory_type(it.type), it.type);
    lowered_[id] = result;
    return;
  }
  const auto slow = [&](std::array<Ref, 4>& part) {
    if (it.width == 1 && !effective() && lanes_know(index_id)) {
      part[0] = gather_by_lanes(base, it.type, index_id);
      return;
    }
    const Ref indices = index_as_i64(as_vector(lowered_[index_id]), index_type, true);
    for (unsigned k = 0; k < it.width; ++k)
      part[k] = gather(base, it.type, part_index(indices, k, true), effective());
  };
  if (shape == Shape::varying) {
    slow(result.part);
    lowered_[id] = result;
    return;
  }
  const auto fast = [&](std::array<Ref, 4>& part) {
    const Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    const TypeRef whole = LLVMVectorType(memory_type(it.type), lanes_ * it.width);
    const Ref place = element(base, it.type, part_index(index, 0, false));
    if (it.width == 1) {
      part[0] = plain_load(place, whole, it.type);
      return;
    }
    // Taken apart as they are in memory: shuffles of single bits are more than code generators can do.
    const Ref all_parts = LLVMBuildLoad2(builder_, whole, place, "");
    LLVMSetAlignment(all_parts, size_of(it.type));
    for (unsigned k = 0; k < it.width; ++k) {
      std::vector<Ref> picks;
      for (unsigned l = 0; l < lanes_; ++l) picks.push_back(i32(l * it.width + k));
      const Ref picked = LLVMBuildShuffleVector(builder_, all_parts, LLVMGetPoison(LLVMTypeOf(all_parts)),
                                                LLVMConstVector(picks.data(), lanes_), "");
      part[k] = from_memory(picked, it.type);
    }
  };
  const bool masked = goes_under_mask(it, it.type);
  const Ref condition = masked ? nullptr : linear_condition(it);
  if (masked) {
    const Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    const TypeRef whole = vector_of(memory_type(it.type));
    result.part[0] =
        intrinsic("llvm.masked.load", {whole, LLVMPointerTypeInContext(context_, 0)},
                  {element(base, it.type, index), i32(size_of(it.type)), live_, LLVMConstNull(whole)});
  } else if (!condition) {
    fast(result.part);
  } else {
    std::array<Ref, 4> quick{}, careful{};
    const auto fast_block = new_block("neighbours"), slow_block = new_block("apart"),
               join = new_block("loaded");
    LLVMBuildCondBr(builder_, condition, fast_block, slow_block);
    enter(fast_block);
    fast(quick);
    LLVMBuildBr(builder_, join);
    enter(slow_block);
    slow(careful);
    const LLVMBasicBlockRef slow_end = LLVMGetInsertBlock(builder_);
    LLVMBuildBr(builder_, join);
    enter(join);
    for (unsigned k = 0; k < it.width; ++k) {
      const Ref phi = LLVMBuildPhi(builder_, LLVMTypeOf(quick[k]), "");
      Ref values[] = {quick[k], careful[k]};
      LLVMBasicBlockRef blocks[] = {fast_block, slow_end};
      LLVMAddIncoming(phi, values, blocks, 2);
      result.part[k] = phi;
    }
  }
  lowered_[id] = result;
}

void Emitter::store(const Instruction& it) {
  const Instruction& object = program_[it.operand[0]];
  const Ref base = lowered_[it.operand[0]].part[0];
  if (object.op == Op::variable) {
    const bool vector = shapes_.of[it.operand[0]] == Shape::varying;
    Ref value = value_as(it.operand[1], vector);
    // Lanes that were not there when the variable came to be never look at it.
    if (vector && mask_ && mask_ != declared_under_[it.operand[0]])
      value =
          LLVMBuildSelect(builder_, mask_, value, LLVMBuildLoad2(builder_, LLVMTypeOf(value), base, ""), "");
    LLVMBuildStore(builder_, value, base);
    return;
  }
  if (object.op == Op::array && shapes_.per_lane[it.operand[0]]) return lane_array_access(no_id, it);

  const Id index_id = it.operand[1], value_id = it.operand[2];
  const Type type = object.type, index_type = program_[index_id].type;
  const Shape shape = lowered_[index_id].shape;
  const auto part_index = [&](Ref index, unsigned k, bool vector) {
    if (it.width == 1) return index;
    const Ref scaled = LLVMBuildMul(builder_, index, vector ? splat(i64(it.width)) : i64(it.width), "");
    return LLVMBuildAdd(builder_, scaled, vector ? splat(i64(k)) : i64(k), "");
  };
  if (shape == Shape::uniform && lowered_[value_id].shape == Shape::uniform) {
    const Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    for (unsigned k = 0; k < it.width; ++k)
      plain_store(element(base, type, part_index(index, k, false)), lowered_[value_id].part[k], type);
    return;
  }
  const auto slow = [&] {
    const Ref indices = index_as_i64(as_vector(lowered_[index_id]), index_type, true);
    for (unsigned k = 0; k < it.width; ++k)
      scatter(base, type, part_index(indices, k, true), value_as(value_id, true, static_cast<int>(k)),
              effective());
  };
  if (shape != Shape::linear) return slow();
  const auto fast = [&] {
    const Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    const Ref place = element(base, type, part_index(index, 0, false));
    if (it.width == 1) {
      plain_store(place, value_as(value_id, true, 0), type);
    } else {  // lane l's parts stand side by side: concatenate, then interleave
      std::vector<Ref> parts;
      for (int k = 0; k < it.width; ++k) parts.push_back(to_memory(value_as(value_id, true, k), type));
      while (parts.size() > 1) {
        std::vector<Ref> joined;
        for (size_t k = 0; k < parts.size(); k += 2) {
          const unsigned length = LLVMGetVectorSize(LLVMTypeOf(parts[k]));
          std::vector<Ref> picks;
          for (unsigned l = 0; l < 2 * length; ++l) picks.push_back(i32(l));
          joined.push_back(LLVMBuildShuffleVector(builder_, parts[k], parts[k + 1],
                                                  LLVMConstVector(picks.data(), 2 * length), ""));
        }
        parts = joined;
      }
      std::vector<Ref> picks;
      for (unsigned l = 0; l < lanes_; ++l)
        for (unsigned k = 0; k < it.width; ++k) picks.push_back(i32(k * lanes_ + l));
      const Ref whole = LLVMBuildShuffleVector(builder_, parts[0], LLVMGetPoison(LLVMTypeOf(parts[0])),
                                               LLVMConstVector(picks.data(), lanes_ * it.width), "");
      LLVMSetAlignment(LLVMBuildStore(builder_, whole, place), size_of(type));
    }
  };
  if (goes_under_mask(it, type)) {
    const Ref place = element(base, type, index_as_i64(lowered_[index_id].part[0], index_type, false));
    const Ref value = to_memory(value_as(value_id, true, 0), type);
    intrinsic("llvm.masked.store", {LLVMTypeOf(value), LLVMPointerTypeInContext(context_, 0)},
              {value, place, i32(size_of(type)), live_});
    return;
  }
  const Ref condition = linear_condition(it);
  if (!condition) return fast();
  const auto fast_block = new_block("neighbours"), slow_block = new_block("apart"),
             join = new_block("stored");
  LLVMBuildCondBr(builder_, condition, fast_block, slow_block);
  enter(fast_block);
  fast();
  LLVMBuildBr(builder_, join);
  enter(slow_block);
  slow();
  LLVMBuildBr(builder_, join);
  enter(join);
}

// A private array holds its elements lane beside lane: element i of all lanes is one vector.
void Emitter::lane_array_access(Id id, const Instruction& it) {
  const Ref base = lowered_[it.operand[0]].part[0];
  const Type type = program_[it.operand[0]].type;
  const Id index_id = it.operand[1];
  const Type index_type = program_[index_id].type;
  const TypeRef row = vector_of(memory_type(type));
  if (lowered_[index_id].shape == Shape::uniform) {
    Ref index = index_as_i64(lowered_[index_id].part[0], index_type, false);
    const Ref pointer = LLVMBuildGEP2(builder_, row, base, &index, 1, "");
    const auto current = [&] { return from_memory(LLVMBuildLoad2(builder_, row, pointer, ""), type); };
    if (it.op == Op::load) {
      set(id, current(), Shape::varying);
      return;
    }
    Ref value = value_as(it.operand[2], true);
    if (mask_) value = LLVMBuildSelect(builder_, mask_, value, current(), "");
    LLVMBuildStore(builder_, to_memory(value, type), pointer);
    return;
  }
  const Ref indices = index_as_i64(as_vector(lowered_[index_id]), index_type, true);
  const Ref places = LLVMBuildAdd(builder_, LLVMBuildMul(builder_, indices, splat(i64(lanes_)), ""),
                                  iota(LLVMInt64TypeInContext(context_)), "");
  if (it.op == Op::load)
    set(id, gather(base, type, places, effective()), Shape::varying);
  else
    scatter(base, type, places, value_as(it.operand[2], true), effective());
}

}  // namespace adit::native
