// A map that keeps what was used last: with a bound on how many or how much, so that endless new keys do not
// fill memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <iterator>
#include <list>
#include <map>
#include <utility>
#include <vector>

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
    return &it->second->value;
  }
  // Lets go of those that were used longest ago while there is too much. What weighs more than the bound is
  // kept alone.
  void insert(const Key& key, Value value, size_t weight = 1) {
    std::vector<Value> gone;
    insert(key, std::move(value), weight, gone);
  }
  // The same; what is let go of is given out, where it should not end under the caller's lock.
  void insert(const Key& key, Value value, size_t weight, std::vector<Value>& gone) {
    if (const auto it = places_.find(key); it != places_.end()) lose(it->second, gone);
    entries_.push_front({key, std::move(value), weight});
    places_[key] = entries_.begin();
    weight_ += weight;
    shrink(gone);
  }
  void clear() {
    entries_.clear();
    places_.clear();
    weight_ = 0;
    ++losses_;
  }
  void set_most(size_t most) {
    most_ = most;
    std::vector<Value> gone;
    shrink(gone);
  }
  size_t most() const { return most_; }
  size_t size() const { return places_.size(); }
  size_t weight() const { return weight_; }
  // Grows whenever something is let go of: what a copy of an entry is worth may have changed.
  uint64_t losses() const { return losses_; }

 private:
  struct Entry {
    Key key;
    Value value;
    size_t weight;
  };
  using Entries = std::list<Entry>;  // used last comes first

  void shrink(std::vector<Value>& gone) {
    while (weight_ > most_ && (places_.size() > 1 || most_ == 0)) lose(std::prev(entries_.end()), gone);
  }
  void lose(typename Entries::iterator entry, std::vector<Value>& gone) {
    places_.erase(entry->key);
    weight_ -= entry->weight;
    gone.push_back(std::move(entry->value));
    entries_.erase(entry);
    ++losses_;
  }

  size_t most_, weight_ = 0;
  std::atomic<uint64_t> losses_{0};
  Entries entries_;
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace adit
