// What is installed beside the command says what the command's own help says.
#include <algorithm>
#include <filesystem>
#include <gtest/gtest.h>
#include <regex>
#include <set>
#include <sstream>

#include "cli_runs.hpp"

namespace {

using namespace adit::test;
using Words = std::set<std::string>;

const fs::path source = ADIT_SOURCE_FOLDER;
const fs::path completions = source / "packaging/completions";

Words lines_of(const std::string& text) {
  Words words;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) words.insert(line);
  return words;
}

// Whether `text` has the word, not as a part of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; };
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end]))) return true;
  }
  return false;
}

struct Help {
  Words options, commands;
  std::map<std::string, Words> values;  // of options that take one of a few words
};

Help parse(const std::string& text) {
  Help help;
  bool in_commands = false;
  const std::regex row("  ([^ ]+)(?: ([^ ]+))?.*"), name("--[a-z0-9-]+"), choice("[a-z0-9]+(\\|[a-z0-9]+)+"),
      one("[^|]+");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (line.starts_with("Subcommands:")) in_commands = true;
    if (line.starts_with("Example")) break;
    if (!std::regex_match(line, match, row)) continue;
    const std::string first = match[1], second = match[2];
    if (in_commands && first[0] != '-') help.commands.insert(first);
    if (first[0] != '-') continue;
    for (std::sregex_iterator it(first.begin(), first.end(), name), end; it != end; ++it)
      help.options.insert(it->str());
    if (std::regex_match(second, choice))
      for (std::sregex_iterator it(second.begin(), second.end(), one), end; it != end; ++it)
        help.values[first].insert(it->str());
  }
  return help;
}

class PackagingTest : public CliSampleTest {
 protected:
  // By command, "" for the command itself and "bench device" for one of two words.
  std::map<std::string, Help> all_help() const {
    std::map<std::string, Help> all;
    std::vector<std::string> left = {""};
    while (!left.empty()) {
      const std::string command = left.back();
      left.pop_back();
      all[command] = parse(adit(command + " --help").output);
      for (const std::string& sub : all[command].commands)
        left.push_back(command.empty() ? sub : command + " " + sub);
    }
    return all;
  }

  bool has_program(const std::string& name) const {
    return std::system(("command -v " + name + " >/dev/null 2>&1").c_str()) == 0;
  }

  Words run_script(const std::string& shell, const std::string& script) const {
    put("script", script);
    const std::string path = fs::path(ADIT_PROGRAM).parent_path().string();
    const std::string command = "cd '" + root_.string() + "' && PATH='" + path + "':\"$PATH\" HOME='" +
                                root_.string() + "' " + shell + " script >words 2>errors";
    EXPECT_EQ(std::system(command.c_str()), 0) << content_of(root_ / "errors");
    EXPECT_EQ(content_of(root_ / "errors"), "");
    return lines_of(content_of(root_ / "words"));
  }

  // What bash offers for the last of the words.
  Words bash(const std::vector<std::string>& words) const {
    std::string script = "source '" + (completions / "adit.bash").string() + "'\nCOMP_WORDS=(";
    for (const std::string& word : words) script += "'" + word + "' ";
    script +=
        ")\nCOMP_CWORD=" + std::to_string(words.size() - 1) + "\n_adit\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    return run_script("bash --norc --noprofile", script);
  }

  Words fish(const std::string& line) const {
    const Words found = run_script("fish --no-config", "source '" + (completions / "adit.fish").string() +
                                                           "'\ncomplete -C '" + line + "'\n");
    Words words;
    for (const std::string& one : found) words.insert(one.substr(0, one.find('\t')));
    return words;
  }
};

std::vector<std::string> split(const std::string& command) {
  std::istringstream words(command);
  return {std::istream_iterator<std::string>(words), {}};
}

std::string man_page() {
  std::string text = content_of(source / "packaging/man/adit.1");
  return std::regex_replace(text, std::regex("\\\\-"), "-");
}

// From the heading of a command to the next heading. The cache's own commands stand in one section.
std::string man_section(const std::string& page, const std::string& command) {
  const std::string name = command.starts_with("cache ") ? "cache" : command;
  const size_t begin = page.find(name.empty() ? ".SH GENERAL OPTIONS" : ".SS adit " + name + " ");
  if (begin == std::string::npos) return {};
  return page.substr(begin, std::min(page.find("\n.SS ", begin + 1), page.find("\n.SH ", begin + 1)) - begin);
}

TEST_F(PackagingTest, help_is_understood) {
  const auto all = all_help();
  EXPECT_GE(all.size(), 15u);
  EXPECT_GE(all.at("sample").options.size(), 25u);
  EXPECT_EQ(all.at("sample").values.at("--metric"), (Words{"auto", "diag", "dense", "unit"}));
  EXPECT_EQ(all.at("doctor").options, (Words{"--help", "--json", "--device", "--save", "--no-save"}));
  EXPECT_EQ(all.at("cache").commands, (Words{"show", "clear"}));
}

TEST_F(PackagingTest, the_man_page_has_every_command_and_option) {
  const std::string page = man_page();
  for (const auto& [command, help] : all_help()) {
    if (command == "bench") continue;  // it does nothing by itself
    const std::string section = man_section(page, command);
    EXPECT_FALSE(section.empty()) << "no section for adit " << command;
    for (const std::string& option : help.options)
      EXPECT_TRUE((option == "--help" && !command.empty()) || has_word(section, option))
          << command << " " << option;
    for (const auto& [option, values] : help.values)
      for (const std::string& value : values) EXPECT_TRUE(has_word(section, value)) << option << " " << value;
  }
}

TEST_F(PackagingTest, versions_agree) {
  const std::string words = adit("--version").output;
  const std::string version = words.substr(5, words.find('\n') - 5);
  EXPECT_TRUE(contains(man_page(), "\"Adit " + version + "\"")) << version;
  const fs::path packaging = source / "packaging";
  EXPECT_TRUE(content_of(packaging / "debian/changelog").starts_with("adit (" + version + ")")) << version;
  EXPECT_TRUE(contains(content_of(packaging / "freebsd/Makefile"), "DISTVERSION=\t" + version + "\n"))
      << version;
}

TEST_F(PackagingTest, the_man_page_has_every_variable) {
  const std::string page = man_page();
  const std::regex call("getenv\\(\"([A-Z_]+)\"\\)");
  Words names;
  for (const auto& entry : fs::recursive_directory_iterator(source / "src")) {
    if (!entry.is_regular_file()) continue;
    const std::string text = content_of(entry.path());
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  EXPECT_GE(names.size(), 6u);
  for (const std::string& name : names) EXPECT_TRUE(has_word(page, name)) << name;
}

TEST_F(PackagingTest, the_man_page_is_well_formed) {
  if (!has_program("groff")) GTEST_SKIP() << "no groff here";
  const std::string page = (source / "packaging/man/adit.1").string();
  EXPECT_EQ(std::system(
                ("groff -man -Tutf8 -ww -z '" + page + "' 2>'" + (root_ / "errors").string() + "'").c_str()),
            0);
  EXPECT_EQ(content_of(root_ / "errors"), "");
}

TEST_F(PackagingTest, the_completions_have_every_command_and_option) {
  const std::string bash = content_of(completions / "adit.bash"), zsh = content_of(completions / "_adit"),
                    fish = content_of(completions / "adit.fish");
  for (const auto& [command, help] : all_help()) {
    for (const std::string& option : help.options) {
      EXPECT_TRUE(has_word(bash, option)) << "adit.bash: " << command << " " << option;
      EXPECT_TRUE(has_word(zsh, option)) << "_adit: " << command << " " << option;
      EXPECT_TRUE(has_word(fish, "-l " + option.substr(2))) << "adit.fish: " << command << " " << option;
    }
    for (const std::string& sub : help.commands)
      for (const std::string* file : {&bash, &zsh, &fish})
        EXPECT_TRUE(has_word(*file, sub)) << command << " " << sub;
    for (const auto& [option, values] : help.values)
      for (const std::string& value : values)
        for (const std::string* file : {&bash, &zsh, &fish})
          EXPECT_TRUE(has_word(*file, value)) << option << " " << value;
  }
}

TEST_F(PackagingTest, bash_completes) {
  if (!has_program("bash")) GTEST_SKIP() << "no bash here";
  for (const auto& [command, help] : all_help()) {
    std::vector<std::string> words = split("adit " + command);
    words.push_back("--");
    EXPECT_EQ(bash(words), help.options) << command;
    words.back() = "";
    if (!help.commands.empty()) {
      EXPECT_EQ(bash(words), help.commands) << command;
    }
    for (const auto& [option, values] : help.values) {
      words.back() = option;
      words.push_back("");
      EXPECT_EQ(bash(words), values) << command << " " << option;
      words.pop_back();
    }
  }
  EXPECT_EQ(bash({"adit", "sample", "eight_schools_n"}), Words{"eight_schools_noncentered"});
  EXPECT_EQ(bash({"adit", "sample", "--device", "c"}), Words{"cpu"});
  EXPECT_EQ(bash({"adit", "sample", "--metric", "=", "de"}), Words{"dense"});
  EXPECT_EQ(bash({"adit", "sample", "--metric", "="}), (Words{"auto", "diag", "dense", "unit"}));
  EXPECT_EQ(bash({"adit", "sample", "--chains", ""}), Words{}) << "a number";
  EXPECT_EQ(bash({"adit", "summary", "scr"}), Words{"script"}) << "a file";
  if (contains(adit("devices").output, " vulkan:0 ")) {
    EXPECT_EQ(bash({"adit", "doctor", "--device", "vulkan", ":", "0"}), Words{"0"});
    EXPECT_TRUE(bash({"adit", "doctor", "--device", "=", "vulkan", ":"}).contains("0"));
    EXPECT_TRUE(bash({"adit", "doctor", "--device", "vulk"}).contains("vulkan:0"));
  }
}

TEST_F(PackagingTest, fish_completes) {
  if (!has_program("fish")) GTEST_SKIP() << "no fish here";
  for (const auto& [command, help] : all_help()) {
    const std::string start = command.empty() ? "adit " : "adit " + command + " ";
    EXPECT_EQ(fish(start + "--"), help.options) << command;
    if (!help.commands.empty()) {
      EXPECT_EQ(fish(start), help.commands) << command;
    }
    for (const auto& [option, values] : help.values) EXPECT_EQ(fish(start + option + " "), values) << option;
  }
  EXPECT_EQ(fish("adit sample eight_schools_n"), Words{"eight_schools_noncentered"});
}

}  // namespace
