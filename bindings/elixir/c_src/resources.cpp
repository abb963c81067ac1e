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

namespace {

// The name of the node in the external form of a reference: version, tag, how many words, and an atom, whose
// length has one byte or two. (115 and 100 are atoms of Latin letters, as OTP 25 writes them.)
std::string node_in(const ErlNifBinary& bytes) {
  constexpr unsigned char newer_reference = 90, new_reference = 114;
  const unsigned char* const at = bytes.data;
  if (bytes.size < 7 || (at[1] != newer_reference && at[1] != new_reference)) return {};
  const bool is_short = at[4] == 119 || at[4] == 115;
  if (!is_short && at[4] != 118 && at[4] != 100) return {};
  const size_t length = is_short ? at[5] : static_cast<size_t>(at[5]) << 8 | at[6], begin = is_short ? 6 : 7;
  if (begin + length > bytes.size) return {};
  return std::string(reinterpret_cast<const char*>(at) + begin, length);
}

std::string node_of(ErlNifEnv* env, Term reference) {
  ErlNifBinary bytes;
  if (!enif_term_to_binary(env, reference, &bytes)) return {};
  std::string name = node_in(bytes);
  enif_release_binary(&bytes);
  return name;
}

}  // namespace

std::string foreign_node_of(ErlNifEnv* env, Term term) {
  if (!enif_is_ref(env, term)) return {};
  std::string theirs = node_of(env, term);
  return theirs == node_of(env, enif_make_ref(env)) ? std::string() : theirs;
}

void fail_without_handle(Call& call, std::string_view argument, std::string_view expected, Term got) {
  const std::string node = foreign_node_of(call.env(), got);
  if (node.empty()) fail_expecting(call, argument, expected, got);
  std::string rest = "expected ";
  rest.append(expected).append(" of this node, got one that is on ").append(node);
  rest.append(
      ": send Nx.backend_copy(tensor, Nx.BinaryBackend), or what Adit.Value.read gives, between nodes");
  call.fail(argument, rest, ADIT_NOT_FOUND);
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
