// The name that somebody may have meant.
#pragma once

#include <string>
#include <string_view>

namespace adit::stan {

// Keeps the nearest of the names it is offered, by letters changed, left out, added or swapped.
class Nearest {
 public:
  explicit Nearest(std::string_view wanted);
  void offer(std::string_view name);
  const std::string& name() const { return best_; }  // "" where none is near

 private:
  std::string_view wanted_;
  size_t limit_;  // more changes are another word
  std::string best_;
};
// "Did you mean 'x'?" with a space before it, or nothing.
std::string did_you_mean(const std::string& name);

}  // namespace adit::stan
