// Transitions: multinomial NUTS with Stan's three checks at every merge. A subtree grows leaf by leaf; its
// completed left halves wait on a stack whose height is the number of ones in the leaf's number, so that
// merging is a binary counter's carry.
#include <cmath>

#include <adit/kernel/math.hpp>

#include "sample/nuts/machine.hpp"

namespace adit::sampling {

void Machine::begin_transition() {
  const Vector sample = at(layout_.sample), ends = at(layout_.ends), rho = at(layout_.rho);
  const int64_t end = layout_.dense() ? 4 * n_ : 3 * n_;
  chain_.each(n_, [&](Value i) {
    const Value q = sample.get(i), g = sample.get(i + index(n_)), p = p_.get(i);
    for (const int64_t side : {int64_t{0}, end}) {
      ends.set(i + index(side), q);
      ends.set(i + index(side + n_), p);
      ends.set(i + index(side + 2 * n_), g);
      if (layout_.dense()) ends.set(i + index(side + 3 * n_), sharp_.get(i));
    }
    rho.set(i, p);
  });
  real(real_energy) = real(real_h0).get();
  real(real_weight) = number(1);
  real(real_shift) = number(0);
  real(real_acceptance) = number(0);
  word(word_depth) = index(0);
  word(word_leaf) = index(0);
  word(word_leaps) = index(0);
  set_phase(Phase::tree);
}

void Machine::begin_subtree() {
  const auto bits = random_->bits(Purpose::direction, word(word_iteration).get(), word(word_depth).get());
  const Value forward = random_->uniform(bits, 0) > number(0.5);
  const Value direction = select(forward, index(1), index(0));
  word(word_direction) = direction;
  real(real_choice) = random_->uniform(bits, 1);
  const int64_t end = layout_.dense() ? 4 * n_ : 3 * n_;
  const Vector from = at(layout_.ends).from(direction * end);
  chain_.each(n_, [&](Value i) {
    q_.set(i, from.get(i));
    p_.set(i, from.get(i + index(n_)));
    g_.set(i, from.get(i + index(2 * n_)));
  });
  real(real_sub_weight) = number(0);
}

// Weights are kept relative to exp(shift), which changes only where one would overflow.
void Machine::rescale(Value change) {
  const Value shrink = kernel::exp(real(real_shift).get() - change);
  real(real_weight) = real(real_weight).get() * shrink;
  real(real_sub_weight) = real(real_sub_weight).get() * shrink;
  real(real_shift) = change;
}

void Machine::end_leaf() {
  const Value change = real(real_h0).get() - now_h().get();  // the leaf's log weight
  word(word_leaps) = word(word_leaps).get() + 1;
  const Value divergent = !(change >= number(-1000));
  k_.if_(change > real(real_shift).get() + 60, [&] { rescale(change); });
  const Value shift = real(real_shift).get(), weight = kernel::exp(change - shift);
  const Variable acceptance = k_.variable(min(weight, number(1)));
  k_.if_(shift > number(0), [&] { acceptance = kernel::exp(min(change, number(0))); });
  real(real_acceptance) = real(real_acceptance).get() + acceptance.get();
  const Value total = real(real_sub_weight).get() + weight;
  real(real_sub_weight) = total;
  const Value takes = now_uniform().get() * total < weight && !divergent;
  k_.if_(takes, [&] {
    const Vector proposal = at(layout_.proposal);
    chain_.each(n_, [&](Value i) {
      proposal.set(i, q_.get(i));
      proposal.set(i + index(n_), g_.get(i));
    });
    real(real_proposal_lp) = now_lp().get();
    real(real_proposal_energy) = now_h().get();
  });
  k_.if_(divergent, [&] {
    const Value warming = word(word_iteration).get() < warmup_;
    word(word_divergences) = word(word_divergences).get() + select(warming, index(0), index(1));
    word(word_warmup_divergences) = word(word_warmup_divergences).get() + select(warming, index(1), index(0));
  });
  const Variable valid = k_.variable(!divergent);
  k_.if_(valid.get(), [&] { valid = merge(valid.get()); });
  const Value next = word(word_leaf).get() + 1;
  const Value full = next == (index(1) << word(word_depth).get());
  // going: the transition is not over.
  const Variable going = k_.variable(valid.get());
  k_.if_(valid.get() && !full, [&] { push(); });
  word(word_leaf) = next;
  k_.if_(valid.get() && full, [&] { join_subtree(going); });
  k_.if_(!going.get(), [&] { end_transition(); });
}

// The leaf, and the subtrees that it completes, with those that wait for them; true while no pair has turned.
Value Machine::merge(Value valid) {
  const Value leaf = word(word_leaf).get();
  const Value height = count_ones(leaf), merges = trailing_zeros(~leaf);
  chain_.each(n_, [&](Value i) {
    const Value p = p_.get(i);
    cb_.set(i, p);
    cr_.set(i, p);
    if (layout_.dense()) cb_sharp_.set(i, sharp_.get(i));
  });
  const Variable good = k_.variable(valid);
  const Variable done = k_.variable(index(0));
  const auto slot_of = [&](Value merged) {
    return at(layout_.stack).from((height - 1 - merged) * layout_.slot);
  };
  // An odd leaf meets a single one first: the three checks of two leaves are one.
  k_.if_((leaf & 1) != index(0), [&] {
    const Vector other = slot_of(index(0)), other_sharp = other.from(3 * n_);
    const auto dots = chain_.sums(n_, 2, [&](Value i) {
      const Value b = other.get(i), p = p_.get(i), both = b + p;
      return std::vector{sharp(i, b, other_sharp) * both, sharp(i, p, sharp_) * both};
    });
    chain_.each(n_, [&](Value i) {
      cb_.set(i, other.get(i));
      cr_.set(i, p_.get(i) + other.get(i));
      if (layout_.dense()) cb_sharp_.set(i, other_sharp.get(i));
    });
    good = dots[0] > number(0) && dots[1] > number(0);
    done = index(1);
  });
  k_.while_([&] { return good.get() && done.get() < merges; },
            [&] {
              const Vector slot = slot_of(done.get());
              const Vector first = slot, last = slot.from(n_), sum = slot.from(2 * n_);
              const Vector first_sharp = slot.from(3 * n_), last_sharp = slot.from(4 * n_);
              // crit(B, cb, R + cb), crit(E, p, cr + E), crit(B, p, cr + R)
              const auto dots = chain_.sums(n_, 6, [&](Value i) {
                const Value b = first.get(i), e = last.get(i), r = sum.get(i), p = p_.get(i);
                const Value begin = cb_.get(i), rho = cr_.get(i);
                const Value bs = sharp(i, b, first_sharp), es = sharp(i, e, last_sharp),
                            ps = sharp(i, p, sharp_);
                const Value begin_sharp = sharp(i, begin, cb_sharp_);
                const Value left = r + begin, right = rho + e, all = rho + r;
                return std::vector{bs * left, begin_sharp * left, es * right, ps * right, bs * all, ps * all};
              });
              chain_.each(n_, [&](Value i) {
                cr_.set(i, cr_.get(i) + sum.get(i));
                cb_.set(i, first.get(i));
                if (layout_.dense()) cb_sharp_.set(i, first_sharp.get(i));
              });
              Value straight = dots[0] > number(0);
              for (size_t t = 1; t < dots.size(); ++t) straight = straight && dots[t] > number(0);
              good = straight;
              done = done.get() + 1;
            });
  return good.get();
}

void Machine::push() {
  const Value leaf = word(word_leaf).get();
  const Value place = count_ones(leaf) - trailing_zeros(~leaf);
  const Vector slot = at(layout_.stack).from(place * layout_.slot);
  chain_.each(n_, [&](Value i) {
    slot.set(i, cb_.get(i));
    if (layout_.dense()) slot.set(i + index(3 * n_), cb_sharp_.get(i));
  });
  // Of a single leaf the first is all there is.
  k_.if_((leaf & 1) != index(0), [&] {
    chain_.each(n_, [&](Value i) {
      slot.set(i + index(n_), p_.get(i));
      slot.set(i + index(2 * n_), cr_.get(i));
      if (layout_.dense()) slot.set(i + index(4 * n_), sharp_.get(i));
    });
  });
}

// A complete subtree joins the trajectory.
void Machine::join_subtree(const Variable& going) {
  const Value old = real(real_weight).get(), added = real(real_sub_weight).get();
  k_.if_(real(real_choice).get() * old < added, [&] {
    const Vector proposal = at(layout_.proposal), sample = at(layout_.sample);
    chain_.each(n_, [&](Value i) {
      sample.set(i, proposal.get(i));
      sample.set(i + index(n_), proposal.get(i + index(n_)));
    });
    real(real_lp) = real(real_proposal_lp).get();
    real(real_energy) = real(real_proposal_energy).get();
  });
  real(real_weight) = old + added;
  const int64_t end = layout_.dense() ? 4 * n_ : 3 * n_;
  const Value direction = word(word_direction).get();
  const Vector ends = at(layout_.ends);
  const Vector near_end = ends.from(direction * end), far_end = ends.from((1 - direction) * end);
  const Vector inner = near_end.from(n_), inner_sharp = near_end.from(3 * n_);
  const Vector far = far_end.from(n_), far_sharp = far_end.from(3 * n_);
  const Vector rho = at(layout_.rho);
  // crit(far, p, rho + cr), crit(far, cb, rho + cb), crit(inner, p, cr + inner): the same in both directions.
  const auto dots = chain_.sums(n_, 6, [&](Value i) {
    const Value f = far.get(i), p = p_.get(i), begin = cb_.get(i), added_rho = cr_.get(i), m = inner.get(i);
    const Value fs = sharp(i, f, far_sharp), ps = sharp(i, p, sharp_),
                begin_sharp = sharp(i, begin, cb_sharp_);
    const Value ms = sharp(i, m, inner_sharp);
    const Value all = rho.get(i) + added_rho, left = rho.get(i) + begin, right = added_rho + m;
    return std::vector{fs * all, ps * all, fs * left, begin_sharp * left, ms * right, ps * right};
  });
  chain_.each(n_, [&](Value i) {
    rho.set(i, rho.get(i) + cr_.get(i));
    near_end.set(i, q_.get(i));
    near_end.set(i + index(n_), p_.get(i));
    near_end.set(i + index(2 * n_), g_.get(i));
    if (layout_.dense()) near_end.set(i + index(3 * n_), sharp_.get(i));
  });
  Value straight = dots[0] > number(0);
  for (size_t t = 1; t < dots.size(); ++t) straight = straight && dots[t] > number(0);
  const Value depth = word(word_depth).get() + 1;
  word(word_depth) = depth;
  word(word_leaf) = index(0);
  going = straight && depth < max_depth_;
}

void Machine::end_transition() {
  const Value accept_stat = real(real_acceptance).get() / convert(word(word_leaps).get(), chain_.real());
  save_draw(accept_stat);
  set_phase(Phase::transition);
  k_.if_(word(word_iteration).get() < warmup_, [&] { adapt(accept_stat); });
  word(word_iteration) = word(word_iteration).get() + 1;
}

void Machine::save_draw(Value accept_stat) {
  const Value iteration = word(word_iteration).get();
  const Value since = iteration - save_from_;
  k_.if_(iteration >= save_from_ && since % thin_ == index(0), [&] {
    const Value row = (team_ * ring_ + (since / thin_) % ring_) * (stats_count + n_);
    const Vector sample = at(layout_.sample);
    const Value divergent = !(real(real_h0).get() - now_h().get() >= number(-1000));
    const auto position = [&](Value i) { rows_[row + index(stats_count) + i] = sample.get(i); };
    chain_.once([&] {
      const Value stats[] = {real(real_lp).get(),
                             accept_stat,
                             real(real_step).get(),
                             convert(word(word_depth).get(), chain_.real()),
                             convert(word(word_leaps).get(), chain_.real()),
                             select(divergent, number(1), number(0)),
                             real(real_energy).get()};
      for (int64_t i = 0; i < stats_count; ++i) rows_[row + index(i)] = stats[i];
    });
    chain_.each(n_, position);
  });
}

}  // namespace adit::sampling
