// The formatter: its style, and that it changes neither the program nor what it
// has formatted before.
#include <gtest/gtest.h>
#include <map>

#include "stan/format.hpp"
#include "stan_random.hpp"
#include "stan_tree.hpp"

namespace {

using namespace adit::test;

std::string formatted(const std::string& text, const Include& include = {}) {
  const Parsed parsed = parse("m.stan", text, include);
  for (const Message& message : parsed.messages)
    EXPECT_EQ(message.kind, Message::Kind::warning) << to_text(parsed.program.sources, message) << text;
  return format(parsed.program);
}

size_t comments_of(const Program& program) {
  size_t count = 0;
  for (const Comment& comment : program.comments) count += comment.place.file == 0;
  return count;
}

// The same tree, all comments, and a second time nothing changes.
void expect_faithful(const std::string& text, const Include& include = {}) {
  const Parsed before = parse("m.stan", text, include);
  ASSERT_FALSE(before.failed()) << to_text(before.program.sources, before.messages[0]) << text;
  const std::string once = format(before.program);
  const Parsed after = parse("m.stan", once, include);
  ASSERT_FALSE(after.failed()) << to_text(after.program.sources, after.messages[0]) << text;
  ASSERT_EQ(tree(before.program), tree(after.program)) << text << "\n-----\n" << once;
  ASSERT_EQ(format(after.program), once) << text;
  const bool has_one_file = before.program.sources.size() == 1;
  ASSERT_TRUE(!has_one_file || comments_of(before.program) == comments_of(after.program))
      << text << "\n-----\n"
      << once;
}

TEST(StanFormat, Style) {
  EXPECT_EQ(formatted("data{int<lower=0>N;array[N]real y;}parameters{real "
                      "mu;real<upper=3,lower=0>s;}"
                      "model{y~normal(mu,s);if(N>1){target+=-mu^2;}else if(N==0)mu=3;else{}"
                      "for(i in 1:N)y[i]=y[i,2:3]';}"),
            R"(data {
  int<lower=0> N;
  array[N] real y;
}
parameters {
  real mu;
  real<lower=0, upper=3> s;
}
model {
  y ~ normal(mu, s);
  if (N > 1) {
    target += -mu ^ 2;
  } else if (N == 0)
    mu = 3;
  else {
  }
  for (i in 1:N)
    y[i] = y[i, 2:3]';
}
)");
  EXPECT_EQ(formatted(""), "");
  EXPECT_EQ(formatted(" \n // only\n\n\n# this \n"), "// only\n\n// this\n");
}

TEST(StanFormat, OldFormsBecomeNew) {
  EXPECT_EQ(formatted("functions { real f(real[] x, vector[,] y) { return 1; } }\n"
                      "data { real x[3], y; vector[2] v[N, 4]; # old\n }"),
            R"(functions {
  real f(array[] real x, array[,] vector y) {
    return 1;
  }
}
data {
  array[3] real x;
  real y;
  array[N, 4] vector[2] v; // old
}
)");
}

TEST(StanFormat, CommentsStay) {
  const std::string text = R"(// top

/* of the
   data */
data { // opened
  int N; // how many
  // alone

  real x; /* a */ // b
  // last
} // closed
model {
  // first
  if (x > 1) { // then
    x = 2; // two
    // end of then
  } // after
  // before else
  else {
    // nothing
  }
}
// bottom
)";
  EXPECT_EQ(formatted(text), text);
  EXPECT_EQ(formatted("model { x = 1 + // one\n 2; // two\n}"),
            "model {\n  // one\n  x = 1 + 2; // two\n}\n");
  EXPECT_EQ(formatted("model { for (i in 1:2) // why\n x /* in */ = 1; }"),
            "model {\n  // why\n  /* in */\n  for (i in 1:2)\n    x = 1;\n}\n");
}

TEST(StanFormat, LongLinesAreBroken) {
  std::string call = "model { target += normal_lpdf(y | a_long_name_of_something";
  for (int i = 0; i < 30; ++i) call += ", some_argument_" + std::to_string(i) + " + " + std::to_string(i);
  const std::string text = formatted(call + "); }");
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 80U) << text;
    begin = end + 1;
  }
  EXPECT_NE(text.find("\n                        "), std::string::npos) << text;
  expect_faithful(text);
}

TEST(StanFormat, LinesOfIncludeStay) {
  const std::map<std::string, std::string> files = {
      {"decl.stan", "int N; // in it\n"},  {"block.stan", "model { x = 1; }"},
      {"expression.stan", "1 + 2 // c\n"}, {"array.stan", "f(1), {2}"},
      {"open.stan", "data { int N;"},      {"else.stan", "else x = 2;"},
      {"empty.stan", "// nothing\n"},      {"nested.stan", "real z;\n#include decl.stan\n"}};
  const Include include = [&](const std::string& name) -> std::optional<Source> {
    const auto found = files.find(name);
    if (found == files.end()) return std::nullopt;
    return Source{name, found->second};
  };
  const std::string kept =
      "data {\n  real x;\n  #include \"decl.stan\"\n  // "
      "more\n  real y;\n}\n#include <block.stan>\n";
  EXPECT_EQ(formatted(kept, include), kept);
  EXPECT_EQ(formatted("data { #include decl.stan\n }", include), "data {\n  #include decl.stan\n}\n");
  EXPECT_EQ(formatted("model { x = 3 * \n#include expression.stan\n; }", include),
            "model {\n  // c\n  x = 3 * 1 + 2;\n}\n");
  for (const char* text :
       {"data {\n#include nested.stan\nreal q;}", "model { x = {\n#include array.stan\n}; }",
        "#include open.stan\nreal x; }", "model { if (1) x = 1; \n#include else.stan\n y = 2; }",
        "model { x = 1 + \n#include empty.stan\n 2; }", "data {\n#include decl.stan\n}\n#include block.stan"})
    expect_faithful(text, include);
}

TEST(StanFormat, EdgesOfTokens) {
  for (const char* text :
       {"model { x = 1 .2; }", "model { x = - -1 - +2 - -3; }", "model { x = a < -b; }",
        "model { x = 1. ' ; y = 2.[1]; z = 1. .2; }", "model { x = a.1.2[3].4; x.1.2[:] = 3; }",
        "model { x = a[] + b[,] + c[1:, :2, :]; }", "model { x = 2 ^ -3 ^ 2 * 4; y = (-2) ^ 2; }",
        "model { x = !!a; x = !(a == b); y = f(y |) + f(y | 1) + f(); }", "model { {{;}} ;; { } }",
        "model { x = a ? b : c ? d : e; y = (a ? b : c) ? d : e; }",
        "model { x = z[a ? b : c : d]; for (i in a ? b : c : d) ; }"})
    expect_faithful(text);
}

TEST(StanFormat, RandomPrograms) {
  for (unsigned seed = 0; seed < 1500; ++seed) {
    SCOPED_TRACE(seed);
    expect_faithful(RandomProgram(seed, seed % 2 == 0).text());
    if (HasFatalFailure()) return;
  }
}

TEST(StanFormat, DeepAndLongPrograms) {
  std::string deep = "model { x = ";
  for (int i = 0; i < 200; ++i) deep += "f(a + ";
  deep += "1" + std::string(200, ')') + "; ";
  for (int i = 0; i < 400; ++i) deep += "{ if (a) ";
  deep += "; ";
  for (int i = 0; i < 400; ++i) deep += "}";
  expect_faithful(deep.substr(0, deep.find("{ if")) + "}");
  std::string sum = "model { x = 1";
  for (int i = 0; i < 900; ++i) sum += " + y" + std::to_string(i);
  expect_faithful(sum + "; }");
  std::string array = "model { x = {1";
  for (int i = 0; i < 50000; ++i) array += "," + std::to_string(i);
  expect_faithful(array + "}; }");
}

}  // namespace
