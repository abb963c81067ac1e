#include "optimize/line_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace adit::optimizing {

namespace {

constexpr double sufficient = 1e-4, curvature = 0.9;
constexpr int most_narrowings = 60;
constexpr double most_grown = 10;    // from one trial to the next
constexpr double beyond_all = 1e30;  // a step as long as this has met no end of the descent

struct Trial {
  double alpha = 0, value = 0, slope = 0;
  Evaluated at;
};

// Between two trials, where the cubic through both has its lowest point; the middle where it tells nothing.
double lowest_of_cubic(const Trial& a, const Trial& b) {
  const double middle = (a.alpha + b.alpha) / 2, width = std::abs(b.alpha - a.alpha);
  if (!std::isfinite(b.value) || !std::isfinite(b.slope)) return a.alpha + (b.alpha - a.alpha) * 0.25;
  const double d = a.slope + b.slope - 3 * (a.value - b.value) / (a.alpha - b.alpha);
  const double root = d * d - a.slope * b.slope;
  if (!(root >= 0)) return middle;
  const double sign = b.alpha > a.alpha ? 1 : -1, r = sign * std::sqrt(root);
  const double found = b.alpha - (b.alpha - a.alpha) * (b.slope + r - d) / (b.slope - a.slope + 2 * r);
  const double low = std::min(a.alpha, b.alpha), high = std::max(a.alpha, b.alpha);
  return found > low + 0.1 * width && found < high - 0.1 * width ? found : middle;
}

class Line {
 public:
  Line(const Objective& objective, const Evaluated& from, const std::vector<double>& direction)
      : objective_(objective), from_(from), direction_(direction) {
    start_ = {0, from.value, dot_of(from.gradient, direction), from};
    for (const double x : direction) longest_ = std::max(longest_, std::abs(x));
  }

  LineResult search(double alpha) {
    Trial before = start_;
    while (true) {
      Trial now = trial(alpha);
      if (now.value == -INFINITY) return {LineEnd::unbounded, alpha, before.at};
      if (!is_low(now) || (before.alpha > 0 && now.value >= before.value)) return narrow(before, now);
      if (is_flat(now)) return {LineEnd::found, alpha, std::move(now.at)};
      if (now.slope >= 0) return narrow(now, before);
      if (alpha * longest_ > beyond_all) return {LineEnd::unbounded, alpha, std::move(now.at)};
      alpha = further(before, now);
      before = std::move(now);
    }
  }

 private:
  Trial trial(double alpha) const {
    std::vector<double> point = from_.point;
    for (size_t i = 0; i < point.size(); ++i) point[i] += alpha * direction_[i];
    Evaluated at = objective_(std::move(point));
    if (!at.is_finite() && at.value != -INFINITY) at.value = INFINITY;
    const double slope = dot_of(at.gradient, direction_);
    return {alpha, at.value, slope, std::move(at)};
  }
  bool is_low(const Trial& t) const { return t.value <= start_.value + sufficient * t.alpha * start_.slope; }
  bool is_flat(const Trial& t) const { return std::abs(t.slope) <= -curvature * start_.slope; }

  static double further(const Trial& before, const Trial& now) {
    const double guess = now.alpha - now.slope * (now.alpha - before.alpha) / (now.slope - before.slope);
    const double least = 2 * now.alpha, most = most_grown * now.alpha;
    return now.slope > before.slope && guess > least ? std::min(guess, most)
                                                     : (now.slope > before.slope ? least : most);
  }

  // `low` is the lower end; between it and `high` there is a point that will do.
  LineResult narrow(Trial low, Trial high) const {
    for (int i = 0; i < most_narrowings; ++i) {
      const double alpha = lowest_of_cubic(low, high);
      if (alpha == low.alpha || alpha == high.alpha) break;
      Trial now = trial(alpha);
      if (now.value == -INFINITY) return {LineEnd::unbounded, alpha, low.at};
      if (!is_low(now) || now.value >= low.value) {
        high = std::move(now);
        continue;
      }
      if (is_flat(now)) return {LineEnd::found, alpha, std::move(now.at)};
      if (now.slope * (high.alpha - low.alpha) >= 0) high = std::move(low);
      low = std::move(now);
    }
    // What goes down far enough will do, even where the slope is not flat yet.
    return {low.alpha > 0 ? LineEnd::found : LineEnd::no_progress, low.alpha, std::move(low.at)};
  }

  const Objective& objective_;
  const Evaluated& from_;
  const std::vector<double>& direction_;
  Trial start_;
  double longest_ = 0;
};

}  // namespace

double dot_of(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}
double length_of(const std::vector<double>& a) { return std::sqrt(dot_of(a, a)); }

LineResult search_line(const Objective& objective, const Evaluated& from,
                       const std::vector<double>& direction, double alpha) {
  return Line(objective, from, direction).search(alpha);
}

}  // namespace adit::optimizing
