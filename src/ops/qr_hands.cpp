#include "ops/qr_hands.hpp"

#include <algorithm>

#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"

namespace adit::ops {

using namespace kernel;

namespace qr_by_hands {
namespace {

constexpr uint32_t width = 16;  // columns of a panel
constexpr uint32_t apply_columns = 32, apply_parts = 8;
constexpr uint32_t smallest = 48;  // columns from which panels pay

enum Tensors : uint8_t { given, q_factor, r_factor, work, factors };

struct Shape {
  uint32_t m = 0, n = 0, lanes = 0, each = 0, subgroup = 0;
  uint32_t panels() const { return (std::min(m, n) + width - 1) / width; }
};

Shape shape_for(const FactorPlan& plan, const Limits& limits) {
  Shape shape{plan.m, plan.n, 0, 0, limits.subgroup_size};
  const uint32_t most = std::min(1024U, limits.max_lanes) / shape.subgroup * shape.subgroup;
  shape.lanes = std::min(most, (plan.m + shape.subgroup - 1) / shape.subgroup * shape.subgroup);
  shape.each = (plan.m + shape.lanes - 1) / shape.lanes;
  return shape;
}

// Factors the panel in `work` [m, n]: r on and above the diagonal, v below. t goes to `factors`, [width,
// width] a panel, upper triangular.
class Panel {
 public:
  Panel(const FactorPlan& plan, const Shape& shape)
      : shape_(shape), type_(plan.type), k_("qr_panel", Team::many(shape.lanes)) {
    const Array memory = k_.buffer("work", type_, Access::read_write);
    factors_ = k_.buffer("factors", type_, Access::write);
    start_ = k_.scalar("start", Type::u32);
    team_ = k_.team(Type::u64);
    h_ = {memory, team_ * (uint64_t{shape.m} * shape.n), shape.n, false};
  }

  Program build() {
    Hands hands(k_, type_, shape_.lanes, shape_.subgroup, 2 * width);
    alphas_ = k_.shared(type_, 1);
    t_ = k_.shared(type_, width * width);
    load(hands);
    for (uint32_t c = 0; c < width; ++c) column(hands, c);
    store();
    k_.barrier();
    const Value first =
        (team_ * shape_.panels() + convert(start_ / width, Type::u64)) * uint64_t{width * width};
    k_.for_(hands.lane(), word(width * width), word(shape_.lanes),
            [&](Value i) { factors_[first + convert(i, Type::u64)] = t_[i].get(); });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  const Variable& number(uint32_t e, uint32_t c) const { return numbers_[e * width + c]; }
  Value zero() { return k_.constant(type_, 0); }

  void load(const Hands& hands) {
    for (uint32_t e = 0; e < shape_.each; ++e) {
      rows_.push_back(start_ + hands.lane() + e * shape_.lanes);
      const Value inside = rows_[e] < shape_.m, safe = min(rows_[e], word(shape_.m - 1));
      for (uint32_t c = 0; c < width; ++c) {
        const Value column = start_ + c, exists = inside && column < shape_.n;
        const Value x = h_.get(safe, min(column, word(shape_.n - 1))).re;
        numbers_.push_back(k_.variable(select(exists, x, x.like(0))));
      }
    }
  }

  // Sums over the rows below the diagonal of column c: its own squares, and its products with the columns on
  // both sides, of which those on the left are reflections already. Scaled by the largest number, so that
  // squares neither overflow nor vanish.
  void column(Hands& hands, uint32_t c) {
    const Value diagonal = start_ + c;
    Value mine = zero();
    for (uint32_t e = 0; e < shape_.each; ++e)
      mine = max(mine, select(rows_[e] >= diagonal, abs(number(e, c).get()), zero()));
    for (uint32_t e = 0; e < shape_.each; ++e)
      k_.if_(rows_[e] == diagonal, [&] { alphas_[word(0)] = number(e, c).get(); });
    const Value largest = hands.largest(mine), safe = select(largest > 0, largest, largest.like(1));
    const Value alpha = select(diagonal < shape_.m, alphas_[word(0)].get(), zero());
    std::vector<Value> scaled;
    Value squares = zero();
    for (uint32_t e = 0; e < shape_.each; ++e) {
      scaled.push_back(select(rows_[e] > diagonal, number(e, c).get() / safe, zero()));
      squares = fma(scaled[e], scaled[e], squares);
    }
    const Value below = hands.sum(squares), top = alpha / safe;
    const Value norm = sqrt(fma(top, top, below)) * safe, is_done = below == 0;
    const Value beta = select(is_done, alpha, select(alpha < 0, norm, -norm));
    const Value tau = select(is_done, zero(), (beta - alpha) / select(is_done, beta.like(1), beta));
    const Value distance = alpha - beta;
    std::vector<Value> v;  // 1 on the diagonal, 0 above
    for (uint32_t e = 0; e < shape_.each; ++e) {
      const Value part =
          select(is_done, zero(), number(e, c).get() / select(is_done, distance.like(1), distance));
      v.push_back(select(rows_[e] == diagonal, part.like(1), select(rows_[e] > diagonal, part, zero())));
    }
    reflect(hands, c, v, tau);
    for (uint32_t e = 0; e < shape_.each; ++e)
      number(e, c) =
          select(rows_[e] == diagonal, beta, select(rows_[e] > diagonal, v[e], number(e, c).get()));
  }

  void reflect(Hands& hands, uint32_t c, const std::vector<Value>& v, Value tau) {
    std::vector<Value> products;
    for (uint32_t j = 0; j < width; ++j) {
      if (j == c) continue;
      Value sum = zero();
      for (uint32_t e = 0; e < shape_.each; ++e) {
        // A reflection on the left is 1 on its own diagonal, which lies above this column's.
        sum = fma(v[e], number(e, j).get(), sum);
      }
      products.push_back(sum);
    }
    const std::vector<Value> all = hands.sums(products);
    for (uint32_t j = c + 1; j < width; ++j) {
      const Value w = tau * all[j - 1];
      for (uint32_t e = 0; e < shape_.each; ++e) number(e, j) = fma(-w, v[e], number(e, j).get());
    }
    // t's column: -tau t (v's on the left times this one); the first lanes have a row each.
    k_.if_(hands.lane() < width, [&] {
      Value sum = zero();
      for (uint32_t j = 0; j < c; ++j)
        sum = fma(select(hands.lane() <= j, t_[hands.lane() * width + j].get(), zero()), all[j], sum);
      const Value row = hands.lane();
      t_[row * width + c] = select(row < c, -tau * sum, select(row == c, tau, zero()));
    });
  }

  void store() {
    for (uint32_t e = 0; e < shape_.each; ++e)
      k_.if_(rows_[e] < shape_.m, [&] {
        for (uint32_t c = 0; c < width; ++c)
          k_.if_(start_ + c < shape_.n, [&] {
            h_.put(rows_[e], start_ + c, {number(e, c).get(), number(e, c).get()});
          });
      });
  }

  const Shape& shape_;
  Type type_;
  Builder k_;
  Array factors_, alphas_, t_;
  Value start_, team_;
  MatrixView h_;
  std::vector<Value> rows_;
  std::vector<Variable> numbers_;
};

// Columns from `first` on of a matrix, reflected by a panel of `work`: x -= v (t^T or t) (v^T x). A team has
// some columns, its lanes parts of the rows.
class Apply {
 public:
  Apply(const FactorPlan& plan, const Shape& shape, uint32_t columns, bool to_work)
      : shape_(shape),
        columns_(columns),
        to_work_(to_work),
        type_(plan.type),
        k_(to_work ? "qr_apply" : "qr_form", Team::many(apply_columns * apply_parts)) {}

  Program build() {
    const Array h = k_.buffer("work", type_, to_work_ ? Access::read_write : Access::read);
    const Array to = to_work_ ? h : k_.buffer("q", type_, Access::read_write);
    const Array factors = k_.buffer("factors", type_, Access::read);
    start_ = k_.scalar("start", Type::u32);
    const Value first = k_.scalar("first", Type::u32), groups = k_.scalar("groups", Type::u32);
    const Value team = k_.team(Type::u64), many = convert(groups, Type::u64), matrix = team / many;
    const Value group = convert(team % many, Type::u32);
    v_ = {h, matrix * (uint64_t{shape_.m} * shape_.n), shape_.n, false};
    x_ = {to, matrix * (uint64_t{shape_.m} * columns_), columns_, false};
    const Value lane = k_.lane(), part = lane / apply_columns;
    column_ = first + group * apply_columns + lane % apply_columns;
    exists_ = column_ < columns_;
    safe_ = min(column_, word(columns_ - 1));
    const Array sums = k_.shared(type_, apply_parts * width * apply_columns),
                t = k_.shared(type_, width * width);
    const Value panel =
        (matrix * shape_.panels() + convert(start_ / width, Type::u64)) * uint64_t{width * width};
    t[lane] = factors[panel + convert(lane, Type::u64)].get();
    std::vector<Variable> mine;
    for (uint32_t c = 0; c < width; ++c) mine.push_back(k_.variable(type_, 0.0));
    k_.for_(start_ + part, word(shape_.m), word(apply_parts), [&](Value row) {
      const Value x = x_.get(row, safe_).re;
      for (uint32_t c = 0; c < width; ++c) mine[c] = fma(reflection(row, c), x, mine[c].get());
    });
    for (uint32_t c = 0; c < width; ++c)
      sums[(part * width + c) * apply_columns + lane % apply_columns] = mine[c].get();
    k_.barrier();
    std::vector<Value> total, w;
    for (uint32_t c = 0; c < width; ++c) {
      Value sum = sums[c * apply_columns + lane % apply_columns];
      for (uint32_t p = 1; p < apply_parts; ++p)
        sum = sum + sums[(p * width + c) * apply_columns + lane % apply_columns];
      total.push_back(sum);
    }
    // t is upper triangular; r is made with its transpose, q with itself.
    for (uint32_t c = 0; c < width; ++c) {
      Value sum = k_.constant(type_, 0);
      for (uint32_t j = to_work_ ? 0 : c; j < (to_work_ ? c + 1 : width); ++j)
        sum = fma(t[word(to_work_ ? j * width + c : c * width + j)].get(), total[j], sum);
      w.push_back(sum);
    }
    k_.for_(start_ + part, word(shape_.m), word(apply_parts), [&](Value row) {
      Value x = x_.get(row, safe_).re;
      for (uint32_t c = 0; c < width; ++c) x = fma(-reflection(row, c), w[c], x);
      k_.if_(exists_, [&] { x_.put(row, column_, {x, x}); });
    });
    return k_.finish();
  }

 private:
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  // Element of reflection c: 1 on the diagonal, 0 above, and none beyond the last column.
  Value reflection(Value row, uint32_t c) {
    const Value column = start_ + c, last = word(std::min(shape_.m, shape_.n) - 1);
    const Value x = v_.get(row, min(column, last)).re;
    return select(column > last, x.like(0),
                  select(row == column, x.like(1), select(row < column, x.like(0), x)));
  }

  const Shape& shape_;
  uint32_t columns_;
  bool to_work_;
  Type type_;
  Builder k_;
  Value start_, column_, exists_, safe_;
  MatrixView v_, x_;
};

// An invocation an element: `to` starts as the identity, r as the upper part of the work; work as x.
Program copied(const FactorPlan& plan) {
  Builder k("qr_begin", Team::one());
  const Array x = k.buffer("x", plan.type, Access::read), to = k.buffer("work", plan.type, Access::write);
  const Value at = k.team(Type::u64);
  to[at] = x[at].get();
  return k.finish();
}
Program identity(const FactorPlan& plan, uint32_t columns) {
  Builder k("qr_identity", Team::one());
  const Array to = k.buffer("q", plan.type, Access::write);
  const Value at = k.team(Type::u64), row = at / columns % plan.m, column = at % columns;
  to[at] = select(row == column, k.constant(plan.type, 1), k.constant(plan.type, 0));
  return k.finish();
}
Program upper(const FactorPlan& plan, uint32_t columns) {
  Builder k("qr_upper", Team::one());
  const Array h = k.buffer("work", plan.type, Access::read), to = k.buffer("r", plan.type, Access::write);
  const Value at = k.team(Type::u64), column = at % plan.n, row = at / plan.n % columns,
              matrix = at / plan.n / columns;
  const Value x = h[(matrix * plan.m + min(row, row.like(plan.m - 1))) * plan.n + column];
  to[at] = select(row > column, x.like(0), x);
  return k.finish();
}

}  // namespace
}  // namespace qr_by_hands

bool has_qr_by_hand(const FactorPlan& plan, const Limits& limits) {
  using namespace qr_by_hands;
  if (!plan.by_hand || plan.complex || !has_hands(limits) || std::min(plan.m, plan.n) < smallest)
    return false;
  const Shape shape = shape_for(plan, limits);
  const uint32_t words = static_cast<uint32_t>(size_of(plan.type)) / 4, room = shape.lanes > 512 ? 32 : 64;
  const uint64_t shared =
      (uint64_t{apply_parts} * width * apply_columns + width * width) * size_of(plan.type);
  return shape.each * width * words <= room && shared <= limits.shared_bytes &&
         apply_columns * apply_parts <= limits.max_lanes;
}

Factor qr_by_hand(const FactorPlan& plan, uint32_t columns, const Limits& limits) {
  using namespace qr_by_hands;
  const Shape shape = shape_for(plan, limits);
  const uint64_t number = size_of(plan.type), k = std::min(plan.m, plan.n);
  Factor made;
  made.scratch = {{plan.batch * plan.m * plan.n * number},
                  {plan.batch * shape.panels() * width * width * number}};
  made.programs = {
      copied(plan),         Panel(plan, shape).build(), Apply(plan, shape, plan.n, true).build(),
      upper(plan, columns), identity(plan, columns),    Apply(plan, shape, columns, false).build()};
  const auto groups = [](uint64_t left) {
    return static_cast<uint32_t>((left + apply_columns - 1) / apply_columns);
  };
  made.passes.push_back({0, plan.batch * plan.m * plan.n, {given, work}});
  for (uint32_t start = 0; start < k; start += width) {
    made.passes.push_back({1, plan.batch, {work, factors}, {start}});
    const uint32_t end = start + width;
    if (end < plan.n)
      made.passes.push_back(
          {2, plan.batch * groups(plan.n - end), {work, factors}, {start, end, groups(plan.n - end)}});
  }
  made.passes.push_back({3, plan.batch * columns * plan.n, {work, r_factor}});
  made.passes.push_back({4, plan.batch * plan.m * columns, {q_factor}});
  // From the last panel to the first: columns before a panel are those of the identity still.
  for (uint32_t panel = shape.panels(); panel-- > 0;) {
    const uint32_t start = panel * width;
    made.passes.push_back({5,
                           plan.batch * groups(columns - start),
                           {work, q_factor, factors},
                           {start, start, groups(columns - start)}});
  }
  return made;
}

}  // namespace adit::ops
