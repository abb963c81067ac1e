// Index maps: shapes, errors, and values beside plain loops on every device.
#include <cmath>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "compile/team_loops.hpp"
#include "devices.hpp"

namespace adit::test {
namespace {

using Place = std::vector<int64_t>;

// f32 numbers 1, 2, 3, ...: an element at a wrong place is seen.
struct Source {
  Shape shape;
  explicit Source(const Shape& s) : shape(s) {}
  float at(const Place& place) const {
    int64_t linear = 0;
    for (int axis = 0; axis < shape.size(); ++axis) {
      EXPECT_TRUE(place[static_cast<size_t>(axis)] >= 0 && place[static_cast<size_t>(axis)] < shape[axis]);
      linear = linear * shape[axis] + place[static_cast<size_t>(axis)];
    }
    return static_cast<float>(linear + 1);
  }
  Tensor tensor() const {
    std::vector<float> values(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
    return adit::tensor(values, shape);
  }
};

Place place_of(int64_t linear, const Shape& shape) {
  Place place(static_cast<size_t>(shape.size()));
  for (int axis = shape.size() - 1; axis >= 0; --axis) {
    place[static_cast<size_t>(axis)] = linear % shape[axis];
    linear /= shape[axis];
  }
  return place;
}

template <class T = float, class F>
void expect_values(const Tensor& got, const Shape& shape, const F& element) {
  ASSERT_EQ(got.shape(), shape) << to_string(got.shape());
  const std::vector<T> values = got.to_vector<T>();
  int shown = 0;
  for (int64_t i = 0; i < element_count(shape) && shown < 4; ++i) {
    const T want = element(place_of(i, shape)), value = values[static_cast<size_t>(i)];
    if (value == want) continue;
    ++shown;
    ADD_FAILURE() << "element " << to_string(Dims(place_of(i, shape))) << " of " << to_string(shape) << " is "
                  << +value << ", expected " << +want;
  }
}

int64_t clamp(int64_t number, int64_t last) { return std::min(std::max<int64_t>(number, 0), last); }

template <class F>
void expect_error(const F& f, const std::string& part) {
  try {
    f();
    ADD_FAILURE() << "expected an error with \"" << part << "\"";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

class Shapes : public OnDevice {
 protected:
  void SetUp() override { set_default_device(on().shared_from_this()); }
  void TearDown() override { set_default_device(nullptr); }
};
INSTANTIATE_TEST_SUITE_P(All, Shapes, testing::ValuesIn(device_ids()), test_name);

TEST_P(Shapes, Reshape) {
  const Source x({2, 3, 4});
  for (const Shape& shape : {Shape{24}, {4, 6}, {4, 3, 2}, {1, 24, 1}, {2, -1, 2, 1}}) {
    Shape whole = shape;
    for (int64_t& extent : whole) extent = extent == -1 ? 6 : extent;
    int64_t next = 0;
    expect_values(reshape(x.tensor() + 0.0f, shape), whole,
                  [&](const Place&) { return static_cast<float>(++next); });
  }
  EXPECT_EQ(reshape(Source({0, 3}).tensor(), {-1, 3}).shape(), (Shape{0, 3}));
  EXPECT_EQ(reshape(Source({0, 3}).tensor(), {5, 0}).to_vector<float>().size(), 0u);
}

TEST_P(Shapes, Transpose) {
  const Source x({2, 3, 4});
  for (const Axes& axes :
       {Axes{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {-1, 0, 1}}) {
    Shape shape;
    for (const int64_t axis : axes) shape.push_back(x.shape[static_cast<int>((axis + 3) % 3)]);
    expect_values(transpose(x.tensor(), axes), shape, [&](const Place& p) {
      Place from(3);
      for (size_t i = 0; i < 3; ++i) from[static_cast<size_t>((axes[static_cast<int>(i)] + 3) % 3)] = p[i];
      return x.at(from);
    });
  }
  const Source long_one({257, 3});
  expect_values(transpose(long_one.tensor()), {3, 257}, [&](const Place& p) {
    return long_one.at({p[1], p[0]});
  });
}

// Two results of one kernel through tiles: one may lie where an operand of the other lay, so all is read
// before it is stored.
TEST_P(Shapes, TransposeBesideAnOperandThatDies) {
  const Tensor y = (iota({128, 128}, DType::f32) * 1e-4).eval();
  const Tensor x = indexed_add(y, reshape(iota({128}, DType::i32), {128, 1}), y);  // 2 y
  const Tensor a = exp(transpose(y)), b = exp(x);
  const Tensor both[] = {sum(a, {0}) + sum(a, {1}), sum(b, {0}) + 2.0 * sum(b, {1})};
  eval(both);
  const std::vector<float> got = both[1].to_vector<float>();
  for (int i = 0; i < 128; ++i) {
    double expected = 0;
    for (int j = 0; j < 128; ++j)
      expected += std::exp(2e-4 * (j * 128 + i)) + 2 * std::exp(2e-4 * (i * 128 + j));
    EXPECT_NEAR(got[static_cast<size_t>(i)], expected, 1e-5 * expected) << i;
  }
}

TEST_P(Shapes, Broadcast) {
  const Source x({3, 1});
  expect_values(broadcast_to(x.tensor(), {2, 3, 5}), {2, 3, 5}, [&](const Place& p) {
    return x.at({p[1], 0});
  });
  expect_values(broadcast_in(x.tensor(), {3, 4, 1}, {0, 2}), {3, 4, 1}, [&](const Place& p) {
    return x.at({p[0], 0});
  });
  const Source y({3, 2});
  expect_values(broadcast_in(y.tensor(), {2, 4, 3}, {2, 0}), {2, 4, 3}, [&](const Place& p) {
    return y.at({p[2], p[0]});
  });
  EXPECT_EQ(broadcast_to(x.tensor(), {0, 3, 1}).to_vector<float>().size(), 0u);
}

TEST_P(Shapes, Slice) {
  const Source x({5, 257});
  for (const auto& [start, length, stride] : {std::tuple{0, 257, 1},
                                              {1, 256, 1},
                                              {2, 255, 1},
                                              {256, 1, 1},
                                              {3, 200, 7},
                                              {0, 257, 256},
                                              {0, 257, 300},
                                              {100, 0, 1}}) {
    const int64_t count = (length + stride - 1) / stride;
    expect_values(slice(x.tensor(), {1, start}, {4, length}, {2, stride}), {2, count},
                  [&x, first = start, step = stride](const Place& p) {
                    return x.at({1 + 2 * p[0], first + step * p[1]});
                  });
  }
}

TEST_P(Shapes, DynamicSliceClampsStarts) {
  const Source x({7, 9});
  const auto check = [&](const Tensor& row, const Tensor& column, int64_t r, int64_t c) {
    expect_values(dynamic_slice(x.tensor(), {row, column}, {3, 4}), {3, 4}, [&](const Place& p) {
      return x.at({clamp(r, 4) + p[0], clamp(c, 5) + p[1]});
    });
  };
  for (const int64_t start : {-3, 0, 2, 5, 100}) {
    const auto narrow = static_cast<int8_t>(start);
    check(tensor(std::vector{start}, {}), tensor(std::vector{narrow}, {}), start, start);
  }
  check(tensor(std::vector{int64_t{1} << 40}, {}), tensor(std::vector{-(int64_t{1} << 40)}, {}), 100, -1);
  check(tensor(std::vector{~uint64_t{0}}, {}), tensor(std::vector<uint8_t>{200}, {}), 100, 100);
}

TEST_P(Shapes, PutSlice) {
  const Source x({7, 9});
  for (const auto& [r, c] : {std::pair{0, 0}, {2, 5}, {-1, 3}, {100, 100}}) {
    const Tensor piece = negate(Source({3, 4}).tensor());
    const Tensor put = put_slice(x.tensor(), piece, {tensor(std::vector{r}, {}), tensor(std::vector{c}, {})});
    const int64_t row = clamp(r, 4), column = clamp(c, 5);
    expect_values(put, {7, 9}, [&](const Place& p) {
      const bool inside = p[0] >= row && p[0] < row + 3 && p[1] >= column && p[1] < column + 4;
      return inside ? -Source({3, 4}).at({p[0] - row, p[1] - column}) : x.at(p);
    });
  }
  expect_values(put_slice(x.tensor(), zeros({0, 9}), Dims{2, 0}), {7, 9},
                [&](const Place& p) { return x.at(p); });
  expect_values(put_slice(x.tensor(), zeros({1, 9}), Dims{100, -5}), {7, 9},
                [&](const Place& p) { return p[0] == 6 ? 0.0f : x.at(p); });
}

TEST_P(Shapes, PadAndCut) {
  for (const int64_t extent : {0, 1, 2, 255, 256, 257})
    for (const Padding padding : {Padding{1, 2, 0},
                                  {0, 0, 2},
                                  {3, 0, 1},
                                  {-1, 2, 0},
                                  {2, -1, 3},
                                  {-1, -1, 2},
                                  {-4, 9, 0},
                                  {9, -4, 1},
                                  {0, 1, 0}}) {
      const int64_t step = padding.interior + 1, span = extent == 0 ? 0 : (extent - 1) * step + 1;
      const int64_t count = span + padding.low + padding.high;
      const Source x({2, extent});
      const std::vector<Padding> both{{1, 0, 0}, padding};
      if (count < 0) {
        expect_error([&] { (void)pad(x.tensor(), full({}, 0.5), both); }, "[pad] padding");
        continue;
      }
      expect_values(pad(x.tensor(), full({}, 0.5), both), {3, count}, [&](const Place& p) {
        const int64_t from = p[1] - padding.low;
        if (p[0] == 0 || from < 0 || from >= span || from % step != 0) return 0.5f;
        return x.at({p[0] - 1, from / step});
      });
    }
}

TEST_P(Shapes, PadFarBeyondTheKernelsIndex) {
  // Spread to 2^33 places and cut to three.
  const std::vector<Padding> padding{{-((int64_t{1} << 33) - 2), 1, (int64_t{1} << 33) - 1}};
  const Source x({2});
  expect_values(pad(x.tensor(), full({}, 0.5), padding), {4},
                [&](const Place& p) { return p[0] == 2 ? 2.0f : 0.5f; });
}

TEST_P(Shapes, Concatenate) {
  for (const auto& extents :
       {std::vector<int64_t>{255, 1, 256}, {0, 3, 0, 257}, {1}, {0, 0}, {2, 2, 2, 2, 2}}) {
    std::vector<Tensor> columns, rows;
    int64_t total = 0;
    for (const int64_t extent : extents) {
      columns.push_back(Source({2, extent}).tensor());
      rows.push_back(Source({extent, 2}).tensor());
      total += extent;
    }
    const auto part_of = [&](int64_t& place) {
      size_t k = 0;
      while (place >= extents[k]) place -= extents[k++];
      return extents[k];
    };
    expect_values(concatenate(columns, 1), {2, total}, [&](Place p) {
      const int64_t extent = part_of(p[1]);
      return Source({2, extent}).at(p);
    });
    expect_values(concatenate(rows, -2), {total, 2}, [&](Place p) {
      const int64_t extent = part_of(p[0]);
      return Source({extent, 2}).at(p);
    });
  }
}

// Long parts, which a CPU writes to their places one by one: in memory, computed, turned, none at all.
TEST_P(Shapes, ConcatenateLongParts) {
  const Source a({9, 700, 3}), b({9, 40, 3}), turned({40, 9, 3}), none({9, 0, 3});
  const Tensor joined = concatenate(
      {a.tensor(), none.tensor(), b.tensor() * 2.0f, transpose(turned.tensor(), {1, 0, 2}), a.tensor()}, 1);
  const auto value = [&](const Place& p) {
    const int64_t j = p[1];
    if (j < 700) return a.at({p[0], j, p[2]});
    if (j < 740) return 2.0f * b.at({p[0], j - 700, p[2]});
    if (j < 780) return turned.at({j - 740, p[0], p[2]});
    return a.at({p[0], j - 780, p[2]});
  };
  expect_values(joined, {9, 1480, 3}, value);
  expect_values(joined + 1.0f, {9, 1480, 3}, [&](const Place& p) { return value(p) + 1; });
  expect_values(sum(joined, {1}) * 0.0f, {9, 3}, [](const Place&) { return 0.0f; });
  const Source rows({500, 7}), more({123, 7});
  expect_values(concatenate({rows.tensor(), negate(more.tensor()), rows.tensor()}, 0), {1123, 7},
                [&](const Place& p) {
                  if (p[0] < 500) return rows.at(p);
                  return p[0] < 623 ? -more.at({p[0] - 500, p[1]}) : rows.at({p[0] - 623, p[1]});
                });
}

TEST_P(Shapes, StackReverseTile) {
  const Source x({3, 2});
  expect_values(stack({x.tensor(), negate(x.tensor())}, 1), {3, 2, 2}, [&](const Place& p) {
    return (p[1] ? -1.0f : 1.0f) * x.at({p[0], p[2]});
  });
  expect_values(stack({x.tensor(), x.tensor()}, -1), {3, 2, 2}, [&](const Place& p) {
    return x.at({p[0], p[1]});
  });
  expect_values(reverse(x.tensor()), {3, 2}, [&](const Place& p) { return x.at({2 - p[0], 1 - p[1]}); });
  expect_values(reverse(x.tensor(), {1}), {3, 2}, [&](const Place& p) { return x.at({p[0], 1 - p[1]}); });
  expect_values(tile(x.tensor(), {2, 3}), {6, 6}, [&](const Place& p) { return x.at({p[0] % 3, p[1] % 2}); });
  expect_values(tile(x.tensor(), {2, 1, 2}), {2, 3, 4}, [&](const Place& p) {
    return x.at({p[1], p[2] % 2});
  });
  EXPECT_EQ(tile(x.tensor(), {0}).shape(), (Shape{3, 0}));
  for (const Dims& repeats : {Dims{1, 2, 2, 2, 2, 2, 2}, Dims{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}}) {
    const Tensor repeated = tile(reshape(x.tensor(), {3, 1, 1, 1, 1, 1, 2}), repeats);
    EXPECT_EQ(sum(repeated).item<float>() * 6, sum(x.tensor()).item<float>() * float(repeated.size()));
  }
}

TEST_P(Shapes, TakeAndGatherClampIndices) {
  const Source x({4, 5, 3});
  const std::vector<int32_t> wild{-2, 0, 3, 4, 9, 2};
  const Tensor indices = tensor(wild, {2, 3});
  const auto index = [&](int64_t a, int64_t b) { return wild[static_cast<size_t>(a * 3 + b)]; };
  expect_values(take(x.tensor(), indices, 0), {2, 3, 5, 3}, [&](const Place& p) {
    return x.at({clamp(index(p[0], p[1]), 3), p[2], p[3]});
  });
  expect_values(take(x.tensor(), indices, 1), {4, 2, 3, 3}, [&](const Place& p) {
    return x.at({p[0], clamp(index(p[1], p[2]), 4), p[3]});
  });
  expect_values(take(x.tensor(), indices, -1), {4, 5, 2, 3}, [&](const Place& p) {
    return x.at({p[0], p[1], clamp(index(p[2], p[3]), 2)});
  });
  expect_values(gather(x.tensor(), indices), {2}, [&](const Place& p) {
    return x.at({clamp(index(p[0], 0), 3), clamp(index(p[0], 1), 4), clamp(index(p[0], 2), 2)});
  });
  expect_values(gather(x.tensor(), tensor(wild, {3, 2}), {0, 2}), {3, 5}, [&](const Place& p) {
    const auto column = [&](int64_t k) { return wild[static_cast<size_t>(p[0] * 2 + k)]; };
    return x.at({clamp(column(0), 3), p[1], clamp(column(1), 2)});
  });
}

TEST_P(Shapes, IndicesOfEveryType) {
  const Source x({257});
  for (const DType type :
       {DType::u8, DType::u16, DType::u32, DType::u64, DType::i8, DType::i16, DType::i32, DType::i64}) {
    const std::vector<int64_t> numbers{0, 100, 127, type == DType::i8 ? -5 : 200};
    expect_values(take(x.tensor(), as_type(tensor(numbers), type)), {4},
                  [&](const Place& p) { return x.at({clamp(numbers[static_cast<size_t>(p[0])], 256)}); });
  }
  // What 64 bits hold and 32 do not.
  const std::vector<int64_t> far{int64_t{1} << 32, -(int64_t{1} << 32), (int64_t{1} << 32) + 5};
  expect_values(take(x.tensor(), tensor(far)), {3},
                [&](const Place& p) { return p[0] == 1 ? 1.0f : 257.0f; });
  expect_values(take(x.tensor(), tensor(std::vector{~uint64_t{0}})), {1},
                [&](const Place&) { return 257.0f; });
}

TEST_P(Shapes, TakeAlongAxis) {
  const Source x({3, 4});
  const std::vector<int64_t> wild{3, -1, 0, 9, 2, 1};
  expect_values(take_along_axis(x.tensor(), tensor(wild, {3, 2}), 1), {3, 2}, [&](const Place& p) {
    return x.at({p[0], clamp(wild[static_cast<size_t>(p[0] * 2 + p[1])], 3)});
  });
}

TEST_P(Shapes, IndexedAddAndPut) {
  const Source x({4, 3});
  const Tensor indices = tensor(std::vector<int32_t>{1, 3, 1, 9}, {4, 1});
  const Tensor updates = Source({4, 3}).tensor() * 100.0f;
  expect_values(indexed_add(x.tensor(), indices, updates), {4, 3}, [&](const Place& p) {
    const auto update = [&](int64_t n) { return 100 * Source({4, 3}).at({n, p[1]}); };
    if (p[0] == 1) return x.at(p) + update(0) + update(2);
    return p[0] == 3 ? x.at(p) + update(1) + update(3) : x.at(p);
  });
  expect_values(indexed_put(x.tensor(), indices, updates), {4, 3}, [&](const Place& p) {
    const auto update = [&](int64_t n) { return 100 * Source({4, 3}).at({n, p[1]}); };
    return p[0] == 1 ? update(2) : p[0] == 3 ? update(3) : x.at(p);
  });
  // Updates that are shorter than the axis reach its beginning.
  expect_values(indexed_put(x.tensor(), tensor(std::vector<int32_t>{2}, {1, 1}), zeros({1, 2})), {4, 3},
                [&](const Place& p) { return p[0] == 2 && p[1] < 2 ? 0.0f : x.at(p); });
  expect_values(indexed_add(x.tensor(), tensor(std::vector<int32_t>{2, 1}, {2}), full({}, 0.5)), {4, 3},
                [&](const Place& p) { return x.at(p) + (p[0] == 2 && p[1] == 1 ? 0.5f : 0.0f); });
}

TEST_P(Shapes, EveryTypePasses) {
  for (int t = 0; t < dtype_count; ++t) {
    const auto type = static_cast<DType>(t);
    const Tensor x = iota({2, 3}, type, 1), more = full_integer({2, 1}, 7, type);
    const Tensor all = pad(concatenate({reverse(x, {1}), more}, 1), full_integer({}, 9, type),
                           std::vector<Padding>{{0, 1, 0}, {1, 0, 0}});
    expect_values<double>(as_type(is_complex(type) ? real(all) : all, DType::f64), {3, 5},
                          [&](const Place& p) {
                            if (p[0] == 2 || p[1] == 0) return 9.0;
                            return p[1] == 4 ? 7.0 : static_cast<double>(3 - p[1]);
                          });
  }
}

TEST_P(Shapes, Constants) {
  expect_values(linspace(1, 2, 5), {5}, [](const Place& p) { return 1 + 0.25f * static_cast<float>(p[0]); });
  const std::vector<double> ends = linspace(0.1, 0.7, 257, DType::f64).to_vector<double>();
  EXPECT_EQ(ends.front(), 0.1);
  EXPECT_EQ(ends.back(), 0.7);
  expect_values(eye(2, 3), {2, 3}, [](const Place& p) { return p[0] == p[1] ? 1.0f : 0.0f; });
  expect_values<int64_t>(arange(257), {257}, [](const Place& p) { return p[0]; });
  expect_values<uint8_t>(iota({300}, DType::u8), {300},
                         [](const Place& p) { return static_cast<uint8_t>(p[0]); });
  expect_values<uint64_t>(full({2}, 0x1p63, DType::u64), {2}, [](const Place&) { return uint64_t{1} << 63; });
  // Halves hold 2048 and 2050, and nothing between.
  expect_values<double>(as_type(iota({2052}, DType::f16), DType::f64), {2052}, [](const Place& p) {
    return p[0] <= 2048 ? static_cast<double>(p[0]) : p[0] == 2049 ? 2048.0 : p[0] == 2050 ? 2050.0 : 2052.0;
  });
}

TEST_P(Shapes, ViewsOfViews) {
  const Source x({6, 4});
  const Tensor y =
      transpose(reverse(slice(concatenate({x.tensor(), x.tensor() * 100.0f}, 0), {3, 1}, {7, 3}), {0}));
  expect_values(y, {3, 7}, [&](const Place& p) {
    const int64_t row = 3 + (6 - p[1]);
    return row < 6 ? x.at({row, p[0] + 1}) : 100 * x.at({row - 6, p[0] + 1});
  });
}

TEST_P(Shapes, Batches) {
  const auto check = [](const Function& f, const Tensors& xs, const std::vector<int>& axes) {
    const Tensor mapped = vmap_of(f, xs, axes)[0];
    const int64_t size = mapped.dim(0);
    Tensors loop;
    for (int64_t i = 0; i < size; ++i) {
      Tensors one;
      for (size_t k = 0; k < xs.size(); ++k) {
        if (axes[k] < 0) {
          one.push_back(xs[k]);
          continue;
        }
        one.push_back(squeeze(take(xs[k], full_integer({1}, i, DType::i32), axes[k]), {axes[k]}));
      }
      loop.push_back(f(one)[0]);
    }
    const Tensor want = stack(loop);
    ASSERT_EQ(mapped.shape(), want.shape());
    EXPECT_EQ(as_type(mapped, DType::f32).to_vector<float>(), as_type(want, DType::f32).to_vector<float>());
  };
  const Tensor x = Source({3, 4, 5}).tensor();
  const Tensor starts = tensor(std::vector<int32_t>{-1, 1, 7}),
               indices = tensor(std::vector<int32_t>{0, 3, 2, 9, 1, -1}, {3, 2});
  using T = Tensors;
  check([](const T& t) { return T{transpose(reverse(reshape(t[0], {5, 4}), {0}))}; }, {x}, {0});
  check(
      [](const T& t) {
        return T{broadcast_in(slice(t[0], {1, 0}, {2, 5}, {1, 2}), {2, 2, 3}, {0, 2})};
      },
      {x}, {0});
  check(
      [](const T& t) {
        return T{dynamic_slice(t[0], {t[1], full_integer({}, 2, DType::i32)}, {2, 2})};
      },
      {x, starts}, {0, 0});
  check(
      [](const T& t) {
        return T{dynamic_slice(t[0], {t[1], t[1]}, {2, 2})};
      },
      {Source({4, 5}).tensor(), starts}, {-1, 0});
  check(
      [](const T& t) {
        return T{put_slice(t[0], ones({2, 2}), {t[1], t[1]})};
      },
      {Source({4, 5}).tensor(), starts}, {-1, 0});
  check(
      [](const T& t) {
        return T{pad(t[0], as_type(t[1], DType::f32), std::vector<Padding>{{1, -1, 0}, {0, 2, 1}})};
      },
      {x, starts}, {0, 0});
  check([](const T& t) { return T{concatenate({t[0], ones({1, 5})}, 0)}; }, {x}, {0});
  check([](const T& t) { return T{take(t[0], t[1], 1)}; }, {x, indices}, {0, 0});
  check([](const T& t) { return T{gather(t[0], expand_dims(t[1], 0))}; }, {x, indices}, {0, 0});
  check([](const T& t) { return T{take_along_axis(t[0], t[1], 0)}; },
        {transpose(x, {0, 2, 1}), broadcast_in(indices, {3, 2, 4}, {0, 1})}, {0, 0});
  check(
      [](const T& t) {
        return T{indexed_add(t[0], expand_dims(t[1], 1), ones({2, 5}))};
      },
      {x, indices}, {0, 0});
  check(
      [](const T& t) {
        return T{indexed_put(t[0], expand_dims(t[1], 1), slice(t[0], {1, 0}, {2, 5}))};
      },
      {x, indices}, {0, 0});
}

// More examples than a small index type counts: the number of the example does not wrap.
TEST_P(Shapes, BatchesBeyondTheTypeOfTheIndices) {
  constexpr int64_t examples = 300;
  std::vector<float> rows;
  std::vector<int8_t> places;
  std::vector<float> want;
  for (int64_t i = 0; i < examples; ++i) {
    for (int64_t j = 0; j < 3; ++j) rows.push_back(static_cast<float>(10 * i + j));
    places.push_back(static_cast<int8_t>(i % 3));
    want.push_back(static_cast<float>(10 * i + i % 3));
  }
  const Tensor x = tensor(rows, {examples, 3});
  const auto at = [](Tensor row, Tensor place) { return take(row, place); };
  const auto gathered = [](Tensor row, Tensor place) { return gather(row, reshape(place, {1})); };
  const auto added = [](Tensor row, Tensor place) {
    return sum(indexed_add(zeros_like(row), reshape(place, {1, 1}), gather(row, reshape(place, {1, 1}))));
  };
  for (const DType type : {DType::i8, DType::u8, DType::i16, DType::u16}) {
    const Tensor index = as_type(tensor(places), type);
    EXPECT_EQ(vmap(at)(x, index).to_vector<float>(), want) << name_of(type);
    EXPECT_EQ(vmap(gathered)(x, index).to_vector<float>(), want) << name_of(type);
    EXPECT_EQ(vmap(added)(x, index).to_vector<float>(), want) << name_of(type);
  }
}

TEST_P(Shapes, DerivativesOfIndexedPut) {
  // Update 0 is overwritten by update 2; row 1 and row 3 of x are gone.
  const Tensor indices = tensor(std::vector<int32_t>{1, 3, 1}, {3, 1});
  const Tensor weights = Source({4, 2}).tensor();
  const auto f = [&](const Tensor& x, const Tensor& updates) {
    return sum(indexed_put(x, indices, updates) * weights);
  };
  const auto grads = grad(f, {0, 1})(zeros({4, 2}) + 1.0f, zeros({3, 2}) + 2.0f);
  expect_values(grads[0], {4, 2}, [&](const Place& p) { return p[0] % 2 ? 0.0f : Source({4, 2}).at(p); });
  expect_values(grads[1], {3, 2}, [&](const Place& p) {
    return p[0] == 0 ? 0.0f : Source({4, 2}).at({p[0] == 1 ? 3 : 1, p[1]});
  });
}

TEST_P(Shapes, DerivativeOfPad) {
  const std::vector<Padding> padding{{-1, 2, 1}};  // 1 . 2 . 3 . 4 loses its first element
  const auto g = [&](const Tensor& x, const Tensor& value) {
    return sum(pad(x, value, padding) * linspace(1, 8, 8));
  };
  const auto grads = grad(g, {0, 1})(Source({4}).tensor(), full({}, 0.5));
  // Places: . 2 . 3 . 4 v v
  expect_values(grads[0], {4},
                [](const Place& p) { return p[0] == 0 ? 0.0f : static_cast<float>(2 * p[0]); });
  EXPECT_EQ(grads[1].item<float>(), 1 + 3 + 5 + 7 + 8);
}

TEST(ShapeErrors, NameTheArgument) {
  const Tensor x = zeros({2, 3}), i = zeros({2}, DType::i32), none;
  expect_error([&] { (void)reshape(x, {4, -1}); }, "[reshape] shape: expected 6 elements");
  expect_error([&] { (void)reshape(x, {-1, -1}); }, "[reshape] shape");
  expect_error([&] { (void)reshape(none, {1}); }, "[reshape] x: expected a tensor, got none");
  expect_error([&] { (void)transpose(x, {0, 0}); }, "[transpose] axes: expected distinct axes");
  expect_error([&] { (void)transpose(x, {0}); }, "[transpose] axes: expected 2 numbers");
  expect_error([&] { (void)squeeze(x, {1}); }, "[squeeze] axes");
  expect_error([&] { (void)expand_dims(x, 4); }, "[expand_dims] axis");
  expect_error([&] { (void)broadcast_to(x, {3}); }, "[broadcast_to] shape");
  expect_error([&] { (void)broadcast_to(x, {2, 4}); }, "[broadcast] shape: expected extent 3");
  expect_error(
      [&] {
        (void)slice(x, {0, 1}, {2, 3});
      },
      "[slice] starts: expected 0 to 0 along axis 1, got 1");
  expect_error(
      [&] {
        (void)slice(x, {0, 0}, {2, 4});
      },
      "[slice] lengths: expected 0 to 3 along axis 1, got 4");
  expect_error([&] { (void)slice(x, {0, 0}, {2, 3}, {1, 0}); }, "[slice] strides");
  expect_error([&] { (void)dynamic_slice(x, {i, i}, {1, 1}); }, "[dynamic_slice] starts: expected scalars");
  expect_error(
      [&] {
        (void)dynamic_slice(x, {zeros({}), zeros({})}, {1, 1});
      },
      "[dynamic_slice] starts: expected integers, got f32");
  expect_error([&] { (void)put_slice(x, zeros({3, 3}), Dims{0, 0}); }, "[put_slice] piece");
  expect_error([&] { (void)put_slice(x, zeros({1, 1}), Dims{2}); }, "[put_slice] starts: expected 2 numbers");
  expect_error([&] { (void)pad(x, zeros({1}), std::vector<Padding>(2)); }, "[pad] value: expected a scalar");
  expect_error([&] { (void)pad(x, zeros({}), std::vector<Padding>(1)); }, "[pad] padding: expected 2");
  expect_error(
      [&] {
        (void)concatenate({x, zeros({2, 2})}, 0);
      },
      "[concatenate] parts: expected shapes that differ only along axis 0");
  expect_error([&] { (void)concatenate(std::span<const Tensor>{}, 0); }, "[concatenate] parts");
  expect_error([&] { (void)concatenate({x, x}, 2); }, "[concatenate] axis: expected -2 to 1");
  expect_error([&] { (void)stack({x, zeros({2})}); }, "[stack] parts");
  expect_error([&] { (void)reverse(x, {2}); }, "[reverse] axis");
  expect_error([&] { (void)tile(x, {-1}); }, "[tile] repeats");
  expect_error([&] { (void)take(x, x); }, "[take] indices: expected integers, got f32");
  expect_error([&] { (void)take(zeros({0, 3}), i); }, "[take] indices: expected none, since axis 0 is empty");
  expect_error([&] { (void)take_along_axis(x, i, 0); }, "[take_along_axis] indices");
  expect_error(
      [&] {
        (void)gather(x, zeros({4, 3}, DType::i32));
      },
      "[gather] indices: expected at most 2 coordinates, got 3");
  expect_error(
      [&] {
        (void)gather(x, zeros({4, 2}, DType::i32), {1, 0});
      },
      "[gather] axes: expected axes in order");
  expect_error(
      [&] {
        (void)indexed_add(x, zeros({4, 1}, DType::i32), zeros({4, 4}));
      },
      "[indexed_add] updates: expected the shape [4, 3], got [4, 4]");
  expect_error([&] { (void)full({2}, 2.5, DType::i32); }, "[full] number: expected a whole number");
  expect_error([&] { (void)full({2}, -1, DType::u8); }, "[full] number");
  expect_error([&] { (void)full({-2}, 1); }, "[full] shape");
  expect_error([&] { (void)iota({2}, DType::i32, 1); }, "[iota] axis");
  expect_error([&] { (void)linspace(0, 1, 3, DType::i32); }, "[linspace] type");
}

// --- More elements than 32 bits count ---

// A loop in pieces does each step once.
TEST_P(Shapes, ALongLoopOfATeamGoesInPieces) {
  for (const int64_t count : {1, 9, 10, 11, 37, 40}) {
    kernel::Builder k("pieces", kernel::Team::many(8));
    const kernel::Type index = on().limits().int64 ? kernel::Type::u64 : kernel::Type::u32,
                       u32 = kernel::Type::u32;
    const auto steps = k.buffer("steps", u32, kernel::Access::read_write);
    const auto totals = k.buffer("totals", u32, kernel::Access::write);
    compile::team_each(
        k, index, count,
        [&](kernel::Value i) {
          const kernel::Value at = convert(i, u32);
          steps[at] = kernel::Value(steps[at]) + at + 1;
        },
        10);
    const auto found = compile::team_reduce(
        k, index, count, {kernel::Reduction::add, kernel::Reduction::max}, {u32, u32},
        [&](kernel::Value i) {
          const kernel::Value at = convert(i, u32);
          return std::vector{at + 1, at * 3};
        },
        10);
    k.once([&] {
      totals[0u] = found[0];
      totals[1u] = found[1];
    });
    const auto kernel = on().compile(k.finish());
    const Buffer a = on().allocate(4 * 41), b = on().allocate(8);
    on().fill(a, 0);
    on().run(*kernel, 1, {a, b});
    uint32_t values[41], sums[2];
    on().read(a, values, sizeof values);
    on().read(b, sums, sizeof sums);
    for (uint32_t i = 0; i < 41; ++i) EXPECT_EQ(values[i], i < count ? i + 1 : 0) << count << ", " << i;
    EXPECT_EQ(sums[0], count * (count + 1) / 2) << count;
    EXPECT_EQ(sums[1], 3 * (count - 1)) << count;
  }
}

// Constants that do not fit their type are errors, so what compiles counts right. Nothing is run: that takes
// memory.
TEST(WideShapes, KernelsOfTensorsBeyond32BitsAreWritten) {
  if (device_ids().empty() || device_ids()[0].find("cpu") == std::string::npos)
    GTEST_SKIP() << "no cpu device";
  set_default_device(Device::open("cpu"));
  const int64_t n = (int64_t{1} << 32) + 16;
  const auto bytes = [](const Tensor& x) {
    return as_type(bitwise_and(x, full_integer(Shape{}, 7)), DType::u8);
  };
  for (const Shape& shape : {Shape{3, n}, Shape{n, 2}}) {
    const Tensor x = bytes(iota(shape));
    prepare(Tensors{sum(x, {0}), x - reduce_max(x, {0}, true)});
    prepare(Tensors{sum(x, {1}), x - reduce_max(x, {1}, true)});
    prepare(Tensors{concatenate({x, reverse(x, {1})}, 1)});
    prepare(Tensors{x + full_integer(Shape{}, 1, DType::u8), transpose(x)});
    prepare(Tensors{argmax(as_type(x, DType::f32))});
  }
}

}  // namespace
}  // namespace adit::test
