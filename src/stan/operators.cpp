// Operators on known and traced values.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "stan/domains.hpp"
#include "stan/evaluator.hpp"

namespace adit::stan {

std::string sizes_text(const Value& value) {
  if (value.shape.empty()) return to_text(value.type);
  return fmt::format("{} of size {}", to_text(value.type), to_string(value.shape));
}

namespace {

bool is_container(const Value& value) { return value.type.rank() > 0; }

// With axes of 1 between the lanes and what the tensor has of its own, so that it meets tensors of `rank` own
// axes.
Tensor aligned(const Tensor& tensor, bool in_lanes, int own, int rank) {
  if (!in_lanes || own == rank) return tensor;
  Shape shape = tensor.shape();
  for (int i = own; i < rank; ++i) shape.insert(1, 1);
  return reshape(tensor, shape);
}

// Integers have no -0: a product, a quotient or a remainder of theirs gets a 0 added, which leaves all
// others.
double number_of_operator(Operator op, double a, double b, bool of_integers) {
  switch (op) {
    case Operator::add: return a + b;
    case Operator::subtract: return a - b;
    case Operator::multiply:
    case Operator::element_multiply: return of_integers ? a * b + 0.0 : a * b;
    case Operator::divide:
    case Operator::element_divide: return of_integers ? std::trunc(a / b) + 0.0 : a / b;
    case Operator::integer_divide: return std::trunc(a / b) + 0.0;
    case Operator::modulo: return std::fmod(a, b) + 0.0;
    case Operator::power:
    case Operator::element_power: return std::pow(a, b);
    case Operator::equal: return a == b;
    case Operator::not_equal: return a != b;
    case Operator::less: return a < b;
    case Operator::less_equal: return a <= b;
    case Operator::greater: return a > b;
    case Operator::greater_equal: return a >= b;
    case Operator::logical_and: return a != 0 && b != 0;
    case Operator::logical_or: return a != 0 || b != 0;
    default: return std::nan("");
  }
}

Tensor tensor_of_operator(Operator op, const Tensor& a, const Tensor& divisor, bool of_integers) {
  const auto truth = [](const Tensor& x) { return as_type(x, DType::f64); };
  const bool divides = op == Operator::divide || op == Operator::integer_divide || op == Operator::modulo;
  // A divisor of 0 was told, and is rejected: its quotient is a number, so that no other term is to blame.
  const Tensor b =
      of_integers && divides ? select(divisor == 0.0, full({}, 1.0, DType::f64), divisor) : divisor;
  switch (op) {
    case Operator::add: return a + b;
    case Operator::subtract: return a - b;
    case Operator::multiply:
    case Operator::element_multiply: return of_integers ? a * b + 0.0 : a * b;
    case Operator::divide:
    case Operator::element_divide: return of_integers ? trunc(a / b) + 0.0 : a / b;
    case Operator::integer_divide: return trunc(a / b) + 0.0;
    case Operator::modulo: return remainder(a, b) + 0.0;
    case Operator::power:
    case Operator::element_power: return pow(a, b);
    case Operator::equal: return truth(equal(a, b));
    case Operator::not_equal: return truth(not_equal(a, b));
    case Operator::less: return truth(less(a, b));
    case Operator::less_equal: return truth(less_equal(a, b));
    case Operator::greater: return truth(greater(a, b));
    case Operator::greater_equal: return truth(greater_equal(a, b));
    case Operator::logical_and: return truth(logical_and(a != 0.0, b != 0.0));
    default: return truth(logical_or(a != 0.0, b != 0.0));
  }
}

bool gives_truth(Operator op) { return op >= Operator::logical_or && op <= Operator::greater_equal; }

}  // namespace

Value Evaluator::elementwise(const Type& type, std::span<const Value> operands, const Place& place,
                             const std::function<double(const double*)>& number,
                             const std::function<Tensor(const Tensor*)>& tensor) {
  const Value* largest = &operands[0];
  bool known = number != nullptr;
  int level = 0;
  std::vector<Value> parts;
  for (const Value& operand : operands) {
    parts.push_back(whole(operand));
    known = known && parts.back().is_known();
    level = std::max(level, parts.back().level);
    if (operand.shape.size() > largest->shape.size()) largest = &operand;
  }
  for (const Value& operand : operands)
    if (is_container(operand) && !(operand.shape == largest->shape))
      fail(place, fmt::format("expected operands of one size, got {} and {}", sizes_text(*largest),
                              sizes_text(operand)));
  const Shape shape = largest->shape;
  if (known) {
    const int64_t lanes = level ? levels_.at(level).total : 1, size = element_count(shape);
    std::vector<double> results(static_cast<size_t>(lanes * size));
    for (Value& part : parts)
      if (part.level > 0) part = levels_.lifted(part, level);
    std::vector<double> at(parts.size());
    for (int64_t i = 0; i < lanes * size; ++i) {
      for (size_t k = 0; k < parts.size(); ++k) {
        const int64_t lane = parts[k].level ? i / size : 0;
        const int64_t place_of = is_container(parts[k]) ? lane * size + i % size : lane;
        at[k] = parts[k].known->numbers[static_cast<size_t>(place_of)];
      }
      results[static_cast<size_t>(i)] = number(at.data());
    }
    return known_value(type, shape, std::move(results), level);
  }
  const Met met = meet(parts);
  std::vector<Tensor> tensors;
  for (size_t k = 0; k < parts.size(); ++k)
    tensors.push_back(aligned(met.tensors[k], met.in_lanes[k], parts[k].shape.size(), shape.size()));
  Tensor result = tensor(tensors.data());
  Shape full_shape = shape;
  if (met.lanes > 0) full_shape.insert(0, met.lanes);
  if (!(result.shape() == full_shape)) result = broadcast_to(result, full_shape);
  return traced_value(type, shape, result, met.level, met.inside);
}

Value Evaluator::operate(Operator op, const Value& a, const Value& b, const Place& place) {
  const bool of_integers = a.type.is_integer() && b.type.is_integer();
  const bool both = is_container(a) && is_container(b);
  if (op == Operator::multiply && both) return product(a, b, place);
  if (op == Operator::divide && is_container(b) && b.type.base == Base::matrix) {
    std::vector<Value> arguments{a, b};
    return call_builtin("mdivide_right", arguments, a.type, place);
  }
  if (op == Operator::left_divide) {
    std::vector<Value> arguments{a, b};
    return call_builtin("mdivide_left", arguments, b.type, place);
  }
  if (op == Operator::power && a.type.is(Base::matrix)) {
    const int64_t power = static_cast<int64_t>(number_of(b, place));
    if (power < 0 || power > 1000) fail(place, fmt::format("expected a power from 0 to 1000, got {}", power));
    std::vector<Value> size{known_integer(a.shape[0])};
    Value result = call_builtin("identity_matrix", size, a.type, place);
    for (int64_t i = 0; i < power; ++i) result = product(result, a, place);
    return result;
  }
  const auto has_zero = [](const Value& value) {
    return std::find(value.known->numbers.begin(), value.known->numbers.end(), 0.0) !=
           value.known->numbers.end();
  };
  if (of_integers && (op == Operator::divide || op == Operator::modulo || op == Operator::integer_divide) &&
      (!b.is_known() || has_zero(b)))
    demand_each(
        b, place, "expected a divisor that is not 0, got ", [](double x) { return x != 0; },
        [](const Tensor& x) { return x != 0.0; }, true);
  Type type = is_container(b) && !is_container(a) ? b.type : a.type;
  if (type.base == Base::integer && !of_integers) type.base = Base::real;
  if (gives_truth(op)) type = scalar_type(Base::integer);
  if ((op == Operator::power || op == Operator::element_power) && type.base == Base::integer)
    type.base = Base::real;
  const Value operands[] = {a, b};
  const Value result = elementwise(
      type, operands, place, [=](const double* x) { return number_of_operator(op, x[0], x[1], of_integers); },
      [=](const Tensor* x) { return tensor_of_operator(op, x[0], x[1], of_integers); });
  if (of_integers && type.is_integer() && result.is_known()) expect_integers(result, place);
  return result;
}

// Integers have 32 bits, also those that rounds of a loop make side by side.
void Evaluator::expect_integers(const Value& result, const Place& place) {
  constexpr double most = 2147483647.0;
  if (!result.is_known() && !is_generating) return;
  const auto fits = [](double x) { return !(std::fabs(x) > most); };
  if (result.is_known() && std::all_of(result.known->numbers.begin(), result.known->numbers.end(), fits))
    return;
  demand_each(
      result, place, "expected an integer of 32 bits, at most 2147483647, got ", fits,
      [](const Tensor& x) { return logical_not(abs(x) > most); }, true);
}

namespace {

// Sums over the axis that a and b share, of `inner` numbers: a's last, b's first.
Value known_product(const Value& a, const Value& b, int64_t inner, Type type, Shape shape) {
  const int64_t rows = a.size() / std::max<int64_t>(inner, 1);
  const int64_t columns = b.size() / std::max<int64_t>(inner, 1);
  std::vector<double> sums(static_cast<size_t>(element_count(shape)));
  const double *x = a.known->numbers.data(), *y = b.known->numbers.data();
  for (int64_t i = 0; inner > 0 && i < rows; ++i)
    for (int64_t k = 0; k < inner; ++k)
      for (int64_t j = 0; j < columns; ++j)
        sums[static_cast<size_t>(i * columns + j)] += x[i * inner + k] * y[k * columns + j];
  return known_value(std::move(type), shape, std::move(sums));
}

}  // namespace

Value Evaluator::product(const Value& left, const Value& right, const Place& place) {
  const Value a = whole(left), b = whole(right);
  const Base p = a.type.base, q = b.type.base;
  const bool are_plain = a.is_known() && b.is_known() && a.level == 0 && b.level == 0;
  if (p == Base::vector && q == Base::row_vector) {  // each with each
    Type type = scalar_type(Base::matrix);
    const Shape shape{a.shape[0], b.shape[0]};
    if (are_plain) return known_product(a, b, 1, type, shape);
    const Value operands[] = {a, b};
    const Met met = meet(operands);
    const Tensor x = expand_dims(met.tensors[0], -1), y = expand_dims(met.tensors[1], -2);
    return settled(traced_value(type, shape, x * y, met.level, met.inside));
  }
  if (a.shape.back() != b.shape[0])
    fail(place,
         fmt::format("expected sizes that agree in a product, got {} and {}", sizes_text(a), sizes_text(b)));
  Type type = scalar_type(p == Base::row_vector ? (q == Base::vector ? Base::real : Base::row_vector)
                                                : (q == Base::vector ? Base::vector : Base::matrix));
  Shape shape;
  if (a.shape.size() == 2) shape.push_back(a.shape[0]);
  if (b.shape.size() == 2) shape.push_back(b.shape[1]);
  if (are_plain) return known_product(a, b, b.shape[0], type, shape);
  const Value operands[] = {a, b};
  const Met met = meet(operands);
  const Tensor &x = met.tensors[0], &y = met.tensors[1];
  Tensor result;
  if (shape.empty()) {
    result = sum(x * y, {-1});
  } else if (b.shape.size() == 1) {  // matrix, vector
    result = !met.in_lanes[1]  ? dot(x, y)
             : met.in_lanes[0] ? squeeze(matmul(x, expand_dims(y, -1)), {-1})
                               : matmul(y, transpose(x));
  } else if (a.shape.size() == 1) {  // row, matrix
    result = !met.in_lanes[1] ? dot(x, y) : squeeze(matmul(expand_dims(x, -2), y), {-2});
  } else {
    result = matmul(x, y);
  }
  return settled(traced_value(type, shape, result, met.level, met.inside));
}

Value Evaluator::transposed(const Value& value) {
  Value now = whole(value);
  if (now.type.base == Base::vector || now.type.base == Base::row_vector) {
    now.type.base = now.type.base == Base::vector ? Base::row_vector : Base::vector;
    return now;
  }
  const int64_t rows = now.shape[0], columns = now.shape[1];
  const Shape shape{columns, rows};
  if (now.is_known()) {
    std::vector<double> numbers(now.known->numbers.size());
    const int64_t size = rows * columns, lanes = now.level ? levels_.at(now.level).total : 1;
    for (int64_t lane = 0; lane < lanes; ++lane)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j)
          numbers[static_cast<size_t>(lane * size + j * rows + i)] =
              now.known->numbers[static_cast<size_t>(lane * size + i * columns + j)];
    return known_value(now.type, shape, std::move(numbers), now.level);
  }
  const bool in_lanes = levels_.lanes(now.level, now.inside) > 0;
  const Axes axes = in_lanes ? Axes{0, 2, 1} : Axes{1, 0};
  Value other = traced_value(now.type, shape, transpose(now.tensor, axes), now.level, now.inside);
  if (promises(now.promise, 'y')) other.promise = now.promise;
  return other;
}

// An int where a real is wanted, a literal of an array's type.
Value Evaluator::promoted(const Value& value, const Type& type) {
  Value now = value;
  if (now.kind == Value::Kind::tuple) {
    for (size_t i = 0; i < now.pieces.size() && i < type.members.size(); ++i)
      now.pieces[i] = promoted(now.pieces[i], type.members[i]);
    now.type = type;
    return now;
  }
  if (now.kind == Value::Kind::pieces)
    for (Value& piece : now.pieces) piece = promoted(piece, type_of_element(type));
  now.type = type;
  return now;
}

}  // namespace adit::stan
