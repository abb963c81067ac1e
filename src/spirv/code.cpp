#include "spirv/code.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::spirv {

using kernel::size_of;
using spv::Capability;

namespace {

// Moves an f16 between memory and a register, or changes its width: nothing that is arithmetic.
bool only_moves(const kernel::Program& program, const kernel::Instruction& it) {
  using kernel::Op;
  switch (it.op) {
    case Op::constant:
    case Op::argument:
    case Op::buffer:
    case Op::convert:
    case Op::convert_in_range:
    case Op::pack:
    case Op::extract: return true;
    case Op::load:
    case Op::store: return program[it.operand[0]].op == Op::buffer;
    default: return false;
  }
}

bool computes_with_halves(const kernel::Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [&](const kernel::Instruction& it) {
                       bool uses = it.type == Type::f16;
                       for (int k = 0; k < it.operand_count; ++k)
                         uses |= program[it.operand[k]].type == Type::f16;
                       return uses && !only_moves(program, it);
                     });
}

}  // namespace

Code::Code(const kernel::Program& of, const Target& to)
    : program(of),
      target(to),
      has_fences(std::any_of(of.instructions.begin(), of.instructions.end(),
                             [](const kernel::Instruction& it) { return it.op == kernel::Op::fence; })),
      has_matrices(uses_matrices(of)),
      vulkan_model(has_fences || has_matrices),
      computes_halves_(computes_with_halves(of)) {
  need(program.team.lanes <= target.max_lanes,
       fmt::format("{} lanes in a team ({} at most)", program.team.lanes, target.max_lanes));
  need(!has_matrices || !target.matrices.empty(), "cooperative matrices");
  need(!computes_halves_ || target.float16, "16-bit float arithmetic");
  module.capability(Capability::Shader);
  module.capability(Capability::PhysicalStorageBufferAddresses);
  if (vulkan_model) {
    need(target.vulkan_memory_model, "Vulkan's memory model, for its fences or matrices");
    module.capability(Capability::VulkanMemoryModel);
    if (has_fences) module.capability(Capability::VulkanMemoryModelDeviceScope);
  }
  module.set_lanes(program.team.lanes);
  first_ = current_ = label();
}

void Code::need(bool available, std::string_view what) const {
  if (!available)
    throw Error(ErrorKind::unsupported,
                fmt::format("[kernel {}] needs {}, which this device lacks", program.name, what));
}

Word Code::type(Type t, uint32_t width) {
  if (width > 1) return module.type_vector(type(t), width);
  switch (t) {
    case Type::none: return type_void();
    case Type::boolean: return module.type(spv::Op::OpTypeBool, {});
    case Type::f16:
      floats16_ = true;
      if (computes_halves_) module.capability(Capability::Float16);
      return module.type_float(16);
    case Type::f32: floats32_ = true; return module.type_float(32);
    case Type::f64:
      need(target.float64, "64-bit floats");
      module.capability(Capability::Float64);
      floats64_ = true;
      return module.type_float(64);
    case Type::i64:
    case Type::u64:
      need(target.int64, "64-bit integers");
      module.capability(Capability::Int64);
      return module.type_integer(64);
    default: return module.type_integer(32);
  }
}

Word Code::constant(Type t, uint64_t bits) {
  if (t == Type::boolean) return module.constant_bool(bits != 0);
  if (is_small(t)) {
    const uint32_t unused = 32 - size_of(t) * 8;
    const Word raised = static_cast<Word>(bits) << unused;
    return u32(kernel::is_signed_integer(t) ? static_cast<Word>(static_cast<int32_t>(raised) >> unused)
                                            : raised >> unused);
  }
  if (!is_storage_only(t)) return module.constant(type(t), bits, size_of(t));
  // No constants of such a type exist: narrow a wider one.
  const auto sign = static_cast<Word>(bits >> 15 << 31), magnitude = static_cast<Word>(bits & 0x7fff);
  const Word exponent = magnitude >> 10, fraction = magnitude & 0x3ff;
  Word wide = sign | ((magnitude << 13) + (112u << 23));
  if (exponent == 31) wide = sign | 0x7f800000 | fraction << 13;
  if (exponent == 0) wide = sign | static_cast<Word>(kernel::bits_of_number(Type::f32, fraction * 0x1p-24));
  return op(spv::Op::OpFConvert, type(t), {module.constant(type(Type::f32), wide, 4)});
}

Word Code::u32(uint32_t number, uint32_t width) {
  const Word one = module.constant(type(Type::u32), number, 4);
  if (width == 1) return one;
  return width == 2 ? module.constant_composite(type(Type::u32, 2), {one, one})
                    : module.constant_composite(type(Type::u32, 4), {one, one, one, one});
}

Word Code::wrap(Type t, Word value, uint32_t width) {
  if (!is_small(t)) return value;
  const Word u32s = type(Type::u32, width);
  const uint32_t bits = size_of(t) * 8;
  if (!kernel::is_signed_integer(t))
    return op(spv::Op::OpBitwiseAnd, u32s, {value, u32((1u << bits) - 1, width)});
  const Word unused = u32(32 - bits, width);
  return op(spv::Op::OpShiftRightArithmetic, u32s,
            {op(spv::Op::OpShiftLeftLogical, u32s, {value, unused}), unused});
}

Word Code::float_constant(Type t, double number) { return constant(t, kernel::bits_of_number(t, number)); }

void Code::result(Word id, spv::Op op, Word type, std::initializer_list<Word> operands) {
  body_.push_back(static_cast<Word>(operands.size() + 3) << 16 | static_cast<Word>(op));
  body_.push_back(type);
  body_.push_back(id);
  body_.insert(body_.end(), operands.begin(), operands.end());
}

Word Code::op(spv::Op op, Word type, std::initializer_list<Word> operands) {
  const Word id = module.fresh();
  result(id, op, type, operands);
  return id;
}

Word Code::op(spv::Op op, Word type, std::span<const Word> operands) {
  Words all{type, module.fresh()};
  all.insert(all.end(), operands.begin(), operands.end());
  append(body_, op, all);
  return all[1];
}

Word Code::extended(Word instruction, Word type, std::initializer_list<Word> operands) {
  Words all{module.glsl(), instruction};
  all.insert(all.end(), operands.begin(), operands.end());
  return op(spv::Op::OpExtInst, type, all);
}

Word Code::exact(spv::Op what, Word type, std::initializer_list<Word> operands) {
  const Word id = op(what, type, operands);
  module.decorate(id, spv::Decoration::NoContraction);
  return id;
}

size_t Code::phi(Word id, Word type, Word value, Word from, Word second_from) {
  result(id, spv::Op::OpPhi, type, {value, from, 0, second_from});
  return body_.size() - 2;
}

Word Code::at_entry(spv::Op op, Word type, std::initializer_list<Word> operands) {
  Words all{type, module.fresh()};
  all.insert(all.end(), operands.begin(), operands.end());
  append(entry_, op, all);
  return all[1];
}

Word Code::local(Word pointee, Word initial) {
  const Word pointer = module.type_pointer(spv::StorageClass::Function, pointee);
  const Word id = module.fresh();
  Words operands{pointer, id, static_cast<Word>(spv::StorageClass::Function)};
  if (initial != 0) operands.push_back(initial);
  append(locals_, spv::Op::OpVariable, operands);
  return id;
}

Word Code::builtin(spv::BuiltIn which) {
  for (const auto& [known, value] : builtins_)
    if (known == which) return value;
  const bool is_vector = which == spv::BuiltIn::WorkgroupId || which == spv::BuiltIn::NumWorkgroups;
  const Word value_type = type(Type::u32, is_vector ? 3 : 1);
  const Word variable = module.variable(spv::StorageClass::Input, value_type);
  module.decorate(variable, spv::Decoration::BuiltIn, {static_cast<Word>(which)});
  const Word value = at_entry(spv::Op::OpLoad, value_type, {variable});
  builtins_.emplace_back(which, value);
  return value;
}

void Code::begin(Word label) {
  append(body_, spv::Op::OpLabel, {label});
  current_ = label;
}

void Code::team_barrier(bool with_buffers) {
  if (is_one_subgroup()) module.capability(Capability::GroupNonUniform);
  const Word scope =
      u32(static_cast<uint32_t>(is_one_subgroup() ? spv::Scope::Subgroup : spv::Scope::Workgroup));
  plain(spv::Op::OpControlBarrier, {scope, scope, u32(barrier_semantics(true, with_buffers))});
}

void Code::device_fence() {
  plain(spv::Op::OpMemoryBarrier,
        {u32(static_cast<uint32_t>(spv::Scope::Device)), u32(barrier_semantics(false, true))});
}

uint32_t Code::barrier_semantics(bool with_shared, bool with_buffers) const {
  using Mask = spv::MemorySemanticsMask;
  auto bits = static_cast<uint32_t>(Mask::AcquireRelease);
  if (with_buffers) bits |= static_cast<uint32_t>(Mask::UniformMemory);
  if (with_shared) bits |= static_cast<uint32_t>(Mask::WorkgroupMemory);
  if (vulkan_model)
    bits |= static_cast<uint32_t>(Mask::MakeAvailable) | static_cast<uint32_t>(Mask::MakeVisible);
  return bits;
}

Word Code::select(Type t, Word condition, Word yes, Word no) {
  return op(spv::Op::OpSelect, type(t), {condition, yes, no});
}

void Code::float_mode(spv::ExecutionMode mode, Capability capability, uint32_t bits, bool available) {
  if (!available) return;
  module.capability(capability);
  module.execution_mode(mode, {bits});
}

void Code::float_modes() {
  using Mode = spv::ExecutionMode;
  const Target& t = target;
  const bool half = floats16_, single = floats32_, twice = floats64_;
  float_mode(Mode::DenormPreserve, Capability::DenormPreserve, 16, half && t.denorm_preserve16);
  float_mode(Mode::DenormPreserve, Capability::DenormPreserve, 32, single && t.denorm_preserve32);
  float_mode(Mode::DenormPreserve, Capability::DenormPreserve, 64, twice && t.denorm_preserve64);
  const Capability nan = Capability::SignedZeroInfNanPreserve;
  float_mode(Mode::SignedZeroInfNanPreserve, nan, 16, half && t.signed_zero_inf_nan16);
  float_mode(Mode::SignedZeroInfNanPreserve, nan, 32, single && t.signed_zero_inf_nan32);
  float_mode(Mode::SignedZeroInfNanPreserve, nan, 64, twice && t.signed_zero_inf_nan64);
  float_mode(Mode::RoundingModeRTE, Capability::RoundingModeRTE, 16, half && t.rounding_rte16);
  // Not for f32 and f64, which round to nearest anyway: NVIDIA's driver then divides by a slow, exact
  // routine, and the leapfrog benchmark falls to 0.6 of its speed.
}

Words Code::finish() {
  float_modes();
  const Word nothing = type_void();
  const Word signature = module.type(spv::Op::OpTypeFunction, {nothing});
  const Word function = module.fresh();
  module.name(function, program.name);
  Words all;
  all.reserve(16 + locals_.size() + entry_.size() + body_.size());
  append(all, spv::Op::OpFunction, {nothing, function, 0, signature});
  append(all, spv::Op::OpLabel, {first_});
  for (const Words* part : {&locals_, &entry_, &body_}) all.insert(all.end(), part->begin(), part->end());
  append(all, spv::Op::OpReturn, {});
  append(all, spv::Op::OpFunctionEnd, {});
  return module.assemble(function, "main", all);
}

}  // namespace adit::spirv
