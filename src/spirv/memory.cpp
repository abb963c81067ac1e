#include "spirv/memory.hpp"

#include <fmt/format.h>

#include "spirv/matrix.hpp"
#include "spirv/rounding.hpp"

namespace adit::spirv {

using kernel::Id;
using kernel::Instruction;
using kernel::Parameter;
using kernel::size_of;
using spv::Op;
using spv::StorageClass;
using KernelOp = kernel::Op;

namespace {

constexpr Word aligned = code_of(spv::MemoryAccessMask::Aligned);
constexpr Word shared_access = code_of(spv::MemoryAccessMask::NonPrivatePointer);

uint64_t bytes_of_all(const kernel::Program& program, KernelOp kind) {
  uint64_t bytes = 0;
  for (const Instruction& it : program.instructions)
    if (it.op == kind) bytes += it.constant * cell_bytes(it.type);
  return bytes;
}

uint32_t bytes_in_block(const Parameter& p) { return p.is_buffer ? 8 : size_of(p.type); }

}  // namespace

Memory::Memory(Code& code) : code_(code), program_(code.program), locals_(program_.instructions.size()) {
  reserve_shared(bytes_of_all(program_, KernelOp::shared));
  check_private();
  load_arguments();
}

// Drivers spend minutes on larger ones, or fail.
void Memory::check_private() {
  constexpr uint64_t most = 64 * 1024;
  const uint64_t bytes = bytes_of_all(program_, KernelOp::array);
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
  if (t != Type::boolean && !is_small(t)) return code_.type(t, width);
  const Word scalar = code_.module.type_integer(size_of(t) * 8);
  return width == 1 ? scalar : code_.module.type_vector(scalar, width);
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
    const Word member = argument_member(k + 1, type, bytes_in_block(p));
    if (p.is_buffer) module.name(member, p.name);
    arguments_.push_back(p.is_buffer ? member : from_buffer(p.type, member));
  }
}

void Memory::reserve_shared(uint64_t bytes) {
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
  local.cell = it.type;
  if (it.op == KernelOp::variable) {
    local.variable = code_.local(it.width == 0 ? matrix_type(code_, it) : code_.type(local.cell));
    return;
  }
  // Shared floats that are changed by compare and exchange are kept as their bits.
  if (it.op == KernelOp::shared && has_float_atomics(id)) local.cell = kernel::unsigned_like(it.type);
  if (it.op == KernelOp::shared) local.width = cell_width(id);
  const Word array = code_.module.type_array(code_.type(local.cell, local.width),
                                             static_cast<uint32_t>(it.constant) / local.width);
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
  const Word type = code_.module.type_pointer(storage, code_.type(local.cell, local.width));
  return code_.op(Op::OpAccessChain, type, {local.variable, index});
}

// The widest access decides how a shared array is declared, for only so is that access one instruction; but
// atomics and matrices of single elements want the elements themselves.
uint32_t Memory::cell_width(Id shared) const {
  uint32_t width = 1;
  for (const Instruction& it : program_.instructions) {
    if (it.operand_count == 0 || it.operand[0] != shared) continue;
    const bool is_matrix = is_matrix_op(it.op);
    const uint32_t own = is_matrix ? kernel::MatrixForm::of(it.constant).vector : it.width;
    if (is_atomic(it.op) || (is_matrix && own == 1)) return 1;
    if (own > width) width = own;
  }
  return program_[shared].constant % width == 0 ? width : 1;
}

// One scalar of an access whose width is not that of the array's cells.
Word Memory::shared_part(const Instruction& it, Word index, uint32_t part) {
  const Local& local = locals_[it.operand[0]];
  const Type counts = program_[it.operand[1]].type;
  const Word type = code_.type(counts);
  if (it.width > 1) {
    index = code_.op(Op::OpIMul, type, {index, code_.constant(counts, it.width)});
    index = code_.op(Op::OpIAdd, type, {index, code_.constant(counts, part)});
  }
  if (local.width == 1) return local_element(it.operand[0], index);
  const Word shift = code_.constant(counts, local.width == 4 ? 2 : 1);
  const Word cell = code_.op(Op::OpShiftRightLogical, type, {index, shift});
  const Word within = code_.op(Op::OpBitwiseAnd, type, {index, code_.constant(counts, local.width - 1)});
  const Word pointer = code_.module.type_pointer(StorageClass::Workgroup, code_.type(local.cell));
  return code_.op(Op::OpAccessChain, pointer, {local.variable, cell, within});
}

Word Memory::matrix_place(const Instruction& it, Word index) {
  const Id object = it.operand[0];
  const uint32_t vector = kernel::MatrixForm::of(it.constant).vector;
  if (program_[object].op == KernelOp::buffer)
    return buffer_element(object, index, program_[object].type, vector);
  code_.need(!is_small(program_[object].type), "matrices in a shared array of 8- or 16-bit integers or bf16");
  code_.need(locals_[object].width == vector, "matrices and vectors of one width in a shared array");
  return local_element(object, index);
}

Words Memory::matrix_access(Id object, bool stores) {
  constexpr uint32_t matrix_bytes = 16;  // what rows of matrices begin at
  Words all = stores ? storing(object, 0, 0, program_[object].op == KernelOp::buffer ? matrix_bytes : 0)
                     : loading(object, 0, program_[object].op == KernelOp::buffer ? matrix_bytes : 0);
  all.erase(all.begin(), all.begin() + (stores ? 2 : 1));
  return all;
}

Word Memory::pointer(Id object, Word index, Type cell) {
  return program_[object].op == KernelOp::buffer ? buffer_element(object, index, cell, 1)
                                                 : local_element(object, index);
}

// A bool in a buffer is a byte, 0 or 1.
Word Memory::from_buffer(Type t, Word value, uint32_t width) {
  const bool is_bool = t == Type::boolean;
  if (!is_bool && !is_small(t)) return value;
  const Word wide = code_.op(Op::OpUConvert, code_.type(Type::u32, width), {value});
  const Word whole = code_.wrap(is_bool ? Type::u8 : t, wide, width);
  if (!is_bool) return whole;
  return code_.op(Op::OpINotEqual, code_.type(t, width), {whole, code_.u32(0, width)});
}

// For devices that only store halves. Mesa 22.3 on aarch64 keeps one that was loaded in a loop in a register
// which LLVM cannot widen, so it comes as an integer.
Word Memory::half_from_bits(Word bits, uint32_t width) {
  Words parts;
  for (uint32_t k = 0; k < width; ++k)
    parts.push_back(single_of_half(
        code_, width == 1 ? bits : code_.op(Op::OpCompositeExtract, code_.type(Type::u32), {bits, k})));
  const Word wide =
      width == 1 ? parts[0] : code_.op(Op::OpCompositeConstruct, code_.type(Type::f32, width), parts);
  const Word half = code_.op(Op::OpFConvert, code_.type(Type::f16, width), {wide});
  code_.widened[half] = wide;
  return half;
}

Word Memory::to_buffer(Type t, Word value, uint32_t width) {
  if (t == Type::boolean)
    value = code_.op(Op::OpSelect, code_.type(Type::u32, width),
                     {value, code_.u32(1, width), code_.u32(0, width)});
  else if (!is_small(t))
    return value;
  return code_.op(Op::OpUConvert, memory_type(t, width), {value});
}

// In a program with fences every access to what others may change says so: the fences and barriers then carry
// it through the caches. Without fences nothing of it is needed, and drivers optimise more; but in Vulkan's
// memory model barriers carry only what is said to be shared.
Words Memory::loading(Id object, Word from, uint32_t bytes) {
  if (!is_watched(object)) return bytes == 0 ? Words{from} : Words{from, aligned, bytes};
  if (bytes == 0) return {from, shared_access};
  if (!code_.has_fences) return {from, aligned | shared_access, bytes};
  return {from, aligned | shared_access | code_of(spv::MemoryAccessMask::MakePointerVisible), bytes,
          device_scope()};
}

Words Memory::storing(Id object, Word to, Word value, uint32_t bytes) {
  if (!is_watched(object)) return bytes == 0 ? Words{to, value} : Words{to, value, aligned, bytes};
  if (bytes == 0) return {to, value, shared_access};
  if (!code_.has_fences) return {to, value, aligned | shared_access, bytes};
  const Word mask = aligned | shared_access | code_of(spv::MemoryAccessMask::MakePointerAvailable);
  return {to, value, mask, bytes, device_scope()};
}

bool Memory::is_watched(Id object) const {
  const Instruction& it = program_[object];
  if (!code_.vulkan_model || it.op == KernelOp::variable || it.op == KernelOp::array) return false;
  return it.op == KernelOp::shared || program_.parameters[it.constant].access != kernel::Access::read;
}

Word Memory::device_scope() { return code_.u32(code_of(spv::Scope::Device)); }

Word Memory::load(const Instruction& it, Word index) {
  const Id object = it.operand[0];
  if (program_[object].op == KernelOp::buffer) {
    const bool by_bits = it.type == Type::f16 && !code_.target.float16;
    const Word from = buffer_element(object, index, by_bits ? Type::u16 : it.type, it.width);
    if (by_bits) {
      const Word bits = code_.op(Op::OpLoad, memory_type(Type::u16, it.width),
                                 loading(object, from, size_of(it.type) * it.width));
      return half_from_bits(from_buffer(Type::u16, bits, it.width), it.width);
    }
    const Word value = code_.op(Op::OpLoad, memory_type(it.type, it.width),
                                loading(object, from, size_of(it.type) * it.width));
    return from_buffer(it.type, value, it.width);
  }
  const Local& local = locals_[object];
  if (it.width == 0) return code_.op(Op::OpLoad, matrix_type(code_, it), {local.variable});
  const auto read = [&](Word from, uint32_t width) {
    const Word value = code_.op(Op::OpLoad, code_.type(local.cell, width), loading(object, from, 0));
    return local.cell == it.type ? value : code_.op(Op::OpBitcast, code_.type(it.type, width), {value});
  };
  if (it.width == local.width) return read(local_element(object, index), it.width);
  Words parts;
  for (uint32_t k = 0; k < it.width; ++k) parts.push_back(read(shared_part(it, index, k), 1));
  return it.width == 1 ? parts[0] : code_.op(Op::OpCompositeConstruct, code_.type(it.type, it.width), parts);
}

void Memory::store(const Instruction& it, Word index, Word value) {
  const Id object = it.operand[0];
  const Type type = program_[object].type;
  if (program_[object].op == KernelOp::buffer) {
    const Word to = buffer_element(object, index, type, it.width);
    const Word held = to_buffer(type, value, it.width);
    code_.plain(Op::OpStore, storing(object, to, held, size_of(type) * it.width));
    return;
  }
  const Local& local = locals_[object];
  if (it.width == 0) return code_.plain(Op::OpStore, {local.variable, value});
  const auto write = [&](Word to, Word held, uint32_t width) {
    if (local.cell != type) held = code_.op(Op::OpBitcast, code_.type(local.cell, width), {held});
    code_.plain(Op::OpStore, storing(object, to, held, 0));
  };
  if (it.width == local.width) return write(local_element(object, index), value, it.width);
  for (uint32_t k = 0; k < it.width; ++k) {
    const Word part = it.width == 1 ? value : code_.op(Op::OpCompositeExtract, code_.type(type), {value, k});
    write(shared_part(it, index, k), part, 1);
  }
}

Word Memory::scratch(Type type, uint32_t length, uint32_t slot, uint32_t width) {
  Word& array = scratch_[{type, slot}];
  if (array == 0) {
    reserve_shared(uint64_t{length} * cell_bytes(type));
    array = code_.module.variable(StorageClass::Workgroup,
                                  code_.module.type_array(code_.type(type, width), length / width));
  }
  return array;
}

void Memory::store_scratch(Type type, Word array, Word element, uint32_t width, Word value) {
  const Word u32 = code_.type(Type::u32);
  const Word pointer = code_.module.type_pointer(StorageClass::Workgroup, code_.type(type));
  Words operands{array, element};
  if (width > 1)
    operands = {array, code_.op(Op::OpShiftRightLogical, u32, {element, code_.u32(width == 4 ? 2 : 1)}),
                code_.op(Op::OpBitwiseAnd, u32, {element, code_.u32(width - 1)})};
  Words store{code_.op(Op::OpAccessChain, pointer, operands), value};
  if (code_.vulkan_model) store.push_back(shared_access);
  code_.plain(Op::OpStore, store);
}

Word Memory::load_scratch(Type type, Word array, Word cell, uint32_t width) {
  const Word pointer = code_.module.type_pointer(StorageClass::Workgroup, code_.type(type, width));
  Words load{code_.op(Op::OpAccessChain, pointer, {array, cell})};
  if (code_.vulkan_model) load.push_back(shared_access);
  return code_.op(Op::OpLoad, code_.type(type, width), load);
}

Word Memory::next_turn() {
  const Word u32 = code_.type(Type::u32);
  if (turn_ == 0) turn_ = code_.local(u32, code_.u32(0));
  const Word turn = code_.op(Op::OpLoad, u32, {turn_});
  code_.plain(Op::OpStore, {turn_, code_.op(Op::OpBitwiseXor, u32, {turn, code_.u32(1)})});
  return turn;
}

}  // namespace adit::spirv
