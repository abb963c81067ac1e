#include "spirv/module.hpp"

#include <algorithm>

#include "support/hash.hpp"

namespace adit::spirv {

namespace {

// Text as the format stores it: four bytes a word, low byte first, ended by a zero.
void append_text(Words& out, std::string_view text) {
  Word word = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const Word byte = i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
    word |= byte << (8 * (i % 4));
    if (i % 4 == 3 || i == text.size()) {
      out.push_back(word);
      word = 0;
    }
  }
}

}  // namespace

void append(Words& out, spv::Op op, std::span<const Word> operands) {
  out.push_back(static_cast<Word>(operands.size() + 1) << 16 | code_of(op));
  out.insert(out.end(), operands.begin(), operands.end());
}

void append(Words& out, spv::Op op, std::initializer_list<Word> operands) {
  append(out, op, std::span<const Word>(operands.begin(), operands.size()));
}

size_t Module::Hash::operator()(const Words& words) const {
  return static_cast<size_t>(hash64(std::as_bytes(std::span(words))));
}

void Module::capability(spv::Capability capability) {
  if (!has(capability)) capabilities_.push_back(capability);
}

bool Module::has(spv::Capability capability) const {
  return std::find(capabilities_.begin(), capabilities_.end(), capability) != capabilities_.end();
}

void Module::extension(std::string_view name) {
  if (std::find(extensions_.begin(), extensions_.end(), name) == extensions_.end())
    extensions_.emplace_back(name);
}

void Module::execution_mode(spv::ExecutionMode mode, std::initializer_list<Word> operands) {
  modes_.push_back(static_cast<Word>(operands.size() + 1));
  modes_.push_back(code_of(mode));
  modes_.insert(modes_.end(), operands.begin(), operands.end());
}

void Module::decorate(Word target, spv::Decoration decoration, std::initializer_list<Word> operands) {
  Words all{target, code_of(decoration)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(decorations_, spv::Op::OpDecorate, all);
}

void Module::decorate_member(Word target, Word member, spv::Decoration decoration,
                             std::initializer_list<Word> operands) {
  Words all{target, member, code_of(decoration)};
  all.insert(all.end(), operands.begin(), operands.end());
  append(decorations_, spv::Op::OpMemberDecorate, all);
}

void Module::name(Word target, std::string_view text) {
  Words all{target};
  append_text(all, text);
  append(names_, spv::Op::OpName, all);
}

Word Module::glsl() {
  if (glsl_ == 0) glsl_ = fresh();
  return glsl_;
}

Word& Module::known(spv::Op op, std::span<const Word> operands) {
  Words key{code_of(op)};
  key.insert(key.end(), operands.begin(), operands.end());
  return known_[std::move(key)];
}

Word Module::declare_type(spv::Op op, std::span<const Word> operands) {
  Words all{fresh()};
  all.insert(all.end(), operands.begin(), operands.end());
  append(globals_, op, all);
  return all[0];
}

Word Module::type(spv::Op op, std::initializer_list<Word> operands) {
  const std::span<const Word> span(operands.begin(), operands.size());
  Word& id = known(op, span);
  if (id == 0) id = declare_type(op, span);
  return id;
}

Word Module::type_vector(Word component, uint32_t width) {
  return type(spv::Op::OpTypeVector, {component, width});
}

Word Module::type_array(Word element, uint32_t length) {
  const Word count = constant(type_integer(32), length, 4);
  return type(spv::Op::OpTypeArray, {element, count});
}

Word Module::type_pointer(spv::StorageClass storage, Word pointee) {
  return type(spv::Op::OpTypePointer, {code_of(storage), pointee});
}

// Declared ahead of itself: else what it points to would count as part of all that holds the pointer, and
// small types may not be part of push constants.
Word Module::type_address(Word block) {
  const auto storage = code_of(spv::StorageClass::PhysicalStorageBuffer);
  const Word key[] = {storage, block};
  Word& id = known(spv::Op::OpTypePointer, key);
  if (id == 0) {
    id = fresh();
    append(globals_, spv::Op::OpTypeForwardPointer, {id, storage});
    append(globals_, spv::Op::OpTypePointer, {id, storage, block});
  }
  return id;
}

Word Module::type_buffer(Word element, uint32_t stride, bool writable) {
  const Word array_key[] = {element, stride};
  Word& array = known(spv::Op::OpTypeRuntimeArray, array_key);
  if (array == 0) {
    array = declare_type(spv::Op::OpTypeRuntimeArray, std::span(array_key, 1));
    decorate(array, spv::Decoration::ArrayStride, {stride});
  }
  const Word members[] = {array, writable, ~Word{0}};  // no other struct has such a key
  Word& block = known(spv::Op::OpTypeStruct, members);
  if (block == 0) {
    block = declare_type(spv::Op::OpTypeStruct, std::span(members, 1));
    decorate(block, spv::Decoration::Block);
    decorate_member(block, 0, spv::Decoration::Offset, {0});
    if (!writable) decorate_member(block, 0, spv::Decoration::NonWritable);
  }
  return block;
}

Word Module::constant(Word type, uint64_t bits, uint32_t bytes) {
  const Word operands[] = {type, static_cast<Word>(bits), static_cast<Word>(bits >> 32)};
  const std::span<const Word> used(operands, bytes == 8 ? 3 : 2);
  Word& id = known(spv::Op::OpConstant, used);
  if (id != 0) return id;
  id = fresh();
  if (bytes == 8)
    append(globals_, spv::Op::OpConstant, {type, id, operands[1], operands[2]});
  else
    append(globals_, spv::Op::OpConstant, {type, id, operands[1]});
  return id;
}

Word Module::constant_bool(bool value) {
  const Word boolean = type(spv::Op::OpTypeBool, {});
  const spv::Op op = value ? spv::Op::OpConstantTrue : spv::Op::OpConstantFalse;
  Word& id = known(op, {});
  if (id == 0) {
    id = fresh();
    append(globals_, op, {boolean, id});
  }
  return id;
}

Word Module::constant_composite(Word type, std::initializer_list<Word> parts) {
  Words key{type};
  key.insert(key.end(), parts.begin(), parts.end());
  Word& id = known(spv::Op::OpConstantComposite, key);
  if (id == 0) {
    id = fresh();
    key.insert(key.begin() + 1, id);
    append(globals_, spv::Op::OpConstantComposite, key);
  }
  return id;
}

Word Module::variable(spv::StorageClass storage, Word pointee) {
  const Word pointer = type_pointer(storage, pointee);
  const Word id = fresh();
  append(globals_, spv::Op::OpVariable, {pointer, id, code_of(storage)});
  interface_.push_back(id);
  return id;
}

Words Module::assemble(Word function, std::string_view entry_name, const Words& body) {
  constexpr Word version = 0x00010500;
  Words out{spv::MagicNumber, version, 0, next_, 0};
  out.reserve(64 + names_.size() + decorations_.size() + globals_.size() + body.size());
  for (const spv::Capability each : capabilities_) append(out, spv::Op::OpCapability, {code_of(each)});
  for (const std::string& each : extensions_) {
    Words text;
    append_text(text, each);
    append(out, spv::Op::OpExtension, text);
  }
  if (glsl_ != 0) {
    Words import{glsl_};
    append_text(import, "GLSL.std.450");
    append(out, spv::Op::OpExtInstImport, import);
  }
  append(out, spv::Op::OpMemoryModel,
         {code_of(spv::AddressingModel::PhysicalStorageBuffer64),
          code_of(has(spv::Capability::VulkanMemoryModel) ? spv::MemoryModel::Vulkan
                                                          : spv::MemoryModel::GLSL450)});
  Words entry{code_of(spv::ExecutionModel::GLCompute), function};
  append_text(entry, entry_name);
  entry.insert(entry.end(), interface_.begin(), interface_.end());
  append(out, spv::Op::OpEntryPoint, entry);
  append(out, spv::Op::OpExecutionMode, {function, code_of(spv::ExecutionMode::LocalSize), lanes_, 1, 1});
  for (size_t at = 0; at < modes_.size(); at += modes_[at] + 1) {
    Words mode{function};
    mode.insert(mode.end(), modes_.begin() + at + 1, modes_.begin() + at + 1 + modes_[at]);
    append(out, spv::Op::OpExecutionMode, mode);
  }
  for (const Words* section : std::initializer_list<const Words*>{&names_, &decorations_, &globals_, &body})
    out.insert(out.end(), section->begin(), section->end());
  return out;
}

}  // namespace adit::spirv
