#include "spirv/code.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

namespace adit::spirv {

using kernel::size_of;
using spv::Capability;

Code::Code(const kernel::Program& of, const Target& to)
    : program(of),
      target(to),
      has_fences(std::any_of(of.instructions.begin(), of.instructions.end(),
                             [](const kernel::Instruction& it) { return it.op == kernel::Op::fence; })),
      small_(computed_small_types(of)) {
  need(program.team.lanes <= target.max_lanes,
       fmt::format("{} lanes in a team ({} at most)", program.team.lanes, target.max_lanes));
  need(!small_.int8 || target.int8, "8-bit integer arithmetic");
  need(!small_.int16 || target.int16, "16-bit integer arithmetic");
  need(!small_.float16 || target.float16, "16-bit float arithmetic");
  module.capability(Capability::Shader);
  module.capability(Capability::PhysicalStorageBufferAddresses);
  if (has_fences) {
    need(target.vulkan_memory_model, "Vulkan's memory model, for its fences");
    module.capability(Capability::VulkanMemoryModel);
    module.capability(Capability::VulkanMemoryModelDeviceScope);
  }
  module.set_lanes(program.team.lanes);
  first_ = current_ = label();
}

void Code::need(bool available, std::string_view what) const {
  if (!available)
    throw Error(ErrorKind::unsupported,
                fmt::format("[kernel {}] needs {}, which this device lacks", program.name, what));
}

Word Code::integer_type(uint32_t bits) {
  if (bits == 64) {
    need(target.int64, "64-bit integers");
    module.capability(Capability::Int64);
  }
  if (bits == 8 && small_.int8) module.capability(Capability::Int8);
  if (bits == 16 && small_.int16) module.capability(Capability::Int16);
  return module.type_integer(bits);
}

Word Code::type(Type t, uint32_t width) {
  if (width > 1) return module.type_vector(type(t), width);
  switch (t) {
    case Type::none: return type_void();
    case Type::boolean: return module.type(spv::Op::OpTypeBool, {});
    case Type::f16:
      floats16_ = true;
      if (small_.float16) module.capability(Capability::Float16);
      return module.type_float(16);
    case Type::f32: floats32_ = true; return module.type_float(32);
    case Type::f64:
      need(target.float64, "64-bit floats");
      module.capability(Capability::Float64);
      floats64_ = true;
      return module.type_float(64);
    default: return integer_type(size_of(t) * 8);
  }
}

bool Code::is_storage_only(Type t) const {
  if (t == Type::boolean) return false;
  if (t == Type::f16) return !small_.float16;
  return size_of(t) == 1 ? !small_.int8 : size_of(t) == 2 && !small_.int16;
}

Word Code::constant(Type t, uint64_t bits) {
  if (t == Type::boolean) return module.constant_bool(bits != 0);
  if (!is_storage_only(t)) return module.constant(type(t), bits, size_of(t));
  // No constants of such a type exist: narrow a wider one.
  if (t != Type::f16) return op(spv::Op::OpUConvert, type(t), {u32(static_cast<Word>(bits))});
  const auto sign = static_cast<Word>(bits >> 15 << 31), magnitude = static_cast<Word>(bits & 0x7fff);
  const Word exponent = magnitude >> 10, fraction = magnitude & 0x3ff;
  Word wide = sign | ((magnitude << 13) + (112u << 23));
  if (exponent == 31) wide = sign | 0x7f800000 | fraction << 13;
  if (exponent == 0) wide = sign | static_cast<Word>(kernel::bits_of_number(Type::f32, fraction * 0x1p-24));
  return op(spv::Op::OpFConvert, type(t), {module.constant(type(Type::f32), wide, 4)});
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

Word Code::local(Word pointee) {
  const Word pointer = module.type_pointer(spv::StorageClass::Function, pointee);
  const Word id = module.fresh();
  append(locals_, spv::Op::OpVariable, {pointer, id, static_cast<Word>(spv::StorageClass::Function)});
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

void Code::workgroup_barrier() {
  const Word scope = u32(static_cast<uint32_t>(spv::Scope::Workgroup));
  plain(spv::Op::OpControlBarrier, {scope, scope, u32(barrier_semantics(true))});
}

void Code::device_fence() {
  plain(spv::Op::OpMemoryBarrier,
        {u32(static_cast<uint32_t>(spv::Scope::Device)), u32(barrier_semantics(false))});
}

uint32_t Code::barrier_semantics(bool shared_memory) const {
  using Mask = spv::MemorySemanticsMask;
  auto bits = static_cast<uint32_t>(Mask::AcquireRelease) | static_cast<uint32_t>(Mask::UniformMemory);
  if (shared_memory) bits |= static_cast<uint32_t>(Mask::WorkgroupMemory);
  if (has_fences)
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
