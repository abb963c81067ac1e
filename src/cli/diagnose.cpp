// adit diagnose: what is wrong with saved draws, and what to do.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/saved_draws.hpp"

namespace adit::cli {

int diagnose(bool json, const std::vector<std::string>& files) {
  const Draws draws = read_saved("diagnose", "files", files);
  const Summary rows = adit::summary(draws);
  if (json)
    print_json(Json{{"divergences", draws.divergences()},
                    {"e_bfmi", e_bfmi(draws)},
                    {"warnings", warnings(draws, rows)}});
  else
    write_out(adit::diagnose(draws, rows));
  return 0;
}

}  // namespace adit::cli
