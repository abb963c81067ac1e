// A matrix times a vector, where one of m and n is 1: bound by reading the matrix. Team loops only, so that
// every device runs it.
#include <algorithm>
#include <fmt/format.h>

#include "ops/matmul_parts.hpp"

namespace adit::ops {

using kernel::Access;
using kernel::is_float;
using kernel::Program;
using kernel::Reduction;
using kernel::size_of;
using kernel::Team;
using kernel::Variable;

namespace {

class ByVector {
 public:
  ByVector(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks)
      : shape_(shape),
        t_(tiling),
        hooks_(hooks),
        is_column_(shape.n == 1),
        rows_each_(is_column_ ? tiling.block_m : tiling.block_n),
        compute_(accumulator_type(shape)),
        matrix_shape_(is_column_ ? operand_a(shape, tiling) : operand_b(shape, tiling)),
        vector_stride_(is_column_ ? shape.b_stride : shape.a_stride),
        k_(fmt::format("matmul_{}_{}", name_of(shape.type), to_text(tiling)), Team::many(tiling.across)) {}

  Program run() {
    const Array a = k_.buffer("a", shape_.type, Access::read), b = k_.buffer("b", shape_.type, Access::read);
    matrix_ = is_column_ ? a : b;
    vector_ = is_column_ ? b : a;
    const bool partial = t_.split_k > 1;
    const Array c = k_.buffer(partial ? "workspace" : "c", partial ? compute_ : shape_.result, Access::write);
    if (hooks_.declare && !partial) hooks_.declare(k_);
    const TeamWork work = find_work(k_, shape_, t_);
    const Writer writer(k_, shape_, t_, hooks_, c, work);
    if (matrix_shape_.along_k)
      rows(work, writer);
    else
      columns(work, writer);
    return k_.finish();
  }

 private:
  Value wide(Value v) const { return convert(v, matrix_shape_.is_wide() ? Type::u64 : Type::u32); }
  Value first_row(const TeamWork& work) const { return is_column_ ? work.row : work.column; }
  void write(const Writer& writer, Value row, Value sum) const {
    writer.store(is_column_ ? row : row.like(0), is_column_ ? row.like(0) : row, {sum});
  }
  Value product_sum(Value x, Value y, Value sum) const {
    return t_.fused && is_float(compute_) ? fma(x, y, sum) : x * y + sum;
  }
  // The widest access to both that is aligned and ends where k ends.
  uint32_t width_along_k() const {
    for (const uint32_t width : {4u, 2u})
      if (width * size_of(shape_.type) <= 16 && shape_.k % width == 0 && t_.block_k % width == 0 &&
          matrix_shape_.batch_stride % width == 0 && vector_stride_ % width == 0 &&
          shape_.alignment % (width * size_of(shape_.type)) == 0)
        return width;
    return 1;
  }
  static Value load(const Array& from, Value at, uint32_t width) {
    return width == 1 ? from.load(at) : from.load_vector(at, static_cast<int>(width));
  }
  Value part(Value loaded, uint32_t j) const {
    return convert(loaded.width() == 1 ? loaded : loaded[static_cast<int>(j)], compute_);
  }
  Value end_of_k(const TeamWork& work) const {
    const Value end = work.end_k * t_.block_k;
    return kernel::min(end, end.like(shape_.k));
  }

  // Rows lie side by side in k: the lanes share k, and each vector of x serves all rows of the team.
  void rows(const TeamWork& work, const Writer& writer) {
    const uint32_t width = width_along_k();
    const Value begin = work.first_k * t_.block_k, first = first_row(work);
    const Value start = quotient(begin, width), count = quotient(end_of_k(work), width) - start;
    std::vector<Value> bases;
    for (uint32_t r = 0; r < rows_each_; ++r) {
      const Value row = kernel::min(first + r, first.like(matrix_shape_.extent - 1));
      Value base = wide(row) * (shape_.k / width);
      if (matrix_shape_.batch_stride != 0)
        base = base + wide(work.batch) * (matrix_shape_.batch_stride / width);
      bases.push_back(base);
    }
    const std::vector<Reduction> sums(rows_each_, Reduction::add);
    const std::vector<Value> totals = k_.reduce(count, sums, [&](Value i) {
      const Value at = start + i, x_at = at + work.batch * (vector_stride_ / width);
      const Value x = load(vector_, x_at, width);
      std::vector<Value> yielded;
      for (uint32_t r = 0; r < rows_each_; ++r) {
        const Value y = load(matrix_, bases[r] + wide(at), width);
        Value sum = part(x, 0) * part(y, 0);
        for (uint32_t j = 1; j < width; ++j) sum = product_sum(part(x, j), part(y, j), sum);
        yielded.push_back(sum);
      }
      return yielded;
    });
    k_.once([&] {
      for (uint32_t r = 0; r < rows_each_; ++r) write(writer, first + r, totals[r]);
    });
  }

  // Steps of k lie side by side in rows: a lane has some rows and every so manieth step; shared memory adds
  // the lanes' sums up.
  void columns(const TeamWork& work, const Writer& writer) {
    uint32_t width = 1;
    for (const uint32_t wanted : {4u, 2u})
      if (width == 1 && wanted * size_of(shape_.type) <= 16 && matrix_shape_.allows_vectors(wanted))
        width = wanted;
    const uint32_t groups = rows_each_ / width, slices = std::max(1u, t_.across / groups);
    const Array sums = k_.shared(compute_, rows_each_ * slices);
    const Value first = first_row(work), begin = work.first_k * t_.block_k, end = end_of_k(work);
    k_.each(first.like(groups * slices), [&](Value i) {
      const Value group = rest(i, groups), slice = quotient(i, groups);
      const uint32_t last = matrix_shape_.extent / width - 1, line = matrix_shape_.extent / width;
      const Value vector = quotient(first, width) + group, row = kernel::min(vector, vector.like(last));
      Value base = wide(row);
      if (matrix_shape_.batch_stride != 0)
        base = base + wide(work.batch) * (matrix_shape_.batch_stride / width);
      std::vector<Variable> mine;
      for (uint32_t j = 0; j < width; ++j) mine.push_back(k_.variable(compute_, 0));
      k_.for_(begin + slice, end, begin.like(slices), [&](Value step) {
        const Value x = part(vector_.load(step + work.batch * vector_stride_), 0);
        const Value y = load(matrix_, base + wide(step) * line, width);
        for (uint32_t j = 0; j < width; ++j) mine[j] = product_sum(x, part(y, j), mine[j].get());
      });
      for (uint32_t j = 0; j < width; ++j) sums[slice * rows_each_ + group * width + j] = mine[j].get();
    });
    k_.each(first.like(rows_each_), [&](Value r) {
      Value sum = sums.load(r);
      for (uint32_t slice = 1; slice < slices; ++slice) sum = sum + sums.load(r + slice * rows_each_);
      write(writer, first + r, sum);
    });
  }

  const MatmulShape& shape_;
  const MatmulTiling& t_;
  const MatmulHooks& hooks_;
  const bool is_column_;
  const uint32_t rows_each_;
  const Type compute_;
  const OperandShape matrix_shape_;
  const uint64_t vector_stride_;
  Builder k_;
  Array matrix_, vector_;
};

void check_vectors(const MatmulShape& s, const MatmulTiling& t) {
  if (s.m != 1 && s.n != 1) reject_matmul("tiling: expected a vector, m or n of 1");
  if ((s.n == 1 ? t.block_n : t.block_m) != 1)
    reject_matmul("tiling: expected a block of 1 along the vector");
}

}  // namespace

Program vector_program(const MatmulShape& shape, const MatmulTiling& tiling, const MatmulHooks& hooks) {
  check_vectors(shape, tiling);
  return ByVector(shape, tiling, hooks).run();
}

}  // namespace adit::ops
