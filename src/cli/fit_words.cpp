#include "cli/fit_words.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cli/catalogue.hpp"
#include "cli/command.hpp"
#include "cli/include_paths.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace {

// The options of one command, each with the word that stands for its value. Words are read here: CLI11 would
// take 2^64 for 2^63 - 1, and nothing for a value.
class FitOptions {
 public:
  FitOptions(CLI::App& app, const char* name, const char* doc) : command_(*app.add_subcommand(name, doc)) {}
  CLI::App& command() { return command_; }

  void number(const char* name, double& target, const char* value, const std::string& doc) {
    add(name, value, doc, [&target](auto& where, auto& typed) { target = real_number(where, typed); });
  }
  void count(const char* name, int64_t& target, const std::string& doc) {
    add(name, "N", doc, [&target](auto& where, auto& typed) { target = whole_number(where, typed); });
  }
  void word(const char* name, std::string& target, const std::string& value, const std::string& doc) {
    add(name, value, doc,
        [&target, value](auto& where, auto& typed) { target = some_word(where, typed, value); });
  }
  void flag(const char* name, bool& target, const char* doc) { command_.add_flag(name, target, doc); }
  void files(const char* name, std::vector<std::string>& target, const char* doc) {
    const auto read = [where = place(name), &target](const std::vector<std::string>& typed) {
      for (const std::string& path : typed) target.push_back(some_word(where, path, "FILES"));
    };
    command_.add_option_function<std::vector<std::string>>(name, read, doc)->type_name("FILES");
  }

  // What all of these commands have.
  void model(FitWords& words) {
    command_.add_option(
        "model", words.model,
        "A Stan program (model.stan), or the name of a model as `adit sample --list` tells it");
    word("--data", words.data, "FILE",
         "Data of a Stan program: JSON as for CmdStan, an R dump, or a CSV table whose columns are its data");
    declare_include_paths(command_, words.include_paths);
    add("--seed", "N", "Of random numbers (default 1)",
        [&words](auto& where, auto& typed) { words.seed = natural_number(where, typed); });
    word("--device", words.device, "ID", "As `adit devices` lists it (default: the best)");
    flag("--json", words.json, "Print one JSON document instead of text");
  }
  void common(FitWords& words, const char* output, const std::string& output_doc) {
    model(words);
    word("--output", words.output, output, output_doc);
    flag("--quiet", words.quiet, "Print no progress");
  }
  void init(FitWords& words) {
    word("--init", words.init, "R|FILE",
         "Start in (-R, R) on the unconstrained scale; or from a file of values by variable, JSON or CSV; "
         "what it leaves out is random (default 2)");
  }
  void example(const std::string& line) {
    command_.footer(fmt::format("Example:\n  {} {} {}", program_name(), command_.get_name(), line));
  }

 private:
  std::string place(const char* name) const { return fmt::format("[{}] {}", command_.get_name(), name); }
  template <class Read>
  void add(const char* name, const std::string& value, const std::string& doc, Read read) {
    command_
        .add_option_function<std::string>(
            name, [read, where = place(name)](const std::string& typed) { read(where, typed); }, doc)
        ->type_name(value);
  }
  CLI::App& command_;
};

void declare_search(FitOptions& options, FitWords& words) {
  options.word("--algorithm", words.algorithm, "lbfgs|bfgs|newton", "(default lbfgs)");
  options.count("--iterations", words.iterations, "At most (default 2000)");
  options.number("--init-alpha", words.init_alpha, "A", "Scale of the first step (default 0.001)");
  options.number("--tol-obj", words.tol_obj, "E",
                 "Ends the search: change of the log density (default 1e-12)");
  options.number("--tol-rel-obj", words.tol_rel_obj, "E",
                 "The same, relative, in units of 2^-52 (default 10000)");
  options.number("--tol-grad", words.tol_grad, "E", "Length of the gradient (default 1e-8)");
  options.number("--tol-rel-grad", words.tol_rel_grad, "E",
                 "What the gradient promises, relative, in units of 2^-52 (default 1e7)");
  options.number("--tol-param", words.tol_param, "E", "Length of a step (default 1e-8)");
  options.count("--history-size", words.history_size, "Steps that L-BFGS remembers (default 5)");
}

}  // namespace

void declare_fitting(CLI::App& app, FitWords& words, std::function<int()>& action) {
  const auto run = [&](FitOptions& options, int (*work)(FitWords)) {
    options.command().callback([&words, &action, work] { action = [&words, work] { return work(words); }; });
  };
  FitOptions search(app, "optimize", "The highest point of a posterior density, or of a likelihood");
  search.common(words, "FILE", "CSV as CmdStan writes it (default adit-<model>-optimize.csv)");
  search.init(words);
  search.flag("--jacobian", words.jacobian,
              "Of the density that is sampled, with the Jacobians of constraints (default: without)");
  search.flag("--save-iterations", words.save_iterations, "A row for every step (default: for the last)");
  declare_search(search, words);
  search.example("model.stan --data data.json");
  run(search, optimize);

  FitOptions normal(app, "laplace", "Draws of a normal approximation at the mode of a posterior");
  normal.common(words, "FILE", "CSV as CmdStan writes it (default adit-<model>-laplace.csv)");
  normal.init(words);
  normal.word("--mode", words.mode, "FILE",
              "Of `optimize`, or JSON with values by variable (default: it is searched for)");
  normal.count("--draws", words.draws, "(default 1000)");
  normal.flag("--no-jacobian", words.no_jacobian,
              "Without the Jacobians of constraints, as `optimize` finds modes unless told");
  normal.example("model.stan --data data.json --draws 4000");
  run(normal, laplace);

  FitOptions density(app, "log-prob", "The log density and its gradient at points");
  density.common(words, "FILE", "CSV as CmdStan writes it (default adit-<model>-log-prob.csv)");
  density.word("--constrained-params", words.constrained, "FILE",
               "Values by variable: JSON, or CSV as of draws");
  density.word("--unconstrained-params", words.unconstrained, "FILE",
               "Rows of numbers: JSON {\"params_r\": [...]}, or CSV");
  density.flag("--no-jacobian", words.no_jacobian, "Without the Jacobians of constraints");
  density.example("model.stan --data data.json --constrained-params values.json");
  run(density, log_prob);

  FitOptions generated(app, "generate", "Generated quantities of draws that were made earlier");
  generated.common(words, "FOLDER", "For draws and report (default adit-<model>-generate)");
  generated.files("--draws", words.fitted,
                  "CSV files of CmdStan (one a chain), a netCDF file, or a folder that `adit sample` wrote");
  generated.word("--format", words.format, "csv|netcdf|both|none",
                 "Files of draws (default netcdf; csv in a build without netCDF)");
  generated.example("model.stan --data data.json --draws adit-model");
  run(generated, generate);

  FitOptions gradient(app, "check-gradient", "The gradient at a start beside differences of the log density");
  gradient.common(words, "FILE", "The table as CSV (default: none)");
  gradient.init(words);
  gradient.number("--epsilon", words.epsilon, "E", "Step of the differences (default 1e-6)");
  gradient.number("--error", words.error, "E",
                  "What may be off, relative where slopes are above 1 (default 1e-6)");
  gradient.example("model.stan --data data.json");
  run(gradient, check_gradient);

  FitOptions plan(app, "explain", "What is made of a model: its loops, passes, memory and kernel");
  plan.model(words);
  plan.count("--chains", words.chains, "That it is made ready for (default 4)");
  plan.count("--warmup", words.warmup, "Iterations of warm-up, by which the metric is chosen (default 1000)");
  plan.word("--precision", words.precision, "auto|f32|mixed|f64",
            "auto: f64 on a CPU, f32 on a GPU unless energies are off (default auto)");
  plan.word("--layout", words.layout, "TEXT",
            "How chains lie on the device: auto, lane, team, device, or as a run told it (default auto)");
  plan.word("--metric", words.metric, "auto|diag|dense|unit",
            "The mass matrix; auto: dense for few numbers on a CPU, else diag (default auto)");
  plan.word("--adapt", words.adapt, "chain|pooled",
            "Adapt each chain by itself, or all by what all have seen (default chain)");
  plan.count("--max-depth", words.max_depth, "Deepest tree, 1 to 12 (default 10)");
  plan.example("model.stan --data data.json --device vulkan:0 --chains 1024");
  run(plan, explain);
}

}  // namespace adit::cli
