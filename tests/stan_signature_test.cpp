// The table of built-in functions: every row can be read, calls find their rows, and the page tells of all.
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>

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
