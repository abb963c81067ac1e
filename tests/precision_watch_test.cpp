// Single precision that is watched: energies of draws beside double precision, and runs that go over to it.
#include "sample/precision_watch.hpp"

#include <algorithm>
#include <cmath>

#include <adit/control.hpp>
#include <adit/diagnostics.hpp>
#include <adit/transform.hpp>

#include "devices.hpp"
#include "sample_runs.hpp"

namespace adit {
namespace {

// Data far from zero with a small error: their log density is a difference of large numbers.
Model far_model(double shift, int64_t rows = 200) {
  Model model("far");
  std::vector<double> y;
  for (int64_t i = 0; i < rows; ++i) y.push_back(shift + 0.01 * std::sin(static_cast<double>(i)));
  const Tensor mu = model.sample("mu", normal(shift, 10));
  const Tensor sigma = model.sample("sigma", lognormal(-4, 1));
  model.observe("y", normal(mu, sigma), tensor(y));
  return model;
}

SampleOptions short_run(const std::string& device) {
  SampleOptions options;
  options.device = device;
  options.chains = 4;
  options.warmup = 120;
  options.draws = 40;
  options.init = {{{"mu", {100000.0}}, {"sigma", {0.01}}}};
  return options;
}

bool warns(const Draws& draws, const std::string& words) {
  const auto all = warnings(draws, summary(draws));
  return std::any_of(all.begin(), all.end(),
                     [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

class PrecisionWatch : public test::OnDevice {};

TEST_P(PrecisionWatch, AForcedRunInSinglePrecisionWarns) {
  SampleOptions options = short_run(GetParam());
  options.precision = Precision::f32;
  const Draws bad = sample(far_model(100000), options);
  EXPECT_GT(bad.energy_error, most_energy_error);
  EXPECT_TRUE(warns(bad, "In single precision the log densities"));
  options.init.clear();
  const Draws good = sample(small_model(), options);
  EXPECT_GT(good.energy_error, 0);
  EXPECT_LT(good.energy_error, 1e-3);
  EXPECT_FALSE(warns(good, "single precision"));
}

// Where f32 is the automatic choice, a run that it does not suit is one in f64, to the bit.
TEST_P(PrecisionWatch, AnAutomaticRunGoesOverToDoublePrecision) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  SampleOptions options = short_run(GetParam());
  const Draws automatic = sample(far_model(100000), options);
  EXPECT_EQ(automatic.precision, "f64");
  EXPECT_EQ(automatic.energy_error, 0);
  EXPECT_EQ(warns(automatic, "so that the run is in f64"), GetParam() != "cpu");
  options.precision = Precision::f64;
  expect_same(automatic, sample(far_model(100000), options));
  if (GetParam() == "cpu") return;
  options.precision = Precision::automatic;
  options.init.clear();
  options.warmup = 30;
  EXPECT_EQ(sample(small_model(), options).precision, "f32");
}

// A run that went over, was stopped and goes on.
TEST_P(PrecisionWatch, GoesOnInDoublePrecision) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  SampleOptions options = short_run(GetParam());
  const Draws whole = sample(far_model(100000), options);
  const fs::path path = fs::temp_directory_path() / ("adit-watch-" + std::to_string(::getpid()));
  options.checkpoint = path.string();
  EXPECT_FALSE(sample(far_model(100000), stopping(options, 130), Forced{.budget = 20}).finished);
  options.resume = true;
  const Draws rest = sample(far_model(100000), options, {});
  EXPECT_EQ(rest.precision, "f64");
  expect_same(whole, rest);
  fs::remove(path);
}

// Counts along a line (bench/models has them too, and rstan sampled those): a Gaussian process with next to
// nothing on its diagonal.
Model process(int64_t points, double jitter) {
  static const std::vector<double> places{0.2479, 0.4196, 0.5441, 0.8929, 1.0148, 1.2921, 1.5904, 1.7918,
                                          2.2455, 2.3328, 2.6882, 2.8922, 3.0624, 3.4337, 3.726,  3.9041,
                                          4.167,  4.4097, 4.7214, 4.8667, 5.0998, 5.3449, 5.5175, 5.8049,
                                          6.1528, 6.2793, 6.7495, 6.8307, 7.2003, 7.3438, 7.5335, 7.7545,
                                          8.1584, 8.2594, 8.6465, 8.899,  9.2307, 9.3324, 9.6326, 9.8954};
  static const std::vector<double> counts{5, 3, 5, 7, 5, 6, 9, 3, 10, 7, 6, 6, 3,  1,  2, 1, 3, 0, 2, 1,
                                          5, 4, 1, 3, 2, 3, 4, 1, 8,  7, 5, 1, 11, 10, 7, 2, 4, 3, 0, 1};
  Model model("process");
  const std::vector<double> x(places.begin(), places.begin() + points);
  const std::vector<double> y(counts.begin(), counts.begin() + points);
  std::vector<double> distance;
  for (const double a : x)
    for (const double b : x) distance.push_back((a - b) * (a - b));
  const Tensor rho = model.sample("rho", inv_gamma(5, 5)), alpha = model.sample("alpha", half_normal(1));
  const Tensor a = model.sample("a", normal(0, 2)), z = model.sample("z", normal(0, 1), {points});
  const Tensor covariance =
      square(alpha) * exp(model.data("distance", tensor(distance, {points, points})) * -0.5 / square(rho)) +
      jitter * as_type(eye(points), DType::f64);
  model.observe("y", poisson_log(a + dot(cholesky(covariance), z)), tensor(y));
  return model;
}

// Rows whose errors are not alike: what is wrong with the energies is their sum.
Model many_rows(int64_t rows) {
  Model model("many_rows");
  std::vector<double> x;
  std::vector<int64_t> y;
  for (int64_t i = 0; i < rows; ++i) {
    x.push_back(std::sin(0.7 * static_cast<double>(i)));
    y.push_back((i * 7919) % 5 < (i % 3) + 1);
  }
  const Tensor a = model.sample("a", normal(0, 1)), b = model.sample("b", normal(0, 1));
  model.observe("y", bernoulli_logit(a + b * model.data("x", tensor(x))), model.data("y", tensor(y)));
  return model;
}

// So many rows that single numbers of a small density, n log sigma, have no digits left.
Model counted_many_times(int64_t rows) {
  Model model("counted_many_times");
  std::vector<double> y;
  for (int64_t i = 0; i < rows; ++i) y.push_back(std::sin(static_cast<double>(i % 1000)));
  const Tensor mu = model.sample("mu", normal(0, 1)), sigma = model.sample("sigma", half_normal(1));
  model.observe("y", normal(mu, sigma), tensor(y));
  return model;
}

SampleOptions few_draws(const std::string& device, Precision precision) {
  SampleOptions options;
  options.device = device;
  options.precision = precision;
  options.chains = 4;
  options.warmup = 20;
  options.draws = 8;
  options.max_depth = 3;
  return options;
}

struct Layout {
  Placement placement;
  Forced forced;
};

std::vector<Layout> layouts_of(const Device& on) {
  using sampling::Home;
  if (on.info().kind == DeviceKind::software) return {{Placement::team, {.lanes = 32, .home = Home::split}}};
  return {{Placement::lane, {.lanes = 1, .home = Home::array}},
          {Placement::lane, {.lanes = 4, .home = Home::buffer}},
          {Placement::team, {.lanes = 32, .home = Home::buffer}},
          {Placement::device, {}}};
}

TEST_P(PrecisionWatch, MixedHasFactorsInDoublePrecision) {
  if (!test::has_turn_on(test::device(GetParam()), 2)) GTEST_SKIP() << test::other_turn;
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  uint64_t number = 0;
  for (const Layout& layout : layouts_of(on())) {
    if (on().info().kind != DeviceKind::software && !test::is_in_share(number++, 2)) continue;
    SampleOptions options = few_draws(GetParam(), Precision::mixed);
    options.placement = layout.placement;
    // A software device compiles the loops of a long matrix sooner than a short one's numbers one by one.
    const bool is_slow = on().info().kind == DeviceKind::software;
    if (is_slow) options.warmup = options.draws = options.max_depth = 2;
    const Model model = process(is_slow ? 40 : 8, 1e-6);
    const Draws draws = sample(model, options, layout.forced);
    EXPECT_EQ(draws.precision, "mixed");
    EXPECT_GT(draws.energy_error, 0);
    EXPECT_LT(draws.energy_error, 1e-4);
    EXPECT_LT(draws.gradient_error, 0.1);
    EXPECT_GT(draws.gradient_error, 0);
    EXPECT_LT(draws.energy_error_before, 1e-4);
    EXPECT_FALSE(warns(draws, "single precision"));
    expect_same(draws, sample(model, options, layout.forced));
  }
}

// Sums of many rows are wide, in energies and in what draws tell: on a CPU in f32 too.
TEST_P(PrecisionWatch, SumsOfManyRowsAreInDoublePrecision) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  std::vector<Layout> layouts = layouts_of(on());
  layouts.push_back({Placement::device, {.rows_teams = 3}});
  uint64_t number = 0;
  for (const Layout& layout : layouts) {
    if (!test::is_in_share(number++, 2)) continue;
    const Precision precision = GetParam() == "cpu" ? Precision::f32 : Precision::mixed;
    SampleOptions options = few_draws(GetParam(), precision);
    options.placement = layout.placement;
    options.max_depth = 2;
    const Draws draws = sample(many_rows(20000), options, layout.forced);
    EXPECT_GT(draws.energy_error, 0);
    EXPECT_LT(draws.energy_error, 2e-4);  // their ulp is 1e-3
    expect_same(draws, sample(many_rows(20000), options, layout.forced));
  }
}

// Single numbers that are large, without a row.
TEST_P(PrecisionWatch, MixedHasSmallDensitiesInDoublePrecision) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  SampleOptions options = few_draws(GetParam(), Precision::f32);
  const Draws single = sample(counted_many_times(3000000), options);
  EXPECT_GT(single.energy_error, most_energy_error);
  EXPECT_TRUE(warns(single, "--precision mixed or f64"));
  options.precision = Precision::mixed;
  const Draws mixed = sample(counted_many_times(3000000), options);
  EXPECT_GT(mixed.energy_error, 0);
  EXPECT_LT(mixed.energy_error, 0.01);
}

// Beside rows, whose sum is wide already.
TEST_P(PrecisionWatch, MixedHasSmallDensitiesBesideManyRows) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  Model model = many_rows(5000);
  const Tensor c = model.sample("c", normal(0, 1));
  model.add_log_density("large", 1e7 * cos(1e-3 * c));
  SampleOptions options = few_draws(GetParam(), Precision::f32);
  EXPECT_GT(sample(model, options).energy_error, most_energy_error);
  options.precision = Precision::mixed;
  std::vector<Layout> layouts = layouts_of(on());
  layouts.push_back({Placement::device, {.rows_teams = 3}});
  uint64_t number = 0;
  for (const Layout& layout : layouts) {
    if (!test::is_in_share(number++, 2)) continue;
    options.placement = layout.placement;
    const Draws mixed = sample(model, options, layout.forced);
    EXPECT_GT(mixed.energy_error, 0);
    EXPECT_LT(mixed.energy_error, 0.01) << mixed.layout;
    expect_same(mixed, sample(model, options, layout.forced));
  }
}

// A sum that a loop carries: mixed precision would not change it, and no one is sent there.
TEST_P(PrecisionWatch, LoopsAreNotAdvisedToBeMixed) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  Model model("carried");
  const Tensor a = model.sample("a", normal(0, 1));
  const Tensor y = model.data("y", tensor(std::vector<double>(60, 0.5)));
  const Step all = scan(
      [&](const Tensors& carry, const Tensors& slices) -> Step {
        return {{carry[0] + 1e6 * cos(carry[1]), 0.5 * carry[1] + 1e-3 * a * slices[0]}, {}};
      },
      {full({}, 0.0, DType::f64), 1e-3 * a}, {y});
  model.add_log_density("carried", all.carry[0]);
  const Draws draws = sample(model, few_draws(GetParam(), Precision::f32));
  EXPECT_GT(draws.energy_error, most_energy_error);
  EXPECT_TRUE(warns(draws, "(--precision f64)"));
  EXPECT_FALSE(warns(draws, "mixed or f64"));
}

// What was not looked at is not told as right.
TEST_P(PrecisionWatch, NobodyLookedBefore) {
  SampleOptions options = few_draws(GetParam(), Precision::f32);
  EXPECT_GE(sample(small_model(), options).energy_error_before, 0);
  EXPECT_GE(sample(small_model(), options).gradient_error_before, 0);
  const auto expect_unknown = [](const Draws& draws) {
    EXPECT_GT(draws.energy_error, 0);
    EXPECT_TRUE(std::isnan(draws.energy_error_before));
    EXPECT_TRUE(std::isnan(draws.gradient_error_before));
  };
  options.step_size = 0.1;
  options.warmup = 0;
  expect_unknown(sample(small_model(), options));
  const Tensor errors = tensor<double>({0.5, 1, 2, 1, 1, 1}, {2, 3});
  for (const Draws& draws :
       sample_many(small_model(), {{"error", errors}}, few_draws(GetParam(), Precision::f32)))
    expect_unknown(draws);
  const fs::path path = fs::temp_directory_path() / ("adit-before-" + std::to_string(::getpid()));
  SampleOptions parts = few_draws(GetParam(), Precision::f32);
  parts.checkpoint = path.string();
  EXPECT_FALSE(sample(small_model(), stopping(parts, 22), Forced{.budget = 3}).finished);
  parts.resume = true;
  expect_unknown(sample(small_model(), parts));
  fs::remove(path);
}

// A run in mixed precision that was stopped goes on, to the same bits.
TEST_P(PrecisionWatch, MixedRunsGoOn) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  const SampleOptions options = few_draws(GetParam(), Precision::mixed);
  const Draws whole = sample(counted_many_times(5000), options);
  SampleOptions parts = options;
  const fs::path path = fs::temp_directory_path() / ("adit-mixed-" + std::to_string(::getpid()));
  parts.checkpoint = path.string();
  EXPECT_FALSE(sample(counted_many_times(5000), stopping(parts, 10), Forced{.budget = 3}).finished);
  parts.resume = true;
  expect_same(whole, sample(counted_many_times(5000), parts, {}));
  parts.precision = Precision::f32;
  expect_error([&] { sample(counted_many_times(5000), parts, {}); }, "precision mixed");
  fs::remove(path);
}

// Forty points: in f32 on a GPU the spread of alpha was 0.62, and nothing said so. rstan has 0.28.
TEST(MixedPrecision, HasThePosteriorOfAGaussianProcess) {
  SampleOptions options;
  options.device = "cpu";
  options.precision = Precision::mixed;
  options.chains = 8;
  options.warmup = 400;
  options.draws = 400;
  const Draws draws = sample(process(40, 1e-4), options);
  const Summary all = summary(draws);
  const auto alpha = std::find_if(all.parameters.begin(), all.parameters.end(),
                                  [](const auto& each) { return each.name == "alpha"; });
  ASSERT_NE(alpha, all.parameters.end());
  EXPECT_NEAR(alpha->sd, 0.29, 0.05);
  EXPECT_NEAR(alpha->mean, 0.75, 0.05);
  EXPECT_LT(draws.energy_error, 1e-4);  // f32: 0.01
}

INSTANTIATE_TEST_SUITE_P(Devices, PrecisionWatch, testing::ValuesIn(test::device_ids()), test::test_name);

TEST(EnergyError, IsOfDifferences) {
  const Model model = small_model();
  const auto& state = stats::state_of(model);
  std::vector<double> points(static_cast<size_t>(3 * model.size()), 0.1), lps;
  const auto energy_error = [&](const auto& of, const auto& at, const auto& seen) {
    return sampling::precision_errors(of, {at, seen, {}, {}}).energy;
  };
  for (size_t i = 0; i < points.size(); ++i) points[i] += 0.05 * static_cast<double>(i);
  for (int64_t i = 0; i < 3; ++i) {
    const std::vector<double> one(points.begin() + i * model.size(), points.begin() + (i + 1) * model.size());
    lps.push_back(model.log_density(tensor(one)).item<double>() + 17);  // a constant does not matter
  }
  EXPECT_LT(energy_error(state, points, lps), 1e-10);
  lps[1] += 0.25;
  EXPECT_NEAR(energy_error(state, points, lps), 0.25, 1e-10);
  lps[2] = -INFINITY;
  EXPECT_NEAR(energy_error(state, points, lps), 0.25, 1e-10);
}

TEST(PrecisionErrors, AreOfGradientsAndPositions) {
  const Model model = small_model();
  const auto& state = stats::state_of(model);
  sampling::Seen seen;
  seen.points.assign(static_cast<size_t>(model.size()), 0.3);
  const Tensor point = tensor(seen.points);
  const auto [value, slope] = value_and_grad([&](Tensor u) { return model.log_density(u); })(point);
  seen.lps.push_back(value.item<double>());
  seen.gradients = slope[0].to_vector<double>();
  seen.steps.assign(seen.points.size(), 0.5);
  EXPECT_LT(sampling::precision_errors(state, seen).gradient, 1e-6);
  EXPECT_NEAR(sampling::precision_errors(state, seen).position, 0.6 * 0x1p-24, 1e-12);
  double length = 0;
  for (const double each : seen.gradients) length += each * each;
  seen.gradients[2] += 0.3;
  const double now = length + std::pow(seen.gradients[2], 2) - std::pow(seen.gradients[2] - 0.3, 2);
  EXPECT_NEAR(sampling::precision_errors(state, seen).gradient, 0.3 / std::sqrt(now), 1e-6);
}

// Where log densities are so large that slopes in f64 have few digits left, gradients are not blamed.
TEST(PrecisionErrors, RoundingInDoublePrecisionIsNone) {
  for (const double large : {1e9, 1e12, 1e14}) {
    Model model = small_model();
    model.add_log_density("large", full({}, large, DType::f64));
    sampling::Seen seen;
    for (int64_t i = 0; i < 4 * model.size(); ++i) seen.points.push_back(0.3 + 0.07 * static_cast<double>(i));
    for (int64_t point = 0; point < 4; ++point) {
      const std::vector<double> one(seen.points.begin() + point * model.size(),
                                    seen.points.begin() + (point + 1) * model.size());
      const auto [value, slope] = value_and_grad([&](Tensor u) { return model.log_density(u); })(tensor(one));
      seen.lps.push_back(value.item<double>());
      for (const double each : slope[0].to_vector<double>()) seen.gradients.push_back(each);
    }
    seen.steps.assign(seen.points.size(), 0.1);
    EXPECT_LT(sampling::precision_errors(stats::state_of(model), seen).gradient, 1e-3) << large;
    for (double& each : seen.gradients) each *= 2;
    const double doubled = sampling::precision_errors(stats::state_of(model), seen).gradient;
    EXPECT_GT(doubled, large < 1e10 ? 0.1 : -1);
  }
}

TEST(PrecisionErrors, OfNoNumbers) {
  const Model model("nothing");
  EXPECT_EQ(sampling::precision_errors(stats::state_of(model), {}).energy, 0);
}

TEST(EnergyError, IsAllowedToGrowWithTheWayThatIsLeft) {
  using sampling::allowed_energy_error;
  EXPECT_EQ(allowed_energy_error({}), most_energy_error);
  EXPECT_NEAR(allowed_energy_error({-5, -9, -7, -6}), most_energy_error, 1e-3);
  EXPECT_NEAR(allowed_energy_error({-4e5, -3e5, -5e5, -1e5}), most_energy_error + 20, 1e-9);
  // Neither points without a density nor a chain that is stuck.
  EXPECT_NEAR(allowed_energy_error({-5, -INFINITY, -9, NAN}), most_energy_error, 1e-3);
  EXPECT_NEAR(allowed_energy_error({-5, -6, -1e12, -7}), most_energy_error, 1e-3);
}

}  // namespace
}  // namespace adit
