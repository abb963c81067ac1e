#include "interpreter_value.hpp"

namespace adit::stan::reference {

void expect(bool condition, const std::string& words) {
  if (!condition) throw Failure(words);
}

Number Value::number() const {
  expect(is_scalar(), "a number was expected");
  return base == Base::integer ? Number(static_cast<double>(integer)) : real;
}

int64_t Value::whole() const {
  expect(is(Base::integer), "an int was expected");
  return integer;
}

int64_t Value::count() const {
  return static_cast<int64_t>(array > 0 || base == Base::tuple ? parts.size() : numbers.size());
}

Value integer(int64_t value) {
  Value v;
  v.base = Base::integer;
  v.integer = value;
  return v;
}

Value real(const Number& value) {
  Value v;
  v.base = Base::real;
  v.real = value;
  return v;
}

Value vector(Numbers numbers) {
  Value v;
  v.base = Base::vector;
  v.rows = static_cast<int64_t>(numbers.size());
  v.columns = 1;
  v.numbers = std::move(numbers);
  return v;
}

Value row_vector(Numbers numbers) {
  Value v;
  v.base = Base::row_vector;
  v.rows = 1;
  v.columns = static_cast<int64_t>(numbers.size());
  v.numbers = std::move(numbers);
  return v;
}

Value matrix(int64_t rows, int64_t columns) {
  expect(rows >= 0 && columns >= 0, "a size is negative");
  Value v;
  v.base = Base::matrix;
  v.rows = rows;
  v.columns = columns;
  v.numbers.resize(static_cast<size_t>(rows * columns));
  return v;
}

Value array_value(Base base, int axes, Values parts) {
  Value v;
  v.base = base;
  v.array = axes;
  v.parts = std::move(parts);
  return v;
}

Value reals(const Numbers& numbers) {
  Value v = array_value(Base::real, 1, {});
  for (const Number& x : numbers) v.parts.push_back(real(x));
  return v;
}

Value integers(const std::vector<int64_t>& numbers) {
  Value v = array_value(Base::integer, 1, {});
  for (const int64_t x : numbers) v.parts.push_back(integer(x));
  return v;
}

Value like(const Value& form, Numbers numbers) {
  if (form.array > 0) return reals(numbers);
  return form.base == Base::row_vector ? row_vector(std::move(numbers)) : vector(std::move(numbers));
}

namespace {

void value_flatten(const Value& value, Numbers& numbers) {
  if (value.is_scalar()) numbers.push_back(value.number());
  numbers.insert(numbers.end(), value.numbers.begin(), value.numbers.end());
  for (const Value& part : value.parts) value_flatten(part, numbers);
}

void value_flatten(const Value& value, std::vector<int64_t>& numbers) {
  if (value.is_scalar()) numbers.push_back(value.whole());
  for (const Value& part : value.parts) value_flatten(part, numbers);
}

}  // namespace

Numbers flat(const Value& value) {
  Numbers numbers;
  value_flatten(value, numbers);
  return numbers;
}

std::vector<int64_t> flat_integers(const Value& value) {
  std::vector<int64_t> numbers;
  value_flatten(value, numbers);
  return numbers;
}

Value promoted(Value value) {
  if (value.is(Base::integer)) return real(value.number());
  if (value.base == Base::integer) value.base = Base::real;
  for (Value& part : value.parts) part = promoted(std::move(part));
  return value;
}

Value promoted(Value value, const Type& type) {
  if (type.base == Base::tuple && value.base == Base::tuple) {
    Type element = type;
    element.array = std::max(0, type.array - 1);
    for (size_t i = 0; i < value.parts.size(); ++i)
      value.parts[i] = promoted(std::move(value.parts[i]), type.array > 0 ? element : type.members.at(i));
    return value;
  }
  return type.base == Base::real && value.base == Base::integer ? promoted(std::move(value)) : value;
}

Type type_of(const Value& value) {
  Type type{value.base, value.array, {}};
  if (value.base != Base::tuple) return type;
  if (value.array == 0)
    for (const Value& part : value.parts) type.members.push_back(type_of(part));
  else if (!value.parts.empty())
    type.members = type_of(value.parts[0]).members;
  return type;
}

std::vector<int64_t> dims(const Value& value) {
  if (value.array > 0) {
    std::vector<int64_t> result{value.count()};
    if (value.parts.empty())
      result.resize(static_cast<size_t>(type_of(value).rank()));  // nothing inside has sizes
    else
      for (const int64_t d : dims(value.parts[0])) result.push_back(d);
    return result;
  }
  if (value.base == Base::matrix) return {value.rows, value.columns};
  if (value.is_container()) return {value.count()};
  return {};
}

bool same_form(const Value& a, const Value& b) {
  if (a.array != b.array || a.parts.size() != b.parts.size()) return false;
  if (a.is_scalar() && b.is_scalar()) return a.base == b.base || a.base == Base::real;
  if (a.array == 0 && a.base != b.base) return false;
  if (a.array == 0 && (a.rows != b.rows || a.columns != b.columns)) return false;
  for (size_t i = 0; i < a.parts.size(); ++i)
    if (!same_form(a.parts[i], b.parts[i])) return false;
  return true;
}

}  // namespace adit::stan::reference
