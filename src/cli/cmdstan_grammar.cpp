#include "cli/cmdstan_grammar.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>

#include <adit/text.hpp>

#include "cli/suggest.hpp"
#include "cli/usage.hpp"

namespace adit::cli {
namespace cmdstan {
namespace {

constexpr double cmdstan_int_max = std::numeric_limits<int32_t>::max();

struct CmdStanWord {
  enum class Form : uint8_t {
    group,    // name word word ...
    choice,   // name=one-of-inside, which is a group
    whole,    // least to most
    real,     // more than least and less than most
    share,    // 0 to 1
    boolean,  // 0, 1, false, true
    text
  };
  std::string name;
  Form form = Form::group;
  std::vector<CmdStanWord> inside = {};
  double least = 0, most = cmdstan_int_max;
};
using Form = CmdStanWord::Form;
using Words = std::vector<CmdStanWord>;

CmdStanWord group(const char* name, Words inside = {}) { return {name, Form::group, std::move(inside)}; }
CmdStanWord choice(const char* name, Words inside) { return {name, Form::choice, std::move(inside)}; }
CmdStanWord whole(const char* name, double least, double most = cmdstan_int_max) {
  return {name, Form::whole, {}, least, most};
}
CmdStanWord positive(const char* name, double most = std::numeric_limits<double>::infinity()) {
  return {name, Form::real, {}, 0, most};
}
CmdStanWord of_form(const char* name, Form form) { return {name, form}; }
CmdStanWord text_word(const char* name) { return of_form(name, Form::text); }
CmdStanWord boolean_word(const char* name) { return of_form(name, Form::boolean); }

CmdStanWord sample_group() {
  const CmdStanWord adapt =
      group("adapt", {boolean_word("engaged"), positive("gamma"), positive("delta", 1), positive("kappa"),
                      positive("t0"), whole("init_buffer", 0), whole("term_buffer", 0), whole("window", 0),
                      boolean_word("save_metric")});
  const CmdStanWord engine =
      choice("engine", {group("static", {positive("int_time")}), group("nuts", {whole("max_depth", 1)})});
  const CmdStanWord metric = choice("metric", {group("unit_e"), group("diag_e"), group("dense_e")});
  const CmdStanWord hmc = group("hmc", {engine, metric, text_word("metric_file"), positive("stepsize"),
                                        of_form("stepsize_jitter", Form::share)});
  return group("sample", {whole("num_samples", 0), whole("num_warmup", 0), boolean_word("save_warmup"),
                          whole("thin", 1), adapt, choice("algorithm", {hmc, group("fixed_param")}),
                          whole("num_chains", 1)});
}

CmdStanWord optimize_group() {
  Words search{positive("init_alpha"), positive("tol_obj"),      positive("tol_rel_obj"),
               positive("tol_grad"),   positive("tol_rel_grad"), positive("tol_param")};
  const CmdStanWord bfgs = group("bfgs", search);
  search.push_back(whole("history_size", 1));
  return group("optimize", {choice("algorithm", {bfgs, group("lbfgs", search), group("newton")}),
                            boolean_word("jacobian"), whole("iter", 1), boolean_word("save_iterations")});
}

CmdStanWord method_choice() {
  return choice(
      "method",
      {sample_group(), optimize_group(), group("variational"),
       group("diagnose", {choice("test", {group("gradient", {positive("epsilon"), positive("error")})})}),
       group("generate_quantities", {text_word("fitted_params"), whole("num_chains", 1)}),
       group("pathfinder"),
       group("log_prob",
             {text_word("unconstrained_params"), text_word("constrained_params"), boolean_word("jacobian")}),
       group("laplace", {text_word("mode"), boolean_word("jacobian"), whole("draws", 0),
                         boolean_word("calculate_lp")})});
}

const CmdStanWord& cmdstan_words() {
  constexpr double most_seed = std::numeric_limits<uint32_t>::max();
  static const CmdStanWord all =
      group("", {method_choice(), whole("id", 0), group("data", {text_word("file")}), text_word("init"),
                 text_word("include_paths"), group("random", {whole("seed", -1, most_seed)}),
                 group("output", {text_word("file"), text_word("diagnostic_file"), whole("refresh", 0),
                                  whole("sig_figs", -1, 18), text_word("profile_file"),
                                  boolean_word("save_cmdstan_config")}),
                 whole("num_threads", -1), group("opencl", {whole("device", -1), whole("platform", -1)})});
  return all;
}

const CmdStanWord* find_word(const Words& words, const std::string& name) {
  const auto found = std::find_if(words.begin(), words.end(), [&](auto& word) { return word.name == name; });
  return found == words.end() ? nullptr : &*found;
}

std::vector<std::string> names_of(const Words& words) {
  std::vector<std::string> names;
  for (const CmdStanWord& word : words) names.push_back(word.name);
  return names;
}

// Every name, and of `wanted` the words that lead to it: "sample algorithm=hmc engine=nuts".
void walk(const CmdStanWord& word, const std::string& way, const std::string& wanted,
          std::vector<std::string>& names, std::vector<std::string>& ways) {
  for (const CmdStanWord& inner : word.inside) {
    names.push_back(inner.name);
    if (inner.name == wanted) ways.push_back(way);
    const std::string before = way.empty() ? "" : way + " ";
    if (inner.form == Form::group) walk(inner, before + inner.name, wanted, names, ways);
    if (inner.form != Form::choice) continue;
    for (const CmdStanWord& one : inner.inside) {
      names.push_back(one.name);
      const std::string step = inner.name == "method" ? one.name : inner.name + "=" + one.name;
      if (one.name == wanted) ways.push_back(way);
      walk(one, before + step, wanted, names, ways);
    }
  }
}

[[noreturn]] void refuse_word(const std::string& name, const std::string& expected, const std::string& got) {
  throw UsageError(fmt::format("[cmdstan] {}: expected {}, got {}", printable(name), expected,
                               got.empty() ? "\"\"" : printable(got)));
}

class CmdStanReader {
 public:
  explicit CmdStanReader(const std::string& model) {
    call_.model = model;
    open_.push_back({&cmdstan_words(), ""});
  }

  // Whether the words go on.
  bool add(const std::string& typed) {
    if (typed == "help" || typed == "help-all" || typed == "info") {
      call_.method.clear();
      return false;
    }
    const size_t equals = typed.find('=');
    const bool has_value = equals != std::string::npos;
    const std::string name = typed.substr(0, equals), value = has_value ? typed.substr(equals + 1) : "";
    if (name.empty()) refuse_word(typed, "name=value without blanks", typed);
    if (!has_value && find_word(methods().inside, name) && !is_open(name)) {
      close_to(0);
      take_method(name);
    } else {
      take(name, has_value, value);
    }
    return true;
  }
  CmdStanCall finish() { return std::move(call_); }
  CmdStanCall& call() { return call_; }

 private:
  struct Open {
    const CmdStanWord* group;
    std::string place;
  };

  static const CmdStanWord& methods() { return cmdstan_words().inside.front(); }
  // Whether a group that is open knows the name.
  bool is_open(const std::string& name) const {
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Open& open) { return find_word(open.group->inside, name); });
  }
  void close_to(size_t depth) { open_.resize(depth + 1); }
  std::string place_of(const std::string& name) const {
    const std::string& outer = open_.back().place;
    return outer.empty() ? name : outer + "." + name;
  }

  void take(const std::string& name, bool has_value, const std::string& value) {
    size_t depth = open_.size();
    const CmdStanWord* word = nullptr;
    while (!word && depth > 0) word = find_word(open_[--depth].group->inside, name);
    if (!word) refuse_place(name);
    close_to(depth);
    if (word->form == Form::group) {
      if (has_value) refuse_word(name, "it without =, before its own words", name + "=" + value);
    } else if (!has_value) {
      refuse_word(name, name + "=value without blanks", name + " alone");
    }
    const bool may_come_again = word == &methods() || (depth > 0 && word->form == Form::group);
    if (!may_come_again && !seen_.insert(place_of(name)).second) refuse_word(name, "it once", "it again");
    if (word->form == Form::group)
      open_.push_back({word, place_of(name)});
    else if (word == &methods())
      take_method(value);
    else if (word->form == Form::choice)
      take_choice(*word, value);
    else
      call_.values[place_of(name)] = checked_value(*word, value);
  }

  void take_method(const std::string& method) {
    choice_of("[cmdstan] method", method, names_of(methods().inside));
    if (!call_.method.empty()) refuse_word(method, "one method", call_.method + " too");
    if (method == "variational" || method == "pathfinder")
      throw UsageError(
          fmt::format("[cmdstan] {}: expected a method that adit has (sample, optimize, laplace, "
                      "log_prob, generate_quantities, diagnose), got one that it has not",
                      method));
    call_.method = method;
    open_.push_back({find_word(methods().inside, method), method});
  }

  void take_choice(const CmdStanWord& word, const std::string& value) {
    choice_of("[cmdstan] " + word.name, value, names_of(word.inside));
    call_.values[place_of(word.name)] = value;
    open_.push_back({find_word(word.inside, value), place_of(value)});
  }

  [[noreturn]] void refuse_place(const std::string& name) const {
    std::vector<std::string> names, ways;
    walk(cmdstan_words(), "", name, names, ways);
    if (!ways.empty())
      refuse_word(name, fmt::format("it after {}", fmt::join(ways, ", or after ")), "it elsewhere");
    const std::string near = nearest(name.substr(0, 100), names);
    throw UsageError(fmt::format("[cmdstan] unknown {}{}", printable(name),
                                 near.empty() ? "; `adit sample --help` tells what there is"
                                              : fmt::format("; did you mean {}?", near)));
  }

  static std::string checked_value(const CmdStanWord& word, const std::string& value) {
    const std::string where = "[cmdstan] " + word.name;
    const bool has_most = word.most < cmdstan_int_max;
    if (word.form == Form::whole) {
      const auto number = static_cast<double>(whole_number(where, value));
      if (number < word.least || number > word.most)
        refuse_word(word.name,
                    has_most || number > word.most
                        ? fmt::format("a whole number, {} to {}", word.least, static_cast<int64_t>(word.most))
                        : fmt::format("a number that is {} or more", word.least),
                    value);
    } else if (word.form == Form::real) {
      const double number = real_number(where, value);
      if (!(number > word.least && number < word.most) || !std::isfinite(number))
        refuse_word(word.name,
                    std::isfinite(word.most) ? "a number between 0 and 1" : "a number that is more than 0",
                    value);
    } else if (word.form == Form::share) {
      const double number = real_number(where, value);
      if (!(number >= 0 && number <= 1)) refuse_word(word.name, "a number from 0 to 1", value);
    } else if (word.form == Form::boolean) {
      choice_of(where, value, {"0", "1", "false", "true"});
    }
    return value;
  }

  CmdStanCall call_;
  std::vector<Open> open_;
  std::set<std::string> seen_;
};

}  // namespace
}  // namespace cmdstan

std::string CmdStanCall::value(const std::string& place, const std::string& otherwise) const {
  const auto found = values.find(place);
  return found == values.end() ? otherwise : found->second;
}

bool CmdStanCall::is_true(const std::string& place, bool otherwise) const {
  const std::string given = value(place, otherwise ? "1" : "0");
  return given == "1" || given == "true";
}

CmdStanCall read_cmdstan(const std::vector<std::string>& words) {
  cmdstan::CmdStanReader reader(words.front());
  bool goes_on = true;
  for (size_t i = 1; i < words.size() && goes_on; ++i) {
    if (words[i].starts_with('-')) {
      reader.call().rest.assign(words.begin() + static_cast<std::ptrdiff_t>(i), words.end());
      break;
    }
    goes_on = reader.add(words[i]);
  }
  CmdStanCall call = reader.finish();
  const bool asks_help = std::any_of(call.rest.begin(), call.rest.end(),
                                     [](const auto& word) { return word == "--help" || word == "-h"; });
  if (asks_help) call.method.clear();
  if (call.method.empty() && goes_on && !asks_help)
    throw UsageError(fmt::format("[cmdstan] method: expected one after the program, as in `{} sample`: {}",
                                 printable(call.model),
                                 "sample, optimize, laplace, log_prob, generate_quantities, diagnose"));
  return call;
}

}  // namespace adit::cli
