// The matrix and the vectors, multiplied by what turns the pairs of a round: a team a tile.
#include "ops/jacobi_blocks.hpp"

namespace adit::ops::jacobi_blocks {

using namespace kernel;

namespace tiles {
namespace {

// Results of a lane, both ways: of half the lanes, since fewer results for each would be bound by the reading
// of shared memory.
constexpr uint32_t part = 4;

uint32_t square_tiles(const Blocks& blocks) { return blocks.pairs() * (blocks.pairs() + 1) / 2; }

class Tile {
 public:
  explicit Tile(const Round& round)
      : round_(round), blocks_(round.blocks), block_(blocks_.block), k_(round.k), lane_(round.lane) {
    down_ = lane_ / across() * part;
    right_ = lane_ % across();
    multiplies_ = lane_ < block_ * block_ / 4;
  }

  void build(Value number) {
    const uint32_t pairs = blocks_.pairs(), squares = square_tiles(blocks_);
    const Value is_vector = number >= squares, rest = number - squares;
    place(number);
    row_ = select(is_vector, rest / pairs, row_);
    column_ = select(is_vector, rest % pairs, column_);
    const Value meet = round_.meeting_number();
    const Meeting rows = meeting(meet, column_, blocks_.count), other = meeting(meet, row_, blocks_.count);
    // Of vectors, columns are not in pairs.
    const Meeting columns = {select(is_vector, row_ * 2, other.first),
                             select(is_vector, row_ * 2 + 1, other.second)};
    k_.if_(
        !is_vector && row_ == column_, [&] { k_.if_(round_.number > 0, [&] { put_cross(rows); }); },
        [&] { multiply_both(is_vector, rows, columns); });
  }

 private:
  void multiply_both(Value is_vector, const Meeting& rows, const Meeting& columns) {
    for (int i = 0; i < 16; ++i) sums_.push_back(k_.variable(blocks_.type, 0.0));
    k_.if_(
        is_vector, [&] { load(round_.vectors, rows, columns); }, [&] { load(round_.from, rows, columns); });
    load_turns(column_);
    k_.barrier();
    k_.if_(multiplies_, [&] { multiply(); });
    k_.if_(
        is_vector, [&] { k_.if_(multiplies_, [&] { store(round_.vectors, rows, columns, false); }); },
        [&] {
          k_.barrier();
          k_.if_(multiplies_, [&] {
            for (uint32_t v = 0; v < part; ++v)
              round_.left.store((right_ * part + v) * (step() / part) + down_ / part,
                                k_.pack({sum(0, v), sum(1, v), sum(2, v), sum(3, v)}));
          });
          load_turns(row_);
          k_.barrier();
          k_.if_(multiplies_, [&] {
            for (const Variable& each : sums_) each = k_.constant(blocks_.type, 0);
            multiply();
            store(round_.to, columns, rows, false);
            store(round_.to, rows, columns, true);
          });
        });
  }

  uint32_t across() const { return 2 * block_ / part; }                   // vectors of 4 in a row of a tile
  uint32_t vectors() const { return block_ * block_ / blocks_.lanes(); }  // of a tile, for each lane
  uint32_t step() const { return round_.step(); }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value sum(uint32_t u, uint32_t v) const { return sums_[u * part + v]; }

  // Tiles on and above the diagonal: a long row of them and a short one have the same number together.
  void place(Value number) {
    const uint32_t pairs = blocks_.pairs(), odd = pairs % 2, width = pairs + 1 - odd;
    const Value a = number / width, b = number % width, is_long = odd ? b >= a : b > a;
    row_ = select(is_long, a, word(pairs - 1 + odd) - a);
    column_ = select(is_long, odd ? b : b - 1, word(pairs - 1) - b);
  }

  // The place, in vectors of 4, of a row and a column (in such vectors) of a tile.
  Value place_of(const Meeting& rows, const Meeting& columns, Value row, Value column) {
    const uint32_t in_block = block_ / part;
    const Value r = select(row < block_, rows.first * block_ + row, rows.second * block_ + (row - block_));
    const Value c = select(column < in_block, columns.first * in_block + column,
                           columns.second * in_block + (column - in_block));
    const uint64_t size = blocks_.size();
    return (round_.which * size + convert(r, Type::u64)) * (size / part) + convert(c, Type::u64);
  }

  void load(const Array& from, const Meeting& rows, const Meeting& columns) {
    for (uint32_t i = 0; i < vectors(); ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      round_.left.store(row * (step() / part) + column,
                        from.load_vector(place_of(rows, columns, row, column), 4));
    }
  }
  void load_turns(Value pair) {
    const Value from =
        (round_.which * blocks_.pairs() + convert(pair, Type::u64)) * uint64_t{block_ * block_};
    for (uint32_t i = 0; i < vectors(); ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      round_.right.store(row * (step() / part) + column,
                         round_.turns.load_vector(from + convert(e, Type::u64), 4));
    }
  }

  // The right tile, transposed, times the left one.
  void multiply() {
    constexpr uint32_t together = 4;
    k_.for_(word(0), word(2 * block_), word(together), [&](Value at) {
      for (uint32_t i = 0; i < together; ++i) {
        const Value row = (at + i) * (step() / part);
        const Value x = round_.right.load_vector(row + down_ / part, 4),
                    y = round_.left.load_vector(row + right_, 4);
        for (int u = 0; u < 4; ++u)
          for (int v = 0; v < 4; ++v) {
            const Variable& to = sums_[static_cast<size_t>(4 * u + v)];
            to = fma(x[u], y[v], to.get());
          }
      }
    });
  }

  void store(const Array& to, const Meeting& rows, const Meeting& columns, bool turned) {
    for (uint32_t u = 0; u < part; ++u) {
      const Value values = turned ? k_.pack({sum(0, u), sum(1, u), sum(2, u), sum(3, u)})
                                  : k_.pack({sum(u, 0), sum(u, 1), sum(u, 2), sum(u, 3)});
      const Value row = turned ? right_ * part + u : down_ + u, column = turned ? down_ / part : right_;
      to.store(place_of(rows, columns, row, column), values);
    }
  }

  // The block beside the diagonal is what the pair's team left, on both sides.
  void put_cross(const Meeting& who) {
    const uint64_t square = uint64_t{block_} * block_;
    const Value first = (round_.which * blocks_.pairs() + convert(row_, Type::u64)) * square;
    for (uint32_t i = 0; i < vectors(); ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / block_, column = e % block_;
      const Value x = who.first * block_ + row, y = who.second * block_ + column;
      const Value value = round_.cross[first + convert(e, Type::u64)];
      round_.to[round_.place_of(x, y)] = value;
      round_.to[round_.place_of(y, x)] = value;
    }
  }

  const Round& round_;
  const Blocks& blocks_;
  uint32_t block_;
  Builder& k_;
  Value lane_, row_, column_, down_, right_, multiplies_;
  std::vector<Variable> sums_;
};

}  // namespace
}  // namespace tiles

void multiply_tile(const Round& round, Value number) { tiles::Tile(round).build(number); }

uint32_t tiles_of(const Blocks& blocks) {
  return tiles::square_tiles(blocks) + blocks.pairs() * blocks.pairs();
}

}  // namespace adit::ops::jacobi_blocks
