// Rules of integration.
#include <cmath>
#include <numbers>
#include <utility>

#include "stan/functions/passage.hpp"

namespace adit::stan {

// The zeros of a polynomial by Newton's steps.
PassageRule legendre_rule(int count) {
  PassageRule rule;
  for (int i = 0; i < count; ++i) {
    double x = std::cos(std::numbers::pi * (i + 0.75) / (count + 0.5)), slope = 1;
    for (int step = 0; step < 10; ++step) {
      double before = 1, value = x;
      for (int k = 2; k <= count; ++k)
        before = std::exchange(value, ((2 * k - 1) * x * value - (k - 1) * before) / k);
      slope = count * (x * value - before) / (x * x - 1);
      x -= value / slope;
    }
    rule.places.push_back((1 + x) / 2);
    rule.weights.push_back(1 / ((1 - x * x) * slope * slope));
  }
  return rule;
}

// In even steps, which do better than Gauss and Hermite's where the function has poles off the real line.
PassageRule normal_rule(int count, double step) {
  PassageRule rule;
  double total = 0;
  for (int i = 0; i < count; ++i) {
    const double x = step * (i - 0.5 * (count - 1));
    rule.places.push_back(x);
    rule.weights.push_back(std::exp(-0.5 * x * x));
    total += rule.weights.back();
  }
  for (double& weight : rule.weights) weight /= total;
  return rule;
}

}  // namespace adit::stan
