/* Runs of the sampler on threads of their own, and their draws. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "door.h"

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static adit_run* started(const adit_model* model, size_t count, const adit_attribute* options) {
  adit_run* run;
  OK(adit_run_start(model, count, options, &run, &failure));
  return run;
}
static adit_draws* draws_of(const adit_run* run) {
  adit_draws* draws;
  OK(adit_run_draws(run, &draws, &failure));
  return draws;
}
/* More draws than anyone waits for. */
#define ENDLESS \
  text("device", device_id()), integer("warmup", 100), integer("draws", 50000), integer("thin", 20000)

void run_progress_case(void) {
  adit_model* const model = one_normal();
  adit_run* const run =
      started(model, ATTRIBUTES(text("device", device_id()), integer("warmup", 500), integer("draws", 2000)));
  adit_progress last = {0}, it = {0};
  do {
    adit_run_progress(run, &it);
    CHECK(it.iteration >= last.iteration && it.leapfrogs >= last.leapfrogs && it.seconds >= last.seconds);
    last = it;
    adit_run_wait(run, 0.005);
  } while (!it.finished);
  adit_run_progress(run, NULL);
  CHECK(it.iteration == 2500 && it.iterations == 2500 && it.warmup == 500 && it.leapfrogs > 0 &&
        it.seconds > 0);
  adit_draws *const draws = draws_of(run), *const again = draws_of(run);
  CHECK(draws != again && adit_draws_draws(draws) == 2000 && adit_draws_chains(draws) == 4);
  /* The run may go, and one handle of the draws: the other stays. */
  adit_run_free(run);
  adit_draws_free(draws);
  NEAR(mean_of(variable_of(again, "posterior", "x"), 0), 1.55, 0.05);
  adit_draws_free(again);
  adit_model_free(model);
}

/* Steps so small that a chain stays where it starts. */
#define AT_ITS_START \
  text("device", device_id()), integer("warmup", 0), integer("draws", 1), real("step_size", 1e-9)

void run_init_case(void) {
  adit_model* const model = one_normal();
  adit_run* run = started(model, ATTRIBUTES(AT_ITS_START, text("init", "{\"x\": 3.25}")));
  adit_run_wait(run, 60);
  adit_draws* draws = draws_of(run);
  NEAR(mean_of(variable_of(draws, "posterior", "x"), 0), 3.25, 1e-6);
  adit_draws_free(draws);
  adit_run_free(run);
  run = started(model, ATTRIBUTES(AT_ITS_START, integer("chains", 2),
                                  text("init", "[{\"x\": 1.0}, {\"x\": 4.0}]")));
  adit_run_wait(run, 60);
  draws = draws_of(run);
  NEAR(mean_of(variable_of(draws, "posterior", "x"), 0), 2.5, 1e-6);
  adit_draws_free(draws);
  adit_run_free(run);
  const char* const wrong[][2] = {{"{\"y\": 1}", "init: expected a variable of the model, got y"},
                                  {"{\"x\": [1, 2]}", "init: expected x of shape"},
                                  {"{\"x\": ", "init: expected JSON"},
                                  {"[]", "init: expected values, got an empty list"},
                                  {"[1]", "init: expected an object of values by variable"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
    FAILS(ADIT_BAD_ARGUMENT, wrong[i][1],
          adit_run_start(model, ATTRIBUTES(text("init", wrong[i][0])), &run, &failure));
  adit_model_free(model);
}

void run_stop_case(void) {
  adit_model* const model = one_normal();
  adit_run* const run = started(model, ATTRIBUTES(ENDLESS));
  adit_model_free(model); /* the run has its own */
  adit_progress it = {0};
  const double begun = now();
  while (it.iteration <= it.warmup && now() < begun + 60) {
    adit_run_wait(run, 0.01);
    adit_run_progress(run, &it);
  }
  CHECK(!it.finished);
  adit_draws* draws = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "under way", adit_run_draws(run, &draws, &failure));
  CHECK(draws == NULL);
  adit_run_stop(run);
  adit_run_stop(run);
  CHECK(adit_run_wait(run, 60));
  draws = draws_of(run);
  CHECK(!adit_draws_finished(draws) && adit_draws_draws(draws) < 50000);
  adit_draws_free(draws);
  adit_run_free(run);
}

void run_wait_case(void) {
  adit_model* const model = one_normal();
  adit_run* const run = started(model, ATTRIBUTES(ENDLESS));
  adit_model_free(model);
  CHECK(!adit_run_wait(run, 0));
  const double begun = now();
  CHECK(!adit_run_wait(run, 0.2));
  CHECK(now() - begun > 0.19 && now() - begun < 10);
  adit_run_stop(run);
  CHECK(adit_run_wait(run, -1) && adit_run_wait(run, 0) && adit_run_wait(run, NAN) &&
        adit_run_wait(run, INFINITY));
  adit_run_free(run);
}

void run_free_case(void) {
  adit_model* const model = one_normal();
  const double begun = now();
  for (int i = 0; i < 4; ++i) {
    adit_run* const run = started(model, ATTRIBUTES(ENDLESS));
    if (i > 0) adit_run_wait(run, 0.05 * i);
    adit_run_free(run); /* before, and while, it samples */
  }
  CHECK(now() - begun < 60);
  /* Two at once. */
  adit_run *const a = started(model, ATTRIBUTES(ENDLESS)), *const b = started(model, ATTRIBUTES(ENDLESS));
  adit_run_wait(a, 0.05);
  adit_run_free(a), adit_run_free(b);
  adit_model_free(model);
}

void run_errors_case(void) {
  if (!first_round()) return;
  adit_model* const model = one_normal();
  adit_run* run = NULL;
  /* Words that are known to be wrong at once. */
  FAILS(ADIT_BAD_ARGUMENT, "chians", adit_run_start(model, ATTRIBUTES(integer("chians", 4)), &run, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "chains: expected an integer",
        adit_run_start(model, ATTRIBUTES(text("chains", "4")), &run, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "metric: expected one of diagonal, dense, unit",
        adit_run_start(model, ATTRIBUTES(text("metric", "round")), &run, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "max_depth",
        adit_run_start(model, ATTRIBUTES(integer("max_depth", INT64_MAX)), &run, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "both",
        adit_run_start(model, ATTRIBUTES(integer("prior", 1), integer("fixed", 1)), &run, &failure));
  CHECK(run == NULL);
  /* Those of the run itself, which every later call tells again. */
  const adit_attribute wrong[] = {integer("chains", 0), integer("draws", -1), real("adapt_delta", 1.5),
                                  text("device", "abacus"), text("layout", "round table")};
  const adit_status status[] = {ADIT_BAD_ARGUMENT, ADIT_BAD_ARGUMENT, ADIT_BAD_ARGUMENT, ADIT_NOT_FOUND,
                                ADIT_BAD_ARGUMENT};
  for (size_t i = 0; i < COUNT(wrong); ++i) {
    run = NULL;
    const adit_status told = adit_run_start(model, 1, &wrong[i], &run, &failure);
    if (told != ADIT_OK) { /* at once is as good */
      FAILS(status[i], wrong[i].name, told);
      continue;
    }
    CHECK(adit_run_wait(run, 60));
    adit_draws* draws = NULL;
    for (int twice = 0; twice < 2; ++twice)
      FAILS(status[i], i == 3 ? "abacus" : wrong[i].name, adit_run_draws(run, &draws, &failure));
    CHECK(draws == NULL);
    adit_progress it;
    adit_run_progress(run, &it);
    CHECK(it.finished);
    adit_run_free(run);
  }
  /* A density that has no value anywhere. */
  adit_model* hopeless;
  adit_constraint* whole_line;
  adit_tensor* x;
  OK(adit_model_new("hopeless", &hopeless, &failure));
  OK(adit_constraint_new("real", NONE, &whole_line, &failure));
  OK(adit_model_parameter(hopeless, "x", whole_line, NONE, &x, &failure));
  OK(adit_model_add_log_density(hopeless, "nan", binary("multiply", keep(x), scalar_f64(NAN)), &failure));
  run = started(hopeless, NONE);
  CHECK(adit_run_wait(run, 60));
  adit_draws* draws = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "", adit_run_draws(run, &draws, &failure));
  CHECK(draws == NULL);
  adit_run_free(run);
  adit_constraint_free(whole_line);
  adit_model_free(hopeless), adit_model_free(model);
}

/* On a device of software the sampler of eight schools would take long to compile. */
static adit_model* model_for_device(void) { return on_cpu() ? eight_schools() : one_normal(); }

void layout_case(void) {
  adit_model* const model = model_for_device();
  const adit_attribute options[] = {text("device", device_id()), integer("chains", 4), integer("warmup", 100),
                                    integer("draws", 50)};
  adit_draws* const draws = sampled(model, COUNT(options), options);
  char* layout;
  OK(adit_model_layout(model, COUNT(options), options, &layout, &failure));
  if (strcmp(layout, adit_draws_text(draws, "layout")) != 0)
    WRONG("expected the layout %s, which a run had, got %s", adit_draws_text(draws, "layout"), layout);
  adit_text_free(layout);
  layout = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "chians",
        adit_model_layout(model, ATTRIBUTES(integer("chians", 4)), &layout, &failure));
  CHECK(layout == NULL);
  adit_draws_free(draws);
  adit_model_free(model);
}

/* --- Chains of one run on several
 * ------------------------------------------------------------------------------ */
static adit_draws* part_of(const adit_model* model, int64_t first, int64_t chains, const char* layout) {
  return sampled(model, ATTRIBUTES(text("device", device_id()), integer("chains", chains),
                                   integer("first_chain", first), text("layout", layout),
                                   integer("warmup", 150), integer("draws", 60), integer("seed", 11)));
}
static char* layout_of(const adit_model* model) {
  char* layout;
  OK(adit_model_layout(model,
                       ATTRIBUTES(text("device", device_id()), integer("chains", 4), integer("warmup", 150),
                                  integer("draws", 60), integer("seed", 11)),
                       &layout, &failure));
  return layout;
}
static void expect_chains(const adit_draws* whole, const adit_draws* part, size_t first, const char* group) {
  CHECK(adit_draws_variable_count(whole, group) == adit_draws_variable_count(part, group));
  for (size_t i = 0; i < adit_draws_variable_count(part, group); ++i) {
    const adit_variable *const all = adit_draws_variable(whole, group, i), *const some = adit_draws_variable(
                                                                               part, group, i);
    const size_t a_chain = some->count / (size_t)adit_draws_chains(part);
    CHECK(all->count == a_chain * (size_t)adit_draws_chains(whole));
    if (memcmp(all->values + first * a_chain, some->values, some->count * sizeof(double)) != 0)
      WRONG("%s: the chains from %zu on have other bits", some->name, first);
  }
}

void first_chain_case(void) {
  adit_model* const model = model_for_device();
  char* const layout = layout_of(model);
  adit_draws *const whole = part_of(model, 0, 4, layout), *const front = part_of(model, 0, 2, layout),
                    *const back = part_of(model, 2, 2, layout);
  CHECK(strcmp(adit_draws_text(whole, "layout"), layout) == 0);
  expect_chains(whole, front, 0, "posterior");
  expect_chains(whole, back, 2, "posterior");
  expect_chains(whole, back, 2, "sample_stats");
  adit_draws_free(whole), adit_draws_free(front), adit_draws_free(back);
  adit_text_free(layout);
  adit_model_free(model);
}

void draws_join_case(void) {
  if (!first_round()) return;
  adit_model* const model = eight_schools();
  char* const layout = layout_of(model);
  adit_draws *const whole = part_of(model, 0, 4, layout), *const front = part_of(model, 0, 3, layout),
                    *const back = part_of(model, 3, 1, layout), *joined = NULL;
  OK(adit_draws_join(2, (const adit_draws*[]){front, back}, &joined, &failure));
  CHECK(adit_draws_chains(joined) == 4 && adit_draws_draws(joined) == 60 && adit_draws_finished(joined));
  expect_chains(whole, joined, 0, "posterior");
  expect_chains(whole, joined, 0, "sample_stats");
  static const char* const names[] = {"step_sizes", "inverse_metrics", "divergences", "leapfrogs"};
  for (size_t i = 0; i < COUNT(names); ++i) {
    const double *a, *b;
    size_t m, n;
    OK(adit_draws_numbers(whole, names[i], &a, &m, &failure));
    OK(adit_draws_numbers(joined, names[i], &b, &n, &failure));
    if (m != n || memcmp(a, b, n * sizeof *a) != 0) WRONG("%s differ", names[i]);
  }
  adit_draws_free(joined);
  joined = NULL;
  /* A part that was stopped: all have as many draws as the shortest. */
  adit_draws* const shorter =
      sampled(model, ATTRIBUTES(integer("chains", 1), integer("first_chain", 3), text("layout", layout),
                                integer("warmup", 150), integer("draws", 40), integer("seed", 11)));
  OK(adit_draws_join(2, (const adit_draws*[]){front, shorter}, &joined, &failure));
  CHECK(adit_draws_draws(joined) == 40 && adit_draws_chains(joined) == 4);
  const adit_variable *const some = variable_of(joined, "posterior", "mu"), *const all = variable_of(
                                                                                whole, "posterior", "mu");
  for (size_t chain = 0; chain < 4; ++chain)
    CHECK(memcmp(some->values + 40 * chain, all->values + 60 * chain, 40 * sizeof(double)) == 0);
  adit_draws_free(joined);
  joined = NULL;
  adit_model* const other = one_normal();
  adit_draws* const strange =
      sampled(other, ATTRIBUTES(integer("warmup", 150), integer("draws", 60), integer("seed", 11)));
  FAILS(ADIT_BAD_ARGUMENT, "model",
        adit_draws_join(2, (const adit_draws*[]){front, strange}, &joined, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "parts", adit_draws_join(0, NULL, &joined, &failure));
  CHECK(joined == NULL);
  adit_draws_free(whole), adit_draws_free(front), adit_draws_free(back), adit_draws_free(shorter),
      adit_draws_free(strange);
  adit_text_free(layout);
  adit_model_free(model), adit_model_free(other);
}

/* --- Draws
 * ----------------------------------------------------------------------------------------------------- */
static adit_draws* full_draws(void) {
  adit_model* const model = eight_schools();
  adit_draws* const draws =
      sampled(model, ATTRIBUTES(text("device", device_id()), integer("chains", 2), integer("warmup", 200),
                                integer("draws", 100), integer("save_warmup", 1),
                                integer("log_likelihood", 1), integer("posterior_predictive", 1)));
  adit_model_free(model);
  return draws;
}

void draws_groups_case(void) {
  if (!first_round()) return;
  adit_draws* const draws = full_draws();
  CHECK(adit_draws_chains(draws) == 2 && adit_draws_draws(draws) == 100 && adit_draws_finished(draws));
  CHECK(adit_draws_variable_count(draws, "posterior") == 4);
  const adit_variable* it = variable_of(draws, "posterior", "theta");
  CHECK(it->rank == 1 && it->shape[0] == 8 && it->count == 2 * 100 * 8);
  /* theta is what mu, tau and z say, to the precision of the run. */
  const adit_variable *const mu = variable_of(draws, "posterior", "mu"),
                             *const tau = variable_of(draws, "posterior", "tau"),
                             *const z = variable_of(draws, "posterior", "z");
  const double tolerance = strcmp(adit_draws_text(draws, "precision"), "f64") == 0 ? 1e-12 : 1e-5;
  for (size_t i = 0; i < it->count; ++i)
    NEAR(it->values[i], mu->values[i / 8] + tau->values[i / 8] * z->values[i], tolerance);
  CHECK(adit_draws_variable_count(draws, "sample_stats") == 7);
  CHECK(variable_of(draws, "sample_stats", "lp__")->count == 200);
  it = variable_of(draws, "log_likelihood", "y");
  CHECK(it->count == 2 * 100 * 8);
  it = variable_of(draws, "posterior_predictive", "y");
  CHECK(it->count == 2 * 100 * 8 && it->values[0] != it->values[1]);
  it = variable_of(draws, "observed", "y");
  CHECK(it->rank == 1 && it->count == 8 && it->values[0] == 28);
  it = variable_of(draws, "warmup", "mu");
  CHECK(it->count == 2 * 200);
  CHECK(adit_draws_variable_count(draws, "weather") == 0 && adit_draws_variable_count(draws, NULL) == 0);
  CHECK(adit_draws_variable(draws, "posterior", 4) == NULL &&
        adit_draws_variable(draws, "weather", 0) == NULL);
  adit_draws_free(draws);

  /* From the prior, and without a sampler. */
  adit_model* const model = one_normal();
  adit_draws* const prior = sampled(model, ATTRIBUTES(integer("prior", 1), integer("draws", 2000)));
  NEAR(mean_of(variable_of(prior, "posterior", "x"), 0), 2, 0.15);
  CHECK(variable_of(prior, "posterior_predictive", "y")->count == 2000);
  adit_draws* const fixed =
      sampled(model, ATTRIBUTES(integer("fixed", 1), integer("draws", 10), integer("chains", 1)));
  it = variable_of(fixed, "posterior", "x");
  CHECK(it->count == 10 && it->values[0] == it->values[9]);
  adit_draws_free(prior), adit_draws_free(fixed);
  adit_model_free(model);
}

void draws_numbers_case(void) {
  if (!first_round()) return;
  adit_draws* const draws = full_draws();
  static const struct {
    const char* name;
    size_t count;
  } known[] = {{"step_sizes", 2},         {"inverse_metrics", 20}, {"seconds", 5},     {"divergences", 1},
               {"warmup_divergences", 1}, {"leapfrogs", 1},        {"energy_error", 1}};
  const double* numbers;
  size_t count;
  for (size_t i = 0; i < COUNT(known); ++i) {
    OK(adit_draws_numbers(draws, known[i].name, &numbers, &count, &failure));
    if (count != known[i].count) WRONG("%s: expected %zu, got %zu", known[i].name, known[i].count, count);
    for (size_t k = 0; k < count; ++k) CHECK(isfinite(numbers[k]) && numbers[k] >= 0);
  }
  FAILS(ADIT_NOT_FOUND, "step_sizes", adit_draws_numbers(draws, "steps", &numbers, &count, &failure));
  CHECK(strcmp(adit_draws_text(draws, "model"), "eight_schools") == 0);
  CHECK(strcmp(adit_draws_text(draws, "device"), "") != 0 &&
        strncmp(adit_draws_text(draws, "metric"), "diag", 4) == 0);
  CHECK(adit_draws_text(draws, "weather") == NULL && adit_draws_text(draws, NULL) == NULL);

  const adit_summary_row *rows, *again;
  OK(adit_draws_summary(draws, &rows, &count, &failure));
  CHECK(strcmp(rows[0].name, "lp__") == 0);
  bool found = false;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(rows[i].name, "mu") != 0) continue;
    found = true;
    NEAR(rows[i].mean, mean_of(variable_of(draws, "posterior", "mu"), 0), 1e-12);
    CHECK(rows[i].q5 < rows[i].q50 && rows[i].q50 < rows[i].q95 && rows[i].sd > 0 && rows[i].mad > 0 &&
          rows[i].mcse > 0);
    CHECK(rows[i].ess_bulk > 10 && rows[i].ess_tail > 10 && rows[i].r_hat > 0.9 && rows[i].r_hat < 1.2);
  }
  CHECK(found);
  OK(adit_draws_summary(draws, &again, &count, &failure));
  CHECK(again == rows);
  /* A hundred draws of two chains are too few, and it says so. */
  const char* const* warnings;
  OK(adit_draws_warnings(draws, &warnings, &count, &failure));
  CHECK(count > 0);
  for (size_t i = 0; i < count; ++i) CHECK(strlen(warnings[i]) > 10);
  adit_draws_free(draws);
}

void draws_files_case(void) {
  if (!first_round()) return;
  char folder[] = "door_c_XXXXXX", path[200], other[200];
  if (!mkdtemp(folder)) abort();
  adit_draws *const draws = full_draws(), *back;
  const adit_variable *const mu = variable_of(draws, "posterior", "mu"), *it;

  snprintf(path, sizeof path, "%s/draws", folder);
  OK(adit_draws_write_csv(draws, path, &failure));
  snprintf(path, sizeof path, "%s/draws_1.csv", folder);
  snprintf(other, sizeof other, "%s/draws_2.csv", folder);
  OK(adit_draws_read(2, (const char*[]){path, other}, &back, &failure));
  CHECK(adit_draws_chains(back) == 2 && adit_draws_draws(back) == 100);
  it = variable_of(back, "posterior", "mu");
  for (size_t i = 0; i < mu->count; ++i) NEAR(it->values[i], mu->values[i], 1e-12);
  adit_draws_free(back);
  remove(path), remove(other);

  struct stat info;
  snprintf(path, sizeof path, "%s/report.html", folder);
  OK(adit_draws_write_report(draws, path, &failure));
  CHECK(stat(path, &info) == 0 && info.st_size > 1000);
  remove(path);

  snprintf(path, sizeof path, "%s/draws.nc", folder);
  const adit_status told = adit_draws_write_netcdf(draws, path, &failure);
  if (told == ADIT_UNSUPPORTED) { /* a build without libnetcdf */
    adit_error_free(failure);
    failure = NULL;
  } else {
    OK(told);
    OK(adit_draws_read(1, (const char*[]){path}, &back, &failure));
    it = variable_of(back, "posterior", "mu");
    CHECK(it->count == mu->count && memcmp(it->values, mu->values, mu->count * sizeof(double)) == 0);
    adit_draws_free(back);
    remove(path);
  }

  back = NULL;
  snprintf(path, sizeof path, "%s/none.csv", folder);
  FAILS(ADIT_NOT_FOUND, "none.csv", adit_draws_read(1, (const char*[]){path}, &back, &failure));
  CHECK(back == NULL);
  snprintf(path, sizeof path, "%s/no/folder/report.html", folder);
  FAILS(ADIT_IO, "report.html", adit_draws_write_report(draws, path, &failure));
  rmdir(folder);
  adit_draws_free(draws);
}

void draws_bytes_case(void) {
  if (!first_round()) return;
  adit_draws *const draws = full_draws(), *back = NULL;
  char* bytes;
  size_t size;
  OK(adit_draws_to_bytes(draws, &bytes, &size, &failure));
  OK(adit_draws_from_bytes(bytes, size, &back, &failure));
  static const char* const groups[] = {"posterior", "sample_stats", "log_likelihood", "posterior_predictive",
                                       "observed",  "warmup"};
  for (size_t g = 0; g < COUNT(groups); ++g) {
    CHECK(adit_draws_variable_count(draws, groups[g]) == adit_draws_variable_count(back, groups[g]));
    for (size_t i = 0; i < adit_draws_variable_count(back, groups[g]); ++i) {
      const adit_variable *const a = adit_draws_variable(draws, groups[g], i), *const b = adit_draws_variable(
                                                                                   back, groups[g], i);
      CHECK(strcmp(a->name, b->name) == 0 && a->rank == b->rank && a->count == b->count);
      CHECK(a->count == 0 || memcmp(a->values, b->values, a->count * sizeof(double)) == 0);
      CHECK(a->rank == 0 || memcmp(a->shape, b->shape, a->rank * sizeof(int64_t)) == 0);
    }
  }
  static const char* const names[] = {"device", "precision", "layout", "model", "metric"};
  for (size_t i = 0; i < COUNT(names); ++i)
    CHECK(strcmp(adit_draws_text(draws, names[i]), adit_draws_text(back, names[i])) == 0);
  adit_draws_free(back);
  /* What is cut off, or was never ours, is refused; nothing crashes. */
  back = NULL;
  for (size_t length = 0; length < size; length += 1 + size / 40)
    FAILS(ADIT_IO, "bytes", adit_draws_from_bytes(bytes, length, &back, &failure));
  FAILS(ADIT_IO, "bytes", adit_draws_from_bytes("these are not draws at all", 26, &back, &failure));
  CHECK(back == NULL);
  adit_text_free(bytes);
  adit_draws_free(draws);
}
