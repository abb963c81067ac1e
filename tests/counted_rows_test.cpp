// Sums over rows of the data that repeat each other: one term for each that differs, whatever data a kernel
// is given.
#include "density/counted_rows.hpp"

#include <fmt/format.h>

#include "density/counted_values.hpp"
#include "density/density.hpp"
#include "density/schedule.hpp"
#include "density_cases.hpp"
#include "sample/rows_density.hpp"
#include "sampling/drive.hpp"

namespace adit::test {
namespace {

using namespace sampling;

std::vector<double> counts(int64_t rows, int64_t below) {
  const std::vector<int64_t> whole = places(rows, below);
  return {whole.begin(), whole.end()};
}

// The gamma functions of counts are made of them and the dispersion alone.
Model overdispersed(int64_t rows, int64_t below) {
  Model m("overdispersed");
  const Tensor phi = m.sample("phi", gamma(2, 0.5)), b = m.sample("b", normal(0, 1), {3});
  const Tensor x = m.data("x", tensor(normals(rows * 3, 3), {rows, 3}));
  m.observe("y", neg_binomial_2(exp(1.0 + 0.2 * dot(x, b)), phi), tensor(counts(rows, below)));
  return m;
}

// Two columns of which pairs are few, one of whole numbers; an axis around the rows; rows of other data that
// are one and two more.
Model pairs() {
  Model m("pairs");
  const int64_t rows = 150;
  const Tensor a = m.sample("a", half_normal(2)), c = m.sample("c", normal(0, 1));
  const Tensor k = m.data("k", tensor(counts(rows, 5))), n = m.data("n", tensor(places(rows, 3)));
  const Tensor both = lgamma(k + a) - log1p(exp(c * as_type(n, DType::f64))) * k;
  m.add_log_density("pairs", sum(both) * a - sum(reshape(square(log(k + a)), {10, 15})));
  for (const int64_t more : {1, 2})
    m.observe(fmt::format("y{}", more), student_t(4, c, a), tensor(normals(rows + more, 4)));
  return m;
}

// Three columns whose pairs are many, and each of which repeats itself; one is made of the others.
Model trials() {
  Model m("trials");
  const int64_t rows = 400;
  const Tensor a = m.sample("a", half_normal(2)), b = m.sample("b", half_normal(2));
  const Tensor k = m.data("k", tensor(counts(rows, 23))), n = m.data("n", 23.0 + tensor(counts(rows, 19)));
  m.add_log_density("trials", sum(lgamma(a + k) + lgamma(b + (n - k)) - lgamma(a + b + n)));
  return m;
}

// A product with a matrix goes by tiles together with its transposed one, whatever is counted beside it.
Model tiled() {
  Model m("tiled");
  const Tensor phi = m.sample("phi", gamma(2, 0.5)), b = m.sample("b", normal(0, 1), {40});
  const Tensor x = m.data("x", tensor(normals(300 * 40, 5), {300, 40}));
  m.observe("y", neg_binomial_2(exp(0.1 * dot(x, b)), phi), tensor(counts(300, 7)));
  return m;
}

bool is_counted(const Model& model) {
  return !make_density(stats::state_of(model), DType::f64).counted.empty();
}

class CountedRowsOn : public testing::TestWithParam<std::string> {};

TEST_P(CountedRowsOn, ValuesAndGradients) {
  if (!has_turn_on(device(GetParam()), 3)) GTEST_SKIP() << other_turn;
  const DensityCase cases[] = {{"counts", [] { return overdispersed(131, 9); }},
                               {"pairs", pairs},
                               {"tiled", tiled},
                               {"trials", trials}};
  for (const DensityCase& one : cases) {
    EXPECT_TRUE(is_counted(one.make())) << one.name;
    for (const Placement placement : {Placement::lane, Placement::team}) {
      compare_density(one.make(), one.name, GetParam(), placement, DType::f64, 1e-10);
      compare_density(one.make(), one.name, GetParam(), placement, DType::f32, 5e-4);
    }
  }
}

TEST_P(CountedRowsOn, OtherData) {
  Model model = overdispersed(131, 9);
  for (const int64_t below : {1, 2, 131}) {
    model.set_data("y", tensor(counts(131, below)));
    EXPECT_EQ(is_counted(model), below < 100) << below;
    for (const Placement placement : {Placement::lane, Placement::team})
      compare_density(model, fmt::format("below {}", below), GetParam(), placement, DType::f64, 1e-10);
  }
}

// A kernel that was made for few counts is given many: each chain's loop ends where its own data say.
TEST_P(CountedRowsOn, DataSets) {
  if (!has_turn_on(device(GetParam()), 2)) GTEST_SKIP() << other_turn;
  const Model model = overdispersed(131, 9);
  std::vector<DataSet> sets;
  for (const int64_t below : {131, 1, 40, 9, 3})
    sets.push_back({{"y", tensor(counts(131, below))}, {"x", tensor(normals(131 * 3, 6), {131, 3})}});
  SampleOptions options;
  options.chains = 1;
  options.warmup = 0;
  options.draws = 2;
  options.step_size = 1e-2;
  options.max_depth = 2;
  options.precision = Precision::f64;
  for (const Placement placement : {Placement::lane, Placement::team, Placement::device}) {
    options.placement = placement;
    const Outcome outcome =
        run_model(model, options, GetParam(), sets, {}, {.lanes = placement == Placement::team ? 32u : 4u});
    for (size_t s = 0; s < sets.size(); ++s) {
      Model own = overdispersed(131, 9);
      for (const auto& [name, value] : sets[s]) own.set_data(name, value);
      const Row row = outcome.row(static_cast<int64_t>(s), outcome.count - 1);
      const Tensor point = tensor(std::vector<double>(row.q, row.q + model.size()));
      const Density density = make_density(stats::state_of(model), DType::f64);
      const double constant = leaf_values(stats::state_of(model), density, sets[s])[0].item<double>();
      EXPECT_NEAR(row.lp + constant, own.log_density(point).item<double>(), 1e-9) << s;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, CountedRowsOn, testing::ValuesIn(device_ids()), test_name);

// Many rows are spread over teams; those that differ are for who does the rest.
TEST(CountedRows, AreNotSpread) {
  const auto device = Device::open("cpu");
  const Density density = make_density(stats::state_of(overdispersed(4500, 30)), DType::f64);
  ASSERT_FALSE(density.counted.empty());
  EXPECT_TRUE(rows_schedule(density, device->limits()));
}

TEST(CountedRows, StandAloneInTheirPasses) {
  const Model model = tiled();
  const Density density = make_density(stats::state_of(model), DType::f64);
  const Schedule schedule = make_schedule(density, true, true);
  int64_t limited = 0, tiles = 0;
  for (const Pass& pass : schedule.passes) {
    limited += pass.limit != nullptr;
    tiles += pass.tiled == 3;
    if (!pass.limit) continue;
    for (const Item& item : pass.items) EXPECT_EQ(item.kind, ItemKind::totals);
  }
  EXPECT_EQ(limited, 1) << to_text(schedule);
  EXPECT_EQ(tiles, 1) << to_text(schedule);
  // Columns are counted apart where their pairs are many.
  EXPECT_EQ(make_density(stats::state_of(trials()), DType::f64).counted.size(), 3u);
  // Sizes that other tensors have are left to them.
  const Density others = make_density(stats::state_of(pairs()), DType::f64);
  ASSERT_EQ(others.counted.size(), 1u);
  EXPECT_EQ(others.counted[0].extent, 153);
}

TEST(CountedRows, Values) {
  const Tensor reals = tensor(std::vector<double>{0.0, 2, -0.0, 2, 2, NAN}),
               wholes = tensor(std::vector<int64_t>{1, 5, 1, 5, 6, 1});
  const std::vector<DistinctRow> rows = distinct_rows(std::vector{reals, wholes}, 6);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[1].first, 1u);
  EXPECT_EQ(rows[1].count, 2);
  CountedRows counted;
  counted.rows = 6;
  counted.extent = 8;
  const Tensors values = values_of(counted, std::vector{reals, wholes});
  EXPECT_EQ(values[1].to_vector<int64_t>(), (std::vector<int64_t>{1, 5, 1, 6, 1, 1, 1, 1}));
  EXPECT_EQ(values[2].to_vector<double>(), (std::vector<double>{1, 2, 1, 1, 1, 0, 0, 0}));
  EXPECT_EQ(values[3].item<int32_t>(), 5);
}

}  // namespace
}  // namespace adit::test
