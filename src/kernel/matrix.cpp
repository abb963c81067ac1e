#include <adit/kernel/matrix.hpp>

namespace adit::kernel {

namespace {

Value emit(Builder& builder, Op op, Type type, std::initializer_list<Id> operands, MatrixForm form) {
  return builder.emit(op, type, operands, form.packed(), 0);
}

// What a matrix is, without how it lay in memory.
MatrixForm plain(MatrixForm form) { return {form.rows, form.columns, form.role, MatrixLayout::row_major, 1}; }

}  // namespace

MatrixVariable::MatrixVariable(const Matrix& initial)
    : builder_(&initial.value().builder()), type_(initial.type()), form_(plain(initial.form())) {
  id_ = emit(*builder_, Op::variable, type_, {}, form_).id();
  *this = initial;
}

Matrix MatrixVariable::get() const { return {emit(*builder_, Op::load, type_, {id_}, form_), form_}; }

void MatrixVariable::operator=(const Matrix& matrix) const {
  emit(*builder_, Op::store, Type::none, {id_, matrix.value().id()}, form_);
}

Matrix matrix_fill(Value scalar, uint32_t rows, uint32_t columns, MatrixRole role) {
  const MatrixForm form{static_cast<uint16_t>(rows), static_cast<uint16_t>(columns), role,
                        MatrixLayout::row_major, 1};
  return {emit(scalar.builder(), Op::matrix_fill, scalar.type(), {scalar.id()}, form), form};
}

Matrix matrix_load(const Array& from, Value index, Value stride, Type type, MatrixForm form) {
  return {emit(index.builder(), Op::matrix_load, type, {from.id(), index.id(), stride.id()}, form), form};
}

void matrix_store(const Array& to, Value index, Value stride, const Matrix& matrix, MatrixLayout layout,
                  uint8_t vector) {
  MatrixForm form = matrix.form();
  form.layout = layout;
  form.vector = vector;
  emit(index.builder(), Op::matrix_store, Type::none, {to.id(), index.id(), stride.id(), matrix.value().id()},
       form);
}

Matrix multiply_add(const Matrix& a, const Matrix& b, const Matrix& c) {
  const MatrixForm form = plain(c.form());
  return {emit(c.value().builder(), Op::matrix_multiply_add, c.type(),
               {a.value().id(), b.value().id(), c.value().id()}, form),
          form};
}

Matrix convert(const Matrix& matrix, Type type) {
  if (matrix.type() == type) return matrix;
  const MatrixForm form = plain(matrix.form());
  return {emit(matrix.value().builder(), Op::matrix_convert, type, {matrix.value().id()}, form), form};
}

}  // namespace adit::kernel
