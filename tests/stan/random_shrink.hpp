// The smallest program that still fails: lines, and blocks of them, are left out as long as it does.
#pragma once

#include <functional>
#include <string>

namespace adit::test {

std::string shrunk(std::string text, const std::function<bool(const std::string&)>& fails);

}  // namespace adit::test
