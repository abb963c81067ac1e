// docs/ops.md is what the op table says. ADIT_WRITE_PAGES=1 (or the target ops_page) writes it anew.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

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

TEST(OpsPage, IsWhatTheTableSays) {
  const std::string page = graph::ops_page();
  if (std::getenv("ADIT_WRITE_PAGES")) std::ofstream(ADIT_OPS_PAGE) << page;
  EXPECT_EQ(content_of(ADIT_OPS_PAGE), page) << "build the target ops_page";
}

TEST(OpsPage, NamesEveryRowAndEveryOperation) {
  const std::string page = graph::ops_page();
  for (const graph::Row& row : graph::table())
    EXPECT_NE(page.find("| `" + std::string(row.name) + "` |"), std::string::npos) << row.name;
  for (const auto& [name, caller] : ops::callers())
    EXPECT_NE(page.find("`" + name), std::string::npos) << name;
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
