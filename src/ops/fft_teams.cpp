// Transforms on a GPU: a team holds a tile of columns in registers, some butterflies a lane, and hands
// numbers over through shared memory between stages.
#include <algorithm>
#include <bit>
#include <functional>

#include "ops/fft_numbers.hpp"
#include "ops/fft_pass.hpp"

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
  bool both_parts = false;  // in shared memory at a time; else first the real ones, then the others
};

// Lanes that step from column to column touch different banks where columns lie banks / tile apart.
uint64_t pitch_of(uint64_t length, uint64_t tile, bool in_rows) {
  const uint64_t padded = length + length / pad_every, wanted = std::max<uint64_t>(1, banks / tile);
  return in_rows ? padded : padded + (wanted + banks - padded % banks) % banks;
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

Shape shape_of(const FftPass& pass, uint64_t most_lanes, uint64_t shared_bytes) {
  Shape shape;
  const uint64_t n = pass.length, radix = pass.radices.front();
  const bool in_rows = runs_along(pass, true) && runs_along(pass, false);
  const auto bytes = [&](uint64_t columns) {
    return columns * pitch_of(n, columns, in_rows) * size_of(pass.type);
  };
  uint64_t tile = in_rows ? std::max<uint64_t>(1, row_tile / n) : std::max(fft_neighbours, column_tile / n);
  tile = std::min(std::bit_floor(tile), std::bit_ceil(pass.column_count()));
  const uint64_t lanes = std::min(most_lanes, most_team_lanes);
  while (tile > 1 && (tile * n > fft_tile || tile * n > lanes * 2 * radix)) tile /= 2;
  if (pass.radices.size() > 1)
    while (tile > 1 && bytes(tile) > shared_bytes) tile /= 2;
  shape.tile = tile;
  shape.lanes = std::clamp<uint64_t>((tile * n + radix - 1) / radix, 1, lanes);
  shape.pitch = pitch_of(n, tile, in_rows);
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
    if (pass_.chirp > 0 && !pass_.of_chirp) kernel_ = k_.buffer("kernel", pass_.type, Access::read);
    lane_ = k_.lane();
    first_ = k_.team(index_type()) * number(shape_.tile);
    if (pass_.radices.size() > 1) {
      const uint64_t length = shape_.tile * shape_.pitch;
      real_ = k_.shared(pass_.type, static_cast<uint32_t>(length));
      if (shape_.both_parts) imaginary_ = k_.shared(pass_.type, static_cast<uint32_t>(length));
    }
    std::vector<Butterfly> work = butterflies(0);
    load(work, pass_.radices.front());
    run_stages(work);
    if (pass_.chirp > 0 && !pass_.of_chirp) {
      // Back by the same transform, with parts that have changed places.
      for (Butterfly& b : work) multiply_by_kernel(b);
      std::vector<Butterfly> next = butterflies(0);
      exchange(work, next, pass_.radices.back(), pass_.radices.front(), last_done());
      work = std::move(next);
      run_stages(work);
    }
    for (const Butterfly& b : work) store(b, pass_.radices.back(), last_done());
    return {k_.finish(), (pass_.column_count() + shape_.tile - 1) / shape_.tile};
  }

 private:
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
    const uint64_t a_column = pass_.length / pass_.radices[stage], all = a_column * shape_.tile;
    std::vector<Butterfly> list;
    for (uint64_t first = 0; first < all; first += shape_.lanes) {
      Butterfly b;
      Value place = lane_ + number(first);
      b.is_sure = first + shape_.lanes <= all;
      if (!b.is_sure) {
        b.is_there = place < number(all);
        place = min(place, number(all - 1));
      }
      if (runs_along_at(stage)) {
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
    Value in, out, turn;
  };
  bool has_rest() const { return pass_.column_count() % shape_.tile != 0; }
  Value last_column() const { return first_.like(number(pass_.column_count() - 1)); }
  Place place_of(const Butterfly& b) {
    Value column = first_ + index(b.column);
    if (has_rest()) column = min(column, last_column());
    Place place{column.like(0), column.like(0), column.like(0)};
    for (size_t i = 0; i < pass_.columns.size(); ++i) {
      const FftAxis& axis = pass_.columns[i];
      const bool is_last = i + 1 == pass_.columns.size();
      const Value own = is_last ? column : column % number(axis.extent);
      if (!is_last) column = column / number(axis.extent);
      place.in = place.in + own * number(axis.in);
      place.out = place.out + own * number(axis.out);
      place.turn = place.turn + own * number(axis.turn);
    }
    return place;
  }

  void load(std::vector<Butterfly>& list, uint32_t radix) {
    const uint64_t apart = pass_.length / radix;
    for (Butterfly& b : list) {
      const Place place = place_of(b);
      const Value start = place.in + index(b.along) * number(pass_.in);
      for (uint32_t r = 0; r < radix; ++r) {
        if (pass_.chirp > 0) {
          b.x.push_back(convolved(b.along, r * apart, apart, place.in));
          continue;
        }
        const Value at = start + number(r * apart * pass_.in);
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
        if (pass_.chirp > 0 && !pass_.of_chirp) {
          store_convolved(b, place.out, r, done);
          continue;
        }
        const Value at = start + number(r * done * pass_.out);
        to_.store(at, packed(closed(x[r], pass_.swap_out, pass_.scale)));
      }
    };
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
      const Complex y = b.x[r] * opened(pair, false);
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
  // Where number `at + offset` of a column lies: every `pad_every` of them one cell is left out, so that
  // those that lanes touch at a time lie in different banks. `never_carries`: at % pad_every + offset stays
  // below it.
  Value cell(const Butterfly& b, Value at, uint64_t offset, bool never_carries) const {
    const Value column = b.column * number(shape_.pitch);
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

FftLaunch fft_in_teams(const FftPass& pass, uint32_t most_lanes, uint32_t shared_bytes) {
  return fft_teams::TeamWriter(pass, fft_teams::shape_of(pass, most_lanes, shared_bytes)).launch();
}

}  // namespace adit::ops
