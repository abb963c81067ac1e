#include "cli/models/models.hpp"

#include <fmt/format.h>

namespace adit {

namespace {

struct Example {
  std::string_view name;
  Model (*make)();
  std::string_view doc;
};

constexpr Example list[] = {
    {"eight_schools_centered", examples::eight_schools_centered,
     "eight schools, centred: a hierarchy that diverges (10 unknowns)"},
    {"eight_schools_noncentered", examples::eight_schools_noncentered,
     "eight schools, non-centred (10 unknowns)"},
    {"radon", examples::radon, "radon in 919 houses of 85 counties, non-centred, made-up data (90 unknowns)"},
    {"simple", examples::simple, "mean and deviation of 50 numbers (2 unknowns)"},
    {"medium", examples::medium, "two groups under one population (5 unknowns)"},
    {"stress", examples::stress, "three groups, each with its own noise (8 unknowns)"},
    {"funnel", examples::funnel, "Neal's funnel: a density whose scale varies by orders (10 unknowns)"},
    {"logistic", examples::logistic, "logistic regression, 500 x 20 (21 unknowns)"},
    {"logistic_large", examples::logistic_large, "logistic regression, 1,000 x 25 (26 unknowns)"},
    {"sv", examples::stochastic_volatility, "stochastic volatility over 100 days (102 unknowns)"},
    {"regime", examples::regime, "returns from three regimes: a mixture (8 unknowns)"},
};

const Example& named(std::string_view where, const std::string& name) {
  std::string names;
  for (const Example& one : list) {
    if (one.name == name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(ErrorKind::not_found,
              fmt::format("[{}] name: expected one of {}, got \"{}\"", where, names, name));
}

}  // namespace

std::vector<std::string> example_names() {
  std::vector<std::string> names;
  for (const Example& example : list) names.emplace_back(example.name);
  return names;
}

Model command_model(const std::string& name) {
  if (std::optional<Model> program = examples::program_model(name)) return std::move(*program);
  return example_model(name);
}
Model example_model(const std::string& name) { return named("example_model", name).make(); }
std::string example_doc(const std::string& name) { return std::string(named("example_doc", name).doc); }

}  // namespace adit
