// What a step moves and computes, for people who ask why it takes the time it takes.
#pragma once

#include <map>

#include "compile/kernels.hpp"
#include "compile/partition.hpp"

namespace adit::compile {

struct Cost {
  uint64_t bytes = 0;  // between memory and the device, each element once even where a cache serves it again
  double operations = 0;    // of arithmetic: the rows' costs, an addition being 1
  DType type = DType::f32;  // the widest that is computed with
};

// What a kernel does to a tensor: a parameter that is declared may still not be used.
struct Use {
  const Node* node = nullptr;
  bool reads = false, writes = false;
};
std::vector<Use> uses_of(const Work& work);  // kernels only

// A group's nodes, counted: how many of their elements its kernel computes or reads.
class GroupCount {
 public:
  GroupCount(const Group& group, const Partition& partition);
  double operations() const { return operations_; }
  double row_operations() const { return row_operations_; }  // of those, what is done once a row
  // A tensor in memory: elements that are read, at most all of it, except that gathers count by their
  // indices.
  uint64_t read_bytes(const Node& node) const;
  DType type() const { return type_; }

 private:
  struct Times {
    double here = 0;      // at the place where its readers are: one value serves them all
    double moved = 0;     // at other places
    double gathered = 0;  // at places that only the data tell
    double total() const { return here + moved + gathered; }
  };
  void count(const Node& node, const Times& times, const Group& group);
  void reach(const Node& node);

  std::map<uint64_t, std::pair<const Node*, Times>, std::greater<>> open_;  // youngest first
  std::map<const Node*, Times> reads_;
  double operations_ = 0, row_operations_ = 0;
  DType type_ = DType::f32;
};

// `launch`: which of the group's pieces of work it is; `last` is the number of the last one.
Cost cost_of(const Work& work, const Group& group, const Partition& partition, size_t launch, size_t last);

// Several groups by one team: what they compute, and every tensor they touch.
Cost cost_of_team(const Work& work, const std::vector<const Group*>& groups, const Partition& partition);

}  // namespace adit::compile
