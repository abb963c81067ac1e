// Sums of products by subscripts: diagonals and sums of single operands, then products of two at a time.
#include <algorithm>

#include <adit/einsum.hpp>

#include "graph/build/arguments.hpp"
#include "graph/build/einsum_subscripts.hpp"

namespace adit {

using namespace graph;

namespace einsums {

struct Factor {
  Tensor value;
  std::vector<int> labels;  // of its axes, all different
};

Labels bit(int label) { return Labels{1} << label; }

Labels set_of(const std::vector<int>& labels) {
  Labels set = 0;
  for (const int label : labels) set |= bit(label);
  return set;
}

int place_of(const std::vector<int>& labels, int label) {
  return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

Axes places_of(const std::vector<int>& labels, const std::vector<int>& wanted) {
  Axes places;
  for (const int label : wanted) places.push_back(place_of(labels, label));
  return places;
}

// The diagonal of two axes, which becomes the last one. A slice of the flat matrix: its derivative is a
// padding, no scatter.
Tensor diagonal(const Tensor& x, int first, int second) {
  Axes order;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis != first && axis != second) order.push_back(axis);
  order.push_back(first);
  order.push_back(second);
  const Tensor moved = transpose(x, order);
  const int64_t n = moved.dim(-1);
  Shape flat = moved.shape();
  flat.erase(x.rank() - 1);
  flat[x.rank() - 2] = n * n;
  Dims strides = Dims::filled(flat.size(), 1);
  strides[flat.size() - 1] = n + 1;
  return slice(reshape(moved, flat), Dims::filled(flat.size(), 0), flat, strides);
}

// Without axes that only repeat an element: of extent 1 where other operands have more.
Factor narrowed(const Tensor& x, std::vector<int> labels, const std::vector<int64_t>& extents) {
  Axes sole;
  for (int axis = x.rank() - 1; axis >= 0; --axis) {
    const auto at = static_cast<size_t>(labels[static_cast<size_t>(axis)]);
    if (x.shape()[axis] == 1 && extents[at] != 1) sole.push_back(axis), labels.erase(labels.begin() + axis);
  }
  return {sole.empty() ? x : squeeze(x, sole), labels};
}

// Diagonals of labels that are repeated, and sums over those that no one else has.
Factor reduced(const Factor& factor, Labels kept) {
  Tensor x = factor.value;
  std::vector<int> labels = factor.labels;
  for (size_t i = 0; i < labels.size();) {
    const auto again =
        std::find(labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, labels.end(), labels[i]);
    if (again == labels.end()) {
      ++i;
      continue;
    }
    const int label = labels[i];
    x = diagonal(x, static_cast<int>(i), static_cast<int>(again - labels.begin()));
    labels.erase(again);
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(i));
    labels.push_back(label);
  }
  Axes summed;
  std::vector<int> left;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (kept & bit(labels[i]))
      left.push_back(labels[i]);
    else
      summed.push_back(static_cast<int64_t>(i));
  }
  if (!summed.empty()) x = as_type(sum(x, summed), x.dtype());
  return {x, left};
}

// Each with the labels of the result, in one order.
Tensor spread(const Factor& factor, const std::vector<int>& labels, const std::vector<int64_t>& extents) {
  Shape shape;
  for (const int label : labels) shape.push_back(extents[static_cast<size_t>(label)]);
  return broadcast_in(factor.value, shape, places_of(labels, factor.labels));
}

std::vector<int> joined(std::initializer_list<const std::vector<int>*> lists) {
  std::vector<int> all;
  for (const std::vector<int>* list : lists) all.insert(all.end(), list->begin(), list->end());
  if (all.size() > static_cast<size_t>(max_rank))
    fail("einsum", "subscripts",
         fmt::format("expected products of at most {} axes, got {}", max_rank, all.size()));
  return all;
}

// a * b, summed over the labels of both that are not kept.
Factor multiplied(const Factor& a, const Factor& b, Labels kept, const std::vector<int64_t>& extents) {
  std::vector<int> batch, summed, only_a, only_b;
  const Labels in_a = set_of(a.labels), in_b = set_of(b.labels);
  for (const int label : a.labels)
    (!(in_b & bit(label)) ? only_a : kept & bit(label) ? batch : summed).push_back(label);
  for (const int label : b.labels)
    if (!(in_a & bit(label))) only_b.push_back(label);
  std::vector<int> labels = joined({&batch, &only_a, &only_b});
  if (summed.empty()) return {spread(a, labels, extents) * spread(b, labels, extents), labels};
  if (!only_a.empty() || !only_b.empty())
    return {dot(a.value, places_of(a.labels, summed), places_of(a.labels, batch), b.value,
                places_of(b.labels, summed), places_of(b.labels, batch)),
            labels};
  // Rows by rows: a sum of products that no matrix is read twice for. Halves are added up in f32.
  const DType type = a.value.dtype(), working = is_float(type) && size_of(type) == 2 ? DType::f32 : type;
  labels = joined({&batch, &summed});
  const Tensor product =
      as_type(spread(a, labels, extents), working) * as_type(spread(b, labels, extents), working);
  Axes axes;
  for (size_t i = batch.size(); i < labels.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  return {as_type(sum(product, axes), type), batch};
}

Factor contracted(std::vector<Factor> list, const Subscripts& subscripts) {
  std::vector<Labels> sets;
  for (const Factor& factor : list) sets.push_back(set_of(factor.labels));
  const Labels result = set_of(subscripts.result);
  for (const auto& [i, j] : contraction_order(sets, result, subscripts.extents)) {
    Labels kept = result;
    for (size_t k = 0; k < list.size(); ++k)
      if (k != i && k != j) kept |= set_of(list[k].labels);
    Factor product = multiplied(list[i], list[j], kept, subscripts.extents);
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(j));
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
    list.push_back(std::move(product));
  }
  return list[0];
}

}  // namespace einsums

Tensor einsum(std::string_view text, std::span<const Tensor> operands) {
  using namespace einsums;
  if (operands.empty()) fail("einsum", "operands", "expected at least one, got none");
  std::vector<Shape> shapes;
  for (size_t i = 0; i < operands.size(); ++i) {
    expect_tensor("einsum", fmt::format("operand {}", i), operands[i]);
    shapes.push_back(operands[i].shape());
  }
  const Subscripts subscripts = read_subscripts(text, shapes);
  DType type = operands[0].dtype();
  for (const Tensor& x : operands) type = promote(type, x.dtype());

  std::vector<Factor> list;
  for (size_t i = 0; i < operands.size(); ++i)
    list.push_back(narrowed(as_type(operands[i], type), subscripts.operands[i], subscripts.extents));
  for (size_t i = 0; i < operands.size(); ++i) {
    Labels kept = set_of(subscripts.result);
    for (size_t k = 0; k < operands.size(); ++k)
      if (k != i) kept |= set_of(list[k].labels);
    list[i] = reduced(list[i], kept);
  }
  const Factor product = contracted(std::move(list), subscripts);
  const Axes order = places_of(product.labels, subscripts.result);
  return order.empty() ? product.value : transpose(product.value, order);
}

}  // namespace adit
