// From text to tokens, with included files in their places.
#pragma once

#include <string_view>

#include "stan/parse.hpp"

namespace adit::stan {

struct Token {
  enum class Kind : uint8_t {
    end,
    bad,  // no Stan; a message tells what it is
    name,
    integer,
    real,
    imaginary,
    dot_integer,  // .12: a real, or a member of a tuple
    text,         // "..."
    // Marks.
    plus,
    minus,
    times,
    divide,
    integer_divide,
    modulo,
    left_divide,
    element_times,
    element_divide,
    power,
    element_power,
    logical_or,
    logical_and,
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    exclaim,
    quote,
    question,
    colon,
    comma,
    semicolon,
    bar,
    tilde,
    assign,
    plus_assign,
    minus_assign,
    times_assign,
    divide_assign,
    element_times_assign,
    element_divide_assign,
    paren_open,
    paren_close,
    bracket_open,
    bracket_close,
    brace_open,
    brace_close,
    // Words.
    type_word,  // int, vector, simplex, ...
    array_word,
    tuple_word,
    void_word,
    functions_word,
    data_word,
    parameters_word,
    model_word,
    transformed_word,
    generated_word,
    quantities_word,
    for_word,
    in_word,
    while_word,
    if_word,
    else_word,
    break_word,
    continue_word,
    return_word,
    print_word,
    reject_word,
    fatal_error_word,
    profile_word,
    target_word,
    jacobian_word,
    bound_word,    // lower, upper, offset, multiplier
    reserved_word  // of no use, but no name either
  };
  Place place;
  Kind kind = Kind::end;
  bool begins_line = false;  // none stands before it on its line
};
using TokenKind = Token::Kind;
inline bool is_word(TokenKind kind) { return kind >= TokenKind::type_word; }

// A message and the token it was met at, which orders those of lexer and parser.
struct Note {
  size_t token = 0;
  Message message;
};

// At most a hundred; an error takes the place of a warning where they are full.
class Notes {
 public:
  static constexpr size_t limit = 100;
  void add(size_t token, Message message);
  bool full() const { return errors_ >= limit; }
  std::vector<Message> in_order() &&;

 private:
  std::vector<Note> notes_;
  size_t errors_ = 0;
};

// A line of `#include`: where it stands and the first token of what it brought.
struct Included {
  Place place;
  uint32_t file = 0;                       // among the sources, which are in the order of these lines
  size_t first_token = 0, last_token = 0;  // [first, last)
};

struct Lexed {
  Sources sources;
  std::vector<Token> tokens;  // the last is `end`
  std::vector<Comment> comments;
  std::vector<Included> includes;
  bool cut = false;  // the end came too early: in a comment, or where the text is too long
};
Lexed lex(std::string name, std::string text, const Include& include, Notes& notes);

// What a token says.
inline std::string_view text_of(const Sources& sources, const Place& place) {
  return std::string_view(sources[place.file].text).substr(place.begin, place.end - place.begin);
}
// Whether it is a word of the language that names nothing else.
bool is_reserved(std::string_view word);

}  // namespace adit::stan
