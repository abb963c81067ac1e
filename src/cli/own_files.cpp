#include "cli/own_files.hpp"

#include <fmt/format.h>
#include <optional>

#include <adit/checkpoint.hpp>
#include <adit/draws_origin.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/inputs.hpp"
#include "cli/paths.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

bool may_go(const fs::path& path, Content content) {
  const FileMark mark = mark_of_file(path.string());
  if (mark == FileMark::empty) return true;
  const bool has_draws = mark == FileMark::csv && !origin_of_csv(path.string()).run.empty();
  switch (content) {
    case Content::draws: return has_draws || mark == FileMark::netcdf;
    case Content::values: return mark == FileMark::csv && !has_draws;
    case Content::report: return mark == FileMark::report;
    case Content::checkpoint: return is_checkpoint(path.string());
  }
  return false;
}

const char* name_of(Content content) {
  switch (content) {
    case Content::draws: return "draws";
    case Content::values: return "values";
    case Content::report: return "a report";
    case Content::checkpoint: return "a checkpoint";
  }
  return "";
}

// By what it is, since who wrote it is gone.
std::optional<Content> content_of(const fs::path& path) {
  switch (mark_of_file(path.string())) {
    case FileMark::csv: return origin_of_csv(path.string()).run.empty() ? Content::values : Content::draws;
    case FileMark::netcdf: return Content::draws;
    case FileMark::report: return Content::report;
    default: return std::nullopt;
  }
}

// A link or a folder in the place of a file was put there by somebody: nothing is written through it.
void expect_plain_file(const std::string& where, const fs::path& path, PathKind kind) {
  if (kind == PathKind::file) return;
  const char* found = fs::is_symlink(fs::symlink_status(path)) ? "a link"
                      : kind == PathKind::folder               ? "a folder"
                                                               : "something else";
  throw Error(ErrorKind::io, fmt::format("{}: expected a plain file or none at {}, got {}", where,
                                         printable(path.string()), found));
}

}  // namespace

bool may_come(const fs::path& written, const fs::path& place) {
  std::error_code error;
  const fs::file_status there = fs::symlink_status(place, error);
  if (there.type() == fs::file_type::not_found) return true;
  const auto content = content_of(written);
  return content && fs::is_regular_file(there) && may_go(place, *content);
}

bool is_own_file(const fs::path& path) {
  const FileMark mark = mark_of_file(path.string());
  if (mark == FileMark::csv || mark == FileMark::netcdf || mark == FileMark::report) return true;
  std::error_code error;
  return mark == FileMark::none && fs::is_regular_file(fs::symlink_status(path, error)) &&
         is_checkpoint(path.string());
}

void expect_own_place(const std::string& where, const fs::path& path, Content content, const Inputs& inputs) {
  const PathKind kind = kind_of_name(where, path);
  if (kind == PathKind::nothing) return;
  const std::string shown = printable(path.string());
  if (const std::string word = inputs.word_of(path.string()); !word.empty())
    throw UsageError(fmt::format("{}: expected another file than that of {}, got {}", where, word, shown));
  expect_plain_file(where, path, kind);
  if (may_go(path, content)) return;
  const char* whose =
      mark_of_file(path.string()) == FileMark::cmdstan_csv ? "a file of CmdStan's" : "another file";
  throw Error(ErrorKind::io,
              fmt::format("{}: expected a new name or {} of adit's at {}, got {}, which stays; give another "
                          "name, or move it away",
                          where, name_of(content), shown, whose));
}

}  // namespace adit::cli
