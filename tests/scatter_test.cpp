// indexed_add and indexed_put as kernels: every method on every device, against plain loops.
#include "ops/scatter.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <adit/kernel/builder.hpp>

#include "devices.hpp"

namespace adit::test {
namespace {

using namespace adit::ops;

class Scatters : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Scatters, testing::ValuesIn(device_ids()), test_name);

// Elements as bytes of a type, from doubles and back. Halves are cut from f32: the numbers used fit them.
std::vector<std::byte> pack(Type type, const std::vector<double>& values) {
  std::vector<std::byte> bytes(values.size() * size_of(type));
  for (size_t i = 0; i < values.size(); ++i) {
    const uint64_t bits = is_float(type)  ? bits_of_number(type, values[i])
                          : values[i] < 0 ? static_cast<uint64_t>(static_cast<int64_t>(values[i]))
                                          : static_cast<uint64_t>(values[i]);
    std::memcpy(&bytes[i * size_of(type)], &bits, size_of(type));
  }
  return bytes;
}

double half_to_double(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return h >> 15 ? -size : size;
}

double unpack(Type type, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, size_of(type));
  switch (type) {
    case Type::f64: return std::bit_cast<double>(bits);
    case Type::f32: return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Type::bf16: return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    case Type::f16: return half_to_double(static_cast<uint16_t>(bits));
    case Type::i8: return static_cast<int8_t>(bits);
    case Type::i16: return static_cast<int16_t>(bits);
    case Type::i32: return static_cast<int32_t>(bits);
    case Type::i64: return static_cast<double>(static_cast<int64_t>(bits));
    default: return static_cast<double>(bits);
  }
}

std::vector<double> unpack(Type type, const std::vector<std::byte>& bytes) {
  std::vector<double> values(bytes.size() / size_of(type));
  for (size_t i = 0; i < values.size(); ++i) values[i] = unpack(type, &bytes[i * size_of(type)]);
  return values;
}

struct Case {
  ScatterPlan plan;
  std::vector<std::byte> x, indices, updates;
  uint64_t parts = 1;  // numbers in an element

  uint64_t elements() const {
    uint64_t n = 1;
    for (const auto& axis : plan.indexed) n *= axis.extent;
    for (const auto& axis : plan.slice) n *= axis.extent;
    return n;
  }
  uint64_t slice_size() const {
    uint64_t n = 1;
    for (const auto& axis : plan.slice) n *= axis.extent;
    return n;
  }
};

// A destination of `shape` with the first `coordinates` axes indexed (or the last ones), random data in
// range.
Case make_case(ScatterKind kind, Type type, Type index_type, const std::vector<uint64_t>& shape,
               int coordinates, bool last_axes, uint64_t updates, uint32_t seed, bool complex = false) {
  Case c;
  c.plan.kind = kind;
  c.plan.type = type;
  c.plan.complex = complex;
  c.plan.index_type = index_type;
  c.plan.updates = updates;
  c.parts = complex ? 2 : 1;
  uint64_t stride = 1;
  std::vector<ScatterAxis> axes(shape.size());
  for (size_t a = shape.size(); a-- > 0; stride *= shape[a]) axes[a] = {shape[a], stride};
  const int first = last_axes ? static_cast<int>(shape.size()) - coordinates : 0;
  for (int a = 0; a < static_cast<int>(shape.size()); ++a)
    (a >= first && a < first + coordinates ? c.plan.indexed : c.plan.slice)
        .push_back(axes[static_cast<size_t>(a)]);

  std::mt19937_64 random(seed);
  const auto number = [&] {
    const double v = static_cast<double>(random() % 41) - 20;
    return is_float(type) ? v / 8 : is_unsigned(type) ? v + 20 : v;
  };
  std::vector<double> x(c.elements() * c.parts), u(updates * c.slice_size() * c.parts), indices;
  for (double& v : x) v = number();
  for (double& v : u) v = number();
  for (uint64_t i = 0; i < updates; ++i)
    for (const auto& axis : c.plan.indexed) {
      const auto wild = static_cast<double>(random() % (axis.extent + 4));  // two too low, two too high
      indices.push_back(is_unsigned(index_type) ? wild : wild - 2);
    }
  c.x = pack(type, x);
  c.updates = pack(type, u);
  c.indices = pack(index_type, indices);
  return c;
}

// Calls f(destination number, update number) for all of them, in order.
template <class F>
void for_each_update(const Case& c, F f) {
  const std::vector<double> indices = unpack(c.plan.index_type, c.indices);
  const size_t k = c.plan.indexed.size();
  for (uint64_t u = 0; u < c.plan.updates; ++u) {
    uint64_t base = 0;
    for (size_t j = 0; j < k; ++j) {
      const auto last = static_cast<double>(c.plan.indexed[j].extent - 1);
      base += static_cast<uint64_t>(std::clamp(indices[u * k + j], 0.0, last)) * c.plan.indexed[j].stride;
    }
    for (uint64_t s = 0; s < c.slice_size(); ++s) {
      uint64_t at = base, rest = s;
      for (size_t a = c.plan.slice.size(); a-- > 0; rest /= c.plan.slice[a].extent)
        at += rest % c.plan.slice[a].extent * c.plan.slice[a].stride;
      for (uint64_t p = 0; p < c.parts; ++p) f(at * c.parts + p, (u * c.slice_size() + s) * c.parts + p);
    }
  }
}

Buffer upload(Device& device, const std::vector<std::byte>& bytes) {
  const Buffer buffer = device.allocate(std::max<size_t>(bytes.size(), 4));
  if (!bytes.empty()) device.write(buffer, bytes.data(), bytes.size());
  return buffer;
}

std::vector<std::byte> run(Device& device, const Case& c, const ScatterTarget& target, ScatterMethod method) {
  const Scatter work = scatter(c.plan, target, method);
  const Buffer output = upload(device, c.x);
  run_scatter(device, work, output, upload(device, c.indices), upload(device, c.updates));
  std::vector<std::byte> result(c.x.size());
  device.read(output, result.data(), result.size());
  return result;
}

// All methods of this kind of update, with 64-bit atomics where the device has them and without.
std::vector<std::pair<ScatterTarget, ScatterMethod>> methods(const Device& device, ScatterKind kind,
                                                             Type type) {
  using enum ScatterMethod;
  ScatterTarget target = scatter_target(device);
  target.workers = 3;
  std::vector<std::pair<ScatterTarget, ScatterMethod>> all{{target, leader}, {target, ranges}};
  all.emplace_back(target, kind == ScatterKind::put ? claim : atomics);
  if (kind == ScatterKind::add && is_float(type) && type != Type::f64 && target.lanes_by_hand &&
      target.shared_bytes >= 32 << 10)
    all.emplace_back(target, buckets);
  if (kind == ScatterKind::add && target.int64_atomics) {
    target.int64_atomics = false;
    all.emplace_back(target, atomics);
  }
  return all;
}

bool in_fixed_point(ScatterMethod method) {
  return method == ScatterMethod::atomics || method == ScatterMethod::buckets;
}

// Wraps a number that an integer type cannot hold.
double wrapped(Type type, double value) { return unpack(type, pack(type, {value}).data()); }

void check(Device& device, const Case& c) {
  const Type type = c.plan.type;
  std::vector<double> want = unpack(type, c.x), magnitude(want.size());
  const std::vector<double> updates = unpack(type, c.updates);
  for (size_t i = 0; i < want.size(); ++i) magnitude[i] = std::fabs(want[i]);
  for_each_update(c, [&](uint64_t to, uint64_t from) {
    want[to] = c.plan.kind == ScatterKind::put ? updates[from] : want[to] + updates[from];
    magnitude[to] += std::fabs(updates[from]);
  });
  const double unit = type == Type::f64    ? 0x1p-52
                      : type == Type::f32  ? 0x1p-23
                      : type == Type::f16  ? 0x1p-10
                      : type == Type::bf16 ? 0x1p-7
                                           : 0;
  for (const auto& [target, method] : methods(device, c.plan.kind, type)) {
    const auto bytes = run(device, c, target, method);
    const std::vector<double> got = unpack(type, bytes);
    // The methods that keep the order round halves at each step.
    const double steps = in_fixed_point(method) ? 2 : 40;
    int shown = 0;
    for (size_t i = 0; i < want.size() && shown < 5; ++i) {
      const double wanted = is_float(type) ? want[i] : wrapped(type, want[i]);
      const double allowed = c.plan.kind == ScatterKind::put ? 0 : steps * unit * magnitude[i];
      if (std::fabs(got[i] - wanted) > allowed && ++shown)
        ADD_FAILURE() << kernel::name_of(type) << " method " << static_cast<int>(method) << " updates "
                      << c.plan.updates << ": element " << i << " is " << got[i] << ", expected " << wanted;
    }
    EXPECT_EQ(run(device, c, target, method), bytes) << "the bits differ the second time";
  }
}

constexpr Type all_types[] = {Type::i8,  Type::i16, Type::i32, Type::i64,  Type::u8,  Type::u16,
                              Type::u32, Type::u64, Type::f16, Type::bf16, Type::f32, Type::f64};
constexpr ScatterKind both[] = {ScatterKind::add, ScatterKind::put};

TEST_P(Scatters, EveryTypeWithRepeatedPlaces) {
  for (const ScatterKind kind : both)
    for (const Type type : all_types) check(on(), make_case(kind, type, Type::i64, {17}, 1, false, 65, 1));
}

TEST_P(Scatters, EveryIndexType) {
  for (const Type index : all_types)
    if (is_integer(index))
      check(on(), make_case(ScatterKind::add, Type::f32, index, {17, 3}, 1, false, 20, 2));
  // A narrow index cannot reach the end of a long axis.
  check(on(), make_case(ScatterKind::put, Type::f32, Type::i32, {300}, 1, false, 64, 3));
}

TEST_P(Scatters, Sizes) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  uint64_t number = 0;
  for (const uint64_t updates : {0, 1, 2, 3, 64, 130})
    for (const uint64_t places : {1, 2, 17, 1000})
      for (const ScatterKind kind : both)
        if (is_in_share(number++, 5))
          check(on(), make_case(kind, Type::f32, Type::i64, {places}, 1, false, updates, 4));
}

TEST_P(Scatters, SlicesAndAxes) {
  uint64_t number = 0;
  for (const ScatterKind kind : both)
    for (const bool last : {false, true}) {
      const Case cases[] = {make_case(kind, Type::f32, Type::i64, {5, 4, 3}, 1, last, 30, 5),
                            make_case(kind, Type::f32, Type::i32, {5, 4, 3}, 2, last, 30, 6),
                            make_case(kind, Type::f64, Type::i32, {400, 7}, 1, last, 9, 7),
                            make_case(kind, Type::i8, Type::i32, {400, 7}, 1, last, 9, 8)};
      for (const Case& one : cases)
        if (is_in_share(number++, 3)) check(on(), one);
    }
  check(on(), make_case(ScatterKind::add, Type::f32, Type::i32, {4, 3}, 0, false, 3, 8));
}

// A destination of zeros: a method that writes all of it does not look at what lies there.
TEST_P(Scatters, FromZero) {
  for (const Type type : {Type::f16, Type::f32}) {
    Case c = make_case(ScatterKind::add, type, Type::i32, {3001, 2}, 1, true, 4, 16);
    c.x = pack(type, std::vector<double>(c.elements()));
    for (const auto& [target, method] : methods(on(), ScatterKind::add, type)) {
      c.plan.from_zero = false;
      const auto want = run(on(), c, target, method);
      c.plan.from_zero = true;
      Case dirty = c;
      if (scatter(c.plan, target, method).writes_all)
        dirty.x = pack(type, std::vector<double>(c.elements(), NAN));
      EXPECT_EQ(run(on(), dirty, target, method), want) << static_cast<int>(method);
    }
  }
}

// More than one bucket, and more than one team that sorts.
TEST_P(Scatters, ManyPlaces) {
  for (const Type type : {Type::f32, Type::bf16})
    check(on(), make_case(ScatterKind::add, type, Type::i32, {5000, 2}, 1, false, 6000, 15));
}

TEST_P(Scatters, ComplexNumbers) {
  for (const ScatterKind kind : both)
    for (const Type type : {Type::f32, Type::f64})
      check(on(), make_case(kind, type, Type::i64, {6, 5}, 1, true, 33, 9, true));
}

TEST_P(Scatters, AnEmptyDestinationOrSliceIsLeftAlone) {
  ScatterPlan plan;
  plan.updates = 3;
  plan.indexed = {{4, 0}};
  plan.slice = {{0, 1}};
  EXPECT_TRUE(scatter(plan, scatter_target(on())).passes.empty());
}

// Terms of all magnitudes, in f32 and f64: the fixed-point sum is at least as good as a float's.
TEST_P(Scatters, SumsOfManyMagnitudes) {
  for (const Type type : {Type::f32, Type::f64}) {
    Case c = make_case(ScatterKind::add, type, Type::i32, {40}, 1, false, 600, 10);
    std::mt19937_64 random(11);
    std::vector<double> updates(600), x(40);
    const int range = type == Type::f32 ? 40 : 300;
    for (double& v : updates) {
      v = std::ldexp(1.0 + static_cast<double>(random() >> 12) * 0x1p-52,
                     static_cast<int>(random() % range) - range / 2);
      if (random() & 1) v = -v;
      if (type == Type::f32) v = static_cast<float>(v);
    }
    c.updates = pack(type, updates);
    c.x = pack(type, x);
    std::vector<long double> want(40);
    std::vector<double> largest(40);
    std::vector<int> count(40);
    for_each_update(c, [&](uint64_t to, uint64_t from) {
      want[to] += static_cast<long double>(updates[from]);
      largest[to] = std::max(largest[to], std::fabs(updates[from]));
      ++count[to];
    });
    for (const auto& [target, method] : methods(on(), ScatterKind::add, c.plan.type)) {
      if (!in_fixed_point(method)) continue;
      const auto got = unpack(type, run(on(), c, target, method));
      const double unit = type == Type::f32 ? 0x1p-24 : 0x1p-52;
      for (size_t i = 0; i < got.size(); ++i) {
        // Half a unit of the result, and what the terms lost below the largest one.
        const double lost = largest[i] * count[i] * (type == Type::f32 ? 0x1p-50 : 0x1p-62);
        EXPECT_NEAR(got[i], static_cast<double>(want[i]), std::fabs(got[i]) * unit + lost) << i;
      }
    }
  }
}

TEST_P(Scatters, ExtremesOfTheRange) {
  const double most = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::min();
  // place 0: overflows; 1: cancels to nothing; 2: the largest stays; 3: the least normal number
  const std::vector<double> updates{most, most, most, -most, most, 0, least, -0.0};
  Case c = make_case(ScatterKind::add, Type::f32, Type::i32, {4}, 1, false, 8, 12);
  c.indices = pack(Type::i32, {0, 0, 1, 1, 2, 2, 3, 3});
  c.updates = pack(Type::f32, updates);
  c.x = pack(Type::f32, {0, 0, 0, 0});
  const std::vector<double> want{INFINITY, 0, most, least};
  for (const auto& [target, method] : methods(on(), ScatterKind::add, c.plan.type))
    EXPECT_EQ(unpack(Type::f32, run(on(), c, target, method)), want) << static_cast<int>(method);
}

TEST_P(Scatters, NotANumberAndInfinities) {
  for (const Type type : {Type::f16, Type::bf16, Type::f32, Type::f64}) {
    Case c = make_case(ScatterKind::add, type, Type::i32, {6}, 1, false, 9, 13);
    c.indices = pack(Type::i32, {0, 0, 1, 2, 2, 3, 3, 4, 5});
    c.updates = pack(type, {1, NAN, INFINITY, -INFINITY, 5, INFINITY, -INFINITY, 2, 3});
    c.x = pack(type, {1, 1, 1, 1, -INFINITY, 1});
    for (const auto& [target, method] : methods(on(), ScatterKind::add, c.plan.type)) {
      const auto got = unpack(type, run(on(), c, target, method));
      EXPECT_TRUE(std::isnan(got[0]));
      EXPECT_EQ(got[1], INFINITY);
      EXPECT_EQ(got[2], -INFINITY);
      EXPECT_TRUE(std::isnan(got[3]));
      EXPECT_EQ(got[4], -INFINITY);
      EXPECT_EQ(got[5], 4);
    }
  }
}

TEST_P(Scatters, CarriesBetweenLimbs) {
  for (const Type type : {Type::u64, Type::i64}) {
    Case c = make_case(ScatterKind::add, type, Type::i32, {2}, 1, false, 5, 14);
    const std::vector<uint64_t> updates{0xffffffffu, 1, ~uint64_t{0}, 0xffffffffffffffffu, 7};
    c.indices = pack(Type::i32, {0, 0, 0, 1, 1});
    std::memcpy(c.updates.data(), updates.data(), 40);
    const std::vector<uint64_t> x{0xfffffffeu, 5};
    std::memcpy(c.x.data(), x.data(), 16);
    const std::vector<uint64_t> want{x[0] + 0x100000000u - 1, 11};
    for (const auto& [target, method] : methods(on(), ScatterKind::add, c.plan.type)) {
      std::vector<uint64_t> got(2);
      const auto bytes = run(on(), c, target, method);
      std::memcpy(got.data(), bytes.data(), 16);
      EXPECT_EQ(got, want) << static_cast<int>(method);
    }
  }
}

TEST_P(Scatters, BadPlansAreRefused) {
  ScatterPlan plan;
  plan.updates = 1;
  plan.indexed = {{4, 1}};
  plan.index_type = Type::f32;
  EXPECT_THROW(scatter(plan, scatter_target(on())), Error);
  plan.index_type = Type::i32;
  EXPECT_THROW(scatter(plan, scatter_target(on()), ScatterMethod::claim), Error);
}

}  // namespace
}  // namespace adit::test
