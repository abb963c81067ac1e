#include "cli/sample_words.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <fmt/format.h>

#include "cli/catalogue.hpp"
#include "cli/include_paths.hpp"
#include "cli/metric_choice.hpp"
#include "cli/stan_source.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

constexpr int64_t deepest = 12;  // of the kernel's tree
// What the sampler counts to.
constexpr int64_t most_chains = int64_t{1} << 24, most_iterations = int64_t{1} << 30;

void require(bool good, const char* option, const std::string& expected, const std::string& got) {
  if (!good) throw UsageError(fmt::format("[sample] {}: expected {}, got {}", option, expected, got));
}

void require_at_least(int64_t least, const char* option, int64_t got) {
  require(got >= least, option, fmt::format("a number that is {} or more", least), std::to_string(got));
}

void require_at_most(int64_t most, const char* option, int64_t got) {
  require(got <= most, option, fmt::format("a number that is {} or less", most), std::to_string(got));
}

void check_model(const std::string& name, const std::string& data) {
  if (is_stan_path(name)) return;
  if (!data.empty())
    throw UsageError(fmt::format("[sample] --data: expected it with a Stan program, got the model {}", name));
  const std::vector<std::string> known = model_names();
  if (name.empty())
    throw UsageError(fmt::format("[sample] model: expected one of {}", fmt::join(known, ", ")));
  choice_of("[sample] model", name, known);
}

void check_numbers(const SampleWords& words) {
  require_at_least(1, "--chains", words.chains);
  require_at_least(0, "--warmup", words.warmup);
  require_at_least(1, "--draws", words.draws);
  require_at_least(1, "--thin", words.thin);
  require_at_most(most_chains, "--chains", words.chains);
  require_at_most(most_iterations, "--warmup", words.warmup);
  require_at_most(most_iterations, "--thin", words.thin);
  require(words.draws <= (most_iterations - words.warmup) / words.thin, "--draws",
          fmt::format("at most {} iterations with those of warm-up", most_iterations),
          words.thin == 1 ? std::to_string(words.draws)
                          : fmt::format("{} with --thin {}", words.draws, words.thin));
  require(words.adapt_delta > 0 && words.adapt_delta < 1, "--adapt-delta", "a number between 0 and 1",
          fmt::format("{}", words.adapt_delta));
  const auto positive = [](const char* option, double number) {
    require(number > 0 && std::isfinite(number), option, "a positive number", fmt::format("{}", number));
  };
  constexpr double longest_step = 1e6;  // beyond 1e7 the search takes the posterior for an improper one
  positive("--step-size", words.step_size);
  require(words.step_size <= longest_step, "--step-size", "at most 1e6", fmt::format("{}", words.step_size));
  positive("--gamma", words.gamma);
  positive("--kappa", words.kappa);
  positive("--t0", words.t0);
  for (const auto& [option, number] :
       {std::pair{"--init-buffer", words.init_buffer}, std::pair{"--term-buffer", words.term_buffer}}) {
    require_at_least(0, option, number);
    require_at_most(most_iterations, option, number);
  }
  require_at_least(1, "--window", words.window);
  require_at_most(most_iterations, "--window", words.window);
  require(words.max_depth >= 1 && words.max_depth <= deepest, "--max-depth",
          fmt::format("a number from 1 to {}", deepest), std::to_string(words.max_depth));
}

// Stan computes in f64, adapts every chain by itself, and starts from nothing but its inits.
void check_stan_compat(const SampleWords& words, SampleOptions& options) {
  const auto refuse = [](const char* option, const std::string& got) {
    throw UsageError(fmt::format("[sample] --stan-compat: {} {} is not what Stan does", option, got));
  };
  if (options.precision == Precision::f32 || options.precision == Precision::mixed)
    refuse("--precision", words.precision);
  if (options.adapt != Adapt::chain) refuse("--adapt", words.adapt);
  if (!words.warm_start.empty()) refuse("--warm-start", words.warm_start.front());
  options.precision = Precision::f64;
  options.restart_stuck = false;
}

// Options of one heading of the help, each with the word that stands for its value.
class Group {
 public:
  Group(CLI::App& command, const char* heading) : command_(command), heading_(heading) {}
  template <class T>
  void option(const char* name, T& target, const char* value, const std::string& doc) {
    declared(name, target, value, doc)->type_name(value)->group(heading_);
  }
  void flag(const char* name, bool& target, const char* doc) {
    command_.add_flag(name, target, doc)->group(heading_);
  }

 private:
  // Words are read here: CLI11 would take 2^64 for 2^63 - 1, and nothing for a value.
  template <class T, class Read>
  CLI::Option* read_by(Read read, const char* name, T& target, const std::string& doc) {
    return command_.add_option_function<std::string>(
        name,
        [read, where = fmt::format("[sample] {}", name), &target](const std::string& typed) {
          target = read(where, typed);
        },
        doc);
  }
  CLI::Option* declared(const char* name, int64_t& target, const char*, const std::string& doc) {
    return read_by(whole_number, name, target, doc);
  }
  CLI::Option* declared(const char* name, uint64_t& target, const char*, const std::string& doc) {
    return read_by(natural_number, name, target, doc);
  }
  CLI::Option* declared(const char* name, double& target, const char*, const std::string& doc) {
    return read_by(real_number, name, target, doc);
  }
  CLI::Option* declared(const char* name, std::string& target, const char* value, const std::string& doc) {
    const std::string expected = value;
    return read_by([expected](const std::string& where,
                              const std::string& typed) { return some_word(where, typed, expected); },
                   name, target, doc);
  }
  CLI::Option* declared(const char* name, std::vector<std::string>& target, const char* value,
                        const std::string& doc) {
    const auto check = [where = fmt::format("[sample] {}", name), expected = std::string(value),
                        &target](const std::vector<std::string>& typed) {
      for (const std::string& word : typed) target.push_back(some_word(where, word, expected));
    };
    return command_.add_option_function<std::vector<std::string>>(name, check, doc);
  }

  CLI::App& command_;
  const char* heading_;
};

void declare_run(CLI::App& command, SampleWords& words) {
  Group group(command, "Sampling");
  group.option("--chains", words.chains, "N", "Chains; a GPU takes thousands (default 4)");
  group.option("--warmup", words.warmup, "N", "Iterations of warm-up a chain (default 1000)");
  group.option("--draws", words.draws, "N", "Draws a chain that are kept (default 1000)");
  group.option("--thin", words.thin, "N", "Keep one iteration of N (default 1)");
  group.option("--seed", words.seed, "N", "The same seed gives the same draws (default 1)");
  group.option("--device", words.device, "ID", "As `adit devices` lists it (default: the best)");
  group.option("--precision", words.precision, "auto|f32|mixed|f64",
               "auto: f64 on a CPU, f32 on a GPU unless energies are off (default auto)");
  group.option("--layout", words.layout, "TEXT",
               "How chains lie on the device: auto, lane, team, device, or as a run told it (default auto)");
  group.option("--metric", words.metric, "auto|diag|dense|unit",
               "The mass matrix; auto: dense for few numbers on a CPU, else diag (default auto)");
  group.option("--adapt", words.adapt, "chain|pooled",
               "Adapt each chain by itself, or all by what all have seen (default chain)");
  group.option(
      "--stuck", words.stuck, "restart|keep",
      "A chain that warm-up leaves where there is next to nothing goes on from another chain's state, or "
      "stays (default restart)");
  group.option("--adapt-delta", words.adapt_delta, "P",
               "Acceptance that the step size aims at, between 0 and 1 (default 0.8)");
  group.option("--max-depth", words.max_depth, "N",
               fmt::format("Deepest tree, 1 to {}: at most 2^N steps a draw (default 10)", deepest));
  group.option("--step-size", words.step_size, "E", "Where the search for a step size begins (default 1)");
  group.option("--gamma", words.gamma, "G", "How strongly the step size is held back (default 0.05)");
  group.option("--kappa", words.kappa, "K", "How fast earlier iterations are forgotten (default 0.75)");
  group.option("--t0", words.t0, "N", "Iterations that count little at the beginning (default 10)");
  group.option("--init-buffer", words.init_buffer, "N", "First iterations of warm-up (default 75)");
  group.option("--term-buffer", words.term_buffer, "N", "Last iterations of warm-up (default 50)");
  group.option("--window", words.window, "N", "The first window between them (default 25)");
  group.flag("--fixed-param", words.fixed_param,
             "Leave parameters where chains start and draw generated quantities alone; of itself where a "
             "program has no parameters");
  group.flag("--stan-compat", words.stan_compat,
             "Do as Stan does: f64, and an error if another option goes beyond Stan");
}

void declare_start(CLI::App& command, SampleWords& words) {
  Group group(command, "Starting");
  group.option("--init", words.init, "R|FILE",
               "Start in (-R, R) on the unconstrained scale; or from a JSON file of values by variable, or a "
               "list of those, one a chain; what it leaves out is random (default 2)");
  group.option("--warm-start", words.warm_start, "FILES",
               "Saved draws: take over their step size and mass matrix (default: none)");
  group.flag("--resume", words.resume, "Go on with the run that was stopped in the output folder");
  group.flag("--overwrite", words.overwrite, "Replace the run that was stopped in the output folder");
}

void declare_output(CLI::App& command, SampleWords& words) {
  Group group(command, "Output");
  group.option("--output", words.output, "FOLDER", "For draws and report (default adit-<model>)");
  command.get_option("--output")->check([](const std::string& typed) {
    require(!typed.empty(), "--output", "a folder", "\"\"");
    return std::string();
  });
  group.option("--format", words.format, "csv|netcdf|both|none",
               "Files of draws: as CmdStan's, for ArviZ (default netcdf; csv in a build without netCDF)");
  group.flag("--save-warmup", words.save_warmup, "Keep the draws of the warm-up too (default: no)");
  group.flag("--log-likelihood", words.log_likelihood,
             "Keep the log likelihood of every observation, for LOO and WAIC (default: no)");
  group.flag("--predictive", words.predictive,
             "Draw new observations from the posterior, for predictive checks (default: no)");
  const auto say = [&words](int choice) {
    return [&words, choice] {
      require(words.report != -choice, "--report", "it or --no-report", "both");
      words.report = choice;
    };
  };
  command.add_flag_callback("--report", say(1), "Write report.html (default, unless --format none)")
      ->group("Output");
  command.add_flag_callback("--no-report", say(-1), "Write no report.html")->group("Output");
  group.flag("--json", words.json, "Print one JSON document instead of text");
  group.flag("--quiet", words.quiet, "Print no progress");
}

}  // namespace

void declare_sample(CLI::App& command, SampleWords& words) {
  command.add_option("model", words.model,
                     "A Stan program (model.stan), or the name of a model; --list tells the names. None is "
                     "needed where there is one model");
  command
      .add_option_function<std::string>(
          "--data",
          [&words](const std::string& typed) { words.data = some_word("[sample] --data", typed, "FILE"); },
          "Data of a Stan program: JSON as for CmdStan, an R dump, or a CSV table whose columns are its data")
      ->type_name("FILE");
  declare_include_paths(command, words.include_paths);
  command.add_flag("--list", words.list, "List the models and exit");
  declare_run(command, words);
  declare_start(command, words);
  declare_output(command, words);
  const auto models = model_names();
  const std::string model = models.empty() ? "MODEL" : models.size() > 1 ? models[1] : models[0];
  command.footer(
      fmt::format("Example:\n"
                  "  {} sample {} --chains 8 --adapt-delta 0.9 --output run\n"
                  "Ctrl-C stops the run and keeps its draws; the same command with --resume goes on.",
                  program_name(), model));
}

SampleOptions checked(const SampleWords& words) {
  if (words.fixed_param && words.resume)
    throw UsageError("[sample] --resume: expected it without --fixed-param, got both");
  check_model(words.model, words.data);
  check_numbers(words);
  SampleOptions options;
  options.chains = words.chains;
  options.warmup = words.warmup;
  options.draws = words.draws;
  options.thin = words.thin;
  options.seed = words.seed;
  options.device = words.device;
  options.precision = std::vector{
      Precision::automatic, Precision::f32, Precision::mixed,
      Precision::f64}[choice_of("[sample] --precision", words.precision, {"auto", "f32", "mixed", "f64"})];
  options.layout = words.layout;
  // auto: settled when the model is known
  options.metric = metric_named("[sample] --metric", words.metric).value_or(Metric::diagonal);
  options.adapt = std::vector{Adapt::chain,
                              Adapt::pooled}[choice_of("[sample] --adapt", words.adapt, {"chain", "pooled"})];
  options.restart_stuck = choice_of("[sample] --stuck", words.stuck, {"restart", "keep"}) == 0;
  options.adapt_delta = words.adapt_delta;
  options.max_depth = static_cast<int>(words.max_depth);
  options.step_size = words.step_size;
  options.gamma = words.gamma;
  options.kappa = words.kappa;
  options.t0 = words.t0;
  options.init_buffer = static_cast<int>(words.init_buffer);
  options.term_buffer = static_cast<int>(words.term_buffer);
  options.window = static_cast<int>(words.window);
  options.save_warmup = words.save_warmup;
  options.log_likelihood = words.log_likelihood;
  options.posterior_predictive = words.predictive;
  options.resume = words.resume;
  if (words.stan_compat) check_stan_compat(words, options);
  if (!words.device.empty()) device_id("[sample] --device", words.device);
  return options;
}

}  // namespace adit::cli
