// Matrices that the lanes of a subgroup hold together, for the tensor units of a GPU.
//
// Which lane holds which element is the device's secret: a matrix is filled, loaded, multiplied, converted
// and stored as a whole, at team level, by all lanes of a subgroup. Limits::cooperative_matrices lists what a
// device multiplies; a kernel with any other product is refused when it is compiled.
#pragma once

#include <adit/kernel/builder.hpp>

#pragma GCC visibility push(default)
namespace adit::kernel {

class Matrix {
 public:
  Matrix() = default;
  Matrix(Value value, MatrixForm form) : value_(value), form_(form) {}
  Type type() const { return value_.type(); }
  const MatrixForm& form() const { return form_; }
  Value value() const { return value_; }

 private:
  Value value_;  // of width 0
  MatrixForm form_;
};

// A matrix that may change.
class MatrixVariable {
 public:
  explicit MatrixVariable(const Matrix& initial);
  Matrix get() const;
  void operator=(const Matrix& matrix) const;

 private:
  Builder* builder_;
  Id id_;
  Type type_;
  MatrixForm form_;
};

// Every element is the scalar, whose type the matrix gets.
Matrix matrix_fill(Value scalar, uint32_t rows, uint32_t columns, MatrixRole role);

// From row * stride + index on (column * stride in column_major), counted in vectors of `vector` elements of
// the array. The array's element type may be another than the matrix's: its bytes count. Aligned to 16 bytes
// in a buffer.
Matrix matrix_load(const Array& from, Value index, Value stride, Type type, MatrixForm form);
void matrix_store(const Array& to, Value index, Value stride, const Matrix& matrix,
                  MatrixLayout layout = MatrixLayout::row_major, uint8_t vector = 1);

Matrix multiply_add(const Matrix& a, const Matrix& b, const Matrix& c);  // a * b + c, c's type
Matrix convert(const Matrix& matrix, Type type);

}  // namespace adit::kernel
#pragma GCC visibility pop
