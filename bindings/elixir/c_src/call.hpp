// One call of a NIF, and the wall around it that no exception passes.
#pragma once

#include <array>
#include <cstddef>
#include <erl_nif.h>
#include <memory_resource>
#include <string>
#include <string_view>

#include <adit/c.h>

#include "deep.hpp"

namespace adit::nif {

using Term = ERL_NIF_TERM;
class Call;
using Body = Term (*)(Call&);
using Entry = Term (*)(ErlNifEnv*, int, const Term[]);

// What a function answers instead of its result: {:error, kind, message}.
struct Failure {
  adit_status status;
  std::string message;
};

// Dirty schedulers: one a core for what computes, more of them for what waits.
enum class Where { computing, waiting };

// Thrown by a body: it starts again on a dirty scheduler, so it has changed nothing yet.
struct Later {
  Where where;
};

class Call {
 public:
  Call(ErlNifEnv* env, const char* name, Entry entry, int count, const Term* arguments);
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  ErlNifEnv* env() const { return env_; }
  Term operator[](int i) const { return arguments_[i]; }
  // Of what is read from the arguments.
  std::pmr::memory_resource* memory() { return &memory_; }

  bool may_block() const { return may_block_; }
  // Goes to a dirty scheduler unless it is there.
  void take_time(Where where = Where::computing) const {
    if (!may_block_) throw Later{where};
  }
  // Counts terms that were read; a few thousand are what a normal scheduler has time for.
  void count_work(size_t terms);

  // What the NIF returns so that it starts again elsewhere, as it is or as another one with one argument.
  Term go_on(Where where) const;
  Term go_on(Where where, Entry entry, Term argument) const;

  [[noreturn]] void fail(std::string_view argument, std::string_view rest,
                         adit_status status = ADIT_BAD_ARGUMENT) const;

  // Calls a function of the C door, `ask(error)`; what it fails with is thrown.
  template <class Ask>
  void door(Ask&& ask) const {
    adit_error* error = nullptr;
    const adit_status status = ask(&error);
    if (status != ADIT_OK) throw_error(status, error);
  }
  // The same for what may compile, compute or walk graphs.
  template <class Ask>
  void deep_door(Ask&& ask) const {
    if (!may_block_) return door(ask);
    door([&](adit_error** error) {
      adit_status status = ADIT_OK;
      auto work = [&] { status = ask(error); };
      run_deeply(work);
      return status;
    });
  }

 private:
  [[noreturn]] static void throw_error(adit_status status, adit_error* error);

  ErlNifEnv* env_;
  const char* name_;
  Entry entry_;
  int count_;
  const Term* arguments_;
  bool may_block_;
  size_t terms_left_;
  std::array<std::byte, 2048> first_memory_;
  std::pmr::monotonic_buffer_resource memory_;
};

// Runs the body and answers for what it throws.
Term answer(ErlNifEnv* env, const char* name, Entry entry, Body body, int count,
            const Term* arguments) noexcept;

// A string as an argument of a template.
template <size_t N>
struct Name {
  char text[N]{};
  constexpr Name(const char (&from)[N]) {  // NOLINT(google-explicit-constructor)
    for (size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

template <Name name, Body body>
Term entry(ErlNifEnv* env, int count, const Term* arguments) {
  return answer(env, name.text, &entry<name, body>, body, count, arguments);
}

}  // namespace adit::nif
