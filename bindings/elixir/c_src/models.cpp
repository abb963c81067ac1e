#include "attributes.hpp"
#include "bodies.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

Term make_tensor(Call& call, adit_tensor* tensor) {
  return make_ok(call.env(), Resource<adit_tensor>::make(call.env(), tensor));
}

Term make_distribution(Call& call, adit_distribution* made) {
  return make_ok(call.env(), Resource<adit_distribution>::make(call.env(), made));
}

// [integer | the name of a plate]
std::vector<adit_extent> read_extents(Call& call, Term list) {
  std::vector<adit_extent> extents;
  for (const Term term : read_list(call, "extents", list)) {
    const std::string name = element("extents", extents.size());
    if (enif_is_binary(call.env(), term))
      extents.push_back({0, read_text(call, name, term)});
    else if (enif_term_type(call.env(), term) == ERL_NIF_TERM_TYPE_INTEGER)
      extents.push_back({read_integer(call, name, term), nullptr});
    else
      fail_expecting(call, name, "an integer or the name of a plate", term);
  }
  return extents;
}

}  // namespace

Term model_new(Call& call) {
  const char* name = read_text(call, "name", call[0]);
  adit_model* model = nullptr;
  call.deep_door([&](adit_error** error) { return adit_model_new(name, &model, error); });
  return make_ok(call.env(), Resource<adit_model>::make(call.env(), model));
}

Term model_from_stan(Call& call) {
  const char* name = read_text(call, "name", call[0]);
  const char* program = read_text(call, "program", call[1]);
  const char* data = read_text(call, "data_json", call[2]);
  const uint64_t seed = read_unsigned(call, "seed", call[3]);
  adit_model* model = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_model_from_stan(name, program, data, seed, &model, error); });
  return make_ok(call.env(), Resource<adit_model>::make(call.env(), model));
}

Term distribution(Call& call) {
  const char* name = read_name(call, "name", call[0]);
  const Handles<adit_tensor> parameters(call, "parameters", call[1]);
  const Attributes attributes(call, "attributes", call[2]);
  adit_distribution* made = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_distribution_new(name, parameters.size(), parameters.data(), attributes.size(),
                                 attributes.data(), &made, error);
  });
  return make_distribution(call, made);
}

Term distribution_mixture(Call& call) {
  const auto weights = read_handle<adit_tensor>(call, "weights", call[0]);
  const Handles<adit_distribution> components(call, "components", call[1]);
  adit_distribution* made = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_distribution_mixture(weights.get(), components.size(), components.data(), &made, error);
  });
  return make_distribution(call, made);
}

Term distribution_censored(Call& call) {
  const auto inner = read_handle<adit_distribution>(call, "inner", call[0]);
  const auto low = read_handle<adit_tensor>(call, "low", call[1]);
  const auto high = read_handle<adit_tensor>(call, "high", call[2]);
  adit_distribution* made = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_distribution_censored(inner.get(), low.get(), high.get(), &made, error);
  });
  return make_distribution(call, made);
}

Term distribution_log_density(Call& call) {
  const auto distribution = read_handle<adit_distribution>(call, "distribution", call[0]);
  const auto x = read_handle<adit_tensor>(call, "x", call[1]);
  adit_tensor* result = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_distribution_log_density(distribution.get(), x.get(), &result, error);
  });
  return make_tensor(call, result);
}

Term constraint(Call& call) {
  const char* name = read_name(call, "name", call[0]);
  const Handles<adit_tensor> parameters(call, "parameters", call[1]);
  adit_constraint* made = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_constraint_new(name, parameters.size(), parameters.data(), &made, error);
  });
  return make_ok(call.env(), Resource<adit_constraint>::make(call.env(), made));
}

Term model_plate(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const int64_t size = read_integer(call, "size", call[2]);
  const std::vector<const char*> coordinates = read_texts(call, "coordinates", call[3]);
  if (!coordinates.empty() && std::cmp_not_equal(coordinates.size(), size))
    call.fail("coordinates",
              "expected none or " + std::to_string(size) + ", got " + std::to_string(coordinates.size()));
  call.deep_door([&](adit_error** error) {
    return adit_model_plate(model.get(), name, size, coordinates.empty() ? nullptr : coordinates.data(),
                            error);
  });
  return atoms().ok;
}

Term model_sample(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto prior = read_handle<adit_distribution>(call, "distribution", call[2]);
  const std::vector<adit_extent> extents = read_extents(call, call[3]);
  const bool non_centred = read_truth(call, "non_centred", call[4]);
  adit_tensor* value = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_model_sample(model.get(), name, prior.get(), extents.size(), extents.data(), non_centred,
                             &value, error);
  });
  return make_tensor(call, value);
}

Term model_parameter(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto constraint = read_handle<adit_constraint>(call, "constraint", call[2]);
  const std::vector<adit_extent> extents = read_extents(call, call[3]);
  adit_tensor* value = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_model_parameter(model.get(), name, constraint.get(), extents.size(), extents.data(), &value,
                                error);
  });
  return make_tensor(call, value);
}

Term model_observe(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto likelihood = read_handle<adit_distribution>(call, "distribution", call[2]);
  const auto value = read_handle<adit_tensor>(call, "value", call[3]);
  call.deep_door([&](adit_error** error) {
    return adit_model_observe(model.get(), name, likelihood.get(), value.get(), error);
  });
  return atoms().ok;
}

Term model_deterministic(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto value = read_handle<adit_tensor>(call, "value", call[2]);
  const std::vector<adit_extent> extents = read_extents(call, call[3]);
  adit_tensor* result = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_model_deterministic(model.get(), name, value.get(), extents.size(), extents.data(), &result,
                                    error);
  });
  return make_tensor(call, result);
}

Term model_data(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto value = read_handle<adit_tensor>(call, "value", call[2]);
  adit_tensor* result = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_model_data(model.get(), name, value.get(), &result, error); });
  return make_tensor(call, result);
}

Term model_set_data(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto value = read_handle<adit_tensor>(call, "value", call[2]);
  call.deep_door(
      [&](adit_error** error) { return adit_model_set_data(model.get(), name, value.get(), error); });
  return atoms().ok;
}

Term model_add_log_density(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const char* name = read_text(call, "name", call[1]);
  const auto term = read_handle<adit_tensor>(call, "term", call[2]);
  call.deep_door(
      [&](adit_error** error) { return adit_model_add_log_density(model.get(), name, term.get(), error); });
  return atoms().ok;
}

Term model_size(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  int64_t size = 0;
  call.deep_door([&](adit_error** error) { return adit_model_size(model.get(), &size, error); });
  return make_ok(call.env(), enif_make_int64(call.env(), size));
}

Term model_log_density(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const auto u = read_handle<adit_tensor>(call, "u", call[1]);
  adit_tensor* result = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_model_log_density(model.get(), u.get(), &result, error); });
  return make_tensor(call, result);
}

}  // namespace adit::nif
