// Convolutions: which have kernels of their own on a device, and those kernels.
#include "ops/conv.hpp"

#include <algorithm>
#include <optional>

#include "compile/kernels.hpp"
#include "graph/op.hpp"
#include "graph/windows.hpp"
#include "ops/conv_winograd.hpp"

namespace adit::compile {

namespace conv_work_parts {

constexpr int64_t few_products = int64_t{1} << 18;  // as of a dot that is computed where it is read
constexpr int64_t few_host_products = 1 << 12;      // the host's tiles need no more to be faster
constexpr int64_t few_steps = 512;                  // of one result, which one invocation adds up
constexpr int64_t few_filters = 8;                  // of a group: less than tiles are made for

ops::ConvShape shape_of(const Node& node) {
  const graph::WindowAttributes& a = graph::windows_of(node);
  const Tensor &x = node.operands[0], &w = node.operands[1];
  ops::ConvShape shape;
  shape.batch = x.dim(0);
  shape.groups = a.groups;
  shape.filters = w.dim(0) / a.groups;
  shape.channels = w.dim(1);
  const int spatial = a.axes.size();
  ops::ConvAxis* axis = shape.axes.end() - spatial;
  for (int i = 0; i < spatial; ++i)
    *axis++ = {x.dim(2 + i), a.lengths[i], a.results[i], a.strides[i], a.dilations[i], a.low[i], a.spread[i]};
  return shape;
}

bool is_real_float(DType type) { return type == DType::f32 || type == DType::f64; }

// Results that an invocation of a GPU has side by side: several, where they leave enough invocations.
int64_t results_together(const ops::ConvShape& shape) {
  constexpr int64_t many_invocations = 1 << 16;  // what fills a large GPU
  for (const int64_t together : {4, 2})
    if (shape.axes[2].output >= together && ops::few_conv_teams(shape, together) >= many_invocations)
      return together;
  return 1;
}

bool has_gaps(const ops::ConvShape& shape) {
  return std::any_of(shape.axes.begin(), shape.axes.end(),
                     [](const ops::ConvAxis& axis) { return axis.spread != 1; });
}

// One invocation adds up a result: not where there are many steps, unless a GPU has enough to do.
// On a CPU, those that the host has no way of its own for.
bool is_direct(const ops::ConvShape& shape, DType type, bool on_gpu) {
  if (shape.filters >= few_filters || (!on_gpu && is_real_float(type))) return false;
  const bool may = on_gpu && !has_gaps(shape) && !is_complex(type);
  const bool many = may && results_together(shape) > 1;
  // A tile has 32 filters. On an H200 2 to 4 of them took 0.72 to 0.76 of the tiles' time this way, 5 and
  // 6 1.35 and 1.53.
  constexpr int64_t fewest_filters = 4, some_results = 1 << 14, some_steps = 1 << 12;
  const bool some = may && shape.filters <= fewest_filters && shape.steps() <= some_steps &&
                    ops::few_conv_teams(shape, 1) >= some_results;
  return many || some || shape.steps() <= few_steps;
}

// A team of a GPU adds up a group's results.
bool is_by_steps(const ops::ConvShape& shape, DType type) {
  return ops::has_few_results(shape) && !is_complex(type);
}

// Gradients of kernels on a GPU have many steps and few windows: an x with its padding in memory and its
// images side by side makes what they read of it a sum of what a window adds and what a step adds. Not where
// that would be a far larger x.
bool turns_on_gpu(const ops::ConvShape& shape, DType type) {
  const bool by_product = !is_direct(shape, type, true) && !is_by_steps(shape, type) && !is_complex(type);
  const ops::ConvShape turned = ops::turned_conv(shape);
  constexpr int64_t most_elements = int64_t{1} << 31;
  return by_product && shape.runs_along_steps() && turned.x_count() < most_elements &&
         turned.inputs() <= 2 * shape.inputs();
}

// The same convolution of a larger x, whose padding lies in memory.
Tensor of_padded(const Node& node, const Tensor& x, const Tensor& w) {
  graph::WindowAttributes a = graph::windows_of(node);
  std::vector<Padding> padding(2);
  for (int i = 0; i < a.axes.size(); ++i) {
    const int64_t needed = (a.results[i] - 1) * a.strides[i] + (a.lengths[i] - 1) * a.dilations[i] + 1;
    const int64_t spanned = (x.dim(2 + i) - 1) * a.spread[i] + 1;
    padding.push_back({a.low[i], needed - a.low[i] - spanned, a.spread[i] - 1});
    a.low[i] = 0;
    a.spread[i] = 1;
  }
  return graph::make_conv(pad(x, graph::constant(x.dtype(), 0), padding), w, a);
}

// An x with gaps of s - 1 along an axis, as gradients of strided convolutions have: every s-th result meets
// the same elements of the kernel, and the others only gaps. Each such set of results is a convolution
// without gaps.
std::optional<int> axis_with_gaps(const graph::WindowAttributes& a) {
  constexpr int64_t most_phases = 8;
  for (int i = 0; i < a.axes.size(); ++i)
    if (a.spread[i] > 1 && a.spread[i] <= most_phases && a.strides[i] == 1 && a.dilations[i] == 1) return i;
  return std::nullopt;
}

Tensor by_phases(const graph::WindowAttributes& a, int i, const Tensor& x, const Tensor& w) {
  const int64_t gap = a.spread[i], count = (a.results[i] + gap - 1) / gap;
  std::vector<Tensor> phases;
  for (int64_t phase = 0; phase < gap; ++phase) {
    graph::WindowAttributes one = a;
    const int64_t first = ((a.low[i] - phase) % gap + gap) % gap;
    one.spread[i] = 1;
    one.results[i] = count;
    one.low[i] = (a.low[i] - phase - first) / gap;
    one.lengths[i] = std::max<int64_t>(0, (a.lengths[i] - first + gap - 1) / gap);
    Dims starts = Dims::filled(w.rank(), 0), lengths = w.shape(), strides = Dims::filled(w.rank(), 1);
    starts[2 + i] = std::min(first, a.lengths[i]);
    lengths[2 + i] = a.lengths[i] - starts[2 + i];
    strides[2 + i] = gap;
    const bool is_empty = one.lengths[i] == 0;
    Shape shape{x.dim(0), w.dim(0)};
    for (const int64_t results : one.results) shape.push_back(results);
    phases.push_back(is_empty ? zeros(shape, x.dtype())
                              : graph::make_conv(x, slice(w, starts, lengths, strides), one));
  }
  Shape joined = phases[0].shape(), wanted = joined;
  joined[2 + i] = count * gap;
  wanted[2 + i] = a.results[i];
  return slice(reshape(stack(phases, 3 + i), joined), Dims::filled(joined.size(), 0), wanted);
}

std::vector<Work> directly(const Node& node, const ops::ConvShape& conv, Device& device) {
  const bool rows = device.info().kind == DeviceKind::cpu;
  const int64_t teams = rows ? conv.results() / conv.outputs() : conv.results();
  std::vector<Work> list;
  list.push_back(kernel_on(ops::direct_conv_program(conv, node.type, rows), static_cast<uint64_t>(teams),
                           {&graph::node_of(node.operands[0]), &graph::node_of(node.operands[1]), &node},
                           device));
  list[0].operations = 2.0 * static_cast<double>(conv.results()) * static_cast<double>(conv.steps());
  return list;
}

std::vector<Work> with_few_filters(const Node& node, const ops::ConvShape& conv, Device& device) {
  const int64_t together = results_together(conv);
  std::vector<Work> list;
  list.push_back(kernel_on(ops::few_conv_program(conv, storage_type(node.type), together),
                           static_cast<uint64_t>(ops::few_conv_teams(conv, together)),
                           {&graph::node_of(node.operands[0]), &graph::node_of(node.operands[1]), &node},
                           device));
  list[0].operations = 2.0 * static_cast<double>(conv.results()) * static_cast<double>(conv.steps());
  return list;
}

std::vector<Work> by_steps(const Node& node, const ops::ConvShape& conv, Workshop& shop, Device& device) {
  const Node &x = graph::node_of(node.operands[0]), &w = graph::node_of(node.operands[1]);
  const kernel::Type type = storage_type(node.type);
  const int64_t splits = ops::conv_steps_splits(conv, device.limits());
  const DType summed = size_of(node.type) == 2 ? DType::f32 : node.type;
  const Node& sums = splits == 1 ? node : shop.make_scratch(summed, {splits * conv.results()});
  std::vector<Work> list;
  list.push_back(kernel_on(ops::conv_steps_program(conv, type, splits),
                           static_cast<uint64_t>(conv.groups * splits), {&x, &w, &sums}, device));
  list[0].operations = 2.0 * static_cast<double>(conv.results()) * static_cast<double>(conv.steps());
  if (splits > 1)
    list.push_back(kernel_on(ops::conv_steps_sum_program(conv, type, splits),
                             static_cast<uint64_t>(conv.results()), {&sums, &node}, device));
  return list;
}

// --- Operands whose axes only change places, as those of gradients do

struct Stride {
  int64_t extent = 1, apart = 0;
};
using Strides = std::vector<Stride>;

// The same elements as axes of these extents; none where no strides tell their places.
std::optional<Strides> reshaped(const Strides& from, const Shape& shape) {
  Strides old, made;
  for (const Stride& axis : from)
    if (axis.extent != 1) old.push_back(axis);
  for (const int64_t extent : shape) made.push_back({extent, 0});
  size_t i = 0;
  for (size_t k = 0; k < made.size();) {
    if (made[k].extent == 1) {
      ++k;
      continue;
    }
    size_t next_old = i + 1, next_made = k + 1;
    int64_t have = old[i].extent, want = made[k].extent;
    while (have != want) {
      if (want < have)
        want *= made[next_made++].extent;
      else
        have *= old[next_old++].extent;
    }
    for (size_t j = i; j + 1 < next_old; ++j)
      if (old[j].apart != old[j + 1].extent * old[j + 1].apart) return std::nullopt;
    int64_t apart = old[next_old - 1].apart;
    for (size_t j = next_made; j-- > k;) {
      made[j].apart = apart;
      apart *= made[j].extent;
    }
    i = next_old, k = next_made;
  }
  return made;
}

// Along axes that are reversed elements lie so far before each other.
struct Seen {
  const Node* base = nullptr;
  Strides strides;
};

bool moves_elements(const Node& node) {
  return !node.computed &&
         (node.op == graph::Op::reshape || node.op == graph::Op::transpose || node.op == graph::Op::reverse);
}

// As the node has them, where what it is made of has these.
std::optional<Strides> moved(const Node& node, Strides strides) {
  if (node.op == graph::Op::reshape) return reshaped(strides, node.shape);
  const Axes& axes = node.as<graph::AxisList>().axes;
  if (node.op == graph::Op::reverse) {
    for (const int64_t axis : axes) strides[static_cast<size_t>(axis)].apart *= -1;
    return strides;
  }
  Strides turned;
  for (const int64_t axis : axes) turned.push_back(strides[static_cast<size_t>(axis)]);
  return turned;
}

std::optional<Seen> seen_through(const Node& node) {
  std::vector<const Node*> moves;  // the outermost first
  const Node* base = &node;
  for (; moves_elements(*base); base = &graph::node_of(base->operands[0])) moves.push_back(base);
  Strides strides;
  for (const int64_t extent : base->shape) strides.push_back({extent, 0});
  int64_t apart = 1;
  for (size_t i = strides.size(); i-- > 0;) {
    strides[i].apart = apart;
    apart *= strides[i].extent;
  }
  for (auto move = moves.rbegin(); move != moves.rend(); ++move) {
    const auto next = moved(**move, std::move(strides));
    if (!next) return std::nullopt;
    strides = *next;
  }
  return Seen{base, strides};
}

// An operand whose first two axes are these three: how far apart each lies, in what.
struct Operand {
  const Node* base = nullptr;
  std::array<int64_t, 3> apart{};
  bool reversed = false;  // along all other axes
};
std::optional<Operand> operand_of(const Node& node, std::array<int64_t, 3> first) {
  // The last reshape may have joined axes that lie apart: what it was given is shaped instead.
  const Node* given = &node;
  while (given->op == graph::Op::reshape && !given->computed) given = &graph::node_of(given->operands[0]);
  const std::optional<Seen> seen = seen_through(*given);
  if (!seen) return std::nullopt;
  Shape wanted{first[0], first[1], first[2]};
  for (int axis = 2; axis < node.shape.size(); ++axis) wanted.push_back(node.shape[axis]);
  const auto strides = reshaped(seen->strides, wanted);
  if (!strides) return std::nullopt;
  bool forward = true, reversed = true;
  int64_t apart = 1;
  for (size_t i = strides->size(); i-- > 3; apart *= (*strides)[i].extent) {
    if ((*strides)[i].extent == 1) continue;
    forward = forward && (*strides)[i].apart == apart;
    reversed = reversed && (*strides)[i].apart == -apart;
  }
  const std::array<int64_t, 3> list{(*strides)[0].apart, (*strides)[1].apart, (*strides)[2].apart};
  if ((!forward && !reversed) || *std::min_element(list.begin(), list.end()) < 0) return std::nullopt;
  return Operand{seen->base, list, !forward};
}

// Which operands a GPU reads at any distances: those that it turns first; of kernels, also from their end.
struct Turned {
  bool at_all = false, from_the_end = false;
};
Turned turned_on_gpu(const ops::ConvShape& shape, size_t which, DType type, const Target& target) {
  const kernel::Type stored = storage_type(type);
  const bool by_product = !is_direct(shape, type, true) && !is_by_steps(shape, type) && !is_complex(type);
  if (!by_product) return {};
  if (ops::winograd_pays(shape, stored, target.limits)) return {true, false};
  if (which == 0 || turns_on_gpu(shape, type)) return {which == 0 && turns_on_gpu(shape, type), false};
  const bool turns = ops::plan_conv(shape, stored, target.limits).channels_last > 0;
  return {turns, turns};
}

std::optional<Operand> operand_of(const Node& conv, size_t which, const ops::ConvShape& shape,
                                  const Target& target) {
  const bool by_host = is_real_float(conv.type);
  const Turned turned = target.gpu ? turned_on_gpu(shape, which, conv.type, target)
                                   : Turned{by_host, by_host && which == 1 && !shape.has_long_sums()};
  if (!turned.at_all) return std::nullopt;
  const Node& node = graph::node_of(conv.operands[which]);
  const auto seen = which == 0 ? operand_of(node, {shape.batch, shape.groups, shape.channels})
                               : operand_of(node, {shape.groups, shape.filters, shape.channels});
  return seen && seen->reversed && !turned.from_the_end ? std::nullopt : seen;
}

// What is read for an operand; the shape then tells how. Where the operand itself is in memory for others, it
// is read as it is.
const Node& what_it_reads(const Node& node, size_t which, ops::ConvShape& conv, const Workshop& shop) {
  const Node& operand = graph::node_of(node.operands[which]);
  const auto seen = operand_of(node, which, conv, shop.target);
  if (!seen || seen->base == &memory_of(operand) || shop.partition.in_memory.contains(&memory_of(operand)))
    return operand;
  (which == 0 ? conv.x_strides : conv.w_strides) = seen->apart;
  conv.w_reversed = conv.w_reversed || seen->reversed;
  return *seen->base;
}

// a times b, in parts where the tiling says so.
void add_product(std::vector<Work>& list, const ops::MatmulShape& shape, const Node& a, const Node& b,
                 const Node& result, Workshop& shop, Device& device) {
  const ops::MatmulTiling tiling = ops::tiling_by_estimate(shape, device.limits());
  const kernel::Program program = ops::matmul_program(shape, tiling);
  const uint64_t teams = ops::matmul_teams(shape, tiling);
  const auto words = static_cast<int64_t>(ops::matmul_workspace_bytes(shape, tiling) / 4);
  const Node& sums = tiling.split_k == 1 ? result : shop.make_scratch(DType::u32, {words});
  list.push_back(kernel_on(program, teams, {&a, &b, &sums}, device));
  list.back().operations = 2.0 * shape.m * shape.n * shape.k * shape.batch;
  if (tiling.split_k > 1)
    list.push_back(kernel_on(ops::matmul_sum_program(shape, tiling), ops::matmul_sum_teams(shape),
                             {&sums, &result}, device));
}

std::vector<Work> by_winograd(const Node& node, ops::ConvShape conv, Workshop& shop, Device& device) {
  const Node &x = what_it_reads(node, 0, conv, shop), &w = what_it_reads(node, 1, conv, shop);
  const ops::WinogradConv way{conv};
  const Node &turned_x = shop.make_scratch(DType::f32, {way.x_count()}),
             &turned_w = shop.make_scratch(DType::f32, {way.w_count()}),
             &sums = shop.make_scratch(DType::f32, {way.sum_count()});
  std::vector<Work> list;
  list.push_back(kernel_on(way.x_program(), way.x_teams(), {&x, &turned_x}, device));
  list.push_back(kernel_on(way.w_program(), way.w_teams(), {&w, &turned_w}, device));
  add_product(list, way.product(), turned_x, turned_w, sums, shop, device);
  list.push_back(kernel_on(way.result_program(), way.result_teams(), {&sums, &node}, device));
  return list;
}

std::vector<Work> on_gpu(const Node& node, ops::ConvShape conv, Workshop& shop, Device& device) {
  if (ops::winograd_pays(conv, storage_type(node.type), device.limits()))
    return by_winograd(node, conv, shop, device);
  const Node *x = &graph::node_of(node.operands[0]), *w = &graph::node_of(node.operands[1]);
  std::vector<Work> list;
  if (turns_on_gpu(conv, node.type)) {
    const Node& from = what_it_reads(node, 0, conv, shop);
    const ops::ConvShape read = ops::turned_conv(conv);
    const Node& turned = shop.make_scratch(node.type, {read.x_count()});
    list.push_back(kernel_on(ops::conv_turn_program(conv, storage_type(node.type)),
                             ops::conv_turn_teams(conv, storage_type(node.type)), {&from, &turned}, device));
    x = &turned, conv = read;
  }
  const ops::ConvPlan plan = ops::plan_conv(conv, storage_type(node.type), device.limits());
  const ops::MatmulHooks hooks = ops::conv_hooks(conv, plan);
  const uint64_t teams = ops::matmul_teams(plan.shape, plan.tiling);
  if (plan.channels_last > 0) {
    const Node& from = what_it_reads(node, 1, conv, shop);
    const auto count = static_cast<int64_t>(ops::conv_weights_count(conv, plan));
    const Node& turned = shop.make_scratch(node.type, {count});
    list.push_back(kernel_on(ops::conv_weights_program(conv, plan), ops::conv_weights_teams(conv, plan),
                             {&from, &turned}, device));
    w = &turned;
  }
  const double products = static_cast<double>(conv.results()) * static_cast<double>(conv.steps());
  const kernel::Program program = ops::matmul_program(plan.shape, plan.tiling, hooks);
  if (plan.tiling.split_k == 1) {
    list.push_back(kernel_on(program, teams, {w, x, &node}, device));
    list.back().operations = 2 * products;
    return list;
  }
  const auto words = static_cast<int64_t>(ops::matmul_workspace_bytes(plan.shape, plan.tiling) / 4);
  const Node& parts = shop.make_scratch(DType::u32, {words});
  list.push_back(kernel_on(program, teams, {w, x, &parts}, device));
  list.back().operations = 2 * products;
  list.push_back(kernel_on(ops::matmul_sum_program(plan.shape, plan.tiling, hooks),
                           ops::matmul_sum_teams(plan.shape), {&parts, &node}, device));
  return list;
}

void* address_of(const Run& run, const Location& place) {
  return reinterpret_cast<void*>(run.buffer(place).address());
}

std::vector<Work> on_host(const Node& node, ops::ConvShape conv, Workshop& shop) {
  const Node& x = what_it_reads(node, 0, conv, shop);
  const Node& w = what_it_reads(node, 1, conv, shop);
  const std::shared_ptr<const ops::HostConv> way = ops::make_host_conv(conv, node.type);
  const auto words = static_cast<int64_t>((way->bytes() + 3) / 4);
  const Node& scratch = shop.make_scratch(DType::u32, {words});
  Work work;
  work.name = "host_conv";
  work.touches = {&x, &w, &node, &scratch};
  work.operations = 2.0 * static_cast<double>(conv.results()) * static_cast<double>(conv.steps());
  work.conduct = [&x, &w, &node, &scratch, way](const LocationOf& location_of) {
    return HostStep{[way, from = location_of(x), with = location_of(w), to = location_of(node),
                     room = location_of(scratch)](Run& run) {
      way->run(address_of(run, from), address_of(run, with), address_of(run, to), address_of(run, room));
    }};
  };
  std::vector<Work> list;
  list.push_back(std::move(work));
  return list;
}

}  // namespace conv_work_parts

const Node& conv_reads(const Node& conv, size_t which, const Target& target) {
  using namespace conv_work_parts;
  const Node& operand = graph::node_of(conv.operands[which]);
  const auto seen = operand_of(conv, which, shape_of(conv), target);
  return seen ? *seen->base : memory_of(operand);
}

Tensor conv_on(const Node& node, const std::vector<Tensor>& x, const Target& target) {
  using namespace conv_work_parts;
  const ops::ConvShape conv = shape_of(node);
  const bool by_host = !target.gpu && is_real_float(node.type);  // which has phases of its own
  const bool is_small = conv.results() * conv.steps() <= (by_host ? few_host_products : few_products);
  const bool direct = is_direct(conv, node.type, target.gpu);
  const bool has_kernel = direct || (target.gpu ? !is_complex(node.type) : ops::has_host_conv(node.type));
  if (is_small || !has_kernel || !conv.fits_32_bits())
    return graph::conv_by_windows(x[0], x[1], graph::windows_of(node));
  if (const auto axis = axis_with_gaps(graph::windows_of(node)); axis && !by_host)
    return by_phases(graph::windows_of(node), *axis, x[0], x[1]);
  // Lanes of a CPU read side by side only where none of them leaves x.
  const bool pads = !target.gpu && direct && !conv.is_within_x();
  return pads ? of_padded(node, x[0], x[1]) : Tensor();
}

std::vector<Work> conv_work(const Node& node, Workshop& shop, Device& device) {
  using namespace conv_work_parts;
  const ops::ConvShape conv = shape_of(node);
  const bool direct = is_direct(conv, node.type, shop.target.gpu);
  if (shop.target.gpu && is_by_steps(conv, node.type)) return by_steps(node, conv, shop, device);
  if (direct && shop.target.gpu && !has_gaps(conv) && !is_complex(node.type))
    return with_few_filters(node, conv, device);
  if (direct) return directly(node, conv, device);
  return shop.target.gpu ? on_gpu(node, conv, shop, device) : on_host(node, conv, shop);
}

}  // namespace adit::compile
