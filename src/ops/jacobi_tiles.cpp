// The matrix and the vectors, multiplied by what turns the pairs of a round: a team a tile.
#include "ops/jacobi_blocks.hpp"

namespace adit::ops::jacobi_blocks {

using namespace kernel;

namespace tiles {
namespace {

constexpr uint32_t part = 4;  // results of a lane, both ways

class Apply {
 public:
  explicit Apply(const Blocks& blocks)
      : blocks_(blocks),
        block_(blocks.block),
        type_(blocks.type),
        k_("jacobi_apply", Team::many(blocks.lanes())) {
    matrix_ = k_.buffer("matrix", type_, Access::read_write);
    turns_ = k_.buffer("turns", type_, Access::read);
    vectors_ = k_.buffer("vectors", type_, Access::read_write);
    round_ = k_.scalar("round", Type::u32);
  }

  Program build() {
    const uint32_t pairs = blocks_.pairs(), squares = square_tiles();
    const Value team = k_.team(Type::u64), all = team.like(apply_teams(blocks_));
    which_ = team / all;
    first_ = which_ * (uint64_t{blocks_.size()} * blocks_.size());
    const Value number = convert(team % all, Type::u32), is_vector = number >= squares;
    const Value rest = number - squares;
    place(number, pairs);
    row_ = select(is_vector, rest / pairs, row_);
    column_ = select(is_vector, rest % pairs, column_);
    lane_ = k_.lane();
    down_ = lane_ / across() * part;
    right_ = lane_ % across();
    left_tile_ = k_.shared(type_, 2 * block_ * step());
    right_tile_ = k_.shared(type_, 2 * block_ * step());
    const Meeting rows = meeting(round_, column_, blocks_.count);
    const Meeting other = meeting(round_, row_, blocks_.count);
    // Of vectors, columns are not in pairs.
    const Meeting columns = {select(is_vector, row_ * 2, other.first),
                             select(is_vector, row_ * 2 + 1, other.second)};
    for (int i = 0; i < 16; ++i) sums_.push_back(k_.variable(type_, 0.0));
    k_.if_(
        is_vector, [&] { load(vectors_, rows, columns); }, [&] { load(matrix_, rows, columns); });
    load_turns(column_);
    k_.barrier();
    multiply();
    k_.if_(
        is_vector, [&] { store(vectors_, rows, columns, false); },
        [&] {
          k_.barrier();
          for (uint32_t v = 0; v < part; ++v)
            left_tile_.store((right_ * part + v) * (step() / part) + down_ / part,
                             k_.pack({sum(0, v), sum(1, v), sum(2, v), sum(3, v)}));
          load_turns(row_);
          for (const Variable& each : sums_) each = k_.constant(type_, 0);
          k_.barrier();
          multiply();
          k_.if_(
              row_ == column_, [&] { store_diagonal(columns); },
              [&] {
                store(matrix_, columns, rows, false);
                store(matrix_, rows, columns, true);
              });
        });
    return k_.finish();
  }

 private:
  uint32_t across() const { return 2 * block_ / part; }
  uint32_t step() const { return 2 * block_ + part; }  // elements from a row of a tile to the next
  uint32_t square_tiles() const { return blocks_.pairs() * (blocks_.pairs() + 1) / 2; }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value sum(uint32_t u, uint32_t v) const { return sums_[u * part + v]; }

  // Tiles on and above the diagonal: a long row of them and a short one have the same number together.
  void place(Value number, uint32_t pairs) {
    const uint32_t odd = pairs % 2, width = pairs + 1 - odd;
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
    return first_ / part + convert(r, Type::u64) * (blocks_.size() / part) + convert(c, Type::u64);
  }

  void load(const Array& from, const Meeting& rows, const Meeting& columns) {
    for (uint32_t i = 0; i < part; ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      left_tile_.store(row * (step() / part) + column,
                       from.load_vector(place_of(rows, columns, row, column), 4));
    }
  }
  void load_turns(Value pair) {
    const Value from = (which_ * blocks_.pairs() + convert(pair, Type::u64)) * uint64_t{block_ * block_};
    for (uint32_t i = 0; i < part; ++i) {
      const Value e = lane_ + i * blocks_.lanes(), row = e / across(), column = e % across();
      right_tile_.store(row * (step() / part) + column, turns_.load_vector(from + convert(e, Type::u64), 4));
    }
  }

  // The right tile, transposed, times the left one.
  void multiply() {
    constexpr uint32_t together = 4;
    k_.for_(word(0), word(2 * block_), word(together), [&](Value at) {
      for (uint32_t i = 0; i < together; ++i) {
        const Value row = (at + i) * (step() / part);
        const Value x = right_tile_.load_vector(row + down_ / part, 4),
                    y = left_tile_.load_vector(row + right_, 4);
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

  // What stands above the diagonal is put below it as well: rounding must not make both sides differ.
  void store_diagonal(const Meeting& who) {
    const Value down = down_ / part;
    k_.if_(down < right_, [&] {
      store(matrix_, who, who, false);
      store(matrix_, who, who, true);
    });
    k_.if_(down == right_, [&] {
      for (uint32_t u = 1; u < part; ++u)
        for (uint32_t v = 0; v < u; ++v) sums_[u * part + v] = sum(v, u);
      store(matrix_, who, who, false);
    });
  }

  const Blocks& blocks_;
  uint32_t block_;
  Type type_;
  Builder k_;
  Array matrix_, turns_, vectors_, left_tile_, right_tile_;
  Value round_, which_, first_, row_, column_, lane_, down_, right_;
  std::vector<Variable> sums_;
};

}  // namespace
}  // namespace tiles

Program apply_turns(const Blocks& blocks) { return tiles::Apply(blocks).build(); }

uint64_t apply_teams(const Blocks& blocks) {
  const uint64_t pairs = blocks.pairs();
  return pairs * (pairs + 1) / 2 + pairs * pairs;
}

}  // namespace adit::ops::jacobi_blocks
