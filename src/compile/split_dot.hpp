// Products that a loop of one team over elements reads: a lane that made a whole one would wait for each of
// its terms, and lanes without an element would wait for that one. So the terms are shared by the lanes.
#pragma once

#include <map>

#include "compile/launch.hpp"

namespace adit::compile {

// How many lanes a product of the group can use.
int64_t lanes_for_dots(const Group& group, const Partition& partition);
// What a team waits for its operands beyond the work itself, in additions: on an H200 a term takes a lane 5
// ns where 8 are loaded at once, a line of memory that a load meets
// takes it 0.55 ns, and a team makes 75 additions a nanosecond; a CPU's thread gathers rows.
double dot_waits(const Group& group, const Partition& partition, const Target& target);

// Shared memory for parts of products, which the pieces of a kernel use one after the other.
class DotRooms {
 public:
  DotRooms(kernel::Builder& k, uint32_t lanes, const Target& target)
      : k_(k), lanes_(lanes), target_(target) {}
  // The parts of the `which`-th product of a piece; none where there is no room.
  std::optional<kernel::Array> room(DType type, size_t which);
  uint32_t lanes() const { return lanes_; }
  const Target& target() const { return target_; }

 private:
  kernel::Builder& k_;
  uint32_t lanes_;
  const Target& target_;
  uint64_t bytes_ = 0;
  std::map<std::tuple<kernel::Type, bool, size_t>, kernel::Array> rooms_;
};

class SplitDots {
 public:
  // Before any block of the kernel is opened.
  SplitDots(const Group& group, const Partition& partition, DotRooms& rooms);
  // Ahead of the loop over the elements: all lanes make parts.
  void write_parts(Writer& writer);
  // Inside of it, at element i: the products stand for the sums of their parts.
  void fix_sums(Writer& writer, Value i);
  // For a group of one element: the products, by the whole team.
  void fix_whole(Writer& writer);

 private:
  struct Dot {
    const Node* node = nullptr;
    int64_t parts = 1;
    bool together = false;  // parts of one element are neighbours, as their terms are in memory
    int unrolled = 1;
    kernel::Array room;
  };
  Scalar part_of(Writer& writer, const Dot& dot, const Index& at, Value first);

  int64_t count_;
  std::vector<Dot> dots_;
};

}  // namespace adit::compile
