#include <memory>

#include "bodies.hpp"
#include "resources.hpp"
#include "terms.hpp"

namespace adit::nif {
namespace {

Term make_info(ErlNifEnv* env, const adit_device_info& info) {
  return make_map(env, {{"id", make_text(env, info.id)},
                        {"name", make_text(env, info.name)},
                        {"kind", make_text(env, info.kind)},
                        {"driver", make_text(env, info.driver)},
                        {"reason", make_text(env, info.reason)},
                        {"memory_bytes", enif_make_uint64(env, info.memory_bytes)},
                        {"chosen", make_truth(info.chosen != 0)}});
}

}  // namespace

Term devices(Call& call) {
  adit_device_list* made = nullptr;
  call.deep_door([&](adit_error** error) { return adit_device_list_new(&made, error); });
  const std::unique_ptr<adit_device_list, decltype(&adit_device_list_free)> list(made,
                                                                                 &adit_device_list_free);
  std::vector<Term> terms;
  for (size_t i = 0; i < adit_device_list_size(made); ++i)
    terms.push_back(make_info(call.env(), *adit_device_list_at(made, i)));
  return make_ok(call.env(),
                 enif_make_list_from_array(call.env(), terms.data(), static_cast<unsigned>(terms.size())));
}

Term open(Call& call) {
  const char* id = read_text(call, "id", call[0]);
  adit_device* device = nullptr;
  call.deep_door([&](adit_error** error) { return adit_device_open(id, &device, error); });
  return make_ok(call.env(), Resource<adit_device>::make(call.env(), device));
}

Term make_default(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  call.door([&](adit_error** error) { return adit_device_make_default(device.get(), error); });
  return atoms().ok;
}

Term device_info(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  return make_ok(call.env(), make_info(call.env(), *adit_device_info_of(device.get())));
}

Term statistics(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  adit_statistics now{};
  call.door([&](adit_error** error) { return adit_device_statistics(device.get(), &now, error); });
  ErlNifEnv* const env = call.env();
  return make_ok(env, make_map(env, {{"kernels_run", enif_make_uint64(env, now.kernels_run)},
                                     {"submissions", enif_make_uint64(env, now.submissions)},
                                     {"kernels_compiled", enif_make_uint64(env, now.kernels_compiled)},
                                     {"kernels_loaded", enif_make_uint64(env, now.kernels_loaded)},
                                     {"allocations", enif_make_uint64(env, now.allocations)},
                                     {"bytes_in_use", enif_make_uint64(env, now.bytes_in_use)},
                                     {"bytes_held", enif_make_uint64(env, now.bytes_held)},
                                     {"bytes_peak", enif_make_uint64(env, now.bytes_peak)},
                                     {"lost", make_truth(adit_device_lost(device.get()) != 0)}}));
}

Term wait(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  call.deep_door([&](adit_error** error) { return adit_device_wait(device.get(), error); });
  return atoms().ok;
}

Term trim(Call& call) {
  const auto device = read_handle<adit_device>(call, "device", call[0]);
  call.deep_door([&](adit_error** error) { return adit_device_trim(device.get(), error); });
  return atoms().ok;
}

}  // namespace adit::nif
