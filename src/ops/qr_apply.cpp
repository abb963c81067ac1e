// A block's reflections on other columns, x - v (t (v^H x)), in one pass: a lane has a column and some of the
// rows, and all of a column's products with v in registers. Lanes side by side read the same of v at the same
// time, which costs them one access. Columns near the ends of the range are scaled, so that no product with v
// vanishes: there are devices that take subnormal numbers for zero.
#include <algorithm>
#include <vector>

#include "ops/factor_writer.hpp"
#include "ops/number_vectors.hpp"
#include "ops/qr_level.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_applied {
namespace {

// Lanes that have the same column. Their sums pass through shared memory, those of some at a time. On an H200
// c64 of 777 x 777 took 5.2 ms with tiles of 32 columns and 4 lanes for each, 4.4 with 8 lanes; 3.4 with
// tiles of 16 and 16 lanes (and other panels), 3.3 with 32, 3.0 with tiles of 8 and 32 lanes; f64 4.3, 3.6;
// 2.8, 3.0, 2.4. Small subgroups are a software device's, which compiles long programs for minutes.
uint32_t parts_of(uint32_t width, const Limits& limits) {
  uint32_t parts = std::min(width, limits.subgroup_size < 16 ? 4U : 32U);
  while (parts > 1 && parts * qr_tile > limits.max_lanes) parts /= 2;
  return parts;
}
uint64_t bytes_of_part(const FactorPlan& plan, uint32_t width) {
  return uint64_t{width} * qr_tile * size_of(plan.type) * (plan.complex ? 2 : 1);
}
// Two at least: sums and what becomes of them lie beside each other.
uint32_t shared_parts_of(const FactorPlan& plan, uint32_t width, const Limits& limits) {
  constexpr uint64_t room = 32768;
  uint32_t parts = std::max(2U, parts_of(width, limits));
  while (parts > 2 && parts * bytes_of_part(plan, width) > room) parts /= 2;
  return parts;
}

class Apply {
 public:
  Apply(const FactorPlan& plan, uint32_t width, bool transposed, const Limits& limits)
      : type_(plan.type),
        complex_(plan.complex),
        width_(width),
        transposed_(transposed),
        parts_(parts_of(width, limits)),
        shared_parts_(shared_parts_of(plan, width, limits)),
        vectors_(plan.type, plan.complex),
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
    sums_ = k_.shared(type_, shared_parts_ * width * qr_tile * (complex_ ? 2 : 1));
  }

  Program build() {
    count_ = rows_.count();
    first_v_ = rows_.v_row() * uint64_t{width_ / vectors_.count()};
    std::vector<NumberSum> along;
    for (uint32_t p = 0; p < width_; ++p) along.push_back(nothing());
    const Variable largest = k_.variable(type_, 0.0);
    const auto sum = [&](const std::function<Number(Number)>& prepared) {
      each_row([&](const std::vector<Value>& r) {
        std::vector<Number> x;
        for (const Value& one : r) x.push_back(prepared(before(one)));
        for (size_t i = 0; i < r.size(); ++i) {
          const std::vector<Number> v = v_of(r[i]);
          for (uint32_t p = 0; p < width_; ++p)
            along[p].set(plus_product(conjugated(v[p], complex_), x[i], along[p].get(), complex_));
        }
      });
    };
    sum([&](Number x) {
      if (transposed_) largest = max(largest.get(), complex_ ? max(abs(x.re), abs(x.im)) : abs(x.re));
      return x;
    });
    if (transposed_) {
      choose_scale(largest.get());
      k_.if_(scale_ != 1, [&] {
        for (const NumberSum& one : along) one.set(zero_like(one.get()));
        sum([&](Number x) { return times_real(x, scale_, complex_); });
      });
    }
    subtract(weights(along));
    return k_.finish();
  }

 private:
  void subtract(const std::vector<Number>& w) {
    each_row([&](const std::vector<Value>& r) {
      std::vector<Number> x;
      for (const Value& one : r) x.push_back(before(one));
      for (size_t i = 0; i < r.size(); ++i) {
        const std::vector<Number> v = v_of(r[i]);
        if (transposed_) x[i] = times_real(x[i], scale_, complex_);
        for (uint32_t p = 0; p < width_; ++p) x[i] = plus_product(v[p], w[p], x[i], complex_);
        if (transposed_) x[i] = times_real(x[i], back_, complex_);
        k_.if_(rows_.of(r[i]) < rows_.m && column_ < rows_.columns,
               [&] { store_number(to_, place(r[i]), x[i], complex_); });
      }
    });
  }
  std::vector<Number> v_of(Value r) {
    std::vector<Number> all;
    const uint32_t count = width_ / vectors_.count();
    const Value at = first_v_ + convert(r * count, Type::u64);
    for (uint32_t p = 0; p < count; ++p)
      for (const Number& x : vectors_.load(v_, at + uint64_t{p})) all.push_back(x);
    return all;
  }
  NumberSum nothing() {
    const Value zero = k_.constant(type_, 0);
    return {k_, {zero, zero}, complex_};
  }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value place(Value r) { return rows_.place(min(rows_.of(r), rows_.m - 1), min(column_, rows_.columns - 1)); }
  // q is the identity where no pass has written it yet.
  Number before(Value r) {
    const Number x = load_number(from_, place(r), complex_);
    if (transposed_) return x;
    const Value row = rows_.of(r), is_written = r < seen_ || (row >= known_ && column_ >= known_);
    const Value one = select(row == column_, x.re.like(1), x.re.like(0));
    return chosen(row < rows_.m && is_written, x, {one, x.re.like(0)}, complex_);
  }
  // This lane's rows, some at a time; v has zeros where there are no more, up to a multiple of 32.
  void each_row(const std::function<void(const std::vector<Value>&)>& f) {
    const uint32_t together = std::min(4U, 32 / parts_);  // whose numbers are on their way
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

  // -t (v^H x) or -t^H (v^H x) of this lane's column.
  std::vector<Number> weights(const std::vector<NumberSum>& along) {
    const uint32_t width = width_, own = width / parts_;
    const auto at = [&](Value p) { return p * qr_tile + side_; };
    const auto get = [&](Value place) { return load_number(sums_, place, complex_); };
    const auto put = [&](Value place, Number x) { store_number(sums_, place, x, complex_); };
    const auto put_all = [&](Value slot) {
      for (uint32_t p = 0; p < width; ++p) put(slot * (width * qr_tile) + at(word(p)), along[p].get());
    };
    // The later half hands its sums over, as long as not all have room; some by some, where that half has
    // none.
    for (uint32_t left = parts_; left > shared_parts_; left /= 2)
      for (uint32_t first = left / 2; first < left; first += shared_parts_) {
        const uint32_t end = std::min(left, first + shared_parts_);
        k_.if_(part_ >= first && part_ < end, [&] { put_all(part_ - first); });
        k_.barrier();
        const uint32_t to = first - left / 2;
        k_.if_(part_ >= to && part_ < to + (end - first), [&] {
          for (uint32_t p = 0; p < width; ++p)
            along[p].set(
                sum_of(along[p].get(), get((part_ - to) * (width * qr_tile) + at(word(p))), complex_));
        });
        k_.barrier();
      }
    k_.if_(part_ < shared_parts_, [&] { put_all(part_); });
    k_.barrier();
    std::vector<Number> totals;
    for (uint32_t i = 0; i < own; ++i) {
      const Value p = part_ * own + i;
      Number sum = get(at(p));
      for (uint32_t other = 1; other < std::min(parts_, shared_parts_); ++other)
        sum = sum_of(sum, get(at(p) + other * (width * qr_tile)), complex_);
      totals.push_back(sum);
    }
    k_.barrier();
    for (uint32_t i = 0; i < own; ++i) put(at(part_ * own + i), totals[i]);
    k_.barrier();
    const Value first_t = rows_.t_number() * uint64_t{width * width};
    std::vector<Number> found(own, nothing().get());
    for (uint32_t j = 0; j < width; ++j) {
      const Number total = get(at(word(j)));
      for (uint32_t i = 0; i < own; ++i) {
        const Value p = part_ * own + i, place = transposed_ ? word(j * width) + p : p * width + j;
        const Number t = load_number(t_, first_t + convert(place, Type::u64), complex_);
        found[i] = plus_product(opposite(conjugated(t, complex_ && transposed_)), total, found[i], complex_);
      }
    }
    for (uint32_t i = 0; i < own; ++i) put(at(part_ * own + i) + width * qr_tile, found[i]);
    k_.barrier();
    std::vector<Number> all;
    for (uint32_t p = 0; p < width; ++p) all.push_back(get(at(word(p)) + width * qr_tile));
    return all;
  }

  Type type_;
  bool complex_;
  uint32_t width_;
  bool transposed_;
  uint32_t parts_, shared_parts_;
  NumberVectors vectors_;
  Builder k_;
  Array from_, to_, v_, t_, sums_;
  QrRows rows_;
  Value side_, part_, column_, count_, first_v_, scale_, back_, seen_, known_;
};

}  // namespace
}  // namespace qr_applied

bool can_apply_qr(const FactorPlan& plan, uint32_t width, const Limits& limits) {
  using namespace qr_applied;
  return qr_tile * parts_of(width, limits) <= limits.max_lanes &&
         shared_parts_of(plan, width, limits) * bytes_of_part(plan, width) <= limits.shared_bytes;
}

Program qr_apply(const FactorPlan& plan, uint32_t width, bool transposed, const Limits& limits) {
  return qr_applied::Apply(plan, width, transposed, limits).build();
}

}  // namespace adit::ops
