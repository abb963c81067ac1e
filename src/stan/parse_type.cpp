// Types: with sizes in declarations, without them in functions.
#include <fmt/format.h>

#include "stan/lexer_words.hpp"
#include "stan/parser.hpp"

namespace adit::stan {

namespace {

struct TypeWord {
  std::string_view word;
  Base base;
  size_t least_sizes, most_sizes;
  Transform::Kind transform = Transform::Kind::none;
  bool is_complex = false;
};
using Transforms = Transform::Kind;
constexpr TypeWord type_words[] = {
    {"int", Base::integer, 0, 0},
    {"real", Base::real, 0, 0},
    {"complex", Base::complex, 0, 0, Transforms::none, true},
    {"vector", Base::vector, 1, 1},
    {"row_vector", Base::row_vector, 1, 1},
    {"matrix", Base::matrix, 2, 2},
    {"complex_vector", Base::vector, 1, 1, Transforms::none, true},
    {"complex_row_vector", Base::row_vector, 1, 1, Transforms::none, true},
    {"complex_matrix", Base::matrix, 2, 2, Transforms::none, true},
    {"ordered", Base::vector, 1, 1, Transforms::ordered},
    {"positive_ordered", Base::vector, 1, 1, Transforms::positive_ordered},
    {"simplex", Base::vector, 1, 1, Transforms::simplex},
    {"unit_vector", Base::vector, 1, 1, Transforms::unit_vector},
    {"sum_to_zero_vector", Base::vector, 1, 1, Transforms::sum_to_zero_vector},
    {"sum_to_zero_matrix", Base::matrix, 2, 2, Transforms::sum_to_zero_matrix},
    {"cholesky_factor_corr", Base::matrix, 1, 1, Transforms::cholesky_factor_corr},
    {"cholesky_factor_cov", Base::matrix, 1, 2, Transforms::cholesky_factor_cov},
    {"corr_matrix", Base::matrix, 1, 1, Transforms::corr_matrix},
    {"cov_matrix", Base::matrix, 1, 1, Transforms::cov_matrix},
    {"column_stochastic_matrix", Base::matrix, 2, 2, Transforms::column_stochastic_matrix},
    {"row_stochastic_matrix", Base::matrix, 2, 2, Transforms::row_stochastic_matrix},
};

const TypeWord& type_word_of(std::string_view word) {
  for (const TypeWord& type : type_words)
    if (type.word == word) return type;
  return type_words[0];
}

}  // namespace

bool Parser::at_type() const {
  return at(TokenKind::type_word) || at(TokenKind::array_word) || at(TokenKind::tuple_word);
}

void Parser::refuse_complex(const Token& word) {
  if (!type_word_of(text(word)).is_complex) return;
  note(Message::Kind::semantic, word.place,
       fmt::format("The type '{}' is not supported: there are no complex numbers.", text(word)));
}

std::vector<ExpressionPtr> Parser::size_list(const char* what) {
  std::vector<ExpressionPtr> list;
  expect(TokenKind::bracket_open, fmt::format("'[' with {}", what));
  if (at(TokenKind::bracket_close) || at(TokenKind::comma))
    fail(token().place,
         fmt::format("Expected {}, but found {}; only types of functions have none.", what, found()));
  do {
    if (list.size() >= most_axes)
      fail(token().place, fmt::format("More than {} sizes stand here.", most_axes));
    list.push_back(expression());
  } while (take_if(TokenKind::comma));
  expect(TokenKind::bracket_close, fmt::format("',' or ']' after {}", what));
  return list;
}

SizedType Parser::sized_type() {
  const Place begin = token().place;
  std::vector<ExpressionPtr> array_sizes;
  if (take_if(TokenKind::array_word)) array_sizes = size_list("the sizes of the array");
  SizedType type;
  if (at(TokenKind::type_word))
    type = sized_basic_type();
  else if (at(TokenKind::tuple_word))
    type = sized_tuple();
  else if (at(TokenKind::array_word))
    fail(token().place, "An array of arrays is written with all of its sizes in one: array[N, M].");
  else
    fail_expected("a type");
  type.array_sizes = std::move(array_sizes);
  type.place = since(begin);
  expect_axes(type.place, static_cast<int>(type.array_sizes.size()), scalar_type(type.base).rank());
  return type;
}

// As many as a tensor has beside one of the rounds of a loop and one of draws.
void Parser::expect_axes(const Place& place, int of_array, int of_element) {
  constexpr int most = max_rank - 2;
  if (of_array + of_element > most)
    complain(place,
             fmt::format("A value has at most {} axes, with those of vectors and matrices; this one has {}.",
                         most, of_array + of_element));
}

// Those of tuple(real, int) and, of one member, tuple(real,).
template <class Member>
void Parser::tuple_members(const Member& member) {
  if (++tuples_ > deepest_tuple)
    stop(fmt::format("Tuples are nested more than {} deep here.", deepest_tuple));
  member();
  if (!at(TokenKind::comma))
    complain(token().place, "A tuple of one member has a comma behind it: tuple(real,).");
  bool is_first = true;
  while (take_if(TokenKind::comma)) {
    if (is_first && at(TokenKind::paren_close)) break;
    is_first = false;
    member();
  }
  --tuples_;
  expect(TokenKind::paren_close, "',' or ')' in the tuple's types");
}

SizedType Parser::sized_tuple() {
  SizedType type;
  type.base = Base::tuple;
  take();
  expect(TokenKind::paren_open, "'(' after tuple");
  tuple_members([&] { type.members.push_back(sized_type()); });
  return type;
}

SizedType Parser::sized_basic_type() {
  const Token word = token();
  const TypeWord& form = type_word_of(text(word));
  refuse_complex(word);
  take();
  SizedType type;
  type.base = form.base;
  type.transform.kind = form.transform;
  type.place = word.place;
  if (form.transform != Transforms::none) check_transform(type, word.place);
  if (at(TokenKind::less)) {
    if (form.transform != Transforms::none || form.base == Base::complex)
      fail(token().place, fmt::format("A '{}' takes no other constraint.", form.word));
    constraint(type, form.base == Base::integer);
  }
  sizes(type, std::string(form.word), form.least_sizes, form.most_sizes);
  return type;
}

void Parser::sizes(SizedType& type, const std::string& word, size_t least, size_t most) {
  if (most == 0) {
    if (at(TokenKind::bracket_open))
      fail(token().place,
           fmt::format("'{}' has no size; an array of it is written array[...] {}.", word, word));
    return;
  }
  const Place begin = token().place;
  type.sizes = size_list(most > 1 ? "the numbers of rows and columns" : "the size");
  const size_t count = type.sizes.size();
  if (count >= least && count <= most) return;
  complain(since(begin),
           fmt::format("'{}' has {} in brackets, not {}.", word,
                       least == most ? (most == 1 ? "one size" : "two sizes") : "one or two sizes", count));
}

// In `array[,] real` or the old `real[,]`: what stands in the brackets.
int Parser::unsized_axes() {
  expect(TokenKind::bracket_open, "'['");
  int axes = 1;
  while (take_if(TokenKind::comma))
    if (++axes > static_cast<int>(most_axes))
      fail(previous().place, fmt::format("The array has more than {} axes.", most_axes));
  if (at(TokenKind::bracket_close)) {
    take();
    return axes;
  }
  fail(token().place,
       fmt::format("Types of functions have no sizes: expected ',' or ']', but found {}.", found()));
}

Type Parser::unsized_type() {
  if (!take_if(TokenKind::array_word)) return unsized_basic_type();
  if (at(TokenKind::array_word)) fail_expected("'['");
  const int axes = unsized_axes();
  if (at(TokenKind::array_word))
    fail(token().place, "An array of arrays is written with all of its axes in one: array[,].");
  const size_t before = position_;
  Type type = unsized_basic_type();
  if (type.array > 0)
    complain(lexed_.tokens[before].place,
             "The array's axes stand twice here; write them behind 'array' only.");
  type.array = axes;
  expect_axes(lexed_.tokens[before].place, axes, scalar_type(type.base).rank());
  return type;
}

Type Parser::unsized_basic_type() {
  const Token word = token();
  Type type;
  if (take_if(TokenKind::tuple_word)) {
    type.base = Base::tuple;
    expect(TokenKind::paren_open, "'(' after tuple");
    tuple_members([&] { type.members.push_back(unsized_type()); });
  } else {
    if (!at(TokenKind::type_word)) fail_expected("a type");
    const TypeWord& form = type_word_of(text(word));
    refuse_complex(word);
    type.base = form.base;
    if (form.transform != Transforms::none)
      complain(word.place, fmt::format("Types of functions have no constraints; write '{}'.",
                                       to_text(scalar_type(form.base))));
    take();
    if (at(TokenKind::less)) fail(token().place, "Types of functions have no constraints.");
  }
  if (!at(TokenKind::bracket_open)) return type;
  const Place brackets = token().place;
  type.array = unsized_axes();
  const std::string now = excerpt(to_text(type));
  note(Message::Kind::warning, since(brackets),
       fmt::format("This form of an array type is old; write '{}'.", now));
  return type;
}

}  // namespace adit::stan
