// Single precision that is watched: energies of draws beside double precision, and runs that go over to it.
#include "sample/precision_watch.hpp"

#include <algorithm>
#include <cmath>

#include <adit/diagnostics.hpp>

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

INSTANTIATE_TEST_SUITE_P(Devices, PrecisionWatch, testing::ValuesIn(test::device_ids()), test::test_name);

TEST(EnergyError, IsOfDifferences) {
  const Model model = small_model();
  const auto& state = stats::state_of(model);
  std::vector<double> points(static_cast<size_t>(3 * model.size()), 0.1), lps;
  for (size_t i = 0; i < points.size(); ++i) points[i] += 0.05 * static_cast<double>(i);
  for (int64_t i = 0; i < 3; ++i) {
    const std::vector<double> one(points.begin() + i * model.size(), points.begin() + (i + 1) * model.size());
    lps.push_back(model.log_density(tensor(one)).item<double>() + 17);  // a constant does not matter
  }
  EXPECT_LT(sampling::energy_error(state, points, lps), 1e-10);
  lps[1] += 0.25;
  EXPECT_NEAR(sampling::energy_error(state, points, lps), 0.25, 1e-10);
  lps[2] = -INFINITY;
  EXPECT_NEAR(sampling::energy_error(state, points, lps), 0.25, 1e-10);
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
