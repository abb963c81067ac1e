// For each error of a checked program's run with its data a program that provokes it: the gist of the text
// and the place.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <adit/error.hpp>

#include "stan/lower.hpp"
#include "stan_checked.hpp"

namespace adit::stan {
namespace {

// Something with the gist is said of the place where the program goes on with `at`.
void expect_refusal(const std::string& text, const std::string& gist, const std::string& at,
                    const std::string& data = "{}") {
  const Checked program = checked(text);
  ASSERT_FALSE(has_errors(program)) << text << "\n" << all_text(program);
  const std::string place = fmt::format("line 1, column {}: ", text.find(at));
  try {
    lower(program.program, data_from_json(data, "data"));
  } catch (const Error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find(gist), std::string::npos) << said << "\n" << text;
    EXPECT_NE(said.find(place), std::string::npos) << said << "\n" << place << text;
    return;
  }
  ADD_FAILURE() << "nothing was said of " << text;
}

TEST(StanRunMessage, Indices) {
  expect_refusal("transformed data { vector[3] x = [1, 2, 3]'; real y = x[4]; }",
                 "expected an index from 1 to 3, got 4", "4]; }");
  expect_refusal("transformed data { vector[3] x = [1, 2, 3]'; real y = x[0]; }", "from 1 to 3, got 0",
                 "0]; }");
  expect_refusal("transformed data { int n; vector[3] x = [1, 2, 3]'; real y = x[n]; }",
                 "expected an index, got a variable that has no value yet", "n]; }");
  expect_refusal("parameters { vector[3] x; } model { for (i in 1:9) target += x[i]; }", "from 1 to 3, got 4",
                 "i]; }");
  expect_refusal("parameters { vector[3] x; } model { target += sum(x[{1, 2, 7, 3}]); }",
                 "from 1 to 3, got 7 at [3]", "{1, 2, 7, 3}");
  expect_refusal("parameters { vector[3] x; } model { target += sum(x[2:5]); }", "from 1 to 3, got 5",
                 "2:5]");
  expect_refusal(
      "parameters { real a; vector[9] x; } model { int n = a > 0 ? 2 : 3; vector[3] y = x[1:n]; target += "
      "sum(y); }",
      "expected bounds of a range that follow from data alone", "1:n]");
  expect_refusal("parameters { vector[3] x; } model { vector[4] y; y[1:4] = x; }",
                 "expected a right-hand side of size", "y[1:4] = x");
}

TEST(StanRunMessage, Sizes) {
  expect_refusal("data { int n; } transformed data { vector[n] x; }", "expected a size of at least 0, got -2",
                 "n] x", R"({"n": -2})");
  expect_refusal("transformed data { array[3000000, 3000] int x; }", "expected at most 2^31 numbers",
                 "array[3000000, 3000] int");
  expect_refusal("transformed data { int n; vector[n] x; }",
                 "expected a whole number, got a variable that has no value", "n] x");
  expect_refusal("parameters { vector[3] x; vector[4] y; } model { target += x + y; }",
                 "expected operands of one size, got", "x + y");
  expect_refusal("parameters { row_vector[3] x; vector[4] y; } model { target += x * y; }",
                 "expected sizes that agree in a product", "x * y");
  expect_refusal("parameters { vector[3] x; vector[4] y; } model { array[2] vector[3] z = {x, y}; }",
                 "expected elements of one size", "{x, y}");
  expect_refusal("transformed data { vector[2] x = rep_vector(1, -1); }",
                 "rep_vector: expected a size of at least 0", "rep_vector");
  expect_refusal("parameters { vector[6] x; } model { target += sum(to_matrix(x, 2, 2)); }",
                 "to_matrix: expected 4 numbers, got 6", "to_matrix");
  expect_refusal("parameters { matrix[2, 2] x; } model { target += sum(append_col(x, [1, 2, 3]')); }",
                 "append_col: expected sizes that agree", "append_col");
  expect_refusal("parameters { vector[3] x; } model { target += sum(head(x, 4)); }", "head: expected",
                 "head");
  expect_refusal("parameters { vector[3] x; } model { target += sum(segment(x, 2, -1)); }",
                 "segment: expected a size of at least 0", "segment");
  expect_refusal("transformed data { matrix[2, 2] x = identity_matrix(-1); }",
                 "identity_matrix: expected a size of at least 0", "identity_matrix");
  expect_refusal("transformed data { vector[3] x = one_hot_vector(3, 4); }",
                 "one_hot_vector: expected a place from 1 to 3, got 4", "one_hot_vector");
}

// Shards without any are no vector at all.
TEST(StanRunMessage, Shards) {
  const std::string shards =
      "functions { vector f(vector phi, vector theta, data array[] real x, data array[] int i) { return phi; "
      "} } "
      "transformed data { array[2, 0] real x; array[2, 0] int i; array[0, 0] real none; array[0, 0] int no; "
      "} "
      "parameters { vector[1] p; } model { array[3] vector[0] theta; array[0] vector[0] nothing; ";
  expect_refusal(shards + "target += map_rect(f, p, theta, x, i); }",
                 "map_rect: expected data of 3 shards, as there are parameters of, got 2", "map_rect(f");
  const Checked program =
      checked(shards + "target += map_rect(f, p, nothing, none, no); target += -p[1] ^ 2; }");
  EXPECT_EQ(lower(program.program, {}).model.size(), 1);
  const Checked anywhere = checked(
      "functions { vector f(vector phi, vector theta, data array[] real x, data array[] int i) { return phi; "
      "} } transformed data { array[0, 0] real x; array[0, 0] int i; array[0] vector[0] theta; "
      "vector[0] known = map_rect(f, [1.0]', theta, x, i); } parameters { vector[1] p; } "
      "transformed parameters { vector[0] q = map_rect(f, p, theta, x, i); } model { p ~ std_normal(); } "
      "generated quantities { vector[0] g = map_rect(f, p, theta, x, i); int n = size(known) + size(g); }");
  EXPECT_FALSE(has_errors(anywhere)) << all_text(anywhere);
  EXPECT_EQ(lower(anywhere.program, {}).model.size(), 1);
}

TEST(StanRunMessage, Numbers) {
  expect_refusal("data { int n; } transformed data { int k = 7 %/% n; }", "expected a divisor that is not 0",
                 "7 %/%", R"({"n": 0})");
  expect_refusal("parameters { matrix[2, 2] x; } model { target += sum(x ^ 2000); }",
                 "expected a power from 0 to 1000", "x ^");
  expect_refusal("transformed data { vector[0] x; real y = mean(x); }", "mean: expected at least one number",
                 "mean");
  expect_refusal("parameters { vector[3] x; } model { target += quantile(x, 0.5); }",
                 "quantile of values that follow from parameters", "quantile");
  expect_refusal("transformed data { int k = rank([1, 2]', 3); }",
                 "rank: expected a place from 1 to 2, got 3", "rank");
}

TEST(StanRunMessage, Loops) {
  expect_refusal("transformed data { int n; real y = 0; for (i in 1:n) y += i; }",
                 "expected bounds of a loop", "1:n");
}

TEST(StanRunMessage, Functions) {
  expect_refusal("functions { real f(int n) { return f(n + 1); } } transformed data { real y = f(1); }",
                 "expected calls inside of calls to end", "f(n + 1)");
  expect_refusal("transformed data { reject(\"n is \", 3); }", "reject: n is 3", "reject");
  expect_refusal("data { int n; } transformed data { if (n > 1) reject(\"n = \", n); }", "reject: n = 2",
                 "reject", R"({"n": 2})");
}

// What follows from data is known in transformed data, whichever operator or function it comes from.
TEST(StanRunMessage, DataAreKnown) {
  for (const char* value : {"v * v'",
                            "[v' * v]",
                            "m * v",
                            "v' * m",
                            "m * m",
                            "m \\ v",
                            "m \\ m",
                            "v' / m",
                            "m / m",
                            "m ^ 2",
                            "m ./ m",
                            "m .* m",
                            "m .^ 2",
                            "2 ^ v",
                            "-m",
                            "m'",
                            "v + 1",
                            "m / 2",
                            "2 ./ m",
                            "quad_form(m, m)",
                            "inverse_spd(m)",
                            "cholesky_decompose(m)",
                            "eigenvalues_sym(m)",
                            "mdivide_left_spd(m, v)",
                            "multiply(v, v')",
                            "quantile(v, {0.1, 0.9})",
                            "sort_asc(v)",
                            "append_row(v, m \\ v)",
                            "m[, 1] * v'",
                            "diag_pre_multiply(v, m)",
                            "tcrossprod(m)",
                            "matrix_exp(m)",
                            "to_matrix(v * v', 1, 4)",
                            "(1 > 0 ? v * v' : m)"}) {
    SCOPED_TRACE(value);
    expect_refusal(
        std::string("transformed data { vector[2] v = [1, 2]'; matrix[2, 2] m = [[2, 0.5], [0.5, 1]]; "
                    "real y = sum(") +
            value + "); if (y > -1e9) reject(\"known\"); }",
        "reject: known", "reject");
  }
}

const std::string decay =
    "functions { vector f(real t, vector y, real k) { return -k * y; } "
    "vector g(real t, vector y, real k) { return [k, k]'; } } "
    "parameters { real<lower=0> k; } model { array[2] vector[1] y = ";

TEST(StanRunMessage, DifferentialEquations) {
  expect_refusal(decay + "ode_rk45(f, [1]', 0, {2, 1}, k); }", "ode_rk45: expected times that rise",
                 "ode_rk45");
  expect_refusal(decay + "ode_rk45(f, [1]', 3, {1, 2}, k); }", "ode_rk45: expected times that rise",
                 "ode_rk45");
  expect_refusal(decay + "ode_bdf(g, [1]', 0, {1, 2}, k); }", "ode_bdf: expected 1 derivatives of g, got 2",
                 "ode_bdf");
  expect_refusal(decay + "ode_rk45_tol(f, [1]', 0, {1, 2}, 1e-6, 1e-6, 0, k); }",
                 "ode_rk45_tol: expected a limit of steps above 0, got 0", "ode_rk45_tol");
  expect_refusal(decay + "ode_adams_tol(f, [1]', 0, {1, 2}, 0.0, 1e-6, 9, k); }",
                 "ode_adams_tol: expected a relative tolerance above 0, got 0", "ode_adams_tol");
  expect_refusal(decay + "ode_bdf_tol(f, [1]', 0, {1, 2}, 1e-6, -1.0, 9, k); }",
                 "ode_bdf_tol: expected an absolute tolerance above 0, got -1", "ode_bdf_tol");
}

// Where the steps do not suffice there is no density; where they do, they change nothing.
TEST(StanRunMessage, StepsOfDifferentialEquations) {
  for (const std::string solver : {"ode_rk45_tol", "ode_ckrk_tol", "ode_adams_tol", "ode_bdf_tol"}) {
    const auto density = [&](int steps) {
      const Checked program =
          checked(decay + solver + fmt::format("(f, [1]', 0, {{5, 9}}, 1e-8, 1e-10, {}, k); ", steps) +
                  "target += y[1, 1]; k ~ exponential(1); }");
      EXPECT_FALSE(has_errors(program)) << all_text(program);
      const Lowered lowered = lower(program.program, data_from_json("{}", "data"));
      return lowered.model.log_density(tensor(std::vector<double>{0.8})).item<double>();
    };
    const double k = std::exp(0.8);
    EXPECT_NEAR(density(100000), std::exp(-5 * k) - k + 0.8, 1e-6) << solver;
    EXPECT_NEAR(density(2000), std::exp(-5 * k) - k + 0.8, 1e-6) << solver;
    EXPECT_EQ(density(3), -INFINITY) << solver;
  }
}

// Data that no solution has are an error, with the solver and its limit; they used to be no numbers.
TEST(StanRunMessage, DifferentialEquationsOfData) {
  const auto program = [](const std::string& call) {
    return "functions { vector f(real t, vector y) { return -y; } vector g(real t, vector y) { return y .* "
           "y; } } "
           "transformed data { array[1] vector[1] y = " +
           call + "; }";
  };
  for (const std::string solver : {"ode_rk45", "ode_bdf"}) {
    expect_refusal(program(solver + "_tol(f, [1]', 0, {50}, 1e-8, 1e-10, 3)"),
                   solver + "_tol: no solution within 3 steps from one time to the next", "ode_");
    expect_refusal(program(solver + "(g, [1]', 0, {2})"), solver + ": no solution within", "ode_");
  }
}

}  // namespace
}  // namespace adit::stan
