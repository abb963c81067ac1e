// Transitions: multinomial NUTS with Stan's three checks at every merge. A subtree grows leaf by leaf; its
// completed left halves wait in slots, one of each size: those whose bits are set in the leaf's number, so
// that merging is a binary counter's carry.
#include <cmath>

#include <adit/kernel/math.hpp>

#include "nuts/machine.hpp"

namespace adit::sampling {

void Machine::begin_transition() {
  chain_.each(n_, [&](Value i) {
    const Value q = sample_q_.get(i), g = sample_g_.get(i), p = p_.get(i);
    q_.set(i, q);
    g_.set(i, g);
    other_q_.set(i, q);
    other_p_.set(i, p);
    other_g_.set(i, g);
    rho_.set(i, p);
    if (layout_.dense()) other_sharp_.set(i, sharp_.get(i));
  });
  real(real_energy) = real(real_h0).get();
  real(real_weight) = number(1);
  real(real_shift) = number(0);
  real(real_acceptance) = number(0);
  word(word_depth) = index(0);
  word(word_leaf) = index(0);
  word(word_leaps) = index(0);
  toss(index(0));
  set_phase(Phase::tree);
}

// The random numbers of a leaf, and of the subtree that may begin after it: its direction is a bit that the
// leaf's own number does not use.
void Machine::toss(Value place) {
  const auto bits = random_->bits(Purpose::leaf, word(word_iteration).get(), place);
  now_uniform() = random_->uniform(bits, 0);
  word(word_next_direction) = bits[0] & 1;
  real(real_next_choice) = random_->uniform(bits, 1);
}

// The current point is the end that grew last: where the other one grows now, they change places.
void Machine::begin_subtree() {
  const Value direction = word(word_next_direction).get();
  real(real_choice) = real(real_next_choice).get();
  const auto exchange = [&](const Vector& a, const Vector& b, Value i) {
    const Value kept = a.get(i);
    a.set(i, b.get(i));
    b.set(i, kept);
  };
  k_.if_(direction != word(word_direction).get(), [&] {
    chain_.each(n_, [&](Value i) {
      exchange(q_, other_q_, i);
      exchange(p_, other_p_, i);
      exchange(g_, other_g_, i);
      if (layout_.dense()) exchange(sharp_, other_sharp_, i);
    });
  });
  word(word_direction) = direction;
  chain_.each(n_, [&](Value i) {
    inner_.set(i, p_.get(i));
    if (layout_.dense()) inner_sharp_.set(i, sharp_.get(i));
  });
  real(real_sub_weight) = number(0);
}

// A leaf whose weight is simply exp(change).
Value Machine::is_ordinary() {
  return change() >= number(-1000) && change() <= number(60) && real(real_shift).get() == number(0);
}

// A leaf, and the subtrees that it completes with those that wait for them; what came of it then waits
// itself. True while the subtree goes on.
Value Machine::add_leaf() {
  const Value ordinary = is_ordinary(), weight = kernel::exp(change());
  word(word_leaps) = word(word_leaps).get() + 1;
  const auto or_nothing = [&](Value value) { return select(ordinary, value, number(0)); };
  real(real_acceptance) = real(real_acceptance).get() + or_nothing(min(weight, number(1)));
  const Value total = real(real_sub_weight).get() + or_nothing(weight);
  real(real_sub_weight) = total;
  take_leaf(ordinary && now_uniform().get() * total < weight);
  const Value leaf = word(word_leaf).get();
  word(word_leaf) = leaf + 1;
  const Value full = is_full();
  good() = full.like(true);
  k_.if_((leaf & 1) != index(0),
         [&] {
           meet_single();
           merge_more(leaf, full);
         },
         [&] { wait_single(); });
  return ordinary && good().get() && !full;
}

void Machine::take_leaf(Value takes) {
  copy_if(takes, q_, proposal_q_);
  copy_if(takes, g_, proposal_g_);
  const auto keep = [&](Real to, Value value) { real(to) = select(takes, value, real(to).get()); };
  keep(real_proposal_lp, now_lp().get());
  keep(real_proposal_energy, now_h().get());
}

// The weight of a leaf that is not ordinary. Weights are kept relative to exp(shift), which changes only
// where one would overflow.
void Machine::weigh() {
  const Variable& shift = real(real_shift);
  k_.if_(change() > shift.get() + 60, [&] {
    const Value shrink = kernel::exp(shift.get() - change());
    real(real_weight) = real(real_weight).get() * shrink;
    real(real_sub_weight) = real(real_sub_weight).get() * shrink;
    shift = change();
  });
  const Value weight = kernel::exp(change() - shift.get());
  real(real_acceptance) = real(real_acceptance).get() + kernel::exp(min(change(), number(0)));
  const Value total = real(real_sub_weight).get() + weight;
  real(real_sub_weight) = total;
  take_leaf(now_uniform().get() * total < weight);  // a divergent leaf weighs nothing
  k_.if_(!(change() >= number(-1000)), [&] {
    const Value warming = word(word_iteration).get() < warmup_;
    word(word_divergences) = word(word_divergences).get() + select(warming, index(0), index(1));
    word(word_warmup_divergences) = word(word_warmup_divergences).get() + select(warming, index(1), index(0));
    good() = warming.like(false);
  });
}

// The last leaf for now: the subtree is complete or at its end, or there is something about the leaf.
void Machine::end_leaves() {
  k_.if_(!is_ordinary(), [&] { weigh(); });
  const Value valid = good().get();
  k_.if_(is_full() || !valid, [&] {
    const Variable going = k_.variable(valid);  // the transition is not over
    k_.if_(valid, [&] { join_subtree(going); });
    k_.if_(!going.get(), [&] { end_transition(); });
  });
}

// An even leaf waits, an odd one meets it. A single leaf's begin is all there is of it, and two leaves' three
// checks are one.
void Machine::wait_single() {
  const Vector single = at(layout_.single), single_sharp = single.from(n_);
  chain_.each(n_, [&](Value i) {
    const Value p = p_.get(i);
    single.set(i, p);
    cb_.set(i, p);
    cr_.set(i, p);
    if (!layout_.dense()) return;
    single_sharp.set(i, sharp_.get(i));
    cb_sharp_.set(i, sharp_.get(i));
  });
}

void Machine::meet_single() {
  const Vector single = at(layout_.single), single_sharp = single.from(n_);
  good() = all_positive(chain_.sums(
      n_, 2,
      [&](Value i) {
        const Value b = single.get(i), p = p_.get(i), both = b + p;
        return std::vector{sharp(i, b, single_sharp) * both, sharp(i, p, sharp_) * both};
      },
      [&](Value i) {
        const Value b = single.get(i);
        cb_.set(i, b);
        cr_.set(i, p_.get(i) + b);
        if (layout_.dense()) cb_sharp_.set(i, single_sharp.get(i));
      }));
}

// Subtrees of 2, 4, 8 ... leaves wait in slots of their own size: chains that run side by side then reach for
// the same slot. The way does not depend on what the checks say, so that nothing waits for their sums.
void Machine::merge_more(Value leaf, Value full) {
  if (layout_.slots() == 0) return;  // a pair is the whole tree
  const auto goes = [&](Value level) { return ((leaf >> level) & 1) != index(0); };
  const auto merges = [&](bool own) { return [this, own](Value level) { merge_with(slot_of(level, own)); }; };
  const auto waits = [&](bool own) {
    return [this, full, own](Value level) { k_.if_(!full, [&] { wait_in(slot_of(level, own)); }); };
  };
  const Value end = index(own_slots_ + 1);
  if (own_slots_ == layout_.slots())
    return chain_.climb(index(1), layout_.slots() + 1, goes, merges(true), waits(true));
  // The larger subtrees wait in the buffer: few get there.
  chain_.climb(
      index(1), own_slots_ + 1, [&](Value level) { return level < end && goes(level); }, merges(true),
      [&](Value reached) {
        k_.if_(
            reached < end, [&] { waits(true)(reached); },
            [&] { chain_.climb(reached, layout_.slots() + 1, goes, merges(false), waits(false)); });
      });
}

Vector Machine::slot_of(Value level, bool own) const {
  const Vector stack = own ? at(layout_.stack) : Vector(state_, state_base_).from(layout_.stack);
  return stack.from((level - 1) * layout_.slot);
}

void Machine::merge_with(const Vector& slot) {
  const Vector first = slot, last = slot.from(n_), sum = slot.from(2 * n_);
  const Vector first_sharp = slot.from(3 * n_), last_sharp = slot.from(4 * n_);
  // crit(B, cb, R + cb), crit(E, p, cr + E), crit(B, p, cr + R)
  const auto dots = chain_.sums(
      n_, 6,
      [&](Value i) {
        const Value b = first.get(i), e = last.get(i), r = sum.get(i), p = p_.get(i);
        const Value begin = cb_.get(i), rho = cr_.get(i);
        const Value bs = sharp(i, b, first_sharp), es = sharp(i, e, last_sharp), ps = sharp(i, p, sharp_);
        const Value begin_sharp = sharp(i, begin, cb_sharp_);
        const Value left = r + begin, right = rho + e, all = rho + r;
        return std::vector{bs * left, begin_sharp * left, es * right, ps * right, bs * all, ps * all};
      },
      [&](Value i) {
        cr_.set(i, cr_.get(i) + sum.get(i));
        cb_.set(i, first.get(i));
        if (layout_.dense()) cb_sharp_.set(i, first_sharp.get(i));
      });
  good() = good().get() && all_positive(dots);
}

void Machine::wait_in(const Vector& slot) {
  chain_.each(n_, [&](Value i) {
    slot.set(i, cb_.get(i));
    slot.set(i + index(n_), p_.get(i));
    slot.set(i + index(2 * n_), cr_.get(i));
    if (!layout_.dense()) return;
    slot.set(i + index(3 * n_), cb_sharp_.get(i));
    slot.set(i + index(4 * n_), sharp_.get(i));
  });
}

Value Machine::all_positive(const std::vector<Value>& numbers) {
  Value result = numbers[0] > number(0);
  for (size_t i = 1; i < numbers.size(); ++i) result = result && numbers[i] > number(0);
  return result;
}

// A complete subtree joins the trajectory.
void Machine::join_subtree(const Variable& going) {
  const Value old = real(real_weight).get(), added = real(real_sub_weight).get();
  const Value takes = real(real_choice).get() * old < added;
  k_.if_(takes, [&] {
    copy(proposal_q_, sample_q_);
    copy(proposal_g_, sample_g_);
  });
  real(real_lp) = select(takes, real(real_proposal_lp).get(), real(real_lp).get());
  real(real_energy) = select(takes, real(real_proposal_energy).get(), real(real_energy).get());
  real(real_weight) = old + added;
  // crit(other, p, rho + cr), crit(other, cb, rho + cb), crit(inner, p, cr + inner): the same in both
  // directions.
  const auto terms = [&](Value i) {
    const Value o = other_p_.get(i), p = p_.get(i), m = inner_.get(i);
    const Value begin = cb_.get(i), added_rho = cr_.get(i), rho = rho_.get(i);
    const Value os = sharp(i, o, other_sharp_), ps = sharp(i, p, sharp_), ms = sharp(i, m, inner_sharp_);
    const Value begin_sharp = sharp(i, begin, cb_sharp_);
    const Value all = rho + added_rho, left = rho + begin, right = added_rho + m;
    return std::vector{os * all, ps * all, os * left, begin_sharp * left, ms * right, ps * right};
  };
  const auto dots = chain_.sums(n_, 6, terms, [&](Value i) { rho_.set(i, rho_.get(i) + cr_.get(i)); });
  const Value depth = word(word_depth).get() + 1;
  word(word_depth) = depth;
  word(word_leaf) = index(0);
  going = all_positive(dots) && depth < max_depth_;
}

void Machine::end_transition() {
  const Value accept_stat = real(real_acceptance).get() / convert(word(word_leaps).get(), chain_.real());
  save_draw(accept_stat);
  set_phase(Phase::transition);
  word(word_leaf) = index(0);  // a search may follow, whose trials are no leaves
  k_.if_(word(word_iteration).get() < warmup_, [&] { adapt(accept_stat); });
  word(word_iteration) = word(word_iteration).get() + 1;
}

void Machine::save_draw(Value accept_stat) {
  const Value iteration = word(word_iteration).get();
  const Value since = iteration - save_from_;
  k_.if_(iteration >= save_from_ && since % thin_ == index(0), [&] {
    const Value row = (team_ * ring_ + (since / thin_) % ring_) * (layout_.stats + n_);
    const Value divergent = !(real(real_h0).get() - now_h().get() >= number(-1000));
    const auto position = [&](Value i) { rows_[row + index(layout_.stats) + i] = sample_q_.get(i); };
    chain_.once([&] {
      const Value stats[] = {real(real_lp).get(),
                             accept_stat,
                             real(real_step).get(),
                             convert(word(word_depth).get(), chain_.real()),
                             convert(word(word_leaps).get(), chain_.real()),
                             select(divergent, number(1), number(0)),
                             real(real_energy).get(),
                             real(real_origin).get()};
      for (int64_t i = 0; i < layout_.stats; ++i) rows_[row + index(i)] = stats[i];
    });
    chain_.each(n_, position);
  });
}

}  // namespace adit::sampling
