// What went wrong in a chain, in words.
#pragma once

#include "nuts/layout.hpp"
#include "stats/model_state.hpp"

namespace adit::sampling {

// `chain`: its number in the run, over all data sets; `point`: where it was, unconstrained.
[[noreturn]] void throw_failure(Failure failure, const stats::ModelState& model,
                                const std::vector<double>& point, int64_t chain,
                                const SampleOptions& options);
// A term of the data alone is not finite.
[[noreturn]] void throw_bad_constant(const stats::ModelState& model);

// What a term's words are made of, and the words where a point has these values of it: " in `y ~ normal(mu,
// s)`, where n = 3, s = -1.5"; of one that rejects " at n = 3: too large".
Tensors word_graphs(const stats::ModelTerm& term);
std::string statement_words(const stats::ModelTerm& term, const std::vector<std::vector<double>>& values);

}  // namespace adit::sampling
