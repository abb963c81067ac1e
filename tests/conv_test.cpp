// Convolutions of random shapes and both of their gradients beside sums as they are written down, on whole
// numbers, so that every order of adding gives the same. They are large enough to have kernels of their own.
#include <cmath>
#include <limits>
#include <random>

#include <adit/adit.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

struct Case {
  int64_t batch = 1, groups = 1, channels = 1, filters = 1;  // the last two: of a group
  std::vector<int64_t> input, window, stride, dilation, low, high;
  size_t rank() const { return input.size(); }
  int64_t output(size_t i) const {
    return (input[i] + low[i] + high[i] - (window[i] - 1) * dilation[i] - 1) / stride[i] + 1;
  }
  Shape shape(int64_t first, int64_t second, const std::vector<int64_t>& rest) const {
    Shape list{first, second};
    for (const int64_t extent : rest) list.push_back(extent);
    return list;
  }
  std::vector<int64_t> outputs() const {
    std::vector<int64_t> list;
    for (size_t i = 0; i < rank(); ++i) list.push_back(output(i));
    return list;
  }
  ConvOptions options() const {
    ConvOptions o;
    o.feature_groups = groups;
    for (size_t i = 0; i < rank(); ++i) {
      o.strides.push_back(stride[i]);
      o.kernel_dilation.push_back(dilation[i]);
      o.padding.push_back({low[i], high[i], 0});
    }
    return o;
  }
};

using Numbers = std::vector<double>;

int64_t count_of(const std::vector<int64_t>& extents) {
  int64_t count = 1;
  for (const int64_t extent : extents) count *= extent;
  return count;
}

// Calls f(place in x, in w, in the result) for every product; places along lines.
template <class F>
void for_each_product(const Case& c, const F& f) {
  const int64_t inputs = count_of(c.input), windows = count_of(c.window), outputs = count_of(c.outputs());
  std::vector<std::pair<int64_t, int64_t>> met;  // (of x, of the window) for each output
  std::vector<size_t> begins;
  for (int64_t o = 0; o < outputs; ++o) {
    begins.push_back(met.size());
    for (int64_t k = 0; k < windows; ++k) {
      int64_t place = 0, unit = 1, left_o = o, left_k = k;
      bool inside = true;
      for (size_t i = c.rank(); i-- > 0;) {
        const int64_t at =
            left_o % c.output(i) * c.stride[i] + left_k % c.window[i] * c.dilation[i] - c.low[i];
        left_o /= c.output(i), left_k /= c.window[i];
        inside = inside && at >= 0 && at < c.input[i];
        place += at * unit, unit *= c.input[i];
      }
      if (inside) met.emplace_back(place, k);
    }
  }
  begins.push_back(met.size());
  for (int64_t b = 0; b < c.batch; ++b)
    for (int64_t g = 0; g < c.groups; ++g)
      for (int64_t filter = 0; filter < c.filters; ++filter)
        for (int64_t channel = 0; channel < c.channels; ++channel) {
          const int64_t x = ((b * c.groups + g) * c.channels + channel) * inputs,
                        w = ((g * c.filters + filter) * c.channels + channel) * windows,
                        y = ((b * c.groups + g) * c.filters + filter) * outputs;
          for (int64_t o = 0; o < outputs; ++o)
            for (size_t i = begins[static_cast<size_t>(o)]; i < begins[static_cast<size_t>(o) + 1]; ++i)
              f(static_cast<size_t>(x + met[i].first), static_cast<size_t>(w + met[i].second),
                static_cast<size_t>(y + o));
        }
}

Numbers drawn(std::mt19937_64& generator, int64_t count) {
  Numbers list(static_cast<size_t>(count));
  for (double& value : list) value = static_cast<double>(generator() % 7) - 3;
  return list;
}

void expect_equal(const Tensor& got, const Numbers& wanted, const std::string& what) {
  const std::vector<double> values = as_type(got, DType::f64).to_vector<double>();
  ASSERT_EQ(values.size(), wanted.size()) << what;
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(values[i], wanted[i]) << what << " at " << i;
}

std::string text_of(const Case& c) {
  std::string text = "x " + std::to_string(c.batch) + ", groups " + std::to_string(c.groups) + " of " +
                     std::to_string(c.channels) + " channels, " + std::to_string(c.filters) + " filters";
  for (size_t i = 0; i < c.rank(); ++i)
    text += "; " + std::to_string(c.input[i]) + " by " + std::to_string(c.window[i]) + " stride " +
            std::to_string(c.stride[i]) + " dilation " + std::to_string(c.dilation[i]) + " padding " +
            std::to_string(c.low[i]) + ", " + std::to_string(c.high[i]);
  return text;
}

void check(const Case& c, DType type, std::mt19937_64& generator) {
  const Shape x_shape = c.shape(c.batch, c.groups * c.channels, c.input),
              w_shape = c.shape(c.groups * c.filters, c.channels, c.window),
              y_shape = c.shape(c.batch, c.groups * c.filters, c.outputs());
  const Numbers x = drawn(generator, element_count(x_shape)), w = drawn(generator, element_count(w_shape)),
                g = drawn(generator, element_count(y_shape));
  Numbers y(g.size()), to_x(x.size()), to_w(w.size());
  for_each_product(c, [&](size_t at_x, size_t at_w, size_t at_y) {
    y[at_y] += x[at_x] * w[at_w];
    to_x[at_x] += g[at_y] * w[at_w];
    to_w[at_w] += g[at_y] * x[at_x];
  });
  const auto given = [&](const Numbers& values, const Shape& shape) {
    return as_type(tensor(values, shape), type).eval();
  };
  const Tensor tx = given(x, x_shape), tw = given(w, w_shape), tg = given(g, y_shape);
  const ConvOptions options = c.options();
  expect_equal(conv(tx, tw, options), y, text_of(c));
  const auto loss = [&](const Tensor& a, const Tensor& b) { return sum(conv(a, b, options) * tg); };
  expect_equal(grad(loss, 0)(tx, tw), to_x, "gradient of x: " + text_of(c));
  expect_equal(grad(loss, 1)(tx, tw), to_w, "gradient of the kernel: " + text_of(c));
}

class ConvOn : public OnDevice {
 protected:
  void SetUp() override { set_default_device(Device::open(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Devices, ConvOn, testing::ValuesIn(device_ids()), test_name);

Case random_case(std::mt19937_64& generator, double least, double most) {
  const auto draw = [&](std::initializer_list<int64_t> from) {
    return *(from.begin() + static_cast<int64_t>(generator() % from.size()));
  };
  for (;;) {
    Case c;
    c.batch = draw({1, 2, 3, 5, 9});
    c.groups = draw({1, 1, 1, 2, 3, 19});
    c.channels = draw({1, 1, 2, 3, 5, 8, 16, 17, 31, 40});
    c.filters = draw({1, 1, 2, 3, 7, 8, 9, 15, 16, 17, 32, 33, 47, 64, 65});
    const int64_t rank = draw({1, 2, 2, 2, 3});
    for (int64_t i = 0; i < rank; ++i) {
      c.window.push_back(draw({1, 2, 3, 3, 4, 5, 7}));
      c.stride.push_back(draw({1, 1, 1, 2, 3}));
      c.dilation.push_back(draw({1, 1, 1, 2, 3}));
      c.low.push_back(draw({0, 0, 1, 2, -1}));
      c.high.push_back(draw({0, 0, 1, 3}));
      c.input.push_back((c.window.back() - 1) * c.dilation.back() + 2 +
                        static_cast<int64_t>(generator() % (rank == 1   ? 700
                                                            : rank == 2 ? 40
                                                                        : 12)));
    }
    const double count = static_cast<double>(c.batch * c.groups * c.channels * c.filters) *
                         static_cast<double>(count_of(c.window) * count_of(c.outputs()));
    if (count > least && count < most) return c;
  }
}

TEST_P(ConvOn, RandomShapesAndGradientsAreExact) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const bool is_cpu = GetParam() == "cpu";
  std::mt19937_64 generator(5);
  for (int i = 0; i < (is_cpu ? 120 : 12); ++i)
    check(random_case(generator, is_cpu ? 1 << 12 : 1 << 18, is_cpu ? 1e7 : 1e6),
          is_cpu && i % 3 == 2 ? DType::f64 : DType::f32, generator);
}

// Lines beyond what a band or a part holds, windows as large as x, many channels, one column.
TEST_P(ConvOn, LongFlatAndTallShapesAreExact) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  std::mt19937_64 generator(6);
  const auto run = [&](int64_t batch, int64_t groups, int64_t channels, int64_t filters,
                       std::vector<int64_t> input, std::vector<int64_t> window, int64_t stride = 1,
                       int64_t padding = 0) {
    const std::vector<int64_t> ones(input.size(), 1), strides(input.size(), stride),
        sides(input.size(), padding);
    check({batch, groups, channels, filters, input, window, strides, ones, sides, sides}, DType::f32,
          generator);
  };
  run(1, 1, 3, 20, {5003}, {7}, 1, 3);
  run(2, 40, 1, 1, {1501}, {9}, 2, 4);
  run(1, 1, 2, 33, {1, 1100}, {1, 3});
  run(1, 1, 32, 32, {211, 1}, {3, 1}, 1, 1);
  run(3, 1, 16, 40, {9, 9}, {9, 9});
  run(2, 1, 700, 9, {3, 3}, {3, 3}, 1, 1);
  run(64, 1, 1, 8, {12, 12}, {3, 3});
  run(1, 1, 64, 64, {17, 19}, {1, 1});
  run(1, 64, 1, 2, {30, 30}, {5, 5}, 2, 2);
  run(1, 1, 1, 1, {600, 600}, {3, 3}, 1, 1);
}

// Lines of a little less and more than vectors and tiles have, strides up to and beyond those that have
// phases, with dilation too, images and channels about what fills a tile.
TEST_P(ConvOn, SizesAboutVectorsTilesAndPhasesAreExact) {
  const bool is_cpu = GetParam() == "cpu";
  std::mt19937_64 generator(7);
  const auto run = [&](int64_t batch, int64_t groups, int64_t channels, int64_t filters, int64_t length,
                       int64_t window, int64_t stride, int64_t dilation, int64_t padding, DType type) {
    check({batch,
           groups,
           channels,
           filters,
           {9, length},
           {2, window},
           {1, stride},
           {1, dilation},
           {0, padding},
           {1, padding}},
          type, generator);
  };
  run(3, 1, 40, 33, 17, 3, 1, 1, 1, DType::f32);
  run(33, 1, 31, 9, 13, 3, 1, 1, 1, DType::f32);
  if (!is_cpu) return;
  for (const int64_t length : {15, 16, 33}) run(3, 1, 40, 33, length, 3, 1, 1, 1, DType::f32);
  for (const int64_t channels : {13, 32, 33}) run(33, 1, channels, 9, 13, 3, 1, 1, 1, DType::f32);
  run(31, 1, 16, 32, 17, 3, 2, 1, 1, DType::f32);
  for (const int64_t stride : {2, 3, 8, 9})
    for (const int64_t dilation : {1, 2, 3})
      for (const DType type : {DType::f32, DType::f64}) {
        run(2, 1, 5, 19, 67, 5, stride, dilation, 2, type);
        run(1, 7, 1, 1, 70, 4, stride, dilation, 0, type);
      }
  for (const int64_t length : {7, 8, 9, 31, 32, 65, 300})
    for (const int64_t stride : {1, 2, 3}) run(2, 11, 1, 2, length, 3, stride, 1, 1, DType::f32);
  run(2, 1, 129, 3, 40, 3, 1, 1, 1, DType::f32);
  run(2, 1, 3, 131, 40, 3, 2, 1, 1, DType::f64);
}

// Neighbours along the first of three axes share the planes that they read.
TEST_P(ConvOn, DeepShapesAreExact) {
  std::mt19937_64 generator(8);
  for (const int64_t stride : {1, 2, 3})
    for (const int64_t dilation : {1, 2})
      check({2, 1, 3, 5, {9, 6, 7}, {3, 2, 3}, {stride, 1, stride}, {dilation, 1, 1}, {1, 0, 1}, {2, 1, 0}},
            DType::f32, generator);
}

// Windows about as large as x, of many filters and few channels: a gradient of x has few filters, and most of
// what its windows meet is padding.
TEST_P(ConvOn, LargeWindowsOfFewChannelsAreExact) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const bool is_cpu = GetParam() == "cpu";
  std::mt19937_64 generator(10);
  const auto upto = [&](int64_t most) { return 1 + static_cast<int64_t>(generator() % most); };
  for (int i = 0; i < (is_cpu ? 60 : 4); ++i) {
    Case c{upto(6), upto(3), upto(3), 8 + upto(70), {}, {}, {}, {}, {}, {}};
    const int64_t rank = upto(3);
    for (int64_t axis = 0; axis < rank; ++axis) {
      c.window.push_back(upto(rank == 1 ? 60 : 6));
      c.stride.push_back(upto(3));
      c.dilation.push_back(upto(3));
      c.low.push_back(upto(4) - 2);
      c.high.push_back(upto(4) - 2);
      c.input.push_back((c.window.back() - 1) * c.dilation.back() + 2 + upto(8));
    }
    check(c, is_cpu && i % 3 == 2 ? DType::f64 : DType::f32, generator);
  }
}

// Kernels of many windows: their tile fits into what any device has.
TEST_P(ConvOn, LargeKernelsOfWideNumbersAreExact) {
  std::mt19937_64 generator(11);
  check({1, 1, 16, 32, {7, 7}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}}, DType::f64, generator);
  check({1, 1, 16, 32, {9, 9}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}}, DType::f32, generator);
}

// Gradients of kernels of many filters and channels, which a GPU computes with fewer products where there are
// enough (`winograd_pays`; a large GPU wants more): tiles that are whole and cut, padding of all kinds, also
// as far as a tile lies beside x.
TEST_P(ConvOn, GradientsOfManyKernelsAreExact) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  if (GetParam() == "cpu") GTEST_SKIP() << "a way of GPUs";
  std::mt19937_64 generator(9);
  check({8, 1, 128, 128, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, DType::f32, generator);
  check({14, 1, 130, 131, {7, 5}, {3, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 3}}, DType::f32, generator);
  check({24, 1, 140, 120, {11, 6}, {3, 3}, {1, 1}, {1, 1}, {-1, 1}, {0, 0}}, DType::f32, generator);
  if (default_device()->info().kind != DeviceKind::software)
    check({11, 1, 192, 193, {12, 13}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}, DType::f32, generator);
}

// What lies beside a window, infinite or left over in memory, is none of its results': long windows go by
// runs over whole lines, with zeros between.
TEST_P(ConvOn, WhatLiesBesideAWindowDoesNotMatter) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto not_finite = [](const Tensor& t) {
    int64_t count = 0;
    for (const float each : t.to_vector<float>()) count += !std::isfinite(each);
    return count;
  };
  const auto last_is = [&](const Shape& shape, float last) {
    std::vector<float> values(static_cast<size_t>(full(shape, 1.0f).size()), 1);
    values.back() = last;
    return tensor(values, shape);
  };
  // The last element is of the last place alone: of each filter's last result.
  EXPECT_EQ(not_finite(conv(last_is({1, 1, 1025}, infinity), full({4, 1, 1014}, 1.0f))), 4);
  EXPECT_EQ(not_finite(conv(last_is({1, 1, 34, 34}, infinity), full({4, 1, 32, 32}, 1.0f))), 4);
  conv(full({1, 1, 1025}, infinity), full({4, 1, 1014}, 0.0f))
      .to_vector<float>();  // NaN in memory that is left
  EXPECT_EQ(not_finite(conv(full({1, 1, 1025}, 1.0f), full({4, 1, 1014}, 1.0f))), 0);
}

}  // namespace
}  // namespace adit::test
