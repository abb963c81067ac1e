// A graph of f64 in another precision: models are written in f64, samplers run them in f32 too.
#pragma once

#include <map>
#include <span>
#include <unordered_set>

#include <adit/control.hpp>

#include "graph/node.hpp"

namespace adit::graph {

struct Retyped {
  Tensors roots;
  std::map<const graph::Node*, Tensor> placeholders;  // the old one -> the new one, or itself
};

// The roots with every f64 turned into `to` (f32 or f64):
// - constants, numbers and iotas change their type; placeholders of f64 become new ones;
// - tensors in memory are converted; conversions to the type that a tensor has vanish;
// - everything else keeps its operation, integers and masks their type. For f64 nothing changes.
// Nodes of `wide` stay f64, placeholders too, with conversions where they meet the others; a root among them
// is f64.
Retyped retype(std::span<const Tensor> roots, DType to, const std::unordered_set<const Node*>& wide = {});

}  // namespace adit::graph
