// Tables from CSV: what is read beside Python's csv module and NumPy, what is refused and how, and damage.
#include <algorithm>
#include <clocale>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <sys/stat.h>
#include <thread>

#include <adit/csv.hpp>
#include <adit/text.hpp>

#include "io/files.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using Words = std::vector<std::string>;
using Whole = std::vector<int64_t>;
using Real = std::vector<double>;
using namespace std::string_literals;
using namespace std::string_view_literals;

class Csv : public Io {
 protected:
  void write_text(const std::string& name, std::string_view text) const {
    write(folder_ / name, bytes_of(text));
  }
};

std::string refused(std::string_view text, const CsvOptions& options = {}, ErrorKind kind = ErrorKind::io) {
  return error_of([&] { decode_csv(text, options); }, kind);
}

// --- Beside Python ---

TEST_F(Csv, ReadsWhatPythonReads) {
  const std::string command =
      std::string(ADIT_PYTHON) + " -B '" ADIT_CSV_SCRIPT "' '" + folder_.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  int tables = 0;
  std::map<std::string, int> kinds;
  for (; fs::exists(folder_ / (std::to_string(tables) + ".csv")); tables++) {
    const fs::path stem = folder_ / std::to_string(tables);
    const auto about = nlohmann::json::parse(std::ifstream(stem.string() + ".json"));
    CsvOptions options;
    options.separator = about["separator"].get<std::string>()[0];
    options.has_names = about["has_names"];
    const Table table = load_csv(stem.string() + ".csv", options);
    const TensorMap expected = load_npz(stem.string() + ".npz");
    ASSERT_EQ(table.names(), about["names"].get<Words>()) << stem;
    for (size_t i = 0; i < table.names().size(); i++) {
      const std::string name = table.names()[i];
      const Tensor column = table[name], want = expected.at("c" + std::to_string(i));
      EXPECT_EQ(column.dtype(), want.dtype()) << stem << " " << name;
      EXPECT_EQ(column.shape(), want.shape()) << stem << " " << name;
      EXPECT_EQ(column.to_bytes(), want.to_bytes()) << stem << " " << name;
      const bool has_words = about["words"].contains(name);
      if (has_words) {
        EXPECT_EQ(table.words(name), about["words"][name].get<Words>()) << stem << " " << name;
      }
      kinds[has_words ? "words" : std::string(name_of(column.dtype()))]++;
    }
  }
  EXPECT_EQ(tables, 300);
  for (const char* kind : {"words", "i64", "f64"}) EXPECT_GT(kinds[kind], 100) << kind;
  CsvOptions options;
  options.comment = '#';
  const Table numbers = load_csv(folder_ / "numbers.csv", options);
  EXPECT_EQ(numbers.names(), (Words{"a", "b", "c", "d", "e"}));
  EXPECT_EQ(numbers.matrix(numbers.names()).to_bytes(), load_npy(folder_ / "numbers.npy").to_bytes());
}

// --- Values ---

TEST_F(Csv, ATable) {
  const Table table = decode_csv("county,floor,radon\nLake,0,1.5\nAnoka,1,-2e-1\nLake,0,3\n");
  EXPECT_EQ(table.rows(), 3);
  EXPECT_EQ(table.names(), (Words{"county", "floor", "radon"}));
  EXPECT_TRUE(table.has("floor"));
  EXPECT_FALSE(table.has("Floor"));
  EXPECT_EQ(table["county"].to_vector<int64_t>(), (Whole{1, 0, 1}));
  EXPECT_EQ(table.words("county"), (Words{"Anoka", "Lake"}));
  EXPECT_EQ(table["floor"].to_vector<int64_t>(), (Whole{0, 1, 0}));
  EXPECT_EQ(table.at("radon").to_vector<double>(), (Real{1.5, -0.2, 3}));
  const Tensor matrix = table.matrix({"radon", "floor"});
  EXPECT_EQ(matrix.shape(), (Shape{3, 2}));
  EXPECT_EQ(matrix.to_vector<double>(), (Real{1.5, 0, -0.2, 1, 3, 0}));
}

TEST_F(Csv, FilesStreamsAndTextsAreReadAlike) {
  const std::string text = "x,y\n1,2.5\n";
  write_text("t.csv", text);
  std::istringstream stream(text);
  for (const Table& table : {load_csv(folder_ / "t.csv"), load_csv(stream), decode_csv(text)})
    EXPECT_EQ(table.matrix({"x", "y"}).to_vector<double>(), (Real{1, 2.5}));
}

TEST_F(Csv, TheFormMayVary) {
  for (const char* text : {"x,y\n1,a b\n2,c\n", "\xEF\xBB\xBFx,y\r\n1,a b\r\n2,c\r\n", "x,y\n1,a b\n2,c",
                           "x,y\n1,a b\n2,c\n\n \r\n\t", " x , \"y\"\n 1\t,\ta b \n\"2\" , \"c\" \n",
                           "\"x\",\"y\"\n\"1\",\"a b\"\n\"2\",\"c\""}) {
    const Table table = decode_csv(text);
    EXPECT_EQ(table.names(), (Words{"x", "y"})) << text;
    EXPECT_EQ(table["x"].to_vector<int64_t>(), (Whole{1, 2})) << text;
    EXPECT_EQ(table.words("y"), (Words{"a b", "c"})) << text;
  }
  EXPECT_EQ(decode_csv("x\n\"a, \"\"b\"\"\r\n c \"\n").words("x"), (Words{"a, \"b\"\r\n c "}));
  EXPECT_EQ(decode_csv("x;y\n1;2,a", {.separator = ';'}).words("y"), (Words{"2,a"}));
  EXPECT_EQ(decode_csv("x\ty\n1\t 2 ", {.separator = '\t'}).matrix({"y"}).to_vector<double>(), (Real{2}));
  EXPECT_EQ(decode_csv("3,4\n5,6", {.has_names = false})["2"].to_vector<int64_t>(), (Whole{4, 6}));
  EXPECT_EQ(decode_csv("#a\nx,y\n#b\"\n1,2\n#", {.comment = '#'})["y"].to_vector<int64_t>(), (Whole{2}));
  EXPECT_EQ(decode_csv("x\n1\n\n# the end\n\n#\n", {.comment = '#'})["x"].to_vector<int64_t>(), (Whole{1}));
  EXPECT_EQ(decode_csv("\"1\"\n2")["1"].to_vector<int64_t>(), (Whole{2}));  // a name that is a number
}

TEST_F(Csv, Numbers) {
  const auto bits = [](const char* text) {
    const Tensor column = decode_csv("x\n"s + text)["x"];
    EXPECT_EQ(column.dtype(), DType::f64) << text;
    return column.to_vector<double>().back();
  };
  EXPECT_EQ(bits("1.0"), 1);
  EXPECT_EQ(bits("+.5"), 0.5);
  EXPECT_EQ(bits("5."), 5);
  EXPECT_EQ(bits("1E3"), 1000);
  EXPECT_TRUE(std::signbit(bits("-0")));  // i64 would lose the sign
  EXPECT_EQ(bits("4.9e-324"), 0x1p-1074);
  EXPECT_EQ(bits("0e999"), 0);
  EXPECT_EQ(bits("9223372036854775808"), 0x1p63);  // beyond i64, exact in f64
  EXPECT_EQ(bits("-36893488147419103232"), -0x1p65);
  EXPECT_EQ(bits("1\n00018446744073709551616"), 0x1p64);
  EXPECT_EQ(bits("9007199254740992\n0.5"), 0.5);
  EXPECT_EQ(decode_csv("x\n+007\n-9223372036854775808\n9223372036854775807")["x"].to_vector<int64_t>(),
            (Whole{7, INT64_MIN, INT64_MAX}));
}

TEST_F(Csv, NumbersDoNotDependOnTheLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* found = nullptr;
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"})
    if (!found) found = std::setlocale(LC_ALL, name);
  const Real values = decode_csv("x\n1.5\n-2.25e1")["x"].to_vector<double>();
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(values, (Real{1.5, -22.5}));
  if (!found) GTEST_SKIP() << "no locale with a decimal comma is installed";
}

TEST_F(Csv, Words) {
  EXPECT_EQ(decode_csv("x\nTRUE\nFALSE")["x"].to_vector<int64_t>(), (Whole{1, 0}));
  // Codes do not depend on the order of the rows.
  EXPECT_EQ(decode_csv("x\nb\na\nc").words("x"), decode_csv("x\nc\nb\na").words("x"));
  const CsvOptions options{.as_words = {"fips"}};
  const Table table = decode_csv("fips\n01001\n1001\n\"NA\"\ninf\n1.5\n", options);
  EXPECT_EQ(table.words("fips"), (Words{"01001", "1.5", "1001", "NA", "inf"}));
  EXPECT_EQ(table["fips"].to_vector<int64_t>(), (Whole{0, 2, 3, 4, 1}));
  expect_words(refused("fips\n\"NA\"\nNA\n", options), {"line 3, column \"fips\": a missing value (\"NA\")"});
  expect_words(refused("fips\na\n\"\"\n", options), {"line 3", "an empty field"});
}

// --- What is refused ---

TEST_F(Csv, MissingValuesAreRefused) {
  write_text("data.csv", "county,floor\n\"Lake\nView\",1\n# no comment,2\nAnoka,NA\n");
  const fs::path path = folder_ / "data.csv";
  EXPECT_EQ(
      error_of([&] { load_csv(path); }),
      "[load_csv] " + path.string() +
          ": line 5, column \"floor\": a missing value (\"NA\"); leave out such rows, or put in what you "
          "know");
  for (const char* mark :
       {"", " ", "\"\"", "NA", "na", "NaN", "nan", "n/a", "NULL", "null", ".", "?", "#N/A"}) {
    for (const char* before : {"1", "1.5", "word"}) {
      const std::string head = "y,x\n0,"s + before + "\n0,";
      expect_words(refused(head + mark + "\n0,2\n"), {"[decode_csv] text: line 3, column \"x\": a missing"});
    }
    expect_words(refused("y,x\n0,"s + mark), {"line 2, column \"x\": a missing value"});
  }
}

TEST_F(Csv, WhatIsNoNumberIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"x\n1\ninf\n", "line 3, column \"x\": expected a finite number"},
      {"x\n-Infinity\n", "line 2, column \"x\": expected a finite number"},
      {"x\nword\ninf\n", "line 3, column \"x\": expected a finite number"},
      {"x\n1\n\n", nullptr},
      {"x\n1\n2x\n", "line 3, column \"x\": expected a number as in line 2 (\"1\"), got \"2x\"; name the"},
      {"x\n1.5\n1e\n", "line 3, column \"x\": expected a number as in line 2 (\"1.5\"), got \"1e\""},
      {"x\n1\n--2\n", "got \"--2\""},
      {"x\n1\n+-2\n", "got \"+-2\""},
      {"x\n1\n0x10\n", "got \"0x10\""},
      {"x\nred\nblue\n7\n", "line 4, column \"x\": expected a word as in line 2 (\"red\"), got \"7\""},
      {"x\n\"1,5\"\n", "line 2, column \"x\": expected numbers with a point and without commas, got \"1,5\""},
      {"x\n1\n\"1,000\"\n", "without commas, got \"1,000\""},
      {"x\n1e999\n", "expected a number in the range of f64, got \"1e999\""},
      {"x\n-1e-999\n", "range of f64, got \"-1e-999\""},
      {"x\n9223372036854775809\n",
       "line 2, column \"x\": expected a whole number that i64 or f64 holds exactly"},
      {"x\n0.5\n9007199254740993\n", "line 3, column \"x\": expected whole numbers that f64 holds exactly"},
      {"x\n9007199254740993\n1\n0.5\n",
       "line 2, column \"x\": expected whole numbers that f64 holds exactly, "
       "since \"0.5\" in line 4"},
      {"x\n9223372036854775807\n9223372036854775808\n",
       "line 2, column \"x\": expected whole numbers that f64"},
  };
  for (const auto& [text, words] : cases) {
    if (words)
      expect_words(refused(text), {"[decode_csv] text: ", words});
    else
      decode_csv(text);
  }
}

TEST_F(Csv, BadFormsAreRefused) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "expected a table, got no line of it"},
      {"\xEF\xBB\xBF", "no line of it"},
      {"\n\n", "no line of it"},
      {"x,y\n", "expected rows, got a line of names alone"},
      {"x,y\n1,2\n3\n", "line 3: expected 2 fields as line 1 has, got 1"},
      {"x,y\n1,\"a\nb\"\n3,4,5\n", "line 4: expected 2 fields as line 1 has, got 3"},
      {"x,y\n1,2\n\n3,4\n", "line 3: expected a row, got a blank line"},
      {"\nx\n1\n", "line 1: expected a row, got a blank line"},
      {"x,,y\n1,2,3\n", "line 1, column 2: expected a name, got an empty one"},
      {"x,y,x\n1,2,3\n", "line 1, column 3: expected each name once, got \"x\" in column 1 too"},
      {"\"x\ny\"\n1\n", "line 1, column 1: expected a name in UTF-8 on one line, got \"x\\x0ay\""},
      {"caf\xE9\n1\n", "expected a name in UTF-8 on one line, got \"caf\\xe9\""},
      {"1,2.5\n3,4\n", "line 1: expected names, got numbers alone; set has_names"},
      {"x;y\n1;2\n", "line 1: expected fields between \",\", got one with \";\" in it (\"x;y\")"},
      {"x\n\"abc\n", "line 2: expected the quote that closes a field, got the end"},
      {"x\n\"abc\"d\n", "line 2: expected \",\" or the end of the line after a field in quotes, got \"d\""},
      {"x\nab\"c\n", "line 2: expected quotes around a whole field, got one inside"},
      {"x\r1\r", "line 1: expected lines that end in LF or CR LF, got a CR alone"},
      {"x\n1\r", "line 2: expected lines that end in LF or CR LF"},
      {"x\n1\0\n"s, "line 2: expected text, got a byte that is 0"},
      {"x\n\"a\0\"\n"s, "line 2: expected text, got a byte that is 0"},
      {"\xFF\xFEx\0\n\0"s, "expected UTF-8, got UTF-16"},
      {"x\nSt\xE9phane\n", "line 2, column \"x\": expected UTF-8, got \"St\\xe9phane\""},
  };
  for (const auto& [text, words] : cases) expect_words(refused(text), {"[decode_csv] text: ", words});
}

TEST_F(Csv, LongFieldsAreCutInMessages) {
  const std::string longest(1 << 24, 'a');
  EXPECT_EQ(decode_csv("x\n" + longest).words("x").front(), longest);
  const std::string message = refused("x\n1\n" + longest);
  expect_words(message, {"line 3", "aaaa...\""});
  EXPECT_LT(message.size(), 400u);
  expect_words(refused("x\n" + std::string(1 << 20, '9')), {"range of f64"});
  expect_words(refused(std::string(3'000'000, ','), {.has_names = false}), {"at most 1000000 fields"});
  EXPECT_LT(refused(longest + "\n1\nb").size(), 400u);
}

TEST_F(Csv, OptionsAreChecked) {
  for (const char separator : {'\0', ' ', '"', '\n', 'a', '1', '.', '\xFF'})
    expect_words(refused("x\n1", {.separator = separator}, ErrorKind::bad_argument),
                 {"[decode_csv] separator: expected a comma"});
  for (const char comment : {' ', '"', '\n', ',', '\xFF'})
    expect_words(refused("x\n1", {.comment = comment}, ErrorKind::bad_argument),
                 {"[decode_csv] comment: expected"});
  expect_words(refused("floor,x\n1,2", {.as_words = {"flor"}}, ErrorKind::not_found),
               {"[decode_csv] text: as_words: ", "got \"flor\"; near it: \"floor\""});
}

TEST_F(Csv, QuestionsToTheTableAreChecked) {
  const Table table = decode_csv("county,floor,radon,id\na,1,2.5,9007199254740993\n");
  const auto unknown = [&](const char* name) { return error_of([&] { table[name]; }, ErrorKind::not_found); };
  EXPECT_EQ(unknown("Flor"), "[Table] text: expected the name of a column, got \"Flor\"; near it: \"floor\"");
  expect_words(unknown("zzzzzz"), {"there are: \"county\", \"floor\", \"radon\", \"id\""});
  error_of([&] { table.words("count"); }, ErrorKind::not_found);
  error_of([&] { table.matrix({"floor", "x"}); }, ErrorKind::not_found);
  expect_words(error_of([&] { table.words("floor"); }, ErrorKind::bad_argument), {"\"floor\"", "as_words"});
  expect_words(error_of([&] { table.matrix({}); }, ErrorKind::bad_argument), {"got none"});
  expect_words(error_of(
                   [&] {
                     table.matrix({"floor", "county"});
                   },
                   ErrorKind::bad_argument),
               {"\"county\"", "words"});
  expect_words(error_of([&] { table.matrix({"id"}); }, ErrorKind::bad_argument), {"9007199254740993"});
  const Table empty;
  EXPECT_EQ(empty.rows(), 0);
  EXPECT_TRUE(empty.names().empty() && !empty.has("x"));
  expect_words(error_of([&] { empty["x"]; }, ErrorKind::not_found), {"the table is empty"});
  error_of([&] { empty.words("x"); }, ErrorKind::not_found);
  error_of([&] { empty.matrix({"x"}); }, ErrorKind::not_found);
}

TEST_F(Csv, WhatIsNoFileIsRefused) {
  const std::string missing = (folder_ / "missing.csv").string();
  expect_words(error_of([&] { load_csv(missing); }, ErrorKind::not_found), {"[load_csv] " + missing});
  expect_words(error_of([&] { load_csv(folder_); }), {"[load_csv] " + folder_.string()});
  expect_words(error_of([&] { load_csv("/dev/zero"); }), {"got a device"});
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_words(error_of([&] { load_csv(pipe); }), {"a pipe that nobody writes to"});
  const std::jthread writer([&] { std::ofstream(pipe) << "x\n1\n2\n"; });
  EXPECT_EQ(load_csv(pipe)["x"].to_vector<int64_t>(), (Whole{1, 2}));
  write_text("odd\n.csv", "x\n");
  expect_words(error_of([&] { load_csv(folder_ / "odd\n.csv"); }), {"odd\\x0a.csv: expected rows"});
}

// --- Damage ---

std::string damaged(std::string text, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  const std::string_view odd = "\",;\n\r\t .-+eE0123456789aNI#\0\xFF\xC3\xA9"sv;
  for (size_t change = 0; change < 1 + below(4); change++) {
    const size_t at = below(text.size() + 1);
    const char c = below(4) ? odd[below(odd.size())] : static_cast<char>(below(256));
    switch (below(5)) {
      case 0: text.insert(at, 1, c); break;
      case 1: text.erase(at, 1 + below(3)); break;
      case 2: text.insert(at, text.substr(below(text.size() + 1), below(20))); break;
      case 3: text.resize(text.size() - std::min(text.size(), below(5))); break;
      default:
        if (at < text.size()) text[at] = c;
    }
  }
  return text;
}

// What was read holds together.
void expect_sound(const Table& table, const std::string& text) {
  ASSERT_GT(table.rows(), 0) << printable_lines(text);
  for (const std::string& name : table.names()) {
    const Tensor column = table[name];
    ASSERT_EQ(column.size(), table.rows());
    if (column.dtype() == DType::f64) {
      for (const double value : column.to_vector<double>()) ASSERT_TRUE(std::isfinite(value)) << text;
      continue;
    }
    Whole values = column.to_vector<int64_t>();
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    try {
      const Words words = table.words(name);
      ASSERT_TRUE(std::is_sorted(words.begin(), words.end()));
      Whole every(words.size());
      std::iota(every.begin(), every.end(), 0);
      ASSERT_EQ(values, every) << text;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::bad_argument) << error.what();  // a column of numbers
    }
  }
}

TEST_F(Csv, DamageIsReadOrRefused) {
  const std::string texts[] = {"county,floor,radon\nLake,0,1.5\n\"An\"\"oka\n\",1,-2e-1\nLake,0,3\n",
                               "\xEF\xBB\xBF\"a\";b\r\n1;\"x\"\r\n2;\"y;\"\r\n", "x\n1\n2\n3\n4\n",
                               "#c\nx\ty\n9223372036854775807\tcaf\xC3\xA9\n18446744073709551616\tz\n"};
  int loaded = 0, refusals = 0;
  each_seed(20'000, [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    const std::string text = damaged(texts[random() % 4], random);
    CsvOptions options{.separator = ",;\t|"[random() % 4], .has_names = random() % 4 != 0};
    if (random() % 2) options.comment = '#';
    try {
      const Table table = decode_csv(text, options);
      loaded++;
      if (loaded % 8 == 0) expect_sound(table, text);
    } catch (const Error& error) {
      refusals++;
      EXPECT_EQ(error.kind(), ErrorKind::io) << error.what();
      EXPECT_EQ(printable(error.what()), error.what());
    }
  });
  EXPECT_GT(loaded, refusals / 20);
  EXPECT_GT(refusals, loaded / 20);
}

}  // namespace
}  // namespace adit::test
