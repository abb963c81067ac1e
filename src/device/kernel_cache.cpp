#include "device/kernel_cache.hpp"

namespace adit {

// The place of this key; `known` where its kernel lives.
std::shared_ptr<KernelCache::Entry> KernelCache::entry_of(const std::string& key, Made& known) {
  const std::lock_guard lock(mutex_);
  if (const Made* kept = kept_.find(key)) {
    known = *kept;
    return nullptr;
  }
  // Names of kernels that are gone, with nobody at them.
  if (entries_.size() > 2 * kept_.size() + 256)
    std::erase_if(entries_, [](const auto& it) { return it.second.use_count() == 1 && !it.second->alive(); });
  std::shared_ptr<Entry>& entry = entries_[key];
  if (!entry) entry = std::make_shared<Entry>();
  return entry;
}

void KernelCache::keep(const std::string& key, const Made& kernel) {
  std::vector<Made> gone;  // ends after the lock
  const std::lock_guard lock(mutex_);
  kept_.insert(key, kernel, kernel->bytes(), gone);
}

KernelCache::Made KernelCache::get(const std::string& key, const std::function<Made()>& make) {
  Made kernel;
  const std::shared_ptr<Entry> entry = entry_of(key, kernel);
  if (kernel) return kernel;
  {
    const std::lock_guard making(entry->making);
    kernel = entry->alive();
    if (!kernel) entry->set(kernel = make());
  }
  keep(key, kernel);
  return kernel;
}

KernelCache::Held KernelCache::held() const {
  Held held;
  std::vector<Made> alive;  // end after the lock
  const std::lock_guard lock(mutex_);
  for (const auto& [key, entry] : entries_)
    if (Made kernel = entry->alive()) {
      ++held.kernels;
      held.bytes += kernel->bytes();
      alive.push_back(std::move(kernel));
    }
  return held;
}

}  // namespace adit
