// What the readers of data share: words of errors, and numbers that are no numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stan/data.hpp"

namespace adit::stan {

// More elements that a few letters ask for (1:1000000000) are no data.
inline constexpr int64_t most_data_elements = int64_t{1} << 27;

// The text of a file, for errors with its lines.
struct DataText {
  std::string_view text;
  std::string name;
  // "[data] x.json, line 3: y[2]: expected a number, found null"; `variable` may be empty.
  [[noreturn]] void fail(size_t at, const std::string& variable, const std::string& expected,
                         const std::string& found) const;
};

// "\"abc\"": cut if long, and as a terminal may show it.
std::string quoted_data(std::string_view text);
// Letters, digits and underscores after a letter.
bool is_variable_name(std::string_view name);
// NaN, Inf and Infinity, after a sign or none.
std::optional<double> special_number(std::string_view word);
// Of [-]digits[.digits][e[+-]digits] or what else C writes so, in any locale. Nothing: it is beyond f64. What
// is nearer to 0 than any f64 is 0.
std::optional<double> decimal_number(std::string_view digits);

// Adds a number; `is_integer`: it was written as one.
void add_number(DataValue& value, double number, bool is_integer);
// Once all numbers and members are there.
void finish_value(DataValue& value);

}  // namespace adit::stan
