#include "support/stopwatch.hpp"

#include <algorithm>
#include <chrono>

namespace adit {

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double median_seconds(const std::function<void()>& work, int least, double budget) {
  work();
  std::vector<double> times;
  double spent = 0;
  while (static_cast<int>(times.size()) < least || (spent < budget && times.size() < 10'000)) {
    times.push_back(seconds_of(work));
    spent += times.back();
  }
  return median_of(std::move(times));
}

}  // namespace adit
