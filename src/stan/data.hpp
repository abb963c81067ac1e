// Values by variable, as files have them: the data of a program, and where its chains start.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <adit/shape.hpp>

namespace adit::stan {

// One variable of a file:
//   a number            shape {} and one number
//   an array            its shape, and its numbers in row-major order; [] has shape {0}, [[], []] {2, 0}
//   a tuple             members, one a slot, in order; shape {} and no numbers
//   an array of tuples  the array's shape; members, one an element in row-major order, each a tuple
// Where there are no members it is no tuple (or an array without elements, which may be one of anything).
struct DataValue {
  Shape shape;
  std::vector<double> numbers;
  bool is_integer = false;  // every number, those of members too, was written as one of 32 bits; true of none
  std::vector<DataValue> members;
  int64_t first_real = -1;  // an element of `numbers` that is no such integer: for messages
};
using DataValues = std::map<std::string, DataValue>;

// By the ending: .json; .R, .data.R and .rdump; .csv. A file with another ending, or a pipe, is read as JSON
// where it begins with a brace. Throws Error with the file, the line and the variable.
DataValues read_data(const std::string& path);
inline DataValues read_inits(const std::string& path) { return read_data(path); }

// `name` is what messages call the text.
//
// JSON as CmdStan reads it: an object of numbers, nested lists (rectangular), and tuples {"1": ..., "2":
// ...}. NaN, Inf, Infinity and their negatives may stand bare or as strings. Other strings, booleans, null,
// numbers beyond f64 and names that stand twice are errors. What has no name of a Stan variable is left out.
DataValues data_from_json(std::string_view text, const std::string& name);
// R's dump: N <- 5, x <- c(1, 2.5), y <- structure(c(...), .Dim = c(2L, 3L)), 1:10, integer(0), double(0).
DataValues data_from_rdump(std::string_view text, const std::string& name);
// Columns by name, and N, the number of rows, where no column has that name. A column of whole numbers is one
// of integers; one of words is an error.
DataValues data_from_csv(std::string_view text, const std::string& name);

}  // namespace adit::stan
