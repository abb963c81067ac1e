// Where a block's rows lie, as kernels of QR see it.
#pragma once

#include <string>

#include <adit/kernel/builder.hpp>

#include "ops/qr_blocks.hpp"

namespace adit::ops {

class QrRows {
 public:
  QrRows() = default;
  // Declares the numbers of qr_numbers().
  QrRows(kernel::Builder& k, uint32_t panel_width) : width_(panel_width) {
    for (kernel::Value* number :
         {&m, &columns, &v_rows_, &t_count_, &start, &stride_, &rows, &blocks, &v_first_, &t_first_})
      *number = k.scalar("n" + std::to_string(number_++), kernel::Type::u32);
  }
  // Which matrix (u64) and which of its blocks (u32) this is about.
  void choose(kernel::Value which_matrix, kernel::Value which_block) {
    matrix_ = which_matrix;
    block_ = which_block;
    first_group_ = block_ * (rows / width_);
  }
  kernel::Value of(kernel::Value r) const {
    return start + (first_group_ + r / width_) * stride_ + r % width_;
  }
  // Rows of this block that hold something: a multiple of the width, the matrix may end before.
  kernel::Value count() const {
    const kernel::Value groups = (m - start + stride_ - 1) / stride_;
    return min(rows, (groups - first_group_) * width_);
  }
  kernel::Value place(kernel::Value row, kernel::Value column) const {
    return (matrix_ * wide(m) + wide(row)) * wide(columns) + wide(column);
  }
  kernel::Value v_row() const { return matrix_ * wide(v_rows_) + wide(v_first_ + block_ * rows); }
  kernel::Value t_number() const { return matrix_ * wide(t_count_) + wide(t_first_ + block_); }
  kernel::Value matrix() const { return matrix_; }
  kernel::Value m, columns, start, rows, blocks;

 private:
  static kernel::Value wide(kernel::Value x) { return kernel::convert(x, kernel::Type::u64); }
  uint32_t width_ = 0, number_ = 0;
  kernel::Value stride_, v_rows_, t_count_, v_first_, t_first_, matrix_, block_, first_group_;
};

}  // namespace adit::ops
