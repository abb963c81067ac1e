// adit generate: what a program computes of draws that were made earlier.
#include <filesystem>
#include <fmt/format.h>

#include <adit/diagnostics.hpp>
#include <adit/text.hpp>

#include "cli/command.hpp"
#include "cli/fit_model.hpp"
#include "cli/output.hpp"
#include "cli/report.hpp"
#include "cli/run_folder.hpp"
#include "cli/saved_draws.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"
#include "cli/values_file.hpp"

namespace adit::cli {
namespace {

constexpr const char *fitted_option = "[generate] --draws", *fitted_word = "--draws";
constexpr size_t most_generated_rows = 60;

// What `optimize` and `laplace` write has rows of values, too; nothing where a file is of another kind.
std::optional<std::string> rows_of_values(const std::vector<std::string>& files) {
  if (files.size() != 1 || !std::filesystem::is_regular_file(files[0]) || !files[0].ends_with(".csv"))
    return {};
  std::string text = read_text(files[0]);
  const std::string method = method_in(text);
  if (method != "laplace" && method != "optimize") return {};
  return text;
}

Draws draws_of_values(const FitWords& words, const std::string& text, const Model& model) {
  const ValueRows found = parse_values(fitted_option, words.fitted[0], text, model, ValueNames::all);
  Draws draws;
  draws.chains = 1;
  draws.draws = found.rows;
  for (const Model::Variable& variable : model.variables())
    draws.variables.push_back({variable.name, variable.shape,
                               std::vector<std::string>(static_cast<size_t>(variable.shape.size())),
                               found.values.at(variable.name)});
  return draws;
}

void print_generated(const FitWords& words, const Draws& draws, const RunFolder::Written& written) {
  Summary shown = adit::summary(draws);
  if (words.json) {
    print_json(Json{{"model", draws.model},
                    {"device", draws.device},
                    {"seed", draws.seed},
                    {"chains", draws.chains},
                    {"draws", draws.draws},
                    {"files", written.draws},
                    {"report", written.report.empty() ? Json() : Json(written.report)},
                    {"parameters", to_json(shown.parameters)}});
    return;
  }
  const size_t all = shown.parameters.size();
  if (all > most_generated_rows && !written.draws.empty()) {
    shown.parameters.resize(most_generated_rows);
    write_out(format_summary(draws, shown));
    print_out("\n{} more are in the files\n\n", all - most_generated_rows);
  } else {
    write_out(format_summary(draws, shown));
    print_out("\n");
  }
  std::vector<std::vector<std::string>> rows;
  if (!written.draws.empty())
    rows.push_back({"Draws", written.draws.size() == 1
                                 ? written.draws.front()
                                 : fmt::format("{} ... {}", written.draws.front(), written.draws.back())});
  if (!written.report.empty()) rows.push_back({"Report", written.report});
  rows.push_back({"Device", draws.device + ", f64"});
  write_out(table(rows));
}

}  // namespace

int generate(FitWords words) {
  if (words.fitted.empty())
    throw UsageError(fmt::format("{}: expected files of draws, got none", fitted_option));
  const FitModel source("generate", words);
  const std::vector<std::string> files = saved_files("generate", fitted_word, words.fitted);
  const std::optional<std::string> rows = rows_of_values(files);
  Draws fitted = rows ? Draws{} : read_saved("generate", fitted_word, words.fitted);
  const std::string output =
      words.output.empty() ? fmt::format("adit-{}-generate", source.name()) : words.output;
  RunFolder folder({.command = "generate",
                    .folder = output,
                    .model = source.name(),
                    .format = words.format,
                    .report = 0,
                    .cmdstan_file = words.cmdstan_file});
  Inputs inputs = source.inputs();
  inputs.add(fitted_word, files);
  if (folder.keeps_draws())
    folder.prepare(RunFolder::Earlier::refused, rows ? 1 : fitted.chains, std::move(inputs));
  const Model model = source.make();
  if (rows) fitted = draws_of_values(words, *rows, model);
  const Draws draws = generate_quantities(model, fitted, words.seed, words.device);
  const RunFolder::Written written = folder.write(draws);
  print_generated(words, draws, written);
  if (!written.fault.empty()) throw Error(ErrorKind::io, written.fault);
  return 0;
}

}  // namespace adit::cli
