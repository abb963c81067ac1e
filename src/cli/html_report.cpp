// adit report: one HTML file with the plots of saved draws.
#include <fmt/format.h>

#include <adit/diagnostics.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/output_files.hpp"
#include "cli/paths.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

constexpr const char* output_option = "[report] --output";

}  // namespace

int html_report(bool json, const std::vector<std::string>& files, const std::string& output) {
  if (json) expect_utf8(output_option, output);
  Inputs inputs;
  inputs.add("files", saved_files("report", "files", files));
  OutputFiles page(output_option, std::move(inputs));
  if (kind_at(output_option, output) == PathKind::folder)
    throw UsageError(
        fmt::format("{}: expected a file or a new name, got {}", output_option, printable(output)));
  page.expect_place(output, Content::report);
  const Draws draws = read_saved("report", "files", files);
  try {
    write_report(draws, page.aside(output, Content::report));
    page.commit();
  } catch (const Error& error) {
    throw Error(error.kind(), page.with_places(error.what()));
  }
  if (json)
    print_json(Json{{"report", output}});
  else
    print_out("Report: {}\n", printable(output));
  return 0;
}

}  // namespace adit::cli
