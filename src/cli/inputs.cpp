#include "cli/inputs.hpp"

#include <algorithm>
#include <unistd.h>

namespace adit::cli {

Inputs::Inputs() {
  struct stat status {};
  if (::fstat(STDOUT_FILENO, &status) == 0) add("standard output", status, false);
  if (::fstat(STDERR_FILENO, &status) == 0) add("standard error", status, false);
}

void Inputs::add(const std::string& word, const struct stat& status, bool is_read) {
  if (S_ISREG(status.st_mode)) inputs_.push_back({word, status.st_dev, status.st_ino, is_read});
}

bool Inputs::Input::is(const struct stat& status) const {
  return device == status.st_dev && number == status.st_ino;
}

void Inputs::add(const std::string& word, const std::string& path) {
  struct stat status {};
  const int failed = path == "-" ? ::fstat(STDIN_FILENO, &status) : ::stat(path.c_str(), &status);
  if (!path.empty() && failed == 0) add(word, status);
}

void Inputs::add(const std::string& word, const std::vector<std::string>& paths) {
  for (const std::string& path : paths) add(word, path);
}

std::string Inputs::word_of(const std::string& path) const {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  const auto found =
      std::find_if(inputs_.begin(), inputs_.end(), [&](const Input& input) { return input.is(status); });
  return found == inputs_.end() ? "" : found->word;
}

std::string Inputs::word_of_stream(int descriptor) const {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return {};
  const auto found = std::find_if(inputs_.begin(), inputs_.end(),
                                  [&](const Input& input) { return input.is_read && input.is(status); });
  return found == inputs_.end() ? "" : found->word;
}

}  // namespace adit::cli
