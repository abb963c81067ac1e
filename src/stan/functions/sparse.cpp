// Sparse matrices in compressed rows: values w, their columns v and the starts u of rows in them, from 1 on.
// Places have to be the same in all rounds of a loop.
#include <array>
#include <vector>

#include "graph/row.hpp"
#include "stan/functions/lanes.hpp"
#include "stan/functions/rows.hpp"

namespace adit::stan {

namespace {

Tensor counted_from_zero(const Tensor& x) { return as_type(x, DType::i64) - full_integer({}, 1); }

void expect_one_structure(const Arguments& a, const char* name) {
  if (a.in_lanes[3] || a.in_lanes[4])
    graph::fail(name, "v and u", "expected the same ones in all rounds of a loop");
}

// The row of each of `count` values: how many rows have begun at or before it.
Tensor csr_rows(const Tensor& starts, int64_t count) {
  const int64_t rows = starts.dim(0) - 1;
  const Tensor begins = expand_dims(slice(starts, {1}, {rows}), -1);  // of all but the first
  const Tensor marks = indexed_add(full_integer({count + 1}, 0), begins, full_integer({rows}, 1));
  Tensor row = slice(marks, {0}, {count});
  for (int64_t step = 1; step < count; step *= 2) {
    const std::array padding{Padding{step, -step, 0}};
    row = row + pad(row, full_integer({}, 0), padding);
  }
  return row;
}

// csr_matrix_times_vector(rows, columns, w, v, u, b)
Tensor sparse_times_vector(const Arguments& a) {
  const Part values = part(a, 2), b = part(a, 5);
  const int64_t count = values.x.dim(-1), rows = a.at(4).dim(-1) - 1;
  expect_one_structure(a, "csr_matrix_times_vector");
  const Tensor columns = counted_from_zero(a.at(3)), starts = counted_from_zero(a.at(4));
  const Part terms = elementwise(values, {take(b.x, columns, -1), b.in_lanes}, multiply);
  const Tensor row = expand_dims(csr_rows(starts, count), -1);
  if (!terms.in_lanes) return finished(a, {indexed_add(zeros({rows}, DType::f64), row, terms.x), false});
  const Tensor sums =
      indexed_add(zeros({rows, terms.x.dim(0)}, DType::f64), row, transpose(terms.x, {1, 0}), {0});
  return transpose(sums, {1, 0});
}

// csr_to_dense_matrix(rows, columns, w, v, u)
Tensor sparse_to_dense(const Arguments& a) {
  expect_one_structure(a, "csr_to_dense_matrix");
  const Part values = part(a, 2);
  const int64_t rows = size_argument(a, 0), columns = size_argument(a, 1), count = values.x.dim(-1);
  const Tensor places = stack({csr_rows(counted_from_zero(a.at(4)), count), counted_from_zero(a.at(3))}, -1);
  if (!values.in_lanes)
    return finished(a, {indexed_add(zeros({rows, columns}, DType::f64), places, values.x), false});
  const Tensor sums = indexed_add(zeros({rows, columns, values.x.dim(0)}, DType::f64), places,
                                  transpose(values.x, {1, 0}), {0, 1});
  return transpose(sums, {2, 0, 1});
}

// Of a matrix whose value is known: which places are not zero decides the sizes.
struct Places {
  std::vector<int64_t> rows, columns, starts;
};
Places places_of(const Arguments& a) {
  if (a.in_lanes[0]) graph::fail("csr_extract", "matrix", "expected one outside of loops over data");
  const std::vector<double> numbers = stop_gradient(a.real(0)).to_vector<double>();
  const int64_t rows = a.at(0).dim(0), columns = a.at(0).dim(1);
  Places places;
  for (int64_t i = 0; i < rows; ++i) {
    places.starts.push_back(static_cast<int64_t>(places.rows.size()) + 1);
    for (int64_t j = 0; j < columns; ++j)
      if (numbers[static_cast<size_t>(i * columns + j)] != 0) {
        places.rows.push_back(i);
        places.columns.push_back(j + 1);
      }
  }
  places.starts.push_back(static_cast<int64_t>(places.rows.size()) + 1);
  return places;
}
Tensor sparse_values(const Arguments& a) {
  const Places places = places_of(a);
  std::vector<int64_t> flat;
  for (size_t i = 0; i < places.rows.size(); ++i)
    flat.push_back(places.rows[i] * a.at(0).dim(1) + places.columns[i] - 1);
  return finished(a, {take(flatten(a.real(0)), tensor(flat)), false});
}
Tensor sparse_columns(const Arguments& a) { return finished(a, {tensor(places_of(a).columns), false}); }
Tensor sparse_starts(const Arguments& a) { return finished(a, {tensor(places_of(a).starts), false}); }

constexpr std::array sparse_table{
    GeneralFunction{"csr_extract_u", sparse_starts},
    GeneralFunction{"csr_extract_v", sparse_columns},
    GeneralFunction{"csr_extract_w", sparse_values},
    GeneralFunction{"csr_matrix_times_vector", sparse_times_vector},
    GeneralFunction{"csr_to_dense_matrix", sparse_to_dense},
};

}  // namespace

std::span<const GeneralFunction> sparse_functions() { return sparse_table; }

}  // namespace adit::stan
