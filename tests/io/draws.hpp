// What the tests of draws in files share: an example, and comparing.
#pragma once

#include <adit/draws.hpp>

#include "files.hpp"

namespace adit::test {

class DrawsFiles : public Io {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string text_file(const std::string& name, const std::string& text) const {
    write(folder_ / name, bytes_of(text));
    return path(name);
  }
  std::string read_error(const std::string& name, const std::string& text) const {
    const std::string file = text_file(name, text);
    return error_of([&] { read_draws({file}); });
  }
};

inline DrawsVariable variable(const Draws& draws, const std::string& name, const Shape& shape,
                              std::vector<std::string> dims) {
  DrawsVariable result{name, shape, std::move(dims), {}};
  for (int64_t i = 0; i < draws.chains * draws.draws * result.size(); i++)
    result.values.push_back(static_cast<double>(i) / 7 + static_cast<double>(name.size()));
  return result;
}

inline Draws example() {
  Draws draws;
  draws.model = "tést";
  draws.chains = 2, draws.draws = 3, draws.warmup = 20, draws.thin = 2, draws.max_depth = 8;
  draws.seed = (uint64_t{1} << 63) + 5;
  draws.adapt_delta = 0.95;
  draws.device = "cpu", draws.inits = "0.5";
  draws.variables = {variable(draws, "mu", {}, {}), variable(draws, "theta", {3}, {"school"}),
                     variable(draws, "L", {2, 3}, {"", ""})};
  draws.stats.lp = {-1.5, -2.25, 1.0 / 3, -1e300, 5e-324, -0.0};
  draws.stats.accept_stat = {0.5, 0.75, 1, 0, 0.25, 0.125};
  draws.stats.step_size = {0.25, 0.25, 0.25, 0.5, 0.5, 0.5};
  draws.stats.tree_depth = {1, 2, 3, 4, 5, 6};
  draws.stats.n_leapfrog = {4, 5, 6, 7, 8, 9};
  draws.stats.divergent = {0, 1, 0, 1, 0, 1};
  draws.stats.energy = {1, 2, 3, 4, 5, 6};
  draws.step_sizes = {0.25, 0.5};
  draws.inverse_metrics = {{0.1, 0.2, 1.0 / 3}, {1, 2, 3}};
  draws.seconds = {0.5, 0.25, 1, 1.5, 3.25};
  draws.leapfrogs = 12345, draws.warmup_divergences = 6;
  return draws;
}

inline Draws full_example() {
  Draws draws = example();
  draws.variables.push_back(variable(draws, "none", {0}, {""}));
  draws.coordinates["school"] = {"Ä", "b c", ""};
  draws.observed = {{"y", {3}, {"school"}, {28, 8, -3}}, {"n", {}, {}, {3}}};
  draws.log_likelihood = {variable(draws, "y", {3}, {"school"})};
  draws.posterior_predictive = {variable(draws, "y", {3}, {"school"})};
  return draws;
}

inline void expect_same_variables(const std::vector<DrawsVariable>& a, const std::vector<DrawsVariable>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); i++) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].shape, b[i].shape) << a[i].name;
    EXPECT_EQ(a[i].values, b[i].values) << a[i].name;
  }
}

inline void expect_same(const Draws& a, const Draws& b) {
  EXPECT_EQ(a.model, b.model);
  EXPECT_EQ(a.chains, b.chains);
  EXPECT_EQ(a.draws, b.draws);
  EXPECT_EQ(a.warmup, b.warmup);
  EXPECT_EQ(a.thin, b.thin);
  EXPECT_EQ(a.max_depth, b.max_depth);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.adapt_delta, b.adapt_delta);
  EXPECT_EQ(a.device, b.device);
  EXPECT_EQ(a.precision, b.precision);
  EXPECT_EQ(a.metric, b.metric);
  EXPECT_EQ(a.inits, b.inits);
  expect_same_variables(a.variables, b.variables);
  expect_same_variables(a.log_likelihood, b.log_likelihood);
  expect_same_variables(a.posterior_predictive, b.posterior_predictive);
  EXPECT_EQ(a.stats.lp, b.stats.lp);
  EXPECT_EQ(a.stats.accept_stat, b.stats.accept_stat);
  EXPECT_EQ(a.stats.step_size, b.stats.step_size);
  EXPECT_EQ(a.stats.tree_depth, b.stats.tree_depth);
  EXPECT_EQ(a.stats.n_leapfrog, b.stats.n_leapfrog);
  EXPECT_EQ(a.stats.divergent, b.stats.divergent);
  EXPECT_EQ(a.stats.energy, b.stats.energy);
  EXPECT_EQ(a.step_sizes, b.step_sizes);
  EXPECT_EQ(a.inverse_metrics, b.inverse_metrics);
  EXPECT_EQ(a.seconds.warmup, b.seconds.warmup);
  EXPECT_EQ(a.seconds.sampling, b.seconds.sampling);
  EXPECT_EQ(a.seconds.total, b.seconds.total);
  EXPECT_EQ(a.leapfrogs, b.leapfrogs);
  EXPECT_EQ(a.warmup_divergences, b.warmup_divergences);
  EXPECT_EQ(a.finished, b.finished);
}

inline std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace adit::test
