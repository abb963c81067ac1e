// Random graphs, run in four ways: one operation at a time, all fused, on another device, and under jit.
//
// How far floats may differ is found by running one operation at a time again with every result moved by a
// few units: what moves much is sensitive, what flips between whole numbers says nothing.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <set>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/row.hpp"
#include "ops/numbers.hpp"
#include "ops/random_graph.hpp"
#include "ops/random_source.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using Bytes = std::vector<std::byte>;

Tensor leaf(const GraphStep& step) { return from_bytes(step.leaf.type, step.leaf.shape, step.leaf.bytes); }

// Errors of a transform are of the size of all its results, however small one of them is.
bool spreads_errors(const GraphStep& step) { return step.op.find("fft") != std::string::npos; }

// Moves every float by up to four units, its own or (`by_largest`) those of the largest.
Tensor disturbed(const Tensor& x, RandomSource& random, bool by_largest) {
  if (is_integer(x.dtype())) return x;
  Bytes bytes = x.to_bytes();
  const Format format = format_of(x.dtype());
  const DType part = real_of(x.dtype());
  double largest = 0;
  for (size_t at = 0; by_largest && at < bytes.size(); at += size_of(part))
    if (const double size = std::abs(part_at(part, bytes.data() + at)); std::isfinite(size))
      largest = std::max(largest, size);
  for (size_t at = 0; at < bytes.size(); at += size_of(part)) {
    const double number = part_at(part, bytes.data() + at);
    // Three runs that leave a small one where it is would say that it is exact.
    int64_t units = random.between(-4, 4);
    if (by_largest && units == 0) units = 4;
    const double move = static_cast<double>(units) * unit_at(by_largest ? largest : number, format);
    if ((number != 0 || by_largest) && std::isfinite(number))
      store_number(part, number + move, 0, bytes.data() + at);
  }
  return from_bytes(x.dtype(), x.shape(), bytes);
}

// The values of all steps, computed one by one.
std::vector<Bytes> one_by_one(const RandomGraph& graph, RandomSource* noise, Tensors* tensors = nullptr) {
  Tensors values;
  for (const GraphStep& step : graph.steps) {
    Tensors operands;
    for (const size_t i : step.operands) operands.push_back(values[i]);
    Tensor value = step.op.empty() ? leaf(step) : apply_step(step, operands);
    value.eval();
    values.push_back(noise && !step.op.empty() ? disturbed(value, *noise, spreads_errors(step)) : value);
  }
  std::vector<Bytes> results;
  for (const Tensor& value : values) results.push_back(value.to_bytes());
  if (tensors) *tensors = values;
  return results;
}

// The outputs of the graph on given leaves.
Tensors outputs_of(const RandomGraph& graph, const Tensors& leaves) {
  Tensors values;
  size_t next = 0;
  for (const GraphStep& step : graph.steps) {
    Tensors operands;
    for (const size_t i : step.operands) operands.push_back(values[i]);
    values.push_back(step.op.empty() ? leaves[next++] : apply_step(step, operands));
  }
  Tensors outputs;
  for (const size_t i : graph.outputs) outputs.push_back(values[i]);
  return outputs;
}

Tensors leaves_of(const RandomGraph& graph) {
  Tensors leaves;
  for (const GraphStep& step : graph.steps)
    if (step.op.empty()) leaves.push_back(leaf(step));
  return leaves;
}

std::vector<Bytes> bytes_of(const Tensors& tensors) {
  std::vector<Bytes> bytes;
  for (const Tensor& x : tensors) bytes.push_back(x.to_bytes());
  return bytes;
}

std::vector<Bytes> all_at_once(const RandomGraph& graph) {
  const Tensors outputs = outputs_of(graph, leaves_of(graph));
  eval(std::span(outputs));
  return bytes_of(outputs);
}

std::vector<Bytes> compiled(const RandomGraph& graph) {
  const Jit function([&](const Tensors& leaves) { return outputs_of(graph, leaves); });
  const Tensors leaves = leaves_of(graph);
  const std::vector<Bytes> first = bytes_of(function(leaves)), second = bytes_of(function(leaves));
  EXPECT_EQ(first, second) << "a second call of a compiled function gives other bits";
  return first;
}

// What the outputs should be and how far they may lie from it.
struct Reference {
  std::vector<DType> types;
  std::vector<Bytes> bytes;
  std::vector<std::vector<double>> slack;  // infinite: the element says nothing
};

Reference reference_of(const RandomGraph& graph, uint64_t seed) {
  Tensors tensors;
  const std::vector<Bytes> exact = one_by_one(graph, nullptr, &tensors);
  std::vector<std::vector<Bytes>> moved;
  RandomSource noise(seed);
  for (int run = 0; run < 3; ++run) moved.push_back(one_by_one(graph, &noise));
  Reference reference;
  for (const size_t output : graph.outputs) {
    const DType type = tensors[output].dtype();
    const std::vector<double> center = parts_of(type, exact[output]);
    std::vector<double> slack(center.size(), 0);
    for (const auto& run : moved) {
      const std::vector<double> parts = parts_of(type, run[output]);
      for (size_t i = 0; i < parts.size(); ++i) {
        const double off = std::abs(parts[i] - center[i]);
        const bool same = parts[i] == center[i] || (std::isnan(parts[i]) && std::isnan(center[i]));
        if (!same) slack[i] = std::isfinite(off) && !is_integer(type) ? std::max(slack[i], off) : INFINITY;
      }
    }
    // A neighbour's sensitivity is a fair guess where three runs happened to agree.
    if (!is_integer(type))
      for (size_t i = 0; i < slack.size(); ++i)
        slack[i] = 40 * slack[i] + 16 * unit_at(std::isfinite(center[i]) ? center[i] : 1, format_of(type));
    reference.types.push_back(type);
    reference.bytes.push_back(exact[output]);
    reference.slack.push_back(std::move(slack));
  }
  return reference;
}

std::string difference(const Reference& reference, const std::vector<Bytes>& got, const RandomGraph& graph) {
  for (size_t k = 0; k < got.size(); ++k) {
    const DType type = reference.types[k];
    if (got[k].size() != reference.bytes[k].size()) return "sizes differ";
    const std::vector<double> want = parts_of(type, reference.bytes[k]), have = parts_of(type, got[k]);
    for (size_t i = 0; i < want.size(); ++i) {
      if (want[i] == have[i] || (std::isnan(want[i]) && std::isnan(have[i]))) continue;
      if (std::abs(want[i] - have[i]) <= reference.slack[k][i] || std::isinf(reference.slack[k][i])) continue;
      if (std::abs(want[i]) < 1e-36 && std::abs(have[i]) < 1e-36) continue;  // flushed
      // Whether a part of an infinite complex number is infinite or NaN is not promised.
      if (is_complex(type) && !std::isfinite(want[i]) && !std::isfinite(have[i])) continue;
      return fmt::format("v{}[{}] is {:.9g}, one by one {:.9g} (may differ by {:.3g})", graph.outputs[k], i,
                         have[i], want[i], reference.slack[k][i]);
    }
  }
  return "";
}

// The ways to run a graph, by name.
struct Way {
  std::string name, device;
  std::vector<Bytes> (*run)(const RandomGraph&);
};

std::string problem_of(const RandomGraph& graph, const Way& way, uint64_t seed) {
  set_default_device(Device::open("cpu"));
  Reference reference;
  try {
    reference = reference_of(graph, seed);
  } catch (const std::exception& error) {
    return std::string("one by one: ") + error.what();
  }
  try {
    set_default_device(Device::open(way.device));
    const std::string text = difference(reference, way.run(graph), graph);
    return text.empty() ? text : way.name + ": " + text;
  } catch (const std::exception& error) {
    return way.name + ": " + error.what();
  }
}

// What a graph can be made to in one step: an output less, a value in the middle as the only output, a leaf
// in place of an operation.
std::vector<RandomGraph> smaller_ones(const RandomGraph& graph) {
  std::vector<RandomGraph> list;
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    if (graph.steps[i].op.empty() || graph.outputs == std::vector<size_t>{i}) continue;
    RandomGraph cut = graph;
    cut.outputs = {i};
    list.push_back(without_unused(cut));
  }
  for (size_t k = 0; k < graph.outputs.size() && graph.outputs.size() > 1; ++k) {
    RandomGraph fewer = graph;
    fewer.outputs.erase(fewer.outputs.begin() + static_cast<std::ptrdiff_t>(k));
    list.push_back(without_unused(fewer));
  }
  set_default_device(Device::open("cpu"));
  Tensors values;
  one_by_one(graph, nullptr, &values);
  for (size_t i = 0; i < graph.steps.size(); ++i) {
    if (graph.steps[i].op.empty()) continue;
    RandomGraph cut = graph;
    cut.steps[i] = GraphStep{"", {}, {}, {values[i].dtype(), values[i].shape(), values[i].to_bytes()}};
    std::erase(cut.outputs, i);
    if (!cut.outputs.empty()) list.push_back(without_unused(cut));
  }
  return list;
}

// Smaller as long as the fault stays: no step of smaller_ones() keeps the fault of what comes out.
RandomGraph shrunk(RandomGraph graph, const Way& way, uint64_t seed) {
  for (bool found = true; found;) {
    found = false;
    for (RandomGraph& smaller : smaller_ones(graph)) {
      if (problem_of(smaller, way, seed).empty()) continue;
      graph = std::move(smaller);
      found = true;
      break;
    }
  }
  return graph;
}

std::vector<Way> ways() {
  std::vector<Way> list;
  for (const std::string& id : device_ids()) {
    device(id);  // stays open
    list.push_back({"fused on " + id, id, all_at_once});
    list.push_back({"jit on " + id, id, compiled});
  }
  return list;
}

TEST(GraphFuzz, AllWaysAgree) {
  int compared = 0;
  each_seed(12, [&](uint64_t seed) {
    set_default_device(Device::open("cpu"));
    const RandomGraph graph = random_graph(seed, 4 + static_cast<int>(seed % 17));
    if (graph.outputs.empty()) return;
    for (const Way& way : ways()) {
      ++compared;
      const std::string problem = problem_of(graph, way, seed);
      if (problem.empty()) continue;
      const RandomGraph small = shrunk(graph, way, seed);
      set_default_device(Device::open("cpu"));
      ADD_FAILURE() << problem << "\nsmaller: " << problem_of(small, way, seed) << "\n" << to_text(small);
      return;
    }
  });
  EXPECT_GT(compared, 0) << "no device, or no graph";
}

// A sine that one way of running takes for a cosine, in the middle of a graph: it meets what the graph
// computes, and the graph's outputs stay.
RandomGraph with_a_fault(RandomGraph graph) {
  const auto add = [&](GraphStep step) {
    graph.steps.push_back(std::move(step));
    return graph.steps.size() - 1;
  };
  const auto leaf_of = [&](const std::vector<float>& numbers, const Shape& shape) {
    Stored stored{DType::f32, shape, Bytes(numbers.size() * sizeof(float))};
    std::memcpy(stored.bytes.data(), numbers.data(), stored.bytes.size());
    return add({"", {}, {}, stored});
  };
  const size_t last = graph.outputs.back(), one = leaf_of({1}, {});
  const size_t fault = add({"sin", {leaf_of({0.1f, 0.2f, 0.3f}, {3})}, {{"is_fault", true}}, {}});
  const size_t turned = add({"negate", {fault}, ops::Json::object(), {}});
  // 1 where the rest of the graph may be anything: the fault shows whatever was drawn.
  const size_t rest = add({"is_nan", {last}, ops::Json::object(), {}});
  const size_t all = add({"any", {rest}, {{"axes", ops::Json::array()}, {"keep_axes", false}}, {}});
  graph.outputs.push_back(add({"select", {one, turned, all}, ops::Json::object(), {}}));
  return graph;
}

int operations_of(const RandomGraph& graph) {
  return static_cast<int>(std::count_if(graph.steps.begin(), graph.steps.end(),
                                        [](const GraphStep& step) { return !step.op.empty(); }));
}

// The harness sees a fault wherever it stands, and leaves nothing of the graph around it.
TEST(GraphFuzz, AFaultIsFoundAndMadeSmall) {
  const Way wrong{"wrong", "cpu", [](const RandomGraph& graph) {
                    RandomGraph other = graph;
                    for (GraphStep& step : other.steps)
                      if (step.attributes.contains("is_fault")) step.op = "cos";
                    return all_at_once(other);
                  }};
  set_default_device(Device::open("cpu"));
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    const RandomGraph drawn = random_graph(seed, 8);
    ASSERT_FALSE(drawn.outputs.empty());
    const RandomGraph graph = with_a_fault(drawn);
    ASSERT_GE(operations_of(graph), 5);
    EXPECT_FALSE(problem_of(graph, wrong, seed).empty()) << to_text(graph);
    const RandomGraph small = shrunk(graph, wrong, seed);
    EXPECT_FALSE(problem_of(small, wrong, seed).empty()) << to_text(small);
    EXPECT_EQ(operations_of(small), 1) << to_text(small);
    EXPECT_TRUE(small.steps.back().attributes.contains("is_fault")) << to_text(small);
  }
}

// Rows that random graphs hold by another name, or cannot hold.
const std::set<std::string_view> not_drawn{
    "input",        "number", "constant", "iota",       "alias",  // leaves, and what transformations make
    "cholesky_vjp",                                               // within grad_of
    "while_vjp",    "scan",   "cond",     "while_loop", "item",  // within grad_of, scan_of, cond_of, while_of
};

// The operations at the ends of the steps of a graph, and what composed ones are made of.
std::set<std::string_view> rows_in(const RandomGraph& graph) {
  Tensors values;
  std::set<std::string_view> names;
  for (const GraphStep& step : graph.steps) {
    Tensors operands;
    for (const size_t i : step.operands) operands.push_back(values[i]);
    values.push_back(step.op.empty() ? leaf(step) : apply_step(step, operands));
    const Tensor last[] = {values.back()};
    const bool is_operand_of_its_own = step.op.empty() || step.attributes.contains("chain");
    if (!is_operand_of_its_own)
      for (const Tensor& x : graph::reachable(last, true)) names.insert(graph::name_of(graph::node_of(x).op));
  }
  return names;
}

// A new row enters the random graphs: by itself where it is elementwise, else in a step of its own.
TEST(GraphFuzz, EveryRowIsDrawn) {
  set_default_device(Device::open("cpu"));
  std::set<std::string_view> missing;
  for (const graph::Row& row : graph::table())
    if (!not_drawn.contains(row.name)) missing.insert(row.name);
  for (uint64_t seed = 1; seed <= 20000 && !missing.empty(); ++seed)
    for (const std::string_view name : rows_in(random_graph(seed, 20))) missing.erase(name);
  for (const std::string_view name : missing)
    ADD_FAILURE() << name << " is in no random graph: give it a step in tests/ops/random_graph.cpp";
}

}  // namespace
}  // namespace adit::test
