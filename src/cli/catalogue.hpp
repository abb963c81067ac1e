// What the program at hand is called, and the models that it has.
#pragma once

#include <string>
#include <vector>

#include <adit/command.hpp>

namespace adit::cli {

// Once, before anything else; throws Error(bad_argument) where a model has no word for a name, a name stands
// twice, or nothing makes it.
void set_catalogue(std::string program, std::vector<CommandModel> models);

const std::string& program_name();
std::vector<std::string> model_names();
std::string model_doc(const std::string& name);
Model make_model(const std::string& name);

}  // namespace adit::cli
