// QR by blocks, as passes of kernels on every GPU: q r is x and q's columns are orthonormal, for shapes
// around the ends of blocks and panels and for matrices that are hard.
#include <cmath>
#include <complex>
#include <functional>
#include <utility>

#include "devices.hpp"
#include "ops/qr_hands.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using namespace adit::ops;

class Reflections : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Reflections, testing::ValuesIn(device_ids()), test_name);

template <class T>
struct Parts {
  std::vector<T> q, r;
};

// As the compiler runs the passes: tensors of the operation first, then its scratch.
template <class T>
Parts<T> run_qr(Device& device, const FactorPlan& plan, uint32_t columns, const std::vector<T>& x,
                uint32_t block) {
  const Factor made = qr_by_hand(plan, columns, device.limits(), block);
  const uint64_t each = plan.batch * (plan.complex ? 2 : 1);
  Parts<T> parts{std::vector<T>(each * plan.m * columns), std::vector<T>(each * columns * plan.n)};
  std::vector<Buffer> tensors;
  for (const std::vector<T>* values : {&x, &std::as_const(parts.q), &std::as_const(parts.r)}) {
    const std::vector<T> start(values->size(), std::numeric_limits<T>::quiet_NaN());
    tensors.push_back(device.allocate(values->size() * sizeof(T)));
    device.write(tensors.back(), values == &x ? x.data() : start.data(), values->size() * sizeof(T));
  }
  for (const FactorScratch& scratch : made.scratch) {
    tensors.push_back(device.allocate((scratch.bytes + 3) / 4 * 4));
    device.fill(tensors.back(), 0x7fc00000);  // NaN: nobody may read what no pass wrote
  }
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const kernel::Program& program : made.programs) kernels.push_back(device.compile(program));
  for (const FactorPass& pass : made.passes) {
    std::vector<Argument> arguments;
    for (const uint8_t which : pass.buffers) arguments.emplace_back(tensors[which]);
    for (const uint32_t number : pass.numbers) arguments.emplace_back(number);
    device.run(*kernels[pass.program], pass.teams, arguments);
  }
  device.read(tensors[1], parts.q.data(), parts.q.size() * sizeof(T));
  device.read(tensors[2], parts.r.data(), parts.r.size() * sizeof(T));
  return parts;
}

struct Shape {
  uint32_t m, n;
  uint64_t batch = 1;
  bool complete = false;
  uint32_t block = 0;  // rows
};
using Fill = std::function<double(uint64_t matrix, uint32_t row, uint32_t column)>;

// What a device that flushes may make of a column so long: the numbers given, those between two panels and
// those of r are each within the smallest normal number of what they are.
template <class T>
double flushed(const Device& device, const Shape& shape) {
  if (sizeof(T) == 8 || device.limits().keeps_denormals) return 0;
  return 2 * std::sqrt(shape.m) * double{std::numeric_limits<T>::min()};
}

// Errors in units of the type: of q^T q, and of q r against each column of x by its length.
template <class T>
void check(Device& device, const Shape& shape, const Fill& fill, const char* what) {
  const uint32_t m = shape.m, n = shape.n, columns = shape.complete ? m : std::min(m, n);
  FactorPlan plan;
  plan.type = type_of<T>();
  plan.m = m;
  plan.n = n;
  plan.batch = shape.batch;
  plan.by_hand = true;
  if (!has_qr_by_hand(plan, device.limits())) GTEST_SKIP() << "no kernels by hand here";
  std::vector<T> x(shape.batch * m * n);
  for (uint64_t b = 0; b < shape.batch; ++b)
    for (uint32_t i = 0; i < m; ++i)
      for (uint32_t j = 0; j < n; ++j) x[(b * m + i) * n + j] = static_cast<T>(fill(b, i, j));
  const Parts<T> got = run_qr(device, plan, columns, x, shape.block);
  double worst_unit = 0, worst_product = 0;
  for (uint64_t b = 0; b < shape.batch; ++b) {
    const T *q = got.q.data() + b * m * columns, *r = got.r.data() + b * columns * n;
    for (uint32_t i = 0; i < columns; ++i)
      for (uint32_t j = 0; j <= i; ++j) {
        double sum = i == j ? -1 : 0;
        for (uint32_t p = 0; p < m; ++p) sum += double{q[p * columns + i]} * q[p * columns + j];
        worst_unit = std::max(worst_unit, std::isnan(sum) ? INFINITY : std::fabs(sum));
      }
    for (uint32_t j = 0; j < n; ++j) {
      long double length = 0, error = 0;
      for (uint32_t i = 0; i < m; ++i) {
        long double sum = -static_cast<long double>(x[(b * m + i) * n + j]);
        length += sum * sum;
        for (uint32_t p = 0; p < columns; ++p)
          sum += static_cast<long double>(q[i * columns + p]) * static_cast<long double>(r[p * n + j]);
        error += sum * sum;
      }
      const long double lost = std::max(std::sqrt(error) - flushed<T>(device, shape), 0.0L);
      const auto ratio = static_cast<double>(lost == 0 ? 0 : lost / std::sqrt(length));
      worst_product = std::max(worst_product, std::isnan(ratio) ? INFINITY : ratio);
      for (uint32_t i = j + 1; i < columns; ++i) ASSERT_EQ(r[i * n + j], 0) << what << " " << m << " x " << n;
    }
  }
  const double unit = std::numeric_limits<T>::epsilon();
  const double most = 8 + 2 * std::sqrt(std::min(m, n));
  EXPECT_LE(worst_unit, most * unit) << what << " " << m << " x " << n << ": " << worst_unit / unit;
  EXPECT_LE(worst_product, most * unit) << what << " " << m << " x " << n << ": " << worst_product / unit;
  if (std::getenv("ADIT_TEST_SHOW"))
    printf("%s %u x %u %s: %.2f %.2f\n", what, m, n, shape.complete ? "complete" : "", worst_unit / unit,
           worst_product / unit);
}

double noise(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = (a * 1000003 + b) * 1000003 + c + 1;
  for (int i = 0; i < 3; ++i) x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

std::vector<Shape> tried(const Device& on, const std::vector<Shape>& shapes) {
  std::vector<Shape> list;
  const uint64_t of = on.info().kind == DeviceKind::software ? 6 : 1;  // some take ten seconds to compile
  for (size_t i = 0; i < shapes.size(); ++i)
    if (is_in_share(i, of)) list.push_back(shapes[i]);
  return list;
}

TEST_P(Reflections, OfEveryShape) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  for (const Shape& shape : tried(on(), {{1, 1},
                                         {2, 1},
                                         {1, 3},
                                         {5, 5, 3},
                                         {9, 4, 2, true},
                                         {16, 16, 7},
                                         {31, 31},
                                         {32, 32, 3},
                                         {33, 33},
                                         {33, 32, 2, true},
                                         {65, 40, 2},
                                         {20, 70},
                                         {64, 64},
                                         {63, 65},
                                         {100, 100},
                                         {70, 33, 1, true},
                                         {129, 96}})) {
    check<float>(on(), shape, noise, "noise");
    if (shape.m * shape.n < 3000) check<double>(on(), shape, noise, "noise f64");
  }
}

// Panels of more than one block, and of blocks of blocks.
TEST_P(Reflections, OfTallMatrices) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  for (const Shape& shape : tried(on(), {{65, 5, 2, false, 64},
                                         {200, 33, 2, false, 64},
                                         {197, 70, 1, false, 64},
                                         {150, 40, 1, true, 64},
                                         {70, 90, 2, false, 64},
                                         {1000, 32, 1, false, 64}}))
    check<float>(on(), shape, noise, "tall");
  if (is_tried(on(), "tall f64")) check<double>(on(), {140, 20, 1, false, 64}, noise, "tall f64");
}

// q^H q, and q r against each column of x by its length; the diagonal of r is real.
template <class T>
void check_complex(Device& device, const Shape& shape, const Fill& fill, const char* what) {
  const uint32_t m = shape.m, n = shape.n, columns = shape.complete ? m : std::min(m, n);
  FactorPlan plan;
  plan.type = type_of<T>();
  plan.complex = true;
  plan.m = m;
  plan.n = n;
  plan.batch = shape.batch;
  plan.by_hand = true;
  if (!has_qr_by_hand(plan, device.limits())) GTEST_SKIP() << "no kernels by hand here";
  std::vector<T> x;
  for (uint64_t b = 0; b < shape.batch; ++b)
    for (uint32_t i = 0; i < m; ++i)
      for (uint32_t j = 0; j < n; ++j)
        x.insert(x.end(), {static_cast<T>(fill(b, i, j)), static_cast<T>(fill(b + 31, i, j))});
  const Parts<T> got = run_qr(device, plan, columns, x, shape.block);
  using Complex = std::complex<double>;
  const auto at = [](const std::vector<T>& from, uint64_t i) {
    return Complex(from[2 * i], from[2 * i + 1]);
  };
  double worst_unit = 0, worst_product = 0;
  const auto worse = [](double a, double b) { return std::isnan(b) ? INFINITY : std::max(a, b); };
  for (uint64_t b = 0; b < shape.batch; ++b) {
    const uint64_t q = b * m * columns, r = b * columns * n;
    for (uint32_t i = 0; i < columns; ++i)
      for (uint32_t j = 0; j <= i; ++j) {
        Complex sum = i == j ? -1 : 0;
        for (uint32_t p = 0; p < m; ++p)
          sum += std::conj(at(got.q, q + p * columns + i)) * at(got.q, q + p * columns + j);
        worst_unit = worse(worst_unit, std::abs(sum));
      }
    for (uint32_t j = 0; j < n; ++j) {
      double length = 0, error = 0;
      for (uint32_t i = 0; i < m; ++i) {
        const Complex given = at(x, (b * m + i) * n + j);
        Complex sum = -given;
        length += std::norm(given);
        for (uint32_t p = 0; p < columns; ++p)
          sum += at(got.q, q + i * columns + p) * at(got.r, r + p * n + j);
        error += std::norm(sum);
      }
      worst_product = worse(worst_product, error == 0 ? 0 : std::sqrt(error / length));
      for (uint32_t i = j + 1; i < columns; ++i) ASSERT_EQ(at(got.r, r + i * n + j), Complex(0)) << what;
      if (j < columns) {
        ASSERT_EQ(at(got.r, r + j * n + j).imag(), 0) << what;
      }
    }
  }
  const double unit = std::numeric_limits<T>::epsilon(), most = 8 + 2 * std::sqrt(std::min(m, n));
  EXPECT_LE(worst_unit, most * unit) << what << " " << m << " x " << n << ": " << worst_unit / unit;
  EXPECT_LE(worst_product, most * unit) << what << " " << m << " x " << n << ": " << worst_product / unit;
}

TEST_P(Reflections, OfComplexMatrices) {
  if (!has_turn_on(device(GetParam()), 6)) GTEST_SKIP() << other_turn;
  for (const Shape& shape : tried(on(), {{1, 1},
                                         {1, 3},
                                         {5, 5, 3},
                                         {9, 4, 2, true},
                                         {33, 17},
                                         {65, 40, 2},
                                         {20, 70},
                                         {70, 33, 1, true}})) {
    check_complex<float>(on(), shape, noise, "noise");
    if (shape.m < 40) check_complex<double>(on(), shape, noise, "noise c128");
  }
  if (is_tried(on(), "tall", 12)) check_complex<float>(on(), {200, 33, 2, false, 64}, noise, "tall");
  if (is_tried(on(), "tall c128", 12))
    check_complex<double>(on(), {140, 20, 1, false, 64}, noise, "tall c128");
  const std::vector<std::pair<const char*, Fill>> fills{
      {"zeros", [](uint64_t, uint32_t, uint32_t) { return 0.0; }},
      {"rank 1", [](uint64_t a, uint32_t i, uint32_t) { return noise(a, i, 0); }},
      {"zero columns", [](uint64_t a, uint32_t i, uint32_t j) { return j % 3 == 1 ? 0.0 : noise(a, i, j); }},
      {"one part", [](uint64_t a, uint32_t i, uint32_t j) { return a < 31 ? 0.0 : noise(a, i, j); }},
      {"upper", [](uint64_t a, uint32_t i, uint32_t j) { return i <= j ? noise(a, i, j) : 0.0; }},
      {"huge", [](uint64_t a, uint32_t i, uint32_t j) { return noise(a, i, j) * 3e37; }},
      {"tiny", [](uint64_t a, uint32_t i, uint32_t j) { return noise(a, i, j) * 1e-33; }}};
  for (const auto& [name, fill] : fills)
    for (const Shape& shape : {Shape{45, 37}, Shape{31, 24}})
      if (is_tried(on(), name + std::to_string(shape.m), 16)) check_complex<float>(on(), shape, fill, name);
}

// What is not finite is seen in the result, and nowhere beyond its own matrix.
TEST_P(Reflections, OfWhatIsNotFinite) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  FactorPlan plan;
  plan.m = 45;
  plan.batch = 3;
  plan.by_hand = true;
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const uint32_t column : {0U, 20U, 36U}) {
      plan.n = column < 30 ? 24 : 37;
      if (!has_qr_by_hand(plan, on().limits())) GTEST_SKIP() << "no kernels by hand here";
      const uint64_t size = uint64_t{plan.m} * plan.n;
      std::vector<float> x(plan.batch * size);
      for (uint64_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(noise(6, i, 0));
      x[size + 40 * plan.n + column] = bad;
      const Parts<float> got = run_qr(on(), plan, plan.n, x, 0);
      for (uint64_t matrix = 0; matrix < plan.batch; ++matrix) {
        bool is_finite = true;
        for (uint64_t i = matrix * size; i < (matrix + 1) * size; ++i) is_finite &= std::isfinite(got.q[i]);
        EXPECT_EQ(is_finite, matrix != 1) << bad << " in column " << column << ", q of matrix " << matrix;
        EXPECT_EQ(std::isfinite(got.r[matrix * plan.n * plan.n + column * plan.n + column]), matrix != 1);
      }
    }
}

TEST_P(Reflections, OfHardMatrices) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const std::vector<std::pair<const char*, Fill>> fills{
      {"zeros", [](uint64_t, uint32_t, uint32_t) { return 0.0; }},
      {"identity", [](uint64_t, uint32_t i, uint32_t j) { return i == j ? 1.0 : 0.0; }},
      {"ones", [](uint64_t, uint32_t, uint32_t) { return 1.0; }},
      {"rank 3",
       [](uint64_t, uint32_t i, uint32_t j) {
         double sum = 0;
         for (uint64_t p = 0; p < 3; ++p) sum += noise(7, i, p) * noise(8, p, j);
         return sum;
       }},
      {"zero columns", [](uint64_t, uint32_t i, uint32_t j) { return j % 3 == 1 ? 0.0 : noise(1, i, j); }},
      {"graded columns",
       [](uint64_t, uint32_t i, uint32_t j) { return noise(2, i, j) * std::pow(10.0, -30.0 * j / 37); }},
      {"graded rows",
       [](uint64_t, uint32_t i, uint32_t j) { return noise(2, i, j) * std::pow(10.0, -30.0 * i / 45); }},
      {"huge", [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 3e37; }},
      {"tiny", [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e-35; }},
      {"huge beside tiny",
       [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * (j % 2 ? 3e37 : 1e-35); }},
      {"nearly the same", [](uint64_t, uint32_t i, uint32_t j) { return 1 + 1e-6 * noise(4, i, j); }},
      {"upper", [](uint64_t, uint32_t i, uint32_t j) { return i <= j ? noise(5, i, j) : 0.0; }}};
  const auto is_chosen = [&](const std::string& name) { return is_tried(on(), name, 12); };
  if (is_chosen("of condition 1e13"))
    check<double>(
        on(), {45, 37}, [](uint64_t, uint32_t i, uint32_t j) { return 1 + 1e-12 * noise(4, i, j); },
        "of condition 1e13");
  for (const auto& [name, fill] : fills) {
    for (const Shape& shape : {Shape{45, 37}, Shape{31, 24}}) {  // by panels, and in one kernel
      if (is_chosen(name + std::to_string(shape.m))) check<float>(on(), shape, fill, name);
      if (is_chosen(name + std::to_string(shape.m) + " f64")) check<double>(on(), shape, fill, name);
    }
  }
  // Products with reflections are all below the smallest normal number.
  check<float>(
      on(), {150, 40}, [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e-37; }, "tiniest");
  if (is_chosen("huge f64"))
    check<double>(
        on(), {40, 36}, [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e305; }, "huge");
  if (is_chosen("tiny f64"))
    check<double>(
        on(), {40, 36}, [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e-300; }, "tiny");
}

}  // namespace
}  // namespace adit::test
