#include "terms.hpp"

#include <cmath>
#include <cstring>

#include "resources.hpp"

namespace adit::nif {
namespace {

Atoms all_atoms{};

// Copying text is cheaper than reading terms.
constexpr size_t bytes_of_a_term = 64;

bool is(Term a, Term b) { return enif_is_identical(a, b) != 0; }

char* new_text(Call& call, size_t size) {
  auto* text = static_cast<char*>(call.memory()->allocate(size + 1, 1));
  text[size] = 0;
  return text;
}

const char* read_atom(Call& call, std::string_view argument, Term term) {
  unsigned length = 0;
  if (!enif_get_atom_length(call.env(), term, &length, ERL_NIF_LATIN1))
    call.fail(argument, "expected an atom of Latin letters, got another one");
  char* text = new_text(call, length);
  enif_get_atom(call.env(), term, text, length + 1, ERL_NIF_LATIN1);
  return text;
}

}  // namespace

const Atoms& atoms() { return all_atoms; }

void make_atoms(ErlNifEnv* env) {
  const auto make = [env](const char* name) { return enif_make_atom(env, name); };
  all_atoms.ok = make("ok");
  all_atoms.error = make("error");
  all_atoms.yes = make("true");
  all_atoms.no = make("false");
  all_atoms.nil = make("nil");
  all_atoms.nan = make("nan");
  all_atoms.infinity = make("infinity");
  all_atoms.neg_infinity = make("neg_infinity");
  all_atoms.already_deallocated = make("already_deallocated");
  for (int type = 0; type < ADIT_DTYPE_COUNT; ++type)
    all_atoms.dtypes[type] = make(adit_dtype_name(static_cast<adit_dtype>(type)));
}

std::string kind_of(ErlNifEnv* env, Term term) {
  switch (enif_term_type(env, term)) {
    case ERL_NIF_TERM_TYPE_ATOM: return "an atom";
    case ERL_NIF_TERM_TYPE_BITSTRING: return enif_is_binary(env, term) ? "a binary" : "a bitstring";
    case ERL_NIF_TERM_TYPE_FLOAT: return "a float";
    case ERL_NIF_TERM_TYPE_FUN: return "a fun";
    case ERL_NIF_TERM_TYPE_INTEGER: return "an integer";
    case ERL_NIF_TERM_TYPE_LIST: return enif_is_empty_list(env, term) ? "an empty list" : "a list";
    case ERL_NIF_TERM_TYPE_MAP: return "a map";
    case ERL_NIF_TERM_TYPE_PID: return "a pid";
    case ERL_NIF_TERM_TYPE_PORT: return "a port";
    case ERL_NIF_TERM_TYPE_REFERENCE: return handle_kind_of(env, term);
    case ERL_NIF_TERM_TYPE_TUPLE: return "a tuple";
    default: return "another term";
  }
}

void fail_expecting(Call& call, std::string_view argument, std::string_view expected, Term got) {
  std::string rest = "expected ";
  rest.append(expected).append(", got ").append(kind_of(call.env(), got));
  call.fail(argument, rest);
}

int64_t read_integer(Call& call, std::string_view argument, Term term) {
  ErlNifSInt64 value = 0;
  if (enif_get_int64(call.env(), term, &value)) return value;
  if (enif_term_type(call.env(), term) == ERL_NIF_TERM_TYPE_INTEGER)
    call.fail(argument, "expected an integer of 64 bits, got a larger one");
  fail_expecting(call, argument, "an integer", term);
}

uint64_t read_unsigned(Call& call, std::string_view argument, Term term) {
  ErlNifUInt64 value = 0;
  if (enif_get_uint64(call.env(), term, &value)) return value;
  if (enif_term_type(call.env(), term) == ERL_NIF_TERM_TYPE_INTEGER)
    call.fail(argument, "expected an integer from 0 to 2^64 - 1, got another one");
  fail_expecting(call, argument, "an integer", term);
}

bool read_truth(Call& call, std::string_view argument, Term term) {
  if (is(term, atoms().yes)) return true;
  if (is(term, atoms().no)) return false;
  fail_expecting(call, argument, "true or false", term);
}

adit_dtype read_dtype(Call& call, std::string_view argument, Term term) {
  for (int type = 0; type < ADIT_DTYPE_COUNT; ++type)
    if (is(term, atoms().dtypes[type])) return static_cast<adit_dtype>(type);
  if (enif_is_atom(call.env(), term))
    call.fail(argument,
              std::string("expected a dtype such as :f32, got :") + read_atom(call, argument, term));
  fail_expecting(call, argument, "a dtype such as :f32", term);
}

ErlNifBinary read_binary(Call& call, std::string_view argument, Term term) {
  ErlNifBinary binary;
  if (!enif_inspect_binary(call.env(), term, &binary)) fail_expecting(call, argument, "a binary", term);
  return binary;
}

const char* read_text(Call& call, std::string_view argument, Term term) {
  const ErlNifBinary binary = read_binary(call, argument, term);
  call.count_work(binary.size / bytes_of_a_term);
  if (binary.size && std::memchr(binary.data, 0, binary.size))
    call.fail(argument, "expected text, got a binary with a zero byte");
  char* text = new_text(call, binary.size);
  if (binary.size) std::memcpy(text, binary.data, binary.size);
  return text;
}

const char* read_name(Call& call, std::string_view argument, Term term) {
  if (enif_is_atom(call.env(), term)) return read_atom(call, argument, term);
  if (!enif_is_binary(call.env(), term)) fail_expecting(call, argument, "a name: an atom or a binary", term);
  return read_text(call, argument, term);
}

std::span<const int64_t> read_integers(Call& call, std::string_view argument, Term term) {
  const Term* elements = nullptr;
  std::vector<Term> list;
  int arity = 0;
  size_t count = 0;
  if (enif_get_tuple(call.env(), term, &arity, &elements)) {
    count = static_cast<size_t>(arity);
    call.count_work(count);
  } else if (enif_is_list(call.env(), term)) {
    list = read_list(call, argument, term);
    elements = list.data();
    count = list.size();
  } else {
    fail_expecting(call, argument, "a list or a tuple of integers", term);
  }
  auto* numbers =
      static_cast<int64_t*>(call.memory()->allocate((count + 1) * sizeof(int64_t), alignof(int64_t)));
  for (size_t i = 0; i < count; ++i) {
    ErlNifSInt64 value = 0;
    // The name of the element is made only where it is told.
    numbers[i] = enif_get_int64(call.env(), elements[i], &value)
                     ? value
                     : read_integer(call, element(argument, i), elements[i]);
  }
  return {numbers, count};
}

std::vector<Term> read_list(Call& call, std::string_view argument, Term term) {
  std::vector<Term> elements;
  Term head = 0, tail = term;
  while (enif_get_list_cell(call.env(), tail, &head, &tail)) {
    call.count_work(1);
    elements.push_back(head);
  }
  if (enif_is_empty_list(call.env(), tail)) return elements;
  if (elements.empty()) fail_expecting(call, argument, "a list", tail);
  call.fail(argument, "expected a list, got one whose tail is no list");
}

std::vector<const char*> read_texts(Call& call, std::string_view argument, Term term) {
  std::vector<const char*> texts;
  for (const Term each : read_list(call, argument, term)) {
    if (!enif_is_binary(call.env(), each))
      fail_expecting(call, element(argument, texts.size()), "a binary", each);
    texts.push_back(read_text(call, argument, each));
  }
  return texts;
}

std::string element(std::string_view argument, size_t i) {
  return std::string(argument).append(", element ").append(std::to_string(i));
}

Term make_text(ErlNifEnv* env, std::string_view text) {
  Term term = 0;
  unsigned char* data = enif_make_new_binary(env, text.size(), &term);
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  return term;
}

Term make_text(ErlNifEnv* env, const char* text) {
  return text ? make_text(env, std::string_view(text)) : atoms().nil;
}

Term make_truth(bool value) { return value ? atoms().yes : atoms().no; }

Term make_number(ErlNifEnv* env, double value) {
  if (std::isnan(value)) return atoms().nan;
  if (std::isinf(value)) return value > 0 ? atoms().infinity : atoms().neg_infinity;
  return enif_make_double(env, value);
}

Term make_integers(ErlNifEnv* env, std::span<const int64_t> integers) {
  Term list = enif_make_list(env, 0);
  for (size_t i = integers.size(); i-- > 0;)
    list = enif_make_list_cell(env, enif_make_int64(env, integers[i]), list);
  return list;
}

Term make_map(ErlNifEnv* env, std::initializer_list<std::pair<const char*, Term>> entries) {
  std::vector<Term> keys, values;
  for (const auto& [key, value] : entries) {
    keys.push_back(enif_make_atom(env, key));
    values.push_back(value);
  }
  Term map = 0;
  enif_make_map_from_arrays(env, keys.data(), values.data(), keys.size(),
                            &map);  // keys differ: it cannot fail
  return map;
}

Term make_ok(ErlNifEnv* env, Term value) { return enif_make_tuple2(env, atoms().ok, value); }

// Small ones lie on the heap of the process: they cost nothing to make, but cannot fail either.
NewBinary::NewBinary(Call& call, size_t size) : env_(call.env()) {
  constexpr size_t most_on_heap = 64;
  if (size <= most_on_heap) {
    data_ = enif_make_new_binary(env_, size, &small_);
    return;
  }
  if (!enif_alloc_binary(size, &counted_))
    throw Failure{ADIT_OUT_OF_MEMORY, "no memory for a binary of " + std::to_string(size) + " bytes"};
  data_ = counted_.data;
  is_held_ = true;
}

NewBinary::~NewBinary() {
  if (is_held_) enif_release_binary(&counted_);
}

Term NewBinary::term() {
  if (!is_held_) return small_;
  is_held_ = false;
  return enif_make_binary(env_, &counted_);
}

}  // namespace adit::nif
