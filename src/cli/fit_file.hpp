// The file of a command of the log density: CSV with comments in front, as CmdStan writes it.
#pragma once

#include <string>
#include <vector>

#include <adit/draws.hpp>

#include "cli/fit_model.hpp"
#include "cli/fit_words.hpp"
#include "cli/output_files.hpp"

namespace adit::cli {

class FitFile {
 public:
  // At --output, or at adit-<model>-<command>.csv. Throws where nothing can be written there. A pipe, a
  // device, and a name of an open stream (/dev/stdout, /dev/fd/3) are written to as they are.
  FitFile(const char* command, const FitWords& words, const FitModel& model);
  const std::string& path() const { return path_; }

  // "# key = value", indented as the words of CmdStan nest.
  void say(const std::string& line);
  void column(const std::string& name, const std::vector<double>& values);
  // Its elements in the order of CmdStan, the first axis fastest.
  void columns(const std::vector<DrawsVariable>& variables);
  // The comments that all of these files have: model, then `method`, then data, start and seed.
  void head(const FitWords& words, const std::string& model, const std::vector<std::string>& method,
            const std::string& device);
  void write();

 private:
  std::string text() const;
  void write_to_stream(const std::string& text) const;

  std::string where_, path_, comments_;
  OutputFiles files_;
  bool is_stream_ = false;
  struct Column {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Column> columns_;
};

}  // namespace adit::cli
