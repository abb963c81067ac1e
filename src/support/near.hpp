// A copy of a shared pointer whose count only this thread writes: many threads that copy one pointer would
// otherwise spend their time sending its count to each other. It keeps what the other one keeps.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "support/spin_lock.hpp"
#include "support/thread_slot.hpp"

namespace adit {

namespace detail {

// What such a copy keeps, until the last one goes: what is left for weak pointers keeps nothing.
template <class T>
struct Keeps {
  std::shared_ptr<T> kept;
  void operator()(T*) { kept.reset(); }
};

}  // namespace detail

template <class T>
std::shared_ptr<T> near(const std::shared_ptr<T>& far) {
  struct Known {
    const T* object = nullptr;
    std::weak_ptr<T> copy;  // while it lives no other object has that address
  };
  struct Few {
    SpinLock lock;
    std::array<Known, 4> known;
    unsigned oldest = 0;
  };
  static auto& all = *new PerThread<Few>;
  if (!far) return far;
  Few& mine = all.mine();
  const std::lock_guard lock(mine.lock);
  Known* place = nullptr;
  for (Known& it : mine.known) {
    if (it.object != far.get()) continue;
    if (auto copy = it.copy.lock()) return copy;
    place = &it;
  }
  if (!place) place = &mine.known[mine.oldest++ % mine.known.size()];
  // Of a copy of another thread, what that one keeps: no chains of copies.
  const auto* of_another = std::get_deleter<detail::Keeps<T>>(far);
  std::shared_ptr<T> copy(far.get(), detail::Keeps<T>{of_another ? of_another->kept : far});
  *place = {far.get(), copy};
  return copy;
}

}  // namespace adit
