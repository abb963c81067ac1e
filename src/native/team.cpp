// The function around the program, and the loops of a team over its lanes.
#include <algorithm>

#include "native/compile.hpp"
#include "native/emitter.hpp"

namespace adit::native {

namespace {

// Longer bodies are written once, with a look at the live lanes at each access to memory, instead of once for
// full vectors and once for the rest: most of what a kernel costs to compile is machine code.
constexpr size_t twice_limit = 100;
// Instructions of a body of which a CPU sees several rounds at the same time.
constexpr size_t short_body = 80, brief_body = 24;
// Whether a look at the live lanes is a branch for each of them, at each access: AVX2 has instructions for
// some types, AVX-512 for all. A long kernel of many accesses has so many blocks that compiling takes time by
// their square.
bool asks_each_lane() { return !host().masks_memory && host().vector_bits < 256; }
// Of code for single lanes that is made only once a dispatch has some left over: a sampler's chains, say, are
// whole vectors as a rule, and their kernel would take twice as long to compile.
constexpr size_t apart_limit = 1000;

bool body_is_short(const Program& program, uint32_t block, size_t limit) {
  size_t count = 0;
  std::vector<uint32_t> open{block};
  while (!open.empty()) {
    const uint32_t number = open.back();
    open.pop_back();
    count += program.blocks[number].size();
    for (Id id : program.blocks[number])
      for (uint32_t child : program[id].block)
        if (child != no_id) open.push_back(child);
  }
  return count <= limit;
}

bool lanes_speak(const Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const Instruction& it) { return it.op >= Op::subgroup_size; });
}

}  // namespace

bool rest_is_apart(const Program& program) {
  return program.team.kind == TeamKind::one && lanes_of(program) > 1 && asks_each_lane() &&
         !body_is_short(program, 0, apart_limit) && !lanes_speak(program);
}

Emitter::Emitter(LLVMContextRef context, LLVMModuleRef module, const Program& program, unsigned lanes)
    : context_(context),
      module_(module),
      builder_(LLVMCreateBuilderInContext(context)),
      program_(program),
      lanes_(lanes),
      shapes_(find_shapes(program)),
      lowered_(program.instructions.size()),
      declared_under_(program.instructions.size()) {
  for (Id id = 0; id < program.instructions.size(); ++id)
    if (program[id].op == Op::reduced) reduced_[program[id].operand[0]].push_back(id);
}

Emitter::~Emitter() { LLVMDisposeBuilder(builder_); }

// Whole arrays that no pass will take apart. LLVM looks at all uses of a variable on the stack each time that
// it changes one: by their square, and a long kernel has thousands.
std::vector<Id> Emitter::large_arrays() const {
  constexpr uint64_t large = 1024;  // elements
  std::vector<Id> found;
  for (Id id = 0; program_.team.kind == TeamKind::one && id < program_.instructions.size(); ++id)
    if (program_[id].op == Op::array && program_[id].constant >= large) found.push_back(id);
  return found;
}

// Puts large arrays on the stack and calls the function that has the body.
void Emitter::enter_with(const std::vector<Id>& arrays, TypeRef type, TypeRef entry_type) {
  const Ref body = std::exchange(function_, LLVMAddFunction(module_, entry_name, entry_type));
  LLVMSetLinkage(body, LLVMInternalLinkage);
  enter(entry_ = new_block("entry"));
  std::vector<Ref> values{LLVMGetParam(function_, 0), LLVMGetParam(function_, 1), LLVMGetParam(function_, 2)};
  for (const Id id : arrays) values.push_back(LLVMBuildAlloca(builder_, array_type(id), "array"));
  LLVMBuildCall2(builder_, type, body, values.data(), static_cast<unsigned>(values.size()), "");
  LLVMBuildRetVoid(builder_);
}

// void adit_kernel(const std::byte* arguments, uint64_t begin, uint64_t end)
void Emitter::run() {
  const TypeRef pointer = LLVMPointerTypeInContext(context_, 0), word = LLVMInt64TypeInContext(context_);
  const TypeRef nothing = LLVMVoidTypeInContext(context_);
  const std::vector<Id> arrays = large_arrays();
  std::vector<TypeRef> parameters{pointer, word, word};
  const TypeRef entry_type = LLVMFunctionType(nothing, parameters.data(), 3, 0);
  parameters.resize(3 + arrays.size(), pointer);
  const TypeRef type =
      LLVMFunctionType(nothing, parameters.data(), static_cast<unsigned>(parameters.size()), 0);
  function_ = LLVMAddFunction(module_, arrays.empty() ? entry_name : "adit_body", type);
  const LLVMAttributeRef alone =
      LLVMCreateEnumAttribute(context_, LLVMGetEnumAttributeKindForName("noalias", 7), 0);
  for (unsigned k = 0; k < arrays.size(); ++k) {
    LLVMAddAttributeAtIndex(function_, 4 + k, alone);  // the first parameter is 1
    set(arrays[k], LLVMGetParam(function_, 3 + k), Shape::uniform);
  }
  entry_ = new_block("entry");
  const auto start = new_block("start");
  enter(entry_);
  for (Id id = 0; id < program_.instructions.size(); ++id) {
    const Instruction& it = program_[id];
    if (it.op != Op::argument && it.op != Op::buffer) continue;
    Ref offset = i64(program_.parameters[it.constant].offset);
    const Ref place =
        LLVMBuildGEP2(builder_, LLVMInt8TypeInContext(context_), LLVMGetParam(function_, 0), &offset, 1, "");
    const Ref value =
        LLVMBuildLoad2(builder_, it.op == Op::buffer ? pointer : memory_type(it.type), place, "");
    set(id, it.op == Op::buffer ? value : from_memory(value, it.type), Shape::uniform);
  }
  LLVMBuildBr(builder_, start);
  scratch_ = alloca_at_entry(LLVMArrayType(word, 8), "scratch");
  find_addends();
  enter(start);
  program_body();
  LLVMBuildRetVoid(builder_);
  if (!arrays.empty()) enter_with(arrays, type, entry_type);
}

void Emitter::program_body() {
  const Ref begin = LLVMGetParam(function_, 1), end = LLVMGetParam(function_, 2);
  if (program_.team.kind == TeamKind::many) {
    scalar_loop(begin, end, i64(1), false, [&](Ref team) {
      team_ = team;
      block(0);
    });
    return;
  }
  in_lanes_ = true;
  const auto body = [&](Ref base, unsigned) {
    team_ = base;
    block(0);
  };
  if (lanes_ == 1 || rest_is_apart(program_)) {
    scalar_loop(begin, end, i64(lanes_), false, [&](Ref base) { body(base, 0); });
    return;
  }
  if (asks_each_lane() || body_is_short(program_, 0, twice_limit)) {
    lanes_over(begin, end, 1, body, lanes_speak(program_));
    return;
  }
  scalar_loop(begin, end, i64(lanes_), false, [&](Ref base) {
    const Ref left = LLVMBuildSub(builder_, end, base, "");
    live_ = LLVMBuildICmp(builder_, LLVMIntULT, iota(LLVMTypeOf(base)), splat(left), "");
    team_ = base;
    block(0);
    live_ = nullptr;
  });
}

// Full vectors first, `unroll` of them at a time, then single ones, then the rest: at once with a look at
// the live lanes, or one element after the other with code for a single lane, which is smaller.
void Emitter::lanes_over(Ref begin, Ref end, unsigned unroll, const LaneBody& body, bool rest_at_once) {
  const TypeRef type = LLVMTypeOf(begin);
  const Ref count = LLVMBuildSub(builder_, end, begin, "");
  const auto rounded = [&](unsigned step) {
    const Ref rest = LLVMBuildURem(builder_, count, integer(type, step), "");
    return LLVMBuildAdd(builder_, begin, LLVMBuildSub(builder_, count, rest, ""), "");
  };
  Ref from = begin;
  if (unroll > 1) {
    const Ref to = rounded(lanes_ * unroll);
    scalar_loop(from, to, integer(type, lanes_ * unroll), false, [&](Ref base) {
      for (unsigned copy = 0; copy < unroll; ++copy)
        body(LLVMBuildAdd(builder_, base, integer(type, copy * lanes_), ""), copy);
    });
    from = to;
  }
  const Ref whole = rounded(lanes_);
  scalar_loop(from, whole, integer(type, lanes_), false, [&](Ref base) { body(base, 0); });
  if (!rest_at_once) {
    const unsigned all = std::exchange(lanes_, 1);
    scalar_loop(whole, end, integer(type, 1), false, [&](Ref base) { body(base, 0); });
    lanes_ = all;
    return;
  }
  const auto rest = new_block("rest"), next = new_block("next");
  LLVMBuildCondBr(builder_, LLVMBuildICmp(builder_, LLVMIntULT, whole, end, ""), rest, next);
  enter(rest);
  const Ref left = LLVMBuildSub(builder_, end, whole, "");
  live_ = LLVMBuildICmp(builder_, LLVMIntULT, iota(type), splat(left), "");
  body(whole, 0);
  live_ = nullptr;
  LLVMBuildBr(builder_, next);
  enter(next);
}

// A long body is operations that wait for each other, and a CPU does not look as far ahead as the next round:
// twice the lanes are two such rows side by side.
bool Emitter::takes_twice_the_lanes(const Instruction& it, size_t longer_than) const {
  const Instruction& steps = program_[it.operand[0]];
  return steps.op == Op::constant && steps.constant >= 16 * lanes_ && host().many_registers &&
         !body_is_short(program_, it.block[0], longer_than);
}

void Emitter::each(const Instruction& it) {
  const Ref count = lowered_[it.operand[0]].part[0];
  const unsigned lanes = lanes_;
  if (takes_twice_the_lanes(it, brief_body)) lanes_ *= 2;
  in_lanes_ = true;
  const auto body = [&](Ref base, unsigned) { loop_block(it.block[0], base, Shape::linear); };
  // Where the CPU masks whole vectors, the rest takes as long as one of them.
  const bool at_once = host().masks_memory;
  lanes_over(LLVMConstNull(LLVMTypeOf(count)), count, 1, body, at_once);
  in_lanes_ = false;
  lanes_ = lanes;
}

LLVMValueRef Emitter::horizontal(Reduction op, Type type, Ref vector) {
  for (unsigned half = lanes_ / 2; half > 0; half /= 2) {
    std::vector<Ref> picks;
    for (unsigned l = 0; l < lanes_; ++l) picks.push_back(i32(l < half ? l + half : l));
    const Ref upper = LLVMBuildShuffleVector(builder_, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                             LLVMConstVector(picks.data(), lanes_), "");
    vector = combine(op, type, vector, upper);
  }
  return lane_of(vector, 0);
}

// A product that is summed is added in the same instruction, where the CPU has it.
LLVMValueRef Emitter::accumulated(const Instruction& yield, Ref before) {
  const Instruction& what = program_[yield.operand[0]];
  const auto op = static_cast<Reduction>(yield.constant);
  if (op == Reduction::add && what.op == Op::mul && (what.type == Type::f32 || what.type == Type::f64))
    return intrinsic("llvm.fmuladd", {LLVMTypeOf(before)},
                     {value_as(what.operand[0], true), value_as(what.operand[1], true), before});
  return combine(op, what.type, before, value_as(yield.operand[0], true));
}

void Emitter::reduce(Id id, const Instruction& it) {
  struct Result {
    Reduction op;
    Type type;
  };
  std::vector<Result> results;
  for (Id member : program_.blocks[it.block[0]])
    if (program_[member].op == Op::yield)
      results.push_back(
          {static_cast<Reduction>(program_[member].constant), program_[program_[member].operand[0]].type});
  // Several partial results side by side hide the latency of one addition; their number is fixed, so is the
  // result. They stay in registers, and leave some for what is added to them.
  unsigned registers = 0;
  for (const Result& r : results) registers += std::max(1u, lanes_ * bits_of(r.type) / host().vector_bits);
  const unsigned most = host().many_registers ? 24 : 12;
  const bool is_short = body_is_short(program_, it.block[0], short_body);
  unsigned unroll = body_is_short(program_, it.block[0], brief_body) ? 8 : is_short ? 4 : 1;
  while (unroll > 1 && unroll * registers > most) unroll /= 2;
  const unsigned lanes = lanes_;
  if (registers <= most && takes_twice_the_lanes(it, short_body)) lanes_ *= 2;
  const auto open_cells = [&](std::vector<Ref>& to) {
    for (const Result& r : results) {
      const TypeRef row = vector_of(scalar_type(r.type));
      to.push_back(alloca_at_entry(row, "partial"));
      LLVMBuildStore(builder_, splat(constant(r.type, identity_of(r.op, r.type))), to.back());
    }
  };
  std::vector<std::vector<Ref>> cells(unroll);
  for (auto& copy : cells) open_cells(copy);
  // Where memory is asked lane by lane, what is left over goes one by one, to sums of its own.
  const bool at_once = !asks_each_lane();
  std::vector<Ref> rest;
  const unsigned wide = std::exchange(lanes_, 1);
  if (!at_once) open_cells(rest);
  lanes_ = wide;
  const Ref count = lowered_[it.operand[0]].part[0];
  in_lanes_ = true;
  const auto body = [&](Ref base, unsigned copy) {
    accumulators_ = lanes_ < wide ? rest : cells[copy];
    yields_ = 0;
    loop_block(it.block[0], base, Shape::linear);
    accumulators_.clear();
  };
  lanes_over(LLVMConstNull(LLVMTypeOf(count)), count, unroll, body, at_once);
  in_lanes_ = false;
  for (size_t k = 0; k < results.size(); ++k) {
    const TypeRef row = vector_of(scalar_type(results[k].type));
    std::vector<Ref> sums;
    for (const auto& copy : cells) sums.push_back(LLVMBuildLoad2(builder_, row, copy[k], ""));
    for (size_t step = 1; step < sums.size(); step *= 2)
      for (size_t c = 0; c + step < sums.size(); c += 2 * step)
        sums[c] = combine(results[k].op, results[k].type, sums[c], sums[c + step]);
    Ref total = horizontal(results[k].op, results[k].type, sums[0]);
    if (!at_once) {
      const TypeRef one = LLVMVectorType(scalar_type(results[k].type), 1);
      const Ref left = element_of(LLVMBuildLoad2(builder_, one, rest[k], ""));
      total = combine(results[k].op, results[k].type, total, left);
    }
    for (const Id reader : reduced_[id])
      if (program_[reader].constant == k) set(reader, total, Shape::uniform);
  }
  lanes_ = lanes;
}

}  // namespace adit::native
