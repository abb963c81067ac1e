#include "device/pool.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <utility>

#include <adit/error.hpp>

namespace adit {
namespace {

constexpr uint64_t smallest = 256;
constexpr uint64_t large = uint64_t{16} << 20;
constexpr uint64_t large_step = uint64_t{2} << 20;

constexpr uint64_t round_up(uint64_t bytes, uint64_t step) { return (bytes + step - 1) / step * step; }

}  // namespace

uint64_t Pool::rounded(uint64_t bytes) {
  if (bytes > (uint64_t{1} << 60)) return bytes;  // refused later; only keep the sum from wrapping
  if (bytes >= large) return round_up(bytes, large_step);
  if (bytes <= 4 * smallest) return round_up(std::max<uint64_t>(bytes, 1), smallest);
  return round_up(bytes, std::bit_floor(bytes - 1) / 4);
}

Pool::Pool(std::unique_ptr<BlockSource> source, PoolOptions options)
    : source_(std::move(source)), options_(options) {}

Pool::~Pool() {
  for (auto& held : held_) {
    for (Chunk* chunk = held->first; chunk != nullptr;) delete std::exchange(chunk, chunk->after_);
    source_->release(held->block);
  }
}

// Bins hold chunks of at least their class: index floor(4 log2) in steps of a quarter octave.
int Pool::bin_of(uint64_t bytes) {
  const int octave = static_cast<int>(std::bit_width(std::max(bytes, smallest))) - 1;
  return std::min(bins - 1, (octave - 8) * 4 + static_cast<int>((bytes >> (octave - 2)) & 3));
}

void Pool::link(Chunk* chunk) {
  const int bin = bin_of(chunk->bytes);
  chunk->free_ = true;
  chunk->previous_ = nullptr;
  chunk->next_ = bin_[bin];
  if (chunk->next_) chunk->next_->previous_ = chunk;
  bin_[bin] = chunk;
  occupied_[bin / 64] |= uint64_t{1} << (bin % 64);
}

void Pool::unlink(Chunk* chunk) {
  const int bin = bin_of(chunk->bytes);
  if (chunk->previous_) chunk->previous_->next_ = chunk->next_;
  if (chunk->next_) chunk->next_->previous_ = chunk->previous_;
  if (bin_[bin] == chunk) bin_[bin] = chunk->next_;
  if (bin_[bin] == nullptr) occupied_[bin / 64] &= ~(uint64_t{1} << (bin % 64));
  chunk->free_ = false;
  if (chunk->is_empty_) bytes_empty_ -= chunk->bytes;
  chunk->is_empty_ = false;
}

// The first free chunk that is large enough, smallest bin first. A small request does not break up a block
// that was made for a large one, unless there is no other way (`any`).
Pool::Chunk* Pool::find(uint64_t need, bool any) const {
  for (int bin = bin_of(need); bin < bins; ++bin) {
    const uint64_t rest = occupied_[bin / 64] >> (bin % 64);
    if (rest == 0) {
      bin |= 63;
      continue;
    }
    bin += std::countr_zero(rest);
    int looked = 0;
    for (Chunk* chunk = bin_[bin]; chunk != nullptr && (any || looked < 32); chunk = chunk->next_, ++looked) {
      const bool spares = any || !chunk->held_->own || need >= chunk->held_->block.bytes / 4;
      if (chunk->bytes >= need && spares) return chunk;
    }
  }
  return nullptr;
}

Pool::Chunk* Pool::take(uint64_t need, bool any) {
  Chunk* chunk = find(need, any);
  if (chunk == nullptr) return nullptr;
  unlink(chunk);
  if (chunk->bytes - need >= smallest) {
    auto* rest = new Chunk;
    rest->address = chunk->address + need;
    rest->bytes = chunk->bytes - need;
    rest->stamp.store(chunk->stamp.load(std::memory_order_relaxed), std::memory_order_relaxed);
    rest->held_ = chunk->held_;
    rest->free_since_ = chunk->free_since_;
    rest->before_ = chunk;
    rest->after_ = chunk->after_;
    if (rest->after_) rest->after_->before_ = rest;
    chunk->after_ = rest;
    chunk->bytes = need;
    link(rest);
  }
  ++statistics_.allocations;
  statistics_.bytes_in_use += chunk->bytes;
  statistics_.bytes_peak = std::max(statistics_.bytes_peak, statistics_.bytes_in_use);
  return chunk;
}

Pool::Chunk* Pool::allocate(uint64_t bytes) {
  if (bytes > options_.largest_request)
    fail(bytes, fmt::format("the largest allocation of this device is {} bytes", options_.largest_request));
  const uint64_t need = std::min(rounded(bytes), options_.largest_request);
  if (Chunk* chunk = take_from_shelf(need)) return chunk;
  {
    std::lock_guard lock(mutex_);
    if (Chunk* chunk = take(need, false)) return chunk;
  }
  std::lock_guard growing(growth_);
  clear_shelves();
  {
    std::lock_guard lock(mutex_);  // another thread may have grown the pool meanwhile
    if (Chunk* chunk = take(need, false)) return chunk;
  }
  return grow(need, bytes);
}

// Asks the source, in this order: for a comfortable block, for just enough, and after giving back what is
// free, for just enough again.
Pool::Chunk* Pool::grow(uint64_t need, uint64_t asked) {
  const uint64_t held = statistics().bytes_held;
  const uint64_t shared =
      std::min(std::clamp(round_up(held / 2, large_step), options_.first_block, options_.largest_block),
               options_.largest_request);
  const bool own = need > shared / 4;
  const auto obtain = [&](uint64_t bytes) {
    const std::lock_guard lock(source_mutex_);
    return source_->obtain(bytes);
  };
  std::optional<Block> block = obtain(own ? need : shared);
  if (!block && !own) block = obtain(need);
  if (!block) {
    std::lock_guard lock(mutex_);
    if (Chunk* chunk = take(need, true)) return chunk;
  }
  if (!block) {
    trim();
    block = obtain(need);
  }
  if (!block) fail(asked, "the device has no more");
  return adopt(*block, own, need);
}

Pool::Chunk* Pool::adopt(const Block& block, bool own, uint64_t need) {
  auto held = std::make_unique<Held>();
  held->block = block;
  held->own = own;
  auto* chunk = new Chunk;
  chunk->address = block.base;
  chunk->bytes = block.bytes;
  chunk->held_ = held.get();
  chunk->free_since_ = rest::Clock::now();
  held->first = chunk;
  std::lock_guard lock(mutex_);
  held_.push_back(std::move(held));
  ++statistics_.blocks;
  statistics_.bytes_held += block.bytes;
  link(chunk);
  return take(need, true);
}

// Takes the free chunk that follows into this one.
void Pool::join_after(Chunk* chunk) {
  Chunk* gone = chunk->after_;
  chunk->bytes += gone->bytes;
  chunk->after_ = gone->after_;
  if (chunk->after_) chunk->after_->before_ = chunk;
  const uint64_t stamp =
      std::max(chunk->stamp.load(std::memory_order_relaxed), gone->stamp.load(std::memory_order_relaxed));
  chunk->stamp.store(stamp, std::memory_order_relaxed);
  delete gone;
}

// The bin of a size that pool gives out holds nothing smaller than it.
Pool::Chunk* Pool::take_from_shelf(uint64_t need) {
  const int bin = bin_of(need);
  if (bin >= shelf_bins) return nullptr;
  Shelf& shelf = shelves_.mine();
  const std::lock_guard lock(shelf.lock);
  if (shelf.count[bin] == 0) return nullptr;
  Chunk* chunk = shelf.chunks[bin][--shelf.count[bin]];
  ++shelf.taken;
  shelf.bytes -= chunk->bytes;
  return chunk;
}

bool Pool::put_on_shelf(Chunk* chunk) {
  const int bin = bin_of(chunk->bytes);
  if (bin >= shelf_bins) return false;
  Shelf& shelf = shelves_.mine();
  const std::lock_guard lock(shelf.lock);
  if (shelf.count[bin] == shelf_depth) return false;
  shelf.chunks[bin][shelf.count[bin]++] = chunk;
  shelf.bytes += chunk->bytes;
  return true;
}

void Pool::clear_shelves() {
  shelves_.each([&](Shelf& shelf) {
    const std::lock_guard shelf_lock(shelf.lock);
    const std::lock_guard lock(mutex_);
    for (int bin = 0; bin < shelf_bins; ++bin)
      while (shelf.count[bin] > 0) join(shelf.chunks[bin][--shelf.count[bin]]);
    shelf.bytes = 0;
  });
}

void Pool::release(Chunk* chunk) {
  if (!put_on_shelf(chunk)) {
    const std::lock_guard lock(mutex_);
    join(chunk);
  }
  if (!watched_.load(std::memory_order_relaxed)) watch();
}

// Once for all that rests, until give_back() has looked.
void Pool::watch() {
  if (watched_.exchange(true)) return;
  if (const std::weak_ptr<Pool> self = weak_from_this(); !self.expired())
    rest::watch(self, rest::Clock::now() + options_.rest);
}

void Pool::join(Chunk* chunk) {
  statistics_.bytes_in_use -= chunk->bytes;
  put_back(chunk);
}

void Pool::put_back(Chunk* chunk) {
  if (chunk->after_ && chunk->after_->free_) {
    unlink(chunk->after_);
    join_after(chunk);
  }
  if (chunk->before_ && chunk->before_->free_) {
    chunk = chunk->before_;
    unlink(chunk);
    join_after(chunk);
  }
  link(chunk);
  if (chunk->bytes >= least_emptied || chunk->held_->is_free())
    chunk->free_since_ = chunk->held_->free_since = rest::Clock::now();
}

// A free chunk of that size or more.
template <class F>
Pool::Chunk* Pool::find_free(uint64_t least, const F& wanted) const {
  for (int bin = bin_of(least); bin < bins; ++bin)
    for (Chunk* chunk = bin_[bin]; chunk != nullptr; chunk = chunk->next_)
      if (wanted(*chunk)) return chunk;
  return nullptr;
}

// Free blocks that are chosen, taken out of the pool.
std::vector<std::unique_ptr<Pool::Held>> Pool::detach_free(const std::function<bool(const Held&)>& chosen) {
  std::vector<std::unique_ptr<Held>> gone;
  const std::lock_guard lock(mutex_);
  for (auto& held : held_) {
    if (!held->is_free() || !chosen(*held)) continue;
    unlink(held->first);
    statistics_.bytes_held -= held->block.bytes;
    gone.push_back(std::move(held));
  }
  std::erase(held_, nullptr);
  return gone;
}

uint64_t Pool::give_to_source(std::vector<std::unique_ptr<Held>> gone) {
  uint64_t bytes = 0;
  for (auto& held : gone) {
    bytes += held->block.bytes;
    delete held->first;
    const std::lock_guard lock(source_mutex_);
    source_->release(held->block);
  }
  return bytes;
}

uint64_t Pool::trim() {
  const std::lock_guard trimming(trimming_);
  clear_shelves();
  auto gone = detach_free([](const Held&) { return true; });
  uint64_t bytes = 0;
  if (!gone.empty()) {
    source_->settle();  // queued work may still use what its owner has dropped
    bytes = give_to_source(std::move(gone));
  }
  if (source_->empties()) empty_older(rest::Clock::time_point::max());
  return bytes;
}

// Since when something rests that could go back.
std::optional<rest::Clock::time_point> Pool::oldest_free() const {
  std::optional<rest::Clock::time_point> oldest;
  const auto note = [&](rest::Clock::time_point since) {
    oldest = oldest ? std::min(*oldest, since) : since;
  };
  const std::lock_guard lock(mutex_);
  for (const auto& held : held_)
    if (held->is_free()) note(held->free_since);
  if (source_->empties())
    find_free(least_emptied, [&](const Chunk& chunk) {
      if (chunk.may_be_emptied()) note(chunk.free_since_);
      return false;
    });
  return oldest;
}

// Large parts of blocks that are in use elsewhere, one by one: meanwhile the part counts as taken.
void Pool::empty_older(rest::Clock::time_point before) {
  for (;;) {
    Chunk* chunk = nullptr;
    {
      const std::lock_guard lock(mutex_);
      chunk = find_free(least_emptied, [&](const Chunk& one) {
        return one.may_be_emptied() && one.free_since_ <= before &&
               source_->is_done(one.stamp.load(std::memory_order_relaxed));
      });
      if (chunk == nullptr) return;
      unlink(chunk);
    }
    const bool is_empty = source_->empty(chunk->block(), chunk->offset(), chunk->bytes);
    const std::lock_guard lock(mutex_);
    const bool is_alone =
        !(chunk->before_ && chunk->before_->free_) && !(chunk->after_ && chunk->after_->free_);
    if (!is_empty || !is_alone) {
      put_back(chunk);  // it rests anew
      if (!is_empty) return;
      continue;
    }
    link(chunk);
    chunk->is_empty_ = true;
    bytes_empty_ += chunk->bytes;
  }
}

// Blocks that are free since `before`, unless queued work still uses one of them.
void Pool::give_back_older(rest::Clock::time_point before) {
  uint64_t last = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& held : held_)
      if (held->is_free() && held->free_since <= before)
        last = std::max(last, held->first->stamp.load(std::memory_order_relaxed));
  }
  if (source_->is_done(last))
    give_to_source(detach_free([&](const Held& held) { return held.free_since <= before; }));
}

std::optional<rest::Clock::time_point> Pool::give_back(rest::Clock::time_point now) {
  const std::lock_guard trimming(trimming_);
  clear_shelves();
  const rest::Clock::time_point before = now - options_.rest;
  auto oldest = oldest_free();
  if (oldest && *oldest <= before) {
    give_back_older(before);
    if (source_->empties()) empty_older(before);
    oldest = oldest_free();
  }
  if (!oldest) {
    watched_ = false;
    oldest = oldest_free();  // a release meanwhile took this for watched
    if (!oldest || watched_.exchange(true)) return std::nullopt;
  }
  return std::max(*oldest + options_.rest, now + options_.rest / 5);
}

void Pool::close() {
  const std::lock_guard trimming(trimming_);
  source_->close();
}

PoolStatistics Pool::statistics() const {
  PoolStatistics now;
  {
    std::lock_guard lock(mutex_);
    now = statistics_;
    now.bytes_held -= bytes_empty_;
  }
  shelves_.each([&](Shelf& shelf) {
    const std::lock_guard lock(shelf.lock);
    now.allocations += shelf.taken;
    now.bytes_in_use -= std::min(shelf.bytes, now.bytes_in_use);  // threads may be at it
  });
  return now;
}

void Pool::fail(uint64_t asked, const std::string& why) const {
  const PoolStatistics now = statistics();
  throw Error(
      ErrorKind::out_of_memory,
      fmt::format("[allocate] bytes: expected what the device has room for, got {}: {} ({} in use, {} held)",
                  asked, why, now.bytes_in_use, now.bytes_held));
}

}  // namespace adit
