#include "cli/cmdstan_words.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include <adit/text.hpp>

#include "cli/cmdstan_grammar.hpp"
#include "cli/own_files.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace cmdstan {
namespace {

namespace fs = std::filesystem;

// The words of a call, as they are put together.
class Translation {
 public:
  Translation(const CmdStanCall& call, const char* command) : call_(call), words_{command, call.model} {}

  // What adit has otherwise: the command's own words may say more.
  void usual(const std::string& name, const std::string& value) {
    if (!says_itself(name)) option(name, value);
  }
  void usual_unless_given(const std::string& place, const std::string& name, const std::string& value) {
    if (call_.has(place))
      option(name, value);
    else
      usual(name, value);
  }
  // A value that begins with "-" must not pass for an option.
  void option(const std::string& name, const std::string& value) {
    expect_once(name);
    if (value.starts_with('-')) {
      words_.push_back(name + "=" + value);
    } else {
      words_.push_back(name);
      words_.push_back(value);
    }
  }
  void flag(const char* name) { words_.push_back(name); }
  // Where it was given.
  void pass(const std::string& place, const char* name) {
    if (call_.has(place)) option(name, call_.value(place, ""));
  }
  void pass_file(const std::string& place, const char* name) {
    if (!call_.has(place)) return;
    option(name, some_word("[cmdstan] " + word_of(place), call_.value(place, ""), "a file"));
  }
  // Where it was given and is not what adit has anyway.
  void pass_other(const std::string& place, const char* name, double usual) {
    if (!call_.has(place)) return;
    expect_once(name);
    if (real_number("[cmdstan] " + word_of(place), call_.value(place, "")) != usual) pass(place, name);
  }
  void require(const std::string& place, const char* expected) const {
    if (!call_.has(place))
      throw UsageError(fmt::format("[cmdstan] {}: expected {}, got none", call_.method,
                                   fmt::format("{}={}", word_of(place), expected)));
  }

  std::vector<std::string> finish() {
    words_.insert(words_.end(), call_.rest.begin(), call_.rest.end());
    return std::move(words_);
  }

  static std::string word_of(const std::string& place) { return place.substr(place.rfind('.') + 1); }

 private:
  void expect_once(const std::string& name) const {
    if (says_itself(name))
      throw UsageError(
          fmt::format("[cmdstan] {}: expected it, or the word of CmdStan for it, got both", name));
  }
  bool says_itself(const std::string& name) const {
    return std::any_of(call_.rest.begin(), call_.rest.end(),
                       [&](const std::string& word) { return word == name || word.starts_with(name + "="); });
  }

  const CmdStanCall& call_;
  std::vector<std::string> words_;
};

[[noreturn]] void refuse_cmdstan(const std::string& word, const std::string& why) {
  throw UsageError(fmt::format("[cmdstan] {}: {}", word, why));
}

// CmdStan would not write into a folder. One of earlier runs, which stood for a file too, is none of its.
void expect_no_folder(const std::string& file) {
  std::error_code error;
  if (!fs::is_directory(file, error)) return;
  bool holds_anything = false;
  for (fs::directory_iterator at(file, error), end; !error && at != end; at.increment(error)) {
    holds_anything = true;
    if (is_own_file(at->path())) return;
  }
  if (holds_anything)
    throw UsageError(fmt::format("[cmdstan] file: expected a file, got the folder {}", printable(file)));
}

// The folder that stands for a file of draws.
std::string output_folder(const std::string& file) {
  constexpr std::string_view ending = ".csv";
  some_word("[cmdstan] file", file, "a file");
  const size_t name = file.rfind('/') == std::string::npos ? 0 : file.rfind('/') + 1;
  const bool has_ending = file.ends_with(ending) && file.size() - name > ending.size();
  const std::string folder = has_ending ? file.substr(0, file.size() - ending.size()) : file;
  const std::string last = folder.substr(name);
  if (last.empty() || last == "." || last == "..")
    throw UsageError(fmt::format("[cmdstan] file: expected a file{}, got {}{}",
                                 has_ending ? " whose name without .csv can be a folder's" : "",
                                 has_ending ? "" : "the folder ", printable(file)));
  if (!has_ending) expect_no_folder(file);
  return folder;
}

// Seeds of CmdStan have 32 bits, so that those of other processes cannot be the same.
void add_seed(const CmdStanCall& call, Translation& to) {
  const int64_t given = whole_number("[cmdstan] seed", call.value("random.seed", "-1"));
  const int64_t process = whole_number("[cmdstan] id", call.value("id", "1"));
  if (given < 0 && process == 1) return;
  const uint64_t seed = given < 0 ? 1 : static_cast<uint64_t>(given);
  const auto upper = static_cast<uint64_t>(static_cast<uint32_t>(process - 1));
  to.option("--seed", std::to_string(seed | upper << 32));
}

void add_common(const CmdStanCall& call, Translation& to) {
  if (call.value("num_threads", "1") == "0")
    refuse_cmdstan("num_threads", "expected a number of threads, or -1 for all, got 0");
  to.pass_file("data.file", "--data");
  to.pass_file("include_paths", "--include-paths");
  const std::string init =
      call.has("init") ? some_word("[cmdstan] init", call.value("init", ""), "a number or a file") : "";
  const bool starts = call.method != "log_prob" && call.method != "generate_quantities";
  if (!init.empty() && starts) to.option("--init", init);
  add_seed(call, to);
  // Draws of chains make a folder, all else is a file.
  const bool has_chains = call.method == "sample" || call.method == "generate_quantities";
  if (has_chains && call.has("output.file"))
    to.option("--output", output_folder(call.value("output.file", "")));
  else
    to.pass_file("output.file", "--output");
}

void add_quiet(const CmdStanCall& call, Translation& to) {
  if (whole_number("[cmdstan] refresh", call.value("output.refresh", "100")) == 0) to.flag("--quiet");
}

// What changes the draws, and cannot be had.
void refuse_other_samplers(const CmdStanCall& call) {
  if (call.value("sample.hmc.engine", "nuts") != "nuts")
    refuse_cmdstan("engine=static", "expected nuts: adit samples with NUTS alone");
  if (!call.is_true("sample.adapt.engaged", true))
    refuse_cmdstan("engaged", "expected 1: adit always adapts in its warm-up, got " +
                                  call.value("sample.adapt.engaged", ""));
  if (!call.value("sample.hmc.metric_file", "").empty())
    refuse_cmdstan("metric_file",
                   "adit reads no metric from a file of its own; --warm-start takes it over from "
                   "saved draws");
  if (real_number("[cmdstan] stepsize_jitter", call.value("sample.hmc.stepsize_jitter", "0")) != 0)
    refuse_cmdstan("stepsize_jitter", "expected 0: adit does not vary the step size, got " +
                                          call.value("sample.hmc.stepsize_jitter", ""));
}

void add_draws(const CmdStanCall& call, Translation& to) {
  if (!call.has("sample.num_samples") && !call.has("sample.thin")) return;
  const int64_t iterations = whole_number("[cmdstan] num_samples", call.value("sample.num_samples", "1000"));
  const int64_t thin = whole_number("[cmdstan] thin", call.value("sample.thin", "1"));
  if (iterations == 0) refuse_cmdstan("num_samples", "expected a number that is 1 or more, got 0");
  to.usual_unless_given("sample.num_samples", "--draws", std::to_string((iterations + thin - 1) / thin));
}

void add_adaptation(Translation& to) {
  to.pass("sample.adapt.delta", "--adapt-delta");
  to.pass_other("sample.adapt.gamma", "--gamma", 0.05);
  to.pass_other("sample.adapt.kappa", "--kappa", 0.75);
  to.pass_other("sample.adapt.t0", "--t0", 10);
  to.pass_other("sample.adapt.init_buffer", "--init-buffer", 75);
  to.pass_other("sample.adapt.term_buffer", "--term-buffer", 50);
  to.pass_other("sample.adapt.window", "--window", 25);
  to.pass_other("sample.hmc.stepsize", "--step-size", 1);
  to.pass("sample.hmc.nuts.max_depth", "--max-depth");
}

std::vector<std::string> sample_call(const CmdStanCall& call) {
  refuse_other_samplers(call);
  Translation to(call, "sample");
  to.usual_unless_given("sample.num_chains", "--chains", call.value("sample.num_chains", "1"));
  const std::string metric = call.value("sample.hmc.metric", "diag_e");
  to.usual_unless_given("sample.hmc.metric", "--metric", metric.substr(0, metric.find('_')));
  to.pass("sample.num_warmup", "--warmup");
  add_draws(call, to);
  to.pass("sample.thin", "--thin");
  add_adaptation(to);
  if (call.value("sample.algorithm", "hmc") == "fixed_param") to.flag("--fixed-param");
  if (call.is_true("sample.save_warmup", false)) to.flag("--save-warmup");
  add_common(call, to);
  to.usual("--format", "csv");
  add_quiet(call, to);
  return to.finish();
}

std::vector<std::string> optimize_call(const CmdStanCall& call) {
  Translation to(call, "optimize");
  const std::string algorithm = call.value("optimize.algorithm", "lbfgs");
  to.pass("optimize.algorithm", "--algorithm");
  to.pass("optimize.iter", "--iterations");
  if (call.is_true("optimize.jacobian", false)) to.flag("--jacobian");
  if (call.is_true("optimize.save_iterations", false)) to.flag("--save-iterations");
  const std::string search = "optimize." + algorithm + ".";
  to.pass_other(search + "init_alpha", "--init-alpha", 0.001);
  to.pass_other(search + "tol_obj", "--tol-obj", 1e-12);
  to.pass_other(search + "tol_rel_obj", "--tol-rel-obj", 1e4);
  to.pass_other(search + "tol_grad", "--tol-grad", 1e-8);
  to.pass_other(search + "tol_rel_grad", "--tol-rel-grad", 1e7);
  to.pass_other(search + "tol_param", "--tol-param", 1e-8);
  to.pass_other(search + "history_size", "--history-size", 5);
  add_common(call, to);
  add_quiet(call, to);
  return to.finish();
}

std::vector<std::string> laplace_call(const CmdStanCall& call) {
  Translation to(call, "laplace");
  to.require("laplace.mode", "FILE");
  to.pass_file("laplace.mode", "--mode");
  to.pass("laplace.draws", "--draws");
  if (!call.is_true("laplace.jacobian", true)) to.flag("--no-jacobian");
  add_common(call, to);
  add_quiet(call, to);
  return to.finish();
}

std::vector<std::string> log_prob_call(const CmdStanCall& call) {
  Translation to(call, "log-prob");
  if (!call.has("log_prob.constrained_params")) to.require("log_prob.unconstrained_params", "FILE");
  to.pass_file("log_prob.unconstrained_params", "--unconstrained-params");
  to.pass_file("log_prob.constrained_params", "--constrained-params");
  if (!call.is_true("log_prob.jacobian", true)) to.flag("--no-jacobian");
  add_common(call, to);
  add_quiet(call, to);
  return to.finish();
}

// With several chains out.csv stands for out_1.csv, out_2.csv, ...
std::vector<std::string> generate_quantities_call(const CmdStanCall& call) {
  constexpr int64_t most_files = 1024;
  Translation to(call, "generate");
  to.require("generate_quantities.fitted_params", "FILE");
  const std::string file =
      some_word("[cmdstan] fitted_params", call.value("generate_quantities.fitted_params", ""), "a file");
  const int64_t chains =
      whole_number("[cmdstan] num_chains", call.value("generate_quantities.num_chains", "1"));
  if (chains > most_files)
    refuse_cmdstan("num_chains", fmt::format("expected at most {}, got {}", most_files, chains));
  if (chains == 1) to.option("--draws", file);
  for (int64_t chain = 1; chains > 1 && chain <= chains; ++chain)
    to.option("--draws", fmt::format("{}_{}.csv", output_folder(file), chain));
  add_common(call, to);
  to.usual("--format", "csv");
  add_quiet(call, to);
  return to.finish();
}

std::vector<std::string> diagnose_call(const CmdStanCall& call) {
  Translation to(call, "check-gradient");
  to.pass_other("diagnose.gradient.epsilon", "--epsilon", 1e-6);
  to.pass_other("diagnose.gradient.error", "--error", 1e-6);
  add_common(call, to);
  add_quiet(call, to);
  return to.finish();
}

bool is_program_path(const std::string& word) {
  constexpr std::string_view ending = ".stan";
  return word.ends_with(ending) && word.size() > ending.size() && !word.starts_with('-');
}

}  // namespace
}  // namespace cmdstan

std::optional<std::vector<std::string>> from_cmdstan(const std::vector<std::string>& words) {
  if (words.empty() || !cmdstan::is_program_path(words.front())) return {};
  const CmdStanCall call = read_cmdstan(words);
  if (call.method == "sample") return cmdstan::sample_call(call);
  if (call.method == "optimize") return cmdstan::optimize_call(call);
  if (call.method == "laplace") return cmdstan::laplace_call(call);
  if (call.method == "log_prob") return cmdstan::log_prob_call(call);
  if (call.method == "generate_quantities") return cmdstan::generate_quantities_call(call);
  if (call.method == "diagnose") return cmdstan::diagnose_call(call);
  return std::vector<std::string>{"sample", "--help"};
}

std::string cmdstan_file(const std::vector<std::string>& words) {
  if (words.empty() || !cmdstan::is_program_path(words.front())) return {};
  const CmdStanCall call = read_cmdstan(words);
  if ((call.method != "sample" && call.method != "generate_quantities") || !call.has("output.file"))
    return {};
  const std::string file = call.value("output.file", "");
  return cmdstan::output_folder(file) == file ? "" : file;
}

}  // namespace adit::cli
