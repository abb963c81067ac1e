// eigh and svd by rotations of blocks and by reflections, as passes of kernels on every GPU: for sizes around
// the ends of blocks and matrices that are hard, values as LAPACK finds them in f64, vectors that are
// orthonormal, and a product that is the matrix.
#include <cmath>
#include <functional>
#include <string>

#include "devices.hpp"
#include "ops/eigh_tridiagonal.hpp"
#include "ops/jacobi_by_blocks.hpp"
#include "ops/lapack.hpp"
#include "ops/svd_gram.hpp"
#include "ops/tridiagonal.hpp"

namespace adit::test {
namespace {

using namespace adit::ops;

class Rotations : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Rotations, testing::ValuesIn(device_ids()), test_name);

// The first word of the flag, as passes are repeated by it.
struct Flag {
  float worst = 0;
  uint32_t extra = 0, phase = 0, times = 0;
};

// As the compiler runs the passes: tensors of the operation first, then its scratch. The host looks after
// each time here, and two more times do nothing.
class Runner {
 public:
  Runner(Device& device, const Factor& made, std::vector<uint64_t> bytes) : device_(device), made_(made) {
    for (const FactorScratch& scratch : made.scratch) bytes.push_back((scratch.bytes + 3) / 4 * 4);
    for (const uint64_t each : bytes) {
      tensors.push_back(device.allocate(each));
      device.fill(tensors.back(), 0x7fc00000);  // NaN: nobody may read what no pass wrote
    }
    for (const kernel::Program& program : made.programs) kernels_.push_back(device.compile(program));
  }

  // How often passes were repeated.
  uint32_t run() {
    if (made_.repeat.count == 0) {
      perform(0, static_cast<uint32_t>(made_.passes.size()));
      return 0;
    }
    const uint32_t first = made_.repeat.first, end = first + made_.repeat.count;
    const auto all = static_cast<uint32_t>(made_.passes.size()), extra = all - made_.extra.count;
    perform(0, first);
    Flag flag;
    for (uint32_t i = 0; i < made_.repeat.most; ++i) {
      perform(first, end);
      device_.read(tensors[made_.repeat.flag], &flag, sizeof flag);
      if (!(flag.worst > made_.repeat.enough)) break;
    }
    Flag later;
    for (int i = 0; i < 2; ++i) perform(first, end);
    device_.read(tensors[made_.repeat.flag], &later, sizeof later);
    EXPECT_EQ(later.times, flag.times);
    EXPECT_EQ(later.worst, flag.worst);
    EXPECT_EQ(later.extra, flag.extra);
    perform(end, extra);
    if (flag.extra) perform(extra, all);
    return flag.times;
  }
  template <class T>
  std::vector<T> read(size_t which, uint64_t count) {
    std::vector<T> values(count);
    device_.read(tensors[which], values.data(), count * sizeof(T));
    return values;
  }

  std::vector<Buffer> tensors;

 private:
  void perform(uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; ++i) {
      const FactorPass& pass = made_.passes[i];
      std::vector<Argument> arguments;
      for (const uint8_t which : pass.buffers) arguments.emplace_back(tensors[which]);
      for (const uint32_t number : pass.numbers) arguments.emplace_back(number);
      device_.run(*kernels_[pass.program], pass.teams, arguments);
    }
  }

  Device& device_;
  const Factor& made_;
  std::vector<std::shared_ptr<const Kernel>> kernels_;
};

struct Shape {
  uint32_t m, n;
  uint64_t batch = 1;
  bool full = false;
  uint32_t least() const { return std::min(m, n); }
};
using Fill = std::function<double(uint64_t matrix, uint32_t row, uint32_t column)>;

template <class T>
FactorPlan plan_of(const Shape& shape) {
  FactorPlan plan;
  plan.type = type_of<T>();
  plan.m = shape.m;
  plan.n = shape.n;
  plan.batch = shape.batch;
  plan.by_hand = true;
  return plan;
}

template <class T>
std::vector<T> filled(const Shape& shape, const Fill& fill, bool symmetric) {
  std::vector<T> x;
  for (uint64_t b = 0; b < shape.batch; ++b)
    for (uint32_t i = 0; i < shape.m; ++i)
      for (uint32_t j = 0; j < shape.n; ++j)
        x.push_back(static_cast<T>(symmetric ? fill(b, std::max(i, j), std::min(i, j)) : fill(b, i, j)));
  return x;
}

double worse(double a, double b) { return b <= a ? a : std::isnan(b) ? INFINITY : b; }

// Largest element of q^T q - 1; q has `columns` columns of `rows` numbers, each step apart.
template <class T>
double orthonormal_error(const T* q, uint32_t rows, uint32_t columns, uint32_t row_step, uint32_t step) {
  double worst = 0;
  for (uint32_t i = 0; i < columns; ++i)
    for (uint32_t j = 0; j <= i; ++j) {
      double sum = i == j ? -1 : 0;
      for (uint32_t p = 0; p < rows; ++p)
        sum += double{q[p * row_step + i * step]} * double{q[p * row_step + j * step]};
      worst = worse(worst, std::fabs(sum));
    }
  return worst;
}

struct Errors {
  double product = 0, left = 0, right = 0, values = 0;
};

template <class T>
void expect_small(Errors found, const Shape& shape, uint32_t times, const std::string& what,
                  double most = 0) {
  const double unit = std::numeric_limits<T>::epsilon();
  if (most == 0) most = 16 + 4 * std::sqrt(std::max(shape.m, shape.n));
  const std::string name = what + " " + std::to_string(shape.m) + " x " + std::to_string(shape.n);
  EXPECT_LE(found.product, most * unit) << name << ": " << found.product / unit;
  EXPECT_LE(found.left, most * unit) << name << ": " << found.left / unit;
  EXPECT_LE(found.right, most * unit) << name << ": " << found.right / unit;
  EXPECT_LE(found.values, most * unit) << name << ": " << found.values / unit;
  if (std::getenv("ADIT_TEST_SHOW"))
    printf("%s: %u times, product %.2f, vectors %.2f %.2f, values %.2f\n", name.c_str(), times,
           found.product / unit, found.left / unit, found.right / unit, found.values / unit);
}

// u diag(s) v against x, by its norm, and s against LAPACK's by the largest.
template <class T>
void compare(Errors& errors, const Shape& shape, const T* x, const T* u, uint32_t u_columns, const T* s,
             const T* v, uint32_t v_row, uint32_t v_column, const std::vector<double>& expected) {
  const uint32_t least = shape.least();
  long double norm = 0, error = 0;
  double largest = 0;
  for (uint32_t i = 0; i < shape.m; ++i)
    for (uint32_t j = 0; j < shape.n; ++j) {
      long double sum = -static_cast<long double>(x[i * shape.n + j]);
      norm += sum * sum;
      for (uint32_t p = 0; p < least; ++p)
        sum += static_cast<long double>(u[i * u_columns + p]) * s[p] * v[p * v_row + j * v_column];
      error += sum * sum;
    }
  errors.product = worse(errors.product, static_cast<double>(std::sqrt(error / (norm == 0 ? 1 : norm))));
  for (const double value : expected) largest = std::max(largest, std::fabs(value));
  for (uint32_t p = 0; p < least; ++p)
    errors.values =
        worse(errors.values, std::fabs(double{s[p]} - expected[p]) / (largest == 0 ? 1 : largest));
}

template <class T>
void check_eigh_by(Device& device, const Factor& made, const Shape& shape, const Fill& fill,
                   const std::string& what, double most = 0) {
  const uint32_t n = shape.n;
  const std::vector<T> x = filled<T>(shape, fill, true);
  Runner runner(device, made, {x.size() * sizeof(T), shape.batch * n * sizeof(T), x.size() * sizeof(T)});
  device.write(runner.tensors[0], x.data(), x.size() * sizeof(T));
  const uint32_t times = runner.run();
  const std::vector<T> values = runner.read<T>(1, shape.batch * n), vectors = runner.read<T>(2, x.size());
  Errors errors;
  for (uint64_t b = 0; b < shape.batch; ++b) {
    const std::vector<double> wide(x.begin() + b * n * n, x.begin() + (b + 1) * n * n);
    std::vector<double> expected(n);
    lapack::eigh(DType::f64, 1, n, wide.data(), expected.data(), nullptr);
    const T *q = vectors.data() + b * n * n, *s = values.data() + b * n;
    compare(errors, shape, x.data() + b * n * n, q, n, s, q, 1, n, expected);
    errors.left = worse(errors.left, orthonormal_error(q, n, n, n, 1));
  }
  expect_small<T>(errors, shape, times, "eigh of " + what, most);
}

// By rotations, and by reflections.
template <class T>
void check_eigh(Device& device, const Shape& shape, const Fill& fill, const std::string& what) {
  FactorPlan plan = plan_of<T>(shape);
  if (!has_jacobi_by_blocks(plan, device.limits())) GTEST_SKIP() << "no kernels by hand here";
  check_eigh_by<T>(device, eigh_by_blocks(plan, device.limits()), shape, fill, what);
  plan.may_wait = device.info().kind == DeviceKind::discrete;
  if (!has_eigh_tridiagonal(plan, device.limits())) return;
  check_eigh_by<T>(device, eigh_tridiagonal(plan, device.limits()), shape, fill, what + " by reflections");
}

template <class T>
void check_chosen(Device& device, const Shape& shape, const Fill& fill, const std::string& what,
                  double most = 20) {
  FactorPlan plan = plan_of<T>(shape);
  if (!has_jacobi_by_blocks(plan, device.limits())) GTEST_SKIP() << "no kernels by hand here";
  plan.may_wait = device.info().kind == DeviceKind::discrete;
  check_eigh_by<T>(device, eigh_by_rotations(plan, device.limits()), shape, fill, what, most);
}

template <class T>
void check_svd_by(Device& device, const Factor& made, const Shape& shape, const Fill& fill,
                  const std::string& what, double most = 0) {
  const uint32_t m = shape.m, n = shape.n, least = shape.least();
  const uint32_t u_columns = shape.full ? m : least, v_rows = shape.full ? n : least;
  const std::vector<T> x = filled<T>(shape, fill, false);
  const uint64_t u_size = shape.batch * m * u_columns, v_size = shape.batch * v_rows * n;
  Runner runner(
      device, made,
      {x.size() * sizeof(T), u_size * sizeof(T), shape.batch * least * sizeof(T), v_size * sizeof(T)});
  device.write(runner.tensors[0], x.data(), x.size() * sizeof(T));
  const uint32_t times = runner.run();
  const std::vector<T> u = runner.read<T>(1, u_size), values = runner.read<T>(2, shape.batch * least),
                       v = runner.read<T>(3, v_size);
  Errors errors;
  for (uint64_t b = 0; b < shape.batch; ++b) {
    const std::vector<double> wide(x.begin() + b * m * n, x.begin() + (b + 1) * m * n);
    std::vector<double> expected(least);
    lapack::svd(DType::f64, 1, m, n, false, wide.data(), nullptr, expected.data(), nullptr);
    const T *left = u.data() + b * m * u_columns, *right = v.data() + b * v_rows * n;
    compare(errors, shape, x.data() + b * m * n, left, u_columns, values.data() + b * least, right, n, 1,
            expected);
    errors.left = worse(errors.left, orthonormal_error(left, m, u_columns, u_columns, 1));
    errors.right = worse(errors.right, orthonormal_error(right, n, v_rows, 1, n));
  }
  expect_small<T>(errors, shape, times, "svd of " + what, most);
}

template <class T>
void check_values_alone(Device& device, const Factor& made, const Shape& shape, const Fill& fill,
                        const std::string& what) {
  const uint32_t m = shape.m, n = shape.n, least = shape.least();
  const std::vector<T> x = filled<T>(shape, fill, false);
  Runner runner(device, made, {x.size() * sizeof(T), 4, shape.batch * least * sizeof(T), 4});
  device.write(runner.tensors[0], x.data(), x.size() * sizeof(T));
  runner.run();
  const std::vector<T> values = runner.read<T>(2, least);
  const std::vector<double> wide(x.begin(), x.begin() + m * n);
  std::vector<double> expected(least);
  lapack::svd(DType::f64, 1, m, n, false, wide.data(), nullptr, expected.data(), nullptr);
  for (uint32_t i = 0; i < least; ++i)
    EXPECT_NEAR(values[i], expected[i], 8 * std::numeric_limits<T>::epsilon() * expected[0])
        << what << " " << i;
}

// By rotations, and by eigenvectors of the product with itself.
template <class T>
void check_svd(Device& device, const Shape& shape, const Fill& fill, const std::string& what) {
  FactorPlan plan = plan_of<T>(shape);
  const SvdWanted wanted{true, shape.full};
  if (!has_jacobi_by_blocks(plan, device.limits())) GTEST_SKIP() << "no kernels by hand here";
  check_svd_by<T>(device, svd_by_blocks(plan, wanted, device.limits()), shape, fill, what);
  plan.may_wait = device.info().kind == DeviceKind::discrete;
  if (!has_svd_gram(plan, device.limits())) return;
  check_svd_by<T>(device, svd_gram(plan, wanted, device.limits()), shape, fill, what + " by products", 20);
  check_values_alone<T>(device, svd_gram(plan, {false, false}, device.limits()), shape, fill, what);
}

double noise(uint64_t a, uint64_t b, uint64_t c) {
  uint64_t x = (a * 1000003 + b) * 1000003 + c + 1;
  for (int i = 0; i < 3; ++i) x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1;
}

// Blocks have 8, 16 or 32 columns, and a matrix an even number of them. Most of the time goes to a software
// device's compiler, once for each number of blocks.
TEST_P(Rotations, OfEverySize) {
  for (const uint32_t n : {1U, 9U, 16U, 17U, 33U}) {
    if (is_tried(on(), n, 4)) check_eigh<float>(on(), {n, n, n < 20 ? 3U : 1U}, noise, "noise");
    if (n == 33 && is_tried(on(), "f64")) check_eigh<double>(on(), {n, n}, noise, "noise f64");
  }
  for (const Shape& shape : std::vector<Shape>{{1, 1}, {9, 4, 3}, {5, 16}, {17, 17}, {33, 31}, {70, 33}}) {
    if (is_tried(on(), shape.m * 100 + shape.n, 4)) check_svd<float>(on(), shape, noise, "noise");
    if (shape.m == 33 && is_tried(on(), "svd f64")) check_svd<double>(on(), shape, noise, "noise f64");
  }
  check_svd<float>(on(), {40, 20, 2, true}, noise, "noise, full");
}

double low_rank(uint64_t, uint32_t i, uint32_t j) {
  double sum = 0;
  for (uint64_t p = 0; p < 3; ++p) sum += noise(7, i, p) * noise(7, j, p);
  return sum;
}

TEST_P(Rotations, OfHardMatrices) {
  if (!has_turn_on(device(GetParam()), 6)) GTEST_SKIP() << other_turn;
  const std::vector<std::pair<const char*, Fill>> fills{
      {"zeros", [](uint64_t, uint32_t, uint32_t) { return 0.0; }},
      {"identity", [](uint64_t, uint32_t i, uint32_t j) { return i == j ? 1.0 : 0.0; }},
      {"diagonal", [](uint64_t, uint32_t i, uint32_t j) { return i == j ? noise(1, i, j) : 0.0; }},
      {"ones", [](uint64_t, uint32_t, uint32_t) { return 1.0; }},
      {"rank 3", low_rank},
      {"cluster", [](uint64_t, uint32_t i, uint32_t j) { return (i == j ? 1 : 0) + 1e-5 * noise(3, i, j); }},
      {"zero columns", [](uint64_t, uint32_t i, uint32_t j) { return j % 3 == 1 ? 0.0 : noise(1, i, j); }},
      {"graded", [](uint64_t, uint32_t i, uint32_t j) { return noise(2, i, j) * std::pow(0.6, i + j); }},
      {"huge", [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e36; }},
      {"tiny", [](uint64_t, uint32_t i, uint32_t j) { return noise(3, i, j) * 1e-33; }},
      {"two blocks",
       [](uint64_t, uint32_t i, uint32_t j) { return i / 17 == j / 17 ? noise(5, i, j) : 0.0; }}};
  for (const auto& [name, fill] : fills) {
    if (!is_tried(on(), name)) continue;
    check_eigh<float>(on(), {34, 34}, fill, name);
    check_svd<float>(on(), {45, 37}, fill, name);
  }
  check_eigh<double>(on(), {34, 34}, fills.back().second, "two blocks f64");
  check_svd<double>(on(), {45, 37}, low_rank, "rank 3 f64");
}

// Singular values from 1 to a millionth: each has digits of its own where the product with itself is made
// with 64 bits, and the smallest has those of what was given, not of its rounding.
TEST_P(Rotations, OfIllConditionedMatrices) {
  const uint32_t m = 70, n = 33;  // as in OfEverySize, whose kernels are there already
  const auto direction = [](uint64_t which, uint32_t i, uint32_t size) {
    return noise(which, i, 1) / std::sqrt(size / 3.0);
  };
  // Two reflections around a diagonal, 1 - 2 p p^T / p^T p.
  std::vector<double> x(m * n);
  for (uint32_t i = 0; i < n; ++i) x[i * n + i] = std::pow(1e-6, i / (n - 1.0));
  const auto reflect = [&](bool rows) {
    const uint32_t size = rows ? m : n;
    const auto at = [&](uint32_t along, uint32_t other) -> double& {
      return x[rows ? along * n + other : other * n + along];
    };
    double square = 0;
    for (uint32_t i = 0; i < size; ++i) square += std::pow(direction(rows, i, size), 2);
    for (uint32_t other = 0; other < (rows ? n : m); ++other) {
      double sum = 0;
      for (uint32_t i = 0; i < size; ++i) sum += direction(rows, i, size) * at(i, other);
      for (uint32_t i = 0; i < size; ++i) at(i, other) -= 2 * sum / square * direction(rows, i, size);
    }
  };
  reflect(true), reflect(false);
  const Fill fill = [&](uint64_t, uint32_t i, uint32_t j) { return x[i * n + j]; };
  const FactorPlan plan = plan_of<float>({m, n});
  if (!has_svd_gram(plan, on().limits())) GTEST_SKIP() << "no kernels by hand here";
  const Factor made = svd_gram(plan, {true, false}, on().limits());
  check_svd_by<float>(on(), made, {m, n}, fill, "condition 1e6", 20);
  const std::vector<float> given = filled<float>({m, n}, fill, false);
  Runner runner(on(), made, {m * n * 4, m * n * 4, n * 4, n * n * 4});
  on().write(runner.tensors[0], given.data(), given.size() * 4);
  runner.run();
  const std::vector<float> values = runner.read<float>(2, n);
  const std::vector<double> wide(given.begin(), given.end());
  std::vector<double> expected(n);
  lapack::svd(DType::f64, 1, m, n, false, wide.data(), nullptr, expected.data(), nullptr);
  for (uint32_t i = 0; i < n; ++i) {
    const double known = 0x1p-23 + 16 * 0x1p-53 * std::pow(expected[0] / expected[i], 2);
    EXPECT_NEAR(values[i] / expected[i], 1, 2 * known) << i << ": " << expected[i];
  }
}

// Large ones, where the device is fast enough: most steps are made with 16 bits.
TEST_P(Rotations, OfLargeMatrices) {
  if (on().info().kind == DeviceKind::software || on().info().kind == DeviceKind::cpu)
    GTEST_SKIP() << "takes too long here";
  const auto gram = [](uint64_t, uint32_t i, uint32_t j) { return (i == j ? 8.0 : 0.0) + noise(9, i, j); };
  const auto near = [](uint64_t, uint32_t i, uint32_t j) {
    return std::exp(-0.02 * std::fabs(static_cast<double>(i) - j));
  };
  const auto clusters = [](uint64_t, uint32_t i, uint32_t j) {
    return (i == j ? 1 + i % 3 : 0) + 1e-6 * noise(3, i, j);
  };
  for (const uint32_t n : {100U, 129U, 256U, 500U}) {
    check_eigh<float>(on(), {n, n, n < 200 ? 3U : 1U}, noise, "noise");
    check_eigh<float>(on(), {n, n}, gram, "shifted");
    if (n == 500) continue;
    check_eigh<float>(on(), {n, n}, low_rank, "rank 3");
    if (n == 100) check_eigh<float>(on(), {n, n}, near, "falling");
    check_eigh<float>(on(), {n, n}, clusters, "clusters");
  }
}

// What eigh takes on this device: errors that do not grow with the spectrum. Sizes of one team and of many,
// with and without numbers that fill up.
TEST_P(Rotations, AsChosen) {
  const auto near = [](uint64_t, uint32_t i, uint32_t j) {
    return std::exp(-0.02 * std::fabs(static_cast<double>(i) - j));
  };
  const auto two = [](uint64_t, uint32_t i, uint32_t j) {
    return (i == j ? 1.0 : 0.0) - 2.0 / 129 * ((i + j) % 2 ? -1 : 1);
  };
  const bool is_slow = on().info().kind == DeviceKind::software || on().info().kind == DeviceKind::cpu;
  for (const uint32_t n :
       is_slow ? std::vector<uint32_t>{40} : std::vector<uint32_t>{40, 65, 129, 200, 256, 311, 509, 511}) {
    check_chosen<float>(on(), {n, n}, near, "falling, as chosen");
    // A vector of numbers of one size: what sums of equal terms lose does not average out, but grows with n.
    check_chosen<float>(on(), {n, n}, two, "two values, as chosen", 20 + n / 8.0);
    if (is_slow) continue;
    check_chosen<double>(on(), {n, n, 2}, near, "falling f64, as chosen");
    check_chosen<double>(on(), {n, n}, low_rank, "rank 3 f64, as chosen");
  }
}

// Where nobody tells how many teams run at the same time, one does not wait for another.
TEST(TeamsThatWait, AreNoMoreThanSurelyRun) {
  Limits limits;
  limits.lanes_by_hand = limits.fixed_subgroups = limits.subgroup_arithmetic = limits.subgroup_shuffle = true;
  limits.float64 = limits.int64 = limits.int64_atomics = true;
  limits.subgroup_size = 32, limits.max_lanes = 1024, limits.shared_bytes = 49152,
  limits.multiprocessors = 64;
  FactorPlan plan;
  plan.by_hand = plan.may_wait = true;
  for (const uint32_t n : {50U, 100U, 300U, 700U, 2000U})
    for (const uint32_t sure : {1U, 7U, 24U, 132U}) {
      plan.m = plan.n = n, limits.sure_teams = sure;
      EXPECT_LE(tridiagonal::teams_for(plan, limits).teams, sure) << n;
    }
  EXPECT_GT(tridiagonal::teams_for(plan, limits).teams, 1U);
  // Of LU's panels those that share a matrix, and no team waits for another matrix's.
  const auto most_of_panels = [&](uint64_t batch) {
    plan.batch = batch;
    const Factor made = lu_by_rows(plan, limits);
    uint64_t most = 0;
    for (const FactorPass& pass : made.passes)
      if (made.programs[pass.program].name == "lu_panel") most = std::max(most, pass.teams);
    return most;
  };
  for (const Type type : {Type::f64, Type::f32})
    for (const uint32_t n : {100U, 600U, 1100U, 1531U, 3000U})
      for (const uint32_t sure : {1U, 3U, 132U}) {
        plan.type = type, plan.m = plan.n = n, limits.sure_teams = sure;
        EXPECT_LE(most_of_panels(1), sure) << n;
        EXPECT_LE(most_of_panels(50), std::max(sure, 50U)) << n;
      }
  EXPECT_GT(most_of_panels(1), 1U);
}

// A number that is none makes all results of its matrix such, and of no other.
TEST_P(Rotations, OfNan) {
  const Shape shape{40, 40, 3};
  FactorPlan plan = plan_of<float>(shape);
  if (!has_jacobi_by_blocks(plan, on().limits())) GTEST_SKIP() << "no kernels by hand here";
  plan.may_wait = on().info().kind == DeviceKind::discrete;
  std::vector<float> x = filled<float>(shape, noise, true);
  x[1600 + 7 * 40 + 3] = NAN;
  std::vector<Factor> all{eigh_by_blocks(plan, on().limits())};
  if (has_eigh_tridiagonal(plan, on().limits())) all.push_back(eigh_tridiagonal(plan, on().limits()));
  for (const Factor& made : all) {
    Runner runner(on(), made, {19200, 480, 19200});
    on().write(runner.tensors[0], x.data(), 19200);
    runner.run();
    const std::vector<float> values = runner.read<float>(1, 120), vectors = runner.read<float>(2, 4800);
    for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(std::isnan(values[i]), i / 40 == 1) << i;
    for (size_t i = 0; i < vectors.size(); ++i) EXPECT_EQ(std::isnan(vectors[i]), i / 1600 == 1) << i;
  }
}

}  // namespace
}  // namespace adit::test
