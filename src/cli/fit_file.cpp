#include "cli/fit_file.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/fit_model.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail_to_write(const std::string& where, const std::string& path, int error) {
  throw Error(ErrorKind::io, fmt::format("{}: expected to write {}, got: {}", where, printable(path),
                                         error ? std::strerror(error) : "an error"));
}

// The open stream that a path names by its number, where the system has links of its own; -1: none.
int stream_named(const std::string& path) {
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    int number = -1;
    const char *first = path.data() + folder.size(), *last = path.data() + path.size();
    const auto [end, error] = std::from_chars(first, last, number);
    return error == std::errc() && end == last ? number : -1;
  }
  return -1;
}

// Pipes and devices of characters, such as /dev/null. A disk is none.
bool takes_a_stream(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode));
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

FitFile::FitFile(const char* command, const FitWords& words, const FitModel& model)
    : where_(fmt::format("[{}] --output", command)),
      path_(words.output.empty() ? fmt::format("adit-{}-{}.csv", model.name(), command) : words.output),
      files_(where_, model.inputs()) {
  is_stream_ = stream_named(path_) >= 0;
  if (is_stream_) files_.expect_unread_stream(path_, stream_named(path_));
  if (is_stream_) return;
  const PathKind kind = kind_of_name(where_, path_);
  if (kind == PathKind::folder)
    throw UsageError(
        fmt::format("{}: expected a file or a new name, got the folder {}", where_, printable(path_)));
  const fs::path folder = parent_of(path_);
  if (kind_at(where_, folder) != PathKind::folder) fail_to_write(where_, path_, ENOTDIR);
  is_stream_ = kind == PathKind::other && takes_a_stream(path_);
  if (is_stream_) return;
  files_.expect_place(path_, Content::values);
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

std::string FitFile::text() const {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "{}", comments_);
  for (size_t i = 0; i < columns_.size(); ++i) fmt::format_to(out, "{}{}", i ? "," : "", columns_[i].name);
  const size_t rows = columns_.empty() ? 0 : columns_[0].values.size();
  for (size_t row = 0; row < rows; ++row)
    for (size_t i = 0; i < columns_.size(); ++i) {
      const double value = columns_[i].values[row];
      fmt::format_to(out, "{}{:.17g}", i ? "," : "\n", std::isnan(value) ? std::abs(value) : value);
    }
  text.push_back('\n');
  return fmt::to_string(text);
}

void FitFile::write_to_stream(const std::string& text) const {
  const int named = stream_named(path_);
  output_fault();  // what was printed so far comes first
  errno = 0;
  const int stream =
      named >= 0 ? ::dup(named) : ::open(path_.c_str(), O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
  if (stream < 0) fail_to_write(where_, path_, errno);
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t done = ::write(stream, rest.data(), rest.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) break;
    rest.remove_prefix(static_cast<size_t>(done));
  }
  const int reason = errno;
  ::close(stream);
  if (!rest.empty()) fail_to_write(where_, path_, reason);
}

void FitFile::write() {
  if (is_stream_) return write_to_stream(text());
  files_.write(path_, Content::values, text());
  files_.commit();
}

}  // namespace adit::cli
