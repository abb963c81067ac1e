// What writes random models: names in scope, expressions of a wanted type, statements.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "random_model.hpp"

namespace adit::test {

enum class Form : uint8_t { integer, real, vector, row_vector, matrix };

// The size of an axis, in words and as a number.
struct Extent {
  std::string text;
  int64_t value = 0;
};

struct Kind {
  Form form = Form::real;
  std::vector<Extent> array, own;  // axes of the array, and of the vector or matrix in it
};

struct Name {
  std::string text;
  Kind kind;
  bool writable = false;
  int64_t low = 0, high = 0;  // of whole numbers
  bool positive = false;
  bool follows = false;  // a whole number that may follow from parameters: no size can
};

// A function of the program: what it takes, and what it gives.
struct Own {
  std::string text;
  std::vector<Kind> takes;
  Kind gives;
};

class ModelWriter {
 public:
  explicit ModelWriter(unsigned seed) : random_(seed) {}
  RandomModel model();

 private:
  // random_writer.cpp
  size_t pick(size_t count) { return random_() % count; }
  bool chance(size_t of) { return pick(of) == 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(pick(static_cast<size_t>(high - low + 1)));
  }
  std::string any(std::initializer_list<const char*> words);
  std::string number();
  std::string fresh(const char* stem);
  std::string kind_text(const Kind& kind, const std::string& constraint = "") const;
  std::string unsized_text(const Kind& kind) const;
  Extent extent();
  Kind some_kind(bool with_integers);
  void line(const std::string& text);
  void open(const std::string& text);
  void close(const std::string& text = "}");

  // random_reads.cpp
  struct Part {
    std::string text;  // a name with its indices
    Kind kind;
  };
  struct At {
    std::string text;  // an index; nothing: all
    bool single;
  };
  std::string size_integer(int64_t low, int64_t high);
  std::string integer(int64_t low, int64_t high, int depth = 1);
  std::optional<std::string> list_of_places(int64_t count, int64_t high);
  std::string places(int64_t size, int64_t count);
  std::optional<std::string> read(Form form, const std::vector<int64_t>& array,
                                  const std::vector<int64_t>& own);
  std::optional<std::string> positive_read();
  Part written_part(const Name& name);
  std::string with_indices(const Name& name, std::vector<At> indices);

  // random_expressions.cpp
  std::string real(int depth);
  std::string real_of_lists(int depth);
  std::string ragged_sum(int depth);
  std::string density(int depth);
  std::string bounded(int depth);  // between -1 and 1
  std::string positive(int depth);
  std::string probability(int depth);
  std::string condition(int depth);
  std::string data_condition();
  std::string list(Form form, int64_t size, int depth);
  std::string matrix(int64_t rows, int64_t columns, int depth);
  std::string array_of_reals(int64_t size, int depth);
  std::string expression(const Kind& kind, int depth);
  std::optional<std::string> own_call(const Kind& gives, int depth);

  // random_statements.cpp
  void statements(int depth, size_t count);
  void statement(int depth);
  void body(int depth);
  void declare();
  void filled(const Kind& kind, const std::string& name);
  void assignment();
  void loop(int depth);
  void while_loop(int depth);
  void foreach_loop(int depth);
  void branches(int depth);
  void jump();
  void accumulate();
  void recurrence();
  void segments();
  void whole_numbers(const std::string& name);
  void tilde();
  void vector_tilde();
  void count_tilde();
  void truncated_tilde();

  // random_tuples.cpp
  void tuples();
  void array_of_tuples();
  void target_function();
  bool target_call();
  void own_distribution();
  bool own_tilde();

  // random_tables.cpp
  void tables();
  void table_loops(const std::string& table, int64_t size);

  // random_model.cpp
  void sizes();
  void data_block();
  void parameter(int number);
  void functions();
  void function();
  void block(const std::string& name, size_t declarations, size_t count);

  std::mt19937 random_;
  std::string out_;
  int indent_ = 0;
  int counter_ = 0;
  int loops_ = 0;            // around the statement
  bool sizes_only_ = false;  // whole numbers must follow from data
  bool may_jump_ = false;    // break and continue mean something
  bool in_model_ = false;    // target may be added to
  bool in_block_ = true;     // the model block, not a function that is called there: constants may be dropped
  int left_ = 12;            // statements of the program
  std::vector<Name> names_;
  std::vector<Extent> extents_;
  std::vector<Own> own_;
  std::vector<Own> target_functions_;
  std::vector<std::string> distributions_;
  nlohmann::json data_ = nlohmann::json::object();
};

}  // namespace adit::test
