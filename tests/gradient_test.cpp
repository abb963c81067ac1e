// Derivatives of every row against finite differences, and vmap of every row against a loop.
#include <random>
#include <set>

#include <adit/transform.hpp>

#include "devices.hpp"
#include "graph/row.hpp"
#include "ops/cases.hpp"
#include "ops/derivatives.hpp"
#include "ops/numbers.hpp"
#include "seeds.hpp"

namespace adit::test {
namespace {

using graph::Row;

using Numbers = std::vector<double>;

// A case on a device, in a float type, with arguments and weights that do not change from run to run.
class Differentiated {
 public:
  Differentiated(const DerivativeCase& c, std::shared_ptr<Device> device, DType type)
      : case_(c), device_(std::move(device)), type_(type) {
    set_default_device(device_);
    std::mt19937_64 generator(17);
    std::uniform_real_distribution<double> inside(c.low, c.high), weight(0.5, 1.5);
    for (const Shape& shape : c.shapes) {
      Numbers numbers(static_cast<size_t>(element_count(shape)));
      // As f32 has them, so that all types see the same point.
      for (double& number : numbers) number = static_cast<float>(inside(generator));
      point_.push_back(std::move(numbers));
    }
    const Tensor result = c.function(at(point_));
    shape_ = result.shape();
    weights_ = random_numbers(element_count(shape_), generator, weight);
    for (const Numbers& numbers : point_)
      directions_.push_back(random_numbers(static_cast<int64_t>(numbers.size()), generator, weight));
  }

  const std::vector<Numbers>& point() const { return point_; }
  Tensors at(const std::vector<Numbers>& numbers) const {
    Tensors x;
    for (size_t i = 0; i < numbers.size(); ++i)
      x.push_back(as_type(tensor(numbers[i], case_.shapes[i], device_), type_));
    return x;
  }
  // The weighted sum of the results: a scalar to differentiate.
  Tensor loss(const Tensors& x) const {
    return sum(case_.function(x) * as_type(tensor(weights_, shape_, device_), type_));
  }
  double loss_at(const std::vector<Numbers>& numbers) const { return item(loss(at(numbers))); }
  Tensors gradient(const Tensors& x) const {
    std::vector<int> all(x.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    return value_and_grad_of([this](const Tensors& y) { return Tensors{loss(y)}; }, x, all).grads;
  }
  // The gradient along fixed directions: a scalar again.
  Tensor slope(const Tensors& x) const {
    const Tensors grads = gradient(x);
    Tensor total = zeros({}, type_);
    for (size_t i = 0; i < grads.size(); ++i)
      total = total + sum(grads[i] * as_type(tensor(directions_[i], case_.shapes[i], device_), type_));
    return total;
  }
  Tensors directions() const { return at(directions_); }
  static double item(const Tensor& x) { return as_type(x, DType::f64).item<double>(); }

 private:
  template <class D>
  static Numbers random_numbers(int64_t count, std::mt19937_64& generator, D& distribution) {
    Numbers numbers(static_cast<size_t>(count));
    for (double& number : numbers) number = static_cast<float>(distribution(generator));
    return numbers;
  }
  const DerivativeCase& case_;
  std::shared_ptr<Device> device_;
  DType type_;
  std::vector<Numbers> point_, directions_;
  Numbers weights_;
  Shape shape_;
};

// (f(-2h) - 8 f(-h) + 8 f(h) - f(2h)) / 12h: the error is of order h^4.
template <class F>
double difference(F f) {
  const double h = 1e-3;
  return (f(-2 * h) - 8 * f(-h) + 8 * f(h) - f(2 * h)) / (12 * h);
}

template <class F>
std::vector<Numbers> differences(const std::vector<Numbers>& point, F f) {
  std::vector<Numbers> slopes = point;
  for (size_t i = 0; i < point.size(); ++i)
    for (size_t k = 0; k < point[i].size(); ++k)
      slopes[i][k] = difference([&](double step) {
        std::vector<Numbers> moved = point;
        moved[i][k] += step;
        return f(moved);
      });
  return slopes;
}

void expect_near(const Numbers& got, const Numbers& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t k = 0; k < got.size(); ++k)
    EXPECT_NEAR(got[k], want[k], tolerance * (1 + std::abs(want[k]))) << what << " at " << k;
}

Numbers numbers_of(const Tensor& x) { return as_type(x, DType::f64).to_vector<double>(); }

std::vector<Numbers> moved_along(std::vector<Numbers> point, const Tensors& directions, double step) {
  for (size_t i = 0; i < point.size(); ++i) {
    const Numbers direction = numbers_of(directions[i]);
    for (size_t k = 0; k < point[i].size(); ++k) point[i][k] += step * direction[k];
  }
  return point;
}

graph::Kind graph_kind(const std::string& name) {
  for (const Row& row : graph::table())
    if (row.name == name) return row.kind;
  return graph::Kind::leaf;
}

// Runs a check for one case in `of`; an error of one does not hide the others.
template <class F>
void for_each_case(uint64_t of, F check) {
  uint64_t number = 0;
  for (const DerivativeCase& c : derivative_cases()) {
    if (!is_its_turn(number++, of)) continue;
    SCOPED_TRACE(c.name);
    try {
      check(c);
    } catch (const std::exception& error) {
      ADD_FAILURE() << c.name << ": " << error.what();
    }
  }
}

TEST(Gradient, EveryDifferentiableRowHasACase) {
  set_default_device(Device::open("cpu"));
  std::set<std::string> covered{"while_vjp", "cholesky_vjp"};  // gradients of while_loop and cholesky
  for (const DerivativeCase& c : derivative_cases()) covered.insert(c.row);
  for (const Row& row : graph::table())
    if ((row.vjp || row.jvp) && !covered.contains(std::string(row.name)))
      ADD_FAILURE() << row.name << " has no derivative case: tests/ops/derivatives.cpp";
}

TEST(Gradient, AgreesWithFiniteDifferences) {
  const auto cpu = Device::open("cpu");
  set_default_device(cpu);
  for_each_case(4, [&](const DerivativeCase& c) {
    const Differentiated f(c, cpu, DType::f64);
    ASSERT_TRUE(std::isfinite(f.loss_at(f.point())))
        << c.row << " is not finite from " << c.low << " to " << c.high
        << ": domains_of() in tests/ops/derivatives.cpp gives it another domain";
    const Tensors grads = f.gradient(f.at(f.point()));
    const auto want = differences(f.point(), [&](const auto& numbers) { return f.loss_at(numbers); });
    for (size_t i = 0; i < grads.size(); ++i) {
      ASSERT_EQ(grads[i].shape(), c.shapes[i]);
      ASSERT_EQ(grads[i].dtype(), DType::f64);
      expect_near(numbers_of(grads[i]), want[i], 2e-7, "argument " + std::to_string(i));
    }
  });
}

TEST(Gradient, OfGradientAgreesWithFiniteDifferences) {
  const auto cpu = Device::open("cpu");
  set_default_device(cpu);
  for_each_case(8, [&](const DerivativeCase& c) {
    if (!c.twice) return;
    const Differentiated f(c, cpu, DType::f64);
    std::vector<int> all(f.point().size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    const Tensors second =
        value_and_grad_of([&](const Tensors& x) { return Tensors{f.slope(x)}; }, f.at(f.point()), all).grads;
    const auto want = differences(
        f.point(), [&](const auto& numbers) { return Differentiated::item(f.slope(f.at(numbers))); });
    for (size_t i = 0; i < second.size(); ++i)
      expect_near(numbers_of(second[i]), want[i], 2e-6, "argument " + std::to_string(i));
  });
}

// Forward over reverse, as a Hessian is made: the only way through a loop.
TEST(Gradient, TangentsOfGradientsAgreeWithFiniteDifferences) {
  const auto cpu = Device::open("cpu");
  set_default_device(cpu);
  int checked = 0;
  for_each_case(1, [&](const DerivativeCase& c) {
    if (graph_kind(c.row) != graph::Kind::control) return;
    ++checked;
    const Differentiated f(c, cpu, DType::f64);
    const Tensors directions = f.directions();
    const auto [value, tangent] =
        jvp([&](const Tensors& x) { return Tensors{f.slope(x)}; }, f.at(f.point()), directions);
    const double want = difference([&](double step) {
      return Differentiated::item(f.slope(f.at(moved_along(f.point(), directions, step))));
    });
    expect_near({Differentiated::item(tangent.at(0))}, {want}, 2e-6, "tangent of the gradient");
  });
  EXPECT_GE(checked, 5);
}

TEST(Gradient, TangentsAgreeWithFiniteDifferences) {
  const auto cpu = Device::open("cpu");
  set_default_device(cpu);
  for_each_case(4, [&](const DerivativeCase& c) {
    const Differentiated f(c, cpu, DType::f64);
    const Tensors directions = f.directions();
    const auto [value, tangent] =
        jvp([&](const Tensors& x) { return Tensors{f.loss(x)}; }, f.at(f.point()), directions);
    const double want =
        difference([&](double step) { return f.loss_at(moved_along(f.point(), directions, step)); });
    expect_near({Differentiated::item(tangent.at(0))}, {want}, 2e-6, "tangent");
  });
}

class GradientOn : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, GradientOn, testing::ValuesIn(device_ids()), test_name);

// In f32 beside f64 on the CPU; of a device in software a smaller part of the cases.
TEST_P(GradientOn, InSinglePrecisionIsTheSame) {
  const auto on = Device::open(GetParam()), cpu = Device::open("cpu");
  set_default_device(cpu);
  const uint64_t of = on->info().kind == DeviceKind::software ? 12 : 6;
  for_each_case(of, [&](const DerivativeCase& c) {
    const Differentiated exact(c, cpu, DType::f64);
    const Tensors want = exact.gradient(exact.at(exact.point()));
    std::vector<Numbers> wanted;
    for (const Tensor& w : want) wanted.push_back(numbers_of(w));
    const Differentiated f(c, on, DType::f32);
    const Tensors grads = f.gradient(f.at(f.point()));
    for (size_t i = 0; i < grads.size(); ++i) {
      EXPECT_EQ(grads[i].dtype(), DType::f32);
      const std::vector<float> got = grads[i].to_vector<float>();
      expect_near(Numbers(got.begin(), got.end()), wanted[i], 2e-4, "argument " + std::to_string(i));
    }
  });
}

}  // namespace
}  // namespace adit::test
