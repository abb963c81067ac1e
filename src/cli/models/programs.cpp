// Built-in models that are Stan programs: src/cli/programs, as text in the command, with data and names of
// axes.
//
// The others are C++ alone. Stan states the likelihood of `regime`, a mixture, as a term of the log density,
// so that it has no log likelihoods and predictive draws of its own. `stress` has three groups side by side
// in one observation, which no statement of Stan has; with a gather in their place a gradient takes five
// times as long.
#include <fmt/format.h>

#include <adit/stan.hpp>

#include "cli/models/embedded.hpp"
#include "cli/models/models.hpp"

namespace adit::examples {

namespace {

const char* embedded_text(const std::string& name) {
  for (int i = 0; i < embedded_count; ++i)
    if (embedded_files[i].name == name) return embedded_files[i].text;
  throw Error(ErrorKind::internal, fmt::format("[example_model] {}: expected a file of the command", name));
}

// Of a file of data, or of data as text; the program's name is the model's.
Model of_text(const std::string& name, const std::string& data) {
  return StanProgram::from_text(name, embedded_text(name + ".stan")).bind_json(data).model;
}
Model of_file(const std::string& name, const std::string& data) {
  return of_text(name, embedded_text(data + ".json"));
}

Model schools_program(const std::string& name, std::initializer_list<const char*> by_school) {
  Model model = of_file(name, "eight_schools");
  const Plate school = model.plate("school", {"A", "B", "C", "D", "E", "F", "G", "H"});
  for (const char* variable : by_school) model.name_axes(variable, {school});
  return model;
}

Model radon_program() {
  Model model = of_file("radon", "radon");
  const Plate county = model.plate("county", 85), house = model.plate("house", 919);
  for (const char* variable : {"z", "a"}) model.name_axes(variable, {county});
  model.name_axes("y", {house});
  return model;
}

Model volatility_program() {
  Model model = of_file("sv", "sv");
  model.name_axes("r", {model.plate("day", 100)});
  return model;
}

Model regression(const std::string& name, const std::string& data, const char* slopes, int64_t columns) {
  Model model = of_text(name, data);
  model.name_axes(slopes, {model.plate("predictor", columns)});
  return model;
}

}  // namespace

std::optional<Model> program_model(const std::string& name) {
  if (name == "eight_schools_centered") return schools_program(name, {"theta", "y"});
  if (name == "eight_schools_noncentered") return schools_program(name, {"z", "theta", "y"});
  if (name == "radon") return radon_program();
  if (name == "simple" || name == "medium") return of_file(name, name);
  if (name == "funnel") return of_text(name, "{}");
  if (name == "logistic") return regression(name, logistic_data(), "beta", 20);
  if (name == "logistic_large") return regression(name, logistic_large_data(), "be", 25);
  if (name == "sv") return volatility_program();
  return {};
}

}  // namespace adit::examples
