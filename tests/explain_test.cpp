// explain: what it counts, what it shows, and that asking changes nothing.
#include "explain/explain.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <mutex>

#include <adit/adit.hpp>

#include "compile/compile.hpp"
#include "devices.hpp"
#include "graph/op.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"

namespace adit::test {
namespace {

class ExplainOn : public OnDevice {
 protected:
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
  }
  Compiled compiled(const Tensors& roots) {
    const std::lock_guard lock(graph::graph_lock());
    return compile_with_notes(device_, roots, compile::describe(roots, device_word(*device_)));
  }
  // Bytes and operations of all steps together.
  compile::Cost total(const Tensors& roots) {
    compile::Cost sum;
    for (const auto& step : compiled(roots).notes.steps) {
      sum.bytes += step.cost.bytes;
      sum.operations += step.cost.operations;
    }
    return sum;
  }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, ExplainOn, testing::ValuesIn(device_ids()), test_name);

Tensor numbers(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 13) * 0.25f - 1;
  return tensor(values, shape);
}
Tensor indices(int64_t count, int64_t below) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 7) % below;
  return tensor(values);
}
bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- Counts
// -------------------------------------------------------------------------------------------------

TEST_P(ExplainOn, ElementwiseWorkCountsEachTensorOnce) {
  const Tensor a = numbers({1000}), b = numbers({1000});
  const auto cost = total({a * b + a});  // a is read twice, from memory once
  EXPECT_EQ(cost.bytes, 3u * 4000);
  EXPECT_EQ(cost.operations, 2000);
}

TEST_P(ExplainOn, ABroadcastCostsWhatItIsMadeOf) {
  const auto cost = total({numbers({100, 50}) + numbers({50})});
  EXPECT_EQ(cost.bytes, 2u * 100 * 50 * 4 + 50 * 4);
  EXPECT_EQ(cost.operations, 5000);
}

TEST_P(ExplainOn, ASliceReadsNoMoreThanItself) {
  const auto cost = total({slice(numbers({10000}), {100}, {50}) * 2.0f});
  EXPECT_EQ(cost.bytes, 2u * 50 * 4);
  EXPECT_EQ(cost.operations, 50);
}

TEST_P(ExplainOn, AGatherCountsByItsIndices) {
  // 600 rows of a table of ten: each counts, as the device fetches each.
  const auto cost = total({take(numbers({10, 8}), indices(600, 10), 0)});
  EXPECT_EQ(cost.bytes, 600u * 8 * 4 * 2 + 600 * 8);
  // Three rows of a large table do not read the table.
  EXPECT_EQ(total({take(numbers({5000, 8}), indices(3, 10), 0)}).bytes, 3u * 8 * 4 * 2 + 3 * 8);
}

TEST_P(ExplainOn, ReductionsReadTheirOperandAndWriteTheirRows) {
  const auto rows = total({sum(numbers({300, 64}), {1})});
  EXPECT_EQ(rows.bytes, 300u * 64 * 4 + 300 * 4);
  EXPECT_EQ(rows.operations, 300 * 64);
  // Softmax goes over its rows more than once, but memory gives them once.
  EXPECT_EQ(total({softmax(numbers({300, 64}))}).bytes, 2u * 300 * 64 * 4);
}

// Norms are one kernel: rows come from memory once and go there once.
TEST_P(ExplainOn, NormsAreOneKernel) {
  const Tensor x = numbers({300, 512}), scale = numbers({512}), shift = numbers({512});
  for (const Tensor& normal : {layer_norm(x, scale, shift), rms_norm(x, scale, shift)}) {
    const auto made = compiled({normal});
    EXPECT_EQ(made.notes.steps.size(), 1u);
    EXPECT_EQ(made.notes.steps[0].cost.bytes, 2u * 300 * 512 * 4 + 2 * 512 * 4);
  }
}

// Their gradients: of x by one kernel, those of scale and shift by sums over the rows, each in two
// steps.
TEST_P(ExplainOn, GradientsOfNormsAreFewKernels) {
  const Tensor x = numbers({300, 512}), scale = numbers({512}), shift = numbers({512}),
               weights = numbers({300, 512});
  const auto steps = [&](const std::function<Tensor(const Tensors&)>& f, const std::vector<int>& which) {
    const Function loss = [&](const Tensors& y) { return Tensors{sum(f(y) * weights)}; };
    return compiled(value_and_grad_of(loss, {x, scale, shift}, which).grads).notes.steps.size();
  };
  const auto layer = [](const Tensors& y) { return layer_norm(y[0], y[1], y[2]); };
  const auto rms = [](const Tensors& y) { return rms_norm(y[0], y[1], y[2]); };
  EXPECT_EQ(steps(layer, {0}), 1u);
  EXPECT_EQ(steps(rms, {0}), 1u);
  EXPECT_LE(steps(layer, {0, 1, 2}), 5u);
  EXPECT_LE(steps(rms, {0, 1, 2}), 5u);
}

// Attention without scores in memory, where the device has the kernel; else by two products.
TEST_P(ExplainOn, FusedAttentionKeepsNoScores) {
  const Shape heads{1, 2, 100, 16};
  AttentionOptions options;
  options.scale = 1;
  options.fused = true;
  const auto made =
      compiled({attention(numbers(heads), numbers(heads) + 1.0f, numbers(heads) * 2.0f, options)});
  uint64_t most = 0;
  for (const auto& step : made.notes.steps) most = std::max(most, step.cost.bytes);
  const bool has_kernel = device_->info().kind != DeviceKind::cpu && device_->limits().lanes_by_hand;
  if (has_kernel)
    EXPECT_EQ(most, 4u * 2 * 100 * 16 * 4);
  else
    EXPECT_GT(most, 2u * 100 * 100 * 4);
}

// exp of the row is put into memory; its product with a column is cheap, and computed by each sum for itself.
TEST_P(ExplainOn, ARepeatedRowMakesNothingElseExpensive) {
  const Tensor product = numbers({300, 1}) * exp(numbers({1, 200}));
  EXPECT_LT(total({sum(product, {1}), sum(square(product), {0})}).bytes, 300u * 200 * 4);
}

TEST_P(ExplainOn, AReductionInPartsCountsItsPartsBesides) {
  const Tensor x = numbers({1 << 17});
  const auto made = compiled({sum(x)});
  ASSERT_EQ(made.notes.steps.size(), 2u);
  const auto &parts = made.notes.steps[0], &join = made.notes.steps[1];
  EXPECT_EQ(parts.cost.operations, 1 << 17);
  EXPECT_GE(parts.cost.bytes, (1u << 17) * 4);
  EXPECT_LT(parts.cost.bytes, (1u << 17) * 4 + 65536);
  EXPECT_LT(join.cost.bytes, 65536u);  // not x again
  EXPECT_EQ(join.reads, parts.writes);
}

TEST_P(ExplainOn, AProductCountsTwoOperationsATerm) {
  const Tensor a = numbers({128, 96}), b = numbers({96, 64});  // numbered in this order
  const auto made = compiled({dot(a, b)});
  double operations = 0;
  for (const auto& step : made.notes.steps) operations = std::max(operations, step.cost.operations);
  EXPECT_EQ(operations, 2.0 * 128 * 96 * 64);
  EXPECT_EQ(made.notes.steps[0].reads, (std::vector<std::string>{"%0", "%1"}));
}

TEST_P(ExplainOn, AnInlineProductCountsToo) {
  const auto cost = total({dot(numbers({8, 6}), numbers({6, 4}))});
  EXPECT_EQ(cost.operations, 2 * 8 * 6 * 4);
  EXPECT_EQ(cost.bytes, (8u * 6 + 6 * 4 + 8 * 4) * 4);
}

TEST_P(ExplainOn, MathFunctionsCostWhatTheirRowSays) {
  const double one = graph::row_of(graph::Op::tanh).cost;
  EXPECT_GT(one, 1);
  EXPECT_EQ(total({tanh(numbers({500}))}).operations, 500 * one);
}

// --- The text
// -------------------------------------------------------------------------------------------------

TEST_P(ExplainOn, TheGraphIsALineANode) {
  const Tensor a = numbers({8, 4}), b = numbers({8, 4});
  const std::string text = explain(sum(a * b, {1}) + 1.0f, {.times = false});
  for (const char* part : {"%0 = input : f32[8, 4]\n", "%2 = multiply %0 %1 : f32[8, 4]\n",
                           "%3 = sum %2 axes [1] : f32[8]", "-> output", "memory: "})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
  EXPECT_FALSE(contains(text, "B/s")) << text;
  EXPECT_FALSE(contains(explain(a * b, {.graph = false, .times = false}), "multiply %0")) << text;
}

TEST_P(ExplainOn, TimesComeWithTheShareOfTheRoof) {
  const std::string text = explain(tanh(numbers({64, 64})) * 2.0f);
  for (const char* part : {"B/s", "FLOP/s", "% of what ", "as measured", "in one run"})
    EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
}

TEST_P(ExplainOn, MemoryIsReusedAndSaysSo) {
  Tensor x = numbers({64, 64});
  const Tensor w = numbers({64, 64});
  for (int i = 0; i < 4; ++i) x = tanh(dot(x, w));
  const auto made = compiled({x});
  uint64_t together = 0;
  for (const auto& tensor : made.notes.arena) together += tensor.bytes;
  EXPECT_GT(made.notes.arena.size(), 2u);
  EXPECT_LT(made.executable->arena_bytes(), together);
  EXPECT_TRUE(contains(explain(x, {.times = false}), ", over %"));
  // Nothing that lives at the same time lies at the same place, but what dies in a step may hand its place on
  // there.
  for (const auto& a : made.notes.arena)
    for (const auto& b : made.notes.arena)
      if (&a != &b && a.first < b.last && b.first < a.last) {
        EXPECT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset)
            << a.label << " " << b.label;
      }
}

TEST_P(ExplainOn, ALoopOfSmallRoundsIsOneKernel) {
  const auto [carry, outputs] = scan(
      [](const Tensors& c, const Tensors& x) {
        const Tensor next = c[0] * 0.5f + x[0];
        return Step{{next}, {next}};
      },
      {numbers({4})}, {numbers({5, 4})});
  const std::string text = explain(carry[0]);
  EXPECT_TRUE(contains(text, "scan_of_1_")) << text;
  EXPECT_FALSE(contains(text, "conducted by the host")) << text;
}

TEST_P(ExplainOn, ABranchIsOneStepThatTheHostConducts) {
  const Tensor x = numbers({4});
  const Tensors chosen = cond(
      any(x > 0.0f), [](const Tensors& y) { return Tensors{y[0] + 1.0f}; },
      [](const Tensors& y) { return Tensors{y[0] - 1.0f}; }, {x});
  EXPECT_TRUE(contains(explain(chosen[0]), "cond: conducted by the host"));
}

TEST_P(ExplainOn, ATensorInMemoryNeedsNothing) {
  const std::string text = explain(numbers({3}));
  EXPECT_TRUE(contains(text, "steps: 0 ")) << text;
}

TEST_P(ExplainOn, AnEmptyTensorIsExplained) {
  EXPECT_TRUE(contains(explain(numbers({0, 3}) + 1.0f), "f32[0, 3]"));
}

// --- Asking changes nothing
// ---------------------------------------------------------------------------------

TEST_P(ExplainOn, WhatIsExplainedStaysLazyAndRight) {
  const Tensor x = numbers({50});
  const Tensor y = exp(x) - 1.0f;
  explain(y);
  EXPECT_FALSE(y.is_evaluated());
  const auto values = y.to_vector<float>(), inputs = x.to_vector<float>();
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], std::exp(inputs[i]) - 1, 1e-6);
}

// Steps that add in place, or fill lists, would run over when they are timed again and again.
TEST_P(ExplainOn, StepsThatWorkInPlaceAreTimedFromAFreshStart) {
  const Tensor table = numbers({40, 3}), rows = numbers({200, 3}),
               where = reshape(indices(200, 40), {200, 1});
  const Tensor added = indexed_add(table, where, rows), put = indexed_put(table, where, rows);
  const Tensor factor = numbers({6, 6}) * 0.1f + eye(6) * 8.0f;
  const Tensor solved = triangular_solve(factor, numbers({6, 2}));
  const std::vector<float> before = table.to_vector<float>();
  const auto once = added.to_vector<float>();
  for (const Tensor& x : {indexed_add(table, where, rows), indexed_put(table, where, rows), solved})
    EXPECT_TRUE(contains(explain(x), "teams"));
  EXPECT_EQ(table.to_vector<float>(), before);
  EXPECT_EQ(indexed_add(table, where, rows).to_vector<float>(), once);
}

TEST_P(ExplainOn, NothingStaysInMemory) {
  const Tensor x = numbers({32, 32});
  explain(dot(tanh(x), x));
  device_->wait();
  const uint64_t before = device_->statistics().bytes_in_use;
  explain(dot(tanh(x), x));
  device_->wait();
  EXPECT_EQ(device_->statistics().bytes_in_use, before);
}

TEST_P(ExplainOn, ACompiledFunctionIsExplainedForItsArguments) {
  const Tensor captured = numbers({7});
  const auto f = jit([&](Tensor x, Tensor y) { return x * y + captured; });
  const std::string text = f.explain({numbers({3, 7}), numbers({3, 7})});
  EXPECT_TRUE(contains(text, "multiply %")) << text;
  EXPECT_TRUE(contains(text, "f32[3, 7]  -> output")) << text;
  EXPECT_TRUE(contains(text, "B/s")) << text;
  EXPECT_EQ(f(numbers({3, 7}), numbers({3, 7})).shape(), (Shape{3, 7}));
}

TEST_P(ExplainOn, ErrorsNameWhatIsWrong) {
  const auto message = [](const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([] { explain(Tensor()); }), "[explain] tensor: expected a tensor, got none");
  EXPECT_EQ(message([] { jit([](Tensor x) { return x; }).explain({Tensor()}); }),
            "[jit] argument 0: expected a tensor, got none");
  std::string inside;
  jit([&](Tensor x) {
    inside = message([&] { explain(x + 1.0f); });
    return x;
  })(numbers({2}));
  EXPECT_EQ(inside,
            "[explain] tensor: expected a value, got a placeholder of a function that is being traced");
}

// Bytes a second of copies, read and written: the best of some, since others on the machine only slow it
// down.
double copied_in_a_second(Device& device) {
  const uint64_t bytes = uint64_t{4} << 20;
  const Buffer from = device.allocate(bytes), to = device.allocate(bytes);
  device.fill(from, 1);
  double best = INFINITY;
  for (int round = 0; round < 20; ++round) {
    const auto start = std::chrono::steady_clock::now();
    device.copy(from, to, bytes);
    device.wait();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2 * static_cast<double>(bytes) / best;
}

// Beside a rate that is measured here: a factor of 100 leaves room for a busy machine and for what a launch
// costs, and none for a wrong unit.
TEST_P(ExplainOn, ThePeaksArePlausibleAndMeasuredOnce) {
  const auto& peaks = compile::peaks_of(*device_);
  const double copied = copied_in_a_second(*device_);
  // A software device's kernels share the cores with whatever else runs; its copies are the host's own.
  const bool is_software = device_->info().kind == DeviceKind::software;
  EXPECT_GT(peaks.bytes, copied / (is_software ? 10000 : 100));
  EXPECT_LT(peaks.bytes, copied * 100);
  // A processor does between a hundredth of an operation and a thousand of them in the time of a byte.
  EXPECT_GT(peaks.f32, peaks.bytes / 100);
  EXPECT_LT(peaks.f32, peaks.bytes * 1000);
  EXPECT_EQ(peaks.f64 > peaks.f32 / 1000, device_->limits().float64);
  EXPECT_LE(peaks.f64, 4 * peaks.f32);
  const auto& shapes = device_->limits().cooperative_matrices;
  EXPECT_EQ(peaks.matrices > 0, std::any_of(shapes.begin(), shapes.end(), [](const auto& shape) {
              return shape.accumulator == kernel::Type::f32;
            }));
  // Which peak a kernel is held to.
  compile::Cost cost;
  cost.type = DType::f64;
  EXPECT_EQ(peaks.of(cost, false), peaks.f64);
  cost.type = DType::f32;
  EXPECT_EQ(peaks.of(cost, false), peaks.f32);
  EXPECT_EQ(peaks.of(cost, true), peaks.matrices);
  const uint64_t before = device_->statistics().kernels_run;
  EXPECT_EQ(&compile::peaks_of(*device_), &peaks);
  EXPECT_EQ(device_->statistics().kernels_run, before);
}

}  // namespace
}  // namespace adit::test
