// Teams that wait for words of others. They take tickets, so that those that a team waits for have begun.
#pragma once

#include <functional>
#include <vector>

#include <adit/kernel/builder.hpp>

namespace adit::ops {

// Which of the launch's teams, in the order in which they began, this one is; the first of `words`, 0 to
// begin with, counts them. `ticket` is shared memory; one barrier.
inline kernel::Value take_ticket(kernel::Builder& k, const kernel::Array& words, const kernel::Array& ticket,
                                 kernel::Value lane) {
  const kernel::Value first = lane.like(0);
  k.if_(lane == 0, [&] { ticket[first] = words.atomic_add(first, lane.like(1)); });
  k.barrier();
  return ticket[first];
}

// Looks at `count` words until all are there.
inline std::vector<kernel::Value> wait_for_words(
    kernel::Builder& k, size_t count, const std::function<kernel::Value(size_t)>& look,
    const std::function<kernel::Value(kernel::Value)>& is_there) {
  std::vector<kernel::Variable> seen;
  for (size_t i = 0; i < count; ++i) seen.push_back(k.variable(look(i)));
  k.while_(
      [&] {
        kernel::Value waits = !is_there(seen[0].get());
        for (size_t i = 1; i < count; ++i) waits = waits || !is_there(seen[i].get());
        return waits;
      },
      [&] {
        for (size_t i = 0; i < count; ++i) seen[i] = look(i);
      });
  std::vector<kernel::Value> found;
  for (const kernel::Variable& word : seen) found.push_back(word.get());
  return found;
}

}  // namespace adit::ops
