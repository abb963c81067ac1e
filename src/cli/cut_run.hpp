// A run of `adit sample` that ended without its files, as by a kill: the draws in its checkpoint.
#pragma once

#include <string>

#include <adit/draws.hpp>

namespace adit::cli {

// The draws so far, and a line on standard error that says what they are. `where` begins the errors.
Draws read_cut_run(const std::string& where, const std::string& path);

}  // namespace adit::cli
