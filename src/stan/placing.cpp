// Loops write columns, rows, diagonals of blocks: places at equal distances. Those are a box of the table,
// seen with more axes, and the table becomes cuts of what it was around the box. Derivatives are cuts too
// then; those of places without such an order are sums at places.
#include "stan/placing.hpp"

#include <algorithm>
#include <optional>

namespace adit::stan {

namespace {

// places[i] = first + the sum of index k of i times stride k, the last index quickest.
struct Lattice {
  int64_t first = 0;
  std::vector<int64_t> counts, strides;
};

std::optional<Lattice> lattice_of(const std::vector<int64_t>& places) {
  constexpr size_t most_axes = 4;
  Lattice found{.first = places[0], .counts = {}, .strides = {}};
  size_t done = 1;  // places that are explained
  while (done < places.size()) {
    if (found.counts.size() == most_axes || places.size() % done != 0) return {};
    const int64_t stride = places[done] - places[0];
    size_t count = 1;
    for (bool fits = true; fits && done * (count + 1) <= places.size(); count += fits) {
      const int64_t shift = stride * static_cast<int64_t>(count);
      for (size_t i = 0; fits && i < done; ++i) fits = places[done * count + i] == places[i] + shift;
    }
    if (count == 1 || stride <= 0) return {};
    found.counts.insert(found.counts.begin(), static_cast<int64_t>(count));
    found.strides.insert(found.strides.begin(), stride);
    done *= count;
  }
  return found;
}

// A box of a table with axes [..., block].
struct Box {
  Shape shape;                        // of the table, without the block
  std::vector<int64_t> first, count;  // by axis
  std::vector<size_t> order;          // axes of the lattice, from the widest stride
};

std::optional<Box> box_of(const Lattice& lattice, int64_t rows) {
  Box box;
  for (size_t i = 0; i < lattice.counts.size(); ++i) box.order.push_back(i);
  std::sort(box.order.begin(), box.order.end(),
            [&](size_t a, size_t b) { return lattice.strides[a] > lattice.strides[b]; });
  int64_t around = rows, left = lattice.first;
  for (const size_t axis : box.order) {
    const int64_t stride = lattice.strides[axis];
    if (around % stride != 0) return {};
    box.shape.push_back(around / stride);
    box.first.push_back(left / stride), box.count.push_back(lattice.counts[axis]);
    left %= stride, around = stride;
  }
  if (around > 1) box.shape.push_back(around), box.first.push_back(left), box.count.push_back(1);
  for (size_t i = 0; i < box.first.size(); ++i)
    if (box.first[i] + box.count[i] > box.shape[static_cast<int>(i)]) return {};
  return box;
}

// From the inside: along each axis, what stands before and behind the box there.
Tensor with_box(const Tensor& table, Tensor inside, const Box& box) {
  for (size_t i = box.count.size(); i-- > 0;) {
    const auto axis = static_cast<int>(i);
    const int64_t extent = box.shape[axis], end = box.first[i] + box.count[i];
    std::vector<Tensor> parts;
    const auto cut = [&](int64_t from, int64_t to) {
      if (from >= to) return;
      Dims starts = Dims::filled(table.rank(), 0), lengths = table.shape();
      for (size_t k = 0; k < i; ++k)
        starts[static_cast<int>(k)] = box.first[k], lengths[static_cast<int>(k)] = box.count[k];
      starts[axis] = from, lengths[axis] = to - from;
      parts.push_back(slice(table, starts, lengths));
    };
    cut(0, box.first[i]);
    parts.push_back(inside);
    cut(end, extent);
    if (parts.size() > 1) inside = concatenate(parts, axis);
  }
  return inside;
}

std::optional<Tensor> placed_in_box(const Tensor& table, const Tensor& part,
                                    const std::vector<int64_t>& places) {
  const std::optional<Lattice> lattice = lattice_of(places);
  if (!lattice) return {};
  const std::optional<Box> box = box_of(*lattice, table.shape()[0]);
  if (!box) return {};
  const int64_t block = table.shape()[1];
  Shape apart, as_table = box->shape, of_box;
  Axes order;
  for (const int64_t count : lattice->counts) apart.push_back(count);
  for (const size_t axis : box->order) order.push_back(static_cast<int>(axis));
  for (const int64_t count : box->count) of_box.push_back(count);
  order.push_back(apart.size());
  apart.push_back(block), as_table.push_back(block), of_box.push_back(block);
  Tensor inside = reshape(part, apart);
  if (!std::is_sorted(box->order.begin(), box->order.end())) inside = transpose(inside, order);
  const Tensor changed = with_box(reshape(table, as_table), reshape(inside, of_box), *box);
  return reshape(changed, table.shape());
}

}  // namespace

Tensor rows_placed(const Tensor& table, const Tensor& part, const std::vector<int64_t>& places) {
  const int64_t rows = table.shape()[0], count = std::ssize(places);
  if (count == 0) return table;
  if (const std::optional<Tensor> box = placed_in_box(table, part, places)) return *box;
  std::vector<int64_t> source(static_cast<size_t>(rows), -1);
  for (int64_t i = 0; i < count; ++i) source[static_cast<size_t>(places[static_cast<size_t>(i)])] = i;
  std::vector<uint8_t> is_new;
  for (int64_t& from : source) {
    is_new.push_back(from >= 0);
    from = std::max<int64_t>(from, 0);
  }
  const Tensor moved = take(part, adit::tensor(source), 0);
  if (std::all_of(is_new.begin(), is_new.end(), [](uint8_t x) { return x; })) return moved;
  return select(adit::tensor(is_new, {rows, 1}), moved, table);
}

}  // namespace adit::stan
