// A block's reflections on other columns, x - v (t (v^T x)), in one pass: a lane has a column and some of the
// rows, and all of a column's products with v in registers. Lanes side by side read the same of v at the same
// time, which costs them one access. Columns near the ends of the range are scaled, so that no product with v
// vanishes: there are devices that take subnormal numbers for zero.
#include <vector>

#include <adit/kernel/builder.hpp>

#include "ops/qr_level.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_applied {
namespace {

constexpr uint32_t together = 4;  // rows whose numbers are on their way at a time

// Lanes that have the same column: as many as their sums fit into 32 KiB.
uint32_t parts_of(Type type) { return type == Type::f64 ? 4 : 8; }

class Apply {
 public:
  Apply(Type type, uint32_t width, bool transposed)
      : type_(type),
        width_(width),
        transposed_(transposed),
        parts_(parts_of(type_)),
        k_(transposed ? "qr_apply" : "qr_form", Team::many(qr_tile * parts_)) {
    from_ = k_.buffer("from", type_, Access::read);
    to_ = k_.buffer("to", type_, Access::write);
    v_ = k_.buffer("v", type_, Access::read);
    t_ = k_.buffer("t", type_, Access::read);
    rows_ = QrRows(k_, width);
    const Value first = k_.scalar("first", Type::u32), tiles = k_.scalar("tiles", Type::u32);
    if (!transposed_) {
      seen_ = k_.scalar("seen", Type::u32);
      known_ = k_.scalar("known", Type::u32);
    }
    const Value which = k_.team(Type::u64), across = convert(tiles, Type::u64),
                down = convert(rows_.blocks, Type::u64), rest = which / across;
    rows_.choose(rest / down, convert(rest % down, Type::u32));
    const Value lane = k_.lane();
    side_ = lane % qr_tile;
    part_ = lane / qr_tile;
    column_ = first + convert(which % across, Type::u32) * qr_tile + side_;
    sums_ = k_.shared(type_, parts_ * width * qr_tile);
  }

  Program build() {
    const uint32_t vector = 16 / static_cast<uint32_t>(size_of(type_));
    count_ = rows_.count();
    const Value first_v = rows_.v_row() * uint64_t{width_ / vector};
    const auto v_of = [&](Value r) {
      std::vector<Value> all;
      const Value at = first_v + convert(r * (width_ / vector), Type::u64);
      for (uint32_t p = 0; p < width_ / vector; ++p) {
        const Value some = v_.load_vector(at + uint64_t{p}, static_cast<int>(vector));
        for (uint32_t s = 0; s < vector; ++s) all.push_back(some[static_cast<int>(s)]);
      }
      return all;
    };
    std::vector<Variable> along;
    for (uint32_t p = 0; p < width_; ++p) along.push_back(k_.variable(type_, 0.0));
    const Variable largest = k_.variable(type_, 0.0);
    const auto sum = [&](const std::function<Value(Value)>& prepared) {
      each_row([&](const std::vector<Value>& r) {
        std::vector<Value> x;
        for (const Value& one : r) x.push_back(prepared(before(one)));
        for (size_t i = 0; i < r.size(); ++i) {
          const std::vector<Value> v = v_of(r[i]);
          for (uint32_t p = 0; p < width_; ++p) along[p] = fma(v[p], x[i], along[p].get());
        }
      });
    };
    sum([&](Value x) {
      if (transposed_) largest = max(largest.get(), abs(x));
      return x;
    });
    if (transposed_) {
      choose_scale(largest.get());
      k_.if_(scale_ != 1, [&] {
        for (const Variable& one : along) one = k_.constant(type_, 0);
        sum([&](Value x) { return x * scale_; });
      });
    }
    const std::vector<Value> w = weights(along);
    each_row([&](const std::vector<Value>& r) {
      std::vector<Value> x;
      for (const Value& one : r) x.push_back(before(one));
      for (size_t i = 0; i < r.size(); ++i) {
        const std::vector<Value> v = v_of(r[i]);
        if (transposed_) x[i] = x[i] * scale_;
        for (uint32_t p = 0; p < width_; ++p) x[i] = fma(v[p], w[p], x[i]);
        if (transposed_) x[i] = x[i] * back_;
        k_.if_(rows_.of(r[i]) < rows_.m && column_ < rows_.columns, [&] { to_[place(r[i])] = x[i]; });
      }
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value place(Value r) { return rows_.place(min(rows_.of(r), rows_.m - 1), min(column_, rows_.columns - 1)); }
  // q is the identity where no pass has written it yet.
  Value before(Value r) {
    const Value x = from_[place(r)];
    if (transposed_) return x;
    const Value row = rows_.of(r), is_written = r < seen_ || (row >= known_ && column_ >= known_);
    return select(row < rows_.m && is_written, x, select(row == column_, x.like(1), x.like(0)));
  }
  // This lane's rows, some at a time; v has zeros where there are no more.
  void each_row(const std::function<void(const std::vector<Value>&)>& f) {
    k_.for_(part_, count_, word(parts_ * together), [&](Value first) {
      std::vector<Value> r;
      for (uint32_t i = 0; i < together; ++i) r.push_back(first + i * parts_);
      f(r);
    });
  }

  // A power of two for this lane's column, whose largest number among this lane's rows is told. The columns
  // of q need none.
  void choose_scale(Value largest_here) {
    sums_[part_ * qr_tile + side_] = largest_here;
    k_.barrier();
    Value largest = sums_[side_];
    for (uint32_t other = 1; other < parts_; ++other)
      largest = max(largest, sums_[other * qr_tile + side_].get());
    k_.barrier();
    const double far = type_ == Type::f32 ? 0x1p64 : 0x1p500;
    const Value is_tiny = largest > 0 && largest<1 / far, is_huge = largest> far;
    const auto choice = [&](double tiny, double huge) {
      return select(is_tiny, largest.like(tiny), select(is_huge, largest.like(huge), largest.like(1)));
    };
    scale_ = choice(far, 1 / far);
    back_ = choice(1 / far, far);
  }

  // -t (v^T x) or -t^T (v^T x) of this lane's column.
  std::vector<Value> weights(const std::vector<Variable>& along) {
    const uint32_t width = width_, own = width / parts_;
    const auto at = [&](Value p) { return p * qr_tile + side_; };
    for (uint32_t p = 0; p < width; ++p) sums_[part_ * (width * qr_tile) + at(word(p))] = along[p].get();
    k_.barrier();
    std::vector<Value> totals;
    for (uint32_t i = 0; i < own; ++i) {
      const Value p = part_ * own + i;
      Value sum = sums_[at(p)];
      for (uint32_t other = 1; other < parts_; ++other) sum = sum + sums_[other * (width * qr_tile) + at(p)];
      totals.push_back(sum);
    }
    k_.barrier();
    for (uint32_t i = 0; i < own; ++i) sums_[at(part_ * own + i)] = totals[i];
    k_.barrier();
    const Value first_t = rows_.t_number() * uint64_t{width * width};
    std::vector<Value> found(own, k_.constant(type_, 0));
    for (uint32_t j = 0; j < width; ++j) {
      const Value total = sums_[at(word(j))];
      for (uint32_t i = 0; i < own; ++i) {
        const Value p = part_ * own + i;
        const Value t = t_[first_t + convert(transposed_ ? word(j * width) + p : p * width + j, Type::u64)];
        found[i] = fma(-t, total, found[i]);
      }
    }
    for (uint32_t i = 0; i < own; ++i) sums_[word(width * qr_tile) + at(part_ * own + i)] = found[i];
    k_.barrier();
    std::vector<Value> all;
    for (uint32_t p = 0; p < width; ++p) all.push_back(sums_[word(width * qr_tile) + at(word(p))].get());
    return all;
  }

  Type type_;
  uint32_t width_;
  bool transposed_;
  uint32_t parts_;
  Builder k_;
  Array from_, to_, v_, t_, sums_;
  QrRows rows_;
  Value side_, part_, column_, count_, scale_, back_, seen_, known_;
};

}  // namespace
}  // namespace qr_applied

bool can_apply_qr(Type type, uint32_t width, const Limits& limits) {
  const uint32_t parts = qr_applied::parts_of(type);
  return qr_tile * parts <= limits.max_lanes &&
         uint64_t{parts} * width * qr_tile * size_of(type) <= limits.shared_bytes;
}

Program qr_apply(Type type, uint32_t width, bool transposed) {
  return qr_applied::Apply(type, width, transposed).build();
}

}  // namespace adit::ops
