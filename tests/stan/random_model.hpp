// Random Stan programs that mean something, with their data: every name is declared, every index is inside,
// numbers stay moderate. The same for the same seed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace adit::test {

struct RandomModel {
  std::string text;  // a statement a line
  nlohmann::json data;
};

RandomModel random_model(unsigned seed);

}  // namespace adit::test
