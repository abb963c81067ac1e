// The vectors of a tridiagonal matrix become those of the matrix it was made of: all reflections, from the
// last panel to the first, on a few columns that a team keeps in shared memory. Columns need nothing of each
// other.
#include <algorithm>

#include "ops/factor_writer.hpp"
#include "ops/tridiagonal.hpp"

namespace adit::ops::tridiagonal {

using namespace kernel;

namespace {

class Back {
 public:
  static constexpr uint32_t lanes = 256, parts = lanes / width;

  explicit Back(const FactorPlan& plan)
      : type_(plan.type), columns_(columns_of_team(plan.type)), k_("tridiagonal_back", Team::many(lanes)) {
    from_ = read("from"), scale_ = read("scale"), reflections_ = read("reflections");
    triangles_ = read("triangles"), to_ = k_.buffer("to", type_, Access::write);
    n_ = k_.scalar("n", Type::u32), size_ = k_.scalar("size", Type::u32);
    most_ = (n_ - 1 + (width - 1)) / width;
    x_ = k_.shared(type_, rows_for(plan.n) * columns_);
    sums_ = k_.shared(type_, lanes * columns_);
    totals_ = k_.shared(type_, width * columns_);
    by_ = k_.shared(type_, width * columns_);
    const Value team = k_.team(Type::u64), teams = wide((n_ + (columns_ - 1)) / columns_);
    matrix_ = team / teams;
    first_ = convert(team % teams, Type::u32) * columns_;
    lane_ = k_.lane();
  }

  Program build() {
    load();
    k_.for_(most_, [&](Value i) { panel(most_ - 1 - i); });
    store();
    return k_.finish();
  }

  // That shared memory has room for: few kernels serve all sizes.
  static uint32_t rows_for(uint32_t n) { return (n + 255) / 256 * 256; }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  static Value wide(Value x) { return convert(x, Type::u64); }
  Array read(const char* name) { return k_.buffer(name, type_, Access::read); }
  int vector() const { return static_cast<int>(columns_); }

  void load() {
    const Value by = scale_[matrix_];  // NaN where a number was none
    k_.for_(lane_, n_ * columns_, word(lanes), [&](Value i) {
      const Value row = i / columns_, column = min(first_ + i % columns_, n_ - 1);
      const Value x = from_[(matrix_ * wide(size_) + wide(row)) * wide(size_) + wide(column)];
      x_[i] = select(is_nan(by), by, x);
    });
    k_.barrier();
  }
  void store() {
    k_.for_(lane_, n_ * columns_, word(lanes), [&](Value i) {
      const Value row = i / columns_, column = first_ + i % columns_;
      k_.if_(column < n_,
             [&] { to_[(matrix_ * wide(n_) + wide(row)) * wide(n_) + wide(column)] = x_[i].get(); });
    });
  }

  // x - v (t (v^T x))
  void panel(Value p) {
    const Value before = (p * most_ - p * (p - 1) / 2) * width;
    rows_ = (most_ - p) * width, start_ = p * width + 1;
    v_row_ = matrix_ * wide(most_ * (most_ + 1) / 2 * width) + wide(before);
    multiply_turned();
    k_.barrier();
    k_.if_(lane_ < width * columns_, [&] {
      Value sum = sums_[lane_];
      for (uint32_t i = 1; i < parts; ++i) sum = sum + sums_[lane_ + i * width * columns_];
      totals_[lane_] = sum;
    });
    k_.barrier();
    k_.if_(lane_ < width * columns_, [&] { by_[lane_] = by_triangle(p); });
    k_.barrier();
    subtract();
    k_.barrier();
  }

  // Sums of v^T x: a lane has one of v's columns, and every so manieth row. v has zeros where rows end.
  void multiply_turned() {
    constexpr uint32_t together = 4;
    const Value column = lane_ % width, part = lane_ / width;
    std::vector<Variable> sums;
    for (uint32_t c = 0; c < columns_; ++c) sums.push_back(k_.variable(type_, 0.0));
    k_.for_(part, rows_, word(parts * together), [&](Value first) {
      std::vector<Value> v;
      for (uint32_t u = 0; u < together; ++u)
        v.push_back(reflections_[(v_row_ + wide(first + u * parts)) * width + wide(column)].get());
      for (uint32_t u = 0; u < together; ++u) {
        const Value x = x_.load_vector(min(start_ + first + u * parts, n_ - 1), vector());
        for (uint32_t c = 0; c < columns_; ++c) sums[c] = fma(v[u], x[static_cast<int>(c)], sums[c].get());
      }
    });
    for (uint32_t c = 0; c < columns_; ++c) sums_[(part * width + column) * columns_ + c] = sums[c].get();
  }

  Value by_triangle(Value p) {
    const Value row = lane_ / columns_, column = lane_ % columns_;
    const Value first = ((matrix_ * wide(most_) + wide(p)) * width + wide(row)) * width;
    Value sum = k_.constant(type_, 0);
    for (uint32_t i = 0; i < width; ++i)
      sum = fma(triangles_[first + i].get(), totals_[column + i * columns_].get(), sum);
    return sum;
  }

  void subtract() {
    const uint32_t each = 16 / static_cast<uint32_t>(size_of(type_));
    k_.for_(lane_, rows_, word(lanes), [&](Value i) {
      const Value row = start_ + i;
      k_.if_(row < n_, [&] {
        const Value at = (v_row_ + wide(i)) * (width / each);
        const Value x = x_.load_vector(row, vector());
        std::vector<Value> left;
        for (uint32_t c = 0; c < columns_; ++c) left.push_back(x[static_cast<int>(c)]);
        for (uint32_t g = 0; g < width / each; ++g) {
          const Value v = reflections_.load_vector(at + g, static_cast<int>(each));
          for (uint32_t e = 0; e < each; ++e) {
            const Value by = by_.load_vector(word(g * each + e), vector());
            for (uint32_t c = 0; c < columns_; ++c)
              left[c] = fma(-v[static_cast<int>(e)], by[static_cast<int>(c)], left[c]);
          }
        }
        x_.store(row,
                 columns_ == 2 ? k_.pack({left[0], left[1]}) : k_.pack({left[0], left[1], left[2], left[3]}));
      });
    });
  }

  Type type_;
  uint32_t columns_;
  Builder k_;
  Array from_, scale_, reflections_, triangles_, to_, x_, sums_, totals_, by_;
  Value n_, size_, most_, matrix_, first_, lane_, rows_, start_, v_row_;
};

}  // namespace

uint32_t back_teams(const FactorPlan& plan) {
  const uint32_t columns = columns_of_team(plan.type);
  return (plan.n + columns - 1) / columns;
}

bool can_go_back(const FactorPlan& plan, const Limits& limits) {
  const uint64_t numbers = Back::rows_for(plan.n) + Back::lanes + 2 * width;
  return Back::lanes <= limits.max_lanes &&
         numbers * columns_of_team(plan.type) * size_of(plan.type) <= limits.shared_bytes;
}

Program go_back(const FactorPlan& plan) { return Back(plan).build(); }

}  // namespace adit::ops::tridiagonal
