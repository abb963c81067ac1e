#include "cli/stan_source.hpp"

#include <adit/text.hpp>

#include "cli/output.hpp"
#include "cli/saved_draws.hpp"

namespace adit::cli {

bool is_stan_path(const std::string& word) { return word.size() > 5 && word.ends_with(".stan"); }

StanSource::StanSource(const std::string& path, std::string data, bool quiet,
                       std::vector<std::string> include_paths)
    : program_(path, {.include_paths = std::move(include_paths)}), data_(std::move(data)), quiet_(quiet) {
  if (!data_.empty() && data_ != "-") require_file("sample", "--data", data_);
  if (quiet_) return;
  for (const StanMessage& warning : program_.warnings()) print_err("{}\n", printable_lines(warning.text));
}

Model StanSource::make(uint64_t seed) const {
  StanProgram::Bound bound = program_.bind(data_, seed);
  if (!quiet_)
    for (const std::string& line : bound.prints) print_err("{}\n", printable_lines(line));
  if (!quiet_)
    for (const std::string& note : bound.notes) print_err("Note: {}\n", printable_lines(note));
  return std::move(bound.model);
}

}  // namespace adit::cli
