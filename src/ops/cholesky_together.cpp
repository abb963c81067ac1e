// Cholesky's factors of many small matrices: some lanes of a subgroup a matrix, a row or a few a lane. What a
// team works on lies side by side in memory, and passes through shared memory on its way to rows.
#include <algorithm>
#include <bit>
#include <functional>

#include "ops/cholesky.hpp"
#include "ops/cholesky_rows.hpp"
#include "ops/hands.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops {

using namespace kernel;

namespace cholesky_together {
namespace {

// Lanes of a matrix; a lane of few holds several rows.
uint32_t together(uint32_t n, uint32_t subgroup) { return std::min(std::bit_ceil(n), subgroup); }
uint32_t lanes_for(uint32_t subgroup) { return std::max(32U, subgroup); }
uint32_t stride_for(uint32_t n) { return n | 1; }  // odd: rows begin in different banks

class Together {
 public:
  Together(const CholeskyPlan& plan, uint32_t subgroup)
      : n_(plan.n),
        complex_(plan.complex),
        lanes_(lanes_for(subgroup)),
        together_(together(plan.n, subgroup)),
        matrices_(lanes_ / together_),
        stride_(stride_for(plan.n)),
        vectors_(plan.type, plan.complex),
        k_("cholesky_together", Team::many(lanes_)) {
    x_ = k_.buffer("x", plan.type, Access::read);
    l_ = k_.buffer("l", plan.type, Access::write);
    shared_ = k_.shared(plan.type, matrices_ * n_ * stride_ * (complex_ ? 2 : 1));
    lane_ = k_.subgroup_number() * subgroup + k_.subgroup_lane();
    const Value team = k_.team(Type::u64), first = team * matrices_;
    first_ = first * (uint64_t{n_} * n_);
    const Value left = k_.constant(Type::u64, plan.batch) - first;
    numbers_ = convert(min(left, matrices_), Type::u32) * (n_ * n_);
  }
  uint32_t matrices() const { return matrices_; }

  Program build() {
    load();
    k_.barrier();
    factor();
    k_.barrier();
    store();
    return k_.finish();
  }

 private:
  // Numbers of one access: every matrix begins at a multiple of it.
  uint32_t width() const { return n_ * n_ % vectors_.count() == 0 ? vectors_.count() : 1; }
  uint32_t accesses() const { return (matrices_ * n_ * n_ + lanes_ * width() - 1) / (lanes_ * width()); }
  Value in_shared(Value number) { return number / n_ * stride_ + number % n_; }

  void load() {
    std::vector<Value> at;
    std::vector<std::vector<Number>> all;
    for (uint32_t e = 0; e < accesses(); ++e) {
      const Value number = min((lane_ + e * lanes_) * width(), numbers_ - width());
      const Value from = first_ + convert(number, Type::u64);
      at.push_back(number);
      if (width() == 1)
        all.push_back({load_number(x_, from, complex_)});
      else
        all.push_back(vectors_.load(x_, from / width()));
    }
    for (size_t e = 0; e < all.size(); ++e)
      for (uint32_t i = 0; i < width(); ++i) store_number(shared_, in_shared(at[e] + i), all[e][i], complex_);
  }

  // Lanes without a row of their own take the last one's for theirs, and nobody asks them.
  void factor() {
    RowCholesky rows(k_, n_, together_, complex_);
    const Value matrix = lane_ / together_ * n_;
    RowSets square, others;
    std::vector<Value> row;
    for (uint32_t t = 0; t < RowCholesky::sets(n_, together_); ++t) {
      row.push_back(rows.lane() + t * together_);
      square.emplace_back();
      const Value first = (matrix + min(row[t], n_ - 1)) * stride_;
      for (uint32_t c = 0; c < n_; ++c) square[t].push_back(load_number(shared_, first + c, complex_));
    }
    rows.factor(square, others);
    for (uint32_t t = 0; t < square.size(); ++t)
      k_.if_(row[t] < n_, [&] {
        const Value first = (matrix + row[t]) * stride_;
        for (uint32_t c = 0; c < n_; ++c) store_number(shared_, first + c, square[t][c], complex_);
      });
  }

  void store() {
    for (uint32_t e = 0; e < accesses(); ++e) {
      const Value number = (lane_ + e * lanes_) * width();
      k_.if_(number < numbers_, [&] {
        std::vector<Number> numbers;
        for (uint32_t i = 0; i < width(); ++i)
          numbers.push_back(load_number(shared_, in_shared(number + i), complex_));
        const Value to = first_ + convert(number, Type::u64);
        if (width() == 1)
          store_number(l_, to, numbers[0], complex_);
        else
          vectors_.store(l_, to / width(), numbers);
      });
    }
  }

  uint32_t n_;
  bool complex_;
  uint32_t lanes_, together_, matrices_, stride_;
  NumberVectors vectors_;
  Builder k_;
  Array x_, l_, shared_;
  Value lane_, first_, numbers_;
};

}  // namespace
}  // namespace cholesky_together

bool has_cholesky_together(const CholeskyPlan& plan, const Limits& limits) {
  using namespace cholesky_together;
  // A row of 64 words is what a lane's registers hold beside the rest; a lane alone has no use for others.
  const uint32_t words = size_of(plan.type) / 4 * (plan.complex ? 2 : 1);
  if (!has_hands(limits) || plan.n <= 4 || plan.n > 32) return false;
  const uint32_t lanes = together(plan.n, limits.subgroup_size), rows = (plan.n + lanes - 1) / lanes;
  const uint64_t matrices = lanes_for(limits.subgroup_size) / lanes;
  return rows <= 2 && plan.n * rows * words <= 128 &&
         matrices * plan.n * stride_for(plan.n) * words * 4 <= limits.shared_bytes;
}

Cholesky cholesky_together_for(const CholeskyPlan& plan, const Limits& limits) {
  cholesky_together::Together made(plan, limits.subgroup_size);
  Cholesky result;
  result.teams = (plan.batch + made.matrices() - 1) / made.matrices();
  result.program = made.build();
  return result;
}

}  // namespace adit::ops
