// The parser on what no one would write: it ends, soon, and says what is wrong.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>

#include "seeds.hpp"
#include "stan/check.hpp"
#include "stan/format.hpp"
#include "stan_random.hpp"
#include "stan_tree.hpp"
#include "support/deep_stack.hpp"

namespace {

using namespace adit::test;

Include some_files() {
  return [](const std::string& name) -> std::optional<Source> {
    if (name.size() % 3 == 0) return std::nullopt;
    return Source{name, "real x; #include " + name + "z\n } {"};
  };
}

// What holds for every text.
void expect_sane(const std::string& text) {
  const Parsed parsed = parse("m.stan", text, some_files());
  ASSERT_LE(parsed.messages.size(), 100U);
  size_t shown = 0;
  for (const Message& message : parsed.messages) {
    ASSERT_LT(message.place.file, parsed.program.sources.size());
    ASSERT_LE(message.place.begin, message.place.end);
    ASSERT_LE(message.place.end, parsed.program.sources[message.place.file].text.size());
    if (shown++ > 2) continue;
    ASSERT_LT(to_text(parsed.program.sources, message).size(), 4000U);
  }
  const std::string once = format(parsed.program);  // of any program, wrong ones too
  if (parsed.failed() || parsed.program.sources.size() > 1) return;
  const Parsed again = parse("m.stan", once);
  ASSERT_FALSE(again.failed()) << text;
  ASSERT_EQ(tree(parsed.program), tree(again.program)) << text;
}

const std::vector<std::string>& fuzz_tokens() {
  static const std::vector<std::string> tokens = {
      "model",     "{",       "}",        "(",          ")",           "[",         "]",
      ";",         ",",       ":",        "|",          "~",           "=",         "+=",
      "<",         ">",       "<-",       "?",          "'",           "^",         "-",
      "+",         "*",       "!",        "x",          "y",           "1",         "2.5",
      ".1",        "3i",      "\"t\"",    "real",       "int",         "vector",    "array",
      "tuple",     "simplex", "data",     "parameters", "transformed", "generated", "quantities",
      "functions", "for",     "in",       "if",         "else",        "while",     "return",
      "print",     "target",  "jacobian", "profile",    "break",       "void",      "lower",
      "upper",     "T",       "//c\n",    "/*c*/",      "/*",          "#",         "#include a\n",
      "\n",        "%/%",     "\\",       ".*=",        "&&",          "==",        "true",
      "complex",   "@",       "_"};
  return tokens;
}

TEST(StanParseFuzz, RandomBytes) {
  each_seed(2500, [](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string text(random() % 200, ' ');
    const bool printable = random() % 2 == 0;
    for (char& byte : text) byte = static_cast<char>(printable ? 32 + random() % 95 : random() % 256);
    expect_sane(random() % 2 == 0 ? "model {" + text : text);
  });
}

TEST(StanParseFuzz, RandomTokens) {
  const auto& tokens = fuzz_tokens();
  each_seed(3000, [&](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string text = random() % 2 == 0 ? "model { " : "";
    for (size_t count = random() % 60; count > 0; --count)
      text += tokens[random() % tokens.size()] + (random() % 3 == 0 ? "" : " ");
    expect_sane(text);
  });
}

TEST(StanParseFuzz, ChangedPrograms) {
  const auto& tokens = fuzz_tokens();
  each_seed(2500, [&](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    std::string text = RandomProgram(static_cast<unsigned>(seed), seed % 2 == 0).text();
    for (size_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0: text.erase(at, 1 + random() % 20); break;
        case 1: text.insert(at, ' ' + tokens[random() % tokens.size()] + ' '); break;
        case 2: text[at] = static_cast<char>(random() % 256); break;
        default: text.insert(at, text.substr(random() % text.size(), random() % 60)); break;
      }
    }
    expect_sane(text);
  });
}

// Words and marks of a program, and what stands between them.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  const auto kind = [](char c) {
    return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ? 1 : isspace(c) != 0 ? 2 : 3;
  };
  for (size_t i = 0; i < text.size(); ++i)
    if (i > 0 && kind(text[i]) == kind(text[i - 1]) && kind(text[i]) != 3)
      words.back() += text[i];
    else
      words.emplace_back(1, text[i]);
  return words;
}

// Programs that people write, with words of others in some places: the checker ends as well, and soon.
TEST(StanParseFuzz, CheckedPrograms) {
  using Clock = std::chrono::steady_clock;
  std::vector<std::vector<std::string>> programs;
  for (const char* folder : {"/tests/stan/programs", "/examples/stan"})
    for (const auto& file : std::filesystem::directory_iterator(ADIT_SOURCE_FOLDER + std::string(folder))) {
      if (file.path().extension() != ".stan") continue;
      std::ifstream stream(file.path());
      programs.push_back(words_of({std::istreambuf_iterator<char>(stream), {}}));
    }
  ASSERT_GT(programs.size(), 100U);
  int count = 0, checked = 0;
  each_seed(400, [&](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    ++count;
    std::vector<std::string> words = programs[random() % programs.size()];
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const std::vector<std::string>& other = random() % 2 ? words : programs[random() % programs.size()];
      const size_t from = random() % other.size(), length = std::min(1 + random() % 6, other.size() - from);
      const std::vector<std::string> part(other.begin() + static_cast<long>(from),
                                          other.begin() + static_cast<long>(from + length));
      const auto at = words.begin() + static_cast<long>(random() % words.size());
      if (random() % 3 == 0)
        words.insert(at, part.begin(), part.end());
      else
        *at = part[0];
    }
    std::string text;
    for (const std::string& word : words) text += word;
    const auto begin = Clock::now();
    expect_sane(text);
    Parsed parsed = parse("m.stan", text, some_files());
    if (!parsed.failed()) {
      ++checked;
      for (const Message& message : check(parsed.program)) {
        ASSERT_LE(message.place.end, parsed.program.sources[message.place.file].text.size());
        ASSERT_FALSE(to_text(parsed.program.sources, message).empty());
      }
    }
    ASSERT_LT(std::chrono::duration<double>(Clock::now() - begin).count(), 20) << text;
  });
  EXPECT_GT(checked, count / 20) << count;
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

constexpr int deep = 100000;

// Every way of nesting that is not closed: one message, of the end.
TEST(StanParseFuzz, DeepNesting) {
  for (const char* open :
       {"(", "[", "{", "f(", "x[", "-", "!", "+ +", "1 ? ", "1 ? 1 : ", "2 ^ ", "2 ^ -", "f(y | ", "(1, "}) {
    const Parsed parsed = parse("m.stan", "model { x = " + repeated(open, deep / 20));
    EXPECT_EQ(parsed.messages.size(), 1U) << open;
    EXPECT_TRUE(parsed.failed());
  }
  for (const char* open : {"{", "if (1) ", "while (1) ", "for (i in 1:2) ", "for (i in x) {",
                           "if (1) ; else ", "profile(\"a\") {", "if (1) {} else {"}) {
    const Parsed parsed = parse("m.stan", "model { " + repeated(open, deep / 20));
    EXPECT_EQ(parsed.messages.size(), 1U) << open;
    EXPECT_TRUE(parsed.failed());
  }
  EXPECT_TRUE(parse("m.stan", "data { " + repeated("tuple(", deep)).failed());
  EXPECT_TRUE(parse("m.stan", "functions { " + repeated("tuple(", deep)).failed());
  EXPECT_TRUE(parse("m.stan", "model { " + repeated("(a, ", deep)).failed());
}

// Programs a hundred thousand levels deep are programs: read, checked, formatted and done away with, on a
// stack that holds a hundred of them.
TEST(StanParseFuzz, DeepProgramsAreFine) {
  const auto around = [](int count, const char* open, const std::string& inside, const char* close) {
    return repeated(open, count) + inside + repeated(close, count);
  };
  std::vector<std::string> texts;
  texts.push_back("model { int y = 1; int x = y" + repeated(" + 1", deep) + "; }");
  texts.push_back("model { int y = 1; int x = " + around(deep, "(", "y", ")") + "; }");
  texts.push_back("model { int y = 1; " + repeated("if (y > 2) y = 3; else ", deep) + "y = 2; }");
  texts.push_back("model {" + around(deep, "{", "", "}") + "}");
  const int less = deep / 10;
  for (const char* tail : {" - y", " * 1", " || 1", " == 1", " %/% 1"})
    texts.push_back("model { int y = 1; int x = y" + repeated(tail, less) + "; }");
  texts.push_back("model { vector[2] y; real x = (y" + repeated("'", 2 * less) + ")[1]; }");
  texts.push_back("model { int y = 1; int x = " + repeated("-", less) + "y; }");
  texts.push_back("model { int y = 1; int x = " + repeated("y ? 1 : ", less) + "y; }");
  texts.push_back("model { int y = 1; real x = " + repeated("2 ^ ", less) + "y; }");
  texts.push_back("model { array[1] int y = {1}; int x = " + around(less, "y[", "1", "]") + "; }");
  texts.push_back("model { real x = " + around(less, "exp(", "1", ")") + "; }");
  texts.push_back("model { int y = 1; " + repeated("if (y) ", less) + "y = 2; }");
  texts.push_back("model { int y = 1; " + around(less, "while (y < 1) {", "y = 2;", "}") + " }");
  adit::on_deep_stack(256 << 10, [&] {
    for (const std::string& text : texts) {
      const auto begin = std::chrono::steady_clock::now();
      Parsed parsed = parse("m.stan", text);
      EXPECT_FALSE(parsed.failed()) << text.substr(0, 60);
      for (const Message& message : check(parsed.program))
        EXPECT_EQ(message.kind, Message::Kind::warning) << text.substr(0, 60) << message.text;
      EXPECT_GT(format(parsed.program).size(), text.size() / 2) << text.substr(0, 60);
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      EXPECT_LT(seconds.count(), 20) << text.substr(0, 60);
    }
  });
}

// Time grows with the length alone: its square would take minutes.
TEST(StanParseFuzz, LongTexts) {
  const int bytes = 1 << 18;
  const auto filled = [&](const std::string& before, const std::string& part, const std::string& after) {
    return before + repeated(part, bytes / static_cast<int>(part.size())) + after;
  };
  const std::string texts[] = {
      filled("", "(", ""),
      filled("", "}", ""),
      filled("model {", "x=1;", "}"),
      filled("model {", "x = ;\n", "}"),
      filled("model { x = {1", ",1", "}; }"),
      filled("data { real a", ",a", "; }"),
      filled("data { array[1", "+1", "] real a; }"),
      filled("data { array[" + repeated("f(1),", 1000) + "1] real a", ",a", "; }"),
      filled("data {", "real a[3];\n", "}"),
      filled("functions { real f(array[", ",", "] real x); }"),
      filled("functions {", "void f();", "}"),
      filled("", "#include a\n", ""),
      filled("", "# old\n", ""),
      filled("", "/**/", ""),
      filled("", "/*", ""),
      filled("", "\"", ""),
      filled("model { x = ", "9", "; }"),
      filled("model { x = 1.", "9", "; }"),
      filled("model { x = 1e", "9", "; }"),
      filled("model {", "a", " = 1; }"),
      filled("model {", "a", " 1; }"),
      filled("", "\xFF", ""),
      filled("model {", "if (a) {} else ", ""),
      filled("model {", "if (", ""),
      filled("model {", "for (i in 1:", "{}"),
      filled("", "data {", ""),
      filled("", "model { x = (1;\n", ""),
      filled("", "\n", "x"),
  };
  for (const std::string& text : texts) {
    const auto begin = std::chrono::steady_clock::now();
    const Parsed parsed = parse("m.stan", text, some_files());
    for (const Message& message : parsed.messages)
      EXPECT_LT(to_text(parsed.program.sources, message).size(), 5000U);
    if (!parsed.failed()) format(parsed.program);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(seconds.count(), 20) << text.substr(0, 50);
  }
  EXPECT_TRUE(parse("m.stan", std::string(9 << 20, ' ')).failed());
}

}  // namespace
