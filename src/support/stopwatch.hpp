// How long something takes.
#pragma once

#include <functional>
#include <vector>

namespace adit {

double seconds_of(const std::function<void()>& work);

// The upper of the two in the middle where there are two.
double median_of(std::vector<double> values);

// The median of the seconds that one call of `work` takes; at least `least` calls, and about `budget`
// seconds. A call before them pays for what later ones find ready.
double median_seconds(const std::function<void()>& work, int least = 5, double budget = 0.3);

}  // namespace adit
