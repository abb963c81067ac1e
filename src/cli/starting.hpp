// Where chains start: --init and --warm-start.
#pragma once

#include <string>
#include <vector>

#include <adit/sample.hpp>

namespace adit::cli {

// What can be said without a model: whether the number is one, and whether the files exist.
void check_start(const std::string& init, const std::vector<std::string>& warm_start);

// `init` is a number, or a JSON file: an object of constrained values by variable for all chains, or a list
// of such objects, one a chain. Names and sizes are held against the model.
void set_inits(SampleOptions& options, const std::string& init, const Model& model);

// Step size and mass matrix at the end of the warm-up of saved draws. Where the numbers of chains differ, all
// chains get the mean.
void set_warm_start(SampleOptions& options, const std::vector<std::string>& files, const Model& model);

}  // namespace adit::cli
