// Transformations of functions and their nesting: derivatives against finite differences, vmap against loops.
// The rows have tests of their own (gradient_test); here are functions of many nodes, products, and control
// flow.
#include <cmath>
#include <random>
#include <set>

#include <adit/ops.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "seeds.hpp"
#include "transform_cases.hpp"

namespace adit::test {
namespace {

using Complex = std::complex<double>;
using Numbers = std::vector<Complex>;

Numbers random_numbers(int64_t count, DType type, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<double> number(-1, 1);
  Numbers list(static_cast<size_t>(count));
  for (Complex& x : list)
    x = is_complex(type) ? Complex(number(generator), number(generator)) : number(generator);
  return list;
}

Tensor to_tensor(const Numbers& numbers, const Shape& shape, DType type) {
  if (is_complex(type)) return tensor(numbers, shape);
  std::vector<double> real;
  for (const Complex& x : numbers) real.push_back(x.real());
  return tensor(real, shape);
}

Numbers to_numbers(const Tensor& x) {
  if (x.dtype() == DType::c128) return x.to_vector<Complex>();
  const std::vector<double> real = as_type(x, DType::f64).to_vector<double>();
  return {real.begin(), real.end()};
}

double number_of(const Tensor& x) { return to_numbers(x).at(0).real(); }

void expect_close(const Numbers& got, const Numbers& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_LE(std::abs(got[i] - want[i]), tolerance * (1 + std::abs(want[i])))
        << what << " at " << i << ": " << got[i] << ", expected " << want[i];
}

Numbers joined(Numbers a, const Numbers& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A function at a point, with two directions.
class Checked {
 public:
  explicit Checked(const Case& c) : case_(c) {
    for (size_t i = 0; i < c.arguments.size(); ++i) {
      all_.push_back(static_cast<int>(i));
      const int64_t count = element_count(c.arguments[i].shape);
      point_.push_back(random_numbers(count, c.arguments[i].type, 3 * i + 1));
      along_.push_back(random_numbers(count, c.arguments[i].type, 3 * i + 2));
      across_.push_back(random_numbers(count, c.arguments[i].type, 3 * i + 3));
    }
  }

  void first_derivatives() const {
    const double want = difference(case_.f, along_);
    EXPECT_NEAR(number_of(jvp(case_.f, at(point_), at(along_)).second[0]), want, 1e-7 * (1 + std::abs(want)));
    EXPECT_NEAR(number_of(slope(at(point_))[0]), want, 1e-7 * (1 + std::abs(want)));
  }

  void second_derivatives() const {
    const Function f = [this](const Tensors& x) { return slope(x); };
    const double want = difference(f, across_);
    EXPECT_NEAR(number_of(jvp(f, at(point_), at(across_)).second[0]), want, 1e-6 * (1 + std::abs(want)));
    if (!case_.reverse_twice) return;
    EXPECT_NEAR(number_of(paired(value_and_grad_of(f, at(point_), all_).grads, at(across_))), want,
                1e-6 * (1 + std::abs(want)));
  }

  // Value, gradients and a tangent, mapped over three points, against the same one by one. `same`: an
  // argument that is not mapped, or -1.
  void batches(int same) const {
    const Function f = [this](const Tensors& x) {
      const ValueAndGrad all = value_and_grad_of(case_.f, x, all_);
      Tensors results = all.grads;
      results.push_back(all.value);
      results.push_back(jvp(case_.f, x, at(along_)).second[0]);
      return results;
    };
    std::vector<int> axes(point_.size(), 0);
    if (same >= 0) axes[static_cast<size_t>(same)] = -1;
    std::vector<Numbers> want(point_.size() + 2), stacked(point_.size());
    for (int example = 0; example < 3; ++example) {
      const std::vector<Numbers> one = moved(point_, across_, 0.1 * example, same);
      for (size_t i = 0; i < one.size(); ++i)
        stacked[i] = i == static_cast<size_t>(same) ? one[i] : joined(stacked[i], one[i]);
      const Tensors results = f(at(one));
      eval(results);
      for (size_t i = 0; i < results.size(); ++i) want[i] = joined(want[i], to_numbers(results[i]));
    }
    Tensors x;
    for (size_t i = 0; i < stacked.size(); ++i) {
      Shape shape = case_.arguments[i].shape;
      if (i != static_cast<size_t>(same)) shape.insert(0, 3);
      x.push_back(to_tensor(stacked[i], shape, case_.arguments[i].type));
    }
    const Tensors got = vmap_of(f, x, axes);
    eval(got);
    for (size_t i = 0; i < got.size(); ++i)
      expect_close(to_numbers(got[i]), want[i], 1e-10, "vmap, result " + std::to_string(i));
    // The gradient of a sum over the batch is the batch of gradients.
    const size_t one = same == 0 ? 1 : 0;
    const Function total = [&](const Tensors& y) -> Tensors { return {sum(vmap_of(case_.f, y, axes)[0])}; };
    expect_close(to_numbers(value_and_grad_of(total, x, {static_cast<int>(one)}).grads[0]), want[one], 1e-10,
                 "grad of vmap");
  }

 private:
  static std::vector<Numbers> moved(std::vector<Numbers> point, const std::vector<Numbers>& direction,
                                    double step, int same = -1) {
    for (size_t i = 0; i < point.size(); ++i)
      for (size_t k = 0; k < point[i].size() && i != static_cast<size_t>(same); ++k)
        point[i][k] += step * direction[i][k];
    return point;
  }
  Tensors at(const std::vector<Numbers>& numbers) const {
    Tensors x;
    for (size_t i = 0; i < numbers.size(); ++i)
      x.push_back(to_tensor(numbers[i], case_.arguments[i].shape, case_.arguments[i].type));
    return x;
  }
  // Re sum of a b: what a gradient and a tangent give together.
  static Tensor paired(const Tensors& a, const Tensors& b) {
    Tensor total = zeros({}, DType::f64);
    for (size_t i = 0; i < a.size(); ++i) total = total + sum(real(a[i] * b[i]));
    return total;
  }
  Tensors slope(const Tensors& x) const {
    return {paired(value_and_grad_of(case_.f, x, all_).grads, at(along_))};
  }
  // The derivative along a direction; the error is of order h^4.
  double difference(const Function& f, const std::vector<Numbers>& direction) const {
    const double h = 1e-3;
    const auto value = [&](double step) { return number_of(f(at(moved(point_, direction, step)))[0]); };
    return (value(-2 * h) - 8 * value(-h) + 8 * value(h) - value(2 * h)) / (12 * h);
  }

  const Case& case_;
  std::vector<int> all_;
  std::vector<Numbers> point_, along_, across_;
};

class Transform : public OnDevice {
 protected:
  void SetUp() override { set_default_device(Device::open(GetParam())); }

  // A transformation gives the same graph for every device: the CPU sees all of it over some commits, others
  // a part.
  static void check(const std::vector<Case>& cases, const std::set<std::string>& elsewhere) {
    const bool all = GetParam() == "cpu";
    for (const Case& c : cases) {
      if (!all && !elsewhere.contains(c.name)) continue;
      SCOPED_TRACE(c.name);
      try {
        const Checked checked(c);
        checked.first_derivatives();
        checked.batches(-1);
        if (!all) continue;
        const uint64_t number = std::hash<std::string>()(c.name);
        if (is_its_turn(number, 4)) checked.second_derivatives();
        for (size_t same = 0; c.arguments.size() > 1 && same < c.arguments.size(); ++same)
          if (is_its_turn(number + 1 + same, 4)) checked.batches(static_cast<int>(same));
      } catch (const std::exception& error) {
        ADD_FAILURE() << error.what();
      }
    }
  }
};

TEST_P(Transform, PlainFunctions) { check(plain_cases(), {"many layers"}); }
TEST_P(Transform, Products) { check(product_cases(), {"axes in any order"}); }
TEST_P(Transform, Factors) { check(factor_cases(), {"cholesky"}); }
TEST_P(Transform, ControlFlow) { check(control_cases(), {"scan", "cond", "while, rounds by example"}); }

// Values of control flow against the same loops in C++, alone and inside jit.
TEST_P(Transform, LoopsAgainstPlainOnes) {
  const Function sums = [](const Tensors& x) -> Tensors {
    const auto step = [](const Tensors& c, const Tensors& s) -> Step {
      const Tensor next = c[0] + s[0];
      return {{next, c[1] + 1}, {next, c[1] * c[1]}};
    };
    const Step forward = scan(step, {zeros({2}, DType::i32), counter()}, {x[0]});
    const Step backward = scan(step, {zeros({2}, DType::i32), counter()}, {x[0]}, -1, true);
    return {forward.outputs[0], backward.outputs[0], forward.outputs[1], backward.outputs[1],
            backward.carry[0]};
  };
  const Tensor rows = tensor(std::vector<int32_t>{1, 2, 3, 4, 5, 6}, {3, 2});
  const std::vector<std::vector<int32_t>> want = {
      {1, 2, 4, 6, 9, 12}, {9, 12, 8, 10, 5, 6}, {0, 1, 4}, {4, 1, 0}, {9, 12}};
  const Tensors direct = sums({rows}), compiled = Jit(sums)({rows});
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_EQ(direct[i].to_vector<int32_t>(), want[i]) << i;
    EXPECT_EQ(compiled[i].to_vector<int32_t>(), want[i]) << i;
  }

  // Steps of Collatz's sequence, one by one and for a batch with different numbers of rounds.
  const auto steps = [](Tensor n) {
    return while_loop(
        [](const Tensors& s) { return s[0] != 1; },
        [](const Tensors& s) -> Tensors {
          const Tensor odd = remainder(s[0], full_integer({}, 2, DType::i32));
          return {select(odd, s[0] * 3 + 1, quotient(s[0], full_integer({}, 2, DType::i32))), s[1] + 1};
        },
        {n, counter()})[1];
  };
  std::vector<int32_t> starts, expected;
  for (int32_t start = 1; start <= 12; ++start) {
    starts.push_back(start);
    int32_t rounds = 0;
    for (int32_t n = start; n != 1; n = n % 2 ? 3 * n + 1 : n / 2) ++rounds;
    expected.push_back(rounds);
  }
  EXPECT_EQ(steps(tensor(std::vector<int32_t>{7}, {})).item<int32_t>(), expected[6]);
  EXPECT_EQ(steps(tensor(std::vector<int32_t>{1}, {})).item<int32_t>(), 0);
  EXPECT_EQ(vmap(steps)(tensor(starts)).to_vector<int32_t>(), expected);
  EXPECT_EQ(jit(vmap(steps))(tensor(starts)).to_vector<int32_t>(), expected);

  for (const float value : {-3.0f, 4.0f}) {
    const Tensor x = tensor(std::vector<float>{value}, {});
    const Tensors r = cond(
        x > 0,
        [](const Tensors& o) -> Tensors {
          return {sqrt(o[0]), o[0] > 5};
        },
        [&](const Tensors& o) -> Tensors {
          return {x * o[0], o[0] < 0};
        },
        {x});
    EXPECT_EQ(r[0].item<float>(), value > 0 ? 2 : 9);
    EXPECT_EQ(r[1].item<bool>(), value < 0);
  }
  EXPECT_EQ(map([](const Tensor& r) { return reverse(r) * 2; }, rows).to_vector<int32_t>(),
            (std::vector<int32_t>{4, 2, 8, 6, 12, 10}));
}

TEST_P(Transform, NestedGradients) {
  const Tensor x = tensor(std::vector<double>{1.5}, {});
  const auto cube = [](Tensor t) { return t * t * t; };
  EXPECT_NEAR(grad(cube)(x).item<double>(), 6.75, 1e-12);
  EXPECT_NEAR(grad(grad(cube))(x).item<double>(), 9, 1e-12);
  EXPECT_NEAR(grad(grad(grad(cube)))(x).item<double>(), 6, 1e-12);
  EXPECT_EQ(grad(grad(grad(grad(cube))))(x).item<double>(), 0);
  // The inner gradient is of y alone, the outer one sees both: d/dx x (d/dy x y)(x) = d/dx x^2.
  const auto outer_of = [](Tensor t) { return t * grad([t](Tensor y) { return t * y; })(t); };
  EXPECT_NEAR(grad(outer_of)(x).item<double>(), 3, 1e-12);
}

TEST_P(Transform, Hessian) {
  const Tensor x = to_tensor(random_numbers(4, DType::f64, 5), {2, 2}, DType::f64);
  const auto f = [](Tensor t) { return sum(sin(t) * t) * sum(t * t); };
  const Tensor h = hessian(f)(x);
  EXPECT_EQ(h.shape(), (Shape{2, 2, 2, 2}));
  expect_close(to_numbers(h), to_numbers(jacobian(grad(f))(x)), 1e-11, "hessian against jacobian of grad");
  const Tensor columns = reshape(h, {4, 4});
  expect_close(to_numbers(columns), to_numbers(transpose(columns)), 1e-11, "symmetry");
  const Numbers at = to_numbers(x);
  Numbers twice(16);
  for (size_t i = 0; i < 4; ++i) twice[5 * i] = 2.0 * at[i];
  expect_close(to_numbers(jacobian([](Tensor t) { return t * t; })(x)), twice, 1e-12, "jacobian");
  expect_close(to_numbers(hessian([](Tensor t) { return sum(t); })(x)), Numbers(16), 0,
               "of a linear function");
}

TEST_P(Transform, GradientsOfHalves) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32}) {
    const Tensor x = as_type(tensor(std::vector<float>{0.5f, -1, 2}, {3}), type);
    const Tensor g = grad([](Tensor t) { return sum(t * t) + dot(t, t); })(x);
    EXPECT_EQ(g.dtype(), type);
    expect_close(to_numbers(g), {2, -4, 8}, 0, std::string(name_of(type)));
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Transform, testing::ValuesIn(device_ids()), test_name);

// A constant that a loop reads may be evaluated by itself, before or after the loop is built.
TEST(Transform, LoopsReadConstantsThatWereEvaluated) {
  const auto total_of = [](const Tensor& steps) {
    return while_loop([](const Tensors& s) { return reduce_max(s[0]) < 10; },
                      [&](const Tensors& s) -> Tensors { return {s[0] + steps}; }, {zeros({3})})[0];
  };
  const std::vector<float> expected{0, 5, 10};
  const Tensor late = iota({3}, DType::f32);
  const Tensor loop = total_of(late);
  EXPECT_EQ(late.to_vector<float>(), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(loop.to_vector<float>(), expected);
  EXPECT_EQ(total_of(late).to_vector<float>(), expected);
  const Tensor two = ones({3}) + ones({3});
  const Tensor twice = total_of(two);
  two.eval();
  EXPECT_EQ(twice.to_vector<float>(), (std::vector<float>{10, 10, 10}));
}

}  // namespace
}  // namespace adit::test
