// The built-in models of the command. They are written with the public headers alone, as a user's model is:
// in C++, and most of them as Stan programs too, which the command has. Tests compare the two.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <adit/model.hpp>

namespace adit {

std::vector<std::string> example_names();
Model example_model(const std::string& name);      // in C++
Model command_model(const std::string& name);      // as the command has it: a Stan program where there is one
std::string example_doc(const std::string& name);  // one line

}  // namespace adit

// Each a function; models.cpp has their list.
namespace adit::examples {

Model eight_schools_centered();
Model eight_schools_noncentered();
Model radon();
Model simple();
Model medium();
Model stress();
Model funnel();
Model logistic();
Model logistic_large();
Model stochastic_volatility();
Model regime();

// Of a Stan program (programs.cpp); none: there is none of that name.
std::optional<Model> program_model(const std::string& name);
// As JSON.
std::string logistic_data();
std::string logistic_large_data();

}  // namespace adit::examples
