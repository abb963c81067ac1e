#include "cli/stage_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/own_files.hpp"

namespace adit::cli::stage {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail_to_read(const fs::path& path, const std::string& why) {
  throw Error(ErrorKind::io, fmt::format("{} cannot be read: {}", printable(path.string()), why));
}

bool is_plain(int file) {
  struct stat status {};
  return ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

// Of a plain file; "" where none is.
std::string text_at(const fs::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)) return {};
  if (file < 0) fail_to_read(path, std::strerror(errno));
  const auto text = is_plain(file) ? text_in(file) : "";
  const int reason = errno;
  ::close(file);
  if (!text) fail_to_read(path, std::strerror(reason));
  return *text;
}

}  // namespace

bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

std::optional<std::string> text_in(int file) {
  std::string text(1 << 16, '\0'), all;
  ssize_t got = 0;
  while ((got = ::read(file, text.data(), text.size())) > 0) all.append(text, 0, static_cast<size_t>(got));
  if (got < 0) return {};
  return all;
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

// Each has a zero behind it.
std::string text_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + '\0';
  return text;
}

std::vector<std::string> names_in(const fs::path& record) {
  const std::string text = text_at(record);
  std::vector<std::string> names;
  for (size_t at = 0, end = 0; (end = text.find('\0', at)) != std::string::npos; at = end + 1)
    names.push_back(text.substr(at, end - at));
  return names;
}

bool is_stage_name(const std::string& name) { return name.find('/') != std::string::npos; }

std::string name_of_stage(const fs::path& stage, const fs::path& folder) {
  return "./" + fs::relative(stage, folder).string();
}

std::vector<std::string> files_in(const fs::path& stage) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(stage / files_name, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory)
    fail_to_read(stage / files_name, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void remove_outdated(const fs::path& folder, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    if (!name.empty() && !is_stage_name(name) && is_own_file(folder / name))
      ::unlink((folder / name).c_str());
}

void remove(const fs::path& stage) {
  std::error_code error;
  fs::remove(stage / record_name, error);
  for (fs::directory_iterator at(stage, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename() != origin_name) fs::remove_all(at->path(), ignored);
  }
  fs::remove(stage / origin_name, error);
  fs::remove(stage, error);
}

}  // namespace adit::cli::stage
