#include "stan/data.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <new>

#include <adit/error.hpp>
#include <adit/text.hpp>

namespace adit::stan {
namespace {

bool has_data_ending(std::string_view path, std::string_view ending) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
  return path.size() > ending.size() &&
         std::equal(ending.begin(), ending.end(), path.end() - std::ssize(ending),
                    [&](char e, char c) { return e == small(c); });
}

DataValues data_by_ending(const std::string& path, const std::string& text) {
  if (has_data_ending(path, ".json")) return data_from_json(text, path);
  if (has_data_ending(path, ".r") || has_data_ending(path, ".rdump")) return data_from_rdump(text, path);
  if (has_data_ending(path, ".csv")) return data_from_csv(text, path);
  if (const size_t first = text.find_first_not_of(" \t\r\n");
      first != std::string::npos && text[first] == '{')
    return data_from_json(text, path);
  throw Error(
      ErrorKind::bad_argument,
      fmt::format("[data] {}: expected a file that ends in .json, .R, .rdump or .csv, or begins with a "
                  "brace as JSON does, found another",
                  printable(path)));
}

}  // namespace

DataValues read_data(const std::string& path) {
  const std::string text = read_text(path);
  try {
    return data_by_ending(path, text);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("[data] {}: expected memory for the values of {} bytes of text, found none",
                            printable(path), text.size()));
  }
}

}  // namespace adit::stan
