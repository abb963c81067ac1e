// Terms of Erlang: how they are read, and made.
//
// Reading throws a Failure that names the argument. On a normal scheduler it throws Later where there is more
// to read than a scheduler has time for: so a function reads all its arguments before it does anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <erl_nif.h>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <adit/c.h>

#include "call.hpp"

namespace adit::nif {

// Made once, when the library is loaded; atoms are the same in all environments.
struct Atoms {
  Term ok, error, yes, no, nil, nan, infinity, neg_infinity, already_deallocated;
  Term dtypes[ADIT_DTYPE_COUNT];
};
const Atoms& atoms();
void make_atoms(ErlNifEnv* env);

// "an integer", "a tensor": for messages.
std::string kind_of(ErlNifEnv* env, Term term);
[[noreturn]] void fail_expecting(Call& call, std::string_view argument, std::string_view expected, Term got);

// --- Reading
int64_t read_integer(Call& call, std::string_view argument, Term term);
uint64_t read_unsigned(Call& call, std::string_view argument, Term term);
bool read_truth(Call& call, std::string_view argument, Term term);
adit_dtype read_dtype(Call& call, std::string_view argument, Term term);
ErlNifBinary read_binary(Call& call, std::string_view argument, Term term);
// Ends with a zero byte, and lives as long as the call.
const char* read_text(Call& call, std::string_view argument, Term term);  // a binary
const char* read_name(Call& call, std::string_view argument, Term term);  // an atom or a binary
// Of a list or a tuple; they live as long as the call.
std::span<const int64_t> read_integers(Call& call, std::string_view argument, Term term);
// The elements of a proper list.
std::vector<Term> read_list(Call& call, std::string_view argument, Term term);
std::vector<const char*> read_texts(Call& call, std::string_view argument, Term term);
// Names the element of a list in messages.
std::string element(std::string_view argument, size_t i);

// --- Making
Term make_text(ErlNifEnv* env, std::string_view text);
Term make_text(ErlNifEnv* env, const char* text);  // nil for NULL
Term make_truth(bool value);
Term make_number(ErlNifEnv* env, double value);  // an atom where it is not finite
Term make_integers(ErlNifEnv* env, std::span<const int64_t> integers);
Term make_map(ErlNifEnv* env, std::initializer_list<std::pair<const char*, Term>> entries);
Term make_ok(ErlNifEnv* env, Term value);

// A binary that is filled in place. Throws a Failure where there is no memory for it.
class NewBinary {
 public:
  NewBinary(Call& call, size_t size);
  ~NewBinary();
  NewBinary(const NewBinary&) = delete;
  NewBinary& operator=(const NewBinary&) = delete;
  unsigned char* data() { return data_; }
  Term term();

 private:
  ErlNifEnv* env_;
  unsigned char* data_ = nullptr;
  ErlNifBinary counted_{};
  Term small_ = 0;
  bool is_held_ = false;
};

}  // namespace adit::nif
