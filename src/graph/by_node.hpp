// What is known of tensors, by their nodes: for walks that hand tensors on (support/answers.hpp).
#pragma once

#include <unordered_map>

#include "graph/node.hpp"

namespace adit::graph {

template <class Answer>
class ByNode {
 public:
  bool contains(const Tensor& x) const { return known_.contains(&node_of(x)); }
  Answer& at(const Tensor& x) { return known_.at(&node_of(x)); }
  const Answer& at(const Tensor& x) const { return known_.at(&node_of(x)); }
  void insert_or_assign(const Tensor& x, Answer answer) {
    known_.insert_or_assign(&node_of(x), std::move(answer));
  }
  void clear() { known_.clear(); }

 private:
  std::unordered_map<const Node*, Answer> known_;
};

}  // namespace adit::graph
