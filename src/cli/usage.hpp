// What is wrong with the words of a command.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <adit/error.hpp>

namespace adit::cli {

// The words make no sense: exit status 2, where other errors have 1.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorKind::bad_argument, message) {}
};

// An error in words. What the C++ library throws has none for users.
std::string words_of(const std::exception& error);

// "; did you mean diag?", or "; expected diag, dense, unit" where no word is near.
std::string or_suggestion(const std::string& typed, const std::vector<std::string>& known);

// Which of `known` was typed; else throws "[sample] --metric: unknown dia; did you mean diag?".
size_t choice_of(const std::string& where, const std::string& typed, const std::vector<std::string>& known);

// The number that was typed, all of it; else throws "[sample] --chains: expected a whole number, got 1e3".
int64_t whole_number(const std::string& where, const std::string& typed);
uint64_t natural_number(const std::string& where, const std::string& typed);
double real_number(const std::string& where, const std::string& typed);

// The word that was typed, unless it is empty; else throws "[sample] --output: expected FOLDER, got \"\"".
std::string some_word(const std::string& where, const std::string& typed, const std::string& expected);

// A device that `adit devices` lists, or "vulkan"; else throws, naming those there are.
std::string device_id(const std::string& where, const std::string& typed);

}  // namespace adit::cli
