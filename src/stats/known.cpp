#include "stats/known.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "stats/formula.hpp"

namespace adit::stats {

using graph::Op;

namespace {

// x without what only repeats, rearranges or widens it: conversions to f64 keep every real number.
Tensor base_of(const Tensor& x) {
  const std::scoped_lock lock(graph::graph_lock());
  Tensor base = x;
  while (!graph::node_of(base).computed && !graph::node_of(base).operands.empty()) {
    const graph::Node& node = graph::node_of(base);
    const bool widens = node.op == Op::as_type && node.type == DType::f64;
    if (node.op != Op::broadcast && node.op != Op::reshape && !widens) break;
    base = Tensor(node.operands[0]);
  }
  return base;
}

// Asked of each argument of a model: the search ends with the first one.
bool has_placeholder(const Tensor& x) {
  bool found = false;
  graph::reachable(std::span(&x, 1), false, [&](const Tensor& at) {
    found = found || graph::is_placeholder(at);
    return found;
  });
  return found;
}

template <class T>
std::vector<double> widened(const Tensor& x) {
  const auto numbers = x.to_vector<T>();
  return std::vector<double>(numbers.begin(), numbers.end());
}

// A computed tensor's numbers, converted by the host: nothing is compiled for a check.
std::vector<double> numbers_of(const Tensor& x) {
  switch (x.dtype()) {
    case DType::f64: return x.to_vector<double>();
    case DType::f32: return widened<float>(x);
    case DType::i64: return widened<int64_t>(x);
    case DType::i32: return widened<int32_t>(x);
    case DType::u8: return widened<uint8_t>(x);
    default: return as_type(x, DType::f64).to_vector<double>();
  }
}

}  // namespace

std::string place_words(const Shape& shape, int64_t element) {
  if (shape.empty()) return "";
  const Dims strides = strides_of(shape);
  Dims at;
  for (int i = 0; i < shape.size(); ++i) at.push_back(element / strides[i] % shape[i]);
  return " at " + to_string(at);
}

std::optional<std::string> outside_words(const NamedParameter& parameter, std::span<const double> values) {
  const auto bad = std::find_if_not(values.begin(), values.end(), parameter.domain->holds);
  if (bad == values.end()) return std::nullopt;
  const Shape& shape = parameter.value.shape();
  const bool has_places = std::ssize(values) == element_count(shape);
  return fmt::format("expected {}, got {}{}", parameter.domain->expected, *bad,
                     has_places ? place_words(shape, bad - values.begin()) : "");
}

void expect_inside(std::string_view where, const NamedParameter& parameter) {
  std::vector<double> values;
  if (const auto number = literal_of(parameter.value)) {
    values = {*number};
  } else {
    const Tensor base = base_of(parameter.value);
    const bool is_known = base.is_evaluated() || (!graph::Tracing::active() && !has_placeholder(base));
    if (!is_known) return;
    values = numbers_of(base);
  }
  if (const auto words = outside_words(parameter, values)) graph::fail(where, parameter.name, *words);
}

namespace {

// Ends after a few levels: it is asked before something costly, not for a proof.
bool is_surely_positive(const Tensor& x, int levels) {
  if (levels == 0) return false;
  if (const auto number = literal_of(x)) return *number > 0;
  const graph::Node& node = graph::node_of(x);
  const auto operand = [&](size_t i) { return is_surely_positive(node.operands[i], levels - 1); };
  switch (node.op) {
    case Op::exp:
    case Op::softplus:
    case Op::sigmoid: return true;
    case Op::broadcast:
    case Op::reshape:
    case Op::transpose:
    case Op::slice:
    case Op::gather:
    case Op::sqrt:
    case Op::rsqrt: return !node.operands.empty() && operand(0);
    case Op::add:
    case Op::multiply:
    case Op::divide: return node.operands.size() == 2 && operand(0) && operand(1);
    default: return false;
  }
}

bool is_sigmoid(const Tensor& x) {
  const graph::Node* node = &graph::node_of(x);
  const auto repeats = [](const graph::Node& of) {
    return of.op == Op::broadcast || of.op == Op::reshape || of.op == Op::gather;
  };
  while (repeats(*node) && !node->operands.empty()) node = &graph::node_of(node->operands[0]);
  return node->op == Op::sigmoid;
}

}  // namespace

bool is_surely_inside(const NamedParameter& parameter) {
  const Domain& domain = *parameter.domain;
  // Any finite number will do: nothing but an overflow leads outside.
  if (domain.holds(-1.5)) return true;
  const std::scoped_lock lock(graph::graph_lock());
  if (!domain.holds(0.5)) return false;
  return domain.holds(1e300) ? is_surely_positive(parameter.value, 8) : is_sigmoid(parameter.value);
}

}  // namespace adit::stats
