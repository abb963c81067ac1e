// Every message of src/stan has a program that provokes it. The texts are read from the sources; the programs
// are those that the other tests of messages hold, and the ones below. A message that nothing provokes fails
// here, with its file.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <set>
#include <sstream>

#include <adit/error.hpp>
#include <adit/stan.hpp>

#include "stan/check.hpp"
#include "stan/lower.hpp"
#include "stan/parse.hpp"
#include "stan_source_messages.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {
namespace {

namespace fs = std::filesystem;

const std::string root = ADIT_SOURCE_FOLDER;

// Not errors: why a loop was run as it was.
const std::set<std::string> notes{"NotTogether", "tell", "written_out", "together_text", "steps_text"};
// Nothing a program says can lead there.
const std::set<std::string> unreachable{
    "[stan] key: expected one for random numbers, got none",  // ours to have
    "[stan] lower: no result",
    "[stan] {}: a size differs between rounds of a loop",
    "an expression of no kind",
    "a step of no recurrence",
    "[data] {}: expected memory for the values of {} bytes of text, found none",  // of a full machine
    "{}: expected memory for {:.0f} numbers, {:.1f} GB, got none",                // of a full machine
    "[data] {}: {} bounds for {} elements",                                       // the checker comes before
    "[data] {}: values of type {} cannot be read",
    "{}: expected a result for {} rounds, got {}",
    "the function {} ended without a return",       // the checker wants one on every path
    "the function {} is declared but not defined",  // refused by the checker
    "{} is not supported yet",                      // stan_signature_test: every row is computed
    "the function {} is not supported yet",
    "complex numbers are not supported",
    "break or continue",
    "the function {} is not supported; use target()",  // every constant of the table is known
    "the distribution {} cannot be truncated here",    // the checker wants its distribution functions
    "expected a function {}{} for this truncation, got none",
    "a square matrix",                            // by the declaration it is one
    "at most {} slots of tuples",                 // of two million of them
    "a number that differs from round to round",  // why a loop was written out
    // The parser refuses these programs before the checker sees them.
    "A value alone is no statement.",
    "An argument may not be void.",
    "An integer must not be greater than 2147483647; write it as a real.",
    "An array needs an entry: the type of {} is not known.",
    "The local variable '{}' may not be constrained.",
    "The integer '{}' may not have an offset or multiplier.",
    "The {} '{}' may not be given a value.",
    "Only declarations may stand in the ",
};

bool is_message(const SourceText& one) {
  const std::string& text = one.text;
  if (text.size() < 12 || text.find(' ') == std::string::npos || notes.contains(one.caller)) return false;
  int letters = 0;
  for (const char c : text) {
    letters = islower(static_cast<unsigned char>(c)) != 0 ? letters + 1 : 0;
    if (letters == 3) return true;
  }
  return false;
}

class Provoked {
 public:
  std::set<std::string> said;

  void error_of(const std::function<void()>& run) {
    try {
      run();
    } catch (const Error& error) {
      said.insert(error.what());
    }
  }
  std::optional<Program> program(const std::string& text, const Include& include = {}) {
    Parsed parsed = parse("m.stan", text, include);
    const auto tell = [&](const Message& message) {
      said.insert(message.text);
      said.insert(to_text(parsed.program.sources, message));
    };
    for (const Message& message : parsed.messages) tell(message);
    if (parsed.failed()) return {};
    bool is_fine = true;
    for (const Message& message : check(parsed.program)) {
      tell(message);
      is_fine = is_fine && message.kind == Message::Kind::warning;
    }
    if (!is_fine) return {};
    return std::move(parsed.program);
  }
  void run(const std::string& text, const std::string& data = "{}") {
    const std::optional<Program> made = program(text);
    if (!made) return;
    error_of([&] {
      const Lowered lowered = lower(*made, data_from_json(data, "data"));
      said.insert(lowered.notes.begin(), lowered.notes.end());
      said.insert(lowered.lowering.begin(), lowered.lowering.end());
      // What is said of points and draws.
      const stats::ModelState& state = stats::state_of(lowered.model);
      for (const auto* terms : {&state.terms, &state.checks})
        for (const stats::ModelTerm& term : *terms) {
          std::string words;
          for (const stats::TermWitness& witness : term.witnesses) words += witness.name;
          if (term.rejects) said.insert(words);
        }
    });
  }
  void data(const std::string& text) {
    for (const std::string& json : {text, "{\"x\":" + text + "}"})
      error_of([&] { data_from_json(json, "d"); });
    for (const std::string& dump : {text, "x <- " + text}) error_of([&] { data_from_rdump(dump, "d"); });
    error_of([&] { data_from_csv(text, "d"); });
  }
};

bool is_program(const std::string& text) {
  for (const char* block : {"functions", "data", "parameters", "model", "quantities"})
    if (text.find(block) != std::string::npos) return text.find('{') != std::string::npos;
  return false;
}

// What the programs and data of other tests provoke.
void add_other_tests(Provoked& provoked) {
  for (const char* name :
       {"stan_message_test", "stan_check_message_test", "stan_check_test", "stan_parse_test"})
    for (const SourceText& one : SourceTexts(content_of(root + "/tests/" + name + ".cpp")).all)
      if (is_program(one.text) || one.text.find(';') != std::string::npos) provoked.program(one.text);
  const std::vector<SourceText> runs = SourceTexts(content_of(root + "/tests/stan_run_message_test.cpp")).all;
  for (size_t i = 0; i < runs.size(); ++i) {
    if (!is_program(runs[i].text)) continue;
    provoked.run(runs[i].text);
    for (size_t k = i + 1; k < std::min(runs.size(), i + 4); ++k)
      if (runs[k].text.starts_with("{\"")) provoked.run(runs[i].text, runs[k].text);
  }
  for (const SourceText& one : SourceTexts(content_of(root + "/tests/stan_data_test.cpp")).all)
    provoked.data(one.text);
}

// Those of tests/stan/provoking.txt: cases with an empty line between them. A line that begins with > is the
// data of the program before it; a case that begins with a word and a colon is a text of data.
void add_own(Provoked& provoked) {
  std::istringstream file(content_of(root + "/tests/stan/provoking.txt"));
  std::string line, text;
  bool has_run = false;
  const auto finish = [&] {
    if (text.starts_with("text: "))
      provoked.data(text.substr(6));
    else if (!text.empty() && !has_run)
      provoked.run(text);
    text.clear();
    has_run = false;
  };
  while (std::getline(file, line)) {
    if (line.empty()) {
      finish();
    } else if (line[0] == '>') {
      provoked.run(text, line.substr(1));
      has_run = true;
    } else if (line[0] != '#') {
      text += (text.empty() ? "" : "\n") + line;
    }
  }
  finish();
}

// What no text alone can provoke: files, and programs too long to be written down.
void add_made(Provoked& provoked) {
  const auto endless = [](const std::string& name) -> std::optional<Source> {
    return Source{name, "#include " + name + "x\n"};
  };
  provoked.program("#include a\n", endless);
  std::string many;
  for (int i = 0; i < 3000; ++i) many += fmt::format("#include f{}\n", i);
  provoked.program(many, [](const std::string& name) -> std::optional<Source> { return Source{name, "\n"}; });
  provoked.program("model { target += " + std::string(1'100'000, '-') + "1; }");
  std::string tuples;
  for (int i = 0; i < 200; ++i) tuples += "tuple(";
  provoked.program("data { " + tuples);
  provoked.program("data { " + std::string(size_t{9} << 20, ' ') + "}");
  provoked.data(std::string(200, '('));
  provoked.program("#include m.stan\n", [](const std::string&) -> std::optional<Source> {
    return Source{"m.stan", "#include m.stan\n"};
  });
  provoked.program("#include\n");
  provoked.program("model { real x = \xC3\xA9; }");
  const std::string deep(100'000, '[');
  provoked.data(deep);
  provoked.data("{\"x\": {\"1\": " + deep + "}}");
  std::string objects;
  for (int i = 0; i < 2000; ++i) objects += "{\"1\": ";
  provoked.data(objects);
  provoked.data("{\"x\": \"a\x01\"}");
  provoked.data("{\"x\": \"\xFF\"}");
  std::string wide = "real";
  for (int i = 0; i < 4; ++i)
    wide = fmt::format("tuple({0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0})", wide);
  provoked.program("data { " + wide + " x; }");
  provoked.program("functions { void f(" + wide + " x) { } }");
  std::string tuple = "1";
  for (int i = 0; i < 4; ++i)
    tuple = fmt::format("({0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0})", tuple);
  provoked.program("model { print(" + tuple + "); }");
  std::string ones = "1", commas;
  for (int i = 0; i < 200; ++i) ones += ", 1", commas += ",";
  provoked.program("data { array[" + ones + "] real x; }");
  provoked.program("functions { void f(array[" + commas + "] real x) { } }");
  std::string names = "a", sizes = "1";
  for (int i = 0; i < 3000; ++i) names += fmt::format(", a{}", i), sizes += " + 1";
  provoked.program("data { vector[" + sizes + "] " + names + "; }");
  provoked.program("data { " + wide + " " + names + "; }");
  const fs::path folder = fs::temp_directory_path() / "adit_provoked";
  fs::create_directories(folder / "folder.stan");
  const auto path_of = [&](const char* name) { return (folder / name).string(); };
  provoked.error_of([&] { StanProgram{path_of("folder.stan")}; });
  provoked.error_of([&] { StanProgram{path_of("none.stan")}; });
  std::ofstream(path_of("large.stan")) << "\n";
  fs::resize_file(path_of("large.stan"), uintmax_t{100} << 20);  // of holes
  provoked.error_of([&] { StanProgram{path_of("large.stan")}; });
  const auto including = [&](const std::string& name) {
    std::ofstream(path_of("including.stan")) << "#include " << name << "\n";
    provoked.error_of([&] { StanProgram{path_of("including.stan")}; });
  };
  for (const char* name : {"/dev/zero", "folder.stan", "large.stan"}) including(name);
  provoked.error_of([&] { StanProgram{path_of("none.stan"), {.include_paths = {folder.string()}}}; });
  std::ofstream(path_of("including.stan")) << "#include none.stan\n";
  provoked.error_of([&] { StanProgram{path_of("including.stan"), {.include_paths = {folder.string()}}}; });
  const StanProgram half = StanProgram::from_text(
      "half", "functions { real f(real x); } parameters { real p; }", {.allow_undefined = true});
  for (const StanMessage& warning : half.warnings()) provoked.said.insert(warning.text);
  provoked.error_of([&] { half.bind_json("{}"); });
  std::ofstream(path_of("data.txt")) << "1 2 3\n";
  provoked.error_of([&] { read_data(path_of("data.txt")); });
  provoked.error_of([&] { read_data(path_of("none.json")); });
  fs::remove_all(folder);
}

TEST(StanProvoked, EveryMessage) {
  Provoked provoked;
  add_other_tests(provoked);
  add_own(provoked);
  add_made(provoked);
  size_t count = 0;
  for (const auto& file : fs::recursive_directory_iterator(root + "/src/stan")) {
    const std::string name = file.path().filename().string();
    if (file.path().extension() != ".cpp" || name.starts_with("signature") || name.starts_with("format") ||
        name == "page.cpp" || name == "loop_notes.cpp" || name == "jumps.cpp")
      continue;
    for (const SourceText& one : SourceTexts(content_of(file.path().string())).all) {
      if (!is_message(one) || unreachable.contains(one.text)) continue;
      ++count;
      const std::vector<std::string> parts = fixed_parts(one.text);
      const bool is_provoked = std::any_of(provoked.said.begin(), provoked.said.end(),
                                           [&](const std::string& said) { return is_said(said, parts); });
      EXPECT_TRUE(is_provoked) << name << ": no program provokes \"" << one.text << "\"";
    }
  }
  EXPECT_GT(count, 300u);  // the sources were read
}

// A message that nobody provokes is found.
TEST(StanProvoked, AMessageWithoutAProgram) {
  EXPECT_TRUE(is_said("Expected 3, but found 4.", fixed_parts("Expected {}, but found {}.")));
  EXPECT_FALSE(is_said("Expected 3, but found 4.", fixed_parts("Expected {}, but got {}.")));
  const SourceTexts texts(
      "fail(place, fmt::format(\"a {} of \"\n \"two {{\", x)); // \"none\"\n f('\"', R\"(b c)\");");
  ASSERT_EQ(texts.all.size(), 2u);
  EXPECT_EQ(texts.all[0].text, "a {} of two {{");
  EXPECT_EQ(texts.all[0].caller, "fail");
  EXPECT_EQ(texts.all[1].text, "b c");
  EXPECT_EQ(fixed_parts(texts.all[0].text), (std::vector<std::string>{"a ", " of two {"}));
}

}  // namespace
}  // namespace adit::stan
