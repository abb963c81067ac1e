// The summary as people read it: labels and digits.
#include <cmath>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <sstream>

#include <adit/diagnostics.hpp>
#include <adit/text.hpp>

namespace adit {
namespace {

// Two chains of a mean around `centre`; of a plate's three elements.
Draws of_a_plate(double centre, double spread) {
  Draws draws;
  draws.chains = 2, draws.draws = 200;
  DrawsVariable theta{"theta", {3}, {"school"}, {}};
  std::mt19937 random(7);
  std::normal_distribution<double> noise(centre, spread);
  for (int i = 0; i < 2 * 200 * 3; ++i) theta.values.push_back(noise(random));
  draws.variables = {theta};
  return draws;
}

std::vector<std::string> lines_of_theta(const Draws& draws, int significant = 2) {
  std::istringstream table(format_summary(draws, summary(draws), significant));
  std::vector<std::string> lines;
  for (std::string line; std::getline(table, line);)
    if (line.starts_with("theta")) lines.push_back(line);
  return lines;
}

TEST(Summary, PlatesAreShownByTheirLabels) {
  Draws draws = of_a_plate(0, 1);
  draws.coordinates["school"] = {"north", "Łódź", "a\033[2J"};
  const auto lines = lines_of_theta(draws);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].starts_with("theta[north] ")) << lines[0];
  EXPECT_TRUE(lines[1].starts_with("theta[Łódź] ")) << lines[1];
  EXPECT_EQ(lines[2].find('\033'), std::string::npos);
  EXPECT_EQ(character_count(lines[0]), character_count(lines[1])) << lines[1];
  EXPECT_EQ(character_count(lines[0]), character_count(lines[2])) << lines[2];
  const Summary rows = summary(draws);
  EXPECT_EQ(rows.parameters[1].name, "theta[2]");
  EXPECT_EQ(rows.parameters[1].label, "theta[Łódź]");
  EXPECT_EQ(element_label(draws, draws.variables[0], 0), "theta[north]");
}

TEST(Summary, PlatesWithoutLabelsCountFromOne) {
  Draws draws = of_a_plate(0, 1);
  for (const std::vector<std::string>& labels : {std::vector<std::string>{"0", "1", "2"}, {"a", "b"}, {}}) {
    draws.coordinates["school"] = labels;  // counted; of another length; none
    EXPECT_EQ(summary(draws).parameters[2].shown(), "theta[3]");
  }
  draws.coordinates["school"] = {"1", "2", "0"};
  EXPECT_EQ(summary(draws).parameters[2].shown(), "theta[0]");
  // Two axes, one of them with labels.
  draws.variables[0].shape = {1, 3};
  draws.variables[0].dims = {"", "school"};
  EXPECT_EQ(summary(draws).parameters[2].shown(), "theta[1,0]");
}

// Labels come from files: nothing of them reaches a terminal raw, whatever sentence has them.
TEST(Summary, LabelsReachATerminalPrintable) {
  Draws draws = of_a_plate(0, 1);
  draws.chains = 4, draws.draws = 100;
  for (int i = 0; i < 100; ++i) draws.variables[0].values[static_cast<size_t>((200 + i) * 3 + 1)] += 50;
  draws.coordinates["school"] = {"a", "b\033[2J\nmore", "c"};
  const Summary rows = summary(draws);
  const std::string said = format_summary(draws, rows) + diagnose(draws, rows);
  EXPECT_NE(said.find("chain 3 has theta[b"), std::string::npos) << said;
  EXPECT_EQ(said.find('\033'), std::string::npos);
  EXPECT_EQ(said.find("\nmore"), std::string::npos);
}

// The three quantiles of a narrow posterior differ in the table, whatever its size and its place.
TEST(Summary, DigitsTellQuantilesApart) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> size(-5, 5), ratio(0, 9);
  for (int round = 0; round < 100; ++round) {
    const double centre = std::pow(10, size(random)) * (round % 2 ? 1 : -1);
    const Draws draws = of_a_plate(centre, std::fabs(centre) * std::pow(10, -ratio(random)));
    for (const std::string& line : lines_of_theta(draws, 2)) {
      std::istringstream words(line);
      std::vector<std::string> cells(std::istream_iterator<std::string>(words), {});
      ASSERT_GE(cells.size(), 8u);
      EXPECT_NE(cells[5], cells[6]) << line;
      EXPECT_NE(cells[6], cells[7]) << line;
    }
  }
  EXPECT_TRUE(lines_of_theta(of_a_plate(1.974, 0.02))[0].find(" 1.97 ") != std::string::npos);
}

}  // namespace
}  // namespace adit
