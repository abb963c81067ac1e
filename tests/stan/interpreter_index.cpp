// Reading and writing of places, and the operators.
#include <functional>

#include "interpreter_linear.hpp"
#include "interpreter_machine.hpp"

namespace adit::stan::reference {

namespace {

Place1 index_everything(int64_t size) {
  Place1 place{false, 0, {}};
  for (int64_t i = 0; i < size; ++i) place.positions.push_back(i);
  return place;
}

Place1 index_at(const std::vector<Selector>& selectors, size_t i, int64_t size) {
  return i < selectors.size() ? selectors[i](size) : index_everything(size);
}

Value index_matrix(const Value& m, const Place1& row, const Place1& column) {
  if (row.is_single && column.is_single) return real(m.at(row.position, column.position));
  if (row.is_single) {
    Numbers numbers;
    for (const int64_t j : column.positions) numbers.push_back(m.at(row.position, j));
    return row_vector(numbers);
  }
  if (column.is_single) {
    Numbers numbers;
    for (const int64_t i : row.positions) numbers.push_back(m.at(i, column.position));
    return vector(numbers);
  }
  Value result =
      matrix(static_cast<int64_t>(row.positions.size()), static_cast<int64_t>(column.positions.size()));
  for (size_t i = 0; i < row.positions.size(); ++i)
    for (size_t j = 0; j < column.positions.size(); ++j)
      result.at(static_cast<int64_t>(i), static_cast<int64_t>(j)) =
          m.at(row.positions[i], column.positions[j]);
  return result;
}

void index_assign_matrix(Value& m, const Place1& row, const Place1& column, const Value& value) {
  const std::vector<int64_t> rows = row.is_single ? std::vector{row.position} : row.positions;
  const std::vector<int64_t> columns = column.is_single ? std::vector{column.position} : column.positions;
  if (row.is_single && column.is_single) {
    m.at(row.position, column.position) = value.number();
    return;
  }
  const Base wanted = row.is_single ? Base::row_vector : column.is_single ? Base::vector : Base::matrix;
  expect(value.is(wanted) && value.rows == static_cast<int64_t>(rows.size()) &&
             value.columns == static_cast<int64_t>(columns.size()),
         "what is assigned to part of a matrix has another form");
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < columns.size(); ++j)
      m.at(rows[i], columns[j]) = value.at(static_cast<int64_t>(i), static_cast<int64_t>(j));
}

}  // namespace

Value indexed(const Value& value, const std::vector<Selector>& selectors, size_t first) {
  if (first >= selectors.size()) return value;
  if (value.array > 0) {
    const Place1 place = selectors[first](value.count());
    if (place.is_single)
      return indexed(value.parts[static_cast<size_t>(place.position)], selectors, first + 1);
    Value result = array_value(value.base, value.array, {});
    int inner = 0;
    for (const int64_t i : place.positions) {
      result.parts.push_back(indexed(value.parts[static_cast<size_t>(i)], selectors, first + 1));
      result.base = result.parts.back().base;
      inner = result.parts.back().array;
    }
    if (!place.positions.empty()) result.array = inner + 1;
    return result;
  }
  expect(value.is_container(), "a number has no places");
  if (value.base == Base::matrix)
    return index_matrix(value, selectors[first](value.rows), index_at(selectors, first + 1, value.columns));
  expect(first + 1 == selectors.size(), "too many places in brackets");
  const Place1 place = selectors[first](value.count());
  if (place.is_single) return real(value.numbers[static_cast<size_t>(place.position)]);
  Numbers numbers;
  for (const int64_t i : place.positions) numbers.push_back(value.numbers[static_cast<size_t>(i)]);
  return like(value, numbers);
}

void assign_indexed(Value& target, const std::vector<Selector>& selectors, size_t first, const Value& value) {
  if (first >= selectors.size()) return store(target, value);
  if (target.array > 0) {
    const Place1 place = selectors[first](target.count());
    if (place.is_single)
      return assign_indexed(target.parts[static_cast<size_t>(place.position)], selectors, first + 1, value);
    expect(value.array > 0 && value.parts.size() == place.positions.size(),
           "what is assigned to part of an array has another size");
    for (size_t i = 0; i < place.positions.size(); ++i)
      assign_indexed(target.parts[static_cast<size_t>(place.positions[i])], selectors, first + 1,
                     value.parts[i]);
    return;
  }
  expect(target.is_container(), "a number has no places");
  if (target.base == Base::matrix)
    return index_assign_matrix(target, selectors[first](target.rows),
                               index_at(selectors, first + 1, target.columns), value);
  expect(first + 1 == selectors.size(), "too many places in brackets");
  const Place1 place = selectors[first](target.count());
  if (place.is_single) {
    target.numbers[static_cast<size_t>(place.position)] = value.number();
    return;
  }
  expect(value.is(target.base) && value.numbers.size() == place.positions.size(),
         "what is assigned to part of a vector has another form");
  for (size_t i = 0; i < place.positions.size(); ++i)
    target.numbers[static_cast<size_t>(place.positions[i])] = value.numbers[i];
}

void store(Value& target, Value value) {
  value = promoted(std::move(value), type_of(target));
  expect(same_form(target, value), "what is assigned has another type or size");
  target = std::move(value);
}

namespace {

Value operator_compare(Operator op, const Value& a, const Value& b) {
  if (a.is(Base::integer) && b.is(Base::integer)) {
    const int64_t x = a.integer, y = b.integer;
    switch (op) {
      case Operator::equal: return integer(x == y);
      case Operator::not_equal: return integer(x != y);
      case Operator::less: return integer(x < y);
      case Operator::less_equal: return integer(x <= y);
      case Operator::greater: return integer(x > y);
      default: return integer(x >= y);
    }
  }
  const double x = a.number().value, y = b.number().value;
  switch (op) {
    case Operator::equal: return integer(x == y);
    case Operator::not_equal: return integer(x != y);
    case Operator::less: return integer(x < y);
    case Operator::less_equal: return integer(x <= y);
    case Operator::greater: return integer(x > y);
    default: return integer(x >= y);
  }
}

Value operator_on_integers(Operator op, int64_t a, int64_t b) {
  switch (op) {
    case Operator::add: return integer(a + b);
    case Operator::subtract: return integer(a - b);
    case Operator::multiply:
    case Operator::element_multiply: return integer(a * b);
    case Operator::power:
    case Operator::element_power: return real(std::pow(static_cast<double>(a), static_cast<double>(b)));
    default: break;
  }
  expect(b != 0, "integer division by zero");
  return integer(op == Operator::modulo ? a % b : a / b);
}

}  // namespace

Value apply(Operator op, const Value& a, const Value& b) {
  if (op >= Operator::equal && op <= Operator::greater_equal) return operator_compare(op, a, b);
  if (op == Operator::logical_and) return integer(a.number().value != 0 && b.number().value != 0);
  if (op == Operator::logical_or) return integer(a.number().value != 0 || b.number().value != 0);
  if (a.is(Base::integer) && b.is(Base::integer)) return operator_on_integers(op, a.integer, b.integer);
  switch (op) {
    case Operator::add: return zip(a, b, [](const Number& x, const Number& y) { return x + y; });
    case Operator::subtract: return zip(a, b, [](const Number& x, const Number& y) { return x - y; });
    case Operator::multiply: return product(a, b);
    case Operator::element_multiply: return zip(a, b, [](const Number& x, const Number& y) { return x * y; });
    case Operator::element_divide: return zip(a, b, [](const Number& x, const Number& y) { return x / y; });
    case Operator::power:
    case Operator::element_power:
      return zip(a, b, [](const Number& x, const Number& y) { return pow(x, y); });
    case Operator::divide:
      // X B^-1 = (B'^-1 X')'
      if (b.is(Base::matrix)) return transposed(solve(transposed(b), transposed(a)));
      return zip(a, b, [](const Number& x, const Number& y) { return x / y; });
    case Operator::left_divide: return solve(a, b);
    default: throw Failure(std::string("the operator ") + to_text(op) + " does not take these");
  }
}

Value apply(Operator op, const Value& a) {
  switch (op) {
    case Operator::plus: return a;
    case Operator::minus:
      if (a.is(Base::integer)) return integer(-a.integer);
      return map(a, [](const Number& x) { return -x; });
    case Operator::logical_not: return integer(a.number().value == 0);
    default: return transposed(a);
  }
}

}  // namespace adit::stan::reference
