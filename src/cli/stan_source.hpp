// Models of Stan programs, by the path of their file.
#pragma once

#include <string>
#include <vector>

#include <adit/stan.hpp>

namespace adit::cli {

bool is_stan_path(const std::string& word);

// A program and the file of its data. The program is read and checked here, before a device is opened; its
// warnings go to standard error unless `quiet`.
class StanSource {
 public:
  StanSource(const std::string& path, std::string data, bool quiet, std::vector<std::string> include_paths);
  const std::string& name() const { return program_.name(); }
  const std::vector<std::string>& included_files() const { return program_.included_files(); }
  Model make(uint64_t seed) const;

 private:
  StanProgram program_;
  std::string data_;
  bool quiet_;
};

}  // namespace adit::cli
