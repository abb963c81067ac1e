// Bytes that are written before they are read: nobody fills them with zeros first.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace adit {

template <class T>
struct Uninitialised : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialised<U>;
  };
  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }
};

using RawBytes = std::vector<std::byte, Uninitialised<std::byte>>;

}  // namespace adit
