// The parser of Stan: what it accepts, the trees it makes, and what it says of
// everything else.
#include <gtest/gtest.h>
#include <map>

#include <adit/error.hpp>

#include "stan/parse.hpp"
#include "stan_tree.hpp"

namespace {

using namespace adit::test;

std::string said(const Parsed& parsed) {
  std::string text;
  for (const Message& message : parsed.messages) text += to_text(parsed.program.sources, message);
  return text;
}

// The tree of one expression.
std::string expression(const std::string& text) {
  const Parsed parsed = parse("m.stan", "model { x = " + text + "; }");
  EXPECT_TRUE(parsed.messages.empty()) << said(parsed);
  if (parsed.failed()) return "failed";
  return tree(parsed.program.block(BlockKind::model).statements.at(0)->value);
}

void expect_accepted(const std::string& text, size_t warnings = 0) {
  const Parsed parsed = parse("m.stan", text);
  EXPECT_FALSE(parsed.failed()) << said(parsed);
  EXPECT_EQ(parsed.messages.size(), warnings) << said(parsed);
}

std::string statement(const std::string& text) {
  const Parsed parsed = parse("m.stan", "model { " + text + " }");
  EXPECT_FALSE(parsed.failed()) << said(parsed);
  if (parsed.failed()) return "failed";
  return tree(parsed.program.block(BlockKind::model).statements.at(0));
}

TEST(StanParse, Precedence) {
  const std::pair<const char*, const char*> cases[] = {
      {"a + b * c", "(a + (b * c))"},
      {"a * b + c", "((a * b) + c)"},
      {"a - b - c", "((a - b) - c)"},
      {"a / b * c .* d ./ e % f", "(((((a / b) * c) .* d) ./ e) % f)"},
      {"a * b %/% c", "(a * (b %/% c))"},
      {"a \\ b \\ c * d", "(((a \\ b) \\ c) * d)"},
      {"a %/% b \\ c", "((a %/% b) \\ c)"},
      {"a ^ b ^ c", "(a ^ (b ^ c))"},
      {"a .^ b ^ c", "(a .^ (b ^ c))"},
      {"-a ^ b", "(-(a ^ b))"},
      {"-a * b", "((-a) * b)"},
      {"-a %/% b", "((-a) %/% b)"},
      {"a ^ -b ^ c", "(a ^ (-(b ^ c)))"},
      {"a ^ -b * c", "((a ^ (-b)) * c)"},
      {"!a == b", "((!a) == b)"},
      {"!a ^ b", "(!(a ^ b))"},
      {"- + ! a", "(-(+(!a)))"},
      {"-a'", "(-(a'))"},
      {"a ^ b'", "(a ^ (b'))"},
      {"a'[1]", "((a')[1])"},
      {"a * b'", "(a * (b'))"},
      {"a < b == c > d", "((a < b) == (c > d))"},
      {"a <= b < c", "((a <= b) < c)"},
      {"a == b != c", "((a == b) != c)"},
      {"a == b && c || d && e", "(((a == b) && c) || (d && e))"},
      {"a || b || c", "((a || b) || c)"},
      {"a + b < c - d", "((a + b) < (c - d))"},
      {"a ? b : c ? d : e", "(a ? b : (c ? d : e))"},
      {"a ? b ? c : d : e", "(a ? (b ? c : d) : e)"},
      {"a || b ? c + 1 : d + 2", "((a || b) ? (c + 1) : (d + 2))"},
      {"a<-b", "(a < (-b))"},
      {"x[a ? b : c : d]", "(x[between (a ? b : c) d])"},
      {"x[1][2].3'", "((((x[1])[2]).3)')"},
      {"x.1.2", "((x.1).2)"},
      {"(a + b) * c", "(group((a + b)) * c)"},
      {"f(a)[1] ^ 2", "((f<a>[1]) ^ 2)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(expression(text), expected) << text;
}

TEST(StanParse, Expressions) {
  const std::pair<const char*, const char*> cases[] = {
      {"1_000", "1_000"},
      {".5 + 1. + 1e3 + 1.5E-3 + 1_0.2_5", "((((r.5 + r1.) + r1e3) + r1.5E-3) + r1_0.2_5)"},
      {"2i + 1.5i", "(im2i + im1.5i)"},
      {"f() + f(a) + f(a, b)", "((f<> + f<a>) + f<a, b>)"},
      {"f_lpdf(y | a, b) + f_lpdf(y |)", "(f_lpdf|<y, a, b> + f_lpdf|<y>)"},
      {"target()", "target()"},
      {"{1, {2, 3}}", "{1, {2, 3}}"},
      {"[[1, 2], []]", "[[1, 2], []]"},
      {"(a, (b, c))", "tuple(a, tuple(b, c))"},
      {"x[]", "(x[all])"},
      {"x[, :, 1:, :2, 3:4, {1, 2}]", "(x[all, all, from 1, to 2, between 3 4, {1, 2}])"},
      {"low + up + shift + scale + T", "((((low + up) + shift) + scale) + T)"},
      {"x .* y", "(x .* y)"},
      {"1.*x", "(r1. * x)"},
      {"a/*c*//b//d\n", "(a / b)"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(expression(text), expected) << text;
}

TEST(StanParse, NumbersHaveTheirValues) {
  const Parsed parsed = parse("m.stan", "model { x = {1_234, 2147483647, 1_0.5e1, .25, 1e-400, 0.0}; }");
  ASSERT_FALSE(parsed.failed()) << said(parsed);
  const auto& parts = parsed.program.block(BlockKind::model).statements[0]->value->parts;
  EXPECT_EQ(parts[0]->integer, 1234);
  EXPECT_EQ(parts[1]->integer, 2147483647);
  EXPECT_EQ(parts[2]->real, 105);
  EXPECT_EQ(parts[3]->real, 0.25);
  EXPECT_EQ(parts[4]->real, 0);
  EXPECT_EQ(parts[5]->kind, Expression::Kind::real);
}

TEST(StanParse, Statements) {
  const std::pair<const char*, const char*> cases[] = {
      {"x[1, 2:3][4].2 .*= y;", "#1  x[1, between 2 3][4].2 compound .* v=y l= h= a="},
      {"(a, (b[1], c)) = f();", "#1  (a, (b[1], c)) v=f<> l= h= a="},
      {"target += 1;", "#2   v=1 l= h= a="},
      {"jacobian += 1;", "#3   v=1 l= h= a="},
      {"a + b ~ normal(0, 1) T[, 2];", "#4 normal  v=(a + b) l= h= a=0, 1 T[;2]"},
      {"y ~ std_normal() T[1, ];", "#4 std_normal  v=y l= h= a= T[1;]"},
      {"y ~ std_normal() T[,];", "#4 std_normal  v=y l= h= a= T[;]"},
      {"y ~ T(1) T[1, 2];", "#4 T  v=y l= h= a=1 T[1;2]"},
      {"f(a);", "#5   v=f<a> l= h= a="},
      {"for (i in 1:N) break;", "#6 i  v= l=1 h=N a=\nbody {#12   v= l= h= a=}"},
      {"for (v in vs) continue;", "#7 v  v=vs l= h= a=\nbody {#13   v= l= h= a=}"},
      {"while (a) { }", "#8   v=a l= h= a=\nbody {#10   v= l= h= a={\n}}"},
      {"if (a) if (b) ; else return 1;",
       "#9   v=a l= h= a=\nbody {#9   v=b l= h= a=\nbody {#18   v= l= h= "
       "a=}\nelse {#14   v=1 l= h= a=}}"},
      {"print(\"a {\", x, \"\");", "#15   v= l= h= a= 'a {' ''x ''"},
      {"profile(\"p\") { return; }", "#11 p  v= l= h= a={\n#14   v= l= h= a=\n}"},
      {"real a, b = 2;", "declare a real:0<;>[][]() = \ndeclare b real:0<;>[][]() = 2"},
      {"array[2, N] vector[K] v;", "declare v vector:0<;>[2, N][K]() = "},
      {"real x[3] = y;", "declare x real:0<;>[3][]() = y"},
      {"{y, 2.0} ~ normal(0, 1);", "#4 normal  v={y, r2.0} l= h= a=0, 1"},
      {"{{y}, {1}}[1] ~ normal(0, 1);", "#4 normal  v=({{y}, {1}}[1]) l= h= a=0, 1"},
      {"{a, b}.1 ~ f();", "#4 f  v=({a, b}.1) l= h= a="},
      {"if (1) real a = 0, b;",
       "#9   v=1 l= h= a=\nbody {declare a real:0<;>[][]() = 0\ndeclare b real:0<;>[][]() = }"},
      {"(a,) = f();", "#1  (a) v=f<> l= h= a="},
      {"tuple(int,) t;", "declare t tuple():0<;>[][](int:0<;>[][]()) = "},
      {"tuple(int, array[2] matrix[1, 2]) t;",
       "declare t tuple():0<;>[][](int:0<;>[][](), matrix:0<;>[2][1, 2]()) = "},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(statement(text), expected) << text;
}

TEST(StanParse, Types) {
  const char* program = R"(
data {
  int<lower=0, upper=N * 2> a;
  real<upper=1, lower=-1> b;
  vector<lower=(a > b), upper=a ? 1 : 2>[3] bad;
})";
  EXPECT_TRUE(parse("m.stan", program).failed());  // a choice is no bound
  expect_accepted(R"(
data {
  int<lower=0, upper=N * 2> a;
  real<upper=1, lower=-1> b;
  row_vector<lower=(a > b)>[3] c;
  matrix<offset=1, multiplier=2 ^ 3>[2, 3] d;
  array[2] real<multiplier=s> e, f, g;
  ordered[2] h; positive_ordered[2] i; simplex[2] j; unit_vector[2] k; sum_to_zero_vector[2] l;
  sum_to_zero_matrix[2, 3] m; cholesky_factor_corr[2] n; cholesky_factor_cov[2] o; cholesky_factor_cov[2, 3] p;
  corr_matrix[2] q; cov_matrix[2] r; column_stochastic_matrix[2, 3] s; row_stochastic_matrix[2, 3] t;
  tuple(real<lower=0>, simplex[3], array[N] tuple(int, int)) u;
})");
  const Parsed parsed = parse("m.stan", "data { array[2] cholesky_factor_cov[3] x; real<upper=2> y; }");
  const auto& list = parsed.program.block(BlockKind::data).statements;
  EXPECT_EQ(to_text(unsized(list[0]->declarations[0].type)), "array[] matrix");
  EXPECT_EQ(list[0]->declarations[0].type.transform.kind, Transform::Kind::cholesky_factor_cov);
  EXPECT_EQ(list[1]->declarations[0].type.transform.first, nullptr);
  EXPECT_EQ(tree(list[1]->declarations[0].type.transform.second), "2");
}

TEST(StanParse, Functions) {
  const Parsed parsed = parse("m.stan", R"(functions {
  void f();
  array[,] tuple(int, vector) g(data array[] real x, matrix[] y, real[,] z) { return x; }
  real h_lpdf(real y | real mu, data int n) { return 0; }
  real h_lpmf(int y, real mu) { return 0; }
})");
  ASSERT_FALSE(parsed.failed()) << said(parsed);
  EXPECT_EQ(parsed.messages.size(), 2U);
  const auto& functions = parsed.program.functions;
  EXPECT_EQ(functions[0]->body, nullptr);
  EXPECT_EQ(to_text(functions[0]->result), "void");
  EXPECT_EQ(to_text(functions[1]->result), "array[,] tuple(int, vector)");
  EXPECT_TRUE(functions[1]->arguments[0].is_data);
  EXPECT_EQ(to_text(functions[1]->arguments[1].type), "array[] matrix");
  EXPECT_EQ(to_text(functions[1]->arguments[2].type), "array[,] real");
  EXPECT_EQ(functions[2]->arguments.size(), 3U);
}

TEST(StanParse, Programs) {
  expect_accepted("");
  expect_accepted("\xEF\xBB\xBF// nothing\n/* here */");
  expect_accepted(
      "functions {} data {} transformed data {} parameters {} "
      "transformed parameters {} model {}"
      " generated quantities {}");
  expect_accepted("data { real x[3], y; vector[2] z[3, 4]; } # old\r\n", 3);
  expect_accepted("transformed\ndata { } generated // c\n quantities { }");
  expect_accepted("data { ; real x;; } parameters { ; real y;; }");
  expect_accepted("functions { tuple(real,) f(tuple(array[] int,) x) { return (3.5,); } }");
  expect_accepted("model { {} { { } } {;} { real x; } while (1) int k; for (i in 1:2) vector[2] v; }");
  EXPECT_TRUE(parse("m.stan", "model { {a, b} }").failed());
  EXPECT_TRUE(parse("m.stan", "model { x = (1, 2,); }").failed());
  EXPECT_EQ(parse("a/b/eight.schools.stan", "").program.name, "eight.schools");
  const Parsed parsed = parse("m.stan", "data { int N; } // c\nmodel { }");
  EXPECT_TRUE(parsed.program.block(BlockKind::data).present);
  EXPECT_FALSE(parsed.program.block(BlockKind::parameters).present);
  EXPECT_EQ(parsed.program.comments.at(0).text, "// c");
  const Place place = parsed.program.block(BlockKind::data).place;
  EXPECT_EQ(parsed.program.sources[0].text.substr(place.begin, place.end - place.begin), "data { int N; }");
}

TEST(StanParse, Includes) {
  const std::map<std::string, std::string> files = {{"a.stan", "int N;\n#include \"dir/b.stan\"\n"},
                                                    {"dir/b.stan", "real x; // b"},
                                                    {"self.stan", "\n#include self.stan"},
                                                    {"ping.stan", "#include <pong.stan>"},
                                                    {"pong.stan", "#include ping.stan"},
                                                    {"bad.stan", "real x\nreal y;"}};
  const Include include = [&](const std::string& name) -> std::optional<Source> {
    const auto found = files.find(name);
    if (found == files.end()) return std::nullopt;
    return Source{name, found->second};
  };
  const auto parsed = [&](const std::string& text) { return parse("m.stan", text, include); };
  for (const char* text :
       {"data { #include a.stan\n}", "data {\n#include \"a.stan\"}", "data {\n #include\t<a.stan> }",
        "data { int M; #include a.stan // c\n #include dir/b.stan\r\n}", "data {\n#include\n\ta.stan\n}",
        "data { #include\r\n \"a.stan\" }"}) {
    const Parsed result = parsed(text);
    EXPECT_FALSE(result.failed()) << said(result);
    EXPECT_GE(result.program.block(BlockKind::data).statements.size(), 2U);
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"#include self.stan", "The file 'self.stan' includes itself."},
      {"#include ping.stan", "The file 'ping.stan' includes itself."},
      {"\n#include none.stan", "Could not find the included file 'none.stan'."},
      {"#include \"none.stan", "Expected the name of a file behind '#include'."},
      {"#include \n", "Expected the name of a file behind '#include'."},
      {"data {\n#include bad.stan\n}", "Syntax error in 'bad.stan', line 1, column 6:"},
  };
  for (const auto& [text, message] : wrong) {
    const Parsed result = parsed(text);
    EXPECT_EQ(result.messages.size(), 1U) << said(result);
    EXPECT_NE(said(result).find(message), std::string::npos) << said(result);
  }
  EXPECT_TRUE(parse("m.stan", "#include a.stan").failed());
  const Include unreadable = [](const std::string& name) -> std::optional<Source> {
    throw adit::Error(adit::ErrorKind::io, "No file but a folder: " + name + ".");
  };
  EXPECT_NE(said(parse("m.stan", "\n#include dir", unreadable)).find("No file but a folder: dir."),
            std::string::npos);
  const Include doubling = [](const std::string& name) -> std::optional<Source> {
    return Source{name, "#include " + name + "0\n#include " + name + "1\n"};
  };
  const Parsed bomb = parse("m.stan", "#include x", doubling);
  EXPECT_TRUE(bomb.failed());
  EXPECT_LE(bomb.messages.size(), 100U);
}

}  // namespace
