// Cholesky's factor in one launch, a team a tile. A team subtracts the products of the tiles left of its own
// and left of its column's square as soon as those are there; then it factors a square on the diagonal, or
// waits for the square of its column and solves its rows with it. Nobody waits for a whole column, as
// launches would: what is not on the way from one square to the next is done beside it.
//
// Teams take tickets, so that those a team waits for have begun. A row of tiles is finished from left to
// right, some columns at a time, and a word tells how many such parts are: the only thing that is waited for.
// So a square's first columns are used while its last ones are factored. Tiles travel through scratch, each
// by columns and at a multiple of vectors whatever the matrix's size, so that an odd size costs no more; rows
// beyond the last are there too, and nobody reads what they become.
#include "ops/cholesky_chain.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "ops/cholesky_rows.hpp"
#include "ops/factor_writer.hpp"
#include "ops/hands.hpp"
#include "ops/number_vectors.hpp"
#include "ops/waiting.hpp"

namespace adit::ops {

using namespace kernel;

namespace cholesky_chained {
namespace {

struct Sizes {
  uint32_t block = 0;                 // rows and columns of a tile
  uint32_t columns = 0;               // of it that are finished at a time
  uint32_t lanes_m = 0, lanes_n = 0;  // that share the results
  uint32_t depth = 0;                 // columns of a strip in shared memory
  uint32_t subgroup = 0;
  uint32_t lanes() const { return lanes_m * lanes_n; }
  uint32_t part_m() const { return block / lanes_m; }
  uint32_t part_n() const { return block / lanes_n; }
  uint32_t together() const { return std::min(subgroup, columns); }  // lanes that hold a square
  uint32_t parts() const { return block / columns; }                 // of a tile
  uint32_t each() const { return columns * block / lanes(); }        // columns of a lane, of one row
  uint32_t strip() const { return depth * block; }
  uint32_t stride(uint32_t count) const { return block + count; }  // against bank conflicts
  uint32_t numbers(uint32_t count) const { return std::max(4 * strip(), block * stride(count)); }
};

constexpr uint32_t first_word = 1;  // the word before counts tickets

class Chain {
 public:
  Chain(const FactorPlan& plan, const Sizes& sizes)
      : complex_(plan.complex),
        s_(sizes),
        vectors_(plan.type, plan.complex),
        count_(vectors_.count()),
        by_vectors_(plan.n % count_ == 0),
        stride_(sizes.stride(count_)),
        k_("cholesky_chain", Team::many(sizes.lanes())) {
    from_ = k_.buffer("from", plan.type, Access::read);
    l_ = k_.buffer("l", plan.type, Access::write);
    tiles_ = k_.buffer("tiles", plan.type, Access::read_write);
    words_ = k_.buffer("words", Type::u32, Access::read_write);
    n_ = k_.scalar("n", Type::u32);
    batch_ = k_.scalar("batch", Type::u32);
    memory_ = k_.shared(plan.type, s_.numbers(count_) * words());
    slab_ = k_.shared(plan.type, s_.block * s_.columns * words());
    inverses_ = k_.shared(plan.type, s_.columns);
    told_ = k_.shared(Type::u32, 2);
    number_ = k_.subgroup_number();
    inside_ = k_.subgroup_lane();
    lane_ = number_ * s_.subgroup + inside_;
    find_lane();
  }

  Program build() {
    take_ticket();
    k_.if_(i_ < high_, [&] { tile(); });
    return k_.finish();
  }

 private:
  static Value wide(Value x) { return convert(x, Type::u64); }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  uint32_t words() const { return complex_ ? 2 : 1; }

  // Lanes of a subgroup form a block about as wide as high (see matrix_update.cpp).
  void find_lane() {
    const uint32_t across = std::min(8U, s_.lanes_n), down = s_.subgroup / across;
    if (down < 2 || s_.lanes_n % across != 0 || s_.lanes_m % down != 0) {
      lane_m_ = lane_ / s_.lanes_n, lane_n_ = lane_ % s_.lanes_n;
      return;
    }
    const uint32_t blocks = s_.lanes_n / across;
    const Value right = (inside_ & 1) | (inside_ >> 2) % (across / 2) << 1;
    const Value below = (inside_ >> 1 & 1) | inside_ / (across * 2) << 1;
    lane_n_ = number_ % blocks * across + right;
    lane_m_ = number_ / blocks * down + below;
  }

  // Columns of tiles one after the other, the square first. Those that would lie below the last have nothing
  // to do.
  void take_ticket() {
    const Value ticket = ops::take_ticket(k_, words_, told_, lane_);
    high_ = (n_ + (s_.block - 1)) / s_.block;
    const Value of_column = high_ * batch_;
    j_ = ticket / of_column;
    matrix_ = ticket % of_column / high_;
    i_ = j_ + ticket % of_column % high_;
    matrix_first_ = wide(matrix_) * wide(n_) * wide(n_);
    const Value tiles = wide(high_) * wide(high_ + 1) / 2;
    first_of_i_ = wide(matrix_) * tiles + wide(i_) * wide(i_ + 1) / 2;
    first_of_j_ = wide(matrix_) * tiles + wide(j_) * wide(j_ + 1) / 2;
    k_.barrier();
  }

  // --- waiting and telling ---

  Value progress_of(Value row) { return matrix_ * high_ + row + first_word; }
  Value wait_for(Value row, Value least) {
    const Value seen = wait_for_words(
        k_, 1, [&](size_t) { return words_.atomic_or(progress_of(row), word(0)); },
        [&](Value progress) { return progress >= least; })[0];
    k_.fence();
    return seen;
  }
  // How many tiles of both rows are there, more than `used`: a lane looks for each.
  Value wait_for_more(Value used) {
    k_.if_(lane_ < 2, [&] { told_[lane_] = wait_for(select(lane_ == 0, i_, j_), used + 1); });
    k_.barrier();
    return min(min(told_[word(0)].get(), told_[word(1)].get()), j_ * s_.parts());
  }
  // How many parts of the row of the column's square are there, at least so many of the square's.
  Value wait_for_square(Value parts) {
    k_.if_(lane_ == 0, [&] { told_[word(0)] = wait_for(j_, j_ * s_.parts() + parts); });
    k_.barrier();
    return told_[word(0)];
  }
  // So many parts of the tile are there.
  void tell(Value parts) {
    k_.barrier();
    k_.if_(lane_ == 0, [&] {
      k_.fence();
      words_.atomic_exchange(progress_of(i_), j_ * s_.parts() + parts);
    });
  }

  // --- products ---

  Value own_row(uint32_t i) { return lane_m_ * count_ + (i / count_ * s_.lanes_m * count_ + i % count_); }
  Value own_column(uint32_t j) { return lane_n_ * count_ + (j / count_ * s_.lanes_n * count_ + j % count_); }
  Value at(Value row, Value column) { return matrix_first_ + wide(row) * wide(n_) + wide(column); }

  void load_results() {
    for (uint32_t i = 0; i < s_.part_m(); ++i) {
      const Value row = min(i_ * s_.block + own_row(i), n_ - 1);
      for (uint32_t j = 0; j < s_.part_n(); j += by_vectors_ ? count_ : 1) {
        const Value column = j_ * s_.block + own_column(j);
        if (by_vectors_) {
          const Value first = at(row, min(column, n_ - count_));
          for (const Number& x : vectors_.load(from_, count_ == 1 ? first : first / count_))
            sums_.emplace_back(k_, x, complex_);
        } else {
          sums_.emplace_back(k_, load_number(from_, at(row, min(column, n_ - 1)), complex_), complex_);
        }
      }
    }
  }

  // Strips of a row of tiles lie one after the other.
  using Loaded = std::vector<std::vector<Number>>;
  Loaded load_strip(Value first_tile, Value strip) {
    const uint32_t in_strip = s_.strip() / count_, in_tile = s_.block * s_.block / count_;
    const Value first = first_tile * in_tile + wide(strip) * in_strip;
    Loaded all;
    for (uint32_t e = 0; e < in_strip / s_.lanes(); ++e)
      all.push_back(vectors_.load(tiles_, first + wide(lane_ + e * s_.lanes())));
    return all;
  }
  void put_strip(Value place, const Loaded& all) {
    for (uint32_t e = 0; e < all.size(); ++e)
      vectors_.store(memory_, place / count_ + (lane_ + e * s_.lanes()), all[e]);
  }
  std::vector<Number> part_of(Value place, uint32_t step, Value lane, uint32_t lanes, uint32_t part) {
    std::vector<Number> numbers;
    for (uint32_t chunk = 0; chunk < part / count_; ++chunk) {
      const uint32_t past = (step * s_.block + chunk * lanes * count_) / count_;
      for (const Number& x : vectors_.load(memory_, place / count_ + lane + past)) numbers.push_back(x);
    }
    return numbers;
  }

  // Products of the parts from `first` to `end`. The next strips travel while lanes are busy with these.
  void subtract_products(Value first, Value end) {
    const uint32_t strips = s_.columns / s_.depth;
    const Value first_strip = first * strips, last_strip = end * strips - 1;
    const auto put = [&](Value stage, const Loaded& a, const Loaded& b) {
      put_strip(stage * (2 * s_.strip()), a);
      put_strip(stage * (2 * s_.strip()) + s_.strip(), b);
    };
    put(word(0), load_strip(first_of_i_, first_strip), load_strip(first_of_j_, first_strip));
    k_.barrier();
    k_.for_(first_strip, last_strip + 1, word(1), [&](Value strip) {
      const Value next = min(strip + 1, last_strip), stage = (strip - first_strip) & 1;
      const Loaded a = load_strip(first_of_i_, next), b = load_strip(first_of_j_, next);
      const Value place = stage * (2 * s_.strip());
      for (uint32_t step = 0; step < s_.depth; ++step) {
        const std::vector<Number> rows = part_of(place, step, lane_m_, s_.lanes_m, s_.part_m());
        const std::vector<Number> columns =
            part_of(place + s_.strip(), step, lane_n_, s_.lanes_n, s_.part_n());
        for (uint32_t i = 0; i < s_.part_m(); ++i)
          for (uint32_t j = 0; j < s_.part_n(); ++j)
            sums_[i * s_.part_n() + j].subtract(rows[i], conjugated(columns[j], complex_));
      }
      put(1 - stage, a, b);
      k_.barrier();
    });
  }

  // --- the tile itself, in shared memory by columns ---

  Number get(Value row, Value column) { return load_number(memory_, column * stride_ + row, complex_); }
  void set(Value row, Value column, const Number& x) {
    store_number(memory_, column * stride_ + row, x, complex_);
  }

  void tile() {
    load_results();
    const Variable used = k_.variable(word(0));
    k_.while_([&] { return used.get() < j_ * s_.parts(); },
              [&] {
                const Value there = wait_for_more(used.get());
                subtract_products(used.get(), there);
                used = there;
              });
    for (uint32_t i = 0; i < s_.part_m(); ++i)
      for (uint32_t j = 0; j < s_.part_n(); ++j)
        set(own_row(i), own_column(j), sums_[i * s_.part_n() + j].get());
    k_.barrier();
    k_.if_(
        i_ == j_, [&] { square(); }, [&] { rows(); });
  }

  // Some columns from `first` on, without the products of the tile's columns before. A lane has a row;
  // l(p, c): vectors of column p of the square, from its row first + c on.
  void bring_up_to_date(Value first, const std::function<std::vector<Number>(Value, Value)>& l) {
    const Value row = lane_ % s_.block, own = lane_ / s_.block * s_.each();
    std::vector<NumberSum> sums;
    for (uint32_t e = 0; e < s_.each(); ++e) sums.emplace_back(k_, get(row, first + own + e), complex_);
    constexpr uint32_t unrolled = 4;
    k_.for_(word(0), first, word(unrolled), [&](Value some) {
      for (uint32_t u = 0; u < unrolled; ++u) {
        const Number mine = get(row, some + u);
        for (uint32_t e = 0; e < s_.each(); e += count_) {
          const std::vector<Number> numbers = l(some + u, own + e);
          for (uint32_t i = 0; i < count_; ++i) sums[e + i].subtract(mine, conjugated(numbers[i], complex_));
        }
      }
    });
    for (uint32_t e = 0; e < s_.each(); ++e) set(row, first + own + e, sums[e].get());
  }

  void square() {
    k_.for_(word(0), word(s_.block), word(s_.columns), [&](Value first) {
      bring_up_to_date(first, [&](Value p, Value c) {
        return vectors_.load(memory_, p * (stride_ / count_) + (first + c) / count_);
      });
      k_.barrier();
      factor(first);
      k_.barrier();
      send_columns(first);
      tell(first / s_.columns + 1);
    });
    store([&](Value r, Value c, const Number& x) {
      const Value zero = x.re.like(0);
      return Number{select(c <= r, x.re, zero), select(c <= r, x.im, zero)};
    });
  }

  // Some columns of the tile to where others read them.
  void send_columns(Value first) {
    const uint32_t across = s_.block / count_, size = s_.columns * across;
    const Value to = (first_of_i_ + wide(j_)) * (s_.block * across) + wide(first * across);
    for (uint32_t e = 0; e < size / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes();
      const Value from = (first + v / across) * (stride_ / count_) + v % across;
      vectors_.store(tiles_, to + wide(v), vectors_.load(memory_, from));
    }
  }

  // Some columns, by subgroups with a row a lane; each factors the square of them for itself.
  void factor(Value first) {
    RowCholesky small(k_, s_.columns, s_.together(), complex_);
    const Value row = min(number_ * s_.subgroup + inside_, s_.block - 1);
    RowSets own, others;
    const auto read = [&](Value r) {
      std::vector<Number> all;
      for (uint32_t c = 0; c < s_.columns; ++c) all.push_back(get(r, first + c));
      return all;
    };
    const uint32_t sets = RowCholesky::sets(s_.columns, s_.together());
    for (uint32_t t = 0; t < sets; ++t) own.push_back(read(first + small.lane() + t * s_.together()));
    others.push_back(read(row));
    k_.barrier();
    k_.if_(number_ < (s_.block + s_.subgroup - 1) / s_.subgroup, [&] {
      small.factor(own, others);
      k_.if_(number_ == 0 && inside_ < s_.together(), [&] {
        for (uint32_t t = 0; t < sets; ++t)
          for (uint32_t c = 0; c < s_.columns; ++c)
            set(first + small.lane() + t * s_.together(), first + c, own[t][c]);
      });
      k_.if_(row >= first + s_.columns, [&] {
        for (uint32_t c = 0; c < s_.columns; ++c) set(row, first + c, others[0][c]);
      });
    });
  }

  // Rows of the column's square that the columns from `first` on need: numbers of a lane.
  std::vector<std::vector<Number>> load_slab(Value first) {
    const uint32_t across = s_.columns / count_, size = s_.block * across;
    const Value from = (first_of_j_ + wide(j_)) * (s_.block * s_.block / count_);
    std::vector<std::vector<Number>> all;
    for (uint32_t e = 0; e < size / s_.lanes(); ++e) {
      const Value v = lane_ + e * s_.lanes();
      const Value at = v / across * (s_.block / count_) + (first / count_ + v % across);
      all.push_back(vectors_.load(tiles_, from + wide(at)));
    }
    return all;
  }

  // x l^H = b with the column's square, a lane a row. Columns of the square are taken as they come, and those
  // that are there travel while lanes are busy with the ones before.
  void rows() {
    const Variable there = k_.variable(wait_for_square(word(1)));
    std::vector<NumberSum> next;
    for (const auto& some : load_slab(word(0)))
      for (const Number& x : some) next.emplace_back(k_, x, complex_);
    const auto load_next = [&](Value first) {
      const auto following = load_slab(first);
      for (uint32_t e = 0; e < following.size(); ++e)
        for (uint32_t i = 0; i < count_; ++i) next[e * count_ + i].set(following[e][i]);
    };
    k_.for_(word(0), word(s_.block), word(s_.columns), [&](Value first) {
      for (uint32_t e = 0; e < next.size() / count_; ++e) {
        std::vector<Number> some;
        for (uint32_t i = 0; i < count_; ++i) some.push_back(next[e * count_ + i].get());
        vectors_.store(slab_, lane_ + e * s_.lanes(), some);
      }
      k_.barrier();
      const Value part = first / s_.columns + 1, following = min(first + s_.columns, s_.block - s_.columns);
      const Value is_there = there.get() > j_ * s_.parts() + min(part, s_.parts() - 1);
      k_.if_(is_there, [&] { load_next(following); });
      k_.if_(lane_ < s_.columns, [&] {
        inverses_[lane_] = 1 / load_number(slab_, (first + lane_) * s_.columns + lane_, complex_).re;
      });
      bring_up_to_date(first,
                       [&](Value p, Value c) { return vectors_.load(slab_, (p * s_.columns + c) / count_); });
      k_.barrier();
      k_.if_(lane_ < s_.block, [&] { substitute(first); });
      tell(part);
      k_.if_(!is_there, [&] {
        there = wait_for_square(part + 1);
        load_next(following);
      });
    });
    store([](Value, Value, const Number& x) { return x; });
    store_zeros();
  }
  void substitute(Value first) {
    std::vector<Number> x;
    for (uint32_t c = 0; c < s_.columns; ++c) x.push_back(get(lane_, first + c));
    const Value to = (first_of_i_ + wide(j_)) * (s_.block * s_.block) + wide(first * s_.block + lane_);
    for (uint32_t c = 0; c < s_.columns; ++c) {
      x[c] = times_real(x[c], inverses_[word(c)].get(), complex_);
      set(lane_, first + c, x[c]);
      store_number(tiles_, to + uint64_t{c} * s_.block, x[c], complex_);
      for (uint32_t v = (c + 1) / count_; v < s_.columns / count_; ++v) {
        const auto column = vectors_.load(slab_, ((first + c) * s_.columns + v * count_) / count_);
        for (uint32_t i = std::max(v * count_, c + 1); i < (v + 1) * count_; ++i)
          subtract(x[i], x[c], column[i % count_]);
      }
    }
  }
  // y -= x l^*
  void subtract(Number& y, const Number& x, const Number& l) const {
    y.re = fma(-x.re, l.re, y.re);
    if (!complex_) return;
    y.re = fma(-x.im, l.im, y.re);
    y.im = fma(x.re, l.im, fma(-x.im, l.re, y.im));
  }

  // --- the factor in its place ---

  void store(const std::function<Number(Value, Value, const Number&)>& changed) {
    k_.for_(word(0), word(s_.block * s_.block), word(s_.lanes()), [&](Value some) {
      const Value v = lane_ + some, r = v / s_.block, c = v % s_.block;
      const Value row = i_ * s_.block + r, column = j_ * s_.block + c;
      k_.if_(row < n_ && column < n_,
             [&] { store_number(l_, at(row, column), changed(r, c, get(r, c)), complex_); });
    });
  }
  void store_zeros() {
    const Value zero = k_.constant(memory_.type(), 0);
    k_.for_(word(0), word(s_.block * s_.block), word(s_.lanes()), [&](Value some) {
      const Value v = lane_ + some;
      const Value row = j_ * s_.block + v / s_.block, column = i_ * s_.block + v % s_.block;
      k_.if_(column < n_, [&] { store_number(l_, at(row, column), {zero, zero}, complex_); });
    });
  }

  bool complex_;
  Sizes s_;
  NumberVectors vectors_;
  uint32_t count_;
  bool by_vectors_;
  uint32_t stride_;
  Builder k_;
  Array from_, l_, tiles_, words_, memory_, slab_, inverses_, told_;
  Value n_, batch_, number_, inside_, lane_, lane_m_, lane_n_;
  Value high_, matrix_, i_, j_, matrix_first_, first_of_i_, first_of_j_;
  std::vector<NumberSum> sums_;
};

uint64_t bytes_of(const FactorPlan& plan) { return size_of(plan.type) * (plan.complex ? 2 : 1); }

// Small subgroups are a software device's, which compiles long programs for minutes.
bool is_software(const Limits& limits) { return limits.subgroup_size < 16; }

Sizes sizes_for(const Limits& limits) {
  if (is_software(limits)) return {16, 8, 4, 4, 4, limits.subgroup_size};
  return {64, 16, 8, 16, 16, limits.subgroup_size};
}

Program clear() {
  Builder k("cholesky_clear", Team::one());
  const Array words = k.buffer("words", Type::u32, Access::write);
  words[k.team()] = 0;
  return k.finish();
}

}  // namespace
}  // namespace cholesky_chained

// On an H200, us by panels and so, telling whole tiles: f32 512 145 and 137, 1000 308 and 285, 2048 680 and
// 603, 4096 2005 and 1375; f64 200 127 and 131, 512 291 and 225, 4096 4013 and 2110; c64 200 225 and 144,
// 2048 2408 and 1404. Telling 16 columns: f32 1024 229, 4096 1195; f64 777 289 (before 395), 4096 1743; c64
// 777 348 (510).
bool does_cholesky_chain_pay(const FactorPlan& plan, const Limits& limits) {
  using namespace cholesky_chained;
  const Sizes s = sizes_for(limits);
  const uint64_t bytes = bytes_of(plan);
  const uint32_t count = NumberVectors(plan.type, plan.complex).count();
  const uint32_t few = is_software(limits) ? 16 : plan.complex ? 128 : 256;
  return has_hands(limits) && plan.n > few && s.lanes() <= limits.max_lanes && s.lanes() % s.subgroup == 0 &&
         (s.numbers(count) + s.block * s.columns + s.columns) * bytes + 8 <= limits.shared_bytes;
}

Factor cholesky_chain(const FactorPlan& plan, const Limits& limits) {
  using namespace cholesky_chained;
  Factor made;
  if (plan.n == 0 || plan.batch == 0) return made;
  const Sizes s = sizes_for(limits);
  const uint64_t high = (plan.n + s.block - 1) / s.block, words = first_word + plan.batch * high;
  made.scratch = {{plan.batch * high * (high + 1) / 2 * s.block * s.block * bytes_of(plan)}, {4 * words}};
  made.programs = {clear(), Chain(plan, s).build()};
  made.passes = {{0, words, {3}},
                 {1, plan.batch * high * high, {0, 1, 2, 3}, {plan.n, static_cast<uint32_t>(plan.batch)}}};
  return made;
}

}  // namespace adit::ops
