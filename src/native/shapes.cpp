// A fixpoint: everything starts uniform and is raised where a lane's number, a varying value or varying
// control reaches it.
#include "native/shapes.hpp"

#include <algorithm>

namespace adit::native {

using namespace kernel;

namespace {

class Analysis {
 public:
  explicit Analysis(const Program& program) : program_(program) {
    const size_t n = program.instructions.size();
    shapes_.of.assign(n, Shape::uniform);
    shapes_.may_wrap.assign(n, 0);
    shapes_.per_lane.assign(n, 0);
  }

  Shapes run() {
    const bool one = program_.team.kind == TeamKind::one;
    do {
      changed_ = false;
      block(0, one, false, Shape::uniform);
    } while (changed_);
    return std::move(shapes_);
  }

 private:
  Shape of(Id id) const { return shapes_.of[id]; }
  bool varies(Id id) const { return of(id) != Shape::uniform; }

  void raise(Id id, Shape shape, bool may_wrap = false) {
    if (shape > shapes_.of[id]) {
      shapes_.of[id] = shape;
      changed_ = true;
    }
    if (may_wrap && !shapes_.may_wrap[id]) {
      shapes_.may_wrap[id] = 1;
      changed_ = true;
    }
  }

  // `lanes`: SIMD lanes run here. `diverged`: they may not all be active. `index`: shape of the block's
  // counter.
  void block(uint32_t number, bool lanes, bool diverged, Shape index) {
    for (Id id : program_.blocks[number]) {
      const Instruction& it = program_[id];
      if (it.op == Op::index)
        raise(id, index);
      else
        instruction(id, it, lanes, diverged);
    }
  }

  void instruction(Id id, const Instruction& it, bool lanes, bool diverged) {
    switch (it.op) {
      case Op::team:  // lanes of a loop inside a team share its number
        if (program_.team.kind == TeamKind::one) raise(id, Shape::linear);
        return;
      case Op::variable:
      case Op::array: shapes_.per_lane[id] = lanes; return;
      case Op::load: return load(id, it);
      case Op::store: return store(it, diverged);
      case Op::add:
      case Op::sub: return sum(id, it);
      case Op::convert: return conversion(id, it);
      case Op::subgroup_lane: return raise(id, Shape::linear);
      case Op::subgroup_inclusive:
      case Op::subgroup_exclusive:
      case Op::subgroup_shuffle:
      case Op::subgroup_shuffle_xor: return raise(id, Shape::varying);
      case Op::subgroup_reduce:
      case Op::subgroup_any:
      case Op::subgroup_all:
      case Op::subgroup_ballot:
      case Op::subgroup_first: return;
      case Op::if_:
      case Op::for_:
      case Op::while_:
      case Op::each:
      case Op::reduce:
      case Op::once: return control(it, lanes, diverged);
      case Op::reduced:
      case Op::yield: return;
      default:
        if (is_atomic(it.op)) return lanes ? raise(id, Shape::varying) : void();
        if (std::any_of(it.operand.begin(), it.operand.begin() + it.operand_count,
                        [&](Id o) { return varies(o); }))
          raise(id, Shape::varying);
    }
  }

  void load(Id id, const Instruction& it) {
    const Id object = it.operand[0];
    if (program_[object].op == Op::variable) return raise(id, of(object));
    const bool lane_array = program_[object].op == Op::array && shapes_.per_lane[object];
    if (lane_array || varies(it.operand[1])) raise(id, Shape::varying);
  }

  void store(const Instruction& it, bool diverged) {
    const Id object = it.operand[0];
    if (program_[object].op == Op::variable && (diverged || varies(it.operand[1])))
      raise(object, Shape::varying);
  }

  // base + lane stays linear when a uniform value is added to it.
  void sum(Id id, const Instruction& it) {
    const Shape a = of(it.operand[0]), b = of(it.operand[1]);
    const bool linear = is_integer(it.type) && size_of(it.type) >= 4 && b != Shape::varying &&
                        a != Shape::varying && ((a == Shape::linear) != (b == Shape::linear)) &&
                        (it.op == Op::add || a == Shape::linear);
    if (linear) return raise(id, Shape::linear, size_of(it.type) == 4);
    if (a != Shape::uniform || b != Shape::uniform) raise(id, Shape::varying);
  }

  void conversion(Id id, const Instruction& it) {
    const Type from = program_[it.operand[0]].type;
    const bool integers =
        is_integer(from) && is_integer(it.type) && size_of(from) >= 4 && size_of(it.type) >= 4;
    const Shape shape = of(it.operand[0]);
    const bool wraps = shapes_.may_wrap[it.operand[0]];
    if (shape == Shape::linear && integers && (size_of(it.type) == size_of(from) || !wraps) &&
        size_of(it.type) >= size_of(from))
      return raise(id, Shape::linear, size_of(it.type) == 4 && (wraps || it.type == Type::u32));
    if (shape != Shape::uniform) raise(id, Shape::varying);
  }

  void control(const Instruction& it, bool lanes, bool diverged) {
    switch (it.op) {
      case Op::if_: {
        const bool splits = diverged || varies(it.operand[0]);
        block(it.block[0], lanes, splits, Shape::uniform);
        if (it.block[1] != no_id) block(it.block[1], lanes, splits, Shape::uniform);
        return;
      }
      case Op::for_: {
        const bool splits = varies(it.operand[0]) || varies(it.operand[1]) || varies(it.operand[2]);
        return block(it.block[0], lanes, diverged || splits, splits ? Shape::varying : Shape::uniform);
      }
      case Op::while_: {
        const Id yielded = program_[program_.blocks[it.block[0]].back()].operand[0];
        block(it.block[0], lanes, diverged || varies(yielded), Shape::uniform);
        return block(it.block[1], lanes, diverged || varies(yielded), Shape::uniform);
      }
      case Op::once: return block(it.block[0], false, false, Shape::uniform);
      default: return block(it.block[0], true, false, Shape::linear);  // each, reduce
    }
  }

  const Program& program_;
  Shapes shapes_;
  bool changed_ = false;
};

}  // namespace

Shapes find_shapes(const Program& program) { return Analysis(program).run(); }

}  // namespace adit::native
