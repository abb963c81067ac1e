// Transforms on a GPU: a team holds a tile of columns in registers, some butterflies a lane, and hands
// numbers over through shared memory between stages.
#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "ops/fft_numbers.hpp"
#include "ops/fft_pass.hpp"
#include "ops/fft_prime.hpp"

namespace adit::ops {

using namespace kernel;

namespace fft_teams {
namespace {

// Numbers of a team that goes along rows, and of one that goes across them, which wants more neighbours.
constexpr uint64_t row_tile = 2048, column_tile = 4096;
constexpr uint64_t most_team_lanes = 512;  // beyond which too few registers are left to each
constexpr uint64_t pad_every = 16, banks = 32;

struct Shape {
  uint64_t tile = 1;        // columns of a team
  uint64_t lanes = 1;       // of a team
  uint64_t pitch = 1;       // from column to column in shared memory
  bool padded = false;      // columns there
  bool both_parts = false;  // in shared memory at a time; else first the real ones, then the others
};

// Lanes put the results of the first stage as far apart as it has: those of 8, 16 or 32 would meet in few
// banks. Others are not worth what the places of padded numbers cost: 1000 rows of 5000 took 48 us on an H200
// with padding and 33 us without, 4096 of 1024 20 us with and 28 us without.
bool is_padded(const FftPass& pass) {
  return pass.radices.size() > 1 && std::gcd<uint64_t>(pass.radices.front(), banks) >= 8;
}

// Lanes that step from column to column touch different banks where columns lie banks / tile apart.
uint64_t pitch_of(const FftPass& pass, uint64_t tile, bool in_rows) {
  const uint64_t length = pass.length + (is_padded(pass) ? pass.length / pad_every : 0);
  const uint64_t wanted = std::max<uint64_t>(1, banks / tile);
  if (pass.length < banks) return length | 1;  // lanes have a column each
  return in_rows ? length : length + (wanted + banks - length % banks) % banks;
}

// Whether lanes should follow a column rather than step from column to column: not where enough columns lie
// beside each other in memory.
bool runs_along(const FftPass& pass, bool in) {
  uint64_t beside = 1;
  for (const FftAxis& axis : pass.columns) {
    if ((in ? axis.in : axis.out) != beside) break;
    beside *= axis.extent;
  }
  return (in ? pass.in : pass.out) == 1 || beside < fft_neighbours;
}

// What a team of so many lanes spends on its stages, in numbers of a lane times lanes that run or wait.
uint64_t held_in(uint64_t numbers, uint64_t lanes, uint32_t radix) {
  return (numbers / radix + lanes - 1) / lanes * radix;
}
double cost_of(const FftPass& pass, uint64_t numbers, uint64_t lanes) {
  constexpr uint64_t step = 32;
  uint64_t sum = 0;
  for (const uint32_t radix : pass.radices) sum += held_in(numbers, lanes, radix);
  return static_cast<double>(sum * ((lanes + step - 1) / step * step));
}
uint64_t largest_radix(const FftPass& pass) {
  return *std::max_element(pass.radices.begin(), pass.radices.end());
}

// Lanes of a team such that few of them wait in stages whose butterflies do not come out even: those of the
// first stage, unless others do so much less in vain that more numbers a lane are worth it.
uint64_t lanes_of(const FftPass& pass, uint64_t numbers, uint64_t most) {
  constexpr uint64_t step = 32;
  const uint64_t radix = largest_radix(pass), most_numbers = std::max<uint64_t>(18, radix);
  uint64_t best = std::clamp<uint64_t>((numbers + radix - 1) / radix, 1, most);
  for (uint64_t lanes = 2 * step; lanes <= most; lanes += step) {
    uint64_t held_at_once = 0;
    for (const uint32_t each : pass.radices)
      held_at_once = std::max(held_at_once, held_in(numbers, lanes, each));
    if (held_at_once <= most_numbers && cost_of(pass, numbers, lanes) < 0.9 * cost_of(pass, numbers, best))
      best = lanes;
  }
  return best;
}

// A lane has a whole large prime, so that few columns leave lanes of a subgroup idle: twice as many columns,
// and again, where that is worth it.
uint64_t more_columns(const FftPass& pass, uint64_t tile, uint64_t most_lanes,
                      const std::function<bool(uint64_t)>& fits) {
  constexpr uint64_t short_prime = 31;
  if (largest_radix(pass) <= short_prime) return tile;
  const auto cost = [&](uint64_t columns) {
    const uint64_t numbers = columns * pass.length;
    return cost_of(pass, numbers, lanes_of(pass, numbers, most_lanes)) / static_cast<double>(columns);
  };
  uint64_t best = tile;
  for (uint64_t next = 2 * tile; next <= 8 * tile && next <= pass.column_count() && fits(next); next *= 2)
    if (cost(next) < 0.9 * cost(best)) best = next;
  return best;
}

Shape shape_of(const FftPass& pass, uint64_t most_lanes, uint64_t shared_bytes) {
  Shape shape;
  const uint64_t n = pass.length, radix = largest_radix(pass);
  const bool in_rows = runs_along(pass, true) && runs_along(pass, false);
  const auto bytes = [&](uint64_t columns) {
    return columns * pitch_of(pass, columns, in_rows) * size_of(pass.type);
  };
  uint64_t tile = in_rows ? std::max<uint64_t>(1, row_tile / n) : std::max(fft_neighbours, column_tile / n);
  tile = std::min(std::bit_floor(tile), std::bit_ceil(pass.column_count()));
  const uint64_t lanes = std::min(most_lanes, most_team_lanes);
  while (tile > 1 && (tile * n > fft_tile || tile * n > lanes * 2 * radix)) tile /= 2;
  if (pass.radices.size() > 1)
    while (tile > 1 && bytes(tile) > shared_bytes) tile /= 2;
  shape.tile = more_columns(pass, tile, lanes, [&](uint64_t columns) {
    return columns * n <= fft_tile && 2 * bytes(columns) <= shared_bytes;
  });
  tile = shape.tile;
  shape.lanes = lanes_of(pass, tile * n, lanes);
  shape.pitch = pitch_of(pass, tile, in_rows);
  shape.padded = is_padded(pass);
  shape.both_parts = 2 * bytes(tile) <= shared_bytes;
  return shape;
}

class TeamWriter {
 public:
  TeamWriter(const FftPass& pass, const Shape& shape)
      : pass_(pass),
        shape_(shape),
        k_("fft_teams", Team::many(static_cast<uint32_t>(shape.lanes))),
        loose_(k_, pass.fused) {}

  FftLaunch launch() {
    from_ = k_.buffer("x", pass_.type, Access::read);
    to_ = k_.buffer("result", pass_.type, Access::write);
    if (pass_.is_convolved() || pass_.in_meets != Meets::nothing || pass_.out_meets != Meets::nothing)
      kernel_ = k_.buffer("kernel", pass_.type, Access::read);
    lane_ = k_.lane();
    first_ = k_.team(index_type()) * number(shape_.tile);
    if (pass_.radices.size() > 1) {
      const uint64_t length = shape_.tile * shape_.pitch;
      real_ = k_.shared(pass_.type, static_cast<uint32_t>(length));
      if (shape_.both_parts) imaginary_ = k_.shared(pass_.type, static_cast<uint32_t>(length));
    }
    std::vector<Butterfly> work = butterflies(0);
    if (pass_.prime > 0 && !pass_.of_chirp)
      load_by_exponents(work);
    else if (pass_.halves == FftPass::Halves::split)
      load_split(work);
    else
      load(work, pass_.radices.front());
    run_stages(work);
    if (pass_.is_convolved()) {
      // Back by the same transform, with parts that have changed places.
      for (Butterfly& b : work) multiply_by_kernel(b);
      std::vector<Butterfly> next = butterflies(0);
      exchange(work, next, pass_.radices.back(), pass_.radices.front(), last_done());
      work = std::move(next);
      run_stages(work);
    }
    if (pass_.prime > 0 && !pass_.of_chirp)
      store_by_exponents(work);
    else if (pass_.halves == FftPass::Halves::join)
      store_joined(work);
    else
      for (const Butterfly& b : work) store(b, pass_.radices.back(), last_done());
    return {k_.finish(), (pass_.column_count() + shape_.tile - 1) / shape_.tile};
  }

 private:
  using Meets = FftPass::Meets;
  // One small transform of a lane: which of a column's it is.
  struct Butterfly {
    Value along, column;  // of the tile
    Value is_there;       // where `is_sure` is false
    bool is_sure = true;
    std::vector<Complex> x;
  };
  static int64_t number(uint64_t n) { return static_cast<int64_t>(n); }
  Type index_type() const { return pass_.is_wide() ? Type::u64 : Type::u32; }
  Value index(Value small) const { return convert(small, index_type()); }

  // Lanes run along columns while memory does, else across them.
  bool runs_along_at(size_t stage) const {
    const bool is_last = stage + 1 == pass_.radices.size();
    if (is_last && stage == 0) return runs_along(pass_, true) && runs_along(pass_, false);
    return runs_along(pass_, !is_last);
  }

  std::vector<Butterfly> butterflies(size_t stage) {
    return shared_out(pass_.length / pass_.radices[stage], runs_along_at(stage));
  }
  // So many of each column.
  std::vector<Butterfly> shared_out(uint64_t a_column, bool along) {
    const uint64_t all = a_column * shape_.tile;
    std::vector<Butterfly> list;
    for (uint64_t first = 0; first < all; first += shape_.lanes) {
      Butterfly b;
      Value place = lane_ + number(first);
      b.is_sure = first + shape_.lanes <= all;
      if (!b.is_sure) {
        b.is_there = place < number(all);
        place = min(place, number(all - 1));
      }
      if (along) {
        b.along = place % number(a_column);
        b.column = place / number(a_column);
      } else {
        b.column = place % number(shape_.tile);
        b.along = place / number(shape_.tile);
      }
      list.push_back(std::move(b));
    }
    return list;
  }

  // --- Memory of all teams ---------------------------------------------------------------------------------
  struct Place {
    Value in, out, turn, number;  // the last: of the whole transform
  };
  bool has_rest() const { return pass_.column_count() % shape_.tile != 0; }
  Value last_column() const { return first_.like(number(pass_.column_count() - 1)); }
  Place place_of(const Butterfly& b) {
    Value column = first_ + index(b.column);
    if (has_rest()) column = min(column, last_column());
    Place place{column.like(0), column.like(0), column.like(0), column.like(0)};
    for (size_t i = 0; i < pass_.columns.size(); ++i) {
      const FftAxis& axis = pass_.columns[i];
      const bool is_last = i + 1 == pass_.columns.size();
      const Value own = is_last ? column : column % number(axis.extent);
      if (!is_last) column = column / number(axis.extent);
      place.in = place.in + own * number(axis.in);
      place.out = place.out + own * number(axis.out);
      place.turn = place.turn + own * number(axis.turn);
      place.number = place.number + own * number(axis.place);
    }
    return place;
  }

  void load(std::vector<Butterfly>& list, uint32_t radix) {
    const uint64_t apart = pass_.length / radix;
    for (Butterfly& b : list) {
      if (pass_.prime > 0) {
        load_powers(b, radix, apart);
        continue;
      }
      const Place place = place_of(b);
      const Value start = place.in + index(b.along) * number(pass_.in);
      for (uint32_t r = 0; r < radix; ++r) {
        if (pass_.chirp > 0) {
          b.x.push_back(convolved(b.along, r * apart, apart, place.in));
          continue;
        }
        const Value at = start + number(r * apart * pass_.in);
        if (pass_.in_meets != Meets::nothing) {
          b.x.push_back(met(at, place.number + index(b.along) * number(pass_.place_along), r * apart));
          continue;
        }
        const Value pair = from_.load_vector(at, 2);
        b.x.push_back(opened(pair, pass_.swap_in));
      }
    }
  }

  void store(const Butterfly& b, uint32_t radix, uint64_t done) {
    const Place place = place_of(b);
    std::vector<Complex> x = b.x;
    if (pass_.turns > 1) {
      const Complex base = turned(place.turn * index(b.along), pass_.turns, pass_.type, pass_.turns);
      const auto steps =
          turned_by_steps(place.turn * number(done), pass_.turns, radix, pass_.type, pass_.turns);
      for (uint32_t r = 0; r < radix; ++r) x[r] = x[r] * (r == 0 ? base : base * steps[r]);
    }
    const auto write = [&] {
      const Value start = place.out + index(b.along) * number(pass_.out);
      for (uint32_t r = 0; r < radix; ++r) {
        if (pass_.is_convolved()) {
          store_convolved(b, place.out, r, done);
          continue;
        }
        const Value at = start + number(r * done * pass_.out);
        const Value place_of_first = place.number + index(b.along) * number(pass_.place_along);
        if (pass_.out_meets != Meets::nothing)
          store_met(x[r], at, place_of_first, r * done);
        else
          to_.store(at, packed(closed(x[r], pass_.swap_out, pass_.scale)));
      }
    };
    where_it_exists(b, write);
  }
  void where_it_exists(const Butterfly& b, const std::function<void()>& write) {
    if (!has_rest()) return where_there(b, write);
    const Value exists = first_ + index(b.column) <= last_column();
    k_.if_(b.is_sure ? exists : exists && b.is_there, write);
  }

  // --- Convolutions with a chirp ---------------------------------------------------------------------------
  // exp(-pi i j^2 / n); squares of places in a team's columns have room in 32 bits.
  Complex chirp_at(Value j) const {
    const uint64_t turns = 2 * pass_.chirp;
    return turned(j * j % number(turns), turns, pass_.type, turns);
  }
  // Element `offset + along` of the column that is convolved, along < apart.
  Complex convolved(Value along, uint64_t offset, uint64_t apart, Value start) {
    const uint64_t n = pass_.chirp;
    const Complex zero{k_.constant(pass_.type, 0), k_.constant(pass_.type, 0)};
    const Value j = along + number(offset);
    if (pass_.of_chirp) {
      const Value distance = min(j, j.like(number(pass_.length)) - j), is_there = distance < number(n);
      const Complex c = chirp_at(distance);
      return {select(is_there, c.re, zero.re), select(is_there, -c.im, zero.im)};
    }
    if (offset >= n) return zero;
    const bool is_sure = offset + apart <= n;
    const Value safe = is_sure ? j : min(j, number(n - 1));
    const Value pair = from_.load_vector(start + index(safe) * number(pass_.in), 2);
    const Complex x = opened(pair, pass_.swap_in) * chirp_at(safe);
    if (is_sure) return x;
    const Value is_there = j < number(n);
    return {select(is_there, x.re, zero.re), select(is_there, x.im, zero.im)};
  }
  void multiply_by_kernel(Butterfly& b) {
    for (uint32_t r = 0; r < pass_.radices.back(); ++r) {
      const Value pair = kernel_.load_vector(b.along + number(r * last_done()), 2);
      Complex y = b.x[r] * opened(pair, false);
      if (pass_.prime > 0 && r == 0) y = with_first(b, y);
      b.x[r] = {y.im, y.re};
    }
  }
  void store_convolved(const Butterfly& b, Value start, uint32_t r, uint64_t done) {
    const uint64_t offset = r * done, n = pass_.chirp;
    if (offset >= n) return;
    const Value k = b.along + number(offset);
    const auto write = [&] {
      const Complex y = Complex{b.x[r].im, b.x[r].re} * chirp_at(k);
      to_.store(start + index(k) * number(pass_.out), packed(closed(y, pass_.swap_out, pass_.scale)));
    };
    offset + done <= n ? write() : k_.if_(k < number(n), write);
  }

  // --- Primes ----------------------------------------------------------------------------------------------
  // Of what the others are convolved with: numbers k = along + r apart, exp(-2 pi i g^-k / prime). The place
  // g^k is told its exponent.
  void load_powers(Butterfly& b, uint32_t radix, uint64_t apart) {
    const uint64_t p = pass_.prime, g = primitive_root(p), back = power_of(g, p - 2, p);
    const auto bits = static_cast<uint32_t>(std::bit_width(p));
    const Value place = power_of(g, b.along, bits, p), angle = power_of(back, b.along, bits, p);
    const auto further = [&](Value power, uint64_t base, uint64_t steps) {
      return power * number(power_of(base, steps, p)) % number(p);
    };
    for (uint32_t r = 0; r < radix; ++r) {
      where_there(b, [&] {
        to_[further(place, g, r * apart) + number(2 * pass_.length - 1)] =
            convert(b.along + number(r * apart), pass_.type);
      });
      b.x.push_back(turned(further(angle, back, r * apart), p, pass_.type, p));
    }
  }
  // Number 0 is added to all results, and the sum of all numbers is result 0.
  Complex with_first(const Butterfly& b, Complex y) {
    const Place place = place_of(b);
    const Complex first = opened(from_.load_vector(place.in, 2), pass_.swap_in);
    const Value is_first = b.along == 0;
    where_it_exists(b, [&] {
      k_.if_(is_first,
             [&] { to_.store(place.out, packed(closed(first + b.x[0], pass_.swap_out, pass_.scale))); });
    });
    return {select(is_first, y.re + first.re, y.re), select(is_first, y.im + first.im, y.im)};
  }
  Value exponent_of(const Butterfly& b) {
    return convert(kernel_.load(b.along + number(2 * pass_.length)), Type::u32);
  }
  // Numbers 1 to prime - 1 meet in shared memory, each at its exponent.
  void load_by_exponents(std::vector<Butterfly>& work) {
    std::vector<Butterfly> each = shared_out(pass_.length, runs_along(pass_, true));
    std::vector<Value> cells;
    for (Butterfly& b : each) {
      const Value at = place_of(b).in + (index(b.along) + 1) * number(pass_.in);
      b.x = {opened(from_.load_vector(at, 2), pass_.swap_in)};
      cells.push_back(cell(b, exponent_of(b), 0, false));
    }
    const auto put_each = [&](const Array& to, bool real) {
      for (size_t i = 0; i < each.size(); ++i)
        where_there(each[i], [&] { to[cells[i]] = real ? each[i].x[0].re : each[i].x[0].im; });
    };
    hand_to_first_stage(work, put_each);
  }
  // What `put` brings into shared memory, a part of the numbers at a time where there is room for one.
  void hand_to_first_stage(std::vector<Butterfly>& work, const std::function<void(const Array&, bool)>& put) {
    is_in_use_ = true;
    put(real_, true);
    if (shape_.both_parts) put(imaginary_, false);
    k_.barrier();
    take(work, real_, true, pass_.radices.front());
    if (!shape_.both_parts) {
      k_.barrier();
      put(real_, false);
      k_.barrier();
    }
    take(work, shape_.both_parts ? imaginary_ : real_, false, pass_.radices.front());
  }
  // Result m belongs to the place whose exponent is -m.
  void store_by_exponents(const std::vector<Butterfly>& work) {
    std::vector<Butterfly> each = shared_out(pass_.length, runs_along(pass_, false));
    const uint32_t radix = pass_.radices.back();
    std::vector<Value> cells;
    for (Butterfly& b : each) {
      const Value exponent = exponent_of(b);
      cells.push_back(
          cell(b, select(exponent == 0, exponent, exponent.like(number(pass_.length)) - exponent), 0, false));
      b.x.resize(1);
    }
    const auto take_each = [&](const Array& from, bool real) {
      for (size_t i = 0; i < each.size(); ++i) (real ? each[i].x[0].re : each[i].x[0].im) = from[cells[i]];
    };
    k_.barrier();
    put(work, real_, true, radix, last_done());
    if (shape_.both_parts) put(work, imaginary_, false, radix, last_done());
    k_.barrier();
    take_each(real_, true);
    if (!shape_.both_parts) {
      k_.barrier();
      put(work, real_, false, radix, last_done());
      k_.barrier();
    }
    take_each(shape_.both_parts ? imaginary_ : real_, false);
    for (const Butterfly& b : each)
      where_it_exists(b, [&] {
        const Complex y{b.x[0].im, b.x[0].re};
        to_.store(place_of(b).out + (index(b.along) + 1) * number(pass_.out),
                  packed(closed(y, pass_.swap_out, pass_.scale)));
      });
  }

  // --- Convolutions in several passes ----------------------------------------------------------------------
  Complex zero() { return {k_.constant(pass_.type, 0), k_.constant(pass_.type, 0)}; }
  // What the first pass transforms at place `first + offset along`.
  Complex met(Value at, Value first, uint64_t offset) {
    const Value place = first + number(offset * pass_.place_along);
    if (pass_.in_meets == Meets::chirp) {
      if (offset * pass_.place_along >= pass_.some) return zero();
      const Value is_there = place < number(pass_.some);
      const Complex c = opened(kernel_.load_vector(min(place, number(pass_.some - 1)), 2), false);
      const Value pair = from_.load_vector(select(is_there, at, at.like(0)), 2);
      const Complex x = opened(pair, pass_.swap_in) * c;
      return {select(is_there, x.re, zero().re), select(is_there, x.im, zero().im)};
    }
    const Value distance = min(place, place.like(number(pass_.all)) - place);
    const Complex c = opened(kernel_.load_vector(min(distance, number(pass_.some - 1)), 2), false);
    const Value is_there = distance < number(pass_.some);
    return {select(is_there, c.re, zero().re), select(is_there, -c.im, zero().im)};
  }
  void store_met(Complex x, Value at, Value first, uint64_t offset) {
    const Value place = first + number(offset * pass_.place_along);
    if (pass_.out_meets == Meets::transform) {
      const Complex y = x * opened(kernel_.load_vector(place, 2), false);
      return to_.store(at, packed({y.im, y.re}));
    }
    if (offset * pass_.place_along >= pass_.some) return;
    k_.if_(place < number(pass_.some), [&] {
      const Complex y = Complex{x.im, x.re} * opened(kernel_.load_vector(place, 2), false);
      to_.store(at, packed(closed(y, pass_.swap_out, pass_.scale)));
    });
  }

  // --- Halves of real numbers ------------------------------------------------------------------------------
  // Pairs of numbers k and length - k, 0 <= k <= length / 2, as butterflies of two.
  std::vector<Butterfly> mirrored_pairs() {
    std::vector<Butterfly> list = shared_out(pass_.length / 2 + 1, true);
    for (Butterfly& b : list) b.x.resize(2);
    return list;
  }
  Value other_end(const Butterfly& b) const { return b.along.like(number(pass_.length)) - b.along; }

  // The last stage's results meet in shared memory, and leave it in pairs.
  void store_joined(const std::vector<Butterfly>& work) {
    std::vector<Butterfly> pairs = mirrored_pairs();
    const uint32_t radix = pass_.radices.back();
    const auto take_pairs = [&](const Array& cells, bool real) {
      for (Butterfly& b : pairs) {
        const Value other = select(b.along == 0, b.along, other_end(b));
        for (const int i : {0, 1}) {
          const Value value = cells[cell(b, i == 0 ? b.along : other, 0, false)];
          (real ? b.x[static_cast<size_t>(i)].re : b.x[static_cast<size_t>(i)].im) = value;
        }
      }
    };
    if (is_in_use_) k_.barrier();
    put(work, real_, true, radix, last_done());
    if (shape_.both_parts) put(work, imaginary_, false, radix, last_done());
    k_.barrier();
    take_pairs(real_, true);
    if (!shape_.both_parts) {
      k_.barrier();
      put(work, real_, false, radix, last_done());
      k_.barrier();
    }
    take_pairs(shape_.both_parts ? imaginary_ : real_, false);
    for (const Butterfly& b : pairs) {
      const Place place = place_of(b);
      const auto write = [&] {
        const HalfPair made = fft_half_pair(b.x[0], b.x[1], b.along, 2 * pass_.length, false);
        to_.store(place.out + index(b.along), packed(made.low));
        to_.store(place.out + index(other_end(b)), packed(made.high));
      };
      where_it_exists(b, write);
    }
  }

  // Pairs are read from memory, and the first stage's numbers from shared memory.
  void load_split(std::vector<Butterfly>& work) {
    std::vector<Butterfly> pairs = mirrored_pairs();
    for (Butterfly& b : pairs) {
      const Place place = place_of(b);
      Complex low = opened(from_.load_vector(place.in + index(b.along), 2), false);
      Complex high = opened(from_.load_vector(place.in + index(other_end(b)), 2), false);
      const Value is_end = b.along == 0;  // of the ends only real parts count
      low.im = select(is_end, zero().im, low.im), high.im = select(is_end, zero().im, high.im);
      const HalfPair made = fft_half_pair(low, high, b.along, 2 * pass_.length, true);
      b.x = {made.low, made.high};
      if (pass_.swap_in)
        for (Complex& x : b.x) std::swap(x.re, x.im);
    }
    const auto put_pairs = [&](const Array& cells, bool real) {
      for (const Butterfly& b : pairs)
        where_there(b, [&] {
          cells[cell(b, b.along, 0, false)] = real ? b.x[0].re : b.x[0].im;
          k_.if_(b.along != 0,
                 [&] { cells[cell(b, other_end(b), 0, false)] = real ? b.x[1].re : b.x[1].im; });
        });
    };
    hand_to_first_stage(work, put_pairs);
  }

  // --- Between stages --------------------------------------------------------------------------------------
  uint64_t last_done() const { return pass_.length / pass_.radices.back(); }
  // From the first stage's numbers to the last one's results.
  void run_stages(std::vector<Butterfly>& work) {
    uint64_t done = 1;
    for (size_t s = 0; s < pass_.radices.size(); ++s) {
      if (s > 0) {
        std::vector<Butterfly> next = butterflies(s);
        exchange(work, next, pass_.radices[s - 1], pass_.radices[s], done);
        done *= pass_.radices[s - 1];
        work = std::move(next);
      }
      for (Butterfly& b : work) transform(b, pass_.radices[s], done);
    }
  }
  void transform(Butterfly& b, uint32_t radix, uint64_t done) {
    if (done > 1) {
      const auto turns = turned_by_steps(b.along % number(done), done * radix, radix, pass_.type, done);
      for (uint32_t r = 1; r < radix; ++r) b.x[r] = b.x[r] * turns[r];
    }
    b.x = small_fft(b.x);
  }

  void where_there(const Butterfly& b, const std::function<void()>& body) {
    b.is_sure ? body() : k_.if_(b.is_there, body);
  }
  // Where number `at + offset` of a column lies: where it is padded, every `pad_every` of them one cell is
  // left out, so that those that lanes touch at a time lie in different banks. `never_carries`: at %
  // pad_every + offset stays below it.
  Value cell(const Butterfly& b, Value at, uint64_t offset, bool never_carries) const {
    const Value column = b.column * number(shape_.pitch);
    if (!shape_.padded) return column + at + number(offset);
    if (never_carries) return column + at + at / number(pad_every) + number(offset);
    if (offset % pad_every == 0)
      return column + at + at / number(pad_every) + number(offset + offset / pad_every);
    const Value place = at + number(offset);
    return column + place + place / number(pad_every);
  }
  void put(const std::vector<Butterfly>& list, const Array& cells, bool real, uint32_t radix, uint64_t done) {
    const bool in_one = done == 1 && pad_every % radix == 0;
    for (const Butterfly& b : list)
      where_there(b, [&] {
        const Value own = done == 1 ? b.along.like(0) : b.along % number(done);
        const Value start = (b.along - own) * number(radix) + own;
        for (uint32_t r = 0; r < radix; ++r)
          cells[cell(b, start, r * done, in_one)] = real ? b.x[r].re : b.x[r].im;
      });
  }
  void take(std::vector<Butterfly>& list, const Array& cells, bool real, uint32_t radix) {
    const uint64_t apart = pass_.length / radix;
    for (Butterfly& b : list) {
      b.x.resize(radix);
      for (uint32_t r = 0; r < radix; ++r) {
        const Value value = cells[cell(b, b.along, r * apart, false)];
        (real ? b.x[r].re : b.x[r].im) = value;
      }
    }
  }
  // From the lanes of the stage before to those of this one.
  void exchange(const std::vector<Butterfly>& before, std::vector<Butterfly>& after, uint32_t left,
                uint32_t right, uint64_t done) {
    if (is_in_use_) k_.barrier();  // what the exchange before wrote has been read
    is_in_use_ = true;
    put(before, real_, true, left, done);
    if (shape_.both_parts) put(before, imaginary_, false, left, done);
    k_.barrier();
    take(after, real_, true, right);
    if (!shape_.both_parts) {
      k_.barrier();
      put(before, real_, false, left, done);
      k_.barrier();
    }
    take(after, shape_.both_parts ? imaginary_ : real_, false, right);
  }

  const FftPass& pass_;
  const Shape shape_;
  Builder k_;
  Loose loose_;
  Array from_, to_, kernel_, real_, imaginary_;
  bool is_in_use_ = false;  // shared memory
  Value lane_, first_;      // this lane, and the first column of the tile
};

}  // namespace
}  // namespace fft_teams

uint64_t fft_longest_in(uint64_t numbers) {
  const uint64_t most = numbers * fft_teams::pad_every / (fft_teams::pad_every + 1);
  return most > 2 * fft_teams::banks ? most - 2 * fft_teams::banks : 1;
}

FftLaunch fft_chirp(Type type, uint64_t n, bool fused) {
  constexpr uint32_t lanes = 128;
  Builder k("fft_chirp", Team::many(lanes));
  const Loose loose(k, fused);
  const Array to = k.buffer("chirp", type, Access::write);
  const auto count = static_cast<int64_t>(n);
  const Value j = convert(k.team(Type::u64), Type::i64) * int64_t{lanes} + convert(k.lane(), Type::i64);
  k.if_(j < count, [&] { to.store(j, packed(turned(j * j % (2 * count), 2 * n, type, 2 * n))); });
  FftLaunch launch{k.finish(), (n + lanes - 1) / lanes};
  launch.reads = false;
  return launch;
}

FftLaunch fft_in_teams(const FftPass& pass, uint32_t most_lanes, uint32_t shared_bytes) {
  return fft_teams::TeamWriter(pass, fft_teams::shape_of(pass, most_lanes, shared_bytes)).launch();
}

}  // namespace adit::ops
