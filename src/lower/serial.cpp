#include "lower/serial.hpp"

#include "graph/op.hpp"
#include "lower/reduction.hpp"

namespace adit::lower {

using graph::Op;
using kernel::Reduction;
using kernel::Type;

std::vector<Reduction> total_reductions(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {Reduction::add};
  return reductions_of(node);
}

std::vector<Type> total_types(const Node& node) {
  if (node.op == Op::dot || node.op == Op::indexed_add) return {compute_type(node.type)};
  return accumulator_types(node);
}

std::vector<Value> element_contributions(graph::Reader& reader, const Node& node, const Index& at, Value r) {
  if (node.op != Op::dot)
    return contributions(node, reader.read(node.operands[0], operand_index(node, at, r)));
  return {reader.read(node.operands[0], dot_operand(node, 0, at, r)).re *
          reader.read(node.operands[1], dot_operand(node, 1, at, r)).re};
}

std::vector<Value> looped_totals(ElementWriter& writer, const Node& node, const Index& at) {
  const int64_t count = node.op == Op::dot ? contracted_count(node) : reduced_count(node);
  return loop_totals(writer.builder(), writer.number(count), total_reductions(node), total_types(node),
                     [&](Value r) {
                       const ElementWriter::Scope scope(writer);
                       return element_contributions(writer, node, at, r);
                     });
}

Value finished_total(const Node& node, const std::vector<Value>& totals) {
  if (node.op == Op::reduce_max || node.op == Op::reduce_min) return total_of(node, totals).re;
  return convert(totals[0], compute_type(node.type));
}

namespace {

Scalar multiply_add(const Scalar& a, const Scalar& b, const Scalar& sum) {
  if (!a.is_complex)
    return {kernel::is_float(a.re.type()) ? fma(a.re, b.re, sum.re) : sum.re + a.re * b.re, {}, false};
  return graph::pair(fma(a.re, b.re, fma(-a.im, b.im, sum.re)), fma(a.re, b.im, fma(a.im, b.re, sum.im)));
}

Scalar sum_of(const Scalar& a, const Scalar& b) {
  if (!a.is_complex) return {a.re + b.re, {}, false};
  return graph::pair(a.re + b.re, a.im + b.im);
}

// A sum in variables.
class Cell {
 public:
  Cell(kernel::Builder& k, const Scalar& start)
      : is_pair_(start.is_complex),
        re_(k.variable(start.re)),
        im_(k.variable(is_pair_ ? start.im : start.re)) {}
  Scalar get() const { return {re_.get(), is_pair_ ? im_.get() : Value(), is_pair_}; }
  void set(const Scalar& value) const {
    re_ = value.re;
    if (is_pair_) im_ = value.im;
  }

 private:
  bool is_pair_;
  kernel::Variable re_, im_;
};

// Neighbours are added first, so that the order does not hang on how many there are.
Scalar total_of_cells(const std::vector<Cell>& cells, size_t first, size_t count) {
  if (count == 1) return cells[first].get();
  return sum_of(total_of_cells(cells, first, count / 2),
                total_of_cells(cells, first + count / 2, count - count / 2));
}

}  // namespace

Scalar dot_term(graph::Reader& reader, const Node& node, const Index& at, Value r, const Scalar& sum) {
  return multiply_add(reader.read(node.operands[0], dot_operand(node, 0, at, r)),
                      reader.read(node.operands[1], dot_operand(node, 1, at, r)), sum);
}

Scalar serial_dot(ElementWriter& writer, const Node& node, const Index& at, int64_t written_out,
                  int64_t sums) {
  kernel::Builder& k = writer.builder();
  const int64_t count = contracted_count(node);
  const Value zero = k.constant(compute_type(node.type), 0);
  const bool is_pair = is_complex(node.type);
  Scalar total{zero, is_pair ? zero : Value(), is_pair};
  int64_t done = 0;
  if (count > written_out) {
    std::vector<Cell> cells;
    for (int64_t s = 0; s < sums; ++s) cells.emplace_back(k, total);
    done = count / sums * sums;
    k.for_(writer.number(0), writer.number(done), writer.number(sums), [&](Value r) {
      const ElementWriter::Scope scope(writer);
      for (int64_t s = 0; s < sums; ++s) {
        const Cell& cell = cells[static_cast<size_t>(s)];
        cell.set(dot_term(writer, node, at, s == 0 ? r : r + writer.number(s), cell.get()));
      }
    });
    total = total_of_cells(cells, 0, cells.size());
  }
  for (; done < count; ++done) total = dot_term(writer, node, at, writer.number(done), total);
  return rounded(total, node.type);
}

}  // namespace adit::lower
