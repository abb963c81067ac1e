// What Stan throws: transformed data and generated quantities end with an error that has line and column,
// names the value and the bound; in a density the point is rejected, on every device.
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <adit/error.hpp>
#include <adit/sample.hpp>

#include "devices.hpp"
#include "sample/predictive.hpp"
#include "stan/lower.hpp"
#include "stan_checked.hpp"
#include "stats/model_state.hpp"

namespace adit::stan {
namespace {

Lowered lowered(const std::string& text) {
  const Checked program = checked(text);
  EXPECT_FALSE(has_errors(program)) << text << "\n" << all_text(program);
  return lower(program.program, data_from_json("{}", "data"));
}

template <class Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// A statement of transformed data: nothing, or what is said of it.
std::string said_of_data(const std::string& statements) {
  return error_of([&] { lowered("transformed data { " + statements + " }"); });
}

// Statements of generated quantities, at points x = -2, -1, ..., 2 of one chain.
std::string said_of_draws(const std::string& statements, const std::string& functions = "") {
  return error_of([&] {
    const Lowered model = lowered(functions + "parameters { real x; }\nmodel { x ~ std_normal(); }\n" +
                                  "generated quantities {\n" + statements + "\n}\n");
    std::vector<DrawsVariable> variables;
    sampling::add_generated(stats::state_of(model.model), {-2, -1, 0, 1, 2}, 0, 1, 7, Device::open("cpu"),
                            variables);
  });
}

double density(const std::string& text, double x) {
  return lowered(text).model.log_density(tensor(std::vector<double>{x})).item<double>();
}

#define EXPECT_SAID(said, part) \
  EXPECT_NE((said).find(part), std::string::npos) << "said: " << (said) << "\nexpected: " << (part)

// --- Places ------------------------------------------------------------------------------------------------

TEST(StanThrow, PlacesInDraws) {
  const std::string array = "array[3] real a = {1, 2, 3}; ";
  // x of the draws: -2 ... 2.
  const std::string place = "int k = 1; while (k < 2 * x) k += 1; ";
  EXPECT_EQ(said_of_draws("array[4] real a = {1, 2, 3, 4}; " + place + "real pick = a[k];"), "");
  std::string said = said_of_draws(array + place + "real pick = a[k];");
  EXPECT_SAID(said, "'m.stan', line 4, column ");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4 (in draw 5 of chain 1)");
  said = said_of_draws(array + place + "a[k] = -99;");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
  said = said_of_draws(array + place + "array[2] real b = a[{1, k}];");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
  said = said_of_draws(array + place + "matrix[2, 3] m = rep_matrix(1, 2, 3); row_vector[3] r = m[k];");
  EXPECT_SAID(said, "expected an index from 1 to 2, got ");
  said = said_of_draws(array + place + "vector[3] v = [1, 2, 3]'; vector[2] p = segment(v, k, 2);");
  EXPECT_SAID(said, "segment: expected an index from 1 to 3, got ");
  // Where it does not run nothing is said.
  EXPECT_EQ(said_of_draws(array + place + "real pick = 0; if (k < 4) pick = a[k];"), "");
  EXPECT_EQ(said_of_draws(array + place + "real pick = k < 4 ? a[k] : 0;"), "");
  EXPECT_EQ(said_of_draws(array + "real pick = 0; if (x > 5) pick = a[4];"), "");
  said = said_of_draws(array + "real pick = 0; if (x > 1) pick = a[4];");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4 (in draw 5 of chain 1)");
  said = said_of_draws("array[0] real a; real pick = 0; if (x > 1) pick = a[1];");
  EXPECT_SAID(said, "expected an index from 1 to 0, got 1 (in draw 5 of chain 1)");
  said = said_of_draws("array[0] real a; if (x > 0) a[1] = 2;");
  EXPECT_SAID(said, "expected an index from 1 to 0, got 1 (in draw 4 of chain 1)");
}

TEST(StanThrow, PlacesInLoopsOfDraws) {
  const std::string array = "array[3] real a = {1, 2, 3}; ";
  // In the loop itself, and in its condition.
  std::string said = said_of_draws(array + "int k = 1; real s = 0; while (k < 2 * x) { k += 1; s += a[k]; }");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
  EXPECT_SAID(said, "line 4, column ");
  said = said_of_draws(array + "int k = 1; while (a[k] < 2 * x) k += 1;");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
  // Rounds together, and rounds that need each other.
  said = said_of_draws(array +
                       "vector[9] s; int k = 1; while (k < 2 * x) k += 1; "
                       "for (i in 1:9) s[i] = a[i > 8 ? k : 1];");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
  said = said_of_draws(array +
                       "vector[20] s; s[1] = 0; int k = 1; "
                       "for (i in 2:20) { if (x > 1 && i > 17) k += 1; s[i] = 0.5 * s[i - 1] + a[k]; }");
  EXPECT_SAID(said, "expected an index from 1 to 3, got 4");
}

TEST(StanThrow, PlacesInDensities) {
  const std::string begin =
      "parameters { real x; } model { array[3] real a = {1, 2, 3}; int k = 1; while (k < x) k += 1; ";
  const std::string read = begin + "target += a[k]; }", write = begin + "a[k] = 0; target += sum(a); }";
  EXPECT_EQ(density(read, 0.5), 1);
  EXPECT_EQ(density(read, 2.5), 3);
  EXPECT_EQ(density(read, 3.5), -INFINITY);
  EXPECT_EQ(density(write, 1.5), 4);
  EXPECT_EQ(density(write, 3.5), -INFINITY);
  const std::string inside =
      "parameters { real x; } model { array[3] real a = {1, 2, 3}; int k = 0; "
      "while (k < x) { k += 1; target += a[k]; } }";
  EXPECT_EQ(density(inside, 2.5), 6);
  EXPECT_EQ(density(inside, 3.5), -INFINITY);
  const std::string condition =
      "parameters { real x; } model { array[3] real a = {1, 2, 3}; int k = 1; while (a[k] < x) k += 1; "
      "target += k; }";
  EXPECT_EQ(density(condition, 2.5), 3);
  EXPECT_EQ(density(condition, 3.5), -INFINITY);
  const std::string known =
      "parameters { real x; } model { array[3] real a = {1, 2, 3}; if (x > 0) target += a[4]; }";
  EXPECT_EQ(density(known, -1), 0);
  EXPECT_EQ(density(known, 1), -INFINITY);
  const std::string steps =
      "parameters { real x; } model { array[3] real a = {1, 2, 3}; vector[20] s; s[1] = x; int k = 1; "
      "for (i in 2:20) { if (s[i - 1] > i - 2) k += 1; s[i] = s[i - 1] + (i - i) + a[k] - 1; } target += k; "
      "}";
  EXPECT_TRUE(std::isfinite(density(steps, -1)));
  EXPECT_EQ(density(steps, 100), -INFINITY);
}

// A sum over a part whose size follows from parameters.
TEST(StanThrow, RangesInDensities) {
  const std::string text =
      "parameters { real x; } model { vector[3] a = [1, 2, 3]'; int k = 1; while (k < x) k += 1; "
      "target += sum(a[1:k]); }";
  EXPECT_EQ(density(text, 2.5), 6);
  EXPECT_EQ(density(text, 3.5), -INFINITY);
}

// A sampler's kernels: no draw is where there is no density.
TEST(StanThrow, PlacesOnDevices) {
  const Lowered model = lowered(
      "parameters { real<lower=0, upper=4> x; } "
      "model { array[3] real a = {0, 0.1, 0.2}; int k = 1; while (k < x) k += 1; target += a[k]; }");
  for (const std::string& id : test::device_ids())
    for (const int64_t chains : {2, 40}) {
      const Draws draws = sample(model.model, {.chains = chains, .warmup = 60, .draws = 40, .device = id});
      double most = 0;
      for (const double x : draws.variables.at(0).values) most = std::max(most, x);
      EXPECT_LE(most, 3) << id;
      EXPECT_GT(most, 2) << id;
      EXPECT_GT(draws.divergences(), 0) << id;
    }
}

TEST(StanThrow, NoStartWhereAllIsRejected) {
  const Lowered model = lowered(
      "parameters { real<lower=1> x; } "
      "model { array[1] real a = {0}; int k = 1; while (k < x) k += 1; target += a[k] - x; }");
  const std::string said = error_of([&] { sample(model.model, {.chains = 1, .warmup = 1, .draws = 1}); });
  EXPECT_SAID(said, "which rejects: expected an index from 1 to 1, got ");
}

TEST(StanThrow, SparseMatrices) {
  const std::string b = ", [10, 20]');";
  EXPECT_EQ(said_of_data("vector[2] y = csr_matrix_times_vector(2, 2, [1, 2]', {1, 2}, {1, 2, 3}" + b), "");
  EXPECT_SAID(said_of_data("vector[2] y = csr_matrix_times_vector(2, 2, [1, 2]', {1, 9}, {1, 2, 3}" + b),
              "csr_matrix_times_vector: v: expected an index from 1 to 2, got 9 at [2]");
  EXPECT_SAID(said_of_data("vector[2] y = csr_matrix_times_vector(2, 2, [1, 2]', {1, 2}, {1, 3, 2}" + b),
              "u: expected starts that do not fall, got 2 after 3");
  EXPECT_SAID(said_of_data("vector[2] y = csr_matrix_times_vector(2, 2, [1, 2]', {1, 2}, {2, 2, 3}" + b),
              "u: expected 1 as the first start, got 2");
  EXPECT_SAID(said_of_data("vector[2] y = csr_matrix_times_vector(2, 2, [1, 2]', {1, 2}, {1, 2, 2}" + b),
              "u: expected 3 as the end of the last row, got 2");
  EXPECT_SAID(said_of_data("matrix[2, 2] y = csr_to_dense_matrix(2, 2, [1, 2]', {1, 0}, {1, 2, 3});"),
              "csr_to_dense_matrix: v: expected an index from 1 to 2, got 0");
  EXPECT_SAID(said_of_data("matrix[2, 2] y = csr_to_dense_matrix(2, 2, [1, 2]', {1}, {1, 2, 3});"),
              "csr_to_dense_matrix: expected 2 columns in v");
}

// --- Arguments ---------------------------------------------------------------------------------------------

struct Case {
  const char *call, *said;  // said: nothing where all is fine
};

// As a function of known numbers, and with x - x added, which is known draw by draw alone. What rstan 2.21
// throws for each of them was asked of it.
TEST(StanThrow, ArgumentsOfDraws) {
  const Case cases[] = {
      {"normal_rng(0, 1 + z)", ""},
      {"normal_rng(0, -1 + z)", "normal_rng: argument 2: expected above 0 and finite, got -1"},
      {"normal_rng(0, positive_infinity() + z)", "argument 2: expected above 0 and finite, got inf"},
      {"normal_rng(not_a_number() + z, 1)", "normal_rng: argument 1: expected finite, got "},
      {"uniform_rng(1 + z, 0)", "uniform_rng: argument 1: expected a number below argument 2, 0, got 1"},
      {"uniform_rng(1 + z, 1)", "uniform_rng: argument 1: expected a number below argument 2, 1, got 1"},
      {"categorical_rng([-1 + z, 2]')", "at least 0"},
      {"categorical_rng([0.5 + z, 0.6]')", "1.1"},
      {"categorical_rng([0.5 + z, 0.5]')", ""},
      {"poisson_rng(1e12 + z)", "poisson_rng: argument 1: expected at least 0 and below 2^30, got 1"},
      {"poisson_log_rng(25 + z)", "poisson_log_rng: argument 1: expected below 20.79"},
      {"binomial_rng(2, 1.5 + z)", "binomial_rng: argument 2: expected from 0 to 1, got 1.5"},
      {"binomial_rng(-1, 0.5 + z)", "binomial_rng: argument 1: expected at least 0, got -1"},
      {"sum(dirichlet_rng([0 + z, 0]'))", "dirichlet_rng: argument 1: expected above 0 and finite, got 0"},
      {"sum(wishart_rng(0.5 + z, [[1, 0], [0, 1]]))",
       "wishart_rng: argument 1: expected a number above 1, got 0.5"},
      {"sum(multi_normal_rng([0, 0]', [[1, 2 + z], [2, 1]]))", "positive definite"},
      {"sum(multi_normal_rng([0, 0]', [[1, 0 + z], [0.5, 1]]))", "multi_normal_rng: argument 2"},
      {"sum(multi_normal_rng([0, 0]', [[1, 0.5 + z], [0.5, 1]]))", ""},
      {"sum(lkj_corr_rng(2, -1 + z))", "lkj_corr_rng: argument 2: expected above 0 and finite, got -1"},
      {"gamma_rng(0 + z, 1)", "gamma_rng: argument 1: expected above 0 and finite, got 0"},
      {"exponential_rng(positive_infinity() + z)",
       "exponential_rng: argument 1: expected above 0 and finite"},
      {"bernoulli_rng(1.5 + z)", "bernoulli_rng: argument 1: expected from 0 to 1, got 1.5"},
      {"sum(multinomial_rng([0.5 + z, 0.6]', 3))", "multinomial_rng: argument 1"},
      {"ordered_logistic_rng(0.5, [2 + z, 1]')", "ordered_logistic_rng: argument 2"},
      {"ordered_logistic_rng(0.5, [1 + z, 2]')", ""},
      {"student_t_rng(3, 0, positive_infinity() + z)", "student_t_rng: argument 3"},
      {"pareto_rng(1, -1 + z)", "pareto_rng: argument 2: expected above 0 and finite, got -1"},
      {"bernoulli_logit_rng(positive_infinity() + z)", "bernoulli_logit_rng: argument 1: expected finite"},
      {"hypergeometric_rng(20, 5, 5) + z", "expected no more draws than there are things, got 20"},
      {"sum(bernoulli_logit_glm_rng([[1, positive_infinity() + z]], [0]', [1, 1]'))",
       "bernoulli_logit_glm_rng: argument 1: expected finite, got inf"},
      {"sum(bernoulli_logit_glm_rng([[1, 1 + z]], [0]', [1, 1]'))", ""},
      {"sum(hmm_latent_rng([[1, 2], [1, 2]], [[0.5 + z, 0.6], [0.5, 0.5]], [0.5, 0.5]'))",
       "hmm_latent_rng: argument 2"},
  };
  for (const auto& [call, said] : cases) {
    // What is drawn has kernels of its own: in one of three commits.
    const std::string known = said_of_data(fmt::format("real z = 0; real y = {};", call));
    const bool is_drawn = test::is_its_turn(std::hash<std::string>()(call), 3);
    const std::string drawn =
        is_drawn ? said_of_draws(fmt::format("real z = x - x; real y = {};", call)) : "";
    if (*said == 0) {
      EXPECT_EQ(known + drawn, "") << call;
    } else {
      EXPECT_SAID(known, said);
      EXPECT_SAID(known, "line 1, column ");
      if (is_drawn) {
        EXPECT_SAID(drawn, "line 4, column ");
      }
    }
  }
}

TEST(StanThrow, ArgumentsOfDensitiesAndFunctions) {
  const Case cases[] = {
      {"normal_lpdf(z + 0 | 0, 1)", ""},
      {"normal_lpdf(1 | 0, -1 + z)", "normal_lpdf: argument 3: expected above 0, got -1"},
      {"normal_lpdf(1 | 0, positive_infinity() + z)", ""},
      {"exponential_lpdf(-1 + z | 1)", "exponential_lpdf: argument 1: expected at least 0, got -1"},
      {"gamma_lpdf(-1 + z | 1, 1)", ""},
      {"uniform_lpdf(-1 + z | 0, 1)", ""},
      {"pareto_lpdf(-1 + z | 1, 1)", ""},
      {"gamma_lcdf(-1 + z | 1, 1)", "gamma_lcdf: argument 1: expected at least 0, got -1"},
      {"poisson_lpmf(-1 | 1 + z)", "poisson_lpmf: argument 1: expected at least 0, got -1"},
      {"poisson_lcdf(-1 | 1 + z)", ""},
      {"bernoulli_lpmf(2 | 0.5 + z)", "bernoulli_lpmf: argument 1: expected 0 or 1, got 2"},
      {"binomial_lpmf(3 | 2, 0.5 + z)",
       "binomial_lpmf: argument 1: expected a number not above argument 2, 2, got 3"},
      {"beta_binomial_lpmf(3 | 2, 0.5 + z, 0.5)", ""},
      {"categorical_lpmf(3 | [0.5 + z, 0.5]')",
       "categorical_lpmf: argument 1: expected a class from 1 to 2, got 3"},
      {"categorical_lpmf(1 | [0.5 + z, 0.6]')", "categorical_lpmf: argument 2"},
      {"multinomial_lpmf({1, 2} | [0.5 + z, 0.6]')", "multinomial_lpmf: argument 2"},
      {"dirichlet_lpdf([0.5 + z, 0.6]' | [1, 1]')", "dirichlet_lpdf: argument 1"},
      {"ordered_logistic_lpmf(1 | 0.5, [0.6 + z, 0.5]')", "ordered_logistic_lpmf: argument 3"},
      {"hmm_marginal([[1, 2], [1, 2]], [[0.5 + z, 0.6], [0.5, 0.5]], [0.5, 0.5]')",
       "hmm_marginal: argument 2"},
      {"lkj_corr_lpdf([[1, 2 + z], [2, 1]] | 1)", "lkj_corr_lpdf: argument 1"},
      {"multi_normal_lpdf([1, 2]' | [1, 1]', [[1, 0 + z], [0.5, 1]])", "multi_normal_lpdf: argument 3"},
      {"sum(cholesky_decompose([[1, 0 + z], [0.5, 1]]))", "cholesky_decompose: argument 1"},
      {"sum(eigenvalues_sym([[1, 0 + z], [0.5, 1]]))", "eigenvalues_sym: argument 1"},
      {"sum(eigenvalues_sym([[1, 0.5 + z], [0.5, 1]]))", ""},
      {"sum(gp_exp_quad_cov({1.0, 2.0}, -1 + z, 1))",
       "gp_exp_quad_cov: argument 2: expected above 0 and finite, got -1"},
      {"sum(gp_exp_quad_cov({1.0, 2.0}, {1.0}, 1, -1 + z))", "gp_exp_quad_cov: argument 4"},
      {"log1m(2 + z)", "log1m: argument 1: expected at most 1, got 2"},
      {"log1p(-2 + z)", "log1p: argument 1: expected at least -1, got -2"},
      {"log1m(not_a_number() + z)", ""},
      {"tgamma(-1 + z)", "tgamma: argument 1: expected no pole of the gamma function, got -1"},
      {"inv_Phi(2 + z)", "inv_Phi: argument 1: expected from 0 to 1, got 2"},
      {"acosh(0.5 + z)", "acosh: argument 1: expected at least 1, got 0.5"},
      {"atanh(2 + z)", "atanh: argument 1: expected from -1 to 1, got 2"},
      {"owens_t(not_a_number() + z, 1)", "owens_t: argument 1: expected a number, got "},
      {"gamma_p(-1 + z, 1)", "gamma_p: argument 1: expected above 0, got -1"},
      {"log_mix(1.5 + z, 1.0, 0.5)", "log_mix: argument 1: expected from 0 to 1, got 1.5"},
      {"quantile([1, 2, 3]', 2 + z)", "quantile: argument 2: expected from 0 to 1, got 2"},
      {"quantile([1, 2, 3]', 1e9 + z)", "quantile: argument 2: expected from 0 to 1, got 1"},
      {"quantile([1, 2, 3 + z]', 0.25)", ""},
      {"beta_proportion_lpdf(0.5 | 1 + z, 2)", "expected above 0 and below 1, got 1"},
      {"bernoulli_logit_glm_lpmf({2} | [[1.0]], z, [1]')",
       "bernoulli_logit_glm_lpmf: argument 1: expected 0 or 1, got 2"},
      {"bernoulli_logit_glm_lpmf({1} | [[1.0]], z, [positive_infinity()]')", "argument 4: expected finite"},
      {"binomial_logit_glm_lpmf({3} | {2}, [[1.0]], z, [1]')",
       "argument 1: expected a number not above argument 2, got 3"},
      {"categorical_logit_glm_lpmf({3} | [[1.0]], [z, 1]', [[1, 2]])",
       "categorical_logit_glm_lpmf: argument 1: expected a class from 1 to 2, got 3"},
      {"ordered_logistic_glm_lpmf({1} | [[1.0]], [1]', [2 + z, 1]')",
       "ordered_logistic_glm_lpmf: argument 4"},
      {"ordered_logistic_glm_lpmf({4} | [[1.0]], [1]', [1 + z, 2]')", "expected a class from 1 to 3, got 4"},
      {"ordered_logistic_glm_lpmf({3} | [[1.0]], [1]', [1 + z, 2]')", ""},
      {"gaussian_dlm_obs_lpdf([[1.0]] | [[1.0]], [[1.0]], [[-1 + z]], [[1.0]], [0]', [[1.0]])",
       "gaussian_dlm_obs_lpdf: argument 4"},
      {"gaussian_dlm_obs_lpdf([[1.0]] | [[1.0]], [[1.0]], [-1 + z]', [[1.0]], [0]', [[1.0]])",
       "gaussian_dlm_obs_lpdf: argument 4: expected at least 0, got -1"},
      {"gaussian_dlm_obs_lpdf([[1.0]] | [[1.0]], [[1.0]], [[1.0]], [[0 + z]], [0]', [[1.0]])", ""},
      {"lambert_w0(-0.5 + z)", "lambert_w0: argument 1: expected at least -1/e, got -0.5"},
      {"lambert_wm1(0.5 + z)", "lambert_wm1: argument 1: expected from -1/e to 0, got 0.5"},
      {"lambert_wm1(-0.25 + z)", ""},
      {"inv_inc_beta(1, 1, 1.5 + z)", "inv_inc_beta: argument 3: expected from 0 to 1, got 1.5"},
      {"inv_inc_beta(-1 + z, 1, 0.5)", "inv_inc_beta: argument 1: expected above 0, got -1"},
      {"std_normal_log_qf(0.5 + z)", "std_normal_log_qf: argument 1: expected at most 0, got 0.5"},
      {"student_t_qf(1.5 + z, 3, 0, 1)", "student_t_qf: argument 1: expected from 0 to 1, got 1.5"},
      {"student_t_qf(0.5, 3, 0, -1 + z)", "student_t_qf: argument 4: expected above 0 and finite, got -1"},
      {"hypergeometric_1F0(1, 1 + z)",
       "hypergeometric_1F0: argument 2: expected above -1 and below 1, got 1"},
      {"hypergeometric_2F1(1, 1, 2, 1.5 + z)",
       "hypergeometric_2F1: expected a series that converges, got z = 1.5"},
      {"hypergeometric_2F1(-2, 1, 2, 1.5 + z)", ""},
      {"hypergeometric_2F1(0.5, 0.5, -2, 0.5 + z)", "hypergeometric_2F1: expected a series that converges"},
      {"hypergeometric_2F1(0.5, 0.5, 2, -7 + z)", ""},
      {"hypergeometric_3F2({1, 1, 1}, {1, 1}, 2 + z)",
       "hypergeometric_3F2: expected a series that converges, got z = 2"},
      {"hypergeometric_3F2({1, 1, 1}, {1, 1}, 0.5 + z)", ""},
      {"hypergeometric_pFq({1, 1 + z, 1}, {1}, 0.5)",
       "hypergeometric_pFq: expected a series that converges, got z = 0.5"},
      {"hypergeometric_pFq({1 + z}, {1}, 7)", ""},
      {"log_rising_factorial(-1 + z, 2)", "log_rising_factorial: argument 1: expected above 0, got -1"},
      {"log_falling_factorial(-1 + z, 2)", "log_falling_factorial: argument 1: expected above 0, got -1"},
      {"lbeta(-1 + z, 2)", "lbeta: argument 1: expected at least 0, got -1"},
      {"lchoose(3, 4.5 + z)", "lchoose: argument 2: expected at most one more than argument 1, got 4.5"},
      {"lchoose(3, 2 + z)", ""},
      {"inv_erfc(2.5 + z)", "inv_erfc: argument 1: expected from 0 to 2, got 2.5"},
      {"log_modified_bessel_first_kind(1, -1 + z)", "argument 2: expected at least 0, got -1"},
      {"sum(chol2inv([[1, 0.5 + z], [0, 1]]))", "chol2inv: argument 1"},
      {"sum(chol2inv([[1, 0 + z], [0.5, 1]]))", ""},
      {"squared_distance(1, positive_infinity() + z)",
       "squared_distance: argument 2: expected finite, got inf"},
      {"sum(matrix_power([[1, 0 + z], [0, 1]], -1))",
       "matrix_power: argument 2: expected at least 0, got -1"},
      {"lower_upper_bound_constrain(z, 2, 1)", "expected a number below argument 3, 1, got 2"},
      {"lower_upper_bound_unconstrain(5 + z, 1, 2)", "expected a number not above argument 3, 2, got 5"},
      {"lower_bound_unconstrain(0 + z, 1)", "argument 2: expected a number not above argument 1"},
      {"offset_multiplier_constrain(z, 0, -1)", "argument 3: expected above 0 and finite, got -1"},
      {"sum(simplex_unconstrain([0.5 + z, 0.6]'))", "simplex_unconstrain: argument 1"},
      {"sum(cov_matrix_unconstrain([[1, 2 + z], [2, 1]]))", "cov_matrix_unconstrain: argument 1"},
  };
  for (const auto& [call, said] : cases) {
    // What is drawn has kernels of its own: in one of three commits.
    const std::string known = said_of_data(fmt::format("real z = 0; real y = {};", call));
    const bool is_drawn = test::is_its_turn(std::hash<std::string>()(call), 3);
    const std::string drawn =
        is_drawn ? said_of_draws(fmt::format("real z = x - x; real y = {};", call)) : "";
    if (*said == 0) {
      EXPECT_EQ(known + drawn, "") << call;
    } else {
      EXPECT_SAID(known, said);
      if (is_drawn) {
        EXPECT_SAID(drawn, "line 4, column ");
      }
    }
  }
}

TEST(StanThrow, ArgumentsInDensities) {
  const auto at = [](const std::string& statement, double x) {
    return density("parameters { real x; } model { " + statement + " }", x);
  };
  // Known ones: no point has a density; under a condition those where it holds.
  EXPECT_EQ(at("target += categorical_lpmf(1 | [0.5, 0.6]');", 1), -INFINITY);
  EXPECT_EQ(at("if (x > 0) target += categorical_lpmf(1 | [0.5, 0.6]');", 1), -INFINITY);
  EXPECT_EQ(at("if (x > 0) target += categorical_lpmf(1 | [0.5, 0.6]');", -1), 0);
  EXPECT_EQ(at("target += sum(cholesky_decompose([[1, 0], [0.5, 1]]));", 1), -INFINITY);
  // Parameters: what the formula would not see.
  EXPECT_EQ(at("target += categorical_lpmf(1 | [x, 0.6]');", 0.5), -INFINITY);
  EXPECT_NEAR(at("target += categorical_lpmf(1 | [x, 0.5]');", 0.5), std::log(0.5), 1e-14);
  EXPECT_EQ(at("target += sum(gp_exp_quad_cov({1.0, 2.0}, x, 1));", -1), -INFINITY);
  EXPECT_GT(at("target += sum(gp_exp_quad_cov({1.0, 2.0}, x, 1));", 1), 0);
  EXPECT_EQ(at("target += ordered_logistic_lpmf(1 | 0.5, [x, 0.5]');", 0.6), -INFINITY);
  const std::string by_predictors = "target += ordered_logistic_glm_lpmf(1 | [[1.0]], [1]', [x, 0.5]');";
  EXPECT_EQ(at(by_predictors, 0.6), -INFINITY);
  EXPECT_TRUE(std::isfinite(at(by_predictors, 0.4)));
}

// Sizes and steps that no value of theirs shows.
TEST(StanThrow, ArgumentsOfLists) {
  EXPECT_SAID(said_of_data("vector[0] a = uniform_simplex(0);"),
              "uniform_simplex: argument 1: expected above 0, got 0");
  EXPECT_SAID(said_of_data("array[3] int a = linspaced_int_array(3, 5, 1);"),
              "linspaced_int_array: argument 2: expected a number not above argument 3, 1, got 5");
  EXPECT_SAID(said_of_data("vector[3] a = linspaced_vector(3, 5, 1);"), "linspaced_vector: argument 2");
  EXPECT_SAID(said_of_data("int k = modulus(5, 0);"), "expected a divisor that is not 0, got 0");
  // Eigen's steps of integers: even ones, or numbers that stand there equally often.
  EXPECT_EQ(said_of_data("array[3] int a = linspaced_int_array(3, 1, 6); if (a[3] != 5) reject(a);"), "");
  EXPECT_EQ(said_of_data("array[5] int a = linspaced_int_array(5, 1, 2); if (sum(a) != 7) reject(a);"), "");
}

TEST(StanThrow, Declarations) {
  EXPECT_EQ(said_of_draws("real<lower=-3> y = x;"), "");
  EXPECT_SAID(said_of_draws("real<lower=0> y = x;"),
              "y: expected a number of at least 0, as its bound says, got -2");
  EXPECT_SAID(said_of_draws("real<upper=1> y = x;"),
              "y: expected a number of at most 1, as its bound says, got 2");
  EXPECT_SAID(said_of_draws("real<lower=10> y = 3;"), "expected a number of at least 10");
  EXPECT_SAID(said_of_draws("simplex[2] y = [0.5, 0.5 + x]';"), "simplex");
  EXPECT_SAID(said_of_draws("ordered[2] y = [0.5, x]';"), "y: expected elements in rising order");
  EXPECT_SAID(said_of_draws("positive_ordered[2] y = [x, 9]';"), "y: expected positive elements");
  EXPECT_SAID(said_of_draws("unit_vector[2] y = [x, 1]';"), "unit vector");
  EXPECT_SAID(said_of_draws("sum_to_zero_vector[2] y = [x, 1]';"), "add up to 0");
  EXPECT_SAID(said_of_draws("corr_matrix[2] y = [[1, x], [x, 1]];"), "y: expected");
  EXPECT_SAID(said_of_draws("cov_matrix[2] y = [[1, 0.5], [x, 1]];"), "y: expected a symmetric matrix");
  EXPECT_SAID(said_of_draws("cholesky_factor_cov[2] y = [[1, x], [0, 1]];"), "above the diagonal");
  EXPECT_SAID(said_of_draws("cholesky_factor_corr[2] y = [[1, 0], [x, 1]];"), "squares that add up to 1");
  EXPECT_EQ(said_of_draws("simplex[2] y = softmax([x, 1]'); cov_matrix[2] s = [[5, x], [x, 5]];"), "");
  EXPECT_SAID(said_of_data("real<lower=10> y = 3;"), "line 1, column ");
}

TEST(StanThrow, RejectOfDraws) {
  EXPECT_EQ(said_of_draws("if (x > 3) reject(\"x is \", x);"), "");
  EXPECT_SAID(said_of_draws("if (x > 1) reject(\"x is \", x, \", too much\");"),
              ": x is 2, too much (in draw 5");
  EXPECT_SAID(said_of_draws("for (i in 1:9) if (x + i > 10) reject(\"i is \", i);"), ": i is 9");
  EXPECT_SAID(said_of_draws("int k = 0; while (k < 9 * x) { k += 1; if (k > 12) reject(\"k is \", k); }"),
              "k is 13");
}

// --- Whole numbers -----------------------------------------------------------------------------------------

TEST(StanThrow, WholeNumbers) {
  EXPECT_SAID(said_of_data("int k = to_int(not_a_number());"), "to_int: expected a number that an integer");
  EXPECT_SAID(said_of_data("int k = to_int(1e30);"), "got 1e+30");
  EXPECT_EQ(said_of_data("int k = to_int(-2147483647.5);"), "");
  EXPECT_SAID(said_of_draws("int k = to_int(1e30 * x);"), "to_int: expected a number that an integer");
  EXPECT_SAID(said_of_data("array[0] int a; int k = max(a);"), "max: expected at least one number, got none");
  EXPECT_SAID(said_of_data("array[0] int a; int k = min(a);"), "min: expected at least one number, got none");
  EXPECT_EQ(said_of_data("array[0] real a; real k = max(a);"), "");
  EXPECT_SAID(said_of_data("int k = choose(100, 50);"), "expected an integer of 32 bits");
  EXPECT_SAID(said_of_draws("int n = 90; while (n < 100 * x) n += 1; int k = choose(n, 50);"),
              "expected an integer of 32 bits");
  EXPECT_SAID(said_of_data("int n = binomial_rng(1, 0.0); int k = 5 %/% n;"),
              "expected a divisor that is not 0");
  EXPECT_SAID(said_of_draws("int n = binomial_rng(1, 0.0); int k = 5 %/% n;"),
              "expected a divisor that is not 0, got 0");
  EXPECT_SAID(said_of_draws("int n = binomial_rng(1, 0.0); int k = 5 % n;"),
              "expected a divisor that is not 0, got 0");
  // Results of operators, where a variable of the block keeps them: Stan's would wrap.
  EXPECT_SAID(said_of_draws("int k = poisson_rng(1e9); int m = k * 10;"),
              "m.stan', line 4, column 26: expected an integer of 32 bits, at most 2147483647, got ");
  EXPECT_SAID(said_of_draws("array[2] int m; m[1] = 1; m[2] = poisson_rng(1e9) + 2000000000;"),
              "expected an integer of 32 bits, at most 2147483647, got ");
  EXPECT_EQ(said_of_draws("int m; { int k = poisson_rng(1e9) * 10; m = k %/% 10; }"), "");
  const std::string divided =
      "parameters { real x; } model { int k = 0; while (k < x) k += 1; target += 12 %/% k; }";
  EXPECT_EQ(density(divided, 2.5), 4);
  EXPECT_EQ(density(divided, -1), -INFINITY);
}

TEST(StanThrow, Quantiles) {
  const auto drawn = [](const std::string& expression) {
    const Lowered model = lowered(
        "parameters { real x; } model { x ~ std_normal(); } generated quantities { real y = " + expression +
        "; }");
    std::vector<DrawsVariable> variables;
    sampling::add_generated(stats::state_of(model.model), {0.4}, 0, 1, 7, Device::open("cpu"), variables);
    return variables.at(0).values.at(0);
  };
  // numpy.quantile([3, 0.4, 2, 7], 0.4) and so on.
  EXPECT_NEAR(drawn("quantile([3, x, 2, 7]', 0.4)"), 2.2, 1e-14);
  EXPECT_NEAR(drawn("quantile([3, 0.4, 2, 7]', x)"), 2.2, 1e-14);
  EXPECT_NEAR(drawn("quantile({3, x, 2, 7}, 1)"), 7, 1e-14);
  EXPECT_NEAR(drawn("quantile({3, x, 2, 7}, {0.0, 0.5})[2]"), 2.5, 1e-14);
}

// --- Truncation --------------------------------------------------------------------------------------------

// By mpmath, 40 digits.
TEST(StanThrow, TruncationInTheTails) {
  const auto at = [](const std::string& statement, double x) {
    return density("parameters { real x; } model { " + statement + " }", x);
  };
  EXPECT_NEAR(at("x ~ normal(0, 1) T[7, 8];", 7.1), 1.260855167515268060, 1e-11);
  EXPECT_NEAR(at("x ~ normal(0, 1) T[9, 11];", 9.5), -2.415789418179593215, 1e-11);
  EXPECT_NEAR(at("x ~ normal(0, 1) T[30, 31];", 30.5), -11.72269457686142070, 1e-10);
  EXPECT_NEAR(at("x ~ normal(0, 1) T[-8, -7];", -7.1), 1.260855167515268060, 1e-11);
  EXPECT_NEAR(at("x ~ normal(0, 1) T[-1, 2];", 0.5), -0.8437722388802101618, 1e-13);
  EXPECT_NEAR(at("x ~ gamma(2, 1) T[50, 60];", 52), -1.980527610791723394, 1e-10);
  EXPECT_NEAR(at("x ~ exponential(1) T[800, 801];", 800.25), 0.2086751453870818911, 1e-11);
  EXPECT_NEAR(at("x ~ logistic(0, 1) T[45, 50];", 46), -0.9932392505505114422, 1e-11);
  EXPECT_NEAR(at("x ~ student_t(3, 0, 1) T[1000, 2000];", 1500), -7.297470711077943646, 1e-9);
  EXPECT_NEAR(at("31 ~ poisson(2 + x) T[30, 40];", 0), -2.807384043306692934, 1e-9);
  EXPECT_EQ(at("x ~ normal(0, 1) T[7, 8];", 6.9), -INFINITY);
  EXPECT_EQ(at("x ~ normal(0, 1) T[7, 8];", 8.1), -INFINITY);
}

TEST(StanThrow, TruncationInTheTailsFindsAStart) {
  const Lowered model =
      lowered("parameters { real<lower=9, upper=11> x; } model { x ~ normal(0, 1) T[9, 11]; }");
  const Draws draws = sample(model.model, {.chains = 2, .warmup = 200, .draws = 200, .device = "cpu"});
  double sum = 0;
  for (const double x : draws.variables.at(0).values) sum += x / 400;
  EXPECT_NEAR(sum, 9.1085, 0.03);  // phi(9) / Q(9)
}

// --- Bounded time ------------------------------------------------------------------------------------------

TEST(StanThrow, LoopsEnd) {
  EXPECT_SAID(said_of_data("while (1) {}"), "expected a while loop to end, got 20000000 rounds");
  EXPECT_EQ(said_of_data("int k = 0; while (k < 100000) k += 1; if (k != 100000) reject(k);"), "");
  const std::string said = said_of_draws("real y = x; while (y > -10) y = x;");
  EXPECT_SAID(said, "'m.stan', line 4, column 12: expected a while loop to end, got 1000000 rounds");
  EXPECT_SAID(said, "(in draw 1 of chain 1)");
  EXPECT_EQ(said_of_draws("real y = x; while (y > -10) y -= 0.001;"), "");
  EXPECT_EQ(said_of_draws("int k = 0; for (i in 1:poisson_rng(3000)) k += 1;"), "");
  // A round more than a density's loops have.
  const std::string begin = "parameters { real x; } model { int k = 0; while (k < x) k += 1; target += k; }";
  EXPECT_EQ(density(begin, 1023.5), 1024);
  EXPECT_TRUE(std::isnan(density(begin, 1024.5)));
}

// By mpmath; far out these went on for hours.
TEST(StanThrow, FunctionsEnd) {
  const auto value = [](const std::string& expression) {
    const Lowered model = lowered("transformed data { real y = " + expression +
                                  "; } parameters { real x; } model { target += y; }");
    return model.model.log_density(tensor(std::vector<double>{0})).item<double>();
  };
  EXPECT_NEAR(value("lmgamma(3, 2.5)"), 1.8809954616117741985, 1e-13);
  EXPECT_NEAR(value("lmgamma(64, 40)") / 4628.2937029621465873, 1, 1e-13);
  EXPECT_NEAR(value("lmgamma(65, 40)") / 4673.4502206703928072, 1, 1e-13);
  EXPECT_NEAR(value("lmgamma(200, 150.5)") / 84761.038248800940351, 1, 1e-13);
  EXPECT_NEAR(value("lmgamma(1000, 500)") / 1464163.0563261957131, 1, 1e-13);
  EXPECT_TRUE(std::isnan(value("lmgamma(2147483647, 1e9)")));
  EXPECT_TRUE(std::isfinite(value("lmgamma(2147483647, 2e9)")));
  EXPECT_NEAR(value("log_modified_bessel_first_kind(3, 1500.0)") / 1495.4215336346595994, 1, 1e-14);
  EXPECT_NEAR(value("log_modified_bessel_first_kind(2000, 10.0)") / -9987.6360319314667269, 1, 1e-14);
  EXPECT_NEAR(value("log_modified_bessel_first_kind(700, 900.0)") / 635.08206287112019359, 1, 1e-14);
  EXPECT_NEAR(value("log(modified_bessel_first_kind(1000, 1100.0))"), 666.42693064282288, 1e-10);
  EXPECT_EQ(value("modified_bessel_first_kind(1500, 1500.0)"), INFINITY);  // exp(794.5)
  EXPECT_NEAR(value("modified_bessel_second_kind(700, 900.0)"), std::exp(-642.81414751589446885), 1e-290);
  EXPECT_EQ(value("modified_bessel_first_kind(-2147483647, 1e300)"), INFINITY);
  EXPECT_EQ(value("modified_bessel_second_kind(2147483647, 1e300)"), 0);
  EXPECT_EQ(value("bessel_first_kind(2147483647, 1.0)"), 0);
}

}  // namespace
}  // namespace adit::stan
