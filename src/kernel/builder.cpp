#include <cmath>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "kernel/rules.hpp"
#include "support/hash.hpp"

namespace adit::kernel {

Builder::Builder(std::string name, Team team) {
  program_.name = std::move(name);
  program_.team = team;
  open_block();
}

uint32_t Builder::open_block() {
  const auto number = static_cast<uint32_t>(program_.blocks.size());
  program_.blocks.emplace_back();
  open_.push_back(number);
  known_.emplace_back();
  return number;
}

void Builder::close_block() {
  open_.pop_back();
  known_.pop_back();
}

Id Builder::append(Instruction instruction) {
  const auto id = static_cast<Id>(program_.instructions.size());
  check_types(program_, instruction);
  program_.instructions.push_back(instruction);
  program_.blocks[open_.back()].push_back(id);
  return id;
}

Id Builder::find_known(const Instruction& a, uint64_t hash) const {
  for (size_t level = known_.size(); level-- > 0;) {
    const auto [first, last] = known_[level].equal_range(hash);
    for (auto it = first; it != last; ++it) {
      const Instruction& b = program_[it->second];
      if (a.op == b.op && a.type == b.type && a.width == b.width && a.operand == b.operand &&
          a.constant == b.constant)
        return it->second;
    }
  }
  return no_id;
}

Value Builder::emit(Op op, Type type, std::initializer_list<Id> operands, uint64_t constant, uint8_t width) {
  Instruction it;
  it.op = op;
  it.type = type;
  it.width = width;
  it.constant = constant;
  if (operands.size() > it.operand.size())
    throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] {}: expected at most 4 operands, got {}",
                                                     program_.name, name_of(op), operands.size()));
  for (Id id : operands) it.operand[it.operand_count++] = id;
  if (!is_pure(op)) return {this, append(it), type, width};
  const uint64_t words[] = {
      static_cast<uint64_t>(op) | static_cast<uint64_t>(type) << 8 | uint64_t{width} << 16,
      it.operand[0] | uint64_t{it.operand[1]} << 32, it.operand[2] | uint64_t{it.operand[3]} << 32, constant};
  const uint64_t hash = hash64(std::as_bytes(std::span(words)));
  if (const Id id = find_known(it, hash); id != no_id) return {this, id, type, width};
  const Id id = append(it);
  known_.back().emplace(hash, id);
  return {this, id, type, width};
}

namespace {

// What nothing reads leaves the program: operands come before their readers, so one look from the end will
// do.
void drop_unread(Program& program) {
  std::vector<uint32_t> readers(program.instructions.size(), 0);
  for (const Instruction& it : program.instructions)
    for (size_t k = 0; k < it.operand_count; ++k) ++readers[it.operand[k]];
  std::vector<bool> drops(readers.size(), false);
  for (Id id = static_cast<Id>(readers.size()); id-- > 0;) {
    const Instruction& it = program[id];
    if (readers[id] > 0 || it.op == Op::argument || !(is_pure(it.op) || it.op == Op::load)) continue;
    drops[id] = true;
    for (size_t k = 0; k < it.operand_count; ++k) --readers[it.operand[k]];
  }
  std::vector<Id> number(readers.size());
  Id kept = 0;
  for (Id id = 0; id < readers.size(); ++id) {
    if (drops[id]) continue;
    number[id] = kept;
    Instruction& it = program.instructions[kept++] = program.instructions[id];
    for (size_t k = 0; k < it.operand_count; ++k) it.operand[k] = number[it.operand[k]];
  }
  program.instructions.resize(kept);
  for (Block& block : program.blocks) {
    std::erase_if(block, [&](Id id) { return drops[id]; });
    for (Id& id : block) id = number[id];
  }
}

}  // namespace

Program Builder::finish() {
  if (open_.size() != 1)
    throw Error(ErrorKind::bad_argument, "[kernel] finish: expected at the end of the body");
  drop_unread(program_);
  verify(program_);
  return std::move(program_);
}

namespace {

uint32_t next_offset(const Program& program, uint32_t bytes) {
  uint32_t end = argument_header_bytes;
  if (!program.parameters.empty()) {
    const Parameter& last = program.parameters.back();
    end = last.offset + (last.is_buffer ? 8 : size_of(last.type));
  }
  return (end + bytes - 1) / bytes * bytes;
}

}  // namespace

Array Builder::buffer(const std::string& name, Type type, Access access) {
  program_.parameters.push_back({name, type, true, access, next_offset(program_, 8)});
  return {this, emit(Op::buffer, type, {}, program_.parameters.size() - 1).id(), type};
}

Value Builder::scalar(const std::string& name, Type type) {
  program_.parameters.push_back({name, type, false, Access::read, next_offset(program_, size_of(type))});
  return emit(Op::argument, type, {}, program_.parameters.size() - 1);
}

Value Builder::team(Type type) { return emit(Op::team, type, {}); }

Value Builder::constant_bits(Type type, uint64_t bits) {
  if (wrapped(type, bits) != bits)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[kernel {}] constant: expected {} bits of {}, got {:#x}", program_.name,
                            bits_of(type), name_of(type), bits));
  return emit(Op::constant, type, {}, bits);
}

Value Builder::whole_constant(Type type, bool is_negative, uint64_t bits) {
  const uint64_t top = uint64_t{1} << (bits_of(type) - 1);  // the sign, where there is one
  const bool fits = is_negative ? bits >= ~top + 1          // of an unsigned type: counted back from its end
                    : is_signed_integer(type) ? bits < top
                                              : bits <= top - 1 + top;
  if (!fits) {
    const std::string number =
        is_negative ? std::to_string(static_cast<int64_t>(bits)) : std::to_string(bits);
    throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] constant: expected a number of {}, got {}",
                                                     program_.name, name_of(type), number));
  }
  return constant_bits(type, wrapped(type, bits));
}

Value Builder::real_constant(Type type, double number) {
  if (is_integer(type)) {
    const double above = std::ldexp(1.0, static_cast<int>(bits_of(type)) - (is_signed_integer(type) ? 1 : 0));
    const double whole = std::trunc(number);
    if (!(whole < above && whole >= (is_signed_integer(type) ? -above : 0)))
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[kernel {}] constant: expected a number of {}, got {}", program_.name,
                              name_of(type), number));
  }
  return constant_bits(type, wrapped(type, bits_of_number(type, number)));
}

Variable Builder::variable(Value initial) {
  const Variable cell(this, emit(Op::variable, initial.type(), {}).id(), initial.type());
  cell = initial;
  return cell;
}

Array Builder::array(Type type, uint32_t length) {
  return {this, emit(Op::array, type, {}, length).id(), type};
}
Array Builder::shared(Type type, uint32_t length) {
  return {this, emit(Op::shared, type, {}, length).id(), type};
}

void Builder::if_(Value condition, const std::function<void()>& then,
                  const std::function<void()>& otherwise) {
  const Id id = emit(Op::if_, Type::none, {condition.id()}).id();
  program_.instructions[id].block[0] = open_block();
  then();
  close_block();
  if (!otherwise) return;
  program_.instructions[id].block[1] = open_block();
  otherwise();
  close_block();
}

// Appends the loop, opens its body and yields its counter.
Value Builder::open_loop(Instruction loop, Type index_type) {
  const Id id = append(loop);
  const uint32_t body = open_block();
  program_.instructions[id].block[0] = body;
  return emit(Op::index, index_type, {});
}

void Builder::for_(Value begin, Value end, Value step, const std::function<void(Value)>& body) {
  Instruction loop;
  loop.op = Op::for_;
  loop.operand_count = 3;
  loop.operand = {begin.id(), end.id(), step.id(), no_id};
  const Value i = open_loop(loop, begin.type());
  body(i);
  close_block();
}

void Builder::while_(const std::function<Value()>& condition, const std::function<void()>& body) {
  const Id id = emit(Op::while_, Type::none, {}).id();
  program_.instructions[id].block[0] = open_block();
  emit(Op::yield, Type::none, {condition().id()});
  close_block();
  program_.instructions[id].block[1] = open_block();
  body();
  close_block();
}

void Builder::each(Value count, const std::function<void(Value)>& body) {
  Instruction loop;
  loop.op = Op::each;
  loop.operand_count = 1;
  loop.operand[0] = count.id();
  const Value i = open_loop(loop, Type::u32);
  body(i);
  close_block();
}

std::vector<Value> Builder::reduce(Value count, const std::vector<Reduction>& ops,
                                   const std::function<std::vector<Value>(Value)>& body) {
  Instruction loop;
  loop.op = Op::reduce;
  loop.operand_count = 1;
  loop.operand[0] = count.id();
  const Value i = open_loop(loop, Type::u32);
  const std::vector<Value> yielded = body(i);
  if (yielded.size() != ops.size())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[kernel {}] reduce: expected {} values from the body, got {}", program_.name,
                            ops.size(), yielded.size()));
  for (size_t k = 0; k < ops.size(); ++k)
    emit(Op::yield, Type::none, {yielded[k].id()}, static_cast<uint64_t>(ops[k]));
  const auto loop_id = program_.blocks[open_[open_.size() - 2]].back();
  close_block();
  std::vector<Value> results;
  for (size_t k = 0; k < ops.size(); ++k)
    results.push_back(emit(Op::reduced, yielded[k].type(), {loop_id}, k));
  return results;
}

Value Builder::reduce(Value count, Reduction op, const std::function<Value(Value)>& body) {
  return reduce(count, std::vector{op}, [&](Value i) { return std::vector{body(i)}; })[0];
}

void Builder::once(const std::function<void()>& body) {
  const Id id = emit(Op::once, Type::none, {}).id();
  program_.instructions[id].block[0] = open_block();
  body();
  close_block();
}

Value Builder::lane() { return emit(Op::lane, Type::u32, {}); }
void Builder::barrier() { emit(Op::barrier, Type::none, {}); }
void Builder::fence() { emit(Op::fence, Type::none, {}); }
Value Builder::subgroup_size() { return emit(Op::subgroup_size, Type::u32, {}); }
Value Builder::subgroup_lane() { return emit(Op::subgroup_lane, Type::u32, {}); }
Value Builder::subgroup_number() { return emit(Op::subgroup_number, Type::u32, {}); }
Value Builder::subgroup_reduce(Reduction op, Value v) {
  return emit(Op::subgroup_reduce, v.type(), {v.id()}, static_cast<uint64_t>(op));
}
Value Builder::subgroup_inclusive(Reduction op, Value v) {
  return emit(Op::subgroup_inclusive, v.type(), {v.id()}, static_cast<uint64_t>(op));
}
Value Builder::subgroup_exclusive(Reduction op, Value v) {
  return emit(Op::subgroup_exclusive, v.type(), {v.id()}, static_cast<uint64_t>(op));
}
Value Builder::subgroup_any(Value c) { return emit(Op::subgroup_any, c.type(), {c.id()}); }
Value Builder::subgroup_all(Value c) { return emit(Op::subgroup_all, c.type(), {c.id()}); }
Value Builder::subgroup_ballot(Value c, uint32_t word) {
  return emit(Op::subgroup_ballot, Type::u32, {c.id()}, word);
}
Value Builder::subgroup_first(Value v) { return emit(Op::subgroup_first, v.type(), {v.id()}); }
Value Builder::subgroup_shuffle(Value v, Value lane) {
  return emit(Op::subgroup_shuffle, v.type(), {v.id(), lane.id()});
}
Value Builder::subgroup_shuffle_xor(Value v, Value mask) {
  return emit(Op::subgroup_shuffle_xor, v.type(), {v.id(), mask.id()});
}

Value Builder::joined(Value row, int64_t length, Value column) {
  const Value number = row * row.like(length) + column;
  parts_[number.id()] = {length, row, column};
  return number;
}

const Builder::Parts* Builder::parts_of(Value number) const {
  const auto at = parts_.find(number.id());
  return at == parts_.end() ? nullptr : &at->second;
}

Value Builder::pack(std::initializer_list<Value> scalars) {
  const auto width = static_cast<uint8_t>(scalars.size());
  const Value* v = scalars.begin();
  if (width == 2) return emit(Op::pack, v[0].type(), {v[0].id(), v[1].id()}, 0, width);
  if (width == 4) return emit(Op::pack, v[0].type(), {v[0].id(), v[1].id(), v[2].id(), v[3].id()}, 0, width);
  throw Error(ErrorKind::bad_argument,
              fmt::format("[kernel {}] pack: expected 2 or 4 scalars, got {}", program_.name, width));
}

}  // namespace adit::kernel
