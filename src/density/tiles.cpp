// Passes that go together over tiles of rows on a CPU, so that what several of them read comes from memory
// once.
#include "density/writer.hpp"

namespace adit::sampling {

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
  finish(loop, totals, results);
}

// A pass, and loops of a few totals each over the same rows.
void DensityWriter::write_tiles(const Pass& first, const Pass& wide) {
  Builder& k = builder();
  prepare(first);
  prepare(wide);
  std::vector<std::vector<Total>> totals{totals_of(first)};
  const std::vector<Total> many = totals_of(wide);
  const int64_t count = std::ssize(many), loops = loops_of(count, wide.totals_a_loop);
  for (int64_t loop = 0; loop < loops; ++loop)
    totals.emplace_back(many.begin() + loop * count / loops, many.begin() + (loop + 1) * count / loops);
  std::vector<Loop> of;
  std::vector<std::vector<Variable>> cells;
  for (const auto& some : totals) {
    of.push_back(loop_of(of.empty() ? first : wide, some));
    cells.push_back(open_totals(of.back()));
  }
  const int64_t rows = first.count;
  k.for_(chain_.index((rows + first.tile - 1) / first.tile), [&](Value tile) {
    const Scope scope(*this);
    const Value begin = tile * first.tile, here = min(chain_.index(first.tile), rows - begin);
    for (size_t i = 0; i < of.size(); ++i) {
      add_totals(of[i], cells[i], here, [&](Value row) { return of[i].body(begin + row); });
      if (i == 0) settle(first);
    }
  });
  for (size_t i = 0; i < of.size(); ++i) {
    std::vector<Value> results;
    for (const Variable& cell : cells[i]) results.push_back(cell.get());
    finish(of[i], totals[i], results);
  }
  settle(wide);
}

}  // namespace adit::sampling
