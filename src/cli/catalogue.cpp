#include "cli/catalogue.hpp"

#include <algorithm>
#include <fmt/format.h>

#include <adit/error.hpp>
#include <adit/text.hpp>

namespace adit::cli {
namespace {

struct Catalogue {
  std::string program = "adit";
  std::vector<CommandModel> models;
};
Catalogue& catalogue() {
  static auto& only = *new Catalogue;
  return only;
}

bool is_word(const std::string& name) {
  return !name.empty() && name[0] != '-' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

const CommandModel& named(const std::string& name) {
  for (const CommandModel& one : catalogue().models)
    if (one.name == name) return one;
  throw Error(ErrorKind::not_found, fmt::format("[sample] model: expected one of {}, got {}",
                                                fmt::join(model_names(), ", "), printable(name)));
}

}  // namespace

void set_catalogue(std::string program, std::vector<CommandModel> models) {
  std::vector<std::string> seen;
  for (const CommandModel& one : models) {
    const auto refuse = [&](const char* expected, const std::string& got) {
      throw Error(ErrorKind::bad_argument,
                  fmt::format("[run_command] models: expected {}, got {}", expected, printable(got)));
    };
    if (!is_word(one.name)) refuse("names of letters, digits, - and _", "\"" + one.name + "\"");
    if (std::find(seen.begin(), seen.end(), one.name) != seen.end()) refuse("each name once", one.name);
    if (!one.make) refuse("a function that makes the model", "none for " + one.name);
    seen.push_back(one.name);
  }
  if (!program.empty()) catalogue().program = std::move(program);
  catalogue().models = std::move(models);
}

const std::string& program_name() { return catalogue().program; }

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const CommandModel& one : catalogue().models) names.push_back(one.name);
  return names;
}

std::string model_doc(const std::string& name) { return named(name).doc; }

// Checkpoints and files name the model as it calls itself: who reads them looks for that name here.
Model make_model(const std::string& name) {
  Model model = named(name).make();
  if (model.name() != name)
    throw Error(ErrorKind::bad_argument,
                fmt::format("[run_command] models: expected the model {} to have that name, got one named {}",
                            name, printable(model.name())));
  return model;
}

}  // namespace adit::cli
