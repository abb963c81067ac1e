// docs/ops.md is what the op table says. ADIT_WRITE_PAGES=1 (or the target ops_page) writes it anew.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "graph/row.hpp"
#include "ops/call.hpp"

namespace adit::test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines that two texts do not share, as diff shows them; at most a dozen.
std::string line_difference(const std::string& have, const std::string& want) {
  const auto lines_of = [](const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
  };
  const std::vector<std::string> a = lines_of(have), b = lines_of(want);
  // How many lines from here on are common, at best.
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1, 0));
  for (size_t i = a.size(); i-- > 0;)
    for (size_t j = b.size(); j-- > 0;)
      common[i][j] = a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string shown;
  int count = 0;
  const auto show = [&](char sign, const std::string& line) {
    if (++count <= 12) shown += std::string(1, sign) + line + "\n";
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j])
      ++i, ++j;
    else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1]))
      show('-', a[i++]);
    else
      show('+', b[j++]);
  }
  if (count > 12) shown += "... " + std::to_string(count - 12) + " more\n";
  if (shown.empty() && have != want) shown = "the last newline\n";
  return shown;
}

TEST(OpsPage, IsWhatTheTableSays) {
  const std::string page = graph::ops_page();
  if (std::getenv("ADIT_WRITE_PAGES")) std::ofstream(ADIT_OPS_PAGE) << page;
  const std::string difference = line_difference(content_of(ADIT_OPS_PAGE), page);
  EXPECT_TRUE(difference.empty()) << "build the target ops_page; docs/ops.md (-), the table (+):\n"
                                  << difference;
}

TEST(OpsPage, ADifferenceIsShownAlone) {
  EXPECT_EQ(line_difference("a\nb\nc\n", "a\nb\nc\n"), "");
  EXPECT_EQ(line_difference("a\nb\nc\n", "a\nx\nc\n"), "-b\n+x\n");
  EXPECT_EQ(line_difference("a\nb\n", "a\nb\nc\n"), "+c\n");
  EXPECT_EQ(line_difference("a\nb\nc\n", "b\nc\n"), "-a\n");
  EXPECT_EQ(line_difference("a", "a\n"), "the last newline\n");
  std::string many;
  for (int line = 0; line < 20; ++line) many += std::to_string(line) + "\n";
  EXPECT_TRUE(line_difference("", many).ends_with("+11\n... 8 more\n"));
}

// The functions that the headers declare: `Tensor name(`, `std::vector<Tensor> name(`.
std::set<std::string> declared(const std::string& header) {
  const std::string text = content_of(ADIT_HEADERS "/" + header);
  std::set<std::string> names;
  const std::regex declaration("(?:^|\n)(?:Tensor|Tensors|Step|std::vector<Tensor>) (\\w+)\\(");
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

// A function of the headers that neither a row nor the list of src/graph/page.cpp knows is missing.
TEST(OpsPage, NamesEveryFunctionOfTheHeaders) {
  const std::string page = graph::ops_page();
  std::set<std::string> names = declared("ops.hpp");
  EXPECT_GT(names.size(), 100u) << "the declarations look otherwise now";
  EXPECT_TRUE(names.contains("softmax") && names.contains("cholesky"));
  names.merge(declared("fft.hpp"));
  names.merge(declared("windows.hpp"));
  for (const char* header : {"einsum.hpp", "network.hpp"}) names.merge(declared(header));
  const std::set<std::string> control = declared("control.hpp");
  names.insert(control.begin(), control.end());
  names.erase("number_for"), names.erase("number_like");  // how operators take numbers
  for (const std::string& name : names)
    EXPECT_NE(page.find("`" + name + "`"), std::string::npos) << name << " has no line: src/graph/page.cpp";
  for (const std::string& name : names)
    EXPECT_TRUE(control.contains(name) || ops::callers().contains(name))
        << name << " cannot be called in cases: tests/ops/call.cpp";
}

// What the page has a column for stands in every row.
TEST(OpsPage, RowsAreComplete) {
  for (const graph::Row& row : graph::table()) {
    EXPECT_FALSE(row.doc.empty()) << row.name;
    EXPECT_FALSE(row.types.empty()) << row.name;
    EXPECT_TRUE(row.doc.ends_with(".")) << row.name;
  }
}

}  // namespace
}  // namespace adit::test
