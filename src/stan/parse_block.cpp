// Blocks of the program, and its functions.
#include <fmt/format.h>

#include "stan/parser.hpp"

namespace adit::stan {

namespace {

constexpr int functions_order = 0;  // blocks follow, from 1 on
constexpr const char* block_list =
    "a block (functions, data, transformed data, parameters, transformed parameters, model or generated "
    "quantities)";

}  // namespace

// A block can begin only where the ones before are closed: seen elsewhere, a brace is missing.
bool Parser::at_block() const {
  switch (token().kind) {
    case TokenKind::functions_word:
    case TokenKind::data_word:
    case TokenKind::parameters_word:
    case TokenKind::model_word: return at(TokenKind::brace_open, 1);
    case TokenKind::transformed_word: return at(TokenKind::data_word, 1) || at(TokenKind::parameters_word, 1);
    case TokenKind::generated_word: return at(TokenKind::quantities_word, 1);
    default: return false;
  }
}

void Parser::run() {
  while (!at(TokenKind::end)) {
    try {
      next_block();
    } catch (const Failure&) {
      while (!at(TokenKind::end) && !at_block()) take();
    }
  }
}

void Parser::next_block() {
  const Token word = token();
  int order = functions_order;
  switch (word.kind) {
    case TokenKind::functions_word: break;
    case TokenKind::data_word: order = 1; break;
    case TokenKind::parameters_word: order = 3; break;
    case TokenKind::model_word: order = 5; break;
    case TokenKind::transformed_word: order = at(TokenKind::data_word, 1) ? 2 : 4; break;
    case TokenKind::generated_word: order = 6; break;
    case TokenKind::brace_close:
      fail(word.place, "This '}' closes nothing: there is one too many before it, or here.");
    default: fail_expected(block_list);
  }
  take();
  if (word.kind == TokenKind::transformed_word && !take_if(TokenKind::data_word))
    expect(TokenKind::parameters_word, "'data' or 'parameters' after 'transformed'");
  if (word.kind == TokenKind::generated_word)
    expect(TokenKind::quantities_word, "'quantities' after 'generated'");
  const Place place = since(word.place);
  const auto name = [](int of) { return of == 0 ? "functions" : to_text(static_cast<BlockKind>(of - 1)); };
  if (order == last_block_)
    complain(place, fmt::format("The {} block stands twice.", name(order)));
  else if (order < last_block_)
    complain(place,
             fmt::format("The {} block must stand before the {} block.", name(order), name(last_block_)));
  last_block_ = std::max(last_block_, order);
  if (order == functions_order)
    functions_block();
  else
    program_block(static_cast<BlockKind>(order - 1), word.place);
}

void Parser::program_block(BlockKind kind, const Place& place) {
  Block& block = program_.blocks[static_cast<int>(kind)];
  const Token open = expect(TokenKind::brace_open, fmt::format("'{{' after '{}'", to_text(kind)));
  block.present = true;
  block_ = kind;
  nesting_ = 0;
  block.statements = statements();
  close(open);
  block.place = since(place);
}

// Data and parameters are declared and nothing else.
bool Parser::refuses_statement() {
  if (!block_ || (*block_ != BlockKind::data && *block_ != BlockKind::parameters) || at_type() ||
      at(TokenKind::semicolon))
    return false;
  complain(token().place,
           fmt::format("The {} block holds declarations only, but found {}.", to_text(*block_), found()));
  return true;
}

void Parser::functions_block() {
  const Token open = expect(TokenKind::brace_open, "'{' after 'functions'");
  program_.has_functions_block = true;
  block_.reset();
  while (!at(TokenKind::brace_close) && !at(TokenKind::end) && !at_block()) {
    const size_t before = position_;
    try {
      function();
    } catch (const Failure&) {
      recover(before);
    }
  }
  close(open);
}

void Parser::function() {
  auto result = std::make_unique<Function>();
  result->place = token().place;
  nesting_ = 1;
  header([&] { function_header(*result); });
  if (!take_if(TokenKind::semicolon)) {
    if (!at(TokenKind::brace_open)) fail_expected("'{' or ';' after the function's arguments");
    result->body = block();
  }
  result->place = since(result->place);
  program_.functions.push_back(std::move(result));
}

void Parser::function_header(Function& function) {
  if (take_if(TokenKind::void_word))
    function.result = scalar_type(Base::none);
  else if (at_type())
    function.result = unsized_type();
  else
    fail_expected("a function, which begins with the type that it returns or void");
  const Token name = declared_name("a function");
  function.name = text(name);
  function.name_place = name.place;
  expect(TokenKind::paren_open, fmt::format("'(' after the function's name '{}'", function.name));
  if (!at(TokenKind::paren_close)) {
    argument(function);
    // Densities may be written as they are called: f_lpdf(real y | real mu).
    if (take_if(TokenKind::bar) && !at(TokenKind::paren_close)) argument(function);
    while (take_if(TokenKind::comma)) argument(function);
  }
  expect(TokenKind::paren_close, fmt::format("',' or ')' in the arguments of '{}'", function.name));
}

void Parser::argument(Function& function) {
  Argument argument;
  const Place begin = token().place;
  argument.is_data = take_if(TokenKind::data_word);
  if (!at_type()) fail_expected(argument.is_data ? "a type after 'data'" : "the type of an argument");
  argument.type = unsized_type();
  const Token name = declared_name("an argument");
  argument.name = text(name);
  if (at(TokenKind::bracket_open))
    fail(token().place, fmt::format("An argument that is an array is written 'array[] {} {}'.",
                                    to_text(argument.type), argument.name));
  argument.place = since(begin);
  function.arguments.push_back(std::move(argument));
}

}  // namespace adit::stan
