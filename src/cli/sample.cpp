// adit sample: draws from a model, its summary, its files and its report.
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <optional>
#include <unistd.h>

#include <adit/checkpoint.hpp>
#include <adit/device.hpp>
#include <adit/diagnostics.hpp>
#include <adit/sample.hpp>
#include <adit/sample_memory.hpp>
#include <adit/tensor.hpp>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/loo.hpp"
#include "cli/metric_choice.hpp"
#include "cli/output.hpp"
#include "cli/paths.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/run_folder.hpp"
#include "cli/run_origin.hpp"
#include "cli/sample_words.hpp"
#include "cli/saved_draws.hpp"
#include "cli/shell_word.hpp"
#include "cli/stan_source.hpp"
#include "cli/starting.hpp"
#include "cli/table.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

namespace fs = std::filesystem;

constexpr int interrupted_status = 130;  // as shells tell of SIGINT
constexpr size_t most_rows = 60;         // of the table after a run; `adit summary` shows all

// What came out, and where it lies.
struct Run {
  Draws draws;
  Summary summary;
  std::vector<Accuracy> accuracy;
  std::vector<std::string> warnings, files;
  std::string report, fault;   // fault: why not everything could be saved
  fs::file_time_type began{};  // the first draw
};

int list_models(bool json) {
  std::vector<std::vector<std::string>> rows{{"model", "what it is"}};
  Json array = Json::array();
  for (const std::string& name : model_names()) {
    rows.push_back({name, model_doc(name)});
    array.push_back({{"name", name}, {"doc", model_doc(name)}});
  }
  if (json)
    print_json(array);
  else
    write_out(table(rows));
  return 0;
}

std::string resume_command(const SampleWords& words) {
  std::string line;
  for (const std::string& word : words.typed)
    if (!word.starts_with("--overwrite")) line += shell_word(word) + " ";
  return words.resume ? line.substr(0, line.size() - 1) : line + "--resume";
}

void save(Run& run, RunFolder& folder) {
  if (run.draws.draws == 0) return;
  Interrupt::files_begin();
  RunFolder::Written written = folder.write(run.draws);
  run.files = std::move(written.draws);
  run.report = std::move(written.report);
  run.fault = std::move(written.fault);
  run.summary = summary(run.draws);
  // Without a sampler there is nothing to warn of.
  if (!run.draws.stats.lp.empty()) run.warnings = warnings(run.draws, run.summary);
  run.accuracy = accuracy_of(run.draws);
}

void print_run_as_json(const Run& run) {
  const Draws& draws = run.draws;
  const Json seconds{{"open", draws.seconds.open},
                     {"compile", draws.seconds.compile},
                     {"warmup", draws.seconds.warmup},
                     {"sampling", draws.seconds.sampling},
                     {"total", draws.seconds.total}};
  const auto told = [&](double error) {
    return draws.precision == "f64" || std::isnan(error) ? Json() : Json(error);
  };
  const Json document{{"model", draws.model},
                      {"device", draws.device},
                      {"precision", draws.precision},
                      {"layout", draws.layout},
                      {"seed", draws.seed},
                      {"finished", draws.finished},
                      {"seconds", seconds},
                      {"chains", draws.chains},
                      {"draws", draws.draws},
                      {"leapfrogs", draws.leapfrogs},
                      {"divergences", draws.divergences()},
                      {"energy_error", told(draws.energy_error)},
                      {"gradient_error", told(draws.gradient_error)},
                      {"energy_error_before", told(draws.energy_error_before)},
                      {"gradient_error_before", told(draws.gradient_error_before)},
                      {"warnings", run.warnings},
                      {"files", run.files},
                      {"report", run.report.empty() ? Json() : Json(run.report)},
                      {"loo", run.accuracy.empty() ? Json() : to_json(run.accuracy)},
                      {"parameters", to_json(run.summary.parameters)}};
  print_json(document);
}

// A table that fits a screen or two, where the rest can be had from the files.
void print_table(const Run& run, const RunFolder& folder) {
  Summary shown = run.summary;
  const size_t all = shown.parameters.size();
  const bool cut = all > most_rows && !run.files.empty();
  if (cut) shown.parameters.resize(most_rows);
  write_out(format_summary(run.draws, shown));
  if (cut) print_out("\n{} more parameters: adit summary {}\n", all - most_rows, shell_word(folder.path()));
}

void print_text(const Run& run, const RunFolder& folder) {
  const Draws& draws = run.draws;
  if (draws.draws > 0) {
    print_table(run, folder);
    print_out("\n");
    if (!run.accuracy.empty()) print_out("{}\n", format_accuracy(run.accuracy));
    for (const std::string& warning : run.warnings) print_out("Warning: {}\n", warning);
    if (!run.warnings.empty()) print_out("\n");
  }
  std::vector<std::vector<std::string>> rows;
  if (run.files.size() == 1) rows.push_back({"Draws", run.files.front()});
  if (run.files.size() > 1)
    rows.push_back({"Draws", fmt::format("{} ... {}", run.files.front(), run.files.back())});
  if (!run.report.empty()) rows.push_back({"Report", run.report});
  rows.push_back({"Device", fmt::format("{}, {}, {}", draws.device, draws.precision, draws.layout)});
  rows.push_back(
      {"Seconds", fmt::format("{:.2f} (open {:.2f}, compile {:.2f}, warm-up {:.2f}, sampling {:.2f})",
                              draws.seconds.total, draws.seconds.open, draws.seconds.compile,
                              draws.seconds.warmup, draws.seconds.sampling)});
  write_out(table(rows));
}

void tell_how_to_go_on(const Run& run, const SampleWords& words, const RunFolder& folder) {
  const std::string where = run.draws.draws
                                ? fmt::format("after {} of {} draws a chain", run.draws.draws, words.draws)
                                : "before the first draw";
  print_err("\nStopped {}.{}\n", where,
            folder.keeps_draws() ? " To go on: " + resume_command(words) : " Nothing was saved.");
}

// A run that fails half-way leaves what it has done: what a checkpoint of its own says.
std::string rest_of_failure(const RunFolder& folder, fs::file_time_type begin, const SampleWords& words) {
  if (!folder.keeps_draws() || !folder.is_held()) return {};
  const std::string checkpoint = folder.checkpoint();
  std::error_code error;
  const auto written = fs::last_write_time(checkpoint, error);
  if (error || written < begin) return {};
  const std::optional<int64_t> kept = draws_in_checkpoint(checkpoint);
  if (!kept) return {};
  return fmt::format("\n{} To go on: {}",
                     *kept > 0 ? fmt::format("The {} draws a chain so far are kept.", *kept)
                               : "There are no draws yet, but the warm-up so far is kept.",
                     resume_command(words));
}

// Files that could not be written can be had from the checkpoint, where the run was long enough for one.
std::string rest_of_fault(const Run& run, const SampleWords& words, const RunFolder& folder) {
  std::error_code error;
  const auto written = fs::last_write_time(folder.checkpoint(), error);
  if (!folder.keeps_draws() || !folder.is_held() || error || written < run.began ||
      !draws_in_checkpoint(folder.checkpoint()))
    return {};
  return fmt::format("\nThe draws are kept. To write the files again: {}", resume_command(words));
}

// Before anything is drawn: a run that has more draws than are asked for would lose them.
void expect_no_fewer(const Progress& now, const SampleWords& words, const std::string& checkpoint) {
  if (now.iteration <= now.iterations) return;
  throw UsageError(fmt::format("[sample] --draws: expected at least {}, the draws a chain in {}, got {}",
                               (now.iteration - now.warmup) / words.thin, checkpoint, words.draws));
}

bool is_fixed(const SampleWords& words, const Model& model) { return words.fixed_param || model.size() == 0; }

// Draws without a sampler are made in one go: a checkpoint is another run's.
void expect_own_checkpoint(const SampleWords& words, const Model& model, const RunFolder& folder) {
  if (words.resume && is_fixed(words, model))
    throw UsageError(
        fmt::format("[sample] --resume: expected a program with parameters, got one without, "
                    "whose runs do not stop; the run in {} is another, and stays",
                    printable(folder.path())));
}

Draws draw(const Model& model, SampleOptions options, const SampleWords& words, const RunFolder& folder,
           fs::file_time_type begin) {
  ProgressLine line(ProgressLine::mode_for(words.quiet, words.json));
  options.on_progress = [&](const Progress& now) {
    if (words.resume) expect_no_fewer(now, words, options.checkpoint);
    line.update(now);
  };
  options.should_stop = [] { return Interrupt::came(); };
  try {
    return is_fixed(words, model) ? adit::sample_fixed(model, options) : adit::sample(model, options);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.kind(), error.what() + rest_of_failure(folder, begin, words));
  } catch (const std::bad_alloc& error) {
    throw Error(ErrorKind::out_of_memory,
                "[sample] " + words_of(error) + rest_of_failure(folder, begin, words));
  }
}

// Draws stay in memory until the end: what can never fit is refused rather than killed after hours.
void expect_room(const SampleWords& words, const SampleOptions& options, const Model& model) {
  constexpr double gigabyte = 1e9;
  const SampleMemory needed = memory_of(model, options);
  const double most = words.format == "none" ? needed.sampling : std::max(needed.sampling, needed.saving);
  const double left = memory_left();
  if (most <= left) return;
  std::string extras;
  const auto add = [&](const char* word, double bytes) {
    if (bytes > 0) extras += fmt::format(", {:.1f} GB and their copies for {}", bytes / gigabyte, word);
  };
  add("--log-likelihood", needed.log_likelihood);
  add("--predictive", needed.posterior_predictive);
  throw UsageError(fmt::format(
      "[sample] --draws: expected draws that fit into {:.1f} GB of memory, got {} a chain, {:.1f} GB with {} "
      "chains{}; --thin N spreads fewer over N times as many iterations",
      left / gigabyte, words.draws, most / gigabyte, words.chains, extras));
}

bool takes_any_metric(const SampleWords& words) { return words.metric == "auto" && !words.stan_compat; }

// The data of a model lie on the default device, so that is opened first; its time is counted here. Ctrl-C is
// held from the first draw until the files are there.
Run sampled_and_saved(const SampleWords& words, SampleOptions options, const Start& start,
                      const std::optional<StanSource>& program, RunFolder& folder) {
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  const std::shared_ptr<Device> device = Device::open(words.device);
  set_default_device(device);
  const double opened = seconds();
  const Model model = program ? program->make(words.seed) : make_model(words.model);
  expect_own_checkpoint(words, model, folder);
  if (takes_any_metric(words)) options.metric = automatic_metric(model, options.warmup, *device);
  expect_room(words, options, model);
  start.apply(options, model);
  const double ready = seconds();
  const Interrupt interrupt(words.quiet || words.json);
  Run run;
  run.began = fs::file_time_type::clock::now();
  run.draws = draw(model, options, words, folder, run.began);
  run.draws.seconds.open += opened;
  run.draws.seconds.total += ready;
  save(run, folder);
  return run;
}

RunFolder::Earlier earlier_of(const SampleWords& words) {
  if (words.resume && words.overwrite)
    throw UsageError("[sample] --overwrite: expected it without --resume, got both");
  return words.resume      ? RunFolder::Earlier::resumed
         : words.overwrite ? RunFolder::Earlier::overwritten
                           : RunFolder::Earlier::refused;
}

Inputs inputs_of(const SampleWords& words, const std::optional<StanSource>& program) {
  Inputs inputs;
  if (program) inputs.add("the program", words.model);
  if (program) inputs.add("#include", program->included_files());
  inputs.add("--data", words.data);
  inputs.add("--init", words.init);
  inputs.add("--warm-start", saved_files("sample", "--warm-start", words.warm_start));
  return inputs;
}

}  // namespace

int sample(SampleWords words) {
  if (const auto models = model_names(); words.model.empty() && models.size() == 1) words.model = models[0];
  if (words.list) return list_models(words.json);
  SampleOptions options = checked(words);
  std::optional<StanSource> program;
  if (is_stan_path(words.model)) {
    program.emplace(words.model, words.data, words.quiet || words.json, words.include_paths);
    options.origin = origin_text(words.model, words.data, words.include_paths, words.seed);
  }
  const Start start(words.init, words.warm_start, takes_any_metric(words));
  RunFolder folder({.command = "sample",
                    .folder = words.output,
                    .model = program ? program->name() : words.model,
                    .format = words.format,
                    .report = words.report,
                    .cmdstan_file = words.cmdstan_file});
  if (folder.keeps_draws())
    options.checkpoint = folder.checkpoint();
  else if (words.resume)
    throw UsageError("[sample] --resume: expected a --format that keeps draws, got none");
  if (words.json) expect_utf8("[sample] --output", folder.path());
  const RunFolder::Earlier earlier = earlier_of(words);
  if (folder.keeps_draws() || folder.wants_report())
    folder.prepare(earlier, words.chains, inputs_of(words, program));

  const Run run = sampled_and_saved(words, options, start, program, folder);
  if (words.json)
    print_run_as_json(run);
  else
    print_text(run, folder);
  if (!run.fault.empty()) throw Error(ErrorKind::io, run.fault + rest_of_fault(run, words, folder));
  if (run.draws.finished) return 0;
  tell_how_to_go_on(run, words, folder);
  return interrupted_status;
}

}  // namespace adit::cli
