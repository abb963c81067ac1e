// Draws between nodes: as bytes, and those of parts of a run as one.
#include <cstring>
#include <memory>

#include "bodies.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {

Term draws_join(Call& call) {
  const Handles<adit_draws> parts(call, "parts", call[0]);
  adit_draws* joined = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_draws_join(parts.size(), parts.data(), &joined, error); });
  return make_ok(call.env(), Resource<adit_draws>::make(call.env(), joined));
}

Term draws_to_binary(Call& call) {
  const auto draws = read_handle<adit_draws>(call, "draws", call[0]);
  char* bytes = nullptr;
  size_t size = 0;
  call.deep_door([&](adit_error** error) { return adit_draws_to_bytes(draws.get(), &bytes, &size, error); });
  const std::unique_ptr<char, void (*)(char*)> held(bytes, &adit_text_free);
  NewBinary binary(call, size);
  if (size) std::memcpy(binary.data(), bytes, size);
  return make_ok(call.env(), binary.term());
}

Term draws_from_binary(Call& call) {
  const ErlNifBinary binary = read_binary(call, "binary", call[0]);
  adit_draws* draws = nullptr;
  call.deep_door(
      [&](adit_error** error) { return adit_draws_from_bytes(binary.data, binary.size, &draws, error); });
  return make_ok(call.env(), Resource<adit_draws>::make(call.env(), draws));
}

}  // namespace adit::nif
