// How well a model tells what it has not seen, by observed variable: LOO and WAIC as the commands print them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <adit/diagnostics.hpp>

namespace adit::cli {

struct Accuracy {
  std::string name;  // of the observed variable
  Loo loo;
  Waic waic;
  double worst_k = 0;
};
// Of every variable that the draws hold log likelihoods of.
std::vector<Accuracy> accuracy_of(const Draws& draws);
// A line for LOO and one for WAIC each.
std::string format_accuracy(const std::vector<Accuracy>& all);
nlohmann::ordered_json to_json(const std::vector<Accuracy>& all);

}  // namespace adit::cli
