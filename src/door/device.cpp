#include <adit/tensor.hpp>

#include "door/handles.hpp"

using namespace adit;

struct adit_device_list {
  std::vector<DeviceInfo> devices;
  std::vector<adit_device_info> infos;  // over the texts of `devices`
};

namespace {

adit_device_info info_of(const DeviceInfo& info) {
  return {info.id.c_str(),     info.name.c_str(),   name_of(info.kind).data(),
          info.driver.c_str(), info.reason.c_str(), info.memory_bytes,
          info.chosen};
}

}  // namespace

adit_status adit_device_list_new(adit_device_list** list, adit_error** error) {
  return door::guarded(error, [&] {
    auto& place = door::expect("device_list_new", "list", list);
    auto made = std::make_unique<adit_device_list>();
    made->devices = Device::list();
    for (const DeviceInfo& info : made->devices) made->infos.push_back(info_of(info));
    place = made.release();
  });
}
size_t adit_device_list_size(const adit_device_list* list) { return list ? list->infos.size() : 0; }
const adit_device_info* adit_device_list_at(const adit_device_list* list, size_t i) {
  return list && i < list->infos.size() ? &list->infos[i] : nullptr;
}
void adit_device_list_free(adit_device_list* list) { delete list; }

adit_status adit_device_open(const char* id, adit_device** device, adit_error** error) {
  return door::guarded(error, [&] {
    auto& place = door::expect("device_open", "device", device);
    auto made = std::make_unique<adit_device>();
    made->device = Device::open(&door::expect("device_open", "id", id));
    made->about = made->device->info();
    for (DeviceInfo& listed : Device::list())  // which knows why one is chosen
      if (listed.id == made->about.id) made->about = std::move(listed);
    made->info = info_of(made->about);
    place = made.release();
  });
}
const adit_device_info* adit_device_info_of(const adit_device* device) {
  return device ? &device->info : nullptr;
}
void adit_device_free(adit_device* device) { delete device; }

adit_status adit_device_wait(adit_device* device, adit_error** error) {
  return door::guarded(error, [&] { door::expect("device_wait", "device", device).device->wait(); });
}
adit_status adit_device_trim(adit_device* device, adit_error** error) {
  return door::guarded(error, [&] { door::expect("device_trim", "device", device).device->trim(); });
}
int adit_device_lost(const adit_device* device) { return device && device->device->lost(); }
adit_status adit_device_make_default(adit_device* device, adit_error** error) {
  return door::guarded(
      error, [&] { set_default_device(door::expect("device_make_default", "device", device).device); });
}

adit_status adit_device_statistics(const adit_device* device, adit_statistics* statistics,
                                   adit_error** error) {
  return door::guarded(error, [&] {
    const Statistics s = door::expect("device_statistics", "device", device).device->statistics();
    door::expect("device_statistics", "statistics", statistics) = {
        s.kernels_run, s.batches,      s.kernels_compiled, s.kernels_loaded,
        s.allocations, s.bytes_in_use, s.bytes_held,       s.bytes_peak};
  });
}
