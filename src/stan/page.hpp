// The text of docs/stan.md.
#pragma once

#include <string>

namespace adit::stan {

// Written from the table of built-in functions.
std::string stan_page();

}  // namespace adit::stan
