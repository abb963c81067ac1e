// A map that keeps what was used last: with a bound on how many, so that endless new keys do not fill memory.
#pragma once

#include <list>
#include <map>
#include <utility>

namespace adit {

// Not thread-safe.
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
    if (const auto it = places_.find(key); it != places_.end()) entries_.erase(it->second);
    entries_.emplace_front(key, std::move(value));
    places_[key] = entries_.begin();
    shrink();
  }
  void set_most(size_t most) {
    most_ = most;
    shrink();
  }
  size_t most() const { return most_; }
  size_t size() const { return places_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;  // used last comes first

  void shrink() {
    while (entries_.size() > most_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
  }

  size_t most_;
  Entries entries_;
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace adit
