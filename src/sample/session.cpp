#include "sample/session.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <new>

#include <adit/ops.hpp>

#include "sample/collect.hpp"
#include "sample/failure.hpp"
#include "sample/layout_text.hpp"
#include "sample/memory.hpp"
#include "sample/options.hpp"
#include "sample/outside.hpp"
#include "sample/predictive.hpp"
#include "sample/settle.hpp"

namespace adit::sampling {

namespace {

double since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// What a test decides, else what the caller wishes.
Forced joined(Forced forced, const Forced& wish) {
  if (!forced.lanes) forced.lanes = wish.lanes;
  if (!forced.rows_teams) forced.rows_teams = wish.rows_teams;
  if (!forced.home) forced.home = wish.home;
  if (!forced.slots) forced.slots = wish.slots;
  if (!forced.together) forced.together = wish.together;
  if (!forced.loop_numbers) forced.loop_numbers = wish.loop_numbers;
  return forced;
}

// Some draws, from all chains and times.
Seen seen_draws(int64_t size, const std::vector<double>& points, const Draws& draws) {
  const auto all = draws.stats.lp.size(), count = std::min<size_t>(static_cast<size_t>(watched_points), all);
  Seen seen;
  for (size_t i = 0; i < count; ++i) {
    const size_t at = i * all / count;
    const auto point = points.begin() + static_cast<int64_t>(at) * size;
    seen.points.insert(seen.points.end(), point, point + size);
    seen.lps.push_back(draws.stats.lp[at]);
  }
  return seen;
}

int64_t rounded_up(int64_t number, int64_t part) { return (number + part - 1) / part; }

}  // namespace

Session::Session(const stats::ModelState& model, const SampleOptions& options,
                 const std::vector<DataSet>& sets, const Forced& forced)
    : model_(model), options_(options), sets_(sets), forced_(forced) {
  check_options(model_, options_);
  check_predictive(model_, options_);
  check_memory(model_, options_, std::ssize(sets));
  const LayoutWish wish = layout_wish(options_.layout);  // throws before a device is opened
  device_ = Device::open(options_.device);
  seconds_.open = since(begin_);
  chooses_precision_ = options_.precision == Precision::automatic;
  const auto compile = Clock::now();
  check_layout(wish, options_.layout, *device_);
  if (options_.resume) read_header();
  begin();
  if (options_.resume) resume();
  seconds_.compile = since(compile);
}

// A run that went over to f64 goes on in f64, and chains lie as they lay.
void Session::read_header() {
  const CheckpointHeader header = read_checkpoint(options_.checkpoint).header;
  const std::string before = precision_of(header);
  if (options_.precision == Precision::automatic && device_->limits().float64 && before != "f32")
    options_.precision = before == "f64" ? Precision::f64 : Precision::mixed;
  checkpoint_layout_ = layout_of(header);
}

// What the caller asks for; else what the run had that this one goes on with; else what suits best.
std::string Session::layout() const {
  const bool is_open =
      (options_.layout.empty() || options_.layout == "auto") && options_.placement == Placement::automatic;
  const bool decides =
      forced_.lanes || forced_.home || forced_.rows_teams || forced_.slots || forced_.together;
  if (!is_open || decides) return options_.layout;
  return options_.resume ? checkpoint_layout_ : settled_layout(model_, options_, sets_, device_, begin_);
}

void Session::begin() {
  const LayoutWish wish = layout_wish(layout());
  SampleOptions options = options_;
  if (wish.placement != Placement::automatic) options.placement = wish.placement;
  choice_ = choose(model_, options, options_.chains * std::ssize(sets_), *device_);
  const bool was_kernel = options.placement == Placement::lane || options.placement == Placement::team;
  if (was_kernel && choice_.outside)
    placement_note_ = fmt::format(
        "the density is of more than {} operations, which one kernel does not hold: it was computed between "
        "dispatches, by the engine of tensors (placement device)",
        most_kernel_operations);
  journal_.reset();
  run_.emplace(model_, options_, choice_, sets_, device_, joined(forced_, wish.forced));
  prepare_start(*run_, model_, options_);
  warmup_ = draws_ = {};
  warmup_.wanted = options_.save_warmup ? rounded_up(options_.warmup, options_.thin) : 0;
  draws_.wanted = options_.draws;
  for (Rows* rows : {&warmup_, &draws_}) rows->written.assign(static_cast<size_t>(run_->chains()), 0);
  if (!options_.checkpoint.empty())
    journal_.emplace(options_.checkpoint, header_of(*run_, model_, options_, *device_), options_.resume,
                     forced_.checkpoint_seconds);
}

// --- From the first iteration to the last ------------------------------------------------------------------

template <class Work>
auto Session::within_memory(Work work) const {
  const auto kept = [&] { return journal_ && journal_->holds_state(); };
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw_out_of_memory(options_, "", kept());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::out_of_memory) throw;
    throw_out_of_memory(options_, error.what(), kept());
  }
}

void Session::run() {
  within_memory([&] { go(); });
}

Draws Session::draws_of(const stats::ModelState& model, int64_t set) {
  return within_memory([&] { return collect(model, set); });
}

void Session::prepare_the_end() {
  // A software device computes on the threads that compile.
  if (device_->info().kind == DeviceKind::software) return;
  prepared_ = std::async(std::launch::async, [this, is_f32 = choice_.type == DType::f32] {
    try {
      if (is_f32) prepare_precision_errors(model_);
      const int64_t draws = options_.chains * options_.draws;
      prepare_collection(model_, draws, device_);
      prepare_generated(model_, draws, options_.seed, device_);
    } catch (const std::exception&) {  // whoever needs it will meet it
    }
  });
}

void Session::go() {
  const auto warm = Clock::now();
  prepare_the_end();
  report();
  const bool in_warmup = run_->slowest() < options_.warmup;
  Rows& first = options_.save_warmup ? warmup_ : draws_;
  bool going = watch_precision(first) && free_stuck_chains(first) && reach(options_.warmup, first);
  if (going && run_->saved_from() < options_.warmup) {  // rows of warm-up end here, those of draws begin
    take(warmup_);
    if (journal_ && in_warmup) keep(warmup_);
    run_->save_rows_from(options_.warmup);
  }
  seconds_.warmup = since(warm);
  if (going && journal_ && in_warmup && seconds_.warmup > 0.25 && journal_->is_worth(seconds_.warmup))
    keep(draws_);
  const auto sampling = Clock::now();
  const int64_t last = options_.warmup + options_.draws * options_.thin;
  if (going && draws_.taken < draws_.wanted) {
    going = reach(last, draws_);
    take(draws_);
    if (journal_ && (!going || journal_->is_worth(since(begin_)))) keep(draws_);
  }
  seconds_.sampling = since(sampling);
}

// Where f32 does not hold the next one is f64: on an H200 mixed precision is as fast as that, no faster.
bool Session::watch_precision(Rows& rows) {
  const int64_t iteration = std::min(watched_iteration, options_.warmup);
  if (choice_.type != DType::f32 || sets_.size() > 1 || run_->slowest() >= iteration) return true;
  if (!look_at_precision(rows, iteration)) {
    seen_.reset();
    return false;
  }
  if (!chooses_precision_) return true;
  errors_ = precision_errors(model_, *seen_);
  if (is_precise_enough()) return true;
  note_ = fmt::format("log densities in f32 were off by {:.2g} next to each other", errors_.energy);
  if (errors_.energy <= allowed_energy_error(seen_->lps))
    note_ += fmt::format(", gradients by {:.2g} of their length and positions by {:.2g} steps",
                         errors_.gradient, errors_.position);
  if (!device_->limits().float64) {
    note_ += fmt::format(", and {} has no f64: run on another device (--device cpu)", device_->info().id);
    return true;
  }
  note_ += ", so that the run is in f64";
  options_.precision = Precision::f64;
  options_.resume = false;
  seen_.reset();
  begin();
  return true;
}

bool Session::is_precise_enough() const {
  return errors_.energy <= allowed_energy_error(seen_->lps) && errors_.gradient <= most_gradient_error &&
         errors_.position <= most_position_error;
}

bool Session::look_at_precision(Rows& rows, int64_t iteration) {
  seen_.emplace();
  const int64_t count = std::min(watched_points / watched_times, run_->chains());
  for (int64_t look = 0; look < watched_times; ++look) {
    if (!reach(std::min(iteration + 5 * look, options_.warmup), rows)) return false;
    look_at_chains(0, run_->chains(), count, look + 1 == watched_times, *seen_);
  }
  return true;
}

// Some of the chains from `first` on, where they are now.
void Session::look_at_chains(int64_t first, int64_t chains, int64_t count, bool gradients, Seen& seen) const {
  const Layout& layout = run_->kernel().layout;
  const auto append = [](std::vector<double>& to, const std::vector<double>& numbers) {
    to.insert(to.end(), numbers.begin(), numbers.end());
  };
  for (int64_t i = 0; i < count; ++i) {
    const int64_t chain = first + i * chains / count;
    append(seen.points, run_->state_of(chain, layout.sample, model_.size));
    seen.lps.push_back(run_->state_of(chain, real_lp, 1)[0] + run_->state_of(chain, real_origin, 1)[0]);
    if (!gradients) continue;
    append(seen.gradients, run_->state_of(chain, layout.sample + layout.size, model_.size));
    const double step = run_->state_of(chain, real_step, 1)[0];
    const auto metric = run_->state_of(chain, layout.inverse_metric,
                                       layout.dense() ? layout.size * layout.size : layout.size);
    for (int64_t d = 0; d < layout.size; ++d)
      seen.steps.push_back(
          step * std::sqrt(metric[static_cast<size_t>(layout.dense() ? d * (layout.size + 1) : d)]));
  }
}

// All chains to an iteration. Rows are taken before the ring is full; chains may be a ring apart.
bool Session::reach(int64_t iteration, Rows& rows) {
  const int64_t ring = run_->ring();
  while (run_->slowest() < iteration) {
    if (options_.should_stop && options_.should_stop()) {
      if (run_->slowest() < options_.warmup && journal_) keep(rows);
      return false;
    }
    run_->step(std::min(iteration, run_->saved_from() + (rows.taken + ring) * options_.thin));
    report();
    if (ring < rows.wanted && run_->saved() - rows.taken >= rounded_up(ring, 2)) take(rows);
    if (journal_ && run_->slowest() < iteration && journal_->due()) keep(rows);
  }
  return true;
}

void Session::take(Rows& rows) {
  const int64_t count = std::min(run_->saved(), rows.wanted) - rows.taken;
  if (count <= 0) return;
  rows.blocks.push_back({count, run_->row_bytes(rows.taken, count)});
  rows.taken += count;
}

// Everything so far to the checkpoint: of each chain the rows that it lacks, then the state.
void Session::keep(Rows& rows) {
  const auto begin = Clock::now();
  take(rows);
  write_taken(rows);
  write_ahead(rows);
  journal_->state(run_->save(rows.taken), begin);
}

// Rows that all chains have, but for those that the checkpoint has from when a chain was ahead.
void Session::write_taken(Rows& rows) {
  const auto width = (run_->kernel().layout.stats + model_.size) * size_of(choice_.type);
  int64_t first = 0;
  for (const Block& block : rows.blocks) {
    const int64_t end = first + block.count;
    std::vector<uint32_t> counts;
    std::vector<std::byte> bytes;
    auto chain_end = block.bytes.begin();
    for (const int64_t written : rows.written) {
      const int64_t count = end - std::clamp(written, first, end);
      chain_end += block.count * width;
      bytes.insert(bytes.end(), chain_end - count * width, chain_end);
      counts.push_back(static_cast<uint32_t>(count));
    }
    if (!bytes.empty()) journal_->rows(counts, bytes);
    for (int64_t& written : rows.written) written = std::max(written, end);
    first = end;
  }
}

// Rows of chains that are ahead of the slowest, out of the ring.
void Session::write_ahead(Rows& rows) {
  std::vector<int64_t> counts;
  for (size_t c = 0; c < rows.written.size(); ++c)
    counts.push_back(std::max<int64_t>(0, run_->made(static_cast<int64_t>(c)) - rows.written[c]));
  const RawBytes bytes = run_->rows_of_chains(rows.written, counts);
  if (bytes.empty()) return;
  journal_->rows(std::vector<uint32_t>(counts.begin(), counts.end()), bytes);
  for (size_t c = 0; c < counts.size(); ++c) rows.written[c] += counts[c];
}

void Session::report() {
  if (!options_.on_progress) return;
  options_.on_progress({run_->slowest(), options_.warmup + options_.draws * options_.thin, options_.warmup,
                        run_->leapfrogs(), run_->divergences(), since(begin_)});
}

void Session::resume() {
  const CheckpointContents contents = journal_->take_contents();
  if (!contents.state) return;  // it was killed before the first: from the beginning
  const int64_t taken = run_->restore(contents.state->bytes);
  const bool in_warmup = run_->saved_from() < options_.warmup;
  Rows& rows = in_warmup ? warmup_ : draws_;
  const int64_t before = in_warmup ? 0 : warmup_.wanted;  // rows of warm-up lie before those of draws
  const std::vector<uint64_t> found = count_rows(contents);
  std::vector<uint64_t> ahead;
  for (size_t c = 0; c < found.size(); ++c) {
    const int64_t made = run_->made(static_cast<int64_t>(c));
    if (made < taken || static_cast<int64_t>(found[c]) != before + made)
      throw Error(ErrorKind::io, fmt::format("[sample] resume: expected {} rows of chain {} in {}, got {}",
                                             before + made, c + 1, options_.checkpoint, found[c]));
    rows.written[c] = made;
    ahead.push_back(static_cast<uint64_t>(made - taken));
  }
  const auto all = [&](int64_t number) {
    return std::vector<uint64_t>(found.size(), static_cast<uint64_t>(number));
  };
  const auto take_up = [&](Rows& to, int64_t first, int64_t count) {
    if (count > 0) {
      const Bytes kept = rows_of(contents, all(first), all(count));
      to.blocks.push_back({count, RawBytes(kept.begin(), kept.end())});
    }
    to.taken = count;
  };
  if (!in_warmup) take_up(warmup_, 0, before);
  take_up(rows, before, taken);
  run_->restore_rows(taken, rows_of(contents, all(before + taken), ahead));
}

// --- Draws -------------------------------------------------------------------------------------------------

// A data set's rows, chain after chain. The last set's are the last that anyone asks for.
std::vector<double> Session::numbers_of(Rows& rows, int64_t set) const {
  const auto count = static_cast<size_t>(std::min(rows.taken, rows.wanted));
  const size_t width = static_cast<size_t>(run_->kernel().layout.stats + model_.size),
               element = size_of(choice_.type);
  std::vector<double> all;
  all.reserve(static_cast<size_t>(options_.chains) * count * width);
  for (int64_t c = set * options_.chains; c < (set + 1) * options_.chains; ++c) {
    size_t left = count;
    for (const Block& block : rows.blocks) {
      const size_t row_bytes = width * element, used = std::min(left, static_cast<size_t>(block.count));
      const auto part =
          std::span(block.bytes).subspan(static_cast<size_t>(c * block.count) * row_bytes, used * row_bytes);
      run_->append_numbers(part, all);
      left -= used;
    }
  }
  if ((set + 1) * options_.chains == run_->chains()) std::vector<Block>().swap(rows.blocks);
  return all;
}

// What holds more of the log density; asked for where it is off alone, since another density is made.
std::string Session::wider_precisions(double energy_error) const {
  if (!device_->limits().float64) return "none";
  const Density& density = run_->density();
  if (energy_error <= most_energy_error || choice_.wide == Wide::value || !has_mixed(*device_)) return "f64";
  const Density mixed = make_density(model_, {DType::f32, Wide::value}, density.loop_numbers, choice_.on_cpu);
  return is_wider(mixed.value, density.value) ? "mixed or f64" : "f64";
}

// Of a run in f32: its draws, and where its chains are at the end, beside f64.
void Session::watch_draws(const stats::ModelState& model, int64_t set, const std::vector<double>& points,
                          Draws& draws) const {
  Seen ends;
  const auto most = static_cast<int64_t>(watched_gradients);
  look_at_chains(set * options_.chains, options_.chains, std::min(most, options_.chains), true, ends);
  draws.energy_error = precision_errors(model, seen_draws(model.size, points, draws)).energy;
  draws.gradient_error = precision_errors(model, ends).gradient;
  draws.wider = wider_precisions(draws.energy_error);
  if (!seen_) return;
  const PrecisionErrors before = chooses_precision_ ? errors_ : precision_errors(model, *seen_);
  draws.energy_error_before = before.energy;
  draws.gradient_error_before = before.gradient;
}

Draws Session::collect(const stats::ModelState& model, int64_t set) {
  Draws draws;
  describe(model, set, draws);
  const int64_t first_chain = options_.first_chain + set * options_.chains;
  // What the data alone add to the log density.
  const double constant = stats::at_point(model, {run_->density().constant}, {})[0].item<double>();
  if (!std::isfinite(constant)) throw_bad_constant(model);
  if (options_.save_warmup) {
    draws.warmup_draws = std::min(warmup_.taken, warmup_.wanted);
    const std::vector<double> points =
        collect_draws(model, numbers_of(warmup_, set), run_->kernel().layout.stats, constant, device_,
                      draws.warmup_variables, draws.warmup_stats);
    add_generated(model, points, first_chain, options_.chains, options_.seed ^ 1, device_,
                  draws.warmup_variables);
  }
  draws.observed = observed_of(model);
  const std::vector<double> points =
      collect_draws(model, numbers_of(draws_, set), run_->kernel().layout.stats, constant, device_,
                    draws.variables, draws.stats);
  if (choice_.type == DType::f32) watch_draws(model, set, points, draws);
  for (const std::string& note : {note_, placement_note_})
    if (!note.empty()) draws.notes.push_back(note);
  note_taken_over(model, set, constant, draws);
  note_stuck(model, set, constant, draws);
  add_predictive(model, points, first_chain, options_, device_, draws);
  add_generated(model, points, first_chain, options_.chains, options_.seed, device_, draws.variables);
  if (draws.divergences() > 0) note_outside(model, points, first_chain, options_, choice_.type, draws);
  draws.seconds.total = since(begin_);
  return draws;
}

void Session::describe(const stats::ModelState& model, int64_t set, Draws& draws) const {
  draws.model = model.name;
  draws.chains = options_.chains;
  draws.draws = std::min(draws_.taken, draws_.wanted);
  draws.warmup = options_.warmup;
  draws.thin = options_.thin;
  draws.max_depth = options_.max_depth;
  draws.seed = options_.seed;
  draws.adapt_delta = options_.adapt_delta;
  draws.device = device_->info().id;
  draws.precision = name_of(choice_.type, choice_.wide);
  draws.metric = name_of(options_.metric);
  draws.layout = run_->layout();
  draws.inits = options_.init.empty() ? fmt::format("{}", options_.init_radius) : "values";
  draws.coordinates = coordinates_of(model);
  const Layout& layout = run_->kernel().layout;
  const std::vector<uint32_t> words = run_->words();
  for (int64_t c = set * options_.chains; c < (set + 1) * options_.chains; ++c) {
    const size_t at = static_cast<size_t>(c) * word_count;
    draws.leapfrogs += words[at + word_leapfrogs];
    draws.warmup_divergences += words[at + word_warmup_divergences];
  }
  const int64_t first = set * options_.chains, chains = options_.chains;
  draws.step_sizes = run_->states_of(first, chains, real_step, 1);
  const int64_t width = layout.dense() ? layout.size * layout.size : layout.size;
  const std::vector<double> metrics = run_->states_of(first, chains, layout.inverse_metric, width);
  for (int64_t c = 0; c < chains; ++c)
    draws.inverse_metrics.emplace_back(metrics.begin() + c * width, metrics.begin() + (c + 1) * width);
  draws.finished = draws_.taken >= draws_.wanted;
  draws.seconds = seconds_;
}

}  // namespace adit::sampling
