// Built-in functions that only move, make or count numbers: the same for known and traced ones.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>
#include <numeric>

#include "stan/evaluator.hpp"
#include "support/machine.hpp"

namespace adit::stan {

namespace {

const Type matrix_type = scalar_type(Base::matrix);

std::vector<double> ramp(int64_t count, double first = 0) {
  std::vector<double> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

Spot range_spot(int64_t first, int64_t count) {
  return {Spot::Kind::many, known_value(array_of(scalar_type(Base::integer)), {count},
                                        ramp(count, static_cast<double>(first)))};
}

}  // namespace

const std::map<std::string, Evaluator::Structural>& Evaluator::structural() {
  static const std::map<std::string, Structural> table = [] {
    std::map<std::string, Structural> names;
    const auto add = [&](Structural function, std::initializer_list<const char*> list) {
      for (const char* name : list) names[name] = function;
    };
    add(&Evaluator::sizes, {"size", "num_elements", "rows", "cols", "dims"});
    add(&Evaluator::repeated, {"rep_vector", "rep_row_vector", "rep_matrix", "rep_array"});
    add(&Evaluator::reshaped,
        {"to_vector", "to_row_vector", "to_matrix", "to_array_1d", "to_array_2d", "transpose", "to_int"});
    add(&Evaluator::appended, {"append_row", "append_col", "append_array"});
    add(&Evaluator::cut_out,
        {"head", "tail", "segment", "sub_row", "sub_col", "block", "row", "col", "reverse"});
    add(&Evaluator::constants, {"pi", "e", "sqrt2", "log2", "log10", "not_a_number", "positive_infinity",
                                "negative_infinity", "machine_precision", "get_lp"});
    add(&Evaluator::made,
        {"ones_vector", "ones_row_vector", "ones_array", "ones_int_array", "zeros_vector", "zeros_row_vector",
         "zeros_array", "zeros_int_array", "identity_matrix", "uniform_simplex", "one_hot_vector",
         "one_hot_row_vector", "one_hot_array", "one_hot_int_array", "linspaced_vector",
         "linspaced_row_vector", "linspaced_array", "linspaced_int_array"});
    add(&Evaluator::reduced, {"sum", "prod", "min", "max", "mean", "variance", "sd", "quantile"});
    add(&Evaluator::ordered, {"sort_asc", "sort_desc", "sort_indices_asc", "sort_indices_desc", "rank"});
    add(&Evaluator::decomposed, {"csr_extract", "eigendecompose_sym", "qr", "qr_thin", "svd"});
    return names;
  }();
  return table;
}

Value Evaluator::sizes(const std::string& name, std::vector<Value>& a, const Type&, const Place&) {
  const Shape& shape = a[0].shape;
  if (name == "dims") {
    return known_value(array_of(scalar_type(Base::integer)), {shape.size()}, {shape.begin(), shape.end()});
  }
  if (name == "num_elements") return known_integer(a[0].size());
  const Base base = a[0].type.base;
  if (name == "size")
    return known_integer(shape.empty() ? 1 : a[0].type.is(Base::matrix) ? a[0].size() : shape[0]);
  const bool rows = name == "rows";
  if (base == Base::matrix) return known_integer(shape[rows ? 0 : 1]);
  return known_integer(rows == (base == Base::vector) ? shape[0] : 1);
}

// The same numbers in row-major order with other axes.
Value Evaluator::flattened(const Value& value, const Type& type, const Shape& shape) {
  Value now = whole(value);
  if (!now.is_known()) {
    Shape full_shape = shape;
    if (levels_.lanes(now.level, now.inside) > 0) full_shape.insert(0, now.tensor.shape()[0]);
    now.tensor = reshape(now.tensor, full_shape);
  }
  now.type = type, now.shape = shape, now.promise = '.';
  return now;
}

// Zeros. A few letters may ask for more than there is.
std::vector<double> Evaluator::numbers_of_size(const std::string& name, const Shape& shape, int64_t lanes,
                                               const Place& place) {
  double count = static_cast<double>(lanes);
  for (const int64_t extent : shape) count *= static_cast<double>(extent);
  if (count > static_cast<double>(int64_t{1} << 31))
    throw RunError{place, fmt::format("{}: expected at most 2^31 numbers, got {:.0f}", name, count)};
  try {
    if (8 * count > static_cast<double>(machine::memory_bytes())) throw std::bad_alloc();
    return std::vector<double>(static_cast<size_t>(count));
  } catch (const std::bad_alloc&) {
    throw RunError{place, fmt::format("{}: expected memory for {:.0f} numbers, {:.1f} GB, got none", name,
                                      count, 8e-9 * count)};
  }
}

Value Evaluator::repeated(const std::string& name, std::vector<Value>& a, const Type& type,
                          const Place& place) {
  const Value value = whole(a[0]);
  Shape shape;
  const bool of_vector = name == "rep_matrix" && value.type.rank() == 1;
  std::vector<int64_t> counts;
  for (size_t i = 1; i < a.size(); ++i) {
    const double count = number_of(a[i], place);
    if (!(count >= 0)) fail(place, fmt::format("{}: expected a size of at least 0, got {}", name, count));
    counts.push_back(static_cast<int64_t>(count));
  }
  if (of_vector) {
    const bool column = value.type.base == Base::vector;
    shape = column ? Shape{value.shape[0], counts[0]} : Shape{counts[0], value.shape[0]};
  } else {
    for (const int64_t count : counts) shape.push_back(count);
    for (const int64_t extent : value.shape) shape.push_back(extent);
  }
  if (value.is_known()) {
    const int64_t lanes = value.level ? levels_.at(value.level).total : 1;
    std::vector<double> numbers = numbers_of_size(name, shape, lanes, place);
    const int64_t size = element_count(shape);
    const int64_t own = value.size();
    const bool column = of_vector && value.type.base == Base::vector;
    for (int64_t i = 0; i < lanes * size; ++i) {
      const int64_t k = i % size, from = own == 0 ? 0 : column ? k / counts[0] : k % own;
      numbers[static_cast<size_t>(i)] = value.known->numbers[static_cast<size_t>(i / size * own + from)];
    }
    return known_value(type, shape, std::move(numbers), value.level);
  }
  const int64_t lanes = levels_.lanes(value.level, value.inside);
  Shape narrow = value.shape, wide = shape;
  if (of_vector && value.type.base == Base::vector)
    narrow.push_back(1);
  else
    while (narrow.size() < shape.size()) narrow.insert(0, 1);
  if (lanes > 0) narrow.insert(0, lanes), wide.insert(0, lanes);
  return traced_value(type, shape, broadcast_to(reshape(value.tensor, narrow), wide), value.level,
                      value.inside);
}

Value Evaluator::reshaped(const std::string& name, std::vector<Value>& a, const Type& type,
                          const Place& place) {
  Value value = whole(a[0]);
  if (name == "transpose") return transposed(value);
  if (name == "to_int") {
    demand_each(
        value, place, "to_int: expected a number that an integer of 32 bits can hold, got ",
        [](double x) { return std::fabs(std::trunc(x)) <= 2147483647.0; },
        [](const Tensor& x) { return abs(trunc(x)) <= 2147483647.0; });
    return elementwise(
        type, a, place, [](const double* x) { return std::trunc(x[0]); },
        [](const Tensor* x) { return trunc(x[0]); });
  }
  const bool is_matrix = value.type.is(Base::matrix);
  if (name == "to_matrix") {
    bool by_column = true;
    Shape shape;
    if (a.size() == 1) {
      if (value.shape.size() == 2) return flattened(value, type, value.shape);
      shape = value.type.base == Base::row_vector ? Shape{1, value.shape[0]} : Shape{value.shape[0], 1};
      return flattened(value, type, shape);
    }
    shape = {static_cast<int64_t>(number_of(a[1], place)), static_cast<int64_t>(number_of(a[2], place))};
    if (a.size() == 4) by_column = number_of(a[3], place) != 0;
    if (element_count(shape) != value.size())
      fail(place, fmt::format("to_matrix: expected {} numbers, got {}", element_count(shape), value.size()));
    if (is_matrix) value = transposed(value);  // its numbers go by columns
    if (!by_column) return flattened(value, type, shape);
    return transposed(flattened(value, matrix_type, {shape[1], shape[0]}));
  }
  if (name == "to_array_2d") return flattened(value, type, value.shape);
  if (is_matrix) value = transposed(value);
  return flattened(value, type, {value.size()});
}

Value Evaluator::appended(const std::string& name, std::vector<Value>& a, const Type& type,
                          const Place& place) {
  // As parts along one axis: pieces of rows or, for columns of matrices, of the transposed.
  const bool columns = name == "append_col" && type.base == Base::matrix;
  std::vector<Value> rows;
  for (Value part : a) {
    part = whole(part);
    if (part.shape.empty()) part = flattened(part, array_of(part.type), {1});
    if (type.base == Base::matrix && part.shape.size() == 1) {
      const bool is_column = part.type.base == Base::vector;
      part = flattened(part, matrix_type, is_column ? Shape{part.shape[0], 1} : Shape{1, part.shape[0]});
    }
    rows.push_back(columns ? transposed(part) : part);
  }
  if (rows[0].shape.size() != rows[1].shape.size() ||
      (rows[0].shape.size() > 1 && !(without_first(rows[0].shape) == without_first(rows[1].shape)) &&
       rows[0].size() > 0 && rows[1].size() > 0))
    fail(place, fmt::format("{}: expected sizes that agree, got {} and {}", name, to_string(a[0].shape),
                            to_string(a[1].shape)));
  if (rows[0].size() == 0 && type.base != Base::matrix) return promoted(rows[1], type);
  if (rows[1].size() == 0 && type.base != Base::matrix) return promoted(rows[0], type);
  Shape shape = rows[0].shape;
  shape[0] += rows[1].shape[0];
  Value joined;
  if (rows[0].is_known() && rows[1].is_known()) {
    const int level = std::max(rows[0].level, rows[1].level);
    const Value x = levels_.lifted(rows[0], level), y = levels_.lifted(rows[1], level);
    std::vector<double> numbers;
    const int64_t lanes = level ? levels_.at(level).total : 1;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (const Value* part : {&x, &y})
        numbers.insert(numbers.end(), part->known->numbers.begin() + lane * part->size(),
                       part->known->numbers.begin() + (lane + 1) * part->size());
    joined = known_value(columns ? matrix_type : type, shape, std::move(numbers), level);
  } else {
    const Met met = meet(rows);
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < rows.size(); ++i) {
      Shape own = rows[i].shape;
      if (met.lanes > 0) own.insert(0, met.lanes);
      tensors.push_back(met.tensors[i].shape() == own ? met.tensors[i] : broadcast_to(met.tensors[i], own));
    }
    joined = traced_value(columns ? matrix_type : type, shape, concatenate(tensors, met.lanes > 0 ? 1 : 0),
                          met.level, met.inside);
  }
  return columns ? transposed(joined) : joined;
}

Value Evaluator::cut_out(const std::string& name, std::vector<Value>& a, const Type& type,
                         const Place& place) {
  const Value& value = a[0];
  const int64_t extent = value.shape[0];
  const std::string who = name + ": ";
  const auto single = [&](const Value& index, int64_t end) {
    return Spot{Spot::Kind::single, places_of(index, end, place, who)};
  };
  const auto range = [&](const Value& first, int64_t count, int64_t end) {
    // Where the first one differs from round to round the list does.
    if (count < 0) fail(place, fmt::format("{}: expected a size of at least 0, got {}", name, count));
    if (count == 0) return range_spot(0, 0);
    const Value last = operate(Operator::add, first, known_integer(count - 1), place);
    const bool is_sure = expect_places(first, end, place, who) && expect_places(last, end, place, who);
    const Value start = operate(Operator::subtract, first, known_integer(1), place);
    if (is_sure && start.level == 0) return range_spot(static_cast<int64_t>(start.known->numbers[0]), count);
    const Value steps = known_value(array_of(scalar_type(Base::integer)), {count}, ramp(count));
    const Value all = operate(Operator::add, start, steps, place);
    return Spot{Spot::Kind::many, is_sure ? all : nearest_places(all, end)};
  };
  const auto count_of = [&](const Value& count) { return static_cast<int64_t>(number_of(count, place)); };
  if (name == "reverse") {
    std::vector<double> numbers = ramp(extent);
    std::reverse(numbers.begin(), numbers.end());
    return at(value,
              {{Spot::Kind::many, known_value(array_of(scalar_type(Base::integer)), {extent}, numbers)}},
              type, place);
  }
  if (name == "head") return at(value, {range(known_integer(1), count_of(a[1]), extent)}, type, place);
  if (name == "tail") {
    const int64_t count = count_of(a[1]);
    return at(value, {range(known_integer(extent - count + 1), count, extent)}, type, place);
  }
  if (name == "segment") return at(value, {range(a[1], count_of(a[2]), extent)}, type, place);
  if (name == "row") return at(value, {single(a[1], extent)}, type, place);
  const int64_t columns = value.shape[1];
  if (name == "col") return at(value, {Spot{}, single(a[1], columns)}, type, place);
  if (name == "sub_col")
    return at(value, {range(a[1], count_of(a[3]), extent), single(a[2], columns)}, type, place);
  if (name == "sub_row")
    return at(value, {single(a[1], extent), range(a[2], count_of(a[3]), columns)}, type, place);
  return at(value, {range(a[1], count_of(a[3]), extent), range(a[2], count_of(a[4]), columns)}, type, place);
}

Value Evaluator::constants(const std::string& name, std::vector<Value>& a, const Type& type,
                           const Place& place) {
  if (!a.empty()) {  // log2(x) and log10(x) share their names with constants
    const bool two = name == "log2";
    return elementwise(
        type, a, place, [=](const double* x) { return two ? std::log2(x[0]) : std::log10(x[0]); },
        [=](const Tensor* x) { return two ? adit::log2(x[0]) : adit::log10(x[0]); });
  }
  static const std::map<std::string, double> numbers{
      {"pi", std::numbers::pi},
      {"e", std::numbers::e},
      {"sqrt2", std::numbers::sqrt2},
      {"log2", std::numbers::ln2},
      {"log10", std::numbers::ln10},
      {"not_a_number", std::nan("")},
      {"positive_infinity", INFINITY},
      {"negative_infinity", -INFINITY},
      {"machine_precision", std::numeric_limits<double>::epsilon()}};
  const auto found = numbers.find(name);
  if (found == numbers.end())
    fail(place, fmt::format("the function {} is not supported; use target()", name));
  return known_real(found->second);
}

namespace {

// In even steps of whole numbers, or as often each: the last may stay below `high`, as in Stan.
std::vector<double> even_integers(int64_t low, int64_t high, int64_t count) {
  std::vector<double> numbers;
  const int64_t gap = std::max<int64_t>(0, high - low), step = count > 1 ? gap / (count - 1) : 0;
  const int64_t times = gap + 1 < count ? (count + gap) / (gap + 1) : 1;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(static_cast<double>(low + (gap + 1 < count ? i / times : i * step)));
  if (count == 1) numbers[0] = static_cast<double>(high);
  return numbers;
}

}  // namespace

Value Evaluator::made(const std::string& name, std::vector<Value>& a, const Type& type, const Place& place) {
  const auto count = static_cast<int64_t>(number_of(a[0], place));
  if (count < 0) fail(place, fmt::format("{}: expected a size of at least 0, got {}", name, count));
  const auto size = static_cast<size_t>(count);
  if (name == "identity_matrix") {
    std::vector<double> numbers = numbers_of_size(name, {count, count}, 1, place);
    for (size_t i = 0; i < size; ++i) numbers[i * size + i] = 1;
    return known_value(type, {count, count}, std::move(numbers));
  }
  std::vector<double> numbers = numbers_of_size(name, {count}, 1, place);
  if (name.starts_with("ones")) numbers.assign(size, 1);
  if (name == "uniform_simplex") numbers.assign(size, 1.0 / static_cast<double>(count));
  if (name.starts_with("one_hot")) {
    const double at = number_of(a[1], place);
    if (!(at >= 1 && at <= static_cast<double>(count)))
      fail(place, fmt::format("{}: expected a place from 1 to {}, got {}", name, count, at));
    numbers[static_cast<size_t>(at) - 1] = 1;
  }
  if (name == "linspaced_int_array") {
    numbers = even_integers(static_cast<int64_t>(number_of(a[1], place)),
                            static_cast<int64_t>(number_of(a[2], place)), count);
  } else if (name.starts_with("linspaced")) {
    const double low = number_of(a[1], place), high = number_of(a[2], place);
    for (size_t i = 0; i < size; ++i) {
      const double share = count > 1 ? static_cast<double>(i) / static_cast<double>(count - 1) : 1;
      numbers[i] = i + 1 == size ? high : low + (high - low) * share;
    }
  }
  return known_value(type, {count}, std::move(numbers));
}

namespace {

double reduced_number(const std::string& name, std::span<const double> x) {
  const auto count = static_cast<double>(x.size());
  double sum = 0, product = 1;
  for (const double v : x) sum += v, product *= v;
  if (name == "sum") return sum;
  if (name == "prod") return product;
  if (name == "min") return x.empty() ? INFINITY : *std::min_element(x.begin(), x.end());
  if (name == "max") return x.empty() ? -INFINITY : *std::max_element(x.begin(), x.end());
  if (name == "mean") return sum / count;
  double squares = 0;
  for (const double v : x) squares += (v - sum / count) * (v - sum / count);
  const double variance = x.size() > 1 ? squares / (count - 1) : 0;
  return name == "sd" ? std::sqrt(variance) : variance;
}

// R's seventh type. A share outside of 0 and 1 was told.
double quantile_number(std::vector<double> x, double p) {
  std::sort(x.begin(), x.end());
  const double place = (p >= 0 ? std::min(p, 1.0) : 0) * static_cast<double>(x.size() - 1);
  const auto low = static_cast<size_t>(place), high = std::min(low + 1, x.size() - 1);
  return x[low] + (place - static_cast<double>(low)) * (x[high] - x[low]);
}

}  // namespace

Value Evaluator::reduced(const std::string& name, std::vector<Value>& a, const Type& type,
                         const Place& place) {
  if (a.size() == 2 && name != "quantile") {  // of two integers
    const bool least = name == "min";
    return elementwise(
        type, a, place, [=](const double* x) { return least ? std::min(x[0], x[1]) : std::max(x[0], x[1]); },
        [=](const Tensor* x) { return least ? minimum(x[0], x[1]) : maximum(x[0], x[1]); });
  }
  if (name == "sum")
    if (const std::optional<Value> total = sum_of_pieces(name, a[0], place)) return *total;
  const Value value = whole(a[0]);
  const bool is_of_integers = type.is_integer() && (name == "min" || name == "max");
  if (value.size() == 0 &&
      (is_of_integers || name == "mean" || name == "sd" || name == "variance" || name == "quantile"))
    fail(place, fmt::format("{}: expected at least one number, got none", name));
  if (name == "quantile") return quantiles(value, whole(a[1]), type, place);
  if (!value.is_known()) {
    std::vector<Value> arguments{value};
    return general(name, arguments, type, place);
  }
  const int64_t lanes = value.level ? levels_.at(value.level).total : 1;
  const auto size = static_cast<size_t>(value.size());
  std::vector<double> results;
  for (int64_t lane = 0; lane < lanes; ++lane)
    results.push_back(
        reduced_number(name, {value.known->numbers.data() + static_cast<size_t>(lane) * size, size}));
  return known_value(type, {}, std::move(results), value.level);
}

Value Evaluator::quantiles(const Value& value, const Value& shares, const Type& type, const Place& place) {
  if (!value.is_known() || !shares.is_known()) {
    if (has_density && !value.is_known())
      fail(place, "quantile of values that follow from parameters is not supported");
    std::vector<Value> arguments{value, shares};
    return general("quantile", arguments, type, place);
  }
  const int level = std::max(value.level, shares.level);
  const Value x = levels_.lifted(value, level), p = levels_.lifted(shares, level);
  const auto size = static_cast<size_t>(value.size()), each = static_cast<size_t>(shares.size());
  std::vector<double> results;
  for (size_t i = 0; i < p.known->numbers.size(); ++i) {
    const auto first = x.known->numbers.begin() + static_cast<int64_t>(i / each * size);
    results.push_back(quantile_number({first, first + static_cast<int64_t>(size)}, p.known->numbers[i]));
  }
  return known_value(type, shares.shape, std::move(results), level);
}

Value Evaluator::ordered(const std::string& name, std::vector<Value>& a, const Type& type,
                         const Place& place) {
  const Value value = whole(a[0]);
  const int64_t lanes = value.level ? levels_.at(value.level).total : 1, size = value.size();
  const int64_t of = name == "rank" ? static_cast<int64_t>(number_of(a[1], place)) : 1;
  if (name == "rank" && (of < 1 || of > size))
    fail(place, fmt::format("rank: expected a place from 1 to {}, got {}", size, of));
  if (!value.is_known()) {
    std::vector<Value> arguments{value};
    if (a.size() > 1) arguments.push_back(a[1]);
    return general(name, arguments, type, place);
  }
  std::vector<double> results;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const double* x = value.known->numbers.data() + lane * size;
    if (name == "rank") {
      results.push_back(
          static_cast<double>(std::count_if(x, x + size, [&](double v) { return v < x[of - 1]; })));
      continue;
    }
    std::vector<int64_t> order(static_cast<size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    const bool down = name.ends_with("desc");
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t i, int64_t j) { return down ? x[i] > x[j] : x[i] < x[j]; });
    for (const int64_t i : order)
      results.push_back(name.find("indices") != name.npos ? static_cast<double>(i + 1) : x[i]);
  }
  return known_value(type, name == "rank" ? Shape{} : value.shape, std::move(results), value.level);
}

}  // namespace adit::stan
