#include "support/process_end.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <dlfcn.h>
#include <limits>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

#include <adit/error.hpp>

#include "support/thread_slot.hpp"

namespace adit::process_end {
namespace {

struct Kept {
  std::weak_ptr<void> object;
  Rest rest;
  std::shared_ptr<void> for_good{};
};

enum class Gate { open, held, shut };

struct State {
  std::atomic<Gate> gate{Gate::open};
  std::atomic<int64_t> held_until{0};  // on the steady clock
  PerThread<std::atomic<int>> inside;  // threads, each counted in its place
  std::atomic<uint32_t> left{0};       // one of them, while the gate is not open
  std::mutex mutex;
  std::vector<Kept> kept;
  const pid_t process = ::getpid();
};

State& state() {
  static State& only = *new State;
  return only;
}

// Of this thread; all without destructors, since those of threads run before the handlers do.
thread_local int depth = 0;
thread_local bool ends_the_process = false, has_an_owner = false;

bool is_copy() { return ::getpid() != state().process; }

int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
constexpr int64_t second = std::chrono::steady_clock::period::den / std::chrono::steady_clock::period::num;

// Until the gate opens again, or for ever.
void sleep_at_the_gate() {
  State& all = state();
  for (;;) {
    Gate seen = all.gate;
    if (seen == Gate::open) return;
    if (seen == Gate::held && now() > all.held_until) all.gate.compare_exchange_strong(seen, Gate::open);
    std::this_thread::sleep_for(std::chrono::milliseconds(seen == Gate::shut ? 60'000 : 1));
  }
}

// Either the end sees that this thread has left, or this thread sees that the gate is not open.
void leave(State& all) {
  --all.inside.mine();
  if (all.gate == Gate::open) return;
  ++all.left;
  all.left.notify_all();
}

// Those inside leave by themselves: what they wait for still runs, and they do not come back.
void wait_for_visitors() {
  State& all = state();
  const int own = depth > 0 ? 1 : 0;  // where someone ends the process from inside
  for (;;) {
    const uint32_t seen = all.left;
    int inside = 0;
    all.inside.each([&](const std::atomic<int>& here) { inside += here; });
    if (inside <= own) return;
    all.left.wait(seen);
  }
}

std::vector<Kept>& keep_for_good() {
  State& all = state();
  const std::lock_guard lock(all.mutex);
  for (Kept& it : all.kept) it.for_good = it.object.lock();
  return all.kept;
}

void settle_all() {
  std::vector<Kept> kept;
  {
    const std::lock_guard lock(state().mutex);
    kept = state().kept;
  }
  for (const Kept& it : kept)
    if (const auto object = it.object.lock(); object && it.rest.settle) it.rest.settle();
}

void at_end() {
  State& all = state();
  if (all.gate.exchange(Gate::shut) == Gate::shut) return;
  ends_the_process = true;
  if (!is_copy()) wait_for_visitors();
  for (const Kept& it : keep_for_good())
    if (it.for_good && it.rest.rest && !is_copy()) it.rest.rest();
}

// The main thread's own things go before the first handler runs, where it is the one that ends the process:
// with nobody inside of a library, no handler of one can get in front of ours any more. It may be that only
// the thread ends and the others go on: so the gate is not shut yet, but held for a moment.
struct MainThread {
  MainThread() {}
  ~MainThread() {
    State& all = state();
    Gate open = Gate::open;
    all.held_until = std::numeric_limits<int64_t>::max();
    if (is_copy() || !all.gate.compare_exchange_strong(open, Gate::held)) return;
    ends_the_process = true;
    wait_for_visitors();
    settle_all();
    wait_for_visitors();
    std::atexit(at_end);
    all.held_until = now() + 2 * second;
  }
};
const std::thread::id main_thread = std::this_thread::get_id();
thread_local MainThread at_its_end;

// Threads of ours live as long as the process: a library that we are part of must not be unloaded.
void stay_loaded() {
  Dl_info info;
  if (::dladdr(reinterpret_cast<void*>(&at_end), &info) && info.dli_fname)
    ::dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

// Either the end sees that this thread is inside, or this thread sees that the gate is not open.
Visit::Visit() noexcept : welcome_(true), counted_(depth++ == 0) {
  State& all = state();
  while (counted_) {
    ++all.inside.mine();
    const Gate gate = all.gate;
    welcome_ = gate == Gate::open || (gate == Gate::held && ends_the_process);
    if (welcome_ || has_an_owner) return;
    leave(all);
    if (ends_the_process) counted_ = false;
    if (!ends_the_process) sleep_at_the_gate();
  }
}

Visit::~Visit() {
  --depth;
  if (!counted_) return;
  State& all = state();
  leave(all);
}

void Visit::expect() const {
  if (!welcome_ && !has_an_owner)
    throw Error(ErrorKind::device_lost,
                "[device] call: expected before the process ends, got one after the devices were closed");
}

bool is_inside() { return depth > 0; }

// The visit of the one that waits is counted; those of its helpers nest in it.
Helping::Helping(bool one_inside) noexcept : one_inside_(one_inside) {
  if (one_inside_) ++depth;
}
Helping::~Helping() {
  if (one_inside_) --depth;
}

void rests_with_its_owner() { has_an_owner = true; }

void keep(const std::shared_ptr<void>& object, Rest rest) {
  State& all = state();
  {
    const std::lock_guard lock(all.mutex);
    std::erase_if(all.kept, [](const Kept& it) { return it.object.expired(); });
    all.kept.push_back({object, std::move(rest)});
  }
  static const bool stays = (stay_loaded(), true);
  (void)stays;
  renew();
}

void renew() {
  std::atexit(at_end);
  if (std::this_thread::get_id() == main_thread) (void)&at_its_end;  // made now, gone with the thread
}

}  // namespace adit::process_end
