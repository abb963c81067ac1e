// What distributions share: checks of parameters, shapes, and the frame around the formulas.
//
//   Distribution exponential(Parameter rate) {
//     const NamedParameter r = stats::positive("exponential", "rate", rate);
//     return stats::make_distribution("exponential", {r}, constraint::positive(), {
//         .log_density = [=](const Tensor& x) { ... },
//         .draw = [=](const Tensor& key, const Shape& shape) { ... },
//         .mean = [=] { return reciprocal(r); },
//         .variance = ...});
//   }
//
// Parameters whose values are known while a graph is built are checked then; a model checks the others.
#pragma once

#include <initializer_list>
#include <string_view>
#include <vector>

#include <adit/distribution.hpp>
#include <adit/random.hpp>

#include "stats/formula.hpp"

namespace adit::stats {

// --- Parameters --------------------------------------------------------------------------------------------
// Whether x is that number, written by a caller.
bool is_literal(const Tensor& x, double value);

// The parameter; throws `[where] argument: expected ..., got ...` where its value is known and lies outside.
NamedParameter finite(std::string_view where, std::string_view argument, const Parameter& x);
NamedParameter positive(std::string_view where, std::string_view argument, const Parameter& x);
NamedParameter not_negative(std::string_view where, std::string_view argument, const Parameter& x);
NamedParameter not_nan(std::string_view where, std::string_view argument, const Parameter& x);
NamedParameter probability(std::string_view where, std::string_view argument, const Parameter& x);  // 0 to 1
NamedParameter count(std::string_view where, std::string_view argument, const Parameter& x);  // 0, 1, 2, ...
// Of any domain.
NamedParameter checked(std::string_view where, std::string_view argument, const Tensor& x,
                       const Domain& domain);
// high - low, which has to be positive.
NamedParameter width(std::string_view where, const Tensor& low, const Tensor& high);
// `density`, and -infinity where the parameter is not inside: for formulas that stay finite out there. Adds
// nothing where the form of the parameter keeps it inside.
Tensor only_where(const NamedParameter& parameter, const Tensor& inside, const Tensor& density);

// --- The frame ---------------------------------------------------------------------------------------------
struct Named {
  std::string name;
  Shape shape;
};
// The functions of a distribution as formulas; those that are missing stay empty.
struct Formulas {
  std::function<Tensor(const Tensor& x)> log_density = {};
  std::function<Tensor(const Tensor& key, const Shape& shape)> draw = {};
  std::function<Tensor()> mean = {}, variance = {};
  std::function<Tensor(const Tensor&x)> log_cdf = {}, log_survival = {};
};

// The shape that the parameters broadcast to together; throws where that is larger than each of them.
Shape batch_of(std::string_view where, const std::vector<Named>& shapes);
Shape joined(const Shape& batch, const Shape& event);  // batch, then event
// A distribution with the formulas in a frame: x becomes f64, and has to end with the event and to meet the
// batch; a shape of draws has to end with batch and event; mean and variance gain the shape batch + event.
Distribution make_distribution(std::string name, const Shape& batch, const Shape& event,
                               std::vector<NamedParameter> parameters, Constraint support, Formulas formulas);
// Of numbers: the batch is that of the parameters.
Distribution make_distribution(std::string name, std::vector<NamedParameter> parameters, Constraint support,
                               Formulas formulas);

// --- Draws in f64 ------------------------------------------------------------------------------------------
Tensor draw_uniform(const Tensor& key, const Shape& shape);                     // [0, 1)
Tensor draw_open_uniform(const Tensor& key, const Shape& shape);                // (0, 1), symmetric
Tensor draw_normal(const Tensor& key, const Shape& shape);                      // standard
Tensor draw_exponential(const Tensor& key, const Shape& shape);                 // rate 1
Tensor draw_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape);  // shape alpha, scale 1
// The logarithm of such a draw, which stays finite where the draw itself would underflow.
Tensor draw_log_gamma(const Tensor& key, const Tensor& alpha, const Shape& shape);

}  // namespace adit::stats
