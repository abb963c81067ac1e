// What every writer of elements into a kernel needs: which of them it knows already, and constants.
#pragma once

#include <unordered_map>
#include <vector>

#include "graph/index.hpp"
#include "graph/row.hpp"
#include "support/hash.hpp"

namespace adit::lower {

// A constant, or a number that is part of the structure.
graph::Scalar literal(kernel::Builder& builder, const graph::Node& node);
// Rounds as memory of that type would: halves are computed in f32.
graph::Scalar rounded(const graph::Scalar& value, DType type);
// Elements that were written, by node and place, in scopes that lie inside of each other: what is computed
// inside of a block of the kernel may not be used outside of it. A number tells places apart; `Kept` is
// whatever must live as long as that number means the place.
template <class Kept = graph::None>
class Memo {
 public:
  const graph::Scalar* find(const graph::Node& node, uint64_t place) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
      if (const auto found = scope->find({&node, place}); found != scope->end()) return &found->second.value;
    return nullptr;
  }
  void add(const graph::Node& node, uint64_t place, const graph::Scalar& value, Kept kept = {}) {
    scopes_.back()[{&node, place}] = {value, std::move(kept)};
  }
  void clear() { scopes_.assign(1, {}); }

  class Scope {
   public:
    explicit Scope(Memo& memo) : memo_(memo) { memo_.scopes_.emplace_back(); }
    ~Scope() { memo_.scopes_.pop_back(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Memo& memo_;
  };

 private:
  using Key = std::pair<const graph::Node*, uint64_t>;
  struct KeyHash {
    size_t operator()(const Key& key) const {
      return hash64(key.second, reinterpret_cast<uintptr_t>(key.first));
    }
  };
  struct Entry {
    graph::Scalar value;
    Kept kept;
  };
  std::vector<std::unordered_map<Key, Entry, KeyHash>> scopes_{1};
};

}  // namespace adit::lower
