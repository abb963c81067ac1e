#include "attributes.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

bool is(Term a, Term b) { return enif_is_identical(a, b) != 0; }

// An integer of 64 bits. One that only an unsigned number holds keeps its bits, so that values of u64 pass
// through.
std::optional<int64_t> integer_of(ErlNifEnv* env, Term term) {
  ErlNifSInt64 value = 0;
  if (enif_get_int64(env, term, &value)) return value;
  ErlNifUInt64 large = 0;
  if (enif_get_uint64(env, term, &large)) return static_cast<int64_t>(large);
  return {};
}

std::optional<double> real_of(ErlNifEnv* env, Term term) {
  double real = 0;
  if (enif_get_double(env, term, &real)) return real;
  ErlNifSInt64 value = 0;
  if (enif_get_int64(env, term, &value)) return static_cast<double>(value);
  ErlNifUInt64 large = 0;
  if (enif_get_uint64(env, term, &large)) return static_cast<double>(large);
  if (is(term, atoms().nan)) return std::numeric_limits<double>::quiet_NaN();
  if (is(term, atoms().infinity)) return std::numeric_limits<double>::infinity();
  if (is(term, atoms().neg_infinity)) return -std::numeric_limits<double>::infinity();
  return {};
}

double read_real(Call& call, std::string_view argument, Term term) {
  if (const auto real = real_of(call.env(), term)) return *real;
  fail_expecting(call, argument, "a number of 64 bits, :nan, :infinity or :neg_infinity", term);
}

bool is_integer(ErlNifEnv* env, Term term) { return enif_term_type(env, term) == ERL_NIF_TERM_TYPE_INTEGER; }

}  // namespace

Attributes::Attributes(Call& call, std::string_view argument, Term list) {
  const std::vector<Term> terms = read_list(call, argument, list);
  list_.reserve(terms.size());
  for (size_t i = 0; i < terms.size(); ++i) {
    const Term* pair = nullptr;
    int arity = 0;
    if (!enif_get_tuple(call.env(), terms[i], &arity, &pair))
      fail_expecting(call, element(argument, i), "{name, value}", terms[i]);
    if (arity != 2) call.fail(element(argument, i), "expected {name, value}, got a tuple of another size");
    if (is(pair[1], atoms().nil)) continue;  // not given
    adit_attribute attribute{};
    attribute.name = read_name(call, argument, pair[0]);
    read_value(call, attribute.name, pair[1], attribute);
    list_.push_back(attribute);
  }
}

void Attributes::read_value(Call& call, std::string_view argument, Term value, adit_attribute& to) {
  ErlNifEnv* const env = call.env();
  if (const auto integer = integer_of(env, value)) {
    to.kind = ADIT_INTEGER;
    to.integer = *integer;
    to.real = *real_of(env, value);
    return;
  }
  if (is_integer(env, value)) call.fail(argument, "expected an integer of 64 bits, got a larger one");
  if (const auto real = real_of(env, value)) {
    to.kind = ADIT_REAL;
    to.real = *real;
    return;
  }
  switch (enif_term_type(env, value)) {
    case ERL_NIF_TERM_TYPE_ATOM:
      if (is(value, atoms().yes) || is(value, atoms().no)) {
        to.kind = ADIT_INTEGER;
        to.integer = is(value, atoms().yes);
        to.real = static_cast<double>(to.integer);
        return;
      }
      to.kind = ADIT_TEXT;
      to.text = read_name(call, argument, value);
      for (int type = 0; type < ADIT_DTYPE_COUNT; ++type)
        if (is(value, atoms().dtypes[type])) {
          to.kind = ADIT_DTYPE;
          to.integer = type;
        }
      return;
    case ERL_NIF_TERM_TYPE_BITSTRING:
      to.kind = ADIT_TEXT;
      to.text = read_text(call, argument, value);
      return;
    case ERL_NIF_TERM_TYPE_REFERENCE:
      functions_.push_back(read_handle<adit_function>(call, argument, value));
      to.kind = ADIT_FUNCTION;
      to.function = functions_.back().get();
      return;
    case ERL_NIF_TERM_TYPE_LIST:
    case ERL_NIF_TERM_TYPE_TUPLE: return read_numbers(call, argument, value, to);
    default:
      fail_expecting(call, argument,
                     "a number, true or false, a list or a tuple of numbers, a name, a dtype or a function",
                     value);
  }
}

// {re, im} is a complex number where it is a value, or one of the two is no integer: other pairs are shapes
// and axes.
void Attributes::read_numbers(Call& call, std::string_view argument, Term value, adit_attribute& to) {
  ErlNifEnv* const env = call.env();
  const Term* pair = nullptr;
  int arity = 0;
  const bool is_tuple = enif_get_tuple(env, value, &arity, &pair) != 0;
  const bool is_pair = is_tuple && arity == 2;
  if (is_pair && (argument == "value" || !is_integer(env, pair[0]) || !is_integer(env, pair[1]))) {
    to.kind = ADIT_REAL;
    to.real = read_real(call, argument, pair[0]);
    to.imag = read_real(call, argument, pair[1]);
    return;
  }
  std::vector<Term> list;
  if (!is_tuple) list = read_list(call, argument, value);
  const auto integer = [&](Term term) { return is_integer(env, term); };
  if (is_tuple || std::all_of(list.begin(), list.end(), integer)) {
    const auto numbers = read_integers(call, argument, value);
    to.kind = ADIT_INTEGERS;
    to.integers = numbers.data();
    to.count = numbers.size();
    return;
  }
  auto* reals = static_cast<double*>(call.memory()->allocate(list.size() * sizeof(double), alignof(double)));
  for (size_t i = 0; i < list.size(); ++i) {
    const auto real = real_of(env, list[i]);
    reals[i] = real ? *real : read_real(call, element(argument, i), list[i]);
  }
  to.kind = ADIT_REALS;
  to.reals = reals;
  to.count = list.size();
}

}  // namespace adit::nif
