#include "density/square_sums.hpp"

#include <optional>
#include <unordered_map>
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

  // A node that several read is taken apart once, when all of them have said what it is multiplied by: by
  // paths there would be twice as many with each step of a recurrence of two.
  bool add(const Tensor& sum) {
    if (!is_linear(sum)) return false;
    arrive(sum, {Around()});
    while (!open_.empty()) {
      const auto [x, arounds] = std::move(open_.back());
      open_.pop_back();
      for (const Around& around : arounds)
        if (is_whole(x) && !add_whole(x, around)) return false;
      if (!is_whole(x)) take_apart(x, arounds);
      if (std::ssize(arounds) > most_columns || columns() > most_columns) return false;
    }
    return true;
  }

  int64_t columns() const {
    int64_t count = 0;
    for (const Share& each : shares) count += each.width;
    return count;
  }

  std::vector<Share> shares;

 private:
  using Arounds = std::vector<Around>;  // of different scalars
  struct Part {
    Tensor x;
    Around by;  // what it is multiplied by there
  };

  bool varies(const Tensor& x) const { return varying_.contains(&graph::node_of(x)); }
  static bool is_repeated(const Tensor& x) {
    const Tensor scalar = repeated_scalar(x);
    return static_cast<bool>(scalar);
  }

  // What is a share as it is, or none.
  bool is_whole(const Tensor& x) const {
    return !varies(x) || x.size() != rows_ || is_repeated(x) || graph::node_of(x).op == Op::dot;
  }

  // Where x is followed to; nothing where it is not linear.
  std::optional<Tensors> followed(const Tensor& x) const {
    const Node& node = graph::node_of(x);
    if (!varies(x)) return Tensors();
    if (x.size() != rows_) return std::nullopt;
    if (is_repeated(x)) return Tensors();
    if (node.computed) return std::nullopt;
    switch (node.op) {
      case Op::add:
      case Op::subtract: return node.operands;
      case Op::negate: return Tensors{node.operands[0]};
      case Op::reshape:
      case Op::broadcast:
        return node.operands[0].size() == rows_ ? std::optional(Tensors{node.operands[0]}) : std::nullopt;
      case Op::multiply:
        for (const size_t factor : {0, 1})
          if (is_factor(node.operands[factor])) return Tensors{node.operands[1 - factor]};
        return std::nullopt;
      case Op::divide:
        return is_factor(node.operands[1]) ? std::optional(Tensors{node.operands[0]}) : std::nullopt;
      case Op::dot: return Tensors();
      default: return std::nullopt;
    }
  }
  bool is_factor(const Tensor& x) const { return !varies(x) || is_repeated(x); }

  // Counts on the way who reads what.
  bool is_linear(const Tensor& sum) {
    std::vector<Tensor> open{sum};
    readers_[&graph::node_of(sum)] = 1;
    while (!open.empty()) {
      const std::optional<Tensors> next = followed(open.back());
      open.pop_back();
      if (!next) return false;
      for (const Tensor& operand : *next)
        if (++readers_[&graph::node_of(operand)] == 1) open.push_back(operand);
    }
    return true;
  }

  // The last one of those who read x has it taken apart.
  void arrive(const Tensor& x, const Arounds& arounds) {
    const Node* node = &graph::node_of(x);
    if (is_whole(x)) return open_.push_back({x, arounds});
    Arounds& all = waiting_[node];
    for (const Around& around : arounds) join(all, around);
    if (--readers_.at(node) > 0) return;
    open_.emplace_back(x, std::move(all));
    waiting_.erase(node);
  }

  // Data that meet the same scalar are one.
  static void join(Arounds& all, const Around& around) {
    for (Around& known : all) {
      if (graph::pointer_of(known.scalar) != graph::pointer_of(around.scalar)) continue;
      known = {1, joined({known.data, known.sign}, {around.data, around.sign}), known.scalar};
      return;
    }
    all.push_back(around);
  }
  static Tensor joined(const DataPart& a, const DataPart& b) {
    const auto value_of = [](const DataPart& part) {
      return part.value ? part.value : graph::constant(DType::f64, 1);
    };
    const Tensor first = a.sign < 0 ? negate(value_of(a)) : value_of(a);
    return b.sign < 0 ? subtract(first, value_of(b)) : adit::add(first, value_of(b));
  }

  void take_apart(const Tensor& x, const Arounds& arounds) {
    const std::vector<Part> parts = parts_of(graph::node_of(x));
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {  // the first comes first
      Arounds inner;
      for (const Around& around : arounds)
        inner.push_back({around.sign * part->by.sign, times_any(around.data, part->by.data),
                         times_any(around.scalar, part->by.scalar)});
      arrive(part->x, inner);
    }
  }

  std::vector<Part> parts_of(const Node& node) const {
    const Tensors& x = node.operands;
    switch (node.op) {
      case Op::add: return {{x[0], {}}, {x[1], {}}};
      case Op::subtract: return {{x[0], {}}, {x[1], {-1, {}, {}}}};
      case Op::negate: return {{x[0], {-1, {}, {}}}};
      case Op::multiply: {
        const size_t factor = is_factor(x[0]) ? 0 : 1;
        return {{x[1 - factor], factor_of(x[factor])}};
      }
      case Op::divide: {
        const Around by = factor_of(x[1]);
        return {
            {x[0],
             {1, by.data ? reciprocal(by.data) : by.data, by.scalar ? reciprocal(by.scalar) : by.scalar}}};
      }
      default: return {{x[0], {}}};  // the same in another shape
    }
  }
  Around factor_of(const Tensor& x) const {
    return varies(x) ? Around{1, {}, repeated_scalar(x)} : Around{1, as_list(x), {}};
  }

  bool add_whole(const Tensor& x, const Around& around) {
    if (!varies(x)) {
      share(around.scalar, 1, {times_any(around.data, as_list(x)), around.sign});
      return true;
    }
    if (const Tensor scalar = repeated_scalar(x)) {
      share(times_any(around.scalar, scalar), 1, {around.data, around.sign});
      return true;
    }
    return add_dot(graph::node_of(x), around);
  }

  // Data without the axes around them; one number where all rows have the same.
  Tensor as_list(const Tensor& x) const {
    if (const Tensor scalar = repeated_scalar(x)) return scalar;
    return x.size() == 1 ? reshape(x, {}) : reshape(x, {rows_});
  }

  void share(const Tensor& parameter, int64_t width, DataPart part) {
    constexpr size_t most_parts = 64;  // that are computed apart
    for (Share& known : shares) {
      if (known.width != width || graph::pointer_of(known.parameter) != graph::pointer_of(parameter))
        continue;
      known.parts.push_back(std::move(part));
      if (known.parts.size() < most_parts) return;
      DataPart total = known.parts[0];
      for (size_t i = 1; i < known.parts.size(); ++i) total = {joined(total, known.parts[i]), 1};
      known.parts = {total};
      return;
    }
    shares.push_back({parameter, width, {std::move(part)}});
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
    share(times_any(around.scalar, list), list.size(), {matrix, around.sign});
    return true;
  }

  const std::unordered_set<const Node*>& varying_;
  const int64_t rows_;
  std::unordered_map<const Node*, int64_t> readers_;  // of those that are taken apart, who are still to come
  std::unordered_map<const Node*, Arounds> waiting_;
  std::vector<std::pair<Tensor, Arounds>> open_;
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
    if (!form.add(z) || !is_worthwhile(z.size(), form.columns())) return {};
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
