#include "spirv/team.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include <adit/error.hpp>
#include <adit/kernel/builder.hpp>

#include "spirv/arithmetic.hpp"

namespace adit::spirv {

using kernel::Instruction;
using kernel::is_float;
using kernel::is_signed_integer;
using kernel::Reduction;
using spv::Capability;
using spv::GroupOperation;
using spv::Op;
using KernelOp = kernel::Op;

namespace {

Word subgroup_scope(Code& code) { return code.u32(static_cast<Word>(spv::Scope::Subgroup)); }

void use(Code& code, Capability capability, bool available, const char* what) {
  code.need(available, what);
  code.module.capability(Capability::GroupNonUniform);
  code.module.capability(capability);
}

Op group_op(Reduction reduction, Type t) {
  const bool real = is_float(t), sign = is_signed_integer(t);
  switch (reduction) {
    case Reduction::add: return real ? Op::OpGroupNonUniformFAdd : Op::OpGroupNonUniformIAdd;
    case Reduction::mul: return real ? Op::OpGroupNonUniformFMul : Op::OpGroupNonUniformIMul;
    case Reduction::min:
    case Reduction::min_or_nan:
      return real ? Op::OpGroupNonUniformFMin : sign ? Op::OpGroupNonUniformSMin : Op::OpGroupNonUniformUMin;
    case Reduction::max:
    case Reduction::max_or_nan:
      return real ? Op::OpGroupNonUniformFMax : sign ? Op::OpGroupNonUniformSMax : Op::OpGroupNonUniformUMax;
    case Reduction::bit_and: return Op::OpGroupNonUniformBitwiseAnd;
    case Reduction::bit_or: return Op::OpGroupNonUniformBitwiseOr;
    case Reduction::bit_xor: return Op::OpGroupNonUniformBitwiseXor;
  }
  throw Error(ErrorKind::internal, "[spirv] subgroup: unknown reduction");
}

Word over_subgroup(Code& code, GroupOperation how, Reduction reduction, Type t, Word value) {
  use(code, Capability::GroupNonUniformArithmetic, code.target.subgroup_arithmetic, "subgroup arithmetic");
  const Word scope = subgroup_scope(code), kind = static_cast<Word>(how);
  const Word found = code.wrap(t, code.op(group_op(reduction, t), code.type(t), {scope, kind, value}));
  if (reduction != Reduction::min_or_nan && reduction != Reduction::max_or_nan) return found;
  // In words: not every device has subgroups of integers of 64 bits.
  const Word own = code.compare(Op::OpUGreaterThan, magnitude_bits(code, t, value), infinity_bits(code, t));
  const Word any = code.op(Op::OpGroupNonUniformUMax, code.type(Type::u32),
                           {scope, kind, code.select(Type::u32, own, code.u32(1), code.u32(0))});
  const Word is_nan = code.compare(Op::OpUGreaterThan, any, code.u32(0));
  return code.select(t, is_nan, code.constant(t, kernel::bits_of_number(t, std::nan(""))), found);
}

}  // namespace

Word subgroup_builtin(Code& code, spv::BuiltIn builtin) {
  code.module.capability(Capability::GroupNonUniform);
  return code.builtin(builtin);
}

Word subgroup(Code& code, const Instruction& it, std::span<const Word> x) {
  const auto reduction = static_cast<Reduction>(it.constant);
  const Word type = code.type(it.type), scope = subgroup_scope(code);
  const Target& target = code.target;
  switch (it.op) {
    case KernelOp::subgroup_reduce:
      return over_subgroup(code, GroupOperation::Reduce, reduction, it.type, x[0]);
    case KernelOp::subgroup_inclusive:
      return over_subgroup(code, GroupOperation::InclusiveScan, reduction, it.type, x[0]);
    case KernelOp::subgroup_exclusive:
      return over_subgroup(code, GroupOperation::ExclusiveScan, reduction, it.type, x[0]);
    case KernelOp::subgroup_any:
    case KernelOp::subgroup_all:
      use(code, Capability::GroupNonUniformVote, target.subgroup_vote, "subgroup votes");
      return code.op(it.op == KernelOp::subgroup_any ? Op::OpGroupNonUniformAny : Op::OpGroupNonUniformAll,
                     type, {scope, x[0]});
    case KernelOp::subgroup_ballot: {
      use(code, Capability::GroupNonUniformBallot, target.subgroup_ballot, "subgroup ballots");
      const Word words = code.op(Op::OpGroupNonUniformBallot, code.type(Type::u32, 4), {scope, x[0]});
      return code.op(Op::OpCompositeExtract, type, {words, static_cast<Word>(it.constant)});
    }
    case KernelOp::subgroup_first:
      use(code, Capability::GroupNonUniformBallot, target.subgroup_ballot, "subgroup broadcasts");
      return code.op(Op::OpGroupNonUniformBroadcastFirst, type, {scope, x[0]});
    case KernelOp::subgroup_shuffle:
    case KernelOp::subgroup_shuffle_xor:
      use(code, Capability::GroupNonUniformShuffle, target.subgroup_shuffle, "subgroup shuffles");
      return code.op(it.op == KernelOp::subgroup_shuffle ? Op::OpGroupNonUniformShuffle
                                                         : Op::OpGroupNonUniformShuffleXor,
                     type, {scope, x[0], x[1]});
    default: throw Error(ErrorKind::internal, "[spirv] subgroup: unknown instruction");
  }
}

namespace {

class TeamReduction {
 public:
  TeamReduction(Code& code, Memory& memory, std::vector<Partial>& partials, bool with_buffers)
      : code_(code), memory_(memory), lanes_(code.program.team.lanes), with_buffers_(with_buffers) {
    if (fills_subgroups(code.program, code.target)) subgroups_ = lanes_ / code.target.subgroup_size;
    uint32_t slot = 0;
    for (Partial& partial : partials) {
      const bool by_tree = !suits_subgroups(partial);
      Item item{&partial, 0, 0, 1, !by_tree};
      if (by_tree || subgroups_ != 1) {
        const uint32_t smallest = std::max(code.target.smallest_subgroup, 1u);
        const uint32_t shares = subgroups_ > 0 ? subgroups_ : (lanes_ + smallest - 1) / smallest;
        item.length = by_tree ? lanes_ : shares;
        if (!by_tree) item.width = width_of(partial.type);
        // Slots of both ways are numbered apart: their lengths differ.
        const uint32_t halves = by_tree ? 1 : 2;
        item.scratch =
            memory.scratch(partial.type, halves * item.length, slot++ * 2 + (by_tree ? 1 : 0), item.width);
      }
      (by_tree ? by_tree_ : by_subgroup_).push_back(item);
    }
  }

  void run() {
    for (const Item& item : by_subgroup_) {
      Partial& p = *item.partial;
      p.value = over_subgroup(code_, GroupOperation::Reduce, p.reduction, p.type, p.value);
    }
    if (subgroups_ == 1 && by_tree_.empty()) return;  // all lanes have the whole
    const bool shares = subgroups_ != 1 && !by_subgroup_.empty();
    if (shares) publish_subgroups();
    lane_ = code_.builtin(spv::BuiltIn::LocalInvocationIndex);
    for (const Item& item : by_tree_) write(item, lane_, item.partial->value);
    code_.team_barrier(with_buffers_);
    if (!by_tree_.empty()) tree();
    if (!shares) return;
    if (is_written_out())
      for (const Item& item : by_subgroup_) item.partial->value = sum_of_all(item);
    else
      collect_subgroups();
  }

 private:
  struct Item {
    Partial* partial;
    Word scratch;
    uint32_t length;  // of the scratch memory, or of the half of it that is this turn's
    uint32_t width;   // of the scratch memory's cells
    bool by_turns;
  };

  // Subgroup minima and maxima of floats may treat NaN and the zeros in their own way; f16 and 64-bit
  // integers are a feature of their own. A last subgroup that is not full is lost on Mesa's software device.
  bool suits_subgroups(const Partial& p) const {
    constexpr uint32_t largest_subgroup = 128;
    const bool are_full = subgroups_ > 0 || std::has_single_bit(lanes_) || lanes_ % largest_subgroup == 0;
    if (!code_.target.subgroup_arithmetic || !are_full) return false;
    if (is_float(p.type)) return p.type != Type::f16 && p.reduction <= Reduction::mul;
    return kernel::size_of(p.type) <= 4;
  }

  // Few shares are added up without a loop.
  bool is_written_out() const { return subgroups_ > 0 && subgroups_ <= 32; }

  // Shares that one load of 16 bytes brings, where their number is known.
  uint32_t width_of(Type type) const {
    for (uint32_t width = 16 / cell_bytes(type); width > 1; width /= 2)
      if (is_written_out() && subgroups_ % width == 0) return width;
    return 1;
  }

  // Reductions take turns with the two halves of their memory: who still reads the results of one is not
  // overtaken by the next, but by the one after it, and that one's barrier stands in between.
  Word of_this_turn(const Item& item, Word index) {
    if (!item.by_turns) return index;
    const Word u32 = code_.type(Type::u32);
    const Word first = code_.op(Op::OpIMul, u32, {turn_, code_.u32(item.length)});
    return code_.op(Op::OpIAdd, u32, {first, index});
  }
  void write(const Item& item, Word index, Word value) {
    memory_.store_scratch(item.partial->type, item.scratch, of_this_turn(item, index), item.width, value);
  }
  Word read(const Item& item, Word index) {
    return memory_.load_scratch(item.partial->type, item.scratch, of_this_turn(item, index), 1);
  }

  // One lane of each subgroup writes the subgroup's share.
  void publish_subgroups() {
    turn_ = memory_.next_turn();
    const Word number = subgroup_builtin(code_, spv::BuiltIn::SubgroupId);
    const Word elected =
        code_.op(Op::OpGroupNonUniformElect, code_.type(Type::boolean), {subgroup_scope(code_)});
    const Word writes = code_.label(), merge = code_.label();
    code_.selection_merge(merge);
    code_.branch_if(elected, writes, merge);
    code_.begin(writes);
    for (const Item& item : by_subgroup_) write(item, number, item.partial->value);
    code_.branch(merge);
    code_.begin(merge);
  }

  // Every lane adds the shares up in the same order, so all have the same bits.
  Word sum_of_all(const Item& item) {
    const Partial& p = *item.partial;
    const uint32_t cells = item.length / item.width;
    const Word u32 = code_.type(Type::u32);
    const Word first = code_.op(Op::OpIMul, u32, {turn_, code_.u32(cells)});
    Words shares;
    for (uint32_t cell = 0; cell < cells; ++cell) {
      const Word at = code_.op(Op::OpIAdd, u32, {first, code_.u32(cell)});
      const Word loaded = memory_.load_scratch(p.type, item.scratch, at, item.width);
      for (uint32_t k = 0; k < item.width; ++k)
        shares.push_back(item.width == 1 ? loaded
                                         : code_.op(Op::OpCompositeExtract, code_.type(p.type), {loaded, k}));
    }
    for (size_t count = shares.size(); count > 1; count = (count + 1) / 2)
      for (size_t k = 0; k < count / 2; ++k)
        shares[k] = combine(code_, p.reduction, p.type, shares[k], shares[k + (count + 1) / 2]);
    return shares[0];
  }

  // The same for many, or where only the device knows how many there are.
  void collect_subgroups() {
    const Word u32 = code_.type(Type::u32), count = subgroup_builtin(code_, spv::BuiltIn::NumSubgroups);
    const Word header = code_.label(), test = code_.label(), body = code_.label(), next = code_.label(),
               merge = code_.label(), index = code_.module.fresh();
    Words totals;
    std::vector<size_t> later;
    for (const Item& item : by_subgroup_) totals.push_back(read(item, code_.u32(0)));
    const Word before = code_.current();
    code_.branch(header);
    code_.begin(header);
    const size_t later_index = code_.phi(index, u32, code_.u32(1), before, next);
    for (size_t k = 0; k < by_subgroup_.size(); ++k) {
      const Word total = code_.module.fresh();
      later.push_back(code_.phi(total, code_.type(by_subgroup_[k].partial->type), totals[k], before, next));
      totals[k] = total;
    }
    code_.loop_merge(merge, next);
    code_.branch(test);
    code_.begin(test);
    code_.branch_if(code_.compare(Op::OpULessThan, index, count), body, merge);
    code_.begin(body);
    for (size_t k = 0; k < by_subgroup_.size(); ++k) {
      const Partial& p = *by_subgroup_[k].partial;
      code_.set_phi(later[k], combine(code_, p.reduction, p.type, totals[k], read(by_subgroup_[k], index)));
    }
    code_.branch(next);
    code_.begin(next);
    code_.set_phi(later_index, code_.op(Op::OpIAdd, u32, {index, code_.u32(1)}));
    code_.branch(header);
    code_.begin(merge);
    for (size_t k = 0; k < by_subgroup_.size(); ++k) by_subgroup_[k].partial->value = totals[k];
  }

  // Halves the number of shares at each level; its shape depends on the number of lanes alone.
  void tree() {
    for (uint32_t stride = std::bit_ceil(lanes_) / 2; stride > 0; stride /= 2) {
      const Word works = code_.label(), merge = code_.label();
      const uint32_t active = std::min(stride, lanes_ - stride);
      const Word condition = code_.compare(Op::OpULessThan, lane_, code_.u32(active));
      code_.selection_merge(merge);
      code_.branch_if(condition, works, merge);
      code_.begin(works);
      const Word other = code_.op(Op::OpIAdd, code_.type(Type::u32), {lane_, code_.u32(stride)});
      for (const Item& item : by_tree_) {
        const Word mine = read(item, lane_), theirs = read(item, other);
        write(item, lane_, combine(code_, item.partial->reduction, item.partial->type, mine, theirs));
      }
      code_.branch(merge);
      code_.begin(merge);
      code_.team_barrier(false);
    }
    for (const Item& item : by_tree_) item.partial->value = read(item, code_.u32(0));
    code_.team_barrier(false);  // the next reduction writes there
  }

  Code& code_;
  Memory& memory_;
  const uint32_t lanes_;
  const bool with_buffers_;
  uint32_t subgroups_ = 0;  // of the team; 0: only the device knows
  Word lane_ = 0, turn_ = 0;
  std::vector<Item> by_subgroup_, by_tree_;
};

}  // namespace

void reduce_over_team(Code& code, Memory& memory, std::vector<Partial>& partials, bool with_buffers) {
  TeamReduction(code, memory, partials, with_buffers).run();
}

}  // namespace adit::spirv
