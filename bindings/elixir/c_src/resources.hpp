// Handles of the C door as resources: references that Erlang collects.
//
// A handle may be deallocated by one process while another uses it. So each use holds it by a shared pointer,
// and it is freed by who lets go last.
#pragma once

#include <erl_nif.h>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <adit/c.h>

#include "terms.hpp"

namespace adit::nif {

// A compiled function, and how many results its calls have.
struct Compiled {
  Compiled(adit_jit* jit_, size_t results_) : jit(jit_), results(results_) {}
  ~Compiled() { adit_jit_free(jit); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  adit_jit* jit;
  size_t results;
};

// Freeing a run waits for it to stop, which is not for a scheduler to wait for.
void free_run(adit_run* run);

// What is told of a kind, and how one is freed. Nothing here may wait: Erlang collects on normal schedulers.
template <class T>
struct Kind;
template <>
struct Kind<adit_device> {
  static constexpr const char* name = "device";
  static void free(adit_device* handle) { adit_device_free(handle); }
};
template <>
struct Kind<adit_tensor> {
  static constexpr const char* name = "tensor";
  static void free(adit_tensor* handle) { adit_tensor_free(handle); }
};
template <>
struct Kind<adit_function> {
  static constexpr const char* name = "function";
  static void free(adit_function* handle) { adit_function_free(handle); }
};
template <>
struct Kind<Compiled> {
  static constexpr const char* name = "compiled function";
  static void free(Compiled* handle) { delete handle; }
};
template <>
struct Kind<adit_model> {
  static constexpr const char* name = "model";
  static void free(adit_model* handle) { adit_model_free(handle); }
};
template <>
struct Kind<adit_distribution> {
  static constexpr const char* name = "distribution";
  static void free(adit_distribution* handle) { adit_distribution_free(handle); }
};
template <>
struct Kind<adit_constraint> {
  static constexpr const char* name = "constraint";
  static void free(adit_constraint* handle) { adit_constraint_free(handle); }
};
template <>
struct Kind<adit_run> {
  static constexpr const char* name = "run";
  static void free(adit_run* handle) { free_run(handle); }
};
template <>
struct Kind<adit_draws> {
  static constexpr const char* name = "set of draws";
  static void free(adit_draws* handle) { adit_draws_free(handle); }
};

template <class... T>
struct Kinds {};
using AllKinds = Kinds<adit_tensor, adit_device, adit_function, Compiled, adit_model, adit_distribution,
                       adit_constraint, adit_run, adit_draws>;

template <class T>
class Resource {
 public:
  static bool open_type(ErlNifEnv* env) {
    // A library that is loaded in place of another takes its handles over. The number is of what lies in a
    // resource: one that lays them out differently takes nothing over.
    const std::string name = std::string("adit_1_") + Kind<T>::name;
    constexpr auto flags = static_cast<ErlNifResourceFlags>(ERL_NIF_RT_CREATE | ERL_NIF_RT_TAKEOVER);
    type_ = enif_open_resource_type(env, nullptr, name.c_str(), &destroy, flags, nullptr);
    return type_ != nullptr;
  }

  // Takes the handle, also where it throws. A process collects its garbage by what it believes to hold: of a
  // handle it sees some words. A binary that nobody gets tells it of the `bytes` that hang on it.
  static Term make(ErlNifEnv* env, T* handle, size_t bytes = 0) {
    std::shared_ptr<T> held(handle, &Kind<T>::free);
    void* place = enif_alloc_resource(type_, sizeof(Resource));
    auto* resource = new (place) Resource(std::move(held));
    const Term term = enif_make_resource(env, resource);
    if (bytes >= least_told_of) enif_make_resource_binary(env, resource, resource, bytes);
    enif_release_resource(resource);
    return term;
  }

  // Null: a term of another kind.
  static Resource* find(ErlNifEnv* env, Term term) {
    void* found = nullptr;
    return enif_get_resource(env, term, type_, &found) ? static_cast<Resource*>(found) : nullptr;
  }

  // Null: it was deallocated.
  std::shared_ptr<T> use() {
    const std::scoped_lock lock(mutex_);
    return held_;
  }
  // False: it was before.
  bool deallocate() {
    std::shared_ptr<T> held;
    const std::scoped_lock lock(mutex_);
    held.swap(held_);
    return held != nullptr;
  }

 private:
  explicit Resource(std::shared_ptr<T> held) noexcept : held_(std::move(held)) {}
  static void destroy(ErlNifEnv*, void* resource) { static_cast<Resource*>(resource)->~Resource(); }

  static constexpr size_t least_told_of = 4096;  // smaller ones are no matter, and the more of them
  static inline ErlNifResourceType* type_ = nullptr;
  std::mutex mutex_;
  std::shared_ptr<T> held_;
};

bool open_resource_types(ErlNifEnv* env);
// "a tensor"; of a reference that is no handle: "a reference that is no handle".
std::string handle_kind_of(ErlNifEnv* env, Term term);
// The name of the node that a reference comes from, where that is another one; else nothing. A handle that
// was sent elsewhere is a reference and no more.
std::string foreign_node_of(ErlNifEnv* env, Term term);
// Says what was got in place of a handle, `expected` with its article.
[[noreturn]] void fail_without_handle(Call& call, std::string_view argument, std::string_view expected,
                                      Term got);

template <class T>
std::shared_ptr<T> read_handle(Call& call, std::string_view argument, Term term) {
  Resource<T>* resource = Resource<T>::find(call.env(), term);
  if (!resource) fail_without_handle(call, argument, std::string("a ") + Kind<T>::name, term);
  std::shared_ptr<T> held = resource->use();
  if (!held) call.fail(argument, std::string("the ") + Kind<T>::name + " was deallocated");
  return held;
}

// A list of handles as the door takes them.
template <class T>
class Handles {
 public:
  Handles(Call& call, std::string_view argument, Term list) {
    const std::vector<Term> terms = read_list(call, argument, list);
    held_.reserve(terms.size());
    pointers_.reserve(terms.size());
    for (size_t i = 0; i < terms.size(); ++i) {
      Resource<T>* resource = Resource<T>::find(call.env(), terms[i]);
      std::shared_ptr<T> held = resource ? resource->use() : nullptr;
      // The name of the element is made only where it is told.
      if (!held) held = read_handle<T>(call, element(argument, i), terms[i]);
      pointers_.push_back(held.get());
      held_.push_back(std::move(held));
    }
  }
  size_t size() const { return pointers_.size(); }
  const T* const* data() const { return pointers_.data(); }

 private:
  std::vector<std::shared_ptr<T>> held_;
  std::vector<const T*> pointers_;
};

// A reference to a tensor that is evaluated, whose memory the process is told of.
inline Term make_evaluated(ErlNifEnv* env, adit_tensor* tensor) {
  const size_t bytes =
      static_cast<size_t>(adit_tensor_size(tensor)) * adit_dtype_size(adit_tensor_dtype(tensor));
  return Resource<adit_tensor>::make(env, tensor, bytes);
}

// Places for tensors that the door makes.
class Results {
 public:
  explicit Results(size_t capacity = 0) : tensors_(capacity) {}
  ~Results() {
    for (adit_tensor* tensor : tensors_) adit_tensor_free(tensor);
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;
  size_t capacity() const { return tensors_.size(); }
  adit_tensor** data() { return tensors_.data(); }
  // More places, or only those that were used.
  void resize(size_t count) { tensors_.resize(count); }
  // A list of references, which own them from then on.
  Term make_list(ErlNifEnv* env) { return make_list(env, &make_lazy); }
  Term make_evaluated_list(ErlNifEnv* env) { return make_list(env, &make_evaluated); }

 private:
  static Term make_lazy(ErlNifEnv* env, adit_tensor* tensor) {
    return Resource<adit_tensor>::make(env, tensor);
  }
  Term make_list(ErlNifEnv* env, Term (*make)(ErlNifEnv*, adit_tensor*)) {
    std::vector<Term> terms;
    terms.reserve(tensors_.size());
    for (adit_tensor*& tensor : tensors_) terms.push_back(make(env, std::exchange(tensor, nullptr)));
    return enif_make_list_from_array(env, terms.data(), static_cast<unsigned>(terms.size()));
  }

  std::vector<adit_tensor*> tensors_;
};

}  // namespace adit::nif
