// The command `adit`: the command line of any program with models, here with the built-in ones.
#include <adit/command.hpp>

#include "cli/models/models.hpp"

int main(int argc, char** argv) {
  std::vector<adit::CommandModel> models;
  for (const std::string& name : adit::example_names())
    models.push_back({name, adit::example_doc(name), [name] { return adit::command_model(name); }});
  return adit::run_command(argc, argv, std::move(models));
}
