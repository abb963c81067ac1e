// The elements of a variable by the labels of its plates.
#pragma once

#include <string>
#include <vector>

#include <adit/draws.hpp>

namespace adit {

// Found once for a variable: which of its axes have labels of their own.
class ElementLabels {
 public:
  ElementLabels(const Draws& draws, const DrawsVariable& variable);
  // "theta[north]", "rate[3,south]"; a number from 1 where an axis has no labels.
  std::string of(int64_t element) const;
  bool any() const { return any_; }

 private:
  const DrawsVariable& variable_;
  std::vector<const std::vector<std::string>*> labels_;  // by axis; none where it is just counted
  bool any_ = false;
};

}  // namespace adit
