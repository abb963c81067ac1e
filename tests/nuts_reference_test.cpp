// Runs against published facts, and the faults of the predecessor, each as a test: draws of eight schools,
// repeatable bits, log densities that belong to their points, likelihoods that count once.
#include <adit/diagnostics.hpp>

#include "cli/models/models.hpp"
#include "devices.hpp"
#include "sampling/drive.hpp"
#include "sampling/moments.hpp"

namespace adit::test {
namespace {

SampleOptions options_for(int64_t chains, int64_t warmup, int64_t draws) {
  SampleOptions options;
  options.device = "cpu";
  options.chains = chains;
  options.warmup = warmup;
  options.draws = draws;
  options.precision = Precision::f64;
  return options;
}

// posteriordb's reference: 10,000 draws, given to two digits. Both errors count.
TEST(Reference, EightSchoolsNonCentred) {
  const Draws draws = sample(example_model("eight_schools_noncentered"), options_for(64, 300, 500));
  const auto check = [&](const std::string& name, double mean, double sd) {
    const std::vector<double> values = element_draws(draws, draws.variable(name), 0);
    const ChainsView view{values, draws.chains};
    const SummaryRow row = summarise(name, view);
    const double scale = std::sqrt(1 + ess_mean(view) / 10000);  // its error beside ours
    EXPECT_LT(std::abs(row.mean - mean), 4 * mcse_mean(view) * scale + 0.005) << name << " " << row.mean;
    EXPECT_LT(std::abs(row.sd - sd), 4 * mcse_sd(view) * scale + 0.005) << name << " " << row.sd;
    EXPECT_LT(row.r_hat, 1.01) << name;
  };
  check("mu", 4.41, 3.31);
  check("tau", 3.60, 3.20);
}

TEST(Reference, EightSchoolsCentredWarns) {
  const Draws draws = sample(example_model("eight_schools_centered"), options_for(4, 1000, 1000));
  EXPECT_GT(draws.divergences(), 0u);
  bool told = false;
  for (const std::string& text : warnings(draws, summary(draws)))
    told |= text.find("diverge") != std::string::npos;
  EXPECT_TRUE(told);
  EXPECT_NE(diagnose(draws, summary(draws)).find("diverge"), std::string::npos);
}

// --- The same bits -----------------------------------------------------------------------------------------

class Repeats : public OnDevice {};

// Whatever the slices: paused at odd places, and with few rounds a dispatch.
TEST_P(Repeats, SameBitsWhateverTheSlices) {
  const bool slow = on().info().kind == DeviceKind::software;
  const Model model = example_model(slow ? "simple" : "eight_schools_noncentered");
  for (const Placement placement : {Placement::lane, Placement::team}) {
    if (slow && placement == Placement::team) continue;  // its compiler takes its time
    SampleOptions options = options_for(6, 30, 20);
    options.precision = Precision::automatic;
    options.placement = placement;
    const Outcome whole = run_model(model, options, GetParam());
    EXPECT_EQ(run_model(model, options, GetParam()).values, whole.values);
    EXPECT_EQ(run_model(model, options, GetParam(), {{}}, {1, 2, 7, 29, 30, 31, 44}).values, whole.values);
    for (const uint32_t budget : {1u, 13u}) {
      const Outcome sliced = run_model(model, options, GetParam(), {{}}, {}, {.budget = budget});
      EXPECT_EQ(sliced.values, whole.values) << "rounds " << budget;
    }
    options.seed = 2;
    const Outcome other = run_model(model, options, GetParam());
    for (int64_t c = 0; c < other.chains; ++c) EXPECT_NE(other.row(c, 0).q[0], whole.row(c, 0).q[0]);
  }
}

// Whatever chains share a vector or a workgroup with, and whatever beat they go by.
TEST_P(Repeats, SameBitsWhateverTheCompany) {
  const bool slow = on().info().kind == DeviceKind::software;
  SampleOptions options = options_for(slow ? 5 : 21, 30, 20);
  options.precision = Precision::automatic;
  options.placement = Placement::lane;
  const Model model = example_model(slow ? "simple" : "eight_schools_noncentered");
  const auto values = [&](const sampling::Forced& forced) {
    return run_model(model, options, GetParam(), {{}}, {}, forced).values;
  };
  const auto whole = values({.lanes = 4});
  for (const uint32_t budget : {1u, 13u, 64u})
    for (const uint32_t beat : {1u, 2u, 8u})
      EXPECT_EQ(values({.budget = budget, .beat = beat, .lanes = 4}), whole)
          << "rounds " << budget << ", beat " << beat;
}

INSTANTIATE_TEST_SUITE_P(Devices, Repeats, testing::ValuesIn(device_ids()), test_name);

TEST(Reference, ChainsDifferFromEachOther) {
  const Outcome outcome = run_model(example_model("simple"), options_for(16, 20, 5));
  for (int64_t a = 0; a < 16; ++a)
    for (int64_t b = 0; b < a; ++b) EXPECT_NE(outcome.row(a, 0).q[0], outcome.row(b, 0).q[0]);
}

// --- Faults of the predecessor -----------------------------------------------------------------------------

// Three groups with observations of their own size and noise, whose posteriors are known: a likelihood that
// is counted once for each group, or with another's sigma, shows.
struct Groups {
  Model model{"groups"};
  std::vector<double> mean, variance;
};

Groups groups() {
  Groups it;
  const std::vector<std::vector<double>> y{{3.8, 4.1, 3.3}, {-20, -14, -31, -25, -17}, {0.11, 0.13}};
  const std::vector<double> prior{3.8, 40, 0.7}, sigma{0.6, 9, 0.03};
  const char* const names[] = {"a", "b", "c"};
  for (size_t g = 0; g < 3; ++g) {
    const Tensor mu = it.model.sample(names[g], normal(0, prior[g]));
    it.model.observe(std::string("y_") + names[g], normal(mu, sigma[g]), tensor(y[g]));
    double sum = 0;
    for (const double v : y[g]) sum += v;
    const double precision =
        1 / (prior[g] * prior[g]) + static_cast<double>(y[g].size()) / (sigma[g] * sigma[g]);
    it.mean.push_back(sum / (sigma[g] * sigma[g]) / precision);
    it.variance.push_back(1 / precision);
  }
  return it;
}

TEST(Reference, LikelihoodsCountOnceWithTheirOwnSigmas) {
  const Groups it = groups();
  for (const Placement placement : {Placement::lane, Placement::team}) {
    SampleOptions options = options_for(32, 200, 300);
    options.placement = placement;
    const Outcome outcome = run_model(it.model, options);
    for (size_t g = 0; g < 3; ++g) {
      const Pool pool{outcome.column(static_cast<int64_t>(g)), outcome.chains};
      EXPECT_LT(errors_of_moments(pool, it.mean[g], it.variance[g]), most_errors) << g;
    }
  }
}

// The log density of a row is that of its own point, not of the one before; and no prior or datum was
// narrowed on the way to f64.
TEST(Reference, LogDensitiesBelongToTheirPoints) {
  for (const Model& model : {groups().model, example_model("stress"), example_model("logistic")}) {
    const SampleOptions options = options_for(4, 50, 20);
    const Outcome outcome = run_model(model, options);
    int64_t moved = 0;
    for (int64_t c = 0; c < outcome.chains; ++c)
      for (int64_t r = 0; r < outcome.count; ++r) {
        const Row row = outcome.row(c, r);
        const std::vector<double> q(row.q, row.q + outcome.size);
        const double want = model.log_density(tensor(q)).item<double>();
        EXPECT_NEAR(row.lp + outcome.constant, want, 1e-11 * (1 + std::abs(want))) << model.name();
        moved += r > 0 && row.lp != outcome.row(c, r - 1).lp;
      }
    EXPECT_GT(moved, outcome.chains * (outcome.count - 1) / 2) << "chains stand still";
  }
}

}  // namespace
}  // namespace adit::test
