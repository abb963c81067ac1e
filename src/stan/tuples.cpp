// Arrays of tuples at places that differ from round to round, or follow from parameters.
#include <algorithm>
#include <map>

#include "stan/evaluator.hpp"

namespace adit::stan {

namespace {

// Member number k of every tuple, as an array.
Value members(const Value& tuples, size_t k) {
  if (tuples.kind == Value::Kind::tuple) return tuples.pieces.at(k);
  Value all;
  all.kind = Value::Kind::pieces;
  all.type = tuples.type.members.at(k);
  all.type.array += tuples.type.array;
  for (const Value& piece : tuples.pieces) all.pieces.push_back(members(piece, k));
  all.shape = all.pieces.empty() ? Shape{} : all.pieces[0].shape;
  all.shape.insert(0, std::ssize(all.pieces));
  return all;
}

}  // namespace

// Several of an array: by a list of places, a range, or all of them.
Value Evaluator::tuples_at(const Value& tuples, const Spots& spots, const Type& type, const Place& place) {
  Value chosen;
  chosen.kind = Value::Kind::pieces;
  chosen.type = type;
  Type each = type;
  each.array -= 1;
  const Spots rest(spots.begin() + 1, spots.end());
  const auto take = [&](size_t i) { chosen.pieces.push_back(at(tuples.pieces.at(i), rest, each, place)); };
  if (spots[0].kind == Spot::Kind::all)
    for (size_t i = 0; i < tuples.pieces.size(); ++i) take(i);
  else
    for (const double number : spots[0].numbers.known->numbers) take(static_cast<size_t>(number));
  if (!chosen.pieces.empty()) chosen.shape = chosen.pieces[0].shape;
  chosen.shape.insert(0, std::ssize(chosen.pieces));
  return chosen;
}

Value Evaluator::tuple_at(const Value& tuples, const Spots& spots, const Type& type, const Place& place) {
  if (tuples.kind == Value::Kind::pieces && spots[0].kind != Spot::Kind::single && spots[0].is_uniform())
    return tuples_at(tuples, spots, type, place);
  if (spots[0].kind == Spot::Kind::many && spots[0].numbers.is_known())
    throw NotTogether{"several of an array of tuples, others in each round"};
  const auto is_single = [](const Spot& spot) { return spot.kind == Spot::Kind::single; };
  if (tuples.kind != Value::Kind::pieces || static_cast<int>(spots.size()) != tuples.type.array ||
      !std::all_of(spots.begin(), spots.end(), is_single) || tuples.pieces.empty())
    fail(place, "expected a number as an index of an array of tuples");
  Value tuple;
  tuple.kind = Value::Kind::tuple;
  tuple.type = tuples.type;
  tuple.type.array = 0;
  for (size_t k = 0; k < tuple.type.members.size(); ++k)
    tuple.pieces.push_back(at(members(tuples, k), spots, tuple.type.members[k], place));
  return tuple;
}

// The other way: an array of tuples, of one array a member.
Value Evaluator::joined_members(const Value& form, const std::vector<Value>& members) {
  Value joined = form;
  for (size_t i = 0; i < joined.pieces.size(); ++i) {
    if (form.kind == Value::Kind::tuple) {
      joined.pieces[i] = members[i];
      continue;
    }
    const Spots here{{Spot::Kind::single, known_integer(static_cast<int64_t>(i))}};
    std::vector<Value> own;
    for (const Value& all : members) own.push_back(at(all, here, type_of_element(all.type), {}));
    joined.pieces[i] = joined_members(form.pieces[i], own);
  }
  return joined;
}

// An array of tuples with some of them replaced, member by member.
Value Evaluator::with_members(const Value& value, const Spots& spots, const Value& part, const Place& place) {
  std::vector<Value> all;
  for (size_t k = 0; k < value.type.members.size(); ++k)
    all.push_back(with(members(value, k), spots, members(part, k), place));
  return joined_members(value, all);
}

// Built-in functions that give several things: each is a function of its own.
Value Evaluator::decomposed(const std::string& name, std::vector<Value>& arguments, const Type& type,
                            const Place& place) {
  static const std::map<std::string, std::vector<const char*>> parts{
      {"csr_extract", {"csr_extract_w", "csr_extract_v", "csr_extract_u"}},
      {"eigendecompose_sym", {"eigenvectors_sym", "eigenvalues_sym"}},
      {"qr", {"qr_Q", "qr_R"}},
      {"qr_thin", {"qr_thin_Q", "qr_thin_R"}},
      {"svd", {"svd_U", "singular_values", "svd_V"}}};
  Value tuple;
  tuple.kind = Value::Kind::tuple;
  tuple.type = type;
  const std::vector<const char*>& list = parts.at(name);
  for (size_t k = 0; k < list.size(); ++k) {
    std::vector<Value> own = arguments;
    tuple.pieces.push_back(call_builtin(list[k], own, type.members.at(k), place));
  }
  return tuple;
}

}  // namespace adit::stan
