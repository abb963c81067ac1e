// Scaled dot-product attention.
#include "graph/attention.hpp"

#include <cmath>
#include <limits>

#include <adit/network.hpp>

#include "graph/build/arguments.hpp"
#include "graph/op.hpp"
#include "graph/operands.hpp"

namespace adit {

using namespace graph;

namespace attentions {

constexpr std::string_view op = "attention";

void check_operand(std::string_view name, const Tensor& x) {
  expect_tensor(op, name, x);
  if (x.rank() < 2)
    fail(op, name, fmt::format("expected at least two axes, got the shape {}", to_string(x.shape())));
  if (is_complex(x.dtype())) fail(op, name, fmt::format("expected real numbers, got {}", name_of(x.dtype())));
}

Shape leading(const Tensor& x, int trailing) {
  Shape shape;
  for (int axis = 0; axis < x.rank() - trailing; ++axis) shape.push_back(x.shape()[axis]);
  return shape;
}

Shape joined(Shape shape, std::initializer_list<int64_t> more) {
  for (const int64_t extent : more) shape.push_back(extent);
  return shape;
}

// What the operands have in common, and the heads that share keys.
struct Form {
  Shape batch;                    // leading axes before the heads; of all that lead where there are no heads
  int64_t heads = 1, groups = 1;  // of keys; queries have heads * groups
  bool has_heads = false;
  int64_t queries, keys, depth, width;
  DType result;

  Shape outer() const { return has_heads ? joined(batch, {heads * groups}) : batch; }
  Shape inner() const { return has_heads ? joined(batch, {heads}) : batch; }
};

Form form_of(const Tensor& queries, const Tensor& keys, const Tensor& values) {
  check_operand("queries", queries);
  check_operand("keys", keys);
  check_operand("values", values);
  Form form;
  form.queries = queries.dim(-2);
  form.keys = keys.dim(-2);
  form.depth = queries.dim(-1);
  form.width = values.dim(-1);
  form.result = promote(promote(float_of(queries.dtype()), keys.dtype()), values.dtype());
  if (keys.dim(-1) != form.depth)
    fail(op, "keys",
         fmt::format("expected extent {} along the last axis, as queries have, got shape {}", form.depth,
                     to_string(keys.shape())));
  if (values.dim(-2) != form.keys)
    fail(op, "values",
         fmt::format("expected extent {} along the second to last axis, one a key, got shape {}", form.keys,
                     to_string(values.shape())));
  const auto heads_of = [](const Tensor& x) { return x.rank() > 2 ? x.dim(-3) : 1; };
  const int64_t of_queries = heads_of(queries), of_keys = heads_of(keys), of_values = heads_of(values);
  form.has_heads = std::max({queries.rank(), keys.rank(), values.rank()}) > 2;
  form.heads = of_keys == 1 ? of_values : of_keys;
  if (of_values != form.heads && of_values != 1)
    fail(op, "values",
         fmt::format("expected {} heads, as keys have, or one, got shape {}", form.heads,
                     to_string(values.shape())));
  if (of_queries != 1 && form.heads != 0 && of_queries % form.heads == 0)
    form.groups = of_queries / form.heads;
  else if (of_queries != 1 && of_queries != form.heads)
    fail(op, "queries",
         fmt::format("expected heads that are a multiple of the {} of keys and values, got shape {}",
                     form.heads, to_string(queries.shape())));
  if (form.has_heads) {
    form.batch = broadcast_shapes(op, "keys", leading(queries, 3), leading(keys, 3));
    form.batch = broadcast_shapes(op, "values", form.batch, leading(values, 3));
  }
  return form;
}

void check_mask(const Tensor& mask, const Shape& scores) {
  if (!mask) return;
  const std::string expected = fmt::format("expected a shape that broadcasts to {}, got {}",
                                           to_string(scores), to_string(mask.shape()));
  if (is_complex(mask.dtype()))
    fail(op, "mask", fmt::format("expected integers or real numbers, got {}", name_of(mask.dtype())));
  if (mask.rank() > scores.size()) fail(op, "mask", expected);
  for (int axis = 1; axis <= mask.rank(); ++axis)
    if (mask.dim(-axis) != scores[scores.size() - axis] && mask.dim(-axis) != 1) fail(op, "mask", expected);
}

Tensor masked(Tensor scores, const AttentionOptions& options) {
  const Tensor never = constant(scores.dtype(), -std::numeric_limits<double>::infinity());
  const Tensor& mask = options.mask;
  if (mask && is_integer(mask.dtype()))
    scores = select(not_equal(mask, constant(mask.dtype(), 0)), scores, never);
  else if (mask)
    scores = scores + as_type(mask, scores.dtype());
  if (!options.causal) return scores;
  const Shape corner{scores.dim(-2), scores.dim(-1)};
  return select(less_equal(iota(corner, DType::i32, 1), iota(corner, DType::i32, 0)), scores, never);
}

constexpr int64_t most_columns = 128;  // of keys and values, for the kernel

// Whether it is one operation: a device then says whether it has a kernel for it. Halves are faster by
// products, on a GPU that multiplies matrices of them, as long as the scores are not too many for its memory.
bool is_fused(const Form& form, const AttentionOptions& options) {
  if (options.fused) return *options.fused;
  constexpr int64_t many_bytes = int64_t{1} << 30;
  const bool suits = form.depth > 0 && form.depth <= most_columns && form.width <= most_columns;
  const int64_t scores = element_count(form.outer()) * form.queries * form.keys;
  if (!suits || options.mask || form.result == DType::f64) return false;
  return form.result == DType::f32 || scores > many_bytes / size_of(form.result);
}

}  // namespace attentions

Tensor attention(const Tensor& queries, const Tensor& keys, const Tensor& values,
                 const AttentionOptions& options) {
  using namespace attentions;
  const Form form = form_of(queries, keys, values);
  const Shape all_scores = joined(form.outer(), {form.queries, form.keys});
  check_mask(options.mask, all_scores);
  if (options.scale && !std::isfinite(*options.scale))
    fail(op, "scale", fmt::format("expected a finite number, got {}", *options.scale));
  if (options.mask && options.fused.value_or(false)) fail(op, "fused", "expected no mask with it, got one");
  const Shape result = joined(form.outer(), {form.queries, form.width});
  if (element_count(result) == 0 || form.keys == 0) return zeros(result, form.result);

  const double scale =
      options.scale.value_or(form.depth ? 1 / std::sqrt(static_cast<double>(form.depth)) : 1);
  // Scaled before the product: sums of halves stay inside of their type.
  const Tensor q =
      broadcast_to(as_type(queries, form.result), joined(form.outer(), {form.queries, form.depth}));
  const Tensor scaled = scale == 1 ? q : q * scale;
  // Queries that share keys are rows of one product.
  const int64_t rows = form.groups * form.queries;
  const Axes batch = Axes::counted(form.inner().size());
  const Tensor k = broadcast_to(as_type(keys, form.result), joined(form.inner(), {form.keys, form.depth}));
  const Tensor v = broadcast_to(as_type(values, form.result), joined(form.inner(), {form.keys, form.width}));
  if (is_fused(form, options)) {
    const int64_t count = element_count(form.inner());
    const int which = (options.causal ? attention_is_causal : 0) |
                      (options.fused.value_or(false) ? attention_is_asked_for : 0);
    const Tensor parts[] = {reshape(scaled, {count, form.groups, form.queries, form.depth}),
                            reshape(k, {count, form.keys, form.depth}),
                            reshape(v, {count, form.keys, form.width})};
    return reshape(make(Op::attention, {parts[0], parts[1], parts[2]}, Which{which}), result);
  }
  const Tensor scores =
      dot(reshape(scaled, joined(form.inner(), {rows, form.depth})), {-1}, batch, k, {-1}, batch);
  const DType working = size_of(form.result) == 2 ? DType::f32 : form.result;
  const Tensor seen = masked(as_type(reshape(scores, all_scores), working), options);
  const Tensor weights = as_type(softmax(seen), form.result);
  return reshape(dot(reshape(weights, joined(form.inner(), {rows, form.keys})), {-1}, batch, v, {-2}, batch),
                 result);
}

}  // namespace adit
