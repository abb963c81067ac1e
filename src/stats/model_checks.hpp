// What a model asks of names, shapes, tensors and observations.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stats/model_state.hpp"

namespace adit::stats {

// An identifier of letters, digits and underscores that nothing else in the model has. Names with "__" at
// their end are the sampler's.
void expect_name(const ModelState& state, std::string_view where, const std::string& name);
// A tensor of real numbers, made of this model's tensors and of known ones.
void expect_tensor(const ModelState& state, std::string_view where, std::string_view argument,
                   const Tensor& x);
// One number an event of `x`.
void expect_density(std::string_view where, const Distribution& distribution, const Tensor& density,
                    const Shape& x);

// Which of the model's placeholders a graph needs.
struct Needs {
  bool data = false;
  std::string variable;  // the first variable's name, or empty
};
Needs needs_of(const ModelState& state, const Tensor& x);

// NumPy's rule; nothing where the shapes do not fit.
std::optional<Shape> broadcast_shapes(const Shape& a, const Shape& b);
Shape end_to_end(const Shape& front, const Shape& back);
// `shape` without the last `count` axes.
Shape without_last(const Shape& shape, int count);

// What a default-constructed or moved-from one lacks.
void expect_distribution(std::string_view where, std::string_view argument, const Distribution& x);
void expect_constraint(std::string_view where, const Constraint& x);
void expect_shape(std::string_view where, std::string_view argument, const Tensor& x, const Shape& shape);
// The likelihood has to broadcast to the value's shape: the other way round would count values repeatedly.
void expect_observed(std::string_view where, const Distribution& likelihood, const Shape& value);
// Throws where a parameter that no variable goes into lies outside of its domain, with the data as they are.
void check_parameters(const ModelState& state, const ModelTerm& term);
// Throws where the data as they are now are not finite or outside of the support. A support that depends on
// variables of the model is not known yet, and passes.
void check_support(const ModelState& state, const ModelObservation& observation);
// Whether these checks look at these data.
bool checks_data(const ModelObservation& observation, const Tensor& placeholder);
bool checks_data(const ModelTerm& term, const Tensor& placeholder);

}  // namespace adit::stats
