// Chains that take over another one's state in warm-up. What was done lies in the chains' own memory, where
// nothing else is kept after the last window, so that a run that is resumed still knows it.
#include <cmath>

#include "sample/run.hpp"

namespace adit::sampling {

namespace {

constexpr int64_t fewest_iterations = 100;  // before chains are judged
constexpr int64_t fewest_after = 10;        // to learn a step size in, and to walk away from each other

}  // namespace

std::optional<int64_t> Run::metric_settled_at() const {
  const int64_t at = options_.warmup - term_buffer_;
  if (at < fewest_iterations || term_buffer_ < fewest_after) return std::nullopt;
  return at;
}

std::vector<double> Run::masses(int64_t set) {
  const int64_t first = set * options_.chains, chains = options_.chains;
  std::vector<double> masses = volumes(set);
  const std::vector<double> lps = states_of(first, chains, real_lp, 1),
                            origins = states_of(first, chains, real_origin, 1);
  for (size_t c = 0; c < masses.size(); ++c) masses[c] += lps[c] + origins[c];
  return masses;
}

std::vector<double> Run::volumes(int64_t set) {
  const Layout& layout = kernel_->layout;
  const int64_t first = set * options_.chains, chains = options_.chains;
  std::vector<double> volumes;
  // Of the square roots of the inverse metric: those of its diagonal, or its factor's.
  const int64_t width = layout.dense() ? layout.size * layout.size : layout.size;
  const std::vector<double> scales =
      states_of(first, chains, layout.dense() ? layout.factor : layout.inverse_metric, width);
  for (int64_t c = 0; c < chains; ++c) {
    double volume = 0;
    for (int64_t i = 0; i < layout.size; ++i)
      volume += layout.dense() ? std::log(scales[static_cast<size_t>(c * width + i * (layout.size + 1))])
                               : 0.5 * std::log(scales[static_cast<size_t>(c * width + i)]);
    volumes.push_back(volume);
  }
  return volumes;
}

void Run::take_over(const std::vector<int64_t>& stuck, const std::vector<int64_t>& sources) {
  const Layout& layout = kernel_->layout;
  edit([&](ChainNumbers& numbers) {
    for (size_t i = 0; i < stuck.size(); ++i) {
      const int64_t to = stuck[i], from = sources[i];
      const std::vector<double> position = numbers.get(to, layout.sample, layout.size);
      const double lp = numbers.get(to, real_lp) + numbers.get(to, real_origin);
      numbers.put(to, 0, numbers.get(from, 0, layout.scratch));
      numbers.put(to, layout.mean, position);
      numbers.set(to, layout.squares, lp);
      const auto words = words_of(to), other = words_of(from);
      for (const Word word : {word_phase, word_attempt, word_search_direction, word_counter, word_collected,
                              word_window_end, word_window_size})
        words[word] = other[word];
      words[word_given] = static_cast<uint32_t>(2 + from);
    }
  });
}

std::vector<Run::TakenOver> Run::taken_over(int64_t set) {
  refresh();
  const Layout& layout = kernel_->layout;
  std::vector<TakenOver> list;
  for (int64_t c = set * options_.chains; c < (set + 1) * options_.chains; ++c) {
    const uint32_t source = words_of(c)[word_given];
    if (source >= 2)
      list.push_back(
          {c, int64_t{source} - 2, state_of(c, layout.squares, 1)[0], state_of(c, layout.mean, layout.size)});
  }
  return list;
}

}  // namespace adit::sampling
