#include "sample/nuts/kernel.hpp"

#include <cmath>

#include <adit/kernel/math.hpp>

#include "sample/nuts/machine.hpp"

namespace adit::sampling {

using kernel::Access;

void Machine::declare() {
  state_ = k_.buffer("state", chain_.real(), Access::read_write);
  words_ = k_.buffer("words", Type::u32, Access::read_write);
  rows_ = k_.buffer("rows", chain_.real(), Access::write);
  team_ = k_.team();
  const auto whole = [&](const char* name) { return k_.scalar(name, Type::u32); };
  seed_low_ = whole("seed_low");
  seed_high_ = whole("seed_high");
  first_chain_ = whole("first_chain");
  chains_a_set_ = whole("chains_a_set");
  warmup_ = whole("warmup");
  limit_ = whole("limit");
  budget_ = whole("budget");
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
  random_.emplace(chain_, seed_low_, seed_high_, first_chain_ + team_);
  Value set;
  if (options_.sets > 1) set = team_ / chains_a_set_;
  density_.declare(set);
}

// Where the chain's numbers lie while it runs: in the buffer, or in the team's shared memory; and those that
// every round needs in registers where a chain has a lane of its own.
void Machine::open_state() {
  const Value base = team_ * layout_.count;
  const uint32_t bytes = static_cast<uint32_t>(layout_.count) * size_of(chain_.real());
  is_copied_ = options_.by_team ? bytes <= options_.shared_bytes : options_.private_state;
  const auto count = static_cast<uint32_t>(layout_.count);
  if (is_copied_) {
    own_ = options_.by_team ? k_.shared(chain_.real(), count) : k_.array(chain_.real(), count);
    memory_ = Vector(own_, index(0));
    every_number([&](Value i) { own_[i] = state_[base + i]; });
  } else {
    memory_ = Vector(state_, base);
  }
  for (uint32_t i = 0; i < real_count; ++i) reals_.push_back(k_.variable(state_[base + i]));
  for (uint32_t i = 0; i < word_count; ++i)
    cells_.push_back(k_.variable(words_[team_ * int64_t{word_count} + i]));
  for (int i = 0; i < 2; ++i) now_.push_back(k_.variable(number(0)));

  const bool registers = !options_.by_team && n_ <= chain_.written_out();
  const auto place = [&](int64_t offset) {
    if (!registers) return at(offset);
    std::vector<Variable> cells;
    for (int64_t i = 0; i < n_; ++i) cells.push_back(k_.variable(at(offset).get(index(i))));
    return Vector(std::move(cells));
  };
  q_ = place(layout_.current);
  p_ = place(layout_.current + n_);
  g_ = place(layout_.current + 2 * n_);
  cb_ = place(layout_.growing);
  cr_ = place(layout_.growing + n_);
  if (layout_.dense()) {
    sharp_ = at(layout_.current + 3 * n_);
    cb_sharp_ = at(layout_.growing + 2 * n_);
  } else {
    minv_ = place(layout_.inverse_metric);
  }
}

// All that outlives a dispatch: the density's scratch does not.
void Machine::every_number(const std::function<void(Value)>& body) {
  const Value count = index(layout_.scratch);
  if (chain_.by_team())
    k_.each(count, body);
  else
    k_.for_(count, body);
}

void Machine::save_state() {
  const Value base = team_ * layout_.count;
  const auto save = [&](const Vector& from, int64_t offset) {
    if (from.in_registers()) copy(from, at(offset));
  };
  save(q_, layout_.current);
  save(p_, layout_.current + n_);
  save(g_, layout_.current + 2 * n_);
  if (!layout_.dense()) save(minv_, layout_.inverse_metric);
  if (is_copied_) every_number([&](Value i) { state_[base + i] = own_[i]; });
  chain_.once([&] {
    for (uint32_t i = 0; i < real_count; ++i) state_[base + i] = reals_[i].get();
    for (uint32_t i = 0; i < word_count; ++i) words_[team_ * int64_t{word_count} + i] = cells_[i].get();
  });
}

void Machine::copy(const Vector& from, const Vector& to) {
  chain_.each(n_, [&](Value i) { to.set(i, from.get(i)); });
}

void Machine::fail(Failure failure) {
  word(word_failure) = index(static_cast<int64_t>(failure));
  set_phase(Phase::failed);
}

void Machine::write() {
  declare();
  open_state();
  const Variable rounds = k_.variable(budget_);
  k_.while_(
      [&] {
        const Value waits = is_phase(Phase::transition) && word(word_iteration).get() >= limit_;
        return rounds.get() != index(0) && !waits && !is_phase(Phase::failed);
      },
      [&] {
        rounds = rounds.get() - 1;
        round();
      });
  save_state();
}

// One evaluation of the density, with what leads to it and what follows from it.
void Machine::round() {
  k_.if_(is_phase(Phase::start_point), [&] { begin_start(); });
  k_.if_(is_phase(Phase::search), [&] { begin_search(); });
  k_.if_(is_phase(Phase::transition), [&] { begin_transition(); });
  k_.if_(is_phase(Phase::tree) && word(word_leaf).get() == index(0), [&] { begin_subtree(); });
  leap();
  k_.if_(
      is_phase(Phase::tree), [&] { end_leaf(); },
      [&] {
        k_.if_(
            is_phase(Phase::start_point), [&] { end_start(); }, [&] { end_search(); });
      });
}

// A leapfrog step; a start point is a step of length 0.
void Machine::leap() {
  const Value length = select(is_phase(Phase::start_point), number(0), real(real_step).get());
  const bool dense = layout_.dense();
  const Value step = select(is_phase(Phase::tree) && word(word_direction).get() == index(0), -length, length);
  const Value half = step * 0.5;
  if (dense) {
    chain_.each(n_, [&](Value i) { p_.set(i, fma(half, g_.get(i), p_.get(i))); });
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
  const Value lp = density_.write(q_, g_, at(layout_.scratch));
  now_lp() = lp;
  chain_.each(n_, [&](Value i) { p_.set(i, fma(half, g_.get(i), p_.get(i))); });
  const Value h = kinetic() - lp;
  now_h() = select(is_nan(h), infinity(), h);
  word(word_leapfrogs) = word(word_leapfrogs).get() + 1;
}

// --- Start points: uniform on (-radius, radius), until density and gradient are finite
// ----------------------

void Machine::begin_start() {
  const Vector drawn = at(layout_.current);
  const auto draw = [&](Value i) {
    const auto bits = random_->bits(Purpose::start, word(word_attempt).get(), i);
    const Value free = fma(random_->uniform(bits, 0), 2 * radius_, -radius_);
    drawn.set(i, select(word(word_given).get() != index(0), at(layout_.sample).get(i), free));
  };
  if (chain_.by_team())
    k_.each(index(n_), draw);
  else
    k_.for_(index(n_), draw);
  chain_.each(n_, [&](Value i) {
    if (q_.in_registers()) q_.set(i, drawn.get(i));
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
        copy(q_, at(layout_.sample));
        copy(g_, at(layout_.sample + n_));
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
  result.layout = make_layout(density.size, metric, max_depth, schedule.scratch);
  Builder k("nuts", options.by_team ? kernel::Team::many(options.lanes) : kernel::Team::one(options.lanes));
  Chain chain(k, options.by_team, real, options.written_out);
  DensityWriter writer(chain, density, schedule);
  Machine machine(k, chain, writer, result.layout, options);
  machine.write();
  result.segments = writer.segments();
  // Loops of a round: those of the density, and the components where they are not written out.
  for (const Pass& pass : schedule.passes)
    result.loop_trips += options.by_team ? pass.count / options.lanes + 2 : pass.count + 2;
  int64_t parts = density.size <= options.written_out ? 0 : density.size;
  if (options.by_team) parts = density.size / options.lanes + 1;
  result.loop_trips += 2 + (12 + 3 * max_depth) * parts + max_depth +
                       (metric == Metric::dense ? density.size * density.size : 0);
  result.program = k.finish();
  return result;
}

}  // namespace adit::sampling
