// A thread of the process that comes back to what has rested for a while. It starts when something first
// rests, and sleeps while nothing does. At the end of the process and in a copy by fork it does nothing.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

namespace adit::rest {

using Clock = std::chrono::steady_clock;

class Keeper {
 public:
  virtual ~Keeper() = default;
  // Gives back what has rested long enough. When to come again; nothing: not before the next watch().
  virtual std::optional<Clock::time_point> give_back(Clock::time_point now) = 0;
};

void watch(const std::weak_ptr<Keeper>& keeper, Clock::time_point when);

}  // namespace adit::rest
