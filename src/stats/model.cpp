#include <fmt/format.h>

#include <adit/model.hpp>

#include "graph/row.hpp"
#include "stats/formula.hpp"
#include "stats/model_checks.hpp"

namespace adit {

using graph::fail;
using namespace stats;

namespace {

struct Axis {
  Shape shape;
  std::vector<std::string> dims;
};

Axis axes_of(const ModelState& state, std::string_view where, const std::vector<Extent>& extents) {
  Axis axes;
  for (const Extent& extent : extents) {
    if (extent.size < 1)
      fail(where, "extents", fmt::format("expected numbers of at least 1, got {}", extent.size));
    const auto plate = state.plates.find(extent.plate);
    if (!extent.plate.empty() && (plate == state.plates.end() || plate->second.size != extent.size))
      fail(where, "extents",
           fmt::format("expected plates of this model, got \"{}\" of {}", extent.plate, extent.size));
    axes.shape.push_back(extent.size);
    axes.dims.push_back(extent.plate);
  }
  return axes;
}

// The plate of an axis that nobody named: the only one of that size.
std::string plate_of(const ModelState& state, int64_t size) {
  std::string found;
  for (const auto& [name, plate] : state.plates) {
    if (plate.size != size) continue;
    if (!found.empty()) return "";
    found = name;
  }
  return found;
}

std::vector<std::string> dims_of(const ModelState& state, const Shape& batch, const Shape& event) {
  std::vector<std::string> dims;
  for (const int64_t extent : batch) dims.push_back(plate_of(state, extent));
  dims.resize(dims.size() + static_cast<size_t>(event.size()));
  return dims;
}

Axis axes_of(const ModelState& state, std::string_view where, const Distribution& prior,
             const std::vector<Extent>& extents) {
  Axis axes = axes_of(state, where, extents);
  const auto both = broadcast_shapes(axes.shape, prior.batch);
  const bool among = both == axes.shape;
  // What meets the extents only in part might be meant in two ways, and one of them has too many numbers.
  if (both && !among && element_count(axes.shape) > 1 && element_count(prior.batch) > 1)
    fail(where, "extents",
         fmt::format("expected those of the parameters of {}, {}, or other ones, which lead them, got {}",
                     prior.name, to_string(prior.batch), to_string(axes.shape)));
  const Shape batch = among ? Shape{} : prior.batch;
  for (std::string& name : dims_of(state, batch, prior.event)) axes.dims.push_back(std::move(name));
  axes.shape = end_to_end(end_to_end(axes.shape, batch), prior.event);
  return axes;
}

// How far a model was stated: what stays if a check throws.
class Mark {
 public:
  explicit Mark(ModelState& state)
      : state_(state),
        variables_(state.variables.size()),
        terms_(state.terms.size()),
        data_(state.data.size()),
        size_(state.size) {}
  ~Mark() {
    if (kept_) return;
    cut(state_.variables, variables_);
    cut(state_.terms, terms_);
    cut(state_.data, data_);
    state_.size = size_;
  }
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
  void keep() { kept_ = true; }

 private:
  template <class T>
  static void cut(std::vector<T>& list, size_t size) {
    list.erase(list.begin() + static_cast<int64_t>(size), list.end());
  }
  ModelState& state_;
  size_t variables_, terms_, data_;
  int64_t size_;
  bool kept_ = false;
};

// Adds a variable without a prior, and the term of its Jacobian.
ModelVariable& add_variable(ModelState& state, std::string_view where, const std::string& name,
                            const Constraint& constraint, const Axis& axes) {
  expect_constraint(where, constraint);
  if (constraint.discrete)
    fail(where, "prior", "expected a continuous one, got one of whole numbers, which cannot be sampled");
  const Shape free = constraint.unconstrained_shape(axes.shape);
  ModelVariable variable{.name = name,
                         .unconstrained = graph::placeholder(DType::f64, free),
                         .value = {},
                         .log_jacobian = {},
                         .constraint = constraint,
                         .prior = {},
                         .shape = axes.shape,
                         .dims = axes.dims,
                         .offset = state.size,
                         .size = element_count(free)};
  const Constrained x = constraint.constrain(variable.unconstrained, axes.shape);
  expect_shape(where, constraint.name, x.value, axes.shape);
  variable.value = x.value;
  variable.log_jacobian = x.log_jacobian;
  state.size += variable.size;
  state.variables.push_back(std::move(variable));
  return state.variables.back();
}

void add_jacobian(ModelState& state, const ModelVariable& variable) {
  const graph::Literal* known = graph::constant_value(variable.log_jacobian);
  if (known && known->real == 0) return;
  state.terms.push_back({variable.name + " (jacobian)", variable.log_jacobian, variable.log_jacobian});
}

// A distribution's term, once what is known of its parameters was checked.
void add_term(ModelState& state, std::string_view where, const std::string& name,
              const Distribution& distribution, const Tensor& density) {
  state.terms.push_back(
      {name, sum(density), density, std::string(where), distribution.name, distribution.parameters});
  check_parameters(state, state.terms.back());
}

Tensor add_sampled(ModelState& state, std::string_view where, const std::string& name,
                   const Distribution& prior, const Axis& axes) {
  if (prior.support.discrete)
    fail(where, "prior", fmt::format("expected a continuous distribution, got {}", prior.name));
  Mark mark(state);
  ModelVariable& variable = add_variable(state, where, name, prior.support, axes);
  variable.prior = prior;
  const Tensor density = prior.log_density(variable.value);
  expect_density(where, prior, density, axes.shape);
  expect_tensor(state, where, "prior", density);
  expect_tensor(state, where, "prior", variable.value);
  add_term(state, where, name, prior, density);
  add_jacobian(state, variable);
  mark.keep();
  return variable.value;
}

// The value as a model keeps it: computed, on the default device.
Tensor kept(const Tensor& value, DType type) {
  const Tensor x = as_type(value, type);
  const auto device = default_device();
  return (x.device() && x.device() != device ? to_device(x, device) : x).eval();
}

void expect_known(const ModelState& state, std::string_view where, const Tensor& value) {
  expect_tensor(state, where, "value", value);
  const Needs needs = needs_of(state, value);
  if (needs.data || !needs.variable.empty())
    fail(where, "value",
         "expected known numbers, got what follows from the model's " +
             (needs.variable.empty() ? "data" : needs.variable));
}

}  // namespace

Model::Model(std::string name) : state_(std::make_shared<ModelState>()) { state_->name = std::move(name); }

ModelState& Model::state() const {
  if (!state_) fail("model", "state", "expected a model, got one that was moved away");
  return *state_;
}
const std::string& Model::name() const { return state().name; }
int64_t Model::size() const { return state().size; }
std::vector<Model::Variable> Model::variables() const {
  std::vector<Variable> all;
  for (const ModelVariable& variable : state().variables) all.push_back({variable.name, variable.shape});
  return all;
}

Plate Model::plate(const std::string& name, int64_t size, std::vector<std::string> coordinates) {
  const std::string where = "plate " + name;
  expect_name(state(), where, name);
  if (size < 1) fail(where, "size", fmt::format("expected at least 1, got {}", size));
  if (!coordinates.empty() && static_cast<int64_t>(coordinates.size()) != size)
    fail(where, "coordinates", fmt::format("expected {} or none, got {}", size, coordinates.size()));
  return state().plates[name] = {name, size, std::move(coordinates)};
}

Tensor Model::sample(const std::string& name, const Distribution& prior, const std::vector<Extent>& extents,
                     Form form) {
  const std::string where = "sample " + name;
  expect_name(state(), where, name);
  expect_distribution(where, "prior", prior);
  const Axis axes = axes_of(state(), where, prior, extents);
  if (form == Form::centred) return add_sampled(state(), where, name, prior, axes);
  if (!prior.standard || !prior.location || !prior.scale)
    fail(where, "form",
         fmt::format("expected a distribution with a location and a scale for the non-centred form, got {}",
                     prior.name));
  expect_name(state(), where, name + "_raw");
  expect_tensor(state(), where, "prior", prior.location);
  expect_tensor(state(), where, "prior", prior.scale);
  check_parameters(state(), {name, {}, {}, where, prior.name, prior.parameters});
  const Tensor raw = add_sampled(state(), where, name + "_raw", prior.standard(), axes);
  const Tensor value = prior.location + prior.scale * raw;
  state().deterministics.push_back({name, value, axes.shape, axes.dims});
  return value;
}

Tensor Model::parameter(const std::string& name, const Constraint& constraint,
                        const std::vector<Extent>& extents) {
  const std::string where = "parameter " + name;
  expect_name(state(), where, name);
  Mark mark(state());
  const auto axes = axes_of(state(), where, extents);
  const ModelVariable& variable = add_variable(state(), where, name, constraint, axes);
  expect_tensor(state(), where, "constraint", variable.value);
  add_jacobian(state(), variable);
  mark.keep();
  return variable.value;
}

void Model::observe(const std::string& name, const Distribution& likelihood, const Tensor& value) {
  const std::string where = "observe " + name;
  ModelState& state = stats::state_of(*this);
  expect_distribution(where, "likelihood", likelihood);
  const auto own = [&](const ModelData& d) {
    return d.name == name && value && graph::pointer_of(d.placeholder) == graph::pointer_of(value);
  };
  bool named = false;  // data of this name may be observed under it
  for (const ModelData& d : state.data) named = named || own(d);
  for (const ModelObservation& o : state.observations) named = named && o.name != name;
  if (!named) expect_name(state, where, name);
  expect_tensor(state, where, "value", value);
  const Needs needs = needs_of(state, value);
  if (!needs.variable.empty())
    fail(where, "value", fmt::format("expected data, got what follows from {}", needs.variable));
  const Shape& shape = value.shape();
  expect_observed(where, likelihood, shape);
  Mark mark(state);
  Tensor seen = as_type(value, DType::f64);
  if (!needs.data) {
    state.data.push_back({name, graph::placeholder(DType::f64, shape), kept(seen, DType::f64)});
    seen = state.data.back().placeholder;
  }
  ModelObservation observation{name,
                               likelihood,
                               seen,
                               shape,
                               dims_of(state, without_last(shape, likelihood.event.size()), likelihood.event),
                               state.terms.size()};
  const Tensor density = likelihood.log_density(seen);
  expect_density(where, likelihood, density, shape);
  expect_tensor(state, where, "likelihood", density);
  add_term(state, where, name, likelihood, density);
  check_support(state, observation);
  state.observations.push_back(std::move(observation));
  mark.keep();
}

Tensor Model::deterministic(const std::string& name, const Tensor& value,
                            const std::vector<Extent>& extents) {
  const std::string where = "deterministic " + name;
  expect_name(state(), where, name);
  expect_tensor(state(), where, "value", value);
  Axis axes = axes_of(state(), where, extents);
  if (extents.empty()) axes = {value.shape(), dims_of(state(), value.shape(), {})};
  if (broadcast_shapes(value.shape(), axes.shape) != axes.shape)
    fail(where, "value",
         fmt::format("expected shape {} (or one that broadcasts), got {}", to_string(axes.shape),
                     to_string(value.shape())));
  const Tensor kept_value = broadcast_to(as_type(value, DType::f64), axes.shape);
  state().deterministics.push_back({name, kept_value, axes.shape, axes.dims});
  return kept_value;
}

Tensor Model::data(const std::string& name, const Tensor& value) {
  const std::string where = "data " + name;
  expect_name(state(), where, name);
  expect_known(state(), where, value);
  const DType type = is_float(value.dtype()) ? DType::f64 : value.dtype();
  state().data.push_back({name, graph::placeholder(type, value.shape()), kept(value, type)});
  return state().data.back().placeholder;
}

void Model::add_log_density(const std::string& name, const Tensor& term) {
  const std::string where = "add_log_density " + name;
  expect_name(state(), where, name);
  expect_tensor(state(), where, "term", term);
  const Tensor wide = as_type(term, DType::f64);
  state().terms.push_back({name, sum(wide), wide});
}

void Model::name_axes(const std::string& name, const std::vector<Extent>& extents) {
  const std::string where = "name_axes " + name;
  const Axis axes = axes_of(state(), where, extents);
  bool found = false;
  const auto set = [&](auto& list) {
    for (auto& one : list) {
      if (one.name != name) continue;
      found = true;
      if (one.shape != axes.shape)
        fail(where, "extents",
             fmt::format("expected those of {}, {}, got {}", name, to_string(one.shape),
                         to_string(axes.shape)));
      one.dims = axes.dims;
    }
  };
  set(state().variables);
  set(state().deterministics);
  set(state().observations);
  if (!found)
    fail(where, "name", "expected a variable, a deterministic value or an observation, got none of them");
}

void Model::set_data(const std::string& name, const Tensor& value) {
  const std::string where = "set_data " + name;
  ModelData* data = nullptr;
  std::string names;
  for (ModelData& d : state().data) {
    if (d.name == name) data = &d;
    names += (names.empty() ? "" : ", ") + d.name;
  }
  if (!data)
    throw Error(ErrorKind::not_found,
                fmt::format("[{}] name: expected one of {}, got \"{}\"", where, names, name));
  expect_known(state(), where, value);
  const DType type = data->placeholder.dtype();
  if (type != DType::f64 && value.dtype() != type)
    fail(where, "value", fmt::format("expected {}, got {}", name_of(type), name_of(value.dtype())));
  if (!(value.shape() == data->placeholder.shape()))
    fail(where, "value",
         fmt::format("expected shape {}, got {}", to_string(data->placeholder.shape()),
                     to_string(value.shape())));
  const Tensor before = data->value;
  data->value = kept(value, type);
  try {
    for (const ModelTerm& term : state().terms)
      if (checks_data(term, data->placeholder)) check_parameters(state(), term);
    for (const ModelObservation& observation : state().observations)
      if (checks_data(observation, data->placeholder)) check_support(state(), observation);
  } catch (...) {
    data->value = before;
    throw;
  }
}

Tensor Model::log_density(const Tensor& u) const {
  Tensor total = stats::real(0);
  for (size_t i = 0; i < state().terms.size(); ++i)
    total = i == 0 ? state().terms[0].total : total + state().terms[i].total;
  if (!u) fail("log_density", "u", "expected a point, got none");
  return density_at_point(state(), {total}, u)[0];
}

}  // namespace adit
