// Parameters of distributions that left their domains, as a scale that went below 0, and matrices and loops
// that have no result: said by name.
#pragma once

#include <adit/draws.hpp>
#include <adit/sample.hpp>

#include "stats/model_state.hpp"

namespace adit::sampling {

// Those of a term at a point u: "sigma of normal: expected a positive number, got -0.2"; empty where none.
std::string outside_words(const stats::ModelState& model, const stats::ModelTerm& term, const Tensor& u);
// Those, and what else is in the way (obstacles.hpp).
std::string reason_words(const stats::ModelState& model, const stats::ModelTerm& term, const Tensor& u);

// Looks at some of the divergent transitions: what their trajectories met goes to draws.notes. `points`:
// [chain][draw][size], unconstrained; `first_chain`: the first one's number in the run.
void note_outside(const stats::ModelState& model, const std::vector<double>& points, int64_t first_chain,
                  const SampleOptions& options, DType type, Draws& draws);

}  // namespace adit::sampling
