// Chains that share a CPU's team, beside chains alone and the engine of tensors.
#include <fmt/format.h>

#include <adit/adit.hpp>

#include "density_cases.hpp"
#include "sample/candidates.hpp"
#include "sample_runs.hpp"
#include "stats/model_state.hpp"

namespace adit::test {
namespace {

using namespace sampling;

// Tiles of rows, the last of which is a part of one; odd columns.
Model logistic(int64_t rows, int64_t columns) {
  Model m("logistic");
  const Tensor a = m.sample("a", normal(0, 3)), b = m.sample("b", normal(0, 1), {columns});
  const Tensor x = m.data("x", tensor(normals(rows * columns, 10), {rows, columns}));
  m.observe("y", bernoulli_logit(a + 0.1 * dot(x, b)), m.data("y", tensor(places(rows, 2))));
  return m;
}

// Products with a triangular factor, both ways.
Model sparse(int64_t rows, int64_t columns) {
  Model m("sparse");
  const Tensor b = m.sample("b", normal(0, 1), {columns}),
               scale = m.sample("scale", half_cauchy(1), {columns});
  const Tensor s = m.sample("s", exponential(2));
  const Tensor x = m.data("x", tensor(normals(rows * columns, 11), {rows, columns}));
  m.observe("y", normal(dot(x, b * scale), s), tensor(normals(rows, 12)));
  return m;
}

// What passes keep in the chain's memory is written over: a matrix by its factor, residuals by solutions.
Model process(int64_t points) {
  Model m("process");
  const Tensor z = m.sample("z", normal(0, 1), {points}), length = m.sample("length", exponential(1));
  const Tensor at = tensor(normals(points, 13));
  const Tensor apart = square(reshape(at, {points, 1}) - reshape(at, {1, points}));
  const Tensor covariance = exp(-apart / (1 + length)) + 0.1 * as_type(eye(points), DType::f64);
  m.observe("y", poisson_log(0.3 * dot(cholesky(covariance), z)), tensor(places(points, 4)));
  return m;
}

// Updates at places, and what is read after all rows.
Model levels(int64_t rows) {
  Model m("levels");
  const Tensor u = m.sample("u", normal(0, 1), {40}), b = m.sample("b", normal(0, 1), {33});
  const Tensor x = m.data("x", tensor(normals(rows * 33, 14), {rows, 33}));
  const Tensor eta = 0.1 * dot(x, b) + take(u, m.data("ids", tensor(places(rows, 40))));
  m.observe("y", poisson_log(eta), tensor(places(rows, 4)));
  m.add_log_density("bend", -log1p(sum(square(b))));
  return m;
}

SampleOptions some(int64_t chains, const std::string& layout) {
  SampleOptions options{.chains = chains, .warmup = 20, .draws = 12};
  options.device = "cpu";
  options.precision = Precision::f64;
  options.max_depth = 4;
  options.layout = layout;
  return options;
}

std::vector<double> numbers_of(const Draws& draws) {
  std::vector<double> all = draws.stats.lp;
  for (const auto& variable : draws.variables)
    all.insert(all.end(), variable.values.begin(), variable.values.end());
  return all;
}

// A short trajectory is the same however its densities and gradients were computed, but for rounding.
TEST(Together, DensitiesAreThoseOfTheEngine) {
  uint64_t number = 0;
  for (const Model& model :
       {logistic(301, 37), logistic(8'003, 37), sparse(90, 41), process(37), levels(507)}) {
    if (!is_in_share(number++, 3)) continue;
    SampleOptions options = some(4, "device");
    options.warmup = 0;
    options.draws = 3;
    options.step_size = 1e-3;
    options.init_radius = 0.4;
    const std::vector<double> engine = numbers_of(sample(model, options));
    std::vector<const char*> layouts{"team", "team:32:buffer:2"};
    if (model.name() == "levels") layouts.push_back("team:8:buffer:4");
    for (const char* layout : layouts) {
      SCOPED_TRACE(model.name() + " " + layout);
      options.layout = layout;
      const std::vector<double> here = numbers_of(sample(model, options));
      ASSERT_EQ(here.size(), engine.size());
      for (size_t i = 0; i < here.size(); ++i)
        ASSERT_NEAR(here[i], engine[i], 1e-8 * (1 + std::fabs(engine[i]))) << i;
    }
  }
}

// Chains do not know who shares their team, nor how a run was cut into dispatches.
TEST(Together, ChainsDoNotDependOnEachOther) {
  for (const Model& model : {logistic(120, 41), logistic(8'003, 37), sparse(90, 41), levels(507)}) {
    SCOPED_TRACE(model.name());
    SampleOptions options = some(4, "team:32:buffer:2");
    const Draws all = sample(model, options);
    EXPECT_EQ(all.layout, "team:32:buffer:2");
    EXPECT_EQ(numbers_of(all), numbers_of(sample(model, options, {.budget = 7})));
    // With other partners, and alone once those are done.
    options.chains = 2;
    options.first_chain = 1;
    const Draws two = sample(model, options);
    const size_t each = two.stats.lp.size() / 2;
    for (size_t i = 0; i < 2 * each; ++i) ASSERT_EQ(two.stats.lp[i], all.stats.lp[each + i]);
  }
}

// Parts of a density in f64 where chains are f32: the totals of many rows, and more of it in mixed precision.
TEST(Together, DensitiesThatAreWiderThanTheirChains) {
  uint64_t number = 0;
  for (const Model& model :
       {logistic(8'192, 40), logistic(2'003, 37), sparse(90, 41), process(37), levels(507)})
    for (const Precision precision : {Precision::f32, Precision::mixed}) {
      if (!is_in_share(number++, 6)) continue;
      SCOPED_TRACE(model.name() + (precision == Precision::f32 ? " f32" : " mixed"));
      SampleOptions options = some(4, "team:32:buffer");
      options.precision = precision;
      options.warmup = 0;
      options.draws = 3;
      options.step_size = 1e-3;
      options.init_radius = 0.4;
      const std::vector<double> alone = numbers_of(sample(model, options));
      options.layout = "team:32:buffer:2";
      const Draws draws = sample(model, options);
      EXPECT_EQ(draws.layout, "team:32:buffer:2");
      EXPECT_LT(draws.energy_error, 1e-3);
      EXPECT_GT(draws.energy_error, 0);
      const std::vector<double> here = numbers_of(draws);
      ASSERT_EQ(here.size(), alone.size());
      for (size_t i = 0; i < here.size(); ++i)
        ASSERT_NEAR(here[i], alone[i], 1e-5 * (1 + std::fabs(alone[i]))) << i;
    }
}

TEST(Together, ChainsOfWiderDensitiesDoNotDependOnEachOther) {
  uint64_t number = 0;
  for (const Model& model : {logistic(8'192, 40), logistic(507, 41), process(37)})
    for (const Precision precision : {Precision::f32, Precision::mixed}) {
      if (!is_in_share(number++, 3)) continue;
      SCOPED_TRACE(model.name() + (precision == Precision::f32 ? " f32" : " mixed"));
      SampleOptions options = some(4, "team:32:buffer:2");
      options.precision = precision;
      const Draws all = sample(model, options);
      expect_same(all, sample(model, options, {.budget = 7}));
      SampleOptions parts = options;
      const fs::path path = fs::temp_directory_path() / ("adit-together-" + std::to_string(::getpid()));
      parts.checkpoint = path.string();
      EXPECT_FALSE(sample(model, stopping(parts, 25), Forced{.budget = 3}).finished);
      parts.resume = true;
      expect_same(all, sample(model, parts, {}));
      fs::remove(path);
      options.chains = 2;
      options.first_chain = 1;
      const Draws two = sample(model, options);
      const size_t each = two.stats.lp.size() / 2;
      for (size_t i = 0; i < 2 * each; ++i) ASSERT_EQ(two.stats.lp[i], all.stats.lp[each + i]);
    }
}

TEST(Together, WhatItNeeds) {
  const Model model = logistic(50, 5);
  expect_error([&] { sample(model, some(3, "team:32:buffer:2")); },
               "[sample] layout: expected a multiple of 2 chains of one data set for teams of 2, got 3 of 1");
  expect_error([&] { sample(model, some(4, "team:32:shared:2")); },
               "[sample] layout: expected chains that share a team only in the buffer of a CPU");
  expect_error([&] { sample(model, some(4, "team:32:buffer:9")); },
               "[sample] layout: expected a number from 1 to 4");
}

// Pairs are for matrices of data and enough chains; several data sets go without.
TEST(Together, WhoIsPaired) {
  const auto device = Device::open("cpu");
  const int64_t enough = 2 * device->limits().processors;
  const auto best = [&](const Model& model, int64_t chains) {
    return candidates(stats::state_of(model), DType::f64, chains, *device)[0].choice.together;
  };
  EXPECT_EQ(best(logistic(2000, 40), enough), 2);
  EXPECT_EQ(best(logistic(2000, 40), enough + 1), 1);
  EXPECT_EQ(best(logistic(2000, 40), 1), 1);
  EXPECT_EQ(best(logistic(2000, 20), enough), 1);  // a row's product is one lane's
  EXPECT_EQ(best(process(40), enough), 1);
  SampleOptions options = some(enough, "");
  const Model model = logistic(500, 40);
  const Tensor y = tensor(places(500, 2));
  EXPECT_EQ(sample_many(model, {{"y", stack({y, y}, 0)}}, options).size(), 2U);
}

}  // namespace
}  // namespace adit::test
