// Why a term of a model has no value at a point: a matrix that has no factor, a loop that does not end.
#pragma once

#include "stats/model_state.hpp"

namespace adit::sampling {

// Whether some graph of the terms could fail in such a way.
bool may_have_obstacles(const stats::ModelState& model);
// "a matrix of 3 x 3 is not positive definite; a while_loop went on after 1,024 rounds"; empty where nothing
// of the kind is in the way.
std::string obstacle_words(const stats::ModelState& model, const stats::ModelTerm& term, const Tensor& u);

}  // namespace adit::sampling
