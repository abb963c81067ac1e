// The search for a mode, as optimize and laplace make it.
#pragma once

#include "cli/fit_model.hpp"

namespace adit::cli {

// Throws UsageError, naming the word. Opens no device.
OptimizeOptions search_options(const char* command, const FitWords& words);
// Throws where there is no maximum.
Optimum searched(const char* command, const Model& model, OptimizeOptions options, const FitStart& start);

}  // namespace adit::cli
