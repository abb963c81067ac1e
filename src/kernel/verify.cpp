// The structure rules: visibility, blocks, and what may stand where in a team program.
#include <fmt/format.h>

#include <adit/error.hpp>

#include "kernel/rules.hpp"

namespace adit::kernel {

namespace {

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program), by_hand_(uses_lanes(program)), depth_of_(program.instructions.size(), unseen) {}

  void run() {
    if (program_.name.empty())
      throw Error(ErrorKind::bad_argument, "[kernel] name: expected a word, got none");
    if (program_.team.lanes == 0 || program_.team.lanes > 1024)
      throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] lanes: expected 1 to 1024, got {}",
                                                       program_.name, program_.team.lanes));
    if (program_.team.kind > TeamKind::many)
      throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] team: no such kind", program_.name));
    parameters();
    if (program_.blocks.empty())
      throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] has no body", program_.name));
    block_seen_.assign(program_.blocks.size(), false);
    block(0, Op::constant, Type::none);
    for (Id id = 0; id < depth_of_.size(); ++id)
      if (depth_of_[id] == unseen) reject(program_, program_[id], "stands in no block");
  }

 private:
  static constexpr int unseen = -1, closed = -2;
  // Blocks in blocks: code generators walk them by recursion, and drivers keep stacks of a fixed size (Mesa's
  // software device forgets conditions past 80).
  static constexpr int deepest = 64;

  // Each in its own place of the argument block.
  void parameters() {
    constexpr uint32_t largest_block = 1 << 20;
    uint32_t end = argument_header_bytes;
    for (const Parameter& p : program_.parameters) {
      const bool known = p.type > Type::none && p.type <= Type::f64 && p.access <= Access::read_write;
      const uint32_t bytes = !known || p.is_buffer ? 8 : size_of(p.type);
      if (!known || p.offset < end || p.offset > largest_block || p.offset % bytes != 0)
        throw Error(
            ErrorKind::bad_argument,
            fmt::format("[kernel {}] parameter {}: expected a type, an access and a free place in the "
                        "argument block",
                        program_.name, p.name));
      end = p.offset + bytes;
    }
  }

  bool in_lanes() const { return program_.team.kind == TeamKind::one || lanes_depth_ >= 0; }

  // `owner` is the instruction the block belongs to; Op::constant stands for the whole program. A block that
  // counts begins with an index of `index_type`; none for others.
  void block(uint32_t number, Op owner, Type index_type) {
    if (number >= program_.blocks.size() || block_seen_[number])
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[kernel {}] a block is missing or used twice", program_.name));
    block_seen_[number] = true;
    if (++depth_ > deepest)
      throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] expected at most {} blocks in each other",
                                                       program_.name, deepest));
    const Block& ids = program_.blocks[number];
    if (index_type != Type::none && ids.empty())
      throw Error(ErrorKind::bad_argument, fmt::format("[kernel {}] {}: expected an index first in its block",
                                                       program_.name, name_of(owner)));
    for (size_t at = 0; at < ids.size(); ++at) {
      const Id id = ids[at];
      if (id >= program_.instructions.size() || depth_of_[id] != unseen)
        throw Error(ErrorKind::bad_argument,
                    fmt::format("[kernel {}] an instruction stands twice", program_.name));
      if (at > 0) index_type = Type::none;
      instruction(id, at + 1 == ids.size(), owner, index_type);
      depth_of_[id] = depth_;
    }
    for (Id id : ids) depth_of_[id] = closed;
    --depth_;
  }

  void instruction(Id id, bool is_last, Op owner, Type index_type) {
    const Instruction& it = program_[id];
    if (it.operand_count > it.operand.size()) reject(program_, it, "expected at most 4 operands");
    for (int k = 0; k < it.operand_count; ++k) {
      const Id operand = it.operand[k];
      if (operand >= program_.instructions.size() || depth_of_[operand] < 0)
        reject(program_, it,
               fmt::format("operand {} is not visible here: it belongs to another block or comes later", k));
    }
    check_types(program_, it);
    if ((it.op == Op::index) != (index_type != Type::none))
      reject(program_, it, "expected first in a counted loop and nowhere else");
    if (it.op == Op::index && it.type != index_type)
      reject(program_, it, "expected the type that its loop counts in");
    if (it.op == Op::yield) {
      const bool ends_condition =
          owner == Op::while_ && is_last && program_[it.operand[0]].type == Type::boolean;
      if (owner == Op::reduce)
        check_reduction(program_, it);
      else if (!ends_condition)
        reject(program_, it, "expected in a reduce, or a bool that ends a while's condition");
    }
    place(it);
    children(it);
  }

  // Where an instruction may stand in a team program.
  void place(const Instruction& it) {
    const bool many = program_.team.kind == TeamKind::many;
    switch (it.op) {
      case Op::each:
      case Op::reduce:
      case Op::once:
        if (!many) reject(program_, it, "expected a program of Team::many");
        if (in_lanes()) reject(program_, it, "cannot stand inside each, reduce or once");
        break;
      case Op::shared:
        if (!many)
          reject(program_, it,
                 "expected a program of Team::many: a single invocation has nobody to share with");
        break;
      case Op::lane:
      case Op::subgroup_number:
        if (!many) reject(program_, it, "expected a program of Team::many");
        break;
      case Op::barrier:
        if (!many || in_lanes()) reject(program_, it, "expected at team level of a Team::many program");
        break;
      case Op::matrix_fill:
      case Op::matrix_load:
      case Op::matrix_store:
      case Op::matrix_multiply_add:
      case Op::matrix_convert:
        if (!many || in_lanes()) reject(program_, it, "expected at team level of a Team::many program");
        break;
      default:
        if (it.op == Op::store || is_atomic(it.op)) stores(it);
    }
  }

  void stores(const Instruction& it) {
    const Instruction& object = program_[it.operand[0]];
    const bool private_memory = object.op == Op::variable || object.op == Op::array;
    if (private_memory) {
      if (lanes_depth_ >= 0 && depth_of_[it.operand[0]] <= lanes_depth_)
        reject(program_, it,
               "private memory of the team cannot be written inside each, reduce or once: the lanes would "
               "differ");
    } else if (!in_lanes() && !by_hand_) {
      reject(program_, it, "at team level memory is written inside each or once");
    }
  }

  void children(const Instruction& it) {
    const int blocks = it.op == Op::if_ || it.op == Op::while_ ? 2
                       : it.op == Op::for_ || it.op == Op::each || it.op == Op::reduce || it.op == Op::once
                           ? 1
                           : 0;
    for (int k = blocks; k < 2; ++k)
      if (it.block[k] != no_id) reject(program_, it, "has a block too many");
    const bool enters_lanes = it.op == Op::each || it.op == Op::reduce || it.op == Op::once;
    const Type index_type = it.op == Op::for_                          ? program_[it.operand[0]].type
                            : it.op == Op::each || it.op == Op::reduce ? Type::u32
                                                                       : Type::none;
    if (enters_lanes) lanes_depth_ = depth_;
    for (int k = 0; k < blocks; ++k) {
      if (k == 1 && it.op == Op::if_ && it.block[1] == no_id) continue;
      if (it.op == Op::while_ && k == 0) condition_ends_in_yield(it);
      block(it.block[k], it.op == Op::while_ && k == 1 ? Op::constant : it.op, index_type);
    }
    if (enters_lanes) lanes_depth_ = -1;
  }

  void condition_ends_in_yield(const Instruction& it) {
    const uint32_t number = it.block[0];
    const bool good = number < program_.blocks.size() && !program_.blocks[number].empty() &&
                      program_.blocks[number].back() < program_.instructions.size() &&
                      program_[program_.blocks[number].back()].op == Op::yield;
    if (!good) reject(program_, it, "expected a condition block that ends in a yield");
  }

  const Program& program_;
  const bool by_hand_;
  std::vector<int> depth_of_;  // nesting depth where an instruction is visible, or unseen, or closed
  std::vector<bool> block_seen_;
  int depth_ = 0;
  int lanes_depth_ = -1;  // depth of the each, reduce or once around, -1 for none
};

}  // namespace

void verify(const Program& program) { Verifier(program).run(); }

}  // namespace adit::kernel
