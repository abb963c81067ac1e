// One transition of Stan's NUTS, written as a plain recursion in double precision, with the random numbers of
// the sampler's kernel: what the kernel's binary counter must equal.
//
// Multinomial sampling inside of a subtree chooses leaf by leaf (a new leaf replaces the proposal with its
// share of the weight so far), which has the law of Stan's choices at the merges and one number a leaf.
#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "nuts/random.hpp"

namespace adit::test {

template <size_t D>
using Place = std::array<double, D>;
// The log density at q; fills in the gradient.
template <size_t D>
using DensityAt = std::function<double(const Place<D>& q, Place<D>& gradient)>;

template <size_t D>
double dot(const Place<D>& a, const Place<D>& b) {
  double sum = 0;
  for (size_t i = 0; i < D; ++i) sum += a[i] * b[i];
  return sum;
}
template <size_t D>
Place<D> added(Place<D> a, const Place<D>& b) {
  for (size_t i = 0; i < D; ++i) a[i] += b[i];
  return a;
}

// The inverse metric: a diagonal, or a matrix row by row.
template <size_t D>
class ReferenceMetric {
 public:
  explicit ReferenceMetric(std::vector<double> inverse)
      : inverse_(std::move(inverse)), dense_(inverse_.size() == D * D && D > 1), factor_(inverse_.size()) {
    for (size_t i = 0; i < (dense_ ? D : 0); ++i)
      for (size_t j = 0; j <= i; ++j) {
        double rest = inverse_[i * D + j];
        for (size_t k = 0; k < j; ++k) rest -= factor_[i * D + k] * factor_[j * D + k];
        factor_[i * D + j] = i == j ? std::sqrt(rest) : rest / factor_[j * D + j];
      }
  }

  Place<D> sharp(const Place<D>& p) const {
    Place<D> result{};
    for (size_t i = 0; i < D; ++i)
      if (!dense_)
        result[i] = inverse_[i] * p[i];
      else
        for (size_t j = 0; j < D; ++j) result[i] += inverse_[i * D + j] * p[j];
    return result;
  }
  // From standard normals to a momentum: L^T p = z.
  Place<D> momentum(Place<D> z) const {
    for (size_t i = D; i-- > 0;) {
      if (!dense_) {
        z[i] /= std::sqrt(inverse_[i]);
        continue;
      }
      for (size_t j = i + 1; j < D; ++j) z[i] -= factor_[j * D + i] * z[j];
      z[i] /= factor_[i * D + i];
    }
    return z;
  }

 private:
  std::vector<double> inverse_;
  bool dense_;
  std::vector<double> factor_;
};

// Ways to be wrong, for gates that have to notice.
enum class Flaw { none, no_extra_checks, reversed_choice, merges_invalid };

template <size_t D>
struct Transition {
  Place<D> q{};
  double lp = 0, accept_stat = 0, energy = 0;
  double highest_weight = -INFINITY;  // the logarithm, of all leaves
  int depth = 0, leapfrogs = 0;
  bool divergent = false;
};

template <size_t D>
class ReferenceNuts {
 public:
  ReferenceNuts(DensityAt<D> density, ReferenceMetric<D> metric, sampling::HostStream stream,
                int max_depth = 10, Flaw flaw = Flaw::none)
      : density_(std::move(density)),
        metric_(std::move(metric)),
        stream_(stream),
        max_depth_(max_depth),
        flaw_(flaw) {}

  Transition<D> transition(const Place<D>& from, double step, uint32_t iteration) {
    iteration_ = iteration;
    result_ = {};
    leaves_ = 0;
    acceptance_ = 0;
    Point start = begin(from);
    result_.q = start.q;
    result_.lp = start.lp;
    result_.energy = h0_ = energy(start);
    Point back = start, front = start;
    Span whole{start.p, start.p, metric_.sharp(start.p), metric_.sharp(start.p), start.p};
    double log_weight = 0;
    while (result_.depth < max_depth_) {
      const auto bits = stream_.bits(sampling::Purpose::leaf, iteration_, static_cast<uint32_t>(leaves_));
      const bool forward = bits[0] % 2 == 1;  // a bit that no uniform number uses
      walker_ = forward ? front : back;
      step_ = forward ? step : -step;
      log_sub_weight_ = -INFINITY;
      Span grown;
      const bool valid = build(result_.depth, grown);
      (forward ? front : back) = walker_;
      if (!valid && flaw_ != Flaw::merges_invalid) break;
      if (valid) ++result_.depth;
      if (stream_.uniform(bits, 1) < std::exp(log_sub_weight_ - log_weight)) take_proposal();
      if (!valid) break;
      log_weight = log_sum(log_weight, log_sub_weight_);
      if (!forward) std::swap(grown.first, grown.last), std::swap(grown.first_sharp, grown.last_sharp);
      const Span &left = forward ? whole : grown, &right = forward ? grown : whole;
      const bool going = goes_on(left, right);
      whole = joined(left, right);
      if (!going) break;
    }
    result_.leapfrogs = leaves_;
    result_.accept_stat = acceptance_ / leaves_;
    return result_;
  }

 private:
  struct Point {
    Place<D> q, p, g;
    double lp;
  };
  // Part of a trajectory: momenta at its ends, and their sum over its points.
  struct Span {
    Place<D> first, last, first_sharp, last_sharp, rho;
  };

  static double log_sum(double a, double b) {
    const double high = std::max(a, b);
    return high == -INFINITY ? high : high + std::log(std::exp(a - high) + std::exp(b - high));
  }
  double energy(const Point& at) const {
    const double h = dot(at.p, metric_.sharp(at.p)) / 2 - at.lp;
    return std::isnan(h) ? INFINITY : h;
  }

  Point begin(const Place<D>& from) {
    Point start{from, {}, {}, 0};
    start.lp = density_(start.q, start.g);
    for (size_t i = 0; i < D; ++i)
      start.p[i] = stream_.normal(sampling::Purpose::momentum, iteration_, 0, static_cast<uint32_t>(i));
    start.p = metric_.momentum(start.p);
    return start;
  }

  void leap(Point& at) {
    for (size_t i = 0; i < D; ++i) at.p[i] += step_ / 2 * at.g[i];
    const Place<D> velocity = metric_.sharp(at.p);
    for (size_t i = 0; i < D; ++i) at.q[i] += step_ * velocity[i];
    at.lp = density_(at.q, at.g);
    for (size_t i = 0; i < D; ++i) at.p[i] += step_ / 2 * at.g[i];
  }

  // A subtree of 2^depth leaves; false where it diverged or turned.
  bool build(int depth, Span& span) {
    if (depth == 0) return leaf(span);
    Span left, right;
    if (!build(depth - 1, left) || !build(depth - 1, right)) return false;
    span = joined(left, right);
    return goes_on(left, right);
  }

  bool leaf(Span& span) {
    leap(walker_);
    ++leaves_;
    const double h = energy(walker_), weight = h0_ - h;
    acceptance_ += std::min(1.0, std::exp(weight));
    result_.highest_weight = std::max(result_.highest_weight, weight);
    const Place<D> sharp = metric_.sharp(walker_.p);
    span = {walker_.p, walker_.p, sharp, sharp, walker_.p};
    if (h - h0_ > 1000) {
      result_.divergent = true;
      return false;
    }
    log_sub_weight_ = log_sum(log_sub_weight_, weight);
    const auto bits = stream_.bits(sampling::Purpose::leaf, iteration_, static_cast<uint32_t>(leaves_));
    double u = stream_.uniform(bits, 0);
    if (flaw_ == Flaw::reversed_choice) u = 1 - u;
    if (u < std::exp(weight - log_sub_weight_)) {
      proposal_ = walker_;
      proposal_energy_ = h;
    }
    return true;
  }

  void take_proposal() {
    result_.q = proposal_.q;
    result_.lp = proposal_.lp;
    result_.energy = proposal_energy_;
  }

  static Span joined(const Span& left, const Span& right) {
    return {left.first, right.last, left.first_sharp, right.last_sharp, added(left.rho, right.rho)};
  }
  // Not turned: the whole, and each half with the nearest point of the other.
  bool goes_on(const Span& left, const Span& right) const {
    const auto straight = [](const Place<D>& a, const Place<D>& b, const Place<D>& rho) {
      return dot(a, rho) > 0 && dot(b, rho) > 0;
    };
    if (!straight(left.first_sharp, right.last_sharp, added(left.rho, right.rho))) return false;
    if (flaw_ == Flaw::no_extra_checks) return true;
    return straight(left.first_sharp, right.first_sharp, added(left.rho, right.first)) &&
           straight(left.last_sharp, right.last_sharp, added(right.rho, left.last));
  }

  DensityAt<D> density_;
  ReferenceMetric<D> metric_;
  sampling::HostStream stream_;
  int max_depth_;
  Flaw flaw_;
  // Of the transition under way
  uint32_t iteration_ = 0;
  int leaves_ = 0;
  double step_ = 0, h0_ = 0, acceptance_ = 0, log_sub_weight_ = 0, proposal_energy_ = 0;
  Point walker_{}, proposal_{};
  Transition<D> result_;
};

}  // namespace adit::test
