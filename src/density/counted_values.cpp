#include "density/counted_values.hpp"

#include <bit>
#include <unordered_map>

#include <adit/ops.hpp>

#include "density/counted_rows.hpp"
#include "support/hash.hpp"

namespace adit::sampling {

namespace {

std::vector<uint64_t> bits_of(const Tensor& x) {
  std::vector<uint64_t> bits;
  if (is_float(x.dtype()))
    for (const double number : as_type(x, DType::f64).to_vector<double>())
      bits.push_back(std::bit_cast<uint64_t>(number));
  else
    for (const int64_t number : as_type(x, DType::i64).to_vector<int64_t>())
      bits.push_back(static_cast<uint64_t>(number));
  return bits;
}

// The chosen rows of a column, as many of the first one behind them as are missing.
template <class T>
Tensor chosen(const Tensor& column, const std::vector<DistinctRow>& rows, int64_t extent, DType wide) {
  const std::vector<T> numbers = as_type(column, wide).to_vector<T>();
  std::vector<T> some(static_cast<size_t>(extent), numbers[0]);
  for (size_t i = 0; i < rows.size(); ++i) some[i] = numbers[rows[i].first];
  return as_type(tensor(some), column.dtype());
}

}  // namespace

std::vector<DistinctRow> distinct_rows(std::span<const Tensor> columns, int64_t most) {
  std::vector<std::vector<uint64_t>> bits;
  for (const Tensor& column : columns) bits.push_back(bits_of(column));
  struct Hash {
    size_t operator()(const std::vector<uint64_t>& row) const {
      return hash64(std::as_bytes(std::span(row)), 0);
    }
  };
  std::unordered_map<std::vector<uint64_t>, size_t, Hash> places;
  std::vector<DistinctRow> found;
  std::vector<uint64_t> row(columns.size());
  for (size_t i = 0; i < bits[0].size() && std::ssize(found) <= most; ++i) {
    for (size_t c = 0; c < bits.size(); ++c) row[c] = bits[c][i];
    const auto [at, is_new] = places.emplace(row, found.size());
    if (is_new) found.push_back({i, 0});
    ++found[at->second].count;
  }
  return found;
}

Tensors values_of(const CountedRows& counted, std::span<const Tensor> columns) {
  const std::vector<DistinctRow> rows = distinct_rows(columns, counted.rows);
  Tensors values;
  for (const Tensor& column : columns)
    values.push_back(is_float(column.dtype()) ? chosen<double>(column, rows, counted.extent, DType::f64)
                                              : chosen<int64_t>(column, rows, counted.extent, DType::i64));
  std::vector<double> weights(static_cast<size_t>(counted.extent), 0);
  for (size_t i = 0; i < rows.size(); ++i) weights[i] = static_cast<double>(rows[i].count);
  values.push_back(tensor(weights));
  values.push_back(tensor(std::vector<int32_t>{static_cast<int32_t>(rows.size())}, {}));
  return values;
}

}  // namespace adit::sampling
