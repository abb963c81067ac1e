// From text to a program.
#pragma once

#include <functional>

#include "stan/syntax.hpp"

namespace adit::stan {

struct Parsed {
  Program program;
  std::vector<Message> messages;  // syntax errors and notes of old forms
  bool failed() const;
};
// The text of an included file by the name in `#include`, or nothing where there is none. Throws Error where
// it cannot be read.
using Include = std::function<std::optional<Source>(const std::string& name)>;

// Never throws for what the text says; at most 100 errors.
Parsed parse(std::string name, std::string text, const Include& include = {});

}  // namespace adit::stan
