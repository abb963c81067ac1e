// A matrix times a vector on a CPU, line by line of the matrix as it lies in memory.
#include "density/writer.hpp"
#include "graph/op.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"

namespace adit::sampling {

using kernel::Reduction;

namespace {

constexpr int64_t lines = 4;  // at a time, which share what is read and written of the results

}  // namespace

// Of `count` numbers of a line of the product's matrix those at the beginning that are zero, in this line and
// all behind it: the matrix is part of a triangular factor. Whole vectors of them.
Value DensityWriter::zeros_before(const Node& product, Value line, int64_t count) {
  constexpr int64_t whole = 8;
  for (const Tensor& operand : product.operands) {
    const auto upper = upper_.find(&graph::node_of(operand));
    if (upper == upper_.end() || operand.shape()[1] != count) continue;
    const Value zeros = max(line, chain_.index(upper->second)) - upper->second;
    return min(zeros, chain_.index(count)) / whole * whole;
  }
  return chain_.index(0);
}

// Each result is the sum of one line: those of the lines from `begin` on.
void DensityWriter::add_rows(const Node& node, Value begin, Value count) {
  Builder& k = builder();
  const Vector to = memory_at(stored_.at(&node));
  const int64_t all = element_count(node.shape), together = std::min(lines_together(node), all);
  k.for_((count + (together - 1)) / together, [&](Value block) {
    const Scope scope(*this);
    // The last block is made of whole lines too, some of which are done already.
    const Value first = min(begin + block * together, chain_.index(all - together));
    const std::vector<Reduction> adds(static_cast<size_t>(together), Reduction::add);
    const Value zeros = zeros_before(node, first, length_of(node));
    const auto totals = k.reduce(length_of(node) - zeros, adds, [&](Value r) {
      const Scope inner(*this);
      std::vector<Value> parts;
      for (int64_t line = 0; line < together; ++line)
        parts.push_back(
            lower::element_contributions(*this, node, place(node.shape, first + line), zeros + r)[0]);
      return parts;
    });
    k.once([&] {
      for (int64_t line = 0; line < together; ++line) to.set(first + line, totals[static_cast<size_t>(line)]);
    });
  });
}

void DensityWriter::clear_columns(const Node& node) {
  const Vector to = memory_at(stored_.at(&node));
  builder().each(chain_.index(element_count(node.shape)), [&](Value j) { to.set(j, chain_.number(0)); });
}

// Each line from `begin` on, times its element of the vector, is added to all results.
void DensityWriter::add_columns(const Node& node, Value begin, Value count) {
  Builder& k = builder();
  const Vector to = memory_at(stored_.at(&node));
  const int64_t length = length_of(node);
  const auto add_lines = [&](Value first, int64_t together) {
    const Scope scope(*this);
    // What does not depend on the result is read before its loop.
    const Index any = place(node.shape, chain_.index(0));
    for (int64_t line = 0; line < together; ++line)
      for (const int side : {0, 1})
        if (node.operands[static_cast<size_t>(side)].size() == length)
          read(node.operands[static_cast<size_t>(side)], lower::dot_operand(node, side, any, first + line));
    const int64_t all = element_count(node.shape);
    const Value zeros = zeros_before(node, first, all);
    k.each(all - zeros, [&](Value behind) {
      const Scope inner(*this);
      const Value j = zeros + behind;
      const Index at = place(node.shape, j);
      Value sum = to.get(j);
      for (int64_t line = 0; line < together; ++line) {
        const Value r = first + line;
        sum = fma(read(node.operands[0], lower::dot_operand(node, 0, at, r)).re,
                  read(node.operands[1], lower::dot_operand(node, 1, at, r)).re, sum);
      }
      to.set(j, sum);
    });
  };
  const Value whole = begin + count / lines * lines;
  k.for_(begin, whole, chain_.index(lines), [&](Value first) { add_lines(first, lines); });
  k.for_(whole, begin + count, chain_.index(1), [&](Value first) { add_lines(first, 1); });
}

void DensityWriter::write_product_by_rows(const Node& node) {
  add_rows(node, chain_.index(0), chain_.index(element_count(node.shape)));
}

void DensityWriter::write_product_by_columns(const Node& node) {
  clear_columns(node);
  add_columns(node, chain_.index(0), chain_.index(length_of(node)));
}

}  // namespace adit::sampling
