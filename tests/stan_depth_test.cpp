// Programs a hundred thousand levels deep become models, whose densities are computed.
#include <chrono>
#include <gtest/gtest.h>

#include <adit/model.hpp>

#include "stan/check.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "support/deep_stack.hpp"

namespace adit::stan {
namespace {

constexpr int deep = 100000;

std::string repeated(const std::string& part, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += part;
  return all;
}

// On a stack that holds a hundred of the levels.
TEST(StanDepth, DeepProgramsRun) {
  const std::string begin = "parameters { real p; } model { real x = 0; int y = 1; ",
                    end = " target += x - p^2; }";
  const struct {
    std::string text;
    double value;  // at p = 0.5
  } programs[] = {
      {begin + "x = " + repeated("(", deep) + "p" + repeated(")", deep) + ";" + end, 0.25},
      {begin + "x = y" + repeated(" + 1", deep) + ";" + end, deep + 0.75},
      {begin + repeated("if (y > 2) x = 3; else ", deep) + "x = p;" + end, 0.25},
      {begin + repeated("{", deep) + "x = p;" + repeated("}", deep) + end, 0.25},
      {begin + "x = " + repeated("-", deep) + "p;" + end, 0.25},
      {begin + "x = " + repeated("y > 2 ? 3 : ", deep) + "p;" + end, 0.25},
      {begin + "x = " + repeated("exp(", deep) + "-1e9" + repeated(" * 0)", deep) + " * p;" + end, 0.25},
      {"functions { real f(int n, real p) { if (n == 0) return p; return f(n - 1, p); } } " + begin +
           "x = f(" + std::to_string(deep - 1) + ", p);" + end,
       0.25},
  };
  adit::on_deep_stack(256 << 10, [&] {
    for (const auto& [text, value] : programs) {
      const auto begun = std::chrono::steady_clock::now();
      Parsed parsed = parse("m.stan", text);
      check(parsed.program);
      const Model model = lower(parsed.program, {}).model;
      EXPECT_EQ(model.log_density(tensor(std::vector<double>{0.5})).item<double>(), value)
          << text.substr(0, 80);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begun;
      EXPECT_LT(seconds.count(), 30) << text.substr(0, 80);
    }
    // Of operators on parameters the graph is as deep.
    Parsed parsed = parse("m.stan", begin + "x = p" + repeated(" + p", deep) + ";" + end);
    check(parsed.program);
    EXPECT_EQ(lower(parsed.program, {}).model.size(), 1);
  });
}

}  // namespace
}  // namespace adit::stan
