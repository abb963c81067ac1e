#include "spirv/memory.hpp"

#include <fmt/format.h>

#include "spirv/convert.hpp"

namespace adit::spirv {

using kernel::Id;
using kernel::Instruction;
using kernel::Parameter;
using kernel::size_of;
using spv::Op;
using spv::StorageClass;
using KernelOp = kernel::Op;

namespace {

template <class Enum>
constexpr Word code_of(Enum value) {
  return static_cast<Word>(value);
}
constexpr Word aligned = code_of(spv::MemoryAccessMask::Aligned);
constexpr Word shared_access = code_of(spv::MemoryAccessMask::NonPrivatePointer);

uint32_t bytes_in_block(const Parameter& p) { return p.is_buffer ? 8 : size_of(p.type); }

}  // namespace

Memory::Memory(Code& code) : code_(code), program_(code.program), locals_(program_.instructions.size()) {
  reserve_shared(0);
  check_private();
  load_arguments();
}

// Drivers spend minutes on larger ones, or fail.
void Memory::check_private() {
  constexpr uint64_t most = 64 * 1024;
  uint64_t bytes = 0;
  for (const Instruction& it : program_.instructions)
    if (it.op == KernelOp::array) bytes += it.constant * size_of(it.type);
  code_.need(bytes <= most, fmt::format("{} bytes of private arrays ({} at most)", bytes, most));
}

Word Memory::memory_type(Type t, uint32_t width) {
  if (size_of(t) == 1) {
    code_.need(code_.target.storage8, "8-bit values in memory");
    code_.module.capability(spv::Capability::StorageBuffer8BitAccess);
  } else if (size_of(t) == 2) {
    code_.need(code_.target.storage16, "16-bit values in memory");
    code_.module.capability(spv::Capability::StorageBuffer16BitAccess);
  }
  return code_.type(t == Type::boolean ? Type::u8 : t, width);
}

// struct { uvec2 teams; parameters... }; the addresses are typed as the pointers they are, so no 64-bit
// integers are needed.
Word Memory::block_type() {
  Module& module = code_.module;
  Words members{code_.type(Type::u32, 2)};
  for (const Parameter& p : program_.parameters) {
    Word type = memory_type(p.type);
    if (p.is_buffer)
      type = module.type_address(module.type_buffer(type, size_of(p.type), p.access != kernel::Access::read));
    members.push_back(type);
  }
  const Word block = module.type_struct(members);
  module.decorate(block, spv::Decoration::Block);
  for (Word k = 0; k < members.size(); ++k) {
    const Word offset = k == 0 ? 0 : program_.parameters[k - 1].offset;
    module.decorate_member(block, k, spv::Decoration::Offset, {offset});
    module.decorate_member(block, k, spv::Decoration::NonWritable);
  }
  return block;
}

Word Memory::argument_member(uint32_t member, Word type, uint32_t bytes) {
  const bool pushed = arguments_inline(program_);
  const StorageClass where = pushed ? StorageClass::PushConstant : StorageClass::PhysicalStorageBuffer;
  const Word pointer_type = code_.module.type_pointer(where, type);
  const Word pointer = code_.at_entry(Op::OpAccessChain, pointer_type, {block_, code_.u32(member)});
  if (pushed) return code_.at_entry(Op::OpLoad, type, {pointer});
  return code_.at_entry(Op::OpLoad, type, {pointer, aligned, bytes});
}

// The block itself in the push constants, or the address of it.
void Memory::find_block() {
  Module& module = code_.module;
  if (arguments_inline(program_)) {
    block_ = module.variable(StorageClass::PushConstant, block_type());
    return;
  }
  const Word address = module.type_address(block_type());
  const Word push_type = module.type_struct(std::span(&address, 1));
  module.decorate(push_type, spv::Decoration::Block);
  module.decorate_member(push_type, 0, spv::Decoration::Offset, {0});
  const Word push = module.variable(StorageClass::PushConstant, push_type);
  const Word slot = code_.at_entry(
      Op::OpAccessChain, module.type_pointer(StorageClass::PushConstant, address), {push, code_.u32(0)});
  block_ = code_.at_entry(Op::OpLoad, address, {slot});
}

void Memory::load_arguments() {
  Module& module = code_.module;
  find_block();
  const Word teams = argument_member(0, code_.type(Type::u32, 2), 8);
  team_count_ = code_.at_entry(Op::OpCompositeExtract, code_.type(Type::u32), {teams, 0});
  for (uint32_t k = 0; k < program_.parameters.size(); ++k) {
    const Parameter& p = program_.parameters[k];
    Word type = memory_type(p.type);
    if (p.is_buffer)
      type = module.type_address(module.type_buffer(type, size_of(p.type), p.access != kernel::Access::read));
    Word value = argument_member(k + 1, type, bytes_in_block(p));
    if (!p.is_buffer && p.type == Type::boolean) {
      const Word wide = code_.at_entry(Op::OpUConvert, code_.type(Type::u32), {value});
      value = code_.at_entry(Op::OpINotEqual, code_.type(Type::boolean), {wide, code_.u32(0)});
    }
    if (p.is_buffer) module.name(value, p.name);
    arguments_.push_back(value);
  }
}

void Memory::reserve_shared(uint64_t bytes) {
  if (shared_bytes_ == 0) shared_bytes_ = program_.shared_bytes();
  shared_bytes_ += bytes;
  code_.need(shared_bytes_ <= code_.target.shared_bytes,
             fmt::format("{} bytes of shared memory ({} at most)", shared_bytes_, code_.target.shared_bytes));
}

bool Memory::has_float_atomics(Id object) const {
  for (const Instruction& it : program_.instructions)
    if (is_atomic(it.op) && it.operand[0] == object && kernel::is_float(it.type)) return true;
  return false;
}

void Memory::declare(Id id) {
  const Instruction& it = program_[id];
  Local& local = locals_[id];
  // Private integers of 8 and 16 bits live in 32: on an H200 a random program (fuzz seed 10) counted 24 bits
  // too many in a u8 that reached it through a variable.
  const bool is_small = kernel::is_integer(it.type) && size_of(it.type) < 4 && it.op != KernelOp::shared;
  local.cell = is_small ? Type::u32 : it.type;
  if (it.op == KernelOp::variable) {
    local.variable = code_.local(code_.type(local.cell));
    return;
  }
  // Shared floats that are changed by compare and exchange are kept as their bits.
  if (it.op == KernelOp::shared && has_float_atomics(id)) local.cell = kernel::unsigned_like(it.type);
  const Word array = code_.module.type_array(code_.type(local.cell), static_cast<uint32_t>(it.constant));
  local.variable =
      it.op == KernelOp::array ? code_.local(array) : code_.module.variable(StorageClass::Workgroup, array);
}

Word Memory::buffer_element(Id object, Word index, Type cell, uint32_t width) {
  Module& module = code_.module;
  const Instruction& it = program_[object];
  const Parameter& p = program_.parameters[it.constant];
  const Word element = memory_type(cell, width);
  Word buffer = arguments_[it.constant];
  if (element != memory_type(it.type)) {
    View* found = nullptr;
    for (View& view : views_)
      if (view.object == object && view.element == element) found = &view;
    if (found == nullptr) {
      const bool writable = p.access != kernel::Access::read;
      const Word type = module.type_address(module.type_buffer(element, size_of(cell) * width, writable));
      views_.push_back({object, element, code_.at_entry(Op::OpBitcast, type, {buffer})});
      found = &views_.back();
    }
    buffer = found->pointer;
  }
  const Word type = module.type_pointer(StorageClass::PhysicalStorageBuffer, element);
  return code_.op(Op::OpAccessChain, type, {buffer, code_.u32(0), index});
}

Word Memory::local_element(Id object, Word index) {
  const Instruction& it = program_[object];
  const Local& local = locals_[object];
  if (it.op == KernelOp::variable) return local.variable;
  const StorageClass storage = it.op == KernelOp::array ? StorageClass::Function : StorageClass::Workgroup;
  const Word type = code_.module.type_pointer(storage, code_.type(local.cell));
  return code_.op(Op::OpAccessChain, type, {local.variable, index});
}

Word Memory::pointer(Id object, Word index, Type cell) {
  return program_[object].op == KernelOp::buffer ? buffer_element(object, index, cell, 1)
                                                 : local_element(object, index);
}

// A bool in a buffer is a byte, 0 or 1.
Word Memory::from_byte(Word value, uint32_t width) {
  const Word wide = widen(code_, value, Type::u8, width);
  Word zero = code_.u32(0);
  const Word type = code_.type(Type::u32, width);
  if (width == 2) zero = code_.module.constant_composite(type, {zero, zero});
  if (width == 4) zero = code_.module.constant_composite(type, {zero, zero, zero, zero});
  return code_.op(Op::OpINotEqual, code_.type(Type::boolean, width), {wide, zero});
}

Word Memory::to_byte(Word value, uint32_t width) {
  const Word type = code_.type(Type::u32, width);
  Word zero = code_.u32(0), one = code_.u32(1);
  const auto spread = [&](Word x) {
    return width == 2 ? code_.module.constant_composite(type, {x, x})
                      : code_.module.constant_composite(type, {x, x, x, x});
  };
  if (width > 1) {
    zero = spread(zero);
    one = spread(one);
  }
  return narrow(code_, code_.op(Op::OpSelect, type, {value, one, zero}), Type::u8, width);
}

// In a program with fences every access to what others may change says so: the fences and barriers then carry
// it through the caches. Without fences nothing of it is needed, and drivers optimise more.
Words Memory::loading(Id object, Word from, uint32_t bytes) {
  if (!is_watched(object)) return bytes == 0 ? Words{from} : Words{from, aligned, bytes};
  if (bytes == 0) return {from, shared_access};
  return {from, aligned | shared_access | code_of(spv::MemoryAccessMask::MakePointerVisible), bytes,
          device_scope()};
}

Words Memory::storing(Id object, Word to, Word value, uint32_t bytes) {
  if (!is_watched(object)) return bytes == 0 ? Words{to, value} : Words{to, value, aligned, bytes};
  if (bytes == 0) return {to, value, shared_access};
  const Word mask = aligned | shared_access | code_of(spv::MemoryAccessMask::MakePointerAvailable);
  return {to, value, mask, bytes, device_scope()};
}

bool Memory::is_watched(Id object) const {
  const Instruction& it = program_[object];
  if (!code_.has_fences || it.op == KernelOp::variable || it.op == KernelOp::array) return false;
  return it.op == KernelOp::shared || program_.parameters[it.constant].access != kernel::Access::read;
}

Word Memory::device_scope() { return code_.u32(code_of(spv::Scope::Device)); }

Word Memory::load(const Instruction& it, Word index) {
  const Id object = it.operand[0];
  if (program_[object].op == KernelOp::buffer) {
    const Word from = buffer_element(object, index, it.type, it.width);
    const Word value = code_.op(Op::OpLoad, memory_type(it.type, it.width),
                                loading(object, from, size_of(it.type) * it.width));
    return it.type == Type::boolean ? from_byte(value, it.width) : value;
  }
  const Type cell = locals_[object].cell;
  const Word value = code_.op(Op::OpLoad, code_.type(cell), loading(object, local_element(object, index), 0));
  if (cell == it.type) return value;
  return size_of(it.type) < 4 ? narrow(code_, value, it.type)
                              : code_.op(Op::OpBitcast, code_.type(it.type), {value});
}

void Memory::store(const Instruction& it, Word index, Word value) {
  const Id object = it.operand[0];
  const Type type = program_[object].type;
  if (program_[object].op == KernelOp::buffer) {
    if (type == Type::boolean) value = to_byte(value, it.width);
    const Word to = buffer_element(object, index, type, it.width);
    code_.plain(Op::OpStore, storing(object, to, value, size_of(type) * it.width));
    return;
  }
  const Type cell = locals_[object].cell;
  if (cell != type)
    value =
        size_of(type) < 4 ? widen(code_, value, type) : code_.op(Op::OpBitcast, code_.type(cell), {value});
  code_.plain(Op::OpStore, storing(object, local_element(object, index), value, 0));
}

Word Memory::scratch(Type type, uint32_t length, uint32_t slot) {
  Word& array = scratch_[{type, slot}];
  if (array == 0) {
    reserve_shared(uint64_t{length} * size_of(type));
    array = code_.module.variable(StorageClass::Workgroup, code_.module.type_array(code_.type(type), length));
  }
  return array;
}

Word Memory::scratch_element(Type type, Word array, Word index) {
  const Word pointer = code_.module.type_pointer(StorageClass::Workgroup, code_.type(type));
  return code_.op(Op::OpAccessChain, pointer, {array, index});
}

}  // namespace adit::spirv
