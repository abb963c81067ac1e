// Models of any depth: what is made of thousands of operations that lie in each other is no reason to turn a
// program down, to end the stack, or to take twice as long with each step more.
#include <cmath>

#include "density/density.hpp"
#include "density/schedule.hpp"
#include "density_cases.hpp"
#include "nuts/kernel.hpp"
#include "small_stack.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

// y = f(f(...f(x))), observed in `rows` rows.
Model chained(int64_t rows, int steps, const std::function<Tensor(const Tensor&, int)>& f) {
  Model m("deep");
  const Plate p = m.plate("row", rows);
  Tensor y = m.sample("x", normal(0, 1), {p});
  for (int i = 0; i < steps; ++i) y = f(y, i);
  m.observe("z", normal(y, 1.0), zeros({rows}, DType::f64));
  return m;
}

Tensor multiplied(const Tensor& y, int) { return y * 0.9999 + 0.001; }
Tensor sine(const Tensor& y, int) { return sin(y); }
Tensor reversed(const Tensor& y, int) { return reverse(y, {0}) * 0.999; }
Tensor turned(const Tensor& y, int) {
  const int64_t n = y.size();
  return concatenate({slice(y, {1}, {n - 1}), slice(y, {0}, {1})}) * 0.999;
}

// a = 0.5 a + 0.3 b, b = a: each of the two is read by two.
Model lagged(int steps) {
  Model m("lags");
  const Tensor beta = m.sample("beta", normal(0, 1));
  const Tensor w = m.data("w", as_type(arange(64), DType::f64) * (1.0 / 64));
  Tensor a = w * beta, b = w * beta * 0.5;
  for (int i = 0; i < steps; ++i) {
    const Tensor next = a * 0.7 + b * 0.3;
    b = a;
    a = next;
  }
  m.observe("z", normal(a, 1.0), zeros({64}, DType::f64));
  return m;
}

size_t parts_of(const Model& model) {
  const sampling::Density density = sampling::make_density(stats::state_of(model), DType::f64);
  size_t count = 0;
  for (const auto& sum : density.square_sums)
    for (const auto& group : sum.groups) count += group.parts.size();
  return count;
}

class Depth : public testing::Test {
 protected:
  void SetUp() override {
    const auto ids = device_ids();
    if (std::find(ids.begin(), ids.end(), "cpu") == ids.end()) GTEST_SKIP() << "no cpu device";
    set_default_device(device("cpu").shared_from_this());
  }
};

// The kernel alone: to compile so long a one takes seconds.
size_t instructions_of(const Model& model, bool by_team) {
  const sampling::Density density = sampling::make_density(stats::state_of(model), DType::f64);
  const sampling::Schedule schedule = sampling::make_schedule(density, by_team, true);
  sampling::KernelOptions options;
  options.by_team = by_team;
  return sampling::make_nuts_kernel(density, schedule, Metric::diagonal, 10, options)
      .program.instructions.size();
}

TEST_F(Depth, OfADensityOfThousandsOfOperations) {
  on_a_small_stack([] {
    for (const bool by_team : {false, true})
      EXPECT_GT(instructions_of(chained(64, 2000, multiplied), by_team), 4000u);
    EXPECT_GT(instructions_of(chained(3, 1100, multiplied), false), 6000u);
    compare_density(chained(64, 150, multiplied), "multiplied", "cpu", Placement::lane, DType::f64, 1e-9);
  });
}

TEST_F(Depth, OfIndexMapsInEachOther) {
  on_a_small_stack([] {
    for (const int64_t rows : {4, 64}) EXPECT_GT(instructions_of(chained(rows, 400, turned), false), 2000u);
    for (const int64_t rows : {4, 64})
      compare_density(chained(rows, 70, turned), "turned", "cpu", Placement::lane, DType::f64, 1e-9);
    compare_density(chained(64, 130, reversed), "reversed", "cpu", Placement::team, DType::f64, 1e-9);
  });
}

// A node that two read is taken apart once: the parts of a column do not double with each step.
TEST_F(Depth, OfRecurrencesThatReadTwice) {
  ASSERT_LE(parts_of(lagged(14)), 64u);
  EXPECT_LE(parts_of(lagged(200)), 64u);
  for (const int steps : {3, 14, 60})
    compare_density(lagged(steps), "lagged", "cpu", Placement::lane, DType::f64, 1e-9);
}

// What one kernel does not hold goes by the engine of tensors, and the draws tell it: many operations, or
// fewer that are long ones.
TEST_F(Depth, OfMoreThanAKernelHolds) {
  for (const Model& m : {chained(64, 2800, multiplied), chained(64, 400, sine)}) {
    EXPECT_FALSE(sampling::fits_a_kernel(sampling::make_density(stats::state_of(m), DType::f64)));
    SampleOptions options;
    options.chains = 2;
    options.warmup = 5;
    options.draws = 2;
    options.device = "cpu";
    options.placement = Placement::team;
    const Draws draws = sample(m, options);
    EXPECT_EQ(draws.layout.substr(0, 6), "device");
    ASSERT_FALSE(draws.notes.empty());
    EXPECT_NE(draws.notes[0].find("operations"), std::string::npos) << draws.notes[0];
  }
}

}  // namespace
}  // namespace adit::test
