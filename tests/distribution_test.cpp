// Distributions of numbers against SciPy and mpmath: tests/stats/*.py write the cases, tests/stats/rows_*.cpp
// list the distributions.
#include <cmath>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <regex>
#include <set>

#include <adit/error.hpp>
#include <adit/random.hpp>
#include <adit/transform.hpp>

#include "graph/op.hpp"
#include "stats/formula.hpp"
#include "stats/harness.hpp"

namespace adit::test {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

class DistributionOf : public testing::TestWithParam<size_t> {
 protected:
  const DistributionCase& case_() const { return distribution_cases()[GetParam()]; }
  const Row& row() const { return row_named(case_().name); }
  Distribution of_numbers(const ParameterSet& set) const { return row().make(as_numbers(set)); }
  Distribution of_batch() const { return row().make(as_parameters(as_batch(case_()))); }
  std::string what(const char* function, size_t set) const {
    return case_().name + "." + function + " of set " + std::to_string(set);
  }
};

std::string case_name(const testing::TestParamInfo<size_t>& info) {
  return distribution_cases()[info.param].name + "_" + std::to_string(info.param);
}

INSTANTIATE_TEST_SUITE_P(All, DistributionOf, testing::Range(size_t{0}, distribution_cases().size()),
                         case_name);

TEST_P(DistributionOf, ValuesOfNumbers) {
  for (const auto& [name, function, list] : checked_functions())
    for (size_t s = 0; s < case_().sets.size(); ++s) {
      const ParameterSet& set = case_().sets[s];
      const Distribution distribution = of_numbers(set);
      if ((set.*list).empty()) continue;
      ASSERT_TRUE(distribution.*function) << what(name, s);
      expect_close((distribution.*function)(tensor(set.points)).to_vector<double>(), set.*list,
                   case_().tolerance, what(name, s));
    }
}

TEST_P(DistributionOf, ValuesOfBatches) {
  if (!case_().tensors) GTEST_SKIP() << "this case is about numbers";
  const Distribution distribution = of_batch();
  EXPECT_EQ(distribution.batch, Shape({static_cast<int64_t>(case_().sets.size())}));
  for (const auto& [name, function, list] : checked_functions())
    if (!(case_().sets[0].*list).empty())
      expect_close((distribution.*function)(table_of(case_(), &ParameterSet::points)).to_vector<double>(),
                   table_of(case_(), list).to_vector<double>(), case_().tolerance, what(name, 0) + " and on");
}

TEST_P(DistributionOf, Gradients) {
  if (!case_().tensors) GTEST_SKIP() << "this case is about numbers";
  std::vector<Tensor> x = as_full(case_());
  x.insert(x.begin(), table_of(case_(), &ParameterSet::points));
  const bool discrete = of_batch().support.discrete;
  for (const auto& [name, function, list] : checked_functions()) {
    if ((case_().sets[0].*list).empty()) continue;
    // Traced: finite differences take steps that lead some parameters outside, where known ones are refused.
    const auto f = jit([&, which = function](const std::vector<Tensor>& at) {
      return (row().make(as_parameters({at.begin() + 1, at.end()})).*which)(at[0]);
    });
    for (int argument = discrete ? 1 : 0; argument < static_cast<int>(x.size()); ++argument)
      check_gradient(f, x, argument, what(name, 0) + " by argument " + std::to_string(argument));
  }
}

// The same graph in f32, beside f64 at the numbers that f32 has.
TEST_P(DistributionOf, SinglePrecision) {
  if (!case_().tensors) GTEST_SKIP() << "this case is about numbers";
  std::vector<Tensor> x = as_full(case_());
  x.insert(x.begin(), table_of(case_(), &ParameterSet::points));
  for (Tensor& t : x) t = as_type(as_type(t, DType::f32), DType::f64);
  for (const auto& [name, function, list] : checked_functions()) {
    if ((case_().sets[0].*list).empty()) continue;
    const auto f = [&, which = function](const std::vector<Tensor>& at) {
      return (row().make(as_parameters({at.begin() + 1, at.end()})).*which)(at[0]);
    };
    auto wanted = f(x).to_vector<double>();
    for (double& v : wanted)
      if (std::abs(v) > 3e38) v = std::copysign(infinite, v);
    expect_close(in_single(f, x), wanted, case_().single, what(name, 0) + " in f32");
  }
}

TEST_P(DistributionOf, MeanAndVariance) {
  for (size_t s = 0; s < case_().sets.size(); ++s) {
    const ParameterSet& set = case_().sets[s];
    const Distribution distribution = of_numbers(set);
    const auto check = [&](const Tensor& got, double wanted, const char* name) {
      const auto value = got.item<double>();
      // SciPy says infinity of some means that do not exist.
      if (!std::isfinite(wanted))
        EXPECT_FALSE(std::isfinite(value)) << what(name, s);
      else
        EXPECT_NEAR(value, wanted, case_().moments * std::abs(wanted) + 1e-12) << what(name, s);
    };
    check(distribution.mean(), set.mean, "mean");
    check(distribution.variance(), set.variance, "variance");
  }
  if (!case_().tensors) return;
  EXPECT_EQ(of_batch().mean().shape(), of_batch().batch);
  EXPECT_EQ(of_batch().variance().shape(), of_batch().batch);
}

TEST_P(DistributionOf, Draws) {
  if (!case_().tensors || !case_().draws) GTEST_SKIP() << "this case is not about draws";
  constexpr int64_t count = 20000;
  const auto sets = static_cast<int64_t>(case_().sets.size());
  const Tensor draws = of_batch().draw(random::key(20 + GetParam()), {count, sets});
  ASSERT_EQ(draws.dtype(), DType::f64);
  ASSERT_EQ(draws.shape(), Shape({count, sets}));
  const auto columns = transpose(draws).to_vector<double>();
  for (int64_t s = 0; s < sets; ++s)
    check_draws({columns.begin() + s * count, columns.begin() + (s + 1) * count},
                case_().sets[static_cast<size_t>(s)], what("draw", static_cast<size_t>(s)));
  const Distribution single = of_numbers(case_().sets[0]);
  check_draws(single.draw(random::key(7), {count / 10, 10}).to_vector<double>(), case_().sets[0],
              what("draw of numbers", 0));
  const Tensor inside = all(of_batch().support.contains(draws));
  EXPECT_TRUE(inside.item<bool>()) << "a draw outside of the support";
  EXPECT_THROW(of_batch().draw(random::key(1), {}), Error);
}

TEST(Distribution, EveryRowHasACase) {
  std::set<std::string> cases, rows;
  for (const DistributionCase& c : distribution_cases()) cases.insert(c.name);
  for (const Row& row : distribution_rows()) rows.insert(row.name);
  EXPECT_EQ(cases, rows);
}

// What the header declares, each with results of SciPy or mpmath; `made of others` have tests of their own.
TEST(Distribution, EveryDistributionHasCases) {
  const auto content_of = [](const std::string& path) {
    std::ifstream file(ADIT_SOURCE_FOLDER "/" + path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::set<std::string> rows{"mixture", "censored", "custom"};
  for (const Row& row : distribution_rows()) rows.insert(row.name);
  const std::string header = content_of("include/adit/distribution.hpp");
  const std::string others = content_of("tests/stats/discrete_cases.py");
  const std::regex declaration("\nDistribution (\\w+)\\(");
  int declared = 0;
  for (std::sregex_iterator it(header.begin(), header.end(), declaration), end; it != end; ++it, ++declared) {
    const std::string name = (*it)[1];
    EXPECT_TRUE(rows.contains(name) || others.find('"' + name + '"') != std::string::npos)
        << name
        << " has neither a row in tests/stats/rows_continuous.cpp nor cases in tests/stats/discrete_cases.py";
  }
  EXPECT_GT(declared, 30) << "the declarations look otherwise now";
}

TEST(Distribution, RefusesBadNumbers) {
  for (const Row& row : distribution_rows()) {
    EXPECT_FALSE(row.bad.empty()) << row.name;
    for (const BadCall& bad : row.bad) try {
        row.make(bad.parameters);
        ADD_FAILURE() << row.name << ": expected " << bad.message;
      } catch (const Error& error) {
        EXPECT_EQ(error.what(), bad.message);
        EXPECT_EQ(error.kind(), ErrorKind::bad_argument);
      }
  }
  EXPECT_THROW(normal(tensor({1.0, 2.0}), tensor({1.0, 2.0, 3.0})), Error);  // shapes that do not meet
  EXPECT_THROW(normal(0, full({3}, -2.0)), Error);                           // a number, repeated
  EXPECT_THROW(normal(0, 1).log_density(Tensor()), Error);
}

// x = location + scale z has the density of z over scale: what a non-centred form rests on.
TEST(Distribution, StandardForms) {
  const Tensor x = tensor({-3.0, 0.1, 2.0, 40.0});
  size_t with_standard = 0;
  for (const DistributionCase& c : distribution_cases()) {
    const Distribution of = row_named(c.name).make(as_numbers(c.sets.back()));
    EXPECT_EQ(static_cast<bool>(of.standard), of.scale && of.location) << c.name;
    if (!of.standard) continue;
    ++with_standard;
    const Tensor z = (x - of.location) / of.scale;
    expect_close((of.standard().log_density(z) - log(of.scale)).to_vector<double>(),
                 of.log_density(x).to_vector<double>(), 1e-12, c.name);
  }
  EXPECT_EQ(with_standard, 5u);
}

TEST(Distribution, DensityAtAnEndIsOfTheNumber) {
  const Tensor zero = tensor({0.0});
  EXPECT_DOUBLE_EQ(gamma(1, 3).log_density(zero).item<double>(), std::log(3.0));
  EXPECT_DOUBLE_EQ(gamma(tensor({1.0}), 3).log_density(zero).item<double>(), -infinite);
  EXPECT_DOUBLE_EQ(gamma(0.5, 3).log_density(zero).item<double>(), -infinite);
  EXPECT_DOUBLE_EQ(beta(1, 2).log_density(zero).item<double>(), std::log(2.0));
  EXPECT_DOUBLE_EQ(exponential(2).log_density(zero).item<double>(), std::log(2.0));
}

// New numbers are arguments of the same graph: its structure does not depend on them.
TEST(Distribution, NumbersOfFormulasAreConstants) {
  const Tensor x = graph::placeholder(DType::f64, {4}), mu = graph::placeholder(DType::f64, {});
  const Tensor density = normal(mu, 2.5).log_density(x);
  size_t numbers = 0;
  for (const Tensor& node : graph::reachable(std::span(&density, 1), true))
    numbers += graph::node_of(node).op == graph::Op::number;
  EXPECT_EQ(numbers, 1u);
}

TEST(Distribution, TailOfTheNormal) {
  // log P(Z <= -10^k) from the first terms of its series.
  const auto of = [](const Tensor& z) { return stats::log_normal_cdf(z); };
  for (const double t : {1e2, 1e4, 1e6, 1e150}) {
    const double wanted =
        -t * t / 2 - std::log(t) - 0.5 * std::log(2 * std::numbers::pi) - 1 / (t * t) + 2.5 / t / t / t / t;
    EXPECT_NEAR(of(tensor({-t})).item<double>() / wanted, 1, 1e-12) << t;
    // The slope is t + 1 / t - 2 / t^3 ...
    const Tensor slope = grad([&](Tensor z) { return sum(of(z)); })(tensor({-t}));
    EXPECT_NEAR(slope.item<double>() / (t + 1 / t), 1, 1e-7) << t;
  }
  const auto values = of(tensor({infinite, -infinite, 0.0})).to_vector<double>();
  const Tensor slopes = grad([&](Tensor z) { return sum(of(z)); })(tensor({0.0, 40.0}));
  EXPECT_EQ(values[0], 0);
  EXPECT_EQ(values[1], -infinite);
  EXPECT_NEAR(values[2], -std::log(2.0), 1e-15);
  EXPECT_NEAR(slopes.to_vector<double>()[0], 2 / std::sqrt(2 * std::numbers::pi), 1e-15);
  EXPECT_EQ(slopes.to_vector<double>()[1], 0);
  // log p -> quantile -> log p
  const Tensor log_p = tensor({-0.6931471805599453, -1.0, -3.0, -40.0, -800.0, -1e6});
  expect_close(of(stats::normal_quantile_of_log(log_p)).to_vector<double>(), log_p.to_vector<double>(), 1e-13,
               "quantile");
}

TEST(Distribution, CensoredCountsTheTails) {
  const Tensor x = tensor({-1.0, 0.5, 2.0, 3.0});  // at the lower bound, inside, at the upper one, beyond it
  const Distribution inner = normal(0.3, 1.2), of = censored(inner, -1, 2);
  const auto tail = [&](const auto& f, double at) { return f(tensor({at})).template item<double>(); };
  expect_close(of.log_density(x).to_vector<double>(),
               {tail(inner.log_cdf, -1), tail(inner.log_density, 0.5), tail(inner.log_survival, 2),
                tail(inner.log_survival, 2)},
               1e-15, "censored");
  // Densities inside and masses at the bounds make one.
  const Tensor grid = linspace(-1, 2, 30001, DType::f64);
  const double inside = sum(exp(of.log_density(slice(grid, {1}, {29999})))).item<double>() * 1e-4;
  const double ends = exp(of.log_density(tensor({-1.0, 2.0}))).to_vector<double>()[0] +
                      exp(of.log_density(tensor({-1.0, 2.0}))).to_vector<double>()[1];
  EXPECT_NEAR(inside + ends, 1, 1e-4);
  // Infinite bounds, as numbers and inside of tensors, censor nothing and leave slopes finite.
  const auto open = [&](const Tensor& mu) {
    const Distribution free = censored(normal(mu, 1), tensor({-infinite, -1.0, -infinite, -1.0}), infinite);
    return sum(free.log_density(x));
  };
  const Tensor mu = tensor(0.3);
  const double wanted = tail(normal(0.3, 1).log_density, -1) + tail(normal(0.3, 1).log_density, 0.5) +
                        tail(normal(0.3, 1).log_density, 2) + tail(normal(0.3, 1).log_density, 3);
  EXPECT_NEAR(open(mu).item<double>(), wanted, 1e-12);
  EXPECT_NEAR(grad(open)(mu).item<double>(), -1.3 + 0.2 + 1.7 + 2.7, 1e-12);
  const Tensor draws = of.draw(random::key(3), {20000});
  const double at_low = sum(as_type(draws == tensor(-1.0), DType::f64)).item<double>() / 20000;
  EXPECT_NEAR(at_low, std::exp(tail(inner.log_cdf, -1)), 0.015);
  EXPECT_LE(reduce_max(draws).item<double>(), 2);
}

TEST(Distribution, CensoredRefuses) {
  EXPECT_THROW(censored(gamma(2, 1), -infinite, 3), Error);  // no closed tail
  EXPECT_NO_THROW(censored(gamma(2, 1), -infinite, infinite));
  EXPECT_THROW(censored(normal(0, 1), 2, 1), Error);
  EXPECT_THROW(censored(Distribution{}, 0, 1), Error);
}

TEST(Distribution, CustomIsWhatItIsGiven) {
  const auto density = [](const Tensor& x) { return sum(-x * x, {-1}); };
  const Distribution of = custom("bowl", density, constraint::real(), {2});
  EXPECT_EQ(of.name, "bowl");
  EXPECT_EQ(of.event, Shape({2}));
  EXPECT_EQ(of.log_density(tensor({{1.0f, 2.0f}, {0.0f, 3.0f}})).to_vector<double>(),
            (std::vector<double>{-5, -9}));
  EXPECT_FALSE(of.draw);
  EXPECT_THROW(custom("none", {}), Error);
  EXPECT_THROW(custom("", density), Error);
  const auto zeros_of = [](const Tensor&, const Shape& shape) { return zeros(shape, DType::f64); };
  const Distribution drawn = custom("still", density, constraint::real(), {2}, zeros_of);
  EXPECT_EQ(drawn.draw(random::key(1), {5, 2}).shape(), Shape({5, 2}));
  EXPECT_THROW(drawn.draw(random::key(1), {5, 3}), Error);
}

}  // namespace
}  // namespace adit::test
