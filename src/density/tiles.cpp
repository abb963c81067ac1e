// Passes that go together over tiles of rows on a CPU, so that what several of them read comes from memory
// once.
#include "density/writer.hpp"

namespace adit::sampling {

// A product, what is made of its results one by one, and the product with the matrix transposed: over as many
// rows at a time as a cache holds, so that the matrix comes from memory once, for all chains that go
// together.
void DensityWriter::write_tiles(Writers writers, const Pass& product, const Pass& between, const Pass& back) {
  DensityWriter& one = *writers[0];
  Builder& k = one.builder();
  const Node &first = *product.items[0].node, &last = *back.items[0].node;
  struct Part {
    DensityWriter* writer;
    Loop loop;
    std::vector<Variable> cells;
  };
  const std::vector<Total> totals = totals_of(between);
  std::vector<Part> parts;
  for (DensityWriter* writer : writers) {
    for (const Pass* pass : {&product, &between, &back}) writer->prepare(*pass);
    writer->clear_columns(last);
    Loop loop = writer->loop_of(between, totals);
    std::vector<Variable> cells = writer->open_totals(loop);
    parts.push_back({writer, std::move(loop), std::move(cells)});
  }
  const int64_t rows = between.count;
  k.for_(one.chain_.index((rows + product.tile - 1) / product.tile), [&](Value tile) {
    const Scopes scopes(writers);
    const Value begin = tile * product.tile, count = min(one.chain_.index(product.tile), rows - begin);
    // The last lines that go together may begin before the last tile.
    for (DensityWriter* writer : writers) writer->first_of_tile_ = begin.like(most_lines_apart) - begin;
    add_rows(writers, first, begin, count);
    for (Part& part : parts) {
      part.writer->settle(product);
      part.writer->add_totals(part.loop, part.cells, count,
                              [&](Value i) { return part.loop.body(begin + i); });
      part.writer->settle(between);
    }
    add_columns(writers, last, begin, count);
  });
  for (Part& part : parts) {
    part.writer->settle(back);
    std::vector<Value> results;
    for (const Variable& cell : part.cells) results.push_back(cell.get());
    part.writer->finish(part.loop, totals, results);
  }
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
