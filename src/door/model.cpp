// Models, distributions and constraints.
#include <fmt/format.h>
#include <map>

#include <adit/stan.hpp>

#include "door/call.hpp"
#include "door/handles.hpp"
#include "stats/model_state.hpp"

using namespace adit;
using door::expect;
using door::guarded;

namespace adit::door {

namespace {

using MakeDistribution = std::function<Distribution(const Call&)>;
struct NamedDistribution {
  size_t parameters;
  MakeDistribution make;
};

// Of functions of one to four parameters.
NamedDistribution of(Distribution (*f)(Parameter)) {
  return {1, [f](const Call& c) { return f(c[0]); }};
}
NamedDistribution of(Distribution (*f)(Parameter, Parameter)) {
  return {2, [f](const Call& c) { return f(c[0], c[1]); }};
}
NamedDistribution of(Distribution (*f)(Parameter, Parameter, Parameter)) {
  return {3, [f](const Call& c) { return f(c[0], c[1], c[2]); }};
}
NamedDistribution of(Distribution (*f)(Parameter, Parameter, Parameter, Parameter)) {
  return {4, [f](const Call& c) { return f(c[0], c[1], c[2], c[3]); }};
}
NamedDistribution of(Distribution (*f)(const Tensor&)) {
  return {1, [f](const Call& c) { return f(c[0]); }};
}
NamedDistribution of(Distribution (*f)(const Tensor&, const Tensor&)) {
  return {2, [f](const Call& c) { return f(c[0], c[1]); }};
}

const std::map<std::string, NamedDistribution, std::less<>>& distributions() {
  static const auto& all = *new std::map<std::string, NamedDistribution, std::less<>>{
      {"normal", of(normal)},
      {"half_normal", of(half_normal)},
      {"lognormal", of(lognormal)},
      {"student_t", of(student_t)},
      {"cauchy", of(cauchy)},
      {"half_cauchy", of(half_cauchy)},
      {"exponential", of(exponential)},
      {"gamma", of(gamma)},
      {"inv_gamma", of(inv_gamma)},
      {"beta", of(beta)},
      {"uniform", of(uniform)},
      {"laplace", of(laplace)},
      {"logistic", of(logistic)},
      {"weibull", of(weibull)},
      {"truncated_normal", of(truncated_normal)},
      {"bernoulli", of(bernoulli)},
      {"bernoulli_logit", of(bernoulli_logit)},
      {"binomial", of(binomial)},
      {"binomial_logit", of(binomial_logit)},
      {"poisson", of(poisson)},
      {"poisson_log", of(poisson_log)},
      {"neg_binomial_2", of(neg_binomial_2)},
      {"categorical", of(categorical)},
      {"categorical_logit", of(categorical_logit)},
      {"dirichlet", of(dirichlet)},
      {"multi_normal", of(multi_normal)},
      {"multi_normal_cholesky", of(multi_normal_cholesky)},
      {"lkj_corr_cholesky", {1, [](const Call& c) { return lkj_corr_cholesky(c.integer("size"), c[0]); }}},
      {"gaussian_random_walk",
       {1, [](const Call& c) { return gaussian_random_walk(c[0], c.integer("steps")); }}},
  };
  return all;
}

using MakeConstraint = std::function<Constraint(const Call&)>;
struct NamedConstraint {
  size_t parameters;
  MakeConstraint make;
};
NamedConstraint plain(Constraint (*f)()) {
  return {0, [f](const Call&) { return f(); }};
}

const std::map<std::string, NamedConstraint, std::less<>>& constraints() {
  static const auto& all = *new std::map<std::string, NamedConstraint, std::less<>>{
      {"real", plain(constraint::real)},
      {"positive", plain(constraint::positive)},
      {"unit", plain(constraint::unit)},
      {"ordered", plain(constraint::ordered)},
      {"positive_ordered", plain(constraint::positive_ordered)},
      {"simplex", plain(constraint::simplex)},
      {"cholesky_factor_corr", plain(constraint::cholesky_factor_corr)},
      {"corr_matrix", plain(constraint::corr_matrix)},
      {"cov_matrix", plain(constraint::cov_matrix)},
      {"cholesky_factor_cov", plain(constraint::cholesky_factor_cov)},
      {"unit_vector", plain(constraint::unit_vector)},
      {"sum_to_zero", plain(constraint::sum_to_zero)},
      {"sum_to_zero_matrix", plain(constraint::sum_to_zero_matrix)},
      {"column_stochastic", plain(constraint::column_stochastic)},
      {"lower", {1, [](const Call& c) { return constraint::lower(c[0]); }}},
      {"upper", {1, [](const Call& c) { return constraint::upper(c[0]); }}},
      {"interval", {2, [](const Call& c) { return constraint::interval(c[0], c[1]); }}},
      {"offset_multiplier", {2, [](const Call& c) { return constraint::offset_multiplier(c[0], c[1]); }}},
  };
  return all;
}

template <class Map>
const auto& named(const char* what, const Map& all, const std::string& name, size_t count) {
  const auto it = all.find(name);
  if (it == all.end()) {
    std::string known;
    for (const auto& [other, entry] : all) known += fmt::format("{}{}", known.empty() ? "" : ", ", other);
    throw Error(ErrorKind::not_found,
                fmt::format("[{}] name: there is none named '{}'; there are {}", what, name, known));
  }
  if (it->second.parameters != count)
    fail(name, "parameters", fmt::format("expected {}, got {}", it->second.parameters, count));
  return it->second;
}

const Plate& plate_named(const char* function, const adit_model& model, const std::string& name) {
  const auto& plates = stats::state_of(model.model).plates;
  const auto it = plates.find(name);
  if (it == plates.end())
    fail(function, "extents", fmt::format("expected a plate of the model, got '{}'", name));
  return it->second;
}

std::vector<Extent> extents_of(const char* function, const adit_extent* extents, size_t rank,
                               const adit_model& model) {
  std::vector<Extent> list;
  for (const adit_extent& it : expect_list(function, "extents", extents, rank)) {
    if (it.plate)
      list.emplace_back(plate_named(function, model, it.plate));
    else
      list.emplace_back(it.size);
  }
  return list;
}

}  // namespace

}  // namespace adit::door

adit_status adit_model_new(const char* name, adit_model** model, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("model_new", "model", model);
    place = new adit_model{Model(&expect("model_new", "name", name)), {}};
  });
}

adit_status adit_model_from_stan(const char* name, const char* program, const char* data_json, uint64_t seed,
                                 adit_model** model, adit_error** error) {
  return adit_model_from_stan_in(0, nullptr, name, program, data_json, seed, model, error);
}

adit_status adit_model_from_stan_in(size_t folder_count, const char* const* folders, const char* name,
                                    const char* program, const char* data_json, uint64_t seed,
                                    adit_model** model, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_from_stan";
    auto& place = expect(f, "model", model);
    StanOptions options;
    for (const char* folder : door::expect_list(f, "folders", folders, folder_count))
      options.include_paths.emplace_back(&expect(f, "folder", folder));
    const StanProgram parsed =
        StanProgram::from_text(&expect(f, "name", name), &expect(f, "program", program), options);
    const std::string data = &expect(f, "data_json", data_json);
    place = new adit_model{parsed.bind_json(data.empty() ? "{}" : data, seed).model, {}};
  });
}
void adit_model_free(adit_model* model) { delete model; }

adit_status adit_distribution_new(const char* name, size_t count, const adit_tensor* const* parameters,
                                  size_t attribute_count, const adit_attribute* attributes,
                                  adit_distribution** distribution, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("distribution_new", "distribution", distribution);
    const std::string word = &expect("distribution_new", "name", name);
    const auto& entry = door::named("distribution_new", door::distributions(), word, count);
    const door::Call call(word, door::tensors_of(word, "parameters", parameters, count),
                          door::expect_list(word, "attributes", attributes, attribute_count));
    auto made = std::make_unique<adit_distribution>(adit_distribution{entry.make(call)});
    call.expect_all_used("size, steps");
    place = made.release();
  });
}

adit_status adit_distribution_mixture(const adit_tensor* weights, size_t count,
                                      const adit_distribution* const* components,
                                      adit_distribution** distribution, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "mixture";
    auto& place = expect(name, "distribution", distribution);
    std::vector<Distribution> list;
    for (const adit_distribution* it : door::expect_list(name, "components", components, count))
      list.push_back(expect(name, "component", it).distribution);
    place = new adit_distribution{mixture(expect(name, "weights", weights).tensor, std::move(list))};
  });
}

adit_status adit_distribution_censored(const adit_distribution* inner, const adit_tensor* low,
                                       const adit_tensor* high, adit_distribution** distribution,
                                       adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "censored";
    auto& place = expect(name, "distribution", distribution);
    place =
        new adit_distribution{censored(expect(name, "inner", inner).distribution,
                                       expect(name, "low", low).tensor, expect(name, "high", high).tensor)};
  });
}

adit_status adit_distribution_log_density(const adit_distribution* distribution, const adit_tensor* x,
                                          adit_tensor** result, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "distribution_log_density";
    auto& place = expect(name, "result", result);
    place = door::handle_of(
        expect(name, "distribution", distribution).distribution.log_density(expect(name, "x", x).tensor));
  });
}

adit_status adit_distribution_draw(const adit_distribution* distribution, const adit_tensor* key, size_t rank,
                                   const int64_t* shape, adit_tensor** result, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto name = "distribution_draw";
    const Distribution& from = expect(name, "distribution", distribution).distribution;
    if (!from.draw)
      throw Error(ErrorKind::unsupported, fmt::format("[{}] {} cannot be drawn from", name, from.name));
    auto& place = expect(name, "result", result);
    place = door::handle_of(
        from.draw(expect(name, "key", key).tensor, door::dims_of(name, "shape", shape, rank)));
  });
}
void adit_distribution_free(adit_distribution* distribution) { delete distribution; }

adit_status adit_constraint_new(const char* name, size_t count, const adit_tensor* const* parameters,
                                adit_constraint** constraint, adit_error** error) {
  return guarded(error, [&] {
    auto& place = expect("constraint_new", "constraint", constraint);
    const std::string word = &expect("constraint_new", "name", name);
    const auto& entry = door::named("constraint_new", door::constraints(), word, count);
    place = new adit_constraint{
        entry.make(door::Call(word, door::tensors_of(word, "parameters", parameters, count), {}))};
  });
}
void adit_constraint_free(adit_constraint* constraint) { delete constraint; }

adit_status adit_model_plate(adit_model* model, const char* name, int64_t size,
                             const char* const* coordinates, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_plate";
    adit_model& m = expect(f, "model", model);
    std::vector<std::string> labels;
    if (coordinates && size > 0)
      for (const char* const label : std::span(coordinates, static_cast<size_t>(size)))
        labels.emplace_back(&expect(f, "coordinate", label));
    const std::lock_guard lock(m.mutex);
    m.model.plate(&expect(f, "name", name), size, std::move(labels));
  });
}

adit_status adit_model_sample(adit_model* model, const char* name, const adit_distribution* prior,
                              size_t rank, const adit_extent* extents, int non_centred, adit_tensor** value,
                              adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_sample";
    adit_model& m = expect(f, "model", model);
    auto& place = expect(f, "value", value);
    const std::lock_guard lock(m.mutex);
    place = door::handle_of(m.model.sample(&expect(f, "name", name), expect(f, "prior", prior).distribution,
                                           door::extents_of(f, extents, rank, m),
                                           non_centred ? Form::non_centred : Form::centred));
  });
}

adit_status adit_model_parameter(adit_model* model, const char* name, const adit_constraint* constraint,
                                 size_t rank, const adit_extent* extents, adit_tensor** value,
                                 adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_parameter";
    adit_model& m = expect(f, "model", model);
    auto& place = expect(f, "value", value);
    const std::lock_guard lock(m.mutex);
    place = door::handle_of(m.model.parameter(&expect(f, "name", name),
                                              expect(f, "constraint", constraint).constraint,
                                              door::extents_of(f, extents, rank, m)));
  });
}

adit_status adit_model_observe(adit_model* model, const char* name, const adit_distribution* likelihood,
                               const adit_tensor* value, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_observe";
    adit_model& m = expect(f, "model", model);
    const std::lock_guard lock(m.mutex);
    m.model.observe(&expect(f, "name", name), expect(f, "likelihood", likelihood).distribution,
                    expect(f, "value", value).tensor);
  });
}

adit_status adit_model_deterministic(adit_model* model, const char* name, const adit_tensor* value,
                                     size_t rank, const adit_extent* extents, adit_tensor** result,
                                     adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_deterministic";
    adit_model& m = expect(f, "model", model);
    auto& place = expect(f, "result", result);
    const std::lock_guard lock(m.mutex);
    place = door::handle_of(m.model.deterministic(&expect(f, "name", name), expect(f, "value", value).tensor,
                                                  door::extents_of(f, extents, rank, m)));
  });
}

adit_status adit_model_data(adit_model* model, const char* name, const adit_tensor* value,
                            adit_tensor** result, adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_data";
    adit_model& m = expect(f, "model", model);
    auto& place = expect(f, "result", result);
    const std::lock_guard lock(m.mutex);
    place = door::handle_of(m.model.data(&expect(f, "name", name), expect(f, "value", value).tensor));
  });
}

adit_status adit_model_set_data(adit_model* model, const char* name, const adit_tensor* value,
                                adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_set_data";
    adit_model& m = expect(f, "model", model);
    const std::lock_guard lock(m.mutex);
    m.model.set_data(&expect(f, "name", name), expect(f, "value", value).tensor);
  });
}

adit_status adit_model_add_log_density(adit_model* model, const char* name, const adit_tensor* term,
                                       adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_add_log_density";
    adit_model& m = expect(f, "model", model);
    const std::lock_guard lock(m.mutex);
    m.model.add_log_density(&expect(f, "name", name), expect(f, "term", term).tensor);
  });
}

adit_status adit_model_size(const adit_model* model, int64_t* size, adit_error** error) {
  return guarded(error, [&] {
    const adit_model& m = expect("model_size", "model", model);
    const std::lock_guard lock(m.mutex);
    expect("model_size", "size", size) = m.model.size();
  });
}

adit_status adit_model_log_density(const adit_model* model, const adit_tensor* u, adit_tensor** result,
                                   adit_error** error) {
  return guarded(error, [&] {
    constexpr auto f = "model_log_density";
    const adit_model& m = expect(f, "model", model);
    auto& place = expect(f, "result", result);
    const std::lock_guard lock(m.mutex);
    place = door::handle_of(m.model.log_density(expect(f, "u", u).tensor));
  });
}
