// What the checker fills in: types, slots and functions; and that hostile programs take it no time.
#include <chrono>

#include "stan_checked.hpp"

namespace adit::stan {
namespace {

const std::string type_data = R"(data {
  int i; int j; real r; vector[3] v; row_vector[3] w; matrix[3, 3] m;
  array[3] int ii; array[3] real rr; array[2, 2] real rrr; array[2] vector[3] vv; array[2] row_vector[3] ww;
  array[2] matrix[3, 3] mm; array[2, 2] int iii; tuple(int, vector[3]) t; array[2] tuple(int, real) tt;
}
)";

std::string type_of(const std::string& expression) {
  const Checked result = checked(type_data + "model { print(" + expression + "); }");
  if (has_errors(result)) return "error";
  const Statement& print = *result.program.block(BlockKind::model).statements.at(0);
  return to_text(print.pieces.at(0).value->type);
}

TEST(StanCheck, TypesOfOperators) {
  const std::vector<std::pair<const char*, const char*>> cases{{"1 + 2", "int"},
                                                               {"i + r", "real"},
                                                               {"i - j", "int"},
                                                               {"r * v", "vector"},
                                                               {"v + 1", "vector"},
                                                               {"v + v", "vector"},
                                                               {"v + w", "error"},
                                                               {"v * v", "error"},
                                                               {"v * w", "matrix"},
                                                               {"w * v", "real"},
                                                               {"w * m", "row_vector"},
                                                               {"m * v", "vector"},
                                                               {"m * m", "matrix"},
                                                               {"v * m", "error"},
                                                               {"m * w", "error"},
                                                               {"i / j", "int"},
                                                               {"i / 2.0", "real"},
                                                               {"r / v", "vector"},
                                                               {"v / r", "vector"},
                                                               {"v / v", "error"},
                                                               {"w / m", "row_vector"},
                                                               {"m / m", "matrix"},
                                                               {"m \\ v", "vector"},
                                                               {"m \\ m", "matrix"},
                                                               {"v \\ m", "error"},
                                                               {"i %/% j", "int"},
                                                               {"i % j", "int"},
                                                               {"r % i", "error"},
                                                               {"v .* v", "vector"},
                                                               {"v ./ v", "vector"},
                                                               {"m .* m", "matrix"},
                                                               {"m .* v", "error"},
                                                               {"2 ^ 3", "real"},
                                                               {"r ^ 2", "real"},
                                                               {"v .^ 2", "vector"},
                                                               {"v .^ v", "vector"},
                                                               {"2 .^ v", "vector"},
                                                               {"i && j", "int"},
                                                               {"r || i", "error"},
                                                               {"!i", "int"},
                                                               {"!r", "error"},
                                                               {"r < i", "int"},
                                                               {"v < v", "error"},
                                                               {"-v", "vector"},
                                                               {"-rr", "array[] real"},
                                                               {"+v", "vector"},
                                                               {"v'", "row_vector"},
                                                               {"w'", "vector"},
                                                               {"m'", "matrix"},
                                                               {"r'", "error"},
                                                               {"rr + rr", "error"},
                                                               {"i ? i : r", "real"},
                                                               {"i ? v : w", "error"},
                                                               {"r ? 1 : 2", "error"},
                                                               {"i ? ii : rr", "array[] real"},
                                                               {"-i", "int"},
                                                               {"i == r", "int"},
                                                               {"m + v", "error"},
                                                               {"(i + j) * v", "vector"}};
  for (const auto& [expression, type] : cases) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(StanCheck, TypesOfPlaces) {
  const std::vector<std::pair<const char*, const char*>> cases{{"v[1]", "real"},
                                                               {"v[ii]", "vector"},
                                                               {"v[1:2]", "vector"},
                                                               {"v[:2]", "vector"},
                                                               {"v[2:]", "vector"},
                                                               {"v[:]", "vector"},
                                                               {"w[1]", "real"},
                                                               {"w[ii]", "row_vector"},
                                                               {"m[1]", "row_vector"},
                                                               {"m[1, 2]", "real"},
                                                               {"m[:, 1]", "vector"},
                                                               {"m[1, :]", "row_vector"},
                                                               {"m[ii, ii]", "matrix"},
                                                               {"m[ii]", "matrix"},
                                                               {"m[1:2, 2]", "vector"},
                                                               {"rr[1]", "real"},
                                                               {"rr[ii]", "array[] real"},
                                                               {"rrr[1]", "array[] real"},
                                                               {"rrr[1, 2]", "real"},
                                                               {"rrr[:, 1]", "array[] real"},
                                                               {"rrr[1, :]", "array[] real"},
                                                               {"rrr[ii, ii]", "array[,] real"},
                                                               {"vv[1]", "vector"},
                                                               {"vv[1, 2]", "real"},
                                                               {"vv[:, 2]", "array[] real"},
                                                               {"vv[:, ii]", "array[] vector"},
                                                               {"mm[1]", "matrix"},
                                                               {"mm[:, 1]", "array[] row_vector"},
                                                               {"mm[:, 1, 2]", "array[] real"},
                                                               {"mm[:, :, 2]", "array[] vector"},
                                                               {"mm[1, 2, 3]", "real"},
                                                               {"mm[1][2]", "row_vector"},
                                                               {"r[1]", "error"},
                                                               {"v[1, 2]", "error"},
                                                               {"v[r]", "error"},
                                                               {"v[1.0:2]", "error"},
                                                               {"v[v]", "error"},
                                                               {"m[iii]", "error"},
                                                               {"t.1", "int"},
                                                               {"t.2", "vector"},
                                                               {"t.2[1]", "real"},
                                                               {"t.3", "error"},
                                                               {"tt[1].2", "real"},
                                                               {"tt[1]", "tuple(int, real)"},
                                                               {"r.1", "error"},
                                                               {"ii[ii]", "array[] int"},
                                                               {"ii[1]", "int"}};
  for (const auto& [expression, type] : cases) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(StanCheck, TypesOfLiteralsAndCalls) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"{1, 2}", "array[] int"},
      {"{1, 2.5}", "array[] real"},
      {"{{1}, {2.5}}", "array[,] real"},
      {"{v, v}", "array[] vector"},
      {"{v, w}", "error"},
      {"{ii, rr}", "array[,] real"},
      {"[1, 2.5]", "row_vector"},
      {"[[1, 2], [3, 4]]", "matrix"},
      {"[w, w]", "matrix"},
      {"[w, 1]", "error"},
      {"[v, v]", "error"},
      {"[]", "row_vector"},
      {"(1, v)", "tuple(int, vector)"},
      {"{(1, 2), (1.5, 2)}", "array[] tuple(real, int)"},
      {"{(1, 2.5), (1.5, 2)}", "array[] tuple(real, real)"},
      {"exp(i)", "real"},
      {"exp(vv)", "array[] vector"},
      {"abs(i)", "int"},
      {"abs(r)", "real"},
      {"max(ii)", "int"},
      {"max(i, j)", "int"},
      {"max(r, i)", "error"},
      {"sum(ii)", "int"},
      {"sum(rr)", "real"},
      {"pow(v, 2)", "vector"},
      {"normal_lpdf(v | 0, 1)", "real"},
      {"bernoulli_lpmf(ii | 0.5)", "real"},
      {"bernoulli_lpmf(rr | 0.5)", "error"},
      {"rep_array(v, 2, 3)", "array[,] vector"},
      {"append_array(ii, rr)", "array[] real"},
      {"to_vector(m)", "vector"},
      {"head(vv, 1)", "array[] vector"},
      {"pi()", "real"},
      {"size(vv)", "int"},
      {"sin(t)", "error"},
      {"log_sum_exp(r, r)", "real"},
      {"log_sum_exp(v)", "real"},
      {"std_normal_lpdf(v | )", "real"},
      {"(r,)", "tuple(real,)"},
      {"(r,).1", "real"},
      {"fma(v, 2, r)", "vector"},
      {"fma(ii, r, r)", "error"},
      {"fma(vv, vv, vv)", "error"},
      {"add(i, j)", "int"},
      {"add(v, r)", "vector"},
      {"add(v, w)", "error"},
      {"subtract(m, 1)", "matrix"},
      {"multiply(w, v)", "real"},
      {"multiply(v, w)", "matrix"},
      {"multiply(m, v)", "vector"},
      {"divide(w, m)", "row_vector"},
      {"elt_multiply(m, m)", "matrix"},
      {"elt_divide(v, 2)", "vector"},
      {"minus(ii)", "array[] int"},
      {"plus(v)", "vector"},
      {"logical_lt(r, i)", "int"},
      {"logical_and(i, j)", "int"},
      {"logical_negation(i)", "int"},
      {"logical_eq(v, v)", "error"},
      {"add(r)", "error"},
      {"minus(r, r)", "error"}};
  for (const auto& [expression, type] : cases) EXPECT_EQ(type_of(expression), type) << expression;
}

TEST(StanCheck, FillsSlotsTypesAndFunctions) {
  const Checked result = checked(R"(functions {
  real twice(real x) { real y = 2 * x; return y; }
  int twice(int x) { return 2 * x; }
  real own_lpdf(real x, real s) { return -x / s; }
}
data { int N; vector[N] y; }
parameters { real<lower=0> s; }
model {
  real a = twice(s);
  int b = twice(N);
  for (n in 1:N) { real c = y[n]; target += c * a * b; }
  for (e in y) target += e;
  s ~ own(1);
}
)");
  ASSERT_FALSE(has_errors(result)) << all_text(result);
  const Program& program = result.program;
  EXPECT_EQ(program.slots, 8);  // N y s a b n c e
  EXPECT_EQ(program.functions[0]->slots, 2);
  EXPECT_EQ(program.functions[0]->arguments[0].slot, 0);
  const auto& model = program.block(BlockKind::model).statements;
  EXPECT_EQ(model[0]->declarations[0].slot, 3);
  EXPECT_EQ(model[0]->declarations[0].value->function, program.functions[0].get());
  EXPECT_EQ(model[1]->declarations[0].value->function, program.functions[1].get());
  EXPECT_EQ(model[2]->slot, 5);
  EXPECT_EQ(model[3]->slot, 7);
  EXPECT_EQ(model[4]->function, program.functions[2].get());
  EXPECT_EQ(model[4]->value->slot, 2);
}

TEST(StanCheck, FillsTargets) {
  const Checked result = checked(R"(transformed data {
  array[2] matrix[3, 3] x; tuple(int, vector[2]) t;
  x[1, 2] = [1, 2, 3]; t.2[1] = 3; (t.1, x[2]) = (1, [[1, 2, 3]]);
})");
  ASSERT_FALSE(has_errors(result)) << all_text(result);
  const auto& statements = result.program.block(BlockKind::transformed_data).statements;
  EXPECT_EQ(to_text(statements[2]->target.type), "row_vector");
  EXPECT_EQ(to_text(statements[2]->target.variable_type), "array[] matrix");
  EXPECT_EQ(statements[2]->target.slot, 0);
  EXPECT_EQ(to_text(statements[3]->target.type), "real");
  EXPECT_EQ(to_text(statements[4]->target.type), "tuple(int, matrix)");
  EXPECT_EQ(statements[4]->target.parts[1].slot, 0);
}

TEST(StanCheck, MessagesComeInTheOrderOfTheText) {
  const Checked result = checked(
      "functions { real f() { return y; } } model { target += a; target += b; real q = 1.5; int z = q; }");
  ASSERT_EQ(result.messages.size(), 4u) << all_text(result);
  for (size_t i = 1; i < result.messages.size(); ++i)
    EXPECT_LT(result.messages[i - 1].place.begin, result.messages[i].place.begin);
}

double seconds_of(const std::string& text) {
  Parsed parsed = parse("m.stan", text);
  EXPECT_FALSE(parsed.failed());
  const auto begin = std::chrono::steady_clock::now();
  check(parsed.program);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(StanCheck, LongProgramsTakeTimeInProportion) {
  EXPECT_LT(seconds_of("model { target += 1" + repeated(" + 1", 900) + "; }"), 5);
  EXPECT_LT(seconds_of("model { if (1) { }" + repeated(" else if (1) { }", 400) + " }"), 5);
  EXPECT_LT(seconds_of("model { " + repeated("target += unknwon(1); ", 20000) + " }"), 5);
  std::string names, calls, functions;
  for (int i = 0; i < 4096; ++i) {
    names += "target += name_" + std::to_string(i) + "; ";
    calls += "target += call_" + std::to_string(i) + "(1); ";
    std::string arguments = "int x";
    for (int bit = 0; bit < 12; ++bit)
      arguments += (i >> bit & 1 ? ", int x" : ", real x") + std::to_string(bit);
    functions += "real f(" + arguments + ") { return 1; } ";
  }
  EXPECT_LT(seconds_of("model { " + names + " }"), 5);
  EXPECT_LT(seconds_of("model { " + calls + " }"), 5);
  EXPECT_LT(seconds_of("functions { " + functions + " }"), 5);
}

TEST(StanCheck, ManyErrorsAreCutOff) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "target += x" + std::to_string(i) + "; ";
  EXPECT_LE(checked("model { " + text + " }").messages.size(), 100u);
}

TEST(StanCheck, WideTuplesAreRefused) {
  std::string members = "1";
  for (int i = 0; i < 300; ++i) members += ", 1";
  expect_error("model { print((" + members + ")); }", "members at most", "(1, 1");
}

}  // namespace
}  // namespace adit::stan
