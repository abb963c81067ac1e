// A row that is sorted on the CPU, and what is done to rows that stand in order already.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "ops/sort_host_keys.hpp"
#include "support/threads.hpp"

namespace adit::ops::sorting_on_host {

// x, values and places begin at the row's first element; its elements are `apart` from each other.
template <class K>
struct Row {
  const Keys& keys;
  const Loops<K>& loops;
  uint64_t length = 0, apart = 1;
  const K* x = nullptr;
  K* values = nullptr;
  int64_t* places = nullptr;

  // Chunks by which several threads share a row: more than threads, since some begin late.
  void share(uint64_t parts, const WorkRange& work) const {
    if (parts == 1) return work(0, length);
    parallel(static_cast<unsigned>(parts), length, (length / (4 * parts) / block + 1) * block, work);
  }

  void store(uint64_t i, uint64_t place) const {
    places[i * apart] = static_cast<int64_t>(place);
    if (values) values[i * apart] = x[place * apart];
  }

  Order find_order(uint64_t parts) const {
    if (parts == 1) return loops.find_order(x, apart, length, keys);
    const Order begin = loops.find_order(x, apart, std::min(length, block), keys);
    if (!begin.rises && !begin.falls) return begin;
    std::vector<Order> found(4 * parts);
    const uint64_t chunk = length / found.size() + 1;
    parallel(static_cast<unsigned>(parts), found.size(), 1, [&](uint64_t first, uint64_t last) {
      for (uint64_t part = first; part < last; ++part) {
        const uint64_t from = std::min(length, part * chunk), to = std::min(length, from + chunk + 1);
        found[part] = loops.find_order(x + from * apart, apart, to - from, keys);
      }
    });
    Order all;
    for (const Order& one : found) {
      all.rises = all.rises && one.rises;
      all.falls = all.falls && one.falls;
      all.sinks = all.sinks && one.sinks;
    }
    return all;
  }

  // Keys, where wanted, and what they are.
  Range<K> look(K* to, uint64_t parts) const {
    if (parts == 1) return loops.look(x, apart, length, keys, to);
    std::vector<Range<K>> found(4 * parts);
    const uint64_t chunk = length / found.size() + 1;
    parallel(static_cast<unsigned>(parts), found.size(), 1, [&](uint64_t first, uint64_t last) {
      for (uint64_t part = first; part < last; ++part) {
        const uint64_t from = std::min(length, part * chunk), end = std::min(length, from + chunk);
        found[part] = loops.look(x + from * apart, apart, end - from, keys, to ? to + from : nullptr);
      }
    });
    Range<K> all;
    for (const Range<K>& one : found) all.join(one);
    return all;
  }

  // It rises.
  void keep(uint64_t parts) const {
    share(parts, [&](uint64_t begin, uint64_t end) {
      if (places) {
        if (apart == 1)
          std::iota(places + begin, places + end, static_cast<int64_t>(begin));
        else
          for (uint64_t i = begin; i < end; ++i) places[i * apart] = static_cast<int64_t>(i);
        if (values)
          for (uint64_t i = begin; i < end; ++i) values[i * apart] = x[i * apart];
        return;
      }
      loops.put_same(x + begin * apart, apart, end - begin, keys, values + begin * apart);
    });
  }

  // It falls: the other way round, but equal ones in their own order.
  void reverse(bool sinks, uint64_t parts) const {
    if (places && !sinks) return reverse_runs();
    share(parts, [&](uint64_t begin, uint64_t end) {
      if (places) {
        for (uint64_t i = begin; i < end; ++i) places[i * apart] = static_cast<int64_t>(length - 1 - i);
        if (values)
          for (uint64_t i = begin; i < end; ++i) values[i * apart] = x[(length - 1 - i) * apart];
        return;
      }
      K some[block];
      for (uint64_t i = begin; i < end; i += block) {
        const uint64_t count = std::min(block, end - i);
        loops.put_keys(x + (length - i - count) * apart, apart, count, keys, some);
        std::reverse(some, some + count);
        loops.put_bits(some, apart, count, keys, values + i * apart);
      }
    });
  }

 private:
  void reverse_runs() const {
    const std::unique_ptr<K[]> all(new K[length]);
    loops.put_keys(x, apart, length, keys, all.get());
    for (uint64_t i = 0, end = length; end > 0;) {
      uint64_t begin = end - 1;
      while (begin > 0 && all[begin - 1] == all[begin]) --begin;
      for (uint64_t from = begin; from < end; ++from) store(i++, from);
      end = begin;
    }
  }
};

}  // namespace adit::ops::sorting_on_host
