#include "ops/random_graph.hpp"

#include <fmt/format.h>
#include <map>

#include <adit/transform.hpp>

#include "graph/op.hpp"
#include "graph/row.hpp"
#include "ops/random_source.hpp"

namespace adit::test {
namespace {

constexpr int64_t most_elements = 300;
constexpr int most_axes = 4;

// Names of functions that are harmless anywhere on the axis, so that a graph does not drown in NaN.
const std::vector<std::string> smooth{"sin", "cos",   "tanh",   "atan",   "sigmoid",    "softplus",
                                      "erf", "asinh", "square", "negate", "log_sigmoid"};
const std::vector<std::string> unary{"abs",   "sign",          "floor",       "ceil",        "round",
                                     "trunc", "exp",           "expm1",       "log1p",       "sqrt",
                                     "cbrt",  "erfc",          "relu",        "conjugate",   "real",
                                     "imag",  "is_nan",        "is_infinity", "logical_not", "exp2",
                                     "tan",   "stop_gradient", "flatten",     "zeros_like",  "sinh"};
const std::vector<std::string> integer_unary{
    "bitwise_not", "population_count", "count_leading_zeros", "negate", "abs", "sign"};
const std::vector<std::string> binary{
    "add",     "add",           "subtract",    "multiply",   "multiply",    "minimum",  "maximum",
    "divide",  "atan2",         "hypot",       "equal",      "not_equal",   "less",     "less_equal",
    "greater", "greater_equal", "logical_and", "logical_or", "logical_xor", "remainder"};
const std::vector<std::string> integer_binary{"bitwise_and", "bitwise_or",  "bitwise_xor",
                                              "left_shift",  "right_shift", "quotient",
                                              "remainder",   "add",         "multiply"};
const std::vector<std::string> running{"cumulative_sum", "cumulative_product", "cumulative_min",
                                       "cumulative_max"};
const std::vector<std::string> factors{"solve", "lu", "qr", "eigh", "svd", "eig", "inverse"};
const std::vector<std::string> over_windows{"window_sum", "window_product", "window_max", "window_min",
                                            "windows"};
const std::vector<std::string> reductions{"sum", "sum",  "reduce_max", "reduce_min", "all",
                                          "any", "mean", "variance",   "logsumexp",  "product"};
const std::vector<std::string> folds{"add", "multiply", "maximum", "minimum", "horner"};
const std::vector<std::string> compositions{"grad_of", "scan_of", "cond_of", "vmap_of", "while_of"};

// Every elementwise row with so many operands, so that a new one is drawn without a word here. A bitcast
// turns a rounding into another number: it has a step of its own, of integers.
std::vector<std::string> rows_of(int least, int most) {
  std::vector<std::string> names;
  for (const graph::Row& row : graph::table())
    if (row.kind == graph::Kind::elementwise && row.arity >= least && row.arity <= most &&
        row.op != graph::Op::bitcast && ops::callers().contains(row.name))
      names.emplace_back(row.name);
  return names;
}

// The functions in a list, one after the other.
Tensor chain(const ops::Json& names, Tensor x) {
  for (const ops::Json& name : names) x = ops::call(name.get<std::string>(), {x});
  return x;
}

Tensor make_composition(const GraphStep& step, const Tensors& x) {
  const ops::Json& names = step.attributes.at("chain");
  if (step.op == "grad_of")
    return value_and_grad_of([&](const Tensors& y) { return Tensors{sum(chain(names, y[0]))}; }, {x[0]}, {0})
        .grads[0];
  if (step.op == "vmap_of")
    return vmap_of([&](const Tensors& y) { return Tensors{chain(names, y[0]) * sum(y[0])}; }, {x[0]}, {0})[0];
  if (step.op == "scan_of")
    return scan(
               [&](const Tensors& carry, const Tensors& slice) {
                 const Tensor next = chain(names, carry[0]) * 0.5 + slice[0];
                 return Step{{next}, {next}};
               },
               {zeros_like(sum(x[0], {0}))}, {x[0]})
        .outputs[0];
  if (step.op == "while_of")
    return while_loop([](const Tensors& s) { return s[0] < 3; },
                      [&](const Tensors& s) {
                        return Tensors{s[0] + 1, chain(names, s[1])};
                      },
                      {full_integer({}, 0, DType::i32), x[0]})[1];
  return cond(
      any(x[0] > 0), [&](const Tensors& y) { return Tensors{chain(names, y[0])}; },
      [](const Tensors& y) { return Tensors{y[0] + y[0]}; }, {x[0]})[0];
}

class Generator {
 public:
  Generator(uint64_t seed, int operations) : random_(seed) {
    const int leaves = static_cast<int>(random_.between(1, 4));
    for (int i = 0; i < leaves; ++i) add_leaf(random_type(), random_shape());
    while (operations > 0 && ++attempts_ < 2000)
      if (try_step()) --operations;
  }

  RandomGraph finish() {
    std::vector<bool> used(graph_.steps.size(), false);
    for (const GraphStep& step : graph_.steps)
      for (const size_t operand : step.operands) used[operand] = true;
    for (size_t i = 0; i < graph_.steps.size(); ++i)
      if (!graph_.steps[i].op.empty() && (!used[i] || random_.chance(0.1))) graph_.outputs.push_back(i);
    return without_unused(graph_);
  }

 private:
  DType random_type() {
    static const std::vector<DType> types{DType::f32, DType::f32,  DType::f32, DType::f32, DType::f64,
                                          DType::f16, DType::bf16, DType::i32, DType::u8,  DType::i64,
                                          DType::u32, DType::i8,   DType::i16, DType::c64};
    return random_.pick(types);
  }
  Shape random_shape() {
    Shape shape;
    int64_t room = most_elements;
    for (int rank = static_cast<int>(random_.between(0, most_axes)); rank > 0; --rank) {
      shape.push_back(random_.between(1, std::min<int64_t>(room, random_.chance(0.1) ? 300 : 7)));
      room /= shape.back();
    }
    return shape;
  }
  size_t add_leaf(DType type, const Shape& shape, int64_t below = 0) {
    GraphStep step;
    step.leaf = random_.tensor(type, shape, below);
    graph_.steps.push_back(step);
    values_.push_back(from_bytes(type, shape, step.leaf.bytes));
    return values_.size() - 1;
  }
  size_t pick() { return random_.chance(0.5) ? values_.size() - 1 : random_.below(values_.size()); }
  const Tensor& value(size_t i) const { return values_[i]; }
  int64_t axis_of(size_t i) { return random_.between(0, value(i).rank() - 1); }

  std::vector<int64_t> some_axes(size_t i) {
    std::vector<int64_t> axes;
    for (int64_t a = 0; a < value(i).rank(); ++a)
      if (random_.chance(0.5)) axes.push_back(a);
    return axes;
  }
  // Another value that broadcasts with this one, or the same.
  size_t partner(size_t i) {
    for (int k = 0; k < 8; ++k) {
      const size_t j = random_.below(values_.size());
      const Shape &a = value(i).shape(), &b = value(j).shape();
      bool fits = true;
      for (int d = 1; d <= std::min(a.size(), b.size()); ++d) {
        const int64_t x = a[a.size() - d], y = b[b.size() - d];
        fits = fits && (x == y || x == 1 || y == 1);
      }
      if (fits) return j;
    }
    return random_.chance(0.3) ? add_leaf(value(i).dtype(), value(i).shape()) : i;
  }

  bool try_step() {
    GraphStep step;
    switch (random_.below(16)) {
      case 0: step = {random_.pick(smooth), {pick()}, ops::Json::object(), {}}; break;
      case 1: step = {random_.pick(unary), {pick()}, ops::Json::object(), {}}; break;
      case 2:
      case 3: step = binary_step(); break;
      case 4: step = type_step(); break;
      case 5:
      case 6: step = shape_step(); break;
      case 7: step = index_step(); break;
      case 8:
      case 9: step = reduction_step(); break;
      case 10: step = product_step(); break;
      case 11: step = any_step(); break;
      case 12: step = fold_step(); break;
      case 13: step = factor_step(); break;
      case 14: step = window_step(); break;
      default: step = composition_step(); break;
    }
    return !step.op.empty() && take(std::move(step));
  }

  // Keeps a step if it can be built and stays small; its types and shapes are those of the real thing.
  bool take(GraphStep step) {
    try {
      Tensors operands;
      for (const size_t i : step.operands) operands.push_back(value(i));
      const Tensor result = apply_step(step, operands);
      if (result.size() > most_elements || result.size() == 0 || result.rank() > most_axes) return false;
      graph_.steps.push_back(std::move(step));
      values_.push_back(result);
      return true;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::internal) throw;
      return false;
    }
  }

  GraphStep binary_step() {
    const size_t a = pick();
    if (random_.chance(0.15)) {
      const size_t b = partner(a);
      return {"select", {partner(a), a, b}, ops::Json::object(), {}};
    }
    const bool whole = is_integer(value(a).dtype()) && random_.chance(0.5);
    if (whole && random_.chance(0.3)) return {random_.pick(integer_unary), {a}, ops::Json::object(), {}};
    const size_t b = partner(a);
    return {random_.pick(whole ? integer_binary : binary), {a, b}, ops::Json::object(), {}};
  }
  // Any elementwise row. Those of many operands are mostly about words of 32 bits.
  GraphStep any_step() {
    static const std::vector<std::string> one = rows_of(1, 1), two = rows_of(2, 2), more = rows_of(3, 99);
    const size_t a = pick();
    if (random_.chance(0.5)) return {random_.pick(one), {a}, ops::Json::object(), {}};
    if (random_.chance(0.6)) return {random_.pick(two), {a, partner(a)}, ops::Json::object(), {}};
    const std::string op = random_.pick(more);
    const DType type = random_.chance(0.7) ? DType::u32 : value(a).dtype();
    GraphStep step{op, {}, ops::Json::object(), {}};
    for (int i = arity_of(op); i > 0; --i) step.operands.push_back(add_leaf(type, value(a).shape()));
    return step;
  }
  static int arity_of(const std::string& name) {
    for (const graph::Row& row : graph::table())
      if (row.name == name) return row.arity;
    return 0;
  }

  GraphStep type_step() {
    const size_t x = pick();
    static const std::map<DType, DType> other_sign{{DType::u8, DType::i8},   {DType::i8, DType::u8},
                                                   {DType::u32, DType::i32}, {DType::i32, DType::u32},
                                                   {DType::i64, DType::u64}, {DType::i16, DType::u16}};
    if (const auto other = other_sign.find(value(x).dtype());
        other != other_sign.end() && random_.chance(0.3))
      return {"bitcast", {x}, {{"type", std::string(name_of(other->second))}}, {}};
    return {"as_type", {x}, {{"type", std::string(name_of(random_type()))}}, {}};
  }

  GraphStep shape_step() {
    const size_t x = pick();
    const Shape& shape = value(x).shape();
    const int rank = shape.size();
    if (rank == 0)
      return {"broadcast_to", {x}, {{"shape", {random_.between(1, 40), random_.between(1, 6)}}}, {}};
    switch (random_.below(9)) {
      case 8: return box_step(x);
      case 0: return {"transpose", {x}, {{"axes", random_.permutation(rank)}}, {}};
      case 1: return {"reshape", {x}, {{"shape", random_.factors(value(x).size())}}, {}};
      case 2: return {"reverse", {x}, {{"axes", some_axes(x)}}, {}};
      case 3: return slice_step(x);
      case 4: return pad_step(x);
      case 5: return {"concatenate", {x, partner(x), x}, {{"axis", axis_of(x)}}, {}};
      case 6: return {"expand_dims", {x}, {{"axis", axis_of(x)}}, {}};
      default: {
        std::vector<int64_t> wider(shape.begin(), shape.end());
        wider.insert(wider.begin(), random_.between(1, 4));
        return {"broadcast_to", {x}, {{"shape", wider}}, {}};
      }
    }
  }
  GraphStep slice_step(size_t x) {
    std::vector<int64_t> starts, lengths, strides;
    for (const int64_t extent : value(x).shape()) {
      starts.push_back(random_.between(0, extent - 1));
      lengths.push_back(random_.between(1, extent - starts.back()));
      strides.push_back(random_.between(1, 3));
    }
    return {"slice", {x}, {{"starts", starts}, {"lengths", lengths}, {"strides", strides}}, {}};
  }
  // A box at a place that is known when it runs.
  GraphStep box_step(size_t x) {
    std::vector<int64_t> lengths;
    std::vector<size_t> starts;
    for (const int64_t extent : value(x).shape()) {
      lengths.push_back(random_.between(1, extent));
      starts.push_back(add_leaf(DType::i32, {}, extent));
    }
    const bool puts = random_.chance(0.5);
    GraphStep step{puts ? "put_slice" : "dynamic_slice", {x}, ops::Json::object(), {}};
    if (puts) step.operands.push_back(add_leaf(value(x).dtype(), Shape(lengths)));
    if (!puts) step.attributes["lengths"] = lengths;
    step.operands.insert(step.operands.end(), starts.begin(), starts.end());
    return step;
  }
  GraphStep pad_step(size_t x) {
    std::vector<int64_t> low, high, interior;
    for (int i = 0; i < value(x).rank(); ++i) {
      low.push_back(random_.between(-1, 2));
      high.push_back(random_.between(-1, 2));
      interior.push_back(random_.between(0, 1));
    }
    const size_t with = add_leaf(value(x).dtype(), {});
    return {"pad", {x, with}, {{"low", low}, {"high", high}, {"interior", interior}}, {}};
  }

  GraphStep index_step() {
    const size_t x = pick();
    if (value(x).rank() == 0) return {};
    const int64_t axis = axis_of(x), extent = value(x).shape()[static_cast<int>(axis)];
    const int64_t count = random_.between(1, 5);
    switch (random_.below(5)) {
      case 0: return {"take", {x, add_leaf(DType::i32, {count}, extent)}, {{"axis", axis}}, {}};
      case 1: {
        Shape places = value(x).shape();
        places[static_cast<int>(axis)] = count;
        return {"take_along_axis", {x, add_leaf(DType::i64, places, extent)}, {{"axis", axis}}, {}};
      }
      case 2: return {"gather", {x, add_leaf(DType::i32, {count, 1}, extent)}, {{"axes", {axis}}}, {}};
      default: {
        Shape pieces = value(x).shape();
        pieces.erase(static_cast<int>(axis));
        pieces.insert(0, count);
        const size_t places = add_leaf(DType::i32, {count, 1}, extent),
                     updates = add_leaf(value(x).dtype(), pieces);
        return {random_.chance(0.5) ? "indexed_add" : "indexed_put",
                {x, places, updates},
                {{"axes", {axis}}},
                {}};
      }
    }
  }

  GraphStep fourier_step(size_t x) {
    ops::Json attributes{{"axis", axis_of(x)}};
    if (random_.chance(0.5)) attributes["length"] = random_.between(1, 20);
    if (random_.chance(0.15)) {
      attributes["length"] = random_.between(1, 20);
      return {"irfft", {x}, attributes, {}};
    }
    const char* forward = is_complex(value(x).dtype()) || random_.chance(0.5) ? "fft" : "rfft";
    return {random_.chance(0.3) ? "ifft" : forward, {x}, attributes, {}};
  }

  GraphStep reduction_step() {
    const size_t x = pick();
    if (value(x).rank() > 0 && random_.chance(0.2))
      return {random_.chance(0.5) ? "softmax" : "log_softmax", {x}, {{"axes", {axis_of(x)}}}, {}};
    if (value(x).rank() > 0 && random_.chance(0.15))
      return {random_.chance(0.5) ? "argmax" : "argmin", {x}, {{"axis", axis_of(x)}}, {}};
    if (value(x).rank() > 0 && random_.chance(0.15))
      return random_.chance(0.4) ? GraphStep{random_.chance(0.6) ? "sort" : "argsort",
                                             {x},
                                             {{"axis", axis_of(x)}, {"descending", random_.chance(0.5)}},
                                             {}}
                                 : GraphStep{random_.pick(running),
                                             {x},
                                             {{"axis", axis_of(x)}, {"reverse", random_.chance(0.5)}},
                                             {}};
    if (value(x).rank() > 0 && value(x).size() > 0 && random_.chance(0.1)) return fourier_step(x);
    return {random_.pick(reductions), {x}, {{"axes", some_axes(x)}, {"keep_axes", random_.chance(0.5)}}, {}};
  }

  GraphStep attention_step() {
    const DType type = random_.chance(0.7) ? DType::f32 : DType::f64;
    const int64_t batch = random_.between(1, 2), groups = random_.between(1, 2),
                  count = random_.between(1, 9), keys = random_.between(1, 40), depth = random_.between(1, 9),
                  width = random_.between(1, 5);
    // Of sines: a result that can be moved shows how far those of attention may differ.
    std::vector<size_t> parts;
    for (const Shape& shape :
         {Shape{batch, groups, count, depth}, Shape{batch, 1, keys, depth}, Shape{batch, 1, keys, width}}) {
      if (!take({"sin", {add_leaf(type, shape)}, ops::Json::object(), {}})) return {};
      parts.push_back(values_.size() - 1);
    }
    return {"attention", parts, {{"fused", true}, {"causal", random_.chance(0.5)}}, {}};
  }

  GraphStep product_step() {
    if (random_.chance(0.1)) return attention_step();
    const size_t x = pick();
    if (value(x).rank() == 0) return {};
    const int axis = static_cast<int>(axis_of(x));
    for (int k = 0; k < 6; ++k) {
      const size_t y = k < 5 ? random_.below(values_.size()) : x;
      for (int other = 0; other < value(y).rank(); ++other)
        if (value(y).shape()[other] == value(x).shape()[axis])
          return {"dot",
                  {x, y},
                  {{"contract_a", {axis}},
                   {"batch_a", ops::Json::array()},
                   {"contract_b", {other}},
                   {"batch_b", ops::Json::array()}},
                  {}};
    }
    return {};
  }

  GraphStep fold_step() {
    const size_t x = pick(), first = add_leaf(value(x).dtype(), {});
    return {"reduce",
            {x, first},
            {{"axes", some_axes(x)}, {"keep_axes", random_.chance(0.5)}, {"combine", random_.pick(folds)}},
            {}};
  }

  // The factor of a matrix that is far from singular, and a system with it.
  GraphStep factor_step() {
    const DType type = random_.chance(0.5) ? DType::f32 : DType::f64;
    const int64_t n = random_.between(1, 6);
    const size_t wide = add_leaf(type, {n, n + 4});
    const ops::Json none = ops::Json::array();
    if (!take({"dot",
               {wide, wide},
               {{"contract_a", {1}}, {"batch_a", none}, {"contract_b", {1}}, {"batch_b", none}},
               {}}))
      return {};
    // What does not depend on the signs and the order of vectors.
    if (random_.chance(0.5)) {
      const std::string op = random_.pick(factors);
      const size_t square = values_.size() - 1;
      if (op == "solve") return {op, {square, add_leaf(type, {n, 2})}, ops::Json::object(), {}};
      return {op, {square}, {{"result", "product"}}, {}};
    }
    if (!take({"cholesky", {values_.size() - 1}, ops::Json::object(), {}})) return {};
    const size_t factor = values_.size() - 1, right = add_leaf(type, {n, n});
    return {"triangular_solve",
            {factor, right},
            {{"lower", true}, {"left_side", random_.chance(0.5)}, {"transpose", random_.chance(0.5)}},
            {}};
  }

  // Options of windows over axes, with windows that fit.
  ops::Json window_options(int count, const char* dilations) {
    ops::Json strides = ops::Json::array(), padding = strides, dilated = strides;
    for (int i = 0; i < count; ++i) {
      strides.push_back(random_.between(1, 3));
      padding.push_back({random_.between(-1, 2), random_.between(0, 3)});
      dilated.push_back(random_.between(1, 2));
    }
    return {{"strides", strides}, {"padding", padding}, {dilations, dilated}};
  }

  GraphStep window_step() {
    const size_t x = pick();
    const int rank = value(x).rank();
    if (rank == 0) return {};
    if (rank > 2 && random_.chance(0.5)) {
      ops::Json options = window_options(rank - 2, "kernel_dilation");
      std::vector<int64_t> kernel{random_.between(1, 4), value(x).dim(1)};
      for (int axis = 2; axis < rank; ++axis) kernel.push_back(random_.between(1, 3));
      return {"conv", {x, add_leaf(value(x).dtype(), Shape(kernel))}, options, {}};
    }
    const std::string op = random_.pick(over_windows);
    ops::Json options = window_options(rank, "dilations");
    std::vector<int64_t> window;
    for (int axis = 0; axis < rank; ++axis) window.push_back(random_.between(op == "windows" ? 2 : 1, 4));
    options["window"] = window;
    std::vector<size_t> operands{x};
    if (op == "windows") operands.push_back(add_leaf(value(x).dtype(), {}));
    return {op, operands, options, {}};
  }

  GraphStep composition_step() {
    const size_t x = pick();
    if (!is_float(value(x).dtype())) return {};
    const std::string op = random_.pick(compositions);
    if (value(x).rank() == 0 && (op == "scan_of" || op == "vmap_of")) return {};
    ops::Json names = ops::Json::array();
    for (int64_t i = random_.between(1, 3); i > 0; --i) names.push_back(random_.pick(smooth));
    return {op, {x}, {{"chain", names}}, {}};
  }

  RandomSource random_;
  RandomGraph graph_;
  Tensors values_;
  int attempts_ = 0;
};

}  // namespace

Tensor apply_step(const GraphStep& step, const Tensors& operands) {
  return step.attributes.contains("chain") ? make_composition(step, operands)
                                           : ops::call(step.op, operands, step.attributes);
}

RandomGraph random_graph(uint64_t seed, int operations) { return Generator(seed, operations).finish(); }

RandomGraph without_unused(const RandomGraph& graph) {
  std::vector<bool> needed(graph.steps.size(), false);
  for (const size_t output : graph.outputs) needed[output] = true;
  for (size_t i = graph.steps.size(); i-- > 0;)
    if (needed[i])
      for (const size_t operand : graph.steps[i].operands) needed[operand] = true;
  RandomGraph smaller;
  std::vector<size_t> place(graph.steps.size());
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    if (!needed[i]) continue;
    place[i] = smaller.steps.size();
    smaller.steps.push_back(graph.steps[i]);
    for (size_t& operand : smaller.steps.back().operands) operand = place[operand];
  }
  for (const size_t output : graph.outputs) smaller.outputs.push_back(place[output]);
  return smaller;
}

std::string to_text(const RandomGraph& graph) {
  std::string text;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    const GraphStep& step = graph.steps[i];
    if (step.op.empty()) {
      text += fmt::format("  Tensor v{} = leaf(DType::{}, {});", i, name_of(step.leaf.type),
                          to_string(step.leaf.shape));
      if (element_count(step.leaf.shape) <= 8)
        text += "  // " + from_bytes(step.leaf.type, step.leaf.shape, step.leaf.bytes).to_string();
      text += "\n";
      continue;
    }
    std::string operands;
    for (const size_t operand : step.operands)
      operands += fmt::format("{}v{}", operands.empty() ? "" : ", ", operand);
    text += fmt::format("  Tensor v{} = {}({}, {});\n", i, step.op, operands, step.attributes.dump());
  }
  text += "  outputs:";
  for (const size_t output : graph.outputs) text += fmt::format(" v{}", output);
  return text + "\n";
}

}  // namespace adit::test
