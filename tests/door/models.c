/* Distributions, constraints and models. */
#include <math.h>
#include <string.h>

#include "door.h"

static const double root_of_two_pi = 2.50662827463100050;
static double normal_density(double x, double mu, double sigma) {
  const double z = (x - mu) / sigma;
  return -0.5 * z * z - log(sigma * root_of_two_pi);
}
static adit_tensor* density(const adit_distribution* d, const adit_tensor* x) {
  adit_tensor* result;
  OK(adit_distribution_log_density(d, x, &result, &failure));
  return keep(result);
}

/* Every name, with parameters that suit it, a point and the density there in closed form. */
typedef struct {
  const char* name;
  size_t count;
  double parameters[4], x, density;
} Known;

void distributions_case(void) {
  if (!first_round()) return;
  const Known known[] = {
      {"normal", 2, {1, 2}, 0.5, -1.6433357},
      {"half_normal", 1, {2}, 0.5, -0.9501886},
      {"lognormal", 2, {0, 1}, 2, -1.8523124},
      {"student_t", 3, {4, 0, 1}, 1, -1.5386881},
      {"cauchy", 2, {0, 1}, 1, -1.8378771},
      {"half_cauchy", 1, {1}, 1, -1.1447299},
      {"exponential", 1, {2}, 1, -1.3068528},
      {"gamma", 2, {2, 1}, 1, -1},
      {"inv_gamma", 2, {2, 1}, 1, -1},
      {"beta", 2, {2, 2}, 0.5, 0.4054651},
      {"uniform", 2, {0, 4}, 1, -1.3862944},
      {"laplace", 2, {0, 1}, 1, -1.6931472},
      {"logistic", 2, {0, 1}, 0, -1.3862944},
      {"weibull", 2, {2, 1}, 1, -0.3068528},
      {"truncated_normal", 4, {0, 1, -INFINITY, 0}, -1, -0.7257914},
      {"bernoulli", 1, {0.25}, 1, -1.3862944},
      {"bernoulli_logit", 1, {0}, 1, -0.6931472},
      {"binomial", 2, {4, 0.5}, 2, -0.9808293},
      {"binomial_logit", 2, {4, 0}, 2, -0.9808293},
      {"poisson", 1, {1}, 2, -1.6931472},
      {"poisson_log", 1, {0}, 2, -1.6931472},
      {"neg_binomial_2", 2, {1, 1}, 1, -1.3862944},
  };
  const adit_tensor* found[COUNT(known)];
  for (size_t i = 0; i < COUNT(known); ++i) {
    const adit_tensor* parameters[4];
    for (size_t k = 0; k < known[i].count; ++k) parameters[k] = scalar_f64(known[i].parameters[k]);
    found[i] = density(distribution(known[i].name, known[i].count, parameters), scalar_f64(known[i].x));
  }
  const double* const got = numbers_of(call("stack", COUNT(found), found, NONE)); /* compiled together */
  for (size_t i = 0; i < COUNT(known); ++i)
    if (fabs(got[i] - known[i].density) > 2e-6)
      WRONG("%s: expected %.9g, got %.9g", known[i].name, known[i].density, got[i]);
  /* Of vectors and matrices. */
  const double thirds[] = {0.5, 0.25, 0.25}, twos[] = {2, 2, 2}, simplex[] = {0.2, 0.3, 0.5}, zeros[3] = {0};
  const adit_tensor* const p = vector_f64(3, thirds);
  NEAR(number_of(density(distribution("categorical", TENSORS(p)), scalar_f64(2))), log(0.25), 1e-12);
  NEAR(number_of(density(distribution("categorical_logit", TENSORS(vector_f64(3, zeros))), scalar_f64(1))),
       -log(3), 1e-12);
  NEAR(number_of(density(distribution("dirichlet", TENSORS(vector_f64(3, twos))), vector_f64(3, simplex))),
       lgamma(6) + log(0.2 * 0.3 * 0.5), 1e-12);
  const double square[] = {2, 0, 0, 0.5}, point[] = {1, 1};
  const adit_tensor* const matrix_2 = tensor(ADIT_F64, 2, (int64_t[]){2, 2}, square);
  NEAR(number_of(density(distribution("multi_normal", TENSORS(vector_f64(2, zeros), matrix_2)),
                         vector_f64(2, point))),
       normal_density(1, 0, sqrt(2)) + normal_density(1, 0, sqrt(0.5)), 1e-12);
  NEAR(number_of(density(distribution("multi_normal_cholesky", TENSORS(vector_f64(2, zeros), matrix_2)),
                         vector_f64(2, point))),
       normal_density(1, 0, 2) + normal_density(1, 0, 0.5), 1e-12);
  adit_distribution *walk, *lkj, *mixed, *seen;
  OK(adit_distribution_new("gaussian_random_walk", TENSORS(scalar_f64(2)), ATTRIBUTES(integer("steps", 3)),
                           &walk, &failure));
  keep_distribution(walk);
  NEAR(number_of(density(walk, vector_f64(3, simplex))),
       normal_density(0.2, 0, 2) + normal_density(0.1, 0, 2) + normal_density(0.2, 0, 2), 1e-12);
  OK(adit_distribution_new("lkj_corr_cholesky", TENSORS(scalar_f64(1)), ATTRIBUTES(integer("size", 2)), &lkj,
                           &failure));
  keep_distribution(lkj);
  const double identity[] = {1, 0, 0, 1}; /* of two: a correlation that is uniform on (-1, 1) */
  NEAR(number_of(density(lkj, tensor(ADIT_F64, 2, (int64_t[]){2, 2}, identity))), -log(2), 1e-12);
  adit_distribution* none = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "steps",
        adit_distribution_new("gaussian_random_walk", TENSORS(scalar_f64(2)), NONE, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "size",
        adit_distribution_new("normal", TENSORS(scalar_f64(2), scalar_f64(2)), ATTRIBUTES(integer("size", 2)),
                              &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "[normal] sigma",
        adit_distribution_new("normal", TENSORS(scalar_f64(2), scalar_f64(-2)), NONE, &none, &failure));
  CHECK(none == NULL);

  /* Made of others. */
  const adit_distribution *const low = distribution("normal", TENSORS(scalar_f64(-1), scalar_f64(1))),
                                 *const high = distribution("normal", TENSORS(scalar_f64(2), scalar_f64(1)));
  const double weights[] = {0.25, 0.75};
  OK(adit_distribution_mixture(vector_f64(2, weights), 2, (const adit_distribution*[]){low, high}, &mixed,
                               &failure));
  keep_distribution(mixed);
  NEAR(number_of(density(mixed, scalar_f64(0))),
       log(0.25 * exp(normal_density(0, -1, 1)) + 0.75 * exp(normal_density(0, 2, 1))), 1e-12);
  OK(adit_distribution_censored(low, scalar_f64(-INFINITY), scalar_f64(0), &seen, &failure));
  keep_distribution(seen);
  NEAR(number_of(density(seen, scalar_f64(-0.5))), normal_density(-0.5, -1, 1), 1e-12);
  NEAR(number_of(density(seen, scalar_f64(0))), log(0.5 * erfc(sqrt(0.5))), 1e-12);

  /* Draws: the same key gives the same numbers, and their mean is that of the distribution. */
  const adit_tensor* const key = call("random_key", NONE, ATTRIBUTES(integer("seed", 5)));
  const int64_t shape[] = {4000};
  adit_tensor *first, *second;
  OK(adit_distribution_draw(high, key, 1, shape, &first, &failure));
  OK(adit_distribution_draw(high, key, 1, shape, &second, &failure));
  keep(first), keep(second);
  NEAR(number_of(call("mean", TENSORS(first), NONE)), 2, 0.08);
  EXPECT(call("sum", TENSORS(binary("not_equal", first, second)), NONE), 0, 0);
}

void constraints_case(void) {
  if (!first_round()) return;
  static const char* const plain[] = {"real",
                                      "positive",
                                      "unit",
                                      "ordered",
                                      "positive_ordered",
                                      "simplex",
                                      "cholesky_factor_corr",
                                      "corr_matrix",
                                      "cov_matrix",
                                      "cholesky_factor_cov",
                                      "unit_vector",
                                      "sum_to_zero",
                                      "sum_to_zero_matrix",
                                      "column_stochastic"};
  adit_constraint* c;
  for (size_t i = 0; i < COUNT(plain); ++i) {
    OK(adit_constraint_new(plain[i], NONE, &c, &failure));
    adit_constraint_free(c);
  }
  OK(adit_constraint_new("lower", TENSORS(scalar_f64(1)), &c, &failure));
  adit_constraint_free(c);
  OK(adit_constraint_new("upper", TENSORS(scalar_f64(1)), &c, &failure));
  adit_constraint_free(c);
  OK(adit_constraint_new("offset_multiplier", TENSORS(scalar_f64(1), scalar_f64(2)), &c, &failure));
  adit_constraint_free(c);
  /* x in (2, 5) with a flat prior: the density of u is that of the transform alone. */
  OK(adit_constraint_new("interval", TENSORS(scalar_f64(2), scalar_f64(5)), &c, &failure));
  adit_model* model;
  adit_tensor *x, *at_zero;
  OK(adit_model_new("flat", &model, &failure));
  OK(adit_model_parameter(model, "x", c, NONE, &x, &failure));
  adit_constraint_free(c);
  keep(x);
  const double zero = 0;
  OK(adit_model_log_density(model, vector_f64(1, &zero), &at_zero, &failure));
  NEAR(number_of(keep(at_zero)), log(3 * 0.25), 1e-12);
  adit_model_free(model);
}

/* Samplers are compiled for long on a device of software; there the smaller model of runs.c must do. */
void eight_schools_case(void) {
  if (!first_round()) return;
  adit_model* const model = eight_schools();
  int64_t size;
  OK(adit_model_size(model, &size, &failure));
  CHECK(size == 10);
  const double zeros[10] = {0};
  adit_tensor* at_zero;
  OK(adit_model_log_density(model, vector_f64(10, zeros), &at_zero, &failure));
  CHECK(isfinite(number_of(keep(at_zero))));
  /* The means of a long run: mu 4.4, tau 3.6 (docs and reference posteriors agree on them). */
  adit_draws* const draws = sampled(model, ATTRIBUTES(integer("chains", 8), integer("warmup", 500),
                                                      integer("draws", 1000), integer("seed", 3)));
  CHECK(adit_draws_finished(draws));
  NEAR(mean_of(variable_of(draws, "posterior", "mu"), 0), 4.4, 0.1);
  NEAR(mean_of(variable_of(draws, "posterior", "tau"), 0), 3.6, 0.12);
  const double theta[] = {6.2, 4.9, 3.9, 4.8, 3.6, 4.0, 6.3, 4.9};
  const adit_variable* const drawn = variable_of(draws, "posterior", "theta");
  CHECK(drawn->rank == 1 && drawn->shape[0] == 8);
  for (size_t i = 0; i < 8; ++i) NEAR(mean_of(drawn, i), theta[i], 0.1);
  const adit_summary_row* rows;
  size_t count;
  OK(adit_draws_summary(draws, &rows, &count, &failure));
  bool has_labels = false;
  for (size_t i = 0; i < count; ++i) {
    if (strcmp(rows[i].name, "theta[1]") == 0 || strcmp(rows[i].name, "theta[A]") == 0) has_labels = true;
    if (strchr(rows[i].name, '[')) CHECK(rows[i].r_hat < 1.02 && rows[i].ess_bulk > 400);
  }
  CHECK(has_labels);
  adit_draws_free(draws);
  adit_model_free(model);
}

void stan_program_case(void) {
  if (!first_round()) return;
  static const char* const program =
      "data { int<lower=0> N; array[N] int<lower=0, upper=1> y; }\n"
      "parameters { real<lower=0, upper=1> theta; }\n"
      "model { theta ~ beta(1, 1); y ~ bernoulli(theta); }\n"
      "generated quantities { real odds = theta / (1 - theta); }\n";
  static const char* const data = "{\"N\": 10, \"y\": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}";
  adit_model* model = NULL;
  OK(adit_model_from_stan("bernoulli", program, data, 1, &model, &failure));
  int64_t size;
  OK(adit_model_size(model, &size, &failure));
  CHECK(size == 1);
  adit_draws* const draws = sampled(model, ATTRIBUTES(integer("draws", 2000), integer("warmup", 300)));
  NEAR(mean_of(variable_of(draws, "posterior", "theta"), 0), 0.25, 0.02); /* beta(3, 9) */
  NEAR(mean_of(variable_of(draws, "posterior", "odds"), 0), 0.375, 0.04);
  adit_draws_free(draws);
  adit_model_free(model);

  static const char* const including = "#include nowhere.stan\nparameters { real x; } model { x ~ normal(0, 1); }";
  static const char* const folders[] = {"."};
  model = NULL;
  OK(adit_model_from_stan_in(1, folders, "m", program, data, 1, &model, &failure));
  adit_model_free(model);
  model = NULL;
  FAILS(ADIT_BAD_ARGUMENT, "nowhere.stan",
        adit_model_from_stan_in(1, folders, "m", including, "", 1, &model, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "nowhere.stan", adit_model_from_stan("m", including, "", 1, &model, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "bernoulli",
        adit_model_from_stan("bernoulli", "data { int N }", "", 1, &model, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "N", adit_model_from_stan("bernoulli", program, "", 1, &model, &failure));
  FAILS(ADIT_IO, "line 1", adit_model_from_stan("bernoulli", program, "{\"N\": ", 1, &model, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "y",
        adit_model_from_stan("bernoulli", program, "{\"N\": 1, \"y\": [2]}", 1, &model, &failure));
  CHECK(model == NULL);
}

/* -((x - 3) / 2)^2 / 2 is a normal distribution, by hand. */
void custom_log_density_case(void) {
  if (!first_round()) return;
  adit_model* model;
  adit_constraint* whole_line;
  adit_tensor* x;
  OK(adit_model_new("custom", &model, &failure));
  OK(adit_constraint_new("real", NONE, &whole_line, &failure));
  OK(adit_model_parameter(model, "x", whole_line, 1, &(adit_extent){2, NULL}, &x, &failure));
  adit_constraint_free(whole_line);
  keep(x);
  const adit_tensor* const z = binary("divide", binary("subtract", x, scalar_f64(3)), scalar_f64(2));
  OK(adit_model_add_log_density(model, "by_hand", binary("multiply", unary("square", z), scalar_f64(-0.5)),
                                &failure));
  const double at[] = {5, 1};
  adit_tensor* value;
  OK(adit_model_log_density(model, vector_f64(2, at), &value, &failure));
  EXPECT(keep(value), 1e-12, -1);
  adit_draws* const draws =
      sampled(model, ATTRIBUTES(integer("draws", 2000), integer("warmup", 300), integer("seed", 2)));
  const adit_variable* const drawn = variable_of(draws, "posterior", "x");
  NEAR(mean_of(drawn, 0), 3, 0.05);
  NEAR(mean_of(drawn, 1), 3, 0.05);
  double squares = 0;
  for (size_t i = 0; i < drawn->count; ++i) squares += (drawn->values[i] - 3) * (drawn->values[i] - 3);
  NEAR(squares / (double)drawn->count, 4, 0.08);
  adit_draws_free(draws);
  adit_model_free(model);
}

/* New data in the same model; a run that is under way keeps its own. */
void model_data_case(void) {
  if (!first_round()) return;
  adit_model* model;
  adit_tensor *x, *seen;
  OK(adit_model_new("data", &model, &failure));
  OK(adit_model_sample(model, "x", distribution("normal", TENSORS(scalar_f64(0), scalar_f64(100))), NONE, 0,
                       &x, &failure));
  OK(adit_model_data(model, "seen", scalar_f64(10), &seen, &failure));
  keep(x), keep(seen);
  OK(adit_model_observe(model, "y", distribution("normal", TENSORS(x, scalar_f64(1))), seen, &failure));
  const adit_attribute options[] = {integer("warmup", 300), integer("draws", 500)};
  adit_run* first;
  OK(adit_run_start(model, 2, options, &first, &failure));
  OK(adit_model_set_data(model, "seen", scalar_f64(-10), &failure));
  adit_draws *const after = sampled(model, 2, options), *before;
  adit_run_wait(first, -1);
  OK(adit_run_draws(first, &before, &failure));
  adit_run_free(first);
  NEAR(mean_of(variable_of(before, "posterior", "x"), 0), 10, 0.02);
  NEAR(mean_of(variable_of(after, "posterior", "x"), 0), -10, 0.02);
  FAILS(ADIT_NOT_FOUND, "nobody", adit_model_set_data(model, "nobody", scalar_f64(1), &failure));
  const double two[] = {1, 2};
  FAILS(ADIT_BAD_ARGUMENT, "seen", adit_model_set_data(model, "seen", vector_f64(2, two), &failure));
  adit_draws_free(before), adit_draws_free(after);
  adit_model_free(model);
}

void model_errors_case(void) {
  if (!first_round()) return;
  adit_model* model;
  adit_tensor *x, *none = NULL;
  const adit_distribution* const d = distribution("normal", TENSORS(scalar_f64(0), scalar_f64(1)));
  OK(adit_model_new("errors", &model, &failure));
  OK(adit_model_plate(model, "p", 2, NULL, &failure));
  OK(adit_model_sample(model, "x", d, 1, &(adit_extent){0, "p"}, 1, &x, &failure));
  keep(x);
  CHECK(adit_tensor_rank(x) == 1 && adit_tensor_shape(x)[0] == 2);
  FAILS(ADIT_BAD_ARGUMENT, "'q'",
        adit_model_sample(model, "y", d, 1, &(adit_extent){0, "q"}, 0, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "x", adit_model_sample(model, "x", d, NONE, 0, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "",
        adit_model_sample(model, "z", d, 1, &(adit_extent){-2, NULL}, 0, &none, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_model_plate(model, "p", 3, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "", adit_model_plate(model, "r", -3, NULL, &failure));
  FAILS(ADIT_BAD_ARGUMENT, "",
        adit_model_observe(model, "w", distribution("poisson", TENSORS(scalar_f64(1))), scalar_f64(-1),
                           &failure));
  const double one = 1;
  FAILS(ADIT_BAD_ARGUMENT, "u", adit_model_log_density(model, vector_f64(1, &one), &none, &failure));
  CHECK(none == NULL);
  adit_model_free(model);
}
