// For each error and warning of the checker a program that provokes it: the gist of the text and the place.
#include "stan_checked.hpp"

namespace adit::stan {
namespace {

TEST(StanCheckMessage, Names) {
  expect_error("parameters { real sigma; } model { sgima ~ normal(0, 1); }",
               "'sgima' not in scope. Did you mean 'sigma'?", "sgima");
  expect_error("model { real x = exq(1); }", "no function 'exq'. Did you mean 'exp'?", "exq");
  expect_error("model { real x = normal(0, 1); }", "Did you mean 'normal_lpdf' or 'normal_rng'?", "normal");
  expect_error("data { int n; } parameters { real n; }", "'n' is already in use in the data block", "n; }");
  expect_error("model { real x; { real x; } }", "'x' is already in use", "x; }");
  expect_error("data { real x; } model { for (x in 1:3) { } }", "'x' is already in use", "x in");
  expect_error("functions { void f(real a, real a) { } }", "'a' is already in use", "real a)");
  expect_error("model { lp__ = 3; }", "'lp__' is reserved: the log density is read by target()", "lp__");
  expect_error("model { print(lp__); }", "'lp__' is reserved", "lp__");
  expect_error("model { print(stepsize__); }", "'stepsize__' is reserved, as all names", "stepsize__");
  expect_error("model { { real x; } target += x; }", "'x' not in scope", "x");
  expect_error("model { real x; } generated quantities { real z = x; }", "'x' not in scope", "x");
  expect_error("transformed data { int n = m; int m; }", "'m' not in scope", "m; int");
  expect_error("data { real x; } model { target += x(1); }", "'x' is a variable", "x(1)");
  expect_error("functions { real f() { return 1; } } model { target += f; }", "'f' is a function", "f;");
  expect_fine("data { real beta; real gamma; } model { target += beta(beta, gamma) + e(); }");
  expect_fine("functions { real f(real g) { return g; } real g(real f) { return g(f); } }");
}

TEST(StanCheckMessage, Declarations) {
  expect_error("data { vector[2.5] x; }", "must be of type int; found real", "2.5");
  expect_error("parameters { real a; } transformed parameters { vector[num_elements({a})] b; }",
               "must be made of data", "num_elements");
  expect_error("parameters { int k; }", "Parameters may not be integers", "k");
  expect_error("parameters { array[2] int k; }", "Parameters may not be integers", "k");
  expect_error("transformed parameters { tuple(real, int) k; }", "may not be integers", "k");
  expect_error("data { int<lower=0.5> k; }", "must be of type int; found real", "0.5");
  expect_error("data { vector[2] a; real<lower=a> k; }", "must be a scalar", "a");
  expect_fine("data { vector[2] a; vector<lower=a>[2] k; array[3] vector<lower=a, upper=a>[2] l; }");
  expect_error("model { int x = 2.5; }", "expected int, found real", "2.5");
  expect_fine("model { real x = 2; array[2] real y = {1, 2}; int n = 3; vector[n] v; }");
  expect_fine("functions { void f(int n) { vector[n] x; } }");
  expect_error("transformed data { vector[poisson_rng(3)] x; }", "may not give the size", "poisson_rng");
}

TEST(StanCheckMessage, Values) {
  expect_error("model { tuple(real, real) t = (1, 2); t.3 = 1; }", "has no member 3", "t.3");
  expect_error("model { tuple(real, real) t = (1, 2); real y = t.3; }", "A tuple of 2 has no member 3",
               "t.3");
  expect_error("model { real x = 1; real y = x.1; }", "Only tuples have members; found real", "x.1");
  expect_error("model { real y = 1.5 ? 1 : 2; }", "condition of ?: must be of type int; found real", "1.5");
  expect_error("model { real y = 1 ? [1, 2] : 2; }", "must have one type; found row_vector and int", "1 ?");
  expect_error("model { array[2] real y = {1, [1, 2]}; }", "must have one type; expected int", "[1, 2]");
  expect_error("model { row_vector[2] y = [1, {2}]; }", "row vector must all be int or real", "{2}");
  expect_error("model { real x = 1; real y = x[1]; }", "real has no elements to index", "x[1]");
  expect_error("model { real x = 1'; }", "a vector, row_vector or matrix was expected; found int", "1'");
  expect_error("model { int x = !1.5; }", "Ill-typed operand of !: int was expected; found real", "!1.5");
  expect_error("model { real x = 3i; }", "Complex numbers are not supported", "3i");
  expect_error("model { tuple(real, real) t = (1, 2); target += t; }", "target += takes numbers", "t; }");
  expect_error("model { for (i in 1.5:3) { } }", "lower bound of a loop must be of type int", "1.5");
  expect_error("model { vector[3] x = [1, 2, 3]'; real y = x[1.5]; }", "array[] int or a range; found real",
               "1.5");
}

TEST(StanCheckMessage, FunctionsWithEndings) {
  expect_error("functions { real f_lpdf() { return 1; } }", "needs a first argument of type real", "f_lpdf");
  expect_error(
      "functions { void f_jacobian(real x) { jacobian += x; } } parameters { real x; } model { "
      "f_jacobian(x); }",
      "functions with the suffix _jacobian", "f_jacobian(x)");
  expect_error(
      "functions { vector f_rng(real t, vector y) { return y; } } "
      "model { array[1] vector[1] z = ode_rk45(f_rng, [1]', 0, {1}); }",
      "A function with the suffix _rng may not be passed", "f_rng, ");
  expect_error(
      "functions { vector f(real t, vector y) { return y; } } model { array[1] vector[1] z = ode_rk45(f, "
      "[1]'); }",
      "takes at least 3 arguments behind the function's name; found 1", "ode_rk45");
  expect_error(
      "functions { vector f(real t, vector y) { return y; } } parameters { real a; } "
      "model { array[1] vector[1] z = ode_rk45_tol(f, [1]', 0, {1}, a, 1e-6, 10); }",
      "Argument 5 of 'ode_rk45_tol' must be data", "a, 1e-6");
}

TEST(StanCheckMessage, Assignments) {
  expect_error("data { real x; } model { x = 1; }", "'x', which belongs to the data block", "x = 1");
  expect_error("parameters { real x; } model { x = 1; }", "which belongs to the parameters block", "x = 1");
  expect_error("transformed data { real x; } model { x = 1; }", "transformed data", "x = 1");
  expect_error("model { for (i in 1:3) i = 2; }", "Cannot assign to 'i'", "i = 2");
  expect_error("functions { void f(real x) { x = 1; } }", "Cannot assign to 'x'", "x = 1");
  expect_error("functions { void f() { f = 1; } }", "it is a function", "f = 1");
  expect_error("model { int x; x = 1.5; }", "expected int, found real", "1.5");
  expect_error("model { vector[3] x; x = [1, 2, 3]; }", "expected vector, found row_vector", "[1");
  expect_error("model { vector[3] x; x[1, 2] = 1; }", "Too many indices", "x[1");
  expect_error("model { int x = 1; x += 1.5; }", "found int and real", "x += ");
  expect_error("model { vector[2] x; x *= x; }", "found vector and vector", "x *=");
  expect_error("model { array[2] int x = {1, 2}; x[x[1]] = 2; }", "left of its own assignment", "x[1]");
  expect_error("model { vector[4] x; x[1:3][1:2] = [1, 2]'; }", "one pair of brackets", "x[1:3]");
  expect_error("model { real x; (x, x) = (1, 2); }", "assigned to twice", "(x, x)");
  expect_error("model { y = 1; }", "'y' not in scope", "y");
  expect_fine("model { vector[3] x; x[1] = 1; x[{1, 2}] = [1, 2]'; x[2:] += 1; x .*= x; x /= 2; }");
  expect_fine(
      "transformed data { array[2] real x = {1, 2}; matrix[2, 2] m; m[, 1] = [1, 2]'; m[1] = [1, 2]; x[1] += "
      "1; }");
}

TEST(StanCheckMessage, WhereThingsMayStand) {
  expect_error("transformed data { target += 1; }", "target += may only", "target");
  expect_error("generated quantities { real x = target(); }", "target() may only", "target()");
  expect_error("functions { void f() { target += 1; } }", "target += may only", "target");
  expect_fine("functions { void f_lp() { target += 1; 1.5 ~ normal(0, 1); } } model { f_lp(); }");
  expect_error("functions { void f_lp() { } } transformed data { f_lp(); }", "'f_lp' may only be called",
               "f_lp");
  expect_error("transformed parameters { 1.5 ~ normal(0, 1); }", "distribution statement (~) may only",
               "1.5 ~");
  expect_error("model { jacobian += 1; }", "jacobian += may only", "jacobian");
  expect_fine("transformed parameters { jacobian += 1; }");
  expect_error("model { real x = normal_rng(0, 1); }", "'normal_rng' may only", "normal_rng");
  expect_error("functions { real f() { return normal_rng(0, 1); } }", "'normal_rng' may only", "normal_rng");
  expect_fine(
      "functions { real f_rng() { return normal_rng(0, 1); } } generated quantities { real x = f_rng(); }");
  expect_error("generated quantities { real x = normal_lupdf(1 | 0, 1); }", "elsewhere write 'normal_lpdf'",
               "normal_lupdf");
  expect_fine("model { target += normal_lupdf(1 | 0, 1); }");
  expect_error("model { break; }", "A break may only", "break");
  expect_error("model { if (1) continue; }", "A continue may only", "continue");
  expect_error("model { return; }", "A return may only stand in a function", "return");
  expect_error("data { int n; } model { while (n + 0.5) { } }", "condition of while must be of type int",
               "n + 0.5");
  expect_error("model { if (1.5) { } }", "condition of if must be of type int", "1.5");
  expect_error("model { for (i in 1:2.5) { } }", "upper bound of a loop must be of type int", "2.5");
  expect_error("model { for (x in 3) { } }", "goes over an array", "3");
}

TEST(StanCheckMessage, FunctionsOfThePrograms) {
  expect_error("functions { real f(real x) { if (x > 0) return 1; } }", "on every path", "f(");
  expect_error("functions { real f(real x) { while (1) { if (x > 0) break; return 1; } } }", "on every path",
               "f(");
  expect_fine(
      "functions { real f(real x) { if (x > 0) return 1; else if (x < -1) return 2; else reject(\"no\"); } "
      "}");
  expect_fine("functions { real f(real x) { while (1) { if (x > 0) return 1; } } }");
  expect_error("functions { int f() { return 1.5; } }", "must return int; found real", "1.5");
  expect_error("functions { void f() { return 1; } }", "returns nothing", "return 1");
  expect_error("functions { real f() { return; } }", "found no value", "return;");
  expect_error("functions { real f(); }", "declared but not defined", "f");
  expect_error("functions { real f(real x) { return 1; } real f(real y) { return 2; } }",
               "already been defined", "f(real y)");
  expect_error("functions { real f(real x) { return 1; } int f(real y) { return 2; } }", "result alone",
               "f(real y)");
  expect_error("functions { real f(real x); real f(data real x) { return 1; } }", "was declared as",
               "f(data");
  expect_error("functions { real sin(real x) { return 1; } }", "already built in", "sin");
  expect_error("functions { real reduce_sum(real x) { return 1; } }", "may not be overloaded", "reduce_sum");
  expect_error("functions { real laplace_marginal_tol_neg_binomial_2_log_lpmf(array[] int x) { return 1; } }",
               "may not be overloaded", "laplace_marginal_tol");
  expect_error("model { real x = add(1); }", "which is the operator + of two values; found (int)", "add");
  expect_error("model { real x = minus(1, 2); }", "which is the operator - of one value", "minus");
  expect_fine("functions { real add(real x) { return x; } } model { real x = add(1.5) + add(1, 2); }");
  expect_error("functions { vector dae(vector x) { return x; } }", "may not be overloaded", "dae");
  expect_fine(
      "functions { real sin(array[] real x, int n) { return 1; } real f(int n) { return n < 1 ? 1 : n * f(n "
      "- 1); } }");
  expect_error("functions { int f_lpdf(real x) { return 1; } }", "must return real", "f_lpdf");
  expect_error("functions { real f_lpdf(int x) { return 1; } }", "must be real or a container", "f_lpdf");
  expect_error("functions { real f_lpmf(real x) { return 1; } }", "must be int or an array", "f_lpmf");
  expect_error("functions { real f_lupdf(real x) { return 1; } }", "'f_lupdf' may not be defined", "f_lupdf");
  expect_error("functions { void f() { } } model { real x = f(); }", "gives none", "f()");
  expect_error("functions { real f() { return 1; } } model { f(); }", "which is not used", "f()");
  expect_error("functions { real f(real x) { return x; } } model { target += f({1.5}); }",
               "Expected (real) => real; found (array[] real)", "f({");
  expect_error(
      "functions { real f(int a, real b) { return 1; } real f(real a, int b) { return 1; } } model { target "
      "+= f(1, 2); }",
      "ambiguous", "f(1, 2)");
  expect_error(
      "functions { real f(data real x) { return x; } } parameters { real p; } model { target += f(p); }",
      "must be data", "p");
  expect_fine(
      "functions { real f(data real x) { return x; } } parameters { real p; } generated quantities { real z "
      "= f(p); }");
}

TEST(StanCheckMessage, Distributions) {
  expect_error("parameters { real x; } model { x ~ nromal(0, 1); }",
               "no distribution 'nromal'. Did you mean 'normal'?", "nromal");
  expect_error("parameters { real x; } model { x ~ normal_lpdf(0, 1); }", "write '~ normal'", "normal_lpdf");
  expect_error("parameters { real x; } model { x ~ normal_lcdf(0, 1); }", "is no distribution",
               "normal_lcdf");
  expect_error("parameters { real x; } model { x ~ poisson(1); }", "found (real, int)", "x ~");
  expect_error("parameters { real x; } model { x ~ normal(0); }",
               "Expected (reals | reals, reals); found (real, int)", "x ~");
  expect_error("transformed data { matrix[1, 1] x = append_row(1); }",
               "(row_vector, matrix) or (matrix, row_vector) or 1 other forms; found (int)", "append_row");
  expect_error("parameters { real x; } model { target += normal_lpdf(x, 0, 1); }", "needs a bar",
               "normal_lpdf");
  expect_error("model { target += exp(1 | 2); }", "takes no bar", "exp");
  expect_error("data { int n; } model { n ~ poisson_log(1) T[0, ]; }", "needs 'poisson_log_lccdf'", "n ~");
  expect_error("data { int n; } model { n ~ poisson(3) T[1.5, ]; }", "needs 'poisson_lccdf' for (real, int)",
               "n ~");
  expect_error("parameters { real x; } model { x ~ normal(0, 1) T[{1}, ]; }", "must be int or real", "{1}");
  expect_fine(
      "parameters { real x; vector[2] v; } model { x ~ normal(0, 1) T[0, 2]; v ~ normal(0, 1); v ~ "
      "multi_normal(v, identity_matrix(2)); }");
  expect_fine(
      R"(functions { real own_lpdf(real x, real s) { return x; } real own_lcdf(real x, real s) { return x; } }
    parameters { real x; } model { x ~ own(2) T[, 1]; target += own_lupdf(x | 2) + own_lpdf(x | 1); })");
}

TEST(StanCheckMessage, FunctionsThatTakeFunctions) {
  const std::string ode = R"(functions {
    vector f(real t, vector y, real a, array[] int k) { return a * y; }
    real part(array[] real x, int from, int to, real m) { return sum(x) * m; }
    array[] real g(real t, array[] real y, array[] real p, data array[] real a, data array[] int b) {
      return y;
    }
    vector shard(vector a, vector b, data array[] real c, data array[] int d) { return a; }
  }
  data { array[3] real ts; array[2] int k; array[0] real xr; array[2, 0] real xxr; array[2, 0] int xxi; }
  parameters { vector[2] y0; array[2] real p; real a; }
  transformed parameters { %s }
)";
  const auto with = [&](const std::string& text) {
    std::string program = ode;
    return program.replace(program.find("%s"), 2, text);
  };
  expect_fine(with("array[3] vector[2] z = ode_rk45(f, y0, 0, ts, a, k);"));
  expect_fine(with("array[3] vector[2] z = ode_bdf_tol(f, y0, 0, ts, 1e-6, 1e-6, 100, a, k);"));
  expect_fine(with("array[3, 2] real z = integrate_ode_rk45(g, p, 0, ts, p, xr, k);"));
  expect_fine(with("array[3, 2] real z = integrate_ode_bdf(g, p, 0, ts, p, xr, k, 1e-6, 1e-6, 100);"));
  expect_fine(with("real z = reduce_sum(part, p, 1, a);"));
  expect_fine(with("vector[4] z = map_rect(shard, y0, {y0, y0}, xxr, xxi);"));
  expect_error(with("array[3] vector[2] z = ode_rk45(nope, y0, 0, ts, a, k);"), "no function of the program",
               "nope");
  expect_error(with("array[3] vector[2] z = ode_rk45(f, y0, 0, ts, a);"), "does not fit 'ode_rk45'", "f");
  expect_error(with("array[3] vector[2] z = ode_rk45(f, y0, 0, ts, k, a);"), "does not fit 'ode_rk45'", "f");
  expect_error(with("array[3] vector[2] z = ode_rk45(f, p, 0, ts, a, k);"),
               "must be vector; found array[] real", "p");
  expect_error(with("array[3] vector[2] z = ode_rk45(f, y0);"), "at least 3 arguments", "ode_rk45");
  expect_error(with("array[3] vector[2] z = ode_rk45_tol(f, y0, 0, ts, a, 1e-6, 10, a, k);"), "must be data",
               "a");
  expect_error(with("array[3, 2] real z = integrate_ode_rk45(g, p, 0, ts, p, p, k);"),
               "Argument 6 of 'integrate_ode_rk45' must be data", "p");
  expect_error(with("real z = reduce_sum(part, a, 1, a);"), "must be an array", "a");
  expect_error(with("real z = reduce_sum(1 + 1, p, 1, a);"), "must be the name of a function", "reduce_sum");
}

TEST(StanCheckMessage, Warnings) {
  expect_warning("data { int n; } model { target += n / 2; }", "Integer division", "n / 2");
  expect_quiet("model { target += 4 / 2; target += 1 / 2.0; }");
  expect_warning("parameters { real a; real b; } model { a ~ normal(0, 1); }",
                 "parameter 'b' is declared but never used", "b");
  expect_warning("model { real x = 1; }", "'x' is never used", "x");
  expect_warning("model { real x; target += x; }", "before its use", "x");
  expect_quiet("model { vector[2] x; for (i in 1:rows(x)) { if (i > 1) target += x[i - 1]; x[i] = i; } }");
  expect_warning("parameters { real x; } model { x ~ gamma(1, 1); }", "whose values are positive", "x ~");
  expect_quiet("parameters { real<lower=0> x; } model { x ~ gamma(1, 1); }");
  expect_warning("parameters { real<lower=0> x; } model { x ~ beta(1, 1); }", "between 0 and 1", "x ~");
  expect_warning("parameters { real x; } model { x ~ uniform(0, 1); }", "uniform", "x ~");
  expect_quiet("parameters { real<lower=0, upper=1> x; } model { x ~ uniform(0, 1); }");
  expect_warning("parameters { real x; real s; } model { x ~ normal(0, s); s ~ normal(0, 1); }",
                 "must be positive", "s)");
  expect_warning("parameters { real<lower=0> x; } model { log(x) ~ normal(0, 1); }", "Jacobian", "log(x)");
  expect_quiet(
      "parameters { vector[3] x; } model { x[1] - 2 * x[2] ~ normal(0, 1); to_vector(x) ~ normal(0, 1); }");
  expect_warning("data { real x; } model { target += fabs(x); }", "write 'abs'", "fabs");
}

}  // namespace
}  // namespace adit::stan
