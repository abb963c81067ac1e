#include "stan/signature_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace adit::stan {

namespace {

using WordKind = Word::Kind;

constexpr std::array<std::pair<std::string_view, WordKind>, 19> word_names{
    {{"ints", WordKind::ints},
     {"reals", WordKind::reals},
     {"vectors", WordKind::vectors},
     {"line", WordKind::line},
     {"list", WordKind::list},
     {"numbers", WordKind::numbers},
     {"dense", WordKind::dense},
     {"scalars", WordKind::scalars},
     {"integers", WordKind::integers},
     {"any", WordKind::any},
     {"array", WordKind::array},
     {"same", WordKind::same},
     {"function", WordKind::function},
     {"...", WordKind::rest},
     {"elementwise", WordKind::elementwise},
     {"reals of rng", WordKind::reals_of_rng},
     {"ints of rng", WordKind::ints_of_rng},
     {"vectors of rng", WordKind::vectors_of_rng},
     {"", WordKind::plain}}};

constexpr std::array<std::pair<std::string_view, Base>, 5> word_bases{{{"int", Base::integer},
                                                                       {"real", Base::real},
                                                                       {"vector", Base::vector},
                                                                       {"row_vector", Base::row_vector},
                                                                       {"matrix", Base::matrix}}};

std::string_view word_trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Axes of "[]", "[,]", ...; none for anything else.
std::optional<int> word_axes(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  for (const char c : text.substr(1, text.size() - 2))
    if (c != ',') return std::nullopt;
  return static_cast<int>(text.size()) - 1;
}

bool word_is_number(const Type& type) { return type.base == Base::integer || type.base == Base::real; }
bool word_is_line(const Type& type) { return type.base == Base::vector || type.base == Base::row_vector; }
bool word_is_numeric(const Type& type) {
  return word_is_number(type) || word_is_line(type) || type.base == Base::matrix;
}

// Whether a type alone fits the word, and its promotions. `same` is left to the whole row.
std::optional<int> word_fits(const Word& word, const Type& type) {
  const auto yes = [](bool fits, int count = 0) { return fits ? std::optional<int>(count) : std::nullopt; };
  const int from_integers = type.base == Base::integer ? 1 : 0;
  switch (word.kind) {
    case WordKind::plain: return promotions(type, word.type);
    case WordKind::any_axes:
      if (type.array == 0) return std::nullopt;
      return promotions(scalar_type(type.base), word.type);
    case WordKind::ints: return yes(type.base == Base::integer && type.array <= 1);
    case WordKind::reals:
      return yes((word_is_number(type) && type.array <= 1) || (word_is_line(type) && type.array == 0),
                 from_integers);
    case WordKind::vectors: return yes(word_is_line(type) && type.array <= 1);
    case WordKind::line: return yes(word_is_line(type) && type.array == 0);
    case WordKind::list:
      return yes((word_is_number(type) && type.array == 1) || (word_is_line(type) && type.array == 0),
                 from_integers);
    case WordKind::numbers: return yes(word_is_numeric(type));
    case WordKind::dense: return yes(word_is_numeric(type) && type.array == 0);
    case WordKind::scalars: return yes(word_is_number(type));
    case WordKind::integers: return yes(type.base == Base::integer);
    case WordKind::any: return yes(type.base != Base::none);
    case WordKind::array: return yes(type.base != Base::none && type.array > 0);
    case WordKind::same: return 0;
    default: return std::nullopt;
  }
}

bool word_is_elementwise(const Word& word) {
  return word.kind == WordKind::numbers || word.kind == WordKind::dense || word.kind == WordKind::scalars ||
         word.kind == WordKind::integers;
}

// What elementwise arguments give: containers of one kind, scalars beside them. An array of integers also
// goes with vectors of its axes where the row asks for integers.
std::optional<Type> word_widest(const Row& row, const std::vector<Type>& arguments) {
  std::optional<Type> widest;
  for (int round = 0; round < 2; ++round)  // those of `integers` come last: they take the form of the rest
    for (size_t i = 0; i < arguments.size(); ++i) {
      const Type& type = arguments[i];
      const bool loose = row.arguments[i].kind == WordKind::integers;
      if (!word_is_elementwise(row.arguments[i]) || loose != (round == 1)) continue;
      if (!widest || (widest->is_scalar() && !(type.is_scalar() && widest->is(Base::real)))) {
        widest = type;
        continue;
      }
      if (type.is_scalar()) continue;
      const bool both_numbers = word_is_number(type) && word_is_number(*widest);
      const bool alike = type.array == widest->array && (type.base == widest->base || both_numbers);
      if (!alike && !(loose && type.rank() == widest->rank())) return std::nullopt;
      if (alike && type.base == Base::real) widest->base = Base::real;
    }
  return widest;
}

Type word_real(Type type) {
  if (type.base == Base::integer) type.base = Base::real;
  return type;
}

// The common type of an `array` and its `same`.
std::optional<Type> word_same(const Row& row, const std::vector<Type>& arguments, int& count) {
  Type first = arguments[0];
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (row.arguments[i].kind != WordKind::same) continue;
    const auto there = promotions(arguments[i], first), back = promotions(first, arguments[i]);
    if (!there && !back) return std::nullopt;
    count += there ? *there : *back;
    if (!there) first = arguments[i];
  }
  return first;
}

bool word_any_container(const std::vector<Type>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Type& type) { return type.rank() > 0; });
}
bool word_any_array(const std::vector<Type>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const Type& type) { return type.array > 0; });
}

std::optional<Type> word_result(const Row& row, const std::vector<Type>& arguments, int& count) {
  switch (row.result.kind) {
    case WordKind::plain: return row.result.type;
    case WordKind::same: return word_same(row, arguments, count);
    case WordKind::array_of_first: return array_of(arguments[0], row.result.axes);
    case WordKind::reals_of_rng: return Type{Base::real, word_any_container(arguments) ? 1 : 0, {}};
    case WordKind::ints_of_rng: return Type{Base::integer, word_any_container(arguments) ? 1 : 0, {}};
    case WordKind::vectors_of_rng: return Type{Base::vector, word_any_array(arguments) ? 1 : 0, {}};
    case WordKind::elementwise:
    case WordKind::integers: {
      auto widest = word_widest(row, arguments);
      if (!widest) return std::nullopt;
      return row.result.kind == WordKind::integers ? Type{Base::integer, widest->array, {}}
                                                   : word_real(*widest);
    }
    default: return std::nullopt;
  }
}

}  // namespace

namespace {

// "tuple(matrix, int[])"
std::optional<Word> word_of_tuple(std::string_view text) {
  constexpr std::string_view opening = "tuple(";
  if (!text.starts_with(opening) || text.back() != ')') return std::nullopt;
  text = text.substr(opening.size(), text.size() - opening.size() - 1);
  Type tuple{Base::tuple, 0, {}};
  while (true) {
    const size_t comma = text.find(", ");
    const auto member = word_of(text.substr(0, comma));
    if (!member || member->kind != WordKind::plain) return std::nullopt;
    tuple.members.push_back(member->type);
    if (comma == std::string_view::npos) return Word{WordKind::plain, tuple, 0};
    text.remove_prefix(comma + 2);
  }
}

}  // namespace

std::optional<Word> word_of(std::string_view text) {
  text = word_trimmed(text);
  if (const auto tuple = word_of_tuple(text)) return tuple;
  for (const auto& [name, kind] : word_names)
    if (!name.empty() && name == text) return Word{kind, {}, 0};
  const size_t bracket = text.find('[');
  const std::string_view base = text.substr(0, bracket);
  const std::string_view axes = bracket == std::string_view::npos ? "" : text.substr(bracket);
  const auto count = axes.empty() ? std::optional<int>(0) : word_axes(axes);
  if (base == "any" && count) return Word{WordKind::array_of_first, {}, *count};
  for (const auto& [name, kind] : word_bases) {
    if (name != base) continue;
    if (axes == "[...]") return Word{WordKind::any_axes, scalar_type(kind), 0};
    if (count) return Word{WordKind::plain, Type{kind, *count, {}}, 0};
  }
  return std::nullopt;
}

std::optional<Row> row_of(const Signature& signature) {
  const std::string_view text = signature.text;
  const size_t open = text.rfind('(');  // results may be tuples
  if (open == std::string_view::npos || text.back() != ')') return std::nullopt;
  const auto result = word_of(text.substr(0, open));
  if (!result) return std::nullopt;
  Row row{signature, *result, {}, "("};
  const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= inside.size(); ++i) {
    const char c = i < inside.size() ? inside[i] : ',';
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (depth > 0 || inside.empty() || (c != ',' && c != '|')) continue;
    const auto word = word_of(inside.substr(begin, i - begin));
    if (!word) return std::nullopt;
    row.arguments.push_back(*word);
    row.written += word->kind == WordKind::plain ? to_text(word->type)
                                                 : std::string(word_trimmed(inside.substr(begin, i - begin)));
    if (i < inside.size()) row.written += c == '|' ? " | " : ", ";
    begin = i + 1;
  }
  if (depth != 0) return std::nullopt;
  row.written += ')';
  return row;
}

std::optional<Match> match(const Row& row, const std::vector<Type>& arguments) {
  if (arguments.size() != row.arguments.size()) return std::nullopt;
  Match found;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto count = word_fits(row.arguments[i], arguments[i]);
    if (!count) return std::nullopt;
    found.promotions += *count;
  }
  const auto result = word_result(row, arguments, found.promotions);
  if (!result) return std::nullopt;
  found.result = *result;
  return found;
}

std::optional<int> promotions(const Type& from, const Type& to) {
  if (from.array != to.array) return std::nullopt;
  if (from.base == Base::integer && to.base == Base::real) return 1;
  if (from.base != to.base || from.members.size() != to.members.size()) return std::nullopt;
  int count = 0;
  for (size_t i = 0; i < from.members.size(); ++i) {
    const auto member = promotions(from.members[i], to.members[i]);
    if (!member) return std::nullopt;
    count += *member;
  }
  return count;
}

}  // namespace adit::stan
