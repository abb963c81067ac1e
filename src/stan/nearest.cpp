#include "stan/nearest.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace adit::stan {

namespace {

constexpr size_t longest_name = 64;  // longer ones are not looked for: the work grows with the square

// Changes from a to b, or limit + 1 where there are more.
size_t nearest_distance(std::string_view a, std::string_view b, size_t limit) {
  const size_t gap = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (gap > limit) return limit + 1;
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = std::min(now[j], before[j - 2] + 1);
    }
    if (*std::min_element(now.begin(), now.end()) > limit) return limit + 1;
    std::swap(before, last);
    std::swap(last, now);
  }
  return last[b.size()];
}

}  // namespace

Nearest::Nearest(std::string_view wanted)
    : wanted_(wanted),
      limit_(wanted.size() > longest_name || wanted.size() < 2 ? 0 : 1 + wanted.size() / 5) {}

void Nearest::offer(std::string_view name) {
  if (limit_ == 0 || name.size() > longest_name || name == wanted_) return;
  const size_t distance = nearest_distance(wanted_, name, limit_);
  if (distance > limit_ || distance >= std::max(wanted_.size(), name.size())) return;
  best_ = name;
  limit_ = distance - 1;  // the next one must be nearer
}

std::string did_you_mean(const std::string& name) {
  return name.empty() ? "" : fmt::format(" Did you mean '{}'?", name);
}

}  // namespace adit::stan
