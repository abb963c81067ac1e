// Operations of shapes and places.
#include <fmt/format.h>

#include <adit/ops.hpp>

#include "door/call.hpp"

namespace adit::door {

namespace {

std::vector<Padding> padding_of(const Call& c) {
  const Dims low = c.dims("low"), high = c.dims("high");
  const Dims interior = c.dims("interior", Dims::filled(low.size(), 0));
  if (high.size() != low.size() || interior.size() != low.size())
    fail(c.name(), "high",
         fmt::format("expected as many of low, high and interior, got {}, {} and {}", low.size(), high.size(),
                     interior.size()));
  std::vector<Padding> list;
  for (int i = 0; i < low.size(); ++i) list.push_back({low[i], high[i], interior[i]});
  return list;
}

Tensors put_slice_of(const Call& c) {
  if (c.has("starts")) {
    if (c.tensors().size() != 2) fail("put_slice", "starts", "expected tensors or an attribute, got both");
    return {put_slice(c[0], c[1], c.dims("starts"))};
  }
  return {put_slice(c[0], c[1], c.from(2))};
}

using Taken = Tensor (*)(const Tensor&, const Tensor&, int);
Operation taken(const char* name, Taken f, int otherwise) {
  return {{name, "x, indices", otherwise < 0 ? "axis=-1" : "axis=0"},
          2,
          2,
          [f, otherwise](const Call& c) -> Tensors { return {f(c[0], c[1], c.axis("axis", otherwise))}; }};
}
using Indexed = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Axes&);
Operation indexed(const char* name, Indexed f) {
  return {{name, "x, indices, updates", "axes=[]"}, 3, 3, [f](const Call& c) -> Tensors {
            return {f(c[0], c[1], c[2], c.dims("axes", {}))};
          }};
}
using OfAxes = Tensor (*)(const Tensor&, const Axes&);
Operation of_axes(const char* name, OfAxes f) {
  return {
      {name, "x", "axes=[]"}, 1, 1, [f](const Call& c) -> Tensors { return {f(c[0], c.dims("axes", {}))}; }};
}
using Joined = Tensor (*)(std::span<const Tensor>, int);
Operation joined(const char* name, Joined f) {
  return {{name, "parts...", "axis=0"}, 1, -1, [f](const Call& c) -> Tensors {
            return {f(c.tensors(), c.axis("axis", 0))};
          }};
}

}  // namespace

std::vector<Operation> shape_operations() {
  return {
      {{"reshape", "x", "shape"},
       1,
       1,
       [](const Call& c) -> Tensors { return {reshape(c[0], c.dims("shape"))}; }},
      of_axes("squeeze", squeeze),
      of_axes("transpose", transpose),
      of_axes("reverse", reverse),
      {{"broadcast_to", "x", "shape"},
       1,
       1,
       [](const Call& c) -> Tensors { return {broadcast_to(c[0], c.dims("shape"))}; }},
      {{"broadcast_in", "x", "shape, axes"},
       1,
       1,
       [](const Call& c) -> Tensors { return {broadcast_in(c[0], c.dims("shape"), c.dims("axes"))}; }},
      {{"slice", "x", "starts, lengths, strides=1"},
       1,
       1,
       [](const Call& c) -> Tensors {
         return {slice(c[0], c.dims("starts"), c.dims("lengths"), c.dims("strides", {}))};
       }},
      {{"dynamic_slice", "x, starts...", "lengths"},
       1,
       -1,
       [](const Call& c) -> Tensors { return {dynamic_slice(c[0], c.from(1), c.dims("lengths"))}; }},
      {{"put_slice", "x, piece, starts...", "starts"}, 2, -1, put_slice_of},
      {{"pad", "x, value", "low, high, interior=0"},
       2,
       2,
       [](const Call& c) -> Tensors { return {pad(c[0], c[1], padding_of(c))}; }},
      joined("concatenate", concatenate),
      joined("stack", stack),
      {{"tile", "x", "repeats"},
       1,
       1,
       [](const Call& c) -> Tensors { return {tile(c[0], c.dims("repeats"))}; }},
      taken("take", take, 0),
      taken("take_along_axis", take_along_axis, -1),
      {{"gather", "x, indices", "axes=[]"},
       2,
       2,
       [](const Call& c) -> Tensors { return {gather(c[0], c[1], c.dims("axes", {}))}; }},
      indexed("indexed_add", indexed_add),
      indexed("indexed_put", indexed_put),
  };
}

}  // namespace adit::door
