// Data of Stan programs from JSON, R's dump and CSV: what is read, what is refused and how, and damage.
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <random>

#include <adit/error.hpp>

#include "seeds.hpp"
#include "stan/data.hpp"

namespace adit::stan {
namespace {

using Reader = DataValues (*)(std::string_view, const std::string&);
using Real = std::vector<double>;
using namespace std::string_literals;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string refusal(Reader reader, std::string_view text) {
  try {
    reader(text, "d");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    return error.what();
  }
  return "nothing was refused";
}
std::string json_refusal(std::string_view text) { return refusal(data_from_json, text); }
std::string dump_refusal(std::string_view text) { return refusal(data_from_rdump, text); }
std::string csv_refusal(std::string_view text) { return refusal(data_from_csv, text); }

DataValue json_value(const std::string& text) { return data_from_json("{\"x\":" + text + "}", "d").at("x"); }
DataValue dump_value(const std::string& text) { return data_from_rdump("x <- " + text, "d").at("x"); }
std::string json_value_refusal(const std::string& text) { return json_refusal("{\"x\":" + text + "}"); }
std::string dump_value_refusal(const std::string& text) { return dump_refusal("x <- " + text); }

void expect_value(const DataValue& value, const Shape& shape, const Real& numbers, bool is_integer) {
  EXPECT_EQ(to_string(value.shape), to_string(shape));
  EXPECT_EQ(value.numbers, numbers);
  EXPECT_EQ(value.is_integer, is_integer);
  EXPECT_EQ(value.is_integer, value.first_real < 0);
}

// --- JSON ---

TEST(DataJson, NumbersAndArrays) {
  expect_value(json_value("5"), {}, {5}, true);
  expect_value(json_value("-5"), {}, {-5}, true);
  expect_value(json_value("-0"), {}, {0}, true);
  EXPECT_TRUE(std::signbit(json_value("-0").numbers[0]));
  EXPECT_TRUE(std::signbit(json_value("-0.0").numbers[0]));
  expect_value(json_value("1.0"), {}, {1}, false);
  expect_value(json_value("1e3"), {}, {1000}, false);
  expect_value(json_value("1E-2"), {}, {0.01}, false);
  expect_value(json_value("[1, 2, 3]"), {3}, {1, 2, 3}, true);
  expect_value(json_value("[1, 2.5, 3]"), {3}, {1, 2.5, 3}, false);
  EXPECT_EQ(json_value("[1, 2.5, 3.5]").first_real, 1);
  expect_value(json_value("[[1,2,3],[4,5,6]]"), {2, 3}, {1, 2, 3, 4, 5, 6}, true);
  expect_value(json_value("[[[1],[2]],[[3],[4]],[[5],[6]]]"), {3, 2, 1}, {1, 2, 3, 4, 5, 6}, true);
}

TEST(DataJson, EmptyArrays) {
  expect_value(json_value("[]"), {0}, {}, true);
  expect_value(json_value("[[],[]]"), {2, 0}, {}, true);
  expect_value(json_value(" [ [ [ ] ] ] "), {1, 1, 0}, {}, true);
  EXPECT_TRUE(data_from_json("{}", "d").empty());
  EXPECT_TRUE(data_from_json(" { } \n", "d").empty());
}

TEST(DataJson, NotFiniteNumbers) {
  for (const std::string word : {"Inf", "Infinity", "\"Inf\"", "\"+Inf\"", "\"Infinity\"", "\"+Infinity\""})
    expect_value(json_value(word), {}, {infinity}, false);
  for (const std::string word : {"-Inf", "-Infinity", "\"-Inf\"", "\"-Infinity\""})
    expect_value(json_value("[1," + word + "]"), {2}, {1, -infinity}, false);
  for (const std::string word : {"NaN", "\"NaN\""}) {
    EXPECT_TRUE(std::isnan(json_value(word).numbers[0]));
    EXPECT_FALSE(json_value(word).is_integer);
  }
}

TEST(DataJson, LargeAndSmallNumbers) {
  expect_value(json_value("2147483647"), {}, {2147483647}, true);
  expect_value(json_value("-2147483648"), {}, {-2147483648.0}, true);
  expect_value(json_value("2147483648"), {}, {2147483648.0}, false);
  expect_value(json_value("-2147483649"), {}, {-2147483649.0}, false);
  expect_value(json_value("9223372036854775808"), {}, {9223372036854775808.0}, false);
  expect_value(json_value("123456789012345678901234567890"), {}, {123456789012345678901234567890.0}, false);
  expect_value(json_value("1e308"), {}, {1e308}, false);
  expect_value(json_value("5e-324"), {}, {5e-324}, false);
  expect_value(json_value("1e-400"), {}, {0}, false);
  expect_value(json_value("-1e-99999999999999999999"), {}, {0}, false);
  expect_value(json_value("0e99999999999999999999"), {}, {0}, false);
  expect_value(json_value("0." + std::string(400, '0') + "1"), {}, {0}, false);
  expect_value(json_value("1" + std::string(400, '0') + "e-400"), {}, {1}, false);
  EXPECT_EQ(json_value_refusal("1e400"),
            "[data] d, line 1: x: expected a number that f64 can hold, found \"1e400\"");
  EXPECT_NE(json_value_refusal("-1e999999999999999999999").find("f64 can hold"), std::string::npos);
  EXPECT_NE(json_value_refusal("1" + std::string(400, '0')).find("f64 can hold"), std::string::npos);
  EXPECT_NE(json_value_refusal("1" + std::string(400, '0') + "e-10").find("f64 can hold"), std::string::npos);
}

TEST(DataJson, Tuples) {
  const DataValue pair = json_value(R"({"1": 5, "2": [1.5, 2]})");
  EXPECT_TRUE(pair.shape.empty());
  EXPECT_TRUE(pair.numbers.empty());
  EXPECT_FALSE(pair.is_integer);
  ASSERT_EQ(pair.members.size(), 2u);
  expect_value(pair.members[0], {}, {5}, true);
  expect_value(pair.members[1], {2}, {1.5, 2}, false);
  const DataValue swapped = json_value(R"({"2": 7, "1": 5})");
  EXPECT_TRUE(swapped.is_integer);
  expect_value(swapped.members[0], {}, {5}, true);

  const DataValue many = json_value(R"([[{"1":1,"2":{"1":[2],"2":3}}],[{"1":4,"2":{"1":[5],"2":6}}]])");
  EXPECT_EQ(to_string(many.shape), "[2, 1]");
  ASSERT_EQ(many.members.size(), 2u);
  EXPECT_TRUE(many.members[1].shape.empty());
  expect_value(many.members[1].members[1].members[0], {1}, {5}, true);
}

TEST(DataJson, OtherNamesAreLeftOut) {
  const DataValues values = data_from_json(
      R"({"_note": "text", "2x": {"a": [null, true, false, {"b": []}, 1e5, "é\u00e9\n"]}, "": null, "_note": 1, "N": 3})",
      "d");
  EXPECT_EQ(values.size(), 1u);
  expect_value(values.at("N"), {}, {3}, true);
}

TEST(DataJson, NamesWithEscapes) {
  EXPECT_TRUE(data_from_json(R"({"\u0041b": 1})", "d").contains("Ab"));
  EXPECT_TRUE(data_from_json("\xEF\xBB\xBF{\"N\":1}", "d").contains("N"));
  EXPECT_TRUE(data_from_json(R"({"\ud83d\ude00": 1, "N": 1})", "d").contains("N"));
}

TEST(DataJson, TellsWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1: expected an object of values by variable, found the end of the text"},
      {"[1]", "line 1: expected an object of values by variable, found a list"},
      {"{\n\"N\": 5\n\"x\": 1}", "line 3: N: expected a comma or }, found the text \"x\""},
      {"{\"N\": 5,}", "line 1: N: expected a value after the comma, found }"},
      {"{\"N\": 5} x", "line 1: expected the end of the text after the object, found \"x\""},
      {"{\"N\": 5", "line 1: N: expected a comma or }, found the end of the text"},
      {"{N: 5}", "line 1: expected a name in quotes, found \"N\""},
      {"{\"N\" 5}", "line 1: N: expected a colon after the name, found \"5\""},
      {"{\"N\": 1, \"N\": 2}", "line 1: expected each name once, found \"N\" again"},
      {"{\"x\":\n [1,\n null]}", "line 3: x[2]: expected a number, found null"},
      {"{\"x\": true}", "line 1: x: expected a number, found true (write 1 or 0)"},
      {"{\"x\": \"abc\"}", "line 1: x: expected a number, found the text \"abc\""},
      {"{\"x\": [[1,2],[3]]}",
       "line 1: x[2]: expected a list of 2 elements as those before it, found one of 1"},
      {"{\"x\": [[[1],[2]],[[3],[4,5]]]}",
       "line 1: x[2, 2]: expected a list of 1 elements as those before it, found one of 2"},
      {"{\"x\": [[],[1]]}", "line 1: x[2]: expected a list of 0 elements as those before it, found one of 1"},
      {"{\"x\": [[1],[]]}", "line 1: x[2]: expected a list of 1 elements as those before it, found one of 0"},
      {"{\"x\": [1,[2]]}", "line 1: x[2]: expected a number, found a list"},
      {"{\"x\": [[1],2]}", "line 1: x[2]: expected a list as those before it, found \"2\""},
      {"{\"x\": [[[]],[1]]}", "line 1: x[2, 1]: expected a list as those before it, found \"1\""},
      {"{\"x\": [{\"1\":1},2]}", "line 1: x[2]: expected a tuple, found \"2\""},
      {"{\"x\": [2,{\"1\":1}]}", "line 1: x[2]: expected a number, found an object"},
      {"{\"x\": [[2],{\"1\":1}]}", "line 1: x[2]: expected a list as those before it, found a tuple"},
      {"{\"x\": [{\"1\":1},{\"1\":[1,null]}]}", "line 1: x[2].1[2]: expected a number, found null"},
      {"{\"x\": {\"1\":1, \"3\":2}}",
       "line 1: x: expected a tuple with the key \"2\", found \"3\" without it"},
      {"{\"x\": {\"a\":1}}", "line 1: x: expected a tuple with keys \"1\", \"2\", ..., found the key \"a\""},
      {"{\"x\": {\"01\":1}}",
       "line 1: x: expected a tuple with keys \"1\", \"2\", ..., found the key \"01\""},
      {"{\"x\": {\"1\":1,\"1\":1}}", "line 1: x: expected each key once, found \"1\" again"},
      {"{\"x\": {}}", "line 1: x: expected a tuple {\"1\": ..., \"2\": ...}, found an object without keys"},
      {"{\"x\": 01}", "line 1: x: expected a number without zeros in front, found \"01\""},
      {"{\"x\": .5}", "line 1: x: expected a number, found \".5\""},
      {"{\"x\": +5}", "line 1: x: expected a number, found \"+5\""},
      {"{\"x\": 5.}", "line 1: x: expected a digit, found \"}\""},
      {"{\"x\": 1e}", "line 1: x: expected a digit, found \"}\""},
      {"{\"x\": nan}", "line 1: x: expected a number, found \"nan\""},
      {"{\"x\": Infinite}", "line 1: x: expected a number, found \"Infinite\""},
      {"{\"x\": [1 2]}", "line 1: x[1]: expected a comma or ], found \"2\""},
      {"{\"x\": [1,]}", "line 1: x[1]: expected a value after the comma, found ]"},
      {"{\"x\": }", "line 1: x: expected a number, found \"}\""},
      {"{\"x", "line 1: expected the quote that closes a text, found the end of the text"},
      {"{\"a\\q\":1}", "line 1: expected an escape of JSON after the backslash, found \"q\""},
      {"{\"\\ud800\":1}", "line 1: expected a pair of surrogates, found half of one"},
      {"{\"\\u12\":1}", "line 1: expected four hexadecimal digits after \\u, found \"12\":\""},
  };
  for (const auto& [text, message] : cases) EXPECT_EQ(json_refusal(text), "[data] d, " + message) << text;
}

TEST(DataJson, NestingIsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); };
  EXPECT_EQ(json_value(nested(12)).shape.size(), 12);
  EXPECT_NE(json_value_refusal(nested(13)).find("at most 12 axes"), std::string::npos);
  EXPECT_NE(json_refusal("{\"_\":" + nested(200000) + "}").find("at most 100 deep"), std::string::npos);
  std::string tuples;
  for (int i = 0; i < 200000; ++i) tuples += "{\"1\":";
  EXPECT_NE(json_value_refusal(tuples).find("at most 100 deep"), std::string::npos);
}

TEST(DataJson, ControlCharactersAreNotPrinted) {
  const std::string message = json_refusal("{\"x\": \"\x1b[31m\"}");
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_NE(json_refusal("{\"\xff\": 1}").find("expected UTF-8"), std::string::npos);
  EXPECT_NE(json_refusal("{\"N\": 1}\0"s).find("expected the end"), std::string::npos);
}

TEST(DataJson, ManyNumbers) {
  std::string text = "[";
  const int rows = 20000, columns = 50;
  for (int i = 0; i < rows; ++i) {
    text += i ? ",\n[" : "[";
    for (int j = 0; j < columns; ++j) text += fmt::format("{}{}.{}", j ? ", " : "", i, j);
    text += "]";
  }
  const DataValue value = json_value(text + "]");
  EXPECT_EQ(to_string(value.shape), "[20000, 50]");
  EXPECT_EQ(value.numbers[50 * 777 + 25], 777.25);
}

// --- R's dump ---

TEST(DataDump, ReadsWhatRWrites) {
  expect_value(dump_value("5"), {}, {5}, true);
  expect_value(dump_value("5L"), {}, {5}, true);
  expect_value(dump_value("-5L"), {}, {-5}, true);
  expect_value(dump_value("1e5L"), {}, {1e5}, true);
  expect_value(dump_value("5."), {}, {5}, false);
  expect_value(dump_value(".5"), {}, {0.5}, false);
  expect_value(dump_value("- 1e-3"), {}, {-0.001}, false);
  expect_value(dump_value("c(1, 2.5, -3)"), {3}, {1, 2.5, -3}, false);
  expect_value(dump_value("c(1L,2L)"), {2}, {1, 2}, true);
  expect_value(dump_value("c(5)"), {1}, {5}, true);
  expect_value(dump_value("c()"), {0}, {}, true);
  expect_value(dump_value("1:4"), {4}, {1, 2, 3, 4}, true);
  expect_value(dump_value("2:-1"), {4}, {2, 1, 0, -1}, true);
  expect_value(dump_value("-1:1"), {3}, {-1, 0, 1}, true);
  expect_value(dump_value("c(1:3, 7)"), {4}, {1, 2, 3, 7}, true);
  expect_value(dump_value("integer(0)"), {0}, {}, true);
  expect_value(dump_value("integer()"), {0}, {}, true);
  expect_value(dump_value("double(0)"), {0}, {}, true);
  expect_value(dump_value("integer(2)"), {2}, {0, 0}, true);
  expect_value(dump_value("double(2)"), {2}, {0, 0}, false);
  expect_value(dump_value("c(Inf, -Inf)"), {2}, {infinity, -infinity}, false);
  EXPECT_TRUE(std::isnan(dump_value("NaN").numbers[0]));
  expect_value(dump_value("3000000000"), {}, {3e9}, false);
}

TEST(DataDump, ArraysBecomeRowMajor) {
  expect_value(dump_value("structure(c(1,2,3,4,5,6), .Dim = c(2L, 3L))"), {2, 3}, {1, 3, 5, 2, 4, 6}, true);
  expect_value(dump_value("structure(1:8, .Dim = c(2,2,2))"), {2, 2, 2}, {1, 5, 3, 7, 2, 6, 4, 8}, true);
  expect_value(dump_value("structure(1:6, .Dim = 2:3)"), {2, 3}, {1, 3, 5, 2, 4, 6}, true);
  expect_value(dump_value("structure(c(1,2), dim = 2L)"), {2}, {1, 2}, true);
  expect_value(dump_value("structure(5L, .Dim = c(1L, 1L))"), {1, 1}, {5}, true);
  expect_value(dump_value("structure(integer(0), .Dim = c(2, 0))"), {2, 0}, {}, true);
  expect_value(dump_value("structure(double(0), .Dim = c(0, 3))"), {0, 3}, {}, true);
  const DataValue real = dump_value("structure(c(1,2.5,3,4), .Dim = c(2L, 2L))");
  EXPECT_EQ(real.first_real, 2);
  EXPECT_EQ(real.numbers[2], 2.5);
}

TEST(DataDump, Arithmetic) {
  expect_value(dump_value("-c(1, 2)"), {2}, {-1, -2}, true);
  expect_value(dump_value("-(1:3)"), {3}, {-1, -2, -3}, true);
  expect_value(dump_value("2 * 3 + 1"), {}, {7}, true);
  expect_value(dump_value("1 + 2 * 3"), {}, {7}, true);
  expect_value(dump_value("-2^2"), {}, {-4}, true);
  expect_value(dump_value("2^-1"), {}, {0.5}, false);
  expect_value(dump_value("10 / 4"), {}, {2.5}, false);
  expect_value(dump_value("10 / 5"), {}, {2}, true);
  expect_value(dump_value("c(1, 2, 3) / 2"), {3}, {0.5, 1, 1.5}, false);
  expect_value(dump_value("1:3 * 2"), {3}, {2, 4, 6}, true);
  expect_value(dump_value("c(-c(1, 2), 1/2, 3:4)"), {5}, {-1, -2, 0.5, 3, 4}, false);
  expect_value(dump_value("rep(c(1, 2), 2)"), {4}, {1, 2, 1, 2}, true);
  expect_value(dump_value("rep(0, times = 3)"), {3}, {0, 0, 0}, true);
  expect_value(dump_value("structure(-(1:4), .Dim = c(2, 2))"), {2, 2}, {-1, -3, -2, -4}, true);
  expect_value(data_from_rdump("n <- 2; x <- n * c(1, n)", "d").at("x"), {2}, {2, 4}, true);
}

// What is made of texts is no data of a Stan program, and names of elements say nothing.
TEST(DataDump, TextsArePassedOver) {
  const DataValues values = data_from_rdump(
      "a <- \"x <- 3 # (\"\nb <- c(\"(\", 'it\\'s',\n \"c\")\nN <- 3\nlevels <- structure(c(1L, 2L, 1L), "
      ".Label = "
      "c(\"no, (\", \"yes\"), class = \"factor\")\nm <- structure(1:4, .Dim = c(2, 2), .Dimnames = "
      "list(c(\"a\", "
      "\"b\"), NULL))",
      "d");
  EXPECT_EQ(values.size(), 3u);
  expect_value(values.at("N"), {}, {3}, true);
  expect_value(values.at("levels"), {3}, {1, 2, 1}, true);
  expect_value(values.at("m"), {2, 2}, {1, 3, 2, 4}, true);
}

TEST(DataDump, ManyVariables) {
  const DataValues values = data_from_rdump(
      "# a comment\n\"N\" <-\n5\n'y' <- c(1,\n 2) # more\n`z`=3;w<-4 v <- -1\nlast.one <- 1:2", "d");
  EXPECT_EQ(values.size(), 6u);
  expect_value(values.at("N"), {}, {5}, true);
  expect_value(values.at("y"), {2}, {1, 2}, true);
  expect_value(values.at("z"), {}, {3}, true);
  expect_value(values.at("v"), {}, {-1}, true);
  expect_value(values.at("last.one"), {2}, {1, 2}, true);
  EXPECT_TRUE(data_from_rdump("", "d").empty());
  EXPECT_TRUE(data_from_rdump(" # nothing", "d").empty());
}

TEST(DataDump, TellsWhatIsWrongAndWhere) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"NA",
       "x: expected a number, c(...), structure(...), integer(0) or double(0), found the missing value NA"},
      {"c(1, NA_real_)",
       "x: expected a number, c(...), structure(...), integer(0) or double(0), found the missing value "
       "NA_real_"},
      {"TRUE",
       "x: expected a number, c(...), structure(...), integer(0) or double(0), found TRUE (write 1 or 0)"},
      {"list(1)", "x: expected a number, c(...), structure(...), integer(0) or double(0), found \"list\""},
      {"c(1, 2", "x: expected a comma or ), found the end of the text"},
      {"c(1 2)", "x: expected a comma or ), found \"2\""},
      {"", "x: expected a number, found the end of the text"},
      {"1.5:3", "x: expected a range of integers, found 1.5:3"},
      {"1:1e9", "x: expected a range of integers, found 1:1000000000"},
      {"1:1000000000", "x: expected at most 134217728 elements of ranges and zeros, found more"},
      {"integer(999999999999)", "x: expected at most 134217728 elements of ranges and zeros, found more"},
      {"integer(-1)", "x: expected a whole number that is 0 or more, found -1"},
      {"structure(c(1,2,3), .Dim = c(2L, 2L))",
       "x: expected extents whose product is 3, the number of elements, found (2, 2)"},
      {"structure(c(1,2), .Dim = c(4294967296, 4294967296, 2))",
       "x: expected extents whose product is 2, the number of elements, found (4294967296, 4294967296, 2)"},
      {"structure(c(1,2))", "x: expected , .Dim = c(...) in structure(...), found \")\""},
      {"structure(structure(1, .Dim = 1), .Dim = 1)",
       "x: expected numbers in structure(...), found \"structure\""},
      {"structure(1, .Dim = 1:13)", "x: expected at most 12 extents, found more"},
      {"5abc", "x: expected a number, found \"5a\""},
      {"1e", "x: expected digits after the e of a number, found the end of the text"},
      {"1e999", "x: expected a number that f64 can hold, found \"1e999\""},
      {"5 +", "x: expected a number, found the end of the text"},
      {"c(1, 2) + c(1, 2, 3)", "x: expected operands of one length, found 2 and 3 numbers"},
      {"c(1, 2):3", "x: expected a range of integers, found one of lists"},
      {"rep(1)", "x: expected a comma and how often, found \")\""},
      {"rep(1, times 3)", "x: expected = after times, found \"3\""},
      {"structure(1, .Dim = 1, .Dim = 1)", "x: expected .Dim = c(...) once, found \".Dim\""},
      {"structure(1, )", "x: expected = after an attribute, found \")\""},
      {"rep(1, 999999999999)", "x: expected at most 134217728 elements of ranges and zeros, found more"},
      {"other", "x: expected a number, c(...), structure(...), integer(0) or double(0), found \"other\""},
      {std::string(200, '(') + "1", "x: expected brackets at most 100 deep, found more"},
      {"5\nx <- 6", "expected each name once, found \"x\" again"},
  };
  for (const auto& [text, message] : cases) {
    const std::string found = dump_value_refusal(text);
    EXPECT_EQ(found.substr(found.find(": ") + 2), message) << text;
  }
  EXPECT_EQ(dump_refusal("N <- 5\n\n5 <- 3"),
            "[data] d, line 3: expected the name of a variable, found \"5\"");
  EXPECT_EQ(dump_refusal("N -> 5"), "[data] d, line 1: N: expected <- after the name, found \"-\"");
  EXPECT_EQ(dump_refusal("\"N <- 5"), "[data] d, line 1: expected the quote that closes a name, found \"<\"");
}

// --- CSV ---

TEST(DataCsv, ColumnsAndN) {
  const DataValues values = data_from_csv("x,y,big,z\n1,0.5,3000000000,-Inf\r\n2,1,1,2\n", "d");
  EXPECT_EQ(values.size(), 5u);
  expect_value(values.at("x"), {2}, {1, 2}, true);
  expect_value(values.at("y"), {2}, {0.5, 1}, false);
  expect_value(values.at("big"), {2}, {3e9, 1}, false);
  expect_value(values.at("z"), {2}, {-infinity, 2}, false);
  expect_value(values.at("N"), {}, {2}, true);
  expect_value(data_from_csv("N\n7\n", "d").at("N"), {1}, {7}, true);
  expect_value(data_from_csv("\"a\"\n", "d").at("a"), {0}, {}, true);
}

TEST(DataCsv, TellsWhatIsWrongAndWhere) {
  EXPECT_EQ(
      csv_refusal("a,b\n1,2\n3,abc\n"),
      "[data] d, line 3, column \"b\": expected numbers alone, as Stan has no texts, found the text \"abc\"");
  EXPECT_EQ(csv_refusal("a,b\n1,\n"),
            "[data] d, line 2, column \"b\": expected a number, found a missing value");
  EXPECT_EQ(csv_refusal("a,b\n1,NA\n"),
            "[data] d, line 2, column \"b\": expected a number, found a missing value");
  EXPECT_EQ(csv_refusal("a,b\n1\n"), "[data] d, line 2: expected 2 fields as there are names, found 1");
  EXPECT_NE(csv_refusal("a,a\n1,2\n").find("each name once"), std::string::npos);
  EXPECT_NE(csv_refusal("1,2\n3,4\n").find("expected a name"), std::string::npos);
  EXPECT_NE(csv_refusal("a;b\n3;4\n").find("commas between"), std::string::npos);
  EXPECT_NE(csv_refusal("").find("expected a table"), std::string::npos);
  EXPECT_NE(csv_refusal("a\n1e999\n").find("f64 can hold"), std::string::npos);
}

// --- Files ---

TEST(DataFiles, AreReadByTheirEnding) {
  const std::string folder = testing::TempDir();
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string path = folder + "/stan_data_test_" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  };
  const std::vector<std::pair<std::string, std::string>> files = {
      {"a.json", "{\"N\": 2}"}, {"a.R", "N <- 2"},        {"a.data.R", "N <- 2"},
      {"a.rdump", "N <- 2"},    {"a.csv", "x\n1\n2\n"},   {"a.JSON", "{\"N\": 2}"},
      {"a.txt", " {\"N\": 2}"}, {"plain", "{\"N\": 2}\n"}};
  for (const auto& [name, text] : files) {
    const std::string path = write(name, text);
    expect_value(read_data(path).at("N"), {}, {2}, true);
    expect_value(read_inits(path).at("N"), {}, {2}, true);
    std::remove(path.c_str());
  }
  const std::string odd = write("b.txt", "N <- 2");
  EXPECT_THROW(read_data(odd), Error);
  std::remove(odd.c_str());
  EXPECT_THROW(read_data(folder + "/stan_data_test_none.json"), Error);
  EXPECT_THROW(read_data(folder), Error);
}

// --- Damage ---

// Bytes that change, go and come: an Error or values, never anything else.
void damage(Reader reader, const std::string& text, const std::string& alphabet) {
  test::each_seed(20000, [&](uint64_t seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
    std::string damaged = text;
    for (size_t change = 0; change <= below(4); ++change) {
      const char c = below(8) ? alphabet[below(alphabet.size())] : static_cast<char>(below(256));
      const size_t at = damaged.empty() ? 0 : below(damaged.size());
      switch (below(4)) {
        case 0: damaged.insert(at, 1, c); break;
        case 1: damaged.erase(at, 1 + below(3)); break;
        case 2:
          if (!damaged.empty()) damaged[at] = c;
          break;
        default: damaged.resize(at);
      }
    }
    try {
      for (const auto& [name, value] : reader(damaged, "d"))
        if (value.members.empty()) {
          ASSERT_EQ(element_count(value.shape), std::ssize(value.numbers)) << damaged;
        }
    } catch (const Error& error) {
      ASSERT_NE(error.kind(), ErrorKind::internal) << damaged;
    }
  });
}

TEST(DataDamage, Json) {
  damage(
      data_from_json,
      R"({"N": 5, "x": [[1, 2.5], [NaN, -Inf]], "t": [{"1": 3, "2": [1]}], "_s": ["a\u0041", null, true]})",
      "{}[],:\"\\u0123456789-+.eENaInftrl \n");
}
TEST(DataDamage, Dump) {
  damage(data_from_rdump,
         "N <- 5L\nx = structure(c(1, -2.5, NaN, 1e3), .Dim = c(2L, 2L)); \"y\" <- 1:3 # c\n",
         "<-=():,;.#'\"`cLe0123456789NaInfstructureDim \n");
}
TEST(DataDamage, Csv) {
  damage(data_from_csv, "a,\"b\",c\n1,2.5,Inf\n3,-4,1e5\n", ",\"\n\r.-+eE0123456789abNIf ");
}

}  // namespace
}  // namespace adit::stan
