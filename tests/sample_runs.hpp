// What the tests of runs of the sampler share: a small model, short runs, and how two runs compare.
#pragma once

#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <unistd.h>

#include <adit/ops.hpp>
#include <adit/sample.hpp>

#include "own_folder.hpp"
#include "sample/session.hpp"

namespace adit {

namespace fs = std::filesystem;
using sampling::Forced;

// Each variable on its own scale, one of them bounded by another.
inline Model small_model(double shift = 0) {
  Model model("small");
  const Plate row = model.plate("row", 3);
  const Tensor mu = model.sample("mu", normal(1, 2));
  const Tensor sigma = model.sample("sigma", exponential(0.5));
  const Tensor theta = model.sample("theta", normal(mu, sigma), {row});
  const Tensor top = model.parameter("top", constraint::lower(sigma));
  model.add_log_density("top_prior", -top);
  model.deterministic("twice", 2 * theta);
  model.observe("y", normal(theta, model.data("error", tensor<double>({0.5, 1, 2}))),
                tensor<double>({1 + shift, 2 + shift, 4 + shift}));
  return model;
}

inline Draws sample(const Model& model, const SampleOptions& options, const Forced& forced) {
  return sampling::sample_as(stats::state_of(model), options, forced);
}

inline SampleOptions few() {
  SampleOptions options;
  options.device = "cpu";
  options.chains = 3;
  options.warmup = 120;
  options.draws = 80;
  return options;
}

// The same bits everywhere, NaN included.
inline bool same(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 8) == 0);
}

inline void expect_same(const Draws& a, const Draws& b) {
  ASSERT_EQ(a.draws, b.draws);
  ASSERT_EQ(a.variables.size(), b.variables.size());
  for (size_t i = 0; i < a.variables.size(); ++i)
    EXPECT_TRUE(same(a.variables[i].values, b.variables[i].values)) << a.variables[i].name;
  EXPECT_TRUE(same(a.stats.lp, b.stats.lp));
  EXPECT_TRUE(same(a.stats.energy, b.stats.energy));
  EXPECT_TRUE(same(a.stats.n_leapfrog, b.stats.n_leapfrog));
  EXPECT_EQ(a.step_sizes, b.step_sizes);
  EXPECT_EQ(a.inverse_metrics, b.inverse_metrics);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
}

inline std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline void expect_error(const std::function<void()>& work, const std::string& part) {
  const std::string text = error_of(work);
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
}

// Independent numbers of very distinct scales: without their metric a step fits none but the smallest.
inline Model scales() {
  Model model("scales");
  model.sample("x", normal(0, tensor<double>({0.01, 1, 100})));
  return model;
}

// Stops once `iteration` is reached by all chains.
inline SampleOptions stopping(SampleOptions options, int64_t iteration) {
  auto seen = std::make_shared<int64_t>(0);
  options.on_progress = [seen](const Progress& now) { *seen = now.iteration; };
  options.should_stop = [seen, iteration] { return *seen >= iteration; };
  return options;
}

class SampleTest : public adit::test::InOwnFolder {
 protected:
  std::string checkpoint() const { return (root_ / "checkpoint").string(); }
};

}  // namespace adit
