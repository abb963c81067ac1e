#include "sample/run.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "sample/failure.hpp"
#include "sample/shape.hpp"

namespace adit::sampling {

namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t most_row_bytes = uint64_t{256} << 20;
constexpr double slice_seconds = 0.04;  // a watchdog, a progress line and Ctrl-C wait no longer than this

bool is_gpu(const Device& device) { return device.info().kind != DeviceKind::cpu; }

template <class T>
std::vector<double> widened(const std::vector<std::byte>& bytes) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  return std::vector<double>(values, values + bytes.size() / sizeof(T));
}

}  // namespace

Run::Run(const stats::ModelState& model, const SampleOptions& options, const Choice& choice,
         const std::vector<DataSet>& sets, std::shared_ptr<Device> device)
    : model_(model),
      options_(options),
      choice_(choice),
      device_(std::move(device)),
      chains_(options.chains * static_cast<int64_t>(sets.size())),
      sets_(static_cast<int64_t>(sets.size())),
      density_(std::make_shared<Density>(make_density(model, choice.type))),
      should_stop_(options.should_stop) {
  const Schedule schedule = make_schedule(*density_, choice.by_team);
  const KernelOptions shape = kernel_shape(schedule, model.size, chains_, sets_, choice, *device_);
  lanes_ = shape.lanes;
  kernel_ = std::make_shared<NutsKernel>(
      make_nuts_kernel(*density_, schedule, options.metric, options.max_depth, shape));
  compiled_ = device_->compile(kernel_->program);
  data_ = bind_data(model, *density_, kernel_->segments, sets, *device_);
  if (!std::isfinite(data_.constant)) throw_bad_constant(model);
  allocate();
  initialise();
}

void Run::allocate() {
  const uint64_t element = size_of(choice_.type);
  const auto chains = static_cast<uint64_t>(chains_);
  const auto row = static_cast<uint64_t>(stats_count + model_.size) * element;
  save_from_ = options_.save_warmup ? 0 : options_.warmup;
  const int64_t total = std::max<int64_t>(
      1, (options_.draws * options_.thin + options_.warmup - save_from_ + options_.thin - 1) / options_.thin);
  ring_ = std::clamp<int64_t>(static_cast<int64_t>(most_row_bytes / (row * chains)), 1, total);
  state_ = device_->allocate(chains * static_cast<uint64_t>(kernel_->layout.count) * element);
  words_ = device_->allocate(chains * word_count * 4);
  rows_ = device_->allocate(chains * static_cast<uint64_t>(ring_) * row);
}

void Run::initialise() {
  // Buffers of the windows, as Stan shortens them where warm-up is short.
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

  const Layout& layout = kernel_->layout;
  std::vector<double> one(static_cast<size_t>(layout.count), 0);
  one[real_step] = options_.step_size;
  one[real_mu] = std::log(10 * options_.step_size);
  for (int64_t i = 0; i < layout.size; ++i) {
    const auto step = static_cast<size_t>(layout.dense() ? layout.size + 1 : 1);
    one[static_cast<size_t>(layout.inverse_metric) + static_cast<size_t>(i) * step] = 1;
    if (layout.dense()) one[static_cast<size_t>(layout.factor) + static_cast<size_t>(i) * step] = 1;
  }
  const auto fill = [&]<class T>(T) {
    std::vector<T> all;
    all.reserve(one.size() * static_cast<size_t>(chains_));
    for (int64_t c = 0; c < chains_; ++c) all.insert(all.end(), one.begin(), one.end());
    device_->write(state_, all.data(), all.size() * sizeof(T));
  };
  choice_.type == DType::f64 ? fill(double{}) : fill(float{});
  seen_.assign(static_cast<size_t>(chains_) * word_count, 0);
  for (int64_t c = 0; c < chains_; ++c) {
    uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    words[word_window_size] = window_;
    words[word_window_end] = init_buffer_ + window_ - 1;
  }
  device_->write(words_, seen_.data(), seen_.size() * 4);
}

std::vector<Argument> Run::arguments(int64_t limit) const {
  const auto whole = [](int64_t number) { return Argument(static_cast<uint32_t>(number)); };
  const auto real = [&](double number) {
    return choice_.type == DType::f64 ? Argument(number) : Argument(static_cast<float>(number));
  };
  const bool adapts_step = options_.warmup > 0 && options_.warm_start.step_sizes.empty();
  const bool learns = options_.warmup > 0;
  const bool by_chain = options_.adapt == Adapt::chain && adapts_metric_;
  (void)adapts_step;
  std::vector<Argument> list{state_, words_, rows_};
  list.push_back(Argument(static_cast<uint32_t>(options_.seed)));
  list.push_back(Argument(static_cast<uint32_t>(options_.seed >> 32)));
  list.push_back(whole(0));
  list.push_back(whole(options_.chains));
  list.push_back(whole(options_.warmup));
  list.push_back(whole(limit));
  list.push_back(Argument(budget_));
  list.push_back(whole(ring_));
  list.push_back(whole(options_.thin));
  list.push_back(whole(save_from_));
  list.push_back(whole(options_.max_depth));
  list.push_back(Argument(init_buffer_));
  list.push_back(Argument(term_buffer_));
  list.push_back(Argument(window_));
  list.push_back(whole((learns ? 1 : 0) | (by_chain ? 2 : 0)));
  for (const double number :
       {options_.adapt_delta, options_.gamma, options_.kappa, options_.t0, options_.init_radius})
    list.push_back(real(number));
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
  if (budget_ == 0) budget_ = is_gpu(*device_) ? 128 : 64;
  const uint64_t trips = device_->limits().max_loop_trips;
  const uint64_t most =
      trips ? std::max<uint64_t>(1, trips * 9 / 10 / static_cast<uint64_t>(kernel_->loop_trips))
            : uint64_t{1} << 24;
  while (slowest_ < iteration) {
    if (should_stop_ && should_stop_()) return false;
    budget_ = static_cast<uint32_t>(std::min<uint64_t>(budget_, most));
    const auto begin = Clock::now();
    slice(iteration);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds < slice_seconds / 2)
      budget_ = static_cast<uint32_t>(
          std::min<double>(budget_ * std::min(8.0, slice_seconds / std::max(seconds, 1e-6)), 1 << 24));
    else if (seconds > slice_seconds * 2)
      budget_ = std::max<uint32_t>(1, static_cast<uint32_t>(budget_ * slice_seconds / seconds));
  }
  return true;
}

void Run::slice(int64_t limit) {
  device_->run(*compiled_, static_cast<uint64_t>(chains_), arguments(limit));
  look();
  check_failures();
}

// Where the chains are.
void Run::look() {
  const std::vector<uint32_t> before = seen_;
  device_->read(words_, seen_.data(), seen_.size() * 4);
  leapfrogs_ = divergences_ = warmup_divergences_ = 0;
  slowest_ = std::numeric_limits<int64_t>::max();
  const int64_t together = choice_.by_team ? 1 : lanes_;
  for (int64_t c = 0; c < chains_; ++c) {
    const uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    leapfrogs_ += words[word_leapfrogs];
    divergences_ += words[word_divergences];
    warmup_divergences_ += words[word_warmup_divergences];
    slowest_ = std::min<int64_t>(slowest_, words[word_iteration]);
  }
  for (int64_t c = 0; c < chains_; c += together) {
    uint32_t longest = 0;
    const int64_t end = std::min(chains_, c + together);
    for (int64_t i = c; i < end; ++i) {
      const size_t at = static_cast<size_t>(i) * word_count + word_leapfrogs;
      longest = std::max(longest, seen_[at] - before[at]);
    }
    executed_ += uint64_t{longest} * static_cast<uint64_t>(end - c);
  }
}

void Run::check_failures() {
  for (int64_t c = 0; c < chains_; ++c) {
    const uint32_t* words = &seen_[static_cast<size_t>(c) * word_count];
    if (words[word_phase] != static_cast<uint32_t>(Phase::failed)) continue;
    const auto point = state_of(c, kernel_->layout.current, model_.size);
    throw_failure(static_cast<Failure>(words[word_failure]), model_, point, c, options_);
  }
}

int64_t Run::saved() const {
  return slowest_ <= save_from_ ? 0 : (slowest_ - save_from_ + options_.thin - 1) / options_.thin;
}

std::vector<double> Run::rows(int64_t first, int64_t count) {
  const auto width = static_cast<size_t>(stats_count + model_.size);
  const uint64_t element = size_of(choice_.type);
  std::vector<std::byte> bytes(static_cast<size_t>(chains_ * ring_) * width * element);
  device_->read(rows_, bytes.data(), bytes.size());
  const std::vector<double> all = choice_.type == DType::f64 ? widened<double>(bytes) : widened<float>(bytes);
  std::vector<double> result(static_cast<size_t>(chains_ * count) * width);
  for (int64_t c = 0; c < chains_; ++c)
    for (int64_t r = 0; r < count; ++r) {
      const auto from = all.begin() + (c * ring_ + (first + r) % ring_) * static_cast<int64_t>(width);
      std::copy(from, from + static_cast<int64_t>(width),
                result.begin() + (c * count + r) * static_cast<int64_t>(width));
    }
  return result;
}

// --- State -------------------------------------------------------------------------------------------------

std::vector<double> Run::state_of(int64_t chain, int64_t offset, int64_t count) {
  const uint64_t element = size_of(choice_.type);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * element);
  device_->read(state_, bytes.data(), bytes.size(),
                static_cast<uint64_t>(chain * kernel_->layout.count + offset) * element);
  return choice_.type == DType::f64 ? widened<double>(bytes) : widened<float>(bytes);
}

std::vector<uint32_t> Run::words() { return seen_; }

std::vector<std::byte> Run::save() {
  std::vector<std::byte> bytes(state_.bytes() + words_.bytes());
  device_->read(state_, bytes.data(), state_.bytes());
  device_->read(words_, bytes.data() + state_.bytes(), words_.bytes());
  return bytes;
}

void Run::restore(std::span<const std::byte> bytes) {
  if (bytes.size() != state_.bytes() + words_.bytes())
    throw Error(ErrorKind::bad_argument,
                fmt::format("[sample] checkpoint: expected {} bytes of state, got {}",
                            state_.bytes() + words_.bytes(), bytes.size()));
  device_->write(state_, bytes.data(), state_.bytes());
  device_->write(words_, bytes.data() + state_.bytes(), words_.bytes());
  look();
  executed_ = 0;
}

}  // namespace adit::sampling
