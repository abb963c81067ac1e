// A round of a loop as pieces of work for one team: what is computed in which order, and which new states
// may lie where the old ones lay.
#pragma once

#include <optional>
#include <unordered_map>

#include "compile/launch.hpp"

namespace adit::compile {

// What a round computes, as a graph.
struct Round {
  std::vector<Tensor> state;    // parameters that change from round to round
  std::vector<Tensor> next;     // their values after the round
  std::vector<Tensor> outputs;  // results that are kept of every round
  Tensor condition;             // of the round, from the state; none where the number of rounds is known
  Tensor number;                // an i64 that the graph may read: which round it is
};

struct RoundPlan {
  std::vector<Tensor> kept;  // all of the graph, so that it lives as long as the plan
  std::vector<const Node*> nodes;
  Partition parts;
  std::vector<const Group*> order;  // those that the condition needs come first
  size_t before = 0;                // how many these are
  // Where results lie: a root of a group, a state, or another parameter.
  const Node* condition = nullptr;
  std::vector<const Node*> state, next, outputs;
  std::unordered_map<const Node*, const Node*> in_place;  // from a root to the state whose memory it takes
  double work = 0;                                        // of the round, in additions
  int64_t largest = 1;                                    // what lanes can share at most
};

// None where the round is more than a team does in the time that launches would take.
std::optional<RoundPlan> plan_round(const Round& round, const Target& target);

}  // namespace adit::compile
