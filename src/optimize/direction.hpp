// Where a search goes next: downhill, with what is known of the curvature.
#pragma once

#include <memory>

#include <adit/optimize.hpp>

#include "optimize/log_density.hpp"

namespace adit::optimizing {

class Direction {
 public:
  virtual ~Direction() = default;
  // Of the negative log density.
  virtual std::vector<double> from(const Evaluated& at) = 0;
  // Whether the last direction stands for the curvature there, so that its length tells how far it is to go.
  virtual bool tells_distance() const { return true; }
  // A step was made, and the gradient has changed by so much.
  virtual void learn(const std::vector<double>& step, const std::vector<double>& change) = 0;
  // The next direction is the gradient's own. Whether there was anything to forget.
  virtual bool forget() = 0;
};

std::unique_ptr<Direction> make_direction(const OptimizeOptions& options, const LogDensity& density);

// The lower triangle L of a symmetric matrix A = L L' (row-major), or nothing where A is not positive
// definite.
std::vector<double> cholesky_of(std::vector<double> matrix, size_t d);
// x in L x = b, or L' x = b.
void solve_lower(const std::vector<double>& lower, std::vector<double>& b);
void solve_upper(const std::vector<double>& lower, std::vector<double>& b);

}  // namespace adit::optimizing
