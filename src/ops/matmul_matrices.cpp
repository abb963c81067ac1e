// Products by cooperative matrices: each subgroup keeps part_m x part_n sums in matrices, and multiplies what
// it loads as matrices from shared memory. Operands are 16-bit floats; tiles travel as 32-bit words, four at
// a time.
#include <algorithm>
#include <fmt/format.h>

#include <adit/kernel/matrix.hpp>

#include "ops/matmul_parts.hpp"

namespace adit::ops {

using kernel::Access;
using kernel::Matrix;
using kernel::MatrixForm;
using kernel::MatrixLayout;
using kernel::MatrixRole;
using kernel::MatrixVariable;
using kernel::Program;
using kernel::Team;

namespace {

constexpr uint32_t per_vector = 8;  // elements of a vector of four words

class ByMatrices {
 public:
  ByMatrices(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks)
      : shape_(shape),
        t_(tiling),
        hooks_(hooks),
        groups_n_(tiling.block_n / tiling.part_n),
        groups_(tiling.block_m / tiling.part_m * groups_n_),
        lanes_(groups_ * tiling.subgroup),
        count_m_(tiling.part_m / tiling.matrix.m),
        count_n_(tiling.part_n / tiling.matrix.n),
        a_shape_(operand_a(shape, tiling)),
        b_shape_(operand_b(shape, tiling)),
        k_(fmt::format("matmul_{}_{}", name_of(shape.type), to_text(tiling)), Team::many(lanes_)) {}

  Program run() {
    const bool partial = t_.split_k > 1;
    a_ = k_.buffer("a", element_of(a_shape_), Access::read);
    b_ = k_.buffer("b", element_of(b_shape_), Access::read);
    const Array c =
        k_.buffer(partial ? "workspace" : "c", partial ? Type::f32 : shape_.result, Access::write);
    if (hooks_.declare && !partial) hooks_.declare(k_);
    if (hooks_.declare_condition) hooks_.declare_condition(k_);
    const TeamWork work = find_work(k_, shape_, t_);
    const uint32_t tiles = (size_of_tile(a_shape_) + size_of_tile(b_shape_)) * t_.stages;
    tiles_ = k_.shared(Type::u32, tiles * 4);
    const Value group = k_.subgroup_number();
    group_m_ = quotient(group, groups_n_), group_n_ = rest(group, groups_n_);
    under_condition(k_, hooks_, work.batch, [&] {
      sum(work);
      const Writer writer(k_, shape_, t_, hooks_, c, work);
      if (writer.is_plain() && shape_.n % 8 == 0 && shape_.alignment % 16 == 0)
        store_matrices(writer, c, work);
      else
        store_elements(writer, work, tiles);
    });
    return k_.finish();
  }

 private:
  // Words where every vector is inside or outside as a whole, else single elements.
  static Type element_of(const OperandShape& operand) {
    return operand.allows_vectors(per_vector) ? Type::u32 : operand.type;
  }
  // A row of the tile as it lies in shared memory, and the tile, in vectors.
  uint32_t row_of_tile(const OperandShape& o) const {
    return ((o.along_k ? o.block_k : o.block) + t_.pad) / per_vector;
  }
  uint32_t size_of_tile(const OperandShape& o) const {
    return row_of_tile(o) * (o.along_k ? o.block : o.block_k);
  }

  uint32_t first_b() const { return size_of_tile(a_shape_) * t_.stages; }

  Value load_words(const Array& from, const Stager::Access& access) {
    const Value loaded = from.load_vector(access.index, 4);
    if (!access.guarded) return loaded;
    const auto kept = [&](int j) { return select(access.inside, loaded[j], 0); };
    return k_.pack({kept(0), kept(1), kept(2), kept(3)});
  }

  // Two elements a word, each looked at by itself.
  Value load_elements(const Array& from, const OperandShape& o, const Slot& slot, Value first, Value batch,
                      Value tile) {
    std::vector<Value> halves;
    const Type index_type = o.is_wide() ? Type::u64 : Type::u32;
    const Value its_line = slot.line + slot.below;
    for (uint32_t j = 0; j < per_vector; ++j) {
      const Value row =
          kernel::min(first + (o.along_k ? its_line : slot.within + j), first.like(o.extent - 1));
      const Value depth = tile * o.block_k + (o.along_k ? slot.within + j : its_line);
      const Value inside = depth < o.depth, at = select(inside, depth, 0);
      const Value line = convert(o.along_k ? row : at, index_type), column = o.along_k ? at : row;
      Value index = line * o.leading() + convert(column, index_type);
      if (o.batch_stride != 0 && o.batch > 1) index = index + convert(batch, index_type) * o.batch_stride;
      const Value bits = convert(bitcast(from.load(index), Type::u16), Type::u32);
      halves.push_back(select(inside, bits, 0));
    }
    const auto word = [&](size_t j) { return halves[2 * j] | halves[2 * j + 1] << 16; };
    return k_.pack({word(0), word(1), word(2), word(3)});
  }

  std::vector<Value> load(const Array& from, const OperandShape& o, const Stager& stager, Value first,
                          Value batch, Value tile) {
    std::vector<Value> vectors;
    for (const Slot& slot : stager.slots())
      vectors.push_back(from.type() == Type::u32 ? load_words(from, stager.access(slot, tile))
                                                 : load_elements(from, o, slot, first, batch, tile));
    return vectors;
  }

  void put(const OperandShape& o, const Stager& stager, Value offset, const std::vector<Value>& vectors) {
    for (size_t s = 0; s < vectors.size(); ++s) {
      const Slot& slot = stager.slots()[s];
      const Value at = slot.line * row_of_tile(o) + quotient(slot.within, per_vector) + offset;
      tiles_.store(at + slot.below * row_of_tile(o), vectors[s]);
    }
  }

  // The matrix of a tile that is `extent` rows (or columns) below `first` and begins at step `depth` of k.
  Matrix fragment(const OperandShape& o, MatrixRole role, Value base, Value first, uint32_t extent,
                  uint32_t depth) {
    const uint32_t row = row_of_tile(o);
    const bool is_a = role == MatrixRole::a;
    MatrixForm form;
    form.rows = static_cast<uint16_t>(is_a ? t_.matrix.m : t_.matrix.k);
    form.columns = static_cast<uint16_t>(is_a ? t_.matrix.k : t_.matrix.n);
    form.role = role;
    form.layout = o.along_k == is_a ? MatrixLayout::row_major : MatrixLayout::column_major;
    form.vector = 4;
    // Constants last: they become part of the instruction.
    const Value at = o.along_k ? base + first * row + (extent * row + depth / per_vector)
                               : base + quotient(first, per_vector) + (extent / per_vector + depth * row);
    return matrix_load(tiles_, at, at.like(row), shape_.type, form);
  }

  // What one step multiplies: the matrices of a, then those of b.
  std::vector<Matrix> fragments(Value stage, uint32_t step) {
    std::vector<Matrix> all;
    const Value base_a = stage * size_of_tile(a_shape_), base_b = stage * size_of_tile(b_shape_) + first_b();
    for (uint32_t i = 0; i < count_m_; ++i)
      all.push_back(fragment(a_shape_, MatrixRole::a, base_a, group_m_ * t_.part_m, i * t_.matrix.m, step));
    for (uint32_t j = 0; j < count_n_; ++j)
      all.push_back(fragment(b_shape_, MatrixRole::b, base_b, group_n_ * t_.part_n, j * t_.matrix.n, step));
    return all;
  }

  void add_products(const std::vector<Matrix>& both, std::vector<Matrix>& sums) const {
    for (uint32_t j = 0; j < count_n_; ++j)
      for (uint32_t step = 0; step < count_m_; ++step) {
        const uint32_t i = j % 2 == 0 ? step : count_m_ - 1 - step;  // each shares one with the one before
        Matrix& sum = sums[i * count_n_ + j];
        sum = multiply_add(both[i], both[count_m_ + j], sum);
      }
  }

  // As in Tiled::multiply (matmul_tiled.cpp); but with two stages `early` puts behind the barrier, over the
  // tiles that were just used, what is multiplied in the step after the next.
  void multiply(Value stage, Value other, const std::function<void()>& put_next) {
    const auto exchange = [&] {
      if (t_.stages == 1) k_.barrier(), put_next();
      k_.barrier();
    };
    const bool behind = t_.early && t_.stages == 2;
    std::vector<Matrix> sums, now, following;
    for (const MatrixVariable& sum : sums_) sums.push_back(sum.get());
    for (const MatrixVariable& matrix : carried_) now.push_back(matrix.get());
    for (uint32_t step = 0; step < t_.block_k; step += t_.matrix.k) {
      const bool last = step + t_.matrix.k == t_.block_k;
      if (!t_.ahead) now = fragments(stage, step);
      if (t_.stages == 2 && !behind && last) put_next();
      if (t_.ahead && last) exchange();
      if (t_.ahead) following = last ? fragments(other, 0) : fragments(stage, step + t_.matrix.k);
      if (t_.ahead && behind && last) put_next();
      add_products(now, sums);
      now = following;
    }
    for (size_t at = 0; at < sums.size(); ++at) sums_[at] = sums[at];
    for (size_t at = 0; at < carried_.size(); ++at) carried_[at] = now[at];
    if (!t_.ahead) exchange();
    if (!t_.ahead && behind) put_next();
  }

  // Both operands' vectors of a tile.
  using Fetched = std::pair<std::vector<Value>, std::vector<Value>>;

  // Keeps what was fetched until the next step.
  void hold(const Fetched& tiles) {
    size_t at = 0;
    const bool is_first = held_.empty();
    for (const std::vector<Value>* vectors : {&tiles.first, &tiles.second})
      for (const Value& vector : *vectors)
        for (int word = 0; word < 4; ++word) {
          if (is_first)
            held_.push_back(k_.variable(vector[word]));
          else
            held_[at++] = vector[word];
        }
  }

  Fetched held(size_t count_a, size_t count_b) {
    Fetched all;
    const auto word = [&](size_t vector, size_t part) { return held_[vector * 4 + part].get(); };
    for (size_t at = 0; at < count_a + count_b; ++at)
      (at < count_a ? all.first : all.second)
          .push_back(k_.pack({word(at, 0), word(at, 1), word(at, 2), word(at, 3)}));
    return all;
  }

  void sum(const TeamWork& work) {
    const Stager stage_a(k_, a_shape_, per_vector, lanes_, work.row, work.batch, t_.linear),
        stage_b(k_, b_shape_, per_vector, lanes_, work.column, work.batch, t_.linear);
    const Matrix zeros =
        matrix_fill(k_.constant(Type::f32, 0), t_.matrix.m, t_.matrix.n, MatrixRole::accumulator);
    for (uint32_t at = 0; at < count_m_ * count_n_; ++at) sums_.emplace_back(zeros);

    const Value first = work.first_k, zero = first.like(0), end = work.end_k - 1;
    const auto fetch = [&](Value tile) {
      return std::pair(load(a_, a_shape_, stage_a, work.row, work.batch, tile),
                       load(b_, b_shape_, stage_b, work.column, work.batch, tile));
    };
    const auto place_tiles = [&](Value stage, const Fetched& next) {
      put(a_shape_, stage_a, stage * size_of_tile(a_shape_), next.first);
      put(b_shape_, stage_b, stage * size_of_tile(b_shape_) + first_b(), next.second);
    };
    const auto fetch_ahead = [&](Value tile) { return fetch(kernel::min(tile, end)); };
    place_tiles(zero, fetch(first));
    if (t_.early && t_.stages == 2) place_tiles(zero.like(1), fetch_ahead(first + 1));
    if (t_.early) hold(fetch_ahead(first + t_.stages));
    k_.barrier();
    if (t_.ahead)
      for (const Matrix& matrix : fragments(zero, 0)) carried_.emplace_back(matrix);
    const auto one_tile = [&](Value tile, Value stage, Value other) {
      if (t_.early) {
        multiply(stage, other, [&] {
          place_tiles(stage, held(stage_a.slots().size(), stage_b.slots().size()));
          hold(fetch_ahead(tile + 1 + t_.stages));
        });
      } else {
        const auto next = fetch_ahead(tile + 1);
        multiply(stage, other, [&] { place_tiles(other, next); });
      }
    };
    k_.for_(first, work.end_k, first.like(1), [&](Value tile) {
      const Value stage = t_.stages == 1 ? zero : (tile - first) & 1;
      one_tile(tile, stage, t_.stages == 1 ? zero : 1 - stage);
    });
  }

  void store_matrices(const Writer& writer, const Array& c, const TeamWork& work) {
    for (size_t at = 0; at < sums_.size(); ++at) {
      const auto i = static_cast<uint32_t>(at) / count_n_, j = static_cast<uint32_t>(at) % count_n_;
      const Value row = work.row + group_m_ * t_.part_m + i * t_.matrix.m,
                  column = work.column + group_n_ * t_.part_n + j * t_.matrix.n;
      matrix_store(c, writer.index(row, column), row.like(shape_.n), sums_[at].get());
    }
  }

  // Through shared memory, where every lane finds elements whose place it knows.
  void store_elements(const Writer& writer, const TeamWork& work, uint32_t room) {
    uint32_t columns = t_.part_n;  // that a subgroup puts there at once
    const auto vectors = [&](uint32_t width) { return t_.matrix.m * (width / 4 + 1); };
    while (vectors(columns) * groups_ > room && columns % (2 * t_.matrix.n) == 0) columns /= 2;
    if (vectors(columns) * groups_ > room) reject_matmul("tiling: its tiles have no room for results");
    const uint32_t row_size = columns / 4 + 1, line = columns / 4, at_once = columns / t_.matrix.n;
    const Value base = (group_m_ * groups_n_ + group_n_) * vectors(columns), lane = k_.subgroup_lane();
    if (t_.ahead || t_.early) k_.barrier();  // the last step read and put what nobody needs
    for (uint32_t i = 0; i < count_m_; ++i) {
      for (uint32_t j = 0; j < count_n_; j += at_once) {
        for (uint32_t part = 0; part < at_once; ++part)
          matrix_store(tiles_, base + part * t_.matrix.n / 4, base.like(row_size),
                       sums_[i * count_n_ + j + part].get(), MatrixLayout::row_major, 4);
        k_.barrier();
        const Value row = work.row + group_m_ * t_.part_m + i * t_.matrix.m,
                    column = work.column + group_n_ * t_.part_n + j * t_.matrix.n;
        for (uint32_t number = 0; number < t_.matrix.m * line; number += t_.subgroup) {
          const Value id = lane + number, down = quotient(id, line), right = rest(id, line);
          const Value words = tiles_.load_vector(base + down * row_size + right, 4);
          std::vector<Value> sums;
          for (int w = 0; w < 4; ++w) sums.push_back(bitcast(words[w], Type::f32));
          writer.store(row + down, column + right * 4, sums);
        }
        k_.barrier();
      }
    }
  }

  const MatmulShape& shape_;
  const MatmulTiling& t_;
  const MatmulHooks& hooks_;
  const uint32_t groups_n_, groups_, lanes_;
  const uint32_t count_m_, count_n_;  // matrices of a subgroup
  const OperandShape a_shape_, b_shape_;
  Builder k_;
  Array a_, b_, tiles_;
  Value group_m_, group_n_;
  std::vector<MatrixVariable> sums_, carried_;
  std::vector<kernel::Variable> held_;
};

void check_matrices(const MatmulShape& s, const MatmulTiling& t) {
  if (s.type != Type::f16 && s.type != Type::bf16)
    reject_matmul(
        fmt::format("type: expected f16 or bf16 for cooperative matrices, got {}", name_of(s.type)));
  if (t.matrix.operand != s.type || t.matrix.accumulator != Type::f32)
    reject_matmul("tiling: expected a matrix product of the operands' type into f32");
  const bool divides = t.matrix.m > 0 && t.matrix.n > 0 && t.matrix.k > 0 && t.part_m > 0 && t.part_n > 0 &&
                       t.block_m % t.part_m == 0 && t.block_n % t.part_n == 0 && t.part_m % t.matrix.m == 0 &&
                       t.part_n % t.matrix.n == 0 && t.block_k % t.matrix.k == 0;
  if (!divides)
    reject_matmul("tiling: expected matrices that divide the parts, and parts that divide the block");
  if (t.pad % per_vector != 0 || t.block_m % per_vector != 0 || t.block_n % per_vector != 0 ||
      t.matrix.k % per_vector != 0 || t.matrix.m % per_vector != 0 || t.matrix.n % per_vector != 0)
    reject_matmul("tiling: expected blocks, matrices and padding of a multiple of 8");
  if ((t.matrix.m * t.matrix.n / 4) % t.subgroup != 0)
    reject_matmul("tiling: expected matrices that divide evenly among the lanes of a subgroup");
}

}  // namespace

Program matrices_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check_matrices(shape, tiling);
  return ByMatrices(shape, tiling, hooks).run();
}

}  // namespace adit::ops
