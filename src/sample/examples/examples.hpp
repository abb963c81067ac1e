// The built-in models, each a function; examples.cpp has their list.
#pragma once

#include <adit/model.hpp>

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
