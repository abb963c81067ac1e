// Lists of operands, as the rules of control flow take them apart and join them.
#pragma once

#include "graph/derive.hpp"

namespace adit::graph {

inline const ControlAttributes& about(const Tensor& node) {
  return *node_of(node).as<std::shared_ptr<const ControlAttributes>>();
}

// Control flow of functions that were traced; parameters look like the operands, which the caller has
// checked.
Tensors cond_of(const Tensor& predicate, const Trace& on_true, const Trace& on_false,
                const Tensors& operands);
// `length`: rounds after which a loop is known to have ended; 0: that is not known.
Tensors while_of(Trace condition, const Trace& body, const Tensors& initial, int64_t length = 0);
Tensors while_loop(const std::function<Tensor(const Tensors&)>& condition, const Function& body,
                   const Tensors& initial, int64_t length);

template <class T>
std::vector<T> part(const std::vector<T>& list, size_t first, size_t count) {
  const auto begin = list.begin() + static_cast<int64_t>(first);
  return {begin, begin + static_cast<int64_t>(count)};
}
template <class T>
std::vector<T> after(const std::vector<T>& list, size_t first) {
  return part(list, first, list.size() - first);
}
template <class T, class... More>
std::vector<T> joined(std::vector<T> list, const More&... more) {
  (list.insert(list.end(), more.begin(), more.end()), ...);
  return list;
}

// The tensors of differentiable types among a list.
inline Tensors floats_of(const Tensors& list) {
  Tensors found;
  for (const Tensor& x : list)
    if (differentiable(x.dtype())) found.push_back(x);
  return found;
}

// Tangents or gradients of the floats of `like`, zeros in place of empty ones.
inline Tensors filled_floats(const Tensors& list, const Tensors& like) {
  Tensors found;
  for (size_t i = 0; i < like.size(); ++i)
    if (differentiable(like[i].dtype())) found.push_back(list[i] ? list[i] : zeros_for(slot_of(like[i])));
  return found;
}

// The other way: `floats` in the places of the floats of `like`, empty elsewhere.
inline Tensors spread_floats(const Tensors& floats, const Tensors& like) {
  Tensors list(like.size());
  size_t next = 0;
  for (size_t i = 0; i < like.size(); ++i)
    if (differentiable(like[i].dtype())) list[i] = floats[next++];
  return list;
}

// The same by the types of a node's results.
inline Tensors spread_by_type(const Tensors& floats, const std::vector<DType>& types) {
  Tensors list(types.size());
  size_t next = 0;
  for (size_t i = 0; i < types.size(); ++i)
    if (differentiable(types[i])) list[i] = floats[next++];
  return list;
}

}  // namespace adit::graph
