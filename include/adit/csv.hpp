// Tables of data from text files: CSV, and its kin with semicolons or tabs.
//
//   Table radon   = load_csv("radon.csv");
//   Tensor y      = radon["log_radon"];                            // f64 [rows]
//   auto county   = model.plate("county", radon.words("county"));  // named by the words of the column
//   Tensor place  = radon["county"];                               // i64 [rows], from 0 to words - 1
//   Tensor inputs = radon.matrix({"floor", "uranium"});            // f64 [rows, 2]
//
// A column is one of three:
// - whole numbers, where every value is written as one and i64 holds it;
// - numbers, f64; a whole number among them that f64 does not hold exactly is refused;
// - words, where no value is a number. They are sorted by their bytes: codes do not depend on the order of
//   the rows, and FALSE and TRUE are 0 and 1.
// Numbers are written as in C, whatever the locale says. Fields may stand in quotes (RFC 4180), which say
// nothing about the kind; blanks around a field are dropped, those inside of quotes stay.
//
// Nothing is guessed: a missing value (an empty field, NA, N/A, NaN, null, . or ?), an infinity, numbers and
// words in one column, a decimal comma, a row of another length, names that are empty or stand twice, and
// bytes that are no UTF-8 throw Error(io) with the file, the line in it, and the column. A missing file is
// Error(not_found).
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <adit/tensor.hpp>

#pragma GCC visibility push(default)
namespace adit {

struct CsvOptions {
  char separator = ',';   // or ; | and tab
  bool has_names = true;  // in the first line; else the columns are "1", "2", ...
  char comment = 0;       // lines that begin with it are left out; 0: none
  // Columns that are read as words whatever they look like: 01001 keeps its zero. Here a field in quotes is a
  // word even where it would else mark a missing value: "NA".
  std::vector<std::string> as_words = {};
  std::shared_ptr<Device> device = nullptr;  // of the tensors; else the default device
};

namespace table {
struct State;
}

// Copies share; a table never changes.
class Table {
 public:
  Table() = default;  // without rows and columns
  explicit Table(std::shared_ptr<const table::State> state) : state_(std::move(state)) {}

  int64_t rows() const;
  std::vector<std::string> names() const;  // in the order of the file
  bool has(std::string_view name) const;
  // A column [rows], copied to the device at each call. An unknown name throws Error(not_found) with its
  // neighbours.
  Tensor operator[](std::string_view name) const { return at(name); }
  Tensor at(std::string_view name) const;
  // What the codes of a column of words stand for.
  std::vector<std::string> words(std::string_view name) const;
  // Columns of numbers side by side, f64 [rows, names].
  Tensor matrix(const std::vector<std::string>& names) const;

 private:
  std::shared_ptr<const table::State> state_;
};

Table load_csv(const std::filesystem::path& path, const CsvOptions& options = {});
Table load_csv(std::istream& in, const CsvOptions& options = {});
Table decode_csv(std::string_view text, const CsvOptions& options = {});

}  // namespace adit
#pragma GCC visibility pop
