// Stan programs.
//
//   StanProgram program("model.stan");             // throws with messages as stanc writes them
//   Model model = program.model("data.json");      // statements on data are run, the rest becomes a graph
//   Draws draws = sample(model);                    // parameters, transformed parameters, generated
//   quantities
//
// docs/stan.md lists the functions that are there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <adit/model.hpp>

namespace adit::stan {
struct Program;
}

#pragma GCC visibility push(default)
namespace adit {

// What is wrong with a program, or worth a second look.
struct StanMessage {
  bool is_error = false;
  std::string file, sentence;
  int line = 0, column = 0, end_line = 0, end_column = 0;  // lines count from 1, columns from 0
  std::string text;  // all of it, with the lines around the place, for people
};

struct StanOptions {
  // Folders that `#include` looks into, one after the other, behind that of the program's file.
  std::vector<std::string> include_paths{};
  // A function that is declared and not defined is a warning, not an error: such a program can be checked and
  // formatted. bind() tells which functions are missing.
  bool allow_undefined = false;
};

class StanProgram {
 public:
  // Reads and checks a file. Throws Error(bad_argument) whose text is that of all errors.
  explicit StanProgram(const std::string& path, const StanOptions& options = {});
  static StanProgram from_text(const std::string& name, const std::string& text,
                               const StanOptions& options = {});

  const std::string& name() const;  // of the file, without folder and ending
  const std::vector<StanMessage>& warnings() const;
  // The files that it was read from, besides its own.
  const std::vector<std::string>& included_files() const { return included_files_; }
  std::string formatted() const;

  // With the data of a file (JSON as CmdStan reads it, an R dump, or a table as CSV; "": none). `seed` is
  // that of random numbers in transformed data. Throws Error(bad_argument) that names the variable, or the
  // place in the program.
  struct Bound {
    Model model;
    std::vector<std::string> prints;  // what print() said while data were bound
    std::vector<std::string> notes;   // loops that were written out round by round, and why
    // What became of data and loops, a line each: "line 12: 800 rounds together". Tells `explain` too.
    std::vector<std::string> lowering;
  };
  Bound bind(const std::string& data_path, uint64_t seed = 1) const;
  Bound bind_json(const std::string& json, uint64_t seed = 1) const;
  Model model(const std::string& data_path, uint64_t seed = 1) const { return bind(data_path, seed).model; }

 private:
  StanProgram() = default;
  std::shared_ptr<const stan::Program> program_;
  std::vector<StanMessage> warnings_;
  std::vector<std::string> included_files_;
};

// All messages of a program's text: syntax, types, and warnings. Never throws for what the text says; throws
// Error(io) where the file cannot be read.
std::vector<StanMessage> check_stan(const std::string& path, const StanOptions& options = {});

}  // namespace adit
#pragma GCC visibility pop
