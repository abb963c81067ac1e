#include "device/vulkan/dispatcher.hpp"

#include <cstring>
#include <fmt/format.h>

#include "support/log.hpp"
#include "support/process_end.hpp"

namespace adit::vulkan {

using Clock = std::chrono::steady_clock;

namespace {

enum class Kind : uint32_t { run, copy, fill, write };
// A hundred commands or two; then callers wait. The recorder keeps pace with the device, and so do they:
// nobody can take back what is queued.
constexpr size_t most_words = size_t{1} << 11;

constexpr size_t words_for(size_t bytes) { return (bytes + 7) / 8; }

template <class T>
T read_as(const uint64_t* words) {
  T value{};
  std::memcpy(static_cast<void*>(&value), words, sizeof value);
  return value;
}

}  // namespace

// A command in the list: header, command, touches, data, each padded to whole words.
struct Dispatcher::Header {
  Kind kind;
  uint32_t touches;
  uint64_t data_bytes;
};

struct Dispatcher::Run {
  static constexpr Kind kind = Kind::run;  // of the next in the list of pipelines
  uint32_t groups_x, groups_y;
};

struct Dispatcher::Write {
  static constexpr Kind kind = Kind::write;
  VkBuffer to;
  uint64_t offset;
};

namespace {

template <class Command>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<Command, CopyRegion>)
    return Kind::copy;
  else if constexpr (std::is_same_v<Command, FillRegion>)
    return Kind::fill;
  else
    return Command::kind;
}

}  // namespace

Dispatcher::Dispatcher(std::shared_ptr<Core> core)
    : core_(std::move(core)),
      patience_(Patience::of_this_host()),
      timeline_(core_),
      recorder_(core_, timeline_, lost_),
      thread_([this] { loop(); }) {}

Dispatcher::~Dispatcher() { finish(); }

void Dispatcher::finish() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

template <class Command>
Ticket Dispatcher::push(const Command& command, std::span<const Use> uses, std::span<const std::byte> data,
                        const PipelineHandle& pipeline) {
  const size_t command_words = words_for(sizeof(Command));
  const size_t touch_words = words_for(sizeof(Touch)) * uses.size();
  const Header header{kind_of<Command>(), static_cast<uint32_t>(uses.size()), data.size()};
  const process_end::Visit visit;
  visit.expect();
  std::unique_lock lock(mutex_);
  if (words_.size() > most_words) room_.wait(lock, [&] { return words_.size() <= most_words || lost(); });
  if (lost()) throw Error(ErrorKind::device_lost, lost_message_);
  if (pipeline) pipelines_.push_back(pipeline);
  const size_t start = words_.size();
  try {
    words_.resize(start + words_for(sizeof header) + command_words + touch_words + words_for(data.size()));
  } catch (...) {  // each pipeline belongs to a command
    if (pipeline) pipelines_.pop_back();
    throw;
  }
  uint64_t* at = words_.data() + start;
  std::memcpy(at, &header, sizeof header);
  at += words_for(sizeof header);
  std::memcpy(at, &command, sizeof command);
  at += command_words;
  const Ticket ticket = pushed_.load(std::memory_order_relaxed) + 1;
  for (const Use& use : uses) {
    std::memcpy(at, &use.touch, sizeof(Touch));
    at += words_for(sizeof(Touch));
    if (use.chunk) use.chunk->stamp.store(ticket, std::memory_order_relaxed);
  }
  if (!data.empty()) std::memcpy(at, data.data(), data.size());
  pushed_.store(ticket, std::memory_order_release);
  const bool wake = sleeping_;
  lock.unlock();
  if (wake) wake_.notify_one();
  return ticket;
}

Ticket Dispatcher::run(const PipelineHandle& pipeline, uint32_t groups_x, uint32_t groups_y,
                       std::span<const std::byte> block, std::span<const Use> uses) {
  return push(Run{groups_x, groups_y}, uses, block, pipeline);
}
Ticket Dispatcher::copy(const CopyRegion& region, std::span<const Use> uses) {
  return push(region, uses, {});
}
Ticket Dispatcher::fill(const FillRegion& region, std::span<const Use> uses) {
  return push(region, uses, {});
}
Ticket Dispatcher::write(VkBuffer to, uint64_t offset, std::span<const std::byte> data,
                         std::span<const Use> uses) {
  return push(Write{to, offset}, uses, data);
}

// Asks that everything up to the ticket starts.
void Dispatcher::request(Ticket ticket) {
  Ticket known = wanted_.load(std::memory_order_relaxed);
  while (known < ticket && !wanted_.compare_exchange_weak(known, ticket, std::memory_order_seq_cst)) {
  }
  if (known >= ticket) return;
  std::unique_lock lock(mutex_);
  if (!sleeping_) return;
  lock.unlock();
  wake_.notify_one();
}

void Dispatcher::flush() {
  check_alive();
  request(last());
}

void Dispatcher::wait(Ticket ticket) {
  check_alive();
  if (timeline_.completed() >= ticket) return;
  request(ticket);
  try {
    if (timeline_.wait(ticket, lost_)) return;
  } catch (const Error&) {
    suspect_and_throw();
  }
  throw_lost();
}

bool Dispatcher::is_done(Ticket ticket) noexcept {
  if (lost()) return true;
  try {
    return timeline_.reached(ticket);
  } catch (const std::exception& problem) {
    log_debug("vulkan: {}", problem.what());
    return false;
  }
}

void Dispatcher::settle() noexcept {
  try {
    wait(last());
  } catch (const std::exception& problem) {
    log_debug("vulkan: {}", problem.what());
  }
}

void Dispatcher::settle_and_sleep() noexcept {
  settle();
  std::unique_lock lock(mutex_);
  asleep_.wait(lock, [&] { return (sleeping_ && !has_work()) || stop_ || lost(); });
}

// A waiter met a failure of the driver: the thread knows which kernels were in flight and writes the message.
void Dispatcher::suspect_and_throw() {
  std::unique_lock lock(mutex_);
  suspected_ = true;
  wake_.notify_one();
  news_.wait(lock, [&] { return lost(); });
  throw Error(ErrorKind::device_lost, lost_message_);
}

void Dispatcher::throw_lost() const {
  std::lock_guard lock(mutex_);
  throw Error(ErrorKind::device_lost, lost_message_);
}

void Dispatcher::become_lost(const std::string& why) {
  std::unique_lock lock(mutex_);
  if (lost()) return;
  lost_message_ = fmt::format("[{}] device: lost ({}); kernels in flight: {}; open the device again",
                              core_->physical().info.id, why, recorder_.kernels_in_flight());
  log_info("vulkan: {}", lost_message_);
  lost_.store(true, std::memory_order_release);
  room_.notify_all();
  news_.notify_all();
  asleep_.notify_all();
  lock.unlock();
  timeline_.wake();
}

bool Dispatcher::has_work() const {
  return pushed_.load(std::memory_order_acquire) != taken_ || stop_.load(std::memory_order_relaxed) ||
         (!lost() && (suspected_.load(std::memory_order_relaxed) ||
                      wanted_.load(std::memory_order_relaxed) > recorder_.submitted()));
}

// The mutex is held: nobody can push between the last look and the sleep.
void Dispatcher::sleep(std::unique_lock<std::mutex>& lock) {
  constexpr auto pause = std::chrono::milliseconds(500);
  sleeping_ = true;
  asleep_.notify_all();
  auto ready = [&] { return has_work(); };
  if (!idle_wanted_.load(std::memory_order_acquire)) {
    wake_.wait(lock, ready);
  } else if (!wake_.wait_for(lock, pause, ready)) {
    idle_wanted_ = false;
    sleeping_ = false;
    lock.unlock();
    if (const process_end::Visit visit; visit && on_idle) on_idle();
    lock.lock();
  }
  sleeping_ = false;
}

// Spins a while, then sleeps until there is something to do; false when it is time to end.
bool Dispatcher::take(Commands& commands) {
  std::vector<uint64_t>& words = commands.words;
  words.clear();
  commands.pipelines.clear();
  const Clock::time_point until = Clock::now() + patience_.dispatcher;
  while (!has_work() && Clock::now() < until) relax();
  if (!has_work() && !lost()) {
    const process_end::Visit visit;
    recorder_.submit();  // nothing waits while this thread sleeps
    note_submission();
  }
  std::unique_lock lock(mutex_);
  if (!has_work()) sleep(lock);
  const bool was_full = words_.size() > most_words;
  words.swap(words_);
  commands.pipelines.swap(pipelines_);
  taken_ = pushed_.load(std::memory_order_relaxed);
  if (was_full) room_.notify_all();
  return !(words.empty() && stop_);
}

void Dispatcher::record(const Commands& commands) {
  const std::vector<uint64_t>& words = commands.words;
  auto pipeline = commands.pipelines.begin();
  std::vector<Touch> touches;
  const uint64_t* at = words.data();
  const uint64_t* const end = at + words.size();
  while (at != end) {
    const Header header = read_as<Header>(at);
    kinds_ |= 1u << static_cast<uint32_t>(header.kind);
    const uint64_t* const command = at + words_for(sizeof header);
    size_t command_words = 0;
    switch (header.kind) {
      case Kind::run: command_words = words_for(sizeof(Run)); break;
      case Kind::copy: command_words = words_for(sizeof(CopyRegion)); break;
      case Kind::fill: command_words = words_for(sizeof(FillRegion)); break;
      case Kind::write: command_words = words_for(sizeof(Write)); break;
    }
    at = command + command_words;
    touches.resize(header.touches);
    if (header.touches) std::memcpy(static_cast<void*>(touches.data()), at, sizeof(Touch) * header.touches);
    at += words_for(sizeof(Touch)) * header.touches;
    const std::span<const std::byte> data(reinterpret_cast<const std::byte*>(at), header.data_bytes);
    at += words_for(header.data_bytes);
    switch (header.kind) {
      case Kind::run: {
        const Run run = read_as<Run>(command);
        recorder_.run(*pipeline++, run.groups_x, run.groups_y, data, touches);
        break;
      }
      case Kind::copy: recorder_.copy(read_as<CopyRegion>(command), touches); break;
      case Kind::fill: recorder_.fill(read_as<FillRegion>(command), touches); break;
      case Kind::write: {
        const Write write = read_as<Write>(command);
        recorder_.write(write.to, write.offset, data, touches);
        break;
      }
    }
  }
}

// Whatever a driver does for the first time, it does with new kernels or new kinds of commands.
void Dispatcher::note_submission() {
  const bool new_kinds = (kinds_ & ~known_kinds_) != 0;
  known_kinds_ |= kinds_;
  if (new_kernels_.load(std::memory_order_relaxed) ? new_kernels_.exchange(false) || new_kinds : new_kinds)
    process_end::renew();
}

void Dispatcher::last_calls() {
  const process_end::Visit visit;
  if (!lost()) core_->calls.device_wait_idle(core_->handle());
  if (!lost()) recorder_.print_times();
  if (on_idle) on_idle();
}

void Dispatcher::loop() {
  process_end::rests_with_its_owner();
  Commands commands;
  bool more = true;
  while (more) {
    try {
      more = take(commands);
      const process_end::Visit visit;
      if (lost()) continue;  // nothing can run any more
      if (suspected_) throw Error(ErrorKind::device_lost, "the driver reported it to a waiter");
      record(commands);
      if (!more || wanted_.load(std::memory_order_acquire) > recorder_.submitted()) recorder_.submit();
      note_submission();
      if (!more) timeline_.wait(recorder_.submitted(), lost_);
    } catch (const std::exception& problem) {
      become_lost(problem.what());
    }
  }
  last_calls();
}

}  // namespace adit::vulkan
