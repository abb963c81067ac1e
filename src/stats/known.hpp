// Parameters whose values are known while a graph is built, and what is said of those outside of a domain.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <adit/distribution.hpp>

namespace adit::stats {

// " at [2, 0]" for an element of a tensor; nothing for a scalar's.
std::string place_words(const Shape& shape, int64_t element);

// The first number outside of the parameter's domain: "expected a positive number, got -1 at [2]"; nothing
// where all lie inside. `values` is of the parameter's shape.
std::optional<std::string> outside_words(const NamedParameter& parameter, std::span<const double> values);

// Throws `[where] name: expected ..., got ...` where the value is known and lies outside: a number, or a
// tensor that nothing unknown goes into. While a function is traced, of tensors only those in memory.
void expect_inside(std::string_view where, const NamedParameter& parameter);

// Whether it lies inside whatever the variables are, by the form of its graph: exp(u) is positive.
bool is_surely_inside(const NamedParameter& parameter);

}  // namespace adit::stats
