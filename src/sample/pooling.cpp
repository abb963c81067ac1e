#include "sample/pooling.hpp"

#include <algorithm>
#include <cmath>

#include <adit/kernel/math.hpp>

namespace adit::sampling {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Reduction;
using kernel::Type;
using kernel::Value;

namespace {

constexpr int64_t pooled_chains = 1024;
constexpr uint32_t pool_lanes = 128;

// What the three kernels have in common: a team has chains of one set.
struct Frame {
  Frame(const char* name, const Layout& of, DType type, int64_t teams_a_set)
      : layout(of),
        k(name, kernel::Team::many(pool_lanes)),
        real(type == DType::f64 ? Type::f64 : Type::f32) {
    state = k.buffer("state", real, Access::read_write);
    words = k.buffer("words", Type::u32, Access::read_write);
    given = k.buffer("given", real, Access::read);
    parts = k.buffer("parts", real, Access::write);
    chains_a_set = k.scalar("chains_a_set", Type::u32);
    set = k.team() / teams_a_set;
    first = k.team() % teams_a_set * pooled_chains;
  }
  Value chain_of(Value i) { return set * chains_a_set + min(first + i, chains_a_set - 1); }
  Value exists(Value i) { return first + i < chains_a_set; }
  Value number(Value chain, Value at) { return state[chain * layout.count + at]; }
  Value collected(Value chain) {
    return convert(words[chain * int64_t{word_count} + int64_t{word_collected}], real);
  }
  Value zero() { return k.constant(real, 0); }
  // The sum over the team's chains of f(chain).
  Value sum(const std::function<Value(Value)>& f) {
    return k.reduce(first.like(pooled_chains), Reduction::add,
                    [&](Value i) { return select(exists(i), f(chain_of(i)), zero()); });
  }

  const Layout& layout;
  Builder k;
  const Type real;
  Array state, words, given, parts;
  Value chains_a_set, set, first;
};

// parts [team, 2 + size]: draws, logarithms of step sizes, sums of the draws.
kernel::Program means_program(const Layout& layout, DType type, int64_t teams_a_set) {
  Frame f("pool_means", layout, type, teams_a_set);
  Builder& k = f.k;
  const int64_t width = 2 + layout.size;
  const Value to = k.team() * width;
  const Value count = f.sum([&](Value chain) { return f.collected(chain); });
  const Value logs =
      f.sum([&](Value chain) { return kernel::log(f.number(chain, chain.like(int64_t{real_step}))); });
  k.once([&] {
    f.parts[to] = count;
    f.parts[to + 1] = logs;
  });
  k.for_(to.like(layout.size), [&](Value d) {
    const Value total =
        f.sum([&](Value chain) { return f.collected(chain) * f.number(chain, d + layout.mean); });
    k.once([&] { f.parts[to + 2 + d] = total; });
  });
  return k.finish();
}

// given: the means of the sets; parts [team, size]: squares around them.
kernel::Program squares_program(const Layout& layout, DType type, int64_t teams_a_set) {
  Frame f("pool_squares", layout, type, teams_a_set);
  Builder& k = f.k;
  k.for_(f.first.like(layout.size), [&](Value d) {
    const Value mean = f.given[f.set * layout.size + d];
    const Value total = f.sum([&](Value chain) {
      const Value apart = f.number(chain, d + layout.mean) - mean;
      return f.number(chain, d + layout.squares) + f.collected(chain) * apart * apart;
    });
    k.once([&] { f.parts[k.team() * layout.size + d] = total; });
  });
  return k.finish();
}

// given [set, 1 + size]: the step size and the metric; `has_metric` 0: the step size alone.
kernel::Program hand_out_program(const Layout& layout, DType type, int64_t teams_a_set) {
  Frame f("pool_hand_out", layout, type, teams_a_set);
  Builder& k = f.k;
  const Value has_metric = k.scalar("has_metric", Type::u32), from = f.set * (1 + layout.size);
  k.each(f.first.like(pooled_chains), [&](Value i) {
    k.if_(f.exists(i), [&] {
      const Value chain = f.chain_of(i), own = chain * layout.count;
      f.state[own + int64_t{real_step}] = f.given[from];
      k.if_(has_metric != has_metric.like(0), [&] {
        k.for_(chain.like(layout.size), [&](Value d) {
          f.state[own + layout.inverse_metric + d] = f.given[from + 1 + d];
          f.state[own + layout.mean + d] = f.zero();
          f.state[own + layout.squares + d] = f.zero();
        });
        const Value word = chain * int64_t{word_count};
        for (const Word which : {word_collected, word_attempt, word_search_direction})
          f.words[word + static_cast<int64_t>(which)] = chain.like(0);
        f.words[word + int64_t{word_phase}] = chain.like(static_cast<int64_t>(Phase::search));
      });
    });
  });
  return k.finish();
}

}  // namespace

Pooler::Pooler(std::shared_ptr<Device> device, const Layout& layout, DType type, int64_t sets,
               int64_t chains_a_set)
    : device_(std::move(device)),
      size_(layout.size),
      numbers_a_chain_(layout.count),
      metric_at_(layout.inverse_metric),
      sets_(sets),
      chains_a_set_(chains_a_set),
      teams_a_set_((chains_a_set + pooled_chains - 1) / pooled_chains),
      type_(type),
      means_(device_->compile(means_program(layout, type, teams_a_set_))),
      squares_(device_->compile(squares_program(layout, type, teams_a_set_))),
      hand_out_(device_->compile(hand_out_program(layout, type, teams_a_set_))),
      mean_(uploaded(std::vector<double>(static_cast<size_t>(sets * layout.size), 0))) {}

Buffer Pooler::uploaded(const std::vector<double>& numbers) const {
  const Buffer buffer = device_->allocate(std::max<uint64_t>(16, numbers.size() * size_of(type_)));
  if (type_ == DType::f64) {
    device_->write(buffer, numbers.data(), numbers.size() * 8);
  } else {
    const std::vector<float> narrow(numbers.begin(), numbers.end());
    device_->write(buffer, narrow.data(), narrow.size() * 4);
  }
  return buffer;
}

std::vector<double> Pooler::downloaded(const Buffer& buffer, uint64_t count) const {
  std::vector<double> numbers(count);
  if (type_ == DType::f64) {
    device_->read(buffer, numbers.data(), count * 8);
  } else {
    std::vector<float> narrow(count);
    device_->read(buffer, narrow.data(), count * 4);
    numbers.assign(narrow.begin(), narrow.end());
  }
  return numbers;
}

// Of each set [set, width]: teams sum their chains', the host the teams' in double precision.
std::vector<double> Pooler::sums(const Kernel& kernel, const Buffer& state, const Buffer& words,
                                 int64_t width) {
  const auto teams = static_cast<uint64_t>(sets_ * teams_a_set_),
             count = teams * static_cast<uint64_t>(width);
  const Buffer parts = device_->allocate(std::max<uint64_t>(16, count * size_of(type_)));
  device_->run(kernel, teams, {state, words, mean_, parts, static_cast<uint32_t>(chains_a_set_)});
  const std::vector<double> numbers = downloaded(parts, count);
  std::vector<double> result(static_cast<size_t>(sets_ * width), 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto w = static_cast<size_t>(width), team = i / w;
    result[team / static_cast<size_t>(teams_a_set_) * w + i % w] += numbers[i];
  }
  return result;
}

// Of all of the state, which is read where sets of one draw need it: those have few chains.
std::vector<double> Pooler::metrics_of_first_chains(const Buffer& state) const {
  const std::vector<double> all =
      downloaded(state, static_cast<uint64_t>(sets_ * chains_a_set_ * numbers_a_chain_));
  std::vector<double> metrics;
  for (int64_t set = 0; set < sets_; ++set) {
    const auto metric = all.begin() + set * chains_a_set_ * numbers_a_chain_ + metric_at_;
    metrics.insert(metrics.end(), metric, metric + size_);
  }
  return metrics;
}

bool Pooler::pool_adaptation(const Buffer& state, const Buffer& words) {
  const auto n = static_cast<size_t>(size_), width = n + 2;
  const std::vector<double> first = sums(*means_, state, words, size_ + 2);
  std::vector<double> means, steps, metric;
  for (size_t s = 0; s < static_cast<size_t>(sets_); ++s) {
    steps.push_back(std::exp(first[s * width + 1] / static_cast<double>(chains_a_set_)));
    for (size_t d = 0; d < n; ++d)
      means.push_back(first[s * width + 2 + d] / std::max(first[s * width], 1.0));
  }
  mean_ = uploaded(means);
  const std::vector<double> squares = sums(*squares_, state, words, size_);
  std::vector<double> before;
  for (size_t s = 0; s < static_cast<size_t>(sets_) && before.empty(); ++s)
    if (first[s * width] == 1) before = metrics_of_first_chains(state);
  // Shrunk towards a small multiple of the identity, as Stan does for one chain. One draw has no variance:
  // then the metric stays what it was, and shrinks.
  for (size_t i = 0; i < squares.size(); ++i) {
    const double count = first[i / n * width], added = 1e-3 * 5 / (count + 5);
    const double variance = count == 1 ? before[i] : squares[i] / (count - 1);
    metric.push_back(variance * count / (count + 5) + added);
    if (!(metric.back() > 0 && std::isfinite(metric.back()))) return false;
  }
  hand_out(state, words, steps, metric);
  return true;
}

void Pooler::pool_steps(const Buffer& state, const Buffer& words) {
  const std::vector<double> first = sums(*means_, state, words, size_ + 2);
  std::vector<double> steps;
  for (size_t s = 0; s < static_cast<size_t>(sets_); ++s)
    steps.push_back(
        std::exp(first[s * static_cast<size_t>(size_ + 2) + 1] / static_cast<double>(chains_a_set_)));
  hand_out(state, words, steps, {});
}

void Pooler::hand_out(const Buffer& state, const Buffer& words, const std::vector<double>& steps,
                      const std::vector<double>& metric) {
  const auto n = static_cast<size_t>(size_);
  std::vector<double> given;
  for (size_t s = 0; s < steps.size(); ++s) {
    given.push_back(steps[s]);
    for (size_t d = 0; d < n; ++d) given.push_back(metric.empty() ? 1 : metric[s * n + d]);
  }
  const Buffer from = uploaded(given), none = uploaded({0});
  device_->run(*hand_out_, static_cast<uint64_t>(sets_ * teams_a_set_),
               {state, words, from, none, static_cast<uint32_t>(chains_a_set_),
                static_cast<uint32_t>(metric.empty() ? 0 : 1)});
}

}  // namespace adit::sampling
