// The kernel's transitions against a recursion of Stan's tree with the same random numbers: leapfrogs, depth,
// divergence and the chosen point of every transition, each started from the kernel's own draw.
#include <fmt/format.h>
#include <random>

#include "cli/models/models.hpp"
#include "devices.hpp"
#include "sampling/closed_forms.hpp"
#include "sampling/drive.hpp"

namespace adit::test {
namespace {

struct Tally {
  int64_t transitions = 0, wrong = 0, unstable = 0, divergent = 0, deepest = 0;
  double highest_weight = -INFINITY;  // the logarithm, of all leaves
  std::string first;                  // the first difference
};

// A warm-up of one window: its transitions up to here have the unit metric, later ones the last metric.
constexpr int64_t warmup = 150, window_end = 99;

bool close(double a, double b, double tolerance) {
  return a == b || std::abs(a - b) <= tolerance * (1 + std::abs(b));
}

template <size_t D>
std::string difference(const Row& row, const Transition<D>& want, double constant, double tolerance) {
  if (row.leapfrogs != want.leapfrogs)
    return fmt::format("leapfrogs {}, expected {}", row.leapfrogs, want.leapfrogs);
  if (row.depth != want.depth) return fmt::format("depth {}, expected {}", row.depth, want.depth);
  if ((row.divergent != 0) != want.divergent)
    return fmt::format("divergent {}, expected {}", row.divergent, want.divergent);
  for (size_t i = 0; i < D; ++i)
    if (!close(row.q[i], want.q[i], tolerance))
      return fmt::format("q[{}] {}, expected {}", i, row.q[i], want.q[i]);
  if (!close(row.lp + constant, want.lp, tolerance))
    return fmt::format("lp {}, expected {}", row.lp + constant, want.lp);
  if (!close(row.energy - constant, want.energy, tolerance))
    return fmt::format("energy {}, expected {}", row.energy - constant, want.energy);
  if (!close(row.accept_stat, want.accept_stat, tolerance))
    return fmt::format("accept_stat {}, expected {}", row.accept_stat, want.accept_stat);
  return {};
}

// Whether rounding decides the transition: the recursion itself ends elsewhere from one of 32 starts that lie
// up to a thousand units in the last place away. Trajectories of a thousand steps in a funnel's neck do that.
template <size_t D>
bool is_unstable(ReferenceNuts<D>& nuts, const Transition<D>& want, const Place<D>& from, double step,
                 uint32_t iteration, double tolerance) {
  std::mt19937 source(1);
  std::uniform_real_distribution<double> apart(-0x1p-42, 0x1p-42);
  for (int trial = 0; trial < 32; ++trial) {
    Place<D> near = from;
    for (double& q : near) q += std::max(1.0, std::abs(q)) * apart(source);
    const Transition<D> other = nuts.transition(near, step, iteration);
    const Row row{other.lp,
                  other.accept_stat,
                  step,
                  static_cast<double>(other.depth),
                  static_cast<double>(other.leapfrogs),
                  other.divergent ? 1.0 : 0.0,
                  other.energy,
                  other.q.data()};
    if (!difference(row, want, 0, tolerance / 4).empty()) return true;
  }
  return false;
}

// Every transition of a run from the second on; `outcome` holds warm-up too.
template <size_t D>
Tally compare(const Outcome& outcome, const DensityAt<D>& density, const SampleOptions& options, bool wide,
              double tolerance, Flaw flaw = Flaw::none) {
  Tally tally;
  const ReferenceMetric<D> unit(std::vector<double>(D, 1));
  for (int64_t c = 0; c < outcome.chains; ++c) {
    const sampling::HostStream stream{options.seed, static_cast<uint32_t>(options.first_chain + c), wide};
    ReferenceNuts<D> early(density, unit, stream, options.max_depth, flaw);
    ReferenceNuts<D> late(density, ReferenceMetric<D>(outcome.inverse_metrics[static_cast<size_t>(c)]),
                          stream, options.max_depth, flaw);
    for (int64_t t = 1; t < outcome.count; ++t) {
      const Row row = outcome.row(c, t);
      Place<D> from;
      std::copy_n(outcome.row(c, t - 1).q, D, from.begin());
      ReferenceNuts<D>& nuts = t <= window_end ? early : late;
      const auto want = nuts.transition(from, row.step, static_cast<uint32_t>(t));
      const std::string what = difference(row, want, outcome.constant, tolerance);
      ++tally.transitions;
      tally.divergent += want.divergent;
      tally.highest_weight = std::max(tally.highest_weight, want.highest_weight);
      tally.deepest = std::max<int64_t>(tally.deepest, want.depth);
      if (what.empty()) continue;
      if (wide && is_unstable(nuts, want, from, row.step, static_cast<uint32_t>(t), tolerance)) {
        ++tally.unstable;
        continue;
      }
      if (tally.wrong++ == 0) tally.first = fmt::format("chain {}, iteration {}: {}", c, t, what);
    }
  }
  return tally;
}

SampleOptions options_for(int64_t chains, int64_t draws) {
  SampleOptions options;
  options.chains = chains;
  options.warmup = warmup;
  options.draws = draws;
  options.save_warmup = true;
  options.precision = Precision::f64;
  options.seed = 0x123456789abcdefu;
  return options;
}

struct Bounds {
  double tolerance = 1e-9;
  double share_wrong = 0;        // of transitions; rounding may turn a comparison
  double share_unstable = 2e-3;  // heavy tails 1.1e-3 with functions of 4 ULP, on a Neoverse V1
};

template <size_t D>
Tally check(const ClosedForm<D>& form, const SampleOptions& options, const std::string& device = "cpu",
            const Bounds& bounds = {}, const sampling::Forced& forced = {}) {
  SCOPED_TRACE(form.name);
  const Outcome outcome = run_model(form.model, options, device, {{}}, {}, forced);
  const Tally tally =
      compare<D>(outcome, form.density, options, options.precision == Precision::f64, bounds.tolerance);
  EXPECT_EQ(tally.transitions, options.chains * (options.warmup + options.draws - 1));
  EXPECT_LE(static_cast<double>(tally.wrong), bounds.share_wrong * static_cast<double>(tally.transitions))
      << tally.first;
  EXPECT_LE(static_cast<double>(tally.unstable),
            bounds.share_unstable * static_cast<double>(tally.transitions));
  fmt::print(
      "{:13} {} transitions, {} differ, {} undecided, {} diverged, depth up to {}, weights up to "
      "exp({:.0f})\n",
      form.name, tally.transitions, tally.wrong, tally.unstable, tally.divergent, tally.deepest,
      tally.highest_weight);
  return tally;
}

ClosedForm<10> eight_schools() {
  return {"eight_schools", example_model("eight_schools_noncentered"), eight_schools_lp};
}

// A million transitions in all, on the cpu in f64, of which each seed has the chains of an eighth. Not one
// may differ.
TEST(Tree, EqualsTheRecursion) {
  const int64_t shares = all_have_turns() ? 1 : 8;
  const auto options_of = [&](int64_t chains, int64_t draws) {
    SampleOptions options = options_for(chains / shares, draws);
    options.first_chain = static_cast<int64_t>(first_seed() % static_cast<uint64_t>(shares)) * options.chains;
    return options;
  };
  int64_t transitions = 0;
  const Tally narrow = check(normals(), options_of(512, 300));
  EXPECT_GT(narrow.highest_weight, 100);  // weights that single precision could not hold as they are
  transitions += narrow.transitions;
  SampleOptions dense = options_of(512, 300);
  dense.metric = Metric::dense;
  transitions += check(correlated(), dense).transitions;
  transitions += check(eight_schools(), options_of(512, 300)).transitions;
  const Tally tally = check(funnel(), options_of(512, 300));
  EXPECT_GT(tally.divergent, 1000 / shares);
  transitions += tally.transitions;
  // What rounding decides lies in few chains: their share is that of all of them.
  if (is_in_share(0, 4)) transitions += check(heavy_tails(), options_for(256, 300)).transitions;
  SampleOptions shallow = options_of(128, 150);
  shallow.max_depth = 2;
  EXPECT_EQ(check(normals(), shallow).deepest, 2);
  EXPECT_GE(transitions, all_have_turns() ? 1'000'000 : 900'000 / shares);
}

TEST(Tree, EqualsTheRecursionByTeams) {
  SampleOptions options = options_for(32, 100);
  options.placement = Placement::team;
  check(normals(), options);
  check(eight_schools(), options);
  check(funnel(), options);
  options.metric = Metric::dense;
  check(correlated(), options);
}

// The comparison itself: a tree without the extra checks and one that chooses leaves the other way differ.
TEST(Tree, ComparisonNoticesOtherTrees) {
  const SampleOptions options = options_for(16, 100);
  const Outcome outcome = run_model(example_model("eight_schools_noncentered"), options);
  const auto wrong = [&](Flaw flaw) {
    const Tally tally = compare<10>(outcome, eight_schools_lp, options, true, 1e-9, flaw);
    return static_cast<double>(tally.wrong) / static_cast<double>(tally.transitions);
  };
  EXPECT_EQ(wrong(Flaw::none), 0);
  EXPECT_GT(wrong(Flaw::no_extra_checks), 0.01);
  EXPECT_GT(wrong(Flaw::reversed_choice), 0.1);
  EXPECT_GT(wrong(Flaw::merges_invalid), 0.1);
}

class TreeOn : public OnDevice {};

// Teams whose state lies in shared memory and in the buffer, by halves; and wholly in each of them.
TEST_P(TreeOn, HomesOfATeam) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  if (!on().limits().float64 || on().info().kind == DeviceKind::cpu) GTEST_SKIP() << "needs a GPU with f64";
  SampleOptions options = options_for(16, 60);
  options.placement = Placement::team;
  for (const sampling::Home home : {sampling::Home::split, sampling::Home::buffer, sampling::Home::shared})
    check(eight_schools(), options, GetParam(), {}, {.lanes = 32, .home = home});
}

// Chains that share workgroups, in step: with the larger subtrees in the buffer, with none there, in arrays.
TEST_P(TreeOn, LanesInStep) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  SampleOptions options = options_for(32, 40);
  options.placement = Placement::lane;
  for (const int64_t slots : {0, 1, 20, -1}) {
    sampling::Forced forced{.beat = slots == 0 ? 2u : 8u, .lanes = 8};
    if (slots < 0)
      forced.home = sampling::Home::array;
    else
      forced.slots = slots, forced.home = sampling::Home::shared;
    if (on().info().kind == DeviceKind::cpu) forced.home = sampling::Home::array;
    EXPECT_GT(check(funnel(), options, GetParam(), {}, forced).deepest, 4);
  }
}

// The density between dispatches, by the engine of tensors: the same trees.
TEST_P(TreeOn, AcrossTheDevice) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  const bool slow = on().info().kind == DeviceKind::software;
  SampleOptions options = options_for(slow ? 4 : 24, slow ? 10 : 80);
  options.placement = Placement::device;
  check(eight_schools(), options, GetParam());
  if (slow) return;
  EXPECT_GT(check(funnel(), options, GetParam()).divergent, 10);
  options.metric = Metric::dense;
  check(correlated(), options, GetParam());
}

// Ten thousand in double precision on every device that has it. Software devices compile slowly: they take
// one kernel.
TEST_P(TreeOn, DoublePrecision) {
  if (!on().limits().float64) GTEST_SKIP() << "no f64";
  check(funnel(), options_for(32, 170), GetParam());
  if (on().info().kind == DeviceKind::software) return;
  SampleOptions options = options_for(32, 170);
  options.placement = Placement::team;
  check(eight_schools(), options, GetParam());
  options.metric = Metric::dense;
  check(correlated(), options, GetParam());
  options.placement = Placement::lane;
  check(correlated(), options, GetParam());
}

// In single precision rounding turns a comparison now and then, and long trajectories part.
TEST_P(TreeOn, SinglePrecision) {
  SampleOptions options = options_for(32, 170);
  options.precision = Precision::f32;
  options.placement = Placement::lane;
  check(eight_schools(), options, GetParam(), {2e-3, 1e-3});
  if (on().info().kind == DeviceKind::software) options.chains = 6, options.draws = 30;
  options.placement = Placement::team;
  check(eight_schools(), options, GetParam(), {2e-3, 1e-3});
}

INSTANTIATE_TEST_SUITE_P(Devices, TreeOn, testing::ValuesIn(device_ids()), test_name);

}  // namespace
}  // namespace adit::test
