// "Did you mean ...?"
#pragma once

#include <string>
#include <vector>

namespace adit::cli {

// The known word nearest to what was typed, or "" where none is near.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

}  // namespace adit::cli
