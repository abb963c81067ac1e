#include "nuts/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <list>

#include <adit/kernel/math.hpp>

#include "density/trips.hpp"
#include "nuts/machine.hpp"

namespace adit::sampling {

using kernel::Access;

void Machine::declare() {
  state_ = k_.buffer("state", chain_.real(), Access::read_write);
  words_ = k_.buffer("words", Type::u32, Access::read_write);
  rows_ = k_.buffer("rows", chain_.real(), Access::write);
  if (options_.in_vectors || options_.together > 1) places_ = k_.buffer("places", Type::u32, Access::read);
  chains_ = k_.scalar("chains", Type::u32);
  if (options_.together == 1) find_chain();
  const auto whole = [&](const char* name) { return k_.scalar(name, Type::u32); };
  seed_low_ = whole("seed_low");
  seed_high_ = whole("seed_high");
  first_chain_ = whole("first_chain");
  chains_a_set_ = whole("chains_a_set");
  warmup_ = whole("warmup");
  limit_ = whole("limit");
  budget_ = whole("budget");
  beat_ = whole("beat");
  ring_ = whole("ring");
  thin_ = whole("thin");
  save_from_ = whole("save_from");
  max_depth_ = whole("max_depth");
  init_buffer_ = whole("init_buffer");
  term_buffer_ = whole("term_buffer");
  window_ = whole("window");
  adapt_ = whole("adapt");
  const auto given = [&](const char* name) { return k_.scalar(name, chain_.real()); };
  delta_ = given("delta");
  gamma_ = given("gamma");
  kappa_ = given("kappa");
  t0_ = given("t0");
  radius_ = given("radius");
  if (options_.together == 1) random_.emplace(chain_, seed_low_, seed_high_, first_chain_ + team_);
  if (!density_) {
    asked_ = k_.buffer("asked", chain_.real(), Access::write);
    values_ = k_.buffer("values", value_, Access::read);
    gradients_ = k_.buffer("gradients", chain_.real(), Access::read);
    return;
  }
  Value set;
  if (options_.sets > 1) set = (first_chain_ + team_) / chains_a_set_;
  density_->declare(set);
  for (DensityWriter* other : densities_)
    if (other != density_) other->declare_beside(*density_);
}

void Machine::find_chain() {
  team_ = k_.team();
  if (options_.in_vectors) team_ = places_[team_];
  if (!by_hand()) return;
  // A lane too many reads what the last chain has, and does nothing.
  const Value place = team_ * options_.lanes + k_.lane();
  exists_ = place < chains_;
  team_ = min(place, chains_ - 1);
}

// Where the chain's numbers lie while it runs; and those that every round needs in registers where a chain
// has a lane of its own.
void Machine::open_state() {
  state_base_ = team_ * layout_.count;
  const Value words = team_ * int64_t{word_count};
  own_base_ = index_zero_ = index(0);
  own_slots_ = layout_.slots();
  if (options_.home != Home::buffer) open_memory();
  for (uint32_t i = 0; i < real_count; ++i) reals_.push_back(k_.variable(state_[state_base_ + i]));
  for (uint32_t i = 0; i < word_count; ++i) cells_.push_back(k_.variable(words_[words + i]));
  for (int i = 0; i < 3; ++i) now_.push_back(k_.variable(number(0)));
  good_.emplace(k_.variable(k_.constant(Type::boolean, true)));
  open_vectors();
}

void Machine::open_memory() {
  const bool hot = by_hand() || in_registers();  // the rest is read from the buffer now and then
  const bool split = options_.home == Home::split;
  if (hot) {
    own_slots_ = std::min(own_slots_, options_.slots);
    own_begin_ = proposal_in_registers() ? layout_.other : layout_.proposal;
    own_end_ = layout_.stack + own_slots_ * layout_.slot;
  } else {
    own_begin_ = split ? std::min(layout_.inverse_metric, layout_.current) : 0;
    own_end_ = split ? layout_.proposal : layout_.count;
  }
  if (hot && !by_hand() && layout_.scratch_size > 0) {
    has_scratch_ = true;
    scratch_ = k_.array(chain_.real(), static_cast<uint32_t>(layout_.scratch_size));
  }
  if (layout_.near > 0)
    near_ = Vector(k_.shared(chain_.real(), static_cast<uint32_t>(layout_.near)), index_zero_);
  const int64_t stride = (own_end_ - own_begin_) | 1;  // odd: lanes then use different banks
  if (options_.home == Home::array)
    own_ = k_.array(chain_.real(), static_cast<uint32_t>(own_end_ - own_begin_));
  else
    own_ = k_.shared(chain_.real(),
                     static_cast<uint32_t>(by_hand() ? stride * options_.lanes : own_end_ - own_begin_));
  if (by_hand()) own_base_ = k_.lane() * stride;
  every_own_number([&](Value i) { own_[own_base_ + i] = state_[state_base_ + index(own_begin_) + i]; });
}

// A product with a matrix reads at places that are not known: its momentum lies in memory.
bool Machine::in_registers() const {
  return !chain_.by_team() && !layout_.dense() && n_ <= chain_.written_out();
}

bool Machine::proposal_in_registers() const {
  return in_registers() && layout_.proposal_fits_registers(static_cast<int64_t>(size_of(chain_.real())));
}

// What every leaf touches lies in registers, what a doubling touches in memory: with all of it in registers a
// driver took twice as long to compile, for no speed.
void Machine::open_vectors() {
  const auto place = [&](bool registers, int64_t offset, bool keeps = true) {
    if (!registers) return at(offset);
    std::vector<Variable> cells;
    for (int64_t i = 0; i < n_; ++i)
      cells.push_back(k_.variable(keeps ? at(offset).get(index(i)) : number(0)));
    Vector vector(std::move(cells));
    if (keeps) kept_.emplace_back(vector, offset);
    return vector;
  };
  const bool some = in_registers(), most = proposal_in_registers();
  q_ = place(some, layout_.current);
  p_ = place(some, layout_.current + n_);
  g_ = place(some, layout_.current + 2 * n_);
  cb_ = place(some, layout_.growing, false);  // of one leaf
  cr_ = place(some, layout_.growing + n_, false);
  proposal_q_ = place(most, layout_.proposal);
  proposal_g_ = place(most, layout_.proposal + n_);
  other_q_ = at(layout_.other);
  other_p_ = at(layout_.other + n_);
  other_g_ = at(layout_.other + 2 * n_);
  inner_ = at(layout_.inner);
  sample_q_ = at(layout_.sample);
  sample_g_ = at(layout_.sample + n_);
  rho_ = at(layout_.rho);
  if (layout_.dense()) {
    sharp_ = at(layout_.current + 3 * n_);
    other_sharp_ = at(layout_.other + 3 * n_);
    inner_sharp_ = at(layout_.inner + n_);
    cb_sharp_ = at(layout_.growing + 2 * n_);
  } else {
    minv_ = place(some, layout_.inverse_metric);
  }
}

// What of the chain's own memory outlives a dispatch: the density's scratch does not.
void Machine::every_own_number(const std::function<void(Value)>& body) {
  const Value count = index(std::min(own_end_, layout_.scratch) - own_begin_);
  if (chain_.by_team())
    k_.each(count, body);
  else
    k_.for_(count, body);
}

void Machine::save_state() {
  for (const auto& [vector, offset] : kept_) copy(vector, at(offset));
  if (own_end_ > 0)
    every_own_number([&](Value i) { state_[state_base_ + index(own_begin_) + i] = own_[own_base_ + i]; });
  chain_.once([&] {
    for (uint32_t i = 0; i < real_count; ++i) state_[state_base_ + i] = reals_[i].get();
    for (uint32_t i = 0; i < word_count; ++i) words_[team_ * int64_t{word_count} + i] = cells_[i].get();
  });
}

void Machine::copy(const Vector& from, const Vector& to) {
  chain_.each(n_, [&](Value i) { to.set(i, from.get(i)); });
}

void Machine::copy_if(Value condition, const Vector& from, const Vector& to) {
  if (to.in_registers())
    chain_.each(n_, [&](Value i) { to.set(i, select(condition, from.get(i), to.get(i))); });
  else
    k_.if_(condition, [&] { copy(from, to); });
}

void Machine::fail(Failure failure) {
  word(word_failure) = index(static_cast<int64_t>(failure));
  set_phase(Phase::failed);
}

// Whether a chain has more to do in this dispatch.
Value Machine::goes_on() {
  const Value waits = is_phase(Phase::transition) && word(word_iteration).get() >= limit_;
  return !waits && !is_phase(Phase::failed);
}

void Machine::write() {
  declare();
  if (options_.together > 1) return write_together();
  open_state();
  rounds_.emplace(k_.variable(by_hand() ? select(exists_, index(0), budget_) : index(0)));
  if (density_)
    k_.while_([&] { return rounds().get() != budget_ && goes_on(); },
              [&] { options_.in_step ? round_in_step() : round(); });
  else
    round_around_density();
  word(word_rounds) = word(word_rounds).get() + rounds().get();
  if (by_hand())
    k_.if_(exists_, [&] { save_state(); });
  else
    save_state();
}

// A chain waits for the beat before a transition. A dispatch's first round is one, so that none waits for
// ever.
void Machine::round_in_step() {
  const Value done = rounds().get();
  k_.if_(
      !is_phase(Phase::transition) || (done & (beat_ - 1)) == index(0), [&] { round(); },
      [&] { rounds() = done + 1; });
}

// From the density that was asked for to the next one.
void Machine::round_around_density() {
  k_.if_(word(word_asks).get() != index(0), [&] {
    chain_.each(n_, [&](Value i) { g_.set(i, gradients_[team_ * n_ + i]); });
    follow_density(values_[team_]);
  });
  k_.if_(goes_on(), [&] {
    ask_for_density();
    chain_.each(n_, [&](Value i) { asked_[team_ * n_ + i] = q_.get(i); });
  });
}

void Machine::follow_density(Value lp) {
  rounds() = index(1);
  word(word_asks) = index(0);
  toss(word(word_leaps).get() + 1);
  arrive(relative(lp));
  end_round(add_leaf() && is_phase(Phase::tree));
}

void Machine::ask_for_density() {
  begin_round();
  move();
  word(word_asks) = index(1);
}

// Evaluations of the density, with what leads to the first and what follows from the last: all leaves of a
// subtree, or one of them where other chains, which may be elsewhere, go along.
void Machine::round() {
  begin_round();
  end_round(leaves());
}

void Machine::begin_round() {
  k_.if_(!is_phase(Phase::tree) || word(word_leaf).get() == index(0), [&] {
    k_.if_(is_phase(Phase::start_point), [&] { begin_start(); });
    k_.if_(is_phase(Phase::search) || is_phase(Phase::transition), [&] {
      begin_with_momentum();
      k_.if_(
          is_phase(Phase::search), [&] { begin_search(); }, [&] { begin_transition(); });
    });
    k_.if_(is_phase(Phase::tree), [&] { begin_subtree(); });
  });
}

void Machine::end_round(Value goes) {
  k_.if_(!goes, [&] {
    k_.if_(
        is_phase(Phase::tree), [&] { end_leaves(); },
        [&] {
          word(word_leaf) = index(0);
          k_.if_(
              is_phase(Phase::start_point), [&] { end_start(); }, [&] { end_search(); });
        });
  });
}

// The way of most leaves is this loop alone, with one branch in it: a lane that runs alone waits at each.
// What is not a leaf goes through it once, and what is noted of it is not read. (Lanes that vote whether all
// of them go on were slower in step than lanes that go round once.) True where the subtree goes on.
Value Machine::leaves() {
  const auto once = [&] {
    const Value done = rounds().get() + 1;
    rounds() = done;
    leap();
    return add_leaf() && is_phase(Phase::tree) && done != budget_;
  };
  if (options_.in_step) return once();
  const Variable goes = k_.variable(k_.constant(Type::boolean, true));
  k_.while_([&] { return goes.get(); }, [&] { goes = once(); });
  return goes.get();
}

// A leapfrog step; a start point is a step of length 0.
void Machine::leap() {
  move();
  // Drawn here, among the density's arithmetic, they cost little time of their own. (A call for two leaves at
  // a time, made elsewhere, cost more.)
  toss(word(word_leaps).get() + 1);
  arrive(relative(density_->write(q_, g_, at(layout_.scratch), near_)));
}

// Log densities of many rows are large, and their last bits are what energies differ by: where the density
// has those, what the chain remembers of it is how far it is from a number that all of a transition shares.
Value Machine::relative(Value lp) {
  if (value_ == chain_.real()) return lp;
  const Value origin =
      select(is_phase(Phase::start_point), convert(lp, chain_.real()), real(real_origin).get());
  real(real_origin) = origin;
  return convert(lp - convert(origin, value_), chain_.real());
}

void Machine::move_origin() {
  if (value_ == chain_.real()) return;
  const Value lp = convert(real(real_origin).get(), value_) + convert(real(real_lp).get(), value_);
  const Value origin = convert(lp, chain_.real());
  real(real_origin) = origin;
  real(real_lp) = convert(lp - convert(origin, value_), chain_.real());
}

Value Machine::signed_step() {
  const Value length = select(is_phase(Phase::start_point), number(0), real(real_step).get());
  return select(is_phase(Phase::tree) && word(word_direction).get() == index(0), -length, length);
}

// Half a step of the momentum and one of the position; from there the density is asked for.
void Machine::move() {
  const Value step = signed_step(), half = step * 0.5;
  if (layout_.dense()) {
    chain_.each(n_, [&](Value i) { p_.set(i, fma(half, g_.get(i), p_.get(i))); });
    chain_.sync();
    const Vector metric = at(layout_.inverse_metric);
    chain_.each(n_, [&](Value i) {
      const Variable sum = k_.variable(number(0));
      k_.for_(index(n_), [&](Value j) { sum = fma(metric.get(i * n_ + j), p_.get(j), sum.get()); });
      q_.set(i, fma(step, sum.get(), q_.get(i)));
    });
  } else {
    chain_.each(n_, [&](Value i) {
      const Value p = fma(half, g_.get(i), p_.get(i));
      p_.set(i, p);
      q_.set(i, fma(step * minv_.get(i), p, q_.get(i)));
    });
  }
  chain_.sync();
}

// The other half of the momentum's step, by the gradient there.
void Machine::arrive(Value lp) {
  const Value half = signed_step() * 0.5;
  const bool dense = layout_.dense();
  now_lp() = lp;
  const auto arrived = [&](Value i) { return fma(half, g_.get(i), p_.get(i)); };
  Value energy;
  if (dense) {
    chain_.each(n_, [&](Value i) { p_.set(i, arrived(i)); });
    chain_.sync();
    energy = kinetic();
  } else {
    energy = chain_.sums(
                 n_, 1,
                 [&](Value i) {
                   const Value p = arrived(i);
                   return std::vector{p * p * minv_.get(i)};
                 },
                 [&](Value i) { p_.set(i, arrived(i)); })[0] *
             0.5;
  }
  chain_.sync();  // lanes read positions across; the next step writes them
  const Value h = energy - lp;
  now_h() = select(is_nan(h), infinity(), h);
  word(word_leapfrogs) = word(word_leapfrogs).get() + 1;
}

// --- Start points: uniform on (-radius, radius), until density and gradient are finite
// ----------------------

void Machine::begin_start() {
  const Vector drawn = passing();
  const auto draw = [&](Value i) {
    const auto bits = random_->bits(Purpose::start, word(word_attempt).get(), i);
    drawn.set(i, fma(random_->uniform(bits, 0), 2 * radius_, -radius_));
  };
  if (chain_.by_team())
    k_.each(index(n_), draw);
  else
    k_.for_(index(n_), draw);
  chain_.each(n_, [&](Value i) {
    q_.set(i, select(word(word_given).get() != index(0), sample_q_.get(i), drawn.get(i)));
    p_.set(i, number(0));
    g_.set(i, number(0));
  });
}

void Machine::end_start() {
  const Value total = chain_.sum(n_, [&](Value i) { return g_.get(i); });
  const Value lp = now_lp().get(), both = total + lp;
  const Value is_good = (both - both) == number(0);  // neither infinite nor NaN
  k_.if_(
      is_good,
      [&] {
        copy(q_, sample_q_);
        copy(g_, sample_g_);
        real(real_lp) = lp;
        word(word_attempt) = index(0);
        word(word_search_direction) = index(0);
        k_.if_(
            adapts(0), [&] { set_phase(Phase::search); }, [&] { set_phase(Phase::transition); });
      },
      [&] {
        word(word_attempt) = word(word_attempt).get() + 1;
        const Value once = word(word_given).get() != index(0) || radius_ == number(0);
        k_.if_(once || word(word_attempt).get() >= index(100), [&] { fail(Failure::no_start); });
      });
}

NutsKernel make_nuts_kernel(const Density& density, const Schedule& schedule, Metric metric, int max_depth,
                            const KernelOptions& options) {
  NutsKernel result;
  const Type real = density.type == DType::f64 ? Type::f64 : Type::f32;
  result.layout = make_layout(density.size, metric, max_depth, schedule.scratch, schedule.near);
  const bool many = options.by_team || options.home == Home::shared;
  Builder k("nuts", many ? kernel::Team::many(options.lanes) : kernel::Team::one(options.lanes));
  k.set_rounds_exactly(schedule.on_cpu);
  const kernel::Loose loose(k, options.fuses);
  Chain chain(k, options.by_team, real, most_in_registers(density, schedule, options.written_out),
              options.in_vectors, options.by_team && options.by_hand ? options.lanes : 0);
  std::list<DensityWriter> writers;
  std::vector<DensityWriter*> used;
  const int64_t count = options.together == 1 ? 1 : options.together + 1;
  for (int64_t c = 0; c < count; ++c) writers.emplace_back(chain, density, schedule);
  for (DensityWriter& writer : writers)
    if (!options.outside) used.push_back(&writer);
  const Type value = compute_type(density.value.dtype());
  if (value != real) result.layout.stats = stats_count + 1;
  Machine machine(k, chain, std::move(used), result.layout, options, value);
  machine.write();
  result.segments = writers.front().segments();
  result.program = k.finish();
  result.loop_trips = loop_trips(result.program, max_depth);
  return result;
}

}  // namespace adit::sampling
