// One column of a table: what it holds, and how it is read.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/csv_number.hpp"
#include "io/csv_records.hpp"

namespace adit::table {

struct Column {
  std::vector<int64_t> whole;      // whole numbers, or the codes of words
  std::vector<double> real;        // or numbers; one of the two is empty
  std::vector<std::string> words;  // empty: a column of numbers
};

// A field that a message may name; line 0: none.
struct Seen {
  int64_t line = 0;
  std::string text;
};

class ColumnReader {
 public:
  ColumnReader(const Place& place, std::string_view name, bool as_words);
  void add(const Field& field);
  Column finish();

 private:
  enum class Kind : uint8_t { unknown, whole, real, words };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  [[noreturn]] void fail(int64_t line, const std::string& what) const;
  void add_whole(const Field& field, int64_t value);
  void add_real(const Field& field, double value);
  void add_word(const Field& field);
  void refuse_missing(const Field& field) const;
  void refuse_infinite(const Field& field) const;
  void refuse_comma(const Field& field) const;
  [[noreturn]] void refuse_number(const Field& field, Number::Form form) const;
  [[noreturn]] void refuse_inexact() const;
  [[noreturn]] void refuse_mixture(const Field& field) const;
  void check_new_word(const Field& field) const;

  const Place& place_;
  std::string name_;
  bool as_words_;
  Kind kind_ = Kind::unknown;
  Column column_;
  // Of words, in the order in which they appeared.
  std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> codes_;
  Seen first_;     // of all
  Seen fraction_;  // what made the column f64
  Seen inexact_;   // the first whole number that f64 does not hold
};

}  // namespace adit::table
