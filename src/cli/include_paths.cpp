#include "cli/include_paths.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "cli/usage.hpp"

namespace adit::cli {
namespace {

void add_folders(const std::string& where, const std::string& typed, std::vector<std::string>& folders) {
  for (size_t at = 0; at <= typed.size();) {
    const size_t comma = std::min(typed.find(',', at), typed.size());
    const std::string folder = typed.substr(at, comma - at);
    std::error_code error;
    if (!std::filesystem::is_directory(folder, error))
      throw UsageError(fmt::format("{}: expected folders that are there, with commas between them, got {}",
                                   where, folder.empty() ? "\"\"" : printable(folder)));
    folders.push_back(folder);
    at = comma + 1;
  }
}

}  // namespace

void declare_include_paths(CLI::App& command, std::vector<std::string>& folders) {
  const auto read = [where = fmt::format("[{}] --include-paths", command.get_name()),
                     &folders](const std::vector<std::string>& typed) {
    for (const std::string& list : typed) add_folders(where, list, folders);
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--include-paths", read, "Where #include of a Stan program looks, behind the program's own folder")
      ->type_name("FOLDERS")
      ->allow_extra_args(false);
}

}  // namespace adit::cli
