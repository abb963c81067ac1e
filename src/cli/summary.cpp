// adit summary: the table of saved draws.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/loo.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"
#include "cli/usage.hpp"

namespace adit::cli {

int summary(bool json, const std::vector<std::string>& files, int64_t significant) {
  if (significant < 1 || significant > 17)
    throw UsageError(
        fmt::format("[summary] --sig-figs: expected a number from 1 to 17, got {}", significant));
  const Draws draws = read_saved("summary", "files", files);
  const Summary rows = adit::summary(draws);
  if (json) {
    print_json(to_json(rows.parameters));
    return 0;
  }
  write_out(format_summary(draws, rows, static_cast<int>(significant)));
  const auto accuracy = accuracy_of(draws);
  if (!accuracy.empty()) print_out("\n{}", format_accuracy(accuracy));
  return 0;
}

}  // namespace adit::cli
