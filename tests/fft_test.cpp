// Long transforms: the error of the whole against sums in long double, on every device.
#include "ops/fft.hpp"

#include <cmath>
#include <complex>
#include <numbers>
#include <random>

#include <adit/fft.hpp>
#include <adit/ops.hpp>

#include "devices.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using Long = std::complex<long double>;
using Numbers = std::vector<Long>;

Numbers turns_of(size_t n) {
  Numbers turns(n);
  for (size_t k = 0; k < n; ++k) {
    const long double angle =
        -2 * std::numbers::pi_v<long double> * static_cast<long double>(k) / static_cast<long double>(n);
    turns[k] = {std::cos(angle), std::sin(angle)};
  }
  return turns;
}

// The textbook's recursion over prime factors. `turns` has a whole number of turns for each of x.
Numbers transform(const Numbers& x, const Numbers& turns) {
  const size_t n = x.size();
  if (n == 1) return x;
  size_t p = 2;
  while (n % p != 0) ++p;
  const size_t m = n / p, step = turns.size() / n;
  std::vector<Numbers> parts(p);
  for (size_t r = 0; r < p; ++r) {
    for (size_t j = 0; j < m; ++j) parts[r].push_back(x[j * p + r]);
    parts[r] = transform(parts[r], turns);
  }
  Numbers result(n);
  for (size_t k = 0; k < n; ++k)
    for (size_t r = 0; r < p; ++r) result[k] += turns[r * k % n * step] * parts[r][k % m];
  return result;
}
Numbers transform(const Numbers& x) { return transform(x, turns_of(x.size())); }

template <class T>
std::vector<std::complex<T>> random_numbers(size_t n) {
  std::mt19937_64 generator(n);
  std::normal_distribution<T> normal;
  std::vector<std::complex<T>> x(n);
  for (auto& z : x) z = {normal(generator), normal(generator)};
  return x;
}

// The root of the sum of squares of what is wrong, over that of what is right.
template <class T>
double error_of(const std::vector<std::complex<T>>& got, const Numbers& wanted) {
  long double wrong = 0, right = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    wrong += std::norm(Long(got[i]) - wanted[i]);
    right += std::norm(wanted[i]);
  }
  return static_cast<double>(std::sqrt(wrong / right));
}

template <class T>
void check(int64_t n, double bound, const std::shared_ptr<Device>& on) {
  const auto x = random_numbers<T>(static_cast<size_t>(n));
  const Tensor there = fft(tensor(x, {n}, on));
  const double error =
      error_of(there.template to_vector<std::complex<T>>(), transform(Numbers(x.begin(), x.end())));
  EXPECT_LT(error, bound) << n;
  EXPECT_GT(error, 0) << n;
  const Tensor back = ifft(there);
  EXPECT_LT(error_of(back.template to_vector<std::complex<T>>(), Numbers(x.begin(), x.end())), 2 * bound)
      << n;
}

class FftTest : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Devices, FftTest, testing::ValuesIn(device_ids()), test_name);

TEST_P(FftTest, LongLengths) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  std::vector<int64_t> lengths{1 << 14, 15015};
  if (!is_slow) lengths = {1 << 14, 1 << 20, 15 * 7 * 11 * 13 * 16, 531441};
  for (const int64_t n : lengths) {
    if (n > 100'000 && !is_its_turn(static_cast<uint64_t>(n), 3)) continue;
    check<float>(n, 6e-7, on);
    if (!is_slow || n == 15015) check<double>(n, 2e-15, on);
  }
}

// Rows of one kernel whose stages are long, with padding in shared memory and without.
TEST_P(FftTest, LongStages) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  std::vector<int64_t> lengths{5000, 6144, 11025};
  if (!is_slow)
    lengths = {4116, 5000, 5040, 6144, 6561, 7007, 8000, 8192, 8788, 9514, 10000, 10985, 11025, 11264, 11500};
  for (const int64_t n : lengths) {
    if (!is_its_turn(static_cast<uint64_t>(n), 3)) continue;
    check<float>(n, 5e-7, on);
    if (!is_slow || n == 5000) check<double>(n, 2e-15, on);
  }
}

// Some results of lengths for which all of them would take too long: three passes, and primes.
TEST_P(FftTest, SomeResultsOfLongerLengths) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  for (const int64_t n :
       is_slow ? std::vector<int64_t>{10007} : std::vector<int64_t>{10007, 1048583, 1 << 23}) {
    if (n > 100'000 && !is_its_turn(static_cast<uint64_t>(n), 3)) continue;
    const auto count = static_cast<size_t>(n);
    const auto x = random_numbers<float>(count);
    const Tensor there = fft(tensor(x, {n}, on));
    const auto y = there.to_vector<std::complex<float>>(),
               back = ifft(there).to_vector<std::complex<float>>();
    EXPECT_LT(error_of(back, Numbers(x.begin(), x.end())), 2e-6) << n;
    const Numbers turns = turns_of(count);
    for (const size_t k : {size_t{0}, size_t{1}, count / 3, count / 2 + 1, count - 1}) {
      Long sum = 0;
      for (size_t j = 0; j < count; ++j) sum += Long(x[j]) * turns[j * k % count];
      EXPECT_LT(std::abs(Long(y[k]) - sum), 4e-6 * std::sqrt(static_cast<double>(n))) << n << " " << k;
    }
  }
}

// Every column of many, at any distance from its neighbours, is what it is alone.
TEST_P(FftTest, ColumnsAreWhatTheyAreAlone) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  for (const Shape& shape :
       {Shape{3, 240, 7}, Shape{2, 9216, 3}, Shape{65, 256, 1}, Shape{1, 64, 70}, Shape{1, 240, 64}}) {
    const auto x = random_numbers<float>(static_cast<size_t>(element_count(shape)));
    const auto all = fft(tensor(x, shape, on), 1).to_vector<std::complex<float>>();
    for (const int64_t column : {int64_t{0}, shape[2] - 1}) {
      Numbers own;
      std::vector<std::complex<float>> got;
      const auto first = static_cast<size_t>((shape[0] - 1) * shape[1] * shape[2] + column);
      for (size_t j = 0; j < static_cast<size_t>(shape[1]); ++j) {
        own.emplace_back(x[first + j * static_cast<size_t>(shape[2])]);
        got.push_back(all[first + j * static_cast<size_t>(shape[2])]);
      }
      EXPECT_LT(error_of(got, transform(own)), 4e-7) << to_string(shape);
    }
  }
}

// Short rows go together: each is what it is alone, the last ones too.
TEST_P(FftTest, ShortRowsAreWhatTheyAreAlone) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  using List = std::vector<std::complex<float>>;
  const auto part = [](const List& list, size_t row, size_t length) {
    const auto first = list.begin() + static_cast<long>(row * length);
    return List(first, first + static_cast<long>(length));
  };
  const auto check = [&](const List& got, const List& own) {
    Numbers want = transform(Numbers(own.begin(), own.end()));
    want.resize(got.size());
    EXPECT_LT(error_of(got, want), 4e-7);
  };
  std::vector<int64_t> lengths{6, 16};
  if (on->info().kind != DeviceKind::software) lengths = {2, 3, 4, 6, 8, 12, 16, 20, 32, 48, 60};
  for (const int64_t n : lengths)
    for (const int64_t rows : {1, 5, 37}) {
      const auto length = static_cast<size_t>(n);
      const List x = random_numbers<float>(static_cast<size_t>(rows) * length);
      List reals = x;
      for (auto& each : reals) each = each.real();
      const Tensor t = tensor(x, {rows, n}, on);
      const List all = fft(t, 1).to_vector<std::complex<float>>();
      const List some = rfft(real(t), 1).to_vector<std::complex<float>>();
      for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
        SCOPED_TRACE(std::to_string(row) + " of " + std::to_string(rows) + " x " + std::to_string(n));
        check(part(all, row, length), part(x, row, length));
        check(part(some, row, length / 2 + 1), part(reals, row, length));
      }
    }
}

// Primes that a lane has in its registers, alone and beside other factors, in rows and in columns.
TEST_P(FftTest, PrimesOfALane) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  std::vector<int64_t> lengths{37, 82};
  if (!is_slow) lengths = {41, 47, 59, 61 * 16, 73, 134, 37 * 43, 53 * 71};
  for (const int64_t n : lengths)
    for (const int64_t inner : {1, 5}) {
      if (is_slow && (n == 37) == (inner == 1)) continue;  // a compiler takes long for these
      const int64_t rows = (1 << 19) / (n * inner) + 2;    // enough for them
      const Shape shape{rows, n, inner};
      const auto check_type = [&](auto one, double bound) {
        using T = decltype(one);
        const auto x = random_numbers<T>(static_cast<size_t>(element_count(shape)));
        const Tensor there = fft(tensor(x, shape, on), 1);
        const auto all = there.template to_vector<std::complex<T>>();
        Numbers own;
        std::vector<std::complex<T>> got;
        for (int64_t j = 0; j < n; ++j) {
          const auto place = static_cast<size_t>(((rows - 1) * n + j) * inner + inner - 1);
          own.emplace_back(x[place]), got.push_back(all[place]);
        }
        EXPECT_LT(error_of(got, transform(own)), bound) << n << " " << inner;
        const auto back = ifft(there, 1).template to_vector<std::complex<T>>();
        EXPECT_LT(error_of(back, Numbers(x.begin(), x.end())), 2 * bound) << n << " " << inner;
      };
      check_type(float{}, 5e-7);
      if (!is_slow && n % 43 == 0) check_type(double{}, 2e-15);
    }
}

// Primes whose number below is made of small factors, in one kernel: columns beside each other and rows, of
// which the last team has fewer; both parts at once in shared memory, and one after the other; with other
// factors.
TEST_P(FftTest, PrimesByPowers) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  std::vector<int64_t> lengths{37, 211, 6 * 37};  // the last: after a pass of the other factors
  if (!is_slow) lengths = {37, 41, 101, 127, 257, 701, 1021, 2053, 2593, 2 * 1021, 8 * 307, 113 * 640};
  for (const int64_t n : lengths)
    for (const int64_t inner : {1, 3}) {
      if (!is_slow && !is_its_turn(static_cast<uint64_t>(n * 8 + inner), 3)) continue;
      const Shape shape{3, n, inner};
      const auto check_type = [&](auto one, double bound) {
        using T = decltype(one);
        const auto x = random_numbers<T>(static_cast<size_t>(element_count(shape)));
        const Tensor there = fft(tensor(x, shape, on), 1);
        const auto all = there.template to_vector<std::complex<T>>();
        for (const int64_t column : {int64_t{0}, 3 * inner - 1}) {
          Numbers own;
          std::vector<std::complex<T>> got;
          for (int64_t j = 0; j < n; ++j) {
            const auto place = static_cast<size_t>((column / inner * n + j) * inner + column % inner);
            own.emplace_back(x[place]), got.push_back(all[place]);
          }
          EXPECT_LT(error_of(got, transform(own)), bound) << n << " " << inner << " " << column;
        }
        const auto back = ifft(there, 1).template to_vector<std::complex<T>>();
        EXPECT_LT(error_of(back, Numbers(x.begin(), x.end())), 2 * bound) << n << " " << inner;
      };
      check_type(float{}, 5e-7);
      if (!is_slow || n == 37) check_type(double{}, 2e-15);
    }
}

// Rows of real numbers there and back, against the sums; the last axis, and one with neighbours.
template <class T>
void check_real(int64_t n, int64_t inner, double bound, const std::shared_ptr<Device>& on) {
  const int64_t rows = 3;
  std::vector<T> x;
  for (const auto& z : random_numbers<T>(static_cast<size_t>(rows * n * inner))) x.push_back(z.real());
  const Tensor given = tensor(x, {rows, n, inner}, on);
  const auto at = [&](int64_t length, int64_t row, int64_t place, int64_t i) {
    return static_cast<size_t>((row * length + place) * inner + i);
  };
  const Tensor there = rfft(given, 1);
  const int64_t half = n / 2 + 1;
  const auto results = there.template to_vector<std::complex<T>>();
  // Of long ones the last column has to do, as sums take the square of a prime.
  for (int64_t row = n > 300 ? rows - 1 : 0; row < rows; ++row)
    for (const int64_t i : {n > 300 ? inner - 1 : int64_t{0}, inner - 1}) {
      Numbers own;
      std::vector<std::complex<T>> got;
      for (int64_t j = 0; j < n; ++j) own.emplace_back(x[at(n, row, j, i)]);
      for (int64_t k = 0; k < half; ++k) got.push_back(results[at(half, row, k, i)]);
      Numbers wanted = transform(own);
      wanted.resize(static_cast<size_t>(half));
      EXPECT_LT(error_of(got, wanted), bound) << n << " " << inner << " " << row;
      if (n % 2 == 0) {
        EXPECT_EQ(got[0].imag(), 0) << n;
      }
    }
  const auto back = irfft(there, 1, n).template to_vector<T>();
  double wrong = 0, right = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    wrong += static_cast<double>((back[i] - x[i]) * (back[i] - x[i]));
    right += static_cast<double>(x[i] * x[i]);
  }
  EXPECT_LT(std::sqrt(wrong / right), bound) << n << " " << inner;
}

TEST_P(FftTest, RealNumbersThereAndBack) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  // Around powers of two, with primes that kernels know and with others, and in several passes.
  std::vector<int64_t> lengths{2, 3, 4, 6, 8, 14, 31, 34, 64, 74, 127, 254, 1000, 4106, 8194};
  if (!is_slow)
    for (const int64_t n : {5,   7,   9,   15,  16,   17,   33,   63,   65,   97,   122,  128,  134,   211,
                            255, 257, 486, 999, 1021, 1024, 2042, 2053, 2562, 4095, 4097, 8192, 10006, 16386})
      lengths.push_back(n);
  for (const int64_t n : lengths)
    for (const int64_t inner : {1, 3, 20}) {
      if (n * inner > (is_slow ? 9000 : 200000)) continue;
      if (!is_its_turn(static_cast<uint64_t>(n * 32 + inner), is_slow ? 6 : 4)) continue;
      // A chirp takes a transform there and one back, whose errors have nothing to do with each other.
      const bool by_chirp = !ops::fft_is_smooth(static_cast<uint64_t>(n % 2 ? n : n / 2), 31);
      check_real<float>(n, inner, by_chirp ? 5e-7 * std::numbers::sqrt2 : 5e-7, on);
      if (!is_slow || n < 100) check_real<double>(n, inner, 2e-15, on);
    }
}

std::vector<std::complex<float>> to_complex(const Tensor& real) {
  const std::vector<float> x = real.to_vector<float>();
  return {x.begin(), x.end()};
}

// Row `row` of x is as `one`, within its own size; neither is finite where the other is not.
void expect_row(const std::vector<std::complex<float>>& x, const std::vector<std::complex<float>>& one,
                int64_t row) {
  float size = 0;
  for (const std::complex<float>& number : one) size = std::max(size, std::abs(number));
  for (size_t i = 0; i < one.size(); ++i) {
    const std::complex<float> own = x[static_cast<size_t>(row) * one.size() + i];
    if (std::isfinite(one[i].real()) && std::isfinite(one[i].imag()))
      EXPECT_LE(std::abs(own - one[i]), 1e-6f * size) << one.size() << " row " << row << " number " << i;
    else
      EXPECT_FALSE(std::isfinite(own.real()) && std::isfinite(own.imag()))
          << one.size() << " row " << row << " number " << i;
  }
}

// What one number that is not finite does to a row stays in that row.
TEST_P(FftTest, NotANumberStaysInItsRow) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  auto x = random_numbers<float>(3 * 128);
  x[130] = {std::nanf(""), 0};
  const auto y = fft(tensor(x, {3, 128}, on)).to_vector<std::complex<float>>();
  for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(std::isnan(y[i].real()), i / 128 == 1) << i;
}

// Rows that are transformed together are as exact as one alone, however much they differ.
TEST_P(FftTest, RowsOfRealNumbersAreAlone) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  const float sizes[] = {1, 1e-12f, 1e12f, 0, 3e-30f, 1, std::nanf(""), 1e-3f, HUGE_VALF};
  for (const bool are_finite : {true, false})
    for (const int64_t n : {15, 3, 105, 131, 257, 4097, 5003, 10395}) {
      if (is_slow && n > 15) continue;
      const int64_t rows = 45;  // more than a vector has lanes, twice, and an odd number
      const auto length = static_cast<size_t>(n);
      const auto noise = random_numbers<float>(static_cast<size_t>(rows) * length);
      std::vector<float> x(noise.size());
      for (size_t i = 0; i < x.size(); ++i) {
        const float size = sizes[i / length % 9];
        x[i] = noise[i].real() * (are_finite && !std::isfinite(size) ? 1 : size);
      }
      const Tensor there = rfft(tensor(x, {rows, n}, on));
      const auto y = there.to_vector<std::complex<float>>(), back = to_complex(irfft(there, -1, n));
      for (int64_t row = 0; row < rows; ++row) {
        const auto begin = x.begin() + row * n;
        const Tensor one = rfft(tensor(std::vector<float>(begin, begin + n), {1, n}, on));
        expect_row(y, one.to_vector<std::complex<float>>(), row);
        expect_row(back, to_complex(irfft(one, -1, n)), row);
      }
    }
}

// By the norm of the row: of two rows in one, one's largest number rounds the other's.
void expect_near_row(const std::vector<std::complex<float>>& all, const std::vector<std::complex<float>>& one,
                     int64_t row) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    error += std::norm(std::complex<double>(all[static_cast<size_t>(row) * one.size() + i]) -
                       std::complex<double>(one[i]));
    norm += std::norm(std::complex<double>(one[i]));
  }
  EXPECT_LE(std::sqrt(error), 1e-6 * std::sqrt(norm)) << one.size() << " row " << row;
}

// A row near the end of the range beside one whose transform is a single large number, and rows of transforms
// whose first number has an imaginary part, which means nothing.
TEST_P(FftTest, RowsOfRealNumbersKeepTheirRange) {
  const std::shared_ptr<Device> on = Device::open(GetParam());
  set_default_device(on);
  const bool is_slow = on->info().kind == DeviceKind::software;
  for (const int64_t n : {105, 10395, 98175}) {
    if (is_slow && n > 105) continue;
    const int64_t rows = n > 50000 ? 2 : 34, kept = n / 2 + 1;
    const auto noise = random_numbers<float>(static_cast<size_t>(rows * n));
    std::vector<float> x(noise.size());
    for (int64_t i = 0; i < rows * n; ++i)
      x[static_cast<size_t>(i)] = i / n % 2
                                      ? static_cast<float>(std::cos(2 * M_PI * 3 * double(i % n) / double(n)))
                                      : noise[static_cast<size_t>(i)].real() * 1e35f;
    const auto y = rfft(tensor(x, {rows, n}, on)).to_vector<std::complex<float>>();
    std::vector<std::complex<float>> half(static_cast<size_t>(rows * kept));
    for (int64_t i = 0; i < rows * kept; ++i) {
      half[static_cast<size_t>(i)] = noise[static_cast<size_t>(i)];
      if (i % (2 * kept) == 0) half[static_cast<size_t>(i)].imag(1e20f);
    }
    const auto back = to_complex(irfft(tensor(half, {rows, kept}, on), -1, n));
    for (int64_t row = 0; row < rows; ++row) {
      const std::vector<float> own(x.begin() + row * n, x.begin() + (row + 1) * n);
      expect_near_row(y, rfft(tensor(own, {1, n}, on)).to_vector<std::complex<float>>(), row);
      const std::vector<std::complex<float>> one(half.begin() + row * kept, half.begin() + (row + 1) * kept);
      expect_near_row(back, to_complex(irfft(tensor(one, {1, kept}, on), -1, n)), row);
    }
  }
}

TEST(FftPlan, PassesAreFew) {
  ops::FftPlan plan;
  plan.lanes = 1024;
  plan.shared_bytes = 48 << 10;
  const auto passes = [&](uint64_t length) {
    plan.length = length;
    return ops::fft(plan).launches.size();
  };
  EXPECT_EQ(passes(4096), 1u);
  EXPECT_EQ(passes(1 << 13), 1u);
  EXPECT_EQ(passes(11264), 1u);
  EXPECT_EQ(passes(1 << 14), 2u);
  EXPECT_EQ(passes(1 << 20), 2u);
  EXPECT_EQ(passes(1 << 22), 2u);
  EXPECT_EQ(passes(1 << 24), 3u);
  EXPECT_EQ(passes(31), 1u);
  EXPECT_EQ(passes(37), 2u);  // of the chirp, and of the numbers
  EXPECT_EQ(passes(2039), 2u);
  EXPECT_EQ(passes(4093), 2u);
  EXPECT_EQ(passes(2593), 2u);  // of powers, and of the numbers
  EXPECT_EQ(passes(113 * 640), 3u);
  EXPECT_EQ(passes(4099), 7u);  // the chirp, its transform, that of the numbers, and back
  plan.outer = 1 << 15;         // enough for kernels that know longer primes
  EXPECT_EQ(passes(37), 1u);
  EXPECT_EQ(passes(37 * 43), 1u);
  EXPECT_EQ(passes(79), 2u);
  plan.outer = 0;
  EXPECT_EQ(passes(1 << 10), 0u);
}

// Whatever primes a length has, it is cut into passes that end.
TEST(FftPlan, EveryLengthHasPasses) {
  ops::FftPlan plan;
  plan.lanes = 1024;
  plan.shared_bytes = 48 << 10;
  std::mt19937_64 generator(3);
  for (int i = 0; i < 300; ++i) {
    plan.length = 1 + (i < 100 ? static_cast<uint64_t>(i) : generator() % (i % 2 ? 4000 : 300000));
    plan.inner = i % 3 ? 1 : 7;
    plan.outer = i % 5 ? 1 : 4096;
    EXPECT_GT(ops::fft(plan).launches.size(), 0U) << plan.length;
  }
}

TEST(FftPlan, TeamsFitTheirDevice) {
  for (const uint32_t shared : {16u << 10, 32u << 10, 48u << 10})
    for (const uint32_t lanes : {128u, 256u, 1024u})
      for (const kernel::Type type : {kernel::Type::f32, kernel::Type::f64})
        for (const uint64_t length : {2ull, 13ull, 17ull, 37ull, 67ull, 360ull, 1021ull, 1591ull, 1024ull,
                                      2039ull, 2197ull, 4093ull, 4096ull, 7681ull, 65536ull, 1ull << 21})
          for (const uint64_t inner : {1ull, 5ull, 64ull}) {
            ops::FftPlan plan;
            plan.type = type;
            plan.outer = 3, plan.length = length, plan.inner = inner;
            plan.lanes = lanes;
            plan.shared_bytes = shared;
            for (const ops::FftLaunch& launch : ops::fft(plan).launches) {
              EXPECT_LE(launch.program.shared_bytes(), shared) << length << " " << inner;
              EXPECT_LE(launch.program.team.lanes, lanes) << length << " " << inner;
            }
          }
}

// More numbers than 32 bits count: kernels are written with other types, which the builder checks.
TEST(FftPlan, MoreNumbersThanAWordCounts) {
  for (const uint64_t length : {1000ull, 1ull << 20, 1ull << 31})
    for (const uint64_t inner : {1ull, 32ull}) {
      ops::FftPlan plan;
      plan.outer = length > 1 << 20 ? 1 : (uint64_t{1} << 32) / length;
      plan.length = length, plan.inner = inner;
      plan.lanes = 256;
      plan.shared_bytes = 48 << 10;
      for (const ops::FftLaunch& launch : ops::fft(plan).launches) EXPECT_GT(launch.teams, 0u);
    }
}

}  // namespace
}  // namespace adit::test
