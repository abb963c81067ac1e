// adit report: one HTML file with the plots of saved draws.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include <adit/checkpoint.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"
#include "cli/staged_files.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

constexpr const char* output_option = "[report] --output";

// Ours or CmdStan's, by the first bytes: a checkpoint, netCDF, CSV.
bool holds_draws(const std::string& path) {
  std::string head(8, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto begins = [&](std::string_view mark) { return head.starts_with(mark); };
  return is_checkpoint(path) || begins("\x89HDF") || begins("CDF") || begins("# ") || begins("lp__");
}

// A page must not come in the place of draws: of those that it is made from, or of others.
void expect_no_draws(const std::string& output, const std::vector<std::string>& inputs) {
  const PathKind kind = kind_at(output_option, output);
  if (kind == PathKind::nothing) return;
  if (kind != PathKind::file)
    throw UsageError(fmt::format("{}: expected a file or a new name, got {}", output_option, output));
  const bool is_read = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const std::string& input) { return same_file(input, output); });
  if (is_read || holds_draws(output))
    throw UsageError(
        fmt::format("{}: expected a name for the report, got {}, which holds draws", output_option, output));
}

}  // namespace

int html_report(bool json, const std::vector<std::string>& files, const std::string& output) {
  if (json) expect_utf8(output_option, output);
  expect_no_draws(output, saved_files("report", "files", files));
  const std::filesystem::path path(output);
  const Draws draws = read_saved("report", "files", files);
  StagedFiles::remove_leftovers(path.has_parent_path() ? path.parent_path() : ".", path.filename().string());
  write_report(draws, output);
  if (json)
    print_json(Json{{"report", output}});
  else
    print_out("Report: {}\n", printable(output));
  return 0;
}

}  // namespace adit::cli
