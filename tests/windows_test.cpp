// Windows and convolutions beside single results: what lies in memory, who has the gradient, large gradients.
#include <cstdlib>
#include <iostream>
#include <mutex>

#include <adit/adit.hpp>

#include "compile/compile.hpp"
#include "compile/executable.hpp"
#include "devices.hpp"
#include "tensor/evaluate.hpp"
#include "tensor/explain.hpp"

namespace adit::test {
namespace {

class WindowsOn : public OnDevice {
 protected:
  void SetUp() override {
    device_ = Device::open(GetParam());
    set_default_device(device_);
  }
  // Bytes that lie beside inputs and outputs while the results are computed.
  uint64_t memory_of(const Tensors& roots) {
    if (std::getenv("ADIT_TEST_SHOW")) std::cout << explain(roots, {true, false}) << "\n";
    const std::lock_guard lock(graph::graph_lock());
    return compile_with_notes(device_, roots, compile::describe(roots, device_word(*device_)))
        .executable->arena_bytes();
  }
  std::shared_ptr<Device> device_;
};
INSTANTIATE_TEST_SUITE_P(Devices, WindowsOn, testing::ValuesIn(device_ids()), test_name);

Tensor numbers(const Shape& shape, int64_t modulus = 13) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int64_t>(i * i + 3 * i) % modulus) * 0.25f - 1;
  return tensor(values, shape);
}

TEST_P(WindowsOn, AreNotPutIntoMemory) {
  const Tensor x = numbers({8, 64, 64});
  const uint64_t bytes = 4 * static_cast<uint64_t>(x.size());
  const WindowOptions halves{{1, 2, 2}, {}, {}};
  EXPECT_EQ(memory_of({window_sum(x, {1, 2, 2}, halves)}), 0u);
  EXPECT_EQ(memory_of({window_max(x, {1, 2, 2}, halves)}), 0u);
  EXPECT_EQ(memory_of({window_max(x, {1, 3, 3}, {.same = true})}), 0u);
  EXPECT_LE(memory_of({window_sum(x, {1, 7, 7}, {.same = true})}), bytes);
  EXPECT_LE(memory_of({window_max(x, {1, 20, 20}, {.same = true})}), 3 * bytes);
  EXPECT_LE(memory_of({window_sum(flatten(x), {1000}, {.same = true})}), 4 * bytes);
  const auto loss = [](const Tensor& y) { return sum(square(max_pool(y, {2, 2}))); };
  EXPECT_LE(memory_of({grad(loss)(reshape(x, {1, 8, 64, 64}))}), bytes);
}

TEST_P(WindowsOn, ConvolutionsTakeLittleMemory) {
  const Tensor x = numbers({4, 16, 40, 40}), w = numbers({32, 16, 3, 3}), w1 = numbers({16, 1, 3, 3});
  ConvOptions same, depthwise;
  same.same = depthwise.same = true;
  depthwise.feature_groups = 16;
  const bool is_cpu = device_->info().kind == DeviceKind::cpu;
  const auto kernel = 4 * static_cast<uint64_t>(w.size());
  EXPECT_LE(memory_of({conv(x, w, same)}), is_cpu ? uint64_t{3} << 20 : kernel);
  // The windows of the nine elements would be nine times x.
  EXPECT_LE(memory_of({conv(x, w1, depthwise)}), is_cpu ? 4 * static_cast<uint64_t>(x.size()) * 3 / 2 : 0);
}

TEST_P(WindowsOn, TheLastOfEqualElementsHasTheGradient) {
  const Tensor x = tensor(std::vector<float>{1, 3, 3, 2, 3, 3, 0, 0, 0}, {3, 3});
  const auto largest = [](const Tensor& y) { return sum(window_max(y, {2, 2})); };
  EXPECT_EQ(grad(largest)(x).to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 2, 2, 0, 0, 0}));
  const auto smallest = [](const Tensor& y) { return sum(window_min(y, {3, 1})); };
  EXPECT_EQ(grad(smallest)(x).to_vector<float>(), (std::vector<float>{0, 0, 0, 0, 0, 0, 1, 1, 1}));
}

// The same as a dot over windows, whose derivatives are rules of their own.
Tensor by_windows(const Tensor& x, const Tensor& w, const ConvOptions& o) {
  const int spatial = x.rank() - 2;
  Dims window{1, 1}, strides{1, 1};
  std::vector<Padding> padding(2);
  for (int i = 0; i < spatial; ++i) {
    window.push_back(w.dim(2 + i));
    strides.push_back(o.strides[i]);
    padding.push_back(o.padding[static_cast<size_t>(i)]);
  }
  // [batch, channels, places..., 1, 1, window...]
  Tensor seen = windows(x, zeros({}, x.dtype()), window, {strides, padding});
  seen = squeeze(seen, {2 + spatial, 3 + spatial});
  Axes inner_x{1}, inner_w{1}, order{0, 1 + spatial};
  for (int i = 0; i < spatial; ++i) {
    inner_x.push_back(2 + spatial + i);
    inner_w.push_back(2 + i);
    order.insert(2 + i, 1 + i);
  }
  return transpose(dot(seen, inner_x, {}, w, inner_w, {}), order);
}

TEST_P(WindowsOn, LargeGradientsAgreeWithDotsOverWindows) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const Tensor x = numbers({2, 8, 17, 19}, 101), w = numbers({20, 8, 5, 3}, 97);
  for (const Dims& strides : {Dims{1, 1}, Dims{2, 1}, Dims{3, 2}}) {
    ConvOptions options;
    options.strides = strides;
    options.padding = {{2, 1, 0}, {0, 2, 0}};
    const auto loss = [&](auto f) {
      return [=](const Tensor& a, const Tensor& b) { return sum(square(f(a, b, options))); };
    };
    const Tensors got = grad(loss([](auto&&... t) { return conv(t...); }), std::vector{0, 1})(x, w);
    const Tensors want = grad(loss([](auto&&... t) { return by_windows(t...); }), std::vector{0, 1})(x, w);
    for (size_t i = 0; i < 2; ++i) {
      const double scale = reduce_max(abs(want[i])).item<float>();
      EXPECT_LT(reduce_max(abs(got[i] - want[i])).item<float>(), 1e-5 * scale) << to_string(strides) << i;
    }
  }
}

// Groups one by one.
Tensor by_groups(const Tensor& x, const Tensor& w, const ConvOptions& options) {
  const int64_t groups = options.feature_groups, channels = x.dim(1) / groups, filters = w.dim(0) / groups;
  std::vector<Tensor> parts;
  for (int64_t group = 0; group < groups; ++group) {
    Dims at_x = Dims::filled(x.rank(), 0), at_w = at_x, of_x = x.shape(), of_w = w.shape();
    at_x[1] = group * channels, of_x[1] = channels;
    at_w[0] = group * filters, of_w[0] = filters;
    parts.push_back(by_windows(slice(x, at_x, of_x), slice(w, at_w, of_w), options));
  }
  return concatenate(parts, 1);
}

// Small enough for sums of them to be exact.
Tensor whole_numbers(const Shape& shape, int64_t period) {
  std::vector<float> all(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = static_cast<float>(static_cast<int64_t>(i) * 31 % period % 7 - 3);
  return tensor(all, shape);
}

// The kernels for few filters, alone and several results at once, and for few results of many steps.
TEST_P(WindowsOn, GroupsOfFewFiltersAgreeWithDotsOverWindows) {
  if (!has_turn_on(device(GetParam()), 3)) GTEST_SKIP() << other_turn;
  struct Case {
    Shape x, w;
    Dims strides;
    int64_t groups, padding;
  };
  for (const Case& c :
       {Case{{7, 4, 34, 40}, {4, 1, 3, 3}, {1, 1}, 4, 1}, Case{{2, 6, 31, 29}, {12, 2, 5, 3}, {2, 1}, 3, 2},
        Case{{4, 2, 260, 261}, {2, 2, 2, 3}, {1, 1}, 1, 1},
        Case{{3, 3, 131, 130}, {16, 3, 7, 7}, {2, 2}, 1, 3}, Case{{3, 4, 3001}, {4, 2, 20}, {1}, 2, 7},
        Case{{2, 4, 11, 12, 13}, {4, 2, 3, 3, 3}, {1, 1, 1}, 2, 1}}) {
    ConvOptions options;
    options.strides = c.strides;
    options.feature_groups = c.groups;
    for (size_t i = 0; i < static_cast<size_t>(c.strides.size()); ++i)
      options.padding.push_back({c.padding, c.padding - 1, 0});
    const Tensor x = whole_numbers(c.x, 101), w = whole_numbers(c.w, 97);
    const Tensor got = conv(x, w, options), want = by_groups(x, w, options);
    const auto expect_same = [&](const Tensor& a, const Tensor& b, const char* what) {
      EXPECT_EQ(reduce_max(abs(a - b)).item<float>(), 0) << to_string(c.x) << " " << what;
    };
    expect_same(got, want, "result");
    const Tensor g = whole_numbers(got.shape(), 89);
    const auto loss = [&](auto f) {
      return [=](const Tensor& a, const Tensor& b) { return sum(f(a, b, options) * g); };
    };
    const Tensors all = grad(loss([](auto&&... t) { return conv(t...); }), std::vector{0, 1})(x, w);
    const Tensors these = grad(loss([](auto&&... t) { return by_groups(t...); }), std::vector{0, 1})(x, w);
    expect_same(all[0], these[0], "gradient of x");
    expect_same(all[1], these[1], "gradient of w");
  }
}

}  // namespace
}  // namespace adit::test
