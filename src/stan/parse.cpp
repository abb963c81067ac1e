#include "stan/parse.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "stan/lexer.hpp"
#include "stan/parser.hpp"

namespace adit::stan {

namespace {

constexpr size_t deepest_nesting = 1000000;

// Without folder and ending.
std::string program_name(const std::string& file) {
  const size_t slash = file.find_last_of("/\\");
  std::string name = slash == std::string::npos ? file : file.substr(slash + 1);
  const size_t dot = name.rfind('.');
  if (dot != std::string::npos && dot > 0) name.resize(dot);
  return name;
}

}  // namespace

bool Parsed::failed() const {
  return std::any_of(messages.begin(), messages.end(),
                     [](const Message& message) { return message.kind != Message::Kind::warning; });
}

Parsed parse(std::string name, std::string text, const Include& include) {
  Parsed parsed;
  Notes notes;
  parsed.program.name = program_name(name);
  Lexed lexed = lex(std::move(name), std::move(text), include, notes);
  const Nesting nesting = nesting_of(lexed.tokens);
  if (nesting.depth <= deepest_nesting) {
    parsed.program.depth = nesting.depth;
    walk_deep(parsed.program, [&] { Parser(lexed, nesting, parsed.program, notes).run(); });
  } else {
    notes.add(
        0, {Message::Kind::syntax, nesting.deepest,
            fmt::format("What begins here may nest more than {} levels deep; split it.", deepest_nesting)});
  }
  parsed.program.sources = std::move(lexed.sources);
  parsed.program.comments = std::move(lexed.comments);
  parsed.messages = std::move(notes).in_order();
  return parsed;
}

}  // namespace adit::stan
