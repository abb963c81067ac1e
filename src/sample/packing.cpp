#include "sample/packing.hpp"

#include <algorithm>
#include <numeric>

#include "nuts/layout.hpp"

namespace adit::sampling {

namespace {

uint32_t difference(std::span<const uint32_t> before, std::span<const uint32_t> after, size_t chain,
                    Word which) {
  const size_t at = chain * word_count + which;
  return after[at] - before[at];
}

}  // namespace

Packing::Packing(int64_t chains, uint32_t lanes)
    : lanes_(lanes),
      leaves_(static_cast<size_t>(chains)),
      transitions_(leaves_.size()),
      work_(leaves_.size()),
      places_(leaves_.size()) {
  std::iota(places_.begin(), places_.end(), 0);
}

void Packing::forget() {
  std::ranges::fill(leaves_, 0);
  std::ranges::fill(transitions_, 0);
}

// What was longer ago counts half.
void Packing::learn(std::span<const uint32_t> before, std::span<const uint32_t> after) {
  count(before, after);
  for (size_t c = 0; c < leaves_.size(); ++c) {
    leaves_[c] = leaves_[c] / 2 + difference(before, after, c, word_leapfrogs);
    transitions_[c] = transitions_[c] / 2 + difference(before, after, c, word_iteration);
  }
}

void Packing::count(std::span<const uint32_t> before, std::span<const uint32_t> after) {
  longest_run_ = 0;
  for (size_t first = 0; first < places_.size(); first += lanes_) {
    const size_t end = std::min(places_.size(), first + lanes_);
    uint32_t longest = 0;
    for (size_t place = first; place < end; ++place)
      longest = std::max(longest, difference(before, after, places_[place], word_rounds));
    executed_ += uint64_t{longest} * (end - first);
    longest_run_ = std::max(longest_run_, longest);
  }
}

void Packing::arrange(std::span<const uint32_t> words, int64_t limit) {
  const double leaves = std::accumulate(leaves_.begin(), leaves_.end(), 0.0);
  const double transitions = std::accumulate(transitions_.begin(), transitions_.end(), 0.0);
  const double mean = transitions > 0 ? leaves / transitions : 8;
  longest_ = 0;
  places_.clear();
  std::vector<uint32_t> done;
  for (size_t c = 0; c < work_.size(); ++c) {
    const uint32_t* own = &words[c * word_count];
    const int64_t left = limit - int64_t{own[word_iteration]};
    // One transition like all the others stands for what is not known yet.
    const double each = (leaves_[c] + mean) / (transitions_[c] + 1);
    work_[c] = each * static_cast<double>(std::max<int64_t>(left, 0));
    longest_ = std::max(longest_, work_[c]);
    (left > 0 ? places_ : done).push_back(static_cast<uint32_t>(c));
  }
  std::ranges::stable_sort(places_, [&](uint32_t a, uint32_t b) { return work_[a] > work_[b]; });
  // The last vector is filled by chains that are done, whose lanes do nothing: a part of one would need code
  // of its own.
  for (size_t k = 0; k < done.size() && places_.size() % lanes_ != 0; ++k) places_.push_back(done[k]);
}

}  // namespace adit::sampling
