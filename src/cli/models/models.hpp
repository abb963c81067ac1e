// The built-in models of the command. They are written with the public headers alone, as a user's model is.
#pragma once

#include <string>
#include <vector>

#include <adit/model.hpp>

namespace adit {

std::vector<std::string> example_names();
Model example_model(const std::string& name);
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

}  // namespace adit::examples
