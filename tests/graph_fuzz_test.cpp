// Random graphs, run in four ways: one operation at a time, all fused, on another device, and under jit.
//
// - ADIT_GRAPH_FUZZ: how many graphs; ADIT_GRAPH_FUZZ_SEED: the first seed; ADIT_GRAPH_FUZZ_SECONDS: for how
// long.
// - How far floats may differ is found by running one operation at a time again with every result moved by a
// few
//   units: what moves much is sensitive, what flips between whole numbers says nothing.
#include <chrono>
#include <fmt/format.h>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "ops/numbers.hpp"
#include "ops/random_graph.hpp"
#include "ops/random_source.hpp"

namespace adit::test {
namespace {

using Bytes = std::vector<std::byte>;

int64_t number_from(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::atoll(text) : otherwise;
}

Tensor leaf(const GraphStep& step) { return from_bytes(step.leaf.type, step.leaf.shape, step.leaf.bytes); }

// Moves every float by up to four units.
Tensor disturbed(const Tensor& x, RandomSource& random) {
  if (is_integer(x.dtype())) return x;
  Bytes bytes = x.to_bytes();
  const Format format = format_of(x.dtype());
  const DType part = real_of(x.dtype());
  for (size_t at = 0; at < bytes.size(); at += size_of(part)) {
    const double number = part_at(part, bytes.data() + at);
    const double move = static_cast<double>(random.between(-4, 4)) * unit_at(number, format);
    if (number != 0 && std::isfinite(number)) store_number(part, number + move, 0, bytes.data() + at);
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
    values.push_back(noise && !step.op.empty() ? disturbed(value, *noise) : value);
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

// Steps become leaves, outputs go, as long as the fault stays.
RandomGraph shrunk(RandomGraph graph, const Way& way, uint64_t seed) {
  for (size_t k = graph.outputs.size(); k-- > 0 && graph.outputs.size() > 1;) {
    RandomGraph fewer = graph;
    fewer.outputs.erase(fewer.outputs.begin() + static_cast<std::ptrdiff_t>(k));
    fewer = without_unused(fewer);
    if (!problem_of(fewer, way, seed).empty()) graph = fewer;
  }
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (size_t i = 0; i < graph.steps.size() && !smaller; ++i) {
      if (graph.steps[i].op.empty() || graph.outputs == std::vector<size_t>{i}) continue;
      set_default_device(Device::open("cpu"));
      Tensors values;
      one_by_one(graph, nullptr, &values);
      RandomGraph cut = graph;
      cut.steps[i] = GraphStep{"", {}, {}, {values[i].dtype(), values[i].shape(), values[i].to_bytes()}};
      std::erase(cut.outputs, i);
      if (cut.outputs.empty()) continue;
      cut = without_unused(cut);
      if (problem_of(cut, way, seed).empty()) continue;
      graph = cut;
      smaller = true;
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
  const int64_t count = number_from("ADIT_GRAPH_FUZZ", 25), first = number_from("ADIT_GRAPH_FUZZ_SEED", 1);
  const int64_t seconds = number_from("ADIT_GRAPH_FUZZ_SECONDS", 0);
  const auto start = std::chrono::steady_clock::now();
  int faults = 0;
  for (int64_t i = 0; faults < 5; ++i) {
    const auto now = std::chrono::steady_clock::now();
    if (seconds > 0 ? now - start > std::chrono::seconds(seconds) : i >= count) break;
    const auto seed = static_cast<uint64_t>(first + i);
    set_default_device(Device::open("cpu"));
    const RandomGraph graph = random_graph(seed, 4 + static_cast<int>(seed % 17));
    if (graph.outputs.empty()) continue;
    for (const Way& way : ways()) {
      const std::string problem = problem_of(graph, way, seed);
      if (problem.empty()) continue;
      const RandomGraph small = shrunk(graph, way, seed);
      set_default_device(Device::open("cpu"));
      ADD_FAILURE() << "seed " << seed << ", " << problem << "\nsmaller: " << problem_of(small, way, seed)
                    << "\n"
                    << to_text(small);
      ++faults;
      break;
    }
  }
}

// The harness sees a fault: a graph whose way of running is wrong is found and made small.
TEST(GraphFuzz, AFaultIsFoundAndMadeSmall) {
  const Way wrong{"wrong", "cpu", [](const RandomGraph& graph) {
                    RandomGraph other = graph;
                    for (GraphStep& step : other.steps)
                      if (step.op == "sin") step.op = "cos";
                    return all_at_once(other);
                  }};
  set_default_device(Device::open("cpu"));
  int found = 0;
  for (uint64_t seed = 1; seed < 40 && found < 1; ++seed) {
    const RandomGraph graph = random_graph(seed, 8);
    if (graph.outputs.empty() || problem_of(graph, wrong, seed).empty()) continue;
    ++found;
    const RandomGraph small = shrunk(graph, wrong, seed);
    EXPECT_FALSE(problem_of(small, wrong, seed).empty());
    int operations = 0;
    for (const GraphStep& step : small.steps) operations += !step.op.empty();
    EXPECT_LE(operations, 3) << to_text(small);
  }
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace adit::test
