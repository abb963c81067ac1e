#include "ops/conv_winograd.hpp"

#include <algorithm>
#include <limits>

namespace adit::ops {

namespace conv_winograd {
namespace {

using kernel::Access;
using kernel::Array;
using kernel::Builder;
using kernel::Team;
using kernel::Type;
using kernel::Value;
using Line = std::array<Value, WinogradConv::side>;
using Square = std::array<Line, WinogradConv::side>;

constexpr uint32_t lanes = 128;

uint32_t narrow(int64_t number) { return static_cast<uint32_t>(number); }

// Along an axis, of six places d and four numbers g, y_i = d_i g_0 + ... + d_(i+3) g_3 for i < 3. Both are
// polynomials whose product is known by its values at 0, 1, -1, 2, -2 and without end: m_p = of_places(d)_p
// of_four(g)_p. What is divided by has its place where it costs nothing: here by powers of two alone, so that
// nothing grows much, and by 3 along each axis at the end, where whole numbers come out whole.
Line of_places(const Line& d) {
  const Value near = d[2] - d[4] * 0.25, far = (d[4] - d[2]) * 0.25;
  const Value odd = d[1] - d[3] * 0.25, distant = (d[3] - d[1]) * 0.5;
  return {d[0] - d[2] * 1.25 + d[4] * 0.25, near + odd, near - odd, far + distant, far - distant,
          d[1] - d[3] * 1.25 + d[5] * 0.25};
}
Line of_four(const std::array<Value, 4>& g) {
  const Value even = g[0] + g[2], odd = g[1] + g[3];
  const Value far_even = g[0] * 0.125 + g[2] * 0.5, far_odd = g[1] * 0.25 + g[3];
  return {g[0], even + odd, even - odd, far_even + far_odd, far_even - far_odd, g[3]};
}
// Three times the results.
std::array<Value, 3> results_of(const Line& m) {
  const Value near = (m[1] + m[2]) * 2, far = m[3] + m[4];
  return {m[0] * 3 + near + far * 4, (m[1] - m[2]) * 2 + (m[3] - m[4]) * 8, near + far * 16 + m[5] * 12};
}

Line column_of(const Square& square, size_t j) {
  Line line;
  for (size_t i = 0; i < line.size(); ++i) line[i] = square[i][j];
  return line;
}

// A tile: whose it is, and which of an image's. Invocations go along a line of tiles.
struct Tile {
  Value row, image, down, right;
};
Tile tile_of(Value number, const WinogradConv& w) {
  const auto across = narrow(w.tiles_right()), along = narrow(w.tiles_down()),
             images = narrow(w.conv.channels);
  const Value lines = number / across, planes = lines / along;
  return {planes / images, planes % images, lines % along, number % across};
}

// The element at a place of a plane, or zero beside it; places below zero have wrapped.
Value element(const Array& from, Value plane, Value y, Value x, const ConvAxis& down, const ConvAxis& right,
              bool of_window) {
  const int64_t height = of_window ? down.window : down.input, width = of_window ? right.window : right.input;
  const Value inside = y < narrow(height) && x < narrow(width), at = plane + y * narrow(width) + x;
  const Value value = from.load(select(inside, at, at.like(0)));
  return select(inside, value, value.like(0));
}

void store(const Array& to, Value number, uint64_t apart, const Square& square) {
  constexpr size_t side = WinogradConv::side;
  for (size_t i = 0; i < side; ++i)
    for (size_t j = 0; j < side; ++j)
      to.store(number + number.like(static_cast<int64_t>((side * i + j) * apart)), square[i][j]);
}

}  // namespace
}  // namespace conv_winograd

bool winograd_pays(const ConvShape& conv, kernel::Type type, const Limits& limits) {
  // On an H200: products in the time that one number takes to memory or from it, and in that of the launches.
  constexpr double of_a_number = 25, of_launches = 1.5e6;
  if (type != kernel::Type::f32 || conv.groups != 1 || conv.axes[0].window * conv.axes[0].input != 1)
    return false;
  for (size_t i = 1; i < 3; ++i) {
    const ConvAxis& axis = conv.axes[i];
    if (axis.output != 3 || axis.stride != 1 || axis.dilation != 1 || axis.spread != 1) return false;
  }
  const WinogradConv made{conv};
  const int64_t most = std::max({made.x_count(), made.w_count(), made.sum_count(), conv.x_count(),
                                 conv.filters * conv.steps(), 9 * conv.results()});
  if (most > std::numeric_limits<int32_t>::max()) return false;
  const auto number = [](int64_t n) { return static_cast<double>(n); };
  const double saved =
      number(conv.results()) * number(conv.steps()) - number(made.sum_count()) * number(made.steps());
  const double moved = 2 * number(made.x_count() + made.w_count() + made.sum_count());
  return saved > of_a_number * moved + of_launches * std::max(1u, limits.multiprocessors);
}

kernel::Program WinogradConv::x_program() const {
  using namespace conv_winograd;
  Builder k("winograd_x", Team::one(lanes));
  const Array from = k.buffer("x", Type::f32, Access::read), to = k.buffer("to", Type::f32, Access::write);
  const Value number = k.team();
  const Tile tile = tile_of(number, *this);
  const std::array<int64_t, 3> apart = conv.x_apart();
  const Value plane = tile.row * narrow(apart[0]) + tile.image * narrow(apart[2]);
  const Value top = tile.down * tile_side - tile.down.like(conv.axes[1].low),
              left = tile.right * tile_side - tile.right.like(conv.axes[2].low);
  Square places, turned;
  for (uint32_t i = 0; i < side; ++i) {
    Line line;
    for (uint32_t j = 0; j < side; ++j)
      line[j] = element(from, plane, top + i, left + j, conv.axes[1], conv.axes[2], false);
    places[i] = of_places(line);
  }
  for (size_t j = 0; j < side; ++j) {
    const Line down = of_places(column_of(places, j));
    for (size_t i = 0; i < side; ++i) turned[i][j] = down[i];
  }
  store(to, number, x_teams(), turned);
  return k.finish();
}

kernel::Program WinogradConv::w_program() const {
  using namespace conv_winograd;
  Builder k("winograd_w", Team::one(lanes));
  const Array from = k.buffer("w", Type::f32, Access::read), to = k.buffer("to", Type::f32, Access::write);
  const Value number = k.team();
  const Tile tile = tile_of(number, *this);
  const std::array<int64_t, 3> apart = conv.w_apart();
  const Value plane = tile.row * narrow(apart[1]) + tile.image * narrow(apart[2]);
  const Value top = tile.down * tile_side, left = tile.right * tile_side;
  std::array<Line, tile_side> lines;
  for (uint32_t i = 0; i < tile_side; ++i) {
    std::array<Value, tile_side> line;
    for (uint32_t j = 0; j < tile_side; ++j)
      line[j] = element(from, plane, top + i, left + j, conv.axes[1], conv.axes[2], true);
    lines[i] = of_four(line);
  }
  Square turned;
  for (size_t j = 0; j < side; ++j) {
    const Line down = of_four({lines[0][j], lines[1][j], lines[2][j], lines[3][j]});
    for (size_t i = 0; i < side; ++i) turned[i][j] = down[i];
  }
  store(to, number, w_teams(), turned);
  return k.finish();
}

MatmulShape WinogradConv::product() const {
  MatmulShape shape;
  shape.m = conv_winograd::narrow(conv.batch);
  shape.n = conv_winograd::narrow(conv.filters);
  shape.k = conv_winograd::narrow(steps());
  shape.batch = products;
  shape.transpose_b = true;
  shape.a_stride = x_teams();
  shape.b_stride = w_teams();
  return shape;
}

// Nine results of a lane go through shared memory, so that lanes write what lies side by side.
kernel::Program WinogradConv::result_program() const {
  using namespace conv_winograd;
  constexpr uint32_t results = 9;
  Builder k("winograd_result", Team::many(lanes));
  const Array from = k.buffer("sums", Type::f32, Access::read),
              to = k.buffer("result", Type::f32, Access::write), held = k.shared(Type::f32, results * lanes);
  const auto count = narrow(conv.batch * conv.filters);
  const Value first = k.team() * lanes, number = min(first + k.lane(), first.like(count - 1));
  std::array<std::array<Value, 3>, side> right;
  for (uint32_t i = 0; i < side; ++i) {
    Line sums;
    for (uint32_t j = 0; j < side; ++j) sums[j] = from.load(number + (side * i + j) * count);
    right[i] = results_of(sums);
  }
  for (uint32_t j = 0; j < 3; ++j) {
    Line line;
    for (size_t i = 0; i < side; ++i) line[i] = right[i][j];
    const auto down = results_of(line);
    for (uint32_t i = 0; i < 3; ++i) held[k.lane() * results + (3 * i + j)] = down[i] / 9;
  }
  k.barrier();
  for (uint32_t step = 0; step < results; ++step) {
    const Value at = k.lane() + step * lanes, place = first * results + at;
    k.if_(place < results * count, [&] { to.store(place, held[at].get()); });
  }
  return k.finish();
}

uint64_t WinogradConv::result_teams() const {
  return static_cast<uint64_t>((conv.batch * conv.filters + conv_winograd::lanes - 1) / conv_winograd::lanes);
}

}  // namespace adit::ops
