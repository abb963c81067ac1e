#include "resources.hpp"

#include <thread>

namespace adit::nif {
namespace {

template <class... T>
bool open_all(ErlNifEnv* env, Kinds<T...>) {
  return (Resource<T>::open_type(env) && ...);
}

template <class... T>
const char* name_of_any(ErlNifEnv* env, Term term, Kinds<T...>) {
  const char* name = nullptr;
  ((Resource<T>::find(env, term) ? void(name = Kind<T>::name) : void()), ...);
  return name;
}

}  // namespace

bool open_resource_types(ErlNifEnv* env) { return open_all(env, AllKinds{}); }

std::string handle_kind_of(ErlNifEnv* env, Term term) {
  const char* name = name_of_any(env, term, AllKinds{});
  return name ? std::string("a ") + name : "a reference that is no handle";
}

void free_run(adit_run* run) {
  if (adit_run_wait(run, 0)) return adit_run_free(run);
  try {
    std::thread([run] { adit_run_free(run); }).detach();
  } catch (...) {  // no thread is left: better to wait than to leak
    adit_run_free(run);
  }
}

}  // namespace adit::nif
