// Values of the plain interpreter: numbers, containers, arrays and tuples, each as itself.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "interpreter_number.hpp"
#include "stan/type.hpp"

namespace adit::stan::reference {

// A program that does what it must not (sizes, places), or that needs what the interpreter does not have.
struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// reject(...), or a constraint of transformed parameters that does not hold: the density is zero here.
struct Rejected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Value {
  Base base = Base::none;
  int array = 0;        // axes of arrays: then the elements are parts
  int64_t integer = 0;  // of an int
  Number real;          // of a real
  int64_t rows = 0, columns = 0;
  std::vector<Number> numbers;  // of a vector, row vector or matrix (column by column)
  std::vector<Value> parts;     // elements of an array, members of a tuple

  bool is_scalar() const { return array == 0 && (base == Base::integer || base == Base::real); }
  bool is_container() const {
    return array == 0 && (base == Base::vector || base == Base::row_vector || base == Base::matrix);
  }
  bool is(Base other) const { return array == 0 && base == other; }
  Number number() const;  // of a scalar
  int64_t whole() const;  // of an int
  int64_t count() const;  // elements of an array or a container
  Number& at(int64_t i, int64_t j) { return numbers[static_cast<size_t>(j * rows + i)]; }
  const Number& at(int64_t i, int64_t j) const { return numbers[static_cast<size_t>(j * rows + i)]; }
};
using Values = std::vector<Value>;
using Numbers = std::vector<Number>;
using Scope = std::unordered_map<std::string, Value>;

Value integer(int64_t value);
Value real(const Number& value);
Value vector(Numbers numbers);
Value row_vector(Numbers numbers);
Value matrix(int64_t rows, int64_t columns);  // of zeros
Value array_value(Base base, int axes, Values parts);
Value reals(const Numbers& numbers);                  // array of reals
Value integers(const std::vector<int64_t>& numbers);  // array of ints
Value like(const Value& form, Numbers numbers);  // of the kind of a vector, row vector, or array of reals

// All scalars in order; matrices give columns.
Numbers flat(const Value& value);
std::vector<int64_t> flat_integers(const Value& value);
// Ints as reals, within arrays and tuples too.
Value promoted(Value value);
// As a value of that type: ints become reals where it says so.
Value promoted(Value value, const Type& type);
Type type_of(const Value& value);
std::vector<int64_t> dims(const Value& value);
bool same_form(const Value& a, const Value& b);  // kinds and sizes; an int counts as a real

// Elementwise.
template <class F>
Value map(const Value& x, const F& f) {
  if (x.is_scalar()) return real(f(x.number()));
  Value result = x;
  if (result.base == Base::integer) result.base = Base::real;
  for (Number& v : result.numbers) v = f(v);
  for (Value& part : result.parts) part = map(part, f);
  return result;
}
void expect(bool condition, const std::string& words);

// Elementwise on two; a scalar stands for all of the other.
template <class F>
Value zip(const Value& a, const Value& b, const F& f) {
  if (a.is_scalar()) {
    const Number x = a.number();
    return map(b, [&](const Number& y) { return f(x, y); });
  }
  if (b.is_scalar()) {
    const Number y = b.number();
    return map(a, [&](const Number& x) { return f(x, y); });
  }
  expect(a.array == b.array && a.numbers.size() == b.numbers.size() && a.parts.size() == b.parts.size() &&
             a.rows == b.rows && a.columns == b.columns,
         "sizes of two operands differ");
  Value result = a;
  if (result.base == Base::integer) result.base = b.base;
  if (result.base == Base::integer) result.base = Base::real;
  for (size_t i = 0; i < a.numbers.size(); ++i) result.numbers[i] = f(a.numbers[i], b.numbers[i]);
  for (size_t i = 0; i < a.parts.size(); ++i) result.parts[i] = zip(a.parts[i], b.parts[i], f);
  return result;
}

}  // namespace adit::stan::reference
