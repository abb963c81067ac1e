// The end of the process, with devices open and threads alive.
//
// Drivers, validation layers, LLVM and BLAS take themselves down in exit handlers, while the caller's threads
// and ours may be inside of them. So our own handler comes before theirs:
// - A thread that is inside such a library is waited for; one that comes later sleeps until the process is
//   gone. The thread that ends the process is turned away instead.
// - What has threads of its own is told to rest, and is then kept for good, with all that it holds: nothing
//   of ours is destroyed once the end has begun, the system takes it.
// - Handlers run in the reverse of the order in which they were registered, and libraries register some not
//   before they are used: renew() puts ours in front again. Work of the main thread is waited for even before
//   the first handler, since a library may just be about to register one.
//
// What this library keeps for the length of the process is never destroyed (`static auto& x = *new X`).
#pragma once

#include <functional>
#include <memory>

namespace adit::process_end {

// A stay inside of such a library. It may nest.
class Visit {
 public:
  Visit() noexcept;  // does not return once the end has begun, but on the thread that ends the process
  ~Visit();
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;
  // False: turned away. Destructors then leave things as they are, others call expect().
  explicit operator bool() const { return welcome_; }
  void expect() const;  // throws Error(device_lost) when turned away

 private:
  bool welcome_, counted_;
};

// A thread that helps another one, which waits for it: while that one is inside, so is this one, and it is
// stopped nowhere.
bool is_inside();
class Helping {
 public:
  explicit Helping(bool one_inside) noexcept;
  ~Helping();
  Helping(const Helping&) = delete;
  Helping& operator=(const Helping&) = delete;

 private:
  bool one_inside_;
};

// From now on this thread is counted, but never stopped: someone's `rest` waits for it to end.
void rests_with_its_owner();

struct Rest {
  std::function<void()> settle;  // waits for what is queued, as the main thread ends
  std::function<void()> rest;    // for good, as the process ends
};
// `object` is told to rest by the thread that ends the process, and kept. In a copy of the process by fork it
// is kept as it is: its threads are not there.
void keep(const std::shared_ptr<void>& object, Rest rest = {});

// After a library did something for the first time.
void renew();

}  // namespace adit::process_end
