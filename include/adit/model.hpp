// Models: variables with priors, observations, and what follows from them; together one log density.
//
//   Model schools("eight_schools");
//   auto school = schools.plate("school", 8);
//   Tensor mu    = schools.sample("mu", normal(0, 5));
//   Tensor tau   = schools.sample("tau", half_cauchy(5));
//   Tensor z     = schools.sample("z", normal(0, 1), {school});
//   Tensor theta = schools.deterministic("theta", mu + tau * z);
//   schools.observe("y", normal(theta, schools.data("sigma", sigma)), y);
//
// A model is written once in f64; samplers narrow it to their precision. Data, numbers and captured tensors
// are arguments of its kernels: new data of the same shapes compiles nothing.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <adit/distribution.hpp>

namespace adit::stats {
struct ModelState;
struct Inside;
}  // namespace adit::stats

#pragma GCC visibility push(default)
namespace adit {

// A named axis: draws carry its name and its coordinates.
struct Plate {
  std::string name;
  int64_t size = 0;
  std::vector<std::string> coordinates;  // empty: 0, 1, 2, ...
};
// An axis of a variable: a number, or a plate.
struct Extent {
  int64_t size = 0;
  std::string plate;  // empty: none
  Extent(int64_t extent) : size(extent) {}
  Extent(int extent) : size(extent) {}
  Extent(const Plate& from) : size(from.size), plate(from.name) {}
};

enum class Form : uint8_t { centred, non_centred };

class Model {
 public:
  explicit Model(std::string name = "model");

  Plate plate(const std::string& name, int64_t size, std::vector<std::string> coordinates = {});
  Plate plate(const std::string& name, const std::vector<std::string>& coordinates) {
    return plate(name, static_cast<int64_t>(coordinates.size()), coordinates);
  }
  // A variable; its constrained value. The shape is the extents followed by the distribution's batch where
  // that is not among them already, then its event; a batch that meets the extents only in part is refused.
  // Non-centred: the standard form is sampled as `name_raw`, and `name` is deterministic.
  Tensor sample(const std::string& name, const Distribution& prior, const std::vector<Extent>& extents = {},
                Form form = Form::centred);
  // A variable with a flat prior on the constrained scale.
  Tensor parameter(const std::string& name, const Constraint& constraint,
                   const std::vector<Extent>& extents = {});
  // Values that were seen; checked against the support. The likelihood broadcasts to the value's shape, never
  // the value to the likelihood's.
  void observe(const std::string& name, const Distribution& likelihood, const Tensor& value);
  // A value that is kept with the draws.
  Tensor deterministic(const std::string& name, const Tensor& value, const std::vector<Extent>& extents = {});
  // Data that may be exchanged by name. Floats become f64.
  Tensor data(const std::string& name, const Tensor& value);
  // A term of the log density; a tensor is summed.
  void add_log_density(const std::string& name, const Tensor& term);

  // Names the axes of a variable, of a deterministic value or of an observation that is there already, as of
  // one that a Stan program declared: draws carry the plates' names and coordinates. Axes of a number have
  // none.
  void name_axes(const std::string& name, const std::vector<Extent>& extents);

  // The same model with other data, of the same types and shapes.
  void set_data(const std::string& name, const Tensor& value);

  const std::string& name() const;
  int64_t size() const;  // unconstrained numbers
  struct Variable {
    std::string name;
    Shape shape;
  };
  std::vector<Variable> variables() const;  // what is sampled, in the order of its declaration

  // The log density (with Jacobians) at an unconstrained point u [size()], in u's type, by the tensor engine:
  // lazy, differentiable, and the reference for the kernels of the sampler.
  Tensor log_density(const Tensor& u) const;

 private:
  friend struct stats::Inside;
  stats::ModelState& state() const;  // throws where the model was moved away
  std::shared_ptr<stats::ModelState> state_;
};

}  // namespace adit
#pragma GCC visibility pop
