// Where chains start: --init and --warm-start.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include <adit/sample.hpp>

namespace adit::cli {

// Read once, since what is read may be a pipe, and before a device is opened. `init` is a number, or a JSON
// file: an object of constrained values by variable for all chains, or a list of such objects, one a chain.
class Start {
 public:
  // The metric of saved draws counts where none was asked for.
  Start(const std::string& init, std::vector<std::string> warm_start, bool takes_metric);
  // Held against the model: names, sizes, and the numbers of chains.
  void apply(SampleOptions& options, const Model& model) const;

 private:
  void set_inits(SampleOptions& options, const Model& model) const;
  // Step size and mass matrix at the end of the warm-up of saved draws. Where the numbers of chains differ,
  // all chains get the mean.
  void set_warm_start(SampleOptions& options, const Model& model) const;

  std::optional<double> radius_;
  nlohmann::json inits_;  // where there is no radius
  std::vector<std::string> warm_start_;
  bool takes_metric_;
};

}  // namespace adit::cli
