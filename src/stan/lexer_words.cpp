#include "stan/lexer_words.hpp"

#include <algorithm>
#include <map>

namespace adit::stan {

namespace {

const std::map<std::string_view, TokenKind>& language_words() {
  static const std::map<std::string_view, TokenKind> all = {
      {"int", TokenKind::type_word},
      {"real", TokenKind::type_word},
      {"complex", TokenKind::type_word},
      {"vector", TokenKind::type_word},
      {"row_vector", TokenKind::type_word},
      {"matrix", TokenKind::type_word},
      {"complex_vector", TokenKind::type_word},
      {"complex_row_vector", TokenKind::type_word},
      {"complex_matrix", TokenKind::type_word},
      {"ordered", TokenKind::type_word},
      {"positive_ordered", TokenKind::type_word},
      {"simplex", TokenKind::type_word},
      {"unit_vector", TokenKind::type_word},
      {"sum_to_zero_vector", TokenKind::type_word},
      {"sum_to_zero_matrix", TokenKind::type_word},
      {"cholesky_factor_corr", TokenKind::type_word},
      {"cholesky_factor_cov", TokenKind::type_word},
      {"corr_matrix", TokenKind::type_word},
      {"cov_matrix", TokenKind::type_word},
      {"column_stochastic_matrix", TokenKind::type_word},
      {"row_stochastic_matrix", TokenKind::type_word},
      {"array", TokenKind::array_word},
      {"tuple", TokenKind::tuple_word},
      {"void", TokenKind::void_word},
      {"functions", TokenKind::functions_word},
      {"data", TokenKind::data_word},
      {"parameters", TokenKind::parameters_word},
      {"model", TokenKind::model_word},
      {"transformed", TokenKind::transformed_word},
      {"generated", TokenKind::generated_word},
      {"quantities", TokenKind::quantities_word},
      {"for", TokenKind::for_word},
      {"in", TokenKind::in_word},
      {"while", TokenKind::while_word},
      {"if", TokenKind::if_word},
      {"else", TokenKind::else_word},
      {"break", TokenKind::break_word},
      {"continue", TokenKind::continue_word},
      {"return", TokenKind::return_word},
      {"print", TokenKind::print_word},
      {"reject", TokenKind::reject_word},
      {"fatal_error", TokenKind::fatal_error_word},
      {"profile", TokenKind::profile_word},
      {"target", TokenKind::target_word},
      {"jacobian", TokenKind::jacobian_word},
      {"lower", TokenKind::bound_word},
      {"upper", TokenKind::bound_word},
      {"offset", TokenKind::bound_word},
      {"multiplier", TokenKind::bound_word},
      {"auto", TokenKind::reserved_word},
      {"export", TokenKind::reserved_word},
      {"extern", TokenKind::reserved_word},
      {"static", TokenKind::reserved_word},
      {"struct", TokenKind::reserved_word},
      {"typedef", TokenKind::reserved_word},
      {"var", TokenKind::reserved_word},
      {"repeat", TokenKind::reserved_word},
      {"until", TokenKind::reserved_word},
      {"then", TokenKind::reserved_word},
      {"true", TokenKind::reserved_word},
      {"false", TokenKind::reserved_word},
  };
  return all;
}

struct WrittenMark {
  std::string_view text;
  TokenKind kind;
};
// Longer ones before those they begin with. `<-` is none: a<-b compares.
constexpr WrittenMark written_marks[] = {
    {".*=", TokenKind::element_times_assign},
    {"./=", TokenKind::element_divide_assign},
    {"%/%", TokenKind::integer_divide},
    {".*", TokenKind::element_times},
    {"./", TokenKind::element_divide},
    {".^", TokenKind::element_power},
    {"||", TokenKind::logical_or},
    {"&&", TokenKind::logical_and},
    {"==", TokenKind::equal},
    {"!=", TokenKind::not_equal},
    {"<=", TokenKind::less_equal},
    {">=", TokenKind::greater_equal},
    {"+=", TokenKind::plus_assign},
    {"-=", TokenKind::minus_assign},
    {"*=", TokenKind::times_assign},
    {"/=", TokenKind::divide_assign},
    {"+", TokenKind::plus},
    {"-", TokenKind::minus},
    {"*", TokenKind::times},
    {"/", TokenKind::divide},
    {"%", TokenKind::modulo},
    {"\\", TokenKind::left_divide},
    {"^", TokenKind::power},
    {"<", TokenKind::less},
    {">", TokenKind::greater},
    {"!", TokenKind::exclaim},
    {"'", TokenKind::quote},
    {"?", TokenKind::question},
    {":", TokenKind::colon},
    {",", TokenKind::comma},
    {";", TokenKind::semicolon},
    {"|", TokenKind::bar},
    {"~", TokenKind::tilde},
    {"=", TokenKind::assign},
    {"(", TokenKind::paren_open},
    {")", TokenKind::paren_close},
    {"[", TokenKind::bracket_open},
    {"]", TokenKind::bracket_close},
    {"{", TokenKind::brace_open},
    {"}", TokenKind::brace_close},
};

}  // namespace

TokenKind kind_of_word(std::string_view word) {
  const auto found = language_words().find(word);
  return found == language_words().end() ? TokenKind::name : found->second;
}

bool is_reserved(std::string_view word) { return language_words().contains(word); }

Mark mark_at(std::string_view text) {
  for (const WrittenMark& mark : written_marks)
    if (text.starts_with(mark.text)) return {mark.kind, mark.text.size()};
  return {};
}

std::string excerpt(std::string_view text) {
  constexpr size_t longest = 40;
  if (text.size() <= longest) return std::string(text);
  size_t cut = longest;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
  return std::string(text.substr(0, cut)) + "...";
}

void Notes::add(size_t token, Message message) {
  const bool is_error = message.kind != Message::Kind::warning;
  if (notes_.size() >= limit) {
    if (!is_error || full()) return;
    const auto warning = std::find_if(notes_.rbegin(), notes_.rend(), [](const Note& note) {
      return note.message.kind == Message::Kind::warning;
    });
    notes_.erase(std::next(warning).base());
  }
  errors_ += is_error;
  notes_.push_back({token, std::move(message)});
}

std::vector<Message> Notes::in_order() && {
  std::stable_sort(notes_.begin(), notes_.end(),
                   [](const Note& a, const Note& b) { return a.token < b.token; });
  std::vector<Message> messages;
  for (Note& note : notes_) messages.push_back(std::move(note.message));
  return messages;
}

}  // namespace adit::stan
