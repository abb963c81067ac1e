#include "ops/jacobi_by_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "ops/factor_product.hpp"
#include "ops/factor_writer.hpp"
#include "ops/jacobi_blocks.hpp"
#include "ops/jacobi_products.hpp"
#include "ops/matrix_scale.hpp"

namespace adit::ops {

using namespace kernel;

namespace jacobi_by_blocks {
namespace {

using jacobi_blocks::Blocks;
using jacobi_blocks::Phase;
using jacobi_blocks::State;

constexpr uint32_t most_sweeps = 30;  // eight to eleven are taken; graded matrices take more

double unit_of(Type type) {
  return type == Type::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

// Where the numbers that are turned come from and go to: x [m, n], the turned matrix `size` wide.
struct Shape {
  Type type = Type::f32;
  uint32_t m = 0, n = 0, size = 0;
  bool hermitian = false, turned = false;
  uint32_t length() const { return std::max(m, n); }
  uint32_t columns() const { return std::min(m, n); }
};

// A team a row of something.
class OfRow {
 protected:
  OfRow(const char* name, const Shape& shape, uint32_t rows, uint32_t wide)
      : shape_(shape),
        k_(name, Team::many(wide <= 32    ? 32
                            : wide <= 128 ? 128
                                          : 256)) {
    number_ = k_.team(Type::u64);
    which_ = number_ / rows;
    row_ = convert(number_ % rows, Type::u32);
  }
  Value word(uint32_t number) { return k_.constant(Type::u32, number); }
  Value zero() { return k_.constant(shape_.type, 0); }
  Array read(const char* name) { return k_.buffer(name, shape_.type, Access::read); }
  Array written(const char* name) { return k_.buffer(name, shape_.type, Access::write); }
  // Of matrix `which_` among others of [rows, columns].
  Value at(Value row, Value column, uint32_t rows, uint32_t columns) const {
    return (which_ * rows + convert(row, Type::u64)) * columns + convert(column, Type::u64);
  }

  const Shape& shape_;
  Builder k_;
  Value number_, which_, row_;
};

// The symmetric matrix of the lower triangle, scaled, zeros around it, and the squares of each row.
struct FillSquare : OfRow {
  explicit FillSquare(const Shape& shape) : OfRow("jacobi_fill", shape, shape.size, shape.size) {}
  Program build() {
    const Array x = read("x"), scale = read("scale"), matrix = written("matrix"),
                squares = written("squares");
    const Value by = scale[which_], last = word(shape_.n - 1);
    const Value sum = k_.reduce(word(shape_.size), Reduction::add, [&](Value j) {
      const Value inside = row_ < shape_.n && j < shape_.n, i = min(row_, last), column = min(j, last);
      const Value value = x[at(max(i, column), min(i, column), shape_.n, shape_.n)].get() / by;
      const Value kept = select(inside, value, value.like(0));
      matrix[at(row_, j, shape_.size, shape_.size)] = kept;
      return kept * kept;
    });
    k_.once([&] { squares[number_] = sum; });
    return k_.finish();
  }
};

// The columns of x, or of x transposed where it is wide, scaled, zeros beside them.
struct FillColumns : OfRow {
  explicit FillColumns(const Shape& shape) : OfRow("jacobi_fill", shape, shape.length(), shape.size) {}
  Program build() {
    const Array x = read("x"), scale = read("scale"), columns = written("columns");
    const Value by = scale[which_], last = word(shape_.columns() - 1);
    k_.each(word(shape_.size), [&](Value j) {
      const Value inside = j < shape_.columns(), column = min(j, last);
      const Value from =
          shape_.turned ? at(column, row_, shape_.m, shape_.n) : at(row_, column, shape_.m, shape_.n);
      const Value value = x[from].get() / by;
      columns[at(row_, j, shape_.length(), shape_.size)] = select(inside, value, value.like(0));
    });
    return k_.finish();
  }
};

// A team a matrix: what stands beside the diagonal is turned if it is larger than this: of symmetric matrices
// as rounding has it, of columns their cosine.
struct Limit : OfRow {
  explicit Limit(const Shape& shape) : OfRow("jacobi_limit", shape, 1, shape.size) {}
  Program build() {
    const double unit = unit_of(shape_.type);
    const Array state = k_.buffer("state", Type::u32, Access::write);
    k_.once([&] {
      for (uint32_t i = 0; i < State::words; ++i) state[word(i)] = word(0);
    });
    if (!shape_.hermitian) {
      const Array limits = written("limits");
      k_.once([&] {
        limits[number_] = k_.constant(shape_.type, 0.25 * unit * (4 + std::sqrt(shape_.length())));
      });
      return k_.finish();
    }
    const Array squares = read("squares"), limits = written("limits");
    const Value sum = k_.reduce(word(shape_.size), Reduction::add,
                                [&](Value i) { return squares[at(i, word(0), shape_.size, 1)].get(); });
    k_.once([&] { limits[number_] = sqrt(sum * (1.0 / shape_.n)) * (0.5 * unit); });
    return k_.finish();
  }
};

struct Identity : OfRow {
  explicit Identity(const Shape& shape) : OfRow("jacobi_identity", shape, shape.size, shape.size) {}
  Program build() {
    const Array to = written("to");
    k_.each(word(shape_.size), [&](Value j) {
      to[at(row_, j, shape_.size, shape_.size)] = select(row_ == j, zero() + 1, zero());
    });
    return k_.finish();
  }
};

// An invocation four numbers.
Program copied(Type type) {
  Builder k("jacobi_copy", Team::one());
  const Array from = k.buffer("from", type, Access::read), to = k.buffer("to", type, Access::write);
  const Value i = k.team(Type::u64);
  to.store(i, from.load_vector(i, 4));
  return k.finish();
}

// Before a sweep: whether there is one, by what the last one left.
Program begun(float enough) {
  Builder k("jacobi_begin", Team::one());
  const Array state = k.buffer("state", Type::u32, Access::read_write);
  const auto word = [&](uint32_t number) { return k.constant(Type::u32, number); };
  const Value now = state[word(State::phase)], left = bitcast(state[word(State::worst)].get(), Type::f32);
  const Value is_done = now == Phase::done || (now == Phase::turning && !(left > enough));
  k.if_(
      is_done, [&] { state[word(State::phase)] = word(Phase::done); },
      [&] {
        state[word(State::phase)] = word(Phase::turning);
        state[word(State::worst)] = word(0);
        state[word(State::extra)] = word(0);
        state[word(State::times)] = state[word(State::times)].get() + 1;
      });
  return k.finish();
}

// How far a row is from being done, by its limit, and whether a column is too short to have a direction.
struct Check : OfRow {
  explicit Check(const Shape& shape) : OfRow("jacobi_check", shape, shape.columns(), shape.columns()) {}
  Program build() {
    const Array matrix = read("matrix"), limits = read("limits"),
                state = k_.buffer("state", Type::u32, Access::read_write);
    k_.if_(jacobi_blocks::goes_on(k_, state), [&] { look(matrix, limits, state); });
    return k_.finish();
  }
  void look(const Array& matrix, const Array& limits, const Array& state) {
    const double shortest = jacobi_blocks::shortest_column(shape_.type);
    const Value limit = limits[which_], own = root(matrix, row_);
    const Value most = k_.reduce(word(shape_.columns()), Reduction::max, [&](Value j) {
      const Value value = abs(matrix[at(row_, j, shape_.size, shape_.size)].get());
      if (shape_.hermitian) return select(row_ != j, value / limit, value.like(0));
      const Value other = root(matrix, j), counts = row_ != j && min(own, other) > shortest;
      return select(counts, value / (limit * (own * other)), value.like(0));
    });
    k_.once([&] {
      state.atomic_max(word(State::worst), bitcast(convert(most, Type::f32), Type::u32));
      const Value none = own <= shortest;
      if (!shape_.hermitian) k_.if_(none, [&] { state.atomic_max(word(State::extra), word(1)); });
    });
  }
  Value root(const Array& matrix, Value j) {
    return sqrt(abs(matrix[at(j, j, shape_.size, shape_.size)].get()));
  }
};

// Eigenvalues: the diagonal.
struct Diagonal : OfRow {
  explicit Diagonal(const Shape& shape) : OfRow("jacobi_diagonal", shape, 1, shape.size) {}
  Program build() {
    const Array matrix = read("matrix"), lengths = written("lengths");
    k_.each(word(shape_.n), [&](Value j) {
      lengths[at(j, word(0), shape_.n, 1)] = matrix[at(j, j, shape_.size, shape_.size)].get();
    });
    return k_.finish();
  }
};

// Singular values: the lengths of columns.
struct Lengths : OfRow {
  explicit Lengths(const Shape& shape) : OfRow("jacobi_lengths", shape, shape.columns(), shape.length()) {}
  Program build() {
    const Array columns = read("columns"), lengths = written("lengths");
    const Value sum = k_.reduce(word(shape_.length()), Reduction::add, [&](Value i) {
      const Value x = columns[at(i, row_, shape_.length(), shape_.size)];
      return x * x;
    });
    k_.once([&] { lengths[number_] = sqrt(sum); });
    return k_.finish();
  }
};

// How many columns stand before each, in order, and the values in order. NaN are all equal, and keep theirs.
struct Ranks : OfRow {
  explicit Ranks(const Shape& shape) : OfRow("jacobi_ranks", shape, shape.columns(), shape.columns()) {}
  Program build() {
    const Array lengths = read("lengths"), scale = read("scale"),
                ranks = k_.buffer("ranks", Type::u32, Access::write), values = written("values");
    const uint32_t count = shape_.columns();
    const Value mine = lengths[number_];
    const Value rank = k_.reduce(word(count), Reduction::add, [&](Value i) {
      const Value other = lengths[at(i, word(0), count, 1)];
      const Value before = shape_.hermitian ? other < mine : other > mine;
      const Value after = shape_.hermitian ? other > mine : other < mine;
      return select(before || (!before && !after && i < row_), word(1), word(0));
    });
    k_.once([&] {
      ranks[number_] = rank;
      values[at(rank, word(0), count, 1)] = mine * scale[which_].get();
    });
    return k_.finish();
  }
};

// Vectors in rows of `vectors` become columns in order, or rows in order.
struct Ordered : OfRow {
  Ordered(const Shape& shape, bool in_columns)
      : OfRow("jacobi_ordered", shape, shape.columns(), shape.columns()), in_columns_(in_columns) {}
  Program build() {
    const Array vectors = read("vectors"), ranks = k_.buffer("ranks", Type::u32, Access::read),
                to = written("to"), scale = read("scale");
    const uint32_t count = shape_.columns();
    const Value by = scale[which_];  // NaN where a number was none
    k_.each(word(count), [&](Value j) {
      const Value from = in_columns_ ? j : row_, place = in_columns_ ? row_ : j;
      const Value rank = ranks[at(from, word(0), count, 1)];
      const Value vector = vectors[at(from, place, shape_.size, shape_.size)];
      const Value value = select(is_nan(by), by, vector);
      to[in_columns_ ? at(place, rank, count, count) : at(rank, place, count, count)] = value;
    });
    return k_.finish();
  }
  bool in_columns_;
};

// The columns, longest first: as long as 1 in u (in rows of v^H where x is wide), and as they are in `sorted`
// [length, columns].
struct Directions : OfRow {
  Directions(const Shape& shape, bool normed)
      : OfRow(normed ? "svd_directions" : "svd_sorted", shape, shape.length(), shape.columns()),
        normed_(normed) {}
  Program build() {
    const Array columns = read("columns"), lengths = read("lengths"),
                ranks = k_.buffer("ranks", Type::u32, Access::read), to = written("to");
    const uint32_t count = shape_.columns();
    k_.each(word(count), [&](Value j) {
      const Value rank = ranks[at(j, word(0), count, 1)];
      const Value x = columns[at(row_, j, shape_.length(), shape_.size)];
      const Value y = normed_ ? x / lengths[at(j, word(0), count, 1)].get() : x;
      to[normed_ && shape_.turned ? at(rank, row_, count, shape_.length())
                                  : at(row_, rank, shape_.length(), count)] = y;
    });
    return k_.finish();
  }
  bool normed_;
};

// q of the sorted columns has their directions but for signs, which r tells. An invocation an element.
Program signs(const Shape& shape, uint32_t q_columns) {
  Builder k("svd_signs", Team::one());
  const Array q = k.buffer("q", shape.type, Access::read), r = k.buffer("r", shape.type, Access::read),
              to = k.buffer("to", shape.type, Access::write);
  const uint32_t length = shape.length(), columns = shape.columns();
  const uint64_t numbers = uint64_t{length} * q_columns;
  const Value team = k.team(Type::u64), matrix = team / numbers, place = team % numbers;
  const Value i = place / q_columns, j = place % q_columns, at = min(j, j.like(columns - 1));
  const Value minus = j < columns && r[(matrix * q_columns + at) * columns + at].get() < 0;
  const Value x = q[team], signed_x = select(minus, -x, x);
  to[shape.turned ? matrix * numbers + j * length + i : team] = signed_x;
  return k.finish();
}

// Passes, and the tensors between them.
class Passes {
 public:
  Passes(const FactorPlan& plan, const Limits& limits, bool hermitian, uint8_t own)
      : plan_(plan), limits_(limits), own_(own) {
    shape = {plan.type, plan.m, plan.n, 0, hermitian, plan.m < plan.n};
    blocks = jacobi_blocks::blocks_for(plan, shape.columns(), !hermitian, limits);
    shape.size = blocks.size();
    square = uint64_t{shape.size} * shape.size;
    scale = numbers(1);
    limit = numbers(1);
    matrix = numbers(square);
    turned = numbers(square);
    lengths = numbers(shape.columns());
    ranks = words(plan.batch * shape.columns());
    state = words(State::words);
    next_matrix_ = numbers(square);
    for (uint8_t& each : turns_) each = numbers(blocks.turn_numbers());
    for (uint8_t& each : cross_) each = numbers(blocks.turn_numbers() / 4);
  }

  uint8_t numbers(uint64_t of_each) { return words(plan_.batch * of_each * size_of(plan_.type) / 4); }
  uint8_t words(uint64_t count) {
    made.scratch.push_back({count * 4});
    return static_cast<uint8_t>(own_ + made.scratch.size() - 1);
  }
  void pass(Program program, uint64_t teams_of_each, std::vector<uint8_t> buffers) {
    made.passes.push_back({add(std::move(program)), plan_.batch * teams_of_each, std::move(buffers)});
  }
  uint32_t add(Program program) {
    made.programs.push_back(std::move(program));
    return static_cast<uint32_t>(made.programs.size() - 1);
  }

  void measure(uint8_t x) {
    const uint8_t largest = numbers(shape.m);
    pass(largest_of_rows(plan_, false), shape.m, {x, largest});
    pass(scale_of(plan_), 1, {largest, scale});
  }

  // A sweep: the matrix is turned from both sides, the vectors in rows of `turned` from one. There is an even
  // number of rounds, so the matrix ends where it was.
  void sweep() {
    const uint32_t inside = add(jacobi_blocks::turn_inside(blocks)),
                   between = add(jacobi_blocks::turn_round(blocks, false)),
                   last = add(jacobi_blocks::turn_round(blocks, true));
    made.passes.push_back(
        {inside, plan_.batch * blocks.pairs(), {matrix, next_matrix_, limit, turns_[0], state}});
    for (uint32_t round = 0; round < blocks.count; ++round) {
      const bool is_last = round + 1 == blocks.count, odd = round % 2 == 1;
      const uint8_t from = odd ? next_matrix_ : matrix, to = odd ? matrix : next_matrix_;
      made.passes.push_back(
          {is_last ? last : between,
           plan_.batch * jacobi_blocks::round_teams(blocks, is_last),
           {from, to, turns_[odd], turns_[!odd], cross_[odd], cross_[!odd], turned, limit, state},
           {round}});
    }
  }

  void begin_repeat() {
    // Of random matrices: 8 sweeps of 100 columns, 9 of 256, 11 of 1024; of products of columns two more.
    const auto likely = static_cast<uint32_t>(std::bit_width(shape.columns()) + (shape.hermitian ? 0 : 2));
    const float enough = shape.hermitian ? 32 : 4;  // rotations leave what rounding puts there
    made.repeat = {.first = passes(), .flag = state, .most = most_sweeps, .likely = likely, .enough = enough};
    made.passes.push_back({add(begun(enough)), 1, {state}});
  }
  void end_repeat() {
    pass(Check(shape).build(), shape.columns(), {matrix, limit, state});
    made.repeat.count = passes() - made.repeat.first;
  }
  uint32_t passes() const { return static_cast<uint32_t>(made.passes.size()); }

  void product(MatmulShape of, uint8_t a, uint8_t b, uint8_t c) {
    of.type = of.result = plan_.type;
    of.batch = static_cast<uint32_t>(plan_.batch);
    append_product(made, own_, of, limits_, {a, b, c});
  }

  void copy(uint8_t from, uint8_t to, uint64_t of_each) { pass(copied(plan_.type), of_each / 4, {from, to}); }

  Factor made;
  Shape shape;
  Blocks blocks;
  uint64_t square = 0;
  uint8_t scale = 0, limit = 0, matrix = 0, turned = 0, lengths = 0, ranks = 0, state = 0;

 private:
  const FactorPlan& plan_;
  const Limits& limits_;
  uint8_t own_, next_matrix_ = 0;
  std::array<uint8_t, 2> turns_{}, cross_{};
};

// The directions of the columns by a QR factorisation: orthonormal also where a column is zero, and as many
// as are wanted.
void add_qr(Passes& passes, const FactorPlan& plan, uint32_t q_columns, uint8_t columns, uint8_t to,
            uint8_t own, const Limits& limits) {
  const Shape& shape = passes.shape;
  const uint64_t length = shape.length(), count = shape.columns();
  const uint8_t sorted = passes.numbers(length * count), q = passes.numbers(length * q_columns),
                r = passes.numbers(q_columns * count);
  passes.pass(Directions(shape, false).build(), length, {columns, passes.lengths, passes.ranks, sorted});
  FactorPlan inner = plan;
  inner.m = shape.length();
  inner.n = shape.columns();
  append(passes.made, own, qr(inner, q_columns, limits), {sorted, q, r});
  passes.pass(signs(shape, q_columns), length * q_columns, {q, r, to});
}

}  // namespace
}  // namespace jacobi_by_blocks

bool has_jacobi_by_blocks(const FactorPlan& plan, const Limits& limits) {
  return jacobi_blocks::has_blocks(plan, limits);
}

Factor eigh_by_blocks(const FactorPlan& plan, const Limits& limits) {
  using namespace jacobi_by_blocks;
  enum Tensors : uint8_t { x, values, vectors, own };
  Passes passes(plan, limits, true, own);
  const Shape& shape = passes.shape;
  const uint8_t squares = passes.numbers(shape.size);
  passes.measure(x);
  passes.pass(FillSquare(shape).build(), shape.size, {x, passes.scale, passes.matrix, squares});
  passes.pass(Limit(shape).build(), 1, {passes.state, squares, passes.limit});
  passes.pass(Identity(shape).build(), shape.size, {passes.turned});
  const bool by_products = jacobi_products::has_products(plan, shape.size, limits);
  jacobi_products::Found found;
  if (by_products) {
    const jacobi_products::Given given{passes.matrix, passes.limit, passes.state};
    found = jacobi_products::add(passes.made, own, plan, shape.size, given, limits);
  }
  passes.begin_repeat();
  if (by_products) passes.made.repeat.likely = 0;
  passes.sweep();
  passes.end_repeat();
  if (by_products) {
    passes.pass(jacobi_products::chosen_lengths(plan, shape.size), shape.n,
                {passes.matrix, found.lengths, passes.state, passes.lengths});
    passes.pass(Ranks(shape).build(), shape.n, {passes.lengths, passes.scale, passes.ranks, values});
    passes.pass(jacobi_products::chosen_vectors(plan, shape.size, found), shape.n,
                {passes.turned, found.vectors[0], found.vectors[1], found.control, passes.ranks, passes.scale,
                 passes.state, vectors});
    return std::move(passes.made);
  }
  passes.pass(Diagonal(shape).build(), 1, {passes.matrix, passes.lengths});
  passes.pass(Ranks(shape).build(), shape.n, {passes.lengths, passes.scale, passes.ranks, values});
  passes.pass(Ordered(shape, true).build(), shape.n, {passes.turned, passes.ranks, vectors, passes.scale});
  return std::move(passes.made);
}

Factor svd_by_blocks(const FactorPlan& plan, SvdWanted wanted, const Limits& limits) {
  using namespace jacobi_by_blocks;
  enum Tensors : uint8_t { x, u, values, v_h, own };
  Passes passes(plan, limits, false, own);
  const Shape& shape = passes.shape;
  const uint32_t size = shape.size, length = shape.length(), count = shape.columns();
  const uint8_t columns = passes.numbers(uint64_t{length} * size),
                next = passes.numbers(uint64_t{length} * size);
  MatmulShape with_itself, by_turned, vectors_by_turned;
  with_itself.m = with_itself.n = size, with_itself.k = length, with_itself.transpose_a = true;
  by_turned.m = length, by_turned.n = by_turned.k = size, by_turned.transpose_b = true;
  vectors_by_turned.m = vectors_by_turned.n = vectors_by_turned.k = size;
  uint8_t vectors = 0, next_vectors = 0;
  passes.measure(x);
  passes.pass(FillColumns(shape).build(), length, {x, passes.scale, columns});
  passes.pass(Limit(shape).build(), 1, {passes.state, passes.limit});
  passes.product(with_itself, columns, columns, passes.matrix);
  if (wanted.vectors) {
    vectors = passes.numbers(passes.square), next_vectors = passes.numbers(passes.square);
    passes.pass(Identity(shape).build(), size, {vectors});
  }
  passes.begin_repeat();
  passes.pass(Identity(shape).build(), size, {passes.turned});
  passes.sweep();
  passes.product(by_turned, columns, passes.turned, next);
  passes.copy(next, columns, uint64_t{length} * size);
  if (wanted.vectors) {
    passes.product(vectors_by_turned, passes.turned, vectors, next_vectors);
    passes.copy(next_vectors, vectors, passes.square);
  }
  passes.product(with_itself, columns, columns, passes.matrix);
  passes.end_repeat();
  passes.pass(Lengths(shape).build(), count, {columns, passes.lengths});
  passes.pass(Ranks(shape).build(), count, {passes.lengths, passes.scale, passes.ranks, values});
  if (!wanted.vectors) return std::move(passes.made);
  const uint8_t to = shape.turned ? v_h : u, other = shape.turned ? u : v_h;
  passes.pass(Ordered(shape, shape.turned).build(), count, {vectors, passes.ranks, other, passes.scale});
  if (wanted.full && length > count) {
    add_qr(passes, plan, length, columns, to, own, limits);
  } else {
    passes.pass(Directions(shape, true).build(), length, {columns, passes.lengths, passes.ranks, to});
    const uint32_t before = passes.passes();
    add_qr(passes, plan, count, columns, to, own, limits);
    passes.made.extra.count = passes.passes() - before;
  }
  return std::move(passes.made);
}

}  // namespace adit::ops
