// Warm-up against Stan's rules, recomputed from the rows that a run saved: start points, the search for a
// step size, dual averaging, windows, the metric.
#include "cli/models/models.hpp"
#include "devices.hpp"
#include "sampling/closed_forms.hpp"
#include "sampling/drive.hpp"

namespace adit::test {
namespace {

SampleOptions options_for(int64_t warmup) {
  SampleOptions options;
  options.chains = 8;
  options.warmup = warmup;
  options.draws = 5;
  options.save_warmup = true;
  options.precision = Precision::f64;
  options.seed = 99;
  return options;
}

// Where windows begin and end (their last iterations), written down by hand from Stan's rules.
struct Windows {
  int64_t begin = 0;
  std::vector<int64_t> ends;
};
const std::map<int64_t, Windows> windows_of{
    {1000, {75, {99, 149, 249, 449, 949}}},
    {500, {75, {99, 149, 249, 449}}},
    {400, {75, {99, 149, 349}}},  // the last window takes what is left
    {300, {75, {99, 149, 249}}},
    {299, {75, {99, 248}}},  // a window of 50 would leave one of 99, a draw short of twice as long
    {150, {75, {99}}},
    {100, {15, {89}}},
    {20, {3, {17}}},
    {19, {0, {}}}};

// Nesterov's dual averaging, after Hoffman and Gelman.
struct Averaging {
  const SampleOptions& options;
  double mu, s_bar = 0, x_bar = 0, count = 0;

  double learn(double accept_stat) {
    ++count;
    const double eta = 1 / (count + options.t0);
    s_bar = (1 - eta) * s_bar + eta * (options.adapt_delta - std::min(1.0, accept_stat));
    const double x = mu - s_bar * std::sqrt(count) / options.gamma;
    const double weight = std::pow(count, -options.kappa);
    x_bar = (1 - weight) * x_bar + weight * x;
    return std::exp(x);
  }
  void restart(double step) { mu = std::log(10 * step), s_bar = x_bar = count = 0; }
};

// Step sizes of a chain from its acceptance alone, given those that searches found.
void expect_step_sizes(const Outcome& outcome, const SampleOptions& options, int64_t chain,
                       const std::vector<int64_t>& ends) {
  Averaging average{options, std::log(10 * options.step_size)};
  for (int64_t t = 0; t < options.warmup; ++t) {
    double next = average.learn(outcome.row(chain, t).accept_stat);
    const double found = outcome.row(chain, t + 1).step;
    if (std::find(ends.begin(), ends.end(), t) != ends.end()) {
      // A search doubles or halves what the average had come to.
      const double doublings = std::log2(found / next);
      EXPECT_NEAR(doublings, std::round(doublings), 1e-9) << "at " << t;
      next = found;
      average.restart(found);
    }
    if (t + 1 == options.warmup) next = std::exp(average.x_bar);
    ASSERT_NEAR(found / next, 1, 1e-9) << "after iteration " << t << " of chain " << chain;
  }
  for (int64_t t = options.warmup; t < outcome.count; ++t)
    EXPECT_EQ(outcome.row(chain, t).step, outcome.row(chain, options.warmup).step);
}

struct Chains {
  int64_t first = 0, count = 1;
};

// The covariance of the draws from `first` to `last` of some chains, shrunk as Stan does it for one.
std::vector<double> expected_metric(const Outcome& outcome, const Chains& of, int64_t first, int64_t last,
                                    bool dense) {
  std::vector<const double*> draws;
  for (int64_t c = of.first; c < of.first + of.count; ++c)
    for (int64_t t = first; t <= last; ++t) draws.push_back(outcome.row(c, t).q);
  const auto n = static_cast<double>(draws.size());
  const int64_t size = outcome.size;
  std::vector<double> mean(static_cast<size_t>(size)), metric;
  for (const double* q : draws)
    for (int64_t i = 0; i < size; ++i) mean[static_cast<size_t>(i)] += q[i] / n;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t j = dense ? 0 : i; j < (dense ? size : i + 1); ++j) {
      double sum = 0;
      for (const double* q : draws)
        sum += (q[i] - mean[static_cast<size_t>(i)]) * (q[j] - mean[static_cast<size_t>(j)]);
      metric.push_back(n / (n + 5) * sum / (n - 1) + (i == j ? 1e-3 * 5 / (n + 5) : 0));
    }
  return metric;
}

// `together`: chains that adapt as one.
void expect_metric(const Outcome& outcome, const Windows& windows, bool dense, int64_t together = 1) {
  const size_t count = windows.ends.size();
  for (int64_t c = 0; c < outcome.chains; ++c) {
    const auto& found = outcome.inverse_metrics[static_cast<size_t>(c)];
    if (count == 0) {
      EXPECT_EQ(found, std::vector<double>(static_cast<size_t>(outcome.size), 1));
      continue;
    }
    const int64_t first = count == 1 ? windows.begin : windows.ends[count - 2] + 1;
    const Chains with{c - c % together, together};
    const auto want = expected_metric(outcome, with, first, windows.ends.back(), dense);
    ASSERT_EQ(found.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(found[i], want[i], 1e-9 * (std::abs(want[i]) + 1e-3)) << "number " << i << ", chain " << c;
  }
}

TEST(Warmup, WindowsStepSizesAndMetrics) {
  const Model model = example_model("eight_schools_noncentered");
  for (const auto& [warmup, windows] : windows_of) {
    SCOPED_TRACE(warmup);
    const SampleOptions options = options_for(warmup);
    const Outcome outcome = run_model(model, options);
    ASSERT_EQ(outcome.count, warmup + options.draws);
    for (int64_t c = 0; c < outcome.chains; ++c) expect_step_sizes(outcome, options, c, windows.ends);
    expect_metric(outcome, windows, false);
  }
}

TEST(Warmup, DenseMetric) {
  const Model model = correlated().model;
  for (const Placement placement : {Placement::lane, Placement::team}) {
    SampleOptions options = options_for(300);
    options.metric = Metric::dense;
    options.placement = placement;
    const Outcome outcome = run_model(model, options);
    for (int64_t c = 0; c < outcome.chains; ++c)
      expect_step_sizes(outcome, options, c, windows_of.at(300).ends);
    expect_metric(outcome, windows_of.at(300), true);
  }
}

// Step sizes of chains that adapt together: each search begins at the geometric mean of what the averages had
// come to, and warm-up ends with that of all.
void expect_pooled_steps(const Outcome& outcome, const SampleOptions& options,
                         const std::vector<int64_t>& ends) {
  std::vector<Averaging> averages;
  for (int64_t c = 0; c < outcome.chains; ++c)
    averages.push_back({options, std::log(10 * options.step_size)});
  const auto many = static_cast<double>(outcome.chains);
  for (int64_t t = 0; t < options.warmup; ++t) {
    double log_step = 0, log_average = 0;
    std::vector<double> next;
    for (int64_t c = 0; c < outcome.chains; ++c) {
      Averaging& average = averages[static_cast<size_t>(c)];
      next.push_back(average.learn(outcome.row(c, t).accept_stat));
      log_step += std::log(next.back()) / many;
      log_average += average.x_bar / many;
    }
    const bool joins = std::find(ends.begin(), ends.end(), t) != ends.end();
    for (int64_t c = 0; c < outcome.chains; ++c) {
      const double found = outcome.row(c, t + 1).step;
      if (joins) {
        const double doublings = std::log2(found) - log_step / std::log(2.0);
        ASSERT_NEAR(doublings, std::round(doublings), 1e-9) << "at " << t;
        averages[static_cast<size_t>(c)].restart(found);
      } else {
        const double want = t + 1 == options.warmup ? std::exp(log_average) : next[static_cast<size_t>(c)];
        ASSERT_NEAR(found / want, 1, 1e-9) << "after iteration " << t << " of chain " << c;
      }
    }
  }
}

// The metric is that of all chains' draws, around the mean of all; few draws a chain leave their means apart.
TEST(Warmup, PooledMetricAndStepSizes) {
  for (const bool dense : {false, true})
    for (const int64_t warmup : {150, 299, 300}) {
      SCOPED_TRACE(warmup);
      SampleOptions options = options_for(warmup);
      options.adapt = Adapt::pooled;
      options.metric = dense ? Metric::dense : Metric::diagonal;
      const Outcome outcome = run_model(correlated().model, options);
      expect_metric(outcome, windows_of.at(warmup), dense, options.chains);
      expect_pooled_steps(outcome, options, windows_of.at(warmup).ends);
    }
}

// Trees of one or two leaves have no subtrees that wait, and transitions that diverge leave one half done:
// the search that follows must not take its trials for leaves.
TEST(Warmup, ShallowTreesThatDiverge) {
  Model model("walled");
  const Tensor x = model.sample("x", normal(0, tensor<double>({1, 2, 3, 4, 5})));
  model.add_log_density("wall", -sum(exp(40 * (x - 1.2))));
  for (const int depth : {1, 2})
    for (const auto metric : {Metric::diagonal, Metric::dense})
      for (const auto placement : {Placement::lane, Placement::team}) {
        SampleOptions options = options_for(300);
        options.chains = 24;
        options.max_depth = depth;
        options.metric = metric;
        options.placement = placement;
        options.adapt_delta = 0.5;
        const uint32_t lanes = placement == Placement::lane ? 1 : 0;
        const Outcome outcome = run_model(model, options, "cpu", {{}}, {}, {.lanes = lanes});
        for (int64_t c = 0; c < outcome.chains; ++c)
          expect_step_sizes(outcome, options, c, windows_of.at(300).ends);
        expect_metric(outcome, windows_of.at(300), metric == Metric::dense);
      }
}

TEST(Warmup, OtherConstants) {
  SampleOptions options = options_for(200);
  options.adapt_delta = 0.9;
  options.gamma = 0.1;
  options.kappa = 0.6;
  options.t0 = 5;
  options.step_size = 0.3;
  options.init_buffer = 20;
  options.window = 10;
  options.term_buffer = 30;
  const Windows windows{20, {29, 49, 89, 169}};
  const Outcome outcome = run_model(correlated().model, options);
  for (int64_t c = 0; c < outcome.chains; ++c) expect_step_sizes(outcome, options, c, windows.ends);
  expect_metric(outcome, windows, false);
}

// A window of one draw has no variance.
TEST(Warmup, WindowOfOneDraw) {
  SampleOptions options = options_for(200);
  options.init_buffer = 20;
  options.window = 1;
  options.term_buffer = 30;
  const Windows windows{20, {20, 22, 26, 34, 50, 82, 169}};
  for (const Metric metric : {Metric::diagonal, Metric::dense}) {
    options.metric = metric;
    const Outcome outcome = run_model(correlated().model, options);
    for (int64_t c = 0; c < outcome.chains; ++c) expect_step_sizes(outcome, options, c, windows.ends);
    expect_metric(outcome, windows, metric == Metric::dense);
  }
  options.chains = 1;
  options.adapt = Adapt::pooled;
  options.metric = Metric::diagonal;
  expect_metric(run_model(correlated().model, options), windows, false);
}

// The unit metric is not adapted, and step sizes are never searched for again.
TEST(Warmup, UnitMetric) {
  SampleOptions options = options_for(150);
  options.metric = Metric::unit;
  const Outcome outcome = run_model(correlated().model, options);
  for (int64_t c = 0; c < outcome.chains; ++c) expect_step_sizes(outcome, options, c, {});
  expect_metric(outcome, {}, false);
}

// A gate that cannot fail is none: other windows, another metric, another aim are all seen.
TEST(Warmup, OtherRulesAreSeen) {
  const SampleOptions options = options_for(150);
  const Outcome outcome = run_model(example_model("eight_schools_noncentered"), options);
  const auto steps_differ = [&](const SampleOptions& by, double mu, int64_t end) {
    Averaging average{by, mu};
    for (int64_t t = 0; t < options.warmup - 1; ++t) {
      const double next = average.learn(outcome.row(0, t).accept_stat), found = outcome.row(0, t + 1).step;
      if (t == end)
        average.restart(found);
      else if (std::abs(found / next - 1) > 1e-6)
        return true;
    }
    return false;
  };
  SampleOptions other = options;
  EXPECT_FALSE(steps_differ(options, std::log(10.0), 99));
  EXPECT_TRUE(steps_differ(options, std::log(10.0), 98));
  EXPECT_TRUE(steps_differ(options, std::log(10 * outcome.row(0, 0).step) + 1e-3, 99));
  other.t0 = 11;
  EXPECT_TRUE(steps_differ(other, std::log(10.0), 99));
  const auto right = expected_metric(outcome, {0, 1}, 75, 99, false);
  const auto late = expected_metric(outcome, {0, 1}, 76, 99, false);
  EXPECT_GT(std::abs(late[0] / right[0] - 1), 1e-6);
}

// --- The start ---------------------------------------------------------------------------------------------

// Stan's search for a first step size, one leapfrog with a fresh momentum a trial.
template <size_t D>
double searched_step(const DensityAt<D>& density, const Place<D>& from, double step,
                     const ReferenceMetric<D>& metric, const sampling::HostStream& stream,
                     uint32_t iteration) {
  int direction = 0;
  for (uint32_t trial = 0;; ++trial) {
    Place<D> q = from, p, g;
    const double lp = density(q, g);
    for (size_t i = 0; i < D; ++i)
      p[i] = stream.normal(sampling::Purpose::search, iteration, trial, static_cast<uint32_t>(i));
    p = metric.momentum(p);
    const double before = dot(p, metric.sharp(p)) / 2 - lp;
    for (size_t i = 0; i < D; ++i) p[i] += step / 2 * g[i];
    q = from;
    const Place<D> velocity = metric.sharp(p);
    for (size_t i = 0; i < D; ++i) q[i] += step * velocity[i];
    const double lp_after = density(q, g);
    for (size_t i = 0; i < D; ++i) p[i] += step / 2 * g[i];
    double change = before - (dot(p, metric.sharp(p)) / 2 - lp_after);
    if (std::isnan(change)) change = -INFINITY;
    if (direction == 0) {
      direction = change > std::log(0.8) ? 1 : -1;
      continue;
    }
    if (direction == 1 ? !(change > std::log(0.8)) : !(change < std::log(0.8))) return step;
    step *= direction == 1 ? 2 : 0.5;
  }
}

// Start points are uniform on (-2, 2); the first step size and the first transition follow from them, and the
// search after a window starts from the step size that the average had come to.
TEST(Warmup, StartSearchAndFirstTransition) {
  const ClosedForm<5> form = funnel();
  SampleOptions options = options_for(150);
  options.chains = 64;
  const Outcome outcome = run_model(form.model, options);
  for (int64_t c = 0; c < outcome.chains; ++c) {
    const sampling::HostStream stream{options.seed, static_cast<uint32_t>(c), true};
    Place<5> start;
    for (uint32_t i = 0; i < 5; ++i)
      start[i] = 4 * stream.uniform(stream.bits(sampling::Purpose::start, 0, i), 0) - 2;
    const ReferenceMetric<5> unit({1, 1, 1, 1, 1});
    const Row first = outcome.row(c, 0);
    EXPECT_EQ(first.step, searched_step(form.density, start, 1, unit, stream, 0));
    const auto want = ReferenceNuts<5>(form.density, unit, stream).transition(start, first.step, 0);
    EXPECT_EQ(first.leapfrogs, want.leapfrogs);
    for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(first.q[i], want.q[i], 1e-9 * (1 + std::abs(want.q[i])));

    Averaging average{options, std::log(10.0)};
    double step = 0;
    for (int64_t t = 0; t <= 99; ++t) step = average.learn(outcome.row(c, t).accept_stat);
    Place<5> here;
    std::copy_n(outcome.row(c, 99).q, 5, here.begin());
    const ReferenceMetric<5> metric(outcome.inverse_metrics[static_cast<size_t>(c)]);
    EXPECT_NEAR(outcome.row(c, 100).step, searched_step(form.density, here, step, metric, stream, 100),
                1e-9 * step);
  }
}

}  // namespace
}  // namespace adit::test
