#include "call.hpp"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>

#include "terms.hpp"

namespace adit::nif {
namespace {

// A term takes some tens of nanoseconds to read: a tenth of a millisecond.
constexpr size_t most_terms = 2000;

int flags_of(Where where) {
  return where == Where::computing ? ERL_NIF_DIRTY_JOB_CPU_BOUND : ERL_NIF_DIRTY_JOB_IO_BOUND;
}

Term error_term(ErlNifEnv* env, adit_status status, std::string_view message) {
  return enif_make_tuple3(env, atoms().error, enif_make_atom(env, adit_status_name(status)),
                          make_text(env, message));
}

// The scheduler counts time by what is told here; a slice is a millisecond.
void tell_time(ErlNifEnv* env, ErlNifTime start) {
  const ErlNifTime hundredths = (enif_monotonic_time(ERL_NIF_USEC) - start) / 10;
  enif_consume_timeslice(env, static_cast<int>(std::clamp<ErlNifTime>(hundredths, 1, 100)));
}

Term answer_of(Call& call, Body body) {
  ErlNifEnv* const env = call.env();
  try {
    return body(call);
  } catch (const Later& later) {
    return call.go_on(later.where);
  } catch (const Failure& failure) {
    return error_term(env, failure.status, failure.message);
  } catch (const std::bad_alloc&) {
    return error_term(env, ADIT_OUT_OF_MEMORY, "no memory is left on the host");
  } catch (const std::length_error&) {  // of a container
    return error_term(env, ADIT_OUT_OF_MEMORY, "more than the memory of the host can hold");
  } catch (const std::exception& error) {
    return error_term(env, ADIT_INTERNAL, error.what());
  } catch (...) {
    return error_term(env, ADIT_INTERNAL, "an error of an unknown kind");
  }
}

}  // namespace

Call::Call(ErlNifEnv* env, const char* name, Entry entry, int count, const Term* arguments)
    : env_(env),
      name_(name),
      entry_(entry),
      count_(count),
      arguments_(arguments),
      may_block_(enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER),
      terms_left_(most_terms),
      memory_(first_memory_.data(), first_memory_.size()) {}

void Call::count_work(size_t terms) {
  if (may_block_) return;
  if (terms > terms_left_) throw Later{Where::computing};
  terms_left_ -= terms;
}

Term Call::go_on(Where where) const {
  return enif_schedule_nif(env_, name_, flags_of(where), entry_, count_, arguments_);
}

Term Call::go_on(Where where, Entry entry, Term argument) const {
  return enif_schedule_nif(env_, name_, flags_of(where), entry, 1, &argument);
}

void Call::fail(std::string_view argument, std::string_view rest, adit_status status) const {
  std::string message = "[";
  message.append(name_).append("] ").append(argument).append(": ").append(rest);
  throw Failure{status, std::move(message)};
}

void Call::throw_error(adit_status status, adit_error* error) {
  const std::unique_ptr<adit_error, decltype(&adit_error_free)> held(error, &adit_error_free);
  throw Failure{status, error ? adit_error_message(error) : "no memory is left for the message"};
}

Term answer(ErlNifEnv* env, const char* name, Entry entry, Body body, int count,
            const Term* arguments) noexcept {
  const ErlNifTime start = enif_monotonic_time(ERL_NIF_USEC);
  Call call(env, name, entry, count, arguments);
  const Term term = answer_of(call, body);
  if (!call.may_block()) tell_time(env, start);
  return term;
}

}  // namespace adit::nif
