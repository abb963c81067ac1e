#include <algorithm>
#include <cstring>

#include "attributes.hpp"
#include "bodies.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

// A process that waits is looked at so often: it may have been killed, and others wait for the scheduler.
constexpr int64_t most_milliseconds = 100;

Term make_draws(Call& call, adit_draws* draws) {
  return make_ok(call.env(), Resource<adit_draws>::make(call.env(), draws));
}

Term make_list(ErlNifEnv* env, const std::vector<Term>& terms) {
  return enif_make_list_from_array(env, terms.data(), static_cast<unsigned>(terms.size()));
}

Term make_doubles(Call& call, const double* numbers, size_t count) {
  NewBinary binary(call, count * sizeof(double));
  if (count) std::memcpy(binary.data(), numbers, count * sizeof(double));
  return binary.term();
}

Term write_draws(Call& call, const char* argument,
                 adit_status (*write)(const adit_draws*, const char*, adit_error**)) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  const char* path = read_text(call, argument, call[1]);
  call.deep_door([&](adit_error** error) { return write(draws.get(), path, error); });
  return atoms().ok;
}

// Goes on waiting; its argument is {run, milliseconds left}.
Term wait_on(Call& call);

Term wait_at_most(Call& call, Term run, int64_t milliseconds) {
  ErlNifEnv* const env = call.env();
  const auto held = read_handle<adit_run>(call, "run", run);
  const int64_t slice = std::min(milliseconds, most_milliseconds);
  const bool has_ended =
      adit_run_wait(held.get(), call.may_block() ? static_cast<double>(slice) * 1e-3 : 0.0) != 0;
  if (has_ended || milliseconds == 0) return make_ok(env, make_truth(has_ended));
  const int64_t left = call.may_block() ? milliseconds - slice : milliseconds;
  return call.go_on(Where::waiting, &entry<"run_wait", wait_on>,
                    enif_make_tuple2(env, run, enif_make_int64(env, left)));
}

Term wait_on(Call& call) {
  const Term* pair = nullptr;
  int arity = 0;
  enif_get_tuple(call.env(), call[0], &arity, &pair);
  return wait_at_most(call, pair[0], read_integer(call, "milliseconds", pair[1]));
}

}  // namespace

Term run_start(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const Attributes options(call, "options", call[1]);
  adit_run* run = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_run_start(model.get(), options.size(), options.data(), &run, error);
  });
  return make_ok(call.env(), Resource<adit_run>::make(call.env(), run));
}

Term model_layout(Call& call) {
  const auto model = read_handle<adit_model>(call, "model", call[0]);
  const Attributes options(call, "options", call[1]);
  char* layout = nullptr;
  call.deep_door([&](adit_error** error) {
    return adit_model_layout(model.get(), options.size(), options.data(), &layout, error);
  });
  const Term text = make_text(call.env(), layout);
  adit_text_free(layout);
  return make_ok(call.env(), text);
}

Term run_progress(Call& call) {
  const auto run = read_handle<adit_run>(call, "run", call[0]);
  adit_progress now{};
  adit_run_progress(run.get(), &now);
  ErlNifEnv* const env = call.env();
  return make_ok(env, make_map(env, {{"iteration", enif_make_int64(env, now.iteration)},
                                     {"iterations", enif_make_int64(env, now.iterations)},
                                     {"warmup", enif_make_int64(env, now.warmup)},
                                     {"leapfrogs", enif_make_uint64(env, now.leapfrogs)},
                                     {"divergences", enif_make_uint64(env, now.divergences)},
                                     {"seconds", make_number(env, now.seconds)},
                                     {"finished", make_truth(now.finished != 0)}}));
}

Term run_stop(Call& call) {
  const auto run = read_handle<adit_run>(call, "run", call[0]);
  adit_run_stop(run.get());
  return atoms().ok;
}

Term run_wait(Call& call) {
  read_handle<adit_run>(call, "run", call[0]);
  if (enif_is_identical(call[1], atoms().infinity)) return wait_at_most(call, call[0], INT64_MAX);
  const int64_t milliseconds = read_integer(call, "milliseconds", call[1]);
  if (milliseconds < 0) call.fail("milliseconds", "expected at least 0, got " + std::to_string(milliseconds));
  return wait_at_most(call, call[0], milliseconds);
}

Term run_draws(Call& call) {
  const auto run = read_handle<adit_run>(call, "run", call[0]);
  adit_draws* draws = nullptr;
  call.deep_door([&](adit_error** error) { return adit_run_draws(run.get(), &draws, error); });
  return make_draws(call, draws);
}

Term draws_read(Call& call) {
  const std::vector<const char*> paths = read_texts(call, "paths", call[0]);
  adit_draws* draws = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_draws_read(paths.size(), paths.data(), &draws, error); });
  return make_draws(call, draws);
}

Term draws_info(Call& call) {
  const auto held = read_handle<adit_draws>(call, "draws", call[0]);
  const adit_draws* const draws = held.get();
  ErlNifEnv* const env = call.env();
  const auto text = [&](const char* name) { return make_text(env, adit_draws_text(draws, name)); };
  return make_ok(env, make_map(env, {{"chains", enif_make_int64(env, adit_draws_chains(draws))},
                                     {"draws", enif_make_int64(env, adit_draws_draws(draws))},
                                     {"finished", make_truth(adit_draws_finished(draws) != 0)},
                                     {"model", text("model")},
                                     {"device", text("device")},
                                     {"precision", text("precision")},
                                     {"layout", text("layout")}}));
}

Term draws_variables(Call& call) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  const char* group = read_text(call, "group", call[1]);
  std::vector<Term> list;
  const size_t count = adit_draws_variable_count(draws.get(), group);
  for (size_t i = 0; i < count; ++i) {
    const adit_variable* variable = adit_draws_variable(draws.get(), group, i);
    if (!variable) break;
    list.push_back(enif_make_tuple3(call.env(), make_text(call.env(), variable->name),
                                    make_integers(call.env(), {variable->shape, variable->rank}),
                                    make_doubles(call, variable->values, variable->count)));
  }
  return make_ok(call.env(), make_list(call.env(), list));
}

Term draws_summary(Call& call) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  const adit_summary_row* rows = nullptr;
  size_t count = 0;
  call.deep_door([&](adit_error** error) { return adit_draws_summary(draws.get(), &rows, &count, error); });
  ErlNifEnv* const env = call.env();
  std::vector<Term> list;
  for (size_t i = 0; i < count; ++i) {
    const adit_summary_row& row = rows[i];
    list.push_back(make_map(env, {{"name", make_text(env, row.name)},
                                  {"mean", make_number(env, row.mean)},
                                  {"mcse", make_number(env, row.mcse)},
                                  {"sd", make_number(env, row.sd)},
                                  {"mad", make_number(env, row.mad)},
                                  {"q5", make_number(env, row.q5)},
                                  {"q50", make_number(env, row.q50)},
                                  {"q95", make_number(env, row.q95)},
                                  {"ess_bulk", make_number(env, row.ess_bulk)},
                                  {"ess_tail", make_number(env, row.ess_tail)},
                                  {"r_hat", make_number(env, row.r_hat)}}));
  }
  return make_ok(env, make_list(env, list));
}

Term draws_warnings(Call& call) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  const char* const* warnings = nullptr;
  size_t count = 0;
  call.deep_door(
      [&](adit_error** error) { return adit_draws_warnings(draws.get(), &warnings, &count, error); });
  std::vector<Term> list;
  for (size_t i = 0; i < count; ++i) list.push_back(make_text(call.env(), warnings[i]));
  return make_ok(call.env(), make_list(call.env(), list));
}

Term draws_numbers(Call& call) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  const char* name = read_name(call, "name", call[1]);
  const double* numbers = nullptr;
  size_t count = 0;
  call.deep_door(
      [&](adit_error** error) { return adit_draws_numbers(draws.get(), name, &numbers, &count, error); });
  return make_ok(call.env(), make_doubles(call, numbers, count));
}

Term draws_write_report(Call& call) { return write_draws(call, "path", &adit_draws_write_report); }
Term draws_write_csv(Call& call) { return write_draws(call, "stem", &adit_draws_write_csv); }
Term draws_write_netcdf(Call& call) { return write_draws(call, "path", &adit_draws_write_netcdf); }

}  // namespace adit::nif
