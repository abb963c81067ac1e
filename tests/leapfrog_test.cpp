// leapfrog_chain beside closed forms: the nine families on the unconstrained line, in C++ double.
#include <cmath>
#include <functional>
#include <numbers>

#include <adit/control.hpp>
#include <adit/ops.hpp>
#include <adit/sample.hpp>
#include <adit/transform.hpp>

#include "cli/models/models.hpp"
#include "devices.hpp"

using namespace adit;
using adit::test::device_ids;
using adit::test::OnDevice;
using adit::test::test_name;

namespace {

// One number's log density and its slope. The parameters are those of family_model.
struct Closed {
  std::string family;
  std::function<double(double)> slope, log_density;
};

const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);

double normal_lp(double q) { return -0.5 * q * q - half_log_two_pi; }

std::vector<Closed> families() {
  const auto normal_slope = [](double q) { return -q; };
  return {
      {"normal", normal_slope, normal_lp},
      {"exponential", [](double q) { return 1 - 2 * std::exp(q); },
       [](double q) { return std::log(2.0) + q - 2 * std::exp(q); }},
      {"student_t", [](double q) { return -6 * q / (5 + q * q); },
       [](double q) {
         return std::lgamma(3.0) - std::lgamma(2.5) - 0.5 * std::log(5 * std::numbers::pi) -
                3 * std::log1p(q * q / 5);
       }},
      {"cauchy", [](double q) { return -2 * q / (1 + q * q); },
       [](double q) { return -std::log(std::numbers::pi) - std::log1p(q * q); }},
      {"half_normal", [](double q) { return 1 - std::exp(2 * q); },
       [](double q) { return std::log(2.0) - half_log_two_pi + q - 0.5 * std::exp(2 * q); }},
      {"weibull", [](double q) { return 2 * (1 - std::exp(2 * q) / 2.25); },
       [](double q) { return std::log(2.0) - 2 * std::log(1.5) + 2 * q - std::exp(2 * q) / 2.25; }},
      {"beta", [](double q) { return 2 - 7 / (1 + std::exp(-q)); },
       [](double q) {
         const double below = -std::log1p(std::exp(-q)), above = -std::log1p(std::exp(q));
         return std::lgamma(7.0) - std::lgamma(2.0) - std::lgamma(5.0) + 2 * below + 5 * above;
       }},
      {"gamma", [](double q) { return 3 - 2 * std::exp(q); },
       [](double q) { return 3 * std::log(2.0) - std::lgamma(3.0) + 3 * q - 2 * std::exp(q); }},
      {"lognormal", normal_slope, normal_lp},
  };
}

struct Path {
  std::vector<double> q, p, g, lp;
};

Path closed_path(const Closed& closed, std::vector<double> q, std::vector<double> p, double step, int steps,
                 const std::vector<double>& metric) {
  Path path;
  for (int k = 0; k < steps; ++k) {
    double lp = 0;
    for (size_t i = 0; i < q.size(); ++i) {
      p[i] += step / 2 * closed.slope(q[i]);
      q[i] += step * (metric.empty() ? 1 : metric[i]) * p[i];
      path.g.push_back(closed.slope(q[i]));
      p[i] += step / 2 * path.g.back();
      lp += closed.log_density(q[i]);
    }
    path.q.insert(path.q.end(), q.begin(), q.end());
    path.p.insert(path.p.end(), p.begin(), p.end());
    path.lp.push_back(lp);
  }
  return path;
}

std::vector<double> numbers(const Tensor& x) { return as_type(x, DType::f64).to_vector<double>(); }

void expect_near(const std::vector<double>& got, const std::vector<double>& want, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::fabs(want[i]))) << what << " " << i;
}

std::vector<double> wave(int64_t count, double phase, double size) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(size * std::sin(1.7 * static_cast<double>(i) + phase));
  return values;
}

Tensor made(const std::vector<double>& values, const Shape& shape, DType type, Device& on) {
  return as_type(tensor(values, shape, on.shared_from_this()), type).eval();
}

class Leapfrog : public OnDevice {
 protected:
  const std::string& id() const { return GetParam(); }
  LeapfrogChain run(const Model& model, const std::vector<double>& q, const std::vector<double>& p,
                    const Shape& shape, DType type, double step, int64_t steps,
                    const std::vector<double>& metric = {}) {
    return leapfrog_chain(model, made(q, shape, type, on()), made(p, shape, type, on()), step, steps, metric,
                          id());
  }
};

void expect_path(const LeapfrogChain& got, const Path& want, double tolerance, const std::string& what) {
  expect_near(numbers(got.positions), want.q, tolerance, what + " positions");
  expect_near(numbers(got.momenta), want.p, tolerance, what + " momenta");
  expect_near(numbers(got.gradients), want.g, tolerance, what + " gradients");
  expect_near(numbers(got.log_densities), want.lp, tolerance, what + " log densities");
}

void expect_same_bits(const Tensor& a, const Tensor& b, const std::string& what) {
  EXPECT_EQ(a.shape(), b.shape()) << what;
  EXPECT_TRUE(a.to_bytes() == b.to_bytes()) << what;
}

}  // namespace

TEST_P(Leapfrog, FamiliesFollowTheirClosedForms) {
  for (const Closed& closed : families()) {
    const Model model = family_model(closed.family, 5);
    const auto q = wave(5, 0.3, 0.8), p = wave(5, 1.1, 1);
    const Path want = closed_path(closed, q, p, 0.1, 32, {});
    // A software GPU compiles slowly: two families tell enough.
    const bool is_slow = on().info().kind == DeviceKind::software;
    if (on().limits().float64 && (!is_slow || closed.family == "normal" || closed.family == "beta"))
      expect_path(run(model, q, p, {5}, DType::f64, 0.1, 32), want, 1e-12, closed.family + " f64");
    expect_path(run(model, q, p, {5}, DType::f32, 0.1, 32), want, 1e-4, closed.family + " f32");
  }
}

// Also the shape of the kernel for long passes: positions in memory, a team on any device that has teams.
TEST_P(Leapfrog, ManyVariablesAndAMetric) {
  const Closed closed = families()[0];
  const int64_t size = 100;
  const Model model = family_model("normal", size);
  const auto q = wave(size, 0, 2), p = wave(size, 1, 1);
  std::vector<double> metric;
  for (int64_t i = 0; i < size; ++i) metric.push_back(0.5 + 0.01 * static_cast<double>(i));
  const Path want = closed_path(closed, q, p, -0.05, 8, metric);
  expect_path(run(model, q, p, {size}, DType::f32, -0.05, 8, metric), want, 1e-4, "diagonal");

  std::vector<double> dense(static_cast<size_t>(size * size));
  for (int64_t i = 0; i < size; ++i)
    dense[static_cast<size_t>(i * (size + 1))] = metric[static_cast<size_t>(i)];
  expect_path(run(model, q, p, {size}, DType::f32, -0.05, 8, dense), want, 1e-4, "dense");
}

TEST_P(Leapfrog, DenseMetricMixesMomenta) {
  const Model model = family_model("normal", 2);
  const std::vector<double> q{1, -1}, p{0.5, 2}, metric{2, 0.5, 0.5, 1};
  const double step = 0.1;
  const LeapfrogChain got = run(model, q, p, {2}, DType::f32, step, 1, metric);
  const double a = p[0] - step / 2 * q[0], b = p[1] - step / 2 * q[1];
  const std::vector<double> want{q[0] + step * (2 * a + 0.5 * b), q[1] + step * (0.5 * a + b)};
  expect_near(numbers(got.positions), want, 1e-5, "positions");
}

// A team for each point, where the device has teams of several lanes.
TEST_P(Leapfrog, TeamsGiveWhatLanesGive) {
  const Model model = example_model("eight_schools_noncentered");
  const auto q = wave(10, 0.2, 0.5), p = wave(10, 2, 1);
  const Tensor at = made(q, {10}, DType::f32, on()), moving = made(p, {10}, DType::f32, on());
  LeapfrogOptions options{.type = DType::f32, .device = id(), .placement = Placement::lane};
  const LeapfrogChain lane = LeapfrogKernel(model, options)(at, moving, 0.1, 8);
  options.placement = Placement::team;
  const LeapfrogChain team = LeapfrogKernel(model, options)(at, moving, 0.1, 8);
  expect_near(numbers(team.positions), numbers(lane.positions), 1e-5, "positions");
  expect_near(numbers(team.momenta), numbers(lane.momenta), 1e-5, "momenta");
  expect_near(numbers(team.gradients), numbers(lane.gradients), 1e-4, "gradients");
  expect_near(numbers(team.log_densities), numbers(lane.log_densities), 1e-5, "log densities");
}

// The log density is the whole one, constants of the data among it, at the new position; its slope is the
// gradient.
TEST_P(Leapfrog, AgreesWithTheModelsLogDensity) {
  for (const char* name : {"eight_schools_noncentered", "regime"}) {
    const Model model = example_model(name);
    const int64_t size = model.size(), steps = 6;
    const LeapfrogChain got =
        run(model, wave(size, 0.2, 0.5), wave(size, 2, 1), {size}, DType::f32, 0.02, steps);
    const auto positions = numbers(got.positions), lp = numbers(got.log_densities),
               gradients = numbers(got.gradients);
    const auto row = [&](const std::vector<double>& all, int64_t k) {
      return std::vector<double>(all.begin() + size * k, all.begin() + size * (k + 1));
    };
    for (int64_t k = 0; k < steps; ++k) {
      const auto at =
          value_and_grad([&](Tensor x) { return model.log_density(x); })(tensor(row(positions, k)));
      expect_near({lp[static_cast<size_t>(k)]}, {at.value.item<double>()}, 1e-5, name);
      expect_near(row(gradients, k), numbers(at.grads[0]), 1e-4, name);
    }
  }
}

TEST_P(Leapfrog, PrefixIsTheSame) {
  const Model model = family_model("gamma", 4);
  const auto q = wave(4, 0.1, 0.5), p = wave(4, 1, 1);
  const LeapfrogChain longer = run(model, q, p, {4}, DType::f32, 0.1, 32),
                      shorter = run(model, q, p, {4}, DType::f32, 0.1, 7);
  const auto first = [](const Tensor& x, int64_t width) {
    return width ? slice(x, {0, 0}, {7, width}) : slice(x, {0}, {7});
  };
  expect_same_bits(first(longer.positions, 4), shorter.positions, "positions");
  expect_same_bits(first(longer.momenta, 4), shorter.momenta, "momenta");
  expect_same_bits(first(longer.gradients, 4), shorter.gradients, "gradients");
  expect_same_bits(first(longer.log_densities, 0), shorter.log_densities, "log densities");
}

TEST_P(Leapfrog, BatchedIsTheSameAsSingle) {
  const Model model = family_model("beta", 3);
  const int64_t points = 70, steps = 5;
  const auto q = wave(points * 3, 0.1, 0.5), p = wave(points * 3, 1, 1);
  const LeapfrogChain all = run(model, q, p, {points, 3}, DType::f32, 0.1, steps);
  EXPECT_EQ(all.positions.shape(), (Shape{steps, points, 3}));
  EXPECT_EQ(all.log_densities.shape(), (Shape{steps, points}));
  for (const int64_t i : {int64_t{0}, int64_t{33}, points - 1}) {
    const LeapfrogChain one = run(model, {q.begin() + 3 * i, q.begin() + 3 * (i + 1)},
                                  {p.begin() + 3 * i, p.begin() + 3 * (i + 1)}, {3}, DType::f32, 0.1, steps);
    const auto part = [&](const Tensor& x) {
      return reshape(slice(x, {0, i, 0}, {steps, 1, 3}), {steps, 3});
    };
    expect_same_bits(part(all.positions), one.positions, "positions");
    expect_same_bits(part(all.momenta), one.momenta, "momenta");
    expect_same_bits(part(all.gradients), one.gradients, "gradients");
    expect_same_bits(reshape(slice(all.log_densities, {0, i}, {steps, 1}), {steps}), one.log_densities,
                     "log densities");
  }
}

TEST_P(Leapfrog, BackwardUndoesForward) {
  const Model model = family_model("student_t", 4);
  const auto q = wave(4, 0.1, 1), p = wave(4, 1, 1);
  const LeapfrogChain there = run(model, q, p, {4}, DType::f32, 0.2, 20);
  const auto last = [](const Tensor& x, int64_t k) { return reshape(slice(x, {k, 0}, {1, 4}), {4}); };
  const LeapfrogChain back =
      leapfrog_chain(model, last(there.positions, 19), last(there.momenta, 19), -0.2, 20, {}, id());
  expect_near(numbers(last(back.positions, 19)), q, 1e-5, "positions");
  expect_near(numbers(last(back.momenta, 19)), p, 1e-5, "momenta");
}

TEST_P(Leapfrog, OneDispatchAndNothingCompiledTwice) {
  const Model model = family_model("normal", 4);
  const LeapfrogKernel kernel(model, {.type = DType::f32, .device = id()});
  const Tensor q = made(wave(4, 0, 1), {4}, DType::f32, on()), p = made(wave(4, 1, 1), {4}, DType::f32, on());
  on().wait();
  const Statistics before = on().statistics();
  kernel(q, p, 0.1, 32);
  on().wait();
  EXPECT_EQ(on().statistics().kernels_run, before.kernels_run + 1);
  leapfrog_chain(model, q, p, 0.2, 9, {}, id());
  const Statistics after = on().statistics();
  EXPECT_EQ(after.kernels_compiled, before.kernels_compiled);
  EXPECT_EQ(after.kernels_loaded, before.kernels_loaded);
}

// A device that bounds loops gets several dispatches, which give what one would.
TEST_P(Leapfrog, ManySteps) {
  const Model model = family_model("normal", 1);
  const int64_t steps = 20000;
  const LeapfrogChain got = run(model, {1}, {0}, {1}, DType::f32, 0.01, steps);
  const auto lp = numbers(got.log_densities), p = numbers(got.momenta);
  for (size_t k = 0; k < lp.size(); ++k) ASSERT_NEAR(lp[k] - 0.5 * p[k] * p[k], normal_lp(1), 1e-3) << k;
}

INSTANTIATE_TEST_SUITE_P(Devices, Leapfrog, testing::ValuesIn(device_ids()), test_name);

namespace {

void expect_error(const std::function<void()>& f, const std::string& begin) {
  try {
    f();
    ADD_FAILURE() << "expected an error: " << begin;
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()).rfind(begin, 0), 0u) << error.what();
  }
}

}  // namespace

// The gradient of a loop keeps the states of all rounds: more than the stack of a thread has room for.
TEST(LeapfrogMemory, OfLongLoopsLiesInABuffer) {
  Model model;
  const int64_t count = 150;
  const Tensor x = model.sample("x", normal(0, 1), {count});
  const Tensor small =
      while_loop([&](const Tensors& s) { return greater(reduce_max(abs(s[0])), full({}, 0.1, DType::f64)); },
                 [&](const Tensors& s) { return Tensors{s[0] * 0.5}; }, {x})[0];
  model.add_log_density("small", sum(square(small)) * -0.5);
  for (const Placement placement : {Placement::lane, Placement::team}) {
    const LeapfrogKernel kernel(model, {.type = DType::f64, .device = "cpu", .placement = placement});
    const LeapfrogChain chain =
        kernel(full({count}, 1.0, DType::f64), full({count}, 0.5, DType::f64), 1e-3, 3);
    const std::vector<double> q = chain.positions.to_vector<double>(),
                              g = chain.gradients.to_vector<double>();
    for (size_t i = 0; i < g.size(); ++i) EXPECT_NEAR(g[i], -q[i] * (1 + std::pow(0.25, 4)), 1e-12) << i;
  }
}

TEST(LeapfrogErrors, AreToldBeforeAnythingRuns) {
  const Model model = family_model("normal", 3);
  const auto zero = [](const Shape& shape, DType type = DType::f64) { return zeros(shape, type); };
  const auto call = [&](const Tensor& q, const Tensor& p, double step, int64_t steps,
                        const std::vector<double>& metric = {}) {
    return [=, &model] { leapfrog_chain(model, q, p, step, steps, metric, "no such device"); };
  };
  expect_error(call(zero({3}), zero({4}), 0.1, 1), "[leapfrog_chain] p: expected f64 [3] as q, got f64 [4]");
  expect_error(call(zero({3}), zero({3}, DType::f32), 0.1, 1), "[leapfrog_chain] p: expected f64 [3]");
  expect_error(call(zero({4}), zero({4}), 0.1, 1),
               "[leapfrog_chain] q: expected f32 or f64 [3] or [n, 3], got f64 [4]");
  expect_error(call(zero({0, 3}), zero({0, 3}), 0.1, 1), "[leapfrog_chain] q: expected");
  expect_error(call(zero({3}, DType::i32), zero({3}, DType::i32), 0.1, 1), "[leapfrog_chain] q: expected");
  expect_error(call({}, zero({3}), 0.1, 1), "[leapfrog_chain] q: expected");
  expect_error(call(zero({3}), zero({3}), 0.1, 0), "[leapfrog_chain] steps: expected at least 1, got 0");
  expect_error(call(zero({3}), zero({3}), NAN, 1), "[leapfrog_chain] step_size: expected a finite number");
  expect_error(call(zero({3}), zero({3}), 0.1, int64_t{1} << 31), "[leapfrog_chain] steps: expected at most");
  expect_error(call(zero({3}), zero({3}), 0.1, 1, {1, 2}),
               "[leapfrog_chain] inverse_metric: expected none, 3 or 9 numbers, got 2");
  expect_error(call(zero({3}), zero({3}), 0.1, 1, {1, 0, 2}), "[leapfrog_chain] inverse_metric: expected");
}
