// The continuous distributions under test: one row each. What they should give stands in tests/stats/*.py.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <adit/distribution.hpp>

namespace adit::test {

using Parameters = std::vector<Parameter>;

// A call that must throw, and what the message says.
struct BadCall {
  Parameters parameters;
  std::string message;
};
struct Row {
  std::string name;
  std::function<Distribution(const Parameters&)> make;
  std::vector<BadCall> bad;
};

std::vector<Row> continuous_rows();

}  // namespace adit::test
