// The table of built-in functions: every row can be read, calls find their rows, and the page tells of all.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "stan/domains.hpp"
#include "stan/page.hpp"
#include "stan/signature.hpp"
#include "stan/signature_words.hpp"

namespace adit::stan {
namespace {

const Type an_int = scalar_type(Base::integer), a_real = scalar_type(Base::real),
           a_vector = scalar_type(Base::vector), a_row = scalar_type(Base::row_vector),
           a_matrix = scalar_type(Base::matrix);

std::string given(const std::string& name, const std::vector<Type>& arguments) {
  const Resolved resolved = resolve(name, arguments);
  return resolved.found ? to_text(resolved.result) : "none";
}

TEST(StanSignature, EveryRowCanBeRead) {
  ASSERT_GT(signatures().size(), 500u);
  for (const Signature& signature : signatures()) {
    EXPECT_TRUE(row_of(signature)) << signature.name << ": " << signature.text;
    const std::string doc = signature.doc;
    EXPECT_TRUE(!doc.empty() && doc.back() == '.') << signature.name;
  }
}

TEST(StanSignature, RowsAreSortedAndDiffer) {
  std::set<std::string> seen;
  std::string last;
  for (const Signature& signature : signatures()) {
    EXPECT_LE(last, std::string(signature.name));
    last = signature.name;
    EXPECT_TRUE(seen.insert(last + signature.text).second) << last << ": " << signature.text;
    EXPECT_TRUE(is_builtin(last));
  }
}

TEST(StanSignature, BadTextsAreNoRows) {
  for (const char* text : {"real", "real (", "real real)", "reel (real)", "real (reel)", "real (real,)",
                           "real (real[)", "real (real[;])", "real (,)"})
    EXPECT_FALSE(row_of({"f", text, "."})) << text;
}

TEST(StanSignature, Elementwise) {
  EXPECT_EQ(given("exp", {an_int}), "real");
  EXPECT_EQ(given("exp", {array_of(an_int, 3)}), "array[,,] real");
  EXPECT_EQ(given("exp", {array_of(a_matrix)}), "array[] matrix");
  EXPECT_EQ(given("abs", {array_of(an_int)}), "array[] int");
  EXPECT_EQ(given("pow", {a_vector, an_int}), "vector");
  EXPECT_EQ(given("pow", {a_vector, a_row}), "none");
  EXPECT_EQ(given("pow", {a_vector, array_of(a_real)}), "none");
  EXPECT_EQ(given("pow", {array_of(an_int), array_of(a_real)}), "array[] real");
  EXPECT_EQ(given("ldexp", {a_vector, array_of(an_int)}), "vector");
  EXPECT_EQ(given("ldexp", {a_matrix, array_of(an_int, 2)}), "matrix");
  EXPECT_EQ(given("ldexp", {a_matrix, array_of(an_int)}), "none");
  EXPECT_EQ(given("ldexp", {a_real, a_real}), "none");
  EXPECT_EQ(given("choose", {an_int, array_of(an_int)}), "array[] int");
  EXPECT_EQ(given("choose", {a_real, an_int}), "none");
  EXPECT_EQ(given("exp", {}), "none");
}

TEST(StanSignature, Densities) {
  EXPECT_EQ(given("normal_lpdf", {a_vector, a_real, array_of(an_int)}), "real");
  EXPECT_EQ(given("normal_lupdf", {a_vector, a_real, a_row}), "real");
  EXPECT_EQ(given("normal_lpdf", {a_matrix, a_real, a_real}), "none");
  EXPECT_EQ(given("poisson_lupmf", {array_of(an_int), a_vector}), "real");
  EXPECT_EQ(given("poisson_lpmf", {a_real, a_vector}), "none");
  EXPECT_EQ(given("normal_rng", {a_real, a_real}), "real");
  EXPECT_EQ(given("normal_rng", {a_vector, a_real}), "array[] real");
  EXPECT_EQ(given("binomial_rng", {an_int, array_of(a_real)}), "array[] int");
  EXPECT_EQ(given("multi_normal_lpdf", {array_of(a_vector), a_row, a_matrix}), "real");
  EXPECT_EQ(given("multi_normal_rng", {a_row, a_matrix}), "vector");
  EXPECT_EQ(given("multi_normal_rng", {array_of(a_vector), a_matrix}), "array[] vector");
  EXPECT_EQ(given("std_normal_lpdf", {a_vector}), "real");
  EXPECT_EQ(given("std_normal_rng", {}), "real");
  EXPECT_EQ(given("poisson_log_lcdf", {an_int, a_real}), "none");
}

TEST(StanSignature, Arrays) {
  EXPECT_EQ(given("append_array", {array_of(an_int), array_of(a_real)}), "array[] real");
  EXPECT_EQ(given("append_array", {array_of(an_int), array_of(an_int, 2)}), "none");
  EXPECT_EQ(given("rep_array", {a_vector, an_int, an_int}), "array[,] vector");
  EXPECT_EQ(given("to_array_1d", {array_of(an_int, 3)}), "array[] int");
  EXPECT_EQ(given("to_array_1d", {an_int}), "none");
  EXPECT_EQ(given("sum", {array_of(an_int)}), "int");
  EXPECT_EQ(given("sum", {array_of(a_real)}), "real");
  EXPECT_EQ(given("to_int", {array_of(a_real, 2)}), "array[,] int");
}

TEST(StanSignature, ProblemsTellWhatThereIs) {
  const std::string unfit = resolve("normal_lpdf", {a_real}).problem;
  EXPECT_NE(unfit.find("'normal_lpdf'. Expected (reals | reals, reals); found (real)"), std::string::npos)
      << unfit;
  const std::string unknown = resolve("exq", {a_real}).problem;
  EXPECT_NE(unknown.find("no function 'exq'. Did you mean 'exp'?"), std::string::npos) << unknown;
  EXPECT_EQ(nearest_name("dot_prodcut"), "dot_product");
  EXPECT_EQ(nearest_name("eigenvalues"), "eigenvalues_sym");
  EXPECT_EQ(nearest_name("completely_other_thing"), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'x')), "");
  EXPECT_EQ(nearest_name(""), "");
  EXPECT_FALSE(is_builtin("reel"));
  EXPECT_FALSE(is_builtin("_lupdf"));
  EXPECT_FALSE(resolve("ode_rk45", {a_real}).found);
}

TEST(StanSignature, ResolvingIsQuick) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 20000; ++i)
    EXPECT_TRUE(resolve("normal_id_glm_lpdf", {a_vector, a_matrix, a_real, a_vector, a_real}).found);
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 5);
}

std::set<std::string> words_of(const std::string& list) {
  std::istringstream words(list);
  return {std::istream_iterator<std::string>(words), {}};
}

// What Stan throws for: a new function has a row among the demands (demand_rows.cpp), or stands here.
TEST(StanSignature, DemandsAreKnownOfAll) {
  // Looked at by those who compute them: places, sizes, divisors, solvers.
  const std::set<std::string> elsewhere = words_of(
      "algebra_solver algebra_solver_newton block col csr_matrix_times_vector csr_to_dense_matrix head "
      "integrate_1d integrate_1d_double_exponential integrate_1d_double_exponential_tol "
      "integrate_1d_gauss_kronrod integrate_1d_gauss_kronrod_tol integrate_ode integrate_ode_adams "
      "integrate_ode_bdf integrate_ode_rk45 map_rect max mean min modulus ode_adams ode_adams_tol "
      "ode_adjoint_tol_ctl ode_bdf ode_bdf_tol ode_ckrk ode_ckrk_tol ode_rk45 ode_rk45_tol one_hot_array "
      "one_hot_int_array one_hot_row_vector one_hot_vector rank reduce_sum reduce_sum_static row sd "
      "segment solve_newton solve_newton_tol solve_powell solve_powell_tol sub_col sub_row tail to_int "
      "variance ");
  // Stan has a value for all arguments of the right sizes, if only infinity or NaN.
  const std::set<std::string> nothing = words_of(
      "Phi_approx abs acos add_diag append_array append_col append_row asin asinh atan atan2 "
      "binary_log_loss cbrt ceil cholesky_factor_corr_constrain cholesky_factor_corr_jacobian "
      "cholesky_factor_cov_constrain cholesky_factor_cov_jacobian cols columns_dot_product "
      "columns_dot_self corr_matrix_constrain corr_matrix_jacobian cos cosh cov_matrix_constrain "
      "cov_matrix_jacobian crossprod csr_extract csr_extract_u csr_extract_v csr_extract_w cumulative_sum "
      "determinant diag_matrix diag_post_multiply diag_pre_multiply diagonal digamma dims dot_product "
      "dot_self e erf erfc exp exp2 expm1 fabs fdim floor fma fmax fmin fmod generalized_inverse hypot "
      "identity_matrix int_step inv inv_cloglog inv_logit inv_sqrt inv_square inverse is_inf "
      "is_nan ldexp lgamma lmgamma lmultiply log log10 log1m_exp log1m_inv_logit log1p_exp log2 "
      "log_determinant log_diff_exp log_inv_logit log_inv_logit_diff log_softmax log_sum_exp logit "
      "lower_bound_constrain lower_bound_jacobian machine_precision matrix_exp matrix_exp_multiply "
      "mdivide_left mdivide_left_tri_low mdivide_right mdivide_right_tri_low multiply_log "
      "multiply_lower_tri_self_transpose negative_infinity norm1 norm2 not_a_number num_elements "
      "ones_array ones_int_array ones_row_vector ones_vector ordered_constrain ordered_jacobian pi "
      "positive_infinity positive_ordered_constrain positive_ordered_jacobian pow prod qr qr_Q qr_R "
      "qr_thin qr_thin_Q qr_thin_R quad_form quad_form_diag rep_array rep_matrix rep_row_vector "
      "rep_vector reverse round rows rows_dot_product rows_dot_self scale_matrix_exp_multiply "
      "simplex_constrain simplex_jacobian sin singular_values sinh size softmax sqrt sqrt2 square step "
      "stochastic_column_constrain stochastic_column_jacobian stochastic_row_constrain "
      "stochastic_row_jacobian sum sum_to_zero_constrain sum_to_zero_jacobian svd svd_U svd_V "
      "symmetrize_from_lower_tri tan tanh tcrossprod to_array_1d to_array_2d to_matrix to_row_vector "
      "to_vector trace trace_dot trace_gen_quad_form trace_quad_form transpose trigamma trunc "
      "unit_vector_constrain unit_vector_jacobian upper_bound_constrain upper_bound_jacobian zeros_array "
      "zeros_int_array zeros_row_vector zeros_vector ");
  std::set<std::string> names, rows;
  for (const Signature& signature : signatures()) {
    const std::string name = signature.name;
    names.insert(name);
    std::string asked = name;
    if (name.ends_with("_jacobian")) asked = name.substr(0, name.size() - 9) + "_constrain";
    const Demands* own = demands_of(asked);
    const Demands* demands = own ? own : demands_of(name_of_family(asked));
    if (demands) rows.insert(std::string(demands->name));
    const bool is_listed = elsewhere.contains(name) || nothing.contains(name);
    EXPECT_NE(demands != nullptr, is_listed) << name << ": expected a row of demands or a place in a list";
    EXPECT_FALSE(elsewhere.contains(name) && nothing.contains(name)) << name;
  }
  for (const auto* list : {&elsewhere, &nothing})
    for (const std::string& name : *list) EXPECT_TRUE(names.contains(name)) << name;
  for (const Demands& row : all_demands())
    EXPECT_TRUE(rows.contains(std::string(row.name))) << row.name << ": no function has this name";
}

TEST(StanSignature, ThePageTellsOfAll) {
  const std::string page = stan_page();
  for (const Signature& signature : signatures())
    EXPECT_NE(page.find("| `" + std::string(signature.name) + "` |"), std::string::npos) << signature.name;
  EXPECT_NE(page.find("## What is not there"), std::string::npos);
  EXPECT_EQ(page, stan_page());
}

// ADIT_WRITE_PAGES=1 writes it anew.
TEST(StanSignature, ThePageIsTheOneInDocs) {
  const std::string path = ADIT_STAN_PAGE;
  if (std::getenv("ADIT_WRITE_PAGES")) std::ofstream(path) << stan_page();
  std::ifstream file(path);
  const std::string have{std::istreambuf_iterator<char>(file), {}};
  EXPECT_TRUE(have == stan_page()) << "ADIT_WRITE_PAGES=1 stan_signature_test writes docs/stan.md anew";
}

}  // namespace
}  // namespace adit::stan
