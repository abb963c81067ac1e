// The command line: parses the words, calls one subcommand, and turns every error into one line on standard
// error.
//
// Exit status: 0 done, 1 an error, 2 the words make no sense, 130 sampling was stopped by Ctrl-C.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <set>
#include <sys/resource.h>
#include <unistd.h>

#include <adit/command.hpp>
#include <adit/doctor.hpp>
#include <adit/error.hpp>
#include <adit/text.hpp>

#include "cli/catalogue.hpp"
#include "cli/cmdstan_words.hpp"
#include "cli/command.hpp"
#include "cli/fit_words.hpp"
#include "cli/include_paths.hpp"
#include "cli/output.hpp"
#include "cli/sample_words.hpp"
#include "cli/usage.hpp"

namespace {

constexpr int failure = 1, usage_error = 2;

struct Choices {
  bool json = false, limits = false, save = true;
  std::string device, probe, program;
  adit::StanOptions stan;
  size_t skip = 0;
  adit::cli::SampleWords sample;
  adit::cli::FitWords fit;
  std::vector<std::string> files;
  std::string report = "report.html";
  int64_t significant = 2;
};

std::vector<std::string> subcommands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands({}))
    if (!sub->get_group().empty()) names.push_back(sub->get_name());
  return names;
}

const CLI::Option* option_of(const CLI::App& app, const std::string& name) {
  for (const CLI::Option* option : app.get_options())
    for (const std::string& one : option->get_lnames())
      if ("--" + one == name) return option;
  return nullptr;
}

// Of one that begins with "--". CLI11 takes the next word for the value after "=" where there is none.
std::string wrong_option(const CLI::App& app, const std::string& word) {
  const size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  if (option_of(app, name))
    return equals + 1 == word.size()
               ? fmt::format("[{}] {}: expected a value after =, got none", app.get_name(), name)
               : "";
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  return fmt::format("unknown option {}{}", adit::printable(name), adit::cli::or_suggestion(name, known));
}

// Of an option that takes one value: that it was said before. Which of two values is meant cannot be told.
std::string said_again(const CLI::App& app, const std::string& word, std::set<const CLI::Option*>& said) {
  const CLI::Option* option = option_of(app, word.substr(0, word.find('=')));
  if (!option || option->get_items_expected_max() != 1 || said.insert(option).second) return {};
  return fmt::format("[{}] --{}: expected it once, got it again", app.get_name(),
                     option->get_lnames().front());
}

// What is wrong with the words, found before CLI11 does: its own messages suggest nothing. Empty: nothing
// seen.
std::string find_typo(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::set<const CLI::Option*> said;
  for (const std::string& word : words) {
    if (word == "--") return {};  // names of files follow
    if (word.starts_with("--")) {
      if (const std::string wrong = wrong_option(*app, word); !wrong.empty()) return wrong;
      if (const std::string again = said_again(*app, word, said); !again.empty()) return again;
    } else if (!word.starts_with("-") && !app->get_subcommands({}).empty()) {
      const auto all = app->get_subcommands({});
      const auto next =
          std::find_if(all.begin(), all.end(), [&](auto* sub) { return sub->get_name() == word; });
      if (next == all.end())
        return fmt::format("unknown command {}{}", adit::printable(word),
                           adit::cli::or_suggestion(word, subcommands_of(*app)));
      app = *next;
    }
  }
  return {};
}

int run_probe(const std::string& name, const std::string& device_id, size_t skip) {
  ::setenv("ADIT_LOG", "silent", 0);  // the parent has said what there is to say of the cache
  if (name == "first-result-cold") ::setenv("ADIT_CACHE", "", 1);  // before anything reads it
  if (name.starts_with("first-result")) return adit::doctor::measure_first_result(device_id);
  return adit::doctor::run_in_child(name, device_id, skip);
}

CLI::App* add_command(CLI::App& parent, Choices& choices, const std::string& name,
                      const std::string& description) {
  CLI::App* command = parent.add_subcommand(name, description);
  command->add_flag("--json", choices.json, "Print one JSON document instead of text");
  return command;
}

void add_device_option(CLI::App& command, Choices& choices) {
  const std::string where = fmt::format("[{}] --device", command.get_name());
  command.add_option_function<std::string>(
      "--device",
      [&choices, where](const std::string& typed) { choices.device = adit::cli::device_id(where, typed); },
      "Device id, as `adit devices` lists it; default: the chosen one");
}

// A line under the help of a command, with the name of this program.
std::string example(const std::string& words) {
  return fmt::format("Example:\n  {} {}", adit::cli::program_name(), words);
}

CLI::App* add_draws_command(CLI::App& parent, Choices& choices, const std::string& name,
                            const std::string& description) {
  CLI::App* command = add_command(parent, choices, name, description);
  command
      ->add_option(
          "files", choices.files,
          "CSV files of CmdStan (one a chain), a netCDF file, a folder that `adit sample` wrote, or -: "
          "standard input")
      ->required();
  return command;
}

// As stanc has them.
void declare_stan_options(CLI::App& command, adit::StanOptions& options) {
  adit::cli::declare_include_paths(command, options.include_paths);
  command.add_flag("--allow-undefined", options.allow_undefined,
                   "Functions that are declared and not defined are no errors; what is missing is told");
}

// Sampling, and what is done with draws.
void declare_sampling(CLI::App& app, Choices& choices, std::function<int()>& action) {
  using namespace adit::cli;
  CLI::App* sample_ = app.add_subcommand("sample", "Sample a model with NUTS");
  declare_sample(*sample_, choices.sample);
  sample_->callback([&] { action = [&] { return sample(choices.sample); }; });
  declare_fitting(app, choices.fit, action);

  CLI::App* check_ =
      add_command(app, choices, "check", "What is wrong with a Stan program, without running it");
  check_->add_option("program", choices.program, "A file, model.stan")->required();
  declare_stan_options(*check_, choices.stan);
  check_->footer(example("check model.stan"));
  check_->callback([&] { action = [&] { return check(choices.json, choices.program, choices.stan); }; });

  CLI::App* format_ = app.add_subcommand("format", "A Stan program in one style, on standard output");
  format_->add_option("program", choices.program, "A file, model.stan")->required();
  declare_stan_options(*format_, choices.stan);
  format_->footer(example("format model.stan > tidy.stan"));
  format_->callback([&] { action = [&] { return format(choices.program, choices.stan); }; });

  CLI::App* summary_ =
      add_draws_command(app, choices, "summary", "Means, errors, quantiles, ESS and R-hat of saved draws");
  summary_->add_option_function<std::string>(
      "--sig-figs",
      [&](const std::string& typed) { choices.significant = whole_number("[summary] --sig-figs", typed); },
      "Significant figures, 1 to 17 (default 2); means and quantiles have more where it takes more to tell "
      "them apart");
  summary_->footer(example("summary output_1.csv output_2.csv --sig-figs 3"));
  summary_->callback(
      [&] { action = [&] { return summary(choices.json, choices.files, choices.significant); }; });

  CLI::App* diagnose_ =
      add_draws_command(app, choices, "diagnose", "What is wrong with saved draws, and what to do");
  diagnose_->footer(example("diagnose adit-eight_schools_centered"));
  diagnose_->callback([&] { action = [&] { return diagnose(choices.json, choices.files); }; });

  CLI::App* loo_ = add_draws_command(
      app, choices, "loo", "How well a model tells what it has not seen: PSIS-LOO and WAIC of saved draws");
  loo_->footer(example("loo adit-radon    (sampled with --log-likelihood)"));
  loo_->callback([&] { action = [&] { return loo(choices.json, choices.files); }; });

  CLI::App* report_ =
      add_draws_command(app, choices, "report", "One HTML file with the plots of saved draws");
  report_->add_option_function<std::string>(
      "--output",
      [&](const std::string& typed) {
        choices.report = some_word("[report] --output", typed, "the name of a file");
      },
      "The file to write (default report.html)");
  report_->footer(example("report adit-radon --output radon.html"));
  report_->callback(
      [&] { action = [&] { return html_report(choices.json, choices.files, choices.report); }; });
}

// Declares the commands; the callback of the one that was called leaves its work in `action`.
void declare(CLI::App& app, Choices& choices, std::function<int()>& action) {
  using namespace adit::cli;
  app.require_subcommand(1);
  app.set_version_flag(
      "--version",
      fmt::format("{}adit {}", program_name() == "adit" ? "" : program_name() + ", made with ", ADIT_VERSION),
      "Print the version and exit");
  declare_sampling(app, choices, action);

  CLI::App* devices_ =
      add_command(app, choices, "devices", "List the devices, and which one is chosen and why");
  devices_->add_flag("--limits", choices.limits, "Show the limits of each device too");
  devices_->callback([&] { action = [&] { return devices(choices.json, choices.limits); }; });

  CLI::App* doctor_ =
      add_command(app, choices, "doctor", "Measure what a device really does and save its profile");
  add_device_option(*doctor_, choices);
  doctor_->add_flag("--save,!--no-save", choices.save, "Keep the result for later runs (default)");
  doctor_->callback([&] { action = [&] { return doctor(choices.json, choices.device, choices.save); }; });

  CLI::App* bench = app.add_subcommand("bench", "Measure speed");
  bench->require_subcommand(1);
  CLI::App* bench_device_ =
      add_command(*bench, choices, "device", "Latency, bandwidth and compile times of a device");
  add_device_option(*bench_device_, choices);
  bench_device_->callback([&] { action = [&] { return bench_device(choices.json, choices.device); }; });

  CLI::App* cache = add_command(app, choices, "cache", "Show or clear what is kept on disk");
  cache->require_subcommand(0, 1);
  CLI::App* show = add_command(*cache, choices, "show", "Where the cache is and how large (default)");
  CLI::App* clear = add_command(*cache, choices, "clear", "Remove every entry");
  (void)show;
  cache->callback([&, clear] {
    action = [&, clear] { return clear->parsed() ? cache_clear(choices.json) : cache_show(choices.json); };
  });

  CLI::App* ops_ = add_command(app, choices, "ops", "List the tensor operations");
  ops_->callback([&] { action = [&] { return ops(choices.json); }; });

  CLI::App* version_ = add_command(app, choices, "version", "What this build is");
  version_->callback([&] { action = [&] { return version(choices.json); }; });

  // For the doctor's and the stopwatch's children only.
  CLI::App* probe = app.add_subcommand("probe", "One probe, in a process of its own")->group("");
  probe->add_option("name", choices.probe)->required();
  probe->add_option_function<std::string>(
      "--skip", [&](const std::string& typed) { choices.skip = natural_number("[probe] --skip", typed); });
  probe->add_option("--device", choices.device);
  probe->callback([&] { action = [&] { return run_probe(choices.probe, choices.device, choices.skip); }; });
}

int report(const std::string& message, int status) {
  adit::cli::print_err("{}: {}\n", adit::printable(adit::cli::program_name()),
                       adit::printable_lines(message));
  return status;
}

int run(int argc, char** argv) {
  CLI::App app("Adit: kernels, tensors and posteriors on any GPU with a Vulkan driver, and on the CPU.",
               adit::cli::program_name());
  Choices choices;
  choices.sample.typed.assign(argv, argv + argc);
  std::function<int()> action;
  declare(app, choices, action);
  if (argc < 2) {
    adit::cli::write_err(app.help());
    return usage_error;
  }
  try {
    std::vector<std::string> words(argv + 1, argv + argc);
    choices.sample.cmdstan_file = choices.fit.cmdstan_file = adit::cli::cmdstan_file(words);
    if (const auto translated = adit::cli::from_cmdstan(words)) words = *translated;
    if (const std::string typo = find_typo(app, words); !typo.empty()) return report(typo, usage_error);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    adit::cli::write_out(app.help());
    return 0;
  } catch (const CLI::CallForVersion& asked) {
    adit::cli::print_out("{}\n", asked.what());
    return 0;
  } catch (const CLI::ParseError& error) {
    return report(error.what(), usage_error);
  }
  return action();
}

// The last part of the path that the program was called by.
std::string called_as(int argc, char** argv) {
  const std::string path = argc > 0 && argv[0] ? argv[0] : "";
  return path.substr(path.rfind('/') + 1);
}

// Every error as one line.
int guarded_run(int argc, char** argv, std::vector<adit::CommandModel> models) {
  try {
    adit::cli::set_catalogue(called_as(argc, argv), std::move(models));
    return run(argc, argv);
  } catch (const adit::cli::UsageError& error) {
    return report(error.what(), usage_error);
  } catch (const std::exception& error) {
    return report(adit::cli::words_of(error), failure);
  } catch (...) {
    return report("an error without words", failure);
  }
}

// BLAS waits at its end for its threads, and one that finds no memory under a limit on it asks again for
// ever. What is ours has ended when the first handler that was registered runs.
#ifdef __GLIBC__
void end_without_libraries(int status, void*) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::fflush(nullptr);
  ::_exit(status);
}
void prepare_the_end() { ::on_exit(end_without_libraries, nullptr); }
#else
void prepare_the_end() {}
#endif

}  // namespace

namespace adit {

int run_command(int argc, char** argv, std::vector<CommandModel> models) {
  prepare_the_end();
  std::signal(SIGXFSZ, SIG_IGN);  // a write past the limit on files then fails as on a full disk
  std::signal(SIGPIPE, SIG_IGN);  // and one that nobody reads any more: a run goes on without its words
  cli::occupy_standard_descriptors();
  const int status = guarded_run(argc, argv, std::move(models));
  const std::string fault = cli::output_fault();
  if (!fault.empty()) report("standard output: expected to write it, got: " + fault, failure);
  return fault.empty() || status != 0 ? status : failure;
}

}  // namespace adit
