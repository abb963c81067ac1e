// What is said of programs that are no Stan: every message, its place, and that
// others follow it.
#include <gtest/gtest.h>

#include "stan/parse.hpp"

namespace {

using namespace adit::stan;

std::string said(const Parsed& parsed) {
  std::string text;
  for (const Message& message : parsed.messages) text += to_text(parsed.program.sources, message);
  return text;
}

struct Case {
  const char* text;
  const char* found;    // what the message points at
  const char* message;  // how it begins
};

// One message alone, of the place that is given.
void expect_said(const Case& expected) {
  const Parsed parsed = parse("m.stan", expected.text);
  ASSERT_EQ(parsed.messages.size(), 1U) << expected.text << "\n" << said(parsed);
  const Message& message = parsed.messages[0];
  EXPECT_TRUE(message.text.starts_with(expected.message)) << expected.text << "\n" << said(parsed);
  EXPECT_TRUE(message.text.ends_with(".")) << message.text;
  const std::string place =
      std::string(expected.text).substr(message.place.begin, message.place.end - message.place.begin);
  EXPECT_EQ(place, expected.found) << expected.text << "\n" << said(parsed);
}

TEST(StanMessage, OfTheLexer) {
  const Case cases[] = {
      {"model { x = 3 @@ 4; }", "@@", "'@@' is no part of the language."},
      {"model { x = a & b; }", "&", "'&' is no part of the language. Write '&&'."},
      {"model { x = \xC3\xA9; }", "\xC3\xA9",
       "Only ASCII characters can stand outside of comments and texts."},
      {"model { _x = 3; }", "_x", "'_x' is no name: names begin with a letter."},
      {"model { x = 3a; }", "3a", "'3a' is neither a number nor a name"},
      {"model { x = 1__0; }", "1__0", "'1__0' is neither a number nor a name"},
      {"model { } /* open", "/*",
       "This comment is not closed: expected '*/' before the end of the "
       "program."},
      {"model { /* open", "/*", "This comment is not closed"},
      {"model { print(\"a); }\n); }", "\"a); }",
       "This text is not closed: expected '\"' before the end of the line."},
      {"model { x = 2147483648; }", "2147483648", "The integer 2147483648 is above the largest, 2147483647"},
      {"model { x = 99999999999999999999999; }", "99999999999999999999999",
       "The integer 99999999999999999999999 is"},
      {"model { x = 1e400; }", "1e400", "This number is too large for a real."},
      {"model { } # old ", "# old", "Comments that begin with '#' are an old form; write '//' instead."},
  };
  for (const Case& each : cases) expect_said(each);
}

TEST(StanMessage, OfExpressions) {
  const Case cases[] = {
      {"model { x = ; }", ";", "Expected an expression, but found ';'."},
      {"model { x = (1 + 2; }", ";", "Expected ')', but found ';'."},
      {"model { x = (1, 2; }", ";", "Expected ',' or ')' of the tuple, but found ';'."},
      {"model { x = {1, 2; }", ";", "Expected ',' or '}' of the array, but found ';'."},
      {"model { x = {}; }", "}", "An array in braces has at least one element."},
      {"model { x = [1, 2; }", ";", "Expected ',' or ']' of the row vector, but found ';'."},
      {"model { x = f(1, 2; }", ";", "Expected ',' or ')' in the arguments of 'f', but found ';'."},
      {"model { x = f(1, 2 | 3); }", "|", "'|' can stand behind the first argument only."},
      {"model { x = a[1; }", ";", "Expected ',' or ']' in the indices, but found ';'."},
      {"model { x = a ? b; }", ";", "Expected ':' of the choice '? :', but found ';'."},
      {"model { x = \"a\"; }", "\"a\"", "Expected an expression; a text can stand in print"},
      {"model { x = true; }", "true", "'true' is no value of the language; write 1."},
      {"model { x = 2 ** 3; }", "*", "'**' is no operator; write '^' for powers."},
      {"model { x = target; }", ";", "Expected '()' after target, but found ';'."},
      {"model { x = real; }", "real", "Expected an expression, but found 'real'."},
      {"model { x ^= 2; }", "=", "Expected an expression, but found '='; '^=' is no operator."},
      {"model { x = a b; }", "b", "Expected ';' after the assignment, but found 'b'."},
  };
  for (const Case& each : cases) expect_said(each);
}

TEST(StanMessage, OfStatements) {
  const Case cases[] = {
      {"model { x = 1\n y = 2; }", "", "Expected ';' after the assignment, but found 'y'."},
      {"model { x = 1 }", "", "Expected ';' after the assignment, but found '}'."},
      {"model { real x real y; }", "", "Expected ';' after the declaration, but found 'real'."},
      {"model { target += 1 }", "", "Expected ';' after the increment, but found '}'."},
      {"model { y ~ normal(0, 1) }", "", "Expected ';' after the distribution, but found '}'."},
      {"model { f(1) }", "", "Expected ';' after the call, but found '}'."},
      {"model { break }", "", "Expected ';' after 'break', but found '}'."},
      {"model { return 1 }", "", "Expected ';' after the return, but found '}'."},
      {"model { print(1) }", "", "Expected ';' after the print, but found '}'."},
      {"model { x <- 3; }", "<-", "'<-' is an old form of assignment; write '='."},
      {"model { x[1] <- a + 3; }", "<-", "'<-' is an old form of assignment; write '='."},
      {"model { real x <- 3; }", "<", "'<-' is an old form of assignment; write '='."},
      {"model { increment_log_prob(3); }", "increment_log_prob(3)",
       "'increment_log_prob(...)' is an old form; write 'tar"},
      {"model { if (x = 2) y = 1; else z = 2; }", "=", "'=' assigns; write '==' to compare."},
      {"model { while (x = 2) { y = 1; } }", "=", "'=' assigns; write '==' to compare."},
      {"model { if x > 1 { y = 1; } }", "x", "Expected '(' after if, but found 'x'."},
      {"model { if (x > 1 { y = 1; } else { z = 1; } }", "{",
       "Expected ')' after the condition, but found '{'."},
      {"model { else x = 1; }", "else", "This 'else' belongs to no 'if'."},
      {"model { if (x) }", "}", "Expected a statement as the body of the if, but found '}'."},
      {"model { for (int i in 1:2) { } }", "int", "The variable of a loop has no type"},
      {"model { for (i = 1:2) { } }", "=", "Expected 'in' after the loop's variable, but found '='."},
      {"model { for (i in 1:) { } }", ")", "Expected an expression, but found ')'."},
      {"model { for (i in 1:2 { } }", "{", "Expected ')' after the range, but found '{'."},
      {"model { for (in in 1:2) { } }", "in",
       "'in' is a reserved word and cannot be the name of the loop's "
       "variable."},
      {"model { while x { } }", "x", "Expected '(' after while, but found 'x'."},
      {"model { profile(p) { } }", "p", "Expected the profile's name in quotes, but found 'p'."},
      {"model { profile(\"p\") x = 1; }", "x", "Expected '{' after the profile's name, but found 'x'."},
      {"model { target = 3; }", "=", "Expected '+=' after 'target', but found '=': it can only be added to."},
      {"model { jacobian = 3; }", "=", "Expected '+=' after 'jacobian', but found '='"},
      {"model { 1 + 2; }", "1 + 2", "An expression alone is no statement"},
      {"model { x 3; }", "3",
       "Expected '=', '~' or another assignment after this expression, but "
       "found '3'."},
      {"model { floot y; }", "floot",
       "Expected a statement, but found 'floot', which is no type and no "
       "call."},
      {"model { f(x) = 3; }", "f(x)",
       "Cannot assign to this: expected a variable, its elements or members "
       "before '='."},
      {"model { (a, b) += 3; }", "(a, b)", "Only '=' assigns to several variables at once, not '+='."},
      {"model { y ~ 3; }", "3", "Expected the name of a distribution after '~', but found '3'."},
      {"model { y ~ normal; }", ";", "Expected '(' after the distribution 'normal', but found ';'."},
      {"model { y ~ normal(0, 1; }", ";", "Expected ',' or ')' in the arguments of 'normal', but found ';'."},
      {"model { y ~ normal(0, 1) T[1]; }", "]",
       "Expected ',' between the bounds of the truncation, but found ']'."},
      {"model { y ~ normal(0, 1) T[1, 2; }", ";", "Expected ']' of the truncation, but found ';'."},
      {"model { print \"a\"; }", "\"a\"", "Expected '(' after print, but found a text."},
      {"model { reject(1; }", ";", "Expected ',' or ')' in reject, but found ';'."},
      {"model { void x; }", "void", "Expected a statement, but found 'void'."},
  };
  for (const Case& each : cases) expect_said(each);
}

TEST(StanMessage, OfTypes) {
  const Case cases[] = {
      {"data { real for; }", "for", "'for' is a reserved word and cannot be the name of a variable."},
      {"data { real jacobian; }", "jacobian", "'jacobian' is a reserved word"},
      {"data { real struct; }", "struct", "'struct' is a reserved word"},
      {"data { int upper; }", "upper", "'upper' is a reserved word and cannot be the name of a variable."},
      {"functions { real multiplier(real x) { return x; } }", "multiplier",
       "'multiplier' is a reserved word"},
      {"functions { real f(real offset) { return 1; } }", "offset", "'offset' is a reserved word"},
      {"model { for (lower in 1:2) ; }", "lower", "'lower' is a reserved word"},
      {"data { real x__; }", "x__", "The name 'x__' ends in '__'"},
      {"data { real 3; }", "3", "Expected the name of a variable, but found '3'."},
      {"data { vector x; }", "x", "Expected '[' with the size, but found 'x'."},
      {"data { matrix[2] x; }", "[2]", "'matrix' has two sizes in brackets, not 1."},
      {"data { vector[2, 3] x; }", "[2, 3]", "'vector' has one size in brackets, not 2."},
      {"data { cholesky_factor_cov[1, 2, 3] x; }", "[1, 2, 3]", "'cholesky_factor_cov' has one or two sizes"},
      {"data { vector[] x; }", "]", "Expected the size, but found ']'; only types of functions have none."},
      {"data { real[3] x; }", "[", "'real' has no size; an array of it is written array[...] real."},
      {"data { array[2] array[3] real x; }", "array",
       "An array of arrays is written with all of its sizes in one"},
      {"data { array[2] x; }", "x", "Expected a type, but found 'x'."},
      {"data { array[2] real x[3]; }", "[3]", "The array's sizes stand twice here"},
      {"data { tuple(real) x; }", ")", "A tuple of one member has a comma behind it: tuple(real,)."},
      {"data { tuple real x; }", "real", "Expected '(' after tuple, but found 'real'."},
      {"data { tuple(real, real x; }", "x", "Expected ',' or ')' in the tuple's types, but found 'x'."},
      {"data { complex z; }", "complex",
       "The type 'complex' is not supported: there are no complex numbers."},
      {"data { complex_matrix[2, 3] z; }", "complex_matrix", "The type 'complex_matrix' is not supported"},
      {"data { real<low=3> x; }", "low", "Expected lower, upper, offset or multiplier, but found 'low'."},
      {"data { real<lower 3> x; }", "3", "Expected '=' after lower, but found '3'."},
      {"data { real<lower=1, lower=2> x; }", "lower", "'lower' stands twice in this constraint."},
      {"data { real<lower=1, offset=2> x; }", "offset",
       "Bounds cannot stand together with offset or multiplier."},
      {"data { int<offset=1> x; }", "offset", "'offset' is of reals; an int has lower and upper."},
      {"data { real<lower=1 x; }", "x", "Expected ',' or '>' of the constraint, but found 'x'."},
      {"data { simplex<lower=1>[3] x; }", "<", "A 'simplex' takes no other constraint."},
      {"model { real<lower=0> x; }", "<", "Variables in the model block have no constraints."},
      {"model { { simplex[3] x; } }", "simplex",
       "Variables inside of other statements have no constraints; write "
       "'vector'"},
      {"functions { void f() { real<lower=0> x; } }", "<", "Variables in functions have no constraints."},
      {"data { real x[3]; }", "[3]", "This form of an array is old; write 'array[3] real x'."},
      {"functions { void f(real[,] x); }", "[,]",
       "This form of an array type is old; write 'array[,] real'."},
  };
  for (const Case& each : cases) expect_said(each);
}

TEST(StanMessage, OfBlocksAndFunctions) {
  const Case cases[] = {
      {"x = 3;", "x",
       "Expected a block (functions, data, transformed data, parameters, "
       "transformed parameters, model"},
      {"model { } }", "}", "This '}' closes nothing"},
      {"model { } ;", ";", "Expected a block"},
      {"model x = 3;", "x", "Expected '{' after 'model', but found 'x'."},
      {"model { x = 1;", "", "Expected '}' for the '{' of line 1, but found the end of the program."},
      {"data {\n real x;\nmodel { }", "model",
       "Expected '}' for the '{' of line 1, but found the next block of the "
       "program."},
      {"model {\n if (a) {\n x = 1;\n}\ngenerated quantities { }", "generated",
       "Expected '}' for the '{' of line 1"},
      {"model { } data { }", "data", "The data block must stand before the model block."},
      {"model { } model { }", "model", "The model block stands twice."},
      {"data { } functions { }", "functions", "The functions block must stand before the data block."},
      {"transformed model { }", "model",
       "Expected 'data' or 'parameters' after 'transformed', but found "
       "'model'."},
      {"generated data { }", "data", "Expected 'quantities' after 'generated', but found 'data'."},
      {"data { x = 3; }", "x", "The data block holds declarations only, but found 'x'."},
      {"parameters { real x = 3; }", "=", "Variables of the parameters block are given no value."},
      {"functions { x; }", "x",
       "Expected a function, which begins with the type that it returns or "
       "void, but found"},
      {"functions { real (); }", "(", "Expected the name of a function, but found '('."},
      {"functions { real f; }", ";", "Expected '(' after the function's name 'f', but found ';'."},
      {"functions { real f() return 1; }", "return", "Expected '{' or ';' after the function's arguments"},
      {"functions { real f(x) { } }", "x", "Expected the type of an argument, but found 'x'."},
      {"functions { real f(data x) { } }", "x", "Expected a type after 'data', but found 'x'."},
      {"functions { real f(real x real y) { } }", "real",
       "Expected ',' or ')' in the arguments of 'f', but found 'real'."},
      {"functions { real f(real x[]) { } }", "[",
       "An argument that is an array is written 'array[] real x'."},
      {"functions { real f(vector[3] x) { } }", "3",
       "Types of functions have no sizes: expected ',' or ']', but found '3'."},
      {"functions { real f(simplex x) { } }", "simplex",
       "Types of functions have no constraints; write 'vector'."},
      {"functions { real f(real<lower=0> x) { } }", "<", "Types of functions have no constraints."},
      {"functions { real f(array[] array[] real x) { } }", "array",
       "An array of arrays is written with all of its axes"},
      {"functions { real f(array real x) { } }", "real", "Expected '[', but found 'real'."},
      {"functions { tuple(real) f() { } }", ")", "A tuple of one member has a comma behind it"},
  };
  for (const Case& each : cases) expect_said(each);
}

TEST(StanMessage, OfLimits) {
  const std::string commas(200, ',');
  std::string sizes = "1";
  for (int i = 0; i < 200; ++i) sizes += ", 1";
  const std::pair<std::string, const char*> cases[] = {
      {"functions { void f(array[" + commas + "] real x); }", "The array has more than 100 axes."},
      {"data { array[" + sizes + "] real x; }", "More than 100 sizes stand here."},
      {"model { x = " + std::string(1100000, '(') + "1; }",
       "What begins here may nest more than 1000000 levels deep; split it."},
      {"data { " +
           [] {
             std::string tuples;
             for (int i = 0; i < 200; ++i) tuples += "tuple(";
             return tuples;
           }(),
       "Tuples are nested more than 100 deep here."},
      {"data { vector[1" +
           [] {
             std::string sum;
             for (int i = 0; i < 100; ++i) sum += " + 1";
             return sum;
           }() +
           "] " +
           [] {
             std::string names = "a";
             for (int i = 0; i < 4000; ++i) names += ", a";
             return names;
           }() +
           "; }",
       "Too many variables are declared with one long type"},
      {std::string(9 << 20, ' '), "The program has more than 8388608 bytes."},
  };
  for (const auto& [text, message] : cases) {
    const Parsed parsed = parse("m.stan", text);
    ASSERT_EQ(parsed.messages.size(), 1U) << said(parsed);
    EXPECT_TRUE(parsed.messages[0].text.starts_with(message)) << said(parsed);
  }
}

TEST(StanMessage, ParsingGoesOn) {
  const Parsed parsed = parse("m.stan", R"(functions {
  real f(x) { y = ; }
  real g() { return 1 }
}
data {
  int N
  real<lower=0 x;
  vector[N] y;
}
model {
  for (i in 1:) { y[i] = ; }
  x = (1;
  y ~ normal(0, 1
  z = 3 @ 4;
  if (a = b) { } else { c <- 1; }
)");
  std::string lines;
  for (const Message& message : parsed.messages)
    lines += std::to_string(line_of(parsed.program.sources[0], message.place.begin).line) + " ";
  EXPECT_EQ(lines, "2 2 3 6 7 11 11 12 14 14 15 15 16 ") << said(parsed);
}

TEST(StanMessage, AtMostAHundred) {
  std::string errors = "model {", warnings = "data {";
  for (int i = 0; i < 1000; ++i) errors += " x = ;\n", warnings += " real x[3];\n";
  EXPECT_EQ(parse("m.stan", errors + "}").messages.size(), 100U);
  const Parsed parsed = parse("m.stan", warnings + " real = 3; }");
  EXPECT_EQ(parsed.messages.size(), 100U);
  EXPECT_TRUE(parsed.failed());
}

TEST(StanMessage, Text) {
  const Parsed parsed = parse("m.stan", "data {\n\tint N;\n\treal \xC3\xA9 x;\n}\n");
  EXPECT_EQ(said(parsed),
            "Syntax error in 'm.stan', line 3, column 6 to column 8:\n"
            "   -------------------------------------------------\n"
            "     1:  data {\n"
            "     2:  \tint N;\n"
            "     3:  \treal \xC3\xA9 x;\n"
            "         \t     ^\n"
            "     4:  }\n"
            "   -------------------------------------------------\n"
            "\n"
            "Only ASCII characters can stand outside of comments and texts.\n");
  const Sources sources = {{"m.stan", "\xC3\xA9\xC3\xA9 b\nsecond\r\n\nx \x01\xFF"}};
  const auto text = [&](Place place) { return to_text(sources, {Message::Kind::semantic, place, "Said."}); };
  EXPECT_NE(text({0, 5, 12}).find("'m.stan', line 1, column 5 to line 2, column 5:\n"), std::string::npos);
  EXPECT_NE(text({0, 5, 6}).find("     1:  \xC3\xA9\xC3\xA9 b\n            ^\n "
                                 "    2:  second\n     3:  \n"),
            std::string::npos);
  EXPECT_NE(text({0, 16, 17}).find("     4:  x ??\n         ^\n"), std::string::npos) << text({0, 16, 17});
  EXPECT_NE(text({0, 999, 3}).find("line 4, column 4:"), std::string::npos) << text({0, 999, 3});
  EXPECT_NE(text({7, 1, 2}).find("Said."), std::string::npos);
  const Parsed wide = parse("m.stan", "model { x = " + std::string(5000, '(') + " }");
  EXPECT_LT(said(wide).size(), 1000U);
  EXPECT_NE(said(wide).find(":  ...("), std::string::npos) << said(wide);
}

}  // namespace
