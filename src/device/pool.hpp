// A pool of device memory: large blocks from a source, cut into chunks. Both devices use it.
//
// - Sizes are rounded up: four steps an octave, at least 256 bytes; from 16 MiB on, whole steps of 2 MiB.
// - A chunk that is given back joins its free neighbours and may be handed out again at once. Whoever runs
// work
//   asynchronously keeps such reuse safe with queue order, and looks at the chunk's `stamp` before the host
//   touches its bytes.
// - Small chunks rest on shelves first, one a thread, so that threads do not meet: what rests is free, but
// not
//   joined until the pool wants more from its source.
// - The steady state asks the source for nothing. Memory goes back to the source in trim(), when it runs
// short,
//   and when a whole block has rested for some seconds (rest.hpp).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "device/rest.hpp"
#include "support/spin_lock.hpp"
#include "support/thread_slot.hpp"

namespace adit {

// One piece of memory from the system or the driver.
struct Block {
  uint64_t base = 0;  // address as kernels see it
  uint64_t bytes = 0;
  std::byte* host = nullptr;  // where the host sees it, if it does
  void* handle = nullptr;     // the source's own
};

class BlockSource {
 public:
  virtual ~BlockSource() = default;
  virtual std::optional<Block> obtain(uint64_t bytes) = 0;  // nothing when memory is short
  virtual void release(const Block& block) = 0;
  // Returns when no queued work can touch memory that was given back before this call.
  virtual void settle() {}
  // Whether the work of this stamp is done; does not wait.
  virtual bool is_done(uint64_t) { return true; }
  // Takes the memory behind a part of a block that nobody uses, and keeps its address: what is written there
  // later comes with memory again. False: it cannot.
  virtual bool empty(const Block&, uint64_t, uint64_t) { return false; }
  virtual bool empties() const { return false; }
  // The device is closed: all of its work is done, and nobody settles any more.
  virtual void close() {}
};

struct PoolOptions {
  uint64_t first_block = uint64_t{64} << 20;
  uint64_t largest_block = uint64_t{1} << 30;  // of those that are cut up; a larger request has its own
  uint64_t largest_request = ~uint64_t{0};
  std::chrono::nanoseconds rest = std::chrono::seconds(5);  // of a free block before it is given back
};

struct PoolStatistics {
  uint64_t allocations = 0, blocks = 0, bytes_in_use = 0, bytes_held = 0, bytes_peak = 0;
};

class Pool : public rest::Keeper, public std::enable_shared_from_this<Pool> {
  struct Held;

 public:
  struct Chunk {
    uint64_t address = 0, bytes = 0;
    // The last queued work that touches these bytes; it outlives the chunk's owner.
    std::atomic<uint64_t> stamp{0};

    const Block& block() const;
    uint64_t offset() const { return address - block().base; }
    std::byte* host() const { return block().host ? block().host + offset() : nullptr; }

   private:
    friend class Pool;
    bool may_be_emptied() const { return free_ && !is_empty_ && bytes >= least_emptied && !held_->is_free(); }

    Held* held_ = nullptr;
    Chunk *before_ = nullptr, *after_ = nullptr;   // neighbours in the block
    Chunk *previous_ = nullptr, *next_ = nullptr;  // in the list of its bin
    rest::Clock::time_point free_since_;           // of those that are large
    bool free_ = false, is_empty_ = false;         // empty: without memory of its own
  };

  explicit Pool(std::unique_ptr<BlockSource> source, PoolOptions options = {});
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // Throws Error(out_of_memory) with the sizes when neither the pool nor the source has room.
  Chunk* allocate(uint64_t bytes);
  void release(Chunk* chunk);
  // Gives wholly free blocks back to the source, and empties what it can of others; returns the bytes of the
  // former.
  uint64_t trim();
  // The same for those that have rested, without waiting for anything. A pool that is shared is asked to by a
  // thread of the process.
  std::optional<rest::Clock::time_point> give_back(rest::Clock::time_point now) override;
  void close();  // the device's last call
  PoolStatistics statistics() const;

  static uint64_t rounded(uint64_t bytes);

 private:
  struct Held {
    Block block;
    Chunk* first = nullptr;
    bool own = false;  // made for one large request
    rest::Clock::time_point free_since;

    bool is_free() const { return first->free_ && first->after_ == nullptr; }
  };
  static constexpr int bins = 192;
  static constexpr uint64_t least_emptied = uint64_t{1} << 20;

  // A thread's few chunks of each small size.
  static constexpr int shelf_bins = 25, shelf_depth = 4;  // up to 16 KiB
  struct Shelf {
    SpinLock lock;
    std::array<std::array<Chunk*, shelf_depth>, shelf_bins> chunks;
    std::array<uint8_t, shelf_bins> count{};
    uint64_t taken = 0, bytes = 0;  // how often, and what rests now
  };
  Chunk* take_from_shelf(uint64_t need);
  bool put_on_shelf(Chunk* chunk);
  void clear_shelves();  // all that rests joins the rest of the pool

  static int bin_of(uint64_t bytes);
  void link(Chunk* chunk);
  void unlink(Chunk* chunk);
  Chunk* find(uint64_t need, bool any) const;
  Chunk* take(uint64_t need, bool any);
  Chunk* grow(uint64_t need, uint64_t asked);
  void join(Chunk* chunk);
  void put_back(Chunk* chunk);
  template <class F>
  Chunk* find_free(uint64_t least, const F& wanted) const;
  void watch();  // something rests
  Chunk* adopt(const Block& block, bool own, uint64_t need);
  void join_after(Chunk* chunk);
  std::vector<std::unique_ptr<Held>> detach_free(const std::function<bool(const Held&)>& chosen);
  std::optional<rest::Clock::time_point> oldest_free() const;
  void give_back_older(rest::Clock::time_point before);
  void empty_older(rest::Clock::time_point before);
  uint64_t give_to_source(std::vector<std::unique_ptr<Held>> gone);
  [[noreturn]] void fail(uint64_t asked, const std::string& why) const;

  mutable PerThread<Shelf> shelves_;
  std::unique_ptr<BlockSource> source_;
  PoolOptions options_;
  std::mutex growth_;        // one thread at a time asks the source for more
  std::mutex trimming_;      // while blocks go back
  std::mutex source_mutex_;  // one thread at a time is in the source
  std::atomic<bool> watched_{false};
  mutable SpinLock mutex_;  // everything below
  std::array<Chunk*, bins> bin_{};
  std::array<uint64_t, bins / 64> occupied_{};
  std::vector<std::unique_ptr<Held>> held_;
  PoolStatistics statistics_;  // in which what rests on shelves is in use, and what is empty is held
  uint64_t bytes_empty_ = 0;
};

inline const Block& Pool::Chunk::block() const { return held_->block; }

}  // namespace adit
