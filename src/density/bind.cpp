#include "density/bind.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>

#include <adit/ops.hpp>

namespace adit::sampling {

namespace {

struct Values {
  std::vector<double> reals;
  std::vector<int64_t> wholes;
};

Values values_of(const Tensor& x) {
  Values values;
  if (is_float(x.dtype()))
    values.reals = as_type(x, DType::f64).to_vector<double>();
  else
    values.wholes = as_type(x, DType::i64).to_vector<int64_t>();
  return values;
}

// [a, b...] to [b..., a]
std::vector<double> with_first_axis_last(const std::vector<double>& values, const Shape& shape) {
  const auto rows = static_cast<size_t>(shape[0]), columns = values.size() / rows;
  std::vector<double> turned(values.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j) turned[j * rows + i] = values[i * columns + j];
  return turned;
}

// Kernels trust that places lie inside. Runs have said by an error which do not; this is for all others.
void put_inside(std::vector<int64_t>& places, const Dims& extents) {
  const auto columns = static_cast<size_t>(extents.size());
  for (size_t i = 0; columns > 0 && i < places.size(); ++i)
    places[i] =
        std::clamp<int64_t>(places[i], 0, std::max<int64_t>(0, extents[static_cast<int>(i % columns)] - 1));
}

// The target of each update: the row-major number over the axes that the indices name.
std::vector<int64_t> targets_of(const Node& node, const std::vector<int64_t>& indices, int64_t& targets) {
  const Axes& axes = node.as<graph::AxisList>().axes;
  const auto width = static_cast<size_t>(axes.size());
  std::vector<int64_t> found(width ? indices.size() / width : 0);
  targets = 1;
  for (const int64_t axis : axes) targets *= node.shape[static_cast<int>(axis)];
  for (size_t i = 0; i < found.size(); ++i)
    for (size_t c = 0; c < width; ++c) {
      const int64_t extent = node.shape[static_cast<int>(axes[static_cast<int>(c)])];
      found[i] = found[i] * extent + std::clamp<int64_t>(indices[i * width + c], 0, extent - 1);
    }
  return found;
}

std::vector<int64_t> lists_of(const Segment& segment, const std::vector<int64_t>& indices) {
  int64_t targets = 0;
  const std::vector<int64_t> target = targets_of(*segment.updates, indices, targets);
  std::vector<int64_t> starts(static_cast<size_t>(targets) + 1, 0), order(target.size());
  for (const int64_t t : target) ++starts[static_cast<size_t>(t) + 1];
  for (size_t t = 0; t + 1 < starts.size(); ++t) starts[t + 1] += starts[t];
  if (segment.kind == Segment::Kind::starts) return starts;
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  for (size_t i = 0; i < target.size(); ++i)
    order[static_cast<size_t>(next[static_cast<size_t>(target[i])]++)] = static_cast<int64_t>(i);
  if (segment.kind == Segment::Kind::order) return order;
  std::vector<int64_t> ranks(order.size());
  for (size_t i = 0; i < order.size(); ++i) ranks[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return ranks;
}

class Binder {
 public:
  Binder(const stats::ModelState& model, const Density& density, const Segments& segments)
      : model_(model), density_(density), segments_(segments) {}

  void add(const DataSet& set) {
    const Tensors tensors = leaf_values(model_, density_, set);
    const size_t first = reals.size();
    if (first == 0) constant = tensors[0].item<double>();
    std::map<const Node*, Values> values;
    for (size_t i = 0; i < density_.leaves.size(); ++i) {
      Values& of_leaf = values[&graph::node_of(density_.leaves[i].node)] = values_of(tensors[i + 1]);
      put_inside(of_leaf.wholes, density_.leaves[i].extents);
    }
    for (const Segment& segment : segments_.reals) {
      const auto& numbers = values.at(segment.leaf).reals;
      const auto turned = segment.kind == Segment::Kind::columns
                              ? with_first_axis_last(numbers, segment.leaf->shape)
                              : numbers;
      reals.resize(first + static_cast<size_t>(segment.offset));
      if (!segment.is_wide) {
        reals.insert(reals.end(), turned.begin(), turned.end());
        continue;
      }
      for (const double number : turned) reals.push_back(static_cast<float>(number));
      for (const double number : turned) {  // what is left
        const double first_part = static_cast<float>(number);
        reals.push_back(std::isfinite(first_part) ? number - first_part : 0);
      }
    }
    reals.resize(first + static_cast<size_t>(segments_.reals_count));
    for (const Segment& segment : segments_.places) add_places(segment, values.at(segment.leaf).wholes);
  }

  std::vector<double> reals;
  std::vector<int32_t> places;
  double constant = 0;

 private:
  void add_places(const Segment& segment, const std::vector<int64_t>& wholes) {
    for (const int64_t number : segment.kind == Segment::Kind::values ? wholes : lists_of(segment, wholes)) {
      if (number < std::numeric_limits<int32_t>::min() || number > std::numeric_limits<int32_t>::max())
        throw Error(ErrorKind::bad_argument,
                    fmt::format("[sample] data: expected whole numbers of 32 bits, got {}", number));
      places.push_back(static_cast<int32_t>(number));
    }
  }

  const stats::ModelState& model_;
  const Density& density_;
  const Segments& segments_;
};

// What lies behind the values is zero: who compares data compares all of it.
template <class T>
Buffer uploaded(Device& device, const std::vector<T>& values) {
  const uint64_t bytes = values.size() * sizeof(T);
  const Buffer buffer = device.allocate(std::max<uint64_t>(16, bytes));
  if (bytes) device.write(buffer, values.data(), bytes);
  const std::vector<std::byte> rest(buffer.bytes() - bytes);
  if (!rest.empty()) device.write(buffer, rest.data(), rest.size(), bytes);
  return buffer;
}

}  // namespace

namespace {

stats::ModelState with_data(const stats::ModelState& model, const DataSet& set) {
  stats::ModelState own = model;
  for (auto& data : own.data)
    if (const auto at = set.find(data.name); at != set.end())
      data.value = as_type(at->second, data.value.dtype());
  return own;
}

// The same with the factors of sums of squares, and with rows that differ, beside the data.
stats::ModelState with_made_data(const stats::ModelState& model, const Density& density) {
  stats::ModelState own = model;
  Tensors sources;
  for (const SquareSum& sum : density.square_sums)
    for (const ColumnGroup& group : sum.groups)
      for (const DataPart& part : group.parts)
        if (part.value) sources.push_back(part.value);
  for (const CountedRows& rows : density.counted)
    sources.insert(sources.end(), rows.columns.begin(), rows.columns.end());
  const Tensors evaluated = stats::at_point(model, sources, {});
  eval(evaluated);
  size_t next = 0;
  for (const SquareSum& sum : density.square_sums) {
    Tensors values;
    for (const ColumnGroup& group : sum.groups)
      for (const DataPart& part : group.parts) values.push_back(part.value ? evaluated[next++] : Tensor());
    const Tensors factors = factors_of(sum, values);
    for (size_t i = 0; i < factors.size(); ++i)
      own.data.push_back({"square sum", sum.groups[i].factor, factors[i]});
  }
  for (const CountedRows& rows : density.counted) {
    const Tensors values = values_of(rows, std::span(evaluated).subspan(next, rows.columns.size()));
    next += rows.columns.size();
    Tensors placeholders = rows.distinct;
    placeholders.insert(placeholders.end(), {rows.weights, rows.count});
    for (size_t i = 0; i < placeholders.size(); ++i)
      own.data.push_back({"counted rows", placeholders[i], values[i]});
  }
  return own;
}

// The data that a graph of one of them alone came from.
std::string name_of_source(const stats::ModelState& model, const Tensor& source) {
  const Node* node = &graph::node_of(source);
  while (node->operands.size() == 1) node = &graph::node_of(node->operands[0]);
  for (const auto& data : model.data)
    if (&graph::node_of(data.placeholder) == node) return "data " + data.name;
  return "index";
}

void check_places(const stats::ModelState& model, const Places& all, const Tensor& value,
                  const std::string& of_set) {
  const std::vector<int64_t> places = as_type(value, DType::i64).to_vector<int64_t>();
  const auto columns = static_cast<size_t>(all.extents.size());
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t extent = all.extents[static_cast<int>(i % columns)];
    if (places[i] >= 0 && places[i] < extent) continue;
    throw Error(ErrorKind::bad_argument,
                fmt::format("[sample] {}{}: expected places from 0 to {}, got {} at place {}",
                            name_of_source(model, all.source), of_set, extent - 1, places[i], i / columns));
  }
}

}  // namespace

void check_places(const stats::ModelState& model, const Density& density, const std::vector<DataSet>& sets) {
  std::vector<Places> all = density.loop_places;
  for (const DensityLeaf& leaf : density.leaves)
    if (leaf.extents.size() > 0) all.push_back({leaf.source, leaf.extents});
  std::erase_if(all, [](const Places& each) { return each.source.size() == 0; });
  Tensors sources;
  for (const Places& each : all) sources.push_back(each.source);
  for (size_t set = 0; set < sets.size() && !all.empty(); ++set) {
    const Tensors values = stats::at_point(with_data(model, sets[set]), sources, {});
    const std::string of_set = sets.size() > 1 ? fmt::format(" of data set {}", set + 1) : "";
    for (size_t i = 0; i < all.size(); ++i) check_places(model, all[i], values[i], of_set);
  }
}

Tensors leaf_values(const stats::ModelState& model, const Density& density, const DataSet& set) {
  const stats::ModelState own = with_made_data(with_data(model, set), density);
  Tensors sources{density.constant};
  for (const DensityLeaf& leaf : density.leaves) sources.push_back(leaf.source);
  const Tensors tensors = stats::at_point(own, sources, {});
  eval(tensors);
  return tensors;
}

BoundData bind_data(const stats::ModelState& model, const Density& density, const Segments& segments,
                    const std::vector<DataSet>& sets, Device& device) {
  Binder binder(model, density, segments);
  for (const DataSet& set : sets) binder.add(set);
  BoundData bound;
  bound.set_reals = static_cast<uint32_t>(segments.reals_count);
  bound.set_places = static_cast<uint32_t>(segments.places_count);
  bound.constant = binder.constant;
  bound.places = uploaded(device, binder.places);
  bound.reals = density.type == DType::f64
                    ? uploaded(device, binder.reals)
                    : uploaded(device, std::vector<float>(binder.reals.begin(), binder.reals.end()));
  return bound;
}

}  // namespace adit::sampling
