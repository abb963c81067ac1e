#include <fmt/format.h>

#include <adit/diagnostics.hpp>
#include <adit/text.hpp>

#include "posterior/diagnostics/checks.hpp"

namespace adit {

namespace {

// Words in lines of at most 100 columns, set in below the first.
std::string wrap(const std::string& text, const std::string& first, const std::string& rest) {
  std::string result, line = first;
  size_t words = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (words > 0 && line.size() + 1 + word.size() > 100) {
      result += line + "\n";
      line = rest;
      words = 0;
    }
    line += (words++ ? " " : "") + word;
    at = end + 1;
  }
  return result + line + "\n";
}

}  // namespace

std::string diagnose(const Draws& draws, const Summary& summary) {
  const std::vector<diagnostics::Check> checks = diagnostics::run_checks(draws, summary);
  std::string text = "Checks of " + (draws.model.empty() ? "a run" : printable(draws.model)) + "\n\n",
              problems;
  for (const diagnostics::Check& check : checks) {
    text += fmt::format("  {:<23}{}{}\n", check.subject, check.finding, check.warning.empty() ? "" : "  <--");
    if (!check.warning.empty()) problems += wrap(check.warning, "- ", "  ") + "\n";
  }
  text += "\n";
  return text + (problems.empty() ? "No problems found.\n" : "Problems:\n\n" + problems);
}

}  // namespace adit
