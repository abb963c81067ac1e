// What a table holds.
#pragma once

#include <map>
#include <memory>

#include <adit/csv.hpp>

#include "io/csv_column.hpp"

namespace adit::table {

struct State {
  std::string file;  // for messages
  int64_t rows = 0;
  std::vector<std::string> names;
  std::map<std::string, size_t, std::less<>> places;  // of the names
  std::vector<Column> columns;
  std::shared_ptr<Device> device;
};

// Of a column that is not there, with the names that are nearest, or all of them.
[[noreturn]] void refuse_name(const Place& place, std::string_view name,
                              const std::vector<std::string>& names);

}  // namespace adit::table
