// CmdStan's CSV: names of columns, and one chain's file as it stands.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <adit/draws.hpp>

#include "io/file.hpp"

namespace adit::csv {

inline constexpr int stat_count = 7;
// A column of the sampler's own numbers and where it lies in SampleStats.
struct StatColumn {
  const char* name;
  std::vector<double> SampleStats::*member;
};
const std::vector<StatColumn>& stat_columns();  // lp__ first, in CmdStan's order

// Row-major numbers of the elements, in the order of the columns: the first axis runs fastest.
std::vector<int64_t> column_order(const Shape& shape);
// "L.2.1": CmdStan's name of one element (its row-major number), counted from 1.
std::string column_name(const std::string& name, const Shape& shape, int64_t element);

// The columns of one variable, by row-major element.
struct Group {
  std::string name;
  Shape shape;
  std::vector<size_t> columns;
};
// Columns whose names end in "__" are the sampler's and belong to no group.
std::vector<Group> group_columns(const Place& place, const std::vector<std::string>& names);

// Other than a text, nothing but what the comments say: "key = value", without " (Default)".
struct Config {
  std::map<std::string, std::string> entries;
  std::string text(const std::string& key, const std::string& otherwise = {}) const;
  bool flag(const std::string& key, bool otherwise) const;
  double number(const std::string& key, double otherwise) const;
  int64_t integer(const std::string& key, int64_t otherwise) const;
};

struct File {
  Config config;
  std::vector<std::string> columns;
  int64_t rows = 0;            // draws; saved warm-up is left out
  std::vector<double> values;  // [rows, columns]
  std::optional<double> step_size;
  std::vector<double> inverse_metric;
  double warmup_seconds = 0, sampling_seconds = 0, total_seconds = 0;
  bool finished = true;  // false: fewer rows than the run was asked for, or a last line cut off
};
File parse(const Place& place, std::string_view text);

// Of the whole text, in any locale.
std::optional<double> parse_number(std::string_view text);

// Several files as the chains of one run.
Draws read(const std::vector<std::string>& paths, const std::vector<Bytes>& contents);

}  // namespace adit::csv
