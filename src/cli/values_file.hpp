// Files with values of a model's parameters: JSON by variable, and CSV as CmdStan writes it.
#pragma once

#include <string>

#include <adit/optimize.hpp>

namespace adit::cli {

struct ValueRows {
  int64_t rows = 0;
  NamedValues values;  // one row after the other
};

// all: every parameter must be there, and others are left out. some: others are errors.
enum class ValueNames : uint8_t { all, some };

// Everything in a file; `where` begins the errors: "[laplace] --mode".
std::string read_values_text(const std::string& where, const std::string& path);

// JSON: an object of values by variable, or a list of such objects, a row each. CSV: names of columns after
// comments (mu, theta.1, L.2.1), then rows of numbers.
ValueRows parse_values(const std::string& where, const std::string& path, const std::string& text,
                       const Model& model, ValueNames names);

// Points as they are: JSON {"params_r": [...]} or the list alone, of numbers or of rows of them; CSV: a line
// of names, then rows of as many numbers as the model has.
std::vector<double> parse_points(const std::string& where, const std::string& path, const std::string& text,
                                 int64_t size);

// What "# method = ..." of a CSV file says; "": nothing.
std::string method_in(const std::string& text);

}  // namespace adit::cli
