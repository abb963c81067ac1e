// Programs given to the checker, and what it is to say of them.
#pragma once

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "stan/check.hpp"
#include "stan/parse.hpp"

namespace adit::stan {

struct Checked {
  Program program;
  std::vector<Message> messages;
};

inline Checked checked(const std::string& text) {
  Parsed parsed = parse("m.stan", text);
  for (const Message& message : parsed.messages)
    if (message.kind != Message::Kind::warning) ADD_FAILURE() << to_text(parsed.program.sources, message);
  Checked result{std::move(parsed.program), {}};
  if (!parsed.failed()) result.messages = check(result.program);
  return result;
}

inline std::string all_text(const Checked& result) {
  std::string text;
  for (const Message& message : result.messages) text += to_text(result.program.sources, message) + "\n";
  return text;
}

inline bool has_errors(const Checked& result) {
  return std::any_of(result.messages.begin(), result.messages.end(),
                     [](const Message& message) { return message.kind != Message::Kind::warning; });
}

inline void expect_fine(const std::string& text) {
  const Checked result = checked(text);
  EXPECT_FALSE(has_errors(result)) << text << "\n" << all_text(result);
}

inline void expect_message(Message::Kind kind, const std::string& text, const std::string& gist,
                           const std::string& at) {
  const Checked result = checked(text);
  for (const Message& message : result.messages) {
    if (message.kind != kind || message.text.find(gist) == std::string::npos) continue;
    const std::string& source = result.program.sources[message.place.file].text;
    EXPECT_LT(message.place.begin, message.place.end);
    EXPECT_EQ(source.substr(message.place.begin, at.size()), at) << text;
    return;
  }
  ADD_FAILURE() << "nothing says \"" << gist << "\" of\n" << text << "\n" << all_text(result);
}

// Something with the gist is said of the place where the program goes on with `at`.
inline void expect_error(const std::string& text, const std::string& gist, const std::string& at) {
  expect_message(Message::Kind::semantic, text, gist, at);
}
inline void expect_warning(const std::string& text, const std::string& gist, const std::string& at) {
  EXPECT_FALSE(has_errors(checked(text))) << text;
  expect_message(Message::Kind::warning, text, gist, at);
}
inline void expect_quiet(const std::string& text) { EXPECT_EQ(all_text(checked(text)), "") << text; }

}  // namespace adit::stan
