#include <algorithm>
#include <fmt/format.h>

#include "stan/checker.hpp"
#include "stan/nearest.hpp"
#include "stan/signature.hpp"

namespace adit::stan {

namespace {

// The name before a suffix of densities, or nothing.
std::string without_suffix(const std::string& name) {
  for (const char* suffix : {"_lpdf", "_lpmf", "_lupdf", "_lupmf", "_log"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string stem = name.substr(0, name.size() - std::string(suffix).size());
    if (is_builtin(stem + "_lpdf") || is_builtin(stem + "_lpmf")) return stem;
  }
  return "";
}

std::string nearest_distribution(const std::string& name, const Program& program) {
  Nearest nearest(name);
  const auto offer = [&](const std::string& known) {
    if (known.ends_with("_lpdf") || known.ends_with("_lpmf"))
      nearest.offer(known.substr(0, known.size() - 5));
  };
  for (const auto& function : program.functions) offer(function->name);
  for (const Signature& row : signatures()) offer(row.name);
  return nearest.name();
}

}  // namespace

void Checker::tilde_problem(Statement& statement, const std::string& problem, bool is_known) {
  const std::string& name = statement.name;
  if (is_known) {
    error(statement.place, fmt::format("Ill-typed distribution statement '~ {}'. {}", name, problem));
  } else if (name.ends_with("_cdf") || name.ends_with("_lcdf") || name.ends_with("_lccdf")) {
    error(statement.name_place, fmt::format("'{}' is no distribution; write target += {}(...).", name, name));
  } else if (const std::string stem = without_suffix(name); !stem.empty()) {
    error(statement.name_place, fmt::format("A distribution stands without its suffix: write '~ {}'.", stem));
  } else {
    error(statement.name_place,
          fmt::format("There is no distribution '{}'.{}", name,
                      is_full() ? "" : did_you_mean(nearest_distribution(name, program_))));
  }
}

void Checker::check_tilde(Statement& statement) {
  if (!in_block(BlockKind::model) && !in_function("_lp"))
    error(statement.place,
          "A distribution statement (~) may only stand in the model block and in functions with the "
          "suffix _lp.");
  Call call;
  call.levels.push_back(check_expression(*statement.value));
  call.types.push_back(statement.value->type);
  const Call rest = check_arguments(statement.arguments);
  call.types.insert(call.types.end(), rest.types.begin(), rest.types.end());
  call.levels.insert(call.levels.end(), rest.levels.begin(), rest.levels.end());
  call.failed = rest.failed || is_unknown(call.types[0]) || is_void(call.types[0]);
  bool is_known = false;
  Choice choice;
  for (const char* suffix : {"_lpdf", "_lpmf"}) {
    const std::string name = statement.name + suffix;
    if (functions_of(name).empty() && !is_builtin(name)) continue;
    is_known = true;
    if (call.failed) return;
    Choice next = choose(name, call);
    if (next.found || choice.problem.empty()) choice = std::move(next);
    if (choice.found) break;
  }
  if (!is_known || !choice.found) {
    tilde_problem(statement, choice.problem, is_known);
    return;
  }
  statement.function = choice.function;
  if (choice.function)
    for (size_t i = 0; i < call.levels.size(); ++i)
      if (choice.function->arguments[i].is_data && call.levels[i] == Level::parameter)
        error(i == 0 ? statement.value->place : statement.arguments[i - 1]->place,
              fmt::format("Argument {} of '{}' must be data; this depends on parameters.", i + 1,
                          choice.function->name));
  if (statement.truncation.present) check_truncation(statement, call);
  if (choice.function) return;
  warn_support(statement);
  warn_scales(statement);
  warn_jacobian(statement);
}

// T[a, b] takes log P(a <= X <= b) off, which needs the cdf of the bounds that are there.
void Checker::check_truncation(Statement& statement, const Call& call) {
  Truncation& truncation = statement.truncation;
  for (Expression* bound : {truncation.low.get(), truncation.high.get()}) {
    if (!bound) continue;
    check_expression(*bound);
    if (is_unknown(bound->type) || is_void(bound->type)) return;
    if (!bound->type.is_scalar()) {
      error(bound->place,
            fmt::format("A bound of a truncation must be int or real; found {}.", to_text(bound->type)));
      return;
    }
  }
  const auto needs = [&](const char* suffix, const Expression* bound) {
    Call cdf = call;
    cdf.types[0] = bound->type;
    const std::string name = statement.name + suffix;
    const bool known = !functions_of(name).empty() || is_builtin(name);
    if (known && choose(name, cdf).found) return;
    error(statement.place, fmt::format("The truncation of '{}' needs '{}' for {}, which there is not.",
                                       statement.name, name, to_text(cdf.types)));
  };
  if (truncation.high) needs("_lcdf", truncation.high.get());
  if (truncation.low) needs("_lccdf", truncation.low.get());
}

}  // namespace adit::stan
