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
using Line = std::array<Value, 4>;
using Square = std::array<Line, 4>;

constexpr uint32_t lanes = 128;

uint32_t narrow(int64_t number) { return static_cast<uint32_t>(number); }

// Of four places along an axis; with y_i = d_i g_0 + d_(i+1) g_1:
//   y_0 = m_0 + m_1 + m_2, y_1 = m_1 - m_2, y_2 = m_1 + m_2 + m_3
// where m_0 = (d_0 - d_2) g_0, m_1 = (d_1 + d_2) (g_0 + g_1) / 2, m_2 = (d_2 - d_1) (g_0 - g_1) / 2,
// m_3 = (d_3 - d_1) g_1.
Line of_places(const Line& d) { return {d[0] - d[2], d[1] + d[2], d[2] - d[1], d[3] - d[1]}; }
Line of_pair(Value g0, Value g1) { return {g0, (g0 + g1) * 0.5, (g0 - g1) * 0.5, g1}; }
std::array<Value, 3> results_of(const Line& m) {
  const Value both = m[1] + m[2];
  return {m[0] + both, m[1] - m[2], both + m[3]};
}

Line column_of(const Square& square, size_t j) {
  return {square[0][j], square[1][j], square[2][j], square[3][j]};
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
  for (size_t i = 0; i < 4; ++i)
    for (size_t j = 0; j < 4; ++j)
      to.store(number + number.like(static_cast<int64_t>((4 * i + j) * apart)), square[i][j]);
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
  const Value top = tile.down * 2 - tile.down.like(conv.axes[1].low),
              left = tile.right * 2 - tile.right.like(conv.axes[2].low);
  Square places, turned;
  for (uint32_t i = 0; i < 4; ++i) {
    Line line;
    for (uint32_t j = 0; j < 4; ++j)
      line[j] = element(from, plane, top + i, left + j, conv.axes[1], conv.axes[2], false);
    places[i] = of_places(line);
  }
  for (size_t j = 0; j < 4; ++j) {
    const Line down = of_places(column_of(places, j));
    for (size_t i = 0; i < 4; ++i) turned[i][j] = down[i];
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
  const Value top = tile.down * 2, left = tile.right * 2;
  std::array<Line, 2> pairs;
  for (uint32_t i = 0; i < 2; ++i)
    pairs[i] = of_pair(element(from, plane, top + i, left, conv.axes[1], conv.axes[2], true),
                       element(from, plane, top + i, left + 1, conv.axes[1], conv.axes[2], true));
  Square turned;
  for (size_t j = 0; j < 4; ++j) {
    const Line down = of_pair(pairs[0][j], pairs[1][j]);
    for (size_t i = 0; i < 4; ++i) turned[i][j] = down[i];
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
  Square sums;
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t j = 0; j < 4; ++j) sums[i][j] = from.load(number + (4 * i + j) * count);
  std::array<std::array<Value, 3>, 4> right;
  for (size_t i = 0; i < 4; ++i) right[i] = results_of(sums[i]);
  for (uint32_t j = 0; j < 3; ++j) {
    const auto down = results_of({right[0][j], right[1][j], right[2][j], right[3][j]});
    for (uint32_t i = 0; i < 3; ++i) held[k.lane() * results + (3 * i + j)] = down[i];
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
