// What a run remembers, as the host reads and changes it: rows, the chains' states, their metrics.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "io/file.hpp"
#include "sample/failure.hpp"
#include "sample/gathered.hpp"
#include "sample/run.hpp"

namespace adit::sampling {

namespace {

constexpr int64_t chains_read_one_by_one = 64;  // more are read in one piece, with rows that nobody asked for

template <class T>
void append_widened(std::span<const std::byte> bytes, std::vector<double>& to) {
  const size_t first = to.size(), count = bytes.size() / sizeof(T);
  to.resize(first + count);
  for (size_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, bytes.data() + i * sizeof(T), sizeof(T));
    to[first + i] = static_cast<double>(number);
  }
}

// Lower Cholesky factor of a row-major matrix; false where it is not positive definite.
bool factorise(std::span<const double> matrix, std::span<double> factor, size_t n) {
  std::fill(factor.begin(), factor.end(), 0.0);
  for (size_t j = 0; j < n; ++j)
    for (size_t i = j; i < n; ++i) {
      double rest = matrix[i * n + j];
      for (size_t c = 0; c < j; ++c) rest -= factor[i * n + c] * factor[j * n + c];
      if (i == j && !(rest > 0 && std::isfinite(rest))) return false;
      factor[i * n + j] = i == j ? std::sqrt(rest) : rest / factor[j * n + j];
    }
  return true;
}

// A metric into a chain's numbers; false where it is not positive definite.
bool put_metric(const Layout& layout, std::span<const double> metric, int64_t chain, ChainNumbers& numbers) {
  numbers.put(chain, layout.inverse_metric, metric);
  if (!layout.dense())
    return std::all_of(metric.begin(), metric.end(), [](double x) { return x > 0 && std::isfinite(x); });
  std::vector<double> factor(metric.size());
  const bool is_good = factorise(metric, factor, static_cast<size_t>(layout.size));
  numbers.put(chain, layout.factor, factor);
  return is_good;
}

// Draws of several chains as one estimate: their number, mean and sums of squares (or products) around it.
struct Moments {
  double count = 0, log_steps = 0, chains = 0;
  std::vector<double> mean, squares;

  // Two groups of draws: the squares gain what the distance of the means adds.
  void add(const Layout& layout, int64_t chain, const ChainNumbers& numbers, double more) {
    const auto n = static_cast<size_t>(layout.size);
    const bool dense = layout.dense();
    const std::vector<double> other = numbers.get(chain, layout.mean, layout.size);
    const std::vector<double> products =
        numbers.get(chain, layout.squares, dense ? layout.size * layout.size : layout.size);
    if (mean.empty()) mean.assign(n, 0), squares.assign(products.size(), 0);
    const double total = count + more, weight = count * more / std::max(total, 1.0);
    std::vector<double> apart(n);
    for (size_t i = 0; i < n; ++i) apart[i] = other[i] - mean[i];
    for (size_t i = 0; i < squares.size(); ++i)
      squares[i] += products[i] + weight * (dense ? apart[i / n] * apart[i % n] : apart[i] * apart[i]);
    for (size_t i = 0; i < n; ++i) mean[i] += apart[i] * more / std::max(total, 1.0);
    count = total;
    log_steps += std::log(numbers.get(chain, real_step));
    chains += 1;
  }

  // Shrunk towards a small multiple of the identity, as Stan does for one chain. One draw has no variance:
  // then that of `before` is taken.
  std::vector<double> metric(size_t n, const std::vector<double>& before) const {
    std::vector<double> result(squares.size());
    const double weight = count / (count + 5), added = 1e-3 * 5 / (count + 5);
    const bool dense = squares.size() != n;
    for (size_t i = 0; i < result.size(); ++i)
      result[i] = weight * (count > 1 ? squares[i] / (count - 1) : before[i]) +
                  (!dense || i / n == i % n ? added : 0);
    return result;
  }
};

template <class T>
const T& one_of(const std::vector<T>& list, int64_t chain, int64_t chains) {
  return list[list.size() == 1 ? 0 : static_cast<size_t>(chain % chains)];
}

}  // namespace

// --- Rows --------------------------------------------------------------------------------------------------

int64_t Run::rows_until(int64_t iteration) const {
  return iteration <= save_from_ ? 0 : (iteration - save_from_ + options_.thin - 1) / options_.thin;
}

void Run::save_rows_from(int64_t iteration) { save_from_ = iteration; }

void Run::append_numbers(std::span<const std::byte> bytes, std::vector<double>& to) const {
  choice_.type == DType::f64 ? append_widened<double>(bytes, to) : append_widened<float>(bytes, to);
}

std::vector<double> Run::numbers(std::span<const std::byte> bytes) const {
  std::vector<double> result;
  append_numbers(bytes, result);
  return result;
}

std::vector<double> Run::rows(int64_t first, int64_t count) { return numbers(row_bytes(first, count)); }

RawBytes Run::row_bytes(int64_t first, int64_t count) {
  if (first % ring_ == 0 && count == ring_) {  // as they lie
    RawBytes all(rows_.bytes());
    device_->read(rows_, all.data(), all.size());
    return all;
  }
  const auto chains = static_cast<size_t>(chains_);
  return rows_of_chains(std::vector<int64_t>(chains, first), std::vector<int64_t>(chains, count));
}

int64_t Run::made(int64_t chain) const {
  refresh();
  return rows_until(seen_[static_cast<size_t>(chain) * word_count + word_iteration]);
}

RawBytes Run::rows_of_chains(std::span<const int64_t> firsts, std::span<const int64_t> counts) {
  const auto width = static_cast<size_t>(kernel_->layout.stats + model_.size) * size_of(choice_.type);
  size_t total = 0;
  for (const int64_t count : counts) total += static_cast<size_t>(count);
  RawBytes result(total * width), ring;
  if (result.empty()) return result;
  const bool whole = chains_ > chains_read_one_by_one;
  if (whole) {
    ring.resize(static_cast<size_t>(chains_ * ring_) * width);
    device_->read(rows_, ring.data(), ring.size());
  }
  std::byte* to = result.data();
  for (int64_t c = 0; c < chains_; ++c)
    for (int64_t row = firsts[static_cast<size_t>(c)], left = counts[static_cast<size_t>(c)]; left > 0;) {
      const int64_t together = std::min(left, ring_ - row % ring_);  // up to where the ring closes
      const size_t from = static_cast<size_t>(c * ring_ + row % ring_) * width;
      const size_t bytes = static_cast<size_t>(together) * width;
      if (whole)
        std::memcpy(to, ring.data() + from, bytes);
      else
        device_->read(rows_, to, bytes, from);
      to += bytes;
      row += together;
      left -= together;
    }
  return result;
}

// --- States ------------------------------------------------------------------------------------------------

std::vector<double> Run::state_of(int64_t chain, int64_t offset, int64_t count) {
  const uint64_t element = size_of(choice_.type);
  std::vector<std::byte> bytes(static_cast<size_t>(count) * element);
  device_->read(state_, bytes.data(), bytes.size(),
                static_cast<uint64_t>(chain * kernel_->layout.count + offset) * element);
  return numbers(bytes);
}

std::vector<double> Run::states_of(int64_t first_chain, int64_t chains, int64_t offset, int64_t count) {
  if (chains <= chains_read_one_by_one) {
    std::vector<double> all;
    for (int64_t c = first_chain; c < first_chain + chains; ++c) {
      const std::vector<double> one = state_of(c, offset, count);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  return numbers(
      gathered(device_, state_, choice_.type, {first_chain, chains, kernel_->layout.count, offset, count}));
}

// saved_from, taken; then numbers (without the density's scratch) and words.
std::vector<std::byte> Run::save(int64_t taken) {
  refresh();
  Bytes bytes;
  bytes.reserve(state_bytes());
  append_number(bytes, static_cast<uint64_t>(save_from_));
  append_number(bytes, static_cast<uint64_t>(taken));
  const size_t element = size_of(choice_.type);
  const size_t kept = static_cast<size_t>(kernel_->layout.scratch) * element;
  const size_t stride = static_cast<size_t>(kernel_->layout.count) * element;
  Bytes all(state_.bytes());
  device_->read(state_, all.data(), all.size());
  for (int64_t c = 0; c < chains_; ++c) {
    const auto from = all.begin() + static_cast<int64_t>(static_cast<size_t>(c) * stride);
    bytes.insert(bytes.end(), from, from + static_cast<int64_t>(kept));
  }
  const auto words = std::as_bytes(std::span(seen_));
  bytes.insert(bytes.end(), words.begin(), words.end());
  return bytes;
}

uint64_t Run::state_bytes() const {
  const uint64_t kept = static_cast<uint64_t>(kernel_->layout.scratch) * size_of(choice_.type);
  return 16 + kept * static_cast<uint64_t>(chains_) + seen_.size() * 4;
}

int64_t Run::restore(std::span<const std::byte> bytes) {
  const size_t element = size_of(choice_.type);
  const size_t kept = static_cast<size_t>(kernel_->layout.scratch) * element;
  const size_t stride = static_cast<size_t>(kernel_->layout.count) * element;
  const size_t words = seen_.size() * 4, chains = static_cast<size_t>(chains_);
  if (bytes.size() != state_bytes())
    throw Error(ErrorKind::bad_argument, fmt::format("[sample] resume: expected a state of {} bytes, got {}",
                                                     state_bytes(), bytes.size()));
  save_from_ = static_cast<int64_t>(read_number<uint64_t>(bytes, 0));
  const auto taken = static_cast<int64_t>(read_number<uint64_t>(bytes, 8));
  Bytes all(state_.bytes());
  for (size_t c = 0; c < chains; ++c) std::memcpy(&all[c * stride], &bytes[16 + c * kept], kept);
  device_->write(state_, all.data(), all.size());
  device_->write(words_, &bytes[16 + kept * chains], words);
  std::memcpy(seen_.data(), &bytes[16 + kept * chains], words);
  if (outside_) ask_again();
  look(0);
  return taken;
}

// Densities that were on their way when the state was saved: at the chains' current positions.
void Run::ask_again() {
  const size_t element = size_of(choice_.type), stride = static_cast<size_t>(kernel_->layout.count) * element;
  const size_t width = static_cast<size_t>(model_.size) * element;
  Bytes states(state_.bytes()), points(static_cast<size_t>(chains_) * width);
  device_->read(state_, states.data(), states.size());
  for (size_t c = 0; c < static_cast<size_t>(chains_); ++c)
    std::memcpy(&points[c * width],
                &states[c * stride + static_cast<size_t>(kernel_->layout.current) * element], width);
  device_->write(outside_->points(), points.data(), points.size());
  outside_->evaluate();
}

// `rows`: those from `taken` on of each chain, up to where it is.
void Run::restore_rows(int64_t taken, std::span<const std::byte> rows) {
  const auto width = static_cast<size_t>(kernel_->layout.stats + model_.size) * size_of(choice_.type);
  Bytes ring(rows_.bytes());
  for (int64_t c = 0; c < chains_; ++c)
    for (int64_t row = taken; row < made(c); ++row) {
      // Rows that this run has no room for are behind its last draw.
      if (row < taken + ring_)
        std::memcpy(&ring[static_cast<size_t>(c * ring_ + row % ring_) * width], rows.data(), width);
      rows = rows.subspan(width);
    }
  device_->write(rows_, ring.data(), ring.size());
}

void Run::edit(const std::function<void(ChainNumbers&)>& change) {
  refresh();
  Bytes all(state_.bytes());
  device_->read(state_, all.data(), all.size());
  ChainNumbers numbers(all, kernel_->layout.count, choice_.type);
  change(numbers);
  device_->write(state_, all.data(), all.size());
  device_->write(words_, seen_.data(), seen_.size() * 4);
}

// --- Where chains start, and what they learn together ------------------------------------------------------

void Run::start_at(const std::vector<std::vector<double>>& points) {
  if (points.empty()) return;
  edit([&](ChainNumbers& numbers) {
    for (int64_t chain = 0; chain < chains_; ++chain) {
      const std::vector<double>& point = one_of(points, chain, options_.chains);
      if (point.empty()) continue;
      numbers.put(chain, kernel_->layout.sample, point);
      words_of(chain)[word_given] = 1;
    }
  });
}

void Run::set_metric(const WarmStart& warm) {
  if (warm.step_sizes.empty() && warm.inverse_metrics.empty()) return;
  const bool has_metric = !warm.inverse_metrics.empty() && options_.metric != Metric::unit;
  edit([&](ChainNumbers& numbers) {
    for (int64_t chain = 0; chain < chains_; ++chain) {
      if (!warm.step_sizes.empty()) {
        const double step = one_of(warm.step_sizes, chain, options_.chains);
        numbers.set(chain, real_step, step);
        numbers.set(chain, real_mu, std::log(10 * step));
      }
      if (has_metric &&
          !put_metric(kernel_->layout, one_of(warm.inverse_metrics, chain, options_.chains), chain, numbers))
        throw Error(ErrorKind::bad_argument,
                    fmt::format("[sample] warm_start.inverse_metrics: expected a positive definite one, got "
                                "another for chain {}",
                                chain + 1));
    }
  });
}

void Run::pool_adaptation() {
  const Layout& layout = kernel_->layout;
  if (pooler_) {
    is_stale_ = true;
    if (!pooler_->pool_adaptation(state_, words_))
      throw_failure(Failure::bad_metric, model_, {}, 0, options_);
    return;
  }
  const auto set_of = [&](int64_t chain) { return static_cast<size_t>(chain / options_.chains); };
  edit([&](ChainNumbers& numbers) {
    std::vector<Moments> sets(static_cast<size_t>(sets_));
    for (int64_t chain = 0; chain < chains_; ++chain)
      sets[set_of(chain)].add(layout, chain, numbers, words_of(chain)[word_collected]);
    std::vector<std::vector<double>> metrics;
    for (size_t s = 0; s < sets.size(); ++s) {
      const auto width = static_cast<int64_t>(sets[s].squares.size());
      metrics.push_back(sets[s].metric(
          static_cast<size_t>(layout.size),
          numbers.get(static_cast<int64_t>(s) * options_.chains, layout.inverse_metric, width)));
    }
    for (int64_t chain = 0; chain < chains_; ++chain) {
      const Moments& set = sets[set_of(chain)];
      const std::vector<double>& metric = metrics[set_of(chain)];
      if (!put_metric(layout, metric, chain, numbers))
        throw_failure(Failure::bad_metric, model_, {}, chain, options_);
      numbers.set(chain, real_step, std::exp(set.log_steps / set.chains));
      numbers.clear(chain, layout.mean, layout.size);
      numbers.clear(chain, layout.squares, static_cast<int64_t>(metric.size()));
      const auto words = words_of(chain);
      words[word_collected] = words[word_attempt] = words[word_search_direction] = 0;
      words[word_phase] = static_cast<uint32_t>(Phase::search);
    }
  });
}

// At the end of warm-up all chains take the geometric mean of their step sizes: their trajectories then are
// about equally long, and none keeps the others waiting.
void Run::pool_steps() {
  if (pooler_) return pooler_->pool_steps(state_, words_);
  edit([&](ChainNumbers& numbers) {
    std::vector<double> logs(static_cast<size_t>(sets_), 0);
    const auto set_of = [&](int64_t chain) { return static_cast<size_t>(chain / options_.chains); };
    for (int64_t chain = 0; chain < chains_; ++chain)
      logs[set_of(chain)] += std::log(numbers.get(chain, real_step));
    for (double& log : logs) log = std::exp(log / static_cast<double>(options_.chains));
    for (int64_t chain = 0; chain < chains_; ++chain) numbers.set(chain, real_step, logs[set_of(chain)]);
  });
}

}  // namespace adit::sampling
