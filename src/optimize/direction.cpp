#include "optimize/direction.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "optimize/line_search.hpp"

namespace adit::optimizing {

namespace {

std::vector<double> negative(std::vector<double> a) {
  for (double& x : a) x = -x;
  return a;
}
void add_scaled(std::vector<double>& to, double scale, const std::vector<double>& from) {
  for (size_t i = 0; i < to.size(); ++i) to[i] += scale * from[i];
}

// A step along which the gradient has not grown tells of no curvature that could be used.
bool tells_curvature(double product, const std::vector<double>& step, const std::vector<double>& change) {
  return std::isfinite(product) && product > 1e-14 * length_of(step) * length_of(change);
}

class Lbfgs final : public Direction {
 public:
  explicit Lbfgs(int64_t memory) : memory_(static_cast<size_t>(memory)) {}

  std::vector<double> from(const Evaluated& at) override {
    std::vector<double> q = at.gradient, weights(pairs_.size());
    for (size_t i = pairs_.size(); i-- > 0;) {
      weights[i] = dot_of(pairs_[i].step, q) / pairs_[i].product;
      add_scaled(q, -weights[i], pairs_[i].change);
    }
    if (!pairs_.empty()) {
      const Pair& last = pairs_.back();
      const double scale = last.product / dot_of(last.change, last.change);
      for (double& x : q) x *= scale;
    }
    for (size_t i = 0; i < pairs_.size(); ++i)
      add_scaled(q, weights[i] - dot_of(pairs_[i].change, q) / pairs_[i].product, pairs_[i].step);
    return negative(std::move(q));
  }
  void learn(const std::vector<double>& step, const std::vector<double>& change) override {
    const double product = dot_of(step, change);
    if (!tells_curvature(product, step, change)) return;
    pairs_.push_back({step, change, product});
    if (pairs_.size() > memory_) pairs_.pop_front();
  }
  bool forget() override {
    const bool had = !pairs_.empty();
    pairs_.clear();
    return had;
  }

 private:
  struct Pair {
    std::vector<double> step, change;
    double product;
  };
  size_t memory_;
  std::deque<Pair> pairs_;
};

// With the whole inverse of the Hessian.
class Bfgs final : public Direction {
 public:
  std::vector<double> from(const Evaluated& at) override {
    return negative(inverse_.empty() ? at.gradient : times(at.gradient));
  }
  void learn(const std::vector<double>& step, const std::vector<double>& change) override {
    const double product = dot_of(step, change);
    if (!tells_curvature(product, step, change)) return;
    const size_t d = step.size();
    if (inverse_.empty()) {
      inverse_.assign(d * d, 0);
      for (size_t i = 0; i < d; ++i) inverse_[i * d + i] = product / dot_of(change, change);
    }
    const std::vector<double> turned = times(change);
    const double weight = (1 + dot_of(change, turned) / product) / product;
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j)
        inverse_[i * d + j] +=
            weight * step[i] * step[j] - (turned[i] * step[j] + step[i] * turned[j]) / product;
  }
  bool forget() override {
    const bool had = !inverse_.empty();
    inverse_.clear();
    return had;
  }

 private:
  std::vector<double> times(const std::vector<double>& x) const {
    const size_t d = x.size();
    std::vector<double> result(d);
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j) result[i] += inverse_[i * d + j] * x[j];
    return result;
  }
  std::vector<double> inverse_;
};

// With the Hessian itself, lifted until it is positive definite.
class Newton final : public Direction {
 public:
  explicit Newton(const LogDensity& density) : density_(density) {}

  std::vector<double> from(const Evaluated& at) override {
    const size_t d = at.point.size();
    const std::vector<double> hessian = negative(density_.hessian(at.point));
    double largest = 0;
    for (const double x : hessian) largest = std::max(largest, std::abs(x));
    is_lifted_ = true;
    if (!std::isfinite(largest) || largest == 0) return negative(at.gradient);
    constexpr int most_lifts = 24;
    for (int i = 0; i < most_lifts; ++i) {
      std::vector<double> lifted = hessian;
      const double lift = i == 0 ? 0 : largest * 1e-10 * std::pow(4.0, i);
      for (size_t k = 0; k < d; ++k) lifted[k * d + k] += lift;
      const std::vector<double> lower = cholesky_of(std::move(lifted), d);
      if (lower.empty()) continue;
      is_lifted_ = i > 0;
      std::vector<double> step = negative(at.gradient);
      solve_lower(lower, step);
      solve_upper(lower, step);
      return step;
    }
    return negative(at.gradient);
  }
  bool tells_distance() const override { return !is_lifted_; }
  void learn(const std::vector<double>&, const std::vector<double>&) override {}
  bool forget() override { return false; }

 private:
  bool is_lifted_ = false;
  const LogDensity& density_;
};

}  // namespace

std::unique_ptr<Direction> make_direction(const OptimizeOptions& options, const LogDensity& density) {
  switch (options.algorithm) {
    case OptimizeAlgorithm::lbfgs: return std::make_unique<Lbfgs>(options.history_size);
    case OptimizeAlgorithm::bfgs: return std::make_unique<Bfgs>();
    case OptimizeAlgorithm::newton: break;
  }
  return std::make_unique<Newton>(density);
}

std::vector<double> cholesky_of(std::vector<double> a, size_t d) {
  for (size_t j = 0; j < d; ++j) {
    for (size_t i = j; i < d; ++i) {
      double sum = a[i * d + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * d + k] * a[j * d + k];
      if (i == j) {
        if (!(sum > 0) || !std::isfinite(sum)) return {};
        a[j * d + j] = std::sqrt(sum);
      } else {
        a[i * d + j] = sum / a[j * d + j];
      }
    }
    for (size_t i = 0; i < j; ++i) a[i * d + j] = 0;
  }
  return a;
}

void solve_lower(const std::vector<double>& lower, std::vector<double>& b) {
  const size_t d = b.size();
  for (size_t i = 0; i < d; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= lower[i * d + k] * b[k];
    b[i] /= lower[i * d + i];
  }
}
void solve_upper(const std::vector<double>& lower, std::vector<double>& b) {
  const size_t d = b.size();
  for (size_t i = d; i-- > 0;) {
    for (size_t k = i + 1; k < d; ++k) b[i] -= lower[k * d + i] * b[k];
    b[i] /= lower[i * d + i];
  }
}

}  // namespace adit::optimizing
