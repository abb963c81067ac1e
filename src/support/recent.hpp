// A map that keeps what was used last: with a bound on how many, so that endless new keys do not fill memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <utility>

namespace adit {

// Not thread-safe, but for losses().
template <class Key, class Value>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  // Null where it is not known. What is found counts as used.
  const Value* find(const Key& key) {
    const auto it = places_.find(key);
    if (it == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, it->second);
    return &it->second->second;
  }
  // Lets go of the one that was used longest ago when there are too many.
  void insert(const Key& key, Value value) {
    if (const auto it = places_.find(key); it != places_.end()) lose(it->second);
    entries_.emplace_front(key, std::move(value));
    places_[key] = entries_.begin();
    shrink();
  }
  void clear() {
    entries_.clear();
    places_.clear();
    ++losses_;
  }
  void set_most(size_t most) {
    most_ = most;
    shrink();
  }
  size_t most() const { return most_; }
  size_t size() const { return places_.size(); }
  // Grows whenever something is let go of: what a copy of an entry is worth may have changed.
  uint64_t losses() const { return losses_; }

 private:
  using Entries = std::list<std::pair<Key, Value>>;  // used last comes first

  void shrink() {
    while (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      lose(std::prev(entries_.end()));
    }
  }
  void lose(typename Entries::iterator entry) {
    entries_.erase(entry);
    ++losses_;
  }

  size_t most_;
  std::atomic<uint64_t> losses_{0};
  Entries entries_;
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace adit
