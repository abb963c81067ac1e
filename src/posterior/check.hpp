// What every writer asks of draws before it makes a file.
#pragma once

#include <adit/draws.hpp>

namespace adit {

// Throws bad_argument where the numbers of values do not fit chains, draws and shapes.
void check_draws(const char* function, const Draws& draws);

}  // namespace adit
