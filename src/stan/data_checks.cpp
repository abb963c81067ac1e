// Types, shapes and bounds; what a whole vector or matrix must be stands in data_structure.cpp.
#include "stan/data_checks.hpp"

#include <cmath>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "stan/data_structure.hpp"

namespace adit::stan {
namespace {

bool is_numbers_only(Base base) { return base != Base::tuple && base != Base::none && base != Base::complex; }

std::string shape_in_words(const Shape& shape) {
  if (shape.empty()) return "a number";
  return fmt::format("({})", fmt::join(shape.begin(), shape.end(), ", "));
}

std::string value_in_words(const DataValue& value) {
  if (value.members.empty()) return shape_in_words(value.shape);
  return value.shape.empty() ? fmt::format("a tuple of {} slots", value.members.size())
                             : "an array of tuples of shape " + shape_in_words(value.shape);
}

void check_data_shape(const std::string& name, const DataValue& value, const Wanted& wanted) {
  const bool is_tuple = wanted.type.base == Base::tuple;
  const bool is_empty = value.numbers.empty() && value.members.empty();
  if (is_empty && element_count(wanted.shape) == 0) return;
  const bool same_kind = is_empty || value.members.empty() != is_tuple;
  if (same_kind && value.shape == wanted.shape) return;
  const std::string kind = is_tuple ? "array of tuples" : "array";
  const std::string expected = !wanted.shape.empty()
                                   ? fmt::format("{} of shape {}", kind, shape_in_words(wanted.shape))
                               : is_tuple ? fmt::format("a tuple of {} slots", wanted.members.size())
                                          : "a number";
  refuse_data(name, expected, value_in_words(value));
}

void check_integers(const std::string& name, const DataValue& value, const Shape& shape) {
  if (value.first_real < 0) return;
  const double number = value.numbers[static_cast<size_t>(value.first_real)];
  const bool is_whole = number == std::floor(number) && std::isfinite(number);
  const bool fits = std::fabs(number) < 2147483648.0;
  const std::string found = fmt::format("{}", number);
  refuse_data(name + index_in_words(shape, value.first_real),
              is_whole && !fits ? "an integer of 32 bits" : "an integer",
              is_whole && fits ? found + ", which is written as a real number" : found);
}

// Bounds hold at infinity too, and never for NaN.
void check_data_bounds(const std::string& name, const DataValue& value, const Wanted& wanted) {
  const auto check_size = [&](const std::vector<double>& bounds) {
    if (bounds.size() > 1 && bounds.size() != value.numbers.size())
      throw Error(ErrorKind::internal, fmt::format("[data] {}: {} bounds for {} elements", printable(name),
                                                   bounds.size(), value.numbers.size()));
  };
  check_size(wanted.lower);
  check_size(wanted.upper);
  const auto bound = [](const std::vector<double>& bounds, size_t i) {
    return bounds[bounds.size() == 1 ? 0 : i];
  };
  for (size_t i = 0; i < value.numbers.size(); ++i) {
    const double number = value.numbers[i];
    const auto refuse = [&](const char* side, double limit) {
      refuse_data(name + index_in_words(wanted.shape, static_cast<int64_t>(i)),
                  fmt::format("{} {}, as its bound says", side, limit), fmt::format("{}", number));
    };
    if (!wanted.lower.empty() && !(number >= bound(wanted.lower, i)))
      refuse("at least", bound(wanted.lower, i));
    if (!wanted.upper.empty() && !(number <= bound(wanted.upper, i)))
      refuse("at most", bound(wanted.upper, i));
  }
}

void check_slots(const std::string& name, const DataValue& tuple, const Wanted& wanted) {
  if (tuple.members.size() != wanted.members.size())
    refuse_data(name, fmt::format("a tuple of {} slots", wanted.members.size()), value_in_words(tuple));
  for (size_t i = 0; i < wanted.members.size(); ++i)
    check_data(fmt::format("{}.{}", name, i + 1), tuple.members[i], wanted.members[i]);
}

}  // namespace

void refuse_data(const std::string& name, const std::string& expected, const std::string& found) {
  throw Error(ErrorKind::bad_argument,
              fmt::format("[data] {}: expected {}, found {}", printable(name), expected, found));
}

std::string index_in_words(const Shape& shape, int64_t element) {
  if (shape.empty()) return "";
  Dims index = Dims::filled(shape.size(), 1);
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    index[axis] = 1 + element % shape[axis];
    element /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index.begin(), index.end(), ", "));
}

void check_data(const std::string& name, const DataValue& value, const Wanted& wanted) {
  check_data_shape(name, value, wanted);
  if (wanted.type.base == Base::tuple) {
    if (wanted.shape.empty()) return check_slots(name, value, wanted);
    for (size_t i = 0; i < value.members.size(); ++i)
      check_slots(name + index_in_words(wanted.shape, static_cast<int64_t>(i)), value.members[i], wanted);
    return;
  }
  if (!is_numbers_only(wanted.type.base))
    throw Error(ErrorKind::unsupported, fmt::format("[data] {}: values of type {} cannot be read",
                                                    printable(name), to_text(wanted.type)));
  if (wanted.type.is_integer()) check_integers(name, value, wanted.shape);
  check_data_bounds(name, value, wanted);
  check_structure(name, value, wanted);
}

}  // namespace adit::stan
