// A matrix times a vector on a CPU, line by line of the matrix as it lies in memory.
#include "density/contraction.hpp"
#include "density/writer.hpp"
#include "graph/op.hpp"
#include "lower/reduction.hpp"

namespace adit::sampling {

using kernel::Reduction;

namespace {

constexpr int64_t lines =
    4;  // at a time: sums side by side wait less, and share what they read of the vector

}  // namespace

// Each result is the sum of one line: those of the lines from `begin` on.
void DensityWriter::add_rows(const Node& node, Value begin, Value count) {
  Builder& k = builder();
  const Vector to = memory_at(stored_.at(&node));
  const int64_t all = element_count(node.shape), together = std::min(lines, all);
  k.for_((count + (together - 1)) / together, [&](Value block) {
    const Scope scope(*this);
    // The last block is made of whole lines too, some of which are done already.
    const Value first = min(begin + block * together, chain_.index(all - together));
    const std::vector<Reduction> adds(static_cast<size_t>(together), Reduction::add);
    const auto totals = k.reduce(chain_.index(length_of(node)), adds, [&](Value r) {
      const Scope inner(*this);
      std::vector<Value> parts;
      for (int64_t line = 0; line < together; ++line)
        parts.push_back(element_contributions(*this, node, place(node.shape, first + line), r)[0]);
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
    k.each(chain_.index(element_count(node.shape)), [&](Value j) {
      const Scope inner(*this);
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

// A product, what is made of its results one by one, and the product with the matrix transposed: over as many
// rows at a time as a cache holds, so that the matrix comes from memory once.
void DensityWriter::write_tiles(const Pass& product, const Pass& between, const Pass& back) {
  Builder& k = builder();
  const Node &first = *product.items[0].node, &last = *back.items[0].node;
  prepare(product);
  prepare(between);
  prepare(back);
  clear_columns(last);
  const std::vector<Total> totals = totals_of(between);
  const Loop loop = loop_of(between, totals);
  const std::vector<Variable> cells = open_totals(loop);
  const int64_t rows = between.count;
  k.for_(chain_.index((rows + product.tile - 1) / product.tile), [&](Value tile) {
    const Scope scope(*this);
    const Value begin = tile * product.tile, count = min(chain_.index(product.tile), rows - begin);
    add_rows(first, begin, count);
    settle(product);
    add_totals(loop, cells, count, [&](Value i) { return loop.body(begin + i); });
    settle(between);
    add_columns(last, begin, count);
  });
  settle(back);
  std::vector<Value> results;
  for (const Variable& cell : cells) results.push_back(cell.get());
  finish(totals, results);
}

}  // namespace adit::sampling
