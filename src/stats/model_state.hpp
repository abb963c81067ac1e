// What a model is made of, as the sampler sees it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <adit/control.hpp>
#include <adit/model.hpp>

namespace adit::stats {

struct ModelVariable {
  std::string name;
  Tensor unconstrained;  // a placeholder, f64
  Tensor value;          // the constrained value, a graph of it (and of earlier ones)
  Tensor log_jacobian;   // a scalar
  Constraint constraint;
  Distribution prior;  // of no name where the prior is flat
  Shape shape;         // of the value
  std::vector<std::string> dims;
  int64_t offset = 0;  // in the flat vector of unconstrained numbers
  int64_t size = 0;    // unconstrained numbers
};
// A value that a statement of a program used, in its words; a text alone has no value.
struct TermWitness {
  std::string name;
  Tensor value{};
  bool by_event = false;  // it leads with an axis of the term's events
  bool is_round = false;  // the variable of a loop around the statement
};
struct ModelTerm {
  std::string name;
  Tensor total;                // a scalar
  Tensor pointwise;            // one number an event
  std::string stated{};        // "observe y"; what follows is empty where no distribution was
  std::string distribution{};  // its name
  std::vector<NamedParameter> parameters{};
  // Of a statement of a program: what is told where the term is not finite.
  std::vector<TermWitness> witnesses{};
  bool rejects = false;  // the statement is a reject(), and the witnesses are its words
};
struct ModelObservation {
  std::string name;
  Distribution likelihood;
  Tensor value;  // the placeholder of the data
  Shape shape;
  std::vector<std::string> dims;
  size_t term = 0;
};
struct ModelDeterministic {
  std::string name;
  Tensor value;
  Shape shape;
  std::vector<std::string> dims;
};
// What is computed of draws after a run: Stan's generated quantities.
struct ModelGenerated {
  std::string name;
  Tensor value;
  Shape shape;
};
struct ModelData {
  std::string name;
  Tensor placeholder;  // what the graph holds
  Tensor value;        // what it stands for now; on the host's default device
};

struct ModelState {
  std::string name;
  int64_t size = 0;
  std::vector<ModelVariable> variables;
  std::vector<ModelTerm> terms;  // priors, Jacobians, likelihoods, in the order they were stated
  std::vector<ModelObservation> observations;
  std::vector<ModelDeterministic> deterministics;
  std::vector<ModelGenerated> generated;
  std::vector<ModelTerm> checks;  // of generated values: a draw where one is not 0 ends the run
  Tensor generated_key;  // a placeholder, u32[2]: random numbers of a draw's generated values; may be none
  std::vector<ModelData> data;
  std::map<std::string, Plate> plates;
  bool wants_double = false;  // single precision is not tried where there is double, unless it is asked for
  // How the statements of a program became this, a line each, for people; empty where no program did.
  std::vector<std::string> lowering;
};

// The way to a model's state, which the public header does not show.
struct Inside {
  static ModelState& state(const Model& model) { return model.state(); }
};
inline ModelState& state_of(const Model& model) { return Inside::state(model); }

// Values of a graph of the model's placeholders at a point: unconstrained [size] (or nothing, where the graph
// does not need it), the data as they are now. With a leading axis of n points: results gain it.
Tensors at_point(const ModelState& state, const Tensors& results, const Tensor& u);
// The same of log densities: their loops end as the sampler's do (graph/bounded_loops.hpp).
Tensors density_at_point(const ModelState& state, const Tensors& results, const Tensor& u);
Tensors at_points(const ModelState& state, const Tensors& results, const Tensor& u);  // u [n, size]
// The same with values for placeholders that are not the model's; u may be empty where no result needs it.
struct PointInput {
  Tensor placeholder, value;
  bool is_batched = false;  // the value leads with the points, else it is the same for all
};
Tensors at_points(const ModelState& state, const Tensors& results, const Tensor& u,
                  const std::vector<PointInput>& inputs, int64_t points);

}  // namespace adit::stats
