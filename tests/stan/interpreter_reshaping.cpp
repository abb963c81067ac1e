// Values made of nothing, put together, cut and reshaped.
#include <algorithm>

#include "interpreter_builtin.hpp"
#include "interpreter_linear.hpp"

namespace adit::stan::reference {

namespace {

using V = const Values&;

size_t reshape_count(const Value& n) {
  expect(n.whole() >= 0, "a size is negative");
  return static_cast<size_t>(n.whole());
}
Numbers reshape_repeated(const Value& n, const Number& x) { return Numbers(reshape_count(n), x); }
Numbers reshape_hot(V a) {
  Numbers result(reshape_count(a[0]));
  result.at(static_cast<size_t>(a[1].whole() - 1)) = 1;
  return result;
}
Numbers reshape_steps(V a) {
  const auto n = static_cast<double>(a[0].whole());
  Numbers result;
  for (int64_t i = 0; i < a[0].whole(); ++i)
    result.push_back(n == 1 ? a[2].number()
                            : a[1].number() +
                                  (a[2].number() - a[1].number()) * (static_cast<double>(i) / (n - 1)));
  return result;
}

Value reshape_rep_array(V a) {
  Value result = a[0];
  for (size_t i = a.size(); i-- > 1;) {
    const Base base = result.base;
    const int axes = result.array + 1;
    result = array_value(base, axes, Values(reshape_count(a[i]), result));
  }
  return result;
}

Value reshape_rep_matrix(V a) {
  if (a.size() == 3) {
    Value result = matrix(a[1].whole(), a[2].whole());
    for (Number& x : result.numbers) x = a[0].number();
    return result;
  }
  const bool is_column = a[0].base == Base::vector;
  Value result = is_column ? matrix(a[0].rows, a[1].whole()) : matrix(a[1].whole(), a[0].columns);
  for (int64_t i = 0; i < result.rows; ++i)
    for (int64_t j = 0; j < result.columns; ++j)
      result.at(i, j) = a[0].numbers[static_cast<size_t>(is_column ? i : j)];
  return result;
}

// n elements from place `from` (counted from 0) on.
Value reshape_part(const Value& x, int64_t from, int64_t n) {
  expect(from >= 0 && n >= 0 && from + n <= x.count(), "a part lies outside");
  if (x.array > 0)
    return array_value(x.base, x.array, Values(x.parts.begin() + from, x.parts.begin() + from + n));
  return like(x, Numbers(x.numbers.begin() + from, x.numbers.begin() + from + n));
}

Value reshape_block(const Value& x, int64_t i, int64_t j, int64_t rows, int64_t columns) {
  expect(i >= 0 && j >= 0 && i + rows <= x.rows && j + columns <= x.columns, "a block lies outside");
  Value result = matrix(rows, columns);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) result.at(r, c) = x.at(i + r, j + c);
  return result;
}

Value reshape_append(V a, bool below) {
  const auto joined = [](const Value& x, const Value& y) {
    Numbers result = flat(x);
    const Numbers more = flat(y);
    result.insert(result.end(), more.begin(), more.end());
    return result;
  };
  const Base line = below ? Base::vector : Base::row_vector;
  if ((a[0].is_scalar() || a[0].is(line)) && (a[1].is_scalar() || a[1].is(line)))
    return below ? vector(joined(a[0], a[1])) : row_vector(joined(a[0], a[1]));
  const Value x = as_matrix(a[0]), y = as_matrix(a[1]);
  expect(below ? x.columns == y.columns : x.rows == y.rows, "sizes of what is joined differ");
  Value result = below ? matrix(x.rows + y.rows, x.columns) : matrix(x.rows, x.columns + y.columns);
  for (int64_t i = 0; i < result.rows; ++i)
    for (int64_t j = 0; j < result.columns; ++j)
      result.at(i, j) =
          i < x.rows && j < x.columns ? x.at(i, j) : y.at(below ? i - x.rows : i, below ? j : j - x.columns);
  return result;
}

Value reshape_append_array(V a) {
  Value x = a[0], y = a[1];
  if (x.base == Base::real || y.base == Base::real) {
    x = promoted(x);
    y = promoted(y);
  }
  Value result = x;
  result.parts.insert(result.parts.end(), y.parts.begin(), y.parts.end());
  return result;
}

Value reshape_reverse(V a) {
  Value result = a[0];
  std::reverse(result.numbers.begin(), result.numbers.end());
  std::reverse(result.parts.begin(), result.parts.end());
  return result;
}

// An array of arrays or of row vectors has rows; else the numbers of the first argument, by columns or by
// rows.
Value reshape_to_matrix(V a) {
  const Value& x = a[0];
  if (a.size() == 1 && x.array > 0) {
    const auto columns = x.parts.empty() ? 0 : static_cast<int64_t>(flat(x.parts[0]).size());
    Value result = matrix(x.count(), columns);
    for (int64_t i = 0; i < result.rows; ++i) {
      const Numbers row = flat(x.parts[static_cast<size_t>(i)]);
      for (int64_t j = 0; j < columns; ++j) result.at(i, j) = row.at(static_cast<size_t>(j));
    }
    return result;
  }
  if (a.size() == 1) return as_matrix(x);
  const Numbers numbers = flat(x);
  Value result = matrix(a[1].whole(), a[2].whole());
  expect(numbers.size() == result.numbers.size(), "to_matrix has another number of elements");
  const bool by_columns = a.size() < 4 || a[3].whole() != 0;
  for (int64_t i = 0; i < result.rows; ++i)
    for (int64_t j = 0; j < result.columns; ++j)
      result.at(i, j) =
          numbers[static_cast<size_t>(by_columns ? j * result.rows + i : i * result.columns + j)];
  return result;
}

Value reshape_to_array_2d(V a) {
  Values rows;
  for (int64_t i = 0; i < a[0].rows; ++i) {
    Numbers row;
    for (int64_t j = 0; j < a[0].columns; ++j) row.push_back(a[0].at(i, j));
    rows.push_back(reals(row));
  }
  return array_value(Base::real, 2, rows);
}

Value reshape_integer_steps(V a) {
  const int64_t n = a[0].whole(), low = a[1].whole(), high = a[2].whole();
  std::vector<int64_t> result;
  if (n == 1) return integers({high});
  const int64_t width = high - low + 1, repeats = (n + width - 1) / width;
  for (int64_t i = 0; i < n; ++i)
    result.push_back(width >= n ? low + i * ((high - low) / (n - 1)) : low + i / repeats);
  return integers(result);
}

std::vector<int64_t> reshape_whole(const Numbers& x) {
  std::vector<int64_t> result;
  for (const Number& v : x) result.push_back(static_cast<int64_t>(v.value));
  return result;
}

}  // namespace

const BuiltinTable& reshaping_functions() {
  static const BuiltinTable table{
      {"rep_vector", [](V a) { return vector(reshape_repeated(a[1], a[0].number())); }},
      {"rep_row_vector", [](V a) { return row_vector(reshape_repeated(a[1], a[0].number())); }},
      {"rep_matrix", reshape_rep_matrix},
      {"rep_array", reshape_rep_array},
      {"zeros_vector", [](V a) { return vector(reshape_repeated(a[0], 0)); }},
      {"zeros_row_vector", [](V a) { return row_vector(reshape_repeated(a[0], 0)); }},
      {"zeros_array", [](V a) { return reals(reshape_repeated(a[0], 0)); }},
      {"zeros_int_array", [](V a) { return integers(std::vector<int64_t>(reshape_count(a[0]), 0)); }},
      {"ones_vector", [](V a) { return vector(reshape_repeated(a[0], 1)); }},
      {"ones_row_vector", [](V a) { return row_vector(reshape_repeated(a[0], 1)); }},
      {"ones_array", [](V a) { return reals(reshape_repeated(a[0], 1)); }},
      {"ones_int_array", [](V a) { return integers(std::vector<int64_t>(reshape_count(a[0]), 1)); }},
      {"one_hot_vector", [](V a) { return vector(reshape_hot(a)); }},
      {"one_hot_row_vector", [](V a) { return row_vector(reshape_hot(a)); }},
      {"one_hot_array", [](V a) { return reals(reshape_hot(a)); }},
      {"one_hot_int_array", [](V a) { return integers(reshape_whole(reshape_hot(a))); }},
      {"linspaced_vector", [](V a) { return vector(reshape_steps(a)); }},
      {"linspaced_row_vector", [](V a) { return row_vector(reshape_steps(a)); }},
      {"linspaced_array", [](V a) { return reals(reshape_steps(a)); }},
      {"linspaced_int_array", reshape_integer_steps},
      {"uniform_simplex",
       [](V a) { return vector(reshape_repeated(a[0], 1 / static_cast<double>(a[0].whole()))); }},
      {"identity_matrix", [](V a) { return identity(a[0].whole()); }},
      {"append_row", [](V a) { return reshape_append(a, true); }},
      {"append_col", [](V a) { return reshape_append(a, false); }},
      {"append_array", reshape_append_array},
      {"head", [](V a) { return reshape_part(a[0], 0, a[1].whole()); }},
      {"tail", [](V a) { return reshape_part(a[0], a[0].count() - a[1].whole(), a[1].whole()); }},
      {"segment", [](V a) { return reshape_part(a[0], a[1].whole() - 1, a[2].whole()); }},
      {"block",
       [](V a) {
         return reshape_block(a[0], a[1].whole() - 1, a[2].whole() - 1, a[3].whole(), a[4].whole());
       }},
      {"sub_row",
       [](V a) {
         return row_vector(reshape_block(a[0], a[1].whole() - 1, a[2].whole() - 1, 1, a[3].whole()).numbers);
       }},
      {"sub_col",
       [](V a) {
         return vector(reshape_block(a[0], a[1].whole() - 1, a[2].whole() - 1, a[3].whole(), 1).numbers);
       }},
      {"row",
       [](V a) { return row_vector(reshape_block(a[0], a[1].whole() - 1, 0, 1, a[0].columns).numbers); }},
      {"col", [](V a) { return vector(reshape_block(a[0], 0, a[1].whole() - 1, a[0].rows, 1).numbers); }},
      {"reverse", reshape_reverse},
      {"to_vector", [](V a) { return vector(flat(a[0])); }},
      {"to_row_vector", [](V a) { return row_vector(flat(a[0])); }},
      {"to_matrix", reshape_to_matrix},
      {"to_array_1d",
       [](V a) { return a[0].base == Base::integer ? integers(flat_integers(a[0])) : reals(flat(a[0])); }},
      {"to_array_2d", reshape_to_array_2d},
  };
  return table;
}

}  // namespace adit::stan::reference
