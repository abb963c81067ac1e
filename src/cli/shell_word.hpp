// A word as a shell reads it, for lines that tell what to type.
#pragma once

#include <string>

namespace adit::cli {

// In quotes where it needs them. What a terminal must not be sent is written as bash, zsh and POSIX.1-2024
// read it: $'a\033b'.
std::string shell_word(const std::string& word);

}  // namespace adit::cli
