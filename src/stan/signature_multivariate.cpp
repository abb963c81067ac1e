#include "stan/signature_rows.hpp"

namespace adit::stan {

namespace {

constexpr Signature table_multivariate[] = {
    {"categorical_lpmf", "real (ints | vector)", "The log probability of categories by their probabilities."},
    {"categorical_logit_lpmf", "real (ints | vector)",
     "The log probability of categories by their log odds."},
    {"categorical_logit_rng", "int (vector)", "Draws a category by log odds."},
    {"categorical_rng", "int (vector)", "Draws a category by probabilities."},
    {"dirichlet_lpdf", "real (vectors | vectors)", "The log density of simplexes with concentrations."},
    {"dirichlet_multinomial_lpmf", "real (int[] | vector)",
     "The log probability of counts with concentrations."},
    {"dirichlet_multinomial_rng", "int[] (vector, int)", "Draws counts with concentrations and a total."},
    {"dirichlet_rng", "vector (vector)", "Draws a simplex with concentrations."},
    {"gaussian_dlm_obs_lpdf", "real (matrix | matrix, matrix, matrix, matrix, vector, matrix)",
     "The log density of a linear Gaussian state-space model, whose observations have covariance V."},
    {"gaussian_dlm_obs_lpdf", "real (matrix | matrix, matrix, vector, matrix, vector, matrix)",
     "The same with the variances of independent observations."},
    {"inv_wishart_cholesky_lpdf", "real (matrix | real, matrix)",
     "The density of the factor of an inverse Wishart matrix."},
    {"inv_wishart_cholesky_rng", "matrix (real, matrix)", "Draws the factor of an inverse Wishart matrix."},
    {"inv_wishart_lpdf", "real (matrix | real, matrix)",
     "The log density of the inverse Wishart distribution."},
    {"inv_wishart_rng", "matrix (real, matrix)", "Draws an inverse Wishart matrix."},
    {"lkj_corr_cholesky_lpdf", "real (matrix | real)",
     "The LKJ log density of the factor of a correlation matrix."},
    {"lkj_corr_cholesky_rng", "matrix (int, real)", "Draws the factor of a correlation matrix."},
    {"lkj_corr_lpdf", "real (matrix | real)", "The LKJ log density of a correlation matrix."},
    {"lkj_corr_rng", "matrix (int, real)", "Draws a correlation matrix."},
    {"lkj_cov_lpdf", "real (matrix | vector, vector, real)",
     "The log density of a covariance matrix with log-normal deviations and LKJ correlations."},
    {"multi_gp_cholesky_lpdf", "real (matrix | matrix, vector)",
     "The log density of Gaussian processes by a factor and scales."},
    {"multi_gp_lpdf", "real (matrix | matrix, vector)",
     "The log density of Gaussian processes by a kernel and scales."},
    {"multi_normal_cholesky_lpdf", "real (vectors | vectors, matrix)",
     "The normal log density with the factor of the covariance."},
    {"multi_normal_cholesky_rng", "vectors of rng (vectors, matrix)",
     "Draws with mean and factor of the covariance."},
    {"multi_normal_lpdf", "real (vectors | vectors, matrix)",
     "The normal log density with mean and covariance."},
    {"multi_normal_prec_lpdf", "real (vectors | vectors, matrix)",
     "The normal log density with mean and inverse covariance."},
    {"multi_normal_rng", "vectors of rng (vectors, matrix)", "Draws with mean and covariance."},
    {"multi_student_t_cholesky_lpdf", "real (vectors | real, vectors, matrix)",
     "Student's log density with the factor of the scale matrix."},
    {"multi_student_t_cholesky_rng", "vectors of rng (real, vectors, matrix)",
     "Draws with the factor of the scale matrix."},
    {"multi_student_t_lpdf", "real (vectors | real, vectors, matrix)",
     "Student's log density with degrees, location and scale matrix."},
    {"multi_student_t_rng", "vectors of rng (real, vectors, matrix)",
     "Draws with degrees, location and scale matrix."},
    {"multinomial_logit_lpmf", "real (int[] | vector)", "The log probability of counts by log odds."},
    {"multinomial_logit_rng", "int[] (vector, int)", "Draws counts by log odds and a total."},
    {"multinomial_lpmf", "real (int[] | vector)", "The log probability of counts by probabilities."},
    {"multinomial_rng", "int[] (vector, int)", "Draws counts by probabilities and a total."},
    {"ordered_logistic_lpmf", "real (int | real, vector)",
     "The log probability of an ordered category by cut points."},
    {"ordered_logistic_lpmf", "real (int[] | vector, vector)",
     "The log probability of ordered categories by cut points."},
    {"ordered_logistic_lpmf", "real (int[] | vector, vector[])", "The same with cut points for each."},
    {"ordered_logistic_rng", "int (real, vector)", "Draws an ordered category by cut points."},
    {"ordered_probit_lpmf", "real (int | real, vector)",
     "The log probability of an ordered category by cut points."},
    {"ordered_probit_lpmf", "real (int[] | real, vector)",
     "The log probability of ordered categories by cut points."},
    {"ordered_probit_lpmf", "real (int[] | real, vector[])", "The same with cut points for each."},
    {"ordered_probit_lpmf", "real (int[] | vector, vector)",
     "The log probability of ordered categories by cut points."},
    {"ordered_probit_lpmf", "real (int[] | vector, vector[])", "The same with cut points for each."},
    {"ordered_probit_rng", "int (real, vector)", "Draws an ordered category by cut points."},
    {"wishart_cholesky_lpdf", "real (matrix | real, matrix)",
     "The log density of the factor of a Wishart matrix."},
    {"wishart_cholesky_rng", "matrix (real, matrix)", "Draws the factor of a Wishart matrix."},
    {"wishart_lpdf", "real (matrix | real, matrix)", "The log density of the Wishart distribution."},
    {"wishart_rng", "matrix (real, matrix)", "Draws a Wishart matrix."},
};

constexpr const char* glm_one = "Log probability of outcomes by predictors x, intercepts and slopes.";
constexpr const char* glm_normal = "Log density of outcomes by predictors x, intercepts, slopes and scale.";
constexpr const char* glm_count =
    "Log probability of outcomes by predictors x, intercepts, slopes and precision.";
constexpr const char* glm_size = "Log probability of outcomes by sizes, predictors x, intercepts and slopes.";
constexpr const char* glm_categories =
    "Log probability of categories by predictors x, intercepts and slopes.";
constexpr const char* glm_ordered =
    "Log probability of ordered categories by predictors x, slopes and cut points.";

constexpr Signature table_glm[] = {
    {"bernoulli_logit_glm_lpmf", "real (int | matrix, real, vector)", glm_one},
    {"bernoulli_logit_glm_lpmf", "real (int | matrix, vector, vector)", glm_one},
    {"bernoulli_logit_glm_lpmf", "real (int[] | row_vector, real, vector)", glm_one},
    {"bernoulli_logit_glm_lpmf", "real (int[] | row_vector, vector, vector)", glm_one},
    {"bernoulli_logit_glm_lpmf", "real (int[] | matrix, real, vector)", glm_one},
    {"bernoulli_logit_glm_lpmf", "real (int[] | matrix, vector, vector)", glm_one},
    {"bernoulli_logit_glm_rng", "int[] (row_vector, vector, vector)", "Draws of outcomes."},
    {"bernoulli_logit_glm_rng", "int[] (matrix, vector, vector)", "Draws of outcomes."},
    {"binomial_logit_glm_lpmf", "real (int | int, matrix, real, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int | int, matrix, vector, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int | int[], matrix, real, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int[] | int, matrix, real, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int[] | int[], row_vector, real, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int[] | int[], row_vector, vector, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int[] | int[], matrix, real, vector)", glm_size},
    {"binomial_logit_glm_lpmf", "real (int[] | int[], matrix, vector, vector)", glm_size},
    {"categorical_logit_glm_lpmf", "real (ints | row_vector, vector, matrix)", glm_categories},
    {"categorical_logit_glm_lpmf", "real (ints | matrix, vector, matrix)", glm_categories},
    {"neg_binomial_2_log_glm_lpmf", "real (int | matrix, real, vector, real)", glm_count},
    {"neg_binomial_2_log_glm_lpmf", "real (int | matrix, vector, vector, real)", glm_count},
    {"neg_binomial_2_log_glm_lpmf", "real (int[] | row_vector, real, vector, real)", glm_count},
    {"neg_binomial_2_log_glm_lpmf", "real (int[] | row_vector, vector, vector, real)", glm_count},
    {"neg_binomial_2_log_glm_lpmf", "real (int[] | matrix, real, vector, real)", glm_count},
    {"neg_binomial_2_log_glm_lpmf", "real (int[] | matrix, vector, vector, real)", glm_count},
    {"normal_id_glm_lpdf", "real (real | matrix, real, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (real | matrix, real, vector, vector)", glm_normal},
    {"normal_id_glm_lpdf", "real (real | matrix, vector, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (real | matrix, vector, vector, vector)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | row_vector, real, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | row_vector, real, vector, vector)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | row_vector, vector, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | row_vector, vector, vector, vector)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | matrix, real, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | matrix, real, vector, vector)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | matrix, vector, vector, real)", glm_normal},
    {"normal_id_glm_lpdf", "real (vector | matrix, vector, vector, vector)", glm_normal},
    {"ordered_logistic_glm_lpmf", "real (ints | row_vector, vector, vector)", glm_ordered},
    {"ordered_logistic_glm_lpmf", "real (ints | matrix, vector, vector)", glm_ordered},
    {"poisson_log_glm_lpmf", "real (int | matrix, real, vector)", glm_one},
    {"poisson_log_glm_lpmf", "real (int | matrix, vector, vector)", glm_one},
    {"poisson_log_glm_lpmf", "real (int[] | row_vector, real, vector)", glm_one},
    {"poisson_log_glm_lpmf", "real (int[] | row_vector, vector, vector)", glm_one},
    {"poisson_log_glm_lpmf", "real (int[] | matrix, real, vector)", glm_one},
    {"poisson_log_glm_lpmf", "real (int[] | matrix, vector, vector)", glm_one},
};

constexpr Signature table_markov[] = {
    {"hmm_hidden_state_prob", "matrix (matrix, matrix, vector)", "The probabilities of the hidden states."},
    {"hmm_latent_rng", "int[] (matrix, matrix, vector)", "Draws a path of hidden states."},
    {"hmm_marginal", "real (matrix, matrix, vector)",
     "The log probability of observations over all hidden paths."},
};

constexpr const char* old_ode_text = "real[,] (function, real[], real, real[], real[], real[], int[])";
constexpr const char* old_ode_tol_text =
    "real[,] (function, real[], real, real[], real[], real[], int[], real, real, real)";
constexpr const char* new_ode_text = "vector[] (function, vector, real, real[], ...)";
constexpr const char* new_ode_tol_text = "vector[] (function, vector, real, real[], real, real, int, ...)";

constexpr const char* old_root_text = "vector (function, vector, vector, real[], int[])";
constexpr const char* old_root_tol_text =
    "vector (function, vector, vector, real[], int[], real, real, real)";
constexpr const char* root_tol_text = "vector (function, vector, real, real, int, ...)";
constexpr const char* integral_tol_text = "real (function, real, real, real, real, int, ...)";

constexpr Signature table_higher[] = {
    {"algebra_solver", old_root_text, "Solves a system of equations from a guess; the old form."},
    {"algebra_solver", old_root_tol_text, "The same with tolerances and a limit of steps."},
    {"algebra_solver_newton", old_root_text, "Solves a system of equations from a guess; the old form."},
    {"algebra_solver_newton", old_root_tol_text, "The same with tolerances and a limit of steps."},
    {"integrate_1d", "real (function, real, real, real[], real[], int[])",
     "Integrates a function of one number between two bounds; the old form."},
    {"integrate_1d", "real (function, real, real, real[], real[], int[], real)",
     "The same with a relative tolerance."},
    {"integrate_1d_double_exponential", "real (function, real, real, ...)",
     "Integrates a function of one number between two bounds."},
    {"integrate_1d_double_exponential_tol", integral_tol_text,
     "The same with tolerances and a limit of refinements."},
    {"integrate_1d_gauss_kronrod", "real (function, real, real, ...)",
     "Integrates a function of one number, by the rule of integrate_1d_double_exponential."},
    {"integrate_1d_gauss_kronrod_tol", integral_tol_text,
     "The same with tolerances and a limit of refinements."},
    {"integrate_ode", old_ode_text, "Solves differential equations; the old form."},
    {"integrate_ode_adams", old_ode_text,
     "Solves differential equations, by the steps of integrate_ode_rk45; the old form."},
    {"integrate_ode_adams", old_ode_tol_text, "The same with tolerances and a limit of steps."},
    {"integrate_ode_bdf", old_ode_text, "Solves stiff differential equations; the old form."},
    {"integrate_ode_bdf", old_ode_tol_text, "The same with tolerances and a limit of steps."},
    {"integrate_ode_rk45", old_ode_text, "Solves differential equations; the old form."},
    {"integrate_ode_rk45", old_ode_tol_text, "The same with tolerances and a limit of steps."},
    {"map_rect", "vector (function, vector, vector[], real[,], int[,])",
     "Joins what a function gives for each shard."},
    {"ode_adams", new_ode_text, "Solves differential equations, by the steps of ode_rk45."},
    {"ode_adams_tol", new_ode_tol_text,
     "Solves differential equations with tolerances and a limit of steps, by the steps of ode_rk45."},
    {"ode_adjoint_tol_ctl",
     "vector[] (function, vector, real, real[], real, vector, real, vector, real, real, int, int, int, int, "
     "int, ...)",
     "Solves differential equations with tolerances of every part."},
    {"ode_bdf", new_ode_text, "Solves stiff differential equations."},
    {"ode_bdf_tol", new_ode_tol_text,
     "Solves stiff differential equations with tolerances and a limit of steps."},
    {"ode_ckrk", new_ode_text, "Solves differential equations, by the steps of ode_rk45."},
    {"ode_ckrk_tol", new_ode_tol_text,
     "Solves differential equations with tolerances and a limit of steps, by the steps of ode_rk45."},
    {"ode_rk45", new_ode_text, "Solves differential equations."},
    {"ode_rk45_tol", new_ode_tol_text, "Solves differential equations with tolerances and a limit of steps."},
    {"reduce_sum", "real (function, array, int, ...)",
     "Sums what a function gives for the parts of an array."},
    {"reduce_sum_static", "real (function, array, int, ...)", "The same with parts of a set size."},
    {"solve_newton", "vector (function, vector, ...)", "Solves a system of equations from a guess."},
    {"solve_newton_tol", root_tol_text, "The same with tolerances and a limit of steps."},
    {"solve_powell", "vector (function, vector, ...)",
     "Solves a system of equations from a guess, by the steps of solve_newton."},
    {"solve_powell_tol", root_tol_text, "The same with tolerances and a limit of steps."},
};

}  // namespace

std::span<const Signature> multivariate_rows() { return table_multivariate; }
std::span<const Signature> glm_rows() { return table_glm; }
std::span<const Signature> markov_rows() { return table_markov; }
std::span<const Signature> higher_rows() { return table_higher; }

}  // namespace adit::stan
