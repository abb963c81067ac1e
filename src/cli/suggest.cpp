#include "cli/suggest.hpp"

#include <algorithm>
#include <numeric>

namespace adit::cli {
namespace {

// Letters added, dropped, changed, or swapped with their neighbour (optimal string alignment).
size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<size_t>> cost(a.size() + 1, std::vector<size_t>(b.size() + 1));
  std::iota(cost[0].begin(), cost[0].end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    cost[i][0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      cost[i][j] =
          std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

}  // namespace

std::string nearest(const std::string& typed, const std::vector<std::string>& known) {
  std::string best;
  // A third of the letters may be wrong, and one in a short word.
  size_t allowed = std::max<size_t>(1, typed.size() / 3);
  for (const std::string& word : known) {
    const bool is_beginning = typed.size() >= 2 && word.starts_with(typed);
    const size_t far = is_beginning ? 0 : distance(typed, word);
    if (far > allowed || (far == allowed && !best.empty())) continue;
    best = word;
    allowed = far;
  }
  return best;
}

}  // namespace adit::cli
