// Writes elements of a graph's nodes into a kernel, each where it is read: elementwise work and index maps as
// they are, short reductions and products as loops. The tensor compiler and the density compiler derive from
// it; they say what lies in memory or is known already, and what becomes of the rest.
#pragma once

#include <optional>

#include "lower/elements.hpp"

namespace adit::lower {

class ElementWriter : public graph::Reader {
 public:
  graph::Scalar read(const Tensor& operand, const graph::Index& at) final {
    return read(graph::node_of(operand), at);
  }
  graph::Scalar read(const graph::Node& node, const graph::Index& at);
  // A constant of the type that counts places.
  virtual kernel::Value number(int64_t value) = 0;

  // What is computed inside a block of the kernel may not be used outside of it.
  class Scope {
   public:
    explicit Scope(ElementWriter& writer) : scope_(writer.memo_) {}

   private:
    Memo<graph::Index>::Scope scope_;
  };

 protected:
  // One value wherever the node is read, which may be another one later.
  virtual std::optional<graph::Scalar> fixed(const graph::Node&) { return std::nullopt; }
  // Equal for places of the node that are the same.
  virtual uint64_t place_of(const graph::Node& node, const graph::Index& at) = 0;
  // An element that lies in memory or was computed before.
  virtual std::optional<graph::Scalar> known(const graph::Node& node, const graph::Index& at) = 0;
  // Elementwise work.
  virtual graph::Scalar result(const graph::Node& node, std::span<const graph::Scalar> operands) = 0;
  // What is neither elementwise nor an index map.
  virtual graph::Scalar other(const graph::Node& node, const graph::Index& at) = 0;

  // The element, whether or not it is known.
  graph::Scalar compute(const graph::Node& node, const graph::Index& at);
  void forget() { memo_.clear(); }
  // Whether the element was read before, where its value still is.
  bool has_read(const graph::Node& node, const graph::Index& at) {
    return memo_.find(node, place_of(node, at)) != nullptr;
  }

 private:
  struct Open {  // an element whose operands are being written
    const graph::Node* node = nullptr;
    uint64_t place = 0;
    std::vector<graph::Scalar> operands;
  };
  std::optional<graph::Scalar> begin(const graph::Node& node, const graph::Index& at,
                                     std::vector<Open>& open);

  Memo<graph::Index> memo_;  // places live as long as the numbers that tell them apart
};

}  // namespace adit::lower
