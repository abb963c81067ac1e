#include "density/square_sums.hpp"

#include <unordered_set>

#include <adit/ops.hpp>

#include "density/split.hpp"
#include "graph/op.hpp"

namespace adit::sampling {

using graph::Node;
using graph::Op;

namespace {

// To make R takes about 2 n k^2 operations when data are bound: some tenths of a second at most.
constexpr double most_work = 5e8;
constexpr int64_t most_columns = 256;

Tensor times_any(const Tensor& a, const Tensor& b) { return !a ? b : !b ? a : multiply(a, b); }

// A parameter (or a list of them), and the data that it is multiplied by. No parameter: the offset.
struct Share {
  Tensor parameter;
  int64_t width = 1;
  std::vector<DataPart> parts;
};

// What a part of a sum is multiplied by on the way to it: a sign, data [rows] or [], a scalar of parameters.
struct Around {
  double sign = 1;
  Tensor data, scalar;
};

// Takes a tensor apart into shares, as long as it is linear.
class LinearForm {
 public:
  LinearForm(const std::unordered_set<const Node*>& varying, int64_t rows) : varying_(varying), rows_(rows) {}

  bool add(const Tensor& x, const Around& around) {
    if (columns() > most_columns) return false;
    if (!varies(x)) return share(around.scalar, 1, {times_any(around.data, as_list(x)), around.sign});
    if (x.size() != rows_) return false;
    if (const Tensor scalar = repeated_scalar(x))
      return share(times_any(around.scalar, scalar), 1, {around.data, around.sign});
    const Node& node = graph::node_of(x);
    if (node.computed) return false;
    const Tensor& first = node.operands[0];
    const Around minus{-around.sign, around.data, around.scalar};
    switch (node.op) {
      case Op::add: return add(first, around) && add(node.operands[1], around);
      case Op::subtract: return add(first, around) && add(node.operands[1], minus);
      case Op::negate: return add(first, minus);
      case Op::reshape:
      case Op::broadcast: return first.size() == rows_ && add(first, around);
      case Op::multiply: return add_product(first, node.operands[1], around);
      case Op::divide: return add_quotient(first, node.operands[1], around);
      case Op::dot: return add_dot(node, around);
      default: return false;
    }
  }

  int64_t columns() const {
    int64_t count = 0;
    for (const Share& each : shares) count += each.width;
    return count;
  }

  std::vector<Share> shares;

 private:
  bool varies(const Tensor& x) const { return varying_.contains(&graph::node_of(x)); }

  // Data without the axes around them; one number where all rows have the same.
  Tensor as_list(const Tensor& x) const {
    if (const Tensor scalar = repeated_scalar(x)) return scalar;
    return x.size() == 1 ? reshape(x, {}) : reshape(x, {rows_});
  }

  bool share(const Tensor& parameter, int64_t width, DataPart part) {
    const auto same = [&](const Tensor& other) {
      return graph::pointer_of(other) == graph::pointer_of(parameter);
    };
    for (Share& known : shares)
      if (known.width == width && same(known.parameter)) return known.parts.push_back(std::move(part)), true;
    shares.push_back({parameter, width, {std::move(part)}});
    return true;
  }

  bool add_product(const Tensor& a, const Tensor& b, const Around& around) {
    for (const auto& [factor, rest] : {std::pair(a, b), std::pair(b, a)}) {
      Around inner = around;
      if (!varies(factor))
        inner.data = times_any(around.data, as_list(factor));
      else if (const Tensor scalar = repeated_scalar(factor))
        inner.scalar = times_any(around.scalar, scalar);
      else
        continue;
      return add(rest, inner);
    }
    return false;
  }

  bool add_quotient(const Tensor& a, const Tensor& b, const Around& around) {
    Around inner = around;
    if (!varies(b))
      inner.data = times_any(around.data, reciprocal(as_list(b)));
    else if (const Tensor scalar = repeated_scalar(b))
      inner.scalar = times_any(around.scalar, reciprocal(scalar));
    else
      return false;
    return add(a, inner);
  }

  // A matrix of data and a list of parameters.
  bool add_dot(const Node& node, const Around& around) {
    const auto& axes = node.as<graph::DotAttributes>();
    if (axes.batch_a.size() > 0 || axes.contract_a.size() != 1) return false;
    const bool is_first = !varies(node.operands[0]);
    const Tensor &data = node.operands[is_first ? 0 : 1], &list = node.operands[is_first ? 1 : 0];
    if (varies(data) || data.rank() != 2 || list.rank() != 1 || data.size() != rows_ * list.size())
      return false;
    const int64_t contracted = (is_first ? axes.contract_a : axes.contract_b)[0];
    Tensor matrix = contracted == 1 ? data : transpose(data);
    if (around.data)
      matrix = multiply(matrix, around.data.rank() == 0 ? around.data : expand_dims(around.data, 1));
    return share(times_any(around.scalar, list), list.size(), {matrix, around.sign});
  }

  const std::unordered_set<const Node*>& varying_;
  const int64_t rows_;
};

class Shortener {
 public:
  Shortener(std::span<const Tensor> terms, std::span<const Tensor> inputs, std::vector<SquareSum>& found)
      : varying_(dependents_of(terms, inputs)), found_(found) {}

  // sum(z^2) or factor * sum(z^2), as split_terms() leaves them.
  Tensor shorter(const Tensor& term) {
    const Node& node = graph::node_of(term);
    if (node.op == Op::multiply && node.operands[1].rank() == 0) {
      const Tensor total = shorter_sum(node.operands[1]);
      return total ? multiply(node.operands[0], total) : term;
    }
    const Tensor total = shorter_sum(term);
    return total ? total : term;
  }

 private:
  Tensor shorter_sum(const Tensor& total) {
    const Node& node = graph::node_of(total);
    if (node.computed || (node.op != Op::sum && node.op != Op::dot) || total.rank() != 0) return {};
    const Node& squares = node.op == Op::dot ? node : graph::node_of(node.operands[0]);
    if (squares.computed || (squares.op != Op::multiply && squares.op != Op::dot)) return {};
    if (graph::pointer_of(squares.operands[0]) != graph::pointer_of(squares.operands[1])) return {};
    Tensor z = squares.operands[0], scale;
    take_out(z, scale);
    LinearForm form(varying_, z.size());
    if (!form.add(z, {}) || !is_worthwhile(z.size(), form.columns())) return {};
    const Tensor rows = in_few_rows(z.size(), form);
    return sum(square(times_any(rows, scale)));
  }

  // Factors that all rows share stay what they are.
  void take_out(Tensor& z, Tensor& scale) const {
    for (;;) {
      const Node& node = graph::node_of(z);
      if (node.computed || (node.op != Op::multiply && node.op != Op::divide)) return;
      const Tensor second = repeated_scalar(node.operands[1]);
      const Tensor first = node.op == Op::multiply ? repeated_scalar(node.operands[0]) : Tensor();
      if (second)
        scale = node.op == Op::multiply ? times_any(scale, second) : times_any(scale, reciprocal(second));
      else if (first)
        scale = times_any(scale, first);
      else
        return;
      z = node.operands[second ? 0 : 1];
    }
  }

  static bool is_worthwhile(int64_t rows, int64_t columns) {
    const auto width = static_cast<double>(columns);
    return columns > 0 && columns <= most_columns && 2 * rows >= 3 * columns &&
           static_cast<double>(rows) * width * width <= most_work;
  }

  // The sum of the shares, with R's columns in the place of the data's.
  Tensor in_few_rows(int64_t rows, const LinearForm& form) {
    SquareSum sum{rows, form.columns(), {}};
    Tensor result;
    for (const Share& share : form.shares) {
      const bool is_list = share.parameter && share.parameter.rank() == 1;
      const Shape shape = is_list ? Shape{sum.columns, share.width} : Shape{sum.columns};
      const Tensor factor = graph::placeholder(DType::f64, shape);
      sum.groups.push_back({factor, share.width, share.parts});
      const Tensor part = is_list ? dot(factor, share.parameter) : times_any(factor, share.parameter);
      result = result ? add(result, part) : part;
    }
    found_.push_back(std::move(sum));
    return result;
  }

  const std::unordered_set<const Node*> varying_;
  std::vector<SquareSum>& found_;
};

}  // namespace

std::vector<Tensor> with_short_square_sums(std::vector<Tensor> terms, std::span<const Tensor> inputs,
                                           std::vector<SquareSum>& found) {
  Shortener shortener(terms, inputs, found);
  for (Tensor& term : terms) term = shortener.shorter(term);
  return terms;
}

}  // namespace adit::sampling
