// Draws as ArviZ lays them out: a group for each kind, dimensions chain, draw and then those of one draw.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <set>

#include "posterior/files/netcdf.hpp"
#include "posterior/files/netcdf_handle.hpp"
#include "posterior/precision.hpp"

namespace adit::netcdf {
namespace {

// One group: its dimensions, with a coordinate variable each, and its variables.
class WrittenGroup {
 public:
  WrittenGroup(const Place& place, int file, const char* name, const Draws& draws,
               std::set<std::string> taken)
      : place_(place), draws_(draws), name_(name), taken_(std::move(taken)) {
    check(place_, nc_def_grp(file, name, &id_), name_);
  }
  int id() const { return id_; }
  int dimension(const std::string& name, int64_t length);
  // A variable with (chain, draw) before its own axes, or with those alone.
  void draws_variable(const DrawsVariable& variable);
  void observed(const ObservedVariable& variable);
  void variable(const std::string& name, nc_type type, const std::vector<int>& dims, const double* values);
  void mark_boolean(const std::string& name);
  std::vector<int> chain_draw() {
    return {dimension("chain", draws_.chains), dimension("draw", draws_.draws)};
  }

 private:
  void axes(std::vector<int>& to, const std::string& name, const Shape& shape,
            const std::vector<std::string>& dims);
  void coordinate(const std::string& name, int dim, int64_t length);
  void strings(const std::string& name, int dim, const std::vector<std::string>& words);
  void compress(int variable, const std::vector<int>& dims);

  const Place& place_;
  const Draws& draws_;
  std::string name_;
  int id_ = -1;
  std::set<std::string> taken_;  // names of variables, which no dimension may have
  std::map<std::string, std::pair<int, int64_t>> dims_;
};

int WrittenGroup::dimension(const std::string& name, int64_t length) {
  if (const auto at = dims_.find(name); at != dims_.end()) return at->second.first;
  int dim = -1;
  // A length of 0 means unlimited to libnetcdf, with nothing in it so far: what is wanted.
  check(place_, nc_def_dim(id_, name.c_str(), static_cast<size_t>(length), &dim), name_ + "/" + name);
  dims_[name] = {dim, length};
  coordinate(name, dim, length);
  return dim;
}

void WrittenGroup::strings(const std::string& name, int dim, const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  int id = -1;
  check(place_, nc_def_var(id_, name.c_str(), NC_STRING, 1, &dim, &id), name);
  if (!pointers.empty()) check(place_, nc_put_var_string(id_, id, pointers.data()), name);
}

void WrittenGroup::coordinate(const std::string& name, int dim, int64_t length) {
  if (const auto at = draws_.coordinates.find(name); at != draws_.coordinates.end()) {
    if (std::ssize(at->second) != length)
      throw Error(ErrorKind::bad_argument, fmt::format("[{}] coordinates of {}: expected {}, got {}",
                                                       place_.function, name, length, at->second.size()));
    return strings(name, dim, at->second);
  }
  std::vector<long long> numbers(static_cast<size_t>(length));
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] = static_cast<long long>(i);
  int id = -1;
  check(place_, nc_def_var(id_, name.c_str(), NC_INT64, 1, &dim, &id), name);
  if (length > 0) check(place_, nc_put_var_longlong(id_, id, numbers.data()), name);
}

// A plate's name where xarray can have it (of one length in the group, once in a variable, no variable's
// name); else <variable>_dim_<axis>, as ArviZ calls what has no name.
void WrittenGroup::axes(std::vector<int>& to, const std::string& name, const Shape& shape,
                        const std::vector<std::string>& dims) {
  std::set<std::string> used{"chain", "draw", ""};
  for (int axis = 0; axis < shape.size(); axis++) {
    std::string dim = static_cast<size_t>(axis) < dims.size() ? dims[static_cast<size_t>(axis)] : "";
    const auto known = dims_.find(dim);
    const bool other_length = known != dims_.end() && known->second.second != shape[axis];
    if (used.contains(dim) || taken_.contains(dim) || other_length)
      dim = fmt::format("{}_dim_{}", name, axis);
    used.insert(dim);
    to.push_back(dimension(dim, shape[axis]));
  }
}

// Draws in f32 have zeros in half of their bytes; those in f64 are not worth the time.
void WrittenGroup::compress(int variable, const std::vector<int>& dims) {
  if (is_single(draws_.precision) && !dims.empty())
    check(place_, nc_def_var_deflate(id_, variable, 1, 1, 1), name_);
}

void WrittenGroup::variable(const std::string& name, nc_type type, const std::vector<int>& dims,
                            const double* values) {
  int id = -1;
  const std::string what = name_ + "/" + name;
  check(place_, nc_def_var(id_, name.c_str(), type, static_cast<int>(dims.size()), dims.data(), &id), what);
  if (values == nullptr) return;
  compress(id, dims);
  check(place_, nc_put_var_double(id_, id, values), what);
}

void WrittenGroup::draws_variable(const DrawsVariable& variable_) {
  std::vector<int> dims = chain_draw();
  axes(dims, variable_.name, variable_.shape, variable_.dims);
  variable(variable_.name, NC_DOUBLE, dims, variable_.values.empty() ? nullptr : variable_.values.data());
}

void WrittenGroup::observed(const ObservedVariable& variable_) {
  std::vector<int> dims;
  axes(dims, variable_.name, variable_.shape, variable_.dims);
  variable(variable_.name, NC_DOUBLE, dims, variable_.values.empty() ? nullptr : variable_.values.data());
}

// As xarray writes booleans.
void WrittenGroup::mark_boolean(const std::string& name) {
  int id = -1;
  check(place_, nc_inq_varid(id_, name.c_str(), &id), name);
  check(place_, nc_put_att_text(id_, id, "dtype", 4, "bool"), name);
}

class Attributes {
 public:
  Attributes(const Place& place, int id) : place_(place), id_(id) {}
  void add(const char* name, const std::string& text) {
    check(place_, nc_put_att_text(id_, NC_GLOBAL, name, text.size(), text.data()), name);
  }
  void add(const char* name, double number) {
    check(place_, nc_put_att_double(id_, NC_GLOBAL, name, NC_DOUBLE, 1, &number), name);
  }
  void add(const char* name, int64_t number) {
    const long long wide = number;
    check(place_, nc_put_att_longlong(id_, NC_GLOBAL, name, NC_INT64, 1, &wide), name);
  }
  void add(const char* name, uint64_t number) {
    const unsigned long long wide = number;
    check(place_, nc_put_att_ulonglong(id_, NC_GLOBAL, name, NC_UINT64, 1, &wide), name);
  }

 private:
  const Place& place_;
  int id_;
};

void add_attributes(const Place& place, int id, const Draws& draws) {
  Attributes to(place, id);
  to.add("model", draws.model);
  to.add("created_by", std::string("adit ") + ADIT_VERSION);
  to.add("inference_library", std::string("adit"));
  to.add("inference_library_version", std::string(ADIT_VERSION));
  to.add("sampling_time", draws.seconds.sampling);
  to.add("tuning_steps", draws.warmup);
  to.add("seed", draws.seed);
  to.add("thin", draws.thin);
  to.add("max_depth", draws.max_depth);
  to.add("adapt_delta", draws.adapt_delta);
  to.add("device", draws.device);
  to.add("precision", draws.precision);
  to.add("layout", draws.layout);
  to.add("metric", draws.metric);
  to.add("inits", draws.inits);
  to.add("open_time", draws.seconds.open);
  to.add("compile_time", draws.seconds.compile);
  to.add("warmup_time", draws.seconds.warmup);
  to.add("total_time", draws.seconds.total);
  to.add("leapfrogs", draws.leapfrogs);
  to.add("warmup_divergences", draws.warmup_divergences);
  to.add("energy_error", draws.energy_error);
  to.add("gradient_error", draws.gradient_error);
  if (!std::isnan(draws.energy_error_before)) to.add("energy_error_before", draws.energy_error_before);
  if (!std::isnan(draws.gradient_error_before)) to.add("gradient_error_before", draws.gradient_error_before);
  to.add("wider", draws.wider);
  for (size_t i = 0; i < draws.notes.size(); ++i)
    to.add(fmt::format("note_{}", i + 1).c_str(), draws.notes[i]);
  to.add("finished", int64_t{draws.finished});
}

template <class Variable>
std::set<std::string> names_of(const std::vector<Variable>& variables) {
  std::set<std::string> names;
  for (const Variable& variable : variables) names.insert(variable.name);
  return names;
}

void write_group(const Place& place, int file, const char* name, const Draws& draws,
                 const std::vector<DrawsVariable>& variables) {
  if (variables.empty()) return;
  WrittenGroup group(place, file, name, draws, names_of(variables));
  for (const DrawsVariable& variable : variables) group.draws_variable(variable);
  add_attributes(place, group.id(), draws);
}

// Where the chains' adaptation ended, for a warm start; beside the draws, in the names of no ArviZ variable.
void write_adaptation(WrittenGroup& group, const Draws& draws) {
  const int chain = group.dimension("chain", draws.chains);
  if (!draws.step_sizes.empty())
    group.variable("adapted_step_size", NC_DOUBLE, {chain}, draws.step_sizes.data());
  if (draws.inverse_metrics.empty() || draws.inverse_metrics.front().empty()) return;
  std::vector<double> all;
  for (const auto& metric : draws.inverse_metrics) all.insert(all.end(), metric.begin(), metric.end());
  const int64_t count = std::ssize(draws.inverse_metrics.front());
  std::vector<int> dims{chain};
  if (draws.metric == "dense") {
    const int64_t side = std::llround(std::sqrt(static_cast<double>(count)));
    if (side * side != count)
      throw Error(
          ErrorKind::bad_argument,
          fmt::format("[write_netcdf] inverse_metrics: expected a square number of values, got {}", count));
    dims.push_back(group.dimension("unconstrained", side));
    dims.push_back(group.dimension("unconstrained_column", side));
  } else {
    dims.push_back(group.dimension("unconstrained", count));
  }
  group.variable("inverse_metric", NC_DOUBLE, dims, all.data());
}

void write_stats(const Place& place, int file, const char* name_of_group, const Draws& draws) {
  bool any = !draws.step_sizes.empty() || !draws.inverse_metrics.empty();
  for (const StatName& stat : stat_names()) any |= !(draws.stats.*stat.member).empty();
  if (!any) return;
  WrittenGroup group(place, file, name_of_group, draws, {});
  for (const StatName& stat : stat_names()) {
    const std::vector<double>& values = draws.stats.*stat.member;
    const std::string name = stat.names.front();
    const bool whole = name == "tree_depth" || name == "n_steps", boolean = name == "diverging";
    if (values.empty()) continue;
    group.variable(name, boolean ? NC_BYTE : whole ? NC_INT64 : NC_DOUBLE, group.chain_draw(), values.data());
    if (boolean) group.mark_boolean(name);
  }
  write_adaptation(group, draws);
  add_attributes(place, group.id(), draws);
}

// In groups of their own, as ArviZ has them.
void write_warmup(const Place& place, int file, const Draws& draws) {
  if (draws.warmup_draws == 0) return;
  Draws warmup = draws;
  warmup.draws = draws.warmup_draws;
  warmup.stats = draws.warmup_stats;
  warmup.step_sizes.clear();
  warmup.inverse_metrics.clear();
  write_group(place, file, "warmup_posterior", warmup, draws.warmup_variables);
  write_stats(place, file, "warmup_sample_stats", warmup);
}

void write_observed(const Place& place, int file, const Draws& draws) {
  if (draws.observed.empty()) return;
  WrittenGroup group(place, file, "observed_data", draws, names_of(draws.observed));
  for (const ObservedVariable& variable : draws.observed) group.observed(variable);
}

uint64_t bytes_of(const Draws& draws) {
  uint64_t count = 0;
  for (const auto* variables : {&draws.variables, &draws.log_likelihood, &draws.posterior_predictive})
    for (const DrawsVariable& variable : *variables) count += variable.values.size();
  return (count + static_cast<uint64_t>(7 * draws.chains * draws.draws)) * sizeof(double) +
         (uint64_t{1} << 16);
}

}  // namespace

Bytes encode(const Place& place, const Draws& draws) {
  const auto alone = hold_library();
  Handle file;
  check(place, nc_create_mem("draws", NC_NETCDF4, bytes_of(draws), file.place_for_id()), "a file in memory");
  add_attributes(place, file.id(), draws);
  write_group(place, file.id(), "posterior", draws, draws.variables);
  write_stats(place, file.id(), "sample_stats", draws);
  write_warmup(place, file.id(), draws);
  write_observed(place, file.id(), draws);
  write_group(place, file.id(), "log_likelihood", draws, draws.log_likelihood);
  write_group(place, file.id(), "posterior_predictive", draws, draws.posterior_predictive);
  NC_memio memory{};
  check(place, nc_close_memio(file.release(), &memory), "the file in memory");
  const std::unique_ptr<void, decltype(&std::free)> owner(memory.memory, &std::free);
  const auto* first = static_cast<const std::byte*>(memory.memory);
  return {first, first + memory.size};
}

}  // namespace adit::netcdf
