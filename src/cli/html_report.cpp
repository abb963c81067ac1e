// adit report: one HTML file with the plots of saved draws.
#include <filesystem>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"

namespace adit::cli {

int html_report(bool json, const std::vector<std::string>& files, const std::string& output) {
  write_report(read_saved("report", "files", files), output);
  if (json)
    fmt::print("{}\n", Json{{"report", output}}.dump(2));
  else
    fmt::print("Report: {}\n", printable(output));
  return 0;
}

}  // namespace adit::cli
