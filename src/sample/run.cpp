#include "sample/run.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include <adit/ops.hpp>

#include "density/trips.hpp"
#include "sample/batched_density.hpp"
#include "sample/compile_beside.hpp"
#include "sample/failure.hpp"
#include "sample/layout_text.hpp"
#include "sample/loop_memory.hpp"
#include "sample/rows_density.hpp"
#include "sample/shape.hpp"

namespace adit::sampling {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t longest_beat = 8;  // rounds
// Chains whose words the host does not look through after each dispatch: a million are 80 MB. A guess.
constexpr int64_t summarised_chains = 8192;
constexpr uint64_t most_lanes = 64;     // a part of the chains ends where a vector of them does
constexpr double slice_seconds = 0.04;  // a watchdog, a progress line and Ctrl-C wait about so long
constexpr double longest_slice = 0.25;  // where less would be spent on coming and going

}  // namespace

Run::Run(const stats::ModelState& model, const SampleOptions& options, const Choice& choice,
         const std::vector<DataSet>& sets, std::shared_ptr<Device> device, const Forced& forced)
    : model_(model),
      options_(options),
      choice_(choice),
      forced_(forced),
      device_(std::move(device)),
      chains_(options.chains * static_cast<int64_t>(sets.size())),
      sets_(static_cast<int64_t>(sets.size())),
      data_sets_(sets),
      density_(std::make_shared<Density>(
          density_for(model, {choice.type, choice.wide}, chains_, *device_, forced))),
      should_stop_(options.should_stop) {
  check_places(model, *density_, sets);
  const auto [schedule, shape] = plan_kernel(*density_, options_, chains_, sets_, choice, *device_, forced_);
  layout_ = layout_text(shape, *density_);
  teams_ = teams_of(shape, chains_);
  chains_a_team_ = teams_ == static_cast<uint64_t>(chains_) ? 1 : shape.lanes;
  const uint32_t together = shape.by_team ? static_cast<uint32_t>(shape.together) : shape.lanes;
  packing_.emplace(chains_, together);
  groups_ = (chains_ + together - 1) / together;
  is_placed_ = shape.in_vectors || shape.together > 1;
  places_a_team_ = static_cast<uint64_t>(shape.together);
  kernel_ = std::make_shared<NutsKernel>(
      make_nuts_kernel(*density_, schedule, options.metric, options.max_depth, shape));
  check_trips(kernel_->loop_trips, *device_);
  auto compiled = compile_beside(device_, kernel_->program);
  if (!shape.in_vectors && shape.together == 1 && (chains_ >= summarised_chains || forced_.summarises))
    summariser_.emplace(device_, chains_);
  if (options.adapt == Adapt::pooled && !kernel_->layout.dense() && chains_ >= summarised_chains)
    pooler_.emplace(device_, kernel_->layout, choice.type, sets_, options.chains);
  if (choice.outside)
    open_outside();
  else
    data_ = bind_data(model, *density_, kernel_->segments, sets, *device_);
  if (!std::isfinite(constant())) throw_bad_constant(model);
  allocate();
  initialise();
  compiled_ = compiled.get();
  set_budget(0, 1);
}

// Rows that are many for the chains there are go by kernels of their own; all else by the engine of tensors.
void Run::open_outside() {
  const Limits& limits = device_->limits();
  std::optional<Schedule> rows;
  if (forced_.rows_teams != 0 || choice_.spreads) rows = rows_schedule(*density_, limits);
  if (!rows && forced_.rows_teams > 0)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[sample] layout: expected device for a model that cannot spread its rows, got "
                            "device:{}",
                            forced_.rows_teams));
  if (!rows) {
    outside_ = std::make_unique<BatchedDensity>(model_, *density_, data_sets_, options_.chains, device_,
                                                forced_.at_once);
    return;
  }
  const int64_t teams = forced_.rows_teams > 0 ? forced_.rows_teams : teams_for_rows(*rows, chains_, limits);
  outside_ =
      std::make_unique<RowsDensity>(model_, *density_, *rows, data_sets_, options_.chains, teams, device_);
  layout_ = fmt::format("device:{}{}", teams, blocks_text(*density_));
}

void Run::allocate() {
  const uint64_t element = size_of(choice_.type);
  const auto chains = static_cast<uint64_t>(chains_);
  const auto row = static_cast<uint64_t>(kernel_->layout.stats + model_.size) * element;
  // Kernels count with 32 bits.
  if (const int64_t most = std::numeric_limits<int32_t>::max() / kernel_->layout.count; chains_ > most)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[sample] chains: expected at most {} for a model of {} numbers, got {}", most,
                            model_.size, chains_));
  save_from_ = options_.save_warmup ? 0 : options_.warmup;
  const int64_t total = std::max<int64_t>(
      1, (options_.draws * options_.thin + options_.warmup - save_from_ + options_.thin - 1) / options_.thin);
  const auto most = static_cast<int64_t>(device_->info().memory_bytes / 16 / (row * chains));
  ring_ =
      std::max<int64_t>(static_cast<int64_t>(most_row_bytes / (row * chains)), std::min(most, fewest_rows));
  ring_ = std::clamp<int64_t>(ring_, 1, total);
  if (forced_.ring) ring_ = std::min(ring_, forced_.ring);
  state_ = device_->allocate(chains * static_cast<uint64_t>(kernel_->layout.count) * element);
  words_ = device_->allocate(chains * word_count * 4);
  if (is_placed_) places_ = device_->allocate(chains * 4);
  rows_ = device_->allocate(chains * static_cast<uint64_t>(ring_) * row);
}

// Buffers of the windows, as Stan shortens them where warm-up is short.
void Run::plan_windows() {
  const int64_t warmup = options_.warmup;
  init_buffer_ = static_cast<uint32_t>(options_.init_buffer);
  term_buffer_ = static_cast<uint32_t>(options_.term_buffer);
  window_ = static_cast<uint32_t>(options_.window);
  if (int64_t{init_buffer_} + term_buffer_ + window_ > warmup) {
    init_buffer_ = static_cast<uint32_t>(0.15 * static_cast<double>(warmup));
    term_buffer_ = static_cast<uint32_t>(0.1 * static_cast<double>(warmup));
    window_ = static_cast<uint32_t>(warmup) - init_buffer_ - term_buffer_;
  }
  adapts_metric_ = warmup >= 20 && options_.metric != Metric::unit;
  if (options_.adapt == Adapt::chain || warmup == 0) return;
  // The same ends that chains find for themselves.
  const int64_t last = warmup - term_buffer_ - 1;
  int64_t size = window_, end = int64_t{init_buffer_} + size - 1;
  while (adapts_metric_ && end <= last && end + 1 < warmup) {
    pauses_.push_back(end + 1);
    if (end == last) break;
    size *= 2;
    end += size;
    if (end + size * 2 >= warmup - term_buffer_) end = last;
  }
  pauses_.push_back(warmup);
}

void Run::initialise() {
  plan_windows();
  const Layout& layout = kernel_->layout;
  std::vector<double> one(static_cast<size_t>(layout.count), 0);
  one[real_step] = options_.step_size;
  one[real_mu] = std::log(10 * options_.step_size);
  for (int64_t i = 0; i < layout.size; ++i) {
    const auto step = static_cast<size_t>(layout.dense() ? layout.size + 1 : 1);
    one[static_cast<size_t>(layout.inverse_metric) + static_cast<size_t>(i) * step] = 1;
    if (layout.dense()) one[static_cast<size_t>(layout.factor) + static_cast<size_t>(i) * step] = 1;
  }
  // Some by the host, the others by the device, twice as many each time.
  const auto fill = [&]<class T>(T) {
    std::vector<T> all;
    const uint64_t chains = static_cast<uint64_t>(chains_), bytes = one.size() * sizeof(T);
    uint64_t done = std::min<uint64_t>(256, chains);
    for (uint64_t c = 0; c < done; ++c) all.insert(all.end(), one.begin(), one.end());
    device_->write(state_, all.data(), done * bytes);
    while (done < chains) {
      const uint64_t more = std::min(done, chains - done);
      device_->copy(state_.slice(0, more * bytes), state_.slice(done * bytes, more * bytes), more * bytes);
      done += more;
    }
  };
  choice_.type == DType::f64 ? fill(double{}) : fill(float{});
  seen_.assign(static_cast<size_t>(chains_) * word_count, 0);
  for (int64_t c = 0; c < chains_; ++c) {
    uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    words[word_window_size] = window_;
    // Chains that adapt together collect, and leave the end of the window to the host.
    words[word_window_end] = options_.adapt == Adapt::pooled ? ~0u : init_buffer_ + window_ - 1;
  }
  device_->write(words_, seen_.data(), seen_.size() * 4);
}

std::vector<Argument> Run::arguments(int64_t limit, uint32_t rounds, uint64_t first_team) const {
  const auto whole = [](int64_t number) { return Argument(static_cast<uint32_t>(number)); };
  const auto real = [&](double number) {
    return choice_.type == DType::f64 ? Argument(number) : Argument(static_cast<float>(number));
  };
  const uint64_t element = size_of(choice_.type);
  const auto from = [&](const Buffer& buffer, uint64_t a_chain, int64_t chain) {
    const uint64_t offset = static_cast<uint64_t>(chain) * a_chain;
    return Argument(buffer.slice(offset, buffer.bytes() - offset));
  };
  // Chains that are placed are found by their places, others lie one after the other.
  const int64_t first = is_placed_ ? 0 : static_cast<int64_t>(first_team) * chains_a_team_;
  std::vector<Argument> list{
      from(state_, static_cast<uint64_t>(kernel_->layout.count) * element, first),
      from(words_, word_count * 4, first),
      from(rows_, static_cast<uint64_t>(ring_ * (kernel_->layout.stats + model_.size)) * element, first)};
  if (is_placed_) list.push_back(from(places_, 4 * places_a_team_, static_cast<int64_t>(first_team)));
  list.push_back(Argument(static_cast<uint32_t>(chains_ - first)));
  list.push_back(Argument(static_cast<uint32_t>(options_.seed)));
  list.push_back(Argument(static_cast<uint32_t>(options_.seed >> 32)));
  list.push_back(whole(options_.first_chain + first));
  list.push_back(whole(options_.chains));
  list.push_back(whole(options_.warmup));
  list.push_back(whole(limit));
  list.push_back(Argument(rounds));
  list.push_back(Argument(beat_));
  list.push_back(whole(ring_));
  list.push_back(whole(options_.thin));
  list.push_back(whole(save_from_));
  list.push_back(whole(options_.max_depth));
  list.push_back(Argument(init_buffer_));
  list.push_back(Argument(term_buffer_));
  list.push_back(Argument(window_));
  list.push_back(whole((options_.warmup > 0 ? 1 : 0) | (adapts_metric_ ? 2 : 0)));
  for (const double number :
       {options_.adapt_delta, options_.gamma, options_.kappa, options_.t0, options_.init_radius})
    list.push_back(real(number));
  if (outside_) {
    list.insert(list.end(), {outside_->points(), outside_->values(), outside_->gradients()});
    return list;
  }
  list.emplace_back(data_.reals);
  list.emplace_back(data_.places);
  if (sets_ > 1) {
    list.push_back(Argument(data_.set_reals));
    list.push_back(Argument(data_.set_places));
  }
  return list;
}

// --- Slices ------------------------------------------------------------------------------------------------

bool Run::advance(int64_t iteration) {
  while (slowest_ < iteration) {
    if (should_stop_ && should_stop_()) return false;
    step(iteration);
  }
  return true;
}

void Run::step(int64_t limit) {
  const auto pause = std::upper_bound(pauses_.begin(), pauses_.end(), slowest_);
  const bool joins = pause != pauses_.end() && *pause <= limit;
  if (joins) limit = *pause;
  const auto begin = Clock::now();
  const double share = share_that_goes_on(limit);
  slice(limit, share);
  set_budget(std::chrono::duration<double>(Clock::now() - begin).count(), share);
  if (!joins || slowest_ != limit) return;
  if (limit == options_.warmup)
    pool_steps();
  else
    pool_adaptation();
}

double Run::share_that_goes_on(int64_t limit) const {
  if (summary_) {
    const int64_t going = summary_limit_ == limit ? summary_->going : chains_;
    return static_cast<double>(std::max<int64_t>(1, going)) / static_cast<double>(chains_);
  }
  int64_t going = 0;
  for (int64_t c = 0; c < chains_; ++c)
    going += seen_[static_cast<size_t>(c) * word_count + word_iteration] < limit;
  return static_cast<double>(std::max<int64_t>(1, going)) / static_cast<double>(chains_);
}

// How long a round of a share of the chains takes, beside one of all: no longer than the processors have to
// take turns.
double Run::turns(double share) const {
  const double each = static_cast<double>(groups_) / device_->limits().processors;
  return std::max(1.0, share * each) / std::max(1.0, each);
}

// Rounds of a dispatch of all chains, from the time that those of the last one took, of a share of them; 0:
// there was none. A dispatch that takes long for little work is let have more.
void Run::set_budget(double seconds, double share) {
  const uint64_t trips = device_->limits().max_loop_trips;
  const uint64_t most =
      trips ? std::max<uint64_t>(1, trips * 9 / 10 / static_cast<uint64_t>(kernel_->loop_trips))
            : uint64_t{1} << 24;
  if (budget_ == 0)
    budget_ = 16;
  else {
    const double rate = longest_run_ * turns(share) / std::max(seconds, 1e-6);
    const double wanted = std::max(rate * slice_seconds, std::min(64.0, rate * longest_slice));
    set_parts(wanted);
    budget_ = static_cast<uint32_t>(
        std::clamp(wanted * static_cast<double>(parts_), 1.0, std::min(8.0 * budget_, 0x1p24)));
  }
  budget_ = static_cast<uint32_t>(std::min<uint64_t>(budget_, most));
  if (budget_ > longest_beat) budget_ -= budget_ % longest_beat;
  if (forced_.budget) budget_ = forced_.budget;
}

// A dispatch reads and writes all that its chains have, and the host looks at them afterwards: where the time
// is enough for a few rounds of all chains, they go in parts of more rounds, each of which fills the device.
void Run::set_parts(double rounds) {
  constexpr double fewest = 64;
  const double most = outside_ ? 1 : static_cast<double>(groups_) / (16.0 * device_->limits().processors);
  parts_ = static_cast<uint64_t>(std::clamp(std::ceil(fewest / rounds), 1.0, std::max(1.0, most)));
}

// Chains that wait for the beat are idle meanwhile; those that go by it save more, unless trees are much
// smaller than the beat is long.
void Run::set_beat(uint64_t leaves, uint64_t transitions) {
  if (transitions == 0) return;
  const double mean = static_cast<double>(leaves) / static_cast<double>(transitions);
  beat_ = std::bit_floor(static_cast<uint32_t>(std::min<double>(longest_beat, 1.25 * (mean + 1))));
  if (forced_.beat) beat_ = forced_.beat;
}

// Chains that go on get their places. The busiest should not be done in this dispatch, so that they can be
// placed again when others are.
void Run::place(int64_t limit, Dispatch& dispatch) {
  constexpr uint32_t fewest = 256;  // rounds, from which something can be learnt
  const bool begins = !sampling_ && slowest_ >= options_.warmup;
  if (begins) {
    sampling_ = true;
    packing_->forget();
  }
  packing_->arrange(seen_, limit);
  const std::vector<uint32_t>& places = packing_->places();
  device_->write(places_, places.data(), places.size() * 4);
  const auto part = static_cast<uint32_t>(std::min(0.7 * packing_->longest(), 1e9));
  const uint32_t rounds = begins ? fewest : std::max(fewest, part - part % longest_beat);
  dispatch.teams = places.size() / places_a_team_;
  dispatch.rounds = std::min(dispatch.rounds, rounds);
}

void Run::slice(int64_t limit, double share) {
  Dispatch dispatch{teams_, budget_};
  if (!forced_.budget && !device_->limits().max_loop_trips)
    dispatch.rounds = static_cast<uint32_t>(std::min(budget_ / turns(share), 0x1p24));
  if (is_placed_) place(limit, dispatch);
  if (outside_)
    rounds_outside(limit, dispatch.rounds);
  else
    run_in_parts(limit, dispatch.teams, dispatch.rounds);
  look(limit);
  if (!summary_ || summary_->failed > 0) check_failures();
}

// What is not done when the caller wishes to stop is done when the run goes on: chains need not be level.
void Run::run_in_parts(int64_t limit, uint64_t teams, uint32_t rounds) {
  const uint64_t parts = std::min(forced_.parts ? forced_.parts : parts_, teams);
  for (uint64_t part = 0, first = 0; part < parts; ++part) {
    const uint64_t share = teams * (part + 1) / parts;
    const uint64_t end = part + 1 < parts ? share - share % most_lanes : teams;
    if (end == first) continue;
    device_->run(*compiled_, end - first, arguments(limit, rounds, first));
    first = end;
    if (parts == 1 || !should_stop_) continue;
    device_->wait();
    if (should_stop_()) return;
  }
}

// The kernel and the density by turns; nobody waits in between.
void Run::rounds_outside(int64_t limit, uint32_t rounds) {
  for (uint32_t round = 0; round < rounds; ++round) {
    device_->run(*compiled_, teams_, arguments(limit, 1, 0));
    outside_->evaluate();
  }
}

// Where the chains are.
void Run::look(int64_t limit) {
  if (!summariser_) return look_at_all();
  const Summary before = summary_.value_or(Summary());
  const Summary now = summariser_->summarise(words_, limit);
  leapfrogs_ = now.leapfrogs;
  divergences_ = now.divergences;
  warmup_divergences_ = now.warmup_divergences;
  slowest_ = now.slowest;
  longest_run_ = now.longest_run;
  set_beat(now.leapfrogs - before.leapfrogs, now.transitions - before.transitions);
  summary_ = now;
  summary_limit_ = limit;
  is_stale_ = true;
}

void Run::refresh() const {
  if (!is_stale_) return;
  device_->read(words_, seen_.data(), seen_.size() * 4);
  is_stale_ = false;
}

void Run::look_at_all() {
  const std::vector<uint32_t> before = seen_;
  device_->read(words_, seen_.data(), seen_.size() * 4);
  const uint64_t leapfrogs = leapfrogs_;
  uint64_t transitions = 0;
  leapfrogs_ = divergences_ = warmup_divergences_ = 0;
  slowest_ = std::numeric_limits<int64_t>::max();
  for (int64_t c = 0; c < chains_; ++c) {
    const uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    leapfrogs_ += words[word_leapfrogs];
    divergences_ += words[word_divergences];
    warmup_divergences_ += words[word_warmup_divergences];
    slowest_ = std::min<int64_t>(slowest_, words[word_iteration]);
    transitions += words[word_iteration] - before[static_cast<size_t>(c) * word_count + word_iteration];
  }
  set_beat(leapfrogs_ - leapfrogs, transitions);
  packing_->learn(before, seen_);
  longest_run_ = packing_->longest_run();
}

void Run::check_failures() {
  refresh();
  for (int64_t c = 0; c < chains_; ++c) {
    const uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    if (words[word_phase] != static_cast<uint32_t>(Phase::failed)) continue;
    const auto point = state_of(c, kernel_->layout.current, model_.size);
    stats::ModelState own = model_;
    const DataSet& set = data_sets_[static_cast<size_t>(c / options_.chains)];
    for (auto& data : own.data)
      if (const auto at = set.find(data.name); at != set.end())
        data.value = as_type(at->second, data.value.dtype());
    throw_failure(static_cast<Failure>(words[word_failure]), own, point, c, options_);
  }
}

}  // namespace adit::sampling
