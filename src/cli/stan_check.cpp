// adit check, adit format: a program without data.
#include <fmt/format.h>

#include <adit/stan.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"

namespace adit::cli {

int check(bool json, const std::string& path, const StanOptions& options) {
  const std::vector<StanMessage> messages = check_stan(path, options);
  int errors = 0;
  Json array = Json::array();
  for (const StanMessage& message : messages) {
    errors += message.is_error;
    if (!json) print_err("{}\n", printable_lines(message.text));
    array.push_back({{"severity", message.is_error ? "error" : "warning"},
                     {"file", message.file},
                     {"line", message.line},
                     {"column", message.column},
                     {"end_line", message.end_line},
                     {"end_column", message.end_column},
                     {"message", message.sentence}});
  }
  if (json)
    print_json({{"errors", errors}, {"messages", array}});
  else if (errors == 0)
    print_out("{} is a program without errors.\n", printable(path));
  return errors ? 1 : 0;
}

int format(const std::string& path, const StanOptions& options) {
  write_out(StanProgram(path, options).formatted());
  return 0;
}

}  // namespace adit::cli
