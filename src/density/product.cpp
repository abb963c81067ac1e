// A matrix times a vector on a CPU, line by line of the matrix as it lies in memory. Where several chains go
// together, each line is read once for all of their vectors.
#include "density/writer.hpp"
#include "graph/op.hpp"
#include "lower/reduction.hpp"
#include "lower/serial.hpp"

namespace adit::sampling {

using kernel::Reduction;

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
void DensityWriter::add_rows(Writers writers, const Node& node, Value begin, Value count) {
  DensityWriter& one = *writers[0];
  Builder& k = one.builder();
  const int64_t all = element_count(node.shape);
  const int64_t together = std::min(one.more_lines_ * lines_together(node), all);
  k.for_((count + (together - 1)) / together, [&](Value block) {
    const Scopes scopes(writers);
    // The last block is made of whole lines too, some of which are done already.
    const Value first = min(begin + block * together, one.chain_.index(all - together));
    const std::vector<Reduction> adds(writers.size() * static_cast<size_t>(together), Reduction::add);
    const Value zeros = one.zeros_before(node, first, length_of(node));
    const auto totals = k.reduce(length_of(node) - zeros, adds, [&](Value r) {
      const Scopes inner(writers);
      std::vector<Value> parts;
      for (int64_t line = 0; line < together; ++line)
        for (DensityWriter* writer : writers)
          parts.push_back(
              lower::element_contributions(*writer, node, one.place(node.shape, first + line), zeros + r)[0]);
      return parts;
    });
    k.once([&] {
      size_t next = 0;
      for (int64_t line = 0; line < together; ++line)
        for (DensityWriter* writer : writers) writer->rows_of(node).set(first + line, totals[next++]);
    });
  });
}

void DensityWriter::clear_columns(const Node& node) {
  const Vector to = memory_at(stored_.at(&node));
  builder().each(chain_.index(element_count(node.shape)), [&](Value j) { to.set(j, chain_.number(0)); });
}

// Some lines from `first` on, times their elements of the vector.
void DensityWriter::add_lines(Writers writers, const Node& node, Value first, int64_t together) {
  const Scopes scopes(writers);
  DensityWriter& one = *writers[0];
  const int64_t all = element_count(node.shape), length = length_of(node);
  // What does not depend on the result is read before its loop.
  const Index any = one.place(node.shape, one.chain_.index(0));
  for (DensityWriter* writer : writers)
    for (int64_t line = 0; line < together; ++line)
      for (const int side : {0, 1})
        if (const Tensor& operand = node.operands[static_cast<size_t>(side)]; operand.size() == length)
          writer->read(operand, lower::dot_operand(node, side, any, first + line));
  const Value zeros = one.zeros_before(node, first, all);
  one.builder().each(all - zeros, [&](Value behind) {
    const Scopes inner(writers);
    const Value j = zeros + behind;
    const Index at = one.place(node.shape, j);
    std::vector<Value> sums;
    for (DensityWriter* writer : writers) sums.push_back(writer->memory_at(writer->stored_.at(&node)).get(j));
    for (int64_t line = 0; line < together; ++line)
      for (size_t w = 0; w < writers.size(); ++w) {
        const Value r = first + line;
        sums[w] = fma(writers[w]->read(node.operands[0], lower::dot_operand(node, 0, at, r)).re,
                      writers[w]->read(node.operands[1], lower::dot_operand(node, 1, at, r)).re, sums[w]);
      }
    for (size_t w = 0; w < writers.size(); ++w)
      writers[w]->memory_at(writers[w]->stored_.at(&node)).set(j, sums[w]);
  });
}

// Each line from `begin` on, times its element of the vector, is added to all results.
void DensityWriter::add_columns(Writers writers, const Node& node, Value begin, Value count) {
  Builder& k = writers[0]->builder();
  const Value whole = begin + count / most_lines * most_lines;
  k.for_(begin, whole, begin.like(most_lines),
         [&](Value first) { add_lines(writers, node, first, most_lines); });
  k.for_(whole, begin + count, begin.like(1), [&](Value first) { add_lines(writers, node, first, 1); });
}

void DensityWriter::write_product_by_rows(Writers writers, const Node& node) {
  Chain& chain = writers[0]->chain_;
  add_rows(writers, node, chain.index(0), chain.index(element_count(node.shape)));
}

void DensityWriter::write_product_by_columns(Writers writers, const Node& node) {
  Chain& chain = writers[0]->chain_;
  for (DensityWriter* writer : writers) writer->clear_columns(node);
  add_columns(writers, node, chain.index(0), chain.index(length_of(node)));
}

}  // namespace adit::sampling
