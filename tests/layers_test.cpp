// A folder of src/ includes only what the table of docs/architecture.md lets it.
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace {

namespace fs = std::filesystem;
using Allowed = std::map<std::string, std::set<std::string>>;

const fs::path source = ADIT_SOURCE_FOLDER;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Rows "| `folder` | one, two |" of the section "What may include what"; a dash stands for none.
Allowed read_table(const std::string& page) {
  const size_t begin = page.find("## What may include what");
  const std::string section =
      begin == std::string::npos ? "" : page.substr(begin, page.find("\n## ", begin + 1) - begin);
  Allowed allowed;
  const std::regex row("\\| `([a-z]+)` \\| ([^|]*) \\|"), word("[a-z]+");
  for (std::sregex_iterator it(section.begin(), section.end(), row), end; it != end; ++it) {
    const std::string names = (*it)[2];
    auto& list = allowed[(*it)[1]];
    for (std::sregex_iterator name(names.begin(), names.end(), word); name != end; ++name)
      list.insert(name->str());
  }
  return allowed;
}

// What is wrong with the includes of a file of `folder`, one line each.
std::vector<std::string> violations(const Allowed& allowed, const std::string& folder,
                                    const std::string& text) {
  std::vector<std::string> found;
  const std::regex quoted("(?:^|\n)#\\s*include\\s*\"([^\"\n]*)\"");
  for (std::sregex_iterator it(text.begin(), text.end(), quoted), end; it != end; ++it) {
    const fs::path header = (*it)[1].str();
    const std::string other = header.begin()->string();
    const bool inner = std::distance(header.begin(), header.end()) > 2;
    if (header == "source_stamp.hpp" || other == folder) continue;
    if (!allowed.at(folder).contains(other))
      found.push_back(folder + " may not include " + header.string());
    else if (inner)  // a folder inside of a folder is its own affair
      found.push_back(folder + " includes " + header.string() + ", which is private to " + other);
  }
  return found;
}

TEST(Layers, FoldersIncludeWhatStandsBelow) {
  const Allowed allowed = read_table(text_of(source / "docs/architecture.md"));
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source / "src")) {
    if (!entry.is_regular_file()) continue;
    const fs::path inside = fs::relative(entry.path(), source / "src");
    const std::string folder = inside.begin()->string();
    ASSERT_TRUE(allowed.contains(folder)) << folder << " is not in the table of docs/architecture.md";
    for (const std::string& line : violations(allowed, folder, text_of(entry.path())))
      ADD_FAILURE() << "src/" << inside.string() << ": " << line;
    ++files;
  }
  EXPECT_GT(files, 500u);
}

// Adds all that `folder` stands on.
void descend(const Allowed& allowed, const std::string& folder, std::set<std::string>& below) {
  for (const std::string& one : allowed.at(folder))
    if (below.insert(one).second) descend(allowed, one, below);
}

TEST(Layers, NothingInTheTableStandsOnItself) {
  const Allowed allowed = read_table(text_of(source / "docs/architecture.md"));
  ASSERT_GE(allowed.size(), 18u);
  for (const auto& [folder, list] : allowed)
    for (const std::string& one : list)
      ASSERT_TRUE(allowed.contains(one)) << folder << " may include " << one << ", which has no row";
  for (const auto& [folder, list] : allowed) {
    std::set<std::string> below;
    descend(allowed, folder, below);
    EXPECT_FALSE(below.contains(folder)) << folder << " stands on itself";
  }
}

// The public headers lean on nothing of src/; the command is their first customer.
TEST(Layers, PublicHeadersStandAlone) {
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(source / "include")) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(text_of(entry.path()).find("#include \""), std::string::npos) << entry.path();
    ++files;
  }
  EXPECT_GT(files, 20u);
  const Allowed allowed = read_table(text_of(source / "docs/architecture.md"));
  EXPECT_TRUE(allowed.at("cli").empty());
  EXPECT_EQ(violations(allowed, "cli", "#include \"graph/row.hpp\"\n").size(), 1u);
  EXPECT_EQ(violations(allowed, "graph", "#include \"kernel/fold.hpp\"\n#include <vector>\n").size(), 0u);
  EXPECT_EQ(violations(allowed, "graph", "#include \"kernel/math/f32.hpp\"\n").size(), 1u);
  EXPECT_EQ(violations(allowed, "kernel", "#include \"graph/row.hpp\"\n").size(), 1u);
}

}  // namespace
