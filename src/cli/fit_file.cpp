#include "cli/fit_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/paths.hpp"
#include "cli/staged_files.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& where, const std::string& path, int error) {
  throw Error(ErrorKind::io, fmt::format("{}: expected to write {}, got: {}", where, printable(path),
                                         error ? std::strerror(error) : "an error"));
}

fs::path folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

// The elements of a shape by their row-major numbers, the first axis fastest.
std::vector<int64_t> in_columns(const Shape& shape) {
  std::vector<int64_t> order(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < order.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), element = 0, stride = 1;
    std::vector<int64_t> place;
    for (const int64_t extent : shape) {
      place.push_back(rest % extent);
      rest /= extent;
    }
    for (int axis = shape.size(); axis-- > 0;) {
      element += place[static_cast<size_t>(axis)] * stride;
      stride *= shape[axis];
    }
    order[i] = element;
  }
  return order;
}

std::string fit_column(const DrawsVariable& variable, int64_t element) {
  std::string name = element_name("", variable.shape, element);
  for (char& c : name)
    if (c == '[' || c == ',') c = '.';
  if (name.ends_with(']')) name.pop_back();
  return variable.name + name;
}

std::string on_one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  return text;
}

}  // namespace

FitFile::FitFile(const char* command, const std::string& path, const std::string& model)
    : where_(fmt::format("[{}] --output", command)),
      path_(path.empty() ? fmt::format("adit-{}-{}.csv", model, command) : path) {
  if (kind_at(where_, path_) == PathKind::folder)
    throw UsageError(
        fmt::format("{}: expected a file or a new name, got the folder {}", where_, printable(path_)));
  const fs::path folder = folder_of(path_);
  if (kind_at(where_, folder) != PathKind::folder) fail_to_write(where_, path_, ENOTDIR);
  if (::access(folder.c_str(), W_OK) != 0) fail_to_write(where_, path_, errno);
}

void FitFile::say(const std::string& line) { comments_ += "# " + on_one_line(line) + "\n"; }

void FitFile::column(const std::string& name, const std::vector<double>& values) {
  columns_.push_back({name, values});
}

void FitFile::columns(const std::vector<DrawsVariable>& variables) {
  for (const DrawsVariable& variable : variables) {
    const auto size = static_cast<size_t>(variable.size());
    for (const int64_t element : in_columns(variable.shape)) {
      std::vector<double> values;
      for (size_t at = static_cast<size_t>(element); at < variable.values.size(); at += size)
        values.push_back(variable.values[at]);
      columns_.push_back({fit_column(variable, element), std::move(values)});
    }
  }
}

void FitFile::head(const FitWords& words, const std::string& model, const std::vector<std::string>& method,
                   const std::string& device) {
  say(fmt::format("adit_version = {}", ADIT_VERSION));
  say("model = " + model);
  for (const std::string& line : method) say(line);
  say("id = 1");
  say("data");
  say("  file = " + words.data);
  say("init = " + words.init);
  say("random");
  say(fmt::format("  seed = {}", words.seed));
  say("output");
  say("  file = " + path_);
  say("device = " + device);
}

void FitFile::write() const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", comments_);
  for (size_t i = 0; i < columns_.size(); ++i) fmt::format_to(out, "{}{}", i ? "," : "", columns_[i].name);
  const size_t rows = columns_.empty() ? 0 : columns_[0].values.size();
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < columns_.size(); ++i)
      fmt::format_to(out, "{}{:.17g}", i ? "," : "\n", columns_[i].values[row]);
  text.push_back('\n');
  // What is there stays until the new file is whole; a pipe or a device is written to as it is.
  const PathKind kind = kind_of_name(where_, path_);
  const bool is_plain = kind == PathKind::nothing || kind == PathKind::file;
  const fs::path folder = folder_of(path_), name = fs::path(path_).filename();
  const std::string aside =
      is_plain ? (folder / fmt::format(".{}.writing-{}-0", name.string(), ::getpid())).string() : path_;
  if (is_plain) StagedFiles::remove_leftovers(folder, name.string());
  errno = 0;
  std::ofstream file(aside, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  std::error_code error;
  if (!file) {
    const int number = errno;
    if (is_plain) fs::remove(aside, error);
    fail_to_write(where_, path_, number);
  }
  if (is_plain && ::rename(aside.c_str(), path_.c_str()) != 0) {
    const int number = errno;
    fs::remove(aside, error);
    fail_to_write(where_, path_, number);
  }
}

}  // namespace adit::cli
