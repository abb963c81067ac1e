// Random numbers for made-up data: the same on every machine, since they are rounded to a few decimals.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace adit::examples {

// SplitMix64 of Steele, Lea and Flood (2014).
class Source {
 public:
  explicit Source(uint64_t seed) : state_(seed) {}

  double uniform() {  // [0, 1)
    state_ += 0x9e3779b97f4a7c15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
  }
  int64_t below(int64_t end) { return static_cast<int64_t>(uniform() * static_cast<double>(end)); }
  double normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  double student_t(int degrees) {  // a normal over the root of a mean of squares
    const double z = normal();
    double squares = 0;
    for (int i = 0; i < degrees; ++i) {
      const double w = normal();
      squares += w * w;
    }
    return z / std::sqrt(squares / degrees);
  }

 private:
  uint64_t state_;
};

inline double rounded(double x, double decimals = 1e4) { return std::round(x * decimals) / decimals; }

// mean + sigma z, rounded.
inline std::vector<double> normals(Source& source, int64_t count, double mean, double sigma) {
  std::vector<double> x(static_cast<size_t>(count));
  for (double& v : x) v = rounded(mean + sigma * source.normal());
  return x;
}

}  // namespace adit::examples
