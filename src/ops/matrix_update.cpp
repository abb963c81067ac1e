#include "ops/matrix_update.hpp"

#include <algorithm>
#include <vector>

#include "ops/factor_writer.hpp"
#include "ops/number_vectors.hpp"

namespace adit::ops {

using namespace kernel;

namespace matrix_update {
namespace {

using Numbers = std::vector<Number>;

// A strip of an operand in shared memory, step by step of the sum.
struct Strip {
  Array from, memory;
  bool along_steps;  // in its matrix, the numbers of a row (or column) of the product lie side by side
  uint32_t block, lanes, part, stride;
  Value leading;             // of the matrix
  std::vector<Value> bases;  // where this lane's accesses begin, for the first steps
};

class Update {
 public:
  Update(const UpdatePlan& plan, const UpdateTiles& tiles)
      : plan_(plan),
        t_(tiles),
        vectors_(plan.type, plan.complex),
        count_(vectors_.count()),
        k_("matrix_update", Team::many(tiles.lanes())),
        lane_(k_.lane()) {
    const Array a = k_.buffer("a", plan.type, Access::read), b = k_.buffer("b", plan.type, Access::read);
    from_ = k_.buffer("from", plan.type, Access::read);
    to_ = k_.buffer("c", plan.type, Access::write);
    if (plan.listed) list_ = k_.buffer("list", Type::u32, Access::read);
    for (Value* number : {&first_row_, &end_row_, &first_column_, &end_column_, &first_step_, &end_step_,
                          &a_rows_, &a_columns_, &b_rows_, &b_columns_, &c_rows_, &c_columns_})
      *number = k_.scalar("place", Type::u32);
    const bool turned_b = plan.turned_b || plan.hermitian;
    a_ = strip(a, !plan.turned_a, t_.block_m(), t_.lanes_m, t_.part_m, a_columns_);
    b_ = strip(b, turned_b, t_.block_n(), t_.lanes_n, t_.part_n, b_columns_);
    find_lane();
  }

  Program build() {
    find_tile();
    find_bases(a_, row_, end_row_, first_of(a_rows_, a_columns_), plan_.listed);
    find_bases(b_, column_, end_column_, first_of(b_rows_, b_columns_), false);
    load_results();
    sum();
    store_results();
    return k_.finish();
  }

 private:
  static Value wide(Value x) { return convert(x, Type::u64); }
  Value first_of(Value rows, Value columns) { return wide(batch_) * (wide(rows) * wide(columns)); }
  uint32_t words() const { return plan_.complex ? 2 : 1; }

  Strip strip(const Array& from, bool along_steps, uint32_t block, uint32_t lanes, uint32_t part,
              Value leading) {
    // Lanes that take vectors along the steps apart would meet the same banks.
    const uint32_t stride = block + (along_steps ? 4 : 0);
    return {from,        k_.shared(plan_.type, stride * t_.depth * words()),
            along_steps, block,
            lanes,       part,
            stride,      leading,
            {}};
  }

  // Lanes of a subgroup form a block about as wide as high, neighbours in a row and those two apart in a
  // column: they read few different numbers, and a GPU serves twice as many lanes at once.
  void find_lane() {
    const uint32_t across = std::min(8U, t_.lanes_n), down = t_.subgroup / across;
    if (down < 2 || t_.lanes_n % across != 0 || t_.lanes_m % down != 0) {
      lane_m_ = lane_ / t_.lanes_n, lane_n_ = lane_ % t_.lanes_n;
      return;
    }
    const Value inside = lane_ % t_.subgroup, block = lane_ / t_.subgroup;
    const uint32_t blocks = t_.lanes_n / across;
    const Value right = (inside & 1) | (inside >> 2) % (across / 2) << 1;
    const Value below = (inside >> 1 & 1) | inside / (across * 2) << 1;
    lane_n_ = block % blocks * across + right;
    lane_m_ = block / blocks * down + below;
  }

  void find_tile() {
    const Value team = k_.team();
    const Value high = (end_row_ - first_row_ + (t_.block_m() - 1)) / t_.block_m();
    const Value across = (end_column_ - first_column_ + (t_.block_n() - 1)) / t_.block_n();
    // Of square tiles on and below the diagonal, two columns of tiles together are as long as the longest.
    const Value each = plan_.hermitian ? high * (high + 1) / 2 : high * across;
    batch_ = team / each;
    const Value place = team % each;
    Value i = place % high, j = place / high;
    if (plan_.hermitian) {
      const Value both = high + 1, pair = place / both, along = place % both, length = high - pair;
      const Value is_first = along < length;
      j = select(is_first, pair, high - 1 - pair);
      i = j + select(is_first, along, along - length);
    }
    row_ = first_row_ + i * t_.block_m();
    column_ = first_column_ + j * t_.block_n();
  }

  Value listed(Value row) {
    return plan_.listed ? list_[wide(batch_) * wide(c_rows_) + wide(row)].get() : row;
  }
  uint32_t width() const { return plan_.by_vectors ? count_ : 1; }
  uint32_t accesses(const Strip& strip) const { return strip.block * t_.depth / width() / t_.lanes(); }

  // Which line (row of the strip) or step an access is of, and the first of its numbers along the other way.
  struct Place {
    Value across, step;
  };
  Place place_of(const Strip& strip, uint32_t e) const {
    const Value v = lane_ + e * t_.lanes();
    const uint32_t in_line = (strip.along_steps ? t_.depth : strip.block) / width();
    const Value line = v / in_line, within = v % in_line * width();
    return strip.along_steps ? Place{line, within} : Place{within, line};
  }

  // What lies beyond the end is read from the last place, and its results are not stored.
  void find_bases(Strip& strip, Value first, Value end, Value matrix, bool by_list) {
    for (uint32_t e = 0; e < accesses(strip); ++e) {
      const Place place = place_of(strip, e);
      const Value last = strip.along_steps ? end - 1 : end - width();
      Value line = min(first + place.across, last);
      if (by_list) line = listed(line);
      const Value step = first_step_ + place.step;
      const Value at = strip.along_steps ? wide(line) * wide(strip.leading) + wide(step)
                                         : wide(step) * wide(strip.leading) + wide(line);
      strip.bases.push_back(width() == 1 ? matrix + at : (matrix + at) / width());
    }
  }

  std::vector<Numbers> load(const Strip& strip, Value step) {
    const Value along = wide(step - first_step_);
    const Value past = strip.along_steps ? along : along * wide(strip.leading);
    std::vector<Numbers> all;
    for (const Value& base : strip.bases)
      all.push_back(width() == 1 ? Numbers{load_number(strip.from, base + past, plan_.complex)}
                                 : vectors_.load(strip.from, base + past / width()));
    return all;
  }

  void put(const Strip& strip, const std::vector<Numbers>& all) {
    for (uint32_t e = 0; e < all.size(); ++e) {
      const Place place = place_of(strip, e);
      const Value first = place.step * strip.stride + place.across;
      if (width() > 1 && !strip.along_steps) {
        vectors_.store(strip.memory, first / count_, all[e]);
        continue;
      }
      for (uint32_t i = 0; i < width(); ++i)
        store_number(strip.memory, first + i * (strip.along_steps ? strip.stride : 1), all[e][i],
                     plan_.complex);
    }
  }

  // A lane's numbers of one step.
  Numbers part_of(const Strip& strip, Value lane, uint32_t step) {
    Numbers numbers;
    for (uint32_t chunk = 0; chunk < strip.part / count_; ++chunk)
      for (const Number& x :
           vectors_.load(strip.memory, lane + (step * strip.stride / count_ + chunk * strip.lanes)))
        numbers.push_back(x);
    return numbers;
  }
  Value own_row(uint32_t i) {
    return row_ + lane_m_ * count_ + (i / count_ * t_.lanes_m * count_ + i % count_);
  }
  Value own_column(uint32_t j) {
    return column_ + lane_n_ * count_ + (j / count_ * t_.lanes_n * count_ + j % count_);
  }
  Value result_at(Value row, Value column) {
    return first_of(c_rows_, c_columns_) + wide(row) * wide(c_columns_) + wide(column);
  }

  void load_results() {
    for (uint32_t i = 0; i < t_.part_m; ++i) {
      rows_.push_back(listed(min(own_row(i), end_row_ - 1)));
      for (uint32_t j = 0; j < t_.part_n; j += width()) {
        const Value at = result_at(rows_[i], min(own_column(j), end_column_ - width()));
        const Numbers some = width() == 1 ? Numbers{load_number(from_, at, plan_.complex)}
                                          : vectors_.load(from_, at / width());
        for (const Number& x : some) sums_.emplace_back(k_, x, plan_.complex);
      }
    }
  }

  // The next strips travel to registers while products keep the lane busy, and a step's numbers are read from
  // shared memory during the step before, across the barriers too.
  void sum() {
    put(a_, load(a_, first_step_)), put(b_, load(b_, first_step_));
    k_.barrier();
    std::vector<Variable> kept;
    for (const Number& x : both(0)) {
      kept.push_back(k_.variable(x.re));
      if (plan_.complex) kept.push_back(k_.variable(x.im));
    }
    k_.for_(first_step_, end_step_, first_step_.like(t_.depth), [&](Value first) {
      // After the last steps these come once more, for nothing: cheaper than a branch.
      const Value next = min(first + t_.depth, end_step_ - t_.depth);
      const auto next_a = load(a_, next), next_b = load(b_, next);
      Numbers now;
      for (uint32_t i = 0; i < kept.size(); i += words())
        now.push_back({kept[i].get(), kept[i + words() - 1].get()});
      for (uint32_t step = 0; step < t_.depth; ++step) {
        if (step + 1 == t_.depth) {
          k_.barrier();
          put(a_, next_a), put(b_, next_b);
          k_.barrier();
        }
        const Numbers following = both((step + 1) % t_.depth);
        subtract(now);
        now = following;
      }
      for (uint32_t i = 0; i < now.size(); ++i) {
        kept[i * words()] = now[i].re;
        if (plan_.complex) kept[i * words() + 1] = now[i].im;
      }
    });
  }
  Numbers both(uint32_t step) {
    Numbers all = part_of(a_, lane_m_, step);
    for (const Number& x : part_of(b_, lane_n_, step))
      all.push_back(plan_.hermitian ? conjugated(x, plan_.complex) : x);
    return all;
  }
  // To and fro, so that each product shares an operand with the one before: registers are read less often.
  void subtract(const Numbers& now) {
    for (uint32_t i = 0; i < t_.part_m; ++i)
      for (uint32_t step = 0; step < t_.part_n; ++step) {
        const uint32_t j = i % 2 == 0 ? step : t_.part_n - 1 - step;
        sums_[i * t_.part_n + j].subtract(now[i], now[t_.part_m + j]);
      }
  }

  void store_results() {
    for (uint32_t i = 0; i < t_.part_m; ++i)
      k_.if_(own_row(i) < end_row_, [&] {
        for (uint32_t j = 0; j < t_.part_n; j += width()) store_some(i, j);
      });
  }
  void store_some(uint32_t i, uint32_t j) {
    const auto put_one = [&](uint32_t which) {
      const Value column = own_column(j + which);
      Value wanted = column < end_column_;
      if (plan_.hermitian) wanted = wanted && column <= own_row(i);
      k_.if_(wanted, [&] {
        store_number(to_, result_at(rows_[i], column), sums_[i * t_.part_n + j + which].get(), plan_.complex);
      });
    };
    const auto put_each = [&] {
      for (uint32_t which = 0; which < width(); ++which) put_one(which);
    };
    if (width() == 1) return put_each();
    Numbers some;
    for (uint32_t which = 0; which < width(); ++which) some.push_back(sums_[i * t_.part_n + j + which].get());
    const Value column = own_column(j), last = column + (width() - 1);
    const auto put_all = [&] { vectors_.store(to_, result_at(rows_[i], column) / width(), some); };
    if (plan_.hermitian)
      k_.if_(last <= own_row(i), put_all, put_each);
    else
      k_.if_(last < end_column_, put_all);
  }

  const UpdatePlan& plan_;
  UpdateTiles t_;
  NumberVectors vectors_;
  uint32_t count_;
  Builder k_;
  Value lane_, lane_m_, lane_n_, batch_, row_, column_;
  Value first_row_, end_row_, first_column_, end_column_, first_step_, end_step_;
  Value a_rows_, a_columns_, b_rows_, b_columns_, c_rows_, c_columns_;
  Array from_, to_, list_;
  Strip a_, b_;
  std::vector<Value> rows_;
  std::vector<NumberSum> sums_;
};

// As the matrix product's on an H200. Lanes of small subgroups are a software device's, which compiles long
// programs for minutes.
UpdateTiles tiles_for(const UpdatePlan& plan, const Limits& limits, bool large) {
  const uint32_t subgroup = limits.subgroup_size;
  if (subgroup < 16) return {4, 4, 4, 4, 4, subgroup};
  if (plan.complex) return {4, 4, 16, 16, update_depth, subgroup};
  return large ? UpdateTiles{8, 8, 16, 16, update_depth, subgroup}
               : UpdateTiles{8, 4, 8, 16, update_depth, subgroup};
}

uint64_t tiles_of(const UpdateTiles& t, const UpdateRanges& r, bool hermitian) {
  const uint64_t high = (r.end_row - r.first_row + t.block_m() - 1) / t.block_m();
  const uint64_t wide = (r.end_column - r.first_column + t.block_n() - 1) / t.block_n();
  return hermitian ? high * (high + 1) / 2 : high * wide;
}

}  // namespace
}  // namespace matrix_update

UpdatePlan update_of(const FactorPlan& plan, bool UpdatePlan::*kind) {
  UpdatePlan update{plan.type, plan.complex};
  update.*kind = true;
  update.by_vectors = plan.n % NumberVectors(plan.type, plan.complex).count() == 0;
  return update;
}

bool Updates::has(const UpdatePlan& plan, const Limits& limits) {
  const UpdateTiles t = matrix_update::tiles_for(plan, limits, true);
  const uint64_t number = kernel::size_of(plan.type) * (plan.complex ? 2 : 1);
  return limits.lanes_by_hand && t.lanes() <= limits.max_lanes &&
         t.depth * (t.block_m() + t.block_n() + 8) * number <= limits.shared_bytes;
}

Updates::Updates(Factor& made, const UpdatePlan& plan, const Limits& limits)
    : hermitian_(plan.hermitian),
      large_(matrix_update::tiles_for(plan, limits, true)),
      small_(matrix_update::tiles_for(plan, limits, false)),
      first_program_(static_cast<uint32_t>(made.programs.size())) {
  made.programs.push_back(matrix_update::Update(plan, large_).build());
  if (small_.block_m() != large_.block_m())
    made.programs.push_back(matrix_update::Update(plan, small_).build());
}

void Updates::append(Factor& made, const UpdateMatrices& m, const UpdateRanges& r, uint64_t batch,
                     std::vector<uint8_t> buffers) const {
  constexpr uint64_t enough = 224;  // large tiles that keep a large GPU busy, as of the matrix product
  const bool two = small_.block_m() != large_.block_m();
  const bool large = !two || batch * matrix_update::tiles_of(large_, r, hermitian_) >= enough;
  const uint64_t teams = batch * matrix_update::tiles_of(large ? large_ : small_, r, hermitian_);
  made.passes.push_back({first_program_ + (large ? 0 : 1),
                         teams,
                         std::move(buffers),
                         {r.first_row, r.end_row, r.first_column, r.end_column, r.first_step, r.end_step,
                          m.a.rows, m.a.columns, m.b.rows, m.b.columns, m.c.rows, m.c.columns}});
}

}  // namespace adit::ops
