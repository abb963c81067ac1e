// The model that a command of the log density is about, and where a search starts.
#pragma once

#include <optional>
#include <string>

#include <adit/optimize.hpp>

#include "cli/fit_words.hpp"
#include "cli/inputs.hpp"
#include "cli/stan_source.hpp"

namespace adit::cli {

class FitModel {
 public:
  // Reads and checks words, program and files, and opens no device. Errors begin with "[command]".
  FitModel(const char* command, const FitWords& words);
  const std::string& name() const { return name_; }
  // Opens the device.
  Model make() const;
  // The files that the words name, but for draws, and those that the program includes.
  Inputs inputs() const;

 private:
  const FitWords& words_;
  std::string name_;
  std::optional<StanSource> program_;
};

// Of --init: a radius, or a file, which is read here.
struct FitStart {
  double radius = 2;
  std::optional<std::string> text;  // of the file
  std::string where, path;
  FitStart(const char* command, const std::string& init);
  NamedValues values(const Model& model) const;
};

}  // namespace adit::cli
